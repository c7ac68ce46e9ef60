/* bench/region_cuts [--short] [--kernel NAME]: what cuts idempotent regions, as CSV. Every kernel of
 * examples/minigpu/kernels on igpu4, with one kind of cut left out at a time, then with several.
 *
 * - all: as built
 * - no-barriers: none behind barriers
 * - no-atomics: none behind atomics, volatile accesses and fences
 * - no-loops: no second one on a path round a loop
 * - no-divergence: none where lanes wait while others cross a boundary
 * - thread: antidependences of each thread by itself, as in the paper, and then none for waiting lanes
 * - exact-aliases: antidependences between instructions that meet in this run only
 * - no-forced: neither barriers nor atomics
 * - paper: no-forced and thread, as the paper's text describes
 * - paper-exact: paper with exact aliases
 * - published: paper, and antidependences through global memory only, as the published lengths suggest; unsafe
 * - run: no boundaries in the program. A region ends only where the run overwrites what its warp has read: a lower
 *   bound for every compiler
 * - run-thread: as run, where a thread overwrites what it has read itself
 *
 * Columns: `length` is the median of instructions of a region that ran, `mean` their mean, `live` the median of
 * registers at crossed boundaries. `instructions` and `cycles` are ratios to the kernel without regions: of boundaries
 * and moves alone, with all live-ins stored and loaded, with changed ones stored. Regions without one of their cuts are
 * wrong where a warp restarts; no warp restarts here. */
#define _GNU_SOURCE
#include "studies/region_runs.h"

#include "output.h"
#include "progress.h"

/* ---- what a run overwrites ---- */

/* For each place that a warp (or thread) has read: the instructions that read it, and when. Places of blocks that have
 * ended are reused. */
typedef struct cuts_place {
    uint64_t key, life;  /* word and warp or thread; life of the block, 0: free */
    uint64_t epoch;      /* of the warp at the last access */
    uint64_t readers[4]; /* instructions that have read it since the warp began */
    uint8_t read;        /* in this epoch, before it was written */
    uint8_t written;
} cuts_place;

enum { PLACES = 1 << 21, LINES = 4096, WARPS = 1 << 14, READERS = 256 };
typedef struct watcher {
    cuts_place *places;
    uint8_t *meets;         /* [reader][line]: 1: the line's store has overwritten what the reader has read */
    uint16_t reader[LINES]; /* of a load's line: its number, from 1 */
    uint32_t readers;
    uint64_t epoch[WARPS]; /* of each of the machine's warps */
    int by_thread, ends_regions, full;
} watcher;
static watcher watching;

static cuts_place *find_place(const machine *m, const in_flight *r, uint32_t lane, uint64_t word, uint32_t space) {
    const uint64_t life = m->blocks[r->block].life;
    const uint64_t who =
        watching.by_thread ? (uint64_t)m->warps[r->warp].index * LANES + lane : m->warps[r->warp].index;
    const uint64_t key = (word << 2 | space) << 11 | who, mixed = (key ^ life << 40) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(mixed >> 43), tries;
    cuts_place *free_place = NULL;
    for (tries = 0; tries < 4096; tries++, at = (at + 1) & (PLACES - 1)) {
        cuts_place *p = &watching.places[at];
        uint32_t b;
        if (p->life == life && p->key == key) return p;
        if (!p->life) {
            if (!free_place) free_place = p;
            break;
        }
        for (b = 0; !free_place && b < m->block_count && m->blocks[b].life != p->life; b++) {}
        if (!free_place && b == m->block_count) free_place = p; /* the place's block has ended */
    }
    if (!free_place) {
        watching.full = 1;
        return NULL;
    }
    memset(free_place, 0, sizeof *free_place);
    free_place->key = key;
    free_place->life = life;
    return free_place;
}

static void on_access(machine *m, const in_flight *r) {
    const instruction *in = r->instruction;
    const uint32_t words = (instruction_access_bytes(in) + 3) / 4, line = in->line < LINES ? in->line : 0;
    const int writes = in->opcode != OPCODE_LD;
    uint64_t *epoch = &watching.epoch[r->warp];
    uint32_t lane, n, k;
    int clobbers = 0;
    if (in->opcode == OPCODE_TEX || in->space == SPACE_PARAM || in->space == SPACE_CONST || in->space == SPACE_LOCAL)
        return;
    if (!writes && line && !watching.reader[line])
        watching.reader[line] = (uint16_t)(watching.readers < READERS - 1 ? ++watching.readers : READERS - 1);
    for (lane = 0; lane < LANES; lane++) {
        for (n = 0; n < words && (r->active >> lane & 1); n++) {
            cuts_place *p = find_place(m, r, lane, r->addresses[lane] / 4 + n, in->space == SPACE_SHARED);
            if (!p) return;
            if (p->epoch != *epoch) p->read = p->written = 0;
            p->epoch = *epoch;
            if (in->opcode != OPCODE_ST && !p->written) p->read = 1; /* loads and atomics */
            if (!writes) p->readers[watching.reader[line] / 64] |= UINT64_C(1) << watching.reader[line] % 64;
            if (!writes) continue;
            clobbers |= p->read && in->opcode == OPCODE_ST;
            p->written = 1;
            for (k = 0; watching.meets && k < READERS; k++)
                if (p->readers[k / 64] >> k % 64 & 1) watching.meets[k * LINES + line] = 1;
        }
    }
    if (!clobbers || !watching.ends_regions) return;
    region_log_add(m->region_log, m->blocks[r->block].kernel, r->pc, m->warps[r->warp].region_instructions);
    m->warps[r->warp].region_instructions = 0;
    ++*epoch;
    for (lane = 0; lane < LANES; lane++) /* the store itself begins the next region */
        for (n = 0; n < words && (r->active >> lane & 1); n++) {
            cuts_place *p = find_place(m, r, lane, r->addresses[lane] / 4 + n, in->space == SPACE_SHARED);
            if (!p) return;
            p->epoch = *epoch;
            p->read = 0;
            p->written = 1;
        }
}

