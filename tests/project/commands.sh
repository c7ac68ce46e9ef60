#!/bin/sh
# Every command that a document shows as an indented or fenced line "build/..." runs and ends well: commands.sh SOURCE_DIR BUILD_DIR WORK_DIR
set -u
rm -rf "$3" && mkdir -p "$3" && cd "$3" || exit 1
for name in examples tests bench docs; do ln -s "$1/$name" "$name"; done # what a command writes beside them stays here
ln -s "$2" build
status=0 count=0
for document in "$1"/README.md "$1"/docs/*.md "$1"/examples/*/*.md "$1"/examples/*/*/*.md; do
    [ -f "$document" ] && sed -n 's/^ *\(build\/[a-z]*\/[^|#>]*\)\(#.*\)*$/\1/p' "$document"
done | sort -u >commands
while read -r command; do
    count=$((count + 1))
    sh -c "$command" >output 2>&1 </dev/null && continue
    echo "FAILED ($?): $command"
    tail -5 output
    status=1
done <commands
echo "$count commands of the documents ran"
[ $count -ge 8 ] && exit $status
