#include "preemption/context_view.h"

#include "sm/front_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== a kernel for gpump's analyses ==== */

struct context_view {
    gpump_program *program;
    gpump_liveness *liveness;
    uint32_t *distance;   /* by PC: instructions to the nearest point ahead; NONE: no point is ahead */
    uint32_t *live_there; /* by PC: number of registers that are live at that point */
    uint32_t instructions, registers;
    uint32_t base;      /* PC at which this version of the code begins */
    context_view *next; /* next version of the code; NULL: none */
};

/* Register r of the program is 32-bit register r of the kernel; predicates follow. A pair is two registers. The live
 * sets therefore need no translation. Liveness depends only on reads, writes and control flow. */
static uint32_t list_operand(const kernel_program *kernel, const operand *o, uint32_t *list) {
    uint32_t i;
    if (o->kind == OPERAND_PREDICATE) {
        list[0] = kernel->registers + o->index;
        return 1;
    }
    if (o->kind != OPERAND_REGISTER) return 0;
    for (i = 0; i < o->words; i++) list[i] = o->index + i;
    return o->words;
}

static gpump_result describe_instruction(const kernel_program *kernel, gpump_program *program, uint32_t index,
                                         gpump_diag *diag) {
    const instruction *in = &kernel->instructions[index];
    gpump_instruction out;
    uint32_t defs[2 * INSTRUCTION_DESTINATIONS + 1], uses[2 * INSTRUCTION_SOURCES + 1], operation = GPUMP_OP_COMPUTE, i;
    if (instruction_branches(in)) operation = GPUMP_OP_BRANCH;
    if (in->opcode == OPCODE_RET || in->opcode == OPCODE_EXIT || in->opcode == OPCODE_TRAP) operation = GPUMP_OP_EXIT;
    out = gpump_instruction_make(operation);
    for (i = 0; i < in->destination_count; i++)
        out.def_count += list_operand(kernel, &in->destinations[i], &defs[out.def_count]);
    for (i = 0; i < in->source_count; i++) out.use_count += list_operand(kernel, &in->sources[i], &uses[out.use_count]);
    if (in->check != INSTRUCTION_NONE) defs[out.def_count++] = uses[out.use_count++] = kernel->registers + in->check;
    out.defs = defs;
    out.uses = uses;
    out.tag = index;
    if (in->guard != INSTRUCTION_NONE) {
        out.guard = kernel->registers + in->guard;
        if (in->guard_negated) out.flags |= GPUMP_FLAG_GUARD_NEGATED;
    }
    if (operation == GPUMP_OP_BRANCH) {
        out.target = in->target;
        if (in->flags & FLAG_UNIFORM) out.flags |= GPUMP_FLAG_UNIFORM;
    }
    return gpump_program_add(program, &out, NULL, diag);
}

static gpump_result describe(const kernel_program *kernel, gpump_program **program, gpump_diag *diag) {
    gpump_result result = gpump_program_create(NULL, program);
    uint32_t i, reg;
    for (i = 0; i < kernel->registers && result == GPUMP_OK; i++)
        result = gpump_program_add_register(*program, GPUMP_WIDTH_32, &reg, diag);
    for (i = 0; i < kernel->predicates && result == GPUMP_OK; i++)
        result = gpump_program_add_register(*program, GPUMP_WIDTH_PREDICATE, &reg, diag);
    for (i = 0; i < kernel->count && result == GPUMP_OK; i++) result = describe_instruction(kernel, *program, i, diag);
    return result == GPUMP_OK ? gpump_program_finish(*program, diag) : result;
}

/* Computes the distances backwards along the control flow: an instruction's distance is one more than the
 * least of its successors. Passes repeat until nothing changes. */
