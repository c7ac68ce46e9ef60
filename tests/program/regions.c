/* labels: unit property */
#include "program/oracle_program.h"

static gpump_regions_config preset(const char *name) {
    gpump_regions_config config;
    assert_int_equal(gpump_preset(&gpump_regions_component, &config, name, NULL), GPUMP_OK);
    return config;
}

/* ---- iGPU Fig. 3 and 4: matrix multiply-accumulate ---- */

enum { MAC_ROW, MAC_COL, MAC_R0, MAC_R1, MAC_R2, MAC_T, MAC_A, MAC_U, MAC_B, MAC_P, MAC_OUT, MAC_REGISTERS };
/* Figure 3's source line of each instruction, 0: none of its own. */
static const uint32_t mac_lines[] = {2, 3, 4, 4, 4, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 8};
/* Line 7 is not printed as device code. split 0: one store whose address is made from row and col in the instruction,
 * which leaves three registers live at every place outside the loop, as the figure has it. split 1: address arithmetic
 * in instructions of its own. */
static gpump_program *mac_kernel(int split) {
    test_builder b = test_build(NULL);
    uint32_t a, m, c, i,
        parameter[3] = {8 | GPUMP_OPERAND_PARAMETER, 16 | GPUMP_OPERAND_PARAMETER, 24 | GPUMP_OPERAND_PARAMETER};
    for (i = 0; i < MAC_REGISTERS; i++) test_register(&b, i == MAC_P ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32);
    a = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
    m = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
    c = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
#define NO GPUMP_NONE
    test_op(&b, 100, MAC_ROW, NO, NO, NO);                                        /* 0: row */
    test_op(&b, 101, MAC_COL, NO, NO, NO);                                        /* 1: col */
    test_op(&b, 1, MAC_R0, MAC_ROW, parameter[0], NO);                            /* 2: row * C.width */
    test_op(&b, 2, MAC_R0, MAC_R0, MAC_COL, NO);                                  /* 3: + col */
    test_op(&b, 3, MAC_R0, MAC_R0, parameter[1], NO);                             /* 4: + C.data */
    test_access(&b, 1, 4, MAC_R1, MAC_R0, NO, GPUMP_SPACE_GLOBAL, c, 0, 0, 0, 0); /* 5: Cvalue */
    test_constant(&b, MAC_R2, 0);                                                 /* 6: i = 0 */
    test_op(&b, ORACLE_TAG_LOOP, MAC_P, MAC_R2, NO, NO);                          /* 7: LOOP: i < A.width */
    test_branch(&b, MAC_P, 1, 16);                                                /* 8 */
    test_op(&b, 6, MAC_T, MAC_ROW, MAC_R2, NO);                                   /* 9 */
    test_access(&b, 1, 7, MAC_A, MAC_T, NO, GPUMP_SPACE_GLOBAL, a, 0, 0, 0, 0);   /* 10 */
    test_op(&b, 8, MAC_U, MAC_COL, MAC_R2, NO);                                   /* 11 */
    test_access(&b, 1, 9, MAC_B, MAC_U, NO, GPUMP_SPACE_GLOBAL, m, 0, 0, 0, 0);   /* 12 */
    test_op(&b, 10, MAC_R1, MAC_A, MAC_B, MAC_R1);                                /* 13: Cvalue += a * b */
    {
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_ADD); /* 14: ++i */
        uint32_t r2 = MAC_R2;
        in.defs = in.uses = &r2;
        in.def_count = in.use_count = 1;
        in.immediate = 1;
        test_add(&b, &in);
    }
    test_branch(&b, NO, 0, 7); /* 15 */
    if (split) {
        test_op(&b, 1, MAC_OUT, MAC_ROW, parameter[0], NO);                             /* 16 */
        test_op(&b, 2, MAC_OUT, MAC_OUT, MAC_COL, NO);                                  /* 17 */
        test_op(&b, 3, MAC_OUT, MAC_OUT, parameter[1], NO);                             /* 18 */
        test_access(&b, 2, 11, NO, MAC_OUT, MAC_R1, GPUMP_SPACE_GLOBAL, c, 0, 0, 0, 0); /* 19 */
    } else {
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        uint32_t uses[4] = {MAC_ROW, MAC_R1, MAC_COL, parameter[0]};
        in.uses = uses;
        in.use_count = 4;
        in.access = GPUMP_ACCESS_WRITE;
        in.object = c;
        in.bytes = 4;
        test_add(&b, &in); /* 16 */
    }
    test_exit(&b, NO);
#undef NO
    test_finish(&b);
    return b.program;
}

/* The live registers before lines 2 to 5 are those that Figure 3 of the iGPU paper prints. */
static void igpu_figure_3_live(void **state) {
    static const uint32_t printed[] = {0, 1, 2, 3}; /* before lines 2 to 5 */
    gpump_program *program = mac_kernel(0);
    gpump_liveness *liveness;
    uint32_t live[32], line, i;
    (void)state;
    assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
    assert_int_equal(gpump_liveness_pressure(liveness, live, NULL, NULL, NULL), GPUMP_OK);
    for (line = 2; line <= 5; line++) {
        for (i = 0; mac_lines[i] != line; i++) {}
        assert_int_equal(live[i], printed[line - 2]);
    }
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(program);
}

/* Figure 4: one boundary, right before the loop variable is set; behind it one move; the loop and the store use the
 * copy. */
