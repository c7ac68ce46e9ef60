/* link: minigpu_core */
/* Lin 3.2.2, 4.3.2, Table 4.2, Figs. 3.1 and 3.5: the crossbar's saturation, the use of network and DRAM by the kernels
 * that we have on the queued memory model, and the effect of doubled latencies on the latency-sensitive kernels.
 * Readings: docs/papers.md, "Memory system". */
#include <stdlib.h>
#include <string.h>

#include "memory/crossbar.h"
#include "reproduce.h"
#include "tools/report.h"

/* ---- L.xbar ---- */

enum { PORTS = 16, DEPTH = 4 };

static void crossbar_saturation(const reproduce_context *context, const char *id, reproduce_result *result) {
    const crossbar_config config = {PORTS, PORTS, DEPTH, CROSSBAR_UNLIMITED, 1, 0};
    const uint64_t cycles = context->is_short ? 100000 : 1000000;
    void *wheel = malloc(events_bytes(2 * PORTS)), *memory = malloc(crossbar_bytes(&config));
    uint64_t random = 1, passed = 0;
    uint32_t i;
    events *e;
    crossbar *x;
    event happened;
    (void)id;
    if (!wheel || !memory) {
        reproduce_failed(result, "out of memory");
        free(wheel);
        free(memory);
        return;
    }
    e = events_init(wheel, 2 * PORTS);
    x = crossbar_init(memory, &config);
    for (i = 0; i < PORTS * DEPTH; i++) crossbar_offer(x, e, 0, 0, i % PORTS, gpump_random_below(&random, PORTS), 1, 0);
    while (events_take(e, cycles, &happened)) {
        crossbar_packet done;
        uint32_t input;
        if (!crossbar_event(x, e, happened.cycle, &happened, &done, &input)) continue;
        passed += happened.cycle > cycles / 10;
        crossbar_offer(x, e, happened.cycle, happened.cycle, input, gpump_random_below(&random, PORTS), 1, 0);
    }
    reproduce_number(result, 100 * (double)passed / (double)(cycles - cycles / 10) / PORTS, 1);
    reproduce_note(result, "packets of one flit, every input always full, %llu network cycles",
                   (unsigned long long)cycles);
    free(wheel);
    free(memory);
}

/* ---- Table 4.2 ---- */

typedef struct subject {
    const char *label, *launch; /* as in the table; the launch file under examples/minigpu/kernels */
} subject;
static const subject subjects[] = {
    {"CFD", "cfd_compute_flux/measure"},
    {"SMV", "spmv/launch"},
    {"KM", "kmeans_point/measure"},
    {"LBM", "lbm/launch"},
    {"BFS", "bfs_1/launch"},
    {"BP", "backprop_layer_forward/launch"},
    {"BT", "btree_find_k/launch"},
    {"HG", "histogram/launch"},
    {"PF", "pathfinder/measure"},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects, FIRST_LATENCY_SENSITIVE = 4, STEP_CYCLES = 1000 };

typedef struct use {
    double throughput, network, dram, l2_miss; /* percent of peak, as in the table */
} use;

static int some_sm_is_done(const machine *m) {
    uint32_t i;
    if (m->kernels[0].next_block < m->kernels[0].blocks) return 0;
    for (i = 0; i < m->sm_count; i++)
        if (!m->sms[i]->resident) return 1;
    return 0;
}

/* Runs a subject with at most `blocks` blocks on an SM (0: no limit). Sets the use of the machine until the first SM
 * has no block left, and the cycles of the whole run. Returns 0, or -1 after reproduce_failed. */
static int run(const subject *s, const char *config, uint32_t blocks, reproduce_result *result, use *u,
               uint64_t *cycles) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    int ended;
    machine_options_default(&options);
    options.gpu = "maxwell_ccbp";
    options.config = config;
    snprintf(path, sizeof path, "%s/kernels/%s.yaml", MINIGPU_SOURCE_DIR, s->launch);
    if (launch_file_read(&launch, path, error)) {
        reproduce_failed(result, "%s", error);
        return -1;
    }
    if (blocks) launch.kernels[0].block_cap = blocks;
    if (!(m = machine_build(&launch, &options, error))) {
        launch_file_free(&launch);
        reproduce_failed(result, "%s", error);
        return -1;
    }
    do ended = machine_run(m, m->now + STEP_CYCLES);
    while (!ended && !some_sm_is_done(m));
    if (ended >= 0 && u) {
        const gpump_meter_config *of = report_meter(m);
        gpump_traffic t;
        gpump_utilisation used;
        uint64_t hits, misses;
        report_traffic(m, 1, &t);
        gpump_meter_utilisation(of, &t, &used, NULL);
        hits = t.l2_load_hits + t.l2_store_hits + t.l2_atomic_hits;
        misses = t.l2_load_misses + t.l2_store_misses + t.l2_atomic_misses;
        u->throughput =
            100 * (double)m->kernels[0].thread_instructions / (double)t.cycles / of->sms / of->schedulers / 32;
        u->network =
            (used.up_q16 > used.down_q16 ? used.up_q16 : used.down_q16) / 655.36 * of->sustainable_permille / 1000;
        u->dram = used.dram_q16 / 655.36;
        u->l2_miss = hits + misses ? 100 * (double)misses / (double)(hits + misses) : 0;
    }
    if (!ended) ended = machine_run(m, NEVER);
    if (ended != 1) reproduce_failed(result, "%s: %s", s->label, m->error);
    *cycles = m->kernels[0].end_cycle;
    machine_free(m);
    launch_file_free(&launch);
    return ended == 1 ? 0 : -1;
}

