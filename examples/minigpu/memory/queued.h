/* queued: memory model 1, event driven. Network, L2 and DRAM have queues that fill up, and whoever finds one full holds
 * up those behind it.
 *
 *   SM's input of the request crossbar -> L2 bank -> (DRAM channel) -> bank's input of the reply crossbar -> SM
 *
 * It joins the parts crossbar, l2 and dram by the events of one timing wheel in network cycles; the SMs' and the
 * memory's clock are rational multiples of it. Idle parts cost nothing. A request takes these events: the end of its
 * transfer up, the start of its bank, (a pick of its channel, the fill,) the reply's readiness, and the end of its
 * transfer down. The functions are those of memory.h. */
#ifndef MINIGPU_QUEUED_H
#define MINIGPU_QUEUED_H

#include "launch/config.h"
#include "base/arena.h"
#include "memory/crossbar.h"
#include "memory/dram.h"
#include "memory/l2.h"
#include "memory/port.h"

/* Requests of one SM between memory_enter and memory_take, at most; tokens are below it. */
#define QUEUED_REQUESTS_PER_SM 512u

typedef struct queued_memory queued_memory;

/* `meter` gets the traffic of each kernel behind the L1s; NULL: nobody counts. */
queued_memory *queued_make(arena *a, const minigpu_config *config, uint32_t sms, gpump_meter *meter);
/* Returns a byte per SM, which becomes 0 when an SM that was refused has to ask again (memory_refuse). */
uint8_t *queued_refused(queued_memory *q);
/* Gives a kernel some eighths of the banks, with their channels, for itself; 0 eighths: all banks, with the others.
 * What L2 holds for it elsewhere is not looked for any more. */
void queued_set_slice(queued_memory *q, uint32_t kernel, uint32_t first, uint32_t eighths);
/* Packets that leave an SM's input send credits to its port. */
void queued_set_ports(queued_memory *q, network_port *ports);
/* An SM may take the replies that have been sent so far; without ports it may always. *sm_cycle: when it should look.
 */
void queued_publish(queued_memory *q, uint32_t sm, uint64_t *sm_cycle);
/* The flits of a request on its way to the L2. */
uint32_t queued_flits(const queued_memory *q, const memory_packet *request);
int queued_may_enter(queued_memory *q, uint32_t sm, const memory_packet *request);
void queued_enter(queued_memory *q, uint32_t sm, const memory_packet *request);
void queued_write_back(queued_memory *q, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics);
/* Returns the next cycle in which something happens. */
uint64_t queued_advance(queued_memory *q, uint64_t now, uint64_t *sm_cycles, memory_statistics *statistics);
int queued_take(queued_memory *q, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle);
uint32_t queued_under_way(const queued_memory *q, uint32_t sm);
uint64_t queued_last_reply(const queued_memory *q, uint32_t sm);
uint64_t queued_hash(const queued_memory *q, uint64_t hash);
/* The bank of a line (address / 128), and in *within the line's number in it. */
uint32_t queued_bank(const queued_memory *q, uint64_t line, uint64_t *within);
/* Checks that nothing has been lost while everything is idle: flits sent are flits received, every line read or written
 * by DRAM is one that L2 filled or wrote back. Returns NULL, or what does not balance. */
const char *queued_balance(const queued_memory *q, const memory_statistics *statistics);

#endif
