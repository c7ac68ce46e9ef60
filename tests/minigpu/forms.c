/* labels: equivalence unit link: minigpu_core */
/* The forms of an SM's code (machine/sm_form.h) compute the same, to the last bit of the machine, whoever is preempted
 * meanwhile; and a machine with a part that the plain form lacks runs in the general one. In the general form no SM
 * goes ahead of the others (machine/ahead.h); in the others SMs do, which nobody may notice at any cycle. */
#include "test.h"

#include "machine/ahead.h"
#include "machine/machine.h"
#include "machine/sm_cycle.h"
#include "machine/sm_form.h"
#include "preemption/preemption.h"

static launch_file launch;

static machine *build(const char *path, const char *config, machine_options *options) {
    char full[512], error[LAUNCH_ERROR_BYTES];
    machine *m;
    options->config = config;
    snprintf(full, sizeof full, "%s/%s", GPUMP_SOURCE_DIR, path);
    if (launch_file_read(&launch, full, error)) fail_msg("%s", error);
    if (!(m = machine_build(&launch, options, error))) fail_msg("%s: %s", path, error);
    return m;
}

static void end(machine *m) {
    machine_free(m);
    launch_file_free(&launch);
}

/* The hash of the machine at the end of a run in which SM 0 is preempted at `preempt`. The general form does without
 * what a plain machine allows: results stand in their records until they commit, and the scoreboard holds sources. */
static uint64_t run(const char *path, const char *config, uint32_t form, uint64_t preempt, uint32_t technique) {
    machine_options options;
    machine *m;
    uint64_t hash;
    machine_options_default(&options);
    m = build(path, config, &options);
    m->config.sm_form = form;
    if (form == SM_FORM_GENERAL) m->plain = m->sources_timed = 0;
    if (preempt && !machine_run(m, preempt)) preemption_request(m, m->sms[0], technique, 0, 0);
    if (machine_run(m, NEVER) != 1) fail_msg("%s in form %u: %s", path, form, m->error);
    hash = machine_hash(m);
    end(m);
    return hash;
}

/* Each form of the SM's loop that can run a kernel ends in the same state as the general form. */
static void test_forms_compute_the_same(void **state) {
    static const char *const files[] = {"hotspot",   "pathfinder", "sgemm",  "spmv", "bfs_1",
                                        "histogram", "tpacf",      "lavamd", "lbm",  "mri_gridding"};
    static const char *const configs[] = {NULL, "memory_model=1", "scheduler=1,sources_released=2", "l1_tlb_entries=32",
                                          "issue_queue_entries=96"};
    uint32_t f, c, form;
    (void)state;
    for (f = 0; f < sizeof files / sizeof *files; f++) {
        char path[256];
        snprintf(path, sizeof path, "examples/minigpu/kernels/%s/small.yaml", files[f]);
        for (c = 0; c < sizeof configs / sizeof *configs; c++) {
            const uint64_t preempt = 300 + 97 * c + 31 * f;
            const uint32_t technique = c == 1 ? GPUMP_TECHNIQUE_FLUSH : GPUMP_TECHNIQUE_SWITCH;
            const uint64_t general = run(path, configs[c], SM_FORM_GENERAL, preempt, technique);
            for (form = 0; form <= SM_FORM_PLAIN; form++)
                if (run(path, configs[c], form, preempt, technique) != general)
                    fail_msg("%s, %s: form %u ends elsewhere", files[f], configs[c], form);
        }
    }
}

/* Parameters are constants of simple instructions, and a loop sets them anew for each of its rounds. */
static void test_loops_set_parameters(void **state) {
    static const char *const path = "examples/minigpu/launches/gaussian.yaml";
    const uint64_t general = run(path, NULL, SM_FORM_GENERAL, 0, 0);
    uint32_t form;
    (void)state;
    for (form = 0; form <= SM_FORM_PLAIN; form++)
        if (run(path, NULL, form, 0, 0) != general) fail_msg("%s: form %u ends elsewhere", path, form);
}

