/* labels: unit property */
/* Dynamic spatial sharing (Tanasic 5.2.4): worked examples, where the printed algorithm stalls, and a million random
 * states against the rule said in another way. */
#include "test.h"

typedef struct world {
    gpump_scheduler *scheduler;
    gpump_scheduler_config config;
    const gpump_scheduler_policy *policy;
    void *memory;
    uint64_t now;
    gpump_block_ref block[64 * 64]; /* resident blocks by SM and slot; generation 0: none */
    uint32_t queue_of[64 * 64];
    int leaving[64];
} world;

static void make(world *w, uint32_t sms, uint32_t processes, const char *policy, uint32_t mechanism) {
    size_t bytes;
    memset(w, 0, sizeof *w);
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &w->config, "k20c", NULL), GPUMP_OK);
    w->config.sms = sms;
    w->config.blocks_per_sm = 4;
    w->config.active_kernels = 32;
    w->config.saved_blocks = sms * 4;
    w->config.technique = mechanism;
    w->config.decision_cycles = sms;
    w->policy = gpump_scheduler_find(policy);
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &w->config, &bytes, NULL), GPUMP_OK);
    w->memory = malloc(bytes);
    assert_int_equal(gpump_init(&gpump_scheduler_component, w->memory, bytes, &w->config, &w->scheduler, NULL),
                     GPUMP_OK);
    for (uint32_t i = 0; i < processes; i++) {
        gpump_scheduler_process process;
        uint32_t row;
        memset(&process, 0, sizeof process);
        process.weight = 1;
        assert_int_equal(gpump_scheduler_open(w->scheduler, 0, &process, &row, NULL), GPUMP_OK);
        assert_int_equal(row, i);
    }
}

static void launch(world *w, uint32_t process, uint64_t blocks) {
    gpump_scheduler_command command;
    memset(&command, 0, sizeof command);
    command.blocks = blocks;
    command.process = process;
    command.blocks_per_sm = 4;
    command.saved_limit = UINT32_MAX;
    command.cookie = process;
    assert_int_equal(gpump_scheduler_submit(w->scheduler, w->now, process, &command, NULL), GPUMP_OK);
}

/* Carries out everything: setups take no time, and switches only when `vacate` is set. */
static void pull(world *w, int vacate) {
    gpump_scheduler_action a;
    for (;;) {
        gpump_result result = gpump_scheduler_next(w->scheduler, w->policy, w->now, &a);
        if (result == GPUMP_EMPTY) {
            int any = 0;
            for (uint32_t sm = 0; sm < w->config.sms && vacate; sm++)
                if (w->leaving[sm]) {
                    w->leaving[sm] = 0;
                    for (uint32_t slot = 0; slot < 4; slot++)
                        if (w->block[sm * 64 + slot].generation) {
                            assert_int_equal(
                                gpump_scheduler_report_preempted(w->scheduler, w->now, sm, w->block[sm * 64 + slot], 7),
                                GPUMP_OK);
                            w->block[sm * 64 + slot].generation = 0;
                            any = 1;
                        }
                }
            if (any) continue;
            if (gpump_next_cycle(&gpump_scheduler_component, w->scheduler) == GPUMP_UNKNOWN) break;
            w->now = gpump_next_cycle(&gpump_scheduler_component, w->scheduler);
            continue;
        }
        assert_int_equal(result, GPUMP_OK);
        if (a.kind == GPUMP_SCHEDULER_SETUP)
            assert_int_equal(gpump_scheduler_report_ready(w->scheduler, w->now, a.sm), GPUMP_OK);
        if (a.kind == GPUMP_SCHEDULER_PREEMPT) w->leaving[a.sm] = 1;
        if (a.kind == GPUMP_SCHEDULER_ISSUE) {
            w->block[a.sm * 64 + a.block.slot] = a.block;
            w->queue_of[a.sm * 64 + a.block.slot] = a.queue;
        }
    }
    assert_int_equal(gpump_check(&gpump_scheduler_component, w->scheduler, NULL), GPUMP_OK);
}

