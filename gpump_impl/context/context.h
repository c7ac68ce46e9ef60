/* context: the saved state of a block as bytes, and the space such contexts live in (calculation)
 *
 * One layout for the whole state that a block needs to resume on another SM (Lin 2.3, 2.4.2; Tanasic 5.2.2). All
 * numbers are little-endian.
 *
 *   header, 40 bytes                              then sections, each 8-byte aligned
 *     0  8  the letters "gpumpctx"                  0  4  type (gpump_context_type; from 2^30 on the host's own)
 *     8  4  version (GPUMP_CONTEXT_VERSION)         4  4  index: the warp, or 0 for the block as a whole
 *    12  4  number of sections                      8  8  payload length n, bytes
 *    16  8  length of everything, bytes            16  n  payload
 *    24  8  checksum of everything but this field   ..  .  zeros up to the next multiple of 8
 *    32  8  zero
 *
 * A reader refuses a context that is truncated, altered or foreign, and names the offset. A reader keeps sections of
 * unknown type and counts them. A reader of this version reads every context of this version, because a new kind of
 * state becomes a new type and never changes the meaning of an old type. Contexts of version 1, which had another
 * checksum, are refused. */
#ifndef GPUMP_CONTEXT_H
#define GPUMP_CONTEXT_H

#include "base/component.h"
#include "gpu/block.h"
#include "gpu/gpu.h"
#include "gpu/technique.h"
#include "context/compress.h"

GPUMP_BEGIN

#define GPUMP_CONTEXT_VERSION 2
#define GPUMP_CONTEXT_HEADER_BYTES 40
#define GPUMP_CONTEXT_SECTION_BYTES 16

typedef enum gpump_context_type {
    GPUMP_CONTEXT_BLOCK = 1,      /* identity and progress of the block: 96 bytes, gpump_context_block in order */
    GPUMP_CONTEXT_REGISTERS = 2,  /* per warp: u32 registers, u32 lanes, then u32 values [register][lane] */
    GPUMP_CONTEXT_PREDICATES = 3, /* per warp: u64 per predicate, bit = lane */
    GPUMP_CONTEXT_SHARED = 4,     /* the block's shared memory as bytes */
    /* Per warp: SIMT stack, bottom first; 16 bytes per entry: u32 pc, u32 reconvergence pc, u64 lanes. */
    GPUMP_CONTEXT_STACK = 5,
    GPUMP_CONTEXT_BARRIERS = 6, /* per block: u64 words as the host arranges them (arrival marks by warp, ...) */
    GPUMP_CONTEXT_EXITS = 7,    /* per block: u64 per warp, bit = lane that has exited */
    GPUMP_CONTEXT_LOCAL = 8,    /* per block: u64 words, where its threads' local memory lies */
    /* The block's entry of the context control block (Lin Fig. 2.12): 32 bytes, gpump_context_control in order. The
     * entry names the parts that stayed in place, and their ranges. */
    GPUMP_CONTEXT_CONTROL = 9,
    /* Per warp, or for all warps together at index GPUMP_NONE: u32 form, warps, registers, lanes, lanes of the last
     * warp, lanes of a pattern group, length; u32 zero; then that many bytes of pattern vectors and registers as
     * compress.h lays them out. */
    GPUMP_CONTEXT_COMPRESSED = 10,
    /* Per warp: its replay queue in program order (Tanasic 6.3.2), 32 bytes per entry: u64 sequence, u64 lanes, u32 pc,
     * kind, log units, flags (replay.h: gpump_replay_pack). */
    GPUMP_CONTEXT_REPLAY = 11,
    /* Per warp: the logged operands of its entries (6.3.3): u32 index of the entry, log units, lanes, zero, then u64
     * values [unit][lane]. */
    GPUMP_CONTEXT_LOG = 12,
    /* Per warp: u64 words, its restart PCs with their SIMT stacks, and its exception PCs (gpump_restart_save). */
    GPUMP_CONTEXT_RESTART = 13,
    /* Per warp, instead of its registers: the bytes of the frame in which it lay when it was saved (duet.h), as the
     * host packs live registers. */
    GPUMP_CONTEXT_FRAME = 14,
    GPUMP_CONTEXT_TYPES = 15,       /* the first type this version does not know */
    GPUMP_CONTEXT_HOST = 0x40000000 /* from here on the host's own */
} gpump_context_type;

