/* link: minigpu_core */
/* Lin chapter 3: the cost of GPUDuet and Virtual Thread, the blocks that they place, and their gain on the mini-GPU.
 * Readings: docs/papers.md, "GPUDuet and Virtual Thread". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpump_once.h"
#include "parts/duet/duet.h"
#include "machine/machine.h"
#include "reproduce.h"
#include "sorted.h"

static void storage(const reproduce_context *context, const char *id, reproduce_result *result) {
    const int is_duet = !strcmp(id, "L.storage.duet");
    gpump_duet_config config;
    gpump_duet_storage parts;
    uint64_t bits;
    (void)context;
    if (gpump_preset(&gpump_duet_component, &config, is_duet ? "maxwell_duet" : "virtual_thread", NULL) ||
        gpump_bits(&gpump_duet_component, &config, &bits, NULL) ||
        gpump_table_bits(&gpump_duet_component, &config, &parts, NULL)) {
        reproduce_failed(result, "no storage");
        return;
    }
    reproduce_number(result, (double)bits / 8, 0);
    reproduce_note(result, "and %u bits that the paper does not count", (unsigned)parts.unprinted_bits);
}

/* ---- the 15 kernels of Lin Fig. 3.12 ---- */

typedef enum kind { UNDERUTILISED, MODERATE, SATURATED } kind;
typedef struct subject {
    const char *label, *launch; /* as in the paper; the launch file under examples/minigpu/kernels */
    uint32_t registers;         /* per thread, as ptxas allocates them (kernels/ptxas_registers.csv) */
    kind kind;                  /* the paper's class */
    const char *printed;        /* launch file with the input of Table 3.2, where this is a size */
} subject;
static const subject subjects[] = {
    {"BFS", "bfs_1/launch", 16, UNDERUTILISED, NULL},
    {"BT", "btree_find_k/launch", 22, UNDERUTILISED, NULL},
    {"DWT_2", "dwt2d_fdwt53/measure", 16, UNDERUTILISED, NULL},
    {"HG", "histogram/launch", 14, UNDERUTILISED, "histogram/printed"},
    {"HS", "hotspot/launch", 19, UNDERUTILISED, "hotspot/printed"},
    {"MMS", "matrix_multiply/launch", 38, MODERATE, "matrix_multiply/printed"},
    {"CONV", "convolution/launch", 28, MODERATE, "convolution/printed"},
    {"MM", "mm2/measure", 16, MODERATE, "mm2/printed"},
    {"ST", "stencil/measure", 39, MODERATE, NULL},
    {"SPMV", "spmv/launch", 20, MODERATE, NULL},
    {"BP_1", "backprop_layer_forward/launch", 16, SATURATED, NULL},
    {"CFD", "cfd_compute_flux/measure", 62, SATURATED, NULL},
    {"KM", "kmeans_invert_mapping/measure", 12, SATURATED, NULL},
    {"LBM", "lbm/launch", 62, SATURATED, NULL},
    {"SAD_2", "sad_2/measure", 31, SATURATED, NULL},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects, SHORT_CYCLES = 40000 };

/* PRINTED_*: with the input of Table 3.2 where this is a size, else the same as without. */
typedef enum variant { BASE, SLOTS, DUET, PORT_64, PORT_256, PRINTED_BASE, PRINTED_DUET, VARIANTS } variant;
static const char *const variants[VARIANTS] = {
    NULL, "virtual_thread", "maxwell_duet", "maxwell_duet:monitor:64", "maxwell_duet:monitor:256",
    NULL, "maxwell_duet"};
/* The results of a run: thread instructions per cycle, and the plan. */
typedef struct measured {
    double ipc, native, extra, l1, frame, registers;
} measured;

