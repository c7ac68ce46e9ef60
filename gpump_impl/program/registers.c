/* registers: intervals with holes, first fit, spilling. constants.c has the steps that run before. */
#include "program/program_parts.h"
#include "program/registers.h"

#ifndef GPUMP_NO_PROGRAM

static gpump_result gpumpi_registers_preset(void *filled, const char *preset) {
    gpump_registers_config *config = (gpump_registers_config *)filled;
    if (strcmp(preset, "fermi") && strcmp(preset, "kepler")) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->registers = preset[0] == 'f' ? 63 : 255;
    config->predicates = 7;
    config->fold_parameters = config->sink = 1;
    return GPUMP_OK;
}

/* ---- intervals: where each register holds a value; position 2i is instruction i's reading, 2i + 1 its writing ---- */

typedef struct gpumpi_registers_range {
    uint32_t start, end;
} gpumpi_registers_range;
typedef struct gpumpi_registers_intervals {
    uint32_t *first;                /* register -> ranges; one more at the end */
    gpumpi_registers_range *ranges; /* ascending, apart */
    uint64_t *weight;               /* cost of spilling: reads and writes, times 8 per loop around */
} gpumpi_registers_intervals;

typedef struct gpumpi_registers_raw {
    uint32_t *reg;
    gpumpi_registers_range *range;
} gpumpi_registers_raw;

static int gpumpi_registers_push(const gpump_allocator *allocator, gpumpi_registers_raw *raw, uint32_t reg,
                                 uint32_t start, uint32_t end) {
    gpumpi_registers_range range;
    range.start = start;
    range.end = end;
    if (!GPUMPI_ARRAY_RESERVE(allocator, raw->reg, 1) || !GPUMPI_ARRAY_RESERVE(allocator, raw->range, 1)) return 0;
    stbds_arrput(raw->reg, reg);
    stbds_arrput(raw->range, range);
    return 1;
}

/* Adds the ranges of one boundary: a register that is live into a region keeps its place until the next boundary of the
 * same kind. */
static int gpumpi_registers_shadow(const gpump_program *program, const gpump_liveness *liveness, uint32_t boundary,
                                   uint32_t *stamp, uint32_t *live, uint32_t *stack, uint32_t *seen,
                                   gpumpi_registers_raw *raw) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpump_instruction start;
    uint32_t count = gpumpi_liveness_list(liveness, boundary, 1, stamp, 2 * (boundary + 1), live), top = 0, r,
             first = boundary + 1, b = gpump_program_basic_block_of(program, boundary);
    gpump_program_instruction(program, boundary, &start);
    for (;;) {
        gpump_basic_block block;
        uint32_t i, end;
        gpump_program_basic_block(program, b, &block);
        end = block.first + block.count;
        for (i = first; i < end; i++) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            if (in.operation == GPUMP_OP_BOUNDARY && in.immediate <= start.immediate)
                break; /* a sparse boundary ends both kinds of region, a short one only short regions */
        }
        for (r = 0; r < count; r++)
            if (!gpumpi_registers_push(allocator, raw, live[r], 2 * first, 2 * i)) return 0;
        if (i == end)
            for (i = 0; i < block.successor_count; i++)
                if (seen[block.successors[i]] != boundary + 1) seen[stack[top++] = block.successors[i]] = boundary + 1;
        if (!top) return 1;
        b = stack[--top];
        gpump_program_basic_block(program, b, &block);
        first = block.first;
    }
}

static int gpumpi_registers_compare_ranges(const void *a, const void *b) {
    const gpumpi_registers_range *x = (const gpumpi_registers_range *)a, *y = (const gpumpi_registers_range *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The ranges of one basic block, from its end backwards. end[r] is where the open range of r ends, 0 when r is not
 * live; it is all 0 before and after. */
static int gpumpi_registers_block_ranges(const gpump_program *program, const gpump_liveness *liveness, uint32_t b,
                                         uint32_t *end, uint64_t *weight, gpumpi_registers_raw *raw) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpump_basic_block block;
    const uint32_t *list;
    uint32_t count, i, k, r;
    uint64_t cost;
    gpump_program_basic_block(program, b, &block);
    cost = UINT64_C(1) << (3 * (block.loop_depth < 10 ? block.loop_depth : 10));
    gpumpi_liveness_block_out(liveness, b, &list, &count);
    for (i = 0; i < count; i++) end[list[i]] = 2 * (block.first + block.count);
    for (i = block.first + block.count; i-- > block.first;) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k < in.def_count; k++) {
            r = in.defs[k];
            weight[r] += cost;
            if (!end[r]) {
                if (!gpumpi_registers_push(allocator, raw, r, 2 * i + 1, 2 * i + 2)) return 0;
            } else if (gpumpi_kills(&in)) {
                if (!gpumpi_registers_push(allocator, raw, r, 2 * i + 1, end[r])) return 0;
                end[r] = 0;
            }
        }
        for (k = 0; k <= in.use_count; k++) {
            r = k < in.use_count ? in.uses[k] : in.guard;
            if (r == GPUMP_NONE || r & GPUMP_OPERAND_PARAMETER) continue;
            weight[r] += cost;
            if (!end[r]) end[r] = 2 * i + 1;
        }
    }
    gpumpi_liveness_block_in(liveness, b, &list, &count);
    for (i = 0; i < count; i++) {
        if (!gpumpi_registers_push(allocator, raw, list[i], 2 * block.first, end[list[i]])) return 0;
        end[list[i]] = 0;
    }
    return 1;
}

