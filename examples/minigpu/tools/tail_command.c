#define _GNU_SOURCE
#include "tools/tail_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies.h"
#include "input.h"
#include "progress.h"
#include "tools/run_options.h"
#include "tools/tail.h"

enum { NAMES_MAX = 16, REQUESTS_MAX = 100000 };

typedef struct tail_arguments {
    option_texts policies, moves;
    const char *arrivals;
    uint64_t every_ns, limit_ns, seed;
    uint32_t requests;
    machine_options options;
} tail_arguments;

/* Reads a cycle from each line. Returns their number, or 0 after a report. */
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
            fprintf(stderr, "%s:%u:1: a cycle is needed, at or after the cycle of the line above\n", path, count + 1);
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

/* Returns 1 when only blocks of a group can leave by this technique. */
static int needs_group(const char *move) { return !strcmp(move, "chimera") || !strcmp(move, "park"); }

/* Measures one row. Returns an exit status, or -1: the technique needs a group, and there is none. */
static int run_row(tail_experiment e, const gpump_gpu *gpu, const char *policy, const char *move, tail_outcome *o,
                   uint64_t limit) {
    static gpump_partition_fixed fixed;
    static gpump_partition_hold hold;
    const int is_none = !strcmp(policy, "none");
    if (is_none && needs_group(move)) return -1;
    if (is_none) {
        e.options.technique = gpump_technique_find(move);
    } else if (!strcmp(policy, "hold")) {
        gpump_partition_hold_init(&hold, limit, 10, NULL);
        e.options.sharing.policy = &hold.policy;
        e.hold = &hold;
    } else {
        e.options.sharing.policy = policies_read_partition("minigpu", policy, gpu, 2, &fixed);
        if (!e.options.sharing.policy) return 2;
    }
    if (!is_none) {
        e.options.sharing.unsampled = e.options.sharing.priorities = 1;
        (void)corun_set_leave(move, &e.options.sharing);
    }
    return tail_run(&e, o);
}

#define ALONE_CYCLES 300000u /* run time of the batch alone */

static int run_table(tail_experiment *e, const tail_arguments *a, const gpump_gpu *gpu, tail_outcome *o,
                     progress *shown) {
    const double clock_mhz = gpu->clock_khz / 1000.0;
    uint64_t limit;
    double batch_alone;
    tail_experiment alone = *e;
    uint32_t p, v;
    int status;
    alone.count = e->count < 20 ? e->count : 20; /* the requests alone */
    alone.is_alone = 1;
    progress_show(shown, -1, "the requests alone");
    status = tail_run(&alone, o);
    if (status) return status;
    limit =
        a->limit_ns ? gpump_gpu_cycles_from_ns(gpu, a->limit_ns) : 2 * tail_percentile(o->latencies, alone.count, 500);
    printf("Requests alone: median %.2f us. Late: more than %.2f us. ",
           (double)tail_percentile(o->latencies, alone.count, 500) / clock_mhz, (double)limit / clock_mhz);
    alone.count = e->count; /* the whole stream without a batch: the lower bound of late requests */
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
    for (p = 0; p < a->policies.count && !status; p++)
        for (v = 0; v < a->moves.count && !status; v++) {
            progress_show(shown, (double)(p * a->moves.count + v) / (a->policies.count * a->moves.count),
                          a->policies.texts[p]);
            status = run_row(*e, gpu, a->policies.texts[p], a->moves.texts[v], o, limit);
            progress_end(shown);
            if (!status) print_row(a->policies.texts[p], a->moves.texts[v], e->count, o, limit, batch_alone, clock_mhz);
            if (status < 0) status = 0;
        }
    return status;
}

static int check_launch(const launch_file *launch) {
    if (launch->kernel_count == 2 && launch->process_count == 2 && launch->processes[0].repeat > REQUESTS_MAX &&
        launch->processes[1].repeat > 1)
        return 0;
    fprintf(stderr,
            "%s: minigpu tail needs two processes of one kernel each, and repeat: 1000000 in both; the file has %u "
            "processes and %u kernels\n",
            launch->path, launch->process_count, launch->kernel_count);
    return 2;
}

static void use_default(option_texts *list, const char *const *texts, uint32_t count) {
    if (list->count) return;
    memcpy(list->texts, texts, count * sizeof *texts);
    list->count = count;
}

/* Sets the default policies and techniques where the command line names none. Returns an exit status. */
static int complete(tail_arguments *a) {
    static const char *const usual[] = {"none", "even", "spatial", "hold"}, *const moves[] = {"drain", "switch",
                                                                                              "flush"};
    corun_options checked;
    uint32_t i;
    int is_none = 0;
    use_default(&a->policies, usual, sizeof usual / sizeof *usual);
    use_default(&a->moves, moves, sizeof moves / sizeof *moves);
    for (i = 0; i < a->policies.count && !strcmp(a->policies.texts[i], "none"); i++)
        is_none = i + 1 == a->policies.count;
    for (i = 0; i < a->moves.count; i++) {
        const char *move = a->moves.texts[i];
        if (corun_set_leave(move, &checked)) return 2;
        if (is_none && needs_group(move))
            return option_misuse("tail", "with --partition none blocks leave by drain, switch or flush, not by", move);
    }
    return 0;
}

