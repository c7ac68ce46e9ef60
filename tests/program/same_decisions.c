/* labels: property */
/* What every analysis and transform makes of random programs, beside what was written down when a change was last
 * meant. Other tests show that results are right; this one shows which of several right results is chosen. */
#include "decisions.h"
#include "program/oracle_program.h"
#include "program/program_parts.h"
#include "program/registers.h"

/* The library's sorting, so that no result hangs on which of two equal entries this C library puts first: equal ones
 * change places. */
void qsort(void *array, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    unsigned char *entries = (unsigned char *)array, *sorted = (unsigned char *)malloc(count * size + 1);
    assert_non_null(sorted);
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        while (at && compare(sorted + (at - 1) * size, entries + i * size) >= 0) at--;
        memmove(sorted + (at + 1) * size, sorted + at * size, (i - at) * size);
        memcpy(sorted + at * size, entries + i * size, size);
    }
    if (count) memcpy(array, sorted, count * size);
    free(sorted);
}

static uint64_t words_hash(const void *words, size_t bytes) {
    uint64_t hash = GPUMP_HASH_SEED;
    for (size_t i = 0; i < bytes / 4; i++) hash = gpump_hash_u64(hash, ((const uint32_t *)words)[i]);
    return hash;
}

/* Blocks, loops and what is live. */
static void decide_structure(decisions *all, const gpump_program *program) {
    const gpump_program_counts count = gpump_program_count(program);
    gpump_liveness *liveness;
    uint64_t structure = GPUMP_HASH_SEED, live = GPUMP_HASH_SEED, sets[2][8];
    memset(sets, 0, sizeof sets);
    for (uint32_t i = 0; i < count.basic_blocks; i++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, i, &block);
        structure = gpump_hash_u64(gpump_hash_u64(structure, block.first), block.loop);
        for (uint32_t k = 0; k < block.successor_count; k++) structure = gpump_hash_u64(structure, block.successors[k]);
        for (uint32_t k = 0; k < count.basic_blocks; k++)
            structure = gpump_hash_u64(structure, (uint64_t)gpump_program_dominates(program, k, i));
        structure = gpump_hash_u64(structure, block.post_dominator);
    }
    assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
    assert_true(gpump_liveness_words(liveness) <= 8);
    for (uint32_t i = 0; i < count.instructions; i++) {
        gpump_liveness_before(liveness, i, sets[0]);
        assert_int_equal(gpump_liveness_diverged(liveness, i, sets[1]), GPUMP_OK);
        for (uint32_t w = 0; w < gpump_liveness_words(liveness); w++)
            live = gpump_hash_u64(gpump_hash_u64(live, sets[0][w]), sets[1][w]);
    }
    gpump_liveness_destroy(liveness);
    decided(all, "  %" PRIu32 " blocks, %" PRIu32 " loops: 0x%016" PRIx64 ", live 0x%016" PRIx64, count.basic_blocks,
            count.loops, structure, live);
}

static void decide_regions(decisions *all, const gpump_program *program, const char *preset, uint32_t few_live) {
    gpump_regions_config config;
    gpump_regions_report report;
    gpump_program *formed;
    assert_int_equal(gpump_preset(&gpump_regions_component, &config, preset, NULL), GPUMP_OK);
    config.few_live = few_live;
    if (config.max_instructions) config.max_instructions = 8;
    assert_int_equal(gpump_regions_form(program, &config, &formed, &report, NULL), GPUMP_OK);
    decided(all, "  %s: %" PRIu32 " pairs, %" PRIu32 " and %" PRIu32 " boundaries, %" PRIu32 " moves: 0x%016" PRIx64,
            preset, report.pairs, report.sparse, report.shorts, report.moves, test_program_hash(formed));
    gpump_program_destroy(formed);
}

/* Registers, and the preemption points of the allocated program. */
static void decide_registers(decisions *all, const gpump_program *program, uint32_t registers, uint32_t sink) {
    static gpump_preempt_point points[512];
    const gpump_preempt_points_config interval = {7};
    gpump_registers_config config;
    gpump_registers_report report;
    gpump_program *allocated, *placed;
    uint32_t count = 0;
    assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
    config.registers = registers;
    config.sink = config.fold_parameters = sink;
    assert_int_equal(gpump_registers_allocate(program, &config, &allocated, &report, NULL), GPUMP_OK);
    memset(points, 0, sizeof points);
    assert_int_equal(gpump_preempt_points_place(allocated, &interval, &placed, points, 512, &count, NULL), GPUMP_OK);
    decided(all,
            "  %" PRIu32 " registers: %" PRIu32 " used, peak %" PRIu32 ", %" PRIu32 " spilled: 0x%016" PRIx64
            "; %" PRIu32 " points 0x%016" PRIx64,
            registers, report.registers, report.peak, report.spilled, test_program_hash(allocated), count,
            words_hash(points, sizeof *points * count));
    gpump_program_destroy(placed);
    gpump_program_destroy(allocated);
}

