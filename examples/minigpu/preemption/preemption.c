/* The wiring of gpump: how a GPU that knows nothing of preemption learns it. Everything gpump asks of a host is in this
 * file.
 *
 *   1. At the start each SM gets a gpump_sm, which keeps who holds which registers and shared memory; the machine gets
 * one gpump_context_pool, the space for saved blocks. Both lie in the machine's arena.
 *   2. A block is placed: gpump_sm_place says where its registers and shared memory are, or why there is no room.
 *   3. While it runs, the pipeline reports two facts: instructions executed, and "has overwritten what it has read".
 *   4. Somebody wants the SM: gpump_sm_preempt tells each block how to leave: flush, switch or drain.
 *   5. gpump_sm_next hands over what is to be done, one action at a time. The function `actions` below carries it out:
 *        STOP     the block issues no more; each cycle we report what it still waits for, until nothing is left
 *        SAVE     its state goes to memory as a gpump_context; its bytes travel, warp by warp as they drain
 *                 (context_pipeline.c), then we report saved
 *        RESTORE  the same way back, into whatever place gpump_sm_place found on this SM
 *        DROP     what is in flight vanishes; the block will start anew
 *        PARKED   the same for a part of it: the rest stays in place (--in-place), and the block comes back here
 *        FREED    its place is free, and overwritten, so that nobody lives on what was left there
 *      Which registers are saved, and where warps stop, is context_forms.c's business.
 *   6. The dispatcher (dispatcher.c) gives preempted blocks to SMs before new ones. */
#include "preemption/preemption.h"

#include <stdio.h>
#include <string.h>

#include "preemption/context_forms.h"
#include "preemption/context_pipeline.h"
#include "memory/memory_path.h"
#include "machine/pipeline.h"
#include "preemption/preemption_schedule.h"
#include "machine/read_set.h"
#include "machine/restart.h"
#include "machine/trace.h"
#include "preemption/victims.h"

#define FREED_PATTERN 0xdeadbeefu
#define BIT(slot) (UINT64_C(1) << (slot))

static void actions(machine *m, sm *s);

/* Tells the trace, when there is one. */
static void show(const machine *m, const block *b, timeline_phase phase) {
    if (m->trace) trace_block(m, b, phase);
}

/* Every fact and request below is right by construction; if gpump objects, the wiring is wrong, and the machine stops
 * with gpump's words. */
static void must(machine *m, const char *what, gpump_result result, const gpump_diag *diag) {
    char text[256] = "";
    if (result == GPUMP_OK) return;
    if (diag) gpump_diag_text(diag, text, sizeof text);
    machine_fail(m, "cycle %llu: %s: %s %s", (unsigned long long)m->now, what, gpump_result_name(result), text);
}

/* ==== 1. Before the first cycle ==== */

static int refused(char error[LAUNCH_ERROR_BYTES], const gpump_diag *diag) {
    char text[256];
    gpump_diag_text(diag, text, sizeof text);
    snprintf(error, LAUNCH_ERROR_BYTES, "gpump: %s", text);
    return -1;
}

