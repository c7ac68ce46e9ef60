/* labels: unit property */
/* gpump_sm, with the decisions of gpump_victim_decide on its views. The mirror keeps who owns each register and each
 * byte of shared memory, cell by cell. */
#include "model/model.h"
#include "victim/victim_ask.h"

enum { CELLS = 256, KERNELS = 5, ENTRIES = 12, ALL = GPUMP_PARTS_IN_PLACE };

typedef struct mirror_block {
    gpump_sm_request request;
    uint64_t executed, brought, cycles, start, since;
    gpump_context_sizes context;
    uint64_t moved, port_start, port_end;
    uint64_t ready_cycle;
    uint32_t faults;
    uint32_t state, generation, registers, shared, register_base, shared_base, warps;
    uint32_t held, active, technique, keep, to_point, waits, clobbered, parts, why;
    uint32_t actions[4], action_count; /* to be handed over, in order */
} mirror_block;

static struct mirror {
    gpump_sm *sm;
    gpump_sm_config config;
    gpump_sm_statistics statistics;
    mirror_block blocks[ENTRIES];
    uint64_t now, told, port_free, cookies;
    uint32_t of_kernel[KERNELS + 1]; /* blocks here */
    uint32_t reserved_for, shared_bytes;
    gpump_sm_history saved[8]; /* blocks that were saved or flushed, to be placed again */
    gpump_sm_request saved_request[8];
    uint32_t saved_count;
} w;

/* ---- rules, as the headers state them ---- */

static uint32_t up(uint32_t value, uint32_t granule) { return (value + granule - 1) / granule * granule; }
static uint64_t part_bytes(const mirror_block *b, uint32_t parts) {
    return (parts & GPUMP_PART_REGISTERS ? b->context.register_bytes : 0) +
           (parts & GPUMP_PART_SHARED_MEMORY ? b->context.shared_bytes : 0);
}
static int is_here(gpump_block_ref ref) {
    return ref.slot < w.config.entries && w.blocks[ref.slot].state != GPUMP_BLOCK_FREE &&
           w.blocks[ref.slot].generation == ref.generation;
}
/* The block that a reference names; any block when it names none. */
static mirror_block *block_of(gpump_block_ref ref) { return &w.blocks[ref.slot < ENTRIES ? ref.slot : 0]; }
static gpump_block_ref ref_of(const mirror_block *b) {
    gpump_block_ref ref;
    ref.slot = (uint32_t)(b - w.blocks);
    ref.generation = b->generation;
    return ref;
}
static uint32_t function_of(const mirror_block *b) {
    return b->request.function ? b->request.function : b->request.kernel;
}
static void post(mirror_block *b, uint32_t kind) { b->actions[b->action_count++] = kind; }
static int is_pending(const mirror_block *b, uint32_t kind) {
    for (uint32_t i = 0; i < b->action_count; i++)
        if (b->actions[i] == kind) return 1;
    return 0;
}
static int saves(uint32_t technique) {
    return technique == GPUMP_TECHNIQUE_SWITCH || technique == GPUMP_TECHNIQUE_REWIND;
}

/* Marks the cells that blocks hold. */
static void cells_of(uint32_t part, uint8_t *cells) {
    memset(cells, 0, CELLS);
    for (uint32_t i = 0; i < w.config.entries; i++) {
        const mirror_block *b = &w.blocks[i];
        uint32_t base = part == GPUMP_PART_REGISTERS ? b->register_base : b->shared_base;
        uint32_t length = part == GPUMP_PART_REGISTERS ? b->registers : b->shared;
        if (!b->state || !(b->held & part)) continue;
        for (uint32_t c = base; c < base + length; c++) {
            MODEL_CHECK(c < CELLS && !cells[c]); /* inside, and nobody else's */
            cells[c] = (uint8_t)(i + 1);
        }
    }
}
static int is_free(const uint8_t *cells, uint32_t capacity, uint32_t base, uint32_t length) {
    if (base + length > capacity) return 0;
    for (uint32_t c = base; c < base + length; c++)
        if (cells[c]) return 0;
    return 1;
}
static uint32_t lowest(const uint8_t *cells, uint32_t capacity, uint32_t length, uint32_t step) {
    for (uint32_t base = 0; base + length <= capacity; base += step ? step : 1)
        if (is_free(cells, capacity, base, length)) return base;
    return GPUMP_NONE;
}

static gpump_reason active_room(uint32_t threads, uint32_t placed) {
    uint32_t blocks = 0, warps = 0, used = 0;
    for (uint32_t i = 0; i < w.config.entries; i++) {
        if (!w.blocks[i].active || w.blocks[i].request.placed & GPUMP_PART_SLOTS) continue;
        blocks++;
        warps += w.blocks[i].warps;
        used += w.blocks[i].request.need.threads;
    }
    if (placed & GPUMP_PART_SLOTS) return GPUMP_REASON_YES; /* another component has them */
    if (blocks == w.config.block_slots) return GPUMP_REASON_BLOCK_SLOTS;
    if (warps + up(threads, w.config.lanes) / w.config.lanes > w.config.warp_slots) return GPUMP_REASON_WARPS;
    return used + threads > w.config.thread_slots ? GPUMP_REASON_THREADS : GPUMP_REASON_YES;
}

/* Room for `parts` of a block: YES and the bases. Where both parts fit alone and not together, either is short. */
static gpump_reason range_room(uint32_t parts, uint32_t registers, uint32_t shared, uint32_t *bases, int *either) {
    uint8_t in_registers[CELLS], in_shared[CELLS];
    const int aligned = w.config.placement == GPUMP_SM_ALIGNED;
    cells_of(GPUMP_PART_REGISTERS, in_registers);
    cells_of(GPUMP_PART_SHARED_MEMORY, in_shared);
    bases[0] = bases[1] = 0;
    *either = 0;
    if (parts & GPUMP_PART_REGISTERS)
        bases[0] = lowest(in_registers, w.config.registers, registers, aligned ? registers : 0);
    if (bases[0] == GPUMP_NONE) return GPUMP_REASON_REGISTERS;
    if (parts & GPUMP_PART_SHARED_MEMORY) bases[1] = lowest(in_shared, w.shared_bytes, shared, aligned ? shared : 0);
    if (bases[1] == GPUMP_NONE) return GPUMP_REASON_SHARED_MEMORY;
    if (!aligned || parts != ALL || !registers || !shared) return GPUMP_REASON_YES;
    for (uint32_t p = 0; (p + 1) * registers <= w.config.registers && (p + 1) * shared <= w.shared_bytes; p++) {
        bases[0] = p * registers;
        bases[1] = p * shared;
        if (is_free(in_registers, w.config.registers, bases[0], registers) &&
            is_free(in_shared, w.shared_bytes, bases[1], shared))
            return GPUMP_REASON_YES;
    }
    *either = 1;
    return GPUMP_REASON_REGISTERS;
}

