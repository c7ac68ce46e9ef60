/* program: building, checking, basic blocks, loops, aliasing */
#include "program/program_parts.h"

#ifndef GPUMP_NO_PROGRAM
#include <stdarg.h>
#include <stdio.h>

/* An instruction as stored: operands lie in the program's pool. */
typedef struct gpumpi_program_row {
    gpump_instruction instruction;
    size_t first_def, first_use;
} gpumpi_program_row;

struct gpump_program {
    gpumpi_arena arena; /* what _finish makes */
    gpumpi_program_row *rows;
    uint32_t *operands;
    uint8_t *widths;
    gpump_memory_object *objects;
    uint32_t *origin; /* of a transformed program */
    int finished;
    uint32_t basic_blocks, loops;
    uint32_t *first;    /* basic block -> instruction; one more at the end */
    uint32_t *block_of; /* instruction -> basic block */
    gpumpi_graph graph;
    uint32_t *idom, *ipdom, *enter, *leave, *loop_of;
    gpump_loop *loop;
};

GPUMP_API gpump_instruction gpump_instruction_make(uint32_t operation) {
    gpump_instruction instruction;
    memset(&instruction, 0, sizeof instruction);
    instruction.operation = operation;
    instruction.guard = instruction.target = instruction.object = GPUMP_NONE;
    return instruction;
}

GPUMP_API gpump_result gpump_program_create(const gpump_allocator *allocator, gpump_program **out) {
    gpumpi_arena arena = gpumpi_arena_make(allocator);
    gpump_program *program;
    if (!out || (allocator && !allocator->reallocate)) return GPUMP_ERROR_ARGUMENT;
    program = (gpump_program *)arena.allocator.reallocate(arena.allocator.user, NULL, 0, sizeof *program);
    if (!program) return GPUMP_ERROR_MEMORY;
    memset(program, 0, sizeof *program);
    program->arena = arena;
    *out = program;
    return GPUMP_OK;
}

GPUMP_API void gpump_program_destroy(gpump_program *program) {
    gpump_allocator allocator;
    if (!program) return;
    allocator = program->arena.allocator;
    gpumpi_arena_free(&program->arena);
    GPUMPI_ARRAY_FREE(&allocator, program->rows);
    GPUMPI_ARRAY_FREE(&allocator, program->operands);
    GPUMPI_ARRAY_FREE(&allocator, program->widths);
    GPUMPI_ARRAY_FREE(&allocator, program->objects);
    GPUMPI_ARRAY_FREE(&allocator, program->origin);
    allocator.reallocate(allocator.user, program, sizeof *program, 0);
}

GPUMP_API const gpump_allocator *gpumpi_program_allocator(const gpump_program *program) {
    return &program->arena.allocator;
}

static GPUMPI_COLD gpump_result gpumpi_program_is_finished(gpump_diag *diag) {
    return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program is finished: add to it before gpump_program_finish", 0, 1, 0,
                       0);
}

