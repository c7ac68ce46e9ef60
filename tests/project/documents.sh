#!/bin/sh
# The documents name only what is there: documents.sh SOURCE_DIR
# Every gpump_... and GPUMP_... in README.md, docs/ and the map must be in gpump.h (or be a CMake option), every path in
# backquotes or links must exist, and the map must name every room and every component.
set -u
cd "$1" || exit 1
status=0
complain() { echo "$*"; status=1; }
# The changes name what is gone; their width is checked like that of every page.
documents="README.md gpump_impl/map.txt $(find docs examples -name '*.md' ! -name CHANGELOG.md | sort)"

words() { tr -c 'A-Za-z0-9_' '\n' | sort -u; }
words <gpump.h >/tmp/gpump.words.$$
cat CMakeLists.txt tests/CMakeLists.txt tests/test.h gpump_impl/*/*.h gpump_impl/cmake/* examples/*/*.h examples/*/*/*.h examples/*/*/*/*.h examples/verilator/* 2>/dev/null | words >>/tmp/gpump.words.$$
sort -u -o /tmp/gpump.words.$$ /tmp/gpump.words.$$
for document in $documents; do
    for word in $(tr -c 'A-Za-z0-9_' '\n' <"$document" | grep -E '^(gpump|GPUMP)_[A-Za-z0-9_]*[A-Za-z0-9]$' | grep -v '^gpump_x_' | sort -u); do
        grep -qx "$word" /tmp/gpump.words.$$ || [ -e "$word" ] || complain "$document: $word is not in gpump.h"
    done
    # Links, relative to the document; and `paths/with/slashes` relative to the top.
    directory=$(dirname "$document")
    for link in $(grep -o '](\([^)#]*\)' "$document" | sed 's/](//' | grep -v '^https*:' | sort -u); do
        [ -e "$directory/$link" ] || complain "$document: the link $link leads nowhere"
    done
    # Tests as FILE:FUNCTION below tests.
    for named in $(grep -o '`[a-z_]*/[a-z_]*\.c:[a-z_0-9]*`' "$document" | tr -d '`' | sort -u); do
        grep -q "cmocka_unit_test[a-z_]*(${named#*:}[,)]" "tests/${named%%:*}" 2>/dev/null || complain "$document: tests/${named%%:*} runs no test ${named#*:}"
    done
    for path in $(grep -o '`[A-Za-z_.][A-Za-z0-9_./-]*/[A-Za-z0-9_.-]*`' "$document" | tr -d '`' | grep -v '^build' | grep -v '<' | sort -u); do
        [ -e "$path" ] || [ -e "$directory/$path" ] || [ -e "${path%.c}.c" ] || case $path in bench/micro | bench/reproduce | stb/* | examples/minigpu/minigpu | examples/tbsim/tbsim) true ;; *) false ;; esac ||
            complain "$document: there is no $path"
    done
done
rm -f /tmp/gpump.words.$$
# A code span stays on one line: tests/project/commands.sh reads commands line by line.
spans=$(awk '/^ *```/ { code = !code; next } FNR == 1 { code = 0 }
    !code && gsub(/`/, "`") % 2 { print FILENAME ":" FNR ": a code span is broken over two lines" }' $(echo "$documents" | tr ' ' '\n' | grep 'md$'))
[ -z "$spans" ] || complain "$spans"

# Prose has at most 110 columns. Tables, indented code and the pages that a command writes may be wider.
for document in $documents docs/CHANGELOG.md; do
    case $document in gpump_impl/map.txt | docs/results.md | docs/mutation.md | docs/registers.md) continue ;; esac
    wide=$(awk '/^ *```/ { code = !code; next } !code' "$document" | LC_ALL=C.UTF-8 grep -E '^[^| ].{110,}' | head -3)
    [ -z "$wide" ] || complain "$document: longer than 110 columns: $wide"
done

# Pages of measurements are of one timing model, which they name near their top: a page may be older than the library.
for page in docs/results.md docs/victims.md docs/rewind.md docs/sharing.md docs/regions.md docs/fault_latency.md; do
    models=$(tr '\n' ' ' <$page | grep -o 'timing model [0-9][0-9]*' | sort -u)
    [ "$(echo "$models" | grep -c .)" -eq 1 ] || complain "$page names $(echo ${models:-no timing model}), not one timing model"
    head -25 $page | tr '\n' ' ' | grep -q 'timing model [0-9]' || complain "$page does not name its timing model in its first 25 lines"
done

for component in $(sed -n 's/^set(GPUMP_ROOM_[a-z]* \(.*\))$/\1/p' gpump_impl/components.cmake); do
    ls gpump_impl/*/"$component.h" >/dev/null 2>&1 || continue
    grep -q "^ \*   $component " gpump_impl/map.txt || complain "gpump_impl/map.txt does not name $component"
done
# Rooms from the bottom up: "room: what it is for. What to call first."
grep -oE '^ \* [a-z_]+: ' gpump_impl/map.txt | tr -d ' *:' >/tmp/gpump.rooms.$$
sed -n 's/^set(GPUMP_ROOMS \(.*\))$/\1/p' gpump_impl/components.cmake | tr ' ' '\n' | cmp -s - /tmp/gpump.rooms.$$ ||
    complain "gpump_impl/map.txt names these rooms: $(tr '\n' ' ' </tmp/gpump.rooms.$$)"
rm -f /tmp/gpump.rooms.$$
[ $status -eq 0 ] && echo "the documents name only what is there"
exit $status