static uint32_t registers_of(const gpump_footprint *need, uint32_t placed) {
    return placed & GPUMP_PART_REGISTERS ? 0 : up(need->registers, w.config.register_granule);
}
static uint32_t shared_of(const gpump_footprint *need, uint32_t placed) {
    return placed & GPUMP_PART_SHARED_MEMORY ? 0 : up(need->shared_bytes, w.config.shared_granule_bytes);
}
static gpump_reason place_room(uint32_t kernel, const gpump_footprint *need, uint32_t placed, uint32_t *bases,
                               int *either) {
    const uint32_t registers = registers_of(need, placed), shared = shared_of(need, placed);
    uint32_t kernels = 0, free_entries = 0;
    gpump_reason reason;
    *either = 0;
    if (registers > w.config.registers || shared > w.config.shared_bytes) return GPUMP_REASON_NEVER_FITS;
    if (!(placed & GPUMP_PART_SLOTS) && (need->threads > w.config.thread_slots ||
                                         up(need->threads, w.config.lanes) / w.config.lanes > w.config.warp_slots))
        return GPUMP_REASON_NEVER_FITS;
    if (w.reserved_for && w.reserved_for != kernel) return GPUMP_REASON_RESERVED;
    for (uint32_t k = 1; k <= KERNELS; k++) kernels += w.of_kernel[k] != 0;
    if (!w.of_kernel[kernel] && kernels == w.config.kernels) return GPUMP_REASON_KERNELS;
    reason = active_room(need->threads, placed);
    if (reason) return reason;
    for (uint32_t i = 0; i < w.config.entries; i++) free_entries += !w.blocks[i].state;
    return free_entries ? range_room(ALL, registers, shared, bases, either) : GPUMP_REASON_BLOCK_SLOTS;
}

static gpump_reason may(const mirror_block *b, uint32_t technique) {
    int allowed = 0;
    if (technique >= GPUMP_TECHNIQUE_OWN || !(w.config.techniques >> technique & 1)) return GPUMP_REASON_TECHNIQUE;
    if (b->state == GPUMP_BLOCK_RUNNING || b->state == GPUMP_BLOCK_BLOCKED) allowed = 1;
    if (b->state == GPUMP_BLOCK_DRAINING) allowed = technique != GPUMP_TECHNIQUE_DRAIN;
    if (b->state == GPUMP_BLOCK_STOPPING) allowed = technique == GPUMP_TECHNIQUE_FLUSH;
    if (b->state == GPUMP_BLOCK_PARKED && !b->action_count)
        allowed = technique == GPUMP_TECHNIQUE_FLUSH || technique == GPUMP_TECHNIQUE_SWITCH;
    if (!allowed) return GPUMP_REASON_NOT_RUNNING;
    if (technique == GPUMP_TECHNIQUE_FLUSH && b->clobbered) return GPUMP_REASON_CLOBBERED;
    return GPUMP_REASON_YES;
}

/* ---- what happens ---- */

static void transfer(mirror_block *b, uint64_t bytes) {
    uint64_t cycles = (bytes * w.config.port.cycles + w.config.port.bytes - 1) / w.config.port.bytes;
    b->moved = bytes;
    b->port_start = cycles && w.port_free > w.now ? w.port_free : w.now;
    b->port_end = b->port_start + cycles;
    if (cycles) w.port_free = b->port_end;
    w.statistics.port_cycles += cycles;
}
/* What is left of a transfer that ends early gives the port back, if it was the last one planned. */
static void cut(const mirror_block *b) {
    const uint64_t end = b->port_start > w.now ? b->port_start : w.now;
    if (b->port_end != w.port_free || end >= b->port_end) return;
    w.statistics.port_returned_cycles += b->port_end - end;
    w.port_free = end;
}
static void begin_save(mirror_block *b) {
    const int parked = b->state == GPUMP_BLOCK_PARKED;
    if (b->state == GPUMP_BLOCK_STOPPING) {
        w.statistics.stop_cycles += w.now - b->since;
        b->cycles += w.now - b->start;
    }
    b->state = GPUMP_BLOCK_SAVING;
    b->since = w.now;
    b->parts = b->held & ~b->keep;
    transfer(b, part_bytes(b, b->parts) + (parked ? 0 : b->context.state_bytes));
    post(b, GPUMP_SM_ACTION_SAVE);
}
static void end_save(mirror_block *b, uint64_t at) {
    w.statistics.save_cycles += at - b->since;
    w.statistics.bytes_saved += b->moved;
    b->since = at;
    b->state = b->keep ? GPUMP_BLOCK_PARKED : GPUMP_BLOCK_SAVED;
    if (b->keep)
        w.statistics.parked++;
    else
        w.statistics.saved++, b->why = GPUMP_BLOCK_SAVED;
    post(b, b->keep ? GPUMP_SM_ACTION_PARKED : GPUMP_SM_ACTION_FREED);
}
static void end_restore(mirror_block *b, uint64_t at) {
    w.statistics.restore_cycles += at - b->since;
    w.statistics.bytes_restored += b->moved;
    b->state = GPUMP_BLOCK_RUNNING;
    b->technique = GPUMP_NONE;
    b->since = b->start = at;
    if (w.config.timing == GPUMP_SM_TIMING_PORT) post(b, GPUMP_SM_ACTION_RESUME);
}
static void pass(uint64_t now) {
    w.now = w.told = now; /* told: the time of the last call that took one */
    for (uint32_t i = 0; w.config.timing == GPUMP_SM_TIMING_PORT && i < w.config.entries; i++) {
        mirror_block *b = &w.blocks[i];
        if (b->port_end > now) continue;
        if (b->state == GPUMP_BLOCK_SAVING && !is_pending(b, GPUMP_SM_ACTION_SAVE))
            end_save(b, b->port_end);
        else if (b->state == GPUMP_BLOCK_RESTORING && !is_pending(b, GPUMP_SM_ACTION_RESTORE))
            end_restore(b, b->port_end);
    }
}

/* ---- events ---- */

/* Mostly a block that is here, now and then any name. */
static gpump_block_ref any_ref(void) {
    gpump_block_ref ref;
    ref.slot = below(w.config.entries + (once_in(20) ? 2 : 0));
    if (once_in(3)) /* one with a transfer, if there is one */
        for (uint32_t i = 0; i < w.config.entries; i++)
            if (w.blocks[i].state == GPUMP_BLOCK_SAVING || w.blocks[i].state == GPUMP_BLOCK_RESTORING) ref.slot = i;
    ref.generation = ref.slot < w.config.entries ? w.blocks[ref.slot].generation : 1;
    if (once_in(40)) ref.generation += below(3) - 1;
    return ref;
}

/* The result of a fact about `ref` at `time` that is allowed in `states`. */
static gpump_result fact(uint64_t time, gpump_block_ref ref, uint32_t states) {
    struct mirror before = w;
    int allowed;
    if (model_time_is_wrong(time, w.told)) return GPUMP_ERROR_TIME;
    if (!is_here(ref)) return GPUMP_ERROR_STALE;
    pass(time); /* a restore may end first */
    allowed = (states >> w.blocks[ref.slot].state & 1) != 0;
    w = before;
    return allowed ? GPUMP_OK : GPUMP_ERROR_STATE;
}

