/* memory: everything behind the L1s (network, L2, DRAM), and the only door to it.
 *
 * An SM asks memory_may_enter before it hands a request over with memory_enter, and takes replies with memory_take;
 * it never waits inside a call. Once per cycle in which anything happened, after all SMs have had their turn, the main
 * loop lets the memory catch up with memory_advance. Nobody is called back: the memory says when it has something to
 * do (memory_next_cycle), and for each SM when that SM should look again (memory_sm_cycle): a reply is complete, or
 * there is room that it was refused. Waking an SM too early costs time and changes nothing; too late is an error. So a
 * model that cannot tell when there will be room may simply say "next cycle".
 *
 * The model behind this door is a table of functions (model.h); minigpu_config says which. Model 0 (fixed.c) computes
 * the whole way of a request when it leaves its SM: network, L2 bank and DRAM channel are first come, first served,
 * each with a latency, a bandwidth and a queue that has an end. Everything lies in the machine's arena, so a copy of
 * its bytes copies what is under way; requests are named by tokens of their SM, never by pointers. The order of events
 * within one cycle is the SMs' index, so the result does not depend on the order in which SMs had their turn. */
#ifndef MINIGPU_MEMORY_H
#define MINIGPU_MEMORY_H

#include "launch/config.h"
#include "base/arena.h"
#include "memory/port.h"

struct memory_model;

typedef struct memory_system {
    uint64_t *sm_cycles;              /* per SM: when it should look again; UINT64_MAX: not by itself. With ports, those
                                         say so, and this is nobody's */
    gpump_meter *meter;               /* traffic per kernel behind the L1s; the requests of contexts are kernel 0's */
    const struct memory_model *model; /* model.h */
    void *behind;                     /* what the model has made */
    network_port *ports; /* per SM; NULL: SMs do not advance side by side, and see the network's own queues */
    uint8_t *refused;    /* per SM: 1: no room for its misses (memory_refuse); NULL: nobody remembers that */
    uint64_t turned;     /* ports: the cycle of the last memory_turn */
    uint64_t pending;    /* the first cycle of which the network knows nothing yet; UINT64_MAX */
    uint32_t input_flits, context_flits; /* of an SM's port: room for requests, and for those of contexts */
    uint32_t side;                       /* of the ports' entries: the one of this window */
    uint32_t sms;
    /* what changes while SMs run */
    PAIR_ALIGNED memory_statistics statistics;
    uint64_t next_cycle; /* memory_advance has something to do; UINT64_MAX: not by itself */
} memory_system;

/* Makes the memory of so many SMs, which kernels 1 to `kernels` use, in the arena. It reads *config while it runs.
 * Returns NULL when the arena is full. */
memory_system *memory_make(arena *a, const minigpu_config *config, uint32_t sms, uint32_t kernels);
/* Gives each SM a port of its own, for windows of `window_cycles` (machine/window.h): then memory_enter only writes
 * down what enters, and memory_catch_up does the rest. Returns 0, or -1 when the arena is full. */
int memory_make_ports(memory_system *memory, arena *a, const minigpu_config *config, uint32_t window_cycles);
/* Gives a kernel (from 1) some eighths of L2 and DRAM for itself; 0: all of them, with the others. Memory model 1. */
void memory_set_slice(memory_system *memory, uint32_t kernel, uint32_t first, uint32_t eighths);
/* Makes a meter for this machine in the arena; NULL when that is full. */
gpump_meter *memory_make_meter(arena *a, const minigpu_config *config, uint32_t sms, uint32_t kernels);

/* May this request of the SM enter in cycle `now`? Who is refused is remembered until memory_sm_cycle says to look
 * again. Requests of contexts (REQUEST_SAVE, REQUEST_RESTORE) are refused while anybody else of the SM is waiting. */
int memory_may_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request);
/* None of the misses that the SM has to send may enter: memory_refuses says so, without another question, until a
 * packet of the SM leaves its input, its next reply is looked for, or memory_ask_again. Only model 1 without ports
 * remembers. */
static inline void memory_refuse(memory_system *memory, uint32_t sm) {
    if (memory->refused) memory->refused[sm] = 1;
}
static inline void memory_ask_again(memory_system *memory, uint32_t sm) {
    if (memory->refused) memory->refused[sm] = 0;
}
static inline int memory_refuses(const memory_system *memory, uint32_t sm) {
    return memory->refused && memory->refused[sm];
}
/* It enters: at most one request per SM and cycle. memory_may_enter must have said yes in this cycle. */
void memory_enter(memory_system *memory, uint64_t now, uint32_t sm, const memory_packet *request);
/* So many lines of the SM's L1 go past all queues: their time on the SM's port is counted, nothing else. */
void memory_write_back(memory_system *memory, uint64_t now, uint32_t sm, uint32_t lines);
/* Everything up to and including cycle `now` happens. */
void memory_advance(memory_system *memory, uint64_t now);
/* With ports: everything before cycle `end` happens, of what the SMs have sent before their window now, in the order
 * (cycle, SM). It touches nothing that an SM touches in its window. */
void memory_catch_up(memory_system *memory, uint64_t end);
/* With ports, between two windows, in cycle `now`: SMs see the credits and replies of memory_catch_up, and the network
 * what they sent. */
void memory_turn(memory_system *memory, uint64_t now);
/* Takes the SM's next reply that is complete by `now`, the oldest first: 1, or 0 when there is none. An SM that wakes
 * takes until there is none. */
int memory_take(memory_system *memory, uint64_t now, uint32_t sm, memory_reply *reply);

/* The next cycle in which memory_advance has something to do; UINT64_MAX: not before another request enters. */
static inline uint64_t memory_next_cycle(const memory_system *memory) {
    return memory->ports ? memory->pending : memory->next_cycle;
}
/* The next cycle in which the SM should look; UINT64_MAX: nothing of it is under way and nothing was refused. */
static inline uint64_t memory_sm_cycle(const memory_system *memory, uint32_t sm) {
    return memory->ports ? memory->ports[sm].sm_cycle : memory->sm_cycles[sm];
}
/* The same for each SM, where there are no ports. */
static inline const uint64_t *memory_sm_cycles(const memory_system *memory) { return memory->sm_cycles; }

/* Requests of the SM that have entered and whose replies have not been taken; for reports. */
uint32_t memory_under_way(const memory_system *memory, uint32_t sm);
/* The cycle of the SM's latest reply so far known; 0: none is. For tests of queues. */
uint64_t memory_last_reply(const memory_system *memory, uint32_t sm);
uint64_t memory_hash(const memory_system *memory, uint64_t hash);

#endif
