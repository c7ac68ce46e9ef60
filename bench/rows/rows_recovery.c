/* link: minigpu_core */
/* iGPU 5.5: the cost of executing short regions again when instructions err, and the saving by a lower voltage. The
 * readings are those of docs/papers.md, "Restart at run time". */
#define _GNU_SOURCE
#include "studies/region_runs.h"
#include "reproduce.h"

/* The runs: regions of 32, with and without errors, just-in-time and continuous spilling. */
enum { PLAIN, REGIONS, RAZOR, RAZOR2, ALL_STORED, ALL_RAZOR, ALL_RAZOR2, WAYS };
static const struct {
    uint32_t regions, spilling;
    const char *detection;
} ways[WAYS] = {
    {REGIONS_NONE, SPILLING_NONE, NULL}, {32, SPILLING_NONE, NULL}, {32, SPILLING_NONE, "razor"},
    {32, SPILLING_NONE, "razor2"},       {32, SPILLING_ALL, NULL},  {32, SPILLING_ALL, "razor"},
    {32, SPILLING_ALL, "razor2"},
};

/* The paper's suite, GPGPU-Sim's: its twelve applications. */
static const char *const suite[] = {"aes",  "bfs_1", "cp",   "dg",  "lib", "lps", "mum", "nn_1",
                                    "nn_2", "nn_3",  "nn_4", "nqu", "ray", "sto", "wp"};
enum { SUITE = sizeof suite / sizeof *suite };
static region_run runs[SUITE][WAYS];
static int measured;

static void measure(const reproduce_context *context) {
    uint32_t i, way;
    if (measured) return;
    measured = 1;
    for (i = 0; i < SUITE; i++)
        for (way = 0; way < WAYS; way++) {
            region_way how;
            errors_options errors;
            memset(&how, 0, sizeof how);
            errors_options_default(&errors);
            errors.detection = ways[way].detection;
            how.regions = ways[way].regions;
            how.spilling = ways[way].spilling;
            how.errors = &errors;
            region_run_kernel(suite[i], context->is_short, &how, &runs[i][way]);
        }
}

static int complete(uint32_t kernel) {
    uint32_t way;
    for (way = 0; way < WAYS; way++)
        if (runs[kernel][way].error[0]) return 0;
    return 1;
}

/* Returns the geometric mean of T of one way relative to T of another. */
static double mean(uint32_t way, uint32_t over) {
    double sum = 0;
    uint32_t i, count = 0;
    for (i = 0; i < SUITE; i++) {
        if (!complete(i)) continue;
        sum += log((double)runs[i][way].cycles / (double)runs[i][over].cycles);
        count++;
    }
    return count ? exp(sum / count) : NAN;
}

/* Returns the instructions executed relative to the same regions without errors, by the closed form for regions of that
 * length. */
static double closed_form(uint32_t length, double rate) {
    return (double)gpump_restart_expected(length, (uint32_t)(rate * 4294967296.0), 0) / 65536 / length;
}

static void note_left_out(reproduce_result *result) {
    uint32_t i, way;
    for (i = 0; i < SUITE; i++)
        for (way = 0; way < WAYS && !complete(i); way++)
            if (runs[i][way].error[0]) reproduce_note(result, "%s is left out: %s", suite[i], runs[i][way].error);
}

static void reexecution(const reproduce_context *context, const char *id, reproduce_result *result) {
    uint32_t i;
    (void)id;
    measure(context);
    reproduce_number(result, 100 * (mean(RAZOR, PLAIN) - 1), 1);
    note_left_out(result);
    for (i = 0; i < SUITE; i++) {
        const gpump_restart_statistics *r = &runs[i][RAZOR].recovery;
        if (!complete(i)) continue;
        reproduce_note(result, "%s %+.1f (%.1f instructions between boundaries, %.1f given up in a recovery)", suite[i],
                       100 * ((double)runs[i][RAZOR].cycles / (double)runs[i][PLAIN].cycles - 1),
                       r->boundaries ? (double)runs[i][RAZOR].instructions / (double)r->boundaries : 0,
                       r->restarts ? (double)r->given_up / (double)r->restarts : 0);
    }
    reproduce_note(result,
                   "regions alone %+.1f %%, so errors add %+.1f %%; with continuous spilling %+.1f and %+.1f %%, "
                   "together %+.1f %%",
                   100 * (mean(REGIONS, PLAIN) - 1), 100 * (mean(RAZOR, REGIONS) - 1),
                   100 * (mean(ALL_STORED, PLAIN) - 1), 100 * (mean(ALL_RAZOR, ALL_STORED) - 1),
                   100 * (mean(ALL_RAZOR, PLAIN) - 1));
    reproduce_note(result, "closed form, instructions of regions of 10, 20, 32: %+.1f %+.1f %+.1f %%",
                   100 * (closed_form(10, 0.01) - 1), 100 * (closed_form(20, 0.01) - 1),
                   100 * (closed_form(32, 0.01) - 1));
    reproduce_note(result, "1 %% per region instead: at most %+.1f %% on top of the regions, each error a whole region",
                   100 * (1 / 0.99 - 1));
    reproduce_note(result, "0.1 %% errors %+.1f %%", 100 * (mean(RAZOR2, PLAIN) - 1));
}

static double saved(double voltage, double time) {
    return 100 * (1 - (double)gpump_restart_energy((uint32_t)(voltage * 65536), (uint64_t)(time * 65536)) / 65536);
}

static void energy(const reproduce_context *context, const char *id, reproduce_result *result) {
    uint32_t i;
    (void)id;
    measure(context);
    reproduce_number(result, saved(0.15, mean(RAZOR2, PLAIN)), 1);
    note_left_out(result);
    for (i = 0; i < SUITE; i++)
        if (complete(i))
            reproduce_note(result, "%s %.1f", suite[i],
                           saved(0.15, (double)runs[i][RAZOR2].cycles / (double)runs[i][PLAIN].cycles));
    reproduce_note(result,
                   "at most %.2f %% (T = T0); with continuous spilling %.1f %%; at 1 %% errors %.1f %%, at 10 %% less "
                   "voltage %.1f %%",
                   saved(0.15, 1), saved(0.15, mean(ALL_RAZOR2, PLAIN)), saved(0.15, mean(RAZOR, PLAIN)),
                   saved(0.10, mean(RAZOR2, PLAIN)));
}

const reproduce_row rows_recovery[] = {{"I.reexec", reexecution}, {"I.energy", energy}, {NULL, NULL}};
