/* regions: where the boundaries of idempotent regions go */
#include "program/program_parts.h"
#include "program/regions.h"

#ifndef GPUMP_NO_PROGRAM

static gpump_result gpumpi_regions_preset(void *filled, const char *preset) {
    gpump_regions_config *config = (gpump_regions_config *)filled;
    if (strcmp(preset, "igpu") && strcmp(preset, "igpu_short") && strcmp(preset, "dekruijf"))
        return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->unit = preset[0] == 'i' ? GPUMP_UNIT_WARP : GPUMP_UNIT_THREAD;
    config->few_live = preset[0] == 'i';
    config->max_instructions = strcmp(preset, "igpu_short") ? 0 : 32;
    config->preserve = 1;
    return GPUMP_OK;
}

/* The cuts under construction: for each instruction the reason of the cut before it, and whether the cut is short. */
typedef struct gpumpi_regions_plan {
    const gpump_program *program;
    const gpump_liveness *liveness;
    const gpump_regions_config *config;
    gpumpi_memory memory; /* memory.start[i] is set with every cut */
    uint8_t *why, *is_short;
    uint32_t *live;                 /* 32-bit registers live before each instruction */
    uint32_t *idom, *enter, *leave; /* of memory.graph */
    uint8_t *cut_in;                /* basic block -> how many cuts, 2 at most */
    uint8_t *parted;                /* basic block -> 1: a warp may be diverged there */
    uint32_t mark, pairs, cuts;
    int making_short;
} gpumpi_regions_plan;

static void gpumpi_regions_cut(gpumpi_regions_plan *plan, uint32_t i, uint32_t why) {
    uint32_t b;
    if (plan->why[i]) return;
    plan->cuts++;
    plan->why[i] = (uint8_t)why;
    plan->is_short[i] = (uint8_t)plan->making_short;
    plan->memory.start[i] = 1;
    b = gpump_program_basic_block_of(plan->program, i);
    if (plan->cut_in[b] < 2) plan->cut_in[b]++;
}

static int gpumpi_regions_is_boundary(const gpump_program *program, uint32_t i) {
    gpump_instruction in;
    gpump_program_instruction(program, i, &in);
    return in.operation == GPUMP_OP_BOUNDARY;
}

/* The first step puts boundaries behind barriers and whatever else must not be done twice. They belong to the
 * instruction before them, not to the place behind it: where that is a meeting point of diverged lanes, the first to
 * arrive would wait without crossing it. */
static gpump_result gpumpi_regions_forced(const gpump_program *program, uint32_t without, gpump_program **out,
                                          gpump_diag *diag) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpumpi_insertion *insertions = NULL;
    gpumpi_edit edit;
    uint32_t i;
    gpump_result result = GPUMP_ERROR_MEMORY;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpumpi_insertion behind = gpumpi_insertion_make(GPUMP_OP_BOUNDARY, i + 1);
        uint32_t kind = 0;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_BARRIER || in.operation == GPUMP_OP_BARRIER_PP)
            kind = GPUMP_REGIONS_WITHOUT_BARRIERS;
        else if (in.flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE | GPUMP_FLAG_FENCE) ||
                 (gpumpi_memory_reads(&in) && gpumpi_memory_writes(&in)))
            kind = GPUMP_REGIONS_WITHOUT_ATOMICS;
        if (!kind || without & kind) continue;
        behind.instruction.tag = GPUMP_CUT_FORCED;
        behind.after_previous = 1;
        if (!GPUMPI_ARRAY_PUSH(allocator, insertions, behind)) goto end;
    }
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = insertions;
    edit.insertion_count = (uint32_t)stbds_arrlenu(insertions);
    result = gpumpi_program_edit(&edit, out, diag);
end:
    GPUMPI_ARRAY_FREE(allocator, insertions);
    return result;
}

/* ---- the hitting set ---- */

typedef struct gpumpi_regions_pairs {
    uint32_t *pair, *place; /* a cut before instruction place[k] separates pair pair[k] */
    uint32_t count;
    uint32_t *write; /* of each pair */
} gpumpi_regions_pairs;

static int gpumpi_regions_candidate(const gpump_allocator *allocator, gpumpi_regions_pairs *pairs, uint32_t pair,
                                    uint32_t place) {
    if (!GPUMPI_ARRAY_RESERVE(allocator, pairs->pair, 1) || !GPUMPI_ARRAY_RESERVE(allocator, pairs->place, 1)) return 0;
    stbds_arrput(pairs->pair, pair);
    stbds_arrput(pairs->place, place);
    return 1;
}

/* Places from `first` to `end` - 1 of one block: its writes, and the place with the fewest live registers. */
static int gpumpi_regions_candidates_in(gpumpi_regions_plan *plan, gpumpi_regions_pairs *pairs, uint32_t pair,
                                        uint32_t first, uint32_t end) {
    uint32_t i, best = GPUMP_NONE;
    int best_writes = 0;
    const gpump_allocator *allocator = gpumpi_program_allocator(plan->program);
    for (i = first; i < end; i++) {
        gpump_instruction in;
        gpump_program_instruction(plan->program, i, &in);
        if (gpumpi_memory_writes(&in) && !gpumpi_regions_candidate(allocator, pairs, pair, i)) return 0;
        if (!plan->config->few_live || (best != GPUMP_NONE && plan->live[i] >= plan->live[best])) continue;
        best = i;
        best_writes = gpumpi_memory_writes(&in);
    }
    return best == GPUMP_NONE || best_writes || gpumpi_regions_candidate(allocator, pairs, pair, best);
}

