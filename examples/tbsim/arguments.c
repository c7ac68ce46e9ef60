/* arguments: see arguments.h. */
#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "installed.h"

#ifndef TBSIM_DATA_DIR
#define TBSIM_DATA_DIR "data"
#endif

void arguments_default(arguments *a) {
    static char folder[4096], table[4200];
    memset(a, 0, sizeof *a);
    tb_options_default(&a->options);
    tb_machine_preset(&a->machine, "k20c");
    snprintf(table, sizeof table, "%s/tanasic_table_5_2.csv",
             installed_folder("data", TBSIM_DATA_DIR, folder, sizeof folder));
    a->data = table;
    a->class_end = 1;
    a->base = TB_FCFS;
    a->processes = 2;
    a->workloads = 10;
    a->seed = 1;
    a->shards = 1;
}

/* ---- names ---- */

static const char *class_end_name(uint32_t index) {
    static const char *const names[] = {"low", "middle", "high", "none"};
    return index < 4 ? names[index] : NULL;
}
static const char *transfers_name(uint32_t index) { return index == 0 ? "fcfs" : index == 1 ? "npq" : NULL; }
static const char *base_name(uint32_t index) { return index == 0 ? "fcfs" : index == 1 ? tb_fcfs_context.name : NULL; }
/* Returns the index-th name: the techniques that do not rewind, then "select". */
static const char *mechanism_name(uint32_t index) {
    for (uint32_t t = 0; gpump_technique_at(t); t++)
        if (gpump_technique_begins(t) != GPUMP_TECHNIQUE_BEGIN_REWIND && !index--) return gpump_technique_at(t)->name;
    return index ? NULL : "select";
}

/* ---- values ---- */

/* Sets the machine. Numbers that other options have set stay. */
static int read_gpu(const option_row *row, const char *text, void *target) {
    arguments *a = (arguments *)target;
    const tb_machine old = a->machine;
    uint32_t which;
    (void)row;
    if (tb_machine_preset(&a->machine, text)) return option_choice("--gpu", text, gpump_gpu_preset_name, &which), -1;
    a->gpu = text;
    a->machine.variation = old.variation;
    a->machine.exact = old.exact;
    a->machine.launches_per_wait = old.launches_per_wait;
    a->machine.dispatch_us = old.dispatch_us;
    a->machine.printed_times = old.printed_times;
    return 0;
}

static int read_schedule(const option_row *row, const char *text, void *target) {
    arguments *a = (arguments *)target;
    uint32_t which;
    (void)row;
    a->has_policy = 1;
    if (tb_policy_refusal(text)) {
        fprintf(stderr, "tbsim: --schedule %s: %s\n", text, tb_policy_refusal(text));
        return -1;
    }
    a->options.policy = tb_find_policy(text);
    return a->options.policy ? 0 : (option_choice("--schedule", text, tb_policy_name, &which), -1);
}

static int read_leave(const option_row *row, const char *text, void *target) {
    arguments *a = (arguments *)target;
    uint32_t which;
    (void)row;
    if (option_choice("--leave", text, mechanism_name, &which)) return -1;
    a->options.mechanism = tb_mechanism(text);
    a->has_mechanism = 1;
    return 0;
}

static int read_transfers(const option_row *row, const char *text, void *target) {
    arguments *a = (arguments *)target;
    uint32_t which;
    (void)row;
    if (option_choice("--transfers", text, transfers_name, &which)) return -1;
    a->options.transfer_priority = (int)which;
    a->has_transfers = 1;
    return 0;
}

static int read_base(const option_row *row, const char *text, void *target) {
    arguments *a = (arguments *)target;
    uint32_t which;
    (void)row;
    if (option_choice("--base", text, base_name, &which)) return -1;
    a->base = which ? TB_FCFS_CONTEXT : TB_FCFS;
    return 0;
}

static int read_shard(const option_row *row, const char *text, void *target) {
    arguments *a = (arguments *)target;
    (void)row;
    return option_shard("--shard", text, &a->shard, &a->shards);
}

/* Reads a number with a fraction, from 0 to `most`. */
static int read_decimal(const option_row *row, const char *text, double most, double *value) {
    if (!option_decimal(text, value) && *value >= 0 && *value <= most) return 0;
    fprintf(stderr, "tbsim: --%s needs a number from 0 to %g, not \"%s\"\n", row->name, most, text);
    return -1;
}