static void igpu_figure_4_code(void **state) {
    gpump_program *program = mac_kernel(0), *formed;
    gpump_regions_config config = preset("igpu");
    gpump_regions_report report;
    gpump_liveness *liveness;
    gpump_instruction in;
    uint32_t i, fresh = MAC_REGISTERS, live[40], count;
    (void)state;
    assert_int_equal(gpump_regions_form(program, &config, &formed, &report, NULL), GPUMP_OK);
    assert_int_equal(report.sparse, 1);
    assert_int_equal(report.cuts[GPUMP_CUT_CLOBBER], 1);
    assert_int_equal(report.moves, 1);
    assert_int_equal(gpump_program_count(formed).instructions, gpump_program_count(program).instructions + 2);
    assert_int_equal(gpump_program_count(formed).registers, MAC_REGISTERS + 1);
    for (i = 0; i < gpump_program_count(formed).instructions; i++) { /* instruction by instruction */
        gpump_instruction old;
        uint32_t k;
        gpump_program_instruction(formed, i, &in);
        if (i == 6) {
            assert_int_equal(in.operation, GPUMP_OP_BOUNDARY);
            assert_int_equal(in.immediate, GPUMP_BOUNDARY_SPARSE);
            continue;
        }
        if (i == 7) {
            assert_int_equal(in.operation, GPUMP_OP_MOVE);
            assert_int_equal(in.defs[0], fresh);
            assert_int_equal(in.uses[0], MAC_R1);
            continue;
        }
        gpump_program_instruction(program, i < 6 ? i : i - 2, &old);
        assert_int_equal(gpump_program_origin(formed)[i], i < 6 ? i : i - 2);
        assert_int_equal(in.operation, old.operation);
        for (k = 0; k < in.def_count; k++)
            assert_int_equal(in.defs[k], i > 7 && old.defs[k] == MAC_R1 ? fresh : old.defs[k]);
        for (k = 0; k < in.use_count; k++)
            assert_int_equal(in.uses[k], i > 7 && old.uses[k] == MAC_R1 ? fresh : old.uses[k]);
    }
    assert_int_equal(gpump_liveness_create(formed, test_watched(), &liveness), GPUMP_OK);
    assert_int_equal(gpump_liveness_pressure(liveness, live, NULL, NULL, NULL), GPUMP_OK);
    assert_int_equal(live[6], 3); /* at the cut: row, col, Cvalue */
    gpump_liveness_destroy(liveness);
    count = 0;
    assert_int_equal(gpump_clobbers_find(formed, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, NULL, 0, &count), GPUMP_OK);
    assert_int_equal(count, 0);
    assert_int_equal(gpump_clobbers_find(program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, NULL, 0, &count),
                     GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 1);
    gpump_program_destroy(formed);
    gpump_program_destroy(program);
    /* the same kernel with its address arithmetic spelled out: two registers are live right before the store, so the
     * cut goes there and nothing needs a move */
    program = mac_kernel(1);
    assert_int_equal(gpump_regions_form(program, &config, &formed, &report, NULL), GPUMP_OK);
    assert_int_equal(report.sparse, 1);
    assert_int_equal(report.moves, 0);
    gpump_program_instruction(formed, 19, &in);
    assert_int_equal(in.operation, GPUMP_OP_BOUNDARY);
    gpump_program_destroy(formed);
    gpump_program_destroy(program);
}

/* ---- restarting ---- */

/* Sends warp w back to its last boundary: PC and SIMT stack from there, registers and memory as they happen to be;
 * whatever was not live at the recorded PCs is lost. 0: not allowed now. */
static int restart(oracle_machine *m, uint32_t w, uint64_t *random, const gpump_liveness *liveness) {
    oracle_warp *warp = &m->warp[w];
    gpump_instruction in;
    uint64_t set[ORACLE_REGISTERS / 64 + 1];
    uint32_t pcs[ORACLE_STACK], d, r;
    if (oracle_done(warp) || warp->waiting) return 0;
    gpump_program_instruction(m->program, warp->stack[warp->depth - 1].pc, &in);
    if (warp->last == GPUMP_OP_BARRIER && in.operation == GPUMP_OP_BOUNDARY) return 0; /* the two commit together */
    memcpy(warp->stack, warp->saved, sizeof warp->stack);
    warp->depth = warp->saved_depth;
    for (d = 0; d < warp->depth; d++) pcs[d] = warp->stack[d].pc;
    gpump_liveness_stack(liveness, pcs, warp->depth, set);
    for (r = 0; r < gpump_program_count(m->program).registers; r++)
        for (uint32_t l = 0; l < ORACLE_LANES && !gpump_bits_get(set, r); l++)
            warp->reg[l][r] =
                gpump_random_next(random) & (gpump_program_width(m->program, r) == GPUMP_WIDTH_64 ? UINT64_MAX
                                             : gpump_program_width(m->program, r)                 ? UINT32_MAX
                                                                                                  : 1u);
    return 1;
}

/* Runs with a restart at step after step (every one up to 60, then a sample); returns how many gave another result. */
static uint32_t restart_everywhere(const gpump_program *program, uint32_t warps, uint32_t level, uint64_t expected,
                                   uint64_t *random, uint64_t *restarts, int until_wrong) {
    static oracle_machine base, fork;
    gpump_liveness *liveness;
    uint32_t wrong = 0, step = 0, w;
    assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
    oracle_start(&base, program, warps, 1, 9);
    base.level = level;
    for (;;) {
        uint32_t left = 0;
        for (w = 0; w < warps; w++) {
            if (oracle_done(&base.warp[w])) continue;
            left = 1;
            if (base.warp[w].waiting) continue;
            if (!(until_wrong && wrong) && (step++ < 60 || gpump_random_below(random, 20) == 0)) {
                fork = base;
                if (restart(&fork, w, random, liveness)) {
                    ++*restarts;
                    wrong += !oracle_run(&fork, base.steps + 60000) || oracle_result(&fork) != expected;
                }
            }
            oracle_step(&base, w);
        }
        if (!left) break;
        if (base.steps > 60000) { /* a broken program need not end */
            wrong++;
            break;
        }
        oracle_release(&base);
    }
    gpump_liveness_destroy(liveness);
    return wrong;
}

