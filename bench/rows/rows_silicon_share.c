/* link: tbsim_core */
/* Rows M.xs.f7, M.xs.thpt, M.xs.f11 and M.xs.f13a: a foreground process beside a background one of the same or another
 * kind, on the devices of XSched's artifact. What a request takes alone is an input (rows with use `fit`); everything
 * else follows from the number of commands of a request and from who decides between two commands:
 *
 * - devices that switch: each process has its time slice (the driver's default)
 * - devices that do not: commands of both processes alternate
 * - XSched: a command of the background runs to its end, and none is launched while the foreground has work; where only
 *   launching can be stopped (level 1), commands that were launched ahead run out */
#include <stdlib.h>
#include <string.h>
#include "reproduce.h"
#include "rows_silicon.h"
#include "sorted.h"
#include "tbsim.h"

enum { REQUESTS = 200 };

/* A device of figure 7. commands: of one inference; a convolutional network of 152 layers is as many kernels, where
 * other devices take a whole model as one command. ahead: commands launched beyond the running one under XSched. load:
 * the share of the device that the foreground asks for (the artifact's scripts). */
typedef struct device {
    const char *name;
    uint32_t commands, ahead;
    int switches;
    double command_us[3];
} device;
static const device devices[] = {{"gv100", 152, 0, 1, GV100_COMMAND_US},
                                 {"k40m", 152, 15, 0, {0, 0, 0}},
                                 {"910b", 1, 0, 0, {0, 0, 0}},
                                 {"npu3720", 1, 0, 0, {0, 0, 0}},
                                 {"pva", 1, 0, 0, {0, 0, 0}}};
static const double load = 0.2;

typedef struct pair {
    double request_us[2]; /* of foreground and background, alone */
    uint32_t commands[2];
    double interval_us; /* between requests of the foreground; 0: each follows the last */
    const char *policy;
    uint32_t ahead, foreground_priority;
    double command_us[3];
    uint64_t slice_us;
} pair;

typedef struct outcome {
    double latency_us[REQUESTS], per_second[2]; /* ascending latencies; requests per second */
    double begun_us;
    uint32_t period, requests; /* ops of a request in the foreground's script; how many have ended */
} outcome;

static void reached(void *user, uint32_t process, uint32_t op, double us) {
    outcome *o = (outcome *)user;
    if (process || op >= o->period * REQUESTS) return;
    if (op % o->period == 1) o->begun_us = us;
    if (op % o->period == o->period - 1) o->latency_us[o->requests++] = us - o->begun_us;
}

/* A script of `requests` requests: a pause, the commands, a wait. Returns 0, or -1 when memory is out. */
static int script(tb_application *a, const pair *p, uint32_t kernel, uint32_t requests) {
    const uint32_t period = p->commands[kernel] + 2;
    uint64_t random = 7;
    a->ops = (tb_op *)calloc((size_t)requests * period, sizeof *a->ops);
    if (!a->ops) return -1;
    a->streams = 1;
    a->op_count = requests * period;
    for (uint32_t i = 0; i < a->op_count; i++) {
        tb_op *op = &a->ops[i];
        op->kind = i % period == 0 ? TB_OP_CPU : i % period == period - 1 ? TB_OP_SYNC : TB_OP_LAUNCH;
        op->kernel = kernel;
        if (op->kind == TB_OP_CPU && kernel == 0 && p->interval_us > 0) {
            const double pause =
                p->interval_us * (0.5 + gpump_random_below(&random, 1000) / 1000.0) - p->request_us[kernel];
            op->us = pause > 0 ? pause : 0;
        }
    }
    return 0;
}

