/* labels: unit */
/* What a command costs that brings another process onto the SMs, and commands that were launched ahead of the policy:
 * one SM, kernels of one block. */
#include <math.h>
#include "test.h"

typedef struct world {
    gpump_scheduler *scheduler;
    gpump_scheduler_config config;
    const gpump_scheduler_policy *policy;
    void *memory;
    uint64_t now, ended;      /* ended: when the last block left the SM */
    uint32_t order[64], runs; /* processes of the kernels that ran, in their order */
    uint64_t gap[64];         /* cycles from `ended` to the kernel's SETUP */
} world;

static void make(world *w, const char *policy, uint32_t launch_ahead, uint32_t launch_refill) {
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &w->config, "k20c", NULL), GPUMP_OK);
    w->config.sms = 1;
    w->config.blocks_per_sm = 1;
    w->config.saved_blocks = 1;
    w->config.decision_cycles = 0;
    w->config.launch_ahead = launch_ahead;
    w->config.launch_refill = launch_refill;
    w->policy = gpump_scheduler_find(policy);
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &w->config, &bytes, NULL), GPUMP_OK);
    w->memory = malloc(bytes);
    assert_int_equal(gpump_init(&gpump_scheduler_component, w->memory, bytes, &w->config, &w->scheduler, NULL),
                     GPUMP_OK);
    for (uint32_t i = 0; i < 2; i++) {
        gpump_scheduler_process process;
        uint32_t row;
        memset(&process, 0, sizeof process);
        process.priority = i;
        assert_int_equal(gpump_scheduler_open(w->scheduler, w->now, &process, &row, NULL), GPUMP_OK);
    }
}

static void launch(world *w, uint32_t process, uint32_t pending) {
    gpump_scheduler_command command;
    memset(&command, 0, sizeof command);
    command.process = process;
    command.blocks = command.blocks_per_sm = 1;
    command.saved_limit = 1;
    command.pending = pending;
    assert_int_equal(gpump_scheduler_submit(w->scheduler, w->now, process, &command, NULL), GPUMP_OK);
}

/* Runs the next kernel to its end, in 100 cycles. Returns its process. */
static uint32_t run_one(world *w) {
    gpump_scheduler_action a;
    gpump_block_ref block = {0, 0};
    uint32_t process = GPUMP_NONE;
    for (;;) {
        const gpump_result result = gpump_scheduler_next(w->scheduler, w->policy, w->now, &a);
        assert_int_equal(gpump_check(&gpump_scheduler_component, w->scheduler, NULL), GPUMP_OK);
        if (result == GPUMP_EMPTY) {
            if (process != GPUMP_NONE) break;
            w->now = gpump_next_cycle(&gpump_scheduler_component, w->scheduler);
            assert_true(w->now != GPUMP_UNKNOWN);
            continue;
        }
        assert_int_equal(result, GPUMP_OK);
        if (a.kind == GPUMP_SCHEDULER_SETUP) {
            w->gap[w->runs & 63] = w->now - w->ended;
            assert_int_equal(gpump_scheduler_report_ready(w->scheduler, w->now, a.sm), GPUMP_OK);
        }
        if (a.kind == GPUMP_SCHEDULER_ISSUE) block = a.block, process = a.process;
    }
    w->ended = w->now += 100;
    assert_int_equal(gpump_scheduler_report_finished(w->scheduler, w->now, 0, block), GPUMP_OK);
    assert_int_equal(gpump_scheduler_next(w->scheduler, w->policy, w->now, &a), GPUMP_OK);
    assert_int_equal(a.kind, GPUMP_SCHEDULER_KERNEL_DONE);
    w->order[w->runs++ & 63] = process;
    return process;
}

