/* bench/faulted_victims [--requests N] [--seed N]: the value of telling a victim policy which blocks wait for pages, as
 * CSV.
 *
 * Kernels whose pages the CPU has run on the machine of Tanasic's Table 6.1, with a 16 KB operand log. At random times
 * a kernel of higher priority arrives that needs one position in eight of the machine. In copies of the machine the
 * same policy makes room for it. In one copy the policy is told how many granules each block waits for and until when
 * (gpump_sm_report_faults), in another it is not. A faulted block that leaves by a switch loses only the cycles of its
 * save and restore in which it would not have waited anyway. Its context has its real size (raw, or live registers in
 * patterns).
 *
 * - delay_us: by how much the running kernel ends later than without a request, told minus not told
 * - start_us: the time to the start of the urgent kernel's last block, told minus not told
 * - faulted: the share of blocks that left while they waited, told and not told
 *
 * Both times are means over all requests with their 95% intervals (bootstrap over requests). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/in_copy.h"
#include "parts/fault_unit/fault_unit.h"
#include "options.h"
#include "output.h"
#include "resample.h"
#include "preemption/context_forms.h"
#include "parts/victims/victims.h"
#include "progress.h"
#include "tools/victim_experiment.h"

enum { KERNELS = 6, REQUESTS_MAX = 64 };
static const char *const kernels[KERNELS] = {"sgemm", "stencil", "spmv", "bfs_1", "histo", "mri_q"};
static const char *const policies[] = {"dual", "chimera"};
static const char *const links[] = {"nvlink_pipelined", "nvlink"};
static const uint32_t forms[] = {CONTEXT_NAIVE, CONTEXT_LIVE_COMPRESS};
static const char *const form_names[] = {"raw", "compressed"};

/* The outcome of a request. */
typedef struct outcome {
    double end_us, start_us; /* of the running kernel; of the urgent kernel's last block */
    uint32_t left, faulted;  /* blocks that had to leave, and those of them that waited for pages */
} outcome;

/* The copies. NOBODY: no kernel arrives. UNTOLD, TOLD: whether the policy is told which blocks wait. */
enum { NOBODY, UNTOLD, TOLD, WAYS };

static double us_of(const machine *m, uint64_t cycles) { return (double)cycles * 1e3 / m->config.gpu.clock_khz; }

/* Counts the blocks of the running kernel that leave, and those of them that wait for a page. */
static void count_leaving(const machine *m, outcome *out) {
    uint32_t i;
    for (i = 0; i < m->block_count; i++) {
        const block *b = &m->blocks[i];
        if (!b->life || b->kernel != 0 || (!b->stopping && b->context == NEVER)) continue;
        out->left++;
        out->faulted += gpump_fault_pending(fault_unit_of(m)->fault, block_cookie(b)) != 0;
    }
}

static void request(machine *m, uint32_t way, void *result) {
    outcome *out = (outcome *)result;
    const uint64_t since = m->now;
    memset(out, 0, sizeof *out);
    fault_unit_of(m)->untold = way == UNTOLD;
    if (way != NOBODY) {
        m->kernels[1].arrival_cycle = m->now;
        if (machine_run(m, m->now + 1) != 0) return;
        count_leaving(m, out);
    }
    while (m->kernels[0].state != KERNEL_DONE || (way != NOBODY && m->kernels[1].state != KERNEL_DONE))
        if (machine_run(m, m->now + 1000) != 0) break;
    out->end_us = us_of(m, m->kernels[0].end_cycle);
    if (way != NOBODY && victims_of(m)->requests[1].request.since != NEVER)
        out->start_us = us_of(m, victims_of(m)->requests[1].last_start_cycle - since);
}

static machine *build(const char *kernel, const char *policy, const char *link, uint32_t form, launch_file *launch) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file urgent;
    machine *m = NULL;
    uint32_t i, buffers;
    machine_options_default(&options);
    options.gpu = "table61";
    options.faults.scheme = "log16";
    options.faults.link = link;
    options.context_form = form;
    options.policy = gpump_victim_find(policy);
    options.limit_cycles = 15000;
    snprintf(path, sizeof path, "%s/kernels/%s/launch.yaml", MINIGPU_SOURCE_DIR, kernel);
    if (launch_file_read(launch, path, error)) goto wrong;
    buffers = launch->buffer_count;
    snprintf(path, sizeof path, "%s/kernels/synthetic/launch.yaml", MINIGPU_SOURCE_DIR);
    if (launch_file_read(&urgent, path, error)) goto wrong;
    urgent.kernels[0].grid[0] = 16; /* one of some eight positions on each SM */
    snprintf(error, sizeof error, "out of memory");
    if (victim_experiment_append(launch, &urgent)) goto wrong;
    for (i = 0; i < buffers; i++) launch->buffers[i].owner = GPUMP_FAULT_CPU;
    m = machine_build(launch, &options, error);
    if (m) return m;
