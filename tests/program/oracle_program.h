/* The oracle of tests/program: random programs and a small SIMT machine that runs them. It reads programs through the
 * public views only and shares no code with the analyses. Reconvergence comes from gpump_program_reconvergence, which
 * tests/program/program.c checks by itself. */
#ifndef ORACLE_PROGRAM_H
#define ORACLE_PROGRAM_H
#include "program/program_tools.h"

/* ---- drafts: instructions with labels instead of targets ---- */
enum { DRAFT_MAX = 400, DRAFT_LABELS = 100, DRAFT_REGISTERS = 80, ORACLE_TAG_LOOP = 1000 };
typedef struct draft_row {
    gpump_instruction in;
    uint32_t defs[2], uses[3], label;
} draft_row;
typedef struct draft {
    draft_row rows[DRAFT_MAX];
    uint32_t count, label_at[DRAFT_LABELS], labels, widths[DRAFT_REGISTERS], hidden[DRAFT_REGISTERS], registers,
        objects, spaces[8], classes[8];
    uint64_t *random;
    uint32_t chance_barrier, chance_atomic, chance_memory, parted, together;
    /* parted: an early way out was drawn, so no barrier may follow; together: only whole warps come here, so one may
     * stand here */
} draft;

/* 1: a predicate is constant, and lanes end early more often. */
static uint32_t draft_is_wild;
/* 1: many constants, parameters and copies in registers that are set once and read only behind that. */
static uint32_t draft_sets_once;