static gpump_result measure_distances(const kernel_program *kernel, context_view *view) {
    uint64_t *live = (uint64_t *)calloc(gpump_liveness_words(view->liveness) + 1u, sizeof *live);
    uint32_t i, changed = 1;
    view->distance = (uint32_t *)malloc((kernel->count + 1u) * sizeof(uint32_t));
    view->live_there = (uint32_t *)calloc(kernel->count + 1u, sizeof(uint32_t));
    if (!live || !view->distance || !view->live_there) {
        free(live);
        return GPUMP_ERROR_MEMORY;
    }
    for (i = 0; i <= kernel->count; i++) view->distance[i] = NONE;
    for (i = 0; i < kernel->count; i++) {
        if (!instruction_is_point(&kernel->instructions[i])) continue;
        view->distance[i] = 0;
        gpump_liveness_before(view->liveness, i, live);
        gpump_liveness_count(view->liveness, live, &view->live_there[i], NULL);
    }
    while (changed) {
        changed = 0;
        for (i = kernel->count; i-- > 0;) {
            const instruction *in = &kernel->instructions[i];
            const int jumps = instruction_branches(in),
                      ends = in->opcode == OPCODE_RET || in->opcode == OPCODE_EXIT || in->opcode == OPCODE_TRAP;
            const uint32_t ways[2] = {in->guard != INSTRUCTION_NONE || (!jumps && !ends) ? i + 1 : NONE,
                                      jumps ? in->target : NONE};
            uint32_t n;
            for (n = 0; n < 2; n++) {
                if (ways[n] == NONE || view->distance[ways[n]] == NONE ||
                    view->distance[ways[n]] + 1 >= view->distance[i])
                    continue;
                view->distance[i] = view->distance[ways[n]] + 1;
                view->live_there[i] = view->live_there[ways[n]];
                changed = 1;
            }
        }
    }
    free(live);
    return GPUMP_OK;
}

context_view *context_view_create(const kernel_program *program, char error[LAUNCH_ERROR_BYTES]) {
    context_view *view = (context_view *)calloc(1, sizeof *view);
    gpump_result result = GPUMP_ERROR_MEMORY;
    gpump_diag diag;
    memset(&diag, 0, sizeof diag);
    diag.code = GPUMP_ERROR_MEMORY;
    if (view) {
        view->instructions = program->count;
        view->registers = program->registers;
        result = describe(program, &view->program, &diag);
        if (result == GPUMP_OK) result = gpump_liveness_create(view->program, NULL, &view->liveness);
        if (result == GPUMP_OK) result = measure_distances(program, view);
    }
    if (result == GPUMP_OK) return view;
    {
        char text[256];
        if (diag.code != result) gpumpi_fail(&diag, result, "analysis", 0, 0, 0, 0);
        gpump_diag_text(&diag, text, sizeof text);
        snprintf(error, LAUNCH_ERROR_BYTES, "kernel %s cannot be analysed: %s", program->name, text);
    }
    context_view_free(view);
    return NULL;
}

int context_view_append(context_view *view, const kernel_program *piece, uint32_t base,
                        char error[LAUNCH_ERROR_BYTES]) {
    while (view->next) view = view->next;
    if (!(view->next = context_view_create(piece, error))) return -1;
    view->next->base = base;
    return 0;
}

void context_view_free(context_view *view) {
    if (!view) return;
    context_view_free(view->next);
    gpump_liveness_destroy(view->liveness);
    gpump_program_destroy(view->program);
    free(view->distance);
    free(view->live_there);
    free(view);
}

/* ==== live registers ==== */

void context_live_all(const context_view *view, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]) {
    uint32_t pcs[2 * SIMT_DEPTH + 1], count = 0, i;
    memset(live, 0, CONTEXT_LIVE_WORDS * sizeof *live);
    if (!w->stack.depth) return; /* the warp has ended, so it needs no registers */
    while (view->next && simt_top(&w->stack)->pc >= view->next->base) view = view->next;
    for (i = 0; i < w->stack.depth; i++) { /* every PC at which its lanes are or reconverge */
        pcs[count++] = w->stack.entries[i].pc - view->base;
        if (w->stack.entries[i].reconvergence != SIMT_NEVER)
            pcs[count++] = w->stack.entries[i].reconvergence - view->base;
    }
    if (w->barrier != NONE) pcs[count++] = w->barrier_pc - view->base;
    gpump_liveness_stack(view->liveness, pcs, count, live);
}

/* Leaves the registers alone: the context has predicates, which follow them, in their own section. */
static void keep_registers(const kernel *k, uint64_t live[CONTEXT_LIVE_WORDS]) {
    uint32_t i = k->registers / 64;
    if (i < CONTEXT_LIVE_WORDS) live[i] &= ((uint64_t)1 << k->registers % 64) - 1;
    while (++i < CONTEXT_LIVE_WORDS) live[i] = 0;
}

