#include "preemption/context_pipeline.h"

#include <stdio.h>
#include <string.h>

#include "sm/gate.h"
#include "preemption/context_bytes.h"
#include "preemption/context_forms.h"
#include "timeline.h"

/* Estimate of the bytes of a context besides registers, stacks, predicates and shared memory: headers,
 * coordinates, barriers. */
#define BLOCK_BYTES 256u

int context_pipeline_make(machine *m, sm *s, char error[LAUNCH_ERROR_BYTES]) {
    gpump_spill_config config;
    gpump_diag diag;
    size_t bytes;
    void *memory;
    char text[256];
    memset(&diag, 0, sizeof diag);
    if (gpump_preset(&gpump_spill_component, &config, m->config.preset, NULL) != GPUMP_OK) {
        snprintf(error, LAUNCH_ERROR_BYTES, "gpump: no pipeline for %s", m->config.preset);
        return -1;
    }
    config.jobs = m->config.gpu.block_slots * (m->in_place ? 2u : 1u); /* parked blocks may be saved too */
    config.warps = m->config.gpu.warp_slots * (m->beyond_room || m->in_place ? 2u : 1u);
    config.segment_bytes = SEGMENT_BYTES;
    config.outstanding = REQUESTS_PER_SM / 2; /* the other half is for loads and stores */
    if (m->context_form < CONTEXT_LIVE_COMPRESS) config.compress_cycles = 0;
    if (gpump_bytes(&gpump_spill_component, &config, &bytes, &diag) == GPUMP_OK &&
        (memory = arena_take(&m->arena, bytes)) != NULL &&
        gpump_init(&gpump_spill_component, memory, bytes, &config, &s->spill, &diag) == GPUMP_OK)
        return 0;
    gpump_diag_text(&diag, text, sizeof text);
    snprintf(error, LAUNCH_ERROR_BYTES, "gpump: %s", diag.field ? text : "out of memory");
    return -1;
}

/* Returns the bytes of shared memory that do not stay in place. */
static uint32_t moved_shared(const machine *m, const block *b) {
    return b->keep & GPUMP_PART_SHARED_MEMORY ? 0 : m->kernels[b->kernel].shared_bytes;
}

/* ---- saving ---- */

/* The space for the block's context, which it has taken already, and for further ones of its kernel. */
static gpump_context_room room_of(const machine *m, const block *b) {
    gpump_context_room room = gpump_context_pool_room(m->context_pool, b->kernel + 1);
    room.contexts += b->context != NEVER;
    return room;
}

void context_pipeline_stop(machine *m, sm *s, block *b) {
    const gpump_context_room room = room_of(m, b);
    machine_must(m, "gpump_spill_save",
                 gpump_spill_save(s->spill, m->now, (uint64_t)(b - m->blocks), b->warp_count, moved_shared(m, b),
                                  BLOCK_BYTES, &room, &b->job),
                 NULL);
    b->reported = 0;
    b->moved_bytes = 0;
    b->sent_bytes = 0;
    s->contexts_moving++;
}

static void report_warp(machine *m, sm *s, block *b, uint32_t index, uint32_t registers, uint64_t bytes) {
    gpump_spill_warp warp;
    warp.point_cycle = warp.drained_cycle = m->now;
    warp.registers = registers ? registers : 1;
    warp.bytes = (uint32_t)bytes;
    machine_must(m, "gpump_spill_report_drained", gpump_spill_report_drained(s->spill, m->now, b->job, &warp), NULL);
    b->reported |= UINT64_C(1) << index;
    b->moved_bytes += bytes;
}

void context_pipeline_watch(machine *m, sm *s, block *b) {
    uint32_t i, left = 0;
    if (b->job == NONE || m->context_form == CONTEXT_TB || b->atomics)
        return; /* compression over the whole block needs all warps drained */
    for (i = 0; i < b->warp_count; i++) left += !(b->reported >> i & 1);
    for (i = 0; i < b->warp_count && left > 1; i++) {
        const warp *w = &m->warps[b->warps[i]];
        uint32_t registers;
        uint64_t bytes;
        if (b->reported >> i & 1 ||
            (w->stack.depth && (!gate_stopped(w) || w->in_flight || w->stores || w->speculates)))
            continue;
        bytes = context_bytes_of_warp(m, b, w, &registers);
        report_warp(m, s, b, i, registers, bytes);
        left--;
    }
}

/* Returns the bytes of a context beside `of_warps` and shared memory. */
static uint32_t rest_of(uint64_t bytes, uint64_t of_warps, uint64_t shared) {
    return bytes > of_warps + shared ? (uint32_t)(bytes - of_warps - shared) : 0;
}

