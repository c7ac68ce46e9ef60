/* mutate: writes a C file with one small, deliberate mistake, to find out whether the tests notice it.
 *
 *   mutate FILE.c                  prints every place at which a mistake can be made, one line each, separated by tabs:
 *                                  PLACE  LINE  FUNCTION  the line or statement as it stands  the same with the mistake
 *   mutate FILE.c PLACE OUT.c      writes FILE.c with the mistake of that place to OUT.c
 *
 * The mistakes: another comparison, another arithmetic, logical or bitwise operator, another constant, a condition
 * negated or without one of its parts, a guard or a statement left out, two statements swapped, a bound off by one,
 * another index, a statement that counts done twice, another field of the same type (of the structs in FILE.c and in
 * the headers beside it). Comments, strings, preprocessor lines, tables, assertions and file-scope declarations stay as
 * they are. Some mistakes do not compile, or compile to the same code; tests/mutate/run.sh passes over both. The first
 * line of OUT.c is a #line directive, so that assertions name the same place. Exit status: 0 done, 2 bad usage or a
 * file that cannot be read or written. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_SYMBOL, TOKEN_END } token_kind;
typedef struct token {
    size_t start, length;
    unsigned line;
    token_kind kind;
} token;

/* One possible mistake: `remove` characters at `start` become `text`. */
typedef struct mistake {
    size_t start, remove;
    size_t function; /* index of the token that names the function */
    unsigned line;
    char *text;
} mistake;

static char *source;
static size_t source_length;
static token *tokens;
static size_t token_count;
static mistake *mistakes;
static size_t mistake_count;
static size_t function; /* the one that find() is in */

static void *more(void *array, size_t count, size_t size) {
    if (count & (count - 1)) return array; /* grows at powers of two */
    array = realloc(array, (count ? 2 * count : 1) * size);
    if (!array) {
        fprintf(stderr, "mutate: out of memory\n");
        exit(2);
    }
    return array;
}

static int is_token(size_t i, const char *text) {
    return i < token_count && tokens[i].length == strlen(text) &&
           !memcmp(source + tokens[i].start, text, tokens[i].length);
}