/* Returns the class for a use of network and DRAM in percent of peak. */
static const char *class_of(double network, double dram) {
    const double a = network / 60, b = dram / 65;
    return (a > b ? a : b) < .75 ? "LS" : a >= b ? "NBI" : "DBI";
}

static void classes(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schedulers[] = {"scheduler=0", "scheduler=1"}, *const names[] = {"GTO", "LRR"};
    char path[512], error[256];
    csv_table table;
    uint32_t i, order, right = 0;
    size_t row;
    (void)id;
    snprintf(path, sizeof path, "%s/lin_table_4_2.csv", context->data_dir);
    if (!csv_read(&table, path, error, sizeof error)) {
        reproduce_failed(result, "%s", error);
        return;
    }
    for (row = 0; row < table.rows; row++) {
        double network = 0, dram = 0;
        csv_number(&table, row, "noc_bw_pct", &network);
        csv_number(&table, row, "dram_bw_pct", &dram);
        right += strcmp(class_of(network, dram), csv_text(&table, row, "type")) == 0;
    }
    reproduce_holds(result, right == table.rows, "%u/%u rows", right, (unsigned)table.rows);
    for (order = 0; order < 2; order++) {
        char line[1024] = "";
        uint32_t same = 0;
        for (i = 0; i < SUBJECTS; i++) {
            use u = {0, 0, 0, 0};
            uint64_t cycles;
            if (run(&subjects[i], schedulers[order], 0, result, &u, &cycles)) {
                csv_free(&table);
                return;
            }
            for (row = 0; row < table.rows && strcmp(csv_text(&table, row, "bench"), subjects[i].label); row++) {}
            if (row == table.rows) continue;
            snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s %.0f/%s %.0f/%s %.0f/%s %.0f/%s %s/%s",
                     i ? ", " : "", subjects[i].label, u.throughput, csv_text(&table, row, "throughput_pct"), u.network,
                     csv_text(&table, row, "noc_bw_pct"), u.dram, csv_text(&table, row, "dram_bw_pct"), u.l2_miss,
                     csv_text(&table, row, "l2_miss_pct"), class_of(u.network, u.dram), csv_text(&table, row, "type"));
            same += strcmp(class_of(u.network, u.dram), csv_text(&table, row, "type")) == 0;
        }
        reproduce_note(
            result,
            "measured/printed under %s, %% of peak: throughput, network, DRAM, L2 misses, class (%u of %u alike): %s",
            names[order], same, (unsigned)SUBJECTS, line);
    }
    csv_free(&table);
}

/* Sets the cycles with doubled latencies of L2 and DRAM relative to those with the printed latencies, on a machine with
 * `config`. Returns 0, or -1 after reproduce_failed. */
static int slowdown(const subject *s, const char *config, uint32_t blocks, reproduce_result *result, double *ratio) {
    char doubled[512];
    uint64_t before, after;
    snprintf(doubled, sizeof doubled, "%s,l2_load_cycles=400,dram_load_cycles=760", config);
    if (run(s, config, blocks, result, NULL, &before) || run(s, doubled, blocks, result, NULL, &after)) return -1;
    *ratio = (double)after / (double)before;
    return 0;
}

#define NO_CORE                                                                                                 \
    "alu_cycles=1,sfu_cycles=1,control_cycles=1,constant_cycles=1,shared_cycles=1,l1_cycles=1,divide_cycles=1," \
    "double_cycles=1,sfu_interval=1,divide_interval=1,double_interval=1,fetch_cycles=1"
#define WIDE "network_flit_bytes=136,l2_port_bytes=128,dram_bytes_per_cycle=64"
/* Possible causes of a small slowdown: machines on which one cause is missing, and the one on which all are. */
static const struct {
    const char *name, *config;
    uint32_t blocks;
} without[] = {
    {"a core without latencies of its own", "scheduler=0," NO_CORE, 0},
    {"network, L2 and DRAM four times as wide", "scheduler=0," WIDE, 0},
    {"one block on an SM", "scheduler=0", 1},
    {"all three", "scheduler=0," NO_CORE "," WIDE, 1},
};
enum { CAUSES = sizeof without / sizeof *without };