/* Measures the rows of an experiment. Fills in its stream of requests first. Returns an exit status. */
static int run_experiment(tail_experiment *e, const tail_arguments *a, const gpump_gpu *gpu, uint64_t *arrivals,
                          tail_outcome *o) {
    progress shown;
    int status;
    e->arrivals = arrivals;
    e->count = a->requests;
    if (a->arrivals && !(e->count = read_arrivals(a->arrivals, arrivals, REQUESTS_MAX))) return 2;
    if (!a->arrivals) tail_poisson(a->seed, gpump_gpu_cycles_from_ns(gpu, a->every_ns), e->count, arrivals);
    progress_begin(&shown, "minigpu tail");
    progress_watch(&shown, "the rows printed so far are complete");
    status = run_table(e, a, gpu, o, &shown);
    progress_unwatch(&shown);
    return status;
}

/* Measures a launch file. Returns an exit status. */
static int measure(launch_file *launch, tail_arguments *a) {
    tail_experiment e;
    tail_outcome o;
    gpump_gpu gpu;
    char error[LAUNCH_ERROR_BYTES];
    uint64_t *arrivals = (uint64_t *)malloc(REQUESTS_MAX * sizeof *arrivals);
    int status = check_launch(launch);
    memset(&e, 0, sizeof e);
    memset(&o, 0, sizeof o);
    e.launch = launch;
    e.options = a->options;
    if (!e.options.gpu) e.options.gpu = launch->gpu ? launch->gpu : "maxwell_ccbp";
    if (!status && machine_choose_gpu(launch, &e.options, &gpu, error)) fprintf(stderr, "%s\n", error), status = 2;
    o.latencies = (uint64_t *)malloc(REQUESTS_MAX * sizeof *o.latencies);
    if (!status && (!arrivals || !o.latencies)) status = 1;
    if (!status) status = run_experiment(&e, a, &gpu, arrivals, &o);
    free(arrivals);
    free(o.latencies);
    return status;
}

static int command_tail(const option_command *command, int argc, char **argv) {
    static tail_arguments a;
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    int operands, status;
    a.requests = 100;
    a.every_ns = 8000;
    a.seed = 1;
    machine_options_default(&a.options);
    status = options_read(command, argc, argv, &a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if (operands != 1) return option_misuse("tail", "one launch FILE is needed", NULL);
    if ((status = complete(&a)) != 0) return status;
    if (launch_file_read(&launch, argv[1], error)) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    status = measure(&launch, &a);
    launch_file_free(&launch);
    return status;
}

static const char *leave_name(uint32_t index) {
    static const char *const names[] = {"drain", "switch", "flush", "chimera", "park"};
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

#define REQUESTS "Requests"
#define COMPARED "What is compared"

static const option_row tail_rows[] = {
    {.name = "requests",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = REQUESTS_MAX,
     .offset = offsetof(tail_arguments, requests),
     .group = REQUESTS,
     .text = "So many requests (100)."},
    {.name = "every",
     .argument = "US",
     .kind = OPTION_MICROSECONDS,
     .low = 10,
     .high = 1000000000,
     .offset = offsetof(tail_arguments, every_ns),
     .group = REQUESTS,
     .text = "Mean distance of a Poisson stream, in microseconds (8)."},
    {.name = "seed",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .high = UINT32_MAX,
     .offset = offsetof(tail_arguments, seed),
     .group = REQUESTS,
     .text = "Seed of the stream (1)."},
    {.name = "arrivals",
     .argument = "FILE",
     .kind = OPTION_INPUT,
     .offset = offsetof(tail_arguments, arrivals),
     .group = REQUESTS,
     .text = "The stream instead: a cycle on each line, ascending."},
    {.name = "deadline-us",
     .argument = "US",
     .kind = OPTION_MICROSECONDS,
     .low = 1,
     .high = 1000000000,
     .offset = offsetof(tail_arguments, limit_ns),
     .group = REQUESTS,
     .text = "A request that takes longer is late (default: twice the median alone)."},
    {.name = "limit", .now = "deadline-us"},
    {.name = "partition",
     .argument = "POLICY",
     .kind = OPTION_TEXTS,
     .high = NAMES_MAX,
     .many = 1,
     .offset = offsetof(tail_arguments, policies),
     .names = policies_partition_name,
     .group = COMPARED,
     .text =
         "What divides the SMs while a request runs: none (whole SMs are preempted), even, spatial, leftover, "
         "green:A:B, mps:P:Q, mig:..., blocks:A:B, or hold, a controller that gives the batch what keeps 99% of the "
         "requests in time. May be repeated (default: none, even, spatial, hold)."},
    {.name = "policy", .now = "partition"},
    {.name = "leave",
     .argument = "TECHNIQUE",
     .kind = OPTION_TEXTS,
     .high = NAMES_MAX,
     .many = 1,
     .names = leave_name,
     .offset = offsetof(tail_arguments, moves),
     .group = COMPARED,
     .text = "How the batch's blocks leave: %N (the last two not with none). May be repeated (default: drain, switch, "
             "flush)."},
    {.name = "move", .now = "leave"},
    {.name = NULL}};
static const option_set tail_sets[] = {{tail_rows, 0}, {gpu_rows, offsetof(tail_arguments, options)}, {NULL, 0}};

const option_command tail_command = {
    .name = "tail",
    .what = "how long requests take beside a batch kernel, for each partition and technique",
    .usage = "minigpu tail FILE [options]",
    .operands = "FILE|launch file with two processes of one kernel each, both with repeat: runs of the first are "
                "requests, the second is the batch",
    .sets = tail_sets,
    .notes = "Prints a row per partition and technique: latencies of requests, those that were late, and the batch's "
             "speed over that alone.\n"
             "exit status: 0 done, 1 a run failed, 2 bad input",
    .bit = COMMAND_TAIL,
    .run = command_tail,
};
