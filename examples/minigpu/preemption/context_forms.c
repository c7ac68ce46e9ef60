#include "parts/duet/duet.h"
#include "sm/scoreboard.h"
#include "preemption/context_forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *context_form_name(uint32_t form) {
    static const char *const names[CONTEXT_FORMS] = {"naive", "live", "live+compress", "tb"};
    return form < CONTEXT_FORMS ? names[form] : NULL;
}

/* The registers of a warp that stands still: those live where it stands, and those that parts know of. */
static void live_of(const machine *m, const block *b, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]) {
    context_live(m->views[b->kernel], &m->kernels[b->kernel], w, live);
    PARTS_TELL(m, needs_registers, (m, w, live));
}

/* ==== writing and reading ==== */

/* Registers of a whole block, one warp after the other; gpump's compression takes at most 256 per thread. */
static int make_layout(const kernel *k, gpump_compress_layout *layout) {
    return k->registers <= GPUMP_COMPRESS_MAX_REGISTERS && k->warps <= GPUMP_COMPRESS_MAX_WARPS &&
           gpump_compress_layout_init(layout, k->need.threads, k->registers, LANES, k->launch->block[0], NULL) ==
               GPUMP_OK;
}
/* The same for one of its warps: only the last one may be partly filled. */
static gpump_compress_layout one_warp(const gpump_compress_layout *block, uint32_t index) {
    gpump_compress_layout layout = *block;
    if (index + 1u < block->warps) layout.last_lanes = layout.lanes;
    layout.warps = 1;
    return layout;
}

static const uint32_t allowed[CONTEXT_FORMS] = {
    0, GPUMP_COMPRESS_ALLOW_RAW | GPUMP_COMPRESS_ALLOW_LIVE,
    GPUMP_COMPRESS_ALLOW_RAW | GPUMP_COMPRESS_ALLOW_LIVE | GPUMP_COMPRESS_ALLOW_WARP, GPUMP_COMPRESS_ALLOW_ALL};

uint32_t context_forms_write_warp(machine *m, const kernel *k, const block *b, const warp *w,
                                  gpump_context_writer *writer) {
    uint64_t live[CONTEXT_LIVE_WORDS], bytes;
    gpump_compress_layout layout;
    const uint8_t *frame;
    if (!k->registers || !w->stack.depth) return 0;
    if (m->duet && (frame = duet_frame(m, w, &bytes)) != NULL) { /* switched out: as it lies */
        if (m->omit_section != GPUMP_CONTEXT_FRAME)
            gpump_context_put(writer, GPUMP_CONTEXT_FRAME, w->index, frame, bytes);
        return (uint32_t)(bytes / GPUMP_DUET_GRANULE_BYTES);
    }
    if (m->context_form == CONTEXT_NAIVE || !make_layout(k, &layout)) {
        gpump_context_put_registers(writer, w->index, warp_registers(m, b, w), k->registers, LANES);
        return k->registers;
    }
    layout = one_warp(&layout, w->index);
    live_of(m, b, w, live);
    (void)gpump_context_put_compressed(writer, w->index, &layout, warp_registers(m, b, w), live,
                                       allowed[m->context_form], NULL);
    return gpump_bits_count(live, CONTEXT_LIVE_WORDS);
}

int context_forms_write_block(machine *m, const kernel *k, const block *b, gpump_context_writer *writer) {
    uint64_t live[CONTEXT_LIVE_WORDS], packed[BLOCK_WARPS_MAX * (GPUMP_COMPRESS_MAX_REGISTERS / 64u)];
    const uint32_t words = gpump_bits_words(k->registers);
    gpump_compress_layout layout;
    uint32_t i, n;
    if (m->context_form != CONTEXT_TB || !k->registers || !make_layout(k, &layout)) return 0;
    for (i = 0; i < k->warps; i++) {
        live_of(m, b, &m->warps[b->warps[i]], live);
        for (n = 0; n < words; n++) packed[i * words + n] = live[n];
    }
    layout.live_stride = words;
    (void)gpump_context_put_compressed(writer, GPUMP_NONE, &layout, warp_registers(m, b, &m->warps[b->warps[0]]),
                                       packed, allowed[CONTEXT_TB], NULL);
    return 1;
}

