#!/bin/sh
# Machine instructions of a kernel that runs from its PTX, and from a trace of the same run: trace_speed.sh [MINIGPU [LAUNCH]]
#   sh bench/trace_speed.sh build/examples/minigpu/minigpu examples/minigpu/kernels/hotspot/launch.yaml
# valgrind counts them. The third number is the rate of the trace as a part of the PTX's; the time of both runs, which
# depends on the machine and on what else it does, stands beside it.
set -u
minigpu=${1:-build/examples/minigpu/minigpu} launch=${2:-examples/minigpu/kernels/hotspot/launch.yaml}
command -v valgrind >/dev/null || { echo "trace_speed.sh: there is no valgrind (package valgrind)" >&2; exit 2; }
[ -x "$minigpu" ] || { echo "trace_speed.sh: there is no program $minigpu; build minigpu, or name it" >&2; exit 2; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$minigpu" run "$launch" --write-trace "$folder" >/dev/null || exit 1
count() { # count FILE: machine instructions of a run, and its seconds
    instructions=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$minigpu" run "$1" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
    seconds=$("$minigpu" run "$1" | sed -n 's/^simulated in \([0-9.]*\) s.*/\1/p')
    echo "${instructions:-0} ${seconds:-0}"
}
set -- $(count "$launch") $(count "$folder/kernelslist.g")
echo "$@" | awk '{ printf "%-8s %16s %10s\n", "from", "instructions", "seconds"
    printf "%-8s %16.0f %10.3f\n%-8s %16.0f %10.3f\n", "PTX", $1, $2, "trace", $3, $4
    printf "%-8s %16.2f %10.2f\n", "rate", $1 / $3, ($4 > 0 ? $2 / $4 : 0) }'
