/* simt_stack: the SIMT stack of a warp: the PC of each group of lanes, and its reconvergence point (the
 * immediate post-dominator).
 *
 * The top entry is what the warp executes next: one PC and the lanes at it. A lower entry waits until the
 * other side of its branch reaches the reconvergence point, or until it becomes the top entry. The lanes of
 * an entry are either those of the entries above that will reconverge with it, or lanes of its own. No lane
 * therefore belongs to two entries that could both execute first. */
#ifndef MINIGPU_SIMT_STACK_H
#define MINIGPU_SIMT_STACK_H

#include <stdint.h>

#define SIMT_DEPTH 64
#define SIMT_NEVER UINT32_MAX /* reconvergence at the end of the kernel only */

typedef struct simt_entry {
    uint32_t pc;            /* PC of the next instruction */
    uint32_t reconvergence; /* reconvergence point: the entry is popped when its PC equals it */
    uint32_t mask;          /* mask of lanes */
} simt_entry;

typedef struct simt_stack {
    uint32_t depth; /* 0: every lane has ended */
    simt_entry entries[SIMT_DEPTH];
} simt_stack;

/* Starts a stack with all lanes of mask at instruction 0. */
void simt_start(simt_stack *stack, uint32_t mask);
/* Executes a branch of the top entry. The lanes of `taken` go to target, the others to the next instruction.
 * Both sides reconverge at `reconvergence`. Returns 0, or -1 when the stack is full. */
int simt_branch(simt_stack *stack, uint32_t taken, uint32_t target, uint32_t reconvergence);
/* Ends lanes, at whatever PC they are, and removes entries without lanes. */
void simt_exit(simt_stack *stack, uint32_t lanes);

static inline const simt_entry *simt_top(const simt_stack *stack) { return &stack->entries[stack->depth - 1]; }
/* Moves the top entry to pc and pops entries that have arrived at their reconvergence point. */
static inline void simt_go(simt_stack *stack, uint32_t pc) {
    stack->entries[stack->depth - 1].pc = pc;
    while (stack->depth > 1 && stack->entries[stack->depth - 1].pc == stack->entries[stack->depth - 1].reconvergence)
        stack->depth--;
}

#endif
