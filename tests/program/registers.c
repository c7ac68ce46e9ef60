/* labels: unit property */
#include "program/oracle_program.h"

static void check_form(const gpump_program *program, const gpump_program *allocated,
                       const gpump_registers_report *report, const gpump_registers_config *config, uint64_t seed,
                       uint64_t n) {
    uint32_t i, loads = 0, stores = 0;
    const uint32_t *origin = gpump_program_origin(allocated);
    test_check(report->registers <= config->registers && report->predicates <= config->predicates, seed, n);
    test_check(gpump_program_registers(allocated) == report->registers + report->predicates, seed, n);
    for (i = 0; i < gpump_program_instructions(allocated); i++) {
        gpump_instruction in, old;
        gpump_program_instruction(allocated, i, &in);
        loads += in.operation == GPUMP_OP_SPILL_LOAD;
        stores += in.operation == GPUMP_OP_SPILL_STORE;
        if (origin[i] == GPUMP_NONE) {
            test_check(in.operation == GPUMP_OP_SPILL_LOAD || in.operation == GPUMP_OP_SPILL_STORE ||
                           in.operation == GPUMP_OP_CONSTANT,
                       seed, n);
            continue;
        }
        gpump_program_instruction(program, origin[i], &old);
        test_check(old.operation == in.operation && old.tag == in.tag && old.def_count == in.def_count &&
                       old.use_count == in.use_count,
                   seed, n);
    }
    test_check(loads == report->spill_loads && stores == report->spill_stores, seed, n);
    if (!report->spilled && !report->rematerialised) test_check(report->registers >= report->peak, seed, n);
}

static void allocated_programs_compute_the_same(void **state) {
    static draft d;
    static oracle_machine before, after;
    uint64_t seed = test_seed(), random = seed, ran = 0, spilling = 0, folded = 0, used = 0, peaks = 0;
    (void)state;
    for (uint64_t n = 0; n < test_cases(3000); n++) {
        gpump_program *program = draft_random(&d, &random, 10 + gpump_random_below(&random, 60), 4, 8, 1, NULL),
                      *allocated;
        gpump_registers_config config;
        gpump_registers_report report;
        gpump_result result;
        gpump_diag diag;
        test_check(gpump_registers_config_preset(&config, gpump_random_below(&random, 2) ? "fermi" : "kepler") ==
                       GPUMP_OK,
                   seed, n);
        if (gpump_random_below(&random, 2)) config.registers = 8 + gpump_random_below(&random, 8);
        if (gpump_random_below(&random, 2)) config.predicates = 2 + gpump_random_below(&random, 3);
        config.fold_parameters = gpump_random_below(&random, 2);
        config.sink = gpump_random_below(&random, 2);
        result = gpump_registers_allocate(program, &config, &allocated, &report, &diag);
        test_check(result == GPUMP_OK, seed, n);
        check_form(program, allocated, &report, &config, seed, n);
        spilling += report.spilled || report.rematerialised;
        folded += report.folded;
        if (config.registers > 60) used += report.registers, peaks += report.peak;
        oracle_start(&before, program, 2, 1, n);
        oracle_start(&after, allocated, 2, 1, n + 1);
        if (oracle_run(&before, 20000)) {
            test_check(oracle_run(&after, 100000), seed, n);
            test_check(oracle_result(&before) == oracle_result(&after), seed, n);
            ran++;
        }
        gpump_program_destroy(allocated);
        gpump_program_destroy(program);
    }
    print_message("%llu programs run, %llu with spills, %llu uses folded, registers used / live at peak: %.3f\n",
                  (unsigned long long)ran, (unsigned long long)spilling, (unsigned long long)folded,
                  (double)used / (double)(peaks ? peaks : 1));
    assert_true(ran > test_cases(3000) / 2 && spilling > test_cases(3000) / 20 && folded);
}

/* Lowest counts by hand: a 64-bit address from a parameter, an index, one load, one store. */
static void a_kernel_by_hand(void **state) {
    test_builder b = test_build(NULL);
    uint32_t rd1 = test_register(&b, GPUMP_WIDTH_64), rd2 = test_register(&b, GPUMP_WIDTH_64),
             rd3 = test_register(&b, GPUMP_WIDTH_64), rd4 = test_register(&b, GPUMP_WIDTH_64),
             r1 = test_register(&b, GPUMP_WIDTH_32), f1 = test_register(&b, GPUMP_WIDTH_32),
             n = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE);
    gpump_registers_config config;
    gpump_registers_report report;
    gpump_program *allocated;
    gpump_instruction in;
    (void)state;
    test_parameter(&b, rd1, 0);
    test_parameter(&b, n, 8);
    test_move(&b, rd2, rd1);                                /* cvta */
    test_op(&b, 1, r1, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* tid */
    test_op(&b, 2, p, r1, n, GPUMP_NONE);
    test_branch(&b, p, 0, 10);
    test_op(&b, 3, rd3, r1, GPUMP_NONE, GPUMP_NONE); /* mul.wide */
    test_op(&b, 4, rd4, rd2, rd3, GPUMP_NONE);       /* add */
    test_access(&b, 1, 5, f1, rd4, GPUMP_NONE, GPUMP_SPACE_GLOBAL, GPUMP_NONE, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0);
    test_access(&b, 2, 6, GPUMP_NONE, rd4, f1, GPUMP_SPACE_GLOBAL, GPUMP_NONE, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0);
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_registers_config_preset(&config, "kepler"), GPUMP_OK);
    assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_OK);
    assert_int_equal(report.folded, 3); /* n, the move, the add */
    assert_int_equal(report.registers, 3);
    assert_int_equal(report.spilled, 0);
    assert_int_equal(gpump_program_instructions(allocated), 8); /* both parameters and the move are gone */
    gpump_program_instruction(allocated, 4, &in);
    assert_int_equal(in.uses[0], 0 | GPUMP_OPERAND_PARAMETER | GPUMP_OPERAND_PAIR);
    gpump_program_destroy(allocated);
    config.registers = 2; /* an address pair and a loaded value can share no two registers, but the pair and the store's
                             data must coexist */
    assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_ERROR_FULL);
    config.registers = 1;
    assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_ERROR_CONFIG);
    assert_int_equal(gpump_registers_config_preset(&config, "vax"), GPUMP_ERROR_UNKNOWN_NAME);
    gpump_program_destroy(b.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_by_hand),
        cmocka_unit_test(allocated_programs_compute_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
