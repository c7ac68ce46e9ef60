#!/bin/sh
# Rate of a kernel that runs from its trace, as a part of its rate from PTX: trace_speed.sh [MINIGPU [LAUNCH...]]
#   sh bench/trace_speed.sh build/examples/minigpu/minigpu examples/minigpu/kernels/hotspot/launch.yaml
# Without a LAUNCH: hotspot, pathfinder, saxpy with ten times its elements, and bfs_1. Instructions are machine
# instructions, which valgrind counts. "Reading" is the part of them that reads and decodes the trace
# (trace_kernel_block and what it calls), "rate without" the rate of the rest, which is the pipeline and the tags: the
# rate if reading cost nothing. Seconds are those that a run says of itself ("simulated in"), the least of RUNS (12)
# runs from PTX and from the trace in turns. They depend on the machine and on what else it does. "Processor time" is
# that of the whole command (user and system), the least of the same runs. From PTX it also makes the inputs and checks
# the results; from a trace it also reads the first block of each kernel twice. COUNT=0 leaves out the instructions,
# which take minutes, and prints the times alone.
set -u
minigpu=${1:-build/examples/minigpu/minigpu} runs=${RUNS:-12} count=${COUNT:-1}
[ $# -gt 0 ] && shift
[ "$count" = 0 ] || command -v valgrind >/dev/null || { echo "trace_speed.sh: there is no valgrind (package valgrind)" >&2; exit 2; }
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
seconds() { # seconds FILE: that a run says of itself, and the processor time of the command
    TIMEFORMAT= LC_ALL=C bash -c 'TIMEFORMAT="processor time: %3U %3S"; time "$@"' - "$minigpu" run "$1" 2>&1 |
        awk '/^simulated in/ { simulated = $3 } /^processor time:/ { processor = $3 + $4 } END { print simulated, processor }'
}
[ "$count" = 0 ] || printf "| kernel | from PTX | from its trace | rate | reading | rate without "
[ "$count" = 0 ] && printf "| kernel "
echo "| seconds from PTX | from its trace | rate | processor time from PTX | from its trace | rate |"
[ "$count" = 0 ] || printf "|---|---|---|---|---|"
echo "|---|---|---|---|---|---|---|"
for launch; do
    name=$(basename "$(dirname "$launch")")/$(basename "$launch" .yaml)
    "$minigpu" run "$launch" --write-trace "$folder" >/dev/null || exit 1
    : >"$folder/seconds"
    run=0
    while [ "$run" -lt "$runs" ]; do
        echo "$(seconds "$launch") $(seconds "$folder/kernelslist.g")" >>"$folder/seconds"
        run=$((run + 1))
    done
    ptx="0 0" trace="0 0"
    [ "$count" = 0 ] || { ptx=$(instructions "$launch") && trace=$(instructions "$folder/kernelslist.g"); } || exit 1
    awk -v name="$name" -v ptx="${ptx% *}" -v trace="${trace% *}" -v reading="${trace#* }" '
        NR == 1 || $1 < p { p = $1 }
        NR == 1 || $2 < ptx_all { ptx_all = $2 }
        NR == 1 || $3 < t { t = $3 }
        NR == 1 || $4 < trace_all { trace_all = $4 }
        END { printf "| %s ", name
              if (trace > 0)
                  printf "| %.0f | %.0f | %.2f | %.1f%% | %.2f ", ptx, trace, ptx / trace, 100 * reading / trace,
                         ptx / (trace - reading)
              printf "| %.3f | %.3f | %.2f | %.3f | %.3f | %.2f |\n", p, t, t ? p / t : 0, ptx_all, trace_all,
                     trace_all ? ptx_all / trace_all : 0 }' "$folder/seconds" || exit 1
done
