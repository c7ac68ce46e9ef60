/* cursor: kernels that come from traces. The part gives each block of such a kernel its part of the trace, and each
 * warp its way through it (sm/front_end.h). A block of the trace is read when its first residence begins, and kept
 * until the block has ended: a preempted block resumes with the same data. */
#include "launch/absent_list.h"
#include "machine/machine_options.h"
#include "sm/front_end.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sass/trace_memory.h"
#include "sass/trace_tags.h"
#include "sm/scoreboard.h"

#define BUCKETS 4096u

/* The instructions of a traced kernel, from the first block that is read until the kernel has ended. */
typedef struct cursor_program {
    issue_info *info; /* room for TRACE_PROGRAM_INSTRUCTIONS; NULL: there is none */
    uint32_t count;   /* instructions that have been prepared */
} cursor_program;

/* The blocks that have been read and have not ended, by kernel and number. Their data never change, so the data lie
 * outside the arena. */
typedef struct machine_cursor {
    trace_block *blocks[BUCKETS]; /* linked by trace_block.next */
    cursor_program *programs;     /* by kernel */
    trace_memory *memory;         /* tags of the words that they write */
    uint32_t mapped;              /* regions of the trace's memory that have pages */
    uint32_t is_absent;           /* 1: pages are absent until their first access (--absent all) */
} machine_cursor;

static machine_cursor *cursor_of(const machine *m) { return (machine_cursor *)m->of_part[PART_cursor]; }

/* Returns why an option has no meaning for a trace, with the remedy; NULL: all have. */
static const char *without_meaning(const launch_file *launch, const machine_options *o) {
    if (o->shared_restart != SHARED_CUTS)
        return "regions of a trace end where shared memory is overwritten, because it has no values to restore; give "
               "--regions without :SHARED";
    if ((o->regions || launch->regions) && o->duet)
        return "a warp of a trace cannot go back from its frame; leave --duet or --regions away";
    if (o->point_interval || o->page_checks)
        return "a compiler puts preemption points and page checks into PTX; leave --points and --page-checks away";
    if (o->absent && strcmp(o->absent, "all"))
        return "the memory of a traced program has no names: --absent can only be all";
    return NULL;
}

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    const char *why;
    machine_cursor *c;
    uint32_t i;
    if (!launch->trace_map) return 0;
    if (!(m->of_part[PART_cursor] = c = (machine_cursor *)arena_take(&m->arena, sizeof *c)) ||
        !(c->programs = (cursor_program *)arena_take_array(&m->arena, launch->kernel_count, sizeof *c->programs)) ||
        !(c->memory = trace_memory_open(launch->trace_map))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    c->is_absent = (uint32_t)absent_list_has(options->absent, "all");
    for (i = 0; i < launch->kernel_count; i++)
        if (launch->kernels[i].trace)
            launch->kernels[i].trace->regions = options->regions ? options->regions : launch->regions;
    if (!(why = without_meaning(launch, options))) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "%s: %s", launch->path, why);
    return -1;
}

static int is_present(const machine *m) { return m->of_part[PART_cursor] != NULL; }

static void release_program(machine *m, uint32_t kernel_index) {
    cursor_program *program = &cursor_of(m)->programs[kernel_index];
    if (!program->info) return; /* it has none, or comes from PTX */
    scoreboard_release(program->info, TRACE_PROGRAM_INSTRUCTIONS);
    m->kernels[kernel_index].info = program->info = NULL;
    program->count = 0;
}

static void close_part(machine *m) {
    machine_cursor *c = cursor_of(m);
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) release_program(m, i);
    for (i = 0; i < BUCKETS; i++) {
        while (c->blocks[i]) {
            trace_block *next = c->blocks[i]->next;
            trace_kernel_drop(m->kernels[c->blocks[i]->kernel].launch->trace, c->blocks[i]);
            c->blocks[i] = next;
        }
    }
    trace_memory_close(c->memory);
}

/* Returns the place of a block's pointer, or of the NULL at the end of its bucket. */
static trace_block **find(const machine *m, uint32_t kernel_index, uint64_t linear) {
    trace_block **at = &cursor_of(m)->blocks[(linear * 31 + kernel_index) % BUCKETS];
    while (*at && ((*at)->linear != linear || (*at)->kernel != kernel_index)) at = &(*at)->next;
    return at;
}

/* Reserves the address range of the traced program. The host allocates memory only for the pages that are written. */
static uint64_t lay_out(machine *m, uint64_t address, uint64_t alignment) {
    uint32_t i;
    (void)alignment;
    address = (address + TRACE_REGION_BYTES - 1) / TRACE_REGION_BYTES * TRACE_REGION_BYTES;
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].launch->trace) m->kernels[i].launch->trace->map->base = address;
    return address + TRACE_REGIONS * TRACE_REGION_BYTES;
}