static int read_variation(const option_row *row, const char *text, void *target) {
    return read_decimal(row, text, 0.9, &((arguments *)target)->machine.variation);
}
static int read_dispatch(const option_row *row, const char *text, void *target) {
    return read_decimal(row, text, 1e15, &((arguments *)target)->machine.dispatch_us);
}
/* Reads LEAST:SPREAD:MEAN, what a command costs that brings another process onto the GPU. */
static int read_command(const option_row *row, const char *text, void *target) {
    double *us = ((arguments *)target)->options.command_us;
    char extra;
    (void)row;
    if (sscanf(text, "%lf:%lf:%lf%c", &us[0], &us[1], &us[2], &extra) == 3 && us[0] >= 0 && us[1] >= 0 &&
        us[2] >= us[0] + us[1] / 2 && us[2] <= 1e6)
        return 0;
    fprintf(stderr,
            "tbsim: --command needs LEAST:SPREAD:MEAN in microseconds, where MEAN is at least LEAST + SPREAD / 2, not "
            "\"%s\"\n",
            text);
    return -1;
}
static int read_until(const option_row *row, const char *text, void *target) {
    arguments *a = (arguments *)target;
    a->has_limit = 1;
    if (read_decimal(row, text, 1e15, &a->options.limit_us)) return -1;
    if (a->options.limit_us > 0) return 0;
    return fprintf(stderr, "tbsim: --until needs a number above 0, not \"%s\"\n", text), -1;
}

/* ---- tables ---- */

#define EVERY (TBSIM_RUN | TBSIM_SWEEP | TBSIM_EVALUATE | TBSIM_MACHINES)
#define WORKLOADS "Workloads"
#define SIMULATION "Simulation"
#define SCHEDULING "Scheduling"
#define OUTPUT "Output"
#define WHERE(field) offsetof(arguments, field)

