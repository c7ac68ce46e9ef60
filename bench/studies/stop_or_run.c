/* bench/stop_or_run [--short]: stop at once, or run on to the next preemption point? Latency against bytes for K = 20
 * to 1000, as CSV.
 *
 * The experiment is that of rows_lin_contexts.c: every 10,000 cycles one SM is preempted, in forked copies of the
 * machine. The saved registers are the live ones, compressed. A warp can stop in three ways:
 *
 * - stop: at once
 * - point: at its next preemption point (Lin 2.4.1)
 * - choose: whichever gpump_spill_run_on expects to end earlier, warp by warp
 *
 * latency_pct is the geometric mean over kernels of the ratio to saving everything that is occupied. bytes_pct is the
 * arithmetic mean, because a kernel whose blocks end before their points writes nothing.
 * docs/pictures/stop_or_run.gnuplot draws the table. */
#define STOP_OR_RUN
#include "rows/rows_lin_contexts.c"

#include "output.h"
#include "progress.h"

typedef struct strategy {
    const char *name;
    uint32_t way;
} strategy;

enum { STRATEGIES = 3 };
static const strategy strategies[STRATEGIES] = {{"stop", WAY_NAIVE}, {"point", WAY_SELECTIVE}, {"choose", WAY_CHOOSE}};

/* Sums over the signals of a kernel. */
typedef struct sums {
    double all_latency, all_bytes, latency[STRATEGIES], bytes[STRATEGIES];
    uint32_t signals;
} sums;

/* Adds one signal, unless it cannot be measured in every way. */
static void add_signal(machine *m, sm *s, shot *naive, shot *other, sums *sum) {
    timing result[STRATEGIES], all;
    uint32_t t;
    if (!s || !take_shot(m, s, WAY_NAIVE, naive)) return;
    all = spill_time(&gpu, naive, SAVE_ALL, NULL);
    if (all.bytes <= 0) return;
    for (t = 0; t < STRATEGIES; t++) {
        if (strategies[t].way != WAY_NAIVE && !take_shot(m, s, strategies[t].way, other)) return;
        result[t] = spill_time(&gpu, strategies[t].way == WAY_NAIVE ? naive : other, SAVE_PACKED, NULL);
    }
    sum->signals++;
    sum->all_latency += all.latency;
    sum->all_bytes += all.bytes;
    for (t = 0; t < STRATEGIES; t++) {
        sum->latency[t] += result[t].latency;
        sum->bytes[t] += result[t].bytes;
    }
}

/* Measures a kernel with a point every `interval` instructions. Returns 0, or -1 after a report. */
static int measure(const subject *subject, uint32_t interval, uint32_t signals, shot *naive, shot *other, sums *sum) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    uint64_t length, times[SIGNALS];
    uint32_t n, count = signals;
    memset(sum, 0, sizeof *sum);
    subject_path(subject, 0, path, sizeof path);
    machine_options_default(&options);
    options.gpu = "gtx480_lin";
    options.point_interval = interval;
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error))) {
        fprintf(stderr, "%s: %s\n", subject->label, error);
        return -1;
    }
    length = signal_times(m, times, &count);
    for (n = 0; length && n < count && machine_run(m, times[n]) == 0; n++)
        add_signal(m, resident_sm(m, n), naive, other, sum);
    machine_free(m);
    launch_file_free(&launch);
    return 0;
}

/* Sweeps the kernels. `shown` goes from share `from` to share `to`. */
static void sweep(uint32_t interval, uint32_t signals, progress *shown, double from, double to) {
    double latency[STRATEGIES][SUBJECTS], bytes[STRATEGIES] = {0, 0, 0}, us[STRATEGIES] = {0, 0, 0},
                                          kilobytes[STRATEGIES] = {0, 0, 0};
    uint32_t i, t, kernels = 0, taken = 0;
    shot *naive = (shot *)malloc(sizeof *naive), *other = (shot *)malloc(sizeof *other);
    if (!naive || !other) exit(2);
    for (i = 0; i < SUBJECTS; i++) {
        sums sum;
        char what[128];
        snprintf(what, sizeof what, "K = %u, %s", interval, subjects[i].label);
        progress_show(shown, from + (to - from) * i / SUBJECTS, what);
        if (measure(&subjects[i], interval, signals, naive, other, &sum) || !sum.signals) continue;
        for (t = 0; t < STRATEGIES; t++) {
            latency[t][kernels] = sum.latency[t] / sum.all_latency;
            bytes[t] += sum.bytes[t] / sum.all_bytes;
            us[t] += sum.latency[t] / sum.signals * 1e3 / gpu.clock_khz;
            kilobytes[t] += sum.bytes[t] / sum.signals / 1024;
        }
        kernels++;
        taken += sum.signals;
    }
    for (t = 0; t < STRATEGIES && kernels; t++)
        printf("%u,%s,%u,%u,%.2f,%.1f,%.2f,%.1f\n", interval, strategies[t].name, kernels, taken, us[t] / kernels,
               100 * geomean(latency[t], kernels), kilobytes[t] / kernels, 100 * bytes[t] / kernels);
    free(naive);
    free(other);
}

int main(int argc, char **argv) {
    static const uint32_t intervals[] = {20, 50, 100, 200, 500, 1000};
    const int is_short = argc == 2 && strcmp(argv[1], "--short") == 0;
    const uint32_t count = sizeof intervals / sizeof *intervals;
    progress shown;
    uint32_t i;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        puts("usage: stop_or_run [--short]: latency against bytes for K = 20 to 1000, as CSV");
        return output_status(0, "stop_or_run");
    }
    if (argc > 2 || (argc == 2 && !is_short)) {
        fprintf(stderr, "usage: stop_or_run [--short]\n");
        return 2;
    }
    (void)gpump_preset(&gpump_gpu_component, &gpu, "gtx480_lin", NULL);
    printf("k,strategy,kernels,signals,latency_us,latency_pct,kilobytes,bytes_pct\n");
    progress_begin(&shown, "stop_or_run");
    for (i = 0; i < count; i++) {
        if (is_short && i % 5) continue;
        sweep(intervals[i], is_short ? 2 : 12, &shown, (double)i / count, (i + 1.0) / count);
        progress_end(&shown);
        fflush(stdout);
    }
    return output_status(0, "stop_or_run");
}
