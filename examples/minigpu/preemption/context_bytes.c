#include "preemption/context_bytes.h"

#include <string.h>

#include "parts/duet/duet.h"
#include "preemption/context_forms.h"

/* Barrier state as words: five per barrier, then three per warp. */
#define BARRIER_WORDS(warps) (BARRIERS * 5 + (warps)*3)

/* Do the registers of a block stay in place, or does a test leave them out? */
static int without_registers(const machine *m, const block *b) {
    return m->omit_section == GPUMP_CONTEXT_REGISTERS || b->keep & GPUMP_PART_REGISTERS;
}

/* Writes the sections of one warp; `alone`: its registers have none of their own. Returns how many vector registers are
 * among them. `w` NULL counts the most that a warp can have. */
static uint32_t walk_warp(machine *m, const kernel *k, const block *b, const warp *w, uint32_t index, int alone,
                          gpump_context_writer *writer) {
    gpump_context_stack_entry entries[SIMT_DEPTH];
    const uint32_t depth = w ? w->stack.depth : SIMT_DEPTH, omit = m ? m->omit_section : 0;
    uint32_t n, registers = 0;
    if (w && alone) registers = context_forms_write_warp(m, k, b, w, writer);
    if (!w && k->registers) /* raw, and what the heads and masks of other forms add */
        gpump_context_reserve(writer, GPUMP_CONTEXT_REGISTERS, index,
                              8 + (uint64_t)k->registers * LANES * 4 + 32 + k->registers);
    if (omit != GPUMP_CONTEXT_STACK) {
        memset(entries, 0, sizeof entries);
        for (n = 0; w && n < depth; n++) {
            entries[n].pc = w->stack.entries[n].pc;
            entries[n].reconvergence_pc = w->stack.entries[n].reconvergence;
            entries[n].lanes = w->stack.entries[n].mask;
        }
        gpump_context_put_stack(writer, index, entries, depth);
    }
    if (!depth) return registers; /* a warp that has ended needs nothing more */
    if (omit != GPUMP_CONTEXT_PREDICATES && k->program->predicates) {
        uint64_t words[SCOREBOARD_IDS];
        for (n = 0; n < k->program->predicates; n++)
            words[n] = w ? warp_predicates(m, &m->warps[b->warps[index]])[n] : 0;
        gpump_context_put_words(writer, GPUMP_CONTEXT_PREDICATES, index, words, k->program->predicates);
    }
    if (w) PARTS_TELL(m, put_sections, (m, w, writer));
    return registers;
}

/* Writes a block's context, or measures it when the writer has no memory. `b` NULL measures the largest one of the
 * kernel. */
static void walk(machine *m, const kernel *k, const block *b, gpump_context_writer *writer) {
    uint32_t i, warps = k->warps, omit = m ? m->omit_section : 0;
    int alone;
    if (omit != GPUMP_CONTEXT_BLOCK) {
        gpump_context_block header;
        memset(&header, 0, sizeof header);
        if (b) {
            header.cookie = block_cookie(b);
            header.linear = b->linear;
            header.kernel = b->kernel + 1;
            header.process = k->process;
            memcpy(header.block, b->environment.block, sizeof header.block);
        }
        memcpy(header.grid, k->launch->grid, sizeof header.grid);
        memcpy(header.block_threads, k->launch->block, sizeof header.block_threads);
        header.warps = warps;
        header.lanes = LANES;
        header.registers = k->registers;
        gpump_context_put_block(writer, &header);
    }
    if (b && b->keep) {
        gpump_context_control control;
        memset(&control, 0, sizeof control);
        control.in_place = b->keep;
        control.sm = b->sm;
        control.block = b->ref;
        if (b->keep & GPUMP_PART_REGISTERS) {
            control.register_base = b->register_base;
            control.registers = k->need.registers;
        }
        if (b->keep & GPUMP_PART_SHARED_MEMORY) {
            control.shared_base = b->shared_base;
            control.shared_bytes = k->shared_bytes;
        }
        gpump_context_put_control(writer, &control);
    }
    alone = b && !without_registers(m, b) && !context_forms_write_block(m, k, b, writer);
    for (i = 0; i < warps; i++) walk_warp(m, k, b, b ? &m->warps[b->warps[i]] : NULL, i, alone, writer);
    if (omit != GPUMP_CONTEXT_BARRIERS) {
        uint64_t words[BARRIER_WORDS(BLOCK_WARPS_MAX)], *next = words;
        memset(words, 0, sizeof words);
        for (i = 0; b && i < BARRIERS; i++) {
            const barrier *bar = &b->barriers[i];
            *next++ = bar->arrived;
            *next++ = bar->threads;
            *next++ = bar->expected;
            *next++ = bar->population;
            *next++ = (uint64_t)bar->all << 1 | bar->any;
        }
        for (i = 0; b && i < warps; i++) {
            const warp *w = &m->warps[b->warps[i]];
            *next++ = w->barrier;
            *next++ = w->barrier_pc;
            *next++ = w->barrier_lanes;
        }
        gpump_context_put_words(writer, GPUMP_CONTEXT_BARRIERS, 0, words, BARRIER_WORDS(warps));
    }
    if (omit != GPUMP_CONTEXT_LOCAL && k->program->local_bytes) {
        uint64_t words[2];
        words[0] = b ? b->local_base : 0;
        words[1] = b ? b->local_frame : 0;
        gpump_context_put_words(writer, GPUMP_CONTEXT_LOCAL, 0, words, 2);
    }
    if (omit != GPUMP_CONTEXT_SHARED && k->shared_bytes && !(b && (b->keep & GPUMP_PART_SHARED_MEMORY))) {
        if (b)
            gpump_context_put(writer, GPUMP_CONTEXT_SHARED, 0,
                              duet_serves(m, b->kernel) ? duet_shared(m, b) : m->sms[b->sm]->shared + b->shared_base,
                              k->shared_bytes);
        else
            gpump_context_reserve(writer, GPUMP_CONTEXT_SHARED, 0, k->shared_bytes);
    }
}

