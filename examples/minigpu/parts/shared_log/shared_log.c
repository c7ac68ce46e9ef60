#include "parts/shared_log/shared_log.h"

#include "sm/gate.h"
#include "sm/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *shared_restart_name(uint32_t index) {
    static const char *const names[SHARED_RESTARTS] = {"cuts", "saved", "buffered", "versioned"};
    return index < SHARED_RESTARTS ? names[index] : NULL;
}

/* ---- making ---- */

/* Is shared memory overwritten behind the boundary at `pc`, before the next one? `seen` and `stack` have room for each
 * instruction. */
static int overwrites(const kernel_program *program, uint32_t pc, uint8_t *seen, uint32_t *stack) {
    uint32_t depth = 0;
    memset(seen, 0, program->count);
    stack[depth++] = pc + 1;
    while (depth) {
        const uint32_t at = stack[--depth];
        const instruction *in = &program->instructions[at];
        if (at >= program->count || seen[at]) continue;
        seen[at] = 1;
        if (in->opcode == OPCODE_BOUNDARY) continue;
        if (in->space == SPACE_SHARED && (in->opcode == OPCODE_ST || in->opcode == OPCODE_STMATRIX)) return 1;
        if (in->opcode == OPCODE_BRA && !seen[in->target]) stack[depth++] = in->target;
        if (at + 1 < program->count && !seen[at + 1]) stack[depth++] = at + 1;
    }
    return 0;
}

static int prepare(machine *m, uint32_t kernel_index, const kernel_program *program, issue_info *info) {
    uint8_t *seen = (uint8_t *)malloc(program->count + 1u);
    uint32_t *stack = (uint32_t *)malloc((2 * program->count + 2u) * sizeof *stack), pc;
    const int result = seen && stack ? 0 : -1;
    (void)kernel_index;
    for (pc = 0; pc < program->count && !result && m->shared_restart == SHARED_SAVED; pc++)
        if (info[pc].is_boundary && overwrites(program, pc, seen, stack)) info[pc].is_boundary = BOUNDARY_OVERWRITES;
    free(seen);
    free(stack);
    return result;
}

static int make_sm(machine *m, sm *s) {
    const uint32_t room = s->shared_bytes / 4 + 1, words = 2 * room;
    uint32_t i;
    shared_log *log = (shared_log *)arena_take(&m->arena, sizeof *log + (size_t)words * sizeof log->words[0]);
    if (!log) return -1;
    log->way = m->shared_restart;
    log->room = room;
    for (i = 0; i < words; i++) log->words[i].before = i + 1 < words ? i + 1 : NONE;
    for (i = 0; i < WARP_NUMBERS_MAX; i++) log->newest[i] = log->mark[i] = NONE;
    s->of_part[PART_shared_log] = log;
    return 0;
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    (void)launch;
    (void)options;
    for (i = 0; i < m->sm_count && m->shared_restart; i++) {
        if (!make_sm(m, m->sms[i])) continue;
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the log of shared memory of SM %u", i);
        return -1;
    }
    return 0;
}

void shared_log_sum(const machine *m, shared_log_statistics *statistics) {
    uint32_t i;
    memset(statistics, 0, sizeof *statistics);
    for (i = 0; i < m->sm_count; i++) {
        const shared_log_statistics *one;
        if (!shared_log_of(m->sms[i])) continue;
        one = &shared_log_of(m->sms[i])->statistics;
        statistics->words += one->words;
        statistics->undone += one->undone;
        statistics->most = one->most > statistics->most ? one->most : statistics->most;
        statistics->full += one->full;
        statistics->copies += one->copies;
        statistics->copied_bytes += one->copied_bytes;
    }
}

/* ---- the log ---- */

/* Where the shared memory of a warp's block lies. */
static uint8_t *shared_of(machine *m, const sm *s, const warp *w) {
    const block *b = &m->blocks[w->block];
    uint8_t *shared;
    PARTS_ASK(m, shared, NULL, shared_memory, (m, b));
    return shared ? shared : s->shared + b->shared_base;
}

static void log_bytes(machine *m, sm *s, const warp *w, uint32_t address, uint32_t bytes) {
    const uint8_t *shared = shared_of(m, s, w);
    shared_log *log = shared_log_of(s);
    uint32_t part;
    for (; bytes; bytes -= part, address += part) {
        const uint32_t i = log->free;
        shared_log_word *word = &log->words[i];
        part = bytes < 4 ? bytes : 4;
        if (i == NONE) {
            machine_fail(m, "SM %u: its log of shared memory is full, and its reserve too", s->index);
            return;
        }
        log->free = word->before;
        word->before = log->newest[w->number];
        word->address = address;
        word->bytes = part;
        memcpy(word->old, shared + address, part);
        log->newest[w->number] = i;
        log->statistics.words++;
        if (++log->used > log->statistics.most) log->statistics.most = log->used;
    }
}

