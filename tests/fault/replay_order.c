/* labels: unit */
/* Where the thesis's text is wrong: through memory, and with instructions wider than a block's share of the log. Each
 * scene runs on the toy pipeline as printed and as built here. */
#include "test.h"
#include "../../examples/toy_pipeline.h"

enum { ABSENT = 0, THERE = 4 }; /* register values: addresses on page 0, which is absent, and on page 3 */

static toy machine;

/* Runs one warp of `program` under a preset of scheme queue or log: 1 when its registers and memory are right. */
static int run(const toy_instruction *program, uint32_t count, const char *preset, uint32_t order, uint32_t wide,
               uint32_t log_units, uint32_t service) {
    static uint32_t registers[TOY_WARPS][TOY_REGISTERS][TOY_LANES], memory[TOY_WORDS];
    toy *t = &machine;
    gpump_replay_config config;
    memset(t, 0, sizeof *t);
    for (uint32_t pc = 0; pc < TOY_PROGRAM; pc++) t->program[pc].op = TOY_EXIT;
    memcpy(t->program, program, count * sizeof *program);
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, preset, NULL), GPUMP_OK);
    config.order = order;
    config.wide = wide;
    if (log_units) config.log_bytes = TOY_LANES * 8 * TOY_BLOCK_SLOTS * log_units;
    t->check_cycles = 4;
    t->data_cycles = 3;
    t->service_cycles = service;
    t->issue_width = 2;
    assert_int_equal(toy_init(t, &config), GPUMP_OK);
    for (uint32_t i = 0; i < TOY_WORDS; i++) t->memory[i] = memory[i] = 1000 + i;
    for (uint32_t r = 0; r < TOY_REGISTERS; r++)
        for (uint32_t lane = 0; lane < TOY_LANES; lane++) registers[0][r][lane] = registers[1][r][lane] = 70 + r;
    for (uint32_t lane = 0; lane < TOY_LANES; lane++) {
        registers[0][1][lane] = lane ? THERE : ABSENT; /* R1 touches both pages */
        registers[0][2][lane] = THERE;
        registers[0][3][lane] = ABSENT;
    }
    memcpy(registers[1], registers[0], sizeof registers[1]);
    t->page_comes[0] = GPUMP_UNKNOWN;
    assert_true(toy_place(t, 0, registers));
    assert_int_equal(gpump_replay_close(t->replay, t->blocks[0].warps[1]), GPUMP_OK);
    t->warps[t->blocks[0].warps[1]].exited = 1;
    while (!t->warps[t->blocks[0].warps[0]].exited && !*t->trouble) toy_cycle(t);
    toy_reference(t->program, 0, registers[0], memory);
    return !*t->trouble && !memcmp(registers[0], t->final[0], sizeof registers[0]) &&
           !memcmp(memory, t->memory, sizeof memory);
}

static void expect_wrong_as_printed(const toy_instruction *program, uint32_t count, uint32_t service) {
    static const char *const presets[] = {"queue", "log16"};
    for (uint32_t i = 0; i < 2; i++) {
        assert_false(run(program, count, presets[i], GPUMP_REPLAY_PRINTED, 1, 0, service));
        assert_string_equal(machine.trouble, ""); /* it ends, with wrong values */
        assert_true(run(program, count, presets[i], GPUMP_REPLAY_CLASS, 1, 0, service));
        assert_true(run(program, count, presets[i], GPUMP_REPLAY_ADDRESS, 1, 0, service));
    }
}

/* A store that touches an absent page is squashed whole; a younger load of its present page reads old data. */
static void test_load_passes_squashed_store(void **state) {
    const toy_instruction program[] = {{TOY_STORE, 0, 1, 7, 0}, {TOY_LOAD, 8, 2, 0, 0}};
    (void)state;
    expect_wrong_as_printed(program, 2, 50);
}

/* An older load faults, a younger store to one of its addresses passes; the replayed load reads the new value. */
static void test_store_passes_squashed_load(void **state) {
    const toy_instruction program[] = {{TOY_LOAD, 8, 1, 0, 0}, {TOY_STORE, 0, 2, 7, 0}};
    (void)state;
    expect_wrong_as_printed(program, 2, 50);
}

