/* labels: unit property */
/* fault, preset uvm595: batches, replay policies, prefetching, thrashing, remote mapping
 * and access counters. */
#include "test.h"

enum { WORDS = 1 << 17 };
static uint64_t memory[WORDS];
static gpump_fault_config config;

static gpump_fault *make(void) {
    gpump_fault *f;
    gpump_diag diag;
    config.granules = 1024;
    config.ranges = 8;
    config.waiters = 2048;
    if (gpump_init(&gpump_fault_component, memory, sizeof memory, &config, &f, &diag)) fail_msg("%s", diag.field);
    assert_int_equal(gpump_fault_map(f, 0, 0, 512 * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    return f;
}
static void preset(void) { assert_int_equal(gpump_preset(&gpump_fault_component, &config, "uvm595", NULL), GPUMP_OK); }
static uint32_t report(gpump_fault *f, uint64_t now, uint64_t granule, uint64_t cookie) {
    gpump_fault_access access;
    gpump_diag diag;
    uint32_t outcome = 99;
    memset(&access, 0, sizeof access);
    access.page = granule * 16 + 5;
    access.cookie = cookie;
    access.rights = GPUMP_TLB_READ;
    assert_int_equal(gpump_fault_report(f, now, &access, &outcome), GPUMP_OK);
    if (gpump_check(&gpump_fault_component, f, &diag)) fail_msg("%s", diag.field);
    return outcome;
}
/* Pulls everything until `now` one event at a time; counts MAP and WAKE, and the cycle of the last of each. */
typedef struct seen {
    uint32_t maps, wakes, remote;
    uint64_t first_map, last_map, granules[8]; /* bits of the first 512 granules */
} seen;
static seen drain(gpump_fault *f, uint64_t until) {
    gpump_fault_action action;
    seen s;
    memset(&s, 0, sizeof s);
    for (uint64_t next = gpump_next_cycle(&gpump_fault_component, f); next <= until;
         next = gpump_next_cycle(&gpump_fault_component, f))
        while (gpump_fault_next(f, next, &action) == GPUMP_OK) {
            assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
            assert_true(action.end <= next);
            s.wakes += action.kind == GPUMP_FAULT_ACT_WAKE;
            if (action.kind != GPUMP_FAULT_ACT_MAP) continue;
            if (!s.maps++) s.first_map = next;
            s.last_map = next;
            s.remote += action.remote;
            s.granules[action.page / 16 / 64] |= (uint64_t)1 << (action.page / 16 % 64);
        }
    return s;
}

/* An access that finds no free fault is not recorded, but its cycle has come: what was due has happened, no more. */
static void busy_lets_time_pass_and_records_nothing(void **state) {
    gpump_fault_access access;
    gpump_fault_action action;
    uint32_t outcome = 99;
    uint64_t hash = 0;
    (void)state;
    for (int asks = 0; asks < 2; asks++) {
        gpump_fault *f;
        preset();
        config.faults = 1;
        f = make();
        assert_int_equal(report(f, 0, 0, 1), GPUMP_FAULT_OPENED);
        memset(&access, 0, sizeof access);
        access.page = 40 * 16;
        access.cookie = 2;
        access.rights = GPUMP_TLB_READ;
        if (asks) /* the batch is fetched at 50000 and served until 140000, so that nothing is due */
            assert_int_equal(gpump_fault_next(f, 100000, &action), GPUMP_EMPTY);
        else
            assert_int_equal(gpump_fault_report(f, 100000, &access, &outcome), GPUMP_BUSY);
        if (asks) assert_true(gpump_hash(&gpump_fault_component, f) == hash);
        hash = gpump_hash(&gpump_fault_component, f);
        assert_int_equal(outcome, 99);
        assert_int_equal(gpump_fault_report(f, 50000, &access, &outcome), GPUMP_ERROR_TIME);
    }
}

/* One batch by hand: 50 us to the fetch, 0.2 us an entry, 90 us a VA block, 5.3 us a granule. */
static void a_batch_costs_what_its_parts_cost(void **state) {
    gpump_fault_statistics s;
    gpump_fault *f;
    seen got;
    (void)state;
    preset();
    f = make();
    assert_int_equal(report(f, 1000, 3, 1), GPUMP_FAULT_OPENED);
    assert_true(gpump_fault_ready_cycle(f, 1) == GPUMP_UNKNOWN);
    assert_int_equal(gpump_next_cycle(&gpump_fault_component, f), 51000);
    assert_int_equal(report(f, 30000, 70, 2), GPUMP_FAULT_OPENED); /* another VA block */
    assert_int_equal(report(f, 40000, 3, 3), GPUMP_FAULT_MERGED);  /* a duplicate is an entry */
    assert_int_equal(report(f, 60000, 4, 4), GPUMP_FAULT_OPENED);  /* after the fetch: the next batch */
    assert_int_equal(gpump_fault_ready_cycle(f, 1), 51000 + 3 * 200 + 2 * 90000 + 2 * 5300);
    assert_int_equal(gpump_fault_ready_cycle(f, 2), gpump_fault_ready_cycle(f, 1)); /* the replay ends the batch */
    assert_true(gpump_fault_ready_cycle(f, 4) == GPUMP_UNKNOWN);
    got = drain(f, 242200);
    assert_int_equal(got.maps, 2);
    assert_int_equal(got.wakes, 3);
    assert_int_equal(got.first_map, 242200);
    assert_int_equal(gpump_next_cycle(&gpump_fault_component, f), 242200 + 50000);
    got = drain(f, 10000000);
    assert_int_equal(got.maps, 1); /* 3 and 4 are half of a four */
    assert_int_equal(got.last_map, 292200 + 200 + 90000 + 5300);
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.batches, 2);
    assert_int_equal(s.fetched, 4);
    assert_int_equal(s.migrated, 3);
    assert_int_equal(s.served, 3);
    assert_int_equal(s.opened, 3);
}

/* 500 faults of 500 granules in 16 VA blocks, fetched 256 at a time: when the first is mapped tells the policies apart.
 */
static void replay_policies_differ_in_when_the_first_page_is_mapped(void **state) {
    uint64_t first[GPUMP_UVM_REPLAYS], last[GPUMP_UVM_REPLAYS];
    (void)state;
    for (uint32_t replay = 0; replay < GPUMP_UVM_REPLAYS; replay++) {
        gpump_fault_statistics s;
        gpump_fault *f;
        seen got;
        preset();
        config.uvm.replay = replay;
        config.uvm.prefetch_percent = 100;
        f = make();
        for (uint32_t g = 0; g < 500; g++) {
            assert_int_equal(report(f, g, g, g), GPUMP_FAULT_OPENED);
            if (g < 10) assert_int_equal(report(f, g, g, g + 1000), GPUMP_FAULT_MERGED);
        }
        got = drain(f, GPUMP_UNKNOWN - 1);
        assert_int_equal(got.maps, 500);
        assert_int_equal(got.wakes, 510);
        gpump_get_statistics(&gpump_fault_component, f, &s);
        assert_int_equal(s.batches, 2);
        assert_int_equal(s.fetched, 510);
        first[replay] = got.first_map;
        last[replay] = got.last_map;
    }
    /* the first VA block has 32 granules, and its batch was fetched with 256 entries */
    assert_int_equal(first[GPUMP_UVM_REPLAY_BLOCK], 50000 + 256 * 200 + 90000 + 32 * 5300);
    /* the first batch: 10 duplicates, so 246 granules in 8 blocks */
    assert_int_equal(first[GPUMP_UVM_REPLAY_BATCH], 50000 + 256 * 200 + 8 * 90000 + 246 * 5300);
    assert_int_equal(first[GPUMP_UVM_REPLAY_BATCH_FLUSH], first[GPUMP_UVM_REPLAY_BATCH]);
    /* once: 510 entries in one service of two batches, 16 blocks */
    assert_int_equal(first[GPUMP_UVM_REPLAY_ONCE], 2 * 50000 + 510 * 200 + 16 * 90000 + 500 * 5300);
    assert_int_equal(last[GPUMP_UVM_REPLAY_ONCE], first[GPUMP_UVM_REPLAY_ONCE]);
    /* otherwise block 7 is served in both batches, for the faults that came with each */
    assert_int_equal(last[GPUMP_UVM_REPLAY_BATCH], 2 * 50000 + 510 * 200 + 17 * 90000 + 500 * 5300);
}

/* Merged reports that wait in the buffer are dropped by a flush, and fetched without one. */
static void a_flush_drops_duplicates(void **state) {
    (void)state;
    for (uint32_t flush = 0; flush < 2; flush++) {
        gpump_fault_statistics s;
        gpump_fault *f;
        preset();
        config.uvm.replay = flush ? GPUMP_UVM_REPLAY_BATCH_FLUSH : GPUMP_UVM_REPLAY_BATCH;
        config.uvm.batch = 2;
        f = make();
        (void)report(f, 0, 0, 1);
        (void)report(f, 0, 100, 2);
        (void)report(f, 0, 200, 3); /* the second batch, with two duplicates */
        (void)report(f, 0, 200, 4);
        (void)report(f, 0, 200, 5);
        assert_int_equal(drain(f, GPUMP_UNKNOWN - 1).wakes, 5);
        gpump_get_statistics(&gpump_fault_component, f, &s);
        assert_int_equal(s.fetched, flush ? 3 : 4); /* a batch of two fetches one duplicate at most */
    }
}

/* Density brings a whole VA block once 51 per cent are there or asked for, once. */
static void density_brings_the_block(void **state) {
    gpump_fault_statistics s;
    gpump_fault *f;
    seen got;
    (void)state;
    preset();
    f = make();
    for (uint32_t g = 0; g < 17; g++) (void)report(f, g, 64 + g, g);
    got = drain(f, GPUMP_UNKNOWN - 1);
    assert_int_equal(got.maps, 32);
    assert_true(got.granules[1] == 0xffffffff);
    assert_int_equal(got.wakes, 17);
    assert_int_equal(got.last_map, 50000 + 17 * 200 + 90000 + 32 * 5300);
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.prefetched, 15);
    assert_int_equal(s.opened + s.prefetched, s.served);
    assert_int_equal(report(f, 9000000, 64 + 31, 1), GPUMP_FAULT_RETRY);
}

