#!/bin/sh
# The scenes of the championship: a damaged corpus is refused, the scorer compiles and runs alone, a policy of one file
# appears in the table, wrong arguments are named, and a small corpus is recorded again bit for bit:
# championship.sh SOURCE_DIR CHAMPIONSHIP RECORDER
set -u
source=$1 program=$2 recorder=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
corpus=$source/bench/championship/train.corpus

"$program" --svg "$work/picture" "$corpus" >"$work/table" || fail "the committed corpus cannot be scored"
# Who knows the truth is a ring and not on the front: dual is on it, though the oracle is better on both axes.
grep -q 'fill="white" stroke="#1f77b4"/><text[^>]*>oracle<' "$work/picture" &&
    place=$(sed -n 's/.*cx="\([0-9.]*\)" cy="\([0-9.]*\)".*>dual<.*/\1 \2/p' "$work/picture") &&
    grep -q "<path.*[ML]$place" "$work/picture" || fail "the picture has no front"
for policy in dual chimera oracle random; do
    grep -q "^| $policy |" "$work/table" || fail "$policy is missing from the table"
done
# The search knows the truth, so no policy is better.
machine=$source/bench/championship/machine.corpus
"$program" --bounds --policy dual --policy oracle "$machine" >"$work/bounds" || fail "--bounds fails"
[ "$(grep '^| ' "$work/bounds" | sed -n 2p | cut -d' ' -f2)" = best ] || fail "a policy is better than the search"
grep -q '^| best-estimates |' "$work/bounds" || fail "--bounds lacks a search"

# Estimates, and decisions of policies that differ in estimates alone, are shared by policies and scenes. Every scene's
# price is that of an estimate and a decision for each.
several='--policy dual --policy chimera --policy oracle --policy dual-larger --policy chimera+'
for corpus_of in "$machine" "$corpus"; do
    "$program" $several --anew --csv "$work/anew.csv" "$corpus_of" >"$work/anew" &&
        "$program" $several --csv "$work/shared.csv" "$corpus_of" | cmp - "$work/anew" &&
        cmp "$work/anew.csv" "$work/shared.csv" || fail "what is shared changes a price"
done

# Damage: a byte changed, and the end cut off.
cp "$corpus" "$work/changed" && printf '\377' | dd of="$work/changed" bs=1 seek=1000 conv=notrunc 2>/dev/null
head -c 5000 "$corpus" >"$work/short"
for file in changed short; do
    "$program" --policy dual "$work/$file" >"$work/out" 2>&1
    [ $? -eq 2 ] && grep -q 'the hash differs' "$work/out" || fail "a damaged corpus was not refused: $file"
done

# The scorer alone, from gpump.h.
cc -std=gnu99 -O1 -I"$source" "$source/bench/championship/score.c" -o "$work/score" || fail "score.c does not compile alone"
"$work/score" "$corpus" >"$work/alone" && grep -q '^dual .* scenes$' "$work/alone" || fail "score.c alone does not score"
# It prices each SM of each decision; the championship prices an SM once for the same places and choices.
for policy in dual dual-larger exact joint chimera drain-then-switch flush; do
    score=$(awk -v policy=$policy '$1 == policy { print $3 }' "$work/alone")
    grep -q "^| $policy | $score |" "$work/table" || fail "score.c alone gives $policy another score: $score"
done
[ "$(cc -fpreprocessed -dD -E -P "$source/bench/championship/score.c" | grep -c .)" -le 300 ] || fail "score.c has over 300 lines of code"

# A policy in one file, as a library: the commands of the page.
mkdir "$work/new" && ln -s "$source/examples" "$source/gpump.h" "$work/new" && mkdir -p "$work/new/build/bench" &&
    ln -s "$program" "$work/new/build/bench/championship" || fail "no folder for a newcomer"
sed -n '/^## How to enter/,/^The file defines/s/^    //p' "$source/docs/championship.md" >"$work/commands"
[ "$(wc -l <"$work/commands")" -eq 3 ] || fail "docs/championship.md has other commands for an entry"
(cd "$work/new" && sh -e "$work/commands") | grep -q '^| patient |' || fail "the commands of docs/championship.md make no entry"
{ echo '#define GPUMP_IS_LINKED'
  sed 's/my_policy = {/championship_policy = {/' "$source/examples/policies/my_policy.c"; } >"$work/bare.c"
layout='const uint32_t championship_layout[2] = {GPUMP_LAYOUT_GPU, GPUMP_LAYOUT_VICTIM'
{ cat "$work/bare.c"; echo "$layout};"; } >"$work/mine.c"
{ cat "$work/bare.c"; echo "$layout + 1};"; } >"$work/other.c"
for file in bare mine other; do
    cc -std=gnu99 -O1 -shared -fPIC -DGPUMP_IMPLEMENTATION -DGPUMP_STATIC -I"$source" "$work/$file.c" -o "$work/$file.so" ||
        fail "the policy does not compile"
done
"$program" --policy dual --policy "$work/mine.so" "$corpus" | grep -q '^| hurry |' || fail "the policy is not in the table"
(cd "$work" && "$program" --policy mine.so "$machine") | grep -q '^| hurry | [0-9.]* | - |' || fail "a file without a folder, or without dual"

