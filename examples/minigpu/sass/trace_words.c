#include "sass/trace_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int trace_words_fail(const line_reader *r, const char *format, ...) {
    va_list arguments;
    const uint64_t line = r->k->text ? trace_text_number(r->k->text) : 0;
    int length = line ? snprintf(r->error, TRACE_ERROR_BYTES, "%.300s:%" PRIu64 ":%zu: ", r->k->path, line,
                                 (size_t)(r->at - r->line) + 1)
                      : snprintf(r->error, TRACE_ERROR_BYTES, "%.300s: ", r->k->path);
    va_start(arguments, format);
    vsnprintf(r->error + length, TRACE_ERROR_BYTES - (size_t)length, format, arguments);
    va_end(arguments);
    length = (int)strlen(r->error);
    if (line && trace_text_is_cut(r->k->text))
        snprintf(r->error + length, TRACE_ERROR_BYTES - (size_t)length,
                 "; the file ends within this line: it is truncated");
    return -1;
}

void trace_words_skip_spaces(line_reader *r) {
    while (*r->at == ' ' || *r->at == '\t') r->at++;
}

/* Reads a whole number of a base, 10 or 16 (then with 0x or without), up to `most`. */
int trace_words_number(line_reader *r, uint32_t base, uint64_t most, const char *what, uint64_t *value) {
    const uint64_t one_more_fits = UINT64_MAX / 16 - 1;
    const char *first, *at;
    uint64_t read = 0;
    uint32_t digit;
    trace_words_skip_spaces(r);
    first = at = r->at;
    *value = 0;
    if (base == 16 && first[0] == '0' && (first[1] | 32) == 'x') at += 2;
    if (trace_words_digit(*at) >= base)
        return trace_words_fail(r, "%s is missing: a %s number must stand here", what,
                                base == 16 ? "hexadecimal" : "decimal");
    if (base == 16)
        for (; (digit = trace_words_digit(*at)) < 16 && read <= one_more_fits; at++) read = read << 4 | digit;
    else
        for (; (digit = trace_words_digit(*at)) < 10 && read <= one_more_fits; at++) read = read * 10 + digit;
    if (digit < base || read > most) return trace_words_fail(r, "%s is larger than %" PRIu64, what, most);
    *value = read;
    r->at = at;
    if (*at && *at != ' ' && *at != '\t' && *at != ',' && *at != ')')
        return trace_words_fail(r, "%s has a character that no number has", what);
    return 0;
}

int trace_words_signed(line_reader *r, const char *what, int64_t *value) {
    uint64_t amount;
    int negative;
    trace_words_skip_spaces(r);
    if ((negative = *r->at == '-')) r->at++;
    if (trace_words_number(r, 10, INT64_MAX, what, &amount)) return -1;
    *value = negative ? -(int64_t)amount : (int64_t)amount;
    return 0;
}

int trace_words_registers(line_reader *r, const char *what, uint32_t *count, uint32_t numbers[SASS_OPERANDS]) {
    static const char *const files[] = {"R", "UR", "P", "UP"}; /* the general registers first */
    uint64_t value;
    uint32_t i, file;
    if (trace_words_number(r, 10, SASS_OPERANDS, what, &value)) return -1;
    *count = (uint32_t)value;
    for (i = 0; i < *count; i++) {
        size_t length;
        trace_words_skip_spaces(r);
        length = strspn(r->at, "UPR");
        for (file = 0; file < 4 && (strlen(files[file]) != length || strncmp(r->at, files[file], length)); file++) {}
        if (file == 4)
            return trace_words_fail(r, "a register, R0 to R255, UR, P or UP with its number, must stand here");
        r->at += length;
        if (trace_words_number(r, 10, SASS_REGISTERS, "the register's number", &value)) return -1;
        numbers[i] = file ? SASS_REGISTERS : (uint32_t)value;
    }
    return 0;
}

int trace_words_opcode(line_reader *r, char opcode[40]) {
    size_t length;
    trace_words_skip_spaces(r);
    length = strcspn(r->at, " \t");
    if (!length || length > 39 || *r->at < 'A' || *r->at > 'Z')
        return trace_words_fail(r, "an opcode of at most 39 characters, such as IMAD.WIDE, must stand here");
    memset(opcode, 0, 40); /* it is hashed in words */
    memcpy(opcode, r->at, length);
    r->at += length;
    return 0;
}
