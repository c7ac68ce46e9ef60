#!/bin/sh
# How many small mistakes in the library do its tests notice?
#   sh tests/mutate/run.sh [--mutants N] [--seed S] [--jobs J] [--build FOLDER] [--fresh] [--prepare] [--no-sanitizer] [--page FILE] [FILE.c ...]
# For every named file of gpump_impl (default: all of them), N mutants (default 60) are drawn by seed S (default 1) from the places
# that tests/mutate/mutate.c finds. Each mutant is compiled to a shared object, which is loaded before the library and so takes its
# file's place, and given to the test programs of its room (tests_of, below) that reach the line, until one of them fails: the mutant is
# killed. If all pass, it survives. Mutants that do not compile, or compile to the code of the original, are drawn again. A mutant that runs four times as long
# as the original, and 0.2 s, is killed as well. A mutant costs about 0.2 s of processor time. What survives is run once more under
# the address sanitizer (--no-sanitizer: it is not), where a read or a write beyond an array is noticed.
# Results stay in FOLDER (default build-mutate), also when the command is interrupted: while a file and S are the same, a later call
# tries its survivors, and what is missing to N; --fresh tries all. --prepare only builds the library and the test programs. --page
# replaces the rows of FILE's table, and the entries of tests/mutate/survivors.txt, of the files that FOLDER has results of.
# tests/mutate/equivalent.txt holds the arguments why some survivors cannot be killed. Exit status: 0 when at least 95 % of each
# file's other mutants are killed, 1 when not, 2 usage.
set -u
script=$(cd "$(dirname "$0")" && pwd)/run.sh
cd "$(dirname "$0")/../.." || exit 2
root=$(pwd)
cases=${GPUMP_TEST_CASES:-0.05}
compiler=${CC:-gcc}
flags="-std=c99 -w -fPIC -Igpump_impl -I."
tab=$(printf '\t')

# A mutant's compiler: tcc where there is one, because it takes 5 ms; not for files that use another compiler's vectors.
quick_for() {
    case $1 in
    compress*) echo "$compiler" ;;
    *) if command -v tcc >/dev/null 2>&1; then echo tcc; else echo "$compiler"; fi ;;
    esac
}

