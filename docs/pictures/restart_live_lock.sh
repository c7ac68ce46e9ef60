#!/bin/sh
# Draws docs/pictures/restart_live_lock.svg from what examples/restart_live_lock does now: restart_live_lock.sh BUILD [check]
# With "check" nothing is written, and another picture is an error.
set -u
here=$(dirname "$0")
program=$1/examples/restart_live_lock
picture=$here/restart_live_lock.svg
"$program" --svg >"${TMPDIR:-/tmp}/restart_live_lock.$$" || exit 1
if [ "${2:-}" = check ]; then
    cmp -s "${TMPDIR:-/tmp}/restart_live_lock.$$" "$picture" || { echo "$picture is old: sh $0 $1"; status=1; }
    rm -f "${TMPDIR:-/tmp}/restart_live_lock.$$"
    exit ${status:-0}
fi
mv "${TMPDIR:-/tmp}/restart_live_lock.$$" "$picture"