static void finish_all(world *w, uint32_t sm) {
    for (uint32_t slot = 0; slot < 4; slot++)
        if (w->block[sm * 64 + slot].generation) {
            assert_int_equal(gpump_scheduler_report_finished(w->scheduler, w->now, sm, w->block[sm * 64 + slot]),
                             GPUMP_OK);
            w->block[sm * 64 + slot].generation = 0;
        }
}

/* SMs that run the kernel of a process. */
static uint32_t owned(const world *w, uint32_t process) {
    gpump_scheduler_view view = gpump_scheduler_look(w->scheduler);
    for (uint32_t i = 0; i < view.active_count; i++)
        if (view.kernels[view.active[i]].process == process) return view.kernels[view.active[i]].owned;
    return 0;
}

/* In the steady state each kernel owns its equal share of the SMs, for each count of SMs and kernels. */
static void steady_state_for_every_count(void **state) {
    (void)state;
    for (uint32_t sms = 1; sms <= 16; sms++)
        for (uint32_t kernels = 1; kernels <= 16; kernels++)
            for (int later = 0; later < 2;
                 later++) { /* all at once, or one after the other into a machine that is taken */
                world w;
                make(&w, sms, kernels, "equal", GPUMP_TECHNIQUE_SWITCH);
                for (uint32_t k = 0; k < kernels; k++) {
                    launch(&w, k, 1000000);
                    if (later) pull(&w, 1);
                }
                pull(&w, 1);
                for (uint32_t k = 0; k < kernels; k++) /* the remainder goes to the kernels that came first */
                    assert_int_equal(owned(&w, k), sms / kernels + (k < sms % kernels));
                free(w.memory);
            }
}

/* A kernel may borrow SMs beyond its tokens, and returns them when another kernel comes. */
static void debt_is_allowed_and_paid_back(void **state) {
    gpump_scheduler_view view;
    world w;
    (void)state;
    make(&w, 13, 2, "equal", GPUMP_TECHNIQUE_SWITCH);
    launch(&w, 1, 1000000); /* alone: all 13 SMs for 7 tokens (the remainder is its own, it came first) */
    pull(&w, 1);
    view = gpump_scheduler_look(w.scheduler);
    assert_int_equal(gpumpi_scheduler_tokens(&view.kernels[view.active[0]]), 7 - 13);
    launch(&w, 0, 1000000); /* 6 tokens: takes SMs until the counts differ by less than two */
    pull(&w, 1);
    view = gpump_scheduler_look(w.scheduler);
    assert_int_equal(owned(&w, 1), 7);
    assert_int_equal(owned(&w, 0), 6);
    assert_int_equal(gpumpi_scheduler_tokens(&view.kernels[view.active[0]]), 0);
    assert_int_equal(gpumpi_scheduler_tokens(&view.kernels[view.active[1]]), 0);
    free(w.memory);
}

/* A kernel's tokens move when an SM is reserved for it, not when the SM is handed over. */
static void tokens_move_at_reservation(void **state) {
    gpump_scheduler_view view;
    world w;
    (void)state;
    make(&w, 4, 2, "equal", GPUMP_TECHNIQUE_SWITCH);
    launch(&w, 0, 1000000);
    pull(&w, 0);
    launch(&w, 1, 1000000);
    pull(&w, 0); /* nothing has left yet */
    view = gpump_scheduler_look(w.scheduler);
    assert_int_equal(view.reserved_sms, 2);
    assert_int_equal(gpumpi_scheduler_tokens(&view.kernels[view.active[0]]), 0);
    assert_int_equal(gpumpi_scheduler_tokens(&view.kernels[view.active[1]]), 0);
    assert_int_equal(owned(&w, 1), 0);
    pull(&w, 1);
    assert_int_equal(owned(&w, 1), 2);
    free(w.memory);
}