int preemption_make_sm(machine *m, sm *s, uint32_t shared_bytes, char error[LAUNCH_ERROR_BYTES]) {
    gpump_sm_config config;
    gpump_diag diag;
    size_t bytes;
    void *memory;
    memset(&diag, 0, sizeof diag);
    if (gpump_sm_config_from_gpu(&config, &m->config.gpu, shared_bytes) != GPUMP_OK) {
        snprintf(error, LAUNCH_ERROR_BYTES, "gpump: no SM of that kind with %u bytes of shared memory", shared_bytes);
        return -1;
    }
    s->shared_bytes = shared_bytes;
    config.kernels = m->config.kernels_per_sm +
                     (m->in_place ? m->kernel_count : 0); /* parked blocks count; dispatcher.c counts those that run */
    if (config.kernels > 64) config.kernels = 64;
    config.entries = m->in_place ? config.block_slots * 2 : config.block_slots;
    if (config.entries > 64) config.entries = 64;
    config.waits = GPUMP_SM_WAIT_PIPELINE | GPUMP_SM_WAIT_STORES | GPUMP_SM_WAIT_ATOMICS | GPUMP_SM_WAIT_SCOREBOARD |
                   GPUMP_SM_WAIT_PREEMPTION_POINT;
    config.timing = GPUMP_SM_TIMING_HOST;               /* contexts take the memory path, with everybody else */
    if (m->policy) config.placement = GPUMP_SM_ALIGNED; /* predetermined positions (Shieh 3.2) */
    if (gpump_sm_bytes(&config, &bytes, &diag) != GPUMP_OK) return refused(error, &diag);
    if (!(memory = arena_take(&m->arena, bytes))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    if (gpump_sm_init(memory, bytes, &config, &s->gpump, &diag) != GPUMP_OK) return refused(error, &diag);
    return context_pipeline_make(m, s, error);
}

int preemption_make_context_pool(machine *m, uint32_t contexts_per_kernel, char error[LAUNCH_ERROR_BYTES]) {
    gpump_context_pool_config config;
    gpump_diag diag;
    size_t bytes;
    void *memory;
    memset(&config, 0, sizeof config);
    memset(&diag, 0, sizeof diag);
    config.struct_size = sizeof config;
    config.kernels = m->kernel_count;
    config.contexts = contexts_per_kernel;
    config.context_bytes = m->context_stride;
    if (gpump_context_pool_bytes(&config, &bytes, &diag) != GPUMP_OK) return refused(error, &diag);
    if (!(memory = arena_take(&m->arena, bytes))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    if (gpump_context_pool_init(memory, bytes, &config, &m->context_pool, &diag) != GPUMP_OK)
        return refused(error, &diag);
    return 0;
}

void preemption_kernel_starts(machine *m, uint32_t kernel_index) {
    must(m, "gpump_context_pool_open", gpump_context_pool_open(m->context_pool, kernel_index + 1), NULL);
}

void preemption_kernel_ends(machine *m, uint32_t kernel_index) {
    must(m, "gpump_context_pool_close", gpump_context_pool_close(m->context_pool, kernel_index + 1), NULL);
}

/* ==== 2. A block is placed ==== */

static block *take_block(machine *m, uint32_t *index) {
    block *b;
    *index = m->free_block;
    if (*index == NONE) return NULL;
    b = &m->blocks[*index];
    m->free_block = b->next_free;
    memset(b, 0, sizeof *b);
    return b;
}

static void make_environment(machine *m, block *b, const uint32_t coordinates[3]) {
    const kernel *k = &m->kernels[b->kernel];
    lanes_environment *e = &b->environment;
    memset(e, 0, sizeof *e);
    memcpy(e->block, coordinates, sizeof e->block);
    memcpy(e->grid, k->launch->grid, sizeof e->grid);
    memcpy(e->block_threads, k->launch->block, sizeof e->block_threads);
    e->sm = b->sm;
    e->sm_count = m->sm_count;
    e->dynamic_shared_bytes = k->launch->dynamic_shared_bytes;
    e->total_shared_bytes = k->shared_bytes;
    e->grid_id = b->kernel + 1;
    e->parameters = k->parameters;
    e->parameter_bytes = k->program->parameter_bytes;
}

static void coordinates_of(const kernel *k, uint64_t linear, uint32_t coordinates[3]) {
    coordinates[0] = (uint32_t)(linear % k->launch->grid[0]);
    coordinates[1] = (uint32_t)(linear / k->launch->grid[0] % k->launch->grid[1]);
    coordinates[2] = (uint32_t)(linear / k->launch->grid[0] / k->launch->grid[1]);
}

/* Binds warps to slots of the SM; what they execute next is set by the caller. */
static void take_warps(machine *m, sm *s, uint32_t block_index) {
    block *b = &m->blocks[block_index];
    const kernel *k = &m->kernels[b->kernel];
    uint32_t i, threads = k->need.threads;
    for (i = 0; i < k->warps; i++) {
        uint32_t index = m->free_warp, slot = gpump_bits_lowest64(~s->occupied);
        warp *w = &m->warps[index];
        m->free_warp = w->block; /* free warps are linked through it */
        memset(w, 0, sizeof *w);
        w->block = block_index;
        w->index = i;
        w->slot = slot;
        w->sm = s->index;
        w->register_base = b->register_base + i * k->registers * LANES;
        w->lanes = threads >= LANES ? UINT32_MAX : (1u << threads) - 1;
        threads -= threads >= LANES ? LANES : threads;
        w->barrier = NONE;
        w->fetch_enabled = 1;
        s->slot_age[slot] = m->ages++;
        b->warps[i] = index;
        b->slots |= BIT(slot);
        s->occupied |= BIT(slot);
        s->slot_warp[slot] = index;
    }
    b->warp_count = k->warps;
}

/* The block may issue from the next cycle on. */
static void start_warps(machine *m, sm *s, block *b) {
    uint32_t i;
    b->live_warps = 0;
    s->stopped &= ~b->slots;
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        s->fetched &= ~BIT(w->slot);
        pipeline_refresh_warp(m, s, w);
        if (!w->stack.depth) continue;
        b->live_warps++;
        pipe_put(&s->pipes[PIPE_FETCH], m->now, b->warps[i]);
    }
    b->start_cycle = m->now;
    show(m, b, TIMELINE_RUN);
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

gpump_reason preemption_place(machine *m, sm *s, uint32_t kernel_index, uint64_t linear, const preempted_block *saved) {
    kernel *k = &m->kernels[kernel_index];
    gpump_sm_request request;
    gpump_block_ref ref;
    gpump_block_view view;
    gpump_diag diag;
    gpump_result result;
    block *b;
    uint32_t index, i, coordinates[3];
    int restores = saved && saved->context != NEVER;
    victims_account(m);
    memset(&request, 0, sizeof request);
    memset(&diag, 0, sizeof diag);
    request.cookie = (uint64_t)(kernel_index + 1) << 40 | linear;
    request.kernel = kernel_index + 1;
    request.need = k->need;
    if (saved && saved->home_sm != NONE) { /* it is still here in part */
        ref = saved->parked;
        result = gpump_sm_unpark(s->gpump, m->now, ref, &diag);
    } else {
        result = gpump_sm_place(s->gpump, m->now, &request, restores ? &saved->history : NULL, &ref, &diag);
    }
    if (result == GPUMP_BUSY || result == GPUMP_ERROR_REFUSED) return diag.reason;
    must(m, "gpump_sm_place", result, &diag);
    if (m->failed || !(b = take_block(m, &index))) return GPUMP_REASON_BLOCK_SLOTS;
    must(m, "gpump_sm_block", gpump_sm_block(s->gpump, m->now, ref, &view), NULL);
    b->life = ++m->lives;
    b->linear = linear;
    b->kernel = kernel_index;
    b->sm = s->index;
    b->ref = ref;
    b->register_base = view.register_base;
    b->shared_base = view.shared_base;
    b->context = NEVER;
    b->local_frame = NONE;
    b->preemption = NONE;
    b->job = NONE;
    b->victim = NONE;
    b->flushes = saved ? saved->flushes : 0;
    if (saved) {
        b->history = saved->history;
        b->context_bytes = saved->context_bytes;
        b->keep = saved->home_sm != NONE ? saved->kept : 0;
        s->parked -= saved->home_sm != NONE;
    }
    s->block_of_entry[ref.slot] = index;
    s->resident++;
    if (!s->kernel_resident[kernel_index]++) s->resident_since[kernel_index] = m->now;
    k->resident++;
    if (k->start_cycle == NEVER) k->start_cycle = m->now;
    k->ran_on |= UINT64_C(1) << (s->index & 63u);
    k->resumed += saved != NULL;
    k->resumed_elsewhere += saved && saved->left_sm != s->index;
    take_warps(m, s, index);
    s->stopped |= b->slots;
    s->present &= ~b->slots;
    read_set_clear(m, s, ref.slot);
    if (restores) {
        b->context = saved->context; /* a RESTORE action follows */
        read_set_assume_all(m, s, ref.slot);
    } else {
        if (k->program->local_bytes) b->local_frame = m->local_free[--m->local_count_free];
        b->local_base = b->local_frame == NONE ? 0 : m->local_base + b->local_frame * m->local_stride;
        coordinates_of(k, linear, coordinates);
        make_environment(m, b, coordinates);
        for (i = 0; i < b->warp_count; i++) {
            simt_start(&m->warps[b->warps[i]].stack, m->warps[b->warps[i]].lanes);
            restart_record(&m->warps[b->warps[i]], 0);
        }
        start_warps(m, s, b);
    }
    victims_placed(m, b);
    actions(m, s);
    return GPUMP_REASON_YES;
}

/* ==== 3. Facts (the hot ones are inline in preemption.h) ==== */

void preemption_block_done(machine *m, sm *s, block *b) {
    gpump_result result;
    victims_account(m); /* while it still counts as running */
    result = gpump_sm_report_done(s->gpump, m->now, b->ref);
    must(m, "gpump_sm_report_done", result, NULL);
    if (b->stopping) s->stopping--;
    b->stopping = 0;
    context_pipeline_cancel(m, s, b);
    if (b->context != NEVER) { /* it was to be saved, and has ended first */
        must(m, "gpump_context_pool_give", gpump_context_pool_give(m->context_pool, b->context), NULL);
        b->context = NEVER;
    }
    actions(m, s);
}

/* ==== 4. Decisions ==== */

/* Opens an entry of the log; NONE when it is full. */
static uint32_t log_entry(machine *m, const sm *s, uint32_t technique, uint32_t for_kernel, uint32_t blocks,
                          uint32_t lost_by) {
    preemption_entry *entry;
    if (m->preemption_count == PREEMPTION_LOG_ENTRIES) return NONE;
    entry = &m->preemptions[m->preemption_count];
    memset(entry, 0, sizeof *entry);
    entry->request_cycle = m->now;
    entry->end_cycle = NEVER;
    entry->sm = s->index;
    entry->technique = technique;
    entry->blocks = blocks;
    entry->kernel = lost_by;
    entry->for_kernel = for_kernel;
    return m->preemption_count++;
}

/* Takes space for those that are to be saved (who finds none drains) and tells gpump. All or none. */
static gpump_reason begin(machine *m, sm *s, gpump_block_choice *choices, uint32_t chosen, uint32_t for_kernel,
                          gpump_reason *first_refusal, uint32_t *refused_blocks) {
    timeline_estimate estimates[BLOCK_ENTRIES_MAX];
    gpump_diag diag;
    gpump_result result;
    uint32_t i;
    victims_account(m);
    memset(&diag, 0, sizeof diag);
    for (i = 0; i < chosen; i++) {
        block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
        /* A rewind is a switch whose warps go back to the start of their region instead of waiting for what is in
         * flight. */
        b->rewinding = choices[i].technique == GPUMP_TECHNIQUE_REWIND && m->regions;
        if (choices[i].technique == GPUMP_TECHNIQUE_REWIND) choices[i].technique = GPUMP_TECHNIQUE_SWITCH;
        if (choices[i].technique != GPUMP_TECHNIQUE_SWITCH) continue;
        choices[i].to_point = b->rewinding || m->stop_at_points != 0;
        b->keep = choices[i].keep;
        if (gpump_context_pool_take(m->context_pool, b->kernel + 1, m->kernels[b->kernel].context_bytes, &b->context) ==
            GPUMP_OK)
            continue;
        b->context = NEVER;
        b->rewinding = 0;
        choices[i].technique = GPUMP_TECHNIQUE_DRAIN;
        choices[i].to_point = choices[i].keep = b->keep = 0;
        *first_refusal = GPUMP_REASON_NO_CONTEXT_SPACE;
        (*refused_blocks)++;
    }
    if (m->trace) trace_estimate(m, s, choices, chosen, estimates);
    result = gpump_sm_preempt(s->gpump, m->now, choices, chosen, &diag);
    if (m->trace && result == GPUMP_OK) trace_victims(m, s, choices, chosen, for_kernel, estimates);
    if (result == GPUMP_OK) return GPUMP_REASON_YES;
    for (i = 0; i < chosen; i++) {
        block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
        if (choices[i].technique == GPUMP_TECHNIQUE_SWITCH)
            must(m, "gpump_context_pool_give", gpump_context_pool_give(m->context_pool, b->context), NULL);
        b->context = NEVER;
    }
    if (result != GPUMP_ERROR_REFUSED) must(m, "gpump_sm_preempt", result, &diag);
    return diag.reason;
}

static void finish(machine *m, sm *s, uint32_t for_kernel) {
    if (for_kernel) {
        must(m, "gpump_sm_reserve", gpump_sm_reserve(s->gpump, for_kernel), NULL);
        s->reserved_for = for_kernel;
    }
    actions(m, s);
    m->dispatch_needed = 1;
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

/* What the next kernel does not need stays where it is (Lin 2.3.1). The views are those of the choices, in the same
 * order. */
static void keep_in_place(const machine *m, const sm *s, uint32_t for_kernel, const gpump_block_view *views,
                          gpump_block_choice *choices, uint32_t count) {
    const kernel *k = &m->kernels[for_kernel - 1];
    const gpump_gpu *gpu = &m->config.gpu;
    gpump_occupancy occupancy;
    gpump_in_place_need need;
    gpump_in_place_plan plan;
    uint32_t give_up[BLOCK_ENTRIES_MAX], i;
    memset(&need, 0, sizeof need);
    if (!count || gpump_gpu_occupancy(gpu, &k->need, &occupancy, NULL) != GPUMP_OK || !occupancy.blocks) return;
    need.blocks = k->block_cap && k->block_cap < occupancy.blocks ? k->block_cap : occupancy.blocks;
    need.registers = occupancy.registers;
    need.shared_bytes = occupancy.block_shared_bytes;
    need.register_placement = need.shared_placement = GPUMP_IN_PLACE_BEST;
    if (gpump_in_place_find(views, count, gpu->registers, s->shared_bytes, &need, &plan, give_up, NULL, NULL, NULL) !=
        GPUMP_OK)
        return;
    for (i = 0; i < count; i++) choices[i].keep = GPUMP_PARTS_IN_PLACE & ~give_up[i];
}

gpump_reason preemption_request(machine *m, sm *s, uint32_t technique, uint32_t for_kernel, int strict) {
    gpump_block_view views[BLOCK_ENTRIES_MAX];
    gpump_block_choice choices[BLOCK_ENTRIES_MAX];
    uint32_t count = BLOCK_ENTRIES_MAX, chosen = 0, i, refused_blocks = 0;
    gpump_reason first_refusal = GPUMP_REASON_YES, reason;
    memset(choices, 0, sizeof choices);
    must(m, "gpump_sm_blocks", gpump_sm_blocks(s->gpump, m->now, views, BLOCK_ENTRIES_MAX, &count), NULL);
    for (i = 0; i < count; i++) {
        block *b = &m->blocks[s->block_of_entry[views[i].block.slot]];
        gpump_block_choice *choice = &choices[chosen];
        if (views[i].state != GPUMP_BLOCK_RUNNING && views[i].state != GPUMP_BLOCK_BLOCKED)
            continue; /* it is leaving, or just coming back */
        choice->block = b->ref;
        choice->technique = technique;
        reason = gpump_sm_may(s->gpump, b->ref,
                              technique == GPUMP_TECHNIQUE_REWIND ? (uint32_t)GPUMP_TECHNIQUE_SWITCH : technique);
        if (reason != GPUMP_REASON_YES && !strict && technique == GPUMP_TECHNIQUE_FLUSH) {
            if (first_refusal == GPUMP_REASON_YES) first_refusal = reason;
            refused_blocks++;
            choice->technique = GPUMP_TECHNIQUE_SWITCH;
        }
        chosen++;
    }
    if (m->in_place && for_kernel && technique == GPUMP_TECHNIQUE_SWITCH && chosen == count)
        keep_in_place(m, s, for_kernel, views, choices, count);
    reason = begin(m, s, choices, chosen, for_kernel, &first_refusal, &refused_blocks);
    if (reason != GPUMP_REASON_YES) return reason;
    if (chosen) {
        uint32_t entry = log_entry(m, s, technique, for_kernel, chosen,
                                   m->blocks[s->block_of_entry[choices[0].block.slot]].kernel + 1);
        for (i = 0; i < chosen; i++) {
            block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
            b->preemption = entry;
            if (choices[i].technique == GPUMP_TECHNIQUE_DRAIN) show(m, b, TIMELINE_DRAIN);
        }
        if (entry != NONE) {
            m->preemptions[entry].refused = first_refusal;
            m->preemptions[entry].refused_blocks = refused_blocks;
        }
    }
    finish(m, s, for_kernel);
    return GPUMP_REASON_YES;
}

/* How a block that gpump switches really leaves. */
static uint32_t way_of(const machine *m, const sm *s, const gpump_block_choice *choice) {
    const block *b = &m->blocks[s->block_of_entry[choice->block.slot]];
    return choice->technique == GPUMP_TECHNIQUE_SWITCH && b->rewinding ? (uint32_t)GPUMP_TECHNIQUE_REWIND
                                                                       : choice->technique;
}

gpump_reason preemption_carry_out(machine *m, sm *s, gpump_block_choice *choices, uint32_t chosen,
                                  uint32_t for_kernel) {
    gpump_reason first_refusal = GPUMP_REASON_YES, reason;
    uint32_t refused_blocks = 0, technique, i;
    if (!chosen) {
        finish(m, s, for_kernel);
        return GPUMP_REASON_YES;
    }
    reason = begin(m, s, choices, chosen, for_kernel, &first_refusal, &refused_blocks);
    if (reason != GPUMP_REASON_YES) return reason;
    for (technique = 0; technique < GPUMP_TECHNIQUES; technique++) { /* an entry of the log for each technique */
        uint32_t count = 0, first = 0, entry = m->preemption_count;
        for (i = chosen; i-- > 0;) {
            if (way_of(m, s, &choices[i]) != technique) continue;
            first = i;
            count++;
        }
        if (!count) continue;
        log_entry(m, s, technique, for_kernel, count,
                  m->blocks[s->block_of_entry[choices[first].block.slot]].kernel + 1);
        for (i = 0; i < chosen; i++) {
            block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
            if (way_of(m, s, &choices[i]) != technique) continue;
            if (b->preemption != NONE) { /* it was leaving already, and is now told otherwise */
                preemption_entry *earlier = &m->preemptions[b->preemption];
                if (earlier->left == --earlier->blocks) earlier->end_cycle = m->now;
            }
            b->preemption = entry < m->preemption_count ? entry : NONE;
            if (technique == GPUMP_TECHNIQUE_DRAIN) show(m, b, TIMELINE_DRAIN);
        }
        if (entry == m->preemption_count) continue; /* the log is full */
        m->preemptions[entry].refused = first_refusal;
        m->preemptions[entry].refused_blocks = technique == GPUMP_TECHNIQUE_DRAIN ? refused_blocks : 0;
    }
    finish(m, s, for_kernel);
    return GPUMP_REASON_YES;
}

void preemption_unreserve(machine *m, sm *s) {
    must(m, "gpump_sm_reserve", gpump_sm_reserve(s->gpump, 0), NULL);
    s->reserved_for = 0;
    s->whole = 0;
    m->dispatch_needed = 1;
}

/* Which kernel has the lowest claim to an SM: the lowest priority among those with blocks there. */
static int may_be_taken(const machine *m, const sm *s, uint32_t priority) {
    uint32_t i;
    if (s->reserved_for || s->parked) return 0; /* parked blocks come back before others are parked */
    for (i = 0; i < m->kernel_count; i++) {
        if (s->kernel_resident[i] && m->kernels[i].priority >= priority) return 0;
    }
    return 1;
}

void preemption_make_room(machine *m, uint32_t kernel_index) {
    kernel *k = &m->kernels[kernel_index];
    gpump_occupancy occupancy;
    uint64_t wanted;
    uint32_t i, per_sm;
    if (m->policy) {
        victims_decide(m, kernel_index);
        return;
    }
    if (gpump_gpu_occupancy(&m->config.gpu, &k->need, &occupancy, NULL) != GPUMP_OK || !occupancy.blocks) return;
    per_sm = k->block_cap && k->block_cap < occupancy.blocks ? k->block_cap : occupancy.blocks;
    wanted = (k->blocks + per_sm - 1) / per_sm;
    for (i = 0; i < m->sm_count && wanted; i++) { /* empty SMs come first, and need nobody to leave */
        if (m->sms[i]->reserved_for == kernel_index + 1 || (!m->sms[i]->resident && !m->sms[i]->reserved_for)) wanted--;
    }
    for (i = 0; i < m->sm_count && wanted; i++) {
        sm *s = m->sms[i];
        if (!s->resident || !may_be_taken(m, s, k->priority)) continue;
        preemption_request(m, s, m->technique, kernel_index + 1, 0);
        wanted--;
    }
}

/* ==== 5. Actions ==== */

/* ---- the context of a block: what gpump_context carries ---- */

/* Barrier state as words: five per barrier, then three per warp. */
#define BARRIER_WORDS(warps) (BARRIERS * 5 + (warps)*3)

/* Writes a block's context, or measures it when the writer has no memory. `b` NULL measures the largest one of the
 * kernel. */
static void write_context(machine *m, const kernel *k, const block *b, gpump_context_writer *writer) {
    uint32_t i, n, warps = k->warps, omit = m ? m->omit_section : 0;
    if (omit != GPUMP_CONTEXT_BLOCK) {
        gpump_context_block header;
        memset(&header, 0, sizeof header);
        if (b) {
            header.cookie = (uint64_t)(b->kernel + 1) << 40 | b->linear;
            header.linear = b->linear;
            header.kernel = b->kernel + 1;
            header.process = k->process;
            memcpy(header.block, b->environment.block, sizeof header.block);
        }
        memcpy(header.grid, k->launch->grid, sizeof header.grid);
        memcpy(header.block_threads, k->launch->block, sizeof header.block_threads);
        header.warps = warps;
        header.lanes = LANES;
        header.registers = k->registers;
        gpump_context_put_block(writer, &header);
    }
    if (b && b->keep) {
        gpump_context_control control;
        memset(&control, 0, sizeof control);
        control.in_place = b->keep;
        control.sm = b->sm;
        control.slot = b->ref.slot;
        control.generation = b->ref.generation;
        if (b->keep & GPUMP_PART_REGISTERS) {
            control.register_base = b->register_base;
            control.registers = k->need.registers;
        }
        if (b->keep & GPUMP_PART_SHARED_MEMORY) {
            control.shared_base = b->shared_base;
            control.shared_bytes = k->shared_bytes;
        }
        gpump_context_put_control(writer, &control);
    }
    if (omit != GPUMP_CONTEXT_REGISTERS && !(b && (b->keep & GPUMP_PART_REGISTERS)))
        context_forms_write(m, k, b, writer);
    for (i = 0; i < warps; i++) {
        const warp *w = b ? &m->warps[b->warps[i]] : NULL;
        gpump_context_stack_entry entries[SIMT_DEPTH];
        uint32_t depth = w ? w->stack.depth : SIMT_DEPTH;
        if (omit != GPUMP_CONTEXT_STACK) {
            memset(entries, 0, sizeof entries);
            for (n = 0; w && n < depth; n++) {
                entries[n].pc = w->stack.entries[n].pc;
                entries[n].reconvergence_pc = w->stack.entries[n].reconvergence;
                entries[n].lanes = w->stack.entries[n].mask;
            }
            gpump_context_put_stack(writer, i, entries, depth);
        }
        if (!depth) continue; /* a warp that has ended needs nothing more */
        if (omit != GPUMP_CONTEXT_PREDICATES && k->program->predicates) {
            uint64_t words[SCOREBOARD_IDS];
            for (n = 0; n < k->program->predicates; n++) words[n] = w ? warp_predicates(m, w)[n] : 0;
            gpump_context_put_words(writer, GPUMP_CONTEXT_PREDICATES, i, words, k->program->predicates);
        }
    }
    if (omit != GPUMP_CONTEXT_BARRIERS) {
        uint64_t words[BARRIER_WORDS(BLOCK_WARPS_MAX)], *next = words;
        memset(words, 0, sizeof words);
        for (i = 0; b && i < BARRIERS; i++) {
            const barrier *bar = &b->barriers[i];
            *next++ = bar->arrived;
            *next++ = bar->threads;
            *next++ = bar->expected;
            *next++ = bar->population;
            *next++ = (uint64_t)bar->all << 1 | bar->any;
        }
        for (i = 0; b && i < warps; i++) {
            const warp *w = &m->warps[b->warps[i]];
            *next++ = w->barrier;
            *next++ = w->barrier_pc;
            *next++ = w->barrier_lanes;
        }
        gpump_context_put_words(writer, GPUMP_CONTEXT_BARRIERS, 0, words, BARRIER_WORDS(warps));
    }
    if (omit != GPUMP_CONTEXT_LOCAL && k->program->local_bytes) {
        uint64_t words[2];
        words[0] = b ? b->local_base : 0;
        words[1] = b ? b->local_frame : 0;
        gpump_context_put_words(writer, GPUMP_CONTEXT_LOCAL, 0, words, 2);
    }
    if (omit != GPUMP_CONTEXT_SHARED && k->shared_bytes && !(b && (b->keep & GPUMP_PART_SHARED_MEMORY))) {
        if (b)
            gpump_context_put(writer, GPUMP_CONTEXT_SHARED, 0, m->sms[b->sm]->shared + b->shared_base, k->shared_bytes);
        else
            gpump_context_reserve(writer, GPUMP_CONTEXT_SHARED, 0, k->shared_bytes);
    }
}

uint64_t preemption_context_bytes(const kernel *k) {
    gpump_context_writer writer;
    uint64_t bytes = 0;
    gpump_context_begin(&writer, NULL, 0);
    write_context(NULL, k, NULL, &writer);
    gpump_context_end(&writer, &bytes);
    return bytes;
}

static uint64_t context_address(const machine *m, uint64_t context) {
    return m->context_base + context * m->context_stride;
}

/* Reads a block back, into the places it has now. */
static void read_context(machine *m, block *b) {
    const kernel *k = &m->kernels[b->kernel];
    gpump_context_reader reader;
    gpump_context_block header;
    gpump_context_section section;
    gpump_diag diag;
    uint64_t words[SCOREBOARD_IDS];
    uint32_t i, n, count, coordinates[3] = {0, 0, 0};
    memset(&diag, 0, sizeof diag);
    must(m, "gpump_context_open",
         gpump_context_open(&reader, device_memory(m, context_address(m, b->context)), m->context_stride, &diag),
         &diag);
    if (m->failed) return;
    if (!m->omit_section && gpump_context_missing(&reader, k->shared_bytes))
        machine_fail(m, "the context of a block of kernel %s is not whole", k->program->name);
    if (gpump_context_get_block(&reader, &header) == GPUMP_OK) memcpy(coordinates, header.block, sizeof coordinates);
    make_environment(m, b, coordinates);
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        gpump_context_stack_entry entries[SIMT_DEPTH];
        simt_start(&w->stack, w->lanes);
        if (gpump_context_get_stack(&reader, i, entries, SIMT_DEPTH, &count) == GPUMP_OK) {
            w->stack.depth = count;
            for (n = 0; n < count; n++) {
                w->stack.entries[n].pc = entries[n].pc;
                w->stack.entries[n].reconvergence = entries[n].reconvergence_pc;
                w->stack.entries[n].mask = (uint32_t)entries[n].lanes;
            }
        }
        if (gpump_context_get_words(&reader, GPUMP_CONTEXT_PREDICATES, i, words, SCOREBOARD_IDS, &count) == GPUMP_OK) {
            for (n = 0; n < count && n < m->predicate_stride; n++) warp_predicates(m, w)[n] = (uint32_t)words[n];
        }
    }
    if (context_forms_read(m, b, &reader))
        machine_fail(m, "the saved registers are not those of kernel %s", k->program->name);
    if (gpump_context_get_words(&reader, GPUMP_CONTEXT_BARRIERS, 0, words, SCOREBOARD_IDS, &count) == GPUMP_OK) {
        const uint64_t *next = words;
        for (i = 0; i < BARRIERS; i++, next += 5) {
            barrier *bar = &b->barriers[i];
            bar->arrived = next[0];
            bar->threads = (uint32_t)next[1];
            bar->expected = (uint32_t)next[2];
            bar->population = (uint32_t)next[3];
            bar->all = (uint32_t)(next[4] >> 1);
            bar->any = (uint32_t)(next[4] & 1);
        }
        for (i = 0; i < b->warp_count; i++, next += 3) {
            warp *w = &m->warps[b->warps[i]];
            w->barrier = (uint32_t)next[0];
            w->barrier_pc = (uint32_t)next[1];
            w->barrier_lanes = (uint32_t)next[2];
        }
    }
    if (gpump_context_get_words(&reader, GPUMP_CONTEXT_LOCAL, 0, words, SCOREBOARD_IDS, &count) == GPUMP_OK) {
        b->local_base = words[0];
        b->local_frame = (uint32_t)words[1];
    }
    if (k->shared_bytes && gpump_context_find(&reader, GPUMP_CONTEXT_SHARED, 0, &section) == GPUMP_OK) {
        memcpy(m->sms[b->sm]->shared + b->shared_base, section.payload, k->shared_bytes);
    }
}

/* ---- STOP: what does the block still wait for? ---- */

static uint32_t waits_of(const block *b) {
    uint32_t waits = 0;
    if (b->in_flight) waits |= GPUMP_SM_WAIT_PIPELINE;
    if (b->stores) waits |= GPUMP_SM_WAIT_STORES;
    if (b->atomics) waits |= GPUMP_SM_WAIT_ATOMICS;
    if (b->registers_pending) waits |= GPUMP_SM_WAIT_SCOREBOARD;
    if (b->to_point) waits |= GPUMP_SM_WAIT_PREEMPTION_POINT;
    return waits;
}

/* Warps that have come to a preemption point, wait at a barrier or for pages, or have ended stop there; the others run
 * on. */
static void stop_at_points(machine *m, sm *s, block *b) {
    uint32_t i, running = 0;
    for (i = 0; i < b->warp_count; i++) {
        const warp *w = &m->warps[b->warps[i]];
        if (!w->stack.depth || (s->stopped & BIT(w->slot))) continue;
        if (w->barrier != NONE || (s->calling & BIT(w->slot)) ||
            (!w->control && m->kernels[b->kernel].info[simt_top(&w->stack)->pc].is_point))
            s->stopped |= BIT(w->slot);
        else
            running++;
    }
    if (!running) b->to_point = 0;
}

uint64_t preemption_context_now(machine *m, const block *b) {
    static uint8_t
        room[1 << 20]; /* patterns are seen only in registers that are read, so it is written for real, and forgotten */
    gpump_context_writer writer;
    uint64_t bytes = 0;
    if (m->context_form == CONTEXT_NAIVE || m->context_stride > sizeof room)
        gpump_context_begin(&writer, NULL, 0);
    else
        gpump_context_begin(&writer, room, sizeof room);
    write_context(m, &m->kernels[b->kernel], b, &writer);
    gpump_context_end(&writer, &bytes);
    return bytes;
}

/* Sends every warp back to the start of its region, where it stays. Who must not go back goes on to the boundary ahead.
 */
static void rewind_warps(machine *m, sm *s, block *b) {
    uint32_t i, running = 0;
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        uint64_t dropped = w->executed_since[0];
        if (s->stopped & BIT(w->slot)) continue;
        if (w->stack.depth && w->barrier == NONE) {
            if (!restart_warp(m, s, w, 0)) {
                running++;
                continue;
            }
            b->rewound += dropped;
            m->kernels[b->kernel].wasted_warp_instructions += dropped;
            if (b->preemption != NONE) m->preemptions[b->preemption].wasted_warp_instructions += dropped;
        }
        s->stopped |= BIT(w->slot);
    }
    if (!running) b->to_point = 0;
}

static void report_waits(machine *m, sm *s, block *b) {
    uint32_t waits;
    if (b->to_point && b->rewinding)
        rewind_warps(m, s, b);
    else if (b->to_point)
        stop_at_points(m, s, b);
    context_pipeline_watch(m, s, b);
    waits = waits_of(b);
    if (waits == b->last_waits) return;
    b->last_waits = waits;
    if (!waits) { /* its state is complete: now its size is known. What compresses has to be written for that */
        const kernel *k = &m->kernels[b->kernel];
        gpump_context_writer writer;
        uint64_t bytes = 0;
        if (m->context_form == CONTEXT_NAIVE)
            gpump_context_begin(&writer, NULL, 0);
        else
            gpump_context_begin(&writer, device_memory(m, context_address(m, b->context)), m->context_stride);
        write_context(m, k, b, &writer);
        gpump_context_end(&writer, &bytes);
        b->context_bytes = bytes;
        bytes -= b->keep & GPUMP_PART_SHARED_MEMORY ? 0 : k->shared_bytes;
        must(m, "gpump_sm_report_context_bytes",
             gpump_sm_report_context_bytes(s->gpump, b->ref, bytes, k->shared_bytes), NULL);
        b->stopping = 0;
        s->stopping--;
    }
    must(m, "gpump_sm_report_waits", gpump_sm_report_waits(s->gpump, m->now, b->ref, waits), NULL);
}

void preemption_report_waits(machine *m, sm *s) {
    uint32_t entry;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX && s->stopping; entry++) {
        uint32_t index = s->block_of_entry[entry];
        if (index != NONE && m->blocks[index].stopping) report_waits(m, s, &m->blocks[index]);
    }
    actions(m, s);
}

