#!/bin/sh
# Makes a static site of the documents, with the playground, that needs no network: build.sh [OUT_DIR]
# OUT_DIR is build-site. Installs missing packages, as examples/demo.sh does. Exit status: 0 made, 1 not, 2 packages are missing, or usage.
set -u
usage() { echo "build.sh: $1; usage: build.sh [OUT_DIR]" >&2; exit 2; }
case ${1:-} in -*) usage "there is no option $1" ;; esac
[ $# -le 1 ] || usage "one folder, not $#"
out=${1:-build-site}
source=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
. "$source/tests/packages.sh"
need_packages "make the site" python3 python3-markdown-it
sh "$source/examples/playground/build.sh" "${PLAYGROUND:-build-playground}" || exit 1
python=python3 # Debian's, where another one lacks Debian's packages
"$python" -c "import markdown_it" 2>/dev/null || python=/usr/bin/python3
"$python" "$source/docs/site/site.py" "$out" "${PLAYGROUND:-build-playground}/playground.html"