/* A machine whose kernels all come from traces has a plain form of its own. Its memory is too large to be compared: the
 * tags in its registers are compared with the trace at each instruction. Returns a hash of its cycles and counters. */
static uint64_t run_trace(const char *config, uint32_t form) {
    machine_options options;
    machine *m;
    uint64_t hash;
    uint32_t i;
    machine_options_default(&options);
    m = build("examples/minigpu/traces/pathfinder/kernelslist.g", config, &options);
    m->config.sm_form = form;
    if (form == SM_FORM_GENERAL) m->plain = m->sources_timed = 0;
    if (form == SM_FORM_PLAIN) assert_true(sm_form_choose(m) == sm_cycle_traced);
    if (!machine_run(m, 900)) preemption_request(m, m->sms[0], GPUMP_TECHNIQUE_SWITCH, 0, 0);
    if (machine_run(m, NEVER) != 1) fail_msg("form %u: %s", form, m->error);
    hash = gpump_hash_u64(GPUMP_HASH_SEED, m->now);
    for (i = 0; i < m->sm_count; i++)
        hash = gpump_hash_bytes(hash, &m->sms[i]->statistics, sizeof m->sms[i]->statistics);
    end(m);
    return hash;
}

/* Each form of the SM's loop that can run a trace ends in the same state as the general form. */
static void test_forms_run_a_trace_alike(void **state) {
    static const char *const configs[] = {NULL, "memory_model=1", "scheduler=1,sources_released=2"};
    uint32_t c, form;
    (void)state;
    for (c = 0; c < sizeof configs / sizeof *configs; c++) {
        const uint64_t general = run_trace(configs[c], SM_FORM_GENERAL);
        for (form = 0; form <= SM_FORM_PLAIN; form++)
            if (run_trace(configs[c], form) != general) fail_msg("%s: form %u ends elsewhere", configs[c], form);
    }
}

/* Of the constants of all kernels' instructions. */
static uint64_t constants_hash(const machine *m) {
    uint64_t hash = GPUMP_HASH_SEED;
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        const lanes_quick *end = &m->kernels[i].info[m->kernels[i].program->count].quick;
        assert_true(end->from[0] > 0);
        hash = gpumpi_hash_u32s(hash, end->constants, end->from[0]);
    }
    return hash;
}

/* They are part of the machine: a copy of its memory, taken in one round and put back in a later one, brings them back.
 */
static void test_a_copy_has_its_parameters(void **state) {
    machine_options options;
    uint64_t hash, constants;
    machine *m;
    void *copy;
    (void)state;
    machine_options_default(&options);
    m = build("examples/minigpu/launches/gaussian.yaml", NULL, &options);
    assert_int_equal(machine_run(m, 20000), 0);
    assert_non_null(copy = arena_checkpoint(&m->arena));
    constants = constants_hash(m);
    assert_int_equal(machine_run(m, 60000), 0);
    hash = machine_hash(m);
    assert_true(constants_hash(m) != constants);
    arena_restore(&m->arena, copy);
    assert_true(constants_hash(m) == constants);
    assert_int_equal(machine_run(m, 60000), 0);
    assert_int_equal(machine_hash(m), hash);
    free(copy);
    end(m);
}

static int is_plain(sm_cycle_form *form) { return form == sm_cycle_plain || form == sm_cycle_plain_avx2; }

/* A machine with a feature that the plain form of the SM's loop lacks is given the general form. */
static void test_what_the_plain_form_lacks_wants_the_general_one(void **state) {
    machine_options options;
    machine *m;
    (void)state;
    machine_options_default(&options);
    m = build("examples/minigpu/kernels/saxpy/small.yaml", NULL, &options);
    assert_true(is_plain(sm_form_choose(m)));
    end(m);
    machine_options_default(&options);
    m = build("examples/minigpu/kernels/saxpy/small.yaml", "sm_form=2", &options);
    assert_true(sm_form_choose(m) == sm_cycle_plain);
    end(m);
    machine_options_default(&options);
    m = build("examples/minigpu/kernels/saxpy/small.yaml", "l1_tlb_entries=32", &options);
    assert_true(!is_plain(sm_form_choose(m)));
    end(m);
    machine_options_default(&options);
    m = build("examples/minigpu/kernels/saxpy/small.yaml", "issue_queue_entries=96", &options);
    assert_true(!is_plain(sm_form_choose(m)));
    end(m);
    machine_options_default(&options);
    options.regions = 1;
    m = build("examples/minigpu/kernels/saxpy/small.yaml", NULL, &options);
    assert_true(!is_plain(sm_form_choose(m)));
    end(m);
}

