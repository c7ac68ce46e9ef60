#!/bin/sh
# minigpu run with errors and exceptions: what it reports, and what it refuses with a reason: recovery.sh MINIGPU SOURCE_DIR
minigpu=$1 bad=0
cd "$2/examples/minigpu" || exit 2
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# reports WORDS OPTION...: the run ends right, and its report has the words (an extended regular expression)
reports() {
    words=$1
    shift
    "$minigpu" run "$@" >"$out" 2>&1 && grep -qE ' (right|nothing expected)$' "$out" && grep -qE "$words" "$out" && return
    echo "minigpu run $*: no \"$words\" in"
    cat "$out"
    bad=1
}
# refuses WORDS OPTION...: exit status 2, and the reason
refuses() {
    words=$1
    shift
    "$minigpu" run kernels/hotspot/small.yaml "$@" >"$out" 2>&1
    [ $? -eq 2 ] && grep -qF -e "$words" "$out" && return
    echo "minigpu run $*: not refused with \"$words\" but"
    cat "$out"
    bad=1
}

reports '^errors: [1-9][0-9]*, detected 4 cycles later; [1-9][0-9]* recoveries among' kernels/hotspot/small.yaml --errors 0.001 --detection razor2
reports '^energy: [0-9.]+% of that without regions at full voltage: 15% less voltage' kernels/hotspot/small.yaml --errors 0.001 --detection razor2
reports 'detected 9 cycles later' kernels/hotspot/small.yaml --errors 0.01 --detection decor:9
reports '^errors: 1, detected' kernels/hotspot/small.yaml --error-at 100 --detection razor
reports '^exceptions: [1-9][0-9]* trapped, .* 16 live-locks, 0 instructions in single steps' launches/figure6.yaml --trap division --cure split
reports '^exceptions: [1-9][0-9]* trapped, .* 16 live-locks, [1-9][0-9]* instructions in single steps' launches/figure6.yaml --trap division --cure step
reports '^exceptions: 1 trapped, 1 instructions emulated, 0 live-locks' kernels/hotspot/small.yaml --trap-at 100
reports '^exceptions: 1 trapped' kernels/hotspot/small.yaml --trap-at 100 --errors 0.01 --detection razor
# an error and an exception of one instruction: the recovery squashes the exception, and the next instruction traps
reports '^exceptions: 1 trapped' kernels/hotspot/small.yaml --trap-at 100 --error-at 100 --detection razor2
reports '^shared memory goes back \(versioned\): [1-9][0-9]* words overwritten' kernels/lps/small.yaml --regions 32:versioned --detection razor2
# a load behind a store of its thread, a pipeline that warps leave, page checks under errors
reports '^errors: 0' kernels/overwrites/small.yaml --error-at 4000000000 --detection razor2
reports '^exceptions: [1-9]' kernels/saxpy/small.yaml --faults wd_commit --trap-at 7:13
reports '^exceptions: [1-9]' kernels/saxpy/small.yaml --faults log16 --absent all --trap-at 7:13
reports '^errors: [1-9]' kernels/saxpy/small.yaml --faults wd_commit --detection razor2:1 --error-at 5:33
reports '^errors: [1-9]' kernels/saxpy/small.yaml --faults queue --absent all --detection razor2 --errors 0.01
reports '^errors: [1-9]' kernels/heartwall/small.yaml --page-checks kim --absent all --detection decor --errors 0.01
reports '^errors: [1-9]' kernels/nn_3/small.yaml --page-checks kim --absent all --detection decor --errors 0.001
# a region of nn_3 is longer than the distance of these errors: it is divided, but by --regions sparse (stuck.sh)
reports '^errors: [1-9]' kernels/nn_3/small.yaml --errors 0.01 --detection razor
# a warp that is stopped at an access waits for that access; an SM that changes hands keeps no block off the chip
reports '^faults: [1-9]' kernels/symbols/small.yaml --gpu table61 --faults wd_check --fault-at 3:3
reports '^fault unit, nvlink' launches/hotspot_pathfinder.yaml --faults queue --absent all --link nvlink --switch-on-fault 4
# constants are never absent; the context of a running warp is measured while an error of it is not detected
reports '^faults: [1-9]' own_kernel/smooth.yaml --gpu table61 --faults queue --absent all
reports '^errors: [1-9]' launches/hotspot_pathfinder.yaml --policy switch --detection decor --errors 0.02
# a service of 10 ms is longer than the watchdog waits for a machine that does nothing
reports '^faults: [1-9]' kernels/overwrites/small.yaml --faults stall --fault-at 10 --fault-service 10353
# warps that are stopped at preemption points, or a full issue queue, leave the operand log to those that need it
reports '^faults: [1-9]' kernels/sgemm/small.yaml --gpu table61 --faults log8 --absent all --points=10 --preempt 5000
reports '^faults: [1-9]' kernels/hotspot/small.yaml --gpu table61 --faults log8 --absent all --config issue_queue_entries=4
# a warp that is stopped while it replays, when nothing else of its SM is to happen
reports '^faults: [1-9]' kernels/nw_2/small.yaml --gpu table61 --faults log8 --absent all --points=10 --preempt 5000
refuses 'need --detection NAME' --errors 0.01
refuses 'need --detection NAME' --trap-at 4 --errors 0.01
refuses '--trap-at needs N or N:M' --trap-at 0
refuses '--error-at needs N or N:M' --error-at 4: --detection razor
refuses '--cure needs --trap WHAT or --trap-at N' --cure step
refuses 'from 0 to below 1' --errors 1 --detection razor
exit $bad
