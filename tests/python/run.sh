#!/bin/sh
# Installs examples/python as a user does and uses it: run.sh SOURCE_DIR BUILD_DIR WORK_DIR
# Exit status: 0 right, 1 wrong, 77 skipped: a package of Debian is missing.
set -u
source=$1 build=$2 work=$3
python=/usr/bin/python3
"$python" -c 'import cffi, numpy, setuptools, wheel, venv, sysconfig, os; assert os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))' 2>/dev/null ||
    { echo "SKIPPED: apt-get install python3-cffi python3-numpy python3-dev python3-venv python3-setuptools python3-wheel"; exit 77; }
rm -rf "$work" && mkdir -p "$work/source/examples" && cd "$work" || exit 1
cp -r "$source/examples/python" source/examples/python && cp "$source/gpump.h" source/ || exit 1 # pip writes beside what it installs
"$python" -m venv --system-site-packages venv || exit 1
CFLAGS=-O0 venv/bin/pip install -q --no-index --no-build-isolation ./source/examples/python || exit 1
export GPUMP_HEADER="$source/gpump.h" GPUMP_SOURCE="$source" MINIGPU="$build/examples/minigpu/minigpu" TBSIM="$build/examples/tbsim/tbsim"
status=0
venv/bin/python "$source/tests/python/test_gpump.py" || status=1
venv/bin/python "$source/tests/python/test_minigpu.py" || status=1
for program in context_size decision schedule; do
    echo "==== $program"
    venv/bin/python "$source/examples/python/programs/$program.py" || status=1
done
# A policy in Python has a place in the championship, and a package of another layout is refused in words.
library=$build/bench/libchampionship.so
if [ -f "$library" ]; then
    echo "==== championship"
    enter() { venv/bin/python "$1" "$library" "$source/bench/championship/machine.corpus" 2>&1; }
    enter "$source/examples/python/programs/championship.py" | grep '^| cautious | [0-9.]* |' ||
        { echo "WRONG: the policy in Python is not in the table"; status=1; }
    sed 's/    allowed, estimate = /    args.nosuch; &/' "$source/examples/python/programs/championship.py" >wrong.py
    enter wrong.py >wrong.txt
    grep -q '^| cautious | ended its process with status 1 in scene 1 (' wrong.txt && grep -q AttributeError wrong.txt ||
        { echo "WRONG: an exception of the policy in Python is not told"; cat wrong.txt; status=1; }
    sed 's/gpump.LAYOUT_VICTIM)/gpump.LAYOUT_VICTIM ^ 1)/' "$source/examples/python/programs/championship.py" >other.py
    enter other.py | grep 'the caller has layout .* of room victim' || { echo "WRONG: another layout was not refused"; status=1; }
fi
echo "==== README.md"
venv/bin/python "$source/tests/python/readme.py" "$source/examples/python/README.md" || status=1
# The notebooks by Jupyter where it is installed, as a reader runs them; else their cells alone.
if venv/bin/python -c 'import nbconvert, ipykernel' 2>/dev/null; then
    venv/bin/python -m ipykernel install --sys-prefix >/dev/null &&
        PYDEVD_DISABLE_FILE_VALIDATION=1 venv/bin/python -m nbconvert --to notebook --execute --output-dir executed \
            "$source"/examples/python/notebooks/*.ipynb 2>nbconvert.log || { cat nbconvert.log; status=1; }
    [ "$(grep -l '"execution_count": [1-9]' executed/*.ipynb | wc -l)" -eq 3 ] || { echo "WRONG: a notebook was not executed"; status=1; }
else
    echo "not tried: Jupyter (apt-get install jupyter-nbconvert python3-ipykernel)"
    venv/bin/python "$source/tests/python/notebooks.py" "$source"/examples/python/notebooks/*.ipynb || status=1
fi
exit $status
