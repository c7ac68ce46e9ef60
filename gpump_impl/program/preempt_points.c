/* preempt_points: selective preemption */
#include "program/program_parts.h"
#include "program/preempt_points.h"

#ifndef GPUMP_NO_PROGRAM

static gpump_result gpumpi_preempt_points_preset(void *filled, const char *preset) {
    gpump_preempt_points_config *config = (gpump_preempt_points_config *)filled;
    if (strcmp(preset, "lin")) return GPUMP_ERROR_UNKNOWN_NAME;
    config->interval = 100;
    return GPUMP_OK;
}

GPUMP_API uint32_t gpumpi_live_vector_count(uint64_t vector, uint32_t registers) {
    uint32_t count = gpumpi_bits_count64(vector & (GPUMP_LIVE_VECTOR_REST - 1));
    return vector & GPUMP_LIVE_VECTOR_REST && registers > GPUMP_LIVE_VECTOR_REGISTERS
               ? count + registers - GPUMP_LIVE_VECTOR_REGISTERS
               : count;
}

/* The points chosen so far, per instruction. */
typedef struct gpumpi_preempt_plan {
    const gpump_program *program;
    uint32_t *live;   /* 32-bit registers live before each instruction */
    uint8_t *pp;      /* 1: a pp stands before the instruction; 2: the instruction is a barrier chosen as a point */
    uint32_t *loop;   /* the innermost loop that the point is for, or GPUMP_NONE */
    uint32_t *number; /* index of the point at this barrier */
} gpumpi_preempt_plan;

static int gpumpi_preempt_is_barrier(const gpump_program *program, uint32_t i) {
    gpump_instruction in;
    gpump_program_instruction(program, i, &in);
    return in.operation == GPUMP_OP_BARRIER;
}
/* 1 when instruction i must stay right behind the instruction before it. */
static int gpumpi_preempt_is_glued(const gpump_program *program, uint32_t i) {
    gpump_instruction in;
    gpump_program_instruction(program, i, &in);
    return in.operation == GPUMP_OP_BOUNDARY || in.operation == GPUMP_OP_GUARDED_CALL;
}

/* Takes instruction i for *best when it is the better place: a barrier before any other instruction, then fewer live
 * registers, then the earlier place. */
static void gpumpi_preempt_consider(const gpumpi_preempt_plan *plan, uint32_t i, uint32_t *best, int *best_is_barrier) {
    int barrier = gpumpi_preempt_is_barrier(plan->program, i);
    if (!barrier && (*best_is_barrier || gpumpi_preempt_is_glued(plan->program, i))) return;
    if (*best != GPUMP_NONE && barrier == *best_is_barrier && plan->live[i] >= plan->live[*best]) return;
    *best = i;
    *best_is_barrier = barrier;
}

static void gpumpi_preempt_choose(gpumpi_preempt_plan *plan, uint32_t best, int barrier, uint32_t loop) {
    if (best == GPUMP_NONE) return;
    plan->pp[best] = barrier ? 2 : 1;
    plan->loop[best] = loop;
}

/* One point for each innermost loop: its blocks are visited once, all loops together. */
static int gpumpi_preempt_loops(gpumpi_preempt_plan *plan, gpumpi_arena *scratch) {
    const gpump_program *program = plan->program;
    uint32_t loops = gpumpi_program_loops(program), b, i, l, *best;
    int *barrier;
    if (!GPUMPI_ARENA_NEW(scratch, best, loops) || !GPUMPI_ARENA_NEW(scratch, barrier, loops)) return 0;
    for (l = 0; l < loops; l++) best[l] = GPUMP_NONE;
    for (b = 0; b < gpumpi_program_basic_blocks(program); b++) {
        gpump_basic_block block, header;
        gpump_loop loop;
        int always = 1;
        gpump_program_basic_block(program, b, &block);
        if (block.loop == GPUMP_NONE) continue;
        gpump_program_loop(program, block.loop, &loop);
        if (!loop.innermost) continue;
        gpump_program_basic_block(program, loop.header, &header);
        for (i = 0; i < header.predecessor_count && b != loop.header; i++) /* does every iteration pass b? */
            if (gpump_program_in_loop(program, block.loop, header.predecessors[i]))
                always &= gpump_program_dominates(program, b, header.predecessors[i]);
        for (i = block.first; i < block.first + block.count; i++)
            if (always || gpumpi_preempt_is_barrier(program, i))
                gpumpi_preempt_consider(plan, i, &best[block.loop], &barrier[block.loop]);
    }
    for (l = 0; l < loops; l++) gpumpi_preempt_choose(plan, best[l], barrier[l], l);
    return 1;
}

