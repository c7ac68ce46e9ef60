/* Rows M.gp.add, M.gp.thpt, M.gp.lat and M.gp.hip: urgent requests beside others (GPreempt).
 *
 * What a preemption adds is an input: that of the workload with the same urgent requests. Without preemption (NP), and
 * one after the other (SEQ), the source's configuration is simulated: who asks how often, and that its benchmark delays
 * each periodic job by the times alone of those before it. A client asks again when it has its answer, and gives up
 * launches that have passed. In NP every further request slows the others alike, by one share that workload D gives. In
 * SEQ one request runs to its end, and urgent ones are taken first. Five networks take their mean time each. The other
 * job of A and B takes what the rows `fit` of M.gp.thpt give, and the graph programs of Z never end before they are
 * asked for again.
 *
 * Conditions of --set: added (factor of what is added), slows (the share; its usual value is fitted), graph_ms (what a
 * graph program takes: without it nothing is known of SEQ in workload Z). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "reproduce.h"

/* What a scheme adds to the urgent request of a workload, us: that of workload A or D, which have the same requests. */
static double added_us(const reproduce_context *context, const char *scheme, char workload) {
    char row[56];
    snprintf(row, sizeof row, "M.gp.add.%s.%c", scheme, workload == 'E' ? 'D' : 'A');
    return reproduce_fitted(context, row);
}

static void additions(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[] = {"WB", "GPwo", "GP"};
    const double factor = reproduce_condition(context, result, "added", 1);
    for (int i = 0; i < 9; i++) {
        const char workload = "BEZ"[i % 3];
        char row[56];
        snprintf(row, sizeof row, "%s.%s.%c", id, schemes[i / 3], workload);
        reproduce_point(result, row, factor * added_us(context, schemes[i / 3], workload));
    }
    reproduce_note(result, "each workload adds what the one with the same urgent requests does");
}

/* Best-effort requests per second without urgent ones, by least squares of relative errors on the rows that may set
 * parameters: urgent requests take their time alone and what the scheme adds. */
static double best_effort(const reproduce_context *context, const char *scheme, double urgent_us) {
    double sum = 0, squares = 0;
    for (int hz = 100; hz <= 250; hz += 150) {
        char row[56];
        double share = 1 - hz * urgent_us / 1e6;
        snprintf(row, sizeof row, "M.gp.thpt.%s.%d", scheme, hz);
        share /= reproduce_fitted(context, row);
        sum += share;
        squares += share * share;
    }
    return sum / squares;
}
static double urgent_us(const reproduce_context *context, const char *added) {
    return 1000 * reproduce_fitted(context, "M.gp.lat.LCO.A") + added_us(context, added, 'A');
}

static void left_over(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[][2] = {{"WB", "WB"}, {"GPwores", "GPwo"}, {"GP", "GP"}};
    for (int i = 0; i < 3; i++) {
        const double us = urgent_us(context, schemes[i][1]), alone = best_effort(context, schemes[i][0], us);
        for (int hz = 150; hz <= 300; hz += 150) {
            char row[56];
            snprintf(row, sizeof row, "%s.%s.%d", id, schemes[i][0], hz);
            reproduce_point(result, row, alone * (1 - hz * us / 1e6));
        }
    }
    reproduce_revised(result);
}

/* ---- clients of a workload ---- */

enum { CLIENTS = 10, NETWORKS = 5 };

/* What a client does before its request is on the GPU, and how long the source measures, by its configuration. */
static const double before_ms = 0.2, until_ms = 60000;

typedef enum asks { ASKS_PERIODICALLY, ASKS_BY_CHANCE, ASKS_AGAIN } asks;
typedef enum phase { SLEEPS, PREPARES, RUNS } phase;
typedef struct client {
    int urgent;
    asks asks;
    phase phase;
    double every_ms, work_ms;
    double due_ms, at_ms, begun_ms, ready_ms, left_ms;
} client;

typedef struct mix {
    client clients[CLIENTS];
    unsigned count;
    int one_by_one;
    double slows; /* by each further request, beside each other */
    double now_ms, sum_ms;
    unsigned answers; /* urgent */
    uint64_t random;
} mix;

static mix mix_of_none(int one_by_one, double slows) {
    mix m;
    memset(&m, 0, sizeof m);
    m.one_by_one = one_by_one;
    m.slows = slows;
    return m;
}

static void add_client(mix *m, int urgent, asks asks, double every_ms, double delay_ms, double work_ms) {
    client *c = &m->clients[m->count++];
    memset(c, 0, sizeof *c);
    c->urgent = urgent;
    c->asks = asks;
    c->every_ms = every_ms;
    c->due_ms = delay_ms;
    c->work_ms = work_ms;
}

