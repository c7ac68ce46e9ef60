/* labels: unit */
#include "test.h"

static gpump_scheduler *make(gpump_scheduler_config *config, void **memory) {
    size_t bytes;
    gpump_scheduler *s;
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, config, &bytes, NULL), GPUMP_OK);
    *memory = malloc(bytes);
    assert_int_equal(gpump_init(&gpump_scheduler_component, *memory, bytes, config, &s, NULL), GPUMP_OK);
    return s;
}
static gpump_scheduler_config small(uint32_t sms, uint32_t mechanism) {
    gpump_scheduler_config config;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL), GPUMP_OK);
    config.sms = sms;
    config.saved_blocks = sms * config.blocks_per_sm;
    config.decision_cycles = 0;
    config.technique = mechanism;
    return config;
}
static uint32_t open_process(gpump_scheduler *s, uint32_t priority) {
    gpump_scheduler_process process;
    uint32_t row;
    memset(&process, 0, sizeof process);
    process.priority = priority;
    process.page_table_base = 0x1000u * (priority + 1);
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    return row;
}
static gpump_result submit(gpump_scheduler *s, uint64_t now, uint32_t queue, uint32_t process, uint64_t blocks,
                           uint32_t per_sm, uint32_t saved_limit) {
    gpump_scheduler_command command;
    memset(&command, 0, sizeof command);
    command.process = process;
    command.blocks = blocks;
    command.blocks_per_sm = per_sm;
    command.saved_limit = saved_limit;
    command.cookie = queue;
    return gpump_scheduler_submit(s, now, queue, &command, NULL);
}
/* The next action must be of this kind. */
static gpump_scheduler_action expect(gpump_scheduler *s, const char *policy, uint64_t now, uint32_t kind) {
    gpump_scheduler_action action;
    assert_int_equal(gpump_scheduler_next(s, gpump_scheduler_find(policy), now, &action), GPUMP_OK);
    assert_int_equal(action.kind, kind);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    return action;
}
static void expect_nothing(gpump_scheduler *s, const char *policy, uint64_t now) {
    gpump_scheduler_action action;
    assert_int_equal(gpump_scheduler_next(s, gpump_scheduler_find(policy), now, &action), GPUMP_EMPTY);
}

/* The tables of a scheduler take the bits that the paper prints. */
static void storage_is_the_papers(void **state) { /* T.ptbq, T.tables */
    gpump_scheduler_config config;
    gpump_scheduler_storage bits;
    uint64_t all;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL), GPUMP_OK);
    assert_int_equal(config.sms, 13);
    assert_int_equal(config.decision_cycles, 13);
    assert_int_equal(gpump_table_bits(&gpump_scheduler_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits.ptbqs / 8, 21632);
    assert_true(bits.command_buffers + bits.ksrt + bits.smst + bits.active_queue < 512 * 8);
    assert_int_equal(gpump_bits(&gpump_scheduler_component, &config, &all, NULL), GPUMP_OK);
    assert_int_equal(all, bits.command_buffers + bits.ksrt + bits.smst + bits.active_queue + bits.ptbqs +
                              bits.process_table);
}

