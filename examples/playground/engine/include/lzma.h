/* lzma: what sass/trace_text.c uses of liblzma, for machines without it: a packed trace cannot be opened here. */
#ifndef PLAYGROUND_LZMA_H
#define PLAYGROUND_LZMA_H

#include <stddef.h>
#include <stdint.h>

typedef enum lzma_ret { LZMA_OK, LZMA_STREAM_END, LZMA_MEMLIMIT_ERROR, LZMA_BUF_ERROR, LZMA_PROG_ERROR } lzma_ret;
typedef enum lzma_action { LZMA_RUN, LZMA_FINISH } lzma_action;
#define LZMA_CONCATENATED 8u

typedef struct lzma_stream {
    const uint8_t *next_in;
    uint8_t *next_out;
    size_t avail_in, avail_out;
} lzma_stream;
/* clang-format off */
#define LZMA_STREAM_INIT {NULL, NULL, 0, 0}
/* clang-format on */

static inline lzma_ret lzma_stream_decoder(lzma_stream *stream, uint64_t memory_bytes, uint32_t flags) {
    (void)stream;
    (void)memory_bytes;
    (void)flags;
    return LZMA_PROG_ERROR;
}
static inline lzma_ret lzma_code(lzma_stream *stream, lzma_action action) {
    (void)stream;
    (void)action;
    return LZMA_PROG_ERROR;
}
static inline void lzma_end(lzma_stream *stream) { (void)stream; }

#endif