void context_live(const context_view *view, const kernel *k, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]) {
    if (w->trace.block) { /* exact, because the trace is the warp's whole future */
        memset(live, 0, CONTEXT_LIVE_WORDS * sizeof *live);
        trace_live(k->program, w->trace.steps, front_end_step(w), w->trace.count, live);
        return;
    }
    context_live_all(view, w, live);
    keep_registers(k, live);
}

int context_live_union(const context_view *view, const kernel *k, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]) {
    memset(live, 0, CONTEXT_LIVE_WORDS * sizeof *live);
    if (!w->stack.depth) return 0;
    if (gpump_liveness_diverged(view->liveness, w->stack.entries[w->stack.depth - 1].pc, live) != GPUMP_OK) return -1;
    keep_registers(k, live);
    return 0;
}

uint32_t context_way(const context_view *view, uint32_t pc, uint32_t *live_there) {
    if (pc >= view->instructions) return NONE;
    *live_there = view->live_there[pc];
    return view->distance[pc];
}

/* ==== patterns ==== */

/* Returns 1 when every lane of a warp reads the same value; 0 when not, or unknown. */
static int same_in_all_lanes(const operand *o, uint32_t block_x) {
    if (o->kind != OPERAND_SPECIAL) return 1; /* registers have their own patterns */
    switch (o->index) {
    case SPECIAL_TID_Y:
    case SPECIAL_TID_Z: return block_x % LANES == 0;
    case SPECIAL_TID_X:
    case SPECIAL_LANEID:
    case SPECIAL_LANEMASK_EQ:
    case SPECIAL_LANEMASK_LE:
    case SPECIAL_LANEMASK_LT:
    case SPECIAL_LANEMASK_GE:
    case SPECIAL_LANEMASK_GT: return 0;
    default: return 1;
    }
}

/* Sets the term that an operand contributes to a sum or product. Returns 0 when it is none. */
static int term_of(const operand *o, uint32_t block_x, uint32_t *term) {
    *term = GPUMP_NONE;
    if (o->kind == OPERAND_REGISTER) *term = o->index;
    if (o->kind == OPERAND_PREDICATE) return 0;
    if (o->kind != OPERAND_SPECIAL || same_in_all_lanes(o, block_x)) return 1;
    *term = GPUMP_PATTERN_LANE;
    return o->index == SPECIAL_LANEID || (o->index == SPECIAL_TID_X && block_x % LANES == 0);
}

/* Returns whether a type is an integer of at least 32 bits: low words add and multiply modulo 2^32. */
static int is_whole_word(uint32_t type) {
    return type == TYPE_U32 || type == TYPE_S32 || type == TYPE_B32 || type == TYPE_U64 || type == TYPE_S64 ||
           type == TYPE_B64;
}

static uint32_t pattern_kind_of(const instruction *in) {
    const int whole = is_whole_word(in->type) && !(in->flags & FLAG_SATURATE);
    switch (in->opcode) {
    case OPCODE_MOV: return in->type == TYPE_F32 || whole ? GPUMP_PATTERN_OF_SUM : GPUMP_PATTERN_OF_FUNCTION;
    case OPCODE_CVTA: return GPUMP_PATTERN_OF_SUM;
    case OPCODE_CVT: return whole && is_whole_word(in->source_type) ? GPUMP_PATTERN_OF_SUM : GPUMP_PATTERN_OF_FUNCTION;
    case OPCODE_ADD:
    case OPCODE_SUB: return whole ? GPUMP_PATTERN_OF_SUM : GPUMP_PATTERN_OF_FUNCTION;
    case OPCODE_MUL:
    case OPCODE_MAD: return whole && in->variant != VARIANT_HI ? GPUMP_PATTERN_OF_PRODUCT : GPUMP_PATTERN_OF_FUNCTION;
    case OPCODE_SHL: return whole ? GPUMP_PATTERN_OF_SHIFT : GPUMP_PATTERN_OF_FUNCTION;
    case OPCODE_LD:
        return in->space == SPACE_PARAM || in->space == SPACE_CONST ? GPUMP_PATTERN_OF_FUNCTION
                                                                    : GPUMP_PATTERN_OF_NOTHING;
    case OPCODE_SHFL:
    case OPCODE_VOTE:
    case OPCODE_MATCH:
    case OPCODE_ACTIVEMASK:
    case OPCODE_ELECT:
    case OPCODE_REDUX:
    case OPCODE_MMA:
    case OPCODE_MOVMATRIX: return GPUMP_PATTERN_OF_NOTHING;
    default: return in->unit == UNIT_MEMORY ? GPUMP_PATTERN_OF_NOTHING : GPUMP_PATTERN_OF_FUNCTION;
    }
}

