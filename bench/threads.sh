#!/bin/sh
# threads.sh MINIGPU [RUNS [LOADS]]: does `minigpu run --threads 2` take longer than `--threads 1`, beside so many busy loops? LOADS: "0 1 2 8". All
# programs share two processors (taskset). Launches with one busy SM, with all SMs busy, and with small windows. RUNS (7) runs of
# each take turns. Prints, for each load and launch, the medians of elapsed seconds and their ratio, the ratio of a second run with one
# thread to the first one (how much the machine varies), and that of processor times.
set -u
[ $# -ge 1 ] || { echo "usage: threads.sh MINIGPU [RUNS [LOADS]]" >&2; exit 2; }
[ -x "$1" ] || { echo "threads.sh: there is no program $1" >&2; exit 2; }
minigpu=$1 runs=${2:-7} loads=${3:-0 1 2 8}
cd "$(dirname "$0")/../examples/minigpu" || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"; kill $loops 2>/dev/null' EXIT
loops=
# One block of hotspot again and again.
cat >"$work/one.yaml" <<END
machine: {gpu: gtx480_shieh, stop_at: 1500000}
processes:
  - name: one
    repeat: 1000000
    kernels:
      - ptx: $PWD/kernels/hotspot/hotspot.ptx
        kernel: hotspot
        grid: [1, 1, 1]
        block: [16, 16, 1]
        arguments:
          - scalar: {type: s32, value: 2}
          - buffer: {type: f32, count: 144, random: {seed: 1, low: 0.0, high: 0.00133}}
          - buffer: {type: f32, count: 144, random: {seed: 2, low: 323.0, high: 343.0}}
          - buffer: {type: f32, count: 144, constant: 0.0}
          - scalar: {type: s32, value: 12}
          - scalar: {type: s32, value: 12}
          - scalar: {type: f32, value: 0.341333}
          - scalar: {type: f32, value: 0.0995}
          - scalar: {type: f32, value: 0.1005}
          - scalar: {type: f32, value: 0.00512}
END
cat >"$work/launches" <<END
one_busy_SM $work/one.yaml
all_SMs launches/speed_pathfinder.yaml
all_SMs_memory launches/speed_saxpy.yaml
two_kernels launches/hotspot_pathfinder.yaml
scheduler launches/three_processes.yaml --schedule dss
small_windows launches/speed_pathfinder.yaml --config network_cycles=4
END
# median COLUMN FILE
median() { awk -v c="$1" '{ print $c }' "$2" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
printf '| busy loops | launch | elapsed, 1 | elapsed, 2 | 2 by 1 | 1 again by 1 | processor time, 2 by 1 |\n|---|---|---|---|---|---|---|\n'
for load in $loads; do
    loops=
    for n in $(seq $load); do
        taskset -c 0,1 sh -c 'while :; do :; done' &
        loops="$loops $!"
    done
    while read -r name options; do
        : >"$work/1"
        : >"$work/2"
        : >"$work/again"
        for run in $(seq "$runs"); do
            for which in 1 2 again; do
                threads=$which
                [ $which != again ] || threads=1
                # shellcheck disable=SC2086
                taskset -c 0,1 /usr/bin/time -a -o "$work/$which" -f '%e %U %S' \
                    "$minigpu" run $options --threads $threads --quiet >/dev/null 2>&1
            done
        done
        for threads in 1 2; do awk '{ print $1, $2 + $3 }' "$work/$threads" >"$work/sum$threads"; done
        e=$(median 1 "$work/again") a=$(median 1 "$work/sum1") b=$(median 1 "$work/sum2") c=$(median 2 "$work/sum1") d=$(median 2 "$work/sum2")
        awk -v l="$load" -v n="$name" -v a="$a" -v b="$b" -v c="$c" -v d="$d" -v e="$e" \
            'BEGIN { printf "| %d | %s | %.2f | %.2f | %.2f | %.2f | %.2f |\n", l, n, a, b, b / a, e / a, d / c }'
    done <"$work/launches"
    # shellcheck disable=SC2086
    [ -z "$loops" ] || kill $loops
    wait 2>/dev/null
done
