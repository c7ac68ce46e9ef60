#!/bin/sh
# Every public function of gpump.h is called by an example or a bench, or docs/design.md says why not: unused.sh SOURCE_DIR
# The list is the table under "Functions that only a host of your own calls"; a row there that is called, or that names no
# function, is an error too.
set -u
cd "$1" || exit 1
status=0
complain() { echo "$*"; status=1; }
temporary=${TMPDIR:-/tmp}/gpump.unused.$$
trap 'rm -f "$temporary".*' EXIT

# Declarations end where the implementation begins; a function is a name before a bracket on a line of its declaration.
sed '/#ifdef GPUMP_IMPLEMENTATION/,$d' gpump.h |
    sed -n 's/^\(GPUMP_API\|GPUMP_INLINE\) [^(]*[ *]\(gpump_[a-z0-9_]*\)(.*/\2/p' | sort -u >"$temporary".public
[ "$(wc -l <"$temporary".public)" -gt 100 ] || complain "unused.sh finds no declarations in gpump.h"

# Calls, and names handed on as pointers; comments do not count.
find examples bench -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.c.in' | xargs cat |
    awk '{ line = $0
           while (1) {
               if (inside) { if (!(end = index(line, "*/"))) break; line = substr(line, end + 2); inside = 0 }
               start = index(line, "/*"); slashes = index(line, "//")
               if (slashes && (!start || slashes < start)) { print substr(line, 1, slashes - 1); break }
               if (!start) { print line; break }
               print substr(line, 1, start - 1); line = substr(line, start + 2); inside = 1 } }' |
    grep -oE '[A-Za-z_0-9]+' | sort -u >"$temporary".called

awk '/^## / { inside = 0 } /^## Functions that only a host of your own calls/ { inside = 1 } inside && /^\|/ { print $2 }' FS='|' docs/design.md |
    grep -oE '`gpump_[a-z0-9_]+`' | tr -d '`' | sort >"$temporary".listed

comm -23 "$temporary".public "$temporary".called >"$temporary".unused
for name in $(sort -u "$temporary".listed | comm -23 "$temporary".unused -); do
    complain "$name: no file of examples/ or bench/ calls it, and docs/design.md gives no reason: show it, list it, or delete it"
done
for name in $(comm -12 "$temporary".listed "$temporary".called); do
    complain "$name: docs/design.md lists it as called by nothing in examples/ or bench/, but it is called: delete its row"
done
for name in $(sort -u "$temporary".listed | comm -23 - "$temporary".public); do
    complain "$name: docs/design.md lists it, but gpump.h does not declare it: delete its row"
done
[ $status -eq 0 ] && echo "$(wc -l <"$temporary".public) public functions; $(wc -l <"$temporary".unused) are listed with a reason, all others are in use"
exit $status