# ---- for this script alone: --one FOLDER FILE PLACE prints "STATUS program place line function original mistake", tab-separated
one() {
    build=$1 file=$2 place=$3
    name=${file##*/}
    name=${name%.c}
    quick=$(quick_for "$name")
    work=$build/work/$$
    mkdir "$work" || exit 2
    trap 'rm -rf "$work"' EXIT
    mistake=$(awk -F '\t' -v place="$place" '$1 == place { print; exit }' "$build/places/$name")
    answer() {
        printf '%s\t%s\t%s\n' "$1" "$2" "$mistake"
        exit 0
    }
    export CCACHE_DISABLE=1
    "$build/mutate" "$file" "$place" "$work/mutant.c" || exit 2
    # shellcheck disable=SC2086  # lists of words
    $quick $flags -shared "$work/mutant.c" -o "$work/mutant.so" >/dev/null 2>&1 || answer invalid compiler
    cmp -s "$work/mutant.so" "$build/work/$name.so" && answer invalid "same code"
    : >>"$build/work/$name.results"
    # Programs that reach the line or the next one with code: gcc counts a statement of several lines on any of them. The one that has
    # killed most mutants of this file for its time is first.
    awk -F '\t' -v line="$(echo "$mistake" | cut -f 2)" '
        FILENAME ~ /lines$/ && $2 <= line && $2 >= before { before = $2; if ($3) reaches[$1, $2] = 1 }
        FILENAME ~ /lines$/ && $2 > line && (!behind || $2 <= behind) { behind = $2; if ($3) reaches[$1, $2] = 1 }
        FILENAME ~ /seconds$/ { seconds[$1] = $2 }
        FILENAME ~ /results$/ && $1 == "killed" { kills[$2]++ }
        END { for (p in seconds) if (((p, before) in reaches) || ((p, behind) in reaches))
            printf "%f\t%s\t%d\n", (kills[p] + 1) / (seconds[p] + 0.02), p, 4000 * seconds[p] + 200 }' \
        "$build/work/$name.lines" "$build/work/$name.seconds" "$build/work/$name.results" | sort -rn >"$work/order"
    [ -s "$work/order" ] || answer survived "not reached"
    cd "$work" || exit 2
    export LD_LIBRARY_PATH="$build" GPUMP_TEST_CASES="$cases" CMOCKA_TEST_ABORT=1 # a program stops at its first failure
    while IFS=$tab read -r _ program limit; do
        "$build/limit" "$limit" "$work/mutant.so" "$build/tests/$program" </dev/null >/dev/null 2>&1 || answer killed "$program"
    done <order
    # Once more under the address sanitizer.
    cd "$root" || exit 2
    if [ -d "$build/sanitized" ] && gcc $flags -fsanitize=address -O1 -shared "$work/mutant.c" -o "$work/sanitized.so" >/dev/null 2>&1; then
        cd "$work" || exit 2
        while IFS=$tab read -r _ program limit; do
            LD_LIBRARY_PATH="$build/sanitized" ASAN_OPTIONS=detect_leaks=0 "$build/limit" $((10 * limit)) "$work/sanitized.so" \
                "$build/sanitized/$program" "$(gcc -print-file-name=libasan.so)" </dev/null >/dev/null 2>&1 ||
                answer killed "$program (sanitized)"
        done <order
    fi
    # What an optimising compiler finds to be the same program is the same program.
    cd "$root" || exit 2
    # shellcheck disable=SC2086
    $compiler $flags -O2 -c "$work/mutant.c" -o "$work/mutant.o" 2>/dev/null && cmp -s "$work/mutant.o" "$build/objects/$name.optimised" &&
        answer invalid "same code"
    answer survived -
}
if [ "${1:-}" = --one ]; then one "$2" "$3" "$4"; fi

# ---- the command
mutants=60 seed=1 jobs=$(nproc 2>/dev/null || echo 2) build=$root/build-mutate fresh= page= files= prepare= sanitizer=1
usage() { sed -n '2,3p' "$script" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    --fresh) fresh=1; shift; continue ;;
    --prepare) prepare=1; shift; continue ;;
    --no-sanitizer) sanitizer=; shift; continue ;;
    --mutants | --seed | --jobs | --build | --page) [ $# -ge 2 ] || usage ;;
    -*) usage ;;
    *)
        file=$1
        [ -f "$file" ] || file=$(ls gpump_impl/*/"${1##*/}" 2>/dev/null | head -n 1) # sm.c is gpump_impl/sm/sm.c
        [ -f "$file" ] || { echo "$1: no such file in gpump_impl" >&2; exit 2; }
        files="$files $file"; shift; continue ;;
    esac
    case $1 in
    --mutants) mutants=$2 ;;
    --seed) seed=$2 ;;
    --jobs) jobs=$2 ;;
    --build) build=$2 ;;
    --page) page=$2 ;;
    esac
    shift 2
done
for number in "$mutants" "$seed" "$jobs"; do
    case $number in '' | *[!0-9]*) echo "run.sh: --mutants, --seed and --jobs want numbers, not '$number'" >&2; exit 2 ;; esac
