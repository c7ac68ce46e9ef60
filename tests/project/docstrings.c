/* labels: compile unit */
/* Every function of gpump.h has a comment directly above it, or above the first of a group without a blank line, that
 * names its parameters. Those that the map explains once for all need no mention: the object itself, diag, now, counts
 * and memory. */
#include "test.h"
#include <ctype.h>

static char *header;

static void read_header(void) {
    FILE *file = fopen(GPUMP_SOURCE_DIR "/gpump.h", "rb");
    long length;
    char *end;
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    header = (char *)malloc((size_t)length + 1);
    assert_non_null(header);
    assert_int_equal(fread(header, 1, (size_t)length, file), length);
    header[length] = 0;
    fclose(file);
    end = strstr(header, "#define GPUMP_IMPLEMENTATION_DONE");
    assert_non_null(end);
    *end = 0;
}

static int is_word(int c) { return isalnum(c) || c == '_'; }

/* Whether a word stands in text, up to end. */
static int names(const char *text, const char *end, const char *word, size_t length) {
    for (; text + length <= end; text++)
        if (memcmp(text, word, length) == 0 && !is_word(text[-1]) && !is_word(text[length])) return 1;
    return 0;
}

static int has(const char *text, const char *end, const char *part) {
    const char *found = strstr(text, part);
    return found && found < end;
}

static int explained_by_the_map(const char *word, size_t length) {
    static const char *const words[] = {"diag",  "now",    "capacity", "count", "memory",
                                        "bytes", "config", "preset",   "text"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0) return 1;
    return 0;
}

/* Names the parameters between two brackets that the comment does not; returns how many. */
static int check_parameters(const char *function, size_t function_length, const char *from, const char *to,
                            const char *comment, const char *comment_end) {
    int first = 1, missing = 0, is_object;
    while (from < to) {
        const char *end = (const char *)memchr(from, ',', (size_t)(to - from)), *last, *start;
        if (!end) end = to;
        for (last = end; last > from && !is_word(last[-1]); last--) {}
        for (start = last; start > from && is_word(start[-1]); start--) {}
        is_object = first && memchr(from, '*', (size_t)(start - from)) && has(from, start, "gpump_");
        if (!is_object && !(last - start == 4 && memcmp(start, "void", 4) == 0) &&
            !explained_by_the_map(start, (size_t)(last - start)) &&
            !names(comment, comment_end, start, (size_t)(last - start))) {
            printf("%.*s: the comment does not name %.*s\n", (int)function_length, function, (int)(last - start),
                   start);
            missing++;
        }
        first = 0;
        from = end + 1;
    }
    return missing;
}

/* Each public function has a docstring with all the parts that the project asks for. */
static void every_function_is_explained(void **state) {
    const char *at, *group_end = NULL, *comment = NULL, *comment_end = NULL;
    int functions = 0, wrong = 0;
    (void)state;
    read_header();
    for (at = strstr(header, "\nGPUMP_"); at; at = strstr(at, "\nGPUMP_")) {
        const char *line = ++at, *open, *close, *name, *end, *above;
        int depth = 0;
        if (strncmp(line, "GPUMP_API ", 10) != 0 && strncmp(line, "GPUMP_INLINE ", 13) != 0) continue;
        open = strchr(line, '(');
        close = strchr(open, ')');
        for (name = open; is_word(name[-1]); name--) {}
        end = strpbrk(close, ";{");
        if (*end == '{') { /* an inline function ends where its braces do */
            do {
                depth += (*end == '{') - (*end == '}');
                end++;
            } while (depth);
        } else
            end++;
        if (strncmp(name, "gpump_", 6) == 0) {
            functions++;
            for (above = line - 1; above > header && isspace((unsigned char)above[-1]); above--) {}
            if (memcmp(above - 2, "*/", 2) == 0 && line - above == 1) {
                comment_end = above;
                for (comment = above; memcmp(comment, "/*", 2) != 0; comment--) {}
            } else if (above != group_end || line - above != 1)
                comment = NULL;
            if (!comment || strncmp(comment, "/* ----", 7) == 0) {
                printf("%.*s has no comment\n", (int)(open - name), name);
                wrong++;
            } else
                wrong += check_parameters(name, (size_t)(open - name), open + 1, close, comment, comment_end);
        }
        group_end = end;
        at = end - 1;
    }
    free(header);
    printf("%d functions\n", functions);
    assert_true(functions > 200);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_function_is_explained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
