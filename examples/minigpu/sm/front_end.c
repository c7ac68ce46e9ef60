#include "sm/front_end.h"

#include <inttypes.h>
#include <string.h>

static uint32_t step_of(const in_flight *r) { return (uint32_t)r->sequence; }

/* Ends the run: a step of a warp has found something else than the trace says. */
static __attribute__((cold)) void fail_at(machine *m, const warp *w, const instruction *i, uint32_t step,
                                          const char *what) {
    const block *b = &m->blocks[w->block];
    const kernel_program *program = m->kernels[b->kernel].program;
    machine_fail(
        m, "%s:%u: kernel %s: %s is not what the trace says; block %" PRIu64 " warp %u, instruction %u of the warp",
        program->file_name, i->line, program->name, what, b->linear, w->index, step);
}

/* The same, unless an error that is still to be detected is the cause. */
static __attribute__((cold)) void differs(machine *m, const in_flight *r, const warp *w, const char *what) {
    int excused;
    PARTS_ASK(m, excused, 0, excuses, (m, r));
    if (!excused) fail_at(m, w, r->instruction, step_of(r), what);
}

static const char *const other_step = "the instruction, or its mask,", *const other_source = "a register that it reads";

/* The results of the instruction. */
static void make_results(in_flight *r, const warp *w) {
    uint32_t n;
    for (n = 0; n < r->instruction->destination_count; n++) front_end_result(w, step_of(r), n, r->results[n].word[0]);
}

/* Writes a register in the lanes of a mask. */
static inline void write_lanes(uint32_t *restrict to, const uint32_t *restrict from, uint32_t mask) {
    uint32_t l;
    for (l = 0; l < LANES; l++) to[l] = mask & lane_bits[l] ? from[l] : to[l];
}

/* The same, of tags. */
static inline void write_tags(uint32_t *to, uint32_t first, uint32_t mask) {
    uint32_t l;
    for (l = 0; l < LANES; l++) to[l] = mask & lane_bits[l] ? first + tag_lanes[l] : to[l];
}

/* Writes the results at once. */
static inline void write_results(const instruction *i, uint32_t mask, uint32_t step, const warp *w,
                                 uint32_t *registers) {
    uint32_t n;
    for (n = 0; n < i->destination_count; n++) {
        uint32_t *to = registers + (size_t)i->destinations[n].index * LANES;
        const uint32_t place = front_end_values_at(w, step), first = w->trace.seed + tags_written(step, n);
        if (place != NONE)
            write_lanes(to, w->trace.block->values + place + (size_t)n * LANES, mask);
        else if (mask == UINT32_MAX)
            tags_fill(first, to);
        else
            write_tags(to, first, mask);
    }
}

/* Returns whether the step of a warp in a plain machine is that of its cursor. */
static inline int is_at_step(const warp *w) {
    const simt_entry *top = &w->stack.entries[0];
    return top->reconvergence < w->trace.count && top->mask == w->step.mask && top->pc == w->step.instruction;
}

/* Returns the digest of what a warp reads in a step. */
static inline uint32_t digest_of(const warp *w, const trace_step *step) {
    return step->sources + w->trace.seed * step->seeds;
}

void front_end_execute(machine *m, const warp *w, const instruction *i, uint32_t *registers) {
    const uint32_t number = w->stack.entries[0].reconvergence;
    if (!is_at_step(w)) {
        fail_at(m, w, i, number, other_step);
        return;
    }
    if (tags_read(i, registers, w->step.mask) != digest_of(w, &w->step)) fail_at(m, w, i, number, other_source);
    write_results(i, w->step.mask, number, w, registers);
}

void front_end_capture(machine *m, in_flight *r, const warp *w, uint32_t *registers) {
    const uint32_t number = step_of(r) < w->trace.count ? step_of(r) : 0;
    const trace_step *step = IS_PLAIN ? &w->step : &w->trace.steps[number];
    r->active = r->mask;
    if (step_of(r) != number || r->mask != step->mask || r->pc != step->instruction) {
        differs(m, r, w, other_step);
        r->active = 0;
        return;
    }
    if (tags_read(r->instruction, registers, r->mask) != digest_of(w, step)) differs(m, r, w, other_source);
    if (step->access != NONE)
        trace_addresses(w->trace.accesses + step->access, step->mask, w->trace.block->lists, r->addresses);
    if (r->info->unit == UNIT_MEMORY) return;
    if (IS_PLAIN_MACHINE(m)) {
        write_results(r->instruction, r->mask, step_of(r), w, registers);
        r->has_results = 0;
    } else {
        make_results(r, w);
    }
}

/* Compares a word of shared memory that a lane reads with its tags, and puts the tag of one that it writes. Returns 1
 * when it is wrong. */
