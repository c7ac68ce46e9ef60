#!/bin/sh
# Compiles decisions.c with every compiler there is, at several optimisation levels, as C and C++, and compares what they decide:
# decisions.sh SOURCE_DIR WORK_DIR [all]
# Without `all` by three of the five, which differ most.
set -u
rm -rf "$2" && mkdir -p "$2" || exit 1
status=0
build() { # build NAME COMMAND...
    name=$1
    shift
    command -v "$1" >/dev/null || { echo "$1 is not installed: left out"; return; }
    "$@" -I"$source" "$source/tests/project/compile/decisions.c" -o "$work/$name" || { status=1; return; }
    "$work/$name" >"$work/$name.txt" || status=1
    [ -n "${first:-}" ] || { first=$name; cat "$work/$name.txt"; }
    cmp -s "$work/$first.txt" "$work/$name.txt" && { echo "$name: the same"; return; }
    echo "$name decides differently from $first:"
    diff "$work/$first.txt" "$work/$name.txt"
    status=1
}
source=$1 work=$2
build gcc-O0 gcc -std=c99 -O0
build gcc-O3 gcc -std=c99 -O3 -march=native -DNDEBUG
if [ "${3:-}" = all ]; then
    build clang-O2 clang -std=c99 -O2
    build g++-O2 g++ -x c++ -std=c++11 -O2 -funsigned-char
fi
build clang++-O1 clang++ -x c++ -std=c++11 -O1 -ffast-math
exit $status
