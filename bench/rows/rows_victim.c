/* link: minigpu_core */
/* Shieh: storage and candidate sets as calculations; chapter 4 on the mini-GPU
 * (examples/minigpu/tools/victim_experiment.h): every kernel of Table 4.2, request times at random, every policy at the
 * same requests. The rows' values are with switches as the paper models them: a block stalls for its estimate; their
 * notes give what real save traffic makes of it, and switching and draining alone. `minigpu policies` prints the same
 * per kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpump.h"
#include "reproduce.h"
#include "tools/victim_experiment.h"

static void storage(const reproduce_context *context, const char *id, reproduce_result *result) {
    gpump_victim_config config;
    uint64_t sm_bits, gpu_bits;
    (void)context;
    if (gpump_victim_config_preset(&config, "gtx480_shieh") != GPUMP_OK ||
        gpump_victim_table_bits(&config, &sm_bits, &gpu_bits, NULL) != GPUMP_OK) {
        reproduce_failed(result, "no such preset");
        return;
    }
    reproduce_number(result, (double)(strcmp(id, "S.storage.sm") ? gpu_bits : sm_bits) / 8, 0);
}

/* Fig 3.8 and 3.9: eight blocks of 4 units on positions of 9; candidate 1 is preempted. */
static void candidates(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const uint64_t derived[4] = {0x07, 0x1c, 0x70, 0xc0}, updated[4] = {0x03, 0x00, 0x60, 0xc0};
    gpump_gpu gpu;
    gpump_footprint need = {32, 9, 0};
    gpump_victim_geometry geometry;
    gpump_block_view blocks[8];
    uint64_t sets[GPUMP_VICTIM_POSITIONS], taken;
    (void)context;
    (void)id;
    if (gpump_gpu_config_preset(&gpu, "gtx480_shieh") != GPUMP_OK) return;
    gpu.registers = 36;
    if (gpump_victim_geometry_init(&geometry, &gpu, &need, 49152, NULL) != GPUMP_OK) return;
    memset(blocks, 0, sizeof blocks);
    for (uint32_t i = 0; i < 8; i++) {
        blocks[i].kernel = 1;
        blocks[i].register_base = 4 * i;
        blocks[i].registers = 4;
    }
    gpump_victim_candidates(&geometry, blocks, 8, 2, sets, &taken);
    reproduce_holds(result, geometry.positions == 4 && !memcmp(sets, derived, sizeof derived), "sets of Fig 3.8");
    gpump_victim_candidates_update(sets, geometry.positions, sets[1]);
    reproduce_holds(result, !memcmp(sets, updated, sizeof updated), "update of Fig 3.9");
}

/* ---- chapter 4 ---- */

/* Every case once as the paper models switches and once with real save traffic; draining, which saves nothing, has no
 * second case. */
enum {
    CHIMERA,
    DUAL,
    ORACLE,
    SWITCH,
    DRAIN,
    POLICIES,
    LIMITS = 4,
    CASES = (2 * POLICIES - 1) * LIMITS,
    REQUESTS = 54,
    REQUESTS_SHORT = 1
};
static const char *const policy_names[POLICIES] = {"chimera", "dual", "oracle", "switch", "drain"};

/* Sums over the requests of one kernel, for one policy and limit. */
typedef struct cell {
    double violated, warm_violated, in_use, wasted, idle, flush_waste, requests, warm, waits, by[3];
} cell;
/* What one kernel gives, which is a piece of the experiment: doubles only. */
typedef struct sums {
    cell cells[CASES];
    double drain_error[2], drain_relative[2], drain_truth, drain_blocks;
} sums;
static struct {
    int done; /* 1: measured, -1: failed, -2: not by this run */
    char error[512];
    uint32_t requests;
    sums kernels[VICTIM_EXPERIMENT_KERNELS];
} all;

static int case_of(int policy, int limit_us) { return policy * LIMITS + limit_us - 2; }
static int case_with_traffic(int policy, int limit_us) {
    return policy == DRAIN ? case_of(DRAIN, limit_us) : case_of(POLICIES + policy, limit_us);
}

