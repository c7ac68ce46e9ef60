/* liveness: one walk per register, up from its uses; control dependences for divergence */
#include "program/program_parts.h"
#include "program/liveness.h"

#ifndef GPUMP_NO_PROGRAM

struct gpump_liveness {
    gpumpi_arena arena;
    const gpump_program *program;
    uint32_t words;
    uint32_t *in_start, *in, *out_start, *out; /* basic block -> registers */
    uint32_t *control_start, *control;         /* basic block -> blocks whose branch decides whether it runs */
    /* Samples: the registers live before some instructions inside long basic blocks, so that no query walks far.
     * sample_at[] holds these instructions, the last first. The registers of sample k are sample[] from
     * sample_start[k] to sample_start[k + 1] - 1. */
    uint32_t *sample_at, *sample_start, *sample;
};

/* The least distance between two samples of one basic block, in instructions. Larger: slower queries. Smaller: more
 * memory. */
#define GPUMPI_LIVENESS_SPACING 64u

/* Pairs under construction. */
typedef struct gpumpi_liveness_pairs {
    uint32_t *key, *value;
} gpumpi_liveness_pairs;

static GPUMPI_CALLED int gpumpi_liveness_push(const gpump_allocator *allocator, gpumpi_liveness_pairs *pairs,
                                              uint32_t key, uint32_t value) {
    return GPUMPI_ARRAY_PUSH_HOT(allocator, pairs->key, key) && GPUMPI_ARRAY_PUSH_HOT(allocator, pairs->value, value);
}
static void gpumpi_liveness_free_pairs(const gpump_allocator *allocator, gpumpi_liveness_pairs *pairs) {
    GPUMPI_ARRAY_FREE(allocator, pairs->key);
    GPUMPI_ARRAY_FREE(allocator, pairs->value);
}
static int gpumpi_liveness_group(gpumpi_arena *arena, const gpumpi_liveness_pairs *pairs, uint32_t keys,
                                 uint32_t **start, uint32_t **out) {
    return gpumpi_group(arena, keys, pairs->key, pairs->value, stbds_arrlenu(pairs->key), start, out);
}

/* Finds, per register, the blocks that read it before writing it and those that write it whole. */
static int gpumpi_liveness_scan(const gpump_program *program, const gpump_allocator *allocator, gpumpi_arena *scratch,
                                gpumpi_liveness_pairs *exposed, gpumpi_liveness_pairs *kills) {
    uint32_t b, i, k, blocks = gpumpi_program_basic_blocks(program), registers = gpumpi_program_registers(program),
                      *killed, *read;
    if (!GPUMPI_ARENA_NEW(scratch, killed, registers) || !GPUMPI_ARENA_NEW(scratch, read, registers)) return 0;
    for (i = 0; i < registers; i++) killed[i] = read[i] = GPUMP_NONE;
    for (b = 0; b < blocks; b++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            gpump_instruction in;
            int ok = 1;
            gpump_program_instruction(program, i, &in);
            for (k = 0; k <= in.use_count; k++) {
                uint32_t operand = k < in.use_count ? in.uses[k] : in.guard;
                if (operand == GPUMP_NONE) continue;
                GPUMPI_OPERAND_REGISTERS(
                    operand, reg, if (killed[reg] != b && read[reg] != b) {
                        read[reg] = b;
                        ok = ok && gpumpi_liveness_push(allocator, exposed, reg, b);
                    });
            }
            for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
                GPUMPI_OPERAND_REGISTERS(
                    in.defs[k], reg, if (killed[reg] != b) {
                        killed[reg] = b;
                        ok = ok && gpumpi_liveness_push(allocator, kills, reg, b);
                    });
            if (!ok) return 0;
        }
    }
    return 1;
}

