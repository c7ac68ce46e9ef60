#!/bin/sh
# Builds the playground, one HTML file that needs no network: build.sh [BUILD_DIR]
# The file is BUILD_DIR/playground.html; BUILD_DIR is build-playground. Installs missing packages, as examples/demo.sh does.
# Exit status: 0 built, 1 not, 2 packages are missing, or usage.
set -u
usage() { echo "build.sh: $1; usage: build.sh [BUILD_DIR]" >&2; exit 2; }
case ${1:-} in -*) usage "there is no option $1" ;; esac
[ $# -le 1 ] || usage "one folder, not $#"
build=${1:-build-playground}
source=$(cd "$(dirname "$0")" && pwd) || exit 1
. "$source/../../tests/packages.sh"
need_packages "build the playground" cmake make clang lld wasi-libc libclang-rt-dev-wasm32 libstb-dev python3 python3-markdown-it
mkdir -p "$build" || exit 1
generator= launcher=
command -v ninja >/dev/null 2>&1 && [ ! -f "$build/CMakeCache.txt" ] && generator="-G Ninja"
command -v ccache >/dev/null 2>&1 && launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache"
# shellcheck disable=SC2086
cmake -S "$source" -B "$build" $generator $launcher >"$build/build.log" 2>&1 &&
    cmake --build "$build" --parallel "$(nproc 2>/dev/null || echo 2)" >>"$build/build.log" 2>&1 || { tail -20 "$build/build.log"; exit 1; }
python=python3 # Debian's, where another one lacks Debian's packages
"$python" -c "import markdown_it" 2>/dev/null || python=/usr/bin/python3
"$python" "$source/assemble.py" "$build/engine.wasm" "$build/playground.html" || exit 1
echo "$build/playground.html (open it in a browser)"
