/* block_life: connects the mini-GPU to gpump. All calls that gpump requires of a host are in this file, context_bytes.c
 * and requests.c.
 *
 *   1. Each SM gets a gpump_sm, which records the registers and shared memory that each block holds. The machine gets
 *      one gpump_context_pool, the space for saved blocks. Both lie in the machine's arena.
 *   2. A block is placed: gpump_sm_place returns its registers and shared memory, or the reason why there is no room.
 *   3. While the block runs, the pipeline reports two facts: the instructions executed, and that the block has
 *      overwritten what it has read.
 *   4. A kernel needs the SM: gpump_sm_preempt gives each block a technique: flush, switch, drain or rewind.
 *   5. gpump_sm_next returns the next action for the SM. The function `actions` below executes it:
 *        STOP, REWIND  The block issues no more. In a rewind its warps go back to the start of their regions. In each
 *                      cycle this file reports what the block still waits for, until it waits for nothing.
 *        SAVE          The block's state goes to memory as a gpump_context, warp by warp as they drain
 *                      (context_pipeline.c). Then this file reports it saved.
 *        RESTORE       The state returns to the registers and shared memory that gpump_sm_place has found on this SM.
 *        DROP          The block's instructions in flight are squashed. A flushed block starts anew later.
 *        PARKED        The block leaves, but some of its state stays in place (--in-place), and it resumes here.
 *        FREED         The block's room is free. Its values are overwritten, so that no later block can depend on them.
 *      context_forms.c decides which registers are saved, and where warps stop.
 *   6. The dispatcher (dispatcher.c) gives preempted blocks to SMs before new ones. */
#include "preemption/block_life.h"

#include <stdio.h>
#include <string.h>

#include "sm/gate.h"
#include "sm/pipeline.h"
#include "sm/warp_scheduler.h"
#include "sm/memory_path.h"
#include "preemption/block_pool.h"
#include "preemption/context_bytes.h"
#include "preemption/context_forms.h"
#include "preemption/context_pipeline.h"
#include "preemption/parked_rest.h"
#include "preemption/preempted.h"
#include "timeline.h"

#define FREED_PATTERN 0xdeadbeefu
#define BIT(slot) (UINT64_C(1) << (slot))

static void actions(machine *m, sm *s);

static void stop_warps(machine *m, sm *s, const block *b) {
    uint32_t i;
    for (i = 0; i < b->warp_count; i++) gate_stop(s, &m->warps[b->warps[i]]);
}

static int refused(char error[LAUNCH_ERROR_BYTES], const gpump_diag *diag) {
    char text[256];
    gpump_diag_text(diag, text, sizeof text);
    snprintf(error, LAUNCH_ERROR_BYTES, "gpump: %s", text);
    return -1;
}

