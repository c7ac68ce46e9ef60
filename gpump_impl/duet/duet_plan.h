/* duet_plan: how many blocks beyond an SM's room a kernel may have, and where they lie (calculation; Lin 3.6)
 *
 * Registers, shared memory, warp slots or block slots limit how many blocks of a kernel fit an SM. GPUDuet and Virtual
 * Thread place more blocks than that and keep what does not fit in on-chip memory that the kernel leaves unused. A plan
 * says what moves when a stalled warp (or block) makes room for a ready one, and divides the SM's memory into places:
 * homes, where a warp or block can run, and frames, where what has been switched out lies.
 *
 * All on-chip memory is one space of 128-byte granules: first the register file, then shared memory, then the L1 data
 * cache, which holds frames only after it has become a store. */
#ifndef GPUMP_DUET_PLAN_H
#define GPUMP_DUET_PLAN_H

#include "base/base.h"
#include "gpu/gpu.h"
#include "memory/meter.h"

GPUMP_BEGIN

#define GPUMP_DUET_GRANULE_BYTES 128        /* one 32-bit register of 32 lanes */
#define GPUMP_DUET_WARPS 256                /* warps of an SM at most, switched-out ones included */
#define GPUMP_DUET_BLOCKS 64                /* blocks of an SM at most, likewise */
#define GPUMP_DUET_ALL UINT32_MAX           /* config.extra_blocks: as many as the plan allows, from the start */
#define GPUMP_DUET_MONITOR (UINT32_MAX - 1) /* config.extra_blocks: as many as the monitor decides */

/* Unit of a switch. */
typedef enum gpump_duet_unit {
    GPUMP_DUET_OFF = 0, /* nothing: registers and shared memory are both full, or nothing is left for frames */
    GPUMP_DUET_WARP,    /* a warp leaves alone (Lin 3.6.2, Fig. 3.8b) */
    GPUMP_DUET_BLOCK    /* a block leaves when all its warps stall (Fig. 3.8c) */
} gpump_duet_unit;

/* How the unit is chosen. */
typedef enum gpump_duet_mode {
    GPUMP_DUET_MODE_DUET = 0, /* warps, or blocks where shared memory is full (Lin 3.6.6) */
    GPUMP_DUET_MODE_BLOCK,    /* always blocks ("GPUDuet_TB", Lin Fig. 3.13) */
    GPUMP_DUET_MODE_SLOTS     /* Virtual Thread: blocks, of which only the warp slots move (Lin 3.5.2) */
} gpump_duet_mode;

/* What warps at barriers do (Lin 3.6.3). */
typedef enum gpump_duet_barriers {
    GPUMP_DUET_BARRIERS_STAY = 0, /* they stay at home, and kernels may deadlock */
    GPUMP_DUET_BARRIERS_LEAVE,    /* they may be switched out: the solution that the paper uses */
    GPUMP_DUET_BARRIERS_WHOLE, /* they stay, and one block keeps a home for each of its warps until it ends: the paper's
                                  other solution. Blocks that are switched as one are not affected. */
    GPUMP_DUET_BARRIERS
} gpump_duet_barriers;

/* The configuration of a duet. gpump_preset fills the struct; the host may then change every field. */
typedef struct gpump_duet_config {
    uint32_t mode;              /* gpump_duet_mode */
    uint32_t warps;             /* entries of the warp context table; 128; 1 to GPUMP_DUET_WARPS */
    uint32_t blocks;            /* entries of the block context table; 32; 1 to GPUMP_DUET_BLOCKS */
    uint32_t warp_slots;        /* warps that can run at once; 64; 1 to `warps` */
    uint32_t block_slots;       /* blocks that the SM has without switching; 32; 1 to `blocks` */
    uint32_t register_granules; /* of the register file; 2048; 0 to 65536 */
    uint32_t shared_granules;   /* of shared memory; 768; 0 to 65536 */
    uint32_t l1_granules;       /* of the L1 data cache; 256; 0: L1 never becomes a store */
    uint32_t slot_granules;     /* of what a warp slot holds: SIMT stack, scoreboard; 2 (assumed) */
    uint32_t warp_queue;        /* entries of each of the two warp queues; 16; 1 to 256 */
    uint32_t block_queue;       /* entries of each of the two block queues; 8; 1 to 256 */
    uint32_t port_bytes;        /* moved per cycle; 128; 1 to 4096 (Lin Fig. 3.15: 64, 128, 256) */
    uint32_t barriers_leave;    /* gpump_duet_barriers; LEAVE */
    uint32_t leaves_early;  /* 1: a warp that stalls leaves while a frame is free (Lin 3.6.6). 0: it leaves when another
                               warp is READY */
    uint32_t extra_blocks;  /* extra blocks (ME): GPUMP_DUET_MONITOR, GPUMP_DUET_ALL, or a fixed number */
    uint32_t skip_cycles;   /* before the monitor's first period; 10000 */
    uint32_t period_cycles; /* of the monitor; 10000; at least 1 */
    /* Extra blocks that a saturated period takes back, and none is added later: 1 (ours). Lin 3.6.4 prints that ME is
     * zero for saturated kernels (GPUMP_DUET_ALL), and that it stops growing for moderately utilised ones (0). */
    uint32_t taken_back;
    uint32_t under_permille;             /* underutilised: scheduler, network, L1, L2 below; 600 (Table 3.3) */
    uint32_t under_dram_permille;        /* and DRAM below; 500 */
    uint32_t saturated_permille;         /* saturated: scheduler, L1 or L2 above; 800 */
    uint32_t saturated_network_permille; /* or the network above; 900 */
    uint32_t saturated_dram_permille;    /* or DRAM above; 700 */
    uint32_t l1_useless_permille;        /* L1 becomes a store below this utilisation; 30 (Lin 3.6.4) */
} gpump_duet_config;

