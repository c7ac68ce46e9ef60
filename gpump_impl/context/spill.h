/* spill: the pipelines that write and read contexts, as timing (hardware and calculation; Lin 2.4.3, Fig. 2.13)
 *
 * Saving: each warp runs to its preemption point and drains. Its live registers pass the compressor and fill a segment
 * buffer of the block. Every full segment is written to memory. After the registers of the last warp follow the block's
 * shared memory and its metadata (pattern vectors, SIMT stacks, control entry). Restoring has the opposite order:
 * metadata, shared memory, then the registers warp by warp through the decompressor. A warp may run as soon as its own
 * registers are restored.
 *
 * The host owns the memory. The host pulls a segment only when no normal request needs the port, because segments have
 * lower priority. The host reports segments that have been written or have arrived. The component holds counts and no
 * register values, so trace-driven hosts can use it. gpump_spill_save_time runs the same pipeline against a port of
 * fixed bandwidth, for hosts without cycles. */
#ifndef GPUMP_SPILL_H
#define GPUMP_SPILL_H

#include "base/component.h"
#include "gpu/block.h"
#include "gpu/gpu.h"
#include "gpu/technique.h"

GPUMP_BEGIN

typedef struct gpump_spill gpump_spill;

/* The configuration of a pipeline. gpump_preset fills the struct; the host may then change every field. */
typedef struct gpump_spill_config {
    uint32_t jobs;                /* blocks on their way at the same time; 1 to 64 */
    uint32_t warps;               /* warps of all of them; 1 to 256 */
    uint32_t segment_bytes;       /* bytes of one memory access; 128 (Lin 2.4.3); 8 to 4096 */
    uint32_t compress_cycles;     /* latency of compressor and decompressor, cycles; 2 (Lin 2.3.3); 0: there is none */
    uint32_t registers_per_cycle; /* vector registers that pass it per cycle; 1 (fully pipelined, Lin 2.3.3) */
    uint32_t shared_bytes_per_cycle; /* shared memory read or written per cycle; 128 (assumed: 32 banks of 4 bytes) */
    uint32_t outstanding;            /* segments under way at most; 64 (assumed); 1 to 65536 */
} gpump_spill_config;

/* The transfer of one warp. */
typedef struct gpump_spill_warp {
    uint64_t point_cycle;   /* when it reached its preemption point (the signal itself when it stops anywhere) */
    uint64_t drained_cycle; /* cycle at which its last instruction in flight completed; at least point_cycle */
    uint32_t registers;     /* vector registers to move: the live ones */
    uint32_t bytes;         /* bytes they take as written */
} gpump_spill_warp;

typedef enum gpump_spill_action_kind {
    GPUMP_SPILL_WRITE = 1, /* write this segment; then gpump_spill_report_moved */
    GPUMP_SPILL_READ,      /* read this segment; then gpump_spill_report_moved */
    GPUMP_SPILL_WARP,      /* restore: this warp's registers are in place */
    GPUMP_SPILL_DONE       /* the block is saved, or restored; the job number is free again */
} gpump_spill_action_kind;

typedef struct gpump_spill_action {
    uint64_t cookie; /* as given with the job */
    uint64_t cycle;  /* when it was ready; at most `now` */
    uint64_t offset; /* WRITE, READ: first byte within the part */
    uint32_t bytes;  /* WRITE, READ: length, at most a segment */
    uint32_t kind;   /* gpump_spill_action_kind */
    uint32_t part;   /* WRITE, READ: gpump_part bits, GPUMP_PART_REGISTERS, _SHARED_MEMORY or GPUMP_PARTS_METADATA */
    uint32_t job;
    uint32_t warp; /* WARP: its index */
    uint32_t unused;
} gpump_spill_action;