/* Runs a pair. A command fills the device, so two SMs stand for all. Returns 1, or 0 after a report. */
static int run_pair(const pair *p, outcome *o, reproduce_result *result) {
    tb_library library;
    tb_application applications[2];
    tb_kernel kernels[2];
    tb_workload workload;
    tb_options options;
    static tb_result run;
    int bad = 0;
    memset(&library, 0, sizeof library);
    memset(applications, 0, sizeof applications);
    memset(kernels, 0, sizeof kernels);
    memset(&workload, 0, sizeof workload);
    memset(o, 0, sizeof *o);
    o->period = p->commands[0] + 2;
    tb_machine_preset(&library.machine, "v100");
    library.machine.gpu.memory_mb_per_s = library.machine.gpu.memory_mb_per_s / library.machine.gpu.sms * 2;
    library.machine.gpu.sms = 2;
    library.machine.variation = 0;
    library.machine.dispatch_us = library.machine.setup_us = 0; /* a part of what a request takes alone */
    library.applications = applications;
    library.application_count = workload.count = 2;
    library.kernels = kernels;
    library.kernel_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        tb_kernel *k = &kernels[i];
        snprintf(k->name, sizeof k->name, "command %u", i);
        k->blocks = 2;
        k->per_sm = 1;
        k->threads = 1024;
        k->registers = 65536;
        k->block_us = p->request_us[i] / p->commands[i];
        bad |= tb_kernel_prepare(k, &library.machine) || script(&applications[i], p, i, i ? 1 : REQUESTS);
        workload.processes[i].application = i;
    }
    workload.processes[0].repeat = 1;
    workload.processes[0].priority = p->foreground_priority;
    tb_options_default(&options);
    options.min_runs = 1;
    options.policy = tb_find_policy(p->policy);
    options.launch_ahead = p->ahead;
    options.launch_refill = p->ahead ? (p->ahead + 1) / 2 : 0;
    options.slice_us = p->slice_us;
    memcpy(options.command_us, p->command_us, sizeof options.command_us);
    options.reached = reached;
    options.user = o;
    if (bad || tb_run(&library, &workload, &options, &run)) {
        reproduce_failed(result, "%s", bad ? "out of memory" : run.error);
        bad = 1;
    }
    for (uint32_t i = 0; i < 2; i++) {
        free(applications[i].ops);
        tb_kernel_free(&kernels[i]);
    }
    if (bad) return 0;
    o->per_second[0] = o->requests * 1e6 / tb_us(&library.machine, run.cycles);
    o->per_second[1] = (double)run.processes[1].runs * 1e6 / tb_us(&library.machine, run.cycles);
    sorted_sort(o->latency_us, o->requests);
    return 1;
}

static double quantile(const outcome *o, double share) { return sorted_quantile(o->latency_us, o->requests, share); }

/* Fills a pair for one device. Returns 0 when the device's time alone is not known. */
static int pair_of(const reproduce_context *context, const device *d, int xsched, pair *p) {
    char row[56];
    memset(p, 0, sizeof *p);
    snprintf(row, sizeof row, "M.xs.f7.%s.sa.p50", d->name);
    p->request_us[0] = p->request_us[1] = 1000 * reproduce_fitted(context, row);
    p->commands[0] = p->commands[1] = d->commands;
    p->policy = xsched ? "npq" : d->switches ? "time_slice" : "fcfs";
    p->foreground_priority = (uint32_t)xsched;
    p->slice_us = (uint64_t)reproduce_fitted(context, "M.slice.hwdefault");
    if (xsched) {
        p->ahead = d->ahead;
        memcpy(p->command_us, d->command_us, sizeof p->command_us);
    }
    return p->request_us[0] > 0 && p->slice_us > 0;
}

/* Figure 7, latencies: the foreground asks for a fifth of the device. */
static void latencies(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[] = {"base", "xsched"};
    static outcome o;
    char row[56];
    pair p;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        for (int xsched = 0; xsched < 2; xsched++) {
            if (!pair_of(context, &devices[i], xsched, &p)) continue;
            p.interval_us = p.request_us[0] / load;
            if (!run_pair(&p, &o, result)) return;
            snprintf(row, sizeof row, "%s.%s.%s.p50", id, devices[i].name, schemes[xsched]);
            reproduce_point(result, row, quantile(&o, 0.5) / 1000);
            snprintf(row, sizeof row, "%s.%s.%s.p99", id, devices[i].name, schemes[xsched]);
            reproduce_point(result, row, quantile(&o, 0.99) / 1000);
        }
}

