#!/bin/sh
# Machine instructions of an operation of bench/micro, which differ little between machines while times differ threefold:
# instructions.sh [MICRO [NAME[:SIZE]]...]
#   sh bench/instructions.sh build/bench/micro
#   sh bench/instructions.sh build/bench/micro victim_dual_round:32 compress_live_best_save:131072
# `micro --list` prints the names; without a size, the smallest that the case has. Without names: the three that a
# simulator meets in every cycle. valgrind counts the instructions of two runs that differ
# only in the number of operations. What the loop around an operation takes (sm_nothing) is taken off.
set -u
micro=${1:-build/bench/micro}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- sm_may_issue sm_report_executed sm_empty_pull
command -v valgrind >/dev/null || { echo "instructions.sh: there is no valgrind (package valgrind)" >&2; exit 2; }
[ -x "$micro" ] || { echo "instructions.sh: there is no program $micro; build bench/micro, or name it" >&2; exit 2; }
count() { # count NAME[:SIZE] OPERATIONS: instructions of the whole run
    case $1 in *:*) size="--size ${1#*:}" ;; *) size= ;; esac
    log=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$micro" --only "${1%%:*}" $size --operations "$2" \
        2>&1 >/dev/null) || { echo "$log" | grep '^micro:' >&2; return 1; }
    echo "$log" | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
each() { # each NAME[:SIZE]: instructions of one operation, and of the loop around it
    few=$(count "$1" "$less") many=$(count "$1" "$more")
    [ -n "$few" ] && [ -n "$many" ] || { echo "instructions.sh: valgrind cannot run $micro --only $1" >&2; return 1; }
    echo "$few $many" | awk '{ printf "%.2f", ($2 - $1) / '$((more - less))' }'
}
less=1000 more=101000
loop=$(each sm_nothing) || exit 1
printf '%-28s %12s\n' name instructions
for name; do
    # a case with a size may take long: fewer operations of it are counted
    case $name in *:*) less=10 more=110 ;; *) less=1000 more=101000 ;; esac
    with=$(each "$name") || exit 1
    echo "$name $with $loop" | awk '{ printf "%-28s %12.2f\n", $1, $2 - $3 }'
done