static inline draft_row *draft_add(draft *d, uint32_t operation) {
    draft_row *row = &d->rows[d->count++];
    memset(row, 0, sizeof *row);
    row->in = gpump_instruction_make(operation);
    row->label = GPUMP_NONE;
    return row;
}
static inline uint32_t draft_label(draft *d) { return d->labels++; }
static inline void draft_here(draft *d, uint32_t label) { d->label_at[label] = d->count; }
/* A register to read (hidden 1: nobody's; 2: only read) or to write; width -1: any but predicates. */
static inline uint32_t draft_choose(draft *d, int width, uint32_t writes) {
    uint32_t r;
    do r = gpump_random_below(d->random, d->registers);
    while (d->hidden[r] == 1 || (writes && d->hidden[r]) ||
           (width >= 0 ? d->widths[r] != (uint32_t)width : d->widths[r] == GPUMP_WIDTH_PREDICATE));
    return r;
}
static inline uint32_t draft_pick(draft *d, int width) { return draft_choose(d, width, 0); }
static inline void draft_guard(draft *d, draft_row *row, uint32_t one_in) {
    if (one_in && gpump_random_below(d->random, one_in) == 0) {
        row->in.guard = draft_pick(d, GPUMP_WIDTH_PREDICATE);
        if (gpump_random_below(d->random, 2)) row->in.flags |= GPUMP_FLAG_GUARD_NEGATED;
    }
}
static inline void draft_memory(draft *d) {
    uint32_t object = gpump_random_below(d->random, d->objects), kind = gpump_random_below(d->random, 8);
    draft_row *row = draft_add(d, GPUMP_OP_COMPUTE);
    row->in.tag = gpump_random_below(d->random, 50);
    row->in.bytes = 4;
    row->in.space = d->spaces[object];
    row->in.object = object;
    row->in.offset = 4 * (int64_t)gpump_random_below(d->random, 3);
    row->in.address = kind < 3 ? GPUMP_ADDRESS_FIXED : kind < 6 ? GPUMP_ADDRESS_VALUE : GPUMP_ADDRESS_ANYWHERE;
    if (kind == 7) row->in.object = GPUMP_NONE;
    if (kind == 7 && gpump_random_below(d->random, 2)) row->in.space = GPUMP_SPACE_GENERIC;
    row->in.value = 1 + gpump_random_below(d->random, 2);
    row->in.thread_stride = row->in.value == 1 ? 8 : 4;
    if (gpump_random_below(d->random, 3) == 0) row->in.thread_stride = 0, row->in.value += 2;
    if (row->in.address != GPUMP_ADDRESS_VALUE) row->in.value = row->in.thread_stride = 0;
    row->uses[0] = draft_pick(d, GPUMP_WIDTH_32);
    row->uses[1] = draft_pick(d, GPUMP_WIDTH_32);
    row->defs[0] = draft_choose(d, GPUMP_WIDTH_32, 1);
    if (d->chance_atomic && gpump_random_below(d->random, d->chance_atomic) == 0) {
        row->in.access = 3;
        row->in.flags |= GPUMP_FLAG_ATOMIC;
        row->in.def_count = 1;
        row->in.use_count = 2;
    } else if (gpump_random_below(d->random, 2)) {
        row->in.access = GPUMP_ACCESS_READ;
        row->in.def_count = row->in.use_count = 1;
    } else {
        row->in.access = GPUMP_ACCESS_WRITE;
        row->in.use_count = 2;
    }
    draft_guard(d, row, 8);
}
/* Sets a register of its own, now and then under a guard. */
static inline void draft_once(draft *d) {
    static const int64_t offsets[] = {0, 8, 8, 16, -8, GPUMP_OPERAND_INDEX - 1, GPUMP_OPERAND_INDEX};
    const uint32_t kind = gpump_random_below(d->random, 4), width = gpump_random_below(d->random, 9);
    draft_row *row = draft_add(d, kind == 0 ? GPUMP_OP_CONSTANT : kind == 1 ? GPUMP_OP_PARAMETER : GPUMP_OP_MOVE);
    row->defs[0] = d->registers;
    row->in.def_count = 1;
    row->in.immediate = kind < 2 ? offsets[gpump_random_below(d->random, 7)] : 0;
    d->widths[row->defs[0]] = width < 6 ? GPUMP_WIDTH_32 : width < 8 || kind == 3 ? GPUMP_WIDTH_64 : 0;
    if (kind > 1) {
        row->in.use_count = 1;
        row->uses[0] = draft_pick(d, (int)d->widths[row->defs[0]]);
        if (kind == 3)
            row->uses[0] = (uint32_t)offsets[gpump_random_below(d->random, 4)] | GPUMP_OPERAND_PARAMETER |
                           (d->widths[row->defs[0]] == GPUMP_WIDTH_64 ? GPUMP_OPERAND_PAIR : 0);
    }
    draft_guard(d, row, 6);
    d->hidden[d->registers++] = 2;
}
static inline void draft_compute(draft *d) {
    draft_row *row;
    if (draft_sets_once && d->registers < DRAFT_REGISTERS && gpump_random_below(d->random, 3)) {
        draft_once(d);
        return;
    }
    switch (gpump_random_below(d->random, 8)) {
    case 0:
        row = draft_add(d, GPUMP_OP_MOVE);
        row->defs[0] = draft_choose(d, -1, 1);
        row->uses[0] = draft_pick(d, (int)d->widths[row->defs[0]]);
        row->in.def_count = row->in.use_count = 1;
        break;
    case 1:
        row = draft_add(d, gpump_random_below(d->random, 2) ? GPUMP_OP_CONSTANT : GPUMP_OP_PARAMETER);
        row->defs[0] = draft_choose(d, -1, 1);
        row->in.def_count = 1;
        row->in.immediate = 8 * (int64_t)gpump_random_below(d->random, 5);
        break;
    default:
        row = draft_add(d, GPUMP_OP_COMPUTE);
        row->in.tag = gpump_random_below(d->random, 50);
        row->in.def_count = 1;
        row->defs[0] = draft_choose(d, gpump_random_below(d->random, 6) == 0 ? (int)GPUMP_WIDTH_PREDICATE : -1, 1);
        row->in.use_count = gpump_random_below(d->random, 4);
        for (uint32_t k = 0; k < row->in.use_count; k++) row->uses[k] = draft_pick(d, -1);
    }
    draft_guard(d, row, 8);
}
static inline void draft_statements(draft *d, uint32_t budget, uint32_t depth, uint32_t escape);

/* A branch to `label` under a random predicate. */
static inline void draft_branch(draft *d, uint32_t label) {
    draft_row *row = draft_add(d, GPUMP_OP_BRANCH);
    row->in.guard = draft_pick(d, GPUMP_WIDTH_PREDICATE);
    row->label = label;
}

