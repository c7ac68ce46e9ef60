/* serving_tbsim OPERATORS.csv: how long a step of the decode waits until a prompt of 4,096 tokens has left the GPU,
 * block by block in tbsim: WAY,median,99th percentile in us. bench/serving calculates the same from the operators'
 * times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "serving.h"
#include "sorted.h"
#include "tbsim.h"

enum { SAMPLES = 150, PROMPTS = 45, PREFILL = 0, DECODE = 1, KERNELS = SERVING_OPERATORS + 2 };

static serving_model model;
static serving_step steps[2];
static struct {
    double launched_us, waits_us[SAMPLES];
} seen; /* a wait is what a step takes beyond the sum of its operators */

/* The decode's actions per sample: a sleep, its launches, a wait for them. */
static uint32_t launches(const serving_step *step) { return 2 + step->layers * SERVING_OPERATORS; }

static void reached(void *user, uint32_t process, uint32_t op, double us) {
    const uint32_t each = launches(&steps[DECODE]) + 2;
    (void)user;
    if (process != DECODE || op > SAMPLES * each) return;
    if (op % each == 1) seen.launched_us = us;
    if (op && op % each == 0) seen.waits_us[op / each - 1] = us - seen.launched_us - steps[DECODE].total_us;
}

static int fill_kernel(tb_library *library, uint32_t number, const serving_kernel *kernel) {
    tb_kernel *k = &library->kernels[number];
    snprintf(k->name, sizeof k->name, "%u", number);
    k->blocks = (uint32_t)kernel->waves * library->machine.gpu.sms;
    k->per_sm = 1;
    k->threads = 1024;
    k->registers = library->machine.gpu.registers;
    k->shared_bytes = library->machine.gpu.shared_bytes[library->machine.gpu.shared_option_count - 1];
    k->block_us = kernel->us / kernel->waves;
    return tb_kernel_prepare(k, &library->machine);
}

static tb_op *launch_step(tb_op *op, uint32_t first_kernel, const serving_step *step) {
    for (uint32_t i = 0; i < launches(step); i++, op++) {
        op->kind = TB_OP_LAUNCH;
        op->kernel = first_kernel + (i == 0                    ? 0
                                     : i + 1 == launches(step) ? KERNELS - 1
                                                               : 1 + (i - 1) % SERVING_OPERATORS);
    }
    return op;
}

static int fill_library(tb_library *library, tb_application *applications) {
    const uint32_t prefill_ops = launches(&steps[PREFILL]) + 1, decode_ops = launches(&steps[DECODE]) + 2;
    uint64_t random = 3;
    tb_op *op;
    library->kernel_count = 2 * KERNELS;
    library->kernels = (tb_kernel *)calloc(library->kernel_count, sizeof *library->kernels);
    applications[PREFILL].ops = (tb_op *)calloc(PROMPTS * prefill_ops, sizeof(tb_op));
    applications[DECODE].ops = (tb_op *)calloc(SAMPLES * decode_ops, sizeof(tb_op));
    if (!library->kernels || !applications[PREFILL].ops || !applications[DECODE].ops) return -1;
    for (uint32_t s = 0; s < 2; s++) {
        int failed = fill_kernel(library, s * KERNELS, &steps[s].first);
        for (uint32_t i = 0; i < SERVING_OPERATORS; i++)
            failed |= fill_kernel(library, s * KERNELS + 1 + i, &steps[s].operators[i]);
        if (failed | fill_kernel(library, s * KERNELS + KERNELS - 1, &steps[s].last)) return -1;
        applications[s].streams = 1;
    }
    applications[PREFILL].op_count = PROMPTS * prefill_ops;
    applications[DECODE].op_count = SAMPLES * decode_ops;
    op = applications[PREFILL].ops;
    for (uint32_t i = 0; i < PROMPTS; i++) {
        op = launch_step(op, 0, &steps[PREFILL]);
        op++->kind = TB_OP_SYNC;
    }
    op = applications[DECODE].ops;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        op->us = 10000 + gpump_random_below(&random, 10000);
        op++->kind = TB_OP_CPU;
        op = launch_step(op, KERNELS, &steps[DECODE]);
        op++->kind = TB_OP_SYNC;
    }
    return 0;
}

static void free_library(tb_library *library, tb_application *applications) {
    for (uint32_t i = 0; library->kernels && i < library->kernel_count; i++) tb_kernel_free(&library->kernels[i]);
    free(library->kernels);
    free(applications[PREFILL].ops);
    free(applications[DECODE].ops);
}

/* Runs one way in tbsim; the prompts come from prefill_us on. Returns 0, or -1 after a report. */
static int run(const char *policy, const char *mechanism, double prefill_us) {
    static tb_result result;
    int failed = 1;
    tb_library library;
    tb_application applications[2];
    tb_workload workload;
    tb_options options;
    memset(&library, 0, sizeof library);
    memset(applications, 0, sizeof applications);
    memset(&workload, 0, sizeof workload);
    tb_machine_preset(&library.machine, "h100");
    library.machine.variation = library.machine.setup_us = library.machine.dispatch_us = 0;
    library.applications = applications;
    library.application_count = 2;
    workload.count = 2;
    workload.processes[DECODE].application = workload.processes[DECODE].priority = 1;
    workload.processes[DECODE].repeat = 1;
    workload.processes[PREFILL].start_us = prefill_us;
    tb_options_default(&options);
    options.min_runs = 1;
    options.policy = tb_find_policy(policy);
    options.mechanism = tb_mechanism(mechanism);
    options.reached = reached;
    if (fill_library(&library, applications))
        fprintf(stderr, "serving_tbsim: out of memory\n");
    else if ((failed = tb_run(&library, &workload, &options, &result)) != 0)
        fprintf(stderr, "serving_tbsim: %s\n", result.error);
    free_library(&library, applications);
    return failed ? -1 : 0;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name, *policy, *mechanism;
    } ways[] = {{"kernel", "npq", "drain"}, {"drain", "ppq", "drain"}, {"switch", "ppq", "switch"}};
    char error[200];
    csv_table operators;
    double alone_us; /* of rounding to cycles, kernel by kernel */
    if (argc != 2 || !csv_read(&operators, argv[1], error, sizeof error)) return 2;
    if (!serving_model_read(&model, &operators, "H100", "Llama-2-7b", error, sizeof error)) return 2;
    serving_prefill(&model, 4096, &steps[PREFILL]);
    serving_decode(&model, 30, 1300, &steps[DECODE]);
    if (run("npq", "drain", 1e9)) return 1;
    alone_us = seen.waits_us[0];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (run(ways[i].policy, ways[i].mechanism, 0)) return 1;
        sorted_sort(seen.waits_us, SAMPLES);
        printf("%s,%.0f,%.0f\n", ways[i].name, sorted_quantile(seen.waits_us, SAMPLES, 0.5) - alone_us,
               sorted_quantile(seen.waits_us, SAMPLES, 0.99) - alone_us);
    }
    csv_free(&operators);
    return 0;
}
