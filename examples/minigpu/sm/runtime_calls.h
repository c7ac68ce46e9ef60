/* runtime_calls: what a kernel may ask of CUDA's runtime library on the device: printf, assert, malloc and free. Each
 * is one warp instruction of the memory unit, which takes effect as an atomic does, lane after lane. */
#ifndef MINIGPU_RUNTIME_CALLS_H
#define MINIGPU_RUNTIME_CALLS_H

#include "state/state.h"

/* One printf of one thread: its text stands in machine.printed_text. */
typedef struct printed_entry {
    uint64_t block;
    uint32_t kernel, thread, start, length;
} printed_entry;

/* Takes room for what programs print and for their heap, when one of them needs it. heap_base: where its memory begins.
 * Returns 0, or -1 when out of memory. */
int runtime_calls_build(machine *m, uint64_t heap_base);
/* Bytes of device memory for the heap; 0 when no kernel allocates. */
uint64_t runtime_calls_heap_bytes(const machine *m);
/* The instruction takes effect for its active lanes; results go into the record. */
void runtime_calls_effect(machine *m, sm *s, in_flight *r);
/* Writes what the kernels have printed, by kernel, block and thread, so that it does not depend on the timing. */
void runtime_calls_print(const machine *m, void *file);
/* Goes on with a hash over the same text. */
uint64_t runtime_calls_hash(const machine *m, uint64_t hash);

#endif