/* clang-format off */
#define GPUMPI_SPILL_STATISTICS(X)                                                                                \
    X(saves, "blocks", "blocks saved")                                                                           \
    X(restores, "blocks", "blocks restored")                                                                     \
    X(segments, "segments", "segments handed over")                                                              \
    X(bytes, "bytes", "bytes in them")                                                                           \
    X(warps, "warps", "warps whose registers went out")                                                          \
    X(drain_cycles, "cycles", "summed over warps: from preemption point to drained")                             \
    X(spill_cycles, "cycles", "summed over warps: from preemption point to its last register handed over (Lin 2.5.2)") \
    X(save_cycles, "cycles", "summed over blocks: from job to done")                                             \
    X(restore_cycles, "cycles", "summed over blocks: from job to done")
/* clang-format on */
typedef struct gpump_spill_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_SPILL_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_spill_statistics;

/* The pipeline for the verbs of base/component.h: gpump_init makes a pipeline without jobs. Presets are those of
 * gpump_gpu_component: a job per block slot, its warp slots, and Lin's pipeline. gpump_bits counts per warp its job,
 * registers, bytes and progress, per job its part, progress and counts, and one segment buffer per job. gpump_check
 * costs jobs x warps. */
GPUMP_API const gpumpi_methods *gpumpi_spill_methods(void);
GPUMPI_CONSTANT gpump_component gpump_spill_component = {gpumpi_spill_methods, GPUMP_LAYOUT_CONTEXT, 0};

/* Begins to save a block and sets *job. The block has `warps` warps, shared_bytes bytes of shared memory and
 * metadata_bytes bytes of metadata; the metadata may be an estimate until gpump_spill_report_metadata. The job's
 * actions carry `cookie`. *room is the space for the context (gpump_context_pool_room, or filled by the host); NULL:
 * all that the context asks for. The pipeline reads the view and takes nothing from the pool. GPUMP_BUSY: no job or not
 * enough warps are free. GPUMP_ERROR_FULL: no context fits any more. GPUMP_ERROR_CAPACITY, here and from the reports of
 * its warps and metadata: the context is larger than room->context_bytes. */
GPUMP_API gpump_result gpump_spill_save(gpump_spill *spill, uint64_t now, uint64_t cookie, uint32_t warps,
                                        uint32_t shared_bytes, uint32_t metadata_bytes, const gpump_context_room *room,
                                        uint32_t *job);
/* Reports that one warp of the block that `job` saves has drained; *warp describes its transfer. Warps are reported
 * once each, in any order. warp->drained_cycle is ignored: the warp counts as drained at `now`. GPUMP_ERROR_STATE: all
 * warps of the block were reported. */
GPUMP_API gpump_result gpump_spill_report_drained(gpump_spill *spill, uint64_t now, uint32_t job,
                                                  const gpump_spill_warp *warp);
/* Replaces the estimated metadata size of the block of `job` by metadata_bytes. GPUMP_ERROR_STATE: metadata is already
 * being written, or the job is a restore. */
GPUMP_API gpump_result gpump_spill_report_metadata(gpump_spill *spill, uint32_t job, uint32_t metadata_bytes);
/* Begins to restore a block and sets *job. warps[count] are restored in this order; their cycles are ignored. cookie,
 * shared_bytes, metadata_bytes and GPUMP_BUSY are as in gpump_spill_save. Cost: linear in count. */
GPUMP_API gpump_result gpump_spill_restore(gpump_spill *spill, uint64_t now, uint64_t cookie,
                                           const gpump_spill_warp *warps, uint32_t count, uint32_t shared_bytes,
                                           uint32_t metadata_bytes, uint32_t *job);
/* Reports that the oldest `segments` segments in flight of `job` have been written, or have arrived. GPUMP_ERROR_STATE:
 * fewer segments are in flight. */
GPUMP_API gpump_result gpump_spill_report_moved(gpump_spill *spill, uint64_t now, uint32_t job, uint32_t segments);
/* Cancels `job`, whose block has ended before it was saved. The host does not report segments of the job that are still
 * in flight. GPUMP_ERROR_STATE: there is no such job. */
