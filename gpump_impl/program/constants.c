/* constants (private): before allocation, parameters become constant-bank reads, and constants are set where they are
 * first needed */
#include "program/program_parts.h"
#include "program/registers.h"

#ifndef GPUMP_NO_PROGRAM

/* ---- what is known of each register before allocation ---- */

GPUMP_API int gpumpi_registers_find_facts(const gpump_program *program, gpumpi_arena *arena,
                                          gpumpi_registers_facts *facts) {
    uint32_t registers = gpumpi_program_registers(program), i, k, count = gpumpi_program_instructions(program);
    if (!GPUMPI_ARENA_NEW(arena, facts->defs, registers) || !GPUMPI_ARENA_NEW(arena, facts->def_at, registers) ||
        !GPUMPI_ARENA_NEW(arena, facts->fixed, registers) || !GPUMPI_ARENA_NEW(arena, facts->offset, registers) ||
        !GPUMPI_ARENA_NEW(arena, facts->parameter, registers))
        return 0;
    for (i = 0; i < count; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k < in.def_count; k++) {
            facts->defs[in.defs[k]]++;
            facts->def_at[in.defs[k]] = i;
        }
    }
    for (i = 0; i < count; i++) {
        gpump_instruction in;
        uint32_t reg;
        gpump_program_instruction(program, i, &in);
        if (in.def_count != 1 || in.guard != GPUMP_NONE || facts->defs[reg = in.defs[0]] != 1) continue;
        if (in.operation == GPUMP_OP_CONSTANT) facts->fixed[reg] = 1;
        if (in.operation == GPUMP_OP_MOVE &&
            in.uses[0] & GPUMP_OPERAND_PARAMETER) { /* what folding leaves of a parameter's copy */
            facts->fixed[reg] = facts->parameter[reg] = 1;
            facts->offset[reg] = in.uses[0] & GPUMP_OPERAND_INDEX;
        }
        if (in.operation == GPUMP_OP_PARAMETER && in.immediate >= 0 && in.immediate < (int64_t)GPUMP_OPERAND_INDEX) {
            facts->fixed[reg] = facts->parameter[reg] = 1;
            facts->offset[reg] = in.immediate;
        }
    }
    return 1;
}

/* Folding turns uses of parameters into constant-bank reads: at most one in each instruction that touches no memory. */
typedef struct gpumpi_registers_fold {
    const gpump_program *program;
    const gpumpi_registers_facts *facts;
    uint32_t *reads; /* uses left per register */
    int enabled;
    uint32_t folded;
} gpumpi_registers_fold;

static int gpumpi_registers_may_fold(const gpumpi_registers_fold *fold, const gpump_instruction *in) {
    return fold->enabled && !in->access && !(in->flags & GPUMP_FLAG_CONVERGENT) &&
           (in->operation == GPUMP_OP_COMPUTE || in->operation == GPUMP_OP_MOVE || in->operation == GPUMP_OP_ADD);
}
static int gpumpi_registers_rewrite_fold(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    gpumpi_registers_fold *fold = (gpumpi_registers_fold *)user;
    uint32_t k, reg;
    (void)index;
    if (in->def_count == 1 && fold->facts->fixed[reg = in->defs[0]] && !fold->reads[reg]) return 0;
    if (!gpumpi_registers_may_fold(fold, in)) return 1;
    for (k = 0; k < in->use_count && !(in->uses[k] & GPUMP_OPERAND_PARAMETER); k++) {}
    if (k < in->use_count) return 1; /* the instruction reads a parameter already */
    memcpy(scratch, in->uses, in->use_count * sizeof *scratch);
    for (k = 0; k < in->use_count; k++) {
        reg = in->uses[k];
        if (!fold->facts->parameter[reg] || gpump_program_width(fold->program, reg) == GPUMP_WIDTH_PREDICATE) continue;
        scratch[k] = (uint32_t)fold->facts->offset[reg] | GPUMP_OPERAND_PARAMETER |
                     (gpump_program_width(fold->program, reg) == GPUMP_WIDTH_64 ? GPUMP_OPERAND_PAIR : 0);
        in->uses = scratch;
        break;
    }
    return 1;
}

