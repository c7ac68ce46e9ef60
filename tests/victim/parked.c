/* labels: unit property */
/* Parked blocks hold registers or shared memory and no slots. A decision never takes their room for free: what it
 * promises, gpump_sm_place gives. */
#include <stdlib.h>

#include "victim/estimate.h"
#include "victim/victim_ask.h"

enum { OLD = 1, NEW = 2 };

typedef struct scene {
    gpump_gpu gpu;
    gpump_sm_config config;
    gpump_sm *sm;
    void *memory;
    gpump_footprint old_need, new_need;
    gpump_block_ref blocks[64];
    gpump_cost_history histories[3];
    uint64_t now;
} scene;

/* An SM of gtx480_shieh with positions aligned, that reports no waits: a stopped block is complete at once. */
static void scene_make(scene *s, uint32_t threads, uint32_t registers, uint32_t shared_bytes) {
    size_t bytes;
    memset(s, 0, sizeof *s);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &s->gpu, "gtx480_shieh", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_sm_component, &s->config, "gtx480_shieh", NULL), GPUMP_OK);
    s->config.placement = GPUMP_SM_ALIGNED;
    s->config.waits = 0;
    s->config.kernels = 4;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &s->config, &bytes, NULL), GPUMP_OK);
    s->memory = malloc(bytes);
    assert_non_null(s->memory);
    assert_int_equal(gpump_init(&gpump_sm_component, s->memory, bytes, &s->config, &s->sm, NULL), GPUMP_OK);
    s->old_need.threads = threads;
    s->old_need.registers = registers;
    s->old_need.shared_bytes = shared_bytes;
}

static gpump_result scene_place(scene *s, uint32_t kernel, const gpump_footprint *need, uint64_t cookie,
                                gpump_block_ref *block) {
    gpump_sm_request request;
    memset(&request, 0, sizeof request);
    request.kernel = kernel;
    request.cookie = cookie;
    request.need = *need;
    return gpump_sm_place(s->sm, s->now, &request, NULL, block, NULL);
}

/* Carries out whatever the SM needs done. */
static void scene_settle(scene *s) {
    gpump_sm_action action;
    while (gpump_sm_next(s->sm, s->now, &action) == GPUMP_OK) {
        if (action.kind == GPUMP_SM_ACTION_SAVE)
            assert_int_equal(gpump_sm_report_saved(s->sm, s->now, action.block), GPUMP_OK);
        if (action.kind == GPUMP_SM_ACTION_DROP)
            assert_int_equal(gpump_sm_report_dropped(s->sm, s->now, action.block), GPUMP_OK);
    }
    s->now++;
}

/* Fills the SM with blocks of the old kernel, until the first resource is short, and parks all of them. */
static uint32_t scene_park(scene *s, uint32_t most, uint32_t keep) {
    gpump_block_choice choices[64];
    uint32_t count = 0, i;
    while (count < most && scene_place(s, OLD, &s->old_need, count, &s->blocks[count]) == GPUMP_OK) count++;
    memset(choices, 0, sizeof choices);
    for (i = 0; i < count; i++) {
        choices[i].block = s->blocks[i];
        choices[i].technique = GPUMP_TECHNIQUE_SWITCH;
        choices[i].keep = keep;
    }
    assert_int_equal(gpump_sm_preempt(s->sm, s->now, choices, count, NULL), GPUMP_OK);
    scene_settle(s);
    for (i = 0; i < count; i++) assert_int_equal(gpump_sm_state(s->sm, s->blocks[i].slot), GPUMP_BLOCK_PARKED);
    return count;
}

typedef struct answer {
    gpump_result result;
    gpump_victim_decision decision;
    gpump_victim_place places[64];
    gpump_block_choice choices[64];
} answer;

/* Asks a policy for `positions` of the new kernel. `stay`: no parked block may leave any further. */
static void scene_ask(scene *s, const gpump_victim_policy *policy, uint32_t positions, int stay, answer *a) {
    gpump_block_view views[64];
    gpump_cost_estimate estimates[64];
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_victim_sm view;
    uint32_t count = 0, i;
    memset(a, 0, sizeof *a);
    memset(&request, 0, sizeof request);
    memset(&view, 0, sizeof view);
    assert_int_equal(gpump_sm_blocks(s->sm, s->now, views, 64, &count), GPUMP_OK);
    for (i = 0; i < count && stay; i++) views[i].may = 0;
    assert_int_equal(estimate_blocks(&s->gpu, s->histories, 3, views, count, NULL, &policy->cost, estimates, NULL),
                     GPUMP_OK);
    assert_int_equal(gpump_victim_geometry_init(&geometry, &s->gpu, &s->new_need, s->config.shared_bytes, NULL),
                     GPUMP_OK);
    request.kernel = NEW;
    request.positions = positions;
    request.since = request.now = s->now;
    request.limit_cycles = 100000;
    request.timeout_cycles = GPUMP_UNKNOWN;
    view.blocks = views;
    view.estimates = estimates;
    view.count = count;
    a->result = victim_decide(policy, &request, &geometry, &view, 1, NULL, 0, a->places, 64, a->choices, 64,
                              &a->decision, NULL);
}

