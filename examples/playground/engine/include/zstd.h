/* zstd: what sass/trace_text.c uses of libzstd, for machines without it: a packed trace cannot be opened here. */
#ifndef PLAYGROUND_ZSTD_H
#define PLAYGROUND_ZSTD_H

#include <stddef.h>

typedef struct ZSTD_DStream ZSTD_DStream;
typedef struct ZSTD_inBuffer {
    const void *src;
    size_t size, pos;
} ZSTD_inBuffer;
typedef struct ZSTD_outBuffer {
    void *dst;
    size_t size, pos;
} ZSTD_outBuffer;

static inline ZSTD_DStream *ZSTD_createDStream(void) { return NULL; }
static inline size_t ZSTD_freeDStream(ZSTD_DStream *stream) { return stream != NULL; }
static inline unsigned ZSTD_isError(size_t code) { return code != 0; }
static inline size_t ZSTD_decompressStream(ZSTD_DStream *stream, ZSTD_outBuffer *output, ZSTD_inBuffer *input) {
    (void)stream;
    (void)output;
    (void)input;
    return 1;
}

#endif
