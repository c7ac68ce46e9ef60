/* labels: unit property */
#include "program/oracle_program.h"
#include "program/program_parts.h"
#include "program/registers.h"

static void check_form(const gpump_program *program, const gpump_program *allocated,
                       const gpump_registers_report *report, const gpump_registers_config *config, uint64_t seed,
                       uint64_t n) {
    uint32_t i, loads = 0, stores = 0;
    const uint32_t *origin = gpump_program_origin(allocated);
    test_check(report->registers <= config->registers && report->predicates <= config->predicates, seed, n);
    test_check(gpump_program_count(allocated).registers == report->registers + report->predicates, seed, n);
    for (i = 0; i < gpump_program_count(allocated).instructions; i++) {
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

/* Runs a program and its changed form, whose unset registers hold `garbage`. Returns 1, or 0 when the program does not
 * end. */
static uint32_t check_same_results(const gpump_program *program, const gpump_program *changed, uint64_t garbage,
                                   uint64_t seed, uint64_t n) {
    static oracle_machine before, after;
    oracle_start(&before, program, 2, 1, n);
    oracle_start(&after, changed, 2, 1, garbage);
    if (!oracle_run(&before, 20000)) return 0;
    test_check(oracle_run(&after, 100000), seed, n);
    test_check(oracle_result(&before) == oracle_result(&after), seed, n);
    return 1;
}

/* A random program with allocated registers, spilled or not, computes what it computed before. */
static void allocated_programs_compute_the_same(void **state) {
    static draft d;
    uint64_t seed = test_seed(), random = seed, ran = 0, spilling = 0, folded = 0, used = 0, peaks = 0;
    (void)state;
    for (uint64_t n = 0; n < test_cases(3000); n++) {
        gpump_program *program = draft_random(&d, &random, 10 + gpump_random_below(&random, 60), 4, 8, 1, NULL),
                      *allocated;
        gpump_registers_config config;
        gpump_registers_report report;
        gpump_result result;
        gpump_diag diag;
        test_check(gpump_preset(&gpump_registers_component, &config,
                                gpump_random_below(&random, 2) ? "fermi" : "kepler", NULL) == GPUMP_OK,
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
        ran += check_same_results(program, allocated, n + 1, seed, n);
        gpump_program_destroy(allocated);
        gpump_program_destroy(program);
    }
    print_message("%llu programs run, %llu with spills, %llu uses folded, registers used / live at peak: %.3f\n",
                  (unsigned long long)ran, (unsigned long long)spilling, (unsigned long long)folded,
                  (double)used / (double)(peaks ? peaks : 1));
    assert_true(ran > test_cases(3000) / 2 && spilling > test_cases(3000) / 20 && folded);
}

/* Before registers are allocated, parameters are read in place and constants are set where they are needed: programs
 * with many of them compute the same, and set no value that nobody reads. */
static void prepared_programs_compute_the_same(void **state) {
    static draft d;
    uint64_t seed = test_seed(), random = seed, ran = 0, folded = 0, moved = 0;
    (void)state;
    draft_sets_once = 1;
    for (uint64_t n = 0; n < test_cases(6000); n++) {
        gpump_program *program = draft_random(&d, &random, 4 + gpump_random_below(&random, 30), 4, 8, 1, NULL), *ready;
        gpump_registers_config config;
        gpump_registers_report report;
        test_check(gpump_preset(&gpump_registers_component, &config, "kepler", NULL) == GPUMP_OK, seed, n);
        config.fold_parameters = n % 4 != 1;
        config.sink = n % 4 != 2;
        memset(&report, 0, sizeof report);
        test_check(gpumpi_registers_prepare(program, &config, &ready, &report, NULL) == GPUMP_OK, seed, n);
        test_check(config.fold_parameters || !report.folded, seed, n);
        folded += report.folded;
        moved += gpump_program_count(program).instructions != gpump_program_count(ready).instructions;
        ran += check_same_results(program, ready, n, seed, n);
        gpump_program_destroy(ready);
        gpump_program_destroy(program);
    }
    draft_sets_once = 0;
    assert_true(ran > test_cases(6000) / 2 && folded > test_cases(6000) && moved > test_cases(6000) / 4);
}

/* Words of the register file that a register takes; 0 for a predicate. */
static uint32_t words_of(const gpump_program *program, uint32_t reg) {
    const uint32_t width = gpump_program_width(program, reg);
    return width == GPUMP_WIDTH_PREDICATE ? 0 : width == GPUMP_WIDTH_64 ? 2 : 1;
}
/* The most words that are live at once: before an instruction, or behind it with all that it writes. */
static uint32_t most_live(const gpump_program *program) {
    const gpump_program_counts count = gpump_program_count(program);
    gpump_liveness *liveness;
    uint32_t most = 0;
    assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
    for (uint32_t i = 0; i < count.instructions; i++) {
        uint64_t before[8] = {0}, after[8] = {0};
        uint32_t words[2] = {0, 0};
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        gpump_liveness_before(liveness, i, before);
        gpump_liveness_after(liveness, i, after);
        for (uint32_t r = 0; r < count.registers; r++) {
            int is_live = gpump_bits_get(after, r);
            for (uint32_t k = 0; k < in.def_count; k++) is_live |= in.defs[k] == r;
            words[0] += gpump_bits_get(before, r) ? words_of(program, r) : 0;
            words[1] += is_live ? words_of(program, r) : 0;
        }
        for (uint32_t k = 0; k < 2; k++)
            if (words[k] > most) most = words[k];
    }
    gpump_liveness_destroy(liveness);
    return most;
}
/* What the operands of a program say of its registers. */
typedef struct operand_counts {
    uint32_t registers, predicates, parameters, moves;
} operand_counts;
static void count_operand(const gpump_program *program, uint32_t operand, uint32_t file, operand_counts *counts) {
    const uint32_t reg = operand & GPUMP_OPERAND_INDEX;
    if (operand == GPUMP_NONE) return;
    if (operand & GPUMP_OPERAND_PARAMETER) {
        counts->parameters++;
        return;
    }
    if (gpump_program_width(program, reg) == GPUMP_WIDTH_PREDICATE) {
        if (reg + 1 - file > counts->predicates) counts->predicates = reg + 1 - file;
    } else if (reg + (operand & GPUMP_OPERAND_PAIR ? 2 : 1) > counts->registers)
        counts->registers = reg + (operand & GPUMP_OPERAND_PAIR ? 2 : 1);
}
static operand_counts count_operands(const gpump_program *program, uint32_t file) {
    operand_counts counts = {0, 0, 0, 0};
    for (uint32_t i = 0; i < gpump_program_count(program).instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        count_operand(program, in.guard, file, &counts);
        for (uint32_t k = 0; k < in.def_count; k++) count_operand(program, in.defs[k], file, &counts);
        for (uint32_t k = 0; k < in.use_count; k++) count_operand(program, in.uses[k], file, &counts);
        counts.moves += in.operation == GPUMP_OP_MOVE;
    }
    return counts;
}
/* Every number of the report is what one counts in the programs before and behind the allocation. */
static void the_report_is_what_one_counts(void **state) {
    static draft d;
    uint64_t seed = test_seed(), random = seed + 7, folded = 0, moves = 0, spills = 0;
    (void)state;
    for (uint64_t n = 0; n < test_cases(2000); n++) {
        gpump_program *program = draft_random(&d, &random, 10 + gpump_random_below(&random, 60), 4, 8, 1, NULL),
                      *allocated;
        gpump_registers_config config;
        gpump_registers_report report;
        operand_counts was, is;
        test_check(gpump_preset(&gpump_registers_component, &config, "kepler", NULL) == GPUMP_OK, seed, n);
        if (n % 2) config.registers = 8 + gpump_random_below(&random, 8);
        config.fold_parameters = n / 2 % 2;
        config.sink = n / 4 % 2;
        test_check(gpump_registers_allocate(program, &config, &allocated, &report, NULL) == GPUMP_OK, seed, n);
        was = count_operands(program, 0);
        is = count_operands(allocated, report.registers);
        if (!config.sink && !config.fold_parameters) { /* these change programs before registers are given */
            test_check(report.peak <= most_live(program), seed, n);
            if (gpump_program_count(allocated).instructions == gpump_program_count(program).instructions)
                test_check(report.peak == most_live(program), seed, n);
            test_check(report.moves_removed == was.moves - is.moves, seed, n);
        }
        test_check(report.registers == is.registers && report.predicates == is.predicates, seed, n);
        test_check(config.fold_parameters || (!report.folded && is.parameters == was.parameters), seed, n);
        test_check(report.spill_bytes % 4 == 0 && report.spill_bytes >= 4 * report.spilled, seed, n);
        test_check((report.spilled == 0) == (report.spill_bytes == 0), seed, n);
        test_check(report.spilled || (!report.spill_loads && !report.spill_stores), seed, n);
        folded += report.folded;
        moves += report.moves_removed;
        spills += report.spilled;
        gpump_program_destroy(allocated);
        gpump_program_destroy(program);
    }
    assert_true(folded && moves && spills);
}

/* Lowest counts by hand: a 64-bit address from a parameter, an index, one load, one store. */
static void a_kernel_by_hand(void **state) {
    gpump_registers_config limits;
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
    assert_int_equal(gpump_preset(&gpump_registers_component, &limits, "fermi", NULL), GPUMP_OK);
    assert_true(limits.registers == 63 && limits.predicates == 7);
    assert_int_equal(gpump_preset(&gpump_registers_component, &limits, "kepler", NULL), GPUMP_OK);
    assert_true(limits.registers == 255 && limits.predicates == 7);
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
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
    assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_OK);
    assert_int_equal(report.folded, 3); /* n, the move, the add */
    assert_int_equal(report.registers, 3);
    assert_int_equal(report.spilled, 0);
    assert_int_equal(gpump_program_count(allocated).instructions, 8); /* both parameters and the move are gone */
    gpump_program_instruction(allocated, 4, &in);
    assert_int_equal(in.uses[0], 0 | GPUMP_OPERAND_PARAMETER | GPUMP_OPERAND_PAIR);
    gpump_program_destroy(allocated);
    config.registers = 2; /* an address pair and a loaded value can share no two registers, but the pair and the store's
                             data must coexist */
    assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_ERROR_FULL);
    config.registers = 1;
    assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_ERROR_CONFIG);
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "vax", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    gpump_program_destroy(b.program);
}