/* An SM reserved for a kernel that has no blocks left is given to another kernel. */
static void next_changes_when_its_kernel_has_nothing_left(void **state) {
    gpump_scheduler_view view;
    world w;
    (void)state;
    make(&w, 4, 3, "equal", GPUMP_TECHNIQUE_DRAIN);
    launch(&w, 0, 1000000);
    pull(&w, 0);
    launch(&w, 1, 8); /* wants two SMs */
    pull(&w, 0);
    view = gpump_scheduler_look(w.scheduler);
    assert_int_equal(view.reserved_sms, 1); /* tokens: 2 - 4 and 1: 0, -1 after one exchange */
    finish_all(&w, 3);                      /* the reserved one: kernel 1 starts there, and has four blocks left */
    pull(&w, 0);
    assert_int_equal(owned(&w, 1), 1);
    finish_all(&w, 3);
    pull(&w, 0);
    finish_all(&w, 3); /* and is over */
    pull(&w, 0);
    assert_int_equal(owned(&w, 0), 4);
    assert_int_equal(gpump_scheduler_look(w.scheduler).active_count, 1);
    free(w.memory);
}

/* The SMs of a kernel that ends are shared by the kernels that remain. */
static void a_kernel_that_ends_leaves_its_sms(void **state) {
    world w;
    (void)state;
    make(&w, 6, 3, "equal", GPUMP_TECHNIQUE_SWITCH);
    for (uint32_t k = 0; k < 2; k++) launch(&w, k, 1000000);
    launch(&w, 2, 8);
    pull(&w, 1);
    for (uint32_t k = 0; k < 3; k++) assert_int_equal(owned(&w, k), 2);
    for (uint32_t sm = 0; sm < 6; sm++)
        if (w.block[sm * 64].generation && w.queue_of[sm * 64] == 2) finish_all(&w, sm);
    pull(&w, 1);
    for (uint32_t k = 0; k < 2; k++) assert_int_equal(owned(&w, k), 3);
    free(w.memory);
}

/* An SM whose last block ends is given to a kernel that still has blocks, and not before. */
static void an_sm_that_goes_idle_is_given_away_again(void **state) {
    world w;
    (void)state;
    make(&w, 2, 2, "equal", GPUMP_TECHNIQUE_SWITCH);
    launch(&w, 0, 1000000);
    launch(&w, 1, 4);
    pull(&w, 1);
    assert_int_equal(owned(&w, 0), 1);
    assert_int_equal(owned(&w, 1), 1);
    for (uint32_t slot = 0; slot < 4; slot++) { /* three of the four blocks end: the SM stays its kernel's */
        uint32_t sm = w.queue_of[0] == 1 ? 0 : 1;
        assert_int_equal(gpump_scheduler_report_finished(w.scheduler, w.now, sm, w.block[sm * 64 + slot]), GPUMP_OK);
        w.block[sm * 64 + slot].generation = 0;
        pull(&w, 1);
        assert_int_equal(owned(&w, 0), slot == 3 ? 2 : 1);
    }
    free(w.memory);
}

/* Three processes of weights 6, 4 and 2 own 6, 4 and 2 of 12 SMs. */
static void sms_follow_the_weights(void **state) {
    world w;
    (void)state;
    make(&w, 12, 3, "weighted", GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpump_scheduler_set_priority(w.scheduler, 0, 0, 0, 6), GPUMP_OK);
    assert_int_equal(gpump_scheduler_set_priority(w.scheduler, 0, 1, 0, 4), GPUMP_OK);
    assert_int_equal(gpump_scheduler_set_priority(w.scheduler, 0, 2, 0, 2), GPUMP_OK);
    for (uint32_t k = 0; k < 3; k++) launch(&w, k, 1000000);
    pull(&w, 1);
    assert_int_equal(owned(&w, 0), 6);
    assert_int_equal(owned(&w, 1), 4);
    assert_int_equal(owned(&w, 2), 2);
    free(w.memory);
}

/* ---- Algorithm 1 as printed ---- */

typedef struct printed {
    int count[16], sm_kernel[16], sm_next[16]; /* -1: idle, not reserved */
    int kernels, sms;
} printed;

