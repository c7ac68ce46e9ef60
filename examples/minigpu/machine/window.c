#include "machine/window.h"

#include <stdio.h>
#include <string.h>

#include "sm/memory_access.h"
#include "preemption/block_life.h"

typedef struct window {
    machine *m;
    sm_cycle_form *cycle;
    uint64_t begin, end;
    uint8_t beside[SMS_MAX]; /* 1: the SM runs beside the others */
    uint32_t in_turn_count;
    uint32_t in_turn[SMS_MAX]; /* SMs that run on the caller's thread */
} window;

/* Returns the memory instructions of an SM whose checks may all end in one window: where a part answers look-ups, those
 * of one page end together. */
static uint32_t waiting_instructions(const machine *m) {
    uint32_t i;
    for (i = 0; m->parts[i]; i++)
        if (m->parts[i]->look_up) return m->config.memory_queue_entries;
    return 1;
}

int window_make(machine *m, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        void *memory = arena_take(&m->arena, store_log_bytes(m->window_cycles, waiting_instructions(m)));
        if (!memory) break;
        m->sms[i]->log = store_log_init(memory, m->window_cycles, waiting_instructions(m));
    }
    if (i == m->sm_count && !memory_make_ports(m->memory_system, &m->arena, &m->config, m->window_cycles)) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for windows of %u cycles", m->window_cycles);
    return -1;
}

/* ---- SMs run ---- */

static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t next_cycle(const machine *m, const sm *s) {
    return earlier(memory_sm_cycle(m->memory_system, s->index), s->wake);
}

/* Runs an SM through the window. A failure stops the SM there. */
static void run_sm(const window *w, sm *s) {
    uint64_t now = w->begin, next;
    /* In most windows of a kernel that waits for memory an SM has no work. */
    if (next_cycle(w->m, s) >= w->end && !s->starting_count && !s->ended_count) return;
    machine_fail_into(&s->failure);
    block_life_start(w->m, s);
    while (!s->failure.failed && (next = next_cycle(w->m, s)) < w->end) {
        if (next > now) now = next;
        s->ahead_end = earlier(memory_sm_cycle(w->m->memory_system, s->index), w->end);
        w->cycle(w->m, s, now++);
    }
    s->ahead_end = 0;
    block_life_overwrite(w->m, s);
    machine_fail_into(NULL);
}

static void run_item(void *user, uint32_t item) {
    const window *w = (const window *)user;
    if (w->beside[item]) run_sm(w, w->m->sms[item]);
}

/* Simulates the memory's part of the last window. */
static void catch_up(void *user) {
    memory_system *memory = (memory_system *)user;
    memory_catch_up(memory, memory->turned);
}

/* Returns whether an observer looks at the machine between two windows. */
static int is_watched(const machine *m) { return (m->traits & PART_READS_MEMORY) != 0; }

/* Returns whether blocks leave the SM or are restored to it. */
static int is_preempting(const sm *s) { return s->stopping || s->contexts_moving || s->stall_cycle != NEVER; }

/* Returns whether a kernel on the SM calls the run-time library, which all SMs share (runtime_calls.h). */
static int calls_runtime(const machine *m, const sm *s) {
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++)
        if (s->kernel_resident[i] && (m->kernels[i].program->uses_printing || m->kernels[i].program->uses_heap))
            return 1;
    return 0;
}

int window_is_in_turn(const machine *m) { return m->in_turn || m->traits & PART_SHARED_BY_SMS; }

static void choose(window *w) {
    machine *m = w->m;
    const int observed = window_is_in_turn(m) || m->on_access || m->region_log || m->clobbered_at;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[i];
        s->ends_wait = !is_preempting(s);
        w->beside[i] = !observed && s->ends_wait && !calls_runtime(m, s);
        if (w->beside[i]) continue;
        w->in_turn[w->in_turn_count++] = i;
        block_life_start(m, s);
    }
}

/* Runs the SMs that access shared state together, cycle by cycle. */
static void run_in_turn(window *w) {
    machine *m = w->m;
    uint64_t now = w->begin;
    uint32_t i;
    while (w->in_turn_count && !m->failed) {
        uint64_t next = w->end;
        for (i = 0; i < w->in_turn_count; i++) {
            const uint64_t cycle = next_cycle(m, m->sms[w->in_turn[i]]);
            if (cycle < next) next = cycle;
        }
        if (next == w->end) break;
        m->now = next > now ? next : now;
        if (m->now >= w->end) break;
        for (i = 0; i < w->in_turn_count && !m->failed; i++) {
            sm *s = m->sms[w->in_turn[i]];
            if (next_cycle(m, s) <= m->now) w->cycle(m, s, m->now);
        }
        now = m->now + 1;
    }
}

