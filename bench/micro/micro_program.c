/* The program analyses on generated kernels of `size` instructions: a basic block for every ten, loops two deep,
 * divergent and uniform branches, a barrier every few hundred instructions, loads and stores of eight buffers. One
 * operation is one whole analysis, so nanoseconds per instruction are ours divided by size.
 *
 * - program_build: building and checking it: basic blocks, dominators, post-dominators, loops
 * - program_liveness: live sets and control dependences
 * - program_registers: allocation onto 255 registers
 * - program_points: preemption points of the allocated program
 * - program_regions: sparse and short idempotent regions with their moves
 * - program_clobbers: the instructions that make a block unfit to be flushed
 * - program_pages: page checks
 * - program_all: build, liveness, registers, regions and points, one after the other
 * - ..._long: the number of values alive grows with the kernel, n / 100 and more. What is live at the ends of basic
 *   blocks then grows with n squared, and so does everything that lists it */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "micro.h"

enum { OBJECTS = 8, LIVE = 24, LIVE_MAX = 2048 };
typedef struct kernel {
    gpump_program *program, *allocated;
    gpump_liveness *liveness;
    gpump_preempt_point *points;
    uint8_t *clobbers;
    uint32_t size, live, capacity;
} kernel;

static uint32_t random_below(uint64_t *state, uint32_t limit) { return gpump_random_below(state, limit); }

/* The state of the generator. `seen` are the values that the next instructions use. The end of an if restores the
 * values before the if. */
typedef struct generator {
    gpump_program *program;
    uint32_t size, live, registers; /* instructions; long-lived values; registers that are no predicates */
    uint64_t random;
    uint32_t seen[LIVE_MAX], saved[LIVE_MAX];
    uint32_t loop_top[2], depth;
    uint32_t since, end_of_if; /* since the last loop or barrier; where the last if ends */
    uint32_t def, uses[3];     /* of the present instruction */
} generator;

static int add_registers(generator *g) {
    const gpump_memory_object object = {GPUMP_SPACE_GLOBAL, GPUMP_NONE};
    uint32_t i, ignored;
    for (i = 0; i < g->registers + 8; i++) {
        const uint32_t width = i >= g->registers ? (uint32_t)GPUMP_WIDTH_PREDICATE
                               : i % 5 == 4      ? (uint32_t)GPUMP_WIDTH_64
                                                 : (uint32_t)GPUMP_WIDTH_32;
        if (gpump_program_add_register(g->program, width, &ignored, NULL) != GPUMP_OK) return -1;
    }
    for (i = 0; i < OBJECTS; i++) gpump_program_add_object(g->program, &object, &ignored, NULL);
    return 0;
}

static void make_branch(gpump_instruction *in, uint32_t guard, uint32_t target) {
    in->operation = GPUMP_OP_BRANCH;
    in->guard = guard;
    in->target = target;
}

/* Makes a load of one of four buffers, or a store to one of five. One buffer is in both groups. */
static void make_access(generator *g, gpump_instruction *in, int is_load) {
    in->access = is_load ? GPUMP_ACCESS_READ : GPUMP_ACCESS_WRITE;
    in->space = GPUMP_SPACE_GLOBAL;
    in->object = is_load ? random_below(&g->random, 4) : 3 + random_below(&g->random, 5);
    in->bytes = 4;
    in->def_count = is_load;
    in->use_count = is_load ? 1 : 2;
}

/* Makes instruction i of a random kind. */
static void make_instruction(generator *g, uint32_t i, uint32_t kind, gpump_instruction *in) {
    const int is_outside = i > g->end_of_if;
    in->def_count = 1;
    if (g->since > 12 && g->depth < 2 && kind < 8 && is_outside) { /* a loop begins here */
        g->loop_top[g->depth++] = i;
        in->use_count = 2;
        g->since = 0;
    } else if (g->since > 25 && g->depth && kind < 40 && is_outside) { /* a loop ends here */
        in->def_count = 0;
        in->flags = GPUMP_FLAG_UNIFORM;
        make_branch(in, g->registers + g->depth, g->loop_top[g->depth - 1]);
        g->depth--;
        g->since = 0;
    } else if (kind < 8 && i + 14 < g->size && is_outside) { /* an if */
        const uint32_t guard = g->registers + 4 + random_below(&g->random, 4);
        in->def_count = 0;
        g->end_of_if = i + 2 + random_below(&g->random, 10);
        make_branch(in, guard, g->end_of_if);
        memcpy(g->saved, g->seen, g->live * sizeof *g->saved);
    } else if (kind < 12) { /* a predicate */
        g->def = g->registers + random_below(&g->random, 8);
        in->use_count = 2;
    } else if (kind < 28)
        make_access(g, in, kind < 22);
    else if (kind == 28 && !g->depth && g->since > 40 && is_outside) {
        in->operation = GPUMP_OP_BARRIER;
        in->def_count = 0;
        g->since = 0;
    } else if (kind < 36) { /* a long-lived value changes */
        g->def = random_below(&g->random, g->live);
        g->uses[0] = g->def;
        in->use_count = 2;
    } else
        in->use_count = 1 + random_below(&g->random, 3);
}

