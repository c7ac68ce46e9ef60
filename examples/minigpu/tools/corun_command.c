#define _GNU_SOURCE
#include "tools/corun_command.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "gpump.h"
#include "policies.h"
#include "tools/corun_experiment.h"
#include "tools/corun_explain.h"
#include "progress.h"
#include "tools/options.h"
#include "tools/sharing_options.h"

enum { POLICIES_MAX = 16 };

static const char usage[] =
    "usage: minigpu corun FILE [options]\n"
    "  FILE               launch file with two to eight kernels, each in a process of its own with repeat\n"
    "  --policy NAME      who divides the SMs: ccbp, smk, ws, ws+dai, crisp, spatial, even, leftover, slack, one\n"
    "                     of GPUMP_POLICY, or a fixed division: green:A:B (SMs), mps:P:Q (percent of the SMs),\n"
    "                     mig:1g+3g, blocks:A:B (on each SM); may be repeated (default: all but those)\n"
    "  --cycles N         how long is measured, once the division holds (default 200000)\n"
    "  --warm N           cycles before a kernel alone is measured (default 30000)\n" SHARING_USAGE
    "  --explain          also what slows each kernel down: cycles that its requests wait in each part, beside a copy "
    "of\n"
    "                     the machine in which the others are held; and an estimate of its speed there without the "
    "copy\n"
    "  --gpu PRESET       the GPU (default: the launch file's)\n"
    "  --config NAME=VALUE,...  numbers of the machine (config.h lists them)\n"
    "Each kernel runs alone, then all run together under each policy. speed is warp instructions per cycle beside "
    "those\n"
    "of the kernel alone; HSpeedup is the harmonic mean of the speeds, WSpeedup their sum (Lin 4.3.3).\n"
    "exit status: 0 done, 1 a run failed, 2 bad input\n";

static void print_outcome(const launch_file *launch, const gpump_partition_policy *policy, const double *alone,
                          const corun_outcome *o) {
    static const char *const classes[] = {"latency", "network", "DRAM"};
    uint32_t k;
    for (k = 0; k < launch->kernel_count; k++) {
        const gpump_partition_share *share = &o->shares[k];
        char rate[16] = "-", network[16] = "-", dram[16] = "-";
        if (share->limits.misses_q16 != GPUMP_RATE_NO_LIMIT)
            snprintf(rate, sizeof rate, "%.1f", share->limits.misses_q16 / 65536.0);
        if (share->network_q16 | share->dram_q16) {
            snprintf(network, sizeof network, "%.0f", share->network_q16 / 65536.0);
            snprintf(dram, sizeof dram, "%.0f", share->dram_q16 / 65536.0);
        }
        printf("| %s | %s | %s | %u | %u | %s | %s | %s | %.3f | %.3f | %.2f |\n", policy->name,
               launch->kernels[k].name, classes[o->kinds[k]], share->sms, share->blocks, network, dram, rate, alone[k],
               o->per_cycle[k], o->speed[k]);
    }
    printf("| %s | HSpeedup %.3f, WSpeedup %.3f | | | | | | | | | |\n", policy->name, o->metrics.harmonic_speedup,
           o->metrics.weighted_speedup);
}

int corun_command(int argc, char **argv) {
    static const struct option longs[] = {{"policy", required_argument, NULL, 'o'},
                                          {"cycles", required_argument, NULL, 'c'},
                                          {"warm", required_argument, NULL, 'w'},
                                          SHARING_LONGS,
                                          {"gpu", required_argument, NULL, 'g'},
                                          {"config", required_argument, NULL, 'n'},
                                          {"explain", no_argument, NULL, 'x'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const gpump_partition_policy *policies[POLICIES_MAX];
    static gpump_partition_fixed fixed[POLICIES_MAX];
    const char *names[POLICIES_MAX], *gpu;
    uint32_t count = 0, given, i;
    char error[LAUNCH_ERROR_BYTES];
    double alone[CORUN_KERNELS];
    launch_file launch;
    corun_experiment e;
    progress shown;
    int option, found, status = 0;
    memset(&e, 0, sizeof e);
    e.launch = &launch;
    machine_options_default(&e.options);
    e.cycles = 200000;
    e.warm = 30000;
    while ((option = getopt_long(argc, argv, "", longs, &found)) != -1) {
        switch (option) {
        case 'o':
            if (count == POLICIES_MAX) return option_misuse("corun", "too many --policy", NULL);
            names[count++] = optarg;
            break;
        case 'c':
            if (option_number("--cycles", optarg, 1000, UINT64_C(1000000000), &e.cycles)) return 2;
            break;
        case 'w':
            if (option_number("--warm", optarg, 0, UINT64_C(1000000000), &e.warm)) return 2;
            break;
        case 'Z':
            if (sharing_option(longs[found].name, optarg, &e.options.sharing)) return 2;
            break;
        case 'g': e.options.gpu = optarg; break;
        case 'n': e.options.config = optarg; break;
        case 'x': e.explain = 1; break;
        case 'h': fputs(usage, stdout); return 0;
        default: return option_misuse("corun", NULL, NULL);
        }
    }
    if (optind == argc) return option_misuse("corun", "which launch FILE?", NULL);
    given = count;
    if (optind < argc - 1) return option_misuse("corun", "one launch FILE; one too many is", argv[optind + 1]);
    for (i = 0; !given && count < POLICIES_MAX && policies_partition_name(i); i++)
        policies[count++] = policies_partition_at(i);
    if (launch_file_read(&launch, argv[optind], error)) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    gpu = e.options.gpu ? e.options.gpu : launch.gpu ? launch.gpu : "maxwell_ccbp";
    for (i = 0; i < given; i++) {
        if ((policies[i] = policies_read_partition("minigpu", names[i], gpu, &fixed[i])) != NULL) continue;
        launch_file_free(&launch);
        return 2;
    }
    if (launch.kernel_count < 2 || launch.kernel_count > GPUMP_PARTITION_KERNELS) {
        fprintf(stderr, "%s: minigpu corun wants 2 to %u kernels, the file has %u\n", argv[optind],
                GPUMP_PARTITION_KERNELS, launch.kernel_count);
        launch_file_free(&launch);
        return 2;
    }
    progress_begin(&shown, "minigpu corun");
    progress_watch(&shown, "the policies printed so far are complete");
    for (i = 0; i < launch.kernel_count && !status; i++) {
        gpump_traffic traffic;
        progress_show(&shown, (double)i / (launch.kernel_count + count), launch.kernels[i].name);
        status = corun_alone(&e, i, &alone[i], &traffic);
    }
    progress_end(&shown);
    if (!status)
        printf("| policy | kernel | class | SMs | blocks | network %% | DRAM %% | misses per unit | alone | shared | "
               "speed |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (i = 0; i < count && !status; i++) {
        corun_outcome outcome;
        progress_show(&shown, (double)(launch.kernel_count + i) / (launch.kernel_count + count), policies[i]->name);
        status = corun_together(&e, policies[i], alone, &outcome);
        progress_end(&shown);
        if (!status) print_outcome(&launch, policies[i], alone, &outcome);
        if (!status && e.explain) corun_explain_print(&launch, gpu, policies[i]->name, alone, &outcome);
        fflush(stdout);
    }
    progress_unwatch(&shown);
    launch_file_free(&launch);
    return status;
}