GPUMP_API gpump_result gpump_program_add_register(gpump_program *program, uint32_t width, uint32_t *reg,
                                                  gpump_diag *diag) {
    uint32_t count = gpumpi_program_registers(program);
    if (!program || !reg) return gpumpi_null(diag, "program or reg");
    if (program->finished) return gpumpi_program_is_finished(diag);
    if (width > GPUMP_WIDTH_64) return gpumpi_bad_argument(diag, "width", count, width, 0, GPUMP_WIDTH_64);
    if (count > GPUMP_OPERAND_INDEX - 1u)
        return gpumpi_fail(diag, GPUMP_ERROR_FULL, "registers", count, count, 0, GPUMP_OPERAND_INDEX - 1u);
    if (!GPUMPI_ARRAY_PUSH_HOT(&program->arena.allocator, program->widths, (uint8_t)width))
        return gpumpi_fail_at(diag, GPUMP_ERROR_MEMORY, "widths", count);
    *reg = count;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_program_add_object(gpump_program *program, const gpump_memory_object *what,
                                                uint32_t *object, gpump_diag *diag) {
    uint32_t count = gpumpi_program_objects(program);
    if (!program || !what || !object) return gpumpi_bad_argument(diag, "program, what or object", 0, 0, 1, UINT64_MAX);
    if (program->finished) return gpumpi_program_is_finished(diag);
    if (what->space >= GPUMP_SPACE_GENERIC)
        return gpumpi_bad_argument(diag, "space", count, what->space, 0, GPUMP_SPACE_TEXTURE);
    if (!GPUMPI_ARRAY_PUSH(&program->arena.allocator, program->objects, *what))
        return gpumpi_fail_at(diag, GPUMP_ERROR_MEMORY, "objects", count);
    *object = count;
    return GPUMP_OK;
}

/* ---- checking one instruction ---- */

/* Returns the gpump_width of an operand, 3 for a parameter, which fits any width, or GPUMP_NONE for an invalid one. */
static uint32_t gpumpi_program_operand_width(const gpump_program *program, uint32_t operand) {
    uint32_t index = operand & GPUMP_OPERAND_INDEX, count = (uint32_t)stbds_arrlenu(program->widths);
    if (operand & GPUMP_OPERAND_PARAMETER) return operand & GPUMP_OPERAND_PAIR ? 2u : 3u;
    if (index >= count) return GPUMP_NONE;
    if (!(operand & GPUMP_OPERAND_PAIR)) return program->widths[index];
    if (index % 2 || index + 1 >= count || program->widths[index] != GPUMP_WIDTH_32 ||
        program->widths[index + 1] != GPUMP_WIDTH_32)
        return GPUMP_NONE;
    return GPUMP_WIDTH_64;
}

typedef struct gpumpi_program_form {
    uint8_t min_defs, max_defs, min_uses, max_uses, memory, target;
} gpumpi_program_form;
/* The form of each operation. memory: 1 may access memory, 2 must name the access that it checks. target: 1 needs one.
 */
static const gpumpi_program_form gpumpi_program_forms[GPUMP_OP_COUNT] = {
    {0, 16, 0, 64, 1, 0}, {1, 1, 1, 1, 0, 0}, {1, 1, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0}, {1, 1, 1, 1, 0, 0},
    {0, 0, 0, 0, 0, 1},   {0, 0, 0, 0, 0, 0}, {0, 0, 0, 2, 0, 0}, {0, 0, 1, 1, 0, 0}, {1, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0},   {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 2, 0, 0}, {0, 0, 0, 0, 0, 0},
    {1, 1, 0, 0, 0, 0},   {1, 1, 1, 2, 2, 0}, {1, 1, 1, 1, 0, 0}, {0, 0, 0, 0, 0, 1}};

/* The highest number of `count` things. */
static uint64_t gpumpi_program_last(uint64_t count) { return count ? count - 1 : 0; }

#define GPUMPI_CHECK(condition, field, value, minimum, maximum)                                    \
    do {                                                                                           \
        if (!(condition)) return gpumpi_bad_argument(diag, field, index, value, minimum, maximum); \
    } while (0)

/* What an instruction that accesses memory says of the place. */
static gpump_result gpumpi_program_check_access(const gpump_program *program, const gpump_instruction *in,
                                                uint32_t index, gpump_diag *diag) {
    GPUMPI_CHECK(in->space < GPUMP_SPACES, "space", in->space, 0, GPUMP_SPACES - 1);
    GPUMPI_CHECK(!(in->access & GPUMP_ACCESS_WRITE) ||
                     (in->space != GPUMP_SPACE_CONSTANT && in->space != GPUMP_SPACE_TEXTURE),
                 "space", in->space, 0, GPUMP_SPACE_LOCAL);
    GPUMPI_CHECK(in->address <= GPUMP_ADDRESS_VALUE, "address", in->address, 0, GPUMP_ADDRESS_VALUE);
    GPUMPI_CHECK(in->bytes >= 1, "bytes", 0, 1, UINT32_MAX);
    if (in->object != GPUMP_NONE) {
        GPUMPI_CHECK(in->object < stbds_arrlenu(program->objects), "object", in->object, 0,
                     gpumpi_program_last(stbds_arrlenu(program->objects)));
        GPUMPI_CHECK(in->space == GPUMP_SPACE_GENERIC || program->objects[in->object].space == in->space, "space",
                     in->space, program->objects[in->object].space, program->objects[in->object].space);
    } else
        GPUMPI_CHECK(in->address == GPUMP_ADDRESS_ANYWHERE, "object", GPUMP_NONE, 0,
                     gpumpi_program_last(stbds_arrlenu(program->objects)));
    return GPUMP_OK;
}

/* What single operations ask of their operands. */
static gpump_result gpumpi_program_check_operation(const gpump_program *program, const gpump_instruction *in,
                                                   uint32_t index, gpump_diag *diag) {
    uint32_t width;
    switch (in->operation) {
    case GPUMP_OP_MOVE:
        width = gpumpi_program_operand_width(program, in->uses[0]);
        GPUMPI_CHECK(width == 3 || width == gpumpi_program_operand_width(program, in->defs[0]), "uses", width,
                     gpumpi_program_operand_width(program, in->defs[0]),
                     gpumpi_program_operand_width(program, in->defs[0]));
        break;
    case GPUMP_OP_CHECK:
        width = in->flags & GPUMP_FLAG_NO_BASE ? 1 : 2;
        GPUMPI_CHECK(in->use_count == width, "use_count", in->use_count, width, width);
        GPUMPI_CHECK(in->uses[width - 1] == in->defs[0], "uses", in->uses[width - 1], in->defs[0], in->defs[0]);
        /* fall through */
    case GPUMP_OP_CLEAR_CHECK:
    case GPUMP_OP_PAGE_ENTERED:
        width = gpumpi_program_operand_width(program, in->defs[0]);
        GPUMPI_CHECK(width == GPUMP_WIDTH_PREDICATE, "defs", width, 0, 0);
        GPUMPI_CHECK(in->operation != GPUMP_OP_PAGE_ENTERED ||
                         (in->immediate > 0 && (in->immediate & (in->immediate - 1)) == 0),
                     "immediate", (uint64_t)in->immediate, 1, UINT32_MAX);
        break;
    case GPUMP_OP_GUARDED_CALL:
        GPUMPI_CHECK(in->guard != GPUMP_NONE, "guard", GPUMP_NONE, 0,
                     gpumpi_program_last(stbds_arrlenu(program->widths)));
        break;
    default: break;
    }
    if (in->flags & GPUMP_FLAG_CHECKED) {
        GPUMPI_CHECK(in->def_count && in->use_count && in->defs[in->def_count - 1] == in->uses[in->use_count - 1],
                     "defs", in->def_count, 1, 16);
        width = gpumpi_program_operand_width(program, in->defs[in->def_count - 1]);
        GPUMPI_CHECK(width == GPUMP_WIDTH_PREDICATE, "defs", width, 0, 0);
    }
    return GPUMP_OK;
}

static gpump_result gpumpi_program_check(const gpump_program *program, const gpump_instruction *in, uint32_t index,
                                         gpump_diag *diag) {
    const gpumpi_program_form *form;
    gpump_result result;
    uint32_t i;
    GPUMPI_CHECK(in->operation < GPUMP_OP_COUNT, "operation", in->operation, 0, GPUMP_OP_COUNT - 1);
    form = &gpumpi_program_forms[in->operation];
    GPUMPI_CHECK(in->def_count >= form->min_defs && in->def_count <= form->max_defs, "def_count", in->def_count,
                 form->min_defs, form->max_defs);
    GPUMPI_CHECK(in->use_count >= form->min_uses && in->use_count <= form->max_uses, "use_count", in->use_count,
                 form->min_uses, form->max_uses);
    GPUMPI_CHECK((in->defs || !in->def_count) && (in->uses || !in->use_count), "operands", 0, 1, 1);
    for (i = 0; i < in->def_count; i++)
        GPUMPI_CHECK(!(in->defs[i] & GPUMP_OPERAND_PARAMETER) &&
                         gpumpi_program_operand_width(program, in->defs[i]) != GPUMP_NONE,
                     "defs", in->defs[i], 0, gpumpi_program_last(stbds_arrlenu(program->widths)));
    for (i = 0; i < in->use_count; i++)
        GPUMPI_CHECK(gpumpi_program_operand_width(program, in->uses[i]) != GPUMP_NONE, "uses", in->uses[i], 0,
                     gpumpi_program_last(stbds_arrlenu(program->widths)));
    GPUMPI_CHECK(!(in->flags & ~511u), "flags", in->flags, 0, 511);
    if (in->guard != GPUMP_NONE)
        GPUMPI_CHECK(in->guard < stbds_arrlenu(program->widths) && program->widths[in->guard] == GPUMP_WIDTH_PREDICATE,
                     "guard", in->guard, 0, gpumpi_program_last(stbds_arrlenu(program->widths)));
    else
        GPUMPI_CHECK(!(in->flags & GPUMP_FLAG_GUARD_NEGATED), "guard", GPUMP_NONE, 0, 0);
    GPUMPI_CHECK((in->target != GPUMP_NONE) == (form->target != 0), "target", in->target, 0, 0);
    GPUMPI_CHECK(form->memory ? in->access <= 3 : !in->access, "access", in->access, 0, form->memory ? 3 : 0);
    GPUMPI_CHECK(form->memory != 2 || in->access, "access", in->access, 1, 3);
    GPUMPI_CHECK(!(in->flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE | GPUMP_FLAG_CHECKED | GPUMP_FLAG_RESIDENT |
                                GPUMP_FLAG_NO_BASE)) ||
                     in->access,
                 "access", in->access, 1, 3);
    result = in->access ? gpumpi_program_check_access(program, in, index, diag) : GPUMP_OK;
    return result == GPUMP_OK ? gpumpi_program_check_operation(program, in, index, diag) : result;
}
#undef GPUMPI_CHECK

