/* labels: unit property */
#include "program/oracle_program.h"

enum { POINTS = 200 };

static gpump_preempt_points_config lin(uint32_t interval) {
    gpump_preempt_points_config config;
    assert_int_equal(gpump_preset(&gpump_preempt_points_component, &config, "lin", NULL), GPUMP_OK);
    if (interval) config.interval = interval;
    return config;
}

/* Runs a placed program; at every point passed, with a chance, throws away whatever the point's vectors do not name.
 * broken: a register taken out of every vector, to show that the test sees it. */
static int run_stopping(oracle_machine *m, const gpump_preempt_point *points, uint64_t *random, uint32_t broken,
                        uint64_t *stops) {
    const gpump_program *program = m->program;
    uint32_t predicates = 0;
    while (predicates < gpump_program_count(program).registers &&
           gpump_program_width(program, predicates) == GPUMP_WIDTH_32)
        predicates++;
    for (;;) {
        uint32_t w, left = 0;
        for (w = 0; w < m->warps; w++) {
            oracle_warp *warp = &m->warp[w];
            gpump_instruction in;
            if (oracle_done(warp)) continue;
            left = 1;
            if (warp->waiting) continue;
            gpump_program_instruction(program, warp->stack[warp->depth - 1].pc, &in);
            if ((in.operation == GPUMP_OP_PP || in.operation == GPUMP_OP_BARRIER_PP) && gpump_random_below(random, 2)) {
                const gpump_preempt_point *point = &points[in.immediate];
                uint32_t alive = 0, i;
                int diverged;
                for (i = 0; i < warp->depth; i++) alive |= warp->stack[i].lanes;
                diverged = alive != warp->stack[warp->depth - 1].lanes;
                ++*stops;
                for (i = 0; i < gpump_program_count(program).registers; i++) {
                    int kept =
                        i >= predicates
                            ? (int)((diverged ? point->predicates_diverged : point->predicates) >> (i - predicates) & 1)
                            : gpumpi_live_vector_has(diverged ? point->vector_diverged : point->vector, i);
                    for (uint32_t l = 0; l < ORACLE_LANES && (!kept || i == broken); l++)
                        warp->reg[l][i] = gpump_random_next(random) & (i >= predicates ? 1u : UINT32_MAX);
                }
            }
            oracle_step(m, w);
        }
        if (!left) return 1;
        if (m->steps > 100000) return 0;
        oracle_release(m);
    }
}

/* A warp that stops at a point, keeps only the registers that its vector names, and goes on, ends with the same memory.
 */
