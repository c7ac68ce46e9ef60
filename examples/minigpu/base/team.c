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

/* A stint is some tasks in a row, alone or together: so many that it takes STINT_NS or more, because asking the clocks
 * takes microseconds. Stints are compared by the time that they take for their work. The slower way is tried every
 * TRY_STINTS-th time, and together only while the time lost by such trials is below 1/LOST_PART of the last
 * REMEMBERED_NS, beyond LOST_ALLOWED_NS. A trial also waits until the caller has had its processor for QUIET_NS, but
 * for 1/QUIET_PART of each stint: on a machine where even the caller is interrupted, a single wait for another thread
 * takes as long as many stints. A stint together ends early when it has taken OVERRUN times as long as one alone.
 * Together is chosen when it saves at least 1/GAIN_PART. */
#define STINT_TASKS_LEAST 32u
#define STINT_TASKS_MOST 1024u
#define STINT_NS 1000000u
#define TRY_STINTS 16u
#define LOST_PART 40u
#define LOST_ALLOWED_NS 2000000u
#define REMEMBERED_NS 1000000000u
#define QUIET_NS 20000000u
#define QUIET_PART 10u
#define OVERRUN 2u
#define GAIN_PART 10u

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
    uint32_t last; /* the last task that it has worked on */
} member;

#define CLOSED UINT64_MAX /* of team.joined */

