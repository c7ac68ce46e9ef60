#!/bin/sh
# What bench/fault_latency --short prints: an SM whose accesses stall until their pages come is empty much later than one
# whose warps leave with a replay queue:
# fault_latency.sh PROGRAM
"$1" --help | grep -q "^usage: fault_latency" || { echo "--help does not help"; exit 1; }
"$1" --short 2>/dev/null | awk -F, '
    NR == 1 { if ($0 != "service_us,scheme,kernels,moments,waiting,latency_us,worst_us,kilobytes") { print "another heading"; bad = 1 } next }
    { latency[$1, $2] = $6; rows++ }
    END {
        if (rows != 14) { print rows " rows, not 14"; bad = 1 }
        split("wd_commit wd_check queue log8 log16", schemes, " ")
        for (i = 1; i <= 5; i++)
            if (2 * latency[10, schemes[i]] > latency[10, "stall"]) { print schemes[i] " leaves no earlier than stall"; bad = 1 }
        exit bad
    }'
