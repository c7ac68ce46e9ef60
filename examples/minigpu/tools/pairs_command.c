#define _GNU_SOURCE
#include "tools/pairs_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "csv_merge.h"
#include "gpump_once.h"
#include "input.h"
#include "installed.h"
#include "output.h"
#include "policies.h"
#include "progress.h"
#include "tools/pairs.h"
#include "tools/run_options.h"

typedef struct pairs_arguments {
    pairs_experiment experiment;
    const char *csv;
    option_texts policies;
    uint32_t pairs, shard, shards;
} pairs_arguments;

static void print_alone(const pairs_experiment *e) {
    static const char *const classes[] = {"LS", "NBI", "DBI"};
    gpump_partition_config machine;
    uint32_t i;
    if (!pairs_machine(e, &machine)) return;
    printf("| kernel | class | throughput %% | network %% | DRAM %% | L2 misses %% |\n|---|---|---|---|---|---|\n");
    for (i = 0; i < e->kernel_count; i++) {
        const pairs_kernel *k = &e->kernels[i];
        const gpump_traffic *t = &k->traffic;
        const double hits = (double)(t->l2_load_hits + t->l2_store_hits + t->l2_atomic_hits);
        const double misses = (double)(t->l2_load_misses + t->l2_store_misses + t->l2_atomic_misses);
        gpump_utilisation used;
        gpump_meter_utilisation(&machine.meter, t, &used, NULL);
        printf("| %s | %s | %.1f | %.1f | %.1f | %.1f |\n", k->label, classes[k->kind], used.scheduler_q16 / 655.36,
               (used.up_q16 > used.down_q16 ? used.up_q16 : used.down_q16) / 655.36 *
                   machine.meter.sustainable_permille / 1000,
               used.dram_q16 / 655.36, hits + misses > 0 ? 100 * misses / (hits + misses) : 0);
    }
}

static void print_summary(const pairs_experiment *e, const pairs_table *table) {
    uint32_t p, count = e->policy_count + (e->oracle_cycles != 0);
    printf("\n| policy | pairs | mean HSpeedup | mean WSpeedup | ccbp's HSpeedup over it | 95%% interval |\n"
           "|---|---|---|---|---|---|\n");
    for (p = 0; p < count; p++) {
        const char *name = p < e->policy_count ? e->policies[p]->name : "oracle";
        double harmonic, weighted;
        const uint32_t pairs = pairs_mean(table, name, &harmonic, &weighted);
        const pairs_ratio beside = pairs_compare(table, "ccbp", name, NULL);
        printf("| %s | %u | %.3f | %.3f |", name, pairs, harmonic, weighted);
        if (beside.pairs)
            printf(" %+.1f%% | %+.1f to %+.1f%% |\n", 100 * (beside.ratio - 1), 100 * (beside.low - 1),
                   100 * (beside.high - 1));
        else
            printf(" | |\n");
    }
}

/* minigpu pairs summary: summarises a table, which may be merged. */
static int summarise(const char *path) {
    static pairs_experiment e;
    static gpump_partition_policy named[PAIRS_POLICIES];
    pairs_table table;
    FILE *file = input_open_or_say("minigpu", path);
    uint32_t i, p;
    int status;
    if (!file) return 2;
    memset(&table, 0, sizeof table);
    status = pairs_read(file, path, &e, &table);
    fclose(file);
    for (i = 0; i < table.count && !status; i++) {
        for (p = 0; p < e.policy_count && strcmp(named[p].name, table.rows[i].policy); p++) {}
        if (p < e.policy_count || p == PAIRS_POLICIES) continue;
        named[p].name = table.rows[i].policy;
        e.policies[e.policy_count++] = &named[p];
    }
    if (!status && !table.count) {
        fprintf(stderr, "%s:1:1: the table has no row\n", path);
        status = 2;
    }
    if (!status) print_summary(&e, &table);
    pairs_free(&table);
    return status;
}