static void stop(machine *m, sm *s, block *b) {
    uint32_t i;
    b->to_point = b->rewinding || m->stop_at_points != 0;
    if (!b->to_point) s->stopped |= b->slots;
    for (i = 0; !b->rewinding && m->stop_at_points == 2 && i < b->warp_count; i++) { /* stop now, or run on? */
        const warp *w = &m->warps[b->warps[i]];
        if (w->stack.depth && !w->control && !context_runs_on(m, b, w)) s->stopped |= BIT(w->slot);
    }
    b->stopping = 1;
    b->stop_cycle = m->now;
    b->last_waits = NONE;
    if (!m->config.switch_stalls) context_pipeline_stop(m, s, b);
    s->stopping++;
    show(m, b, TIMELINE_STOP);
}

/* ---- SAVE, RESTORE ---- */

static void save(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    const kernel *k = &m->kernels[b->kernel];
    gpump_context_writer writer;
    uint64_t bytes = 0;
    show(m, b, TIMELINE_SAVE);
    gpump_context_begin(&writer, device_memory(m, context_address(m, b->context)), m->context_stride);
    write_context(m, k, b, &writer);
    must(m, "gpump_context_end", gpump_context_end(&writer, &bytes), NULL);
    memory_path_write_back(m, s, b);
    (void)action; /* its bytes leave out stacks and heads when registers stay in place */
    s->statistics.saved_bytes += b->context_bytes;
    if (b->preemption != NONE) m->preemptions[b->preemption].bytes_saved += b->context_bytes;
    if (!m->config.switch_stalls)
        context_pipeline_save(m, s, b, b->context_bytes);
    else
        memory_path_stall(m, s, b, REQUEST_SAVE, b->stop_cycle + victims_stall_cycles(m, b));
}

