/* link: tbsim_core */
/* Row M.xs.f11: two jobs on a GV100, one of them opportunistic. Two trainings of ShuffleNet, or a pricing of options
 * five times a second beside a simulation. Without control both share time slices. XSched launches no command of the
 * opportunistic job while the other one has work. TGS holds launches of the opportunistic job: its controller is
 * repeated here from the copy in XSched's artifact (the paper is Wu et al., NSDI 2023). vCUDA's shares are taken as
 * they are configured: its controller acts on what NVML reports, which is not published.
 *
 * Conditions of --set: host.train (1: time on the host as the log of one training has it; 0: none), even.train (1: it
 * is the same behind every batch), blocks.train (of a batch), begun.tgs (the part of a test that the opportunistic job
 * has behind it when the other job comes), shared.gv100. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reproduce.h"
#include "rows_silicon_pair.h"
#include "sorted.h"

#define MS 1e3
#define S 1e6

/* Time on the host between two batches of a training alone: the middles of the tenths of the source's log (10 s after
 * the start, for 250 s), and what an epoch of 98 batches adds. */
static const double host_ms[10] = {0.59, 0.93, 1.04, 1.17, 1.44, 5.14, 6.55, 6.94, 7.27, 7.77};
static const double epoch_ms = 166.0;
enum { EPOCH = 98, RATES = 5 };

/* The controller of TGS. It counts blocks. Every 5 s it gets what the foreground launched in the 5 s before the last 5
 * s, and every 50 ms the background may launch kernels until its limit is passed; it asks again every 10 ms. */
typedef struct governor {
    double blocks[2]; /* of a command of foreground and background */
    double limit, counted, window;
    double launched, recent, next_us;
    double rates[RATES], most; /* of the foreground, the last first; its rate alone as it is known */
    int profiled;              /* rates that came before control begins */
    int unsettled, begun, avoids, differs;
} governor;

/* Returns the greatest mean of two rates that follow each other, and adds one. */
static double add_rate(governor *g, double rate) {
    double most = 0;
    for (int i = RATES - 1; i > 0; i--) {
        most = fmax(most, (g->rates[i] + g->rates[i - 1]) / 2);
        g->rates[i] = g->rates[i - 1];
    }
    g->rates[0] = rate;
    return most;
}

/* The foreground's rate alone is sought until five rates have come and the greatest does not move. */
static void profile(governor *g, double mean) {
    const double change = (mean - g->most) / g->most;
    g->profiled++;
    if (fabs(change) <= 0.05) {
        g->most = fmax(g->most, mean);
        g->unsettled = fabs(g->most - mean) >= 1;
    } else {
        g->most = change > 0.05 ? fmax(g->most, mean * 0.975) : fmin(g->most, mean * 1.025);
        g->unsettled = 1;
    }
}

/* Slow start: half as much again every time, until the foreground is 2 % below its rate alone. Then a little more every
 * time, and 8 % less when it differs by 2 %; 6 % start again at a tenth. */
static void set_limit(governor *g, double rate) {
    const double threshold = 0.02, behind = (rate - g->most) / g->most, differs = fabs(behind);
    if (!g->avoids) {
        g->avoids = behind < -threshold;
        g->limit = g->avoids ? g->limit / 1.5 : g->limit * 1.5 + 1;
    } else {
        if (differs <= threshold)
            g->limit += fmax(g->most * 0.00025, 1000);
        else
            g->limit -= fmax(g->limit * 0.08, 1000);
        if (differs >= 3 * threshold) {
            g->avoids = 0;
            g->limit /= 10;
        }
    }
    g->differs = differs >= 0.12 ? g->differs + 1 : 0;
    if (g->differs >= 20) {
        g->most *= 0.8;
        g->differs = g->avoids = 0;
        g->limit /= 2;
    }
    g->limit = fmax(g->limit, 0);
}

static void control(governor *g, double rate) {
    const double mean = add_rate(g, rate), change = (mean - g->most) / g->most;
    if (g->profiled < RATES || g->unsettled) {
        profile(g, mean);
        return;
    }
    if (fabs(change) <= 0.1) g->most = fmax(g->most, mean);
    if (fabs(change) > 0.2) {
        g->most = change > 0 ? fmax(g->most, mean * 0.975) : fmin(g->most, mean * 1.025);
        g->profiled = 0;
        return;
    }
    if (g->begun)
        set_limit(g, rate);
    else
        g->limit = 20000;
    g->begun = 1;
}

