/* labels: unit property */
/* local_code: handlers that the host runs as code (Tanasic 6.4.2): every fault calls the handler of its SM first, one
 * at a time, and the handler maps the granule or asks the CPU. */
#include "test.h"

enum { WORDS = 1 << 18, SMS = 4, GRANULES = 48, PAGES = 16 };
static uint64_t memory[WORDS];

static gpump_fault *make(gpump_fault_config *config) {
    gpump_fault *f;
    assert_int_equal(gpump_preset(&gpump_fault_component, config, "nvlink", NULL), GPUMP_OK);
    config->sms = SMS;
    config->faults = 24;
    config->waiters = 200;
    config->granules = GRANULES;
    config->local = GPUMP_FAULT_LOCAL_CODE;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, config, &f, NULL), GPUMP_OK);
    return f;
}
static gpump_result report(gpump_fault *f, uint64_t now, uint64_t granule, uint32_t sm, uint32_t *outcome) {
    gpump_fault_access access;
    memset(&access, 0, sizeof access);
    access.page = granule * PAGES;
    access.cookie = sm;
    access.sm = sm;
    access.rights = GPUMP_TLB_READ;
    return gpump_fault_report(f, now, &access, outcome);
}
static void check(gpump_fault *f) {
    gpump_diag diag;
    if (gpump_check(&gpump_fault_component, f, &diag)) fail_msg("%s", diag.field);
}