# A policy that crashes, does not end or ends its process has a row that says so, and the others have their table.
cat >"$work/bad.c" <<EOF
#include "gpump.h"
#include <stdlib.h>
static uint32_t bad(const gpump_victim_technique_args *args) {
    static int calls;
    if (++calls > 9000) switch (*getenv("ENDING")) {
        case 'c': *(volatile int *)0 = 1; break;
        case 'l': for (volatile int i = 0;;) {}
        case 'e': exit(0);
        case 'r': return 99;
    }
    return gpump_bits_lowest64(args->allowed);
}
const gpump_victim_policy championship_policy = {GPUMP_VICTIM_EVICTED, 7, {0, 0, 0}, "bad", "", NULL, bad, NULL, NULL};
$layout};
EOF
cc -std=gnu99 -O1 -shared -fPIC -DGPUMP_IMPLEMENTATION -DGPUMP_STATIC -I"$source" "$work/bad.c" -o "$work/bad.so" ||
    fail "the bad policy does not compile"
ends() { # HOW STATUS PATTERN
    ENDING=$1 "$program" --seconds 2 --policy dual --policy "$work/bad.so" --policy chimera --csv "$work/csv" "$machine" \
        >"$work/out" 2>&1
    [ $? -eq "$2" ] && grep -q "$3" "$work/out" || fail "a policy $1: $(cat "$work/out")"
    grep -q '^| chimera | [0-9.]* |' "$work/out" || fail "a policy $1: the others have no table"
    [ "$(grep -c ,chimera, "$work/csv")" -eq 144 ] || fail "a policy $1: the others are not in the CSV"
}
ends crashes 1 '^| bad | crashed: signal 11 in scene [0-9]* ('
ends loops 1 '^| bad | did not end within 2 s, in scene [0-9]* ('
ends exits 1 '^| bad | ended its process with status 0 in scene [0-9]* ('
ends returns_99 0 '^bad was refused in [0-9]* of the scenes.*none of the policy.s techniques'

# The agreement with requests that were simulated: six rows whose order is known, and what is missing.
cat >"$work/requests" <<'EOF'
kernel,request_cycle,policy,limit_us,start_cycles,wasted,idle,of_flushing,bytes_saved
a,1,flush,5,0,100,0,100,0
a,1,dual,5,0,10,0,100,0
a,1,drain,5,14000,0,0,100,0
b,2,flush,5,0,100,0,100,0
b,2,dual,5,0,20,0,100,0
b,2,drain,5,9000,0,20,100,0
EOF
printf 'policy,late,waste\nflush,0,1\ndual,0,0.5\ndrain,1,0.5\n' >"$work/scenes"
agreement="python3 $source/bench/championship/agreement.py"
$agreement "$work/scenes" "$work/requests" >"$work/out" || fail "agreement.py: $(cat "$work/out")"
grep -q '^| drain | 92.1 | 150.0 |' "$work/out" && grep -q '^2 requests of 2 kernels: rank correlation 0.50, ' "$work/out" ||
    fail "agreement.py: $(cat "$work/out")"
sed -i '/,flush,/d' "$work/requests"
$agreement "$work/scenes" "$work/requests" >"$work/out" 2>&1 && fail "agreement.py takes requests without flush"
grep -q 'with flush among them' "$work/out" || fail "agreement.py: $(cat "$work/out")"

# Numbers of the recorder.
for wrong in '--moments 2x' '--moments 1001' '--seed 0' '--every -1' '--shard 2/2' '--only nothing'; do
    "$recorder" --split train --seed 1 --parts "$work/none" --out "$work/none.corpus" $wrong >"$work/out" 2>&1
    [ $? -eq 2 ] && grep -qF -- "${wrong%% *} needs" "$work/out" || fail "championship_record $wrong: $(cat "$work/out")"
done

# Wrong arguments are named, and no output is a file that is read.
refused() { # SENTENCE ARGUMENT...
    sentence=$1; shift
    "$program" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] && grep -qF -- "$sentence" "$work/out" || fail "championship $*: $(cat "$work/out")"
}
cp "$corpus" "$work/kept"
refused 'there is no option "--bogus"' --bogus
refused 'a value is missing behind "--csv"' --csv
refused '--weight needs a number above 0, not "2x"' --weight 2x
refused 'there is no victim policy "nosuch"' --policy nosuch
refused 'docs/championship.md says how to build' --policy nosuch.so
refused '--seconds needs a number of 1 to 86400, not "0"' --seconds 0
refused "$work/kept" --csv "$work/kept" "$work/kept"
refused 'two outputs' --csv "$work/table" --svg "$work/table" "$corpus"
refused 'add this line to its file' --policy "$work/bare.so"
refused 'of room victim, the championship' --policy "$work/other.so"
cmp "$corpus" "$work/kept" || fail "a corpus was written over"

# The same seed gives the same bytes, also where the recorder goes on from parts.
[ -x "$recorder" ] || exit 0
record() { "$recorder" --split train --seed 5 --only hotspot --every 8 --moments 1 --out "$work/$@" 2>/dev/null; }
record one --parts "$work/parts" && record two --parts "$work/parts" && record three || fail "the recorder failed"
cmp "$work/one" "$work/two" && cmp "$work/one" "$work/three" || fail "the same seed gives other bytes"
[ "$(wc -c <"$work/one")" -gt 1000 ] || fail "nothing was recorded"

# The command for the whole, with one item of each split. A second call takes the items from the folder.
whole() { "$source/bench/championship/whole.sh" "$recorder" "$work/whole" --every 200 --moments 1 2>/dev/null; }
whole && mv "$work/whole/test.corpus" "$work/kept" && whole && cmp "$work/whole/test.corpus" "$work/kept" ||
    fail "whole.sh does not record"
"$program" --policy dual "$work"/whole/*.corpus | grep -q '^| dual |' || fail "the whole cannot be scored"