/* Four parked blocks fill the register file. As long as nobody may take it from them, no policy promises a place; where
 * they may leave, the places that are promised are there once the choices have been carried out. */
static void four_parked_blocks_fill_the_register_file(void **state) {
    uint32_t p, stay;
    (void)state;
    for (p = 0; gpump_victim_policy_at(p); p++)
        for (stay = 0; stay < 2; stay++) {
            const gpump_victim_policy *policy = gpump_victim_policy_at(p);
            scene s;
            answer a;
            uint32_t i;
            scene_make(&s, 256, 8192, 0);
            s.new_need = s.old_need;
            assert_int_equal(scene_park(&s, 64, GPUMP_PART_REGISTERS), 4);
            scene_ask(&s, policy, 4, (int)stay, &a);
            assert_int_equal(a.result, GPUMP_OK);
            assert_int_equal(a.decision.places + a.decision.missing, 4);
            assert_int_equal(a.decision.places, a.decision.choices); /* each block is a position */
            if (stay) assert_int_equal(a.decision.places, 0);
            if (!strcmp(policy->name, "dual") || !strcmp(policy->name, "switch") || !strcmp(policy->name, "joint"))
                assert_int_equal(a.decision.places, stay ? 0 : 4);
            if (a.decision.choices)
                assert_int_equal(gpump_sm_preempt(s.sm, s.now, a.choices, a.decision.choices, NULL), GPUMP_OK);
            scene_settle(&s);
            for (i = 0; i < a.decision.places; i++) {
                gpump_block_ref block;
                assert_int_equal(scene_place(&s, NEW, &s.new_need, 100 + i, &block), GPUMP_OK);
            }
            free(s.memory);
        }
}

/* More blocks are parked than the SM has slots: nothing is short of slots, so a small kernel fits beside them. */
static void parked_blocks_take_no_slots(void **state) {
    uint32_t p;
    (void)state;
    for (p = 0; gpump_victim_policy_at(p); p++) {
        const gpump_victim_policy *policy = gpump_victim_policy_at(p);
        scene s;
        answer a;
        gpump_block_ref block;
        uint32_t round, parked = 0;
        scene_make(&s, 32, 32 * 20, 0);
        for (round = 0; round < 2; round++) parked += scene_park(&s, 6, GPUMP_PART_REGISTERS);
        assert_true(parked == 12 && parked > s.config.block_slots);
        s.new_need = s.old_need;
        scene_ask(&s, policy, 2, 1, &a);
        assert_int_equal(a.result, GPUMP_OK);
        if (policy->flags & GPUMP_VICTIM_WHOLE_SM) { /* all or nothing, and these must stay */
            assert_int_equal(a.decision.places, 0);
        } else {
            assert_int_equal(a.decision.places, 2);
            assert_int_equal(a.decision.latency, 0);
            assert_int_equal(scene_place(&s, NEW, &s.new_need, 100, &block), GPUMP_OK);
            assert_int_equal(scene_place(&s, NEW, &s.new_need, 101, &block), GPUMP_OK);
        }
        scene_ask(&s, policy, 0, 1, &a); /* an empty plan is never refused */
        assert_int_equal(a.result, GPUMP_OK);
        free(s.memory);
    }
}

/* The tables can name only so many blocks: where parked ones fill them, no place is promised. */
static void the_tables_are_full(void **state) {
    scene s;
    answer a;
    uint32_t round, parked = 0;
    (void)state;
    scene_make(&s, 32, 32 * 20, 0);
    for (round = 0; round < 2; round++) parked += scene_park(&s, 8, GPUMP_PART_REGISTERS);
    assert_int_equal(parked, s.config.entries);
    s.new_need = s.old_need;
    scene_ask(&s, gpump_victim_find("dual"), 2, 1, &a);
    assert_int_equal(a.result, GPUMP_OK);
    assert_int_equal(a.decision.places, 0);
    assert_int_equal(a.decision.missing, 2);
    scene_ask(&s, gpump_victim_find("dual"), 2, 0, &a); /* whoever gives up the rest makes room in the tables too */
    assert_int_equal(a.decision.places, 2);
    assert_int_equal(a.decision.choices, 2);
    free(s.memory);
}

/* A block on its way out that leaves its registers in place frees its shared memory and its slots, not its registers.
 */