/* If, perhaps with else. */
static inline void draft_if(draft *d, uint32_t budget, uint32_t depth, uint32_t escape) {
    const uint32_t other = draft_label(d), end = draft_label(d), has_else = gpump_random_below(d->random, 2);
    const uint32_t together = d->together && !d->parted;
    draft_branch(d, has_else ? other : end);
    d->together = 0;
    draft_statements(d, budget / 2, depth + 1, escape);
    if (has_else) {
        draft_add(d, GPUMP_OP_BRANCH)->label = end;
        draft_here(d, other);
        draft_statements(d, budget / 2, depth + 1, escape);
    }
    draft_here(d, end);
    d->together = together;
}

/* A loop that counts in a register of its own; now and then with a second way in. 0: no register is left. */
static inline int draft_loop(draft *d, uint32_t budget, uint32_t depth, uint32_t escape) {
    const uint32_t together = d->together && !d->parted, even = gpump_random_below(d->random, 2),
                   stay = together && even && d->chance_barrier && gpump_random_below(d->random, 2);
    const uint32_t top = draft_label(d), counter = d->registers, test = d->registers + 1, leave = draft_label(d);
    draft_row *row;
    if (d->registers + 2 > (draft_sets_once ? DRAFT_REGISTERS : 40)) return 0;
    d->widths[counter] = GPUMP_WIDTH_32;
    d->widths[test] = GPUMP_WIDTH_PREDICATE;
    d->hidden[counter] = d->hidden[test] = 1; /* nothing else touches them */
    d->registers += 2;
    row = draft_add(d, GPUMP_OP_CONSTANT);
    row->in.def_count = 1;
    row->defs[0] = counter;
    row->in.immediate = (int64_t)gpump_random_below(d->random, 3);
    if (!stay && gpump_random_below(d->random, 5) == 0) { /* a second way in: the loop has no header then */
        const uint32_t middle = draft_label(d);
        draft_branch(d, middle);
        draft_here(d, top);
        d->together = 0;
        draft_statements(d, 1 + budget / 4, depth + 2, GPUMP_NONE);
        draft_here(d, middle);
    } else
        draft_here(d, top);
    d->together = stay;
    if (stay)
        escape = GPUMP_NONE;
    else if (gpump_random_below(d->random, 3) == 0)
        escape = leave;
    draft_statements(d, budget / 2, depth + 1, escape);
    d->together = together;
    row = draft_add(d, GPUMP_OP_ADD);
    row->in.def_count = row->in.use_count = 1;
    row->defs[0] = row->uses[0] = counter;
    row->in.immediate = 1;
    row = draft_add(d, GPUMP_OP_COMPUTE);
    row->in.tag = ORACLE_TAG_LOOP + !even; /* the same count in all lanes, or one that differs */
    row->in.def_count = row->in.use_count = 1;
    row->defs[0] = test;
    row->uses[0] = counter;
    row = draft_add(d, GPUMP_OP_BRANCH);
    row->in.guard = test;
    row->label = top;
    draft_here(d, leave);
    return 1;
}

/* Statements: computations, accesses, if with and without else, loops with a counter, now and then a wild forward jump.
 */
static inline void draft_statements(draft *d, uint32_t budget, uint32_t depth, uint32_t escape) {
    const uint32_t outside = d->registers;
    while (budget > 0 && d->count < DRAFT_MAX - 40 && d->labels < DRAFT_LABELS - 4) {
        const uint32_t kind = gpump_random_below(d->random, 16), together = d->together && !d->parted;
        budget--;
        if (kind < 6 || depth > 3)
            draft_compute(d);
        else if (kind < 11 && d->chance_memory)
            draft_memory(d);
        else if (kind == 11) {
            draft_if(d, budget, depth, escape);
            budget /= 2;
        } else if (kind == 12) {
            if (draft_loop(d, budget, depth, escape)) budget /= 2;
        } else if (kind == 13 && escape != GPUMP_NONE) {
            draft_branch(d, escape);
            d->parted = 1;
        } else if (kind == 14 && together && d->chance_barrier && gpump_random_below(d->random, d->chance_barrier) == 0)
            draft_add(d, GPUMP_OP_BARRIER);
        else if (kind == 15 && depth && escape != GPUMP_NONE &&
                 gpump_random_below(d->random, draft_is_wild ? 2 : 4) == 0) {
            draft_row *row = draft_add(d, GPUMP_OP_EXIT);
            row->in.guard = draft_pick(d, GPUMP_WIDTH_PREDICATE);
            d->parted = 1;
        }
    }
    for (uint32_t r = outside; draft_sets_once && depth && r < d->registers; r++) d->hidden[r] = 1; /* not set behind */
}
/* A random program of about `size` instructions; every register is set first, so that nothing is read before it is
 * written. */
