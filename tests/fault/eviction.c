/* labels: unit property */
/* fault with memory for fewer granules than are mapped: who leaves, when a frame is free, that every program ends down
 * to the smallest legal memory, and storms with eviction in which no fault is lost and none served twice. */
#include "test.h"

enum { WORDS = 1 << 17 };
static uint64_t memory[WORDS];

static gpump_fault *make(const gpump_fault_config *config) {
    gpump_fault *f;
    gpump_diag diag;
    if (gpump_init(&gpump_fault_component, memory, sizeof memory, config, &f, &diag)) fail_msg("%s", diag.field);
    return f;
}
static gpump_fault_config small(const char *preset, uint32_t frames, uint32_t touches) {
    gpump_fault_config config;
    assert_int_equal(gpump_preset(&gpump_fault_component, &config, preset, NULL), GPUMP_OK);
    config.granules = 256;
    config.ranges = 8;
    config.faults = 128;
    config.waiters = 1024;
    config.memory = frames;
    config.touches = touches;
    return config;
}
static uint32_t report(gpump_fault *f, uint64_t now, uint64_t page, uint64_t cookie, uint32_t warp) {
    gpump_fault_access access;
    uint32_t outcome = 99;
    memset(&access, 0, sizeof access);
    access.page = page;
    access.cookie = cookie;
    access.warp = warp;
    access.rights = GPUMP_TLB_READ;
    assert_int_equal(gpump_fault_report(f, now, &access, &outcome), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    return outcome;
}
static gpump_fault_action expect(gpump_fault *f, uint64_t now, uint32_t kind, uint64_t page) {
    gpump_fault_action action;
    gpump_diag diag;
    assert_int_equal(gpump_fault_next(f, now, &action), GPUMP_OK);
    if (gpump_check(&gpump_fault_component, f, &diag)) fail_msg("%s", diag.field);
    assert_int_equal(action.kind, kind);
    assert_int_equal(action.page, page);
    return action;
}
static void nothing(gpump_fault *f, uint64_t now) {
    gpump_fault_action action;
    assert_int_equal(gpump_fault_next(f, now, &action), GPUMP_EMPTY);
}

/* Two frames, one process of four granules (16 pages each), served one at a time in 12 us. */
static void the_oldest_granule_leaves_when_the_next_one_comes(void **state) {
    gpump_fault_config config = small("nvlink", 2, 1);
    gpump_fault *f = make(&config);
    gpump_fault_statistics s;
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 1, 0, 48, GPUMP_FAULT_GPU, GPUMP_TLB_READ), GPUMP_ERROR_FULL);
    assert_int_equal(report(f, 0, 0, 1, 0), GPUMP_FAULT_OPENED); /* block 1, warp 0 becomes the holder */
    assert_int_equal(report(f, 0, 16, 2, 0), GPUMP_FAULT_OPENED);
    (void)expect(f, 12000, GPUMP_FAULT_ACT_MAP, 0);
    (void)expect(f, 12000, GPUMP_FAULT_ACT_WAKE, 0);
    (void)expect(f, 24000, GPUMP_FAULT_ACT_MAP, 16);
    (void)expect(f, 24000, GPUMP_FAULT_ACT_WAKE, 16);
    nothing(f, 24000);
    assert_int_equal(report(f, 30000, 32, 3, 0), GPUMP_FAULT_OPENED);
    assert_true(gpump_fault_ready_cycle(f, 3) == GPUMP_UNKNOWN); /* no frame yet */
    assert_int_equal(gpump_next_cycle(&gpump_fault_component, f), 30000);
    (void)expect(f, 30000, GPUMP_FAULT_ACT_UNMAP, 16); /* granule 0 is older, but the holder keeps it */
    nothing(f, 30000);
    assert_int_equal(gpump_fault_report_unmapped(f, 30001, 0, 0, 0), GPUMP_ERROR_STATE);
    assert_int_equal(report(f, 31000, 16, 2, 0), GPUMP_FAULT_OPENED); /* wanted again while it leaves */
    nothing(f, 60000);                                                /* all are served, and no frame is free */
    assert_int_equal(gpump_fault_report_unmapped(f, 60000, 0, 16, 1), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    assert_int_equal(gpump_fault_report_unmapped(f, 60000, 0, 16, 1), GPUMP_ERROR_STATE);
    nothing(f, 60000);
    assert_int_equal(gpump_next_cycle(&gpump_fault_component, f), 72000); /* it is written back first */
    (void)expect(f, 72000, GPUMP_FAULT_ACT_MAP, 32);
    (void)expect(f, 72000, GPUMP_FAULT_ACT_UNMAP, 32); /* the only granule that is not pinned */
    (void)expect(f, 72000, GPUMP_FAULT_ACT_WAKE, 32);
    assert_int_equal(gpump_fault_release(f, 72500, 1, 0), GPUMP_OK); /* the holder's instruction is through */
    assert_int_equal(gpump_fault_report_unmapped(f, 73000, 0, 32, 0), GPUMP_OK);
    (void)expect(f, 73000, GPUMP_FAULT_ACT_MAP, 16);
    (void)expect(f, 73000, GPUMP_FAULT_ACT_WAKE, 16);
    assert_int_equal(report(f, 74000, 48, 4, 0), GPUMP_FAULT_OPENED);
    (void)expect(f, 74000, GPUMP_FAULT_ACT_UNMAP, 0); /* released, and the oldest */
    assert_int_equal(gpump_fault_unmap(f, 0), GPUMP_BUSY);
    assert_int_equal(gpump_fault_report_unmapped(f, 74000, 0, 0, 0), GPUMP_OK);
    (void)expect(f, 86000, GPUMP_FAULT_ACT_MAP, 48);
    (void)expect(f, 86000, GPUMP_FAULT_ACT_WAKE, 48);
    nothing(f, 86000);
    assert_int_equal(gpump_fault_unmap(f, 0), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 1, 0, 32, GPUMP_FAULT_GPU, GPUMP_TLB_READ),
                     GPUMP_OK); /* both frames are free */
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.evicted, 3);
    assert_int_equal(s.written, 1);
    assert_int_equal(s.busy_cycles, s.migrated * (uint64_t)config.migrate_busy_cycles + config.evict_cycles);
    assert_int_equal(s.served, s.opened);
}

