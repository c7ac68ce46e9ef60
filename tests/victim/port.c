/* labels: unit */
/* What a decision estimates is what an SM that times its transfers itself (timing PORT) takes: saves of one SM follow
 * each other, and a host need say nothing for that. */
#include "victim/estimate.h"

/* The estimated latency of a switch is the time that the SM takes to save its blocks over the port. */
static void estimates_are_what_the_port_takes(void **state) {
    gpump_sm_config config;
    gpump_gpu gpu;
    gpump_footprint need = {256, 4096, 4096};
    gpump_block_view views[8];
    gpump_block_choice choices[8];
    gpump_cost_estimate estimates[8];
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_victim_place places[8];
    gpump_victim_question question;
    gpump_victim_decision decision;
    gpump_victim_sm view;
    gpump_sm_action action;
    gpump_sm *sm;
    size_t bytes;
    uint64_t now = 1000, last = 0;
    uint32_t count, freed = 0;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "gtx480_shieh", NULL), GPUMP_OK);
    config.timing = GPUMP_SM_TIMING_PORT;
    config.waits = 0;
    config.kernels = 2;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_sm_component, malloc(bytes), bytes, &config, &sm, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < 6; i++) {
        gpump_sm_request r = {i, 1, 0, need, 1, 0, 0};
        gpump_block_ref ref;
        assert_int_equal(gpump_sm_place(sm, 0, &r, NULL, &ref, NULL), GPUMP_OK);
        assert_int_equal(gpump_sm_report_executed(sm, ref, 100), GPUMP_OK);
    }
    memset(&view, 0, sizeof view);
    memset(&question, 0, sizeof question);
    assert_int_equal(gpump_sm_blocks(sm, now, views, 8, &count), GPUMP_OK);
    question.policy = gpump_victim_find("switch");
    assert_int_equal(estimate_blocks(&gpu, NULL, 0, views, count, NULL, &question.policy->cost, estimates, NULL),
                     GPUMP_OK);
    assert_int_equal(gpump_victim_geometry_init(&geometry, &gpu, &need, config.shared_bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_victim_request_init(&request, 2, 6, now), GPUMP_OK);
    view.blocks = views;
    view.estimates = estimates;
    view.count = count;
    question.request = &request;
    question.geometry = &geometry;
    question.sms = &view;
    question.sm_count = 1;
    question.places = places;
    question.choices = choices;
    question.place_capacity = question.choice_capacity = 8;
    assert_int_equal(gpump_victim_decide(&question, &decision, NULL), GPUMP_OK);
    assert_int_equal(decision.choices, 6);
    assert_int_equal(gpump_sm_preempt(sm, now, choices, decision.choices, NULL), GPUMP_OK);
    for (; freed < 6 && now < 1000000; now++)
        while (gpump_sm_has_action(sm, now) && gpump_sm_next(sm, now, &action) == GPUMP_OK)
            if (action.kind == GPUMP_SM_ACTION_FREED) {
                freed++;
                last = now;
            }
    assert_int_equal(freed, 6);
    assert_int_equal(decision.latency, last - 1000);
    request.flags = GPUMP_VICTIM_PARALLEL_SAVES; /* the published estimate: the longest save alone */
    assert_int_equal(gpump_victim_decide(&question, &decision, NULL), GPUMP_OK);
    assert_true(decision.latency * 6 == last - 1000);
    request.flags = 2;
    assert_int_equal(gpump_victim_decide(&question, &decision, NULL), GPUMP_ERROR_ARGUMENT);
    free(sm);
}

/* Blocks that never end by themselves are switched early enough for the last of their saves, which follow each other,
 * to end within the limit. */
static void drain_then_switch_keeps_the_limit(void **state) {
    gpump_sm_config config;
    gpump_gpu gpu;
    gpump_footprint need = {256, 4096, 4096};
    gpump_block_view views[8];
    gpump_block_choice choices[8];
    gpump_cost_estimate estimates[8];
    gpump_victim_request request;
    gpump_victim_question question;
    gpump_victim_decision decision;
    gpump_victim_sm view;
    gpump_sm_action action;
    gpump_sm *sm;
    size_t bytes;
    uint64_t now = 1000, last = 0, all_saves = 0;
    uint32_t count, freed = 0, i;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "gtx480_shieh", NULL), GPUMP_OK);
    config.timing = GPUMP_SM_TIMING_PORT;
    config.waits = 0;
    config.kernels = 2;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_sm_component, malloc(bytes), bytes, &config, &sm, NULL), GPUMP_OK);
    for (i = 0; i < 6; i++) {
        gpump_sm_request r = {i, 1, 0, need, 1, 0, 0};
        gpump_block_ref ref;
        assert_int_equal(gpump_sm_place(sm, 0, &r, NULL, &ref, NULL), GPUMP_OK);
        assert_int_equal(gpump_sm_report_executed(sm, ref, 100), GPUMP_OK);
    }
    memset(&view, 0, sizeof view);
    memset(&question, 0, sizeof question);
    assert_int_equal(gpump_victim_request_init(&request, 2, 6, now), GPUMP_OK);
    request.limit_cycles = 20000;
    question.policy = gpump_victim_find("drain-then-switch");
    question.request = &request;
    question.sms = &view;
    question.sm_count = 1;
    question.choices = choices;
    question.choice_capacity = 8;
    decision.ask_again = now;
    for (; freed < 6 && now < 40000; now++) {
        if (now == decision.ask_again) {
            assert_int_equal(gpump_sm_blocks(sm, now, views, 8, &count), GPUMP_OK);
            assert_int_equal(
                estimate_blocks(&gpu, NULL, 0, views, count, NULL, &question.policy->cost, estimates, NULL), GPUMP_OK);
            for (i = 0; i < count && now == 1000; i++) all_saves += estimates[i].latency[GPUMP_TECHNIQUE_SWITCH];
            view.blocks = views;
            view.estimates = estimates;
            view.count = count;
            request.now = now;
            question.ask = now == 1000 ? GPUMP_VICTIM_ASK_VACATE : GPUMP_VICTIM_ASK_AGAIN;
            assert_int_equal(gpump_victim_decide(&question, &decision, NULL), GPUMP_OK);
            assert_int_equal(decision.choices, 6);
            assert_int_equal(choices[0].technique, now == 1000 ? GPUMP_TECHNIQUE_DRAIN : GPUMP_TECHNIQUE_SWITCH);
            assert_int_equal(gpump_sm_preempt(sm, now, choices, decision.choices, NULL), GPUMP_OK);
            if (now == 1000) assert_int_equal(decision.ask_again, 1000 + 20000 - all_saves);
        }
        while (gpump_sm_has_action(sm, now) && gpump_sm_next(sm, now, &action) == GPUMP_OK)
            if (action.kind == GPUMP_SM_ACTION_FREED) {
                freed++;
                last = now;
            }
    }
    assert_int_equal(freed, 6);
    assert_true(last <= 1000 + 20000);
    assert_true(last >= 1000 + 20000 - 10); /* and not earlier than needed */
    free(sm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_what_the_port_takes),
        cmocka_unit_test(drain_then_switch_keeps_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