/* Adds instruction i. The first ones make the long-lived values, then the eight predicates. */
static int add_instruction(generator *g, uint32_t i) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    const uint32_t kind = random_below(&g->random, 100);
    if (i == g->end_of_if && i) memcpy(g->seen, g->saved, g->live * sizeof *g->seen);
    g->def = i;
    for (uint32_t k = 0; k < 3; k++)
        g->uses[k] = random_below(&g->random, 4) ? g->seen[random_below(&g->random, g->live)]
                                                 : random_below(&g->random, g->live);
    g->since++;
    if (i < g->live)
        in.def_count = 1;
    else if (i < g->live + 8) {
        g->def = g->registers + i - g->live;
        in.def_count = in.use_count = 1;
    } else
        make_instruction(g, i, kind, &in);
    in.tag = i;
    in.uses = g->uses;
    in.defs = &g->def;
    if (in.def_count && g->def == i && i >= g->live) g->seen[random_below(&g->random, g->live)] = i;
    return gpump_program_add(g->program, &in, NULL, NULL) == GPUMP_OK ? 0 : -1;
}

/* Generates a kernel. Values are made and used within a window of registers, as compilers do. Most of them are live
 * shortly. `live` of them are live through the whole kernel and change now and then. Values that an if makes are not
 * used behind it. */
static gpump_program *generate(uint32_t size, uint32_t live) {
    static generator g;
    const gpump_instruction leave = gpump_instruction_make(GPUMP_OP_EXIT);
    memset(&g, 0, sizeof g);
    g.size = size;
    g.live = live;
    g.registers = size + live;
    g.random = 11;
    if (gpump_program_create(NULL, &g.program) != GPUMP_OK || add_registers(&g)) return NULL;
    for (uint32_t i = 0; i < live; i++) g.seen[i] = i;
    for (uint32_t i = 0; i + 1 < size; i++)
        if (add_instruction(&g, i)) return NULL;
    gpump_program_add(g.program, &leave, NULL, NULL);
    return g.program;
}

static void teardown(void *state) {
    kernel *k = (kernel *)state;
    gpump_liveness_destroy(k->liveness);
    gpump_program_destroy(k->allocated);
    gpump_program_destroy(k->program);
    free(k->points);
    free(k->clobbers);
    free(k);
}

static uint64_t allocate(const gpump_program *program, gpump_program **allocated) {
    gpump_registers_config config;
    gpump_registers_report report;
    gpump_preset(&gpump_registers_component, &config, "kepler", NULL);
    if (gpump_registers_allocate(program, &config, allocated, &report, NULL) != GPUMP_OK) return 0;
    return report.registers + report.spill_loads;
}

static void *setup_live(uint64_t size, uint32_t live) {
    kernel *k = (kernel *)calloc(1, sizeof *k);
    if (!k || live > LIVE_MAX || !(k->program = generate((uint32_t)size, live)) ||
        gpump_program_finish(k->program, NULL) != GPUMP_OK || !allocate(k->program, &k->allocated))
        return NULL;
    k->size = (uint32_t)size;
    k->live = live;
    k->capacity = gpump_program_count(k->allocated).instructions;
    k->points = (gpump_preempt_point *)calloc(k->capacity, sizeof *k->points);
    k->clobbers = (uint8_t *)calloc(size, 1);
    return k->points && k->clobbers ? k : NULL;
}
static void *setup(uint64_t size) { return setup_live(size, LIVE); }
static void *setup_long(uint64_t size) { return setup_live(size, LIVE + (uint32_t)(size / 100)); }

