#define _GNU_SOURCE
#include "tools/pairs_command.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "csv_merge.h"
#include "gpump.h"
#include "input.h"
#include "output.h"
#include "policies.h"
#include "progress.h"
#include "tools/options.h"
#include "tools/pairs.h"

static const char usage[] =
    "usage: minigpu pairs [FILE or FOLDER]... [options]\n"
    "       minigpu pairs merge OUT.csv PART.csv...   the parts of a sharded table, as one file\n"
    "       minigpu pairs summary TABLE.csv           the last table again\n"
    "  FILE               launch file with one kernel; FOLDER: every .yaml in it but launch.yaml and small.yaml\n"
    "                     (default: kernels/demand, one synthetic kernel for each row of Lin Table 4.2)\n"
    "  --pairs N          so many pairs, an equal part from each combination of two classes (default: all)\n"
    "  --seed N           of the choice of pairs (default 1)\n"
    "  --policy NAME      as corun has them; may be repeated (default: smk, ws, ws+dai, ccbp, even, leftover)\n"
    "  --oracle N         also the best combination of blocks, each tried for N cycles (default 20000; 0: left out)\n"
    "  --cycles N         how long is measured (default 60000)\n"
    "  --warm N           cycles before a kernel alone, or with fixed blocks, is measured (default 30000)\n"
    "  --in-turn          kernels are sampled one after the other on all SMs\n"
    "  --dram-sustainable N  what policies take for DRAM's sustainable bandwidth, in thousandths of its peak (default "
    "650)\n"
    "  --shard I/N        only pairs i with i mod N = I, 0 <= I < N\n"
    "  --csv FILE         the table, one row per pair and policy\n"
    "  --gpu PRESET       default maxwell_ccbp\n"
    "  --config NAME=VALUE,...  numbers of the machine (config.h lists them)\n"
    "Prints each kernel alone, the table, and what each policy's mean HSpeedup is beside ccbp's, with intervals of "
    "95%\n"
    "(bootstrap over kernels). With --shard the summary is that of the part.\n"
    "exit status: 0 done, 1 a run failed, 2 bad input\n";

typedef struct arguments {
    const char *csv;
    uint64_t pairs, shard, shards;
    const char *policies[PAIRS_POLICIES];
} arguments;

static int read_shard(const char *text, arguments *a) {
    unsigned shard, shards;
    char extra;
    if (sscanf(text, "%u/%u%c", &shard, &shards, &extra) != 2 || !shards || shard >= shards)
        return option_misuse("pairs", "a shard is I/N with 0 <= I < N, not", text);
    a->shard = shard;
    a->shards = shards;
    return 0;
}

