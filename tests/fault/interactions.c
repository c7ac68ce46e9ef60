/* labels: unit */
/* How a block leaves an SM under each exception pipeline: one test per row, one case per cell. An SM, a replay unit, a
 * fault unit and a block switcher, wired as a host wires them; the block has one warp with one load in flight. */
#include "victim/estimate.h"

typedef enum scheme { STALL, WD_COMMIT, WD_CHECK, QUEUE, LOG, REGIONS, MARKERS, SCHEMES } scheme; /* MARKERS: Kim */
static const char *const presets[SCHEMES] = {"stall", "wd_commit", "wd_check", "queue", "log16", "regions", NULL};

enum { COOKIE = 7, OTHER = 8, SERVICE = 12000 }; /* nvlink: 12 us at 1 GHz */
static struct world {
    gpump_sm *sm;
    gpump_replay *replay;
    gpump_fault *fault;
    gpump_block_switch *switcher;
    gpump_sm_config config;
    gpump_replay_config replay_config;
    gpump_block_ref block;
    uint32_t entry; /* the load */
    gpump_replay_entry saved[4];
    uint32_t saved_count;
    gpump_sm_history history;
} w;
static uint64_t sm_memory[4096], replay_memory[1 << 16], fault_memory[1 << 16], switch_memory[2048];

static gpump_sm_request request(void) {
    gpump_sm_request r;
    memset(&r, 0, sizeof r);
    r.cookie = COOKIE;
    r.kernel = 1;
    r.need.threads = 32;
    r.need.registers = 1024;
    r.need.shared_bytes = 256;
    return r;
}