/* Begin and size of the places of a plan, in granules. A plan does not change while its kernel is on the SM. */
typedef struct gpump_duet_plan {
    uint32_t unit;            /* gpump_duet_unit */
    uint32_t limits;          /* gpump_resource bits: what stops one more block without switching */
    uint32_t moves_registers; /* 1: registers move; 0: they stay in the register file */
    uint32_t moves_shared;    /* 1: shared memory moves */
    uint32_t block_warps;     /* warps of a block (N) */
    uint32_t warp_granules;   /* registers of a running warp */
    uint32_t shared_granules; /* shared memory of a block */
    uint32_t native_blocks;   /* blocks without switching (MC) */
    uint32_t extra_blocks;    /* blocks beyond these, at most (the bound of ME) */
    uint32_t extra_blocks_l1; /* the same once L1 is a store; extra_blocks when that is not worth it */
    uint32_t homes;           /* warps, or blocks, that can run at once */
    uint32_t frame_granules;  /* of a frame: what is switched out of a warp, or of a block */
    uint32_t frame_registers; /* of these, registers of one warp, live and compressed */
    uint32_t frames[3];       /* frames in the register file, in shared memory, in L1 */
    uint32_t first_frame[3];  /* the granule at which they begin in the unified space */
} gpump_duet_plan;

/* The classes of Lin Table 3.3. */
typedef enum gpump_duet_class {
    GPUMP_DUET_UNDERUTILISED = 0,
    GPUMP_DUET_MODERATE,
    GPUMP_DUET_SATURATED
} gpump_duet_class;

/* The duet for the verbs of base/component.h: gpump_init makes a duet without a kernel. Presets: maxwell_duet
 * (GPUDuet on the machine of Lin Table 3.1), duet_block (the same with blocks as the only unit), duet_whole
 * (the same with one block always whole), virtual_thread (Virtual Thread on that machine). gpump_bits counts what the
 * papers count (gpump_table_bits). gpump_check and gpump_hash are linear in warps. */
GPUMP_API const gpumpi_methods *gpumpi_duet_methods(void);
GPUMPI_CONSTANT gpump_component gpump_duet_component = {gpumpi_duet_methods, GPUMP_LAYOUT_DUET, 0};

/* Sets the sizes of *config to the room *room of an SM of the machine *gpu, whose L1 data cache gives `l1_bytes`:
 * tables for twice its warps (Lin 3.6.4), mode and thresholds stay. *room is a whole SM or a part of it: the same room
 * as gpump_sm_config.placed, or as the host divides its SM. GPUMP_ERROR_CONFIG when the machine has warps of other than
 * 32 lanes, when the room has more warps than GPUMP_DUET_WARPS, or when it is larger than the SM. */
GPUMP_API gpump_result gpump_duet_config_from_gpu(gpump_duet_config *config, const gpump_gpu *gpu,
                                                  const gpump_room *room, uint32_t l1_bytes, gpump_diag *diag);

/* Makes the plan of a kernel whose blocks take *need, and of whose warps at most `live_granules` granules of registers
 * are live, after compression, where they are switched out (Lin 3.6.6, "Register Context Reduction"): which resources
 * bind, what moves, the number of extra blocks, homes and frames (Lin 3.6.4). A block that never fits gives a plan with
 * native_blocks 0. Errors: GPUMP_ERROR_CONFIG; GPUMP_ERROR_ARGUMENT. Cost: linear in config->blocks. */
GPUMP_API gpump_result gpump_duet_plan_make(const gpump_duet_config *config, const gpump_footprint *need,
                                            uint32_t live_granules, gpump_duet_plan *plan, gpump_diag *diag);
/* Returns the granule at which frame number `frame` (below the sum of plan->frames) begins. Cost: three compares. */
GPUMP_API uint32_t gpump_duet_frame_granule(const gpump_duet_plan *plan, uint32_t frame);
/* The port through which granules move, free at once (Lin Equation 3.1). */
GPUMP_INLINE gpump_port gpumpi_duet_port(const gpump_duet_config *config) {
    gpump_port port;
    port.cycles = 1;
    port.bytes = config->port_bytes;
    port.free_cycle = 0;
    return port;
}
/* Returns the class (gpump_duet_class) of a kernel with this `utilisation` (Lin Table 3.3); the network counts by its
 * busier direction. */
GPUMP_API uint32_t gpumpi_duet_classify(const gpump_duet_config *config, const gpump_utilisation *utilisation);

/* What the tables cost in SRAM, bits per SM (Lin Table 3.4, 3.6.8). */
typedef struct gpump_duet_storage {
    uint64_t bitmap_bits;     /* one per granule */
    uint64_t warp_table_bits; /* valid, state, address of registers, address of slot data. Virtual Thread: virtual
                                 warp numbers of the slots */
    uint64_t
        block_table_bits; /* valid, mask of absent warps, address of shared memory. Virtual Thread: stalled warps */
    uint64_t warp_queues_bits;  /* two queues of warp numbers */
    uint64_t block_queues_bits; /* two queues of block numbers */
    /* Needed to run, but not in the printed table: the block of each warp, why it stalls and for how many replies, and
     * the monitor's counter. */
    uint64_t unprinted_bits;
} gpump_duet_storage;

/* Checks a configuration. */
GPUMP_API gpump_result gpumpi_duet_preset(void *filled, const char *preset);
GPUMP_API gpump_result gpumpi_duet_check_config(const void *checked, gpump_diag *diag);
GPUMP_API uint64_t gpumpi_duet_tables(const void *of, void *filled);

GPUMP_END
#endif
