/* labels: unit property */
/* Any call at any time, with plausible and with wrong arguments, on the components that have no host in this folder: an
 * error leaves memory and outputs as they were, every other answer leaves memory that _check finds sound and a copy
 * that _adopt takes, and the same calls on a copy give the same answers. */
#include "altered_bits.h"
#include "rate_statistics.h"

enum { WORDS = 1 << 14, OUTPUTS = 512, COUNTERS = 64, WALKS = 24 };

/* Every third walk begins so late that the sum of two cycles overflows. */
#define LATE ((uint64_t)3 << 62)

/* Behind a component lies a red zone that no call may write. The address sanitizer also sees what is read there. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { RED_BYTES = 0 };
#else
enum { RED_BYTES = 1024 };
#endif

static uint64_t memory[WORDS], before[WORDS];
static uint64_t random_state;
static uint32_t below(uint32_t limit) { return gpump_random_below(&random_state, limit); }
/* Which of `calls` calls is made. */
static uint32_t called;
static uint32_t which_call(uint32_t calls) { return called = below(calls); }
/* Mostly below the limit, now and then beyond it or absurd. */
static uint32_t number(uint32_t limit) {
    const uint32_t which = below(40);
    return which == 0 ? limit : which == 1 ? GPUMP_NONE : which == 2 ? below(UINT32_MAX) : below(limit);
}
/* Cycles rise; now and then they do not, or end. */
static uint64_t cycle, said, latest; /* said: what the call was told, or GPUMP_NONE when it was told no cycle */
static uint64_t now(void) {
    const uint32_t which = below(60);
    cycle += which > 1 ? (below(4) ? below(4) : below(300)) : 0;
    return said = which == 0 && cycle ? cycle - 1 : which == 1 ? GPUMP_UNKNOWN : cycle;
}

/* What a call hands back: an error must leave it alone. */
static uint64_t output[OUTPUTS];
static gpump_diag diag; /* what the last call said that takes one */

typedef struct component {
    const char *name;
    const gpump_component *component;
    size_t (*make)(void);                                          /* initialises `memory`, and returns its bytes */
    gpump_result (*sound)(void *m, size_t size, gpump_diag *diag); /* adopts and checks */
    gpump_result (*call)(void *m);                                 /* one call, drawn from random_state */
    int keeps_time;                       /* 1: no call is taken that is earlier than one before it */
    uint32_t calls;                       /* kinds of calls; each must be done at least once in a run */
    uint32_t (*situation)(const void *m); /* NULL, or the state that matters, below 32 */
    uint32_t situations;                  /* bits of those that a run must reach */
    uint32_t busy;                        /* calls that must be BUSY at least once in a run */
    uint32_t busy_moves;                  /* of these, calls that say so of the clock, or of a counter */
    uint32_t (*counters)(const void *m, uint64_t *values); /* fills values[COUNTERS] with counters, which never fall */
} component;

/* ---- tlb ---- */
static gpump_tlb_config tlb_config;
static size_t tlb_make(void) {
    gpump_tlb *tlb;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_tlb_component, &tlb_config, "table61_l1", NULL), GPUMP_OK);
    tlb_config.entries = 8;
    tlb_config.ways = 2 << below(2);
    tlb_config.misses = 1 + below(4);
    tlb_config.waiters = 1 + below(6);
    assert_int_equal(gpump_bytes(&gpump_tlb_component, &tlb_config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, bytes, &tlb_config, &tlb, NULL), GPUMP_OK);
    return bytes;
}
static gpump_result tlb_sound(void *m, size_t size, gpump_diag *diag) {
    gpump_tlb *tlb;
    const gpump_result result = gpump_adopt(&gpump_tlb_component, m, size, &tlb_config, &tlb, diag);
    return result ? result : gpump_check(&gpump_tlb_component, tlb, diag);
}
static gpump_result tlb_call(void *m) {
    gpump_tlb *tlb = (gpump_tlb *)m;
    const uint32_t process = below(3), rights = number(GPUMP_TLB_RIGHTS + 1), room = below(8), pages = below(5);
    const uint64_t page = below(20), waiter = below(8);
    uint64_t *waiters = below(20) ? output + 1 : NULL;
    uint32_t *answer = below(30) ? (uint32_t *)output : NULL;
    switch (which_call(6)) {
    case 0:
    case 1: return gpump_tlb_lookup(tlb, process, page, rights, waiter, answer);
    case 2:
    case 3: return gpump_tlb_fill(tlb, process, page, rights, waiters, room, answer);
    case 4: return gpump_tlb_cancel(tlb, process, page, waiter);
    default: return gpump_tlb_invalidate(tlb, below(4) ? process : (uint32_t)GPUMP_TLB_ALL, page, pages);
    }
}

