/* decisions: what is decided, line by line, beside what was decided when a change was last meant.
 *
 * A file holds the first lines as text and a hash of all of them. A test writes the same lines and compares: the first
 * line that differs is printed. With GPUMP_DECISIONS=write in the environment the file is written anew; with
 * GPUMP_DECISIONS=all the file gets every line, so that two versions can be compared beyond the lines that are kept. */
#ifndef TESTS_DECISIONS_H
#define TESTS_DECISIONS_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

typedef struct decisions {
    char *text; /* the lines that are kept */
    size_t length, capacity;
    uint64_t hash;
    uint32_t lines, kept_until; /* lines so far, and the number up to which they are kept */
} decisions;

static inline const char *decisions_mode(void) {
    const char *mode = getenv("GPUMP_DECISIONS");
    return mode ? mode : "";
}

/* Keeps the next `most` lines as text. */
static inline void decisions_keep(decisions *d, uint32_t most) {
    d->kept_until = strcmp(decisions_mode(), "all") ? d->lines + most : UINT32_MAX;
}

static inline decisions decisions_begin(uint32_t most) {
    decisions d = {NULL, 0, 0, GPUMP_HASH_SEED, 0, 0};
    decisions_keep(&d, most);
    return d;
}

/* Adds one line. */
__attribute__((format(printf, 2, 3))) static inline void decided(decisions *d, const char *format, ...) {
    char line[4096];
    va_list arguments;
    int length;
    va_start(arguments, format);
    length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && length < (int)sizeof line - 1);
    line[length++] = '\n';
    d->hash = gpump_hash_bytes(d->hash, line, (size_t)length);
    if (d->lines++ >= d->kept_until) return;
    if (d->length + (size_t)length + 1 > d->capacity) {
        d->capacity = 2 * d->capacity + sizeof line;
        d->text = (char *)realloc(d->text, d->capacity);
        assert_non_null(d->text);
    }
    memcpy(d->text + d->length, line, (size_t)length);
    d->length += (size_t)length;
    d->text[d->length] = 0;
}

static inline void decisions_write(const char *path, const decisions *d) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(d->text, 1, d->length, file);
    fprintf(file, "%" PRIu32 " lines, 0x%016" PRIx64 "\n", d->lines, d->hash);
    assert_int_equal(fclose(file), 0);
}

/* Prints the first line in which two texts differ. */
static inline void decisions_show(const char *path, const char *was, const char *is) {
    uint32_t line = 1;
    for (;; line++) {
        const size_t a = strcspn(was, "\n"), b = strcspn(is, "\n");
        if (a != b || memcmp(was, is, a) != 0) {
            printf("%s:%" PRIu32 ": decides otherwise\n  was: %.*s\n  is:  %.*s\n", path, line, (int)a, was, (int)b,
                   is);
            return;
        }
        if (!was[a] || !is[b]) break;
        was += a + 1;
        is += b + 1;
    }
    printf("%s: the kept lines are the same, a later one differs: GPUMP_DECISIONS=all writes every line; compare the "
           "file with that of the version before\n",
           path);
}

/* Compares with GPUMP_SOURCE_DIR/`name`, and frees the text. Returns 1 when something is decided otherwise. */
static inline int decisions_differ(decisions *d, const char *name) {
    static char was[1 << 20];
    char path[512], last[64];
    FILE *file;
    size_t length;
    int differ;
    snprintf(path, sizeof path, "%s/%s", GPUMP_SOURCE_DIR, name);
    if (*decisions_mode()) {
        decisions_write(path, d);
        free(d->text);
        return 0;
    }
    file = fopen(path, "rb");
    if (!file) fail_msg("%s cannot be opened", path);
    length = fread(was, 1, sizeof was - 1, file);
    fclose(file);
    was[length] = 0;
    snprintf(last, sizeof last, "%" PRIu32 " lines, 0x%016" PRIx64 "\n", d->lines, d->hash);
    differ = length != d->length + strlen(last) || memcmp(was, d->text, d->length) != 0 ||
             strcmp(was + d->length, last) != 0;
    if (differ) decisions_show(path, was, d->text);
    free(d->text);
    return differ;
}
#endif