int context_forms_read(machine *m, const block *b, gpump_context_reader *reader) {
    const kernel *k = &m->kernels[b->kernel];
    gpump_compress_layout layout, warp_layout;
    gpump_context_section section;
    uint32_t i;
    int compressed = make_layout(k, &layout);
    if (!k->registers) return 0;
    if (compressed && gpump_context_get_compressed(reader, GPUMP_NONE, &layout,
                                                   warp_registers(m, b, &m->warps[b->warps[0]]), NULL) < 0)
        return -1;
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        gpump_result result = gpump_context_get_registers(reader, i, warp_registers(m, b, w), k->registers, LANES);
        if (result == GPUMP_EMPTY && compressed) {
            warp_layout = one_warp(&layout, i);
            result = gpump_context_get_compressed(reader, i, &warp_layout, warp_registers(m, b, w), NULL);
        }
        if (result == GPUMP_EMPTY && duet_serves(m, b->kernel) &&
            gpump_context_find(reader, GPUMP_CONTEXT_FRAME, i, &section) == GPUMP_OK) {
            frame_content content;
            const uint32_t granules = duet_content(m, w, &content);
            if (section.bytes != (uint64_t)granules * GPUMP_DUET_GRANULE_BYTES) return -1;
            frame_unpack(&content, warp_registers(m, b, w), (const uint8_t *)section.payload);
            result = GPUMP_OK;
        }
        if (result < 0) return -1;
    }
    return 0;
}

/* ==== stop now or run on ==== */

int context_runs_on(machine *m, const block *b, const warp *w) {
    const context_view *view = m->views[b->kernel];
    const kernel *k = &m->kernels[b->kernel];
    gpump_spill_decision decision;
    gpump_block_view state;
    gpump_compress_layout layout;
    gpump_compress_counts counts;
    uint64_t live[CONTEXT_LIVE_WORDS], here_live, executed;
    uint32_t live_there;
    const uint32_t pc = w->stack.depth ? simt_top(&w->stack)->pc : NONE, way = context_way(view, pc, &live_there);
    if (way == NONE) return 1; /* ends before any point: nothing to write */
    if (gpump_sm_block(m->sms[b->sm]->gpump, m->now, b->ref, &state) != GPUMP_OK) return 1;
    memset(&decision, 0, sizeof decision);
    context_live(view, k, w, live);
    here_live = gpump_bits_count(live, CONTEXT_LIVE_WORDS);
    decision.here_bytes = here_live * SEGMENT_BYTES;
    if (m->context_form >= CONTEXT_LIVE_COMPRESS && make_layout(k, &layout)) {
        layout = one_warp(&layout, w->index);
        if (gpump_compress_count(&layout, warp_registers(m, b, w), live, 0, &counts, NULL) == GPUMP_OK)
            decision.here_bytes = counts.bytes[GPUMP_COMPRESS_FORM_WARP];
    }
    decision.there_bytes = here_live ? gpump_muldiv_up(decision.here_bytes, live_there, here_live) : 0;
    decision.distance = way;
    executed = state.executed / b->warp_count;
    if (!executed) return 0; /* has hardly begun: its speed is not known */
    decision.cpi_q16 = gpump_muldiv_up(state.cycles, 65536, executed);
    /* The SM's share of the bandwidth serves all warps that are stopping: what one of them writes, the others wait for.
     */
    decision.port = m->port;
    decision.port.cycles *= gpump_bits_count64(m->sms[b->sm]->present);
    return gpump_spill_run_on(&decision, NULL, NULL);
}
