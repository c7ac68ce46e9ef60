/* labels: unit property */
/* Where the boundaries of regions go: straight code against a plain greedy, and single rules by hand. */
#include "program/program_tools.h"

static gpump_regions_config preset(const char *name) {
    gpump_regions_config config;
    assert_int_equal(gpump_preset(&gpump_regions_component, &config, name, NULL), GPUMP_OK);
    return config;
}

/* ---- cuts of straight code, one by one ---- */

enum { STRAIGHT = 26, STRAIGHT_PLACES = 5 };
/* What an instruction does to one of five words: 0 nothing, else reads or writes `word`; guarded writes protect no
 * read. */
typedef struct straight {
    uint32_t access, word, guarded, live, cut;
} straight;
/* The order in which places are taken: the numbers that count, most important first; smallest is best. */
static int better_place(const uint32_t *a, const uint32_t *b) {
    for (uint32_t k = 0; k < 5; k++)
        if (a[k] != b[k]) return a[k] < b[k];
    return 0;
}
/* Cuts pairs of a read and the next write of its word, always at the place that is best now. Returns how many pairs
 * were found. */
static uint32_t cut_straight(straight *code, uint32_t count, uint32_t few_live) {
    uint32_t found = 0, pairs;
    do {
        uint32_t read[STRAIGHT], write[STRAIGHT], hit[STRAIGHT] = {0}, left, w, at, j, k;
        uint32_t of[STRAIGHT] = {0}, ends[STRAIGHT] = {0};
        uint8_t separates[STRAIGHT][STRAIGHT] = {{0}};
        for (w = pairs = 0; w < count; w++) {
            if (code[w].access != GPUMP_ACCESS_WRITE) continue;
            for (at = w; at > 0 && !code[at].cut; at--) {
                int own = 0;
                if (code[at - 1].access != GPUMP_ACCESS_READ || code[at - 1].word != code[w].word) continue;
                for (j = at - 1; !code[j].cut && j-- > 0;) /* has the thread written it since the last cut? */
                    own |= code[j].access == GPUMP_ACCESS_WRITE && code[j].word == code[w].word && !code[j].guarded;
                if (own) continue;
                read[pairs] = at - 1;
                write[pairs++] = w;
                break;
            }
        }
        for (k = 0; k < pairs; k++) {
            uint32_t fewest = read[k] + 1;
            ends[write[k]] = 1;
            for (at = read[k] + 1; at <= write[k]; at++) {
                if (code[at].live < code[fewest].live) fewest = at;
                separates[k][at] = code[at].access == GPUMP_ACCESS_WRITE;
            }
            if (few_live) separates[k][fewest] = 1;
            for (at = 0; at < count; at++) of[at] += separates[k][at];
        }
        for (left = pairs; left;) {
            uint32_t best = GPUMP_NONE, best_key[5];
            for (at = 0; at < count; at++) {
                uint32_t covers = 0, key[5];
                for (k = 0; k < pairs; k++) covers += separates[k][at] && !hit[k];
                if (!covers) continue;
                key[0] = few_live ? code[at].live : 0;
                key[1] = 1000 - covers;
                key[2] = !ends[at];
                key[3] = 1000 - of[at];
                key[4] = at;
                if (best != GPUMP_NONE && !better_place(key, best_key)) continue;
                best = at;
                memcpy(best_key, key, sizeof key);
            }
            code[best].cut = 1;
            for (k = 0; k < pairs; k++)
                if (separates[k][best] && !hit[k]) hit[k] = 1, left--;
        }
        found += pairs;
    } while (pairs);
    return found;
}

