#include "context/context_layout.h"

#include <string.h>

/* ---- writing ---- */

/* Is a section of this type left out? */
static int gpumpi_layout_omits(const gpump_context_view *view, uint32_t type) { return view->omit >> type & 1u; }

/* Are the registers left out: do they stay in place, or are there none? */
static int gpumpi_layout_has_no_registers(const gpump_context_view *view) {
    return !view->block.registers || view->control.in_place & GPUMP_PART_REGISTERS ||
           gpumpi_layout_omits(view, GPUMP_CONTEXT_REGISTERS);
}

/* How the registers of warp `index` lie, by themselves: only the last warp may be partly filled. */
static gpump_compress_layout gpumpi_layout_of_warp(const gpump_compress_layout *block, uint32_t index) {
    gpump_compress_layout layout = *block;
    if (index + 1u < block->warps) layout.last_lanes = layout.lanes;
    layout.warps = 1;
    return layout;
}

/* Words, or their number alone where there is no pointer. */
static void gpumpi_layout_put_words(gpump_context_writer *writer, const gpump_context_view *view, uint32_t type,
                                    uint32_t index, const uint64_t *words, uint32_t count) {
    if (!count || gpumpi_layout_omits(view, type)) return;
    if (words)
        gpump_context_put_words(writer, type, index, words, count);
    else
        (void)gpump_context_reserve(writer, type, index, (uint64_t)count * 8u);
}
static void gpumpi_layout_put_bytes(gpump_context_writer *writer, const gpump_context_view *view, uint32_t type,
                                    uint32_t index, const void *data, uint64_t bytes) {
    if (!bytes || gpumpi_layout_omits(view, type)) return;
    if (data)
        gpump_context_put(writer, type, index, data, bytes);
    else
        (void)gpump_context_reserve(writer, type, index, bytes);
}

/* The registers of one warp: its frame, a smaller form, raw, or the most that any form takes. */
static gpump_result gpumpi_layout_put_registers(gpump_context_writer *writer, const gpump_context_view *view,
                                                uint32_t index, const gpump_context_warp *warp) {
    const uint32_t registers = view->block.registers, lanes = view->block.lanes;
    if (warp->frame) { /* also an empty one: the warp needs no register */
        if (!gpumpi_layout_omits(view, GPUMP_CONTEXT_FRAME))
            gpump_context_put(writer, GPUMP_CONTEXT_FRAME, index, warp->frame, warp->frame_bytes);
    } else if (!warp->registers) { /* raw, and what the heads and masks of other forms add */
        (void)gpump_context_reserve(writer, GPUMP_CONTEXT_REGISTERS, index,
                                    8 + (uint64_t)registers * lanes * 4 + 32 + registers);
    } else if (view->allow && view->compress) {
        const gpump_compress_layout layout = gpumpi_layout_of_warp(view->compress, index);
        return gpumpi_context_put_compressed(writer, index, &layout, warp->registers, warp->live, view->allow, NULL);
    } else {
        gpump_context_put_registers(writer, index, warp->registers, registers, lanes);
    }
    return GPUMP_OK;
}

/* What a warp has beside its registers. */
static void gpumpi_layout_put_state(gpump_context_writer *writer, const gpump_context_view *view, uint32_t index,
                                    const gpump_context_warp *warp) {
    if (!gpumpi_layout_omits(view, GPUMP_CONTEXT_STACK)) {
        if (warp->stack || !warp->stack_entries)
            gpump_context_put_stack(writer, index, warp->stack, warp->stack_entries);
        else
            (void)gpump_context_reserve(writer, GPUMP_CONTEXT_STACK, index, (uint64_t)warp->stack_entries * 16u);
    }
    if (!warp->stack_entries) return;
    gpumpi_layout_put_words(writer, view, GPUMP_CONTEXT_PREDICATES, index, warp->predicates, warp->predicate_words);
    if (view->put) view->put(view->user, index, writer);
}

/* A warp, and in *register_bytes what its registers add. */
static gpump_result gpumpi_layout_put_warp(gpump_context_writer *writer, const gpump_context_view *view, uint32_t index,
                                           const gpump_context_warp *warp, uint64_t *register_bytes) {
    const uint64_t before = writer->used;
    gpump_result result = GPUMP_OK;
    if (!view->registers && warp->stack_entries && !gpumpi_layout_has_no_registers(view))
        result = gpumpi_layout_put_registers(writer, view, index, warp);
    *register_bytes += writer->used - before;
    gpumpi_layout_put_state(writer, view, index, warp);
    return result;
}

GPUMP_API gpump_result gpump_context_put_warp(gpump_context_writer *writer, const gpump_context_view *view,
                                              uint32_t index, const gpump_context_warp *warp) {
    uint64_t register_bytes = 0;
    if (!writer || !view || !warp || index >= view->block.warps) return GPUMP_ERROR_ARGUMENT;
    return gpumpi_layout_put_warp(writer, view, index, warp, &register_bytes);
}

