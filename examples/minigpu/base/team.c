#define _GNU_SOURCE
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"

/* A task is some ten to a hundred microseconds of work, and the next task follows soon. A waiting thread therefore
 * spins for so many rounds, some 30 microseconds, before it sleeps. With more threads than processors no thread
 * spins. */
#define LOOKS_BEFORE_SLEEP 1000u

/* The caller sleeps only when a thread that it waits for does not run, because other programs use the machine. That
 * time is lost. While more than 1/LOST_PART of the life of the account's teams is lost, beyond LOST_ALLOWED_NS, the
 * caller does tasks alone. */
#define LOST_PART 20u
#define LOST_ALLOWED_NS 2000000u

/* Items of a thread, to do or done, in order. */
typedef struct share {
    uint32_t *items;
    uint32_t count, unused;
} share;

/* Data that one thread writes while others read something else are in cache lines of their own: reading a line that
 * another core has written takes a tenth of a microsecond. */
typedef struct member {
    PAIR_ALIGNED uint64_t left; /* of its share: the task, and 16 bits each for the first remaining item and the end */
    PAIR_ALIGNED share shares[2]; /* by task modulo 2: items of this task, and items done in the other one */
    pthread_t thread;
    team *of;
    uint32_t index;
} member;

struct team {
    PAIR_ALIGNED uint32_t offered; /* tasks whose first part may begin */
    void (*first)(void *user);     /* the first part of the next task; NULL: none */
    void *first_user;
    PAIR_ALIGNED uint32_t first_taken; /* 1: a thread has begun the first part */
    PAIR_ALIGNED uint32_t task;        /* tasks that have begun */
    void (*work)(void *user, uint32_t item);
    void *user;
    PAIR_ALIGNED uint32_t through; /* how often members other than the caller have reached the end of a task */
    PAIR_ALIGNED uint32_t sleeping;
    uint32_t stops;
    uint32_t items, threads;
    uint32_t looks; /* rounds of spinning before a thread sleeps */
    uint32_t alone; /* 1: the caller does the next task alone, with its first part */
    uint64_t start_ns;
    team_account *account;
    uint32_t *numbers; /* the item numbers of all shares */
    pthread_mutex_t mutex;
    pthread_cond_t changes;
    member members[];
};

/* ---- waiting ---- */

static int has_come(const uint32_t *value, uint32_t wanted) {
    return (int32_t)(__atomic_load_n(value, __ATOMIC_SEQ_CST) - wanted) >= 0;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Waits until *value reaches `wanted`. Returns 1 when the thread has slept. */
static int wait_for(team *t, const uint32_t *value, uint32_t wanted) {
    uint32_t looks;
    for (looks = 0; looks < t->looks; looks++) {
        if (has_come(value, wanted)) return 0;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&t->mutex);
    __atomic_fetch_add(&t->sleeping, 1, __ATOMIC_SEQ_CST);
    while (!has_come(value, wanted)) pthread_cond_wait(&t->changes, &t->mutex);
    __atomic_fetch_sub(&t->sleeping, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&t->mutex);
    return 1;
}

/* Adds 1 to a value that others wait for. Either this thread sees that one of them sleeps, or the sleeper sees the new
 * value. */
static void add(team *t, uint32_t *value) {
    __atomic_fetch_add(value, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&t->sleeping, __ATOMIC_SEQ_CST)) return;
    pthread_mutex_lock(&t->mutex);
    pthread_cond_broadcast(&t->changes);
    pthread_mutex_unlock(&t->mutex);
}

/* ---- shares ---- */

/* Divides the items of the next task evenly. */
static void deal(team *t, uint32_t items) {
    uint32_t i, n;
    for (i = 0; i < t->threads; i++) {
        share *s = &t->members[i].shares[(t->task + 1) % 2];
        const uint32_t first = (uint32_t)((uint64_t)items * i / t->threads),
                       end = (uint32_t)((uint64_t)items * (i + 1) / t->threads);
        s->count = end - first;
        for (n = first; n < end; n++) s->items[n - first] = n;
    }
    t->items = items;
}

/* Takes the first remaining item of a share (for its owner), or the last one (for a helper). Returns 0 when none
 * remains. */
