#include "state/simt_stack.h"

void simt_start(simt_stack *stack, uint32_t mask) {
    stack->depth = 1;
    stack->entries[0].pc = 0;
    stack->entries[0].reconvergence = SIMT_NEVER;
    stack->entries[0].mask = mask;
}

int simt_branch(simt_stack *stack, uint32_t taken, uint32_t target, uint32_t reconvergence) {
    simt_entry *top = &stack->entries[stack->depth - 1];
    uint32_t other = top->mask & ~taken, next = top->pc + 1;
    taken &= top->mask;
    if (!other || !taken || target == next) {
        simt_go(stack, taken ? target : next);
        return 0;
    }
    /* The top entry becomes the one that waits at the reconvergence point. It is not needed when it would be popped
     * there at once: so a loop that lanes leave one after the other does not grow the stack. */
    if (top->reconvergence != reconvergence || stack->depth == 1) {
        if (stack->depth + 2 > SIMT_DEPTH) return -1;
        top->pc = reconvergence;
    } else {
        if (stack->depth + 1 > SIMT_DEPTH) return -1;
        stack->depth--;
    }
    if (next != reconvergence) {
        simt_entry *entry = &stack->entries[stack->depth++];
        entry->pc = next;
        entry->reconvergence = reconvergence;
        entry->mask = other;
    }
    if (target != reconvergence) {
        simt_entry *entry = &stack->entries[stack->depth++];
        entry->pc = target;
        entry->reconvergence = reconvergence;
        entry->mask = taken;
    }
    return 0;
}

void simt_exit(simt_stack *stack, uint32_t lanes) {
    uint32_t kept = 0, i;
    for (i = 0; i < stack->depth; i++) {
        simt_entry entry = stack->entries[i];
        entry.mask &= ~lanes;
        if (entry.mask) stack->entries[kept++] = entry;
    }
    stack->depth = kept;
    if (kept) simt_go(stack, stack->entries[kept - 1].pc);
}
