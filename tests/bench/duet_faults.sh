#!/bin/sh
# --duet with --faults takes at most as many machine instructions as a run with each: duet_faults.sh SOURCE_DIR MINIGPU
# When every SM looked in every cycle at each warp that waits for pages and fits no frame, it took 5.9 times as many.
set -u
command -v valgrind >/dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count() { # count NAME OPTION...: the machine instructions of a run
    name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$minigpu" run "$launch" "$@" >"$work/out" 2>"$work/log" ||
        { cat "$work/out" "$work/log" >&2; return 1; }
    sed -n "s/.*Collected : \([0-9]*\).*/$name \1/p" "$work/log"
}
launch=$1/tests/bench/duet_faults.yaml minigpu=$2
{ count duet --duet && count faults --faults queue --absent all && count both --duet --faults queue --absent all; } >"$work/counts" || exit 1
cat "$work/counts"
awk '{ of[$1] = $2 } END { exit !(NR == 3 && of["both"] > of["faults"] && of["both"] <= of["duet"] + of["faults"]) }' "$work/counts" ||
    { echo "both together take more than the sum"; exit 1; }
