/* labels: unit property */
#include "decisions.h"
#include "program/paged_thread.h"

/* What an instruction should be. */
typedef struct listing {
    uint32_t operation, guard, negated, def, use0, use1, target;
} listing;
static void compare(const gpump_program *program, const listing *expected, uint32_t count) {
    assert_int_equal(gpump_program_count(program).instructions, count);
    for (uint32_t i = 0; i < count; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation != expected[i].operation || in.guard != expected[i].guard ||
            (in.flags & GPUMP_FLAG_GUARD_NEGATED) != expected[i].negated ||
            (in.def_count ? in.defs[0] : GPUMP_NONE) != expected[i].def ||
            (in.use_count ? in.uses[0] : GPUMP_NONE) != expected[i].use0 ||
            (in.use_count > 1 ? in.uses[1] : GPUMP_NONE) != expected[i].use1 || in.target != expected[i].target) {
            test_print_program(program);
            fail_msg("instruction %u is not as listed", i);
        }
    }
}

/* ---- Kim, Fig. 1: for (ii = 0; ii < N; ii++) a[ii] = b[ii] * 2 ---- */
enum { A, B, II, N, V, W, P, ARRAY_REGISTERS };
static test_builder array_start(uint32_t a, uint32_t bb, uint32_t n) {
    test_builder b = test_build(NULL);
    for (uint32_t i = 0; i < ARRAY_REGISTERS; i++) test_register(&b, i == P ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32);
    test_parameter(&b, A, a);
    test_parameter(&b, B, bb);
    test_constant(&b, II, 0);
    test_parameter(&b, N, n);
    return b;
}
static gpump_program *array_kernel(uint32_t a, uint32_t bb, uint32_t n) {
    test_builder b = array_start(a, bb, n);
    load(&b, TAG_LOAD, V, B, NO, 0); /* 4 */
    test_op(&b, TAG_DOUBLE, W, V, NO, NO);
    store(&b, A, W, 0);
    add(&b, A, 4);
    add(&b, B, 4);
    add(&b, II, 1);
    test_op(&b, TAG_LESS, P, II, N, NO);
    test_branch(&b, P, 0, 4);
    return done(&b);
}

/* Kim's first example becomes the code of Kim's Figure 1, instruction by instruction. */
static void kim_figure_1(void **state) {
    gpump_program *program = array_kernel(20 * PAGE + 8, 4 * PAGE + 24, 200), *checked;
    gpump_page_checks_config config = kim("kim");
    gpump_page_checks_report report;
    /* r7, r9: a new page of b, of a; r8: the check */
    const listing expected[] = {{GPUMP_OP_PARAMETER, NO, 0, A, NO, NO, NO},
                                {GPUMP_OP_PARAMETER, NO, 0, B, NO, NO, NO},
                                {GPUMP_OP_CONSTANT, NO, 0, II, NO, NO, NO},
                                {GPUMP_OP_PARAMETER, NO, 0, N, NO, NO, NO},
                                {GPUMP_OP_CONSTANT, NO, 0, 7, NO, NO, NO}, /* the first iteration checks */
                                {GPUMP_OP_CONSTANT, NO, 0, 9, NO, NO, NO},
                                {GPUMP_OP_PAGE_ENTERED, 7, 1, 7, B, NO, NO}, /* 6: loop */
                                {GPUMP_OP_BRANCH, 7, 1, NO, NO, NO, 13},
                                {GPUMP_OP_CONSTANT, NO, 0, 7, NO, NO, NO},
                                {GPUMP_OP_START_MARKER, NO, 0, NO, NO, NO, NO}, /* 9 */
                                {GPUMP_OP_CLEAR_CHECK, NO, 0, 8, NO, NO, NO},
                                {GPUMP_OP_CHECK, NO, 0, 8, B, 8, NO},
                                {GPUMP_OP_GUARDED_CALL, 8, 0, NO, NO, NO, 9},
                                {GPUMP_OP_COMPUTE, NO, 0, V, B, NO, NO}, /* 13 */
                                {GPUMP_OP_COMPUTE, NO, 0, W, V, NO, NO},
                                {GPUMP_OP_PAGE_ENTERED, 9, 1, 9, A, NO, NO},
                                {GPUMP_OP_BRANCH, 9, 1, NO, NO, NO, 22},
                                {GPUMP_OP_CONSTANT, NO, 0, 9, NO, NO, NO},
                                {GPUMP_OP_START_MARKER, NO, 0, NO, NO, NO, NO}, /* 18 */
                                {GPUMP_OP_CLEAR_CHECK, NO, 0, 8, NO, NO, NO},
                                {GPUMP_OP_CHECK, NO, 0, 8, A, 8, NO},
                                {GPUMP_OP_GUARDED_CALL, 8, 0, NO, NO, NO, 18},
                                {GPUMP_OP_COMPUTE, NO, 0, NO, A, W, NO}, /* 22 */
                                {GPUMP_OP_ADD, NO, 0, A, A, NO, NO},
                                {GPUMP_OP_ADD, NO, 0, B, B, NO, NO},
                                {GPUMP_OP_ADD, NO, 0, II, II, NO, NO},
                                {GPUMP_OP_COMPUTE, NO, 0, P, II, N, NO},
                                {GPUMP_OP_BRANCH, P, 0, NO, NO, NO, 6},
                                {GPUMP_OP_EXIT, NO, 0, NO, NO, NO, NO}};
    thread t;
    gpump_instruction in;
    uint64_t random = 1;
    uint32_t walk_checks, i;
    (void)state;
    assert_int_equal(gpump_page_checks_insert(program, &config, &checked, &report, NULL), GPUMP_OK);
    assert_int_equal(report.walks, 2);
    assert_int_equal(report.plain, 0);
    compare(checked, expected, sizeof expected / sizeof *expected);
    gpump_program_instruction(checked, 11, &in);
    assert_int_equal(in.access, GPUMP_ACCESS_READ);
    gpump_program_instruction(checked, 20, &in);
    assert_int_equal(in.access, GPUMP_ACCESS_WRITE); /* the printed figure checks the store as a load */
    start(&t, &random, 0);
    assert_true(run(&t, checked));
    for (i = 0; i < 200; i++) assert_int_equal(t.word[20 * PAGE / 4 + 2 + i], 2 * t.word[4 * PAGE / 4 + 6 + i]);
    assert_int_equal(t.faults, 13 + 13); /* 200 words from bytes 24 and 8 of a page of 16: each spans 13 pages */
    walk_checks = t.checks;
    gpump_program_destroy(checked);
    config = kim("kim_plain");
    assert_int_equal(gpump_page_checks_insert(program, &config, &checked, &report, NULL), GPUMP_OK);
    assert_int_equal(report.plain, 2);
    start(&t, &random, 0);
    assert_true(run(&t, checked));
    assert_true(walk_checks * 5 < t.checks); /* boundary checks < a check per access */
    gpump_program_destroy(checked);
    gpump_program_destroy(program);
}

