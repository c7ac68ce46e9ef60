/* labels: unit property */
/* Plans of one SM by hand: blocks that leave by themselves, what a technique hook is told, ties, whole SMs, the search
 * with few nodes; and what each built-in policy is made of. */
#include "victim/victim_ask.h"

#include "victim/victim_parts.h"

enum { F = 1, S = 2, D = 4, R = 8, OWN = 0xf0, INCOMING = 9 };

typedef struct scene {
    gpump_gpu gpu;
    gpump_victim_geometry geometry;
    gpump_block_view blocks[8];
    gpump_cost_estimate estimates[8];
    gpump_victim_sm sm;
    gpump_victim_request request;
    gpump_victim_place places[8];
    gpump_block_choice choices[8];
    gpump_victim_decision decision;
} scene;

/* `count` blocks side by side, one on each of the four positions, which are all that the registers hold. A save takes
 * 2000 cycles and costs 50 instructions; nothing else is allowed. */
static void scene_init(scene *s, uint32_t count, uint32_t positions) {
    const gpump_footprint need = {256, 8192, 0};
    memset(s, 0, sizeof *s);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &s->gpu, "gtx480_shieh", NULL), GPUMP_OK);
    assert_int_equal(gpump_victim_geometry_init(&s->geometry, &s->gpu, &need, 49152, NULL), GPUMP_OK);
    assert_int_equal(s->geometry.positions, 4);
    for (uint32_t i = 0; i < 8; i++) {
        s->blocks[i].block.slot = i;
        s->blocks[i].kernel = 1;
        s->blocks[i].state = GPUMP_BLOCK_RUNNING;
        s->blocks[i].cookie = 100 + i;
        s->blocks[i].register_base = 8192 * (i % 4);
        s->blocks[i].registers = 8192;
        s->blocks[i].threads = 256;
        s->blocks[i].warps = 8;
        s->blocks[i].may = S;
        for (uint32_t t = 0; t < GPUMP_TECHNIQUES; t++)
            s->estimates[i].latency[t] = s->estimates[i].overhead[t] = GPUMP_UNKNOWN;
        s->estimates[i].latency[GPUMP_TECHNIQUE_SWITCH] = 2000;
        s->estimates[i].overhead[GPUMP_TECHNIQUE_SWITCH] = 50;
    }
    s->sm.blocks = s->blocks;
    s->sm.estimates = s->estimates;
    s->sm.count = count;
    assert_int_equal(gpump_victim_request_init(&s->request, INCOMING, positions, 0), GPUMP_OK);
    s->request.limit_cycles = 5000;
}

/* Block i drains and ends by itself after so many cycles. */
static void leaves(scene *s, uint32_t i, uint64_t cycles) {
    s->blocks[i].state = GPUMP_BLOCK_DRAINING;
    s->estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] = cycles;
    s->estimates[i].overhead[GPUMP_TECHNIQUE_DRAIN] = 0;
}

static void decide(scene *s, const gpump_victim_policy *policy) {
    assert_int_equal(victim_decide(policy, &s->request, &s->geometry, &s->sm, 1, NULL, 0, s->places, 8, s->choices, 8,
                                   &s->decision, NULL),
                     GPUMP_OK);
}

/* Algorithm 1 for a policy that waits for blocks that leave, with or without a hook. */
static gpump_victim_policy waiting_policy(void) {
    gpump_victim_policy policy = *gpump_victim_find("dual");
    policy.name = "waiting";
    policy.flags = 0;
    return policy;
}

static uint64_t told;
static uint32_t always_switch(const gpump_victim_technique_args *args) {
    told = args->saves;
    return GPUMP_TECHNIQUE_SWITCH;
}

/* Of blocks that leave in time anyway, the place of the soonest one is taken, whatever a hook says of the others. */
static void the_soonest_of_those_that_leave(void **state) {
    gpump_victim_policy policy = waiting_policy();
    scene s;
    (void)state;
    /* Two blocks leave in time, the second sooner. */
    scene_init(&s, 4, 1);
    leaves(&s, 0, 3000);
    leaves(&s, 1, 1000);
    decide(&s, &policy);
    assert_int_equal(s.decision.places, 1);
    assert_int_equal(s.decision.choices, 0);
    assert_int_equal(s.places[0].position, 1);
    /* What a hook says of the others does not make the block late that leaves. */
    scene_init(&s, 4, 1);
    leaves(&s, 0, 3000);
    policy.technique = always_switch;
    decide(&s, &policy);
    assert_int_equal(s.decision.choices, 0);
    assert_int_equal(s.places[0].position, 0);
}