/* Figure 7, throughputs: both processes ask for all of the device. XSched gives shares of time, 75 and 25 %. */
static void throughputs(const reproduce_context *context, const char *id, reproduce_result *result) {
    static outcome o;
    char row[56];
    pair p;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        double alone, share[2];
        snprintf(row, sizeof row, "%s.%s.sa.one", id, devices[i].name);
        alone = reproduce_fitted(context, row);
        if (!(alone > 0) || !pair_of(context, &devices[i], 0, &p)) continue;
        if (!run_pair(&p, &o, result)) return;
        for (int k = 0; k < 2; k++) share[k] = o.per_second[k] * p.request_us[k] / 1e6;
        for (int k = 0; k < 2; k++) {
            snprintf(row, sizeof row, "%s.%s.base.%s", id, devices[i].name, k ? "bg" : "fg");
            reproduce_point(result, row, alone * share[k]);
            snprintf(row, sizeof row, "%s.%s.xsched.%s", id, devices[i].name, k ? "bg" : "fg");
            reproduce_point(result, row, alone * (k ? 0.25 : 0.75));
        }
    }
    reproduce_note(result, "shares of time under XSched are the policy's own, 75 and 25 %%");
}

/* Figure 11: jobs that always have work. Without control each has half of the time; under XSched the production job has
 * all of it, and what the opportunistic job finds between its kernels is not known. */
static void jobs(const reproduce_context *context, const char *id, reproduce_result *result) {
    static outcome o;
    const double train = reproduce_fitted(context, "M.xs.f11.train.gv100.sa.one"),
                 tests = reproduce_fitted(context, "M.xs.f11.sci.gv100.sa.ojob"),
                 latency = reproduce_fitted(context, "M.xs.f11.sci.gv100.sa.pjob.p50");
    char row[56];
    pair p;
    for (int xsched = 0; xsched < 2; xsched++)
        for (int science = 0; science < 2; science++) {
            const char *scheme = xsched ? "xsched" : "base";
            if (!pair_of(context, &devices[0], xsched, &p)) return;
            p.request_us[0] = science ? latency * 1000 : 1e6 / train;
            p.request_us[1] = science ? 1e6 / tests : 1e6 / train;
            p.commands[0] = science ? 100 : 152;
            p.commands[1] = science ? 1000 : 152;
            if (!run_pair(&p, &o, result)) return;
            if (!science) {
                snprintf(row, sizeof row, "%s.train.gv100.%s.pjob", id, scheme);
                reproduce_point(result, row, o.per_second[0]);
                if (xsched) continue;
                snprintf(row, sizeof row, "%s.train.gv100.%s.ojob", id, scheme);
                reproduce_point(result, row, o.per_second[1]);
                continue;
            }
            snprintf(row, sizeof row, "%s.sci.gv100.%s.pjob.p50", id, scheme);
            reproduce_point(result, row, quantile(&o, 0.5) / 1000);
            snprintf(row, sizeof row, "%s.sci.gv100.%s.pjob.p99", id, scheme);
            reproduce_point(result, row, quantile(&o, 0.99) / 1000);
            if (xsched) continue;
            snprintf(row, sizeof row, "%s.sci.gv100.%s.ojob", id, scheme);
            reproduce_point(result, row, o.per_second[1]);
        }
    reproduce_note(result, "vCUDA and TGS are not simulated, nor what XSched leaves to the opportunistic job: that is "
                           "the idle time of the production job, which was not measured");
}

/* Figure 13a: BERT-large beside BERT of low priority in one server; kernels of both streams alternate. */
static void server(const reproduce_context *context, const char *id, reproduce_result *result) {
    static outcome o;
    char row[56];
    pair p;
    for (int xsched = 0; xsched < 2; xsched++) {
        if (!pair_of(context, &devices[0], xsched, &p)) return;
        p.request_us[0] = p.request_us[1] = 1000 * reproduce_fitted(context, "M.xs.f13a.standalone.p50");
        p.interval_us = p.request_us[0] / load;
        if (!xsched) p.policy = "fcfs";
        if (!run_pair(&p, &o, result)) return;
        snprintf(row, sizeof row, "%s.%s.p50", id, xsched ? "xsched" : "triton");
        reproduce_point(result, row, quantile(&o, 0.5) / 1000);
        snprintf(row, sizeof row, "%s.%s.p99", id, xsched ? "xsched" : "triton");
        reproduce_point(result, row, quantile(&o, 0.99) / 1000);
    }
}

const reproduce_row rows_silicon_share[] = {
    {"M.xs.f7", latencies}, {"M.xs.thpt", throughputs}, {"M.xs.f11", jobs}, {"M.xs.f13a", server}, {NULL, NULL}};
