#include "tools/corun_experiment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "parts/corun/corun.h"
#include "tools/in_copy.h"
#include "tools/report.h"

#define SETTLE_CYCLES 3000000u /* a group that does not run after so many cycles has blocks that never end */

#define REPEAT 1000000u /* runs of a kernel: more than any measurement has cycles for */

void corun_repeat(launch_file *launch) {
    uint32_t i;
    for (i = 0; i < launch->process_count; i++) launch->processes[i].repeat = REPEAT;
    for (i = 0; i < launch->kernel_count; i++) launch->kernels[i].arrival_cycle = 0;
}

static int failed(const machine *m) {
    fprintf(stderr, "minigpu: cycle %" PRIu64 ": %s\n", m->now, m->error);
    return 1;
}

static machine *make(const corun_experiment *e, const gpump_partition_policy *policy) {
    machine_options options = e->options;
    char error[LAUNCH_ERROR_BYTES];
    machine *m;
    options.sharing.policy = policy;
    if (!(m = machine_build(e->launch, &options, error))) fprintf(stderr, "%s\n", error);
    return m;
}

/* Runs for e->cycles and sets traffic[] for each participating kernel. */
static int measure(const corun_experiment *e, machine *m, uint32_t only, gpump_traffic *traffic) {
    gpump_traffic before[CORUN_KERNELS], after;
    const uint64_t start = m->now;
    uint32_t k;
    for (k = 0; k < m->kernel_count; k++) report_traffic(m, k + 1, &before[k]);
    if (machine_run(m, start + e->cycles) < 0) return failed(m);
    for (k = 0; k < m->kernel_count; k++) {
        if (only != NONE && k != only) continue;
        if (m->kernels[k].state == KERNEL_DONE) {
            fprintf(stderr,
                    "minigpu: kernel %s has ended before the measurement is over, at cycle %" PRIu64
                    ": --cycles must be less\n",
                    m->kernels[k].program->name, m->kernels[k].end_cycle);
            return 1;
        }
        report_traffic(m, k + 1, &after);
        gpump_statistics_diff(&gpump_meter_component, &before[k], &after, &traffic[k]);
        traffic[k].cycles = e->cycles;
    }
    return 0;
}

static int measure_all(const corun_experiment *e, machine *m, const double *alone, corun_outcome *outcome) {
    gpump_traffic traffic[CORUN_KERNELS], sum;
    gpump_metrics_rate rates[CORUN_KERNELS];
    gpump_diag diag;
    uint32_t k;
    memset(traffic, 0, sizeof traffic);
    if (measure(e, m, NONE, traffic)) return 1;
    memcpy(outcome->traffic, traffic, sizeof traffic);
    memset(&sum, 0, sizeof sum);
    for (k = 0; k < m->kernel_count; k++) {
        outcome->per_cycle[k] = (double)traffic[k].issued / (double)e->cycles;
        outcome->speed[k] = alone[k] > 0 ? outcome->per_cycle[k] / alone[k] : 0;
        rates[k].alone = alone[k];
        rates[k].shared = outcome->per_cycle[k] > 0 ? outcome->per_cycle[k] : 1e-9;
        sum.issued += traffic[k].issued;
        sum.l1_load_hits += traffic[k].l1_load_hits;
        sum.l2_load_hits += traffic[k].l2_load_hits;
        sum.flits_up += traffic[k].flits_up;
        sum.flits_down += traffic[k].flits_down;
        sum.dram_read_bytes += traffic[k].dram_read_bytes;
        sum.dram_written_bytes += traffic[k].dram_written_bytes;
    }
    sum.cycles = e->cycles;
    gpump_meter_utilisation(report_meter(m), &sum, &outcome->used, NULL);
    if (gpump_metrics_compute_rates(rates, m->kernel_count, &outcome->metrics, &diag) == GPUMP_OK) return 0;
    fprintf(stderr, "minigpu: a kernel alone issues nothing in %" PRIu64 " cycles\n", e->cycles);
    return 1;
}

