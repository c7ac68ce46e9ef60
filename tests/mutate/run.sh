#!/bin/sh
# How many small mistakes in the library do its tests notice?
#   sh tests/mutate/run.sh [--mutants N] [--seed S] [--out FILE] [COMPONENT.c ...]
# For every named file of gpump_impl (default: all of them), N mutants (default 60) are drawn by seed S (default 1) from the places that
# tests/mutate/mutate.c finds. Each mutant is compiled, linked into a shared library, and given to the test programs of its room until
# one of them fails (the mutant is killed) or all pass (it survives). Mutants that do not compile, or compile to the code of the
# original, are drawn again. A test program may use 60 seconds of processor time; a mutant that needs more is killed, too.
# Prints a table per file and every survivor. Exit status: 0 when at least 95 % of each file's mutants are killed, 1 when not, 2 usage.
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$(pwd)
build=${GPUMP_MUTATE_BUILD:-$root/build-mutate}
mutants=60 seed=1 out= files=
while [ $# -gt 0 ]; do
    case $1 in
    --mutants) mutants=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --one) break ;; # for this script alone: one mutant
    -*) sed -n '2,3p' "$0"; exit 2 ;;
    *) files="$files $1"; shift ;;
    esac
done

# Which test programs may notice a mistake in a room, fastest first.
tests_of() {
    case $1 in
    base) echo base_ gpu_ context_in_place context_context sm_ scheduler_scheduler program_out_of_memory program_program ;;
    gpu) echo gpu_ victim_cost sm_ context_in_place victim_ scheduler_ ;;
    sm) echo sm_ victim_ ;;
    *) echo "$1_" ;;
    esac
}

if [ "${1:-}" = --one ]; then # --one FILE PLACE WORK: prints "killed", "survived" or "invalid", a blank, and the mistake
    file=$2 place=$3 work=$4/$$
    mkdir -p "$work"
    trap 'rm -rf "$work"' EXIT
    mistake=$("$build/mutate" "$file" "$place" "$work/mutant.c")
    object=$build/originals/$(basename "$file" .c).o
    flags="-std=c99 -O1 -w -fPIC -Igpump_impl -I."
    # shellcheck disable=SC2086
    gcc $flags -c "$work/mutant.c" -o "$work/mutant.o" 2>/dev/null && ! cmp -s "$work/mutant.o" "$object" || { echo "invalid $mistake"; exit 0; }
    others=$(ls "$build"/originals/*.o | grep -v "/$(basename "$file" .c)\.o$")
    # shellcheck disable=SC2086
    gcc -shared -Wl,-soname,"$(cat "$build/soname")" "$work/mutant.o" $others -lm -o "$work/$(cat "$build/soname")" 2>/dev/null || { echo "invalid $mistake"; exit 0; }
    for prefix in $(tests_of "$(basename "$(dirname "$file")")"); do
        for program in "$build"/tests/test_"$prefix"*; do
            case $program in *.o | *_long | *_victim_properties_long) continue ;; esac
            [ -x "$program" ] || continue
            (ulimit -t 60; cd "$work" && LD_LIBRARY_PATH="$work" GPUMP_TEST_CASES="${GPUMP_TEST_CASES:-0.2}" "$program" >/dev/null 2>&1) ||
                { echo "killed $mistake"; exit 0; }
        done
    done
    echo "survived $mistake"
    exit 0
fi

[ -n "$files" ] || files=$(ls gpump_impl/*/*.c)
cmake -S . -B "$build" -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGPUMP_EXAMPLES=OFF -DGPUMP_BENCH=OFF \
    -DCMAKE_BUILD_RPATH_USE_ORIGIN=OFF -DCMAKE_SKIP_BUILD_RPATH=ON >"$build.log" 2>&1 && cmake --build "$build" --parallel 2 >>"$build.log" 2>&1 || { tail -20 "$build.log"; exit 2; }
gcc -std=c99 -O1 -o "$build/mutate" tests/mutate/mutate.c || exit 2
mkdir -p "$build/originals" "$build/work"
rm -f "$build"/originals/*.o
for file in gpump_impl/*/*.c; do gcc -std=c99 -O1 -w -fPIC -Igpump_impl -I. -c "$file" -o "$build/originals/$(basename "$file" .c).o" || exit 2; done
readelf -d "$build"/libgpump.so | sed -n 's/.*soname: \[\(.*\)\].*/\1/p' >"$build/soname"

status=0
report=$(mktemp)
echo "| file | places | mutants | killed | % |" >"$report"
echo "|---|---|---|---|---|" >>"$report"
for file in $files; do
    places=$("$build/mutate" "$file")
    # Places in an order that the seed alone decides; more than needed, because some are invalid.
    awk -v n="$places" -v seed="$seed" 'BEGIN { srand(seed); for (i = 0; i < n; i++) order[i] = i
        for (i = n - 1; i > 0; i--) { j = int(rand() * (i + 1)); t = order[i]; order[i] = order[j]; order[j] = t }
        for (i = 0; i < n; i++) print order[i] }' >"$build/work/places"
    : >"$build/work/results"
    while [ "$(grep -vc '^invalid' "$build/work/results")" -lt "$mutants" ] && [ -s "$build/work/places" ]; do
        missing=$((mutants - $(grep -vc '^invalid' "$build/work/results")))
        head -n "$missing" "$build/work/places" >"$build/work/round"
        sed -i "1,${missing}d" "$build/work/places"
        xargs -P "$(nproc)" -I{} sh "$0" --one "$file" {} "$build/work" <"$build/work/round" >>"$build/work/results"
    done
    tried=$(grep -vc '^invalid' "$build/work/results")
    killed=$(grep -c '^killed' "$build/work/results")
    percent=$((tried ? 100 * killed / tried : 100))
    echo "| $(basename "$file") | $places | $tried | $killed | $percent |" >>"$report"
    [ "$percent" -ge 95 ] || status=1
    sed -n 's/^survived //p' "$build/work/results" | sort >>"$report.survivors"
    tail -1 "$report" >&2
done
{
    cat "$report"
    echo
    echo "Survivors:"
    echo
    [ -s "$report.survivors" ] && sed 's/^/    /' "$report.survivors"
} | tee ${out:+"$out"}
rm -f "$report" "$report.survivors"
exit $status
