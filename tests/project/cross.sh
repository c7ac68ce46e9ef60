#!/bin/sh
# Runs the tests on machines of other byte order and width, by emulation: cross.sh s390x i386
#   s390x  64 bits, big-endian      i386  32 bits, little-endian
# Not part of CI; tests that start programs themselves are left out. It needs, on Debian, for each of them (here for s390x), and installs nothing itself:
#   dpkg --add-architecture s390x; apt-get update
#   apt-get install cmake ninja-build qemu-user gcc-s390x-linux-gnu g++-s390x-linux-gnu libc6-dev:s390x \
#     libcmocka-dev:s390x libyaml-dev:s390x libjansson-dev:s390x liblzma-dev:s390x libzstd-dev:s390x libstb-dev
# (for i386 the compiler is gcc-i686-linux-gnu). GPUMP_TEST_CASES scales the property tests.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || { echo "usage: cross.sh s390x|i386 ..." >&2; exit 2; }
failed=0
for machine; do
    case $machine in
    s390x) triple=s390x-linux-gnu emulator=qemu-s390x flags= ;;
    i386) triple=i686-linux-gnu emulator=qemu-i386 flags='-msse2 -mfpmath=sse -D_FILE_OFFSET_BITS=64' ;; # the x87 unit rounds doubles twice
    *) echo "cross.sh: unknown machine '$machine'" >&2; exit 2 ;;
    esac
    for tool in $triple-gcc $emulator; do
        command -v $tool >/dev/null || { echo "cross.sh: $tool is not installed; see the first lines of tests/project/cross.sh" >&2; exit 2; }
    done
    generator=
    command -v ninja >/dev/null && [ ! -f build-$machine/CMakeCache.txt ] && generator="-G Ninja"
    mkdir -p build-$machine
    # shellcheck disable=SC2086
    cmake -S . -B build-$machine $generator -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$machine \
        -DCMAKE_C_COMPILER=$triple-gcc -DCMAKE_CXX_COMPILER=$triple-g++ -DCMAKE_LIBRARY_PATH=/usr/lib/$machine-linux-gnu \
        -DCMAKE_C_FLAGS="$flags" "-DCMAKE_CROSSCOMPILING_EMULATOR=$emulator" \
        -DCMAKE_EXE_LINKER_FLAGS="-L/usr/lib/$machine-linux-gnu -Wl,-rpath-link,/usr/lib/$machine-linux-gnu" \
        -DGPUMP_TEST_CASES="${GPUMP_TEST_CASES:-0.05}" >build-$machine/build.log 2>&1 &&
        cmake --build build-$machine --parallel 2 >build-$machine/build.log 2>&1 || { tail -20 build-$machine/build.log; exit 1; }
    (cd build-$machine && ctest --output-on-failure --no-label-summary -LE 'compile|command' --timeout 900) || failed=1
    # Random decisions of every component, hashed: the same as here.
    gcc -std=c99 -O1 -I. tests/project/compile/decisions.c -o build-$machine/decisions_here && build-$machine/decisions_here >build-$machine/here.txt &&
        $triple-gcc -std=c99 -O1 $flags -I. tests/project/compile/decisions.c -o build-$machine/decisions_there &&
        $emulator build-$machine/decisions_there >build-$machine/there.txt && diff build-$machine/here.txt build-$machine/there.txt &&
        echo "$machine: the same decisions" || failed=1
done
exit $failed
