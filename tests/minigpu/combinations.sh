#!/bin/sh
# combinations.sh MINIGPU SOURCE_DIR [N]: every cell (with N, each N-th) of the tables in docs/combinations.md is what it says.
#
# The first cell of a table holds the launch file and the options of all its runs, in backquotes; the other cells of the first line
# and of the first column hold further options. A cell says "right" (every kernel's result is), "no" (refused, exit status 2) or
# nothing (the cell is the mirror of another). The lines of the last table hold two options and the reason that minigpu prints.
set -u
minigpu=$1 source=$2 each=${3:-1}
cd "$source" || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -F '|' '
    function text(cell) { gsub(/^ +| +$/, "", cell); return cell }
    function code(cell) { cell = text(cell); gsub(/`/, "", cell); return cell }
    !/^\|/ { rows = 0; next }
    { rows++ }
    rows == 1 { runs = $2 ~ /`/ || text($3) == "refused, because" } # other tables say where tests are
    !runs { next }
    rows == 1 { base = code($2); for (i = 3; i < NF; i++) { column[i] = code($i); if (column[i] == "-") column[i] = "" } last = NF; next }
    rows == 2 { next }
    column[3] == "refused, because" { print "no\t" base " " code($2) "\t" text($3); next }
    { for (i = 3; i < last; i++) if (text($i) != "") print text($i) "\t" base " " code($2) " " column[i] "\t" }
' docs/combinations.md >"$work/cells"
cells=0 bad=0
while IFS='	' read -r says line reason; do
    cells=$((cells + 1))
    [ $((cells % each)) -eq 0 ] || continue
    # shellcheck disable=SC2086
    (ulimit -t 60; exec "$minigpu" run $line) >"$work/out" 2>&1
    status=$?
    case $says-$status in
    right-0) continue ;;
    no-2) [ -z "$reason" ] || grep -qF -e "$reason" "$work/out" && continue ;;
    esac
    bad=$((bad + 1))
    echo "exit status $status, the page says \"$says\" $reason: minigpu run $line"
    grep -m 2 -E 'minigpu:|WRONG|no instruction' "$work/out" || tail -1 "$work/out"
done <"$work/cells"
echo "$cells cells, $bad of them not as docs/combinations.md says"
[ $bad -eq 0 ] && [ $cells -ge 150 ]
