#!/bin/sh
# No function of examples/ and bench/ has more than sixty lines: functions.sh SOURCE_DIR
# A function begins where its declaration does, in the first column, and ends with the next } in the first column.
# tests/project/functions.txt lists the functions that still are longer; one that has become shorter must leave the list.
set -u
cd "$1" || exit 1
long=$(find examples bench -name '*.c' -o -name '*.h' -o -name '*.cc' | sort | xargs awk '
    /^[A-Za-z_].*[^;]$/ && !/^(typedef|struct|union|enum|extern|#|static const [^(]*=|const [^(]*=)/ && !open {
        if (/\(/) { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); first = FNR }
    }
    /\{$/ && first && !open && !/=[^=]*\{$/ { open = 1 }
    /^[^ }].*;$/ && !open { first = 0 }
    /^}/ { if (open && FNR - first + 1 > 60) print FILENAME ": " name; open = first = 0 }')
known=$(grep -v '^#' tests/project/functions.txt)
status=0
echo "$long" | grep . >/tmp/long.$$
echo "$known" | grep . >/tmp/known.$$
new=$(grep -vxF -f /tmp/known.$$ /tmp/long.$$)
gone=$(grep -vxF -f /tmp/long.$$ /tmp/known.$$)
rm -f /tmp/long.$$ /tmp/known.$$
[ -z "$new" ] || { echo "more than sixty lines: split"; echo "$new"; status=1; }
[ -z "$gone" ] || { echo "no longer than sixty lines, or gone: take them out of tests/project/functions.txt"; echo "$gone"; status=1; }
exit $status
