#define _GNU_SOURCE
#include "tools/corun_command.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpump.h"
#include "machine/corun.h"
#include "machine/machine.h"
#include "policies.h"
#include "progress.h"
#include "tools/options.h"
#include "tools/report.h"

enum { POLICIES_MAX = 16 };
#define SETTLE_CYCLES 3000000u /* a group that does not run by then has blocks that never end */

static const char usage[] =
    "usage: minigpu corun FILE [options]\n"
    "  FILE               launch file with two to eight kernels, each in a process of its own with repeat\n"
    "  --policy NAME      who divides the SMs: ccbp, smk, ws, ws+dai, crisp, spatial, even, leftover, or\n"
    "                     one of GPUMP_POLICY; may be repeated (default: all of them)\n"
    "  --cycles N         how long is measured, once the division holds (default 200000)\n"
    "  --warm N           cycles before a kernel alone is measured (default 30000)\n"
    "  --in-turn          kernels are measured one after the other on all SMs, not at once on a part of them each\n"
    "  --gpu PRESET       the GPU (default: the launch file's)\n"
    "  --config NAME=VALUE,...  numbers of the machine (config.h lists them)\n"
    "Each kernel runs alone, then all run together under each policy. speed is warp instructions per cycle beside "
    "those\n"
    "of the kernel alone; HSpeedup is the harmonic mean of the speeds, WSpeedup their sum (Lin 4.3.3).\n"
    "exit status: 0 done, 1 a run failed, 2 bad input\n";

typedef struct experiment {
    const char *path;
    machine_options options;
    uint64_t cycles, warm;
    launch_file launch;
    double alone[GPUMP_PARTITION_KERNELS]; /* warp instructions per cycle */
} experiment;

static uint64_t issued(const machine *m, uint32_t kernel) {
    gpump_traffic traffic;
    report_traffic(m, kernel + 1, &traffic);
    return traffic.issued;
}

static int failed(const machine *m) {
    fprintf(stderr, "minigpu: cycle %" PRIu64 ": %s\n", m->now, m->error);
    return 1;
}

/* Runs for e->cycles and sets the warp instructions per cycle of each kernel that takes part. Returns 0, or 1. */
static int measure(const experiment *e, machine *m, uint32_t only, double *per_cycle) {
    uint64_t before[GPUMP_PARTITION_KERNELS];
    const uint64_t start = m->now;
    uint32_t k;
    for (k = 0; k < m->kernel_count; k++) before[k] = issued(m, k);
    if (machine_run(m, start + e->cycles) < 0) return failed(m);
    for (k = 0; k < m->kernel_count; k++) {
        if (only != NONE && k != only) continue;
        if (m->kernels[k].state == KERNEL_DONE) {
            fprintf(stderr,
                    "minigpu: kernel %s has ended before the measurement is over, at cycle %" PRIu64
                    ": give its process repeat: 1000000\n",
                    m->kernels[k].program->name, m->kernels[k].end_cycle);
            return 1;
        }
        per_cycle[k] = (double)(issued(m, k) - before[k]) / (double)e->cycles;
    }
    return 0;
}

static int run_alone(experiment *e, uint32_t only) {
    machine_options options = e->options;
    char error[LAUNCH_ERROR_BYTES];
    machine *m;
    uint32_t k;
    int status;
    options.partition = NULL;
    if (!(m = machine_build(&e->launch, &options, error))) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    for (k = 0; k < m->kernel_count; k++)
        if (k != only) m->kernels[k].arrival_cycle = NEVER;
    status = machine_run(m, e->warm) < 0 ? failed(m) : measure(e, m, only, e->alone);
    machine_free(m);
    return status;
}

