/* labels: unit property */
/* fault: what each preset costs, who is woken when, and storms in which no fault is lost and none served twice. */
#include "test.h"

enum { WORDS = 1 << 20 };
static uint64_t memory[WORDS];

static gpump_fault *make(const char *preset, gpump_fault_config *config) {
    gpump_fault *f;
    assert_int_equal(gpump_preset(&gpump_fault_component, config, preset, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, config, &f, NULL), GPUMP_OK);
    return f;
}
static uint32_t report(gpump_fault *f, uint64_t now, uint32_t process, uint64_t page, uint64_t cookie, uint32_t warp) {
    gpump_fault_access access;
    uint32_t outcome = 99;
    memset(&access, 0, sizeof access);
    access.page = page;
    access.address = page << 12;
    access.cookie = cookie;
    access.process = process;
    access.sm = (uint32_t)(cookie % 16);
    access.warp = warp;
    access.rights = GPUMP_TLB_READ;
    assert_int_equal(gpump_fault_report(f, now, &access, &outcome), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    return outcome;
}
static gpump_fault_action expect(gpump_fault *f, uint64_t now, uint32_t kind) {
    gpump_fault_action action;
    gpump_diag diag;
    assert_int_equal(gpump_fault_next(f, now, &action), GPUMP_OK);
    assert_int_equal(action.kind, kind);
    if (gpump_check(&gpump_fault_component, f, &diag)) fail_msg("%s", diag.field);
    return action;
}

/* Tanasic 6.5.3: a fault that migrates, one that allocates, and the same two when they wait for each other. */
static void test_printed_costs(void **state) {
    static const struct {
        const char *preset;
        uint64_t migrate, allocate, both;
    } expected[] = {{"nvlink", 12000, 10000, 22000},
                    {"pcie3", 25000, 12000, 37000},
                    {"nvlink_local", 12000, 20000, 20000}, /* the SM allocates meanwhile */
                    {"pcie3_local", 25000, 20000, 25000},
                    {"ideal", 1, 1, 1}};
    (void)state;
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        gpump_fault_config config;
        for (uint32_t which = 1; which < 4; which++) {
            gpump_fault *f = make(expected[i].preset, &config);
            const uint64_t wanted = which == 1   ? expected[i].migrate
                                    : which == 2 ? expected[i].allocate
                                                 : expected[i].both;
            assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
            assert_int_equal(gpump_fault_map(f, 0, 64, 64, GPUMP_FAULT_UNALLOCATED, GPUMP_TLB_READ), GPUMP_OK);
            if (which & 1u) assert_int_equal(report(f, 100, 0, 3, 7, 0), GPUMP_FAULT_OPENED);
            if (which & 2u) assert_int_equal(report(f, 100, 0, 70, 7, 0), GPUMP_FAULT_OPENED);
            assert_int_equal(gpump_fault_ready_cycle(f, 7), 100 + wanted);
            assert_int_equal(gpump_fault_pending(f, 7), which == 3 ? 2 : 1);
            assert_int_equal(gpump_fault_ready_cycle(f, 8), 0);
        }
    }
}

/* A block whose page is there at cycle 0 waits, and 0 would say that it does not. */
static void a_block_that_waits_is_never_ready_at_cycle_0(void **state) {
    gpump_fault_config config;
    gpump_fault *f = make("ideal", &config);
    (void)state;
    config.migrate_cycles = config.migrate_busy_cycles = 0;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, NULL), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    assert_int_equal(report(f, 0, 0, 3, 7, 0), GPUMP_FAULT_OPENED);
    assert_int_equal(gpump_fault_pending(f, 7), 1);
    assert_int_equal(gpump_fault_ready_cycle(f, 7), 1);
    assert_int_equal(gpump_fault_ready_cycle(f, 8), 0);
}