/* Moves of a parameter are parameters too; then counts the uses that stay. */
static int gpumpi_registers_plan_fold(gpumpi_registers_fold *fold, gpumpi_arena *arena, gpumpi_registers_facts *facts) {
    const gpump_program *program = fold->program;
    uint32_t i, k, scratch[GPUMPI_EDIT_OPERANDS], count = gpumpi_program_instructions(program);
    uint32_t *reads;
    if (!GPUMPI_ARENA_NEW(arena, reads, gpumpi_program_registers(program))) return 0;
    fold->reads = reads;
    for (i = 0; i < count && fold->enabled; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_MOVE && in.guard == GPUMP_NONE && facts->defs[in.defs[0]] == 1 &&
            !(in.uses[0] & GPUMP_OPERAND_PARAMETER) && facts->parameter[in.uses[0]] &&
            gpump_program_dominates(program, gpump_program_basic_block_of(program, facts->def_at[in.uses[0]]),
                                    gpump_program_basic_block_of(program, i))) {
            facts->fixed[in.defs[0]] = facts->parameter[in.defs[0]] = 1;
            facts->offset[in.defs[0]] = facts->offset[in.uses[0]];
        }
    }
    for (i = 0; i < gpumpi_program_registers(program); i++) reads[i] = 1; /* so that counting drops no instruction */
    {
        uint32_t *left;
        if (!GPUMPI_ARENA_NEW(arena, left, gpumpi_program_registers(program))) return 0;
        for (i = 0; i < count; i++) {
            gpump_instruction in, before;
            gpump_program_instruction(program, i, &in);
            before = in;
            gpumpi_registers_rewrite_fold(fold, i, &in, scratch);
            for (k = 0; k < in.use_count; k++) {
                if (!(in.uses[k] & GPUMP_OPERAND_PARAMETER))
                    left[in.uses[k]]++;
                else if (in.uses[k] != before.uses[k])
                    fold->folded++;
            }
            if (in.guard != GPUMP_NONE) left[in.guard]++;
        }
        fold->reads = left;
    }
    return 1;
}

/* 1 when nothing may come between instruction i and the boundary behind it. */
GPUMP_API int gpumpi_registers_commits_with_next(const gpump_program *program, uint32_t i) {
    gpump_instruction in, next;
    gpump_program_instruction(program, i, &in);
    if (!(in.flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE | GPUMP_FLAG_FENCE)) &&
        in.operation != GPUMP_OP_BARRIER && in.operation != GPUMP_OP_BARRIER_PP)
        return 0;
    gpump_program_instruction(program, i + 1, &next); /* it exists: a program ends in a branch or exit */
    return next.operation == GPUMP_OP_BOUNDARY;
}

/* Where a fixed register's only definition should stand: just before its first use in the nearest block that dominates
 * all of its uses, taken out of loops that the definition was not in. GPUMP_NONE: leave it. */
typedef struct gpumpi_registers_sink {
    const gpump_program *program;
    const gpumpi_registers_facts *facts;
    uint32_t *target; /* register -> instruction before which it is set, or GPUMP_NONE */
} gpumpi_registers_sink;

static int gpumpi_registers_rewrite_sink(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    gpumpi_registers_sink *sink = (gpumpi_registers_sink *)user;
    (void)index;
    (void)scratch;
    return !(in->def_count == 1 && sink->target[in->defs[0]] != GPUMP_NONE);
}

static int gpumpi_registers_compare_insertions(const void *a, const void *b) {
    const gpumpi_insertion *x = (const gpumpi_insertion *)a, *y = (const gpumpi_insertion *)b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return x->defs[0] < y->defs[0] ? -1 : x->defs[0] > y->defs[0];
}

/* Says for each fixed register which basic block dominates all of its readers: common[r], GPUMP_NONE without one. */
static void gpumpi_registers_find_common(const gpumpi_registers_sink *sink, uint32_t *common) {
    const gpump_program *program = sink->program;
    uint32_t i, k, r;
    for (r = 0; r < gpumpi_program_registers(program); r++) common[r] = GPUMP_NONE;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_basic_block block;
        uint32_t b = gpump_program_basic_block_of(program, i);
        gpump_program_basic_block(program, b, &block);
        if (!block.reachable) continue;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k <= in.use_count; k++) {
            r = k < in.use_count ? in.uses[k] : in.guard;
            if (r == GPUMP_NONE || r & GPUMP_OPERAND_PARAMETER || !sink->facts->fixed[r]) continue;
            if (common[r] == GPUMP_NONE) common[r] = b;
            while (!gpump_program_dominates(program, common[r], b)) {
                gpump_program_basic_block(program, common[r], &block);
                common[r] = block.dominator;
            }
        }
    }
}

/* Whether a constant of register r must be set before this instruction: it reads r, or ends the block. */
static int gpumpi_registers_sinks_to(const gpump_program *program, uint32_t i, uint32_t r) {
    gpump_instruction in;
    uint32_t k;
    gpump_program_instruction(program, i, &in);
    for (k = 0; k < in.use_count; k++)
        if (in.uses[k] == r) return 1;
    return in.guard == r || in.operation == GPUMP_OP_BRANCH || in.operation == GPUMP_OP_EXIT ||
           in.operation == GPUMP_OP_GUARDED_CALL;
}

/* The basic block into which the definition of r sinks: up from the one that dominates its readers, until no loop is
 * entered. GPUMP_NONE when the definition stays where it is. */
