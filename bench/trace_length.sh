#!/bin/sh
# Is reading a trace linear in its length, and constant in memory? trace_length.sh [MINIGPU [TRACE [TIMES...]]]
#   sh bench/trace_length.sh build/examples/minigpu/minigpu examples/minigpu/traces/pathfinder/kernel-1.traceg 10 100 1000
# The blocks of TRACE stand in a longer trace so many TIMES. For each length: the machine instructions that valgrind counts per warp
# instruction (with those of the start of the program taken off), and the most memory of a run without valgrind.
#   sh bench/trace_length.sh --write TIMES TRACE >LONG.traceg
# writes the longer trace alone.
set -u
repeat() { # repeat TIMES TRACE: the blocks of a trace so many times, in a row
    awk -v times="$1" '
        /^-grid dim = / { split($0, size, /[(,)]/); $0 = "-grid dim = (" size[2] * size[3] * size[4] * times ",1,1)" }
        /^#BEGIN_TB/ { in_blocks = 1 }
        !in_blocks { print; next }
        { lines[++count] = $0 }
        END {
            for (n = 0; n < times; n++)
                for (i = 1; i <= count; i++)
                    if (lines[i] ~ /^thread block = /) print "thread block = " block++ ",0,0"
                    else print lines[i]
        }' "$2"
}
if [ "${1:-}" = --write ]; then
    [ $# -eq 3 ] || { echo "usage: trace_length.sh --write TIMES TRACE >LONG.traceg" >&2; exit 2; }
    repeat "$2" "$3"
    exit
fi
minigpu=${1:-build/examples/minigpu/minigpu} trace=${2:-examples/minigpu/traces/pathfinder/kernel-1.traceg}
[ $# -gt 2 ] && shift 2 || set -- 10 100 1000
for tool in valgrind python3; do
    command -v $tool >/dev/null || { echo "trace_length.sh: there is no $tool (package $tool)" >&2; exit 2; }
done
[ -x "$minigpu" ] || { echo "trace_length.sh: there is no program $minigpu; build minigpu, or name it" >&2; exit 2; }
[ -f "$trace" ] || { echo "trace_length.sh: there is no trace $trace; name a .traceg" >&2; exit 2; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
instructions() { # instructions FILE: of a run, all of them
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$minigpu" run "$1" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
memory() { # memory FILE: the most that a run has taken, in MB
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$minigpu" run "$1"
}
start=$(instructions "$trace")
awk 'BEGIN { printf "%8s %10s %18s %20s %10s\n", "times", "MB", "warp instructions", "instructions of each", "memory, MB" }'
for times; do
    repeat "$times" "$trace" >"$folder/long.traceg"
    warp=$(awk '/^insts = / { sum += $3 } END { print sum }' "$folder/long.traceg")
    once=$(awk '/^insts = / { sum += $3 } END { print sum }' "$trace")
    echo "$times $(stat -c %s "$folder/long.traceg") $warp $once $start $(instructions "$folder/long.traceg") $(memory "$folder/long.traceg")" |
        awk '{ printf "%8d %10.1f %18d %20.0f %10d\n", $1, $2 / 1e6, $3, ($6 - $5) / ($3 - $4), $7 }'
done