/* An instruction that may be split from others. */
static uint32_t splittable(const gpump_program *program, uint64_t *random) {
    gpump_instruction in;
    uint32_t at;
    do {
        at = gpump_random_below(random, gpump_program_count(program).instructions);
        gpump_program_instruction(program, at, &in);
    } while (in.operation == GPUMP_OP_BOUNDARY || in.operation == GPUMP_OP_BRANCH || in.operation == GPUMP_OP_EXIT ||
             in.operation == GPUMP_OP_BARRIER || in.operation == GPUMP_OP_BARRIER_PP);
    return at;
}
/* Regions of a program that has its registers: pairs of them keep their names, so that they are copied. A split of
 * these regions, and the clobbers that are in both. */
static void decide_chains(decisions *all, const gpump_program *program, uint64_t number) {
    static gpump_clobber clobbers[1024];
    static uint8_t of_block[1024];
    gpump_registers_config registers;
    gpump_regions_config regions;
    gpump_regions_report report, split_report;
    gpump_program *allocated, *formed, *split, *preserved;
    uint64_t random = number;
    const uint32_t level = (uint32_t)(number % 2);
    uint32_t first, last, count, of_blocks;
    assert_int_equal(gpump_preset(&gpump_registers_component, &registers, "kepler", NULL), GPUMP_OK);
    registers.registers = 10 + gpump_random_below(&random, 20);
    assert_int_equal(gpump_registers_allocate(program, &registers, &allocated, NULL, NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_regions_component, &regions, "igpu_short", NULL), GPUMP_OK);
    regions.few_live = level;
    regions.preserve = gpump_random_below(&random, 2);
    assert_int_equal(gpump_regions_form(allocated, &regions, &formed, &report, NULL), GPUMP_OK);
    first = splittable(formed, &random);
    last = splittable(formed, &random);
    assert_int_equal(gpump_regions_split(formed, first, last, &split, &split_report, NULL), GPUMP_OK);
    assert_int_equal(gpump_regions_preserve(formed, &preserved, &report, NULL), GPUMP_OK);
    memset(clobbers, 0, sizeof clobbers);
    assert_int_equal(gpump_clobbers_find(formed, 1 + gpump_random_below(&random, 2), level, clobbers, 1024, &count),
                     GPUMP_OK);
    assert_int_equal(gpump_clobbers_block(preserved, of_block, &of_blocks), GPUMP_OK);
    decided(all, "  regions of registers: %" PRIu32 " moves, %" PRIu32 " copies: 0x%016" PRIx64 ", text 0x%016" PRIx64,
            report.moves, report.copies, test_program_hash(preserved), test_program_text_hash(preserved));
    decided(all,
            "  split at %" PRIu32 " and %" PRIu32 ": %" PRIu32 " boundaries, %" PRIu32 " moves, %" PRIu32
            " copies: 0x%016" PRIx64,
            first, last, split_report.shorts, split_report.moves, split_report.copies, test_program_hash(split));
    decided(all, "  %" PRIu32 " clobbers 0x%016" PRIx64 ", of blocks %" PRIu32, count,
            words_hash(clobbers, sizeof *clobbers * count), of_blocks);
    gpump_program_destroy(preserved);
    gpump_program_destroy(split);
    gpump_program_destroy(formed);
    gpump_program_destroy(allocated);
}

/* Registers of a program that has its regions, whose boundaries they honour, and the points in it. */
static void decide_formed(decisions *all, const gpump_program *program, uint64_t number) {
    gpump_regions_config regions;
    gpump_program *formed;
    assert_int_equal(gpump_preset(&gpump_regions_component, &regions, number % 3 ? "igpu_short" : "igpu", NULL),
                     GPUMP_OK);
    if (regions.max_instructions) regions.max_instructions = 3 + (uint32_t)(number % 8);
    assert_int_equal(gpump_regions_form(program, &regions, &formed, NULL, NULL), GPUMP_OK);
    decide_registers(all, formed, 9 + (uint32_t)(number % 12), (uint32_t)(number % 4 != 0));
    gpump_program_destroy(formed);
}

static void decide_page_checks(decisions *all, const gpump_program *program, const char *preset) {
    gpump_page_checks_config config;
    gpump_page_checks_report report;
    gpump_program *checked;
    assert_int_equal(gpump_preset(&gpump_page_checks_component, &config, preset, NULL), GPUMP_OK);
    config.local = 1;
    assert_int_equal(gpump_page_checks_insert(program, &config, &checked, &report, NULL), GPUMP_OK);
    decided(all,
            "  %s: %" PRIu32 " walks, %" PRIu32 " predicated, %" PRIu32 " plain: 0x%016" PRIx64 ", text 0x%016" PRIx64,
            preset, report.walks, report.predicated, report.plain, test_program_hash(checked),
            test_program_text_hash(checked));
    gpump_program_destroy(checked);
}