done
[ -n "$files" ] || files=$(ls gpump_impl/*/*.c)
case $build in /*) ;; *) build=$root/$build ;; esac
mkdir -p "$build/objects" "$build/tests" "$build/places" "$build/results" "$build/work" || exit 2
# One run in a folder: two would overwrite each other's programs and results. The lock ends with the process that holds it.
exec 9>"$build/lock"
flock -n 9 || { echo "run.sh: another run uses the folder $build: wait for it, or name another one with --build" >&2; exit 2; }

# The test programs that may notice a mistake in a room: those of the room, of the rooms that use it, and those of several rooms.
tests_of() {
    case $1 in
    base) areas="base gpu memory program context sm victim scheduler fault sharing duet model" ;;
    gpu) areas="gpu memory context sm victim scheduler fault sharing duet model" ;;
    sm) areas="sm victim model" ;;
    context | victim | scheduler) areas="$1 model" ;;
    *) areas=$1 ;;
    esac
    for area in $areas; do grep -l '^/\* labels: ' tests/"$area"/*.c 2>/dev/null; done
    case $1 in context | fault | sm | scheduler) echo tests/base/altered_memory.c ;; esac
    case $1 in fault | sharing | duet) echo tests/model/any_call.c ;; esac
    case $1 in victim | sm | scheduler | sharing) echo tests/gpu/own_technique.c ;; esac
    case $1 in context | fault | sm | scheduler | sharing | duet | memory) ls tests/base/component.c 2>/dev/null ;; esac
    case $1 in base) ;; *) ls tests/base/null_calls.c 2>/dev/null ;; esac
}
# measure NAME PROGRAM: the lines that the tests reach, and their processor time with the original in a mutant's place, made by a mutant's
# compiler, whose code may take ten times as long. They must pass.
measure() {
    (
        cd "$build/work" || exit 2
        rm -f "$1.gcda"
        run() {
            LD_LIBRARY_PATH="$build" GPUMP_TEST_CASES="$cases" "$build/limit" 600000 "$build/work/$1" "$build/tests/$2" \
                </dev/null >"$2.log" 2>&1 || { echo "$2 fails without any mistake: see $build/work/$2.log" >&2; exit 1; }
        }
        run "$1.so" "$2"
        times >"$2.times" # its last line: user and system time of the children
        tail -1 "$2.times" | sed 's/[ms]/ /g' | awk -v program="$2" '{ print program "\t" 60 * $1 + $2 + 60 * $3 + $4 }' >>"$1.seconds"
        run "$1.seen.so" "$2"
        [ ! -f "$1.gcda" ] || gcov -t "$1.gcda" 2>/dev/null | awk -F : -v program="$2" -v file="$file" '
            $3 == "Source" { inside = substr($4, length($4) - length(file) + 1) == file }
            inside && $2 > 0 && $1 !~ /-$/ { print program "\t" $2 + 0 "\t" ($1 !~ /#/) }' >>"$1.lines"
    )
}
program_of() { echo "$1" | sed 's|^tests/||; s|/|_|; s|\.c$||'; }

# What a file's results depend on, their first line.
key_of() { echo "$1 $(wc -l <"$build/places/$(basename "$1" .c)") $(cksum <"$1") $seed"; }

# Builds what is older than its sources: the library, and below the test programs.
newest=$(ls -t gpump_impl/*/*.h | head -1) # gpump.h is made of these headers, as far as programs read it
is_fresh() { [ -n "$(find "$1" -newer "$newest" -newer "$2" 2>/dev/null)" ]; }
# The same of a test program, which is made of the files that its compiler has listed.
is_fresh_program() {
    # shellcheck disable=SC2046  # a list of files
    is_fresh "$1" "$2" && [ -f "$1.d" ] &&
        [ -z "$(find $(sed 's/^[^ ]*: *//; s/\\$//' "$1.d" | tr ' ' '\n' | grep -v '^gpump.h$') -newer "$1" 2>&1)" ]
}
for tool in mutate limit; do
    is_fresh "$build/$tool" tests/mutate/$tool.c || $compiler -std=c99 -O1 -o "$build/$tool" tests/mutate/$tool.c || exit 2
done
for file in gpump_impl/*/*.c; do
    is_fresh "$build/objects/$(basename "$file" .c).o" "$file" && continue
    # shellcheck disable=SC2086
    $compiler $flags -O2 -c "$file" -o "$build/objects/$(basename "$file" .c).optimised" &&
        $compiler $flags -O1 -c "$file" -o "$build/objects/$(basename "$file" .c).o" || exit 2
done
[ -z "$(find "$build/objects" -name '*.o' -newer "$build/libgpump.so" 2>&1)" ] ||
    $compiler -shared -o "$build/libgpump.so" "$build"/objects/*.o -lm || exit 2
# The library once more, under the address sanitizer.
if [ -n "$sanitizer" ] && [ -e "$(gcc -print-file-name=libasan.so)" ]; then
    mkdir -p "$build/sanitized" || exit 2
    [ -z "$(find gpump_impl -name '*.[ch]' -newer "$build/sanitized/libgpump.so" 2>&1)" ] ||
        gcc $flags -fsanitize=address -O1 -shared -o "$build/sanitized/libgpump.so" gpump_impl/*/*.c -lm || exit 2
else
    rm -rf "$build/sanitized"