GPUMP_API gpump_result gpump_program_add(gpump_program *program, const gpump_instruction *in, uint32_t *index,
                                         gpump_diag *diag) {
    gpumpi_program_row row;
    uint32_t number = gpumpi_program_instructions(program), i;
    gpump_result result;
    if (!program || !in) return gpumpi_null(diag, "program or in");
    if (program->finished) return gpumpi_program_is_finished(diag);
    if (number >= GPUMP_OPERAND_INDEX)
        return gpumpi_fail(diag, GPUMP_ERROR_FULL, "instructions", number, number, 0, GPUMP_OPERAND_INDEX - 1u);
    result = gpumpi_program_check(program, in, number, diag);
    if (result != GPUMP_OK) return result;
    row.instruction = *in;
    row.instruction.defs = row.instruction.uses = NULL; /* set when read */
    row.first_def = stbds_arrlenu(program->operands);
    row.first_use = row.first_def + in->def_count;
    if (!GPUMPI_ARRAY_RESERVE_HOT(&program->arena.allocator, program->operands, in->def_count + in->use_count) ||
        !GPUMPI_ARRAY_PUSH_HOT(&program->arena.allocator, program->rows, row))
        return gpumpi_fail_at(diag, GPUMP_ERROR_MEMORY, "instructions", number);
    for (i = 0; i < in->def_count; i++) stbds_arrput(program->operands, in->defs[i]);
    for (i = 0; i < in->use_count; i++) stbds_arrput(program->operands, in->uses[i]);
    if (index) *index = number;
    return GPUMP_OK;
}

/* ---- finishing ---- */

static int gpumpi_program_ends_block(uint32_t operation) {
    return operation == GPUMP_OP_BRANCH || operation == GPUMP_OP_EXIT || operation == GPUMP_OP_GUARDED_CALL;
}
/* 1 when control can reach instruction i + 1 from i. */
static int gpumpi_program_falls_through(const gpump_instruction *in) {
    return (in->operation != GPUMP_OP_BRANCH && in->operation != GPUMP_OP_EXIT) || in->guard != GPUMP_NONE;
}

/* 1 when `target` is a START_MARKER, or what other transforms have put right before one (a boundary, a point, spill
 * code). */
static int gpumpi_program_leads_to_marker(const gpump_program *program, uint32_t target) {
    for (; target < gpumpi_program_instructions(program); target++)
        switch (program->rows[target].instruction.operation) {
        case GPUMP_OP_START_MARKER: return 1;
        case GPUMP_OP_BOUNDARY:
        case GPUMP_OP_PP:
        case GPUMP_OP_PP_DIVERGED:
        case GPUMP_OP_SPILL_LOAD:
        case GPUMP_OP_SPILL_STORE:
        case GPUMP_OP_MOVE:
        case GPUMP_OP_CONSTANT:
        case GPUMP_OP_PARAMETER: break;
        default: return 0;
        }
    return 0;
}

static gpump_result gpumpi_program_check_flow(const gpump_program *program, gpump_diag *diag) {
    uint32_t count = gpumpi_program_instructions(program), i;
    if (!count) return gpumpi_bad_argument(diag, "instructions", 0, 0, 1, GPUMP_OPERAND_INDEX);
    for (i = 0; i < count; i++) {
        const gpump_instruction *in = &program->rows[i].instruction;
        if (in->target != GPUMP_NONE && in->target >= count)
            return gpumpi_bad_argument(diag, "target", i, in->target, 0, count - 1);
        if (in->operation == GPUMP_OP_GUARDED_CALL && !gpumpi_program_leads_to_marker(program, in->target))
            return gpumpi_bad_argument(diag, "target", i, in->target, 0, count - 1);
    }
    if (gpumpi_program_falls_through(&program->rows[count - 1].instruction))
        return gpumpi_bad_argument(diag, "operation", count - 1, program->rows[count - 1].instruction.operation,
                                   GPUMP_OP_BRANCH, GPUMP_OP_EXIT);
    return GPUMP_OK;
}

/* Basic blocks and their graph; the loop numbers and trees come after. 0 out of memory. */
static int gpumpi_program_build_blocks(gpump_program *program) {
    uint32_t count = gpumpi_program_instructions(program), i, b, edges = 0;
    uint8_t *leader;
    uint32_t *from, *to;
    gpumpi_arena scratch = gpumpi_arena_make(&program->arena.allocator);
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, leader, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->block_of, count))
        goto end;
    leader[0] = 1;
    for (i = 0; i < count; i++) {
        const gpump_instruction *in = &program->rows[i].instruction;
        if (in->target != GPUMP_NONE) leader[in->target] = 1;
        if (gpumpi_program_ends_block(in->operation)) leader[i + 1] = 1;
    }
    leader[count] = 0;
    for (i = b = 0; i < count; i++) b += leader[i];
    program->basic_blocks = b;
    if (!GPUMPI_ARENA_NEW(&program->arena, program->first, (size_t)b + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, from, (size_t)b * 2) || !GPUMPI_ARENA_NEW(&scratch, to, (size_t)b * 2))
        goto end;
    for (i = b = 0; i < count; i++) {
        if (leader[i]) program->first[b++] = i;
        program->block_of[i] = b - 1;
    }
    program->first[b] = count;
    for (b = 0; b < program->basic_blocks; b++) {
        const gpump_instruction *last = &program->rows[program->first[b + 1] - 1].instruction;
        uint32_t target = last->target == GPUMP_NONE ? GPUMP_NONE : program->block_of[last->target];
        if (gpumpi_program_falls_through(last)) {
            from[edges] = b;
            to[edges++] = b + 1;
            if (target == b + 1) target = GPUMP_NONE;
        }
        if (target != GPUMP_NONE) {
            from[edges] = b;
            to[edges++] = target;
        }
    }
    ok = gpumpi_graph_build(&program->arena, &program->graph, program->basic_blocks, from, to, edges);
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

