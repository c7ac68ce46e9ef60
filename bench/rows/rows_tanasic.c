/* link: tbsim_core */
/* Tanasic chapter 5: storage of the framework, kernels alone in tbsim, and the evaluation of 5.3 over random workloads.
 */
#include <math.h>
#include <string.h>
#include "gpump_once.h"
#include "reproduce.h"
#include "tbsim.h"

/* by_context is the second reading of the baseline: commands context by context (2.2), launches that do not wait for
 * each other, and the high end of each application's class. */
static tb_library *library, *context_library;
static tb_evaluation *evaluation, *by_context;

static const char *const context_words =
    "commands of one context before another's (2.2: \"before switching to another context\"), launches that do not "
    "wait, the high end of the classes";

/* Makes the libraries and evaluations that all rows share. Each scheme runs when a row first asks for it. */
static int ready(const reproduce_context *context, reproduce_result *result) {
    const uint32_t workloads = context->is_short ? 10 : 200;
    char path[1024], error[300];
    tb_machine machine;
    if (by_context) return 1;
    snprintf(path, sizeof path, "%s/tanasic_table_5_2.csv", context->data_dir);
    if (tb_machine_preset(&machine, "k20c") == 0)
        library = tb_library_tanasic(&machine, path, 1, error, sizeof error);
    else
        snprintf(error, sizeof error, "no preset k20c");
    machine.launches_per_wait = 1000000;
    if (library) context_library = tb_library_tanasic(&machine, path, 2, error, sizeof error);
    if (context_library) evaluation = tb_evaluation_create(library, TB_FCFS, workloads, 0, 0);
    if (evaluation) by_context = tb_evaluation_create(context_library, TB_FCFS_CONTEXT, workloads, 0, 0);
    if (!by_context) reproduce_failed(result, "%s", context_library ? "out of memory" : error);
    return by_context != NULL;
}

/* other: the result under the second reading; NULL: the row has one reading. */
static void report(reproduce_result *result, int failed, const tb_sample *sample, const tb_sample *other) {
    if (failed) {
        reproduce_failed(result, "a run failed");
        return;
    }
    reproduce_number(result, sample->mean, 2);
    reproduce_interval(result, sample->mean - sample->half_width, sample->mean + sample->half_width, 2);
    reproduce_note(result, "%u values", sample->count);
    if (other) reproduce_reading(result, other->mean, 2, "%s; +-%.2f", context_words, other->half_width);
}

static void storage(const reproduce_context *context, const char *id, reproduce_result *result) {
    gpump_scheduler_config config;
    gpump_scheduler_storage bits;
    (void)context;
    if (gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL) ||
        gpump_table_bits(&gpump_scheduler_component, &config, &bits, NULL)) {
        reproduce_failed(result, "gpump_table_bits");
        return;
    }
    if (!strcmp(id, "T.ptbq")) {
        reproduce_number(result, (double)bits.ptbqs / 8, 0);
        reproduce_holds(result, bits.ptbqs == UINT64_C(21632) * 8, "%llu B", (unsigned long long)bits.ptbqs / 8);
    } else {
        uint64_t tables = bits.command_buffers + bits.ksrt + bits.smst + bits.active_queue;
        reproduce_holds(result, tables < 512 * 8, "%llu B (buffers %llu, KSRT %llu, SMST %llu, active queue %llu)",
                        (unsigned long long)(tables + 7) / 8, (unsigned long long)(bits.command_buffers + 7) / 8,
                        (unsigned long long)(bits.ksrt + 7) / 8, (unsigned long long)(bits.smst + 7) / 8,
                        (unsigned long long)(bits.active_queue + 7) / 8);
    }
}

static void alone(const reproduce_context *context, const char *id, reproduce_result *result) {
    uint32_t within = 0;
    double worst = 0;
    (void)id;
    if (!ready(context, result)) return;
    for (uint32_t i = 0; i < library->kernel_count; i++) {
        const tb_kernel *k = &library->kernels[i];
        double off = fabs(tb_us(&library->machine, tb_kernel_alone(&library->machine, k)) / k->alone_us - 1) * 100;
        within += off <= 2;
        if (off > worst) worst = off;
    }
    reproduce_holds(result, within == library->kernel_count && library->kernel_count == 24, "%u/%u within 2", within,
                    library->kernel_count);
    reproduce_note(result, "worst %.2f %%", worst);
}

