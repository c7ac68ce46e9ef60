/* model: what can stand behind the door of memory.h, as one table of functions. fixed.c and queued.c are two; a third,
 * say a DRAM simulator of your own, is one file with its table and one line in memory.c (`models`). */
#ifndef MINIGPU_MEMORY_MODEL_H
#define MINIGPU_MEMORY_MODEL_H

#include "base/arena.h"
#include "launch/config.h"
#include "memory/port.h"

/* `memory` is what `make` has returned. memory.h says what the function of the same name does. */
typedef struct memory_model {
    const char *name;
    /* Makes the memory of so many SMs in the arena. `meter` gets the traffic of each kernel behind the L1s. Returns
     * NULL when the arena is full. */
    void *(*make)(arena *a, const minigpu_config *config, uint32_t sms, gpump_meter *meter);
    /* Packets that leave an SM's input send credits to its port. -1: the arena is full. */
    int (*set_ports)(void *memory, network_port *ports, arena *a);
    /* An SM may take the replies that have been sent so far; without ports it may always. *sm_cycle: when it should
     * look. */
    void (*publish)(void *memory, uint32_t sm, uint64_t *sm_cycle);
    uint32_t (*flits)(const void *memory, const memory_packet *request); /* of a request on its way to the L2 */
    int (*may_enter)(void *memory, uint64_t now, uint32_t sm, const memory_packet *request, uint64_t *sm_cycle);
    void (*enter)(void *memory, uint32_t sm, const memory_packet *request);
    void (*write_back)(void *memory, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics);
    /* Returns the next cycle in which something happens. */
    uint64_t (*advance)(void *memory, uint64_t now, uint64_t *sm_cycles, memory_statistics *statistics);
    int (*take)(void *memory, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle);
    uint32_t (*under_way)(const void *memory, uint32_t sm);
    uint64_t (*last_reply)(const void *memory, uint32_t sm);
    uint64_t (*hash)(const void *memory, uint64_t hash);
    /* A byte per SM, which becomes 0 when an SM that was refused has to ask again (memory_refuse). NULL: nobody
     * remembers that. */
    uint8_t *(*refused)(void *memory);
    /* NULL: kernels have no slices of L2 and DRAM. */
    void (*set_slice)(void *memory, uint32_t kernel, uint32_t first, uint32_t eighths);
} memory_model;

extern const memory_model fixed_model, queued_model;

#endif
