#include "parts/faults/tlb.h"

#include <stdio.h>
#include <string.h>

#include "parts/faults/fault_state.h"
#include "sm/late.h"

/* A miss of an SM's L1 TLB. */
typedef struct tlb_request {
    uint64_t page;
    uint32_t sm, process;
} tlb_request;

/* An SM's L1 TLB, its misses, and the answers that have arrived. */
typedef struct sm_tlb {
    gpump_tlb *tlb;
    pipe_stage arrivals;                 /* misses with an answer, and the rights of the page; not yet in the L1 TLB */
    uint64_t *answers;                   /* ring of waiters whose answer has arrived */
    uint64_t *waiters;                   /* room for the waiters of one page */
    uint32_t head, count, mask;          /* of the ring */
    uint32_t *free_requests, free_count; /* numbers of the SM's misses that are free */
    uint32_t process, unused;            /* process of the SM's latest block; NONE: there was none */
} sm_tlb;

/* What all SMs share. */
struct tlb_unit {
    gpump_tlb *tlb; /* L2; NULL: there is none */
    tlb_request *requests;
    late_list *late;         /* by SM: misses of the present window, at most one per cycle; NULL: no windows */
    pipe_stage to_l2, walks; /* misses on their way to the L2 TLB, and page walks */
    pipe_stage busy;         /* misses that found no room in the L2 TLB */
    uint64_t *walker_free;   /* ring: the cycles from which the walkers are free, ascending */
    uint32_t walker;         /* the walker that is free first */
    uint32_t waiter_capacity;
    uint64_t *waiters; /* room for the waiters of one page of the L2 TLB */
};

static tlb_unit *unit_of(const machine *m) { return machine_faults_of(m)->tlbs; }
static sm_tlb *sm_tlb_of(const sm *s) { return sm_faults_of(s)->tlb; }
gpump_tlb *tlb_of_sm(const sm *s) { return sm_faults_of(s) && sm_tlb_of(s) ? sm_tlb_of(s)->tlb : NULL; }

static uint32_t rights_of(const machine *m, uint64_t page) {
    const uint64_t address = DEVICE_BASE + page * PAGE_BYTES;
    return (translate(m, address, 0) == TRANSLATION_HIT ? (uint32_t)GPUMP_TLB_READ : 0u) |
           (translate(m, address, 1) == TRANSLATION_HIT ? (uint32_t)GPUMP_TLB_WRITE : 0u);
}

/* ---- making ---- */

static gpump_tlb *make_tlb(machine *m, uint32_t entries, uint32_t ways, uint32_t misses, uint32_t waiters,
                           char error[LAUNCH_ERROR_BYTES]) {
    gpump_tlb_config config;
    gpump_tlb *tlb = NULL;
    gpump_diag diag;
    size_t bytes;
    void *part;
    char text[256];
    memset(&diag, 0, sizeof diag);
    if (gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL) != GPUMP_OK) return NULL;
    config.entries = entries;
    config.ways = ways;
    config.misses = misses;
    config.waiters = waiters;
    if (gpump_bytes(&gpump_tlb_component, &config, &bytes, &diag) == GPUMP_OK &&
        (part = arena_take(&m->arena, bytes)) != NULL &&
        gpump_init(&gpump_tlb_component, part, bytes, &config, &tlb, &diag) == GPUMP_OK)
        return tlb;
    gpump_diag_text(&diag, text, sizeof text);
    snprintf(error, LAUNCH_ERROR_BYTES, "gpump: %s", diag.field ? text : "out of memory for the TLBs");
    return NULL;
}

static int make_pipe(machine *m, pipe_stage *p, uint32_t entries, uint32_t length) {
    pipe_entry *entries_of;
    uint32_t capacity = 1;
    while (capacity < entries) capacity *= 2;
    entries_of = (pipe_entry *)arena_take_array(&m->arena, capacity, sizeof *entries_of);
    if (!entries_of) return -1;
    pipe_make(p, entries_of, length);
    return 0;
}

