/* preempt_points: where a kernel may be preempted, and what is live there (program) */
#ifndef GPUMP_PREEMPT_POINTS_H
#define GPUMP_PREEMPT_POINTS_H

#include "program/liveness.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* Filled by gpump_preset only. */
typedef struct gpump_preempt_points_config {
    uint32_t interval; /* K: instructions outside innermost loops per point; at least 1 */
} gpump_preempt_points_config;

/* The live vector of an instruction word: 54 bits beside a 10-bit opcode (Lin 2.4.1). Bit r, 0 to 52, is 32-bit
 * register r; bit 53 stands for all from 53 up. */
#define GPUMP_LIVE_VECTOR_REGISTERS 53u
#define GPUMP_LIVE_VECTOR_REST (UINT64_C(1) << 53)
/* The configuration for gpump_preset. Preset: "lin", K = 100 (published: any K from 100 to 1000 gives similar
 * results, Lin 2.4.1). */
GPUMP_API const gpumpi_methods *gpumpi_preempt_points_methods(void);
GPUMPI_CONSTANT gpump_component gpump_preempt_points_component = {gpumpi_preempt_points_methods, GPUMP_LAYOUT_PROGRAM,
                                                                  0};

/* Returns the number of 32-bit registers that a switch saves for a thread with `registers` registers and this vector.
 */
GPUMP_API uint32_t gpumpi_live_vector_count(uint64_t vector, uint32_t registers);
/* Returns 1 when the vector covers register `reg`. */
GPUMP_INLINE int gpumpi_live_vector_has(uint64_t vector, uint32_t reg) {
    return (int)(vector >> (reg < GPUMP_LIVE_VECTOR_REGISTERS ? reg : GPUMP_LIVE_VECTOR_REGISTERS) & 1u);
}

typedef enum gpump_preempt_kind {
    GPUMP_PREEMPT_PP = 0,  /* a pp, followed by the instruction that carries the diverged vector */
    GPUMP_PREEMPT_BARRIER, /* a barrier chosen as a point: bar.pp */
    /* A barrier that was not chosen. It carries a vector too: without one, a warp that waits at this barrier while
     * other warps have stopped at their points would never stop. */
    GPUMP_PREEMPT_BARRIER_WAIT
} gpump_preempt_kind;

typedef struct gpump_preempt_point {
    uint64_t vector;          /* live when the warp stops before the point's instruction, not diverged */
    uint64_t vector_diverged; /* live when it is diverged; barriers: the same as vector */
    uint64_t predicates;      /* live predicate registers, bit 0 the first of them */
    uint64_t predicates_diverged;
    uint32_t instruction;    /* of the new program: PP or BARRIER_PP, whose immediate is this point's index */
    uint32_t kind;           /* gpump_preempt_kind */
    uint32_t loop;           /* the innermost loop it is for, in the old program; GPUMP_NONE: outside */
    uint32_t live_registers; /* 32-bit registers live there */
    uint32_t live_diverged;
} gpump_preempt_point;

/* Places preemption points (Lin 2.4.1): one in each innermost loop, and one for every K instructions outside innermost
 * loops. A point goes to the barrier with the fewest live registers. Where there is no barrier, the point goes to the
 * place with the fewest live registers, in a loop among the places that every iteration passes. Every barrier becomes a
 * BARRIER_PP with its vector. Sets *placed to a new program and points[capacity] to the points in the order of its
 * instructions. The program must be allocated (32-bit registers first, then at most 64 predicates;
 * gpump_registers_allocate gives that), at most one point per instruction. GPUMP_ERROR_CAPACITY with *count = needed,
 * and no program; GPUMP_ERROR_STATE before _finish; GPUMP_ERROR_ARGUMENT; GPUMP_ERROR_MEMORY. Cost: liveness, plus for
 * each point its enclosing divergences. */
GPUMP_API gpump_result gpump_preempt_points_place(const gpump_program *program,
                                                  const gpump_preempt_points_config *config, gpump_program **placed,
                                                  gpump_preempt_point *points, uint32_t capacity, uint32_t *count,
                                                  gpump_diag *diag);

GPUMP_END
#endif
#endif