/* The request for a block that no SM has seen yet. */
static gpump_sm_request draw_request(void) {
    gpump_sm_request request;
    memset(&request, 0, sizeof request);
    request.cookie = ++w.cookies;
    request.kernel = 1 + below(KERNELS);
    request.function = below(3); /* 0: the launch's number */
    request.group = once_in(3) ? 1 + below(2) : 0;
    request.need.threads = 1 + below(once_in(30) ? 2 * w.config.thread_slots : 1 + w.config.thread_slots / 2);
    request.need.registers = below(once_in(30) ? 2 * CELLS : CELLS / 2);
    request.need.shared_bytes = below(once_in(30) ? 2 * CELLS : CELLS / 2);
    if (once_in(4)) request.placed = below(32) & (once_in(20) ? 31 : ALL | GPUMP_PART_SLOTS);
    return request;
}

/* The block of a request that was taken, at `bases` in the mirror; saved: the block comes back with that history. */
static void mirror_place(mirror_block *b, const gpump_sm_request *request, const uint32_t *bases,
                         const gpump_sm_history *saved) {
    w.of_kernel[request->kernel]++;
    b->request = *request;
    b->registers = registers_of(&request->need, request->placed);
    b->shared = shared_of(&request->need, request->placed);
    b->register_base = bases[0];
    b->shared_base = bases[1];
    b->warps = up(request->need.threads, w.config.lanes) / w.config.lanes;
    b->context.register_bytes = 4 * (uint64_t)registers_of(&request->need, 0);
    b->context.shared_bytes = shared_of(&request->need, 0);
    b->held = ALL;
    b->active = 1;
    b->technique = GPUMP_NONE;
    b->start = b->since = w.now;
    b->state = GPUMP_BLOCK_RUNNING;
    if (!saved) {
        w.statistics.placed++;
        return;
    }
    w.statistics.restored++;
    b->executed = b->brought = saved->executed;
    b->cycles = saved->cycles;
    b->clobbered = saved->clobbered != 0;
    b->state = GPUMP_BLOCK_RESTORING;
    b->parts = ALL;
    transfer(b, saved->context.register_bytes + saved->context.shared_bytes + saved->context.state_bytes);
    post(b, GPUMP_SM_ACTION_RESTORE);
}

static void place(void) {
    gpump_sm_request request = draw_request();
    gpump_sm_history *saved = NULL, history;
    gpump_block_ref ref = {77, 77};
    gpump_diag diag;
    uint32_t bases[2], index = 0, slot = once_in(4) ? below(w.config.entries + once_in(10)) : GPUMP_NONE;
    uint64_t time = model_time(w.now, w.told);
    gpump_reason reason;
    gpump_result expected;
    int either;
    mirror_block *b;
    memset(&diag, 0, sizeof diag);
    if (w.saved_count && once_in(3)) { /* a block comes back, perhaps */
        index = below(w.saved_count);
        request = w.saved_request[index];
        history = w.saved[index];
        saved = &history;
    }
    if (once_in(50)) request.kernel = 0;
    if (once_in(50)) request.need.threads = 0;
    if (!request.kernel || !request.need.threads) {
        MODEL_CALL(GPUMP_ERROR_ARGUMENT, gpump_sm_place(w.sm, time, &request, saved, &ref, &diag));
        MODEL_CHECK(ref.slot == 77 && !strcmp(diag.field, request.kernel ? "threads" : "kernel") && diag.value == 0);
        return;
    }
    if (request.placed & ~(uint32_t)(ALL | GPUMP_PART_SLOTS)) {
        MODEL_CALL(GPUMP_ERROR_ARGUMENT, gpump_sm_place(w.sm, time, &request, saved, &ref, &diag));
        MODEL_CHECK(ref.slot == 77 && !strcmp(diag.field, "placed"));
        return;
    }
    reason = place_room(request.kernel, &request.need, 0, bases, &either);
    MODEL_CHECK(gpumpi_sm_room(w.sm, request.kernel, &request.need) == reason || either);
    reason = place_room(request.kernel, &request.need, request.placed, bases, &either);
    if (slot != GPUMP_NONE && slot >= w.config.entries) {
        MODEL_CALL(GPUMP_ERROR_ARGUMENT, gpump_sm_place_in(w.sm, time, slot, &request, saved, &ref, &diag));
        return;
    }
    if (!reason && slot != GPUMP_NONE && w.blocks[slot].state) reason = GPUMP_REASON_BLOCK_SLOTS;
    expected = model_time_is_wrong(time, w.told)   ? GPUMP_ERROR_TIME
               : reason == GPUMP_REASON_NEVER_FITS ? GPUMP_ERROR_REFUSED
               : reason                            ? GPUMP_BUSY
                                                   : GPUMP_OK;
    if (slot == GPUMP_NONE)
        MODEL_CALL(expected, gpump_sm_place(w.sm, time, &request, saved, &ref, &diag));
    else
        MODEL_CALL(expected, gpump_sm_place_in(w.sm, time, slot, &request, saved, &ref, &diag));
    if (expected) {
        MODEL_CHECK(ref.slot == 77 && ref.generation == 77);
        MODEL_CHECK(diag.code == expected && (expected == GPUMP_ERROR_TIME || diag.reason == reason || either));
        if (expected > 0) pass(time);
        return;
    }
    pass(time);
    for (b = w.blocks; slot == GPUMP_NONE && b->state; b++) {} /* the lowest free entry */
    if (slot != GPUMP_NONE) b = &w.blocks[slot];
    MODEL_CHECK(ref.slot == (uint32_t)(b - w.blocks) && ref.generation == b->generation);
    mirror_place(b, &request, bases, saved);
    if (!saved) return;
    w.saved[index] = w.saved[--w.saved_count];
    w.saved_request[index] = w.saved_request[w.saved_count];
}

