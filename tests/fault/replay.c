/* labels: unit property */
/* replay: the rules of each scheme, one at a time. Random pipelines with memory: tests/fault/replay_pipeline.c. */
#include "diagnosed.h"

enum { WORDS = 1 << 16 };
static uint64_t memory[WORDS];

static gpump_replay *make(const char *preset, uint32_t order) {
    gpump_replay_config config;
    gpump_replay *r;
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, preset, NULL), GPUMP_OK);
    config.order = order;
    assert_int_equal(gpump_init(&gpump_replay_component, memory, sizeof memory, &config, &r, NULL), GPUMP_OK);
    assert_int_equal(gpump_replay_open(r, 0, 0), GPUMP_OK);
    return r;
}
static uint32_t issue(gpump_replay *r, uint64_t sequence, uint32_t kind) {
    gpump_replay_entry instruction = {sequence, 0xffffffff, (uint32_t)sequence * 8, kind, kind - 1u, 0};
    uint32_t entry = GPUMP_NONE;
    if (kind == GPUMP_REPLAY_ATOMIC) instruction.log_units = 2;
    assert_int_equal(gpump_replay_report_issued(r, 0, &instruction, &entry), GPUMP_OK);
    return entry;
}
static gpump_reason checked(gpump_replay *r, uint32_t entry) {
    gpump_reason answer;
    assert_int_equal(gpump_replay_report_checked(r, entry, &answer), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_replay_component, r, NULL), GPUMP_OK);
    return answer;
}
static void expect(gpump_replay *r, uint32_t kind, uint32_t entry) {
    gpump_replay_action action;
    gpump_diag diag;
    if (gpump_check(&gpump_replay_component, r, &diag)) fail_msg("%s", diag.field);
    assert_int_equal(gpump_replay_next(r, &action), GPUMP_OK);
    assert_int_equal(action.kind, kind);
    assert_int_equal(action.entry, entry);
    if (gpump_check(&gpump_replay_component, r, &diag)) fail_msg("%s", diag.field);
}
static void expect_none(gpump_replay *r) {
    gpump_replay_action action;
    assert_int_equal(gpump_replay_next(r, &action), GPUMP_EMPTY);
}

/* The counters that are not 0, by name. */
typedef struct counted {
    const char *name;
    uint64_t value;
} counted;
static void counters_are(const gpump_replay *r, const counted *expected, uint32_t count) {
    gpump_replay_statistics statistics;
    const char *name;
    uint64_t value;
    uint32_t seen = 0;
    gpump_get_statistics(&gpump_replay_component, r, &statistics);
    for (uint32_t i = 0;
         gpump_statistics_field(&gpump_replay_component, &statistics, i, &name, NULL, NULL, &value) == GPUMP_OK; i++) {
        uint64_t wanted = 0;
        for (uint32_t k = 0; k < count; k++)
            if (!strcmp(name, expected[k].name)) wanted = expected[k].value, seen++;
        if (value != wanted)
            fail_msg("%s is %llu, not %llu", name, (unsigned long long)value, (unsigned long long)wanted);
    }
    assert_int_equal(seen, count);
}

/* A fault squashes a load into the queue, a younger load passes, the warp drains, leaves its SM, comes back in another
 * slot, and replays in order; everything is counted once. */