/* GPU memory smaller than the pages of one instruction is refused, and memory of just that size is accepted. */
static void the_smallest_memory_is_one_instruction(void **state) {
    gpump_fault_config config = small("nvlink", 63, 64);
    gpump_diag diag;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_fault_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "memory");
    assert_int_equal(diag.minimum, 64);
    config.memory = 64;
    assert_int_equal(gpump_bytes(&gpump_fault_component, &config, &bytes, NULL), GPUMP_OK);
}

/* ---- programs: warps whose instructions touch several granules at once ---- */

enum { GRANULES = 96, WARPS = 40, TOUCHES = 8 };
enum { ABSENT, OPEN, HERE, AWAY }; /* AWAY: UNMAP was handed over, or is about to be */
typedef struct world {
    gpump_fault *f;
    gpump_fault_config config;
    uint64_t now, random, number;
    uint32_t where[GRANULES], open[GRANULES], remote[GRANULES];
    uint64_t waits[GRANULES][WARPS], away_since[GRANULES];
    uint32_t asked[GRANULES]; /* UNMAP was handed over and is not answered */
    struct {
        uint32_t touches[TOUCHES], count, left, waiting; /* left: instructions; waiting: granules */
    } warps[WARPS];
    uint64_t opened, merged, served, prefetched, woken, waiting, instructions, events;
    uint32_t warp_count, slow; /* slow: how long the host takes to unmap */
} world;

