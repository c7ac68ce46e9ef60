#include "sm/front_end.h"

#include <inttypes.h>
#include <string.h>

#include "sass/trace_tags.h"

/* Ends the run: a traced instruction has found something else than the trace says. */
static __attribute__((cold)) void differs(machine *m, const in_flight *r, const warp *w, const char *what) {
    const block *b = &m->blocks[r->block];
    const kernel_program *program = m->kernels[b->kernel].program;
    machine_fail(
        m, "%s:%u: kernel %s: %s is not what the trace says; block %" PRIu64 " warp %u, instruction %u of the warp",
        program->file_name, r->instruction->line, program->name, what, b->linear, w->index, r->step);
}

/* The results of the instruction, from what its lanes have read. */
static void make_results(in_flight *r, const warp *w, const uint32_t sums[LANES]) {
    uint32_t n;
    for (n = 0; n < r->instruction->destination_count; n++)
        tags_result(w->trace.seed, r->step, n, sums, r->results[n].word[0]);
}

void front_end_capture(machine *m, in_flight *r, const warp *w, const uint32_t *registers) {
    const trace_step *step;
    uint32_t *sums = r->sources[0].word[0];
    r->step = (uint32_t)(r->sequence - w->trace.first);
    r->active = r->mask;
    step = &w->trace.steps[r->step < w->trace.count ? r->step : 0];
    if (r->step >= w->trace.count || r->mask != step->mask || r->pc != step->instruction) {
        differs(m, r, w, "the instruction, or its mask,");
        r->active = 0;
        return;
    }
    tags_read(r->instruction, registers, sums);
    if (tags_digest(sums, r->mask) != step->sources) differs(m, r, w, "a register that it reads");
    if (step->addresses != NONE) trace_addresses(step, w->trace.addresses, r->addresses);
    if (r->info->unit != UNIT_MEMORY) make_results(r, w, sums);
}

/* Compares the words of shared memory that a lane reads with their tags, and puts the tags of those that it writes. */
static int shared_words(const block *b, uint8_t *shared, uint64_t address, uint32_t bytes, int reads, int writes) {
    const uint32_t seed = front_end_shared_seed(b);
    uint32_t word = (uint32_t)address / 4, value;
    int right = 1;
    for (; word <= (address + bytes - 1) / 4; word++) {
        const uint32_t written = tags_shared(seed, word, 1);
        memcpy(&value, shared + (size_t)word * 4, 4);
        if (reads && value != written && value != tags_shared(seed, word, 0)) right = 0;
        if (writes) memcpy(shared + (size_t)word * 4, &written, 4);
    }
    return right;
}

void front_end_access(machine *m, sm *s, in_flight *r, const warp *w) {
    const block *b = &m->blocks[r->block];
    const uint32_t bytes = instruction_access_bytes(r->instruction), opcode = r->instruction->opcode;
    uint32_t left = r->instruction->space == SPACE_SHARED ? r->active : 0;
    int right = 1;
    make_results(r, w, r->sources[0].word[0]);
    for (; left; left &= left - 1)
        right &= shared_words(b, s->shared + b->shared_base, r->addresses[gpump_bits_lowest64(left)], bytes,
                              opcode != OPCODE_ST, opcode != OPCODE_LD);
    if (!right) differs(m, r, w, "a word of shared memory that it reads");
}