/* ---- block_switch ---- */
static gpump_block_switch_config switch_config;
static size_t switch_make(void) {
    gpump_block_switch *unit;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_block_switch_component, &switch_config, "table61", NULL), GPUMP_OK);
    switch_config.blocks = 3;
    switch_config.extra = below(3);
    switch_config.priced = below(2);
    switch_config.fair_cycles = 1 + below(200);
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &switch_config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_block_switch_component, memory, bytes, &switch_config, &unit, NULL), GPUMP_OK);
    return bytes;
}
static gpump_result switch_sound(void *m, size_t size, gpump_diag *diag) {
    gpump_block_switch *unit;
    const gpump_result result = gpump_adopt(&gpump_block_switch_component, m, size, &switch_config, &unit, diag);
    return result ? result : gpump_check(&gpump_block_switch_component, unit, diag);
}
/* The block that the last action was about. */
static uint64_t switch_moved;
static gpump_result switch_next(gpump_block_switch *unit) {
    const gpump_block_switch_action *action = (const gpump_block_switch_action *)(void *)output;
    const gpump_result result = gpump_block_switch_next(unit, now(), (gpump_block_switch_action *)(void *)output);
    if (result == GPUMP_OK && action->kind != GPUMP_BLOCK_SWITCH_ACT_NEW) switch_moved = action->cookie;
    return result;
}
static gpump_result switch_call(void *m) {
    gpump_block_switch *unit = (gpump_block_switch *)m;
    const uint64_t any = below(4), cookie = below(2) ? switch_moved : any;
    const uint32_t few = below(4), warps = below(4) ? 1 : number(65), warp = number(4), is_stalled = number(2);
    const uint32_t cycles = below(50), later = below(100), room = below(6), which = which_call(12);
    gpump_block_view view;
    uint64_t at;
    if (which == 0) return below(6) ? GPUMP_EMPTY : gpump_block_switch_set_blocks(unit, number(4));
    if (which == 1) return gpump_block_switch_set_outside(unit, few, below(4));
    if (which == 9 && below(6)) return GPUMP_EMPTY;
    at = which == 10 || which == 11 ? 0 : now();
    switch (which) {
    case 2:
    case 3:
        memset(&view, 0, sizeof view);
        view.cookie = cookie;
        view.kernel = 1;
        view.state = cycles % GPUMP_BLOCK_STATES;
        view.threads = view.warps = warps;
        view.context_bytes = cycles;
        return gpump_block_switch_report_residents(unit, at, &view, 1);
    case 4: return gpump_block_switch_report_none(unit, at);
    case 5: return gpump_block_switch_report_warp(unit, at, cookie, warp, is_stalled);
    case 6: return gpump_block_switch_report_pending(unit, at, cookie, few, at + later);
    case 7: return gpump_block_switch_report_left(unit, at, cookie);
    case 8: return gpump_block_switch_report_stayed(unit, at, cookie);
    case 9: return gpump_block_switch_report_ended(unit, at, cookie);
    case 10:
        return gpump_block_switch_blocks(unit, (gpump_block_switch_view *)(void *)(output + 1), room,
                                         (uint32_t *)output);
    default: return switch_next(unit);
    }
}

/* ---- fault ---- */
static gpump_fault_config fault_config;
static size_t fault_make(void) {
    gpump_fault *fault;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_fault_component, &fault_config, below(2) ? "nvlink" : "uvm595", NULL),
                     GPUMP_OK);
    fault_config.sms = 2;
    fault_config.processes = 2;
    fault_config.ranges = 3;
    fault_config.granules = 24;
    fault_config.faults = 1 + below(5);
    fault_config.waiters = 1 + below(6);
    fault_config.granule_pages = 1u << below(3);
    fault_config.touches = 2;
    fault_config.memory = below(2) ? UINT32_MAX : 4;
    fault_config.local = fault_config.uvm.batch == 1 && below(2);
    fault_config.uvm.remote = fault_config.local ? 0 : below(3) ? 2 : below(2);
    fault_config.uvm.counter = 1 + below(50);
    assert_int_equal(gpump_bytes(&gpump_fault_component, &fault_config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_fault_component, memory, bytes, &fault_config, &fault, NULL), GPUMP_OK);
    return bytes;
}
static gpump_result fault_sound(void *m, size_t size, gpump_diag *diag) {
    gpump_fault *fault;
    const gpump_result result = gpump_adopt(&gpump_fault_component, m, size, &fault_config, &fault, diag);
    return result ? result : gpump_check(&gpump_fault_component, fault, diag);
}
/* The granule whose UNMAP was handed over last, and the last page that a report found on the GPU or mapped remotely: a
 * page drawn at random is hardly ever one of them. */
