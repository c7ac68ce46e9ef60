#!/bin/sh
# Compiles and runs the README's example as the README says: readme.sh SOURCE_DIR WORK_DIR
set -eu
rm -rf "$2" && mkdir -p "$2" && cp "$1/gpump.h" "$2" && cd "$2"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1/README.md" >example.c
lines=$(wc -l <example.c)
[ "$lines" -ge 10 ] && [ "$lines" -le 25 ] || { echo "the README's example has $lines lines"; exit 1; }
command=$(sed -n 's/^\(cc .*example.c -o example\).*/\1/p' "$1/README.md")
[ -n "$command" ] || { echo "the README does not say how to compile the example"; exit 1; }
sh -c "$command -Werror -Wconversion -Wsign-conversion"
./example | tee output
grep -q '^4 blocks, 98304 bytes, 6144 ns to save$' output
