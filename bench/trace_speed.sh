#!/bin/sh
# Rate of a kernel that runs from its trace, as a part of its rate from PTX: trace_speed.sh [MINIGPU [LAUNCH...]]
#   sh bench/trace_speed.sh build/examples/minigpu/minigpu examples/minigpu/kernels/hotspot/launch.yaml
# Without a LAUNCH: hotspot, pathfinder, saxpy and bfs_1. Instructions are machine instructions, which valgrind counts. Seconds
# are those that a run says of itself ("simulated in"), the least of RUNS (12) runs from PTX and from the trace in turns. They
# depend on the machine and on what else it does.
set -u
minigpu=${1:-build/examples/minigpu/minigpu} runs=${RUNS:-12}
[ $# -gt 0 ] && shift
if [ $# -eq 0 ]; then
    for kernel in hotspot pathfinder saxpy bfs_1; do set -- "$@" "examples/minigpu/kernels/$kernel/launch.yaml"; done
fi
command -v valgrind >/dev/null || { echo "trace_speed.sh: there is no valgrind (package valgrind)" >&2; exit 2; }
[ -x "$minigpu" ] || { echo "trace_speed.sh: there is no program $minigpu; build minigpu, or name it" >&2; exit 2; }
for launch; do
    [ -f "$launch" ] || { echo "trace_speed.sh: there is no launch file $launch" >&2; exit 2; }
done
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
instructions() { # instructions FILE: of a run
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$minigpu" run "$1" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
seconds() { "$minigpu" run "$1" | sed -n 's/^simulated in \([0-9.]*\) s.*/\1/p'; }
echo "| kernel | from PTX | from its trace | rate | seconds from PTX | from its trace | rate |" || exit 1
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
    ptx=$(instructions "$launch") trace=$(instructions "$folder/kernelslist.g")
    awk -v name="$name" -v ptx="${ptx:-0}" -v trace="${trace:-0}" '
        NR == 1 || $1 < p { p = $1 }
        NR == 1 || $2 < t { t = $2 }
        END { printf "| %s | %.0f | %.0f | %.2f | %.3f | %.3f | %.2f |\n",
                     name, ptx, trace, trace ? ptx / trace : 0, p, t, t ? p / t : 0 }' "$folder/seconds" || exit 1
done
