#!/bin/sh
# What bench/stop_or_run --short prints: stopping at once is no slower than running on, running on writes no more, and the choice per
# warp lies between them (a tenth is left for 40 signals): stop_or_run.sh PROGRAM
"$1" --help | grep -q "^usage: stop_or_run" || { echo "--help does not help"; exit 1; }
"$1" --short | awk -F, '
    NR == 1 { if ($0 != "k,strategy,kernels,signals,latency_us,latency_pct,kilobytes,bytes_pct") { print "another heading"; bad = 1 } next }
    { latency[$2] += $6; bytes[$2] += $8; rows++ }
    END {
        if (rows != 6) { print rows " rows, not 6"; bad = 1 }
        if (latency["stop"] >= latency["point"]) { print "running on is faster than stopping"; bad = 1 }
        if (bytes["point"] >= bytes["stop"]) { print "running on writes more than stopping"; bad = 1 }
        if (latency["choose"] > 1.1 * latency["stop"] || bytes["choose"] > bytes["stop"]) { print "the choice gains nothing"; bad = 1 }
        exit bad
    }'
