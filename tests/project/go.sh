#!/bin/sh
# The simulator in Go decides as the C library does, and it compiles with the present constants: go.sh SOURCE_DIR
# Exit status: 0 right, 1 wrong, 77 skipped: apt-get install golang-go python3-pycparser.
set -u
source=$(cd "$1" && pwd) || exit 1
command -v go >/dev/null 2>&1 || { echo "SKIPPED: there is no go (apt-get install golang-go)"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export GOCACHE="$work/cache" GOFLAGS=-mod=mod GO111MODULE=on
sh "$source/tests/project/go_names.sh" "$source" || exit 1
[ -z "$(gofmt -l "$source/examples/go")" ] || { echo "WRONG: gofmt would change: $(gofmt -l "$source/examples/go")"; exit 1; }
(cd "$source/examples/go" && go vet ./... && go build -o "$work/share" .) || exit 1
"$work/share" >"$work/said" || exit 1
cat "$work/said"
[ "$(grep -c 'all blocks have ended' "$work/said")" -eq 2 ] && grep -q 'by switch within' "$work/said" && grep -q '^ws ' "$work/said"
