/* host_faults: page faults in a whole host of one SM, cycle by cycle, in C.
 *
 * Eight warps of a block load from 16 pages that the CPU holds. gpump_replay decides what the pipeline does so that a
 * warp whose access faults can leave the SM. gpump_fault says when each page arrives. The program runs under four
 * exception pipelines (Tanasic chapter 6) and prints in how many cycles all warps were out of the pipeline, so that
 * another block could have run in their place.
 *
 * The host owns the instructions, the page table and time. It executes an instruction when it issues, as GPGPU-Sim
 * does: a load that is issued again from the replay queue is not executed again. `run` goes through the five steps of a
 * cycle; steps 7 and 8 of docs/hosting.md say where each call belongs in a simulator. */
#define GPUMP_IMPLEMENTATION
#include "gpump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARPS = 8, LENGTH = 64, PAGES = 16, CHECK = 6, DATA = 40 }; /* CHECK and DATA: cycles of a load's two halves */
typedef struct load {         /* a load in the pipeline, by its handle: warp x GPUMP_REPLAY_WINDOW + a number */
    uint64_t checks, commits; /* cycles of its last check and of its commit; GPUMP_UNKNOWN: not known */
    uint32_t pc, is_waiting;  /* is_waiting: 1: the load has faulted, and waits in place */
} load;

static load loads[WARPS * GPUMP_REPLAY_WINDOW];
static uint32_t pcs[WARPS], executed;
static uint32_t awaited[WARPS];    /* the pages that the warp has faulted on, as bits */
static uint32_t is_present[PAGES]; /* the page table */
static gpump_replay *replay;
static gpump_fault *fault;
static uint64_t now;
static gpump_diag diag;

/* Ends the program when a call fails, with the call and its diagnostic. */
#define MUST(call) must(#call, call)
static void must(const char *call, gpump_result result) {
    char text[256];
    if (result == GPUMP_OK) return;
    diag.code = result;
    gpump_diag_text(&diag, text, sizeof text);
    fprintf(stderr, "%s: %s\n", call, text);
    exit(1);
}

static uint32_t page_of(uint32_t warp, uint32_t pc) { return (warp + pc / 8) % PAGES; }

/* Step 1: pages arrive, and the warps that wait for them replay. Under STALL a load waits in place, and looks again. */
static void arrive(void) {
    gpump_fault_action a;
    while (now >= gpump_next_cycle(&gpump_fault_component, fault) && gpump_fault_next(fault, now, &a) == GPUMP_OK) {
        if (a.kind == GPUMP_FAULT_ACT_MAP) is_present[a.page] = 1;
        if (a.kind != GPUMP_FAULT_ACT_WAKE) continue;
        for (uint64_t warps = a.warps; warps; warps &= warps - 1) {
            const uint32_t warp = gpump_bits_lowest64(warps);
            awaited[warp] &= ~(1u << a.page);
            if (!awaited[warp]) MUST(gpump_replay_report_served(replay, warp));
            for (load *l = &loads[warp * GPUMP_REPLAY_WINDOW]; l < &loads[(warp + 1) * GPUMP_REPLAY_WINDOW]; l++)
                if (l->is_waiting && page_of(warp, l->pc) == a.page) l->is_waiting = 0, l->checks = now + 1;
        }
    }
}

static void take_effect(uint32_t handle) { loads[handle].commits = now + DATA; }

/* Step 2: the last check of a load: its page is present, or the load faults. */
static void check(uint32_t handle) {
    const uint32_t warp = handle / GPUMP_REPLAY_WINDOW, page = page_of(warp, loads[handle].pc);
    gpump_reason answer;
    uint32_t outcome;
    loads[handle].checks = GPUMP_UNKNOWN;
    if (is_present[page]) {
        MUST(gpump_replay_report_checked(replay, handle, &answer));
        if (answer == GPUMP_REASON_YES) take_effect(handle);
    } else {
        gpump_fault_access access = {.page = page, .warp = warp, .rights = GPUMP_TLB_READ};
        MUST(gpump_replay_report_faulted(replay, handle));
        MUST(gpump_fault_report(fault, now, &access, &outcome));
        loads[handle].is_waiting = 1;
        awaited[warp] |= 1u << page;
    }
}

/* Step 3: a load commits. */
static void commit(uint32_t handle) {
    loads[handle].commits = GPUMP_UNKNOWN;
    MUST(gpump_replay_report_committed(replay, handle));
}

static void enter_pipeline(uint32_t handle, uint32_t pc) {
    loads[handle].checks = now + CHECK;
    loads[handle].pc = pc;
}

