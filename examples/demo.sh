#!/bin/sh
# Builds the mini-GPU and runs the demo: hotspot is preempted for pathfinder by each technique, and both results are checked.
# What is left in the current folder is one page that shows the runs, preemption_demo.html. Options go to `minigpu demo`; --trace
# FOLDER writes traces as well. Exit status: 0 both right, 1 not, 2 something is missing.
set -u
page=$PWD/preemption_demo.html
cd "$(dirname "$0")/.." || exit 2
for option; do # a wrong option is refused before the build, which takes a minute
    case $option in
    --trace | --trace=* | --gpu | --gpu=* | --html | --html=* | --quiet | --help | -h) ;;
    -*)
        echo "demo.sh: there is no option $option; minigpu demo knows --gpu PRESET, --html OUT.html, --trace FOLDER and --quiet" >&2
        exit 2
        ;;
    esac
done
. tests/packages.sh
need_packages "build the demo" $BUILD_PACKAGES
if [ ! -f build/CMakeCache.txt ]; then
    generator=
    command -v ninja >/dev/null 2>&1 && generator="-G Ninja"
    mkdir -p build
    # shellcheck disable=SC2086
    cmake -S . -B build $generator -DCMAKE_BUILD_TYPE=Release -DGPUMP_TESTS=OFF >build/demo.log 2>&1 || { cat build/demo.log; exit 1; }
fi
echo "Building examples/minigpu ..."
cmake --build build --parallel "$(nproc 2>/dev/null || echo 2)" --target minigpu >build/demo.log 2>&1 || { cat build/demo.log; exit 1; }
[ $# -gt 0 ] || set -- examples/minigpu/demo.yaml
exec build/examples/minigpu/minigpu demo --html "$page" "$@" </dev/null