/* Post-dominators: dominators of the reversed graph from a node behind all ends. Parts that can never end get an edge
 * to it from their last block in depth-first order, so that every block has a post-dominator. */
static int gpumpi_program_build_post_dominators(gpump_program *program) {
    uint32_t blocks = program->basic_blocks, end = blocks, b, i, edges = 0, reached, top = 0;
    uint32_t *from, *to, *preorder, *number, *parent, *stack, *idom;
    uint8_t *ends, *can_end;
    gpumpi_graph reversed;
    gpumpi_arena scratch = gpumpi_arena_make(&program->arena.allocator);
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, from, (size_t)blocks * 3) || !GPUMPI_ARENA_NEW(&scratch, to, (size_t)blocks * 3) ||
        !GPUMPI_ARENA_NEW(&scratch, preorder, blocks) || !GPUMPI_ARENA_NEW(&scratch, number, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, parent, blocks) || !GPUMPI_ARENA_NEW(&scratch, stack, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, ends, blocks) || !GPUMPI_ARENA_NEW(&scratch, can_end, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, idom, (size_t)blocks + 1))
        goto end;
    reached = gpumpi_graph_search(&program->arena, &program->graph, 0, preorder, NULL, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (b = 0; b < blocks; b++) ends[b] = program->graph.succ_start[b + 1] == program->graph.succ_start[b];
    /* First every block that ends the thread; then, latest in preorder first, every block from which no end can be
     * reached yet; then the unreachable blocks. */
    for (i = 0; i < blocks + reached + blocks; i++) {
        b = i < blocks ? i : i < blocks + reached ? preorder[blocks + reached - 1 - i] : i - blocks - reached;
        if (i < blocks ? !ends[b] : can_end[b]) continue;
        ends[b] = 1;
        if (!can_end[b]) can_end[stack[top++] = b] = 1;
        while (top) {
            uint32_t at = stack[--top], e;
            for (e = program->graph.pred_start[at]; e < program->graph.pred_start[at + 1]; e++)
                if (!can_end[program->graph.pred[e]]) can_end[stack[top++] = program->graph.pred[e]] = 1;
        }
    }
    for (b = 0; b < blocks; b++) {
        uint32_t e;
        if (ends[b]) {
            from[edges] = end;
            to[edges++] = b;
        }
        for (e = program->graph.succ_start[b]; e < program->graph.succ_start[b + 1]; e++) {
            from[edges] = program->graph.succ[e];
            to[edges++] = b;
        }
    }
    if (!gpumpi_graph_build(&scratch, &reversed, blocks + 1, from, to, edges) ||
        !gpumpi_graph_dominators(&scratch, &reversed, end, idom))
        goto end;
    for (b = 0; b < blocks; b++) program->ipdom[b] = idom[b] == end ? GPUMP_NONE : idom[b];
    ok = 1;
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

static uint32_t gpumpi_program_find(uint32_t *set, uint32_t x) {
    while (set[x] != x) x = set[x] = set[set[x]];
    return x;
}

/* The search for loops: Havlak's, with what irreducible loops inside hand on. */
typedef struct gpumpi_program_loops {
    const gpumpi_graph *graph;
    const gpump_allocator *allocator;
    uint32_t *preorder, *number, *parent; /* of a depth-first search */
    uint32_t *last;                       /* block -> largest number below it in the tree of the search */
    uint32_t *set;          /* block -> header of the loop that it was joined into (gpumpi_program_find) */
    uint32_t *header;       /* block -> header of the innermost loop around it, or GPUMP_NONE */
    uint32_t *list, *stamp; /* blocks of the loop that is being found; the header that they were put for */
    uint32_t *extra_head;   /* block -> its first extra predecessor, from an irreducible loop inside */
    uint32_t *extra_next, *extra_node;
    uint8_t *irreducible, *is_header;
    uint32_t work; /* entries of list */
} gpumpi_program_nest;

/* Adds a block to the loop of w, unless it is there. */
static void gpumpi_program_join(gpumpi_program_nest *loops, uint32_t w, uint32_t v) {
    if (v != w && loops->stamp[v] != w) loops->stamp[loops->list[loops->work++] = v] = w;
}

/* Block v, or the loop that it was joined into, reaches a block of w's loop: it is of the loop, or enters it from
 * elsewhere. */
static int gpumpi_program_reaches(gpumpi_program_nest *loops, uint32_t w, uint32_t v) {
    v = gpumpi_program_find(loops->set, v);
    if (loops->number[v] >= loops->number[w] && loops->number[v] <= loops->last[w]) {
        gpumpi_program_join(loops, w, v);
        return 1;
    }
    loops->irreducible[w] = 1;
    if (!GPUMPI_ARRAY_PUSH(loops->allocator, loops->extra_next, loops->extra_head[w]) ||
        !GPUMPI_ARRAY_PUSH(loops->allocator, loops->extra_node, v))
        return 0;
    loops->extra_head[w] = (uint32_t)stbds_arrlenu(loops->extra_node) - 1;
    return 1;
}

/* Finds the blocks of the loop whose header is w, if w is one. Loops inside were found before. */
static int gpumpi_program_find_loop(gpumpi_program_nest *loops, uint32_t w) {
    const gpumpi_graph *g = loops->graph;
    const uint32_t *number = loops->number;
    uint32_t e, at;
    loops->work = 0;
    for (e = g->pred_start[w]; e < g->pred_start[w + 1]; e++) {
        uint32_t v = g->pred[e];
        if (number[v] == GPUMP_NONE || number[v] < number[w] || number[v] > loops->last[w]) continue;
        loops->is_header[w] = 1;
        gpumpi_program_join(loops, w, gpumpi_program_find(loops->set, v));
    }
    for (at = 0; at < loops->work; at++) {
        uint32_t x = loops->list[at];
        for (e = g->pred_start[x]; e < g->pred_start[x + 1]; e++) {
            uint32_t v = g->pred[e];
            if (number[v] == GPUMP_NONE) continue;
            if (number[v] >= number[x] && number[v] <= loops->last[x]) continue; /* x's own back edge */
            if (!gpumpi_program_reaches(loops, w, v)) return 0;
        }
        for (e = loops->extra_head[x]; e != GPUMP_NONE; e = loops->extra_next[e])
            if (!gpumpi_program_reaches(loops, w, loops->extra_node[e])) return 0;
    }
    for (at = 0; at < loops->work; at++) loops->header[loops->list[at]] = loops->set[loops->list[at]] = w;
    return 1;
}

/* Writes the table of loops, outer ones first, numbered by the preorder of their headers. */
static int gpumpi_program_write_loops(gpump_program *program, const gpumpi_program_nest *loops, uint32_t reached,
                                      uint32_t *of) {
    uint32_t i, b, found = 0;
    for (b = 0; b < program->basic_blocks; b++) {
        program->loop_of[b] = GPUMP_NONE;
        found += loops->is_header[b];
    }
    program->loops = found;
    if (!GPUMPI_ARENA_NEW(&program->arena, program->loop, found)) return 0;
    for (i = found = 0; i < reached; i++) {
        gpump_loop *loop;
        b = loops->preorder[i];
        if (!loops->is_header[b]) continue;
        loop = &program->loop[of[b] = found++];
        loop->header = b;
        loop->parent = loops->header[b] == GPUMP_NONE ? GPUMP_NONE : of[loops->header[b]];
        loop->depth = loop->parent == GPUMP_NONE ? 1 : program->loop[loop->parent].depth + 1;
        loop->irreducible = loops->irreducible[b];
        loop->innermost = 1;
        if (loop->parent != GPUMP_NONE) program->loop[loop->parent].innermost = 0;
    }
    for (i = 0; i < reached; i++) {
        b = loops->preorder[i];
        program->loop_of[b] = loops->is_header[b]              ? of[b]
                              : loops->header[b] == GPUMP_NONE ? GPUMP_NONE
                                                               : of[loops->header[b]];
        if (program->loop_of[b] != GPUMP_NONE) program->loop[program->loop_of[b]].blocks++;
    }
    for (i = program->loops; i-- > 0;)
        if (program->loop[i].parent != GPUMP_NONE)
            program->loop[program->loop[i].parent].blocks += program->loop[i].blocks;
    return 1;
}

/* The loop nest by Havlak's algorithm ("Nesting of reducible and irreducible loops", 1997), loops found inner before
 * outer. */
static int gpumpi_program_build_loops(gpump_program *program) {
    uint32_t blocks = program->basic_blocks, b, i, reached, *of;
    gpumpi_arena scratch = gpumpi_arena_make(&program->arena.allocator);
    gpumpi_program_nest loops;
    int ok = 0;
    memset(&loops, 0, sizeof loops);
    loops.graph = &program->graph;
    loops.allocator = &scratch.allocator;
    if (!GPUMPI_ARENA_NEW(&scratch, loops.preorder, blocks) || !GPUMPI_ARENA_NEW(&scratch, loops.number, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, loops.parent, blocks) || !GPUMPI_ARENA_NEW(&scratch, loops.last, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, loops.set, blocks) || !GPUMPI_ARENA_NEW(&scratch, loops.header, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, loops.list, blocks) || !GPUMPI_ARENA_NEW(&scratch, loops.stamp, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, loops.extra_head, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, loops.irreducible, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, loops.is_header, blocks) || !GPUMPI_ARENA_NEW(&scratch, of, blocks))
        goto end;
    reached = gpumpi_graph_search(&scratch, loops.graph, 0, loops.preorder, NULL, loops.number, loops.parent);
    if (reached == GPUMP_NONE) goto end;
    for (b = 0; b < blocks; b++) {
        loops.set[b] = b;
        loops.header[b] = loops.stamp[b] = loops.extra_head[b] = GPUMP_NONE;
        loops.last[b] = loops.number[b];
    }
    for (i = reached; i-- > 1;) {
        uint32_t below = loops.preorder[i], above = loops.parent[below];
        if (loops.last[below] > loops.last[above]) loops.last[above] = loops.last[below];
    }
    for (i = reached; i-- > 0;) /* from the inside out */
        if (!gpumpi_program_find_loop(&loops, loops.preorder[i])) goto end;
    ok = gpumpi_program_write_loops(program, &loops, reached, of);
end:
    GPUMPI_ARRAY_FREE(&scratch.allocator, loops.extra_next);
    GPUMPI_ARRAY_FREE(&scratch.allocator, loops.extra_node);
    gpumpi_arena_free(&scratch);
    return ok;
}

GPUMP_API gpump_result gpump_program_finish(gpump_program *program, gpump_diag *diag) {
    gpump_result result;
    if (!program) return gpumpi_null(diag, "program");
    if (program->finished) return gpumpi_program_is_finished(diag);
    result = gpumpi_program_check_flow(program, diag);
    if (result != GPUMP_OK) return result;
    if (!gpumpi_program_build_blocks(program) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->idom, program->basic_blocks) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->ipdom, program->basic_blocks) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->enter, program->basic_blocks) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->leave, program->basic_blocks) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->loop_of, program->basic_blocks) ||
        !gpumpi_graph_dominators(&program->arena, &program->graph, 0, program->idom) ||
        !gpumpi_graph_intervals(&program->arena, program->basic_blocks, program->idom, 0, program->enter,
                                program->leave) ||
        !gpumpi_program_build_post_dominators(program) || !gpumpi_program_build_loops(program)) {
        gpumpi_arena_free(&program->arena);
        program->basic_blocks = program->loops = 0;
        return gpumpi_fail_at(diag, GPUMP_ERROR_MEMORY, "program", 0);
    }
    program->finished = 1;
    return GPUMP_OK;
}

