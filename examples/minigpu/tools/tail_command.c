#define _GNU_SOURCE
#include "tools/tail_command.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies.h"
#include "input.h"
#include "progress.h"
#include "tools/options.h"
#include "tools/sharing_options.h"
#include "tools/tail.h"

enum { NAMES_MAX = 16, REQUESTS_MAX = 100000 };

static const char usage[] =
    "usage: minigpu tail FILE [options]\n"
    "  FILE               launch file with two processes of one kernel each, both with repeat: runs of the first are\n"
    "                     requests, the second is the batch\n"
    "  --requests N       how many (default 100)\n"
    "  --every US         mean distance of a Poisson stream (default 8)\n"
    "  --seed N           of the stream (default 1)\n"
    "  --arrivals FILE    the stream: a cycle on each line, ascending, instead\n"
    "  --limit US         a request that takes longer is late (default: twice the median alone)\n"
    "  --policy NAME      who divides the SMs while a request runs: none (no division: whole SMs are preempted), "
    "even,\n"
    "                     spatial, leftover, green:A:B, mps:P:Q, mig:..., blocks:A:B, or hold, a controller that "
    "gives\n"
    "                     the batch what keeps 99% of the requests in time; may be repeated (default: none, even,\n"
    "                     spatial, hold)\n"
    "  --move NAME        how the batch's blocks leave: drain, switch, flush, chimera, park (the last two not with "
    "none);\n"
    "                     may be repeated (default: drain, switch, flush)\n"
    "  --gpu PRESET       the GPU (default: the launch file's)\n"
    "  --config NAME=VALUE,...  numbers of the machine (config.h lists them)\n"
    "Prints a row per partition and way of moving: latencies of requests, those that were late, and the batch's speed\n"
    "beside that alone.\n"
    "exit status: 0 done, 1 a run failed, 2 bad input\n";

typedef struct arguments {
    const char *policies[NAMES_MAX], *moves[NAMES_MAX], *trace;
    uint32_t policy_count, move_count;
    uint64_t requests, every_ns, limit_ns, seed;
} arguments;