/* Splits the source into words, numbers and symbols; comments, strings and preprocessor lines are passed over. */
static void split(void) {
    static const char *const symbols[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
                                          "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    size_t at = 0;
    unsigned line = 1;
    int line_start = 1;
    while (at < source_length) {
        char c = source[at];
        token t = {at, 1, line, TOKEN_SYMBOL};
        if (c == '\n')
            line++, line_start = 1, at++;
        else if (isspace((unsigned char)c))
            at++;
        else if (c == '#' && line_start) {
            while (at < source_length && (source[at] != '\n' || source[at - 1] == '\\')) line += source[at++] == '\n';
        } else if (c == '/' && source[at + 1] == '*') {
            const char *end = strstr(source + at + 2, "*/");
            size_t stop = end ? (size_t)(end - source) + 2 : source_length;
            while (at < stop) line += source[at++] == '\n';
        } else if (c == '"' || c == '\'') {
            for (at++; at < source_length && source[at] != c; at++) at += source[at] == '\\';
            at++, line_start = 0;
        } else {
            line_start = 0;
            if (isalpha((unsigned char)c) || c == '_') {
                t.kind = TOKEN_WORD;
                while (isalnum((unsigned char)source[at + t.length]) || source[at + t.length] == '_') t.length++;
            } else if (isdigit((unsigned char)c)) {
                t.kind = TOKEN_NUMBER;
                while (isalnum((unsigned char)source[at + t.length]) || source[at + t.length] == '.') t.length++;
            } else
                for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
                    if (!strncmp(source + at, symbols[i], strlen(symbols[i]))) {
                        t.length = strlen(symbols[i]);
                        break;
                    }
            tokens = (token *)more(tokens, token_count, sizeof *tokens);
            tokens[token_count++] = t;
            at += t.length;
        }
    }
}

static char *copy_of(const char *text, size_t length) {
    char *copy = (char *)calloc(1, length + 1);
    if (!copy) exit(2);
    memcpy(copy, text, length);
    return copy;
}
static void add(size_t start, size_t end, unsigned line, const char *text) {
    mistake m;
    memset(&m, 0, sizeof m);
    m.start = start;
    m.remove = end - start;
    m.line = line;
    m.function = function;
    m.text = copy_of(text, strlen(text));
    mistakes = (mistake *)more(mistakes, mistake_count, sizeof *mistakes);
    mistakes[mistake_count++] = m;
}
static void replace(size_t i, const char *text) {
    add(tokens[i].start, tokens[i].start + tokens[i].length, tokens[i].line, text);
}

/* The token behind the bracket that closes the one at i. */
static size_t behind_bracket(size_t i) {
    unsigned depth = 0;
    for (; i < token_count; i++) {
        if (is_token(i, "(") || is_token(i, "[") || is_token(i, "{")) depth++;
        if ((is_token(i, ")") || is_token(i, "]") || is_token(i, "}")) && !--depth) return i + 1;
    }
    return token_count;
}

/* Whether the token ends a value, so that an operator behind it has two operands. */
static int ends_value(size_t i) {
    static const char *const no_values[] = {"return", "sizeof", "case", "else"};
    if (tokens[i].kind == TOKEN_NUMBER || is_token(i, ")") || is_token(i, "]")) return 1;
    for (size_t k = 0; k < sizeof no_values / sizeof no_values[0]; k++)
        if (is_token(i, no_values[k])) return 0;
    return tokens[i].kind == TOKEN_WORD;
}

static void operators(size_t i) {
    static const char *const pairs[][2] = {
        {"<", "<="},  {"<", ">="},  {"<=", "<"},  {"<=", ">"},  {">", ">="},  {">", "<="}, {">=", ">"},
        {">=", "<"},  {"==", "!="}, {"!=", "=="}, {"&&", "||"}, {"||", "&&"}, {"+", "-"},  {"-", "+"},
        {"*", "+"},   {"/", "*"},   {"%", "/"},   {"&", "|"},   {"|", "&"},   {"^", "&"},  {"<<", ">>"},
        {">>", "<<"}, {"+=", "-="}, {"-=", "+="}, {"|=", "&="}, {"&=", "|="}, {"*=", "+="}};
    static const char *const steps[][2] = {{"++", "--"}, {"--", "++"}};
    if (tokens[i].kind != TOKEN_SYMBOL) return;
    for (size_t k = 0; i && k < sizeof pairs / sizeof pairs[0]; k++)
        if (is_token(i, pairs[k][0]) && ends_value(i - 1)) replace(i, pairs[k][1]);
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++)
        if (is_token(i, steps[k][0])) replace(i, steps[k][1]);
}

static void constants(size_t i) {
    char *end, text[32];
    unsigned long long value;
    if (tokens[i].kind != TOKEN_NUMBER) return;
    value = strtoull(source + tokens[i].start, &end, 0);
    while (end < source + tokens[i].start + tokens[i].length && strchr("uUlL", *end)) end++;
    if (end != source + tokens[i].start + tokens[i].length) return; /* a floating-point number */
    snprintf(text, sizeof text, "%lluu", value + 1);
    replace(i, text);
    if (value) {
        snprintf(text, sizeof text, "%lluu", value - 1);
        replace(i, text);
    }
}

static void conditions(size_t i) {
    size_t end;
    if ((!is_token(i, "if") && !is_token(i, "while")) || !is_token(i + 1, "(")) return;
    end = behind_bracket(i + 1);
    if (end >= token_count || end - (i + 1) > 200) return;
    add(tokens[i + 1].start, tokens[i + 1].start + 1, tokens[i].line, "(!");
    mistakes[mistake_count - 1].remove =
        tokens[end - 1].start - tokens[i + 1].start; /* up to the bracket that closes */
}

