/* link: minigpu_core */
/* Shieh: storage and candidate sets as calculations; chapter 4 on the mini-GPU
 * (examples/minigpu/tools/victim_experiment.h): every kernel of Table 4.2, request times at random, every policy at the
 * same requests. The rows' values have switches as in the paper's model: a block stalls for its estimate. Their notes
 * have the results with real save traffic, and those of switching and draining alone. `minigpu policies` prints the
 * same per kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpump_once.h"
#include "reproduce.h"
#include "sorted.h"
#include "tools/victim_experiment.h"

static void storage(const reproduce_context *context, const char *id, reproduce_result *result) {
    gpump_victim_config config;
    gpump_victim_storage parts;
    (void)context;
    if (gpump_preset(&gpump_victim_component, &config, "gtx480_shieh", NULL) != GPUMP_OK ||
        gpump_table_bits(&gpump_victim_component, &config, &parts, NULL) != GPUMP_OK) {
        reproduce_failed(result, "no such preset");
        return;
    }
    reproduce_number(result, (double)(strcmp(id, "S.storage.sm") ? parts.gpu_bits : parts.sm_bits) / 8, 0);
}

/* Figs 3.8 and 3.9: eight blocks of 4 units on positions of 9; candidate 1 is preempted. */
static void candidates(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const uint64_t derived[4] = {0x07, 0x1c, 0x70, 0xc0}, updated[4] = {0x03, 0x00, 0x60, 0xc0};
    gpump_gpu gpu;
    gpump_footprint need = {32, 9, 0};
    gpump_victim_geometry geometry;
    gpump_block_view blocks[8];
    uint64_t sets[GPUMP_VICTIM_POSITIONS], taken;
    (void)context;
    (void)id;
    if (gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL) != GPUMP_OK) return;
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
    gpumpi_victim_candidates_update(sets, geometry.positions, sets[1]);
    reproduce_holds(result, !memcmp(sets, updated, sizeof updated), "update of Fig 3.9");
}

/* ---- chapter 4 ---- */

/* The cases of every request. Rows take the cases in which a switch stalls as in the paper's model; in the others
 * contexts pass the memory path. An oracle that decides once knows only drain times (the paper's); an oracle that
 * decides again knows the outcome of its decisions. */
enum {
    CHIMERA,
    DUAL,
    ORACLE,
    LARGER,
    ORACLE_ONCE,
    CHIMERA_PLUS,
    SWITCH,
    DRAIN,
    CHIMERA_TRAFFIC,
    DUAL_TRAFFIC,
    POLICIES
};
enum { LIMITS = 4, CASES = 27, REQUESTS = 20, REQUESTS_SHORT = 1 };
static const struct {
    const char *name;
    uint32_t traffic, decides_once;
    const char *limits; /* us */
} policies[POLICIES] = {{"chimera", 0, 0, "2345"},     {"dual", 0, 0, "2345"},   {"oracle", 0, 0, "2345"},
                        {"dual-larger", 0, 0, "2345"}, {"oracle", 0, 1, "2345"}, {"chimera+", 0, 0, "2"},
                        {"switch", 0, 0, "2"},         {"drain", 0, 0, "2"},     {"chimera", 1, 0, "24"},
                        {"dual", 1, 0, "24"}};

/* Sums over the requests of one kernel, for one policy and limit. */
typedef struct cell {
    double violated, warm_violated, in_use, wasted, idle, flush_waste, requests, warm, waits, by[3];
} cell;
/* The results of one kernel, which is a piece of the experiment: doubles only. */
typedef struct sums {
    cell cells[CASES];
    double drain_error[2], drain_relative[2], drain_truth, drain_blocks;
} sums;
static struct {
    int done; /* 1: measured, -1: failed, -2: another run measures it */
    char error[512];
    uint32_t requests;
    sums kernels[VICTIM_EXPERIMENT_KERNELS];
} all;

