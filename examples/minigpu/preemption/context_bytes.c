#include "preemption/context_bytes.h"

#include <string.h>

#include "preemption/context_forms.h"

/* Barrier state as words: five per barrier, then three per warp. */
#define BARRIER_WORDS(warps) (BARRIERS * 5 + (warps)*3)
#define LOCAL_WORDS 2u

/* The description of a block as a gpump_context_view, and the arrays that the view points to. */
typedef struct description {
    gpump_context_view view;
    machine *m;
    const kernel *k;
    const block *b; /* NULL: the largest block of the kernel */
    const warp *w;  /* copy that replaces the warp of its index; NULL: none */
    gpump_compress_layout layout;
    uint64_t live[BLOCK_WARPS_MAX][CONTEXT_LIVE_WORDS];
    gpump_context_stack_entry stack[SIMT_DEPTH];
    uint64_t predicates[SCOREBOARD_IDS], barriers[BARRIER_WORDS(BLOCK_WARPS_MAX)], local[LOCAL_WORDS];
    const uint8_t *frames[BLOCK_WARPS_MAX]; /* frames of registers, as read */
    uint64_t frame_bytes[BLOCK_WARPS_MAX];
} description;

/* ---- description of a block ---- */

static warp *warp_at(const description *d, uint32_t index) { return &d->m->warps[d->b->warps[index]]; }

/* Describes the largest state of a warp. */
static void describe_largest(void *user, uint32_t index, gpump_context_warp *out) {
    const description *d = (const description *)user;
    (void)index;
    out->stack_entries = SIMT_DEPTH;
    out->predicate_words = d->k->program->predicates;
}

/* Describes the present state of a warp. */
static void describe_warp(void *user, uint32_t index, gpump_context_warp *out) {
    description *d = (description *)user;
    const warp *w = d->w ? d->w : warp_at(d, index);
    uint32_t n;
    out->stack = d->stack;
    out->stack_entries = w->stack.depth;
    for (n = 0; n < w->stack.depth; n++) {
        d->stack[n].pc = w->stack.entries[n].pc;
        d->stack[n].reconvergence_pc = w->stack.entries[n].reconvergence;
        d->stack[n].lanes = w->stack.entries[n].mask;
    }
    out->predicates = d->predicates;
    out->predicate_words = d->k->program->predicates;
    for (n = 0; n < out->predicate_words; n++) d->predicates[n] = warp_predicates(d->m, warp_at(d, index))[n];
    if (!d->view.registers && !(d->view.control.in_place & GPUMP_PART_REGISTERS) && w->stack.depth)
        context_forms_describe_warp(d->m, d->b, w, d->live[index], out);
}

static void put_sections(void *user, uint32_t index, gpump_context_writer *writer) {
    const description *d = (const description *)user;
    const warp *w = d->w ? d->w : warp_at(d, index);
    PARTS_TELL(d->m, put_sections, (d->m, w, writer));
}

/* Converts the barriers of a block to words. */
static void put_barriers(description *d) {
    uint64_t *next = d->barriers;
    uint32_t i;
    for (i = 0; i < BARRIERS; i++) {
        const barrier *bar = &d->b->barriers[i];
        *next++ = bar->arrived;
        *next++ = bar->threads;
        *next++ = bar->expected;
        *next++ = bar->population;
        *next++ = (uint64_t)bar->all << 1 | bar->any;
    }
    for (i = 0; i < d->k->warps; i++) {
        const warp *w = warp_at(d, i);
        *next++ = w->barrier;
        *next++ = w->barrier_pc;
        *next++ = w->barrier_lanes;
    }
}

/* Describes what all blocks of a kernel have in common. */
static void describe_kernel(description *d, machine *m, const kernel *k) {
    gpump_context_view *view = &d->view;
    memset(view, 0, sizeof *view);
    d->m = m;
    d->k = k;
    d->b = NULL;
    d->w = NULL;
    memcpy(view->block.grid, k->launch->grid, sizeof view->block.grid);
    memcpy(view->block.block_threads, k->launch->block, sizeof view->block.block_threads);
    view->block.process = k->process;
    view->block.warps = k->warps;
    view->block.lanes = LANES;
    view->block.registers = k->registers;
    view->barrier_words = BARRIER_WORDS(k->warps);
    view->local_words = k->program->local_bytes ? LOCAL_WORDS : 0;
    view->shared_bytes = k->shared_bytes;
    view->user = d;
    view->warp = describe_largest;
}

/* Describes the parts of a block that stay in place. */
static gpump_context_control control_of(const kernel *k, const block *b) {
    gpump_context_control control;
    memset(&control, 0, sizeof control);
    if (!b->keep) return control;
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
    return control;
}