static void advance(governor *g, double us) {
    for (; us >= g->next_us; g->next_us += 5 * S) {
        if (g->next_us > 0) control(g, fmax(g->recent, 1));
        g->recent = g->launched;
        g->launched = 0;
    }
}

/* Returns how long a launch of the background waits. */
static double held_us(governor *g, double us) {
    double at = us;
    for (;; at += 10 * MS) {
        const double window = floor(at / (50 * MS));
        if (window > g->window) g->counted = 0;
        g->window = window;
        if (g->counted <= g->limit) return at - us;
    }
}

/* Two jobs, and what is measured of them: records between 10 s after the first record of the background and the end of
 * the window. */
typedef struct jobs {
    governor governor;
    int governed, trains, even;
    double host_scale, host_mean_us, interval_us, due_us, begun_us;
    uint32_t warm; /* records of the foreground that its program does not print */
    uint32_t records[2], launched;
    double from_us, window_us, last_us[2], latency_us[REQUESTS];
    uint32_t counted[2];
    uint64_t random;
} jobs;

static void record(jobs *j, uint32_t process, double us) {
    j->records[process]++;
    if (j->from_us <= 0) {
        if (process && j->records[0] > j->warm) j->from_us = us + 10 * S;
        return;
    }
    if (us < j->from_us || us > j->from_us + j->window_us) return;
    if (!process && j->counted[0] < REQUESTS) j->latency_us[j->counted[0]] = us - j->begun_us;
    j->last_us[process] = us;
    j->counted[process]++;
}

static double host_us(jobs *j, uint32_t process) {
    const double ms = host_ms[gpump_random_below(&j->random, 10)];
    if (j->even) return j->host_mean_us;
    return j->host_scale * MS * (ms + (j->records[process] % EPOCH ? 0 : epoch_ms));
}

static void foreground(outcome *o, jobs *j, uint32_t op, double us) {
    if (op == 0) o->ops[0][0].us = j->due_us > us ? j->due_us - us : 0;
    if (op == 1) {
        j->begun_us = us;
        j->due_us = us + j->interval_us;
        o->ops[0][1].us = j->trains ? host_us(j, 0) : 0;
    }
    if (op > 1 && op < o->period - 1) j->governor.launched += j->governor.blocks[0];
    if (op == o->period - 1) record(j, 0, us);
}

/* Launches count as records where they are held: one for all launches of a request. */
static void background(outcome *o, jobs *j, uint32_t op, double us) {
    const uint32_t commands = o->pair->commands[1];
    if (op == 1) o->ops[1][1].us = j->trains ? host_us(j, 1) : 0;
    if (!j->governed) {
        if (op == commands + 2) record(j, 1, us);
        return;
    }
    if (op < 2 || op > 2 * commands + 1) return;
    if (op % 2 == 0) {
        o->ops[1][op].us = held_us(&j->governor, us);
        return;
    }
    j->governor.counted += j->governor.blocks[1];
    if (++j->launched % commands == 0) record(j, 1, us);
}

static void watched(outcome *o, uint32_t process, uint32_t op, double us) {
    jobs *j = (jobs *)o->pair->user;
    if (j->governed) advance(&j->governor, us);
    (process ? background : foreground)(o, j, op, us);
}

/* Blocks of a pricing: 512 kernels for 4 million options, two of them in each of 128 threads. Of a test of the
 * simulation: 1,000 steps of 7 kernels of 1,212 blocks (232,536 cells, 192 in a block). A batch of ShuffleNet: assumed,
 * as the controller works with the ratio of both jobs' blocks, but for its first limits. */
static void fill_science(pair *p, jobs *j, double latency_ms, double tests) {
    j->interval_us = 200 * MS; /* the source's rate */
    j->warm = 15;
    j->window_us = 30 * S;
    p->request_us[0] = latency_ms * MS;
    p->request_us[1] = S / tests;
    p->commands[0] = 100;
    p->commands[1] = j->governed ? 7000 : 1000;
    p->repeats = 575; /* two minutes */
    j->governor.blocks[0] = 512 * 15625.0 / p->commands[0];
    j->governor.blocks[1] = 1212;
}