/* The warps of a block, one after the other as the host describes them. */
static gpump_result gpumpi_layout_put_warps(gpump_context_writer *writer, const gpump_context_view *view,
                                            uint64_t *register_bytes) {
    gpump_result result = GPUMP_OK;
    for (uint32_t i = 0; i < view->block.warps && !result; i++) {
        gpump_context_warp warp;
        memset(&warp, 0, sizeof warp);
        view->warp(view->user, i, &warp);
        result = gpumpi_layout_put_warp(writer, view, i, &warp, register_bytes);
    }
    return result;
}

GPUMP_API gpump_result gpump_context_put_view(gpump_context_writer *writer, const gpump_context_view *view,
                                              gpump_context_sizes *sizes) {
    gpump_context_sizes all = {0, 0, 0};
    uint64_t before;
    gpump_result result = GPUMP_OK;
    if (!writer || !view || !view->warp || (view->registers && !view->compress)) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_layout_omits(view, GPUMP_CONTEXT_BLOCK)) gpump_context_put_block(writer, &view->block);
    if (view->control.in_place) gpumpi_context_put_control(writer, &view->control);
    before = writer->used;
    if (view->registers && !gpumpi_layout_has_no_registers(view))
        result = gpumpi_context_put_compressed(writer, GPUMP_NONE, view->compress, view->registers, view->live,
                                               view->allow, NULL);
    all.register_bytes = writer->used - before;
    if (!result) result = gpumpi_layout_put_warps(writer, view, &all.register_bytes);
    if (result) return result;
    gpumpi_layout_put_words(writer, view, GPUMP_CONTEXT_BARRIERS, 0, view->barriers, view->barrier_words);
    gpumpi_layout_put_words(writer, view, GPUMP_CONTEXT_LOCAL, 0, view->local, view->local_words);
    before = writer->used;
    if (!(view->control.in_place & GPUMP_PART_SHARED_MEMORY))
        gpumpi_layout_put_bytes(writer, view, GPUMP_CONTEXT_SHARED, 0, view->shared, view->shared_bytes);
    all.shared_bytes = writer->used - before;
    all.state_bytes = writer->used - all.register_bytes - all.shared_bytes;
    if (sizes) *sizes = all;
    return GPUMP_OK;
}

/* ---- reading ---- */

/* An error becomes one that names what of which warp contradicts the view. */
static gpump_result gpumpi_layout_checked(gpump_result result, const char *what, uint32_t index, gpump_diag *diag) {
    return result < 0 ? gpumpi_fail_at(diag, result, what, index) : GPUMP_OK;
}

/* Reads words of which there may be `*count`; *count becomes how many there are, GPUMP_NONE without the section. */
static gpump_result gpumpi_layout_get_words(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                            uint64_t *words, uint32_t *count) {
    const gpump_result result = gpump_context_get_words(reader, type, index, words, words ? *count : 0, count);
    if (result == GPUMP_EMPTY) *count = GPUMP_NONE;
    return result;
}

static gpump_result gpumpi_layout_get_registers(gpump_context_reader *reader, const gpump_context_view *view,
                                                uint32_t index, gpump_context_warp *warp) {
    gpump_context_section section;
    gpump_result result = GPUMP_EMPTY;
    if (warp->registers)
        result = gpump_context_get_registers(reader, index, warp->registers, view->block.registers, view->block.lanes);
    if (result == GPUMP_EMPTY && warp->registers && view->compress) {
        const gpump_compress_layout layout = gpumpi_layout_of_warp(view->compress, index);
        result = gpumpi_context_get_compressed(reader, index, &layout, warp->registers, NULL);
    }
    warp->frame = NULL;
    warp->frame_bytes = 0;
    if (result == GPUMP_EMPTY && !gpump_context_find(reader, GPUMP_CONTEXT_FRAME, index, &section)) {
        warp->frame = section.payload;
        warp->frame_bytes = section.bytes;
    }
    return result;
}

static gpump_result gpumpi_layout_get_stack(gpump_context_reader *reader, uint32_t index, gpump_context_warp *warp) {
    const gpump_result result = gpump_context_get_stack(reader, index, warp->stack,
                                                        warp->stack ? warp->stack_entries : 0, &warp->stack_entries);
    if (result == GPUMP_EMPTY) warp->stack_entries = GPUMP_NONE;
    return result;
}

static gpump_result gpumpi_layout_get_warp(gpump_context_reader *reader, const gpump_context_view *view, uint32_t index,
                                           gpump_context_warp *warp, gpump_diag *diag) {
    gpump_result result = gpumpi_layout_get_registers(reader, view, index, warp);
    if (result < 0) return gpumpi_layout_checked(result, "registers", index, diag);
    result = gpumpi_layout_get_stack(reader, index, warp);
    if (result < 0) return gpumpi_layout_checked(result, "stacks", index, diag);
    result = gpumpi_layout_get_words(reader, GPUMP_CONTEXT_PREDICATES, index, warp->predicates, &warp->predicate_words);
    return gpumpi_layout_checked(result, "predicates", index, diag);
}