/* One fault: opened, joined, announced to its SM, served, mapped and woken, at their cycles. */
static void one_fault_from_report_to_wake(void **state) {
    gpump_fault_config config;
    gpump_fault *f = make("nvlink_local", &config);
    gpump_fault_action action;
    gpump_fault_statistics s;
    (void)state;
    assert_int_equal(gpump_fault_map(f, 1, 160, 64, GPUMP_FAULT_UNALLOCATED, 3), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 1, 176, 16, GPUMP_FAULT_CPU, 3), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_fault_map(f, 1, 8, 16, GPUMP_FAULT_CPU, 3), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_map(f, 1, 0, 16, GPUMP_FAULT_CPU, 3), GPUMP_OK); /* before the other */
    assert_int_equal(report(f, 5, 1, 165, 33, 3), GPUMP_FAULT_OPENED);
    assert_int_equal(report(f, 6, 1, 175, 33, 5), GPUMP_FAULT_MERGED); /* the same 64 KB */
    assert_int_equal(report(f, 7, 1, 160, 44, 1), GPUMP_FAULT_MERGED);
    assert_int_equal(gpump_next_cycle(&gpump_fault_component, f), 7);
    action = expect(f, 8, GPUMP_FAULT_ACT_LOCAL);
    assert_int_equal(action.sm, 33 % 16);
    assert_int_equal(action.cookie, 33);
    assert_int_equal(action.warps, 1u << 3);
    assert_int_equal(action.end, 20005);
    assert_int_equal(gpump_fault_next(f, 20004, &action), GPUMP_EMPTY);
    assert_int_equal(gpump_next_cycle(&gpump_fault_component, f), 20005);
    action = expect(f, 20005, GPUMP_FAULT_ACT_MAP);
    assert_int_equal(action.page, 160);
    assert_int_equal(action.pages, 16);
    assert_int_equal(action.owner, GPUMP_FAULT_UNALLOCATED);
    assert_int_equal(action.rights, 3);
    assert_int_equal(report(f, 20005, 1, 161, 55, 0), GPUMP_FAULT_RETRY);
    action = expect(f, 20005, GPUMP_FAULT_ACT_WAKE);
    assert_int_equal(action.cookie, 33);
    assert_int_equal(action.warps, 1u << 3 | 1u << 5);
    assert_int_equal(expect(f, 20005, GPUMP_FAULT_ACT_WAKE).cookie, 44);
    assert_int_equal(gpump_fault_next(f, 20005, &action), GPUMP_EMPTY);
    assert_int_equal(gpump_next_cycle(&gpump_fault_component, f), GPUMP_UNKNOWN);
    assert_int_equal(gpump_fault_next(f, 20004, &action), GPUMP_ERROR_TIME);
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.reported, 4);
    assert_int_equal(s.opened, 1);
    assert_int_equal(s.merged, 2);
    assert_int_equal(s.retried, 1);
    assert_int_equal(s.local, 1);
    assert_int_equal(s.woken, 2);
    assert_int_equal(s.busy_cycles, 0);
}

