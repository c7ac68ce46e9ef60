/* Restarts of idempotent regions in the executor of interpret.h: what tests/minigpu/restart.c and
 * tests/minigpu/boundaries_removed.c share.
 *
 * A warp goes back instead of executing an instruction; registers that are not live where it goes on again are
 * overwritten, so that nobody lives on them by chance. A boundary or a move can be taken away for the length of a run,
 * and a run without restarts can be watched for what a restart would get wrong. */
#ifndef GPUMP_TEST_RESTARTS_H
#define GPUMP_TEST_RESTARTS_H
#include "test.h"

#include "analysis/analysis.h"
#include "tools/check.h"
#include "preemption/context_forms.h"
#include "program/interpret.h"
#include "machine/machine.h"
#include "ptx/ptx_reader.h"
#include "parts/restart/restart.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

/* ==== what a restart would get wrong ==== */

/* What a warp has read since its region began and not written before: registers lane by lane, memory byte by byte, and
 * the values. A restart is right as long as all of it is as it was. */
enum { FOUND_REGISTER = 1, FOUND_MEMORY = 2, FOUND_BARRIER = 4, FOUND_REACHED = 8, FOUND_SAME = 16 };
enum { WATCH_BYTES = 1 << 18 };
typedef struct watch_byte {
    const uint8_t *place;
    uint64_t region;
    uint8_t value, written;
} watch_byte;
typedef struct region_watch {
    uint32_t *read, *written,
        *values;            /* registers' lanes, [registers][LANES]; behind them predicates' lanes, values as masks */
    watch_byte *bytes;      /* hash table */
    uint32_t *list, listed; /* of read ones in this region */
    uint64_t region;
    int longer;       /* the region has run past where a boundary or move was taken away, or follows such a one */
    uint32_t changed; /* FOUND_REGISTER, FOUND_SAME: by the last instruction */
    uint32_t active;  /* lanes of the instruction under way */
} region_watch;

static void restart_copy_stack(simt_stack *to, const simt_stack *from) {
    to->depth = from->depth;
    memcpy(to->entries, from->entries, from->depth * sizeof *from->entries);
}

static inline void watch_open(region_watch *w, const kernel_program *kernel) {
    if (w->bytes) return;
    w->read = (uint32_t *)interpret_zeroed((uint64_t)(kernel->registers + kernel->predicates) * 4);
    w->written = (uint32_t *)interpret_zeroed((uint64_t)(kernel->registers + kernel->predicates) * 4);
    w->values = (uint32_t *)interpret_zeroed((uint64_t)(kernel->registers * LANES + kernel->predicates) * 4);
    w->bytes = (watch_byte *)interpret_zeroed(WATCH_BYTES * sizeof *w->bytes);
    w->list = (uint32_t *)interpret_zeroed(WATCH_BYTES * sizeof *w->list);
}
static inline void watch_close(region_watch *w) {
    free(w->read);
    free(w->written);
    free(w->values);
    free(w->bytes);
    free(w->list);
    memset(w, 0, sizeof *w);
}
static inline void watch_region(region_watch *w, const kernel_program *kernel) {
    memset(w->read, 0, (size_t)(kernel->registers + kernel->predicates) * 4);
    memset(w->written, 0, (size_t)(kernel->registers + kernel->predicates) * 4);
    w->region++;
    w->listed = 0;
    w->longer = 0;
    w->changed = 0;
}