/* No way from a boundary round to itself without another; no way longer than the limit without one. */
static void check_spacing(const gpump_program *program, uint32_t limit, uint64_t seed, uint64_t n) {
    static uint32_t longest[4000], queue[400000];
    uint32_t count = gpump_program_count(program).instructions, i, at, k;
    for (i = 0; i < count; i++) {
        gpump_instruction in;
        uint32_t head = 0, tail = 0;
        static uint8_t seen[4000];
        gpump_program_instruction(program, i, &in);
        if (in.operation != GPUMP_OP_BOUNDARY) continue;
        memset(seen, 0, count);
        queue[tail++] = i;
        while (head < tail) {
            uint32_t b = gpump_program_basic_block_of(program, at = queue[head++]), next[2], nexts = 0;
            gpump_basic_block block, to;
            gpump_program_basic_block(program, b, &block);
            if (at + 1 < block.first + block.count)
                next[nexts++] = at + 1;
            else
                for (k = 0; k < block.successor_count; k++) {
                    gpump_program_basic_block(program, block.successors[k], &to);
                    next[nexts++] = to.first;
                }
            for (k = 0; k < nexts; k++) {
                gpump_program_instruction(program, next[k], &in);
                test_check(next[k] != i, seed, n);
                if (in.operation == GPUMP_OP_BOUNDARY || seen[next[k]]) continue;
                seen[next[k]] = 1;
                queue[tail++] = next[k];
            }
        }
    }
    if (!limit) return;
    memset(longest, 0, sizeof longest);
    for (i = 0, k = 1; k; i++) { /* to a fixed point; finite, or it never ends */
        assert_true(i < 100000);
        for (at = k = 0; at < count; at++) {
            uint32_t here = longest[at], s, b = gpump_program_basic_block_of(program, at), next[2], nexts = 0;
            gpump_instruction in;
            gpump_basic_block block, to;
            gpump_program_basic_block(program, b, &block);
            if (!block.reachable) continue;
            gpump_program_instruction(program, at, &in);
            here = in.operation == GPUMP_OP_BOUNDARY ? 0 : here + (gpump_program_origin(program)[at] != GPUMP_NONE);
            test_check(here <= limit, seed, n);
            if (at + 1 < block.first + block.count)
                next[nexts++] = at + 1;
            else
                for (s = 0; s < block.successor_count; s++) {
                    gpump_program_basic_block(program, block.successors[s], &to);
                    next[nexts++] = to.first;
                }
            for (s = 0; s < nexts; s++)
                if (here > longest[next[s]]) longest[next[s]] = here, k = 1;
        }
    }
}

/* A copy of a program without one BOUNDARY or MOVE that was put in: number `which` of those; NULL past the last. */
static gpump_program *without(const gpump_program *program, uint32_t operation, uint32_t which) {
    test_builder b = test_build(NULL);
    uint32_t i, at = 0, skip = GPUMP_NONE,
                *place = (uint32_t *)malloc(gpump_program_count(program).instructions * sizeof *place);
    for (i = 0; i < gpump_program_count(program).instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        place[i] = at;
        if (in.operation == operation && gpump_program_origin(program)[i] == GPUMP_NONE && skip == GPUMP_NONE &&
            !which--)
            skip = i;
        else
            at++;
    }
    for (i = 0; i < gpump_program_count(program).registers; i++) test_register(&b, gpump_program_width(program, i));
    for (i = 0; i < gpump_program_count(program).objects; i++) {
        gpump_memory_object o = gpump_program_object(program, i);
        test_object(&b, o.space, o.alias_class);
    }
    for (i = 0; i < gpump_program_count(program).instructions && skip != GPUMP_NONE; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.target != GPUMP_NONE) in.target = place[in.target];
        if (i != skip) test_add(&b, &in);
    }
    free(place);
    if (skip == GPUMP_NONE) {
        gpump_program_destroy(b.program);
        return NULL;
    }
    test_finish(&b);
    return b.program;
}

