#!/bin/sh
# Compiles gpump.h in every way a host may: matrix.sh SOURCE_DIR WORK_DIR COMPILER c|c++ [syntax|weekly]
# Prints one line for each check that fails, and how many there were.
# Without a fifth argument only gcc optimises: its warnings about the flow of values need -O2, clang's warnings need no code, and g++
# shares gcc's optimiser. A check that asks only whether the text is accepted stops after the syntax. With fewer than all
# test cases (GPUMP_TEST_CASES below 1) nothing is optimised.
#   syntax   the implementation in the oldest and the newest standard, the declarations, and each public header alone: no code is made
#   weekly   each compiler at each level, in each standard, without assertions, and with the sanitizer (tests/project/weekly.sh)
set -u
source=$1 work=$2 compiler=$3 language=$4 depth=${5:-}
case $depth in '' | syntax | weekly) ;; *) echo "matrix.sh: no depth is called $depth (syntax, weekly)"; exit 2 ;; esac
command -v "$compiler" >/dev/null || { echo "$compiler is not installed: skipped"; exit 77; }
case $language in
c) first=c99 others="gnu99 c17" between=c11 suffix=c ;;
*) first=c++11 others="gnu++11 c++20" between=c++17 suffix=cc ;;
esac
[ "$depth" != weekly ] || others="$others $between"
strict="-Wall -Wextra -pedantic -Wconversion -Wsign-conversion -Werror"
rm -rf "$work" && mkdir -p "$work/flat" && cd "$work" || exit 1
checks=0 failures=0
check() { # check NAME COMMAND...: one check, silent when it passes
    name=$1
    shift
    checks=$((checks + 1))
    "$@" >log 2>&1 && return 0
    failures=$((failures + 1))
    echo "FAILED: $name: $*"
    sed 's/^/    /' log | head -20
    return 1
}
fails() { ! "$@"; }
cc="$compiler -x $language -std=$first"
stb=
for path in /usr/include /usr/local/include /opt/homebrew/include; do
    [ -f "$path/stb/stb_ds.h" ] && stb=$path/stb/stb_ds.h && break
done
[ -n "$stb" ] || stb=$(echo '#include <stb_ds.h>' | $cc -M - 2>/dev/null | tr ' ' '\n' | grep stb_ds.h | head -1)
[ -n "$stb" ] || { echo "stb_ds.h is not installed: skipped"; exit 77; }
cp "$stb" flat/stb_ds.h

# The implementation as one file, in each of its forms, at the strict flags.
cp "$source/gpump.h" .
printf '#define GPUMP_IMPLEMENTATION\n#include "gpump.h"\n' >all.$suffix
printf '#include "gpump.h"\n' >public.$suffix
printf '#define GPUMP_STATIC\n#define GPUMP_IMPLEMENTATION\n#include "gpump.h"\n' >static.$suffix
# No -I: gpump.h stands beside the file.
# What strict hosts add, for the part that every file of theirs sees.
more="-Wshadow -Wundef -Wcast-align -Wcast-qual -Wswitch-enum -Wfloat-equal -Wredundant-decls -Wwrite-strings"
[ "$language" = c ] && more="$more -Wstrict-prototypes -Wmissing-prototypes" || more="$more -Wold-style-cast"
texts() { # what is accepted as text
    check "strict without assertions" $cc $strict -DNDEBUG -fsyntax-only all.$suffix
    check "stricter, declarations only" $cc $strict $more -fsyntax-only public.$suffix
    for standard in $first $others; do
        check "strict $standard" $compiler -x $language -std=$standard $strict -fsyntax-only all.$suffix
    done
    for header in "$source"/gpump_impl/*/*.h; do # each public header alone, and what it includes
        case $header in */array.h | */array_end.h) continue ;; esac
        printf '#include "%s"\nextern int a_header_of_macros_declares_nothing;\n' "$header" >alone.$suffix
        check "$(basename "$header") alone" $cc $strict -I"$source/gpump_impl" -fsyntax-only alone.$suffix
    done
}
texts
case $depth in
weekly)
    for way in -O1 -O2 -O3 -Os -O2,-DNDEBUG -O1,-fsanitize=undefined; do
        check "strict $way" $cc $strict $(echo "$way" | tr , ' ') -c all.$suffix -o way.o
    done
    ;;
