#!/bin/sh
# Does the mutation runner tell a noticed mistake from an unnoticed one?  sh tests/mutate/sample.sh SOURCE WORK
# Copies the runner into a project of one file, with tests whose blind spots are known, and compares the answers. Then holds every
# entry of tests/mutate/equivalent.txt against the library: its line must stand there, with that mistake possible.
set -u
source=$1 work=$2
rm -rf "$work"
mkdir -p "$work/gpump_impl/memory" "$work/tests/memory" "$work/tests/base" || exit 2
cp -r "$source/tests/mutate" "$work/tests/"
: >"$work/gpump.h"
: >"$work/tests/test.h"
: >"$work/tests/memory/toy.h"
echo 'int toy_other;' >"$work/gpump_impl/memory/other.c"
cat >"$work/gpump_impl/memory/toy.c" <<'END'
int toy_largest(const int *values, int count) {
    int best = 0;
    for (int i = 1; i < count; i++)
        if (values[i] > values[best]) best = i;
    return values[best];
}
END
: >"$work/tests/mutate/equivalent.txt"
failed=0
check() { # check WHAT COMMAND...
    what=$1
    shift
    "$@" >/dev/null 2>&1 || { echo "FAILED: $what"; failed=1; }
}
answer() { # answer STATUS MUTATED-LINE: what the last run said about that mutant
    awk -F '\t' -v status="$1" -v line="$2" '$7 == line && $1 == status { found = 1 } END { exit !found }' "$work/build-mutate/results/toy"
}
run() { sh "$work/tests/mutate/run.sh" --fresh --jobs 2 gpump_impl/memory/toy.c >"$work/out" 2>&1; }

# A test that looks at everything kills all mistakes but two: >= finds another index of the same value, and to begin
# with 0 compares the first value with itself.
cat >"$work/tests/memory/toy.c" <<'END'
/* labels: unit */
int toy_largest(const int *values, int count);
int main(void) {
    const int up[3] = {1, 5, 9}, down[4] = {7, 3, 7, 2}, late[3] = {1, 2, 8};
    return toy_largest(up, 3) != 9 || toy_largest(down, 4) != 7 || toy_largest(up, 1) != 1 || toy_largest(up, 2) != 5 ||
           toy_largest(late, 3) != 8;
}
END
run
check "the exit status says that a mutant survived" test $? -eq 1
check "> is not <=" answer killed 'if (values[i] <= values[best]) best = i;'
check "the loop has an end" answer killed 'for (int i = 1; i <= count; i++)'
check "the condition is needed" answer killed 'if (!(values[i] > values[best])) best = i;'
check ">= survives" answer survived 'if (values[i] >= values[best]) best = i;'
check "a survivor is listed" grep -q 'toy.c:4: toy_largest: .*values.i. >= values' "$work/out"

# A second run in the same folder would overwrite the first one's programs.
refused=$(flock "$work/build-mutate/lock" sh "$work/tests/mutate/run.sh" gpump_impl/memory/toy.c 2>&1)
check "a second run in a folder is refused" test $? -eq 2
check "the refusal names the folder and the option" sh -c 'case $1 in *"$2/build-mutate"*--build*) ;; *) false ;; esac' - "$refused" "$work"

# Arguments make them equivalent.
cat >"$work/tests/mutate/equivalent.txt" <<'END'
toy.c toy_largest
- if (values[i] > values[best]) best = i;
+ if (values[i] >= values[best]) best = i;
Another index of the same value: the value returned is the same.

toy.c toy_largest
- for (int i = 1; i < count; i++)
+ for (int i = 0u; i < count; i++)
The first value is not larger
than itself.
END
run
check "an argument counts" test $? -eq 0
check "in the table" grep -q '^| toy.c | [0-9]* | [0-9]* | [0-9]* | 2 | 0 | 100 |$' "$work/out"

# An argument for a mutant that a test kills is wrong.
sed -i 's/^+ .*/+ if (values[i] <= values[best]) best = i;/' "$work/tests/mutate/equivalent.txt"
run
check "a wrong argument is found" grep -q 'kills what equivalent.txt calls equivalent' "$work/out"

# A test that looks at nothing kills nothing.
printf '/* labels: unit */\nint main(void) { return 0; }\n' >"$work/tests/memory/toy.c"
run
check "blind tests kill nothing" grep -q '^| toy.c | [0-9]* | [0-9]* | 0 |' "$work/out"

# Every kind of mistake is made.
${CC:-gcc} -std=c99 -O1 -o "$work/mutate" "$source/tests/mutate/mutate.c" || exit 2
cat >"$work/kinds.c" <<'END'
struct toy {
    int a, b;
};
int toy_kinds(struct toy *t, const int *values, int count) {
    int sum = 0;
    if (!t || count < 0) return 0;
    t->a = 1;
    t->b = t->a;
    for (int i = 0; i < count; i++) sum += values[i];
    t->a |= sum;
    t->b++;
    GPUMP_ASSERT(t->b > 3);
    return sum;
}
END
"$work/mutate" "$work/kinds.c" | cut -f 5 >"$work/kinds"
makes() { check "a mistake is made: $1" grep -qxF "$1" "$work/kinds"; }
makes 'if (!t ) return 0;'
makes 'if (count < 0) return 0;'
makes 'if (!(!t || count < 0)) return 0;'
makes ';' # the guard left out
makes 't->b = t->a; t->a = 1;'
makes 't->b = 1;'
makes 't->b = t->b;'
makes 'for (int i = 0; i + 1 < count; i++) sum += values[i];'
makes 'for (int i = 0; i < count; i++) sum += values[i ^ 1u];'
makes 'for (int i = 0; i < count; i++) sum = values[i];'
makes 't->a = sum;'
makes 't->b++; t->b++;'
makes 't->b--;'
check "an assertion stays as it is" sh -c "! grep -q ASSERT '$work/kinds'"

# The arguments about the library itself.
for file in "$source"/gpump_impl/*/*.c; do
    "$work/mutate" "$file" | awk -F '\t' -v file="$(basename "$file")" '{ print file " " $3 "\t" $4 "\t" $5 }'
done >"$work/places"
awk -f "$source/tests/mutate/report.awk" -v what=keys "$source/tests/mutate/equivalent.txt" >"$work/keys"
if grep -vxF -f "$work/places" "$work/keys"; then
    echo "FAILED: the arguments above are about lines that are not in the library"
    failed=1
fi
[ $failed -eq 0 ] || cat "$work/out"
exit $failed