/* The figure as printed: kk = page size % element size = 0, so no iteration checks; and, with kk put right, a check
 * that only loads, at an address that walks kk times too far. Each is caught. */
static void kim_figure_1_as_printed(void **state) {
    (void)state;
    for (uint32_t variant = 0; variant < 2; variant++) {
        test_builder b = array_start(20 * PAGE, 4 * PAGE, 64);
        uint32_t q = test_register(&b, GPUMP_WIDTH_PREDICATE), pf = test_register(&b, GPUMP_WIDTH_PREDICATE), uses[2],
                 kk = (variant ? PAGE / 4 : PAGE % 4) | GPUMP_OPERAND_PARAMETER, which, top, marker = 0;
        gpump_instruction in;
        thread t;
        uint64_t random = 3;
        top = test_op(&b, TAG_MODULO, q, II, kk, NO);
        test_branch(&b, q, 0, top + 2 + 8);
        for (which = 0; which < 2; which++) { /* pfchk(&a[0] + ii * kk), then b: all of it loads */
            marker = gpump_program_count(b.program).instructions;
            in = gpump_instruction_make(GPUMP_OP_START_MARKER);
            test_add(&b, &in);
            in = gpump_instruction_make(GPUMP_OP_CLEAR_CHECK);
            in.defs = &pf;
            in.def_count = 1;
            test_add(&b, &in);
            in = gpump_instruction_make(GPUMP_OP_CHECK);
            uses[0] = which ? B : A;
            uses[1] = pf;
            in.defs = &pf;
            in.uses = uses;
            in.def_count = 1;
            in.use_count = 2;
            in.access = GPUMP_ACCESS_READ;
            in.bytes = 4;
            test_add(&b, &in);
            in = gpump_instruction_make(GPUMP_OP_GUARDED_CALL);
            in.guard = pf;
            in.target = marker;
            test_add(&b, &in);
        }
        load(&b, TAG_LOAD, V, B, NO, 0);
        test_op(&b, TAG_DOUBLE, W, V, NO, NO);
        store(&b, A, W, 0);
        add(&b, A, 4);
        add(&b, B, 4);
        add(&b, II, 1);
        test_op(&b, TAG_LESS, P, II, N, NO);
        test_branch(&b, P, 0, top);
        done(&b);
        start(&t, &random, 0);
        assert_false(run(&t, b.program));
        assert_int_equal(t.uncaught, 1);
        gpump_program_destroy(b.program);
    }
}

