#!/bin/sh
# preempted_path.sh MINIGPU SOURCE: the way of a preempted block through the mini-GPU: functions and files of
# examples/minigpu that a run enters because SMs are emptied by switch, and the same run without --preempt does not. Its
# blocks are stopped, saved and restored on the way. Callgrind (valgrind) sees which functions are entered.
#
# In version 0.3, 37 files lay on the way; here 18 are allowed.
set -eu
minigpu=$1 source=$2 most=18
command -v valgrind >/dev/null || { echo "preempted_path.sh: skipped: there is no valgrind"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
entered() { # entered OPTION...: prints "FILE FUNCTION" of all functions that are entered
    valgrind --tool=callgrind --callgrind-out-file="$work/out" "$minigpu" run "$source/kernels/saxpy/small.yaml" "$@" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
    # Callgrind writes a name at its first use, "fl=(12) PATH", and "(12)" from then on; calls name files and functions, too.
    awk '
        /^c?(fl|fi|fe|fn)=\(/ {
            kind = $0; sub(/=.*/, "", kind); sub(/^c/, "", kind); kind = kind == "cfi" ? "fl" : kind
            number = $0; sub(/^[^(]*\(/, "", number); sub(/\).*/, "", number)
            name = $0; if (sub(/^[^)]*\) /, "", name)) names[kind == "fn", number] = name
            if ($0 ~ /^fl=/) file = names[0, number]
            if ($0 ~ /^fn=/ && file ~ /examples\/minigpu\//) { short = file; sub(/.*examples\/minigpu\//, "", short); print short, names[1, number] }
        }' "$work/out" | sort -u
}
entered >"$work/without"
entered --preempt 300:switch >"$work/with"
comm -13 "$work/without" "$work/with" >"$work/way"
[ -s "$work/way" ] || { echo "preempted_path.sh: no function is entered for a preempted block"; exit 1; }
files=$(cut -d' ' -f1 "$work/way" | sort -u)
count=$(echo "$files" | wc -l)
echo "a preempted block enters $(wc -l <"$work/way") functions in $count files:" $files
[ "$count" -le "$most" ] || { echo "preempted_path.sh: more than $most files"; exit 1; }