static void test_queue_life(void **state) {
    static const counted all[] = {{"issued", 3},  {"effects", 3},  {"committed", 3}, {"waits", 1},
                                  {"faults", 1},  {"drains", 1},   {"squashed", 1},  {"unissued", 2},
                                  {"replays", 1}, {"reissued", 3}, {"restored", 1}};
    gpump_replay_entry unordered[2];
    gpump_replay *r = make("queue", GPUMP_REPLAY_CLASS);
    const gpump_replay_entry unissued[2] = {{5, 1, 40, GPUMP_REPLAY_OTHER, 0, 0}, {7, 1, 56, GPUMP_REPLAY_STORE, 2, 0}};
    const uint32_t load = issue(r, 4, GPUMP_REPLAY_LOAD), second = issue(r, 6, GPUMP_REPLAY_LOAD);
    gpump_replay_entry saved[8];
    gpump_reason answer;
    uint64_t words[32];
    uint32_t handles[8], count;
    (void)state;
    assert_false(gpump_replay_releases_sources(r, load));
    assert_int_equal(gpump_replay_report_faulted(r, load), GPUMP_OK);
    assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_FAULTED);
    assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_ISSUE), GPUMP_REASON_FAULTED);
    assert_true(gpumpi_replay_awaits_page(r, 0));
    expect(r, GPUMP_REPLAY_ACT_SQUASH, load);
    expect_none(r);
    assert_int_equal(checked(r, second), GPUMP_REASON_YES); /* a plain load passes a plain load */
    expect_none(r);
    assert_int_equal(gpump_replay_report_committed(r, second), GPUMP_OK);
    assert_int_equal(gpump_replay_report_unissued(r, 0, NULL, 0), GPUMP_ERROR_STATE); /* before DRAINED */
    expect(r, GPUMP_REPLAY_ACT_DRAINED, GPUMP_NONE);
    unordered[0] = unissued[1], unordered[1] = unissued[0]; /* descending, twice the same, and one that is there */
    assert_int_equal(gpump_replay_report_unissued(r, 0, unordered, 2), GPUMP_ERROR_ARGUMENT);
    unordered[1] = unissued[1];
    assert_int_equal(gpump_replay_report_unissued(r, 0, unordered, 2), GPUMP_ERROR_ARGUMENT);
    unordered[0].sequence = 4;
    assert_int_equal(gpump_replay_report_unissued(r, 0, unordered, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_report_unissued(r, 0, unissued, 2), GPUMP_OK);
    assert_int_equal(gpump_replay_state_of(r, 0), GPUMP_REPLAY_HELD);
    expect_none(r);
    /* it leaves and comes back in another slot */
    assert_int_equal(gpump_replay_save(r, 0, saved, 2, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_replay_save(r, 0, saved, 8, &count), GPUMP_OK);
    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(saved[i].sequence, i ? 3 + 2 * i : 4);
    gpump_replay_pack(saved, 3, words);
    memset(saved, 0, sizeof saved);
    gpump_replay_unpack(words, 3, saved);
    assert_int_equal(gpump_replay_close(r, 0), GPUMP_OK);
    assert_int_equal(gpump_replay_open(r, 9, 5), GPUMP_OK);
    unordered[0] = saved[1], unordered[1] = saved[0];
    diagnosed(gpump_replay_restore(r, 9, unordered, 2, DIAG), GPUMP_ERROR_FORMAT, "sequence", 0, 0, 0, 0);
    assert_int_equal(gpump_replay_restore(r, 9, saved, 3, NULL), GPUMP_OK);
    expect_none(r);
    assert_int_equal(gpump_replay_report_served(r, 9), GPUMP_OK);
    expect(r, GPUMP_REPLAY_ACT_REPLAY, GPUMP_NONE);
    assert_int_equal(gpump_replay_pending(r, 9, handles, 8, &count), GPUMP_OK);
    assert_int_equal(count, 3);
    assert_int_equal(gpump_replay_may(r, 9, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_REPLAYING);
    assert_int_equal(gpump_replay_may_reissue(r, handles[2]), GPUMP_REASON_MEMORY_ORDER);
    assert_int_equal(gpump_replay_report_reissued(r, handles[2]), GPUMP_BUSY);
    assert_int_equal(gpump_replay_report_reissued(r, handles[1]), GPUMP_OK);
    assert_int_equal(gpump_replay_report_reissued(r, handles[0]), GPUMP_OK);
    assert_int_equal(gpump_replay_pending(r, 9, NULL, 0, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 1); /* what is in flight is not pending, though it has had no effect */
    assert_int_equal(gpump_replay_report_reissued(r, handles[2]), GPUMP_OK);
    expect(r, GPUMP_REPLAY_ACT_FETCH, GPUMP_NONE);
    assert_int_equal(gpump_replay_may(r, 9, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_may(r, 9, GPUMP_REPLAY_TO_SYNCHRONISE), GPUMP_REASON_MEMORY_ORDER);
    assert_int_equal(checked(r, handles[2]), GPUMP_REASON_MEMORY_ORDER); /* a store waits for the load */
    assert_int_equal(gpump_replay_report_checked(r, handles[2], &answer), GPUMP_ERROR_STATE);
    assert_int_equal(checked(r, handles[0]), GPUMP_REASON_YES);
    expect(r, GPUMP_REPLAY_ACT_EFFECT, handles[2]);
    assert_int_equal(gpump_replay_may(r, 9, GPUMP_REPLAY_TO_SYNCHRONISE), GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_report_committed(r, handles[0]), GPUMP_OK);
    assert_int_equal(gpump_replay_report_committed(r, handles[2]), GPUMP_OK);
    expect_none(r);
    assert_int_equal(gpump_replay_close(r, 9), GPUMP_OK);
    counters_are(r, all, sizeof all / sizeof *all);
}

/* Behind an older access, to local memory say, the warp waits for the one that it has fetched, and not for the older.
 */
static void test_warp_disable_behind_older(void **state) {
    static const char *const presets[] = {"wd_commit", "wd_check"};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        gpump_replay *r = make(presets[i], GPUMP_REPLAY_CLASS);
        const uint32_t older = issue(r, 1, GPUMP_REPLAY_LOAD);
        uint32_t load;
        gpump_replay_report_fetched(r, 0, 2);
        assert_int_equal(checked(r, older), GPUMP_REASON_YES);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_WARP_DISABLED);
        load = issue(r, 2, GPUMP_REPLAY_LOAD);
        assert_int_equal(gpump_replay_report_committed(r, older), GPUMP_OK);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_WARP_DISABLED);
        expect_none(r);
        assert_int_equal(checked(r, load), GPUMP_REASON_YES);
        assert_int_equal(gpump_replay_report_committed(r, load), GPUMP_OK);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_YES);
        expect(r, GPUMP_REPLAY_ACT_FETCH, GPUMP_NONE);
    }
}

