#!/bin/sh
# wrong_uses.sh MINIGPU TBSIM SOURCE_DIR: options that contradict each other, have no effect or are out of range are refused before
# anything runs, with the option's name and what to do; what had no effect in a run is said.
set -u
minigpu=$1 tbsim=$2 source=$3 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
kernels=$source/examples/minigpu/kernels launches=$source/examples/minigpu/launches
good=$source/tests/minigpu/good_run
saxpy=$kernels/saxpy/small.yaml
figure=$source/examples/tbsim/workloads/figure_5_1.yaml

# says STATUS TEXT PROGRAM WORD...: the exit status, and the text on either stream
says() {
    status=$1 text=$2
    shift 2
    "$@" >out 2>&1 </dev/null
    is=$?
    [ $is -eq "$status" ] && grep -qF -e "$text" out && return
    bad=1
    echo "exit status $is for $status, or no \"$text\": $*"
    head -5 out
}

# minigpu run
says 2 'blocks can only go back to the start of a region where there are regions: add --regions sparse' "$minigpu" run "$saxpy" --victims rewind
says 0 right "$minigpu" run "$saxpy" --victims rewind --regions sparse
says 2 '--trap needs division, invalid, all or the number of a line of the PTX file, not "9,10"' "$minigpu" run "$saxpy" --trap 9,10
says 2 '--trap needs division, invalid, all or the number of a line of the PTX file, not "sqrt"' "$minigpu" run "$saxpy" --trap sqrt
says 2 '--trap needs two lines of the PTX file at most' "$minigpu" run "$saxpy" --trap 38 --trap 39 --trap 40
for option in --leave=drain --context=live --in-place; do
    says 0 "minigpu: no effect: ${option%%=*}" "$minigpu" run "$saxpy" $option
done
says 0 'no effect: --choose' "$minigpu" run "$saxpy" --choose --points
"$minigpu" run "$saxpy" --preempt 300:switch --context live --in-place 2>&1 | grep 'no effect' && bad=1

for twice in --config=l1_cycles=30,l1_cycles=20 '--config=l1_cycles=30 --config=l2_cycles=90,l1_cycles=20'; do
    says 2 '--config l1_cycles=20: the number has a value already' "$minigpu" run "$saxpy" $twice
done
sed '$a machine: {config: {l1_cycles: 30, l2_cycles: 90, l1_cycles: 20}}' "$saxpy" >twice.yaml
says 2 '"l1_cycles" stands twice in config' "$minigpu" run twice.yaml
for division in green:99:9 mps:0:50 mig:9g+1g blocks:90:1; do
    says 2 " 15 SMs: number is " "$minigpu" run "$launches/hotspot_pathfinder.yaml" --partition $division
done
for window in 1 99; do
    says 2 "--window needs a number from 100 to 1000000000, not \"$window\"" \
        "$minigpu" corun "$launches/hotspot_pathfinder.yaml" --window $window
done

# minigpu sweep
says 2 'every run would write over the file of the run before' "$minigpu" sweep "$saxpy" --vary sms=1,2 --html page.html --out t.csv
says 2 'an option is varied or given, not both; given is "--sms"' "$minigpu" sweep "$saxpy" --vary sms=1,2 --sms 3 --out t.csv
says 2 '--json and --csv exclude each other' "$minigpu" sweep "$saxpy" --vary sms=1,2 --json --out t.csv
says 2 'a value stands twice in "sms=1,2,1"' "$minigpu" sweep "$saxpy" --vary sms=1,2,1 --out t.csv
says 2 '--column needs --svg OUT.svg' "$minigpu" sweep "$saxpy" --vary sms=1,2 --column cycles --out t.csv
says 2 '--column needs a column of numbers, not "kernel"' "$minigpu" sweep "$saxpy" --vary sms=1,2 --svg t.svg --column kernel --out t.csv
says 2 't.csv is two outputs, and one would be lost' "$minigpu" sweep "$saxpy" --vary sms=1,2 --svg t.csv --out t.csv
cp "$kernels/saxpy/saxpy.ptx" .
sed 's#ptx: .*saxpy.ptx#ptx: saxpy.ptx#' "$saxpy" >own.yaml
says 2 'saxpy.ptx is read and would be written over' "$minigpu" sweep own.yaml --vary sms=1,2 --svg saxpy.ptx --out t.csv
[ -e t.csv ] && { echo "a refused sweep has made its table"; bad=1; }

