/* trace_text: the lines of a text file that is plain, xz or zstd, read piece by piece. The end of the name decides:
 * .xz, .zst, else plain. Memory does not depend on the length of the file. */
#ifndef MINIGPU_TRACE_TEXT_H
#define MINIGPU_TRACE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_LINE_BYTES 8192u /* of the longest line */
#define TRACE_BEHIND_BYTES 32u /* that may be read behind the text */

/* The text that has been read and not been handed out. */
typedef struct trace_ahead {
    char *at;
    size_t length;
    uint64_t number; /* of the last line that has been handed out, from 1 */
} trace_ahead;
typedef struct trace_text trace_text; /* it begins with its trace_ahead */

/* Opens a file. Returns NULL when it cannot be read, with errno. */
trace_text *trace_text_open(const char *path);
/* Returns the next line, without its end and terminated; NULL at the end of the text and after an error. The line is
 * valid until the next call. Cost: linear in the line. */
char *trace_text_line(trace_text *text, size_t *length);
/* Returns what lies ahead: at least the next line, unless little has been read (then trace_text_line reads more). */
static inline trace_ahead *trace_text_ahead(trace_text *text) { return (trace_ahead *)(void *)text; }
/* Hands out one line, up to its end. end: behind its newline. */
static inline void trace_text_skip(trace_ahead *ahead, const char *end) {
    ahead->length -= (size_t)(end - ahead->at);
    ahead->at += end - ahead->at;
    ahead->number++;
}
/* Reads until so many bytes lie ahead, at most TRACE_LINE_BYTES. Returns 0 when the text ends before. */
int trace_text_fill(trace_text *text, size_t bytes);
/* Returns the number of the last line, from 1. */
uint64_t trace_text_number(const trace_text *text);
/* Returns whether the file ends within the line that was read last. */
int trace_text_is_cut(const trace_text *text);
/* Returns why the text ended early: damaged or truncated compressed data, or a line longer than TRACE_LINE_BYTES; NULL
 * when it was read to its end. */
const char *trace_text_error(const trace_text *text);
void trace_text_close(trace_text *text);

#endif
