/* rewind: blocks that leave by going back to the start of their idempotent regions (iGPU), and what of a restart PC
 * travels in a context. sm/restart.h is the way back itself. */
#include "machine/machine_options.h"
#include "preemption/context_bytes.h"
#include "preemption/context_forms.h"
#include "sm/gate.h"
#include "sm/restart.h"

#include <stdio.h>
#include <string.h>

#define RESTART_WORDS (3u + 4u * SIMT_DEPTH) /* of the section RESTART of one warp, at most */

/* Clears the registers that are dead where the warp continues, except the registers that are live at the start of its
 * sparse region. A later rewind may send the warp there. */
static void overwrite_dead(machine *m, sm *s, warp *w, uint32_t region) {
    const block *b = &m->blocks[w->block];
    const kernel *k = &m->kernels[b->kernel];
    uint64_t live[CONTEXT_LIVE_WORDS], further[CONTEXT_LIVE_WORDS];
    warp start = *w;
    uint32_t r, lane, *registers = warp_registers(m, b, w);
    (void)region;
    if (!m->config.overwrite_freed || !m->views || w->slot == NONE) return; /* switched out: they are packed */
    context_live(m->views[b->kernel], k, w, live);
    restart_where(s, w, GPUMP_RESTART_SPARSE, &start.stack);
    context_live(m->views[b->kernel], k, &start, further);
    for (r = 0; r < k->registers; r++) {
        if (gpump_bits_get(live, r) || gpump_bits_get(further, r)) continue;
        for (lane = 0; lane < LANES; lane++) registers[r * LANES + lane] = 0xdeadbeefu ^ r;
    }
}

/* ---- contexts ---- */

static uint64_t context_bytes(const machine *m, const kernel *k) {
    return m->restarts_travel ? (uint64_t)k->warps * (GPUMP_CONTEXT_SECTION_BYTES + RESTART_WORDS * 8u) : 0;
}

/* The section of a warp that may have to go back behind the restore. */
static void put_sections(machine *m, const warp *w, gpump_context_writer *writer) {
    uint64_t words[RESTART_WORDS];
    uint32_t count = 0;
    gpump_result result;
    if (!m->restarts_travel || m->omit_section == GPUMP_CONTEXT_RESTART) return;
    result = gpump_restart_save(m->sms[w->sm]->restart, w->number, words, RESTART_WORDS, &count);
    if (result == GPUMP_BUSY) { /* a running warp is measured; one that leaves has detected its errors before */
        gpump_context_reserve(writer, GPUMP_CONTEXT_RESTART, w->index, count * sizeof *words);
        return;
    }
    machine_must(m, "gpump_restart_save", result, NULL);
    gpump_context_put_words(writer, GPUMP_CONTEXT_RESTART, w->index, words, count);
}

static void get_sections(machine *m, warp *w, gpump_context_reader *reader) {
    uint64_t words[RESTART_WORDS];
    gpump_diag diag;
    uint32_t count;
    memset(&diag, 0, sizeof diag);
    if (!m->restarts_travel) return;
    if (gpump_context_get_words(reader, GPUMP_CONTEXT_RESTART, w->index, words, RESTART_WORDS, &count) != GPUMP_OK)
        return;
    machine_must(m, "gpump_restart_restore",
                 gpump_restart_restore(m->sms[w->sm]->restart, w->number, words, count, &diag), &diag);
}

/* The registers that a warp needs to go back. */
static void needs_registers(const machine *m, const warp *w, uint64_t *live) {
    const block *b = &m->blocks[w->block];
    const sm *s = m->sms[b->sm];
    uint64_t there[CONTEXT_LIVE_WORDS];
    warp start = *w;
    uint32_t region, i;
    if (!w->stack.depth || !m->restarts_travel ||
        !gpump_restart_may_go_back(s->restart, w->number, GPUMP_RESTART_SHORT))
        return;
    start.barrier = NONE;
    for (region = 0; region < GPUMP_RESTART_REGIONS; region++) {
        restart_where(s, w, region, &start.stack);
        context_live(m->views[b->kernel], &m->kernels[b->kernel], &start, there);
        for (i = 0; i < CONTEXT_LIVE_WORDS; i++) live[i] |= there[i];
    }
}

/* ---- warps and blocks ---- */

static void warp_came(machine *m, sm *s, warp *w) {
    machine_must(m, "gpump_restart_open", gpump_restart_open(s->restart, w->number), NULL);
}

