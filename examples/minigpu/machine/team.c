#define _GNU_SOURCE
#include "machine/team.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A task is some hundred microseconds of work, and the next follows soon: who waits looks so often before it sleeps,
 * some 100 microseconds long. Whoever is waited for may not run, on a machine that others use too: then looking longer
 * only takes its time. With more threads than cores nobody looks. */
#define LOOKS_BEFORE_SLEEP 3000u

typedef struct member {
    team *of;
    pthread_t thread;
    uint32_t index;
} member;

struct team {
    pthread_mutex_t mutex;
    pthread_cond_t begins, ends;
    void (*work)(void *user, uint32_t item);
    void *user;
    uint32_t items;
    uint32_t task;     /* how many tasks have begun */
    uint32_t through;  /* members beside the caller that are through with it */
    uint32_t sleeping; /* members that wait for `begins` */
    uint32_t stops;
    uint32_t threads;
    uint32_t looks;  /* before it sleeps */
    uint32_t *taken; /* per item: the last task in which somebody took it */
    member members[];
};

/* Waits until *value is `wanted`. Nobody changes it without the mutex and a word on the condition. */
static void wait_for(team *t, const uint32_t *value, uint32_t wanted, pthread_cond_t *changes) {
    uint32_t looks;
    for (looks = 0; looks < t->looks; looks++) {
        if (__atomic_load_n(value, __ATOMIC_ACQUIRE) == wanted) return;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&t->mutex);
    t->sleeping++;
    while (__atomic_load_n(value, __ATOMIC_ACQUIRE) != wanted) pthread_cond_wait(changes, &t->mutex);
    t->sleeping--;
    pthread_mutex_unlock(&t->mutex);
}

/* Own items first, then those of the others that nobody has taken. */
static void do_share(team *t, uint32_t index, uint32_t task) {
    const uint32_t first = (uint32_t)((uint64_t)t->items * index / t->threads);
    uint32_t i;
    for (i = 0; i < t->items; i++) {
        const uint32_t item = first + i < t->items ? first + i : first + i - t->items;
        if (__atomic_exchange_n(&t->taken[item], task, __ATOMIC_RELAXED) != task) t->work(t->user, item);
    }
}

static void *member_main(void *argument) {
    const member *who = (const member *)argument;
    team *t = who->of;
    uint32_t task;
    for (task = 1;; task++) {
        wait_for(t, &t->task, task, &t->begins);
        if (t->stops) return NULL;
        do_share(t, who->index, task);
        pthread_mutex_lock(&t->mutex);
        __atomic_store_n(&t->through, t->through + 1, __ATOMIC_RELEASE);
        if (t->sleeping && t->through == t->threads - 1) pthread_cond_signal(&t->ends);
        pthread_mutex_unlock(&t->mutex);
    }
}

/* Lets the others begin with the next task. */
static void begin(team *t) {
    pthread_mutex_lock(&t->mutex);
    __atomic_store_n(&t->through, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&t->task, t->task + 1, __ATOMIC_RELEASE);
    if (t->sleeping) pthread_cond_broadcast(&t->begins);
    pthread_mutex_unlock(&t->mutex);
}

team *team_start(uint32_t threads, uint32_t items) {
    team *t = (team *)calloc(1, sizeof *t + threads * sizeof(member));

    if (!t) return NULL;
    if (!(t->taken = (uint32_t *)calloc(items ? items : 1, sizeof *t->taken))) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->begins, NULL);
    pthread_cond_init(&t->ends, NULL);
    t->looks = sysconf(_SC_NPROCESSORS_ONLN) < (long)threads ? 0 : LOOKS_BEFORE_SLEEP;
    for (t->threads = 1; t->threads < threads; t->threads++) {
        member *who = &t->members[t->threads];
        who->of = t;
        who->index = t->threads;
        if (!pthread_create(&who->thread, NULL, member_main, who)) continue;
        team_stop(t);
        return NULL;
    }
    return t;
}

void team_do(team *t, void (*work)(void *user, uint32_t item), void *user, uint32_t items) {
    t->work = work;
    t->user = user;
    t->items = items;
    begin(t);
    do_share(t, 0, t->task);
    wait_for(t, &t->through, t->threads - 1, &t->ends);
}

void team_stop(team *t) {
    uint32_t i;
    if (!t) return;
    t->stops = 1;
    begin(t);
    for (i = 1; i < t->threads; i++) pthread_join(t->members[i].thread, NULL);
    pthread_cond_destroy(&t->begins);
    pthread_cond_destroy(&t->ends);
    pthread_mutex_destroy(&t->mutex);
    free(t->taken);
    free(t);
}
