/* labels: unit link: minigpu_core */
/* Requests beside a batch kernel: each begins when it has arrived and those before it are done, the group lets the
 * batch have everything between them, and results are right. */
#include "test.h"

#include "parts/corun/corun_options.h"
#include "parts/corun/corun_group.h"
#include "machine/stream.h"
#include "tools/check.h"
#include "tools/run_options.h"
#include "tools/tail.h"

static const char path[] = GPUMP_SOURCE_DIR "/examples/minigpu/launches/requests_beside_batch.yaml";

/* Percentiles of five latencies in any order, and of one. */
static void percentiles_are_of_sorted_latencies(void **state) {
    static const uint64_t latencies[] = {50, 10, 40, 20, 30};
    (void)state;
    assert_int_equal(tail_percentile(latencies, 5, 500), 30);
    assert_int_equal(tail_percentile(latencies, 5, 990), 50);
    assert_int_equal(tail_percentile(latencies, 5, 200), 10);
    assert_int_equal(tail_percentile(latencies, 1, 500), 50);
}

/* The mean distance of a Poisson stream, and that half of the distances are below ln 2 of it. */
static void poisson(void **state) {
    static uint64_t arrivals[10001];
    uint32_t i, below = 0;
    (void)state;
    tail_poisson(test_seed(), 1000, 10001, arrivals);
    for (i = 0; i < 10000; i++) {
        assert_true(arrivals[i + 1] > arrivals[i]);
        below += arrivals[i + 1] - arrivals[i] <= 693;
    }
    assert_in_range((arrivals[10000] - arrivals[0]) / 10000, 950, 1050);
    assert_in_range(below, 4800, 5200);
}

/* Three requests, the second of which arrives while the first still runs. */
static void requests_in_order(void **state) {
    static const uint64_t arrivals[] = {3000, 4000, 90000};
    machine_options options;
    launch_file launch;
    kernel_check checks[2];
    char error[LAUNCH_ERROR_BYTES];
    machine *m = NULL;
    int idle = 0, busy = 0;
    (void)state;
    machine_options_default(&options);
    options.sharing.policy = gpump_partition_find("even");
    options.sharing.unsampled = options.sharing.priorities = 1;
    assert_int_equal(corun_set_leave("flush", &options.sharing), 0);
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    assert_int_equal(stream_make(m, 0, arrivals, 3), 0);
    m->stop_cycle = 300000;
    while (m->stream->ended < 3 && machine_run(m, m->now + 500) == 0) {
        const uint32_t member = corun_of(m)->member_of[0], waits = m->stream->ended == 0 && m->now < 3000;
        assert_int_equal(gpump_check(&gpump_sharing_component, corun_of(m)->sharing, NULL), GPUMP_OK);
        if (waits) assert_int_equal(member, NONE); /* between requests the batch is alone */
        idle |= member == NONE && m->sms[0]->kernel_resident[1] == 8;
        busy |= member != NONE;
        if (m->stream->ended == 1) assert_true(member != NONE); /* the second was waiting */
    }
    assert_int_equal(m->stream->ended, 3);
    assert_true(idle && busy);
    assert_true(m->stream->ends[0] > 4000 && m->stream->ends[1] > m->stream->ends[0]);
    assert_true(m->stream->ends[1] < 90000 && m->stream->ends[2] > 90000);
    memset(checks, 0, sizeof checks);
    if (check_results(m, &launch, checks)) fail_msg("%s", checks[checks[0].result != CHECK_WRONG].text);
    machine_free(m);
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_of_sorted_latencies),
        cmocka_unit_test(poisson),
        cmocka_unit_test(requests_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
