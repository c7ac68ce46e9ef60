#!/bin/sh
# forms.sh LIBRARY: the plain and the traced form of an SM's code (machine/sm_form.h) call nothing of what they are said to lack. LIBRARY:
# libminigpu_core.a
set -eu
symbols=$(nm "$1" | awk '/\.o:$/ { plain = /^sm_(plain|traced)/ } plain && $1 == "U" { print $2 }')
[ -n "$symbols" ] || { echo "forms.sh: $1 has no plain form"; exit 1; }
if echo "$symbols" | grep -E '^(faults|errors|duet|corun|issue_queue|restart)_|^gpump_(replay|restart|rate)_'; then
    echo "forms.sh: the plain form calls that"
    exit 1
fi
