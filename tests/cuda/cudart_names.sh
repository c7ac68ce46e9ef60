#!/bin/sh
# cudart_names.sh LIBRARY...: each library has every function of CUDA's run-time libraries 12 and 13 as a symbol
# (cudart_names.txt: the names in NVIDIA's documentation of both, and the entry points that nvcc's stubs call).
set -eu
names=$(cd "$(dirname "$0")" && pwd)/cudart_names.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tr -s ' \n' '\n\n' <"$names" | sort -u >"$work/names"
[ "$(wc -l <"$work/names")" -gt 400 ] || { echo "$names is not the list"; exit 1; }
bad=0
for library in "$@"; do
    nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/symbols"
    missing=$(comm -23 "$work/names" "$work/symbols" | tr '\n' ' ')
    [ -z "$missing" ] || { echo "$library has no symbol for: $missing"; bad=1; }
done
exit $bad