/* A traced warp without a step has ended. */
static void warp_starts(machine *m, sm *s, warp *w) {
    if (w->stack.depth) restart_record(m, s, w, 0);
}

static void warp_leaves(machine *m, sm *s, warp *w) {
    machine_must(m, "gpump_restart_close", gpump_restart_close(s->restart, w->number), NULL);
}

static uint64_t hash_sm(const machine *m, const sm *s, uint64_t hash) {
    (void)m;
    return gpump_hash_u64(hash, gpump_hash(&gpump_restart_component, s->restart));
}

/* Sends every warp back to the start of its region, where the warp stays. A warp that must not repeat its region runs
 * on to the next region boundary. */
static void block_rewinds(machine *m, sm *s, block *b) {
    uint32_t i, running = 0;
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        if (gate_stopped(w)) continue;
        if (w->stack.depth && w->barrier == NONE) {
            const uint64_t dropped = gpump_restart_since(s->restart, w->number, GPUMP_RESTART_SPARSE);
            if (!restart_warp(m, s, w, GPUMP_RESTART_SPARSE)) {
                running++;
                continue;
            }
            b->rewound += dropped;
            machine_must(m, "gpump_sm_report_rewound", gpump_sm_report_rewound(s->gpump, b->ref, dropped), NULL);
            m->kernels[b->kernel].wasted_warp_instructions += dropped;
            if (b->preemption != NONE) m->preemptions[b->preemption].wasted_warp_instructions += dropped;
        }
        gate_stop(s, w);
    }
    if (!running) b->to_point = 0;
}

/* Estimates a rewind of one block: the bytes that are live at the warps' restart points, and the work that the warps
 * have done since. A block that can be switched can also go back, at the latest at the next boundary. */
static void price_rewind(machine *m, const block *b, gpump_cost_rewind *rewind) {
    warp there;
    const kernel *k = &m->kernels[b->kernel];
    const sm *s = m->sms[b->sm];
    uint32_t i, registers;
    rewind->bytes = b->keep & GPUMP_PART_SHARED_MEMORY ? 0 : k->shared_bytes;
    rewind->executed = 0;
    for (i = 0; i < b->warp_count; i++) {
        const warp *w = &m->warps[b->warps[i]];
        if (!w->stack.depth) continue;
        there = *w;
        if (restart_may(s, w, GPUMP_RESTART_SPARSE)) {
            restart_where(s, w, GPUMP_RESTART_SPARSE, &there.stack);
            rewind->executed += gpump_restart_since(s->restart, w->number, GPUMP_RESTART_SPARSE);
        }
        rewind->bytes += context_bytes_of_warp(m, b, &there, &registers);
    }
}

/* ---- the part ---- */

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    (void)launch;
    (void)error;
    /* In a frame of --duet lies what a warp needs to go back, too. */
    m->restarts_travel =
        m->regions && (options->duet || (options->faults.scheme && !strcmp(options->faults.scheme, "regions")));
    return m->regions ? restart_configure(m, "igpu") : 0;
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    (void)launch;
    (void)options;
    if (!m->regions || !restart_make(m)) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for restart PCs");
    return -1;
}

static int is_present(const machine *m) { return m->regions != 0; }

static void issued(machine *m, sm *s, warp *w, const in_flight *r) {
    const int is_short = r->instruction->variant == VARIANT_SHORT;
    if (!r->info->is_boundary) return;
    if (m->region_log && !is_short)
        region_log_add(m->region_log, m->blocks[r->block].kernel, r->pc, w->region_instructions);
    if (!is_short) w->region_instructions = 0;
    restart_record(m, s, w, is_short);
}

static void retires(machine *m, sm *s, const in_flight *r) {
    gpump_restart_report_executed(s->restart, m->warps[r->warp].number);
}

const part restart_part = {
    .name = "restart",
    .traits = PART_ON_PATH,
    .configure = configure,
    .make = make,
    .is_present = is_present,
    .block_rewinds = block_rewinds,
    .price_rewind = price_rewind,
    .warp_came = warp_came,
    .warp_starts = warp_starts,
    .warp_leaves = warp_leaves,
    .issued = issued,
    .retires = retires,
    .warp_goes_back = overwrite_dead,
    .context_bytes = context_bytes,
    .put_sections = put_sections,
    .get_sections = get_sections,
    .needs_registers = needs_registers,
    .hash_sm = hash_sm,
};