static uint64_t unmap_page, remote_page;
static uint32_t unmap_process, remote_process;
static gpump_result fault_next(gpump_fault *fault) {
    const gpump_fault_action *action = (const gpump_fault_action *)(void *)output;
    const gpump_result result = gpump_fault_next(fault, now(), (gpump_fault_action *)(void *)output);
    if (result == GPUMP_OK && action->kind == GPUMP_FAULT_ACT_UNMAP)
        unmap_page = action->page, unmap_process = action->process;
    return result;
}
static gpump_result fault_call(void *m) {
    gpump_fault *fault = (gpump_fault *)m;
    const uint32_t process = number(2), pages = below(30), rights = number(8);
    const uint32_t owner = below(4) ? number(GPUMP_FAULT_REMOTE) : GPUMP_FAULT_REMOTE;
    const uint32_t is_dirty = number(2), accesses = below(300);
    const uint32_t which = below(3) ? which_call(10) : (called = 9); /* often enough for memory to fill and to empty */
    const uint64_t page = below(below(2) ? 90 : 40), cookie = below(6);
    uint32_t *answer = below(40) ? (uint32_t *)output : NULL;
    gpump_fault_access access;
    gpump_result result;
    uint64_t at;
    if (below(10) == 0) cycle += below(2000000); /* the handler takes its time */
    if (which == 0) return gpump_fault_map(fault, process, page, pages, owner, rights);
    if (which == 1) return below(24) ? GPUMP_EMPTY : gpump_fault_unmap(fault, process); /* memory is to fill first */
    if (which == 5) return gpump_fault_cancel(fault, cookie);
    if (which == 9) return fault_next(fault);
    at = now();
    switch (which) {
    case 2:
    case 3:
    case 4:
        memset(&access, 0, sizeof access);
        access.page = page;
        access.cookie = cookie;
        access.process = process;
        access.sm = number(2);
        access.warp = number(64);
        access.rights = below(3) ? 1 : rights;
        result = gpump_fault_report(fault, at, below(40) ? &access : NULL, answer);
        if (result == GPUMP_OK && *answer == GPUMP_FAULT_RETRY) remote_page = page, remote_process = process;
        return result;
    case 6: return gpump_fault_release(fault, at, cookie, number(64));
    case 7:
        return below(2) ? gpump_fault_report_unmapped(fault, at, unmap_process, unmap_page, is_dirty & 1)
                        : gpump_fault_report_unmapped(fault, at, process, page, is_dirty);
    default:
        return below(2) ? gpump_fault_report_remote(fault, at, remote_process, remote_page, accesses)
                        : gpump_fault_report_remote(fault, at, process, page, accesses);
    }
}

/* ---- rate ---- */
static gpump_rate_config rate_config;
static size_t rate_make(void) {
    gpump_rate *rate;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_rate_component, &rate_config, "lin", NULL), GPUMP_OK);
    rate_config.kernels = 1 + below(GPUMP_RATE_KERNELS);
    rate_config.unit_cycles = 1 + below(300);
    rate_config.epoch_cycles = 1 + below(3000);
    assert_int_equal(gpump_bytes(&gpump_rate_component, &rate_config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_rate_component, memory, bytes, &rate_config, &rate, NULL), GPUMP_OK);
    return bytes;
}
static gpump_result rate_sound(void *m, size_t size, gpump_diag *diag) {
    gpump_rate *rate;
    const gpump_result result = gpump_adopt(&gpump_rate_component, m, size, &rate_config, &rate, diag);
    return result ? result : gpump_check(&gpump_rate_component, rate, diag);
}
static gpump_result rate_call(void *m) {
    gpump_rate *rate = (gpump_rate *)m;
    const uint32_t kernel = below(rate_config.kernels), member = number(rate_config.kernels), which = which_call(9);
    const uint64_t at = which < 3 ? now() : 0;
    gpump_rate_limits limits = gpump_rate_limits_none();
    gpump_rate_statistics statistics;
    switch (which) {
    case 0:
        if (below(2)) limits.instructions = number(50);
        if (below(2)) limits.in_flight = below(3) ? number(8) : GPUMP_RATE_RENEWED;
        if (below(2)) limits.misses_q16 = number(20 << 16);
        if (below(2)) limits.memory_quota = number(5);
        return gpump_rate_set(rate, at, member, below(40) ? &limits : NULL);
    case 1: return gpump_rate_advance(rate, at);
    case 2: return gpump_rate_report_starved(rate, at);
    case 3: return gpump_get_statistics(&gpump_rate_component, rate, output);
    case 4: gpump_rate_report_issued(rate, kernel); return GPUMP_OK;
    case 5: gpump_rate_report_memory_issued(rate, kernel); return GPUMP_OK;
    case 6:
        assert_int_equal(rate_statistics(rate, kernel, &statistics), GPUMP_OK);
        if (gpumpi_rate_kernel_of(rate, kernel)->in_flight) gpump_rate_report_memory_done(rate, kernel);
        return GPUMP_OK;
    case 7: gpump_rate_report_access(rate, kernel, below(4)); return GPUMP_OK;
    default: gpump_rate_report_sent(rate, kernel, 1 + below(8)); return GPUMP_OK;
    }
}

