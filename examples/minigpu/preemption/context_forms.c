#include "sm/scoreboard.h"
#include "preemption/context_forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *context_form_name(uint32_t form) {
    static const char *const names[CONTEXT_FORMS] = {"naive", "live", "live+compress", "tb"};
    return form < CONTEXT_FORMS ? names[form] : NULL;
}

/* Sets live[] to the registers that a stopped warp needs: the registers live at its PC, and those of the parts. */
static void live_of(const machine *m, const block *b, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]) {
    context_live(m->views[b->kernel], &m->kernels[b->kernel], w, live);
    PARTS_TELL(m, needs_registers, (m, w, live));
}

/* ==== form of the saved registers ==== */

/* Registers of a whole block, one warp after the other; gpump's compression takes at most 256 per thread. */
static int make_layout(const kernel *k, gpump_compress_layout *layout) {
    return k->registers <= GPUMP_COMPRESS_MAX_REGISTERS && k->warps <= GPUMP_COMPRESS_MAX_WARPS &&
           gpump_compress_layout_init(layout, k->need.threads, k->registers, LANES, k->launch->block[0], NULL) ==
               GPUMP_OK;
}

static const uint32_t allowed[CONTEXT_FORMS] = {
    0, GPUMP_COMPRESS_ALLOW_RAW | GPUMP_COMPRESS_ALLOW_LIVE,
    GPUMP_COMPRESS_ALLOW_RAW | GPUMP_COMPRESS_ALLOW_LIVE | GPUMP_COMPRESS_ALLOW_WARP, GPUMP_COMPRESS_ALLOW_ALL};

void context_forms_describe(const machine *m, const kernel *k, gpump_compress_layout *layout,
                            gpump_context_view *view) {
    view->allow = allowed[m->context_form];
    view->compress = k->registers && make_layout(k, layout) ? layout : NULL;
}

void context_forms_describe_warp(machine *m, const block *b, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS],
                                 gpump_context_warp *out) {
    PARTS_ASK(m, out->frame, NULL, warp_frame, (m, w, &out->frame_bytes));
    if (out->frame) return; /* switched out: its frame is already packed */
    out->registers = warp_registers(m, b, w);
    if (m->context_form == CONTEXT_NAIVE) return;
    live_of(m, b, w, live);
    out->live = live;
}

uint32_t context_forms_registers(const gpump_context_view *view, const gpump_context_warp *warp) {
    if (warp->frame) return (uint32_t)(warp->frame_bytes / GPUMP_DUET_GRANULE_BYTES);
    if (!warp->registers) return 0;
    return view->allow && view->compress ? gpump_bits_count(warp->live, CONTEXT_LIVE_WORDS) : view->block.registers;
}

void context_forms_describe_block(machine *m, const block *b, uint64_t (*live)[CONTEXT_LIVE_WORDS],
                                  gpump_compress_layout *layout, gpump_context_view *view) {
    uint32_t i;
    if (m->context_form != CONTEXT_TB || !view->compress) return;
    for (i = 0; i < b->warp_count; i++) live_of(m, b, &m->warps[b->warps[i]], live[i]);
    layout->live_stride = CONTEXT_LIVE_WORDS;
    view->registers = warp_registers(m, b, &m->warps[b->warps[0]]);
    view->live = live[0];
}

int context_forms_take_frame(machine *m, const block *b, const warp *w, const uint8_t *frame, uint64_t bytes) {
    int taken;
    PARTS_ASK(m, taken, 0, takes_frame, (m, b, w, frame, bytes));
    return taken ? 0 : -1;
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
    if (way == NONE) return 1; /* the warp ends before any point, so it writes nothing */
    if (gpump_sm_block(m->sms[b->sm]->gpump, m->now, b->ref, &state) != GPUMP_OK) return 1;
    memset(&decision, 0, sizeof decision);
    context_live(view, k, w, live);
    here_live = gpump_bits_count(live, CONTEXT_LIVE_WORDS);
    decision.here_bytes = here_live * SEGMENT_BYTES;
    if (m->context_form >= CONTEXT_LIVE_COMPRESS && make_layout(k, &layout)) {
        /* Only the last warp of a block may be partly filled. */
        if (w->index + 1u < layout.warps) layout.last_lanes = layout.lanes;
        layout.warps = 1;
        if (gpump_compress_count(&layout, warp_registers(m, b, w), live, 0, &counts, NULL) == GPUMP_OK)
            decision.here_bytes = counts.bytes[GPUMP_COMPRESS_FORM_WARP];
    }
    decision.there_bytes = here_live ? gpump_muldiv_up(decision.here_bytes, live_there, here_live) : 0;
    decision.distance = way;
    executed = state.executed / b->warp_count;
    if (!executed) return 0; /* too few instructions to know the block's speed */
    decision.cpi_q16 = gpump_muldiv_up(state.cycles, 65536, executed);
    /* The SM's share of the bandwidth serves all warps that are stopping: what one of them writes, the others wait for.
     */
    decision.port = m->port;
    decision.port.cycles *= gpump_bits_count64(m->sms[b->sm]->present);
    return gpump_spill_run_on(&decision, NULL, NULL);
}