static int gpumpi_liveness_solve(gpump_liveness *liveness) {
    const gpump_program *program = liveness->program;
    const gpump_allocator *allocator = &liveness->arena.allocator;
    uint32_t blocks = gpumpi_program_basic_blocks(program), registers = gpumpi_program_registers(program), r, i, top,
             *exposed_start, *exposed_block, *kill_start, *kill_block, *kill, *in_mark, *out_mark, *stack;
    gpumpi_liveness_pairs exposed = {NULL, NULL}, kills = {NULL, NULL}, in = {NULL, NULL}, out = {NULL, NULL};
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    int ok = 0;
    if (!gpumpi_liveness_scan(program, allocator, &scratch, &exposed, &kills) ||
        !gpumpi_liveness_group(&scratch, &exposed, registers, &exposed_start, &exposed_block) ||
        !gpumpi_liveness_group(&scratch, &kills, registers, &kill_start, &kill_block) ||
        !GPUMPI_ARENA_NEW(&scratch, kill, blocks) || !GPUMPI_ARENA_NEW(&scratch, in_mark, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, out_mark, blocks) || !GPUMPI_ARENA_NEW(&scratch, stack, blocks))
        goto end;
    for (i = 0; i < blocks; i++) kill[i] = in_mark[i] = out_mark[i] = GPUMP_NONE;
    for (r = 0; r < registers; r++) {
        for (i = kill_start[r]; i < kill_start[r + 1]; i++) kill[kill_block[i]] = r;
        for (i = exposed_start[r], top = 0; i < exposed_start[r + 1]; i++) in_mark[stack[top++] = exposed_block[i]] = r;
        while (top) {
            gpump_basic_block block;
            uint32_t b = stack[--top];
            gpump_program_basic_block(program, b, &block);
            if (!gpumpi_liveness_push(allocator, &in, b, r)) goto end;
            for (i = 0; i < block.predecessor_count; i++) {
                uint32_t p = block.predecessors[i];
                if (out_mark[p] != r) {
                    out_mark[p] = r;
                    if (!gpumpi_liveness_push(allocator, &out, p, r)) goto end;
                }
                if (kill[p] != r && in_mark[p] != r) in_mark[stack[top++] = p] = r;
            }
        }
    }
    ok = gpumpi_liveness_group(&liveness->arena, &in, blocks, &liveness->in_start, &liveness->in) &&
         gpumpi_liveness_group(&liveness->arena, &out, blocks, &liveness->out_start, &liveness->out);
end:
    gpumpi_liveness_free_pairs(allocator, &exposed);
    gpumpi_liveness_free_pairs(allocator, &kills);
    gpumpi_liveness_free_pairs(allocator, &in);
    gpumpi_liveness_free_pairs(allocator, &out);
    gpumpi_arena_free(&scratch);
    return ok;
}

/* Block x depends on the end of block d when x post-dominates a successor of d but not d itself. (A block with one
 * successor can have such an x too, where an endless part was given an end.) */
static int gpumpi_liveness_control(gpump_liveness *liveness) {
    const gpump_program *program = liveness->program;
    const gpump_allocator *allocator = &liveness->arena.allocator;
    uint32_t blocks = gpumpi_program_basic_blocks(program), d, i, x;
    gpumpi_liveness_pairs pairs = {NULL, NULL};
    int ok = 1;
    for (d = 0; d < blocks && ok; d++) {
        gpump_basic_block block, at;
        gpump_program_basic_block(program, d, &block);
        for (i = 0; i < block.successor_count; i++)
            for (x = block.successors[i]; x != GPUMP_NONE && x != block.post_dominator && ok; x = at.post_dominator) {
                ok = gpumpi_liveness_push(allocator, &pairs, x, d);
                gpump_program_basic_block(program, x, &at);
            }
    }
    ok = ok && gpumpi_liveness_group(&liveness->arena, &pairs, blocks, &liveness->control_start, &liveness->control);
    gpumpi_liveness_free_pairs(allocator, &pairs);
    return ok;
}

/* Registers that a walk up a basic block has met, and how many of them are live. */
typedef struct gpumpi_liveness_walk {
    uint32_t *list, listed, live;
    uint8_t *state; /* register -> 0: not in the list; 1: in the list, dead; 2: in the list, live */
} gpumpi_liveness_walk;

