#include "sm/translation.h"

#include <stdio.h>
#include <string.h>

/* Memory of the host that a device lends; its first pages are nobody's, so that null pointers are noticed. */
static int is_host_memory(const machine *m, uint64_t address) {
    const launch_memory *lent = m->launch->memory;
    return lent && lent->opens_host && address >= 65536 &&
           (address < lent->first || address - DEVICE_BASE >= lent->capacity_bytes);
}

translation translate(const machine *m, uint64_t address, int write) {
    uint64_t page = (address - DEVICE_BASE) / PAGE_BYTES;
    if (address < DEVICE_BASE || address - DEVICE_BASE >= m->memory_bytes ||
        !(m->page_table[page] & (write ? PAGE_WRITE : PAGE_READ)))
        return is_host_memory(m, address) ? TRANSLATION_HIT : TRANSLATION_FAULT;
    return m->page_table[page] & (write ? PAGE_ABSENT_WRITE : PAGE_ABSENT_READ) ? TRANSLATION_ABSENT : TRANSLATION_HIT;
}

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

int translation_make(machine *m, char error[LAUNCH_ERROR_BYTES]) {
    const minigpu_config *c = &m->config;
    const uint32_t requests = c->l1_tlb_misses * m->sm_count;
    translation_unit *u;
    uint32_t i;
    if (!c->l1_tlb_entries) return 0;
    for (i = 0; i < m->sm_count; i++) {
        sm_translation *t = m->sms[i]->translation = (sm_translation *)arena_take(&m->arena, sizeof(sm_translation));
        uint32_t answers = 1;
        while (answers < c->in_flight_records * LANES) answers *= 2;
        if (!t || !(t->answers = (uint64_t *)arena_take_array(&m->arena, answers, sizeof *t->answers))) goto memory;
        t->mask = answers - 1;
        if (!(t->tlb = make_tlb(m, c->l1_tlb_entries, c->l1_tlb_ways, c->l1_tlb_misses, c->in_flight_records * LANES,
                                error)))
            return -1;
    }
    u = m->translation = (translation_unit *)arena_take(&m->arena, sizeof *u);
    if (!u) goto memory;
    u->waiter_capacity = c->in_flight_records * LANES > requests ? c->in_flight_records * LANES : requests;
    u->requests = (translation_request *)arena_take_array(&m->arena, requests, sizeof *u->requests);
    u->free_requests = (uint32_t *)arena_take_array(&m->arena, requests, sizeof *u->free_requests);
    u->waiters = (uint64_t *)arena_take_array(&m->arena, (size_t)u->waiter_capacity * 2, sizeof *u->waiters);
    if (!u->requests || !u->free_requests || !u->waiters || make_pipe(m, &u->to_l2, requests, c->l2_tlb_cycles) ||
        make_pipe(m, &u->walks, requests, c->page_walk_cycles) || make_pipe(m, &u->without_walker, requests, 0) ||
        make_pipe(m, &u->busy, requests, 0))
        goto memory;
    for (i = 0; i < requests; i++) u->free_requests[u->free_count++] = i;
    if (c->l2_tlb_entries &&
        !(u->tlb = make_tlb(m, c->l2_tlb_entries, c->l2_tlb_ways, c->l2_tlb_misses, requests, error)))
        return -1;
    return 0;
memory:
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the TLBs");
    return -1;
}

/* ---- look-ups of an SM ---- */

translation translation_look_up(machine *m, sm *s, uint32_t process, uint64_t address, int write, uint64_t waiter) {
    const uint64_t page = (address - DEVICE_BASE) / PAGE_BYTES;
    const translation at_once = s->translation ? TRANSLATION_PENDING : translate(m, address, write);
    translation_unit *u = m->translation;
    uint32_t outcome, request;
    if (at_once != TRANSLATION_PENDING) return at_once;
    if (translate(m, address, write) == TRANSLATION_FAULT) return TRANSLATION_FAULT;
    if (gpump_tlb_lookup(s->translation->tlb, process, page, write ? GPUMP_TLB_READ | GPUMP_TLB_WRITE : GPUMP_TLB_READ,
                         waiter, &outcome) != GPUMP_OK)
        return TRANSLATION_BUSY;
    switch (outcome) {
    case GPUMP_TLB_HIT: return TRANSLATION_HIT;
    case GPUMP_TLB_DENIED: return translate(m, address, write); /* known, and not for writing */
    case GPUMP_TLB_MERGED: return TRANSLATION_PENDING;
    default: break;
    }
    request = u->free_requests[--u->free_count]; /* as many as the L1 TLBs have misses */
    u->requests[request].page = page;
    u->requests[request].sm = s->index;
    u->requests[request].process = process;
    pipe_put(u->tlb ? &u->to_l2 : &u->without_walker, m->now, request);
    return TRANSLATION_PENDING;
}

