/* labels: unit property */
#include "test.h"

static gpump_sm *make(gpump_sm_config *config) {
    size_t bytes;
    gpump_sm *sm;
    gpump_diag diag;
    if (gpump_bytes(&gpump_sm_component, config, &bytes, &diag)) fail_msg("%s", diag.field);
    assert_int_equal(gpump_init(&gpump_sm_component, malloc(bytes), bytes, config, &sm, NULL), GPUMP_OK);
    return sm;
}
static gpump_sm_config preset(const char *name) {
    gpump_sm_config config;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, name, NULL), GPUMP_OK);
    return config;
}
static gpump_sm_request request(uint32_t kernel, uint32_t threads, uint32_t registers, uint32_t shared,
                                uint64_t cookie) {
    gpump_sm_request r;
    memset(&r, 0, sizeof r);
    r.cookie = cookie;
    r.kernel = kernel;
    r.need.threads = threads;
    r.need.registers = registers;
    r.need.shared_bytes = shared;
    return r;
}
static gpump_block_ref place(gpump_sm *sm, uint64_t now, gpump_sm_request r) {
    gpump_block_ref ref;
    assert_int_equal(gpump_sm_place(sm, now, &r, NULL, &ref, NULL), GPUMP_OK);
    return ref;
}
static gpump_block_choice choice(gpump_block_ref ref, uint32_t technique) {
    gpump_block_choice c;
    memset(&c, 0, sizeof c);
    c.block = ref;
    c.technique = technique;
    return c;
}
static gpump_sm_action pull(gpump_sm *sm, uint64_t now, uint32_t kind) {
    gpump_sm_action action;
    assert_int_equal(gpump_sm_next(sm, now, &action), GPUMP_OK);
    assert_int_equal(action.kind, kind);
    return action;
}
static void nothing_to_pull(gpump_sm *sm, uint64_t now) {
    gpump_sm_action action;
    assert_int_equal(gpump_sm_next(sm, now, &action), GPUMP_EMPTY);
}

/* A block that is switched out and restored passes through each state at its time, with the bytes of its context. */
static void life_by_switch_and_back(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm = make(&config);
    gpump_block_ref ref, again;
    gpump_block_choice c;
    gpump_sm_action action;
    gpump_block_view view;
    uint32_t waits;
    uint64_t since;
    gpump_sm_request r = request(1, 256, 3328, 1128, 77);
    (void)state;
    ref = place(sm, 100, r);
    assert_true(gpump_sm_may_issue(sm, ref.slot));
    assert_int_equal(gpump_sm_report_executed(sm, ref, 5), GPUMP_OK);
    assert_int_equal(gpump_sm_report_executed(sm, ref, 6), GPUMP_OK);
    assert_int_equal(gpump_sm_waits_for(sm, ref, NULL, NULL), GPUMP_REASON_NOT_RUNNING);
    c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpump_sm_preempt(sm, 200, &c, 1, NULL), GPUMP_OK);
    assert_false(gpump_sm_may_issue(sm, ref.slot));
    action = pull(sm, 200, GPUMP_SM_ACTION_STOP);
    assert_int_equal(action.cookie, 77);
    nothing_to_pull(sm, 200);
    assert_true(gpump_next_cycle(&gpump_sm_component, sm) == GPUMP_UNKNOWN);
    /* no preemption point was asked for: all else must be reported */
    assert_int_equal(gpump_sm_waits_for(sm, ref, &waits, &since), GPUMP_REASON_PIPELINE);
    assert_int_equal(waits, GPUMP_SM_WAIT_ALL & ~GPUMP_SM_WAIT_PREEMPTION_POINT);
    assert_int_equal(since, 200);
    assert_int_equal(gpump_sm_report_waits(sm, 210, ref, GPUMP_SM_WAIT_STORES | GPUMP_SM_WAIT_ATOMICS), GPUMP_OK);
    assert_int_equal(gpump_sm_waits_for(sm, ref, &waits, NULL), GPUMP_REASON_STORES);
    assert_int_equal(gpump_sm_report_waits(sm, 220, ref, GPUMP_SM_WAIT_ATOMICS), GPUMP_OK);
    assert_int_equal(gpump_sm_waits_for(sm, ref, &waits, NULL), GPUMP_REASON_ATOMICS);
    assert_int_equal(gpump_sm_report_waits(sm, 220, ref, 128), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_waits(sm, 250, ref, 0), GPUMP_OK);
    assert_int_equal(gpump_sm_report_saved(sm, 250, ref), GPUMP_ERROR_STATE); /* SAVE has not been handed over */
    action = pull(sm, 250, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(action.bytes, 14440);
    assert_int_equal(action.parts, 3);
    assert_int_equal(action.start_cycle, 250);
    assert_int_equal(action.end_cycle - 250, gpump_port_cycles(&config.port, 14440));
    assert_int_equal(gpump_sm_report_saved(sm, 300, ref), GPUMP_OK);
    assert_int_equal(gpump_sm_report_done(sm, 300, ref), GPUMP_ERROR_STATE); /* saved: it ends when it is back */
    action = pull(sm, 300, GPUMP_SM_ACTION_FREED);
    assert_int_equal(action.why, GPUMP_BLOCK_SAVED);
    assert_int_equal(action.history.executed, 11);
    assert_int_equal(action.history.cycles, 150); /* 100 to 250: then it was being saved */
    assert_int_equal(action.history.context.register_bytes, 13312);
    assert_int_equal(gpump_sm_report_executed(sm, ref, 1), GPUMP_ERROR_STALE);
    assert_int_equal(gpump_sm_report_clobber(sm, ref), GPUMP_ERROR_STALE);
    assert_int_equal(gpump_sm_may(sm, ref, GPUMP_TECHNIQUE_DRAIN), GPUMP_REASON_NO_SUCH_BLOCK);
    /* and back: the history goes on, the name is new */
    assert_int_equal(gpump_sm_place(sm, 400, &r, &action.history, &again, NULL), GPUMP_OK);
    assert_int_equal(again.slot, ref.slot);
    assert_int_not_equal(again.generation, ref.generation);
    assert_false(gpump_sm_may_issue(sm, again.slot));
    c = choice(again, GPUMP_TECHNIQUE_FLUSH);
    assert_int_equal(gpump_sm_preempt(sm, 400, &c, 1, NULL), GPUMP_ERROR_REFUSED); /* is being restored */
    assert_int_equal(pull(sm, 400, GPUMP_SM_ACTION_RESTORE).bytes, 14440);
    assert_int_equal(gpump_sm_report_restored(sm, 500, again), GPUMP_OK);
    assert_true(gpump_sm_may_issue(sm, again.slot));
    assert_int_equal(gpump_sm_block(sm, 510, again, &view), GPUMP_OK);
    assert_int_equal(view.executed, 11);
    assert_int_equal(view.cycles, 160);
    assert_int_equal(view.start_cycle, 500);
    assert_int_equal(view.context_bytes, 14440);
    assert_int_equal(gpump_sm_report_done(sm, 520, again), GPUMP_OK);
    assert_int_equal(pull(sm, 520, GPUMP_SM_ACTION_FREED).why, GPUMP_BLOCK_DONE);
    nothing_to_pull(sm, 520);
    free(sm);
}

/* A flush drops a block's work and a drain lets it end, and the statistics count both. */
static void life_by_flush_and_drain(void **state) {
    gpump_sm_config config = preset("k20c");
    gpump_sm *sm = make(&config);
    gpump_block_choice c[2];
    gpump_block_ref a = place(sm, 0, request(1, 64, 1000, 0, 1)), b = place(sm, 0, request(1, 64, 1000, 0, 2));
    gpump_diag diag;
    gpump_sm_statistics statistics;
    uint64_t hash;
    char text[200];
    (void)state;
    gpump_sm_report_executed(sm, a, 40);
    gpump_sm_report_executed(sm, b, 50);
    gpump_sm_report_clobber(sm, b);
    assert_int_equal(gpump_sm_may(sm, a, GPUMP_TECHNIQUE_FLUSH), GPUMP_REASON_YES);
    assert_int_equal(gpump_sm_may(sm, b, GPUMP_TECHNIQUE_FLUSH), GPUMP_REASON_CLOBBERED);
    assert_int_equal(gpump_sm_may(sm, a, GPUMP_TECHNIQUE_REWIND), GPUMP_REASON_TECHNIQUE);
    c[0] = choice(a, GPUMP_TECHNIQUE_FLUSH);
    c[1] = choice(b, GPUMP_TECHNIQUE_FLUSH);
    hash = gpump_hash(&gpump_sm_component, sm);
    assert_int_equal(gpump_sm_preempt(sm, 10, c, 2, &diag), GPUMP_ERROR_REFUSED); /* all or none */
    assert_int_equal(diag.reason, GPUMP_REASON_CLOBBERED);
    assert_int_equal(diag.index, 1);
    assert_true(gpump_diag_text(&diag, text, sizeof text) > 20);
    assert_non_null(strstr(text, "overwritten"));
    assert_true(gpump_hash(&gpump_sm_component, sm) == hash);
    c[1].technique = GPUMP_TECHNIQUE_DRAIN;
    assert_int_equal(gpump_sm_preempt(sm, 10, c, 2, &diag), GPUMP_OK);
    assert_true(gpump_sm_may_issue(sm, b.slot));
    assert_false(gpump_sm_may_issue(sm, a.slot));
    assert_int_equal(gpump_sm_report_dropped(sm, 10, a), GPUMP_ERROR_STATE); /* DROP has not been handed over */
    assert_int_equal(pull(sm, 10, GPUMP_SM_ACTION_DROP).block.slot, a.slot);
    nothing_to_pull(sm, 10);
    assert_int_equal(gpump_sm_report_dropped(sm, 15, a), GPUMP_OK);
    assert_int_equal(gpump_sm_report_dropped(sm, 15, a), GPUMP_ERROR_STATE);
    assert_int_equal(pull(sm, 15, GPUMP_SM_ACTION_FREED).why, GPUMP_BLOCK_FLUSHED);
    assert_int_equal(gpump_sm_may(sm, b, GPUMP_TECHNIQUE_DRAIN), GPUMP_REASON_NOT_RUNNING); /* drains already */
    assert_int_equal(gpump_sm_may(sm, b, GPUMP_TECHNIQUE_SWITCH), GPUMP_REASON_YES); /* but may still be hurried */
    assert_int_equal(gpump_sm_report_done(sm, 60, b), GPUMP_OK);
    assert_int_equal(pull(sm, 60, GPUMP_SM_ACTION_FREED).technique, GPUMP_TECHNIQUE_DRAIN);
    gpump_get_statistics(&gpump_sm_component, sm, &statistics);
    assert_int_equal(statistics.wasted, 40);
    assert_int_equal(statistics.executed, 90);
    assert_int_equal(statistics.drain_cycles, 50);
    assert_int_equal(statistics.drop_cycles, 5);
    assert_int_equal(statistics.drained, 1);
    free(sm);
}

