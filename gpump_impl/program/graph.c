/* graph (private): memory of the analyses, depth-first search, dominators; see program_parts.h */
#include "program/program_parts.h"

#ifndef GPUMP_NO_PROGRAM

struct gpumpi_arena_chunk {
    gpumpi_arena_chunk *next;
    uint64_t bytes; /* keeps what follows 16-aligned on 64-bit machines, 8-aligned elsewhere */
};

GPUMP_API gpumpi_arena gpumpi_arena_make(const gpump_allocator *allocator) {
    gpumpi_arena arena;
    arena.allocator = allocator ? *allocator : gpumpi_allocator_default();
    arena.chunks = NULL;
    return arena;
}

GPUMP_API int gpumpi_arena_new(gpumpi_arena *arena, void *array, size_t element_bytes, size_t count) {
    size_t bytes;
    void *elements;
    gpumpi_arena_chunk *chunk;
    if (!count) count = 1;
    if (count > (SIZE_MAX - sizeof *chunk) / element_bytes) return 0;
    bytes = sizeof *chunk + count * element_bytes;
    chunk = (gpumpi_arena_chunk *)arena->allocator.reallocate(arena->allocator.user, NULL, 0, bytes);
    if (!chunk) return 0;
    memset(chunk, 0, bytes);
    chunk->next = arena->chunks;
    chunk->bytes = bytes;
    arena->chunks = chunk;
    elements = chunk + 1;
    memcpy(array, &elements, sizeof elements);
    return 1;
}

GPUMP_API void gpumpi_arena_free(gpumpi_arena *arena) {
    while (arena->chunks) {
        gpumpi_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        arena->allocator.reallocate(arena->allocator.user, chunk, (size_t)chunk->bytes, 0);
    }
}

GPUMP_API int gpumpi_group(gpumpi_arena *arena, uint32_t keys, const uint32_t *key, const uint32_t *value, size_t count,
                           uint32_t **start_out, uint32_t **out) {
    uint32_t n, *start;
    size_t i;
    if (!GPUMPI_ARENA_NEW(arena, start, (size_t)keys + 1) || !GPUMPI_ARENA_NEW(arena, *out, count)) return 0;
    for (i = 0; i < count; i++) start[key[i] + 1]++;
    for (n = 0; n < keys; n++) start[n + 1] += start[n];
    for (i = 0; i < count; i++) (*out)[start[key[i]]++] = value[i];
    for (n = keys; n > 0; n--) start[n] = start[n - 1];
    start[0] = 0;
    *start_out = start;
    return 1;
}

GPUMP_API int gpumpi_graph_build(gpumpi_arena *arena, gpumpi_graph *graph, uint32_t nodes, const uint32_t *from,
                                 const uint32_t *to, size_t count) {
    graph->nodes = nodes;
    return gpumpi_group(arena, nodes, from, to, count, &graph->succ_start, &graph->succ) &&
           gpumpi_group(arena, nodes, to, from, count, &graph->pred_start, &graph->pred);
}

GPUMP_API uint32_t gpumpi_graph_search(gpumpi_arena *arena, const gpumpi_graph *graph, uint32_t root,
                                       uint32_t *preorder, uint32_t *postorder, uint32_t *number, uint32_t *parent) {
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint32_t n, reached = 0, done = 0, top = 0, *stack, *next;
    if (!GPUMPI_ARENA_NEW(&scratch, stack, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, next, graph->nodes)) {
        gpumpi_arena_free(&scratch);
        return GPUMP_NONE;
    }
    for (n = 0; n < graph->nodes; n++) number[n] = parent[n] = GPUMP_NONE;
    preorder[reached] = root;
    number[root] = reached++;
    next[root] = graph->succ_start[root];
    stack[top++] = root;
    while (top) {
        uint32_t at = stack[top - 1], to;
        if (next[at] == graph->succ_start[at + 1]) {
            if (postorder) postorder[done++] = at;
            top--;
            continue;
        }
        to = graph->succ[next[at]++];
        if (number[to] != GPUMP_NONE) continue;
        preorder[reached] = to;
        number[to] = reached++;
        parent[to] = at;
        next[to] = graph->succ_start[to];
        stack[top++] = to;
    }
    gpumpi_arena_free(&scratch);
    return reached;
}

