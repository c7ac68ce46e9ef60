/* link: tbsim_core */
/* Rows M.xs.f7, M.xs.thpt, M.xs.f12 and M.xs.f13a: a foreground process beside a background one of the same
 * or another kind, on the devices of XSched's artifact. What a request takes alone is an input (rows with use `fit`);
 * everything else follows from the number of commands of a request, from how often requests come, and from who decides
 * between two commands:
 *
 * - devices that switch: each process has its time slice (the driver's default)
 * - devices that do not: commands of both processes alternate
 * - XSched: a command of the background runs to its end, and none is launched while the foreground has work; where only
 *   launching can be stopped (level 1), commands that were launched ahead run out; on the NPU, a suspension stops the
 *   running command, because its firmware preempts running work when a queue is suspended (vpu_jsm_api.h in the
 *   artifact)
 *
 * Conditions of --set: commands.DEVICE, ahead.DEVICE and host.DEVICE (the share of a request's time alone in which the
 * device idles), shared.DEVICE (bytes of shared memory that a switch moves), stops.DEVICE (1: a suspension stops the
 * running command), host.server, speech_ms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reproduce.h"
#include "rows_silicon.h"
#include "rows_silicon_pair.h"
#include "sorted.h"

/* A device of figure 7. commands: of one inference; a convolutional network of 152 layers is as many kernels. The
 * artifact slices the model into 8 for the Ascend, and submits 8 filters on each of 8 streams to the PVA; its source
 * does not say how many commands OpenVINO makes for the NPU. ahead: commands of the background launched beyond the
 * running one under XSched, by the artifact's thresholds (of each stream). interval_ms: between requests of the
 * foreground on average, by the artifact's scripts. switches: processes have time slices. stops: a suspension stops the
 * running command. */
typedef struct shared_device {
    const char *name;
    uint32_t commands, ahead, interval_ms;
    int switches, stops;
    double command_us[3];
} shared_device;
static const shared_device devices[] = {{"gv100", 152, 0, 33, 1, 0, GV100_COMMAND_US},
                                        {"k40m", 152, 15, 141, 0, 0, {0, 0, 0}},
                                        {"910b", 8, 2, 7, 0, 0, {0, 0, 0}},
                                        {"npu3720", 1, 0, 114, 0, 1, {0, 0, 0}},
                                        {"pva", 64, 15, 500, 0, 0, {0, 0, 0}}};

/* An op of a process begins, or a wait ends. A request begins behind its pause and ends with its wait, and the next one
 * comes an interval after its begin. */
static void reached(void *user, uint32_t process, uint32_t op, double us) {
    outcome *o = (outcome *)user;
    if (o->pair->reached) {
        o->pair->reached(o, process, op, us);
        return;
    }
    if (process || op >= o->period * REQUESTS) return;
    if (op % o->period == 1) o->begun_us = us;
    if (op % o->period != o->period - 1) return;
    o->latency_us[o->requests++] = us - o->begun_us;
    if (o->requests < REQUESTS) {
        const double chance = gpump_random_below(&o->random, 2001) / 1000.0 - 1;
        const double due = o->begun_us + o->pair->interval_us * (1 + o->pair->spread * chance);
        o->ops[0][op + 1].us = o->pair->pause_us + (due > us ? due - us : 0);
    }
}

/* A script of `requests` requests: a pause, time on the host, the commands (each behind a wait where launches are
 * held), a wait. Returns 0, or -1 when memory is out. */
static int script(tb_application *a, const pair *p, uint32_t kernel, uint32_t requests) {
    const int held = kernel && p->holds_launches;
    const uint32_t period = (held ? 2 : 1) * p->commands[kernel] + 3;
    a->ops = (tb_op *)calloc((size_t)requests * period, sizeof *a->ops);
    if (!a->ops) return -1;
    a->streams = 1;
    a->op_count = requests * period;
    for (uint32_t i = 0; i < a->op_count; i++) {
        tb_op *op = &a->ops[i];
        op->kind = i % period <= 1               ? TB_OP_CPU
                   : i % period == period - 1    ? TB_OP_SYNC
                   : held && i % period % 2 == 0 ? TB_OP_CPU
                                                 : TB_OP_LAUNCH;
        op->kernel = kernel;
        if (i % period == 1) op->us = p->host_us[kernel];
    }
    return 0;
}

/* A command that fills the device. */
static void fill_command(tb_kernel *k, const pair *p, uint32_t i) {
    snprintf(k->name, sizeof k->name, "command %u", i);
    k->blocks = 2;
    k->per_sm = 1;
    k->threads = 1024;
    k->registers = 65536;
    k->shared_bytes = p->shared_bytes;
    k->block_us = (p->request_us[i] - p->host_us[i]) / p->commands[i];
}

int silicon_run_pair(const pair *p, outcome *o, reproduce_result *result) {
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
    o->period = p->commands[0] + 3;
    o->pair = p;
    o->random = 7;
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
        fill_command(&kernels[i], p, i);
        bad |= tb_kernel_prepare(&kernels[i], &library.machine) ||
               script(&applications[i], p, i, i || p->reached ? 1 : REQUESTS);
        workload.processes[i].application = i;
    }
    for (uint32_t i = 0; i < 2; i++) o->ops[i] = applications[i].ops;
    workload.processes[0].repeat = p->reached ? p->repeats : 1;
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

double silicon_quantile(const outcome *o, double share) { return sorted_quantile(o->latency_us, o->requests, share); }

/* Returns a condition that --set switches for one device. */
static double condition(const reproduce_context *context, reproduce_result *result, const char *name,
                        const char *device, double usual) {
    char text[48];
    snprintf(text, sizeof text, "%s.%s", name, device);
    return reproduce_condition(context, result, text, usual);
}

