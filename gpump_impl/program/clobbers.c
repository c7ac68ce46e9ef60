/* clobbers: finds reads that would get another value in re-execution */
#include "program/program_parts.h"

#include <string.h>
#include "program/clobbers.h"

#ifndef GPUMP_NO_PROGRAM

GPUMP_API int gpumpi_memory_writes(const gpump_instruction *in) {
    return in->operation == GPUMP_OP_SPILL_STORE ||
           (in->operation != GPUMP_OP_CHECK && in->access & GPUMP_ACCESS_WRITE);
}
GPUMP_API int gpumpi_memory_reads(const gpump_instruction *in) {
    return in->operation == GPUMP_OP_SPILL_LOAD || (in->operation != GPUMP_OP_CHECK && in->access & GPUMP_ACCESS_READ);
}
GPUMP_API int gpumpi_memory_ends_region(const gpumpi_memory *memory, uint32_t i, const gpump_instruction *in) {
    return in->flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE) && memory->start[i + 1];
}
static uint32_t gpumpi_memory_spill_bytes(const gpump_program *program, const gpump_instruction *in) {
    uint32_t operand = in->def_count ? in->defs[0] : in->uses[0];
    return operand & GPUMP_OPERAND_PAIR || gpump_program_width(program, operand & GPUMP_OPERAND_INDEX) == GPUMP_WIDTH_64
               ? 8
               : 4;
}
/* 1 when the write may overwrite what the read has read. Only spill loads and stores reach the spill area. */
static int gpumpi_memory_may_alias(const gpumpi_memory *memory, uint32_t read, uint32_t write) {
    gpump_instruction x, y;
    gpump_program_instruction(memory->program, read, &x);
    gpump_program_instruction(memory->program, write, &y);
    if ((x.operation == GPUMP_OP_SPILL_LOAD) != (y.operation == GPUMP_OP_SPILL_STORE)) return 0;
    if (x.operation != GPUMP_OP_SPILL_LOAD)
        return gpump_program_may_alias(memory->program, read, write, memory->unit) &&
               (!memory->may_clobber || memory->may_clobber(memory->user, memory->origin[read], memory->origin[write]));
    return x.immediate < y.immediate + (int64_t)gpumpi_memory_spill_bytes(memory->program, &y) &&
           y.immediate < x.immediate + (int64_t)gpumpi_memory_spill_bytes(memory->program, &x);
}

GPUMP_API void gpumpi_boundary_starts(const gpump_program *program, uint32_t level, uint8_t *start) {
    uint32_t i;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        start[i] = in.operation == GPUMP_OP_BOUNDARY && in.immediate <= (int64_t)level;
    }
}

/* ---- the order in which a warp's instructions can follow each other ---- */

typedef struct gpumpi_memory_edges {
    uint32_t *from, *to;
} gpumpi_memory_edges;
static int gpumpi_memory_edge(const gpump_allocator *allocator, gpumpi_memory_edges *edges, uint32_t from,
                              uint32_t to) {
    if (!GPUMPI_ARRAY_RESERVE(allocator, edges->from, 1) || !GPUMPI_ARRAY_RESERVE(allocator, edges->to, 1)) return 0;
    stbds_arrput(edges->from, from);
    stbds_arrput(edges->to, to);
    return 1;
}

/* Adds the edges from one side of a divergent branch to the other. Lanes that took `side` run until they reach `meet`
 * or end. Then the lanes of the other side start. */
static int gpumpi_memory_side(gpumpi_memory *memory, uint32_t side, uint32_t meet, uint32_t other, uint32_t mark,
                              const gpump_allocator *allocator, gpumpi_memory_edges *edges) {
    uint32_t top = 0, i;
    memory->seen[memory->stack[top++] = side] = mark;
    while (top) {
        uint32_t b = memory->stack[--top];
        gpump_basic_block block;
        gpump_instruction last;
        int ends;
        gpump_program_basic_block(memory->program, b, &block);
        gpump_program_instruction(memory->program, block.first + block.count - 1, &last);
        ends = last.operation == GPUMP_OP_EXIT;
        for (i = 0; i < block.successor_count; i++) {
            uint32_t to = block.successors[i];
            if (to == meet)
                ends = 1;
            else if (memory->seen[to] != mark)
                memory->seen[memory->stack[top++] = to] = mark;
        }
        if (ends && !gpumpi_memory_edge(allocator, edges, b, other)) return 0;
    }
    return 1;
}