/* ---- replay ---- */
static gpump_replay_config replay_config;
static size_t replay_make(void) {
    static const char *const presets[] = {"stall", "wd_commit", "wd_check", "queue", "log8", "regions"};
    gpump_replay *replay;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_replay_component, &replay_config, presets[below(6)], NULL), GPUMP_OK);
    replay_config.warps = 3;
    replay_config.blocks = 2;
    if (replay_config.entries) replay_config.entries = 1 + below(5);
    replay_config.probe = below(2);
    assert_int_equal(gpump_bytes(&gpump_replay_component, &replay_config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_replay_component, memory, bytes, &replay_config, &replay, NULL), GPUMP_OK);
    return bytes;
}
static gpump_result replay_sound(void *m, size_t size, gpump_diag *diag) {
    gpump_replay *replay;
    const gpump_result result = gpump_adopt(&gpump_replay_component, m, size, &replay_config, &replay, diag);
    return result ? result : gpump_check(&gpump_replay_component, replay, diag);
}
static uint64_t sequence;
static gpump_result replay_call(void *m) {
    gpump_replay *replay = (gpump_replay *)m;
    const uint32_t warp = number(3), window = below(3) * GPUMP_REPLAY_WINDOW;
    const uint32_t entry = below(6) ? window + below(6) : number(400);
    gpump_replay_entry instruction, list[3];
    const uint32_t block = number(2), count = below(4), room = below(8);
    uint64_t segments[3];
    uint32_t i;
    for (i = 0; i < 3; i++) segments[i] = below(9);
    memset(&instruction, 0, sizeof instruction);
    instruction.sequence = below(30) ? ++sequence : sequence;
    instruction.lanes = 1 + below(15);
    instruction.kind = number(GPUMP_REPLAY_KINDS);
    instruction.log_units = number(4);
    for (i = 0; i < 3; i++) list[i] = instruction, list[i].sequence += i;
    switch (which_call(15)) {
    case 0: return gpump_replay_set_blocks(replay, number(3));
    case 1: return gpump_replay_open(replay, warp, block);
    case 2: return below(3) ? GPUMP_EMPTY : gpump_replay_close(replay, warp);
    case 3:
    case 4: return gpump_replay_report_issued(replay, warp, below(40) ? &instruction : NULL, (uint32_t *)output);
    case 5: return gpump_replay_report_segments(replay, entry, segments, count);
    case 6:
    case 7: return gpump_replay_report_checked(replay, entry, (gpump_reason *)(void *)output);
    case 8: return gpump_replay_report_faulted(replay, entry);
    case 9: return gpump_replay_report_committed(replay, entry);
    case 10: return gpump_replay_report_unissued(replay, warp, list, count);
    case 11: return gpump_replay_report_served(replay, warp);
    case 12: return gpump_replay_report_reissued(replay, entry);
    case 13:
        return below(4) ? gpump_replay_pending(replay, warp, (uint32_t *)(output + 1), room, (uint32_t *)output)
                        : gpump_replay_squash(replay, warp);
    default: return gpump_replay_next(replay, (gpump_replay_action *)(void *)output);
    }
}

/* ---- restart ---- */
static gpump_restart_config restart_config;
static size_t restart_make(void) {
    gpump_restart *restart;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_restart_component, &restart_config, "igpu", NULL), GPUMP_OK);
    restart_config.warps = 3;
    restart_config.frames = 3;
    restart_config.cure = below(GPUMP_RESTART_CURES);
    restart_config.most_restarts = 1 + below(4);
    restart_config.latency_cycles = below(2) ? 20 : 0;
    restart_config.store_entries = restart_config.latency_cycles ? below(4) : 0;
    assert_int_equal(gpump_bytes(&gpump_restart_component, &restart_config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_restart_component, memory, bytes, &restart_config, &restart, NULL), GPUMP_OK);
    return bytes;
}
static gpump_result restart_sound(void *m, size_t size, gpump_diag *diag) {
    gpump_restart *restart;
    const gpump_result result = gpump_adopt(&gpump_restart_component, m, size, &restart_config, &restart, diag);
    return result ? result : gpump_check(&gpump_restart_component, restart, diag);
}
static gpump_result restart_call(void *m) {
    gpump_restart *restart = (gpump_restart *)m;
    const uint32_t warp = number(3), region = number(GPUMP_RESTART_REGIONS), room = below(4), count = below(5);
    const uint32_t pc = below(20), kind = number(2), is_given = below(40);
    gpump_restart_frame frames[4];
    uint32_t i;
    for (i = 0; i < 4; i++) {
        frames[i].lanes = 1 + below(3);
        frames[i].lanes <<= below(4);
        frames[i].pc = below(20);
        frames[i].reconvergence_pc = i ? below(20) : (uint32_t)GPUMP_NONE;
    }
    switch (which_call(11)) {
    case 0: return gpump_restart_open(restart, warp);
    case 1: return below(4) ? GPUMP_EMPTY : gpump_restart_close(restart, warp);
    case 2:
        return gpump_restart_where(restart, warp, region, (gpump_restart_frame *)(void *)(output + 1), room,
                                   (uint32_t *)output);
    case 3: return gpump_restart_report_boundary(restart, warp, region, is_given ? frames : NULL, count);
    case 4: return gpump_restart_report_error(restart, warp, now());
    case 5: return gpump_restart_report_exception(restart, warp, pc, kind, (gpump_restart_order *)(void *)output);
    case 6: return gpump_restart_step(restart, warp);
    case 7:
        return gpump_restart_go_back(restart, warp, region, (gpump_restart_frame *)(void *)(output + 1), room,
                                     (uint32_t *)output);
    case 8: return gpump_restart_report_store(restart, warp);
    case 9: return gpump_restart_report_stored(restart, warp);
    default: return gpump_restart_next(restart, now(), (uint32_t *)output);
    }
}