/* A place separates a read from a write when it stands on every way from one to the other: the write itself; what
 * stands before it in its block; and what dominates it but not the read. Nothing of this holds for a read that the
 * program's start does not reach, and which leads to the write past every dominator: then only the write's own block
 * separates them. */
static int gpumpi_regions_candidates(gpumpi_regions_plan *plan, gpumpi_regions_pairs *pairs, uint32_t read,
                                     uint32_t write) {
    const gpump_program *program = plan->program;
    uint32_t pair = pairs->count++, home = gpump_program_basic_block_of(program, read),
             b = gpump_program_basic_block_of(program, write), at;
    gpump_basic_block block;
    if (!GPUMPI_ARRAY_PUSH(gpumpi_program_allocator(program), pairs->write, write)) return 0;
    gpump_program_basic_block(program, b, &block);
    if (b == home && read < write) return gpumpi_regions_candidates_in(plan, pairs, pair, read + 1, write + 1);
    if (!gpumpi_regions_candidates_in(plan, pairs, pair, block.first, write + 1)) return 0;
    if (home != 0 && plan->idom[home] == GPUMP_NONE) return 1;
    for (at = b; b != home && plan->idom[at] != GPUMP_NONE;) {
        at = plan->idom[at];
        gpump_program_basic_block(program, at, &block);
        if (at == home) return gpumpi_regions_candidates_in(plan, pairs, pair, read + 1, block.first + block.count);
        if (plan->enter[at] <= plan->enter[home] && plan->leave[home] <= plan->leave[at])
            break; /* dominates the read too */
        if (!gpumpi_regions_candidates_in(plan, pairs, pair, block.first, block.first + block.count)) return 0;
    }
    return 1;
}

/* The rank of a place, best place smallest. Keys are compared in order. */
enum { GPUMPI_REGIONS_KEYS = 7 };
typedef struct gpumpi_regions_key {
    uint32_t key[GPUMPI_REGIONS_KEYS], place;
} gpumpi_regions_key;
static int gpumpi_regions_less(const gpumpi_regions_key *a, const gpumpi_regions_key *b) {
    uint32_t k;
    for (k = 0; k < GPUMPI_REGIONS_KEYS; k++)
        if (a->key[k] != b->key[k]) return a->key[k] < b->key[k];
    return a->place < b->place;
}
static int gpumpi_regions_before(const void *heap, uint32_t at, uint32_t other) {
    const gpumpi_regions_key *keys = (const gpumpi_regions_key *)heap;
    return gpumpi_regions_less(&keys[at], &keys[other]);
}
static void gpumpi_regions_swap(void *heap, uint32_t at, uint32_t other) {
    gpumpi_regions_key *keys = (gpumpi_regions_key *)heap;
    const gpumpi_regions_key moved = keys[at];
    keys[at] = keys[other];
    keys[other] = moved;
}
static void gpumpi_regions_sift(gpumpi_regions_key *heap, uint32_t count, uint32_t at) {
    gpumpi_heap_sift(heap, count, at, gpumpi_regions_before, gpumpi_regions_swap);
}
static int gpumpi_regions_before_loop(const gpump_program *program, uint32_t b, const gpump_basic_block *block) {
    uint32_t k;
    for (k = 0; k < block->successor_count; k++) {
        gpump_basic_block next;
        gpump_loop loop;
        gpump_program_basic_block(program, block->successors[k], &next);
        if (next.loop == GPUMP_NONE) continue;
        gpump_program_loop(program, next.loop, &loop);
        if (loop.header == block->successors[k] && !gpump_program_in_loop(program, next.loop, b)) return 1;
    }
    return 0;
}
static void gpumpi_regions_make_key(const gpumpi_regions_plan *plan, gpumpi_regions_key *key, uint32_t covers,
                                    uint32_t of, int ends_pair) {
    gpump_basic_block block;
    uint32_t b = gpump_program_basic_block_of(plan->program, key->place), live = plan->live[key->place];
    gpump_program_basic_block(plan->program, b, &block);
    key->key[0] = block.loop_depth;
    key->key[1] = plan->parted[b]; /* a boundary there brings others, where lanes wait */
    key->key[2] = plan->config->few_live ? live : 0u - covers;
    key->key[3] = plan->config->few_live ? 0u - covers : 0;
    /* de Kruijf prefers a write that ends a pair to a place before a loop; iGPU's figure 4 takes the place before the
     * loop */
    key->key[plan->config->few_live ? 5 : 4] = !ends_pair;
    key->key[plan->config->few_live ? 4 : 5] = !gpumpi_regions_before_loop(plan->program, b, &block);
    key->key[6] = 0u - of;
}

/* Chooses the best place until every pair is cut. A place's rank can only fall while others are chosen, so it is
 * computed again when the place reaches the top of the heap. */