/* A random program that is restarted at any boundary leaves the memory that it leaves without a restart. */
static void any_restart_leaves_the_same_memory(void **state) {
    static draft d;
    static oracle_machine before, after;
    uint64_t seed = test_seed(), random = seed, restarts = 0, ran = 0, removed[2] = {0, 0}, caught[2] = {0, 0},
             moves = 0, copies = 0, boundaries = 0;
    (void)state;
    for (uint64_t n = 0; n < test_cases(1500); n++) {
        gpump_program *program = draft_random(&d, &random, 8 + gpump_random_below(&random, 40), 3, 12, 1, NULL),
                      *formed, *allocated;
        gpump_regions_config config = preset(gpump_random_below(&random, 2) ? "igpu" : "igpu_short");
        gpump_regions_report report;
        gpump_registers_config file;
        gpump_registers_report fitted;
        gpump_clobber list[4];
        uint32_t count = 0, level;
        uint64_t expected;
        config.few_live = gpump_random_below(&random, 2);
        if (config.max_instructions) config.max_instructions = 3 + gpump_random_below(&random, 14);
        oracle_start(&before, program, 2, 1, 9);
        if (!oracle_run(&before, 3000)) {
            gpump_program_destroy(program);
            continue;
        }
        expected = oracle_result(&before);
        ran++;
        test_check(gpump_regions_form(program, &config, &formed, &report, NULL) == GPUMP_OK, seed, n);
        assert_true(gpump_program_count(formed).registers < ORACLE_REGISTERS);
        check_spacing(formed, config.max_instructions, seed, n);
        moves += report.moves;
        copies += report.copies;
        boundaries += report.sparse + report.shorts;
        oracle_start(&after, formed, 2, 1, 10);
        test_check(oracle_run(&after, 60000) && oracle_result(&after) == expected, seed, n);
        gpump_preset(&gpump_registers_component, &file, "kepler", NULL);
        if (gpump_random_below(&random, 2)) file.registers = 9 + gpump_random_below(&random, 8);
        test_check(gpump_registers_allocate(formed, &file, &allocated, &fitted, NULL) == GPUMP_OK, seed, n);
        for (level = 0; level < 2; level++) {
            test_check(gpump_clobbers_find(formed, GPUMP_UNIT_WARP, level, list, 4, &count) == GPUMP_OK && count == 0,
                       seed, n);
            test_check(restart_everywhere(formed, 2, level, expected, &random, &restarts, 0) == 0, seed, n);
            test_check(gpump_clobbers_find(allocated, GPUMP_UNIT_WARP, level, list, 4, &count) == GPUMP_OK &&
                           count == 0,
                       seed, n);
            test_check(restart_everywhere(allocated, 2, level, expected, &random, &restarts, 0) == 0, seed, n);
        }
        for (level = 0; level < 2; level++) { /* a boundary, then a move, taken away */
            gpump_program *broken =
                without(formed, level ? GPUMP_OP_MOVE : GPUMP_OP_BOUNDARY, gpump_random_below(&random, 4));
            if (!broken) continue;
            removed[level]++;
            caught[level] += restart_everywhere(broken, 2, 1, expected, &random, &restarts, 1) != 0;
            gpump_program_destroy(broken);
        }
        gpump_program_destroy(allocated);
        gpump_program_destroy(formed);
        gpump_program_destroy(program);
    }
    print_message("%llu programs, %llu boundaries, %llu moves (%llu through a second boundary), %llu restarts; caught "
                  "without a boundary %llu of %llu, without a "
                  "move %llu of %llu\n",
                  (unsigned long long)ran, (unsigned long long)boundaries, (unsigned long long)moves,
                  (unsigned long long)copies, (unsigned long long)restarts, (unsigned long long)caught[0],
                  (unsigned long long)removed[0], (unsigned long long)caught[1], (unsigned long long)removed[1]);
    assert_true(caught[0] > removed[0] / 30 && caught[1] > removed[1] / 6);
}

/* Write-read-write is safe; read-write is not; and what is safe for a thread may not be for a warp. */
/* The boundaries next to the instruction that came from `origin`: before it and behind it. */
static void stands_alone(const gpump_program *split, uint32_t origin, uint64_t seed, uint64_t n) {
    uint32_t i, found = 0;
    for (i = 0; i < gpump_program_count(split).instructions; i++) {
        gpump_instruction in;
        uint32_t at;
        if (gpump_program_origin(split)[i] != origin) continue;
        gpump_program_instruction(split, i, &in);
        if (in.operation == GPUMP_OP_BOUNDARY) continue;
        found++;
        for (at = i; at-- > 0;) { /* moves that keep live-ins stand between the boundary and the instruction */
            gpump_program_instruction(split, at, &in);
            if (in.operation != GPUMP_OP_MOVE || gpump_program_origin(split)[at] != GPUMP_NONE) break;
        }
        test_check(in.operation == GPUMP_OP_BOUNDARY, seed, n);
        gpump_program_instruction(split, i + 1, &in);
        test_check(in.operation == GPUMP_OP_BOUNDARY, seed, n);
    }
    test_check(found == 1, seed, n);
}

static uint32_t any_instruction(const gpump_program *program, uint64_t *random) {
    for (;;) {
        const uint32_t i = gpump_random_below(random, gpump_program_count(program).instructions);
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation < GPUMP_OP_BRANCH || (in.operation == GPUMP_OP_COMPUTE && in.def_count)) return i;
    }
}

/* The boundaries of a program by kind: sparse ones, short ones; and sparse ones that a copied live-in has made. */
static void count_boundaries(const gpump_program *program, uint32_t found[3]) {
    found[0] = found[1] = found[2] = 0;
    for (uint32_t i = 0; i < gpump_program_count(program).instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation != GPUMP_OP_BOUNDARY) continue;
        found[in.immediate == GPUMP_BOUNDARY_SHORT]++;
        found[2] += in.immediate == GPUMP_BOUNDARY_SPARSE && in.tag == GPUMP_CUT_COPY;
    }
}

/* Two instructions get regions of their own, before register allocation or behind it: the program does the same, and
 * any restart leaves the same memory. */