/* What gpump_sm_preempt has to answer; *reason with GPUMP_ERROR_REFUSED, *fault is the choice at fault. */
static gpump_result check_choices(const gpump_block_choice *choices, uint32_t count, gpump_reason *reason,
                                  uint32_t *fault) {
    uint32_t chosen = 0;
    *fault = 0;
    *reason = GPUMP_REASON_YES;
    if (count > w.config.entries) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) {
        const gpump_block_choice *c = &choices[i];
        const mirror_block *b = block_of(c->block);
        *fault = i;
        *reason = GPUMP_REASON_NO_SUCH_BLOCK;
        if (!is_here(c->block)) return GPUMP_ERROR_STALE;
        *reason = GPUMP_REASON_YES;
        if (chosen >> c->block.slot & 1) return GPUMP_ERROR_ARGUMENT;
        chosen |= 1u << c->block.slot;
        if (c->technique >= GPUMP_TECHNIQUE_OWN || c->keep > ALL || c->keep & b->request.placed ||
            (c->keep && !saves(c->technique)))
            return GPUMP_ERROR_ARGUMENT;
        if (c->to_point > 1 || (c->to_point && (c->technique != GPUMP_TECHNIQUE_SWITCH ||
                                                !(w.config.waits & GPUMP_SM_WAIT_PREEMPTION_POINT))))
            return GPUMP_ERROR_ARGUMENT;
        *reason = may(b, c->technique);
        if (*reason) return GPUMP_ERROR_REFUSED;
        if (!saves(c->technique)) continue;
        /* a parked block keeps less than before, and of what it has */
        if (b->state == GPUMP_BLOCK_PARKED && ((c->keep & ~b->held) || c->keep == b->held || c->to_point))
            return GPUMP_ERROR_ARGUMENT;
    }
    for (uint32_t i = 0; i < count; i++) {
        const mirror_block *b = &w.blocks[choices[i].block.slot];
        *fault = i;
        *reason = GPUMP_REASON_GROUP;
        if (!b->request.group || b->state == GPUMP_BLOCK_PARKED) continue;
        for (uint32_t j = 0; j < w.config.entries; j++) {
            const mirror_block *mate = &w.blocks[j];
            if ((mate->state == GPUMP_BLOCK_RUNNING || mate->state == GPUMP_BLOCK_BLOCKED ||
                 mate->state == GPUMP_BLOCK_RESTORING) &&
                mate->request.group == b->request.group && mate->request.kernel == b->request.kernel &&
                !(chosen >> j & 1))
                return GPUMP_ERROR_REFUSED;
        }
    }
    *reason = GPUMP_REASON_YES;
    return GPUMP_OK;
}

static void carry_out(const gpump_block_choice *choices, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const gpump_block_choice *c = &choices[i];
        mirror_block *b = &w.blocks[c->block.slot];
        const int parked = b->state == GPUMP_BLOCK_PARKED;
        if (b->state == GPUMP_BLOCK_DRAINING) w.statistics.drain_cycles += w.now - b->since;
        if (b->state == GPUMP_BLOCK_STOPPING) w.statistics.stop_cycles += w.now - b->since;
        b->technique = c->technique;
        b->since = w.now;
        b->action_count = 0;
        if (c->technique == GPUMP_TECHNIQUE_FLUSH) {
            if (!parked) b->cycles += w.now - b->start;
            b->state = GPUMP_BLOCK_FLUSHED;
            post(b, GPUMP_SM_ACTION_DROP);
        } else if (c->technique == GPUMP_TECHNIQUE_DRAIN)
            b->state = GPUMP_BLOCK_DRAINING;
        else {
            int rewinds = c->technique == GPUMP_TECHNIQUE_REWIND;
            b->keep = c->keep;
            b->to_point = c->to_point;
            if (parked) {
                begin_save(b);
                continue;
            }
            if (rewinds) {
                b->to_point = (w.config.waits & GPUMP_SM_WAIT_PREEMPTION_POINT) != 0;
                w.statistics.rewound++;
            }
            b->state = GPUMP_BLOCK_STOPPING;
            b->waits = w.config.waits & ~(b->to_point ? 0 : (uint32_t)GPUMP_SM_WAIT_PREEMPTION_POINT);
            post(b, rewinds ? GPUMP_SM_ACTION_REWIND : GPUMP_SM_ACTION_STOP);
            if (!b->waits && !rewinds) begin_save(b);
        }
    }
}

static void preempt(void) {
    gpump_block_choice choices[2 * ENTRIES];
    uint32_t count = 1 + below(once_in(3) ? w.config.entries : 2), fault = 0;
    uint64_t time = model_time(w.now, w.told);
    struct mirror before = w;
    gpump_reason reason = GPUMP_REASON_YES;
    gpump_result expected;
    gpump_diag diag;
    memset(choices, 0, sizeof choices);
    memset(&diag, 0, sizeof diag);
    for (uint32_t i = 0; i < count; i++) {
        gpump_block_choice *c = &choices[i];
        c->block = any_ref();
        for (uint32_t j = 0; j < i && !once_in(8); j++) /* seldom the same block twice */
            if (choices[j].block.slot == c->block.slot) c->block = any_ref(), j = GPUMP_NONE;
        c->technique = below(once_in(30) ? 10 : 4);
        if (saves(c->technique) && once_in(2)) c->keep = below(once_in(30) ? 5 : 4);
        if (c->technique == GPUMP_TECHNIQUE_SWITCH && once_in(3)) c->to_point = below(once_in(30) ? 3 : 2);
        if (once_in(40)) c->keep = below(4);
        if (once_in(40)) c->to_point = 1;
    }
    if (count == 1 && is_here(choices[0].block) && w.blocks[choices[0].block.slot].request.group && !once_in(4)) {
        const mirror_block *b = &w.blocks[choices[0].block.slot]; /* its whole group */
        for (uint32_t i = 0; i < w.config.entries; i++)
            if (&w.blocks[i] != b && w.blocks[i].state && w.blocks[i].request.group == b->request.group &&
                w.blocks[i].request.kernel == b->request.kernel && !once_in(10)) {
                choices[count] = choices[0];
                choices[count++].block = ref_of(&w.blocks[i]);
            }
    }
    if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    else {
        pass(time);
        expected = check_choices(choices, count, &reason, &fault);
    }
    if (expected == GPUMP_OK)
        carry_out(choices, count);
    else
        w = before;
    MODEL_CALL(expected, gpump_sm_preempt(w.sm, time, choices, count, &diag));
    if (expected) MODEL_CHECK(diag.code == expected && diag.index == fault && diag.reason == reason);
}

/* Whoever is here and is not about to be freed is dropped for good. */
static void kill(void) {
    const gpump_block_ref ref = any_ref();
    const uint64_t time = model_time(w.now, w.told);
    const gpump_result expected = fact(time, ref,
                                       ~(1u << GPUMP_BLOCK_SAVED | 1u << GPUMP_BLOCK_FLUSHED | 1u << GPUMP_BLOCK_DONE |
                                         1u << GPUMP_BLOCK_KILLED | 1u << GPUMP_BLOCK_FREE));
    mirror_block *b = block_of(ref);
    if (!expected) {
        pass(time);
        if (b->state == GPUMP_BLOCK_DRAINING) w.statistics.drain_cycles += w.now - b->since;
        if (b->state == GPUMP_BLOCK_STOPPING) w.statistics.stop_cycles += w.now - b->since;
        if (b->state == GPUMP_BLOCK_SAVING) w.statistics.save_cycles += w.now - b->since;
        if (b->state == GPUMP_BLOCK_RESTORING) w.statistics.restore_cycles += w.now - b->since;
        if (b->state == GPUMP_BLOCK_SAVING || b->state == GPUMP_BLOCK_RESTORING) cut(b);
        if (b->state == GPUMP_BLOCK_RUNNING || b->state == GPUMP_BLOCK_BLOCKED || b->state == GPUMP_BLOCK_DRAINING ||
            b->state == GPUMP_BLOCK_STOPPING)
            b->cycles += w.now - b->start;
        b->state = GPUMP_BLOCK_KILLED;
        b->technique = GPUMP_NONE;
        b->since = w.now;
        b->action_count = 0;
        post(b, GPUMP_SM_ACTION_DROP);
    }
    MODEL_CALL(expected, gpump_sm_kill(w.sm, time, ref));
}

