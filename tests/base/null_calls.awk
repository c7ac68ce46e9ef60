# Used by null_calls.c: awk [-v out=FILE] -f null_calls.awk gpump_impl/*/*.h prints one line ALL(function, (arguments)) for every function
# that returns a gpump_result, and ONE(function, parameter, (arguments)) for each of its pointers but a gpump_diag: this one is NULL, the
# others point to zeros. Functions marked Hot do not check their arguments, and are left out.
FNR == 1 { comment = declaration = "" }
/^\/\*/ { comment = "" }
/^\/\*/, /\*\// { comment = comment $0 }
/^GPUMP_(API|INLINE) gpump_result gpump_[a-z0-9_]*\(/, /[;{]/ {
    declaration = declaration $0 " "
    if ($0 !~ /[;{]/) next
    if (comment !~ /Hot/) calls(declaration)
    declaration = comment = ""
}
function calls(declaration,    name, count, list, field, good, i, skip) {
    gsub(/  */, " ", declaration)
    sub(/[;{].*/, "", declaration)
    name = declaration
    sub(/\(.*/, "", name)
    sub(/.* /, "", name)
    if (name in seen) return
    seen[name] = 1
    sub(/[^(]*\(/, "", declaration)
    sub(/\) *$/, "", declaration)
    count = split(declaration, list, / *, */)
    for (i = 1; i <= count; i++) {
        field[i] = list[i]
        sub(/.*[ *]/, "", field[i])
        good[i] = list[i]
        sub(/ *\**[a-z0-9_]*$/, "", good[i])
        if (list[i] !~ /\*/) good[i] = "ZERO(" good[i] ")"
        else if (list[i] ~ /char \*[^*]/) good[i] = "\"none\""
        else if (list[i] ~ /gpump_component /) good[i] = "&gpump_sm_component"
        else good[i] = "ZEROS"
    }
    for (skip = 0; skip <= count; skip++) {
        if (skip && (list[skip] !~ /\*/ || list[skip] ~ /gpump_diag /)) continue
        line = skip ? "ONE(" name ", " field[skip] ", (" : "ALL(" name ", ("
        for (i = 1; i <= count; i++)
            line = line (i > 1 ? ", " : "") (list[i] ~ /\*/ && (!skip || i == skip) ? "NULL" : good[i])
        print line "))" >(out ? out : "/dev/stdout")
    }
}
