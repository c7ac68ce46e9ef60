#!/bin/sh
# What bench/region_cuts --short prints: every way for every kernel; regions are never longer than those that end only where the run
# overwrites what it has read (a third is left for moves, which count as instructions); and storing what has changed is no dearer than
# storing all: region_cuts.sh PROGRAM
# A name that is wrong is named before anything is printed.
reason=$("$1" --kernel nosuch 2>&1 >/dev/null) && exit 1
case $reason in *"nosuch: there is no kernel of that name"*) ;; *) echo "$reason"; exit 1 ;; esac
[ -z "$("$1" --kernel nosuch 2>/dev/null)" ] || { echo "a heading stands before the error"; exit 1; }
"$1" --short | awk -F, '
    NR == 1 { if ($0 != "cuts,kernel,length,mean,live,instructions,instructions_all,instructions_changed,cycles,cycles_all,cycles_changed") { print "another heading"; bad = 1 } next }
    $2 == "(all)" { ways++; if ($8 != "" && $8 > $7 || $11 != "" && $11 > $10) { print $1 ": storing less costs more"; bad = 1 } next }
    { mean[$1, $2] = $4; if ($1 == "all") kernels[$2] = 1 }
    END {
        for (k in kernels) {
            count++
            if (mean["all", k] > 1.34 * mean["run", k]) { print k ": " mean["all", k] " instructions, and the run overwrites after " mean["run", k]; bad = 1 }
        }
        if (ways != 13 || count < 18) { print ways " ways, " count " kernels"; bad = 1 }
        exit bad
    }'
