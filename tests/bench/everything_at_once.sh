#!/bin/sh
# What bench/everything_at_once prints for one kernel is what docs/pictures has of it, and there only restart is near its time
# without errors at 1% of them: everything_at_once.sh PROGRAM CSV
work=$(mktemp)
trap 'rm -f "$work"' EXIT
status=0
"$1" spmv no_kernel >"$work" 2>&1 || status=$?
[ $status -eq 2 ] && [ "$(cat "$work")" = 'everything_at_once: no kernel is named "no_kernel"' ] ||
    { echo "a kernel that does not exist gives status $status and:"; cat "$work"; exit 1; }
"$1" spmv >"$work" || exit 1
awk -F, 'NR == 1 || $1 == "spmv"' "$2" | cmp "$work" - ||
    { echo "$2 is old: build/bench/everything_at_once > docs/pictures/everything_at_once.csv, then pages.sh"; exit 1; }
awk -F, '
    $3 == "0" { without[$1, $2] = $4 }
    $3 == "0.01" { rows++
        if (($2 ~ /^restart/) != ($4 && $4 < 1.1 * without[$1, $2])) { print $0; bad = 1 } }
    END { if (rows != 15) { print rows " rows, not 15"; bad = 1 } exit bad }' "$2"