/* Lin Fig. 2.4 by hand: what is kept in place stays allocated, and comes back where it was. */
/* A block whose exit is in the pipeline when it is told to flush ends: nothing is wasted, and its history is whole. */
static void a_block_that_ends_during_a_flush_wastes_nothing(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    (void)state;
    for (int handed_over = 0; handed_over < 2; handed_over++) { /* the end comes before and after DROP is pulled */
        gpump_sm *sm = make(&config);
        gpump_block_ref ref = place(sm, 100, request(1, 64, 1000, 0, 7));
        gpump_block_choice c = choice(ref, GPUMP_TECHNIQUE_FLUSH);
        gpump_sm_statistics statistics;
        gpump_sm_action freed;
        gpump_sm_report_executed(sm, ref, 40);
        assert_int_equal(gpump_sm_preempt(sm, 200, &c, 1, NULL), GPUMP_OK);
        if (handed_over) pull(sm, 200, GPUMP_SM_ACTION_DROP);
        assert_int_equal(gpump_sm_report_done(sm, 213, ref), GPUMP_OK);
        assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
        assert_int_equal(gpump_sm_report_dropped(sm, 213, ref), GPUMP_ERROR_STATE);
        freed = pull(sm, 213, GPUMP_SM_ACTION_FREED); /* and no DROP any more */
        assert_int_equal(freed.why, GPUMP_BLOCK_DONE);
        assert_int_equal(freed.technique, GPUMP_TECHNIQUE_FLUSH);
        assert_int_equal(freed.history.executed, 40);
        assert_int_equal(freed.history.cycles, 113);
        nothing_to_pull(sm, 213);
        gpump_get_statistics(&gpump_sm_component, sm, &statistics);
        assert_int_equal(statistics.done, 1);
        assert_int_equal(statistics.flushed, 0);
        assert_int_equal(statistics.wasted, 0);
        assert_int_equal(statistics.executed, 40);
        assert_int_equal(statistics.drop_cycles, 13);
        free(sm);
    }
}

/* The last exit of a block can be in flight when the host reports that it waits for nothing. */
static void a_block_may_end_while_its_last_exit_is_in_flight(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    (void)state;
    for (int n = 0; n < 4; n++) { /* before and after SAVE is pulled; under both timings */
        int handed_over = n & 1;
        gpump_sm *sm;
        gpump_block_ref ref;
        gpump_block_choice c;
        gpump_sm_statistics statistics;
        gpump_sm_action action;
        config.timing = n >> 1 ? GPUMP_SM_TIMING_PORT : GPUMP_SM_TIMING_HOST;
        sm = make(&config);
        ref = place(sm, 100, request(1, 64, 6400, 0, 7));
        c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
        gpump_sm_report_executed(sm, ref, 40);
        assert_int_equal(gpump_sm_preempt(sm, 200, &c, 1, NULL), GPUMP_OK);
        pull(sm, 200, GPUMP_SM_ACTION_STOP);
        assert_int_equal(gpump_sm_report_waits(sm, 220, ref, 0), GPUMP_OK);
        if (handed_over) {
            action = pull(sm, 220, GPUMP_SM_ACTION_SAVE);
            assert_true(action.end_cycle > 230);
        }
        assert_int_equal(gpump_sm_report_done(sm, 225, ref), GPUMP_OK);
        assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
        action = pull(sm, 225, GPUMP_SM_ACTION_FREED); /* and no SAVE any more */
        assert_int_equal(action.why, GPUMP_BLOCK_DONE);
        assert_int_equal(action.history.executed, 40);
        assert_int_equal(action.history.cycles, 120); /* until its state was complete */
        nothing_to_pull(sm, 1000000);
        gpump_get_statistics(&gpump_sm_component, sm, &statistics);
        assert_int_equal(statistics.done, 1);
        assert_int_equal(statistics.saved, 0);
        assert_int_equal(statistics.bytes_saved, 0);
        assert_int_equal(statistics.stop_cycles, 20);
        assert_int_equal(statistics.save_cycles, 5);
        assert_int_equal(statistics.port_cycles - statistics.port_returned_cycles, 5); /* the rest was given back */
        free(sm);
    }
}