/* ---- reading ---- */

GPUMP_API uint32_t gpumpi_program_instructions(const gpump_program *program) {
    return program ? (uint32_t)stbds_arrlenu(program->rows) : 0;
}
GPUMP_API uint32_t gpumpi_program_registers(const gpump_program *program) {
    return program ? (uint32_t)stbds_arrlenu(program->widths) : 0;
}
GPUMP_API uint32_t gpumpi_program_objects(const gpump_program *program) {
    return program ? (uint32_t)stbds_arrlenu(program->objects) : 0;
}
GPUMP_API uint32_t gpumpi_program_basic_blocks(const gpump_program *program) {
    return program && program->finished ? program->basic_blocks : 0;
}
GPUMP_API uint32_t gpumpi_program_loops(const gpump_program *program) {
    return program && program->finished ? program->loops : 0;
}
GPUMP_API gpump_program_counts gpump_program_count(const gpump_program *program) {
    gpump_program_counts counts;
    counts.instructions = gpumpi_program_instructions(program);
    counts.registers = gpumpi_program_registers(program);
    counts.objects = gpumpi_program_objects(program);
    counts.basic_blocks = gpumpi_program_basic_blocks(program);
    counts.loops = gpumpi_program_loops(program);
    return counts;
}
GPUMP_API uint32_t gpump_program_width(const gpump_program *program, uint32_t reg) { return program->widths[reg]; }
GPUMP_API gpump_memory_object gpump_program_object(const gpump_program *program, uint32_t object) {
    return program->objects[object];
}
GPUMP_API const uint32_t *gpump_program_origin(const gpump_program *program) { return program->origin; }