/* ---- Kim, Fig. 2: while (p) { sum += p->value; p = p->next; } ---- */
enum { R1, R2, C, POINTER_REGISTERS };
static void list_start(thread *t, uint64_t *random, uint32_t nodes, uint32_t *head, uint32_t *sum) {
    uint32_t at[40], i;
    start(t, random, 3);
    *sum = 0;
    for (i = 0; i < nodes; i++)
        at[i] = (1 + gpump_random_below(random, PAGES - 1)) * PAGE + 8 * gpump_random_below(random, PAGE / 8);
    for (i = 0; i < nodes; i++) /* 8-byte nodes: value, next; all different places */
        for (uint32_t k = 0; k < i; k++)
            if (at[k] == at[i]) at[i] = at[i] + 8 < PAGES * PAGE ? at[i] + 8 : PAGE, k = GPUMP_NONE;
    for (i = 0; i < nodes; i++) {
        t->word[at[i] / 4] = gpump_random_below(random, 1000);
        *sum += t->word[at[i] / 4];
        t->word[at[i] / 4 + 1] = i + 1 < nodes ? at[i + 1] : 0;
    }
    *head = at[0];
}
static gpump_program *chase(void) {
    test_builder b = test_build(NULL);
    for (uint32_t i = 0; i < POINTER_REGISTERS; i++) test_register(&b, i == C ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32);
    test_constant(&b, R2, 0);
    load(&b, TAG_SUM_LOAD, R2, R1, R2, 0);    /* 1: ADD R2 R2 MEM[R1 + offset1] */
    load(&b, TAG_LOAD, R1, R1, NO, 4);        /* 2: LD R1 MEM[R1 + offset2] */
    test_op(&b, TAG_NOT_ZERO, C, R1, NO, NO); /* 3: CMPNZ R1, LOOP_START */
    test_branch(&b, C, 0, 1);
    test_exit(&b, NO);
    test_finish(&b);
    return b.program;
}

/* Kim's list walk becomes the code of Figure 2, with its loop mended. */
static void kim_figure_2(void **state) {
    gpump_program *program = chase(), *checked, *plain;
    gpump_page_checks_config config = kim("kim");
    gpump_page_checks_report report;
    const listing one_bit[] = {{GPUMP_OP_CONSTANT, NO, 0, R2, NO, NO, NO},
                               {GPUMP_OP_START_MARKER, NO, 0, NO, NO, NO, NO}, /* 1 */
                               {GPUMP_OP_CLEAR_CHECK, NO, 0, 3, NO, NO, NO},
                               {GPUMP_OP_COMPUTE, NO, 0, 4, R1, R2, NO}, /* 3: loop: sum' = sum + [p], checked */
                               {GPUMP_OP_COMPUTE, NO, 0, 5, R1, 3, NO},  /* p' = [p + 4], checked */
                               {GPUMP_OP_COMPUTE, NO, 0, C, 5, NO, NO},  /* c = p' != 0 */
                               {GPUMP_OP_MOVE, 3, 1, R1, 5, NO, NO},     /* no fault: the iteration counts */
                               {GPUMP_OP_MOVE, 3, 1, R2, 4, NO, NO},
                               {GPUMP_OP_CONSTANT, 3, 0, C, NO, NO, NO}, /* a fault: leave */
                               {GPUMP_OP_BRANCH, C, 0, NO, NO, NO, 3},
                               {GPUMP_OP_GUARDED_CALL, 3, 0, NO, NO, NO, 1},
                               {GPUMP_OP_EXIT, NO, 0, NO, NO, NO, NO}};
    uint64_t random = test_seed();
    uint32_t n, calls = 0;
    (void)state;
    config.bits = 1;
    assert_int_equal(gpump_page_checks_insert(program, &config, &checked, &report, NULL), GPUMP_OK);
    assert_int_equal(report.predicated, 2);
    assert_int_equal(report.loops, 1);
    compare(checked, one_bit, sizeof one_bit / sizeof *one_bit);
    gpump_program_destroy(checked);
    config.bits = 4; /* each load its own bit, joined behind them */
    assert_int_equal(gpump_page_checks_insert(program, &config, &checked, &report, NULL), GPUMP_OK);
    assert_int_equal(gpump_program_count(checked).registers, POINTER_REGISTERS + 4);
    config = kim("kim_plain");
    assert_int_equal(gpump_page_checks_insert(program, &config, &plain, &report, NULL), GPUMP_OK);
    for (n = 0; n < 200; n++) {
        thread t, u;
        uint32_t head, sum, nodes = 1 + gpump_random_below(&random, 30);
        list_start(&t, &random, nodes, &head, &sum);
        t.reg[R1] = head;
        u = t;
        assert_true(run(&t, checked));
        assert_int_equal(t.reg[R2], sum);
        calls += t.faults;
        assert_true(run(&u, plain));
        assert_int_equal(u.reg[R2], sum);
        /* faster than one serialising check per load: a call waits for what is in flight, at least a load of 20 cycles
         */
        assert_true(t.executed + 20 * t.serialised < u.executed + 20 * u.serialised);
    }
    assert_true(calls > 1000);
    gpump_program_destroy(plain);
    gpump_program_destroy(checked);
    gpump_program_destroy(program);
}