static int take(member *from, uint32_t task, int last, uint32_t *item) {
    const share *s = &from->shares[task % 2];
    uint64_t seen = __atomic_load_n(&from->left, __ATOMIC_RELAXED), first, end;
    do {
        const int begun = seen >> 32 == task; /* otherwise no thread has taken an item of it */
        first = begun ? seen >> 16 & 0xffff : 0;
        end = begun ? seen & 0xffff : s->count;
        if (first == end) return 0;
        *item = s->items[last ? --end : first++];
    } while (!__atomic_compare_exchange_n(&from->left, &seen, (uint64_t)task << 32 | first << 16 | end, 0,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return 1;
}

/* Does a thread's own items first, then items of the others that no thread has begun. The items that a thread does are
 * its own in the next task. */
static void do_share(team *t, uint32_t index, uint32_t task) {
    share *done = &t->members[index].shares[(task + 1) % 2];
    uint32_t i, item;
    done->count = 0;
    for (i = 0; i < t->threads; i++) {
        while (take(&t->members[(index + i) % t->threads], task, i != 0, &item)) {
            done->items[done->count++] = item;
            t->work(t->user, item);
        }
    }
}

static void do_first(team *t) {
    if (t->first && !__atomic_exchange_n(&t->first_taken, 1, __ATOMIC_RELAXED)) t->first(t->first_user);
}

/* ---- threads ---- */

static void *member_main(void *argument) {
    const member *who = (const member *)argument;
    team *t = who->of;
    uint32_t task;
    for (task = 1;; task++) {
        (void)wait_for(t, &t->offered, task);
        if (__atomic_load_n(&t->stops, __ATOMIC_RELAXED)) return NULL;
        do_first(t);
        (void)wait_for(t, &t->task, task);
        if (__atomic_load_n(&t->stops, __ATOMIC_RELAXED)) return NULL;
        do_share(t, who->index, task);
        add(t, &t->through);
    }
}

/* Returns the number of processors that this process may use. */
static uint32_t processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    return (uint32_t)CPU_COUNT(&set);
}

team *team_start(uint32_t threads, uint32_t items, team_account *account) {
    const size_t bytes = sizeof(team) + threads * sizeof(member), share_items = ((size_t)items + 31) / 32 * 32,
                 number_bytes = 2 * threads * share_items * sizeof(uint32_t);
    team *t = NULL;
    uint32_t i;
    if (posix_memalign((void **)&t, ARENA_ALIGNMENT, bytes)) return NULL;
    memset(t, 0, bytes);
    if (posix_memalign((void **)&t->numbers, ARENA_ALIGNMENT, number_bytes)) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->changes, NULL);
    t->looks = processors() < threads ? 0 : LOOKS_BEFORE_SLEEP;
    t->start_ns = now_ns();
    t->account = account;
    for (i = 0; i < 2 * threads; i++) t->members[i / 2].shares[i % 2].items = t->numbers + i * share_items;
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

/* Returns whether waiting for threads that do not run costs more than they save. */
static uint32_t is_losing(const team *t) {
    const uint64_t lived_ns = t->account->lived_ns + (now_ns() - t->start_ns);
    return t->account->lost_ns > LOST_ALLOWED_NS + lived_ns / LOST_PART;
}

void team_offer(team *t, void (*first)(void *user), void *user) {
    if (t->offered != t->task || t->alone) return;
    t->first = first;
    t->first_user = user;
    t->first_taken = 0;
    t->alone = is_losing(t);
    if (!t->alone) add(t, &t->offered);
}

static void do_alone(team *t, uint32_t items) {
    uint32_t i;
    t->alone = 0;
    do_first(t);
    for (i = 0; i < items; i++) t->work(t->user, i);
}

void team_do(team *t, void (*work)(void *user, uint32_t item), void *user, uint32_t items) {
    uint64_t began_ns;
    t->work = work;
    t->user = user;
    if (items != t->items) deal(t, items);
    team_offer(t, NULL, NULL);
    if (t->alone) {
        do_alone(t, items);
        return;
    }
    add(t, &t->task);
    do_first(t);
    do_share(t, 0, t->task);
    began_ns = now_ns();
    if (wait_for(t, &t->through, t->task * (t->threads - 1))) t->account->lost_ns += now_ns() - began_ns;
}

void team_stop(team *t) {
    uint32_t i;
    if (!t) return;
    t->account->lived_ns += now_ns() - t->start_ns;
    __atomic_store_n(&t->stops, 1, __ATOMIC_RELAXED);
    add(t, &t->offered);
    add(t, &t->task);
    for (i = 1; i < t->threads; i++) pthread_join(t->members[i].thread, NULL);
    pthread_cond_destroy(&t->changes);
    pthread_mutex_destroy(&t->mutex);
    free(t->numbers);
    free(t);
}