GPUMP_API void gpump_program_instruction(const gpump_program *program, uint32_t index, gpump_instruction *instruction) {
    static const uint32_t none = 0; /* a program without operands has no array to point into */
    const gpumpi_program_row *row = &program->rows[index];
    GPUMPI_COUNT_STEP();
    *instruction = row->instruction;
    instruction->defs = program->operands ? program->operands + row->first_def : &none;
    instruction->uses = program->operands ? program->operands + row->first_use : &none;
}

GPUMP_API void gpump_program_basic_block(const gpump_program *program, uint32_t b, gpump_basic_block *block) {
    const gpumpi_graph *g = &program->graph;
    block->successors = g->succ + g->succ_start[b];
    block->predecessors = g->pred + g->pred_start[b];
    block->successor_count = g->succ_start[b + 1] - g->succ_start[b];
    block->predecessor_count = g->pred_start[b + 1] - g->pred_start[b];
    block->first = program->first[b];
    block->count = program->first[b + 1] - program->first[b];
    block->dominator = program->idom[b];
    block->post_dominator = program->ipdom[b];
    block->loop = program->loop_of[b];
    block->loop_depth = block->loop == GPUMP_NONE ? 0 : program->loop[block->loop].depth;
    block->reachable = program->enter[b] <= program->leave[b];
}
GPUMP_API uint32_t gpump_program_basic_block_of(const gpump_program *program, uint32_t instruction) {
    return program->block_of[instruction];
}
GPUMP_API int gpump_program_dominates(const gpump_program *program, uint32_t a, uint32_t b) {
    return a == b || (program->enter[b] <= program->leave[b] && program->enter[a] <= program->enter[b] &&
                      program->leave[b] <= program->leave[a]);
}
GPUMP_API uint32_t gpump_program_reconvergence(const gpump_program *program, uint32_t branch) {
    uint32_t b = program->ipdom[program->block_of[branch]];
    return b == GPUMP_NONE ? GPUMP_NONE : program->first[b];
}
GPUMP_API void gpump_program_loop(const gpump_program *program, uint32_t loop, gpump_loop *out) {
    *out = program->loop[loop];
}
GPUMP_API int gpump_program_in_loop(const gpump_program *program, uint32_t loop, uint32_t b) {
    uint32_t at = program->loop_of[b];
    while (at != GPUMP_NONE && at != loop) at = program->loop[at].parent;
    return at == loop;
}

/* 1 when [a, a + a_bytes) and [b, b + b_bytes) share a byte. */
static int gpumpi_program_overlap(int64_t a, uint32_t a_bytes, int64_t b, uint32_t b_bytes) {
    return a < b ? (uint64_t)b - (uint64_t)a < a_bytes : (uint64_t)a - (uint64_t)b < b_bytes;
}

GPUMP_API int gpump_program_may_alias(const gpump_program *program, uint32_t a, uint32_t b, uint32_t unit) {
    const gpump_instruction *x = &program->rows[a].instruction, *y = &program->rows[b].instruction;
    int read_only_x, read_only_y, shared;
    if (!x->access || !y->access || x->operation == GPUMP_OP_CHECK || y->operation == GPUMP_OP_CHECK) return 0;
    read_only_x = x->space == GPUMP_SPACE_CONSTANT || x->space == GPUMP_SPACE_TEXTURE;
    read_only_y = y->space == GPUMP_SPACE_CONSTANT || y->space == GPUMP_SPACE_TEXTURE;
    if (read_only_x || read_only_y) return x->space == y->space;
    if (x->space != y->space && x->space != GPUMP_SPACE_GENERIC && y->space != GPUMP_SPACE_GENERIC) return 0;
    if (x->object == GPUMP_NONE || y->object == GPUMP_NONE) { /* an object still has its own space */
        uint32_t sx = x->object == GPUMP_NONE ? x->space : program->objects[x->object].space;
        uint32_t sy = y->object == GPUMP_NONE ? y->space : program->objects[y->object].space;
        return sx == sy || sx == GPUMP_SPACE_GENERIC || sy == GPUMP_SPACE_GENERIC;
    }
    if (x->object != y->object)
        return program->objects[x->object].space == program->objects[y->object].space &&
               program->objects[x->object].alias_class == program->objects[y->object].alias_class &&
               program->objects[x->object].alias_class != GPUMP_NONE;
    if (x->address == GPUMP_ADDRESS_ANYWHERE || y->address != x->address) return 1;
    shared = unit != GPUMP_UNIT_THREAD && program->objects[x->object].space != GPUMP_SPACE_LOCAL;
    if (x->address == GPUMP_ADDRESS_FIXED) return gpumpi_program_overlap(x->offset, x->bytes, y->offset, y->bytes);
    if (x->value != y->value || gpumpi_program_overlap(x->offset, x->bytes, y->offset, y->bytes)) return 1;
    if (!shared) return 0;
    if (!x->thread_stride || x->thread_stride != y->thread_stride) return 1;
    { /* two threads lie k strides apart: is there a k that makes the ranges meet? */
        int64_t stride = x->thread_stride, apart = (y->offset - x->offset) % stride;
        if (apart < 0) apart += stride;
        return apart < (int64_t)x->bytes || stride - apart < (int64_t)y->bytes;
    }
}

