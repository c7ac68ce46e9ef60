#!/bin/sh
# Records the whole of the championship on all processors, as train.corpus, test.corpus and machine.corpus in a folder:
#
#     bench/championship/whole.sh build/bench/championship_record whole
#
# Finished items stay in the folder, so that an interrupted recording goes on where it was. Further options are those of
# the recorder: `--every 5` takes a fifth of the items.
set -eu
[ $# -ge 2 ] || { echo "usage: whole.sh RECORDER FOLDER [OPTION...]" >&2; exit 2; }
recorder=$1 folder=$2
shift 2
processors=$(getconf _NPROCESSORS_ONLN)
pids=
trap 'kill $pids 2>/dev/null || :' EXIT # background processes of a shell ignore an interrupt
trap 'exit 130' INT TERM
mkdir -p "$folder/parts"
for split in train test machine; do
    record() { exec "$recorder" --split $split --seed 1 --moments 6 --parts "$folder/parts" --out "$folder/$split.corpus" "$@"; }
    for processor in $(seq 0 $((processors - 1))); do
        record "$@" --shard "$processor/$processors" &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid"; done
    pids=
    (record "$@")
done