/* Groups the raw ranges by register, sorts those of each register, and joins what touches. next[] is all 0. */
static int gpumpi_registers_join_ranges(const gpumpi_registers_raw *raw, uint32_t registers, uint32_t *next,
                                        gpumpi_arena *arena, gpumpi_registers_intervals *out) {
    uint32_t n = (uint32_t)stbds_arrlenu(raw->reg), i, k, r;
    if (!GPUMPI_ARENA_NEW(arena, out->ranges, n)) return 0;
    for (i = 0; i < n; i++) next[raw->reg[i]]++;
    for (r = k = 0; r < registers; r++) {
        uint32_t count = next[r];
        next[r] = k;
        k += count;
    }
    for (i = 0; i < n; i++) out->ranges[next[raw->reg[i]]++] = raw->range[i];
    for (r = k = i = 0; r < registers; r++) {
        uint32_t from = i;
        i = next[r];
        qsort(out->ranges + from, i - from, sizeof *out->ranges, gpumpi_registers_compare_ranges);
        out->first[r] = k;
        for (; from < i; from++) {
            if (out->ranges[from].start == out->ranges[from].end) continue;
            if (k > out->first[r] && out->ranges[from].start <= out->ranges[k - 1].end) {
                if (out->ranges[from].end > out->ranges[k - 1].end) out->ranges[k - 1].end = out->ranges[from].end;
            } else
                out->ranges[k++] = out->ranges[from];
        }
    }
    out->first[registers] = k;
    return 1;
}

static int gpumpi_registers_build_intervals(const gpump_program *program, const gpump_liveness *liveness,
                                            gpumpi_arena *arena, gpumpi_registers_intervals *out) {
    const gpump_allocator *allocator = &arena->allocator;
    uint32_t registers = gpumpi_program_registers(program), blocks = gpumpi_program_basic_blocks(program), b, i, *end,
             *stack, *seen, *next, *stamp, *live;
    gpumpi_registers_raw raw = {NULL, NULL};
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, end, registers) || !GPUMPI_ARENA_NEW(&scratch, stack, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, seen, blocks) || !GPUMPI_ARENA_NEW(&scratch, stamp, registers) ||
        !GPUMPI_ARENA_NEW(&scratch, live, registers) || !GPUMPI_ARENA_NEW(arena, out->weight, registers) ||
        !GPUMPI_ARENA_NEW(arena, out->first, (size_t)registers + 1) || !GPUMPI_ARENA_NEW(&scratch, next, registers))
        goto end;
    for (b = 0; b < blocks; b++)
        if (!gpumpi_registers_block_ranges(program, liveness, b, end, out->weight, &raw)) goto end;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_BOUNDARY &&
            !gpumpi_registers_shadow(program, liveness, i, stamp, live, stack, seen, &raw))
            goto end;
    }
    ok = gpumpi_registers_join_ranges(&raw, registers, next, arena, out);
end:
    GPUMPI_ARRAY_FREE(allocator, raw.reg);
    GPUMPI_ARRAY_FREE(allocator, raw.range);
    gpumpi_arena_free(&scratch);
    return ok;
}

/* ---- placing intervals ---- */

typedef struct gpumpi_registers_file {
    uint32_t size, words;  /* registers, 64-bit words of a row */
    uint64_t *rows;        /* which positions of each are taken */
    uint32_t *head, *next; /* the intervals placed in each: head[physical], next[2 * register + half] */
} gpumpi_registers_file;

typedef struct gpumpi_registers_state {
    const gpump_program *program;
    const gpumpi_registers_intervals *intervals;
    gpumpi_registers_file file[2]; /* predicates, 32-bit registers */
    uint32_t *place;               /* register -> physical, GPUMP_NONE: not placed */
    uint32_t *hint;                /* register on the other side of a move, or GPUMP_NONE */
    uint8_t *spilled;
    uint32_t used[2], spills, first_temporary, impossible;
} gpumpi_registers_state;

