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

#include "state/state.h"

/* May another memory instruction issue? */
static inline int memory_path_has_room(const machine *m, const sm *s) {
    return s->memory_reserved < m->config.memory_queue_entries;
}
/* It has issued. */
static inline void memory_path_reserve(sm *s) { s->memory_reserved++; }
/* It has read its operands. Returns 1 when it needs no translation check. */
SM_PATH int memory_path_accept(machine *m, sm *s, uint32_t record);
/* May something be there for memory_path_take? */
static inline int memory_path_has_arrivals(const machine *m, const sm *s) {
    return s->completed_count || memory_sm_cycle(m->memory_system, s->index) <= s->now ||
           pipe_next(&s->pipes[PIPE_L1]) <= s->now || pipe_next(&s->pipes[PIPE_SHARED]) <= s->now ||
           pipe_next(&s->pipes[PIPE_CONSTANT]) <= s->now || (!IS_PLAIN && pipe_next(&s->pipes[PIPE_LINK]) <= s->now);
}
/* Takes the next thing that is there by now: 1, or 0 when there is none. */
SM_PATH int memory_path_take(machine *m, sm *s, arrival *arrived);
/* One cycle of the queues: a miss leaves for the network. Returns 1 when one did. */
SM_PATH int memory_path_send(machine *m, sm *s);
/* Has memory_path_tick nothing to do? */
static inline int memory_path_idle(const sm *s) { return !(s->access_count | s->check_count); }
/* ... the first segment goes to L1 or shared memory, and the first check is made. Returns the record that has passed
 * its last check, and is in effect; NONE. */
SM_PATH uint32_t memory_path_tick(machine *m, sm *s);
/* The same with TLBs or faults: one look-up per cycle, and answers that have come. Returns a record that needed none.
 */
SM_PATH uint32_t memory_path_look_up(machine *m, sm *s);
/* With TLBs or faults, where faults.c says what happens next: takes the next record whose look-ups are all answered;
 * its `absent` names segments whose page is not there. 1, or 0 when there is none. */
SM_PATH int memory_path_take_looked_up(sm *s, uint32_t *record);
/* ... the record takes effect, and goes to L1; it waits in place until its pages are there; it leaves the unit. */
SM_PATH void memory_path_effect(machine *m, sm *s, uint32_t record);
SM_PATH void memory_path_park(sm *s, uint32_t record);
SM_PATH void memory_path_withdraw(machine *m, sm *s, uint32_t record);
/* The record that memory_path_tick has sent to its end and that awaits no reply: 1, or 0 when there is none. */
SM_PATH int memory_path_take_sent(sm *s, arrival *arrived);
/* Has memory_path_send or memory_path_tick something to do in the next cycle, too? */
SM_PATH int memory_path_busy(const machine *m, const sm *s);
/* A segment of a context wants to leave: may it, and it does. */
SM_PATH int memory_path_context_may_enter(const machine *m, const sm *s);
SM_PATH void memory_path_enter_context(machine *m, sm *s, uint32_t block_index, uint32_t kind, uint64_t address);
/* Forgets what L1 holds: it writes through, so nothing is lost. */
SM_PATH void memory_path_invalidate(sm *s);
/* A block is about to leave for another SM: what L1 keeps of its local memory goes first. It takes its time on the
 * network; where it ends up beyond is left out. */
SM_PATH void memory_path_write_back(machine *m, sm *s, const block *b);
/* May a miss of this kernel leave the SM now? */
SM_PATH int memory_path_gate(const machine *m, const sm *s, uint32_t kernel);

#endif