static int run_observed(machine *m, void *user) {
    (void)user;
    memset(watching.places, 0, PLACES * sizeof *watching.places);
    memset(watching.epoch, 0, sizeof watching.epoch);
    m->on_access = on_access;
    return m->warp_count <= WARPS && m->kernels[0].program->count < LINES ? machine_run(m, NEVER) : -1;
}

/* ---- aliases of one run ---- */

static const kernel_program *asked; /* the kernel of the instruction numbers */
static int met(void *user, uint32_t read, uint32_t write) {
    const uint32_t from = asked->instructions[read].line, to = asked->instructions[write].line;
    (void)user;
    if (from >= LINES || to >= LINES || asked->instructions[read].opcode != OPCODE_LD) return 1;
    return watching.reader[from] != 0 && watching.meets[watching.reader[from] * LINES + to] != 0;
}

/* ---- the ways ---- */

typedef struct cut_way {
    const char *name;
    uint32_t without;
    int by_thread, exact, bound, published;
} cut_way;
static const cut_way ways[] = {
    {"all", 0, 0, 0, 0, 0},
    {"no-barriers", GPUMP_REGIONS_WITHOUT_BARRIERS, 0, 0, 0, 0},
    {"no-atomics", GPUMP_REGIONS_WITHOUT_ATOMICS, 0, 0, 0, 0},
    {"no-loops", GPUMP_REGIONS_WITHOUT_LOOPS, 0, 0, 0, 0},
    {"no-divergence", GPUMP_REGIONS_WITHOUT_DIVERGENCE, 0, 0, 0, 0},
    {"thread", 0, 1, 0, 0, 0},
    {"exact-aliases", 0, 0, 1, 0, 0},
    {"no-forced", GPUMP_REGIONS_WITHOUT_BARRIERS | GPUMP_REGIONS_WITHOUT_ATOMICS, 0, 0, 0, 0},
    {"paper", GPUMP_REGIONS_WITHOUT_BARRIERS | GPUMP_REGIONS_WITHOUT_ATOMICS, 1, 0, 0, 0},
    {"paper-exact", GPUMP_REGIONS_WITHOUT_BARRIERS | GPUMP_REGIONS_WITHOUT_ATOMICS, 1, 1, 0, 0},
    {"published", GPUMP_REGIONS_WITHOUT_BARRIERS | GPUMP_REGIONS_WITHOUT_ATOMICS, 1, 0, 0, 1},
    {"run", 0, 0, 0, 1, 0},
    {"run-thread", 0, 1, 0, 1, 0},
};
enum { CUT_WAYS = sizeof ways / sizeof *ways, COSTS = 3 };

typedef struct cut_result {
    int ran;
    double length, mean, live, instructions[COSTS], cycles[COSTS];
} cut_result;
static cut_result results[CUT_WAYS][REGION_KERNELS];
static char names[REGION_KERNELS][64];

static void fail(const char *kernel, const char *what) {
    fprintf(stderr, "region_cuts: %s: %s\n", kernel, what);
    exit(1);
}

/* Sets the kernel as written, for line numbers. */
static void ask_about(const char *name, launch_file *launch, ptx_module *module, int is_short) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    ptx_error wrong;
    snprintf(path, sizeof path, "%s/kernels/%.63s/%s.yaml", MINIGPU_SOURCE_DIR, name, is_short ? "small" : "launch");
    if (launch_file_read(launch, path, error)) fail(name, error);
    if (ptx_read_file(launch->kernels[0].ptx_path, module, &wrong)) fail(name, wrong.text);
    asked = ptx_find_kernel(module, launch->kernels[0].name);
    if (!asked) fail(name, "not in its file");
}