/* One point for each K instructions outside innermost loops. */
static void gpumpi_preempt_rest(gpumpi_preempt_plan *plan, uint32_t interval) {
    const gpump_program *program = plan->program;
    uint32_t i, seen = 0, best = GPUMP_NONE;
    int barrier = 0;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, gpump_program_basic_block_of(program, i), &block);
        if (!block.reachable) continue;
        if (block.loop != GPUMP_NONE) {
            gpump_loop loop;
            gpump_program_loop(program, block.loop, &loop);
            if (loop.innermost) continue;
        }
        gpumpi_preempt_consider(plan, i, &best, &barrier);
        if (++seen < interval) continue;
        gpumpi_preempt_choose(plan, best, barrier, GPUMP_NONE);
        best = GPUMP_NONE;
        seen = 0;
        barrier = 0;
    }
}

/* A live set as the instruction word has it: registers in vector and count, predicates apart. */
static void gpumpi_preempt_vector(const gpump_program *program, const uint64_t *set, uint64_t *vector,
                                  uint64_t *predicates, uint32_t *count) {
    uint32_t r, first = 0, registers = gpumpi_program_registers(program);
    *vector = *predicates = 0;
    *count = 0;
    while (first < registers && gpump_program_width(program, first) == GPUMP_WIDTH_32) first++;
    for (r = 0; r < registers; r++) {
        if (!gpump_bits_get(set, r)) continue;
        if (r >= first) {
            *predicates |= UINT64_C(1) << (r - first);
            continue;
        }
        ++*count;
        *vector |= UINT64_C(1) << (r < GPUMP_LIVE_VECTOR_REGISTERS ? r : GPUMP_LIVE_VECTOR_REGISTERS);
    }
}

static int gpumpi_preempt_rewrite(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_preempt_plan *plan = (const gpumpi_preempt_plan *)user;
    (void)scratch;
    if (in->operation == GPUMP_OP_BARRIER) {
        in->operation = GPUMP_OP_BARRIER_PP;
        in->immediate = plan->number[index];
    }
    return 1;
}

/* Registers must be 32-bit ones first, then predicates. */
static gpump_result gpumpi_preempt_check(const gpump_program *program, gpump_diag *diag) {
    uint32_t r, first = 0, registers = gpumpi_program_registers(program), i;
    while (first < registers && gpump_program_width(program, first) == GPUMP_WIDTH_32) first++;
    for (r = first; r < registers; r++)
        if (gpump_program_width(program, r) != GPUMP_WIDTH_PREDICATE || r - first >= 64)
            return gpumpi_bad_argument(diag, "registers", r, gpump_program_width(program, r), 0, 0);
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_PP || in.operation == GPUMP_OP_BARRIER_PP)
            return gpumpi_bad_argument(diag, "operation", i, in.operation, 0, GPUMP_OP_BARRIER);
    }
    return GPUMP_OK;
}

/* Refuses what gpump_preempt_points_place cannot take. */
static gpump_result gpumpi_preempt_refuse(const gpump_program *program, const gpump_preempt_points_config *config,
                                          int has_room, gpump_diag *diag) {
    if (!program || !config || !has_room)
        return gpumpi_bad_argument(diag, "program, config or result", 0, 0, 1, UINT64_MAX);
    if (!gpumpi_program_basic_blocks(program)) return gpumpi_program_unfinished(diag);
    if (!config->interval) return gpumpi_bad_config(diag, "interval", 0, 0, 1, UINT32_MAX);
    return gpumpi_preempt_check(program, diag);
}

/* Makes the tables of a program, and says where its points are. */
static int gpumpi_preempt_make_plan(gpumpi_preempt_plan *plan, const gpump_liveness *liveness, uint32_t interval,
                                    gpumpi_arena *arena) {
    uint32_t instructions = gpumpi_program_instructions(plan->program);
    if (!GPUMPI_ARENA_NEW(arena, plan->live, instructions) || !GPUMPI_ARENA_NEW(arena, plan->pp, instructions) ||
        !GPUMPI_ARENA_NEW(arena, plan->loop, instructions) || !GPUMPI_ARENA_NEW(arena, plan->number, instructions) ||
        gpump_liveness_pressure(liveness, plan->live, NULL, NULL, NULL) != GPUMP_OK ||
        !gpumpi_preempt_loops(plan, arena))
        return 0;
    gpumpi_preempt_rest(plan, interval);
    return 1;
}

/* Describes the points in the order of their instructions, and makes the two instructions of each that is no barrier.
 */
