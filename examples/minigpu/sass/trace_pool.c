#define _GNU_SOURCE
#include "sass/trace_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_BYTES ((size_t)1 << 18) /* of the first chunk: small kernels need no more */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* The address sanitizer sees the end of a chunk, and not that of a piece within it. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_WATCHED 1
#elif defined(__has_feature)
#define IS_WATCHED __has_feature(address_sanitizer)
#else
#define IS_WATCHED 0
#endif

struct trace_pool_chunk {
    trace_pool_chunk *next;
    uint8_t unused[TRACE_POOL_ALIGNMENT - sizeof(void *)];
    uint8_t bytes[];
};

/* Adds a chunk with room for so many bytes. Returns -1 when memory is out. */
static int add_chunk(trace_pool *p, size_t bytes) {
    const size_t needed = bytes + sizeof(trace_pool_chunk);
    const int is_first = !p->chunks && needed <= FIRST_BYTES;
    size_t size = IS_WATCHED ? needed
                  : is_first ? FIRST_BYTES
                             : (needed + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
    const int is_huge = size % HUGE_PAGE_BYTES == 0;
    void *place;
    if (needed < bytes || posix_memalign(&place, is_huge ? HUGE_PAGE_BYTES : TRACE_POOL_ALIGNMENT, size)) return -1;
#ifdef MADV_HUGEPAGE
    if (is_huge) madvise(place, size, MADV_HUGEPAGE);
#endif
    ((trace_pool_chunk *)place)->next = p->chunks;
    p->chunks = (trace_pool_chunk *)place;
    p->at = p->chunks->bytes;
    p->left = size - sizeof(trace_pool_chunk);
    return 0;
}

/* Returns the bytes that a piece takes. */
static size_t rounded(size_t bytes) {
    return IS_WATCHED ? bytes : (bytes + TRACE_POOL_ALIGNMENT - 1) & ~(size_t)(TRACE_POOL_ALIGNMENT - 1);
}

void *trace_pool_take(trace_pool *p, size_t bytes) {
    const size_t taken = rounded(bytes);
    void *place;
    if (taken < bytes || ((IS_WATCHED || taken > p->left) && add_chunk(p, taken))) return NULL;
    place = p->at;
    p->at += taken;
    p->left -= taken;
    return place;
}

void *trace_pool_grow(trace_pool *p, void *array, size_t old_bytes, size_t bytes) {
    const size_t old_taken = rounded(old_bytes), more = rounded(bytes) - old_taken;
    void *grown;
    if (array && (uint8_t *)array + old_taken == p->at && bytes >= old_bytes && more <= p->left) { /* the last piece */
        p->at += more;
        p->left -= more;
        return array;
    }
    grown = trace_pool_take(p, bytes);
    if (grown && old_bytes) memcpy(grown, array, old_bytes);
    return grown;
}

void trace_pool_close(trace_pool *p) {
    while (p->chunks) {
        trace_pool_chunk *next = p->chunks->next;
        free(p->chunks);
        p->chunks = next;
    }
    memset(p, 0, sizeof *p);
}
