/* link: minigpu_core */
/* Lin 3.2.2, 4.3.2 and Table 4.2: the crossbar's saturation, what the kernels that we have ask of network and DRAM on
 * the queued memory model, and what doubled latencies do to those that are latency-sensitive. Readings: docs/papers.md,
 * "Memory system". */
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

/* Runs a subject with at most `blocks` on an SM (0: as many as fit): use of the machine until the first SM has nothing
 * left, and the cycles of the whole. Returns 0, or -1 after reproduce_failed. */
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

/* The class by network and DRAM use in percent of peak. */
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

/* Cycles with doubled latencies of L2 and DRAM over those with the printed ones, on a machine that `config` changes
 * otherwise, too. Returns 0, or -1 after reproduce_failed. */
static int slowdown(const subject *s, const char *config, uint32_t blocks, reproduce_result *result, double *ratio) {
    char doubled[512];
    uint64_t before, after;
    snprintf(doubled, sizeof doubled, "%s,l2_load_cycles=400,dram_load_cycles=760", config);
    if (run(s, config, blocks, result, NULL, &before) || run(s, doubled, blocks, result, NULL, &after)) return -1;
    *ratio = (double)after / (double)before;
    return 0;
}

/* Why a slowdown is small: the same on machines on which one cause is missing. */
static const struct {
    const char *name, *config;
    uint32_t blocks;
} without[] = {
    {"a core without latencies of its own",
     "scheduler=0,alu_cycles=1,sfu_cycles=1,control_cycles=1,constant_cycles=1,shared_cycles=1,l1_cycles=1,"
     "divide_cycles=1,double_cycles=1,sfu_interval=1,divide_interval=1,double_interval=1,fetch_cycles=1",
     0},
    {"network, L2 and DRAM four times as wide",
     "scheduler=0,network_flit_bytes=136,l2_port_bytes=128,dram_bytes_per_cycle=64", 0},
    {"one block on an SM", "scheduler=0", 1},
};
enum { CAUSES = sizeof without / sizeof *without };

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
}

const reproduce_row rows_lin_memory[] = {
    {"L.xbar", crossbar_saturation}, {"L.ccbp.types", classes}, {"L.ccbp.latency", latency}, {NULL, NULL}};