static const subject early = {"BFS", "bfs_1/early"};

static void latency(const reproduce_context *context, const char *id, reproduce_result *result) {
    uint32_t i, n;
    double ratio;
    (void)id;
    for (i = FIRST_LATENCY_SENSITIVE; i < SUBJECTS; i++) {
        if (slowdown(&subjects[i], "scheduler=0", 0, result, &ratio)) return;
        reproduce_number(result, ratio, 2);
    }
    reproduce_note(result,
                   "BFS, BP, BT, HG, PF under GTO: cycles with load-to-use totals of 400 and 760 over 200 and 380");
    for (n = 0; n < CAUSES && !context->is_short; n++) {
        char line[128] = "";
        for (i = FIRST_LATENCY_SENSITIVE; i < SUBJECTS; i++) {
            if (slowdown(&subjects[i], without[n].config, without[n].blocks, result, &ratio)) return;
            snprintf(line + strlen(line), sizeof line - strlen(line), "%s%.2f", *line ? "; " : "", ratio);
        }
        reproduce_note(result, "with %s: %s", without[n].name, line);
    }
    if (context->is_short) return;
    /* BFS at a level at which hardly a thread finds anything to do, alone and without the causes. */
    if (slowdown(&early, "scheduler=0", 0, result, &ratio)) return;
    reproduce_note(result, "BFS at an early level: %.2f", ratio);
    if (slowdown(&early, without[CAUSES - 1].config, without[CAUSES - 1].blocks, result, &ratio)) return;
    reproduce_note(result, "the same with all three: %.2f", ratio);
}

/* ---- Figs. 3.1 and 3.5: SPMV against the warps on an SM and the width of the network's wires ---- */

enum { WIDTHS = 3, CAPS = 7, WARPS_PER_BLOCK = 2 };
static const uint32_t widths[WIDTHS] = {16, 32, 64}, caps[CAPS] = {4, 8, 16, 24, 32, 48, 64};

/* One run until the first SM has no block left: warp instructions per cycle of the GPU, and percentages. */
typedef struct point {
    double ipc, hits, network, dram;
    int known;
} point;
/* A series of points. Each point is measured at most once, because the rows share the runs. */
typedef struct curve {
    const char *launch; /* of examples/minigpu/kernels/spmv */
    const char *config; /* options beside the wires; begins with a comma */
    point points[WIDTHS][CAPS];
} curve;
static curve as_printed = {"warps", "", {{{0, 0, 0, 0, 0}}}};
/* Experiments of the full form, with larger L1s, which have more hits to lose. */
static curve large_l1 = {"warps", ",l1_bytes=131072", {{{0, 0, 0, 0, 0}}}};
static curve long_rows = {"warps_long", "", {{{0, 0, 0, 0, 0}}}};

/* Measures a point unless it is known. Returns it, or NULL after reproduce_failed. */
static const point *measure(curve *c, uint32_t width, uint32_t cap, reproduce_result *result) {
    point *p = &c->points[width][cap];
    char path[512], config[128], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    gpump_utilisation used;
    gpump_traffic t;
    machine *m;
    int ended;
    if (p->known) return p;
    machine_options_default(&options);
    snprintf(config, sizeof config, "network_flit_bytes=%u%s", widths[width], c->config);
    snprintf(path, sizeof path, "%s/kernels/spmv/%s.yaml", MINIGPU_SOURCE_DIR, c->launch);
    options.gpu = "maxwell_duet";
    options.config = config;
    if (launch_file_read(&launch, path, error)) {
        reproduce_failed(result, "%s", error);
        return NULL;
    }
    launch.kernels[0].block_cap = caps[cap] / WARPS_PER_BLOCK;
    if (!(m = machine_build(&launch, &options, error))) {
        launch_file_free(&launch);
        reproduce_failed(result, "%s", error);
        return NULL;
    }
    do ended = machine_run(m, m->now + STEP_CYCLES);
    while (!ended && !some_sm_is_done(m));
    report_traffic(m, 1, &t);
    gpump_meter_utilisation(report_meter(m), &t, &used, NULL);
    p->ipc = (double)m->kernels[0].warp_instructions / (double)t.cycles;
    p->hits = 100 * (double)t.l1_load_hits / (double)(t.l1_load_hits + t.l1_load_misses);
    p->network = used.down_q16 / 655.36;
    p->dram = used.dram_q16 / 655.36;
    p->known = ended >= 0;
    if (!p->known) reproduce_failed(result, "%s: %s", path, m->error);
    machine_free(m);
    launch_file_free(&launch);
    return p->known ? p : NULL;
}

