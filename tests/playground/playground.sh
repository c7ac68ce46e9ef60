#!/bin/sh
# Builds the playground, compares it with the native mini-GPU, and uses it in a headless Chromium:
# playground.sh MINIGPU SOURCE_DIR WORK_DIR, or playground.sh --tools, which only looks whether all that it needs is here
# Exit status: 0 right, 1 wrong, 77 skipped: something is missing here, which the last line names.
set -u
minigpu=$1 source=${2:-} work=${3:-}
skip() { echo "SKIPPED: $1"; exit 77; }
printf 'int main(void) { return 0; }\n' | clang --target=wasm32-wasi -x c - -o /dev/null 2>/dev/null ||
    skip "no compiler for WebAssembly is here (apt-get install clang lld wasi-libc libclang-rt-dev-wasm32)"
python=python3 # Debian's, where another one lacks Debian's packages
"$python" -c "import markdown_it" 2>/dev/null || python=/usr/bin/python3
"$python" -c "import markdown_it" 2>/dev/null || skip "the page needs python3-markdown-it"
command -v node >/dev/null 2>&1 || skip "node runs the engine beside the native program (apt-get install nodejs)"
browser=
for name in chromium chromium-browser google-chrome; do command -v $name >/dev/null 2>&1 && browser=$(command -v $name) && break; done
[ -n "$browser" ] || skip "there is no Chromium here (apt-get install chromium)"
[ "$minigpu" != --tools ] || exit 0
mkdir -p "$work" && sh "$source/examples/playground/build.sh" "$work/build" || exit 1
status=0
timeout 600 node "$source/tests/playground/experiments.js" "$work/build/engine.wasm" "$minigpu" "$source" || status=1
rm -rf "$work/browser"
timeout 900 "$python" "$source/tests/playground/walk.py" "$browser" "$work/browser" "$work/build/playground.html" "$minigpu" "$source" || status=1
exit $status