/* A kernel passes from launch over set-up and blocks to its end, and a time that goes back is refused. */
static void a_kernel_from_launch_to_end(void **state) {
    gpump_scheduler_config config = small(2, GPUMP_TECHNIQUE_SWITCH);
    gpump_scheduler_action a;
    gpump_block_ref block[5];
    void *memory;
    gpump_scheduler *s = make(&config, &memory);
    uint32_t process = open_process(s, 0);
    (void)state;
    assert_true(gpump_next_cycle(&gpump_scheduler_component, s) == GPUMP_UNKNOWN);
    assert_int_equal(submit(s, 5, 3, process, 5, 2, 100), GPUMP_OK);
    assert_int_equal(submit(s, 5, 3, process, 5, 2, 100), GPUMP_BUSY); /* one command per queue */
    assert_true(gpump_next_cycle(&gpump_scheduler_component, s) == 5);
    a = expect(s, "fcfs", 5, GPUMP_SCHEDULER_KERNEL_START);
    assert_int_equal(a.queue, 3);
    a = expect(s, "fcfs", 5, GPUMP_SCHEDULER_SETUP);
    assert_int_equal(a.sm, 0);
    assert_int_equal(a.invalidate, 0); /* nothing was there before */
    assert_true(a.page_table_base == 0x1000);
    assert_int_equal(expect(s, "fcfs", 5, GPUMP_SCHEDULER_SETUP).sm, 1);
    expect_nothing(s, "fcfs", 5);
    assert_int_equal(gpump_scheduler_report_ready(s, 9, 0), GPUMP_OK);
    assert_int_equal(gpump_scheduler_report_ready(s, 9, 0), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_scheduler_report_ready(s, 8, 1), GPUMP_ERROR_TIME);
    for (int i = 0; i < 2; i++) { /* depth first: an SM is filled before the next (Fig. 5.2) */
        a = expect(s, "fcfs", 9, GPUMP_SCHEDULER_ISSUE);
        assert_int_equal(a.sm, 0);
        assert_true(a.index == (uint64_t)i && !a.saved);
        block[i] = a.block;
    }
    expect_nothing(s, "fcfs", 9);
    assert_int_equal(gpump_scheduler_report_ready(s, 9, 1), GPUMP_OK);
    for (int i = 2; i < 4; i++) block[i] = expect(s, "fcfs", 9, GPUMP_SCHEDULER_ISSUE).block;
    assert_int_equal(gpump_scheduler_report_finished(s, 20, 0, block[0]), GPUMP_OK);
    assert_int_equal(gpump_scheduler_report_finished(s, 20, 0, block[0]), GPUMP_ERROR_STALE);
    a = expect(s, "fcfs", 20, GPUMP_SCHEDULER_ISSUE);
    assert_true(a.index == 4 && a.sm == 0);
    block[4] = a.block;
    for (int i = 1; i < 5; i++)
        assert_int_equal(gpump_scheduler_report_finished(s, 30, i == 2 || i == 3, block[i]), GPUMP_OK);
    a = expect(s, "fcfs", 30, GPUMP_SCHEDULER_KERNEL_DONE);
    assert_int_equal(a.queue, 3);
    expect_nothing(s, "fcfs", 30);
    assert_int_equal(gpump_scheduler_next(s, gpump_scheduler_find("fcfs"), GPUMP_UNKNOWN, &a), GPUMP_ERROR_TIME);
    assert_int_equal(submit(s, GPUMP_UNKNOWN, 3, process, 5, 2, 100), GPUMP_ERROR_TIME);
    assert_int_equal(submit(s, 31, 3, process, 5, 2, 100), GPUMP_OK);
    free(memory);
}

/* Blocks that were preempted are issued before those that have not run yet, and a preempted block must have been asked
 * for. */
