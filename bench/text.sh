#!/bin/sh
# Bytes of text (code, constants, strings, unwind tables) of each component of the library, largest first, and their sums:
# text.sh [LIBRARY [NEW...]]
#   sh bench/text.sh build/libgpump.a                          (built with -DCMAKE_BUILD_TYPE=RelWithDebInfo: -O2 -DNDEBUG)
#   sh bench/text.sh build/libgpump.a preempted context_layout  also the sum without these components
set -eu
library=${1:-build/libgpump.a}
[ $# -gt 0 ] && shift
[ -f "$library" ] || { echo "text.sh: there is no library $library; build the target gpump, or name it" >&2; exit 2; }
size "$library" | awk 'NR > 1 { print $1, $6 }' | sort -rn | awk -v new=" $* " '
    { name = $2; sub(/\.c\.o$/, "", name); printf "%8d %s\n", $1, name; sum += $1
      if (index(new, " " name " ")) added += $1 }
    END { printf "%8d all\n", sum; if (added) printf "%8d without%s\n", sum - added, new }'
size -A "$library" | awk '$1 ~ /^\.eh_frame/ { unwind += $2 } END { printf "%8d of it unwind tables\n", unwind }'
