#!/bin/sh
# Every part of bench/silicon/measure.cu runs clean on the mini-GPU, kernels.ptx has every kernel of the source, and a part that
# is there is not measured again: measure.sh MINIGPU_CC SOURCE_DIR
set -u
status=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
complain() { echo "$*"; status=1; }
measure() { NVCC="$1 -Wall -Werror" sh "$2/bench/silicon/measure.sh" "$folder" 256 >"$folder/log" 2>&1; }
MINIGPU=gpu:v100,sms:4,config:kernels_per_sm=2,schedule:ppq
export MINIGPU
measure "$1" "$2" || { complain "measure.sh fails"; cat "$folder/log"; }
for part in chase slices latency residents colocated faults; do
    grep -q "^$part,mini-GPU v100,.*,[0-9]" "$folder/silicon.csv" || complain "no row of $part"
done
# A hit in the L1 and in the L2 of a V100.
grep -q '^chase,.*,4096 bytes,mean,28[.0-9]*,cycles$' "$folder/silicon.csv" || complain "4 KB: not 28 cycles"
grep -q '^chase,.*,1048576 bytes,mean,212[.0-9]*,cycles$' "$folder/silicon.csv" || complain "1 MB: not 212 cycles"
echo kept >"$folder/slices.csv"
rm "$folder/faults.csv"
measure "$1" "$2" || complain "measure.sh fails when it goes on"
grep -q '^kept$' "$folder/silicon.csv" || complain "a part that was there is measured again"
grep -q '^faults,' "$folder/silicon.csv" || complain "a part that was missing is not measured"
# Every kernel of the source is in the PTX that bench/reproduce runs.
for kernel in $(sed -n 's/^extern "C" __global__ void \([a-z_]*\)(.*/\1/p' "$2/bench/silicon/kernels.cu"); do
    grep -q "^.visible .entry $kernel(" "$2/bench/silicon/kernels.ptx" || complain "kernels.ptx has no $kernel: nvcc -ptx"
done
exit $status