/* A program as a word: the tag of each computation as a digit, and a letter for each other operation. */
static void word_of(const gpump_program *program, char *word) {
    static const char letters[] = "?mcpabxWSLiPDBMCKEG";
    uint32_t i;
    for (i = 0; i < gpump_program_count(program).instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        word[i] = in.operation == GPUMP_OP_COMPUTE ? (char)('0' + in.tag) : letters[in.operation];
    }
    word[i] = 0;
}
static void allocates_to(gpump_program *program, const gpump_registers_config *config, const char *expected,
                         uint32_t folded) {
    gpump_registers_report report;
    gpump_program *allocated;
    char word[100];
    assert_int_equal(gpump_registers_allocate(program, config, &allocated, &report, NULL), GPUMP_OK);
    word_of(allocated, word);
    assert_string_equal(word, expected);
    assert_int_equal(report.folded, folded);
    gpump_program_destroy(allocated);
    gpump_program_destroy(program);
}

/* Only computations, moves and additions read parameters from the constant bank: the instructions that wait, store or
 * look at a page do not. */
static void other_instructions_read_no_parameter(void **state) {
    static const uint32_t operations[] = {GPUMP_OP_ADD, GPUMP_OP_BARRIER, GPUMP_OP_SPILL_STORE, GPUMP_OP_PAGE_ENTERED};
    gpump_registers_config config;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
    for (uint32_t n = 0; n < 4; n++) {
        test_builder b = test_build(NULL);
        const uint32_t x = test_register(&b, GPUMP_WIDTH_32), y = test_register(&b, GPUMP_WIDTH_32),
                       p = test_register(&b, GPUMP_WIDTH_PREDICATE);
        gpump_instruction in = gpump_instruction_make(operations[n]);
        test_parameter(&b, x, 8);
        in.uses = &x;
        in.use_count = 1;
        in.defs = operations[n] == GPUMP_OP_ADD ? &y : &p;
        in.def_count = operations[n] == GPUMP_OP_ADD || operations[n] == GPUMP_OP_PAGE_ENTERED;
        in.immediate = 4096;
        in.bytes = 4;
        test_add(&b, &in);
        test_op(&b, 1, GPUMP_NONE, n ? p : y, GPUMP_NONE, GPUMP_NONE);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        allocates_to(b.program, &config, n == 0 ? "a1x" : n == 1 ? "pW1x" : n == 2 ? "pS1x" : "pE1x", n == 0);
    }
}