static void gpumpi_liveness_met(gpumpi_liveness_walk *walk, uint32_t reg, int live) {
    if (live && !walk->state[reg]) walk->list[walk->listed++] = reg;
    walk->live += (uint32_t)live - (walk->state[reg] == 2);
    if (live || walk->state[reg]) walk->state[reg] = (uint8_t)(1 + live);
}
/* Takes registers that are dead, or all where `all` is 1, out of the list. */
static void gpumpi_liveness_drop(gpumpi_liveness_walk *walk, int all) {
    uint32_t i, kept = 0;
    for (i = 0; i < walk->listed; i++)
        if (walk->state[walk->list[i]] == 2 && !all)
            walk->list[kept++] = walk->list[i];
        else
            walk->state[walk->list[i]] = 0;
    walk->listed = kept;
    if (all) walk->live = 0;
}

/* Walks up basic block b and takes its samples. A sample stands at least as many instructions before the next one as it
 * has registers, so that all samples together are no longer than the program. */
static int gpumpi_liveness_sample_block(gpump_liveness *liveness, uint32_t b, gpumpi_liveness_walk *walk) {
    const gpump_allocator *allocator = &liveness->arena.allocator;
    uint32_t i, k, last;
    gpump_basic_block block;
    gpump_program_basic_block(liveness->program, b, &block);
    if (block.count <= GPUMPI_LIVENESS_SPACING) return 1;
    for (i = liveness->out_start[b]; i < liveness->out_start[b + 1]; i++)
        gpumpi_liveness_met(walk, liveness->out[i], 1);
    for (i = last = block.first + block.count; i-- > block.first + 1;) {
        gpump_instruction in;
        gpump_program_instruction(liveness->program, i, &in);
        for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
            GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, gpumpi_liveness_met(walk, reg, 0));
        for (k = 0; k < in.use_count; k++) GPUMPI_OPERAND_REGISTERS(in.uses[k], reg, gpumpi_liveness_met(walk, reg, 1));
        if (in.guard != GPUMP_NONE) gpumpi_liveness_met(walk, in.guard, 1);
        if (last - i < GPUMPI_LIVENESS_SPACING || last - i < walk->live) continue;
        gpumpi_liveness_drop(walk, 0);
        if (!GPUMPI_ARRAY_PUSH(allocator, liveness->sample_at, i) ||
            !GPUMPI_ARRAY_RESERVE(allocator, liveness->sample, walk->listed))
            return 0;
        for (k = 0; k < walk->listed; k++) stbds_arrput(liveness->sample, walk->list[k]);
        if (!GPUMPI_ARRAY_PUSH(allocator, liveness->sample_start, (uint32_t)stbds_arrlenu(liveness->sample))) return 0;
        last = i;
    }
    gpumpi_liveness_drop(walk, 1);
    return 1;
}

static int gpumpi_liveness_take_samples(gpump_liveness *liveness) {
    uint32_t registers = gpumpi_program_registers(liveness->program), b;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    gpumpi_liveness_walk walk = {NULL, 0, 0, NULL};
    int ok = GPUMPI_ARENA_NEW(&scratch, walk.list, registers) && GPUMPI_ARENA_NEW(&scratch, walk.state, registers) &&
             GPUMPI_ARRAY_PUSH(&liveness->arena.allocator, liveness->sample_start, 0u);
    for (b = gpumpi_program_basic_blocks(liveness->program); ok && b-- > 0;)
        ok = gpumpi_liveness_sample_block(liveness, b, &walk);
    gpumpi_arena_free(&scratch);
    return ok;
}

/* Finds the nearest place at or behind instruction `point` of basic block b whose live registers are listed: a sample,
 * or the block's end. Sets *list and *count to the registers live there, and returns the instruction that the place
 * stands before. */