/* In a predicated loop, what has not been loaded leads nowhere, in no memory. */
static void nothing_follows_a_fault(void **state) {
    enum { PP, SUM, INDEX, ENTRY, MORE, COUNTED_REGISTERS };
    test_builder b = test_build(NULL);
    gpump_program *checked;
    gpump_page_checks_config config = kim("kim");
    gpump_page_checks_report report;
    gpump_instruction in;
    uint32_t n, use, def, top;
    uint64_t random = test_seed();
    (void)state;
    for (n = 0; n < COUNTED_REGISTERS; n++) test_register(&b, n == MORE ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32);
    test_constant(&b, SUM, 0);
    top = gpump_program_count(b.program).instructions;
    load(&b, TAG_LOAD, INDEX, PP, NO, 0);
    in = gpump_instruction_make(GPUMP_OP_COMPUTE); /* entry = table[index] */
    use = INDEX;
    def = ENTRY;
    in.tag = TAG_TABLE;
    in.uses = &use;
    in.defs = &def;
    in.use_count = in.def_count = 1;
    in.access = GPUMP_ACCESS_READ;
    in.space = GPUMP_SPACE_SHARED;
    in.bytes = 4;
    test_add(&b, &in);
    test_op(&b, TAG_SUM, SUM, SUM, ENTRY, NO);
    load(&b, TAG_LOAD, PP, PP, NO, 4);
    test_op(&b, TAG_NOT_ZERO, MORE, PP, NO, NO);
    test_branch(&b, MORE, 0, top);
    done(&b);
    assert_int_equal(gpump_page_checks_insert(b.program, &config, &checked, &report, NULL), GPUMP_OK);
    assert_int_equal(report.accesses, 2);
    assert_int_equal(report.predicated, 2);
    for (n = 0; n < 50; n++) {
        thread t;
        uint32_t head, sum = 0, at, index;
        list_start(&t, &random, 20, &head, &sum);
        for (at = head, sum = 0; at; at = t.word[at / 4 + 1]) { /* the values become places in the table */
            index = gpump_random_below(&random, 16);
            t.word[at / 4] = index * 4;
            sum += index;
        }
        for (index = 0; index < COUNTED_REGISTERS; index++) t.reg[index] = 1u << 20;
        memset(t.page, ABSENT, sizeof t.page);
        t.reg[PP] = head;
        assert_true(run(&t, checked));
        assert_true(t.faults > 0 && t.reg[SUM] == sum);
    }
    gpump_program_destroy(checked);
    gpump_program_destroy(b.program);
}

/* An access to memory that is always resident gets no check. */
static void resident_memory_is_not_checked(void **state) {
    test_builder b = test_build(NULL);
    gpump_page_checks_config config = kim("kim_plain");
    gpump_page_checks_report report;
    gpump_program *checked;
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t reg = test_register(&b, GPUMP_WIDTH_32);
    (void)state;
    in.defs = &reg; /* the variable's address is in the instruction */
    in.def_count = 1;
    in.access = GPUMP_ACCESS_READ;
    in.bytes = 4;
    in.flags = GPUMP_FLAG_RESIDENT;
    test_add(&b, &in);
    done(&b);
    assert_int_equal(gpump_page_checks_insert(b.program, &config, &checked, &report, NULL), GPUMP_OK);
    assert_int_equal(report.accesses, 0);
    assert_int_equal(gpump_program_count(checked).instructions, 2);
    gpump_program_destroy(checked);
    gpump_program_destroy(b.program);
}

/* An access at a constant address is checked at that address, and its check has no register: by itself (loop == 0), and
 * in a predicated loop. */
static void constant_address(void **state) {
    uint32_t loop, i;
    (void)state;
    for (loop = 0; loop < 2; loop++) {
        test_builder b = array_start(20 * PAGE, 4 * PAGE, 50);
        gpump_page_checks_config config = kim("kim");
        gpump_page_checks_report report;
        gpump_program *checked;
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        const uint32_t value = W;
        uint32_t checks = 0, inside = 0;
        config.local = 1;
        if (loop) load(&b, TAG_LOAD, V, B, NO, 0); /* 4 */
        if (loop) load(&b, TAG_LOAD, A, V, NO, 0);
        in.defs = in.uses = &value;
        in.def_count = loop;
        in.use_count = !loop; /* the value that is stored */
        in.access = loop ? GPUMP_ACCESS_READ : GPUMP_ACCESS_WRITE;
        in.space = GPUMP_SPACE_LOCAL;
        in.bytes = 4;
        in.displacement = 24;
        in.flags = GPUMP_FLAG_NO_BASE;
        test_add(&b, &in);
        if (loop) add(&b, B, 4);
        if (loop) test_op(&b, TAG_LESS, P, B, N, NO);
        if (loop) test_branch(&b, P, 0, 4);
        assert_int_equal(gpump_page_checks_insert(done(&b), &config, &checked, &report, NULL), GPUMP_OK);
        assert_int_equal(report.loops, loop);
        assert_int_equal(report.plain, !loop);
        for (i = 0; i < gpump_program_count(checked).instructions; i++) {
            gpump_program_instruction(checked, i, &in);
            if (!(in.flags & GPUMP_FLAG_NO_BASE)) continue;
            assert_int_equal(in.displacement, 24);
            inside += (in.flags & GPUMP_FLAG_CHECKED) != 0;
            checks += in.operation == GPUMP_OP_CHECK && in.use_count == 1 && in.uses[0] == in.defs[0];
        }
        assert_int_equal(checks, !loop);
        assert_int_equal(inside, loop);
        gpump_program_destroy(checked);
        gpump_program_destroy(b.program);
    }
}