static void registers_in_the_live_vectors_suffice_to_go_on(void **state) {
    static draft d;
    static oracle_machine before, after;
    uint64_t seed = test_seed(), random = seed, stops = 0, caught = 0, ran = 0, narrower = 0, pps = 0;
    (void)state;
    for (uint64_t n = 0; n < test_cases(3000); n++) {
        gpump_program *program = draft_random(&d, &random, 10 + gpump_random_below(&random, 60), 2, 8, 1, NULL),
                      *allocated, *placed;
        gpump_registers_config file;
        gpump_registers_report report;
        gpump_preempt_points_config config = lin(1 + gpump_random_below(&random, 30));
        gpump_preempt_point points[POINTS];
        uint32_t count, i, barriers = 0, k, loops_with[64] = {0};
        gpump_preset(&gpump_registers_component, &file, "fermi", NULL);
        test_check(gpump_registers_allocate(program, &file, &allocated, &report, NULL) == GPUMP_OK, seed, n);
        count = 0;
        test_check(gpump_preempt_points_place(allocated, &config, &placed, points, 0, &count, NULL) ==
                       (count ? GPUMP_ERROR_CAPACITY : GPUMP_OK),
                   seed, n);
        if (!count) gpump_program_destroy(placed);
        assert_true(count <= POINTS);
        test_check(gpump_preempt_points_place(allocated, &config, &placed, points, POINTS, &count, NULL) == GPUMP_OK,
                   seed, n);
        /* every barrier has its entry, every innermost loop one point, and a loop with a barrier has it there */
        for (i = k = 0; i < gpump_program_count(placed).instructions; i++) {
            gpump_instruction in, next;
            gpump_program_instruction(placed, i, &in);
            test_check(in.operation != GPUMP_OP_BARRIER, seed, n);
            if (in.operation != GPUMP_OP_PP && in.operation != GPUMP_OP_BARRIER_PP) continue;
            test_check(k < count && in.immediate == k && points[k].instruction == i, seed, n);
            test_check((points[k].kind == GPUMP_PREEMPT_PP) == (in.operation == GPUMP_OP_PP), seed, n);
            test_check((points[k].vector & ~points[k].vector_diverged) == 0, seed, n);
            if (in.operation == GPUMP_OP_PP) {
                gpump_program_instruction(placed, i + 1, &next);
                test_check(next.operation == GPUMP_OP_PP_DIVERGED && next.immediate == k, seed, n);
                pps++;
                narrower += points[k].vector != points[k].vector_diverged;
            } else
                barriers++;
            if (points[k].loop != GPUMP_NONE && points[k].loop < 64) loops_with[points[k].loop]++;
            k++;
        }
        test_check(k == count, seed, n);
        for (i = 0; i < gpump_program_count(allocated).loops && i < 64; i++) {
            gpump_loop loop;
            gpump_program_loop(allocated, i, &loop);
            test_check(loops_with[i] == loop.innermost, seed, n);
        }
        oracle_start(&before, program, 2, 1, n);
        if (oracle_run(&before, 20000)) {
            oracle_start(&after, placed, 2, 1, n + 1);
            test_check(run_stopping(&after, points, &random, GPUMP_NONE, &stops), seed, n);
            test_check(oracle_result(&before) == oracle_result(&after), seed, n);
            oracle_start(&after, placed, 2, 1, n + 1);
            caught += !run_stopping(&after, points, &random, gpump_random_below(&random, report.registers), &stops) ||
                      oracle_result(&before) != oracle_result(&after);
            ran++;
        }
        gpump_program_destroy(placed);
        gpump_program_destroy(allocated);
        gpump_program_destroy(program);
    }
    print_message(
        "%llu programs, %llu stops; a register left out was caught in %llu; diverged vector wider at %llu of %llu pp\n",
        (unsigned long long)ran, (unsigned long long)stops, (unsigned long long)caught, (unsigned long long)narrower,
        (unsigned long long)pps);
    assert_true(caught > ran / 20);
}

/* Two loops: one with two barriers of different liveness, one without any; the barrier outside keeps its vector too. */
static void places_by_hand(void **state) {
    test_builder b = test_build(NULL);
    uint32_t r[4], p, count, i;
    gpump_preempt_points_config config = lin(0);
    gpump_preempt_point points[10];
    gpump_program *placed;
    gpump_instruction in;
    (void)state;
    for (i = 0; i < 4; i++) r[i] = test_register(&b, GPUMP_WIDTH_32);
    p = test_register(&b, GPUMP_WIDTH_PREDICATE);
    for (i = 0; i < 2; i++) test_op(&b, 1, r[i], GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* 0, 1 */
    test_barrier(&b);                                                                 /* 2: outside */
    test_op(&b, 2, r[2], r[0], GPUMP_NONE, GPUMP_NONE);                               /* 3: loop header */
    test_barrier(&b);                                                                 /* 4: r0 r1 r2 live */
    test_op(&b, 3, r[0], r[0], r[2], GPUMP_NONE);                                     /* 5 */
    test_barrier(&b);                                                                 /* 6: r0 r1 live */
    test_op(&b, 4, p, r[0], GPUMP_NONE, GPUMP_NONE);                                  /* 7 */
    test_branch(&b, p, 0, 3);                                                         /* 8 */
    test_op(&b, 5, r[2], r[0], r[1], GPUMP_NONE);                                     /* 9: second loop */
    test_op(&b, 6, r[3], r[0], r[2], GPUMP_NONE);                                     /* 10 */
    test_op(&b, 7, r[0], r[3], r[2], GPUMP_NONE);                                     /* 11 */
    test_op(&b, 8, p, r[0], GPUMP_NONE, GPUMP_NONE);                                  /* 12: r0 r1 live */
    test_branch(&b, p, 0, 9);                                                         /* 13: r0 r1 and the predicate */
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_preempt_points_place(b.program, &config, &placed, points, 10, &count, NULL), GPUMP_OK);
    assert_int_equal(count, 4);
    assert_int_equal(points[0].kind, GPUMP_PREEMPT_BARRIER_WAIT);
    assert_int_equal(points[1].kind, GPUMP_PREEMPT_BARRIER_WAIT);
    assert_int_equal(points[1].vector, 7);
    assert_int_equal(points[2].kind, GPUMP_PREEMPT_BARRIER);
    assert_int_equal(points[2].vector, 3);
    assert_int_equal(points[2].vector_diverged, 3);
    assert_int_equal(points[3].kind, GPUMP_PREEMPT_PP);
    assert_int_equal(gpump_program_origin(placed)[points[3].instruction + 2],
                     9); /* the first of equals: before 9, the header */
    assert_int_equal(points[3].vector, 3);
    assert_int_equal(points[3].live_registers, 2);
    gpump_program_instruction(placed, 15, &in); /* the loop's branch runs through the pp */
    assert_int_equal(in.target, points[3].instruction);
    gpump_program_destroy(placed);
    gpump_program_destroy(b.program);
}