/* A block on the SM, whose warp has a load in flight. Process 0 and 1 each have a buffer of two granules. */
static void begin(scheme s) {
    gpump_replay_entry load = {1, 0xffffffff, 8, GPUMP_REPLAY_LOAD, 1, 0};
    gpump_fault_config faults;
    gpump_block_switch_config switching;
    gpump_block_view resident;
    gpump_sm_request r = request();
    memset(&w, 0, sizeof w);
    assert_int_equal(gpump_preset(&gpump_sm_component, &w.config, "table61", NULL), GPUMP_OK);
    w.config.waits = GPUMP_SM_WAIT_PIPELINE;
    if (s == STALL) w.config.waits |= GPUMP_SM_WAIT_FAULT;
    if (s == MARKERS || s == REGIONS) w.config.waits |= GPUMP_SM_WAIT_PREEMPTION_POINT;
    if (s == REGIONS) w.config.techniques |= 1u << GPUMP_TECHNIQUE_REWIND;
    assert_int_equal(gpump_init(&gpump_sm_component, sm_memory, sizeof sm_memory, &w.config, &w.sm, NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_fault_component, &faults, "nvlink", NULL), GPUMP_OK);
    faults.granules = 8;
    faults.waiters = 16;
    faults.faults = 8;
    assert_int_equal(gpump_init(&gpump_fault_component, fault_memory, sizeof fault_memory, &faults, &w.fault, NULL),
                     GPUMP_OK);
    for (uint32_t process = 0; process < 2; process++)
        assert_int_equal(gpump_fault_map(w.fault, process, 0, 32, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_block_switch_component, &switching, "table61", NULL), GPUMP_OK);
    assert_int_equal(
        gpump_init(&gpump_block_switch_component, switch_memory, sizeof switch_memory, &switching, &w.switcher, NULL),
        GPUMP_OK);
    assert_int_equal(gpump_sm_place(w.sm, 0, &r, NULL, &w.block, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_block(w.sm, 0, w.block, &resident), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_residents(w.switcher, 0, &resident, 1), GPUMP_OK);
    assert_int_equal(gpump_sm_report_executed(w.sm, w.block, 50), GPUMP_OK);
    if (s == MARKERS) return;
    assert_int_equal(gpump_preset(&gpump_replay_component, &w.replay_config, presets[s], NULL), GPUMP_OK);
    assert_int_equal(
        gpump_init(&gpump_replay_component, replay_memory, sizeof replay_memory, &w.replay_config, &w.replay, NULL),
        GPUMP_OK);
    assert_int_equal(gpump_replay_open(w.replay, 0, 0), GPUMP_OK);
    gpump_replay_report_fetched(w.replay, 0, load.sequence);
    assert_int_equal(gpump_replay_report_issued(w.replay, 0, &load, &w.entry), GPUMP_OK);
}

static uint32_t report(uint64_t now, uint32_t process, uint64_t page, uint64_t cookie) {
    gpump_fault_access access;
    uint32_t outcome;
    memset(&access, 0, sizeof access);
    access.process = process;
    access.page = page;
    access.address = page << 12;
    access.cookie = cookie;
    access.rights = GPUMP_TLB_READ;
    assert_int_equal(gpump_fault_report(w.fault, now, &access, &outcome), GPUMP_OK);
    return outcome;
}
/* The load faults at cycle 100: everybody is told. */
static void fault(scheme s) {
    assert_int_equal(report(100, 0, 3, COOKIE), GPUMP_FAULT_OPENED);
    if (s != MARKERS) assert_int_equal(gpump_replay_report_faulted(w.replay, w.entry), GPUMP_OK);
    assert_int_equal(gpump_sm_report_faults(w.sm, w.block, gpump_fault_pending(w.fault, COOKIE),
                                            gpump_fault_ready_cycle(w.fault, COOKIE)),
                     GPUMP_OK);
    assert_int_equal(gpump_sm_report_blocked(w.sm, 100, w.block, 1), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_pending(w.switcher, 100, COOKIE, 1, 100 + SERVICE), GPUMP_OK);
}
/* Pulls what the replay unit has to say until the warp is drained; returns how many instructions were squashed into
 * the queue (SQUASH) or are fetched again (REFETCH). */
static void drained(uint32_t *squashed, uint32_t *refetched) {
    gpump_replay_action a;
    *squashed = *refetched = 0;
    while (gpump_replay_next(w.replay, &a) == GPUMP_OK) {
        *squashed += a.kind == GPUMP_REPLAY_ACT_SQUASH;
        *refetched += a.kind == GPUMP_REPLAY_ACT_REFETCH;
        if (a.kind == GPUMP_REPLAY_ACT_DRAINED)
            assert_int_equal(gpump_replay_report_unissued(w.replay, 0, NULL, 0), GPUMP_OK);
    }
    assert_int_equal(gpump_check(&gpump_replay_component, w.replay, NULL), GPUMP_OK);
}
static gpump_sm_action pull(uint64_t now, uint32_t kind) {
    gpump_sm_action a;
    gpump_diag diag;
    assert_int_equal(gpump_sm_next(w.sm, now, &a), GPUMP_OK);
    assert_int_equal(a.kind, kind);
    if (gpump_check(&gpump_sm_component, w.sm, &diag)) fail_msg("%s", diag.field);
    return a;
}
static gpump_result preempt(uint64_t now, uint32_t technique, uint32_t keep, uint32_t to_point) {
    gpump_block_choice c;
    memset(&c, 0, sizeof c);
    c.block = w.block;
    c.technique = technique;
    c.keep = keep;
    c.to_point = to_point;
    return gpump_sm_preempt(w.sm, now, &c, 1, NULL);
}
static gpump_block_view view(uint64_t now) {
    gpump_block_view v;
    assert_int_equal(gpump_sm_block(w.sm, now, w.block, &v), GPUMP_OK);
    return v;
}
/* The state is complete at `now`: the queue is saved, then the block. */
static void save(scheme s, uint64_t now) {
    gpump_sm_action a;
    assert_int_equal(gpump_sm_report_waits(w.sm, now, w.block, 0), GPUMP_OK);
    if (s != MARKERS) {
        assert_int_equal(gpump_replay_save(w.replay, 0, w.saved, 4, &w.saved_count), GPUMP_OK);
        assert_int_equal(gpump_replay_close(w.replay, 0), GPUMP_OK);
    }
    (void)pull(now, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(gpump_sm_report_saved(w.sm, now + 50, w.block), GPUMP_OK);
    a = pull(now + 50, GPUMP_SM_ACTION_FREED);
    assert_int_equal(a.why, GPUMP_BLOCK_SAVED);
    w.history = a.history;
}
/* The page comes: MAP, and the block is woken. */
static void served(uint64_t cookie) {
    gpump_fault_action a;
    assert_int_equal(gpump_fault_next(w.fault, 100 + SERVICE - 1, &a), GPUMP_EMPTY);
    assert_int_equal(gpump_fault_next(w.fault, 100 + SERVICE, &a), GPUMP_OK);
    assert_int_equal(a.kind, GPUMP_FAULT_ACT_MAP);
    if (!cookie) return;
    assert_int_equal(gpump_fault_next(w.fault, 100 + SERVICE, &a), GPUMP_OK);
    assert_int_equal(a.kind, GPUMP_FAULT_ACT_WAKE);
    assert_int_equal(a.cookie, cookie);
}
/* The load passes its check and commits. */
static void load_ends(void) {
    gpump_reason answer;
    assert_int_equal(gpump_replay_report_checked(w.replay, w.entry, &answer), GPUMP_OK);
    assert_int_equal(answer, GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_report_committed(w.replay, w.entry), GPUMP_OK);
}

/* Switch, no fault: what is in flight ends. Where an unchecked load can be squashed, the block leaves before that. */
static void switch_without_a_fault(void **state) {
    (void)state;
    for (scheme s = STALL; s < SCHEMES; s = (scheme)(s + 1)) {
        uint32_t squashed, refetched;
        begin(s);
        assert_int_equal(preempt(200, GPUMP_TECHNIQUE_SWITCH, 0, s == MARKERS), GPUMP_OK);
        (void)pull(200, GPUMP_SM_ACTION_STOP);
        if (s == MARKERS) { /* runs on to its marker */
            assert_true(gpump_sm_may_issue(w.sm, w.block.slot));
            assert_int_equal(gpump_sm_report_waits(w.sm, 210, w.block, GPUMP_SM_WAIT_PREEMPTION_POINT), GPUMP_OK);
            save(s, 260);
            continue;
        }
        assert_int_equal(gpump_replay_squash(w.replay, 0), s == STALL ? GPUMP_BUSY : GPUMP_OK);
        if (s == STALL) {
            assert_int_equal(gpump_replay_save(w.replay, 0, w.saved, 4, &w.saved_count), GPUMP_ERROR_STATE);
            load_ends();
        } else {
            drained(&squashed, &refetched);
            assert_int_equal(squashed, s == QUEUE || s == LOG);
            assert_int_equal(refetched, !squashed);
            assert_int_equal(gpump_replay_state_of(w.replay, 0), GPUMP_REPLAY_HELD);
        }
        save(s, 210);
        assert_int_equal(w.saved_count, s == QUEUE || s == LOG);
    }
}

/* Switch, faulted: stall waits for the page, and says so; all others leave long before it is there. */
static void switch_of_a_faulted_block(void **state) {
    uint64_t bytes[SCHEMES];
    (void)state;
    for (scheme s = STALL; s < SCHEMES; s = (scheme)(s + 1)) {
        uint32_t squashed, refetched, waits;
        begin(s);
        fault(s);
        assert_int_equal(view(200).faults, 1);
        assert_int_equal(view(200).fault_cycles, 100 + SERVICE - 200);
        assert_int_equal(view(200).state, GPUMP_BLOCK_BLOCKED);
        assert_int_equal(view(200).fault_stalls, s == STALL);
        assert_int_equal(preempt(200, s == REGIONS ? GPUMP_TECHNIQUE_REWIND : GPUMP_TECHNIQUE_SWITCH, 0, s == MARKERS),
                         GPUMP_OK);
        (void)pull(200, s == REGIONS ? GPUMP_SM_ACTION_REWIND : GPUMP_SM_ACTION_STOP);
        if (s == STALL) {
            assert_int_equal(gpump_replay_squash(w.replay, 0), GPUMP_BUSY);
            assert_int_equal(gpump_sm_report_waits(w.sm, 300, w.block, GPUMP_SM_WAIT_FAULT), GPUMP_OK);
            assert_int_equal(gpump_sm_waits_for(w.sm, w.block, &waits, NULL), GPUMP_REASON_FAULTED);
            served(COOKIE);
            load_ends();
            save(s, 100 + SERVICE);
            continue;
        }
        if (s != MARKERS) {
            drained(&squashed, &refetched);
            assert_int_equal(squashed, s == QUEUE || s == LOG);
            assert_int_equal(refetched, !squashed);
        }
        save(s, 210);
        bytes[s] =
            s == MARKERS || !w.saved_count ? 0 : gpump_replay_context_bytes(&w.replay_config, w.saved, w.saved_count);
        assert_int_equal(gpump_fault_pending(w.fault, COOKIE), 1); /* the wait goes with the cookie */
        served(COOKIE);
    }
    assert_int_equal(bytes[WD_COMMIT] + bytes[WD_CHECK] + bytes[REGIONS] + bytes[MARKERS], 0);
    assert_int_equal(bytes[QUEUE], 16 + 32);                  /* an entry */
    assert_int_equal(bytes[LOG], 16 + 32 + 16 + 16 + 32 * 8); /* and its addresses */
}

/* Flush: the flush bit alone decides; the wait ends and the service goes on, for nobody. */
static void a_flushed_block_waits_no_more_but_its_page_comes(void **state) {
    (void)state;
    for (scheme s = STALL; s < SCHEMES; s = (scheme)(s + 1)) {
        for (uint32_t clobbered = 0; clobbered < 2; clobbered++) {
            gpump_fault_action a;
            begin(s);
            fault(s);
            if (clobbered) assert_int_equal(gpump_sm_report_clobber(w.sm, w.block), GPUMP_OK);
            assert_int_equal(preempt(200, GPUMP_TECHNIQUE_FLUSH, 0, 0), clobbered ? GPUMP_ERROR_REFUSED : GPUMP_OK);
            if (clobbered) continue;
            (void)pull(200, GPUMP_SM_ACTION_DROP);
            assert_int_equal(gpump_fault_cancel(w.fault, COOKIE), GPUMP_OK);
            if (s != MARKERS) assert_int_equal(gpump_replay_close(w.replay, 0), GPUMP_OK);
            assert_int_equal(gpump_sm_report_dropped(w.sm, 210, w.block), GPUMP_OK);
            assert_int_equal(pull(210, GPUMP_SM_ACTION_FREED).why, GPUMP_BLOCK_FLUSHED);
            served(0);
            assert_int_equal(gpump_fault_next(w.fault, 100 + SERVICE, &a), GPUMP_EMPTY);
        }
    }
}

/* Drain: it begins when the page is there. A switch under stall does too; elsewhere a switch costs as much as before.
 */
static void estimates_count_the_wait(void **state) {
    (void)state;
    for (scheme s = STALL; s < SCHEMES; s = (scheme)(s + 1)) {
        gpump_cost_estimate with, without;
        gpump_cost_history history[2];
        gpump_block_view v;
        gpump_gpu gpu;
        begin(s);
        fault(s);
        memset(history, 0, sizeof history);
        gpump_cost_history_record(&history[1], 400, 4000);
        gpump_cost_history_record(&history[1], 420, 4100);
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "table61", NULL), GPUMP_OK);
        v = view(1100);
        assert_int_equal(estimate_blocks(&gpu, history, 2, &v, 1, NULL, NULL, &with, NULL), GPUMP_OK);
        v.faults = v.fault_stalls = 0;
        v.fault_cycles = 0;
        assert_int_equal(estimate_blocks(&gpu, history, 2, &v, 1, NULL, NULL, &without, NULL), GPUMP_OK);
        assert_int_equal(with.latency[GPUMP_TECHNIQUE_DRAIN], without.latency[GPUMP_TECHNIQUE_DRAIN] + SERVICE - 1000);
        assert_int_equal(with.latency[GPUMP_TECHNIQUE_SWITCH],
                         without.latency[GPUMP_TECHNIQUE_SWITCH] + (s == STALL ? SERVICE - 1000 : 0));
        assert_int_equal(with.latency[GPUMP_TECHNIQUE_FLUSH], 0);
        assert_true(s == STALL ? with.overhead[GPUMP_TECHNIQUE_SWITCH] == without.overhead[GPUMP_TECHNIQUE_SWITCH]
                               : with.overhead[GPUMP_TECHNIQUE_SWITCH] == 0); /* it would have waited anyway */
    }
}