/* 1 when bits start to end - 1 of a row are clear; otherwise, or with `write` 1 or 2, sets (1) or clears (2) them. */
static int gpumpi_registers_row(uint64_t *row, uint32_t start, uint32_t end, int write) {
    uint32_t w = start >> 6, last = (end - 1) >> 6;
    for (; w <= last; w++) {
        uint64_t mask = ~UINT64_C(0);
        if (w == start >> 6) mask &= ~UINT64_C(0) << (start & 63);
        if (w == last) mask &= ~UINT64_C(0) >> (63 - ((end - 1) & 63));
        if (!write && row[w] & mask) return 0;
        if (write == 1) row[w] |= mask;
        if (write == 2) row[w] &= ~mask;
    }
    return 1;
}
static int gpumpi_registers_fits(const gpumpi_registers_state *state, uint32_t reg, uint32_t physical) {
    const gpumpi_registers_file *file = &state->file[gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE];
    uint32_t i;
    for (i = state->intervals->first[reg]; i < state->intervals->first[reg + 1]; i++)
        if (!gpumpi_registers_row(file->rows + (size_t)physical * file->words, state->intervals->ranges[i].start,
                                  state->intervals->ranges[i].end, 0))
            return 0;
    return 1;
}
static uint32_t gpumpi_registers_span(const gpumpi_registers_state *state, uint32_t reg) {
    return gpump_program_width(state->program, reg) == GPUMP_WIDTH_64 ? 2 : 1;
}

static void gpumpi_registers_put(gpumpi_registers_state *state, uint32_t reg, uint32_t physical) {
    uint32_t kind = gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE, i, half;
    gpumpi_registers_file *file = &state->file[kind];
    for (half = 0; half < gpumpi_registers_span(state, reg); half++) {
        for (i = state->intervals->first[reg]; i < state->intervals->first[reg + 1]; i++)
            gpumpi_registers_row(file->rows + (size_t)(physical + half) * file->words,
                                 state->intervals->ranges[i].start, state->intervals->ranges[i].end, 1);
        file->next[2 * reg + half] = file->head[physical + half];
        file->head[physical + half] = 2 * reg + half;
        if (physical + half + 1 > state->used[kind]) state->used[kind] = physical + half + 1;
    }
    state->place[reg] = physical;
}
static void gpumpi_registers_take_out(gpumpi_registers_state *state, uint32_t reg) {
    gpumpi_registers_file *file = &state->file[gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE];
    uint32_t i, half;
    for (half = 0; half < gpumpi_registers_span(state, reg); half++) {
        uint32_t *link = &file->head[state->place[reg] + half];
        while (*link != 2 * reg + half) link = &file->next[*link];
        *link = file->next[2 * reg + half];
        for (i = state->intervals->first[reg]; i < state->intervals->first[reg + 1]; i++)
            gpumpi_registers_row(file->rows + (size_t)(state->place[reg] + half) * file->words,
                                 state->intervals->ranges[i].start, state->intervals->ranges[i].end, 2);
    }
    state->place[reg] = GPUMP_NONE;
}

static int gpumpi_registers_overlap(const gpumpi_registers_intervals *intervals, uint32_t a, uint32_t b) {
    uint32_t i = intervals->first[a], k = intervals->first[b];
    while (i < intervals->first[a + 1] && k < intervals->first[b + 1]) {
        if (intervals->ranges[i].end <= intervals->ranges[k].start)
            i++;
        else if (intervals->ranges[k].end <= intervals->ranges[i].start)
            k++;
        else
            return 1;
    }
    return 0;
}

/* Returns the cost of spilling what stands in `physical` (and its pair) in the way of reg, or UINT64_MAX when a value
 * there cannot be spilled. With evict 1 also spills it. */
static uint64_t gpumpi_registers_evict(gpumpi_registers_state *state, uint32_t reg, uint32_t physical, int evict) {
    gpumpi_registers_file *file = &state->file[gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE];
    uint64_t cost = 0;
    uint32_t half, at;
    for (half = 0; half < gpumpi_registers_span(state, reg); half++)
        for (at = file->head[physical + half]; at != GPUMP_NONE;) {
            uint32_t other = at / 2;
            at = file->next[at];
            if (!gpumpi_registers_overlap(state->intervals, reg, other)) continue;
            if (other >= state->first_temporary) return UINT64_MAX;
            if (evict) {
                gpumpi_registers_take_out(state, other);
                state->spilled[other] = 1;
                state->spills++;
            } else
                cost = gpump_add_saturated(cost, state->intervals->weight[other]);
        }
    return cost;
}