/* Returns the case of a policy and a limit, or -1. */
static int case_of(int policy, int limit_us) {
    int c = 0;
    for (int p = 0; p < POLICIES; p++)
        for (const char *limit = policies[p].limits; *limit; limit++, c++)
            if (p == policy && *limit == '0' + limit_us) return c;
    return -1;
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
    e.requests = context->requests ? context->requests : context->is_short ? REQUESTS_SHORT : REQUESTS;
    e.seed = 1;
    e.parallel = processors > 1 ? (uint32_t)processors : 1;
    e.case_count = CASES;
    for (int p = 0; p < POLICIES; p++)
        for (const char *limit = policies[p].limits; *limit; limit++) {
            victim_case *one = &e.cases[case_of(p, *limit - '0')];
            one->policy = policies[p].name;
            one->limit_cycles = (uint64_t)(*limit - '0') * 1400;
            one->switch_stalls = !policies[p].traffic;
            one->decides_once = policies[p].decides_once;
        }
    outcomes = (victim_outcome *)calloc((size_t)e.requests * CASES, sizeof *outcomes);
    errors = (victim_drain_error *)calloc(e.requests, sizeof *errors);
    all.done = outcomes && errors ? 1 : -1;
    for (e.kernel = context->is_short ? 2 : 0; e.kernel < VICTIM_EXPERIMENT_KERNELS && all.done != -1;
         e.kernel += context->is_short ? 3 : 1) { /* short: a third of the kernels, with srad, b+tree and bfs */
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
    for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) all.requests += (uint32_t)all.kernels[k].cells[0].requests;
    free(outcomes);
    free(errors);
    if (all.done == -1) reproduce_failed(result, "%s", all.error);
    if (all.done == -2) reproduce_elsewhere(result);
    return all.done > 0;
}

/* Returns the violations in percent of all requests. */
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

/* Sets the wasted instructions of each kernel in percent of the waste of flushing the same blocks. Returns the number
 * of kernels that have any. */
static int overheads(int c, int with_idle, double values[VICTIM_EXPERIMENT_KERNELS]) {
    int kernels = 0;
    for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        const cell *one = &all.kernels[k].cells[c];
        if (one->flush_waste <= 0) continue;
        values[kernels++] = 100 * (one->wasted + (with_idle ? one->idle : 0)) / one->flush_waste;
    }
    return kernels;
}

/* The mean of all kernels, as the average of a bar chart. */
static double overhead(int c, int with_idle) {
    double values[VICTIM_EXPERIMENT_KERNELS], sum = 0;
    const int kernels = overheads(c, with_idle, values);
    for (int k = 0; k < kernels; k++) sum += values[k];
    return kernels ? sum / kernels : 0;
}

/* Reports the 95% interval of that mean, by drawing the kernels again. */
static void overhead_interval(int c, reproduce_result *result) {
    enum { DRAWS = 2000 };
    static double means[DRAWS];
    double values[VICTIM_EXPERIMENT_KERNELS];
    const int kernels = overheads(c, 0, values);
    uint64_t random = 1;
    if (!kernels) return;
    for (int i = 0; i < DRAWS; i++) {
        double sum = 0;
        for (int k = 0; k < kernels; k++) sum += values[gpump_random_below(&random, (uint32_t)kernels)];
        means[i] = sum / kernels;
    }
    sorted_sort(means, DRAWS);
    reproduce_interval(result, means[DRAWS / 40], means[DRAWS - 1 - DRAWS / 40], 1);
    reproduce_note(result, "mean of %d kernels", kernels);
}

static double plain_violations(int policy, int us) { return violations(case_of(policy, us), NULL, NULL, NULL); }

static int policy_of(const char *id) { return strstr(id, "chimera") ? CHIMERA : strstr(id, "oracle") ? ORACLE : DUAL; }

/* Notes the violations by application, as in the paper's figure. Kernels of one application are adjacent. */
static void note_applications(int c, reproduce_result *result) {
    static const struct {
        const char *name;
        int kernels;
    } applications[] = {{"pathfinder", 1}, {"hotspot", 1}, {"streamcluster", 1}, {"dwt2d", 2},
                        {"kmeans", 2},     {"stencil", 1}, {"srad", 2},          {"b+tree", 2},
                        {"nw", 2},         {"bfs", 2},     {"backprop", 2},      {"heartwall", 1}};
    char text[300];
    size_t length = 0;
    int k = 0;
    for (size_t a = 0; a < sizeof applications / sizeof *applications; a++) {
        double violated = 0, n = 0;
        for (int end = k + applications[a].kernels; k < end; k++) {
            violated += all.kernels[k].cells[c].violated;
            n += all.kernels[k].cells[c].requests;
        }
        if (violated > 0)
            length += (size_t)snprintf(text + length, sizeof text - length, " %s %.0f", applications[a].name,
                                       100 * violated / n);
    }
    reproduce_note(result, "by application:%s%s", length ? text : " none", length ? ", others 0" : "");
}

