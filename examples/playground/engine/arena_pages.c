/* arena_pages: arena_open and arena_close of base/arena.h for WebAssembly, whose memory only grows. Pages that nobody
 * has written cost nothing here either, so the arena is larger than most launches need. The page outside copies its
 * used bytes as a checkpoint. */
#include "base/arena.h"

#include <string.h>

#define ARENA_BYTES ((size_t)384 << 20)
#define WASM_PAGE_BYTES 65536u

int arena_open(arena *a, size_t bytes) {
    const size_t before = __builtin_wasm_memory_grow(0, ARENA_BYTES / WASM_PAGE_BYTES);
    (void)bytes; /* what the host would reserve, more than 32 bits can address */
    if (before == SIZE_MAX) return -1;
    a->base = (uint8_t *)(before * WASM_PAGE_BYTES);
    a->bytes = ARENA_BYTES;
    a->used = 0;
    return 0;
}

/* Memory never shrinks: an instance holds one machine, and goes with it. */
void arena_close(arena *a) { memset(a, 0, sizeof *a); }

void *arena_take_sparse(arena *a, size_t count, size_t element_bytes) {
    return arena_take_array(a, count, element_bytes);
}