static void gpumpi_registers_place_one(gpumpi_registers_state *state, uint32_t reg) {
    uint32_t kind = gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE,
             span = gpumpi_registers_span(state, reg), p, best = GPUMP_NONE;
    gpumpi_registers_file *file = &state->file[kind];
    uint64_t cheapest = UINT64_MAX, cost;
    if (state->hint[reg] != GPUMP_NONE && state->place[state->hint[reg]] != GPUMP_NONE) {
        p = state->place[state->hint[reg]];
        if (p + span <= state->used[kind] && gpumpi_registers_fits(state, reg, p) &&
            (span == 1 || gpumpi_registers_fits(state, reg, p + 1)))
            best = p;
    }
    if (span == 1 && kind)
        for (p = 0; p < state->used[1] && best == GPUMP_NONE;
             p++) /* beside a neighbour in use, which leaves whole pairs free */
            if (gpumpi_registers_fits(state, reg, p) &&
                !((p ^ 1u) < file->size && gpumpi_registers_fits(state, reg, p ^ 1u)))
                best = p;
    for (p = 0; p + span <= file->size && best == GPUMP_NONE; p += span)
        if (gpumpi_registers_fits(state, reg, p) && (span == 1 || gpumpi_registers_fits(state, reg, p + 1))) best = p;
    if (best == GPUMP_NONE) {
        for (p = 0; p + span <= file->size; p += span) {
            cost = gpumpi_registers_evict(state, reg, p, 0);
            if (cost < cheapest) {
                cheapest = cost;
                best = p;
            }
        }
        if (reg < state->first_temporary && state->intervals->weight[reg] <= cheapest) {
            state->spilled[reg] = 1;
            state->spills++;
            return;
        }
        if (best == GPUMP_NONE) {
            state->impossible = 1;
            return;
        }
        gpumpi_registers_evict(state, reg, best, 1);
    }
    gpumpi_registers_put(state, reg, best);
}

/* Places all intervals in the order given. */
static void gpumpi_registers_place(gpumpi_registers_state *state, const uint32_t *order, uint32_t count) {
    uint32_t i, kind;
    for (kind = 0; kind < 2; kind++) {
        memset(state->file[kind].rows, 0, (size_t)state->file[kind].size * state->file[kind].words * sizeof(uint64_t));
        for (i = 0; i < state->file[kind].size; i++) state->file[kind].head[i] = GPUMP_NONE;
    }
    state->used[0] = state->used[1] = state->spills = state->impossible = 0;
    for (i = 0; i < gpumpi_program_registers(state->program); i++) {
        state->place[i] = GPUMP_NONE;
        state->spilled[i] = 0;
    }
    for (i = 0; i < count && !state->impossible; i++) gpumpi_registers_place_one(state, order[i]);
}

