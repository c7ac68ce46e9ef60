#!/bin/sh
# One room is enough alone: room.sh SOURCE_DIR WORK_DIR ROOM CMAKE
# Two headers of that room and the rooms it needs, one written by the generator and one chosen by GPUMP_ONLY_<ROOM>, are compiled
# at the strict flags as C and as C++, and a small host runs.
set -u
source=$1 work=$2 room=$3 cmake=$4
rm -rf "$work" && mkdir -p "$work" || exit 1
"$cmake" "-DROOMS=$room" "-DOUTPUT=$work/gpump.h" -P "$source/gpump_impl/generate.cmake" || exit 1
strict="-Wall -Wextra -pedantic -Wconversion -Wsign-conversion -Werror"
status=0 compiled=0
only=-DGPUMP_ONLY_$(echo "$room" | tr a-z A-Z)
for form in "gcc -x c -std=c99 -O1 -I$work" "clang -x c -std=c99 -O0 $only -I$source" "g++ -x c++ -std=c++11 -O0 $only -I$source" \
    "clang++ -x c++ -std=c++11 -O0 -I$work"; do
    command -v "${form%% *}" >/dev/null || continue
    # shellcheck disable=SC2086  # lists of words
    if $form $strict "-DROOM_$room" "$source/tests/project/rooms/host.c" -o "$work/host" && "$work/host"; then
        compiled=$((compiled + 1))
    else
        echo "the room \"$room\" alone fails with: $form"
        status=1
    fi
done
# Both leave the same functions out.
for header in "-I$work" "$only -I$source"; do
    # shellcheck disable=SC2086
    cc -x c -std=c99 -O0 $header "-DROOM_$room" -c "$source/tests/project/rooms/host.c" -o "$work/host.o" && nm "$work/host.o" | awk '{ print $NF }' | sort >"$work/names"
    [ -f "$work/first" ] || cp "$work/names" "$work/first"
    cmp -s "$work/names" "$work/first" || { echo "GPUMP_ONLY_... and the generator choose other rooms for \"$room\":"; diff "$work/first" "$work/names" | head; status=1; }
done
[ $compiled -gt 0 ] || { echo "no compiler was found"; status=1; }
echo "$room alone: $compiled forms"
exit $status
