/* fault_part: the part of a machine whose look-ups of pages may wait or fault: its options, its memory, its hooks. */
#include "launch/absent_list.h"
#include "machine/machine_options.h"
#include "parts/faults/fault_context.h"
#include "parts/faults/fault_facts.h"
#include "parts/faults/faults.h"
#include "parts/faults/faults_options.h"
#include "parts/faults/faults_report.h"
#include "parts/faults/look_ups.h"
#include "parts/faults/tlb.h"
#include "sass/trace_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static int make_sm(machine *m, sm *s, const gpump_replay_config *config, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t records = m->config.in_flight_records, handles = config->warps * GPUMP_REPLAY_WINDOW;
    sm_faults *f = (sm_faults *)arena_take(&m->arena, sizeof *f);
    gpump_diag diag;
    size_t bytes;
    void *part;
    char text[256];
    uint32_t i;
    memset(&diag, 0, sizeof diag);
    if (!f || !(f->records = (uint32_t *)arena_take_array(&m->arena, handles, sizeof *f->records)) ||
        !(f->refused = (uint32_t *)arena_take_array(&m->arena, records, sizeof *f->refused)) ||
        !(f->parked = (uint32_t *)arena_take_array(&m->arena, records, sizeof *f->parked)) ||
        !(f->checked = (uint32_t *)arena_take_array(&m->arena, records, sizeof *f->checked)) ||
        !(f->of_record = (look_up_record *)arena_take_array(&m->arena, records, sizeof *f->of_record)) ||
        !(f->of_warp = (fault_warp *)arena_take_array(&m->arena, config->warps, sizeof *f->of_warp))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the faults of SM %u", s->index);
        return -1;
    }
    for (i = 0; i < handles; i++) f->records[i] = NONE;
    f->parked_cycle = f->held_cycle = NEVER;
    if (gpump_bytes(&gpump_replay_component, config, &bytes, &diag) == GPUMP_OK &&
        (part = arena_take(&m->arena, bytes)) != NULL &&
        gpump_init(&gpump_replay_component, part, bytes, config, &f->replay, &diag) == GPUMP_OK) {
        s->of_part[PART_faults] = f;
        return 0;
    }
    gpump_diag_text(&diag, text, sizeof text);
    snprintf(error, LAUNCH_ERROR_BYTES, "gpump: %s", diag.field ? text : "out of memory for the replay queue");
    return -1;
}

/* Whether there are look-ups that may wait or fault, and how a faulted warp leaves the pipeline. */
static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    const faults_options *o = &options->faults;
    machine_faults *f;
    if (!o->scheme && !o->link && !absent_list_has(options->absent, "code") && !m->config.l1_tlb_entries) return 0;
    if (!(f = (machine_faults *)arena_take(&m->arena, sizeof *f)) ||
        !(f->outside = (replay_info **)arena_take_array(&m->arena, launch->kernel_count, sizeof *f->outside)) ||
        !(f->shared_is_tracked = (uint8_t *)arena_take(&m->arena, launch->kernel_count))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for faults");
        return -1;
    }
    if (gpump_preset(&gpump_replay_component, &f->config, o->scheme ? o->scheme : "stall", NULL) != GPUMP_OK) {
        snprintf(error, LAUNCH_ERROR_BYTES, "there is no scheme \"%s\" for faults", o->scheme);
        return -1;
    }
    f->config.order = o->order;
    f->config.on_fault = o->lazy ? GPUMP_REPLAY_LAZY : GPUMP_REPLAY_EAGER;
    m->of_part[PART_faults] = f;
    m->faults_may_happen = o->scheme != NULL;
    m->fault_scheme = f->config.scheme;
    if (f->config.scheme == GPUMP_REPLAY_QUEUE || f->config.scheme == GPUMP_REPLAY_LOG)
        m->sources_released = RELEASE_WHEN_ALLOWED;
    f->forced_check = o->check;
    f->forced_interval = o->interval;
    m->in_turn |= o->check != NEVER;
    return 0;
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    machine_faults *f = (machine_faults *)m->of_part[PART_faults];
    uint32_t i;
    (void)launch;
    (void)options;
    if (!f) return 0;
    f->config.warps = warp_numbers(m);
    f->config.blocks = m->in_place ? BLOCK_ENTRIES_MAX : m->config.gpu.block_slots;
    for (i = 0; i < m->sm_count; i++)
        if (make_sm(m, m->sms[i], &f->config, error)) return -1;
    return tlb_make(m, &f->tlbs, error);
}

/* ---- the part ---- */

static int is_present(const machine *m) { return m->of_part[PART_faults] != NULL; }

static void window_begins(machine *m) { tlb_run(m, m->now + m->window_cycles); }

/* Without windows, the L2 TLB and the walkers work in every cycle, after the SMs. */
static void sms_have_run(machine *m) {
    if (m->window_cycles)
        tlb_end_window(m);
    else
        tlb_run(m, m->now + 1);
}