/* Straight code is cut at the places, and as often, as trying every set of places finds. */
static void cuts_of_straight_code(void **state) {
    uint64_t seed = test_seed(), random = seed, cuts = 0, n;
    (void)state;
    for (n = 0; n < test_cases(20000); n++) {
        straight code[STRAIGHT];
        test_builder b = test_build(NULL);
        uint32_t i, count = 8 + gpump_random_below(&random, STRAIGHT - 9), live[STRAIGHT + 1], pairs, expected = 0,
                    x[4], o, p, few_live = (uint32_t)(n & 1u);
        gpump_regions_config config = preset("igpu");
        gpump_regions_report report;
        gpump_program *formed;
        gpump_liveness *liveness;
        for (i = 0; i < 4; i++) x[i] = test_register(&b, GPUMP_WIDTH_32);
        p = test_register(&b, GPUMP_WIDTH_PREDICATE);
        o = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE);
        for (i = 0; i < count; i++) {
            gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
            const uint32_t kind = gpump_random_below(&random, 8);
            uint32_t uses[2] = {x[gpump_random_below(&random, 4)], x[gpump_random_below(&random, 4)]},
                     def = x[gpump_random_below(&random, 4)];
            memset(&code[i], 0, sizeof code[i]);
            in.defs = &def;
            in.uses = uses;
            in.def_count = kind < 5;
            in.use_count = kind < 2 ? gpump_random_below(&random, 2) : 1 + (kind >= 5);
            if (kind >= 2) {
                code[i].access = in.access = kind < 5 ? GPUMP_ACCESS_READ : GPUMP_ACCESS_WRITE;
                code[i].word = gpump_random_below(&random, STRAIGHT_PLACES);
                code[i].guarded = kind == 7;
                in.space = GPUMP_SPACE_SHARED;
                in.object = o;
                in.address = GPUMP_ADDRESS_FIXED;
                in.offset = 4 * (int64_t)code[i].word;
                in.bytes = 4;
                if (code[i].guarded) in.guard = p;
            }
            test_add(&b, &in);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_liveness_create(b.program, test_watched(), &liveness), GPUMP_OK);
        assert_int_equal(gpump_liveness_pressure(liveness, live, NULL, NULL, NULL), GPUMP_OK);
        for (i = 0; i < count; i++) code[i].live = live[i];
        pairs = cut_straight(code, count, few_live);
        config.few_live = few_live;
        config.preserve = 0;
        test_check(gpump_regions_form(b.program, &config, &formed, &report, NULL) == GPUMP_OK, seed, n);
        for (i = 0; i < gpump_program_count(formed).instructions; i++) {
            gpump_instruction in;
            gpump_program_instruction(formed, i, &in);
            if (in.operation != GPUMP_OP_BOUNDARY) continue;
            test_check(in.tag == GPUMP_CUT_CLOBBER && in.immediate == GPUMP_BOUNDARY_SPARSE, seed, n);
            test_check(code[gpump_program_origin(formed)[i + 1]].cut == 1, seed, n);
        }
        for (i = 0; i < count; i++) expected += code[i].cut;
        test_check(report.pairs == pairs && report.cuts[GPUMP_CUT_CLOBBER] == expected && report.sparse == expected,
                   seed, n);
        cuts += expected;
        gpump_liveness_destroy(liveness);
        gpump_program_destroy(formed);
        gpump_program_destroy(b.program);
    }
    assert_true(cuts > n);
}

/* Where the cuts of a program stand, as a sum of 1 << instruction; without live-ins kept. */
static uint64_t cuts_of(const gpump_program *program, uint32_t few_live, uint32_t without, uint32_t max_instructions,
                        gpump_regions_report *report) {
    gpump_regions_config config = preset("igpu");
    gpump_program *formed;
    uint64_t cuts = 0;
    config.few_live = few_live;
    config.without = without;
    config.max_instructions = max_instructions;
    config.preserve = 0;
    assert_int_equal(gpump_regions_form(program, &config, &formed, report, NULL), GPUMP_OK);
    for (uint32_t i = 0; i + 1 < gpump_program_count(formed).instructions; i++) {
        gpump_instruction in;
        const uint32_t behind = gpump_program_origin(formed)[i + 1];
        gpump_program_instruction(formed, i, &in);
        /* In front of a boundary that forming has put in, too, there is no place of its own. */
        if (in.operation == GPUMP_OP_BOUNDARY && behind != GPUMP_NONE) cuts |= UINT64_C(1) << behind;
    }
    gpump_program_destroy(formed);
    return cuts;
}
static void uniform_branch(test_builder *b, uint32_t guard, uint32_t target) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_BRANCH);
    in.guard = guard;
    in.flags = GPUMP_FLAG_UNIFORM;
    in.target = target;
    test_add(b, &in);
}
/* A read that the program's start does not reach leads to a write past all its dominators: only a cut at the write
 * separates them, though a place before the loop looks better. Forming regions ends. */