/* A constant is set right before its first use, in front of loops that it was not in, and not where that would change
 * what somebody reads. */
#define BEGIN                                                                                 \
    b = test_build(NULL);                                                                     \
    c = test_register(&b, GPUMP_WIDTH_32), d = test_register(&b, GPUMP_WIDTH_32);             \
    x = test_register(&b, GPUMP_WIDTH_32), y = test_register(&b, GPUMP_WIDTH_32);             \
    p = test_register(&b, GPUMP_WIDTH_PREDICATE), o = test_object(&b, GPUMP_SPACE_GLOBAL, 0); \
    (void)d, (void)y, (void)p, (void)o
#define OP(tag, def, a, b_) test_op(&b, tag, def, a, b_, GPUMP_NONE)
#define END_FOLDED(expected, folded) \
    test_exit(&b, GPUMP_NONE);       \
    test_finish(&b);                 \
    allocates_to(b.program, &config, expected, folded)
#define END(expected) END_FOLDED(expected, 0)
/* A constant is set right before its use where that needs fewer registers: straight, in loops, at branches. */
static void constants_sink(void **state) {
    gpump_registers_config config;
    uint32_t c, d, x, y, p, o;
    test_builder b;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
    BEGIN; /* in front of the loop that reads it, and of the exit that ends the block there */
    test_constant(&b, c, 7);
    OP(3, p, GPUMP_NONE, GPUMP_NONE);
    test_branch(&b, p, 0, 7);
    OP(1, x, GPUMP_NONE, GPUMP_NONE);
    test_exit(&b, p);
    OP(2, y, c, x);
    test_branch(&b, p, 0, 5);
    END("3b1cx2bx");
    BEGIN; /* a parameter before the first one stays an instruction */
    test_parameter(&b, c, -8);
    OP(1, x, c, GPUMP_NONE);
    END("p1x");
    BEGIN; /* straight */
    test_constant(&b, c, 7);
    OP(1, x, GPUMP_NONE, GPUMP_NONE);
    OP(2, x, x, GPUMP_NONE);
    OP(3, y, x, c);
    OP(4, GPUMP_NONE, y, c);
    END("12c34x");
    BEGIN; /* the reader is the last one before the end of its block, and the next one's operands are not its own */
    test_constant(&b, c, 7);
    OP(1, x, GPUMP_NONE, GPUMP_NONE);
    OP(2, x, x, GPUMP_NONE);
    OP(3, GPUMP_NONE, c, GPUMP_NONE);
    END("12c3x");
    BEGIN; /* two, the later one first; the second of equals is set second */
    test_constant(&b, c, 7);
    test_constant(&b, d, 8);
    OP(1, x, GPUMP_NONE, GPUMP_NONE);
    OP(2, x, x, d);
    OP(3, x, x, c);
    END("1c2c3x");
    BEGIN; /* out of a loop that it was not in */
    test_constant(&b, c, 7);
    OP(1, x, GPUMP_NONE, GPUMP_NONE);
    OP(2, p, x, GPUMP_NONE); /* 2: the loop */
    OP(3, x, x, c);
    test_branch(&b, p, 0, 2);
    OP(4, GPUMP_NONE, x, GPUMP_NONE);
    END("1c23b4x");
    BEGIN; /* one side alone uses it: there, right before that */
    test_constant(&b, c, 7);
    OP(1, p, GPUMP_NONE, GPUMP_NONE);
    test_branch(&b, p, 0, 5);
    OP(2, x, GPUMP_NONE, GPUMP_NONE);
    OP(3, GPUMP_NONE, x, c);
    END("1b2c3x");
    BEGIN; /* a guard or a branch that both sides follow */
    test_constant(&b, c, 7);
    OP(1, p, GPUMP_NONE, GPUMP_NONE);
    OP(2, x, GPUMP_NONE, GPUMP_NONE);
    test_branch(&b, p, 0, 5);
    OP(3, GPUMP_NONE, x, c);
    OP(4, GPUMP_NONE, x, c);
    END("12cb34x");
    BEGIN;                   /* the first instruction reads what an earlier round has set: it stays */
    OP(1, x, c, GPUMP_NONE); /* 0: the loop */
    OP(2, p, x, GPUMP_NONE);
    test_branch(&b, p, 0, 7);
    test_constant(&b, c, 7);
    OP(5, y, x, GPUMP_NONE);
    OP(3, p, y, c);
    test_branch(&b, p, 0, 0);
    OP(4, GPUMP_NONE, x, GPUMP_NONE); /* 7 */
    END("12bc53b4x");
    BEGIN; /* set in a loop and read behind it: it stays in the loop */
    OP(1, x, GPUMP_NONE, GPUMP_NONE);
    test_constant(&b, c, 7); /* 1: the loop */
    OP(2, p, x, GPUMP_NONE);
    test_branch(&b, p, 0, 1);
    OP(3, GPUMP_NONE, x, c);
    END("1c2b3x");
}