/* Preempted at any of many cycles in a row, the forms end in the same state: a miss leaves its queue a cycle early in
 * the plain form, and a context that begins to move in that very cycle finds the network as if it had not. */
static void test_forms_are_preempted_alike_at_each_cycle(void **state) {
    static const char *const configs[] = {NULL, "memory_model=1"};
    uint32_t c, cycle;
    (void)state;
    for (c = 0; c < sizeof configs / sizeof *configs; c++)
        for (cycle = 300; cycle < 500; cycle++) {
            const char *const path = "examples/minigpu/kernels/bfs_1/small.yaml";
            const uint64_t expected = run(path, configs[c], SM_FORM_GENERAL, cycle, GPUMP_TECHNIQUE_SWITCH);
            if (run(path, configs[c], SM_FORM_FASTEST, cycle, GPUMP_TECHNIQUE_SWITCH) != expected)
                fail_msg("%s, preempted at cycle %u: another machine", configs[c] ? configs[c] : "", cycle);
        }
}

/* Hashes of the machine at every `step`-th cycle of a run, until it ends; returns how many. */
static uint32_t hashes_on_the_way(const char *path, const char *config, uint32_t form, uint32_t skip_idle,
                                  uint64_t step, uint64_t *hashes, uint32_t most) {
    machine_options options;
    machine *m;
    uint32_t count = 0;
    machine_options_default(&options);
    options.skip_idle = skip_idle;
    m = build(path, config, &options);
    m->config.sm_form = form;
    assert_int_equal(ahead_is_possible(m), form != SM_FORM_GENERAL);
    assert_true(m->sources_timed);
    if (form == SM_FORM_GENERAL) m->sources_timed = 0; /* the scoreboard holds sources instead */
    while (count < most && !machine_run(m, m->now + step)) hashes[count++] = machine_hash(m);
    if (m->failed) fail_msg("%s in form %u: %s", path, form, m->error);
    if (count < most) hashes[count++] = machine_hash(m);
    end(m);
    return count;
}

/* The first three have more blocks than the machine has room for. */
static void test_nobody_sees_an_sm_ahead(void **state) {
    static const char *const files[] = {"hotspot/launch",  "pathfinder/launch", "saxpy/launch", "sgemm/small",
                                        "histogram/small", "bfs_1/small",       "lavamd/small", "tpacf/small"};
    static const char *const configs[] = {
        NULL, "memory_model=1,network_cycles=60", "network_cycles=300,l1_misses=2,l1_merges=1,miss_queue_entries=2",
        "alu_cycles=1,fetch_cycles=1,operand_read_cycles=1,shared_cycles=1,l1_cycles=1",
        "network_input_flits=5,network_output_flits=5,l2_queue_entries=1,network_cycles=1,l2_cycles=1"};
    enum { MOST = 40 };
    uint32_t f, c, i;
    (void)state;
    for (f = 0; f < sizeof files / sizeof *files; f++) {
        char path[256];
        snprintf(path, sizeof path, "examples/minigpu/kernels/%s.yaml", files[f]);
        for (c = f < 3 ? f : 0; c < (f < 3 ? f + 1 : sizeof configs / sizeof *configs); c++) {
            uint64_t in_turn[MOST], ahead[MOST];
            const uint64_t step = (f < 3 ? 997 : 101) + 16 * f + 3 * c;
            const uint32_t count = hashes_on_the_way(path, configs[c], SM_FORM_GENERAL, 1, step, in_turn, MOST);
            assert_int_equal(hashes_on_the_way(path, configs[c], SM_FORM_FASTEST, 1, step, ahead, MOST), count);
            for (i = 0; i < count; i++)
                if (ahead[i] != in_turn[i])
                    fail_msg("%s, %s: another machine at cycle %u", files[f], configs[c], (uint32_t)(step * (i + 1)));
        }
    }
}

