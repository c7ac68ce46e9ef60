/* patterns: which registers hold one value, or a ramp, over the lanes of a warp (program)
 *
 * A compiler can compress a register before the kernel runs when it knows how the register's value varies over the
 * lanes of a warp: not at all (uniform), or by the same step from lane to lane (affine). This analysis derives the
 * variation from what each instruction computes; the host gives one rule per instruction. The result holds for all
 * lanes that have not exited. A register written by a part of the warp is unknown. Every write under divergence is
 * therefore unknown. */
#ifndef GPUMP_PATTERNS_H
#define GPUMP_PATTERNS_H

#include "program/liveness.h"
#include "program/program.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* How a 32-bit register varies over the lanes. */
typedef enum gpump_pattern {
    GPUMP_PATTERN_UNIFORM = 0, /* one value */
    GPUMP_PATTERN_AFFINE,      /* value + lane x step, modulo 2^32 */
    GPUMP_PATTERN_UNKNOWN
} gpump_pattern;

/* What defs[0] of an instruction is. The other defs of every kind, and predicates, are uniform when all that the
 * instruction reads is uniform, else unknown; of UNKNOWN they are unknown. */
typedef enum gpump_pattern_kind {
    GPUMP_PATTERN_OF_NOTHING = 0, /* unknown: loads, atomics, lane numbers beyond one dimension */
    GPUMP_PATTERN_OF_CONSTANT,    /* the same in all lanes: constants, parameters, block numbers */
    GPUMP_PATTERN_OF_FUNCTION,    /* any function of what it reads, lane by lane: uniform when all of it is */
    GPUMP_PATTERN_OF_SUM,         /* sum or difference, modulo 2^32, of operands[]: as they are */
    GPUMP_PATTERN_OF_PRODUCT,     /* operands[0] x operands[1] + operands[2], modulo 2^32: one factor may be affine */
    GPUMP_PATTERN_OF_SHIFT,       /* operands[0] shifted left by operands[1], which is uniform */
    GPUMP_PATTERN_KINDS
} gpump_pattern_kind;
typedef struct gpump_pattern_rule {
    uint32_t kind;        /* gpump_pattern_kind */
    uint32_t operands[3]; /* registers, GPUMP_NONE: a constant, or GPUMP_PATTERN_LANE. Of 64-bit values the low word */
} gpump_pattern_rule;
#define GPUMP_PATTERN_LANE (GPUMP_NONE - 1) /* as an operand: a number that rises by 1 from lane to lane */

/* The patterns of a program's registers before each instruction. It refers to nothing. */
typedef struct gpump_patterns gpump_patterns;

/* Analyses a finished program, with its liveness and rules[instructions], and sets *patterns. allocator
 * NULL: the C library's. Errors: GPUMP_ERROR_ARGUMENT, and diag names the rule at fault; GPUMP_ERROR_MEMORY. Cost:
 * instructions x registers, three times at most per nesting of loops and divergence. Source: Lin 2.3.3 and 3.6.6,
 * "Register Context Reduction". */
GPUMP_API gpump_result gpump_patterns_create(const gpump_program *program, const gpump_liveness *liveness,
                                             const gpump_pattern_rule *rules, const gpump_allocator *allocator,
                                             gpump_patterns **patterns, gpump_diag *diag);
/* Frees the analysis; NULL is allowed. */
GPUMP_API void gpump_patterns_destroy(gpump_patterns *patterns);
/* Returns the gpump_pattern of register `reg` before instruction `index`. Hot: a load. */
GPUMP_API uint32_t gpump_patterns_before(const gpump_patterns *patterns, uint32_t index, uint32_t reg);
/* Sets *bytes to what the live registers below `registers` of a warp of `lanes` lanes take at most, compressed by what
 * is known of them, when its running lanes stand before instruction `index`: 4 each for uniform ones, 8 for affine
 * ones, 4 x lanes for others. Where the lanes may have parted, the registers that are live wherever the other lanes may
 * wait are counted too: behind each branch that may have parted them, and where its lanes meet again. `program` and
 * `liveness` are those of gpump_patterns_create. GPUMP_ERROR_ARGUMENT; GPUMP_ERROR_MEMORY. Cost: registers x branches
 * around the instruction. Source: Lin 3.6.6, "Register Context Reduction". */
GPUMP_API gpump_result gpump_patterns_live_bytes(const gpump_patterns *patterns, const gpump_program *program,
                                                 const gpump_liveness *liveness, uint32_t index, uint32_t registers,
                                                 uint32_t lanes, uint64_t *bytes);

GPUMP_END
#endif
#endif