uint64_t preemption_context_bytes(const kernel *k) {
    gpump_context_writer writer;
    uint64_t bytes = 0;
    gpump_context_begin(&writer, NULL, 0);
    walk(NULL, k, NULL, &writer);
    gpump_context_end(&writer, &bytes);
    return bytes;
}

static uint64_t context_address(const machine *m, uint64_t context) {
    return m->context_base + context * m->context_stride;
}

/* Begins to measure: patterns are seen only in registers that are read, so what compresses is written for real, and
 * forgotten. */
static void begin_to_measure(const machine *m, gpump_context_writer *writer) {
    gpump_context_begin(writer, m->context_scratch, m->context_scratch ? m->context_stride : 0);
}

uint64_t preemption_context_now(machine *m, const block *b) {
    gpump_context_writer writer;
    uint64_t bytes = 0;
    begin_to_measure(m, &writer);
    walk(m, &m->kernels[b->kernel], b, &writer);
    gpump_context_end(&writer, &bytes);
    return bytes;
}

uint64_t context_bytes_of_warp(machine *m, const block *b, const warp *w, uint32_t *registers) {
    gpump_context_writer writer;
    uint64_t bytes = 0;
    begin_to_measure(m, &writer);
    *registers = walk_warp(m, &m->kernels[b->kernel], b, w, w->index, !without_registers(m, b), &writer);
    gpump_context_end(&writer, &bytes);
    return bytes - GPUMP_CONTEXT_HEADER_BYTES;
}

void context_bytes_write(machine *m, const block *b) {
    gpump_context_writer writer;
    uint64_t bytes = 0;
    gpump_context_begin(&writer, device_memory(m, context_address(m, b->context)), m->context_stride);
    walk(m, &m->kernels[b->kernel], b, &writer);
    machine_must(m, "gpump_context_end", gpump_context_end(&writer, &bytes), NULL);
}

static void open_context(machine *m, const block *b, gpump_context_reader *reader) {
    gpump_diag diag;
    memset(&diag, 0, sizeof diag);
    machine_must(m, "gpump_context_open",
                 gpump_context_open(reader, device_memory(m, context_address(m, b->context)), m->context_stride, &diag),
                 &diag);
}

void context_bytes_of_warps(machine *m, const block *b, uint64_t bytes[BLOCK_WARPS_MAX]) {
    static const uint32_t of_a_warp = 1u << GPUMP_CONTEXT_REGISTERS | 1u << GPUMP_CONTEXT_COMPRESSED |
                                      1u << GPUMP_CONTEXT_FRAME | 1u << GPUMP_CONTEXT_STACK |
                                      1u << GPUMP_CONTEXT_PREDICATES | 1u << GPUMP_CONTEXT_REPLAY |
                                      1u << GPUMP_CONTEXT_LOG | 1u << GPUMP_CONTEXT_RESTART;
    gpump_context_reader reader;
    gpump_context_section section;
    uint32_t i;
    memset(bytes, 0, BLOCK_WARPS_MAX * sizeof *bytes);
    open_context(m, b, &reader);
    while (!m->failed && gpump_context_next(&reader, &section) == GPUMP_OK) {
        const uint64_t taken = GPUMP_CONTEXT_SECTION_BYTES + (section.bytes + 7) / 8 * 8;
        if (section.type >= GPUMP_CONTEXT_TYPES || !(of_a_warp >> section.type & 1)) continue;
        if (section.index < b->warp_count) bytes[section.index] += taken;
        for (i = 0; section.index == GPUMP_NONE && i < b->warp_count; i++) bytes[i] += taken / b->warp_count;
    }
}