static void restore(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    show(m, b, TIMELINE_RESTORE);
    (void)action;
    s->statistics.restored_bytes += b->context_bytes;
    if (!m->config.switch_stalls)
        context_pipeline_restore(m, s, b, b->context_bytes);
    else
        memory_path_stall(m, s, b, REQUEST_RESTORE, m->now + victims_stall_cycles(m, b));
}

void preemption_transfer_done(machine *m, sm *s, block *b, uint32_t kind) {
    uint32_t i;
    victims_account(m);
    if (kind == REQUEST_SAVE) {
        must(m, "gpump_sm_report_saved", gpump_sm_report_saved(s->gpump, m->now, b->ref), NULL);
    } else {
        read_context(m, b); /* only now: values take effect when the last byte is there */
        for (i = 0; i < b->warp_count; i++)
            restart_forbid(&m->warps[b->warps[i]]); /* what its region began with may not have been saved */
        must(m, "gpump_context_pool_give", gpump_context_pool_give(m->context_pool, b->context), NULL);
        b->context = NEVER;
        must(m, "gpump_sm_report_restored", gpump_sm_report_restored(s->gpump, m->now, b->ref), NULL);
        start_warps(m, s, b);
    }
    actions(m, s);
}

/* ---- FREED ---- */

static void overwrite(machine *m, sm *s, const block *b, const gpump_sm_action *action) {
    uint32_t i, n;
    const uint32_t stays = action->kind == GPUMP_SM_ACTION_PARKED ? action->parts : 0;
    if (!m->config.overwrite_freed) return;
    for (i = 0; i < action->registers && !(stays & GPUMP_PART_REGISTERS); i++)
        s->registers[action->register_base + i] = FREED_PATTERN ^ i;
    if (!(stays & GPUMP_PART_SHARED_MEMORY)) memset(s->shared + action->shared_base, 0xdb, action->shared_bytes);
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        for (n = 0; n < m->predicate_stride; n++) warp_predicates(m, w)[n] = FREED_PATTERN;
    }
}

