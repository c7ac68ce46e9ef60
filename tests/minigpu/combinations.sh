#!/bin/sh
# combinations.sh MINIGPU SOURCE_DIR [N]: every cell (with N, each N-th) of the tables in docs/combinations.md is what it says.
#
# The first cell of a table holds the launch file and the options of all its runs, in backquotes; the other cells of the first line
# and of the first column hold further options. A cell says "right" (every kernel's result is, and every mechanism of the cell has
# acted), "no" (refused, exit status 2) or nothing (the cell is the mirror of another, or its row and column give the same option, of
# which one value alone would count; such a cell is refused). "right, --OPTION idle": that one need not act.
# The table of mechanisms holds an option, another one beside it or none, and the regular expression that a line of the report
# matches when the mechanism has acted, or "other cycles": without the option the run takes another number of cycles. The last line
# for an option counts. The lines of the last table hold two options and the reason that minigpu prints.
set -u
minigpu=$1 source=$2 each=${3:-1}
cd "$source" || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -F '|' -v acts="$work/acts" '
    function text(cell) { gsub(/^ +| +$/, "", cell); return cell }
    function code(cell) { cell = text(cell); gsub(/`/, "", cell); return cell }
    function joined(line,   first) { # two lists of absent pages are one
        if (line !~ /--absent .*--absent /) return line
        match(line, /--absent [^ ]*/)
        first = substr(line, RSTART + 9, RLENGTH - 9)
        line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH + 1)
        if ((" " line " ") ~ ("--absent " first " ")) return line
        sub(/--absent /, "--absent " first ",", line)
        return line
    }
    function repeated(line,   words, n, i, seen) { # an option with two values, of which the last one alone counts; --config sets one name each time
        n = split(line, words, " ")
        for (i = 1; i <= n; i++) if (words[i] ~ /^--/ && words[i] != "--config") {
            if (words[i] in seen && seen[words[i]] != words[i + 1]) return words[i]
            seen[words[i]] = words[i + 1]
        }
        return ""
    }
    !/^\|/ { rows = 0; next }
    { rows++ }
    rows == 1 { mechanisms = text($2) == "mechanism"; runs = $2 ~ /`/ || text($3) == "refused, because" } # other tables say where tests are
    mechanisms && rows > 2 { print code($2) "\t" code($3) "\t" code($4) >acts }
    !runs { next }
    rows == 1 { base = code($2); for (i = 3; i < NF; i++) { column[i] = code($i); if (column[i] == "-") column[i] = "" } last = NF; next }
    rows == 2 { next }
    column[3] == "refused, because" { print "no\t" base " " code($2) "\t" text($3); next }
    { for (i = 3; i < last; i++) if (text($i) != "") { line = joined(base " " code($2) " " column[i]); print (repeated(line) ? "twice " repeated(line) : text($i)) "\t" line "\t" } }
' docs/combinations.md >"$work/cells"

# cycles LINE: the cycles that the run takes; each run is made once
cycles() {
    made=$work/cycles.$(printf '%s' "$1" | cksum | tr -d ' ')
    # shellcheck disable=SC2086
    [ -f "$made" ] || "$minigpu" run $1 2>/dev/null | sed -n 's/^\([0-9]*\) cycles .*/\1/p' >"$made"
    cat "$made"
}

# without LINE OPTION: the line without the option and its value
without() { printf '%s\n' "$1" | awk -v option="$2" '{ for (i = 1; i <= NF; i++) if ($i == option) i++; else printf "%s ", $i }'; }

# idle LINE: the mechanisms of the run that have not acted, by its report in $work/out
idle() {
    awk -F '\t' -v line=" $1 " '
        (index(line, " " $1 " ") || index(line, " " $1 "=")) && ($2 == "" || index(line, " " $2 " ")) { if (!($1 in when)) order[++n] = $1; when[$1] = $3 }
        END { for (i = 1; i <= n; i++) print order[i] "\t" when[order[i]] }' "$work/acts" >"$work/when"
    while IFS='	' read -r option when; do
        if [ "$when" = "other cycles" ]; then
            [ "$(cycles "$(without "$1" "$option")")" != "$(sed -n 's/^\([0-9]*\) cycles .*/\1/p' "$work/out")" ]
        else
            grep -qE -e "$when" "$work/out"
        fi || printf ' %s' "$option"
    done <"$work/when"
}

cells=0 bad=0
while IFS='	' read -r says line reason; do
    cells=$((cells + 1))
    case $says in twice*) bad=$((bad + 1)); echo "a cell gives an option ${says}: minigpu run $line"; continue ;; esac
    [ $((cells % each)) -eq 0 ] || continue
    # shellcheck disable=SC2086
    (ulimit -t 60; exec "$minigpu" run $line) >"$work/out" 2>&1
    status=$? idle=
    case $says in right*) [ $status -ne 0 ] || idle=$(idle "$line") ;; esac
    case $says-$status-$idle in
    right-0-) continue ;;
    right,*-0-*) [ "$says" = "right,$idle idle" ] && continue ;;
    no-2-) [ -z "$reason" ] || grep -qF -e "$reason" "$work/out" && continue ;;
    esac
    bad=$((bad + 1))
    echo "exit status $status, idle:${idle:- nothing}, the page says \"$says\" $reason: minigpu run $line"
    [ $status -eq 0 ] || grep -m 2 -E 'minigpu:|WRONG|no instruction' "$work/out" || tail -1 "$work/out"
done <"$work/cells"
echo "$cells cells, $bad of them not as docs/combinations.md says"
[ $bad -eq 0 ] && [ $cells -ge 150 ]
