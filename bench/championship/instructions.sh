#!/bin/sh
# Counts the machine instructions of a decision, with its estimates, on the scenes of a corpus, as rows of
# instructions.csv: policy, decisions, instructions a decision. valgrind counts them:
#
#     bench/championship/instructions.sh build/bench/championship bench/championship/train.corpus dual chimera ./mine.so
set -eu
program=$1 corpus=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for policy in "$@"; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='decide*' --toggle-collect='estimate*' --log-file="$work/log" \
        "$program" --anew --policy "$policy" "$corpus" >"$work/table"
    name=$(sed -n '/^|---/{n;s/^| \([^ ]*\) .*/\1/p;q}' "$work/table")
    decisions=$(sed -n 's/.*: \([0-9]*\) scenes$/\1/p' "$work/table")
    instructions=$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log")
    echo "$name,$decisions,$((instructions / decisions))"
done