static void queue_preempted(machine *m, const block *b, const gpump_sm_action *action) {
    kernel *k = &m->kernels[b->kernel];
    uint32_t index = m->free_preempted;
    preempted_block *entry;
    if (index == NONE) {
        machine_fail(m, "more preempted blocks than the machine has room for");
        return;
    }
    entry = &m->preempted[index];
    m->free_preempted = entry->next;
    entry->history = action->history;
    entry->linear = b->linear;
    entry->context = action->why == GPUMP_BLOCK_SAVED || action->kind == GPUMP_SM_ACTION_PARKED ? b->context : NEVER;
    entry->context_bytes = b->context_bytes;
    entry->kernel = b->kernel;
    entry->left_sm = b->sm;
    entry->home_sm = NONE;
    entry->kept = 0;
    if (action->kind == GPUMP_SM_ACTION_PARKED) { /* it can come back only where the rest of it is */
        entry->home_sm = b->sm;
        entry->parked = b->ref;
        entry->kept = action->parts;
        m->sms[b->sm]->parked++;
    }
    entry->flushes = b->flushes + (action->why == GPUMP_BLOCK_FLUSHED);
    entry->next = NONE;
    if (k->last_preempted == NONE)
        k->first_preempted = index;
    else
        m->preempted[k->last_preempted].next = index;
    k->last_preempted = index;
    k->preempted++;
}

