#!/bin/sh
# No function of the tests is longer than 80 lines: who reads a failure must see the case whole.
# Usage: lengths.sh SOURCE
cd "$1/tests" || exit 2
awk '
    FNR == 1 { start = 0 }
    /^[a-z].*\(/ && !/;$/ { start = FNR; name = $0 }
    /^[;}]/ && start {
        if (FNR - start + 1 > 80) {
            file = FILENAME
            sub(/^\.\//, "", file); sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            print "tests/" file ":" start ": " name " has " FNR - start + 1 " lines, at most 80: divide it by what it shows"
            bad = 1
        }
        start = 0
    }
    END { exit bad }' ./*.[ch] ./*/*.[ch] ./*/*/*.[ch]