/* wd_commit and wd_check: a warp fetches nothing from an access to its commit, or to its last check. */
static void a_disabled_warp_fetches_nothing(void **state) {
    static const char *const presets[] = {"wd_commit", "wd_check"};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        gpump_replay *r = make(presets[i], GPUMP_REPLAY_CLASS);
        uint32_t load;
        gpump_replay_report_fetched(r, 0, 1);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_WARP_DISABLED);
        load = issue(r, 1, GPUMP_REPLAY_LOAD);
        assert_true(gpump_replay_releases_sources(r, load));
        assert_int_equal(gpump_replay_report_committed(r, load), GPUMP_ERROR_STATE);
        assert_int_equal(checked(r, load), GPUMP_REASON_YES);
        assert_int_equal(gpump_replay_report_faulted(r, load), GPUMP_ERROR_STATE);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH),
                         i ? GPUMP_REASON_YES : GPUMP_REASON_WARP_DISABLED);
        if (i) expect(r, GPUMP_REPLAY_ACT_FETCH, GPUMP_NONE);
        assert_int_equal(gpump_replay_report_committed(r, load), GPUMP_OK);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_YES);
        if (!i) expect(r, GPUMP_REPLAY_ACT_FETCH, GPUMP_NONE);
        expect_none(r);
        /* a fault: it is fetched again, older instructions may issue meanwhile, nothing is in the queue */
        gpump_replay_report_fetched(r, 0, 2);
        load = issue(r, 2, GPUMP_REPLAY_LOAD);
        assert_int_equal(gpump_replay_report_faulted(r, load), GPUMP_OK);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_ISSUE), GPUMP_REASON_YES);
        assert_int_equal(gpump_replay_may_issue_memory(r, 0, 1), GPUMP_REASON_FAULTED);
        expect(r, GPUMP_REPLAY_ACT_REFETCH, load);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_SYNCHRONISE), GPUMP_REASON_YES); /* of an older fence */
        assert_int_equal(gpump_replay_report_served(r, 0), GPUMP_OK); /* before it has drained */
        expect(r, GPUMP_REPLAY_ACT_DRAINED, GPUMP_NONE);
        assert_int_equal(gpump_replay_report_unissued(r, 0, NULL, 0), GPUMP_OK);
        expect(r, GPUMP_REPLAY_ACT_FETCH, GPUMP_NONE);
        expect_none(r);
    }
}