static uint64_t hash_sm(const machine *m, const sm *s, uint64_t hash) {
    (void)m;
    return gpump_hash_u64(hash, gpump_hash(&gpump_replay_component, sm_faults_of(s)->replay));
}

/* Every block has an equal part of the operand log: of the blocks of this kernel that fit the SM, or of as many as it
 * has slots where kernels meet there. */
static void sm_is_taken(machine *m, sm *s, uint32_t kernel_index) {
    const kernel *k = &m->kernels[kernel_index];
    gpump_occupancy occupancy;
    uint32_t most;
    tlb_sm_is_taken(m, s, k->process);
    PARTS_ASK(m, most, NONE, most_blocks, (m, kernel_index));
    if (most != NONE)
        faults_share_log(m, s, most);
    else if (m->config.kernels_per_sm > 1 ||
             gpump_gpu_occupancy(&m->config.gpu, &k->need, &occupancy, NULL) != GPUMP_OK)
        faults_share_log(m, s, m->config.gpu.block_slots);
    else
        faults_share_log(m, s, k->block_cap && k->block_cap < occupancy.blocks ? k->block_cap : occupancy.blocks);
}

/* Stops the warps of a block. A warp that waits for a page is saved together with its pending log entries. */
static void block_stops(machine *m, sm *s, block *b) {
    uint32_t i;
    for (i = 0; i < b->warp_count; i++) faults_stop_warp(m, s, &m->warps[b->warps[i]]);
}

static uint32_t block_waits(const machine *m, const sm *s, const block *b, uint32_t waits) {
    uint32_t i;
    (void)s;
    waits = 0;
    for (i = 0; m->faults_may_happen && i < b->warp_count; i++) /* a held warp's replays are in its context */
        if (faults_is_draining(m, &m->warps[b->warps[i]])) waits |= GPUMP_SM_WAIT_PIPELINE;
    return waits;
}

/* Called again with a later version of a kernel's code (errors/recompile.h), and whenever the program of a trace has
 * grown. Such rows lie outside the arena, which gives nothing back. */
static int prepare(machine *m, uint32_t kernel_index, const kernel_program *program, issue_info *info) {
    machine_faults *f = (machine_faults *)m->of_part[PART_faults];
    kernel *k = &m->kernels[kernel_index];
    const int in_arena = !k->replay && !k->launch->trace;
    replay_info *replays = in_arena ? (replay_info *)arena_take_array(&m->arena, program->count + 1u, sizeof *replays)
                                    : (replay_info *)calloc(program->count + 1u, sizeof *replays);
    if (!replays) return -1;
    if (!k->replay) f->shared_is_tracked[kernel_index] = (uint8_t)faults_track_shared(program); /* and so it stays */
    if (!in_arena) {
        free(f->outside[kernel_index]);
        f->outside[kernel_index] = replays;
    }
    faults_prepare(program, f->shared_is_tracked[kernel_index], replays, info);
    k->replay = replays;
    return 0;
}

static void close_part(machine *m) {
    machine_faults *f = (machine_faults *)m->of_part[PART_faults];
    uint32_t i;
    for (i = 0; f->outside && i < m->kernel_count; i++) free(f->outside[i]);
}

static void warp_came(machine *m, sm *s, warp *w) {
    memset(fault_warp_of(s, w), 0, sizeof(fault_warp));
    faults_open_warp(m, s, w);
}

static uint32_t fetched_ahead(const machine *m, const sm *s, const warp *w) {
    uint32_t ahead;
    PARTS_ASK(m, ahead, 0, fetched_ahead, (m, s, w));
    return ahead;
}

/* Does the next instruction of the warp find no room in the operand log? Its stack is one instruction further where
 * that is in the issue queue. */
static int waits_for_log(const machine *m, const warp *w) {
    const sm *s = w->sm == NONE ? NULL : m->sms[w->sm];
    const replay_info *info;
    if (!s || !sm_faults_of(s) || !w->stack.depth || w->slot == NONE) return 0;
    info = faults_info(m, w, simt_top(&w->stack)->pc - fetched_ahead(m, s, w));
    return info->kind > GPUMP_REPLAY_SYNC &&
           gpump_replay_may_issue_memory(sm_faults_of(s)->replay, w->number, info->log_units) == GPUMP_REASON_LOG_ROOM;
}

/* Returns the slots whose memory instruction finds no room in the replay queue or in the operand log. */
static uint64_t full(const machine *m, const sm *s, uint64_t ready) {
    uint64_t left = m->fault_scheme == GPUMP_REPLAY_QUEUE || m->fault_scheme == GPUMP_REPLAY_LOG
                        ? ready & s->unit_slots[UNIT_MEMORY]
                        : 0,
             slots = 0;
    for (; left; left &= left - 1) {
        const uint32_t slot = gpump_bits_lowest64(left);
        const warp *w = &m->warps[s->slot_warp[slot]];
        if (!faults_have_room(m, s, w, simt_top(&w->stack)->pc)) slots |= UINT64_C(1) << slot;
    }
    return slots;
}