static int gpumpi_regions_hit(gpumpi_regions_plan *plan, const gpumpi_regions_pairs *pairs) {
    const gpump_program *program = plan->program;
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    uint32_t instructions = gpumpi_program_instructions(program), n = (uint32_t)stbds_arrlenu(pairs->pair), i, k,
             count = 0, *place_start, *place_pair, *pair_start, *pair_place;
    gpumpi_regions_key *heap;
    uint8_t *hit, *ends_pair;
    int ok = 0;
    if (!gpumpi_group(&scratch, instructions, pairs->place, pairs->pair, n, &place_start, &place_pair) ||
        !gpumpi_group(&scratch, pairs->count, pairs->pair, pairs->place, n, &pair_start, &pair_place) ||
        !GPUMPI_ARENA_NEW(&scratch, heap, instructions) || !GPUMPI_ARENA_NEW(&scratch, hit, pairs->count) ||
        !GPUMPI_ARENA_NEW(&scratch, ends_pair, instructions))
        goto end;
    for (i = 0; i < pairs->count; i++) ends_pair[pairs->write[i]] = 1;
    for (i = 0; i < instructions; i++) {
        if (place_start[i] == place_start[i + 1]) continue;
        heap[count].place = i;
        gpumpi_regions_make_key(plan, &heap[count++], place_start[i + 1] - place_start[i],
                                place_start[i + 1] - place_start[i], ends_pair[i]);
    }
    for (i = count / 2; i-- > 0;) gpumpi_regions_sift(heap, count, i);
    while (count) {
        gpumpi_regions_key key = heap[0];
        uint32_t covers = 0;
        for (i = place_start[key.place]; i < place_start[key.place + 1]; i++) covers += !hit[place_pair[i]];
        if (covers) {
            gpumpi_regions_make_key(plan, &key, covers, place_start[key.place + 1] - place_start[key.place],
                                    ends_pair[key.place]);
            if (gpumpi_regions_less(&heap[0], &key)) {
                heap[0] = key;
                gpumpi_regions_sift(heap, count, 0);
                continue;
            }
            gpumpi_regions_cut(plan, key.place, GPUMP_CUT_CLOBBER);
            for (k = place_start[key.place]; k < place_start[key.place + 1]; k++) hit[place_pair[k]] = 1;
        }
        heap[0] = heap[--count];
        gpumpi_regions_sift(heap, count, 0);
    }
    ok = 1;
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

/* Cuts every memory antidependence that is left. Sets *changed to 1 when it found one. */
static int gpumpi_regions_memory(gpumpi_regions_plan *plan, gpumpi_arena *arena, int *changed) {
    const gpump_program *program = plan->program;
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpumpi_regions_pairs pairs = {NULL, NULL, 0, NULL};
    uint32_t i, k, before, *reads = NULL;
    int ok = gpumpi_memory_protect(arena, &plan->memory);
    for (i = 0; i < gpumpi_program_instructions(program) && ok; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (!gpumpi_memory_writes(&in) || gpumpi_memory_ends_region(&plan->memory, i, &in)) continue;
        if (reads) stbds_header(reads)->length = 0;
        ok = gpumpi_memory_walk(&plan->memory, i, ++plan->mark, allocator, &reads);
        for (k = 0; ok && k < stbds_arrlenu(reads); k++)
            if (reads[k] != i) ok = gpumpi_regions_candidates(plan, &pairs, reads[k], i);
    }
    if (ok && pairs.count) {
        *changed = 1;
        plan->pairs += pairs.count;
        before = plan->cuts;
        ok = gpumpi_regions_hit(plan, &pairs);
        GPUMP_ASSERT(!ok || plan->cuts > before); /* or the next round would find the same pairs again, for ever */
        (void)before;
    }
    GPUMPI_ARRAY_FREE(allocator, reads);
    GPUMPI_ARRAY_FREE(allocator, pairs.pair);
    GPUMPI_ARRAY_FREE(allocator, pairs.place);
    GPUMPI_ARRAY_FREE(allocator, pairs.write);
    return ok;
}

/* ---- divergence: lanes that wait while others cross a boundary go on from a boundary of their own ---- */

static int gpumpi_regions_only_exits(const gpump_program *program, uint32_t b) {
    gpump_basic_block block;
    gpump_instruction in;
    gpump_program_basic_block(program, b, &block);
    gpump_program_instruction(program, block.first, &in);
    return in.operation == GPUMP_OP_EXIT && in.guard == GPUMP_NONE;
}
/* 1 when the instructions from the start of block b to a cut in it can be executed again alone. */
static int gpumpi_regions_bare(const gpumpi_regions_plan *plan, uint32_t b) {
    gpump_basic_block block;
    uint32_t i;
    gpump_program_basic_block(plan->program, b, &block);
    for (i = block.first; i < block.first + block.count; i++) {
        gpump_instruction in;
        gpump_program_instruction(plan->program, i, &in);
        if (plan->why[i]) return 1;
        if (in.def_count || in.access) return 0;
    }
    return 0;
}
static void gpumpi_regions_cut_block(gpumpi_regions_plan *plan, uint32_t b, uint32_t why, int *changed) {
    gpump_basic_block block;
    gpump_program_basic_block(plan->program, b, &block);
    if (plan->why[block.first] || gpumpi_regions_only_exits(plan->program, b)) return;
    gpumpi_regions_cut(plan, block.first, why);
    *changed = 1;
}

/* Marks every branch that decides, directly or not, whether a block in stack[] runs; found branches go on the stack. */
static void gpumpi_regions_deciders(const gpumpi_regions_plan *plan, uint32_t *stack, uint32_t top, uint8_t *seen) {
    while (top) {
        const uint32_t *list;
        uint32_t count, k;
        gpumpi_liveness_control_of(plan->liveness, stack[--top], &list, &count);
        for (k = 0; k < count; k++)
            if (!seen[list[k]]) seen[stack[top++] = list[k]] = 1;
    }
}

/* Marks blocks that decide whether a barrier is reached. stack[]: room for twice as many as there are blocks. */
static void gpumpi_regions_before_barriers(const gpumpi_regions_plan *plan, uint32_t *stack, uint8_t *to_barrier) {
    const gpump_program *program = plan->program;
    uint32_t b, i, top = 0;
    for (b = 0; b < gpumpi_program_basic_blocks(program); b++) {
        gpump_basic_block block;
        int barrier = 0;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            barrier |= in.operation == GPUMP_OP_BARRIER || in.operation == GPUMP_OP_BARRIER_PP;
        }
        if (barrier) stack[top++] = b;
    }
    gpumpi_regions_deciders(plan, stack, top, to_barrier);
}