static int read_options(int argc, char **argv, pairs_experiment *e, arguments *a) {
    static const struct option longs[] = {{"pairs", required_argument, NULL, 'p'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"policy", required_argument, NULL, 'o'},
                                          {"oracle", required_argument, NULL, 'b'},
                                          {"cycles", required_argument, NULL, 'c'},
                                          {"warm", required_argument, NULL, 'w'},
                                          {"dram-sustainable", required_argument, NULL, 'd'},
                                          {"in-turn", no_argument, NULL, 't'},
                                          {"shard", required_argument, NULL, 'i'},
                                          {"csv", required_argument, NULL, 'v'},
                                          {"gpu", required_argument, NULL, 'g'},
                                          {"config", required_argument, NULL, 'n'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        uint64_t number;
        switch (option) {
        case 'p':
            if (option_number("--pairs", optarg, 1, PAIRS_KERNELS * PAIRS_KERNELS, &a->pairs)) return 2;
            break;
        case 's':
            if (option_number("--seed", optarg, 0, UINT32_MAX, &number)) return 2;
            e->seed = (uint32_t)number;
            break;
        case 'o':
            if (e->policy_count == PAIRS_POLICIES) return option_misuse("pairs", "too many --policy", NULL);
            a->policies[e->policy_count++] = optarg;
            break;
        case 'b':
            if (option_number("--oracle", optarg, 0, UINT64_C(1000000000), &e->oracle_cycles)) return 2;
            break;
        case 'c':
            if (option_number("--cycles", optarg, 1000, UINT64_C(1000000000), &e->run.cycles)) return 2;
            break;
        case 'w':
            if (option_number("--warm", optarg, 0, UINT64_C(1000000000), &e->run.warm)) return 2;
            break;
        case 'i':
            if (read_shard(optarg, a)) return 2;
            break;
        case 'd':
            if (option_number("--dram-sustainable", optarg, 1, 1000, &number)) return 2;
            e->run.options.sharing.dram_sustainable_permille = (uint32_t)number;
            break;
        case 't': e->run.options.sharing.in_turn = 1; break;
        case 'v': a->csv = optarg; break;
        case 'g': e->run.options.gpu = optarg; break;
        case 'n': e->run.options.config = optarg; break;
        case 'h': fputs(usage, stdout); return -1;
        default: return option_misuse("pairs", NULL, NULL);
        }
    }
    return 0;
}

static void print_alone(const pairs_experiment *e) {
    static const char *const classes[] = {"LS", "NBI", "DBI"};
    gpump_partition_config machine;
    uint32_t i;
    if (gpump_partition_config_preset(&machine, e->run.options.gpu)) return;
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

/* minigpu pairs summary: of a table, merged or whole. */
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
    if (!status) print_summary(&e, &table);
    pairs_free(&table);
    return status;
}

static int run_pairs(pairs_experiment *e, const arguments *a, FILE *csv, progress *shown) {
    static uint32_t chosen[PAIRS_KERNELS * PAIRS_KERNELS][2];
    pairs_table table;
    uint32_t count, i, row, status = 0;
    memset(&table, 0, sizeof table);
    count = pairs_choose(e, (uint32_t)a->pairs, chosen);
    if (csv) pairs_write_header(csv);
    printf("\n| pair | policy | blocks | SMs | speeds | HSpeedup | WSpeedup | network, DRAM %% of sustainable, peak |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (i = (uint32_t)a->shard; i < count && !status; i += (uint32_t)a->shards) {
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

int pairs_command(int argc, char **argv, const char *kernels) {
    static const char *const usual[] = {"smk", "ws", "ws+dai", "ccbp", "even", "leftover"};
    static gpump_partition_fixed fixed[PAIRS_POLICIES];
    static pairs_experiment e;
    char folder[512];
    arguments a = {NULL, PAIRS_KERNELS * PAIRS_KERNELS, 0, 1, {NULL}};
    FILE *csv = NULL;
    progress shown;
    int status;
    uint32_t i;
    if (argc > 1 && !strcmp(argv[1], "merge")) {
        if (argc < 4) return option_misuse("pairs", "merge wants OUT.csv and at least one PART.csv", NULL);
        return csv_merge("minigpu", argv[2], argv + 3, argc - 3);
    }
    if (argc > 1 && !strcmp(argv[1], "summary")) {
        if (argc != 3) return option_misuse("pairs", "summary wants one TABLE.csv", NULL);
        return summarise(argv[2]);
    }
    memset(&e, 0, sizeof e);
    machine_options_default(&e.run.options);
    e.run.options.gpu = "maxwell_ccbp";
    e.run.cycles = 60000;
    e.run.warm = 30000;
    e.oracle_cycles = 20000;
    e.oracle_warm = 10000;
    e.seed = 1;
    if ((status = read_options(argc, argv, &e, &a)) != 0) return status < 0 ? 0 : status;
    for (i = 0; !e.policy_count && i < sizeof usual / sizeof *usual; i++) a.policies[i] = usual[i];
    if (!e.policy_count) e.policy_count = i;
    for (i = 0; i < e.policy_count; i++)
        if (!(e.policies[i] = policies_read_partition("minigpu", a.policies[i], e.run.options.gpu, &fixed[i])))
            return 2;
    snprintf(folder, sizeof folder, "%s/demand", kernels);
    if (optind == argc) status = pairs_add(&e, folder);
    for (; optind < argc && !status; optind++)
        status = output_is_input("minigpu", a.csv, argv[optind]) ? 2 : pairs_add(&e, argv[optind]);
    if (!status && e.kernel_count < 2) status = option_misuse("pairs", "two kernels at least make a pair", NULL);
    if (!status && a.csv && !(csv = fopen(a.csv, "w"))) return output_cannot_open("minigpu", a.csv), 2;
    progress_begin(&shown, "minigpu pairs");
    progress_watch(&shown, csv ? "the pairs printed so far are complete and in the file of --csv"
                               : "the pairs printed so far are complete; --csv keeps them, --shard splits the work");
    progress_show(&shown, -1, "each kernel alone");
    if (!status) status = pairs_measure_alone(&e);
    progress_end(&shown);
    if (!status) print_alone(&e);
    if (!status) status = run_pairs(&e, &a, csv, &shown);
    progress_unwatch(&shown);
    if (csv && output_close(csv, "minigpu", a.csv) && !status) status = 1;
    return status;
}