/* Builds a subject's machine. Its process repeats until `cycles`. */
static machine *build(launch_file *launch, const subject *s, const char *duet, uint64_t cycles,
                      reproduce_result *result) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    uint32_t threads, i;
    snprintf(path, sizeof path, "%s/kernels/%s.yaml", MINIGPU_SOURCE_DIR, s->launch);
    if (launch_file_read(launch, path, error)) {
        reproduce_failed(result, "%s", error);
        return NULL;
    }
    for (i = 0; i < launch->process_count; i++) launch->processes[i].repeat = 1000000;
    launch->stop_at = cycles;
    threads = launch->kernels[0].block[0] * launch->kernels[0].block[1] * launch->kernels[0].block[2];
    launch->kernels[0].override_registers = s->registers * ((threads + 31) / 32 * 32);
    machine_options_default(&options);
    options.gpu = "maxwell_duet";
    options.duet = duet;
    if ((m = machine_build(launch, &options, error))) return m;
    reproduce_failed(result, "%s", error);
    launch_file_free(launch);
    return NULL;
}

/* Runs a subject for `cycles` cycles, training included (Lin 3.7); 0: only plans it. Returns 0, or -1. */
static int measure(const subject *s, const char *duet, uint64_t cycles, reproduce_result *result, measured *out) {
    launch_file launch;
    machine *m = build(&launch, s, duet, cycles ? cycles : 1, result);
    int ran;
    if (!m) return -1;
    memset(out, 0, sizeof *out);
    if (duet_of(m)) {
        const gpump_duet_plan *plan = &duet_of(m)->plans[0];
        out->native = plan->native_blocks;
        out->extra = plan->extra_blocks;
        out->l1 = plan->extra_blocks_l1;
        out->frame = plan->frame_registers;
        out->registers = plan->warp_granules;
    }
    ran = cycles ? machine_run(m, NEVER) : 1;
    if (ran != 1) reproduce_failed(result, "%s: %s", s->label, m->error);
    if (cycles) out->ipc = (double)m->kernels[0].thread_instructions / (double)m->now;
    machine_free(m);
    launch_file_free(&launch);
    return ran == 1 ? 0 : -1;
}

static const char *length(const reproduce_context *context) {
    return context->is_short ? "40,000 cycles each (--short), training included"
                             : "1,000,000 cycles each, training included";
}

/* Sets the instructions per cycle of a subject in a form. Every run asks for it once, so that runs agree which of them
 * measures it. Returns 0 when this run has no value. */
static double ipc(const reproduce_context *context, uint32_t i, variant v, reproduce_result *result) {
    static struct {
        double ipc;
        int is_asked;
    } known[SUBJECTS][VARIANTS];
    const uint64_t cycles = context->is_short ? SHORT_CYCLES : 25 * SHORT_CYCLES;
    subject s = subjects[i];
    char name[64];
    measured m;
    if (v >= PRINTED_BASE && !s.printed) v = v == PRINTED_BASE ? BASE : DUET;
    if (v >= PRINTED_BASE) s.launch = s.printed;
    snprintf(name, sizeof name, "duet_%s_%u", s.label, (unsigned)v);
    if (!known[i][v].is_asked) {
        known[i][v].is_asked = 1;
        if (reproduce_piece(context, name, &known[i][v].ipc, 1) == REPRODUCE_MEASURE) {
            reproduce_progress(context, (double)(i * VARIANTS + v) / (SUBJECTS * VARIANTS), subjects[i].label);
            if (measure(&s, variants[v], cycles, result, &m)) return 0;
            known[i][v].ipc = m.ipc;
            reproduce_piece_measured(context, name, &known[i][v].ipc, 1);
        }
    }
    if (known[i][v].ipc <= 0) reproduce_elsewhere(result);
    return known[i][v].ipc;
}

/* Sets the geometric mean of ratios in percent, over kernels of kinds up to `last`. `line` gets the ratio of each
 * kernel. Returns 0 when a value is missing. */
