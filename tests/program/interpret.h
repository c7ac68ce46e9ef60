/* A second, small executor for the mini-GPU's kernels: block after block, warp after warp, without time, on the lanes'
 * own arithmetic. Tests look at what every access does, or change what happens between two instructions. Kernels of
 * examples/minigpu/kernels only: no textures, no partial barriers. */
#ifndef GPUMP_TEST_INTERPRET_H
#define GPUMP_TEST_INTERPRET_H
#include "lanes/lanes.h"
#include "launch/launch_file.h"
#include "ptx/ptx_reader.h"
#include "state/simt_stack.h"

/* What an observer is told of each memory access. Device addresses are (buffer + 1) << 32 plus the offset in that
 * buffer. */
typedef struct interpret_access {
    uint64_t block; /* linear index */
    uint32_t warp;  /* in the block */
    uint32_t pc;
    uint32_t active; /* lanes */
    uint64_t addresses[LANES];
} interpret_access;
typedef struct interpret_observer {
    void *user;
    void (*access)(void *user, const interpret_access *access);
    void (*block_ended)(void *user, uint64_t block);
} interpret_observer;

typedef struct interpret_warp {
    simt_stack stack;
    uint32_t *registers; /* [registers][32] */
    uint32_t *predicates;
    uint32_t at_barrier;
} interpret_warp;

typedef struct interpreter {
    const kernel_program *kernel;
    const launch_file *launch;
    const launch_kernel *call;
    uint8_t **memory; /* per buffer of the launch file: a copy of its contents, changed by the run */
    uint8_t *parameters;
    uint8_t *shared, *local;
    uint64_t shared_bytes, instructions;
    interpret_warp warps[32];
    uint32_t warp_count;
    lanes_environment environment;
    interpret_observer observer;
} interpreter;

static inline void *interpret_zeroed(uint64_t bytes) {
    void *memory = calloc((size_t)bytes + 64, 1);
    assert_non_null(memory);
    return memory;
}

/* The interpreter has no memory for variables of a module, and takes a generic address for a global one. */
static inline int interpret_can(const ptx_module *module, const kernel_program *kernel) {
    uint32_t i;
    for (i = 0; i < kernel->count; i++) {
        const instruction *in = &kernel->instructions[i];
        if (in->space == SPACE_GENERIC && instruction_access_bytes(in)) return 0;
    }
    return module->symbol_count == 0;
}

static inline void interpret_open(interpreter *t, const kernel_program *kernel, const launch_file *launch) {
    uint32_t i;
    memset(t, 0, sizeof *t);
    t->kernel = kernel;
    t->launch = launch;
    t->call = &launch->kernels[0];
    t->memory = (uint8_t **)interpret_zeroed((launch->buffer_count + 1) * sizeof *t->memory);
    for (i = 0; i < launch->buffer_count; i++) {
        t->memory[i] = (uint8_t *)interpret_zeroed(launch->buffers[i].bytes);
        memcpy(t->memory[i], launch->buffers[i].contents, (size_t)launch->buffers[i].bytes);
    }
    t->parameters = (uint8_t *)interpret_zeroed(kernel->parameter_bytes);
    for (i = 0; i < t->call->argument_count; i++) {
        const launch_argument *a = &t->call->arguments[i];
        uint64_t bits = a->is_buffer ? ((uint64_t)a->buffer + 1) << 32 : a->scalar;
        memcpy(t->parameters + kernel->parameters[i].offset, &bits,
               kernel->parameters[i].bytes < 8 ? kernel->parameters[i].bytes : 8);
    }
    t->shared_bytes = kernel->shared_bytes + t->call->dynamic_shared_bytes;
    t->shared = (uint8_t *)interpret_zeroed(t->shared_bytes);
    t->local = (uint8_t *)interpret_zeroed((uint64_t)kernel->local_bytes * 1024);
    t->warp_count = (t->call->block[0] * t->call->block[1] * t->call->block[2] + 31) / 32;
    for (i = 0; i < t->warp_count; i++) {
        t->warps[i].registers = (uint32_t *)interpret_zeroed((uint64_t)kernel->registers * LANES * 4);
        t->warps[i].predicates = (uint32_t *)interpret_zeroed((uint64_t)kernel->predicates * 4);
    }
    for (i = 0; i < 3; i++) {
        t->environment.block_threads[i] = t->call->block[i];
        t->environment.grid[i] = t->call->grid[i];
    }
    t->environment.parameters = t->parameters;
    t->environment.parameter_bytes = kernel->parameter_bytes;
}

static inline void interpret_close(interpreter *t) {
    uint32_t i;
    for (i = 0; i < t->launch->buffer_count; i++) free(t->memory[i]);
    for (i = 0; i < t->warp_count; i++) {
        free(t->warps[i].registers);
        free(t->warps[i].predicates);
    }
    free(t->memory);
    free(t->parameters);
    free(t->shared);
    free(t->local);
}

static inline uint8_t *interpret_place(interpreter *t, uint32_t space, uint32_t thread, uint64_t address,
                                       uint32_t bytes) {
    uint64_t buffer = (address >> 32) - 1, offset = address & 0xffffffffu;
    switch (space) {
    case SPACE_PARAM: assert_true(address + bytes <= t->kernel->parameter_bytes); return t->parameters + address;
    case SPACE_SHARED: assert_true(address + bytes <= t->shared_bytes); return t->shared + address;
    case SPACE_LOCAL:
        assert_true(address + bytes <= t->kernel->local_bytes);
        return t->local + (uint64_t)thread * t->kernel->local_bytes + address;
    default:
        assert_true(buffer < t->launch->buffer_count && offset + bytes <= t->launch->buffers[buffer].bytes);
        return t->memory[buffer] + offset;
    }
}