static inline int shared_word(uint32_t seed, uint8_t *shared, uint32_t word, int reads, int writes) {
    const uint32_t written = tags_shared(seed, word, 1);
    uint8_t *at = shared + (size_t)word * 4;
    uint32_t value;
    memcpy(&value, at, 4);
    if (writes) memcpy(at, &written, 4);
    return reads && value != written && value != tags_shared(seed, word, 0);
}

/* Returns the address of lane 0 where the lanes of an access have one word of shared memory after the other, and all 32
 * of them would lie in the block's shared memory; NEVER: they do not. */
static uint64_t row_of(const in_flight *r, uint32_t shared_bytes) {
    const uint32_t first = gpump_bits_lowest64(r->active);
    const uint64_t row = r->addresses[first] - first * 4;
    uint64_t differs = 0;
    uint32_t l;
    if (row > shared_bytes || shared_bytes - row < LANES * 4) return NEVER;
    for (l = 0; l < LANES; l++) differs |= r->active & lane_bits[l] ? r->addresses[l] ^ (row + l * 4) : 0;
    return differs ? NEVER : row;
}

/* Does what shared_word does for such lanes. */
static int shared_row(uint32_t active, uint32_t seed, uint8_t *row, uint32_t word, int reads, int writes) {
    typedef uint32_t any_word __attribute__((may_alias)); /* memory of a block holds words of any type */
    const uint32_t first = tags_shared(seed, word, 0), written = tags_shared(seed, word, 1) - first;
    any_word *words = (any_word *)(void *)row;
    uint32_t wrong = 0, l;
    for (l = 0; reads && l < LANES; l++) {
        const uint32_t beyond = words[l] - (first + l * TAG_WORD);
        wrong |= active & lane_bits[l] && beyond && beyond != written;
    }
    for (l = 0; writes && l < LANES; l++) words[l] = active & lane_bits[l] ? first + l * TAG_WORD + written : words[l];
    return wrong != 0;
}

/* The same for all lanes of an access. */
static int shared_words(const in_flight *r, uint32_t seed, uint8_t *shared, uint32_t shared_bytes) {
    const uint32_t bytes = instruction_access_bytes(r->instruction), opcode = r->instruction->opcode;
    const int reads = opcode != OPCODE_ST && opcode != OPCODE_STMATRIX;
    const int writes = opcode != OPCODE_LD && opcode != OPCODE_LDMATRIX;
    const uint64_t row = bytes == 4 ? row_of(r, shared_bytes) : NEVER;
    uint32_t left = instruction_address_lanes(r->instruction, r->active);
    int wrong = 0;
    if (row != NEVER) return shared_row(left, seed, shared + row, (uint32_t)row / 4, reads, writes);
    for (; left && bytes <= 4; left &= left - 1)
        wrong |= shared_word(seed, shared, (uint32_t)r->addresses[gpump_bits_lowest64(left)] / 4, reads, writes);
    for (; left; left &= left - 1) {
        uint32_t word = (uint32_t)r->addresses[gpump_bits_lowest64(left)] / 4, end = word + bytes / 4;
        for (; word < end; word++) wrong |= shared_word(seed, shared, word, reads, writes);
    }
    return wrong;
}

/* Puts the tags of the words of global memory that an instruction writes. */
static void global_words(machine *m, const in_flight *r, const warp *w) {
    const block *b = &m->blocks[r->block];
    const trace_kernel *trace = m->kernels[b->kernel].launch->trace;
    const trace_memory_access access = {.addresses = r->addresses,
                                        .instruction = r->instruction,
                                        .mask = r->active,
                                        .step = step_of(r),
                                        .seed = tags_seed(trace->number, b->linear, w->index),
                                        .warp = w->index,
                                        .is_row = r->straight && instruction_access_bytes(r->instruction) == 4};
    const trace_memory_result result = trace_memory_write(w->trace.memory, w->trace.block, &access);
    if (result == TRACE_MEMORY_RIGHT) return;
    differs(m, r, w,
            result == TRACE_MEMORY_TWICE ? "an atomic that the warp has already executed"
                                         : "a word of global memory that it writes");
}

void front_end_access(machine *m, sm *s, in_flight *r, const warp *w) {
    const block *b = &m->blocks[r->block];
    if (IS_PLAIN_MACHINE(m)) {
        write_results(r->instruction, r->active, step_of(r), w, s->registers + w->register_base);
        r->has_results = 0;
    } else {
        make_results(r, w);
    }
    if (r->instruction->space == SPACE_SHARED && r->active &&
        shared_words(r, front_end_shared_seed(b), s->shared + b->shared_base, b->shared_bytes))
        differs(m, r, w, "a word of shared memory that it reads");
    if (r->active && trace_memory_is_written(r->instruction)) global_words(m, r, w);
}