static uint32_t gpumpi_liveness_known(const gpump_liveness *liveness, uint32_t b, uint32_t point, const uint32_t **list,
                                      uint32_t *count) {
    uint32_t low = 0, high = (uint32_t)stbds_arrlenu(liveness->sample_at), end;
    gpump_basic_block block;
    gpump_program_basic_block(liveness->program, b, &block);
    end = block.first + block.count;
    while (low < high) { /* samples below `low` stand at or behind the point, samples from `high` on before it */
        uint32_t middle = low + (high - low) / 2;
        if (liveness->sample_at[middle] >= point)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && liveness->sample_at[low - 1] < end) {
        *count = liveness->sample_start[low] - liveness->sample_start[low - 1];
        *list = *count ? liveness->sample + liveness->sample_start[low - 1] : NULL;
        return liveness->sample_at[low - 1];
    }
    gpumpi_liveness_block_out(liveness, b, list, count);
    return end;
}

GPUMP_API gpump_result gpump_liveness_create(const gpump_program *program, const gpump_allocator *allocator,
                                             gpump_liveness **out) {
    gpumpi_arena arena = gpumpi_arena_make(allocator);
    gpump_liveness *liveness;
    if (!program || !out) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_program_basic_blocks(program)) return GPUMP_ERROR_STATE;
    liveness = (gpump_liveness *)arena.allocator.reallocate(arena.allocator.user, NULL, 0, sizeof *liveness);
    if (!liveness) return GPUMP_ERROR_MEMORY;
    memset(liveness, 0, sizeof *liveness);
    liveness->arena = arena;
    liveness->program = program;
    liveness->words = gpump_bits_words(gpumpi_program_registers(program));
    if (!gpumpi_liveness_solve(liveness) || !gpumpi_liveness_control(liveness) ||
        !gpumpi_liveness_take_samples(liveness)) {
        gpump_liveness_destroy(liveness);
        return GPUMP_ERROR_MEMORY;
    }
    *out = liveness;
    return GPUMP_OK;
}

GPUMP_API void gpump_liveness_destroy(gpump_liveness *liveness) {
    gpump_allocator allocator;
    if (!liveness) return;
    allocator = liveness->arena.allocator;
    GPUMPI_ARRAY_FREE(&allocator, liveness->sample_at);
    GPUMPI_ARRAY_FREE(&allocator, liveness->sample_start);
    GPUMPI_ARRAY_FREE(&allocator, liveness->sample);
    gpumpi_arena_free(&liveness->arena);
    allocator.reallocate(allocator.user, liveness, sizeof *liveness, 0);
}

GPUMP_API uint32_t gpump_liveness_words(const gpump_liveness *liveness) { return liveness->words; }

GPUMP_API void gpumpi_liveness_block_in(const gpump_liveness *liveness, uint32_t b, const uint32_t **registers,
                                        uint32_t *count) {
    *count = liveness->in_start[b + 1] - liveness->in_start[b];
    *registers = *count ? liveness->in + liveness->in_start[b] : NULL;
}
GPUMP_API void gpumpi_liveness_block_out(const gpump_liveness *liveness, uint32_t b, const uint32_t **registers,
                                         uint32_t *count) {
    *count = liveness->out_start[b + 1] - liveness->out_start[b];
    *registers = *count ? liveness->out + liveness->out_start[b] : NULL;
}

/* One step upwards over an instruction. */
static void gpumpi_liveness_step(const gpump_instruction *in, uint64_t *set) {
    uint32_t k;
    for (k = 0; k < in->def_count && gpumpi_kills(in); k++)
        GPUMPI_OPERAND_REGISTERS(in->defs[k], reg, gpump_bits_clear(set, reg));
    for (k = 0; k < in->use_count; k++) GPUMPI_OPERAND_REGISTERS(in->uses[k], reg, gpump_bits_set(set, reg));
    if (in->guard != GPUMP_NONE) gpump_bits_set(set, in->guard);
}