typedef struct gpumpi_registers_key {
    uint32_t start, reg;
} gpumpi_registers_key;
static int gpumpi_registers_compare_keys(const void *a, const void *b) {
    const gpumpi_registers_key *x = (const gpumpi_registers_key *)a, *y = (const gpumpi_registers_key *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* Two orders: by first position, and the same with 64-bit intervals first; the one with fewer spills, then fewer
 * registers, stays. */
static int gpumpi_registers_place_best(gpumpi_registers_state *state, gpumpi_arena *arena) {
    uint32_t registers = gpumpi_program_registers(state->program), count = 0, i, n = 0, pass, wide, *order[2], *place;
    gpumpi_registers_state first;
    gpumpi_registers_key *keys;
    uint8_t *spilled;
    if (!GPUMPI_ARENA_NEW(arena, keys, registers) || !GPUMPI_ARENA_NEW(arena, order[0], registers) ||
        !GPUMPI_ARENA_NEW(arena, order[1], registers) || !GPUMPI_ARENA_NEW(arena, place, registers) ||
        !GPUMPI_ARENA_NEW(arena, spilled, registers))
        return 0;
    for (i = 0; i < registers; i++)
        if (state->intervals->first[i] < state->intervals->first[i + 1]) {
            keys[count].start = state->intervals->ranges[state->intervals->first[i]].start;
            keys[count++].reg = i;
        }
    qsort(keys, count, sizeof *keys, gpumpi_registers_compare_keys);
    for (i = 0; i < count; i++) order[0][i] = keys[i].reg;
    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < count; i++) {
            wide = gpump_program_width(state->program, keys[i].reg) == GPUMP_WIDTH_64;
            if (wide == !pass) order[1][n++] = keys[i].reg;
        }
    gpumpi_registers_place(state, order[0], count);
    first = *state; /* rows and heads serve only while a placement is made */
    state->place = place;
    state->spilled = spilled;
    gpumpi_registers_place(state, order[1], count);
    if (state->impossible > first.impossible ||
        (state->impossible == first.impossible &&
         (state->spills > first.spills || (state->spills == first.spills && state->used[1] >= first.used[1]))))
        *state = first;
    return 1;
}

/* ---- spilling: every instruction that touches a spilled register gets a fresh one for itself ---- */

typedef struct gpumpi_registers_spill {
    const gpumpi_registers_state *state;
    const gpumpi_registers_facts *facts;
    uint32_t *start; /* instruction -> its entries; one more at the end */
    uint32_t *reg, *temporary;
} gpumpi_registers_spill;

static uint32_t gpumpi_registers_instead(const gpumpi_registers_spill *spill, uint32_t index, uint32_t operand) {
    uint32_t i;
    if (operand & GPUMP_OPERAND_PARAMETER) return operand;
    for (i = spill->start[index]; i < spill->start[index + 1]; i++)
        if (spill->reg[i] == operand) return spill->temporary[i];
    return operand;
}
static int gpumpi_registers_rewrite_spill(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_registers_spill *spill = (const gpumpi_registers_spill *)user;
    uint32_t k;
    if (spill->start[index] == spill->start[index + 1]) /* a fixed one set again at its uses needs no definition here */
        return !(in->def_count == 1 && spill->state->spilled[in->defs[0]] && spill->facts->fixed[in->defs[0]]);
    for (k = 0; k < in->def_count; k++) scratch[k] = gpumpi_registers_instead(spill, index, in->defs[k]);
    for (k = 0; k < in->use_count; k++) scratch[16 + k] = gpumpi_registers_instead(spill, index, in->uses[k]);
    in->defs = scratch;
    in->uses = scratch + 16;
    if (in->guard != GPUMP_NONE) in->guard = gpumpi_registers_instead(spill, index, in->guard);
    return 1;
}

/* 1 when the instruction is guarded and its guard still holds where its result will be stored: it does not write the
 * guard itself, and no region starts in between, to which the guard would then be live. */
static int gpumpi_registers_keeps_guard(const gpump_program *program, uint32_t i, const gpump_instruction *in) {
    uint32_t k;
    if (in->guard == GPUMP_NONE || gpumpi_registers_commits_with_next(program, i)) return 0;
    for (k = 0; k < in->def_count; k++)
        if (in->defs[k] == in->guard) return 0;
    return 1;
}

/* What one round of spilling makes. */
typedef struct gpumpi_registers_spill_work {
    gpumpi_registers_spill spill;
    const gpump_allocator *allocator;
    gpump_registers_report *report;
    uint32_t *slot; /* register -> byte of its spill slot */
    uint32_t *widths;
    gpumpi_insertion *insertions;
} gpumpi_registers_spill_work;

/* Gives every spilled register a slot, but for those whose constant is set again at its uses. */
static int gpumpi_registers_give_slots(gpumpi_registers_spill_work *work) {
    const gpump_program *program = work->spill.state->program;
    gpump_registers_report *report = work->report;
    uint32_t r;
    for (r = 0; r < gpumpi_program_registers(program); r++) {
        uint32_t width = gpump_program_width(program, r), bytes = width == GPUMP_WIDTH_64 ? 8 : 4;
        if (!GPUMPI_ARRAY_PUSH(work->allocator, work->widths, width)) return 0;
        if (!work->spill.state->spilled[r]) continue;
        if (work->spill.facts->fixed[r]) {
            report->rematerialised++;
            continue;
        }
        report->spilled++;
        report->spill_bytes = (report->spill_bytes + bytes - 1) & ~(bytes - 1);
        work->slot[r] = report->spill_bytes;
        report->spill_bytes += bytes;
    }
    return 1;
}

/* The entry of a spilled register among those of the instruction that is being worked on, or the number of entries. */
static uint32_t gpumpi_registers_entry(const gpumpi_registers_spill *spill, uint32_t i, uint32_t reg) {
    uint32_t n;
    for (n = spill->start[i]; n < stbds_arrlenu(spill->reg) && spill->reg[n] != reg; n++) {}
    return n;
}

/* Gives an operand of instruction i a fresh register, and fills that before the instruction where its value is needed.
 */
static int gpumpi_registers_fill(gpumpi_registers_spill_work *work, uint32_t i, const gpump_instruction *in,
                                 uint32_t operand, int is_def) {
    gpumpi_registers_spill *spill = &work->spill;
    const gpump_program *program = spill->state->program;
    gpumpi_insertion insertion = gpumpi_insertion_make(GPUMP_OP_SPILL_LOAD, i);
    uint32_t fresh = (uint32_t)stbds_arrlenu(work->widths);
    if (gpumpi_registers_entry(spill, i, operand) < stbds_arrlenu(spill->reg)) return 1;
    if (!GPUMPI_ARRAY_PUSH(work->allocator, spill->reg, operand) ||
        !GPUMPI_ARRAY_PUSH(work->allocator, spill->temporary, fresh) ||
        !GPUMPI_ARRAY_PUSH(work->allocator, work->widths, gpump_program_width(program, operand)))
        return 0;
    if (is_def && gpumpi_kills(in)) return 1;                     /* written whole */
    if (is_def && gpumpi_registers_keeps_guard(program, i, in)) { /* written in part: only that part is stored */
        insertion = gpumpi_insertion_make(GPUMP_OP_CONSTANT, i);  /* so that the register is not live before */
        insertion.instruction.def_count = 1;
    } else if (spill->facts->fixed[operand])
        insertion = gpumpi_insertion_copy(program, spill->facts->def_at[operand], i);
    else {
        insertion.instruction.immediate = work->slot[operand];
        insertion.instruction.def_count = 1;
        work->report->spill_loads++;
    }
    insertion.defs[0] = fresh;
    return GPUMPI_ARRAY_PUSH(work->allocator, work->insertions, insertion);
}

/* Stores definition k of instruction i behind it. */
static int gpumpi_registers_store(gpumpi_registers_spill_work *work, uint32_t i, const gpump_instruction *in,
                                  uint32_t k) {
    const gpumpi_registers_spill *spill = &work->spill;
    const gpump_program *program = spill->state->program;
    gpumpi_insertion insertion = gpumpi_insertion_make(GPUMP_OP_SPILL_STORE, i + 1);
    uint32_t n;
    for (n = 0; n < k; n++)
        if (in->defs[n] == in->defs[k]) return 1;
    insertion.instruction.immediate = work->slot[in->defs[k]];
    insertion.instruction.use_count = 1;
    insertion.uses[0] = spill->temporary[gpumpi_registers_entry(spill, i, in->defs[k])];
    for (n = 0; n < in->use_count && in->uses[n] != in->defs[k]; n++) {}
    if (n == in->use_count && gpumpi_registers_keeps_guard(program, i, in)) {
        uint32_t guard = gpumpi_registers_entry(spill, i, in->guard);
        insertion.instruction.guard = guard < stbds_arrlenu(spill->reg) ? spill->temporary[guard] : in->guard;
        insertion.instruction.flags = in->flags & GPUMP_FLAG_GUARD_NEGATED;
    }
    insertion.after_previous = 1;
    if (gpumpi_registers_commits_with_next(program, i)) insertion.before++;
    work->report->spill_stores++;
    return GPUMPI_ARRAY_PUSH(work->allocator, work->insertions, insertion);
}

/* Loads and stores of instruction i: uses, then the guard, then definitions are filled; definitions are stored. */
static int gpumpi_registers_spill_one(gpumpi_registers_spill_work *work, uint32_t i) {
    const gpumpi_registers_state *state = work->spill.state;
    gpump_instruction in;
    uint32_t k;
    gpump_program_instruction(state->program, i, &in);
    if (in.def_count == 1 && work->spill.facts->fixed[in.defs[0]] && state->spilled[in.defs[0]]) return 1;
    for (k = 0; k < in.def_count + in.use_count + 1; k++) {
        int is_def = k > in.use_count;
        uint32_t operand = is_def ? in.defs[k - in.use_count - 1] : k == in.use_count ? in.guard : in.uses[k];
        if (operand == GPUMP_NONE || operand & GPUMP_OPERAND_PARAMETER || !state->spilled[operand]) continue;
        if (!gpumpi_registers_fill(work, i, &in, operand, is_def)) return 0;
    }
    for (k = 0; k < in.def_count; k++)
        if (state->spilled[in.defs[k]] && !gpumpi_registers_store(work, i, &in, k)) return 0;
    return 1;
}

/* Makes the program with spill code. */
static gpump_result gpumpi_registers_spill_round(const gpumpi_registers_state *state, const uint32_t *origin,
                                                 gpumpi_arena *arena, gpumpi_registers_facts *facts,
                                                 gpump_program **out, gpump_registers_report *report,
                                                 gpump_diag *diag) {
    const gpump_program *program = state->program;
    uint32_t count = gpumpi_program_instructions(program), i;
    gpumpi_registers_spill_work work;
    gpumpi_edit edit;
    gpump_result result = GPUMP_ERROR_MEMORY;
    memset(&work, 0, sizeof work);
    memset(&edit, 0, sizeof edit);
    work.spill.state = state;
    work.spill.facts = facts;
    work.allocator = &arena->allocator;
    work.report = report;
    if (!GPUMPI_ARENA_NEW(arena, work.slot, gpumpi_program_registers(program)) ||
        !GPUMPI_ARENA_NEW(arena, work.spill.start, (size_t)count + 1) || !gpumpi_registers_give_slots(&work))
        goto end;
    for (i = 0; i < count; i++) {
        work.spill.start[i] = (uint32_t)stbds_arrlenu(work.spill.reg);
        if (!gpumpi_registers_spill_one(&work, i)) goto end;
    }
    work.spill.start[count] = (uint32_t)stbds_arrlenu(work.spill.reg);
    edit.program = program;
    edit.insertions = work.insertions;
    edit.insertion_count = (uint32_t)stbds_arrlenu(work.insertions);
    edit.rewrite = gpumpi_registers_rewrite_spill;
    edit.user = &work.spill;
    edit.widths = work.widths;
    edit.registers = (uint32_t)stbds_arrlenu(work.widths);
    edit.origin = origin;
    result = gpumpi_program_edit(&edit, out, diag);
end:
    GPUMPI_ARRAY_FREE(work.allocator, work.widths);
    GPUMPI_ARRAY_FREE(work.allocator, work.insertions);
    GPUMPI_ARRAY_FREE(work.allocator, work.spill.reg);
    GPUMPI_ARRAY_FREE(work.allocator, work.spill.temporary);
    return result;
}

/* ---- the last step: physical names ---- */

static uint32_t gpumpi_registers_physical(const gpumpi_registers_state *state, uint32_t operand) {
    uint32_t place;
    if (operand & GPUMP_OPERAND_PARAMETER) return operand;
    place = state->place[operand] == GPUMP_NONE ? 0 : state->place[operand];
    switch (gpump_program_width(state->program, operand)) {
    case GPUMP_WIDTH_PREDICATE: return state->used[1] + place;
    case GPUMP_WIDTH_64: return place | GPUMP_OPERAND_PAIR;
    default: return place;
    }
}
static int gpumpi_registers_rewrite_names(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_registers_state *state = (const gpumpi_registers_state *)user;
    uint32_t k;
    (void)index;
    for (k = 0; k < in->def_count; k++) scratch[k] = gpumpi_registers_physical(state, in->defs[k]);
    for (k = 0; k < in->use_count; k++) scratch[16 + k] = gpumpi_registers_physical(state, in->uses[k]);
    in->defs = scratch;
    in->uses = scratch + 16;
    if (in->guard != GPUMP_NONE) in->guard = gpumpi_registers_physical(state, in->guard);
    return !(in->operation == GPUMP_OP_MOVE && scratch[0] == scratch[16]);
}

/* Makes room for a place of every register, and lets the two ends of a move prefer the same place. */
static int gpumpi_registers_start(gpumpi_registers_state *state, const gpump_registers_config *config,
                                  gpumpi_arena *arena) {
    const gpump_program *program = state->program;
    uint32_t registers = gpumpi_program_registers(program), i, kind;
    if (!GPUMPI_ARENA_NEW(arena, state->place, registers) || !GPUMPI_ARENA_NEW(arena, state->hint, registers) ||
        !GPUMPI_ARENA_NEW(arena, state->spilled, registers))
        return 0;
    for (kind = 0; kind < 2; kind++) {
        gpumpi_registers_file *file = &state->file[kind];
        file->size = kind ? config->registers : config->predicates;
        file->words = gpumpi_program_instructions(program) / 32 + 1;
        if (!GPUMPI_ARENA_NEW(arena, file->rows, (size_t)file->size * file->words) ||
            !GPUMPI_ARENA_NEW(arena, file->head, file->size) ||
            !GPUMPI_ARENA_NEW(arena, file->next, (size_t)registers * 2))
            return 0;
    }
    for (i = 0; i < registers; i++) state->hint[i] = GPUMP_NONE;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation != GPUMP_OP_MOVE || in.uses[0] & GPUMP_OPERAND_PARAMETER) continue;
        state->hint[in.defs[0]] = in.uses[0];
        if (state->hint[in.uses[0]] == GPUMP_NONE) state->hint[in.uses[0]] = in.defs[0];
    }
    return 1;
}

