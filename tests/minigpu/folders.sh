#!/bin/sh
# folders.sh SOURCE_DIR [LIBRARY]: the folders of the mini-GPU form a stack, and nothing points upward.
#
# The stack is the picture in examples/minigpu/README.md, top first. A file includes, and an object file of LIBRARY
# (libminigpu_core.a) calls, only what lies in its own folder or below. All parts stand on one floor, so a part knows no
# other part.
set -eu
source=$(cd "$1" && pwd)
root=$source/examples/minigpu
library=${2:+$(cd "$(dirname "$2")" && pwd)/$(basename "$2")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^<!-- folders -->/,/^<!-- end of folders -->/p' "$root/README.md" | awk '$1 ~ /\/$/ { print $1 }' |
    awk '{ folder[NR] = $1 } END { for (i = NR; i; i--) print NR - i + 1, folder[i] }' >"$work/floors"
[ -s "$work/floors" ] || { echo "folders.sh: $root/README.md has no picture of folders"; exit 1; }
cd "$root"
find . -mindepth 2 -name '*.[ch]' | sed 's|^./||' | grep -v '^kernels/' | sort >"$work/files"
# Arrows: UNIT FOLDER_OF_WHAT_IT_NAMES
while read -r file; do
    sed -n 's|^#include "\([a-z_0-9/]*/\)[a-z_0-9]*\.[ch]".*|\1|p' "$file" | sed "s|^|${file%.*} |"
done <"$work/files" >"$work/arrows"
if [ -n "$library" ]; then
    nm -A "$library" 2>/dev/null | awk -v files="$work/files" '
        BEGIN { while ((getline line < files) > 0) if (line ~ /\.c$/) { n = split(line, part, "/"); path[part[n] ".o"] = line } }
        { split($1, at, ":"); file = path[at[2]]; unit = file; sub(/\.c$/, "", unit); folder = file; sub(/[^\/]*$/, "", folder) }
        file == "" { next }
        $(NF - 1) ~ /^[TDBRC]$/ { home[$NF] = folder }
        $(NF - 1) == "U" { user[++uses] = unit; wanted[uses] = $NF }
        END { for (i = 1; i <= uses; i++) if (wanted[i] in home) print user[i], home[wanted[i]] }' >"$work/calls"
    [ -s "$work/calls" ] || { echo "folders.sh: nm finds no calls in $library"; exit 1; }
    cat "$work/calls" >>"$work/arrows"
fi
sort -u "$work/arrows" | awk -v floors="$work/floors" '
    BEGIN { while ((getline line < floors) > 0) { split(line, word, " "); floor[word[2]] = word[1] } }
    function floor_of(folder) { return folder ~ /^parts\/./ ? floor["parts/"] : folder ~ /^l1\/./ ? floor["l1/"] : folder in floor ? floor[folder] : -1 }
    {
        from = $1 "/"; sub(/[^\/]*\/$/, "", from)
        if (from == "parts/" || $2 == "parts/") next # the list of parts: it names them all, and everybody may ask it
        if (from == "l1/" && $2 ~ /^l1\/./ || $2 == "l1/" && from ~ /^l1\/./) next # the list of L1s, and their interface
        if (from == $2 || floor_of($2) < 0) next # kernels/, report/ and other neighbours
        if (floor_of(from) < 0) { print $1 ": its folder is not in the picture of examples/minigpu/README.md"; next }
        if (floor_of($2) >= floor_of(from)) print $1, "->", $2
    }' | sort >"$work/upward"
if [ -s "$work/upward" ]; then
    echo "folders.sh: these point upward in the picture of examples/minigpu/README.md, or from part to part:"
    cat "$work/upward"
    exit 1
fi