/* A block that has left its warp slots executes nothing, so it cannot end. */
static void parked_blocks_do_not_end(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm = make(&config);
    gpump_block_ref ref = place(sm, 0, request(1, 64, 6400, 1024, 7));
    gpump_block_choice c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
    (void)state;
    c.keep = GPUMP_PARTS_IN_PLACE;
    assert_int_equal(gpump_sm_preempt(sm, 10, &c, 1, NULL), GPUMP_OK);
    pull(sm, 10, GPUMP_SM_ACTION_STOP);
    assert_int_equal(gpump_sm_report_waits(sm, 20, ref, 0), GPUMP_OK);
    pull(sm, 20, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(gpump_sm_report_saved(sm, 20, ref), GPUMP_OK);
    pull(sm, 20, GPUMP_SM_ACTION_PARKED);
    assert_int_equal(gpump_sm_report_done(sm, 30, ref), GPUMP_ERROR_STATE);
    c.keep = GPUMP_PART_REGISTERS;
    assert_int_equal(gpump_sm_preempt(sm, 30, &c, 1, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_report_done(sm, 30, ref), GPUMP_ERROR_STATE); /* SAVING, from PARKED */
    pull(sm, 30, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(gpump_sm_report_saved(sm, 40, ref), GPUMP_OK);
    pull(sm, 40, GPUMP_SM_ACTION_PARKED);
    c = choice(ref, GPUMP_TECHNIQUE_FLUSH);
    assert_int_equal(gpump_sm_preempt(sm, 50, &c, 1, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_report_done(sm, 50, ref), GPUMP_ERROR_STATE); /* FLUSHED, from PARKED */
    free(sm);
}

/* A parked block keeps its registers and shared memory in place, and other blocks cannot take them. */
static void parked_blocks_keep_their_ranges(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm;
    gpump_block_ref k1[3], k2[2];
    gpump_block_choice c[3];
    gpump_sm_action action;
    gpump_block_view view;
    gpump_diag diag;
    (void)state;
    config.kernels = 2;
    config.waits = 0;
    sm = make(&config);
    for (uint32_t i = 0; i < 3; i++) {
        k1[i] = place(sm, 0, request(1, 96, 300 * 32, 8192, i));
        c[i] = choice(k1[i], GPUMP_TECHNIQUE_SWITCH);
        c[i].keep = i < 2 ? GPUMP_PART_SHARED_MEMORY : GPUMP_PARTS_IN_PLACE;
    }
    assert_int_equal(gpumpi_sm_room(sm, 2, &(gpump_footprint){64, 200 * 32, 10240}), GPUMP_REASON_REGISTERS);
    assert_int_equal(gpump_sm_preempt(sm, 10, c, 3, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < 3; i++) {
        pull(sm, 10, GPUMP_SM_ACTION_STOP);
        action = pull(sm, 10, GPUMP_SM_ACTION_SAVE);
        assert_int_equal(action.bytes, i < 2 ? 300 * 128 : 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(gpump_sm_report_saved(sm, 20 + i, k1[i]), GPUMP_OK);
        action = pull(sm, 20 + i, GPUMP_SM_ACTION_PARKED);
        assert_int_equal(action.parts, c[i].keep);
    }
    k2[0] = place(sm, 30, request(2, 64, 200 * 32, 10240, 10));
    k2[1] = place(sm, 30, request(2, 64, 200 * 32, 10240, 11));
    gpump_sm_block(sm, 30, k2[1], &view);
    assert_int_equal(view.register_base, 200 * 32);
    assert_int_equal(view.shared_base, 24576 + 10240);
    gpump_sm_block(sm, 30, k1[0], &view);
    assert_int_equal(view.state, GPUMP_BLOCK_PARKED);
    assert_int_equal(view.registers, 0);
    assert_int_equal(view.shared_bytes, 8192);
    assert_int_equal(view.warps, 0);
    assert_int_equal(gpump_sm_unpark(sm, 40, k1[2], &diag), GPUMP_OK); /* all of it is still here */
    assert_int_equal(pull(sm, 40, GPUMP_SM_ACTION_RESTORE).bytes, 0);
    assert_int_equal(gpump_sm_report_restored(sm, 41, k1[2]), GPUMP_OK);
    assert_true(gpump_sm_may_issue(sm, k1[2].slot));
    assert_int_equal(gpump_sm_unpark(sm, 41, k1[1], &diag), GPUMP_BUSY);
    assert_int_equal(diag.reason, GPUMP_REASON_REGISTERS);
    /* a parked block gives up the rest */
    c[0].keep = GPUMP_PART_REGISTERS;
    assert_int_equal(gpump_sm_preempt(sm, 50, c, 1, NULL), GPUMP_ERROR_ARGUMENT); /* they are gone already */
    c[0].keep = 0;
    assert_int_equal(gpump_sm_preempt(sm, 50, c, 1, NULL), GPUMP_OK);
    action = pull(sm, 50, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(action.bytes, 8192);
    assert_int_equal(action.parts, GPUMP_PART_SHARED_MEMORY);
    assert_int_equal(gpump_sm_report_saved(sm, 51, k1[0]), GPUMP_OK);
    assert_int_equal(pull(sm, 51, GPUMP_SM_ACTION_FREED).why, GPUMP_BLOCK_SAVED);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(gpump_sm_report_done(sm, 60, k2[i]), GPUMP_OK);
        pull(sm, 60, GPUMP_SM_ACTION_FREED);
    }
    assert_int_equal(gpump_sm_unpark(sm, 70, k1[1], &diag), GPUMP_OK);
    assert_int_equal(pull(sm, 70, GPUMP_SM_ACTION_RESTORE).bytes, 300 * 128);
    free(sm);
}

/* Two saves behind each other: the second begins when the port is free. */
static void the_port_serialises(void **state) {
    gpump_sm_config config = preset("k20c");
    gpump_sm *sm;
    gpump_block_ref a, b, again;
    gpump_block_choice c[2];
    gpump_sm_action first, second, freed;
    uint64_t hash;
    gpump_sm_request r = request(1, 64, 8192, 0, 5);
    (void)state;
    config.waits = 0;
    config.timing = GPUMP_SM_TIMING_PORT;
    sm = make(&config);
    a = place(sm, 0, r);
    b = place(sm, 0, r);
    c[0] = choice(b, GPUMP_TECHNIQUE_SWITCH);
    c[1] = choice(a, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpump_sm_preempt(sm, 1000, c, 2, NULL), GPUMP_OK);
    pull(sm, 1000, GPUMP_SM_ACTION_STOP);
    second = pull(sm, 1000, GPUMP_SM_ACTION_SAVE); /* by slot: a; but b was first in the list and has the port first */
    pull(sm, 1000, GPUMP_SM_ACTION_STOP);
    first = pull(sm, 1000, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(first.block.slot, b.slot);
    assert_int_equal(first.start_cycle, 1000);
    assert_int_equal(first.end_cycle, 1000 + 1446); /* 32768 B at 22.66 B per cycle, rounded up */
    assert_int_equal(second.start_cycle, first.end_cycle);
    assert_int_equal(gpump_sm_report_saved(sm, 1000, a), GPUMP_ERROR_STATE); /* the port does it */
    assert_int_equal(gpump_next_cycle(&gpump_sm_component, sm), first.end_cycle);
    nothing_to_pull(sm, first.end_cycle - 1);
    freed = pull(sm, first.end_cycle, GPUMP_SM_ACTION_FREED);
    assert_int_equal(freed.block.slot, b.slot);
    assert_int_equal(gpump_next_cycle(&gpump_sm_component, sm), second.end_cycle);
    assert_int_equal(gpump_sm_place(sm, first.end_cycle, &r, &freed.history, &again, NULL), GPUMP_OK);
    first = pull(sm, first.end_cycle, GPUMP_SM_ACTION_RESTORE);
    assert_int_equal(first.start_cycle, second.end_cycle); /* behind the other save */
    /* an error after the end of a transfer changes nothing either */
    c[0] = choice(again, GPUMP_TECHNIQUE_FLUSH);
    c[1] = c[0];
    hash = gpump_hash(&gpump_sm_component, sm);
    assert_int_equal(gpump_sm_preempt(sm, first.end_cycle, c, 2, NULL), GPUMP_ERROR_ARGUMENT);
    assert_true(gpump_hash(&gpump_sm_component, sm) == hash);
    /* at its end the restored block may be preempted even before RESUME is pulled */
    assert_int_equal(gpump_sm_preempt(sm, first.end_cycle, c, 1, NULL), GPUMP_OK);
    assert_int_equal(pull(sm, first.end_cycle, GPUMP_SM_ACTION_FREED).block.slot, a.slot);
    assert_int_equal(pull(sm, first.end_cycle, GPUMP_SM_ACTION_DROP).block.slot, again.slot);
    free(sm);
}

/* Aligned positions keep a second block's place free; first fit does not care (Shieh Fig. 3.2). */
/* A host whose hardware slots have numbers of their own says which entry a block gets. */
static void the_host_may_choose_the_slot(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm = make(&config);
    gpump_sm_request r = request(1, 64, 1000, 0, 1);
    gpump_block_ref ref, other;
    gpump_diag diag;
    uint64_t hash;
    (void)state;
    assert_int_equal(gpump_sm_place_in(sm, 0, 5, &r, NULL, &ref, NULL), GPUMP_OK);
    assert_int_equal(ref.slot, 5);
    assert_true(gpump_sm_may_issue(sm, 5));
    hash = gpump_hash(&gpump_sm_component, sm);
    assert_int_equal(gpump_sm_place_in(sm, 0, 5, &r, NULL, &other, &diag), GPUMP_BUSY);
    assert_int_equal(diag.reason, GPUMP_REASON_BLOCK_SLOTS);
    assert_int_equal(gpump_sm_place_in(sm, 0, config.entries, &r, NULL, &other, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "slot");
    assert_true(gpump_hash(&gpump_sm_component, sm) == hash);
    assert_int_equal(gpump_sm_place_in(sm, 0, GPUMP_NONE, &r, NULL, &other, NULL), GPUMP_OK);
    assert_int_equal(other.slot, 0);
    assert_int_equal(gpump_sm_report_done(sm, 1, ref), GPUMP_OK);
    assert_int_equal(gpump_sm_place_in(sm, 1, 5, &r, NULL, &other, &diag), GPUMP_BUSY); /* FREED has not been pulled */
    pull(sm, 1, GPUMP_SM_ACTION_FREED);
    assert_int_equal(gpump_sm_place_in(sm, 1, 5, &r, NULL, &other, NULL), GPUMP_OK);
    assert_int_equal(other.slot, 5);
    assert_int_not_equal(other.generation, ref.generation);
    free(sm);
}

/* The number of the launch reserves, the number of the function names the history. */
static void a_launch_and_its_function(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm = make(&config);
    gpump_sm_request r = request(7, 64, 1000, 0, 1);
    gpump_block_view view;
    gpump_block_ref ref;
    (void)state;
    r.function = 2;
    assert_int_equal(gpump_sm_reserve(sm, 7), GPUMP_OK);
    ref = place(sm, 0, r);
    assert_int_equal(gpump_sm_block(sm, 0, ref, &view), GPUMP_OK);
    assert_int_equal(view.kernel, 7);
    assert_int_equal(view.function, 2);
    assert_int_equal(gpump_sm_report_done(sm, 1, ref), GPUMP_OK);
    assert_int_equal(pull(sm, 1, GPUMP_SM_ACTION_FREED).function, 2);
    r.function = 0; /* a host that launches nothing twice */
    assert_int_equal(gpump_sm_block(sm, 1, place(sm, 1, r), &view), GPUMP_OK);
    assert_int_equal(view.function, 7);
    r.kernel = 2;
    assert_int_equal(gpump_sm_place(sm, 1, &r, NULL, &ref, NULL), GPUMP_BUSY); /* reserved for launch 7 */
    free(sm);
}

/* The inline question answers 0 in every cycle in which nothing can be pulled, also while a transfer is under way. */
static void a_question_before_pulling(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm;
    gpump_block_ref ref;
    gpump_block_choice c;
    gpump_sm_action save;
    (void)state;
    config.timing = GPUMP_SM_TIMING_PORT;
    config.waits = 0;
    sm = make(&config);
    assert_false(gpump_sm_has_action(sm, 1000));
    ref = place(sm, 10, request(1, 64, 6400, 0, 1));
    assert_false(gpump_sm_has_action(sm, 1000));
    c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpump_sm_preempt(sm, 100, &c, 1, NULL), GPUMP_OK);
    assert_true(gpump_sm_has_action(sm, 100));
    pull(sm, 100, GPUMP_SM_ACTION_STOP);
    save = pull(sm, 100, GPUMP_SM_ACTION_SAVE);
    assert_true(save.end_cycle > 101);
    assert_false(gpump_sm_has_action(sm, 100));
    assert_false(gpump_sm_has_action(sm, save.end_cycle - 1));
    assert_true(gpump_sm_has_action(sm, save.end_cycle));
    pull(sm, save.end_cycle, GPUMP_SM_ACTION_FREED);
    assert_false(gpump_sm_has_action(sm, UINT64_MAX - 1));
    free(sm);
}

/* With aligned placement a freed position takes the incoming block; without, room in pieces does not. */
static void aligned_placement_keeps_positions_whole(void **state) {
    gpump_sm_config config = preset("gtx480_shieh");
    gpump_sm *sm;
    gpump_block_ref old[4], fresh;
    gpump_block_view view;
    gpump_footprint incoming = {64, 16384, 0};
    (void)state;
    for (uint32_t placement = 0; placement < 2; placement++) {
        config.kernels = 2;
        config.placement = placement;
        sm = make(&config);
        for (uint32_t i = 0; i < 4; i++) old[i] = place(sm, 0, request(1, 64, 8192, 0, i));
        assert_int_equal(gpumpi_sm_room(sm, 2, &incoming), GPUMP_REASON_REGISTERS);
        for (uint32_t i = 1; i < 3; i++) {
            gpump_sm_report_done(sm, 10, old[i]);
            pull(sm, 10, GPUMP_SM_ACTION_FREED);
        }
        if (placement == GPUMP_SM_FIRST_FIT) { /* takes the middle, and the two quarters beside it are lost */
            fresh = place(sm, 20, request(2, 64, 16384, 0, 9));
            gpump_sm_block(sm, 20, fresh, &view);
            assert_int_equal(view.register_base, 8192);
        } else {
            assert_int_equal(gpumpi_sm_room(sm, 2, &incoming), GPUMP_REASON_REGISTERS);
        }
        gpump_sm_report_done(sm, 30, old[0]);
        pull(sm, 30, GPUMP_SM_ACTION_FREED);
        if (placement == GPUMP_SM_ALIGNED) {
            fresh = place(sm, 30, request(2, 64, 16384, 0, 9));
            gpump_sm_block(sm, 30, fresh, &view);
            assert_int_equal(view.register_base, 0);
        }
        gpump_sm_report_done(sm, 40, old[3]);
        pull(sm, 40, GPUMP_SM_ACTION_FREED);
        assert_int_equal(gpumpi_sm_room(sm, 2, &incoming),
                         placement == GPUMP_SM_ALIGNED ? GPUMP_REASON_YES : GPUMP_REASON_REGISTERS);
        free(sm);
    }
    /* registers and shared memory stand at the same position */
    config.placement = GPUMP_SM_ALIGNED;
    sm = make(&config);
    old[0] = place(sm, 0, request(1, 32, 4096, 16384, 0));
    old[1] =
        place(sm, 0, request(2, 32, 8192, 8192, 0)); /* registers would fit at position 1, shared memory from 2 on */
    gpump_sm_block(sm, 0, old[1], &view);
    assert_int_equal(view.register_base, 2 * 8192);
    assert_int_equal(view.shared_base, 2 * 8192);
    free(sm);
}

/* Each resource that a block lacks has a reason of its own. */
static void every_resource_has_its_reason(void **state) {
    gpump_sm_config config = preset("k20c");
    gpump_sm *sm;
    gpump_diag diag;
    gpump_block_ref ref;
    gpump_sm_request r;
    (void)state;
    config.lanes = 32;
    config.block_slots = 3;
    config.entries = 4;
    config.kernels = 1;
    config.warp_slots = 4;
    config.thread_slots = 100;
    config.registers = 1000;
    config.register_granule = 100;
    config.shared_bytes = 1024;
    config.shared_granule_bytes = 128;
    sm = make(&config);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){101, 1, 1}), GPUMP_REASON_NEVER_FITS);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){1, 1001, 1}), GPUMP_REASON_NEVER_FITS);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){1, UINT32_MAX, 1}), GPUMP_REASON_NEVER_FITS);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){1, 1, 1025}), GPUMP_REASON_NEVER_FITS);
    r = request(1, 1, 1, 2000, 0);
    assert_int_equal(gpump_sm_place(sm, 0, &r, NULL, &ref, &diag), GPUMP_ERROR_REFUSED);
    assert_int_equal(diag.reason, GPUMP_REASON_NEVER_FITS);
    place(sm, 0, request(1, 70, 850, 10, 0)); /* 3 warps, 900 registers, 128 bytes */
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){31, 101, 0}), GPUMP_REASON_THREADS);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){30, 101, 0}), GPUMP_REASON_REGISTERS);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){33, 1, 0}), GPUMP_REASON_WARPS);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){1, 1, 1000}), GPUMP_REASON_SHARED_MEMORY);
    assert_int_equal(gpumpi_sm_room(sm, 2, &(gpump_footprint){1, 1, 1}), GPUMP_REASON_KERNELS);
    assert_int_equal(gpump_sm_reserve(sm, 2), GPUMP_OK);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){1, 1, 1}), GPUMP_REASON_RESERVED);
    assert_int_equal(gpump_sm_reserve(sm, 0), GPUMP_OK);
    place(sm, 0, request(1, 1, 0, 0, 0));
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){1, 0, 0}), GPUMP_REASON_WARPS);
    free(sm);
    config.warp_slots = 64;
    sm = make(&config);
    for (int i = 0; i < 3; i++) place(sm, 0, request(1, 1, 0, 0, 0));
    r = request(1, 1, 0, 0, 0);
    assert_int_equal(gpump_sm_place(sm, 0, &r, NULL, &ref, &diag), GPUMP_BUSY);
    assert_int_equal(diag.reason, GPUMP_REASON_BLOCK_SLOTS);
    free(sm);
    /* a smaller shared memory, as K20c sets it per kernel */
    config = preset("k20c");
    sm = make(&config);
    assert_int_equal(gpump_sm_set_shared_bytes(sm, 16384, NULL), GPUMP_OK);
    ref = place(sm, 0, request(1, 32, 32, 12000, 0));
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){32, 32, 12000}), GPUMP_REASON_SHARED_MEMORY);
    assert_int_equal(gpump_sm_set_shared_bytes(sm, 8192, &diag), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_sm_set_shared_bytes(sm, 49153, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_set_shared_bytes(sm, 49152, &diag), GPUMP_OK);
    assert_int_equal(gpumpi_sm_room(sm, 1, &(gpump_footprint){32, 32, 12000}), GPUMP_REASON_YES);
    free(sm);
}

