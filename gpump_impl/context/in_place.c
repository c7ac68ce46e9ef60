#include "context/in_place.h"

#include <string.h>

typedef struct gpumpi_in_place_range {
    uint32_t base, length, block;
    uint64_t cost; /* of giving it up: one block, whether the block is untouched so far, bytes; UINT64_MAX: never */
} gpumpi_in_place_range;

/* Returns how many blocks of `size` fit between start and end, and sets *first to the base of the first. */
static uint32_t gpumpi_in_place_fit(uint32_t start, uint32_t end, uint32_t size, uint32_t placement, uint32_t *first) {
    uint64_t at = start;
    if (placement == GPUMP_IN_PLACE_ALIGNED) at = (at + size - 1u) / size * size;
    *first = (uint32_t)at;
    return at < end ? (end - (uint32_t)at) / size : 0;
}

/* gpumpi_in_place_solve where the new blocks lie side by side from `low` on: each range below their end goes. */
static int gpumpi_in_place_from_zero(const gpumpi_in_place_range *ranges, uint32_t count, uint32_t low,
                                     uint32_t capacity, uint32_t size, uint32_t wanted, unsigned char *goes,
                                     uint32_t *bases) {
    const uint64_t end = low + (uint64_t)size * wanted;
    uint32_t j;
    if (end > capacity) return 0;
    for (j = 0; j < count; j++) {
        goes[j] = ranges[j].base < end;
        if (goes[j] && ranges[j].cost == UINT64_MAX) return 0;
    }
    for (j = 0; j < wanted; j++) bases[j] = low + j * size;
    return 1;
}

/* Plans one resource from `low` to `capacity`. Ranges ascend. Marks the ranges to give up and writes the bases of the
 * new blocks. Returns 0 when no set of ranges makes enough room. */
static int gpumpi_in_place_solve(const gpumpi_in_place_range *ranges, uint32_t count, uint32_t low, uint32_t capacity,
                                 uint32_t size, uint32_t wanted, uint32_t placement, unsigned char *goes,
                                 uint32_t *bases) {
    /* best[j][q]: the least cost of giving up ranges before j, j itself staying (j = count: the end), with q blocks of
     * the newcomer placed below j. from and had lead back. */
    uint64_t best[65][65];
    unsigned char from[65][65], had[65][65];
    uint32_t j, q, first, left;
    memset(goes, 0, count);
    if (!size) {
        for (q = 0; q < wanted; q++) bases[q] = 0;
        return 1;
    }
    if (placement == GPUMP_IN_PLACE_FROM_ZERO)
        return gpumpi_in_place_from_zero(ranges, count, low, capacity, size, wanted, goes, bases);
    memset(best, 0xff, sizeof best);
    for (j = 0; j <= count; j++) {
        uint32_t end = j < count ? ranges[j].base : capacity;
        uint64_t cost = 0; /* of all ranges strictly between the last that stays and j */
        for (uint32_t i = j + 1; i-- > 0 && cost != UINT64_MAX;) { /* i - 1 is the last that stays; 0: none */
            uint32_t start = i ? ranges[i - 1].base + ranges[i - 1].length : low, fits;
            fits = gpumpi_in_place_fit(start, end, size, placement, &first);
            for (q = 0; q <= wanted; q++) {
                uint64_t before = i ? best[i - 1][q] : q ? UINT64_MAX : 0, total = gpump_add_saturated(before, cost);
                uint32_t now = fits < wanted - q ? q + fits : wanted;
                if (before != UINT64_MAX && total < best[j][now]) {
                    best[j][now] = total;
                    from[j][now] = (unsigned char)i;
                    had[j][now] = (unsigned char)q;
                }
            }
            if (i) cost = gpump_add_saturated(cost, ranges[i - 1].cost);
        }
    }
    if (best[count][wanted] == UINT64_MAX) return 0;
    left = wanted;
    for (j = count, q = wanted;;) {
        uint32_t i = from[j][q], before = had[j][q];
        uint32_t start = i ? ranges[i - 1].base + ranges[i - 1].length : low,
                 end = j < count ? ranges[j].base : capacity;
        uint32_t fits = gpumpi_in_place_fit(start, end, size, placement, &first),
                 here = q - before < fits ? q - before : fits;
        for (uint32_t k = i; k < j; k++) goes[k] = 1;
        while (here--) {
            left--;
            bases[left] = first + here * size;
        }
        if (!i) break;
        j = i - 1;
        q = before;
    }
    GPUMP_ASSERT(left == 0);
    return 1;
}

