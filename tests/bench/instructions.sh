#!/bin/sh
# The calls that a simulator makes in every cycle stay short, whatever the machine's speed: instructions.sh SOURCE_DIR MICRO
# The limits are about twice what gcc needs at -O2. Four times as many blocks may take at most 2.2 times 2.2 as many.
set -u
command -v valgrind >/dev/null || exit 77
out=$(sh "$1/bench/instructions.sh" "$2") || { echo "bench/instructions.sh failed"; exit 1; }
echo "$out"
[ "$(echo "$out" | wc -l)" -eq 4 ] || { echo "three rows were expected"; exit 1; }
[ "$(sh "$1/bench/instructions.sh" "$2" victim_dual_round:8 | awk 'END { print $1, ($2 > 0) }')" = "victim_dual_round:8 1" ] ||
    { echo "a case at a size was expected"; exit 1; }
sh "$1/bench/instructions.sh" "$2" victim_dual_round:9 >/dev/null 2>&1 && { echo "a size that the case does not have is an error"; exit 1; }
sh "$1/bench/instructions.sh" "$2" no_such_row >/dev/null 2>&1 && { echo "a row that does not exist is an error"; exit 1; }
sh "$1/bench/instructions.sh" /no/such/micro >/dev/null 2>&1 && { echo "a program that does not exist is an error"; exit 1; }
"$2" --operations x >/dev/null 2>&1 && { echo "--operations x is an error"; exit 1; }
echo "$out" | awk 'BEGIN { limit["sm_may_issue"] = 20; limit["sm_report_executed"] = 30; limit["sm_empty_pull"] = 20 }
    NR > 1 && !($1 in limit && $2 > 0 && $2 <= limit[$1]) { print $1 " takes " $2 " instructions, allowed are 1 to " limit[$1]; bad = 1 }
    END { exit bad }' || exit 1
rows="sm_life:16 sm_life:64 sm_switch:16 sm_switch:64 sm_view_check:16 sm_view_check:64 partition_ccbp:2"
out=$(sh "$1/bench/instructions.sh" "$2" $rows) || { echo "bench/instructions.sh failed"; exit 1; }
echo "$out"
echo "$out" | awk -F '[: ]+' '
    $1 == "partition_ccbp" && !($3 > 0 && $3 <= 16000) { print $1 " takes " $3 " instructions, allowed are 1 to 16000"; bad = 1 }
    $2 == 16 { less[$1] = $3 }
    $2 == 64 && !(less[$1] > 0 && $3 <= 4.84 * less[$1]) {
        print $1 " takes " $3 " instructions for 64 blocks, and " less[$1] " for 16"
        bad = 1
    }
    $2 == 64 { rows++ }
    END { exit bad || rows != 3 }'