static void add_request(sums *kernel, const victim_outcome *outcomes, const victim_drain_error *error) {
    for (uint32_t c = 0; c < CASES; c++) {
        const victim_outcome *o = &outcomes[c];
        cell *sum = &kernel->cells[c];
        sum->requests++;
        sum->violated += o->violated;
        sum->warm += o->warm;
        sum->warm_violated += o->warm && o->violated;
        sum->wasted += (double)o->wasted;
        sum->idle += (double)o->idle;
        sum->flush_waste += (double)o->flush_waste;
        for (int t = 0; t < 3; t++) sum->by[t] += o->by[t];
        if (o->in_use >= 0) {
            sum->in_use += o->in_use;
            sum->waits++;
        }
    }
    for (int source = 0; source < 2; source++) {
        kernel->drain_error[source] += error->cycles[source];
        kernel->drain_relative[source] += error->relative[source];
    }
    kernel->drain_truth += error->truth;
    kernel->drain_blocks += error->blocks;
}

/* Runs one kernel. Returns 0, or -1 with the reason in all.error. */
static int run_kernel(victim_experiment *e, victim_outcome *outcomes, victim_drain_error *errors) {
    const char *name = victim_experiment_kernel(e->kernel);
    char error[LAUNCH_ERROR_BYTES] = "out of memory";
    uint64_t own;
    if (victim_experiment_run(e, outcomes, errors, &own, error) != 0) {
        snprintf(all.error, sizeof all.error, "%s: %.400s", name, error);
        return -1;
    }
    for (uint32_t r = 0; r < e->requests; r++) {
        for (uint32_t c = 0; c < CASES; c++)
            if (outcomes[(size_t)r * CASES + c].failed) {
                snprintf(all.error, sizeof all.error, "%s: a simulation stopped", name);
                return -1;
            }
        add_request(&all.kernels[e->kernel], &outcomes[(size_t)r * CASES], &errors[r]);
    }
    return 0;
}

static int measure(const reproduce_context *context, reproduce_result *result) {
    enum { VALUES = sizeof(sums) / sizeof(double) };
    char dir[4096], piece[64];
    victim_experiment e;
    victim_outcome *outcomes;
    victim_drain_error *errors;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (all.done == -1) reproduce_failed(result, "%s", all.error);
    if (all.done == -2) reproduce_elsewhere(result);
    if (all.done) return all.done > 0;
    memset(&e, 0, sizeof e);
    snprintf(dir, sizeof dir, "%s/../../examples/minigpu/kernels", context->data_dir);
    e.kernels_dir = dir;
    e.requests = context->is_short ? REQUESTS_SHORT : REQUESTS;
    e.seed = 1;
    e.parallel = processors > 1 ? (uint32_t)processors : 1;
    e.case_count = CASES;
    for (int c = 0; c < CASES; c++) {
        e.cases[c].policy = policy_names[c / LIMITS % POLICIES];
        e.cases[c].limit_cycles = (uint64_t)(2 + c % LIMITS) * 1400;
        e.cases[c].switch_stalls = c < POLICIES * LIMITS;
    }
    outcomes = (victim_outcome *)calloc((size_t)e.requests * CASES, sizeof *outcomes);
    errors = (victim_drain_error *)calloc(e.requests, sizeof *errors);
    all.done = outcomes && errors ? 1 : -1;
    for (e.kernel = 0; e.kernel < VICTIM_EXPERIMENT_KERNELS && all.done != -1; e.kernel++) {
        double *values = (double *)&all.kernels[e.kernel];
        reproduce_progress(context, (double)e.kernel / VICTIM_EXPERIMENT_KERNELS, victim_experiment_kernel(e.kernel));
        snprintf(piece, sizeof piece, "S.%s", victim_experiment_kernel(e.kernel));
        switch (reproduce_piece(context, piece, values, VALUES)) {
        case REPRODUCE_ELSEWHERE: all.done = -2; break;
        case REPRODUCE_KNOWN: break;
        case REPRODUCE_MEASURE:
            if (run_kernel(&e, outcomes, errors)) {
                all.done = -1;
                break;
            }
            reproduce_piece_measured(context, piece, values, VALUES);
        }
    }
    all.requests = e.requests * VICTIM_EXPERIMENT_KERNELS;
    free(outcomes);
    free(errors);
    if (all.done == -1) reproduce_failed(result, "%s", all.error);
    if (all.done == -2) reproduce_elsewhere(result);
    return all.done > 0;
}