static void measure(uint32_t kernel, int is_short) {
    const char *name = names[kernel];
    static const uint32_t spilling[COSTS] = {SPILLING_NONE, SPILLING_ALL, SPILLING_CHANGED};
    launch_file launch;
    ptx_module module;
    region_way how;
    region_run base, run;
    uint32_t w, c;
    ask_about(name, &launch, &module, is_short);
    memset(&how, 0, sizeof how);
    region_run_kernel(name, is_short, &how, &base);
    if (base.error[0]) fail(name, base.error);
    for (w = 0; w < CUT_WAYS; w++) {
        gpump_regions_config config;
        cut_result *r = &results[w][kernel];
        memset(&how, 0, sizeof how);
        watching.by_thread = ways[w].by_thread;
        watching.ends_regions = ways[w].bound;
        watching.full = 0;
        if (ways[w].exact) {
            memset(watching.meets, 0, READERS * LINES);
            memset(watching.reader, 0, sizeof watching.reader);
            watching.readers = 0;
            how.run = run_observed;
            region_run_kernel(name, is_short, &how, &run);
            if (run.error[0] || watching.full) fail(name, watching.full ? "too many places" : run.error);
        }
        if (gpump_preset(&gpump_regions_component, &config, "igpu", NULL) != GPUMP_OK) fail(name, "no preset");
        config.without = ways[w].without;
        config.unit = ways[w].by_thread ? GPUMP_UNIT_THREAD : GPUMP_UNIT_WARP;
        config.may_clobber = ways[w].exact ? met : NULL;
        for (c = 0; c < (ways[w].bound ? 1 : COSTS); c++) {
            how.regions = ways[w].bound ? REGIONS_NONE : REGIONS_SPARSE;
            how.spilling = spilling[c];
            how.config = ways[w].published ? NULL : &config;
            how.published = ways[w].published;
            how.lengths = c == 0;
            how.run = ways[w].bound ? run_observed : NULL;
            region_run_kernel(name, is_short, &how, &run);
            if (run.error[0] || watching.full) fail(name, watching.full ? "too many places" : run.error);
            if (c == 0) {
                r->length = run.median_length;
                r->mean = run.mean_length;
                r->live = run.median_live;
            }
            r->instructions[c] = (double)run.instructions / (double)base.instructions;
            r->cycles[c] = (double)run.cycles / (double)base.cycles;
        }
        r->ran = 1;
        printf("%s,%s,%g,%.1f,", ways[w].name, name, r->length, r->mean);
        if (ways[w].bound)
            printf(",,,,,,\n");
        else
            printf("%g,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", r->live, r->instructions[0], r->instructions[1],
                   r->instructions[2], r->cycles[0], r->cycles[1], r->cycles[2]);
        fflush(stdout);
    }
    ptx_free(&module);
    launch_file_free(&launch);
}

/* Prints medians of lengths and registers, and geometric means of ratios. */
static void summarize(uint32_t kernels) {
    uint32_t w, k, c;
    for (w = 0; w < CUT_WAYS; w++) {
        double lengths[REGION_KERNELS], means[REGION_KERNELS], live[REGION_KERNELS], sums[2 * COSTS];
        uint32_t n = 0;
        memset(sums, 0, sizeof sums);
        for (k = 0; k < kernels; k++) {
            const cut_result *r = &results[w][k];
            if (!r->ran) continue;
            lengths[n] = r->length;
            means[n] = r->mean;
            live[n++] = r->live;
            for (c = 0; c < COSTS && !ways[w].bound; c++) {
                sums[c] += log(r->instructions[c]);
                sums[COSTS + c] += log(r->cycles[c]);
            }
        }
        if (!n) continue;
        printf("%s,(all),%g,%g,", ways[w].name, region_median(lengths, n), region_median(means, n));
        if (ways[w].bound)
            printf(",,,,,,\n");
        else {
            printf("%g", region_median(live, n));
            for (c = 0; c < 2 * COSTS; c++) printf(",%.3f", exp(sums[c] / n));
            printf("\n");
        }
    }
}

int main(int argc, char **argv) {
    const char *only = NULL;
    uint32_t kernels = region_kernels(names), k;
    progress shown;
    int is_short = 0, i;
    for (i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--short"))
            is_short = 1;
        else if (!strcmp(argv[i], "--kernel") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--help")) {
            puts("usage: region_cuts [--short] [--kernel NAME]: what cuts idempotent regions, as CSV");
            return output_status(0, "region_cuts");
        } else {
            fprintf(stderr, "usage: region_cuts [--short] [--kernel NAME]\n");
            return 2;
        }
    }
    for (k = 0; only && k < kernels && strcmp(only, names[k]); k++) {}
    if (only && k == kernels) {
        fprintf(stderr, "region_cuts: %s: there is no kernel of that name: examples/minigpu/kernels has them\n", only);
        return 2;
    }
    watching.places = (cuts_place *)calloc(PLACES, sizeof *watching.places);
    watching.meets = (uint8_t *)calloc(READERS, LINES);
    if (!watching.places || !watching.meets) fail("all", "out of memory");
    printf("cuts,kernel,length,mean,live,instructions,instructions_all,instructions_changed,cycles,cycles_all,cycles_"
           "changed\n");
    progress_begin(&shown, "region_cuts");
    for (k = 0; k < kernels; k++)
        if (!only || !strcmp(only, names[k])) {
            progress_show(&shown, (double)k / kernels, names[k]);
            measure(k, is_short);
        }
    progress_end(&shown);
    summarize(kernels);
    free(watching.places);
    free(watching.meets);
    return output_status(0, "region_cuts");
}