static inline gpump_program *draft_random(draft *d, uint64_t *random, uint32_t size, uint32_t barrier, uint32_t atomic,
                                          uint32_t memory, const gpump_allocator *allocator) {
    static const uint32_t widths[] = {GPUMP_WIDTH_PREDICATE, GPUMP_WIDTH_PREDICATE, GPUMP_WIDTH_32,
                                      GPUMP_WIDTH_32,        GPUMP_WIDTH_32,        GPUMP_WIDTH_32,
                                      GPUMP_WIDTH_64,        GPUMP_WIDTH_64,        GPUMP_WIDTH_32,
                                      GPUMP_WIDTH_32,        GPUMP_WIDTH_64,        GPUMP_WIDTH_PREDICATE};
    test_builder b;
    uint32_t i, end, drawn = 4 + gpump_random_below(random, 9);
    memset(d, 0, sizeof *d);
    d->random = random;
    d->chance_barrier = barrier;
    d->chance_atomic = atomic;
    d->chance_memory = memory;
    for (i = 0; i < drawn; i++) d->widths[d->registers++] = widths[i];
    for (i = 0; i < 5; i++) {
        d->spaces[i] = i == 3 ? GPUMP_SPACE_SHARED : i == 4 ? GPUMP_SPACE_LOCAL : GPUMP_SPACE_GLOBAL;
        d->classes[i] = i == 1 || i == 2 ? 1 : GPUMP_NONE;
    }
    d->objects = 5;
    for (i = 0; i < drawn; i++) {
        draft_row *row = draft_add(d, GPUMP_OP_COMPUTE);
        row->in.tag = 100 + i;
        row->in.def_count = 1;
        row->defs[0] = i;
    }
    for (i = 0; i < 5 + draft_is_wild;
         i++) { /* parameters, a copy of one, a constant and a constant predicate, never written again */
        draft_row *row = draft_add(d, i < 3 ? GPUMP_OP_PARAMETER : i == 3 ? GPUMP_OP_MOVE : GPUMP_OP_CONSTANT);
        row->in.immediate = i < 5 ? 8 * (int64_t)i : drawn % 2;
        row->in.def_count = 1;
        row->in.use_count = i == 3;
        row->uses[0] = drawn;
        row->defs[0] = d->registers;
        d->hidden[d->registers] = 2;
        d->widths[d->registers++] = i == 0 || i == 3 ? GPUMP_WIDTH_64 : i < 5 ? GPUMP_WIDTH_32 : GPUMP_WIDTH_PREDICATE;
    }
    end = draft_label(d);
    d->together = 1;
    draft_statements(d, size, 0, end);
    draft_here(d, end);
    draft_add(d, GPUMP_OP_EXIT);
    b = test_build(allocator);
    for (i = 0; i < d->registers; i++) test_register(&b, d->widths[i]);
    for (i = 0; i < d->objects; i++) test_object(&b, d->spaces[i], d->classes[i]);
    for (i = 0; i < d->count; i++) {
        draft_row *row = &d->rows[i];
        row->in.defs = row->defs;
        row->in.uses = row->uses;
        if (row->label != GPUMP_NONE) row->in.target = d->label_at[row->label];
        test_add(&b, &row->in);
    }
    if (test_finish(&b) != GPUMP_OK) {
        gpump_program_destroy(b.program);
        return NULL;
    }
    return b.program;
}