/* Who leaves after the limit counts only when there are not positions enough without him. */
static void late_blocks_count_only_where_others_are_not_enough(void **state) {
    gpump_victim_policy policy = waiting_policy();
    scene s;
    (void)state;
    for (uint32_t want = 1; want <= 4; want++) {
        scene_init(&s, 4, want);
        leaves(&s, 0, 9000);
        leaves(&s, 2, 9500);
        decide(&s, &policy);
        assert_int_equal(s.decision.places, want);
        assert_int_equal(s.decision.choices, want < 2 ? want : 2);
        for (uint32_t i = 0; i < want; i++) {
            const int late = s.places[i].position == 0 || s.places[i].position == 2;
            if (want <= 2) assert_false(late);
        }
    }
}

/* The hook of drain-then-switch is told how long all saves of the SM take: of blocks that may be saved. */
static void a_hook_is_told_of_all_saves(void **state) {
    gpump_victim_policy policy = waiting_policy();
    scene s;
    (void)state;
    policy.technique = always_switch;
    for (uint32_t parallel = 0; parallel < 2; parallel++) {
        scene_init(&s, 4, 1);
        s.request.flags = parallel ? GPUMP_VICTIM_PARALLEL_SAVES : 0;
        for (uint32_t i = 0; i < 4; i++) s.estimates[i].latency[GPUMP_TECHNIQUE_SWITCH] = 100 << i;
        s.blocks[1].may = S | D;
        leaves(&s, 3, 4000); /* not asked */
        told = 0;
        decide(&s, &policy);
        assert_int_equal(told, parallel ? 400 : 700);
    }
    policy.technique =
        NULL; /* a block that may only be drained is not saved; drain-then-switch has time for the rest */
    scene_init(&s, 4, 4);
    s.estimates[0].latency[GPUMP_TECHNIQUE_SWITCH] = 4000;
    for (uint32_t i = 0; i < 4; i++) {
        s.blocks[i].may = i ? S | D : D;
        s.estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] = 100000;
        s.estimates[i].overhead[GPUMP_TECHNIQUE_DRAIN] = 0;
        if (i) s.estimates[i].latency[GPUMP_TECHNIQUE_SWITCH] = 1000;
    }
    decide(&s, gpump_victim_find("drain-then-switch"));
    assert_int_equal(s.decision.ask_again, 5000 - 3000);
    s.request.limit_cycles = 2500; /* too short for the saves: they begin at once */
    decide(&s, gpump_victim_find("drain-then-switch"));
    for (uint32_t i = 0; i < s.decision.choices; i++)
        assert_int_equal(s.choices[i].technique,
                         s.choices[i].cookie == 100 ? GPUMP_TECHNIQUE_DRAIN : GPUMP_TECHNIQUE_SWITCH);
    assert_true(s.decision.ask_again == GPUMP_UNKNOWN);
    s.request.limit_cycles = 2999;
    decide(&s, gpump_victim_find("drain-then-switch"));
    assert_true(s.decision.ask_again == GPUMP_UNKNOWN);
}

/* An SM with a block that stays is no SM for a policy that takes whole SMs, and nothing is to be asked again. */
static void a_policy_of_whole_sms_takes_no_sm_with_a_block_that_stays(void **state) {
    scene s;
    (void)state;
    scene_init(&s, 4, 4);
    for (uint32_t i = 0; i < 4; i++) {
        s.blocks[i].may = S | D;
        s.estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] = 100000;
        s.estimates[i].overhead[GPUMP_TECHNIQUE_DRAIN] = 0;
    }
    s.request.timeout_cycles = 3000;
    decide(&s, gpump_victim_find("drain-then-switch"));
    assert_int_equal(s.decision.ask_again, 3000);
    s.blocks[2].may = 0;
    decide(&s, gpump_victim_find("drain-then-switch"));
    assert_int_equal(s.decision.places, 0);
    assert_int_equal(s.decision.choices, 0);
    assert_true(s.decision.ask_again == GPUMP_UNKNOWN);
}

