#!/bin/sh
# own_l1.sh SOURCE_DIR CORE COMPILER PROGRAM_LIBRARY...: a second L1 is one folder and one line.
#
# The folder tests/minigpu/own_l1 has an L1 of eight places, each for one line of eight. With its line behind that of
# launch/l1_models.def, only the two files that read the list are compiled again; all else is CORE (libminigpu_core.a) as it is.
# Kernels, preempted blocks with values in local memory, a scheduler that invalidates L1s, faults and two threads then run on L1 number 1
# with right results, in other cycles than on L1 number 0.
set -eu
. "$(dirname "$0")/own.sh"
{ cat "$root/launch/l1_models.def"; echo 'L1_MODEL(direct)'; } >"$work/l1_models.def"
own_build "-DL1_MODELS_LIST=\"$work/l1_models.def\"" "$root/launch/config.c" "$root/l1/l1.c" "$source/tests/minigpu/own_l1/direct.c"
cd "$root"
own_differs l1_model 2 kernels/saxpy/small.yaml
own_differs l1_model 2 kernels/gemm/small.yaml --preempt 300:switch
own_differs l1_model 2 ../../tests/minigpu/combinations/two.yaml --schedule ppq --leave switch
own_differs l1_model 2 ../../tests/minigpu/combinations/two.yaml --faults queue --link nvlink --victims switch
own_differs l1_model 2 kernels/overwrites/small.yaml --preempt 300:switch
own_differs l1_model 2 kernels/hotspot/small.yaml --threads 2
"$work/minigpu" run kernels/saxpy/small.yaml --config l1_model=2 2>&1 | grep -q 'counted from 0: associative direct' ||
    fail "a third L1 is not refused by the names of two"
echo "own_l1.sh: good"