/* ---- the machine ---- */
enum {
    ORACLE_LANES = 4,
    ORACLE_WARPS = 2,
    ORACLE_REGISTERS = 300,
    ORACLE_AREA = 32,
    ORACLE_AREAS = 8,
    ORACLE_STACK = 40,
    ORACLE_SPILL = 64
};
typedef struct oracle_entry {
    uint32_t pc, meet, lanes;
} oracle_entry;
typedef struct oracle_warp {
    oracle_entry stack[ORACLE_STACK], saved[ORACLE_STACK]; /* saved: at the last boundary */
    uint32_t depth, saved_depth, waiting, last;            /* last: operation executed last */
    uint64_t reg[ORACLE_LANES][ORACLE_REGISTERS];
    uint32_t spill[ORACLE_LANES][ORACLE_SPILL];
    uint32_t local[ORACLE_LANES][ORACLE_AREA]; /* there is one local object */
} oracle_warp;
typedef struct oracle_machine {
    const gpump_program *program;
    oracle_warp warp[ORACLE_WARPS];
    uint32_t warps, isolated, level;                           /* level: boundaries with immediate <= level are kept */
    uint32_t memory[ORACLE_WARPS][ORACLE_AREA * ORACLE_AREAS]; /* isolated: one each; else all use the first */
    uint32_t touched[ORACLE_AREA * ORACLE_AREAS];
    uint64_t steps;
} oracle_machine;

