#!/bin/sh
# Installs the build into a temporary DESTDIR, moves the tree, and uses the tools from there: install.sh CMAKE BUILD WORK SOURCE
set -u
cmake=$1 build=$2 work=$3 source=$4
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 1
fail() {
    echo "$*" >&2
    exit 1
}
DESTDIR=$work/staged "$cmake" --install "$build" --prefix /opt/gpump >install.log 2>&1 || { cat install.log; exit 1; }
mv staged/opt/gpump moved || fail "nothing was installed below /opt/gpump"
[ -x moved/bin/minigpu ] && [ -x moved/bin/tbsim ] || fail "the tools are not installed"
grep -l "$source" moved/share -r | head -3 | grep . && fail "the files above name where they were built"

# Manual pages: every option that --help names is in them, and a reader of manual pages finds nothing wrong.
for tool in minigpu tbsim; do
    page=$(find moved -name $tool.1)
    [ -s "$page" ] || fail "$tool has no manual page"
    for command in "" $(moved/bin/$tool --help | sed -n '/^Without/,$d; s/^  \([a-z]*\) .*/\1/p'); do
        # shellcheck disable=SC2086
        for option in $(moved/bin/$tool $command --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
            sed 's/\\-/-/g' "$page" | grep -q -e "^.B $option" || fail "$tool.1 has no $option ($tool $command --help has)"
        done
    done
    grep -n -e '\.md' -e '\.h\b' -e 'examples/' -e 'docs/' "$page" && fail "$tool.1 names files that are not installed"
    [ -s moved/share/bash-completion/completions/$tool ] && [ -s moved/share/zsh/site-functions/_$tool ] || fail "$tool has no completion"
    bash -n moved/share/bash-completion/completions/$tool || fail "bash cannot read the completion of $tool"
    if command -v zsh >/dev/null; then zsh -n moved/share/zsh/site-functions/_$tool || fail "zsh cannot read that of $tool"; fi
    if command -v mandoc >/dev/null; then
        mandoc -Tlint -Wwarning "$page" | grep -v 'missing date' | grep . && fail "mandoc finds the above in $tool.1"
    fi
    if command -v man >/dev/null && command -v groff >/dev/null; then
        MANWIDTH=80 man --warnings -l "$page" 2>warnings >shown || { cat warnings; fail "man cannot show $tool.1"; }
        [ ! -s warnings ] || { cat warnings; fail "groff warns of $tool.1"; }
        grep -q '^NAME' shown || fail "man shows nothing of $tool.1"
    fi
done

# The tools find what they bring along beside themselves, not in the source tree.
moved/bin/minigpu demo --html page.html >shown 2>&1 || { cat shown; fail "the demo does not run"; }
grep -q "moved/.*/demo.yaml" shown || fail "the demo is not the installed one"
[ -s page.html ] || fail "the demo wrote no page"
moved/bin/minigpu policies --kernel bfs_2 --requests 1 --deadline-us 5 --victims switch >shown 2>&1 || { cat shown; fail "policies does not run"; }
rm -r moved/share/gpump/minigpu/kernels/bfs_2
moved/bin/minigpu policies --kernel bfs_2 --requests 1 --deadline-us 5 --victims switch >shown 2>&1 && fail "policies: not the installed kernels"
moved/bin/tbsim run moved/share/gpump/tbsim/workloads/figure_5_1.yaml --schedule ppq >shown 2>&1 || { cat shown; fail "tbsim does not run"; }
: >moved/share/gpump/data/tanasic_table_5_2.csv
moved/bin/tbsim sweep --workloads 1 --quiet >shown 2>&1 && fail "tbsim reads another Table 5.2 than the installed one"
grep -q "gpump/data/tanasic_table_5_2.csv: no rows" shown || { cat shown; exit 1; }

# CUDA programs are compiled and run from there; those of nvcc find the library by either name.
if [ -x moved/bin/minigpu-cc ]; then
    (PATH=$work/moved/bin:$PATH && minigpu-cc moved/share/gpump/cuda/two_streams.cu -o two_streams) || fail "minigpu-cc fails"
    ldd two_streams | grep -q "$work/moved/.*libminigpu_cudart.so" || { ldd two_streams; fail "another run-time library"; }
    ./two_streams >shown 2>&1 && grep -q ' right' shown || { cat shown; fail "two_streams does not run"; }
    for version in 12 13; do
        [ -s "$(find moved -path "*/nvcc/libcudart.so.$version")" ] || fail "libcudart.so.$version is not installed"
    done
fi
rm -rf moved
echo "tools and manual pages are installed"
