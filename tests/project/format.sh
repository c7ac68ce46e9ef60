#!/bin/sh
# Every C and C++ file has the style of .clang-format, no line is longer than 120 columns, no function of the library is
# longer than 60 lines, and no two items of a comment's list stand on one line: format.sh SOURCE_DIR
# The style is checked by clang-format 14 alone, because versions differ in details; without it only the length is checked.
# gpump_impl/base/layout.h is written by the generator.
# Remedy: clang-format -i FILE.
set -u
cd "$1" || exit 2
status=0
files=$(find gpump_impl examples tests bench ! -path gpump_impl/base/layout.h \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) | sort)
# shellcheck disable=SC2086  # a list of words
awk 'length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns, at most 120"; bad = 1 } END { exit bad }' $files || status=1
# An item of a list has an indented name, spaces, and its text. clang-format joins the lines of a list of which one is
# too long; the names and their spaces then stand in running text.
# shellcheck disable=SC2086
awk '/^ *\* [^ ].*[^ ]   +[^ ]/ { print FILENAME ":" FNR ": an item of a list stands in running text: write the list again, below 120 columns"; bad = 1 }
    END { exit bad }' $files || status=1
# shellcheck disable=SC2046  # a list of words
awk '
    FNR == 1 { begin = 0 }
    /^[A-Za-z]/ { begin = FNR }
    /^}$/ && begin { if (FNR - begin >= 60) { print FILENAME ":" begin ": a function of " FNR - begin + 1 " lines, at most 60"; bad = 1 } begin = 0 }
    END { exit bad }' $(find gpump_impl -name '*.c') || status=1
for tool in clang-format-14 clang-format; do
    command -v $tool >/dev/null 2>&1 && $tool --version | grep -q 'version 14\.' || continue
    # shellcheck disable=SC2086
    $tool --dry-run -Werror $files 2>&1 | grep 'error:' | head -20 | grep . && status=1
    [ $status -eq 0 ] && echo "the style is that of .clang-format"
    exit $status
done
echo "clang-format 14 is not installed: only the length of lines was checked"
exit $status