static void pattern_rules(const kernel_program *program, uint32_t block_x, gpump_pattern_rule *rules) {
    uint32_t i, n;
    for (i = 0; i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        gpump_pattern_rule *rule = &rules[i];
        int terms = in->source_count <= 3, same = 1;
        rule->kind = pattern_kind_of(in);
        for (n = 0; n < in->source_count; n++) {
            uint32_t term;
            terms &= term_of(&in->sources[n], block_x, &term);
            same &= same_in_all_lanes(&in->sources[n], block_x);
            if (n < 3) rule->operands[n] = term;
        }
        for (n = in->source_count; n < 3; n++) rule->operands[n] = GPUMP_NONE;
        if (rule->kind == GPUMP_PATTERN_OF_SUM && in->vector > 1 && in->destination_count == 1)
            for (n = 1; n < 3; n++) rule->operands[n] = GPUMP_NONE; /* two words are packed: the low one is the first */
        if (in->check != INSTRUCTION_NONE || in->opcode == OPCODE_BAR || !in->destination_count ||
            in->destinations[0].kind == OPERAND_NONE || in->destinations[0].bytes == 2)
            rule->kind = GPUMP_PATTERN_OF_NOTHING;
        if (!terms && rule->kind > GPUMP_PATTERN_OF_FUNCTION) rule->kind = GPUMP_PATTERN_OF_FUNCTION;
        if (!same && rule->kind <= GPUMP_PATTERN_OF_FUNCTION) rule->kind = GPUMP_PATTERN_OF_NOTHING;
    }
}

gpump_patterns *context_patterns(const context_view *view, const kernel_program *program, uint32_t block_x) {
    gpump_pattern_rule *rules = (gpump_pattern_rule *)calloc(program->count + 1u, sizeof *rules);
    gpump_patterns *patterns = NULL;
    if (rules) {
        pattern_rules(program, block_x, rules);
        if (gpump_patterns_create(view->program, view->liveness, rules, NULL, &patterns, NULL) != GPUMP_OK)
            patterns = NULL;
    }
    free(rules);
    return patterns;
}

/* Lanes of one warp may be at several PCs. A register whose pattern is known at all of them was written by
 * all lanes together. Later versions of the code have no patterns. */
uint32_t context_pattern_of(const context_view *view, const gpump_patterns *patterns, const warp *w, uint32_t reg) {
    uint32_t i, worst = GPUMP_PATTERN_UNIFORM;
    if (w->stack.depth && simt_top(&w->stack)->pc >= view->instructions) return GPUMP_PATTERN_UNKNOWN;
    for (i = 0; i < w->stack.depth; i++) {
        const uint32_t places[2] = {w->stack.entries[i].pc, w->stack.entries[i].reconvergence};
        uint32_t n;
        for (n = 0; n < 2; n++) {
            const uint32_t pattern =
                places[n] == SIMT_NEVER ? GPUMP_PATTERN_UNIFORM : gpump_patterns_before(patterns, places[n], reg);
            if (pattern > worst) worst = pattern;
        }
    }
    return worst;
}

gpump_result context_live_bytes(const context_view *view, const gpump_patterns *patterns, uint32_t index,
                                uint64_t *bytes) {
    return gpump_patterns_live_bytes(patterns, view->program, view->liveness, index, view->registers, LANES, bytes);
}
gpump_result context_live_diverged(const context_view *view, uint32_t index, uint64_t live[CONTEXT_LIVE_WORDS]) {
    memset(live, 0, CONTEXT_LIVE_WORDS * sizeof *live);
    return gpump_liveness_diverged(view->liveness, index, live);
}