/* Local memory is checked where the configuration says so: by itself, never as a walk. */
static void local_memory(void **state) {
    uint32_t local;
    (void)state;
    for (local = 0; local < 2; local++) {
        test_builder b = array_start(20 * PAGE, 4 * PAGE, 50);
        gpump_page_checks_config config = kim("kim");
        gpump_page_checks_report report;
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        const uint32_t uses[2] = {A, W};
        gpump_program *checked;
        assert_int_equal(config.local, 0);
        config.local = local;
        load(&b, TAG_LOAD, V, B, NO, 0); /* 4 */
        test_op(&b, TAG_DOUBLE, W, V, NO, NO);
        in.uses = uses;
        in.use_count = 2;
        in.access = GPUMP_ACCESS_WRITE;
        in.space = GPUMP_SPACE_LOCAL;
        in.bytes = 4;
        test_add(&b, &in);
        add(&b, A, 4);
        add(&b, B, 4);
        add(&b, II, 1);
        test_op(&b, TAG_LESS, P, II, N, NO);
        test_branch(&b, P, 0, 4);
        done(&b);
        assert_int_equal(gpump_page_checks_insert(b.program, &config, &checked, &report, NULL), GPUMP_OK);
        assert_int_equal(report.accesses, 1 + local);
        assert_int_equal(report.walks, 1); /* the load from global memory */
        assert_int_equal(report.plain, local);
        gpump_program_destroy(checked);
        gpump_program_destroy(b.program);
    }
}

/* Kim's Figure 2 as printed, with the next pointer `displacement` bytes behind the value. */
static const gpump_program *figure_2_as_printed(test_builder *b, uint32_t displacement) {
    gpump_instruction in;
    uint32_t i, c = C, r1 = R1, r2 = R2, sum[2] = {R1, R2}, pf, uses[2] = {R1, 3}, defs[2] = {R1, 3};
    for (i = 0; i < POINTER_REGISTERS; i++) test_register(b, i == C ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32);
    pf = test_register(b, GPUMP_WIDTH_PREDICATE);
    test_constant(b, R2, 0);
    in = gpump_instruction_make(GPUMP_OP_START_MARKER);
    test_add(b, &in); /* 1 */
    in = gpump_instruction_make(GPUMP_OP_CLEAR_CHECK);
    in.defs = &pf;
    in.def_count = 1;
    test_add(b, &in);
    in = gpump_instruction_make(GPUMP_OP_COMPUTE); /* 3: LOOP_START: (!pfbt) ADD R2 R2 MEM[R1 + offset1] */
    in.tag = TAG_SUM_LOAD;
    in.guard = pf;
    in.flags = GPUMP_FLAG_GUARD_NEGATED;
    in.defs = &r2;
    in.uses = sum;
    in.def_count = 1;
    in.use_count = 2;
    in.access = GPUMP_ACCESS_READ;
    in.bytes = 4;
    test_add(b, &in);
    in.tag = TAG_LOAD; /* (!pfbt) LD.pfchk R1 MEM[R1 + offset2] */
    in.flags = GPUMP_FLAG_GUARD_NEGATED | GPUMP_FLAG_CHECKED;
    in.defs = defs;
    in.uses = uses;
    in.def_count = 2;
    in.displacement = displacement;
    test_add(b, &in);
    test_constant(b, C, 0);
    in = gpump_instruction_make(GPUMP_OP_COMPUTE); /* (!pfbt) CMPNZ R1, LOOP_START */
    in.tag = TAG_NOT_ZERO;
    in.guard = pf;
    in.flags = GPUMP_FLAG_GUARD_NEGATED;
    in.defs = &c;
    in.uses = &r1;
    in.def_count = in.use_count = 1;
    test_add(b, &in);
    test_branch(b, C, 0, 3);
    in = gpump_instruction_make(GPUMP_OP_GUARDED_CALL); /* (pfbt) sw_call(start_marker) */
    in.guard = pf;
    in.target = 1;
    test_add(b, &in);
    done(b);
    return b->program;
}

/* The value load is unchecked: where its page is absent, the fault is not caught. */
static void kim_figure_2_misses_the_fault_of_the_unchecked_load(void **state) {
    uint64_t random = 5;
    uint32_t uncaught = 0, n;
    test_builder b = test_build(NULL);
    const gpump_program *program = figure_2_as_printed(&b, 4);
    (void)state;
    for (n = 0; n < 50; n++) {
        thread t;
        uint32_t head, sum = 0;
        list_start(&t, &random, 20, &head, &sum);
        t.reg[R1] = head;
        run(&t, program);
        uncaught += t.uncaught != 0;
    }
    gpump_program_destroy(b.program);
    assert_true(uncaught > 40);
}

/* Were that load checked for free, the sum would be added twice after a restart: the values' pages are present, and the
 * next pointers lie on pages of their own. */
static void kim_figure_2_adds_twice_after_a_restart(void **state) {
    uint64_t random = 5;
    uint32_t i;
    test_builder b = test_build(NULL);
    const gpump_program *program = figure_2_as_printed(&b, 32 * PAGE);
    thread t;
    uint32_t sum = 0;
    (void)state;
    start(&t, &random, 0);
    for (i = 0; i < 20; i++) { /* 20 nodes, the i-th at word i of pages 1 to 31 */
        t.page[1 + i] = WRITABLE;
        t.word[(PAGE + PAGE * i) / 4] = i + 1;
        sum += i + 1;
        t.word[(PAGE + PAGE * i + 32 * PAGE) / 4] = i < 19 ? PAGE + PAGE * (i + 1) : 0;
    }
    t.reg[R1] = PAGE;
    run(&t, program);
    gpump_program_destroy(b.program);
    assert_int_equal(t.uncaught, 0);
    assert_true(t.reg[R2] > sum);
}