static uint32_t power_of_two(uint32_t least) {
    uint32_t value = 1;
    while (value < least) value *= 2;
    return value;
}

/* Returns 0; -1: memory is out, or with the reason in error. */
static int make_sm(machine *m, tlb_unit *u, sm *s, char error[LAUNCH_ERROR_BYTES]) {
    const minigpu_config *c = &m->config;
    const uint32_t waiters = c->in_flight_records * LANES;
    sm_tlb *t = (sm_tlb *)arena_take(&m->arena, sizeof *t);
    uint32_t i;
    if (!t || !(t->answers = (uint64_t *)arena_take_array(&m->arena, power_of_two(waiters), sizeof *t->answers)) ||
        !(t->waiters = (uint64_t *)arena_take_array(&m->arena, waiters, sizeof *t->waiters)) ||
        !(t->free_requests = (uint32_t *)arena_take_array(&m->arena, c->l1_tlb_misses, sizeof *t->free_requests)) ||
        make_pipe(m, &t->arrivals, c->l1_tlb_misses, 0))
        return -1;
    t->mask = power_of_two(waiters) - 1;
    t->process = NONE;
    for (i = 0; i < c->l1_tlb_misses; i++) {
        t->free_requests[t->free_count++] = s->index * c->l1_tlb_misses + i;
        u->requests[s->index * c->l1_tlb_misses + i].sm = s->index;
    }
    sm_faults_of(s)->tlb = t;
    return (t->tlb = make_tlb(m, c->l1_tlb_entries, c->l1_tlb_ways, c->l1_tlb_misses, waiters, error)) ? 0 : -1;
}

int tlb_make(machine *m, tlb_unit **unit, char error[LAUNCH_ERROR_BYTES]) {
    const minigpu_config *c = &m->config;
    const uint32_t requests = c->l1_tlb_misses * m->sm_count;
    tlb_unit *u;
    uint32_t i;
    if (!c->l1_tlb_entries) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the TLBs");
    u = *unit = (tlb_unit *)arena_take(&m->arena, sizeof *u);
    if (!u) return -1;
    u->waiter_capacity = requests;
    u->requests = (tlb_request *)arena_take_array(&m->arena, requests, sizeof *u->requests);
    u->waiters = (uint64_t *)arena_take_array(&m->arena, requests, sizeof *u->waiters);
    u->walker_free = (uint64_t *)arena_take_array(&m->arena, c->page_walkers, sizeof *u->walker_free);
    if (!u->requests || !u->waiters || !u->walker_free || make_pipe(m, &u->to_l2, requests, c->l2_tlb_cycles) ||
        make_pipe(m, &u->walks, requests, c->page_walk_cycles) || make_pipe(m, &u->busy, requests, 0))
        return -1;
    if (m->window_cycles && !(u->late = late_make(m, m->window_cycles, sizeof(uint32_t)))) return -1;
    for (i = 0; i < m->sm_count; i++)
        if (make_sm(m, u, m->sms[i], error)) return -1;
    if (!c->l2_tlb_entries) return 0;
    u->tlb = make_tlb(m, c->l2_tlb_entries, c->l2_tlb_ways, c->l2_tlb_misses, requests, error);
    return u->tlb ? 0 : -1;
}

/* ---- L2 TLB and walkers ---- */

/* Gives a miss to the first walker that is free. */
static void walk(machine *m, uint64_t cycle, uint32_t request) {
    tlb_unit *u = unit_of(m);
    uint64_t *is_free = &u->walker_free[u->walker];
    const uint64_t start = *is_free > cycle ? *is_free : cycle;
    u->walker = u->walker + 1 < m->config.page_walkers ? u->walker + 1 : 0;
    *is_free = pipe_put(&u->walks, start, request)->cycle;
}

/* Sends the answer of a miss to its SM, where it arrives in the next cycle. */
static void answer(machine *m, uint64_t cycle, uint32_t request, uint32_t rights) {
    sm *s = m->sms[unit_of(m)->requests[request].sm];
    pipe_put(&sm_tlb_of(s)->arrivals, cycle, request)->with = rights;
    if (s->wake > cycle + 1) s->wake = cycle + 1;
}