/* What counts for density in a VA block: its own granules that are there or on their way, and nothing else. */
static void what_counts_for_density(void **state) {
    gpump_fault_statistics s;
    gpump_fault *f;
    seen got;
    (void)state;
    /* two of four are no 51 per cent; granule 0 is not there, and the next VA block's first one does not count */
    for (uint32_t granules = 32; granules <= 64; granules += 32) {
        preset();
        config.uvm.block_granules = granules;
        f = make();
        (void)report(f, 0, granules, 9);
        got = drain(f, 1000000);
        assert_int_equal(got.maps, 1);
        (void)report(f, 2000000, 1, 1);
        (void)report(f, 2000000, 2, 2);
        got = drain(f, GPUMP_UNKNOWN - 1);
        assert_int_equal(got.maps, 2);
        assert_true(got.granules[0] == 6);
    }
    /* a fault that waits for the next batch is on its way: three of four */
    preset();
    config.uvm.batch = 2;
    f = make();
    for (uint32_t g = 1; g < 4; g++) (void)report(f, 0, g % 3, g);
    got = drain(f, 50000 + 2 * 200 + 90000 + 3 * 5300);
    assert_int_equal(got.maps, 3);
    assert_true(got.granules[0] == 14);
    got = drain(f, GPUMP_UNKNOWN - 1);
    assert_int_equal(got.maps, 1);
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.batches, 2);
    assert_int_equal(s.prefetched, 1);
    /* a buffer that begins far behind its own length */
    preset();
    f = make();
    assert_int_equal(gpump_fault_map(f, 0, 2048 * 16, 32 * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
    for (uint32_t g = 0; g < 17; g++) (void)report(f, g, 2048 + g, g);
    for (uint32_t maps = 0; maps < 32; maps++) {
        gpump_fault_action action;
        do {
            assert_true(gpump_next_cycle(&gpump_fault_component, f) != GPUMP_UNKNOWN);
            while (gpump_fault_next(f, gpump_next_cycle(&gpump_fault_component, f), &action) == GPUMP_EMPTY) {}
        } while (action.kind != GPUMP_FAULT_ACT_MAP);
        assert_int_equal(action.page / 16 / 32, 64);
    }
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.prefetched, 15);
}

