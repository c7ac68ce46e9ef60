/* arena_pages: arena_open and arena_close, the pages of an arena from the operating system. */
#define _GNU_SOURCE
#include "base/arena.h"

#include <string.h>
#include <sys/mman.h>

/* The address is far from the heap, the stack, libraries and the shadow memory of the sanitizers. The memory sanitizer
 * would replace a fixed address that it does not allow by 0. */
#if defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER_OF_ADDRESSES 1
#elif defined(__has_feature)
#define UNDER_SANITIZER_OF_ADDRESSES (__has_feature(thread_sanitizer) || __has_feature(memory_sanitizer))
#else
#define UNDER_SANITIZER_OF_ADDRESSES 0
#endif
#define ARENA_PREFERRED_ADDRESS ((void *)(UNDER_SANITIZER_OF_ADDRESSES ? 0x7e9000000000 : 0x300000000000))

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

int arena_open(arena *a, size_t bytes) {
    size_t page = 4096;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *base = MAP_FAILED;
    bytes = (bytes + page - 1) / page * page;
#ifdef MAP_FIXED_NOREPLACE
    base = mmap(ARENA_PREFERRED_ADDRESS, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
#endif
    if (base == MAP_FAILED) base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base == MAP_FAILED) return -1;
#ifdef MADV_HUGEPAGE
    madvise(base, bytes, MADV_HUGEPAGE); /* an SM touches many pages in a cycle: fewer TLB misses */
#endif
    a->base = (uint8_t *)base;
    a->bytes = bytes;
    a->used = 0;
    return 0;
}

/* Takes what is left up to a multiple of a huge page, so that no huge page of other arrays is lost. */
static void align_to_huge_page(arena *a) {
    const size_t over = ((uintptr_t)a->base + a->used) % HUGE_PAGE_BYTES;
    (void)arena_take(a, over ? HUGE_PAGE_BYTES - over : 0);
}

void *arena_take_sparse(arena *a, size_t count, size_t element_bytes) {
    void *taken;
    align_to_huge_page(a);
    taken = arena_take_array(a, count, element_bytes);
    align_to_huge_page(a);
#ifdef MADV_NOHUGEPAGE
    if (taken) madvise(taken, (size_t)(a->base + a->used - (uint8_t *)taken) & ~(HUGE_PAGE_BYTES - 1), MADV_NOHUGEPAGE);
#endif
    return taken;
}

void arena_close(arena *a) {
    if (a->base) munmap(a->base, a->bytes);
    memset(a, 0, sizeof *a);
}
