/* model: a model of the memory behind the interface memory.h, as one table of functions. fixed.c and queued.c are two
 * models. A third, such as a DRAM simulator of your own, is one file with its table and one line in
 * launch/memory_models.def. tests/minigpu/own_memory.sh adds one. */
#ifndef MINIGPU_MEMORY_MODEL_H
#define MINIGPU_MEMORY_MODEL_H

#include "base/arena.h"
#include "launch/config.h"
#include "memory/port.h"

/* The functions of a model. `memory` is the result of `make`. memory.h describes the function of the same name. */
typedef struct memory_model {
    const char *name;
    /* Makes the memory of `sms` SMs in the arena. `meter` counts the traffic of each kernel behind the L1s. Returns
     * NULL when the arena is full. */
    void *(*make)(arena *a, const minigpu_config *config, uint32_t sms, gpump_meter *meter);
    /* Makes packets that leave an SM's input send credits to its port. Returns -1 when the arena is full. */
    int (*set_ports)(void *memory, network_port *ports, arena *a);
    /* Makes the replies that have been sent so far visible to an SM. Without ports every reply is visible at once. Sets
     * *sm_cycle to the cycle in which the SM should look for replies. */
    void (*publish)(void *memory, uint32_t sm, uint64_t *sm_cycle);
    uint32_t (*flits)(const void *memory, const memory_packet *request); /* flits of a request to the L2 */
    int (*may_enter)(void *memory, uint64_t now, uint32_t sm, const memory_packet *request, uint64_t *sm_cycle);
    void (*enter)(void *memory, uint32_t sm, const memory_packet *request);
    /* Enters a request in cycle `now` + 1 (memory_enter_next). Returns 0 when it has no room now. NULL: the model takes
     * requests in their own cycle only. */
    int (*enter_next)(void *memory, uint64_t now, uint32_t sm, const memory_packet *request);
    /* For SMs that run ahead of the memory (memory_least_cycles). NULL: no SM sends a request ahead. full returns a
     * byte per SM: which requests its input may have no room for (MEMORY_FULL), whatever leaves it until then.
     * enter_next then takes requests of later cycles, too, in the order of their cycles. least_cycles returns the
     * fewest cycles from the departure of a request to its reply. */
    const uint8_t *(*full)(const void *memory);
    uint32_t (*least_cycles)(const void *memory);
    void (*write_back)(void *memory, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics);
    /* Returns the next cycle in which something happens. */
    uint64_t (*advance)(void *memory, uint64_t now, uint64_t *sm_cycles, memory_statistics *statistics);
    /* Simulates cycle `now`, and then the cycles before `end` in which something happens, until *sm_cycles of an SM
     * does not lie behind the next of them. Returns that one. NULL: memory.c calls advance for each. */
    uint64_t (*advance_alone)(void *memory, uint64_t now, uint64_t end, uint64_t *sm_cycles,
                              memory_statistics *statistics);
    int (*take)(void *memory, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle);
    uint32_t (*under_way)(const void *memory, uint32_t sm);
    uint64_t (*last_reply)(const void *memory, uint32_t sm);
    uint64_t (*hash)(const void *memory, uint64_t hash);
    void (*empty)(void *memory); /* NULL: the model cannot be emptied, so its machines run once */
    /* Returns a byte per SM, which the model clears when a refused SM should ask again (memory_refuse). NULL: the model
     * does not record it. */
    uint8_t *(*refused)(void *memory);
    /* NULL: the model has no slices of L2 and DRAM. */
    void (*set_slice)(void *memory, uint32_t kernel, uint32_t first, uint32_t eighths);
} memory_model;

#define MEMORY_MODEL(name) extern const memory_model name##_model;
#include MEMORY_MODELS_LIST
#undef MEMORY_MODEL

#endif
