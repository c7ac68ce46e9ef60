/* Random workloads, and many runs on all cores. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "progress.h"
#include "tbsim.h"

void tb_random_workload(const tb_library *library, uint32_t count, uint32_t number, uint64_t seed, int prioritised,
                        tb_workload *workload) {
    uint64_t random = gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(GPUMP_HASH_SEED, seed), count), number);
    uint32_t order[64], all = library->application_count;
    memset(workload, 0, sizeof *workload);
    for (uint32_t i = 0; i < all; i++) order[i] = i;
    for (uint32_t i = all - 1; i > 0; i--) { /* a random order; the prioritised process then moves to the front */
        uint32_t k = gpump_random_below(&random, i + 1), other = order[i];
        order[i] = order[k];
        order[k] = other;
    }
    for (uint32_t i = 0; i < all; i++)
        if (order[i] == number % all) {
            order[i] = order[0];
            order[0] = number % all;
        }
    workload->count = count;
    for (uint32_t i = 0; i < count; i++) {
        tb_process *p = &workload->processes[i];
        p->application = order[i % all];
        snprintf(p->name, sizeof p->name, "%.39s", library->applications[p->application].name);
        p->priority = prioritised && i == 0;
        p->weight = 1;
    }
}

static int is_stopped; /* a signal handler writes it while other threads read it */
void tb_stop(void) { __atomic_store_n(&is_stopped, 1, __ATOMIC_RELAXED); }
int tb_stops(void) { return __atomic_load_n(&is_stopped, __ATOMIC_RELAXED); }

typedef struct team {
    tb_job *jobs;
    uint32_t count, next, done, failed;
    progress *shown; /* NULL: progress is not shown */
    pthread_mutex_t lock;
} team;

static void *work(void *argument) {
    team *t = (team *)argument;
    for (;;) {
        uint32_t i;
        int failed;
        pthread_mutex_lock(&t->lock);
        i = !tb_stops() && t->next < t->count ? t->next++ : GPUMP_NONE;
        pthread_mutex_unlock(&t->lock);
        if (i == GPUMP_NONE) return NULL;
        tb_random_workload(t->jobs[i].library, t->jobs[i].count, t->jobs[i].number, t->jobs[i].seed,
                           t->jobs[i].prioritised, &t->jobs[i].workload);
        t->jobs[i].workload.processes[0].repeat = t->jobs[i].prioritised_runs;
        failed = tb_run(t->jobs[i].library, &t->jobs[i].workload, &t->jobs[i].options, &t->jobs[i].result);
        pthread_mutex_lock(&t->lock);
        t->done++;
        t->failed += failed != 0;
        if (t->shown) {
            char what[64];
            snprintf(what, sizeof what, "%u of %u runs", t->done, t->count);
            progress_show(t->shown, (double)t->done / t->count, what);
        }
        pthread_mutex_unlock(&t->lock);
    }
}

uint32_t tb_run_jobs(tb_job *jobs, uint32_t count, uint32_t threads, int shows) {
    progress shown;
    team t;
    pthread_t thread[256];
    uint32_t started = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    memset(&t, 0, sizeof t);
    t.jobs = jobs;
    t.count = count;
    t.shown = shows ? &shown : NULL;
    progress_begin(&shown, "tbsim");
    for (uint32_t i = 0; i < count; i++) snprintf(jobs[i].result.error, sizeof jobs[i].result.error, "interrupted");
    pthread_mutex_init(&t.lock, NULL);
    if (!threads) threads = cores > 0 ? (uint32_t)cores : 1;
    if (threads > 256) threads = 256;
    while (started + 1 < threads && started + 1 < count && pthread_create(&thread[started], NULL, work, &t) == 0)
        started++;
    work(&t);
    for (uint32_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
    progress_end(&shown);
    pthread_mutex_destroy(&t.lock);
    return t.failed + (t.count - t.done);
}
