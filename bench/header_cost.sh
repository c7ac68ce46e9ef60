#!/bin/sh
# What a host pays for the header: processor time of gcc -O2 and bytes of text, for the whole header and for its rooms, beside an
# older gpump.h in the same run: header_cost.sh [OLD_HEADER [REPEAT]]
#   git show v0.1:gpump.h >/tmp/old.h && sh bench/header_cost.sh /tmp/old.h
# Times are medians of REPEAT (5) runs, taken in turn, so that a change of the machine's load meets every header.
set -u
cd "$(dirname "$0")/.." || exit 2
old=${1:-} repeat=${2:-5}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
printf '#define GPUMP_IMPLEMENTATION\n#include "gpump.h"\n' >"$work/all.c"
names=
header() { # header NAME COMMAND...: makes $work/NAME/gpump.h
    name=$1
    shift
    mkdir -p "$work/$name" && "$@" || exit 2
    names="$names $name"
}
[ -n "$old" ] && header old cp "$old" "$work/old/gpump.h"
header whole cmake "-DOUTPUT=$work/whole/gpump.h" -P gpump_impl/generate.cmake
header victim cmake -DROOMS=victim "-DOUTPUT=$work/victim/gpump.h" -P gpump_impl/generate.cmake
for turn in $(seq "$repeat"); do
    for name in $names; do
        (gcc -O2 -c -I"$work/$name" "$work/all.c" -o "$work/$name/all.o" && times) |
            sed -n '2s/\([0-9]*\)m\([0-9.]*\)s .*/\1 \2/p' | awk '{ print $1 * 60 + $2 }' >>"$work/$name/times"
    done
done
first=
for name in $names; do
    seconds=$(sort -n "$work/$name/times" | sed -n "$(((repeat + 1) / 2))p")
    text=$(size "$work/$name/all.o" | awk 'NR == 2 { print $1 }')
    first=${first:-"$seconds $text"}
    echo "$name $seconds $text $first" | awk '{ printf "%-8s %6.2f s %4.0f%%   %7d bytes of text %4.0f%%\n", $1, $2, 100 * $2 / $4, $3, 100 * $3 / $5 }'
done