gpump_room preemption_room(const machine *m, uint32_t shared_bytes, uint32_t parts) {
    gpump_sm_config config;
    gpump_room room;
    memset(&room, 0, sizeof room);
    if (gpump_sm_config_from_gpu(&config, &m->config.gpu, shared_bytes) != GPUMP_OK) return room;
    room.registers = config.registers / config.register_granule / parts * config.register_granule;
    room.shared_bytes = config.shared_bytes / config.shared_granule_bytes / parts * config.shared_granule_bytes;
    room.block_slots = config.block_slots / parts;
    room.warp_slots = config.warp_slots / parts;
    room.thread_slots = config.thread_slots / parts;
    return room;
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
    config.kernels =
        m->config.kernels_per_sm +
        (m->in_place ? m->kernel_count : 0); /* parked blocks count; dispatcher.c counts the kernels that run */
    if (config.kernels > 64) config.kernels = 64;
    config.entries = m->in_place ? config.block_slots * 2 : config.block_slots;
    if (config.entries > 64) config.entries = 64;
    config.waits = GPUMP_SM_WAIT_PIPELINE | GPUMP_SM_WAIT_STORES | GPUMP_SM_WAIT_ATOMICS | GPUMP_SM_WAIT_SCOREBOARD |
                   GPUMP_SM_WAIT_PREEMPTION_POINT | m->block_waits;
    if (m->regions) config.techniques |= 1u << GPUMP_TECHNIQUE_REWIND; /* warps record their boundaries (restart.h) */
    config.timing = GPUMP_SM_TIMING_HOST;                   /* contexts take the memory path, like all other traffic */
    if (m->is_aligned) config.placement = GPUMP_SM_ALIGNED; /* predetermined positions (Shieh 3.2) */
    if (m->beyond_room) m->placed = preemption_room(m, shared_bytes, m->beyond_room);
    config.placed = m->placed;
    if (gpump_bytes(&gpump_sm_component, &config, &bytes, &diag) != GPUMP_OK) return refused(error, &diag);
    if (!(memory = arena_take(&m->arena, bytes))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    if (gpump_init(&gpump_sm_component, memory, bytes, &config, &s->gpump, &diag) != GPUMP_OK)
        return refused(error, &diag);
    return context_pipeline_make(m, s, error);
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
    e->clock_khz = m->config.gpu.clock_khz;
    e->dynamic_shared_bytes = k->launch->dynamic_shared_bytes;
    e->total_shared_bytes = k->shared_bytes;
    e->grid_id = b->kernel + 1;
    e->grid_workspace = m->grid_workspaces + (uint64_t)b->kernel * GRID_WORKSPACE_BYTES;
    e->parameters = k->parameters;
    e->parameter_bytes = k->program->parameter_bytes;
}

static void coordinates_of(const kernel *k, uint64_t linear, uint32_t coordinates[3]) {
    coordinates[0] = (uint32_t)(linear % k->launch->grid[0]);
    coordinates[1] = (uint32_t)(linear / k->launch->grid[0] % k->launch->grid[1]);
    coordinates[2] = (uint32_t)(linear / k->launch->grid[0] / k->launch->grid[1]);
}

/* Binds warps to slots of the SM. The caller sets their next instruction. */
static void take_warps(machine *m, sm *s, uint32_t block_index, int restores) {
    block *b = &m->blocks[block_index];
    const kernel *k = &m->kernels[b->kernel];
    uint32_t i, threads = k->need.threads;
    uint64_t mine;
    PARTS_ASK(m, mine, UINT64_MAX, slots, (m, b->kernel));
    for (i = 0; i < k->warps; i++) {
        uint32_t index = s->pool->free_warp, slot = mine ? gpump_bits_lowest64(~s->occupied & mine) : NONE;
        warp *w = &m->warps[index];
        s->pool->free_warp = w->block; /* free warps are linked through it */
        memset(w, 0, offsetof(warp, stack));
        w->stack.depth = 0;
        w->block = block_index;
        w->index = i;
        w->slot = w->number = slot;
        w->sm = s->index;
        w->program = k->info;
        w->register_base = b->register_base + i * k->registers * LANES;
        w->lanes = threads >= LANES ? UINT32_MAX : (1u << threads) - 1;
        threads -= threads >= LANES ? LANES : threads;
        w->barrier = NONE;
        w->home = b;
        w->registers = s->registers + w->register_base;
        w->predicates = predicates_of(m, index);
        b->warps[i] = index;
        if (!mine) continue;
        b->slots |= BIT(slot);
        s->occupied |= BIT(slot);
        s->slot_warp[slot] = index;
    }
    b->warp_count = k->warps;
    if (mine) warp_scheduler_came(s, b->slots, b->first_age);
    PARTS_TELL(m, give_slots, (m, s, b, restores));
    for (i = 0; i < b->warp_count; i++) PARTS_TELL(m, warp_came, (m, s, &m->warps[b->warps[i]]));
}

/* Lets the block issue from the next cycle on. */
static void start_warps(machine *m, sm *s, block *b) {
    uint32_t i;
    b->live_warps = 0;
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        gate_open(s, w, GPUMP_WARP_ISSUE, GPUMP_WARP_PREEMPTION);
        s->fetched &= ~warp_bit(w);
        b->live_warps += w->stack.depth != 0;
        if (w->slot == NONE) continue; /* switched out: its fetch starts when it gets a slot */
        pipeline_refresh_warp(m, s, w);
        if (w->stack.depth) pipe_put(&s->pipes[PIPE_FETCH], m->now, b->warps[i]);
    }
    b->start_cycle = m->now;
    PARTS_TELL(m, block_phase, (m, b, TIMELINE_RUN));
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

/* Makes the warps of a block that has been placed. A block that is not to be restored starts. */
static void come(machine *m, sm *s, uint32_t block_index, int restores) {
    block *b = &m->blocks[block_index];
    uint32_t coordinates[3], i;
    take_warps(m, s, block_index, restores);
    stop_warps(m, s, b);
    s->present &= ~b->slots;
    if (restores) return;
    b->local_base = b->local_frame == NONE ? 0 : m->local_base + b->local_frame * m->local_stride;
    coordinates_of(&m->kernels[b->kernel], b->linear, coordinates);
    make_environment(m, b, coordinates);
    for (i = 0; i < b->warp_count; i++) {
        simt_start(&m->warps[b->warps[i]].stack, m->warps[b->warps[i]].lanes);
        m->warps[b->warps[i]].region_instructions = 0;
        PARTS_TELL(m, warp_starts, (m, s, &m->warps[b->warps[i]]));
    }
    start_warps(m, s, b);
    for (i = 0; m->config.block_start_cycles && i < b->warp_count; i++)
        gate_wait_until(s, &m->warps[b->warps[i]], m->now + m->config.block_start_cycles);
}

/* Returns whether block_life_start makes the warps of new blocks. Where a part looks at warps when their block is
 * placed, the warps are made at once. */
static int starts_later(const machine *m) { return m->window_cycles && !(m->traits & PART_SEES_PLACEMENTS); }

void block_life_start(machine *m, sm *s) {
    uint32_t i;
    for (i = 0; i < s->starting_count; i++) come(m, s, s->starting[i], 0);
    s->starting_count = s->starting_warps = 0;
}

/* Asks gpump_sm for room for a block. A parked block needs room only for its parts that are not in place. */
static gpump_result ask_for_room(machine *m, sm *s, uint32_t kernel_index, uint64_t linear,
                                 const preempted_block *saved, gpump_block_ref *ref, gpump_diag *diag) {
    gpump_sm_request request;
    memset(&request, 0, sizeof request);
    memset(diag, 0, sizeof *diag);
    request.cookie = block_cookie_of(kernel_index, linear);
    request.kernel = kernel_index + 1;
    request.need = m->kernels[kernel_index].need;
    PARTS_ASK(m, request.placed, 0, places, (m, kernel_index));
    if (saved && saved->kept) {
        *ref = saved->parked;
        return gpump_sm_unpark(s->gpump, m->now, *ref, diag);
    }
    return gpump_sm_place(s->gpump, m->now, &request, saved && saved->context != NEVER ? &saved->history : NULL, ref,
                          diag);
}

/* Fills in a block that the SM has room for: its ranges, and the state of a preempted block. */
static void settle(machine *m, sm *s, block *b, gpump_block_ref ref, const preempted_block *saved) {
    gpump_block_view view;
    machine_must(m, "gpump_sm_block", gpump_sm_block(s->gpump, m->now, ref, &view), NULL);
    b->life = ++m->lives;
    b->start_cycle = m->now; /* until its warps start */
    b->sm = s->index;
    b->ref = ref;
    b->register_base = view.register_base;
    b->registers = view.registers;
    b->shared_base = view.shared_base;
    b->shared_bytes = view.shared_bytes;
    b->first_age = m->ages;
    m->ages += m->kernels[b->kernel].warps;
    PARTS_TELL(m, block_is_placed, (m, s, b));
    b->context = NEVER;
    b->local_frame = NONE;
    b->preemption = NONE;
    b->job = NONE;
    b->victim = NONE;
    b->flushes = saved ? saved->flushes : 0;
    if (!saved) return;
    b->history = saved->history;
    b->context_bytes = saved->context_bytes;
    b->fault_cycle = saved->fault_cycle;
    b->keep = saved->kept;
    if (saved->context != NEVER) b->local_frame = saved->local_frame;
    s->parked -= saved->kept != 0;
}

/* Counts a block that has been placed. */
static void count_block(machine *m, sm *s, uint32_t kernel_index, const preempted_block *saved) {
    kernel *k = &m->kernels[kernel_index];
    if (!s->resident++) PARTS_TELL(m, sm_is_taken, (m, s, kernel_index));
    if (!s->kernel_resident[kernel_index]++) s->traffic[kernel_index].resident_since = m->now;
    PARTS_TELL(m, blocks_changed, (m, s, kernel_index));
    k->resident++;
    if (k->start_cycle == NEVER) k->start_cycle = m->now;
    k->ran_on |= UINT64_C(1) << (s->index & 63u);
    k->resumed += saved != NULL;
    k->resumed_elsewhere += saved && saved->left_sm != s->index;
}

gpump_reason preemption_place(machine *m, sm *s, uint32_t kernel_index, uint64_t linear, const preempted_block *saved) {
    const kernel *k = &m->kernels[kernel_index];
    const int restores = saved && saved->context != NEVER;
    gpump_block_ref ref;
    gpump_diag diag;
    gpump_result result;
    block *b;
    uint32_t index;
    gpump_reason room;
    PARTS_ASK(m, room, GPUMP_REASON_YES, room, (m, s, kernel_index, restores));
    if (room != GPUMP_REASON_YES) return room;
    PARTS_TELL(m, blocks_change, (m));
    result = ask_for_room(m, s, kernel_index, linear, saved, &ref, &diag);
    if (result == GPUMP_BUSY || result == GPUMP_ERROR_REFUSED) return diag.reason;
    machine_must(m, "gpump_sm_place", result, &diag);
    if (m->failed || !(b = block_pool_take(m, s, &index))) return GPUMP_REASON_BLOCK_SLOTS;
    b->linear = linear;
    b->kernel = kernel_index;
    settle(m, s, b, ref, saved);
    s->block_of_entry[ref.slot] = index;
    count_block(m, s, kernel_index, saved);
    if (s->read_sets[ref.slot]) gpump_read_set_clear(s->read_sets[ref.slot]);
    if (!restores && k->program->local_bytes) b->local_frame = m->local_free[--m->local_count_free];
    if (!restores && starts_later(m)) {
        s->starting[s->starting_count++] = index;
        s->starting_warps += k->warps;
        if (s->wake > m->now + 1) s->wake = m->now + 1;
    } else {
        block_life_start(m, s); /* slots are assigned in the order of the blocks */
        come(m, s, index, restores);
    }
    if (restores) {
        b->context = saved->context; /* a RESTORE action follows */
        if (s->read_sets[ref.slot])
            machine_must(
                m, "gpump_read_set_restore",
                gpump_read_set_restore(s->read_sets[ref.slot], saved->read_segments, saved->read_segment_count), NULL);
    }
    PARTS_TELL(m, block_came, (m, s, b, saved));
    actions(m, s);
    return GPUMP_REASON_YES;
}

void preemption_block_done(machine *m, sm *s, block *b) {
    gpump_result result;
    PARTS_TELL(m, blocks_change, (m)); /* while the block still counts as running */
    result = gpump_sm_report_done(s->gpump, m->now, b->ref);
    machine_must(m, "gpump_sm_report_done", result, NULL);
    if (b->stopping) s->stopping--;
    b->stopping = 0;
    context_pipeline_cancel(m, s, b);
    if (b->context != NEVER) { /* the block has ended before it was saved */
        machine_must(m, "gpump_context_pool_give", gpump_context_pool_give(m->context_pool, b->context), NULL);
        b->context = NEVER;
    }
    actions(m, s);
}

/* Returns what the block waits for. moves: 1: some of the block is in transfer. */
static uint32_t waits_of(const machine *m, const sm *s, const block *b, int moves) {
    uint32_t waits = moves ? GPUMP_SM_WAIT_PIPELINE : 0u;
    const part *const *p;
    if (b->in_flight) waits |= GPUMP_SM_WAIT_PIPELINE;
    if (b->stores) waits |= GPUMP_SM_WAIT_STORES;
    if (b->atomics) waits |= GPUMP_SM_WAIT_ATOMICS;
    if (b->registers_pending) waits |= GPUMP_SM_WAIT_SCOREBOARD;
    if (b->to_point) waits |= GPUMP_SM_WAIT_PREEMPTION_POINT;
    for (p = m->parts; *p; p++)
        if ((*p)->block_waits) waits |= (*p)->block_waits(m, s, b, waits);
    return waits;
}

/* Stops the warps that are at a preemption point, or wait at a barrier or for pages. The other warps run on. */
static void stop_at_points(machine *m, sm *s, block *b) {
    uint32_t i, running = 0;
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        if (!w->stack.depth || gate_stopped(w)) continue;
        if (w->barrier != NONE || gate_calling(w) ||
            (!gate_in_control(w) && m->kernels[b->kernel].info[simt_top(&w->stack)->pc].is_point))
            gate_stop(s, w);
        else
            running++;
    }
    if (!running) b->to_point = 0;
}

