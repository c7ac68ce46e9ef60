/* labels: unit property */
#include "program/program_tools.h"

enum { REGISTERS = 6, MAX_CODE = 40 };

/* The oracle knows instructions only as it drew them: what each reads, writes whole, writes in part, and where it can
 * go. */
typedef struct oracle_row {
    uint32_t reads, writes, partly, next[2], nexts, diverges;
} oracle_row;

static gpump_program *random_code(uint64_t *random, oracle_row *rows, uint32_t *count) {
    test_builder b = test_build(NULL);
    uint32_t width[REGISTERS], i, r, n = 2 + gpump_random_below(random, MAX_CODE - 2);
    for (r = 0; r < REGISTERS; r++) {
        width[r] = r == 0 ? GPUMP_WIDTH_PREDICATE : r < 4 ? GPUMP_WIDTH_32 : GPUMP_WIDTH_64;
        test_register(&b, width[r]);
    }
    memset(rows, 0, MAX_CODE * sizeof *rows);
    for (i = 0; i < n; i++) {
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        uint32_t def = gpump_random_below(random, REGISTERS), uses[2], kind = gpump_random_below(random, 10);
        oracle_row *row = &rows[i];
        if (i + 1 == n) kind = 9;
        if (gpump_random_below(random, 4) == 0 && kind != 9) in.guard = 0;
        if (kind < 7) {
            in.defs = &def;
            in.def_count = gpump_random_below(random, 4) != 0;
            in.uses = uses;
            in.use_count = gpump_random_below(random, 3);
            for (r = 0; r < in.use_count; r++) row->reads |= 1u << (uses[r] = gpump_random_below(random, REGISTERS));
            if (in.def_count) {
                if (in.guard == GPUMP_NONE)
                    row->writes |= 1u << def;
                else
                    row->partly |= 1u << def;
            }
            row->next[row->nexts++] = i + 1;
        } else if (kind < 9) {
            in = gpump_instruction_make(GPUMP_OP_BRANCH);
            in.target = gpump_random_below(random, n);
            if (gpump_random_below(random, 4)) in.guard = 0;
            if (gpump_random_below(random, 4) == 0) in.flags = GPUMP_FLAG_UNIFORM;
            if (in.guard != GPUMP_NONE) row->next[row->nexts++] = i + 1;
            if (in.guard == GPUMP_NONE || in.target != i + 1) row->next[row->nexts++] = in.target;
            row->diverges = row->nexts == 2 && !in.flags;
        } else {
            in = gpump_instruction_make(GPUMP_OP_EXIT);
            if (i + 1 < n && gpump_random_below(random, 2)) {
                in.guard = 0;
                row->next[row->nexts++] = i + 1;
            }
        }
        if (in.guard != GPUMP_NONE) row->reads |= 1;
        test_add(&b, &in);
    }
    test_finish(&b);
    *count = n;
    return b.program;
}

/* Is there a path from `at` that reads r before writing it whole? Tried by walking all of them. */
static int oracle_live(const oracle_row *rows, uint32_t at, uint32_t r, uint8_t *seen) {
    if (seen[at]) return 0;
    seen[at] = 1;
    if (rows[at].reads >> r & 1) return 1;
    if (rows[at].writes >> r & 1) return 0;
    for (uint32_t i = 0; i < rows[at].nexts; i++)
        if (oracle_live(rows, rows[at].next[i], r, seen)) return 1;
    return 0;
}
static uint32_t oracle_set(const oracle_row *rows, uint32_t at) {
    uint32_t set = 0;
    for (uint32_t r = 0; r < REGISTERS; r++) {
        uint8_t seen[MAX_CODE] = {0};
        set |= (uint32_t)oracle_live(rows, at, r, seen) << r;
    }
    return set;
}
static int oracle_path(const oracle_row *rows, uint32_t at, uint32_t to, uint32_t without, uint8_t *seen) {
    if (at == without || seen[at]) return 0;
    if (at == to) return 1;
    seen[at] = 1;
    for (uint32_t i = 0; i < rows[at].nexts; i++)
        if (oracle_path(rows, rows[at].next[i], to, without, seen)) return 1;
    return 0;
}

