#include "tools/corun_explain.h"

#include <stdio.h>
#include <string.h>

/* The hops of a request, in the order of corun_part. */
enum { UP, L2, DRAM, DOWN, WAYS };

#define UNIT_CYCLES 200 /* period in which a share's misses may leave an SM (gpump_partition_config.unit_cycles) */

/* As the meters integrated them: mean latency of a kernel's requests in each hop, in network cycles; its requests per
 * warp instruction; its requests behind L1 at once. */
typedef struct latencies {
    double of[WAYS], sum, requests, at_once, cycles_each;
} latencies;

static double over(double part, double whole) { return whole > 0 ? part / whole : 0; }

static latencies measured(const gpump_traffic *t) {
    const uint64_t *cycles = t->in_flight_cycles;
    const double requests = (double)t->up_requests;
    latencies l;
    uint32_t way;
    memset(&l, 0, sizeof l);
    l.of[UP] = over((double)cycles[GPUMP_METER_UP], requests);
    l.of[L2] = over((double)cycles[GPUMP_METER_L2] - (double)cycles[GPUMP_METER_DRAM], requests);
    l.of[DRAM] = over((double)cycles[GPUMP_METER_DRAM], requests);
    l.of[DOWN] = over((double)cycles[GPUMP_METER_DOWN], requests);
    for (way = 0; way < WAYS; way++) l.sum += l.of[way];
    l.cycles_each = over((double)t->cycles, (double)t->issued);
    l.requests = over(requests, (double)t->issued);
    l.at_once = over(l.requests * l.sum, l.cycles_each); /* Little's law */
    return l;
}

/* Returns the shortest latency of requests in a hop: the bottom of the lowest bucket. */
static double shortest(const gpump_traffic *t, uint32_t hop) {
    uint32_t bucket = 0;
    while (bucket < GPUMP_METER_BUCKETS && !t->latencies[hop][bucket]) bucket++;
    return bucket && bucket < GPUMP_METER_BUCKETS ? (double)(UINT64_C(1) << bucket) : 0;
}

/* Sets the load that a kernel puts on each hop. */
static void load_of(const gpump_traffic *t, double load[WAYS]) {
    load[UP] = (double)t->flits_up;
    load[L2] = (double)t->l2_requests;
    load[DRAM] = (double)(t->dram_read_bytes + t->dram_written_bytes);
    load[DOWN] = (double)t->flits_down;
}

/* Estimates the cycles per warp instruction while the other kernels are held, from measurements beside them. In each
 * hop a request takes the shortest latency there. If the kernel alone keeps the hop busy, the request takes the time of
 * the kernel's own requests in the queue instead: the kernel's part of the load, times the present latency. These are
 * the two bounds of a closed queue. The kernel's gate is a third bound, and the issue slots are the last. */
static double estimate(const corun_outcome *outcome, uint32_t index, uint32_t count, const latencies *together,
                       const gpump_gpu *gpu) {
    static const uint32_t hops[WAYS] = {GPUMP_METER_UP, GPUMP_METER_L2, GPUMP_METER_DRAM, GPUMP_METER_DOWN};
    const gpump_traffic *t = &outcome->traffic[index];
    const gpump_partition_share *share = &outcome->shares[index];
    double least = 1.0 / (gpu->schedulers * gpu->sms);
    double own[WAYS], all[WAYS] = {0}, sum = 0, cycles; /* `sum`: cycles of a request */
    uint32_t way, k;
    if (share->limits.misses_q16 != GPUMP_RATE_NO_LIMIT) { /* the kernel's gate bounds its requests */
        const double passing = share->limits.misses_q16 / 65536.0 / UNIT_CYCLES * share->sms;
        if (over(together->requests, passing) > least) least = over(together->requests, passing);
    }
    load_of(t, own);
    for (k = 0; k < count; k++) {
        double load[WAYS];
        load_of(&outcome->traffic[k], load);
        for (way = 0; way < WAYS; way++) all[way] += load[way];
    }
    for (way = 0; way < WAYS; way++) {
        double idle = shortest(t, hops[way]), busy;
        if (way == DRAM) idle *= over((double)t->dram_requests, (double)t->up_requests);
        busy = together->of[way] * over(own[way], all[way]);
        sum += idle > busy ? idle : busy;
    }
    cycles = together->at_once > 0 ? together->requests * sum / together->at_once : together->cycles_each;
    return cycles > least ? cycles : least;
}

void corun_explain(const corun_outcome *outcome, uint32_t index, uint32_t count, double alone, const gpump_gpu *gpu,
                   corun_stack *stack) {
    const latencies here = measured(&outcome->traffic[index]), held = measured(&outcome->held[index]);
    double *parts = stack->parts;
    uint32_t way;
    memset(stack, 0, sizeof *stack);
    stack->slowdown = here.cycles_each * alone;
    stack->held = held.cycles_each * alone;
    stack->estimated = estimate(outcome, index, count, &here, gpu) * alone;
    parts[CORUN_PART_SHARE] = stack->held - 1;
    if (here.at_once > 0 && held.at_once > 0) {
        for (way = 0; way < WAYS; way++)
            parts[CORUN_PART_UP + way] = here.requests * (here.of[way] - held.of[way]) / here.at_once * alone;
        parts[CORUN_PART_L1] = (here.requests - held.requests) * held.sum / held.at_once * alone;
        parts[CORUN_PART_ISSUE] = here.requests * held.sum * (1 / here.at_once - 1 / held.at_once) * alone;
    } else {
        parts[CORUN_PART_ISSUE] = stack->slowdown - stack->held; /* no request leaves L1 */
    }
}

void corun_explain_print(const launch_file *launch, const gpump_gpu *gpu, const char *policy, const double *alone,
                         const corun_outcome *outcome) {
    uint32_t k, part;
    printf(
        "\n| %s, time | alone | share | issue | L1 | up | L2 | DRAM | down | together | others held: estimate | by a "
        "copy | error |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        policy);
    for (k = 0; k < launch->kernel_count; k++) {
        corun_stack stack;
        corun_explain(outcome, k, launch->kernel_count, alone[k], gpu, &stack);
        printf("| %s | 1.00 |", launch->kernels[k].name);
        for (part = 0; part < CORUN_PARTS; part++) printf(" %+.2f |", stack.parts[part]);
        printf(" %.2f | %.2f | %.2f | %+.0f%% |\n", stack.slowdown, stack.estimated, stack.held,
               stack.held > 0 ? 100 * (stack.estimated / stack.held - 1) : 0);
    }
    printf("\n");
}