static void report_waits(machine *m, sm *s, block *b) {
    uint32_t waits;
    int still = 1;
    if (b->to_point && b->rewinding)
        PARTS_TELL(m, block_rewinds, (m, s, b));
    else if (b->to_point)
        stop_at_points(m, s, b);
    if (!b->to_point) {
        PARTS_TELL(m, block_stops, (m, s, b));
        PARTS_ASK(m, still, 1, holds_still, (m, s, b));
    }
    if (still) context_pipeline_watch(m, s, b);
    waits = waits_of(m, s, b, !still);
    if (waits == b->last_waits) return;
    b->last_waits = waits;
    if (!waits) { /* the block's state is complete, so the size of its context is known */
        const gpump_context_sizes sizes = context_bytes_by_part(m, b);
        b->context_bytes = sizes.register_bytes + sizes.shared_bytes + sizes.state_bytes;
        machine_must(m, "gpump_sm_report_context_bytes", gpump_sm_report_context_bytes(s->gpump, b->ref, &sizes), NULL);
        b->stopping = 0;
        s->stopping--;
    }
    machine_must(m, "gpump_sm_report_waits", gpump_sm_report_waits(s->gpump, m->now, b->ref, waits), NULL);
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
    b->to_point = (uint32_t)gpump_sm_may_issue(s->gpump, b->ref.slot); /* its technique runs to a point first */
    if (!b->to_point) stop_warps(m, s, b);
    for (i = 0; !b->rewinding && m->stop_at_points == 2 && i < b->warp_count; i++) { /* stop now, or run on? */
        warp *w = &m->warps[b->warps[i]];
        if (w->stack.depth && !gate_in_control(w) && !context_runs_on(m, b, w)) gate_stop(s, w);
    }
    b->stopping = 1;
    b->stop_cycle = m->now;
    b->last_waits = NONE;
    if (!m->config.switch_stalls) context_pipeline_stop(m, s, b);
    s->stopping++;
    PARTS_TELL(m, block_phase, (m, b, TIMELINE_STOP));
}

