#!/bin/sh
# Builds and runs the tests, in two configurations:
#   build-test       gcc, RelWithDebInfo with the lines of functions alone (-g1), the library from gpump_impl/
#   build-sanitize   assertions, address and undefined behaviour sanitizers (clang's where they are installed, else gcc's), the library
#                    from gpump.h, property tests with a tenth of their cases
# build-test runs property tests with a tenth of their cases, too, or with as many as GPUMP_TEST_CASES says. build-sanitize leaves out
# the tests labelled heavy and full; tests/project/weekly.sh sanitize runs these.
# sh tests/run.sh --full runs in build-test the tests labelled full as well, which take long and rarely fail, and all cases. Continuous
# integration runs --full.
# Other options are handed to ctest in both configurations: sh tests/run.sh -R base_. Exit status: 0 all passed, 1 not, 2 something is missing.
set -u
cd "$(dirname "$0")/.." || exit 2
without=full # a regular expression of labels
if [ "${1:-}" = --full ]; then
    without='^$'
    shift
else
    export GPUMP_TEST_CASES="${GPUMP_TEST_CASES:-0.1}"
fi
for option; do # ctest runs everything when it does not know an option
    case $option in
    --*) name=${option%%=*} ;;
    -?*) name=$(printf %.2s "$option") ;;
    *) continue ;;
    esac
    ! command -v ctest >/dev/null || ctest --help | grep -qE -- "(^|[ ,])$name([ ,=]|\$)" || {
        echo "run.sh: there is no option $option; it knows --full first, and then those of ctest, such as -R REGULAR_EXPRESSION" >&2
        exit 2
    }
done
. tests/packages.sh
start=$(date +%s)
stage() { # stage NAME COMMAND...: runs it and says how long it took
    stage=$1
    shift
    before=$(date +%s)
    "$@"
    status=$?
    echo "---- $stage: $(($(date +%s) - before)) s"
    return $status
}
jobs=$(nproc 2>/dev/null || echo 2)
stage "packages" need_packages "run the tests" $TEST_PACKAGES
stage "gpump.h is fresh" cmake -DIMPL=gpump_impl -DHEADER=gpump.h -DFRESH="${TMPDIR:-/tmp}/gpump.fresh.$$.h" -P tests/project/header_is_fresh.cmake || exit 1
rm -f "${TMPDIR:-/tmp}/gpump.fresh.$$.h"

sanitizer=gcc
printf 'int main(void) { return 0; }\n' >"${TMPDIR:-/tmp}/gpump.$$.c"
clang -fsanitize=address,undefined "${TMPDIR:-/tmp}/gpump.$$.c" -o "${TMPDIR:-/tmp}/gpump.$$" 2>/dev/null && sanitizer=clang
rm -f "${TMPDIR:-/tmp}/gpump.$$.c" "${TMPDIR:-/tmp}/gpump.$$"
[ "$sanitizer" = clang ] && sanitizer_cxx=clang++ || sanitizer_cxx=g++

configure() { # configure DIRECTORY OPTION...
    directory=$1
    shift
    generator=
    command -v ninja >/dev/null 2>&1 && [ ! -f "$directory/CMakeCache.txt" ] && generator="-G Ninja"
    mkdir -p "$directory"
    # shellcheck disable=SC2086
    cmake -S . -B "$directory" $generator -DGPUMP_TESTS=ON -DGPUMP_EXAMPLES=ON -DGPUMP_BENCH=ON "$@" >"$directory/configure.log" 2>&1 ||
        { cat "$directory/configure.log"; return 1; }
}
tenths() { # tenths NAME: of the lines of a build, "[12/290] ..." of ninja or "[  4%] ..." of make, says each tenth that is done
    shown=0
    while read -r line; do
        part=${line#\[}
        case $line in
        "["*[0-9]/[0-9]*"]"*) part=${part%%]*} percent=$((100 * ${part%/*} / ${part#*/})) ;;
        "["*[0-9]"%]"*) percent=$((${part%%%*})) ;;
        *) continue ;;
        esac
        [ $((percent / 10)) -gt $((shown / 10)) ] && shown=$percent && echo "     $1: $percent%"
    done
    return 0
}
build() {
    { cmake --build "$1" --parallel "$jobs" 2>&1; echo "exit status $?"; } | tee "$1/build.log" | tenths "build $1"
    [ "$(tail -n 1 "$1/build.log")" = "exit status 0" ] || { grep -B 2 -A 12 -E 'error|FAILED|warning' "$1/build.log" | head -60; return 1; }
    grep 'warning:' "$1/build.log" || true
}
run() { # run DIRECTORY CTEST-OPTION...
    directory=$1
    shift
    (cd "$directory" && ctest --output-on-failure --no-label-summary --parallel "$jobs" "$@" </dev/null) | tee "$directory/ctest.log"
    grep -q '^100% tests passed' "$directory/ctest.log" # the status of a pipe is tee's
}

failed=0
stage "configure build-test" configure build-test -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG" -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ || exit 1
stage "build build-test" build build-test || exit 1
stage "test build-test" run build-test -LE "$without" "$@" || failed=1
stage "configure build-sanitize ($sanitizer)" configure build-sanitize -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGPUMP_AMALGAMATED=ON \
    -DGPUMP_SANITIZE=ON -DGPUMP_TEST_CASES=0.1 "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" -DCMAKE_C_COMPILER=$sanitizer -DCMAKE_CXX_COMPILER=$sanitizer_cxx || exit 1
stage "build build-sanitize" build build-sanitize || exit 1
stage "test build-sanitize" run build-sanitize -LE "compile|full|heavy" "$@" || failed=1

echo "---- all: $(($(date +%s) - start)) s"
for directory in build-test build-sanitize; do
    echo "$directory:"
    sed -n '/tests passed/,$p' "$directory/ctest.log"
done
exit $failed