/* Violations in % of all requests. */
static double violations(int c, double *low, double *high, double *warm) {
    double violated = 0, n = 0, warm_violated = 0, warm_n = 0, p, z = 1.96, middle, half;
    for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        violated += all.kernels[k].cells[c].violated;
        n += all.kernels[k].cells[c].requests;
        warm_violated += all.kernels[k].cells[c].warm_violated;
        warm_n += all.kernels[k].cells[c].warm;
    }
    p = violated / n;
    middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    if (low) *low = 100 * (middle - half);
    if (high) *high = 100 * (middle + half);
    if (warm) *warm = warm_n > 0 ? 100 * warm_violated / warm_n : 0;
    return 100 * p;
}

/* Wasted instructions in % of what flushing the same blocks wastes: the mean of the kernels, which is what a bar
 * chart's average is. */
static double overhead(int c, int with_idle) {
    double sum = 0;
    int kernels = 0;
    for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        const cell *one = &all.kernels[k].cells[c];
        if (one->flush_waste <= 0) continue;
        sum += 100 * (one->wasted + (with_idle ? one->idle : 0)) / one->flush_waste;
        kernels++;
    }
    return kernels ? sum / kernels : 0;
}

/* The violations of a row and what stands beside it: real save traffic, and for the dual-kernel scheme switching and
 * draining alone. */
static void note_beside(int policy, int us, reproduce_result *result) {
    reproduce_note(result, "with real save traffic %.1f", violations(case_with_traffic(policy, us), NULL, NULL, NULL));
    if (policy == DUAL)
        reproduce_note(result, "switching alone %.1f, with real save traffic %.1f; draining alone %.1f",
                       violations(case_of(SWITCH, us), NULL, NULL, NULL),
                       violations(case_with_traffic(SWITCH, us), NULL, NULL, NULL),
                       violations(case_of(DRAIN, us), NULL, NULL, NULL));
}

static int policy_of(const char *id) {
    for (int p = 0; p < POLICIES; p++)
        if (strstr(id, policy_names[p])) return p;
    return DUAL;
}

static void viol(const reproduce_context *context, const char *id, reproduce_result *result) {
    int us = id[strlen(id) - 1] - '0', c = case_of(policy_of(id), us);
    double low, high, warm, value;
    if (!measure(context, result)) return;
    value = violations(c, &low, &high, &warm);
    reproduce_number(result, value, 2);
    reproduce_note(result, "%u requests, 95%% interval %.1f to %.1f; after warm-up alone %.1f", all.requests, low, high,
                   warm);
    note_beside(policy_of(id), us, result);
}

static void viol_order(const reproduce_context *context, const char *id, reproduce_result *result) {
    (void)id;
    if (!measure(context, result)) return;
    for (int us = 2; us < 2 + LIMITS; us++) {
        double o = violations(case_of(ORACLE, us), NULL, NULL, NULL),
               d = violations(case_of(DUAL, us), NULL, NULL, NULL),
               h = violations(case_of(CHIMERA, us), NULL, NULL, NULL);
        int falls = 1;
        for (int p = 0; p <= ORACLE && us > 2; p++)
            falls &= violations(case_of(p, us), NULL, NULL, NULL) <= violations(case_of(p, us - 1), NULL, NULL, NULL);
        reproduce_holds(result, o <= d && d <= h && falls, "%d us: %.1f %.1f %.1f", us, o, d, h);
    }
    reproduce_note(result, "oracle, dual-kernel, Chimera");
}

static void over(const reproduce_context *context, const char *id, reproduce_result *result) {
    int us = id[strlen(id) - 1] - '0', p = policy_of(id);
    if (!measure(context, result)) return;
    reproduce_number(result, overhead(case_of(p, us), p == CHIMERA), 1);
    if (p == CHIMERA)
        reproduce_note(result, "without the slots that idle until an SM is empty: %.1f", overhead(case_of(p, us), 0));
    reproduce_note(result, "with real save traffic %.1f", overhead(case_with_traffic(p, us), p == CHIMERA));
    if (p == DUAL)
        reproduce_note(result, "switching alone %.1f, draining alone %.1f", overhead(case_of(SWITCH, us), 1),
                       overhead(case_of(DRAIN, us), 1));
    reproduce_note(result, "mean of %d kernels", VICTIM_EXPERIMENT_KERNELS);
}

