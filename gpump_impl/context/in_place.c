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

/* One resource, and what is asked of it. Ranges ascend. */
typedef struct gpumpi_in_place_space {
    const gpumpi_in_place_range *ranges;
    uint32_t count, low, capacity, size, wanted, placement;
} gpumpi_in_place_space;

/* gpumpi_in_place_plan where the new blocks lie side by side from `low` on: each range below their end goes. */
static int gpumpi_in_place_from_zero(const gpumpi_in_place_space *space, unsigned char *goes, uint32_t *bases) {
    const uint64_t end = space->low + (uint64_t)space->size * space->wanted;
    uint32_t j;
    if (end > space->capacity) return 0;
    for (j = 0; j < space->count; j++) {
        goes[j] = space->ranges[j].base < end;
        if (goes[j] && space->ranges[j].cost == UINT64_MAX) return 0;
    }
    for (j = 0; j < space->wanted; j++) bases[j] = space->low + j * space->size;
    return 1;
}

/* Returns how many new blocks fit between range i - 1 (0: none) and range j (count: the end), and sets *first. */
static GPUMPI_CALLED uint32_t gpumpi_in_place_between(const gpumpi_in_place_space *space, uint32_t i, uint32_t j,
                                                      uint32_t *first) {
    const gpumpi_in_place_range *ranges = space->ranges;
    return gpumpi_in_place_fit(i ? ranges[i - 1].base + ranges[i - 1].length : space->low,
                               j < space->count ? ranges[j].base : space->capacity, space->size, space->placement,
                               first);
}

/* gpumpi_in_place_plan where the new blocks may lie anywhere.
 *
 * Of the gaps in front of a range that take equally many new blocks only the shortest counts: a longer one gives up a
 * range more than the two gaps around that range, which take at least as many. So there are at most wanted + 1 gaps,
 * and where the gap for k blocks begins moves only forward from range to range. */
static int gpumpi_in_place_solve(const gpumpi_in_place_space *space, unsigned char *goes, uint32_t *bases) {
    /* best[j + 1][q]: the least cost of giving up ranges before j, j itself staying (j = count: the end), with q blocks
     * of the newcomer placed below j; best[0]: before all ranges. from and had lead back. sum[j]: the cost of the
     * ranges before j that can go, below 2^63 */
    uint64_t best[66][65], sum[65];
    unsigned char from[65][65], had[65][65], begins[65];
    const uint32_t count = space->count, wanted = space->wanted;
    uint32_t j, q, first, left = wanted, stays = 0; /* no gap begins before range `stays` - 1 */
    sum[0] = 0;
    memset(best, 0xff, (count + 2) * sizeof best[0]);
    best[0][0] = 0;
    memset(begins, 0, sizeof begins);
    for (j = 0; j <= count; j++) {
        uint32_t last = GPUMP_NONE;
        for (uint32_t k = 0; k <= wanted; k++) {
            uint32_t i = k ? begins[k] : j, fits;
            if (i < stays) i = stays;
            while (i < j && gpumpi_in_place_between(space, i + 1, j, &first) >= k) i++;
            begins[k] = (unsigned char)i;
            fits = gpumpi_in_place_between(space, i, j, &first);
            if (fits < k) break; /* nor does a larger number fit */
            if (i == last) continue;
            last = i;
            for (q = 0; q <= wanted; q++) {
                const uint64_t total = best[i][q] + (sum[j] - sum[i]);
                const uint32_t now = fits < wanted - q ? q + fits : wanted;
                if (best[i][q] != UINT64_MAX && total < best[j + 1][now]) {
                    best[j + 1][now] = total;
                    from[j][now] = (unsigned char)i;
                    had[j][now] = (unsigned char)q;
                }
            }
        }
        if (j == count) break;
        if (space->ranges[j].cost == UINT64_MAX) stays = j + 1;
        sum[j + 1] = sum[j] + (space->ranges[j].cost == UINT64_MAX ? 0 : space->ranges[j].cost);
    }
    if (best[count + 1][wanted] == UINT64_MAX) return 0;
    for (j = count, q = wanted;;) {
        const uint32_t i = from[j][q], before = had[j][q], fits = gpumpi_in_place_between(space, i, j, &first);
        uint32_t here = q - before < fits ? q - before : fits;
        for (uint32_t k = i; k < j; k++) goes[k] = 1;
        while (here--) {
            left--;
            bases[left] = first + here * space->size;
        }
        if (!i) break;
        j = i - 1;
        q = before;
    }
    GPUMP_ASSERT(left == 0);
    return 1;
}

/* Plans from gpumpi_in_place_space.low to its capacity. Marks the ranges to give up and writes the bases of the new
 * blocks. Returns 0 when no set of ranges makes enough room. */
static int gpumpi_in_place_plan(const gpumpi_in_place_space *space, unsigned char *goes, uint32_t *bases) {
    memset(goes, 0, space->count);
    if (!space->size) memset(bases, 0, space->wanted * sizeof *bases);
    if (!space->size) return 1;
    return space->placement == GPUMP_IN_PLACE_FROM_ZERO ? gpumpi_in_place_from_zero(space, goes, bases)
                                                        : gpumpi_in_place_solve(space, goes, bases);
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
        const uint32_t capacity = shared ? sm->shared_bytes : sm->registers,
                       low = shared ? sm->placed.shared_bytes : sm->placed.registers;
        gpumpi_in_place_space space;
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
        space.ranges = ranges;
        space.count = found;
        space.low = low;
        space.capacity = capacity;
        space.size = shared ? need->shared_bytes : need->registers;
        space.wanted = need->blocks;
        space.placement = shared ? need->shared_placement : need->register_placement;
        if (!gpumpi_in_place_plan(&space, goes, shared ? result.shared_bases : result.register_bases))
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