static inline uint64_t oracle_mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ (h >> 32);
}
static inline void oracle_start(oracle_machine *m, const gpump_program *program, uint32_t warps, uint32_t isolated,
                                uint64_t garbage) {
    memset(m, 0, sizeof *m);
    m->program = program;
    m->warps = warps;
    m->isolated = isolated;
    m->level = 1;
    for (uint32_t w = 0; w < warps; w++) {
        oracle_warp *warp = &m->warp[w];
        warp->stack[0].pc = 0;
        warp->stack[0].meet = GPUMP_NONE;
        warp->stack[0].lanes = (1u << ORACLE_LANES) - 1;
        warp->depth = 1;
        memcpy(warp->saved, warp->stack, sizeof warp->saved);
        warp->saved_depth = 1;
        warp->last = GPUMP_OP_COUNT;
        for (uint32_t l = 0; l < ORACLE_LANES; l++)
            for (uint32_t r = 0; r < gpump_program_count(program).registers; r++)
                warp->reg[l][r] =
                    oracle_mix(garbage, r * 64 + l) & (gpump_program_width(program, r) == GPUMP_WIDTH_64 ? UINT64_MAX
                                                       : gpump_program_width(program, r)                 ? UINT32_MAX
                                                                                                         : 1u);
    }
    for (uint32_t w = 0; w < ORACLE_WARPS; w++)
        for (uint32_t i = 0; i < ORACLE_AREA * ORACLE_AREAS; i++) m->memory[w][i] = (uint32_t)oracle_mix(77, i);
}
static inline uint64_t oracle_read(const oracle_machine *m, const oracle_warp *warp, uint32_t lane, uint32_t operand) {
    uint32_t index = operand & GPUMP_OPERAND_INDEX;
    (void)m;
    if (operand & GPUMP_OPERAND_PARAMETER) {
        uint64_t value = oracle_mix(5, index);
        return operand & GPUMP_OPERAND_PAIR ? value : value & UINT32_MAX;
    }
    if (operand & GPUMP_OPERAND_PAIR) return warp->reg[lane][index] | warp->reg[lane][index + 1] << 32;
    return warp->reg[lane][index];
}
static inline uint32_t oracle_width(const oracle_machine *m, uint32_t operand) {
    return operand & GPUMP_OPERAND_PAIR ? (uint32_t)GPUMP_WIDTH_64
                                        : gpump_program_width(m->program, operand & GPUMP_OPERAND_INDEX);
}
static inline void oracle_write(const oracle_machine *m, oracle_warp *warp, uint32_t lane, uint32_t operand,
                                uint64_t value) {
    uint32_t index = operand & GPUMP_OPERAND_INDEX;
    if (operand & GPUMP_OPERAND_PAIR) {
        warp->reg[lane][index] = value & UINT32_MAX;
        warp->reg[lane][index + 1] = value >> 32;
    } else
        warp->reg[lane][index] = value & (oracle_width(m, operand) == GPUMP_WIDTH_64 ? UINT64_MAX
                                          : oracle_width(m, operand)                 ? UINT32_MAX
                                                                                     : 1u);
}
/* The word an access goes to, in agreement with what the instruction declares. */
static inline uint32_t *oracle_word(oracle_machine *m, uint32_t w, uint32_t lane, const gpump_instruction *in) {
    uint32_t object = in->object, thread = w * ORACLE_LANES + lane, area, space, byte = 0;
    uint64_t index = oracle_read(m, &m->warp[w], lane, in->uses[0]);
    if (object == GPUMP_NONE) { /* any object of the space */
        object = (uint32_t)(index >> 8) % gpump_program_count(m->program).objects;
        while (in->space == GPUMP_SPACE_GENERIC ? 0 : gpump_program_object(m->program, object).space != in->space)
            object = (object + 1) % gpump_program_count(m->program).objects;
    }
    space = gpump_program_object(m->program, object).space;
    area = gpump_program_object(m->program, object).alias_class == GPUMP_NONE ? object : 5;
    switch (in->address) {
    case GPUMP_ADDRESS_FIXED: byte = (uint32_t)in->offset; break;
    case GPUMP_ADDRESS_VALUE:
        byte = in->thread_stride ? thread * in->thread_stride + (uint32_t)in->offset
                                 : (uint32_t)(oracle_mix(in->value, thread) % 8) * 4 + (uint32_t)in->offset;
        break;
    default: byte = (uint32_t)(index % 16) * 4;
    }
    if (space == GPUMP_SPACE_LOCAL) return &m->warp[w].local[lane][byte / 4 % ORACLE_AREA];
    area = area * ORACLE_AREA + byte / 4 % ORACLE_AREA;
    return &m->memory[m->isolated ? w : 0][area];
}
static inline void oracle_lane(oracle_machine *m, uint32_t w, uint32_t lane, const gpump_instruction *in) {
    oracle_warp *warp = &m->warp[w];
    uint64_t value = 0;
    switch (in->operation) {
    case GPUMP_OP_MOVE: value = oracle_read(m, warp, lane, in->uses[0]); break;
    case GPUMP_OP_CONSTANT: value = (uint64_t)in->immediate; break;
    case GPUMP_OP_PARAMETER: value = oracle_mix(5, (uint64_t)in->immediate); break;
    case GPUMP_OP_ADD: value = oracle_read(m, warp, lane, in->uses[0]) + (uint64_t)in->immediate; break;
    case GPUMP_OP_SPILL_LOAD:
        value = warp->spill[lane][in->immediate / 4];
        if (oracle_width(m, in->defs[0]) == GPUMP_WIDTH_64)
            value |= (uint64_t)warp->spill[lane][in->immediate / 4 + 1] << 32;
        break;
    case GPUMP_OP_SPILL_STORE:
        value = oracle_read(m, warp, lane, in->uses[0]);
        warp->spill[lane][in->immediate / 4] = (uint32_t)value;
        if (oracle_width(m, in->uses[0]) == GPUMP_WIDTH_64)
            warp->spill[lane][in->immediate / 4 + 1] = (uint32_t)(value >> 32);
        return;
    case GPUMP_OP_COMPUTE:
        if (in->access) {
            uint32_t *word = oracle_word(m, w, lane, in), old = *word;
            if (in->access & GPUMP_ACCESS_WRITE) {
                uint32_t data = (uint32_t)oracle_read(m, warp, lane, in->uses[1]);
                *word = in->access == GPUMP_ACCESS_WRITE ? data : (uint32_t)oracle_mix(old, data);
            }
            value = old;
        } else if (in->tag >= ORACLE_TAG_LOOP)
            value = oracle_read(m, warp, lane, in->uses[0]) < 3 + (in->tag - ORACLE_TAG_LOOP) * lane % 3;
        else {
            value = oracle_mix(in->tag, in->tag >= 100 ? w * ORACLE_LANES + lane : 0);
            for (uint32_t k = 0; k < in->use_count; k++)
                value = oracle_mix(value, oracle_read(m, warp, lane, in->uses[k]));
            value >>= 7;
        }
        break;
    default: return;
    }
    if (in->def_count) oracle_write(m, warp, lane, in->defs[0], value);
}
static inline int oracle_done(const oracle_warp *warp) { return warp->depth == 0; }