/* An invalid access aborts its process once, and only that one. */
static void test_invalid_access(void **state) {
    gpump_fault_config config;
    gpump_fault *f = make("nvlink", &config);
    gpump_fault_action action;
    gpump_fault_access write;
    gpump_fault_statistics s;
    uint32_t outcome;
    (void)state;
    for (uint32_t process = 0; process < 3; process++)
        assert_int_equal(gpump_fault_map(f, process, 0, 32, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    assert_int_equal(report(f, 1, 0, 3, 10, 0), GPUMP_FAULT_OPENED);
    assert_int_equal(report(f, 1, 2, 3, 12, 0), GPUMP_FAULT_OPENED);
    assert_int_equal(report(f, 2, 1, 32, 11, 4), GPUMP_FAULT_INVALID);
    assert_int_equal(report(f, 3, 1, 33, 11, 4), GPUMP_FAULT_INVALID);
    action = expect(f, 3, GPUMP_FAULT_ACT_ABORT);
    assert_int_equal(action.process, 1);
    assert_int_equal(action.access.address, 32 << 12);
    assert_int_equal(action.access.warp, 4);
    assert_int_equal(gpump_fault_next(f, 3, &action), GPUMP_EMPTY);
    memset(&write, 0, sizeof write);
    write.process = 2;
    write.rights = GPUMP_TLB_WRITE; /* the buffer may only be read */
    assert_int_equal(gpump_fault_report(f, 4, &write, &outcome), GPUMP_OK);
    assert_int_equal(outcome, GPUMP_FAULT_INVALID);
    assert_int_equal(expect(f, 4, GPUMP_FAULT_ACT_ABORT).process, 2);
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.reported, 5);
    assert_int_equal(s.invalid, 3); /* each of them, also those of a process that is aborted already */
    assert_int_equal(gpump_fault_unmap(f, 2), GPUMP_BUSY); /* its fault is being served */
    assert_int_equal(gpump_fault_cancel(f, 12), GPUMP_OK);
    assert_int_equal(gpump_fault_cancel(f, 12), GPUMP_EMPTY);
    assert_int_equal(gpump_fault_unmap(f, 1), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    assert_int_equal(expect(f, 12001, GPUMP_FAULT_ACT_MAP).process, 0);
    assert_int_equal(expect(f, 12001, GPUMP_FAULT_ACT_WAKE).cookie, 10);
    assert_int_equal(expect(f, 24001, GPUMP_FAULT_ACT_MAP).process, 2); /* the service went on; nobody waits */
    assert_int_equal(gpump_fault_next(f, 24001, &action), GPUMP_EMPTY);
    assert_int_equal(gpump_fault_unmap(f, 2), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
}

/* More faults than waiters: a fault whose waiter was cancelled is served on, and its process cannot be unmapped. */
static void the_last_of_many_faults_keeps_its_process(void **state) {
    static uint64_t many[1 << 16];
    gpump_fault_config config;
    gpump_fault_access access;
    gpump_fault *f;
    uint32_t outcome;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_fault_component, &config, "nvlink", NULL), GPUMP_OK);
    config.processes = 4;
    config.ranges = 4;
    config.granules = 16;
    config.sms = 1;
    config.faults = 4;
    config.waiters = 1;
    assert_int_equal(gpump_init(&gpump_fault_component, many, sizeof many, &config, &f, NULL), GPUMP_OK);
    memset(&access, 0, sizeof access);
    access.rights = GPUMP_TLB_READ;
    for (uint32_t p = 0; p < 4; p++) {
        assert_int_equal(gpump_fault_map(f, p, 0, 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
        access.process = p;
        access.cookie = p;
        assert_int_equal(gpump_fault_report(f, 0, &access, &outcome), GPUMP_OK);
        assert_int_equal(outcome, GPUMP_FAULT_OPENED);
        assert_int_equal(gpump_fault_cancel(f, p), GPUMP_OK);
        for (uint32_t q = 0; q <= p; q++) assert_int_equal(gpump_fault_unmap(f, q), GPUMP_BUSY);
    }
}

/* ---- storms: a plain model beside it ---- */

enum { PROCESSES = 3, GRANULES = 40, BLOCKS = 24, SMS = 16 };
typedef struct storm {
    gpump_fault_config config;
    gpump_fault *f;
    uint64_t now, random, number;
    uint64_t end[PROCESSES][GRANULES];           /* of the open fault; 0: none */
    uint64_t waits[PROCESSES][GRANULES][BLOCKS]; /* warps of each block */
    uint32_t owner[PROCESSES][GRANULES];
    uint64_t opened, waiting, cancelled, served, cpu_free, sm_free[SMS];
} storm;

static void map_all(storm *s, uint32_t p) {
    for (uint32_t g = 0; g < GRANULES; g += 10) {
        const uint32_t owner = gpump_random_below(&s->random, 2);
        assert_int_equal(gpump_fault_map(s->f, p, g * 16, 160, owner, 3), GPUMP_OK);
        for (uint32_t k = 0; k < 10; k++) s->owner[p][g + k] = owner;
    }
}
/* When a fault that opens now will be served: one server for the CPU, one per SM. */
static uint64_t model_end(storm *s, uint32_t owner, uint32_t sm) {
    const gpump_fault_config *c = &s->config;
    const int local = c->local && owner == GPUMP_FAULT_UNALLOCATED;
    uint64_t *server = local ? &s->sm_free[sm] : &s->cpu_free, start = *server > s->now ? *server : s->now;
    *server = start + (local                      ? c->local_cycles
                       : owner == GPUMP_FAULT_CPU ? c->migrate_busy_cycles
                                                  : c->allocate_busy_cycles);
    return start + (local ? c->local_cycles : owner == GPUMP_FAULT_CPU ? c->migrate_cycles : c->allocate_cycles);
}
static void storm_report(storm *s) {
    const uint32_t p = gpump_random_below(&s->random, PROCESSES), g = gpump_random_below(&s->random, GRANULES);
    const uint32_t b = gpump_random_below(&s->random, BLOCKS);
    gpump_fault_access access;
    gpump_result result;
    uint32_t outcome = 99, wanted = s->end[p][g] ? GPUMP_FAULT_MERGED : GPUMP_FAULT_OPENED;
    memset(&access, 0, sizeof access);
    access.page = g * 16 + gpump_random_below(&s->random, 16);
    access.cookie = b;
    access.process = p;
    access.sm = b % SMS;
    access.warp = gpump_random_below(&s->random, 64);
    access.rights = 1 + gpump_random_below(&s->random, 3);
    if (s->owner[p][g] == GPUMP_FAULT_GPU) wanted = GPUMP_FAULT_RETRY;
    result = gpump_fault_report(s->f, s->now, &access, &outcome);
    if (result == GPUMP_BUSY) { /* only when a fault or a waiter is used up */
        test_check(s->waiting == s->config.waiters || s->opened - s->served >= s->config.faults, test_seed(),
                   s->number);
        return;
    }
    test_check(result == GPUMP_OK && outcome == wanted, test_seed(), s->number);
    if (outcome == GPUMP_FAULT_RETRY) return;
    s->waiting += !s->waits[p][g][b];
    s->waits[p][g][b] |= (uint64_t)1 << access.warp;
    if (outcome == GPUMP_FAULT_MERGED) return;
    s->opened++;
    s->end[p][g] = model_end(s, s->owner[p][g], access.sm);
    test_check(gpump_fault_ready_cycle(s->f, b) >= s->end[p][g], test_seed(), s->number);
}
/* Pulls what is due: each granule is mapped once, at its cycle, and each wait ends once, after that. */
static void storm_serve(storm *s) {
    gpump_fault_action a;
    uint64_t last = 0;
    while (gpump_fault_next(s->f, s->now, &a) == GPUMP_OK) {
        const uint64_t g = a.page / 16;
        if (a.kind == GPUMP_FAULT_ACT_LOCAL) continue;
        test_check(a.end <= s->now && a.end >= last, test_seed(), s->number);
        last = a.end;
        if (a.kind == GPUMP_FAULT_ACT_MAP) {
            test_check(s->end[a.process][g] == a.end && s->owner[a.process][g] == a.owner, test_seed(), s->number);
            s->owner[a.process][g] = GPUMP_FAULT_GPU;
            s->end[a.process][g] = 0;
            s->served++;
            continue;
        }
        test_check(a.kind == GPUMP_FAULT_ACT_WAKE && a.cookie < BLOCKS && a.warps, test_seed(), s->number);
        test_check(s->owner[a.process][g] == GPUMP_FAULT_GPU && s->waits[a.process][g][a.cookie] == a.warps,
                   test_seed(), s->number);
        s->waits[a.process][g][a.cookie] = 0;
        s->waiting--;
    }
    for (uint32_t p = 0; p < PROCESSES; p++) /* nobody is forgotten; a process that has all its pages begins again */
    {
        uint32_t there = 0;
        for (uint32_t g = 0; g < GRANULES; g++) {
            test_check(!s->end[p][g] || s->end[p][g] > s->now, test_seed(), s->number);
            there += s->owner[p][g] == GPUMP_FAULT_GPU;
        }
        if (there < GRANULES - 3 || gpump_fault_unmap(s->f, p) != GPUMP_OK) continue;
        map_all(s, p);
    }
}
static void storm_drop(storm *s, uint32_t b) {
    uint64_t waits = 0;
    for (uint32_t p = 0; p < PROCESSES; p++)
        for (uint32_t g = 0; g < GRANULES; g++) {
            waits += s->waits[p][g][b] != 0;
            s->waits[p][g][b] = 0;
        }
    test_check(gpump_fault_pending(s->f, b) == waits, test_seed(), s->number);
    test_check(gpump_fault_cancel(s->f, b) == (waits ? GPUMP_OK : GPUMP_EMPTY), test_seed(), s->number);
    s->waiting -= waits;
    s->cancelled += waits;
}

/* Reports, cancels and unmaps at random: each granule is mapped once and each wait ends once. */
static void storms_agree_with_a_plain_model(void **state) {
    static const char *const presets[] = {"nvlink", "pcie3_local", "ideal", "nvlink_local"};
    static storm storms;
    const uint64_t reports = test_cases(100000) / 20;
    uint64_t opened = 0;
    (void)state;
    for (uint64_t number = 0; number < 20; number++) {
        storm *s = &storms;
        gpump_fault_statistics t;
        memset(s, 0, sizeof *s);
        s->number = number;
        s->random = test_seed() * 7919 + number;
        s->now = 1;
        assert_int_equal(gpump_preset(&gpump_fault_component, &s->config, presets[number % 4], NULL), GPUMP_OK);
        s->config.granules = PROCESSES * GRANULES;
        s->config.faults = 5 + gpump_random_below(&s->random, 40);
        s->config.waiters = 10 + gpump_random_below(&s->random, 300);
        s->config.migrate_busy_cycles /= 1 + gpump_random_below(&s->random, 3); /* services overlap, or not */
        assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &s->config, &s->f, NULL), GPUMP_OK);
        for (uint32_t p = 0; p < PROCESSES; p++) map_all(s, p);
        for (uint64_t i = 0; i < reports; i++) {
            storm_report(s);
            if (!gpump_random_below(&s->random, 50)) storm_drop(s, gpump_random_below(&s->random, BLOCKS));
            if (!gpump_random_below(&s->random, 4)) {
                const uint64_t next = gpump_next_cycle(&gpump_fault_component, s->f);
                s->now = next != GPUMP_UNKNOWN && gpump_random_below(&s->random, 2) ? (next > s->now ? next : s->now)
                                                                                    : s->now + next % 9000;
                storm_serve(s);
            }
            gpump_get_statistics(&gpump_fault_component, s->f, &t);
            test_check(t.opened == s->opened && t.reported == t.opened + t.merged + t.retried, test_seed(), number);
            test_check(t.opened == t.migrated + t.allocated + t.local, test_seed(), number);
            test_check(t.waits == t.woken + t.cancelled + s->waiting && t.cancelled == s->cancelled, test_seed(),
                       number);
            if (!(i % 64)) test_check(gpump_check(&gpump_fault_component, s->f, NULL) == GPUMP_OK, test_seed(), number);
        }
        s->now += UINT64_C(1000000000);
        storm_serve(s); /* in the end nobody waits */
        test_check(s->served == s->opened && !s->waiting &&
                       gpump_next_cycle(&gpump_fault_component, s->f) == GPUMP_UNKNOWN,
                   test_seed(), number);
        opened += s->opened;
    }
    printf("%llu reports, %llu faults opened and served\n", (unsigned long long)(20 * reports),
           (unsigned long long)opened);
    assert_true(opened > reports);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_many_faults_keeps_its_process),
        cmocka_unit_test(test_printed_costs),
        cmocka_unit_test(a_block_that_waits_is_never_ready_at_cycle_0),
        cmocka_unit_test(one_fault_from_report_to_wake),
        cmocka_unit_test(test_invalid_access),
        cmocka_unit_test(storms_agree_with_a_plain_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