static int read_options(int argc, char **argv, arguments *a, machine_options *options) {
    static const struct option longs[] = {{"requests", required_argument, NULL, 'r'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"arrivals", required_argument, NULL, 't'},
                                          {"limit", required_argument, NULL, 'l'},
                                          {"policy", required_argument, NULL, 'o'},
                                          {"move", required_argument, NULL, 'm'},
                                          {"gpu", required_argument, NULL, 'g'},
                                          {"config", required_argument, NULL, 'n'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    corun_options checked;
    int option;
    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (option) {
        case 'r':
            if (option_number("--requests", optarg, 1, REQUESTS_MAX, &a->requests)) return 2;
            break;
        case 'e':
            if (option_microseconds("--every", optarg, 0.01, &a->every_ns)) return 2;
            break;
        case 's':
            if (option_number("--seed", optarg, 0, UINT32_MAX, &a->seed)) return 2;
            break;
        case 't': a->trace = optarg; break;
        case 'l':
            if (option_microseconds("--limit", optarg, 0.001, &a->limit_ns)) return 2;
            break;
        case 'o':
            if (a->policy_count == NAMES_MAX) return option_misuse("tail", "too many --policy", NULL);
            a->policies[a->policy_count++] = optarg;
            break;
        case 'm':
            if (a->move_count == NAMES_MAX) return option_misuse("tail", "too many --move", NULL);
            if (sharing_option("move", optarg, &checked)) return 2;
            a->moves[a->move_count++] = optarg;
            break;
        case 'g': options->gpu = optarg; break;
        case 'n': options->config = optarg; break;
        case 'h': fputs(usage, stdout); return -1;
        default: return option_misuse("tail", NULL, NULL);
        }
    }
    if (optind != argc - 1) return option_misuse("tail", "one launch FILE is wanted", NULL);
    return 0;
}

/* Reads a cycle from each line. Returns how many, or 0 after a report. */
static uint32_t read_arrivals(const char *path, uint64_t *arrivals, uint32_t most) {
    FILE *file = input_open_or_say("minigpu tail", path);
    uint32_t count = 0;
    char line[64];
    if (!file) return 0;
    while (count < most && fgets(line, sizeof line, file)) {
        char *end;
        arrivals[count] = strtoull(line, &end, 10);
        if (end == line || *line == '-' || (*end && *end != '\n') || arrivals[count] >= NEVER / 4 ||
            (count && arrivals[count] < arrivals[count - 1])) {
            fprintf(stderr, "%s:%u:1: a cycle is wanted, not before that of the line above\n", path, count + 1);
            fclose(file);
            return 0;
        }
        count++;
    }
    fclose(file);
    if (!count) fprintf(stderr, "minigpu tail: %s has no line\n", path);
    return count;
}

static void print_row(const char *policy, const char *move, uint32_t count, const tail_outcome *o, uint64_t limit,
                      double batch_alone, double clock_mhz) {
    char share[24] = "";
    const double late = gpump_metrics_violation_rate(o->latencies, count, limit);
    if (o->is_held) snprintf(share, sizeof share, ", keeps %.0f%%", o->share_q16 / 655.36);
    printf("| %s | %s | %.2f | %.2f | %.2f | %.0f (%.0f%%) | %.2f%s |\n", policy, move,
           (double)tail_percentile(o->latencies, count, 500) / clock_mhz,
           (double)tail_percentile(o->latencies, count, 990) / clock_mhz,
           (double)tail_percentile(o->latencies, count, 1000) / clock_mhz, late * count, late * 100,
           batch_alone > 0 ? o->batch / batch_alone : 0, share);
    fflush(stdout);
}

/* One row. Returns an exit status. */
static int run_row(tail_experiment e, const char *policy, const char *move, tail_outcome *o, uint64_t limit) {
    static gpump_partition_fixed fixed;
    static gpump_partition_hold hold;
    const int is_none = !strcmp(policy, "none");
    if (is_none && (!strcmp(move, "chimera") || !strcmp(move, "park"))) return -1; /* these want a group */
    if (is_none) {
        e.options.technique = gpump_technique_find(move);
    } else if (!strcmp(policy, "hold")) {
        gpump_partition_hold_init(&hold, limit, 10, NULL);
        e.options.sharing.policy = &hold.policy;
        e.hold = &hold;
    } else {
        e.options.sharing.policy = policies_read_partition("minigpu", policy, e.options.gpu, &fixed);
        if (!e.options.sharing.policy) return 2;
    }
    if (!is_none) {
        e.options.sharing.unsampled = e.options.sharing.priorities = 1;
        (void)sharing_option("move", move, &e.options.sharing);
    }
    return tail_run(&e, o);
}

#define ALONE_CYCLES 300000u /* for which the batch runs alone */

static int run_table(tail_experiment *e, const arguments *a, const gpump_gpu *gpu, tail_outcome *o, progress *shown) {
    const double clock_mhz = gpu->clock_khz / 1000.0;
    uint64_t limit;
    double batch_alone;
    tail_experiment alone = *e;
    uint32_t p, v;
    int status;
    alone.count = e->count < 20 ? e->count : 20; /* the requests by themselves */
    alone.is_alone = 1;
    progress_show(shown, -1, "the requests alone");
    status = tail_run(&alone, o);
    if (status) return status;
    limit =
        a->limit_ns ? gpump_gpu_cycles_from_ns(gpu, a->limit_ns) : 2 * tail_percentile(o->latencies, alone.count, 500);
    printf("Requests alone: median %.2f us. Late: more than %.2f us. ",
           (double)tail_percentile(o->latencies, alone.count, 500) / clock_mhz, (double)limit / clock_mhz);
    alone.count = e->count; /* the whole stream: nobody can serve it faster */
    status = tail_run(&alone, o);
    if (status) return status;
    progress_end(shown);
    printf("Without a batch %.0f of %u are late.\n\n",
           gpump_metrics_violation_rate(o->latencies, e->count, limit) * e->count, e->count);
    progress_show(shown, -1, "the batch alone");
    status = tail_batch_alone(e, ALONE_CYCLES, &batch_alone);
    progress_end(shown);
    if (status) return status;
    printf("| partition | blocks leave by | p50 us | p99 us | longest us | late | speed of the batch |\n"
           "|---|---|---|---|---|---|---|\n");
    for (p = 0; p < a->policy_count && !status; p++)
        for (v = 0; v < a->move_count && !status; v++) {
            progress_show(shown, (double)(p * a->move_count + v) / (a->policy_count * a->move_count), a->policies[p]);
            status = run_row(*e, a->policies[p], a->moves[v], o, limit);
            progress_end(shown);
            if (!status) print_row(a->policies[p], a->moves[v], e->count, o, limit, batch_alone, clock_mhz);
            if (status < 0) status = 0;
        }
    return status;
}

static int check_launch(const launch_file *launch) {
    if (launch->kernel_count == 2 && launch->process_count == 2 && launch->processes[0].repeat > REQUESTS_MAX &&
        launch->processes[1].repeat > 1)
        return 0;
    fprintf(stderr,
            "%s: minigpu tail wants two processes of one kernel each, and repeat: 1000000 in both; the file has %u "
            "processes and %u kernels\n",
            launch->path, launch->process_count, launch->kernel_count);
    return 2;
}

int tail_command(int argc, char **argv) {
    static const char *const usual[] = {"none", "even", "spatial", "hold"}, *const moves[] = {"drain", "switch",
                                                                                              "flush"};
    arguments a = {{NULL}, {NULL}, NULL, 0, 0, 100, 8000, 0, 1};
    char error[LAUNCH_ERROR_BYTES];
    tail_experiment e;
    tail_outcome o;
    launch_file launch;
    progress shown;
    gpump_gpu gpu;
    uint64_t *arrivals;
    int status;
    memset(&e, 0, sizeof e);
    memset(&launch, 0, sizeof launch);
    memset(&o, 0, sizeof o);
    machine_options_default(&e.options);
    if ((status = read_options(argc, argv, &a, &e.options)) != 0) return status < 0 ? 0 : status;
    if (!a.policy_count) memcpy(a.policies, usual, sizeof usual), a.policy_count = sizeof usual / sizeof *usual;
    if (!a.move_count) memcpy(a.moves, moves, sizeof moves), a.move_count = sizeof moves / sizeof *moves;
    if (launch_file_read(&launch, argv[optind], error)) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    e.launch = &launch;
    if (!e.options.gpu) e.options.gpu = launch.gpu ? launch.gpu : "maxwell_ccbp";
    status = check_launch(&launch);
    if (!status && gpump_gpu_config_preset(&gpu, e.options.gpu))
        status = option_misuse("tail", "no GPU preset is named", e.options.gpu);
    arrivals = malloc(REQUESTS_MAX * sizeof *arrivals);
    o.latencies = malloc(REQUESTS_MAX * sizeof *o.latencies);
    if (!status && (!arrivals || !o.latencies)) status = 1;
    e.arrivals = arrivals;
    e.count = (uint32_t)a.requests;
    if (!status && a.trace && !(e.count = read_arrivals(a.trace, arrivals, REQUESTS_MAX))) status = 2;
    if (!status && !a.trace) tail_poisson(a.seed, gpump_gpu_cycles_from_ns(&gpu, a.every_ns), e.count, arrivals);
    progress_begin(&shown, "minigpu tail");
    progress_watch(&shown, "the rows printed so far are complete");
    if (!status) status = run_table(&e, &a, &gpu, &o, &shown);
    progress_unwatch(&shown);
    free(arrivals);
    free(o.latencies);
    launch_file_free(&launch);
    return status;
}
