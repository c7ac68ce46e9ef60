#include "program/patterns.h"

#ifndef GPUMP_NO_PROGRAM

#include <string.h>

#include "program/program_parts.h"

struct gpump_patterns {
    gpumpi_arena arena;
    uint32_t instructions, registers;
    uint8_t *before;   /* [instruction][register] */
    uint8_t *diverged; /* per instruction: a part of the warp may execute it */
};
/* What the analysis needs while it runs. */
typedef struct gpumpi_patterns_work {
    const gpump_program *program;
    const gpump_liveness *liveness;
    const gpump_pattern_rule *rules;
    gpump_patterns *patterns;
    uint8_t *after; /* of one instruction */
    uint32_t *branches;
    uint32_t *enclosing_start, *enclosing; /* branches that can have diverged the warp, per basic block */
} gpumpi_patterns_work;

static uint8_t gpumpi_patterns_larger(uint8_t a, uint8_t b) { return a > b ? a : b; }

static uint8_t gpumpi_patterns_of(const uint8_t *row, uint32_t operand) {
    return operand == GPUMP_NONE           ? (uint8_t)GPUMP_PATTERN_UNIFORM
           : operand == GPUMP_PATTERN_LANE ? (uint8_t)GPUMP_PATTERN_AFFINE
                                           : row[operand];
}

/* The pattern of everything that an instruction reads together: uniform, or unknown. */
static uint8_t gpumpi_patterns_of_reads(const uint8_t *row, const gpump_instruction *in) {
    uint32_t i;
    for (i = 0; i < in->use_count; i++)
        if (row[in->uses[i]] != GPUMP_PATTERN_UNIFORM) return GPUMP_PATTERN_UNKNOWN;
    return GPUMP_PATTERN_UNIFORM;
}

static uint8_t gpumpi_patterns_of_result(const uint8_t *row, const gpump_pattern_rule *rule,
                                         const gpump_instruction *in) {
    const uint8_t a = gpumpi_patterns_of(row, rule->operands[0]), b = gpumpi_patterns_of(row, rule->operands[1]),
                  c = gpumpi_patterns_of(row, rule->operands[2]);
    switch (rule->kind) {
    case GPUMP_PATTERN_OF_CONSTANT: return GPUMP_PATTERN_UNIFORM;
    case GPUMP_PATTERN_OF_FUNCTION: return gpumpi_patterns_of_reads(row, in);
    case GPUMP_PATTERN_OF_SUM: return gpumpi_patterns_larger(a, gpumpi_patterns_larger(b, c));
    case GPUMP_PATTERN_OF_PRODUCT:
        if (a && b) return GPUMP_PATTERN_UNKNOWN;
        return gpumpi_patterns_larger(a, gpumpi_patterns_larger(b, c));
    case GPUMP_PATTERN_OF_SHIFT: return b ? (uint8_t)GPUMP_PATTERN_UNKNOWN : a;
    default: return GPUMP_PATTERN_UNKNOWN;
    }
}

/* Sets w->after to the patterns behind an instruction. */
static void gpumpi_patterns_step(const gpumpi_patterns_work *w, uint32_t index, const gpump_instruction *in) {
    const uint8_t *row = w->patterns->before + (size_t)index * w->patterns->registers;
    const uint8_t guard = gpumpi_patterns_of(row, in->guard), reads = gpumpi_patterns_of_reads(row, in);
    const uint8_t rest = w->rules[index].kind == GPUMP_PATTERN_OF_NOTHING    ? (uint8_t)GPUMP_PATTERN_UNKNOWN
                         : w->rules[index].kind == GPUMP_PATTERN_OF_CONSTANT ? (uint8_t)GPUMP_PATTERN_UNIFORM
                                                                             : reads;
    uint32_t i;
    memcpy(w->after, row, w->patterns->registers);
    for (i = 0; i < in->def_count; i++) {
        uint8_t result = i ? rest : gpumpi_patterns_of_result(row, &w->rules[index], in);
        if (w->patterns->diverged[index] || guard) result = GPUMP_PATTERN_UNKNOWN;
        if (in->guard != GPUMP_NONE) result = gpumpi_patterns_larger(result, row[in->defs[i]]);
        w->after[in->defs[i]] = result;
    }
}

