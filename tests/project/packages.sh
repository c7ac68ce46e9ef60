#!/bin/bash
# Makes each package of examples/packages and uses it from a second project, without a network: packages.sh SOURCE [KIND...]
#   release   gpump.h alone with its checksum, compiled beside a program; the same commit gives the same bytes
#   meson     the wrap, by a Meson project
#   vcpkg     the port, by stand-ins for vcpkg's functions; the installed files, by a CMake project
#   conan     conan create where conan is installed, else only the syntax of the recipe
#   xmake     a project where xmake is installed, else only the syntax of the recipe where Lua is
#   debian    the packages by dpkg-buildpackage and lintian, unpacked into a folder; the library by pkg-config and CMake, minigpu, and
#             gpump for Python. Five minutes of processor time; some packages must be installed as root.
# Without a KIND all but debian. Exit status: 0 all right or not tried, 1 wrong, 2 usage, 77 skipped: nothing could be tried.
set -u
[ $# -ge 1 ] && source=$(cd "$1" && pwd) || { echo "usage: packages.sh SOURCE [KIND...]" >&2; exit 2; }
shift
kinds=${*:-release meson vcpkg conan xmake}
work=$(mktemp -d) && cd "$work" || exit 1
trap 'cd / && rm -rf "$work"' EXIT
release=$work/release
sh "$source/examples/packages/release.sh" "$release" || exit 77 # no git repository: a source package
version=$(sed -n 's/.*  gpump-\(.*\)\.tar\.gz$/\1/p' "$release/SHA256SUMS")
untried=77

has() { command -v "$1" >/dev/null 2>&1 || { echo "not tried: there is no $1"; return 1; }; }
consumer() { # consumer FOLDER: a second project
    mkdir -p "$1" && cp "$source/tests/project/consumers/consumer.c" "$source/tests/project/compile/use_gpump.h" "$1"
}
right() { # right PROGRAM...: prints the version
    for program; do [ "$("$program")" = "gpump $version" ] || { echo "WRONG: $program does not print gpump $version"; return 1; }; done
}
cmake_consumer() { # cmake_consumer PREFIX BUILD
    cmake -S "$source/tests/project/consumers/find_package" -B "$2" -DCMAKE_PREFIX_PATH="$1" -DGPUMP_WANTED="$version" -DCMAKE_BUILD_TYPE=Debug \
        >"$2.log" 2>&1 && cmake --build "$2" >>"$2.log" 2>&1 || { cat "$2.log"; return 1; }
    right "$2/programs/with_library" "$2/programs/with_header"
}

try_release() {
    consumer single && (cd "$release" && sha256sum --quiet -c SHA256SUMS) && cp "$release/gpump.h" single/ || return 1
    cc -std=c99 -Wall -Wextra -pedantic -DOWN_COPY -I single single/consumer.c -o single/program && right single/program || return 1
    sh "$source/examples/packages/release.sh" again >/dev/null && cmp "$release/SHA256SUMS" again/SHA256SUMS || return 1
    sh "$source/examples/packages/release.sh" again 2>/dev/null && { echo "WRONG: a release is overwritten"; return 1; }
    echo x >>again/gpump.h
    (cd again && sha256sum --quiet -c SHA256SUMS >/dev/null 2>&1) && { echo "WRONG: the checksum is right for another file"; return 1; }
    return 0
}
try_meson() {
    has meson && has ninja || return 77
    consumer wrapped && cp "$source/tests/project/consumers/meson/meson.build" wrapped/ && mkdir wrapped/subprojects &&
        cp -r "$release/meson/." wrapped/subprojects/ || return 1
    meson setup wrapped/build wrapped >meson.log 2>&1 && ninja -C wrapped/build >>meson.log 2>&1 || { cat meson.log; return 1; }
    right wrapped/build/with_library wrapped/build/with_header || return 1
    # Another archive than the one of the checksum is refused.
    consumer wrong && cp wrapped/meson.build wrong/ && mkdir wrong/subprojects && cp -r "$release/meson/." wrong/subprojects/ &&
        sed -i 's/^source_hash = ./source_hash = x/' wrong/subprojects/gpump.wrap || return 1
    meson setup wrong/build wrong >wrong.log 2>&1 && { echo "WRONG: meson takes another archive"; return 1; }
    grep -qi 'hash' wrong.log || { tail -n 5 wrong.log; return 1; }
}
try_vcpkg() {
    mkdir port && cmake -DPORT="$release/vcpkg/gpump/portfile.cmake" -DWORK="$work/port" -P "$source/tests/project/consumers/vcpkg.cmake" ||
        { cat port/log; return 1; }
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["version"] == sys.argv[2]' "$release/vcpkg/gpump/vcpkg.json" "$version" &&
        cmake_consumer "$work/port/packages" by_vcpkg || return 1
    echo "vcpkg: the port installs by stand-ins for vcpkg's functions, and its files are used"
    has vcpkg || return 77
    vcpkg install gpump --overlay-ports="$release/vcpkg"
}
try_conan() {
    python3 -m py_compile "$release/conan/conanfile.py" || return 1
    has conan || return 77
    conan create "$release/conan" --version "$version" --build missing
}
try_xmake() {
    for lua in luac5.4 luac5.3 luac; do
        command -v $lua >/dev/null 2>&1 && { $lua -p "$release/xmake/gpump/xmake.lua" || return 1; } && break
    done
    has xmake || return 77
    consumer by_xmake && cat >by_xmake/xmake.lua <<XMAKE && (cd by_xmake && xmake -y) && right by_xmake/build/*/*/*/consumer
includes("$release/xmake/gpump/xmake.lua")
add_requires("gpump $version")
target("consumer")
    set_kind("binary")
    add_files("consumer.c")
    add_packages("gpump")
XMAKE
}
try_debian() {
    has dpkg-buildpackage && has lintian || return 77
    dpkg-checkbuilddeps "$release/debian/control" 2>missing || { sed 's/^/not tried: /' missing; return 77; }
    cp "$release/gpump-$version.tar.gz" "gpump_$version.orig.tar.gz" && tar xf "gpump_$version.orig.tar.gz" &&
        cp -r "$release/debian" "gpump-$version/debian" || return 1
    # The sources as they would be uploaded, and the packages; by ccache where it is installed, whatever the folder is called.
    # Debian's own Python comes before any other.
    (cd "gpump-$version" && CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1 PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" dpkg-buildpackage -us -uc) \
        >debian.log 2>&1 || { tail -n 40 debian.log; return 1; }
    # The project has no address and no bug number of Debian's.
    lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs,bogus-mail-host,bogus-mail-host-in-debian-changelog ./*.changes || return 1
    for package in libgpump-dev minigpu python3-gpump; do dpkg -x ${package}_*.deb unpacked || return 1; done
    consumer by_debian
    PKG_CONFIG_PATH=$(echo "$work"/unpacked/usr/lib/*/pkgconfig)
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046  # a list of words
    cc by_debian/consumer.c $(pkg-config --cflags --libs gpump) -o by_debian/program && right by_debian/program &&
        cmake_consumer "$work/unpacked/usr" by_debian_cmake || return 1
    unpacked/usr/bin/minigpu demo >/dev/null && unpacked/usr/bin/tbsim run unpacked/usr/share/gpump/tbsim/workloads/figure_5_1.yaml --schedule ppq >/dev/null || return 1
    # The program of the README, by the package alone: nothing of the sources is on the path.
    PATH=$work/unpacked/usr/bin:$PATH PYTHONPATH=$work/unpacked/usr/lib/python3/dist-packages /usr/bin/python3 - "$version" <<'PYTHON'
import os
import sys
import gpump
from gpump import minigpu
assert gpump.__version__ == sys.argv[1] and gpump.__file__.startswith(os.environ['PYTHONPATH']), gpump.__file__
need = gpump.footprint(threads=256, registers=256 * 64, shared_bytes=16384)
assert gpump.gpu_occupancy(gpump.gpu.preset('h100'), need).blocks > 0
assert len(gpump.victim_decide.__doc__) > 100
kernels = os.path.join(os.path.dirname(minigpu.program('minigpu')), '../share/gpump/minigpu/kernels')
assert minigpu.run(os.path.join(kernels, 'saxpy/small.yaml'))['totals']['cycles'] > 0
PYTHON
}

status=0
for kind in $kinds; do
    case $kind in release | meson | vcpkg | conan | xmake | debian) ;; *) echo "packages.sh: no kind is called $kind" >&2; exit 2 ;; esac
    "try_$kind"
    case $? in
    0) echo "$kind: made and used"; untried=0 ;;
    77) echo "$kind: not tried, or only in part" ;;
    *) echo "WRONG: $kind"; status=1 ;;
    esac
done
[ $status -ne 0 ] || status=$untried
exit $status