/* Patterns under rules that are drawn for every instruction that writes: of its operands, of lanes, of constants. */
static void decide_patterns(decisions *all, const gpump_program *program, uint64_t *random) {
    static gpump_pattern_rule rules[1024];
    const gpump_program_counts count = gpump_program_count(program);
    gpump_patterns *patterns;
    gpump_liveness *liveness;
    uint64_t found = GPUMP_HASH_SEED, most = GPUMP_HASH_SEED;
    assert_true(count.instructions <= 1024);
    for (uint32_t i = 0; i < count.instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        rules[i].kind = in.def_count ? gpump_random_below(random, GPUMP_PATTERN_KINDS) : GPUMP_PATTERN_OF_NOTHING;
        for (uint32_t k = 0; k < 3; k++)
            rules[i].operands[k] = k < in.use_count && gpump_random_below(random, 4) ? in.uses[k]
                                   : gpump_random_below(random, 2)                   ? GPUMP_PATTERN_LANE
                                                                                     : GPUMP_NONE;
    }
    assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
    assert_int_equal(gpump_patterns_create(program, liveness, rules, test_watched(), &patterns, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < count.instructions; i++) {
        uint64_t bytes;
        for (uint32_t r = 0; r < count.registers; r++)
            found = gpump_hash_u64(found, gpump_patterns_before(patterns, i, r));
        assert_int_equal(gpump_patterns_live_bytes(patterns, program, liveness, i, count.registers, 32, &bytes),
                         GPUMP_OK);
        most = gpump_hash_u64(most, bytes);
    }
    decided(all, "  patterns 0x%016" PRIx64 ", bytes 0x%016" PRIx64, found, most);
    gpump_patterns_destroy(patterns);
    gpump_liveness_destroy(liveness);
}

/* What each analysis finds in random programs stays as written down in tests/program/decisions. */
static void every_result_is_as_written_down(void **state) {
    static draft d;
    decisions all = decisions_begin(60);
    uint64_t random = 5;
    (void)state;
    for (uint32_t n = 0; n < 300; n++) {
        gpump_program *program;
        draft_is_wild = n % 2;
        program = draft_random(&d, &random, 8 + gpump_random_below(&random, 60), 3, 12, 1, NULL);
        decided(&all, "program %" PRIu32 ": 0x%016" PRIx64, n, test_program_hash(program));
        decide_structure(&all, program);
        decide_patterns(&all, program, &random);
        decide_regions(&all, program, "igpu", n % 2);
        decide_regions(&all, program, "igpu_short", n % 2);
        decide_registers(&all, program, 255, 1);
        decide_registers(&all, program, 9 + n % 8, n % 2);
        decide_chains(&all, program, n);
        decide_formed(&all, program, n);
        decide_page_checks(&all, program, "kim");
        decide_page_checks(&all, program, "kim_plain");
        gpump_program_destroy(program);
    }
    assert_false(decisions_differ(&all, "tests/program/decisions/random.txt"));
}

/* Where constants and parameters go in programs with many of them. */
static void constants_go_where_it_was_written_down(void **state) {
    static draft d;
    decisions all = decisions_begin(60);
    uint64_t random = 6;
    (void)state;
    draft_sets_once = 1;
    for (uint32_t n = 0; n < 600; n++) {
        gpump_registers_config config;
        gpump_registers_report report;
        gpump_program *program, *ready;
        draft_is_wild = n % 2;
        program = draft_random(&d, &random, 4 + gpump_random_below(&random, 30), 3, 12, 1, NULL);
        assert_int_equal(gpump_preset(&gpump_registers_component, &config, "kepler", NULL), GPUMP_OK);
        config.fold_parameters = n % 5 != 1;
        config.sink = n % 5 != 2;
        memset(&report, 0, sizeof report);
        assert_int_equal(gpumpi_registers_prepare(program, &config, &ready, &report, NULL), GPUMP_OK);
        decided(&all, "program %" PRIu32 " of %" PRIu32 " instructions: %" PRIu32 ", %" PRIu32 " folded, 0x%016" PRIx64,
                n, gpump_program_count(program).instructions, gpump_program_count(ready).instructions, report.folded,
                gpump_hash_u64(test_program_hash(ready), test_program_text_hash(ready)));
        gpump_program_destroy(ready);
        gpump_program_destroy(program);
    }
    draft_sets_once = 0;
    assert_false(decisions_differ(&all, "tests/program/decisions/constants.txt"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_result_is_as_written_down),
        cmocka_unit_test(constants_go_where_it_was_written_down),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
