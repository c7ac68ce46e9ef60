#!/bin/sh
# One room is enough alone: room.sh SOURCE_DIR WORK_DIR ROOM CMAKE
# Writes the header of that room and the rooms it needs, compiles it at the strict flags as C and as C++, and runs a small host.
set -u
source=$1 work=$2 room=$3 cmake=$4
rm -rf "$work" && mkdir -p "$work" || exit 1
"$cmake" "-DROOMS=$room" "-DOUTPUT=$work/gpump.h" -P "$source/gpump_impl/generate.cmake" || exit 1
strict="-Wall -Wextra -pedantic -Wconversion -Wsign-conversion -Werror"
status=0 compiled=0
for form in "gcc -x c -std=c99 -O1" "clang -x c -std=c99 -O0" "g++ -x c++ -std=c++11 -O0" "clang++ -x c++ -std=c++11 -O0"; do
    command -v "${form%% *}" >/dev/null || continue
    # shellcheck disable=SC2086  # lists of words
    if $form $strict -I"$work" "-DROOM_$room" "$source/tests/project/rooms/host.c" -o "$work/host" && "$work/host"; then
        compiled=$((compiled + 1))
    else
        echo "the room \"$room\" alone fails with: $form"
        status=1
    fi
done
[ $compiled -gt 0 ] || { echo "no compiler was found"; status=1; }
echo "$room alone: $compiled forms"
exit $status
