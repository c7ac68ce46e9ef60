#!/bin/sh
# bench/reproduce knows every row of targets.csv, and the rows computed from the papers' tables are right:
# reproduce.sh PROGRAM TARGETS
set -u
status=0
listed=$("$1" --list | awk '{print $1}')
wanted=$(sed '/^#/d; /^id,/d; s/,.*//' "$2" "${2%/*}/added.csv")
[ "$listed" = "$wanted" ] || { echo "the rows listed are not those of $2 and added.csv"; status=1; }
for id in T.save T.resource T.occupancy S.occupancy L.occupancy A.cwsr.gfx1012 A.cwsr.gfx1100; do
    line=$("$1" --csv --only $id) || { echo "$id: exit status $?"; status=1; }
    echo "$line" | grep -q "^$id,.*,exact,ok\$" || { echo "$id: $line"; status=1; }
done
for id in T.exc.lbm T.local.output; do # rows of runs with faults and TLBs
    line=$("$1" --csv --short --only $id) || { echo "$id: exit status $?"; status=1; }
    echo "$line" | awk -F, -v id=$id '$1 == id && $(NF - 3) == "" { print id " has no value"; exit 1 }' || status=1
done
"$1" --only no.such.row >/dev/null 2>&1
[ $? -eq 2 ] || { echo "an unknown id is accepted"; status=1; }
refused() { # refused TEXT OPTION...
    text=$1
    shift
    said=$("$program" "$@" 2>&1)
    [ $? -eq 2 ] && echo "$said" | grep -qF -- "$text" || { echo "$*: $said"; status=1; }
}
program=$1
refused '--csv and --markdown' --only A. --csv --markdown
refused '--pictures /no/folder: No such file' --only A. --pictures /no/folder
refused "--set needs NAME=VALUE, at most 16 times, not 'speech_ms'" --only M.xs.f12 --set speech_ms
refused "no measured row has the condition 'speech'" --only M.xs.f12 --set speech=800
exit $status
