#!/bin/sh
# bench/micro has a case for every component, and compression is timed where LZ4 and zstd are missing: micro.sh SOURCE_DIR MICRO CC
set -u
source=$1 micro=$2 cc=$3 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
complain() { echo "$*"; bad=1; }

"$micro" --short --csv --only base >"$work/base" || complain "micro --only base fails"
grep -q '^base_map_get,[0-9]*,[0-9.e+]*,' "$work/base" || complain "micro --only base times nothing"
"$micro" --list >"$work/list" || complain "micro --list fails"
for case in base_map_get compress_live_best_save context_write duet_exchange fault_report gpu_ memory_ partition_ccbp \
    program_ rate_ scheduler_ sm_life spill_ tlb_hit victim_; do
    grep -q "^$case" "$work/list" || complain "micro has no case $case"
done
for room in "$source"/gpump_impl/*/; do
    room=$(basename "$room")
    [ "$room" = cmake ] || [ -f "$source/bench/micro/micro_$room.c" ] || complain "there is no bench/micro/micro_$room.c"
done

# What bench/CMakeLists.txt defines where LZ4 or zstd is missing: every case but those against the two is left.
"$cc" -std=gnu99 -DBENCH_RIVALS=0 -I"$source" -I"$source/examples" -I"$source/bench" -I"$source/gpump_impl" -S -o - "$source/bench/micro/micro_compress.c" |
    grep -o '"compress_[a-z0-9_]*' | tr -d '"' | sort >"$work/alone"
grep '^compress_' "$work/list" | awk '{ print $1 }' | grep -E '^compress_(bound|live|random)_' | grep -vE '_(lz4|zstd)$' | sort >"$work/all"
cmp -s "$work/alone" "$work/all" || { complain "without LZ4 and zstd these cases differ:"; diff "$work/all" "$work/alone"; }
exit $bad