static void viol(const reproduce_context *context, const char *id, reproduce_result *result) {
    const int us = id[strlen(id) - 1] - '0', policy = policy_of(id), c = case_of(policy, us);
    double low, high, warm, value;
    if (!measure(context, result)) return;
    value = violations(policy == ORACLE ? case_of(ORACLE_ONCE, us) : c, &low, &high, &warm);
    reproduce_number(result, value, 2);
    reproduce_interval(result, low, high, 1);
    reproduce_note(result, "%u requests; after warm-up alone %.1f", all.requests, warm);
    note_applications(c, result);
    if (policy != ORACLE && case_of(policy == DUAL ? DUAL_TRAFFIC : CHIMERA_TRAFFIC, us) >= 0)
        reproduce_note(result, "with real save traffic %.1f",
                       plain_violations(policy == DUAL ? DUAL_TRAFFIC : CHIMERA_TRAFFIC, us));
    if (policy == DUAL)
        reproduce_note(result, "with the larger CPI of the two sources (policy dual-larger) %.1f",
                       plain_violations(LARGER, us));
    if (policy == DUAL && us == 2)
        reproduce_note(result, "switching alone %.1f, draining alone %.1f", plain_violations(SWITCH, us),
                       plain_violations(DRAIN, us));
    if (policy == ORACLE)
        reproduce_note(
            result,
            "an oracle that knows how long drains and switches take and decides once (4.1); one that decides "
            "again where that came out late: %.2f",
            plain_violations(ORACLE, us));
}

static void viol_order(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const int order[] = {ORACLE_ONCE, DUAL, CHIMERA};
    (void)id;
    if (!measure(context, result)) return;
    for (int us = 2; us < 2 + LIMITS; us++) {
        double o = plain_violations(ORACLE_ONCE, us), d = plain_violations(DUAL, us), h = plain_violations(CHIMERA, us);
        int falls = 1;
        for (int p = 0; p < 3 && us > 2; p++)
            falls &= plain_violations(order[p], us) <= plain_violations(order[p], us - 1);
        reproduce_holds(result, o <= d && d <= h && falls, "%d us: %.1f %.1f %.1f", us, o, d, h);
        reproduce_note(result, "%d us: oracle that decides again %.1f, larger CPI %.1f", us,
                       plain_violations(ORACLE, us), plain_violations(LARGER, us));
    }
    reproduce_note(result, "oracle, dual-kernel, Chimera");
}

static void over(const reproduce_context *context, const char *id, reproduce_result *result) {
    const int us = id[strlen(id) - 1] - '0', p = policy_of(id), traffic = p == DUAL ? DUAL_TRAFFIC : CHIMERA_TRAFFIC;
    if (!measure(context, result)) return;
    reproduce_number(result, overhead(case_of(p, us), 0), 1);
    overhead_interval(case_of(p, us), result);
    if (p == CHIMERA)
        reproduce_reading(result, overhead(case_of(p, us), 1), 1,
                          "with the slots that idle until an SM is empty, which Chimera charges its drains with");
    if (case_of(traffic, us) >= 0)
        reproduce_note(result, "with real save traffic %.1f", overhead(case_of(traffic, us), 0));
    if (p == DUAL) reproduce_note(result, "with the larger CPI %.1f", overhead(case_of(LARGER, us), 0));
    if (p == DUAL && us == 2)
        reproduce_note(result, "switching alone %.1f, draining alone %.1f", overhead(case_of(SWITCH, us), 0),
                       overhead(case_of(DRAIN, us), 0));
}