/* Rewind: only where regions are recorded. */
static void rewinding_needs_recorded_regions(void **state) {
    (void)state;
    for (scheme s = STALL; s < SCHEMES; s = (scheme)(s + 1)) {
        begin(s);
        fault(s);
        assert_int_equal(gpump_sm_may(w.sm, w.block, GPUMP_TECHNIQUE_REWIND),
                         s == REGIONS ? GPUMP_REASON_YES : GPUMP_REASON_TECHNIQUE);
    }
}

/* In place: registers and shared memory stay on the SM, the queue and its operands never. */
static void the_replay_queue_never_stays_in_place(void **state) {
    (void)state;
    for (scheme s = STALL; s < SCHEMES; s = (scheme)(s + 1)) {
        uint32_t squashed, refetched;
        gpump_sm_action a;
        if (s == STALL) continue; /* it leaves after its page has come, as without faults */
        begin(s);
        fault(s);
        assert_int_equal(preempt(200, GPUMP_TECHNIQUE_SWITCH, GPUMP_PART_REPLAY, 0), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(preempt(200, GPUMP_TECHNIQUE_SWITCH, GPUMP_PART_LOG, 0), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(preempt(200, GPUMP_TECHNIQUE_SWITCH, GPUMP_PARTS_IN_PLACE, 0), GPUMP_OK);
        (void)pull(200, GPUMP_SM_ACTION_STOP);
        if (s != MARKERS) {
            drained(&squashed, &refetched);
            assert_int_equal(gpump_replay_save(w.replay, 0, w.saved, 4, &w.saved_count), GPUMP_OK);
            assert_int_equal(gpump_replay_close(w.replay, 0), GPUMP_OK); /* its share of the log is free */
        }
        assert_int_equal(gpump_sm_report_waits(w.sm, 210, w.block, 0), GPUMP_OK);
        assert_int_equal(pull(210, GPUMP_SM_ACTION_SAVE).bytes, 0);
        assert_int_equal(gpump_sm_report_saved(w.sm, 211, w.block), GPUMP_OK);
        a = pull(211, GPUMP_SM_ACTION_PARKED);
        assert_int_equal(a.parts, GPUMP_PARTS_IN_PLACE);
        assert_int_equal(gpump_sm_unpark(w.sm, 300, w.block, NULL), GPUMP_OK);
        assert_int_equal(pull(300, GPUMP_SM_ACTION_RESTORE).bytes, 0);
        if (s == MARKERS) continue;
        assert_int_equal(gpump_replay_open(w.replay, 0, 0), GPUMP_OK);
        assert_int_equal(gpump_replay_restore(w.replay, 0, w.saved, w.saved_count, NULL), GPUMP_OK);
        assert_int_equal(w.saved_count, s == QUEUE || s == LOG);
    }
}

/* A block that returns before its page: its warp is held, and goes on when the page is there. */
static void returns_before_its_page(void **state) {
    (void)state;
    for (scheme s = WD_COMMIT; s < MARKERS; s = (scheme)(s + 1)) {
        gpump_sm_request r = request();
        gpump_replay_action a;
        uint32_t squashed, refetched, entries[4], count;
        begin(s);
        fault(s);
        assert_int_equal(preempt(200, GPUMP_TECHNIQUE_SWITCH, 0, 0), GPUMP_OK);
        (void)pull(200, GPUMP_SM_ACTION_STOP);
        drained(&squashed, &refetched);
        save(s, 210);
        assert_int_equal(gpump_sm_place(w.sm, 400, &r, &w.history, &w.block, NULL), GPUMP_OK);
        (void)pull(400, GPUMP_SM_ACTION_RESTORE);
        assert_int_equal(gpump_sm_report_restored(w.sm, 450, w.block), GPUMP_OK);
        assert_int_equal(view(450).faults, 0); /* until the host reports them again */
        assert_int_equal(gpump_sm_report_faults(w.sm, w.block, 1, gpump_fault_ready_cycle(w.fault, COOKIE)), GPUMP_OK);
        assert_int_equal(view(450).fault_cycles, 100 + SERVICE - 450);
        assert_int_equal(gpump_replay_open(w.replay, 0, 0), GPUMP_OK);
        assert_int_equal(gpump_replay_restore(w.replay, 0, w.saved, w.saved_count, NULL), GPUMP_OK);
        assert_int_equal(gpump_replay_state_of(w.replay, 0), GPUMP_REPLAY_HELD);
        assert_int_equal(gpump_replay_may(w.replay, 0, GPUMP_REPLAY_TO_ISSUE), GPUMP_REASON_FAULTED);
        assert_int_equal(gpump_replay_next(w.replay, &a), GPUMP_EMPTY);
        served(COOKIE);
        assert_int_equal(gpump_replay_report_served(w.replay, 0), GPUMP_OK);
        assert_int_equal(gpump_replay_next(w.replay, &a), GPUMP_OK);
        if (s == QUEUE || s == LOG) {
            assert_int_equal(a.kind, GPUMP_REPLAY_ACT_REPLAY);
            assert_int_equal(gpump_replay_pending(w.replay, 0, entries, 4, &count), GPUMP_OK);
            assert_int_equal(count, 1);
            assert_int_equal(gpump_replay_report_reissued(w.replay, entries[0]), GPUMP_OK);
            w.entry = entries[0];
            load_ends();
        } else
            assert_int_equal(a.kind, GPUMP_REPLAY_ACT_FETCH);
    }
}

/* The SM goes to another process: its TLB is emptied, and tells processes apart besides. */
static void another_process_finds_an_empty_tlb(void **state) {
    static uint64_t memory[1 << 14];
    gpump_tlb_config config;
    gpump_tlb *tlb;
    uint64_t waiters[2];
    uint32_t outcome, count;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, sizeof memory, &config, &tlb, NULL), GPUMP_OK);
    assert_int_equal(gpump_tlb_fill(tlb, 0, 3, GPUMP_TLB_READ, waiters, 2, &count), GPUMP_OK);
    assert_int_equal(gpump_tlb_lookup(tlb, 0, 3, GPUMP_TLB_READ, 1, &outcome), GPUMP_OK);
    assert_int_equal(outcome, GPUMP_TLB_HIT);
    assert_int_equal(gpump_tlb_lookup(tlb, 1, 3, GPUMP_TLB_READ, 2, &outcome), GPUMP_OK);
    assert_int_equal(outcome, GPUMP_TLB_MISS);
    assert_int_equal(gpump_tlb_invalidate(tlb, GPUMP_TLB_ALL, 0, UINT64_MAX), GPUMP_OK);
    assert_int_equal(gpump_tlb_lookup(tlb, 0, 3, GPUMP_TLB_READ, 3, &outcome), GPUMP_OK);
    assert_int_equal(outcome, GPUMP_TLB_MISS);
}