/* Returns whether a run measures a cap: all caps, or, in the short form, 4, 16 and 64 warps. */
static int is_taken(const reproduce_context *context, uint32_t cap) {
    return !context->is_short || caps[cap] == 4 || caps[cap] == 16 || caps[cap] == 64;
}

/* Returns the cap of the highest IPC of a width whose points are known. */
static uint32_t peak(const reproduce_context *context, const curve *c, uint32_t width) {
    uint32_t cap, best = 0;
    for (cap = 1; cap < CAPS; cap++)
        if (is_taken(context, cap) && c->points[width][cap].ipc > c->points[width][best].ipc) best = cap;
    return best;
}

/* Measures a width and notes its points. Returns 0, or -1 after reproduce_failed. */
static int sweep(const reproduce_context *context, curve *c, uint32_t width, reproduce_result *result) {
    char line[512] = "";
    uint32_t cap;
    for (cap = 0; cap < CAPS; cap++) {
        const point *p;
        if (!is_taken(context, cap)) continue;
        if (!(p = measure(c, width, cap, result))) return -1;
        snprintf(line + strlen(line), sizeof line - strlen(line), " %u %.2f/%.1f/%.0f/%.0f", caps[cap], p->ipc, p->hits,
                 p->network, p->dram);
    }
    reproduce_note(result, "%u B wires; warps IPC/L1 hits/network/DRAM, %%:%s", widths[width], line);
    return 0;
}

static void hits(const reproduce_context *context, const char *id, reproduce_result *result) {
    const point *p = as_printed.points[0];
    uint32_t cap, last = 0;
    double dram = 0;
    int falls = 1;
    (void)id;
    if (sweep(context, &as_printed, 0, result)) return;
    for (cap = 0; cap < CAPS; cap++) {
        if (!is_taken(context, cap)) continue;
        if (cap && caps[cap] <= 24) falls = falls && p[cap].hits < p[last].hits;
        if (p[cap].dram > dram) dram = p[cap].dram;
        last = cap;
    }
    if (!context->is_short) falls = falls && p[4].hits - p[6].hits <= (p[0].hits - p[3].hits) / 10;
    reproduce_holds(result, falls && dram < 50, "%.1f at 4 warps, %.1f at 16, %.1f at 64; DRAM at most %.0f", p[0].hits,
                    p[2].hits, p[6].hits, dram);
}

static void peak_at(const reproduce_context *context, const char *id, reproduce_result *result) {
    uint32_t best;
    (void)id;
    if (sweep(context, &as_printed, 0, result)) return;
    best = peak(context, &as_printed, 0);
    reproduce_holds(result, caps[best] == 16, "%u", caps[best]);
    if (context->is_short) return;
    reproduce_note(result, "with 25 instead of 5 elements in a row");
    sweep(context, &long_rows, 0, result);
}

/* Returns the percentage of the highest IPC that is lost at 64 warps. The points of the width are known. */
static double lost_at_64(const reproduce_context *context, const curve *c, uint32_t width) {
    return 100 * (1 - c->points[width][CAPS - 1].ipc / c->points[width][peak(context, c, width)].ipc);
}

static void wires(const reproduce_context *context, const char *id, reproduce_result *result) {
    double lost[WIDTHS] = {0, 0, 0};
    uint32_t width;
    (void)id;
    for (width = 0; width < WIDTHS; width += 1 + (context->is_short != 0)) {
        if (sweep(context, &as_printed, width, result)) return;
        lost[width] = lost_at_64(context, &as_printed, width);
    }
    if (context->is_short) {
        reproduce_holds(result, lost[0] > lost[2] && lost[2] <= 3, "%.1f; %.1f", lost[0], lost[2]);
        return;
    }
    reproduce_holds(result, lost[0] > lost[1] && lost[1] > lost[2] && lost[2] <= 3, "%.1f; %.1f; %.1f", lost[0],
                    lost[1], lost[2]);
    for (width = 0; width < WIDTHS; width++) {
        reproduce_note(result, "with an L1 of 128 KB");
        if (sweep(context, &large_l1, width, result)) return;
        reproduce_note(result, "lost %.1f %%", lost_at_64(context, &large_l1, width));
    }
}

const reproduce_row rows_lin_memory[] = {{"L.xbar", crossbar_saturation},
                                         {"L.ccbp.types", classes},
                                         {"L.ccbp.latency", latency},
                                         {"L.shape.hits", hits},
                                         {"L.shape.peak", peak_at},
                                         {"L.shape.wires", wires},
                                         {NULL, NULL}};
