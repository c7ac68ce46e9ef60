#!/bin/sh
# Records the committed corpora as their commands in docs/championship.md say, and compares them: committed.sh RECORDER [SPLIT...]
# Exit status: 0 the same bytes, 1 not. The new files stay in the folder CORPORA, if it is set.
set -eu
recorder=$1
shift
[ $# -gt 0 ] || set -- train test machine
folder=$(dirname "$0") differ=0
work=${CORPORA:-$(mktemp -d)}
[ -n "${CORPORA:-}" ] || trap 'rm -rf "$work"' EXIT
for split; do
    case $split in train) part="--every 2 --moments 2" ;; *) part="--every 15 --moments 3" ;; esac
    # shellcheck disable=SC2086
    "$recorder" --split "$split" --seed 1 $part --out "$work/$split.corpus" 2>/dev/null
    cmp "$work/$split.corpus" "$folder/$split.corpus" || differ=1
done
exit $differ