struct team {
    PAIR_ALIGNED uint32_t offered; /* tasks whose first part may begin */
    void (*first)(void *user);     /* the first part of the next task; NULL: none */
    void *first_user;
    PAIR_ALIGNED uint32_t first_taken; /* 1: a thread has begun the first part, or there is none */
    PAIR_ALIGNED uint32_t firsts;      /* first parts that have ended */
    PAIR_ALIGNED uint32_t task;        /* tasks that have begun */
    void (*work)(void *user, uint32_t item);
    void *user;
    PAIR_ALIGNED uint64_t joined;  /* the task, and in the lower half how many members work on it; CLOSED: none may */
    PAIR_ALIGNED uint32_t through; /* how often members other than the caller have reached the end of a task */
    PAIR_ALIGNED uint32_t sleeping;
    uint32_t stops;
    uint32_t items, threads;
    uint32_t started; /* threads that exist, the caller's included: the others start with the first task together */
    uint32_t looks;   /* rounds of spinning before a thread sleeps */
    uint32_t alone;   /* 1: the caller does the tasks of this stint alone, with their first parts */
    uint32_t left_of_stint, firsts_begun, throughs_begun;
    uint64_t stint_ns, stint_ran_ns, stint_work; /* when the stint began, the caller's time on processors and the work
                                                    done until then */
    uint64_t (*measure)(const void *user);
    const void *measured;
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

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

/* Waits until *value reaches `wanted`. */
static void wait_for(team *t, const uint32_t *value, uint32_t wanted) {
    uint32_t looks;
    for (looks = 0; looks < t->looks; looks++) {
        if (has_come(value, wanted)) return;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&t->mutex);
    __atomic_fetch_add(&t->sleeping, 1, __ATOMIC_SEQ_CST);
    while (!has_come(value, wanted)) pthread_cond_wait(&t->changes, &t->mutex);
    __atomic_fetch_sub(&t->sleeping, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&t->mutex);
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
    if (__atomic_exchange_n(&t->first_taken, 1, __ATOMIC_ACQ_REL)) return;
    t->first(t->first_user);
    add(t, &t->firsts);
}

/* ---- threads ---- */

/* A member may work on a task from its beginning until the caller has found no item left. Returns 0 when it is too late
 * or too early. */
static int join(team *t, uint32_t task) {
    uint64_t seen = __atomic_load_n(&t->joined, __ATOMIC_RELAXED);
    do {
        if (seen == CLOSED || seen >> 32 != task) return 0;
    } while (!__atomic_compare_exchange_n(&t->joined, &seen, seen + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return 1;
}

static void *member_main(void *argument) {
    member *who = (member *)argument;
    team *t = who->of;
    uint32_t task = 0;
    for (;;) {
        wait_for(t, &t->offered, task + 1);
        task = __atomic_load_n(&t->offered, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&t->stops, __ATOMIC_RELAXED)) return NULL;
        do_first(t);
        wait_for(t, &t->task, task);
        if (__atomic_load_n(&t->stops, __ATOMIC_RELAXED)) return NULL;
        if (!join(t, task)) continue;
        do_share(t, who->index, task);
        who->last = task;
        add(t, &t->through);
    }
}

/* Returns the number of processors that this process may use. */
static uint32_t processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    return (uint32_t)CPU_COUNT(&set);
}

team *team_start(uint32_t threads, uint32_t items, team_account *account, uint64_t (*work)(const void *user),
                 const void *user) {
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
    t->threads = threads;
    t->started = t->first_taken = 1;
    t->joined = CLOSED;
    t->account = account;
    t->measure = work;
    t->measured = user;
    t->stint_ns = now_ns();
    t->stint_ran_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    t->stint_work = work(user);
    for (i = 0; i < 2 * threads; i++) t->members[i / 2].shares[i % 2].items = t->numbers + i * share_items;
    return t;
}

/* Starts the threads that are still missing. A system that gives no more leaves the caller alone. */
static void start_threads(team *t) {
    while (t->started < t->threads) {
        member *who = &t->members[t->started];
        who->of = t;
        who->index = t->started;
        if (!pthread_create(&who->thread, NULL, member_main, who)) {
            t->started++;
            continue;
        }
        t->threads = t->started;
        t->items = 0; /* the items are dealt again */
    }
}

/* ---- stints ---- */

uint32_t team_goes_alone(const team_account *a) {
    const uint32_t tries = a->stints % TRY_STINTS == 0;
    if (a->always) return 0;
    if (!a->alone_cost) return 1;
    if (a->together_cost && a->together_cost * GAIN_PART <= a->alone_cost * (GAIN_PART - 1)) return tries;
    return !(tries || !a->together_cost) || a->quiet_ns < QUIET_NS ||
           a->lost_ns > LOST_ALLOWED_NS + a->lived_ns / LOST_PART;
}

static uint64_t averaged(uint64_t average, uint64_t value) { return average ? (3 * average + value) / 4 : value + 1; }

void team_account_for(team_account *a, uint32_t alone, uint64_t work, uint64_t took_ns, uint64_t ran_ns) {
    const uint64_t alone_ns = work * a->alone_cost / 1024, most = OVERRUN * a->alone_cost,
                   cost = work ? took_ns * 1024 / work : most;
    a->lived_ns += took_ns;
    a->stints++;
    if (a->lived_ns > REMEMBERED_NS) {
        a->lived_ns /= 2;
        a->lost_ns /= 2;
    }
    if (alone) {
        a->alone_ns = took_ns;
        a->quiet_ns = took_ns - ran_ns > took_ns / QUIET_PART ? 0 : a->quiet_ns + took_ns;
        if (work) a->alone_cost = averaged(a->alone_cost, cost);
        return;
    }
    if (cost > most) a->quiet_ns = 0;
    a->together_cost = averaged(a->together_cost, cost < most ? cost : most);
    a->lost_ns += took_ns;
    a->lost_ns -=
        a->lost_ns < alone_ns ? a->lost_ns : alone_ns; /* time saved earlier offsets the time that this trial lost */
}

/* A whole stint has taken so long: are the next ones to have more tasks, or fewer? */
static void adapt_tasks(team_account *a, uint64_t took_ns) {
    if (took_ns < STINT_NS && a->tasks < STINT_TASKS_MOST) a->tasks *= 2;
    if (took_ns > 4 * STINT_NS && a->tasks > STINT_TASKS_LEAST) a->tasks /= 2;
}

static void end_stint(team *t) {
    const uint64_t now = now_ns(), work = t->measure(t->measured);
    const uint64_t ran = clock_ns(CLOCK_THREAD_CPUTIME_ID), took_ns = now - t->stint_ns, ran_ns = ran - t->stint_ran_ns;
    team_account_for(t->account, t->alone, work - t->stint_work, took_ns, ran_ns < took_ns ? ran_ns : took_ns);
    if (!t->left_of_stint && t->alone) adapt_tasks(t->account, took_ns);
    t->stint_ns = now;
    t->stint_ran_ns = ran;
    t->stint_work = work;
    t->left_of_stint = 0;
}

static void begin_stint(team *t) {
    if (!t->account->tasks) t->account->tasks = STINT_TASKS_LEAST;
    t->left_of_stint = t->account->tasks;
    t->alone = team_goes_alone(t->account);
    if (!t->alone) start_threads(t);
    if (t->threads == 1) t->alone = 1;
}

/* ---- tasks ---- */

void team_offer(team *t, void (*first)(void *user), void *user) {
    if (t->first || t->offered != t->task) return;
    if (!t->left_of_stint) begin_stint(t);
    t->first = first;
    t->first_user = user;
    if (t->alone) return;
    t->firsts_begun += first != NULL;
    if (first) __atomic_store_n(&t->first_taken, 0, __ATOMIC_RELEASE);
    add(t, &t->offered);
}

static void do_alone(team *t, uint32_t items) {
    uint32_t i;
    if (t->first) t->first(t->first_user);
    for (i = 0; i < items; i++) t->work(t->user, i);
}

/* Does a task together. What a member that did not join has of the next task is nothing: others did its items. */
static void do_together(team *t) {
    const uint32_t task = t->task + 1;
    uint32_t i;
    __atomic_store_n(&t->joined, (uint64_t)task << 32, __ATOMIC_RELEASE);
    add(t, &t->task);
    do_first(t);
    do_share(t, 0, task);
    t->throughs_begun += (uint32_t)__atomic_exchange_n(&t->joined, CLOSED, __ATOMIC_ACQ_REL);
    wait_for(t, &t->through, t->throughs_begun);
    wait_for(t, &t->firsts, t->firsts_begun);
    for (i = 1; i < t->threads; i++)
        if (t->members[i].last != task) t->members[i].shares[(task + 1) % 2].count = 0;
}

void team_do(team *t, void (*work)(void *user, uint32_t item), void *user, uint32_t items) {
    t->work = work;
    t->user = user;
    team_offer(t, NULL, NULL);
    if (items != t->items) deal(t, items);
    if (t->alone)
        do_alone(t, items);
    else
        do_together(t);
    t->first = NULL;
    if (!--t->left_of_stint || (!t->alone && now_ns() - t->stint_ns > OVERRUN * t->account->alone_ns)) end_stint(t);
}

void team_stop(team *t) {
    uint32_t i;
    if (!t) return;
    __atomic_store_n(&t->stops, 1, __ATOMIC_RELAXED);
    add(t, &t->offered);
    add(t, &t->task);
    for (i = 1; i < t->started; i++) pthread_join(t->members[i].thread, NULL);
    if (t->left_of_stint) end_stint(t);
    pthread_cond_destroy(&t->changes);
    pthread_mutex_destroy(&t->mutex);
    free(t->numbers);
    free(t);
}
