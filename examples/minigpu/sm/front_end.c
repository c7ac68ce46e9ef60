#include "sm/front_end.h"

#include <inttypes.h>
#include <string.h>

static uint32_t step_of(const in_flight *r) { return (uint32_t)r->sequence; }

/* Ends the run: a traced instruction has found something else than the trace says, and no error that is still to be
 * detected is the cause. */
static __attribute__((cold)) void differs(machine *m, const in_flight *r, const warp *w, const char *what) {
    const block *b = &m->blocks[r->block];
    const kernel_program *program = m->kernels[b->kernel].program;
    int excused;
    PARTS_ASK(m, excused, 0, excuses, (m, r));
    if (excused) return;
    machine_fail(
        m, "%s:%u: kernel %s: %s is not what the trace says; block %" PRIu64 " warp %u, instruction %u of the warp",
        program->file_name, r->instruction->line, program->name, what, b->linear, w->index, step_of(r));
}

/* The results of the instruction. */
static void make_results(in_flight *r, const warp *w) {
    uint32_t n;
    for (n = 0; n < r->instruction->destination_count; n++) front_end_result(w, step_of(r), n, r->results[n].word[0]);
}

/* The same, written at once. */
static void write_results(const in_flight *r, const warp *w, uint32_t *registers) {
    uint32_t results[LANES], n, l;
    for (n = 0; n < r->instruction->destination_count; n++) {
        uint32_t *to = registers + (size_t)r->instruction->destinations[n].index * LANES;
        front_end_result(w, step_of(r), n, results);
        for (l = 0; l < LANES; l++) to[l] = r->mask & lane_bits[l] ? results[l] : to[l];
    }
}

void front_end_capture(machine *m, in_flight *r, const warp *w, uint32_t *registers) {
    const trace_step *step = &w->trace.steps[step_of(r) < w->trace.count ? step_of(r) : 0];
    r->active = r->mask;
    if (step_of(r) >= w->trace.count || r->mask != step->mask || r->pc != step->instruction) {
        differs(m, r, w, "the instruction, or its mask,");
        r->active = 0;
        return;
    }
    if (tags_read(r->instruction, registers, r->mask) != step->sources) differs(m, r, w, "a register that it reads");
    if (step->addresses != NONE) trace_addresses(step, w->trace.addresses, r->addresses);
    if (r->info->unit == UNIT_MEMORY) return;
    if (IS_PLAIN_MACHINE(m)) {
        write_results(r, w, registers);
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

/* The same for all lanes of an access. */
static int shared_words(const in_flight *r, uint32_t seed, uint8_t *shared) {
    const uint32_t bytes = instruction_access_bytes(r->instruction), opcode = r->instruction->opcode;
    const int reads = opcode != OPCODE_ST, writes = opcode != OPCODE_LD;
    uint32_t left = r->active;
    int wrong = 0;
    for (; left && bytes <= 4; left &= left - 1)
        wrong |= shared_word(seed, shared, (uint32_t)r->addresses[gpump_bits_lowest64(left)] / 4, reads, writes);
    for (; left; left &= left - 1) {
        uint32_t word = (uint32_t)r->addresses[gpump_bits_lowest64(left)] / 4, end = word + bytes / 4;
        for (; word < end; word++) wrong |= shared_word(seed, shared, word, reads, writes);
    }
    return wrong;
}

void front_end_access(machine *m, sm *s, in_flight *r, const warp *w) {
    const block *b = &m->blocks[r->block];
    make_results(r, w);
    if (r->instruction->space == SPACE_SHARED && r->active &&
        shared_words(r, front_end_shared_seed(b), s->shared + b->shared_base))
        differs(m, r, w, "a word of shared memory that it reads");
}
