/* cost: what it takes to get a block off its SM by each technique (floor 2, calculation and one small table;
 * Shieh 3.3.2) */
#ifndef GPUMP_COST_H
#define GPUMP_COST_H

#include "base/base.h"
#include "gpu/gpu.h"
#include "gpu/block.h"

GPUMP_BEGIN

/* How many finished blocks of a kernel the estimates rest on. */
#define GPUMP_COST_WINDOW 64

/* What is known about the finished blocks of one kernel: hardware kind, held by value, without pointers, copied by
 * assignment. A zeroed struct is an empty history. CPI: cycles per warp instruction of one block, Q16.16. */
typedef struct gpump_cost_history {
    uint64_t finished;          /* blocks ever recorded */
    uint64_t instructions_sum;  /* over the window */
    uint64_t cpi_sum;           /* over the window, Q16.16 */
    uint64_t deviation_sum;     /* the same in steps of 1/256 cycle, at most 2^24 each: for the deviation */
    uint64_t deviation_squares; /* and its squares */
    uint64_t instructions[GPUMP_COST_WINDOW]; /* ring of the last blocks */
    uint32_t cpi[GPUMP_COST_WINDOW];          /* Q16.16, saturated */
} gpump_cost_history;

/* Where the drain estimate takes its CPI from. */
typedef enum gpump_cost_cpi {
    GPUMP_COST_CPI_SMALLER_DEVIATION =
        0, /* Shieh: of the two below the one whose standard deviation is smaller; a tie is running */
    GPUMP_COST_CPI_RUNNING = 1,  /* the block's own so far (Chimera, as recalled: docs/papers.md) */
    GPUMP_COST_CPI_FINISHED = 2, /* mean of the last finished blocks */
    GPUMP_COST_CPI_SOURCES = 3
} gpump_cost_cpi;

/* Bits of gpump_cost_options.flags. */
#define GPUMP_COST_DRAIN_LOSES                                                             \
    1u /* drain costs the issue slots that idle until the SM's last block is out (Chimera) \
        */
#define GPUMP_COST_DRAIN_CAREFUL \
    2u /* a block that may not be flushed runs as long as the longest of the window, not the mean one (ours) */

typedef struct gpump_cost_options {
    uint32_t cpi;          /* gpump_cost_cpi */
    uint32_t flags;        /* GPUMP_COST_... */
    uint64_t limit_cycles; /* only with GPUMP_COST_DRAIN_LOSES: blocks that drain within it are taken to be drained */
} gpump_cost_options;

/* What a rewind of one block would save and lose. */
typedef struct gpump_cost_rewind {
    uint64_t bytes;    /* live-ins of its warps' last region boundaries and its shared memory */
    uint64_t executed; /* warp instructions since those boundaries */
} gpump_cost_rewind;

/* One block's cost by each gpump_technique. */
typedef struct gpump_cost_estimate {
    uint64_t latency[GPUMP_TECHNIQUES];  /* cycles until its room is free; GPUMP_UNKNOWN: cannot be told */
    uint64_t overhead[GPUMP_TECHNIQUES]; /* warp instructions lost; GPUMP_UNKNOWN likewise */
} gpump_cost_estimate;

/* Notes a block that has ended: warp instructions of its whole life and the cycles it ran (stalls for a switch not
 * counted). A block without instructions is not noted. Cost: a division. */
GPUMP_API void gpump_cost_history_record(gpump_cost_history *history, uint64_t instructions, uint64_t cycles);
/* Returns how many blocks the window holds, 0 to GPUMP_COST_WINDOW. */
GPUMP_API uint32_t gpump_cost_history_count(const gpump_cost_history *history);
/* Returns the mean instructions of a finished block, rounded up; GPUMP_UNKNOWN when none has finished. */
GPUMP_API uint64_t gpump_cost_history_instructions(const gpump_cost_history *history);
/* Returns a hash of the table, the same on every machine. Cost: linear in the window. */
GPUMP_API uint64_t gpump_cost_history_hash(const gpump_cost_history *history);
/* Returns the table's size, bits: per entry instructions and CPI, 32 bits each, and the five sums. */
GPUMP_API uint64_t gpump_cost_history_bits(void);

/* Returns the cycles per warp instruction of a block so far, Q16.16, rounded up; GPUMP_UNKNOWN when it has executed
 * nothing. */
GPUMP_API uint64_t gpump_cost_cpi_of(uint64_t executed, uint64_t cycles);

/* Estimates every block of one SM by every technique (Shieh 3.3.2).
 *   gpu        clock and bandwidth: a switch moves context_bytes at the SM's share (1/sms)
 *   histories  indexed by kernel number; entries past history_count, or NULL, know nothing
 *   blocks     the SM's resident blocks, count up to 64
 *   rewind     parallel to blocks, or NULL: no rewind
 *   options    NULL: Shieh's
 *   estimates  out, parallel to blocks
 * flush: 0 cycles, all executed instructions. switch: bytes over bandwidth; the kernel's mean IPC of a block on this SM
 * x 2 latencies (saved and restored). drain: (mean instructions of finished blocks - executed) x CPI, at least 0;
 * nothing lost. rewind: its bytes over bandwidth; the instructions since the boundary and the two stalls as in switch.
 * Whether a technique is allowed is not its business (gpump_block_view.may). What cannot be told for lack of samples is
 * GPUMP_UNKNOWN: a deviation needs two, an average one. Estimates take blocks one by one; see gpump_cost_port for what
 * the SM's one port makes of several. Cost: a few divisions per block. Errors: GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_cost_estimate_blocks(const gpump_gpu *gpu, const gpump_cost_history *histories,
                                                  uint32_t history_count, const gpump_block_view *blocks,
                                                  uint32_t count, const gpump_cost_rewind *rewind,
                                                  const gpump_cost_options *options, gpump_cost_estimate *estimates,
                                                  gpump_diag *diag);

/* Returns which source (gpump_cost_cpi) the drain estimate of `kernel` takes on the SM of blocks[count] under
 * GPUMP_COST_CPI_SMALLER_DEVIATION; with neither deviation known, GPUMP_COST_CPI_SOURCES. Cost: linear in count. */
GPUMP_API gpump_cost_cpi gpump_cost_cpi_source(const gpump_cost_history *history, const gpump_block_view *blocks,
                                               uint32_t count, uint32_t kernel);

/* The exact latency of several saves, which share the one port of their SM: orders them shortest first, which frees
 * each as early as can be. `cycles` are the saves' own latencies (count up to 64); order[i] is the index of the i-th to
 * be saved and finish[k] the cycle when save k is done. Returns when the last is done. The paper's estimate is the
 * longest alone. */
GPUMP_API uint64_t gpump_cost_port(const uint64_t *cycles, uint32_t count, uint32_t *order, uint64_t *finish);

GPUMP_END
#endif