static void fill_training(const reproduce_context *context, pair *p, jobs *j, double rate, reproduce_result *result) {
    const double blocks = reproduce_condition(context, result, "blocks.train", 100000);
    double mean = epoch_ms / EPOCH;
    for (int i = 0; i < 10; i++) mean += host_ms[i] / 10;
    j->trains = 1;
    j->host_scale = reproduce_condition(context, result, "host.train", 1);
    j->window_us = 250 * S;
    p->request_us[0] = p->request_us[1] = S / rate;
    j->even = reproduce_condition(context, result, "even.train", 0) > 0;
    j->host_mean_us = p->host_us[0] = p->host_us[1] = j->host_scale * mean * MS;
    if (j->governed) p->commands[0] = p->commands[1] = 38;
    p->repeats = 13000; /* five minutes alone */
    j->governor.blocks[0] = j->governor.blocks[1] = blocks / p->commands[0];
}

enum { BASE, XSCHED, TGS };

/* Runs a pair under a scheme. Returns 1, or 0 after a report. */
static int run_jobs(const reproduce_context *context, int science, int scheme, jobs *j, outcome *o,
                    reproduce_result *result) {
    const double train = reproduce_fitted(context, "M.xs.f11.train.gv100.sa.one"),
                 tests = reproduce_fitted(context, "M.xs.f11.sci.gv100.sa.ojob"),
                 latency = reproduce_fitted(context, "M.xs.f11.sci.gv100.sa.pjob.p50");
    pair p;
    memset(j, 0, sizeof *j);
    if (!silicon_gv100_pair(context, scheme == XSCHED, &p, result) || !(train > 0 && tests > 0 && latency > 0))
        return 0;
    memset(p.host_us, 0, sizeof p.host_us);
    j->governed = p.holds_launches = scheme == TGS;
    j->random = 7;
    if (science)
        fill_science(&p, j, latency, tests);
    else
        fill_training(context, &p, j, train, result);
    j->launched = (uint32_t)(reproduce_condition(context, result, "begun.tgs", 0.5) * p.commands[1]);
    p.reached = watched;
    p.user = j;
    return silicon_run_pair(&p, o, result);
}

static double per_second(const jobs *j, uint32_t process) {
    return j->counted[process] ? j->counted[process] * S / (j->last_us[process] - j->from_us) : 0;
}

static void quotas(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const struct {
        const char *row, *alone;
        double factor;
    } shares[] = {{"train.gv100.vcuda.pjob", "train.gv100.sa.one", 0.8},
                  {"train.gv100.vcuda.ojob", "train.gv100.sa.one", 0.2},
                  {"sci.gv100.vcuda.ojob", "sci.gv100.sa.ojob", 0.4},
                  {"sci.gv100.vcuda.pjob.p50", "sci.gv100.sa.pjob.p50", 1 / 0.6},
                  {"sci.gv100.vcuda.pjob.p99", "sci.gv100.sa.pjob.p99", 1 / 0.6}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        char row[56], alone[56];
        snprintf(row, sizeof row, "%s.%s", id, shares[i].row);
        snprintf(alone, sizeof alone, "%s.%s", id, shares[i].alone);
        reproduce_point(result, row, reproduce_fitted(context, alone) * shares[i].factor);
    }
}

static void both_jobs(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[] = {"base", "xsched", "tgs"};
    static outcome o;
    static jobs j;
    char row[56];
    for (int i = 0; i < 6; i++) {
        const char *scheme = schemes[i / 2], *kind = i % 2 ? "sci" : "train";
        if (!run_jobs(context, i % 2, i / 2, &j, &o, result)) return;
        snprintf(row, sizeof row, "%s.%s.gv100.%s.ojob", id, kind, scheme);
        reproduce_point(result, row, per_second(&j, 1));
        if (i % 2 == 0) {
            snprintf(row, sizeof row, "%s.%s.gv100.%s.pjob", id, kind, scheme);
            reproduce_point(result, row, per_second(&j, 0));
            continue;
        }
        if (!j.counted[0] || j.counted[0] > REQUESTS) continue;
        sorted_sort(j.latency_us, j.counted[0]);
        for (int k = 0; k < 2; k++) {
            snprintf(row, sizeof row, "%s.%s.gv100.%s.pjob.%s", id, kind, scheme, k ? "p99" : "p50");
            reproduce_point(result, row, sorted_quantile(j.latency_us, j.counted[0], k ? 0.99 : 0.5) / MS);
        }
    }
    quotas(context, id, result);
}

const reproduce_row rows_silicon_jobs[] = {{"M.xs.f11", both_jobs}, {NULL, NULL}};