static const char *const gpumpi_program_names[GPUMP_OP_COUNT] = {
    "op",           "mov",         "constant",   "param",        "add",         "bra",         "exit",
    "bar",          "spill.store", "spill.load", "idem",         "pp",          "pp.diverged", "bar.pp",
    "start_marker", "clear_check", "check",      "page_entered", "guarded_call"};

/* A listing line while it is written. */
typedef struct gpumpi_program_line {
    char *text;
    size_t bytes, length; /* room; what the line takes so far */
} gpumpi_program_line;

static void gpumpi_program_print(gpumpi_program_line *line, const char *format, ...) {
    const size_t room = line->length < line->bytes ? line->bytes - line->length : 0;
    va_list arguments;
    int printed;
    va_start(arguments, format);
    printed = vsnprintf(room ? line->text + line->length : NULL, room, format, arguments);
    va_end(arguments);
    if (printed > 0) line->length += (size_t)printed;
}

GPUMP_API size_t gpump_program_text(const gpump_program *program, uint32_t index, char *text, size_t bytes) {
    gpump_instruction in;
    gpumpi_program_line line = {text, bytes, 0};
    uint32_t i;
    gpump_program_instruction(program, index, &in);
    if (in.guard != GPUMP_NONE)
        gpumpi_program_print(&line, "@%sr%u ", in.flags & GPUMP_FLAG_GUARD_NEGATED ? "!" : "", in.guard);
    gpumpi_program_print(&line, "%s", gpumpi_program_names[in.operation]);
    if (in.operation == GPUMP_OP_COMPUTE) gpumpi_program_print(&line, "%llu", (unsigned long long)in.tag);
    if (in.operation == GPUMP_OP_BOUNDARY) gpumpi_program_print(&line, "%s", in.immediate ? ".short" : ".sparse");
    if (in.operation == GPUMP_OP_CHECK)
        gpumpi_program_print(&line, "%s", in.access & GPUMP_ACCESS_WRITE ? ".store" : ".load");
    if (in.flags & GPUMP_FLAG_CHECKED) gpumpi_program_print(&line, ".check");
    for (i = 0; i < in.def_count + in.use_count; i++) {
        uint32_t operand = i < in.def_count ? in.defs[i] : in.uses[i - in.def_count];
        gpumpi_program_print(&line, "%s%s%u%s",
                             i == 0              ? " "
                             : i == in.def_count ? " = "
                                                 : ", ",
                             operand & GPUMP_OPERAND_PARAMETER ? "c" : "r", operand & GPUMP_OPERAND_INDEX,
                             operand & GPUMP_OPERAND_PAIR ? "d" : "");
    }
    switch (in.operation) {
    case GPUMP_OP_CONSTANT:
    case GPUMP_OP_PARAMETER:
    case GPUMP_OP_SPILL_STORE:
    case GPUMP_OP_SPILL_LOAD: gpumpi_program_print(&line, " [%lld]", (long long)in.immediate); break;
    case GPUMP_OP_ADD: gpumpi_program_print(&line, " + %lld", (long long)in.immediate); break;
    case GPUMP_OP_PAGE_ENTERED:
        gpumpi_program_print(&line, " + %lld, first %u of %lld", (long long)in.displacement, in.bytes,
                             (long long)in.immediate);
        break;
    default: break;
    }
    if (in.access) gpumpi_program_print(&line, " [%+lld, %u bytes]", (long long)in.displacement, in.bytes);
    if (in.target != GPUMP_NONE) gpumpi_program_print(&line, " -> %u", in.target);
    return line.length;
}

/* ---- the changed copy ---- */

static gpump_result gpumpi_program_emit(gpump_program *out, const gpump_instruction *in, uint32_t from,
                                        gpump_diag *diag) {
    gpump_result result = gpump_program_add(out, in, NULL, diag);
    if (result != GPUMP_OK) return result;
    return GPUMPI_ARRAY_PUSH(&out->arena.allocator, out->origin, from) ? GPUMP_OK : GPUMP_ERROR_MEMORY;
}

/* Places in the new program. */
typedef struct gpumpi_edit_places {
    uint32_t *landing;  /* old instruction -> where a branch to it goes */
    uint32_t *entry;    /* old instruction -> where a branch to it from outside its loop goes */
    uint32_t *around;   /* old instruction -> where the code before it falls through to */
    uint32_t *self;     /* old instruction -> where it goes itself */
    uint32_t *inserted; /* insertion -> where it goes */
    uint8_t *dropped;   /* old instruction -> 1: it is left out */
} gpumpi_edit_places;

static gpump_result gpumpi_program_emit_insertion(gpump_program *out, const gpumpi_edit *edit, uint32_t k,
                                                  const gpumpi_edit_places *places, gpump_diag *diag) {
    gpump_instruction in = edit->insertions[k].instruction;
    in.defs = edit->insertions[k].defs;
    in.uses = edit->insertions[k].uses;
    if (in.target != GPUMP_NONE)
        in.target = in.target & GPUMPI_NEW ? places->inserted[in.target & ~GPUMPI_NEW]
                                           : places->self[in.target & ~GPUMPI_NEW_BODY];
    k = edit->insertions[k].origin;
    return gpumpi_program_emit(out, &in, k == GPUMP_NONE ? GPUMP_NONE : edit->origin ? edit->origin[k] : k, diag);
}

/* Finds the place of every old instruction and of every insertion. */
static void gpumpi_program_find_places(const gpumpi_edit *edit, gpumpi_edit_places *places) {
    const gpump_program *old = edit->program;
    uint32_t count = gpumpi_program_instructions(old), i, k, at, scratch_operands[GPUMPI_EDIT_OPERANDS];
    for (i = k = at = 0; i <= count; i++) {
        while (k < edit->insertion_count && edit->insertions[k].before == i && edit->insertions[k].after_previous)
            places->inserted[k++] = at++;
        places->around[i] = places->entry[i] = at;
        if (k < edit->insertion_count && edit->insertions[k].before == i &&
            edit->insertions[k].entry_loop != GPUMP_NONE) {
            uint32_t loop = edit->insertions[k].entry_loop;
            /* An iteration of the loop that falls through to here must jump over the code for the loop's entry. */
            if (i && gpump_program_in_loop(old, loop, old->block_of[i - 1]) &&
                gpumpi_program_falls_through(&old->rows[i - 1].instruction))
                places->entry[i] = ++at;
            while (k < edit->insertion_count && edit->insertions[k].before == i &&
                   edit->insertions[k].entry_loop != GPUMP_NONE)
                places->inserted[k++] = at++;
        }
        places->landing[i] = at;
        while (k < edit->insertion_count && edit->insertions[k].before == i) places->inserted[k++] = at++;
        places->self[i] = at;
        if (i < count) {
            gpump_instruction in;
            gpump_program_instruction(old, i, &in);
            places->dropped[i] = edit->rewrite && !edit->rewrite(edit->user, i, &in, scratch_operands);
            at += !places->dropped[i];
        }
    }
}

