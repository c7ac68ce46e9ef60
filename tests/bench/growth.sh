#!/bin/sh
# Doubled in size, every component and analysis takes at most 2.2 times the machine instructions: growth.sh SOURCE_DIR MICRO
set -u
command -v valgrind >/dev/null || exit 77
growth="sh $1/bench/growth.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
$growth --short "$2" >"$work/rows" || { cat "$work/rows"; exit 1; }
cat "$work/rows"
[ "$(wc -l <"$work/rows")" -ge 90 ] || { echo "90 rows or more were expected"; exit 1; }
# a case that grows above its bound fails
cp "$1/bench/growth.sh" "$work"
printf 'case,most,why\nsm_view_check,1.5,less than linear\n' >"$work/growth.csv"
out=$(sh "$work/growth.sh" --short "$2" sm_view_check) && { echo "a growth above its bound must fail"; exit 1; }
case $out in *"above 1.5"*) ;; *) echo "the row above its bound is not marked: $out"; exit 1 ;; esac
$growth "$2" no_such_case >/dev/null 2>&1
[ $? -eq 2 ] || { echo "a case that does not exist is an error"; exit 1; }
$growth /no/such/micro >/dev/null 2>&1
[ $? -eq 2 ] || { echo "a program that does not exist is an error"; exit 1; }