static void a_read_out_of_reach_is_cut_at_the_write(void **state) {
    gpump_regions_report report;
    (void)state;
    for (uint32_t few_live = 0; few_live < 2; few_live++) {
        test_builder b = test_build(NULL);
        const uint32_t x = test_register(&b, GPUMP_WIDTH_32), y = test_register(&b, GPUMP_WIDTH_32),
                       p = test_register(&b, GPUMP_WIDTH_PREDICATE),
                       s = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE),
                       o = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE);
        test_access(&b, 2, 0, GPUMP_NONE, x, y, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_FIXED, 0, 0, 0); /* 0: a write */
        uniform_branch(&b, GPUMP_NONE, 4);
        test_access(&b, 1, 0, y, x, GPUMP_NONE, GPUMP_SPACE_SHARED, s, GPUMP_ADDRESS_FIXED, 0, 0, 0); /* 2: the read */
        uniform_branch(&b, GPUMP_NONE, 5);
        test_op(&b, 1, x, y, GPUMP_NONE, GPUMP_NONE);                                                 /* 4 */
        test_access(&b, 2, 0, GPUMP_NONE, x, y, GPUMP_SPACE_SHARED, s, GPUMP_ADDRESS_FIXED, 0, 0, 0); /* 5: the loop */
        uniform_branch(&b, p, 5);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_true(cuts_of(b.program, few_live, GPUMP_REGIONS_WITHOUT_LOOPS, 0, &report) == 1u << 5);
        gpump_program_destroy(b.program);
    }
}

#define READ(object) test_access(&b, 1, 0, y, x, GPUMP_NONE, GPUMP_SPACE_SHARED, object, GPUMP_ADDRESS_FIXED, 0, 0, 0)
#define WRITE(object) test_access(&b, 2, 0, GPUMP_NONE, x, y, GPUMP_SPACE_SHARED, object, GPUMP_ADDRESS_FIXED, 0, 0, 0)
#define BEGIN                                                                                                          \
    test_builder b = test_build(NULL);                                                                                 \
    uint32_t x = test_register(&b, GPUMP_WIDTH_32), y = test_register(&b, GPUMP_WIDTH_32),                             \
             q = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE),                      \
             s = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE), o = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE); \
    (void)q, (void)s, (void)o