/* Fills a pair for one device. Returns 0 when the device's time alone is not known. */
static int fill_pair(const reproduce_context *context, const shared_device *d, int xsched, pair *p,
                     reproduce_result *result) {
    char row[56];
    memset(p, 0, sizeof *p);
    snprintf(row, sizeof row, "M.xs.f7.%s.sa.p50", d->name);
    p->request_us[0] = p->request_us[1] = 1000 * reproduce_fitted(context, row);
    p->host_us[0] = p->host_us[1] = p->request_us[0] * condition(context, result, "host", d->name, 0);
    p->commands[0] = p->commands[1] = (uint32_t)condition(context, result, "commands", d->name, d->commands);
    p->shared_bytes = (uint32_t)condition(context, result, "shared", d->name, 0);
    if (xsched)
        p->policy = condition(context, result, "stops", d->name, d->stops) > 0 ? "ppq" : "npq";
    else
        p->policy = d->switches ? "time_slice" : "fcfs";
    p->foreground_priority = (uint32_t)xsched;
    p->slice_us = (uint64_t)reproduce_fitted(context, "M.slice.hwdefault");
    if (xsched) {
        p->ahead = (uint32_t)condition(context, result, "ahead", d->name, d->ahead);
        memcpy(p->command_us, d->command_us, sizeof p->command_us);
    }
    return p->request_us[0] > 0 && p->slice_us > 0 && p->commands[0] > 0;
}

/* Figure 7, latencies: the foreground asks for a fifth of the device. */
static void latencies(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[] = {"base", "xsched"};
    static outcome o;
    char row[56];
    pair p;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        for (int xsched = 0; xsched < 2; xsched++) {
            if (!fill_pair(context, &devices[i], xsched, &p, result)) continue;
            p.interval_us = 1000.0 * devices[i].interval_ms;
            p.spread = 0.5;
            if (!silicon_run_pair(&p, &o, result)) return;
            snprintf(row, sizeof row, "%s.%s.%s.p50", id, devices[i].name, schemes[xsched]);
            reproduce_point(result, row, silicon_quantile(&o, 0.5) / 1000);
            snprintf(row, sizeof row, "%s.%s.%s.p99", id, devices[i].name, schemes[xsched]);
            reproduce_point(result, row, silicon_quantile(&o, 0.99) / 1000);
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
        if (!(alone > 0) || !fill_pair(context, &devices[i], 0, &p, result)) continue;
        if (!silicon_run_pair(&p, &o, result)) return;
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

int silicon_gv100_pair(const reproduce_context *context, int xsched, pair *p, reproduce_result *result) {
    return fill_pair(context, &devices[0], xsched, p, result);
}

/* Figure 12: frames of a video 25 times a second, beside speech that takes the device as one command every 3 s. A frame
 * takes its period, or more where it waits for the device. */
static void frames(const reproduce_context *context, const char *id, reproduce_result *result) {
    enum { FRAMES = 2349 };
    static double time_ms[FRAMES];
    const double speech_ms = reproduce_condition(context, result, "speech_ms", 0), every_ms = 3000, period_ms = 40;
    double now = 0;
    char row[56];
    for (int i = 0; i < FRAMES; i++) {
        const double free = floor(now / every_ms) * every_ms + speech_ms;
        time_ms[i] = free > now + period_ms ? free - now : period_ms;
        now += time_ms[i];
    }
    sorted_sort(time_ms, FRAMES);
    snprintf(row, sizeof row, "%s.base.p50", id);
    reproduce_point(result, row, sorted_quantile(time_ms, FRAMES, 0.5));
    snprintf(row, sizeof row, "%s.base.p99", id);
    reproduce_point(result, row, sorted_quantile(time_ms, FRAMES, 0.99));
    reproduce_note(result, "how long the device takes for speech is not published");
}

/* Figure 13a: BERT-large, 0.1 s after the last request, beside BERT without a pause, in one server; kernels of both
 * streams alternate. On the host a request takes what it takes alone less its engine's kernels: NVIDIA's mean for this
 * model on a V100 (TensorRT, demo/BERT/README.md, the last with a V100: 384 tokens, one request, fp16). */
static const double bert_kernels_ms = 5.66;
static void server(const reproduce_context *context, const char *id, reproduce_result *result) {
    static outcome o;
    const double alone_ms = reproduce_fitted(context, "M.xs.f13a.standalone.p50"),
                 host = reproduce_condition(context, result, "host.server", 1 - bert_kernels_ms / alone_ms);
    char row[56];
    pair p;
    for (int xsched = 0; xsched < 2; xsched++) {
        if (!fill_pair(context, &devices[0], xsched, &p, result)) return;
        p.request_us[0] = p.request_us[1] = 1000 * reproduce_fitted(context, "M.xs.f13a.standalone.p50");
        p.host_us[0] = p.host_us[1] = host * p.request_us[0];
        p.pause_us = 100000;
        if (!xsched) p.policy = "fcfs";
        if (!silicon_run_pair(&p, &o, result)) return;
        snprintf(row, sizeof row, "%s.%s.p50", id, xsched ? "xsched" : "triton");
        reproduce_point(result, row, silicon_quantile(&o, 0.5) / 1000);
        snprintf(row, sizeof row, "%s.%s.p99", id, xsched ? "xsched" : "triton");
        reproduce_point(result, row, silicon_quantile(&o, 0.99) / 1000);
    }
}

const reproduce_row rows_silicon_pair[] = {
    {"M.xs.f7", latencies}, {"M.xs.thpt", throughputs}, {"M.xs.f12", frames}, {"M.xs.f13a", server}, {NULL, NULL}};
