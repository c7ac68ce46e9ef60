/* trace_reader: reads the trace of one kernel, block by block.
 *
 * The format is that of Accel-Sim's tracer (.traceg, tracer versions 3 to 6): lines "-name = value" about the kernel,
 * then per block its warps, one line for each warp instruction. A block is decoded when it is needed and freed when it
 * has ended; the instructions of the program are collected on the way. */
#ifndef MINIGPU_TRACE_READER_H
#define MINIGPU_TRACE_READER_H

#include "gpump_once.h"
#include "sass/sass_opcodes.h"
#include "sass/trace_pool.h"
#include "sass/trace_text.h"

#define TRACE_ERROR_BYTES 512
#define TRACE_PROGRAM_INSTRUCTIONS 32768u /* different ones of one kernel */
#define TRACE_WARPS 32u                   /* of one block */
#define TRACE_REGION_BYTES (UINT64_C(1) << 21)
#define TRACE_REGIONS 4096u

/* One warp instruction as it was executed, without its addresses and its warp's seed. */
typedef struct trace_step {
    uint32_t instruction; /* index in the program */
    uint32_t mask;        /* lanes that execute it */
    uint32_t sources;     /* digest of the tags that they read (trace_tags.h), without the seed */
    uint32_t seeds;       /* how often the warp's seed is in the digest */
    uint32_t access;      /* number of its access among those of its warp; GPUMP_NONE: it accesses nothing */
} trace_step;

/* The steps of warps that execute the same. Most blocks of a kernel do, so most warps share theirs. */
typedef struct trace_steps {
    uint32_t references; /* warps and ways (trace_instruction.c) that have them */
    uint32_t count, capacity;
    uint32_t store_count, store_capacity;
    uint32_t *stores; /* steps that write to global memory, in order */
    trace_step *steps;
    struct trace_steps *next; /* among the spare ones of a kernel */
} trace_steps;

/* The addresses of an access: that of the first lane of the mask, and how the others follow from it. */
typedef struct trace_reach {
    uint64_t first;
    uint64_t others; /* a trace_form, and with it: TRACE_PATTERN: where the distances of all 32 lanes from `first` lie
                        (trace_addresses.h); TRACE_STRIDE: 4 times the distance from one lane of the mask to the next;
                        TRACE_LIST: 4 times where the addresses of the lanes of the mask begin in trace_block.lists */
} trace_reach;
typedef enum trace_form { TRACE_PATTERN, TRACE_STRIDE, TRACE_LIST } trace_form;
#define TRACE_FORM UINT64_C(3)

/* A warp of a block. */
typedef struct trace_warp {
    trace_steps *shared;   /* NULL: the warp is not there */
    uint32_t count;        /* of its steps: the first ones of `shared` */
    uint32_t first;        /* how many steps of the block lie before its own */
    uint32_t access_first; /* its first access in trace_block.accesses */
} trace_warp;

/* A block, decoded. Its memory lies in the kernel's pool, but for values. */
typedef struct trace_block {
    struct trace_block *next; /* for whoever keeps blocks; so is `kernel` */
    uint64_t linear;          /* its place in the file, from 0 */
    uint32_t kernel;
    uint32_t coordinates[3];
    uint32_t registers; /* those from this number on are named nowhere in the block */
    trace_warp warps[TRACE_WARPS];
    trace_reach *accesses;
    uint64_t *lists;
    uint32_t *value_places; /* where the values of a step begin in `values` (trace_values.h); GPUMP_NONE: it has none;
                               NULL: no step of the block has any */
    uint32_t *values;       /* 32 lanes for each register that a step writes */
    uint8_t *executed;      /* bits of the steps: stores and atomics that the machine has executed (trace_memory.h) */
    size_t step_count;      /* of all warps */
    size_t executed_bytes;  /* room of `executed` */
    size_t access_count, access_capacity, list_count, list_capacity;
    size_t place_count, place_capacity, value_count, value_capacity;
} trace_block;

/* Where the global memory of the traced program lies in device memory: regions of 2 MB, in the order of their first
 * use. One map serves all kernels of a program. */
typedef struct trace_map {
    uint64_t regions[TRACE_REGIONS]; /* by number: the traced address / TRACE_REGION_BYTES, and the space above */
    uint32_t count, last;
    uint64_t base; /* device address of the first region; set before blocks are read for a machine */
} trace_map;

typedef struct trace_unknown {
    char opcode[40];
    uint64_t count;
} trace_unknown;

/* On the line with the format: values are those of the lanes of the mask, register after register. */
#define TRACE_LANE_VALUES "[dest_val_of_lane]"