static int gpumpi_memory_build_graph(gpumpi_arena *arena, gpumpi_memory *memory) {
    const gpump_program *program = memory->program;
    uint32_t blocks = memory->blocks, b, i, mark = 0;
    gpumpi_memory_edges edges = {NULL, NULL};
    int ok = 1;
    for (b = 0; b < blocks && ok; b++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        for (i = 0; i < block.successor_count && ok; i++)
            ok = gpumpi_memory_edge(&arena->allocator, &edges, b, block.successors[i]);
        if (!ok || memory->unit == GPUMP_UNIT_THREAD || !gpumpi_program_diverges(program, b) ||
            block.successors[0] == block.post_dominator || block.successors[1] == block.post_dominator)
            continue;
        for (i = 0; i < 2 && ok; i++)
            ok = gpumpi_memory_side(memory, block.successors[i], block.post_dominator, block.successors[!i], ++mark,
                                    &arena->allocator, &edges);
    }
    ok = ok && gpumpi_graph_build(arena, &memory->graph, blocks, edges.from, edges.to, stbds_arrlenu(edges.from));
    GPUMPI_ARRAY_FREE(&arena->allocator, edges.from);
    GPUMPI_ARRAY_FREE(&arena->allocator, edges.to);
    memset(memory->seen, 0, blocks * sizeof *memory->seen);
    return ok;
}

/* ---- exactly known places ---- */

typedef struct gpumpi_memory_place {
    int64_t offset;
    uint32_t spill, object, address, value, bytes;
    uint32_t slot; /* not of the place: its number */
} gpumpi_memory_place;
static int gpumpi_memory_place_of(const gpump_program *program, const gpump_instruction *in,
                                  gpumpi_memory_place *place) {
    memset(place, 0, sizeof *place);
    place->slot = GPUMP_NONE;
    if (in->operation == GPUMP_OP_SPILL_LOAD || in->operation == GPUMP_OP_SPILL_STORE) {
        place->spill = 1;
        place->offset = in->immediate;
        place->bytes = gpumpi_memory_spill_bytes(program, in);
        return 1;
    }
    if (!in->access || in->object == GPUMP_NONE || in->address == GPUMP_ADDRESS_ANYWHERE ||
        in->operation == GPUMP_OP_CHECK)
        return 0;
    place->object = in->object;
    place->address = in->address;
    place->value = in->address == GPUMP_ADDRESS_VALUE ? in->value : 0;
    place->offset = in->offset;
    place->bytes = in->bytes;
    return 1;
}
/* Any order will do. */
static int gpumpi_memory_compare_places(const void *a, const void *b) {
    return memcmp(a, b, offsetof(gpumpi_memory_place, slot));
}