/* Executes one instruction of a warp; does nothing while it waits at a barrier. Returns the instruction's number. */
static inline uint32_t oracle_step(oracle_machine *m, uint32_t w) {
    oracle_warp *warp = &m->warp[w];
    oracle_entry *top = &warp->stack[warp->depth - 1];
    gpump_instruction in;
    uint32_t at = top->pc, lanes = 0, l;
    gpump_program_instruction(m->program, at, &in);
    for (l = 0; l < ORACLE_LANES; l++)
        if (top->lanes >> l & 1 && (in.guard == GPUMP_NONE || (oracle_read(m, warp, l, in.guard) != 0) !=
                                                                  ((in.flags & GPUMP_FLAG_GUARD_NEGATED) != 0)))
            lanes |= 1u << l;
    m->steps++;
    warp->last = in.flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE) ? (uint32_t)GPUMP_OP_BARRIER : in.operation;
    top->pc++;
    switch (in.operation) {
    case GPUMP_OP_BRANCH:
        if (lanes == top->lanes)
            top->pc = in.target;
        else if (lanes) { /* part: the top entry becomes the meeting point, both sides go above it */
            uint32_t meet = gpump_program_reconvergence(m->program, at), all = top->lanes, fall = at + 1;
            if (warp->depth + 2 > ORACLE_STACK) fail_msg("oracle: stack too deep");
            top->pc = meet;
            if (meet == GPUMP_NONE) warp->depth--;
            warp->stack[warp->depth].pc = in.target;
            warp->stack[warp->depth].meet = meet;
            warp->stack[warp->depth++].lanes = lanes;
            warp->stack[warp->depth].pc = fall;
            warp->stack[warp->depth].meet = meet;
            warp->stack[warp->depth++].lanes = all & ~lanes;
        }
        break;
    case GPUMP_OP_EXIT:
        for (l = 0; l < warp->depth; l++) warp->stack[l].lanes &= ~lanes;
        break;
    case GPUMP_OP_BARRIER:
    case GPUMP_OP_BARRIER_PP: warp->waiting = 1; break;
    case GPUMP_OP_BOUNDARY: break;
    default:
        for (l = 0; l < ORACLE_LANES; l++)
            if (lanes >> l & 1) oracle_lane(m, w, l, &in);
    }
    while (warp->depth && (!warp->stack[warp->depth - 1].lanes ||
                           warp->stack[warp->depth - 1].pc == warp->stack[warp->depth - 1].meet))
        warp->depth--;
    if (in.operation == GPUMP_OP_BOUNDARY && in.immediate <= (int64_t)m->level) {
        memcpy(warp->saved, warp->stack, sizeof warp->saved);
        warp->saved_depth = warp->depth;
    }
    return at;
}
/* Lets warps that all wait or are done go on. */
static inline void oracle_release(oracle_machine *m) {
    uint32_t w, blocked = 1;
    for (w = 0; w < m->warps; w++) blocked &= m->warp[w].waiting || oracle_done(&m->warp[w]);
    for (w = 0; w < m->warps && blocked; w++) m->warp[w].waiting = 0;
}
/* Runs to the end, warps in turn; 0 when the limit was reached first. */
static inline int oracle_run(oracle_machine *m, uint64_t limit) {
    for (;;) {
        uint32_t w, left = 0;
        for (w = 0; w < m->warps; w++)
            if (!oracle_done(&m->warp[w])) {
                left = 1;
                if (!m->warp[w].waiting) oracle_step(m, w);
            }
        if (!left) return 1;
        if (m->steps > limit) return 0;
        oracle_release(m);
    }
}
/* The state that counts: global, shared and local memory. */
static inline uint64_t oracle_result(const oracle_machine *m) {
    uint64_t hash = 1;
    for (uint32_t i = 0; i < ORACLE_AREA * ORACLE_AREAS; i++) {
        for (uint32_t w = 0; w < ORACLE_WARPS; w++) hash = oracle_mix(hash, m->memory[w][i]);
        for (uint32_t w = 0; w < m->warps; w++)
            for (uint32_t l = 0; l < ORACLE_LANES && i < ORACLE_AREA; l++)
                hash = oracle_mix(hash, m->warp[w].local[l][i]);
    }
    return hash;
}
#endif