/* config.switch_stalls: an estimate is the time of the bytes at the SM's share of the bandwidth. */
enum { STALL_ONE_CYCLE = 2 };
static uint64_t stall_for(const machine *m, uint64_t bytes) {
    return m->config.switch_stalls == STALL_ONE_CYCLE ? 1 : gpump_port_cycles(&m->port, bytes);
}

/* Returns how long a switched block stalls for its allocated bytes. Parts that stay in place do not count. */
static uint64_t stall_cycles(const machine *m, const block *b) {
    gpump_footprint moved = m->kernels[b->kernel].need;
    if (b->keep & GPUMP_PART_REGISTERS) moved.registers = 0;
    if (b->keep & GPUMP_PART_SHARED_MEMORY) moved.shared_bytes = 0;
    return stall_for(m, gpump_gpu_context_bytes(&m->config.gpu, &moved));
}

/* Sets the cycle at which the context counts as moved, instead of a transfer (config.switch_stalls). */
static void stall(machine *m, sm *s, block *b, uint32_t kind, uint64_t cycle) {
    b->moving = kind;
    b->transfer_end = cycle > m->now ? cycle : m->now + 1;
    if (b->transfer_end < s->stall_cycle) s->stall_cycle = b->transfer_end;
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

void block_life_end_stalls(machine *m, sm *s) {
    uint32_t entry;
    uint64_t next = NEVER;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++) {
        block *b = s->block_of_entry[entry] == NONE ? NULL : &m->blocks[s->block_of_entry[entry]];
        if (!b || !b->transfer_end) continue;
        if (b->transfer_end <= m->now) {
            b->transfer_end = 0;
            preemption_transfer_done(m, s, b, b->moving);
        } else if (b->transfer_end < next) {
            next = b->transfer_end;
        }
    }
    s->stall_cycle = next;
}

