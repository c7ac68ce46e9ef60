/* link: tbsim_core */
/* Rows M.xs.l1, M.xs.l2 and M.xs.l3: how long it takes on a GV100 until a stream has left the GPU, by three mechanisms.
 * The measuring loop is the source's: a stream launches 64 kernels of 64 blocks that spin and waits for them, again and
 * again; 300 times a second thread sleeps 0 to 799 us, suspends the stream and waits until it has left, sleeps 800 to
 * 1599 us and lets it go on. Here the second thread is a process of higher priority whose kernel fills the GPU while it
 * would sleep.
 *
 * Conditions of --set: relaunch_us (after a resumption nothing is in flight for so long, so that a suspension which
 * comes earlier costs only the command), and the command's cost, command_least, command_spread and command_mean. */
#include <stdlib.h>
#include <string.h>
#include "reproduce.h"
#include "rows_silicon.h"
#include "sorted.h"
#include "tbsim.h"

enum { SAMPLES = 300, SPINS = 64, LAUNCH_AHEAD = 8, REFILL = 4 };

static const double gv100_command_us[3] = GV100_COMMAND_US;
/* Fitted on the rows with use `fit` of M.xs.l1, 99th percentiles: a kernel that counts cycles for T us of the clock
 * that the driver reports lasts 1.32 T. */
static const double clock_ratio = 1.32;

typedef struct probe {
    double launched_us, hold_us[SAMPLES], latency_us[SAMPLES];
    double relaunch_us, command_us[3];
    uint32_t count; /* samples that find the stream in flight */
} probe;

/* Scripts of the prober: sleep, launch, wait, and so on. The process with number 1 is the prober. */
static void reached(void *user, uint32_t process, uint32_t op, double us) {
    probe *p = (probe *)user;
    if (process != 1 || op == 0 || op > 3 * p->count) return;
    if ((op - 1) % 3 == 1) p->launched_us = us;
    if ((op - 1) % 3 == 2) p->latency_us[(op - 1) / 3] = us - p->launched_us - p->hold_us[(op - 1) / 3];
}

static void fill_kernel(tb_kernel *k, const char *name, uint32_t blocks, double block_us) {
    snprintf(k->name, sizeof k->name, "%s", name);
    k->blocks = blocks;
    k->per_sm = 1; /* the hardware spreads blocks over all SMs */
    k->threads = 64;
    k->registers = 64 * 16;
    k->block_us = block_us;
}

/* Makes the script of the prober and its kernels. */
static void fill_prober(tb_library *library, tb_application *prober, probe *p) {
    uint64_t random = 9;
    tb_op *op = prober->ops;
    op->us = 100000; /* the source waits a second */
    op++->kind = TB_OP_CPU;
    p->count = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const double sleep_us = gpump_random_below(&random, 800), hold_us = 800 + gpump_random_below(&random, 800);
        if (p->count && sleep_us < p->relaunch_us) { /* the stream is not back yet */
            p->hold_us[p->count - 1] += sleep_us + hold_us;
            continue;
        }
        op->us = sleep_us > p->relaunch_us ? sleep_us - p->relaunch_us : 0;
        op++->kind = TB_OP_CPU;
        op->kernel = 1 + p->count;
        op++->kind = TB_OP_LAUNCH;
        op++->kind = TB_OP_SYNC;
        p->hold_us[p->count++] = hold_us + p->relaunch_us;
    }
    prober->op_count = (uint32_t)(op - prober->ops);
    library->kernel_count = 1 + p->count;
    for (uint32_t i = 0; i < p->count; i++)
        fill_kernel(&library->kernels[1 + i], "hold", library->machine.gpu.sms, p->hold_us[i]);
}

/* Makes the kernels and the scripts of both processes. Returns 0, or -1 when memory is out. */
static int fill_library(tb_library *library, tb_application *applications, probe *p, double spin_us) {
    library->kernels = (tb_kernel *)calloc(1 + SAMPLES, sizeof *library->kernels);
    applications[0].ops = (tb_op *)calloc(SPINS, sizeof *applications[0].ops);
    applications[1].ops = (tb_op *)calloc(1 + 3 * SAMPLES, sizeof *applications[1].ops);
    if (!library->kernels || !applications[0].ops || !applications[1].ops) return -1;
    fill_kernel(&library->kernels[0], "spin", 64, spin_us);
    applications[0].streams = applications[1].streams = 1;
    applications[0].op_count = SPINS;
    for (uint32_t i = 0; i < SPINS; i++) applications[0].ops[i].kind = TB_OP_LAUNCH;
    fill_prober(library, &applications[1], p);
    for (uint32_t i = 0; i < library->kernel_count; i++)
        if (tb_kernel_prepare(&library->kernels[i], &library->machine)) return -1;
    return 0;
}

