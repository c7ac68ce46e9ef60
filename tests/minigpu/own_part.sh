#!/bin/sh
# own_part.sh SOURCE_DIR CORE COMPILER LIBRARY...: a new part of the mini-GPU is its own file and one line of the list.
#
# tests/minigpu/own_part/toy.c takes the place of the part preempt_at in the list, so that the numbers of the other parts
# stay and CORE (libminigpu_core.a) need not be compiled again. Its option, its hook and its line of the report then work,
# in help and run, and no other file is touched.
set -eu
. "$(dirname "$0")/own.sh"
sed 's/^PART(preempt_at)$/PART(toy)/' "$root/parts/parts.def" >"$work/parts.def"
own_build "-DPARTS_LIST=\"$work/parts.def\" -DPART_toy=PART_preempt_at" "$root/parts/parts.c" "$source/tests/minigpu/own_part/toy.c"
"$work/minigpu" run --help | grep -q -- '--count-blocks' || fail "run --help does not list the option"
"$work/minigpu" run "$root/kernels/saxpy/small.yaml" | grep -q 'blocks that ended' && fail "the part reports without its option"
"$work/minigpu" run "$root/kernels/saxpy/small.yaml" --count-blocks | grep -q '^blocks that ended: [1-9]' || fail "the part reports nothing"
echo "own_part.sh: good"
