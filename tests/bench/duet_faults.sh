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
check() { # check LAUNCH MOST: fails where both take more than MOST times the sum
    launch=$1
    { count duet --duet && count faults --faults queue --absent all && count both --duet --faults queue --absent all; } >"$work/counts" || exit 1
    cat "$work/counts"
    awk -v most="$2" '{ of[$1] = $2 } END { exit !(NR == 3 && of["both"] > of["faults"] && of["both"] <= most * (of["duet"] + of["faults"])) }' \
        "$work/counts" || { echo "$launch: both together take more than $2 times the sum"; exit 1; }
}
minigpu=$2
check "$1/tests/bench/duet_faults.yaml" 1
# consecutive words, 32 blocks: 0.99 of the sum, and 1.15 when every move let an SM look at all of its stuck warps again
cp "$1/bench/speed/speed.ptx" "$work" || exit 1
cat >"$work/stream.yaml" <<'END'
machine: {gpu: gtx480_shieh, sms: 4}
kernels:
  - ptx: speed.ptx
    kernel: stream
    grid: [32, 1, 1]
    block: [256, 1, 1]
    arguments:
      - buffer: {type: u32, count: 8192}
      - buffer: {type: u32, count: 65536, random: {seed: 1, low: 0, high: 1000}}
      - scalar: {type: u32, value: 16}
END
check "$work/stream.yaml" 1.05 # compilers differ by some percent
# scattered words: 1.02 of the sum when an SM looked in every cycle at each warp whose gate is closed
sed 's/kernel: stream/kernel: gather/' "$work/stream.yaml" >"$work/gather.yaml"
check "$work/gather.yaml" 1