/* What a block holds beside registers and shared memory goes along whenever it leaves or comes, parked or not. A parked
 * block that gives up more has written it already. */
static void state_goes_along(void **state) {
    const gpump_context_sizes sizes = {400, 30, 2};
    static const uint64_t saved[4] = {432, 32, 402, 2}; /* by the parts that stay */
    (void)state;
    for (uint32_t keep = 0; keep <= GPUMP_PARTS_IN_PLACE; keep++) {
        gpump_sm_config config = preset("k20c");
        gpump_sm_request r = request(1, 32, 256, 256, 0);
        gpump_sm *sm;
        gpump_sm_statistics statistics;
        gpump_sm_action left;
        gpump_block_ref ref;
        gpump_block_choice c;
        gpump_block_view view;
        uint64_t more = 0;
        config.waits = GPUMP_SM_WAIT_PIPELINE;
        sm = make(&config);
        ref = place(sm, 0, r);
        assert_int_equal(gpump_sm_report_context_bytes(sm, ref, &sizes), GPUMP_OK);
        assert_int_equal(gpump_sm_block(sm, 0, ref, &view), GPUMP_OK);
        assert_int_equal(view.context_bytes, 432);
        c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
        c.keep = keep;
        assert_int_equal(gpump_sm_preempt(sm, 1, &c, 1, NULL), GPUMP_OK);
        pull(sm, 1, GPUMP_SM_ACTION_STOP);
        assert_int_equal(gpump_sm_report_waits(sm, 2, ref, 0), GPUMP_OK);
        assert_int_equal(pull(sm, 2, GPUMP_SM_ACTION_SAVE).bytes, saved[keep]);
        assert_int_equal(gpump_sm_report_saved(sm, 3, ref), GPUMP_OK);
        left = pull(sm, 3, keep ? GPUMP_SM_ACTION_PARKED : GPUMP_SM_ACTION_FREED);
        if (keep == GPUMP_PARTS_IN_PLACE) { /* its registers go, too */
            assert_int_equal(gpump_sm_block(sm, 3, ref, &view), GPUMP_OK);
            assert_int_equal(view.context_bytes, 430);
            c.keep = GPUMP_PART_SHARED_MEMORY;
            assert_int_equal(gpump_sm_preempt(sm, 4, &c, 1, NULL), GPUMP_OK);
            assert_int_equal(pull(sm, 4, GPUMP_SM_ACTION_SAVE).bytes, 400);
            assert_int_equal(gpump_sm_report_saved(sm, 5, ref), GPUMP_OK);
            pull(sm, 5, GPUMP_SM_ACTION_PARKED);
            more = 400;
        }
        if (keep)
            assert_int_equal(gpump_sm_unpark(sm, 6, ref, NULL), GPUMP_OK);
        else
            assert_int_equal(gpump_sm_place(sm, 6, &r, &left.history, &ref, NULL), GPUMP_OK);
        assert_int_equal(pull(sm, 6, GPUMP_SM_ACTION_RESTORE).bytes, saved[keep] + more);
        assert_int_equal(gpump_sm_report_restored(sm, 7, ref), GPUMP_OK);
        gpump_get_statistics(&gpump_sm_component, sm, &statistics);
        assert_int_equal(statistics.bytes_saved, saved[keep] + more);
        assert_int_equal(statistics.bytes_restored, saved[keep] + more);
        free(sm);
    }
}

/* A block whose place another component gives takes nothing of the SM but an entry: more of them than would fit are
 * listed, saved and restored, and none is left in place. */
static void placed_by_another_component(void **state) {
    enum { ALL = GPUMP_PARTS_IN_PLACE | GPUMP_PART_SLOTS };
    gpump_sm_config config = preset("k20c");
    gpump_sm_request r = request(1, config.thread_slots, config.registers, config.shared_bytes, 0);
    gpump_block_ref ref[3], own;
    gpump_block_view view;
    gpump_block_choice c;
    gpump_sm_action freed;
    gpump_diag diag;
    gpump_sm *sm;
    (void)state;
    config.waits = 0;
    sm = make(&config);
    r.placed = ALL;
    for (int i = 0; i < 3; i++) ref[i] = place(sm, 0, r);
    r.placed = 0;
    own = place(sm, 0, r); /* the whole SM is free for it */
    assert_int_equal(gpumpi_sm_room(sm, 1, &r.need), GPUMP_REASON_WARPS);
    assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_block(sm, 0, ref[2], &view), GPUMP_OK);
    assert_true(view.registers == 0 && view.shared_bytes == 0 && view.threads == config.thread_slots);
    assert_int_equal(view.context_bytes, 4u * config.registers + config.shared_bytes);
    r.placed = GPUMP_PART_STACKS;
    assert_int_equal(gpump_sm_place(sm, 0, &r, NULL, &own, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "placed");
    c = choice(ref[0], GPUMP_TECHNIQUE_SWITCH);
    c.keep = GPUMP_PART_REGISTERS;
    assert_int_equal(gpump_sm_preempt(sm, 1, &c, 1, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "choices.keep");
    c.keep = 0;
    assert_int_equal(gpump_sm_preempt(sm, 1, &c, 1, NULL), GPUMP_OK);
    pull(sm, 1, GPUMP_SM_ACTION_STOP);
    assert_int_equal(pull(sm, 1, GPUMP_SM_ACTION_SAVE).bytes, view.context_bytes);
    assert_int_equal(gpump_sm_report_saved(sm, 2, ref[0]), GPUMP_OK);
    freed = pull(sm, 2, GPUMP_SM_ACTION_FREED);
    assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
    r.placed = ALL;
    r.need.registers = config.registers + 1; /* larger than the SM: the other component has the room */
    r.need.threads = config.thread_slots + 1;
    assert_int_equal(gpump_sm_place(sm, 3, &r, &freed.history, &ref[0], NULL), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
    free(sm);
    /* registers alone: the rest is the SM's */
    sm = make(&config);
    r = request(1, 32, config.registers, config.shared_bytes / 2 + 1, 0);
    r.placed = GPUMP_PART_REGISTERS;
    ref[0] = place(sm, 0, r);
    assert_int_equal(gpump_sm_place(sm, 0, &r, NULL, &ref[1], &diag), GPUMP_BUSY);
    assert_int_equal(diag.reason, GPUMP_REASON_SHARED_MEMORY);
    c = choice(ref[0], GPUMP_TECHNIQUE_SWITCH);
    c.keep = GPUMP_PART_SHARED_MEMORY;
    assert_int_equal(gpump_sm_preempt(sm, 1, &c, 1, NULL), GPUMP_OK);
    free(sm);
}

/* The SM allocates behind the room of another component, at any position and at aligned ones, and has the other slots.
 */
static void room_of_another_component(void **state) {
    gpump_sm_config config = preset("k20c");
    gpump_sm_request r = request(1, 64, 1024, 1000, 0);
    gpump_block_ref ref[3];
    gpump_block_view view;
    gpump_diag diag;
    gpump_sm *sm;
    size_t bytes;
    (void)state;
    config.shared_granule_bytes = 1;
    config.placed.registers = 1500;
    config.placed.shared_bytes = 2500;
    config.placed.block_slots = config.block_slots - 2;
    for (uint32_t aligned = 0; aligned < 2; aligned++) {
        config.placement = aligned;
        sm = make(&config);
        for (uint32_t i = 0; i < 2; i++) {
            ref[i] = place(sm, 0, r);
            assert_int_equal(gpump_sm_block(sm, 0, ref[i], &view), GPUMP_OK);
            assert_int_equal(view.register_base,
                             aligned ? (3 + i) * 1024 : 1500 + i * 1024); /* byte 2500 is in position 2 */
            assert_int_equal(view.shared_base, aligned ? (3 + i) * 1000 : 2500 + i * 1000);
        }
        assert_int_equal(gpump_sm_place(sm, 0, &r, NULL, &ref[2], &diag), GPUMP_BUSY);
        assert_int_equal(diag.reason, GPUMP_REASON_BLOCK_SLOTS);
        r.placed = GPUMP_PARTS_IN_PLACE | GPUMP_PART_SLOTS;
        ref[2] = place(sm, 0, r); /* in that room: the other component says where */
        r.placed = 0;
        r.need.registers = config.registers - 1500 + 1;
        assert_int_equal(gpump_sm_place(sm, 0, &r, NULL, &ref[2], &diag), GPUMP_ERROR_REFUSED);
        assert_int_equal(diag.reason, GPUMP_REASON_NEVER_FITS);
        r.need.registers = 1024;
        assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
        gpumpi_sm_slots(sm)[0].register_base = 1499;
        assert_int_equal(gpump_check(&gpump_sm_component, sm, &diag), GPUMP_ERROR_FORMAT);
        assert_int_equal(gpump_sm_set_shared_bytes(sm, 2499, &diag), GPUMP_ERROR_ARGUMENT);
        sm->shared_bytes = 2499;
        assert_int_equal(gpump_check(&gpump_sm_component, sm, &diag), GPUMP_ERROR_FORMAT);
        assert_string_equal(diag.field, "now, shared_bytes or unused"); /* and not the block that lies there */
        free(sm);
    }
    config.placed.registers = config.registers + 1;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "placed.registers");
    assert_int_equal(diag.value, config.registers + 1);
    assert_int_equal(diag.maximum, config.registers);
    config.placed.registers = 1500;
    config.shared_granule_bytes = 256;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "placed.shared_bytes");
    assert_int_equal(diag.value, 2500);
    config.placed.shared_bytes = 0;
    config.placed.warp_slots = config.warp_slots + 1;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "placed.warp_slots");
    assert_int_equal(diag.value, config.warp_slots + 1);
}