/* Returns 0 when the L2 TLB has no room for another miss. */
static int enter_l2(machine *m, uint64_t cycle, uint32_t request) {
    const tlb_request *r = &unit_of(m)->requests[request];
    uint32_t outcome;
    if (gpump_tlb_lookup(unit_of(m)->tlb, r->process, r->page, GPUMP_TLB_READ, request, &outcome) != GPUMP_OK) return 0;
    if (outcome == GPUMP_TLB_HIT) answer(m, cycle, request, rights_of(m, r->page));
    if (outcome == GPUMP_TLB_MISS) walk(m, cycle, request);
    return 1;
}

static void end_walk(machine *m, uint64_t cycle, uint32_t request) {
    tlb_unit *u = unit_of(m);
    const tlb_request r = u->requests[request];
    const uint32_t rights = rights_of(m, r.page);
    uint32_t count, i;
    if (!u->tlb) {
        answer(m, cycle, request, rights);
        return;
    }
    machine_must(m, "gpump_tlb_fill",
                 gpump_tlb_fill(u->tlb, r.process, r.page, rights, u->waiters, u->waiter_capacity, &count), NULL);
    for (i = 0; i < count; i++) answer(m, cycle, (uint32_t)u->waiters[i], rights);
    for (i = u->busy.count; i; i--) {
        request = pipe_take(&u->busy, cycle);
        if (!enter_l2(m, cycle, request)) pipe_put(&u->busy, cycle, request);
    }
}

/* A miss leaves its SM. */
static void enter(machine *m, uint64_t cycle, uint32_t request) {
    if (unit_of(m)->tlb)
        pipe_put(&unit_of(m)->to_l2, cycle, request);
    else
        walk(m, cycle, request);
}

uint64_t tlb_next(const machine *m) {
    const tlb_unit *u = unit_of(m);
    if (!u) return NEVER;
    return pipe_next(&u->to_l2) < pipe_next(&u->walks) ? pipe_next(&u->to_l2) : pipe_next(&u->walks);
}

void tlb_run(machine *m, uint64_t end) {
    tlb_unit *u = unit_of(m);
    uint64_t cycle;
    while (u && (cycle = tlb_next(m)) < end) {
        uint32_t request;
        while ((request = pipe_take(&u->to_l2, cycle)) != NONE)
            if (!enter_l2(m, cycle, request)) pipe_put(&u->busy, cycle, request);
        while ((request = pipe_take(&u->walks, cycle)) != NONE) end_walk(m, cycle, request);
    }
}

void tlb_end_window(machine *m) {
    tlb_unit *u = unit_of(m);
    const uint32_t *request;
    uint64_t cycle;
    uint32_t sm;
    while (u && (request = (const uint32_t *)late_take(u->late, m->sm_count, &cycle, &sm)) != NULL)
        enter(m, cycle, *request);
}

/* ---- look-ups of an SM ---- */

/* Enters the answers in the L1 TLB that have arrived before this cycle. */
static void fill(machine *m, sm *s, uint64_t cycle) {
    sm_tlb *t = sm_tlb_of(s);
    while (pipe_next(&t->arrivals) < cycle) {
        const pipe_entry arrived = pipe_first(&t->arrivals);
        const tlb_request *r = &unit_of(m)->requests[arrived.item];
        uint32_t count, i;
        pipe_drop(&t->arrivals);
        machine_must(m, "gpump_tlb_fill",
                     gpump_tlb_fill(t->tlb, r->process, r->page, arrived.with, t->waiters,
                                    m->config.in_flight_records * LANES, &count),
                     NULL);
        for (i = 0; i < count; i++) t->answers[(t->head + t->count++) & t->mask] = t->waiters[i];
        t->free_requests[t->free_count++] = arrived.item;
    }
}