static void save(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    const gpump_context_sizes sizes = context_bytes_write(m, b);
    memory_path_write_back(m, s, b);
    s->statistics.saved_bytes += b->context_bytes;
    if (b->preemption != NONE) {
        preemption_entry *entry = &m->preemptions[b->preemption];
        entry->bytes_saved += b->context_bytes;
        entry->saved.register_bytes += sizes.register_bytes;
        entry->saved.shared_bytes += sizes.shared_bytes;
        entry->saved.state_bytes += sizes.state_bytes;
    }
    if (!m->config.switch_stalls) {
        context_pipeline_save(m, s, b, action->bytes);
        return;
    }
    PARTS_TELL(m, block_phase, (m, b, TIMELINE_SAVE));
    stall(m, s, b, REQUEST_SAVE, b->stop_cycle + stall_cycles(m, b));
}

/* Begins the save of what a parked block, which has no warps any more, has in place (parked_rest.h). */
static void save_rest(machine *m, sm *s, block *b, uint64_t bytes) {
    if (m->config.switch_stalls)
        stall(m, s, b, REQUEST_SAVE, m->now + stall_for(m, bytes));
    else
        context_pipeline_save_rest(m, s, b);
}

static void restore(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    s->statistics.restored_bytes += b->context_bytes;
    if (!m->config.switch_stalls) {
        PARTS_TELL(m, block_phase, (m, b, TIMELINE_STOP)); /* the block waits for the port */
        context_pipeline_restore(m, s, b, action->bytes);
        return;
    }
    PARTS_TELL(m, block_phase, (m, b, TIMELINE_RESTORE));
    stall(m, s, b, REQUEST_RESTORE, m->now + stall_cycles(m, b));
}

