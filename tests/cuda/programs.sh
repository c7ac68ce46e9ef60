#!/bin/sh
# programs.sh MINIGPU_CC SOURCE_DIR PROGRAM MINIGPU: compiles examples/cuda/PROGRAM.cu and runs it as it is and under several settings of
# MINIGPU. Each run must end with status 0 and print what PROGRAM's own check prints when everything is right.
set -eu
compiler=$1 source=$2 program=$3 minigpu=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$compiler" -Wall -Werror "$source/examples/cuda/$program.cu" -o "$program"
run() { # SETTING
    MINIGPU=$1 "./$program" >out 2>err || { echo "$program, MINIGPU=$1: status $?"; cat out err; exit 1; }
    grep -q ' right' out || { echo "$program, MINIGPU=$1: says nothing of a right result"; cat out err; exit 1; }
}
run ''
[ ! -s err ] || { echo "$program: complains"; cat err; exit 1; }
run functional
run functional:1
run preempt:1000:switch
[ "$program" != vector_add ] || ! grep -q 'no effect' err || { echo "$program: a preemption without effect"; cat err; exit 1; }
run policy:dual,limit_us:4,report
grep -q '^k20c: 13 SMs' err || { echo "$program: no report"; cat err; exit 1; }
run gpu:gtx480_shieh,faults:log16,absent:all
case $program in
vector_add)
    run preempt:999999999,partition:even
    for line in 'no effect: --preempt 999999999' '--partition even: no kernel ran beside another'; do
        grep -q "^minigpu: $line" err || { echo "$program: does not say: $line"; cat err; exit 1; }
    done ;;
esac
case $program in
monte_carlo) # every SM is emptied again and again
    run preempt:500:switch,preempt_every:1000,report
    [ "$(grep -c ' by switch: ' err)" -gt 30 ] || { echo "$program: is not preempted every 1000 cycles"; cat err; exit 1; } ;;
vector_add | managed) # a launch that was recorded gives the same under minigpu run
    run record:recorded
    "$minigpu" run recorded/0001.yaml >out 2>&1 || { echo "$program: the recorded launch fails"; cat out; exit 1; }
    grep -q ' right$' out || { echo "$program: the recorded launch checks nothing"; cat out; exit 1; } ;;
two_streams)
    run policy:dual,html:out.html
    grep -q 'iterate' out.html || { echo "the page names no kernel"; exit 1; }
    run policy:dual,report
    grep -q 'request of _Z7iterate.*policy dual' err || { echo "the urgent kernel preempts nobody"; cat err; exit 1; } ;;
esac
echo "$program is right in every run"
