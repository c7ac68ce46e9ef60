/* labels: unit property */
/* Warps that are switched on an SM: no warp is lost and nothing deadlocks in random runs, what goes wrong without
 * switching at barriers, Lin Fig. 3.8, and the monitor. */
#include "test.h"

#define WARPS 64

static gpump_duet_config preset(const char *name) {
    gpump_duet_config config;
    assert_int_equal(gpump_preset(&gpump_duet_component, &config, name, NULL), GPUMP_OK);
    return config;
}
static gpump_duet *make(const gpump_duet_config *config, const gpump_duet_plan *plan) {
    gpump_duet *duet;
    size_t bytes;
    assert_int_equal(gpump_bytes(&gpump_duet_component, config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_duet_component, malloc(bytes), bytes, config, &duet, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_set_kernel(duet, 0, plan), GPUMP_OK);
    return duet;
}
static gpump_duet_plan plan_of(const gpump_duet_config *config, uint32_t threads, uint32_t registers,
                               uint32_t shared_bytes, uint32_t live) {
    gpump_footprint need = {threads, registers * ((threads + 31) / 32 * 32), shared_bytes};
    gpump_duet_plan plan;
    assert_int_equal(gpump_duet_plan_make(config, &need, live, &plan, NULL), GPUMP_OK);
    return plan;
}
/* Two blocks of 2 warps on `homes` homes; the other warps lie in frames. Queues of one entry. */
static gpump_duet_config narrow(uint32_t homes) {
    gpump_duet_config config = preset("maxwell_duet");
    config.warps = 4;
    config.blocks = config.block_slots = 2;
    config.warp_slots = homes;
    config.register_granules = homes * 4 + (4 - homes) * 5;
    config.shared_granules = config.l1_granules = 0;
    config.warp_queue = config.block_queue = 1;
    config.extra_blocks = GPUMP_DUET_ALL;
    return config;
}
/* Its plan, with every slot as a home. */
static gpump_duet_plan narrow_plan(const gpump_duet_config *config) {
    gpump_duet_plan plan = plan_of(config, 64, 4, 0, 3);
    plan.unit = GPUMP_DUET_WARP;
    plan.moves_registers = 1;
    plan.homes = config->warp_slots;
    plan.frame_registers = 3;
    plan.frame_granules = 5;
    plan.extra_blocks = plan.extra_blocks_l1 = 1;
    plan.first_frame[0] = 4 * plan.homes;
    plan.frames[0] = 4 - plan.homes;
    plan.frames[1] = plan.frames[2] = 0;
    return plan;
}

/* ---- a host that runs random warps ---- */

typedef struct test_warp {
    uint32_t block, live;
    uint32_t barriers_left, loads_left; /* until the next barrier */
    uint32_t replies, at_barrier;
} test_warp;
typedef struct test_host {
    gpump_duet_config config;
    gpump_duet *duet;
    uint64_t now, random, seed, number;
    uint64_t moves;
    uint32_t blocks_left, resident;
    uint32_t barriers[64]; /* per block */
    test_warp warps[WARPS];
    gpump_duet_action job;
    int moving;
    uint64_t frozen, held; /* blocks: that may not move; of these, where they lie is known in places[] */
    gpump_duet_place places[WARPS];
    uint64_t freezes;
} test_host;
static uint32_t below(test_host *h, uint32_t limit) { return gpump_random_below(&h->random, limit); }

static void check_places(test_host *h) {
    uint8_t taken[4096];
    uint32_t i, n, running = 0;
    memset(taken, 0, sizeof taken);
    for (i = 0; i < h->config.warps; i++) {
        const test_warp *w = &h->warps[i];
        const uint32_t state = gpump_duet_state_of(h->duet, i), bytes = h->duet->plan.warp_granules;
        const uint32_t stalls = w->replies || w->at_barrier;
        gpump_duet_place place;
        uint32_t size;
        if (!w->live) {
            test_check(state == GPUMP_DUET_GONE, h->seed, h->number);
            test_check(gpump_duet_where(h->duet, i, &place) == GPUMP_ERROR_STATE, h->seed, h->number);
            continue;
        }
        test_check(gpump_duet_where(h->duet, i, &place) == GPUMP_OK, h->seed, h->number);
        switch (state) { /* who has stalled and who has not is known here, too */
        case GPUMP_DUET_STALLED: test_check(place.is_present && (stalls || h->moving), h->seed, h->number); break;
        case GPUMP_DUET_ABSENT: test_check(!place.is_present && stalls, h->seed, h->number); break;
        case GPUMP_DUET_READY: test_check(!place.is_present && !stalls, h->seed, h->number); break;
        case GPUMP_DUET_RUNNING: test_check(place.is_present, h->seed, h->number); break;
        default: test_check(0, h->seed, h->number);
        }
        test_check(gpump_duet_may_issue(h->duet, i) == (state == GPUMP_DUET_RUNNING), h->seed, h->number);
        running += place.is_present;
        size = place.is_present || !h->duet->plan.moves_registers ? bytes : h->duet->plan.frame_registers;
        for (n = 0; n < size; n++) test_check(!taken[place.registers + n]++, h->seed, h->number);
        for (n = 0; !place.is_present && n < h->config.slot_granules; n++)
            test_check(!taken[place.slot_data + n]++, h->seed, h->number);
    }
    test_check(running <= h->config.warp_slots, h->seed, h->number);
}

/* A frozen block stays where it is, once a move that was under way has ended. */
static void check_frozen(test_host *h) {
    const uint32_t warps = h->duet->plan.block_warps;
    uint32_t block, i;
    for (block = 0; block < h->config.blocks; block++) {
        const uint64_t bit = (uint64_t)1 << block;
        gpump_result result;
        if (!(h->frozen & bit)) continue;
        result = gpump_duet_freeze(h->duet, h->now, block, 1);
        test_check(result == GPUMP_OK || (result == GPUMP_BUSY && h->moving && !(h->held & bit)), h->seed, h->number);
        for (i = block * warps; result == GPUMP_OK && i < (block + 1) * warps; i++) {
            gpump_duet_place place;
            if (!h->warps[i].live) continue;
            test_check(gpump_duet_where(h->duet, i, &place) == GPUMP_OK, h->seed, h->number);
            if (h->held & bit) test_check(!memcmp(&place, &h->places[i], sizeof place), h->seed, h->number);
            h->places[i] = place;
        }
        if (result == GPUMP_OK) h->held |= bit;
    }
}

/* Freezes a block, or lets it move again. */
static void freeze_some(test_host *h) {
    const uint32_t block = below(h, h->config.blocks), first = block * h->duet->plan.block_warps;
    const uint64_t bit = (uint64_t)1 << block;
    uint32_t i, live = 0;
    for (i = first; i < first + h->duet->plan.block_warps; i++) live += h->warps[i].live;
    if (!live) return;
    if (h->frozen & bit) test_check(gpump_duet_freeze(h->duet, h->now, block, 0) >= GPUMP_OK, h->seed, h->number);
    h->frozen ^= bit;
    h->held &= ~bit;
    h->freezes++;
    check_frozen(h);
}
static void thaw(test_host *h) {
    uint32_t block;
    for (block = 0; block < h->config.blocks; block++)
        if (h->frozen >> block & 1)
            test_check(gpump_duet_freeze(h->duet, h->now, block, 0) == GPUMP_OK, h->seed, h->number);
    h->frozen = h->held = 0;
}

static void place_blocks(test_host *h) {
    while (h->blocks_left) {
        uint32_t block, i;
        const uint32_t barriers = below(h, 4);
        const int at_home = !below(h, 4);
        if (gpump_duet_room(h->duet, at_home) != GPUMP_REASON_YES) break;
        test_check(gpump_duet_place_block(h->duet, h->now, at_home, &block, NULL) == GPUMP_OK, h->seed, h->number);
        h->blocks_left--;
        h->resident++;
        for (i = 0; i < h->duet->plan.block_warps; i++) {
            test_warp *w = &h->warps[block * h->duet->plan.block_warps + i];
            test_check(!w->live, h->seed, h->number);
            memset(w, 0, sizeof *w);
            w->block = block;
            w->live = 1;
            test_check(!at_home || gpump_duet_may_issue(h->duet, block * h->duet->plan.block_warps + i), h->seed,
                       h->number);
            w->barriers_left = barriers;
            w->loads_left = below(h, 3);
        }
    }
}

/* Opens the barrier of a block when all its warps that live are there. */
static void may_open(test_host *h, uint32_t block) {
    uint32_t i, live = 0, there = 0;
    const uint32_t first = block * h->duet->plan.block_warps, end = first + h->duet->plan.block_warps;
    for (i = first; i < end; i++) live += h->warps[i].live, there += h->warps[i].at_barrier;
    if (!live) {
        gpump_result result = gpump_duet_report_block_done(h->duet, h->now, block);
        h->frozen &= ~((uint64_t)1 << block);
        h->held &= ~((uint64_t)1 << block);
        test_check(result == GPUMP_OK, h->seed, h->number);
        h->resident--;
        return;
    }
    if (there < live) return;
    for (i = first; i < end; i++) {
        if (!h->warps[i].at_barrier) continue;
        h->warps[i].at_barrier = 0;
        gpump_duet_report_reply(h->duet, i);
    }
}

/* One instruction of a warp that runs. */
static void execute(test_host *h, uint32_t warp) {
    test_warp *w = &h->warps[warp];
    if (w->loads_left) {
        w->loads_left--;
        w->replies = 1 + below(h, 3);
        test_check(gpump_duet_report_stall(h->duet, h->now, warp, GPUMP_DUET_LOAD, w->replies) == GPUMP_OK, h->seed,
                   h->number);
    } else if (w->barriers_left) {
        w->barriers_left--;
        w->loads_left = below(h, 3);
        w->at_barrier = 1;
        test_check(gpump_duet_report_stall(h->duet, h->now, warp, GPUMP_DUET_BARRIER, 1) == GPUMP_OK, h->seed,
                   h->number);
        may_open(h, w->block);
    } else {
        w->live = 0;
        test_check(gpump_duet_report_warp_done(h->duet, h->now, warp) == GPUMP_OK, h->seed, h->number);
        may_open(h, w->block);
    }
}

/* Lets one thing happen, chosen at random; 0 when nothing can. */
static int step(test_host *h) {
    uint32_t can[2 * WARPS + 2], count = 0, i, chosen;
    for (i = 0; i < h->config.warps; i++) {
        const test_warp *w = &h->warps[i];
        if (!w->live) continue;
        if (w->replies) can[count++] = WARPS + i;
        if (!w->replies && !w->at_barrier && gpump_duet_may_issue(h->duet, i)) can[count++] = i;
    }
    can[count++] = 2 * WARPS;
    for (;;) {
        const uint32_t at = below(h, count);
        chosen = can[at];
        if (chosen < 2 * WARPS) break;
        if (h->moving) {
            if (h->now < h->job.end_cycle) h->now = h->job.end_cycle;
            test_check(gpump_duet_report_moved(h->duet, h->now) == GPUMP_OK, h->seed, h->number);
            h->moving = 0;
            return 1;
        }
        if (gpump_duet_next(h->duet, h->now, &h->job) == GPUMP_OK) {
            h->moving = h->job.kind <= GPUMP_DUET_SWAP;
            h->moves += (uint64_t)h->moving;
            return 1;
        }
        if (count == 1) return 0;
        can[at] = can[--count];
    }
    h->now += below(h, 3);
    if (chosen < WARPS) {
        execute(h, chosen);
    } else {
        h->warps[chosen - WARPS].replies--;
        gpump_duet_report_reply(h->duet, chosen - WARPS);
    }
    return 1;
}

/* Runs blocks to their end. Returns 1, or 0 on a deadlock. */
static int run(test_host *h) {
    uint64_t steps = 0;
    for (;;) {
        place_blocks(h);
        if (!h->resident && !h->blocks_left) break;
        if (!step(h)) {
            if (!h->frozen) return 0;
            thaw(h); /* who may not move keeps others out of homes */
        }
        if (!below(h, 8)) check_places(h);
        if (!below(h, 32)) freeze_some(h);
        check_frozen(h);
        if (!below(h, 64)) {
            size_t bytes = sizeof *h->duet;
            void *copy = malloc(bytes);
            const uint64_t hash = gpump_hash(&gpump_duet_component, h->duet);
            memcpy(copy, h->duet, bytes);
            memset(h->duet, 0xdb, bytes);
            free(h->duet);
            test_check(gpump_adopt(&gpump_duet_component, copy, bytes, &h->config, &h->duet, NULL) == GPUMP_OK, h->seed,
                       h->number);
            test_check(gpump_check(&gpump_duet_component, h->duet, NULL) == GPUMP_OK, h->seed, h->number);
            test_check(gpump_hash(&gpump_duet_component, h->duet) == hash, h->seed, h->number);
        }
        test_check(++steps < 100000, h->seed, h->number);
    }
    test_check(!h->moving, h->seed, h->number);
    while (gpump_duet_next(h->duet, h->now, &h->job) == GPUMP_OK) /* nobody is left to move */
        test_check(h->job.kind > GPUMP_DUET_SWAP, h->seed, h->number);
    check_places(h);
    return 1;
}

static void begin(test_host *h, const gpump_duet_config *config, const gpump_duet_plan *plan, uint64_t number) {
    memset(h, 0, sizeof *h);
    h->seed = test_seed();
    h->number = number;
    h->random = h->seed * 1000003 + number;
    h->config = *config;
    h->duet = make(config, plan);
    h->blocks_left = 2 + below(h, 4);
}

/* Lin 3.6.3: with queues of one entry, and one frame or two, no warp is lost and nothing deadlocks. */
static void nothing_deadlocks(void **state) {
    uint64_t number, cases = test_cases(20000), moves = 0;
    (void)state;
    for (number = 0; number < cases; number++) {
        const gpump_duet_config config = narrow(2 + (uint32_t)(number & 1));
        const gpump_duet_plan plan = narrow_plan(&config);
        test_host h;
        begin(&h, &config, &plan, number);
        test_check(run(&h), h.seed, number);
        moves += h.moves;
        free(h.duet);
    }
    assert_true(moves > cases); /* the frames are in use */
}

/* The same without switching at barriers deadlocks with two frames, and who is switched out says why. With one frame
 * only one warp is away, so all blocks but one are whole and go on. */
static void without_switching_at_barriers_two_frames_deadlock(void **state) {
    uint64_t number, deadlocks[2] = {0, 0};
    (void)state;
    for (number = 0; number < 2000; number++) {
        gpump_duet_config config = narrow(2 + (uint32_t)(number & 1));
        const gpump_duet_plan plan = narrow_plan(&config);
        test_host h;
        config.barriers_leave = 0;
        begin(&h, &config, &plan, number);
        if (!run(&h)) {
            uint32_t i, reasons = 0;
            deadlocks[number & 1]++;
            for (i = 0; i < config.warps; i++)
                reasons += gpump_duet_waits_for(h.duet, i) == GPUMP_REASON_HELD_BY_BARRIERS;
            test_check(reasons > 0, h.seed, number);
        }
        free(h.duet);
    }
    assert_true(deadlocks[0] > 100);
    assert_int_equal(deadlocks[1], 0);
}

/* The other solution of Lin 3.6.3: one block stays whole, its warps are never switched out, and nothing deadlocks. */
static void one_whole_block_ends_the_deadlocks(void **state) {
    uint64_t number, cases = test_cases(20000), moves = 0;
    (void)state;
    for (number = 0; number < cases; number++) {
        gpump_duet_config config = narrow(2 + (uint32_t)(number & 1));
        const gpump_duet_plan plan = narrow_plan(&config);
        test_host h;
        config.barriers_leave = GPUMP_DUET_BARRIERS_WHOLE;
        begin(&h, &config, &plan, number);
        test_check(run(&h), h.seed, number);
        moves += h.moves;
        free(h.duet);
    }
    assert_true(moves > cases / 4); /* the frames are in use */
}

/* Plans of all kinds, with room for several. */
static void plans_of_all_kinds(void **state) {
    static const char *const names[] = {"maxwell_duet", "duet_block", "virtual_thread"};
    uint64_t number, cases = test_cases(1500), moves = 0, of_blocks = 0;
    (void)state;
    for (number = 0; number < cases; number++) {
        uint64_t random = test_seed() * 7919 + number;
        gpump_duet_config config = preset(names[gpump_random_below(&random, 3)]);
        gpump_duet_plan plan;
        test_host h;
        config.warps = 24;
        config.warp_slots = 4 + gpump_random_below(&random, 9);
        config.blocks = config.block_slots = 8;
        config.register_granules = 40 + gpump_random_below(&random, 160);
        config.shared_granules = gpump_random_below(&random, 64);
        config.l1_granules = gpump_random_below(&random, 64);
        config.warp_queue = config.block_queue = 1 + gpump_random_below(&random, 4);
        config.leaves_early = gpump_random_below(&random, 2);
        if (number % 3 == 2) config.barriers_leave = GPUMP_DUET_BARRIERS_WHOLE;
        config.extra_blocks = gpump_random_below(&random, 2) ? GPUMP_DUET_ALL : gpump_random_below(&random, 4);
        plan = plan_of(&config, 32 * (1 + gpump_random_below(&random, 4)), 1 + gpump_random_below(&random, 20),
                       128 * gpump_random_below(&random, 12), 1 + gpump_random_below(&random, 12));
        if (!plan.native_blocks) continue;
        begin(&h, &config, &plan, number);
        test_check(run(&h), h.seed, number);
        moves += h.moves;
        of_blocks += h.moves && plan.unit == GPUMP_DUET_BLOCK;
        free(h.duet);
    }
    assert_true(moves > cases && of_blocks > cases / 20);
}

/* Block A's warp 0 leaves for a load, block B's comes; then both homes end up at barriers (Lin 3.6.3). */
static void deadlock_by_hand(void **state) {
    uint32_t leave;
    (void)state;
    for (leave = 0; leave < 2; leave++) {
        gpump_duet_config config = narrow(2);
        gpump_duet_plan plan;
        gpump_duet_action action;
        gpump_duet *duet;
        uint32_t a, b;
        config.barriers_leave = leave;
        config.warp_queue = 16;
        plan = plan_of(&config, 64, 4, 0, 3);
        assert_int_equal(plan.extra_blocks, 1);
        duet = make(&config, &plan);
        assert_int_equal(gpump_duet_next(duet, 0, &action), GPUMP_OK);
        assert_int_equal(action.kind, GPUMP_DUET_EXTRA);
        assert_int_equal(action.blocks, 1);
        assert_int_equal(gpump_duet_place_block(duet, 0, 0, &a, NULL), GPUMP_OK);
        assert_int_equal(gpump_duet_place_block(duet, 0, 0, &b, NULL), GPUMP_OK);
        assert_int_equal(gpump_duet_room(duet, 0), GPUMP_REASON_FRAME);
        assert_int_equal(gpump_duet_state_of(duet, 2), GPUMP_DUET_READY);
        assert_int_equal(gpump_duet_waits_for(duet, 2), GPUMP_REASON_SWITCHED_OUT);
        assert_int_equal(gpump_duet_next(duet, 0, &action), GPUMP_EMPTY);
        assert_int_equal(gpump_duet_report_stall(duet, 1, 0, GPUMP_DUET_LOAD, 1), GPUMP_OK);
        assert_int_equal(gpump_duet_next(duet, 1, &action), GPUMP_OK);
        assert_int_equal(action.kind, GPUMP_DUET_SWAP);
        assert_int_equal(action.out, 0);
        assert_int_equal(action.in, 2);
        assert_int_equal(action.end_cycle, 1 + 2 * 5);
        assert_int_equal(gpump_duet_waits_for(duet, 2), GPUMP_REASON_MOVING);
        assert_int_equal(gpump_duet_report_moved(duet, 10), GPUMP_ERROR_STATE);
        assert_int_equal(gpump_duet_report_moved(duet, 11), GPUMP_OK);
        assert_int_equal(gpump_duet_state_of(duet, 0), GPUMP_DUET_ABSENT);
        assert_int_equal(gpump_duet_waits_for(duet, 0), GPUMP_REASON_LONG_OPERATION);
        assert_int_equal(gpump_duet_report_stall(duet, 12, 2, GPUMP_DUET_BARRIER, 1), GPUMP_OK);
        assert_int_equal(gpump_duet_report_stall(duet, 12, 1, GPUMP_DUET_BARRIER, 1), GPUMP_OK);
        gpump_duet_report_reply(duet, 0);
        assert_int_equal(gpump_duet_state_of(duet, 0), GPUMP_DUET_READY);
        if (leave) {
            assert_int_equal(gpump_duet_next(duet, 13, &action), GPUMP_OK);
            assert_int_equal(action.kind, GPUMP_DUET_SWAP);
            assert_int_equal(action.out, 2); /* who stalled first */
            assert_int_equal(action.in, 3);  /* who was ready first */
        } else {
            assert_int_equal(gpump_duet_next(duet, 13, &action), GPUMP_EMPTY);
            assert_int_equal(gpump_duet_waits_for(duet, 0), GPUMP_REASON_HELD_BY_BARRIERS);
            assert_int_equal(gpump_duet_waits_for(duet, 1), GPUMP_REASON_BARRIER);
        }
        free(duet);
    }
}

/* ---- Lin Fig. 3.8: two blocks of two warps, each warp two bursts of 20 cycles with a stall of 60 between them ---- */

/* Runs the figure's kernel and writes who begins and stops to run when, and what moves. */
static uint64_t timeline(const gpump_duet_config *config, const gpump_duet_plan *plan, char *text, size_t bytes) {
    gpump_duet *duet = make(config, plan);
    uint64_t now, ready_at[4], burst_end[4];
    uint32_t burst[4] = {0, 0, 0, 0}, issuing = GPUMP_NONE, blocks = 0, ended = 0, left[2] = {2, 2}, i, block;
    size_t used = 0;
    gpump_duet_action action;
    int moving = 0;
    for (i = 0; i < 4; i++) ready_at[i] = burst_end[i] = GPUMP_UNKNOWN;
    text[0] = 0;
    for (now = 0; ended < 4 && now < 2000; now++) {
        if (moving && action.end_cycle == now) {
            assert_int_equal(gpump_duet_report_moved(duet, now), GPUMP_OK);
            moving = 0;
        }
        for (i = 0; i < 4; i++) {
            if (ready_at[i] != now) continue;
            ready_at[i] = GPUMP_UNKNOWN;
            gpump_duet_report_reply(duet, i);
        }
        if (issuing != GPUMP_NONE && burst_end[issuing] == now) {
            i = issuing;
            issuing = GPUMP_NONE;
            if (burst[i]++ == 0) {
                ready_at[i] = now + 60;
                assert_int_equal(gpump_duet_report_stall(duet, now, i, GPUMP_DUET_LOAD, 1), GPUMP_OK);
            } else {
                assert_int_equal(gpump_duet_report_warp_done(duet, now, i), GPUMP_OK);
                ended++;
                if (!--left[i / 2]) assert_int_equal(gpump_duet_report_block_done(duet, now, i / 2), GPUMP_OK);
            }
        }
        while (blocks < 2 && gpump_duet_room(duet, 0) == GPUMP_REASON_YES) {
            assert_int_equal(gpump_duet_place_block(duet, now, 0, &block, NULL), GPUMP_OK);
            if (block != blocks) { /* the baseline's second block takes the first one's number */
                burst[0] = burst[1] = 0;
                left[0] = 2;
            }
            blocks++;
        }
        while (!moving && gpump_duet_next(duet, now, &action) == GPUMP_OK) {
            static const char *const names[] = {"out", "in", "swap"};
            if (action.kind > GPUMP_DUET_SWAP) continue;
            moving = 1;
            used += (size_t)snprintf(text + used, bytes - used, "%d:%s", (int)now, names[action.kind]);
            if (action.out != GPUMP_NONE) used += (size_t)snprintf(text + used, bytes - used, "-%u", action.out);
            if (action.in != GPUMP_NONE) used += (size_t)snprintf(text + used, bytes - used, "+%u", action.in);
            used += (size_t)snprintf(text + used, bytes - used, " ");
        }
        for (i = 0; i < 4 && issuing == GPUMP_NONE; i++) { /* one issue slot, the lowest warp first */
            if (gpump_duet_state_of(duet, i) != GPUMP_DUET_RUNNING || ready_at[i] != GPUMP_UNKNOWN) continue;
            issuing = i;
            burst_end[i] = now + 20;
            used += (size_t)snprintf(text + used, bytes - used, "%d:w%u ", (int)now, i);
        }
    }
    free(duet);
    return now - 1;
}

/* Lin Figure 3.8, event by event: two homes, an extra block, and who moves when. */
static void figure_3_8(void **state) {
    gpump_duet_config config = preset("maxwell_duet");
    gpump_duet_plan plan;
    char text[1024];
    (void)state;
    config.warps = 4;
    config.blocks = config.block_slots = 2;
    config.warp_slots = 2;
    config.slot_granules = 1;
    config.register_granules = 2 * 2;
    config.shared_granules = 8;
    config.l1_granules = 0;
    config.extra_blocks = 0;
    plan = plan_of(&config, 64, 2, 0, 1); /* registers and slots bind: a frame takes 2 granules */
    assert_int_equal(plan.unit, GPUMP_DUET_WARP);
    assert_int_equal(plan.frame_granules, 2);
    /* (a) the second block begins when the first has ended. */
    assert_int_equal(timeline(&config, &plan, text, sizeof text), 240);
    assert_string_equal(text, "0:w0 20:w1 80:w0 100:w1 120:w0 140:w1 200:w0 220:w1 ");
    /* (b) each stalled warp makes room for one of the second block. A swap takes 4 cycles, and one more when a reply
     * has come into a frame. */
    config.extra_blocks = GPUMP_DUET_ALL;
    assert_int_equal(timeline(&config, &plan, text, sizeof text), 165);
    assert_string_equal(text, "0:w0 20:swap-0+2 20:w1 40:swap-1+3 40:w2 60:w3 80:swap-2+0 85:w0 100:swap-3+1 "
                              "105:w1 120:in+2 125:w2 140:in+3 145:w3 ");
    /* (c) shared memory binds: the first block leaves when both its warps have stalled; 12 cycles a swap. */
    config.register_granules = 16;
    config.shared_granules = 4;
    plan = plan_of(&config, 64, 2, 4 * 128, 1);
    assert_int_equal(plan.unit, GPUMP_DUET_BLOCK);
    assert_int_equal(plan.frame_granules, 4 + 2);
    assert_int_equal(timeline(&config, &plan, text, sizeof text), 202);
    assert_string_equal(text, "0:w0 20:w1 40:swap-0+1 52:w2 72:w3 100:swap-1+0 114:w0 134:w1 154:in+1 162:w2 182:w3 ");
}

/* ---- the monitor (Lin 3.6.4) ---- */

static gpump_utilisation busy(uint32_t permille, uint32_t l1) {
    gpump_utilisation u;
    memset(&u, 0, sizeof u);
    u.scheduler_q16 = permille * 65536 / 1000;
    u.l1_q16 = l1 * 65536 / 1000;
    return u;
}
/* Reports a period and returns the number of extra blocks that follows. */
static uint32_t period(gpump_duet *duet, uint64_t *now, uint32_t permille, uint32_t l1, uint32_t *kinds) {
    gpump_utilisation u = busy(permille, l1);
    gpump_duet_action action;
    uint32_t extra = duet->extra;
    *now = gpump_duet_decision_cycle(duet);
    assert_int_equal(gpump_duet_report_utilisation(duet, *now - 1, &u), GPUMP_EMPTY);
    assert_int_equal(gpump_duet_report_utilisation(duet, *now, &u), GPUMP_OK);
    *kinds = 0;
    while (gpump_duet_next(duet, *now, &action) == GPUMP_OK) {
        *kinds |= 1u << action.kind;
        if (action.kind == GPUMP_DUET_EXTRA) extra = action.blocks;
    }
    assert_int_equal(extra, duet->extra);
    return extra;
}

/* The bound of extra blocks rises and falls by the utilisation of each period. */
static void the_monitor_sets_its_bound_by_periods(void **state) {
    gpump_duet_config config = preset("maxwell_duet");
    gpump_duet_plan plan = plan_of(&config, 256, 28, 0, 18);
    gpump_duet *duet = make(&config, &plan);
    uint64_t now;
    uint32_t kinds;
    (void)state;
    assert_int_equal(gpump_duet_decision_cycle(duet), 20000);
    assert_int_equal(period(duet, &now, 100, 100, &kinds), 6); /* underutilised: the bound at once */
    assert_int_equal(now, 20000);
    assert_int_equal(period(duet, &now, 100, 100, &kinds), 6);
    assert_int_equal(now, 30000);
    assert_int_equal(kinds, 0);
    assert_int_equal(period(duet, &now, 850, 100, &kinds), 5); /* saturated after a step: one back, and hold */
    assert_int_equal(period(duet, &now, 700, 100, &kinds), 5);
    assert_int_equal(period(duet, &now, 100, 100, &kinds), 5);
    assert_int_equal(gpump_duet_set_kernel(duet, now, &plan), GPUMP_OK);
    assert_int_equal(duet->extra, 0);
    assert_int_equal(gpump_duet_decision_cycle(duet), now + 20000);
    assert_int_equal(period(duet, &now, 850, 100, &kinds), 0); /* saturated from the start */
    assert_int_equal(period(duet, &now, 700, 100, &kinds), 1); /* moderate: one per period */
    assert_int_equal(period(duet, &now, 700, 100, &kinds), 2);
    assert_int_equal(kinds, 1u << GPUMP_DUET_EXTRA);
    assert_int_equal(period(duet, &now, 850, 100, &kinds), 1);
    assert_int_equal(period(duet, &now, 700, 100, &kinds), 1);
    free(duet);
}

/* A saturated period takes as many extra blocks back as the configuration says, and no more than there are. */
static void a_saturated_period_takes_a_stated_number_back(void **state) {
    gpump_duet_config config = preset("maxwell_duet");
    gpump_duet_plan plan = plan_of(&config, 256, 28, 0, 18);
    gpump_duet *duet;
    uint64_t now;
    uint32_t kinds;
    (void)state;
    config.taken_back = 4;
    duet = make(&config, &plan);
    assert_int_equal(period(duet, &now, 100, 100, &kinds), 6);
    assert_int_equal(period(duet, &now, 850, 100, &kinds), 2);
    assert_int_equal(kinds, 1u << GPUMP_DUET_EXTRA);
    assert_int_equal(period(duet, &now, 850, 100, &kinds), 0);
    assert_int_equal(period(duet, &now, 100, 100, &kinds), 0); /* held */
    free(duet);
}

/* No room in registers or shared memory: L1 becomes a store when it is useless and nothing is saturated. */
static void l1_becomes_a_store(void **state) {
    gpump_duet_config config = preset("maxwell_duet");
    gpump_duet_plan plan = plan_of(&config, 192, 34, 8668, 17);
    gpump_duet *duet = make(&config, &plan);
    gpump_duet_action action;
    uint64_t now;
    uint32_t kinds;
    (void)state;
    assert_int_equal(period(duet, &now, 850, 0, &kinds), 0);
    assert_int_equal(kinds, 0);
    assert_int_equal(period(duet, &now, 100, 31, &kinds), 0);
    assert_int_equal(period(duet, &now, 100, 30, &kinds), 1); /* 1966 / 65536: the last below 30 permille */
    assert_int_equal(kinds, 1u << GPUMP_DUET_L1 | 1u << GPUMP_DUET_EXTRA);
    free(duet);
    config.extra_blocks = 1; /* a fixed number takes it at once */
    duet = make(&config, &plan);
    assert_int_equal(gpump_duet_next(duet, 0, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_DUET_L1);
    assert_int_equal(gpump_duet_next(duet, 0, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_DUET_EXTRA);
    assert_int_equal(gpump_duet_next(duet, 0, &action), GPUMP_EMPTY);
    free(duet);
}

/* As many warps as there can be: each has a place of its own, and a check finds all of them. */
static void every_place_is_taken_once(void **state) {
    gpump_duet_config config = preset("maxwell_duet");
    gpump_duet_plan plan;
    gpump_duet *duet;
    uint8_t taken[GPUMP_DUET_WARPS] = {0};
    uint32_t block, warps = 0;
    (void)state;
    config.warps = config.warp_slots = GPUMP_DUET_WARPS;
    config.register_granules = 65536;
    plan = plan_of(&config, 256, 4, 0, 3);
    duet = make(&config, &plan);
    while (gpump_duet_room(duet, 1) == GPUMP_REASON_YES) {
        assert_int_equal(gpump_duet_place_block(duet, 0, 1, &block, NULL), GPUMP_OK);
        warps += 8;
    }
    assert_int_equal(warps, GPUMP_DUET_WARPS);
    for (uint32_t i = 0; i < warps; i++) {
        gpump_duet_place place;
        assert_int_equal(gpump_duet_where(duet, i, &place), GPUMP_OK);
        assert_true(place.slot < GPUMP_DUET_WARPS);
        assert_int_equal(taken[place.slot]++, 0);
    }
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
    free(duet);
}

/* A warp that the configuration has no room for lies in no home, also when nobody else does. */
static void no_place_beyond_the_warps(void **state) {
    gpump_duet_config config = narrow(3);
    gpump_duet_plan plan = narrow_plan(&config);
    gpump_duet *duet = make(&config, &plan);
    gpump_diag diag;
    (void)state;
    for (uint32_t warp = config.warps - 1; warp <= config.warps + 1; warp++) {
        gpump_bits_clear(duet->free_homes, 0);
        gpump_bits_set(duet->resident, warp);
        gpump_bits_set(duet->present, warp);
        duet->place[warp] = 0;
        if (warp < config.warps) {
            assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
        } else {
            assert_int_equal(gpump_check(&gpump_duet_component, duet, &diag), GPUMP_ERROR_FORMAT);
            assert_string_equal(diag.field, "places");
        }
        gpump_bits_set(duet->free_homes, 0);
        gpump_bits_clear(duet->resident, warp);
        gpump_bits_clear(duet->present, warp);
    }
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
    free(duet);
}

/* Calls in the wrong state or order are refused, and change nothing. */
static void wrong_calls_of_a_duet_are_refused(void **state) {
    gpump_duet_config config = narrow(3), other = narrow(3);
    gpump_duet_plan plan = narrow_plan(&config);
    gpump_duet *duet = make(&config, &plan), *adopted;
    gpump_duet_action action;
    gpump_duet_statistics statistics, since;
    const char *name;
    gpump_diag diag;
    uint64_t value, hash;
    uint32_t block;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_duet_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_next(duet, 5, &action), GPUMP_OK); /* EXTRA */
    assert_int_equal(gpump_duet_place_block(duet, 5, 0, &block, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_place_block(duet, 5, 0, &block, NULL), GPUMP_OK);
    hash = gpump_hash(&gpump_duet_component, duet);
    assert_int_equal(gpump_duet_place_block(duet, 5, 0, &block, &diag), GPUMP_BUSY);
    assert_int_equal(diag.reason, GPUMP_REASON_FRAME);
    assert_int_equal(gpump_duet_place_block(duet, 4, 0, &block, &diag), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_duet_set_kernel(duet, 5, &plan), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_duet_report_stall(duet, 5, 0, GPUMP_DUET_STALLS, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_stall(duet, 5, 0, 0, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_stall(duet, 5, 4, 0, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_stall(duet, 5, 3, 0, 1), GPUMP_ERROR_STATE); /* READY */
    assert_int_equal(gpump_duet_report_warp_done(duet, 5, 3), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_duet_report_moved(duet, 5), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_duet_report_block_done(duet, 5, 2), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_freeze(duet, 4, 0, 1), GPUMP_ERROR_TIME);
    assert_true(gpump_hash(&gpump_duet_component, duet) == hash);
    /* A frozen block stays where it is. */
    assert_int_equal(gpump_duet_freeze(duet, 5, 0, 1), GPUMP_OK);
    assert_int_equal(gpump_duet_report_stall(duet, 6, 0, GPUMP_DUET_LOAD, 1), GPUMP_OK);
    assert_int_equal(gpump_duet_next(duet, 6, &action), GPUMP_EMPTY);
    assert_int_equal(gpump_duet_freeze(duet, 6, 0, 0), GPUMP_OK);
    assert_int_equal(gpump_duet_next(duet, 6, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_DUET_SWAP);
    assert_int_equal(gpump_duet_freeze(duet, 7, 0, 1), GPUMP_BUSY);
    assert_int_equal(gpump_duet_report_block_done(duet, 7, 0), GPUMP_BUSY);
    gpump_get_statistics(&gpump_duet_component, duet, &statistics);
    assert_int_equal(statistics.swaps, 1);
    gpump_statistics_diff(&gpump_duet_component, &statistics, &statistics, &since);
    assert_int_equal(since.swaps, 0);
    assert_int_equal(since.most_blocks, statistics.most_blocks);
    assert_int_equal(gpump_statistics_field(&gpump_duet_component, &statistics, 2, &name, NULL, NULL, &value),
                     GPUMP_OK);
    assert_string_equal(name, "swaps");
    assert_int_equal(value, 1);
    /* Bytes from outside. */
    other.port_bytes = 64;
    assert_int_equal(gpump_adopt(&gpump_duet_component, duet, bytes, &other, &adopted, NULL), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_adopt(&gpump_duet_component, duet, bytes - 8, &config, &adopted, NULL), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
    duet->place[1] = duet->place[0];
    assert_int_equal(gpump_check(&gpump_duet_component, duet, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "places");
    free(duet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_deadlocks),
        cmocka_unit_test(without_switching_at_barriers_two_frames_deadlock),
        cmocka_unit_test(one_whole_block_ends_the_deadlocks),
        cmocka_unit_test(plans_of_all_kinds),
        cmocka_unit_test(deadlock_by_hand),
        cmocka_unit_test(figure_3_8),
        cmocka_unit_test(the_monitor_sets_its_bound_by_periods),
        cmocka_unit_test(a_saturated_period_takes_a_stated_number_back),
        cmocka_unit_test(l1_becomes_a_store),
        cmocka_unit_test(wrong_calls_of_a_duet_are_refused),
        cmocka_unit_test(every_place_is_taken_once),
        cmocka_unit_test(no_place_beyond_the_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