void preemption_transfer_done(machine *m, sm *s, block *b, uint32_t kind) {
    uint32_t coordinates[3];
    PARTS_TELL(m, blocks_change, (m));
    if (kind == REQUEST_SAVE) {
        machine_must(m, "gpump_sm_report_saved", gpump_sm_report_saved(s->gpump, m->now, b->ref), NULL);
    } else {
        context_bytes_read(m, b, coordinates);
        make_environment(m, b, coordinates); /* values take effect once the last byte has arrived */
        machine_must(m, "gpump_context_pool_give", gpump_context_pool_give(m->context_pool, b->context), NULL);
        b->context = NEVER;
        machine_must(m, "gpump_sm_report_restored", gpump_sm_report_restored(s->gpump, m->now, b->ref), NULL);
        PARTS_TELL(m, block_is_restored, (m, s, b));
        start_warps(m, s, b);
    }
    actions(m, s);
}

/* Overwrites what a block leaves behind. stays: gpump_part bits of what remains the block's. */
static void overwrite(const machine *m, sm *s, block *b, uint32_t stays) {
    const uint32_t registers = stays & GPUMP_PART_REGISTERS ? 0 : b->registers;
    uint32_t *freed = s->registers + b->register_base, i, n;
    if (!m->config.overwrite_freed || (m->traits & PART_OVERWRITES) || b->overwritten) return;
    for (i = 0; i < registers; i++) freed[i] = FREED_PATTERN ^ i;
    if (!(stays & GPUMP_PART_SHARED_MEMORY)) memset(s->shared + b->shared_base, 0xdb, b->shared_bytes);
    for (i = 0; i < b->warp_count; i++) {
        uint32_t *predicates = warp_predicates(m, &m->warps[b->warps[i]]);
        for (n = 0; n < m->predicate_stride; n++) predicates[n] = FREED_PATTERN;
    }
}

/* Overwrites what a block leaves behind that has ended. Tags of a traced block need not be overwritten: they are those
 * of no other block, and a block that starts sets all of its own. */
static void overwrite_ended(const machine *m, sm *s, block *b) {
    if (!m->kernels[b->kernel].launch->trace) overwrite(m, s, b, 0);
}

void block_life_overwrite(const machine *m, sm *s) {
    uint32_t i;
    for (i = 0; i < s->ended_count; i++) {
        block *b = &m->blocks[s->ended[i]];
        overwrite_ended(m, s, b);
        b->overwritten = 1;
    }
}