/* Slots, not registers, are short: of four blocks of the same price the search takes those with the lowest numbers. */
static void equals_go_by_number(void **state) {
    const gpump_footprint need = {256, 1024, 0};
    scene s;
    (void)state;
    scene_init(&s, 4, 2);
    s.gpu.block_slots = 4;
    assert_int_equal(gpump_victim_geometry_init(&s.geometry, &s.gpu, &need, 49152, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < 4; i++) s.blocks[i].registers = 1024, s.blocks[i].register_base = 1024 * i;
    decide(&s, gpump_victim_find("exact"));
    assert_int_equal(s.decision.places, 2);
    assert_int_equal(s.decision.choices, 2);
    assert_int_equal(s.choices[0].cookie, 100);
    assert_int_equal(s.choices[1].cookie, 101);
}

/* Likewise of positions, wherever the blocks lie. */
static void equal_positions_go_by_block(void **state) {
    scene s;
    (void)state;
    for (uint32_t want = 1; want <= 3; want++) {
        scene_init(&s, 4, want);
        for (uint32_t i = 0; i < 4; i++) s.blocks[i].register_base = 8192 * (3 - i);
        decide(&s, gpump_victim_find("exact"));
        assert_int_equal(s.decision.choices, want);
        for (uint32_t i = 0; i < want; i++) assert_int_equal(s.choices[i].cookie, 100 + i);
    }
}

/* Warps are short: the cheapest block is not enough, the next one is, and then the first need not go. */
static void a_block_that_no_longer_has_to_leave_stays(void **state) {
    const gpump_footprint need = {256, 1024, 0};
    scene s;
    (void)state;
    scene_init(&s, 2, 1);
    s.gpu.warp_slots = 10;
    assert_int_equal(gpump_victim_geometry_init(&s.geometry, &s.gpu, &need, 49152, NULL), GPUMP_OK);
    s.blocks[0].registers = s.blocks[1].registers = 0;
    s.blocks[0].threads = 64;
    s.blocks[0].warps = 2;
    s.estimates[0].overhead[GPUMP_TECHNIQUE_SWITCH] = 10;
    decide(&s, gpump_victim_find("dual"));
    assert_int_equal(s.decision.places, 1);
    assert_int_equal(s.decision.choices, 1);
    assert_int_equal(s.choices[0].cookie, 101);
    assert_int_equal(s.decision.overhead, 50);
}

static void all_are_saved(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    plan->positions = 1; /* and says nothing of asking again */
    plan->victims = args->choosable;
    for (uint32_t i = 0; i < args->sm->count; i++) plan->technique[i] = GPUMP_TECHNIQUE_SWITCH;
}

/* A policy's plan hook may leave the time to ask again unset, which means never. */
static void a_plan_hook_may_be_silent(void **state) {
    gpump_victim_policy policy = *gpump_victim_find("switch");
    scene s;
    (void)state;
    policy.name = "silent";
    policy.plan = all_are_saved;
    scene_init(&s, 4, 1);
    decide(&s, &policy);
    assert_int_equal(s.decision.choices, 4);
    assert_true(s.decision.ask_again == GPUMP_UNKNOWN);
}

/* Techniques that do not exist are no way out, whoever names them; what is written is whole. */
static void a_technique_that_does_not_exist_is_no_way_out(void **state) {
    gpump_victim_policy policy = *gpump_victim_find("dual");
    scene s;
    (void)state;
    policy.name = "any";
    policy.techniques = ~0u;
    scene_init(&s, 4, 4);
    s.blocks[1].may = 0xf0;
    s.blocks[2].may = 0xff & ~(uint32_t)(F | D | R);
    memset(s.choices, 0xff, sizeof s.choices);
    decide(&s, &policy);
    assert_int_equal(s.decision.places, 3);
    assert_int_equal(s.decision.missing, 1);
    assert_int_equal(s.decision.choices, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(s.choices[i].technique, GPUMP_TECHNIQUE_SWITCH);
        assert_int_equal(s.choices[i].unused, 0);
    }
}

static uint32_t always_flush(const gpump_victim_technique_args *args) {
    (void)args;
    return GPUMP_TECHNIQUE_FLUSH;
}
/* Answers without positions: the latency is that of the last one out, who cannot leave without a mate stays with it,
 * and a hook's answer is checked. */
static void answers_of_whole_sms(void **state) {
    gpump_victim_policy policy = *gpump_victim_find("dual");
    gpump_diag diag;
    scene s;
    (void)state;
    scene_init(&s, 4, 0);
    s.request.flags = GPUMP_VICTIM_PARALLEL_SAVES;
    for (uint32_t i = 0; i < 4; i++) s.estimates[i].latency[GPUMP_TECHNIQUE_SWITCH] = i == 1 ? 900 : 100 * (i + 1);
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_VACATE, gpump_victim_find("switch"), &s.request, &s.sm, 1, s.choices,
                                8, &s.decision, NULL),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 4);
    assert_int_equal(s.decision.latency, 900);
    s.blocks[0].may = 0;
    s.blocks[0].group = s.blocks[1].group = 5;
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_VACATE, gpump_victim_find("switch"), &s.request, &s.sm, 1, s.choices,
                                8, &s.decision, NULL),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 2);
    assert_int_equal(s.decision.missing, 2);
    assert_int_equal(s.choices[0].cookie, 102);
    assert_int_equal(s.choices[1].cookie, 103);
    scene_init(&s, 4, 0);
    policy.name = "flushes";
    policy.technique = always_flush;
    for (uint32_t i = 0; i < 4; i++) {
        s.blocks[i].may = S | D;
        leaves(&s, i, 9000);
    }
    assert_int_equal(
        victim_ask(GPUMP_VICTIM_ASK_AGAIN, &policy, &s.request, &s.sm, 1, s.choices, 8, &s.decision, &diag),
        GPUMP_ERROR_REFUSED);
    assert_int_equal(diag.reason, GPUMP_REASON_NO_TECHNIQUE);
}