/* An invalid access: the blocks of the process are killed whatever their flush bit, nothing of it stays in any table,
 * and another process's fault is served as if nothing had happened. */
static void an_invalid_access_ends_its_process_alone(void **state) {
    (void)state;
    for (scheme s = STALL; s < SCHEMES; s = (scheme)(s + 1)) {
        gpump_fault_action a;
        gpump_fault_statistics t;
        gpump_block_switch_view views[4];
        uint32_t count;
        begin(s);
        fault(s);
        assert_int_equal(report(110, 1, 5, OTHER), GPUMP_FAULT_OPENED);
        assert_int_equal(report(120, 0, 99, COOKIE), GPUMP_FAULT_INVALID);
        assert_int_equal(gpump_fault_next(w.fault, 120, &a), GPUMP_OK);
        assert_int_equal(a.kind, GPUMP_FAULT_ACT_ABORT);
        assert_int_equal(a.process, 0);
        assert_int_equal(a.access.address, 99 << 12);
        assert_int_equal(a.access.cookie, COOKIE);
        assert_int_equal(gpump_sm_report_clobber(w.sm, w.block), GPUMP_OK);
        assert_int_equal(gpump_sm_kill(w.sm, 130, w.block), GPUMP_OK);
        assert_int_equal(pull(130, GPUMP_SM_ACTION_DROP).why, GPUMP_BLOCK_KILLED);
        assert_int_equal(gpump_sm_report_done(w.sm, 131, w.block), GPUMP_ERROR_STATE); /* it does not end any more */
        assert_int_equal(gpump_sm_kill(w.sm, 131, w.block), GPUMP_ERROR_STATE);
        if (s != MARKERS) assert_int_equal(gpump_replay_close(w.replay, 0), GPUMP_OK);
        assert_int_equal(gpump_fault_cancel(w.fault, COOKIE), GPUMP_OK);
        assert_int_equal(gpump_block_switch_report_ended(w.switcher, 131, COOKIE), GPUMP_OK);
        assert_int_equal(gpump_sm_report_dropped(w.sm, 140, w.block), GPUMP_OK);
        assert_int_equal(pull(140, GPUMP_SM_ACTION_FREED).why, GPUMP_BLOCK_KILLED);
        assert_int_equal(gpump_sm_state(w.sm, w.block.slot), GPUMP_BLOCK_FREE);
        assert_int_equal(gpump_block_switch_blocks(w.switcher, views, 4, &count), GPUMP_OK);
        assert_int_equal(count, 0);
        assert_int_equal(gpump_fault_unmap(w.fault, 0), GPUMP_BUSY); /* a service under way ends first */
        served(0);
        assert_int_equal(gpump_fault_next(w.fault, 100 + SERVICE, &a), GPUMP_EMPTY);
        assert_int_equal(gpump_fault_unmap(w.fault, 0), GPUMP_OK);
        assert_int_equal(gpump_next_cycle(&gpump_fault_component, w.fault),
                         100 + 2 * SERVICE); /* when it would have come anyway */
        assert_int_equal(gpump_fault_next(w.fault, 100 + 2 * SERVICE, &a), GPUMP_OK);
        assert_int_equal(a.process, 1);
        assert_int_equal(gpump_fault_next(w.fault, 100 + 2 * SERVICE, &a), GPUMP_OK);
        assert_int_equal(a.kind, GPUMP_FAULT_ACT_WAKE);
        assert_int_equal(a.cookie, OTHER);
        assert_int_equal(gpump_check(&gpump_fault_component, w.fault, NULL), GPUMP_OK);
        gpump_get_statistics(&gpump_fault_component, w.fault, &t);
        assert_int_equal(t.waits, t.woken + t.cancelled);
        assert_int_equal(t.opened, t.served);
    }
}

