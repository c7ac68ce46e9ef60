/* The evaluation of Tanasic 5.3: schemes over random workloads of 2, 4, 6 and 8 processes, and the metrics of their
 * runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tbsim.h"

static const struct {
    const char *policy, *name;
    uint32_t mechanism;
    int priority;
} schemes[TB_SCHEMES] = {
    {"fcfs", "FCFS", GPUMP_TECHNIQUE_SWITCH, 0},
    {"fcfs_context", "FCFS by contexts", GPUMP_TECHNIQUE_SWITCH, 0},
    {"npq", "NPQ", GPUMP_TECHNIQUE_SWITCH, 1},
    {"ppq", "PPQ, switch", GPUMP_TECHNIQUE_SWITCH, 1},
    {"ppq", "PPQ, drain", GPUMP_TECHNIQUE_DRAIN, 1},
    {"ppq_shared", "PPQ shared, switch", GPUMP_TECHNIQUE_SWITCH, 1},
    {"ppq_shared", "PPQ shared, drain", GPUMP_TECHNIQUE_DRAIN, 1},
    {"equal", "DSS equal, switch", GPUMP_TECHNIQUE_SWITCH, 0},
    {"equal", "DSS equal, drain", GPUMP_TECHNIQUE_DRAIN, 0},
};

typedef struct outcome {
    gpump_metrics metrics;
    double ntt[TB_PROCESSES];
    uint32_t class1[TB_PROCESSES], class2[TB_PROCESSES];
} outcome;

struct tb_evaluation {
    const tb_library *library;
    uint32_t workloads, threads;
    int base, progress;
    outcome *outcomes[TB_SCHEMES][5]; /* by count / 2 */
};

tb_evaluation *tb_evaluation_create(const tb_library *library, int base, uint32_t workloads, uint32_t threads,
                                    int progress) {
    tb_evaluation *e = (tb_evaluation *)calloc(1, sizeof *e);
    if (!e) return NULL;
    e->library = library;
    e->base = base;
    e->workloads = workloads;
    e->threads = threads;
    e->progress = progress;
    return e;
}

void tb_evaluation_free(tb_evaluation *e) {
    if (!e) return;
    for (int i = 0; i < TB_SCHEMES; i++)
        for (int k = 0; k < 5; k++) free(e->outcomes[i][k]);
    free(e);
}

static const outcome *outcomes_of(tb_evaluation *e, int scheme, uint32_t count) {
    outcome **result = &e->outcomes[scheme][count / 2];
    tb_job *jobs;
    if (*result) return *result;
    jobs = (tb_job *)calloc(e->workloads, sizeof *jobs);
    *result = (outcome *)calloc(e->workloads, sizeof **result);
    if (!jobs || !*result) goto fail;
    for (uint32_t i = 0; i < e->workloads; i++) {
        tb_options_default(&jobs[i].options);
        jobs[i].options.policy = tb_find_policy(schemes[scheme].policy);
        jobs[i].options.mechanism = schemes[scheme].mechanism;
        jobs[i].options.starvation_times = 0; /* by priority some processes wait long, but all of these workloads end */
        jobs[i].options.transfer_priority = schemes[scheme].priority;
        jobs[i].prioritised = schemes[scheme].priority;
        jobs[i].count = count;
        jobs[i].number = i;
        jobs[i].library = e->library;
        jobs[i].seed = 1;
    }
    if (tb_run_jobs(jobs, e->workloads, e->threads, e->progress)) goto fail;
    for (uint32_t i = 0; i < e->workloads; i++) {
        outcome *o = &(*result)[i];
        if (tb_metrics(e->library, &jobs[i].workload, &jobs[i].result, &o->metrics, o->ntt)) goto fail;
        for (uint32_t p = 0; p < count; p++) {
            o->class1[p] = e->library->applications[jobs[i].workload.processes[p].application].class1;
            o->class2[p] = e->library->applications[jobs[i].workload.processes[p].application].class2;
        }
    }
    free(jobs);
    return *result;
fail:
    free(jobs);
    free(*result);
    return *result = NULL;
}

