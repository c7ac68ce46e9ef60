/* gpu: geometry, presets, occupancy, context sizes and save times (calculation) */
#ifndef GPUMP_GPU_H
#define GPUMP_GPU_H

#include "base/component.h"
#include "gpu/port.h"

GPUMP_BEGIN

#define GPUMP_GPU_SHARED_OPTIONS 4

/* Where a number comes from. */
typedef enum gpump_provenance {
    GPUMP_PROVENANCE_PUBLISHED, /* printed in the source named */
    GPUMP_PROVENANCE_DERIVED,   /* computed from published numbers */
    GPUMP_PROVENANCE_ASSUMED    /* chosen by this project */
} gpump_provenance;

/* The properties of a GPU that preemption depends on. gpump_preset fills the struct; the host may then
 * change every field. 0 is a value, never "default". Registers are 32-bit registers of one thread unless a name says
 * otherwise. */
typedef struct gpump_gpu {
    uint32_t sms;          /* streaming multiprocessors; 1 to 65536 */
    uint32_t clock_khz;    /* SM clock, kHz; at least 1 */
    uint32_t lanes;        /* threads of a warp; 1 to 64 */
    uint32_t schedulers;   /* warp schedulers of an SM; 1 to 8 */
    uint32_t block_slots;  /* blocks resident on an SM at most; 1 to 64 */
    uint32_t warp_slots;   /* warps resident on an SM at most; 1 to 256 */
    uint32_t thread_slots; /* threads resident on an SM at most */
    uint32_t registers;    /* 32-bit registers of an SM's register file */
    /* Registers are given to a block in multiples of this; 1 = none, as in the papers' tables. */
    uint32_t register_granule;
    uint32_t shared_granule_bytes; /* shared memory likewise, bytes; 1 = none */
    uint32_t shared_option_count;  /* sizes that shared memory can be set to; 1 to GPUMP_GPU_SHARED_OPTIONS */
    /* Those sizes, bytes per SM, ascending. The smallest that holds one block is used. */
    uint32_t shared_bytes[GPUMP_GPU_SHARED_OPTIONS];
    uint32_t memory_mb_per_s; /* memory bandwidth of the whole GPU, 10^6 bytes per second */
} gpump_gpu;

/* The resources of an SM that one thread block occupies. */
typedef struct gpump_footprint {
    uint32_t threads;      /* threads of the block; at least 1 */
    uint32_t registers;    /* 32-bit registers of the whole block (registers per thread x threads of its warps) */
    uint32_t shared_bytes; /* shared memory of the block, static and dynamic, bytes */
} gpump_footprint;

/* A part of an SM in which one component places blocks: registers from the first one on, shared memory from the first
 * byte on, and so many of the slots. */
typedef struct gpump_room {
    uint32_t registers;    /* 32-bit registers */
    uint32_t shared_bytes; /* bytes of shared memory */
    uint32_t block_slots;
    uint32_t warp_slots;
    uint32_t thread_slots;
    uint32_t unused;
} gpump_room;

/* The resources an SM can run out of; bits of gpump_occupancy.limits. */
typedef enum gpump_resource {
    GPUMP_RESOURCE_BLOCK_SLOTS = 1,
    GPUMP_RESOURCE_WARP_SLOTS = 2,
    GPUMP_RESOURCE_THREAD_SLOTS = 4,
    GPUMP_RESOURCE_REGISTERS = 8,
    GPUMP_RESOURCE_SHARED_MEMORY = 16
} gpump_resource;

typedef struct gpump_occupancy {
    uint32_t blocks;             /* blocks of this footprint on an otherwise empty SM; 0: it never fits */
    uint32_t limits;             /* every gpump_resource that alone would stop one more block */
    uint32_t shared_bytes;       /* the shared-memory size chosen for it, bytes per SM */
    uint32_t registers;          /* registers of one block after rounding to the granule */
    uint32_t block_shared_bytes; /* shared memory of one block after rounding to the granule, bytes */
    uint32_t warps;              /* warps of one block */
} gpump_occupancy;

/* The machine for the verbs of base/component.h. gpump_preset fills a gpump_gpu with a machine of the papers:
 * gtx480_lin, gtx480_shieh, k20c, table61, maxwell_duet, maxwell_ccbp, igpu4, p100, v100, a100, h100, gh200, h200,
 * b200, rtx4090, l40, a40, mi100, mi210, mi300x, gfx1030, gfx1012, gfx1100. Of h200 and b200 the bandwidth alone is
 * published (gpump_gpu_provenance). gpump_check checks every field of a gpump_gpu against its range and against the
 * other fields (GPUMP_ERROR_CONFIG). */
GPUMP_API const gpumpi_methods *gpumpi_gpu_methods(void);
GPUMPI_CONSTANT gpump_component gpump_gpu_component = {gpumpi_gpu_methods, GPUMP_LAYOUT_GPU, 0};