/* The measured driver (Batch-Aware UM): batches of 223 to 553 us, 313 in the median. Batches of one VA block with 16 to
 * 32 granules are inside, and the median lies between them. */
static void batches_take_as_long_as_measured(void **state) {
    (void)state;
    preset();
    for (uint32_t granules = 16; granules <= 32; granules += 16) {
        const uint64_t cycles = config.uvm.batch_cycles + granules * config.uvm.entry_cycles + config.uvm.block_cycles +
                                granules * (uint64_t)config.migrate_busy_cycles;
        assert_true(cycles > 223000 && cycles < 553000);
        assert_int_equal(cycles < 313000, granules == 16);
    }
}

/* A granule that three times comes back soon after it was taken is delayed; after ten delays it is pinned, or mapped
 * remotely where that is possible. */
static void a_thrashing_granule_is_delayed_then_pinned(void **state) {
    (void)state;
    for (uint32_t remote = 0; remote < 2; remote++) {
        gpump_fault_statistics s;
        gpump_fault *f;
        uint64_t now = 0;
        uint32_t rounds = 0;
        preset();
        config.touches = 1;
        config.memory = 1; /* two granules in turn: each evicts the other */
        config.pins = 0;
        config.uvm.remote = remote;
        config.uvm.batch_cycles = 1000;
        config.uvm.block_cycles = 1000;
        f = make();
        do {
            gpump_fault_action action;
            (void)report(f, now, rounds % 2 * 40, 1);
            while (gpump_fault_pending(f, 1)) {
                now = gpump_next_cycle(&gpump_fault_component, f);
                assert_true(now != GPUMP_UNKNOWN);
                while (gpump_fault_next(f, now, &action) == GPUMP_OK)
                    if (action.kind == GPUMP_FAULT_ACT_UNMAP)
                        assert_int_equal(gpump_fault_report_unmapped(f, now, 0, action.page, 0), GPUMP_OK);
            }
            gpump_get_statistics(&gpump_fault_component, f, &s);
        } while (++rounds < 500 && !s.pinned);
        assert_int_equal(s.pinned, 1);
        assert_true(s.delayed >= 10 && s.delayed <= 20); /* ten of that granule, and at most ten of the other */
        assert_int_equal(s.remote, remote);
        assert_true(now > 10 * UINT64_C(500000)); /* each delay is 500 us */
        assert_true(s.served == rounds);
    }
}