/* ---- random programs: walks up and down, guarded accesses, chases, straight code; every page may be missing ---- */
static gpump_program *random_program(uint64_t *random, const gpump_allocator *allocator) {
    test_builder b = test_build(allocator);
    uint32_t r[8], p[3], i, k, loops = 1 + gpump_random_below(random, 3);
    for (i = 0; i < 8; i++) r[i] = test_register(&b, GPUMP_WIDTH_32);
    for (i = 0; i < 3; i++) p[i] = test_register(&b, GPUMP_WIDTH_PREDICATE);
    test_constant(&b, r[6], 0);
    for (i = 0; i < loops && b.result == GPUMP_OK; i++) {
        uint32_t top, count = 1 + gpump_random_below(random, 40), chases = gpump_random_below(random, 3) == 0,
                      first = gpump_random_below(random, 2);
        int64_t step = 4 * (1 + (int64_t)gpump_random_below(random, 12));
        if (gpump_random_below(random, 2)) step = -step;
        test_constant(&b, r[0], step < 0 ? (PAGES - 1) * PAGE : PAGE + 4 * (int64_t)gpump_random_below(random, 16));
        test_constant(&b, r[1], 0);
        test_constant(&b, r[2], (int64_t)count);
        test_constant(&b, r[7], 30 * PAGE);
        top = gpump_program_count(b.program).instructions;
        if (first && !chases) add(&b, r[0], step);
        for (k = 0; k < 1 + gpump_random_below(random, 3); k++) {
            if (chases) {
                load(&b, TAG_LOAD, r[3], r[7], NO, 4 * (int64_t)gpump_random_below(random, 3));
                test_op(&b, TAG_MIX, r[4], r[3], NO, NO);
                test_op(&b, TAG_SUM, r[6], r[6], r[4], NO);
                {
                    gpump_instruction in =
                        gpump_instruction_make(GPUMP_OP_COMPUTE); /* the next address: some word of some page */
                    uint32_t use = r[4];
                    in.tag = TAG_PLACE;
                    in.defs = &r[7];
                    in.uses = &use;
                    in.def_count = in.use_count = 1;
                    test_add(&b, &in);
                }
            } else if (gpump_random_below(random, 2)) {
                load(&b, TAG_LOAD, r[3], r[0], NO, 4 * (int64_t)gpump_random_below(random, 3));
                test_op(&b, TAG_SUM, r[6], r[6], r[3], NO);
            } else
                store(&b, r[0], r[6], 0);
        }
        if (!first && !chases) add(&b, r[0], step);
        add(&b, r[1], 1);
        test_op(&b, TAG_LESS, p[0], r[1], r[2], NO);
        test_branch(&b, p[0], 0, top);
    }
    store(&b, r[7], r[6], 0);
    test_exit(&b, NO);
    if (test_finish(&b) != GPUMP_OK) {
        gpump_program_destroy(b.program);
        return NULL;
    }
    return b.program;
}
/* Random programs with checks: no access reaches an absent page, and results are those without. */
static void nothing_faults_uncaught(void **state) {
    uint64_t seed = test_seed(), random = seed, walks = 0, predicated = 0, plain = 0, faults = 0, ran = 0;
    (void)state;
    for (uint64_t n = 0; n < test_cases(3000); n++) {
        gpump_program *program = random_program(&random, NULL), *checked;
        gpump_page_checks_config config = kim(gpump_random_below(&random, 4) ? "kim" : "kim_plain");
        gpump_page_checks_report report;
        thread t, u;
        int clean;
        config.bits = 1 + gpump_random_below(&random, 4);
        test_check(gpump_page_checks_insert(program, &config, &checked, &report, NULL) == GPUMP_OK, seed, n);
        test_check(report.accesses == report.walks + report.predicated + report.plain, seed, n);
        walks += report.walks;
        predicated += report.predicated;
        plain += report.plain;
        start(&t, &random, 8);
        memset(t.page, WRITABLE, sizeof t.page);
        clean =
            run(&t, program); /* all there: the result to compare with; programs that leave the memory are skipped */
        if (clean) {
            start(&u, &random, gpump_random_below(&random, 8));
            test_check(run(&u, checked) && !u.uncaught, seed, n);
            test_check(!memcmp(t.word, u.word, sizeof t.word) && t.reg[6] == u.reg[6], seed, n);
            faults += u.faults;
            ran++;
        }
        gpump_program_destroy(checked);
        gpump_program_destroy(program);
    }
    print_message("%llu programs run, %llu faults served; accesses: %llu walks, %llu predicated, %llu one by one\n",
                  (unsigned long long)ran, (unsigned long long)faults, (unsigned long long)walks,
                  (unsigned long long)predicated, (unsigned long long)plain);
    assert_true(ran > test_cases(3000) / 3 && walks && predicated && plain && faults);
}

