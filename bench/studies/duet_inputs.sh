#!/bin/sh
# What GPUDuet gains on our inputs and on inputs of the size that Lin Table 3.2 prints, as CSV:
# duet_inputs.sh BUILD [US [CONDITION]...]
# Five of the ten unsaturated kernels whose printed input is a size: hotspot 512x512, 2DCONV 4096x4096, matrixMul
# 1024x1024, 2MM 2048x2048, hybridsort's histogram 4 million elements (each block keeps its share of them). Each runs on
# maxwell_duet for US microseconds (1000) with the registers that ptxas gives, alone and with the monitor, training
# included; ours runs again and again, as in row L.duet. A gain is the ratio of thread instructions in that time. The
# last line of each size is the geometric mean. Takes some twenty minutes, and prints at its end.
# With CONDITIONs the printed inputs alone run, under each of them:
#   as      the machine as printed, the monitor trains for 20,000 cycles
#   start   all extra blocks from the start, no monitor
#   port    besides, a port that moves a frame in one cycle
#   latency loads of 600 cycles from L2 and 1,200 from DRAM
#   l1      an L1 of 128 KB
#   all     all of these
set -eu
build=$(cd "${1:?usage: duet_inputs.sh BUILD [US]}" && pwd)
us=${2:-1000}
[ $# -lt 2 ] && shift 1 || shift 2
kernels=$(cd "$(dirname "$0")/../../examples/minigpu/kernels" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launch() { # NAME FILE KERNEL GRID BLOCK REGISTERS ARGUMENT...
    name=$1 file=$2 kernel=$3 grid=$4 block=$5 registers=$6
    shift 6
    {
        echo "processes:"
        echo "  - name: it"
        echo "    repeat: 1000000"
        echo "    kernels:"
        echo "      - ptx: $kernels/$kernel/$kernel.ptx"
        echo "        kernel: $kernel"
        echo "        grid: [$grid]"
        echo "        block: [$block]"
        echo "        footprint: {registers: $registers}"
        echo "        arguments:"
        for argument; do
            case $argument in
            *.*) echo "          - scalar: {type: f32, value: $argument}" ;;
            f:*) echo "          - buffer: {type: f32, count: ${argument#f:}, random: {seed: 1, low: 0.0, high: 1.0}}" ;;
            u:*) echo "          - buffer: {type: u32, count: ${argument#u:}, constant: 0}" ;;
            *) echo "          - scalar: {type: s32, value: $argument}" ;;
            esac
        done
    } >"$work/$name-$file.yaml"
}
printed() { # NAME KERNEL REGISTERS
    {
        echo "processes:"
        echo "  - name: it"
        echo "    repeat: 1000000"
        sed -e 1d -e 's/^/    /' -e "s#ptx: #ptx: $kernels/$2/#" -e "s/arguments:/footprint: {registers: $3}\\n        &/" \
            "$kernels/$2/printed.yaml"
    } >"$work/$1-printed.yaml"
}
launch HS ours hotspot "17, 17, 1" "16, 16, 1" 4864 2 f:41616 f:41616 f:41616 204 204 0.341333 0.0995 0.1005 0.00512
printed HS hotspot 4864
launch CONV ours convolution "16, 48, 1" "32, 8, 1" 7168 f:193800 f:193800 510 380
printed CONV convolution 7168
launch MMS ours matrix_multiply "18, 20, 1" "16, 16, 1" 9728 f:92160 f:20480 f:18432 288 64
printed MMS matrix_multiply 9728
launch MM ours mm2 "16, 48, 1" "32, 8, 1" 4096 f:24320 f:32768 f:194560 380 512 64
printed MM mm2 4096
launch HG ours histogram "136, 1, 1" "96, 1, 1" 1344 u:1024 f:450000 450000 0.0 256.0
printed HG histogram 1344
instructions() { # FILE [OPTION...]
    file=$1
    shift
    "$build/examples/minigpu/minigpu" run "$work/$file.yaml" --gpu maxwell_duet --until "$us" "$@" >"$work/log" 2>"$work/notes"
    awk '$2 == 0 && NF >= 8 { print $6; found = 1; exit } END { exit !found }' "$work/log"
}
if [ $# -eq 0 ]; then
    sizes="ours printed"
    set -- as
else
    sizes=printed
fi
slow=l2_load_cycles=600,dram_load_cycles=1200
echo "kernel,inputs,condition,alone,GPUDuet,gain"
for size in $sizes; do
    for condition; do
        case $condition in
        as) duet=maxwell_duet machine= ;;
        start) duet=maxwell_duet:all machine= ;;
        port) duet=maxwell_duet:all:4096 machine= ;;
        latency) duet=maxwell_duet machine=--config=$slow ;;
        l1) duet=maxwell_duet machine=--config=l1_bytes=131072 ;;
        all) duet=maxwell_duet:all:4096 machine=--config=$slow,l1_bytes=131072 ;;
        *) echo "duet_inputs.sh: no condition $condition" >&2 && exit 2 ;;
        esac
        for kernel in HS CONV MMS MM HG; do
            alone=$(instructions $kernel-$size $machine)
            echo "$kernel,$size,$condition,$alone,$(instructions $kernel-$size $machine --duet=$duet)"
        done
    done
done | awk -F, '
    { sum += log($5 / $4); printf "%s,%+.1f\n", $0, 100 * ($5 / $4 - 1); fflush() }
    NR % 5 == 0 { printf "mean,%s,%s,,,%+.1f\n", $2, $3, 100 * (exp(sum / 5) - 1); fflush(); sum = 0 }'