syntax)
    echo "$compiler as $language, $depth: $checks checks, $failures failed"
    [ $failures -eq 0 ]
    exit
    ;;
esac
[ "$compiler" = gcc ] && optimised=-O2 || optimised=-O0
inside=-O1
case ${GPUMP_TEST_CASES:-1} in 0.*) optimised=-O0 inside=-O0 ;; esac # the short form of the tests
check "strict" $cc $strict $optimised -c all.$suffix -o all.o
check "strict, stb_ds.h beside" $cc $strict -Iflat -fsyntax-only all.$suffix
check "strict, inside one file" $cc $strict $inside -c static.$suffix -o static.o
check "strict, inside one file, without programs" $cc $strict $inside -DGPUMP_NO_PROGRAM -c static.$suffix -o static_no_program.o
check "strict, declarations only" $cc $strict -c public.$suffix -o public.o

# Without programs gpump needs no stb_ds.h: here including one is an error.
mkdir -p trap && echo '#error "stb_ds.h was included"' >trap/stb_ds.h
check "without programs" $cc $strict -O0 -DGPUMP_NO_PROGRAM -Itrap -c all.$suffix -o no_program.o
check "the trap works" fails $cc -Itrap -fsyntax-only all.$suffix
check "declarations include no stb_ds.h" $cc $strict -Itrap -fsyntax-only public.$suffix

# No stb_ds.h anywhere: the message names the package. The other headers are empty stand-ins.
mkdir -p empty
for header in $(sed -n 's/^ *# *include *<\([a-z_/.0-9]*\)>.*/\1/p' gpump.h | grep -v stb_ds | sort -u); do
    mkdir -p "empty/$(dirname "$header")" && : >"empty/$header"
done
check "a missing stb_ds.h is an error" fails $cc -nostdinc -Iempty -E all.$suffix -o /dev/null
cp log missing
check "the message names the package" grep -q 'error.*libstb-dev.*GPUMP_NO_PROGRAM' missing

# A language that is too old is an error that names the ones that are new enough.
[ "$language" = c ] && old=c89 || old=c++98
check "$old is an error" fails $compiler -x $language -std=$old -fsyntax-only public.$suffix
cp log missing
check "the message names C99 and C++11" grep -q 'error.*C99 or C++11' missing

# 32-bit x86 without SSE: vectors must not be parts of a calling convention. The 64-bit headers do, but for one file that they lack.
if [ "$(uname -m)" = x86_64 ]; then
    mkdir -p wide32/gnu && : >wide32/gnu/stubs-32.h
    include=$(dirname "$(echo '#include <bits/libc-header-start.h>' | $compiler -x c -E - 2>/dev/null | sed -n 's/^# 1 "\(.*\)bits\/libc-header-start.h".*/\1x/p' | head -1)")
    check "strict -m32" $compiler -m32 -x c -std=c99 $strict -O0 -Iwide32 -isystem "$include" -c all.$suffix -o m32.o
fi
case $compiler in
clang) # the form of Microsoft's compiler, with stand-ins for the headers of Windows
    check "strict, as clang-cl" clang --driver-mode=cl --target=x86_64-pc-windows-msvc -fsyntax-only /W4 -WX /X /clang:-ffreestanding \
        /clang:-isystem"$source/tests/project/compile/windows" /clang:-isystem"$(clang -print-resource-dir)/include" -Iflat all.c
    ;;
gcc) # tcc knows no __has_include
    command -v tcc >/dev/null && check "tcc" tcc -w -c all.c -o tcc.o
    ;;