static gpump_result insert_once(const gpump_allocator *allocator, void *user) {
    uint64_t random = *(uint64_t *)user;
    gpump_program *program = random_program(&random, allocator), *checked;
    gpump_page_checks_config config = kim("kim");
    gpump_result result;
    if (!program) return GPUMP_ERROR_MEMORY;
    result = gpump_page_checks_insert(program, &config, &checked, NULL, NULL);
    if (result == GPUMP_OK) gpump_program_destroy(checked);
    gpump_program_destroy(program);
    return result;
}

/* When memory runs out, inserting page checks returns the failure and leaks nothing. */
static void out_of_memory_is_a_value(void **state) {
    (void)state;
    for (uint64_t random = 1; random < 4; random++) test_every_allocation_failing(insert_once, &random);
}

/* Which form each access of a small program gets: `kind` chooses the program. */
enum {
    STRAIGHT,
    WALK,
    STEP_OF_A_PAGE,
    SOMETIMES_READ,
    SOMETIMES_STEPPED,
    FORWARD,
    CHASE,
    LATE_CONDITION,
    WITH_FENCE,
    WITH_BARRIER,
    FORMS
};
static gpump_program *form(int kind) {
    test_builder b = array_start(20 * PAGE, 4 * PAGE, 50);
    gpump_instruction fence = gpump_instruction_make(GPUMP_OP_COMPUTE);
    fence.flags = GPUMP_FLAG_FENCE;
    switch (kind) {
    case STRAIGHT: load(&b, TAG_LOAD, V, B, NO, 0); return done(&b);
    case WALK:
    case STEP_OF_A_PAGE:
        load(&b, TAG_LOAD, V, B, NO, 0); /* 4 */
        add(&b, B, kind == WALK ? PAGE - 4 : PAGE);
        store(&b, 64 | GPUMP_OPERAND_PARAMETER, V, 0); /* no predicated loop */
        break;
    case SOMETIMES_READ:
    case SOMETIMES_STEPPED:
        test_op(&b, TAG_LESS, P, II, II, NO); /* 4 */
        test_branch(&b, P, 0, 7);
        if (kind == SOMETIMES_READ) load(&b, TAG_LOAD, V, B, NO, 0);    /* 6 */
        add(&b, B, 4);                                                  /* 6 or 7 */
        if (kind == SOMETIMES_STEPPED) load(&b, TAG_LOAD, V, B, NO, 0); /* 7 */
        break;
    case FORWARD: /* the branch leaves the block, which is no loop */
        load(&b, TAG_LOAD, V, B, NO, 0);
        test_op(&b, TAG_LESS, P, V, N, NO);
        test_branch(&b, P, 0, 8);
        test_op(&b, TAG_DOUBLE, W, V, NO, NO);
        return done(&b);
    default:                             /* the address is loaded: no walk */
        load(&b, TAG_LOAD, B, B, NO, 0); /* 4 */
        if (kind == WITH_FENCE) test_add(&b, &fence);
        if (kind == WITH_BARRIER) test_barrier(&b);
    }
    add(&b, II, 1);
    test_op(&b, TAG_LESS, P, II, N, NO);
    if (kind == LATE_CONDITION) test_op(&b, TAG_DOUBLE, W, II, NO, NO);
    test_branch(&b, P, 0, 4);
    return done(&b);
}

/* Each access gets the form of check (walk, predicated, plain) that the paper's rules give it. */
static void each_access_gets_its_form(void **state) {
    /* walks, predicated, plain; the store to a parameter's address is plain */
    static const uint32_t expected[FORMS][3] = {{0, 0, 1}, {1, 0, 1}, {0, 0, 2}, {0, 0, 1}, {0, 0, 1},
                                                {0, 0, 1}, {0, 1, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}};
    (void)state;
    for (int kind = 0; kind < FORMS; kind++) {
        gpump_program *program = form(kind), *checked;
        gpump_page_checks_config config = kim("kim");
        gpump_page_checks_report report;
        assert_int_equal(gpump_page_checks_insert(program, &config, &checked, &report, NULL), GPUMP_OK);
        if (report.walks != expected[kind][0] || report.predicated != expected[kind][1] ||
            report.plain != expected[kind][2])
            fail_msg("program %d: %u walks, %u predicated, %u plain", kind, report.walks, report.predicated,
                     report.plain);
        gpump_program_destroy(checked);
        gpump_program_destroy(program);
    }
}

/* A loop whose last block stands before its header: what is set up for a walk at the loop's entry is jumped over by an
 * iteration that falls through to the header, and by nobody else. */
