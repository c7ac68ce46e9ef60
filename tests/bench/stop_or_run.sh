#!/bin/sh
# What bench/stop_or_run --short prints: stopping at once is faster than running on, running on writes less, and the choice per warp
# is nearer to the better of the two in both latency and bytes: stop_or_run.sh PROGRAM
"$1" --help | grep -q "^usage: stop_or_run" || { echo "--help does not help"; exit 1; }
"$1" --short | awk -F, '
    NR == 1 { if ($0 != "k,strategy,kernels,signals,latency_us,latency_pct,kilobytes,bytes_pct") { print "another heading"; bad = 1 } next }
    { latency[$2] += $6; bytes[$2] += $8; rows++ }
    END {
        if (rows != 6) { print rows " rows, not 6"; bad = 1 }
        if (latency["stop"] >= latency["point"]) { print "running on is faster than stopping"; bad = 1 }
        if (bytes["point"] >= bytes["stop"]) { print "running on writes more than stopping"; bad = 1 }
        if (2 * latency["choose"] > latency["stop"] + latency["point"]) { print "the choice is nearly as slow as running on"; bad = 1 }
        if (2 * bytes["choose"] > bytes["stop"] + bytes["point"]) { print "the choice writes nearly as much as stopping"; bad = 1 }
        exit bad
    }'
