#!/bin/sh
# own_technique.sh MINIGPU_WITH MINIGPU SOURCE: a technique of one's own (examples/policies/my_technique.c) in the mini-GPU that it
# is built into: preempted blocks leave by it, results are right, and the mini-GPU without it names those that it has.
set -eu
with=$1 plain=$2 source=$3
fail() { echo "own_technique.sh: $*" >&2; exit 1; }
says() { # PATTERN COMMAND...
    pattern=$1; shift
    "$@" 2>&1 | grep -q -- "$pattern" || fail "$* does not say \"$pattern\""
}
out=$("$with" run "$source/demo.yaml" --preempt 5000:point 2>&1) || fail "the run ended with $?: $out"
echo "$out" | grep -q 'by point' || fail "no block left by point: $out"
if echo "$out" | grep -q wrong; then fail "a result is wrong: $out"; fi
says 'right' "$with" run "$source/demo.yaml" --preempt 5000:point
says 'needs flush, switch, drain, rewind or point, not "push"' "$with" run "$source/demo.yaml" --preempt 5000:push
says 'needs flush, switch, drain or rewind, not "point"' "$plain" run "$source/demo.yaml" --preempt 5000:point
says 'needs flush, switch, drain, rewind, point, select, chimera or park, not "push"' "$with" run "$source/demo.yaml" --schedule ppq --leave push
says 'right' "$with" run "$source/launches/three_processes.yaml" --schedule ppq --leave point
echo "own_technique.sh: good"
