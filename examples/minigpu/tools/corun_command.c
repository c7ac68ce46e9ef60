#define _GNU_SOURCE
#include "tools/corun_command.h"

#include <stdio.h>
#include <string.h>

#include "gpump_once.h"
#include "policies.h"
#include "tools/corun_experiment.h"
#include "tools/corun_explain.h"
#include "progress.h"
#include "tools/run_options.h"

enum { POLICIES_MAX = 16 };

typedef struct corun_arguments {
    corun_experiment experiment;
    option_texts names; /* of policies; none: all */
} corun_arguments;

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

/* The policies to compare. */
typedef struct policy_list {
    const gpump_partition_policy *policies[POLICIES_MAX];
    gpump_partition_fixed fixed[POLICIES_MAX];
    uint32_t count;
} policy_list;

/* Fills the list with the named policies, or with all. Returns an exit status. */
static int choose_policies(policy_list *list, const option_texts *names, const gpump_gpu *gpu, uint32_t kernels) {
    uint32_t i;
    for (i = 0; i < names->count; i++)
        if (!(list->policies[i] = policies_read_partition("minigpu", names->texts[i], gpu, kernels, &list->fixed[i])))
            return 2;
    for (i = 0; !names->count && i < POLICIES_MAX && policies_partition_name(i); i++)
        list->policies[i] = policies_partition_at(i);
    list->count = names->count ? names->count : i;
    return 0;
}

/* Measures every kernel alone. Returns an exit status. */
static int run_alone(const corun_experiment *e, uint32_t policies, double *alone, progress *shown) {
    const launch_file *launch = e->launch;
    gpump_traffic traffic;
    uint32_t i;
    int status = 0;
    for (i = 0; i < launch->kernel_count && !status; i++) {
        progress_show(shown, (double)i / (launch->kernel_count + policies), launch->kernels[i].name);
        status = corun_alone(e, i, &alone[i], &traffic);
    }
    progress_end(shown);
    return status;
}

static int run_policies(const corun_experiment *e, const policy_list *list, const gpump_gpu *gpu, progress *shown) {
    const launch_file *launch = e->launch;
    double alone[CORUN_KERNELS];
    corun_outcome outcome;
    uint32_t i;
    int status = run_alone(e, list->count, alone, shown);
    if (!status)
        printf("| policy | kernel | class | SMs | blocks | network %% | DRAM %% | misses per unit | alone | shared | "
               "speed |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (i = 0; i < list->count && !status; i++) {
        progress_show(shown, (double)(launch->kernel_count + i) / (launch->kernel_count + list->count),
                      list->policies[i]->name);
        status = corun_together(e, list->policies[i], alone, &outcome);
        progress_end(shown);
        if (!status) print_outcome(launch, list->policies[i], alone, &outcome);
        if (!status && e->explain) corun_explain_print(launch, gpu, list->policies[i]->name, alone, &outcome);
        fflush(stdout);
    }
    return status;
}

/* Compares the policies on a launch file. Returns an exit status. */
static int compare(const corun_arguments *a) {
    static policy_list list;
    const corun_experiment *e = &a->experiment;
    char error[LAUNCH_ERROR_BYTES];
    gpump_gpu gpu;
    progress shown;
    int status;
    if (e->launch->kernel_count < 2 || e->launch->kernel_count > GPUMP_PARTITION_KERNELS) {
        fprintf(stderr, "%s: minigpu corun needs 2 to %u kernels, the file has %u\n", e->launch->path,
                GPUMP_PARTITION_KERNELS, e->launch->kernel_count);
        return 2;
    }
    if (e->launch->process_count != e->launch->kernel_count) {
        fprintf(stderr, "%s: minigpu corun needs each kernel in a process of its own, the file has %u kernels in %u\n",
                e->launch->path, e->launch->kernel_count, e->launch->process_count);
        return 2;
    }
    corun_repeat(e->launch);
    if (machine_choose_gpu(e->launch, &e->options, &gpu, error)) return fprintf(stderr, "%s\n", error), 2;
    if (choose_policies(&list, &a->names, &gpu, e->launch->kernel_count)) return 2;
    progress_begin(&shown, "minigpu corun");
    progress_watch(&shown, "the policies printed so far are complete");
    status = run_policies(e, &list, &gpu, &shown);
    progress_unwatch(&shown);
    return status;
}

static int corun(const option_command *command, int argc, char **argv) {
    static corun_arguments a;
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    int operands, status;
    a.experiment.launch = &launch;
    machine_options_default(&a.experiment.options);
    a.experiment.cycles = 200000;
    a.experiment.warm = 30000;
    status = options_read(command, argc, argv, &a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if (!operands) return option_misuse("corun", "which launch FILE?", NULL);
    if (operands > 1) return option_misuse("corun", "one launch FILE; one too many is", argv[2]);
    if (launch_file_read(&launch, argv[1], error)) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    status = compare(&a);
    launch_file_free(&launch);
    return status;
}

static const option_row corun_rows[] = {
    {.name = "partition",
     .argument = "POLICY",
     .kind = OPTION_TEXTS,
     .high = POLICIES_MAX,
     .many = 1,
     .often = 1,
     .offset = offsetof(corun_arguments, names),
     .names = policies_partition_name,
     .group = "Policies",
     .text = "Policies that divide the SMs: %N. Or a fixed division: green:A:B (SMs), mps:P:Q (percent of the SMs), "
             "mig:1g+3g, "
             "blocks:A:B (on each SM). May be repeated (default: all but the fixed ones)."},
    {.name = "policy", .now = "partition"},
    {.name = "cycles",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .low = 1000,
     .high = 1000000000,
     .offset = offsetof(corun_arguments, experiment.cycles),
     .group = "Measuring",
     .text = "Measures N cycles, once the division holds (200000)."},
    {.name = "warm",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .high = 1000000000,
     .offset = offsetof(corun_arguments, experiment.warm),
     .group = "Measuring",
     .text = "A kernel alone runs N cycles before it is measured (30000)."},
    {.name = "explain",
     .kind = OPTION_FLAG,
     .offset = offsetof(corun_arguments, experiment.explain),
     .group = "Measuring",
     .text =
         "Prints also what slows each kernel down: the cycles that its requests wait in each part, beside a copy of "
         "the machine in which the other kernels are held; and an estimate of its speed without such a copy."},
    {.name = NULL}};
static const option_set corun_sets[] = {{corun_rows, 0},
                                        {gpu_rows, offsetof(corun_arguments, experiment.options)},
                                        {corun_option_rows, offsetof(corun_arguments, experiment.options.sharing)},
                                        {corun_leave_rows, offsetof(corun_arguments, experiment.options.sharing)},
                                        {NULL, 0}};
static const option_rule *const corun_rule_arrays[] = {&corun_rules[CORUN_RULES_OF_RUN], NULL};

const option_command corun_command = {
    .name = "corun",
    .what = "kernels that share SMs, under each partition policy: Lin chapter 4",
    .usage = "minigpu corun FILE [options]",
    .operands = "FILE|launch file with two to eight kernels, each in a process of its own",
    .sets = corun_sets,
    .rules = corun_rule_arrays,
    .notes = "Each kernel runs alone, then all run together under each policy. All arrive at cycle 0, and start again "
             "whenever they end, whatever the file says. speed is the kernel's warp instructions "
             "per cycle, divided by the same number when it runs alone. HSpeedup is the harmonic mean of the speeds, "
             "WSpeedup their sum "
             "(Lin 4.3.3).\n"
             "exit status: 0 done, 1 a run failed, 2 bad input",
    .bit = COMMAND_CORUN,
    .run = corun,
};