/* Two granules in turn on one frame: a granule is delayed once for each fault while it thrashes, pinned after two
 * delays (thrash_delays), and then begins anew. What a fault takes: 1000 to the fetch, 200 for its entry, 1000 for its
 * VA block, 5300 for the migration or 5000 for a remote mapping, and 500000 more when it is delayed; never because it
 * is pinned. */
static void pinning_starts_anew(void **state) {
    (void)state;
    for (uint32_t remote = 0; remote < 2; remote++) {
        gpump_fault_statistics before, after;
        gpump_fault *f;
        uint64_t now = 0, start;
        uint32_t delays[2] = {0, 0}, pinned[2] = {0, 0};
        preset();
        config.touches = config.memory = 1;
        config.pins = 0;
        config.uvm.remote = remote;
        config.uvm.thrash_delays = 2;
        config.uvm.batch_cycles = config.uvm.block_cycles = 1000;
        f = make();
        for (uint32_t round = 0; round < 100; round++) {
            gpump_fault_action action;
            const uint32_t one = round % 2;
            uint64_t expected = 1000 + 200 + 1000 + 5300;
            gpump_get_statistics(&gpump_fault_component, f, &before);
            start = now += 2000;
            if (report(f, now, one * 40, 1) == GPUMP_FAULT_RETRY) continue; /* it is mapped remotely */
            while (gpump_fault_pending(f, 1)) {
                now = gpump_next_cycle(&gpump_fault_component, f);
                assert_true(now != GPUMP_UNKNOWN);
                while (gpump_fault_next(f, now, &action) == GPUMP_OK)
                    if (action.kind == GPUMP_FAULT_ACT_UNMAP)
                        assert_int_equal(gpump_fault_report_unmapped(f, now, 0, action.page, 0), GPUMP_OK);
            }
            gpump_get_statistics(&gpump_fault_component, f, &after);
            assert_int_equal(after.served - before.served, 1);
            if (after.delayed > before.delayed) {
                assert_int_equal(after.delayed - before.delayed, 1);
                assert_int_equal(after.pinned, before.pinned + (after.remote - before.remote));
                expected += 500000;
                delays[one]++;
            }
            if (after.pinned > before.pinned) {
                assert_int_equal(delays[one], 2);
                delays[one] = 0;
                pinned[one]++;
                if (remote) expected -= 300;
            }
            assert_int_equal(now - start, expected);
        }
        if (remote)
            assert_int_equal(pinned[0] + pinned[1], 1); /* the other one has the frame from then on */
        else
            assert_true(pinned[0] >= 2 && pinned[1] >= 2);
    }
}