static void preempted_blocks_come_back_first(void **state) {
    gpump_scheduler_config config = small(1, GPUMP_TECHNIQUE_SWITCH);
    gpump_scheduler_action a;
    gpump_block_ref low[3], high;
    void *memory;
    gpump_scheduler *s = make(&config, &memory);
    uint32_t first = open_process(s, 0), second = open_process(s, 1);
    (void)state;
    assert_int_equal(submit(s, 0, 0, first, 10, 3, 100), GPUMP_OK);
    expect(s, "ppq", 0, GPUMP_SCHEDULER_KERNEL_START);
    expect(s, "ppq", 0, GPUMP_SCHEDULER_SETUP);
    assert_int_equal(gpump_scheduler_report_ready(s, 0, 0), GPUMP_OK);
    for (int i = 0; i < 3; i++) low[i] = expect(s, "ppq", 0, GPUMP_SCHEDULER_ISSUE).block;
    assert_int_equal(gpump_scheduler_report_preempted(s, 1, 0, low[0], 1), GPUMP_ERROR_STATE);
    assert_int_equal(submit(s, 2, 1, second, 1, 1, 100), GPUMP_OK);
    expect(s, "ppq", 2, GPUMP_SCHEDULER_KERNEL_START);
    a = expect(s, "ppq", 2, GPUMP_SCHEDULER_PREEMPT);
    assert_int_equal(a.technique, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(gpump_scheduler_report_finished(s, 3, 0, low[1]), GPUMP_OK); /* ended by itself meanwhile */
    assert_int_equal(gpump_scheduler_report_preempted(s, 4, 0, low[2], 222), GPUMP_OK);
    expect_nothing(s, "ppq", 4);
    assert_int_equal(gpump_scheduler_report_preempted(s, 5, 0, low[0], 200), GPUMP_OK);
    a = expect(s, "ppq", 5, GPUMP_SCHEDULER_SETUP);
    assert_int_equal(a.process, second);
    assert_int_equal(a.invalidate, GPUMP_SCHEDULER_INVALIDATE_TLB | GPUMP_SCHEDULER_INVALIDATE_L1 |
                                       GPUMP_SCHEDULER_INVALIDATE_INSTRUCTIONS);
    assert_true(a.page_table_base == 0x2000);
    assert_int_equal(gpump_scheduler_report_ready(s, 6, 0), GPUMP_OK);
    high = expect(s, "ppq", 6, GPUMP_SCHEDULER_ISSUE).block;
    assert_int_equal(gpump_scheduler_report_finished(s, 7, 0, high), GPUMP_OK);
    expect(s, "ppq", 7, GPUMP_SCHEDULER_KERNEL_DONE);
    expect(s, "ppq", 7, GPUMP_SCHEDULER_SETUP);
    assert_int_equal(gpump_scheduler_report_ready(s, 8, 0), GPUMP_OK);
    a = expect(s, "ppq", 8, GPUMP_SCHEDULER_ISSUE);
    assert_true(a.saved && a.handle == 222);
    a = expect(s, "ppq", 8, GPUMP_SCHEDULER_ISSUE);
    assert_true(a.saved && a.handle == 200);
    a = expect(s, "ppq", 8, GPUMP_SCHEDULER_ISSUE);
    assert_true(!a.saved && a.index == 3);
    free(memory);
}

/* Where the pool has no room for all contexts, an SM is drained instead of switched. */
static void no_context_memory_means_drain(void **state) {
    gpump_scheduler_config config = small(1, GPUMP_TECHNIQUE_SWITCH);
    gpump_scheduler_action a;
    gpump_block_ref low[3];
    void *memory;
    gpump_scheduler *s = make(&config, &memory);
    uint32_t first = open_process(s, 0), second = open_process(s, 1);
    (void)state;
    assert_int_equal(submit(s, 0, 0, first, 10, 3, 2), GPUMP_OK); /* room for two contexts, three blocks run */
    expect(s, "ppq", 0, GPUMP_SCHEDULER_KERNEL_START);
    expect(s, "ppq", 0, GPUMP_SCHEDULER_SETUP);
    assert_int_equal(gpump_scheduler_report_ready(s, 0, 0), GPUMP_OK);
    for (int i = 0; i < 3; i++) low[i] = expect(s, "ppq", 0, GPUMP_SCHEDULER_ISSUE).block;
    assert_int_equal(submit(s, 2, 1, second, 1, 1, 100), GPUMP_OK);
    expect(s, "ppq", 2, GPUMP_SCHEDULER_KERNEL_START);
    a = expect(s, "ppq", 2, GPUMP_SCHEDULER_PREEMPT);
    assert_int_equal(a.technique, GPUMP_TECHNIQUE_DRAIN);
    assert_int_equal(a.reason, GPUMP_REASON_NO_CONTEXT_SPACE);
    for (int i = 0; i < 3; i++) assert_int_equal(gpump_scheduler_report_finished(s, 3, 0, low[i]), GPUMP_OK);
    assert_int_equal(expect(s, "ppq", 3, GPUMP_SCHEDULER_SETUP).process, second);
    free(memory);
}

/* Where others use the space for contexts too, the host reports what is left of it: a view that the host fills. */
static void the_space_that_is_left_decides(void **state) {
    (void)state;
    for (uint32_t contexts = 0; contexts < 4; contexts++) {
        gpump_scheduler_config config = small(1, GPUMP_TECHNIQUE_SWITCH);
        gpump_context_room room = {UINT64_MAX, 1, contexts};
        gpump_scheduler_action a;
        gpump_block_ref low[3];
        void *memory;
        gpump_scheduler *s = make(&config, &memory);
        uint32_t first = open_process(s, 0), second = open_process(s, 1);
        assert_int_equal(gpump_scheduler_report_contexts(s, 0, &room), GPUMP_ERROR_STATE); /* no kernel has row 1 */
        assert_int_equal(submit(s, 0, 0, first, 10, 3, contexts == 3 ? 0 : 100), GPUMP_OK);
        a = expect(s, "ppq", 0, GPUMP_SCHEDULER_KERNEL_START);
        assert_int_equal(a.kernel, 1);
        expect(s, "ppq", 0, GPUMP_SCHEDULER_SETUP);
        assert_int_equal(gpump_scheduler_report_ready(s, 0, 0), GPUMP_OK);
        for (int i = 0; i < 3; i++) low[i] = expect(s, "ppq", 0, GPUMP_SCHEDULER_ISSUE).block;
        assert_int_equal(gpump_scheduler_report_contexts(s, 1, &room), GPUMP_OK);
        assert_int_equal(submit(s, 2, 1, second, 1, 1, 100), GPUMP_OK);
        expect(s, "ppq", 2, GPUMP_SCHEDULER_KERNEL_START);
        a = expect(s, "ppq", 2, GPUMP_SCHEDULER_PREEMPT);
        assert_int_equal(a.technique, contexts == 3 ? GPUMP_TECHNIQUE_SWITCH : GPUMP_TECHNIQUE_DRAIN);
        assert_int_equal(a.reason, contexts == 3 ? GPUMP_REASON_YES : GPUMP_REASON_NO_CONTEXT_SPACE);
        room.contexts = 0; /* the host has taken the three contexts, and room is kept for the blocks that leave */
        assert_int_equal(gpump_scheduler_report_contexts(s, 2, &room), GPUMP_OK);
        for (int i = 0; contexts == 3 && i < 3; i++)
            assert_int_equal(gpump_scheduler_report_preempted(s, 3, 0, low[i], (uint64_t)i), GPUMP_OK);
        assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
        assert_int_equal(gpump_scheduler_report_contexts(s, 1, &room), GPUMP_ERROR_TIME);
        assert_int_equal(gpump_scheduler_report_contexts(s, 3, NULL), GPUMP_ERROR_ARGUMENT);
        room.kernel = config.active_kernels + 1;
        assert_int_equal(gpump_scheduler_report_contexts(s, 3, &room), GPUMP_ERROR_ARGUMENT);
        free(memory);
    }
}

/* A table without a free row says so, and the state stays. */
static void full_tables_refuse(void **state) {
    gpump_scheduler_config config = small(2, GPUMP_TECHNIQUE_SWITCH);
    gpump_scheduler_process process;
    uint32_t row;
    void *memory;
    gpump_scheduler *s;
    uint64_t hash;
    gpump_diag diag;
    (void)state;
    config.processes = 2;
    config.active_kernels = 1;
    s = make(&config, &memory);
    open_process(s, 0);
    open_process(s, 1);
    memset(&process, 0, sizeof process);
    hash = gpump_hash(&gpump_scheduler_component, s);
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, &diag), GPUMP_ERROR_FULL);
    assert_true(gpump_hash(&gpump_scheduler_component, s) == hash);
    assert_int_equal(submit(s, 0, 0, 0, 1, 1, 1), GPUMP_OK);
    assert_int_equal(submit(s, 0, 1, 1, 1, 1, 1), GPUMP_OK);
    assert_int_equal(gpump_scheduler_close(s, 0, 1), GPUMP_ERROR_STATE);
    expect(s, "dss", 0, GPUMP_SCHEDULER_KERNEL_START);
    assert_int_equal(expect(s, "dss", 0, GPUMP_SCHEDULER_SETUP).process,
                     0); /* the active queue is full: the other has to wait */
    expect_nothing(s, "dss", 0);
    config.sms = 0;
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &config, (size_t *)&hash, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "sms");
    free(memory);
}