void context_pipeline_save(machine *m, sm *s, block *b, uint64_t bytes) {
    const kernel *k = &m->kernels[b->kernel];
    uint64_t of_warps[BLOCK_WARPS_MAX];
    uint32_t i, registers = b->keep & GPUMP_PART_REGISTERS ? 0 : k->registers;
    context_bytes_of_warps(m, b, of_warps);
    for (i = 0; i < b->warp_count; i++) {
        if (b->reported >> i & 1) continue;
        if (m->context_form != CONTEXT_TB) context_bytes_of_warp(m, b, &m->warps[b->warps[i]], &registers);
        report_warp(m, s, b, i, registers, of_warps[i]);
    }
    machine_must(m, "gpump_spill_report_metadata",
                 gpump_spill_report_metadata(s->spill, b->job, rest_of(bytes, b->moved_bytes, moved_shared(m, b))),
                 NULL);
    b->moving = REQUEST_SAVE;
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

void context_pipeline_save_rest(machine *m, sm *s, block *b) {
    const kernel *k = &m->kernels[b->kernel];
    const uint32_t shared = b->shared_bytes ? k->shared_bytes : 0, registers = b->registers ? k->registers : 0;
    const gpump_context_room room = room_of(m, b);
    uint32_t i;
    machine_must(m, "gpump_spill_save",
                 gpump_spill_save(s->spill, m->now, (uint64_t)(b - m->blocks), k->warps, shared, 0, &room, &b->job),
                 NULL);
    if (m->failed) return;
    s->contexts_moving++;
    for (i = 0; i < k->warps; i++) report_warp(m, s, b, i, registers, (uint64_t)registers * LANES * sizeof(uint32_t));
    machine_must(m, "gpump_spill_report_metadata", gpump_spill_report_metadata(s->spill, b->job, 0), NULL);
    b->moving = REQUEST_SAVE;
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

void context_pipeline_cancel(machine *m, sm *s, block *b) {
    if (b->job == NONE) return;
    machine_must(m, "gpump_spill_cancel", gpump_spill_cancel(s->spill, m->now, b->job), NULL);
    b->job = NONE;
    s->contexts_moving--;
}

/* ---- restoring ---- */

void context_pipeline_restore(machine *m, sm *s, block *b, uint64_t bytes) {
    const kernel *k = &m->kernels[b->kernel];
    gpump_spill_warp warps[BLOCK_WARPS_MAX];
    uint64_t of_warps[BLOCK_WARPS_MAX], sum = 0;
    const uint32_t shared = moved_shared(m, b);
    uint32_t i;
    memset(warps, 0, sizeof warps);
    context_bytes_of_warps(m, b, of_warps);
    for (i = 0; i < b->warp_count; i++) {
        warps[i].registers = k->registers ? k->registers : 1;
        warps[i].bytes = (uint32_t)of_warps[i];
        sum += of_warps[i];
    }
    machine_must(m, "gpump_spill_restore",
                 gpump_spill_restore(s->spill, m->now, (uint64_t)(b - m->blocks), warps, b->warp_count, shared,
                                     rest_of(bytes, sum, shared), &b->job),
                 NULL);
    b->moving = REQUEST_RESTORE;
    b->sent_bytes = 0;
    s->contexts_moving++;
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

/* ---- segments ---- */

/* Returns a block that has been saved or restored. */
static uint32_t done(machine *m, sm *s, const gpump_spill_action *action) {
    m->blocks[action->cookie].job = NONE;
    s->contexts_moving--;
    return (uint32_t)action->cookie;
}

void context_pipeline_moved(machine *m, sm *s, block *b) {
    if (b->job == NONE) return;
    b->transfers--;
    machine_must(m, "gpump_spill_report_moved", gpump_spill_report_moved(s->spill, m->now, b->job, 1), NULL);
}

uint32_t context_pipeline_done(machine *m, sm *s) {
    gpump_spill_action action;
    while (s->contexts_moving && !m->failed && gpump_spill_next_event(s->spill, m->now, &action) == GPUMP_OK)
        if (action.kind == GPUMP_SPILL_DONE) return done(m, s, &action);
    return NONE;
}

context_pipeline_step context_pipeline_next(machine *m, sm *s, uint32_t *block_index, uint32_t *kind,
                                            uint64_t *address) {
    gpump_spill_action action;
    while (s->contexts_moving && !m->failed && gpump_spill_next(s->spill, m->now, &action) == GPUMP_OK) {
        block *b = &m->blocks[action.cookie];
        switch (action.kind) {
        case GPUMP_SPILL_WRITE:
        case GPUMP_SPILL_READ:
            *block_index = (uint32_t)action.cookie;
            *kind = action.kind == GPUMP_SPILL_WRITE ? REQUEST_SAVE : REQUEST_RESTORE;
            if (!b->sent_bytes && !b->gives_up) /* the block has the port from this segment on */
                PARTS_TELL(m, block_phase, (m, b, action.kind == GPUMP_SPILL_WRITE ? TIMELINE_SAVE : TIMELINE_RESTORE));
            *address = m->context_base + b->context * m->context_stride + b->sent_bytes;
            b->sent_bytes += SEGMENT_BYTES;
            b->transfers++;
            return CONTEXT_PIPELINE_SEGMENT;
        case GPUMP_SPILL_DONE: *block_index = done(m, s, &action); return CONTEXT_PIPELINE_DONE;
        default: break; /* a warp's registers have arrived; its block waits for those of other warps */
        }
    }
    return CONTEXT_PIPELINE_EMPTY;
}
