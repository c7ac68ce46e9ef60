#!/bin/sh
# includes.sh [FOLDER]: no circle of files in the machine of the mini-GPU (folders base, memory, l1, state, sm, preemption,
# machine, parts), nor among those that read launch files.
#
# A unit is NAME.c and NAME.h together; it stands one floor above the highest unit that either of them includes. A unit that
# includes itself by way of others stands on no floor: then the circle is printed, and the exit status is 1. Which folder may
# include which is folders.sh's business.
# FOLDER: another mini-GPU than this repository's, for a test of this script.
set -eu
root=${1:-$(dirname "$0")/../../examples/minigpu}
cd "$root"
floors_of() { for file; do
    unit=${file%.*}
    echo "$unit"
    sed -n 's/^#include "\([a-z_0-9\/]*\/[a-z_0-9]*\)\.h".*/\1/p' "$file" | sed "s|^|$unit |"
done | awk '
    { unit[$1] = 1 }
    NF == 2 && $1 != $2 { edge[$1, $2] = 1 }
    END {
        for (pair in edge) { split(pair, end, SUBSEP); if (end[2] in unit) { from[++edges] = end[1]; to[edges] = end[2] } }
        for (u in unit) { floor[u] = 1; units++ }
        for (changed = 1; changed && rounds <= units; rounds++) {
            changed = 0
            for (i = 1; i <= edges; i++)
                if (floor[from[i]] <= floor[to[i]]) { floor[from[i]] = floor[to[i]] + 1; changed = 1 }
        }
        if (changed) { # whoever is still rising stands on a circle, or above one: follow it down until it repeats
            for (u in unit) if (!top || floor[u] > floor[top]) top = u
            for (u = top; !(u in seen); u = down) {
                seen[u] = 1
                for (i = 1; i <= edges; i++) if (from[i] == u && floor[to[i]] >= floor[u] - 1) down = to[i]
            }
            printf "circle: %s", u
            for (v = u; ; v = next_unit) {
                for (i = 1; i <= edges; i++) if (from[i] == v && (to[i] in seen) && floor[to[i]] >= floor[v] - 1) next_unit = to[i]
                printf " -> %s", next_unit
                if (next_unit == u || ++steps > units) break
            }
            print ""
            exit
        }
        for (u in unit) print floor[u], u
    }' | sort -k1,1nr -k2,2; }
machine=
for file in base/*.[ch] memory/*.[ch] l1/*.[ch] l1/*/*.[ch] state/*.[ch] sm/*.[ch] preemption/*.[ch] machine/*.[ch] parts/*/*.[ch]; do
    [ ! -f "$file" ] || machine="$machine $file"
done
# shellcheck disable=SC2086  # a list of words
floors=$(floors_of $machine)
case $floors in circle*) echo "$floors"; exit 1 ;; esac
readers=$([ ! -d launch ] || floors_of launch/*.[ch])
case $readers in circle*) echo "$readers"; exit 1 ;; esac
