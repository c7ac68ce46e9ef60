/* trace_memory: the tags of the words of global memory that traced blocks write. A tag says which warp has written a
 * word last, and in which lane of which of its instructions.
 *
 * A block brings the tags that its words must have when it ends: for each word the last store of its warp in the trace.
 * Each store that the machine executes puts its tag. When the block has ended its words are compared and forgotten, so
 * memory depends on the blocks that have begun and not ended. The order of warps is not in a trace: a word that two
 * warps of such blocks write has no last writer, and no tag. But every store must have been executed at least once, and
 * every atomic exactly once, in whatever order. */
#ifndef MINIGPU_TRACE_MEMORY_H
#define MINIGPU_TRACE_MEMORY_H

#include "sass/trace_reader.h"

typedef struct trace_memory trace_memory;

/* What is wrong with a store. */
typedef enum trace_memory_result {
    TRACE_MEMORY_RIGHT,
    TRACE_MEMORY_STRANGE,    /* no block that has begun writes this word in the trace, or another warp does */
    TRACE_MEMORY_TWICE,      /* an atomic has been executed before */
    TRACE_MEMORY_LOST,       /* a store or an atomic has not been executed */
    TRACE_MEMORY_OVERWRITTEN /* a word has the tag of another instruction than the trace's last store to it */
} trace_memory_result;

/* An access of a warp: the step-th instruction that it executes. */
typedef struct trace_memory_access {
    const uint64_t *addresses; /* of the lanes of the mask */
    const instruction *instruction;
    uint32_t mask, step;
    uint32_t seed; /* of the warp's tags (trace_tags.h) */
    uint32_t warp; /* its index in the block */
    int is_row;    /* 1: all 32 lanes access one word after the other, from addresses[0] on; 0: maybe so */
} trace_memory_access;

/* Returns the tags of a program's memory, which trace_memory_close frees; NULL when memory is out. */
trace_memory *trace_memory_open(const trace_map *map);
void trace_memory_close(trace_memory *t);
/* A block begins: its stores are expected. Returns 0, or -1 when memory is out. Cost: linear in its steps. */
int trace_memory_begin(trace_memory *t, trace_kernel *k, trace_block *b);
/* The machine executes a store or an atomic of a block. Several blocks may do so at a time. Cost: linear in the words.
 */
trace_memory_result trace_memory_write(trace_memory *t, trace_block *b, const trace_memory_access *access);
/* A block has ended, or was aborted: its words are compared, and forgotten. Sets *warp and *step to the place of a
 * wrong one. Cost: linear in the words that its stores write. */
trace_memory_result trace_memory_end(trace_memory *t, const trace_kernel *k, trace_block *b, uint32_t *warp,
                                     uint32_t *step);

/* Does an instruction write to global memory? */
static inline int trace_memory_is_written(const instruction *i) {
    return i->space == SPACE_GLOBAL && (i->opcode == OPCODE_ST || i->opcode == OPCODE_ATOM || i->opcode == OPCODE_RED);
}

#endif