/* The trace of one kernel. */
typedef struct trace_kernel {
    char *path;
    kernel_program program; /* its instructions so far; room for TRACE_PROGRAM_INSTRUCTIONS of them, or NULL when they
                               have been released: their count stays */
    struct trace_instructions *reading; /* what reading them needs (trace_instruction.h); NULL: not there */
    uint64_t *hashes;                   /* of the program's instructions, so that they keep their places */
    trace_map *map;
    trace_text *text;         /* NULL: not open */
    uint64_t next;            /* the block that comes next in the text */
    size_t access_room;       /* that the last block took: the next one is much like it */
    trace_pool pool;          /* memory of the blocks and of their steps */
    trace_block *spare;       /* dropped blocks, whose memory the next ones take */
    trace_steps *spare_steps; /* likewise */
    uint32_t boundaries[3];   /* by trace_boundary: index in the program, plus 1; 0: not there yet */
    uint32_t id;              /* of the kernel in the traced program */
    uint32_t grid[3], block[3], binary_version, tracer_version, has_lines;
    uint32_t has_lane_values; /* 1: its values are written as the mini-GPU writes them (trace_values.h) */
    uint64_t stream, shared_base, local_base;
    uint32_t regions;      /* how idempotent regions are formed (trace_regions.h) */
    uint32_t registers;    /* those from this number on have been named nowhere so far */
    uint32_t live_peak;    /* the most registers that are live in a warp of the first block */
    uint32_t number;       /* in all tags */
    uint32_t space;        /* kernels of one space share their memory */
    uint64_t odd_values;   /* lines whose values are not one for each lane of each register, and are left out */
    trace_unknown unknown; /* an opcode that the table does not have, and how many instructions have such opcodes */
} trace_kernel;

/* Reads the head of a kernel's trace and its first block. number: any, different for each kernel. Returns 0, or -1 with
 * the reason in error ("file:line:column: ..."). trace_kernel_close frees it in both cases. */
int trace_kernel_open(trace_kernel *k, const char *path, uint32_t number, trace_map *map,
                      char error[TRACE_ERROR_BYTES]);
void trace_kernel_close(trace_kernel *k);
/* Decodes the linear-th block. Blocks are best taken in the order of the file: an earlier one is found by reading from
 * the beginning. Returns the block, which trace_kernel_drop takes back, or NULL with the reason in error. Cost: linear
 * in the text up to the block. */
trace_block *trace_kernel_block(trace_kernel *k, uint64_t linear, char error[TRACE_ERROR_BYTES]);
/* Takes a block of the kernel back; NULL: nothing is done. The kernel keeps its memory for the next ones. */
void trace_kernel_drop(trace_kernel *k, trace_block *block);
/* The same for steps that a warp or a way has: the last one who gives them up leaves their memory to the kernel. */
void trace_steps_drop(trace_kernel *k, trace_steps *steps);
/* Frees what reading needs, about 1 MB, and the instructions of the program, until the next block is read. No block of
 * the kernel may be left. */
void trace_kernel_release(trace_kernel *k);
/* Reads the first block for the instructions of a program that was released. Returns 0, or -1 with the reason in error.
 * Cost: nothing when the program has its instructions. */
int trace_kernel_decode(trace_kernel *k, char error[TRACE_ERROR_BYTES]);

/* Sets the addresses of an access for the lanes of its mask; those of other lanes may be anything. lists: of its
 * block. */
static inline void trace_addresses(const trace_reach *reach, uint32_t mask, const uint64_t *lists,
                                   uint64_t addresses[32]) {
    const uint32_t form = (uint32_t)(reach->others & TRACE_FORM);
    uint64_t address = reach->first;
    uint32_t lane;
    if (form == TRACE_PATTERN) {
        const int64_t *offsets = (const int64_t *)(uintptr_t)reach->others;
        for (lane = 0; lane < 32; lane++) addresses[lane] = address + (uint64_t)offsets[lane];
    } else if (form == TRACE_STRIDE) {
        const uint64_t stride = (uint64_t)((int64_t)reach->others >> 2);
        for (; mask; mask &= mask - 1, address += stride) addresses[gpump_bits_lowest64(mask)] = address;
    } else {
        const uint64_t *from = lists + (reach->others >> 2);
        for (; mask; mask &= mask - 1) addresses[gpump_bits_lowest64(mask)] = *from++;
    }
}
/* The access of a step of a block's warp, and its addresses likewise. */
static inline const trace_reach *trace_reach_of(const trace_block *b, uint32_t warp, const trace_step *step) {
    return &b->accesses[b->warps[warp].access_first + step->access];
}

/* Sets the registers that a warp reads before it writes them, from step `from` of `count` on: exact, since the trace is
 * the whole future. Lanes count one by one. live: words of 64 registers, SASS_REGISTERS + 1 bits. Cost: linear in the
 * steps that remain. */
void trace_live(const kernel_program *program, const trace_step *steps, uint32_t from, uint32_t count,
                uint64_t live[4]);

/* Counts the registers that are live before each instruction of a warp, from the last to the first: in the lanes that
 * will read them before they write them. Cost: linear in the steps. */
typedef struct trace_live_count {
    uint32_t lanes[SASS_REGISTERS + 1]; /* by register, in which lanes it is live */
    uint32_t alive;                     /* registers that are live in a lane or more */
} trace_live_count;
/* Goes back before a step. */
static inline void trace_live_before(trace_live_count *live, const kernel_program *program, const trace_step *step) {
    const instruction *in = &program->instructions[step->instruction];
    uint32_t n;
    for (n = 0; n < in->destination_count; n++) {
        uint32_t *lanes = &live->lanes[in->destinations[n].index];
        live->alive -= *lanes && !(*lanes & ~step->mask);
        *lanes &= ~step->mask;
    }
    for (n = 0; step->mask && n < in->source_count; n++) {
        uint32_t *lanes = &live->lanes[in->sources[n].index];
        live->alive += !*lanes;
        *lanes |= step->mask;
    }
}

#endif