/* One call of partitioning_procedure, line by line; returns the steps it took, `limit` when it did not end. */
static int run_printed(printed *p, int limit) {
    for (int steps = 0; steps < limit; steps++) {
        int idle = -1, max = 0, min = 0;
        for (int i = 0; i < p->sms && idle < 0; i++)
            if (p->sm_kernel[i] < 0) idle = i;
        for (int k = 1; k < p->kernels; k++) {
            if (p->count[k] > p->count[max]) max = k;
            if (p->count[k] < p->count[min]) min = k;
        }
        if (p->count[max] == p->count[min]) return steps;
        if (idle >= 0) {
            p->sm_kernel[idle] = max;
            p->count[max]--;
        } else {
            int i = 0;
            while (i < p->sms && !(p->sm_kernel[i] == min && p->sm_next[i] < 0)) i++;
            if (i < p->sms) p->sm_next[i] = max;
            p->count[min]++;
            p->count[max]--;
        }
        if (p->count[max] <= p->count[min] + 1) return steps + 1;
    }
    return limit;
}

/* The algorithm as the paper prints it never starts a kernel that is alone, and ours does. */
static void the_printed_form_stalls(void **state) {
    printed p;
    gpump_scheduler_statistics statistics;
    world w;
    (void)state;
    /* A kernel alone is highest and lowest at once: equal counts, return; no SM is ever given to it. */
    memset(&p, 0, sizeof p);
    memset(p.sm_kernel, -1, sizeof p.sm_kernel);
    memset(p.sm_next, -1, sizeof p.sm_next);
    p.kernels = 1;
    p.sms = 13;
    p.count[0] = 13;
    assert_int_equal(run_printed(&p, 1000), 0);
    assert_int_equal(p.sm_kernel[0], -1);
    /* Two with equal tokens: the same. */
    p.kernels = 2;
    p.count[0] = p.count[1] = 6;
    assert_int_equal(run_printed(&p, 1000), 0);
    assert_int_equal(p.sm_kernel[0], -1);
    /* A difference of one on a full machine: the test comes after the body, so every event exchanges an SM and back
     * again. */
    p.sms = 2;
    p.sm_kernel[0] = 0, p.sm_kernel[1] = 1;
    p.count[0] = 1, p.count[1] = 0;
    for (int event = 0; event < 100; event++) {
        int before = p.count[0];
        assert_int_equal(run_printed(&p, 1000), 1);
        assert_int_not_equal(p.count[0], before);
        for (int i = 0; i < p.sms; i++)
            if (p.sm_next[i] >= 0) p.sm_kernel[i] = p.sm_next[i], p.sm_next[i] = -1;
    }
    /* What is built: both cases get their SMs, and a difference of one is left alone. */
    make(&w, 13, 1, "equal", GPUMP_TECHNIQUE_SWITCH);
    launch(&w, 0, 1000000);
    pull(&w, 1);
    assert_int_equal(owned(&w, 0), 13);
    free(w.memory);
    make(&w, 13, 2, "equal", GPUMP_TECHNIQUE_SWITCH);
    launch(&w, 0, 1000000);
    launch(&w, 1, 1000000);
    pull(&w, 1);
    assert_int_equal(owned(&w, 0) + owned(&w, 1), 13);
    gpump_get_statistics(&gpump_scheduler_component, w.scheduler, &statistics);
    assert_int_equal(statistics.preemptions, 0);
    free(w.memory);
}

/* ---- a million random states ---- */

enum { STATE_SMS = 16, STATE_KERNELS = 16 };
typedef struct tables {
    gpump_scheduler_config config;
    gpump_scheduler_kernel kernels[STATE_KERNELS + 1]; /* by number, from 1 */
    gpump_scheduler_sm sms[STATE_SMS];
    uint32_t active[STATE_KERNELS];
    uint32_t active_count;
} tables;

static gpump_scheduler_view look(tables *t) {
    gpump_scheduler_view view;
    memset(&view, 0, sizeof view);
    view.config = &t->config;
    view.kernels = t->kernels;
    view.active = t->active;
    view.sms = t->sms;
    view.active_count = t->active_count;
    view.idle_sm = GPUMP_NONE;
    for (uint32_t i = t->config.sms; i-- > 0;) {
        if (t->sms[i].state == GPUMP_SCHEDULER_SM_IDLE) view.idle_sm = i;
        view.reserved_sms += t->sms[i].state == GPUMP_SCHEDULER_SM_RESERVED;
    }
    return view;
}

