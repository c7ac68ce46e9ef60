/* TLBs, the fault unit, and the replay component: questions, a memory instruction's life, and a whole fault. */
#include <stdlib.h>
#include "gpump_once.h"
#include "micro.h"

#include <string.h>

/* ---- tlb ---- */

static const uint64_t entry_counts[] = {32, 256, 1024, 0};
static void *setup_tlb(uint64_t size) {
    gpump_tlb_config config;
    gpump_tlb *tlb;
    size_t bytes;
    void *memory;
    uint32_t count;
    if (gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL) != GPUMP_OK) return NULL;
    config.entries = (uint32_t)size;
    if (gpump_bytes(&gpump_tlb_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes))) return NULL;
    if (gpump_init(&gpump_tlb_component, memory, bytes, &config, &tlb, NULL) != GPUMP_OK) return NULL;
    for (uint64_t page = 0; page < size; page++)
        if (gpump_tlb_fill(tlb, 0, page, GPUMP_TLB_READ, NULL, 0, &count) != GPUMP_OK) return NULL;
    return tlb;
}
static uint64_t run_tlb_hits(void *state, uint64_t operations) {
    gpump_tlb *tlb = (gpump_tlb *)state;
    gpump_tlb_statistics before, after;
    uint64_t page = 0;
    uint32_t outcome;
    gpump_get_statistics(&gpump_tlb_component, tlb, &before);
    for (uint64_t i = 0; i < operations; i++, page = (page + 7) % 32)
        (void)gpump_tlb_lookup(tlb, 0, page, GPUMP_TLB_READ, i, &outcome);
    gpump_get_statistics(&gpump_tlb_component, tlb, &after);
    return after.hits - before.hits;
}
static uint64_t run_tlb_misses(void *state, uint64_t operations) {
    gpump_tlb *tlb = (gpump_tlb *)state;
    uint64_t waiters[2], done = 0;
    uint32_t outcome, count;
    for (uint64_t i = 0; i < operations; i++) { /* two look-ups of an unknown page, and its fill */
        const uint64_t page = 100000 + i;
        (void)gpump_tlb_lookup(tlb, 0, page, GPUMP_TLB_READ, i, &outcome);
        (void)gpump_tlb_lookup(tlb, 0, page, GPUMP_TLB_READ, i, &outcome);
        (void)gpump_tlb_fill(tlb, 0, page, GPUMP_TLB_READ, waiters, 2, &count);
        done += count / 2;
        if (i % 1024 == 1023) (void)gpump_tlb_invalidate(tlb, 0, 100000, UINT64_MAX);
    }
    (void)gpump_tlb_invalidate(tlb, 0, 100000, UINT64_MAX);
    return done;
}

/* ---- replay: n memory instructions of a warp in flight ---- */