/* Under timing PORT a save that ends by `now` has ended: its block is saved, and is killed no more. */
static void killed_when_saved(void **state) {
    gpump_sm_config config = preset("k20c");
    gpump_sm *sm;
    gpump_block_ref ref;
    gpump_block_choice c;
    gpump_sm_action save;
    uint64_t hash;
    (void)state;
    config.timing = GPUMP_SM_TIMING_PORT;
    sm = make(&config);
    ref = place(sm, 0, request(1, 32, 256, 0, 0));
    c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpump_sm_preempt(sm, 1, &c, 1, NULL), GPUMP_OK);
    pull(sm, 1, GPUMP_SM_ACTION_STOP);
    assert_int_equal(gpump_sm_report_waits(sm, 1, ref, 0), GPUMP_OK);
    save = pull(sm, 1, GPUMP_SM_ACTION_SAVE);
    hash = gpump_hash(&gpump_sm_component, sm);
    assert_int_equal(gpump_sm_kill(sm, save.end_cycle, ref), GPUMP_ERROR_STATE);
    assert_true(gpump_hash(&gpump_sm_component, sm) == hash);
    assert_int_equal(gpump_sm_kill(sm, save.end_cycle - 1, ref), GPUMP_OK);
    free(sm);
}

/* Under port timing a transfer of the last slot ends as any other, and so does one that a kill cuts: its cycles add up.
 */
static void transfers_of_the_last_slot_end_and_add_up(void **state) {
    gpump_sm_config config = preset("k20c");
    gpump_sm_request r = request(1, 64, 8192, 0, 5);
    gpump_sm_statistics statistics;
    gpump_sm *sm;
    gpump_block_ref ref;
    gpump_block_choice c;
    gpump_sm_action save, freed;
    (void)state;
    config.waits = 0;
    config.timing = GPUMP_SM_TIMING_PORT;
    sm = make(&config);
    assert_int_equal(gpump_sm_place_in(sm, 0, config.entries - 1, &r, NULL, &ref, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_may(sm, ref, GPUMP_TECHNIQUES), GPUMP_REASON_TECHNIQUE);
    assert_int_equal(gpump_sm_may(sm, ref, 32 + GPUMP_TECHNIQUE_SWITCH), GPUMP_REASON_TECHNIQUE);
    c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpump_sm_preempt(sm, 1000, &c, 1, NULL), GPUMP_OK);
    pull(sm, 1000, GPUMP_SM_ACTION_STOP);
    save = pull(sm, 1000, GPUMP_SM_ACTION_SAVE);
    freed = pull(sm, save.end_cycle, GPUMP_SM_ACTION_FREED);
    assert_int_equal(freed.block.slot, config.entries - 1);
    for (uint64_t now = 5000; now < 15000; now += 5000) { /* two restores, each killed after seven cycles */
        assert_int_equal(gpump_sm_place(sm, now, &r, &freed.history, &ref, NULL), GPUMP_OK);
        pull(sm, now, GPUMP_SM_ACTION_RESTORE);
        assert_int_equal(gpump_sm_kill(sm, now + 7, ref), GPUMP_OK);
        pull(sm, now + 7, GPUMP_SM_ACTION_DROP);
    }
    gpump_get_statistics(&gpump_sm_component, sm, &statistics);
    assert_int_equal(statistics.restore_cycles, 14);
    free(sm);
}

