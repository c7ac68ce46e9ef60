#!/bin/sh
# What bench/everything_at_once prints is what docs/restart.md shows, and at 1% errors only restart is near its time without:
# everything_at_once.sh PROGRAM CSV
work=$(mktemp)
trap 'rm -f "$work"' EXIT
"$1" >"$work" || exit 1
cmp "$work" "$2" || { echo "$2 is old: build/bench/everything_at_once > docs/pictures/everything_at_once.csv, then pages.sh"; exit 1; }
awk -F, '
    $3 == "0" { without[$1, $2] = $4 }
    $3 == "0.01" { rows++
        if (($2 ~ /^restart/) != ($4 && $4 < 1.1 * without[$1, $2])) { print $0; bad = 1 } }
    END { if (rows != 15) { print rows " rows, not 15"; bad = 1 } exit bad }' "$work"