/* Step 4: a warp issues. The instructions of its replay queue come first, in program order. */
static void issue(uint32_t warp) {
    gpump_replay_entry entry = {pcs[warp], 0xffffffff, pcs[warp], GPUMP_REPLAY_LOAD, gpump_replay_log_units(0, 0), 0};
    uint32_t handles[GPUMP_REPLAY_WINDOW], handle, count;
    if (gpump_replay_state_of(replay, warp) == GPUMP_REPLAY_REPLAY) {
        MUST(gpump_replay_pending(replay, warp, handles, GPUMP_REPLAY_WINDOW, &count));
        if (gpump_replay_may_reissue(replay, handles[0]) != GPUMP_REASON_YES) return;
        MUST(gpump_replay_report_reissued(replay, handles[0]));
        enter_pipeline(handles[0], gpump_replay_look(replay, handles[0]).pc);
        return;
    }
    if (pcs[warp] == LENGTH || gpump_replay_may(replay, warp, GPUMP_REPLAY_TO_FETCH) != GPUMP_REASON_YES) return;
    if (pcs[warp] % 4 == 0) { /* every fourth instruction is a load */
        if (gpump_replay_may_issue_memory(replay, warp, entry.log_units) != GPUMP_REASON_YES) return;
        gpump_replay_report_fetched(replay, warp, entry.sequence);
        MUST(gpump_replay_report_issued(replay, warp, &entry, &handle));
        enter_pipeline(handle, pcs[warp]);
    } else if (gpump_replay_may(replay, warp, GPUMP_REPLAY_TO_ISSUE) != GPUMP_REASON_YES)
        return;
    pcs[warp]++, executed++;
}

/* Step 5: what gpump_replay orders. */
static void obey(void) {
    gpump_replay_action a;
    while (gpump_replay_has_actions(replay) && gpump_replay_next(replay, &a) == GPUMP_OK) {
        if (a.kind == GPUMP_REPLAY_ACT_EFFECT) take_effect(a.entry);
        if (a.kind == GPUMP_REPLAY_ACT_SQUASH || a.kind == GPUMP_REPLAY_ACT_REFETCH)
            loads[a.entry].checks = loads[a.entry].commits = GPUMP_UNKNOWN, loads[a.entry].is_waiting = 0;
        if (a.kind == GPUMP_REPLAY_ACT_REFETCH) executed -= pcs[a.warp] - a.what.pc, pcs[a.warp] = a.what.pc;
        if (a.kind == GPUMP_REPLAY_ACT_DRAINED) /* this host fetches again what it had fetched and not issued */
            MUST(gpump_replay_report_unissued(replay, a.warp, NULL, 0));
    }
}

static int has_ended(uint32_t warp) {
    return pcs[warp] == LENGTH && gpump_replay_may(replay, warp, GPUMP_REPLAY_TO_SYNCHRONISE) == GPUMP_REASON_YES;
}
/* 1: nothing of the warp is in the pipeline, now or soon: it is held until its pages are there, or has ended. */
static int is_out(uint32_t warp) { return has_ended(warp) || gpump_replay_state_of(replay, warp) == GPUMP_REPLAY_HELD; }
static int all_warps(int (*is_so)(uint32_t warp)) {
    uint32_t warp = 0;
    while (warp < WARPS && is_so(warp)) warp++;
    return warp == WARPS;
}

static void make(const char *scheme) {
    static uint64_t replay_memory[1 << 14], fault_memory[1 << 12];
    gpump_replay_config replay_config;
    gpump_fault_config config;
    MUST(gpump_preset(&gpump_replay_component, &replay_config, scheme, &diag));
    replay_config.warps = WARPS;
    MUST(gpump_init(&gpump_replay_component, replay_memory, sizeof replay_memory, &replay_config, &replay, &diag));
    MUST(gpump_preset(&gpump_fault_component, &config, "nvlink", &diag));
    config.sms = config.processes = config.ranges = config.granule_pages = 1;
    config.granules = config.faults = config.waiters = PAGES;
    MUST(gpump_init(&gpump_fault_component, fault_memory, sizeof fault_memory, &config, &fault, &diag));
    MUST(gpump_fault_map(fault, 0, 0, PAGES, GPUMP_FAULT_CPU, GPUMP_TLB_READ));
    MUST(gpump_replay_set_blocks(replay, 1));
    for (uint32_t warp = 0; warp < WARPS; warp++) MUST(gpump_replay_open(replay, warp, 0));
    for (uint32_t i = 0; i < WARPS * GPUMP_REPLAY_WINDOW; i++) loads[i].checks = loads[i].commits = GPUMP_UNKNOWN;
    memset(pcs, 0, sizeof pcs);
    memset(is_present, 0, sizeof is_present);
    executed = 0;
}

static void run(const char *scheme) {
    uint64_t vacant = 0;
    make(scheme);
    for (now = 0; !all_warps(has_ended); now++) {
        arrive();
        for (uint32_t i = 0; i < WARPS * GPUMP_REPLAY_WINDOW; i++) {
            if (loads[i].checks == now) check(i);
            if (loads[i].commits == now) commit(i);
        }
        for (uint32_t warp = 0; warp < WARPS; warp++) issue(warp);
        obey();
        if (all_warps(is_out) && !all_warps(has_ended)) vacant++;
    }
    printf("%-9s %6" PRIu64 " cycles, %6" PRIu64 " of them free for another block; %" PRIu32 " instructions\n", scheme,
           now, vacant, executed);
}

int main(void) {
    run("stall");
    run("wd_check");
    run("queue");
    run("log16");
    return 0;
}
