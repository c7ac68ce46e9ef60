/* tlb: a set-associative translation buffer with process tags that merges misses (hardware; Tanasic Table 6.1)
 *
 * The component holds the pages with a translation, and the look-ups that wait for a page. The component holds no times
 * and no physical addresses: the host adds latencies and forwards misses to the next level, to a walker or to a fault
 * unit. The same component serves as L1 TLB (waiters are memory instructions) and as L2 TLB (waiters are SMs).
 *
 * A fill returns the waiters of its page, and these waiters count as checked. A waiter must not look up again: with two
 * pages that evict each other, a second look-up could miss for ever. */
#ifndef GPUMP_TLB_H
#define GPUMP_TLB_H

#include "base/component.h"

GPUMP_BEGIN

#define GPUMP_TLB_ALL GPUMP_NONE /* instead of a process: every process */

/* What an access needs, and what a page allows: bits. An atomic needs READ and WRITE. */
typedef enum gpump_tlb_right {
    GPUMP_TLB_READ = 1,
    GPUMP_TLB_WRITE = 2,
    GPUMP_TLB_EXECUTE = 4,
    GPUMP_TLB_RIGHTS = 7 /* all of them */
} gpump_tlb_right;

/* Outcome of a look-up. */
typedef enum gpump_tlb_outcome {
    GPUMP_TLB_HIT = 0, /* the page is known and allows the access */
    GPUMP_TLB_MISS,    /* no translation: the host forwards the miss; the fill returns the waiter */
    GPUMP_TLB_MERGED,  /* the miss is already in flight; the fill returns the waiter */
    GPUMP_TLB_DENIED   /* the page is known and does not allow the access: a fault of its own */
} gpump_tlb_outcome;

/* The configuration of a TLB. gpump_preset fills the struct; the host may then change every field. */
typedef struct gpump_tlb_config {
    uint32_t entries;   /* pages known at most; ways times a power of two, up to 65536 */
    uint32_t ways;      /* entries of a set; 1 to 64 */
    uint32_t misses;    /* pages missed and not yet filled (MSHRs); 1 to 65536 */
    uint32_t waiters;   /* look-ups that wait for them, all together; 1 to 2^20 */
    uint32_t page_bits; /* bits of a page number, for gpump_bits only; 36 (assumed: 48-bit addresses, 4 KB) */
    uint32_t processes; /* process numbers told apart, for gpump_bits only; 16 (assumed); 1 to 65536 */
} gpump_tlb_config;

/* clang-format off */
#define GPUMPI_TLB_STATISTICS(X)                                                          \
    X(hits, "look-ups", "that found the page and the right")                             \
    X(misses, "look-ups", "that opened a miss")                                          \
    X(merged, "look-ups", "that joined a miss under way")                                \
    X(denied, "look-ups", "that found the page without the right")                       \
    X(busy, "look-ups", "refused: no miss, or no waiter, was free")                      \
    X(fills, "pages", "filled with some right")                                          \
    X(failed, "pages", "filled without any right: the walk found no page")               \
    X(evictions, "pages", "forgotten because a fill needed their place")                 \
    X(invalidated, "pages", "forgotten because the host said so")
/* clang-format on */
typedef struct gpump_tlb_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_TLB_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_tlb_statistics;

typedef struct gpump_tlb gpump_tlb;

/* The TLB for the verbs of base/component.h: gpump_init makes an empty TLB. Presets: "table61_l1" (32 entries, 8
 * ways; 32 misses assumed) and "table61_l2" (1024 entries, 8 ways, 128 misses). Waiters are assumed: 2048 in L1 (64
 * memory instructions of 32 pages), 512 in L2 (16 SMs of 32 misses). Source: Tanasic Table 6.1. gpump_bits counts per
 * entry the tag, a frame number as wide as a page number, 3 rights and its place in the LRU order; per miss its page
 * and its list; per waiter a number below `waiters` and a link. */
GPUMP_API const gpumpi_methods *gpumpi_tlb_methods(void);
GPUMPI_CONSTANT gpump_component gpump_tlb_component = {gpumpi_tlb_methods, GPUMP_LAYOUT_FAULT, 0};

/* Looks up `page` of `process` for an access that needs `rights` (gpump_tlb_right bits, at least one), and sets
 * *outcome (gpump_tlb_outcome). After MISS and MERGED, the fill returns `waiter` (any number of the host's).
 * GPUMP_BUSY: no miss or no waiter is free; only the counter `busy` rises, and the host looks up again later. Cost: the
 * ways of a set, and the misses under way in it. */
GPUMP_API gpump_result gpump_tlb_lookup(gpump_tlb *tlb, uint32_t process, uint64_t page, uint32_t rights,
                                        uint64_t waiter, uint32_t *outcome);
/* Ends the miss of a page of `process`, if there is one: the page's least recently used place takes the translation
 * with `rights`, and the waiters are handed over in the order of their look-ups. Each of them is satisfied when
 * `rights` has what it needs; else it has faulted. rights 0: there is no page, and nothing is kept. A page without a
 * miss is filled as well (a prefetch). Cost: the ways of a set, and the waiters. */
GPUMP_API gpump_result gpump_tlb_fill(gpump_tlb *tlb, uint32_t process, uint64_t page, uint32_t rights,
                                      uint64_t *waiters, uint32_t capacity, uint32_t *count);
/* Removes the first look-up with this `waiter` from the miss of `page` of `process`, because its instruction was
 * squashed. The miss stays until its fill. GPUMP_EMPTY: no such look-up waits. Cost: the waiters of the page. */
GPUMP_API gpump_result gpump_tlb_cancel(gpump_tlb *tlb, uint32_t process, uint64_t page, uint64_t waiter);
/* Invalidates `pages` pages from `first` on, of one `process` or of GPUMP_TLB_ALL; `first` 0 and `pages` UINT64_MAX:
 * all pages. Misses in flight stay, and the host fills them from the page table as it is then. Cost: linear in
 * entries. */
GPUMP_API gpump_result gpump_tlb_invalidate(gpump_tlb *tlb, uint32_t process, uint64_t first, uint64_t pages);
/* Returns the pages missed and not yet filled. */
GPUMP_API uint32_t gpumpi_tlb_in_flight(const gpump_tlb *tlb);

GPUMP_END
#endif
