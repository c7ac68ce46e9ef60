#!/bin/sh
# A host and a library of different layouts: layout.sh SOURCE_DIR WORK_DIR CMAKE
# The library is built from headers in which one struct has a field more, a field less, or another order, and from one in which only
# comments and functions differ. The host is compiled with the header as it is. The linker refuses the first three and takes the last;
# where the linker is told not to look, the host is refused when it runs, and nothing is written.
set -u
source=$1 work=$2 cmake=$3
rm -rf "$work" && mkdir -p "$work" || exit 1
status=0
complain() { echo "$*"; status=1; }
rooms=-DGPUMP_ONLY_SM # what the host and the libraries compile

# next NAME SED: writes NAME.h, whose sm/sm.h is changed by a sed script, and NAME.o, the library of it
next() {
    name=$1
    rm -rf "$work/impl" && cp -r "$source/gpump_impl" "$work/impl"
    sed -i "$2" "$work/impl/sm/sm.h"
    cmp -s "$work/impl/sm/sm.h" "$source/gpump_impl/sm/sm.h" && complain "$name: the sed script changes nothing"
    "$cmake" "-DOUTPUT=$work/$name.h" -P "$work/impl/generate.cmake" || exit 1
    printf '#define GPUMP_IMPLEMENTATION\n#include "%s.h"\n' "$name" >"$work/$name.c"
    cc -std=c99 -O0 $rooms -I"$work" -c "$work/$name.c" -o "$work/$name.o" || exit 1
}
next more 's|^ *X(done, .*|    X(one_more, "blocks", "a counter that the host does not know") \\\n&|'
next less '/uint32_t clobbered; .*may never be flushed/{n;d;}'
next order '/uint32_t thread_slots; /{h;d;};/uint32_t registers;  *\/\* 32-bit/{G;}'
next same 's|^GPUMP_API gpump_result gpump_sm_config_from_gpu.*|/* Another comment. */\
GPUMP_API uint32_t gpump_sm_of_tomorrow(const gpump_sm *sm);\
&|'

cat >"$work/host.c" <<'END'
#include "gpump.h"
#include <stdio.h>
#include <string.h>
static uint64_t memory[4096], before[4096];
/* Exit status: 0 when a whole life passes; 3 when preset, init and adopt refuse by layout, and have written nothing. */
int main(void) {
    gpump_sm_config config, filled;
    gpump_sm *sm = NULL;
    gpump_sm_statistics counters;
    gpump_diag diag;
    char text[200];
    gpump_result results[3];
    memset(&config, 0x5a, sizeof config);
    memset(memory, 0x5a, sizeof memory);
    filled = config;
    memcpy(before, memory, sizeof memory);
    results[0] = gpump_preset(&gpump_sm_component, &config, "k20c", &diag);
    if (results[0]) {
        gpump_diag_text(&diag, text, sizeof text);
        puts(text);
    }
    results[1] = gpump_init(&gpump_sm_component, memory, sizeof memory, &config, &sm, NULL);
    results[2] = gpump_adopt(&gpump_sm_component, memory, sizeof memory, &config, &sm, NULL);
    if (results[0] == GPUMP_ERROR_LAYOUT && results[1] == GPUMP_ERROR_LAYOUT && results[2] == GPUMP_ERROR_LAYOUT)
        return !sm && !memcmp(memory, before, sizeof memory) && !memcmp(&config, &filled, sizeof config) ? 3 : 4;
    if (results[0] || results[1] || results[2]) return 5;
    return gpump_get_statistics(&gpump_sm_component, sm, &counters) || counters.placed;
}
END
# A file that calls functions of the SM and no verb.
cat >"$work/other.c" <<'END'
#include "gpump.h"
int executes(const gpump_sm *sm);
int executes(const gpump_sm *sm) { return gpump_sm_may_issue(sm, 0); }
END
for file in host other; do cc -std=c99 -Wall -Wextra -Werror -I"$source" $rooms -c "$work/$file.c" -o "$work/$file.o" || exit 1; done
# A file of the host that keeps all rooms.
cc -std=c99 -I"$source" -c "$work/other.c" -o "$work/all_rooms.o" || exit 1

number=$(sed -n 's/.*gpump_layout_sm_\([0-9a-f]*\)).*/\1/p' "$source/gpump_impl/base/layout.h")
for name in more less order; do
    theirs=$(nm "$work/$name.o" | sed -n 's/.* R gpump_layout_sm_//p')
    cc "$work/host.o" "$work/$name.o" -o "$work/host" 2>"$work/said" && complain "$name: host and library link"
    grep -q "gpump_layout_sm_$number" "$work/said" || complain "$name: the linker does not name the layout: $(cat "$work/said")"
    printf 'int executes(const void *sm);\nint main(void) { return executes(0); }\n' >"$work/main.c"
    cc "$work/main.c" "$work/other.o" "$work/$name.o" -o "$work/host" 2>"$work/said" && complain "$name: a file without verbs links"
    cc "$work/host.o" "$work/$name.o" "-Wl,--defsym=gpump_layout_sm_$number=0" -o "$work/host" || complain "$name: does not link with --defsym"
    said=$("$work/host"); code=$?
    [ $code -eq 3 ] || complain "$name: the host ends with status $code: $said"
    case $said in *"$number"*"$theirs"*) ;; *) complain "$name: both layouts ($number, $theirs) should be named: $said" ;; esac
done
cc "$work/host.o" "$work/other.o" "$work/same.o" -o "$work/host" || complain "same: another comment and another function do not link"
"$work/host" || complain "same: the host ends with status $?"
printf '#define GPUMP_IMPLEMENTATION\n#include "gpump.h"\n' >"$work/whole.c"
cc -fPIC -shared -std=c99 -O0 -I"$source" "$work/whole.c" -o "$work/libwhole.so" || exit 1
cc "$work/host.o" "$work/all_rooms.o" "$work/libwhole.so" -o "$work/host" && LD_LIBRARY_PATH=$work "$work/host" ||
    complain "files that keep different rooms do not link with a library of all rooms"
# A linker that drops unused sections looks all the same, where the compiler can mark the references.
if printf '#ifdef __has_attribute\n#if __has_attribute(retain)\nretain\n#endif\n#endif\n' | cc -E - 2>/dev/null | grep -q '^retain'; then
    sections='-std=c99 -O1 -ffunction-sections -fdata-sections'
    for file in other main; do cc $sections -I"$source" $rooms -c "$work/$file.c" -o "$work/$file.s.o" || exit 1; done
    for name in same more; do cc $sections -I"$work" $rooms -c "$work/$name.c" -o "$work/$name.s.o" || exit 1; done
    cc -Wl,--gc-sections "$work/main.s.o" "$work/other.s.o" "$work/same.s.o" -o "$work/host" || complain "same: does not link with --gc-sections"
    cc -Wl,--gc-sections "$work/main.s.o" "$work/other.s.o" "$work/more.s.o" -o "$work/host" 2>/dev/null && complain "more: links with --gc-sections"
fi
# A shared library is exchanged under the host.
cc -fPIC -shared -std=c99 -O0 -I"$work" $rooms "$work/more.c" -o "$work/libwhole.so" || exit 1
cc "$work/host.o" -L"$work" -Wl,--unresolved-symbols=ignore-all -lwhole -o "$work/host" && LD_LIBRARY_PATH=$work "$work/host" >/dev/null 2>&1 &&
    complain "a host runs with a shared library of another layout"
[ $status -eq 0 ] && echo "three other layouts are refused by the linker and when the host runs; other functions are not"
exit $status
