#!/bin/sh
# bench/serving: serving.sh SERVING SERVING_TBSIM SOURCE
# A step is the sum of its measured operators, a prompt alone takes its step, waits are those of tbsim's blocks, docs/pictures/serving.csv
# is current, and wrong arguments are named.
serving=$1 tbsim=$2 source=$3
operators=$source/bench/data/serving_operators.csv
failed=0
complain() { echo "$1"; failed=1; }
near() { # near WHAT VALUE EXPECTED PERCENT
    awk -v v="$2" -v e="$3" -v p="$4" 'BEGIN { exit !(v != "" && e > 0 && 100 * (v - e) <= p * e && 100 * (e - v) <= p * e) }' ||
        complain "$1: $2, and not $3 within $4 percent"
}
step() { "$serving" --step "$1" | sed -n 's/^step,1,\([^,]*\),*$/\1/p'; }

# 2,048 tokens are a row of each operator; an output layer of 32,000 words lies between two measured widths.
sum=$(awk -F, '$1 == "H100" && $2 == "Llama-2-7b" && $5 == 2048 && $4 != "decode" { us = $8; layers = $3 == "emb" ? 1 : $3 == "add" ? 64 : 32; all += layers * us }
    $1 == "H100" && $2 == "gemm" && $5 == 1 { head[$3] = $8 }
    END { narrow = head["gemm_n16384_k4096"]; wide = head["gemm_n65536_k4096"]; print all + narrow + (wide - narrow) * 15616 / 49152 }' "$operators")
near "a prompt of 2,048 tokens" "$(step prefill:2048)" "$sum" 0.01
alone=$("$serving" --minutes 0.05 --rate 1 --way alone | tail -n 1 | cut -d, -f3) # the first request only: 374 tokens
near "the first prompt alone, ms" "$alone" "$(step prefill:374 | awk '{ print $1 / 1000 }')" 1

"$serving" --prompts batch >serving.$$
"$tbsim" "$operators" >tbsim.$$ || complain "tbsim did not run"
[ "$(wc -l <tbsim.$$)" = 3 ] || complain "tbsim did not run three ways"
while IFS=, read -r way median worst; do
    row=$(grep "^$way," serving.$$)
    near "$way, median wait in tbsim" "$median" "$(echo "$row" | cut -d, -f12)" 25
    near "$way, 99th percentile in tbsim" "$worst" "$(echo "$row" | cut -d, -f13)" 15
done <tbsim.$$
grep -q '^alone,,,,.*,0,,$' serving.$$ || complain "a batch has first tokens, or leaves a GPU that it has alone: $(tail -n 1 serving.$$)"
rm -f serving.$$ tbsim.$$

"$serving" --rate 1 | while read -r line; do
    grep -qxF "$line" "$source/docs/pictures/serving.csv" || echo "not in docs/pictures/serving.csv: $line"
done | grep . && complain "make it again: build/bench/serving > docs/pictures/serving.csv"

refuses() { # refuses WORD ARGUMENT...
    word=$1
    shift
    "$serving" "$@" >/dev/null 2>error.$$ && complain "accepted: $*"
    grep -qF -e "$word" error.$$ || complain "$* is refused without naming $word: $(cat error.$$)"
    rm -f error.$$
}
refuses "--rate -1" --rate -1
refuses "--rate" --rate
refuses "--speed" --speed 3
refuses "Mistral" --prefill Mistral
refuses "Atari" --device Atari
refuses "sideways" --way sideways
refuses "poems" --prompts poems
refuses "1:2" --command 1:2
refuses "decode:0:1" --step decode:0:1
"$serving" --help | grep -q "^usage: serving" || complain "--help does not help"
"$serving" --step prefill:2048 >/dev/full 2>/dev/null && complain "a full disk is not told"
exit $failed