static int run_pairs(const pairs_arguments *a, FILE *csv, progress *shown) {
    static uint32_t chosen[PAIRS_KERNELS * PAIRS_KERNELS][2];
    const pairs_experiment *e = &a->experiment;
    pairs_table table;
    uint32_t count, i, row, status = 0;
    memset(&table, 0, sizeof table);
    count = pairs_choose(e, a->pairs, chosen);
    if (count < a->pairs && a->pairs < PAIRS_KERNELS * PAIRS_KERNELS && !options_quiet())
        fprintf(stderr, "minigpu: pairs: the kernels make %u pairs, fewer than --pairs %u\n", count, a->pairs);
    if (csv) pairs_write_header(csv);
    printf("\n| pair | policy | blocks | SMs | speeds | HSpeedup | WSpeedup | network, DRAM %% of sustainable, peak |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (i = a->shard; i < count && !status; i += a->shards) {
        progress_show(shown, (double)i / count, e->kernels[chosen[i][0]].label);
        row = table.count;
        status = (uint32_t)pairs_run(e, i, chosen[i][0], chosen[i][1], &table);
        progress_end(shown);
        for (; row < table.count && !status; row++) {
            const pairs_row *r = &table.rows[row];
            if (csv) pairs_write(csv, e, r);
            printf("| %s+%s | %s | %u, %u | %u, %u | %.2f, %.2f | %.3f | %.3f | %.0f, %.0f |\n",
                   e->kernels[r->first].label, e->kernels[r->second].label, r->policy, r->blocks[0], r->blocks[1],
                   r->sms[0], r->sms[1], r->speed[0], r->speed[1], r->harmonic, r->weighted, r->network, r->dram);
        }
        fflush(stdout);
        if (csv) fflush(csv);
    }
    progress_end(shown);
    if (!status) print_summary(e, &table);
    pairs_free(&table);
    return (int)status;
}

/* Chooses policies and kernels. Returns an exit status. */
static int choose(pairs_arguments *a, char **paths, int path_count) {
    static const char *const usual[] = {"smk", "ws", "ws+dai", "ccbp", "even", "leftover"};
    static gpump_partition_fixed fixed[PAIRS_POLICIES];
    static char kernels[4096], folder[4200];
    pairs_experiment *e = &a->experiment;
    gpump_gpu gpu;
    uint32_t i;
    int n, status = 0;
    if (gpump_preset(&gpump_gpu_component, &gpu, e->run.options.gpu, NULL))
        return option_misuse("pairs", "no GPU preset is named", e->run.options.gpu);
    snprintf(folder, sizeof folder, "%s/demand",
             installed_folder("minigpu/kernels", MINIGPU_SOURCE_DIR "/kernels", kernels, sizeof kernels));
    if (!path_count) status = pairs_add(e, folder);
    for (n = 0; n < path_count && !status; n++) status = pairs_add(e, paths[n]);
    if (!status && a->csv) status = pairs_spare(e, a->csv);
    if (!status && e->kernel_count < 2) status = option_misuse("pairs", "two kernels at least make a pair", NULL);
    if (!status) status = pairs_choose_gpu(e);
    if (status) return status;
    e->policy_count = a->policies.count ? a->policies.count : (uint32_t)(sizeof usual / sizeof *usual);
    for (i = 0; i < e->policy_count; i++)
        if (!(e->policies[i] = policies_read_partition("minigpu", a->policies.count ? a->policies.texts[i] : usual[i],
                                                       &e->gpu, 2, &fixed[i])))
            return 2;
    return 0;
}

static int measure(pairs_arguments *a) {
    FILE *csv = NULL;
    progress shown;
    int status;
    if (a->csv && !(csv = fopen(a->csv, "w"))) return output_cannot_open("minigpu", a->csv), 2;
    progress_begin(&shown, "minigpu pairs");
    progress_watch(&shown, csv ? "the pairs printed so far are complete and in the file of --csv"
                               : "the pairs printed so far are complete; --csv keeps them, --shard splits the work");
    progress_show(&shown, -1, "each kernel alone");
    status = pairs_measure_alone(&a->experiment);
    progress_end(&shown);
    if (!status) print_alone(&a->experiment);
    if (!status) status = run_pairs(a, csv, &shown);
    progress_unwatch(&shown);
    if (csv && output_close(csv, "minigpu", a->csv) && !status) status = 1;
    return status;
}

static void defaults(pairs_arguments *a) {
    machine_options_default(&a->experiment.run.options);
    a->experiment.run.options.gpu = "maxwell_ccbp";
    a->experiment.run.cycles = 60000;
    a->experiment.run.warm = 30000;
    a->experiment.oracle_cycles = 20000;
    a->experiment.oracle_warm = 10000;
    a->experiment.seed = 1;
    a->pairs = PAIRS_KERNELS * PAIRS_KERNELS;
    a->shards = 1;
}

