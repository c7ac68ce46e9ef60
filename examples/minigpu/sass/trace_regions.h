/* trace_regions: where the idempotent regions of a traced warp end, from its trace (iGPU 3.1). Executing a region again
 * from its start gives the same memory: it overwrites no word that it has read before. A trace shows every address, so
 * these are the longest regions that there can be; a compiler, which must prove it, ends them earlier.
 *
 * Only the warp's own accesses count: between two barriers no other warp of a kernel without races looks at its words.
 */
#ifndef MINIGPU_TRACE_REGIONS_H
#define MINIGPU_TRACE_REGIONS_H

#include <stdint.h>

#include "ptx/instruction.h"

#define TRACE_REGION_WORDS 4096u /* that a region may access; with more it ends */

/* How the regions of a kernel are formed: these, or N, from 2: short ones of at most N instructions, too. */
enum { TRACE_REGIONS_NONE = 0, TRACE_REGIONS_SPARSE = 1 };
/* What stands before an instruction. */
typedef enum trace_boundary { TRACE_BOUNDARY_NONE, TRACE_BOUNDARY_SPARSE, TRACE_BOUNDARY_SHORT } trace_boundary;

/* The words that the region has accessed: a hash table whose entries count while they have its number. */
typedef struct trace_region {
    uint64_t words[2 * TRACE_REGION_WORDS]; /* address / 4, with the space above */
    uint32_t number_of[2 * TRACE_REGION_WORDS];
    uint8_t access[2 * TRACE_REGION_WORDS]; /* what the region has done with it (trace_regions.c) */
    uint32_t number, count;
    uint32_t instructions; /* since the last boundary of any kind */
    uint32_t ends_behind;  /* 1: behind the last instruction, whose effect nobody can take back */
} trace_region;

/* The first region of a warp begins. */
void trace_region_begin(trace_region *region);
/* Takes the next instruction of the warp, with the addresses of its lanes. regions: how regions are formed. Returns
 * what must stand before it. Cost: linear in the words that it accesses. */
trace_boundary trace_region_take(trace_region *region, uint32_t regions, const instruction *in,
                                 const uint64_t *addresses, uint32_t count);

#endif
