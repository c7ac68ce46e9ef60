#!/bin/sh
# The constants of the Go example are those of gpump.h: go_names.sh SOURCE_DIR
# Exit status: 0 right, 1 wrong, 77 skipped: apt-get install python3-pycparser.
set -u
cd "$1" || exit 1
/usr/bin/python3 -c 'import pycparser' 2>/dev/null || { echo "SKIPPED: apt-get install python3-pycparser"; exit 77; }
/usr/bin/python3 examples/go/generate.py gpump.h | cmp - examples/go/gpump/names.go ||
    { echo "WRONG: names.go is stale: python3 examples/go/generate.py gpump.h > examples/go/gpump/names.go"; exit 1; }