static void a_part_that_stays_is_no_room(void **state) {
    gpump_block_choice choice;
    gpump_block_view view;
    scene s;
    answer a;
    (void)state;
    scene_make(&s, 256, 16384, 16384);
    s.config.waits = GPUMP_SM_WAIT_PIPELINE;
    {
        size_t bytes;
        assert_int_equal(gpump_bytes(&gpump_sm_component, &s.config, &bytes, NULL), GPUMP_OK);
        assert_int_equal(gpump_init(&gpump_sm_component, s.memory, bytes, &s.config, &s.sm, NULL), GPUMP_OK);
    }
    assert_int_equal(scene_place(&s, OLD, &s.old_need, 0, &s.blocks[0]), GPUMP_OK);
    assert_int_equal(scene_place(&s, OLD, &s.old_need, 1, &s.blocks[1]), GPUMP_OK);
    memset(&choice, 0, sizeof choice);
    choice.block = s.blocks[0];
    choice.technique = GPUMP_TECHNIQUE_SWITCH;
    choice.keep = GPUMP_PART_REGISTERS;
    assert_int_equal(gpump_sm_preempt(s.sm, s.now, &choice, 1, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_block(s.sm, s.now, s.blocks[0], &view), GPUMP_OK);
    assert_int_equal(view.state, GPUMP_BLOCK_STOPPING);
    assert_int_equal(view.keep, GPUMP_PART_REGISTERS);
    assert_int_equal(view.technique, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpumpi_block_parts_held(&view),
                     GPUMP_PART_REGISTERS | GPUMP_PART_SHARED_MEMORY | GPUMP_PART_SLOTS);
    assert_int_equal(gpumpi_block_parts_freed(&view), GPUMP_PART_SHARED_MEMORY | GPUMP_PART_SLOTS);
    s.new_need = s.old_need; /* needs its registers */
    scene_ask(&s, gpump_victim_find("dual"), 1, 1, &a);
    assert_int_equal(a.result, GPUMP_OK);
    assert_int_equal(a.decision.places, 0);
    s.new_need.registers = 0; /* needs its shared memory */
    s.new_need.shared_bytes = 32768;
    scene_ask(&s, gpump_victim_find("dual"), 1, 1, &a);
    assert_int_equal(a.decision.places, 0); /* position 0 reaches into the second block */
    s.new_need.shared_bytes = 16384;
    scene_ask(&s, gpump_victim_find("dual"), 2, 1, &a);
    assert_int_equal(a.decision.places, 2); /* positions 0 (when the first is out) and 2 (free) */
    free(s.memory);
}

/* The same group number in two kernels is two groups. */
static void groups_belong_to_a_kernel(void **state) {
    uint32_t p;
    (void)state;
    for (p = 0; gpump_victim_policy_at(p); p++) {
        const gpump_victim_policy *policy = gpump_victim_policy_at(p);
        scene s;
        answer a;
        gpump_sm_request request;
        uint32_t i;
        scene_make(&s, 256, 8192, 0);
        memset(&request, 0, sizeof request);
        request.need = s.old_need;
        request.group = 7;
        for (i = 0; i < 4; i++) {
            request.kernel = i < 2 ? OLD : 3;
            request.cookie = i;
            assert_int_equal(gpump_sm_place(s.sm, 0, &request, NULL, &s.blocks[i], NULL), GPUMP_OK);
            if (i >= 2) assert_int_equal(gpump_sm_report_clobber(s.sm, s.blocks[i]), GPUMP_OK);
        }
        s.new_need = s.old_need;
        scene_ask(&s, policy, 2, 0, &a);
        assert_int_equal(a.result, GPUMP_OK);
        if (!strcmp(policy->name, "dual")) { /* the two that may be flushed, and nobody else */
            assert_int_equal(a.decision.places, 2);
            assert_int_equal(a.decision.choices, 2);
            assert_true(a.choices[0].cookie < 2 && a.choices[1].cookie < 2);
        }
        if (a.decision.choices)
            assert_int_equal(gpump_sm_preempt(s.sm, s.now, a.choices, a.decision.choices, NULL), GPUMP_OK);
        free(s.memory);
    }
}

/* What cannot be had is missing, not refused: more is promised than the SM holds, and the residents of the incoming
 * kernel are larger than its positions. */
static void what_cannot_be_had_is_missing(void **state) {
    uint32_t p;
    (void)state;
    for (p = 0; gpump_victim_policy_at(p); p++) {
        const gpump_victim_policy *policy = gpump_victim_policy_at(p);
        scene s;
        answer a;
        gpump_block_ref block;
        scene_make(&s, 768, 32 * 64, 0);
        s.new_need = s.old_need;
        assert_int_equal(scene_place(&s, NEW, &s.old_need, 0, &block), GPUMP_OK);
        assert_int_equal(scene_place(&s, OLD, &s.old_need, 1, &block), GPUMP_OK);
        s.new_need.threads = 256; /* four more would fit beside one of 256 threads, not beside one of 768 */
        scene_ask(&s, policy, 5, 0, &a);
        assert_int_equal(a.result, GPUMP_OK);
        assert_int_equal(a.decision.places + a.decision.missing, 5);
        assert_true(a.decision.places <= 3);
        free(s.memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_parked_blocks_fill_the_register_file),
        cmocka_unit_test(parked_blocks_take_no_slots),
        cmocka_unit_test(the_tables_are_full),
        cmocka_unit_test(a_part_that_stays_is_no_room),
        cmocka_unit_test(groups_belong_to_a_kernel),
        cmocka_unit_test(what_cannot_be_had_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