/* Gives the regions that a block has been the first to use their pages. */
static void map_regions(machine *m, const trace_map *map) {
    machine_cursor *c = cursor_of(m);
    for (; c->mapped < map->count; c->mapped++) {
        const uint64_t first = (map->base + c->mapped * TRACE_REGION_BYTES - DEVICE_BASE) / PAGE_BYTES;
        uint64_t page;
        for (page = first; page < first + TRACE_REGION_BYTES / PAGE_BYTES; page++) {
            m->page_table[page] |= PAGE_READ | PAGE_WRITE | (c->is_absent ? PAGE_ABSENT_READ | PAGE_ABSENT_WRITE : 0);
            m->page_ends[page] = PAGE_BYTES;
        }
        m->page_faults.absent += c->is_absent * (TRACE_REGION_BYTES / PAGE_BYTES);
    }
}

/* Prepares the instructions that a block has added to the program. Returns -1 when memory is out. */
static int prepare_program(machine *m, uint32_t kernel_index) {
    kernel *k = &m->kernels[kernel_index];
    cursor_program *program = &cursor_of(m)->programs[kernel_index];
    int failed;
    if (k->program->count == program->count) return 0;
    if (!program->info && !(program->info = scoreboard_reserve_room(TRACE_PROGRAM_INSTRUCTIONS))) return -1;
    k->info = program->info;
    scoreboard_add(program->info, TRACE_PROGRAM_INSTRUCTIONS, k->program, program->count);
    program->count = k->program->count;
    PARTS_ASK(m, failed, 0, prepare, (m, kernel_index, k->program, program->info));
    return failed;
}

/* Reads a block of the trace. Returns NULL when the machine has failed. */
static trace_block *read_one(machine *m, uint32_t kernel_index, uint64_t linear) {
    trace_kernel *trace = m->kernels[kernel_index].launch->trace;
    char error[TRACE_ERROR_BYTES];
    trace_block *read = trace_kernel_block(trace, linear, error);
    map_regions(m, trace->map);
    if (!read) {
        machine_fail(m, "%s", error);
        return NULL;
    }
    if (!prepare_program(m, kernel_index) && !trace_memory_begin(cursor_of(m)->memory, trace, read)) return read;
    machine_fail(m, "out of memory");
    trace_kernel_drop(trace, read);
    return NULL;
}

static trace_block *block_of(machine *m, uint32_t kernel_index, uint64_t linear) {
    trace_block **at = find(m, kernel_index, linear);
    if (*at) return *at;
    if ((*at = read_one(m, kernel_index, linear))) (*at)->kernel = kernel_index;
    return *at;
}

static void warp_came(machine *m, sm *s, warp *w) {
    const block *b = &m->blocks[w->block];
    const trace_kernel *trace = m->kernels[b->kernel].launch->trace;
    const trace_warp *of;
    trace_block *read;
    (void)s;
    if (!trace || !(read = block_of(m, b->kernel, b->linear))) return;
    of = &read->warps[w->index];
    w->trace.block = read;
    w->trace.memory = cursor_of(m)->memory;
    w->trace.steps = of->shared ? of->shared->steps : NULL;
    w->trace.count = of->count;
    w->trace.accesses = read->accesses ? read->accesses + of->access_first : NULL;
    w->trace.origin = read->access_count ? read->accesses[0].first : 0;
    w->trace.value_places = read->value_places ? read->value_places + of->first : NULL;
    w->trace.seed = tags_seed(trace->number, b->linear, w->index);
}

static void block_is_placed(machine *m, sm *s, block *b) {
    (void)s;
    if (m->kernels[b->kernel].launch->trace) (void)block_of(m, b->kernel, b->linear);
}

/* Nothing has been executed: registers and shared memory have the tags of the beginning. */
static void warp_starts(machine *m, sm *s, warp *w) {
    const block *b = &m->blocks[w->block];
    const kernel *k = &m->kernels[b->kernel];
    uint32_t word, r, *lanes;
    if (!k->launch->trace || !w->trace.block) return;
    lanes = warp_registers(m, b, w);
    for (r = 0; r < w->trace.block->registers; r++, lanes += LANES) tags_fill(w->trace.seed + tags_unwritten(r), lanes);
    front_end_go_to_step(w, 0);
    for (word = 0; !w->index && word < k->shared_bytes / 4; word++) {
        const uint32_t tag = tags_shared(front_end_shared_seed(b), word, 0);
        memcpy(s->shared + b->shared_base + (size_t)word * 4, &tag, 4);
    }
}