/* Numbers the places that some unguarded store writes exactly and some read reads exactly. */
static int gpumpi_memory_number_places(gpumpi_arena *arena, gpumpi_memory *memory) {
    const gpump_program *program = memory->program;
    uint32_t count = gpumpi_program_instructions(program), i, n = 0, k;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    gpumpi_memory_place *places, place;
    if (!GPUMPI_ARENA_NEW(arena, memory->slot, count) || !GPUMPI_ARENA_NEW(&scratch, places, count)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    for (i = 0; i < count; i++) {
        gpump_instruction in;
        memory->slot[i] = GPUMP_NONE;
        gpump_program_instruction(program, i, &in);
        if (gpumpi_memory_writes(&in) && in.guard == GPUMP_NONE && gpumpi_memory_place_of(program, &in, &place))
            places[n++] = place;
    }
    qsort(places, n, sizeof *places, gpumpi_memory_compare_places);
    for (i = k = 0; i < n; i++)
        if (!k || gpumpi_memory_compare_places(&places[i], &places[k - 1])) places[k++] = places[i];
    memory->slots = k;
    for (i = 0; i < k; i++) places[i].slot = i;
    for (i = 0; i < count && k; i++) {
        gpump_instruction in;
        const gpumpi_memory_place *found;
        gpump_program_instruction(program, i, &in);
        if ((!gpumpi_memory_writes(&in) && !gpumpi_memory_reads(&in)) || !gpumpi_memory_place_of(program, &in, &place))
            continue;
        found = (const gpumpi_memory_place *)bsearch(&place, places, k, sizeof *places, gpumpi_memory_compare_places);
        if (found) memory->slot[i] = found->slot;
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

static int gpumpi_memory_compare_classes(const void *a, const void *b) {
    const uint32_t *x = (const uint32_t *)a, *y = (const uint32_t *)b;
    return *x < *y ? -1 : *x > *y;
}

/* Finds kind[]. Most writes go to objects that no instruction reads, so the search for their reads can be left out. */
static int gpumpi_memory_find_kinds(gpumpi_arena *arena, gpumpi_memory *memory) {
    const gpump_program *program = memory->program;
    uint32_t count = gpumpi_program_instructions(program), objects = gpumpi_program_objects(program), i, classes = 0,
             *class_read;
    uint8_t *is_read, anywhere = 0, spills = 0;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    gpump_instruction in;
    if (!GPUMPI_ARENA_NEW(arena, memory->kind, count) || !GPUMPI_ARENA_NEW(&scratch, is_read, objects) ||
        !GPUMPI_ARENA_NEW(&scratch, class_read, objects)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    for (i = 0; i < count; i++) {
        gpump_program_instruction(program, i, &in);
        if (!gpumpi_memory_reads(&in)) continue;
        memory->kind[i] = GPUMPI_MEMORY_READS;
        if (in.operation == GPUMP_OP_SPILL_LOAD)
            spills = 1;
        else if (in.object == GPUMP_NONE)
            anywhere = 1;
        else
            is_read[in.object] = 1;
    }
    for (i = 0; i < objects; i++)
        if (is_read[i]) class_read[classes++] = gpump_program_object(program, i).alias_class;
    qsort(class_read, classes, sizeof *class_read, gpumpi_memory_compare_classes);
    for (i = 0; i < count; i++) {
        int meets = anywhere;
        gpump_program_instruction(program, i, &in);
        if (!gpumpi_memory_writes(&in)) continue;
        if (in.operation == GPUMP_OP_SPILL_STORE)
            meets = spills;
        else if (in.object == GPUMP_NONE)
            meets = anywhere || classes;
        else {
            uint32_t alias_class = gpump_program_object(program, in.object).alias_class;
            meets |= is_read[in.object] ||
                     (alias_class != GPUMP_NONE && bsearch(&alias_class, class_read, classes, sizeof *class_read,
                                                           gpumpi_memory_compare_classes) != NULL);
        }
        if (meets) memory->kind[i] |= GPUMPI_MEMORY_MEETS_READ;
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

GPUMP_API int gpumpi_memory_make(gpumpi_arena *arena, const gpump_program *program, uint32_t unit,
                                 gpumpi_memory *memory) {
    uint32_t count = gpumpi_program_instructions(program), blocks = gpumpi_program_basic_blocks(program), i, k, reached,
             *preorder, *number, *parent;
    gpumpi_graph flow;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint32_t *from, *to, edges = 0;
    int ok = 0;
    memset(memory, 0, sizeof *memory);
    memory->program = program;
    memory->unit = unit;
    memory->blocks = blocks;
    if (!GPUMPI_ARENA_NEW(arena, memory->start, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(arena, memory->is_protected, count) ||
        !GPUMPI_ARENA_NEW(arena, memory->stack, (size_t)blocks + 1) || !GPUMPI_ARENA_NEW(arena, memory->seen, blocks) ||
        !GPUMPI_ARENA_NEW(arena, memory->order, blocks) || !GPUMPI_ARENA_NEW(&scratch, preorder, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, number, blocks) || !GPUMPI_ARENA_NEW(&scratch, parent, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, from, (size_t)blocks * 2) || !GPUMPI_ARENA_NEW(&scratch, to, (size_t)blocks * 2))
        goto end;
    for (i = 0; i < blocks; i++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, i, &block);
        for (k = 0; k < block.successor_count; k++) {
            from[edges] = i;
            to[edges++] = block.successors[k];
        }
    }
    if (!gpumpi_graph_build(&scratch, &flow, blocks, from, to, edges)) goto end;
    reached = gpumpi_graph_search(&scratch, &flow, 0, preorder, memory->order, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (i = 0; i < reached / 2; i++) {
        k = memory->order[i];
        memory->order[i] = memory->order[reached - 1 - i];
        memory->order[reached - 1 - i] = k;
    }
    ok = gpumpi_memory_build_graph(arena, memory) && gpumpi_memory_number_places(arena, memory) &&
         gpumpi_memory_find_kinds(arena, memory);
    memory->blocks = reached; /* as many as order[] has */
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

GPUMP_API int gpumpi_memory_protect(gpumpi_arena *arena, gpumpi_memory *memory) {
    const gpump_program *program = memory->program;
    uint32_t words = gpump_bits_words(memory->slots), blocks = gpumpi_program_basic_blocks(program), k, n, i, w;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint64_t *out, *set; /* out: what is surely written at the end of each block; all ones until it was visited */
    int changed = 1, last = 0;
    memset(memory->is_protected, 0, gpumpi_program_instructions(program));
    if (!memory->slots) return 1;
    if (!GPUMPI_ARENA_NEW(&scratch, out, (size_t)blocks * words) || !GPUMPI_ARENA_NEW(&scratch, set, words)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    memset(out, 0xff, (size_t)blocks * words * sizeof *out);
    while (changed || !last) {
        last = !changed; /* one more round with the final sets marks the reads */
        changed = 0;
        for (n = 0; n < memory->blocks; n++) {
            uint32_t b = memory->order[n];
            gpump_basic_block block;
            gpump_program_basic_block(program, b, &block);
            memset(set, b ? 0xff : 0, words * sizeof *set);
            for (k = 0; k < block.predecessor_count && b; k++)
                for (w = 0; w < words; w++) set[w] &= out[(size_t)block.predecessors[k] * words + w];
            for (i = block.first; i < block.first + block.count; i++) {
                gpump_instruction in;
                if (memory->start[i]) memset(set, 0, words * sizeof *set);
                if (memory->slot[i] == GPUMP_NONE) continue;
                gpump_program_instruction(program, i, &in);
                if (last && gpumpi_memory_reads(&in))
                    memory->is_protected[i] = (uint8_t)gpump_bits_get(set, memory->slot[i]);
                if (gpumpi_memory_writes(&in) && in.guard == GPUMP_NONE) gpump_bits_set(set, memory->slot[i]);
            }
            if (memcmp(out + (size_t)b * words, set, words * sizeof *set)) {
                memcpy(out + (size_t)b * words, set, words * sizeof *set);
                changed = 1;
            }
        }
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

/* Walks up in block b from position `at`. 1: the way on leads to the predecessors; 0: it ended at a region's start or
 * at a read; -1: out of memory. */
static int gpumpi_memory_scan(gpumpi_memory *memory, uint32_t b, uint32_t at, uint32_t write,
                              const gpump_allocator *allocator, uint32_t **reads) {
    gpump_basic_block block;
    gpump_program_basic_block(memory->program, b, &block);
    for (;;) {
        if (at < block.first + block.count && memory->start[at]) return 0;
        if (at-- == block.first) return 1;
        if (memory->kind[at] & GPUMPI_MEMORY_READS && !memory->is_protected[at] &&
            gpumpi_memory_may_alias(memory, at, write))
            return GPUMPI_ARRAY_PUSH(allocator, *reads, at) ? 0 : -1;
    }
}

GPUMP_API int gpumpi_memory_walk(gpumpi_memory *memory, uint32_t write, uint32_t mark, const gpump_allocator *allocator,
                                 uint32_t **reads) {
    uint32_t top = 0, b = gpump_program_basic_block_of(memory->program, write), at = write, e;
    gpump_instruction in;
    int own; /* only the thread itself reaches the place: other lanes do not matter */
    if (!(memory->kind[write] & GPUMPI_MEMORY_MEETS_READ)) return 1;
    gpump_program_instruction(memory->program, write, &in);
    own = in.operation == GPUMP_OP_SPILL_STORE || in.space == GPUMP_SPACE_LOCAL;
    for (;;) {
        gpump_basic_block block;
        const uint32_t *from;
        uint32_t count;
        int open = gpumpi_memory_scan(memory, b, at, write, allocator, reads);
        if (open < 0) return 0;
        gpump_program_basic_block(memory->program, b, &block);
        from = own ? block.predecessors : memory->graph.pred + memory->graph.pred_start[b];
        count = own ? block.predecessor_count : memory->graph.pred_start[b + 1] - memory->graph.pred_start[b];
        for (e = 0; open && e < count; e++)
            if (memory->seen[from[e]] != mark) memory->seen[memory->stack[top++] = from[e]] = mark;
        if (!top) return 1;
        b = memory->stack[--top];
        gpump_program_basic_block(memory->program, b, &block);
        at = block.first + block.count;
    }
}

/* ---- registers ---- */

/* What the walk through one region knows at the start of each block: the live-ins that some path has not written yet,
 * and which of them have been read. */
typedef struct gpumpi_clobbers_region {
    const gpump_program *program;
    const uint8_t *start;
    uint32_t count, words;     /* live-ins, words of a set of them */
    uint32_t *local;           /* register -> its number among them, GPUMP_NONE */
    uint32_t *where, *visited; /* block -> its place in pool (where visited says this region) */
    uint64_t *pool, *now;      /* sets: unwritten, read; two per block */
    uint8_t *reported;
} gpumpi_clobbers_region;

/* Runs block b from instruction `at`. 1: it goes on to the successors with region->now; 0: it ends; -1: out of memory.
 */
static int gpumpi_clobbers_run(gpumpi_clobbers_region *region, uint32_t b, uint32_t at, uint32_t start,
                               const gpump_allocator *allocator, gpumpi_register_clobber **list) {
    uint64_t *unwritten = region->now, *read = region->now + region->words;
    gpump_basic_block block;
    uint32_t i, k, w;
    gpump_program_basic_block(region->program, b, &block);
    for (i = at; i < block.first + block.count; i++) {
        gpump_instruction in;
        if (region->start[i] && i != at) return 0;
        gpump_program_instruction(region->program, i, &in);
        for (k = 0; k <= in.use_count; k++) {
            uint32_t operand = k < in.use_count ? in.uses[k] : in.guard;
            if (operand == GPUMP_NONE) continue;
            GPUMPI_OPERAND_REGISTERS(operand, reg, {
                uint32_t n = region->local[reg];
                if (n != GPUMP_NONE && gpump_bits_get(unwritten, n)) gpump_bits_set(read, n);
            });
        }
        for (k = 0; k < in.def_count; k++) {
            int ok = 1;
            GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, {
                uint32_t n = region->local[reg];
                if (n != GPUMP_NONE) {
                    if (gpump_bits_get(read, n) && !region->reported[n]) {
                        gpumpi_register_clobber found;
                        found.start = start;
                        found.reg = reg;
                        found.write = i;
                        region->reported[n] = 1;
                        ok = ok && GPUMPI_ARRAY_PUSH(allocator, *list, found);
                    }
                    if (gpumpi_kills(&in)) gpump_bits_clear(unwritten, n);
                }
            });
            if (!ok) return -1;
        }
    }
    for (w = 0; w < 2 * region->words; w++)
        if (region->now[w]) return 1;
    return 0;
}

/* Follows one region from its start to the next boundaries, until the sets of its blocks no longer change. */
static int gpumpi_clobbers_follow(gpumpi_clobbers_region *region, uint32_t start, uint32_t *stack, uint32_t *queued,
                                  uint32_t mark, const gpump_allocator *allocator, gpumpi_register_clobber **list) {
    uint32_t b = gpump_program_basic_block_of(region->program, start), at = start, top = 0, k, w,
             sets = 2 * region->words;
    for (;;) {
        gpump_basic_block block;
        int goes_on = gpumpi_clobbers_run(region, b, at, start, allocator, list);
        if (goes_on < 0) return 0;
        gpump_program_basic_block(region->program, b, &block);
        for (k = 0; k < block.successor_count && goes_on; k++) {
            uint32_t to = block.successors[k];
            int fresh = 0;
            gpump_basic_block next;
            gpump_program_basic_block(region->program, to, &next);
            if (region->start[next.first]) continue;
            if (region->visited[to] != mark) {
                region->visited[to] = mark;
                region->where[to] = (uint32_t)(stbds_arrlenu(region->pool) / sets);
                if (!GPUMPI_ARRAY_RESERVE(allocator, region->pool, sets)) return 0;
                for (w = 0; w < sets; w++) stbds_arrput(region->pool, 0);
                fresh = 1;
            }
            for (w = 0; w < sets; w++) {
                uint64_t *old = &region->pool[(size_t)region->where[to] * sets + w];
                fresh |= (region->now[w] & ~*old) != 0;
                *old |= region->now[w];
            }
            if (fresh && queued[to] != mark) queued[stack[top++] = to] = mark;
        }
        if (!top) return 1;
        b = stack[--top];
        queued[b] = 0;
        gpump_program_basic_block(region->program, b, &block);
        at = block.first;
        memcpy(region->now, region->pool + (size_t)region->where[b] * sets, sets * sizeof *region->now);
    }
}

GPUMP_API int gpumpi_register_clobbers(gpumpi_arena *arena, const gpump_program *program,
                                       const gpump_liveness *liveness, const uint8_t *start,
                                       const gpump_allocator *allocator, gpumpi_register_clobber **list) {
    uint32_t registers = gpumpi_program_registers(program), blocks = gpumpi_program_basic_blocks(program), i, w,
             mark = 0, *stack, *queued, *live, *stamp;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    gpumpi_clobbers_region region;
    int ok = 0;
    memset(&region, 0, sizeof region);
    region.program = program;
    region.start = start;
    if (!GPUMPI_ARENA_NEW(&scratch, region.local, registers) || !GPUMPI_ARENA_NEW(&scratch, region.where, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, region.visited, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, region.now, 2 * ((size_t)gpump_bits_words(registers) + 1)) ||
        !GPUMPI_ARENA_NEW(&scratch, region.reported, registers) || !GPUMPI_ARENA_NEW(&scratch, stack, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, queued, blocks) || !GPUMPI_ARENA_NEW(&scratch, live, registers) ||
        !GPUMPI_ARENA_NEW(&scratch, stamp, registers))
        goto end;
    for (i = 0; i < registers; i++) region.local[i] = GPUMP_NONE;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        if (!start[i]) continue;
        region.count = gpumpi_liveness_list(liveness, i, 0, stamp, 2 * (i + 1), live);
        if (!region.count) continue;
        for (w = 0; w < region.count; w++) region.local[live[w]] = w;
        region.words = gpump_bits_words(region.count);
        memset(region.now, 0, 2 * region.words * sizeof *region.now);
        for (w = 0; w < region.count; w++) {
            gpump_bits_set(region.now, w);
            region.reported[w] = 0;
        }
        if (region.pool) stbds_header(region.pool)->length = 0;
        ok = gpumpi_clobbers_follow(&region, i, stack, queued, ++mark, allocator, list);
        for (w = 0; w < region.count; w++) region.local[live[w]] = GPUMP_NONE;
        if (!ok) goto end;
    }
    ok = 1;
end:
    GPUMPI_ARRAY_FREE(allocator, region.pool);
    gpumpi_arena_free(&scratch);
    return ok;
}

/* ---- the public questions ---- */

GPUMP_API gpump_result gpump_clobbers_find(const gpump_program *program, uint32_t unit, uint32_t level,
                                           gpump_clobber *out, uint32_t capacity, uint32_t *count) {
    gpumpi_arena scratch;
    const gpump_allocator *allocator;
    gpumpi_memory memory;
    gpump_liveness *liveness = NULL;
    gpumpi_register_clobber *registers = NULL;
    gpump_clobber *found = NULL, one;
    uint32_t *reads = NULL, i, k;
    gpump_result result = GPUMP_ERROR_MEMORY;
    if (!program || !count || (!out && capacity) || !unit || unit > GPUMP_UNIT_WARP || level > GPUMP_BOUNDARY_SHORT)
        return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_program_basic_blocks(program)) return GPUMP_ERROR_STATE;
    allocator = gpumpi_program_allocator(program);
    scratch = gpumpi_arena_make(allocator);
    if (!gpumpi_memory_make(&scratch, program, unit, &memory)) goto end;
    gpumpi_boundary_starts(program, level, memory.start);
    if (!gpumpi_memory_protect(&scratch, &memory)) goto end;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (!gpumpi_memory_writes(&in) || gpumpi_memory_ends_region(&memory, i, &in)) continue;
        if (reads) stbds_header(reads)->length = 0;
        if (!gpumpi_memory_walk(&memory, i, i + 1, allocator, &reads)) goto end;
        one.start = one.reg = GPUMP_NONE;
        one.write = i;
        for (k = 0; k < stbds_arrlenu(reads); k++) {
            one.read = reads[k];
            if (!GPUMPI_ARRAY_PUSH(allocator, found, one)) goto end;
        }
    }
    result = gpump_liveness_create(program, allocator, &liveness);
    if (result != GPUMP_OK) goto end;
    result = GPUMP_ERROR_MEMORY;
    if (!gpumpi_register_clobbers(&scratch, program, liveness, memory.start, allocator, &registers)) goto end;
    for (k = 0; k < stbds_arrlenu(registers); k++) {
        one.start = registers[k].start;
        one.read = GPUMP_NONE;
        one.write = registers[k].write;
        one.reg = registers[k].reg;
        if (!GPUMPI_ARRAY_PUSH(allocator, found, one)) goto end;
    }
    *count = (uint32_t)stbds_arrlenu(found);
    result = *count <= capacity ? GPUMP_OK : GPUMP_ERROR_CAPACITY;
    if (result == GPUMP_OK && *count) memcpy(out, found, *count * sizeof *found);
end:
    GPUMPI_ARRAY_FREE(allocator, found);
    GPUMPI_ARRAY_FREE(allocator, reads);
    GPUMPI_ARRAY_FREE(allocator, registers);
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}

/* A read and the place it reads, as gpump_program_may_alias looks at it. */
typedef struct gpumpi_clobbers_read {
    int64_t offset;
    uint32_t space, object, address, value, bytes, thread_stride;
    uint32_t instruction; /* not of the place */
} gpumpi_clobbers_read;
/* Any order will do. */
static int gpumpi_clobbers_compare_reads(const void *a, const void *b) {
    return memcmp(a, b, offsetof(gpumpi_clobbers_read, instruction));
}

static uint32_t gpumpi_clobbers_root(uint32_t *set, uint32_t x) {
    while (set[x] != x) x = set[x] = set[set[x]];
    return x;
}

/* The parts of a program: union-find over its instructions, joined where no barrier lies between them; and the graph of
 * parts, whose edges are the barriers. */
typedef struct gpumpi_clobbers_parts {
    uint32_t *set; /* instruction -> its part (gpumpi_clobbers_root) */
    gpumpi_graph graph;
    uint32_t *stack, *seen; /* of a walk over the parts */
} gpumpi_clobbers_parts;

static int gpumpi_clobbers_make_parts(gpumpi_clobbers_parts *parts, const gpump_program *program, gpumpi_arena *arena) {
    uint32_t instructions = gpumpi_program_instructions(program), edges = 0, b, i, k, *set, *from, *to;
    if (!GPUMPI_ARENA_NEW(arena, set, instructions) || !GPUMPI_ARENA_NEW(arena, from, instructions) ||
        !GPUMPI_ARENA_NEW(arena, to, instructions) || !GPUMPI_ARENA_NEW(arena, parts->stack, instructions) ||
        !GPUMPI_ARENA_NEW(arena, parts->seen, instructions))
        return 0;
    for (i = 0; i < instructions; i++) set[i] = i;
    for (b = 0; b < gpumpi_program_basic_blocks(program); b++) {
        gpump_basic_block block, next;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            gpump_instruction in;
            int last = i + 1 == block.first + block.count;
            gpump_program_instruction(program, i, &in);
            for (k = 0; k < (last ? block.successor_count : 1u); k++) {
                uint32_t target = i + 1;
                if (last) {
                    gpump_program_basic_block(program, block.successors[k], &next);
                    target = next.first;
                }
                if (in.operation == GPUMP_OP_BARRIER || in.operation == GPUMP_OP_BARRIER_PP) {
                    from[edges] = i;
                    to[edges++] = target;
                } else
                    set[gpumpi_clobbers_root(set, i)] = gpumpi_clobbers_root(set, target);
            }
        }
    }
    for (k = 0; k < edges; k++) {
        from[k] = gpumpi_clobbers_root(set, from[k]);
        to[k] = gpumpi_clobbers_root(set, to[k]);
    }
    parts->set = set;
    return gpumpi_graph_build(arena, &parts->graph, instructions, from, to, edges);
}

/* Lists the reads and the writes of global memory that a rewind has to do with, and marks atomics and volatile writes.
 */
static int gpumpi_clobbers_collect(const gpump_program *program, const gpumpi_memory *memory, uint8_t *clobbers,
                                   gpumpi_clobbers_read **reads, uint32_t *writes, uint32_t *write_count) {
    uint32_t i;
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpumpi_clobbers_read read;
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        clobbers[i] = gpumpi_memory_writes(&in) && in.flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE);
        if (in.space != GPUMP_SPACE_GLOBAL && in.space != GPUMP_SPACE_GENERIC) continue;
        if (in.operation == GPUMP_OP_SPILL_LOAD || in.operation == GPUMP_OP_SPILL_STORE) continue;
        if (memory->kind[i] & GPUMPI_MEMORY_MEETS_READ && !clobbers[i]) writes[(*write_count)++] = i;
        if (!(memory->kind[i] & GPUMPI_MEMORY_READS) || memory->is_protected[i]) continue;
        read.instruction = i;
        read.space = in.space;
        read.object = in.object;
        read.address = in.address;
        read.value = in.value;
        read.bytes = in.bytes;
        read.thread_stride = in.thread_stride;
        read.offset = in.offset;
        if (!GPUMPI_ARRAY_PUSH(gpumpi_program_allocator(program), *reads, read)) return 0;
    }
    return 1;
}

/* Marks the parts that can run after one of these reads, all of one place. */
static void gpumpi_clobbers_walk(const gpumpi_clobbers_parts *parts, const gpumpi_clobbers_read *reads, uint32_t count,
                                 uint32_t mark) {
    const gpumpi_graph *graph = &parts->graph;
    uint32_t *stack = parts->stack, *seen = parts->seen, top = 0, i, e;
    for (i = 0; i < count; i++) {
        uint32_t root = gpumpi_clobbers_root(parts->set, reads[i].instruction);
        if (seen[root] != mark) seen[stack[top++] = root] = mark;
    }
    while (top) {
        uint32_t at = stack[--top];
        for (e = graph->succ_start[at]; e < graph->succ_start[at + 1]; e++)
            if (seen[graph->succ[e]] != mark) seen[stack[top++] = graph->succ[e]] = mark;
    }
}

/* Other warps run at other places of the program, held together only by barriers. Parts of the program connected
 * without crossing a barrier may run at the same time. In any other case a read comes before a write only where the
 * flow of control leads from the part of the read to the part of the write. The nodes of the graph of parts are places
 * between instructions: node i stands before instruction i. A barrier i separates node i from node i + 1. */
GPUMP_API gpump_result gpump_clobbers_block(const gpump_program *program, uint8_t *clobbers, uint32_t *count) {
    gpumpi_arena scratch;
    gpumpi_memory memory;
    gpumpi_clobbers_parts parts;
    gpumpi_clobbers_read *reads = NULL;
    uint32_t instructions, i, k, first, found = 0, *writes, write_count = 0;
    gpump_result result = GPUMP_ERROR_MEMORY;
    if (!program || !clobbers) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_program_basic_blocks(program)) return GPUMP_ERROR_STATE;
    scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    instructions = gpumpi_program_instructions(program);
    if (!gpumpi_memory_make(&scratch, program, GPUMP_UNIT_BLOCK, &memory) ||
        !gpumpi_memory_protect(&scratch, &memory) || !GPUMPI_ARENA_NEW(&scratch, writes, instructions) ||
        !gpumpi_clobbers_make_parts(&parts, program, &scratch) ||
        !gpumpi_clobbers_collect(program, &memory, clobbers, &reads, writes, &write_count))
        goto end;
    if (reads) qsort(reads, stbds_arrlenu(reads), sizeof *reads, gpumpi_clobbers_compare_reads);
    /* For the reads of each place: the writes after them that may meet it. A write that was marked is not asked again.
     */
    for (first = 0; first < stbds_arrlenu(reads) && write_count; first = k) {
        uint32_t kept = 0;
        for (k = first + 1; k < stbds_arrlenu(reads) && !gpumpi_clobbers_compare_reads(&reads[k], &reads[first]);) k++;
        gpumpi_clobbers_walk(&parts, &reads[first], k - first, first + 1);
        for (i = 0; i < write_count; i++) {
            uint32_t w = writes[i];
            clobbers[w] = parts.seen[gpumpi_clobbers_root(parts.set, w)] == first + 1 &&
                          gpump_program_may_alias(program, reads[first].instruction, w, GPUMP_UNIT_BLOCK);
            if (!clobbers[w]) writes[kept++] = w;
        }
        write_count = kept;
    }
    for (i = 0; i < instructions; i++) found += clobbers[i];
    if (count) *count = found;
    result = GPUMP_OK;
end:
    GPUMPI_ARRAY_FREE(gpumpi_program_allocator(program), reads);
    gpumpi_arena_free(&scratch);
    return result;
}
#endif