/* Neither a constant nor a copy of a parameter is lost or set where it may not be. */
static void constants_stay_where_they_may_not_sink(void **state) {
    gpump_registers_config config;
    uint32_t c, d, x, y, p, o;
    test_builder b;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
    BEGIN; /* a copy of a parameter in the first register of all: both are read in place, and gone */
    test_parameter(&b, d, 8);
    test_move(&b, c, d);
    OP(1, x, c, GPUMP_NONE);
    END_FOLDED("1x", 2);
    for (uint32_t kind = 0; kind < 2; kind++) {
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        BEGIN; /* nothing comes between a volatile access, or a fence, and the boundary of the loop behind it */
        test_constant(&b, c, 7);
        in.tag = 2;
        in.flags = kind ? GPUMP_FLAG_FENCE : GPUMP_FLAG_VOLATILE;
        if (!kind) in.access = GPUMP_ACCESS_READ, in.object = o, in.address = GPUMP_ADDRESS_FIXED, in.bytes = 4;
        in.uses = &x;
        in.use_count = 1;
        OP(1, x, GPUMP_NONE, GPUMP_NONE);
        test_add(&b, &in);
        in = gpump_instruction_make(GPUMP_OP_BOUNDARY);
        test_add(&b, &in);
        OP(3, p, c, GPUMP_NONE);
        test_branch(&b, p, 0, 3);
        END("c12i3bx");
    }
}