/* The semicolon of the statement that begins at i, an assignment, a step or a call; 0 when there is none. */
static size_t end_of_statement(size_t i) {
    size_t end = i;
    int acts = 0;
    if (!i || i >= token_count || tokens[i].kind != TOKEN_WORD) return 0;
    if (!is_token(i - 1, ";") && !is_token(i - 1, "{") && !is_token(i - 1, "}")) return 0;
    if (is_token(i, "return") || is_token(i, "for") || is_token(i, "if") || is_token(i, "while") ||
        is_token(i, "else") || is_token(i, "do") || is_token(i, "switch") || is_token(i, "case") ||
        is_token(i, "default"))
        return 0;
    if (i + 1 < token_count && (tokens[i + 1].kind == TOKEN_WORD || is_token(i + 1, "*") || is_token(i + 1, ":")))
        return 0; /* a declaration, or a label */
    while (end < token_count && !is_token(end, ";")) {
        if (is_token(end, "=") || is_token(end, "++") || is_token(end, "--") || is_token(end, "(")) acts = 1;
        if (tokens[end].length > 1 && source[tokens[end].start + tokens[end].length - 1] == '=') acts = 1;
        if (is_token(end, "{")) return 0;
        end = is_token(end, "(") || is_token(end, "[") ? behind_bracket(end) : end + 1;
    }
    return acts && end < token_count ? end : 0;
}

/* The text from token `first` to before token `end`, `behind` it, and the same again for another two tokens. */
static char *two_texts(size_t first, size_t end, const char *behind, size_t other_first, size_t other_end) {
    const size_t length = tokens[end].start - tokens[first].start, middle = strlen(behind),
                 other = tokens[other_end].start - tokens[other_first].start;
    char *text = (char *)calloc(1, length + middle + other + 1);
    if (!text) exit(2);
    memcpy(text, source + tokens[first].start, length);
    memcpy(text + length, behind, middle);
    memcpy(text + length + middle, source + tokens[other_first].start, other);
    return text;
}

/* The token of the name that the statement from i to `end` assigns to or steps, the last word outside brackets before
 * the operator; token_count: the statement only calls. */
