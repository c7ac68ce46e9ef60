/* trace_reader: reads the trace of one kernel, block by block.
 *
 * The format is that of Accel-Sim's tracer (.traceg, tracer versions 3 to 6): lines "-name = value" about the kernel,
 * then per block its warps, one line for each warp instruction. A block is decoded when it is needed and freed when it
 * has ended; the instructions of the program are collected on the way. */
#ifndef MINIGPU_TRACE_READER_H
#define MINIGPU_TRACE_READER_H

#include "gpump.h"
#include "sass/sass_opcodes.h"
#include "sass/trace_text.h"

#define TRACE_ERROR_BYTES 512
#define TRACE_PROGRAM_INSTRUCTIONS 32768u /* different ones of one kernel */
#define TRACE_WARPS 32u                   /* of one block */
#define TRACE_REGION_BYTES (UINT64_C(1) << 21)
#define TRACE_REGIONS 4096u

/* One warp instruction as it was executed. */
typedef struct trace_step {
    uint32_t instruction; /* index in the program */
    uint32_t mask;        /* lanes that execute it */
    uint32_t sources;     /* digest of the tags that they read (trace_tags.h) */
    uint32_t addresses;   /* where its addresses begin in trace_block.addresses; GPUMP_NONE: it has none */
} trace_step;

/* A warp of a block. */
typedef struct trace_warp {
    uint32_t first, count; /* of trace_block.steps */
} trace_warp;

/* A block, decoded. Addresses of a step: one per lane of the mask; or, with TRACE_STRIDE, that of the first lane of the
 * mask and the distance from one lane of the mask to the next; or, with TRACE_PATTERN, that of the first lane of the
 * mask and where the distances of all 32 lanes from it lie (trace_addresses.h). */
#define TRACE_STRIDE UINT32_C(0x80000000)
#define TRACE_PATTERN UINT32_C(0x40000000)
typedef struct trace_block {
    struct trace_block *next; /* for whoever keeps blocks; so is `kernel` */
    uint64_t linear;          /* its place in the file, from 0 */
    uint32_t kernel;
    uint32_t coordinates[3];
    uint32_t registers; /* those from this number on are named nowhere in the block */
    trace_warp warps[TRACE_WARPS];
    trace_step *steps;
    uint64_t *addresses;
    uint32_t *value_places; /* where the values of a step begin in `values` (trace_values.h); GPUMP_NONE: it has none;
                               NULL: no step of the block has any */
    uint32_t *values;       /* 32 lanes for each register that a step writes */
    uint8_t *executed;      /* bits of the steps: stores and atomics that the machine has executed (trace_memory.h) */
    uint32_t *stores;       /* indices of the steps that do so */
    size_t store_count, store_capacity, executed_bytes; /* executed_bytes: room of `executed` */
    size_t step_count, step_capacity, address_count, address_capacity;
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
    kernel_program program;             /* its instructions so far; room for TRACE_PROGRAM_INSTRUCTIONS of them */
    struct trace_instructions *reading; /* what reading them needs (trace_instruction.h); NULL: not there */
    uint64_t *hashes;                   /* of the program's instructions, so that they keep their places */
    trace_map *map;
    trace_text *text;                  /* NULL: not open */
    uint64_t next;                     /* the block that comes next in the text */
    size_t steps_room, addresses_room; /* that the last block took: the next one is much like it */
    trace_block *spare;                /* dropped blocks, whose memory the next ones take */
    uint32_t spare_count;
    uint32_t boundaries[3]; /* by trace_boundary: index in the program, plus 1; 0: not there yet */
    uint32_t id;            /* of the kernel in the traced program */
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
 * the beginning. Returns the block, which trace_block_free frees, or NULL with the reason in error. Cost: linear in the
 * text up to the block. */
trace_block *trace_kernel_block(trace_kernel *k, uint64_t linear, char error[TRACE_ERROR_BYTES]);
void trace_block_free(trace_block *block);
/* Frees what reading needs, about 1 MB, until the next block is read. No block of the kernel may be left. */
void trace_kernel_release(trace_kernel *k);
/* Frees a block of the kernel, or keeps its memory for the next one. */
void trace_kernel_drop(trace_kernel *k, trace_block *block);

/* Sets the addresses of a step for the lanes of its mask; those of other lanes may be anything. */
static inline void trace_addresses(const trace_step *step, const uint64_t *words, uint64_t addresses[32]) {
    const uint64_t *from = words + (step->addresses & ~(TRACE_STRIDE | TRACE_PATTERN));
    uint32_t left = step->mask, lane;
    uint64_t address = from[0];
    if (step->addresses & TRACE_PATTERN) {
        const int64_t *offsets = (const int64_t *)(uintptr_t)from[1];
        for (lane = 0; lane < 32; lane++) addresses[lane] = address + (uint64_t)offsets[lane];
        return;
    }
    for (; left; left &= left - 1) {
        addresses[gpump_bits_lowest64(left)] = address;
        address = step->addresses & TRACE_STRIDE ? address + from[1] : *++from;
    }
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
