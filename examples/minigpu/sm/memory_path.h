/* memory_path: the load-store unit of an SM and what lies behind it.
 *
 *   operands -> check queue (one translation per cycle, effect after the last) -> access queue (one segment per cycle)
 *     -> shared memory, or L1 -> hit: reply
 *                                miss: miss queue of the kernel (its gate may refuse) -> network's input -> port
 *     -> network's output -> L2 bank -> memory channel -> reply
 *
 * Latencies are fixed; ports, network, L2 banks and memory channels have a bandwidth, so requests queue behind each
 * other. Every queue has an end (config.h): a request that finds the next queue full stays in its own, and blocks the
 * requests behind it. Saved and restored contexts take the same path, in cycles in which no other request uses the SM's
 * port to the network. */
#ifndef MINIGPU_MEMORY_PATH_H
#define MINIGPU_MEMORY_PATH_H

#include "sm/translation.h"
#include "state/state.h"

/* Returns whether another memory instruction may issue. */
static inline int memory_path_has_room(const machine *m, const sm *s) {
    return s->memory_reserved < m->config.memory_queue_entries;
}
/* Counts a memory instruction that issues. */
static inline void memory_path_reserve(sm *s) { s->memory_reserved++; }
/* Takes a memory instruction that has read its operands. Returns 1 when it needs no translation check. */
SM_PATH int memory_path_accept(machine *m, sm *s, uint32_t record);
/* Returns whether memory_path_take may find something. */
static inline int memory_path_has_arrivals(const sm *s) {
    return s->completed_count || *s->reply_cycle <= s->now || pipe_next(&s->pipes[PIPE_L1]) <= s->now ||
           pipe_next(&s->pipes[PIPE_SHARED]) <= s->now || pipe_next(&s->pipes[PIPE_CONSTANT]) <= s->now ||
           (!IS_PLAIN && pipe_next(&s->pipes[PIPE_LINK]) <= s->now);
}
/* Takes the next arrival. Returns 1, or 0 when there is none. */
SM_PATH int memory_path_take(machine *m, sm *s, arrival *arrived);
/* Returns whether the SM's next miss may find no room in the network, where the SM is ahead of the memory
 * (sm.network_full). */
static inline int memory_path_may_be_full(const sm *s) {
    return s->queued_misses && *s->network_full & (s->queued_data ? MEMORY_FULL_OF_DATA : MEMORY_FULL);
}
/* One cycle of the queues, which are not empty: sends a miss to the network. Returns 1 when one was sent. */
SM_PATH int memory_path_send_miss(machine *m, sm *s);
/* Sends a miss to the network. Returns 1 when one enters in this cycle. */
static inline int memory_path_send(machine *m, sm *s) {
    if (IS_PLAIN && s->sent_cycle == s->now) return 1;
    return s->queued_misses && memory_path_send_miss(m, s);
}
/* Returns whether memory_path_tick has no work. */
static inline int memory_path_idle(const sm *s) { return !(s->access_count | s->check_count); }
/* The rest of the cycle: the first segment goes to L1 or shared memory, and the first check is made. Returns the record
 * that has passed its last check and has taken effect; NONE. */
SM_PATH uint32_t memory_path_tick(machine *m, sm *s);
/* Handles a record that has passed its last check: it takes effect, and enters L1. */
SM_PATH void memory_path_pass(machine *m, sm *s, uint32_t record);
/* Ends the run, because an access has found that of its segment's page. */
SM_PATH void memory_path_wrong_translation(machine *m, const in_flight *r, uint64_t segment, translation found);
/* Takes the record that memory_path_tick has sent completely and that awaits no reply. Returns 1, or 0 when there is
 * none. */
SM_PATH int memory_path_take_sent(sm *s, arrival *arrived);
/* In the plain form, at the end of a cycle with accesses or queued misses: does what the SM would otherwise wake for in
 * the next one. The only queued miss enters the network one cycle later, and an access that will wait for a reply waits
 * already. */
SM_PATH void memory_path_foresee(machine *m, sm *s);
/* In the plain form, for an SM ahead of the memory (ahead.h): runs the cycles before `end` in which replies arrive and
 * the first access sends its segments, and nothing else has work. Returns NEVER, or the cycle that it has begun with
 * replies which let others work in it, too; the last of these replies may be that of a store (*stored; its item is
 * NONE else). */
SM_PATH uint64_t memory_path_run(machine *m, sm *s, uint64_t end, arrival *stored);
/* Returns whether one of the queued misses may leave in the next cycle. */
SM_PATH int memory_path_sends_next(const machine *m, const sm *s);
/* Returns the next cycle in which memory_path_send or memory_path_tick has work of its own accord; NEVER. */
static inline uint64_t memory_path_next(const machine *m, const sm *s) {
    if ((s->access_count && !s->access_waits) || (s->queued_misses && memory_path_sends_next(m, s))) return s->now + 1;
    if (!s->check_count || s->checks_wait) return UINT64_MAX;
    return IS_PLAIN && s->check_due != UINT64_MAX ? s->check_due : s->now + 1;
}
/* Returns whether a segment of a context may leave, and sends it. */
SM_PATH int memory_path_context_may_enter(const machine *m, const sm *s);
SM_PATH void memory_path_enter_context(machine *m, sm *s, uint32_t block_index, uint32_t kind, uint64_t address);
/* Invalidates L1. Nothing is lost: global memory is written through, and a saved block has written back its local
 * memory. */
SM_PATH void memory_path_invalidate(sm *s);
/* Writes back what L1 holds of the local memory of a block that is about to leave for another SM. The write back takes
 * time on the network; the time beyond is left out. */
SM_PATH void memory_path_write_back(machine *m, sm *s, const block *b);
/* Returns whether a miss of this kernel may leave the SM now. */
SM_PATH int memory_path_gate(const machine *m, const sm *s, uint32_t kernel);

#endif
