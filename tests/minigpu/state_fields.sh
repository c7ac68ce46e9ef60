#!/bin/sh
# state_fields.sh SOURCE: the state of a part lies in the part's folder. A field of struct sm or struct machine that only one part uses
# is refused; what the tools print, what machine.c copies from the options and what is there for tests does not count.
# Usage: state_fields.sh SOURCE
cd "$1/examples/minigpu" || exit 2
LC_ALL=C awk '
    # The names of a declaration; comments are gone.
    function declare(text,   n, names, i, name) {
        if (match(text, /\(\*[a-z_0-9]+\)/)) { field[substr(text, RSTART + 2, RLENGTH - 3)] = struct; return }
        gsub(/\[[^\]]*\]/, "", text)
        n = split(text, names, ",")
        for (i = 1; i <= n; i++) {
            name = names[i]
            gsub(/[ \t*]+$/, "", name)
            sub(/.*[^a-z_0-9A-Z]/, "", name)
            if (name != "" && name !~ /unused$/) field[name] = struct
        }
    }
    FNR == 1 { comment = 0; struct = ""; text = "" }
    FILENAME == "state/state.h" {
        line = $0
        if (line ~ /^typedef struct (sm|machine) \{/) { struct = $3; text = ""; next }
        if (line ~ /^}/) struct = ""
        if (struct != "") {
            while (line != "") {
                if (comment) { at = index(line, "*/"); if (!at) break; line = substr(line, at + 2); comment = 0; continue }
                at = index(line, "/*")
                if (at) { text = text " " substr(line, 1, at - 1); line = substr(line, at + 2); comment = 1 } else { text = text " " line; break }
            }
            while ((at = index(text, ";")) > 0) { declare(substr(text, 1, at - 1)); text = substr(text, at + 1) }
        }
        if (struct == "") text = ""
    }
    {
        rest = $0
        folder = FILENAME
        sub(/\/[^\/]*$/, "", folder)
        if (FILENAME == "machine/machine.c" && rest ~ /= *(m->[a-z]+ && )?options->/) next
        while (match(rest, /->[a-z_0-9]+/)) {
            name = substr(rest, RSTART + 2, RLENGTH - 2)
            rest = substr(rest, RSTART + RLENGTH)
            if (folder ~ /^parts\//) { if (!((name, folder) in used)) { used[name, folder] = 1; parts[name]++; where[name] = folder } }
            else if (folder != "tools") core[name] = 1
        }
    }
    END {
        for (name in field) {
            fields++
            if (name in core || parts[name] != 1) continue
            print "state/state.h: field " name " of struct " field[name] " is used by " where[name] " alone: move the field there"
            bad = 1
        }
        if (fields < 150) { print "state_fields.sh found only " fields + 0 " fields in state/state.h"; bad = 1 }
        print "state_fields.sh: " fields " fields"
        exit bad
    }' state/state.h $(find . -name '*.[ch]' -not -path './kernels/*' -not -path './state/state.h' | sed 's|^\./||' | sort)