/* Sets set[] to what is live before instruction `index`, or behind it when `behind` is 1. */
static void gpumpi_liveness_at(const gpump_liveness *liveness, uint32_t index, int behind, uint64_t *set) {
    uint32_t b = gpump_program_basic_block_of(liveness->program, index), point = index + (uint32_t)behind, i, known,
             count;
    const uint32_t *list;
    memset(set, 0, liveness->words * sizeof *set);
    known = gpumpi_liveness_known(liveness, b, point, &list, &count);
    for (i = 0; i < count; i++) gpump_bits_set(set, list[i]);
    for (i = known; i-- > point;) {
        gpump_instruction in;
        gpump_program_instruction(liveness->program, i, &in);
        gpumpi_liveness_step(&in, set);
    }
}
GPUMP_API void gpump_liveness_before(const gpump_liveness *liveness, uint32_t index, uint64_t *set) {
    gpumpi_liveness_at(liveness, index, 0, set);
}
GPUMP_API uint32_t gpumpi_liveness_list(const gpump_liveness *liveness, uint32_t index, int behind, uint32_t *stamp,
                                        uint32_t mark, uint32_t *list) {
    uint32_t b = gpump_program_basic_block_of(liveness->program, index), point = index + (uint32_t)behind, i, k, known,
             touched = 0, kept = 0, count;
    const uint32_t *live;
#define GPUMPI_TOUCH(reg, is_live)                             \
    do {                                                       \
        if ((stamp[reg] & ~1u) != mark) list[touched++] = reg; \
        stamp[reg] = mark + (is_live);                         \
    } while (0)
    known = gpumpi_liveness_known(liveness, b, point, &live, &count);
    for (i = 0; i < count; i++) GPUMPI_TOUCH(live[i], 1);
    for (i = known; i-- > point;) {
        gpump_instruction in;
        gpump_program_instruction(liveness->program, i, &in);
        for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
            GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, GPUMPI_TOUCH(reg, 0));
        for (k = 0; k < in.use_count; k++) GPUMPI_OPERAND_REGISTERS(in.uses[k], reg, GPUMPI_TOUCH(reg, 1));
        if (in.guard != GPUMP_NONE) GPUMPI_TOUCH(in.guard, 1);
    }
#undef GPUMPI_TOUCH
    for (i = 0; i < touched; i++)
        if (stamp[list[i]] == mark + 1) list[kept++] = list[i];
    return kept;
}
GPUMP_API void gpump_liveness_after(const gpump_liveness *liveness, uint32_t index, uint64_t *set) {
    gpumpi_liveness_at(liveness, index, 1, set);
}

/* Room for gpumpi_liveness_find_enclosing. */
static int gpumpi_liveness_make_search(const gpump_liveness *liveness, gpumpi_arena *scratch,
                                       gpumpi_liveness_search *search) {
    uint32_t blocks = gpumpi_program_basic_blocks(liveness->program);
    search->mark = 0;
    return GPUMPI_ARENA_NEW(scratch, search->found, (size_t)blocks + 1) &&
           GPUMPI_ARENA_NEW(scratch, search->seen, blocks);
}

/* The blocks that end in a branch enclosing basic block b, UNIFORM ones too; returns how many stand in search->found.
 */
static uint32_t gpumpi_liveness_find_enclosing(const gpump_liveness *liveness, uint32_t b,
                                               gpumpi_liveness_search *search) {
    uint32_t i, at = 0, count = 0, *found = search->found, *seen = search->seen, mark = ++search->mark;
    for (;;) {
        for (i = liveness->control_start[b]; i < liveness->control_start[b + 1]; i++)
            if (seen[liveness->control[i]] != mark) seen[found[count++] = liveness->control[i]] = mark;
        if (at == count) return count;
        b = found[at++];
    }
}

GPUMP_API void gpumpi_liveness_control_of(const gpump_liveness *liveness, uint32_t b, const uint32_t **blocks,
                                          uint32_t *count) {
    *blocks = liveness->control + liveness->control_start[b];
    *count = liveness->control_start[b + 1] - liveness->control_start[b];
}

GPUMP_API int gpumpi_program_diverges(const gpump_program *program, uint32_t b) {
    gpump_basic_block block;
    gpump_instruction in;
    gpump_program_basic_block(program, b, &block);
    gpump_program_instruction(program, block.first + block.count - 1, &in);
    return (in.operation == GPUMP_OP_BRANCH || in.operation == GPUMP_OP_GUARDED_CALL) && in.guard != GPUMP_NONE &&
           !(in.flags & GPUMP_FLAG_UNIFORM) && block.successor_count > 1;
}