static uint32_t gpumpi_registers_sink_block(const gpumpi_registers_sink *sink, uint32_t r, uint32_t common) {
    const gpump_program *program = sink->program;
    uint32_t at = gpump_program_basic_block_of(program, sink->facts->def_at[r]), b = common;
    gpump_basic_block home, block;
    gpump_program_basic_block(program, at, &home);
    if (!home.reachable || !gpump_program_dominates(program, at, b)) return GPUMP_NONE; /* read before written */
    for (;;) {
        gpump_program_basic_block(program, b, &block);
        if (b == at || block.loop == home.loop || block.loop_depth < home.loop_depth) break;
        b = block.dominator;
    }
    return block.loop != home.loop && b != at ? (uint32_t)GPUMP_NONE : b;
}

static int gpumpi_registers_plan_sink(gpumpi_registers_sink *sink, gpumpi_arena *arena, gpumpi_insertion **insertions,
                                      uint32_t *insertion_count) {
    const gpump_program *program = sink->program;
    uint32_t registers = gpumpi_program_registers(program), count = 0, r, *common;
    if (!GPUMPI_ARENA_NEW(arena, sink->target, registers) || !GPUMPI_ARENA_NEW(arena, common, registers) ||
        !GPUMPI_ARENA_NEW(arena, *insertions, registers))
        return 0;
    gpumpi_registers_find_common(sink, common);
    for (r = 0; r < registers; r++) {
        gpump_basic_block block;
        uint32_t def_at = sink->facts->def_at[r], b, at;
        gpumpi_insertion *insertion = &(*insertions)[count];
        int stops;
        sink->target[r] = GPUMP_NONE;
        if (common[r] == GPUMP_NONE || sink->facts->defs[r] != 1) continue;
        b = gpumpi_registers_sink_block(sink, r, common[r]);
        if (b == GPUMP_NONE) continue;
        gpump_program_basic_block(program, b, &block);
        at = b == gpump_program_basic_block_of(program, def_at) ? def_at + 1 : block.first;
        while (at + 1 < block.first + block.count && !gpumpi_registers_sinks_to(program, at, r)) at++;
        stops = gpumpi_registers_sinks_to(program, at, r);
        /* A last instruction that neither reads r nor ends the block: the constant is set behind it. */
        if (!stops && gpumpi_registers_commits_with_next(program, at)) continue;
        *insertion = gpumpi_insertion_copy(program, def_at, stops ? at : at + 1);
        insertion->after_previous = !stops;
        if (insertion->before == def_at + 1 || insertion->before == def_at) continue; /* it stands there already */
        sink->target[r] = at;
        count++;
    }
    *insertion_count = count;
    if (count) qsort(*insertions, count, sizeof **insertions, gpumpi_registers_compare_insertions);
    return 1;
}

/* Folds parameters, then sinks constants. Each step makes a program of its own. */
GPUMP_API gpump_result gpumpi_registers_prepare(const gpump_program *program, const gpump_registers_config *config,
                                                gpump_program **out, gpump_registers_report *report, gpump_diag *diag) {
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    gpumpi_registers_facts facts;
    gpumpi_registers_fold fold;
    gpumpi_edit edit;
    gpump_program *folded = NULL;
    gpump_result result = GPUMP_ERROR_MEMORY;
    memset(&edit, 0, sizeof edit);
    memset(&fold, 0, sizeof fold);
    fold.program = edit.program = program;
    fold.facts = &facts;
    fold.enabled = config->fold_parameters != 0;
    if (!gpumpi_registers_find_facts(program, &scratch, &facts) || !gpumpi_registers_plan_fold(&fold, &scratch, &facts))
        goto end;
    edit.rewrite = gpumpi_registers_rewrite_fold;
    edit.user = &fold;
    result = gpumpi_program_edit(&edit, &folded, diag);
    if (result != GPUMP_OK) goto end;
    report->folded = fold.folded;
    if (config->sink) {
        gpumpi_registers_sink sink;
        gpumpi_insertion *insertions;
        gpump_program *sunk;
        result = GPUMP_ERROR_MEMORY;
        sink.program = edit.program = folded;
        sink.facts = &facts;
        if (!gpumpi_registers_find_facts(folded, &scratch, &facts) ||
            !gpumpi_registers_plan_sink(&sink, &scratch, &insertions, &edit.insertion_count))
            goto end;
        edit.insertions = insertions;
        edit.rewrite = gpumpi_registers_rewrite_sink;
        edit.user = &sink;
        edit.origin = gpump_program_origin(folded);
        result = gpumpi_program_edit(&edit, &sunk, diag);
        if (result != GPUMP_OK) goto end;
        gpump_program_destroy(folded);
        folded = sunk;
    }
    *out = folded;
    folded = NULL;
end:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail_at(diag, result, "program", 0);
    gpump_program_destroy(folded);
    gpumpi_arena_free(&scratch);
    return result;
}
#endif
