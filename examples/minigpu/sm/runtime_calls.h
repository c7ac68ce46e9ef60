/* runtime_calls: CUDA's run-time library on the device: printf, assert, malloc and free. Each is one warp instruction
 * of the memory unit, which takes effect as an atomic does, lane after lane. */
#ifndef MINIGPU_RUNTIME_CALLS_H
#define MINIGPU_RUNTIME_CALLS_H

#include "state/state.h"

/* One printf of one thread. Its text is in machine.printed_text. */
typedef struct printed_entry {
    uint64_t block;
    uint32_t kernel, thread, start, length;
} printed_entry;

/* Takes room for printed text and for the heap when some kernel needs it. heap_base: where the heap begins. Returns 0,
 * or -1 when memory is out. */
int runtime_calls_build(machine *m, uint64_t heap_base);
/* Returns the bytes of device memory for the heap; 0 when no kernel allocates. */
uint64_t runtime_calls_heap_bytes(const machine *m);
/* Makes the instruction take effect for its active lanes. Results go into the record. */
void runtime_calls_effect(machine *m, sm *s, in_flight *r);
/* Writes the text that kernels have printed, by kernel, block and thread, so that it does not depend on the timing. */
void runtime_calls_print(const machine *m, void *file);
/* Continues a hash over the same text. */
uint64_t runtime_calls_hash(const machine *m, uint64_t hash);

#endif
