/* memory: everything behind the L1s (network, L2, DRAM), and its only interface.
 *
 * An SM asks memory_may_enter before it passes a request to memory_enter, and takes replies with memory_take. No call
 * waits. Once per cycle in which something happened, after the turns of all SMs, the main loop calls memory_advance.
 * There are no callbacks: memory_next_cycle is the cycle at which the memory has work, and memory_sm_cycle the cycle at
 * which an SM should look again, because a reply is complete or room is free that was refused. An SM that looks too
 * early costs time and changes nothing; looking too late is an error. A model that cannot tell when room will be free
 * may return the next cycle.
 *
 * The model behind the interface is a table of functions (model.h), chosen by minigpu_config. Model 0 (fixed.c)
 * computes the whole path of a request when the request leaves its SM: network, L2 bank and DRAM channel are first
 * come, first served, each with a latency, a bandwidth and a finite queue. All state is in the machine's arena, so a
 * copy of its bytes includes the requests in flight. Requests are named by tokens of their SM, never by pointers.
 * Events of one cycle are ordered by the SMs' index, so the result does not depend on the order of the SMs' turns. */
#ifndef MINIGPU_MEMORY_H
#define MINIGPU_MEMORY_H

#include "launch/config.h"
#include "base/arena.h"
#include "memory/port.h"

struct memory_model;

typedef struct memory_system {
    uint64_t *sm_cycles; /* per SM: when it should look again; UINT64_MAX: only after another event. With ports, the
                            ports have these cycles, and this is unused */
    gpump_meter *meter;  /* traffic per kernel behind the L1s; requests of contexts count for kernel 0 */
    const struct memory_model *model; /* model.h */
    void *behind;                     /* the model's own state */
    network_port *ports; /* per SM; NULL: SMs do not advance side by side, and see the network's queues directly */
    uint8_t *refused;    /* per SM: 1: no room for its misses (memory_refuse); NULL: the model does not record it */
    const uint8_t *full; /* per SM: MEMORY_FULL bits; NULL: the model does not record them */
    uint64_t turned;     /* ports: the cycle of the last memory_turn */
    uint64_t pending;    /* the first cycle that the network has not simulated; UINT64_MAX */
    uint32_t input_flits, context_flits; /* flits that an SM's port holds: of requests, and of requests of contexts */
    uint32_t side;                       /* index of the ports' entries of this window */
    uint32_t sms;
    uint32_t least_cycles; /* memory_least_cycles */
    uint32_t unused;
    /* changes while SMs run */
    PAIR_ALIGNED memory_statistics statistics;
    uint64_t next_cycle; /* when memory_advance has work; UINT64_MAX: only after another event */
} memory_system;

/* Makes the memory of `sms` SMs and kernels 1 to `kernels` in the arena. The memory reads *config while it runs.
 * Returns NULL when the arena is full. */
memory_system *memory_make(arena *a, const minigpu_config *config, uint32_t sms, uint32_t kernels);
/* Gives each SM a port of its own, for windows of `window_cycles` (machine/window.h). From then on memory_enter only
 * records a request, and memory_catch_up simulates it. Returns 0, or -1 when the arena is full. */
int memory_make_ports(memory_system *memory, arena *a, const minigpu_config *config, uint32_t window_cycles);
/* Reserves some eighths of L2 and DRAM for a kernel (from 1); 0: the kernel shares all of them with the others. Memory
 * model 1. */
void memory_set_slice(memory_system *memory, uint32_t kernel, uint32_t first, uint32_t eighths);

/* Returns whether memory_empty can be called: the model knows it. */
int memory_can_be_emptied(const memory_system *memory);
/* Empties the L2, while no kernel runs. */
void memory_empty(memory_system *memory);

/* Returns whether this request of the SM may enter in cycle `now`. A refusal is recorded, and memory_sm_cycle then says
 * when to ask again. Requests of contexts (REQUEST_SAVE, REQUEST_RESTORE) are refused while another request of the SM
 * waits. */
