#!/bin/sh
# Every command that a document shows as an indented or fenced line "build/..." runs and ends well:
# commands.sh SOURCE_DIR BUILD_DIR WORK_DIR [SECONDS]
# With SECONDS a command that has taken so many of processor time is stopped and counts as right: a word that the program does not know,
# or a file that is not there, is refused at once.
set -u
rm -rf "$3" && mkdir -p "$3" && cd "$3" || exit 1
for name in examples tests bench docs; do ln -s "$1/$name" "$name"; done # what a command writes beside them stays here
ln -s "$2" build
status=0 count=0 stopped=0 limit=${4:-unlimited}
for document in "$1"/README.md "$1"/docs/*.md "$1"/examples/*/*.md "$1"/examples/*/*/*.md; do
    [ -f "$document" ] && sed -n 's/^ *\(build\/[a-z]*\/[^|#>]*\)\(#.*\)*$/\1/p' "$document"
done | sort -u >commands
while read -r command; do
    count=$((count + 1))
    sh -c "ulimit -t $limit; $command" >output 2>&1 </dev/null
    code=$?
    case $code in
    0) continue ;;
    137 | 152) [ -z "${4:-}" ] || { stopped=$((stopped + 1)); continue; } ;;
    esac
    echo "FAILED ($code): $command"
    tail -5 output
    status=1
done <commands
echo "$count commands of the documents ran, $stopped of them for $limit s"
[ $count -ge 8 ] && exit $status
