/* queued: memory model 1, driven by events. Network, L2 and DRAM have finite queues. A request that finds a queue full
 * delays the requests behind it.
 *
 *   SM's input of the request crossbar -> L2 bank -> (DRAM channel) -> bank's input of the reply crossbar -> SM
 *
 * The model joins crossbar, l2 and dram by the events of one timing wheel, which counts network cycles. The SMs' and
 * the memory's clocks are rational multiples of it. Idle parts cost nothing. A request takes these events: the end of
 * its transfer up, the start of its bank, for a miss the pick of its channel and the fill, the reply's readiness, and
 * the end of its transfer down. The functions are those of memory.h. */
#ifndef MINIGPU_QUEUED_H
#define MINIGPU_QUEUED_H

#include "launch/config.h"
#include "base/arena.h"
#include "memory/crossbar.h"
#include "memory/dram.h"
#include "memory/l2.h"
#include "memory/port.h"

/* The most requests of one SM between memory_enter and memory_take. Tokens are below it. */
#define QUEUED_REQUESTS_PER_SM 512u

typedef struct queued_memory queued_memory;

/* Makes the memory. `meter` counts the traffic of each kernel behind the L1s; NULL: it is not counted. */
queued_memory *queued_make(arena *a, const minigpu_config *config, uint32_t sms, gpump_meter *meter);
/* Returns a byte per SM, which becomes 0 when a refused SM should ask again (memory_refuse). */
uint8_t *queued_refused(queued_memory *q);
/* Reserves some eighths of the banks, with their channels, for a kernel; 0 eighths: it shares all banks. Lines of the
 * kernel in other banks are no longer found. */
void queued_set_slice(queued_memory *q, uint32_t kernel, uint32_t first, uint32_t eighths);
/* Makes packets that leave an SM's input send credits to its port. */
void queued_set_ports(queued_memory *q, network_port *ports);
/* Lets an SM take the replies that have been sent so far. Without ports it may always take them. *sm_cycle: when the SM
 * should look. */
void queued_publish(queued_memory *q, uint32_t sm, uint64_t *sm_cycle);
/* Returns the flits of a request to the L2. */
uint32_t queued_flits(const queued_memory *q, const memory_packet *request);
int queued_may_enter(queued_memory *q, uint32_t sm, const memory_packet *request);
void queued_enter(queued_memory *q, uint32_t sm, const memory_packet *request);
int queued_enter_next(queued_memory *q, uint64_t now, uint32_t sm, const memory_packet *request);
void queued_write_back(queued_memory *q, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics);
/* Simulates cycle `now`, and the cycles before `end` until an SM should look. Returns the next cycle in which something
 * happens. */
uint64_t queued_advance(queued_memory *q, uint64_t now, uint64_t end, uint64_t *sm_cycles,
                        memory_statistics *statistics);
int queued_take(queued_memory *q, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle);
uint32_t queued_under_way(const queued_memory *q, uint32_t sm);
uint64_t queued_last_reply(const queued_memory *q, uint32_t sm);
uint64_t queued_hash(const queued_memory *q, uint64_t hash);
/* Returns the bank of a line (address / 128), and sets *within to the line's number in the bank. */
uint32_t queued_bank(const queued_memory *q, uint64_t line, uint64_t *within);
/* Checks conservation while the memory is idle: flits sent equal flits received, and DRAM has read or written exactly
 * the lines that L2 filled or wrote back. Returns NULL, or the count that does not balance. */
const char *queued_balance(const queued_memory *q, const memory_statistics *statistics);

#endif
