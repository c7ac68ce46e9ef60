# Used by run.sh: awk -f report.awk -v what=row|page|survivors|list|verdict equivalent.txt RESULTS; what=keys lists the entries.
# equivalent.txt: four lines each, separated by blank lines; lines that begin with # do not count:
#   FILE.c FUNCTION
#   - the line as it stands
#   + the line with the mistake
#   the argument, on one line or more
# RESULTS: a line about the run, then STATUS, program, place, line, function, original and mistake, separated by tabs.
BEGIN {
    FS = "\t"
}
FILENAME ~ /equivalent.txt$/ {
    if (/^#/) next
    if (/^$/) {
        state = 0
        next
    }
    state++
    if (state == 1) key = $0
    else if (state <= 3) key = key "\t" substr($0, 3)
    else argument[key] = (state == 4 ? "" : argument[key] " ") $0
    next
}
FNR == 1 {
    split($0, run, " ")
    path = run[1]
    file = path
    sub(/.*\//, "", file)
    next
}
$1 == "invalid" { next }
{
    tried++
    key = file " " $5 "\t" $6 "\t" $7
    if ($1 == "killed") {
        killed++
        if (key in argument) wrong = wrong "\n" path ":" $4 ": " $2 " kills what equivalent.txt calls equivalent"
        next
    }
    reason = key in argument ? argument[key] : ""
    if (reason != "") equivalent++
    else if (what == "survivors") printf "%s:%s: %s: %s   ->   %s\n", path, $4, $5, $6, $7
    if (what == "list" && reason == "") printf "\n%s %s\n- %s\n+ %s\n", file, $5, $6, $7
}
END {
    if (what == "keys")
        for (key in argument) print key
    percent = tried > equivalent ? int(100 * killed / (tried - equivalent)) : 100
    if (what == "row") {
        printf "| %s | %d | %d | %d | %d | %d | %s |\n", file, run[2], tried, killed, equivalent, tried - killed - equivalent,
            tried ? percent : "-"
    }
    if (what == "page")
        printf "| %s | %s | %d | %d | %d | %d | %s |\n", file, run[5], tried, killed, equivalent, tried - killed - equivalent,
            tried ? percent : "-"
    if (what == "verdict") {
        if (wrong != "") print substr(wrong, 2)
        exit percent < 95 || wrong != ""
    }
}