int memory_may_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request);
/* Records that none of the SM's misses may enter. memory_refuses then says so without another question, until a
 * packet of the SM leaves its input, its next reply is looked for, or memory_ask_again. Only model 1 without ports
 * records it. */
static inline void memory_refuse(memory_system *memory, uint32_t sm) {
    if (memory->refused) memory->refused[sm] = 1;
}
static inline void memory_ask_again(memory_system *memory, uint32_t sm) {
    if (memory->refused) memory->refused[sm] = 0;
}
static inline int memory_refuses(const memory_system *memory, uint32_t sm) {
    return memory->refused && memory->refused[sm];
}
/* Enters a request: at most one per SM and cycle, after memory_may_enter has allowed it in this cycle. */
void memory_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request);
/* Enters a request in cycle `now` + 1, in which the SM enters no other, so that the SM does not have to wake for it.
 * Returns 0 when the model cannot or has no room now: the SM then enters the request in that cycle. */
int memory_enter_next(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request);
/* Returns the fewest cycles from the departure of a request to its reply, where an SM may enter requests in cycles that
 * the memory has not reached (machine/ahead.h); 0: it may not. */
static inline uint32_t memory_least_cycles(const memory_system *memory) { return memory->least_cycles; }
/* Where it may: returns the MEMORY_FULL bits of the SM's input, in which a request without its bit surely has room, in
 * whatever cycle it enters. */
static inline const uint8_t *memory_full(const memory_system *memory, uint32_t sm) { return &memory->full[sm]; }
/* Writes `lines` lines of the SM's L1 back past all queues. Only their time on the SM's port counts. */
void memory_write_back(memory_system *memory, uint64_t now, uint32_t sm, uint32_t lines);
/* Simulates everything up to and including cycle `now`. */
void memory_advance(memory_system *memory, uint64_t now);
/* Without ports: simulates the cycles before `end` in which the memory has work, until an SM should look before the
 * next of them. */
void memory_advance_alone(memory_system *memory, uint64_t end);
/* With ports: simulates everything before cycle `end` that follows from requests of earlier windows, in the order
 * (cycle, SM). Touches no data that an SM touches in its window. */
void memory_catch_up(memory_system *memory, uint64_t end);
/* With ports, between two windows, in cycle `now`: shows the SMs the credits and replies of memory_catch_up, and the
 * network the SMs' requests. */
void memory_turn(memory_system *memory, uint64_t now);
/* Takes the SM's next reply that is complete by `now`, the oldest first. Returns 1, or 0 when there is none. An SM that
 * wakes takes replies until there is none. */
int memory_take(memory_system *memory, uint64_t now, uint32_t sm, memory_reply *reply);

/* Returns the next cycle in which memory_advance has work; UINT64_MAX: none before another request enters. */
static inline uint64_t memory_next_cycle(const memory_system *memory) {
    return memory->ports ? memory->pending : memory->next_cycle;
}
/* Returns the next cycle in which the SM should look; UINT64_MAX: no request of the SM is in flight or was refused. */
static inline uint64_t memory_sm_cycle(const memory_system *memory, uint32_t sm) {
    return memory->ports ? memory->ports[sm].sm_cycle : memory->sm_cycles[sm];
}
/* Returns where that cycle stands. */
static inline const uint64_t *memory_sm_cycle_at(const memory_system *memory, uint32_t sm) {
    return memory->ports ? &memory->ports[sm].sm_cycle : &memory->sm_cycles[sm];
}
/* Returns these cycles of all SMs, where there are no ports. */
static inline const uint64_t *memory_sm_cycles(const memory_system *memory) { return memory->sm_cycles; }

/* Returns the SM's requests that have entered and whose replies have not been taken, for reports. */
uint32_t memory_under_way(const memory_system *memory, uint32_t sm);
/* Returns the cycle of the SM's latest reply that is known so far; 0: none. For tests of queues. */
uint64_t memory_last_reply(const memory_system *memory, uint32_t sm);
uint64_t memory_hash(const memory_system *memory, uint64_t hash);

#endif