/* Under stall and under lazy replay, younger instructions wait for the faulted one as each scheme says. */
static void test_stall_and_lazy_wait_in_place(void **state) {
    gpump_replay_config config;
    (void)state;
    for (uint32_t lazy = 0; lazy < 2; lazy++) {
        gpump_replay *r;
        uint32_t load, store;
        assert_int_equal(gpump_preset(&gpump_replay_component, &config, lazy ? "queue" : "stall", NULL), GPUMP_OK);
        config.on_fault = lazy;
        assert_int_equal(gpump_init(&gpump_replay_component, memory, sizeof memory, &config, &r, NULL), GPUMP_OK);
        assert_int_equal(gpump_replay_open(r, 0, 0), GPUMP_OK);
        load = issue(r, 1, GPUMP_REPLAY_LOAD);
        assert_int_equal(gpump_replay_report_faulted(r, load), GPUMP_OK);
        assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH), GPUMP_REASON_YES);
        store = issue(r, 2, GPUMP_REPLAY_STORE);
        assert_int_equal(checked(r, store), GPUMP_REASON_MEMORY_ORDER);
        expect_none(r);
        assert_int_equal(gpump_replay_report_served(r, 0), GPUMP_OK);
        assert_int_equal(checked(r, load), GPUMP_REASON_YES);
        expect(r, GPUMP_REPLAY_ACT_EFFECT, store);
        if (!lazy) {
            assert_int_equal(gpump_replay_squash(r, 0), GPUMP_BUSY);
            continue;
        }
        load = issue(r, 3, GPUMP_REPLAY_LOAD); /* the block is wanted while it waits */
        assert_int_equal(gpump_replay_report_faulted(r, load), GPUMP_OK);
        assert_int_equal(gpump_replay_squash(r, 0), GPUMP_OK);
        expect(r, GPUMP_REPLAY_ACT_SQUASH, load);
        expect_none(r); /* the store has taken effect and must commit */
        assert_int_equal(gpump_replay_report_committed(r, store), GPUMP_OK);
        expect_none(r); /* so must the first load */
    }
}

/* A younger access is sent back when an older one faults, with probes and without them. */
static void test_nack_with_and_without_probe(void **state) {
    gpump_replay_config config;
    (void)state;
    for (uint32_t probe = 0; probe < 2; probe++) {
        gpump_replay *r;
        gpump_replay_action action;
        uint32_t store, load;
        assert_int_equal(gpump_preset(&gpump_replay_component, &config, "queue", NULL), GPUMP_OK);
        config.probe = probe;
        assert_int_equal(gpump_init(&gpump_replay_component, memory, sizeof memory, &config, &r, NULL), GPUMP_OK);
        assert_int_equal(gpump_replay_open(r, 0, 0), GPUMP_OK);
        store = issue(r, 1, GPUMP_REPLAY_STORE);
        load = issue(r, 2, GPUMP_REPLAY_LOAD);
        assert_int_equal(gpumpi_replay_may_take_effect(r, load), GPUMP_REASON_MEMORY_ORDER);
        assert_int_equal(gpump_replay_report_faulted(r, store), GPUMP_OK);
        assert_int_equal(gpumpi_replay_may_take_effect(r, load), GPUMP_REASON_FAULTED);
        assert_int_equal(gpump_replay_next(r, &action), GPUMP_OK);
        assert_int_equal(action.entry, store);
        assert_int_equal(action.nacked, 0);
        if (probe) { /* it finishes its checks first, so that its own fault starts early */
            expect_none(r);
            assert_int_equal(checked(r, load), GPUMP_REASON_FAULTED);
        }
        assert_int_equal(gpump_replay_next(r, &action), GPUMP_OK);
        assert_int_equal(action.kind, GPUMP_REPLAY_ACT_SQUASH);
        assert_int_equal(action.entry, load);
        assert_int_equal(action.nacked, 1);
        assert_int_equal(action.what.sequence, 2);
        expect(r, GPUMP_REPLAY_ACT_DRAINED, GPUMP_NONE);
        expect_none(r);
    }
}

/* An effect waits for every older one that waits, not only for those whose checks are open. */
static void test_waits_are_transitive(void **state) {
    gpump_replay *r = make("log16", GPUMP_REPLAY_CLASS);
    const uint32_t load = issue(r, 1, GPUMP_REPLAY_LOAD), store = issue(r, 2, GPUMP_REPLAY_STORE);
    const uint32_t second = issue(r, 3, GPUMP_REPLAY_LOAD);
    (void)state;
    assert_int_equal(checked(r, store), GPUMP_REASON_MEMORY_ORDER);
    assert_int_equal(checked(r, second), GPUMP_REASON_MEMORY_ORDER); /* the store's check has passed */
    assert_int_equal(checked(r, load), GPUMP_REASON_YES);
    expect(r, GPUMP_REPLAY_ACT_EFFECT, store);
    expect(r, GPUMP_REPLAY_ACT_EFFECT, second);
    expect_none(r);
}