/* ---- effects that cross SMs at the end ---- */

/* The SMs with entries of a window, in their order, and the cycle of each one's next entry. */
typedef struct waiting_sms {
    uint64_t cycles[SMS_MAX];
    sm *sms[SMS_MAX];
    uint32_t count;
} waiting_sms;

static void add_waiting(waiting_sms *w, sm *s, uint64_t cycle) {
    w->cycles[w->count] = cycle;
    w->sms[w->count++] = s;
}

/* Returns the first SM whose cycle is the earliest; w->count when that is STORE_LOG_NEVER. */
static uint32_t earliest(const waiting_sms *w) {
    uint64_t cycle = STORE_LOG_NEVER;
    uint32_t i, first = w->count;
    for (i = 0; i < w->count; i++) {
        if (w->cycles[i] < cycle) first = i;
        cycle = w->cycles[i] < cycle ? w->cycles[i] : cycle;
    }
    return first;
}

static void cross_stores(machine *m) {
    waiting_sms w;
    uint32_t i;
    w.count = 0;
    for (i = 0; i < m->sm_count; i++)
        if (m->sms[i]->log->next_cycle != STORE_LOG_NEVER) add_waiting(&w, m->sms[i], m->sms[i]->log->next_cycle);
    while ((i = earliest(&w)) < w.count) {
        memory_access_cross(m, w.sms[i], w.cycles[i]);
        w.cycles[i] = w.sms[i]->log->next_cycle;
    }
    for (i = 0; i < m->sm_count; i++)
        if (m->sms[i]->log->touched || m->sms[i]->log->bytes) store_log_clear(m->sms[i]->log);
}

static void end_blocks(machine *m) {
    uint32_t taken[SMS_MAX], i;
    waiting_sms w;
    w.count = 0;
    for (i = 0; i < m->sm_count; i++) {
        if (!m->sms[i]->ended_count) continue;
        taken[w.count] = 0;
        add_waiting(&w, m->sms[i], m->sms[i]->ended_cycle[0]);
    }
    while ((i = earliest(&w)) < w.count) {
        sm *s = w.sms[i];
        preemption_block_done(m, s, &m->blocks[s->ended[taken[i]++]]);
        w.cycles[i] = taken[i] < s->ended_count ? s->ended_cycle[taken[i]] : STORE_LOG_NEVER;
    }
    for (i = 0; i < m->sm_count; i++) m->sms[i]->ended_count = 0;
}

/* Copies the first error of the window to the machine. */
static void take_failure(machine *m) {
    const sm *first = NULL;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        const sm *s = m->sms[i];
        if (s->failure.failed && (!first || s->now < first->now)) first = s;
    }
    if (!first || (m->failed && m->now < first->now)) return;
    m->failed = 1;
    m->now = first->now;
    memcpy(m->error, first->failure.text, sizeof m->error);
}

void window_settle(machine *m) {
    memory_catch_up(m->memory_system, m->now);
    memory_turn(m->memory_system, m->now);
}

void window_run(machine *m, sm_cycle_form *cycle, team *team) {
    window w;
    uint32_t i;
    w.m = m;
    w.cycle = cycle;
    w.begin = m->now;
    w.end = m->now + m->window_cycles;
    w.in_turn_count = 0;
    PARTS_TELL(m, window_begins, (m));
    if (team) team_offer(team, catch_up, m->memory_system);
    choose(&w);
    if (team)
        team_do(team, run_item, &w, m->sm_count);
    else
        for (i = 0; i < m->sm_count; i++) run_item(&w, i);
    memory_catch_up(m->memory_system, w.begin); /* windows may have been skipped */
    run_in_turn(&w);
    take_failure(m);
    if (m->failed) return;
    m->now = w.end;
    memory_turn(m->memory_system, m->now);
    if (team && !is_watched(m)) team_offer(team, catch_up, m->memory_system); /* memory catches up meanwhile */
    cross_stores(m);
    end_blocks(m);
    for (i = 0; i < m->sm_count; i++)
        if (m->sms[i]->progress_cycle > m->progress_cycle) m->progress_cycle = m->sms[i]->progress_cycle;
}
