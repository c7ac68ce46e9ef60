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
    size_t size;
    uint8_t unused[TRACE_POOL_ALIGNMENT - sizeof(void *) - sizeof(size_t)];
    uint8_t bytes[];
};

/* Returns pages from the system; NULL when memory is out. malloc would make small pieces that outlive the chunk from
 * its memory, so that each kernel of a list would need new memory. */
static void *map_pages(size_t bytes) {
    const size_t beyond = bytes % HUGE_PAGE_BYTES ? 0 : HUGE_PAGE_BYTES; /* huge pages are aligned */
    uint8_t *place = (uint8_t *)mmap(NULL, bytes + beyond, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const size_t before = beyond ? (size_t)(-(uintptr_t)place % HUGE_PAGE_BYTES) : 0;
    if (place == (uint8_t *)MAP_FAILED) return NULL;
    if (before) munmap(place, before);
    if (beyond) munmap(place + before + bytes, beyond - before);
#ifdef MADV_HUGEPAGE
    if (beyond) madvise(place + before, bytes, MADV_HUGEPAGE);
#endif
    return place + before;
}

/* Adds a chunk with room for so many bytes. Returns -1 when memory is out. */
static int add_chunk(trace_pool *p, size_t bytes) {
    const size_t needed = bytes + sizeof(trace_pool_chunk);
    const int is_first = !p->chunks && needed <= FIRST_BYTES;
    const size_t size = IS_WATCHED ? needed
                        : is_first ? FIRST_BYTES
                                   : (needed + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
    void *place = NULL;
    if (size < bytes) return -1;
    if (!IS_WATCHED)
        place = map_pages(size);
    else if (posix_memalign(&place, TRACE_POOL_ALIGNMENT, size))
        place = NULL;
    if (!place) return -1;
    ((trace_pool_chunk *)place)->next = p->chunks;
    ((trace_pool_chunk *)place)->size = size;
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
        if (IS_WATCHED)
            free(p->chunks);
        else
            munmap(p->chunks, p->chunks->size);
        p->chunks = next;
    }
    memset(p, 0, sizeof *p);
}