/* Makes the program in which every register has the name of its place. */
static gpump_result gpumpi_registers_rename(gpumpi_registers_state *state, const uint32_t *origin, gpumpi_arena *arena,
                                            gpump_program **next, gpump_registers_report *report, gpump_diag *diag) {
    gpumpi_edit edit;
    gpump_result result;
    uint32_t *widths, i;
    if (!GPUMPI_ARENA_NEW(arena, widths, (size_t)state->used[0] + state->used[1])) return GPUMP_ERROR_MEMORY;
    for (i = 0; i < state->used[1]; i++) widths[i] = GPUMP_WIDTH_32;
    memset(&edit, 0, sizeof edit);
    edit.program = state->program;
    edit.rewrite = gpumpi_registers_rewrite_names;
    edit.user = state;
    edit.widths = widths;
    edit.registers = state->used[0] + state->used[1];
    edit.origin = origin;
    result = gpumpi_program_edit(&edit, next, diag);
    if (result != GPUMP_OK) return result;
    report->registers = state->used[1];
    report->predicates = state->used[0];
    report->moves_removed = gpumpi_program_instructions(state->program) - gpumpi_program_instructions(*next);
    return GPUMP_OK;
}

/* One round on `program`: places its intervals; *next is the program with spill code, or the final one with *done = 1.
 */