static void own(tables *t, uint32_t sm, uint32_t k) {
    t->sms[sm].kernel = k;
    t->sms[sm].next_sm = t->kernels[k].first_sm;
    t->kernels[k].first_sm = sm;
    t->kernels[k].owned++;
    t->kernels[k].tokens--;
}
static void reserve_for(tables *t, uint32_t sm, uint32_t k) {
    t->sms[sm].next = k;
    t->kernels[k].reserved++;
    t->kernels[k].tokens--;
}

static void random_tables(tables *t, uint64_t *random) {
    memset(t, 0, sizeof *t);
    t->config.sms = 1 + gpump_random_below(random, STATE_SMS);
    t->config.kernels_per_sm = 1;
    t->active_count = 1 + gpump_random_below(random, STATE_KERNELS);
    for (uint32_t k = 0; k < STATE_KERNELS; k++) { /* a random order of rows */
        uint32_t other = gpump_random_below(random, k + 1);
        t->active[k] = t->active[other];
        t->active[other] = k + 1;
    }
    for (uint32_t i = 0; i < t->active_count; i++) {
        gpump_scheduler_kernel *k = &t->kernels[t->active[i]];
        k->in_use = 1;
        k->blocks_per_sm = 1 + gpump_random_below(random, 16);
        k->blocks = gpump_random_below(random, 3) ? gpump_random_below(random, 60) : 1000000;
        k->saved = gpump_random_below(random, 3) ? 0 : gpump_random_below(random, 10);
        k->budget = gpump_random_below(random, 8);
        k->tokens = GPUMP_SCHEDULER_TOKEN_ZERO + k->budget;
        k->first_sm = GPUMP_NONE;
    }
    for (uint32_t i = 0; i < t->config.sms; i++) {
        uint32_t k = t->active[gpump_random_below(random, t->active_count)], choice = gpump_random_below(random, 10);
        t->sms[i].kernel = t->sms[i].next = 0;
        if (choice < 2) continue;
        if (choice < 8) {
            t->sms[i].state = GPUMP_SCHEDULER_SM_RUNNING;
            own(t, i, k);
            if (choice == 7) t->kernels[k].setting_up++;
        } else {
            t->sms[i].state = GPUMP_SCHEDULER_SM_RESERVED;
            t->sms[i].kernel = k;
            if (choice == 9) reserve_for(t, i, t->active[gpump_random_below(random, t->active_count)]);
        }
    }
}

/* dss_fault by hand: an idle SM goes to a lender only when nobody else needs it, then to one that would use it although
 * an SM is being vacated for it. Who waits lends from the cycle in which it has waited long enough, with a time of 0 at
 * once. */
static void a_lender_takes_what_nobody_wants(void **state) {
    const gpump_scheduler_policy *dss_fault = gpump_scheduler_find("dss_fault");
    gpump_scheduler_step step;
    gpump_scheduler_view view;
    tables t;
    (void)state;
    memset(&t, 0, sizeof t);
    t.config.sms = 3;
    t.config.kernels_per_sm = 1;
    t.config.lend_cycles = 100;
    t.active_count = 2;
    for (uint32_t k = 1; k <= 2; k++) {
        t.active[k - 1] = k;
        t.kernels[k].in_use = 1;
        t.kernels[k].blocks_per_sm = 4;
        t.kernels[k].tokens = GPUMP_SCHEDULER_TOKEN_ZERO;
        t.kernels[k].first_sm = GPUMP_NONE;
        t.kernels[k].waits_since = GPUMP_UNKNOWN;
    }
    t.sms[1].state = GPUMP_SCHEDULER_SM_RUNNING; /* SM 0 is idle */
    own(&t, 1, 2);
    t.sms[2].state = GPUMP_SCHEDULER_SM_RESERVED; /* by kernel 2 for kernel 1, which has four blocks to issue: enough */
    t.sms[2].kernel = 2;
    reserve_for(&t, 2, 1);
    t.kernels[1].blocks = 4;
    t.kernels[1].waits_since = 0;
    view = look(&t);
    view.now = 100;
    assert_int_equal(dss_fault->step(dss_fault, &view, &step), GPUMP_OK);
    assert_int_equal(step.kind, GPUMP_SCHEDULER_STEP_ASSIGN);
    assert_int_equal(step.sm, 0);
    assert_int_equal(step.kernel, 1);
    t.kernels[2].blocks = 1; /* kernel 2 wants it too, and does not lend */
    assert_int_equal(dss_fault->step(dss_fault, &view, &step), GPUMP_OK);
    assert_int_equal(step.kernel, 2);
    t.kernels[2].tokens -= 5; /* and has fewer tokens: they count where nobody lends */
    assert_int_equal(dss_fault->step(dss_fault, &view, &step), GPUMP_OK);
    assert_int_equal(step.kernel, 2);
    view.now = 99;
    assert_int_equal(dss_fault->step(dss_fault, &view, &step), GPUMP_OK);
    assert_int_equal(step.kernel, 1);
    t.config.lend_cycles = 0;
    t.kernels[1].waits_since = 99;
    assert_int_equal(dss_fault->step(dss_fault, &view, &step), GPUMP_OK);
    assert_int_equal(step.kernel, 2);
}