/* Sets when a client asks next. */
static void plan(mix *m, client *c) {
    for (;;) {
        const double chance = (gpump_random_below(&m->random, 1000000) + 0.5) / 1e6;
        const double next = c->due_ms + (c->asks == ASKS_BY_CHANCE ? -c->every_ms * log(chance) : c->every_ms);
        const int passed = c->asks != ASKS_AGAIN && next < m->now_ms;
        c->at_ms = c->asks == ASKS_AGAIN ? m->now_ms : fmax(m->now_ms, c->due_ms);
        c->due_ms = next;
        if (!passed) break;
    }
    c->phase = SLEEPS;
}

/* Returns the request that runs alone next: of the urgent ones, or else of the others, the one that is ready first. */
static client *take(mix *m) {
    client *best = NULL;
    for (unsigned i = 0; i < m->count; i++) {
        client *c = &m->clients[i];
        if (c->phase != RUNS) continue;
        if (!best || c->urgent > best->urgent || (c->urgent == best->urgent && c->ready_ms < best->ready_ms)) best = c;
    }
    return best;
}

/* The next phase of a client begins. */
static void step(mix *m, client *c) {
    if (c->phase == SLEEPS) {
        c->phase = PREPARES;
        c->begun_ms = m->now_ms;
    } else if (c->phase == PREPARES) {
        c->phase = RUNS;
        c->ready_ms = m->now_ms;
        c->left_ms = c->work_ms;
    } else {
        if (c->urgent) m->sum_ms += m->now_ms - c->begun_ms;
        m->answers += (unsigned)c->urgent;
        plan(m, c);
    }
}

/* Returns the mean latency of urgent requests. */
static double mean_ms(mix *m) {
    client *alone = NULL;
    m->random = 3;
    m->now_ms = m->sum_ms = 0;
    m->answers = 0;
    for (unsigned i = 0; i < m->count; i++) plan(m, &m->clients[i]);
    while (m->now_ms < until_ms) {
        client *next = NULL;
        double end = HUGE_VAL, speed = 1;
        unsigned running = 0;
        for (unsigned i = 0; i < m->count; i++) running += m->clients[i].phase == RUNS;
        if (m->one_by_one && !alone) alone = take(m);
        if (!m->one_by_one && running) speed = 1 / (1 + m->slows * (running - 1));
        for (unsigned i = 0; i < m->count; i++) {
            client *c = &m->clients[i];
            double at = c->phase == SLEEPS ? c->at_ms : c->begun_ms + before_ms;
            if (c->phase == RUNS) at = m->one_by_one && c != alone ? HUGE_VAL : m->now_ms + c->left_ms / speed;
            if (at >= end) continue;
            end = at;
            next = c;
        }
        if (!next) break;
        for (unsigned i = 0; i < m->count; i++)
            if (m->clients[i].phase == RUNS && (!m->one_by_one || &m->clients[i] == alone))
                m->clients[i].left_ms -= (end - m->now_ms) * speed;
        m->now_ms = end;
        if (next == alone) alone = NULL;
        step(m, next);
    }
    return m->answers ? m->sum_ms / m->answers : NAN;
}

/* ---- workloads ---- */

/* The row of a workload and a scheme that may set parameters. */
static double latency_ms(const reproduce_context *context, const char *id, const char *scheme, char workload) {
    char row[56];
    snprintf(row, sizeof row, "%s.%s.%c", id, scheme, workload);
    return reproduce_fitted(context, row);
}

/* D and E: five networks ask 20 times a second, and so many others (none, or the same five) 100 times. */
static double networks_ms(char workload, double alone_ms, int others, int one_by_one, double slows) {
    const asks asks = workload == 'E' ? ASKS_BY_CHANCE : ASKS_PERIODICALLY;
    mix m = mix_of_none(one_by_one, slows);
    for (int urgent = 1; urgent >= 0; urgent--)
        for (int i = 0; i < (urgent ? NETWORKS : others); i++)
            add_client(&m, urgent, asks, urgent ? 50 : 10, workload == 'E' ? 0 : i * alone_ms, alone_ms - before_ms);
    return mean_ms(&m);
}

/* B: a network beside another one, both 220 times a second. */
static double pair_ms(double alone_ms, double other_ms, int one_by_one, double slows) {
    mix m = mix_of_none(one_by_one, slows);
    add_client(&m, 1, ASKS_PERIODICALLY, 1000 / 220.0, 0, alone_ms - before_ms);
    add_client(&m, 0, ASKS_PERIODICALLY, 1000 / 220.0, alone_ms, other_ms);
    return mean_ms(&m);
}

/* Z: a network 100 times a second beside four graph programs. */
static double graphs_ms(double alone_ms, double graph_ms, int one_by_one, double slows) {
    mix m = mix_of_none(one_by_one, slows);
    add_client(&m, 1, ASKS_PERIODICALLY, 10, 0, alone_ms - before_ms);
    for (int i = 0; i < 4; i++) add_client(&m, 0, ASKS_AGAIN, 0, 0, graph_ms);
    return mean_ms(&m);
}