/* Reads a block back, into the places it has now. */
void context_bytes_read(machine *m, block *b, uint32_t coordinates[3]) {
    const kernel *k = &m->kernels[b->kernel];
    gpump_context_reader reader;
    gpump_context_block header;
    gpump_context_section section;
    uint64_t words[SCOREBOARD_IDS];
    uint32_t i, n, count;
    memset(coordinates, 0, 3 * sizeof *coordinates);
    open_context(m, b, &reader);
    if (m->failed) return;
    if (!m->omit_section && gpump_context_missing(&reader, k->shared_bytes)) {
        machine_fail(m, "the context of a block of kernel %s is not whole", k->program->name);
        return;
    }
    if (gpump_context_get_block(&reader, &header) == GPUMP_OK) {
        memcpy(coordinates, header.block, sizeof header.block);
        if (header.kernel != b->kernel + 1 || header.warps != b->warp_count)
            machine_fail(m, "the context of a block of kernel %s is that of kernel %u with %u warps", k->program->name,
                         header.kernel, header.warps);
    }
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        gpump_context_stack_entry entries[SIMT_DEPTH];
        simt_start(&w->stack, w->lanes);
        if (gpump_context_get_stack(&reader, i, entries, SIMT_DEPTH, &count) == GPUMP_OK) {
            w->stack.depth = count;
            for (n = 0; n < count; n++) {
                w->stack.entries[n].pc = entries[n].pc;
                w->stack.entries[n].reconvergence = entries[n].reconvergence_pc;
                w->stack.entries[n].mask = (uint32_t)entries[n].lanes;
            }
        }
        if (gpump_context_get_words(&reader, GPUMP_CONTEXT_PREDICATES, i, words, SCOREBOARD_IDS, &count) == GPUMP_OK) {
            for (n = 0; n < count && n < m->predicate_stride; n++) warp_predicates(m, w)[n] = (uint32_t)words[n];
        }
        PARTS_TELL(m, get_sections, (m, w, &reader));
    }
    if (gpump_context_get_words(&reader, GPUMP_CONTEXT_BARRIERS, 0, words, SCOREBOARD_IDS, &count) == GPUMP_OK) {
        const uint64_t *next = words;
        if (count != BARRIER_WORDS(b->warp_count)) {
            machine_fail(m, "the saved barriers are not those of kernel %s", k->program->name);
            return;
        }
        for (i = 0; i < BARRIERS; i++, next += 5) {
            barrier *bar = &b->barriers[i];
            bar->arrived = next[0];
            bar->threads = (uint32_t)next[1];
            bar->expected = (uint32_t)next[2];
            bar->population = (uint32_t)next[3];
            bar->all = (uint32_t)(next[4] >> 1);
            bar->any = (uint32_t)(next[4] & 1);
        }
        for (i = 0; i < b->warp_count; i++, next += 3) {
            warp *w = &m->warps[b->warps[i]];
            w->barrier = (uint32_t)next[0];
            w->barrier_pc = (uint32_t)next[1];
            w->barrier_lanes = (uint32_t)next[2];
        }
    }
    if (context_forms_read(m, b, &reader))
        machine_fail(m, "the saved registers are not those of kernel %s", k->program->name);
    if (gpump_context_get_words(&reader, GPUMP_CONTEXT_LOCAL, 0, words, SCOREBOARD_IDS, &count) == GPUMP_OK &&
        count == 2) {
        b->local_base = words[0];
        b->local_frame = (uint32_t)words[1];
    }
    if (k->shared_bytes && gpump_context_find(&reader, GPUMP_CONTEXT_SHARED, 0, &section) == GPUMP_OK) {
        if (section.bytes != k->shared_bytes)
            machine_fail(m, "the saved shared memory is not that of kernel %s", k->program->name);
        else
            memcpy(m->sms[b->sm]->shared + b->shared_base, section.payload, section.bytes);
    }
}
