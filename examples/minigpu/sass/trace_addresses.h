/* trace_addresses: the addresses of an access of a trace: from the text of its line to those of the machine.
 *
 * Most accesses differ in their first address alone: the distances from lane to lane, and with them the rest of the
 * line, are those of an earlier line. Such a rest is kept as a pattern, and a line that ends so is compared, not read.
 * A pattern is never changed or freed while its kernel is open, so the blocks of a trace name it. */
#ifndef MINIGPU_TRACE_ADDRESSES_H
#define MINIGPU_TRACE_ADDRESSES_H

#include "lanes/lanes.h"
#include "sass/trace_words.h"

#define TRACE_PATTERNS 2048u /* of one kernel; the accesses of others are read */
#define TRACE_PATTERN_BYTES 200u

/* What a line says of its access before its addresses. */
typedef struct trace_access {
    uint32_t mask;
    uint8_t width, space; /* bytes per lane; SPACE_NONE: the addresses say it */
} trace_access;

/* The addresses of an access. */
typedef struct line_addresses {
    uint32_t count;  /* one for each lane of the mask, lower lanes first */
    int is_straight; /* 1: `first` and each time `stride` more; else `list` */
    uint64_t first, stride, list[LANES];
} line_addresses;

/* The end of a line behind its first address, and what it means. */
typedef struct trace_pattern {
    int64_t offsets[LANES]; /* by lane, from the first address; 0 in lanes that do not execute */
    int64_t low, high;      /* the least and the largest of them */
    uint64_t bits;          /* all of them, one or the other */
    uint32_t mask, length;
    int is_row;                     /* 1: all 32 lanes, one word of 4 bytes after the other */
    char form;                      /* '1': base and stride; '2': base and differences */
    char text[TRACE_PATTERN_BYTES]; /* with the line's end */
} trace_pattern;

typedef struct trace_patterns {
    uint32_t count;
    uint16_t places[2 * TRACE_PATTERNS]; /* number of a pattern, from 1: a hash table */
    trace_pattern patterns[TRACE_PATTERNS];
} trace_patterns;

/* Reads the addresses of an access (a->count of them) in one of three forms: a list, base and stride, base and
 * differences. A list that one stride gives is straight, too. Returns 0, or -1 with the error set. */
int trace_addresses_read(line_reader *r, line_addresses *a);
/* Makes a list of addresses that are straight. */
void trace_addresses_list(line_addresses *a);
/* Returns the memory that a generic address lies in. */
uint32_t trace_addresses_space(const trace_kernel *k, uint64_t address);
/* Turns addresses of the traced program into those of the machine. Returns 0, or -1 with the error set. */
int trace_addresses_place(const trace_kernel *k, line_reader *r, const trace_access *access, uint64_t block,
                          uint32_t warp, line_addresses *a);
/* Adds the access to the block. Returns -1 when memory is out. */
int trace_addresses_keep(trace_pool *pool, trace_block *b, const line_addresses *a);
/* Makes room for so many accesses. Returns likewise. */
int trace_addresses_reserve(trace_pool *pool, trace_block *b, size_t capacity);

/* Reads the addresses of an access behind the first one, and adds it to the block: differences, or the stride when
 * is_straight. Words of another form, and addresses that have to be placed one by one, are left. Returns what follows
 * the addresses; NULL when they are left, or memory is out. */
const char *trace_addresses_quick(trace_kernel *k, const trace_access *access, int is_straight, uint64_t first,
                                  const char *at, trace_block *b);

/* Returns where the hexadecimal digits of the first address begin; NULL: the form of the addresses has no patterns.
 * at: behind the width. */
const char *trace_patterns_base(const char *at);
/* Returns the pattern of the end of a line; NULL: there is none yet. text: from behind the first address to the line's
 * end, which is included. */
const trace_pattern *trace_patterns_find(const trace_patterns *p, char form, uint32_t mask, const char *text,
                                         size_t length);
/* Adds the pattern of such an end. a: what has been read from it, not yet placed. Returns NULL when there is no room
 * for it. */
const trace_pattern *trace_patterns_add(trace_patterns *p, char form, uint32_t mask, const char *text, size_t length,
                                        const line_addresses *a);
/* Returns the pattern of an access of the form TRACE_PATTERN. */
static inline const trace_pattern *trace_pattern_of(const trace_reach *reach) {
    return (const trace_pattern *)(uintptr_t)reach->others;
}
/* Adds an access to the block whose addresses a pattern gives from the first one of the traced program. Returns 1, or 0
 * when they have to be placed one by one. */
int trace_patterns_keep(trace_kernel *k, const trace_access *access, const trace_pattern *pattern, uint64_t first,
                        trace_block *b);

#endif