/* Parameters are read in place, once in each instruction that touches no memory. */
static void parameters_fold(void **state) {
    gpump_registers_config config;
    uint32_t c, d, x, y, p, o;
    test_builder b;
    (void)state;
    for (uint32_t kind = 0; kind < 6; kind++) {
        static const char *const words[] = {"1x", "ax", "p1x", "p1x", "p1x", "p1x"};
        static const uint32_t folded[] = {1, 1, 0, 0, 0, 0};
        gpump_instruction in = gpump_instruction_make(kind == 1 ? GPUMP_OP_ADD : GPUMP_OP_COMPUTE);
        BEGIN;
        assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
        config.fold_parameters = kind != 5;
        test_parameter(&b, c, kind == 4 ? (int64_t)GPUMP_OPERAND_INDEX : (int64_t)GPUMP_OPERAND_INDEX - 1);
        in.defs = &x;
        in.uses = &c;
        in.def_count = in.use_count = 1;
        in.tag = 1;
        in.immediate = 4;
        if (kind == 2) in.access = GPUMP_ACCESS_READ, in.space = GPUMP_SPACE_GLOBAL, in.object = o, in.bytes = 4;
        if (kind == 3) in.flags = GPUMP_FLAG_CONVERGENT;
        test_add(&b, &in);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        allocates_to(b.program, &config, words[kind], folded[kind]);
    }
}
#undef BEGIN
#undef OP
#undef END
#undef END_FOLDED

