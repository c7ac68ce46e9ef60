/* trace_words: the words of one line of a trace: numbers, registers, opcodes. A wrong word is refused with the file,
 * the line and the column where it stands. */
#ifndef MINIGPU_TRACE_WORDS_H
#define MINIGPU_TRACE_WORDS_H

#include "sass/trace_reader.h"

/* A line that is being read. */
typedef struct line_reader {
    const trace_kernel *k;
    const char *line, *at; /* at: what has not been read yet */
    size_t length;         /* of the line */
    char *error;
} line_reader;

/* Writes the reason, with its place. Returns -1. */
int trace_words_fail(const line_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* These read one word each, after spaces. what: its name, for the error. They return 0, or -1 with the error. */
int trace_words_number(line_reader *r, uint32_t base, uint64_t most, const char *what, uint64_t *value);
int trace_words_signed(line_reader *r, const char *what, int64_t *value);
/* numbers: of the general registers, R; SASS_REGISTERS for the uniform registers and predicates that version 6 may
 * name. */
int trace_words_registers(line_reader *r, const char *what, uint32_t *count, uint32_t numbers[SASS_OPERANDS]);
int trace_words_opcode(line_reader *r, char opcode[40]);
void trace_words_skip_spaces(line_reader *r);

/* Returns the value of a digit; 16 and more: it is none. */
static inline uint32_t trace_words_digit(char c) {
    const uint32_t decimal = (uint32_t)(uint8_t)c - '0', letter = ((uint32_t)(uint8_t)c | 32) - 'a';
    return decimal < 10 ? decimal : letter < 6 ? letter + 10 : 16;
}

/* Reads 8 hexadecimal digits at once. Returns 1, or 0 when one of the characters is none. */
static inline int trace_words_eight_digits(const char *text, uint32_t *value) {
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    const uint8_t *t = (const uint8_t *)text;
    uint64_t word = (uint64_t)t[0] << 56 | (uint64_t)t[1] << 48 | (uint64_t)t[2] << 40 | (uint64_t)t[3] << 32 |
                    (uint64_t)t[4] << 24 | (uint64_t)t[5] << 16 | (uint64_t)t[6] << 8 | t[7]; /* one load */
    uint64_t decimal, letter;
    decimal = (word ^ ones * '0') + ones * (0x80 - 10);               /* the top bit: it is no digit from 0 to 9 */
    letter = (word | ones * 0x20) ^ ones * 0x60;                      /* 1 to 6: a to f */
    letter = (letter + ones * 0x7f) & ~(letter + ones * 0x79) & tops; /* the top bit: it is one of these */
    if (word & tops || (decimal & tops & ~letter)) return 0;
    word = (word & ones * 15) + (letter >> 7) * 9;
    word = (word | word >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word | word >> 8) & UINT64_C(0x0000ffff0000ffff);
    *value = (uint32_t)(word | word >> 16);
    return 1;
}

/* Reads an address of at most 16 hexadecimal digits. Returns what follows it; NULL when it is none. At least 17
 * characters can be read. */
static inline const char *trace_words_quick_address(const char *at, uint64_t *address) {
    const char *const from = at;
    uint32_t digit, eight;
    *address = 0;
    if (trace_words_eight_digits(at, &eight)) *address = eight, at += 8;
    for (; (digit = trace_words_digit(*at)) < 16; at++) *address = *address << 4 | digit;
    return at == from || at - from > 16 ? NULL : at;
}

/* Reads a word of at most 8 decimal digits, with or without a sign, behind one space. Returns what follows it; NULL
 * when the word is not so. */
static inline const char *trace_words_quick_signed(const char *at, int64_t *value) {
    uint32_t read, digit;
    int negative;
    const char *first;
    if (at[0] != ' ') return NULL;
    negative = at[1] == '-';
    first = at += 1 + negative;
    if ((read = (uint8_t)(*at++ - '0')) > 9) return NULL;
    for (; (digit = (uint8_t)(*at - '0')) < 10; at++) read = read * 10 + digit;
    if (at - first > 8 || (*at && *at != ' ' && *at != '\n')) return NULL;
    *value = negative ? -(int64_t)read : (int64_t)read;
    return at;
}

#endif
