#!/bin/sh
# What takes hours and is no part of continuous integration: weekly.sh [STAGE...]; without a stage, all of them.
#   memory   the library's tests and the hosts' under clang's memory sanitizer (build-memory)
#   thread   tbsim's tests and a sweep on eight threads under clang's thread sanitizer (build-thread)
#   sanitize the tests labelled heavy or full under the address and undefined behaviour sanitizers (build-sanitize)
#   long     the tests labelled long, and property tests with ten times their cases (build-long)
#   commands every command that a document shows, to its end (tests/project/commands.sh)
#   causes   every condition in the table of causes of docs/silicon.md (tests/bench/silicon_causes.sh)
#   growth   every case of bench/micro at half of each of its sizes and at the size, in machine instructions (bench/growth.sh)
#   errors   an error, and an exception, in every instruction of every small launch (bench/every_instruction); goes on where it was
#            interrupted, some half an hour of processor time (build-errors)
#   fuzz     every fuzz target for GPUMP_FUZZ_SECONDS, 1800 (tests/fuzz/fuzz.sh)
#   options  every cell of docs/combinations.md (tests/minigpu/combinations.sh), and GPUMP_OPTION_MINUTES, 60, of minigpu run with
#            options drawn at random, from another seed each week (tests/minigpu/option_sets.sh)
#   mutants  hooks of parts taken out one by one, and what a cell of docs/combinations.md sees (tests/minigpu/combinations_mutated.sh)
#   corpora  the committed corpora of the championship, recorded again: the same bytes (bench/championship/committed.sh)
#   traces   the traces of folder GPUMP_TRACES, or of small launches, preempted and shared in every way (tests/minigpu/traces_folder.sh)
#   compile  gpump.h at every level of optimisation by every compiler (tests/project/compile/matrix.sh), and that all decide alike
#   cross    the tests on s390x and i386, by emulation (tests/project/cross.sh)
#   cluster  a sweep as a Slurm job array on one machine, under MPI, GNU parallel and make (tests/cluster)
#   playground  the mini-GPU in the browser: its build, ten experiments beside the native program, the eight lessons in Chromium
#   pages    every page of the site, and every page that a picture of docs is taken of, on four screens in Chromium
#   go       the simulator in Go (tests/project/go.sh)
#   packages each package of examples/packages, made and used by a second project (tests/project/packages.sh)
# GPUMP_TEST_CASES scales the property tests of a stage beside its own factor. GPUMP_WEEKLY_TESTS, an extended regular expression,
# leaves the tests of memory, thread, sanitize and long whose names match, and builds no other: GPUMP_WEEKLY_TESTS='^fault_' weekly.sh
# memory. GPUMP_ERROR_SECONDS ends the stage errors early. It needs what tests/run.sh installs, clang and, on Debian,
# libclang-rt-dev; a stage whose tools are missing is named as skipped. Exit status: 0 all passed, 1 not, 2 usage.
set -u
cd "$(dirname "$0")/../.." || exit 2
all="memory thread sanitize long commands causes growth errors fuzz options mutants corpora traces compile cross cluster playground pages go packages"
stages=${*:-$all}
jobs=$(nproc 2>/dev/null || echo 2)
library='^(base|gpu|sm|victim|scheduler|context|memory|program|sharing|fault|duet)_'
hosts='^(minigpu|ptx|tbsim|report|fuzz)_'

only= # the targets that a stage needs; nothing: all
ran=  # a test of the stage has run
build() { # build DIRECTORY COMPILER FLAGS CMAKE-OPTION...: configures and builds
    directory=$1 compiler=$2 flags=$3
    shift 3
    generator=
    command -v ninja >/dev/null 2>&1 && [ ! -f "$directory/CMakeCache.txt" ] && generator="-G Ninja"
    mkdir -p "$directory"
    case $compiler in clang) cxx=clang++ ;; *) cxx=g++ ;; esac
    # shellcheck disable=SC2086
    cmake -S . -B "$directory" $generator "-DCMAKE_C_COMPILER=$compiler" "-DCMAKE_CXX_COMPILER=$cxx" "-DCMAKE_C_FLAGS=$flags" \
        "-DCMAKE_CXX_FLAGS=$flags" "-DCMAKE_BUILD_TYPE=RelWithDebInfo" "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g" "$@" >"$directory/build.log" 2>&1 &&
        cmake --build "$directory" --parallel "$jobs" $(targets "$directory") >"$directory/build.log" 2>&1 || { tail -20 "$directory/build.log"; return 1; }
}
targets() { # targets DIRECTORY: --target and what the stage, or GPUMP_WEEKLY_TESTS, needs; nothing: everything
    [ -z "$only" ] || { echo "--target $only"; return 0; }
    [ -n "${GPUMP_WEEKLY_TESTS:-}" ] || return 0
    echo "--target minigpu tbsim" "$(cmake --build "$1" --target help | sed -nE 's/^(\.\.\. )?test_([a-z0-9_]*).*/\2/p' | grep -E -- "$GPUMP_WEEKLY_TESTS" | sed 's/^/test_/' | tr '\n' ' ')"
}
named() { # named DIRECTORY CTEST-OPTION...: a regular expression of the stage's tests that GPUMP_WEEKLY_TESTS matches
    (cd "$1" && shift && ctest -N "$@") | sed -n 's/^ *Test *#[0-9]*: //p' | grep -E -- "$GPUMP_WEEKLY_TESTS" | tr '\n' '|' | sed 's/|$//; s/.*/^(&)$/'
}
tests() { # tests DIRECTORY CTEST-OPTION...
    directory=$1
    shift
    if [ -n "${GPUMP_WEEKLY_TESTS:-}" ]; then
        names=$(named "$directory" "$@")
        [ -n "$names" ] || return 0
        set -- -R "$names"
    fi
    ran=1
    (cd "$directory" && ctest --output-on-failure --no-label-summary --parallel "$jobs" "$@" </dev/null) >"$directory/ctest.log" 2>&1
    status=$?
    sed -n '/tests passed/,$p' "$directory/ctest.log"
    return $status
}
cases() { awk -v a="$1" -v b="${GPUMP_TEST_CASES:-1}" 'BEGIN { print a * b }'; }