/* The last instruction of a block when lanes can part there, else GPUMP_NONE. */
static uint32_t gpumpi_liveness_diverges(const gpump_program *program, uint32_t b) {
    gpump_basic_block block;
    gpump_program_basic_block(program, b, &block);
    return gpumpi_program_diverges(program, b) ? block.first + block.count - 1 : GPUMP_NONE;
}

GPUMP_API gpump_result gpump_liveness_enclosing(const gpump_liveness *liveness, uint32_t index, uint32_t *branches,
                                                uint32_t capacity, uint32_t *count) {
    if (!liveness || !count || (capacity && !branches) || index >= gpumpi_program_instructions(liveness->program))
        return GPUMP_ERROR_ARGUMENT;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    gpumpi_liveness_search search;
    uint32_t *found, blocks, i, k, kept = 0;
    if (!gpumpi_liveness_make_search(liveness, &scratch, &search)) {
        gpumpi_arena_free(&scratch);
        return GPUMP_ERROR_MEMORY;
    }
    found = search.found;
    blocks = gpumpi_liveness_find_enclosing(liveness, gpump_program_basic_block_of(liveness->program, index), &search);
    for (i = 0; i < blocks; i++) {
        uint32_t branch = gpumpi_liveness_diverges(liveness->program, found[i]);
        if (branch == GPUMP_NONE) continue;
        for (k = kept++; k && found[k - 1] > branch; k--)
            found[k] = found[k - 1]; /* kept <= i: the front is free to hold them, sorted */
        found[k] = branch;
    }
    *count = kept;
    if (kept <= capacity)
        for (i = 0; i < kept; i++) branches[i] = found[i];
    gpumpi_arena_free(&scratch);
    return kept <= capacity ? GPUMP_OK : GPUMP_ERROR_CAPACITY;
}

GPUMP_API int gpumpi_liveness_diverged(const gpump_liveness *liveness, uint32_t index, gpumpi_liveness_search *search,
                                       gpumpi_arena *scratch, uint64_t *set) {
    uint32_t blocks, i, k, count, *found;
    const uint32_t *list;
    if (!search->found && !gpumpi_liveness_make_search(liveness, scratch, search)) return 0;
    found = search->found;
    blocks = gpumpi_liveness_find_enclosing(liveness, gpump_program_basic_block_of(liveness->program, index), search);
    gpump_liveness_before(liveness, index, set);
    for (i = 0; i < blocks; i++) {
        gpump_basic_block block;
        if (gpumpi_liveness_diverges(liveness->program, found[i]) == GPUMP_NONE) continue;
        gpumpi_liveness_block_out(liveness, found[i], &list, &count);
        for (k = 0; k < count; k++) gpump_bits_set(set, list[k]);
        gpump_program_basic_block(liveness->program, found[i], &block);
        if (block.post_dominator == GPUMP_NONE) continue;
        gpumpi_liveness_block_in(liveness, block.post_dominator, &list, &count);
        for (k = 0; k < count; k++) gpump_bits_set(set, list[k]);
    }
    return 1;
}

GPUMP_API gpump_result gpump_liveness_diverged(const gpump_liveness *liveness, uint32_t index, uint64_t *set) {
    if (!liveness || !set || index >= gpumpi_program_instructions(liveness->program)) return GPUMP_ERROR_ARGUMENT;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    gpumpi_liveness_search search = {NULL, NULL, 0};
    int ok = gpumpi_liveness_diverged(liveness, index, &search, &scratch, set);
    gpumpi_arena_free(&scratch);
    return ok ? GPUMP_OK : GPUMP_ERROR_MEMORY;
}