static inline watch_byte *watch_place(region_watch *w, const uint8_t *place) {
    uint32_t at = (uint32_t)(((uint64_t)(uintptr_t)place * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (WATCH_BYTES - 1),
             tries;
    for (tries = 0; tries < WATCH_BYTES; tries++, at = (at + 1) & (WATCH_BYTES - 1)) {
        watch_byte *b = &w->bytes[at];
        if (b->region == w->region && b->place == place) return b;
        if (b->region == w->region) continue;
        b->region = w->region;
        b->place = place;
        b->written = 2; /* neither: the caller decides */
        return b;
    }
    fail_msg("a region reads more bytes than there is room for");
    return NULL;
}

/* Lanes of a register (or predicate) are read, or have been written. */
static inline void watch_operand(region_watch *w, const interpreter *t, uint32_t index, const operand *o,
                                 uint32_t lanes, int writes) {
    const interpret_warp *warp = &t->warps[index];
    const uint32_t registers = t->kernel->registers;
    uint32_t i, lane;
    if (o->kind == OPERAND_PREDICATE) {
        const uint32_t at = registers + o->index, now = warp->predicates[o->index];
        uint32_t *value = &w->values[registers * LANES + o->index];
        if (writes) {
            if (w->read[at] & lanes) w->changed |= (now ^ *value) & w->read[at] & lanes ? FOUND_REGISTER : FOUND_SAME;
            w->written[at] |= lanes & ~w->read[at];
        } else {
            const uint32_t fresh = lanes & ~w->read[at] & ~w->written[at];
            *value = (*value & ~fresh) | (now & fresh);
            w->read[at] |= fresh;
        }
    }
    for (i = o->index; o->kind == OPERAND_REGISTER && i < o->index + o->words; i++) {
        for (lane = 0; lane < LANES; lane++) {
            const uint32_t bit = 1u << lane, now = warp->registers[i * LANES + lane];
            if (!(lanes & bit)) continue;
            if (writes && w->read[i] & bit)
                w->changed |= now != w->values[i * LANES + lane] ? FOUND_REGISTER : FOUND_SAME;
            if (writes && !(w->read[i] & bit)) w->written[i] |= bit;
            if (writes || (w->read[i] | w->written[i]) & bit) continue;
            w->read[i] |= bit;
            w->values[i * LANES + lane] = now;
        }
    }
}

static inline void watch_memory(region_watch *w, interpreter *t, uint32_t index, const instruction *in, uint32_t active,
                                const lanes_operand *sources) {
    uint64_t addresses[LANES];
    const uint32_t bytes = instruction_access_bytes(in);
    uint32_t lane, i;
    lanes_address(in, active, sources, addresses);
    for (lane = 0; lane < LANES; lane++) {
        const uint8_t *place;
        if (!(active >> lane & 1)) continue;
        place = interpret_place(
            t, in->space, index * 32 + lane,
            in->space == SPACE_SHARED || in->space == SPACE_LOCAL ? (uint32_t)addresses[lane] : addresses[lane], bytes);
        for (i = 0; i < bytes; i++) {
            watch_byte *b = watch_place(w, place + i);
            if (b->written == 0 && in->opcode != OPCODE_LD)
                w->changed |= FOUND_SAME;  /* or FOUND_MEMORY, which shows later */
            if (b->written != 2) continue; /* what came first counts */
            b->written = in->opcode == OPCODE_ST;
            b->value = place[i];
            if (!b->written) w->list[w->listed++] = (uint32_t)(b - w->bytes);
        }
    }
}

/* Before a warp's next instruction, where it might go back: what would be wrong then? removed: at the boundary taken
 * away; boundary: at another. */
static inline uint32_t watch_before(region_watch *w, interpreter *t, uint32_t index, uint32_t pc, int removed,
                                    int must_go_on, int boundary) {
    const instruction *in = &t->kernel->instructions[pc];
    const interpret_warp *warp = &t->warps[index];
    const uint32_t mask = simt_top(&warp->stack)->mask, active = lanes_guard(in, mask, warp->predicates);
    lanes_operand sources[INSTRUCTION_SOURCES];
    uint32_t found = 0, i;
    operand guard;
    w->longer |= removed;
    if (w->longer && !(must_go_on && boundary)) {
        found = FOUND_REACHED | w->changed | (must_go_on ? FOUND_BARRIER : 0);
        for (i = 0; i < w->listed; i++) {
            const watch_byte *b = &w->bytes[w->list[i]];
            if (*b->place != b->value) found |= FOUND_MEMORY;
        }
    }
    w->changed = 0;
    for (i = 0; i < in->source_count; i++) watch_operand(w, t, index, &in->sources[i], active, 0);
    if (in->guard != INSTRUCTION_NONE) {
        memset(&guard, 0, sizeof guard);
        guard.kind = OPERAND_PREDICATE;
        guard.index = in->guard;
        watch_operand(w, t, index, &guard, mask, 0);
    }
    if (in->opcode == OPCODE_LD || in->opcode == OPCODE_ST || in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED) {
        lanes_read_sources(in, warp->registers, warp->predicates, &t->environment, sources);
        if (active && in->space != SPACE_PARAM) watch_memory(w, t, index, in, active, sources);
    }
    w->active = active;
    return found;
}

static inline int watch_overlap(const operand *a, const operand *b) {
    if (a->kind != b->kind) return 0;
    if (a->kind == OPERAND_PREDICATE) return a->index == b->index;
    return a->kind == OPERAND_REGISTER && a->index < b->index + b->words && b->index < a->index + a->words;
}

/* After it. ends: it was a boundary, and a region begins; move: the one taken away, or NULL; renamed: its two registers
 * are one now. */
static inline void watch_after(region_watch *w, const interpreter *t, uint32_t index, const instruction *in, int ends,
                               const instruction *move, int renamed) {
    uint32_t i;
    if (ends) {
        watch_region(w, t->kernel);
        w->longer = renamed;
        return;
    }
    w->longer |= renamed;
    for (i = 0; i < in->destination_count; i++) {
        watch_operand(w, t, index, &in->destinations[i], w->active, 1);
        if (!renamed || in == move) continue;
        if (watch_overlap(&in->destinations[i], &move->destinations[0]))
            watch_operand(w, t, index, &move->sources[0], w->active, 1);
        if (watch_overlap(&in->destinations[i], &move->sources[0]))
            watch_operand(w, t, index, &move->destinations[0], w->active, 1);
    }
}

/* ==== restarts in the executor ==== */

typedef struct position {
    simt_stack start[2]; /* of the sparse and of the short region */
    uint32_t crossed;    /* lanes that have crossed the sparse boundary; others may have waited behind it */
    uint32_t must_go_on; /* an atomic, volatile access or barrier has taken effect, and the boundary behind it not */
    uint64_t steps,
        farthest; /* since its region's start: now, and when it has last gone back: from each place only once */
} position;

typedef struct experiment {
    interpreter run;
    const kernel_program *kernel;
    context_view *view;
    position at[32];
    uint32_t *taken; /* [start][instruction]: restarts so far */
    uint64_t restarts, limit, most;
    uint32_t spilling;       /* as the kernel was lowered */
    uint32_t level, removed; /* of this boundary nobody knows; NONE */
    uint32_t removed_move;   /* this move copies nothing: from there on its two registers are one; NONE */
    uint32_t lasts;          /* that holds for so many more regions behind the one where it stands; NONE: for good */
    uint32_t renamed[32];    /* of each warp: lanes that have executed it ... */
    uint32_t left[32];       /* ... and for how many more regions that counts */
    int missing;             /* an instruction that must not be done twice without a boundary behind it */
    region_watch *watch;     /* one per warp; NULL: nobody looks */
    uint32_t found;          /* FOUND_... of all warps */
} experiment;

static inline void record(experiment *e, uint32_t w, int is_short, uint32_t lanes) {
    position *p = &e->at[w];
    restart_copy_stack(&p->start[1], &e->run.warps[w].stack);
    if (!is_short) restart_copy_stack(&p->start[0], &e->run.warps[w].stack);
    if (!is_short) p->crossed = lanes;
    p->must_go_on = 0;
    if (e->level || !is_short) p->steps = p->farthest = 0;
}

static inline void live_at_stack(const experiment *e, const simt_stack *stack, uint64_t *live) {
    static warp there;
    static kernel k;
    there.stack = *stack;
    there.barrier = NONE;
    k.registers = e->kernel->registers;
    context_live(e->view, &k, &there, live);
}

/* A warp has gone back. Registers that are not live there hold nothing any more. With continuous spilling, the lanes
 * that have crossed the boundary find none of their registers: the region loads them, or, when only changes are stored,
 * who brings the warp back, which is done here. Lanes that waited keep theirs. Predicates stay. */
static inline void overwrite_dead(const experiment *e, const interpret_warp *w, uint32_t index) {
    const uint32_t base = e->kernel->local_bytes - e->kernel->registers * 4,
                   crossed = e->spilling && !e->level ? e->at[index].crossed : 0;
    uint64_t live[CONTEXT_LIVE_WORDS], here[CONTEXT_LIVE_WORDS];
    simt_stack top;
    uint32_t r, lane;
    live_at_stack(e, &w->stack, live);
    top.depth = 1;
    top.entries[0] = *simt_top(&w->stack);
    live_at_stack(e, &top, here);
    for (r = 0; r < e->kernel->registers; r++)
        for (lane = 0; lane < LANES; lane++) {
            uint32_t *place = &w->registers[r * LANES + lane];
            if (!gpump_bits_get(live, r) || crossed >> lane & 1) *place = 0xdeadbeefu ^ r;
            if (crossed >> lane & 1 && e->spilling == SPILLING_CHANGED && gpump_bits_get(here, r))
                memcpy(place, e->run.local + (uint64_t)(index * LANES + lane) * e->kernel->local_bytes + base + r * 4,
                       4);
        }
}

/* The two registers of the removed move are one: what an instruction has written to one is in the other, too. */
static inline void undo_move(experiment *e, uint32_t index, const instruction *in, uint32_t active) {
    const operand *to, *from, *written = NULL, *other;
    interpret_warp *w = &e->run.warps[index];
    uint32_t i, lane;
    const uint32_t lanes = e->renamed[index] & active;
    if (e->removed_move == NONE || !lanes) return;
    to = &e->kernel->instructions[e->removed_move].destinations[0];
    from = &e->kernel->instructions[e->removed_move].sources[0];
    for (i = 0; i < in->destination_count; i++) {
        if (watch_overlap(&in->destinations[i], to))
            written = to;
        else if (e->lasts && watch_overlap(&in->destinations[i], from))
            written = from;
    }
    if (!written) return;
    other = written == to ? from : to;
    if (written->kind == OPERAND_PREDICATE) {
        uint32_t *place = &w->predicates[other->index];
        *place = (*place & ~lanes) | (w->predicates[written->index] & lanes);
        return;
    }
    for (i = 0; i < other->words; i++)
        for (lane = 0; lane < LANES; lane++)
            if (lanes >> lane & 1)
                w->registers[(other->index + i) * LANES + lane] = w->registers[(written->index + i) * LANES + lane];
}

/* Goes back instead of executing, when this place has not been taken often enough. */
static inline int restarts(experiment *e, uint32_t index) {
    interpret_warp *w = &e->run.warps[index];
    position *p = &e->at[index];
    const uint32_t pc = simt_top(&w->stack)->pc;
    const instruction *in = &e->kernel->instructions[pc];
    /* what a boundary stores belongs to it: the places are there, so that nothing can go wrong between it and the
     * barrier before it */
    const int at_boundary = (in->opcode == OPCODE_BOUNDARY && pc != e->removed) ||
                            (in->opcode == OPCODE_ST && in->space == SPACE_LOCAL && p->must_go_on);
    uint32_t *taken;
    if (!e->limit) return 0;
    if (p->must_go_on && !at_boundary && e->removed == NONE) e->missing = 1;
    if (p->must_go_on && at_boundary) return 0;
    if (p->steps++ < p->farthest) return 0;
    taken = &e->taken[(size_t)simt_top(&p->start[e->level])->pc * e->kernel->count + pc];
    if (*taken >= e->limit) return 0;
    ++*taken;
    e->restarts++;
    p->farthest = p->steps;
    p->steps = 0;
    restart_copy_stack(&w->stack, &p->start[e->level]);
    if (!e->level) restart_copy_stack(&p->start[1], &p->start[0]);
    p->must_go_on = 0;
    if (e->left[index] == e->lasts && e->lasts != NONE) e->renamed[index] = 0; /* it will be executed again */
    overwrite_dead(e, w, index);
    return 1;
}

static inline void step(experiment *e, uint64_t block, uint32_t index) {
    interpret_warp *w = &e->run.warps[index];
    const uint32_t pc = simt_top(&w->stack)->pc;
    const instruction *in = &e->kernel->instructions[pc];
    const int boundary = in->opcode == OPCODE_BOUNDARY && pc != e->removed,
              ends = boundary && (e->level || in->variant != VARIANT_SHORT);
    const uint32_t active = lanes_guard(in, simt_top(&w->stack)->mask, w->predicates);
    if (restarts(e, index)) return;
    if (e->watch)
        e->found |=
            watch_before(&e->watch[index], &e->run, index, pc, pc == e->removed, e->at[index].must_go_on, boundary);
    interpret_step(&e->run, block, index);
    if (pc == e->removed_move) {
        e->renamed[index] |= active;
        e->left[index] = e->lasts;
    }
    undo_move(e, index, in, active);
    if (boundary) record(e, index, in->variant == VARIANT_SHORT, active);
    if (ends && e->lasts != NONE) {
        if (!e->left[index])
            e->renamed[index] = 0;
        else
            e->left[index]--;
    }
    if (e->watch)
        watch_after(&e->watch[index], &e->run, index, in, ends,
                    e->removed_move == NONE ? NULL : &e->kernel->instructions[e->removed_move], e->renamed[index] != 0);
    if (in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED || in->opcode == OPCODE_BAR ||
        (in->flags & FLAG_VOLATILE))
        e->at[index].must_go_on = 1;
}

/* Runs the whole launch. 1: it came to its end. */
static inline int run_all(experiment *e) {
    const uint64_t blocks = (uint64_t)e->run.call->grid[0] * e->run.call->grid[1] * e->run.call->grid[2];
    uint64_t block;
    uint32_t i, running;
    for (i = 0; e->watch && i < e->run.warp_count; i++) watch_open(&e->watch[i], e->kernel);
    for (block = 0; block < blocks; block++) {
        interpret_start_block(&e->run, block);
        memset(e->renamed, 0, sizeof e->renamed);
        memset(e->left, 0, sizeof e->left);
        for (i = 0; i < e->run.warp_count; i++) {
            record(e, i, 0, UINT32_MAX);
            if (!e->watch) continue;
            e->watch[i].longer = 0;
            watch_region(&e->watch[i], e->kernel);
        }
        do {
            running = 0;
            for (i = 0; i < e->run.warp_count; i++) {
                interpret_warp *w = &e->run.warps[i];
                w->at_barrier = 0;
                while (w->stack.depth && !w->at_barrier) {
                    step(e, block, i);
                    if (e->most && e->run.instructions > e->most) return 0;
                }
                running += w->stack.depth != 0;
            }
        } while (running);
    }
    return 1;
}

static inline uint64_t result_hash(const interpreter *run) {
    uint64_t hash = GPUMP_HASH_SEED;
    uint32_t i;
    for (i = 0; i < run->launch->buffer_count; i++)
        hash = gpump_hash_bytes(hash, run->memory[i], (size_t)run->launch->buffers[i].bytes);
    return hash;
}

/* One run of a kernel with `limit` restarts at each place; returns its hash. */
static inline uint64_t run_once(experiment *e, const kernel_program *kernel, const launch_file *launch,
                                uint64_t limit) {
    char error[LAUNCH_ERROR_BYTES];
    uint64_t hash;
    memset(&e->run, 0, sizeof e->run);
    e->kernel = kernel;
    e->limit = limit;
    e->restarts = 0;
    e->missing = 0;
    if (!(e->view = context_view_create(kernel, error))) fail_msg("%s", error);
    e->taken = (uint32_t *)interpret_zeroed((uint64_t)kernel->count * kernel->count * sizeof *e->taken);
    interpret_open(&e->run, kernel, launch);
    hash = run_all(e) && !e->missing ? result_hash(&e->run) : 0;
    e->most = e->run.instructions;
    interpret_close(&e->run);
    context_view_free(e->view);
    free(e->taken);
    return hash;
}

/* ==== a kernel and what it is made into ==== */

typedef struct subject {
    launch_file launch;
    ptx_module module;
    const kernel_program *kernel;
    uint32_t alias_class[64]; /* of each parameter */
    uint32_t shared_buffers;  /* parameters that lead to another one's buffer */
} subject;

/* one_buffer: parameters for buffers of the same size and type get the same buffer. */
static inline void open_subject(subject *s, const char *name, int one_buffer) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    ptx_error wrong;
    uint32_t i;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(&s->launch, path, error)) fail_msg("%s", error);
    if (ptx_read_file(s->launch.kernels[0].ptx_path, &s->module, &wrong)) fail_msg("%s", wrong.text);
    s->kernel = ptx_find_kernel(&s->module, s->launch.kernels[0].name);
    assert_non_null(s->kernel);
    s->shared_buffers = 0;
    assert_true(s->launch.kernels[0].argument_count <= 64);
    for (i = 0; i < s->launch.kernels[0].argument_count; i++) {
        launch_argument *a = s->launch.kernels[0].arguments;
        uint32_t n;
        s->alias_class[i] = GPUMP_NONE;
        for (n = 0; one_buffer && a[i].is_buffer && n < i; n++) {
            if (!a[n].is_buffer || a[n].type != a[i].type ||
                s->launch.buffers[a[n].buffer].bytes != s->launch.buffers[a[i].buffer].bytes)
                continue;
            a[i].buffer = a[n].buffer;
            s->alias_class[i] = s->alias_class[n] = a[n].buffer;
            s->shared_buffers++;
            break;
        }
    }
}

