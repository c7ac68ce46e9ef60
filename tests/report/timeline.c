/* labels: unit link: report */
/* A timeline keeps what it is told: phases become spans, requests collect their victims, samples thin out evenly. */
#include "test.h"

#include <timeline.h>

static timeline *two_rows(void) {
    timeline *t = timeline_open(1000000, "warp instructions");
    uint32_t group;
    assert_non_null(t);
    group = timeline_group(t, "SM 0");
    assert_int_equal(timeline_row(t, group, "slot 0"), 0);
    assert_int_equal(timeline_row(t, group, "slot 1"), 1);
    assert_int_equal(timeline_row(t, group, "never used"), 2);
    assert_int_equal(timeline_kernel(t, "a", "p", 0), 0);
    assert_int_equal(timeline_kernel(t, "b", "q", 1), 1);
    return t;
}

/* Each phase of a row becomes a span; phases of no time and of no row become none. */
static void phases_become_spans(void **state) {
    timeline *t = two_rows();
    (void)state;
    timeline_phase_is(t, 10, 0, TIMELINE_RUN, 0, 7);
    timeline_phase_is(t, 20, 0, TIMELINE_STOP, 0, 7);
    timeline_phase_is(t, 20, 0, TIMELINE_SAVE, 0, 7); /* it was stopped for no time: no span */
    timeline_phase_is(t, 35, 0, TIMELINE_NOTHING, 0, 0);
    timeline_phase_is(t, 40, 1, TIMELINE_RUN, 1, 8);  /* open at the end */
    timeline_phase_is(t, 40, 99, TIMELINE_RUN, 1, 8); /* no such row */
    timeline_close(t, 60);
    assert_int_equal(t->span_count, 3);
    assert_int_equal(t->spans[0].start, 10);
    assert_int_equal(t->spans[0].end, 20);
    assert_int_equal(t->spans[0].phase, TIMELINE_RUN);
    assert_int_equal(t->spans[1].phase, TIMELINE_SAVE);
    assert_int_equal(t->spans[1].end, 35);
    assert_int_equal(t->spans[2].row, 1);
    assert_int_equal(t->spans[2].end, 60);
    assert_int_equal(t->begin_cycle, 10);
    assert_int_equal(t->end_cycle, 60);
    assert_int_equal(t->rows[0].group, 0);
    assert_int_equal(t->rows[2].group, TIMELINE_NONE); /* hidden */
    timeline_free(t);
}

/* A request of the timeline collects each victim once, until all of them have left. */
static void requests_collect_their_victims(void **state) {
    timeline *t = two_rows();
    timeline_estimate estimate;
    uint32_t request;
    (void)state;
    memset(&estimate, 0, sizeof estimate);
    estimate.cycles[1] = 30;
    timeline_phase_is(t, 0, 0, TIMELINE_RUN, 0, 7);
    timeline_phase_is(t, 0, 1, TIMELINE_RUN, 0, 8);
    request = timeline_ask(t, 100, 1, TIMELINE_NEVER);
    timeline_tell(t, 100, request, 0, 0, 7, 1, &estimate);
    timeline_tell(t, 105, request, 0, 0, 7, 2, &estimate);              /* told otherwise: still one victim */
    assert_int_equal(timeline_ask(t, 101, 1, TIMELINE_NEVER), request); /* one has not left: the same request */
    timeline_tell(t, 101, request, 1, 0, 8, 2, NULL);
    timeline_phase_is(t, 110, 0, TIMELINE_SAVE, 0, 7);
    timeline_leave(t, 140, 0, 1, 4096, 0, 12);
    assert_int_equal(t->requests[request].served_cycle, TIMELINE_NEVER);
    timeline_leave(t, 180, 1, 2, 0, 0, 0);
    timeline_leave(t, 190, 1, 2, 0, 0, 0);                                  /* nobody is there */
    assert_int_equal(timeline_ask(t, 200, 1, TIMELINE_NEVER), request + 1); /* all have left: a new one */
    timeline_close(t, 200);
    assert_int_equal(t->victim_count, 2);
    assert_int_equal(t->requests[request].served_cycle, 180);
    assert_int_equal(t->victims[0].technique, 1);
    assert_int_equal(t->victims[0].left_by, 1);
    assert_int_equal(t->victims[0].estimate.cycles[1], 30);
    assert_int_equal(t->victims[0].end_cycle, 140);
    assert_int_equal(t->victims[0].bytes, 4096);
    assert_int_equal(t->victims[0].cost, 12);
    assert_int_equal(t->victims[1].estimate.cycles[2], TIMELINE_NEVER);
    assert_int_equal(t->spans[0].victim, TIMELINE_NONE); /* before it was told */
    assert_int_equal(t->spans[0].end, 100);
    timeline_free(t);
}

/* However long a run is, the samples stay few, in order, and spread over all of it. */
static void samples_thin_out(void **state) {
    const timeline_series series = {"chart", "series", "unit", 1, 0, TIMELINE_COUNTER, TIMELINE_NONE};
    timeline *t = two_rows();
    uint64_t now, i;
    (void)state;
    assert_int_equal(timeline_add_series(t, &series), 0);
    for (now = 0; now < 1000000; now++) {
        uint64_t value = 3 * now;
        if (now >= t->sample_cycle) timeline_sample(t, now, &value);
    }
    timeline_close(t, now);
    assert_true(t->sample_count > TIMELINE_SAMPLES / 4 && t->sample_count <= TIMELINE_SAMPLES);
    for (i = 0; i < t->sample_count; i++) {
        assert_int_equal(t->samples[i], 3 * t->sample_cycles[i]);
        assert_true(!i || t->sample_cycles[i] > t->sample_cycles[i - 1]);
    }
    assert_int_equal(t->sample_cycles[0], 0);
    assert_true(t->sample_cycles[t->sample_count - 1] > 900000);
    timeline_free(t);
}

/* A value that holds for long is kept from the cycle at which it began, however close a sample before it was, also when
 * samples thin out. */
static void long_values_begin_where_they_begin(void **state) {
    const timeline_series series = {"chart", "series", "unit", 1, 0, TIMELINE_GAUGE, TIMELINE_NONE};
    timeline *t = two_rows();
    uint64_t now, since, value, i;
    (void)state;
    assert_int_equal(timeline_add_series(t, &series), 0);
    for (now = 0; now < 40000000; now += now % 10000 == 3 ? 9997 : 1) { /* 0, 1, 2, 3 of each 10,000: 3 holds */
        value = now % 10000 ? now % 10000 - 1 : 3;                      /* before this cycle */
        if (timeline_is_due(t, now, &since)) timeline_sample(t, since, &value);
    }
    timeline_close(t, now);
    assert_true(t->sample_count > TIMELINE_SAMPLES / 4 && t->sample_count <= TIMELINE_SAMPLES);
    for (i = 1; i + 1 < t->sample_count; i++) { /* a short value is not shown for longer than it held */
        assert_int_equal(t->sample_cycles[i] % 10000, t->samples[i]);
        assert_true(t->samples[i] == 3 || t->sample_cycles[i + 1] - t->sample_cycles[i] <= 3);
    }
    timeline_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_values_begin_where_they_begin), cmocka_unit_test(phases_become_spans),
        cmocka_unit_test(requests_collect_their_victims), cmocka_unit_test(samples_thin_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
