/* tail: a stream of requests beside a batch kernel, under one partition and one technique. */
#ifndef MINIGPU_TAIL_H
#define MINIGPU_TAIL_H

#include "machine/machine.h"

/* The experiment. The launch's first process is the requests' kernel, the second is the batch. Both repeat. */
typedef struct tail_experiment {
    launch_file *launch;
    machine_options options;    /* with the partition, if any */
    const uint64_t *arrivals;   /* cycles, ascending */
    uint32_t count;             /* requests */
    uint32_t is_alone;          /* 1: without the batch */
    gpump_partition_hold *hold; /* a controller that receives the latency of each request; NULL: none */
} tail_experiment;

typedef struct tail_outcome {
    uint64_t *latencies; /* `count` latencies by arrival; the caller's memory */
    double batch;        /* warp instructions of the batch per cycle */
    uint64_t cycles;     /* until the last request ended */
    uint32_t share_q16;  /* share of the controller at the end */
    uint32_t is_held;    /* 1: there was a controller */
} tail_outcome;

/* Runs until the last request ends. Returns 0, or 1 after a message. */
int tail_run(const tail_experiment *e, tail_outcome *outcome);
/* Sets *per_cycle to the warp instructions per cycle of the batch alone, over `cycles`. Returns 0, or 1 after a
 * message. */
int tail_batch_alone(const tail_experiment *e, uint64_t cycles, double *per_cycle);
/* Fills arrivals[count] with a Poisson stream of that mean distance, from `mean` on. */
void tail_poisson(uint64_t seed, uint64_t mean_cycles, uint32_t count, uint64_t *arrivals);
/* Returns the latency that `permille` of the requests do not exceed (the nearest rank). */
uint64_t tail_percentile(const uint64_t *latencies, uint32_t count, uint32_t permille);

#endif