static const struct {
    const char *id;
    int scheme, klass;
    uint32_t count;
} gains[] = {{"T.npq.2", TB_NPQ, -1, 2},
             {"T.npq.8", TB_NPQ, -1, 8},
             {"T.ppq.switch.2", TB_PPQ_SWITCH, -1, 2},
             {"T.ppq.switch.8", TB_PPQ_SWITCH, -1, 8},
             {"T.ppq.drain.2", TB_PPQ_DRAIN, -1, 2},
             {"T.ppq.drain.8", TB_PPQ_DRAIN, -1, 8},
             {"T.ppq.short.switch.8", TB_PPQ_SWITCH, 0, 8},
             {"T.ppq.short.drain.8", TB_PPQ_DRAIN, 0, 8},
             {"T.dss.ntt.switch.8", TB_DSS_SWITCH, -1, 8},
             {"T.dss.ntt.drain.8", TB_DSS_DRAIN, -1, 8},
             {"T.dss.short.8", TB_DSS_SWITCH, 0, 8},
             {"T.dss.medium.8", TB_DSS_SWITCH, 1, 8},
             {"T.dss.long.8", TB_DSS_SWITCH, 2, 8}};

static void gain(const reproduce_context *context, const char *id, reproduce_result *result) {
    tb_sample sample, other;
    if (!ready(context, result)) return;
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++)
        if (!strcmp(gains[i].id, id)) {
            const int shares = gains[i].scheme >= TB_DSS_SWITCH;
            int failed =
                tb_turnaround_gain(evaluation, gains[i].scheme, gains[i].count, gains[i].klass, &sample) ||
                (shares && tb_turnaround_gain(by_context, gains[i].scheme, gains[i].count, gains[i].klass, &other));
            report(result, failed, &sample, shares ? &other : NULL);
        }
}

static void order(const reproduce_context *context, const char *id, reproduce_result *result) {
    tb_sample npq, by_switch, by_drain;
    if (!ready(context, result)) return;
    if (!strcmp(id, "T.ppq.medium.2")) {
        if (tb_turnaround_gain(evaluation, TB_PPQ_SWITCH, 2, 1, &by_switch) ||
            tb_turnaround_gain(evaluation, TB_PPQ_DRAIN, 2, 1, &by_drain)) {
            reproduce_failed(result, "a run failed");
            return;
        }
        reproduce_holds(result, by_drain.mean >= by_switch.mean, "switch %.3f, drain %.3f", by_switch.mean,
                        by_drain.mean);
        reproduce_resampled(
            result, reproduce_share_reversed(by_drain.mean, by_drain.half_width, by_switch.mean, by_switch.half_width));
        reproduce_note(result, "95%% intervals +-%.3f and +-%.3f over %u values", by_switch.half_width,
                       by_drain.half_width, by_drain.count);
        return;
    }
    for (uint32_t count = 2; count <= 8; count += 2) {
        if (tb_turnaround_gain(evaluation, TB_NPQ, count, -1, &npq) ||
            tb_turnaround_gain(evaluation, TB_PPQ_SWITCH, count, -1, &by_switch) ||
            tb_turnaround_gain(evaluation, TB_PPQ_DRAIN, count, -1, &by_drain)) {
            reproduce_failed(result, "a run failed");
            return;
        }
        reproduce_holds(result, by_switch.mean > by_drain.mean && by_drain.mean > npq.mean, "%u: %.2f > %.2f > %.2f",
                        count, by_switch.mean, by_drain.mean, npq.mean);
        reproduce_resampled(
            result, reproduce_share_reversed(by_switch.mean, by_switch.half_width, by_drain.mean, by_drain.half_width));
        reproduce_resampled(result,
                            reproduce_share_reversed(by_drain.mean, by_drain.half_width, npq.mean, npq.half_width));
    }
}

static const struct {
    const char *id;
    int base, scheme;
} losses[] = {{"T.ppq.stp.switch.8", TB_NPQ, TB_PPQ_SWITCH},
              {"T.ppq.stp.drain.8", TB_NPQ, TB_PPQ_DRAIN},
              {"T.dss.stp.switch.8", TB_FCFS, TB_DSS_SWITCH},
              {"T.dss.stp.drain.8", TB_FCFS, TB_DSS_DRAIN}};

static void loss(const reproduce_context *context, const char *id, reproduce_result *result) {
    tb_sample sample, other;
    if (!ready(context, result)) return;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (!strcmp(losses[i].id, id)) {
            const int shares = losses[i].scheme >= TB_DSS_SWITCH;
            int failed = tb_throughput_lost(evaluation, losses[i].base, losses[i].scheme, 8, &sample) ||
                         (shares && tb_throughput_lost(by_context, TB_FCFS_CONTEXT, losses[i].scheme, 8, &other));
            report(result, failed, &sample, shares ? &other : NULL);
        }
}

