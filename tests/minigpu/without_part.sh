#!/bin/sh
# without_part.sh SOURCE_DIR CORE PROGRAM_OBJECT COMPILER LIBRARY...: the mini-GPU runs without any one of its parts.
#
# For each part its object files are taken out of CORE (libminigpu_core.a), and its line out of the list
# (parts/parts.def). The program of tests/minigpu/without_part/run.c is linked with what is left, so that whoever names
# the part from outside is an undefined symbol. It then runs all machines that do not need the part. They must take the
# same cycles and have the same results as with all parts.
set -eu
source=$1 core=$2 program=$3 compiler=$4
shift 4
root=$source/examples/minigpu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
link() { # link LIST ARCHIVE OUT LIBRARY...
    list=$1 archive=$2 out=$3
    shift 3
    "$compiler" -std=gnu99 -O1 -DPARTS_LIST="\"$list\"" -I"$root" -I"$source" -I"$source/examples" -c "$root/parts/parts.c" -o "$work/parts.o"
    "$compiler" "$program" "$work/parts.o" "$archive" "$@" -o "$out"
}
status=0
for part in none $(sed -n 's/^PART(\(.*\))$/\1/p' "$root/parts/parts.def"); do
    grep -v "^PART($part)$" "$root/parts/parts.def" >"$work/parts.def"
    cp "$core" "$work/core.a"
    if [ "$part" != none ]; then
        (cd "$root/parts/$part" && for file in *.c; do echo "$file.o"; done) | xargs ar d "$work/core.a"
    fi
    ar d "$work/core.a" parts.c.o
    if ! link "$work/parts.def" "$work/core.a" "$work/run" "$@" 2>"$work/errors"; then
        echo "without_part.sh: without $part the mini-GPU does not link:"
        sed -n 's/.*\(undefined reference to .*\)/\1/p' "$work/errors" | sort -u | head -5
        status=1
        continue
    fi
    if ! "$work/run" "$part" >"$work/$part.out" 2>&1; then
        echo "without_part.sh: without $part:"
        grep -v ' right ' "$work/$part.out" | head -5
        status=1
    elif [ "$part" != none ] && grep -v -x -F -f "$work/none.out" "$work/$part.out" >"$work/other"; then
        echo "without_part.sh: without $part these runs differ:"
        head -5 "$work/other"
        status=1
    fi
done
exit $status
