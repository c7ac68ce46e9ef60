/* labels: equivalence slow link: minigpu_core */
/* How blocks leave an SM of the mini-GPU while warps of theirs are faulted, or replay: one test per technique, one case
 * per exception pipeline and moment, as the table of docs/exceptions.md says; tests/fault/interactions.c tries the same
 * cells on the components alone. All pages of all buffers are absent at first. The result is that of the undisturbed
 * run, or the request is refused; who must wait for pages waits, and nobody else does. Page checks by code (Kim) are
 * tested by tests/minigpu/page_checks_run.c, invalid accesses by tests/minigpu/fault_unit.c, preemptions at any cycle
 * by tests/minigpu/faults_preempted.c. GPUMP_TEST_CASES scales the number of moments. */
#include "test.h"

#include "analysis/analysis.h"
#include "parts/fault_unit/fault_unit.h"
#include "parts/faults/fault_state.h"
#include "parts/faults/tlb.h"
#include "preemption/context_forms.h"
#include "preemption/kill.h"
#include "preemption/preempted.h"
#include "preemption/preemption.h"
#include "tools/check.h"

enum { VICTIM, INTRUDER, SERVICE_NS = 50000, LONG_CYCLES = 30000, REPLAYS_WITHIN = 400 };

typedef enum way { DRAIN, FLUSH, SWITCH, IN_PLACE, REWIND, KILL, WAYS } way;
static const char *const way_names[WAYS] = {"drain", "flush", "switch", "in place", "rewind", "kill"};
static const uint32_t techniques[WAYS] = {GPUMP_TECHNIQUE_DRAIN,  GPUMP_TECHNIQUE_FLUSH,  GPUMP_TECHNIQUE_SWITCH,
                                          GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_REWIND, 0};
static const char *const schemes[] = {"stall", "wd_commit", "wd_check", "queue", "log8", "log16", "regions"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };
static const char *const configs[] = {"issue_queue_entries=40,l1_tlb_entries=8,memory_queue_entries=20",
                                      "memory_model=0"};

/* What was seen of a cell. */
typedef struct cell {
    uint32_t cases, refused, early, late, parked;
    uint64_t cancelled; /* waits of blocks that left without their pages */
} cell;

static machine *build(launch_file *launch, const char *scheme, way how, uint32_t which) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    options.in_place = how == IN_PLACE;
    options.config = configs[which % 2];
    options.absent = options.faults.absent = "all";
    options.faults.scheme = scheme;
    options.fault_service_ns = SERVICE_NS;
    if (how == FLUSH || how == KILL) options.faults.link = "nvlink"; /* the unit counts who waits */
    if (!strcmp(scheme, "regions")) {
        options.regions = REGIONS_SPARSE;
        options.context_form = CONTEXT_LIVE;
    }
    snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR,
             how == IN_PLACE ? "in_place" : "hotspot");
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

/* The run without a preemption: its length and result. The machine is back at cycle 0 afterwards. */
static uint64_t undisturbed(machine *m, const launch_file *launch, uint64_t *end) {
    void *start = arena_checkpoint(&m->arena);
    uint64_t hash;
    assert_non_null(start);
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    hash = machine_result_hash(m, launch);
    *end = m->kernels[VICTIM].end_cycle;
    arena_restore(&m->arena, start);
    free(start);
    return hash;
}

/* A warp of the victim that waits for a page; NULL. */
static const warp *faulted_warp(const machine *m) {
    uint32_t i, n;
    for (i = 0; i < m->block_count; i++)
        for (n = 0; m->blocks[i].life && m->blocks[i].kernel == VICTIM && n < m->blocks[i].warp_count; n++) {
            const warp *w = &m->warps[m->blocks[i].warps[n]];
            if (w->fault_address && w->fault_cycle > m->now) return w;
        }
    return NULL;
}

/* Runs until a warp has just faulted. */
static const warp *run_to_fault(machine *m, uint64_t from) {
    const warp *w;
    if (machine_run(m, from) != 0) return NULL;
    while (!(w = faulted_warp(m)))
        if (machine_run(m, m->now + 5) != 0) return NULL;
    return w;
}

/* Runs on until the warp's pages have come and, with a replay queue, its SM replays. Returns whether that was reached.
 */