fi
[ ! -f tests/base/null_calls.awk ] || awk -f tests/base/null_calls.awk gpump_impl/*/*.h >"$build/tests/null_calls.h" # null_calls.c includes it
status=0
for file in $files; do
    name=$(basename "$file" .c)
    # shellcheck disable=SC2086
    $(quick_for "$name") $flags -shared "$file" -o "$build/work/$name.so" || exit 2
    # The same with gcc's counters of lines: which programs reach a line?
    # shellcheck disable=SC2086
    (cd "$build/work" && gcc $flags -I"$root" -I"$root/gpump_impl" --coverage -O1 -c "$root/$file" -o "$name.o" &&
        gcc -shared --coverage "$name.o" -o "$name.seen.so") || exit 2
    : >"$build/work/$name.seconds"
    : >"$build/work/$name.lines"
    for source in $(tests_of "$(basename "$(dirname "$file")")"); do
        with=
        case $(head -1 "$source") in
        *'link: own_technique '*) # its list of techniques takes the place of the library's
            with="-DGPUMP_TECHNIQUE_4=my_technique gpump_impl/gpu/technique.c examples/policies/my_technique.c" ;;
        *'link: technique_list '*) ;;
        *link:* | *labels:*' long'*) continue ;; # needs a host, or takes minutes
        esac
        program=$(program_of "$source")
        is_fresh_program "$build/tests/$program" "$source" ||
            # shellcheck disable=SC2086
            $compiler $flags -MMD -MF "$build/tests/$program.d" -O1 -D_GNU_SOURCE -Itests "-I$build/tests" "-DGPUMP_SOURCE_DIR=\"$root\"" "-DGPUMP_BINARY_DIR=\"$build\"" "$source" $with \
                -o "$build/tests/$program" -L"$build" -lgpump -lcmocka -lm || exit 2
        # shellcheck disable=SC2086
        [ ! -d "$build/sanitized" ] || is_fresh_program "$build/sanitized/$program" "$source" ||
            gcc $flags -MMD -MF "$build/sanitized/$program.d" -fsanitize=address -O1 -D_GNU_SOURCE -Itests "-I$build/tests" "-DGPUMP_SOURCE_DIR=\"$root\"" "-DGPUMP_BINARY_DIR=\"$build\"" "$source" $with \
                -o "$build/sanitized/$program" -L"$build/sanitized" -lgpump -lcmocka -lm || exit 2
        grep -q libgpump.so "$build/tests/$program" || continue # has a copy of the library of its own
        measure "$name" "$program" || exit 2
    done
    "$build/mutate" "$file" >"$build/places/$name"
    [ -z "$prepare" ] || continue
    key=$(key_of "$file")
    results=$build/work/$name.results
    keep() { { echo "$key"; sort -t "$tab" -k 4,4n "$results"; } >"$build/results/$name"; }
    : >"$results"
    # Places in an order that the seed alone decides; more than needed, because some are invalid.
    awk -v n="$(wc -l <"$build/places/$name")" -v seed="$seed" 'BEGIN { srand(seed); for (i = 0; i < n; i++) order[i] = i
        for (i = n - 1; i > 0; i--) { j = int(rand() * (i + 1)); t = order[i]; order[i] = order[j]; order[j] = t }
        for (i = 0; i < n; i++) print order[i] }' >"$build/work/$name.left"
    if [ -z "$fresh" ] && [ -f "$build/results/$name" ] && [ "$(head -1 "$build/results/$name")" = "$key" ]; then
        sed 1d "$build/results/$name" | grep -v '^survived' >"$results"
        cut -f 3 "$results" | grep -vxF -f - "$build/work/$name.left" >"$build/work/$name.rest"
        mv "$build/work/$name.rest" "$build/work/$name.left"
    fi
    while missing=$((mutants - $(grep -vc "^invalid" "$results"))); [ "$missing" -gt 0 ] && [ -s "$build/work/$name.left" ]; do
        [ "$missing" -le 16 ] || missing=16
        head -n "$missing" "$build/work/$name.left" >"$build/work/$name.round"
        sed -i "1,${missing}d" "$build/work/$name.left"
        CC=$compiler GPUMP_TEST_CASES=$cases xargs -P "$jobs" -I{} sh "$script" --one "$build" "$file" {} <"$build/work/$name.round" >>"$results"
        keep
    done
    keep
    awk -f tests/mutate/report.awk -v what=row tests/mutate/equivalent.txt "$build/results/$name"
    awk -f tests/mutate/report.awk -v what=survivors tests/mutate/equivalent.txt "$build/results/$name"
    awk -f tests/mutate/report.awk -v what=verdict tests/mutate/equivalent.txt "$build/results/$name" || status=1
done
is_measured() { [ "$(head -1 "$build/results/$(basename "$1" .c)" 2>/dev/null)" = "$(key_of "$1" 2>/dev/null)" ]; }
report() { awk -f tests/mutate/report.awk -v what="$1" tests/mutate/equivalent.txt "$build/results/$(basename "$2" .c)"; }
if [ -n "$page" ]; then
    for file in gpump_impl/*/*.c; do
        is_measured "$file" || continue
        name=$(basename "$file")
        row=$(report page "$file") || true
        awk -v name="$name" -v row="$row" 'index($0, "| " name " |") == 1 { print row; found = 1; next } { print }
            END { if (!found) print row }' "$page" >"$page.new" && mv "$page.new" "$page"
        {
            awk -v name="$name" 'BEGIN { RS = ""; ORS = "\n\n" } index($0, name " ") != 1' tests/mutate/survivors.txt
            report list "$file" || true
        } | cat -s >tests/mutate/survivors.new && mv tests/mutate/survivors.new tests/mutate/survivors.txt
    done
fi
exit $status
