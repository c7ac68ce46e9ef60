/* bench/fault_latency [--short]: the time to empty an SM whose warps wait for pages, scheme by scheme, as CSV.
 *
 * Tanasic 6.1 says that faults which stall in the pipeline void preemption, and gives no figure. Here every page is
 * absent at first on the machine of Table 6.1. At 8 times of each kernel, from half a service time on, one SM switches
 * out all its blocks, in a forked copy of the machine.
 *
 * - latency_us: from there until its last block has left, mean and worst over kernels and times
 * - service_us: time until a page arrives; 0: all pages are present, and the times are those of 10 us
 * - waiting: share of the times at which a warp of that SM waited for a page
 * - kilobytes: bytes that a switch writes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/in_copy.h"
#include "machine/machine.h"
#include "output.h"
#include "preemption/preemption.h"
#include "progress.h"

enum { MOMENTS = 8, KERNELS = 6 };
static const char *const kernels[KERNELS] = {"sgemm", "stencil", "spmv", "bfs_1", "histo", "mri_q"};

typedef struct way {
    const char *name, *scheme;
    uint32_t lazy;
} way;
static const way ways[] = {{"stall", "stall", 0},     {"wd_commit", "wd_commit", 0}, {"wd_check", "wd_check", 0},
                           {"queue", "queue", 0},     {"log8", "log8", 0},           {"log16", "log16", 0},
                           {"log16 lazy", "log16", 1}};
enum { WAYS = sizeof ways / sizeof *ways };

/* The outcome of one switch. */
typedef struct outcome {
    double latency_us, kilobytes;
    uint32_t taken, waiting;
} outcome;
typedef struct sums {
    double latency_us, worst_us, kilobytes;
    uint32_t taken, waiting;
} sums;

/* Returns the n-th SM, or the next SM with blocks. */
static sm *resident_sm(machine *m, uint32_t n) {
    uint32_t i;
    for (i = 0; i < m->sm_count; i++)
        if (m->sms[(n + i) % m->sm_count]->resident) return m->sms[(n + i) % m->sm_count];
    return NULL;
}

static uint32_t somebody_waits(const machine *m, const sm *s) {
    uint32_t i;
    for (i = 0; i < m->warp_count; i++)
        if (m->warps[i].sm == s->index && m->warps[i].fault_address) return 1;
    return 0;
}

/* Empties an SM, and runs until it is empty. */
static outcome empty(machine *m, uint32_t n) {
    outcome result;
    sm *s = resident_sm(m, n);
    const uint32_t log = m->preemption_count;
    uint64_t bytes;
    memset(&result, 0, sizeof result);
    if (!s) return result;
    result.waiting = somebody_waits(m, s);
    bytes = s->statistics.saved_bytes;
    if (preemption_request(m, s, GPUMP_TECHNIQUE_SWITCH, 0, 1) != GPUMP_REASON_YES || m->preemption_count == log)
        return result;
    while (m->preemptions[log].end_cycle == NEVER)
        if (machine_run(m, m->now + 500) < 0) return result;
    result.latency_us =
        (double)(m->preemptions[log].end_cycle - m->preemptions[log].request_cycle) * 1e3 / m->config.gpu.clock_khz;
    result.kilobytes = (double)(s->statistics.saved_bytes - bytes) / 1024;
    result.taken = 1;
    return result;
}

static void empty_copy(machine *m, uint32_t n, void *result) { *(outcome *)result = empty(m, n); }

/* Adds the switches of one kernel. */
static void measure(const char *kernel, const way *how, double service_us, int absent, uint32_t moments, sums *all) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    uint32_t n;
    snprintf(path, sizeof path, "%s/kernels/%s/launch.yaml", MINIGPU_SOURCE_DIR, kernel);
    machine_options_default(&options);
    options.gpu = "table61";
    options.faults.scheme = how->scheme;
    options.faults.lazy = how->lazy;
    options.fault_service_ns = (uint64_t)(service_us * 1000);
    options.absent = absent ? "all" : NULL;
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error))) {
        fprintf(stderr, "%s: %s\n", kernel, error);
        exit(2);
    }
    for (n = 0; n < moments; n++) {
        const double us = service_us * (0.5 + 0.25 * n * MOMENTS / moments);
        outcome one;
        if (machine_run(m, gpump_gpu_cycles_from_ns(&m->config.gpu, (uint64_t)(us * 1000))) != 0) break;
        if (in_copy(empty_copy, m, n, &one, sizeof one)) continue;
        if (!one.taken) continue;
        all->taken++;
        all->waiting += one.waiting;
        all->latency_us += one.latency_us;
        all->kilobytes += one.kilobytes;
        if (one.latency_us > all->worst_us) all->worst_us = one.latency_us;
    }
    machine_free(m);
    launch_file_free(&launch);
}

int main(int argc, char **argv) {
    static const double services_us[] = {0, 2, 10, 25, 100};
    const int is_short = argc == 2 && strcmp(argv[1], "--short") == 0;
    const uint32_t services = sizeof services_us / sizeof *services_us, kernel_count = is_short ? 2 : KERNELS;
    progress shown;
    uint32_t i, w, k;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        puts("usage: fault_latency [--short]: how long it takes to empty an SM whose warps wait for pages, as CSV");
        return output_status(0, "fault_latency");
    }
    if (argc > 2 || (argc == 2 && !is_short)) {
        fprintf(stderr, "usage: fault_latency [--short]\n");
        return 2;
    }
    puts("service_us,scheme,kernels,moments,waiting,latency_us,worst_us,kilobytes");
    progress_begin(&shown, "fault_latency");
    for (i = 0; i < services; i++) {
        if (is_short && i != 0 && i != 2) continue;
        for (w = 0; w < WAYS; w++) {
            sums all;
            memset(&all, 0, sizeof all);
            for (k = 0; k < kernel_count; k++) {
                progress_show(&shown, (i + (w + (double)k / kernel_count) / WAYS) / services, ways[w].name);
                measure(kernels[k], &ways[w], services_us[i] > 0 ? services_us[i] : 10, services_us[i] > 0,
                        is_short ? 3 : MOMENTS, &all);
            }
            progress_end(&shown);
            printf("%g,%s,%u,%u,%.2f,%.2f,%.2f,%.1f\n", services_us[i], ways[w].name, kernel_count, all.taken,
                   (double)all.waiting / all.taken, all.latency_us / all.taken, all.worst_us,
                   all.kilobytes / all.taken);
            fflush(stdout);
        }
    }
    return output_status(0, "fault_latency");
}
