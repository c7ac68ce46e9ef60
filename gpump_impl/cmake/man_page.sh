#!/bin/sh
# Writes a manual page from what a program prints for --help: man_page.sh PROGRAM NAME VERSION "WHAT IT IS" [COMMAND...]
# Each COMMAND's own --help becomes a section. The text of --help is: lines that begin with "usage:" and those aligned below them, a
# term and its meaning two or more spaces apart, continued by lines that are indented further, headings that end in a colon, and prose.
set -eu
program=$1 name=$2 version=$3 what=$4
shift 4
# shellcheck disable=SC2016
to_roff='
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    sub(/^[.'\'']/, "\\\\\\&&", text)
    return text
}
function prose(text) {
    gsub(/\\/, "\\e", text)
    gsub(/ --/, " \\-\\-", text)
    sub(/^[.'\'']/, "\\\\\\&&", text)
    return text
}
function paragraph() { return begun++ ? ".PP\n" : "" } # the first of a section needs none
/^usage: / { usage = 1; sub(/^usage: /, "") }
usage && /^       / { sub(/^ +/, "") }
usage && /^[a-z]+ / && index($0, NAME) == 1 {
    at = match($0, /   +/)
    if (at && (begun = 1)) { print ".TP\n.B " escaped(substr($0, 1, at - 1)) "\n" prose(substr($0, at + RLENGTH)) }
    else print paragraph() ".B " escaped($0)
    next
}
{ usage = 0 }
/^exit status: / { sub(/^exit status: /, ""); begun = 1; print ".TP\n.B Exit status\n" prose($0); next }
/^[^ ].*:$/ { sub(/:$/, ""); print paragraph() ".I " escaped($0); next }
/^      +/ { sub(/^ +/, ""); print prose($0); next }
/^  [^ ]/ {
    sub(/^  /, "")
    at = match($0, /  +/)
    if (at && (begun = 1)) print ".TP\n.B " escaped(substr($0, 1, at - 1)) "\n" prose(substr($0, at + RLENGTH))
    else if (/^--/ && (begun = 1)) print ".TP\n.B " escaped($0)
    else { print (NR == last + 1 ? "" : paragraph()) prose($0); last = NR }
    next
}
NF { print paragraph() prose($0) }
'
echo ".\\\" Written by gpump_impl/cmake/man_page.sh from what $name --help prints."
echo ".TH $(echo "$name" | tr a-z A-Z) 1 \"\" \"gpump $version\" \"User Commands\""
printf '.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n' "$name" "$what"
"$program" --help | awk -v NAME="$name" "$to_roff"
for command; do
    echo ".SH $(echo "$name $command" | tr a-z A-Z)"
    "$program" "$command" --help | awk -v NAME="$name" "$to_roff"
done