/* Makes the tables of an edit, and finds the places. */
static int gpumpi_program_start_edit(const gpumpi_edit *edit, gpumpi_edit_places *places, gpumpi_arena *arena) {
    uint32_t count = gpumpi_program_instructions(edit->program);
    if (!GPUMPI_ARENA_NEW(arena, places->landing, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(arena, places->entry, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(arena, places->inserted, edit->insertion_count) ||
        !GPUMPI_ARENA_NEW(arena, places->around, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(arena, places->self, (size_t)count + 1) || !GPUMPI_ARENA_NEW(arena, places->dropped, count))
        return 0;
    gpumpi_program_find_places(edit, places);
    return 1;
}

/* Registers and objects of the new program. */
static int gpumpi_program_copy_names(const gpumpi_edit *edit, gpump_program *out) {
    const gpump_program *old = edit->program;
    uint32_t registers = edit->widths ? edit->registers : gpumpi_program_registers(old), i;
    for (i = 0; i < registers; i++)
        if (!GPUMPI_ARRAY_PUSH(&out->arena.allocator, out->widths,
                               (uint8_t)(edit->widths ? edit->widths[i] : old->widths[i])))
            return 0;
    for (i = 0; i < gpumpi_program_objects(old); i++)
        if (!GPUMPI_ARRAY_PUSH(&out->arena.allocator, out->objects, old->objects[i])) return 0;
    return 1;
}

/* Emits instruction i of the old program, rewritten; a branch from inside the loop that it closes lands behind what was
 * inserted for entering. */
static gpump_result gpumpi_program_emit_old(gpump_program *out, const gpumpi_edit *edit, uint32_t i,
                                            const gpumpi_edit_places *places, gpump_diag *diag) {
    const gpump_program *old = edit->program;
    gpump_instruction in;
    uint32_t scratch_operands[GPUMPI_EDIT_OPERANDS];
    gpump_program_instruction(old, i, &in);
    if (edit->rewrite) edit->rewrite(edit->user, i, &in, scratch_operands);
    if (in.target != GPUMP_NONE) {
        uint32_t header = old->block_of[in.target], loop = old->loop_of[header];
        int inside = loop != GPUMP_NONE && old->loop[loop].header == header &&
                     gpump_program_in_loop(old, loop, old->block_of[i]);
        in.target = inside ? places->landing[in.target] : places->entry[in.target];
    }
    return gpumpi_program_emit(out, &in, edit->origin ? edit->origin[i] : i, diag);
}

GPUMP_API gpump_result gpumpi_program_unfinished(gpump_diag *diag) {
    return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program is not finished: call gpump_program_finish first", 0, 0, 1, 1);
}

GPUMP_API gpumpi_insertion gpumpi_insertion_make(uint32_t operation, uint32_t before) {
    gpumpi_insertion insertion;
    memset(&insertion, 0, sizeof insertion);
    insertion.instruction = gpump_instruction_make(operation);
    insertion.before = before;
    insertion.entry_loop = insertion.origin = GPUMP_NONE;
    return insertion;
}

GPUMP_API gpumpi_insertion gpumpi_insertion_copy(const gpump_program *program, uint32_t index, uint32_t before) {
    gpumpi_insertion insertion = gpumpi_insertion_make(GPUMP_OP_COMPUTE, before);
    gpump_program_instruction(program, index, &insertion.instruction);
    if (insertion.instruction.def_count) insertion.defs[0] = insertion.instruction.defs[0];
    if (insertion.instruction.use_count) insertion.uses[0] = insertion.instruction.uses[0];
    insertion.origin = index;
    return insertion;
}

GPUMP_API gpump_result gpumpi_program_edit(const gpumpi_edit *edit, gpump_program **result_program, gpump_diag *diag) {
    uint32_t count = gpumpi_program_instructions(edit->program), i, k;
    const gpump_allocator *allocator = &edit->program->arena.allocator;
    gpumpi_edit_places places;
    gpump_program *out = NULL;
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    gpump_result result = gpump_program_create(allocator, &out);
    if (result != GPUMP_OK) return gpumpi_fail_at(diag, result, "program", 0);
    result = GPUMP_ERROR_MEMORY;
    if (!gpumpi_program_start_edit(edit, &places, &scratch) || !gpumpi_program_copy_names(edit, out)) goto fail;
    for (i = k = 0; i <= count; i++) {
        for (; k < edit->insertion_count && edit->insertions[k].before == i && edit->insertions[k].after_previous;
             k++) {
            result = gpumpi_program_emit_insertion(out, edit, k, &places, diag);
            if (result != GPUMP_OK) goto fail;
        }
        if (places.entry[i] != places.around[i]) {
            gpump_instruction jump = gpump_instruction_make(GPUMP_OP_BRANCH);
            jump.target = places.landing[i];
            jump.flags = GPUMP_FLAG_UNIFORM;
            result = gpumpi_program_emit(out, &jump, GPUMP_NONE, diag);
            if (result != GPUMP_OK) goto fail;
        }
        for (; k < edit->insertion_count && edit->insertions[k].before == i; k++) {
            result = gpumpi_program_emit_insertion(out, edit, k, &places, diag);
            if (result != GPUMP_OK) goto fail;
        }
        if (i < count && !places.dropped[i]) {
            result = gpumpi_program_emit_old(out, edit, i, &places, diag);
            if (result != GPUMP_OK) goto fail;
        }
    }
    result = gpump_program_finish(out, diag);
    if (result != GPUMP_OK) goto fail;
    gpumpi_arena_free(&scratch);
    *result_program = out;
    return GPUMP_OK;
fail:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail_at(diag, result, "program", 0);
    gpumpi_arena_free(&scratch);
    gpump_program_destroy(out);
    return result;
}
#endif