static void split_regions_are_idempotent(void **state) {
    static draft d;
    static oracle_machine before, after;
    uint64_t seed = test_seed(), random = seed, restarts = 0, ran = 0, moves = 0, n;
    (void)state;
    for (n = 0; n < test_cases(300); n++) {
        gpump_program *program = draft_random(&d, &random, 8 + gpump_random_below(&random, 40), 3, 12, 1, NULL),
                      *formed, *split, *twice;
        const gpump_regions_config config = preset(gpump_random_below(&random, 2) ? "igpu" : "igpu_short");
        gpump_regions_report report;
        gpump_clobber list[4];
        uint32_t count = 0, level, first, second, old[3], now[3];
        uint64_t expected;
        oracle_start(&before, program, 2, 1, 9);
        if (!oracle_run(&before, 3000)) {
            gpump_program_destroy(program);
            continue;
        }
        expected = oracle_result(&before);
        ran++;
        test_check(gpump_regions_form(program, &config, &formed, NULL, NULL) == GPUMP_OK, seed, n);
        if (gpump_random_below(&random, 2)) { /* as a dynamic compiler finds it */
            gpump_registers_config file;
            gpump_registers_report fitted;
            gpump_program *allocated;
            gpump_preset(&gpump_registers_component, &file, "kepler", NULL);
            test_check(gpump_registers_allocate(formed, &file, &allocated, &fitted, NULL) == GPUMP_OK, seed, n);
            gpump_program_destroy(formed);
            formed = allocated;
        }
        first = any_instruction(formed, &random);
        second = any_instruction(formed, &random);
        test_check(gpump_regions_split(formed, first, second, &split, &report, NULL) == GPUMP_OK, seed, n);
        moves += report.moves;
        count_boundaries(formed, old);
        count_boundaries(split, now);
        test_check(now[0] - now[2] == old[0] - old[2] && report.sparse == now[0] && report.shorts == now[1], seed, n);
        stands_alone(split, first, seed, n);
        stands_alone(split, second, seed, n);
        test_check(gpump_program_count(split).registers < ORACLE_REGISTERS, seed, n);
        oracle_start(&after, split, 2, 1, 10);
        test_check(oracle_run(&after, 60000) && oracle_result(&after) == expected, seed, n);
        for (level = 0; level < 2; level++) {
            test_check(gpump_clobbers_find(split, GPUMP_UNIT_WARP, level, list, 4, &count) == GPUMP_OK && count == 0,
                       seed, n);
            test_check(restart_everywhere(split, 2, level, expected, &random, &restarts, 0) == 0, seed, n);
        }
        /* and again, as where a third exception comes */
        test_check(gpump_regions_split(split, any_instruction(split, &random), 0 + any_instruction(split, &random),
                                       &twice, NULL, NULL) == GPUMP_OK,
                   seed, n);
        if (gpump_program_count(twice).registers < ORACLE_REGISTERS)
            test_check(restart_everywhere(twice, 2, 1, expected, &random, &restarts, 0) == 0, seed, n);
        gpump_program_destroy(twice);
        gpump_program_destroy(split);
        gpump_program_destroy(formed);
        gpump_program_destroy(program);
    }
    print_message("%llu programs, %llu moves, %llu restarts\n", (unsigned long long)ran, (unsigned long long)moves,
                  (unsigned long long)restarts);
    assert_true(ran > 0 && moves > 0 && restarts > 0);
}

/* A write after a read is a clobber unless the same unit wrote that word before. */
static void what_counts_as_a_clobber(void **state) {
    for (uint32_t variant = 0; variant < 5; variant++) {
        test_builder b = test_build(NULL);
        uint32_t x = test_register(&b, GPUMP_WIDTH_32), o = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE), count = 0,
                 expected, unit = GPUMP_UNIT_WARP;
        test_op(&b, 1, x, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
#define READ(offset) test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_VALUE, 1, offset, 4)
#define WRITE(offset) test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_VALUE, 1, offset, 4)
        switch (variant) {
        case 0: READ(0), WRITE(0), expected = 1; break;
        case 1: WRITE(0), READ(0), WRITE(0), expected = 0; break;
        case 2: READ(4), WRITE(0), expected = 1; break; /* another lane's word */
        case 3: READ(4), WRITE(0), unit = GPUMP_UNIT_THREAD, expected = 0; break;
        default: WRITE(4), READ(0), WRITE(0), expected = 1; break; /* protected by nobody's own write */
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_clobbers_find(b.program, unit, GPUMP_BOUNDARY_SPARSE, NULL, 0, &count),
                         expected ? GPUMP_ERROR_CAPACITY : GPUMP_OK);
        assert_int_equal(count, expected);
        gpump_program_destroy(b.program);
    }
    (void)state;
}

/* ---- the hitting set against the least possible ---- */

/* All ways from a read to a write that may overwrite its source, without the places in `cuts`: is there one? By search
 * over instructions; straight from the definition, divergence left out (the programs have uniform branches). */
static int any_antidependence(const gpump_program *program, uint64_t cuts, const uint32_t *places,
                              uint32_t place_count) {
    uint32_t count = gpump_program_count(program).instructions, r, k;
    for (r = 0; r < count; r++) {
        gpump_instruction read, in;
        uint32_t stack[DRAFT_MAX], top = 0;
        static uint8_t seen[DRAFT_MAX];
        gpump_program_instruction(program, r, &read);
        if (!(read.access & GPUMP_ACCESS_READ)) continue;
        memset(seen, 0, count);
        stack[top++] = r;
        while (top) {
            uint32_t at = stack[--top], b = gpump_program_basic_block_of(program, at), next[2], nexts = 0, s;
            gpump_basic_block block, to;
            gpump_program_basic_block(program, b, &block);
            if (at + 1 < block.first + block.count)
                next[nexts++] = at + 1;
            else
                for (k = 0; k < block.successor_count; k++) {
                    gpump_program_basic_block(program, block.successors[k], &to);
                    next[nexts++] = to.first;
                }
            for (s = 0; s < nexts; s++) {
                int cut = 0;
                for (k = 0; k < place_count; k++) cut |= places[k] == next[s] && cuts >> k & 1;
                if (cut || seen[next[s]]) continue;
                gpump_program_instruction(program, next[s], &in);
                if (in.access & GPUMP_ACCESS_WRITE && gpump_program_may_alias(program, r, next[s], GPUMP_UNIT_WARP))
                    return 1;
                seen[next[s]] = 1;
                stack[top++] = next[s];
            }
        }
    }
    return 0;
}

