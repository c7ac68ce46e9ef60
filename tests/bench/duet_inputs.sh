#!/bin/sh
# What bench/studies/duet_inputs.sh prints: a gain of each of five kernels, and their mean: duet_inputs.sh SOURCE_DIR BUILD
sh "$1/bench/studies/duet_inputs.sh" "$2" 3 start all | awk -F, '
    NR == 1 { if ($0 != "kernel,inputs,condition,alone,GPUDuet,gain") { print "another heading"; bad = 1 } next }
    $1 == "mean" { means++; if ($NF !~ /^[+-][0-9]+[.][0-9]$/) { print "no mean: " $0; bad = 1 } next }
    { kernels++; if ($4 <= 0 || $5 <= 0) { print "no instructions: " $0; bad = 1 } }
    END { if (kernels != 10 || means != 2) { print kernels " kernels and " means " means, not 10 and 2"; bad = 1 }; exit bad }'