static gpump_result gpumpi_registers_round(const gpump_program *program, const uint32_t *origin,
                                           const gpump_registers_config *config, uint32_t first_temporary,
                                           gpump_program **next, int *done, gpump_registers_report *report,
                                           gpump_diag *diag) {
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    gpump_liveness *liveness = NULL;
    gpumpi_registers_intervals intervals;
    gpumpi_registers_state state;
    gpumpi_registers_facts facts;
    uint32_t peak;
    gpump_result result = gpump_liveness_create(program, gpumpi_program_allocator(program), &liveness);
    if (result != GPUMP_OK) goto end;
    memset(&state, 0, sizeof state);
    state.program = program;
    state.intervals = &intervals;
    state.first_temporary = first_temporary;
    result = GPUMP_ERROR_MEMORY;
    if (!gpumpi_registers_build_intervals(program, liveness, &scratch, &intervals) ||
        !gpumpi_registers_find_facts(program, &scratch, &facts) ||
        gpump_liveness_pressure(liveness, NULL, NULL, &peak, NULL) != GPUMP_OK)
        goto end;
    if (!report->peak) report->peak = peak;
    gpump_liveness_destroy(liveness);
    liveness = NULL;
    if (!gpumpi_registers_start(&state, config, &scratch) || !gpumpi_registers_place_best(&state, &scratch)) goto end;
    *done = !state.impossible && !state.spills;
    if (state.impossible)
        result = gpumpi_fail(diag, GPUMP_ERROR_FULL, "registers", 0, config->registers, config->registers + 1u, 1024);
    else if (state.spills)
        result = gpumpi_registers_spill_round(&state, origin, &scratch, &facts, next, report, diag);
    else
        result = gpumpi_registers_rename(&state, origin, &scratch, next, report, diag);
end:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail_at(diag, result, "program", 0);
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}

