#!/bin/sh
# Makes the site of the documents and tests it: site.sh SOURCE_DIR WORK_DIR [PLAYGROUND_HTML]
# Exit status: 0 right, 1 wrong, 77 skipped: python3-markdown-it is missing.
set -u
source=$1 work=$2
python=python3 # Debian's, where another one lacks Debian's packages
"$python" -c "import markdown_it" 2>/dev/null || python=/usr/bin/python3
"$python" -c "import markdown_it" 2>/dev/null || { echo "SKIPPED: the site needs python3-markdown-it"; exit 77; }
rm -rf "$work"
"$python" "$source/docs/site/site.py" "$work" ${3:+"$3"} && "$python" "$source/tests/project/site.py" "$work" "$source"
