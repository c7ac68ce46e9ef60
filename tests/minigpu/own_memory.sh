#!/bin/sh
# own_memory.sh SOURCE_DIR CORE COMPILER PROGRAM_LIBRARY...: a third model of the memory behind the L1s is one file and one line.
#
# tests/minigpu/own_memory/flat.c answers each request after 500 cycles. With its line behind those of launch/memory_models.def, only
# the two files that read the list are compiled again; all else is CORE (libminigpu_core.a) as it is. Kernels, a preempted block, a
# scheduler and two threads then run on model 2 with right results, in other cycles than on models 0 and 1.
set -eu
. "$(dirname "$0")/own.sh"
{ cat "$root/launch/memory_models.def"; echo 'MEMORY_MODEL(flat)'; } >"$work/memory_models.def"
own_build "-DMEMORY_MODELS_LIST=\"$work/memory_models.def\"" "$root/launch/config.c" "$root/memory/memory.c" \
    "$source/tests/minigpu/own_memory/flat.c"
cd "$root"
own_differs memory_model 3 kernels/saxpy/small.yaml
own_differs memory_model 3 kernels/gemm/small.yaml --preempt 300:switch
own_differs memory_model 3 ../../tests/minigpu/combinations/two.yaml --schedule ppq --leave switch
own_differs memory_model 3 kernels/hotspot/small.yaml --threads 2
"$work/minigpu" run kernels/saxpy/small.yaml --config memory_model=3 2>&1 | grep -q 'counted from 0: fixed queued flat' ||
    fail "a fourth model is not refused by the names of three"
echo "own_memory.sh: good"
