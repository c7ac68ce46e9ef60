/* memory_path: the load-store unit of an SM and what lies behind it.
 *
 *   operands -> check queue (one translation per cycle, effect after the last) -> access queue (one segment per cycle)
 *     -> shared memory, or L1 -> hit: reply
 *                                miss: miss queue of the kernel (its gate may refuse) -> network's input -> port
 *     -> network's output -> L2 bank -> memory channel -> reply
 *
 * Latencies are fixed; ports, network, L2 banks and memory channels have a bandwidth, so requests queue behind each
 * other. Every queue has an end (config.h): who finds the next one full waits where it is, and holds up those behind
 * it. Contexts being saved and restored take the same way, whenever no other request wants the SM's port to the
 * network. */
#ifndef MINIGPU_MEMORY_PATH_H
#define MINIGPU_MEMORY_PATH_H

#include "machine/machine.h"

/* May another memory instruction issue? */
static inline int memory_path_has_room(const machine *m, const sm *s) {
    return s->memory_reserved < m->config.memory_queue_entries;
}
/* It has issued. */
static inline void memory_path_reserve(sm *s) { s->memory_reserved++; }
/* It has read its operands. */
void memory_path_accept(machine *m, sm *s, uint32_t record);
/* Delivers the replies that are due. */
void memory_path_replies(machine *m, sm *s);
/* One cycle of the queues. */
void memory_path_tick(machine *m, sm *s);
/* The next cycle in which replies or tick have something to do; NEVER. */
uint64_t memory_path_next(const machine *m, const sm *s);
/* A block is about to leave for another SM: what L1 keeps of its local memory goes first. It takes its time on the
 * network; where it ends up beyond is left out. */
void memory_path_write_back(machine *m, sm *s, const block *b);
/* Instead of travelling, the context counts as moved at that cycle (config.switch_stalls). */
void memory_path_stall(machine *m, sm *s, block *b, uint32_t kind, uint64_t cycle);
/* May a miss of this kernel leave the SM now? */
int memory_path_gate(const machine *m, const sm *s, uint32_t kernel);

#endif