static void btree(const reproduce_context *context, const char *id, reproduce_result *result) {
    double v[2] = {0, 0}, w[2] = {0, 0}, idle = 0, f[2] = {0, 0}, n = 0;
    (void)id;
    if (!measure(context, result)) return;
    for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        if (strncmp(victim_experiment_kernel((uint32_t)k), "btree", 5)) continue;
        for (int p = 0; p < 2; p++) {
            const cell *one = &all.kernels[k].cells[case_of(p ? DUAL : CHIMERA, 2)];
            v[p] += one->violated;
            w[p] += one->wasted + one->idle;
            if (!p) idle += one->idle;
            f[p] += one->flush_waste;
        }
        n += all.kernels[k].cells[0].requests;
    }
    idle = f[0] > 0 ? 100 * idle / f[0] : 0;
    for (int p = 0; p < 2; p++) w[p] = f[p] > 0 ? 100 * w[p] / f[p] : 0;
    reproduce_note(
        result, "of Chimera's overhead %.1f points are slots that idle until an SM is empty; without them %+.1f points",
        idle, w[1] - (w[0] - idle));
    reproduce_holds(result, v[1] < v[0] && w[1] > w[0], "violations %+.1f points; overhead %+.1f points",
                    100 * (v[1] - v[0]) / n, w[1] - w[0]);
}

static void utilisation(const reproduce_context *context, const char *id, reproduce_result *result) {
    double use[2] = {0, 0}, waits[2] = {0, 0};
    (void)id;
    if (!measure(context, result)) return;
    for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++)
        for (int p = 0; p < 2; p++) {
            const cell *one = &all.kernels[k].cells[case_of(p ? DUAL : CHIMERA, 2)];
            use[p] += one->in_use;
            waits[p] += one->waits;
        }
    for (int p = 0; p < 2; p++) use[p] = waits[p] > 0 ? 100 * use[p] / waits[p] : 0;
    reproduce_number(result, use[0] > 0 ? use[1] / use[0] : 0, 2);
    reproduce_note(result,
                   "mean of registers, shared memory and threads held by blocks that may issue, per cycle from the "
                   "request to the last block's start: Chimera %.0f%%, "
                   "dual-kernel %.0f%%",
                   use[0], use[1]);
}

static void drain_error(const reproduce_context *context, const char *id, reproduce_result *result) {
    double sum = 0, sum_all = 0, sum_relative = 0;
    int fell = 0, counted = 0;
    (void)id;
    if (!measure(context, result)) return;
    for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        double points;
        if (all.kernels[k].drain_blocks <= 0) continue;
        /* Sum of the errors over the sum of the true latencies: the relative error of a block that is about to end
         * grows without bound. */
        points = 100 * (all.kernels[k].drain_error[0] - all.kernels[k].drain_error[1]) / all.kernels[k].drain_truth;
        sum_all += points;
        counted++;
        if (all.kernels[k].cells[case_of(DUAL, 2)].violated >= all.kernels[k].cells[case_of(CHIMERA, 2)].violated)
            continue;
        sum += points;
        sum_relative +=
            100 * (all.kernels[k].drain_relative[0] - all.kernels[k].drain_relative[1]) / all.kernels[k].drain_blocks;
        fell++;
    }
    if (!fell) {
        reproduce_failed(result, "no kernel's violations fell");
        return;
    }
    reproduce_number(result, sum / fell, 1);
    reproduce_note(
        result,
        "%d kernels whose violations fell; over all %d kernels %.1f; as the mean of every block's relative error %.1f",
        fell, counted, counted ? sum_all / counted : 0, sum_relative / fell);
}

const reproduce_row rows_victim[] = {{"S.storage.sm", storage},      {"S.storage.gpu", storage},
                                     {"S.candidates", candidates},   REPRODUCE_DIVIDED,
                                     {"S.viol.chimera.2", viol},     {"S.viol.chimera.3", viol},
                                     {"S.viol.chimera.4", viol},     {"S.viol.chimera.5", viol},
                                     {"S.viol.dual.2", viol},        {"S.viol.dual.3", viol},
                                     {"S.viol.dual.4", viol},        {"S.viol.dual.5", viol},
                                     {"S.viol.oracle.2", viol},      {"S.viol.order", viol_order},
                                     {"S.overhead.chimera.2", over}, {"S.overhead.chimera.3", over},
                                     {"S.overhead.chimera.4", over}, {"S.overhead.chimera.5", over},
                                     {"S.overhead.dual.2", over},    {"S.overhead.dual.3", over},
                                     {"S.overhead.dual.4", over},    {"S.overhead.dual.5", over},
                                     {"S.overhead.btree", btree},    {"S.utilisation", utilisation},
                                     {"S.drainerr", drain_error},    {NULL, NULL}};