GPUMP_API gpump_result gpump_spill_cancel(gpump_spill *spill, uint64_t now, uint32_t job);
/* Pulls the next ready action into *action: WARP and DONE first, then segments. Segments of the job that began first
 * are pulled first (ties: the lower job), so that the first block's room is free early. Segments of another job are
 * pulled only while the first job has none ready. GPUMP_EMPTY: no action is ready, or only segments are ready and
 * `outstanding` segments are in flight. */
GPUMP_API gpump_result gpump_spill_next(gpump_spill *spill, uint64_t now, gpump_spill_action *action);
/* Pulls the next ready WARP or DONE action into *action. A host whose port is busy calls the function after
 * gpump_spill_report_moved, because a block may be done. GPUMP_EMPTY: there is none. */
GPUMP_API gpump_result gpump_spill_next_event(gpump_spill *spill, uint64_t now, gpump_spill_action *action);

/* ---- calculations ---- */

/* How long a save or restore takes. Cycles count from `start`. */
typedef struct gpump_spill_times {
    uint64_t end;        /* when the last byte has passed the port (save), or the last warp may run (restore) */
    uint64_t first_warp; /* restore: when the first warp may run; save: when the first warp's registers have left */
    uint64_t bytes;      /* registers, shared memory, metadata */
    uint64_t segments;
    uint64_t drain_cycles; /* summed over warps, point to drained */
    uint64_t spill_cycles; /* summed over warps, point to last register handed to the port */
} gpump_spill_times;
/* One block that passes a port alone, one segment after the other. */
typedef struct gpump_spill_transfer {
    const gpump_spill_warp *warps; /* what each warp has to move; a restore ignores their cycles */
    uint64_t start_cycle;          /* below GPUMP_UNKNOWN */
    gpump_port port;               /* its free_cycle is ignored */
    uint64_t latency_cycles;       /* from passing the port to a finished write, or to arrival */
    uint32_t count;                /* warps; 1 to 256 */
    uint32_t shared_bytes;         /* shared memory */
    uint32_t metadata_bytes;       /* pattern vectors, SIMT stacks, control entry */
    uint32_t unused;
} gpump_spill_transfer;
/* Computes into *times how long *transfer takes as a save. GPUMP_ERROR_CONFIG; GPUMP_ERROR_ARGUMENT, also when the end
 * does not fit into 64 bits. Cost: segments x warps at worst. */
GPUMP_API gpump_result gpump_spill_save_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                             gpump_spill_times *times, gpump_diag *diag);
/* Computes into *times how long *transfer takes as a restore. Errors and cost: as gpump_spill_save_time. */
GPUMP_API gpump_result gpump_spill_restore_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                                gpump_spill_times *times, gpump_diag *diag);

/* The choice of one warp at the preemption signal: stop at once, or run to the next preemption point. */
typedef struct gpump_spill_decision {
    uint64_t here_bytes;      /* what stopping here would write: the set live here, as written */
    uint64_t there_bytes;     /* what stopping at the point would write */
    uint64_t distance;        /* warp instructions to that point; GPUMP_UNKNOWN: not known, or no point ahead */
    uint64_t cpi_q16;         /* cycles per warp instruction of this warp, Q16.16 */
    gpump_port port;          /* that carries them; its free_cycle is ignored */
    uint64_t byte_weight_q16; /* what a byte written costs beside its time, cycles, Q16.16; 0: latency alone decides */
} gpump_spill_decision;
/* Returns 1 when the warp should run to the point, and 0 when it should stop at once. The alternative that ends earlier
 * is chosen, with written bytes weighted by byte_weight_q16. A tie or an unknown distance stops. Sets *here_cycles and
 * *there_cycles (may be NULL) to the cycles of the two alternatives. Not in Lin 2.4.1, where every warp runs to its
 * point. */
GPUMP_API int gpump_spill_run_on(const gpump_spill_decision *decision, uint64_t *here_cycles, uint64_t *there_cycles);

GPUMP_END
#endif
