#!/bin/sh
# Prints how many comments, and how many texts of at least four words, of each folder of C files have a word that leaves the reader to
# guess: "who", "what is", "those that", a thing that wants, pays or is told, a sentence that begins with "It" or "They". Fails where a
# folder has more than eight in a hundred. --list prints each of them in front of the counts.
# Usage: words.sh SOURCE [--list] [FOLDER...]
cd "$1" || exit 2
shift
[ "$1" = --list ] && list=1 && shift
for top in "${@:-examples/minigpu}"; do find "$top" -name '*.[ch]' -o -name '*.def'; done | LC_ALL=C sort |
    LC_ALL=C xargs awk -v list="${list:-0}" '
    BEGIN {
        words = "who|whom|what (is|are|it|they|has)|those (that|who)|goes away|go away|went away|(is|are) told|told to|comes? back|came back"
        words = words "|has to be out|hurry|hurries|wants?|wanted|wish|wishes|believes?|pays?|paid|nobody|everybody|meant to"
        words = "(^|[^a-z0-9_`-])(" words ")([^a-z0-9_`-]|$)"
        begin = "(^|[.;] +)(it|they) "
    }
    # One comment or text has ended.
    function done(kind, text,   plain) {
        plain = tolower(text)
        gsub(/[ \t]+/, " ", plain)
        sub(/^ /, "", plain)
        if (kind == "text" && plain !~ /[a-z][a-z]+[^a-z]+[a-z][a-z]+[^a-z]+[a-z][a-z]+[^a-z]+[a-z][a-z]+/) return
        seen[kind, folder]++
        if (plain !~ words && plain !~ begin) return
        found[kind, folder]++
        if (list) print FILENAME ":" FNR ": " kind ": " plain
    }
    function flush() {
        if (text != "") done("text", text)
        if (lines != "") done("comment", lines)
        text = lines = ""
    }
    FNR == 1 {
        flush()
        folder = FILENAME
        sub(/\/[^\/]*$/, "", folder)
        if (folder ~ /\/kernels\//) sub(/\/kernels\/.*/, "/kernels", folder)
        if (!((folder) in folders)) { folders[folder] = 1; order[++count] = folder }
        inside = 0
    }
    {
        rest = $0
        if (inside) sub(/^ *\*( |$)/, "", rest)
        while (rest != "") {
            if (inside) {
                at = index(rest, "*/")
                if (!at) { block = block " " rest; break }
                done("comment", block " " substr(rest, 1, at - 1))
                inside = 0
                rest = substr(rest, at + 2)
                continue
            }
            if (!match(rest, /"([^"\\]|\\.)*"|'"'[^']*'"'|\/\*|\/\//)) {
                if (rest ~ /[^ \t]/ && text != "") { done("text", text); text = "" }
                if (rest ~ /[^ \t]/ && lines != "") { done("comment", lines); lines = "" }
                break
            }
            between = substr(rest, 1, RSTART - 1)
            token = substr(rest, RSTART, RLENGTH)
            if (between ~ /[^ \t]/) flush()
            rest = substr(rest, RSTART + RLENGTH)
            if (token == "/*") { flush(); inside = 1; block = "" }
            else if (token == "//") { lines = lines " " rest; break }
            else if (substr(token, 1, 1) == "\"") text = text substr(token, 2, length(token) - 2)
        }
        if (inside) next
    }
    END {
        flush()
        if (!count) { print "no C file was found"; exit 1 }
        for (i = 1; i <= count; i++) {
            folder = order[i]
            printf "%s: %d of %d comments, %d of %d texts\n", folder, found["comment", folder], seen["comment", folder],
                   found["text", folder], seen["text", folder]
            all += found["comment", folder]; of += seen["comment", folder]
            texts += found["text", folder]; of_texts += seen["text", folder]
            # A folder with few comments may have one.
            if ((found["comment", folder] > 1 && found["comment", folder] * 100 > 8 * seen["comment", folder]) ||
                (found["text", folder] > 1 && found["text", folder] * 100 > 8 * seen["text", folder])) {
                print folder ": more than 8 in a hundred: name the subject, and say what happens (words.sh SOURCE --list " folder ")"
                bad = 1
            }
        }
        printf "all: %d of %d comments (%.1f%%), %d of %d texts (%.1f%%)\n", all, of, 100 * all / of, texts, of_texts, 100 * texts / (of_texts ? of_texts : 1)
        exit bad
    }'