static int run_to_replay(machine *m, const warp *w) {
    const sm *s = m->sms[w->sm];
    uint32_t i;
    while (w->fault_address && w->fault_cycle > m->now)
        if (machine_run(m, w->fault_cycle == NEVER ? m->now + 20 : w->fault_cycle) != 0) return 0;
    if (m->fault_scheme != GPUMP_REPLAY_QUEUE && m->fault_scheme != GPUMP_REPLAY_LOG)
        return machine_run(m, m->now + 1) == 0 && s->kernel_resident[VICTIM];
    for (i = 0; i < REPLAYS_WITHIN && !sm_faults_of(s)->replaying[0]; i++)
        if (machine_run(m, m->now + 1) != 0) return 0;
    return sm_faults_of(s)->replaying[0] != 0 && s->kernel_resident[VICTIM];
}

/* Checks that every wait for a page has ended one way or the other. Returns the waits that were cancelled. */
static uint64_t check_waits(const machine *m) {
    gpump_fault_statistics f;
    if (!fault_unit_of(m)) return 0;
    gpump_get_statistics(&gpump_fault_component, fault_unit_of(m)->fault, &f);
    assert_int_equal(f.waits, f.woken + f.cancelled);
    assert_int_equal(f.opened + f.prefetched, f.migrated + f.allocated + f.local + f.remote);
    assert_int_equal(gpump_check(&gpump_fault_component, fault_unit_of(m)->fault, NULL), GPUMP_OK);
    return f.cancelled;
}

static uint32_t flush_is_forbidden(const machine *m, const sm *s) {
    uint32_t i, forbidden = 0;
    for (i = 0; i < BLOCK_ENTRIES_MAX; i++)
        forbidden |= s->block_of_entry[i] != NONE && gpump_sm_may(s->gpump, m->blocks[s->block_of_entry[i]].ref,
                                                                  GPUMP_TECHNIQUE_FLUSH) == GPUMP_REASON_CLOBBERED;
    return forbidden;
}

static void kill_now(machine *m, const launch_file *launch, const char *what) {
    kernel_check checks[2];
    uint32_t i;
    m->kernels[INTRUDER].arrival_cycle = m->now;
    assert_true(preemption_kill_process(m, m->kernels[VICTIM].process) > 0);
    for (i = 0; i < m->block_count; i++)
        if (m->blocks[i].life) assert_int_not_equal(m->blocks[i].kernel, VICTIM);
    assert_true(preempted_first(m, VICTIM) == NONE && !m->kernels[VICTIM].resident);
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", what, m->error);
    (void)check_results(m, launch, checks);
    assert_int_equal(checks[INTRUDER].result, CHECK_RIGHT);
}

/* Preempts the warp's SM, lets the intruder in, and runs to the end. */
static void preempt(machine *m, const launch_file *launch, way how, const warp *w, uint64_t expected, cell *c,
                    const char *what) {
    sm *s = m->sms[w->sm];
    const uint64_t waits = w->fault_address && w->fault_cycle > m->now ? w->fault_cycle - m->now : 0;
    const uint32_t log = m->preemption_count, forbidden = flush_is_forbidden(m, s);
    gpump_sm_statistics statistics;
    gpump_reason reason;
    m->technique = techniques[how];
    reason = preemption_request(m, s, techniques[how], INTRUDER + 1, 1);
    if (how == FLUSH && (reason == GPUMP_REASON_CLOBBERED) != forbidden)
        fail_msg("%s: the flush bit says another thing than \"%s\"", what, gpump_reason_text(reason));
    if (reason != GPUMP_REASON_YES) {
        c->refused++;
        m->technique = GPUMP_TECHNIQUE_DRAIN;
        if (m->preemption_count != log || s->reserved_for) fail_msg("%s: refused and yet begun", what);
    }
    m->kernels[INTRUDER].only_reserved = reason == GPUMP_REASON_YES && how != IN_PLACE;
    m->kernels[INTRUDER].arrival_cycle = m->now;
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", what, m->error);
    if (machine_result_hash(m, launch) != expected) fail_msg("%s: another result", what);
    gpump_get_statistics(&gpump_sm_component, s->gpump, &statistics);
    assert_int_equal(statistics.parked, statistics.unparked);
    c->parked += statistics.parked;
    if (reason != GPUMP_REASON_YES || m->preemption_count == log || waits < LONG_CYCLES || waits == NEVER) return;
    if (m->preemptions[log].end_cycle - m->preemptions[log].request_cycle < waits)
        c->early++;
    else
        c->late++;
}