/* Semi-dominators with path compression, then the nearest common ancestor in the tree under construction (Georgiadis).
 * All numbers below are places in preorder. */
GPUMP_API int gpumpi_graph_dominators(gpumpi_arena *arena, const gpumpi_graph *graph, uint32_t root, uint32_t *idom) {
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint32_t n, i, reached, *preorder, *number, *parent, *semi, *label, *ancestor, *dominator, *path;
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, preorder, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, number, graph->nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, parent, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, semi, graph->nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, label, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, ancestor, graph->nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, dominator, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, path, graph->nodes))
        goto end;
    reached = gpumpi_graph_search(&scratch, graph, root, preorder, NULL, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (i = 0; i < reached; i++) {
        semi[i] = label[i] = i;
        ancestor[i] = dominator[i] = i ? number[parent[preorder[i]]] : 0;
    }
    for (i = reached; i-- > 1;) { /* nodes above i are linked to their ancestors */
        uint32_t e, best = dominator[i];
        for (e = graph->pred_start[preorder[i]]; e < graph->pred_start[preorder[i] + 1]; e++) {
            uint32_t v = number[graph->pred[e]], length = 0, u;
            if (v == GPUMP_NONE) continue;
            if (v > i) {
                for (u = v; ancestor[u] > i; u = ancestor[u]) path[length++] = u;
                while (length--) { /* from the top down: take over the ancestor's smaller label and skip it */
                    uint32_t w = path[length], up = ancestor[w];
                    if (semi[label[up]] < semi[label[w]]) label[w] = label[up];
                    ancestor[w] = ancestor[up];
                }
                v = semi[label[v]];
            }
            if (v < best) best = v;
        }
        semi[i] = best;
        label[i] = i;
    }
    for (i = 1; i < reached; i++)
        while (dominator[i] > semi[i]) dominator[i] = dominator[dominator[i]];
    for (n = 0; n < graph->nodes; n++) idom[n] = GPUMP_NONE;
    for (i = 1; i < reached; i++) idom[preorder[i]] = preorder[dominator[i]];
    ok = 1;
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

GPUMP_API int gpumpi_graph_intervals(gpumpi_arena *arena, uint32_t nodes, const uint32_t *idom, uint32_t root,
                                     uint32_t *enter, uint32_t *leave) {
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint32_t n, edges = 0, reached, *from, *to, *preorder, *number, *parent, *size;
    gpumpi_graph tree;
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, from, nodes) || !GPUMPI_ARENA_NEW(&scratch, to, nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, preorder, nodes) || !GPUMPI_ARENA_NEW(&scratch, number, nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, parent, nodes) || !GPUMPI_ARENA_NEW(&scratch, size, nodes))
        goto end;
    for (n = 0; n < nodes; n++)
        if (idom[n] != GPUMP_NONE) {
            from[edges] = idom[n];
            to[edges++] = n;
        }
    if (!gpumpi_graph_build(&scratch, &tree, nodes, from, to, edges)) goto end;
    reached = gpumpi_graph_search(&scratch, &tree, root, preorder, NULL, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (n = reached; n-- > 0;) {
        size[preorder[n]]++;
        if (n) size[parent[preorder[n]]] += size[preorder[n]];
    }
    for (n = 0; n < nodes; n++) {
        enter[n] = number[n] == GPUMP_NONE ? 1 : number[n];
        leave[n] = number[n] == GPUMP_NONE ? 0 : number[n] + size[n] - 1;
    }
    ok = 1;
end:
    gpumpi_arena_free(&scratch);
    return ok;
}
#endif
