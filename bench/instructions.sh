#!/bin/sh
# Machine instructions of an operation of bench/micro, which differ little between machines while times differ threefold:
# instructions.sh [MICRO [NAME]...]
#   sh bench/instructions.sh build/bench/micro
# Without names: the three that a simulator meets in every cycle. valgrind counts the instructions of two runs that differ
# only in the number of operations. What the loop around an operation takes (sm_nothing) is taken off.
set -u
micro=${1:-build/bench/micro}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- sm_may_issue sm_report_executed sm_empty_pull
command -v valgrind >/dev/null || { echo "instructions.sh: there is no valgrind (package valgrind)" >&2; exit 2; }
[ -x "$micro" ] || { echo "instructions.sh: there is no program $micro; build bench/micro, or name it" >&2; exit 2; }
count() { # count NAME OPERATIONS: instructions of the whole run
    log=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$micro" --only "$1" --operations "$2" 2>&1 >/dev/null) || return
    echo "$log" | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
each() { # each NAME: instructions of one operation, and of the loop around it
    few=$(count "$1" 1000) many=$(count "$1" 101000)
    [ -n "$few" ] && [ -n "$many" ] || { echo "instructions.sh: valgrind cannot run $micro --only $1" >&2; return 1; }
    echo "$few $many" | awk '{ printf "%.2f", ($2 - $1) / 100000 }'
}
loop=$(each sm_nothing) || exit 1
printf '%-28s %12s\n' name instructions
for name; do
    with=$(each "$name") || exit 1
    echo "$name $with $loop" | awk '{ printf "%-28s %12.2f\n", $1, $2 - $3 }'
done