static int mean_gain(const reproduce_context *context, variant over, variant v, kind last, reproduce_result *result,
                     double *percent, double gains[SUBJECTS], char *line, size_t bytes) {
    double sum = 0;
    uint32_t i, count = 0, missing = 0;
    line[0] = 0;
    for (i = 0; i < SUBJECTS; i++) {
        double a, b;
        if (subjects[i].kind > last) continue;
        a = ipc(context, i, over, result);
        b = ipc(context, i, v, result);
        if (a <= 0 || b <= 0) {
            missing++; /* this run may measure the others */
            continue;
        }
        gains[count] = log(b / a);
        sum += gains[count++];
        snprintf(line + strlen(line), bytes - strlen(line), "%s%s %+.1f", *line ? ", " : "", subjects[i].label,
                 100 * (b / a - 1));
    }
    if (missing) return 0;
    *percent = 100 * (exp(sum / count) - 1);
    return (int)count;
}

/* Sets the 95% interval of the geometric mean, by drawing the kernels again 2,000 times. */
static void bootstrap(const double *gains, int count, double interval[2]) {
    static double means[2000];
    uint64_t random = 1;
    uint32_t i, n;
    for (i = 0; i < 2000; i++) {
        double sum = 0;
        for (n = 0; n < (uint32_t)count; n++) sum += gains[gpump_random_below(&random, (uint32_t)count)];
        means[i] = 100 * (exp(sum / count) - 1);
    }
    sorted_sort(means, 2000);
    interval[0] = means[50];
    interval[1] = means[1949];
}

/* Reports the mean with the printed inputs as a second reading. */
static void printed_inputs(const reproduce_context *context, reproduce_result *result) {
    double percent, gains[SUBJECTS], interval[2];
    char line[512];
    const int count =
        mean_gain(context, PRINTED_BASE, PRINTED_DUET, MODERATE, result, &percent, gains, line, sizeof line);
    if (!count) return;
    bootstrap(gains, count, interval);
    reproduce_reading(result, percent, 1,
                      "HG, HS, MMS, CONV and MM on the inputs of Table 3.2; 95%% interval %.1f to %.1f; %%: %s",
                      interval[0], interval[1], line);
}

static void gain(const reproduce_context *context, const char *id, reproduce_result *result) {
    const int over_slots = !strcmp(id, "L.duet.vt");
    double percent, gains[SUBJECTS], interval[2];
    char line[512];
    const int count = mean_gain(context, over_slots ? SLOTS : BASE, DUET, over_slots ? SATURATED : MODERATE, result,
                                &percent, gains, line, sizeof line);
    double slots_percent, slots_gains[SUBJECTS];
    char slots_line[512];
    const int has_slots = !over_slots && mean_gain(context, BASE, SLOTS, MODERATE, result, &slots_percent, slots_gains,
                                                   slots_line, sizeof slots_line);
    if (!count) return;
    bootstrap(gains, count, interval);
    reproduce_number(result, percent, 1);
    reproduce_interval(result, interval[0], interval[1], 1);
    reproduce_note(result, "by drawing the %d kernels anew; %%: %s; %s", count, line, length(context));
    if (!over_slots && !context->is_short) printed_inputs(context, result);
    if (has_slots) reproduce_note(result, "Virtual Thread over the baseline: %.1f%%: %s", slots_percent, slots_line);
}

/* Returns the share of 2,000 draws of the kernels in which the order of Fig. 3.15 fails. */
static double ports_reversed(double gains[3][SUBJECTS], int count) {
    enum { DRAWS = 2000 };
    uint64_t random = 1;
    uint32_t i, n, p, failed = 0;
    for (i = 0; i < DRAWS; i++) {
        double sum[3] = {0, 0, 0};
        for (n = 0; n < (uint32_t)count; n++) {
            const uint32_t drawn = gpump_random_below(&random, (uint32_t)count);
            for (p = 0; p < 3; p++) sum[p] += gains[p][drawn];
        }
        failed += !(sum[0] >= sum[1] && sum[1] >= sum[2] && sum[2] > 0);
    }
    return (double)failed / DRAWS;
}