/* Joins w->after into the patterns before an instruction; 1 when these change. */
static int gpumpi_patterns_join(const gpumpi_patterns_work *w, uint32_t index) {
    uint8_t *row = w->patterns->before + (size_t)index * w->patterns->registers;
    uint32_t r;
    int changed = 0;
    for (r = 0; r < w->patterns->registers; r++) {
        if (w->after[r] <= row[r]) continue;
        row[r] = w->after[r];
        changed = 1;
    }
    return changed;
}

/* One pass over all instructions; 1 when something changed. */
static int gpumpi_patterns_pass(const gpumpi_patterns_work *w) {
    uint32_t i;
    int changed = 0;
    for (i = 0; i < w->patterns->instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(w->program, i, &in);
        gpumpi_patterns_step(w, i, &in);
        if (in.target != GPUMP_NONE && in.target < w->patterns->instructions)
            changed |= gpumpi_patterns_join(w, in.target);
        if (i + 1 < w->patterns->instructions &&
            (in.guard != GPUMP_NONE || (in.operation != GPUMP_OP_BRANCH && in.operation != GPUMP_OP_EXIT)))
            changed |= gpumpi_patterns_join(w, i + 1);
    }
    return changed;
}

/* Marks what lies under a branch whose lanes may part; 1 when something is new. */
static int gpumpi_patterns_mark(const gpumpi_patterns_work *w) {
    uint32_t i, n;
    int changed = 0;
    for (i = 0; i < w->patterns->instructions; i++) {
        const uint32_t block = gpump_program_basic_block_of(w->program, i);
        for (n = w->enclosing_start[block]; !w->patterns->diverged[i] && n < w->enclosing_start[block + 1]; n++) {
            const uint32_t branch = w->enclosing[n];
            const uint8_t *row = w->patterns->before + (size_t)branch * w->patterns->registers;
            gpump_instruction in;
            gpump_program_instruction(w->program, branch, &in);
            if (gpumpi_patterns_of(row, in.guard) == GPUMP_PATTERN_UNIFORM && !w->patterns->diverged[branch]) continue;
            w->patterns->diverged[i] = 1;
            changed = 1;
        }
    }
    return changed;
}

/* Lists, per basic block, the branches that can have diverged a warp that stands there. */
static gpump_result gpumpi_patterns_enclose(gpumpi_patterns_work *w, gpumpi_arena *scratch) {
    const uint32_t blocks = gpumpi_program_basic_blocks(w->program), instructions = w->patterns->instructions;
    uint32_t pass, block, total = 0;
    if (!GPUMPI_ARENA_NEW(scratch, w->branches, instructions) ||
        !GPUMPI_ARENA_NEW(scratch, w->enclosing_start, blocks + 1))
        return GPUMP_ERROR_MEMORY;
    for (pass = 0; pass < 2; pass++) {
        if (pass && !GPUMPI_ARENA_NEW(scratch, w->enclosing, total)) return GPUMP_ERROR_MEMORY;
        for (block = 0, total = 0; block < blocks; block++) {
            gpump_basic_block where;
            uint32_t count;
            gpump_result result;
            gpump_program_basic_block(w->program, block, &where);
            result = gpump_liveness_enclosing(w->liveness, where.first, w->branches, instructions, &count);
            if (result) return result;
            w->enclosing_start[block] = total;
            if (pass) memcpy(w->enclosing + total, w->branches, count * sizeof *w->branches);
            total += count;
        }
        w->enclosing_start[blocks] = total;
    }
    return GPUMP_OK;
}