static size_t assigned(size_t i, size_t end) {
    static const char *const operators[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
    size_t name = token_count;
    while (i < end) {
        for (size_t k = 0; k < sizeof operators / sizeof operators[0]; k++)
            if (is_token(i, operators[k])) return name;
        if (tokens[i].kind == TOKEN_WORD) name = i;
        i = is_token(i, "(") || is_token(i, "[") ? behind_bracket(i) : i + 1;
    }
    return token_count;
}
static int same_text(size_t a, size_t b) {
    return tokens[a].length == tokens[b].length &&
           !memcmp(source + tokens[a].start, source + tokens[b].start, tokens[a].length);
}
/* Whether the order of two statements can matter: one has the name that the other one assigns to, or one only calls. */
static int depend(size_t i, size_t end, size_t next, size_t next_end) {
    const size_t first = assigned(i, end), second = assigned(next, next_end);
    const size_t call = first == token_count ? i : next;
    if (first == token_count ||
        second == token_count) /* a call may do anything, but a macro's check or memset do not */
        return !isupper((unsigned char)source[tokens[call].start]) && !is_token(call, "memset") &&
               !is_token(call, "memcpy");
    for (size_t k = next; k < next_end; k++)
        if (same_text(k, first)) return 1;
    for (size_t k = i; k < end; k++)
        if (same_text(k, second)) return 1;
    return 0;
}

/* A statement left out; swapped with the one behind it; done twice, where it counts. */
static void statements(size_t i) {
    const size_t end = end_of_statement(i), next = end ? end_of_statement(end + 1) : 0;
    int counts = 0;
    if (!end) return;
    add(tokens[i].start, tokens[end].start, tokens[i].line, "");
    if (next && depend(i, end, end + 1, next))
        add(tokens[i].start, tokens[next].start, tokens[i].line, two_texts(end + 1, next, "; ", i, end));
    for (size_t k = i; k < end; k++)
        counts |= is_token(k, "++") || is_token(k, "--") || is_token(k, "+=") || is_token(k, "-=");
    if (counts) add(tokens[i].start, tokens[end].start, tokens[i].line, two_texts(i, end, "; ", i, end));
}

/* A guard: if (...) and a return, break or continue behind it. */
static void guards(size_t i) {
    size_t end, stop;
    if (!is_token(i, "if") || !is_token(i + 1, "(")) return;
    end = behind_bracket(i + 1);
    if (!is_token(end, "return") && !is_token(end, "break") && !is_token(end, "continue")) return;
    for (stop = end; stop < token_count && !is_token(stop, ";");)
        stop = is_token(stop, "(") || is_token(stop, "[") ? behind_bracket(stop) : stop + 1;
    if (stop < token_count && !is_token(stop + 1, "else")) add(tokens[i].start, tokens[stop].start, tokens[i].line, "");
}

/* A condition without the part before or behind an && or ||. */
static void parts(size_t i) {
    size_t first = i, end = i + 1;
    if (!i || (!is_token(i, "&&") && !is_token(i, "||"))) return;
    for (unsigned depth = 0; first; first--) {
        const size_t before = first - 1;
        if (is_token(before, ")") || is_token(before, "]")) depth++;
        if (is_token(before, "(") || is_token(before, "[")) {
            if (!depth) break;
            depth--;
        }
        if (depth) continue;
        if (is_token(before, "&&") || is_token(before, "||") || is_token(before, "?") || is_token(before, ":") ||
            is_token(before, "=") || is_token(before, ",") || is_token(before, ";") || is_token(before, "return") ||
            is_token(before, "{") || is_token(before, "}"))
            break;
    }
    while (end < token_count && !is_token(end, "&&") && !is_token(end, "||") && !is_token(end, "?") &&
           !is_token(end, ":") && !is_token(end, ",") && !is_token(end, ";") && !is_token(end, ")") &&
           !is_token(end, "]"))
        end = is_token(end, "(") || is_token(end, "[") ? behind_bracket(end) : end + 1;
    if (end >= token_count) return;
    add(tokens[first].start, tokens[i + 1].start, tokens[first].line, "");
    add(tokens[i].start, tokens[end].start, tokens[i].line, "");
}

/* Bounds that are one too small, an index with its lowest bit altered, and an assignment that forgets what was there.
 */
static void bounds(size_t i) {
    size_t end;
    if (is_token(i, "<") && i && ends_value(i - 1)) replace(i, "+ 1 <");
    if (is_token(i, "|=") || is_token(i, "+=")) replace(i, "=");
    if (i < 2 || !is_token(i, "[") || !ends_value(i - 1) || is_token(i + 1, "]")) return;
    if (tokens[i - 2].kind == TOKEN_WORD || is_token(i - 2, "*")) return; /* a declaration */
    end = behind_bracket(i) - 1;
    if (end >= token_count) return;
    add(tokens[end].start, tokens[end].start, tokens[end].line, " ^ 1u");
}

/* ---- fields of the same type ---- */

typedef struct field {
    char *type, *name;
    size_t body; /* of the struct; fields of one body lie one behind the other */
} field;
static field *fields;
static size_t field_count, bodies;

static void add_field(const char *type, size_t type_length, const char *name, size_t length) {
    field f;
    f.type = copy_of(type, type_length);
    f.name = copy_of(name, length);
    f.body = bodies;
    fields = (field *)more(fields, field_count, sizeof *fields);
    fields[field_count++] = f;
}

/* The fields of the struct whose tokens lie from i to its closing bracket: "TYPE a, b;", without pointers and arrays.
 */
static void fields_of(size_t i, size_t close) {
    bodies++;
    while (i < close) {
        size_t end = i, type_end;
        int plain = 1;
        while (end < close && !is_token(end, ";")) plain &= tokens[end].kind == TOKEN_WORD || is_token(end, ","), end++;
        for (type_end = i; type_end + 1 < end && tokens[type_end + 1].kind == TOKEN_WORD; type_end++) {}
        for (size_t k = type_end; plain && type_end > i && k < end; k++)
            if (tokens[k].kind == TOKEN_WORD)
                add_field(source + tokens[i].start, tokens[type_end].start - tokens[i].start, source + tokens[k].start,
                          tokens[k].length);
        i = end + 1;
    }
}
/* Lists the fields of all structs of the source, and counters: X(name, "unit", ...) of a table. */
static void find_fields(void) {
    for (size_t i = 0; i + 2 < token_count; i++) {
        if (is_token(i, "struct") && (is_token(i + 1, "{") || is_token(i + 2, "{"))) {
            const size_t open = is_token(i + 1, "{") ? i + 1 : i + 2, close = behind_bracket(open) - 1;
            fields_of(open + 1, close);
        }
    }
    for (const char *at = source; (at = strstr(at, "_STATISTICS(X)")); at++) { /* a macro: its lines are no tokens */
        const char *end = at, *x = at;
        bodies++;
        while (*end && (*end != '\n' || end[-1] == '\\')) end++;
        while ((x = strstr(x + 2, "X(")) != NULL && x < end) {
            const char *name = x + 2, *stop = name;
            while (isalnum((unsigned char)*stop) || *stop == '_') stop++;
            if (*stop == ',') add_field("counter", 7, name, (size_t)(stop - name));
        }
    }
}
static const char *other_field(size_t i) {
    for (size_t k = 0; k < field_count; k++) {
        if (!is_token(i, fields[k].name)) continue;
        for (size_t n = k + 1; n < field_count && fields[n].body == fields[k].body; n++)
            if (!strcmp(fields[n].type, fields[k].type)) return fields[n].name;
        for (size_t n = k; n-- > 0 && fields[n].body == fields[k].body;)
            if (!strcmp(fields[n].type, fields[k].type)) return fields[n].name;
    }
    return NULL;
}
static void other_fields(size_t i) {
    const char *other;
    if (i < 2 || tokens[i].kind != TOKEN_WORD || (!is_token(i - 1, "->") && !is_token(i - 1, "."))) return;
    other = other_field(i);
    if (other) replace(i, other);
}

static void find(void) {
    unsigned depth = 0;
    for (size_t i = 0; i < token_count; i++) {
        if (!depth && tokens[i].kind == TOKEN_WORD && is_token(i + 1, "(")) function = i;
        if (is_token(i, "{")) depth++;
        if (is_token(i, "}") && depth) depth--;
        if (i >= 2 && is_token(i, "=") && is_token(i + 1, "{")) { /* a table: its entries are data */
            i = behind_bracket(i + 1) - 1;
            continue;
        }
        if (!depth || is_token(i, "extern")) continue;
        if (is_token(i, "GPUMP_ASSERT")) { /* a check of the library's own, as the tests are */
            i = behind_bracket(i + 1) - 1;
            continue;
        }
        operators(i);
        constants(i);
        conditions(i);
        statements(i);
        guards(i);
        parts(i);
        bounds(i);
        other_fields(i);
    }
}

/* One line of text: white space at both ends is left out, and other runs of it become one blank. */
static void print_text(const char *text, size_t length, int *blank) {
    for (size_t i = 0; i < length; i++) {
        int space = isspace((unsigned char)text[i]) != 0;
        if (!space && *blank == 1) putchar(' ');
        if (!space) putchar(text[i]);
        *blank = space ? *blank != 2 : 0; /* 2: at the beginning */
        if (space && *blank == 0) *blank = 2;
    }
}

/* The three parts of the text that a mistake changes. */
typedef struct change {
    const char *before, *after;
    size_t kept; /* characters behind m->text that stay: the condition that is negated */
} change;
static change change_of(const mistake *m) {
    change c;
    int negates = !strcmp(m->text, "(!");
    c.before = negates ? "(!" : m->text;
    c.after = negates ? ")" : "";
    c.kept = negates ? m->remove : 0;
    return c;
}

static void list(void) {
    for (size_t i = 0; i < mistake_count; i++) {
        const mistake *m = &mistakes[i];
        change c = change_of(m);
        size_t first = m->start, last = m->start + m->remove;
        int blank = 2;
        while (first && source[first - 1] != '\n') first--;
        while (last < source_length && source[last] != '\n') last++;
        printf("%lu\t%u\t%.*s\t", (unsigned long)i, m->line, (int)tokens[m->function].length,
               source + tokens[m->function].start);
        print_text(source + first, last - first, &blank);
        putchar('\t');
        blank = 2;
        print_text(source + first, m->start - first, &blank);
        print_text(c.before, strlen(c.before), &blank);
        print_text(source + m->start, c.kept, &blank);
        print_text(c.after, strlen(c.after), &blank);
        print_text(source + m->start + m->remove, last - m->start - m->remove, &blank);
        putchar('\n');
    }
}

static int write_mutant(const char *name, const mistake *m, const char *out) {
    change c = change_of(m);
    FILE *file = fopen(out, "wb");
    if (!file) {
        perror(out);
        return 2;
    }
    fprintf(file, "#line 1 \"%s\"\n", name);
    fwrite(source, 1, m->start, file);
    fputs(c.before, file);
    fwrite(source + m->start, 1, c.kept, file);
    fputs(c.after, file);
    fwrite(source + m->start + m->remove, 1, source_length - m->start - m->remove, file);
    if (fclose(file)) {
        perror(out);
        return 2;
    }
    return 0;
}

/* Reads a file into `source` and splits it; 0: it cannot be read. */
static int read_source(const char *path) {
    FILE *file = fopen(path, "rb");
    long length;
    if (!file || fseek(file, 0, SEEK_END) || (length = ftell(file)) < 0 || fseek(file, 0, SEEK_SET)) {
        perror(path);
        return 0;
    }
    source = (char *)calloc(1, (size_t)length + 4);
    if (!source) return 0;
    source_length = fread(source, 1, (size_t)length, file);
    fclose(file);
    tokens = NULL;
    token_count = 0;
    split();
    return 1;
}

/* Lists the fields of the structs in the headers of the file's folder. */
static int read_headers(const char *path) {
    const char *slash = strrchr(path, '/');
    char pattern[4096];
    glob_t found;
    int ok = 1;
    snprintf(pattern, sizeof pattern, "%.*s*.h", slash ? (int)(slash - path + 1) : 0, path);
    if (glob(pattern, 0, NULL, &found)) return 1; /* none */
    for (size_t i = 0; ok && i < found.gl_pathc; i++) {
        ok = read_source(found.gl_pathv[i]);
        if (ok) find_fields();
    }
    globfree(&found);
    return ok;
}

int main(int argc, char **argv) {
    char *end;
    unsigned long place;
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: mutate FILE.c [PLACE OUT.c]\n");
        return 2;
    }
    if (!read_headers(argv[1]) || !read_source(argv[1])) return 2;
    find_fields();
    find();
    if (argc == 2) {
        list();
        return 0;
    }
    place = strtoul(argv[2], &end, 10);
    if (*end || !*argv[2] || place >= mistake_count) {
        fprintf(stderr, "mutate: %s has places 0 to %lu, not '%s'\n", argv[1], (unsigned long)mistake_count - 1,
                argv[2]);
        return 2;
    }
    return write_mutant(argv[1], &mistakes[place], argv[3]);
}