/* The registers that are live are those that a walk over all paths finds. */
static void sets_agree_with_all_paths(void **state) {
    static const uint32_t units[REGISTERS] = {0, 1, 1, 1, 2, 2};
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(4000); n++) {
        oracle_row rows[MAX_CODE];
        uint32_t count, i, r, k, counts[MAX_CODE], predicates[MAX_CODE], branches[MAX_CODE], found,
            uninitialised = 0, peak = 0, expected_peak = 0, peak_predicates = 77, expected_predicates = 0;
        gpump_program *program = random_code(&random, rows, &count);
        gpump_liveness *liveness;
        gpump_uninitialised list[REGISTERS];
        uint64_t set, after, diverged;
        test_check(gpump_liveness_create(program, test_watched(), &liveness) == GPUMP_OK &&
                       gpump_liveness_words(liveness) == 1,
                   seed, n);
        test_check(gpump_liveness_pressure(liveness, counts, predicates, &peak, &peak_predicates) == GPUMP_OK, seed, n);
        for (i = 0; i < count; i++) {
            uint32_t expected = oracle_set(rows, i), behind = 0, lin, pcs[3], need = 0, wide = 0;
            gpump_liveness_before(liveness, i, &set);
            test_check(set == expected, seed, n);
            for (k = 0; k < rows[i].nexts; k++) behind |= oracle_set(rows, rows[i].next[k]);
            gpump_liveness_after(liveness, i, &after);
            test_check(after == behind, seed, n);
            for (r = 0; r < REGISTERS; r++) {
                need += expected >> r & 1 ? units[r] : 0;
                wide += (behind | rows[i].writes | rows[i].partly) >> r & 1 ? units[r] : 0;
            }
            test_check(counts[i] == need && predicates[i] == (expected & 1), seed, n);
            expected_predicates |= (expected | behind | rows[i].writes | rows[i].partly) & 1u;
            if (need > expected_peak) expected_peak = need;
            if (wide > expected_peak) expected_peak = wide;
            /* Lin's union over every enclosing divergence, by the definition */
            test_check(gpump_liveness_enclosing(liveness, i, branches, MAX_CODE, &found) == GPUMP_OK, seed, n);
            lin = expected;
            for (k = r = 0; k < count; k++) {
                uint32_t meet = gpump_program_reconvergence(program, k), inside = 0, s;
                if (!rows[k].diverges) continue;
                for (s = 0; s < 2; s++) {
                    uint8_t seen[MAX_CODE] = {0};
                    inside |= (uint32_t)oracle_path(rows, rows[k].next[s], i, meet, seen);
                }
                if (!inside) continue;
                test_check(r < found && branches[r] == k, seed, n);
                r++;
                lin |= oracle_set(rows, rows[k].next[0]) | oracle_set(rows, rows[k].next[1]);
                if (meet != GPUMP_NONE) lin |= oracle_set(rows, meet);
            }
            test_check(r == found, seed, n);
            test_check(gpump_liveness_diverged(liveness, i, &diverged) == GPUMP_OK && diverged == lin, seed, n);
            pcs[0] = i;
            pcs[1] = gpump_random_below(&random, count);
            pcs[2] = GPUMP_NONE;
            gpump_liveness_stack(liveness, pcs, 3, &set);
            test_check(set == (expected | oracle_set(rows, pcs[1])), seed, n);
        }
        test_check(peak == expected_peak && peak_predicates == expected_predicates, seed, n);
        test_check(gpump_liveness_uninitialised(liveness, list, REGISTERS, &uninitialised) == GPUMP_OK, seed, n);
        for (r = k = 0; r < REGISTERS; r++) {
            if (!(oracle_set(rows, 0) >> r & 1)) continue;
            test_check(k < uninitialised && list[k].reg == r && rows[list[k].instruction].reads >> r & 1, seed, n);
            k++;
        }
        test_check(k == uninitialised, seed, n);
        gpump_liveness_destroy(liveness);
        gpump_program_destroy(program);
    }
}