/* An access counter that is full opens its fault after the batch that was due before it, and that one goes without it.
 */
static void a_counter_joins_the_next_batch(void **state) {
    gpump_fault *f;
    seen got;
    uint64_t start, end;
    (void)state;
    preset();
    config.uvm.remote = 2;
    f = make();
    assert_int_equal(gpump_fault_report_remote(NULL, 0, 0, 0, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_report_remote(f, 0, config.processes, 0, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_report_remote(f, GPUMP_UNKNOWN, 0, 0, 1), GPUMP_ERROR_TIME);
    (void)report(f, 0, 7, 1);
    start = 1000000;
    (void)drain(f, start);
    (void)report(f, start, 100, 2);
    assert_int_equal(gpump_fault_report_remote(f, start - 1, 0, 7 * 16, 256), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_fault_report_remote(f, start + 60000, 0, 7 * 16, 256), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    end = start + 50000 + 200 + 90000 + 5000;
    got = drain(f, end);
    assert_int_equal(got.maps, 1);
    assert_int_equal(got.remote, 1);
    assert_int_equal(got.last_map, end);
    got = drain(f, GPUMP_UNKNOWN - 1);
    assert_int_equal(got.maps, 1);
    assert_int_equal(got.remote, 0);
    assert_int_equal(got.last_map, end + 50000 + 200 + 90000 + 5300);
}

/* Without a free fault a counter goes on up to the access that would migrate its granule. */
static void a_counter_waits_for_a_free_fault(void **state) {
    gpump_fault *f;
    (void)state;
    preset();
    config.uvm.remote = 2;
    config.faults = 1;
    f = make();
    (void)report(f, 0, 7, 1);
    (void)drain(f, 1000000);
    (void)report(f, 1000000, 100, 2); /* takes the only fault */
    assert_int_equal(gpump_fault_report_remote(f, 1000000, 0, 7 * 16, 255), GPUMP_OK);
    assert_int_equal(gpump_fault_report_remote(f, 1000000, 0, 7 * 16, 1), GPUMP_BUSY);
    assert_int_equal(gpump_fault_report_remote(f, 1000000, 0, 7 * 16, 0), GPUMP_OK);
    (void)drain(f, 2000000);
    assert_int_equal(gpump_fault_report_remote(f, 2000000, 0, 7 * 16, 1), GPUMP_OK);
    assert_int_equal(drain(f, GPUMP_UNKNOWN - 1).maps, 1);
    assert_int_equal(gpump_fault_report_remote(f, 3000000, 0, 7 * 16, 1), GPUMP_EMPTY); /* it has migrated */
}

/* remote 2: what the CPU has is mapped over the link at once; 256 accesses make it migrate. */
static void counted_remote_accesses_migrate_a_granule(void **state) {
    gpump_fault_statistics s;
    gpump_fault *f;
    seen got;
    uint64_t now;
    (void)state;
    preset();
    config.uvm.remote = 2;
    f = make();
    assert_int_equal(gpump_fault_report_remote(f, 0, 0, 7 * 16, 1), GPUMP_EMPTY); /* not mapped remotely */
    (void)report(f, 0, 7, 1);
    got = drain(f, GPUMP_UNKNOWN - 1);
    assert_int_equal(got.maps, 1);
    assert_int_equal(got.remote, 1);
    now = got.last_map;
    assert_int_equal(now, 50000 + 200 + 90000 + 5000);
    assert_int_equal(report(f, now, 7, 2), GPUMP_FAULT_RETRY);
    assert_int_equal(gpump_fault_report_remote(f, now, 0, 7 * 16 + 3, 255), GPUMP_OK);
    assert_true(gpump_next_cycle(&gpump_fault_component, f) == GPUMP_UNKNOWN);
    assert_int_equal(gpump_fault_report_remote(f, now, 0, 7 * 16, 1), GPUMP_OK);
    assert_int_equal(gpump_fault_report_remote(f, now, 0, 7 * 16, 400), GPUMP_OK); /* it migrates already */
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    assert_int_equal(report(f, now, 7, 2), GPUMP_FAULT_RETRY); /* meanwhile it is accessed over the link */
    got = drain(f, GPUMP_UNKNOWN - 1);
    assert_int_equal(got.maps, 1);
    assert_int_equal(got.remote, 0);
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.remote, 1);
    assert_int_equal(s.migrated, 1);
    assert_int_equal(s.prefetched, 1);
    assert_int_equal(gpump_fault_report_remote(f, got.last_map, 0, 7 * 16, 1), GPUMP_EMPTY);
}

/* With `local`, SMs allocate what neither side has, each one page at a time, while the driver batches what the CPU has.
 */
static void sms_allocate_beside_the_driver(void **state) {
    enum { LOCAL_CYCLES = 20000, FIRST_UNALLOCATED = 512 };
    gpump_fault_action action;
    gpump_fault_statistics s;
    gpump_fault *f;
    uint64_t mapped[3] = {0, 0, 0}, next;
    (void)state;
    preset();
    config.local = 1;
    config.local_cycles = LOCAL_CYCLES;
    config.uvm.prefetch_percent = 100;
    f = make();
    assert_int_equal(gpump_fault_map(f, 0, FIRST_UNALLOCATED * 16, 64 * 16, GPUMP_FAULT_UNALLOCATED, GPUMP_TLB_READ),
                     GPUMP_OK);
    assert_int_equal(report(f, 100, FIRST_UNALLOCATED, 1), GPUMP_FAULT_OPENED);
    assert_int_equal(report(f, 100, 3, 2), GPUMP_FAULT_OPENED);
    assert_int_equal(report(f, 100, FIRST_UNALLOCATED + 9, 3), GPUMP_FAULT_OPENED); /* the same SM: behind the first */
    assert_int_equal(report(f, 200, FIRST_UNALLOCATED, 4), GPUMP_FAULT_MERGED);
    for (next = gpump_next_cycle(&gpump_fault_component, f); next != GPUMP_UNKNOWN;
         next = gpump_next_cycle(&gpump_fault_component, f))
        while (gpump_fault_next(f, next > 200 ? next : 200, &action) == GPUMP_OK) {
            const uint64_t granule = action.page / 16;
            assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
            if (action.kind == GPUMP_FAULT_ACT_MAP)
                mapped[granule == 3 ? 2 : granule == FIRST_UNALLOCATED ? 0 : 1] = action.end;
        }
    assert_int_equal(mapped[0], 100 + LOCAL_CYCLES);
    assert_int_equal(mapped[1], 100 + 2 * LOCAL_CYCLES);
    assert_int_equal(mapped[2], 100 + config.uvm.batch_cycles + config.uvm.entry_cycles + config.uvm.block_cycles +
                                    config.migrate_busy_cycles);
    gpump_get_statistics(&gpump_fault_component, f, &s);
    assert_int_equal(s.local, 2);
    assert_int_equal(s.migrated, 1);
    assert_int_equal(s.allocated, 0);
    assert_int_equal(s.batches, 1);
    assert_int_equal(s.woken, 4);
}

/* Numbers of config.uvm out of their range are refused by name. */
static void wrong_numbers_of_the_driver_are_refused(void **state) {
    gpump_diag diag;
    size_t bytes;
    (void)state;
    preset();
    config.uvm.block_granules = 24;
    assert_int_equal(gpump_bytes(&gpump_fault_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    preset();
    config.uvm.prefetch_percent = 0;
    assert_int_equal(gpump_bytes(&gpump_fault_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "uvm.prefetch_percent");
    preset();
    config.uvm.counter = 0;
    assert_int_equal(gpump_bytes(&gpump_fault_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "uvm.counter");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_lets_time_pass_and_records_nothing),
        cmocka_unit_test(what_counts_for_density),
        cmocka_unit_test(pinning_starts_anew),
        cmocka_unit_test(a_counter_joins_the_next_batch),
        cmocka_unit_test(a_counter_waits_for_a_free_fault),
        cmocka_unit_test(a_batch_costs_what_its_parts_cost),
        cmocka_unit_test(replay_policies_differ_in_when_the_first_page_is_mapped),
        cmocka_unit_test(a_flush_drops_duplicates),
        cmocka_unit_test(density_brings_the_block),
        cmocka_unit_test(batches_take_as_long_as_measured),
        cmocka_unit_test(a_thrashing_granule_is_delayed_then_pinned),
        cmocka_unit_test(counted_remote_accesses_migrate_a_granule),
        cmocka_unit_test(sms_allocate_beside_the_driver),
        cmocka_unit_test(wrong_numbers_of_the_driver_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