/* 1 when the warp counts as diverged behind block b, which ends in a branch. */
static int gpumpi_regions_parts(const gpumpi_regions_plan *plan, uint32_t b, const uint8_t *to_barrier) {
    gpump_basic_block block;
    if (!gpumpi_program_diverges(plan->program, b)) return 0;
    gpump_program_basic_block(plan->program, b, &block);
    return !to_barrier[b] || block.post_dominator == GPUMP_NONE ||
           gpumpi_regions_only_exits(plan->program, block.post_dominator);
}

/* Fills parted[]: decided, directly or not, by a branch at which the warp may part. */
static int gpumpi_regions_find_parted(gpumpi_regions_plan *plan) {
    const gpump_program *program = plan->program;
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    uint32_t blocks = gpumpi_program_basic_blocks(program), b, k, *stack;
    uint8_t *to_barrier;
    int changed = plan->config->unit == GPUMP_UNIT_WARP && !(plan->config->without & GPUMP_REGIONS_WITHOUT_DIVERGENCE);
    if (!GPUMPI_ARENA_NEW(&scratch, stack, (size_t)blocks * 2) || !GPUMPI_ARENA_NEW(&scratch, to_barrier, blocks)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    if (changed) gpumpi_regions_before_barriers(plan, stack, to_barrier);
    while (changed) {
        changed = 0;
        for (b = 0; b < blocks; b++) {
            const uint32_t *list;
            uint32_t count;
            if (plan->parted[b]) continue;
            gpumpi_liveness_control_of(plan->liveness, b, &list, &count);
            for (k = 0; k < count && !plan->parted[b]; k++)
                plan->parted[b] = (uint8_t)(plan->parted[list[k]] || gpumpi_regions_parts(plan, list[k], to_barrier));
            changed |= plan->parted[b];
        }
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

/* 1 when a cut stands on a path from block `side` to `meet`. */
static int gpumpi_regions_side_has_cut(const gpumpi_regions_plan *plan, uint32_t side, uint32_t meet, uint32_t *stack,
                                       uint32_t *visited, uint32_t mark) {
    uint32_t top = 0, k;
    if (side == meet) return 0;
    visited[stack[top++] = side] = mark;
    while (top) {
        gpump_basic_block block;
        uint32_t b = stack[--top];
        if (plan->cut_in[b]) return 1;
        gpump_program_basic_block(plan->program, b, &block);
        for (k = 0; k < block.successor_count; k++)
            if (block.successors[k] != meet && visited[block.successors[k]] != mark)
                visited[stack[top++] = block.successors[k]] = mark;
    }
    return 0;
}

/* Lanes wait at the start of one side while the other runs, and at the meeting point while either does. A branch that
 * decides whether a barrier is reached, and behind which code goes on, does not diverge: all threads of a block must
 * come to a barrier. */
static int gpumpi_regions_divergence(gpumpi_regions_plan *plan, int *changed) {
    const gpump_program *program = plan->program;
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    uint32_t blocks = gpumpi_program_basic_blocks(program), b, k, top = 0, mark = 0, *stack, *visited;
    uint8_t *seen, *to_barrier;
    if (!GPUMPI_ARENA_NEW(&scratch, stack, (size_t)blocks * 2) || !GPUMPI_ARENA_NEW(&scratch, seen, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, to_barrier, blocks) || !GPUMPI_ARENA_NEW(&scratch, visited, blocks)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    for (b = 0; b < blocks; b++)
        if (plan->cut_in[b]) stack[top++] = b;
    gpumpi_regions_deciders(plan, stack, top, seen);
    gpumpi_regions_before_barriers(plan, stack, to_barrier);
    for (b = 0; b < blocks; b++) {
        gpump_basic_block block;
        int has[2];
        if (!seen[b] || !gpumpi_regions_parts(plan, b, to_barrier)) continue;
        gpump_program_basic_block(program, b, &block);
        for (k = 0; k < 2; k++)
            has[k] =
                gpumpi_regions_side_has_cut(plan, block.successors[k], block.post_dominator, stack, visited, ++mark);
        for (k = 0; k < 2; k++)
            if (has[!k] && block.successors[k] != block.post_dominator &&
                !gpumpi_regions_bare(plan, block.successors[k]))
                gpumpi_regions_cut_block(plan, block.successors[k], GPUMP_CUT_DIVERGENCE, changed);
        if ((has[0] || has[1]) && block.post_dominator != GPUMP_NONE &&
            !gpumpi_regions_bare(plan, block.post_dominator))
            gpumpi_regions_cut_block(plan, block.post_dominator, GPUMP_CUT_DIVERGENCE, changed);
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

/* ---- loops: at least two boundaries on every way round one that has any, so that a region never runs into itself ----
 */

static void gpumpi_regions_latch(gpumpi_regions_plan *plan, uint32_t b, int *changed) {
    gpump_basic_block block;
    gpump_program_basic_block(plan->program, b, &block);
    if (plan->why[block.first + block.count - 1]) return;
    gpumpi_regions_cut(plan, block.first + block.count - 1, GPUMP_CUT_LOOP);
    *changed = 1;
}

static void gpumpi_regions_back_edge(gpumpi_regions_plan *plan, uint32_t loop, uint32_t header, uint32_t latch,
                                     int *changed) {
    const gpump_program *program = plan->program;
    gpump_basic_block block, head;
    uint32_t b = latch, found = 0, nearest = GPUMP_NONE;
    gpump_program_basic_block(program, header, &head);
    for (;; b = block.dominator) { /* b: a block on every path to the latch */
        gpump_program_basic_block(program, b, &block);
        if (plan->cut_in[b] && nearest == GPUMP_NONE) nearest = b;
        found += plan->cut_in[b];
        if (b == header) break;
    }
    if (found == 0) gpumpi_regions_cut_block(plan, header, GPUMP_CUT_LOOP, changed);
    if (found == 1 && !plan->why[head.first])
        gpumpi_regions_cut_block(plan, header, GPUMP_CUT_LOOP, changed);
    else if (found <= 1)
        gpumpi_regions_latch(plan, latch, changed);
    else {
        gpump_program_basic_block(program, nearest, &block);
        if (block.loop != loop && block.loop_depth > head.loop_depth) gpumpi_regions_latch(plan, latch, changed);
    }
}

static int gpumpi_regions_loops(gpumpi_regions_plan *plan, int *changed) {
    const gpump_program *program = plan->program;
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    uint32_t loops = gpumpi_program_loops(program), blocks = gpumpi_program_basic_blocks(program), b, l, k, *place;
    uint8_t *has;
    if (!GPUMPI_ARENA_NEW(&scratch, has, loops) || !GPUMPI_ARENA_NEW(&scratch, place, blocks)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    for (k = 0; k < plan->memory.blocks; k++) place[plan->memory.order[k]] = k;
    for (b = 0; b < blocks; b++) {
        gpump_basic_block block;
        gpump_loop loop;
        if (!plan->cut_in[b]) continue;
        gpump_program_basic_block(program, b, &block);
        for (l = block.loop; l != GPUMP_NONE && !has[l]; l = loop.parent) {
            has[l] = 1;
            gpump_program_loop(program, l, &loop);
        }
    }
    for (l = loops; l-- > 0;) { /* inner loops have larger numbers */
        gpump_loop loop;
        gpump_basic_block header;
        if (!has[l]) continue;
        gpump_program_loop(program, l, &loop);
        if (loop.irreducible) continue;
        gpump_program_basic_block(program, loop.header, &header);
        for (k = 0; k < header.predecessor_count; k++)
            if (gpump_program_in_loop(program, l, header.predecessors[k]))
                gpumpi_regions_back_edge(plan, l, loop.header, header.predecessors[k], changed);
    }
    for (b = 0; b < blocks; b++) { /* retreating edges of irreducible loops: both ends */
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        if (!block.reachable || block.loop == GPUMP_NONE) continue;
        for (k = 0; k < block.successor_count; k++) {
            uint32_t to = block.successors[k];
            gpump_loop loop;
            if (place[to] > place[b] || gpump_program_dominates(program, to, b)) continue;
            for (l = block.loop; l != GPUMP_NONE; l = loop.parent) {
                gpump_program_loop(program, l, &loop);
                if (loop.irreducible && has[l] && gpump_program_in_loop(program, l, to)) break;
            }
            if (l == GPUMP_NONE) continue;
            gpumpi_regions_latch(plan, b, changed);
            gpumpi_regions_cut_block(plan, to, GPUMP_CUT_LOOP, changed);
        }
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

/* Adds the cuts that existing cuts make necessary, until none is missing. */
static int gpumpi_regions_settle(gpumpi_regions_plan *plan, gpumpi_arena *arena) {
    int changed = 1;
    const uint32_t without = plan->config->without;
    while (changed) {
        changed = 0;
        if ((!(without & GPUMP_REGIONS_WITHOUT_CLOBBERS) && !gpumpi_regions_memory(plan, arena, &changed)) ||
            (plan->config->unit == GPUMP_UNIT_WARP && !(without & GPUMP_REGIONS_WITHOUT_DIVERGENCE) &&
             !gpumpi_regions_divergence(plan, &changed)) ||
            (!(without & GPUMP_REGIONS_WITHOUT_LOOPS) && !gpumpi_regions_loops(plan, &changed)))
            return 0;
    }
    return 1;
}

/* ---- short regions ---- */

/* The longest way, in instructions, from a region's start to before each block; cuts where it would pass the limit.
 * Loops without a cut are cut at their headers first, so that every way is finite. */
static int gpumpi_regions_shorten(gpumpi_regions_plan *plan, gpumpi_arena *arena) {
    const gpump_program *program = plan->program;
    uint32_t loops = gpumpi_program_loops(program), limit = plan->config->max_instructions, n, i, k, l, *length;
    int changed = 1, again = 1;
    if (!GPUMPI_ARENA_NEW(arena, length, gpumpi_program_basic_blocks(program))) return 0;
    plan->making_short = 1;
    for (l = loops; l-- > 0;) {
        gpump_loop loop;
        gpump_program_loop(program, l, &loop);
        gpumpi_regions_cut_block(plan, loop.header, GPUMP_CUT_LENGTH, &changed);
    }
    if (!gpumpi_regions_settle(plan, arena)) return 0;
    while (again) {
        again = 0;
        memset(length, 0, gpumpi_program_basic_blocks(program) * sizeof *length);
        for (changed = 1; changed;) {
            changed = 0;
            for (n = 0; n < plan->memory.blocks; n++) {
                uint32_t b = plan->memory.order[n], at;
                gpump_basic_block block;
                gpump_program_basic_block(program, b, &block);
                at = length[b];
                for (i = block.first; i < block.first + block.count; i++) {
                    if (plan->why[i])
                        at = 0;
                    else if (at >= limit) {
                        gpumpi_regions_cut(plan, i, GPUMP_CUT_LENGTH);
                        again = 1;
                        at = 0;
                    }
                    at += !gpumpi_regions_is_boundary(program, i);
                }
                for (k = 0; k < block.successor_count; k++)
                    if (at > length[block.successors[k]]) {
                        length[block.successors[k]] = at;
                        changed = 1;
                    }
            }
        }
        if (again && !gpumpi_regions_settle(plan, arena)) return 0;
    }
    return 1;
}

/* ---- putting it together ---- */

static gpump_result gpumpi_regions_insert(const gpumpi_regions_plan *plan, gpumpi_arena *scratch, gpump_program **out,
                                          gpump_regions_report *report, gpump_diag *diag) {
    uint32_t i, count = 0;
    gpumpi_insertion *insertions;
    gpumpi_edit edit;
    for (i = 0; i < gpumpi_program_instructions(plan->program); i++) count += plan->why[i] != 0;
    if (!GPUMPI_ARENA_NEW(scratch, insertions, count)) return GPUMP_ERROR_MEMORY;
    for (i = count = 0; i < gpumpi_program_instructions(plan->program); i++) {
        if (!plan->why[i]) continue;
        if (!gpumpi_regions_is_boundary(plan->program, i)) { /* the forced ones are there */
            insertions[count] = gpumpi_insertion_make(GPUMP_OP_BOUNDARY, i);
            insertions[count].instruction.immediate = plan->is_short[i] ? GPUMP_BOUNDARY_SHORT : GPUMP_BOUNDARY_SPARSE;
            insertions[count++].instruction.tag = plan->why[i];
        }
        report->cuts[plan->why[i]]++;
        if (plan->is_short[i])
            report->shorts++;
        else
            report->sparse++;
    }
    memset(&edit, 0, sizeof edit);
    edit.program = plan->program;
    edit.insertions = insertions;
    edit.insertion_count = count;
    edit.origin = gpump_program_origin(plan->program);
    return gpumpi_program_edit(&edit, out, diag);
}

/* Runs every step on the program with the boundaries that are there already, which stay. Those that they make necessary
 * are short when `as_short` is 1. */
static gpump_result gpumpi_regions_make(const gpump_program *program, const gpump_regions_config *config, int as_short,
                                        gpump_program **formed, gpump_regions_report *report, gpump_diag *diag) {
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    gpumpi_regions_plan plan;
    gpump_liveness *liveness = NULL;
    gpump_program *cut = NULL, *kept = NULL;
    uint32_t i, instructions = gpumpi_program_instructions(program), blocks = gpumpi_program_basic_blocks(program);
    gpump_result result = gpump_liveness_create(program, gpumpi_program_allocator(program), &liveness);
    if (result != GPUMP_OK) goto end;
    result = GPUMP_ERROR_MEMORY;
    memset(&plan, 0, sizeof plan);
    plan.program = program;
    plan.liveness = liveness;
    plan.config = config;
    if (!gpumpi_memory_make(&scratch, program, config->unit, &plan.memory) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.why, (size_t)instructions + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.is_short, (size_t)instructions + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.live, instructions) || !GPUMPI_ARENA_NEW(&scratch, plan.idom, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.enter, blocks) || !GPUMPI_ARENA_NEW(&scratch, plan.leave, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.cut_in, blocks) || !GPUMPI_ARENA_NEW(&scratch, plan.parted, blocks) ||
        gpump_liveness_pressure(liveness, plan.live, NULL, NULL, NULL) != GPUMP_OK ||
        !gpumpi_graph_dominators(&scratch, &plan.memory.graph, 0, plan.idom) ||
        !gpumpi_graph_intervals(&scratch, blocks, plan.idom, 0, plan.enter, plan.leave))
        goto end;
    if (!gpumpi_regions_find_parted(&plan)) goto end;
    plan.memory.may_clobber = config->may_clobber;
    plan.memory.user = config->user;
    plan.memory.origin = gpump_program_origin(program);
    for (i = 0; i < instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        plan.making_short = in.immediate == GPUMP_BOUNDARY_SHORT;
        if (in.operation == GPUMP_OP_BOUNDARY) gpumpi_regions_cut(&plan, i, (uint32_t)in.tag);
    }
    plan.making_short = as_short;
    if (!gpumpi_regions_settle(&plan, &scratch)) goto end;
    if (config->max_instructions && !gpumpi_regions_shorten(&plan, &scratch)) goto end;
    report->pairs = plan.pairs;
    result = gpumpi_regions_insert(&plan, &scratch, &cut, report, diag);
    if (result == GPUMP_OK && config->preserve) {
        result = gpumpi_regions_preserve(cut, gpump_program_origin(cut), &kept, report, diag);
        gpump_program_destroy(cut);
        cut = kept;
    }
    if (result == GPUMP_OK) *formed = cut;
end:
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}

GPUMP_API gpump_result gpump_regions_form(const gpump_program *program, const gpump_regions_config *config,
                                          gpump_program **formed, gpump_regions_report *report, gpump_diag *diag) {
    gpump_regions_report found;
    gpump_program *forced;
    gpump_result result;
    uint32_t i;
    if (!program || !config || !formed)
        return gpumpi_bad_argument(diag, "program, config or formed", 0, 0, 1, UINT64_MAX);
    if (!gpumpi_program_basic_blocks(program)) return gpumpi_program_unfinished(diag);
    if (!config->unit || config->unit > GPUMP_UNIT_WARP)
        return gpumpi_bad_config(diag, "unit", 0, config->unit, GPUMP_UNIT_THREAD, GPUMP_UNIT_WARP);
    if (config->without > 31) return gpumpi_bad_config(diag, "without", 0, config->without, 0, 31);
    if (config->max_instructions == 1) return gpumpi_bad_config(diag, "max_instructions", 0, 1, 2, UINT32_MAX);
    for (i = 0; i < gpumpi_program_instructions(program); i++)
        if (gpumpi_regions_is_boundary(program, i))
            return gpumpi_bad_argument(diag, "operation", i, GPUMP_OP_BOUNDARY, 0, GPUMP_OP_BARRIER);
    memset(&found, 0, sizeof found);
    result = gpumpi_regions_forced(program, config->without, &forced, diag);
    if (result == GPUMP_OK) {
        result = gpumpi_regions_make(forced, config, 0, formed, &found, diag);
        gpump_program_destroy(forced);
    }
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail_at(diag, result, "program", 0);
    if (result == GPUMP_OK && report) *report = found;
    return result;
}

/* ---- regions of their own, for instructions that raise exceptions ---- */

static int gpumpi_regions_may_stand_alone(const gpump_program *program, uint32_t i) {
    gpump_instruction in;
    if (i >= gpumpi_program_instructions(program)) return 0;
    gpump_program_instruction(program, i, &in);
    return in.operation != GPUMP_OP_BOUNDARY && in.operation != GPUMP_OP_BRANCH && in.operation != GPUMP_OP_EXIT &&
           in.operation != GPUMP_OP_BARRIER && in.operation != GPUMP_OP_BARRIER_PP;
}

/* The program with a short boundary before each of the instructions, and one behind it. */
static gpump_result gpumpi_regions_enclose(const gpump_program *program, uint32_t first, uint32_t second,
                                           gpump_program **out, gpump_diag *diag) {
    gpumpi_insertion insertions[4];
    gpumpi_edit edit;
    uint32_t i, count = 0;
    const uint32_t places[2] = {first < second ? first : second, first < second ? second : first};
    for (i = 0; i < 2; i++) {
        gpumpi_insertion before = gpumpi_insertion_make(GPUMP_OP_BOUNDARY, places[i]), behind;
        if (i && places[0] == places[1]) break;
        before.instruction.immediate = GPUMP_BOUNDARY_SHORT;
        before.instruction.tag = GPUMP_CUT_SPLIT;
        behind = before;
        behind.before = places[i] + 1;
        behind.after_previous = 1;
        if (count && insertions[count - 1].before == before.before) { /* who follows directly: one boundary for both, */
            insertions[count - 1].after_previous = 0;                 /* which a branch to it takes, too */
        } else {
            insertions[count++] = before;
        }
        if (behind.before == gpumpi_program_instructions(program) ||
            !gpumpi_regions_is_boundary(program, behind.before)) /* there is one behind an atomic */
            insertions[count++] = behind;
    }
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = insertions;
    edit.insertion_count = count;
    return gpumpi_program_edit(&edit, out, diag);
}

GPUMP_API gpump_result gpump_regions_split(const gpump_program *program, uint32_t first, uint32_t second,
                                           gpump_program **split, gpump_regions_report *report, gpump_diag *diag) {
    gpump_regions_config config;
    gpump_regions_report found;
    gpump_program *enclosed;
    gpump_result result;
    if (!program || !split) return gpumpi_null(diag, "program or split");
    if (!gpumpi_program_basic_blocks(program)) return gpumpi_program_unfinished(diag);
    if (!gpumpi_regions_may_stand_alone(program, first))
        return gpumpi_bad_argument(diag, "first", 0, first, 0, gpumpi_program_instructions(program) - 1);
    if (!gpumpi_regions_may_stand_alone(program, second))
        return gpumpi_bad_argument(diag, "second", 0, second, 0, gpumpi_program_instructions(program) - 1);
    memset(&found, 0, sizeof found);
    result = gpump_preset(&gpump_regions_component, &config, "igpu", NULL);
    if (result == GPUMP_OK) result = gpumpi_regions_enclose(program, first, second, &enclosed, diag);
    if (result == GPUMP_OK) {
        result = gpumpi_regions_make(enclosed, &config, 1, split, &found, diag);
        gpump_program_destroy(enclosed);
    }
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail_at(diag, result, "program", 0);
    if (result == GPUMP_OK && report) *report = found;
    return result;
}

/* ---- continuous spilling ---- */

/* Runs basic block b from the registers whose places hold their values at its start, `held`, to its end. Writes what
 * its boundaries store to `sets` (NULL: nowhere), from boundary `at` on; returns the next one's number. */
static uint32_t gpumpi_regions_hold(const gpump_program *program, const gpump_liveness *liveness, uint32_t b,
                                    uint64_t *held, uint64_t *live, uint64_t *sets, uint32_t at) {
    uint32_t words = gpump_liveness_words(liveness), i, k, w;
    gpump_basic_block block;
    gpump_program_basic_block(program, b, &block);
    for (i = block.first; i < block.first + block.count; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_BOUNDARY && in.immediate == GPUMP_BOUNDARY_SPARSE) {
            gpump_liveness_before(liveness, i, live);
            for (w = 0; w < words; w++) {
                if (sets) sets[(size_t)at * words + w] = live[w] & ~held[w];
                held[w] |= live[w];
            }
            at++;
        }
        for (k = 0; k < in.def_count; k++) GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, gpump_bits_clear(held, reg));
    }
    return at;
}

GPUMP_API gpump_result gpump_regions_stored(const gpump_program *program, const gpump_liveness *liveness,
                                            uint32_t spilling, uint64_t *sets, uint32_t capacity, uint32_t *count) {
    gpumpi_arena scratch;
    uint32_t blocks, words, b, i, k, w, found = 0;
    uint64_t *ends, *held, *live;
    int changed = 1;
    if (!program || !liveness || !count || (!sets && capacity) || spilling > GPUMP_SPILLING_CHANGED)
        return GPUMP_ERROR_ARGUMENT;
    if (!(blocks = gpumpi_program_basic_blocks(program))) return GPUMP_ERROR_STATE;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        found += in.operation == GPUMP_OP_BOUNDARY && in.immediate == GPUMP_BOUNDARY_SPARSE;
    }
    *count = found;
    if (capacity < found) return GPUMP_ERROR_CAPACITY;
    words = gpump_liveness_words(liveness);
    scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    if (!GPUMPI_ARENA_NEW(&scratch, ends, (size_t)blocks * words) || !GPUMPI_ARENA_NEW(&scratch, held, words) ||
        !GPUMPI_ARENA_NEW(&scratch, live, words)) {
        gpumpi_arena_free(&scratch);
        return GPUMP_ERROR_MEMORY;
    }
    memset(ends, 0xff,
           (size_t)blocks * words * sizeof *ends); /* held on every way: everything, until a way says otherwise */
    for (;;) {
        uint32_t at = 0;
        int last = !changed; /* one more round with the final sets writes the answer */
        changed = 0;
        for (b = 0; b < blocks; b++) {
            uint64_t *end = ends + (size_t)b * words;
            gpump_basic_block block;
            gpump_program_basic_block(program, b, &block);
            memset(held, b ? 0xff : 0, words * sizeof *held);
            for (k = 0; k < block.predecessor_count && b; k++)
                for (w = 0; w < words; w++) held[w] &= ends[(size_t)block.predecessors[k] * words + w];
            at = gpumpi_regions_hold(program, liveness, b, held, live, last ? sets : NULL, at);
            if (!memcmp(end, held, words * sizeof *held)) continue;
            memcpy(end, held, words * sizeof *held);
            changed = 1;
        }
        if (last) break;
    }
    if (spilling == GPUMP_SPILLING_ALL)
        for (i = k = 0; i < gpumpi_program_instructions(program); i++) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            if (in.operation == GPUMP_OP_BOUNDARY && in.immediate == GPUMP_BOUNDARY_SPARSE)
                gpump_liveness_before(liveness, i, sets + (size_t)k++ * words);
        }
    gpumpi_arena_free(&scratch);
    return GPUMP_OK;
}
/* clang-format off */
static const gpumpi_methods gpumpi_regions_hooks = {
    "regions", "program", 0,
    GPUMP_LAYOUT_PROGRAM, sizeof(gpump_regions_config), 0, 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_regions_preset, NULL, NULL, NULL, NULL,
    /* set_up, unfit, check, hash */
    NULL, NULL, NULL, NULL,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_regions_methods(void) { return &gpumpi_regions_hooks; }
#endif
