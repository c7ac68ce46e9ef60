# Sourced by tests/run.sh, examples/demo.sh and .ci/run:  need_packages FOR NAME...
# Installs the Debian and Ubuntu packages of that list that are missing, and does nothing at all when none is. Without apt,
# or without root or sudo, it prints what is missing and exits with status 2.

# What each package is there for decides whether it is missing, so that tools installed by other means count.
package_is_there() {
    case $1 in
    gcc | cmake | clang | pkg-config) command -v "$1" >/dev/null 2>&1 ;;
    g++) command -v g++ >/dev/null 2>&1 && echo '#include <cstddef>' | g++ -x c++ -E - >/dev/null 2>&1 ;;
    make) command -v make >/dev/null 2>&1 || command -v ninja >/dev/null 2>&1 ;;
    libc6-dev) header_is_there stdio.h ;;
    libstb-dev) header_is_there stb/stb_ds.h || header_is_there stb_ds.h ;;
    libcmocka-dev) header_is_there setjmp.h stdarg.h stddef.h stdint.h cmocka.h ;;
    libyaml-dev) header_is_there yaml.h ;;
    libjansson-dev) header_is_there jansson.h ;;
    liblzma-dev) header_is_there lzma.h ;;
    libzstd-dev) header_is_there zstd.h ;;
    *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed' ;;
    esac
}
header_is_there() {
    for header; do echo "#include <$header>"; done | ${CC:-gcc} -E - >/dev/null 2>&1
}

need_packages() {
    purpose=$1
    shift
    missing=
    for package; do package_is_there "$package" || missing="$missing $package"; done
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then as_root=sudo; else as_root=none; fi
    fi
    if [ "$as_root" = none ] || ! command -v apt-get >/dev/null 2>&1; then
        echo "To $purpose, these packages are missing (names of Debian and Ubuntu):$missing" >&2
        echo "As root: apt-get install$missing" >&2
        exit 2
    fi
    echo "Installing what is missing to $purpose:$missing"
    # shellcheck disable=SC2086  # lists of words
    $as_root apt-get update -qq </dev/null &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing </dev/null >/dev/null || {
        echo "Installing failed. As root: apt-get install$missing" >&2
        exit 2
    }
}

# What every build needs.
BUILD_PACKAGES="gcc libc6-dev g++ make cmake libstb-dev libyaml-dev libjansson-dev liblzma-dev libzstd-dev"
# .ci/run installs six more: without python3-markdown-it the site of the documents is not made, without verilator the design of examples/verilator is not run, without chromium the test of pages is skipped, without python3 a part of it (tests/report/page.sh), without mandoc manual pages are not
# checked for form (tests/project/install.sh), and without gnuplot no curve is drawn again (docs/pictures/pages.sh).
TEST_PACKAGES="$BUILD_PACKAGES pkg-config libcmocka-dev clang"
# With these .ci/run also tests the Python package and its notebooks (tests/python/run.sh).
PYTHON_PACKAGES="python3-cffi python3-numpy python3-pandas python3-dev python3-venv python3-setuptools python3-wheel jupyter-nbconvert python3-ipykernel"
