#!/bin/sh
# own_part.sh SOURCE_DIR CORE COMPILER LIBRARY...: a new part of the mini-GPU is its own file and one line of the list.
#
# tests/minigpu/own_part/toy.c takes the place of the part preempt_at in the list, so that the numbers of the other parts
# stay and CORE (libminigpu_core.a) need not be compiled again. Its option, its hook and its line of the report then work,
# in help and run, and no other file is touched.
set -eu
source=$1 core=$2 compiler=$3
shift 3
root=$source/examples/minigpu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "own_part.sh: $*" >&2; exit 1; }
sed 's/^PART(preempt_at)$/PART(toy)/' "$root/parts/parts.def" >"$work/parts.def"
for file in "$root/parts/parts.c" "$source/tests/minigpu/own_part/toy.c" "$root/tools/main.c"; do
    "$compiler" -std=gnu99 -O1 -DPARTS_LIST="\"$work/parts.def\"" -DPART_toy=PART_preempt_at -I"$root" -I"$source" \
        -I"$source/examples" -I"$source/examples/options" -I"$source/examples/report" -c "$file" -o "$work/$(basename "$file").o"
done
cp "$core" "$work/core.a"
ar d "$work/core.a" parts.c.o
"$compiler" "$work/main.c.o" "$work/toy.c.o" "$work/parts.c.o" "$work/core.a" "$@" -o "$work/minigpu"
"$work/minigpu" run --help | grep -q -- '--count-blocks' || fail "run --help does not list the option"
"$work/minigpu" run "$root/kernels/saxpy/small.yaml" | grep -q 'blocks that ended' && fail "the part reports without its option"
"$work/minigpu" run "$root/kernels/saxpy/small.yaml" --count-blocks | grep -q '^blocks that ended: [1-9]' || fail "the part reports nothing"
echo "own_part.sh: good"