/* Under fcfs, kernels of another process wait until the running process has ended. */
static void one_process_at_a_time_under_fcfs(void **state) {
    gpump_scheduler_config config = small(2, GPUMP_TECHNIQUE_SWITCH);
    gpump_block_ref block[3];
    void *memory;
    gpump_scheduler *s = make(&config, &memory);
    uint32_t first = open_process(s, 0), second = open_process(s, 1);
    (void)state;
    assert_int_equal(submit(s, 0, 0, first, 1, 1, 1), GPUMP_OK);
    assert_int_equal(submit(s, 0, 1, first, 1, 1, 1), GPUMP_OK); /* another stream of the same process: back to back */
    assert_int_equal(submit(s, 0, 2, second, 1, 1, 1), GPUMP_OK);
    assert_int_equal(expect(s, "fcfs", 0, GPUMP_SCHEDULER_KERNEL_START).queue, 0);
    assert_int_equal(expect(s, "fcfs", 0, GPUMP_SCHEDULER_KERNEL_START).queue, 1);
    for (uint32_t i = 0; i < 2; i++) expect(s, "fcfs", 0, GPUMP_SCHEDULER_SETUP);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(gpump_scheduler_report_ready(s, 0, i), GPUMP_OK);
        block[i] = expect(s, "fcfs", 0, GPUMP_SCHEDULER_ISSUE).block;
    }
    assert_int_equal(gpump_scheduler_report_finished(s, 1, 0, block[0]), GPUMP_OK);
    expect(s, "fcfs", 1, GPUMP_SCHEDULER_KERNEL_DONE);
    expect_nothing(s, "fcfs", 1); /* an SM is idle, but the other process has to wait */
    assert_int_equal(gpump_scheduler_report_finished(s, 2, 1, block[1]), GPUMP_OK);
    expect(s, "fcfs", 2, GPUMP_SCHEDULER_KERNEL_DONE);
    assert_int_equal(expect(s, "fcfs", 2, GPUMP_SCHEDULER_KERNEL_START).queue, 2);
    free(memory);
}

/* A decision takes a cycle for each SM, and nothing is decided earlier. */
static void decisions_take_a_cycle_per_sm(void **state) {
    gpump_scheduler_config config;
    void *memory;
    gpump_scheduler *s;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL), GPUMP_OK);
    s = make(&config, &memory);
    assert_int_equal(submit(s, 100, 0, open_process(s, 0), 100, 4, 100), GPUMP_OK);
    expect(s, "dss", 100, GPUMP_SCHEDULER_KERNEL_START);
    expect_nothing(s, "dss", 112);
    assert_true(gpump_next_cycle(&gpump_scheduler_component, s) == 113);
    expect(s, "dss", 113, GPUMP_SCHEDULER_SETUP);
    free(memory);
}