static const option_row rows[] = {
    {.name = "schedule",
     .argument = "POLICY",
     .kind = OPTION_READ,
     .read = read_schedule,
     .names = tb_policy_name,
     .group = SCHEDULING,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "The scheduler: %N."},
    {.name = "policy", .now = "schedule", .commands = TBSIM_RUN | TBSIM_SWEEP},
    {.name = "leave",
     .argument = "TECHNIQUE",
     .kind = OPTION_READ,
     .read = read_leave,
     .names = mechanism_name,
     .group = SCHEDULING,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "How blocks leave an SM that changes hands: %N."},
    {.name = "mechanism", .now = "leave", .commands = TBSIM_RUN | TBSIM_SWEEP},
    {.name = "transfers",
     .argument = "NAME",
     .kind = OPTION_READ,
     .read = read_transfers,
     .names = transfers_name,
     .group = SCHEDULING,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "The transfer engine's order: fcfs (default), npq."},
    {.name = "base",
     .argument = "NAME",
     .kind = OPTION_READ,
     .read = read_base,
     .names = base_name,
     .group = SCHEDULING,
     .commands = TBSIM_EVALUATE,
     .text = "What gains are compared with: fcfs, kernel by kernel (default), or fcfs_context."},
    {.name = "command",
     .argument = "LEAST:SPREAD:MEAN",
     .kind = OPTION_READ,
     .read = read_command,
     .samples = "0:0:0|24:2:26.5",
     .group = SCHEDULING,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "Microseconds that it costs to bring another process onto SMs: at least, evenly spread, on average (0)."},
    {.name = "launch-ahead",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .high = 65535,
     .offset = WHERE(options.launch_ahead),
     .group = SCHEDULING,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "Kernels that a stream has launched beyond the running one, which cannot be held back (0)."},
    {.name = "launch-refill",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .high = 65535,
     .offset = WHERE(options.launch_refill),
     .group = SCHEDULING,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "With --launch-ahead: a stream launches so many kernels at a time (0)."},
    {.name = "until",
     .argument = "US",
     .kind = OPTION_READ,
     .read = read_until,
     .samples = "1000|20000|0.5",
     .group = SIMULATION,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "Stops at US microseconds of simulated time (default: never)."},
    {.name = "limit", .now = "until", .commands = TBSIM_RUN | TBSIM_SWEEP},
    {.name = "starvation",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .high = UINT32_MAX,
     .offset = WHERE(options.starvation_times),
     .group = SIMULATION,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "A process that waits N times its time alone, per process, is an error; 0: never (100)."},
    {.name = "sm",
     .kind = OPTION_FLAG,
     .offset = WHERE(options.use_sm),
     .group = SIMULATION,
     .commands = TBSIM_RUN | TBSIM_SWEEP,
     .text = "Lets every SM be a gpump_sm, too, and compares."},
    {.name = "gpu",
     .argument = "PRESET",
     .kind = OPTION_READ,
     .read = read_gpu,
     .names = gpump_gpu_preset_name,
     .group = SIMULATION,
     .commands = EVERY,
     .text = "The machine (k20c); for machines: only that one."},
    {.name = "variation",
     .argument = "X",
     .kind = OPTION_READ,
     .read = read_variation,
     .samples = "0|0.2|0.9",
     .group = SIMULATION,
     .commands = EVERY,
     .text = "Spread of block times, from 0 to 0.9 (0.2)."},
    {.name = "dispatch",
     .argument = "US",
     .kind = OPTION_READ,
     .read = read_dispatch,
     .samples = "0|1|2.5",
     .group = SIMULATION,
     .commands = EVERY,
     .text = "Microseconds from a launch, or the end of the one before it, to the engine (1)."},
    {.name = "printed-times",
     .kind = OPTION_FLAG,
     .offset = WHERE(machine.printed_times),
     .group = SIMULATION,
     .commands = TBSIM_RUN | TBSIM_SWEEP | TBSIM_EVALUATE,
     .text = "Block times as in Table 5.2."},
    {.name = "exact",
     .kind = OPTION_FLAG,
     .offset = WHERE(machine.exact),
     .group = SIMULATION,
     .commands = TBSIM_RUN | TBSIM_SWEEP | TBSIM_EVALUATE,
     .text = "Simulates every block on its own."},
    {.name = "threads",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .high = 1024,
     .offset = WHERE(threads),
     .group = SIMULATION,
     .commands = TBSIM_SWEEP | TBSIM_EVALUATE | TBSIM_MACHINES,
     .text = "N workloads run at the same time; 0: one per processor (0)."},
    {.name = "class-end",
     .argument = "NAME",
     .kind = OPTION_CHOICE,
     .names = class_end_name,
     .offset = WHERE(class_end),
     .group = WORKLOADS,
     .commands = EVERY,
     .text = "Turnaround alone within its class: low, middle (default), high, or none: kernels only."},
    {.name = "data",
     .argument = "FILE",
     .kind = OPTION_INPUT,
     .offset = WHERE(data),
     .group = WORKLOADS,
     .commands = EVERY,
     .text = "Table 5.2 as CSV."},
    {.name = "launches-per-wait",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = 1000000,
     .offset = WHERE(machine.launches_per_wait),
     .group = WORKLOADS,
     .commands = EVERY,
     .text = "Applications wait for the GPU after N launches (4)."},
    {.name = "workloads",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = 1000000,
     .offset = WHERE(workloads),
     .group = WORKLOADS,
     .commands = TBSIM_SWEEP | TBSIM_EVALUATE | TBSIM_MACHINES,
     .text = "N random workloads; for evaluate: per process count (10)."},
    {.name = "processes",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = 10,
     .offset = WHERE(processes),
     .group = WORKLOADS,
     .commands = TBSIM_SWEEP,
     .text = "N processes in each workload (2)."},
    {.name = "prioritise",
     .kind = OPTION_FLAG,
     .offset = WHERE(prioritise),
     .group = WORKLOADS,
     .commands = TBSIM_SWEEP,
     .text = "The first process has priority 1."},
    {.name = "first-runs",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .high = 1000000,
     .offset = WHERE(first_runs),
     .group = WORKLOADS,
     .commands = TBSIM_SWEEP,
     .text = "The first process runs N times and ends; 0: again and again, as the others (0)."},
    {.name = "seed",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .high = 999999999999999,
     .offset = WHERE(seed),
     .group = WORKLOADS,
     .commands = TBSIM_SWEEP | TBSIM_MACHINES,
     .text = "Seed of the random workloads (1)."},
    {.name = "shard",
     .argument = "I/N",
     .kind = OPTION_READ,
     .read = read_shard,
     .samples = "0/1|0/2|1/2",
     .group = WORKLOADS,
     .commands = TBSIM_SWEEP,
     .text = "Only jobs i with i mod N = I, 0 <= I < N."},
    {.name = "csv",
     .kind = OPTION_FLAG,
     .offset = WHERE(csv),
     .group = OUTPUT,
     .commands = TBSIM_RUN,
     .text = "Prints the report as CSV."},
    {.name = "trace",
     .argument = "OUT.json",
     .kind = OPTION_OUTPUT,
     .offset = WHERE(trace),
     .group = OUTPUT,
     .commands = TBSIM_RUN,
     .text = "Writes a Chrome trace-event file: open it at https://ui.perfetto.dev."},
    {.name = "html",
     .argument = "OUT.html",
     .kind = OPTION_OUTPUT,
     .offset = WHERE(html),
     .group = OUTPUT,
     .commands = TBSIM_RUN,
     .text = "Writes one page that shows the run; it opens from disk in any browser."},
    {.name = "out",
     .argument = "FILE",
     .kind = OPTION_OUTPUT,
     .offset = WHERE(out),
     .group = OUTPUT,
     .commands = TBSIM_SWEEP,
     .text = "Writes the table there (default: standard output)."},
    {.name = "svg",
     .argument = "FILE",
     .kind = OPTION_OUTPUT,
     .offset = WHERE(svg),
     .group = OUTPUT,
     .commands = TBSIM_MACHINES,
     .text = "Draws the table."},
    {.name = "table",
     .argument = "FILE",
     .kind = OPTION_INPUT,
     .offset = WHERE(table),
     .group = OUTPUT,
     .commands = TBSIM_MACHINES,
     .text = "Runs nothing: --svg draws a table that was printed before."},
    {.name = NULL}};
const option_set tbsim_sets[] = {{rows, 0}, {NULL, 0}};