/* ---- duet ---- */
static gpump_duet_config duet_config;
static size_t duet_make(void) {
    const gpump_footprint need = {64, 64 * 34, 1024};
    gpump_duet *duet;
    gpump_duet_plan plan;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_duet_component, &duet_config, "maxwell_duet", NULL), GPUMP_OK);
    duet_config.skip_cycles = below(50);
    duet_config.period_cycles = 1 + below(500);
    duet_config.extra_blocks = below(3) ? (below(2) ? GPUMP_DUET_ALL : GPUMP_DUET_MONITOR) : 0;
    assert_int_equal(gpump_duet_plan_make(&duet_config, &need, 10 + below(24), &plan, NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_duet_component, &duet_config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_duet_component, memory, bytes, &duet_config, &duet, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_set_kernel(duet, 0, &plan), GPUMP_OK);
    return bytes;
}
static gpump_result duet_sound(void *m, size_t size, gpump_diag *diag) {
    gpump_duet *duet;
    const gpump_result result = gpump_adopt(&gpump_duet_component, m, size, &duet_config, &duet, diag);
    return result ? result : gpump_check(&gpump_duet_component, duet, diag);
}
static gpump_result duet_call(void *m) {
    gpump_duet *duet = (gpump_duet *)m;
    const uint32_t warp = below(4) ? number(12) : number(GPUMP_DUET_WARPS), block = number(6), stall = number(2);
    const uint32_t loads = below(3), which = which_call(10);
    const int is_on = (int)below(2);
    const uint64_t at = which == 4 ? 0 : now();
    gpump_utilisation used;
    switch (which) {
    case 0: return gpump_duet_place_block(duet, at, is_on, (uint32_t *)output, &diag);
    case 1:
    case 2:
    case 3: return gpump_duet_report_stall(duet, at, warp, stall, loads);
    case 4:
        if (warp < GPUMP_DUET_WARPS) gpump_duet_report_reply(duet, warp);
        return GPUMP_OK;
    case 5: return gpump_duet_report_moved(duet, at);
    case 6: return gpump_duet_report_warp_done(duet, at, warp);
    case 7: return below(2) ? gpump_duet_report_block_done(duet, at, block) : gpump_duet_freeze(duet, at, block, is_on);
    case 8:
        used.scheduler_q16 = below(70000), used.l1_q16 = below(70000), used.up_q16 = below(70000);
        used.down_q16 = below(70000), used.l2_q16 = below(70000), used.dram_q16 = below(70000);
        return gpump_duet_report_utilisation(duet, at, below(40) ? &used : NULL);
    default: return gpump_duet_next(duet, at, (gpump_duet_action *)(void *)output);
    }
}

/* ---- sharing ---- */
static gpump_sharing_config sharing_config;
static gpump_partition_config sharing_machine;
static const gpump_partition_policy
    *sharing_policy; /* mostly this one, so that a group gets beyond its first decision */