/* Describes a block that is on an SM. */
static void describe(description *d, machine *m, const block *b) {
    gpump_context_view *view = &d->view;
    describe_kernel(d, m, &m->kernels[b->kernel]);
    d->b = b;
    view->block.cookie = block_cookie(b);
    view->block.linear = b->linear;
    view->block.kernel = b->kernel + 1;
    memcpy(view->block.block, b->environment.block, sizeof view->block.block);
    view->control = control_of(d->k, b);
    view->omit = m->omit_section ? 1u << m->omit_section : 0;
    context_forms_describe(m, d->k, &d->layout, view);
    view->barriers = d->barriers;
    view->local = d->local;
    view->warp = describe_warp;
    view->put = put_sections;
}

/* ---- sizes, writing ---- */

uint64_t preemption_context_bytes(const kernel *k) {
    description d;
    gpump_context_writer writer;
    uint64_t bytes = 0;
    describe_kernel(&d, NULL, k);
    gpump_context_begin(&writer, NULL, 0);
    (void)gpump_context_put_view(&writer, &d.view, NULL);
    gpump_context_end(&writer, &bytes);
    return bytes;
}

static uint64_t context_address(const machine *m, uint64_t context) {
    return m->context_base + context * m->context_stride;
}

/* Begins a measurement. The size of compressed registers depends on their values, so such a context is
 * written to scratch space. */
static void begin_to_measure(const machine *m, gpump_context_writer *writer) {
    gpump_context_begin(writer, m->context_scratch, m->context_scratch ? m->context_stride : 0);
}

static gpump_context_sizes put(machine *m, const block *b, gpump_context_writer *writer) {
    description d;
    gpump_context_sizes sizes = {0, 0, 0};
    uint8_t *elsewhere;
    describe(&d, m, b);
    context_forms_describe_block(m, b, d.live, &d.layout, &d.view);
    put_barriers(&d);
    d.local[0] = b->local_base;
    d.local[1] = b->local_frame;
    PARTS_ASK(m, elsewhere, NULL, shared_memory, (m, b));
    d.view.shared = elsewhere ? elsewhere : m->sms[b->sm]->shared + b->shared_base;
    machine_must(m, "gpump_context_put_view", gpump_context_put_view(writer, &d.view, &sizes), NULL);
    return sizes;
}

gpump_context_sizes context_bytes_by_part(machine *m, const block *b) {
    gpump_context_writer writer;
    begin_to_measure(m, &writer);
    return put(m, b, &writer);
}

uint64_t preemption_context_now(machine *m, const block *b) {
    const gpump_context_sizes sizes = context_bytes_by_part(m, b);
    return sizes.register_bytes + sizes.shared_bytes + sizes.state_bytes;
}

uint64_t context_bytes_of_warp(machine *m, const block *b, const warp *w, uint32_t *registers) {
    description d;
    gpump_context_warp warp;
    gpump_context_writer writer;
    uint64_t bytes = 0;
    memset(&warp, 0, sizeof warp);
    begin_to_measure(m, &writer);
    describe(&d, m, b);
    d.w = w;
    describe_warp(&d, w->index, &warp);
    *registers = context_forms_registers(&d.view, &warp);
    machine_must(m, "gpump_context_put_warp", gpump_context_put_warp(&writer, &d.view, w->index, &warp), NULL);
    gpump_context_end(&writer, &bytes);
    return bytes - GPUMP_CONTEXT_HEADER_BYTES;
}

gpump_context_sizes context_bytes_write(machine *m, const block *b) {
    gpump_context_sizes sizes;
    gpump_context_writer writer;
    uint64_t bytes = 0;
    gpump_context_begin(&writer, device_memory(m, context_address(m, b->context)), m->context_stride);
    sizes = put(m, b, &writer);
    machine_must(m, "gpump_context_end", gpump_context_end(&writer, &bytes), NULL);
    return sizes;
}

/* Describes the sections that are in memory, without the entry for what is in place, followed by what is in
 * place. */
void context_bytes_complete(machine *m, const block *b) {
    const kernel *k = &m->kernels[b->kernel];
    const sm *s = m->sms[b->sm];
    uint8_t *place = device_memory(m, context_address(m, b->context));
    gpump_context_reader reader;
    gpump_context_section section;
    gpump_context_writer writer;
    uint64_t bytes = 0;
    uint32_t i;
    machine_must(m, "gpump_context_open", gpump_context_open(&reader, place, m->context_stride, NULL), NULL);
    if (m->failed) return;
    gpump_context_begin(&writer, m->parked_scratch, m->context_stride);
    while (gpump_context_next(&reader, &section) == GPUMP_OK)
        if (section.type != GPUMP_CONTEXT_CONTROL)
            gpump_context_put(&writer, section.type, section.index, section.payload, section.bytes);
    for (i = 0; b->registers && i < k->warps; i++)
        gpump_context_put_registers(&writer, i, s->registers + b->register_base + i * k->registers * LANES,
                                    k->registers, LANES);
    if (b->shared_bytes)
        gpump_context_put(&writer, GPUMP_CONTEXT_SHARED, 0, s->shared + b->shared_base, k->shared_bytes);
    machine_must(m, "gpump_context_end", gpump_context_end(&writer, &bytes), NULL);
    if (!m->failed) memcpy(place, m->parked_scratch, bytes);
}

