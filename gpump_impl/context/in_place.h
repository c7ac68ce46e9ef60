/* in_place: which blocks must give up registers or shared memory so that another kernel fits (calculation; Lin
 * 2.3.1)
 *
 * A preempted block may leave its registers, its shared memory or both on the SM. Only the ranges that the incoming
 * kernel needs are written to memory. gpump_in_place_find finds the smallest such set, and gpump_sm_preempt carries it
 * out (gpump_block_choice.keep). */
#ifndef GPUMP_IN_PLACE_H
#define GPUMP_IN_PLACE_H

#include "base/base.h"
#include "gpu/gpu.h"
#include "gpu/block.h"

GPUMP_BEGIN

/* Ranges that blocks of the incoming kernel may take. */
typedef enum gpump_in_place_placement {
    /* At 0, size, 2 x size and so on, side by side from the end of gpump_in_place_sm.placed (Lin Fig. 2.4). */
    GPUMP_IN_PLACE_FROM_ZERO = 0,
    GPUMP_IN_PLACE_ALIGNED = 1, /* at multiples of size, those that cost least (the positions of Shieh 3.2) */
    GPUMP_IN_PLACE_BEST = 2     /* anywhere: the least over all placements */
} gpump_in_place_placement;

/* The SM before the decision. */
typedef struct gpump_in_place_sm {
    const gpump_block_view *blocks; /* gpump_sm_blocks; a block whose `may` lacks switch stays whole */
    uint32_t count;                 /* how many; 0 to 64 */
    uint32_t registers;             /* size of the register file, 32-bit registers */
    uint32_t shared_bytes;          /* size of shared memory, bytes */
    /* gpump_sm_config.placed: the first registers and bytes, where another component places blocks. No plan takes
     * them. */
    gpump_room placed;
} gpump_in_place_sm;

/* What the incoming kernel needs on this SM. */
typedef struct gpump_in_place_need {
    uint32_t blocks;             /* how many blocks must fit at the same time; 1 to 64 */
    uint32_t registers;          /* 32-bit registers of one block, rounded to the granule */
    uint32_t shared_bytes;       /* shared memory of one block, rounded, bytes */
    uint32_t register_placement; /* gpump_in_place_placement */
    uint32_t shared_placement;   /* gpump_in_place_placement */
} gpump_in_place_need;

/* The plan in numbers. */
typedef struct gpump_in_place_plan {
    uint64_t register_bytes;  /* allocated bytes of registers given up */
    uint64_t shared_bytes;    /* bytes of shared memory given up */
    uint32_t register_blocks; /* blocks that give up registers: the fewest possible */
    uint32_t shared_blocks;   /* blocks that give up shared memory: the fewest possible */
    uint32_t blocks;          /* blocks that give up either */
    uint32_t unused;
    uint32_t give_up[64];        /* for each block of the SM: gpump_part bits; 0: all of it stays */
    uint32_t register_bases[64]; /* where need->blocks blocks fit: first registers, ascending */
    uint32_t shared_bases[64];   /* and first bytes of shared memory, ascending */
} gpump_in_place_plan;

/* Finds the fewest blocks of *sm that must give up registers, and the fewest that must give up shared memory, so that
 * need->blocks blocks fit, and fills *plan. Each of the two is a minimum of its own. Ties: first blocks that give up
 * the other part already, then fewer bytes. GPUMP_ERROR_ARGUMENT, also when ranges of blocks overlap;
 * GPUMP_ERROR_REFUSED with REGISTERS or SHARED_MEMORY when there is no plan.
 * Cost: at most (blocks squared x need->blocks) steps; about 45 KB of stack. */
GPUMP_API gpump_result gpump_in_place_find(const gpump_in_place_sm *sm, const gpump_in_place_need *need,
                                           gpump_in_place_plan *plan, gpump_diag *diag);

GPUMP_END
#endif