static size_t sharing_make(void) {
    static const char *const policies[] = {"ccbp", "ws", "spatial", "slack"};
    gpump_sharing *sharing;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_partition_component, &sharing_machine, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_sharing_component, &sharing_config, "maxwell_ccbp", NULL), GPUMP_OK);
    sharing_config.members = 2 + below(2);
    sharing_config.sms = sharing_machine.gpu.sms = sharing_machine.meter.sms = sharing_config.members + below(3);
    sharing_config.warm_cycles = below(50);
    sharing_config.sample_cycles = 1 + below(50);
    sharing_config.in_turn = below(2);
    sharing_config.unsampled = below(6) == 0;
    sharing_policy = gpump_partition_find(policies[below(4) ? 3 : below(3)]); /* mostly slack, which has trials */
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &sharing_config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_sharing_component, memory, bytes, &sharing_config, &sharing, NULL), GPUMP_OK);
    return bytes;
}
static gpump_result sharing_sound(void *m, size_t size, gpump_diag *diag) {
    gpump_sharing *sharing;
    const gpump_result result = gpump_adopt(&gpump_sharing_component, m, size, &sharing_config, &sharing, diag);
    return result ? result : gpump_check(&gpump_sharing_component, sharing, diag);
}
/* The state of a group, and whether it is in a trial. */
static uint32_t sharing_situation(const void *m) {
    const gpump_sharing *sharing = (const gpump_sharing *)m;
    return gpump_sharing_state_now(sharing) + (gpump_sharing_trial(sharing) ? GPUMP_SHARING_STATES : 0);
}
static gpump_result sharing_call(void *m) {
    static const char *const policies[] = {"ccbp", "ws", "spatial", "slack"};
    gpump_sharing *sharing = (gpump_sharing *)m;
    const uint32_t member = number(sharing_config.members), sm = number(sharing_config.sms), which = which_call(14);
    const uint32_t blocks = below(5);
    const int leaves = !below(40), is_given = below(40) != 0;
    const uint64_t at = which > 8 || (which == 1 && !leaves) ? 0 : now();
    gpump_sharing_kernel kernel;
    gpump_traffic traffic;
    gpump_block_view residents[4];
    switch (which) {
    case 0:
        memset(&kernel, 0, sizeof kernel);
        kernel.kernel = below(9);
        kernel.blocks = number(5);
        kernel.priority = number(3);
        kernel.need.threads = 128;
        kernel.need.registers = 128 * 32;
        return gpump_sharing_join(sharing, at, is_given ? &kernel : NULL, (uint32_t *)output, &diag);
    case 1: return leaves ? gpump_sharing_leave(sharing, at, member) : GPUMP_EMPTY;
    case 2:
        memset(residents, 0, sizeof residents);
        for (uint32_t i = 0; i < blocks; i++) residents[i].kernel = below(9), residents[i].threads = below(2);
        return gpump_sharing_report_residents(sharing, at, sm, is_given ? residents : NULL, blocks);
    case 3:
    case 4:
    case 5:
        memset(&traffic, 0, sizeof traffic);
        traffic.cycles = below(200);
        traffic.issued = below(500);
        traffic.l1_load_misses = below(100);
        traffic.flits_up = below(300);
        traffic.flits_down = below(300);
        traffic.dram_read_bytes = below(9000);
        return below(2) ? gpump_sharing_report_sample(sharing, at, sm, &sharing_machine, &traffic, &diag)
                        : gpump_sharing_report_window(sharing, at, member, &sharing_machine, &traffic, &diag);
    case 6:
    case 7:
    case 8:
        return gpump_sharing_advance(sharing, at, below(8) ? sharing_policy : gpump_partition_find(policies[below(4)]),
                                     is_given ? &sharing_machine : NULL, &diag);
    default: return gpump_sharing_next(sharing, (gpump_sharing_action *)(void *)output);
    }
}

enum {
    SHARING_STATES = (1 << GPUMP_SHARING_STATES) - 1,
    SHARING_TRIALS =
        (1 << GPUMP_SHARING_MOVE | 1 << GPUMP_SHARING_WARM | 1 << GPUMP_SHARING_SAMPLE | 1 << GPUMP_SHARING_REPORT)
        << GPUMP_SHARING_STATES
};
/* Fills values with a component's statistics, a struct of counters. */
#define COUNTED(component)                                                                               \
    static uint32_t component##_counters(const void *m, uint64_t *values) {                              \
        gpump_##component##_statistics statistics;                                                       \
        gpump_get_statistics(&gpump_##component##_component, (const gpump_##component *)m, &statistics); \
        memcpy(values, &statistics, sizeof statistics);                                                  \
        return sizeof statistics / sizeof *values;                                                       \
    }
COUNTED(tlb)
COUNTED(block_switch)
COUNTED(fault)
COUNTED(replay)
COUNTED(restart)
COUNTED(duet)

static const component components[] = {
    {"tlb", &gpump_tlb_component, tlb_make, tlb_sound, tlb_call, 0, 6, NULL, 0, 0x3, 0x3, tlb_counters},
    {"block_switch", &gpump_block_switch_component, switch_make, switch_sound, switch_call, 1, 12, NULL, 0, 0, 0,
     block_switch_counters},
    {"fault", &gpump_fault_component, fault_make, fault_sound, fault_call, 1, 10, NULL, 0, 0x1e, 0x11c, fault_counters},
    {"rate", &gpump_rate_component, rate_make, rate_sound, rate_call, 1, 9, NULL, 0, 0, 0, NULL},
    {"replay", &gpump_replay_component, replay_make, replay_sound, replay_call, 0, 15, NULL, 0, 0x3018, 0,
     replay_counters},
    {"restart", &gpump_restart_component, restart_make, restart_sound, restart_call, 0, 11, NULL, 0, 0x180, 0,
     restart_counters},
    {"duet", &gpump_duet_component, duet_make, duet_sound, duet_call, 1, 10, NULL, 0, 0x81, 0x80, duet_counters},
    {"sharing", &gpump_sharing_component, sharing_make, sharing_sound, sharing_call, 1, 14, sharing_situation,
     SHARING_STATES | SHARING_TRIALS, 0, 0, NULL},
};

/* One component while random calls are made: its memory and that of a copy, and what the run has reached. */
typedef struct walk {
    const component *one;
    uint64_t seed, number, step;
    size_t bytes;
    unsigned char *memory, *twin; /* each with a red zone behind */
    uint64_t done, errors, waits;
    uint32_t calls, situations, busy; /* bits: kinds of calls done, situations reached, calls that were BUSY */
} walk;

#define walk_fail(w, text)                                                                   \
    fail_msg("%s, case %llu, step %llu, call %u: %s (GPUMP_TEST_SEED=%llu)", (w)->one->name, \
             (unsigned long long)(w)->number, (unsigned long long)(w)->step, called, text,   \
             (unsigned long long)(w)->seed)

