#!/bin/sh
# Fuzzes every reader under the address and undefined behaviour sanitizers: fuzz.sh SECONDS [TARGET...]
# Targets: ptx, analysis, context, launch, workload, tables, parts, traces; without one, all of them, each for so many seconds. The build folder is build-fuzz;
# build-fuzz/corpus_TARGET keeps what covers new code from run to run, build-fuzz/found_TARGET the inputs that failed. An input that
# failed is mended, and joins the corpus in the tree that the target's replay test runs through. It needs clang and, on Debian,
# libclang-rt-dev beside what the tests need, and installs nothing. Exit status: 0 nothing found, 1 something, 2 usage or build.
set -u
cd "$(dirname "$0")/../.." || exit 2
case ${1:-} in '' | *[!0-9]*) echo "usage: tests/fuzz/fuzz.sh SECONDS [TARGET...]" >&2; exit 2 ;; esac
seconds=$1
shift
[ $# -gt 0 ] || set -- ptx analysis context launch workload tables parts traces
generator=
command -v ninja >/dev/null && [ ! -f build-fuzz/CMakeCache.txt ] && generator="-G Ninja"
mkdir -p build-fuzz
flags="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
# shellcheck disable=SC2086
cmake -S . -B build-fuzz $generator -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ "-DCMAKE_C_FLAGS=$flags" \
    "-DCMAKE_CXX_FLAGS=$flags" "-DCMAKE_BUILD_TYPE=RelWithDebInfo" "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g" \
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g" -DGPUMP_FUZZ=ON >build-fuzz/build.log 2>&1 || { tail -20 build-fuzz/build.log; exit 2; }
[ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm # each input becomes a file
failed=0
for target; do
    case $target in
    ptx) seeds="tests/ptx/bad_ptx tests/ptx/ptx_corpus" options="-dict=tests/ptx/fuzz_ptx.dict -max_len=20000" ;;
    analysis) seeds="tests/ptx/bad_ptx tests/ptx/ptx_corpus tests/fuzz/corpus_analysis" options="-dict=tests/ptx/fuzz_ptx.dict -max_len=20000" ;;
    context) seeds=tests/context/fuzz_context_corpus options= ;;
    traces) seeds="examples/minigpu/traces/pathfinder tests/fuzz/corpus_traces" options="-max_len=40000" ;;
    launch) seeds="tests/minigpu/bad_launch tests/minigpu/good_run tests/fuzz/corpus_launch" options="-dict=tests/fuzz/yaml.dict -max_len=4000" ;;
    workload) seeds="examples/tbsim/workloads tests/fuzz/corpus_workload" options="-dict=tests/fuzz/yaml.dict -max_len=4000" ;;
    tables) seeds=tests/fuzz/corpus_tables options="-max_len=4000" ;;
    parts) seeds=tests/fuzz/corpus_parts options="-max_len=4000" ;;
    *) echo "fuzz.sh: no target is called $target" >&2; exit 2 ;;
    esac
    cmake --build build-fuzz --parallel 2 --target fuzz_$target >build-fuzz/build.log 2>&1 || { tail -20 build-fuzz/build.log; exit 2; }
    program=$(find build-fuzz/tests -name fuzz_$target -type f)
    mkdir -p build-fuzz/corpus_$target build-fuzz/found_$target
    # shellcheck disable=SC2086
    if "$program" -max_total_time="$seconds" -timeout=200 -rss_limit_mb=4096 -close_fd_mask=1 -print_final_stats=1 \
        -artifact_prefix=build-fuzz/found_$target/ $options build-fuzz/corpus_$target $seeds 2>build-fuzz/$target.log; then
        echo "$target: nothing found in $(sed -n 's/^stat::number_of_executed_units: *//p' build-fuzz/$target.log) inputs"
    else
        failed=1
        echo "$target: see build-fuzz/$target.log"
        grep -m 3 -E 'ERROR|runtime error|SUMMARY|Test unit written' build-fuzz/$target.log
    fi
done
exit $failed