GPUMP_API gpump_result gpump_registers_allocate(const gpump_program *program, const gpump_registers_config *config,
                                                gpump_program **allocated, gpump_registers_report *report,
                                                gpump_diag *diag) {
    gpump_program *at = NULL, *next;
    gpump_registers_report found;
    gpump_result result;
    uint32_t i, k, first_temporary;
    int done = 0;
    if (!program || !config || !allocated)
        return gpumpi_bad_argument(diag, "program, config or allocated", 0, 0, 1, UINT64_MAX);
    if (!gpumpi_program_basic_blocks(program)) return gpumpi_program_unfinished(diag);
    if (config->registers < 2 || config->registers > 1024)
        return gpumpi_bad_config(diag, "registers", 0, config->registers, 2, 1024);
    if (config->predicates < 1 || config->predicates > 64)
        return gpumpi_bad_config(diag, "predicates", 0, config->predicates, 1, 64);
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k < in.def_count + in.use_count; k++) {
            uint32_t operand = k < in.def_count ? in.defs[k] : in.uses[k - in.def_count];
            if (operand & GPUMP_OPERAND_PAIR && !(operand & GPUMP_OPERAND_PARAMETER))
                return gpumpi_bad_argument(diag, "operand", i, operand, 0, GPUMP_OPERAND_INDEX);
        }
    }
    memset(&found, 0, sizeof found);
    result = gpumpi_registers_prepare(program, config, &at, &found, diag);
    first_temporary = gpumpi_program_registers(program);
    while (result == GPUMP_OK && !done) {
        result =
            gpumpi_registers_round(at, gpump_program_origin(at), config, first_temporary, &next, &done, &found, diag);
        if (result != GPUMP_OK) break;
        gpump_program_destroy(at);
        at = next;
    }
    if (result != GPUMP_OK) {
        gpump_program_destroy(at);
        return result;
    }
    if (report) *report = found;
    *allocated = at;
    return GPUMP_OK;
}
/* clang-format off */
static const gpumpi_methods gpumpi_registers_hooks = {
    "registers", "program", 0,
    GPUMP_LAYOUT_PROGRAM, sizeof(gpump_registers_config), 0, 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_registers_preset, NULL, NULL, NULL, NULL,
    /* set_up, unfit, check, hash */
    NULL, NULL, NULL, NULL,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_registers_methods(void) { return &gpumpi_registers_hooks; }
#endif