static void a_loop_that_is_entered_in_the_middle(void **state) {
    test_builder b = array_start(20 * PAGE, 4 * PAGE, 50);
    const gpump_page_checks_config config = kim("kim");
    gpump_page_checks_report report;
    gpump_program *program, *checked;
    uint32_t i, entries = 0, entry = 0;
    (void)state;
    test_branch(&b, NO, 0, 7); /* 4 */
    load(&b, TAG_LOAD, V, B, NO, 0);
    add(&b, B, 4);
    add(&b, II, 1); /* 7: header */
    test_op(&b, TAG_LESS, P, II, N, NO);
    test_branch(&b, P, 0, 5);
    program = done(&b);
    assert_int_equal(gpump_page_checks_insert(program, &config, &checked, &report, NULL), GPUMP_OK);
    assert_int_equal(report.walks, 1);
    for (i = 0; i < gpump_program_count(checked).instructions; i++) {
        gpump_instruction in, before;
        gpump_program_instruction(checked, i, &in);
        if (in.operation != GPUMP_OP_CONSTANT || gpump_program_width(checked, in.defs[0]) != GPUMP_WIDTH_PREDICATE ||
            in.immediate != 1)
            continue;
        entries++;
        entry = i;
        gpump_program_instruction(checked, i - 1, &before);
        assert_int_equal(before.operation, GPUMP_OP_BRANCH);
        assert_int_equal(before.guard, GPUMP_NONE);
        assert_int_equal(before.flags, GPUMP_FLAG_UNIFORM);
        assert_int_equal(before.target, i + 1); /* the header's first instruction */
        assert_int_equal(gpump_program_origin(checked)[i + 1], 7);
    }
    assert_int_equal(entries, 1);
    for (i = 0; i < gpump_program_count(checked).instructions; i++) { /* the way into the loop passes it */
        gpump_instruction in;
        gpump_program_instruction(checked, i, &in);
        if (gpump_program_origin(checked)[i] == 4) assert_int_equal(in.target, entry);
    }
    gpump_program_destroy(checked);
    gpump_program_destroy(program);
}

/* Every value that an iteration hands to the next one waits in a temporary, the second one of an instruction too. */
static void both_values_of_an_iteration_wait_in_temporaries(void **state) {
    test_builder b = test_build(NULL);
    gpump_page_checks_config config = kim("kim");
    gpump_program *checked;
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    const uint32_t defs[2] = {R1, R2}, uses[2] = {R1, R2};
    uint32_t temporary = 0, kept[2] = {GPUMP_NONE, GPUMP_NONE}, moved = 0, i;
    (void)state;
    for (i = 0; i < POINTER_REGISTERS; i++) test_register(&b, i == C ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32);
    test_constant(&b, R2, 0);
    in.defs = defs;
    in.uses = uses;
    in.def_count = in.use_count = 2;
    in.access = GPUMP_ACCESS_READ;
    in.bytes = 8;
    test_add(&b, &in); /* 1: the loop */
    test_op(&b, TAG_NOT_ZERO, C, R1, NO, NO);
    test_branch(&b, C, 0, 1);
    done(&b);
    assert_int_equal(gpump_page_checks_insert(b.program, &config, &checked, NULL, NULL), GPUMP_OK);
    for (i = 0; i < gpump_program_count(checked).instructions; i++) {
        gpump_program_instruction(checked, i, &in);
        if (in.access) {
            assert_int_equal(in.def_count, 3);
            for (temporary = 0; temporary < 2; temporary++) kept[temporary] = in.defs[temporary];
            assert_true(kept[0] > C && kept[1] > C && kept[0] != kept[1]);
        } else if (in.operation == GPUMP_OP_MOVE) {
            assert_true(in.defs[0] == R1 || in.defs[0] == R2);
            assert_int_equal(in.uses[0], kept[in.defs[0] == R2]);
            moved |= 1u << in.defs[0];
        }
    }
    assert_int_equal(moved, 1u << R1 | 1u << R2);
    gpump_program_destroy(checked);
    gpump_program_destroy(b.program);
}

/* What is inserted into random programs, with each limit of checks, beside what was written down: of several right
 * results one is chosen. */
static void checked_programs_are_as_written_down(void **state) {
    decisions all = decisions_begin(60);
    uint64_t random = 3;
    (void)state;
    for (uint32_t n = 0; n < 400; n++) {
        gpump_program *program = random_program(&random, NULL), *checked;
        gpump_page_checks_config config = kim(n % 4 ? "kim" : "kim_plain");
        gpump_page_checks_report found;
        config.bits = 1 + n % 4;
        config.local = n / 4 % 2;
        assert_int_equal(gpump_page_checks_insert(program, &config, &checked, &found, NULL), GPUMP_OK);
        decided(&all,
                "program %" PRIu32 ": %" PRIu32 " walks, %" PRIu32 " predicated, %" PRIu32 " plain: 0x%016" PRIx64, n,
                found.walks, found.predicated, found.plain, test_program_hash(checked));
        gpump_program_destroy(checked);
        gpump_program_destroy(program);
    }
    assert_false(decisions_differ(&all, "tests/program/decisions/page_checks.txt"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kim_figure_1),
        cmocka_unit_test(kim_figure_1_as_printed),
        cmocka_unit_test(kim_figure_2),
        cmocka_unit_test(kim_figure_2_misses_the_fault_of_the_unchecked_load),
        cmocka_unit_test(kim_figure_2_adds_twice_after_a_restart),
        cmocka_unit_test(nothing_follows_a_fault),
        cmocka_unit_test(resident_memory_is_not_checked),
        cmocka_unit_test(constant_address),
        cmocka_unit_test(local_memory),
        cmocka_unit_test(each_access_gets_its_form),
        cmocka_unit_test(a_loop_that_is_entered_in_the_middle),
        cmocka_unit_test(both_values_of_an_iteration_wait_in_temporaries),
        cmocka_unit_test(checked_programs_are_as_written_down),
        cmocka_unit_test(nothing_faults_uncaught),
        cmocka_unit_test(out_of_memory_is_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