/* A traced warp counts its instructions by their steps. */
static void number_steps(warp *w) {
    w->sequence = front_end_step(w);
    if (w->sequence < w->trace.count) front_end_take_step(w, (uint32_t)w->sequence);
}

static void block_is_restored(machine *m, sm *s, block *b) {
    uint32_t i;
    (void)s;
    for (i = 0; m->kernels[b->kernel].launch->trace && i < b->warp_count; i++) number_steps(&m->warps[b->warps[i]]);
}

/* Gives a register the tags that it had before a step. */
static void restore_register(const kernel_program *program, const warp *w, uint32_t number, uint32_t step,
                             uint32_t lanes[LANES]) {
    uint32_t open = UINT32_MAX, results[LANES], n, l;
    tags_fill(w->trace.seed + tags_unwritten(number), lanes);
    while (open && step-- > 0) {
        const instruction *in = &program->instructions[w->trace.steps[step].instruction];
        for (n = 0; n < in->destination_count; n++) {
            const uint32_t mask = w->trace.steps[step].mask & open;
            if (in->destinations[n].index != number) continue;
            front_end_result(w, step, n, results);
            for (l = 0; l < LANES; l++) lanes[l] = mask & lane_bits[l] ? results[l] : lanes[l];
            open &= ~mask;
        }
    }
}

/* A compiler for regions renames registers so that a region does not overwrite its inputs (iGPU 3.3). SASS is not
 * compiled so. Registers that the warp has overwritten since the region's start get their tags of that start back. */
static void warp_goes_back(machine *m, sm *s, warp *w, uint32_t region) {
    const block *b = &m->blocks[w->block];
    const kernel_program *program = m->kernels[b->kernel].program;
    const uint32_t to = front_end_step(w);
    uint64_t restored[4] = {0, 0, 0, 0};
    uint32_t i, n;
    (void)s;
    (void)region;
    if (!w->trace.block) return;
    for (i = to; i < w->sequence; i++) {
        const instruction *in = &program->instructions[w->trace.steps[i].instruction];
        for (n = 0; n < in->destination_count; n++) {
            const uint32_t number = in->destinations[n].index;
            if (gpump_bits_get(restored, number)) continue;
            gpump_bits_set(restored, number);
            restore_register(program, w, number, to, warp_registers(m, b, w) + (size_t)number * LANES);
        }
    }
    number_steps(w);
}

/* Compares the words that a block has written with the trace, where its instructions have been executed. */
static void compare_memory(machine *m, const block *b, trace_block *ended, int is_done) {
    const trace_kernel *trace = m->kernels[b->kernel].launch->trace;
    uint32_t warp = 0, step = 0;
    const trace_memory_result result = trace_memory_end(cursor_of(m)->memory, trace, ended, &warp, &step);
    if (!is_done || result == TRACE_MEMORY_RIGHT) return;
    machine_fail(
        m, "%s:%u: kernel %s: %s; block %" PRIu64 " warp %u, instruction %u of the warp", trace->path,
        trace->program.instructions[ended->warps[warp].shared->steps[step].instruction].line, trace->program.name,
        result == TRACE_MEMORY_LOST ? "this access to global memory was never executed"
                                    : "a word of global memory that it writes has another writer's tag at the end",
        b->linear, warp, step);
}

static void block_left(machine *m, sm *s, block *b, const gpump_sm_action *action, uint32_t entry) {
    trace_block **at = find(m, b->kernel, b->linear), *ended = *at;
    (void)s;
    if (entry != NONE || !ended) return;
    compare_memory(m, b, ended, action->why == GPUMP_BLOCK_DONE);
    *at = ended->next;
    trace_kernel_drop(m->kernels[b->kernel].launch->trace, ended);
}

/* The memory of a list does not grow with its kernels. */
static void kernel_ended(machine *m, uint32_t kernel_index) {
    const kernel *k = &m->kernels[kernel_index];
    if (!k->launch->trace || k->killed) return;
    release_program(m, kernel_index);
    trace_kernel_release(k->launch->trace);
}

const part cursor_part = {
    .name = "cursor",
    .configure = configure,
    .lay_out = lay_out,
    .is_present = is_present,
    .close = close_part,
    .block_is_placed = block_is_placed,
    .warp_came = warp_came,
    .warp_starts = warp_starts,
    .block_is_restored = block_is_restored,
    .warp_goes_back = warp_goes_back,
    .block_left = block_left,
    .kernel_ended = kernel_ended,
};