/* Returns 1 when `reg` is live before instruction `index`. Looks for the first instruction that reads or writes it. */
static int gpumpi_liveness_is_live(const gpump_liveness *liveness, uint32_t reg, uint32_t index) {
    uint32_t b = gpump_program_basic_block_of(liveness->program, index), i, k, known, count;
    const uint32_t *list;
    known = gpumpi_liveness_known(liveness, b, index, &list, &count);
    for (i = index; i < known; i++) {
        gpump_instruction in;
        gpump_program_instruction(liveness->program, i, &in);
        if (in.guard == reg) return 1;
        for (k = 0; k < in.use_count; k++) GPUMPI_OPERAND_REGISTERS(in.uses[k], r, if (r == reg) return 1);
        for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
            GPUMPI_OPERAND_REGISTERS(in.defs[k], r, if (r == reg) return 0);
    }
    for (i = 0; i < count; i++)
        if (list[i] == reg) return 1;
    return 0;
}

GPUMP_API void gpump_liveness_stack(const gpump_liveness *liveness, const uint32_t *pcs, uint32_t count,
                                    uint64_t *set) {
    uint32_t p, r, registers = gpumpi_program_registers(liveness->program), first = 0;
    while (first < count && pcs[first] >= gpumpi_program_instructions(liveness->program)) first++;
    if (first == count) {
        memset(set, 0, liveness->words * sizeof *set);
        return;
    }
    gpump_liveness_before(liveness, pcs[first], set);
    for (p = first + 1; p < count; p++) {
        if (pcs[p] >= gpumpi_program_instructions(liveness->program)) continue;
        for (r = 0; r < registers; r++)
            if (!gpump_bits_get(set, r) && gpumpi_liveness_is_live(liveness, r, pcs[p])) gpump_bits_set(set, r);
    }
}

GPUMP_API void gpump_liveness_count(const gpump_liveness *liveness, const uint64_t *set, uint32_t *registers,
                                    uint32_t *predicates) {
    uint32_t w, counts[3] = {0, 0, 0};
    for (w = 0; w < liveness->words; w++) {
        uint64_t word = set[w];
        for (; word; word &= word - 1)
            counts[gpump_program_width(liveness->program, w * 64 + gpump_bits_lowest64(word))]++;
    }
    if (registers) *registers = counts[GPUMP_WIDTH_32] + 2 * counts[GPUMP_WIDTH_64];
    if (predicates) *predicates = counts[GPUMP_WIDTH_PREDICATE];
}

/* Counts of live registers at a place: [0] 32-bit registers, [1] predicates. */
static void gpumpi_liveness_count(const gpump_program *program, uint32_t reg, uint32_t sign, uint32_t *counts) {
    uint32_t width = gpump_program_width(program, reg);
    if (width == GPUMP_WIDTH_PREDICATE)
        counts[1] += sign;
    else
        counts[0] += sign * width;
}

/* Steps over one instruction backwards: `set` and `live` become those before it, `peak` grows to what is live around
 * it. A result that no instruction reads still needs a register. */
static void gpumpi_liveness_step_pressure(const gpump_program *program, const gpump_instruction *in, uint64_t *set,
                                          uint32_t *live, uint32_t *peak) {
    uint32_t dead[2] = {0, 0}, k;
    for (k = 0; k < in->def_count; k++)
        GPUMPI_OPERAND_REGISTERS(in->defs[k], reg,
                                 if (!gpump_bits_get(set, reg)) gpumpi_liveness_count(program, reg, 1u, dead));
    for (k = 0; k < 2; k++)
        if (live[k] + dead[k] > peak[k]) peak[k] = live[k] + dead[k];
    for (k = 0; k < in->def_count && gpumpi_kills(in); k++)
        GPUMPI_OPERAND_REGISTERS(
            in->defs[k], reg, if (gpump_bits_get(set, reg)) {
                gpump_bits_clear(set, reg);
                gpumpi_liveness_count(program, reg, 0u - 1u, live);
            });
    for (k = 0; k <= in->use_count; k++) {
        uint32_t operand = k < in->use_count ? in->uses[k] : in->guard;
        if (operand == GPUMP_NONE) continue;
        GPUMPI_OPERAND_REGISTERS(
            operand, reg, if (!gpump_bits_get(set, reg)) {
                gpump_bits_set(set, reg);
                gpumpi_liveness_count(program, reg, 1u, live);
            });
    }
    for (k = 0; k < 2; k++)
        if (live[k] > peak[k]) peak[k] = live[k];
}

