#!/bin/sh
# The pictures of docs/silicon.md are those that bench/reproduce draws, and the rule of a series can fail:
# silicon.sh PROGRAM SOURCE_DIR
set -u
status=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
complain() { echo "$*"; status=1; }
"$1" --only M. --pictures "$folder" --points "$folder/points.csv" --csv >"$folder/rows.csv" || complain "exit status $?"
! grep -E '(^|,)-?(nan|inf)(,|$)' "$folder/rows.csv" "$folder/points.csv" || complain "these rows are no numbers"
for picture in "$2"/docs/pictures/silicon/*.svg; do
    cmp -s "$picture" "$folder/${picture##*/}" ||
        complain "$picture is stale: build/bench/reproduce --only M. --pictures docs/pictures/silicon"
done
for row in M.xs.l2 M.cwsr; do
    grep -q "^$row,.*,ok\$" "$folder/rows.csv" || complain "$row is not ok: $(grep "^$row," "$folder/rows.csv")"
done

# The section on the bound lists every series that is not ok, and counts them.
page=$2/docs/silicon.md
awk '/^## Why 80%/ { on = 1 } /^## Parameters/ { on = 0 } on' "$page" >"$folder/bound.txt"
sed -n 's/^| \(M\.[^ ]*\) | [a-z]* | .*/\1/p' "$folder/bound.txt" | sort >"$folder/bound.ids"
sed -n 's/^\(M\.[^,]*\),.*,\(outside\|reading\|todo\)$/\1/p' "$folder/rows.csv" | sort >"$folder/not_ok.ids"
[ -s "$folder/not_ok.ids" ] && cmp -s "$folder/bound.ids" "$folder/not_ok.ids" ||
    complain "the bound lists other series: $(diff "$folder/bound.ids" "$folder/not_ok.ids")"
missing() { grep -c "^| M\.[^ ]* | $1 | " "$folder/bound.txt"; }
ok=$(grep '^M\..*,ok$' "$folder/rows.csv" | grep -vc ',no verdict,')
all=$((ok + $(wc -l <"$folder/not_ok.ids")))
for sentence in "no more than $ok of $all series ($((100 * ok / all))%) can be ok" \
    "80% would be $(((4 * all + 4) / 5))" "$(missing input) need an input" "$(missing number) needs a sixth number" \
    "$(missing rows) are readings"; do
    tr '\n' ' ' <"$folder/bound.txt" | grep -qF "$sentence" || complain "the bound does not say: $sentence"
done
grep -qF "Of $all series with a verdict $ok are ok" "$page" || complain "the page does not say: $ok of $all are ok"
# Each series outside has a condition in the table of causes.
for series in $(sed -n 's/^\(M\.[^,]*\),.*,outside$/\1/p' "$folder/rows.csv"); do
    sed -n '/^## Causes, by experiment/,/^## Why 80%/p' "$page" | grep -q "^| $series | " ||
        complain "$series is outside and has no cause"
done

# With other measured values the same simulation is outside.
mkdir "$folder/data"
cp "$2"/bench/data/*.csv "$folder/data"
awk -F, -v OFS=, '/^M.cwsr.gfx908.cwsr/ { $3 *= 3; $4 *= 3; $5 *= 3 } { print }' "$2/bench/data/silicon.csv" \
    >"$folder/data/silicon.csv"
"$1" --only M.cwsr --csv --data "$folder/data" | grep -q '^M.cwsr,.*,outside$' ||
    complain "a value that is off by a factor of three is ok"
# A row that decides cannot set a parameter: a series whose input decides has no value.
grep -q '^M.gp.bound,.*,ok$' "$folder/rows.csv" || complain "M.gp.bound is not ok"
awk -F, -v OFS=, '/^M.gp.hint.150,/ { $6 = "verify" } { print }' "$2/bench/data/silicon.csv" \
    >"$folder/data/silicon.csv"
"$1" --only M.gp.bound --csv --data "$folder/data" | grep -q '^M.gp.bound,.*,outside$' ||
    complain "a row that decides has set a parameter"

# A condition moves its row, and the row's note names it.
grep -q '^M.xs.f12,.*,outside$' "$folder/rows.csv" || complain "M.xs.f12 is not outside"
"$1" --only M.xs.f12 --set speech_ms=800 >"$folder/set.txt" || complain "--set: exit status $?"
grep -q '^M.xs.f12  *ok ' "$folder/set.txt" && grep -q 'speech_ms = 800 instead of 0' "$folder/set.txt" ||
    complain "a condition has no effect: $(cat "$folder/set.txt")"
exit $status