static void shared(const reproduce_context *context, const char *id, reproduce_result *result) {
    (void)id;
    if (!ready(context, result)) return;
    for (int drain = 0; drain < 2; drain++) {
        double exclusive = 0, common = 0;
        for (uint32_t count = 2; count <= 8; count += 2) {
            tb_sample a, b;
            if (tb_throughput_lost(evaluation, TB_NPQ, TB_PPQ_SWITCH + drain, count, &a) ||
                tb_throughput_lost(evaluation, TB_NPQ, TB_SHARED_SWITCH + drain, count, &b)) {
                reproduce_failed(result, "a run failed");
                return;
            }
            exclusive += a.mean / 4;
            common += b.mean / 4;
        }
        reproduce_holds(result, common > exclusive, "%s: shared %.3f, exclusive %.3f", drain ? "drain" : "switch",
                        common, exclusive);
    }
    reproduce_note(result, "means over 2, 4, 6 and 8 processes");
}

/* The throughput lost by switching and by draining, where the prioritised process has the GPU alone. */
static void loss_order(const reproduce_context *context, const char *id, reproduce_result *result) {
    tb_sample by_switch, by_drain;
    (void)id;
    if (!ready(context, result)) return;
    if (tb_throughput_lost(evaluation, TB_NPQ, TB_PPQ_SWITCH, 8, &by_switch) ||
        tb_throughput_lost(evaluation, TB_NPQ, TB_PPQ_DRAIN, 8, &by_drain)) {
        reproduce_failed(result, "a run failed");
        return;
    }
    reproduce_holds(result, by_drain.mean > by_switch.mean, "drain %.3f, switch %.3f", by_drain.mean, by_switch.mean);
    reproduce_resampled(
        result, reproduce_share_reversed(by_drain.mean, by_drain.half_width, by_switch.mean, by_switch.half_width));
    reproduce_note(result, "95%% intervals +-%.3f and +-%.3f over %u workloads; docs/tanasic_bands.md has the cause",
                   by_drain.half_width, by_switch.half_width, by_drain.count);
}

static void fairness(const reproduce_context *context, const char *id, reproduce_result *result) {
    tb_sample sample, other;
    double of_means, other_of_means;
    uint32_t count = !strcmp(id, "T.dss.fair.2") ? 2 : 8;
    int scheme = !strcmp(id, "T.dss.fair.drain.8") ? TB_DSS_DRAIN : TB_DSS_SWITCH;
    if (!ready(context, result)) return;
    if (tb_fairness_gain(evaluation, scheme, count, &sample, &of_means) ||
        tb_fairness_gain(by_context, scheme, count, &other, &other_of_means)) {
        reproduce_failed(result, "a run failed");
        return;
    }
    report(result, 0, &sample, NULL);
    reproduce_reading(result, of_means, 2,
                      "the ratio of the mean fairnesses (Fig 5.8a names neither this nor the mean "
                      "of ratios)");
    reproduce_reading(result, other_of_means, 2, "the same with %s; the mean of its ratios is %.2f +-%.2f",
                      context_words, other.mean, other.half_width);
}

const reproduce_row rows_tanasic[] = {
    {"T.ptbq", storage},
    {"T.tables", storage},
    {"T.iso", alone},
    {"T.npq.2", gain},
    {"T.npq.8", gain},
    {"T.ppq.switch.2", gain},
    {"T.ppq.switch.8", gain},
    {"T.ppq.drain.2", gain},
    {"T.ppq.drain.8", gain},
    {"T.ppq.order", order},
    {"T.ppq.short.switch.8", gain},
    {"T.ppq.short.drain.8", gain},
    {"T.ppq.medium.2", order},
    {"T.ppq.stp.switch.8", loss},
    {"T.ppq.stp.drain.8", loss},
    {"T.ppq.stp.order", loss_order},
    {"T.ppq.stp.shared", shared},
    {"T.dss.ntt.switch.8", gain},
    {"T.dss.ntt.drain.8", gain},
    {"T.dss.short.8", gain},
    {"T.dss.medium.8", gain},
    {"T.dss.long.8", gain},
    {"T.dss.fair.2", fairness},
    {"T.dss.fair.switch.8", fairness},
    {"T.dss.fair.drain.8", fairness},
    {"T.dss.stp.switch.8", loss},
    {"T.dss.stp.drain.8", loss},
    {NULL, NULL},
};