/* The same for the scheduler: three processes share three SMs; one is aborted while it runs, waits and has saved
 * blocks; the others keep what they have, and get what it leaves. */
static void a_process_is_aborted(void **state) {
    static uint64_t memory[1 << 14];
    gpump_scheduler_config config;
    gpump_scheduler *s;
    gpump_scheduler_action a;
    gpump_scheduler_statistics t;
    gpump_scheduler_view v;
    const gpump_scheduler_policy *policy = gpump_scheduler_find("equal");
    gpump_block_ref blocks[3][4];
    uint32_t held[3] = {0, 0, 0}, row, kernel_sm[3], killed = 0, done = 0;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL), GPUMP_OK);
    config.sms = 3;
    config.queues = 4;
    config.decision_cycles = 0;
    config.saved_blocks = 16;
    config.active_kernels = 3;
    assert_int_equal(gpump_init(&gpump_scheduler_component, memory, sizeof memory, &config, &s, NULL), GPUMP_OK);
    for (uint32_t p = 0; p < 3; p++) {
        gpump_scheduler_process process = {p, 0, 0, 1};
        assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    }
    for (uint32_t q = 0; q < 4; q++) { /* process 1 has a second command, which waits */
        const gpump_scheduler_command command = {q, 8, q == 3 ? 1 : q, 2, 16, 0};
        assert_int_equal(gpump_scheduler_submit(s, 0, q, &command, NULL), GPUMP_OK);
    }
    while (gpump_scheduler_next(s, policy, 1, &a) == GPUMP_OK) {
        if (a.kind == GPUMP_SCHEDULER_SETUP) assert_int_equal(gpump_scheduler_report_ready(s, 1, a.sm), GPUMP_OK);
        if (a.kind != GPUMP_SCHEDULER_ISSUE) continue;
        kernel_sm[a.process] = a.sm;
        blocks[a.process][held[a.process]++] = a.block;
    }
    for (uint32_t p = 0; p < 3; p++) assert_int_equal(held[p], 2);
    assert_int_equal(gpump_scheduler_abort(s, 5, 1), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    assert_int_equal(gpump_scheduler_abort(s, 5, 1), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_scheduler_close(s, 5, 1), GPUMP_ERROR_STATE); /* its blocks are still there */
    while (gpump_scheduler_next(s, policy, 5, &a) == GPUMP_OK) {
        if (a.kind == GPUMP_SCHEDULER_KILL) {
            assert_int_equal(a.process, 1);
            assert_int_equal(a.sm, kernel_sm[1]);
            killed++;
        } else {
            assert_int_equal(a.kind, GPUMP_SCHEDULER_KERNEL_DONE); /* of the command that waited */
            assert_int_equal(a.queue, 3);
            assert_int_equal(a.aborted, 1);
            done++;
        }
    }
    assert_int_equal(killed, 1);
    assert_int_equal(done, 1);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(gpump_scheduler_report_finished(s, 9, kernel_sm[1], blocks[1][i]), GPUMP_OK);
    assert_int_equal(gpump_scheduler_next(s, policy, 9, &a), GPUMP_OK);
    assert_int_equal(a.kind, GPUMP_SCHEDULER_KERNEL_DONE);
    assert_int_equal(a.queue, 1);
    assert_int_equal(a.aborted, 1);
    assert_int_equal(gpump_scheduler_next(s, policy, 9, &a), GPUMP_OK); /* the SM goes to one of the others */
    assert_int_equal(a.kind, GPUMP_SCHEDULER_SETUP);
    assert_int_equal(a.sm, kernel_sm[1]);
    assert_int_not_equal(a.process, 1);
    v = gpump_scheduler_look(s);
    assert_int_equal(v.active_count, 2);
    for (uint32_t i = 0; i < 2; i++) assert_int_equal(v.kernels[v.active[i]].resident, 2); /* untouched */
    assert_int_equal(gpump_scheduler_close(s, 9, 1), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    gpump_get_statistics(&gpump_scheduler_component, s, &t);
    assert_int_equal(t.blocks_killed, 2);
    assert_int_equal(t.commands_cancelled, 1);
    assert_int_equal(t.aborts, 1);
    assert_int_equal(t.blocks_finished, 0);
}

/* Of two blocks that a switch would free at the same cost, the one that waits for a page is the victim: its switch
 * loses nothing. Without the report the other one is, which has the lower slot. */
static void a_faulted_block_is_the_preferred_victim(void **state) {
    static const char *const policies[] = {"dual", "joint"};
    (void)state;
    for (uint32_t p = 0; p < 2; p++)
        for (uint32_t told = 0; told < 2; told++) {
            const gpump_footprint need = {256, 8192, 8192};
            gpump_block_view blocks[2];
            gpump_cost_estimate estimates[2];
            gpump_victim_geometry geometry;
            gpump_victim_request ask;
            gpump_victim_place place;
            gpump_block_choice choices[2];
            gpump_victim_decision decision;
            gpump_victim_question question;
            gpump_victim_sm sm;
            gpump_gpu gpu;
            assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
            gpu.registers = 16384; /* two positions, both taken */
            memset(blocks, 0, sizeof blocks);
            for (uint32_t i = 0; i < 2; i++) {
                blocks[i].block.slot = i;
                blocks[i].cookie = i;
                blocks[i].kernel = 1;
                blocks[i].state = GPUMP_BLOCK_RUNNING;
                blocks[i].register_base = i * 8192;
                blocks[i].registers = 8192;
                blocks[i].shared_base = i * 8192;
                blocks[i].shared_bytes = 8192;
                blocks[i].threads = 256;
                blocks[i].warps = 8;
                blocks[i].executed = 1000;
                blocks[i].cycles = 4000;
                blocks[i].context_bytes = 40960;
                blocks[i].may = 1u << GPUMP_TECHNIQUE_SWITCH;
            }
            if (told) {
                blocks[1].state = GPUMP_BLOCK_BLOCKED;
                blocks[1].faults = 1;
                blocks[1].fault_cycles = 1000000;
            }
            assert_int_equal(estimate_blocks(&gpu, NULL, 0, blocks, 2, NULL, NULL, estimates, NULL), GPUMP_OK);
            assert_int_equal(gpump_victim_geometry_init(&geometry, &gpu, &need, 49152, NULL), GPUMP_OK);
            assert_int_equal(gpump_victim_request_init(&ask, 2, 1, 0), GPUMP_OK);
            memset(&sm, 0, sizeof sm);
            sm.blocks = blocks;
            sm.estimates = estimates;
            sm.count = 2;
            memset(&question, 0, sizeof question);
            question.policy = gpump_victim_find(policies[p]);
            question.request = &ask;
            question.geometry = &geometry;
            question.sms = &sm;
            question.sm_count = 1;
            question.places = &place;
            question.place_capacity = 1;
            question.choices = choices;
            question.choice_capacity = 2;
            assert_int_equal(gpump_victim_decide(&question, &decision, NULL), GPUMP_OK);
            assert_int_equal(decision.choices, 1);
            assert_int_equal(choices[0].block.slot, told);
            assert_int_equal(choices[0].technique, GPUMP_TECHNIQUE_SWITCH);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switch_without_a_fault),
        cmocka_unit_test(switch_of_a_faulted_block),
        cmocka_unit_test(a_flushed_block_waits_no_more_but_its_page_comes),
        cmocka_unit_test(estimates_count_the_wait),
        cmocka_unit_test(rewinding_needs_recorded_regions),
        cmocka_unit_test(the_replay_queue_never_stays_in_place),
        cmocka_unit_test(returns_before_its_page),
        cmocka_unit_test(another_process_finds_an_empty_tlb),
        cmocka_unit_test(an_invalid_access_ends_its_process_alone),
        cmocka_unit_test(a_process_is_aborted),
        cmocka_unit_test(a_faulted_block_is_the_preferred_victim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