/* ---- reading ---- */

static void open_context(machine *m, const block *b, gpump_context_reader *reader) {
    gpump_diag diag;
    memset(&diag, 0, sizeof diag);
    machine_must(m, "gpump_context_open",
                 gpump_context_open(reader, device_memory(m, context_address(m, b->context)), m->context_stride, &diag),
                 &diag);
}

void context_bytes_of_warps(machine *m, const block *b, uint64_t bytes[BLOCK_WARPS_MAX]) {
    gpump_context_reader reader;
    memset(bytes, 0, BLOCK_WARPS_MAX * sizeof *bytes);
    open_context(m, b, &reader);
    if (!m->failed) gpump_context_bytes_by_warp(&reader, b->warp_count, bytes);
}

/* Sets where the sections of a warp are read to. */
static void expect_warp(void *user, uint32_t index, gpump_context_warp *out) {
    description *d = (description *)user;
    if (d->k->registers) out->registers = warp_registers(d->m, d->b, warp_at(d, index));
    out->stack = d->stack;
    out->stack_entries = SIMT_DEPTH;
    out->predicates = d->predicates;
    out->predicate_words = SCOREBOARD_IDS;
}

static void take_warp(void *user, uint32_t index, const gpump_context_warp *in, gpump_context_reader *reader) {
    description *d = (description *)user;
    warp *w = warp_at(d, index);
    uint32_t n;
    simt_start(&w->stack, w->lanes);
    if (in->stack_entries != GPUMP_NONE) w->stack.depth = in->stack_entries;
    for (n = 0; in->stack_entries != GPUMP_NONE && n < in->stack_entries; n++) {
        w->stack.entries[n].pc = in->stack[n].pc;
        w->stack.entries[n].reconvergence = in->stack[n].reconvergence_pc;
        w->stack.entries[n].mask = (uint32_t)in->stack[n].lanes;
    }
    for (n = 0; in->predicate_words != GPUMP_NONE && n < in->predicate_words && n < d->m->predicate_stride; n++)
        warp_predicates(d->m, w)[n] = (uint32_t)in->predicates[n];
    d->frames[index] = (const uint8_t *)in->frame; /* unpacked once the whole block has been read */
    d->frame_bytes[index] = in->frame_bytes;
    PARTS_TELL(d->m, get_sections, (d->m, w, reader));
}

/* Sets where a block is read to. Words that the context lacks leave the block as it was placed. */
static void expect(description *d) {
    machine *m = d->m;
    const block *b = d->b;
    if (d->k->registers && d->view.compress) d->view.registers = warp_registers(m, b, warp_at(d, 0));
    put_barriers(d);
    d->local[0] = b->local_base;
    d->local[1] = b->local_frame;
    d->view.shared = (uint8_t *)m->sms[b->sm]->shared + b->shared_base;
    d->view.warp = expect_warp;
    d->view.took = take_warp;
}

/* Takes the barriers, frames and local memory of a block, once all of its warps have been read. */
static void take_block(description *d, block *b) {
    const uint64_t *next = d->barriers;
    uint32_t i;
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
        warp *w = warp_at(d, i);
        w->barrier = (uint32_t)next[0];
        w->barrier_pc = (uint32_t)next[1];
        w->barrier_lanes = (uint32_t)next[2];
    }
    for (i = 0; i < b->warp_count; i++)
        if (d->frames[i] && context_forms_take_frame(d->m, b, warp_at(d, i), d->frames[i], d->frame_bytes[i]))
            machine_fail(d->m, "the saved registers are not those of kernel %s", d->k->program->name);
    b->local_base = d->local[0];
    b->local_frame = (uint32_t)d->local[1];
}

static void refuse(machine *m, const kernel *k, const gpump_diag *diag) {
    if (!strcmp(diag->field, "parts"))
        machine_fail(m, "the context of a block of kernel %s is not whole", k->program->name);
    else
        machine_fail(m, "the saved %s are not those of kernel %s", diag->field, k->program->name);
}

/* Reads a block's context into the block's present registers and shared memory. */
void context_bytes_read(machine *m, block *b, uint32_t coordinates[3]) {
    description d;
    gpump_context_reader reader;
    gpump_context_block header;
    gpump_diag diag;
    memset(coordinates, 0, 3 * sizeof *coordinates);
    memset(&diag, 0, sizeof diag);
    open_context(m, b, &reader);
    if (m->failed) return;
    describe(&d, m, b);
    if (gpump_context_get_block(&reader, &header) == GPUMP_OK) {
        memcpy(coordinates, header.block, sizeof header.block);
        if (header.kernel != b->kernel + 1) {
            machine_fail(m, "the context of a block of kernel %s is that of kernel %u", d.k->program->name,
                         header.kernel);
            return;
        }
    }
    expect(&d);
    if (gpump_context_get_view(&reader, &d.view, &diag) != GPUMP_OK) {
        refuse(m, d.k, &diag);
        return;
    }
    take_block(&d, b);
}