/* Fig 4.5c: the techniques of the victims. Both schemes choose alike when no share differs by more than ten points. */
static void techniques(const reproduce_context *context, const char *id, reproduce_result *result) {
    double share[2][LIMITS][3], apart = 0;
    (void)id;
    if (!measure(context, result)) return;
    for (int p = 0; p < 2; p++)
        for (int l = 0; l < LIMITS; l++) {
            double blocks = 0;
            for (int t = 0; t < 3; t++) {
                share[p][l][t] = 0;
                for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++)
                    share[p][l][t] += all.kernels[k].cells[case_of(p, 2 + l)].by[t];
                blocks += share[p][l][t];
            }
            for (int t = 0; t < 3; t++) share[p][l][t] *= 100 / blocks;
        }
    for (int p = 0; p < 2; p++)
        reproduce_holds(result,
                        share[p][3][GPUMP_TECHNIQUE_FLUSH] < share[p][0][GPUMP_TECHNIQUE_FLUSH] &&
                            share[p][3][GPUMP_TECHNIQUE_DRAIN] > share[p][0][GPUMP_TECHNIQUE_DRAIN],
                        "%s: flushing %.0f to %.0f, draining %.0f to %.0f", policies[p].name,
                        share[p][0][GPUMP_TECHNIQUE_FLUSH], share[p][3][GPUMP_TECHNIQUE_FLUSH],
                        share[p][0][GPUMP_TECHNIQUE_DRAIN], share[p][3][GPUMP_TECHNIQUE_DRAIN]);
    for (int t = 0; t < 3; t++) apart = fmax(apart, fabs(share[0][0][t] - share[1][0][t]));
    reproduce_holds(result, apart <= 10, "at 2 us at most %.0f points apart", apart);
    reproduce_note(result, "%% of all victims, at 2 and at 5 us; alike: at most 10 points apart");
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
            w[p] += one->wasted;
            if (!p) idle += one->idle;
            f[p] += one->flush_waste;
        }
        n += all.kernels[k].cells[0].requests;
    }
    idle = f[0] > 0 ? 100 * idle / f[0] : 0;
    for (int p = 0; p < 2; p++) w[p] = f[p] > 0 ? 100 * w[p] / f[p] : 0;
    reproduce_holds(result, v[1] < v[0] && w[1] > w[0], "violations %+.1f points; wasted instructions %+.1f points",
                    100 * (v[1] - v[0]) / n, w[1] - w[0]);
    reproduce_revised(result);
    reproduce_note(result,
                   "with Chimera's slots that idle until an SM is empty, which are no instructions, %+.1f points",
                   w[1] - (w[0] + idle));
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

/* Returns by how many points of the true latency the estimate by smaller deviation is closer than that by a block's own
 * CPI. The measure is the sum of the errors over the sum of the latencies, because the relative error of a block that
 * is about to end has no bound. */
static double gain(const sums *kernel) {
    return 100 * (kernel->drain_error[0] - kernel->drain_error[1]) / kernel->drain_truth;
}

static void drain_error(const reproduce_context *context, const char *id, reproduce_result *result) {
    double sum = 0, sum_all = 0, sum_named = 0;
    int fell = 0, counted = 0, named = 0;
    (void)id;
    if (!measure(context, result)) return;
    for (int k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        const sums *kernel = &all.kernels[k];
        const char *name = victim_experiment_kernel((uint32_t)k);
        if (kernel->drain_blocks <= 0) continue;
        sum_all += gain(kernel);
        counted++;
        if (!strncmp(name, "btree", 5) || !strncmp(name, "srad", 4)) sum_named += gain(kernel), named++;
        if (kernel->cells[case_of(CHIMERA_PLUS, 2)].violated >= kernel->cells[case_of(CHIMERA, 2)].violated) continue;
        reproduce_note(result, "%s %.1f", name, gain(kernel));
        sum += gain(kernel);
        fell++;
    }
    if (!fell || !named) {
        reproduce_failed(result, "no kernel has fewer violations under Chimera+ than under Chimera");
        return;
    }
    reproduce_number(result, sum / fell, 1);
    reproduce_revised(result);
    reproduce_reading(result, sum_named / named, 1, "b+tree and srad, which the text names");
    reproduce_note(result, "%d kernels have fewer violations under Chimera+; over all %d kernels %.1f", fell, counted,
                   sum_all / counted);
}

const reproduce_row rows_victim[] = {{"S.storage.sm", storage},
                                     {"S.storage.gpu", storage},
                                     {"S.candidates", candidates},
                                     REPRODUCE_DIVIDED,
                                     {"S.viol.chimera.2", viol},
                                     {"S.viol.chimera.3", viol},
                                     {"S.viol.chimera.4", viol},
                                     {"S.viol.chimera.5", viol},
                                     {"S.viol.dual.2", viol},
                                     {"S.viol.dual.3", viol},
                                     {"S.viol.dual.4", viol},
                                     {"S.viol.dual.5", viol},
                                     {"S.viol.oracle.2", viol},
                                     {"S.viol.order", viol_order},
                                     {"S.overhead.chimera.2", over},
                                     {"S.overhead.chimera.3", over},
                                     {"S.overhead.chimera.4", over},
                                     {"S.overhead.chimera.5", over},
                                     {"S.overhead.dual.2", over},
                                     {"S.overhead.dual.3", over},
                                     {"S.overhead.dual.4", over},
                                     {"S.overhead.dual.5", over},
                                     {"S.overhead.btree", btree},
                                     {"S.utilisation", utilisation},
                                     {"S.drainerr", drain_error},
                                     {"S.techniques", techniques},
                                     {NULL, NULL}};