/* A copy of a scheduler's memory decides as the original, and is refused with another configuration. */
static void a_copy_goes_on_like_the_original(void **state) {
    gpump_scheduler_config config = small(4, GPUMP_TECHNIQUE_SWITCH);
    void *memory, *copy;
    size_t bytes;
    gpump_scheduler *s = make(&config, &memory), *t;
    gpump_scheduler_action a, b;
    gpump_diag diag;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(submit(s, 0, 0, open_process(s, 0), 100, 4, 100), GPUMP_OK);
    expect(s, "equal", 0, GPUMP_SCHEDULER_KERNEL_START);
    copy = malloc(bytes);
    memcpy(copy, memory, bytes);
    assert_int_equal(gpump_adopt(&gpump_scheduler_component, copy, bytes, &config, &t, &diag), GPUMP_OK);
    assert_true(gpump_hash(&gpump_scheduler_component, s) == gpump_hash(&gpump_scheduler_component, t));
    for (uint64_t now = 0; now < 50; now++) {
        gpump_result x = gpump_scheduler_next(s, gpump_scheduler_find("equal"), now, &a);
        gpump_result y = gpump_scheduler_next(t, gpump_scheduler_find("equal"), now, &b);
        assert_int_equal(x, y);
        if (x == GPUMP_OK) assert_memory_equal(&a, &b, sizeof a);
        if (x == GPUMP_OK && a.kind == GPUMP_SCHEDULER_SETUP) {
            gpump_scheduler_report_ready(s, now, a.sm);
            gpump_scheduler_report_ready(t, now, a.sm);
        }
        assert_true(gpump_hash(&gpump_scheduler_component, s) == gpump_hash(&gpump_scheduler_component, t));
    }
    config.sms = 5;
    assert_int_equal(gpump_adopt(&gpump_scheduler_component, copy, bytes, &config, &t, &diag), GPUMP_ERROR_FORMAT);
    free(copy);
    free(memory);
}

/* Any 32-bit number is a priority, and the larger one goes first. */
static void any_priority_will_do(void **state) { /* the largest number is one like any other */
    gpump_scheduler_config config = small(2, GPUMP_TECHNIQUE_SWITCH);
    void *memory;
    gpump_scheduler *s = make(&config, &memory);
    uint32_t low = open_process(s, 0), high = open_process(s, 0);
    (void)state;
    assert_int_equal(gpump_scheduler_set_priority(s, 0, high, UINT32_MAX, 1), GPUMP_OK);
    assert_int_equal(submit(s, 0, 0, low, 8, 1, 8), GPUMP_OK);
    assert_int_equal(submit(s, 0, 1, high, 1, 1, 8), GPUMP_OK);
    assert_int_equal(expect(s, "ppq_shared", 0, GPUMP_SCHEDULER_KERNEL_START).queue, 1);
    assert_int_equal(expect(s, "ppq_shared", 0, GPUMP_SCHEDULER_KERNEL_START).queue, 0);
    assert_int_equal(expect(s, "ppq_shared", 0, GPUMP_SCHEDULER_SETUP).process, high);
    assert_int_equal(expect(s, "ppq_shared", 0, GPUMP_SCHEDULER_SETUP).process, low);
    expect_nothing(s, "ppq_shared", 0);
    free(memory);
}

/* Under time_slice each process has the SM for its slice, one after the other. */
static void time_slices_take_turns(void **state) {
    gpump_scheduler_config config = small(1, GPUMP_TECHNIQUE_SWITCH);
    const gpump_scheduler_policy *policy = gpump_scheduler_find("time_slice");
    uint64_t now = 0, turns = 0;
    gpump_block_ref block = {0, 0};
    uint32_t running = GPUMP_NONE;
    gpump_scheduler_action a;
    void *memory;
    gpump_scheduler *s;
    (void)state;
    config.slice_cycles = 100;
    s = make(&config, &memory);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(submit(s, 0, i, open_process(s, 0), 1000, 1, 100), GPUMP_OK);
    while (now < 1000) {
        while (gpump_scheduler_next(s, policy, now, &a) == GPUMP_OK) {
            if (a.kind == GPUMP_SCHEDULER_SETUP) {
                if (running != GPUMP_NONE) assert_int_equal(a.process, (running + 1) % 3);
                running = a.process;
                turns++;
                gpump_scheduler_report_ready(s, now, 0);
            }
            if (a.kind == GPUMP_SCHEDULER_ISSUE) block = a.block;
            if (a.kind == GPUMP_SCHEDULER_PREEMPT)
                assert_int_equal(gpump_scheduler_report_preempted(s, now, 0, block, 1), GPUMP_OK);
        }
        now = gpump_next_cycle(&gpump_scheduler_component, s);
    }
    assert_int_equal(turns, 10);
    free(memory);
}