static void new_instruction(world *w, uint32_t warp) {
    w->warps[warp].count = 1 + gpump_random_below(&w->random, w->config.touches);
    for (uint32_t i = 0; i < w->warps[warp].count; i++)
        w->warps[warp].touches[i] = gpump_random_below(&w->random, GRANULES);
}
/* A warp looks its granules up: it reports those that are absent, or goes on when all are there. */
static void run_warp(world *w, uint32_t warp) {
    while (w->warps[warp].left && !w->warps[warp].waiting) {
        for (uint32_t i = 0; i < w->warps[warp].count; i++) {
            const uint32_t g = w->warps[warp].touches[i];
            gpump_fault_access access;
            uint32_t outcome;
            if (w->where[g] == HERE && gpump_random_below(&w->random, 16)) continue;
            if (w->waits[g][warp]) continue; /* the same granule twice */
            memset(&access, 0, sizeof access);
            access.page = g * 16 + gpump_random_below(&w->random, 16);
            access.cookie = warp / 4; /* blocks of four warps */
            access.warp = warp % 4;
            access.rights = GPUMP_TLB_READ;
            test_check(gpump_fault_report(w->f, w->now, &access, &outcome) == GPUMP_OK, test_seed(), w->number);
            if (outcome == GPUMP_FAULT_RETRY) {
                test_check(w->where[g] == HERE, test_seed(), w->number);
                continue;
            } /* what is here may be about to be unmapped: then it faults */
            if (outcome == GPUMP_FAULT_OPENED) {
                test_check(!w->open[g], test_seed(), w->number);
                w->open[g] = 1;
                w->opened++;
            } else {
                test_check(outcome == GPUMP_FAULT_MERGED, test_seed(), w->number);
                /* a driver that prefetches opens faults of its own */
                test_check(w->open[g] || w->config.uvm.prefetch_percent < 100 || w->config.uvm.remote, test_seed(),
                           w->number);
                w->open[g] = 1;
                w->merged++;
            }
            w->waits[g][warp] = 1;
            w->warps[warp].waiting++;
            w->waiting++;
        }
        if (w->warps[warp].waiting) return;
        test_check(gpump_fault_release(w->f, w->now, warp / 4, warp % 4) == GPUMP_OK, test_seed(), w->number);
        w->instructions++;
        w->warps[warp].left--;
        new_instruction(w, warp);
    }
}
static void act(world *w, const gpump_fault_action *a) {
    const uint32_t g = (uint32_t)(a->page / 16);
    uint32_t taken = 0;
    test_check(g < GRANULES && a->process == 0, test_seed(), w->number);
    switch (a->kind) {
    case GPUMP_FAULT_ACT_UNMAP:
        test_check(w->where[g] == HERE && !w->remote[g] && !w->asked[g], test_seed(), w->number);
        w->where[g] = AWAY;
        w->asked[g] = 1;
        w->away_since[g] = w->now;
        break;
    case GPUMP_FAULT_ACT_MAP:
        test_check(w->where[g] == ABSENT || (w->remote[g] && !a->remote), test_seed(), w->number);
        w->where[g] = HERE;
        w->remote[g] = a->remote;
        w->open[g] = 0;
        w->served++;
        for (uint32_t i = 0; i < GRANULES; i++) taken += (w->where[i] == HERE && !w->remote[i]) || w->where[i] == AWAY;
        test_check(taken <= w->config.memory, test_seed(), w->number);
        break;
    default:
        test_check(a->kind == GPUMP_FAULT_ACT_WAKE && a->warps, test_seed(), w->number);
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t warp = (uint32_t)a->cookie * 4 + k;
            if (!(a->warps >> k & 1)) continue;
            test_check(w->waits[g][warp], test_seed(), w->number); /* it waits, and is woken once */
            w->waits[g][warp] = 0;
            w->warps[warp].waiting--;
            w->waiting--;
            w->woken++;
        }
    }
}
static void begin(world *w, const gpump_fault_config *config, uint32_t warps, uint32_t instructions) {
    const uint64_t random = w->random, number = w->number;
    const uint32_t slow = w->slow;
    memset(w, 0, sizeof *w);
    w->random = random;
    w->number = number;
    w->slow = slow;
    w->config = *config;
    w->f = make(config);
    w->warp_count = warps;
    assert_int_equal(gpump_fault_map(w->f, 0, 0, GRANULES * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    for (uint32_t i = 0; i < warps; i++) {
        w->warps[i].left = instructions;
        new_instruction(w, i);
    }
}
/* Answers what was unmapped long enough ago, pulls all that is due, and lets the warps go on. */
static void go_on(world *w) {
    gpump_fault_action action;
    gpump_fault_statistics s;
    for (uint32_t g = 0; g < GRANULES; g++)
        if (w->asked[g] && w->now >= w->away_since[g] + w->slow) {
            test_check(gpump_fault_report_unmapped(w->f, w->now, 0, g * 16, gpump_random_below(&w->random, 2)) ==
                           GPUMP_OK,
                       test_seed(), w->number);
            w->asked[g] = 0;
            w->where[g] = ABSENT;
        }
    while (gpump_fault_next(w->f, w->now, &action) == GPUMP_OK) {
        act(w, &action);
        w->events++;
    }
    for (uint32_t warp = 0; warp < w->warp_count; warp++) {
        if (w->config.uvm.remote && !w->warps[warp].waiting)
            (void)gpump_fault_report_remote(w->f, w->now, 0, w->warps[warp].touches[0] * 16, 1);
        run_warp(w, warp);
    }
    gpump_get_statistics(&gpump_fault_component, w->f, &s);
    test_check(s.opened == w->opened && s.merged == w->merged && s.served == w->served, test_seed(), w->number);
    test_check(s.waits == s.woken + s.cancelled + gpump_fault_pending(w->f, 0) + gpump_fault_pending(w->f, 1) +
                              gpump_fault_pending(w->f, 2) + gpump_fault_pending(w->f, 3) +
                              gpump_fault_pending(w->f, 4) + gpump_fault_pending(w->f, 5) +
                              gpump_fault_pending(w->f, 6) + gpump_fault_pending(w->f, 7) +
                              gpump_fault_pending(w->f, 8) + gpump_fault_pending(w->f, 9),
               test_seed(), w->number);
}
/* Time goes on to the next event of the unit or of the host; 0: there is none. */
static int pass(world *w) {
    uint64_t next = gpump_next_cycle(&gpump_fault_component, w->f);
    for (uint32_t g = 0; g < GRANULES; g++)
        if (w->asked[g] && w->away_since[g] + w->slow < next) next = w->away_since[g] + w->slow;
    if (next == GPUMP_UNKNOWN) return 0;
    if (next > w->now) w->now = next;
    return 1;
}
static uint32_t left(const world *w) {
    uint32_t count = 0;
    for (uint32_t warp = 0; warp < w->warp_count; warp++) count += w->warps[warp].left;
    return count;
}
/* Runs until all programs have ended. */
static void run(world *w, uint64_t limit) {
    gpump_fault_statistics s;
    gpump_diag diag;
    for (uint64_t turn = 0; left(w); turn++) {
        go_on(w);
        if (turn % 64 == 0 && gpump_check(&gpump_fault_component, w->f, &diag))
            fail_msg("%s (GPUMP_TEST_SEED=%llu, case %llu)", diag.field, (unsigned long long)test_seed(),
                     (unsigned long long)w->number);
        if (!left(w)) break;
        test_check(turn < limit && pass(w), test_seed(), w->number); /* somebody waits, so something is to come */
    }
    for (uint32_t turn = 0; turn < 100000 && pass(w); turn++) go_on(w); /* what the driver still brings */
    gpump_get_statistics(&gpump_fault_component, w->f, &s);
    test_check(s.opened + s.prefetched == s.served && !w->waiting, test_seed(), w->number);
    test_check(gpump_next_cycle(&gpump_fault_component, w->f) == GPUMP_UNKNOWN, test_seed(), w->number);
}

/* The guarantee: with memory for one instruction and many warps that each touch several granules, all end. */
static void every_program_ends(void **state) {
    static world worlds;
    static const char *const presets[] = {"nvlink", "pcie3", "uvm595", "ideal"};
    const uint64_t cases = test_cases(40);
    uint64_t instructions = 0, evicted = 0;
    (void)state;
    for (uint64_t number = 0; number < cases; number++) {
        world *w = &worlds;
        gpump_fault_config config;
        gpump_fault_statistics s;
        uint32_t touches;
        w->number = number;
        w->random = test_seed() * 7919 + number;
        touches = 1 + gpump_random_below(&w->random, TOUCHES);
        config = small(presets[number % 4], touches + (number % 3 ? 0 : gpump_random_below(&w->random, 8)), touches);
        config.uvm.batch = config.uvm.batch > 1 ? 1u << (1 + gpump_random_below(&w->random, 6)) : 1;
        config.uvm.replay = gpump_random_below(&w->random, GPUMP_UVM_REPLAYS);
        config.uvm.remote = config.uvm.batch > 1 ? gpump_random_below(&w->random, 2) : 0;
        config.uvm.counter = 1 + gpump_random_below(&w->random, 20);
        config.uvm.thrash_delays = gpump_random_below(&w->random, 4);
        w->slow = gpump_random_below(&w->random, 3) * 700;
        begin(w, &config, 1 + gpump_random_below(&w->random, WARPS), 3);
        run(w, 200000);
        gpump_get_statistics(&gpump_fault_component, w->f, &s);
        instructions += w->instructions;
        evicted += s.evicted;
    }
    printf("%llu instructions, %llu evictions\n", (unsigned long long)instructions, (unsigned long long)evicted);
    assert_true(evicted > instructions);
}

/* The holder is one warp: a granule that another warp of its block finds on the GPU is not kept for it. */
static void another_warp_of_the_holders_block_pins_nothing(void **state) {
    gpump_fault_config config = small("nvlink", 2, 2);
    gpump_fault *f = make(&config);
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    assert_int_equal(report(f, 0, 0, 1, 0), GPUMP_FAULT_OPENED); /* block 1, warp 0 becomes the holder */
    assert_int_equal(report(f, 0, 16, 1, 1), GPUMP_FAULT_OPENED);
    (void)expect(f, 12000, GPUMP_FAULT_ACT_MAP, 0);
    (void)expect(f, 12000, GPUMP_FAULT_ACT_WAKE, 0);
    (void)expect(f, 24000, GPUMP_FAULT_ACT_MAP, 16);
    (void)expect(f, 24000, GPUMP_FAULT_ACT_WAKE, 16);
    assert_int_equal(report(f, 24500, 16, 1, 1), GPUMP_FAULT_RETRY);
    assert_int_equal(report(f, 30000, 32, 3, 0), GPUMP_FAULT_OPENED);
    (void)expect(f, 30000, GPUMP_FAULT_ACT_UNMAP, 16);
}

/* A buffer of one range stays while one of its granules leaves, though no fault of its process is open. */
static void a_buffer_stays_until_its_granule_has_left(void **state) {
    gpump_fault_config config = small("nvlink", 1, 1);
    gpump_fault *f = make(&config);
    gpump_fault_access access;
    uint32_t outcome;
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 16, GPUMP_FAULT_GPU, GPUMP_TLB_READ), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 1, 0, 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    memset(&access, 0, sizeof access);
    access.process = 1;
    access.rights = GPUMP_TLB_READ;
    assert_int_equal(gpump_fault_report(f, 0, &access, &outcome), GPUMP_OK);
    assert_int_equal(expect(f, 0, GPUMP_FAULT_ACT_UNMAP, 0).process, 0);
    assert_int_equal(gpump_fault_unmap(f, 0), GPUMP_BUSY);
    assert_int_equal(gpump_fault_report_unmapped(f, 10, 0, 0, 0), GPUMP_OK);
    assert_int_equal(gpump_fault_unmap(f, 0), GPUMP_OK);
}

/* Without pins two instructions of two granules each, and two frames, never end; the detector names the four. */
static void without_pins_two_instructions_never_end(void **state) {
    static world worlds;
    world *w = &worlds;
    gpump_fault_config config = small("nvlink", 2, 2);
    gpump_fault_bounce bounces[8];
    uint32_t count;
    (void)state;
    config.pins = 0;
    for (uint32_t pins = 0; pins < 2; pins++) {
        config.pins = pins;
        w->random = 1;
        w->slow = 100;
        begin(w, &config, 2, 1);
        for (uint32_t warp = 0; warp < 2; warp++) {
            w->warps[warp].count = 2;
            w->warps[warp].touches[0] = 10 + 20 * warp;
            w->warps[warp].touches[1] = 11 + 20 * warp;
        }
        for (uint32_t turn = 0; turn < 5000 && left(w); turn++) {
            go_on(w);
            if (left(w)) assert_true(pass(w));
        }
        assert_int_equal(left(w), pins ? 0 : 2);
        if (pins) break;
        assert_int_equal(gpump_fault_stuck(w->f, 3, bounces, 3, &count), GPUMP_ERROR_CAPACITY);
        assert_int_equal(count, 4);
        assert_int_equal(gpump_fault_stuck(w->f, 3, bounces, 8, &count), GPUMP_OK);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(bounces[i].page, (10 + 20 * (i / 2) + i % 2) * 16);
            assert_int_equal(bounces[i].process, 0);
            assert_true(bounces[i].evictions > 100);
        }
    }
    assert_int_equal(gpump_fault_stuck(w->f, 3, bounces, 8, &count), GPUMP_OK); /* with pins nobody bounces */
    assert_int_equal(count, 0);
}