/* Identity and progress of a block. */
typedef struct gpump_context_block {
    uint64_t cookie;           /* the host's name for the block */
    uint64_t linear;           /* linear block index in the grid */
    uint64_t executed;         /* warp instructions since its launch */
    uint64_t cycles;           /* cycles on an SM since its launch */
    uint32_t kernel;           /* kernel number, from 1 */
    uint32_t process;          /* process or address space */
    uint32_t block[3];         /* block index x, y, z */
    uint32_t grid[3];          /* grid size in blocks x, y, z */
    uint32_t block_threads[3]; /* block size in threads x, y, z */
    uint32_t warps;
    uint32_t lanes;          /* threads of a warp; 1 to 64 */
    uint32_t registers;      /* 32-bit registers per thread */
    uint32_t clobbered;      /* 1: must never be flushed */
    uint32_t replay_entries; /* entries in the replay queues of all its warps */
} gpump_context_block;

/* One entry of a SIMT stack. */
typedef struct gpump_context_stack_entry {
    uint32_t pc;
    uint32_t reconvergence_pc;
    uint64_t lanes;
} gpump_context_stack_entry;

/* The parts of a block that are not in this context but still on an SM (Lin 2.3.1; the NULL pointer of 2.4.2). */
typedef struct gpump_context_control {
    uint32_t in_place;      /* GPUMP_PART_REGISTERS, GPUMP_PART_SHARED_MEMORY or both; 0: everything is here */
    uint32_t sm;            /* the SM that holds these parts */
    gpump_block_ref block;  /* the name of the block there */
    uint32_t register_base; /* first 32-bit register, and how many; 0 and 0 when they are here */
    uint32_t registers;
    uint32_t shared_base; /* first byte, and how many */
    uint32_t shared_bytes;
} gpump_context_control;

/* ---- writing ---- */

/* Writer of a context into the caller's memory. Its members are private, plain data. */
typedef struct gpump_context_writer {
    unsigned char *memory;
    uint64_t capacity, used;
    uint64_t summed; /* the sections before this offset are in sums[] */
    uint64_t sums[32];
    uint32_t sections;
    uint32_t failed, adding, unused;
} gpump_context_writer;

/* Starts a context in `memory` of `capacity` bytes, any alignment. With NULL and 0 the writer only measures, and
 * gpump_context_end sets the length needed. */
GPUMP_API gpump_result gpump_context_begin(gpump_context_writer *writer, void *memory, uint64_t capacity);
/* Appends a section of `type` (gpump_context_type) and `index` (the warp, or 0). Returns its payload of `bytes` zero
 * bytes, which the caller fills. NULL: the writer only measures, or has no room (gpump_context_end reports this). Cost:
 * linear in bytes. */
GPUMP_API void *gpump_context_reserve(gpump_context_writer *writer, uint32_t type, uint32_t index, uint64_t bytes);
/* Appends a section of `type` and `index` with a copy of data[bytes]: shared memory, host-private state, unknown
 * sections. Errors of this function and of those below are reported by gpump_context_end. Cost: linear in bytes. */
GPUMP_API void gpump_context_put(gpump_context_writer *writer, uint32_t type, uint32_t index, const void *data,
                                 uint64_t bytes);
/* Appends the identity and progress of the block, *block. */
GPUMP_API void gpump_context_put_block(gpump_context_writer *writer, const gpump_context_block *block);
/* Appends the registers of a warp: values[registers][lanes], 32-bit words; 64-bit registers are two of them. Cost:
 * linear. */
GPUMP_API void gpump_context_put_registers(gpump_context_writer *writer, uint32_t warp, const uint32_t *values,
                                           uint32_t registers, uint32_t lanes);
/* Appends the SIMT stack of a warp: entries[count], bottom first; count 0: all its threads have ended. Cost: linear. */
GPUMP_API void gpump_context_put_stack(gpump_context_writer *writer, uint32_t warp,
                                       const gpump_context_stack_entry *entries, uint32_t count);
/* Appends words[count], u64, as `type` and `index`: predicates, exits, barriers, local memory pointers. Cost: linear.
 */
GPUMP_API void gpump_context_put_words(gpump_context_writer *writer, uint32_t type, uint32_t index,
                                       const uint64_t *words, uint32_t count);
