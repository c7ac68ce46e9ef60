#!/bin/sh
# Machine instructions of the mini-GPU per simulated warp instruction, for six kinds of kernels on 4 SMs:
# speed.sh [--blocks N] [--check] MINIGPU [OLDER_MINIGPU]
#   sh bench/speed.sh build/examples/minigpu/minigpu ../old/build/examples/minigpu/minigpu
# valgrind counts two runs, of N (60) and of N / 2 blocks, so that reading the launch does not count. Prints a row per
# kernel and memory model; with an older program, the older number and how many times as many instructions it takes.
# --check compares with bench/speed/bar.csv, which has the numbers for 8 blocks, and fails above 1.03 times one of them;
# memory model 1 is counted for stream and gather alone.
# --bar prints such a file.
set -u
blocks=60 mode=table here=$(dirname "$0")/speed
while [ $# -gt 0 ]; do
    case $1 in
    --blocks) blocks=$2; shift 2 ;;
    --check) mode=check blocks=8; shift ;;
    --bar) mode=bar blocks=8; shift ;;
    *) break ;;
    esac
done
minigpu=${1:-build/examples/minigpu/minigpu} older=${2:-}
command -v valgrind >/dev/null || {
    echo "speed.sh: there is no valgrind (package valgrind): nothing is counted"
    exit 77
}
if [ $mode = check ] && ! grep -qw avx2 /proc/cpuinfo; then
    echo "speed.sh: the bar is that of processors with AVX2, and this one has none: nothing is counted"
    exit 77
fi
[ -x "$minigpu" ] || { echo "speed.sh: there is no program $minigpu; build minigpu, or name it" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cp "$here/speed.ptx" "$work" || exit 2
launch() { # launch KERNEL BLOCKS: writes the launch file
    case $1 in
    path) type=u32 rounds=12 ;;
    fma8) type=f32 rounds=32 ;;
    stream) type=u32 rounds=16 ;;
    gather) type=u32 rounds=8 ;;
    mm) type=f32 rounds=4 ;;
    collatz) type=u32 rounds=97 ;;
    esac
    cat >"$work/launch.yaml" <<END
machine: {gpu: gtx480_shieh, sms: 4}
kernels:
  - ptx: speed.ptx
    kernel: $1
    grid: [$2, 1, 1]
    block: [256, 1, 1]
    arguments:
      - buffer: {type: $type, count: $((blocks * 256))}
      - buffer: {type: $type, count: 65536, random: {seed: 1, low: 0, high: 1000}}
      - scalar: {type: u32, value: $rounds}
END
}
count() { # count MINIGPU KERNEL MODEL BLOCKS: machine instructions, and warp instructions
    launch "$2" "$4"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" run "$work/launch.yaml" --config "memory_model=$3" --json >"$work/out" 2>"$work/log" || { cat "$work/out" "$work/log" >&2; exit 2; }
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$work/log"
    sed -n 's/.*"warp_instructions": *\([0-9]*\).*/\1/p' "$work/out" | head -1
}
each() { # each MINIGPU KERNEL MODEL
    echo $(count "$1" "$2" "$3" "$blocks") $(count "$1" "$2" "$3" $((blocks / 2))) |
        awk '{ printf "%.0f", ($1 - $3) / ($2 - $4) }'
}
for kernel in path fma8 stream gather mm collatz; do
    for model in 0 1; do
        case $mode,$kernel,$model in check,path,1 | check,fma8,1 | check,mm,1 | check,collatz,1) continue ;; esac
        echo "$kernel,$model,$(each "$minigpu" "$kernel" "$model")${older:+,$(each "$older" "$kernel" "$model")}"
    done
done >"$work/table"
case $mode in
bar) cat "$work/table" ;;
check)
    awk -F, 'NR == FNR { bar[$1 "," $2] = $3; next }
        !(($1 "," $2) in bar) { print $1 ", memory model " $2 ": bench/speed/bar.csv has no number"; wrong = 1; next }
        $3 > 1.03 * bar[$1 "," $2] {
            print $1 ", memory model " $2 ": " $3 " machine instructions per warp instruction, and the bar is " bar[$1 "," $2]
            wrong = 1
        }
        END { exit wrong }' "$here/bar.csv" "$work/table" ;;
*)
    awk -F, 'BEGIN { printf "%-10s %6s %12s %12s %8s\n", "kernel", "model", "instructions", "older", "times" }
        { printf "%-10s %6d %12d %12s %8s\n", $1, $2, $3, $4, (NF > 3 ? sprintf("%.2f", $4 / $3) : "") }' "$work/table" ;;
esac