/* Two constants that sink to one place are set in the order of their registers, wherever they were set before. A copy
 * of a parameter reads its offset. The first instruction counts among the readers of a parameter that an earlier round
 * has loaded. */
static void constants_and_parameters(void **state) {
    gpump_registers_config config;
    gpump_registers_report report;
    gpump_program *allocated;
    gpump_instruction in;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
    for (uint32_t later = 0; later < 2; later++) { /* constants */
        test_builder b = test_build(NULL);
        const uint32_t c = test_register(&b, GPUMP_WIDTH_32), d = test_register(&b, GPUMP_WIDTH_32),
                       x = test_register(&b, GPUMP_WIDTH_32);
        test_constant(&b, later ? d : c, later ? 8 : 7);
        test_constant(&b, later ? c : d, later ? 7 : 8);
        test_op(&b, 1, x, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        test_op(&b, 2, GPUMP_NONE, x, c, d);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_OK);
        for (uint32_t i = 1; i < 3; i++) {
            gpump_program_instruction(allocated, i, &in);
            assert_int_equal(in.operation, GPUMP_OP_CONSTANT);
            assert_int_equal(in.immediate, 6 + (int64_t)i);
        }
        gpump_program_destroy(allocated);
        gpump_program_destroy(b.program);
    }
    { /* a constant right before a loop that reads it stays outside: the branch back leads behind it */
        test_builder b = test_build(NULL);
        const uint32_t c = test_register(&b, GPUMP_WIDTH_32), x = test_register(&b, GPUMP_WIDTH_32),
                       p = test_register(&b, GPUMP_WIDTH_PREDICATE);
        test_op(&b, 1, x, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        test_constant(&b, c, 7);
        test_op(&b, 2, x, x, c, GPUMP_NONE); /* 2: the loop */
        test_op(&b, 3, p, x, GPUMP_NONE, GPUMP_NONE);
        test_branch(&b, p, 0, 2);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_OK);
        gpump_program_instruction(allocated, 1, &in);
        assert_int_equal(in.operation, GPUMP_OP_CONSTANT);
        gpump_program_instruction(allocated, 4, &in);
        assert_int_equal(in.operation, GPUMP_OP_BRANCH);
        assert_int_equal(in.target, 2);
        gpump_program_destroy(allocated);
        gpump_program_destroy(b.program);
    }
    for (uint32_t kind = 0; kind < 2; kind++) { /* parameters */
        test_builder b = test_build(NULL);
        const uint32_t c = test_register(&b, GPUMP_WIDTH_32), x = test_register(&b, GPUMP_WIDTH_32),
                       p = test_register(&b, GPUMP_WIDTH_PREDICATE), o = test_object(&b, GPUMP_SPACE_GLOBAL, 0);
        if (kind == 0) {
            test_move(&b, c, 24 | GPUMP_OPERAND_PARAMETER);
            test_op(&b, 1, x, c, GPUMP_NONE, GPUMP_NONE);
            test_op(&b, 2, GPUMP_NONE, x, GPUMP_NONE, GPUMP_NONE);
        } else {
            test_access(&b, GPUMP_ACCESS_READ, 1, x, c, GPUMP_NONE, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_VALUE, 1, 0,
                        4);
            test_parameter(&b, c, 24);
            test_op(&b, 2, p, x, GPUMP_NONE, GPUMP_NONE);
            test_branch(&b, p, 0, 0);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_OK);
        for (uint32_t i = 0, parameters = 0; i < gpump_program_count(allocated).instructions; i++) {
            gpump_program_instruction(allocated, i, &in);
            parameters += in.operation == GPUMP_OP_PARAMETER;
            if (kind == 0 && in.operation == GPUMP_OP_COMPUTE && in.tag == 1)
                assert_int_equal(in.uses[0], 24 | GPUMP_OPERAND_PARAMETER);
            if (in.operation == GPUMP_OP_EXIT) assert_int_equal(parameters, kind);
        }
        gpump_program_destroy(allocated);
        gpump_program_destroy(b.program);
    }
}