/* Two faults of an SM run one after the other; the one that asks takes the CPU's time from then on. */
static void two_faults_of_an_sm(void **state) {
    gpump_fault_config config;
    gpump_fault *f = make(&config);
    gpump_fault_action action;
    gpump_fault_statistics s;
    uint32_t outcome;
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 2 * PAGES, GPUMP_FAULT_UNALLOCATED, 1), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 0, 2 * PAGES, PAGES, GPUMP_FAULT_CPU, 1), GPUMP_OK);
    assert_int_equal(report(f, 10, 0, 1, &outcome), GPUMP_OK);
    assert_int_equal(report(f, 10, 1, 1, &outcome), GPUMP_OK);
    assert_int_equal(report(f, 11, 2, 1, &outcome), GPUMP_OK);
    assert_int_equal(gpump_fault_ready_cycle(f, 1), GPUMP_UNKNOWN);
    assert_int_equal(gpump_fault_report_local(f, 11, 0, 0, 1), GPUMP_ERROR_STATE); /* not handed over yet */
    assert_int_equal(gpump_fault_next(f, 12, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_FAULT_ACT_LOCAL);
    assert_int_equal(action.start, 12);
    assert_int_equal(action.end, GPUMP_UNKNOWN);
    assert_int_equal(gpump_fault_next(f, 500, &action), GPUMP_EMPTY); /* its SM runs one handler at a time */
    assert_int_equal(gpump_next_cycle(&gpump_fault_component, f), GPUMP_UNKNOWN);
    assert_int_equal(gpump_fault_report_local(f, 500, 0, PAGES, 1), GPUMP_ERROR_STATE); /* another granule */
    assert_int_equal(gpump_fault_report_local(f, 500, 0, 0, 2), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_report_local(f, 499, 0, 0, 1), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_fault_report_local(f, 500, 0, 0, 1), GPUMP_OK);
    check(f);
    assert_int_equal(gpump_fault_next(f, 500, &action), GPUMP_OK); /* LOCAL of granule 1 */
    assert_int_equal(action.page, PAGES);
    assert_int_equal(gpump_fault_next(f, 500, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_FAULT_ACT_MAP);
    assert_int_equal(action.end, 500);
    assert_int_equal(gpump_fault_report_local(f, 700, 0, PAGES, 0), GPUMP_OK); /* the list of frames is empty */
    check(f);
    assert_int_equal(gpump_fault_next(f, 700, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_FAULT_ACT_LOCAL);
    assert_int_equal(gpump_fault_report_local(f, 900, 0, 2 * PAGES, 1), GPUMP_ERROR_STATE); /* the CPU has its data */
    assert_int_equal(gpump_fault_report_local(f, 900, 0, 2 * PAGES, 0), GPUMP_OK);
    assert_int_equal(gpump_fault_ready_cycle(f, 1), 700 + 10000 + 12000);
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.local, 1);
    assert_int_equal(s.allocated, 1);
    assert_int_equal(s.migrated, 1);
    check(f);
}

/* What a plain model knows of a granule. */
typedef struct granule {
    uint32_t owner, open, runs, sm, mapped;
    uint64_t mapped_at, asked_at;
} granule;

/* Random faults and handlers: an SM runs one handler at a time, and each granule is mapped once, by who said so. */
static void storms_with_handlers(void **state) {
    const uint64_t steps = test_cases(20000);
    uint64_t now = 0, random = test_seed() * 7919 + 5, number, local = 0, asked = 0;
    uint32_t running[SMS], i, outcome, mapped = 0, opened = 0;
    granule granules[GRANULES];
    gpump_fault_config config;
    gpump_fault *f = make(&config);
    gpump_fault_action action;
    (void)state;
    memset(running, 0, sizeof running);
    memset(granules, 0, sizeof granules);
    for (i = 0; i < GRANULES; i++) {
        granules[i].owner = i % 2;
        assert_int_equal(gpump_fault_map(f, 0, i * PAGES, PAGES, granules[i].owner, 1), GPUMP_OK);
    }
    for (number = 0; number < steps; number++) {
        granule *g = &granules[i = gpump_random_below(&random, GRANULES)];
        const uint32_t sm = gpump_random_below(&random, SMS);
        now += gpump_random_below(&random, 300);
        if (gpump_random_below(&random, 2)) {
            if (report(f, now, i, sm, &outcome) == GPUMP_OK && outcome == GPUMP_FAULT_OPENED) {
                test_check(!g->open && !g->mapped, test_seed(), number);
                g->open = 1;
                g->sm = sm;
                opened++;
            }
        } else if (g->runs) {
            const uint32_t maps = g->owner == GPUMP_FAULT_UNALLOCATED && gpump_random_below(&random, 3);
            test_check(gpump_fault_report_local(f, now, 0, i * PAGES, maps) == GPUMP_OK, test_seed(), number);
            g->runs = running[g->sm] = 0;
            g->mapped_at = maps ? now : 0;
            g->asked_at = maps ? 0 : now;
            local += maps;
            asked += !maps;
        }
        while (gpump_fault_next(f, now, &action) == GPUMP_OK) {
            g = &granules[action.page / PAGES];
            if (action.kind == GPUMP_FAULT_ACT_LOCAL) {
                test_check(g->open && !g->runs && action.sm == g->sm && !running[g->sm], test_seed(), number);
                g->runs = running[g->sm] = 1;
            } else if (action.kind == GPUMP_FAULT_ACT_MAP) {
                test_check(g->open && !g->mapped && (g->mapped_at ? action.end == g->mapped_at : g->asked_at > 0),
                           test_seed(), number);
                test_check(g->mapped_at || action.end >= g->asked_at + 10000, test_seed(), number);
                g->mapped = 1;
                mapped++;
            }
        }
        check(f);
        if (mapped < GRANULES || gpump_fault_unmap(f, 0) != GPUMP_OK) continue;
        for (i = 0, mapped = 0; i < GRANULES; i++) {
            memset(&granules[i], 0, sizeof granules[i]);
            granules[i].owner = gpump_random_below(&random, 2);
            assert_int_equal(gpump_fault_map(f, 0, i * PAGES, PAGES, granules[i].owner, 1), GPUMP_OK);
        }
    }
    printf("%u faults: %llu mapped by handlers, %llu asked the CPU\n", opened, (unsigned long long)local,
           (unsigned long long)asked);
    assert_true(opened > 20 && local > opened / 5 && asked > opened / 5);
}

/* Random faults where memory evicts: handlers map granules while their list has frames, and each eviction is answered.
 * The frames of both add up in gpump_check, and every fault is served. */
static void storms_with_eviction(void **state) {
    const uint64_t steps = test_cases(20000);
    uint64_t now = 0, random = test_seed() * 6151 + 3, number;
    uint32_t i, outcome, local = 0, evicted = 0, served = 0, opened = 0, lists = 0;
    gpump_fault_config config;
    gpump_fault_action action;
    gpump_fault *f;
    (void)state;
    (void)make(&config);
    for (number = 0; number < steps; number++) {
        if (number % 500 == 0) { /* a machine of its own, with another list */
            config.memory = 8 + gpump_random_below(&random, 16);
            config.touches = 4;
            config.local_frames = gpump_random_below(&random, config.memory - config.touches + 1);
            config.pins = gpump_random_below(&random, 2);
            assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, NULL), GPUMP_OK);
            lists += config.local_frames;
            local = 0;
            now = 0;
            for (i = 0; i < GRANULES; i++)
                assert_int_equal(gpump_fault_map(f, 0, i * PAGES, PAGES, i % 2, 1), GPUMP_OK);
        }
        now += gpump_random_below(&random, 20000);
        if (report(f, now, gpump_random_below(&random, GRANULES), gpump_random_below(&random, SMS), &outcome) ==
            GPUMP_OK)
            opened += outcome == GPUMP_FAULT_OPENED;
        while (gpump_fault_next(f, now, &action) == GPUMP_OK) {
            const uint32_t is_new = action.owner == GPUMP_FAULT_UNALLOCATED;
            if (action.kind == GPUMP_FAULT_ACT_LOCAL) {
                const uint32_t maps = is_new && local < config.local_frames;
                if (is_new && !maps)
                    test_check(gpump_fault_report_local(f, now, 0, action.page, 1) == GPUMP_ERROR_STATE, test_seed(),
                               number);
                test_check(gpump_fault_report_local(f, now, 0, action.page, maps) == GPUMP_OK, test_seed(), number);
                local += maps;
            } else if (action.kind == GPUMP_FAULT_ACT_UNMAP) {
                test_check(gpump_fault_report_unmapped(f, now, 0, action.page, number % 2) == GPUMP_OK, test_seed(),
                           number);
                evicted++;
            } else if (action.kind == GPUMP_FAULT_ACT_MAP) {
                (void)gpump_fault_release(f, now, action.access.cookie, 0);
                served++;
            }
        }
        for (i = 0; i < SMS; i++) (void)gpump_fault_release(f, now, i, 0);
        check(f);
    }
    printf("%u faults opened, %u served, %u evictions, %u frames of handlers\n", opened, served, evicted, lists);
    assert_true(served > opened / 2 && evicted > 20);
}