wrong:
    fprintf(stderr, "faulted_victims: %s: %s\n", kernel, error);
    exit(2);
}

/* Measures all requests of one policy, link and form. */
static void measure(const char *policy, const char *link, uint32_t f, uint32_t requests, uint64_t *random) {
    static double delays[KERNELS * REQUESTS_MAX], starts[KERNELS * REQUESTS_MAX];
    double mean[2], low[2], high[2], delay = 0, start = 0;
    uint32_t k, n, count = 0;
    uint64_t left[WAYS] = {0}, faulted[WAYS] = {0};
    for (k = 0; k < KERNELS; k++) {
        launch_file launch;
        machine *m = build(kernels[k], policy, link, forms[f], &launch);
        outcome alone, told, untold;
        uint64_t moments[REQUESTS_MAX], end, i;
        if (in_copy(request, m, NOBODY, &alone, sizeof alone)) exit(2);
        end = (uint64_t)(alone.end_us * m->config.gpu.clock_khz / 1e3);
        for (n = 0; n < requests; n++) { /* in order of time, so that one machine serves them all */
            uint64_t moment = end / 20 + gpump_random_below(random, (uint32_t)(end / 20 * 17));
            for (i = n; i > 0 && moments[i - 1] > moment; i--) moments[i] = moments[i - 1];
            moments[i] = moment;
        }
        for (n = 0; n < requests; n++) {
            if (machine_run(m, moments[n]) != 0) break;
            if (in_copy(request, m, TOLD, &told, sizeof told) || in_copy(request, m, UNTOLD, &untold, sizeof untold))
                exit(2);
            left[TOLD] += told.left;
            left[UNTOLD] += untold.left;
            faulted[TOLD] += told.faulted;
            faulted[UNTOLD] += untold.faulted;
            delay += untold.end_us - alone.end_us;
            start += untold.start_us;
            delays[count] = told.end_us - untold.end_us;
            starts[count++] = told.start_us - untold.start_us;
        }
        machine_free(m);
        launch_file_free(&launch);
    }
    mean[0] = resampled_mean(delays, count, &low[0], &high[0]);
    mean[1] = resampled_mean(starts, count, &low[1], &high[1]);
    printf("%s,%s,%s,%u,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f\n", policy, link, form_names[f], count,
           (double)faulted[TOLD] / (double)(left[TOLD] + !left[TOLD]),
           (double)faulted[UNTOLD] / (double)(left[UNTOLD] + !left[UNTOLD]), delay / count, mean[0], low[0], high[0],
           start / count, mean[1], low[1], high[1]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    uint64_t seed = 1;
    uint32_t requests = 12, p, l, f;
    int i;
    for (i = 1; i < argc; i++) {
        if (i + 1 < argc && !strcmp(argv[i], "--requests")) {
            uint64_t number;
            if (option_number("--requests", argv[++i], 1, REQUESTS_MAX, &number)) return 2;
            requests = (uint32_t)number;
        } else if (i + 1 < argc && !strcmp(argv[i], "--seed")) {
            if (option_number("--seed", argv[++i], 0, UINT64_MAX, &seed)) return 2;
        } else {
            fprintf(strcmp(argv[i], "--help") ? stderr : stdout,
                    "usage: faulted_victims [--requests N] [--seed N]: what knowing who waits for pages is worth to a "
                    "victim policy, as CSV; N requests per kernel, 1 to %u (12)\n",
                    REQUESTS_MAX);
            return strcmp(argv[i], "--help") ? 2 : output_status(0, "faulted_victims");
        }
    }
    puts("policy,link,context,requests,faulted_told,faulted_untold,delay_us,delay_change_us,low,high,start_us,"
         "start_change_us,low,high");
    for (l = 0; l < 2; l++)
        for (p = 0; p < 2; p++)
            for (f = 0; f < 2; f++) {
                uint64_t random = seed; /* the same times for each */
                measure(policies[p], links[l], f, requests, &random);
            }
    return output_status(0, "faulted_victims");
}
