/* cost: latency and overhead of each technique for each block of an SM (calculation and one small table; Shieh 3.3.2)
 *
 * The estimates are the published ones. They omit three times:
 *    flush   The estimate is 0 cycles. Squashing the pipeline took 13 to 51 cycles in GPGPU-Sim.
 *    drain   A block past the mean length of finished blocks is estimated at 0 cycles, however long it still runs.
 *            GPUMP_COST_DRAIN_CAREFUL replaces the mean by the longest block of the window for blocks that may not be
 *            flushed. GPUMP_VICTIM_ASK_AGAIN decides again about blocks that drain.
 *    switch  The estimate starts at once. It excludes the time until the block's state is complete. */
#ifndef GPUMP_COST_H
#define GPUMP_COST_H

#include "base/base.h"
#include "gpu/gpu.h"
#include "gpu/block.h"
#include "gpu/technique.h"

GPUMP_BEGIN

/* Number of finished blocks of a function that the estimates use. */
#define GPUMP_COST_WINDOW 64

/* The finished blocks of one function, over all launches. The struct has no pointers and is copied by assignment. A
 * struct of zeros is an empty history. CPI is cycles per warp instruction of one block, Q16.16. */
typedef struct gpump_cost_history {
    uint64_t finished;          /* blocks ever recorded */
    uint64_t instructions_sum;  /* over the window */
    uint64_t cpi_sum;           /* over the window, Q16.16 */
    uint64_t deviation_sum;     /* the same in steps of 1/256 cycle, at most 2^24 each: for the deviation */
    uint64_t deviation_squares; /* and its squares */
    uint64_t instructions[GPUMP_COST_WINDOW]; /* ring of the last blocks */
    uint32_t cpi[GPUMP_COST_WINDOW];          /* Q16.16, saturated */
} gpump_cost_history;

/* Source of the CPI in the drain estimate. */
typedef enum gpump_cost_cpi {
    /* Of the two sources below, the one with the smaller standard deviation (Shieh). A tie is RUNNING. */
    GPUMP_COST_CPI_SMALLER_DEVIATION = 0,
    GPUMP_COST_CPI_RUNNING = 1,  /* the block's own CPI so far (Chimera, as recalled: docs/papers.md) */
    GPUMP_COST_CPI_FINISHED = 2, /* mean CPI of the last finished blocks */
    GPUMP_COST_CPI_LARGER = 3, /* the larger of the two, or the known one (not in the papers); fewer drains are late */
    GPUMP_COST_CPI_SOURCES = 4
} gpump_cost_cpi;

/* Bits of gpump_cost_options.flags. DRAIN_LOSES: a drain is charged with the issue slots that idle until the last block
 * of the SM has left (Chimera). DRAIN_CAREFUL: a block that may not be flushed is assumed to run as long as the longest
 * block of the window instead of the mean one (not in the papers). */
#define GPUMP_COST_DRAIN_LOSES 1u
#define GPUMP_COST_DRAIN_CAREFUL 2u

typedef struct gpump_cost_options {
    uint32_t cpi;   /* gpump_cost_cpi */
    uint32_t flags; /* GPUMP_COST_... */
    /* With GPUMP_COST_DRAIN_LOSES: a block whose drain fits into this many cycles is assumed to be drained. */
    uint64_t limit_cycles;
} gpump_cost_options;

/* What a rewind of one block would save and lose. */
typedef struct gpump_cost_rewind {
    uint64_t bytes;    /* live-ins of its warps' last region boundaries and its shared memory */
    uint64_t executed; /* warp instructions since those boundaries */
} gpump_cost_rewind;

/* One block's cost by each technique of the list (gpump_technique_at); GPUMP_UNKNOWN for numbers without a technique.
 */