/* A holder that is dropped is no holder: the next one gets its frames. */
static void a_dropped_holder_lets_go(void **state) {
    gpump_fault_config config = small("ideal", 2, 2);
    gpump_fault *f = make(&config);
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    (void)report(f, 0, 0, 1, 3);
    (void)report(f, 0, 16, 1, 3);
    for (uint32_t i = 0; i < 2; i++) {
        (void)expect(f, 1, GPUMP_FAULT_ACT_MAP, 16 * i);
        (void)expect(f, 1, GPUMP_FAULT_ACT_WAKE, 16 * i);
    }
    (void)report(f, 2, 32, 2, 0);
    nothing(f, 3);                                               /* both frames are pinned */
    assert_int_equal(gpump_fault_release(f, 3, 1, 2), GPUMP_OK); /* another warp */
    nothing(f, 3);
    assert_int_equal(gpump_fault_cancel(f, 1), GPUMP_EMPTY); /* it waits for nothing, but holds */
    (void)expect(f, 3, GPUMP_FAULT_ACT_UNMAP, 0);
    assert_int_equal(gpump_fault_report_unmapped(f, 3, 0, 0, 0), GPUMP_OK);
    (void)expect(f, 3, GPUMP_FAULT_ACT_MAP, 32);
    (void)expect(f, 3, GPUMP_FAULT_ACT_WAKE, 32);
    nothing(f, 3);
}

