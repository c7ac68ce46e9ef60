#!/bin/sh
# No function of the tests is longer than 80 lines: who reads a failure must see the case whole.
# Usage: lengths.sh SOURCE
cd "$1/tests" || exit 2
# Longer ones that are still to be divided; a name that is no longer too long must go from the list.
allowed='
context/spill.c:random_jobs model/sm.c:decide model/sm.c:place program/cuts.c:cuts_by_hand
program/oracle_program.h:draft_statements program/page_checks.c:kim_figure_2_as_printed
program/page_checks.c:run scheduler/refusals.c:two_kernels_on_an_sm_have_their_room_and_blocks
sm/sm.c:random_life victim/refusals.c:estimates_follow_the_formulas
victim/victim_cases.h:victim_case_make
'
awk -v allowed="$allowed" '
    BEGIN { count = split(allowed, list, /[ \n]+/); for (i = 1; i <= count; i++) if (list[i] != "") may[list[i]] = 1 }
    FNR == 1 { start = 0 }
    /^[a-z].*\(/ && !/;$/ { start = FNR; name = $0 }
    /^[;}]/ && start {
        if (FNR - start + 1 > 80) {
            file = FILENAME
            sub(/^\.\//, "", file); sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            key = file ":" name
            if (!(key in may)) { print "tests/" file ":" start ": " name " has " FNR - start + 1 " lines, at most 80: divide it by what it shows"; bad = 1 }
            long[key] = 1
        }
        start = 0
    }
    END {
        for (key in may) if (!(key in long)) { print key " is not too long any more: take it from the list in tests/project/lengths.sh"; bad = 1 }
        exit bad
    }' ./*.[ch] ./*/*.[ch]