/* Appends the control entry of a block of which a part stays in place. */
GPUMP_API void gpumpi_context_put_control(gpump_context_writer *writer, const gpump_context_control *control);
/* Appends registers in the smallest form that `allow` (GPUMP_COMPRESS_ALLOW_...) permits: those of warp `index`, or of
 * all warps at index GPUMP_NONE. layout, values, live, errors and cost are those of gpump_compress_save. Until
 * gpump_context_end the writer needs room for gpump_compress_bound. Measuring counts that bound, so a written context
 * may be shorter than measured. */
GPUMP_API gpump_result gpumpi_context_put_compressed(gpump_context_writer *writer, uint32_t index,
                                                     const gpump_compress_layout *layout, const uint32_t *values,
                                                     const uint64_t *live, uint32_t allow, gpump_diag *diag);
/* Ends the context: writes header and checksum. Sets *bytes to its length, or with GPUMP_ERROR_CAPACITY (also when only
 * measuring) to the length needed. Cost: linear. */
GPUMP_API gpump_result gpump_context_end(gpump_context_writer *writer, uint64_t *bytes);

/* ---- reading ---- */

/* One section of a context that has been opened. */
typedef struct gpump_context_section {
    uint32_t type;                /* gpump_context_type, or the host's own */
    uint32_t index;               /* the warp, or 0 */
    uint64_t bytes;               /* payload length */
    uint64_t offset;              /* of the payload in the context */
    const unsigned char *payload; /* inside the caller's memory */
} gpump_context_section;

/* Reader of a context. Its members are private, plain data that point into the caller's memory. */
typedef struct gpump_context_reader {
    const unsigned char *memory;
    uint64_t bytes, next;
    uint64_t summed; /* the sections before this offset are in sums[], when the reader is unverified */
    uint64_t sums[32];
    uint32_t sections, unverified;
} gpump_context_reader;

/* Opens a context: checks magic, version, lengths, every section's bounds, padding and the checksum. GPUMP_ERROR_FORMAT
 * with the field, and its offset in diag.index. Memory may be longer than the context. Cost: linear, about the speed of
 * reading. */
GPUMP_API gpump_result gpump_context_open(gpump_context_reader *reader, const void *memory, uint64_t bytes,
                                          gpump_diag *diag);
/* Opens a context like gpump_context_open, but leaves the checksum to gpump_context_get_view, which verifies at its
 * end: copying raw registers and adding them to the checksum is one pass. The context must not change until then. What
 * other calls read from this reader before is not verified. Cost: linear in sections. */
GPUMP_API gpump_result gpump_context_open_unverified(gpump_context_reader *reader, const void *memory, uint64_t bytes,
                                                     gpump_diag *diag);
/* Verifies the checksum; gpump_context_open and gpump_context_get_view call it. GPUMP_ERROR_FORMAT: everything that was
 * read from this reader has to be discarded. Cost: linear in the bytes of sections that were not copied in their order;
 * constant after gpump_context_open. */
GPUMP_API gpump_result gpumpi_context_verify(gpump_context_reader *reader, gpump_diag *diag);
/* Sets *section to the next section. GPUMP_EMPTY: the last section has been read; the next call starts again at the
 * first. Cost: constant. */
GPUMP_API gpump_result gpump_context_next(gpump_context_reader *reader, gpump_context_section *section);
/* Sets *section to the section of `type` and `index`. GPUMP_EMPTY: there is none. The search starts behind the section
 * found last, so reading in order costs one step per section. */
GPUMP_API gpump_result gpump_context_find(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                          gpump_context_section *section);
/* Reads the block's section into *block. This and the typed reads below: GPUMP_EMPTY when the section is absent,
 * GPUMP_ERROR_FORMAT when its length contradicts its content, GPUMP_ERROR_CAPACITY when the array is too small. Cost:
 * as gpump_context_find, and linear. */
GPUMP_API gpump_result gpump_context_get_block(gpump_context_reader *reader, gpump_context_block *block);
/* Reads the registers of a warp into values[registers][lanes]; GPUMP_ERROR_FORMAT unless they were written as just so
 * many. */
GPUMP_API gpump_result gpump_context_get_registers(gpump_context_reader *reader, uint32_t warp, uint32_t *values,
                                                   uint32_t registers, uint32_t lanes);
/* Reads the SIMT stack of a warp into entries[capacity], bottom first, and sets *count. */
GPUMP_API gpump_result gpump_context_get_stack(gpump_context_reader *reader, uint32_t warp,
                                               gpump_context_stack_entry *entries, uint32_t capacity, uint32_t *count);