static uint64_t may_issue(machine *m, sm *s, uint64_t ready) { return faults_may_issue(m, s, ready); }

static void issues(machine *m, sm *s, warp *w, in_flight *r) {
    faults_issued(m, s, w, (uint32_t)(r - s->records));
    if (m->memory_is_finite) sm_faults_of(s)->turn = (w->number + 1) % WARP_NUMBERS_MAX;
}

static int may_issue_one(machine *m, sm *s, const warp *w, const issue_info *info, uint32_t handle) {
    return handle == NONE ? faults_have_room(m, s, w, (uint32_t)(info - w->program))
                          : gpump_replay_may_reissue(sm_faults_of(s)->replay, handle) == GPUMP_REASON_YES;
}

/* The record of a withdrawn instruction is free for others. */
static void withdrawn(machine *m, sm *s, uint32_t record) {
    uint32_t *of_entry = &sm_faults_of(s)->records[sm_faults_of(s)->of_record[record].entry];
    (void)m;
    if (*of_entry == record) *of_entry = NONE;
}

/* Where memory is finite, replaying warps may wait for long. faults_cycle has already issued every entry that can issue
 * now. */
static uint64_t replaying(const machine *m, const sm *s) {
    uint64_t slots = 0;
    uint32_t number;
    if (m->memory_is_finite) return 0;
    FOR_EACH_NUMBER(sm_faults_of(s)->replaying, number) slots |= warp_bit(warp_numbered(m, s, number));
    return slots;
}

/* Does the warp wait only for room in the operand log that faulted warps hold? */
static int waits_for_pages(const machine *m, const sm *s, const warp *w) {
    const uint32_t ahead = fetched_ahead(m, s, w);
    const replay_info *info;
    if (w->in_flight > ahead) return 0;
    info = faults_info(m, w, simt_top(&w->stack)->pc - ahead);
    return info->kind > GPUMP_REPLAY_SYNC &&
           gpump_replay_waits_for_page(sm_faults_of(s)->replay, w->number, info->log_units);
}

static void warp_goes_on(machine *m, sm *s, warp *w) {
    w->fault_cycle = sm_time(m, s);
    s->changed |= warp_bit(w);
    sm_faults_of(s)->held_cycle = w->fault_cycle;
}

static uint32_t replay_state(const machine *m, const sm *s, const warp *w) {
    (void)m;
    return gpump_replay_state_of(sm_faults_of(s)->replay, w->number);
}

static void warp_is_back(machine *m, sm *s, warp *w) {
    (void)m;
    (void)w;
    sm_faults_of(s)->held_cycle = s->now; /* its pages may have come meanwhile */
}

const part faults_part = {
    .name = "faults",
    .traits = PART_SEES_PLACEMENTS | PART_ON_PATH | PART_LOOKS_UP,
    .options = faults_option_rows,
    .rules = faults_rules,
    .options_at = offsetof(machine_options, faults),
    .is_present = is_present,
    .next = tlb_next,
    .window_begins = window_begins,
    .sms_have_run = sms_have_run,
    .rights_change = tlb_forget,
    .hash = tlb_hash,
    .sm_is_taken = sm_is_taken,
    .block_stops = block_stops,
    .block_waits = block_waits,
    .warp_came = warp_came,
    .warp_leaves = faults_close_warp,
    .retires = faults_committed,
    .enters_checks = look_ups_enter,
    .look_up = look_ups_cycle,
    .before_issue = faults_cycle,
    .next_of_sm = faults_next,
    .full = full,
    .may_issue = may_issue,
    .issues = issues,
    .fetched = faults_fetched,
    .may_issue_one = may_issue_one,
    .withdrawn = withdrawn,
    .issues_again = faults_issue_again,
    .replaying = replaying,
    .releases_sources = faults_release_sources,
    .leaves_unit = look_ups_leave,
    .pages_came = look_ups_pages_came,
    .pages_leave = look_ups_pages_leave,
    .warp_goes_on = warp_goes_on,
    .warp_is_back = warp_is_back,
    .replay_state = replay_state,
    .waits_for_pages = waits_for_pages,
    .waits_for_log = waits_for_log,
    .warp_squashed = faults_forget,
    .configure = configure,
    .make = make,
    .close = close_part,
    .prepare = prepare,
    .context_bytes = faults_context_bytes,
    .put_sections = faults_put_sections,
    .get_sections = faults_get_sections,
    .needs_registers = faults_sources,
    .report = faults_report,
    .report_json = faults_report_json,
    .hash_sm = hash_sm,
};