typedef struct sums {
    double sum, squares;
    uint32_t count;
} sums;
static void add(sums *s, double value) {
    s->sum += value;
    s->squares += value * value;
    s->count++;
}
static tb_sample finish(const sums *s) {
    tb_sample sample = {0, 0, s->count};
    if (!s->count) return sample;
    sample.mean = s->sum / s->count;
    if (s->count > 1) {
        double variance = (s->squares - s->sum * sample.mean) / (s->count - 1);
        sample.half_width = 1.96 * sqrt((variance > 0 ? variance : 0) / s->count);
    }
    return sample;
}

int tb_turnaround_gain(tb_evaluation *e, int scheme, uint32_t count, int klass, tb_sample *sample) {
    const outcome *base = outcomes_of(e, e->base, count), *with = base ? outcomes_of(e, scheme, count) : NULL;
    sums total = {0, 0, 0};
    if (!with) return -1;
    for (uint32_t i = 0; i < e->workloads; i++)
        for (uint32_t p = 0; p < (schemes[scheme].priority ? 1u : count); p++)
            if (klass < 0 || klass == (int)(schemes[scheme].priority ? with[i].class1[p] : with[i].class2[p]))
                add(&total, base[i].ntt[p] / with[i].ntt[p]);
    *sample = finish(&total);
    return 0;
}

int tb_throughput_lost(tb_evaluation *e, int base_scheme, int scheme, uint32_t count, tb_sample *sample) {
    const outcome *base = outcomes_of(e, base_scheme, count), *with = base ? outcomes_of(e, scheme, count) : NULL;
    sums total = {0, 0, 0};
    if (!with) return -1;
    for (uint32_t i = 0; i < e->workloads; i++) add(&total, base[i].metrics.stp / with[i].metrics.stp);
    *sample = finish(&total);
    return 0;
}

int tb_fairness_gain(tb_evaluation *e, int scheme, uint32_t count, tb_sample *sample, double *of_means) {
    const outcome *base = outcomes_of(e, e->base, count), *with = base ? outcomes_of(e, scheme, count) : NULL;
    sums total = {0, 0, 0};
    double fair[2] = {0, 0};
    if (!with) return -1;
    for (uint32_t i = 0; i < e->workloads; i++) {
        add(&total, with[i].metrics.fairness / base[i].metrics.fairness);
        fair[0] += base[i].metrics.fairness;
        fair[1] += with[i].metrics.fairness;
    }
    *sample = finish(&total);
    if (of_means) *of_means = fair[1] / fair[0];
    return 0;
}

int tb_evaluation_print(tb_evaluation *e, FILE *out) {
    static const char *const classes[] = {"all", "SHORT", "MEDIUM", "LONG"};
    fprintf(out, "| quantity | scheme | class | 2 processes | 4 | 6 | 8 |\n|---|---|---|---|---|---|---|\n");
    for (int what = 0; what < 3; what++)
        for (int scheme = TB_NPQ; scheme < TB_SCHEMES; scheme++)
            for (int klass = -1; klass < (what == 0 ? 3 : 0); klass++) {
                if (what == 2 && schemes[scheme].priority) continue;
                fprintf(out, "| %s | %s | %s |",
                        what == 0   ? "turnaround gain"
                        : what == 1 ? "throughput lost"
                                    : "fairness gain",
                        schemes[scheme].name, classes[klass + 1]);
                for (uint32_t count = 2; count <= 8; count += 2) {
                    tb_sample sample;
                    int failed = what == 0   ? tb_turnaround_gain(e, scheme, count, klass, &sample)
                                 : what == 1 ? tb_throughput_lost(e, schemes[scheme].priority ? TB_NPQ : e->base,
                                                                  scheme, count, &sample)
                                             : tb_fairness_gain(e, scheme, count, &sample, NULL);
                    if (failed) return -1;
                    fprintf(out, " %.2f ± %.2f |", sample.mean, sample.half_width);
                }
                fprintf(out, "\n");
                fflush(out);
            }
    return 0;
}