/* What a cut before an instruction costs: ten times as much in every loop around it. */
static uint32_t cut_weight(const gpump_program *program, uint32_t place) {
    gpump_basic_block block;
    uint32_t weight = 1, d;
    gpump_program_basic_block(program, gpump_program_basic_block_of(program, place), &block);
    for (d = 0; d < block.loop_depth && d < 4; d++) weight *= 10;
    return weight;
}
static uint32_t weight_of_clobber_cuts(const gpump_program *program, const gpump_program *formed) {
    uint32_t i, weight = 0;
    for (i = 0; i + 1 < gpump_program_count(formed).instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(formed, i, &in);
        if (in.operation == GPUMP_OP_BOUNDARY && in.tag == GPUMP_CUT_CLOBBER)
            weight += cut_weight(program, gpump_program_origin(formed)[i + 1]);
    }
    return weight;
}

/* loops: some branches lead back, and cuts inside loops weigh more. */
static void hitting_sets(uint32_t loops) {
    uint64_t seed = test_seed(), random = seed, cases = 0, worst = 0;
    double times[2] = {0, 0}; /* sums of our weights in shares of the least */
    for (uint64_t n = 0; n < test_cases(1500); n++) {
        /* reads and writes of five shared words with uniform branches; writes alone are places worth trying, with block
         * starts */
        test_builder b = test_build(NULL);
        uint32_t x = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE),
                 o = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE), i, mode,
                 count = 6 + gpump_random_below(&random, 12), places[64], place_count = 0, best = GPUMP_NONE, weight;
        uint64_t cuts;
        for (i = 0; i < count; i++) {
            uint32_t kind = gpump_random_below(&random, 9);
            if (kind < 8) { /* writes are guarded, so that no read is protected by one */
                gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
                uint32_t uses[2] = {x, x};
                in.access = kind < 4 ? GPUMP_ACCESS_READ : GPUMP_ACCESS_WRITE;
                in.defs = &x;
                in.def_count = kind < 4;
                in.uses = uses;
                in.use_count = 1 + (kind >= 4);
                in.guard = p;
                in.space = GPUMP_SPACE_SHARED;
                in.object = o;
                in.address = GPUMP_ADDRESS_FIXED;
                in.offset = 4 * (int64_t)gpump_random_below(&random, 5);
                in.bytes = 4;
                test_add(&b, &in);
            } else {
                gpump_instruction in = gpump_instruction_make(GPUMP_OP_BRANCH);
                in.flags = GPUMP_FLAG_UNIFORM;
                in.guard = p;
                in.target = loops && gpump_random_below(&random, 2) ? gpump_random_below(&random, i + 1)
                                                                    : i + 1 + gpump_random_below(&random, count - i);
                test_add(&b, &in);
            }
        }
        test_exit(&b, GPUMP_NONE);
        if (test_finish(&b) != GPUMP_OK) { /* a loop without a way out */
            gpump_program_destroy(b.program);
            continue;
        }
        for (i = 0; i < count; i++) places[place_count++] = i;
        for (cuts = 0; cuts < UINT64_C(1) << place_count && place_count < 15; cuts++) {
            uint32_t size = 0;
            for (i = 0; i < place_count; i++) size += cuts >> i & 1 ? cut_weight(b.program, places[i]) : 0;
            if (size < best && !any_antidependence(b.program, cuts, places, place_count)) best = size;
        }
        for (mode = 0; mode < 2 && best != GPUMP_NONE; mode++) {
            gpump_regions_config config = preset("igpu");
            gpump_regions_report report;
            gpump_program *formed;
            config.few_live = mode;
            config.preserve = 0;
            config.without = GPUMP_REGIONS_WITHOUT_LOOPS;
            test_check(gpump_regions_form(b.program, &config, &formed, &report, NULL) == GPUMP_OK, seed, n);
            weight = weight_of_clobber_cuts(b.program, formed);
            test_check(weight >= best, seed, n);
            times[mode] += best ? (double)weight / best : 1 + weight;
            if (!mode && weight - best > worst) worst = weight - best;
            gpump_program_destroy(formed);
        }
        cases += best != GPUMP_NONE;
        gpump_program_destroy(b.program);
    }
    print_message("%llu sets%s: cuts over the least possible: %.3f covering most, %.3f with few live registers; at "
                  "worst %llu more\n",
                  (unsigned long long)cases, loops ? " with loops, where cuts weigh ten times as much" : "",
                  times[0] / (double)cases, times[1] / (double)cases, (unsigned long long)worst);
    /* Each program counts alike: a cut within three loops weighs as much as a thousand others. */
    assert_true(times[0] <= 1.5 * (double)cases);
}

/* The set of cuts that a heuristic finds is close to the smallest one that search finds. */
static void hitting_sets_are_near_the_least(void **state) {
    (void)state;
    hitting_sets(0);
    hitting_sets(1);
}

/* Two instructions, one behind the other, share the boundary between them; and what they need is short. */
static void neighbours_are_split(void **state) {
    (void)state;
    for (uint32_t apart = 0; apart < 3; apart++) {
        test_builder b = test_build(NULL);
        uint32_t i, x = test_register(&b, GPUMP_WIDTH_32), found[3];
        gpump_regions_report report;
        gpump_program *split;
        for (i = 0; i < 6; i++) test_op(&b, i, x, i ? x : GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_regions_split(b.program, 2 + apart, 2, &split, &report, NULL), GPUMP_OK);
        count_boundaries(split, found);
        assert_int_equal(found[0], 0);
        assert_int_equal(report.sparse, 0);
        assert_int_equal(report.shorts, apart == 2 ? 4 : 2 + apart);
        assert_int_equal(report.cuts[GPUMP_CUT_SPLIT], report.shorts);
        assert_true(found[1] >= report.shorts);
        gpump_program_destroy(split);
        gpump_program_destroy(b.program);
    }
}