/* Under ADDRESS an access whose segments are not known yet may touch any, also segment 0 and the last. */
static void test_unknown_segments_are_any(void **state) {
    (void)state;
    for (uint32_t last = 0; last < 2; last++) {
        gpump_replay *r = make("queue", GPUMP_REPLAY_ADDRESS);
        const uint32_t store = issue(r, 1, GPUMP_REPLAY_STORE), load = issue(r, 2, GPUMP_REPLAY_LOAD);
        const uint64_t segment = last ? UINT64_MAX : 0, other = 5;
        assert_int_equal(gpump_replay_report_segments(r, load, &segment, 1), GPUMP_OK);
        assert_int_equal(gpumpi_replay_may_take_effect(r, load), GPUMP_REASON_MEMORY_ORDER);
        assert_int_equal(gpump_replay_report_segments(r, store, &other, 1), GPUMP_OK);
        assert_int_equal(gpumpi_replay_may_take_effect(r, load), GPUMP_REASON_YES);
    }
}

/* What was not issued has no flags, whatever the host hands over. */
static void test_flags_of_unissued_are_ignored(void **state) {
    gpump_replay *r = make("log8", GPUMP_REPLAY_CLASS);
    const gpump_replay_entry unissued = {5, 1, 40, GPUMP_REPLAY_STORE, 2, GPUMP_REPLAY_ISSUED | GPUMP_REPLAY_HOLDS};
    const uint32_t load = issue(r, 4, GPUMP_REPLAY_LOAD);
    gpump_replay_entry saved[2];
    uint32_t count;
    (void)state;
    assert_int_equal(gpump_replay_report_faulted(r, load), GPUMP_OK);
    expect(r, GPUMP_REPLAY_ACT_SQUASH, load);
    expect(r, GPUMP_REPLAY_ACT_DRAINED, GPUMP_NONE);
    assert_int_equal(gpump_replay_report_unissued(r, 0, &unissued, 1), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_replay_component, r, NULL), GPUMP_OK);
    assert_int_equal(gpump_replay_save(r, 0, saved, 2, &count), GPUMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(saved[0].flags, GPUMP_REPLAY_ISSUED);
    assert_int_equal(saved[1].sequence, 5);
    assert_int_equal(saved[1].flags, 0);
    assert_int_equal(saved[1].log_units, 2);
}

/* Actions name their warp in every part of 256 slots, the lowest first. */
static void test_actions_of_many_warps(void **state) {
    static const uint32_t slots[] = {3, 63, 64, 130, 191, 192, 255};
    enum { SLOTS = sizeof slots / sizeof *slots };
    static uint64_t many[1 << 18];
    gpump_replay_config config;
    gpump_replay_action action;
    gpump_replay *r;
    uint32_t handles[SLOTS];
    (void)state;
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "queue", NULL), GPUMP_OK);
    config.warps = 256;
    assert_int_equal(gpump_init(&gpump_replay_component, many, sizeof many, &config, &r, NULL), GPUMP_OK);
    for (uint32_t i = SLOTS; i-- > 0;) {
        const gpump_replay_entry load = {9, 1, 0, GPUMP_REPLAY_LOAD, 1, 0};
        assert_int_equal(gpump_replay_open(r, slots[i], i), GPUMP_OK);
        assert_int_equal(gpump_replay_report_issued(r, slots[i], &load, handles + i), GPUMP_OK);
        assert_int_equal(gpump_replay_report_faulted(r, handles[i]), GPUMP_OK);
    }
    for (uint32_t i = 0; i < 2 * SLOTS; i++) {
        assert_true(gpump_replay_has_actions(r));
        assert_int_equal(gpump_replay_next(r, &action), GPUMP_OK);
        assert_int_equal(action.warp, slots[i / 2]);
        assert_int_equal(action.kind, i % 2 ? GPUMP_REPLAY_ACT_DRAINED : GPUMP_REPLAY_ACT_SQUASH);
        assert_int_equal(action.entry, i % 2 ? GPUMP_NONE : handles[i / 2]);
        assert_int_equal(action.what.sequence, i % 2 ? 0 : 9);
        assert_int_equal(action.nacked, 0);
    }
    expect_none(r);
    assert_false(gpump_replay_has_actions(r));
}

/* Every call refuses a missing component, a warp or an entry that is not there, and missing arrays; nothing changes. */
/* A reserved field that is not 0 comes from a later layout, or from nowhere. */
static void a_check_refuses_a_reserved_field(void **state) {
    gpump_replay *r = make("queue", GPUMP_REPLAY_CLASS);
    (void)state;
    r->unused = 1;
    diagnosed(gpump_check(&gpump_replay_component, r, DIAG), GPUMP_ERROR_FORMAT, "unused", 0, 1, 0, 0);
    r->unused = 0;
}

