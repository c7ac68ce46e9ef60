/* liveness: live registers at every point, and of a diverged warp (program) */
#ifndef GPUMP_LIVENESS_H
#define GPUMP_LIVENESS_H

#include "program/program.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* A register is live at a point when some path from there reads it before it is written whole (a guarded write is not
 * whole). Sets are arrays of gpump_liveness_words words, one bit per register of the program. The object refers to the
 * program, which must outlive it. */
typedef struct gpump_liveness gpump_liveness;

/* Analyses a finished program and sets *liveness. allocator NULL: the C library's. GPUMP_ERROR_STATE before _finish,
 * GPUMP_ERROR_MEMORY. Cost: near-linear in instructions plus live ranges (one walk up from its uses per register).
 * Source: Lin 2.3.2. */
GPUMP_API gpump_result gpump_liveness_create(const gpump_program *program, const gpump_allocator *allocator,
                                             gpump_liveness **liveness);
/* Frees the analysis. */
GPUMP_API void gpump_liveness_destroy(gpump_liveness *liveness);
/* Returns the 64-bit words of a set. */
GPUMP_API uint32_t gpump_liveness_words(const gpump_liveness *liveness);
/* Sets set[] to the registers live before instruction `index`. Cost: linear in the set's words and
 * in the registers live nearby; at most 64 instructions, or as many as there are live registers, are walked. */
GPUMP_API void gpump_liveness_before(const gpump_liveness *liveness, uint32_t index, uint64_t *set);
/* Sets set[] to the registers live behind instruction `index`. Cost: that of gpump_liveness_before. */
GPUMP_API void gpump_liveness_after(const gpump_liveness *liveness, uint32_t index, uint64_t *set);
/* Set *registers to the *count registers live at the start (or end) of basic block `basic_block`, ascending; the array
 * lives as long as the object. */
GPUMP_API void gpumpi_liveness_block_in(const gpump_liveness *liveness, uint32_t basic_block,
                                        const uint32_t **registers, uint32_t *count);
GPUMP_API void gpumpi_liveness_block_out(const gpump_liveness *liveness, uint32_t basic_block,
                                         const uint32_t **registers, uint32_t *count);

/* Lists in branches[], ascending, the branches that can have diverged a warp some of whose lanes stand at instruction
 * `index`. Such a branch has a path to the instruction that does not pass the branch's reconvergence point. UNIFORM
 * branches never diverge a warp and are left out. GPUMP_ERROR_CAPACITY; GPUMP_ERROR_MEMORY. Cost: the branches found
 * (transitive control dependence). */
GPUMP_API gpump_result gpump_liveness_enclosing(const gpump_liveness *liveness, uint32_t index, uint32_t *branches,
                                                uint32_t capacity, uint32_t *count);
/* Sets set[] to the registers to save when a diverged warp stops before instruction `index` and its SIMT stack is not
 * known: those live there, behind every enclosing divergence, and at the reconvergence point of each (Lin 2.3.2,
 * Fig. 2.5, for all enclosing divergences instead of one). GPUMP_ERROR_MEMORY. Cost: the branches found, a set each. */
GPUMP_API gpump_result gpump_liveness_diverged(const gpump_liveness *liveness, uint32_t index, uint64_t *set);
/* Sets set[] to the registers to save when the SIMT stack is known: pcs[count] are the instructions at which lanes of
 * the warp stand or wait (active, other side, reconvergence). Exact: the union of what is live before each. PCs beyond
 * the program are ignored. Cost: a set, and for each further PC the registers of the program. */
GPUMP_API void gpump_liveness_stack(const gpump_liveness *liveness, const uint32_t *pcs, uint32_t count, uint64_t *set);

/* Counts a set: *registers in 32-bit registers (64-bit ones count twice), *predicates apart. Either may be NULL. */
GPUMP_API void gpump_liveness_count(const gpump_liveness *liveness, const uint64_t *set, uint32_t *registers,
                                    uint32_t *predicates);
/* Fills registers[i] and predicates[i] (either may be NULL), one per instruction, with the counts live before it, and
 * *peak_registers and *peak_predicates (may be NULL) with the most that are live or being written at one place. A
 * register file must hold at least these. GPUMP_ERROR_MEMORY. Cost: linear. */
GPUMP_API gpump_result gpump_liveness_pressure(const gpump_liveness *liveness, uint32_t *registers,
                                               uint32_t *predicates, uint32_t *peak_registers,
                                               uint32_t *peak_predicates);

/* A register that some path reads before anything was written to it. Real PTX has them; they count as live from the
 * entry. */
typedef struct gpump_uninitialised {
    uint32_t reg;
    uint32_t instruction; /* the first in layout order that reads it so */
} gpump_uninitialised;
/* Lists them by register in list[]. GPUMP_ERROR_CAPACITY, GPUMP_ERROR_MEMORY. Cost: the basic blocks between the entry
 * and their uses. */
GPUMP_API gpump_result gpump_liveness_uninitialised(const gpump_liveness *liveness, gpump_uninitialised *list,
                                                    uint32_t capacity, uint32_t *count);

GPUMP_END
#endif
#endif