/* A run that stops at a cycle has simulated the memory up to there and no further, as one that simulates every cycle.
 */
static void test_memory_alone_stops_where_the_run_stops(void **state) {
    static const char *const configs[] = {NULL, "memory_model=1"};
    enum { MOST = 400 };
    uint32_t c, i;
    (void)state;
    for (c = 0; c < sizeof configs / sizeof *configs; c++) {
        const char *const path = "examples/minigpu/kernels/saxpy/small.yaml";
        uint64_t each[MOST], skipping[MOST];
        const uint32_t count = hashes_on_the_way(path, configs[c], SM_FORM_GENERAL, 0, 7, each, MOST);
        assert_int_equal(hashes_on_the_way(path, configs[c], SM_FORM_GENERAL, 1, 7, skipping, MOST), count);
        for (i = 0; i < count; i++)
            if (each[i] != skipping[i])
                fail_msg("%s: another machine at cycle %u", configs[c] ? configs[c] : "", 7 * (i + 1));
    }
}

/* Of several SMs the one that fails first is reported, in the cycle in which it fails. */
static void test_errors_are_those_of_sms_in_turn(void **state) {
    static const char *const files[] = {"shared_outside", "traps", "misaligned", "reads_outside"};
    uint32_t f, form;
    (void)state;
    for (f = 0; f < sizeof files / sizeof *files; f++) {
        char path[256], error[LAUNCH_ERROR_BYTES] = "";
        uint64_t cycle = 0;
        snprintf(path, sizeof path, "tests/minigpu/bad_run/%s.yaml", files[f]);
        for (form = SM_FORM_GENERAL; form <= SM_FORM_PLAIN; form++) {
            machine_options options;
            machine *m;
            machine_options_default(&options);
            m = build(path, NULL, &options);
            m->config.sm_form = form;
            assert_int_equal(machine_run(m, NEVER), -1);
            if (form == SM_FORM_GENERAL) {
                cycle = m->now;
                memcpy(error, m->error, sizeof error);
            }
            assert_int_equal(m->now, cycle);
            assert_string_equal(m->error, error);
            end(m);
        }
    }
}

/* A run that a flush every 1,000 cycles never lets end fails before the SMs run that cycle: none of them runs ahead. */
static void test_nothing_runs_ahead_of_a_failure(void **state) {
    uint64_t executed[SM_FORM_PLAIN + 1];
    uint32_t form;
    (void)state;
    for (form = SM_FORM_GENERAL; form <= SM_FORM_PLAIN; form++) {
        machine_options options;
        machine *m;
        machine_options_default(&options);
        options.preempt_cycle = options.preempt_every = 1000;
        options.technique = GPUMP_TECHNIQUE_FLUSH;
        m = build("examples/minigpu/kernels/mri_gridding/small.yaml", NULL, &options);
        m->config.sm_form = form;
        assert_int_equal(machine_run(m, NEVER), -1);
        executed[form] = m->kernels[0].warp_instructions;
        end(m);
    }
    assert_int_equal(executed[SM_FORM_PLAIN], executed[SM_FORM_GENERAL]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_compute_the_same),
        cmocka_unit_test(test_loops_set_parameters),
        cmocka_unit_test(test_forms_are_preempted_alike_at_each_cycle),
        cmocka_unit_test(test_forms_run_a_trace_alike),
        cmocka_unit_test(test_a_copy_has_its_parameters),
        cmocka_unit_test(test_what_the_plain_form_lacks_wants_the_general_one),
        cmocka_unit_test(test_nobody_sees_an_sm_ahead),
        cmocka_unit_test(test_memory_alone_stops_where_the_run_stops),
        cmocka_unit_test(test_errors_are_those_of_sms_in_turn),
        cmocka_unit_test(test_nothing_runs_ahead_of_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