static uint32_t nodes;
static void search_with_few_nodes(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_exact(args, args->sm->estimates, GPUMP_UNKNOWN, nodes, plan);
}

/* The search says how far it got: two positions that are short of registers and of slots need two nodes for the
 * positions, one for each choice, and one for each block that is added for its slot. */
static void the_budget_counts_every_step(void **state) {
    gpump_victim_policy policy = *gpump_victim_find("exact");
    scene s;
    (void)state;
    policy.name = "few nodes";
    policy.plan = search_with_few_nodes;
    scene_init(&s, 4, 1); /* one position, whose block leaves: the root, and the position taken */
    for (nodes = 0; nodes < 4; nodes++) {
        decide(&s, &policy);
        assert_int_equal(s.decision.places, nodes >= 2);
    }
    /* Blocks of no registers, and 4 slots of which the incoming kernel needs 3: every victim is added for its slot. */
    scene_init(&s, 4, 3);
    s.gpu.block_slots = 4;
    {
        const gpump_footprint need = {256, 1024, 0};
        assert_int_equal(gpump_victim_geometry_init(&s.geometry, &s.gpu, &need, 49152, NULL), GPUMP_OK);
    }
    for (uint32_t i = 0; i < 4; i++) s.blocks[i].registers = s.blocks[i].register_base = 0;
    for (nodes = 1; nodes < 10; nodes++) {
        decide(&s, &policy);
        assert_int_equal(s.decision.places, nodes >= 7 ? 3 : 0);
        if (nodes >= 7) assert_int_equal(s.decision.choices, 3);
    }
}

/* What each policy may do and how it estimates, as docs/victims.md and victim.h have it. */
static void what_policies_are_made_of(void **state) {
    static const struct {
        const char *name;
        uint32_t flags, techniques;
        gpump_cost_options cost;
    } all[] = {
        {"dual", GPUMP_VICTIM_EVICTED, F | S | D, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}},
        {"chimera", GPUMP_VICTIM_WHOLE_SM, F | S | D, {GPUMP_COST_CPI_RUNNING, GPUMP_COST_DRAIN_LOSES, 0}},
        {"chimera+", GPUMP_VICTIM_WHOLE_SM, F | S | D, {GPUMP_COST_CPI_SMALLER_DEVIATION, GPUMP_COST_DRAIN_LOSES, 0}},
        {"switch", GPUMP_VICTIM_WHOLE_SM, S, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}},
        {"drain", GPUMP_VICTIM_WHOLE_SM, D, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}},
        {"flush", GPUMP_VICTIM_WHOLE_SM, F, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}},
        {"drain-then-switch", GPUMP_VICTIM_WHOLE_SM, S | D, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}},
        {"oracle", GPUMP_VICTIM_EVICTED | GPUMP_VICTIM_TRUE_COSTS, F | S | D, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}},
        {"exact", 0, F | S | D | OWN, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}},
        {"rewind", GPUMP_VICTIM_EVICTED, F | S | D | R, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}},
        {"joint",
         GPUMP_VICTIM_COMMON_DEADLINE,
         F | S | D | R | OWN,
         {GPUMP_COST_CPI_SMALLER_DEVIATION, GPUMP_COST_DRAIN_CAREFUL, 0}},
        {"dual-larger", GPUMP_VICTIM_EVICTED, F | S | D, {GPUMP_COST_CPI_LARGER, 0, 0}},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) {
        const gpump_victim_policy *policy = gpump_victim_policy_at(i);
        assert_string_equal(policy->name, all[i].name);
        assert_int_equal(policy->flags, all[i].flags);
        assert_int_equal(policy->techniques, all[i].techniques);
        assert_int_equal(policy->cost.cpi, all[i].cost.cpi);
        assert_int_equal(policy->cost.flags, all[i].cost.flags);
        assert_int_equal(policy->cost.limit_cycles, 0);
    }
    assert_null(gpump_victim_policy_at(sizeof all / sizeof *all));
}