static void unpark(void) {
    gpump_block_ref ref = any_ref();
    uint64_t time = model_time(w.now, w.told);
    gpump_result expected = fact(time, ref, 1u << GPUMP_BLOCK_PARKED);
    gpump_diag diag;
    gpump_reason reason;
    uint32_t bases[2], missing;
    int either;
    mirror_block *b = block_of(ref);
    memset(&diag, 0, sizeof diag);
    if (!expected && b->action_count) expected = GPUMP_ERROR_STATE;
    if (!expected && b->state != GPUMP_BLOCK_PARKED) expected = GPUMP_ERROR_STATE; /* its save ends just now */
    if (expected) {
        MODEL_CALL(expected, gpump_sm_unpark(w.sm, time, ref, &diag));
        MODEL_CHECK(diag.code == expected);
        return;
    }
    missing = ALL & ~b->held;
    reason = w.reserved_for && w.reserved_for != b->request.kernel
                 ? GPUMP_REASON_RESERVED
                 : active_room(b->request.need.threads, b->request.placed);
    if (!reason) reason = range_room(missing, b->registers, b->shared, bases, &either);
    MODEL_CALL(reason ? GPUMP_BUSY : GPUMP_OK, gpump_sm_unpark(w.sm, time, ref, &diag));
    pass(time);
    if (reason) {
        MODEL_CHECK(diag.reason == reason);
        return;
    }
    if (missing & GPUMP_PART_REGISTERS) b->register_base = bases[0];
    if (missing & GPUMP_PART_SHARED_MEMORY) b->shared_base = bases[1];
    b->held = ALL;
    b->parts = missing;
    b->active = 1;
    b->state = GPUMP_BLOCK_RESTORING;
    b->since = w.now;
    w.statistics.unparked++;
    transfer(b, part_bytes(b, missing) + b->context.state_bytes);
    post(b, GPUMP_SM_ACTION_RESTORE);
}

static void next(void) {
    gpump_sm_action a;
    uint64_t time = model_time(w.now, w.told);
    mirror_block *b = w.blocks;
    int has_action;
    if (model_time_is_wrong(time, w.told)) {
        MODEL_CALL(GPUMP_ERROR_TIME, gpump_sm_next(w.sm, time, &a));
        return;
    }
    has_action = gpump_sm_has_action(w.sm, time);
    pass(time);
    while (b < w.blocks + w.config.entries && !b->action_count) b++;
    if (b == w.blocks + w.config.entries) {
        MODEL_CALL(GPUMP_EMPTY, gpump_sm_next(w.sm, time, &a));
        return;
    }
    MODEL_CHECK(has_action);
    MODEL_CALL(GPUMP_OK, gpump_sm_next(w.sm, time, &a));
    MODEL_CHECK(a.kind == b->actions[0] && a.block.slot == (uint32_t)(b - w.blocks));
    MODEL_CHECK(a.block.generation == b->generation && a.cookie == b->request.cookie);
    MODEL_CHECK(a.kernel == b->request.kernel && a.technique == b->technique && a.function == function_of(b));
    MODEL_CHECK(a.register_base == b->register_base && a.registers == b->registers);
    MODEL_CHECK(a.shared_base == b->shared_base && a.shared_bytes == b->shared);
    MODEL_CHECK(a.threads == b->request.need.threads && a.warps == b->warps);
    MODEL_CHECK(a.history.executed == b->executed && a.history.cycles == b->cycles);
    MODEL_CHECK(!memcmp(&a.history.context, &b->context, sizeof b->context));
    MODEL_CHECK(a.history.clobbered == b->clobbered);
    memmove(b->actions, b->actions + 1, sizeof b->actions - sizeof b->actions[0]);
    b->action_count--;
    if (a.kind == GPUMP_SM_ACTION_SAVE || a.kind == GPUMP_SM_ACTION_RESTORE) {
        MODEL_CHECK(a.parts == b->parts && a.bytes == b->moved && a.start_cycle == b->port_start);
        MODEL_CHECK(a.end_cycle == b->port_end && a.why == 0);
    } else
        MODEL_CHECK(a.bytes == 0 && a.start_cycle == 0 && a.end_cycle == 0);
    if (a.kind == GPUMP_SM_ACTION_PARKED) {
        MODEL_CHECK(a.parts == b->keep);
        b->active = 0;
        b->held = b->keep;
    }
    if (a.kind == GPUMP_SM_ACTION_FREED) {
        uint32_t generation = b->generation;
        MODEL_CHECK(a.why == b->why);
        w.statistics.executed += b->executed - b->brought;
        w.of_kernel[b->request.kernel]--;
        if (b->why == GPUMP_BLOCK_SAVED && w.saved_count < 8) {
            w.saved[w.saved_count] = a.history;
            w.saved_request[w.saved_count++] = b->request;
        }
        memset(b, 0, sizeof *b);
        b->generation = generation + 1;
    }
}

static void report_done(void) {
    gpump_block_ref ref = any_ref();
    uint64_t time = model_time(w.now, w.told);
    mirror_block *b = block_of(ref);
    gpump_result expected = fact(time, ref,
                                 1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_DRAINING |
                                     1u << GPUMP_BLOCK_STOPPING | 1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_FLUSHED);
    /* A block that has left its slots executes nothing; one that was dropped has nothing in flight. */
    if (!expected && (!b->active || is_pending(b, GPUMP_SM_ACTION_FREED))) expected = GPUMP_ERROR_STATE;
    MODEL_CALL(expected, gpump_sm_report_done(w.sm, time, ref));
    if (expected) return;
    pass(time);
    if (b->state == GPUMP_BLOCK_STOPPING) w.statistics.stop_cycles += w.now - b->since;
    if (b->state == GPUMP_BLOCK_DRAINING) {
        w.statistics.drained++;
        w.statistics.drain_cycles += w.now - b->since;
    }
    if (b->state == GPUMP_BLOCK_FLUSHED) w.statistics.drop_cycles += w.now - b->since;
    if (b->state == GPUMP_BLOCK_SAVING) {
        w.statistics.save_cycles += w.now - b->since;
        cut(b);
    } else /* a flushed block ran until it was told, and then to its end */
        b->cycles += w.now - (b->state == GPUMP_BLOCK_FLUSHED ? b->since : b->start);
    w.statistics.done++;
    b->action_count = 0;
    b->state = b->why = GPUMP_BLOCK_DONE;
    b->since = w.now;
    post(b, GPUMP_SM_ACTION_FREED);
}

static void report_waits(void) {
    gpump_block_ref ref = any_ref();
    uint64_t time = model_time(w.now, w.told);
    uint32_t waits = once_in(2) ? 0 : below(128) & (once_in(10) ? 255 : w.config.waits);
    gpump_result expected = fact(time, ref, 1u << GPUMP_BLOCK_STOPPING);
    if (waits & ~w.config.waits) expected = GPUMP_ERROR_ARGUMENT;
    MODEL_CALL(expected, gpump_sm_report_waits(w.sm, time, ref, waits));
    if (expected) return;
    pass(time);
    w.blocks[ref.slot].waits = waits;
    if (!waits) begin_save(&w.blocks[ref.slot]);
}

