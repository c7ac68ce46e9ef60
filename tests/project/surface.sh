#!/bin/sh
# How much a user may call: surface.sh SOURCE_DIR
# Counts the public functions of gpump.h, its macros that look like functions, and the hooks that a host fills in, against a bar
# that may only be lowered. Two whole hosts stay short. And the library says each thing once: no two functions have bodies of eight and more equal lines,
# whatever names their component gives them.
set -u
cd "$1" || exit 1
most=380
status=0
complain() { echo "$*"; status=1; }

header=$(sed '/GPUMP_IMPLEMENTATION_DONE/,$d' gpump.h)
functions=$(echo "$header" | sed -n 's/^\(GPUMP_API\|GPUMP_INLINE\) [^;{(]*[ *]\(gpump_[a-z0-9_]*\)(.*/\2/p' | sort -u | wc -l)
macros=$(echo "$header" | grep -cE '^ *# *define GPUMP_[A-Z0-9_]*\(')
# A hook is a pointer to a function in a struct that is not private.
hooks=$(echo "$header" | awk '/^typedef struct gpump_[a-z_0-9]* {/ { public = 1 } /^} / { public = 0 } public && /\(\*[a-z_]+\)\(/ { n++ } END { print n + 0 }')
all=$((functions + macros + hooks))
[ "$functions" -gt 200 ] && [ "$hooks" -gt 5 ] || complain "surface.sh does not find the declarations in gpump.h"
[ $all -le $most ] || complain "$functions functions, $macros macros and $hooks hooks are public, $all in all: more than $most"
[ $all -ge $((most - 10)) ] || complain "$all functions, macros and hooks are public: lower the bar of $most in surface.sh"

# Words of an older plan, which no reader of the header can look up.
old=$(grep -nE '\bfloors? [0-9]' gpump.h)
[ -z "$old" ] || complain "gpump.h: a room has a name and no floor: $old"

# What a whole host takes: different functions, and lines that are neither blank nor comment.
for host in examples/host_cycles.c examples/host_events.c; do
    code=$(sed 's@/\*.*\*/@@' "$host" | awk '/\/\*/ { comment = 1 } !comment && NF { print } /\*\// { comment = 0 }')
    lines=$(printf '%s\n' "$code" | wc -l)
    calls=$(printf '%s\n' "$code" | grep -oE '\bgpump_[a-z0-9_]+\(' | sort -u | wc -l)
    [ "$calls" -gt 10 ] || complain "surface.sh does not find the calls of $host"
    [ "$lines" -le 130 ] && [ "$calls" -le 20 ] || complain "$host has $calls functions (at most 20) in $lines lines (at most 130)"
done

# Bodies: comments and spaces gone, strings all alike, and every name replaced by the order in which it first comes up.
# shellcheck disable=SC2046
same=$(for file in $(find gpump_impl -name '*.c' -o -name '*.h' | sort); do
    awk -v file="$file" '
        function renamed(line,    out, word) {
            gsub(/\/\*[^*]*\*\//, "", line); gsub(/"[^"]*"/, "S", line); gsub(/[ \t]+/, " ", line)
            out = ""
            while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
                word = substr(line, RSTART, RLENGTH)
                if (!(word in names)) names[word] = ++count
                out = out substr(line, 1, RSTART - 1) "v" names[word]
                line = substr(line, RSTART + RLENGTH)
            }
            out = out line; gsub(/ /, "", out)
            return out
        }
        /^(GPUMP_API|GPUMP_INLINE|static) .*[^;]$/ && !inside { head = $0; body = ""; lines = count = 0; delete names }
        inside || /\{$/ {
            if (!inside && /^(GPUMP_API|GPUMP_INLINE|static|    )[^}]*\) \{$/) { inside = 1; next }
            if (inside && /^}/) {
                name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
                if (lines >= 8) print body "\t" file ":" name
                inside = 0; next
            }
            if (inside) {
                line = renamed($0)
                if (line != "") { body = body line "|"; lines++ }
            }
        }' "$file"
done | sort | awk -F'\t' '$1 == last { print name " and " $2 } { last = $1; name = $2 }')
[ -z "$same" ] || complain "functions with the same body:
$same"
[ $status -eq 0 ] && echo "$functions functions, $macros macros and $hooks hooks are public: $all of $most"
exit $status
