#!/bin/sh
# A sample of bench/every_instruction: no place ends wrong, each takes effect, shards part the places among them, and an
# interrupted run goes on from its log: every_instruction.sh PROGRAM
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" --shard 3/2 2>"$work/reason" && exit 1
grep -q 'needs I/N with I below N' "$work/reason" || { cat "$work/reason"; exit 1; }
for wrong in 5x -3 x 0; do
    "$1" --every "$wrong" saxpy >"$work/table" 2>"$work/reason" && exit 1
    grep -q 'every.*needs a whole number from 1' "$work/reason" || { echo "--every $wrong:"; cat "$work/reason"; exit 1; }
done
"$1" --shard 0/3x saxpy >"$work/table" 2>"$work/reason" && { echo "--shard 0/3x is taken"; exit 1; }
"$1" nosuch >"$work/table" 2>"$work/reason" && exit 1
grep -q 'nosuch: there is no kernel of that name' "$work/reason" || { cat "$work/reason"; exit 1; }
[ ! -s "$work/table" ] || { echo "a heading stands before the error"; exit 1; }
"$1" --every 4001 >"$work/all" || exit 1
for shard in 0 1 2; do "$1" --every 40 --shard $shard/3 --log "$work/log" saxpy || exit 1; done
cp "$work/log" "$work/whole"
sed -i '$d' "$work/log" # as if it had been interrupted
"$1" --every 40 --shard 2/3 --log "$work/log" saxpy || exit 1
cmp "$work/log" "$work/whole" || { echo "a run that goes on writes another log"; exit 1; }
"$1" --every 40 saxpy >"$work/saxpy" || exit 1
cat "$work/all" "$work/whole" "$work/saxpy" | awk -F, '
    $1 == "kernel" { file++; next }
    { places[file] += $8; if ($8 != $9 || $10) { print $0; bad = 1 } if (file == 1) kernels[$1] = 1 }
    END {
        for (k in kernels) n++
        if (n < 50 || places[1] < 150) { print n " kernels, " places[1] " places"; bad = 1 }
        if (places[2] != places[3] || !places[2]) { print "shards take " places[2] " places of " places[3]; bad = 1 }
        exit bad
    }'
