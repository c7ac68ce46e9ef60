/* simt_stack: which lanes of a warp stand where, and where they meet again (the immediate post-dominator).
 *
 * The top entry says what the warp executes next: one PC and the lanes at it. Entries below wait, either for the other
 * side of a branch to arrive at the reconvergence point or to run themselves. No lane is in two paths that could both
 * run first: an entry's lanes are those of the entries above it that will come back to it, or its own. */
#ifndef MINIGPU_SIMT_STACK_H
#define MINIGPU_SIMT_STACK_H

#include <stdint.h>

#define SIMT_DEPTH 64
#define SIMT_NEVER UINT32_MAX /* reconverges only at the end of the kernel */

typedef struct simt_entry {
    uint32_t pc;            /* of the next instruction */
    uint32_t reconvergence; /* the entry is popped when its PC gets there */
    uint32_t mask;          /* lanes */
} simt_entry;

typedef struct simt_stack {
    uint32_t depth; /* 0: every lane has ended */
    simt_entry entries[SIMT_DEPTH];
} simt_stack;

/* All lanes of mask at instruction 0. */
void simt_start(simt_stack *stack, uint32_t mask);
/* A branch at the top entry: the lanes of `taken` go to target, the others to the next instruction. Both sides meet at
 * reconvergence. Returns 0, or -1 when the stack is full. */
int simt_branch(simt_stack *stack, uint32_t taken, uint32_t target, uint32_t reconvergence);
/* Lanes end, wherever they stand. Empty entries go. */
void simt_exit(simt_stack *stack, uint32_t lanes);

static inline const simt_entry *simt_top(const simt_stack *stack) { return &stack->entries[stack->depth - 1]; }
/* Moves the top entry to pc and pops entries that have arrived at their reconvergence point. */
static inline void simt_go(simt_stack *stack, uint32_t pc) {
    stack->entries[stack->depth - 1].pc = pc;
    while (stack->depth > 1 && stack->entries[stack->depth - 1].pc == stack->entries[stack->depth - 1].reconvergence)
        stack->depth--;
}

#endif