/* The share by which a request slows each other one: workload D takes what it took without preemption. */
static double fitted_share(const reproduce_context *context, const char *id) {
    const double alone_ms = latency_ms(context, id, "LCO", 'D'), together_ms = latency_ms(context, id, "NP", 'D');
    double low = 0, high = 3;
    for (int i = 0; i < 20; i++) {
        const double middle = (low + high) / 2;
        *(networks_ms('D', alone_ms, NETWORKS, 0, middle) < together_ms ? &low : &high) = middle;
    }
    return low;
}

/* Two rows that may set parameters, and set none here. */
static void unset_rows(const reproduce_context *context, const char *id, double slows, reproduce_result *result) {
    const double alone_ms = latency_ms(context, id, "LCO", 'D');
    char row[56];
    snprintf(row, sizeof row, "%s.SEQ.D", id);
    reproduce_point(result, row, networks_ms('D', alone_ms, NETWORKS, 1, slows));
    snprintf(row, sizeof row, "%s.LCO.E", id);
    reproduce_point(result, row, networks_ms('E', alone_ms, 0, 0, slows));
}

/* Without preemption and one after the other, in workloads B, E and Z. other_ms: what the other job of B takes; 0: it
 * is not known, and B adds what A does. */
static void unpreempted(const reproduce_context *context, const char *id, double other_ms, reproduce_result *result) {
    static const char *const schemes[] = {"NP", "SEQ"};
    const double slows = reproduce_condition(context, result, "slows", fitted_share(context, id)),
                 graph_ms = reproduce_condition(context, result, "graph_ms", 0);
    for (int i = 0; i < 6; i++) {
        const int one_by_one = i >= 3;
        const char workload = "BEZ"[i % 3], *scheme = schemes[one_by_one];
        const double alone_ms = latency_ms(context, id, "LCO", workload);
        char row[56];
        double ms;
        if (workload == 'E')
            ms = networks_ms('E', latency_ms(context, id, "LCO", 'D'), NETWORKS, one_by_one, slows);
        else if (workload == 'Z')
            ms = graphs_ms(alone_ms, graph_ms > 0 ? graph_ms : until_ms, one_by_one, slows);
        else if (other_ms > 0)
            ms = pair_ms(alone_ms, other_ms, one_by_one, slows);
        else
            ms = alone_ms + latency_ms(context, id, scheme, 'A') - latency_ms(context, id, "LCO", 'A');
        if (workload == 'Z' && one_by_one && !(graph_ms > 0)) continue; /* it waits for a graph program */
        snprintf(row, sizeof row, "%s.%s.%c", id, scheme, workload);
        reproduce_point(result, row, ms);
    }
    unset_rows(context, id, slows, result);
    reproduce_note(result, "a request slows each other by %.2f", slows);
}

/* What a scheme with preemption adds to an urgent request of a workload, ms: the A100's rows have it, the AMD GPU's
 * have the latency of the workload with the same urgent requests. */
static double preemption_adds_ms(const reproduce_context *context, const char *id, const char *scheme, char workload) {
    const char known = workload == 'E' ? 'D' : 'A';
    if (!strcmp(id, "M.gp.lat")) return added_us(context, scheme, workload) / 1000;
    return latency_ms(context, id, scheme, known) - latency_ms(context, id, "LCO", known);
}

/* With preemption, an urgent request takes its time alone and what the scheme adds. */
static void preempted(const reproduce_context *context, const char *id, const char *const *schemes, int count,
                      reproduce_result *result) {
    for (int i = 0; i < 3 * count; i++) {
        const char workload = "BEZ"[i % 3], *scheme = schemes[i / 3];
        char row[56];
        snprintf(row, sizeof row, "%s.%s.%c", id, scheme, workload);
        reproduce_point(result, row,
                        latency_ms(context, id, "LCO", workload) + preemption_adds_ms(context, id, scheme, workload));
    }
}

/* Urgent requests on an A100. */
static void requests(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[] = {"WB", "GP"};
    preempted(context, id, schemes, 2, result);
    unpreempted(context, id, 1000 / best_effort(context, "GP", urgent_us(context, "GP")), result);
    reproduce_revised(result); /* deciding rows were in sight */
}

/* Urgent requests on an AMD GPU. */
static void requests_hip(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[] = {"GP", "RF", "WB"};
    preempted(context, id, schemes, 3, result);
    unpreempted(context, id, 0, result);
    reproduce_revised(result); /* likewise */
}

const reproduce_row rows_silicon_urgent[] = {{"M.gp.add", additions},
                                             {"M.gp.thpt", left_over},
                                             {"M.gp.lat", requests},
                                             {"M.gp.hip", requests_hip},
                                             {NULL, NULL}};