static void gpumpi_in_place_collect(const gpump_block_view *blocks, uint32_t count, int shared, const uint32_t *give_up,
                                    gpumpi_in_place_range *ranges, uint32_t *found) {
    *found = 0;
    for (uint32_t i = 0; i < count; i++) {
        gpumpi_in_place_range range;
        uint32_t at;
        range.base = shared ? blocks[i].shared_base : blocks[i].register_base;
        range.length = shared ? blocks[i].shared_bytes : blocks[i].registers;
        range.block = i;
        range.cost = !(blocks[i].may & (1u << GPUMP_TECHNIQUE_SWITCH))
                         ? UINT64_MAX
                         : ((uint64_t)1 << 56) + (give_up[i] ? 0 : (uint64_t)1 << 48) +
                               (uint64_t)range.length * (shared ? 1u : 4u);
        if (!range.length) continue;
        for (at = (*found)++; at > 0 && ranges[at - 1].base > range.base; at--) ranges[at] = ranges[at - 1];
        ranges[at] = range;
    }
}

GPUMP_API gpump_result gpump_in_place_find(const gpump_in_place_sm *sm, const gpump_in_place_need *need,
                                           gpump_in_place_plan *plan, gpump_diag *diag) {
    gpumpi_in_place_range ranges[64];
    unsigned char goes[64];
    uint32_t found;
    gpump_in_place_plan result;
    if (!sm || !need || !plan) return gpumpi_null(diag, !sm ? "sm" : !need ? "need" : "plan");
    if (sm->count > 64) return gpumpi_bad_argument(diag, "count", 0, sm->count, 0, 64);
    if (sm->count && !sm->blocks) return gpumpi_null(diag, "blocks");
    if (!need->blocks || need->blocks > 64) return gpumpi_bad_argument(diag, "need.blocks", 0, need->blocks, 1, 64);
    if (need->register_placement > GPUMP_IN_PLACE_BEST)
        return gpumpi_bad_argument(diag, "need.register_placement", 0, need->register_placement, 0,
                                   GPUMP_IN_PLACE_BEST);
    if (need->shared_placement > GPUMP_IN_PLACE_BEST)
        return gpumpi_bad_argument(diag, "need.shared_placement", 0, need->shared_placement, 0, GPUMP_IN_PLACE_BEST);
    memset(&result, 0, sizeof result);
    for (int shared = 0; shared < 2; shared++) {
        uint32_t capacity = shared ? sm->shared_bytes : sm->registers,
                 low = shared ? sm->placed.shared_bytes : sm->placed.registers,
                 size = shared ? need->shared_bytes : need->registers;
        if (low > capacity)
            return gpumpi_bad_argument(diag, shared ? "placed.shared_bytes" : "placed.registers", 0, low, 0, capacity);
        gpumpi_in_place_collect(sm->blocks, sm->count, shared, result.give_up, ranges, &found);
        for (uint32_t i = 0; i < found; i++) {
            const uint32_t least = i ? ranges[i - 1].base + ranges[i - 1].length : low;
            if (ranges[i].length > capacity || ranges[i].base > capacity - ranges[i].length || ranges[i].base < least)
                return gpumpi_bad_argument(diag, shared ? "blocks.shared_base" : "blocks.register_base",
                                           ranges[i].block, ranges[i].base, least,
                                           capacity - (ranges[i].length < capacity ? ranges[i].length : capacity));
        }
        if (!gpumpi_in_place_solve(ranges, found, low, capacity, size, need->blocks,
                                   shared ? need->shared_placement : need->register_placement, goes,
                                   shared ? result.shared_bases : result.register_bases))
            return gpumpi_refuse(diag, shared ? GPUMP_REASON_SHARED_MEMORY : GPUMP_REASON_REGISTERS, "need", 0);
        for (uint32_t i = 0; i < found; i++) {
            if (!goes[i]) continue;
            if (!result.give_up[ranges[i].block]) result.blocks++;
            result.give_up[ranges[i].block] |= shared ? 2u : 1u;
            if (shared) {
                result.shared_blocks++;
                result.shared_bytes += ranges[i].length;
            } else {
                result.register_blocks++;
                result.register_bytes += (uint64_t)ranges[i].length * 4u;
            }
        }
    }
    *plan = result;
    return GPUMP_OK;
}