/* One cell: a technique and a scheme, for warps that are faulted or that replay. */
static cell try_cell(way how, uint32_t which, int replaying) {
    const uint64_t moments = test_cases(2);
    const char *const moment_names[] = {"faulted", "replaying"};
    uint64_t n;
    cell c;
    memset(&c, 0, sizeof c);
    for (n = 0; n < moments; n++) {
        launch_file launch;
        machine *m = build(&launch, schemes[which], how, (uint32_t)n);
        uint64_t end, expected = undisturbed(m, &launch, &end);
        char what[128];
        const warp *w = run_to_fault(m, end * n / (moments + 1));
        snprintf(what, sizeof what, "%s, %s, %s, moment %u", way_names[how], schemes[which], moment_names[replaying],
                 (unsigned)n);
        if (w && (!replaying || run_to_replay(m, w))) {
            c.cases++;
            if (how == KILL)
                kill_now(m, &launch, what);
            else
                preempt(m, &launch, how, w, expected, &c, what);
            c.cancelled += check_waits(m);
        }
        machine_free(m);
        launch_file_free(&launch);
    }
    print_message("%-9s %-9s %-9s %u cases, %u refused, %u before their pages came, %u after; %u parked\n",
                  way_names[how], schemes[which], moment_names[replaying], c.cases, c.refused, c.early, c.late,
                  c.parked);
    if (!c.cases) fail_msg("%s, %s, %s: no such moment", way_names[how], schemes[which], moment_names[replaying]);
    return c;
}

/* A block that waits for a page drains late, never early, and no drain is refused. */
static void test_drain(void **state) { /* begins when its pages are there */
    uint32_t i;
    (void)state;
    for (i = 0; i < SCHEMES; i++) {
        const cell c = try_cell(DRAIN, i, 0);
        assert_true(c.late && !c.early && !c.refused);
        assert_int_equal(try_cell(DRAIN, i, 1).refused, 0);
    }
}

/* Flushing blocks that wait for pages is refused only after they overwrote what they had read. */
static void test_flush(void **state) { /* the flush bit decides; waits are cancelled */
    uint32_t i, refused = 0, cases = 0;
    uint64_t cancelled = 0;
    (void)state;
    for (i = 0; i < 2 * SCHEMES; i++) {
        const cell c = try_cell(FLUSH, i / 2, (int)(i % 2));
        refused += c.refused;
        cancelled += c.cancelled;
        cases += c.cases;
    }
    assert_true(refused < cases);
    assert_true(cancelled > 0);
}

/* A block that waits for a page leaves early under every scheme but stall. */
static void test_switch(void **state) { /* under stall it waits for its pages, else it leaves at once */
    uint32_t i;
    (void)state;
    for (i = 0; i < SCHEMES; i++) {
        const cell c = try_cell(SWITCH, i, 0);
        assert_int_equal(c.refused, 0);
        if (i == 0)
            assert_true(c.late && !c.early);
        else
            assert_true(c.early && !c.late);
        assert_int_equal(try_cell(SWITCH, i, 1).refused, 0);
    }
}

/* Blocks that wait for pages are parked in place, and never refused. */
static void test_in_place(void **state) { /* registers and shared memory stay, replay queue and log leave */
    uint32_t i, parked = 0;
    (void)state;
    for (i = 0; i < 2 * SCHEMES; i++) {
        const cell c = try_cell(IN_PLACE, i / 2, (int)(i % 2));
        assert_int_equal(c.refused, 0);
        parked += c.parked;
    }
    assert_true(parked > 0);
}

/* Rewinding is refused without regions, and early with them. */
static void test_rewind(void **state) { /* only where there are regions */
    uint32_t i;
    (void)state;
    for (i = 0; i < 2 * SCHEMES; i++) {
        const cell c = try_cell(REWIND, i / 2, (int)(i % 2));
        if (i / 2 < SCHEMES - 1)
            assert_int_equal(c.refused, c.cases);
        else
            assert_true(!c.refused && !c.late && (i % 2 || c.early));
    }
}

/* A killed block's faults are served, and disturb nobody. */
static void test_kill(void **state) { /* whatever the flush bit; the other process is untouched */
    uint32_t i;
    (void)state;
    for (i = 0; i < 2 * SCHEMES; i++) (void)try_cell(KILL, i / 2, (int)(i % 2));
}

/* A block that returns before its page waits for the page again, and asks for nothing a second time: in each cycle in
 * which the unit has a wait of a running block, one of its warps waits. */