/* saved, restored and dropped: facts that answer an action. */
static void report_moved(void) {
    gpump_block_ref ref = any_ref();
    uint64_t time = model_time(w.now, w.told);
    const uint32_t which = below(3);
    static const uint32_t states[3] = {1u << GPUMP_BLOCK_SAVING, 1u << GPUMP_BLOCK_RESTORING,
                                       1u << GPUMP_BLOCK_FLUSHED | 1u << GPUMP_BLOCK_KILLED};
    gpump_result expected = fact(time, ref, states[which]);
    mirror_block *b = block_of(ref);
    if (!expected && b->action_count) expected = GPUMP_ERROR_STATE; /* the action comes first, and this once */
    if (!expected && which < 2 && w.config.timing != GPUMP_SM_TIMING_HOST) expected = GPUMP_ERROR_STATE;
    if (which == 0) MODEL_CALL(expected, gpump_sm_report_saved(w.sm, time, ref));
    if (which == 1) MODEL_CALL(expected, gpump_sm_report_restored(w.sm, time, ref));
    if (which == 2) MODEL_CALL(expected, gpump_sm_report_dropped(w.sm, time, ref));
    if (expected) return;
    pass(time);
    if (which < 2 && b->moved && b->port_end == w.port_free) w.port_free = w.now; /* the last one planned */
    if (which == 0) end_save(b, w.now);
    if (which == 1) end_restore(b, w.now);
    if (which == 2) {
        const int flushed = b->state == GPUMP_BLOCK_FLUSHED;
        w.statistics.flushed += flushed;
        w.statistics.killed += !flushed;
        w.statistics.wasted += flushed ? b->executed : 0;
        w.statistics.drop_cycles += w.now - b->since;
        b->why = b->state;
        b->since = w.now;
        post(b, GPUMP_SM_ACTION_FREED);
    }
}

static void report_blocked(void) {
    gpump_block_ref ref = any_ref();
    uint64_t time = model_time(w.now, w.told);
    const uint32_t blocked = below(2);
    gpump_result expected = fact(time, ref, 1u << (blocked ? GPUMP_BLOCK_RUNNING : GPUMP_BLOCK_BLOCKED));
    MODEL_CALL(expected, gpump_sm_report_blocked(w.sm, time, ref, blocked));
    if (expected) return;
    pass(time);
    w.blocks[ref.slot].state = blocked ? GPUMP_BLOCK_BLOCKED : GPUMP_BLOCK_RUNNING;
}

/* Facts without a time. */
static void report_progress(void) {
    gpump_block_ref ref = any_ref();
    mirror_block *b = block_of(ref);
    const gpump_result here = is_here(ref) ? GPUMP_OK : GPUMP_ERROR_STALE;
    const uint32_t amount = below(1000);
    gpump_result expected = here;
    switch (below(5)) {
    case 4: {
        const uint32_t faults = below(3);
        const uint64_t ready = once_in(20) ? 1 : faults ? (once_in(9) ? GPUMP_UNKNOWN : w.now + below(200)) : 0;
        if (!here && is_pending(b, GPUMP_SM_ACTION_FREED)) expected = GPUMP_ERROR_STATE;
        if (!faults && ready) expected = GPUMP_ERROR_ARGUMENT;
        MODEL_CALL(expected, gpump_sm_report_faults(w.sm, ref, faults, ready));
        if (expected) break;
        b->faults = faults;
        b->ready_cycle = ready;
        break;
    }
    case 0:
        MODEL_CALL(here, gpump_sm_report_executed(w.sm, ref, amount));
        if (!here) b->executed += amount;
        break;
    case 1:
        if (!once_in(4)) return;
        MODEL_CALL(here, gpump_sm_report_clobber(w.sm, ref));
        if (!here) b->clobbered = 1;
        break;
    case 2:
        if (!here && (b->state != GPUMP_BLOCK_STOPPING || b->technique != GPUMP_TECHNIQUE_REWIND))
            expected = GPUMP_ERROR_STATE;
        else if (!here && amount > b->executed)
            expected = GPUMP_ERROR_ARGUMENT;
        MODEL_CALL(expected, gpump_sm_report_rewound(w.sm, ref, amount));
        if (expected) break;
        b->executed -= amount;
        w.statistics.executed += amount;
        if (b->executed < b->brought) { /* the rest was executed before the restore */
            w.statistics.executed -= b->brought - b->executed;
            b->brought = b->executed;
        }
        w.statistics.wasted += amount;
        break;
    default: {
        gpump_context_sizes sizes;
        sizes.register_bytes = below(2000);
        sizes.shared_bytes = below(500);
        sizes.state_bytes = below(100);
        if (!here && b->state != GPUMP_BLOCK_RUNNING && b->state != GPUMP_BLOCK_BLOCKED &&
            b->state != GPUMP_BLOCK_DRAINING && b->state != GPUMP_BLOCK_STOPPING)
            expected = GPUMP_ERROR_STATE;
        MODEL_CALL(expected, gpump_sm_report_context_bytes(w.sm, ref, &sizes));
        if (!expected) b->context = sizes;
    }
    }
}

static void settings(void) {
    const uint32_t kernel = below(KERNELS + 1);
    switch (below(5)) {
    case 0:
        w.reserved_for = once_in(3) ? kernel : 0;
        MODEL_CALL(GPUMP_OK, gpump_sm_reserve(w.sm, w.reserved_for));
        break;
    case 1: {
        uint32_t bytes = !once_in(4) ? w.config.shared_bytes : below(w.config.shared_bytes + 10), end = CELLS;
        uint8_t cells[CELLS];
        gpump_result expected;
        cells_of(GPUMP_PART_SHARED_MEMORY, cells);
        while (end && !cells[end - 1]) end--;
        if (once_in(4)) bytes = end - (end && once_in(2)); /* just enough for what is held, or a byte less */
        expected = bytes > w.config.shared_bytes ? GPUMP_ERROR_ARGUMENT : GPUMP_OK;
        for (uint32_t c = bytes; !expected && c < CELLS; c++)
            if (cells[c]) expected = GPUMP_ERROR_STATE;
        MODEL_CALL(expected, gpump_sm_set_shared_bytes(w.sm, bytes, NULL));
        if (!expected) w.shared_bytes = bytes;
        break;
    }
    default: /* time passes; the SM is told now, or by the next call */
        w.now += once_in(3) ? below(300) : below(4);
        if (once_in(2)) {
            const uint32_t which = below(4);
            if (which == 0) report_done();
            if (which == 1) report_blocked();
            if (which == 2) report_moved();
            return;
        }
        pass(w.now);
        MODEL_CALL(GPUMP_OK, gpumpi_sm_advance(w.sm, w.now));
    }
}

/* ---- a policy decides ---- */

