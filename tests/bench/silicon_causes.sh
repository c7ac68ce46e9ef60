#!/bin/sh
# Every condition (with N, every N-th) in the table "Causes, by experiment" of docs/silicon.md moves as many rows as the table says:
# silicon_causes.sh PROGRAM SOURCE_DIR [N]
set -u
file=$(mktemp) || exit 1
trap 'rm -f "$file"' EXIT
sed -n '/^## Causes, by experiment/,/^## Parameters/ s/^| \(M\.[^ ]*\) | [^|]* | `\([^`]*\)` | \([0-9]* of [0-9]*\) |.*/\1:\2:\3/p' \
    "$2/docs/silicon.md" >"$file"
[ "$(wc -l <"$file")" -ge 30 ] || { echo "the table of causes is not read"; exit 1; }
status=0 number=0
while IFS=: read -r series conditions inside; do
    number=$((number + 1))
    [ $((number % ${3:-1})) -eq 0 ] || continue
    options=
    for condition in $conditions; do options="$options --set $condition"; done
    # shellcheck disable=SC2086
    said=$("$1" --only "$series" $options </dev/null) || { echo "$series $conditions: exit status $?"; status=1; }
    echo "$said" | grep -q "^$series .* $inside inside" || { echo "$series $conditions: not $inside: $said"; status=1; }
done <"$file"
exit $status
