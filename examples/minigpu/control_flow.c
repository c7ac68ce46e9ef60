/* control_flow: where the lanes of a divergent branch come together again: its immediate post-dominator. */
#include <stdlib.h>
#include <string.h>
#include "ptx_internal.h"

/* Basic blocks, with one more for the end of the kernel. */
typedef struct flow {
    uint32_t *block_of;   /* instruction -> block */
    uint32_t *first;      /* block -> first instruction; blocks + 1 entries */
    uint32_t *successors; /* block -> two; INSTRUCTION_NONE: none */
    uint32_t *order;      /* blocks in reverse post-order of the reversed graph */
    uint32_t *rank;       /* block -> place in it */
    uint32_t *parent;     /* block -> immediate post-dominator */
    uint32_t blocks;
} flow;

static int ends_path(const instruction *i) {
    return (i->opcode == OPCODE_RET || i->opcode == OPCODE_EXIT || i->opcode == OPCODE_TRAP) && i->guard == INSTRUCTION_NONE;
}
static int ends_block(const instruction *i) {
    return i->opcode == OPCODE_BRA || i->opcode == OPCODE_RET || i->opcode == OPCODE_EXIT || i->opcode == OPCODE_TRAP;
}

static uint32_t common(const flow *f, uint32_t a, uint32_t b) {
    while (a != b) {
        while (f->rank[a] > f->rank[b]) a = f->parent[a];
        while (f->rank[b] > f->rank[a]) b = f->parent[b];
    }
    return a;
}

/* Post-dominators by the iteration of Cooper, Harvey and Kennedy on the reversed graph. A block from which the end cannot be reached (an
 * endless loop) gets the end as its post-dominator. */
static int post_dominators(flow *f) {
    uint32_t blocks = f->blocks, nodes = blocks + 1, *heads = NULL, *edges = NULL, *stack = NULL, *at = NULL, count = 0, depth = 0;
    int status = -1;
    heads = (uint32_t *)calloc(nodes + 1, sizeof *heads); /* predecessors in counted rows */
    edges = (uint32_t *)malloc(((size_t)blocks * 2 + nodes) * sizeof *edges);
    stack = (uint32_t *)malloc(nodes * sizeof *stack);
    at = (uint32_t *)malloc(nodes * sizeof *at);
    if (!heads || !edges || !stack || !at) goto done;
    for (uint32_t i = 0; i < blocks * 2; i++)
        if (f->successors[i] != INSTRUCTION_NONE) heads[f->successors[i]]++;
    for (uint32_t i = 0, sum = 0; i <= nodes; i++) {
        uint32_t here = i < nodes ? heads[i] : 0;
        sum += here;
        heads[i] = sum;
    }
    for (uint32_t i = blocks * 2; i-- > 0;)
        if (f->successors[i] != INSTRUCTION_NONE) edges[--heads[f->successors[i]]] = i / 2;
    for (uint32_t i = 0; i < nodes; i++) {
        f->rank[i] = INSTRUCTION_NONE;
        f->parent[i] = blocks;
        at[i] = heads[i];
    }
    f->rank[blocks] = 0;
    stack[depth++] = blocks;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (at[node] < heads[node + 1]) {
            uint32_t next = edges[at[node]++];
            if (f->rank[next] == INSTRUCTION_NONE) {
                f->rank[next] = 0;
                stack[depth++] = next;
            }
        } else {
            f->order[count++] = node; /* post-order */
            depth--;
        }
    }
    for (uint32_t i = 0; i < count; i++) f->rank[f->order[i]] = count - 1 - i;
    for (uint32_t i = 0; i < blocks; i++) f->parent[i] = INSTRUCTION_NONE;
    for (int changed = 1; changed;) {
        changed = 0;
        for (uint32_t i = count; i-- > 0;) {
            uint32_t node = f->order[i], best = INSTRUCTION_NONE;
            if (node == blocks) continue;
            for (uint32_t k = 0; k < 2; k++) {
                uint32_t next = f->successors[node * 2 + k];
                if (next == INSTRUCTION_NONE || f->parent[next] == INSTRUCTION_NONE) continue;
                best = best == INSTRUCTION_NONE ? next : common(f, best, next);
            }
            if (best != f->parent[node]) {
                f->parent[node] = best;
                changed = 1;
            }
        }
    }
    status = 0;
done:
    free(heads);
    free(edges);
    free(stack);
    free(at);
    return status;
}

int control_flow_resolve(instruction *code, uint32_t count) {
    flow f;
    int status = -1;
    if (count == 0) return 0;
    memset(&f, 0, sizeof f);
    f.block_of = (uint32_t *)calloc((size_t)count + 1, sizeof *f.block_of);
    f.first = (uint32_t *)malloc(((size_t)count + 1) * sizeof *f.first);
    if (!f.block_of || !f.first) goto done;
    f.block_of[0] = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (code[i].opcode == OPCODE_BRA && code[i].target < count) f.block_of[code[i].target] = 1;
        if (ends_block(&code[i])) f.block_of[i + 1] = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (f.block_of[i]) f.first[f.blocks++] = i;
        f.block_of[i] = f.blocks - 1;
    }
    f.first[f.blocks] = count;
    f.successors = (uint32_t *)malloc((size_t)f.blocks * 2 * sizeof *f.successors);
    f.order = (uint32_t *)malloc(((size_t)f.blocks + 1) * sizeof *f.order);
    f.rank = (uint32_t *)malloc(((size_t)f.blocks + 1) * sizeof *f.rank);
    f.parent = (uint32_t *)malloc(((size_t)f.blocks + 1) * sizeof *f.parent);
    if (!f.successors || !f.order || !f.rank || !f.parent) goto done;
    for (uint32_t b = 0; b < f.blocks; b++) {
        const instruction *last = &code[f.first[b + 1] - 1];
        uint32_t *next = &f.successors[b * 2];
        uint32_t below = f.first[b + 1] < count ? b + 1 : f.blocks;
        next[0] = ends_path(last) ? f.blocks : below;
        next[1] = INSTRUCTION_NONE;
        if (last->opcode == OPCODE_BRA) {
            uint32_t target = last->target < count ? f.block_of[last->target] : f.blocks;
            if (last->guard == INSTRUCTION_NONE) next[0] = target;
            else next[1] = target;
        } else if (ends_block(last) && last->guard != INSTRUCTION_NONE)
            next[1] = f.blocks;
    }
    if (post_dominators(&f)) goto done;
    for (uint32_t b = 0; b < f.blocks; b++) {
        instruction *last = &code[f.first[b + 1] - 1];
        uint32_t join = f.parent[b];
        if (last->opcode != OPCODE_BRA) continue;
        last->reconvergence = join == INSTRUCTION_NONE || join == f.blocks ? INSTRUCTION_NONE : f.first[join];
    }
    status = 0;
done:
    free(f.block_of);
    free(f.first);
    free(f.successors);
    free(f.order);
    free(f.rank);
    free(f.parent);
    return status;
}
