#!/bin/sh
# Every function of gpump.h that returns a gpump_result, called with NULL and 0 for all parameters: GPUMP_ERROR_ARGUMENT,
# as the rules in gpump.h promise. Functions marked Hot do not check their arguments, and are left out.
# Usage: null_calls.sh SOURCE WORK LIBRARY [COMPILER FLAGS]
set -eu
source=$1 work=$2 library=$3
shift 3
mkdir -p "$work"

# The declarations, one to a line, as TRY(name, arguments).
cat "$source"/gpump_impl/*/*.h | awk '
    /^\/\*/ { comment = "" }
    /^\/\*/, /\*\// { comment = comment $0 }
    /^GPUMP_(API|INLINE) gpump_result gpump_[a-z0-9_]*\(/, /[;{]/ {
        declaration = declaration $0 " "
        if ($0 !~ /[;{]/) next
        if (comment !~ /Hot/) print declaration
        declaration = comment = ""
    }' | sed 's/  */ /g; s/[;{].*//' | awk '{
        name = $3; sub(/\(.*/, "", name)
        parameters = $0; sub(/[^(]*\(/, "", parameters); sub(/\) *$/, "", parameters)
        count = split(parameters, list, / *, */)
        for (i = 1; i <= count; i++) {
            type = list[i]
            sub(/ *[a-z0-9_]*$/, "", type)
            list[i] = list[i] ~ /\*/ ? "NULL" : "ZERO(" type ")"
        }
        arguments = list[1]
        for (i = 2; i <= count; i++) arguments = arguments ", " list[i]
        print "    TRY(" name ", (" arguments "))"
    }' | sort -u >"$work/calls.h"
[ "$(wc -l <"$work/calls.h")" -ge 180 ] || { echo "null_calls: only $(wc -l <"$work/calls.h") functions found"; exit 1; }

cat >"$work/null_calls.c" <<'PROGRAM'
#include "gpump.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
static sigjmp_buf back;
static void crashed(int number) { siglongjmp(back, number); }
static const uint64_t zeros[64];
#define ZERO(type) (*(const type *)(const void *)zeros)
/* An array without entries may be NULL. */
static const char *const may[] = {"gpump_block_view_check"};
static int wrong, tried;
static void judge(const char *name, int result) {
    tried++;
    if (result == GPUMP_ERROR_ARGUMENT) return;
    for (size_t i = 0; i < sizeof may / sizeof *may; i++)
        if (!strcmp(name, may[i])) return;
    printf("%s: %s\n", name, gpump_result_name((gpump_result)result));
    wrong++;
}
#define TRY(name, arguments)                                    \
    if (sigsetjmp(back, 1))                                     \
        wrong++, printf("%s crashes when it is given NULL\n", #name); \
    else                                                        \
        judge(#name, name arguments);
int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    signal(SIGSEGV, crashed);
#include "calls.h"
    printf("%d functions, %d wrong\n", tried, wrong);
    return wrong != 0;
}
PROGRAM
"${@:-cc}" -I"$source" -I"$work" "$work/null_calls.c" "$library" -o "$work/null_calls"
"$work/null_calls"
