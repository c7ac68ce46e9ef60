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
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks.state", index, view->state, 1, GPUMP_BLOCK_STATES - 1);
    if (!view->kernel) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks.kernel", index, 0, 1, UINT32_MAX);
    if (view->may & ~all) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks.may", index, view->may, 0, all);
    if (holds_slots && (!view->threads || !view->warps))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, view->threads ? "blocks.warps" : "blocks.threads", index, 0, 1,
                           UINT32_MAX);
    if (parked && !view->registers && !view->shared_bytes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks.registers and shared_bytes of a parked block", index, 0,
                           1, UINT32_MAX);
    if (gpumpi_block_is_saved_now(view->state) && view->technique >= GPUMP_TECHNIQUES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks.technique", index, view->technique, 0,
                           GPUMP_TECHNIQUES - 1);
    if (gpumpi_block_is_saved_now(view->state) && view->keep > GPUMP_PARTS_IN_PLACE)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks.keep", index, view->keep, 0, GPUMP_PARTS_IN_PLACE);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_block_view_check(const gpump_block_view *blocks, uint32_t count, gpump_diag *diag) {
    if (count && !blocks) return gpumpi_null(diag, "blocks");
    for (uint32_t i = 0; i < count; i++) {
        const gpump_block_view *a = &blocks[i];
        gpump_result result = gpumpi_block_check_one(a, i, diag);
        if (result) return result;
        for (uint32_t j = 0; j < i; j++) {
            const gpump_block_view *b = &blocks[j];
            if (a->block.slot == b->block.slot && a->block.generation == b->block.generation)
                return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks.block (the same block twice)", i, a->block.slot,
                                   0, UINT32_MAX);
            if (gpumpi_block_overlap(a->register_base, a->registers, b->register_base, b->registers))
                return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks.register_base (registers of two blocks overlap)",
                                   i, a->register_base, (uint64_t)b->register_base + b->registers, UINT32_MAX);
            if (gpumpi_block_overlap(a->shared_base, a->shared_bytes, b->shared_base, b->shared_bytes))
                return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT,
                                   "blocks.shared_base (shared memory of two blocks overlaps)", i, a->shared_base,
                                   (uint64_t)b->shared_base + b->shared_bytes, UINT32_MAX);
        }
    }
    return GPUMP_OK;
}