/* The list of pinned granules, which follows the statistics, the configuration and 29 words: what is beyond its end is
 * zero, so that equal units have equal hashes. */
enum { PINS = sizeof(gpumpi_head) + 28 * 8 + sizeof(gpump_fault_config) + 29 * 4 };
static uint32_t pinned(uint32_t at) {
    uint32_t granule;
    memcpy(&granule, (const unsigned char *)memory + PINS + 4 * at, 4);
    return granule;
}
static void pin(uint32_t at, uint32_t granule) { memcpy((unsigned char *)memory + PINS + 4 * at, &granule, 4); }
/* A granule on the GPU that is in the list of pins, but does not say so itself, contradicts its tables. */
static void refuses_another_pin(gpump_fault *f) {
    gpump_diag diag;
    (void)report(f, 1, 160, 2, 1); /* granule 1 */
    (void)expect(f, 2, GPUMP_FAULT_ACT_MAP, 160);
    (void)expect(f, 2, GPUMP_FAULT_ACT_WAKE, 160);
    assert_int_equal(pinned(0), 2);
    pin(0, 1);
    assert_int_equal(gpump_check(&gpump_fault_component, f, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "pins");
    pin(0, 2);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
}
/* A granule that its buffer takes along is not pinned any more; a release ends all pins, and is counted. */
static void pins_end_with_the_buffer_and_the_release(void **state) {
    gpump_fault_config config = small("ideal", 2, 1);
    gpump_fault_statistics statistics;
    (void)state;
    for (uint32_t unmaps = 0; unmaps < 2; unmaps++) {
        gpump_fault *f = make(&config);
        assert_int_equal(gpump_fault_map(f, 0, 0, 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
        assert_int_equal(gpump_fault_map(f, 0, 160, 32, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
        (void)report(f, 0, 176, 1, 0); /* granule 2 */
        (void)expect(f, 1, GPUMP_FAULT_ACT_MAP, 176);
        (void)expect(f, 1, GPUMP_FAULT_ACT_WAKE, 176);
        nothing(f, 1);
        assert_int_equal(pinned(0), 2);
        if (!unmaps) refuses_another_pin(f);
        if (unmaps)
            assert_int_equal(gpump_fault_unmap(f, 0), GPUMP_OK);
        else
            assert_int_equal(gpump_fault_release(f, 2, 1, 0), GPUMP_OK);
        for (uint32_t i = 0; i < 64; i++) assert_int_equal(pinned(i), 0);
        assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
        gpump_get_statistics(&gpump_fault_component, f, &statistics);
        assert_int_equal(statistics.releases, !unmaps);
        assert_int_equal(gpump_fault_report_unmapped(NULL, 2, 0, 0, 0), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_fault_report_unmapped(f, 2, config.processes, 0, 0), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_fault_report_unmapped(f, 2, 0, 0, 2), GPUMP_ERROR_ARGUMENT);
    }
}

/* When the holder's instruction is through, the warp that has waited longest holds: what it gets is not taken away for
 * a warp that came later. */
static void the_longest_waiting_is_next(void **state) {
    gpump_fault_config config = small("ideal", 1, 1);
    gpump_fault *f = make(&config);
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    (void)report(f, 0, 0, 1, 0);
    (void)report(f, 0, 16, 2, 7);
    (void)expect(f, 1, GPUMP_FAULT_ACT_MAP, 0);
    (void)expect(f, 1, GPUMP_FAULT_ACT_WAKE, 0);
    nothing(f, 1); /* the holder keeps the only frame */
    assert_int_equal(gpump_fault_release(f, 2, 1, 0), GPUMP_OK);
    (void)expect(f, 2, GPUMP_FAULT_ACT_UNMAP, 0);
    (void)report(f, 2, 32, 3, 0);
    assert_int_equal(gpump_fault_report_unmapped(f, 3, 0, 0, 0), GPUMP_OK);
    (void)expect(f, 3, GPUMP_FAULT_ACT_MAP, 16);
    (void)expect(f, 3, GPUMP_FAULT_ACT_WAKE, 16);
    nothing(f, 9); /* block 2, warp 7 holds */
    assert_int_equal(gpump_fault_release(f, 9, 2, 7), GPUMP_OK);
    (void)expect(f, 9, GPUMP_FAULT_ACT_UNMAP, 16);
}

/* Of the warps that wait, the one whose fault was opened first is next, wherever the unit has put it: here the third
 * fault takes the place of the first. */
static void the_next_holder_is_the_warp_whose_fault_is_oldest(void **state) {
    gpump_fault_config config = small("nvlink", 2, 1);
    gpump_fault *f = make(&config);
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    (void)report(f, 0, 0, 1, 0); /* holds */
    (void)report(f, 0, 16, 2, 0);
    (void)expect(f, 12000, GPUMP_FAULT_ACT_MAP, 0);
    (void)expect(f, 12000, GPUMP_FAULT_ACT_WAKE, 0);
    nothing(f, 12000);
    (void)report(f, 12000, 32, 3, 0);
    assert_int_equal(gpump_fault_release(f, 12000, 1, 0), GPUMP_OK); /* block 2 holds */
    (void)expect(f, 12000, GPUMP_FAULT_ACT_UNMAP, 0);
    assert_int_equal(gpump_fault_report_unmapped(f, 12000, 0, 0, 0), GPUMP_OK);
    (void)expect(f, 24000, GPUMP_FAULT_ACT_MAP, 16);
    (void)expect(f, 24000, GPUMP_FAULT_ACT_WAKE, 16);
    (void)expect(f, 36000, GPUMP_FAULT_ACT_MAP, 32);
    (void)expect(f, 36000, GPUMP_FAULT_ACT_WAKE, 32);
    nothing(f, 36000);
    (void)report(f, 40000, 48, 4, 0);
    (void)expect(f, 40000, GPUMP_FAULT_ACT_UNMAP, 32); /* granule 16 is older, but block 2 keeps it */
}

/* When nobody waits, a release leaves no holder, and the next warp to fault becomes it. */
static void the_next_warp_to_fault_holds_when_nobody_waits(void **state) {
    gpump_fault_config config = small("ideal", 1, 1);
    gpump_fault *f = make(&config);
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    (void)report(f, 0, 0, 1, 0);
    (void)expect(f, 1, GPUMP_FAULT_ACT_MAP, 0);
    (void)expect(f, 1, GPUMP_FAULT_ACT_WAKE, 0);
    nothing(f, 1);
    assert_int_equal(gpump_fault_release(f, 2, 1, 0), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    (void)report(f, 3, 16, 2, 5);
    (void)expect(f, 3, GPUMP_FAULT_ACT_UNMAP, 0);
    assert_int_equal(gpump_fault_report_unmapped(f, 3, 0, 0, 0), GPUMP_OK);
    (void)expect(f, 4, GPUMP_FAULT_ACT_MAP, 16);
    (void)expect(f, 4, GPUMP_FAULT_ACT_WAKE, 16);
    nothing(f, 4);
    (void)report(f, 5, 32, 3, 0);
    nothing(f, 9); /* block 2, warp 5 holds granule 16 */
    assert_int_equal(gpump_fault_release(f, 9, 2, 5), GPUMP_OK);
    (void)expect(f, 9, GPUMP_FAULT_ACT_UNMAP, 16);
}

/* Brings a granule of 16 pages, whose turn to leave comes by and by. */
static uint64_t bring(gpump_fault *f, uint64_t now, uint64_t granule) {
    gpump_fault_action action;
    (void)report(f, now, granule * 16, 1, 0);
    while (gpump_fault_pending(f, 1)) {
        now = gpump_next_cycle(&gpump_fault_component, f);
        assert_true(now != GPUMP_UNKNOWN);
        while (gpump_fault_next(f, now, &action) == GPUMP_OK)
            if (action.kind == GPUMP_FAULT_ACT_UNMAP)
                assert_int_equal(gpump_fault_report_unmapped(f, now, 0, action.page, 0), GPUMP_OK);
    }
    return now;
}
/* Granules that thrash leave last: the first one behind up to 63 of them that does not leaves before them. 64 are
 * looked at; when all of these thrash, the oldest leaves. */
static void what_thrashes_leaves_last(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        static const uint32_t counts[] = {1, 63, 64};
        const uint32_t thrashing = counts[i];
        gpump_fault_config config = small("uvm595", thrashing + 1, 1);
        uint64_t now = 0;
        gpump_fault_action action;
        gpump_fault_statistics s;
        gpump_fault *f;
        config.uvm.prefetch_percent = 100;
        config.pins = 0;
        config.uvm.thrash_events = 1; /* a granule that comes back within 1 s thrashes, and is pinned at once for 2 s */
        config.uvm.thrash_delays = 0;
        config.uvm.thrash_cycles = 1000000000;
        config.uvm.pin_cycles = 2000000000;
        f = make(&config);
        assert_int_equal(gpump_fault_map(f, 0, 0, 256 * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
        for (uint32_t g = 0; g < thrashing; g++) now = bring(f, now, g);
        for (uint32_t g = 0; g < thrashing + 1; g++) now = bring(f, now, 100 + g); /* all others have left */
        for (uint32_t g = 0; g < thrashing; g++) now = bring(f, now, g);
        gpump_get_statistics(&gpump_fault_component, f, &s);
        assert_int_equal(s.pinned, thrashing);
        assert_true(now < 1000000000);
        now = bring(f, now, 200); /* behind those that thrash */
        (void)report(f, now, 210 * 16, 2, 0);
        do {
            now = gpump_next_cycle(&gpump_fault_component, f);
            assert_true(now != GPUMP_UNKNOWN);
        } while (gpump_fault_next(f, now, &action) == GPUMP_EMPTY);
        assert_int_equal(action.kind, GPUMP_FAULT_ACT_UNMAP);
        assert_int_equal(action.page, thrashing < 64 ? 200 * 16 : 0);
    }
}

/* Granules that bounce are named once each, by the buffer that they belong to. */
static void granules_that_thrash_are_named_once_each(void **state) {
    gpump_fault_config config = small("ideal", 1, 1);
    gpump_fault_bounce bounces[4];
    gpump_fault *f;
    uint32_t count;
    (void)state;
    config.pins = 0;
    f = make(&config);
    assert_int_equal(gpump_fault_map(f, 0, 0, 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    assert_int_equal(gpump_fault_map(f, 0, 160, 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    assert_int_equal(gpump_fault_release(f, 0, 9, 0), GPUMP_OK); /* evictions count from here */
    for (uint32_t turn = 0; turn < 6; turn++) {
        const uint64_t page = turn % 2 * 160, other = 160 - page;
        (void)report(f, turn * 10, page, 1 + turn % 2, 0);
        if (turn) {
            (void)expect(f, turn * 10, GPUMP_FAULT_ACT_UNMAP, other);
            assert_int_equal(gpump_fault_report_unmapped(f, turn * 10, 0, other, 0), GPUMP_OK);
        }
        (void)expect(f, turn * 10 + 5, GPUMP_FAULT_ACT_MAP, page);
        (void)expect(f, turn * 10 + 5, GPUMP_FAULT_ACT_WAKE, page);
    }
    assert_int_equal(gpump_fault_stuck(f, 0, bounces, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_stuck(f, 2, NULL, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_stuck(f, 2, bounces, 4, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_stuck(f, 2, bounces, 4, &count), GPUMP_OK);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(bounces[i].page, 160 * i);
        assert_int_equal(bounces[i].process, 0);
        assert_int_equal(bounces[i].evictions, 3 - i);
    }
    assert_int_equal(gpump_fault_stuck(f, 3, bounces, 4, &count), GPUMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(bounces[0].page, 0);
    assert_int_equal(gpump_fault_stuck(f, 4, bounces, 4, &count), GPUMP_OK);
    assert_int_equal(count, 0);
}

/* A fault that is served locally may wait for its frame before anybody has taken the news of it. */
static void a_local_fault_waits_for_its_frame(void **state) {
    gpump_fault_config config = small("nvlink_local", 1, 1);
    gpump_fault *f = make(&config);
    gpump_fault_action action;
    (void)state;
    assert_int_equal(gpump_fault_map(f, 0, 0, 64, GPUMP_FAULT_UNALLOCATED, GPUMP_TLB_READ), GPUMP_OK);
    (void)report(f, 0, 0, 1, 0);
    (void)report(f, 0, 16, 2, 0); /* `report` checks the unit */
    assert_int_equal(gpump_fault_next(f, 0, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_FAULT_ACT_LOCAL);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
}

/* Programs with eviction all the time. */
static void programs_in_a_storm(void **state) {
    static world worlds;
    static const char *const presets[] = {"nvlink", "uvm595"};
    const uint64_t wanted = test_cases(30000);
    uint64_t opened = 0, served = 0;
    (void)state;
    for (uint64_t number = 0; opened < wanted; number++) {
        world *w = &worlds;
        gpump_fault_config config = small(presets[number % 2], 8 + (uint32_t)(number % 5) * 16, TOUCHES);
        w->number = 1000 + number;
        w->random = test_seed() * 104729 + number;
        w->slow = 300 * (uint32_t)(number % 3);
        begin(w, &config, WARPS, 8);
        run(w, 10000000);
        opened += w->opened + w->merged;
        served += w->woken;
    }
    printf("%llu faults, %llu of them opened or joined and all woken\n", (unsigned long long)opened,
           (unsigned long long)served);
    assert_true(served == opened);
}

/* Faults in numbers, with eviction all the time: 64 blocks that each wait for one granule at a time. After every action
 * opened = served + pending, each granule is served as often as a fault was opened for it, and each wait ends once.
 * GPUMP_TEST_CASES=100 makes 10^7 faults. */
static void every_fault_of_a_storm_is_served_once(void **state) {
    enum { BLOCKS = 64, FRAMES = 24 };
    static const char *const presets[] = {"nvlink", "uvm595", "pcie3", "uvm595"};
    const uint64_t wanted = test_cases(100000) / 4;
    uint64_t all = 0;
    (void)state;
    for (uint32_t preset = 0; preset < 4; preset++) {
        gpump_fault_config config = small(presets[preset], FRAMES, 8);
        uint64_t waits[BLOCKS], random = test_seed() * 31 + preset, now = 0, faults = 0, woken = 0, reported = 0;
        uint32_t open[GRANULES] = {0}, pending = 0, at = 0;
        gpump_fault_statistics s;
        gpump_fault *f;
        config.uvm.prefetch_percent = 100; /* each fault is of a report's making */
        config.uvm.thrash_events = preset == 3 ? 3 : 0;
        f = make(&config);
        assert_int_equal(gpump_fault_map(f, 0, 0, GRANULES * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
        for (uint32_t b = 0; b < BLOCKS; b++) waits[b] = GPUMP_UNKNOWN;
        while (woken < wanted) {
            gpump_fault_access access;
            gpump_fault_action a;
            uint32_t outcome;
            for (uint32_t k = 0; k < 8; k++, at = (at + 1) % BLOCKS) {
                if (waits[at] != GPUMP_UNKNOWN) continue;
                memset(&access, 0, sizeof access);
                access.page = gpump_random_below(&random, GRANULES) * 16;
                access.cookie = at;
                access.rights = GPUMP_TLB_READ;
                test_check(gpump_fault_report(f, now, &access, &outcome) == GPUMP_OK, test_seed(), preset);
                if (outcome == GPUMP_FAULT_RETRY) continue;
                test_check((outcome == GPUMP_FAULT_OPENED) == !open[access.page / 16], test_seed(), preset);
                pending += !open[access.page / 16];
                faults += !open[access.page / 16];
                open[access.page / 16] = 1;
                waits[at] = access.page;
                reported++;
            }
            now = gpump_next_cycle(&gpump_fault_component, f) > now && pending
                      ? gpump_next_cycle(&gpump_fault_component, f)
                      : now;
            while (gpump_fault_next(f, now, &a) == GPUMP_OK) {
                if (a.kind == GPUMP_FAULT_ACT_UNMAP)
                    test_check(gpump_fault_report_unmapped(f, now, 0, a.page, a.page & 16 ? 1 : 0) == GPUMP_OK,
                               test_seed(), preset);
                if (a.kind == GPUMP_FAULT_ACT_MAP) {
                    test_check(open[a.page / 16] == 1, test_seed(), preset); /* not twice */
                    open[a.page / 16] = 0;
                    pending--;
                }
                if (a.kind == GPUMP_FAULT_ACT_WAKE) {
                    test_check(waits[a.cookie] == a.page, test_seed(), preset);
                    waits[a.cookie] = GPUMP_UNKNOWN;
                    woken++;
                    test_check(gpump_fault_release(f, now, a.cookie, 0) == GPUMP_OK, test_seed(), preset);
                }
                gpump_get_statistics(&gpump_fault_component, f, &s);
                test_check(s.opened == faults && s.opened == s.served + pending, test_seed(), preset);
                test_check(s.waits == reported && s.woken == woken, test_seed(), preset);
            }
        }
        assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
        assert_true(s.evicted > s.served / 2);
        all += faults;
    }
    printf("%llu faults opened, all served once\n", (unsigned long long)all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_granule_leaves_when_the_next_one_comes),
        cmocka_unit_test(the_smallest_memory_is_one_instruction),
        cmocka_unit_test(without_pins_two_instructions_never_end),
        cmocka_unit_test(another_warp_of_the_holders_block_pins_nothing),
        cmocka_unit_test(a_buffer_stays_until_its_granule_has_left),
        cmocka_unit_test(a_dropped_holder_lets_go),
        cmocka_unit_test(pins_end_with_the_buffer_and_the_release),
        cmocka_unit_test(the_longest_waiting_is_next),
        cmocka_unit_test(the_next_holder_is_the_warp_whose_fault_is_oldest),
        cmocka_unit_test(the_next_warp_to_fault_holds_when_nobody_waits),
        cmocka_unit_test(what_thrashes_leaves_last),
        cmocka_unit_test(granules_that_thrash_are_named_once_each),
        cmocka_unit_test(a_local_fault_waits_for_its_frame),
        cmocka_unit_test(every_program_ends),
        cmocka_unit_test(programs_in_a_storm),
        cmocka_unit_test(every_fault_of_a_storm_is_served_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