/* A loop that the program begins with, and that has two ways back: its point is where every round passes, although
 * fewer registers are live elsewhere. */
static void a_loop_from_the_start(void **state) {
    test_builder b = test_build(NULL);
    const uint32_t x = test_register(&b, GPUMP_WIDTH_32), y = test_register(&b, GPUMP_WIDTH_32),
                   z = test_register(&b, GPUMP_WIDTH_32), w = test_register(&b, GPUMP_WIDTH_32),
                   p = test_register(&b, GPUMP_WIDTH_PREDICATE);
    const gpump_preempt_points_config config = lin(0);
    gpump_preempt_point points[4];
    gpump_program *placed;
    uint32_t count, width;
    uint64_t bit;
    (void)state;
    test_op(&b, 1, w, x, y, z);                   /* 0: header; x, y, z are live */
    test_branch(&b, p, 0, 5);                     /* 1 */
    test_op(&b, 2, y, x, GPUMP_NONE, GPUMP_NONE); /* 2: only x is live */
    test_op(&b, 3, z, x, GPUMP_NONE, GPUMP_NONE); /* 3 */
    test_branch(&b, p, 1, 0);                     /* 4: the first way back */
    test_op(&b, 4, w, x, GPUMP_NONE, GPUMP_NONE); /* 5 */
    test_branch(&b, p, 0, 0);                     /* 6: the second */
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_preempt_points_place(b.program, &config, &placed, points, 4, &count, NULL), GPUMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(points[0].loop, 0);
    assert_int_equal(gpump_program_origin(placed)[points[0].instruction + 2], 0);
    assert_int_equal(points[0].live_registers, 3);
    assert_int_equal(points[0].vector, 7);
    gpump_program_destroy(placed);
    gpump_program_destroy(b.program);
    /* Each bit counts as one register, the last one as all that there are from its number on. */
    for (bit = 0; bit < GPUMP_LIVE_VECTOR_REGISTERS; bit++)
        assert_int_equal(gpumpi_live_vector_count(UINT64_C(1) << bit, 60), 1);
    for (width = 0; width < 70; width++)
        assert_int_equal(gpumpi_live_vector_count(GPUMP_LIVE_VECTOR_REST | 1, width),
                         width > GPUMP_LIVE_VECTOR_REGISTERS ? 1 + width - GPUMP_LIVE_VECTOR_REGISTERS : 1);
}

/* A loop of several basic blocks: every round passes the last one, whose branch leads back, as well as the header.
 * Fewer registers are live there. What precedes other blocks does not count. */