static int run_together(experiment *e, const gpump_partition_policy *policy) {
    static const char *const classes[] = {"latency", "network", "DRAM"};
    machine_options options = e->options;
    char error[LAUNCH_ERROR_BYTES];
    double shared[GPUMP_PARTITION_KERNELS] = {0};
    gpump_metrics_rate rates[GPUMP_PARTITION_KERNELS];
    gpump_metrics metrics;
    gpump_diag diag;
    machine *m;
    uint32_t k;
    int status = 0;
    options.partition = policy;
    if (!(m = machine_build(&e->launch, &options, error))) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    while (!status && gpump_sharing_state_now(m->corun->sharing) != GPUMP_SHARING_RUN) {
        if (machine_run(m, m->now + 1000) < 0) status = failed(m);
        if (!status && m->now > SETTLE_CYCLES) {
            fprintf(stderr, "minigpu: after %u cycles blocks still stand above their caps\n", SETTLE_CYCLES);
            status = 1;
        }
    }
    if (!status) status = measure(e, m, NONE, shared);
    for (k = 0; k < m->kernel_count && !status; k++) {
        gpump_partition_share share;
        uint32_t kind;
        char rate[16] = "-", network[16] = "-", dram[16] = "-";
        if (gpump_sharing_share(m->corun->sharing, m->corun->member_of[k], &share, &kind)) continue;
        if (share.limits.misses_q16 != GPUMP_RATE_NO_LIMIT)
            snprintf(rate, sizeof rate, "%.1f", share.limits.misses_q16 / 65536.0);
        if (share.network_q16 | share.dram_q16) {
            snprintf(network, sizeof network, "%.0f", share.network_q16 / 65536.0);
            snprintf(dram, sizeof dram, "%.0f", share.dram_q16 / 65536.0);
        }
        rates[k].alone = e->alone[k];
        rates[k].shared = shared[k] > 0 ? shared[k] : 1e-9;
        printf("| %s | %s | %s | %u | %u | %s | %s | %s | %.3f | %.3f | %.2f |\n", policy->name,
               m->kernels[k].program->name, classes[kind], share.sms, share.blocks, network, dram, rate, e->alone[k],
               shared[k], shared[k] / e->alone[k]);
    }
    if (!status && gpump_metrics_compute_rates(rates, m->kernel_count, &metrics, &diag) == GPUMP_OK)
        printf("| %s | HSpeedup %.3f, WSpeedup %.3f | | | | | | | | | |\n", policy->name, metrics.harmonic_speedup,
               metrics.weighted_speedup);
    machine_free(m);
    return status;
}

int corun_command(int argc, char **argv) {
    static const struct option longs[] = {
        {"policy", required_argument, NULL, 'o'}, {"cycles", required_argument, NULL, 'c'},
        {"warm", required_argument, NULL, 'w'},   {"in-turn", no_argument, NULL, 't'},
        {"gpu", required_argument, NULL, 'g'},    {"config", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    const gpump_partition_policy *policies[POLICIES_MAX];
    uint32_t count = 0, given, i;
    char error[LAUNCH_ERROR_BYTES];
    experiment e;
    int option, status = 0;
    memset(&e, 0, sizeof e);
    machine_options_default(&e.options);
    e.cycles = 200000;
    e.warm = 30000;
    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (option) {
        case 'o':
            if (option_choice("--policy", optarg, policies_partition_name, &i)) return 2;
            if (count == POLICIES_MAX) return option_misuse("corun", "too many --policy", NULL);
            policies[count++] = policies_find_partition(policies_partition_name(i));
            break;
        case 'c':
            if (option_number("--cycles", optarg, 1000, UINT64_C(1000000000), &e.cycles)) return 2;
            break;
        case 'w':
            if (option_number("--warm", optarg, 0, UINT64_C(1000000000), &e.warm)) return 2;
            break;
        case 't': e.options.sample_in_turn = 1; break;
        case 'g': e.options.gpu = optarg; break;
        case 'n': e.options.config = optarg; break;
        case 'h': fputs(usage, stdout); return 0;
        default: return option_misuse("corun", NULL, NULL);
        }
    }
    if (optind == argc) return option_misuse("corun", "which launch FILE?", NULL);
    given = count;
    if (optind < argc - 1) return option_misuse("corun", "one launch FILE; one too many is", argv[optind + 1]);
    for (i = 0; !given && count < POLICIES_MAX && policies_partition_name(i); i++)
        policies[count++] = policies_partition_at(i);
    if (launch_file_read(&e.launch, argv[optind], error)) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    if (e.launch.kernel_count < 2 || e.launch.kernel_count > GPUMP_PARTITION_KERNELS) {
        fprintf(stderr, "%s: minigpu corun wants 2 to %u kernels, the file has %u\n", argv[optind],
                GPUMP_PARTITION_KERNELS, e.launch.kernel_count);
        launch_file_free(&e.launch);
        return 2;
    }
    for (i = 0; i < e.launch.kernel_count && !status; i++) status = run_alone(&e, i);
    if (!status) {
        printf("| policy | kernel | class | SMs | blocks | network %% | DRAM %% | misses per unit | alone | shared | "
               "speed |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
        for (i = 0; i < count && !status; i++) status = run_together(&e, policies[i]);
    }
    launch_file_free(&e.launch);
    return status;
}
