/* allocations: those of a device, as the buffers that a machine is built with, in the order of their
 * addresses. */
#ifndef MINIGPU_ALLOCATIONS_H
#define MINIGPU_ALLOCATIONS_H

#include "launch/launch.h"

typedef struct allocations {
    launch_memory lent;
    launch_buffer *buffers;
    uint32_t count, capacity;
    uint64_t changes;   /* how often an allocation was taken or given back */
    uint64_t alignment; /* of allocations, bytes: a page, or a granule of faults that are served */
} allocations;

/* Reserves address space; at the device's own addresses, where the system allows it. Returns 0, or -1. */
int allocations_open(allocations *a, uint64_t alignment);
void allocations_close(allocations *a);
/* Bytes that allocations may take in all. */
uint64_t allocations_room_bytes(const launch_memory *lent);
/* Returns the address of so many bytes on pages of their own, with an empty page behind them; 0: no room. */
uint64_t allocations_take(allocations *a, uint64_t bytes, const char *name);
/* Returns 0, or -1 when no allocation begins at the address. */
int allocations_give(allocations *a, uint64_t address);
/* Marks an allocation as variables of a module: these are never absent. */
void allocations_are_variables(allocations *a, uint64_t address);
/* The allocation in which an address lies; NULL. */
const launch_buffer *allocations_find(const allocations *a, uint64_t address);

#endif
