#!/bin/sh
# circles.sh SOURCE LIBRARY: a component uses only components before it in gpump_impl/components.cmake, so that none of them form a
# circle. Asked twice: which functions of which object file an object file calls (nm), and which headers a file includes.
set -eu
source=$1 library=$2
order=$(sed -n 's/^set(GPUMP_ROOM_[a-z]* \(.*\))$/\1/p' "$source/gpump_impl/components.cmake" | tr '\n' ' ')
rooms=$(sed -n 's/^set(GPUMP_ROOMS \(.*\))$/\1/p' "$source/gpump_impl/components.cmake")
nm -A "$library" 2>/dev/null | sed -n 's/^[^:]*:\([a-z_0-9]*\)\.c\.o: *[0-9a-f]* *\([A-Z]\) \(gpump[a-z_0-9]*\)$/\1 \2 \3/p' |
    awk -v order="$order" '
        BEGIN { n = split(order, names, " "); for (i = 1; i <= n; i++) rank[names[i]] = i }
        $2 == "U" { uses[++count] = $1 " " $3; next }
        { home[$3] = $1; seen++ }
        END {
            if (!seen || !count) { print "nm shows no function of the library"; exit 1 }
            for (i = 1; i <= count; i++) {
                split(uses[i], use, " ")
                from = use[1]; to = home[use[2]]
                if (to == "" || rank[to] <= rank[from]) continue
                print from " calls " use[2] " of " to ", which stands behind it: move the function, or the component in gpump_impl/components.cmake"
                bad = 1
            }
            exit bad
        }'
cd "$source/gpump_impl"
grep -n '^#include "[a-z0-9_]*/[a-z0-9_]*\.h"' ./*/*.[ch] | sed 's|^\./\([a-z0-9_]*\)/\([a-z0-9_]*\.[ch]\):[0-9]*:#include "\([a-z0-9_]*\)/\([a-z0-9_]*\)\.h".*|\1 \2 \3 \4|' |
    awk -v rooms="$rooms" '
        BEGIN { n = split(rooms, names, " "); for (i = 1; i <= n; i++) rank[names[i]] = i }
        !rank[$1] || !rank[$3] { print "gpump_impl/" $1 "/" $2 " includes " $3 "/" $4 ".h: no such room"; bad = 1; next }
        rank[$3] > rank[$1] { print "gpump_impl/" $1 "/" $2 " includes " $3 "/" $4 ".h: room " $3 " stands above room " $1; bad = 1 }
        END { if (!NR) { print "no include was found"; bad = 1 } exit bad }'
echo "circles.sh: good"