/* Lin Fig. 2.5: T1 and T2 part at the end of A; T2 stops in C while T1 waits at the end of A or at the start of D. */
static void lin_figure_2_5(void **state) {
    test_builder b = test_build(NULL);
    uint32_t p = test_register(&b, GPUMP_WIDTH_PREDICATE), only_b = test_register(&b, GPUMP_WIDTH_32),
             only_c = test_register(&b, GPUMP_WIDTH_32), only_d = test_register(&b, GPUMP_WIDTH_64), pc_b, pcs[2],
             registers;
    gpump_liveness *liveness;
    uint64_t set;
    (void)state;
    test_branch(&b, p, 0, 3);                               /* A */
    test_op(&b, 0, only_d, only_b, GPUMP_NONE, GPUMP_NONE); /* B: writes what D reads */
    test_branch(&b, GPUMP_NONE, 0, 4);
    pc_b = test_op(&b, 0, only_d, only_c, GPUMP_NONE, GPUMP_NONE); /* C */
    test_op(&b, 0, only_d, only_d, GPUMP_NONE, GPUMP_NONE);        /* D */
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_liveness_create(b.program, test_watched(), &liveness), GPUMP_OK);
    gpump_liveness_before(liveness, pc_b, &set);
    assert_int_equal(set, 1u << only_c);
    assert_int_equal(gpump_liveness_diverged(liveness, pc_b, &set), GPUMP_OK);
    assert_int_equal(set, 1u << only_b | 1u << only_c | 1u << only_d);
    gpump_liveness_count(liveness, &set, &registers, NULL);
    assert_int_equal(registers, 4);
    pcs[0] = pc_b;
    pcs[1] = 4; /* T1 has been through B and waits at D: B's source is dead */
    gpump_liveness_stack(liveness, pcs, 2, &set);
    assert_int_equal(set, 1u << only_c | 1u << only_d);
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(b.program);
}

/* Basic blocks that are far longer than the analysis keeps sets for: two of them, the first one a loop. The oracle goes
 * up the instructions one by one, until nothing changes. */