/* A change of process costs the cycles of a command, which spread as configured. */
static void a_change_of_process_costs(void **state) {
    world w;
    gpump_scheduler_statistics s;
    double sum = 0, least = HUGE_VAL, above = 0;
    const uint32_t changes = 20000;
    (void)state;
    memset(&w, 0, sizeof w);
    make(&w, "fcfs", 0, 0);
    w.config.command_least_cycles = 1000;
    w.config.command_spread_cycles = 200;
    w.config.command_mean_cycles = 1400; /* a tail of 300 */
    assert_int_equal(gpump_init(&gpump_scheduler_component, w.memory, SIZE_MAX, &w.config, &w.scheduler, NULL),
                     GPUMP_OK);
    for (uint32_t i = 0; i < 2; i++) {
        gpump_scheduler_process process;
        uint32_t row;
        memset(&process, 0, sizeof process);
        assert_int_equal(gpump_scheduler_open(w.scheduler, 0, &process, &row, NULL), GPUMP_OK);
    }
    launch(&w, 0, 0);
    run_one(&w); /* the SM had no process before */
    assert_int_equal(w.gap[0], 0);
    launch(&w, 0, 0);
    run_one(&w); /* nor does a kernel of the same process cost anything */
    assert_int_equal(w.gap[1], 0);
    for (uint32_t i = 0; i < changes; i++) {
        double gap;
        launch(&w, ~i & 1, 0);
        run_one(&w);
        gap = (double)w.gap[(w.runs - 1) & 63];
        sum += gap;
        if (gap < least) least = gap;
        above += gap > 1100 + 300 * log(20); /* where an exponential tail alone leaves 5 % */
    }
    assert_true(least >= 1000 && least < 1010);
    assert_true(fabs(sum / changes - 1400) < 14);
    assert_true(above / changes > 0.04 && above / changes < 0.07);
    gpump_get_statistics(&gpump_scheduler_component, w.scheduler, &s);
    assert_int_equal(s.commands_paid, changes);
    assert_true(fabs((double)s.command_cycles - sum) < 1);
    free(w.memory);
}

/* Returns how many kernels of the lower process run before the urgent one, which comes after `before` of them. */
static uint32_t still_run(uint32_t launch_ahead, uint32_t launch_refill, uint32_t before) {
    world w;
    uint32_t left = 64, count = 0;
    memset(&w, 0, sizeof w);
    make(&w, "npq", launch_ahead, launch_refill);
    launch(&w, 0, --left);
    for (uint32_t i = 0; i < before; i++) {
        assert_int_equal(run_one(&w), 0);
        launch(&w, 0, --left);
    }
    if (before) { /* the next kernel is running when the urgent command comes */
        gpump_scheduler_action a;
        assert_int_equal(gpump_scheduler_next(w.scheduler, w.policy, w.now, &a), GPUMP_OK);
        assert_int_equal(a.kind, GPUMP_SCHEDULER_KERNEL_START);
    }
    launch(&w, 1, 0);
    while (run_one(&w) == 0) {
        count++;
        launch(&w, 0, --left);
    }
    assert_true(w.order[(w.runs - 1) & 63] == 1);
    assert_int_equal(gpump_scheduler_abort(w.scheduler, w.now, 0), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_scheduler_component, w.scheduler, NULL), GPUMP_OK);
    free(w.memory);
    return count;
}

/* A process runs on until its launched commands are used up, and no longer. */
static void launched_commands_run_out(void **state) {
    (void)state;
    assert_int_equal(still_run(0, 0, 0), 0); /* the policy prefers the urgent one */
    assert_int_equal(still_run(0, 0, 3), 1); /* a gate per kernel: the running one ends */
    for (uint32_t before = 1; before < 40; before++) {
        /* eight are launched; at four, four more: 8 7 6 5 8 7 6 5 ... */
        assert_int_equal(still_run(7, 4, before), 8 - before % 4);
        assert_int_equal(still_run(7, 1, before), 8); /* one at a time keeps it full */
    }
    assert_int_equal(still_run(7, 4, 60), 4); /* nothing is launched that is not there: 64 in all */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_change_of_process_costs),
                                       cmocka_unit_test(launched_commands_run_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