static unsigned char *in_red(const void *from, size_t bytes) {
    unsigned char *copy = (unsigned char *)malloc(bytes + RED_BYTES);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    memset(copy + bytes, 0xa5, RED_BYTES);
    return copy;
}
static int red_is_whole(const unsigned char *block, size_t bytes) {
    for (size_t i = bytes; i < bytes + RED_BYTES; i++)
        if (block[i] != 0xa5) return 0;
    return 1;
}

/* An error leaves memory and outputs as they were. */
static void error_changes_nothing(const walk *w, gpump_result result) {
    if (memcmp(before, w->memory, w->bytes)) walk_fail(w, "an error, and its memory has changed");
    for (uint32_t i = 0; i < OUTPUTS && result != GPUMP_ERROR_CAPACITY; i++)
        if (output[i] != UINT64_C(0x5a5a5a5a5a5a5a5a)) walk_fail(w, "an error, and an output has changed");
}
/* No call is taken that is earlier than one before it. */
static void time_rises(const walk *w) {
    if (said == GPUMP_NONE || !w->one->keeps_time) return;
    if (said < latest || said == GPUMP_UNKNOWN) walk_fail(w, "time went back");
    if (memcmp(before, w->memory, w->bytes)) latest = said; /* who has nothing to do may forget it */
}

/* BUSY leaves the memory as it was, unless the call says that its time passes, or that it is counted. */
static void busy_changes_nothing(walk *w) {
    w->busy |= 1u << called;
    if (w->one->busy_moves >> called & 1) return;
    if (memcmp(before, w->memory, w->bytes)) walk_fail(w, "BUSY, and its memory has changed");
}
static void counters_rise(const walk *w) {
    uint64_t earlier[COUNTERS], later[COUNTERS];
    const uint32_t count = w->one->counters(before, earlier);
    assert_true(count <= COUNTERS && w->one->counters(w->memory, later) == count);
    for (uint32_t i = 0; i < count; i++)
        if (later[i] < earlier[i]) walk_fail(w, "a counter has fallen");
}

static void one_call(walk *w) {
    const uint64_t drawn = random_state, at = cycle, numbered = sequence;
    uint64_t handed[OUTPUTS];
    gpump_result result;
    memcpy(before, w->memory, w->bytes);
    memset(output, 0x5a, sizeof output);
    said = GPUMP_NONE;
    result = w->one->call(w->memory);
    if (result < 0) {
        w->errors++;
        error_changes_nothing(w, result);
    } else {
        time_rises(w);
        if (result == GPUMP_OK) w->done++, w->calls |= 1u << called;
        w->waits += result != GPUMP_OK;
        if (result == GPUMP_BUSY) busy_changes_nothing(w);
        if (w->one->counters) counters_rise(w);
    }
    /* the copy is asked the same, and is the same machine */
    memcpy(handed, output, sizeof output);
    random_state = drawn;
    cycle = at;
    sequence = numbered;
    memset(output, 0x5a, sizeof output);
    if (w->one->call(w->twin) != result || memcmp(w->twin, w->memory, w->bytes) ||
        memcmp(handed, output, sizeof output))
        walk_fail(w, "a copy answers otherwise");
    if (!red_is_whole(w->memory, w->bytes) || !red_is_whole(w->twin, w->bytes)) walk_fail(w, "wrote behind its memory");
    if (result >= 0 && w->one->sound(w->memory, w->bytes, NULL) != GPUMP_OK) walk_fail(w, "unsound");
    if (w->one->situation) w->situations |= 1u << w->one->situation(w->memory);
}

static void one_component(const component *one) {
    const uint64_t seed = test_seed(), cases = test_cases(60);
    walk w = {one, seed, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0};
    for (w.number = 0; w.number < cases; w.number++) {
        random_state = seed * 1000003 + w.number;
        cycle = w.number % 3 == 2 ? LATE : 0;
        latest = 0;
        w.bytes = one->make();
        assert_true(w.bytes <= sizeof memory);
        w.memory = in_red(memory, w.bytes);
        w.twin = in_red(memory, w.bytes);
        for (w.step = 0; w.step < 1000; w.step++) one_call(&w);
        free(w.memory);
        free(w.twin);
    }
    print_message("%s: %llu calls done, %llu not now, %llu refused; calls %x, BUSY %x, situations %x\n", one->name,
                  (unsigned long long)w.done, (unsigned long long)w.waits, (unsigned long long)w.errors, w.calls,
                  w.busy, w.situations);
    assert_true(w.done > cases * 50 && w.errors > cases);
    if (cases < 60) return; /* too few to reach everything */
    assert_int_equal(w.calls, (1u << one->calls) - 1);
    assert_int_equal(w.busy & one->busy, one->busy);
    assert_int_equal(w.situations & one->situations, one->situations);
}
/* Random calls in random order: an error changes nothing, nothing is written behind the memory, a copy does the same.
 */
static void any_call_at_any_time_is_safe(void **state) {
    (void)state;
    for (uint32_t i = 0; i < sizeof components / sizeof components[0]; i++) one_component(&components[i]);
}

