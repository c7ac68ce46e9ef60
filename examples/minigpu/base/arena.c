#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void *arena_take(arena *a, size_t bytes) {
    size_t rounded = (bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
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