static void freed(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    kernel *k = &m->kernels[b->kernel];
    uint32_t i, index = (uint32_t)(b - m->blocks);
    victims_freed(m, b, action);
    overwrite(m, s, b, action);
    if (m->trace) trace_left(m, b, action);
    k->resident_cycles += m->now - b->start_cycle;
    if (action->why == GPUMP_BLOCK_FLUSHED) k->wasted_warp_instructions += action->history.executed;
    if (action->why == GPUMP_BLOCK_DONE)
        k->done_blocks++;
    else
        queue_preempted(m, b, action);
    if (m->schedule) preemption_schedule_left(m, b, action, action->why == GPUMP_BLOCK_DONE ? NONE : k->last_preempted);
    if (b->local_frame != NONE && action->why != GPUMP_BLOCK_SAVED && action->kind != GPUMP_SM_ACTION_PARKED)
        m->local_free[m->local_count_free++] = b->local_frame;
    if (b->preemption != NONE) {
        preemption_entry *entry = &m->preemptions[b->preemption];
        if (action->why == GPUMP_BLOCK_FLUSHED) entry->wasted_warp_instructions += action->history.executed;
        if (++entry->left == entry->blocks) entry->end_cycle = m->now;
    }
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        w->sm = NONE;
        w->block = m->free_warp;
        m->free_warp = b->warps[i];
    }
    s->occupied &= ~b->slots;
    s->present &= ~b->slots;
    s->fetched &= ~b->slots;
    s->clear &= ~b->slots;
    s->waiting &= ~b->slots;
    s->calling &= ~b->slots;
    s->stopped &= ~b->slots;
    s->block_of_entry[action->block.slot] = NONE;
    s->resident--;
    if (!--s->kernel_resident[b->kernel])
        gpump_meter_report_resident(s->meter, b->kernel + 1, m->now - s->resident_since[b->kernel]);
    k->resident--;
    b->life = 0;
    b->next_free = m->free_block;
    m->free_block = index;
    m->dispatch_needed = 1;
}

