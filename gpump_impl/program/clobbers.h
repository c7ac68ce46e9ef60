/* clobbers: antidependences that make re-execution read a new value, in regions and in whole blocks (program) */
#ifndef GPUMP_CLOBBERS_H
#define GPUMP_CLOBBERS_H

#include "program/liveness.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* The immediate of a BOUNDARY. */
typedef enum gpump_boundary {
    GPUMP_BOUNDARY_SPARSE = 0, /* starts a sparse region, and a short one */
    GPUMP_BOUNDARY_SHORT = 1   /* starts a short region only */
} gpump_boundary;

/* A read whose source is overwritten before the region ends, and was not written in the region first (iGPU 3.1).
 * Executing the region again would read the new value. */
typedef struct gpump_clobber {
    uint32_t start; /* registers: the BOUNDARY whose region it is; memory: GPUMP_NONE */
    uint32_t read;  /* memory: the instruction that reads; registers: GPUMP_NONE */
    uint32_t write; /* the instruction that overwrites it */
    uint32_t reg;   /* the register; GPUMP_NONE: memory */
} gpump_clobber;

/* Lists the clobber antidependences left in a program with BOUNDARY instructions, memory first. level
 * GPUMP_BOUNDARY_SPARSE looks at sparse regions, GPUMP_BOUNDARY_SHORT at short ones. `unit` says whose accesses
 * can touch the same byte: GPUMP_UNIT_THREAD one thread's, GPUMP_UNIT_WARP those of a warp, whose diverged sides run
 * one after the other. The kernel's start is a boundary too. A register that holds no value at the kernel's start is no
 * clobber of the first region. An empty list means that a warp may return to its last boundary at any time, except
 * between an atomic, a volatile access or a barrier and the BOUNDARY behind it: those two must commit together.
 * GPUMP_ERROR_CAPACITY with *count = needed; GPUMP_ERROR_STATE; GPUMP_ERROR_MEMORY. Cost: the sum of region sizes. */
GPUMP_API gpump_result gpump_clobbers_find(const gpump_program *program, uint32_t unit, uint32_t level,
                                           gpump_clobber *list, uint32_t capacity, uint32_t *count);

/* Sets clobbers[i] (one byte per instruction) to 1 where a block that has executed instruction i may no longer be
 * restarted from the beginning: an atomic, a volatile write, or a write to global memory that some thread of the block
 * may have read before. A block that has executed none of them can be flushed (Chimera's relaxed idempotence). Shared
 * and local memory do not count: a fresh start finds them undefined anyway. *count (may be NULL): how many.
 * GPUMP_ERROR_MEMORY. Cost: near-linear. */
GPUMP_API gpump_result gpump_clobbers_block(const gpump_program *program, uint8_t *clobbers, uint32_t *count);

GPUMP_END
#endif
#endif
