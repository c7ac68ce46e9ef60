#include "gpu/block.h"

/* Hosts may compare and hash views and choices byte by byte: nothing hides in padding. */
typedef char gpumpi_block_view_has_no_padding[sizeof(gpump_block_view) == 6 * 8 + 18 * 4 ? 1 : -1];
typedef char gpumpi_block_choice_has_no_padding[sizeof(gpump_block_choice) == 8 * 4 + 3 * 8 ? 1 : -1];

static int gpumpi_block_overlap(uint32_t a, uint32_t a_length, uint32_t b, uint32_t b_length) {
    return a_length && b_length && a < (uint64_t)b + b_length && b < (uint64_t)a + a_length;
}

/* One view by itself. */
static gpump_result gpumpi_block_check_one(const gpump_block_view *view, uint32_t index, gpump_diag *diag) {
    const uint32_t all = (1u << GPUMP_TECHNIQUES) - 1u;
    const int parked = view->state == GPUMP_BLOCK_PARKED;
    const uint32_t after_parking = 1u << GPUMP_BLOCK_PARKED | 1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_SAVED |
                                   1u << GPUMP_BLOCK_FLUSHED | 1u << GPUMP_BLOCK_KILLED;
    const int holds_slots = !gpumpi_block_state_in(view->state, after_parking) || view->threads || view->warps;
    if (view->state == GPUMP_BLOCK_FREE || view->state >= GPUMP_BLOCK_STATES)
        return gpumpi_bad_argument(diag, "blocks.state", index, view->state, 1, GPUMP_BLOCK_STATES - 1);
    if (!view->kernel) return gpumpi_bad_argument(diag, "blocks.kernel", index, 0, 1, UINT32_MAX);
    if (view->may & ~all) return gpumpi_bad_argument(diag, "blocks.may", index, view->may, 0, all);
    if (holds_slots && (!view->threads || !view->warps))
        return gpumpi_bad_argument(diag, view->threads ? "blocks.warps" : "blocks.threads", index, 0, 1, UINT32_MAX);
    if (parked && !view->registers && !view->shared_bytes)
        return gpumpi_bad_argument(diag, "blocks.registers and shared_bytes of a parked block", index, 0, 1,
                                   UINT32_MAX);
    if (gpumpi_block_is_saved_now(view->state) && view->technique >= GPUMP_TECHNIQUES)
        return gpumpi_bad_argument(diag, "blocks.technique", index, view->technique, 0, GPUMP_TECHNIQUES - 1);
    if (gpumpi_block_is_saved_now(view->state) && view->keep > GPUMP_PARTS_IN_PLACE)
        return gpumpi_bad_argument(diag, "blocks.keep", index, view->keep, 0, GPUMP_PARTS_IN_PLACE);
    return GPUMP_OK;
}

/* Returns 1 for a view without fault of a block that runs and is not being saved; 0: look closer. */
static int gpumpi_block_surely_sound(const gpump_block_view *view) {
    const uint32_t plain = 1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_DRAINING;
    return gpumpi_block_state_in(view->state, plain) && view->kernel && !(view->may >> GPUMP_TECHNIQUES) &&
           view->threads && view->warps;
}

/* Where a block lies in the register file, or in shared memory, as one number that orders by the place. */
static uint64_t gpumpi_block_range(const gpump_block_view *view, int shared) {
    return shared ? (uint64_t)view->shared_base << 32 | view->shared_bytes
                  : (uint64_t)view->register_base << 32 | view->registers;
}

/* Returns 1 when no two of the blocks share registers (shared memory); 0: look closer. Cost: linear when the blocks are
 * listed nearly in the order of their places. */
static int gpumpi_block_ranges_apart(const gpump_block_view *blocks, uint32_t count, int shared) {
    uint64_t ranges[64], end = 0;
    uint32_t n = 0, at, i;
    for (i = 0; i < count; i++) {
        const uint64_t range = gpumpi_block_range(&blocks[i], shared);
        if (!(uint32_t)range) continue;
        for (at = n++; at && ranges[at - 1] > range; at--) ranges[at] = ranges[at - 1];
        ranges[at] = range;
    }
    for (i = 0; i < n; i++) {
        if (ranges[i] >> 32 < end) return 0;
        end = (ranges[i] >> 32) + (uint32_t)ranges[i];
    }
    return 1;
}

/* Returns 1 when the blocks have slots, registers and shared memory of their own; 0: look closer. */
static int gpumpi_blocks_apart(const gpump_block_view *blocks, uint32_t count) {
    uint64_t slots = 0, registers_end = 0, shared_end = 0;
    int in_order = 1;
    if (count > 64) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const gpump_block_view *view = &blocks[i];
        const uint32_t slot = view->block.slot;
        if (slot > 63 || (slots >> slot & 1u)) return 0;
        slots |= (uint64_t)1 << slot;
        in_order &= view->register_base >= registers_end && view->shared_base >= shared_end;
        registers_end = (uint64_t)view->register_base + view->registers;
        shared_end = (uint64_t)view->shared_base + view->shared_bytes;
    }
    return in_order || (gpumpi_block_ranges_apart(blocks, count, 0) && gpumpi_block_ranges_apart(blocks, count, 1));
}

/* Names what block a shares with one of the blocks before it. */
static gpump_result gpumpi_block_check_pairs(const gpump_block_view *blocks, uint32_t i, gpump_diag *diag) {
    const gpump_block_view *a = &blocks[i];
    for (uint32_t j = 0; j < i; j++) {
        const gpump_block_view *b = &blocks[j];
        if (a->block.slot == b->block.slot && a->block.generation == b->block.generation)
            return gpumpi_bad_argument(diag, "blocks.block (the same block twice)", i, a->block.slot, 0, UINT32_MAX);
        if (gpumpi_block_overlap(a->register_base, a->registers, b->register_base, b->registers))
            return gpumpi_bad_argument(diag, "blocks.register_base (registers of two blocks overlap)", i,
                                       a->register_base, (uint64_t)b->register_base + b->registers, UINT32_MAX);
        if (gpumpi_block_overlap(a->shared_base, a->shared_bytes, b->shared_base, b->shared_bytes))
            return gpumpi_bad_argument(diag, "blocks.shared_base (shared memory of two blocks overlaps)", i,
                                       a->shared_base, (uint64_t)b->shared_base + b->shared_bytes, UINT32_MAX);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_view_check(const gpump_block_view *blocks, uint32_t count, gpump_diag *diag) {
    int apart;
    if (count && !blocks) return gpumpi_null(diag, "blocks");
    apart = gpumpi_blocks_apart(blocks, count);
    for (uint32_t i = 0; i < count; i++) {
        gpump_result result = GPUMP_OK;
        if (!gpumpi_block_surely_sound(&blocks[i])) result = gpumpi_block_check_one(&blocks[i], i, diag);
        if (!result && !apart) result = gpumpi_block_check_pairs(blocks, i, diag);
        if (result) return result;
    }
    return GPUMP_OK;
}
