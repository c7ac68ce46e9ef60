#!/bin/sh
# How the cost of each component and analysis grows when its size doubles, in machine instructions:
# growth.sh [--short] [MICRO [NAME...]]
#   sh bench/growth.sh build/bench/micro
#   sh bench/growth.sh --short build/bench/micro victim_dual fault
# valgrind counts every case of bench/micro whose name begins with a NAME, at half of each of its sizes and at the size;
# --short takes the largest size up to 4,096 alone, or the second. Prints the growth of each, and fails above 2.2, or above the bound
# of bench/growth.csv, which says why a case has another one. Exit status: 0; 1 one grows faster; 2 usage; 77 no valgrind.
set -u
short= here=$(dirname "$0")
[ "${1:-}" != --short ] || { short=--short; shift; }
micro=${1:-build/bench/micro}
[ $# -gt 0 ] && shift
[ -x "$micro" ] || { echo "growth.sh: there is no program $micro; build micro, or name it" >&2; exit 2; }
command -v valgrind >/dev/null || {
    echo "growth.sh: there is no valgrind (package valgrind): nothing is counted"
    exit 77
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- ""
for name; do
    valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="$work/count-$name.%p" "$micro" --growth $short \
        ${name:+--only "$name"} >"$work/out" 2>"$work/log" || { grep '^micro:' "$work/log" >&2; exit 2; }
done
# each dump has its case, size and number of operations, and the instructions
for dump in "$work"/count-*.*.*; do
    sed -n 's/^desc: Trigger: Client Request: \(.*\)/\1/p; s/^totals: \([0-9]*\).*/,\1/p' "$dump" | tr -d '\n'
    echo
done | sort -t, -k1,1 -k2,2n >"$work/counts"
[ -s "$work/counts" ] || { echo "growth.sh: valgrind counted nothing" >&2; exit 2; }
awk -F, 'NR == FNR { if (FNR > 1) bound[$1] = $2; next }
    !(($1 "," $2) in cost) { cost[$1 "," $2] = $4 / $3; name[++rows] = $1; size[rows] = $2 }
    END {
        printf "%-32s %9s %14s %8s\n", "case", "size", "instructions", "doubled"
        for (i = 1; i <= rows; i++) {
            half = cost[name[i] "," size[i] / 2]
            if (!half) continue
            growth = cost[name[i] "," size[i]] / half
            most = name[i] in bound ? bound[name[i]] : 2.2
            printf "%-32s %9d %14.0f %8.2f%s\n", name[i], size[i], cost[name[i] "," size[i]], growth, (growth > most ? "  above " most : "")
            if (growth > most) wrong = 1
        }
        exit wrong
    }' "$here/growth.csv" "$work/counts"
