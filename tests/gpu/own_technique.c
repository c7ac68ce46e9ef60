/* labels: unit link: own_technique */
/* A technique of one's own (examples/policies/my_technique.c) in every component that names a technique: the list, the
 * SM, the cost estimates, victim selection, the scheduler and the sharing of SMs. The library own_technique is the list
 * of techniques with that file in it (tests/CMakeLists.txt). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpump.h"

enum { POINT = GPUMP_TECHNIQUE_OWN, CYCLES_TO_POINT = 500 };

/* A technique that the host defines stands in the list behind the built-in ones. */
static void the_list_of_techniques_has_that_of_the_host(void **state) {
    (void)state;
    assert_int_equal(gpump_technique_find("point"), POINT);
    assert_string_equal(gpump_technique_at(POINT)->name, "point");
    assert_int_equal(gpump_technique_begins(POINT), GPUMP_TECHNIQUE_BEGIN_STOP);
    assert_null(gpump_technique_at(POINT + 1));
}

/* Warps issue until the host reports that all are at their points; then the block is saved. */
static void an_sm_runs_to_the_point_of_a_technique_of_the_host(void **state) {
    gpump_sm_config config;
    gpump_sm_request request;
    gpump_block_choice choice;
    gpump_block_view view;
    gpump_sm_action action;
    gpump_sm *sm;
    gpump_diag diag;
    size_t bytes;
    void *memory;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "k20c", NULL), GPUMP_OK);
    assert_int_equal(config.techniques, 1u << GPUMP_TECHNIQUE_FLUSH | 1u << GPUMP_TECHNIQUE_SWITCH |
                                            1u << GPUMP_TECHNIQUE_DRAIN | 1u << POINT);
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
    memory = malloc(bytes);
    assert_int_equal(gpump_init(&gpump_sm_component, memory, bytes, &config, &sm, NULL), GPUMP_OK);
    memset(&request, 0, sizeof request);
    memset(&choice, 0, sizeof choice);
    request.kernel = 1;
    request.need.threads = 128;
    request.need.registers = 128 * 32;
    assert_int_equal(gpump_sm_place(sm, 10, &request, NULL, &choice.block, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_block(sm, 10, choice.block, &view), GPUMP_OK);
    assert_true(view.may >> POINT & 1u);
    choice.technique = POINT + 1;
    assert_int_equal(gpump_sm_preempt(sm, 20, &choice, 1, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(diag.maximum, POINT);
    choice.technique = POINT;
    choice.keep = GPUMP_PART_REGISTERS; /* nothing stays with this technique */
    assert_int_equal(gpump_sm_preempt(sm, 20, &choice, 1, &diag), GPUMP_ERROR_ARGUMENT);
    choice.keep = 0;
    assert_int_equal(gpump_sm_preempt(sm, 20, &choice, 1, &diag), GPUMP_OK);
    assert_int_equal(gpump_sm_next(sm, 20, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SM_ACTION_STOP);
    assert_int_equal(action.technique, POINT);
    assert_true(gpump_sm_may_issue(sm, choice.block.slot));
    assert_int_equal(gpump_sm_may(sm, choice.block, POINT), GPUMP_REASON_NOT_RUNNING);
    assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_report_waits(sm, 30, choice.block, GPUMP_SM_WAIT_PREEMPTION_POINT), GPUMP_OK);
    assert_int_equal(gpump_sm_next(sm, 30, &action), GPUMP_EMPTY);
    assert_int_equal(gpump_sm_report_waits(sm, 40, choice.block, 0), GPUMP_OK);
    assert_false(gpump_sm_may_issue(sm, choice.block.slot));
    assert_int_equal(gpump_sm_next(sm, 40, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(gpump_sm_report_saved(sm, 50, choice.block), GPUMP_OK);
    assert_int_equal(gpump_sm_next(sm, 50, &action), GPUMP_OK);
    assert_int_equal(action.why, GPUMP_BLOCK_SAVED);
    assert_int_equal(action.technique, POINT);
    free(memory);
}

static void view_of(gpump_block_view *view, uint32_t slot) {
    memset(view, 0, sizeof *view);
    view->block.slot = slot;
    view->kernel = 1;
    view->state = GPUMP_BLOCK_RUNNING;
    view->executed = 1000;
    view->cycles = 4000;
    view->context_bytes = 16384;
    view->register_base = 16384 * slot;
    view->registers = 16384;
    view->threads = 256;
    view->warps = 8;
    view->may = 1u << GPUMP_TECHNIQUE_FLUSH | 1u << POINT;
}

/* The estimate is that of a switch and the cycles to the point; a victim policy that may use the technique does. */
static void a_victim_policy_uses_a_technique_of_the_host(void **state) {
    const gpump_footprint need = {256, 16384, 0};
    gpump_gpu gpu;
    gpump_port port;
    gpump_block_view views[4];
    gpump_cost_estimate estimates[4];
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_victim_sm sm;
    gpump_victim_question question;
    gpump_victim_decision decision;
    gpump_victim_place places[4];
    gpump_block_choice choices[4];
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL), GPUMP_OK);
    port = gpump_gpu_port(&gpu);
    for (uint32_t i = 0; i < 4; i++) {
        view_of(&views[i], i);
        views[i].context_bytes = 16384 * (i + 1);
        views[i].function = 1 + i % 2;
    }
    assert_int_equal(gpump_cost_estimate_blocks(&port, NULL, 0, views, 4, NULL, NULL, estimates, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < 4; i++) {
        const gpump_cost_estimate *e = &estimates[i];
        assert_int_equal(e->latency[POINT], gpump_port_cycles(&port, views[i].context_bytes) + CYCLES_TO_POINT);
        assert_int_equal(e->overhead[POINT], e->overhead[GPUMP_TECHNIQUE_SWITCH]);
        assert_true(e->overhead[POINT] < GPUMP_UNKNOWN && e->latency[POINT + 1] == GPUMP_UNKNOWN);
    }
    for (uint32_t i = 0; i < 4; i++) estimates[i].overhead[POINT] = 10; /* less than a flush loses */
    assert_int_equal(gpump_victim_geometry_init(&geometry, &gpu, &need, gpu.shared_bytes[0], NULL), GPUMP_OK);
    assert_int_equal(gpump_victim_request_init(&request, 2, 1, 0), GPUMP_OK);
    request.limit_cycles = 1000000;
    memset(&sm, 0, sizeof sm);
    sm.blocks = views;
    sm.estimates = estimates;
    sm.count = 4;
    memset(&question, 0, sizeof question);
    question.request = &request;
    question.geometry = &geometry;
    question.sms = &sm;
    question.sm_count = 1;
    question.scratch_bytes = gpump_victim_scratch_bytes(1);
    question.scratch = malloc(question.scratch_bytes);
    question.places = places;
    question.choices = choices;
    question.place_capacity = question.choice_capacity = 4;
    for (uint32_t p = 0; p < 2; p++) {
        static const char *const names[] = {"exact", "joint"};
        question.policy = gpump_victim_find(names[p]);
        assert_int_equal(gpump_victim_decide(&question, &decision, NULL), GPUMP_OK);
        assert_int_equal(decision.choices, 1);
        assert_int_equal(choices[0].otherwise, POINT);
    }
    free((void *)question.scratch);
}

/* The scheduler vacates an SM by it. */
static void a_scheduler_vacates_by_a_technique_of_the_host(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler_process process;
    gpump_scheduler_command command;
    gpump_scheduler_action action;
    gpump_scheduler *scheduler;
    size_t bytes;
    void *memory;
    uint32_t rows[2], preempted = 0;
    const gpump_scheduler_policy *policy = gpump_scheduler_find("ppq");
    (void)state;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL), GPUMP_OK);
    config.sms = 1;
    config.active_kernels = 2;
    config.saved_blocks = config.blocks_per_sm;
    config.technique = POINT + 1;
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL), GPUMP_ERROR_CONFIG);
    config.technique = POINT;
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL), GPUMP_OK);
    memory = malloc(bytes);
    assert_int_equal(gpump_init(&gpump_scheduler_component, memory, bytes, &config, &scheduler, NULL), GPUMP_OK);
    memset(&process, 0, sizeof process);
    memset(&command, 0, sizeof command);
    command.blocks = 100;
    command.blocks_per_sm = 4;
    command.saved_limit = UINT32_MAX;
    for (uint32_t i = 0; i < 2; i++) {
        process.priority = i;
        process.weight = 1;
        assert_int_equal(gpump_scheduler_open(scheduler, 1000 * i, &process, &rows[i], NULL), GPUMP_OK);
        command.process = rows[i];
        assert_int_equal(gpump_scheduler_submit(scheduler, 1000 * i, i, &command, NULL), GPUMP_OK);
        for (uint64_t now = 1000 * i; now < 1000 * i + 900; now++) {
            while (gpump_scheduler_next(scheduler, policy, now, &action) == GPUMP_OK) {
                if (action.kind == GPUMP_SCHEDULER_SETUP)
                    assert_int_equal(gpump_scheduler_report_ready(scheduler, now, action.sm), GPUMP_OK);
                if (action.kind != GPUMP_SCHEDULER_PREEMPT) continue;
                assert_int_equal(action.technique, POINT);
                preempted++;
            }
        }
    }
    assert_int_equal(preempted, 1);
    free(memory);
}

/* A group's blocks above a cap leave by it. */
static void a_group_takes_blocks_by_a_technique_of_the_host(void **state) {
    gpump_sharing_config config;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sharing_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    config.technique = POINT;
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &config, &bytes, NULL), GPUMP_OK);
    config.keep = GPUMP_PARTS_IN_PLACE; /* nothing stays with this technique */
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &config, &bytes, NULL), GPUMP_ERROR_CONFIG);
    config.keep = 0;
    config.technique = POINT + 1;
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &config, &bytes, NULL), GPUMP_ERROR_CONFIG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_of_techniques_has_that_of_the_host),
        cmocka_unit_test(an_sm_runs_to_the_point_of_a_technique_of_the_host),
        cmocka_unit_test(a_victim_policy_uses_a_technique_of_the_host),
        cmocka_unit_test(a_scheduler_vacates_by_a_technique_of_the_host),
        cmocka_unit_test(a_group_takes_blocks_by_a_technique_of_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
