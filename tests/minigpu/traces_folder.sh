#!/bin/sh
# Traces of a folder, whole: traces_folder.sh [--table] [FOLDER] [BUILD]. Every kernelslist.g below FOLDER whose traces exist runs
# alone, is preempted at every 1,000th cycle by every technique and in every form of a context, goes back to its regions, has its pages
# absent under every scheme, has the same bits with --threads 1 to 3, and shares the machine with the one before it under every scheduler and every partition. All tags must be
# right. --table prints the table of docs/traces.md instead. Without a FOLDER, the traces are written here, from small launches. The
# project has no others: docs/traces.md says where public ones lie.
set -u
cd "$(dirname "$0")/../.." || exit 2
table= written=
[ "${1:-}" != --table ] || { table=1; shift; }
source=${1:-} build=${2:-build}
program=$build/tests/test_minigpu_traces_fetched minigpu=$build/examples/minigpu/minigpu
[ -x "$program" ] && [ -x "$minigpu" ] || { echo "traces_folder.sh: build test_minigpu_traces_fetched and minigpu in $build" >&2; exit 2; }
if [ -z "$source" ]; then
    source=$(mktemp -d) || exit 1
    written=$source
    for kernel in saxpy pathfinder hotspot; do
        "$minigpu" run "examples/minigpu/kernels/$kernel/small.yaml" --write-trace "$source/$kernel" >/dev/null || exit 1
    done
    "$minigpu" run examples/minigpu/kernels/hotspot/small.yaml --write-trace "$source/values" --write-values >/dev/null || exit 1
fi
[ -d "$source" ] || { echo "traces_folder.sh: there is no folder $source" >&2; exit 2; }
log=$(mktemp) || exit 1
trap 'rm -rf "$log" "$written"' EXIT
found=0 failed=0 before=
for list in $(find "$source" -name kernelslist.g | sort); do
    folder=$(dirname "$list") missing=
    for trace in $(grep '^kernel' "$list"); do [ -f "$folder/$trace" ] || missing=$trace; done
    [ -z "$missing" ] || { echo "$list: $missing is missing, left out"; continue; }
    found=$((found + 1))
    runs=$list
    [ -z "$table" ] || runs=$(sed -n "s|^kernel|$folder/kernel|p" "$list" | tr '\n' ':') # a row for each kernel
    if MINIGPU_TRACES=$runs MINIGPU_TRACES_BEFORE=$before MINIGPU_TRACES_TABLE=$table "$program" >"$log" 2>&1; then
        if [ -n "$table" ]; then
            grep '^|' "$log" | sed "s|^. $source/|\| |"
        else
            echo "$list: $(grep -c '^kernel' "$list") kernels right"
        fi
    else
        failed=$((failed + 1))
        echo "$list: wrong"
        tail -5 "$log"
    fi
    before=$list
done
[ "$found" -gt 0 ] || { echo "traces_folder.sh: no kernelslist.g below $source has its traces" >&2; exit 2; }
echo "$found lists, $failed wrong"
[ "$failed" -eq 0 ]