static int gpumpi_preempt_describe(gpumpi_preempt_plan *plan, const gpump_liveness *liveness, gpumpi_arena *arena,
                                   gpump_preempt_point *list, gpumpi_insertion *insertions) {
    const gpump_program *program = plan->program;
    gpumpi_liveness_search search = {NULL, NULL, 0};
    uint64_t *set;
    uint32_t i, n = 0, at = 0;
    if (!GPUMPI_ARENA_NEW(arena, set, gpump_liveness_words(liveness))) return 0;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_preempt_point *point = &list[n];
        int barrier = gpumpi_preempt_is_barrier(program, i);
        if (plan->pp[i] != 1 && !barrier) continue;
        point->kind = !barrier           ? GPUMP_PREEMPT_PP
                      : plan->pp[i] == 2 ? GPUMP_PREEMPT_BARRIER
                                         : GPUMP_PREEMPT_BARRIER_WAIT;
        point->loop = plan->pp[i] ? plan->loop[i] : (uint32_t)GPUMP_NONE;
        gpump_liveness_before(liveness, i, set);
        gpumpi_preempt_vector(program, set, &point->vector, &point->predicates, &point->live_registers);
        if (!barrier && !gpumpi_liveness_diverged(liveness, i, &search, arena, set)) return 0;
        gpumpi_preempt_vector(program, set, &point->vector_diverged, &point->predicates_diverged,
                              &point->live_diverged);
        if (barrier)
            plan->number[i] = n;
        else {
            insertions[at] = gpumpi_insertion_make(GPUMP_OP_PP, i);
            insertions[at++].instruction.immediate = n;
            insertions[at] = gpumpi_insertion_make(GPUMP_OP_PP_DIVERGED, i);
            insertions[at++].instruction.immediate = n;
        }
        n++;
    }
    return 1;
}

GPUMP_API gpump_result gpump_preempt_points_place(const gpump_program *program,
                                                  const gpump_preempt_points_config *config, gpump_program **placed,
                                                  gpump_preempt_point *points, uint32_t capacity, uint32_t *count,
                                                  gpump_diag *diag) {
    gpumpi_arena scratch;
    gpumpi_preempt_plan plan;
    gpumpi_insertion *insertions;
    gpump_preempt_point *list;
    gpump_liveness *liveness = NULL;
    gpumpi_edit edit;
    uint32_t i, n, at;
    gpump_result result = gpumpi_preempt_refuse(program, config, placed && count && (points || !capacity), diag);
    if (result != GPUMP_OK) return result;
    scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    plan.program = program;
    result = gpump_liveness_create(program, gpumpi_program_allocator(program), &liveness);
    if (result != GPUMP_OK) goto end;
    result = GPUMP_ERROR_MEMORY;
    if (!gpumpi_preempt_make_plan(&plan, liveness, config->interval, &scratch)) goto end;
    for (i = n = at = 0; i < gpumpi_program_instructions(program); i++) {
        at += plan.pp[i] == 1;
        n += plan.pp[i] == 1 || gpumpi_preempt_is_barrier(program, i);
    }
    if (n > capacity) {
        *count = n;
        result = gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "points", 0, capacity, n, UINT32_MAX);
        goto end;
    }
    if (!GPUMPI_ARENA_NEW(&scratch, list, n) || !GPUMPI_ARENA_NEW(&scratch, insertions, (size_t)at * 2) ||
        !gpumpi_preempt_describe(&plan, liveness, &scratch, list, insertions))
        goto end;
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = insertions;
    edit.insertion_count = 2 * at;
    edit.rewrite = gpumpi_preempt_rewrite;
    edit.user = &plan;
    result = gpumpi_program_edit(&edit, placed, diag);
    if (result != GPUMP_OK) goto end;
    for (i = 0; i < gpumpi_program_instructions(*placed); i++) {
        gpump_instruction in;
        gpump_program_instruction(*placed, i, &in);
        if (in.operation == GPUMP_OP_PP || in.operation == GPUMP_OP_BARRIER_PP) list[in.immediate].instruction = i;
    }
    if (n) memcpy(points, list, n * sizeof *points);
    *count = n;
end:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail_at(diag, result, "program", 0);
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}
/* clang-format off */
static const gpumpi_methods gpumpi_preempt_points_hooks = {
    "preempt_points", "program", 0,
    GPUMP_LAYOUT_PROGRAM, sizeof(gpump_preempt_points_config), 0, 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_preempt_points_preset, NULL, NULL, NULL, NULL,
    /* set_up, unfit, check, hash */
    NULL, NULL, NULL, NULL,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_preempt_points_methods(void) { return &gpumpi_preempt_points_hooks; }
#endif