/* Saving a block takes longer than a turn: a process that waits for an SM keeps its turn until it has one. */
static void a_turn_lasts_until_its_process_has_an_sm(void **state) {
    gpump_scheduler_config config = small(1, GPUMP_TECHNIQUE_SWITCH);
    const gpump_scheduler_policy *policy = gpump_scheduler_find("time_slice");
    uint64_t now = 0, saved_at = GPUMP_UNKNOWN, setups[3] = {0, 0, 0};
    gpump_block_ref block = {0, 0};
    gpump_scheduler_statistics statistics;
    gpump_scheduler_action a;
    void *memory;
    gpump_scheduler *s;
    (void)state;
    config.slice_cycles = 100;
    s = make(&config, &memory);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(submit(s, 0, i, open_process(s, 0), 1000, 1, 100), GPUMP_OK);
    while (now < 10000) {
        if (now >= saved_at) {
            assert_int_equal(gpump_scheduler_report_preempted(s, now, 0, block, 1), GPUMP_OK);
            saved_at = GPUMP_UNKNOWN;
        }
        while (gpump_scheduler_next(s, policy, now, &a) == GPUMP_OK) {
            if (a.kind == GPUMP_SCHEDULER_SETUP) {
                setups[a.process]++;
                gpump_scheduler_report_ready(s, now, 0);
            }
            if (a.kind == GPUMP_SCHEDULER_ISSUE) block = a.block;
            if (a.kind == GPUMP_SCHEDULER_PREEMPT) saved_at = now + 250;
        }
        now = gpump_next_cycle(&gpump_scheduler_component, s) < saved_at
                  ? gpump_next_cycle(&gpump_scheduler_component, s)
                  : saved_at;
    }
    gpump_get_statistics(&gpump_scheduler_component, s, &statistics);
    assert_int_equal(statistics.next_changes, 0); /* the SM went to whom it was vacated for */
    for (uint32_t i = 0; i < 3; i++) assert_true(setups[i] > 5);
    free(memory);
}

/* More kernels and SMs than a word has bits: 62 kernels of low priority fill 130 SMs, and 8 more, numbers 63 to 70,
 * take SMs from them, first beside the blocks that leave. Every table agrees with the others after every action. */
static void more_kernels_and_sms_than_a_word_has_bits(void **state) {
    gpump_scheduler_config config = small(130, GPUMP_TECHNIQUE_SWITCH);
    gpump_block_ref blocks[130][16];
    uint32_t owner[130][16], told[130], beside = 0, done = 0, low, high;
    gpump_scheduler_action action;
    gpump_scheduler *s;
    void *memory;
    (void)state;
    config.queues = config.active_kernels = 140;
    config.saved_blocks = 64;
    config.kernels_per_sm = 2;
    s = make(&config, &memory);
    memset(owner, 0, sizeof owner);
    memset(told, 0, sizeof told);
    low = open_process(s, 0);
    high = open_process(s, 1);
    for (uint32_t i = 0; i < 62; i++) /* the first on 69 SMs, each other one on one */
        assert_int_equal(submit(s, 0, i, low, i ? 2 : 138, 2, 64), GPUMP_OK);
    for (uint64_t now = 0; now < 4; now++) {
        if (now == 1)
            for (uint32_t i = 62; i < 70; i++) assert_int_equal(submit(s, now, i, high, 2, 2, 64), GPUMP_OK);
        if (now >= 2) /* the blocks that were told to leave are saved; then all others end */
            for (uint32_t sm = 0; sm < 130; sm++)
                for (uint32_t slot = 0; slot < 16; slot++) {
                    if (!owner[sm][slot] || (now == 2 && owner[sm][slot] != told[sm])) continue;
                    assert_int_equal(now == 2 ? gpump_scheduler_report_preempted(s, now, sm, blocks[sm][slot], 1)
                                              : gpump_scheduler_report_finished(s, now, sm, blocks[sm][slot]),
                                     GPUMP_OK);
                    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
                    owner[sm][slot] = 0;
                }
        while (gpump_scheduler_next(s, gpump_scheduler_find("ppq"), now, &action) == GPUMP_OK) {
            if (action.kind == GPUMP_SCHEDULER_PREEMPT) told[action.sm] = action.kernel;
            if (action.kind == GPUMP_SCHEDULER_SETUP) {
                assert_int_equal(gpump_scheduler_report_ready(s, now, action.sm), GPUMP_OK);
                if (action.beside) assert_int_equal(gpump_scheduler_report_room(s, now, action.sm, 1), GPUMP_OK);
            }
            if (action.kind == GPUMP_SCHEDULER_ISSUE) {
                blocks[action.sm][action.block.slot] = action.block;
                owner[action.sm][action.block.slot] = action.kernel;
                beside += now == 1;
            }
            done += action.kind == GPUMP_SCHEDULER_KERNEL_DONE;
            assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
        }
        if (now == 0) assert_int_equal(gpump_scheduler_look(s).idle_sm, GPUMP_NONE);
        if (now == 1) assert_int_equal(gpump_scheduler_look(s).reserved_sms, 8);
        if (now == 1) assert_int_equal(beside, 8); /* one block of each of the eight, as there was room for one */
    }
    for (uint32_t sm = 0; sm < 130; sm++) /* the saved blocks, which have come back */
        for (uint32_t slot = 0; slot < 16; slot++)
            if (owner[sm][slot])
                assert_int_equal(gpump_scheduler_report_finished(s, 4, sm, blocks[sm][slot]), GPUMP_OK);
    while (gpump_scheduler_next(s, gpump_scheduler_find("ppq"), 4, &action) == GPUMP_OK)
        done += action.kind == GPUMP_SCHEDULER_KERNEL_DONE;
    assert_int_equal(done, 70);
    free(memory);
}