/* Whether a cell is free (owner 0), or becomes free because its owner, slot + 1, leaves and does not keep the part. */
static int becomes_free(uint32_t owner, uint32_t part) {
    const mirror_block *b = &w.blocks[owner ? owner - 1 : 0];
    if (!owner) return 1;
    if (b->state == GPUMP_BLOCK_STOPPING || b->state == GPUMP_BLOCK_SAVING) return !(b->keep & part);
    return b->state == GPUMP_BLOCK_DRAINING || b->state == GPUMP_BLOCK_FLUSHED || b->state == GPUMP_BLOCK_DONE ||
           b->state == GPUMP_BLOCK_SAVED || b->state == GPUMP_BLOCK_KILLED;
}

/* The positions of an incoming block on this SM; 0: none fits. */
static int draw_geometry(gpump_victim_geometry *geometry) {
    gpump_gpu gpu;
    gpump_footprint need;
    MODEL_CHECK(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL) == GPUMP_OK);
    gpu.lanes = w.config.lanes;
    gpu.block_slots = w.config.block_slots;
    gpu.warp_slots = w.config.warp_slots;
    gpu.thread_slots = w.config.thread_slots;
    gpu.registers = w.config.registers;
    gpu.register_granule = w.config.register_granule;
    gpu.shared_granule_bytes = w.config.shared_granule_bytes;
    gpu.shared_option_count = 1;
    gpu.shared_bytes[0] = w.config.shared_bytes;
    need.threads = 1 + below(w.config.thread_slots / 2 + 1);
    need.registers = below(CELLS / 2);
    need.shared_bytes = below(CELLS / 2);
    if (gpump_victim_geometry_init(geometry, &gpu, &need, w.config.shared_bytes, NULL)) return 0;
    geometry->entries = w.config.entries;
    return 1;
}

static gpump_victim_request draw_victim_request(void) {
    gpump_victim_request request;
    memset(&request, 0, sizeof request);
    request.kernel = 1 + below(KERNELS + 1); /* of the last one nothing is here */
    request.positions = 1 + below(4);
    request.flags = below(2) ? GPUMP_VICTIM_PARALLEL_SAVES : 0;
    request.since = w.now;
    request.now = w.now + below(20);
    request.limit_cycles = once_in(3) ? GPUMP_UNKNOWN : below(3000);
    request.timeout_cycles = once_in(2) ? GPUMP_UNKNOWN : below(1000);
    request.late_price = below(3);
    return request;
}

/* What each place promises is free, or becomes free by what leaves; no position is promised twice. */
static void check_places(const gpump_victim_geometry *geometry, const gpump_victim_place *places, uint32_t count) {
    uint8_t in_registers[CELLS], in_shared[CELLS];
    cells_of(GPUMP_PART_REGISTERS, in_registers);
    cells_of(GPUMP_PART_SHARED_MEMORY, in_shared);
    for (uint32_t i = 0; i < count; i++) {
        const gpump_victim_place *p = &places[i];
        MODEL_CHECK(p->position < geometry->positions && p->sm == 0);
        MODEL_CHECK(p->register_base == p->position * geometry->registers);
        MODEL_CHECK(p->shared_base == p->position * geometry->shared_bytes);
        for (uint32_t j = 0; j < i; j++) MODEL_CHECK(places[j].position != p->position);
        for (uint32_t c = 0; c < geometry->registers; c++)
            MODEL_CHECK(becomes_free(in_registers[p->register_base + c], GPUMP_PART_REGISTERS));
        for (uint32_t c = 0; c < geometry->shared_bytes; c++)
            MODEL_CHECK(becomes_free(in_shared[p->shared_base + c], GPUMP_PART_SHARED_MEMORY));
    }
}

/* A policy with random estimates chooses the victims; what it promises is compared with the mirror. */
static void decide(void) {
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_victim_sm view;
    gpump_victim_decision decision;
    gpump_block_view blocks[ENTRIES];
    gpump_cost_estimate estimates[ENTRIES];
    gpump_victim_place places[GPUMP_VICTIM_POSITIONS];
    gpump_block_choice choices[GPUMP_VICTIM_BLOCKS];
    gpump_reason reason;
    gpump_diag diag;
    uint32_t count, fault, policies = 0;
    const gpump_victim_policy *policy;
    if (w.shared_bytes != w.config.shared_bytes || w.config.placement != GPUMP_SM_ALIGNED) return;
    pass(w.now);
    MODEL_CALL(GPUMP_OK, gpumpi_sm_advance(w.sm, w.now));
    if (!draw_geometry(&geometry)) return;
    request = draw_victim_request();
    MODEL_CHECK(gpump_sm_blocks(w.sm, w.now, blocks, ENTRIES, &count) == GPUMP_OK);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++) {
            estimates[i].latency[t] = once_in(12) ? GPUMP_UNKNOWN : below(4000);
            estimates[i].overhead[t] = once_in(12) ? GPUMP_UNKNOWN : below(4000);
        }
    memset(&view, 0, sizeof view);
    view.blocks = blocks;
    view.estimates = estimates;
    view.count = count;
    while (gpump_victim_policy_at(policies)) policies++;
    policy = gpump_victim_policy_at(below(policies));
    if (victim_decide(policy, &request, &geometry, &view, 1, NULL, 0, places, GPUMP_VICTIM_POSITIONS, choices,
                      GPUMP_VICTIM_BLOCKS, &decision, &diag))
        fail_msg("%s: %s %s (GPUMP_TEST_SEED=%llu, event %llu)", policy->name, gpump_result_name(diag.code), diag.field,
                 (unsigned long long)model_seed, (unsigned long long)model_event_number);
    MODEL_CHECK(decision.places + decision.missing == request.positions || decision.places == request.positions);
    MODEL_CHECK((decision.missing != 0) == (decision.reason != GPUMP_REASON_YES));
    /* The SM does what was decided. */
    for (uint32_t i = 0; i < decision.choices; i++)
        MODEL_CHECK(may(&w.blocks[choices[i].block.slot], choices[i].technique) == GPUMP_REASON_YES);
    MODEL_CHECK(check_choices(choices, decision.choices, &reason, &fault) == GPUMP_OK);
    carry_out(choices, decision.choices);
    MODEL_CALL(GPUMP_OK, gpump_sm_preempt(w.sm, w.now, choices, decision.choices, &diag));
    check_places(&geometry, places, decision.places);
}

static void event(void) {
    switch (below(40)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: place(); break;
    case 6:
    case 7:
    case 8:
    case 9: once_in(12) ? kill() : preempt(); break;
    case 10:
    case 11: unpark(); break;
    case 12: report_done(); break;
    case 13:
    case 14:
    case 15:
    case 16: report_waits(); break;
    case 17:
    case 18:
    case 19:
    case 20:
    case 21:
    case 22: report_moved(); break;
    case 23: report_blocked(); break;
    case 24:
    case 25:
    case 26:
    case 27: report_progress(); break;
    case 28:
    case 29: settings(); break;
    case 30: decide(); break;
    default: next();
    }
}

/* ---- all that can be asked ---- */

