#!/bin/sh
# minigpu run --context, --points and --choose: results stay right, every step saves fewer bytes, bad options are refused.
# contexts.sh MINIGPU LAUNCH
set -u
status=0
fail() { echo "$*"; status=1; }
saved() { # saved OPTION...: bytes saved by SM 0 in the launch file's first preemption; 0 and a message when a result is wrong
    out=$("$minigpu" run "$launch" --preempt 5000:switch "$@" 2>&1) || echo "exit status $? with $*" >&2
    echo "$out" | grep -q wrong && echo "a wrong result with $*" >&2
    echo "$out" | sed -n 's/.* SM 0 gives up .* \([0-9]*\) bytes saved.*/\1/p' | head -n 1
}
minigpu=$1
launch=$2
naive=$(saved)
before=$naive
for form in live live+compress tb; do
    bytes=$(saved --context $form --points)
    [ -n "$bytes" ] && [ "$bytes" -gt 0 ] && [ "$bytes" -lt "$before" ] || fail "$form at points saves $bytes bytes, the form before it $before"
    before=$bytes
done
bytes=$(saved --context live+compress --points --choose)
[ -n "$bytes" ] && [ "$bytes" -gt 0 ] && [ "$bytes" -lt "$naive" ] || fail "choosing saves $bytes bytes, naive $naive"
# what is wrong, before anything runs: the message names the option
for wrong in "--context most" "--points=0" "--points=few" "--choose" "--spilling all" "--spilling some --regions sparse" "--deadline-us 2" "--victims most" "--deadline-us few --victims dual" \
    "--leave select" "--leave chimera" "--leave park --schedule dss" "--schedule most" "--schedule fcfs --slice 5" \
    "--gpu most" "--preempt few" "--regions 1" "--most"; do
    # shellcheck disable=SC2086
    message=$("$minigpu" run "$launch" $wrong 2>&1 >/dev/null)
    [ $? -eq 2 ] || fail "$wrong is accepted"
    echo "$message" | grep -q -e "${wrong%%[ =]*}" || fail "$wrong: the message is: $message"
done
exit $status