/* An SM whose kernel has nothing left to issue becomes idle: at once when it is set up too late, or when its last block
 * ends. An idle SM has no action to hand over: the next event is the policy's decision. */
static void nothing_left_to_issue(void **state) {
    gpump_scheduler_config config = small(2, GPUMP_TECHNIQUE_SWITCH);
    gpump_scheduler_action first, second, action;
    gpump_block_ref blocks[2][2];
    gpump_scheduler *s;
    void *memory;
    (void)state;
    config.decision_cycles = 5;
    s = make(&config, &memory);
    assert_int_equal(submit(s, 0, 0, open_process(s, 0), 3, 2, 0), GPUMP_OK);
    assert_int_equal(expect(s, "fcfs", 0, GPUMP_SCHEDULER_KERNEL_START).kernel, 1);
    assert_int_equal(expect(s, "fcfs", 5, GPUMP_SCHEDULER_SETUP).sm, 0);
    assert_int_equal(expect(s, "fcfs", 5, GPUMP_SCHEDULER_SETUP).sm, 1);
    assert_int_equal(gpump_scheduler_report_ready(s, 6, 0), GPUMP_OK);
    first = expect(s, "fcfs", 6, GPUMP_SCHEDULER_ISSUE);
    second = expect(s, "fcfs", 6, GPUMP_SCHEDULER_ISSUE);
    assert_int_equal(gpump_scheduler_issue_extra(s, 6, 0, &action), GPUMP_OK);
    expect_nothing(s, "fcfs", 6);
    assert_int_equal(gpump_scheduler_look(s).sms[1].state, GPUMP_SCHEDULER_SM_RUNNING);
    assert_int_equal(gpump_scheduler_report_ready(s, 7, 1), GPUMP_OK); /* too late */
    assert_int_equal(gpump_scheduler_look(s).sms[1].state, GPUMP_SCHEDULER_SM_IDLE);
    assert_int_equal(gpump_scheduler_look(s).idle_sm, 1);
    assert_true(gpump_next_cycle(&gpump_scheduler_component, s) == 7 + 5);
    expect_nothing(s, "fcfs", 12);
    assert_true(gpump_next_cycle(&gpump_scheduler_component, s) == GPUMP_UNKNOWN);
    assert_int_equal(gpump_scheduler_report_finished(s, 13, 0, first.block), GPUMP_OK);
    assert_int_equal(gpump_scheduler_report_finished(s, 13, 0, second.block), GPUMP_OK);
    assert_int_equal(gpump_scheduler_report_finished(s, 13, 0, action.block), GPUMP_OK);
    assert_int_equal(expect(s, "fcfs", 13, GPUMP_SCHEDULER_KERNEL_DONE).queue, 0);
    expect_nothing(s, "fcfs", 20);
    /* Five blocks: two on each SM, and one that waits until SM 1 is asked to take it beyond its two. */
    assert_int_equal(submit(s, 20, 0, 0, 5, 2, 0), GPUMP_OK);
    assert_int_equal(expect(s, "fcfs", 20, GPUMP_SCHEDULER_KERNEL_START).kernel, 1);
    for (uint32_t sm = 0; sm < 2; sm++) {
        assert_int_equal(expect(s, "fcfs", 25, GPUMP_SCHEDULER_SETUP).sm, sm);
        assert_int_equal(gpump_scheduler_report_ready(s, 25, sm), GPUMP_OK);
        blocks[sm][0] = expect(s, "fcfs", 25, GPUMP_SCHEDULER_ISSUE).block;
        blocks[sm][1] = expect(s, "fcfs", 25, GPUMP_SCHEDULER_ISSUE).block;
    }
    expect_nothing(s, "fcfs", 25);
    assert_int_equal(gpump_scheduler_report_finished(s, 26, 0, blocks[0][0]), GPUMP_OK);
    assert_true(gpump_next_cycle(&gpump_scheduler_component, s) == 26);         /* SM 0 could take the fifth, */
    assert_int_equal(gpump_scheduler_issue_extra(s, 26, 1, &action), GPUMP_OK); /* but SM 1 does */
    assert_int_equal(gpump_scheduler_report_finished(s, 26, 0, blocks[0][1]), GPUMP_OK);
    assert_int_equal(gpump_scheduler_look(s).sms[0].state, GPUMP_SCHEDULER_SM_IDLE);
    assert_true(gpump_next_cycle(&gpump_scheduler_component, s) == 26 + 5);
    free(memory);
}