/* A store of a warp is about to take effect. */
static void shared_stores(machine *m, sm *s, const in_flight *r) {
    const warp *w = &m->warps[r->warp];
    const uint32_t bytes = instruction_access_bytes(r->instruction);
    uint32_t lanes = instruction_address_lanes(r->instruction, r->active);
    int struck;
    if (!gpump_restart_may_go_back(s->restart, w->number, GPUMP_RESTART_SPARSE) &&
        !gpump_restart_may_go_back(s->restart, w->number, GPUMP_RESTART_SHORT))
        return;
    PARTS_ASK(m, struck, 0, has_struck, (m, s, w));
    if (shared_log_of(s)->used >= shared_log_of(s)->room && !gpump_restart_errs(s->restart, w->number) && !struck) {
        shared_log_of(s)->statistics.full++;
        gpump_restart_forbid(s->restart, w->number);
        return;
    }
    for (; lanes; lanes &= lanes - 1) log_bytes(m, s, w, (uint32_t)r->addresses[gpump_bits_lowest64(lanes)], bytes);
}

static uint32_t drop_newest(shared_log *log, uint32_t number) {
    const uint32_t i = log->newest[number];
    log->newest[number] = log->words[i].before;
    log->words[i].before = log->free;
    log->free = i;
    log->used--;
    return i;
}

/* A warp stands behind a boundary: it will not go back further, but to its sparse restart PC from a short one. */
static void forget(sm *s, uint32_t number, int is_short) {
    shared_log *log = shared_log_of(s);
    while (!is_short && log->newest[number] != NONE) drop_newest(log, number);
    log->mark[number] = log->newest[number];
}

/* Undoes the stores of a warp that goes back. */
static void warp_goes_back(machine *m, sm *s, warp *w, uint32_t region) {
    shared_log *log = shared_log_of(s);
    uint8_t *shared = shared_of(m, s, w);
    if (region == GPUMP_RESTART_SPARSE) log->mark[w->number] = NONE;
    while (log->newest[w->number] != log->mark[w->number]) {
        const shared_log_word *word = &log->words[drop_newest(log, w->number)];
        memcpy(shared + word->address, word->old, word->bytes);
        log->statistics.undone++;
    }
}

/* The copy of a block's shared memory. Returns how many cycles from now on it is complete. */
static uint64_t copy(sm *s, uint32_t bytes) {
    shared_log *log = shared_log_of(s);
    if (log->copied_cycle < s->now) log->copied_cycle = s->now; /* the engine is free */
    log->copied_cycle += (bytes + SHARED_COPY_BYTES - 1) / SHARED_COPY_BYTES;
    log->statistics.copies++;
    log->statistics.copied_bytes += bytes;
    return log->copied_cycle - s->now;
}

/* ---- the part ---- */

static int is_present(const machine *m) { return m->shared_restart != SHARED_CUTS; }

/* Must a copy be made before the boundary at `pc` is crossed? */
static int copies(const sm *s, const kernel *k, uint32_t pc) {
    return shared_log_of(s)->way == SHARED_SAVED && k->info[pc].is_boundary == BOUNDARY_OVERWRITES;
}

static void boundary(machine *m, sm *s, warp *w, int is_short) {
    (void)m;
    forget(s, w->number, is_short);
}

static void warp_leaves(machine *m, sm *s, warp *w) { boundary(m, s, w, 0); }

/* What the warps of a restored block had overwritten is not in its context. (All of the context has been read: what a
 * frame of it holds depends on whether its warp may go back.) */
static void block_is_restored(machine *m, sm *s, block *b) {
    uint32_t i;
    for (i = 0; m->restarts_travel && i < b->warp_count; i++) restart_forbid(s, &m->warps[b->warps[i]]);
}

/* One copy serves all warps that wait at a barrier, and is made when it opens. */
static void barrier_opens(machine *m, sm *s, warp *w, uint64_t *once) {
    const kernel *k = &m->kernels[m->blocks[w->block].kernel];
    if (!copies(s, k, w->barrier_pc + 1)) return;
    if (!*once) *once = copy(s, k->shared_bytes);
    gate_wait(s, w, *once);
}

static void issued(machine *m, sm *s, warp *w, const in_flight *r) {
    const kernel *k = &m->kernels[m->blocks[r->block].kernel];
    if (!r->info->is_boundary || !copies(s, k, r->pc)) return;
    if (!w->program[r->pc - (r->pc > 0)].is_barrier) gate_wait(s, w, copy(s, k->shared_bytes));
}

static void coalesced(machine *m, sm *s, in_flight *r) {
    (void)m;
    if (shared_log_of(s)->way == SHARED_VERSIONED && r->instruction->space == SPACE_SHARED &&
        !instruction_only_reads(r->instruction))
        r->conflict_cycles *= 2; /* the old value is read first */
}

const part shared_log_part = {
    .name = "shared_log",
    .traits = PART_ON_PATH,
    .make = make,
    .is_present = is_present,
    .prepare = prepare,
    .block_is_restored = block_is_restored,
    .warp_leaves = warp_leaves,
    .issued = issued,
    .coalesced = coalesced,
    .shared_stores = shared_stores,
    .barrier_opens = barrier_opens,
    .boundary = boundary,
    .warp_goes_back = warp_goes_back,
};