static void compare(void) {
    gpump_sm_statistics statistics;
    gpump_block_view views[ENTRIES];
    uint32_t count, at = 0;
    uint64_t wake = GPUMP_UNKNOWN, later = w.now + below(100);
    int pending = 0;
    MODEL_CHECK(w.sm->now == w.told);
    gpump_get_statistics(&gpump_sm_component, w.sm, &statistics);
    MODEL_CHECK(!memcmp(&statistics, &w.statistics, sizeof statistics));
    MODEL_RISES(statistics);
    MODEL_CHECK(gpump_sm_blocks(w.sm, later, views, ENTRIES, &count) == GPUMP_OK);
    for (uint32_t i = 0; i < w.config.entries; i++) {
        const mirror_block *b = &w.blocks[i];
        const gpump_block_view *v = &views[at];
        uint32_t allowed = 0, waits = 77;
        uint64_t since = 77;
        MODEL_CHECK(gpump_sm_state(w.sm, i) == b->state);
        MODEL_CHECK(gpump_sm_may_issue(w.sm, i) ==
                    (b->state == GPUMP_BLOCK_RUNNING || b->state == GPUMP_BLOCK_DRAINING ||
                     (b->state == GPUMP_BLOCK_STOPPING && b->to_point && (b->waits & GPUMP_SM_WAIT_PREEMPTION_POINT))));
        if (!b->state) continue;
        MODEL_CHECK(at < count);
        at++;
        pending |= b->action_count != 0;
        if ((b->state == GPUMP_BLOCK_SAVING || b->state == GPUMP_BLOCK_RESTORING) && b->port_end < wake)
            wake = b->port_end;
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++)
            if (may(b, t) == GPUMP_REASON_YES) allowed |= 1u << t;
        MODEL_CHECK(v->block.slot == i && v->block.generation == b->generation && v->cookie == b->request.cookie);
        MODEL_CHECK(v->executed == b->executed && v->start_cycle == b->start && v->state == b->state);
        MODEL_CHECK(v->cycles == b->cycles + (b->state == GPUMP_BLOCK_RUNNING || b->state == GPUMP_BLOCK_BLOCKED ||
                                                      b->state == GPUMP_BLOCK_DRAINING ||
                                                      b->state == GPUMP_BLOCK_STOPPING
                                                  ? later - b->start
                                                  : 0));
        MODEL_CHECK(v->context_bytes ==
                    part_bytes(b, b->held) + (b->state == GPUMP_BLOCK_PARKED ? 0 : b->context.state_bytes));
        MODEL_CHECK(v->kernel == b->request.kernel);
        MODEL_CHECK(v->registers == (b->held & GPUMP_PART_REGISTERS ? b->registers : 0));
        MODEL_CHECK(v->register_base == (b->held & GPUMP_PART_REGISTERS ? b->register_base : 0));
        MODEL_CHECK(v->shared_bytes == (b->held & GPUMP_PART_SHARED_MEMORY ? b->shared : 0));
        MODEL_CHECK(v->shared_base == (b->held & GPUMP_PART_SHARED_MEMORY ? b->shared_base : 0));
        MODEL_CHECK(v->threads == (b->active ? b->request.need.threads : 0) && v->warps == (b->active ? b->warps : 0));
        MODEL_CHECK(v->may == allowed && v->function == function_of(b) && v->group == b->request.group &&
                    v->technique == b->technique);
        MODEL_CHECK(v->keep == (b->state == GPUMP_BLOCK_STOPPING || b->state == GPUMP_BLOCK_SAVING ? b->keep : 0));
        MODEL_CHECK(v->faults == b->faults && v->fault_stalls == (b->faults && (w.config.waits & GPUMP_SM_WAIT_FAULT)));
        MODEL_CHECK(v->fault_cycles == (b->ready_cycle == GPUMP_UNKNOWN ? GPUMP_UNKNOWN
                                        : b->ready_cycle > later        ? b->ready_cycle - later
                                                                        : 0));
        if (b->state != GPUMP_BLOCK_STOPPING)
            MODEL_CHECK(gpump_sm_waits_for(w.sm, v->block, &waits, &since) == GPUMP_REASON_NOT_RUNNING && waits == 77);
        else {
            uint32_t lowest_wait = 0;
            while (lowest_wait < 7 && !(b->waits >> lowest_wait & 1)) lowest_wait++;
            MODEL_CHECK(gpump_sm_waits_for(w.sm, v->block, &waits, &since) ==
                        (lowest_wait < 6   ? GPUMP_REASON_PIPELINE + lowest_wait
                         : lowest_wait < 7 ? (uint32_t)GPUMP_REASON_FAULTED
                                           : (uint32_t)GPUMP_REASON_YES));
            MODEL_CHECK(waits == b->waits && since == b->since);
        }
    }
    MODEL_CHECK(at == count);
    if (pending)
        wake = w.told;
    else if (w.config.timing != GPUMP_SM_TIMING_PORT)
        wake = GPUMP_UNKNOWN;
    MODEL_CHECK(gpump_next_cycle(&gpump_sm_component, w.sm) == wake);
}

static size_t begin(void *memory) {
    size_t bytes;
    memset(&w, 0, sizeof w);
    MODEL_CHECK(gpump_preset(&gpump_sm_component, &w.config, "gtx480_lin", NULL) == GPUMP_OK);
    w.config.lanes = 1u << below(5);
    w.config.block_slots = 1 + below(8);
    w.config.entries = w.config.block_slots + below(ENTRIES + 1 - w.config.block_slots);
    w.config.warp_slots = 4 + below(20);
    w.config.thread_slots = 8 + below(200);
    w.config.registers = 1 + below(CELLS);
    w.config.register_granule = 1 + below(once_in(2) ? 16 : 2);
    w.config.shared_bytes = below(CELLS);
    w.config.shared_granule_bytes = 1 + below(once_in(2) ? 16 : 2);
    w.config.kernels = 1 + below(KERNELS);
    w.config.placement = below(2);
    w.config.techniques = once_in(4) ? below(16) : 15;
    w.config.waits = once_in(2) ? GPUMP_SM_WAIT_ALL : below(128);
    w.config.timing = below(2);
    w.config.port.cycles = 1 + below(9);
    w.config.port.bytes = 1 + below(9);
    w.shared_bytes = w.config.shared_bytes;
    for (uint32_t i = 0; i < ENTRIES; i++) w.blocks[i].generation = 1;
    MODEL_CHECK(gpump_bytes(&gpump_sm_component, &w.config, &bytes, NULL) == GPUMP_OK);
    MODEL_CHECK(gpump_init(&gpump_sm_component, memory, bytes, &w.config, &w.sm, NULL) == GPUMP_OK);
    return bytes;
}

static gpump_result adopt(void *memory, size_t bytes) {
    gpump_diag diag;
    gpump_result result = gpump_adopt(&gpump_sm_component, memory, bytes, &w.config, &w.sm, &diag);
    return result ? result : gpump_check(&gpump_sm_component, w.sm, &diag);
}
static uint64_t hash(void) { return gpump_hash(&gpump_sm_component, w.sm); }

/* An SM agrees with a plain model after each of random calls. */
static void an_sm_and_its_mirror(void **state) {
    static const model sm = {"sm", 500, begin, event, compare, adopt, hash};
    (void)state;
    model_run(&sm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_sm_and_its_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