/* Fills *config of `component` for a preset as gpump_preset does, but for the machine *gpu: its clock, and its SMs or
 * block slots. So 12 us are 12 us on every clock. For gpump_fault and gpump_block_switch; GPUMP_ERROR_STATE: the
 * component's times are in cycles, or it has gpump_<component>_config_from_gpu. GPUMP_ERROR_CONFIG: *gpu is not valid.
 * GPUMP_ERROR_LAYOUT, GPUMP_ERROR_UNKNOWN_NAME. */
GPUMP_API gpump_result gpump_preset_for(const gpump_component *component, void *config, const char *preset,
                                        const gpump_gpu *gpu, gpump_diag *diag);
/* Returns the name of the index-th preset (from 0), NULL past the last. */
GPUMP_API const char *gpump_gpu_preset_name(uint32_t index);
/* Sets *provenance and *source (a string constant: paper and table) to the origin of one field of a preset. `field` is
 * the member's name. GPUMP_ERROR_UNKNOWN_NAME: unknown preset or field. Cost: a table look-up. */
GPUMP_API gpump_result gpump_gpu_provenance(const char *preset, const char *field, gpump_provenance *provenance,
                                            const char **source);

/* Computes how many blocks of the footprint *need (threads at least 1) fit on an empty SM and which resources stop one
 * more (Shieh Table 4.2, Lin Table 2.2, Tanasic Table 5.2). A block that never fits gives GPUMP_OK with
 * occupancy->blocks = 0. Errors: those of gpump_check for *gpu; GPUMP_ERROR_ARGUMENT. Cost: a few divisions. */
GPUMP_API gpump_result gpump_gpu_occupancy(const gpump_gpu *gpu, const gpump_footprint *need,
                                           gpump_occupancy *occupancy, gpump_diag *diag);
/* Returns the bytes of one block's registers and shared memory as allocated (*need rounded to the granules): what a raw
 * switch saves (Lin 2.3, Tanasic 5.1). */
GPUMP_API uint64_t gpump_gpu_context_bytes(const gpump_gpu *gpu, const gpump_footprint *need);
/* Returns the port between one SM and memory, free at once: the SM's share of the bandwidth (Tanasic 5.1, Table 5.2).
 */
GPUMP_API gpump_port gpump_gpu_port(const gpump_gpu *gpu);
/* Returns the cycles to move `bytes` between one SM and memory at the SM's share of the bandwidth, rounded up
 * (Tanasic 5.1, Table 5.2). */
GPUMP_API uint64_t gpump_gpu_save_cycles(const gpump_gpu *gpu, uint64_t bytes);
/* Returns the time to move `bytes` between one SM and memory in picoseconds, rounded up. The result is not rounded to
 * SM cycles. */
GPUMP_API uint64_t gpump_gpu_save_ps(const gpump_gpu *gpu, uint64_t bytes);
/* Returns `ns` nanoseconds as cycles of the SM clock, rounded up. UINT64_MAX: the result does not fit in 64 bits. */
GPUMP_API uint64_t gpump_gpu_cycles_from_ns(const gpump_gpu *gpu, uint64_t ns);

/* The resources of an SM in the order of gpump_resource's bits. */
#define GPUMPI_GPU_RESOURCES 5u
/* Sets need[] to what one block of *footprint takes of each, rounded to the granules. */
GPUMP_API void gpumpi_gpu_need(const gpump_gpu *gpu, const gpump_footprint *footprint,
                               uint64_t need[GPUMPI_GPU_RESOURCES]);
/* Sets capacity[] to what an SM set to `shared_bytes` of shared memory has of each. */
GPUMP_API void gpumpi_gpu_capacity(const gpump_gpu *gpu, uint32_t shared_bytes,
                                   uint64_t capacity[GPUMPI_GPU_RESOURCES]);

/* AMD's queue save area for compute wave save and restore (docs/papers.md, "CWSR"). */
typedef struct gpump_gpu_cwsr {
    uint64_t control_stack_bytes; /* T */
    uint64_t workgroup_bytes;     /* W */
    uint64_t save_area_bytes;     /* S = align(T + W, page) */
    uint64_t debugger_bytes;      /* D */
    uint64_t total_bytes;         /* XCCs * (S + D), aligned to the page */
} gpump_gpu_cwsr;
/* Computes the save area of a queue on `compute_units` CUs of one of `xccs` dies. `gfx_version` is major x 100 + minor
 * x 10 + stepping: 900, 1012, 1100, ... as in gfx1012; gfx90a is 910. The local memory of gfx950 (160 KB) and gfx125x
 * (320 KB) is assumed; simd_arrays and arrays_per_engine bound the waves before gfx10.1 and are ignored later. */
GPUMP_API gpump_result gpump_gpu_cwsr_area(uint32_t gfx_version, uint32_t compute_units, uint32_t xccs,
                                           uint32_t simd_arrays, uint32_t arrays_per_engine, gpump_gpu_cwsr *area,
                                           gpump_diag *diag);

GPUMP_END
#endif