typedef struct gpump_cost_estimate {
    uint64_t latency[GPUMP_TECHNIQUES];  /* cycles until the block's room is free; GPUMP_UNKNOWN: no estimate */
    uint64_t overhead[GPUMP_TECHNIQUES]; /* warp instructions lost; GPUMP_UNKNOWN likewise */
} gpump_cost_estimate;

/* Records a finished block in *history: the warp `instructions` of its whole life and the `cycles` that it ran, without
 * stalls for a switch. A block without instructions is not recorded. Cost: a division. */
GPUMP_API void gpump_cost_history_record(gpump_cost_history *history, uint64_t instructions, uint64_t cycles);
/* Returns how many blocks the window holds, 0 to GPUMP_COST_WINDOW. */
GPUMP_API uint32_t gpumpi_cost_history_count(const gpump_cost_history *history);
/* Returns the mean instructions of a finished block, rounded up; GPUMP_UNKNOWN when none has finished. */
GPUMP_API uint64_t gpumpi_cost_history_instructions(const gpump_cost_history *history);
/* Returns a hash of the table, the same on every machine. Cost: linear in the window. */
GPUMP_API uint64_t gpumpi_cost_history_hash(const gpump_cost_history *history);
/* Returns the table's size, bits: per entry instructions and CPI, 32 bits each, and the five sums. */
GPUMP_API uint64_t gpump_cost_history_bits(void);

/* Returns the cycles per warp instruction of a block so far, Q16.16, rounded up; GPUMP_UNKNOWN when it has executed
 * nothing. */
GPUMP_API uint64_t gpumpi_cost_cpi_of(uint64_t executed, uint64_t cycles);

/* Estimates every block of one SM by every technique (Shieh 3.3.2).
 *
 *   port       the port of the SM (gpump_gpu_port): a switch moves context_bytes through it. free_cycle is ignored
 *   histories  histories[history_count], by function (gpumpi_block_function); NULL or a missing entry: empty history
 *   blocks     the SM's resident blocks, count up to 64
 *   rewind     parallel to blocks, or NULL: no rewind
 *   options    NULL: Shieh's estimates
 *   estimates  out, parallel to blocks
 *
 * By technique:
 *   flush      0 cycles; all executed instructions are lost
 *   switch     bytes over bandwidth; lost: twice that time at the mean IPC of the function's blocks here
 *   drain      (mean instructions of finished blocks - executed) x CPI, at least 0; nothing is lost
 *   rewind     its bytes over bandwidth; lost: the instructions since the boundary, and as in switch
 *   one's own  as the built-in technique that begins alike; then gpump_technique.estimate changes it
 *
 * Faults: a block that waits for pages drains gpump_block_view.fault_cycles later. A switch is delayed by the same time
 * where faults stall. Where faults do not stall, the two stalls of a switch or a rewind lose nothing while the block
 * would have waited for its pages.
 *
 * The function does not ask whether a technique is allowed (gpump_block_view.may). An estimate without enough samples
 * is GPUMP_UNKNOWN: a deviation needs two samples, an average one. Each block is estimated alone; gpump_port_take has
 * the times of several saves that share the port. Cost: a few divisions per block. Errors: GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_cost_estimate_blocks(const gpump_port *port, const gpump_cost_history *histories,
                                                  uint32_t history_count, const gpump_block_view *blocks,
                                                  uint32_t count, const gpump_cost_rewind *rewind,
                                                  const gpump_cost_options *options, gpump_cost_estimate *estimates,
                                                  gpump_diag *diag);

/* Returns which source (gpump_cost_cpi) the drain estimate of `function` takes on the SM of blocks[count] under
 * GPUMP_COST_CPI_SMALLER_DEVIATION; with neither deviation known, GPUMP_COST_CPI_SOURCES. Cost: linear in count. */
GPUMP_API gpump_cost_cpi gpumpi_cost_cpi_source(const gpump_cost_history *history, const gpump_block_view *blocks,
                                                uint32_t count, uint32_t function);

GPUMP_END
#endif
