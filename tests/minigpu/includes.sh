#!/bin/sh
# includes.sh [--write] [FOLDER]: no circle of files in the machine, memory and preemption of the mini-GPU, nor among those
# that read launch files; and the picture in its README is what the includes say of the former.
#
# A unit is NAME.c and NAME.h together; it stands one floor above the highest unit that either of them includes. A unit that
# includes itself by way of others stands on no floor: then the circle is printed, and the exit status is 1. The floors
# are compared with the picture in examples/minigpu/README.md; --write puts them there.
# FOLDER: another mini-GPU than this repository's, for a test of this script.
set -eu
write=0
[ "${1:-}" = --write ] && { write=1; shift; }
root=${1:-$(dirname "$0")/../../examples/minigpu}
cd "$root"
floors_of() { for file; do
    unit=${file%.*}
    echo "$unit"
    sed -n 's/^#include "\([a-z_]*\/[a-z_0-9]*\)\.h".*/\1/p' "$file" | sed "s|^|$unit |"
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
floors=$(floors_of machine/*.[ch] memory/*.[ch] preemption/*.[ch])
case $floors in circle*) echo "$floors"; exit 1 ;; esac
readers=$([ ! -d launch ] || floors_of launch/*.[ch])
case $readers in circle*) echo "$readers"; exit 1 ;; esac
picture=$(echo "$floors" | awk '
    function flush() { if (line != "") print line; line = "" }
    { if ($1 != floor) { flush(); floor = $1; line = sprintf("%4d  %s", $1, $2) }
      else if (length(line) + length($2) + 2 > 108) { flush(); line = "      " $2 }
      else line = line "  " $2 }
    END { flush() }')
[ -f README.md ] || { echo "$picture"; exit 0; }
if [ $write = 1 ]; then
    PICTURE=$picture awk '
        /^<!-- floors -->/ { print; print "```"; print ENVIRON["PICTURE"]; print "```"; skip = 1; next }
        /^<!-- end of floors -->/ { skip = 0 }
        !skip { print }' README.md > README.md.new
    mv README.md.new README.md
    exit 0
fi
shown=$(sed -n '/^<!-- floors -->/,/^<!-- end of floors -->/p' README.md | grep -v -e '^<!--' -e '^```')
[ "$shown" = "$picture" ] && exit 0
echo "examples/minigpu/README.md shows other floors; tests/minigpu/includes.sh --write puts these there:"
echo "$picture"
exit 1