static void freed(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    kernel *k = &m->kernels[b->kernel];
    uint32_t i, index = (uint32_t)(b - m->blocks), handle = NONE;
    if (action->why == GPUMP_BLOCK_DONE) {
        gpump_cost_history_record(&m->histories[b->kernel + 1], action->history.executed, action->history.cycles);
        if (m->ends && b->kernel == 0) m->ends[b->linear] = m->now;
    }
    if (action->why == GPUMP_BLOCK_DONE)
        overwrite_ended(m, s, b);
    else
        overwrite(m, s, b, action->kind == GPUMP_SM_ACTION_PARKED ? action->parts : 0);
    if (b->gives_up) {
        parked_rest_left(m, s, b, action);
        return;
    }
    PARTS_TELL(m, block_leaves, (m, s, b, action));
    s->dropping -= b->dropping;
    b->dropping = 0;
    k->resident_cycles += m->now - b->start_cycle;
    if (action->why == GPUMP_BLOCK_FLUSHED) k->wasted_warp_instructions += action->history.executed;
    if (action->why == GPUMP_BLOCK_DONE)
        k->done_blocks++;
    else if (action->why != GPUMP_BLOCK_KILLED)
        handle = preempted_add(m, b, action);
    PARTS_TELL(m, block_left, (m, s, b, action, handle));
    if (b->local_frame != NONE && action->why != GPUMP_BLOCK_SAVED && action->kind != GPUMP_SM_ACTION_PARKED)
        m->local_free[m->local_count_free++] = b->local_frame;
    if (b->preemption != NONE) {
        preemption_entry *log = &m->preemptions[b->preemption];
        if (action->why == GPUMP_BLOCK_FLUSHED) log->wasted_warp_instructions += action->history.executed;
        if (++log->left == log->blocks) log->end_cycle = m->now;
    }
    pipeline_squash_fetches(m, s, index);
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        PARTS_TELL(m, warp_leaves, (m, s, w));
        w->sm = NONE;
        w->block = s->pool->free_warp;
        s->pool->free_warp = b->warps[i];
    }
    warp_scheduler_left(s, b->slots);
    s->block_of_entry[action->block.slot] = NONE;
    s->resident--;
    if (!--s->kernel_resident[b->kernel])
        s->traffic[b->kernel].resident_cycles += m->now - s->traffic[b->kernel].resident_since;
    PARTS_TELL(m, blocks_changed, (m, s, b->kernel));
    k->resident--;
    block_pool_give(m, s, b);
    m->dispatch_needed = 1;
}

/* Ends the transfer, if any, of a block that is dropped. */
static void end_move(machine *m, sm *s, block *b) {
    context_pipeline_cancel(m, s, b);
    b->transfer_end = 0;
    if (b->context == NEVER) return;
    machine_must(m, "gpump_context_pool_give", gpump_context_pool_give(m->context_pool, b->context), NULL);
    b->context = NEVER;
}

/* Executes all pending actions of the SM's gpump_sm. */
static void actions(machine *m, sm *s) {
    gpump_sm_action action;
    int still;
    while (!m->failed && gpump_sm_next(s->gpump, m->now, &action) == GPUMP_OK) {
        block *b;
        if (s->block_of_entry[action.block.slot] == NONE) {
            if ((b = parked_rest_action(m, s, &action)) != NULL) save_rest(m, s, b, action.bytes);
            continue;
        }
        b = &m->blocks[s->block_of_entry[action.block.slot]];
        block_life_start(m, s); /* blocks that are preempted must have warps */
        switch (action.kind) {
        case GPUMP_SM_ACTION_STOP:
        case GPUMP_SM_ACTION_REWIND: /* report_waits repeats the rewind in each cycle */
            stop(m, s, b);
            report_waits(m, s, b);
            break;
        case GPUMP_SM_ACTION_SAVE: save(m, s, b, &action); break;
        case GPUMP_SM_ACTION_RESTORE: restore(m, s, b, &action); break;
        case GPUMP_SM_ACTION_DROP:
            if (b->stopping) s->stopping--;
            b->stopping = 0;
            stop_warps(m, s, b);
            end_move(m, s, b);
            pipeline_squash_block(m, s, (uint32_t)(b - m->blocks));
            PARTS_ASK(m, still, 1, holds_still, (m, s, b));
            if (!still) {
                b->dropping = 1;
                s->dropping++;
                break;
            }
            machine_must(m, "gpump_sm_report_dropped", gpump_sm_report_dropped(s->gpump, m->now, b->ref), NULL);
            break;
        case GPUMP_SM_ACTION_PARKED: /* for the host the block has left; some of its state is in place */
        case GPUMP_SM_ACTION_FREED: freed(m, s, b, &action); break;
        default: break; /* RESUME does not occur, because the host times the transfers */
        }
    }
}

void block_life_actions(machine *m, sm *s) { actions(m, s); }

void block_life_end_drops(machine *m, sm *s) {
    uint32_t entry;
    int still;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++) {
        block *b = s->block_of_entry[entry] == NONE ? NULL : &m->blocks[s->block_of_entry[entry]];
        if (!b || !b->dropping) continue;
        PARTS_ASK(m, still, 1, holds_still, (m, s, b));
        if (still) machine_must(m, "gpump_sm_report_dropped", gpump_sm_report_dropped(s->gpump, m->now, b->ref), NULL);
    }
    actions(m, s);
}