/* Block i may leave by technique t in so many cycles, at this cost. */
static void may_leave(scene *s, uint32_t i, uint32_t t, uint64_t cycles, uint64_t cost) {
    s->blocks[i].may |= 1u << t;
    s->estimates[i].latency[t] = cycles;
    s->estimates[i].overhead[t] = cost;
}
static uint32_t technique_of(const scene *s, uint32_t slot) {
    for (uint32_t i = 0; i < s->decision.choices; i++)
        if (s->choices[i].block.slot == slot) return s->choices[i].technique;
    return GPUMP_TECHNIQUES;
}

/* joint where the port decides: a save that ends at the limit is in time; one cycle less, and others leave that need
 * the port less; their own latency then decides what may run on. */
static void joint_at_the_limit(void **state) {
    const gpump_victim_policy *joint = gpump_victim_find("joint");
    scene s;
    (void)state;
    for (uint32_t late = 0; late < 2; late++) {
        scene_init(&s, 4, 1);
        s.blocks[2].may = s.blocks[3].may = 0;
        s.request.limit_cycles = 5000 - late;
        may_leave(&s, 0, GPUMP_TECHNIQUE_SWITCH, 5000, 10);
        may_leave(&s, 1, GPUMP_TECHNIQUE_SWITCH, 4000, 50);
        decide(&s, joint);
        assert_int_equal(s.decision.choices, 1);
        assert_int_equal(s.choices[0].block.slot, late);
    }
    /* Blocks 1 and 2 instead of 0 and 2: 2 would drain within 9000 cycles, which 0 takes, and does not within 5000. */
    scene_init(&s, 4, 2);
    may_leave(&s, 0, GPUMP_TECHNIQUE_SWITCH, 9000, 1);
    may_leave(&s, 1, GPUMP_TECHNIQUE_SWITCH, 4000, 50);
    s.blocks[2].may = s.blocks[3].may = 0;
    may_leave(&s, 2, GPUMP_TECHNIQUE_FLUSH, 0, 5);
    may_leave(&s, 2, GPUMP_TECHNIQUE_DRAIN, 6000, 0);
    decide(&s, joint);
    assert_int_equal(technique_of(&s, 0), GPUMP_TECHNIQUES);
    assert_int_equal(technique_of(&s, 1), GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(technique_of(&s, 2), GPUMP_TECHNIQUE_FLUSH);
    assert_true(s.decision.ask_again == GPUMP_UNKNOWN);
    /* Blocks 2 and 3 instead of 0 and 3, whose saves follow each other for 9000 cycles: within the 5000 that are left
     * then, 2 does not drain. */
    scene_init(&s, 4, 2);
    s.blocks[1].may = s.blocks[2].may = s.blocks[3].may = 0;
    may_leave(&s, 0, GPUMP_TECHNIQUE_SWITCH, 5000, 23);
    may_leave(&s, 2, GPUMP_TECHNIQUE_FLUSH, 0, 41);
    may_leave(&s, 2, GPUMP_TECHNIQUE_DRAIN, 7000, 0);
    may_leave(&s, 3, GPUMP_TECHNIQUE_REWIND, 4000, 19);
    decide(&s, gpump_victim_find("joint"));
    assert_int_equal(technique_of(&s, 0), GPUMP_TECHNIQUES);
    assert_int_equal(technique_of(&s, 2), GPUMP_TECHNIQUE_FLUSH);
    assert_int_equal(technique_of(&s, 3), GPUMP_TECHNIQUE_REWIND);
    assert_true(s.decision.ask_again == GPUMP_UNKNOWN);
}

/* Without a deadline no drain is too long: it costs what its estimate says, and a flush that costs less is taken. */
static void joint_without_a_deadline(void **state) {
    scene s;
    (void)state;
    scene_init(&s, 4, 1);
    s.request.limit_cycles = GPUMP_UNKNOWN;
    s.blocks[1].may = s.blocks[2].may = s.blocks[3].may = 0;
    may_leave(&s, 0, GPUMP_TECHNIQUE_FLUSH, 100, 10);
    may_leave(&s, 0, GPUMP_TECHNIQUE_DRAIN, 500, 40);
    decide(&s, gpump_victim_find("joint"));
    assert_int_equal(technique_of(&s, 0), GPUMP_TECHNIQUE_FLUSH);
    assert_true(s.decision.overhead == 10);
}

/* An empty SM needs no arrays of blocks: every policy gives all four positions at once. */
static void an_empty_sm(void **state) {
    const gpump_victim_policy *policy;
    scene s;
    (void)state;
    for (uint32_t i = 0; (policy = gpump_victim_policy_at(i)) != NULL; i++)
        for (uint32_t want = 1; want <= 5; want++) {
            scene_init(&s, 0, want);
            s.sm.blocks = NULL;
            s.sm.estimates = NULL;
            decide(&s, policy);
            assert_int_equal(s.decision.choices, 0);
            assert_int_equal(s.decision.places, want < 4 ? want : 4);
            assert_int_equal(s.decision.missing, want - s.decision.places);
        }
}

/* Two saves are too many for the port: who is flushed is the one that gains from it, not the one whose other way to be
 * saved takes just as long. */
static void a_save_as_long_gains_nothing(void **state) {
    scene s;
    (void)state;
    scene_init(&s, 4, 2);
    s.blocks[2].may = s.blocks[3].may = 0;
    may_leave(&s, 0, GPUMP_TECHNIQUE_SWITCH, 3000, 10);
    may_leave(&s, 0, GPUMP_TECHNIQUE_REWIND, 3000, 10);
    may_leave(&s, 1, GPUMP_TECHNIQUE_SWITCH, 3000, 10);
    may_leave(&s, 1, GPUMP_TECHNIQUE_FLUSH, 0, 100);
    decide(&s, gpump_victim_find("joint"));
    assert_int_equal(technique_of(&s, 0), GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(technique_of(&s, 1), GPUMP_TECHNIQUE_FLUSH);
}

/* Two positions can be had at once, one of them from a block that drains and is about to end: the lower one is taken.
 */
static void a_tie_with_a_free_position(void **state) {
    static const gpump_victim_policy waits = {0,    S,   {GPUMP_COST_CPI_RUNNING, 0, 0}, "waits", "", NULL, NULL,
                                              NULL, NULL};
    scene s;
    (void)state;
    scene_init(&s, 1, 1);
    leaves(&s, 0, 0);
    decide(&s, &waits);
    assert_int_equal(s.decision.places, 1);
    assert_int_equal(s.places[0].position, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joint_at_the_limit),
        cmocka_unit_test(joint_without_a_deadline),
        cmocka_unit_test(an_empty_sm),
        cmocka_unit_test(a_save_as_long_gains_nothing),
        cmocka_unit_test(the_soonest_of_those_that_leave),
        cmocka_unit_test(late_blocks_count_only_where_others_are_not_enough),
        cmocka_unit_test(a_hook_is_told_of_all_saves),
        cmocka_unit_test(a_policy_of_whole_sms_takes_no_sm_with_a_block_that_stays),
        cmocka_unit_test(equals_go_by_number),
        cmocka_unit_test(equal_positions_go_by_block),
        cmocka_unit_test(a_block_that_no_longer_has_to_leave_stays),
        cmocka_unit_test(a_plan_hook_may_be_silent),
        cmocka_unit_test(a_technique_that_does_not_exist_is_no_way_out),
        cmocka_unit_test(answers_of_whole_sms),
        cmocka_unit_test(the_budget_counts_every_step),
        cmocka_unit_test(a_tie_with_a_free_position),
        cmocka_unit_test(what_policies_are_made_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