static const uint64_t in_flight[] = {1, 4, 16, 0};
typedef struct warps {
    gpump_replay *replay;
    uint64_t sequence, in_flight;
} warps;
static void *setup_replay(uint64_t size) {
    warps *w = (warps *)calloc(1, sizeof *w);
    gpump_replay_config config;
    size_t bytes;
    void *memory;
    if (!w || gpump_preset(&gpump_replay_component, &config, "log64", NULL) != GPUMP_OK) return NULL;
    if (gpump_bytes(&gpump_replay_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    if (gpump_init(&gpump_replay_component, memory, bytes, &config, &w->replay, NULL) != GPUMP_OK) return NULL;
    (void)gpump_replay_set_blocks(w->replay, 1);
    for (uint32_t warp = 0; warp < config.warps; warp++)
        if (gpump_replay_open(w->replay, warp, 0) != GPUMP_OK) return NULL;
    w->in_flight = size;
    return w;
}
static void teardown_replay(void *state) {
    free(((warps *)state)->replay);
    free(state);
}
static uint64_t run_questions(void *state, uint64_t operations) {
    const gpump_replay *replay = ((warps *)state)->replay;
    uint64_t yes = 0;
    for (uint64_t i = 0; i < operations; i++)
        yes += gpump_replay_may(replay, i & 63u, GPUMP_REPLAY_TO_FETCH) == GPUMP_REASON_YES &&
               gpump_replay_may_issue_memory(replay, i & 63u, 2) == GPUMP_REASON_YES;
    return yes;
}
/* in_flight loads issue, are checked and commit in order; one operation is one load. */
static uint64_t run_lives(void *state, uint64_t operations) {
    warps *w = (warps *)state;
    uint32_t entries[16];
    uint64_t done = 0;
    while (done < operations) {
        const uint32_t warp = (uint32_t)(w->sequence & 63u);
        uint64_t count = operations - done < w->in_flight ? operations - done : w->in_flight;
        for (uint64_t k = 0; k < count; k++) {
            const gpump_replay_entry load = {++w->sequence, 0xffffffff, 8, GPUMP_REPLAY_LOAD, 1, 0};
            if (gpump_replay_report_issued(w->replay, warp, &load, &entries[k])) return 0;
        }
        for (uint64_t k = 0; k < count; k++, done++) {
            gpump_reason answer;
            if (gpump_replay_report_checked(w->replay, entries[k], &answer) || answer) return 0;
            if (gpump_replay_report_committed(w->replay, entries[k])) return 0;
        }
    }
    return done;
}
/* in_flight loads fault, are squashed, saved, restored, replayed and commit; one operation is one load. */
static uint64_t run_faults(void *state, uint64_t operations) {
    warps *w = (warps *)state;
    uint32_t entries[16];
    uint64_t done = 0;
    while (done < operations) {
        gpump_replay_entry saved[16];
        gpump_replay_action action;
        uint32_t count = 0;
        const uint64_t wanted = operations - done < w->in_flight ? operations - done : w->in_flight;
        for (uint64_t k = 0; k < wanted; k++) {
            const gpump_replay_entry load = {++w->sequence, 0xffffffff, 8, GPUMP_REPLAY_LOAD, 1, 0};
            if (gpump_replay_report_issued(w->replay, 0, &load, &entries[k])) return 0;
        }
        for (uint64_t k = 0; k < wanted; k++)
            if (gpump_replay_report_faulted(w->replay, entries[k])) return 0;
        while (gpump_replay_next(w->replay, &action) == GPUMP_OK) {}
        if (gpump_replay_report_unissued(w->replay, 0, NULL, 0)) return 0;
        if (gpump_replay_save(w->replay, 0, saved, 16, &count) || count != wanted) return 0;
        (void)gpump_replay_close(w->replay, 0);
        (void)gpump_replay_open(w->replay, 0, 0);
        if (gpump_replay_restore(w->replay, 0, saved, count, NULL)) return 0;
        (void)gpump_replay_report_served(w->replay, 0);
        while (gpump_replay_next(w->replay, &action) == GPUMP_OK) {}
        if (gpump_replay_pending(w->replay, 0, entries, 16, &count) || count != wanted) return 0;
        for (uint64_t k = 0; k < wanted; k++)
            if (gpump_replay_report_reissued(w->replay, entries[k])) return 0;
        while (gpump_replay_next(w->replay, &action) == GPUMP_OK) {}
        for (uint64_t k = 0; k < wanted; k++, done++) {
            gpump_reason answer;
            if (gpump_replay_report_checked(w->replay, entries[k], &answer) || answer) return 0;
            if (gpump_replay_report_committed(w->replay, entries[k])) return 0;
        }
    }
    return done;
}

/* ---- fault: n blocks wait for a granule ---- */

static const uint64_t blocks_waiting[] = {1, 4, 16, 0};
typedef struct unit {
    gpump_fault *fault;
    uint64_t now, blocks, granule;
} unit;
static void *setup_unit(const char *preset, uint64_t size, uint32_t memory_granules) {
    unit *u = (unit *)calloc(1, sizeof *u);
    gpump_fault_config config;
    size_t bytes;
    void *memory;
    if (!u || gpump_preset(&gpump_fault_component, &config, preset, NULL) != GPUMP_OK) return NULL;
    config.granules = 1024;
    config.ranges = 4;
    config.memory = memory_granules;
    if (gpump_bytes(&gpump_fault_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    if (gpump_init(&gpump_fault_component, memory, bytes, &config, &u->fault, NULL) != GPUMP_OK) return NULL;
    u->blocks = size;
    return u;
}
static void *setup_fault(uint64_t size) { return setup_unit("nvlink", size, UINT32_MAX); }
/* Each operation is a fault. n faults are open at a time, on 1024 granules of which memory holds 256. Granules are
 * evicted, and the unmapping is acknowledged at once. */
static const uint64_t faults_open[] = {1, 16, 128, 0};
static void *setup_evicting(uint64_t size) {
    unit *u = (unit *)setup_unit("nvlink", size, 256);
    if (u) (void)gpump_fault_map(u->fault, 0, 0, 1024 * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ);
    return u;
}
static void *setup_batches(uint64_t size) {
    unit *u = (unit *)setup_unit("uvm595", size, 256);
    if (u) (void)gpump_fault_map(u->fault, 0, 0, 1024 * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ);
    return u;
}
static uint64_t run_evicting(void *state, uint64_t operations) {
    unit *u = (unit *)state;
    gpump_fault_bounce bounces[4];
    uint64_t done = 0;
    uint32_t count;
    while (done < operations) {
        uint64_t waiting = 0;
        for (uint64_t k = 0; k < u->blocks && done < operations; k++, done++) {
            gpump_fault_access access = {0, 0, 0, 1, 0, 1, 0, 0, 0, GPUMP_TLB_READ};
            uint32_t outcome;
            access.page = u->granule * 16;
            access.cookie = k;
            u->granule = (u->granule + 37) % 1024; /* no VA block is dense; granules are absent */
            if (gpump_fault_report(u->fault, u->now, &access, &outcome)) return 0;
            waiting += outcome != GPUMP_FAULT_RETRY;
        }
        while (waiting) {
            gpump_fault_action action;
            const uint64_t next = gpump_next_cycle(&gpump_fault_component, u->fault);
            if (next == GPUMP_UNKNOWN) return 0; /* a block waits although no event is due */
            u->now = next > u->now ? next : u->now;
            while (gpump_fault_next(u->fault, u->now, &action) == GPUMP_OK)
                if (action.kind == GPUMP_FAULT_ACT_UNMAP)
                    (void)gpump_fault_report_unmapped(u->fault, u->now, 0, action.page, 1);
                else if (action.kind == GPUMP_FAULT_ACT_WAKE) {
                    (void)gpump_fault_release(u->fault, u->now, action.cookie, 0);
                    waiting--;
                }
        }
    }
    (void)gpump_fault_stuck(u->fault, 2, bounces, 4, &count);
    return done;
}
static void teardown_fault(void *state) {
    free(((unit *)state)->fault);
    free(state);
}
/* Each operation is a report. Every n-th opens a fault, the others join it; then it is served and all blocks are
 * woken. */
static uint64_t run_fault(void *state, uint64_t operations) {
    unit *u = (unit *)state;
    uint64_t done = 0, granule = 1024; /* 1024: map them first */
    while (done < operations) {
        gpump_fault_access access = {0, 0, 0, 1, 0, 1, 0, 0, 0, GPUMP_TLB_READ};
        gpump_fault_action action;
        uint32_t outcome;
        if (granule == 1024) { /* all pages are present: the CPU takes them back */
            (void)gpump_fault_unmap(u->fault, 0);
            if (gpump_fault_map(u->fault, 0, 0, 1024 * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ) != GPUMP_OK) return 0;
            granule = 0;
        }
        access.page = granule++ * 16;
        for (uint64_t k = 0; k < u->blocks && done < operations; k++, done++) {
            access.cookie = k;
            if (gpump_fault_report(u->fault, u->now, &access, &outcome) || outcome == GPUMP_FAULT_RETRY) return 0;
        }
        u->now = gpump_next_cycle(&gpump_fault_component, u->fault);
        while (gpump_fault_next(u->fault, u->now, &action) == GPUMP_OK) {}
    }
    return done;
}

/* ---- block_switch: n blocks on an SM ---- */

/* Reports a resident of one warp. */
static gpump_result switch_came(gpump_block_switch *unit, uint64_t now, uint64_t cookie) {
    gpump_block_view view;
    memset(&view, 0, sizeof view);
    view.cookie = cookie;
    view.kernel = view.warps = 1;
    view.threads = 32;
    view.state = GPUMP_BLOCK_RUNNING;
    return gpump_block_switch_report_residents(unit, now, &view, 1);
}

static const uint64_t blocks_on_sm[] = {2, 8, 16, 0};
typedef struct switcher {
    gpump_block_switch *unit;
    uint64_t now;
} switcher;
static void *setup_block_switch(uint64_t size) {
    switcher *s = (switcher *)calloc(1, sizeof *s);
    gpump_block_switch_config config;
    size_t bytes;
    void *memory;
    if (!s || gpump_preset(&gpump_block_switch_component, &config, "table61", NULL) != GPUMP_OK) return NULL;
    if (gpump_bytes(&gpump_block_switch_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    if (gpump_init(&gpump_block_switch_component, memory, bytes, &config, &s->unit, NULL) != GPUMP_OK) return NULL;
    (void)gpump_block_switch_set_blocks(s->unit, (uint32_t)size);
    (void)gpump_block_switch_set_outside(s->unit, 1, UINT32_MAX);
    for (uint64_t cookie = 0; cookie < size; cookie++)
        if (switch_came(s->unit, 0, cookie) != GPUMP_OK) return NULL;
    return s;
}
static void teardown_block_switch(void *state) {
    free(((switcher *)state)->unit);
    free(state);
}
/* One operation: the only warp of a block faults, the block leaves, another block is placed, and the pages arrive. */
static uint64_t run_block_switch(void *state, uint64_t operations) {
    switcher *s = (switcher *)state;
    gpump_block_switch *u = s->unit;
    uint64_t done = 0;
    for (; done < operations; done++) {
        gpump_block_switch_view blocks[32];
        gpump_block_switch_action action;
        uint64_t out = 0;
        uint32_t count;
        s->now++;
        if (gpump_block_switch_blocks(u, blocks, 32, &count)) break;
        while (blocks[out].state != GPUMP_BLOCK_SWITCH_ON) out++;
        out = blocks[out].cookie;
        (void)gpump_block_switch_report_pending(u, s->now, out, 1, s->now + 10000);
        (void)gpump_block_switch_report_warp(u, s->now, out, 0, 0);
        if (gpump_block_switch_next(u, s->now, &action) || action.kind != GPUMP_BLOCK_SWITCH_ACT_OUT) break;
        if (gpump_block_switch_report_left(u, s->now, out) || gpump_block_switch_next(u, s->now, &action)) break;
        (void)switch_came(u, s->now, action.kind == GPUMP_BLOCK_SWITCH_ACT_NEW ? 1000 : action.cookie);
        (void)gpump_block_switch_report_pending(u, s->now, out, 0, 0);
        (void)gpump_block_switch_report_warp(u, s->now, out, 0, 1);
    }
    return done;
}

const micro_case micro_fault[] = {
    {"fault_report", "an access reported, its page served, its block woken; n blocks wait for each", NULL,
     blocks_waiting, setup_fault, run_fault, NULL, teardown_fault},
    {"fault_evict", "a fault whose granule takes another's frame; n are open", NULL, faults_open, setup_evicting,
     run_evicting, NULL, teardown_fault},
    {"fault_batch", "the same, served in batches (uvm595)", NULL, faults_open, setup_batches, run_evicting, NULL,
     teardown_fault},
    {"block_switch", "a block faults, leaves its SM, another comes; n blocks on the SM", NULL, blocks_on_sm,
     setup_block_switch, run_block_switch, NULL, teardown_block_switch},
    {"tlb_hit", "a look-up that hits, n entries", NULL, entry_counts, setup_tlb, run_tlb_hits, NULL, free},
    {"tlb_miss", "a miss, one merged with it, and the fill", NULL, entry_counts, setup_tlb, run_tlb_misses, NULL, free},
    {"replay_question", "may a warp fetch, and issue a store?", NULL, in_flight, setup_replay, run_questions, NULL,
     teardown_replay},
    {"replay_life", "a load issued, checked, committed; n in flight", NULL, in_flight, setup_replay, run_lives, NULL,
     teardown_replay},
    {"replay_fault", "a load that faults, leaves, returns and replays; n at once", NULL, in_flight, setup_replay,
     run_faults, NULL, teardown_replay},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