static void ports(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const variant order[] = {PORT_256, DUET, PORT_64};
    double percent[3], gains[3][SUBJECTS];
    char line[512];
    uint32_t i;
    int count = 0, missing = 0;
    (void)id;
    for (i = 0; i < 3; i++) {
        count = mean_gain(context, BASE, order[i], MODERATE, result, &percent[i], gains[i], line, sizeof line);
        missing += !count;
    }
    if (missing) return;
    reproduce_holds(result, percent[0] >= percent[1] && percent[1] >= percent[2] && percent[2] > 0,
                    "256 B %.1f%%, 128 B %.1f%%, 64 B %.1f%%", percent[0], percent[1], percent[2]);
    reproduce_resampled(result, ports_reversed(gains, count));
    reproduce_note(result, "by drawing the %d kernels anew; %s", count, length(context));
}

/* ---- KM, in windows ---- */

enum { WINDOWS = 10 };

/* Sets the instructions per cycle of KM in each window of a run in form v. Returns 0 when this run has no values. */
static int windows(const reproduce_context *context, uint32_t subject_index, variant v, reproduce_result *result,
                   double values[WINDOWS]) {
    const uint64_t cycles = (context->is_short ? SHORT_CYCLES : 25 * SHORT_CYCLES) / WINDOWS;
    char name[64];
    launch_file launch;
    machine *m;
    uint64_t before = 0;
    uint32_t i;
    int ran = 1;
    snprintf(name, sizeof name, "duet_KM_windows_%u", (unsigned)v);
    switch (reproduce_piece(context, name, values, WINDOWS)) {
    case REPRODUCE_ELSEWHERE: reproduce_elsewhere(result); return 0;
    case REPRODUCE_KNOWN: return 1;
    case REPRODUCE_MEASURE: break;
    }
    if (!(m = build(&launch, &subjects[subject_index], variants[v], cycles * WINDOWS, result))) return 0;
    for (i = 0; i < WINDOWS && ran >= 0; i++) {
        ran = machine_run(m, (i + 1) * cycles);
        values[i] = (double)(m->kernels[0].thread_instructions - before) / (double)cycles;
        before = m->kernels[0].thread_instructions;
    }
    if (ran < 0) reproduce_failed(result, "KM: %s", m->error);
    machine_free(m);
    launch_file_free(&launch);
    if (ran >= 0) reproduce_piece_measured(context, name, values, WINDOWS);
    return ran >= 0;
}

/* Sets the mean of v over `over` in percent, window by window, and half its 95% interval. */
static void window_gain(const double over[WINDOWS], const double v[WINDOWS], double *percent, double *half) {
    const double t = 2.262; /* of 9 degrees of freedom */
    double sum = 0, squares = 0;
    uint32_t i;
    for (i = 0; i < WINDOWS; i++) {
        const double gain = 100 * (v[i] / over[i] - 1);
        sum += gain;
        squares += gain * gain;
    }
    *percent = sum / WINDOWS;
    *half = t * sqrt(fmax(0, squares - sum * sum / WINDOWS) / (WINDOWS - 1) / WINDOWS);
}

/* The order rests on one kernel, so that what varies is the time at which it is looked at. */
static void km(const reproduce_context *context, const char *id, reproduce_result *result) {
    double values[3][WINDOWS], percent[2], half[2];
    uint32_t i = 0;
    int known = 1;
    (void)id;
    while (strcmp(subjects[i].label, "KM")) i++;
    known &= windows(context, i, BASE, result, values[0]);
    known &= windows(context, i, SLOTS, result, values[1]);
    known &= windows(context, i, DUET, result, values[2]);
    if (!known) return;
    window_gain(values[0], values[1], &percent[0], &half[0]);
    window_gain(values[0], values[2], &percent[1], &half[1]);
    reproduce_holds(result, percent[0] < 0 && percent[1] >= -3, "Virtual Thread %+.1f%%, GPUDuet %+.1f%%", percent[0],
                    percent[1]);
    reproduce_resampled(result, reproduce_share_reversed(0, 0, percent[0], half[0]));
    reproduce_resampled(result, reproduce_share_reversed(percent[1], half[1], -3, 0));
    reproduce_note(result, "95%% intervals +-%.1f and +-%.1f over %d windows of a run; %s", half[0], half[1], WINDOWS,
                   length(context));
}