translation tlb_look_up(machine *m, sm *s, uint32_t process, uint64_t address, int write, uint64_t waiter) {
    const uint64_t page = (address - DEVICE_BASE) / PAGE_BYTES;
    const translation at_once = translate(m, address, write);
    tlb_unit *u = unit_of(m);
    sm_tlb *t = sm_tlb_of(s);
    uint32_t outcome, request;
    if (!u || at_once == TRANSLATION_FAULT) return at_once;
    if (gpump_tlb_lookup(t->tlb, process, page, write ? GPUMP_TLB_READ | GPUMP_TLB_WRITE : GPUMP_TLB_READ, waiter,
                         &outcome) != GPUMP_OK)
        return TRANSLATION_BUSY;
    switch (outcome) {
    case GPUMP_TLB_HIT: return TRANSLATION_HIT;
    case GPUMP_TLB_DENIED: return at_once; /* known, and not for writing */
    case GPUMP_TLB_MERGED: return TRANSLATION_PENDING;
    default: break;
    }
    request = t->free_requests[--t->free_count]; /* as many as the L1 TLB has misses */
    u->requests[request].page = page;
    u->requests[request].process = process;
    if (u->late)
        memcpy(late_add(&u->late[s->index], s->now), &request, sizeof request);
    else
        enter(m, m->now, request);
    return TRANSLATION_PENDING;
}

int tlb_take(machine *m, sm *s, uint64_t *waiter) {
    sm_tlb *t = sm_tlb_of(s);
    if (!t) return 0;
    fill(m, s, s->now);
    if (!t->count) return 0;
    *waiter = t->answers[t->head];
    t->head = (t->head + 1) & t->mask;
    t->count--;
    return 1;
}

uint64_t tlb_next_answer(const machine *m, const sm *s) {
    (void)m;
    return sm_tlb_of(s) && sm_tlb_of(s)->arrivals.count ? pipe_next(&sm_tlb_of(s)->arrivals) + 1 : NEVER;
}

/* ---- rights change ---- */

/* Gives the answers for a page that are still on their way to an SM the page's new rights. */
static void correct(machine *m, sm_tlb *t, uint64_t page) {
    uint32_t i;
    for (i = 0; i < t->arrivals.count; i++) {
        pipe_entry *e = &t->arrivals.entries[(t->arrivals.head + i) & t->arrivals.mask];
        if (unit_of(m)->requests[e->item].page == page) e->with = rights_of(m, page);
    }
}

void tlb_forget(machine *m, uint64_t page) {
    uint32_t i;
    if (!unit_of(m)) return;
    for (i = 0; i < m->sm_count; i++) {
        fill(m, m->sms[i], m->now);
        correct(m, sm_tlb_of(m->sms[i]), page);
        (void)gpump_tlb_invalidate(sm_tlb_of(m->sms[i])->tlb, GPUMP_TLB_ALL, page, 1);
    }
    if (unit_of(m)->tlb) (void)gpump_tlb_invalidate(unit_of(m)->tlb, GPUMP_TLB_ALL, page, 1);
}

void tlb_sm_is_taken(machine *m, sm *s, uint32_t process) {
    sm_tlb *t = sm_tlb_of(s);
    if (!t) return;
    if (t->process != NONE && t->process != process) {
        fill(m, s, m->now);
        (void)gpump_tlb_invalidate(t->tlb, GPUMP_TLB_ALL, 0, UINT64_MAX);
    }
    t->process = process;
}

uint64_t tlb_hash(const machine *m, uint64_t hash) {
    uint32_t i;
    if (!unit_of(m)) return hash;
    for (i = 0; i < m->sm_count; i++)
        hash = gpump_hash_u64(hash, gpump_hash(&gpump_tlb_component, sm_tlb_of(m->sms[i])->tlb));
    if (unit_of(m)->tlb) hash = gpump_hash_u64(hash, gpump_hash(&gpump_tlb_component, unit_of(m)->tlb));
    return gpump_hash_u64(hash, pipe_next(&unit_of(m)->to_l2) ^ pipe_next(&unit_of(m)->walks) << 1);
}