/* The steady state, said without the algorithm: no idle SM while some kernel could use one; and no kernel that
 * could use one more SM stands two tokens or more above one that has an SM to give. So the counts of kernels
 * that have blocks to issue and SMs to give differ by at most one. */
static int64_t check_steady_state(const tables *t, uint64_t seed, uint64_t number) {
    int64_t after = 0;
    for (uint32_t i = 0; i < t->active_count; i++) {
        const gpump_scheduler_kernel *high = &t->kernels[t->active[i]];
        after += gpumpi_scheduler_tokens(high) + (int64_t)high->owned + high->reserved;
        for (uint32_t sm = 0; sm < t->config.sms; sm++)
            test_check(t->sms[sm].state != GPUMP_SCHEDULER_SM_IDLE || !gpump_scheduler_wants_idle(high), seed, number);
        for (uint32_t k = 0; k < t->active_count; k++) {
            const gpump_scheduler_kernel *low = &t->kernels[t->active[k]];
            if (gpump_scheduler_wants_more(high) && low->owned)
                test_check(gpumpi_scheduler_tokens(high) - gpumpi_scheduler_tokens(low) <= 1, seed, number);
        }
    }
    return after;
}

/* Random tables: DSS stops after finitely many steps, conserves tokens, and leaves no kernel to take from. */
static void dss_ends_balanced(void **state) {
    const gpump_scheduler_policy *dss = gpump_scheduler_find("dss");
    uint64_t seed = test_seed(), random = seed, cases = test_cases(1000000);
    (void)state;
    for (uint64_t number = 0; number < cases; number++) {
        gpump_scheduler_step step = {0, 0, 0};
        gpump_scheduler_view view;
        int64_t conserved = 0, after;
        uint32_t steps = 0, stage = 0;
        tables t;
        random_tables(&t, &random);
        for (uint32_t i = 0; i < t.active_count; i++) {
            const gpump_scheduler_kernel *k = &t.kernels[t.active[i]];
            conserved += gpumpi_scheduler_tokens(k) + (int64_t)k->owned + k->reserved;
        }
        for (view = look(&t); dss->step(dss, &view, &step) == GPUMP_OK; view = look(&t)) {
            gpump_scheduler_sm *sm = &t.sms[step.sm];
            int32_t tokens = gpumpi_scheduler_tokens(&t.kernels[step.kernel]);
            test_check(steps++ <= 3 * t.config.sms + t.active_count, seed, number);
            for (uint32_t i = 0; i < t.active_count;
                 i++) { /* the highest count; among equals the first in the active queue */
                const gpump_scheduler_kernel *k = &t.kernels[t.active[i]];
                int wants = step.kind == GPUMP_SCHEDULER_STEP_ASSIGN ? gpump_scheduler_wants_idle(k)
                                                                     : gpump_scheduler_wants_more(k);
                if (t.active[i] == step.kernel) {
                    test_check(wants, seed, number);
                    break;
                }
                test_check(!wants || gpumpi_scheduler_tokens(k) < tokens, seed, number);
            }
            if (step.kind == GPUMP_SCHEDULER_STEP_ASSIGN) {
                test_check(stage == 0 && sm->state == GPUMP_SCHEDULER_SM_IDLE, seed,
                           number); /* idle SMs first, then exchanges */
                sm->state = GPUMP_SCHEDULER_SM_RUNNING;
                own(&t, step.sm, step.kernel);
                t.kernels[step.kernel].setting_up++;
            } else if (step.kind == GPUMP_SCHEDULER_STEP_CHANGE_NEXT) {
                test_check(sm->state == GPUMP_SCHEDULER_SM_RESERVED, seed, number);
                if (sm->next) {
                    test_check(gpump_scheduler_to_issue(&t.kernels[sm->next]) == 0, seed, number);
                    t.kernels[sm->next].reserved--;
                    t.kernels[sm->next].tokens++;
                }
                reserve_for(&t, step.sm, step.kernel);
                stage = 1;
            } else {
                gpump_scheduler_kernel *owner = &t.kernels[sm->kernel];
                test_check(step.kind == GPUMP_SCHEDULER_STEP_RESERVE && sm->state == GPUMP_SCHEDULER_SM_RUNNING, seed,
                           number);
                test_check(tokens >= gpumpi_scheduler_tokens(owner) + 2, seed, number);
                for (uint32_t i = 0; i < t.active_count; i++) /* the lowest count that owns an unreserved SM */
                    test_check(!t.kernels[t.active[i]].owned ||
                                   gpumpi_scheduler_tokens(&t.kernels[t.active[i]]) >= gpumpi_scheduler_tokens(owner),
                               seed, number);
                test_check(owner->first_sm == step.sm, seed, number);
                owner->first_sm = sm->next_sm;
                owner->owned--;
                owner->tokens++;
                sm->state = GPUMP_SCHEDULER_SM_RESERVED;
                reserve_for(&t, step.sm, step.kernel);
                stage = 1;
            }
        }
        after = check_steady_state(&t, seed, number);
        test_check(conserved == after, seed, number);
    }
}