static gpump_result gpumpi_patterns_check(const gpump_program *program, const gpump_pattern_rule *rules,
                                          gpump_diag *diag) {
    const uint32_t registers = gpumpi_program_registers(program);
    uint32_t i, n;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        if (rules[i].kind >= GPUMP_PATTERN_KINDS)
            return gpumpi_bad_argument(diag, "kind", i, rules[i].kind, 0, GPUMP_PATTERN_KINDS - 1);
        for (n = 0; n < 3; n++)
            if (rules[i].operands[n] < GPUMP_PATTERN_LANE && rules[i].operands[n] >= registers)
                return gpumpi_bad_argument(diag, "operands", i, rules[i].operands[n], 0, registers ? registers - 1 : 0);
    }
    return GPUMP_OK;
}

static gpump_result gpumpi_patterns_solve(gpumpi_patterns_work *w) {
    gpumpi_arena scratch = gpumpi_arena_make(&w->patterns->arena.allocator);
    gpump_result result = gpumpi_patterns_enclose(w, &scratch);
    if (!result && !GPUMPI_ARENA_NEW(&scratch, w->after, w->patterns->registers)) result = GPUMP_ERROR_MEMORY;
    if (!result && w->patterns->instructions) /* what nobody has written yet is anything */
        memset(w->patterns->before, GPUMP_PATTERN_UNKNOWN, w->patterns->registers);
    while (!result) { /* patterns only become worse, and so does divergence */
        while (gpumpi_patterns_pass(w)) {}
        if (!gpumpi_patterns_mark(w)) break;
    }
    gpumpi_arena_free(&scratch);
    return result;
}

GPUMP_API gpump_result gpump_patterns_create(const gpump_program *program, const gpump_liveness *liveness,
                                             const gpump_pattern_rule *rules, const gpump_allocator *allocator,
                                             gpump_patterns **patterns, gpump_diag *diag) {
    gpumpi_arena arena = gpumpi_arena_make(allocator);
    gpumpi_patterns_work work;
    gpump_patterns *made;
    gpump_result result;
    if (!program || !liveness || !rules || !patterns)
        return gpumpi_bad_argument(diag, "program, liveness, rules, patterns", 0, 0, 1, UINT64_MAX);
    result = gpumpi_patterns_check(program, rules, diag);
    if (result) return result;
    made = (gpump_patterns *)arena.allocator.reallocate(arena.allocator.user, NULL, 0, sizeof *made);
    if (!made) return GPUMP_ERROR_MEMORY;
    made->arena = arena;
    made->instructions = gpumpi_program_instructions(program);
    made->registers = gpumpi_program_registers(program);
    memset(&work, 0, sizeof work);
    work.program = program;
    work.liveness = liveness;
    work.rules = rules;
    work.patterns = made;
    if (!GPUMPI_ARENA_NEW(&made->arena, made->before, (size_t)made->instructions * made->registers) ||
        !GPUMPI_ARENA_NEW(&made->arena, made->diverged, made->instructions))
        result = GPUMP_ERROR_MEMORY;
    else
        result = gpumpi_patterns_solve(&work);
    if (result) {
        gpump_patterns_destroy(made);
        return result;
    }
    *patterns = made;
    return GPUMP_OK;
}

GPUMP_API void gpump_patterns_destroy(gpump_patterns *patterns) {
    gpump_allocator allocator;
    if (!patterns) return;
    allocator = patterns->arena.allocator;
    gpumpi_arena_free(&patterns->arena);
    allocator.reallocate(allocator.user, patterns, sizeof *patterns, 0);
}

GPUMP_API uint32_t gpump_patterns_before(const gpump_patterns *patterns, uint32_t index, uint32_t reg) {
    return patterns->before[(size_t)index * patterns->registers + reg];
}

/* The lanes of a warp may wait before instruction `index`: adds what is live there to the first half of live[], whose
 * second half has room for that, and makes worst[] no better than the patterns there. */