/* Reads the section of `type` and `index` into words[capacity] and sets *count. */
GPUMP_API gpump_result gpump_context_get_words(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                               uint64_t *words, uint32_t capacity, uint32_t *count);
/* Reads the control entry into *control: the parts of the block that are still on an SM. */
GPUMP_API gpump_result gpumpi_context_get_control(gpump_context_reader *reader, gpump_context_control *control);
/* Reads compressed registers into values[], laid out as *layout says. `index` is the warp, or GPUMP_NONE, as at
 * writing. *layout has the shape used at writing; its strides may differ. Registers that were dead keep their values.
 * GPUMP_ERROR_FORMAT. Cost: linear. */
GPUMP_API gpump_result gpumpi_context_get_compressed(gpump_context_reader *reader, uint32_t index,
                                                     const gpump_compress_layout *layout, uint32_t *values,
                                                     gpump_diag *diag);
/* Returns the gpump_part bits that a restore needs and that this context neither holds nor declares to be in place; 0
 * for a whole context. `shared_bytes` is the size of the block's shared memory. Registers and stacks are missing when
 * those of any warp are; a warp whose stack is empty has ended and needs no registers. REPLAY is missing when fewer
 * entries are here than the block's section says, LOG when their logged operands are not. A block of more than 1024
 * warps counts as altered. Cost: one walk. */
GPUMP_API uint32_t gpump_context_missing(gpump_context_reader *reader, uint32_t shared_bytes);
/* Counts sections whose type this version does not know; the host's own do not count. Cost: one walk. */
GPUMP_API uint32_t gpumpi_context_unknown_sections(const gpump_context_reader *reader);

/* ---- space for saved contexts, preallocated per kernel (Tanasic 5.2.2; hardware) ---- */

typedef struct gpump_context_pool gpump_context_pool;
/* The configuration of a pool. The caller fills every field. */
typedef struct gpump_context_pool_config {
    uint32_t kernels;       /* kernels that own space at the same time; 1 to 4096 */
    uint32_t contexts;      /* contexts per kernel; 1 to 65536 */
    uint64_t context_bytes; /* bytes of each; at least 1 */
} gpump_context_pool_config;

/* The pool for the verbs of base/component.h: gpump_init makes an empty pool. Its memory holds the bookkeeping; the
 * contexts themselves (kernels x contexts x context_bytes) are elsewhere. No presets. gpump_bits counts a 15-bit
 * owner per kernel and a bit per context. gpump_check is quadratic in kernels. */
GPUMP_API const gpumpi_methods *gpumpi_context_pool_methods(void);
GPUMPI_CONSTANT gpump_component gpump_context_pool_component = {gpumpi_context_pool_methods, GPUMP_LAYOUT_CONTEXT, 0};

/* Assigns a space to `kernel` (from 1). GPUMP_ERROR_FULL: all spaces are assigned. GPUMP_ERROR_STATE: the kernel
 * already has a space. Cost of this and the calls below: linear in config.kernels and in contexts / 64. */
GPUMP_API gpump_result gpump_context_pool_open(gpump_context_pool *pool, uint32_t kernel);
/* Frees the space of `kernel`. GPUMP_ERROR_STATE: the space holds contexts, or the kernel has no space. */
GPUMP_API gpump_result gpump_context_pool_close(gpump_context_pool *pool, uint32_t kernel);
/* Allocates room for one context of `kernel`, `bytes` long, and sets *context. The offset of the context is *context x
 * context_bytes. GPUMP_ERROR_FULL when the kernel's space is used up, GPUMP_ERROR_CAPACITY when `bytes` exceeds
 * context_bytes, GPUMP_ERROR_STATE without an open space. */
GPUMP_API gpump_result gpump_context_pool_take(gpump_context_pool *pool, uint32_t kernel, uint64_t bytes,
                                               uint64_t *context);
/* Frees the room of `context`. GPUMP_ERROR_STATE: the room is not allocated. */
GPUMP_API gpump_result gpump_context_pool_give(gpump_context_pool *pool, uint64_t context);
/* Returns what is left of the space of `kernel`, as decisions take it (gpump_technique_limit_by_room); no space at all
 * without an open one. */
GPUMP_API gpump_context_room gpump_context_pool_room(const gpump_context_pool *pool, uint32_t kernel);

GPUMP_END
#endif
