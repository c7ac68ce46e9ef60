/* fixed: memory model 0, which computes the whole path of a request when the request leaves its SM.
 *
 *   network's input -> port -> network's output -> L2 bank -> memory channel -> reply
 *
 * Everything behind the port is first come, first served, with a fixed latency and a bandwidth. The cycle of a reply is
 * therefore known when its request leaves, and so are the cycles at which the queues have room: a bank waits for its
 * channel's full queue, and the port for its bank's. Requests leave in the order of cycles, and within a cycle in the
 * order of SMs. */
#ifndef MINIGPU_FIXED_H
#define MINIGPU_FIXED_H

#include "launch/config.h"
#include "base/arena.h"
#include "memory/port.h"

/* The most requests of one SM between memory_enter and memory_take. */
#define FIXED_REQUESTS_PER_SM 512u

typedef struct fixed_memory fixed_memory;

fixed_memory *fixed_make(arena *a, const minigpu_config *config, uint32_t sms);
/* Makes packets that leave an SM's input send credits to its port. */
int fixed_set_ports(fixed_memory *f, network_port *ports, arena *a); /* -1: the arena is full */
/* Lets an SM take the replies that have been sent so far. Without ports it may always take them. *sm_cycle: when the SM
 * should look. */
void fixed_publish(fixed_memory *f, uint32_t sm, uint64_t *sm_cycle);
/* Returns the flits of a request to the L2. */
uint32_t fixed_flits(const fixed_memory *f, const memory_packet *request);
int fixed_may_enter(fixed_memory *f, uint64_t now, uint32_t sm, const memory_packet *request, uint64_t *sm_cycle);
void fixed_enter(fixed_memory *f, uint32_t sm, const memory_packet *request);
/* Enters a request in `cycle`, which the memory need not have reached. Returns 0 when it has no room now. */
int fixed_enter_at(fixed_memory *f, uint64_t cycle, uint32_t sm, const memory_packet *request);
/* Returns the MEMORY_FULL bits of the SMs' ports. */
const uint8_t *fixed_full(const fixed_memory *f);
/* Returns the least cycles from a request's departure to its reply. */
uint32_t fixed_least_cycles(const fixed_memory *f);
void fixed_write_back(fixed_memory *f, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics);
/* Simulates cycle `now`, and the cycles before `end` until an SM should look. Returns the next cycle in which a request
 * can leave. */
uint64_t fixed_advance(fixed_memory *f, uint64_t now, uint64_t end, uint64_t *sm_cycles, memory_statistics *statistics);
int fixed_take(fixed_memory *f, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle);
uint32_t fixed_under_way(const fixed_memory *f, uint32_t sm);
uint64_t fixed_last_reply(const fixed_memory *f, uint32_t sm);
uint64_t fixed_hash(const fixed_memory *f, uint64_t hash);

#endif
