#!/bin/sh
# No function of examples/ and bench/ has more than sixty lines: functions.sh SOURCE_DIR
# A function begins where its declaration does, in the first column, and ends with the next } in the first column.
set -u
cd "$1" || exit 1
long=$(find examples bench -name '*.c' -o -name '*.h' -o -name '*.cc' | sort | xargs awk '
    /^[A-Za-z_].*[^;]$/ && !/^(typedef|struct|union|enum|extern|#|static const [^(]*=|const [^(]*=)/ && !open {
        if (/\(/) { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); first = FNR }
    }
    /\{$/ && first && !open && !/=[^=]*\{$/ { open = 1 }
    /^[^ }].*;$/ && !open { first = 0 }
    /^}/ { if (open && FNR - first + 1 > 60) print FILENAME ": " name; open = first = 0 }')
[ -z "$long" ] || { echo "more than sixty lines: split"; echo "$long"; exit 1; }