/* The frames of a finite memory that the handlers do not have hold what one instruction touches. */
static void the_cpu_keeps_frames(void **state) {
    gpump_fault_config config;
    gpump_fault *f;
    gpump_diag diag;
    (void)state;
    (void)make(&config);
    config.memory = 100;
    config.local_frames = 100 - config.touches;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, NULL), GPUMP_OK);
    config.local_frames++;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "local_frames");
    config.local_frames = 1;
    config.memory = UINT32_MAX;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, NULL), GPUMP_ERROR_CONFIG);
    config.memory = 100;
    config.local = GPUMP_FAULT_LOCAL_FIXED;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, NULL), GPUMP_ERROR_CONFIG);
    config.local_frames = 0;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, NULL), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 0, 0, PAGES, GPUMP_FAULT_UNALLOCATED, 1), GPUMP_OK);
    assert_int_equal(gpump_fault_report_local(f, 1, 0, 0, 1), GPUMP_ERROR_STATE); /* no handler runs */
}

/* Pulls an action of this kind and page, and those before it; answers none. */
static void expect(gpump_fault *f, uint64_t now, uint32_t kind, uint64_t granule) {
    gpump_fault_action action;
    memset(&action, 0, sizeof action);
    do assert_int_equal(gpump_fault_next(f, now, &action), GPUMP_OK);
    while (action.kind != kind);
    assert_int_equal(action.page, granule * PAGES);
    check(f);
}

/* Three frames, of which the handlers have one: the first granule takes that, the second the CPU's. A third one evicts
 * the granule that the handler has mapped, and the CPU gets that frame. */
static void a_handler_maps_its_own_frames_only(void **state) {
    gpump_fault_config config;
    gpump_fault *f;
    uint32_t outcome, i;
    (void)state;
    (void)make(&config);
    config.memory = 3;
    config.touches = 2;
    config.local_frames = 1;
    config.pins = 0;
    assert_int_equal(gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, NULL), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 0, 0, 8 * PAGES, GPUMP_FAULT_UNALLOCATED, 1), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 1, 0, 3 * PAGES, GPUMP_FAULT_GPU, 1),
                     GPUMP_ERROR_FULL); /* one is the handlers' */
    for (i = 0; i < 4; i++) {
        const uint64_t now = 100000 * (i + 1);
        assert_int_equal(report(f, now, i, 0, &outcome), GPUMP_OK);
        expect(f, now, GPUMP_FAULT_ACT_LOCAL, i);
        assert_int_equal(gpump_fault_report_local(f, now, 0, i * PAGES, 1), i ? GPUMP_ERROR_STATE : GPUMP_OK);
        if (i) assert_int_equal(gpump_fault_report_local(f, now, 0, i * PAGES, 0), GPUMP_OK);
        check(f);
        if (i == 3) {
            expect(f, now, GPUMP_FAULT_ACT_UNMAP, 0);
            assert_int_equal(gpump_fault_report_unmapped(f, now, 0, 0, 0), GPUMP_OK);
        }
        expect(f, now + 50000, GPUMP_FAULT_ACT_MAP, i);
        expect(f, now + 50000, GPUMP_FAULT_ACT_WAKE, i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_faults_of_an_sm),
        cmocka_unit_test(storms_with_handlers),
        cmocka_unit_test(storms_with_eviction),
        cmocka_unit_test(the_cpu_keeps_frames),
        cmocka_unit_test(a_handler_maps_its_own_frames_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
