/* labels: unit property */
/* replay: the rules of each scheme, one at a time. Random pipelines with memory: tests/fault/replay_pipeline.c. */
#include "test.h"

enum { WORDS = 1 << 16 };
static uint64_t memory[WORDS];

static gpump_replay *make(const char *preset, uint32_t order) {
    gpump_replay_config config;
    gpump_replay *r;
    assert_int_equal(gpump_replay_config_preset(&config, preset), GPUMP_OK);
    config.order = order;
    assert_int_equal(gpump_replay_init(memory, sizeof memory, &config, &r, NULL), GPUMP_OK);
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
    assert_int_equal(gpump_replay_check(r, NULL), GPUMP_OK);
    return answer;
}
static void expect(gpump_replay *r, uint32_t kind, uint32_t entry) {
    gpump_replay_action action;
    gpump_diag diag;
    if (gpump_replay_check(r, &diag)) fail_msg("%s", diag.field);
    assert_int_equal(gpump_replay_next(r, &action), GPUMP_OK);
    assert_int_equal(action.kind, kind);
    assert_int_equal(action.entry, entry);
    if (gpump_replay_check(r, &diag)) fail_msg("%s", diag.field);
}
static void expect_none(gpump_replay *r) {
    gpump_replay_action action;
    assert_int_equal(gpump_replay_next(r, &action), GPUMP_EMPTY);
}

static void test_queue_life(void **state) {
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
    assert_int_equal(gpump_replay_may_fetch(r, 0), GPUMP_REASON_FAULTED);
    assert_int_equal(gpump_replay_may_issue(r, 0), GPUMP_REASON_FAULTED);
    assert_true(gpump_replay_awaits_page(r, 0));
    expect(r, GPUMP_REPLAY_ACT_SQUASH, load);
    expect_none(r);
    assert_int_equal(checked(r, second), GPUMP_REASON_YES); /* a plain load passes a plain load */
    expect_none(r);
    assert_int_equal(gpump_replay_report_committed(r, second), GPUMP_OK);
    assert_int_equal(gpump_replay_report_unissued(r, 0, NULL, 0), GPUMP_ERROR_STATE); /* before DRAINED */
    expect(r, GPUMP_REPLAY_ACT_DRAINED, GPUMP_NONE);
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
    assert_int_equal(gpump_replay_restore(r, 9, saved, 3, NULL), GPUMP_OK);
    expect_none(r);
    assert_int_equal(gpump_replay_report_served(r, 9), GPUMP_OK);
    expect(r, GPUMP_REPLAY_ACT_REPLAY, GPUMP_NONE);
    assert_int_equal(gpump_replay_pending(r, 9, handles, 8, &count), GPUMP_OK);
    assert_int_equal(count, 3);
    assert_int_equal(gpump_replay_may_fetch(r, 9), GPUMP_REASON_REPLAYING);
    assert_int_equal(gpump_replay_may_reissue(r, handles[2]), GPUMP_REASON_MEMORY_ORDER);
    assert_int_equal(gpump_replay_report_reissued(r, handles[2]), GPUMP_BUSY);
    assert_int_equal(gpump_replay_report_reissued(r, handles[1]), GPUMP_OK);
    assert_int_equal(gpump_replay_report_reissued(r, handles[0]), GPUMP_OK);
    assert_int_equal(gpump_replay_report_reissued(r, handles[2]), GPUMP_OK);
    expect(r, GPUMP_REPLAY_ACT_FETCH, GPUMP_NONE);
    assert_int_equal(gpump_replay_may_fetch(r, 9), GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_may_synchronise(r, 9), GPUMP_REASON_MEMORY_ORDER);
    assert_int_equal(checked(r, handles[2]), GPUMP_REASON_MEMORY_ORDER); /* a store waits for the load */
    assert_int_equal(gpump_replay_report_checked(r, handles[2], &answer), GPUMP_ERROR_STATE);
    assert_int_equal(checked(r, handles[0]), GPUMP_REASON_YES);
    expect(r, GPUMP_REPLAY_ACT_EFFECT, handles[2]);
    assert_int_equal(gpump_replay_may_synchronise(r, 9), GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_report_committed(r, handles[0]), GPUMP_OK);
    assert_int_equal(gpump_replay_report_committed(r, handles[2]), GPUMP_OK);
    expect_none(r);
    assert_int_equal(gpump_replay_close(r, 9), GPUMP_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