/* ---- whole blocks ---- */

/* t = A[i + 1]; barrier; A[i] = t: each thread could be started again, the block could not. */
static void idempotent_per_thread_not_per_block(void **state) {
    uint8_t clobbers[16];
    (void)state;
    for (uint32_t variant = 0; variant < 4; variant++) {
        test_builder b = test_build(NULL);
        uint32_t x = test_register(&b, GPUMP_WIDTH_32), space = variant == 1 ? GPUMP_SPACE_SHARED : GPUMP_SPACE_GLOBAL,
                 a = test_object(&b, space, GPUMP_NONE), other = test_object(&b, space, GPUMP_NONE), count, write;
        test_op(&b, 1, x, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        if (variant == 3) { /* the write comes first, and a barrier keeps every read behind it */
            write = test_access(&b, 2, 0, GPUMP_NONE, x, x, space, a, GPUMP_ADDRESS_VALUE, 1, 0, 4);
            test_barrier(&b);
            test_access(&b, 1, 0, x, x, GPUMP_NONE, space, a, GPUMP_ADDRESS_VALUE, 1, 4, 4);
        } else {
            test_access(&b, 1, 0, x, x, GPUMP_NONE, space, a, GPUMP_ADDRESS_VALUE, 1, 4, 4);
            test_barrier(&b);
            write =
                test_access(&b, 2, 0, GPUMP_NONE, x, x, space, variant == 2 ? other : a, GPUMP_ADDRESS_VALUE, 1, 0, 4);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_clobbers_block(b.program, clobbers, &count), GPUMP_OK);
        assert_int_equal(count, variant == 0);
        assert_int_equal(clobbers[write], variant == 0);
        gpump_program_destroy(b.program);
    }
}

/* Blocks of two warps on shared data, dropped and started afresh at a random time before their first marked
 * instruction: same result. The dynamic rule (an atomic, or a write to what was read before) must never find what the
 * marks do not have.
 */
static void a_block_without_clobbers_starts_afresh(void **state) {
    static draft d;
    static oracle_machine m, again;
    uint64_t seed = test_seed(), random = seed, flushed = 0, dynamic = 0, marked = 0;
    (void)state;
    for (uint64_t n = 0; n < test_cases(3000); n++) {
        gpump_program *program = draft_random(&d, &random, 8 + gpump_random_below(&random, 40), 2, 20, 1, NULL);
        uint8_t clobbers[DRAFT_MAX];
        static uint8_t was_read[ORACLE_AREA * ORACLE_AREAS];
        uint32_t count, w, when = gpump_random_below(&random, 60), done = 0, clean = 1;
        uint64_t expected;
        oracle_start(&m, program, 2, 0, n);
        if (!oracle_run(&m, 3000)) {
            gpump_program_destroy(program);
            continue;
        }
        expected = oracle_result(&m);
        test_check(gpump_clobbers_block(program, clobbers, &count) == GPUMP_OK, seed, n);
        marked += count;
        memset(was_read, 0, sizeof was_read);
        oracle_start(&m, program, 2, 0, n);
        while (!oracle_done(&m.warp[0]) || !oracle_done(&m.warp[1])) {
            for (w = 0; w < 2; w++) {
                gpump_instruction in;
                oracle_warp *warp = &m.warp[w];
                uint32_t at, l;
                if (oracle_done(warp) || warp->waiting) continue;
                at = warp->stack[warp->depth - 1].pc;
                gpump_program_instruction(program, at, &in);
                for (l = 0; l < ORACLE_LANES && in.access; l++) {
                    uint32_t *word, index, is_global;
                    if (!(warp->stack[warp->depth - 1].lanes >> l & 1)) continue;
                    if (in.guard != GPUMP_NONE &&
                        (warp->reg[l][in.guard] != 0) == ((in.flags & GPUMP_FLAG_GUARD_NEGATED) != 0))
                        continue;
                    word = oracle_word(&m, w, l, &in);
                    is_global = word >= m.memory[0] && word < m.memory[0] + ORACLE_AREA * ORACLE_AREAS;
                    if (!is_global) continue;
                    index = (uint32_t)(word - m.memory[0]);
                    if (index / ORACLE_AREA == 3) continue; /* the shared object */
                    if (in.access & GPUMP_ACCESS_WRITE && (in.flags & GPUMP_FLAG_ATOMIC || was_read[index])) {
                        dynamic++;
                        test_check(clobbers[at], seed, n); /* the static marks imply the dynamic rule */
                    }
                }
                for (l = 0; l < ORACLE_LANES && in.access & GPUMP_ACCESS_READ;
                     l++) { /* reads of what the thread itself wrote do not count */
                    uint32_t *word;
                    if (!(warp->stack[warp->depth - 1].lanes >> l & 1)) continue;
                    word = oracle_word(&m, w, l, &in);
                    if (word >= m.memory[0] && word < m.memory[0] + ORACLE_AREA * ORACLE_AREAS &&
                        !m.touched[word - m.memory[0]])
                        was_read[word - m.memory[0]] = 1;
                }
                for (l = 0; l < ORACLE_LANES && in.access & GPUMP_ACCESS_WRITE; l++) {
                    uint32_t *word = oracle_word(&m, w, l, &in);
                    if (word >= m.memory[0] && word < m.memory[0] + ORACLE_AREA * ORACLE_AREAS)
                        m.touched[word - m.memory[0]] = 1;
                }
                if (clobbers[at]) clean = 0;
                oracle_step(&m, w);
                if (++done == when && clean) { /* flush: memory stays, everything else is gone, shared memory too */
                    oracle_start(&again, program, 2, 0, n + 5);
                    memcpy(again.memory, m.memory, sizeof m.memory);
                    for (uint32_t i = 0; i < ORACLE_AREA; i++)
                        again.memory[0][3 * ORACLE_AREA + i] = (uint32_t)oracle_mix(77, 3 * ORACLE_AREA + i);
                    test_check(oracle_run(&again, 20000) && oracle_result(&again) == expected, seed, n);
                    flushed++;
                }
            }
            oracle_release(&m);
        }
        gpump_program_destroy(program);
    }
    print_message("%llu blocks flushed, %llu dynamic clobbers, %llu instructions marked\n", (unsigned long long)flushed,
                  (unsigned long long)dynamic, (unsigned long long)marked);
    assert_true(flushed > test_cases(3000) / 10 && dynamic);
}

/* iGPU 4.2: every live-in is stored at each sparse boundary, or those that may have changed since they were last
 * stored. */
static void live_ins_are_stored_when_they_have_changed(void **state) {
    test_builder b = test_build(NULL);
    gpump_instruction boundary = gpump_instruction_make(GPUMP_OP_BOUNDARY), brief = boundary;
    gpump_liveness *liveness = NULL;
    uint64_t sets[3];
    uint32_t r[5], i, count = 0, p, jump;
    (void)state;
    for (i = 0; i < 5; i++) r[i] = test_register(&b, GPUMP_WIDTH_32);
    p = test_register(&b, GPUMP_WIDTH_PREDICATE);
    brief.immediate = GPUMP_BOUNDARY_SHORT;
    for (i = 0; i < 3; i++) test_constant(&b, r[i], 1);
    test_add(&b, &boundary); /* r0, r1, r2 */
    test_op(&b, 1, r[3], r[0], r[1], GPUMP_NONE);
    test_add(&b, &brief);
    test_op(&b, 2, p, r[3], r[2], GPUMP_NONE);
    jump = test_branch(&b, p, 0, 9);
    test_op(&b, 3, r[1], r[3], GPUMP_NONE, GPUMP_NONE); /* one way writes r1 */
    assert_int_equal(jump, 7);
    test_add(&b, &boundary); /* 9, where both ways meet: r0, r1, r3 are live; r0 is still in its place */
    test_op(&b, 4, r[4], r[0], r[1], GPUMP_NONE);
    test_add(&b, &boundary); /* r3, r4 live; r3 is in its place */
    test_op(&b, 5, r[4], r[4], r[3], GPUMP_NONE);
    test_exit(&b, GPUMP_NONE);
    assert_int_equal(test_finish(&b), GPUMP_OK);
    assert_int_equal(gpump_liveness_create(b.program, test_watched(), &liveness), GPUMP_OK);
    assert_int_equal(gpump_liveness_words(liveness), 1);
    assert_int_equal(gpump_regions_stored(b.program, liveness, GPUMP_SPILLING_ALL, NULL, 0, &count),
                     GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 3);
    assert_int_equal(gpump_regions_stored(b.program, liveness, GPUMP_SPILLING_ALL, sets, 3, &count), GPUMP_OK);
    assert_true(sets[0] == 7 && sets[1] == 11 && sets[2] == 24);
    assert_int_equal(gpump_regions_stored(b.program, liveness, GPUMP_SPILLING_CHANGED, sets, 3, &count), GPUMP_OK);
    assert_true(sets[0] == 7 && sets[1] == 10 && sets[2] == 16);
    assert_int_equal(gpump_regions_stored(b.program, liveness, 2, sets, 3, &count), GPUMP_ERROR_ARGUMENT);
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(b.program);
}

/* Twelve places are read, and written in the next block: so many places for a boundary that their list has to grow. */
static gpump_result cut_many(const gpump_allocator *allocator, void *user) {
    test_builder b = test_build(allocator);
    const uint32_t x = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE),
                   o = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
    gpump_program *formed = NULL;
    gpump_result result;
    uint32_t i;
    for (i = 0; i < 12; i++)
        test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 4 * (int64_t)i, 0);
    test_branch(&b, p, 0, 13);
    for (i = 0; i < 12; i++)
        test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 4 * (int64_t)i, 0);
    test_exit(&b, GPUMP_NONE);
    result = test_finish(&b);
    if (result == GPUMP_OK)
        result = gpump_regions_form(b.program, (const gpump_regions_config *)user, &formed, NULL, NULL);
    gpump_program_destroy(formed);
    gpump_program_destroy(b.program);
    return result;
}

/* When memory runs out, forming regions returns the failure and leaks nothing. */
static void every_failure_of_a_cut_is_told(void **state) {
    gpump_regions_config configs[] = {preset("igpu"), preset("dekruijf")};
    (void)state;
    for (int i = 0; i < 2; i++) test_every_allocation_failing(cut_many, &configs[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(igpu_figure_3_live),
        cmocka_unit_test(igpu_figure_4_code),
        cmocka_unit_test(what_counts_as_a_clobber),
        cmocka_unit_test(idempotent_per_thread_not_per_block),
        cmocka_unit_test(hitting_sets_are_near_the_least),
        cmocka_unit_test(neighbours_are_split),
        cmocka_unit_test(any_restart_leaves_the_same_memory),
        cmocka_unit_test(split_regions_are_idempotent),
        cmocka_unit_test(a_block_without_clobbers_starts_afresh),
        cmocka_unit_test(live_ins_are_stored_when_they_have_changed),
        cmocka_unit_test(every_failure_of_a_cut_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
