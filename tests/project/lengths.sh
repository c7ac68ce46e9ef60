#!/bin/sh
# Who reads a failure must see the case whole, and what it protects: no function of the tests is longer than 80 lines, and each case
# has a sentence in front of it, of four words at least and with a full stop.
# Usage: lengths.sh SOURCE
cd "$1/tests" || exit 2
awk '
    FNR == 1 { start = 0; comment = ""; is_open = 0; split("", silent) }
    /^[a-z].*\(/ && !/;$/ {
        start = FNR; name = $0
        called = $0; sub(/\(.*/, "", called); sub(/.*[ *]/, "", called)
        if (comment !~ /[.:!?]\)? *\*\/$/ || split(comment, words, /[ *\/]+/) - 2 < 4) silent[called] = FNR
    }
    /^\/\*/ { comment = ""; is_open = 1 }
    { comment = is_open ? comment " " $0 : ""; rest = $0 }
    /\*\/$/ { is_open = 0 }
    match(rest, /cmocka_unit_test[a-z_]*\([a-z0-9_]+/) {
        while (match(rest, /cmocka_unit_test[a-z_]*\([a-z0-9_]+/)) {
            called = substr(rest, RSTART, RLENGTH); sub(/.*\(/, "", called)
            rest = substr(rest, RSTART + RLENGTH)
            if (called in silent) {
                file = FILENAME
                sub(/^\.\//, "", file)
                print "tests/" file ":" silent[called] ": " called " does not say what it protects: write a sentence in front of it"
                bad = 1
            }
        }
    }
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
