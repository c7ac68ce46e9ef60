#!/bin/sh
# stuck.sh MINIGPU SOURCE_DIR: a run that cannot end says so in words, and why; one that only looks like it ends.
set -u
minigpu=$1
cd "$2" || exit 2
out=$(mktemp)
trap 'rm -f "$out"' EXIT
bad=0
# says STATUS TEXT LAUNCH OPTION...
says() {
    status=$1 text=$2
    shift 2
    (ulimit -t "${seconds:-60}"; exec "$minigpu" run "$@") >"$out" 2>&1
    is=$?
    [ $is -eq "$status" ] && grep -q "$text" "$out" && return
    bad=1
    echo "exit status $is for $status, or no \"$text\": minigpu run $*"
    tail -5 "$out"
}
says 1 'never ends: .* has gone back' examples/minigpu/kernels/mri_gridding/small.yaml --regions sparse:buffered \
    --detection razor --error-at 1:100
says 0 right examples/minigpu/kernels/mri_gridding/small.yaml --regions 32 --detection razor --error-at 1:100
says 1 'never ends: .* form shorter regions' examples/minigpu/kernels/nn_3/small.yaml --errors 0.01 --detection razor2 --regions sparse
# A kernel that arrives after 10^12 idle cycles costs no time.
for options in '' '--schedule ppq --victims chimera' '--threads 2'; do
    # shellcheck disable=SC2086
    seconds=4 says 0 right tests/minigpu/preempt/in_place.yaml $options
done
says 1 'turns must be longer than a save and a restore' tests/minigpu/stuck/short_turns.yaml --schedule time_slice --slice 0.5
says 0 right tests/minigpu/stuck/short_turns.yaml --schedule time_slice --slice 20
for every in 23 280; do # 250,000 cycles in vain at least, and 1,000 preemptions
    says 1 "never ends: no block has ended in $((every < 250 ? 250000 / every + 1 : 1000)) preemptions, one every $every cycles" \
        examples/minigpu/kernels/hotspot/small.yaml --preempt 1000:flush --preempt-every $every
done
says 0 right examples/minigpu/kernels/hotspot/small.yaml --preempt 1000:switch --preempt-every 230
# Seven periods later the blocks have just been restored, and have not issued yet.
says 0 right examples/minigpu/kernels/hotspot/small.yaml --preempt 604:switch --preempt-every 604
for options in '' '--victims exact' '--victims chimera' '--config memory_model=1'; do
    # shellcheck disable=SC2086
    says 0 right tests/minigpu/stuck/miss_queue.yaml --config miss_queue_entries=1 $options
done
exit $bad
