#!/bin/sh
# Measures the GPU at hand: sh bench/silicon/measure.sh FOLDER [scale]
# Compiles measure.cu with $NVCC (default: nvcc -O3 -arch=native) and runs its parts, each for at most 8 minutes. A part
# whose file is in FOLDER is not run again, so the command goes on where it was stopped. FOLDER/silicon.csv has all.
set -eu
[ $# -ge 1 ] || { echo "usage: measure.sh FOLDER [scale]" >&2; exit 2; }
folder=$1 scale=${2:-1} source=$(dirname "$0")
mkdir -p "$folder"
[ -x "$folder/measure" ] || ${NVCC:-nvcc -O3 -arch=native} "$source/measure.cu" -o "$folder/measure"
status=0
for part in chase slices latency residents colocated faults; do
    [ ! -f "$folder/$part.csv" ] || continue
    if timeout 480 "$folder/measure" "$part" "$scale" >"$folder/$part.part"; then
        mv "$folder/$part.part" "$folder/$part.csv"
    else
        echo "measure.sh: $part ended with status $?; run the command again to repeat it" >&2
        status=1
    fi
done
{
    echo "# $(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "no driver")"
    echo "part,device,condition,statistic,value,unit"
    cat "$folder"/chase.csv "$folder"/slices.csv "$folder"/latency.csv "$folder"/residents.csv \
        "$folder"/colocated.csv "$folder"/faults.csv 2>/dev/null || true
} >"$folder/silicon.csv"
exit $status