/* Registers that short programs need: a value takes its register from its definition on, no earlier; the value that is
 * live into a region keeps it from the boundary on. */
static void values_begin_where_they_are_written(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < 2; kind++) {
        test_builder b = test_build(NULL);
        uint32_t early = test_register(&b, GPUMP_WIDTH_32), late = test_register(&b, GPUMP_WIDTH_32), i;
        gpump_instruction boundary = gpump_instruction_make(GPUMP_OP_BOUNDARY);
        gpump_registers_config config;
        gpump_registers_report report;
        gpump_program *allocated;
        assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
        boundary.immediate = GPUMP_BOUNDARY_SHORT;
        test_op(&b, 1, early, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        for (i = 0; i < 7; i++) test_op(&b, 2, GPUMP_NONE, early, GPUMP_NONE, GPUMP_NONE);
        test_op(&b, 3, late, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* kind 0: nobody reads it */
        if (kind) {
            test_add(&b, &boundary);
            test_op(&b, 4, GPUMP_NONE, late, GPUMP_NONE, GPUMP_NONE);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_OK);
        assert_int_equal(report.registers, 1);
        gpump_program_destroy(allocated);
        gpump_program_destroy(b.program);
    }
}

/* Of two values, the one that is read less often is spilled, where a read counts eight times in each loop around it:
 * three reads just outside the innermost of `depth` loops count less than one inside. */
static void the_cheaper_value_is_spilled(void **state) {
    static const uint32_t depths[] = {1, 2, 9, 10, 1, 1};
    (void)state;
    for (uint32_t kind = 0; kind < sizeof depths / sizeof *depths; kind++) {
        test_builder b = test_build(NULL);
        uint32_t outside = test_register(&b, GPUMP_WIDTH_32), inside = test_register(&b, GPUMP_WIDTH_32),
                 now = test_register(&b, GPUMP_WIDTH_32), other = test_register(&b, GPUMP_WIDTH_32),
                 p = test_register(&b, GPUMP_WIDTH_PREDICATE), depth = depths[kind], top[10], i, k;
        const uint32_t defs[2] = {kind == 4 ? other : outside, outside};
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        gpump_registers_config config;
        gpump_registers_report report;
        gpump_program *allocated;
        assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
        config.registers = 2;
        in.defs = defs; /* kind 4: the second of two; kind 5: twice the same; one store stores it */
        in.def_count = kind < 4 ? 1 : 2;
        test_add(&b, &in);
        test_op(&b, 1, inside, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        for (i = 0; i < depth; i++) top[i] = test_op(&b, 2, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        test_op(&b, 3, now, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* three are live */
        test_op(&b, 4, GPUMP_NONE, now, inside, GPUMP_NONE);
        for (i = depth; i-- > 0;) {
            test_op(&b, 5, p, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
            test_branch(&b, p, 0, top[i]);
            for (k = 0; k < 3 && i + 1 == depth; k++) test_op(&b, 6, GPUMP_NONE, outside, GPUMP_NONE, GPUMP_NONE);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_OK);
        assert_int_equal(report.spilled, 1);
        assert_int_equal(report.spill_loads, 3);
        assert_int_equal(report.spill_stores, 1);
        assert_int_equal(report.spill_bytes, 4);
        gpump_program_destroy(allocated);
        gpump_program_destroy(b.program);
    }
}

/* The two sides of a move share a register also where the side that is written has its place first. */
static void a_move_is_removed_from_a_loop(void **state) {
    test_builder b = test_build(NULL);
    uint32_t first = test_register(&b, GPUMP_WIDTH_32), carried = test_register(&b, GPUMP_WIDTH_32),
             next = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE);
    gpump_registers_config config;
    gpump_registers_report report;
    gpump_program *allocated;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
    test_op(&b, 1, first, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    test_op(&b, 2, carried, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    test_op(&b, 3, GPUMP_NONE, first, GPUMP_NONE, GPUMP_NONE); /* its place is free from here on */
    test_op(&b, 4, next, carried, GPUMP_NONE, GPUMP_NONE);     /* 3: the loop */
    test_move(&b, carried, next);
    test_op(&b, 5, p, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    test_branch(&b, p, 0, 3);
    test_op(&b, 6, GPUMP_NONE, carried, GPUMP_NONE, GPUMP_NONE);
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_registers_allocate(b.program, &config, &allocated, &report, NULL), GPUMP_OK);
    assert_int_equal(report.moves_removed, 1);
    assert_int_equal(report.registers, 2);
    gpump_program_destroy(allocated);
    gpump_program_destroy(b.program);
}

/* Sixteen values in four registers: so many are spilled that each list of what is filled and stored has to grow. */
static gpump_result spill_many(const gpump_allocator *allocator, void *user) {
    test_builder b = test_build(allocator);
    gpump_program *allocated = NULL;
    gpump_registers_config config;
    gpump_result result;
    uint32_t values[16], i;
    (void)user;
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
    config.registers = 4;
    for (i = 0; i < 16; i++) values[i] = test_register(&b, GPUMP_WIDTH_32);
    for (i = 0; i < 16; i++) test_op(&b, 1, values[i], GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    for (i = 0; i < 16; i += 2) test_op(&b, 2, GPUMP_NONE, values[i], values[i + 1], GPUMP_NONE);
    test_exit(&b, GPUMP_NONE);
    result = test_finish(&b);
    if (result == GPUMP_OK) result = gpump_registers_allocate(b.program, &config, &allocated, NULL, NULL);
    gpump_program_destroy(allocated);
    gpump_program_destroy(b.program);
    return result;
}

/* When memory runs out, allocating registers returns the failure and leaks nothing. */
static void every_failure_of_a_spill_is_told(void **state) {
    (void)state;
    test_every_allocation_failing(spill_many, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_by_hand),
        cmocka_unit_test(constants_sink),
        cmocka_unit_test(constants_stay_where_they_may_not_sink),
        cmocka_unit_test(other_instructions_read_no_parameter),
        cmocka_unit_test(parameters_fold),
        cmocka_unit_test(constants_and_parameters),
        cmocka_unit_test(values_begin_where_they_are_written),
        cmocka_unit_test(the_cheaper_value_is_spilled),
        cmocka_unit_test(a_move_is_removed_from_a_loop),
        cmocka_unit_test(allocated_programs_compute_the_same),
        cmocka_unit_test(prepared_programs_compute_the_same),
        cmocka_unit_test(the_report_is_what_one_counts),
        cmocka_unit_test(every_failure_of_a_spill_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