# minigpu tail, policies, pairs, corun, analyze
says 2 'with --partition none blocks leave by drain, switch or flush, not by "park"' \
    "$minigpu" tail "$launches/requests_beside_batch.yaml" --partition none --leave park
says 2 'only joint takes a price, as joint@5; one is given in "dual@3"' "$minigpu" policies --victims dual@3
says 2 '--victims rewind needs --regions' "$minigpu" policies --victims rewind
says 2 'no GPU is called "nothing"; minigpu --list presets prints all' "$minigpu" policies --gpu nothing
says 2 '--config nothing=1: the machine has no number of that name' "$minigpu" policies --config nothing=1
: >empty
says 2 'empty:1:1: the table has no row' "$minigpu" pairs summary empty
says 0 'the kernels make 1 pairs, fewer than --pairs 9' "$minigpu" pairs "$saxpy" "$kernels/pathfinder/small.yaml" --pairs 9 \
    --cycles 1000 --warm 1000 --oracle 0 --partition even
says 2 '--unsampled is for spatial, even, leftover and fixed divisions' "$minigpu" corun "$launches/corun_backprop_cfd.yaml" --unsampled --partition ccbp
says 2 '--unsampled is for spatial, even, leftover and fixed divisions' "$minigpu" run "$launches/corun_backprop_cfd.yaml" --unsampled --partition ws+dai
says 2 '--unsampled excludes --in-turn and --window' "$minigpu" corun "$launches/corun_backprop_cfd.yaml" --unsampled --in-turn --partition even
says 2 '--listing is for the text of one file' "$minigpu" analyze "$good/features.ptx" --csv --listing
cp "$source"/examples/minigpu/traces/pathfinder/kernel-1.traceg . && echo kernel-1.traceg >any_name # a list of traces by its content
says 0 'live registers from the first to the last instruction' "$minigpu" analyze any_name
says 0 right "$minigpu" run any_name

# tbsim
says 2 '--launch-refill 9 is more than a stream may have launched, which is the running kernel and --launch-ahead 2' \
    "$tbsim" run "$figure" --launch-ahead 2 --launch-refill 9
says 2 'give --launch-refill 0 to 1' "$tbsim" sweep --workloads 1 --launch-refill 2
for option in --class-end=low --launches-per-wait=2 --printed-times; do
    says 2 "${option%%=*} has no effect, because no process of this file names a benchmark" "$tbsim" run "$figure" $option
done
says 0 'ANTT -  STP -  fairness -' "$tbsim" run "$figure" --until 1
says 0 '3 of 3 processes have ended no run' "$tbsim" run "$figure" --until 1 --csv
says 0 '2 of 2 processes have ended no run' "$tbsim" sweep --workloads 1 --until 5
"$tbsim" run "$figure" --csv 2>&1 | grep 'ended no run' && bad=1
says 2 '--until needs a number above 0' "$tbsim" run "$figure" --until 0
says 2 '--until needs a number above 0' "$tbsim" sweep --workloads 1 --until 0
says 0 'tbsim: no effect: --leave drain: no SM changed hands' "$tbsim" run "$figure" --schedule fcfs --leave drain
says 0 'tbsim: no effect: --transfers npq: no transfer passed another' "$tbsim" run "$figure" --schedule fcfs --transfers npq
says 0 'tbsim: no effect: --leave switch' "$tbsim" sweep --workloads 1 --schedule fcfs --leave switch --until 5000
says 0 'tbsim: no effect: --transfers npq' "$tbsim" sweep --workloads 1 --transfers npq --until 5000
"$tbsim" run "$figure" --schedule ppq --leave drain --transfers fcfs 2>&1 | grep 'no effect' && bad=1
says 2 '--table runs nothing' "$tbsim" machines --table empty --gpu k20c --svg m.svg
says 2 '--table needs --svg FILE' "$tbsim" machines --table empty
exit $bad
