/* arena: base/arena.h for WebAssembly, whose memory only grows. Pages that nobody has written cost nothing here either,
 * so the arena is larger than most launches need. The page outside copies its used bytes as a checkpoint. */
#include "base/arena.h"

#include <stdlib.h>
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

void *arena_take(arena *a, size_t bytes) {
    const size_t rounded = (bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    void *taken;
    if (rounded < bytes || rounded > a->bytes - a->used) return NULL;
    taken = a->base + a->used;
    a->used += rounded;
    return taken;
}

void *arena_take_array(arena *a, size_t count, size_t element_bytes) {
    if (element_bytes != 0 && count > SIZE_MAX / element_bytes) return NULL;
    return arena_take(a, count * element_bytes);
}

void *arena_checkpoint(const arena *a) {
    void *copy = malloc(a->used ? a->used : 1);
    if (copy) memcpy(copy, a->base, a->used);
    return copy;
}

void arena_restore(arena *a, const void *checkpoint) { memcpy(a->base, checkpoint, a->used); }