int corun_alone(const corun_experiment *e, uint32_t only, double *per_cycle, gpump_traffic *traffic) {
    gpump_traffic of[CORUN_KERNELS];
    machine *m = make(e, NULL);
    uint32_t k;
    int status;
    if (!m) return 2;
    for (k = 0; k < m->kernel_count; k++)
        if (k != only) m->kernels[k].arrival_cycle = NEVER;
    status = machine_run(m, e->warm) < 0 ? failed(m) : measure(e, m, only, of);
    if (!status) {
        *per_cycle = (double)of[only].issued / (double)e->cycles;
        *traffic = of[only];
    }
    machine_free(m);
    return status;
}

/* In a copy of the machine only kernel `only` issues. Every kernel keeps its blocks and its share. */
typedef struct held_run {
    const corun_experiment *experiment;
    gpump_traffic traffic[CORUN_KERNELS];
    int status;
} held_run;

static void run_held(machine *m, uint32_t only, void *result) {
    held_run *held = (held_run *)result;
    uint32_t k, i;
    for (k = 0; k < m->kernel_count; k++)
        for (i = 0; k != only && i < m->sm_count; i++) {
            gpump_rate_limits limits = gpump_rate_limits_none();
            limits.instructions = 0;
            machine_must(m, "gpump_rate_set",
                         gpump_rate_set(corun_rate(m->sms[i]), m->now, corun_of(m)->member_of[k], &limits), NULL);
        }
    held->status = machine_run(m, m->now + held->experiment->warm) < 0;
    held->status = held->status ? failed(m) : measure(held->experiment, m, only, held->traffic);
}

static int measure_held(const corun_experiment *e, machine *m, corun_outcome *outcome) {
    uint32_t k;
    for (k = 0; k < m->kernel_count; k++) {
        held_run held;
        memset(&held, 0, sizeof held);
        held.experiment = e;
        if (in_copy(run_held, m, k, &held, sizeof held) || held.status) return 1;
        outcome->held[k] = held.traffic[k];
    }
    return 0;
}

/* Returns the cycle in which the last kernel arrives. */
static uint64_t last_arrival(const launch_file *launch) {
    uint64_t last = 0;
    uint32_t k;
    for (k = 0; k < launch->kernel_count; k++)
        if (launch->kernels[k].arrival_cycle > last) last = launch->kernels[k].arrival_cycle;
    return last;
}

int corun_together(const corun_experiment *e, const gpump_partition_policy *policy, const double *alone,
                   corun_outcome *outcome) {
    machine *m = make(e, policy);
    const uint64_t complete = last_arrival(e->launch);
    uint32_t k;
    int status = m ? 0 : 2;
    memset(outcome, 0, sizeof *outcome);
    while (!status && (m->now <= complete || gpump_sharing_state_now(corun_of(m)->sharing) != GPUMP_SHARING_RUN)) {
        if (machine_run(m, m->now + 1000) < 0) status = failed(m);
        if (!status && m->now > SETTLE_CYCLES) {
            fprintf(stderr, "minigpu: after %u cycles blocks still stand above their caps\n", SETTLE_CYCLES);
            status = 1;
        }
    }
    if (!status && e->explain) status = measure_held(e, m, outcome);
    if (!status) status = measure_all(e, m, alone, outcome);
    for (k = 0; !status && k < m->kernel_count; k++)
        (void)gpump_sharing_share(corun_of(m)->sharing, corun_of(m)->member_of[k], &outcome->shares[k],
                                  &outcome->kinds[k]);
    machine_free(m);
    return status;
}

int corun_fixed(const corun_experiment *e, const uint32_t *blocks, const double *alone, corun_outcome *outcome) {
    machine *m;
    uint32_t k;
    int status;
    const uint32_t kernels_per_sm = e->launch->kernels_per_sm;
    memset(outcome, 0, sizeof *outcome);
    e->launch->kernels_per_sm = e->launch->kernel_count;
    m = make(e, NULL);
    e->launch->kernels_per_sm = kernels_per_sm;
    if (!m) return 2;
    for (k = 0; k < m->kernel_count; k++) {
        m->kernels[k].block_cap = blocks[k];
        outcome->shares[k].blocks = blocks[k];
        outcome->shares[k].sms = m->sm_count;
        outcome->shares[k].limits = gpump_rate_limits_none();
    }
    status = machine_run(m, e->warm) < 0 ? failed(m) : measure_all(e, m, alone, outcome);
    machine_free(m);
    return status;
}