GPUMP_API gpump_result gpump_liveness_pressure(const gpump_liveness *liveness, uint32_t *registers,
                                               uint32_t *predicates, uint32_t *peak_registers,
                                               uint32_t *peak_predicates) {
    if (!liveness) return GPUMP_ERROR_ARGUMENT;
    const gpump_program *program = liveness->program;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    uint64_t *set;
    uint32_t b, i, peak[2] = {0, 0};
    if (!GPUMPI_ARENA_NEW(&scratch, set, liveness->words)) return GPUMP_ERROR_MEMORY;
    for (b = 0; b < gpumpi_program_basic_blocks(program); b++) {
        gpump_basic_block block;
        const uint32_t *list;
        uint32_t count, live[2] = {0, 0};
        gpump_program_basic_block(program, b, &block);
        gpumpi_liveness_block_out(liveness, b, &list, &count);
        for (i = 0; i < count; i++) {
            gpump_bits_set(set, list[i]);
            gpumpi_liveness_count(program, list[i], 1u, live);
        }
        for (i = block.first + block.count; i-- > block.first;) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            gpumpi_liveness_step_pressure(program, &in, set, live, peak);
            if (registers) registers[i] = live[0];
            if (predicates) predicates[i] = live[1];
        }
        gpumpi_liveness_block_in(liveness, b, &list, &count);
        for (i = 0; i < count; i++) gpump_bits_clear(set, list[i]); /* the walk leaves the block's live-ins set */
    }
    if (peak_registers) *peak_registers = peak[0];
    if (peak_predicates) *peak_predicates = peak[1];
    gpumpi_arena_free(&scratch);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_liveness_uninitialised(const gpump_liveness *liveness, gpump_uninitialised *out,
                                                    uint32_t capacity, uint32_t *count) {
    if (!liveness || !count || (capacity && !out)) return GPUMP_ERROR_ARGUMENT;
    const gpump_program *program = liveness->program;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    uint32_t n, i, k, top, *stack, *seen;
    const uint32_t *list;
    gpumpi_liveness_block_in(liveness, 0, &list, count);
    if (*count > capacity) return GPUMP_ERROR_CAPACITY;
    if (!GPUMPI_ARENA_NEW(&scratch, stack, gpumpi_program_basic_blocks(program)) ||
        !GPUMPI_ARENA_NEW(&scratch, seen, gpumpi_program_basic_blocks(program))) {
        gpumpi_arena_free(&scratch);
        return GPUMP_ERROR_MEMORY;
    }
    for (n = 0; n < *count; n++) {
        uint32_t reg = list[n], best = GPUMP_NONE;
        seen[stack[0] = 0] = n + 1;
        for (top = 1; top;) { /* forward from the entry as long as nothing writes it */
            gpump_basic_block block;
            int killed = 0;
            gpump_program_basic_block(program, stack[--top], &block);
            for (i = block.first; i < block.first + block.count && !killed; i++) {
                gpump_instruction in;
                int reads;
                gpump_program_instruction(program, i, &in);
                reads = in.guard == reg;
                for (k = 0; k < in.use_count; k++) GPUMPI_OPERAND_REGISTERS(in.uses[k], r, reads |= r == reg);
                if (reads && i < best) best = i;
                for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
                    GPUMPI_OPERAND_REGISTERS(in.defs[k], r, killed |= r == reg);
            }
            for (i = 0; i < block.successor_count && !killed; i++)
                if (seen[block.successors[i]] != n + 1) seen[stack[top++] = block.successors[i]] = n + 1;
        }
        out[n].reg = reg;
        out[n].instruction = best;
    }
    gpumpi_arena_free(&scratch);
    return GPUMP_OK;
}
#endif