static void a_block_that_returns_before_its_page_waits(void **state) {
    launch_file launch;
    machine *m = build(&launch, "queue", KILL, 1);
    uint64_t end, seen = 0;
    const warp *w;
    (void)state;
    (void)undisturbed(m, &launch, &end);
    w = run_to_fault(m, end / 3);
    assert_non_null(w);
    m->technique = GPUMP_TECHNIQUE_SWITCH;
    assert_int_equal(preemption_request(m, m->sms[w->sm], GPUMP_TECHNIQUE_SWITCH, INTRUDER + 1, 1), GPUMP_REASON_YES);
    m->kernels[INTRUDER].only_reserved = 1;
    m->kernels[INTRUDER].arrival_cycle = m->now;
    while (m->now < end * 2 && machine_run(m, m->now + 1) == 0) {
        uint32_t i, n, waits;
        for (i = 0; i < m->block_count; i++) {
            const block *b = &m->blocks[i];
            if (!b->life || b->kernel != VICTIM || b->stopping || b->context != NEVER) continue;
            for (n = waits = 0; n < b->warp_count; n++) waits += m->warps[b->warps[n]].awaited_count != 0;
            if (!gpump_fault_pending(fault_unit_of(m)->fault, block_cookie(b))) continue;
            seen++;
            assert_true(waits > 0);
        }
    }
    assert_true(seen > 0 && m->kernels[VICTIM].resumed > 0);
    machine_free(m);
    launch_file_free(&launch);
}

/* An SM that another process takes finds an empty L1 TLB; an SM whose process stays keeps its entries. No page changes
 * here, so only a change of process invalidates. */
static void another_process_finds_an_empty_l1_tlb(void **state) {
    uint32_t same;
    (void)state;
    for (same = 0; same < 2; same++) {
        char error[LAUNCH_ERROR_BYTES];
        machine_options options;
        launch_file launch;
        gpump_tlb_statistics t;
        uint64_t forgotten = 0;
        uint32_t i;
        machine *m;
        machine_options_default(&options);
        options.config = "l1_tlb_entries=32";
        if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/tests/minigpu/option_sets/served.yaml", error))
            fail_msg("%s", error);
        if (same) launch.kernels[1].process = launch.kernels[0].process;
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
        assert_true(same || m->preemption_count > 0);
        for (i = 0; i < m->sm_count; i++) {
            gpump_get_statistics(&gpump_tlb_component, tlb_of_sm(m->sms[i]), &t);
            assert_true(t.hits > 0);
            forgotten += t.invalidated;
        }
        if (same)
            assert_int_equal(forgotten, 0);
        else
            assert_true(forgotten > 0);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* An SM that another process takes finds empty L1 places. An empty place has nothing to write back: a place that stayed
 * dirty would write back to address -128 when its next line gives way. */
static void another_process_finds_nothing_to_write_back(void **state) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    const cache_line *place;
    uint64_t step, dirty = 0;
    uint32_t i, n;
    int ended = 0;
    machine *m;
    (void)state;
    machine_options_default(&options);
    options.schedule = "time_slice";
    options.slice_ns = 8000;
    options.vacate = GPUMP_TECHNIQUE_SWITCH;
    if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/tests/minigpu/combinations/three.yaml", error))
        fail_msg("%s", error);
    if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    for (step = 100; !ended; step += 100) {
        if ((ended = machine_run(m, step)) < 0) fail_msg("%s", m->error);
        for (i = 0; i < m->sm_count; i++)
            for (n = 0; (place = l1_place(&m->sms[i]->l1, n)); n++) {
                if (place->dirty && l1_line_of(&m->sms[i]->l1, place) == NO_LINE)
                    fail_msg("cycle %u: SM %u: place %u is empty and dirty", (uint32_t)m->now, i, n);
                dirty += place->dirty;
            }
    }
    assert_true(dirty > 0 && m->preemption_count > 0);
    machine_free(m);
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drain),
                                       cmocka_unit_test(test_flush),
                                       cmocka_unit_test(test_switch),
                                       cmocka_unit_test(test_in_place),
                                       cmocka_unit_test(test_rewind),
                                       cmocka_unit_test(test_kill),
                                       cmocka_unit_test(another_process_finds_an_empty_l1_tlb),
                                       cmocka_unit_test(another_process_finds_nothing_to_write_back),
                                       cmocka_unit_test(a_block_that_returns_before_its_page_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