static inline void close_subject(subject *s) {
    ptx_free(&s->module);
    launch_file_free(&s->launch);
}

static inline kernel_program lower(const subject *s, uint32_t regions, uint32_t registers, uint32_t only_boundaries,
                                   uint32_t spilling) {
    analysis_lowering how;
    gpump_regions_config config;
    kernel_program lowered;
    gpump_diag diag;
    memset(&how, 0, sizeof how);
    how.registers = registers;
    how.regions = regions;
    assert_int_equal(gpump_preset(&gpump_regions_component, &config, "igpu", NULL), GPUMP_OK);
    config.preserve = !only_boundaries;
    how.regions_config = &config;
    how.spilling = spilling;
    how.alias_class = s->alias_class;
    how.block = s->launch.kernels[0].block;
    if (analysis_lower(s->kernel, &how, &lowered, NULL, &diag) != GPUMP_OK)
        fail_msg("%s cannot be lowered", s->kernel->name);
    return lowered;
}

static inline uint64_t undisturbed(const subject *s, const kernel_program *kernel, uint64_t *instructions) {
    static experiment e;
    uint64_t hash;
    memset(&e, 0, sizeof e);
    e.removed = e.removed_move = NONE;
    hash = run_once(&e, kernel, &s->launch, 0);
    if (instructions) *instructions = e.most;
    return hash;
}
#endif