/* ---- plans alone ---- */

static int plans(const char *duet, measured out[SUBJECTS], reproduce_result *result) {
    uint32_t i;
    for (i = 0; i < SUBJECTS; i++)
        if (measure(&subjects[i], duet, 0, result, &out[i])) return -1;
    return 0;
}

/* Lin 3.7.3: the most blocks on an SM, unsaturated kernels. */
static void tlp(const reproduce_context *context, const char *id, reproduce_result *result) {
    measured duet[SUBJECTS], slots[SUBJECTS];
    double more[2] = {0, 0};
    char line[512] = "";
    uint32_t i, count = 0;
    (void)context;
    (void)id;
    if (plans("maxwell_duet", duet, result) || plans("virtual_thread", slots, result)) return;
    for (i = 0; i < SUBJECTS; i++) {
        if (subjects[i].kind == SATURATED) continue;
        count++;
        more[0] += duet[i].l1 / duet[i].native;
        more[1] += slots[i].extra / slots[i].native;
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s %.0f+%.0f/%.0f", *line ? ", " : "",
                 subjects[i].label, duet[i].native, duet[i].l1, slots[i].extra);
    }
    reproduce_holds(result, more[0] > 2 * more[1], "GPUDuet %.0f%%, VT %.0f%%", 100 * more[0] / count,
                    100 * more[1] / count);
    reproduce_note(result, "blocks without switching + extra with GPUDuet/Virtual Thread: %s", line);
}

static void registers(const reproduce_context *context, const char *id, reproduce_result *result) {
    measured duet[SUBJECTS];
    double sum = 0;
    char line[512] = "";
    uint32_t i;
    (void)context;
    (void)id;
    if (plans("maxwell_duet", duet, result)) return;
    for (i = 0; i < SUBJECTS; i++) {
        sum += duet[i].frame / duet[i].registers;
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s %.0f/%.0f", *line ? ", " : "",
                 subjects[i].label, duet[i].frame, duet[i].registers);
    }
    reproduce_number(result, 100 * sum / SUBJECTS, 1);
    reproduce_note(result,
                   "granules of registers in a frame over those of a running warp, which has as many as ptxas "
                   "gives: %s",
                   line);
}

static void extra(const reproduce_context *context, const char *id, reproduce_result *result) {
    measured duet[SUBJECTS], slots[SUBJECTS];
    (void)context;
    (void)id;
    if (plans("maxwell_duet", duet, result) || plans("virtual_thread", slots, result)) return;
    reproduce_holds(result, slots[1].extra == 1 && duet[1].l1 == 6 && duet[3].l1 == 8 && duet[2].l1 == 2,
                    "BT VT %.0f and GPUDuet %.0f; HG %.0f; DWT_2 %.0f", slots[1].extra, duet[1].l1, duet[3].l1,
                    duet[2].l1);
    reproduce_note(result,
                   "our kernels take other registers than the paper's: BT 22 (28), HG 14 (23 to 25), DWT_2 16 (32 "
                   "to 34). With the paper's footprints the plan gives the printed numbers (tests/duet/plan.c), "
                   "but for DWT_2, whose twelfth block has no shared memory");
}

const reproduce_row rows_duet[] = {
    {"L.storage.duet", storage}, {"L.storage.vt", storage}, {"L.duet.tlp", tlp}, {"L.duet.registers", registers},
    {"L.duet.extra", extra},     REPRODUCE_DIVIDED,         {"L.duet", gain},    {"L.duet.vt", gain},
    {"L.duet.ports", ports},     {"L.duet.km", km},         {NULL, NULL}};
