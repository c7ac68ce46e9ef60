#!/bin/sh
# Opens every page on four screens: every_page.sh BUILD_DIR SOURCE_DIR WORK_DIR [PLAYGROUND_HTML]
# The pages of the site are looked at; the pages that pictures of docs are taken of are used, as screens.py does.
# Exit status: 0 right, 1 wrong, 77 skipped: no Chromium or no python3-markdown-it.
set -u
build=$1 source=$2 work=$3
browser=
for name in chromium chromium-browser google-chrome; do command -v $name >/dev/null 2>&1 && browser=$(command -v $name) && break; done
[ -n "$browser" ] || { echo "SKIPPED: there is no Chromium here (apt-get install chromium)"; exit 77; }
rm -rf "$work" && mkdir -p "$work/pages" || exit 1
sh "$source/tests/project/site.sh" "$source" "$work/site" ${4:+"$4"} || exit
sh "$source/docs/pictures/pages.sh" "$build" pages "$work/pages" || exit 1
timeout 1800 python3 "$source/tests/report/every_page.py" "$browser" "$work/browser" "$work/site" "$work"/pages/*.html