static void free_library(tb_library *library, tb_application *applications) {
    for (uint32_t i = 0; library->kernels && i < library->kernel_count; i++) tb_kernel_free(&library->kernels[i]);
    free(library->kernels);
    free(applications[0].ops);
    free(applications[1].ops);
}

/* Measures one level with kernels of spin_us. Returns 0 after a report. */
static int measure(uint32_t level, double spin_us, probe *p, reproduce_result *result) {
    tb_library library;
    tb_application applications[2];
    tb_workload workload;
    tb_options options;
    static tb_result run;
    int done = 0;
    memset(&library, 0, sizeof library);
    memset(applications, 0, sizeof applications);
    memset(&workload, 0, sizeof workload);
    tb_machine_preset(&library.machine, "v100");
    library.machine.variation = 0;
    library.applications = applications;
    library.application_count = 2;
    workload.count = 2;
    workload.processes[1].application = workload.processes[1].priority = workload.processes[1].repeat = 1;
    tb_options_default(&options);
    options.min_runs = 1;
    options.policy = tb_find_policy(level == 3 ? "ppq" : "npq");
    options.launch_ahead = level == 1 ? LAUNCH_AHEAD - 1 : 0; /* beyond the running one */
    options.launch_refill = level == 1 ? REFILL : 0;
    memcpy(options.command_us, p->command_us, sizeof p->command_us);
    options.reached = reached;
    options.user = p;
    if (fill_library(&library, applications, p, spin_us))
        reproduce_failed(result, "out of memory");
    else if (tb_run(&library, &workload, &options, &run))
        reproduce_failed(result, "%s", run.error);
    else
        done = 1;
    for (uint32_t i = p->count; i < SAMPLES; i++) /* the command, and tbsim's dispatch and setup */
        p->latency_us[i] = p->command_us[2] + library.machine.dispatch_us + library.machine.setup_us;
    free_library(&library, applications);
    return done;
}

/* Reports the statistics of the first `count` samples as rows ID.KERNEL.STATISTIC. */
static void report(const char *id, const char *kernel, probe *p, size_t count, reproduce_result *result) {
    static const struct {
        const char *name;
        double share;
    } statistics[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}};
    char row[56];
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += p->latency_us[i];
    sorted_sort(p->latency_us, count);
    snprintf(row, sizeof row, "%s.%s.mean", id, kernel);
    reproduce_point(result, row, sum / (double)count);
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        snprintf(row, sizeof row, "%s.%s.%s", id, kernel, statistics[i].name);
        reproduce_point(result, row, sorted_quantile(p->latency_us, count, statistics[i].share));
    }
}

static void level(const reproduce_context *context, const char *id, reproduce_result *result) {
    const uint32_t number = (uint32_t)(id[strlen(id) - 1] - '0');
    static probe p;
    p.relaunch_us = reproduce_condition(context, result, "relaunch_us", 0);
    p.command_us[0] = reproduce_condition(context, result, "command_least", gv100_command_us[0]);
    p.command_us[1] = reproduce_condition(context, result, "command_spread", gv100_command_us[1]);
    p.command_us[2] = reproduce_condition(context, result, "command_mean", gv100_command_us[2]);
    for (uint32_t us = 100; us <= 2000; us += 100) {
        char kernel[16];
        if (!measure(number, us * clock_ratio, &p, result)) return;
        snprintf(kernel, sizeof kernel, "%u", us);
        report(id, kernel, &p, SAMPLES, result);
    }
    if (number != 3) return;
    if (measure(number, 1e7, &p, result)) report(id, "inf", &p, SAMPLES / 3, result); /* kernels that never end */
}

const reproduce_row rows_silicon_preempt[] = {{"M.xs.l1", level}, {"M.xs.l2", level}, {"M.xs.l3", level}, {NULL, NULL}};