/* ---- what is decided ---- */

static int is_little_endian(void) {
    const uint32_t one = 1;
    return *(const uint8_t *)&one;
}

/* What the check says of altered memory, in `before`. */
static void judge_altered(const component *one, altered_tally *tally, size_t bytes, uint64_t whole) {
    gpump_diag altered;
    if (one->sound(before, bytes, &altered)) {
        altered_refused(tally, &altered);
        return;
    }
    tally->accepted++;
    tally->unhashed += gpump_hash(one->component, before) == whole;
}
/* Alters a component's memory, of each three alterations in a row that with number `which`: bits, and 32-bit numbers
 * that become small ones, among which are indices at their bounds. */
static void alter(const component *one, altered_tally *tally, size_t bytes, uint32_t which) {
    enum { NUMBERS = 17 };
    const uint64_t whole = gpump_hash(one->component, memory);
    tally->states = gpump_hash_u64(tally->states, whole);
    for (size_t bit = which; bit < bytes * 8; bit += 3) {
        memcpy(before, memory, bytes);
        ((unsigned char *)before)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        judge_altered(one, tally, bytes, whole);
    }
    for (size_t i = which; i < bytes / 4 * NUMBERS; i += 3) {
        const uint32_t number = i % NUMBERS;
        memcpy(before, memory, bytes);
        memcpy((unsigned char *)before + i / NUMBERS * 4, &number, sizeof number);
        if (memcmp(before, memory, bytes)) judge_altered(one, tally, bytes, whole);
    }
}

static uint64_t hash_diag(uint64_t hash) {
    if (diag.field) hash = gpump_hash_bytes(hash, diag.field, strlen(diag.field));
    hash = gpump_hash_u64(gpump_hash_u64(hash, (uint64_t)(int64_t)diag.code), diag.index);
    return gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(hash, diag.value), diag.minimum), diag.maximum);
}

/* Walks from fixed seeds, every third of them late: every answer and what it hands back, states on the way as a
 * hash, and the counters at the end; then what the checks say of altered memory. Both are as they were: in decisions,
 * beside this file. */
static void decide(const component *one, decisions *outputs) {
    static altered_tally tally;
    decisions all = decisions_begin(200);
    char path[200];
    uint32_t walk_number, step;
    memset(&tally, 0, sizeof tally);
    for (walk_number = 0; walk_number < WALKS; walk_number++) {
        uint64_t answers = GPUMP_HASH_SEED, handed = GPUMP_HASH_SEED, value;
        size_t bytes;
        const char *name, *unit, *says;
        uint32_t field;
        random_state = 77 + walk_number;
        cycle = walk_number % 3 == 2 ? LATE : 0;
        latest = sequence = switch_moved = unmap_page = unmap_process = remote_page = remote_process = 0;
        bytes = one->make();
        for (step = 0; step < 1000; step++) {
            memset(&diag, 0, sizeof diag);
            memset(output, 0, sizeof output);
            answers = gpump_hash_u64(answers, (uint64_t)(int64_t)one->call(memory));
            for (size_t i = 0; i < OUTPUTS; i++)
                if (output[i]) handed = gpump_hash_u64(gpump_hash_u64(handed, i), output[i]);
            answers = hash_diag(answers);
            if (step % 8 == 7) answers = gpump_hash_u64(answers, gpump_hash(one->component, memory));
        }
        decided(&all, "walk %" PRIu32 ": 0x%016" PRIx64, walk_number, answers);
        decided(outputs, "%s, walk %" PRIu32 ": 0x%016" PRIx64, one->name, walk_number, handed);
        memset(before, 0, sizeof before);
        if (one->counters) one->counters(memory, before);
        for (field = 0; one->counters; field++) {
            if (gpump_statistics_field(one->component, before, field, &name, &unit, &says, &value)) break;
            decided(&all, "  %s %" PRIu64, name, value);
        }
        if (walk_number < 3) alter(one, &tally, bytes, walk_number);
    }
    snprintf(path, sizeof path, "tests/model/decisions/walk_%s.txt", one->name);
    if (sizeof(void *) == 8 && decisions_differ(&all, path)) fail_msg("%s answers otherwise", one->name);
    if (is_little_endian()) altered_compare(&tally, "model", one->name); /* each walk alters a third of all bytes */
}

/* What the calls of each component answer, count and check stays as written down in tests/model/decisions. */
static void answers_counters_and_checks_are_as_they_were(void **state) {
    decisions outputs = decisions_begin(300);
    (void)state;
    for (uint32_t i = 0; i < sizeof components / sizeof components[0]; i++) decide(&components[i], &outputs);
    if (sizeof(void *) != 8 || !is_little_endian()) /* outputs are hashed as a little-endian machine has them */
        free(outputs.text);
    else if (decisions_differ(&outputs, "tests/model/decisions/outputs.txt"))
        fail_msg("a call hands back something else");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_call_at_any_time_is_safe),
                                       cmocka_unit_test(answers_counters_and_checks_are_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