/* A wrong call of the replay unit is refused and leaves its hash as it was. */
static void wrong_arguments_are_refused_and_change_nothing(void **state) {
    gpump_replay *r = make("queue", GPUMP_REPLAY_CLASS);
    const uint32_t load = issue(r, 4, GPUMP_REPLAY_LOAD);
    const uint64_t hash = gpump_hash(&gpump_replay_component, r), segment = 1;
    const gpump_replay_entry good = {9, 1, 0, GPUMP_REPLAY_LOAD, 1, 0};
    gpump_replay_entry bad = good, saved[2];
    gpump_replay_action action;
    gpump_reason answer;
    uint32_t entry, count;
    (void)state;
    for (uint32_t i = 0; i < 2; i++) { /* no component; a warp, or an entry, beyond its slots */
        gpump_replay *one = i ? r : NULL;
        const uint32_t warp = i ? 64 : 0, handle = i ? 64 * GPUMP_REPLAY_WINDOW : load;
        assert_int_equal(gpump_replay_open(one, warp, 0), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_close(one, warp), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_report_issued(one, warp, &good, &entry), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_report_segments(one, handle, &segment, 1), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_report_checked(one, handle, &answer), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_report_faulted(one, handle), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_report_committed(one, handle), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_report_reissued(one, handle), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_report_unissued(one, warp, NULL, 0), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_report_served(one, warp), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_squash(one, warp), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_pending(one, warp, &entry, 1, &count), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_replay_save(one, warp, saved, 2, &count), GPUMP_ERROR_ARGUMENT);
    }
    assert_int_equal(gpump_replay_set_blocks(NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_next(NULL, &action), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_next(r, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_open(r, 1, 16), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_open(r, 0, 0), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_replay_report_issued(r, 0, NULL, &entry), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_report_issued(r, 0, &good, NULL), GPUMP_ERROR_ARGUMENT);
    for (bad.kind = 0; bad.kind <= GPUMP_REPLAY_KINDS; bad.kind++)
        if (bad.kind < GPUMP_REPLAY_LOAD || bad.kind == GPUMP_REPLAY_KINDS)
            assert_int_equal(gpump_replay_report_issued(r, 0, &bad, &entry), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_report_segments(r, load, NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_report_segments(r, load + 1, &segment, 1), GPUMP_ERROR_ARGUMENT); /* a free slot */
    assert_int_equal(gpump_replay_report_checked(r, load, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_report_unissued(r, 0, NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_pending(r, 0, NULL, 1, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_pending(r, 0, &entry, 1, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_save(r, 0, NULL, 1, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_save(r, 0, saved, 2, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_save(r, 0, saved, 2, &count), GPUMP_ERROR_STATE); /* an entry is in flight */
    assert_int_equal(gpump_replay_report_reissued(r, load), GPUMP_ERROR_STATE);
    for (uint32_t call = 0; call < 4; call++) /* nobody is in slot 1 */
        assert_int_equal(call == 0   ? gpump_replay_close(r, 1)
                         : call == 1 ? gpump_replay_report_served(r, 1)
                         : call == 2 ? gpump_replay_squash(r, 1)
                                     : gpump_replay_report_issued(r, 1, &good, &entry),
                         GPUMP_ERROR_STATE);
    assert_true(gpump_hash(&gpump_replay_component, r) == hash);
}

/* Issue waits for a free entry of the warp and for units of the block's log, and says for which. */
static void issue_waits_for_entries_and_log_room(void **state) {
    gpump_replay_config config;
    gpump_replay *r;
    uint32_t first;
    gpump_replay_entry store = {2, 1, 0, GPUMP_REPLAY_STORE, 2, 0};
    (void)state;
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log8", NULL), GPUMP_OK);
    config.entries = 3;
    assert_int_equal(gpump_init(&gpump_replay_component, memory, sizeof memory, &config, &r, NULL), GPUMP_OK);
    for (uint32_t warp = 0; warp < 3; warp++) assert_int_equal(gpump_replay_open(r, warp, warp / 2), GPUMP_OK);
    first = issue(r, 1, GPUMP_REPLAY_LOAD); /* one of the block's two log entries */
    assert_int_equal(gpump_replay_may_issue_memory(r, 1, 1), GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_may_issue_memory(r, 1, 2), GPUMP_REASON_LOG_ROOM);
    assert_int_equal(gpump_replay_may_issue_memory(r, 2, 2), GPUMP_REASON_YES); /* another block */
    assert_int_equal(gpump_replay_report_issued(r, 1, &store, &first), GPUMP_BUSY);
    assert_int_equal(gpump_replay_waits_for_page(r, 1, 2), 0);
    assert_int_equal(gpump_replay_set_blocks(r, 4), GPUMP_ERROR_STATE);
    first = 0; /* the handle of the load: warp 0, slot 0 */
    assert_int_equal(gpump_replay_report_faulted(r, first), GPUMP_OK);
    assert_int_equal(gpump_replay_waits_for_page(r, 1, 2), 1); /* warp 1 counts as blocked */
    assert_int_equal(gpump_replay_waits_for_page(r, 1, 1), 0);
    assert_int_equal(gpump_replay_close(r, 0), GPUMP_OK); /* killed */
    assert_int_equal(gpump_replay_may_issue_memory(r, 1, 2), GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_set_blocks(r, 4), GPUMP_OK); /* eight entries each */
    for (store.sequence = 1; store.sequence <= 3; store.sequence++)
        assert_int_equal(gpump_replay_report_issued(r, 1, &store, &first), GPUMP_OK);
    assert_int_equal(gpump_replay_may_issue_memory(r, 1, 1), GPUMP_REASON_REPLAY_ROOM);
    store.sequence = 3;
    assert_int_equal(gpump_replay_report_issued(r, 1, &store, &first), GPUMP_ERROR_ARGUMENT);
}

/* Each entry that contradicts itself, its scheme or its order is refused by field and index. */
static void contradicting_entries_are_not_restored(void **state) {
    gpump_replay *r = make("log8", GPUMP_REPLAY_CLASS);
    const gpump_replay_entry good = {5, 1, 0, GPUMP_REPLAY_STORE, 2, GPUMP_REPLAY_ISSUED};
    gpump_replay_entry entries[2];
    gpump_diag diag;
    (void)state;
    const struct {
        const char *field;
        gpump_result result;
        uint32_t kind, log_units, flags;
        uint64_t second;
    } bad[] = {{"kind", GPUMP_ERROR_FORMAT, GPUMP_REPLAY_KINDS, 0, 0, 6},
               {"flags", GPUMP_ERROR_FORMAT, GPUMP_REPLAY_LOAD, 0, 4, 6},
               {"flags", GPUMP_ERROR_FORMAT, GPUMP_REPLAY_OTHER, 0, GPUMP_REPLAY_ISSUED, 6},
               {"flags", GPUMP_ERROR_FORMAT, GPUMP_REPLAY_LOAD, 0, GPUMP_REPLAY_HOLDS, 6},
               {"log_units", GPUMP_ERROR_FORMAT, GPUMP_REPLAY_LOAD, 1, GPUMP_REPLAY_ISSUED | GPUMP_REPLAY_HOLDS, 6},
               {"sequence", GPUMP_ERROR_FORMAT, GPUMP_REPLAY_LOAD, 0, 0, 5},
               {"log_units", GPUMP_ERROR_FULL, GPUMP_REPLAY_LOAD, 3, GPUMP_REPLAY_ISSUED, 6}};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const uint64_t before = gpump_hash(&gpump_replay_component, r);
        entries[0] = good;
        entries[0].kind = bad[i].kind;
        entries[0].log_units = bad[i].log_units;
        entries[0].flags = bad[i].flags;
        entries[1] = good;
        entries[1].sequence = bad[i].second;
        assert_int_equal(gpump_replay_restore(r, 0, entries, 2, &diag), bad[i].result);
        assert_string_equal(diag.field, bad[i].field);
        assert_int_equal(gpump_hash(&gpump_replay_component, r), before);
    }
    assert_int_equal(gpump_replay_restore(r, 0, &good, 1, &diag), GPUMP_OK);
    assert_int_equal(gpump_replay_restore(r, 0, &good, 1, &diag), GPUMP_ERROR_STATE);
    r = make("queue", GPUMP_REPLAY_CLASS);
    assert_int_equal(gpump_replay_restore(r, 0, &good, 1, &diag), GPUMP_ERROR_FORMAT); /* it has no log */
    r = make("wd_check", GPUMP_REPLAY_CLASS);
    assert_int_equal(gpump_replay_restore(r, 0, &good, 1, &diag), GPUMP_ERROR_FORMAT); /* and no queue */
    assert_string_equal(diag.field, "count");
    assert_int_equal(gpump_replay_restore(r, 0, NULL, 0, &diag), GPUMP_OK);
    assert_int_equal(gpump_replay_may(r, 0, GPUMP_REPLAY_TO_FETCH),
                     GPUMP_REASON_FAULTED); /* until its pages are there */
}

/* The bits of each scheme's tables, counted by hand. */
static void storage_of_each_scheme(void **state) {
    static const struct {
        const char *preset;
        uint64_t bits;
    } expected[] = {
        {"stall", 0},
        {"wd_commit", 64 * 3},
        {"wd_check", 64 * 3},
        {"queue", 64 * 2 + 64 * 32 * (32 + 32 + 3 + 5 + 32)},
        /* an entry's log units and hold bit; the log, an owner per log entry, a counter per block */
        {"log8", 64 * 2 + 64 * 32 * (104 + 3) + 65536 + 32 * 5 + 16 * 6},
        {"log16", 64 * 2 + 64 * 32 * (104 + 3) + 131072 + 64 * 5 + 16 * 7},
        {"regions", 64 * 2},
    };
    const gpump_replay_entry entries[2] = {{1, 1, 0, GPUMP_REPLAY_STORE, 2, GPUMP_REPLAY_ISSUED},
                                           {2, 1, 0, GPUMP_REPLAY_LOAD, 1, 0}};
    gpump_replay_config config;
    gpump_replay *r, *other;
    gpump_replay_statistics a, b;
    gpump_diag diag;
    const char *name;
    uint64_t bits, value;
    size_t bytes;
    uint32_t count;
    (void)state;
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(gpump_preset(&gpump_replay_component, &config, expected[i].preset, NULL), GPUMP_OK);
        assert_int_equal(gpump_bits(&gpump_replay_component, &config, &bits, NULL), GPUMP_OK);
        assert_int_equal(bits, expected[i].bits);
    }
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log24", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log8", NULL), GPUMP_OK);
    assert_int_equal(gpump_replay_context_bytes(&config, entries, 0), 0);
    assert_int_equal(gpump_replay_context_bytes(&config, entries, 2), 16 + 64 + 16 + 16 + 2 * 32 * 8);
    config.log_bytes = 255;
    assert_int_equal(gpump_bytes(&gpump_replay_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "log_bytes");
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log8", NULL), GPUMP_OK);
    config.entries = 65;
    assert_int_equal(gpump_bytes(&gpump_replay_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    r = make("log8", GPUMP_REPLAY_CLASS);
    (void)issue(r, 1, GPUMP_REPLAY_LOAD);
    gpump_get_statistics(&gpump_replay_component, r, &a);
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log8", NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_replay_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_adopt(&gpump_replay_component, memory, bytes - 8, &config, &other, NULL),
                     GPUMP_ERROR_FORMAT);
    value = gpump_hash(&gpump_replay_component, r);
    assert_int_equal(gpump_adopt(&gpump_replay_component, memory, bytes, &config, &other, NULL), GPUMP_OK);
    assert_int_equal(gpump_hash(&gpump_replay_component, other), value);
    (void)issue(other, 2, GPUMP_REPLAY_LOAD);
    assert_true(gpump_hash(&gpump_replay_component, other) != value);
    gpump_get_statistics(&gpump_replay_component, other, &b);
    gpump_statistics_diff(&gpump_replay_component, &a, &b, &b);
    for (count = 0; gpump_statistics_field(&gpump_replay_component, &b, count, &name, NULL, NULL, &value) == GPUMP_OK;
         count++)
        assert_int_equal(value, !strcmp(name, "issued") || !strcmp(name, "logged"));
    assert_int_equal(count, sizeof b / 8);
    config.order = GPUMP_REPLAY_ADDRESS;
    assert_int_equal(gpump_adopt(&gpump_replay_component, memory, bytes, &config, &other, NULL), GPUMP_ERROR_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_life),
        cmocka_unit_test(a_disabled_warp_fetches_nothing),
        cmocka_unit_test(test_warp_disable_behind_older),
        cmocka_unit_test(test_stall_and_lazy_wait_in_place),
        cmocka_unit_test(test_nack_with_and_without_probe),
        cmocka_unit_test(test_waits_are_transitive),
        cmocka_unit_test(test_unknown_segments_are_any),
        cmocka_unit_test(test_flags_of_unissued_are_ignored),
        cmocka_unit_test(test_actions_of_many_warps),
        cmocka_unit_test(wrong_arguments_are_refused_and_change_nothing),
        cmocka_unit_test(a_check_refuses_a_reserved_field),
        cmocka_unit_test(issue_waits_for_entries_and_log_room),
        cmocka_unit_test(contradicting_entries_are_not_restored),
        cmocka_unit_test(storage_of_each_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