/* Everything gpump wants done on this SM. */
static void actions(machine *m, sm *s) {
    gpump_sm_action action;
    while (!m->failed && gpump_sm_next(s->gpump, m->now, &action) == GPUMP_OK) {
        block *b = &m->blocks[s->block_of_entry[action.block.slot]];
        switch (action.kind) {
        case GPUMP_SM_ACTION_STOP:
            stop(m, s, b);
            report_waits(m, s, b);
            break;
        case GPUMP_SM_ACTION_SAVE: save(m, s, b, &action); break;
        case GPUMP_SM_ACTION_RESTORE: restore(m, s, b, &action); break;
        case GPUMP_SM_ACTION_DROP:
            if (b->stopping) s->stopping--;
            b->stopping = 0;
            s->stopped |= b->slots;
            pipeline_squash_block(m, s, (uint32_t)(b - m->blocks));
            must(m, "gpump_sm_report_dropped", gpump_sm_report_dropped(s->gpump, m->now, b->ref), NULL);
            break;
        case GPUMP_SM_ACTION_PARKED: /* as far as the host is concerned it has left; some of its state waits here */
        case GPUMP_SM_ACTION_FREED: freed(m, s, b, &action); break;
        default: break; /* RESUME does not occur: the host times the moves */
        }
    }
}