static inline void interpret_memory(interpreter *t, uint64_t block, uint32_t index, const instruction *in, uint32_t pc,
                                    uint32_t active, const lanes_operand *sources, lanes_operand *destinations) {
    uint8_t bytes[LANES * 16];
    interpret_access seen;
    uint32_t lane, size = instruction_access_bytes(in);
    uint64_t old;
    memset(bytes, 0, sizeof bytes);
    seen.block = block;
    seen.warp = index;
    seen.pc = pc;
    seen.active = active;
    lanes_address(in, active, sources, seen.addresses);
    if (in->space == SPACE_SHARED || in->space == SPACE_LOCAL) /* 32-bit addresses, which wrap */
        for (lane = 0; lane < LANES; lane++) seen.addresses[lane] = (uint32_t)seen.addresses[lane];
    if (t->observer.access) t->observer.access(t->observer.user, &seen);
    if (in->opcode == OPCODE_ST) lanes_to_memory(in, active, sources, bytes, 16);
    for (lane = 0; lane < LANES; lane++) {
        uint8_t *place;
        if (!(active >> lane & 1)) continue;
        place = interpret_place(t, in->space, index * 32 + lane, seen.addresses[lane], size);
        if (in->opcode == OPCODE_LD)
            memcpy(bytes + lane * 16, place, size);
        else if (in->opcode == OPCODE_ST)
            memcpy(place, bytes + lane * 16, size);
        else {
            old = 0;
            memcpy(&old, place, size);
            lanes_set(&destinations[0], lane, old);
            old = lanes_atomic(in, lane, sources, old);
            memcpy(place, &old, size);
        }
    }
    if (in->opcode == OPCODE_LD) lanes_from_memory(in, active, bytes, 16, destinations);
}

/* Executes one instruction of a warp. */
static inline void interpret_step(interpreter *t, uint64_t block, uint32_t index) {
    interpret_warp *w = &t->warps[index];
    const uint32_t pc = simt_top(&w->stack)->pc;
    const instruction *in = &t->kernel->instructions[pc];
    const uint32_t active = lanes_guard(in, simt_top(&w->stack)->mask, w->predicates);
    lanes_operand sources[INSTRUCTION_SOURCES], destinations[INSTRUCTION_DESTINATIONS];
    uint32_t k;
    t->environment.warp = index;
    t->instructions++;
    memset(destinations, 0, sizeof destinations);
    lanes_read_sources(in, w->registers, w->predicates, &t->environment, sources);
    switch (in->opcode) {
    case OPCODE_BRA: assert_int_equal(simt_branch(&w->stack, active, in->target, in->reconvergence), 0); return;
    case OPCODE_RET:
    case OPCODE_EXIT:
        w->stack.entries[w->stack.depth - 1].pc = pc + 1;
        simt_exit(&w->stack, active);
        return;
    case OPCODE_BAR:
        simt_go(&w->stack, pc + 1);
        w->at_barrier = active != 0;
        return;
    case OPCODE_LD:
    case OPCODE_ST:
    case OPCODE_ATOM:
    case OPCODE_RED: interpret_memory(t, block, index, in, pc, active, sources, destinations); break;
    default: lanes_compute(in, active, sources, destinations); break;
    }
    for (k = 0; k < in->destination_count; k++)
        lanes_write(&in->destinations[k], active, &destinations[k], w->registers, w->predicates);
    simt_go(&w->stack, pc + 1);
}

/* Puts the warps of a block at its start; shared memory and registers keep a pattern, as nobody has set them. */
static inline void interpret_start_block(interpreter *t, uint64_t block) {
    const uint32_t threads = t->call->block[0] * t->call->block[1] * t->call->block[2];
    uint32_t i;
    t->environment.block[0] = (uint32_t)(block % t->call->grid[0]);
    t->environment.block[1] = (uint32_t)(block / t->call->grid[0] % t->call->grid[1]);
    t->environment.block[2] = (uint32_t)(block / t->call->grid[0] / t->call->grid[1]);
    memset(t->shared, 0xa5, (size_t)t->shared_bytes);
    for (i = 0; i < t->warp_count; i++) {
        const uint32_t left = threads - i * 32;
        memset(t->warps[i].registers, 0xa5, (size_t)t->kernel->registers * LANES * 4);
        memset(t->warps[i].predicates, 0xa5, (size_t)t->kernel->predicates * 4);
        simt_start(&t->warps[i].stack, left >= 32 ? 0xffffffffu : (1u << left) - 1);
        t->warps[i].at_barrier = 0;
    }
}

static inline void interpret_block(interpreter *t, uint64_t block) {
    uint32_t i, running;
    interpret_start_block(t, block);
    do {
        running = 0;
        for (i = 0; i < t->warp_count; i++) {
            interpret_warp *w = &t->warps[i];
            w->at_barrier = 0;
            while (w->stack.depth && !w->at_barrier) interpret_step(t, block, i);
            running += w->stack.depth != 0;
        }
    } while (running);
    if (t->observer.block_ended) t->observer.block_ended(t->observer.user, block);
}

static inline void interpret_run(interpreter *t) {
    const uint64_t blocks = (uint64_t)t->call->grid[0] * t->call->grid[1] * t->call->grid[2];
    uint64_t block;
    for (block = 0; block < blocks; block++) interpret_block(t, block);
}
#endif
