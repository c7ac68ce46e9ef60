#!/bin/sh
# Counts the machine instructions of a decision, with its estimates, on the scenes of a corpus, as rows of
# instructions.csv: policy, decisions, instructions a decision. valgrind counts them, also in the process of a policy of
# one's own:
#
#     bench/championship/instructions.sh build/bench/championship bench/championship/train.corpus dual chimera ./mine.so
set -eu
program=$1 corpus=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for policy in "$@"; do
    rm -f "$work"/log.*
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='decide*' --toggle-collect='estimate*' \
        --log-file="$work/log.%p" "$program" --anew --seconds 86400 --policy "$policy" "$corpus" >"$work/table"
    name=$(sed -n '/^|---/{n;s/^| \([^ ]*\) .*/\1/p;q}' "$work/table")
    decisions=$(sed -n 's/.*: \([0-9]*\) scenes$/\1/p' "$work/table")
    instructions=$(cat "$work"/log.* | sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { printf "%.0f", n }')
    echo "$name,$decisions,$((instructions / decisions))"
done
