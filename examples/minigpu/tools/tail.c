#include "tools/tail.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/stream.h"
#include "tools/report.h"

#define STEP_CYCLES 500u         /* cycles between checks for ended requests */
#define LONGEST_CYCLES 20000000u /* a stream that ends so many cycles after its last arrival does not keep up */

void tail_poisson(uint64_t seed, uint64_t mean_cycles, uint32_t count, uint64_t *arrivals) {
    uint64_t at = mean_cycles;
    uint32_t i;
    for (i = 0; i < count; i++) {
        arrivals[i] = at;
        at += (uint64_t)(-log((gpump_random_below(&seed, 1000000) + 0.5) / 1e6) * (double)mean_cycles) + 1;
    }
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint64_t tail_percentile(const uint64_t *latencies, uint32_t count, uint32_t permille) {
    uint64_t *sorted = malloc(count * sizeof *sorted), found = 0;
    const uint32_t rank = (uint32_t)(((uint64_t)count * permille + 999) / 1000);
    if (!sorted) return 0;
    memcpy(sorted, latencies, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    found = sorted[rank ? rank - 1 : 0];
    free(sorted);
    return found;
}

static int failed(const machine *m, const char *why) {
    fprintf(stderr, "minigpu tail: cycle %" PRIu64 ": %s\n", m->now, why);
    return 1;
}

int tail_run(const tail_experiment *e, tail_outcome *outcome) {
    char error[LAUNCH_ERROR_BYTES];
    gpump_traffic batch;
    machine *m = machine_build(e->launch, &e->options, error);
    uint32_t told = 0;
    int status = 0;
    if (!m) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    if (e->is_alone) m->kernels[1].arrival_cycle = NEVER;
    if (stream_make(m, m->kernels[0].process, e->arrivals, e->count))
        status = failed(m, "out of memory for the requests");
    while (!status && told < e->count) {
        const int ended = machine_run(m, m->now + STEP_CYCLES);
        /* After the last request only a batch that never arrives may be left. The run then ends with an error that is
         * no failure. */
        if (ended < 0 && m->stream->ended < e->count) status = failed(m, m->error);
        for (; told < m->stream->ended; told++) {
            outcome->latencies[told] = m->stream->ends[told] - e->arrivals[told];
            if (e->hold) gpump_partition_hold_report(e->hold, outcome->latencies[told]);
        }
        if (!status && m->now > e->arrivals[e->count - 1] + LONGEST_CYCLES)
            status = failed(m, "the requests come faster than they are served; raise --every");
    }
    report_traffic(m, 2, &batch);
    outcome->cycles = m->now;
    outcome->batch = (double)batch.issued / (double)m->now;
    outcome->is_held = e->hold != NULL;
    outcome->share_q16 = e->hold ? e->hold->share_q16 : 0;
    machine_free(m);
    return status;
}

int tail_batch_alone(const tail_experiment *e, uint64_t cycles, double *per_cycle) {
    char error[LAUNCH_ERROR_BYTES];
    gpump_traffic batch;
    machine *m = machine_build(e->launch, &e->options, error);
    int status = 0;
    if (!m) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    m->kernels[0].arrival_cycle = NEVER;
    if (machine_run(m, cycles) < 0) status = failed(m, m->error);
    report_traffic(m, 2, &batch);
    *per_cycle = (double)batch.issued / (double)m->now;
    machine_free(m);
    return status;
}