/* One page, which comes between the check of the store and that of the load. */
static void test_page_comes_between_checks(void **state) {
    const toy_instruction program[] = {{TOY_STORE, 0, 3, 7, 0}, {TOY_LOAD, 8, 3, 0, 0}};
    (void)state;
    expect_wrong_as_printed(program, 2, 1);
}

/* ADDRESS lets a load pass a squashed store to other words, which CLASS does not. */
static void test_address_lets_disjoint_pass(void **state) {
    const toy_instruction program[] = {{TOY_STORE, 0, 3, 7, 0}, {TOY_LOAD, 8, 2, 0, 0}};
    gpump_replay_statistics s;
    (void)state;
    assert_true(run(program, 2, "queue", GPUMP_REPLAY_CLASS, 1, 0, 50));
    gpump_get_statistics(&gpump_replay_component, machine.replay, &s);
    assert_int_equal(s.nacked, 1);
    assert_true(run(program, 2, "queue", GPUMP_REPLAY_ADDRESS, 1, 0, 50));
    gpump_get_statistics(&gpump_replay_component, machine.replay, &s);
    assert_int_equal(s.nacked, 0);
    assert_int_equal(s.squashed, 1);
}

/* 8 KB for 16 blocks are two log entries per block: a store of 16 bytes per lane takes three and waits for ever. */
static void test_wide_store_deadlocks_as_printed(void **state) {
    const toy_instruction program[] = {{TOY_WIDE, 4, 2, 7, 0}, {TOY_ADD, 4, 4, 0, 1}};
    gpump_replay_statistics s;
    (void)state;
    assert_false(run(program, 2, "log8", GPUMP_REPLAY_CLASS, GPUMP_REPLAY_WIDE_WAITS, 2, 50));
    assert_non_null(
        strstr(machine.trouble, "warp 0 has not moved since cycle 1: the block's share of the operand log"));
    assert_int_equal(gpump_replay_may_issue_memory(machine.replay, machine.blocks[0].warps[0], 3),
                     GPUMP_REASON_LOG_ROOM);
    assert_true(run(program, 2, "log8", GPUMP_REPLAY_CLASS, GPUMP_REPLAY_WIDE_HOLDS, 2, 50));
    gpump_get_statistics(&gpump_replay_component, machine.replay, &s);
    assert_int_equal(s.held, 1);
    assert_true(run(program, 2, "log8", GPUMP_REPLAY_CLASS, GPUMP_REPLAY_WIDE_WAITS, 3, 50));
}

/* The presets' own numbers: two entries for each of 16 blocks at 8 KB, so loads and stores pass, and wide ones hold. */
static void test_smallest_log(void **state) {
    static uint64_t memory[1 << 16];
    gpump_replay_config config;
    gpump_replay *r;
    (void)state;
    assert_int_equal(gpump_replay_log_units(0, 0), 1);
    assert_int_equal(gpump_replay_log_units(1, 8), 2);
    assert_int_equal(gpump_replay_log_units(1, 16), 3);
    assert_int_equal(gpump_replay_log_units(2, 4), 3);
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log8", NULL), GPUMP_OK);
    config.wide = GPUMP_REPLAY_WIDE_WAITS;
    assert_int_equal(gpump_init(&gpump_replay_component, memory, sizeof memory, &config, &r, NULL), GPUMP_OK);
    assert_int_equal(gpump_replay_open(r, 0, 3), GPUMP_OK);
    assert_int_equal(gpump_replay_may_issue_memory(r, 0, 2), GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_may_issue_memory(r, 0, 3), GPUMP_REASON_LOG_ROOM);
    assert_int_equal(gpump_replay_set_blocks(r, 10), GPUMP_OK); /* 32 entries for 10 blocks: three each */
    assert_int_equal(gpump_replay_may_issue_memory(r, 0, 3), GPUMP_REASON_YES);
    assert_int_equal(gpump_replay_set_blocks(r, 17), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_replay_set_blocks(r, 0), GPUMP_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_passes_squashed_store),      cmocka_unit_test(test_store_passes_squashed_load),
        cmocka_unit_test(test_page_comes_between_checks),       cmocka_unit_test(test_address_lets_disjoint_pass),
        cmocka_unit_test(test_wide_store_deadlocks_as_printed), cmocka_unit_test(test_smallest_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