int translation_take(sm *s, uint64_t *waiter) {
    sm_translation *t = s->translation;
    if (!t || !t->count) return 0;
    *waiter = t->answers[t->head];
    t->head = (t->head + 1) & t->mask;
    t->count--;
    return 1;
}

/* ---- L2 TLB and walkers ---- */

/* Gives an SM's miss its answer. */
static void answer(machine *m, uint32_t request, uint32_t rights) {
    translation_unit *u = m->translation;
    const translation_request *r = &u->requests[request];
    sm *s = m->sms[r->sm];
    sm_translation *t = s->translation;
    uint64_t *waiters = u->waiters + u->waiter_capacity; /* the L2 TLB's fill may use the first half */
    uint32_t count, i;
    machine_must(m, "gpump_tlb_fill",
                 gpump_tlb_fill(t->tlb, r->process, r->page, rights, waiters, u->waiter_capacity, &count), NULL);
    for (i = 0; i < count; i++) t->answers[(t->head + t->count++) & t->mask] = waiters[i];
    u->free_requests[u->free_count++] = request;
    u->answered = 1;
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

/* Returns 0 when the L2 TLB has no room for another miss. */
static int enter_l2(machine *m, uint32_t request) {
    translation_unit *u = m->translation;
    const translation_request *r = &u->requests[request];
    uint32_t outcome;
    if (gpump_tlb_lookup(u->tlb, r->process, r->page, GPUMP_TLB_READ, request, &outcome) != GPUMP_OK) return 0;
    if (outcome == GPUMP_TLB_HIT) answer(m, request, rights_of(m, r->page));
    if (outcome == GPUMP_TLB_MISS) pipe_put(&u->without_walker, m->now, request);
    return 1;
}

static void end_walk(machine *m, uint32_t request) {
    translation_unit *u = m->translation;
    const translation_request r = u->requests[request];
    const uint32_t rights = rights_of(m, r.page);
    uint32_t count, i;
    u->walking--;
    if (!u->tlb) {
        answer(m, request, rights);
        return;
    }
    machine_must(m, "gpump_tlb_fill",
                 gpump_tlb_fill(u->tlb, r.process, r.page, rights, u->waiters, u->waiter_capacity, &count), NULL);
    for (i = 0; i < count; i++) answer(m, (uint32_t)u->waiters[i], rights);
    for (i = u->busy.count; i; i--) {
        request = pipe_take(&u->busy, m->now);
        if (!enter_l2(m, request)) pipe_put(&u->busy, m->now, request);
    }
}

uint64_t translation_advance(machine *m) {
    translation_unit *u = m->translation;
    uint32_t request;
    uint64_t next;
    u->answered = 0;
    while ((request = pipe_take(&u->to_l2, m->now)) != NONE)
        if (!enter_l2(m, request)) pipe_put(&u->busy, m->now, request);
    while ((request = pipe_take(&u->walks, m->now)) != NONE) end_walk(m, request);
    while (u->walking < m->config.page_walkers && (request = pipe_take(&u->without_walker, m->now)) != NONE) {
        u->walking++;
        pipe_put(&u->walks, m->now, request);
    }
    next = u->answered ? m->now + 1 : pipe_next(&u->to_l2);
    return pipe_next(&u->walks) < next ? pipe_next(&u->walks) : next;
}

void translation_forget(machine *m, uint64_t page) {
    uint32_t i;
    if (!m->translation) return;
    for (i = 0; i < m->sm_count; i++) (void)gpump_tlb_invalidate(m->sms[i]->translation->tlb, GPUMP_TLB_ALL, page, 1);
    if (m->translation->tlb) (void)gpump_tlb_invalidate(m->translation->tlb, GPUMP_TLB_ALL, page, 1);
}

uint64_t translation_hash(const machine *m, uint64_t hash) {
    uint32_t i;
    if (!m->translation) return hash;
    for (i = 0; i < m->sm_count; i++)
        hash = gpump_hash_u64(hash, gpump_hash(&gpump_tlb_component, m->sms[i]->translation->tlb));
    if (m->translation->tlb) hash = gpump_hash_u64(hash, gpump_hash(&gpump_tlb_component, m->translation->tlb));
    return gpump_hash_u64(hash, pipe_next(&m->translation->to_l2) ^ pipe_next(&m->translation->walks) << 1);
}

void translation_evict(machine *m, uint64_t address) {
    const uint64_t page = (address - DEVICE_BASE) / PAGE_BYTES;
    m->page_table[page] |= PAGE_ABSENT_READ | PAGE_ABSENT_WRITE;
    translation_forget(m, page);
}