static int pairs(const option_command *command, int argc, char **argv) {
    static pairs_arguments a;
    int operands, status;
    if (argc > 1 && !strcmp(argv[1], "merge")) {
        if (argc < 4) return option_misuse("pairs", "merge needs OUT.csv and at least one PART.csv", NULL);
        return csv_merge("minigpu", "pair", argv[2], argv + 3, argc - 3);
    }
    if (argc > 1 && !strcmp(argv[1], "summary")) {
        if (argc != 3) return option_misuse("pairs", "summary needs one TABLE.csv", NULL);
        return summarise(argv[2]);
    }
    defaults(&a);
    status = options_read(command, argc, argv, &a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    status = choose(&a, argv + 1, operands);
    return status ? status : measure(&a);
}

static int read_shard(const option_row *row, const char *text, void *target) {
    pairs_arguments *a = (pairs_arguments *)target;
    (void)row;
    return option_shard("--shard", text, &a->shard, &a->shards);
}

#define PAIRS "Pairs and policies"
#define MEASURING "Measuring"
#define WORK "Work and output"

static const option_row pairs_rows[] = {
    {.name = "pairs",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = PAIRS_KERNELS * PAIRS_KERNELS,
     .offset = offsetof(pairs_arguments, pairs),
     .group = PAIRS,
     .text = "So many pairs, an equal part from each combination of two classes (default: all)."},
    {.name = "seed",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .high = UINT32_MAX,
     .offset = offsetof(pairs_arguments, experiment.seed),
     .group = PAIRS,
     .text = "Seed of the choice of pairs (1)."},
    {.name = "second-after",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .high = 1000000000,
     .offset = offsetof(pairs_arguments, experiment.second_after),
     .group = PAIRS,
     .text = "The second kernel of a pair arrives N cycles after the first (0). What a seed varies: kernels of two "
             "processes never start in the same cycle."},
    {.name = "partition",
     .argument = "POLICY",
     .kind = OPTION_TEXTS,
     .high = PAIRS_POLICIES,
     .many = 1,
     .offset = offsetof(pairs_arguments, policies),
     .names = policies_partition_name,
     .group = PAIRS,
     .text = "Policies that divide the SMs: %N, or a fixed division, as in corun. May be repeated (default: smk, ws, "
             "ws+dai, "
             "ccbp, even, leftover)."},
    {.name = "policy", .now = "partition"},
    {.name = "oracle",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .high = 1000000000,
     .offset = offsetof(pairs_arguments, experiment.oracle_cycles),
     .group = PAIRS,
     .text = "Finds also the best combination of blocks, each tried for N cycles (20000; 0: left out)."},
    {.name = "cycles",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .low = 1000,
     .high = 1000000000,
     .offset = offsetof(pairs_arguments, experiment.run.cycles),
     .group = MEASURING,
     .text = "Measures N cycles (60000)."},
    {.name = "warm",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .high = 1000000000,
     .offset = offsetof(pairs_arguments, experiment.run.warm),
     .group = MEASURING,
     .text = "A kernel alone, or with fixed blocks, runs N cycles before it is measured (30000)."},
    {.name = "dram-sustainable",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = 1000,
     .offset = offsetof(pairs_arguments, experiment.run.options.sharing.dram_sustainable_permille),
     .group = MEASURING,
     .text = "DRAM's sustainable bandwidth as policies see it, in thousandths of its peak (650)."},
    {.name = "shard",
     .argument = "I/N",
     .kind = OPTION_READ,
     .read = read_shard,
     .samples = "0/1|0/2|1/2",
     .group = WORK,
     .text = "Only pairs i with i mod N = I, 0 <= I < N. The summary is then that of the part."},
    {.name = "csv",
     .argument = "FILE",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(pairs_arguments, csv),
     .group = WORK,
     .text = "Writes the table there, one row per pair and policy."},
    {.name = NULL}};
static const option_set pairs_sets[] = {{pairs_rows, 0},
                                        {corun_option_rows, offsetof(pairs_arguments, experiment.run.options.sharing)},
                                        {gpu_rows, offsetof(pairs_arguments, experiment.run.options)},
                                        {NULL, 0}};

const option_command pairs_command = {
    .name = "pairs",
    .what = "pairs of kernels alone and together: the table of Lin 4.5",
    .usage = "minigpu pairs [FILE or FOLDER]... [options]\n"
             "minigpu pairs merge OUT.csv PART.csv...   the parts of a sharded table, as one file\n"
             "minigpu pairs summary TABLE.csv           the last table again",
    .operands =
        "FILE|launch file with one kernel\n"
        "FOLDER|every .yaml in it but launch.yaml and small.yaml (default: kernels/demand, one synthetic kernel "
        "for each row of Lin Table 4.2)",
    .sets = pairs_sets,
    .notes =
        "Prints each kernel alone, the table, and each policy's mean HSpeedup beside ccbp's, with intervals of 95% "
        "(bootstrap over kernels).\n"
        "exit status: 0 done, 1 a run failed, 2 bad input",
    .bit = COMMAND_PAIRS,
    .run = pairs,
};
