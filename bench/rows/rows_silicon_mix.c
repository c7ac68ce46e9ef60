/* Row M.xs.f13b: 3,000 requests of eight models against their rate, in the order of their arrival, by up to 8 workers
 * (XSched), 15 streams (CUDA) or 141 jobs (Paella). Arrivals, models and their shares are the source's: its generator
 * of random numbers is repeated, so that the same requests come.
 *
 * The models' times alone are not published. They are a power of the models' multiply-adds that meets the median and
 * the 99th percentile of the row with 80 ms between requests. As many requests as `capacity` progress at full speed,
 * and more share it; capacity is fitted for each system on its rows with 1, 2.5 and 4 ms, by least squares of
 * logarithms.
 *
 * Condition of --set: capacity.SYSTEM. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reproduce.h"
#include "sorted.h"
#include "twister.h"

enum { MODELS = 8, REQUESTS = 3000, WORKERS_MAX = 141 };

/* Of mobilenetv2, densenet, googlenet, inception_v3, resnet18, resnet34, resnet50 and squeezenet1.1, by their papers.
 */
static const double giga[MODELS] = {0.3, 2.87, 1.5, 5.7, 1.8, 3.6, 4.1, 0.35};
static const double shares[MODELS] = {0.257, 0.0706, 0.0546, 0.0138, 0.272, 0.168, 0.0745, 0.0895};
static const int median_model = 4, slow_model = 3; /* by shares, in the order of multiply-adds */

static double normal(twister *t) {
    double x, y, square;
    t->has_saved = !t->has_saved;
    if (!t->has_saved) return t->saved;
    do {
        x = 2 * twister_unit(t) - 1;
        y = 2 * twister_unit(t) - 1;
        square = x * x + y * y;
    } while (square > 1 || square == 0);
    square = sqrt(-2 * log(square) / square);
    t->saved = x * square;
    return y * square;
}

typedef struct mix {
    double due_ms[REQUESTS], latency_ms[REQUESTS], alone_ms[MODELS];
    uint8_t model[REQUESTS];
    uint32_t workers;
    double per_second;
} mix;

/* Makes the requests, `between_us` apart on average. */
static void arrive(mix *m, double between_us) {
    static twister t;
    double due = 0;
    twister_seed(&t, 1);
    for (int i = 0; i < REQUESTS; i++) {
        const float chance = (float)(twister_draw(&t) / 4294967296.0);
        double below = shares[0];
        m->model[i] = 0;
        while (m->model[i] + 1 < MODELS && below < chance) below += shares[++m->model[i]];
        m->due_ms[i] = due / 1000;
        due += exp(log(between_us) - 2 + 2 * normal(&t)); /* sigma 2 */
    }
}

/* Serves the requests. Fills the latencies, ascending. */
static void serve(mix *m, double capacity) {
    int running[WORKERS_MAX], next = 0, done = 0;
    double rest[WORKERS_MAX], now = 0;
    uint32_t count = 0;
    while (done < REQUESTS) {
        const double speed = count > capacity ? capacity / count : 1;
        double step = next < REQUESTS && count < m->workers ? m->due_ms[next] - now : HUGE_VAL;
        if (step < 0) step = 0;
        for (uint32_t i = 0; i < count; i++) step = fmin(step, rest[i] / speed);
        now += step;
        for (uint32_t i = 0; i < count; i++) rest[i] -= step * speed;
        for (uint32_t i = 0; i < count; i++) {
            if (rest[i] > 1e-9) continue;
            m->latency_ms[done++] = now - m->due_ms[running[i]];
            running[i] = running[--count];
            rest[i--] = rest[count];
        }
        while (next < REQUESTS && count < m->workers && m->due_ms[next] <= now) {
            rest[count] = m->alone_ms[m->model[next]];
            running[count++] = next++;
        }
    }
    m->per_second = REQUESTS * 1000 / now;
    sorted_sort(m->latency_ms, REQUESTS);
}

static double row_value(const reproduce_context *context, const char *id, const char *system, uint32_t us,
                        const char *statistic) {
    char row[56];
    snprintf(row, sizeof row, "%s.%s.%u.%s", id, system, (unsigned)us, statistic);
    return reproduce_fitted(context, row);
}

/* Returns the capacity with the least error on the rows that may set parameters. */
static double fit(const reproduce_context *context, const char *id, const char *system, mix *m) {
    static const uint32_t intervals[] = {1000, 2500, 4000};
    double best = 1, least = HUGE_VAL;
    for (double capacity = 0.2; capacity <= 16; capacity *= 1.02) {
        double error = 0;
        for (int i = 0; i < 3; i++) {
            const double values[3] = {row_value(context, id, system, intervals[i], "thpt"),
                                      row_value(context, id, system, intervals[i], "p50"),
                                      row_value(context, id, system, intervals[i], "p99")};
            arrive(m, intervals[i]);
            serve(m, capacity);
            error += pow(log(m->per_second / values[0]), 2) +
                     pow(log(sorted_quantile(m->latency_ms, REQUESTS, 0.5) / values[1]), 2) +
                     pow(log(sorted_quantile(m->latency_ms, REQUESTS, 0.99) / values[2]), 2);
        }
        if (error < least) {
            least = error;
            best = capacity;
        }
    }
    return best;
}

static void mixes(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const struct {
        const char *name, *alone;
        uint32_t workers;
    } systems[] = {{"cuda", "xsched", 15}, {"paella", "paella", 141}, {"xsched", "xsched", 8}};
    static const uint32_t intervals[] = {1053, 1250, 1538, 2000, 2857, 5000, 20000, 160000};
    static mix m;
    for (int s = 0; s < 3; s++) {
        const double median = row_value(context, id, systems[s].alone, 80000, "p50"),
                     slowest = row_value(context, id, systems[s].alone, 80000, "p99"),
                     power = log(slowest / median) / log(giga[slow_model] / giga[median_model]);
        char row[56];
        double capacity;
        for (int i = 0; i < MODELS; i++) m.alone_ms[i] = median * pow(giga[i] / giga[median_model], power);
        m.workers = systems[s].workers;
        snprintf(row, sizeof row, "capacity.%s", systems[s].name);
        capacity = reproduce_condition(context, result, row, fit(context, id, systems[s].name, &m));
        for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
            const char *const name = systems[s].name;
            arrive(&m, intervals[i]);
            serve(&m, capacity);
            snprintf(row, sizeof row, "%s.%s.%u.thpt", id, name, (unsigned)intervals[i]);
            reproduce_point(result, row, m.per_second);
            snprintf(row, sizeof row, "%s.%s.%u.p50", id, name, (unsigned)intervals[i]);
            reproduce_point(result, row, sorted_quantile(m.latency_ms, REQUESTS, 0.5));
            snprintf(row, sizeof row, "%s.%s.%u.p99", id, name, (unsigned)intervals[i]);
            reproduce_point(result, row, sorted_quantile(m.latency_ms, REQUESTS, 0.99));
        }
        reproduce_note(result, "%s %.2f at a time", systems[s].name, capacity);
    }
    reproduce_revised(result);
}

const reproduce_row rows_silicon_mix[] = {{"M.xs.f13b", mixes}, {NULL, NULL}};
