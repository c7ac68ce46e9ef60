#!/bin/sh
# Rate of a kernel that runs from its trace, as a part of its rate from PTX: trace_speed.sh [MINIGPU [LAUNCH...]]
#   sh bench/trace_speed.sh build/examples/minigpu/minigpu examples/minigpu/kernels/hotspot/launch.yaml
# Without a LAUNCH: hotspot, pathfinder, saxpy with ten times its elements, and bfs_1. Instructions are machine
# instructions, which valgrind counts. "Reading" is the part of them that reads and decodes the trace
# (trace_kernel_block and what it calls), "rate without" the rate of the rest, which is the pipeline and the tags: the
# rate if reading cost nothing. Seconds are those that a run says of itself ("simulated in"), the least of RUNS (12)
# runs from PTX and from the trace in turns. They depend on the machine and on what else it does.
set -u
minigpu=${1:-build/examples/minigpu/minigpu} runs=${RUNS:-12}
[ $# -gt 0 ] && shift
command -v valgrind >/dev/null || { echo "trace_speed.sh: there is no valgrind (package valgrind)" >&2; exit 2; }
[ -x "$minigpu" ] || { echo "trace_speed.sh: there is no program $minigpu; build minigpu, or name it" >&2; exit 2; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
if [ $# -eq 0 ]; then
    kernels=examples/minigpu/kernels
    mkdir "$folder/saxpy" && sed "s|100000|1000000|; s|391|3907|; s|ptx: |ptx: $PWD/$kernels/saxpy/|" \
        "$kernels/saxpy/launch.yaml" >"$folder/saxpy/ten_times.yaml" || exit 1
    set -- "$kernels/hotspot/launch.yaml" "$kernels/pathfinder/launch.yaml" "$folder/saxpy/ten_times.yaml" \
        "$kernels/bfs_1/launch.yaml"
fi
for launch; do
    [ -f "$launch" ] || { echo "trace_speed.sh: there is no launch file $launch" >&2; exit 2; }
done
instructions() { # instructions FILE: of a run, and of the part that reads a trace
    valgrind --tool=callgrind --callgrind-out-file="$folder/callgrind" "$minigpu" run "$1" >/dev/null 2>&1
    callgrind_annotate --inclusive=yes "$folder/callgrind" | awk '
        { gsub(",", "", $1) }
        /PROGRAM TOTALS/ { all = $1 }
        /:trace_kernel_block( |$)/ && !reading { reading = $1 }
        END { print all + 0, reading + 0 }'
}
seconds() { "$minigpu" run "$1" | sed -n 's/^simulated in \([0-9.]*\) s.*/\1/p'; }
printf "| kernel | from PTX | from its trace | rate | reading | rate without " || exit 1
echo "| seconds from PTX | from its trace | rate |"
echo "|---|---|---|---|---|---|---|---|---|"
for launch; do
    name=$(basename "$(dirname "$launch")")/$(basename "$launch" .yaml)
    "$minigpu" run "$launch" --write-trace "$folder" >/dev/null || exit 1
    : >"$folder/seconds"
    run=0
    while [ "$run" -lt "$runs" ]; do
        echo "$(seconds "$launch") $(seconds "$folder/kernelslist.g")" >>"$folder/seconds"
        run=$((run + 1))
    done
    ptx=$(instructions "$launch") trace=$(instructions "$folder/kernelslist.g")
    awk -v name="$name" -v ptx="${ptx% *}" -v trace="${trace% *}" -v reading="${trace#* }" '
        NR == 1 || $1 < p { p = $1 }
        NR == 1 || $2 < t { t = $2 }
        END { printf "| %s | %.0f | %.0f | %.2f | %.1f%% | %.2f | %.3f | %.3f | %.2f |\n",
                     name, ptx, trace, trace ? ptx / trace : 0, trace ? 100 * reading / trace : 0,
                     trace ? ptx / (trace - reading) : 0, p, t, t ? p / t : 0 }' "$folder/seconds" || exit 1
done
