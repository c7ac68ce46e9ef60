/* allocations: those of a device, as the buffers that a machine is built with, in the order of their
 * addresses. */
#ifndef MINIGPU_ALLOCATIONS_H
#define MINIGPU_ALLOCATIONS_H

#include "launch/launch.h"

#define ALLOCATIONS_PART_BYTES (UINT64_C(2) << 30)  /* of a shared file; a process may allocate half of it */
#define ALLOCATIONS_FILE_BYTES (UINT64_C(64) << 30) /* of the shared file, which is sparse */

typedef struct allocations {
    launch_memory lent;
    launch_buffer *buffers;
    uint32_t count, capacity;
    uint64_t changes;   /* how often an allocation was taken or given back */
    uint64_t alignment; /* of allocations, bytes: a page, or a granule of faults that are served */
} allocations;

/* Reserves address space; at the device's own addresses, where the system allows it. Returns 0, or -1. */
int allocations_open(allocations *a, uint64_t alignment);
/* The same in a file that several processes map. part: which ALLOCATIONS_PART_BYTES of it this process allocates from;
 * NONE: the whole file, for the process whose machine runs on what the others have allocated. */
int allocations_open_shared(allocations *a, uint64_t alignment, int file, uint32_t part);
/* The allocations of other processes, in the order of their addresses, become a's. Names stay the caller's. Returns 0,
 * or -1: out of memory. */
int allocations_replace(allocations *a, const launch_buffer *buffers, uint32_t count);
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
