#!/bin/sh
# Machine instructions per operation of bench/micro in two trees, and their ratio, largest first:
# compare.sh OLD_MICRO NEW_MICRO [NAME[:SIZE]]...
#   git worktree add ../old f3a90f0 && (cd ../old && cmake -B build -DGPUMP_BENCH=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build --target micro)
#   sh bench/compare.sh ../old/build/bench/micro build/bench/micro
# Without names: every case that both have, at its smallest size. Each ratio is told on stderr at once.
# Exit status 1: a case takes over 1.05 times the instructions.
# valgrind counts two runs that differ only in the number of operations, so that set-up and output do not count.
set -u
[ $# -ge 2 ] || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
old=$1 new=$2
shift 2
command -v valgrind >/dev/null || { echo "compare.sh: there is no valgrind (package valgrind)" >&2; exit 2; }
for micro in "$old" "$new"; do
    [ -x "$micro" ] || { echo "compare.sh: there is no program $micro; build the target micro, or name it" >&2; exit 2; }
done
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
if [ $# -eq 0 ]; then
    for tree in old new; do
        eval "micro=\$$tree"
        "$micro" --list | awk '{ print $1 }' | sort >"$work/$tree"
    done
    set -- $(comm -12 "$work/old" "$work/new")
fi
count() { # count MICRO NAME[:SIZE] OPERATIONS: instructions of the whole run
    case $2 in *:*) size="--size ${2#*:}" ;; *) size= ;; esac
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" --only "${2%%:*}" $size --operations "$3" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
between() { # between MICRO NAME[:SIZE] OPERATIONS: instructions of so many operations
    few=$(count "$1" "$2" $(($3 / 10))) many=$(count "$1" "$2" $(($3 / 10 + $3)))
    echo $((${many:-0} - ${few:-0}))
}
for name; do
    operations=10 # of a long operation; 200 of a short one
    ins=$(between "$old" "$name" $operations)
    [ "$ins" -gt 10000000 ] || { operations=200 && ins=$(between "$old" "$name" $operations); }
    row="$name $ins $(between "$new" "$name" $operations) $operations"
    echo "$row"
    echo "$row" | awk '$2 > 0 { printf "%s %.3f\n", $1, $3 / $2 }' >&2
done >"$work/counts"
awk '$2 <= 0 || $3 <= 0 { print "compare.sh: valgrind cannot run " $1 >"/dev/stderr"; next }
     { printf "%-32s %12.1f %12.1f %7.3f\n", $1, $2 / $4, $3 / $4, $3 / $2 }' "$work/counts" | sort -k4,4nr >"$work/table"
printf '%-32s %12s %12s %7s\n' name old new ratio
cat "$work/table"
awk '$4 > 1.05 { above++ } END { printf "%d of %d cases above 1.05\n", above, NR; exit above > 0 }' "$work/table"
