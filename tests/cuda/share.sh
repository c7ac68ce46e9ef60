#!/bin/sh
# share.sh MINIGPU_CC SOURCE_DIR MINIGPU: programs that share one machine (minigpu share). Each program's own check must
# hold, kernels of both must have run together, and wrong uses get a sentence.
set -eu
compiler=$1 source=$2 minigpu=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for program in stencil textures reduction; do "$compiler" "$source/examples/cuda/$program.cu" -o "$program"; done
for program in wrong_use many_launches; do "$compiler" "$source/tests/cuda/$program.cu" -o "$program"; done
echo 'kill -SEGV $$' >crash.sh
bad=0
share() { # STATUS WORDS ARGUMENT...
    wanted=$1 words=$2 status=0
    shift 2
    "$minigpu" share "$@" >out 2>&1 || status=$?
    if [ $status -ne "$wanted" ] || ! grep -qE -- "$words" out; then
        echo "minigpu share $*: status $status instead of $wanted, or no \"$words\":"
        cat out
        bad=1
    fi
}
for schedule in '' '--schedule dss' '--schedule time_slice --victims dual --deadline-us 5'; do
    share 0 '^[1-9][0-9]* rounds? had kernels of several programs' $schedule ./stencil ./reduction
    for line in '61 steps, and every element is right' 'sum and histogram of 100000 numbers are right' \
        '^./stencil +61 +61 .*status 0' '^./reduction +3 +2 .*status 0'; do
        grep -qE "$line" out || { echo "share $schedule does not say: $line"; cat out; bad=1; }
    done
done
share 0 'the turned picture and the samples are right' --faults log16 --absent all ./stencil ./textures ./textures
share 0 'no error, 40 kernels have run' ./many_launches ./many_launches ./many_launches
share 1 '^/bin/true .*launched no kernel' ./reduction /bin/true
share 1 'which belongs to no buffer' ./wrong_use ./stencil
share 1 '^sh .*ended by signal 11' ./textures 'sh crash.sh'
share 2 'cannot run ./nosuch: No such file' ./stencil ./nosuch
share 2 'which programs' ./stencil
share 2 'at most 8 programs' 1 2 3 4 5 6 7 8 9
share 2 'leave --functional away' --functional ./stencil ./reduction
share 2 'leave --functional away' --functional=3 ./stencil ./reduction
share 2 'are for minigpu run "page.html"' --html page.html ./stencil ./reduction
status=0
MINIGPU_SHARE=7 ./stencil >out 2>&1 || status=$?
[ $status -eq 2 ] && grep -q 'MINIGPU_SHARE is for programs that minigpu share starts' out ||
    { echo "a wrong MINIGPU_SHARE: status $status"; cat out; bad=1; }
exit $bad