static uint64_t build(void *state, uint64_t operations) {
    uint64_t sum = 0;
    while (operations--) {
        gpump_program *program = generate(((kernel *)state)->size, ((kernel *)state)->live);
        if (!program || gpump_program_finish(program, NULL) != GPUMP_OK) return 0;
        sum += gpump_program_count(program).basic_blocks + gpump_program_count(program).loops;
        gpump_program_destroy(program);
    }
    return sum;
}
static uint64_t liveness(void *state, uint64_t operations) {
    uint64_t sum = 0;
    while (operations--) {
        gpump_liveness *l;
        uint32_t peak = 0;
        if (gpump_liveness_create(((kernel *)state)->program, NULL, &l) != GPUMP_OK) return 0;
        gpump_liveness_pressure(l, NULL, NULL, &peak, NULL);
        sum += peak;
        gpump_liveness_destroy(l);
    }
    return sum;
}
static uint64_t registers(void *state, uint64_t operations) {
    uint64_t sum = 0;
    while (operations--) {
        gpump_program *allocated = NULL;
        sum += allocate(((kernel *)state)->program, &allocated);
        gpump_program_destroy(allocated);
    }
    return sum;
}
static uint64_t place(kernel *k, const gpump_program *allocated) {
    gpump_preempt_points_config config;
    gpump_program *placed = NULL;
    uint32_t count = 0;
    gpump_preset(&gpump_preempt_points_component, &config, "lin", NULL);
    if (gpump_preempt_points_place(allocated, &config, &placed, k->points, k->capacity, &count, NULL) != GPUMP_OK)
        return 0;
    gpump_program_destroy(placed);
    return count;
}
static uint64_t points(void *state, uint64_t operations) {
    uint64_t sum = 0;
    while (operations--) sum += place((kernel *)state, ((kernel *)state)->allocated);
    return sum;
}
static uint64_t form(const gpump_program *program) {
    gpump_regions_config config;
    gpump_regions_report report;
    gpump_program *formed = NULL;
    gpump_preset(&gpump_regions_component, &config, "igpu_short", NULL);
    if (gpump_regions_form(program, &config, &formed, &report, NULL) != GPUMP_OK) return 0;
    gpump_program_destroy(formed);
    return report.sparse + report.shorts + report.moves;
}
static uint64_t regions(void *state, uint64_t operations) {
    uint64_t sum = 0;
    while (operations--) sum += form(((kernel *)state)->program);
    return sum;
}
static uint64_t clobbers(void *state, uint64_t operations) {
    uint64_t sum = 0;
    while (operations--) {
        uint32_t count = 0;
        gpump_clobbers_block(((kernel *)state)->program, ((kernel *)state)->clobbers, &count);
        sum += count;
    }
    return sum;
}
static uint64_t pages(void *state, uint64_t operations) {
    uint64_t sum = 0;
    while (operations--) {
        gpump_page_checks_config config;
        gpump_page_checks_report report;
        gpump_program *checked = NULL;
        gpump_preset(&gpump_page_checks_component, &config, "kim", NULL);
        if (gpump_page_checks_insert(((kernel *)state)->program, &config, &checked, &report, NULL) != GPUMP_OK)
            return 0;
        gpump_program_destroy(checked);
        sum += report.walks + report.predicated + report.plain;
    }
    return sum;
}
static uint64_t all(void *state, uint64_t operations) {
    kernel *k = (kernel *)state;
    uint64_t sum = 0;
    while (operations--) {
        gpump_program *allocated = NULL;
        sum += build(k, 1) + liveness(k, 1) + allocate(k->program, &allocated) + form(k->program);
        if (!allocated) return 0;
        sum += place(k, allocated);
        gpump_program_destroy(allocated);
    }
    return sum;
}

static const uint64_t sizes[] = {1000, 4000, 16000, 64000, 100000, 0}, sizes_long[] = {1000, 4000, 16000, 0};
const micro_case micro_program[] = {
    {"program_build", "a program of n instructions built and checked", NULL, sizes, setup, build, NULL, teardown},
    {"program_liveness", "its live sets and their peak", NULL, sizes, setup, liveness, NULL, teardown},
    {"program_registers", "its registers allocated, at most 255", NULL, sizes, setup, registers, NULL, teardown},
    {"program_points", "its preemption points placed", NULL, sizes, setup, points, NULL, teardown},
    {"program_regions", "its sparse and short regions, live-ins kept", NULL, sizes, setup, regions, NULL, teardown},
    {"program_clobbers", "its instructions that may clobber found", NULL, sizes, setup, clobbers, NULL, teardown},
    {"program_pages", "its page checks put in", NULL, sizes, setup, pages, NULL, teardown},
    {"program_liveness_long", "liveness, n / 100 values alive throughout", NULL, sizes, setup_long, liveness, NULL,
     teardown},
    {"program_registers_long", "registers, n / 100 values alive throughout", NULL, sizes_long, setup_long, registers,
     NULL, teardown},
    {"program_regions_long", "regions, n / 100 values alive throughout", NULL, sizes_long, setup_long, regions, NULL,
     teardown},
    {"program_all", "built, liveness, registers, regions, points", NULL, sizes, setup, all, NULL, teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