stage_memory() {
    build build-memory clang "-fsanitize=memory -fno-omit-frame-pointer -fno-sanitize-recover=all" \
        "-DGPUMP_TEST_CASES=$(cases 0.05)" -DGPUMP_INSTALL_TOOLS=OFF || return 1
    failures=0
    # The machine's memory cannot be mapped at an address of the sanitizer's (memory_queued makes two).
    tests build-memory -R "$library" -E '^memory_(machine|queued)$' -LE 'compile|command|full' || failures=1
    # The hosts' libraries (YAML, JSON, C++) are not instrumented: what they allocate and fill counts as filled, also where
    # it was freed before.
    MSAN_OPTIONS=poison_in_malloc=0:poison_in_free=0 tests build-memory -R "$hosts" -LE 'compile|command|full' || failures=1
    return $failures
}
stage_thread() {
    build build-thread clang "-fsanitize=thread -fno-omit-frame-pointer" "-DGPUMP_TEST_CASES=$(cases 0.1)" -DGPUMP_INSTALL_TOOLS=OFF || return 1
    tests build-thread -R '^tbsim_' || return 1
    for file in tests/minigpu/machine/crossing.yaml examples/minigpu/kernels/histo/small.yaml examples/minigpu/demo.yaml; do
        for model in 0 1; do
            TSAN_OPTIONS=halt_on_error=1 build-thread/examples/minigpu/minigpu run $file --threads 4 --preempt 1500 \
                --config memory_model=$model >build-thread/threads.txt || return 1
        done
    done
    TSAN_OPTIONS=halt_on_error=1 build-thread/examples/tbsim/tbsim sweep --workloads 16 --processes 4 --schedule dss --threads 8 --quiet >build-thread/sweep.csv &&
        TSAN_OPTIONS=halt_on_error=1 build-thread/examples/tbsim/tbsim sweep --workloads 16 --processes 4 --schedule dss --threads 1 --quiet |
        cmp - build-thread/sweep.csv
}
stage_sanitize() {
    build build-sanitize clang "" -DGPUMP_AMALGAMATED=ON -DGPUMP_SANITIZE=ON "-DGPUMP_TEST_CASES=$(cases 0.1)" \
        "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" || return 1
    tests build-sanitize -L 'heavy|full' -LE compile
}
stage_long() {
    build build-long gcc "" -DGPUMP_LONG_TESTS=ON "-DGPUMP_TEST_CASES=$(cases 10)" "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    tests build-long -L 'property|long|equivalence' && { [ -z "${GPUMP_WEEKLY_TESTS:-}" ] || return 0; } &&
        GPUMP_TEST_CASES=$(cases 100) build-long/tests/test_cuda_mathematics # 10^6 arguments for each function
}
stage_commands() {
    build build-long gcc "" -DGPUMP_LONG_TESTS=ON "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    sh tests/project/commands.sh "$PWD" "$PWD/build-long" "$PWD/build-long/commands"
}
stage_causes() {
    only=reproduce
    build build-long gcc "" -DGPUMP_LONG_TESTS=ON "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    sh tests/bench/silicon_causes.sh build-long/bench/reproduce .
}
stage_growth() {
    only=micro
    build build-long gcc "" -DGPUMP_LONG_TESTS=ON "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    sh bench/growth.sh build-long/bench/micro
}
stage_errors() {
    only=every_instruction
    build build-errors gcc "" "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    find build-errors -name 'every_*.csv' ! -newer build-errors/bench/every_instruction -delete # of another program
    # 124: the time is up, and the next run goes on there
    seq 0 $((jobs - 1)) | xargs -P "$jobs" -I{} sh -c 'timeout "${GPUMP_ERROR_SECONDS:-0}" "$@" || [ $? -eq 124 ]' sh \
        build-errors/bench/every_instruction --shard "{}/$jobs" --log build-errors/every_{}.csv || return 1
    awk -F, '{ places += $8 } END { print places " places" }' build-errors/every_*.csv
}
stage_options() {
    only=minigpu
    build build-long gcc "" -DGPUMP_INSTALL_TOOLS=OFF -DGPUMP_LONG_TESTS=ON || return 1
    sh tests/minigpu/combinations.sh build-long/examples/minigpu/minigpu . || return 1
    sh tests/minigpu/option_sets.sh build-long/examples/minigpu/minigpu . "${GPUMP_OPTION_MINUTES:-60}m" "$(date +%Y%V)"
}
stage_mutants() {
    only="minigpu minigpu_core"
    build build-long gcc "" -DGPUMP_INSTALL_TOOLS=OFF -DGPUMP_LONG_TESTS=ON || return 1
    host=build-long/examples
    sh tests/minigpu/combinations_mutated.sh . $host/minigpu/libminigpu_core.a gcc $host/minigpu/kernels/libminigpu_kernels.a \
        build-long/libgpump_policies.a $host/options/liboptions.a $host/report/libreport.a build-long/libgpump.a \
        -lyaml -ljansson -llzma -lzstd -lpthread -lm -lstdc++
}
stage_corpora() {
    only=championship_record
    build build-errors gcc "" "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    sh bench/championship/committed.sh build-errors/bench/championship_record
}
stage_traces() {
    build build-long gcc "" -DGPUMP_INSTALL_TOOLS=OFF -DGPUMP_LONG_TESTS=ON || return 1
    sh tests/minigpu/traces_folder.sh "${GPUMP_TRACES:-}" build-long
}
stage_fuzz() { sh tests/fuzz/fuzz.sh "${GPUMP_FUZZ_SECONDS:-1800}"; }
stage_compile() {
    failures=0
    for form in "gcc c" "clang c" "g++ c++" "clang++ c++"; do
        # shellcheck disable=SC2086  # two words
        sh tests/project/compile/matrix.sh "$PWD" "$PWD/build-compile/${form%% *}" $form weekly || failures=1
    done
    sh tests/project/compile/decisions.sh "$PWD" "$PWD/build-compile/decisions" all || failures=1
    return $failures
}
stage_cluster() {
    build build-long gcc "" -DGPUMP_LONG_TESTS=ON "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    sh tests/cluster/others.sh build-long || return 1
    bash tests/cluster/slurm.sh build-long
}
stage_playground() {
    sh tests/playground/playground.sh --tools || return
    only=minigpu
    build build-long gcc "" -DGPUMP_LONG_TESTS=ON "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    sh tests/playground/playground.sh "$PWD/build-long/examples/minigpu/minigpu" "$PWD" "$PWD/build-playground"
}
stage_pages() {
    only="minigpu tbsim"
    build build-long gcc "" -DGPUMP_LONG_TESTS=ON "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" || return 1
    page=$PWD/build-playground/build/playground.html
    [ -f "$page" ] || page=
    sh tests/report/every_page.sh "$PWD/build-long" "$PWD" "$PWD/build-pages" ${page:+"$page"}
}
stage_go() { sh tests/project/go.sh .; }
stage_packages() { bash tests/project/packages.sh . release meson vcpkg conan xmake debian; }
stage_cross() {
    for tool in s390x-linux-gnu-gcc i686-linux-gnu-gcc qemu-s390x qemu-i386; do
        command -v $tool >/dev/null || { echo "$tool is not installed; tests/project/cross.sh says what it needs"; return 77; }
    done
    sh tests/project/cross.sh s390x i386
}

for stage in $stages; do
    case " $all " in
    *" $stage "*) ;;
    *) echo "weekly.sh: no stage is called $stage ($all)" >&2; exit 2 ;;
    esac
done
summary='' failed=0
for stage in $stages; do
    case $stage in memory | thread | sanitize | fuzz) needs=clang ;; *) needs=gcc ;; esac
    echo "==== $stage"
    before=$(date +%s)
    if command -v $needs >/dev/null; then
        only='' ran=''
        "stage_$stage"
        status=$?
        case $stage in
        memory | thread | sanitize | long)
            [ $status -ne 0 ] || [ -n "$ran" ] || { echo "none of the stage's tests has a name that matches GPUMP_WEEKLY_TESTS='$GPUMP_WEEKLY_TESTS'"; status=1; } ;;
        esac
    else
        echo "$needs is not installed"
        status=77
    fi
    case $status in 0) word=passed ;; 77) word=skipped ;; *) word=FAILED failed=1 ;; esac
    summary="$summary
$stage: $word, $(($(date +%s) - before)) s"
done
echo "==== summary$summary"
exit $failed