static void gpumpi_patterns_add_place(const gpump_patterns *patterns, const gpump_liveness *liveness, uint32_t index,
                                      uint64_t *live, uint8_t *worst) {
    const uint32_t words = gpump_liveness_words(liveness);
    const uint8_t *row = patterns->before + (size_t)index * patterns->registers;
    uint32_t i;
    if (index >= patterns->instructions) return; /* the end: nothing is needed there */
    gpump_liveness_before(liveness, index, live + words);
    for (i = 0; i < words; i++) live[i] |= live[words + i];
    for (i = 0; i < patterns->registers; i++) worst[i] = gpumpi_patterns_larger(worst[i], row[i]);
}

/* Adds the places where the other lanes of a warp may wait while some stand before instruction `index`. */
static gpump_result gpumpi_patterns_add_parted(const gpump_patterns *patterns, const gpump_program *program,
                                               const gpump_liveness *liveness, uint32_t index, uint32_t *branches,
                                               uint64_t *live, uint8_t *worst) {
    uint32_t i, n, count;
    gpump_result result = gpump_liveness_enclosing(liveness, index, branches, patterns->instructions, &count);
    for (i = 0; !result && i < count; i++) {
        const uint8_t *row = patterns->before + (size_t)branches[i] * patterns->registers;
        gpump_instruction in;
        gpump_basic_block block;
        gpump_program_instruction(program, branches[i], &in);
        if (gpumpi_patterns_of(row, in.guard) == GPUMP_PATTERN_UNIFORM && !patterns->diverged[branches[i]]) continue;
        gpump_program_basic_block(program, gpump_program_basic_block_of(program, branches[i]), &block);
        n = block.successor_count;
        while (n) {
            gpump_basic_block behind;
            gpump_program_basic_block(program, block.successors[--n], &behind);
            gpumpi_patterns_add_place(patterns, liveness, behind.first, live, worst);
        }
        if (block.post_dominator == GPUMP_NONE) continue;
        gpump_program_basic_block(program, block.post_dominator, &block);
        gpumpi_patterns_add_place(patterns, liveness, block.first, live, worst);
    }
    return result;
}

GPUMP_API gpump_result gpump_patterns_live_bytes(const gpump_patterns *patterns, const gpump_program *program,
                                                 const gpump_liveness *liveness, uint32_t index, uint32_t registers,
                                                 uint32_t lanes, uint64_t *bytes) {
    gpumpi_arena scratch;
    gpump_result result = GPUMP_OK;
    uint32_t r, *branches;
    uint64_t *live, sum = 0;
    uint8_t *worst;
    if (!patterns || !program || !liveness || !bytes || index >= patterns->instructions) return GPUMP_ERROR_ARGUMENT;
    scratch = gpumpi_arena_make(&patterns->arena.allocator);
    if (!GPUMPI_ARENA_NEW(&scratch, branches, patterns->instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, live, 2 * gpump_liveness_words(liveness)) ||
        !GPUMPI_ARENA_NEW(&scratch, worst, patterns->registers)) {
        gpumpi_arena_free(&scratch);
        return GPUMP_ERROR_MEMORY;
    }
    gpumpi_patterns_add_place(patterns, liveness, index, live, worst);
    if (patterns->diverged[index])
        result = gpumpi_patterns_add_parted(patterns, program, liveness, index, branches, live, worst);
    for (r = 0; r < registers && r < patterns->registers; r++)
        if (gpump_bits_get(live, r))
            sum += worst[r] == GPUMP_PATTERN_UNIFORM ? 4 : worst[r] == GPUMP_PATTERN_AFFINE ? 8 : 4 * (uint64_t)lanes;
    if (!result) *bytes = sum;
    gpumpi_arena_free(&scratch);
    return result;
}

#endif /* GPUMP_NO_PROGRAM */