enum { LONG = 700, LONG_REGISTERS = 100, WORDS = 2 };
typedef struct long_row {
    uint32_t uses[2], def, use_count, kills;
} long_row;
static void long_before(const long_row *row, const uint64_t *after, uint64_t *before) {
    memcpy(before, after, WORDS * sizeof *before);
    if (row->kills) gpump_bits_clear(before, row->def);
    for (uint32_t k = 0; k < row->use_count; k++) gpump_bits_set(before, row->uses[k]);
}
/* Queries at every place of blocks of hundreds of instructions beside one walk. */
static void liveness_inside_long_basic_blocks(void **state) {
    static long_row rows[LONG];
    static uint64_t before[LONG + 1][WORDS];
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(20); n++) {
        const uint32_t used = 3 + gpump_random_below(&random, LONG_REGISTERS - 2);
        const uint32_t latch = 100 + gpump_random_below(&random, 400);
        test_builder b = test_build(NULL);
        gpump_liveness *liveness;
        uint64_t set[WORDS], sum[WORDS], nothing[WORDS] = {0, 0};
        uint32_t pcs[3];
        for (uint32_t r = 0; r < LONG_REGISTERS; r++) test_register(&b, r ? GPUMP_WIDTH_32 : GPUMP_WIDTH_PREDICATE);
        memset(rows, 0, sizeof rows);
        for (uint32_t i = 0; i + 1 < LONG; i++) {
            gpump_instruction in = gpump_instruction_make(i == latch ? GPUMP_OP_BRANCH : GPUMP_OP_COMPUTE);
            long_row *row = &rows[i];
            if (i == latch) {
                in.guard = in.target = 0; /* back to the start, in some lanes */
                row->uses[row->use_count++] = 0;
            } else {
                row->def = gpump_random_below(&random, used);
                row->uses[0] = gpump_random_below(&random, used);
                row->use_count = gpump_random_below(&random, 2);
                row->kills = gpump_random_below(&random, 8) != 0;
                in.defs = &row->def;
                in.def_count = 1;
                in.uses = row->uses;
                in.use_count = row->use_count;
                if (!row->kills) row->uses[row->use_count++] = in.guard = 0; /* written in some lanes only */
            }
            test_add(&b, &in);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        memset(before, 0, sizeof before);
        for (int round = 0; round < 3; round++)
            for (uint32_t i = LONG - 1; i-- > 0;) {
                uint64_t after[WORDS];
                for (uint32_t w = 0; w < WORDS; w++) after[w] = before[i + 1][w] | (i == latch ? before[0][w] : 0);
                long_before(&rows[i], after, before[i]);
            }
        test_check(gpump_liveness_create(b.program, test_watched(), &liveness) == GPUMP_OK, seed, n);
        test_check(gpump_liveness_words(liveness) == WORDS, seed, n);
        for (uint32_t i = 0; i < LONG; i++) {
            gpump_liveness_before(liveness, i, set);
            test_check(!memcmp(set, before[i], sizeof set), seed, n);
            if (i + 1 < LONG && i != latch) {
                gpump_liveness_after(liveness, i, set);
                test_check(!memcmp(set, before[i + 1], sizeof set), seed, n);
            }
            pcs[0] = LONG; /* no instruction: left out */
            pcs[1] = gpump_random_below(&random, LONG);
            pcs[2] = i;
            for (uint32_t w = 0; w < WORDS; w++) sum[w] = before[pcs[1]][w] | before[i][w];
            gpump_liveness_stack(liveness, pcs, 3, set);
            test_check(!memcmp(set, sum, sizeof set), seed, n);
        }
        gpump_liveness_stack(liveness, pcs, 1, set);
        test_check(!memcmp(set, nothing, sizeof set), seed, n);
        gpump_liveness_destroy(liveness);
        gpump_program_destroy(b.program);
    }
}

/* A long basic block through which many registers are live takes memory by its instructions, not by the product of
 * both: 16 bytes for each at most, beside what registers and blocks take. All of it is given back. */
static void memory_of_a_long_block(void **state) {
    enum { CODE = 20000, LIVE = 300 };
    test_builder b = test_build(NULL);
    test_allocator counter;
    const gpump_allocator allocator = test_allocator_of(&counter);
    gpump_liveness *liveness;
    uint64_t set[(LIVE + 63) / 64];
    (void)state;
    memset(&counter, 0, sizeof counter);
    for (uint32_t r = 0; r < LIVE; r++) test_register(&b, GPUMP_WIDTH_32);
    for (uint32_t r = 0; r < LIVE; r++) test_op(&b, 1, r, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    for (uint32_t i = 0; i < CODE; i++) test_op(&b, 2, GPUMP_NONE, i % LIVE, GPUMP_NONE, GPUMP_NONE);
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_liveness_create(b.program, &allocator, &liveness), GPUMP_OK);
    assert_true(counter.live_bytes <= (CODE + LIVE) * 8);
    gpump_liveness_before(liveness, CODE / 2, set);
    assert_int_equal(gpump_bits_count(set, sizeof set / sizeof *set), LIVE);
    gpump_liveness_destroy(liveness);
    assert_true(counter.live == 0 && counter.live_bytes == 0);
    gpump_program_destroy(b.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_a_long_block),
        cmocka_unit_test(liveness_inside_long_basic_blocks),
        cmocka_unit_test(lin_figure_2_5),
        cmocka_unit_test(sets_agree_with_all_paths),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
