/* front_end: where the path of an instruction asks what a warp executes next, what it computes and which addresses it
 * accesses. Kernels come from two front ends: PTX, which the machine executes, and traces (sass/), whose instructions,
 * masks and addresses are known beforehand.
 *
 * A traced kernel is a program of decoded instructions like any other: unit, registers, kind of access. What differs is
 * here. A traced warp has one entry in its SIMT stack: the PC is the index of its next instruction, the mask the lanes
 * that execute it, and the reconvergence PC, which a single entry does not need, is the cursor: the number of its next
 * step. The entry is saved, restored and taken back like that of every other warp, so the cursor is as well. The plain
 * and the traced form (form.h) have none of these tests: a machine with kernels of both front ends runs in the general
 * form. */
#ifndef MINIGPU_FRONT_END_H
#define MINIGPU_FRONT_END_H

#include "sass/trace_memory.h"
#include "sass/trace_tags.h"
#include "state/state.h"

/* Returns whether a warp executes a trace. */
static inline int is_traced(const warp *w) { return IS_TRACED || (!IS_PLAIN && w->trace.block != NULL); }

#define STEPS_OF_A_LINE 4u /* trace_steps that a line of the host's caches has about */

/* Copies the step at which a traced warp is, and prefetches the steps behind it. */
static inline void front_end_take_step(warp *w, uint32_t step) {
    w->step = w->trace.steps[step];
    __builtin_prefetch(&w->trace.steps[step + 1]);
    __builtin_prefetch(&w->trace.steps[step + STEPS_OF_A_LINE]);
}

/* Moves a traced warp to one of its steps; behind the last one it has ended. */
static inline void front_end_go_to_step(warp *w, uint32_t step) {
    simt_entry *top = &w->stack.entries[0];
    w->stack.depth = step < w->trace.count;
    if (!w->stack.depth) return;
    front_end_take_step(w, step);
    top->pc = w->step.instruction;
    top->mask = w->step.mask;
    top->reconvergence = step;
}

/* Prefetches what a traced warp needs to issue. */
static inline void front_end_prefetch(const warp *w) {
    if (w->step.access != NONE) __builtin_prefetch(w->trace.accesses + w->step.access);
}

/* Returns the number of a traced warp's next step. */
static inline uint32_t front_end_step(const warp *w) {
    return w->stack.depth ? w->stack.entries[0].reconvergence : w->trace.count;
}

/* Moves a warp on from an instruction that did not branch. pc: of the next one in the program. */
static inline void front_end_go_on(warp *w, uint32_t pc) {
    if (is_traced(w))
        front_end_go_to_step(w, w->stack.entries[0].reconvergence + 1);
    else
        simt_go(&w->stack, pc);
}

/* Returns where the values begin that a step of a traced warp writes; NONE: it writes tags. */
static inline uint32_t front_end_values_at(const warp *w, uint32_t step) {
    return w->trace.value_places ? w->trace.value_places[step] : NONE;
}

/* Sets the lanes of the n-th register that a step of a traced warp writes: the trace's values, or tags. */
static inline void front_end_result(const warp *w, uint32_t step, uint32_t n, uint32_t lanes[LANES]) {
    const uint32_t place = front_end_values_at(w, step);
    if (place == NONE)
        tags_fill(w->trace.seed + tags_written(step, n), lanes);
    else
        memcpy(lanes, w->trace.block->values + place + (size_t)n * LANES, LANES * sizeof *lanes);
}

#define ORIGIN_BYTES 1024u /* segments that a read set keeps side by side */

/* Returns the address from which the read set of a warp's block counts. Blocks of a trace have most distances from
 * their first access in common, so the blocks of a slot use the same entries of the set's table one after the other,
 * and find them in the host's caches. */
static inline uint64_t front_end_origin(const warp *w) {
    return is_traced(w) ? w->trace.origin / ORIGIN_BYTES * ORIGIN_BYTES : 0;
}

/* Returns what the tags of a block's shared memory are made from. */
static inline uint32_t front_end_shared_seed(const block *b) {
    return ((uint32_t)b->linear * UINT32_C(0x27d4eb2f) + b->kernel) * UINT32_C(0x85ebca6b);
}

/* Captures the operands of an instruction of a traced warp: its sources are compared with the trace, its results are
 * tags (sass/trace_tags.h), its addresses are those of the trace. A wrong source ends the run. registers: the warp's.
 */
SM_PATH void front_end_capture(machine *m, in_flight *r, const warp *w, uint32_t *registers);
/* Executes arithmetic of a traced warp at issue, in a plain machine (sm_form.h): its sources are compared with the
 * trace, and its results are written. A wrong source ends the run. i: the instruction of the warp's next step. */
SM_PATH void front_end_execute(machine *m, const warp *w, const instruction *i, uint32_t *registers);
/* Makes the results of a load or an atomic, and the words of shared memory that it reads or writes. A wrong word ends
 * the run. */
SM_PATH void front_end_access(machine *m, sm *s, in_flight *r, const warp *w);

#endif