/* Each counter has a name, a unit and words, and differences are those of each field. */
static void statistics_have_names(void **state) {
    const char *name, *unit, *text;
    gpump_scheduler_statistics before, after, difference;
    uint64_t value;
    uint32_t i = 0;
    (void)state;
    for (; i < sizeof before / 8; i++) {
        (&before.submitted)[i] = i;
        (&after.submitted)[i] = 3 * i + 1;
    }
    gpump_statistics_diff(&gpump_scheduler_component, &before, &after, &difference);
    for (i = 0; i < sizeof before / 8; i++) assert_int_equal((&difference.submitted)[i], 2 * i + 1);
    i = 0;
    for (; gpump_statistics_field(&gpump_scheduler_component, &after, i, &name, &unit, &text, &value) == GPUMP_OK; i++)
        assert_true(*name && *unit && *text && value == 3 * i + 1);
    assert_int_equal(i, sizeof(gpump_scheduler_statistics) / 8);
    for (i = 0; gpump_scheduler_policy_at(i); i++) {
        assert_ptr_equal(gpump_scheduler_find(gpump_scheduler_policy_at(i)->name), gpump_scheduler_policy_at(i));
        assert_true(*gpump_scheduler_policy_at(i)->description);
    }
    assert_int_equal(i, 9);
    assert_null(gpump_scheduler_find("no such policy"));
}

/* The metrics of three runs are those that one calculates by hand. */
static void metrics_of_a_worked_example(
    void **state) { /* NTT 2, 4 and 1: ANTT 7/3, STP 1/2 + 1/4 + 1, fairness (1/4) / 1 */
    const gpump_metrics_run runs[] = {{10, 20}, {5, 20}, {7, 7}};
    const gpump_metrics_rate rates[] = {{1.0, 0.5}, {2.0, 0.5}, {3.0, 3.0}};
    const uint64_t latencies[] = {1, 5, 10, GPUMP_UNKNOWN};
    gpump_metrics m, n;
    gpump_diag diag;
    (void)state;
    assert_int_equal(gpump_metrics_compute(runs, 3, &m, &diag), GPUMP_OK);
    assert_true(m.antt > 2.3333 && m.antt < 2.3334);
    assert_true(m.stp == 1.75 && m.weighted_speedup == 1.75);
    assert_true(m.fairness == 0.25 && m.best_ntt == 1 && m.worst_ntt == 4);
    assert_true(m.harmonic_speedup * m.antt > 0.999999 && m.harmonic_speedup * m.antt < 1.000001);
    assert_int_equal(gpump_metrics_compute_rates(rates, 3, &n, &diag), GPUMP_OK);
    assert_true(n.antt == m.antt && n.stp == m.stp && n.fairness == m.fairness);
    assert_int_equal(gpump_metrics_compute(runs, 0, &m, &diag), GPUMP_ERROR_ARGUMENT);
    assert_true(gpump_metrics_violation_rate(latencies, 4, 5) == 0.5);
    assert_true(gpump_metrics_violation_rate(latencies, 0, 5) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_is_the_papers),
        cmocka_unit_test(a_kernel_from_launch_to_end),
        cmocka_unit_test(preempted_blocks_come_back_first),
        cmocka_unit_test(no_context_memory_means_drain),
        cmocka_unit_test(the_space_that_is_left_decides),
        cmocka_unit_test(full_tables_refuse),
        cmocka_unit_test(one_process_at_a_time_under_fcfs),
        cmocka_unit_test(decisions_take_a_cycle_per_sm),
        cmocka_unit_test(a_copy_goes_on_like_the_original),
        cmocka_unit_test(any_priority_will_do),
        cmocka_unit_test(time_slices_take_turns),
        cmocka_unit_test(a_turn_lasts_until_its_process_has_an_sm),
        cmocka_unit_test(more_kernels_and_sms_than_a_word_has_bits),
        cmocka_unit_test(nothing_left_to_issue),
        cmocka_unit_test(statistics_have_names),
        cmocka_unit_test(metrics_of_a_worked_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