static void a_loop_that_is_left_in_the_middle(void **state) {
    test_builder b = test_build(NULL);
    const uint32_t x = test_register(&b, GPUMP_WIDTH_32), y = test_register(&b, GPUMP_WIDTH_32),
                   p = test_register(&b, GPUMP_WIDTH_PREDICATE);
    const gpump_preempt_points_config config = lin(0);
    gpump_preempt_point points[4];
    gpump_program *placed;
    uint32_t count;
    (void)state;
    test_op(&b, 1, x, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* 0 */
    test_op(&b, 2, y, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* 1 */
    test_op(&b, 3, p, x, y, GPUMP_NONE);                   /* 2: header; x and y are live */
    test_branch(&b, p, 0, 7);                              /* 3: out */
    test_op(&b, 4, y, x, GPUMP_NONE, GPUMP_NONE);          /* 4: only x is live */
    test_op(&b, 5, y, y, x, GPUMP_NONE);                   /* 5 */
    test_branch(&b, GPUMP_NONE, 0, 2);                     /* 6 */
    test_op(&b, 6, GPUMP_NONE, x, y, GPUMP_NONE);          /* 7 */
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_preempt_points_place(b.program, &config, &placed, points, 4, &count, NULL), GPUMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(points[0].loop, 0);
    assert_int_equal(gpump_program_origin(placed)[points[0].instruction + 2], 4);
    assert_int_equal(points[0].vector, 1);
    gpump_program_destroy(placed);
    gpump_program_destroy(b.program);
}

/* Outside loops there is one point for each K instructions, and none for the rest of them. */
static void one_point_for_each_interval(void **state) {
    (void)state;
    for (uint32_t length = 1; length < 50; length += 6)
        for (uint32_t interval = 1; interval < 40; interval += 4) {
            gpump_preempt_points_config config = lin(0);
            gpump_preempt_point points[60];
            test_builder b = test_build(NULL);
            const uint32_t x = test_register(&b, GPUMP_WIDTH_32);
            gpump_program *placed;
            uint32_t i, count = 0;
            config.interval = interval;
            for (i = 0; i + 1 < length; i++) test_op(&b, i, x, i ? x : GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
            test_exit(&b, GPUMP_NONE);
            test_finish(&b);
            assert_int_equal(gpump_preempt_points_place(b.program, &config, &placed, points, 60, &count, NULL),
                             GPUMP_OK);
            assert_int_equal(count, length / interval);
            for (i = 0; i < count; i++) {
                const uint32_t at = gpump_program_origin(placed)[points[i].instruction + 2];
                assert_true(at >= i * interval && at < (i + 1) * interval);
                assert_int_equal(points[i].loop, GPUMP_NONE);
            }
            gpump_program_destroy(placed);
            gpump_program_destroy(b.program);
        }
}

/* Registers from 53 up share one bit. */
static void the_last_bit_stands_for_the_rest(void **state) {
    test_builder b = test_build(NULL);
    uint32_t r, p, count, i;
    gpump_preempt_points_config config = lin(1);
    gpump_preempt_point points[10];
    gpump_program *placed;
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t uses[3] = {52, 53, 60};
    (void)state;
    for (i = 0; i < 64; i++) r = test_register(&b, GPUMP_WIDTH_32);
    p = test_register(&b, GPUMP_WIDTH_PREDICATE);
    (void)r;
    in.uses = uses;
    in.use_count = 3;
    in.guard = p;
    test_add(&b, &in);
    in.use_count = 1;
    test_add(&b, &in);
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_preempt_points_place(b.program, &config, &placed, points, 10, &count, NULL), GPUMP_OK);
    assert_int_equal(count, 3);
    assert_true(points[0].vector == (UINT64_C(3) << 52) && points[0].predicates == 1 && points[0].live_registers == 3);
    assert_int_equal(gpumpi_live_vector_count(points[0].vector, 64), 1 + 64 - 53);
    assert_true(points[1].vector == UINT64_C(1) << 52);
    assert_int_equal(gpumpi_live_vector_count(points[1].vector, 64), 1);
    assert_true(gpumpi_live_vector_has(points[0].vector, 63) && !gpumpi_live_vector_has(points[1].vector, 63));
    assert_int_equal(points[2].vector, 0);
    gpump_program_destroy(placed);
    config.interval = 0;
    assert_int_equal(gpump_preempt_points_place(b.program, &config, &placed, points, 10, &count, NULL),
                     GPUMP_ERROR_CONFIG);
    gpump_program_destroy(b.program);
}

/* What no path leads to gets no point, and does not count. */
static void unreachable_code_has_no_points(void **state) {
    const gpump_preempt_points_config every = {5};
    gpump_preempt_point points[16];
    gpump_program *placed;
    uint32_t count = 99;
    test_builder b = test_build(NULL);
    const uint32_t x = test_register(&b, GPUMP_WIDTH_32);
    (void)state;
    for (uint32_t i = 0; i < 3; i++) test_constant(&b, x, 1);
    test_branch(&b, GPUMP_NONE, 0, 24);
    for (uint32_t i = 0; i < 20; i++) test_constant(&b, x, 2);
    test_exit(&b, GPUMP_NONE); /* 24 */
    test_finish(&b);
    assert_int_equal(gpump_preempt_points_place(b.program, &every, &placed, points, 16, &count, NULL), GPUMP_OK);
    assert_int_equal(count, 1); /* five instructions are reachable */
    gpump_program_destroy(placed);
    gpump_program_destroy(b.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreachable_code_has_no_points),
        cmocka_unit_test(places_by_hand),
        cmocka_unit_test(a_loop_from_the_start),
        cmocka_unit_test(a_loop_that_is_left_in_the_middle),
        cmocka_unit_test(one_point_for_each_interval),
        cmocka_unit_test(the_last_bit_stands_for_the_rest),
        cmocka_unit_test(registers_in_the_live_vectors_suffice_to_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
