/* tail: a stream of requests beside a batch kernel, under one partition and one technique. */
#ifndef MINIGPU_TAIL_H
#define MINIGPU_TAIL_H

#include "machine/machine.h"

/* The launch's first process is the requests' kernel, the second the batch; both repeat. */
typedef struct tail_experiment {
    launch_file *launch;
    machine_options options;    /* with the partition, if any */
    const uint64_t *arrivals;   /* cycles, ascending */
    uint32_t count;             /* requests */
    uint32_t is_alone;          /* 1: without the batch */
    gpump_partition_hold *hold; /* a controller that gets the latency of each request; NULL: none */
} tail_experiment;

typedef struct tail_outcome {
    uint64_t *latencies; /* `count` of them, by arrival; the caller's */
    double batch;        /* warp instructions per cycle */
    uint64_t cycles;     /* until the last request is done */
    uint32_t share_q16;  /* of the controller, at the end */
    uint32_t is_held;    /* 1: there was a controller */
} tail_outcome;

/* Runs until the last request is done. Returns 0, or 1 after a message. */
int tail_run(const tail_experiment *e, tail_outcome *outcome);
/* Sets *per_cycle to the warp instructions of the batch alone, in `cycles`. Returns 0, or 1 after a message. */
int tail_batch_alone(const tail_experiment *e, uint64_t cycles, double *per_cycle);
/* Sets arrivals[count] to a Poisson stream with that mean distance, from `mean` on. */
void tail_poisson(uint64_t seed, uint64_t mean_cycles, uint32_t count, uint64_t *arrivals);
/* The latency that `permille` of the requests do not exceed (the nearest rank). */
uint64_t tail_percentile(const uint64_t *latencies, uint32_t count, uint32_t permille);

#endif