/* The write of a pair stands in a loop: the cut lies before the loop, where it is done once. */
static void a_pair_is_cut_before_the_loop(void **state) {
    gpump_regions_report report;
    (void)state;
    { /* a write before the loop is a better place than the one in the loop that ends the pair */
        BEGIN;
        READ(s);                  /* 0 */
        WRITE(o);                 /* 1 */
        WRITE(s);                 /* 2: the loop */
        uniform_branch(&b, p, 2); /* 3 */
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_true(cuts_of(b.program, 0, GPUMP_REGIONS_WITHOUT_LOOPS, 0, &report) == 1u << 1);
        gpump_program_destroy(b.program);
    }
    for (uint32_t falls = 0; falls < 2;
         falls++) { /* of two places with as many live registers, the one before the loop */
        BEGIN;
        test_op(&b, 1, x, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* 0 */
        READ(s);                                               /* 1 */
        uniform_branch(&b, p, falls ? 7 : 8);                  /* 2 */
        test_op(&b, 2, q, x, GPUMP_NONE, GPUMP_NONE);          /* 3: right before the loop */
        if (falls) {
            uniform_branch(&b, p, 7);                     /* 4 */
            WRITE(s);                                     /* 5: the loop */
            uniform_branch(&b, p, 5);                     /* 6 */
            test_op(&b, 3, q, x, GPUMP_NONE, GPUMP_NONE); /* 7 */
        } else {
            uniform_branch(&b, p, 6);                     /* 4 */
            uniform_branch(&b, GPUMP_NONE, 8);            /* 5 */
            WRITE(s);                                     /* 6: the loop */
            uniform_branch(&b, p, 6);                     /* 7 */
            test_op(&b, 3, q, x, GPUMP_NONE, GPUMP_NONE); /* 8 */
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_true(cuts_of(b.program, 1, GPUMP_REGIONS_WITHOUT_LOOPS, 0, &report) == 1u << 3);
        gpump_program_destroy(b.program);
    }
}

/* Where lanes have parted, all sides begin with a cut if one side has one: lanes wait for each other there. */
static void cuts_where_lanes_have_parted(void **state) {
    gpump_regions_report report;
    (void)state;
    { /* a place where the warp is whole is better than one where lanes have parted */
        BEGIN;
        READ(s);                  /* 0 */
        WRITE(o);                 /* 1 */
        test_branch(&b, p, 0, 4); /* 2 */
        WRITE(s);                 /* 3 */
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_true(cuts_of(b.program, 0, 0, 0, &report) == 1u << 1);
        gpump_program_destroy(b.program);
    }
    for (uint32_t computes = 0; computes < 2; computes++) { /* cuts on both sides: lanes wait where each begins */
        BEGIN;
        gpump_instruction fence = gpump_instruction_make(GPUMP_OP_COMPUTE), nothing = fence;
        fence.flags = GPUMP_FLAG_FENCE;
        test_branch(&b, p, 0, 4);          /* 0 */
        READ(s);                           /* 1 */
        WRITE(s);                          /* 2 */
        test_branch(&b, GPUMP_NONE, 0, 6); /* 3 */
        if (computes)
            test_op(&b, 1, q, x, GPUMP_NONE, GPUMP_NONE); /* 4: done again with another q, it is another q */
        else
            test_add(&b, &nothing);          /* 4: done again, nobody notices */
        test_add(&b, &fence);                /* 5: a boundary behind it */
        test_op(&b, 1, y, x, q, GPUMP_NONE); /* 6: where they meet */
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        cuts_of(b.program, 0, 0, 0, &report);
        assert_int_equal(report.cuts[GPUMP_CUT_FORCED], 1);
        assert_int_equal(report.cuts[GPUMP_CUT_CLOBBER], 1);
        assert_int_equal(report.cuts[GPUMP_CUT_DIVERGENCE], 2 + computes);
        gpump_program_destroy(b.program);
    }
    { /* a side that only ends needs no boundary */
        BEGIN;
        test_branch(&b, p, 0, 4); /* 0 */
        READ(s);                  /* 1 */
        WRITE(s);                 /* 2 */
        test_exit(&b, GPUMP_NONE);
        test_exit(&b, GPUMP_NONE); /* 4 */
        test_finish(&b);
        assert_true(cuts_of(b.program, 0, 0, 0, &report) == 1u << 2);
        gpump_program_destroy(b.program);
    }
    { /* a cut that only keeps a region short makes lanes wait all the same */
        BEGIN;
        uint32_t i;
        test_branch(&b, p, 0, 7);                                             /* 0 */
        for (i = 1; i < 6; i++) test_op(&b, i, x, x, GPUMP_NONE, GPUMP_NONE); /* 1 to 5: the limit is before 5 */
        test_branch(&b, GPUMP_NONE, 0, 8);                                    /* 6 */
        test_op(&b, 7, x, x, GPUMP_NONE, GPUMP_NONE);                         /* 7: the other side */
        test_op(&b, 8, y, x, GPUMP_NONE, GPUMP_NONE);                         /* 8: where they meet */
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_true(cuts_of(b.program, 0, 0, 5, &report) == (1u << 1 | 1u << 5 | 1u << 7 | 1u << 8));
        assert_int_equal(report.sparse, 0);
        assert_int_equal(report.cuts[GPUMP_CUT_LENGTH], 1);
        gpump_program_destroy(b.program);
    }
}

/* A loop that is entered in its middle is cut at both ends of the way back. */
static void a_loop_with_two_entries_is_cut_at_both_ends(void **state) {
    gpump_regions_report report;
    (void)state;
    { /* a loop with two entries has no header: the way back is cut at both of its ends */
        BEGIN;
        test_op(&b, 1, x, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* 0 */
        uniform_branch(&b, p, 4);                              /* 1 */
        READ(s);                                               /* 2: one entry */
        WRITE(s);                                              /* 3 */
        test_op(&b, 2, q, x, GPUMP_NONE, GPUMP_NONE);          /* 4: the other */
        uniform_branch(&b, p, 2);                              /* 5: the way back */
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_true(cuts_of(b.program, 0, 0, 0, &report) == (1u << 2 | 1u << 3 | 1u << 5));
        assert_int_equal(report.cuts[GPUMP_CUT_CLOBBER], 1);
        assert_int_equal(report.cuts[GPUMP_CUT_LOOP], 2);
        gpump_program_destroy(b.program);
    }
}

#undef BEGIN
#undef READ
#undef WRITE

/* ---- live-in registers ---- */

/* A region that reads a value and then writes its register, on four sides of branches: other names keep it. */
static void each_side_writes_to_another_register(void **state) {
    test_builder b = test_build(NULL);
    uint32_t v = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE), i, written = 0,
             names[2] = {0, 0};
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_BOUNDARY);
    gpump_regions_report report;
    gpump_program *preserved;
    (void)state;
    memset(&report, 0, sizeof report);
    in.immediate = GPUMP_BOUNDARY_SPARSE;
    test_op(&b, 1, v, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    test_add(&b, &in);
    test_op(&b, 2, p, v, GPUMP_NONE, GPUMP_NONE);
    for (i = 0; i < 4; i++) {
        test_branch(&b, p, 0, 7 + 4 * i);
        test_op(&b, 3, v, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        test_op(&b, 4, GPUMP_NONE, v, GPUMP_NONE, GPUMP_NONE);
        test_branch(&b, GPUMP_NONE, 0, 19);
    }
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_regions_preserve(b.program, &preserved, &report, NULL), GPUMP_OK);
    assert_int_equal(report.copies, 0);
    assert_int_equal(report.moves, 0);
    assert_int_equal(gpump_program_count(preserved).instructions, gpump_program_count(b.program).instructions);
    for (i = 0; i < gpump_program_count(preserved).instructions; i++) {
        gpump_program_instruction(preserved, i, &in);
        if (in.operation != GPUMP_OP_COMPUTE) continue;
        if (in.tag == 1) names[0] = in.defs[0];
        if (in.tag == 2) assert_int_equal(in.uses[0], names[0]);
        if (in.tag == 3) {
            names[1] = in.defs[0];
            assert_int_not_equal(names[1], names[0]);
            written++;
        }
        if (in.tag == 4) assert_int_equal(in.uses[0], names[1]);
    }
    assert_int_equal(written, 4);
    gpump_program_destroy(preserved);
    gpump_program_destroy(b.program);
}

/* The predicate of a check is one operand, read and written. The region moves it to another register, which the check
 * and the branch behind it name; the register that was live into the region keeps its value. */
static void the_predicate_of_a_check_keeps_one_name(void **state) {
    test_builder b = test_build(NULL);
    uint32_t address = test_register(&b, GPUMP_WIDTH_32), found = test_register(&b, GPUMP_WIDTH_PREDICATE), i,
             checks = 0, arrives = GPUMP_NONE, moved = GPUMP_NONE;
    const uint32_t uses[2] = {address, found};
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_CLEAR_CHECK);
    gpump_regions_report report;
    gpump_program *preserved;
    gpump_diag diag;
    (void)state;
    memset(&report, 0, sizeof report);
    test_op(&b, 1, address, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    in.defs = &found;
    in.def_count = 1;
    test_add(&b, &in);
    in = gpump_instruction_make(GPUMP_OP_BOUNDARY);
    in.immediate = GPUMP_BOUNDARY_SPARSE;
    test_add(&b, &in);
    in = gpump_instruction_make(GPUMP_OP_CHECK);
    in.defs = &found;
    in.uses = uses;
    in.def_count = 1;
    in.use_count = 2;
    in.access = GPUMP_ACCESS_READ;
    in.bytes = 4;
    test_add(&b, &in);
    test_branch(&b, found, 0, 6);
    test_op(&b, 2, GPUMP_NONE, address, GPUMP_NONE, GPUMP_NONE);
    test_exit(&b, GPUMP_NONE); /* 6 */
    test_finish(&b);
    assert_int_equal(gpump_regions_preserve(b.program, &preserved, &report, &diag), GPUMP_OK);
    assert_int_equal(report.copies, 0);
    assert_int_equal(report.moves, 1);
    for (i = 0; i < gpump_program_count(preserved).instructions; i++) {
        gpump_program_instruction(preserved, i, &in);
        if (in.operation == GPUMP_OP_CLEAR_CHECK) arrives = in.defs[0];
        if (in.operation == GPUMP_OP_MOVE) {
            assert_int_equal(in.uses[0], arrives);
            moved = in.defs[0];
        }
        if (in.operation == GPUMP_OP_BRANCH) assert_int_equal(in.guard, moved);
        if (in.operation != GPUMP_OP_CHECK) continue;
        assert_int_equal(in.defs[0], moved);
        assert_int_equal(in.uses[1], moved);
        assert_int_not_equal(moved, arrives);
        checks++;
    }
    assert_int_equal(checks, 1);
    gpump_program_destroy(preserved);
    gpump_program_destroy(b.program);
}

/* An instruction that reads the most registers that there can be, 64 and a guard, is renamed like any other. */
static void the_widest_instruction_is_renamed(void **state) {
    test_builder b = test_build(NULL);
    uint32_t v = test_register(&b, GPUMP_WIDTH_32), w = test_register(&b, GPUMP_WIDTH_32),
             p = test_register(&b, GPUMP_WIDTH_PREDICATE), uses[64], names[2] = {GPUMP_NONE, GPUMP_NONE}, i, k;
    gpump_instruction wide = gpump_instruction_make(GPUMP_OP_COMPUTE), in = gpump_instruction_make(GPUMP_OP_BOUNDARY);
    gpump_program *preserved;
    (void)state;
    in.immediate = GPUMP_BOUNDARY_SPARSE;
    for (k = 0; k < 64; k++) uses[k] = v;
    wide.defs = &w;
    wide.def_count = 1;
    wide.uses = uses;
    wide.use_count = 64;
    wide.guard = p;
    test_op(&b, 1, v, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    test_op(&b, 2, p, v, GPUMP_NONE, GPUMP_NONE);
    test_add(&b, &in);
    wide.tag = 10;
    test_add(&b, &wide); /* reads what came into the region */
    test_op(&b, 3, v, w, GPUMP_NONE, GPUMP_NONE);
    wide.tag = 11;
    test_add(&b, &wide); /* reads what was written in it */
    test_op(&b, 4, GPUMP_NONE, w, v, GPUMP_NONE);
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_regions_preserve(b.program, &preserved, NULL, NULL), GPUMP_OK);
    for (i = 0; i < gpump_program_count(preserved).instructions; i++) {
        gpump_program_instruction(preserved, i, &in);
        if (in.operation != GPUMP_OP_COMPUTE || in.tag < 10) continue;
        assert_int_equal(in.use_count, 64);
        assert_int_equal(in.guard, p);
        for (k = 0; k < 64; k++) assert_int_equal(in.uses[k], in.uses[0]);
        names[in.tag - 10] = in.uses[0];
    }
    assert_int_not_equal(names[0], names[1]);
    gpump_program_destroy(preserved);
    gpump_program_destroy(b.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_widest_instruction_is_renamed),
                                       cmocka_unit_test(cuts_of_straight_code),
                                       cmocka_unit_test(a_pair_is_cut_before_the_loop),
                                       cmocka_unit_test(cuts_where_lanes_have_parted),
                                       cmocka_unit_test(a_loop_with_two_entries_is_cut_at_both_ends),
                                       cmocka_unit_test(a_read_out_of_reach_is_cut_at_the_write),
                                       cmocka_unit_test(each_side_writes_to_another_register),
                                       cmocka_unit_test(the_predicate_of_a_check_keeps_one_name)};
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
