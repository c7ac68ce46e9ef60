#!/bin/sh
# own_memory.sh SOURCE_DIR CORE COMPILER PROGRAM_LIBRARY...: a third model of the memory behind the L1s is one file and one line.
#
# tests/minigpu/own_memory/flat.c answers each request after 500 cycles. With its line behind those of launch/memory_models.def, only
# the two files that read the list are compiled again; all else is CORE (libminigpu_core.a) as it is. Kernels, a preempted block, a
# scheduler and two threads then run on model 2 with right results, in other cycles than on models 0 and 1.
set -eu
source=$1 core=$2 compiler=$3
shift 3
root=$source/examples/minigpu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "own_memory.sh: $*" >&2; exit 1; }
{ cat "$root/launch/memory_models.def"; echo 'MEMORY_MODEL(flat)'; } >"$work/memory_models.def"
for file in "$root/launch/config.c" "$root/memory/memory.c" "$source/tests/minigpu/own_memory/flat.c" "$root/tools/main.c"; do
    "$compiler" -std=gnu99 -O1 -DMEMORY_MODELS_LIST="\"$work/memory_models.def\"" -I"$root" -I"$source" \
        -I"$source/examples" -I"$source/examples/options" -I"$source/examples/report" -c "$file" -o "$work/$(basename "$file").o"
done
cp "$core" "$work/core.a"
ar d "$work/core.a" config.c.o memory.c.o
"$compiler" "$work/main.c.o" "$work/flat.c.o" "$work/config.c.o" "$work/memory.c.o" "$work/core.a" "$@" -o "$work/minigpu"
cycles() { "$work/minigpu" run "$@" | sed -n 's/^\([0-9]*\) cycles .*/\1/p'; } # the exit status of a wrong run leaves it empty
differ() { # differ FILE OPTION...: right on all three models, and in other cycles on the third
    first=$(cycles "$@" --config memory_model=0) second=$(cycles "$@" --config memory_model=1)
    "$work/minigpu" run "$@" --config memory_model=2 >"$work/out" 2>&1 || { cat "$work/out"; fail "run $* is wrong on model 2"; }
    third=$(sed -n 's/^\([0-9]*\) cycles .*/\1/p' "$work/out")
    [ -n "$third" ] && [ "$third" != "$first" ] && [ "$third" != "$second" ] || fail "run $*: $first, $second and $third cycles"
}
cd "$root"
differ kernels/saxpy/small.yaml
differ kernels/gemm/small.yaml --preempt 300:switch
differ ../../tests/minigpu/combinations/two.yaml --schedule ppq --leave switch
differ kernels/hotspot/small.yaml --threads 2
"$work/minigpu" run kernels/saxpy/small.yaml --config memory_model=3 2>&1 | grep -q 'counted from 0: fixed queued flat' ||
    fail "a fourth model is not refused by the names of three"
echo "own_memory.sh: good"
