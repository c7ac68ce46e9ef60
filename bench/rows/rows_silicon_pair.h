/* Two processes on one device of two SMs, which stand for all: a command fills the device. */
#ifndef BENCH_ROWS_SILICON_PAIR_H
#define BENCH_ROWS_SILICON_PAIR_H
#include "reproduce.h"
#include "tbsim.h"

enum { REQUESTS = 200 };

struct outcome;

typedef struct pair {
    double request_us[2]; /* of foreground and background, alone */
    double host_us[2];    /* of these, when the device idles */
    uint32_t commands[2];
    uint32_t shared_bytes; /* of shared memory that a context switch moves, beside all registers */
    double interval_us;    /* from request to request of the foreground, on average; 0: each follows the last */
    double spread;         /* intervals differ from the average by up to so much of it */
    double pause_us;       /* from the end of a request to the next one of the foreground */
    const char *policy;
    uint32_t ahead, foreground_priority;
    double command_us[3];
    uint64_t slice_us;
    /* What happens when a process begins an op (of one request, from 0), instead of the intervals and the pause above;
     * it may set the op's us in o->ops. NULL: nothing. */
    void (*reached)(struct outcome *o, uint32_t process, uint32_t op, double us);
    void *user;
    uint32_t repeats;   /* with reached: requests of the foreground */
    int holds_launches; /* 1: a wait, of no time unless reached sets it, before each command of the background */
} pair;

typedef struct outcome {
    double latency_us[REQUESTS], per_second[2]; /* ascending latencies; requests per second */
    double begun_us;
    uint32_t period, requests; /* ops of a request in the foreground's script; how many have ended */
    const pair *pair;
    tb_op *ops[2]; /* of foreground and background */
    uint64_t random;
} outcome;

/* Runs a pair. Returns 1, or 0 after a report. With pair.reached, no latencies and rates are in the outcome. */
int silicon_run_pair(const pair *p, outcome *o, reproduce_result *result);
double silicon_quantile(const outcome *o, double share);
/* Fills a pair of ResNet-152 beside itself on the GV100. Returns 0 when the device's time alone is not known. */
int silicon_gv100_pair(const reproduce_context *context, int xsched, pair *p, reproduce_result *result);
#endif