/* A block that goes back beyond its restore gives up what another SM has executed. */
static void rewound_beyond_the_restore(void **state) {
    gpump_sm_config config = preset("k20c");
    gpump_sm_request r = request(1, 32, 256, 0, 0);
    gpump_sm_history history = {100, 0, {0, 0, 0}, 0, 0};
    gpump_sm_statistics statistics;
    gpump_sm *sm;
    gpump_block_ref ref;
    gpump_block_choice c;
    (void)state;
    config.techniques |= 1u << GPUMP_TECHNIQUE_REWIND;
    sm = make(&config);
    assert_int_equal(gpump_sm_place(sm, 0, &r, &history, &ref, NULL), GPUMP_OK);
    pull(sm, 0, GPUMP_SM_ACTION_RESTORE);
    assert_int_equal(gpump_sm_report_restored(sm, 0, ref), GPUMP_OK);
    gpump_sm_report_executed(sm, ref, 10);
    c = choice(ref, GPUMP_TECHNIQUE_REWIND);
    assert_int_equal(gpump_sm_preempt(sm, 1, &c, 1, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_report_rewound(sm, ref, 30), GPUMP_OK);
    gpump_get_statistics(&gpump_sm_component, sm, &statistics);
    assert_int_equal(statistics.executed, 10);
    assert_int_equal(statistics.wasted, 30);
    assert_int_equal(gpump_sm_report_done(sm, 2, ref), GPUMP_OK);
    pull(sm, 2, GPUMP_SM_ACTION_FREED);
    gpump_get_statistics(&gpump_sm_component, sm, &statistics);
    assert_int_equal(statistics.executed, 10);
    free(sm);
}

/* Blocks of a group are chosen together; with to_point warps run to their next point. */
static void groups_leave_together_and_warps_run_to_points(void **state) {
    gpump_sm_config config = preset("v100");
    gpump_sm *sm = make(&config);
    gpump_sm_request r = request(1, 32, 32, 0, 0);
    gpump_block_ref a, b;
    gpump_block_choice c[2];
    gpump_diag diag;
    (void)state;
    r.group = 4;
    a = place(sm, 0, r);
    b = place(sm, 0, r);
    c[0] = choice(a, GPUMP_TECHNIQUE_SWITCH);
    c[1] = choice(b, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpump_sm_preempt(sm, 0, c, 1, &diag), GPUMP_ERROR_REFUSED);
    assert_int_equal(diag.reason, GPUMP_REASON_GROUP);
    c[0].to_point = 1;
    assert_int_equal(gpump_sm_preempt(sm, 0, c, 2, &diag), GPUMP_OK);
    assert_true(gpump_sm_may_issue(sm, a.slot)); /* on the way to its point */
    assert_false(gpump_sm_may_issue(sm, b.slot));
    assert_int_equal(gpump_sm_report_waits(sm, 5, a, GPUMP_SM_WAIT_SCOREBOARD), GPUMP_OK);
    assert_false(gpump_sm_may_issue(sm, a.slot)); /* there, and drained but for the scoreboard */
    assert_int_equal(gpump_sm_waits_for(sm, a, NULL, NULL), GPUMP_REASON_SCOREBOARD);
    /* a stopping block may still be thrown away */
    c[0] = choice(a, GPUMP_TECHNIQUE_FLUSH);
    assert_int_equal(gpump_sm_preempt(sm, 6, c, 1, &diag), GPUMP_OK);
    pull(sm, 6, GPUMP_SM_ACTION_DROP);
    free(sm);
}

/* After each refused call the hash is what it was. */
static void wrong_calls_of_an_sm_change_nothing(void **state) {
    gpump_sm_config config = preset("k20c");
    gpump_sm *sm = make(&config);
    gpump_sm_request r = request(1, 32, 32, 32, 0);
    gpump_block_ref ref = place(sm, 50, r), stale = ref, out;
    gpump_block_choice c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
    gpump_sm_action action;
    gpump_block_view view[2];
    gpump_diag diag;
    uint32_t count;
    const uint64_t hash = gpump_hash(&gpump_sm_component, sm);
    (void)state;
    stale.generation++;
#define REFUSED(call, result)       \
    assert_int_equal(call, result); \
    assert_true(gpump_hash(&gpump_sm_component, sm) == hash)
    REFUSED(gpump_sm_place(sm, 49, &r, NULL, &out, &diag), GPUMP_ERROR_TIME);
    REFUSED(gpump_sm_place(sm, 60, NULL, NULL, &out, &diag), GPUMP_ERROR_ARGUMENT);
    REFUSED(gpump_sm_place(NULL, 60, &r, NULL, &out, &diag), GPUMP_ERROR_ARGUMENT);
    REFUSED(gpump_sm_place(sm, 60, &r, NULL, NULL, &diag), GPUMP_ERROR_ARGUMENT);
    r.kernel = 0;
    REFUSED(gpump_sm_place(sm, 60, &r, NULL, &out, &diag), GPUMP_ERROR_ARGUMENT);
    r.kernel = 1;
    r.need.threads = 0;
    REFUSED(gpump_sm_place(sm, 60, &r, NULL, &out, &diag), GPUMP_ERROR_ARGUMENT);
    REFUSED(gpump_sm_report_executed(sm, stale, 1), GPUMP_ERROR_STALE);
    stale.slot = 1000000;
    REFUSED(gpump_sm_report_clobber(sm, stale), GPUMP_ERROR_STALE);
    REFUSED(gpump_sm_report_done(sm, 60, stale), GPUMP_ERROR_STALE);
    REFUSED(gpump_sm_report_done(sm, 40, ref), GPUMP_ERROR_TIME);
    REFUSED(gpump_sm_report_done(NULL, 40, ref), GPUMP_ERROR_ARGUMENT);
    REFUSED(gpump_sm_report_saved(sm, 60, ref), GPUMP_ERROR_STATE);
    REFUSED(gpump_sm_report_restored(sm, 60, ref), GPUMP_ERROR_STATE);
    REFUSED(gpump_sm_report_dropped(sm, 60, ref), GPUMP_ERROR_STATE);
    REFUSED(gpump_sm_report_waits(sm, 60, ref, 0), GPUMP_ERROR_STATE);
    REFUSED(gpump_sm_report_blocked(sm, 60, ref, 0), GPUMP_ERROR_STATE);
    REFUSED(gpump_sm_unpark(sm, 60, ref, &diag), GPUMP_ERROR_STATE);
    REFUSED(gpump_sm_unpark(sm, 60, stale, &diag), GPUMP_ERROR_STALE);
    REFUSED(gpump_sm_next(sm, 40, &action), GPUMP_ERROR_TIME);
    REFUSED(gpump_sm_next(sm, 60, NULL), GPUMP_ERROR_ARGUMENT);
    REFUSED(gpumpi_sm_advance(sm, 40), GPUMP_ERROR_TIME);
    REFUSED(gpump_sm_preempt(sm, 40, &c, 1, &diag), GPUMP_ERROR_TIME);
    REFUSED(gpump_sm_preempt(sm, 60, NULL, 1, &diag), GPUMP_ERROR_ARGUMENT);
    REFUSED(gpump_sm_preempt(sm, 60, &c, 1000, &diag), GPUMP_ERROR_ARGUMENT);
    c.keep = 4;
    REFUSED(gpump_sm_preempt(sm, 60, &c, 1, &diag), GPUMP_ERROR_ARGUMENT);
    c = choice(ref, GPUMP_TECHNIQUE_DRAIN);
    c.keep = 1;
    REFUSED(gpump_sm_preempt(sm, 60, &c, 1, &diag), GPUMP_ERROR_ARGUMENT);
    c.keep = 0;
    c.to_point = 1;
    REFUSED(gpump_sm_preempt(sm, 60, &c, 1, &diag), GPUMP_ERROR_ARGUMENT);
    c = choice(ref, 17);
    REFUSED(gpump_sm_preempt(sm, 60, &c, 1, &diag), GPUMP_ERROR_ARGUMENT);
    c = choice(ref, GPUMP_TECHNIQUE_REWIND);
    REFUSED(gpump_sm_preempt(sm, 60, &c, 1, &diag), GPUMP_ERROR_REFUSED);
    c = choice(stale, GPUMP_TECHNIQUE_DRAIN);
    REFUSED(gpump_sm_preempt(sm, 60, &c, 1, &diag), GPUMP_ERROR_STALE);
    REFUSED(gpump_sm_blocks(sm, 60, view, 0, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 1);
    REFUSED(gpump_sm_blocks(sm, 60, view, 1, &count), GPUMP_OK);
    REFUSED(gpump_sm_block(sm, 60, stale, view), GPUMP_ERROR_STALE);
    assert_int_equal(gpump_sm_may(sm, stale, 0), GPUMP_REASON_NO_SUCH_BLOCK);
    free(sm);
}

/* An SM's memory that is short or not aligned, or its configuration that is wrong, is refused. */
static void wrong_memory_and_configurations_are_refused(void **state) {
    gpump_sm_config config = preset("k20c"), bad;
    gpump_sm *other;
    gpump_diag diag;
    uint64_t memory[8];
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_sm_component, memory, sizeof memory, &config, &other, &diag),
                     GPUMP_ERROR_CAPACITY);
    assert_int_equal(diag.minimum, bytes);
    assert_int_equal(gpump_init(&gpump_sm_component, (char *)memory + 1, bytes, &config, &other, &diag),
                     GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_init(&gpump_sm_component, NULL, bytes, &config, &other, &diag), GPUMP_ERROR_ARGUMENT);
    bad = config;
    bad.entries = 3;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &bad, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "entries");
    bad = config;
    bad.port.bytes = 0;
    assert_int_equal(gpump_bytes(&gpump_sm_component, &bad, &bytes, &diag), GPUMP_ERROR_CONFIG);
    bad = config;
    memset(&bad, 0, sizeof bad);
    assert_int_equal(gpump_bytes(&gpump_sm_component, &bad, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_int_equal(gpump_preset(&gpump_sm_component, &bad, "nonesuch", NULL), GPUMP_ERROR_UNKNOWN_NAME);
}

/* A copy of an SM's memory is a checkpoint, and damaged bytes or another configuration are refused. */
static void a_copy_is_a_checkpoint(void **state) {
    gpump_sm_config config = preset("k20c"), other_config = preset("v100");
    gpump_sm *sm = make(&config), *copy;
    size_t bytes;
    void *memory;
    gpump_diag diag;
    gpump_block_ref ref = place(sm, 5, request(3, 64, 640, 512, 42));
    gpump_block_choice c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
    (void)state;
    gpump_bytes(&gpump_sm_component, &config, &bytes, NULL);
    memory = malloc(bytes);
    assert_int_equal(gpump_sm_preempt(sm, 9, &c, 1, NULL), GPUMP_OK);
    memcpy(memory, sm, bytes);
    assert_int_equal(gpump_adopt(&gpump_sm_component, memory, bytes, &config, &copy, &diag), GPUMP_OK);
    assert_true(gpump_hash(&gpump_sm_component, sm) == gpump_hash(&gpump_sm_component, copy));
    pull(sm, 9, GPUMP_SM_ACTION_STOP);
    assert_true(gpump_hash(&gpump_sm_component, sm) != gpump_hash(&gpump_sm_component, copy));
    pull(copy, 9, GPUMP_SM_ACTION_STOP);
    gpump_sm_report_waits(sm, 12, ref, 0);
    gpump_sm_report_waits(copy, 12, ref, 0);
    assert_true(gpump_hash(&gpump_sm_component, sm) == gpump_hash(&gpump_sm_component, copy));
    assert_int_equal(gpump_adopt(&gpump_sm_component, memory, bytes - 1, &config, &copy, &diag), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_adopt(&gpump_sm_component, memory, bytes, &other_config, &copy, &diag), GPUMP_ERROR_FORMAT);
    ((unsigned char *)memory)[0] ^= 1;
    assert_int_equal(gpump_adopt(&gpump_sm_component, memory, bytes, &config, &copy, &diag), GPUMP_ERROR_FORMAT);
    free(memory);
    free(sm);
}

/* L.storage.alloc: 160 B of allocation tables; Shieh 3.4.4: 130 B of block status at 16 slots. */
static void storage_of_the_tables(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm_storage storage;
    (void)state;
    assert_int_equal(config.entries, 16);
    assert_int_equal(gpump_table_bits(&gpump_sm_component, &config, &storage, NULL), GPUMP_OK);
    assert_int_equal(storage.allocation_bits, 160 * 8);
    config = preset("k20c");
    assert_int_equal(gpump_table_bits(&gpump_sm_component, &config, &storage, NULL), GPUMP_OK);
    assert_int_equal(storage.status_bits, 130 * 8);
    assert_int_equal(storage.total_bits, storage.allocation_bits + storage.status_bits + storage.life_bits);
}

/* Each counter has a name, a unit and words, and differences are those of each field. */
static void statistics_have_names(void **state) {
    gpump_sm_statistics early, late, difference;
    const char *name, *unit, *words;
    uint64_t value;
    uint32_t i = 0;
    (void)state;
    memset(&early, 0, sizeof early);
    memset(&late, 0, sizeof late);
    early.flushed = 3;
    late.flushed = 10;
    gpump_statistics_diff(&gpump_sm_component, &early, &late, &difference);
    assert_int_equal(difference.flushed, 7);
    for (; gpump_statistics_field(&gpump_sm_component, &difference, i, &name, &unit, &words, &value) == GPUMP_OK; i++) {
        assert_true(*name && *unit && *words);
        assert_int_equal(value, strcmp(name, "flushed") ? 0 : 7);
    }
    assert_int_equal(i, sizeof early / 8);
}

/* ---- random calls, good and bad, against a naive model ---- */

typedef struct model_block {
    int here, kernel, clobbered, parked;
    uint32_t generation, waits, registers, shared, register_base, shared_base, threads, keep, held;
    uint64_t cookie, executed;
} model_block;

/* One SM, its blocks as the model sees them, and what names the case when a check fails. */
typedef struct life {
    gpump_sm_config config;
    gpump_sm *sm;
    model_block model[64];
    uint64_t random, seed, n, now, placed, freed;
} life;
static uint32_t life_below(life *l, uint32_t limit) { return gpump_random_below(&l->random, limit); }

/* In a slot of the test's choice, or in the lowest that is free. */
static gpump_result life_places(life *l, uint32_t slot, int is_new) {
    const uint32_t kernel = 1 + life_below(l, 3), threads = 32 * (1 + life_below(l, 12));
    const uint32_t registers = life_below(l, 16000), shared = life_below(l, 20000);
    gpump_sm_request r = request(kernel, threads, registers, shared, l->placed + 1000);
    gpump_sm_history history;
    gpump_block_view view;
    gpump_block_ref ref;
    gpump_result result;
    model_block *m;
    memset(&history, 0, sizeof history);
    history.executed = life_below(l, 4) * 10;
    history.context.register_bytes = 4000;
    result = slot == GPUMP_NONE ? gpump_sm_place(l->sm, l->now, &r, is_new ? NULL : &history, &ref, NULL)
                                : gpump_sm_place_in(l->sm, l->now, slot, &r, is_new ? NULL : &history, &ref, NULL);
    test_check(result == GPUMP_OK || result == GPUMP_BUSY, l->seed, l->n);
    if (result) return result;
    test_check(slot == GPUMP_NONE || ref.slot == slot, l->seed, l->n);
    m = &l->model[ref.slot];
    test_check(!m->here, l->seed, l->n);
    test_check(gpump_sm_block(l->sm, l->now, ref, &view) == GPUMP_OK, l->seed, l->n);
    memset(m, 0, sizeof *m);
    m->here = 1;
    m->generation = ref.generation;
    m->kernel = (int)r.kernel;
    m->cookie = r.cookie;
    m->registers = view.registers;
    m->shared = view.shared_bytes;
    m->register_base = view.register_base;
    m->shared_base = view.shared_base;
    m->threads = r.need.threads;
    m->held = 3;
    test_check(view.registers >= r.need.registers && view.registers % l->config.register_granule == 0, l->seed, l->n);
    l->placed++;
    return GPUMP_OK;
}

static gpump_result life_preempts(life *l, gpump_block_ref ref) {
    gpump_block_choice c[2];
    const uint32_t count = 1 + life_below(l, 2);
    gpump_result result;
    c[0] = choice(ref, life_below(l, 5));
    c[1] = choice(ref, life_below(l, 3));
    c[1].block.slot = life_below(l, l->config.entries);
    c[1].block.generation = l->model[c[1].block.slot].generation;
    if (!life_below(l, 3)) c[0].keep = life_below(l, 4);
    if (!life_below(l, 3)) c[0].to_point = life_below(l, 2);
    result = gpump_sm_preempt(l->sm, l->now, c, count, NULL);
    for (uint32_t i = 0; result == GPUMP_OK && i < count; i++) {
        model_block *m = &l->model[c[i].block.slot];
        test_check(c[i].technique != GPUMP_TECHNIQUE_FLUSH || !m->clobbered, l->seed, l->n);
        if (c[i].technique != GPUMP_TECHNIQUE_SWITCH) continue;
        m->keep = c[i].keep;
        m->waits = m->parked ? 0 : l->config.waits & ~(c[i].to_point ? 0u : (uint32_t)GPUMP_SM_WAIT_PREEMPTION_POINT);
    }
    return result;
}

static gpump_result life_unparks(life *l, gpump_block_ref ref) {
    model_block *m = &l->model[ref.slot];
    gpump_block_view view;
    const gpump_result result = gpump_sm_unpark(l->sm, l->now, ref, NULL);
    if (result) return result;
    gpump_sm_block(l->sm, l->now, ref, &view);
    m->register_base = view.register_base;
    m->shared_base = view.shared_base;
    m->held = 3;
    m->parked = 0;
    return GPUMP_OK;
}

/* Pulls actions, not always all. Waits are respected, and who is parked keeps what was chosen. */
static gpump_result life_acts(life *l) {
    gpump_sm_action action;
    gpump_result result;
    int may_have = gpump_sm_has_action(l->sm, l->now);
    while ((result = gpump_sm_next(l->sm, l->now, &action)) == GPUMP_OK) {
        model_block *m = &l->model[action.block.slot];
        test_check(may_have, l->seed, l->n);
        may_have = gpump_sm_has_action(l->sm, l->now);
        test_check(m->here && m->generation == action.block.generation && m->cookie == action.cookie, l->seed, l->n);
        test_check(action.history.clobbered == (uint32_t)m->clobbered, l->seed, l->n);
        if (action.kind == GPUMP_SM_ACTION_SAVE)
            test_check((action.parts & ~m->held) == 0 && m->waits == 0, l->seed, l->n);
        if (action.kind == GPUMP_SM_ACTION_PARKED) {
            test_check(action.parts == m->keep, l->seed, l->n);
            m->held = m->keep;
            m->parked = 1;
        }
        if (action.kind == GPUMP_SM_ACTION_FREED) {
            l->freed++;
            m->here = 0;
            m->held = 0;
            m->generation++;
        }
        if (!life_below(l, 4)) break;
    }
    return result > 0 ? GPUMP_OK : result;
}

/* One call, good or bad; an error changes nothing. */
static void life_step(life *l) {
    const uint32_t slot = life_below(l, l->config.entries), pick = life_below(l, 12), once_in_4 = !life_below(l, 4);
    const uint32_t waits = life_below(l, 2) ? 0 : life_below(l, 64);
    const uint64_t hash = gpump_hash(&gpump_sm_component, l->sm);
    model_block *m = &l->model[slot];
    gpump_result result = GPUMP_OK;
    gpump_block_ref ref;
    ref.slot = slot;
    ref.generation = life_below(l, 16) ? m->generation : life_below(l, 5);
    l->now += life_below(l, 3) ? 0 : life_below(l, 500);
    switch (pick) {
    case 0:
    case 1: result = life_places(l, GPUMP_NONE, !once_in_4); break;
    case 2: result = life_places(l, slot, !once_in_4); break;
    case 3: result = gpump_sm_report_done(l->sm, l->now, ref); break;
    case 4: result = life_preempts(l, ref); break;
    case 5:
        result = gpump_sm_report_waits(l->sm, l->now, ref, waits);
        if (!result) m->waits = waits;
        break;
    case 6: result = gpump_sm_report_saved(l->sm, l->now, ref); break;
    case 7: result = gpump_sm_report_restored(l->sm, l->now, ref); break;
    case 8: result = gpump_sm_report_dropped(l->sm, l->now, ref); break;
    case 9: result = life_unparks(l, ref); break;
    case 10:
        result = gpump_sm_report_executed(l->sm, ref, 7);
        if (!result && once_in_4 && !gpump_sm_report_clobber(l->sm, ref)) m->clobbered = 1;
        break;
    default: result = life_acts(l);
    }
    if (result < 0) test_check(gpump_hash(&gpump_sm_component, l->sm) == hash, l->seed, l->n);
}

static int apart(uint32_t base_a, uint32_t length_a, uint32_t base_b, uint32_t length_b) {
    return !length_a || !length_b || base_a >= base_b + length_b || base_b >= base_a + length_a;
}

/* Ranges never overlap and lie inside, counts are conserved, active blocks fit the slots, the memory is sound. */
static void life_is_sound(const life *l) {
    uint32_t active = 0, warps = 0, count;
    gpump_block_view views[64];
    test_check(gpump_sm_blocks(l->sm, l->now, views, 64, &count) == GPUMP_OK, l->seed, l->n);
    test_check(gpump_block_view_check(views, count, NULL) == GPUMP_OK, l->seed, l->n);
    for (uint32_t i = 0; i < count; i++) {
        const gpump_block_view *v = &views[i];
        const model_block *m = &l->model[v->block.slot];
        active += v->warps > 0;
        warps += v->warps;
        test_check(m->here && v->block.generation == m->generation && v->cookie == m->cookie &&
                       v->kernel == (uint32_t)m->kernel,
                   l->seed, l->n);
        test_check(v->registers == (m->held & 1 ? m->registers : 0) && v->shared_bytes == (m->held & 2 ? m->shared : 0),
                   l->seed, l->n);
        test_check(!v->registers ||
                       (v->register_base == m->register_base && v->register_base + v->registers <= l->config.registers),
                   l->seed, l->n);
        test_check(!v->shared_bytes ||
                       (v->shared_base == m->shared_base && v->shared_base + v->shared_bytes <= l->config.shared_bytes),
                   l->seed, l->n);
        if (m->clobbered) test_check(!(v->may & 1), l->seed, l->n);
        for (uint32_t j = 0; j < i; j++) {
            const gpump_block_view *u = &views[j];
            test_check(apart(v->register_base, v->registers, u->register_base, u->registers), l->seed, l->n);
            test_check(apart(v->shared_base, v->shared_bytes, u->shared_base, u->shared_bytes), l->seed, l->n);
        }
    }
    test_check(count == l->placed - l->freed, l->seed, l->n);
    test_check(active <= l->config.block_slots && warps <= l->config.warp_slots, l->seed, l->n);
    test_check(gpump_check(&gpump_sm_component, l->sm, NULL) == GPUMP_OK, l->seed, l->n);
}

/* A room that is reported is a room that is given. */
static void room_is_given(const life *l) {
    const gpump_sm_request r = request(1, 64, 5000, 3000, 1);
    gpump_block_ref ref;
    const gpump_reason reason = gpumpi_sm_room(l->sm, 1, &r.need);
    test_check((gpump_sm_place(l->sm, l->now, &r, NULL, &ref, NULL) == GPUMP_OK) == (reason == GPUMP_REASON_YES),
               l->seed, l->n);
}

/* An SM agrees with a plain model after each of random calls, and so does a copy of its memory. */
static void random_calls_keep_the_model_and_a_copy_is_the_same(void **state) {
    static life l;
    (void)state;
    memset(&l, 0, sizeof l);
    l.seed = l.random = test_seed();
    for (l.n = 0; l.n < test_cases(400); l.n++) {
        gpump_sm *copy;
        size_t bytes;
        void *memory;
        memset(l.model, 0, sizeof l.model);
        l.now = l.placed = l.freed = 0;
        l.config = preset("gtx480_lin");
        l.config.block_slots = 1 + life_below(&l, 8);
        l.config.entries = l.config.block_slots + life_below(&l, 8);
        l.config.kernels = 1 + life_below(&l, 3);
        l.config.placement = life_below(&l, 2);
        l.config.timing = life_below(&l, 2);
        l.config.waits = life_below(&l, 2) ? GPUMP_SM_WAIT_ALL : life_below(&l, 64);
        l.config.register_granule = 1u << life_below(&l, 7);
        l.sm = make(&l.config);
        gpump_bytes(&gpump_sm_component, &l.config, &bytes, NULL);
        memory = malloc(bytes);
        for (int step = 0; step < 300; step++) {
            life_step(&l);
            life_is_sound(&l);
            if (step % 50) continue;
            memcpy(memory, l.sm, bytes);
            test_check(gpump_adopt(&gpump_sm_component, memory, bytes, &l.config, &copy, NULL) == GPUMP_OK, l.seed,
                       l.n);
            test_check(gpump_hash(&gpump_sm_component, copy) == gpump_hash(&gpump_sm_component, l.sm), l.seed, l.n);
        }
        room_is_given(&l);
        free(memory);
        free(l.sm);
    }
}

/* A rewind: the SM asks the host to send the warps back, counts what they give up, and saves the block there. */
static void life_by_rewind(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm;
    gpump_block_ref a, b, back;
    gpump_block_choice c;
    gpump_block_view view;
    gpump_sm_action action;
    gpump_sm_statistics statistics;
    gpump_sm_history history;
    gpump_sm_request r = request(1, 64, 1024, 256, 7);
    (void)state;
    sm = make(&config);
    a = place(sm, 0, r);
    c = choice(a, GPUMP_TECHNIQUE_REWIND); /* the presets' host cannot */
    assert_int_equal(gpump_sm_may(sm, a, GPUMP_TECHNIQUE_REWIND), GPUMP_REASON_TECHNIQUE);
    assert_int_equal(gpump_sm_preempt(sm, 0, &c, 1, NULL), GPUMP_ERROR_REFUSED);
    free(sm);
    config.techniques |= 1u << GPUMP_TECHNIQUE_REWIND;
    sm = make(&config);
    a = place(sm, 0, r);
    b = place(sm, 0, r);
    assert_int_equal(gpump_sm_report_executed(sm, a, 100), GPUMP_OK);
    assert_int_equal(gpump_sm_report_clobber(sm, a), GPUMP_OK); /* no flush any more, but a rewind */
    assert_int_equal(gpump_sm_block(sm, 10, a, &view), GPUMP_OK);
    assert_int_equal(view.may,
                     1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_DRAIN | 1u << GPUMP_TECHNIQUE_REWIND);
    c = choice(a, GPUMP_TECHNIQUE_REWIND);
    assert_int_equal(gpump_sm_report_rewound(sm, a, 1), GPUMP_ERROR_STATE); /* nobody told it to */
    assert_int_equal(gpump_sm_preempt(sm, 10, &c, 1, NULL), GPUMP_OK);
    action = pull(sm, 10, GPUMP_SM_ACTION_REWIND);
    assert_int_equal(action.cookie, 7);
    assert_int_equal(action.technique, GPUMP_TECHNIQUE_REWIND);
    assert_true(gpump_sm_may_issue(sm, a.slot)); /* a warp that must go on does */
    assert_true(gpump_sm_may_issue(sm, b.slot));
    assert_int_equal(gpump_sm_block(sm, 12, a, &view), GPUMP_OK);
    assert_int_equal(view.technique, GPUMP_TECHNIQUE_REWIND);
    assert_int_equal(gpump_sm_report_rewound(sm, a, 101), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_rewound(sm, a, 30), GPUMP_OK);
    assert_int_equal(gpump_sm_report_waits(sm, 12, a, GPUMP_SM_WAIT_PREEMPTION_POINT), GPUMP_OK);
    assert_int_equal(gpump_sm_report_executed(sm, a, 5), GPUMP_OK);
    assert_int_equal(gpump_sm_report_waits(sm, 20, a, 0), GPUMP_OK);
    assert_false(gpump_sm_may_issue(sm, a.slot));
    pull(sm, 20, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(gpump_sm_report_saved(sm, 30, a), GPUMP_OK);
    action = pull(sm, 30, GPUMP_SM_ACTION_FREED);
    assert_int_equal(action.why, GPUMP_BLOCK_SAVED);
    assert_int_equal(action.history.executed, 75); /* as far as it has come */
    history = action.history;
    gpump_get_statistics(&gpump_sm_component, sm, &statistics);
    assert_int_equal(statistics.rewound, 1);
    assert_int_equal(statistics.saved, 1);
    assert_int_equal(statistics.wasted, 30);
    assert_int_equal(statistics.executed, 105);
    assert_int_equal(gpump_sm_place(sm, 40, &r, &history, &back, NULL), GPUMP_OK);
    pull(sm, 40, GPUMP_SM_ACTION_RESTORE);
    assert_int_equal(gpump_sm_report_restored(sm, 50, back), GPUMP_OK);
    assert_int_equal(gpump_sm_report_executed(sm, back, 25), GPUMP_OK);
    assert_int_equal(gpump_sm_report_done(sm, 60, back), GPUMP_OK);
    pull(sm, 60, GPUMP_SM_ACTION_FREED);
    gpump_get_statistics(&gpump_sm_component, sm, &statistics);
    assert_int_equal(statistics.executed - statistics.wasted, 100); /* each instruction of the block counts once */
    free(sm);
}

/* A host without anything to wait for: the rewind is still the host's to carry out, so SAVE comes after its report. */
static void rewind_without_waits(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm;
    gpump_block_ref a;
    gpump_block_choice c;
    (void)state;
    config.waits = 0;
    config.techniques = 1u << GPUMP_TECHNIQUE_REWIND;
    sm = make(&config);
    a = place(sm, 0, request(1, 64, 1024, 256, 7));
    assert_int_equal(gpump_sm_may(sm, a, GPUMP_TECHNIQUE_SWITCH), GPUMP_REASON_TECHNIQUE);
    c = choice(a, GPUMP_TECHNIQUE_REWIND);
    c.keep = GPUMP_PART_SHARED_MEMORY;
    assert_int_equal(gpump_sm_preempt(sm, 10, &c, 1, NULL), GPUMP_OK);
    pull(sm, 10, GPUMP_SM_ACTION_REWIND);
    nothing_to_pull(sm, 11);
    assert_false(gpump_sm_may_issue(sm, a.slot));
    assert_int_equal(gpump_sm_report_waits(sm, 11, a, 0), GPUMP_OK);
    assert_int_equal(pull(sm, 11, GPUMP_SM_ACTION_SAVE).parts, GPUMP_PART_REGISTERS);
    assert_int_equal(gpump_sm_report_saved(sm, 12, a), GPUMP_OK);
    assert_int_equal(pull(sm, 12, GPUMP_SM_ACTION_PARKED).parts, GPUMP_PART_SHARED_MEMORY);
    assert_int_equal(gpump_sm_may(sm, a, GPUMP_TECHNIQUE_REWIND), GPUMP_REASON_NOT_RUNNING); /* nothing runs back */
    free(sm);
}

/* A size of shared memory that the GPU does not have is refused. */
static void shared_memory_is_an_option(void **state) {
    gpump_gpu gpu;
    gpump_sm_config config;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_config_from_gpu(&config, &gpu, gpu.shared_bytes[0]), GPUMP_OK);
    memset(&config, 0x5a, sizeof config);
    assert_int_equal(gpump_sm_config_from_gpu(&config, &gpu, gpu.shared_bytes[0] + 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(config.lanes, 0x5a5a5a5au);
    assert_int_equal(gpump_sm_config_from_gpu(&config, &gpu, 0), GPUMP_ERROR_ARGUMENT);
}

/* A parked block, which no sum of the SM counts, has threads for as many as the SM at most. */
static void a_parked_block_of_too_many_threads_is_unsound(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm;
    gpump_block_ref ref;
    gpump_block_choice c;
    gpumpi_sm_slot *slot;
    gpump_diag diag;
    (void)state;
    config.waits = 0;
    sm = make(&config);
    ref = place(sm, 0, request(1, 64, 64, 64, 1));
    slot = &gpumpi_sm_slots(sm)[ref.slot];
    c = choice(ref, GPUMP_TECHNIQUE_SWITCH);
    c.keep = GPUMP_PARTS_IN_PLACE;
    assert_int_equal(gpump_sm_preempt(sm, 10, &c, 1, NULL), GPUMP_OK);
    pull(sm, 10, GPUMP_SM_ACTION_STOP);
    pull(sm, 10, GPUMP_SM_ACTION_SAVE);
    assert_int_equal(gpump_sm_report_saved(sm, 20, ref), GPUMP_OK);
    pull(sm, 20, GPUMP_SM_ACTION_PARKED);
    slot->threads = config.thread_slots;
    slot->warps = config.thread_slots / config.lanes;
    assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
    slot->threads += config.lanes;
    slot->warps++;
    assert_int_equal(gpump_check(&gpump_sm_component, sm, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "threads and warps differ");
    /* The time is that of the block's return, also where it has no room. */
    slot->threads = 64;
    slot->warps = 2;
    assert_int_equal(gpump_sm_reserve(sm, 2), GPUMP_OK);
    assert_int_equal(gpump_sm_unpark(sm, 200000, ref, NULL), GPUMP_BUSY);
    assert_int_equal(gpump_sm_unpark(sm, 199999, ref, NULL), GPUMP_ERROR_TIME);
    free(sm);
}

/* A group leaves whole: a mate in the last slot counts, too. */
static void a_mate_in_the_last_slot_belongs_to_its_group(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm_request r = request(1, 64, 64, 64, 1);
    gpump_block_ref mates[2];
    gpump_block_choice c[2];
    gpump_diag diag;
    gpump_sm *sm;
    (void)state;
    config.block_slots = config.entries = 2;
    sm = make(&config);
    r.group = 1;
    for (int i = 0; i < 2; i++) c[i] = choice(mates[i] = place(sm, 0, r), GPUMP_TECHNIQUE_SWITCH);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gpump_sm_preempt(sm, 0, &c[i], 1, &diag), GPUMP_ERROR_REFUSED);
        assert_int_equal(diag.reason, GPUMP_REASON_GROUP);
    }
    assert_int_equal(gpump_sm_preempt(sm, 0, c, 2, NULL), GPUMP_OK);
    free(sm);
}

/* An SM that holds all that its configuration allows is sound; a configuration of one less says so, for each limit
 * alone. */
static void more_than_the_configuration_allows_is_unsound(void **state) {
    gpump_sm_config config = preset("gtx480_lin");
    gpump_sm *sm;
    gpump_diag diag;
    (void)state;
    config.block_slots = 3;
    config.warp_slots = 6;
    config.thread_slots = 180;
    sm = make(&config);
    for (int i = 0; i < 3; i++) place(sm, 0, request(1, 60, 64, 64, (uint64_t)i));
    assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
    for (int limit = 0; limit < 3; limit++) {
        sm->config = config;
        if (limit == 0) sm->config.block_slots--;
        if (limit == 1) sm->config.warp_slots--;
        if (limit == 2) sm->config.thread_slots--;
        assert_int_equal(gpump_check(&gpump_sm_component, sm, &diag), GPUMP_ERROR_FORMAT);
        assert_string_equal(diag.field, "counts of blocks, warps or threads differ");
    }
    free(sm);
}

/* Of any number of block slots an SM can be made, with an entry for a parked block beside each, up to 64; the largest
 * is filled by blocks of as many kernels, and all of them are preempted. */
static void an_sm_of_any_number_of_block_slots(void **state) {
    (void)state;
    for (uint32_t slots = 1; slots <= 64; slots++) {
        const uint32_t entries = slots < 32 ? 2 * slots : 64;
        gpump_block_choice choices[64];
        gpump_sm_request request;
        gpump_sm_config config;
        gpump_sm *sm;
        gpump_gpu gpu;
        size_t bytes;
        void *memory;
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_lin", NULL), GPUMP_OK);
        gpu.block_slots = slots;
        gpu.warp_slots = 64;
        assert_int_equal(gpump_sm_config_from_gpu(&config, &gpu, 49152), GPUMP_OK);
        assert_int_equal(config.entries, entries);
        assert_int_equal(config.kernels, entries);
        assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
        memory = malloc(bytes);
        assert_non_null(memory);
        assert_int_equal(gpump_init(&gpump_sm_component, memory, bytes, &config, &sm, NULL), GPUMP_OK);
        memset(&request, 0, sizeof request);
        memset(choices, 0, sizeof choices);
        request.need.threads = 1;
        request.need.registers = 64;
        for (uint32_t i = 0; i < slots; i++) {
            request.kernel = 1 + i;
            assert_int_equal(gpump_sm_place(sm, 1, &request, NULL, &choices[i].block, NULL), GPUMP_OK);
            choices[i].technique = GPUMP_TECHNIQUE_FLUSH;
        }
        assert_int_equal(gpump_sm_preempt(sm, 2, choices, slots, NULL), GPUMP_OK);
        assert_int_equal(gpump_check(&gpump_sm_component, sm, NULL), GPUMP_OK);
        free(memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_sm_of_any_number_of_block_slots),
        cmocka_unit_test(more_than_the_configuration_allows_is_unsound),
        cmocka_unit_test(a_parked_block_of_too_many_threads_is_unsound),
        cmocka_unit_test(a_mate_in_the_last_slot_belongs_to_its_group),
        cmocka_unit_test(life_by_switch_and_back),
        cmocka_unit_test(life_by_flush_and_drain),
        cmocka_unit_test(a_block_that_ends_during_a_flush_wastes_nothing),
        cmocka_unit_test(a_block_may_end_while_its_last_exit_is_in_flight),
        cmocka_unit_test(parked_blocks_do_not_end),
        cmocka_unit_test(parked_blocks_keep_their_ranges),
        cmocka_unit_test(the_port_serialises),
        cmocka_unit_test(the_host_may_choose_the_slot),
        cmocka_unit_test(a_launch_and_its_function),
        cmocka_unit_test(a_question_before_pulling),
        cmocka_unit_test(aligned_placement_keeps_positions_whole),
        cmocka_unit_test(every_resource_has_its_reason),
        cmocka_unit_test(state_goes_along),
        cmocka_unit_test(placed_by_another_component),
        cmocka_unit_test(room_of_another_component),
        cmocka_unit_test(killed_when_saved),
        cmocka_unit_test(transfers_of_the_last_slot_end_and_add_up),
        cmocka_unit_test(rewound_beyond_the_restore),
        cmocka_unit_test(groups_leave_together_and_warps_run_to_points),
        cmocka_unit_test(wrong_calls_of_an_sm_change_nothing),
        cmocka_unit_test(wrong_memory_and_configurations_are_refused),
        cmocka_unit_test(a_copy_is_a_checkpoint),
        cmocka_unit_test(storage_of_the_tables),
        cmocka_unit_test(statistics_have_names),
        cmocka_unit_test(life_by_rewind),
        cmocka_unit_test(rewind_without_waits),
        cmocka_unit_test(shared_memory_is_an_option),
        cmocka_unit_test(random_calls_keep_the_model_and_a_copy_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
