#!/bin/sh
# What GPUDuet gains on our inputs and on inputs of the size that Lin Table 3.2 prints, as CSV: duet_inputs.sh BUILD [US]
# Five of the ten unsaturated kernels whose printed input is a size: hotspot 512x512, 2DCONV 4096x4096, matrixMul
# 1024x1024, 2MM 2048x2048, hybridsort's histogram 4 million elements (each block keeps its share of them). Each runs on
# maxwell_duet for US microseconds (1000) with the registers that ptxas gives, alone and with the monitor, training
# included; ours runs again and again, as in row L.duet. A gain is the ratio of thread instructions in that time. The
# last line of each size is the geometric mean. Takes some twenty minutes, and prints at its end.
set -eu
build=$(cd "${1:?usage: duet_inputs.sh BUILD [US]}" && pwd)
us=${2:-1000}
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
launch HS ours hotspot "17, 17, 1" "16, 16, 1" 4864 2 f:41616 f:41616 f:41616 204 204 0.341333 0.0995 0.1005 0.00512
launch HS printed hotspot "43, 43, 1" "16, 16, 1" 4864 2 f:262144 f:262144 f:262144 512 512 0.341333 0.0995 0.1005 0.00512
launch CONV ours convolution "16, 48, 1" "32, 8, 1" 7168 f:193800 f:193800 510 380
launch CONV printed convolution "128, 512, 1" "32, 8, 1" 7168 f:16777216 f:16777216 4096 4096
launch MMS ours matrix_multiply "18, 20, 1" "16, 16, 1" 9728 f:92160 f:20480 f:18432 288 64
launch MMS printed matrix_multiply "64, 64, 1" "16, 16, 1" 9728 f:1048576 f:1048576 f:1048576 1024 1024
launch MM ours mm2 "16, 48, 1" "32, 8, 1" 4096 f:24320 f:32768 f:194560 380 512 64
launch MM printed mm2 "64, 256, 1" "32, 8, 1" 4096 f:4194304 f:4194304 f:4194304 2048 2048 2048
launch HG ours histogram "136, 1, 1" "96, 1, 1" 1344 u:1024 f:450000 450000 0.0 256.0
launch HG printed histogram "1209, 1, 1" "96, 1, 1" 1344 u:1024 f:4000000 4000000 0.0 256.0
instructions() { # FILE [OPTION...]
    file=$1
    shift
    "$build/examples/minigpu/minigpu" run "$work/$file.yaml" --gpu maxwell_duet --until "$us" --quiet "$@" >"$work/log"
    awk '$2 == 0 && NF >= 8 { print $6; found = 1; exit } END { exit !found }' "$work/log"
}
echo "kernel,inputs,alone,GPUDuet,gain"
for size in ours printed; do
    for kernel in HS CONV MMS MM HG; do
        alone=$(instructions $kernel-$size)
        duet=$(instructions $kernel-$size --duet=maxwell_duet)
        echo "$kernel,$size,$alone,$duet"
    done
done | awk -F, '
    $2 != size && count { printf "mean,%s,,,%+.1f\n", size, 100 * (exp(sum / count) - 1); sum = count = 0 }
    { size = $2; sum += log($4 / $3); count++; printf "%s,%+.1f\n", $0, 100 * ($4 / $3 - 1); fflush() }
    END { printf "mean,%s,,,%+.1f\n", size, 100 * (exp(sum / count) - 1) }'