esac

# Symbols: only gpump*; nothing at all when static.
names() { nm -g --defined-only "$1" | awk '{print $NF}' | sed 's/^_Z[A-Z]*[0-9]*//; s/^_ZL*[0-9]*//'; }
for object in all.o no_program.o; do
    check "$object exports something" test -n "$(names $object)"
    check "$object exports only gpump*: $(names $object | grep -v '^gpump' | head -3)" test -z "$(names $object | grep -v '^gpump')"
done
for object in static.o static_no_program.o public.o; do
    check "$object exports nothing: $(names $object | head -3)" test -z "$(names $object)"
done
check "no reference to stb_ds" test -z "$(nm -u all.o | grep stbds)"

# Hosts with an stb_ds of their own.
# One room alone uses stb_ds, and GPUMP_STATIC lets the compiler drop what the host does not call; the first host and the two with an
# allocator have all rooms, and two are without GPUMP_STATIC.
program="-DGPUMP_STATIC -DGPUMP_ONLY_PROGRAM"
host() { # host NAME FLAGS... [-- LINK...]: compiles host.c, links and runs it
    arrangement=$1
    shift
    flags= link=
    while [ $# -gt 0 ]; do
        [ "$1" = -- ] && { shift; link=$*; break; }
        flags="$flags $1"
        shift
    done
    check "host: $arrangement: compile" $cc -O1 -I"$source" -I"$source/tests/project/compile" -DSTB_DS_PATH="\"$stb\"" $flags -c "$source/tests/project/compile/host.c" -o host.o &&
        check "host: $arrangement: link" $compiler host.o $link -o host && check "host: $arrangement: run" ./host
}
check "an stb_ds implementation" $compiler -x $language -std=$first -w -DNO_GPUMP -DSTB_DS_PATH="\"$stb\"" -c "$source/tests/project/compile/host.c" -o stb.o
host "no stb_ds of its own" -O0
host "implemented before" $program -DBEFORE=2
host "implemented after" $program -DAFTER=2
host "included before, implemented after" $program -DBEFORE=1 -DAFTER=2
host "included before, implemented in another file" $program -DBEFORE=1 -- stb.o
host "included after, implemented in another file" $program -DAFTER=1 -- stb.o
host "included twice" $program -DBEFORE=1 -DAFTER=1 -- stb.o
host "no short names" $program -DSTBDS_NO_SHORT_NAMES -DBEFORE=1 -DAFTER=1 -- stb.o
host "own allocator, before" -DGPUMP_STATIC -DOWN_ALLOCATOR -DBEFORE=2
host "own allocator, after" -DOWN_ALLOCATOR -DAFTER=2 -O0
host "inside one file" $program -DBEFORE=2 -DAFTER=1
host "without programs" -DGPUMP_STATIC -DGPUMP_NO_PROGRAM -DBEFORE=2
if echo 'int main(void){return 0;}' | $compiler -x $language - -lstb -o lstb 2>/dev/null && [ "$language" = c ]; then
    host "implemented in libstb" $program -DBEFORE=1 -- -lstb
fi

# Two files: one implements, both include, each of them twice.
printf '#include "gpump.h"\n#include "gpump.h"\n#include "use_gpump.h"\nint main(void) { return use_gpump(); }\n' >user.$suffix
printf '#include "gpump.h"\n#define GPUMP_IMPLEMENTATION\n#include "gpump.h"\n#include "gpump.h"\n' >twice.$suffix
check "two files: user" $cc $strict -I"$source/tests/project/compile" -c user.$suffix -o user.o
check "two files: implementer" $cc $strict -O0 -c twice.$suffix -o twice.o
check "two files: link" $compiler user.o twice.o -o two && check "two files: run" ./two

echo "$compiler as $language: $checks checks, $failures failed"
[ $failures -eq 0 ]