/* Reads the identity of the block, which must have the shape that the view says. */
static gpump_result gpumpi_layout_get_block(gpump_context_reader *reader, gpump_context_view *view, gpump_diag *diag) {
    gpump_context_block block;
    const gpump_result result = gpump_context_get_block(reader, &block);
    if (result) return gpumpi_layout_checked(result, "identities", 0, diag);
    if (block.warps != view->block.warps)
        return gpumpi_bad_bytes(diag, "warps", 0, block.warps, view->block.warps, view->block.warps);
    if (block.lanes != view->block.lanes)
        return gpumpi_bad_bytes(diag, "lanes", 0, block.lanes, view->block.lanes, view->block.lanes);
    if (block.registers != view->block.registers)
        return gpumpi_bad_bytes(diag, "registers", 0, block.registers, view->block.registers, view->block.registers);
    view->block = block;
    return GPUMP_OK;
}

/* Reads words of the whole block: as many as the view says, or none. */
static gpump_result gpumpi_layout_get_all_words(gpump_context_reader *reader, uint32_t type, const char *what,
                                                uint64_t *words, uint32_t count, gpump_diag *diag) {
    uint32_t found = count;
    const gpump_result result = gpumpi_layout_get_words(reader, type, 0, words, &found);
    if (result == GPUMP_OK && found != count) return gpumpi_bad_bytes(diag, what, 0, found, count, count);
    return gpumpi_layout_checked(result, what, 0, diag);
}

static gpump_result gpumpi_layout_get_shared(gpump_context_reader *reader, const gpump_context_view *view,
                                             gpump_diag *diag) {
    gpump_context_section section;
    if (!view->shared || gpump_context_find(reader, GPUMP_CONTEXT_SHARED, 0, &section)) return GPUMP_OK;
    if (section.bytes != view->shared_bytes)
        return gpumpi_bad_bytes(diag, "bytes of shared memory", 0, section.bytes, view->shared_bytes,
                                view->shared_bytes);
    memcpy(view->shared, section.payload, (size_t)section.bytes);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_view(gpump_context_reader *reader, gpump_context_view *view,
                                              gpump_diag *diag) {
    gpump_result result;
    if (!reader || !view || !view->warp || !view->took || (view->registers && !view->compress))
        return gpumpi_null(diag, !reader ? "reader" : "view");
    if (!view->omit && gpump_context_missing(reader, (uint32_t)view->shared_bytes))
        return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, "parts", 0);
    result = gpumpi_layout_get_block(reader, view, diag);
    if (!result && view->registers)
        result = gpumpi_layout_checked(
            gpumpi_context_get_compressed(reader, GPUMP_NONE, view->compress, view->registers, NULL), "registers", 0,
            diag);
    for (uint32_t i = 0; !result && i < view->block.warps; i++) {
        gpump_context_warp warp;
        memset(&warp, 0, sizeof warp);
        view->warp(view->user, i, &warp);
        result = gpumpi_layout_get_warp(reader, view, i, &warp, diag);
        if (!result) view->took(view->user, i, &warp, reader);
    }
    if (!result)
        result = gpumpi_layout_get_all_words(reader, GPUMP_CONTEXT_BARRIERS, "barriers", view->barriers,
                                             view->barrier_words, diag);
    if (!result)
        result = gpumpi_layout_get_all_words(reader, GPUMP_CONTEXT_LOCAL, "words of local memory", view->local,
                                             view->local_words, diag);
    if (!result) result = gpumpi_layout_get_shared(reader, view, diag);
    return result ? result : gpumpi_context_verify(reader, diag);
}

GPUMP_API void gpump_context_bytes_by_warp(gpump_context_reader *reader, uint32_t warps, uint64_t *bytes) {
    static const uint32_t of_a_warp = 1u << GPUMP_CONTEXT_REGISTERS | 1u << GPUMP_CONTEXT_COMPRESSED |
                                      1u << GPUMP_CONTEXT_FRAME | 1u << GPUMP_CONTEXT_STACK |
                                      1u << GPUMP_CONTEXT_PREDICATES | 1u << GPUMP_CONTEXT_REPLAY |
                                      1u << GPUMP_CONTEXT_LOG | 1u << GPUMP_CONTEXT_RESTART;
    gpump_context_reader walk = *reader;
    gpump_context_section section;
    walk.next = GPUMP_CONTEXT_HEADER_BYTES;
    for (uint32_t i = 0; i < warps; i++) bytes[i] = 0;
    while (!gpump_context_next(&walk, &section)) {
        const uint64_t taken = GPUMP_CONTEXT_SECTION_BYTES + ((section.bytes + 7u) & ~UINT64_C(7));
        if (section.type >= GPUMP_CONTEXT_TYPES || !(of_a_warp >> section.type & 1u)) continue;
        if (section.index < warps) bytes[section.index] += taken;
        for (uint32_t i = 0; section.index == GPUMP_NONE && i < warps; i++) bytes[i] += taken / warps;
    }
}
