#!/bin/sh
# What bench/shared_restart --short prints for three kernels: where shared memory goes back, regions are longer in lps and
# not shorter elsewhere; copies, logs and fewer blocks are there where the hardware says so: shared_restart.sh PROGRAM
"$1" --short lps pathfinder hotspot | awk -F, '
    NR == 1 { if ($0 != "kernel,way,length,mean,sparse,32,razor,instructions,shared_bytes,blocks,words,most,copied") { print "another heading"; bad = 1 } next }
    { rows++; mean[$1, $2] = $4; blocks[$1, $2] = $10; words[$1, $2] = $11; copied[$1, $2] = $13; kernels[$1] = 1 }
    END {
        for (k in kernels) {
            if (k ~ /^suite|^all/) continue
            if (mean[k, "versioned"] < mean[k, "cuts"] || mean[k, "published"] < mean[k, "versioned"]) { print k ": shorter regions"; bad = 1 }
            if (mean[k, "saved"] != mean[k, "versioned"] || mean[k, "buffered"] != mean[k, "versioned"]) { print k ": other regions"; bad = 1 }
            if (words[k, "cuts"] || !words[k, "versioned"] || !copied[k, "saved"] || copied[k, "versioned"]) { print k ": words or copies"; bad = 1 }
            if (blocks[k, "buffered"] > blocks[k, "cuts"]) { print k ": more blocks"; bad = 1 }
        }
        if (mean["lps", "versioned"] < 2 * mean["lps", "cuts"] || blocks["pathfinder", "buffered"] * 2 != blocks["pathfinder", "cuts"]) { print "lps or pathfinder"; bad = 1 }
        if (rows != 25) { print rows " rows, not 25"; bad = 1 }
        exit bad
    }'