/* Each of more kernels than SMs gets blocks under dss. */
static void nothing_starves_under_dss(void **state) {
    enum { PROCESSES = 30 };
    uint64_t seed = test_seed();
    (void)state;
    for (uint64_t round = 0; round < test_cases(50);
         round++) { /* more kernels than SMs, all of them endless: each gets its turn */
        uint64_t random = seed + round, issued[PROCESSES] = {0};
        world w;
        make(&w, 1 + gpump_random_below(&random, 8), PROCESSES, "equal", gpump_random_below(&random, 2));
        for (uint32_t p = 0; p < PROCESSES; p++) launch(&w, p, 40 + gpump_random_below(&random, 100));
        for (int i = 0; i < 200000; i++) {
            uint32_t sm = gpump_random_below(&random, w.config.sms), slot = gpump_random_below(&random, 4);
            pull(&w, 1);
            if (gpump_scheduler_look(w.scheduler).active_count == 0) break;
            if (!w.block[sm * 64 + slot].generation) continue;
            issued[w.queue_of[sm * 64 + slot]]++;
            assert_int_equal(gpump_scheduler_report_finished(w.scheduler, w.now, sm, w.block[sm * 64 + slot]),
                             GPUMP_OK);
            w.block[sm * 64 + slot].generation = 0;
        }
        for (uint32_t p = 0; p < PROCESSES; p++) test_check(issued[p] >= 40, seed, round);
        free(w.memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_state_for_every_count),
        cmocka_unit_test(debt_is_allowed_and_paid_back),
        cmocka_unit_test(tokens_move_at_reservation),
        cmocka_unit_test(next_changes_when_its_kernel_has_nothing_left),
        cmocka_unit_test(a_kernel_that_ends_leaves_its_sms),
        cmocka_unit_test(an_sm_that_goes_idle_is_given_away_again),
        cmocka_unit_test(sms_follow_the_weights),
        cmocka_unit_test(the_printed_form_stalls),
        cmocka_unit_test(a_lender_takes_what_nobody_wants),
        cmocka_unit_test(dss_ends_balanced),
        cmocka_unit_test(nothing_starves_under_dss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
