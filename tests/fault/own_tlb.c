/* labels: unit */
/* A TLB of the host's own in front of gpump_fault (docs/hosting.md, step 12): a fill satisfies its waiters, or two
 * warps evict each other's translations for ever. */
#include "test.h"

enum { WARPS = 2, ACCESSES = 20, WALK = 4, REPLAY = 8, SECOND_WARP = 5, PATIENCE = 100000 };
typedef struct warp {
    uint64_t looks_up, walk_ends; /* cycles; GPUMP_UNKNOWN: not under way */
    uint32_t done; /* accesses that have been translated; all of them are to the page of the warp's number */
} warp;

static gpump_fault *make_fault(void) {
    static uint64_t memory[1 << 10];
    gpump_fault_config config;
    gpump_fault *fault;
    assert_int_equal(gpump_preset(&gpump_fault_component, &config, "ideal", NULL), GPUMP_OK);
    config.sms = config.processes = config.ranges = config.granule_pages = 1;
    config.granules = config.faults = config.waiters = WARPS;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &fault, NULL), GPUMP_OK);
    assert_int_equal(gpump_fault_map(fault, 0, 0, WARPS, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    return fault;
}

/* The translation of page `number` has come: it takes the only entry, and the access of warp `number` either proceeds
 * with it or looks up again once it has been issued again. */
static void fill(warp *warps, uint32_t *entry, uint64_t now, uint32_t number, int satisfies) {
    warp *w = &warps[number];
    *entry = number;
    w->done += satisfies != 0;
    w->looks_up = w->done == ACCESSES ? GPUMP_UNKNOWN : now + REPLAY;
}

/* Two warps behind a TLB of one entry. Returns the cycles until both have done all accesses; *walks: of the page
 * table. */
static uint64_t run(int satisfies, uint32_t *walks) {
    gpump_fault *fault = make_fault();
    warp warps[WARPS] = {{0, GPUMP_UNKNOWN, 0}, {SECOND_WARP, GPUMP_UNKNOWN, 0}};
    uint32_t entry = GPUMP_NONE, outcome, is_present[WARPS] = {0, 0};
    uint64_t now;
    for (*walks = 0, now = 0; now < PATIENCE && warps[0].done + warps[1].done < WARPS * ACCESSES; now++) {
        gpump_fault_action action;
        while (gpump_fault_next(fault, now, &action) == GPUMP_OK) {
            if (action.kind == GPUMP_FAULT_ACT_MAP) is_present[action.page] = 1;
            if (action.kind == GPUMP_FAULT_ACT_WAKE) fill(warps, &entry, now, (uint32_t)action.page, satisfies);
        }
        for (uint32_t number = 0; number < WARPS; number++) {
            warp *w = &warps[number];
            gpump_fault_access access;
            if (w->looks_up == now && entry == number) { /* a hit */
                w->done++;
                w->looks_up = w->done == ACCESSES ? GPUMP_UNKNOWN : now + 1;
            } else if (w->looks_up == now) {
                w->looks_up = GPUMP_UNKNOWN;
                w->walk_ends = now + WALK;
                ++*walks;
            }
            if (w->walk_ends != now) continue;
            w->walk_ends = GPUMP_UNKNOWN;
            if (is_present[number]) {
                fill(warps, &entry, now, number, satisfies);
                continue;
            }
            memset(&access, 0, sizeof access);
            access.page = access.cookie = access.warp = number;
            access.rights = GPUMP_TLB_READ;
            assert_int_equal(gpump_fault_report(fault, now, &access, &outcome), GPUMP_OK);
        }
    }
    return now;
}

/* A fill of the host's own TLB answers all warps that wait for the page, so that no access walks twice. */
static void a_fill_satisfies_its_waiters(void **state) {
    uint32_t walks;
    (void)state;
    assert_true(run(1, &walks) < PATIENCE);
    assert_true(walks <= WARPS * ACCESSES); /* no access walks twice */
}

/* The mistake that the rule prevents: each warp's translation is evicted before its access looks up again. */
static void a_second_look_up_may_never_hit(void **state) {
    uint32_t walks;
    (void)state;
    assert_int_equal(run(0, &walks), PATIENCE);
    assert_true(walks > PATIENCE / (WALK + REPLAY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fill_satisfies_its_waiters),
        cmocka_unit_test(a_second_look_up_may_never_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
