/* labels: unit */
/* Analyses of long straight-line kernels: the steps of an analysis grow no faster than the kernel. A step is one
 * reading of an instruction; this program compiles the program room itself in order to count them. */
#define GPUMP_STATIC
static unsigned long long steps;
#define GPUMPI_COUNT_STEP() ((void)steps++)
#include "../../gpump_impl/base/base.c"
#include "../../gpump_impl/base/component.c"
#include "../../gpump_impl/program/program.c"
#include "../../gpump_impl/program/graph.c"
#include "../../gpump_impl/program/liveness.c"
#include "../../gpump_impl/program/constants.c"
#include "../../gpump_impl/program/registers.c"
#include "../../gpump_impl/program/preempt_points.c"
#include "../../gpump_impl/program/clobbers.c"
#include "../../gpump_impl/program/regions.c"
#include "../../gpump_impl/program/preserve.c"
#include "../../gpump_impl/program/page_checks.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { LANES = 32 };

static gpump_program *program;
static uint32_t shared_object;

static uint32_t add_register(void) {
    uint32_t reg = 0;
    assert_int_equal(gpump_program_add_register(program, GPUMP_WIDTH_32, &reg, NULL), GPUMP_OK);
    return reg;
}
static void add(uint32_t operation, uint32_t def, uint32_t a, uint32_t b) {
    gpump_instruction in = gpump_instruction_make(operation);
    uint32_t uses[2];
    uses[0] = a;
    uses[1] = b;
    in.defs = &def;
    in.def_count = def != GPUMP_NONE;
    in.uses = uses;
    in.use_count = (uint32_t)(a != GPUMP_NONE) + (b != GPUMP_NONE);
    assert_int_equal(gpump_program_add(program, &in, NULL, NULL), GPUMP_OK);
}
static void access_shared(uint32_t access, uint32_t reg, uint32_t address, uint32_t value, uint32_t lane) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t uses[2];
    uses[0] = address;
    uses[1] = reg;
    in.defs = &reg;
    in.def_count = access == GPUMP_ACCESS_READ;
    in.uses = uses;
    in.use_count = access == GPUMP_ACCESS_READ ? 1 : 2;
    in.access = access;
    in.space = GPUMP_SPACE_SHARED;
    in.object = shared_object;
    in.address = GPUMP_ADDRESS_VALUE;
    in.value = value;
    in.offset = in.displacement = 512 * (int64_t)lane;
    in.bytes = 4;
    assert_int_equal(gpump_program_add(program, &in, NULL, NULL), GPUMP_OK);
}

/* An unrolled Hadamard transform of LANES values a thread, in one basic block. Every stage ends in an exchange through
 * shared memory; with in_place every butterfly also goes through shared memory. */
static gpump_program *make_hadamard(uint32_t stages, int in_place) {
    uint32_t value[LANES], thread, stage, i;
    gpump_memory_object what = {GPUMP_SPACE_SHARED, GPUMP_NONE};
    assert_int_equal(gpump_program_create(NULL, &program), GPUMP_OK);
    assert_int_equal(gpump_program_add_object(program, &what, &shared_object, NULL), GPUMP_OK);
    thread = add_register();
    add(GPUMP_OP_COMPUTE, thread, GPUMP_NONE, GPUMP_NONE);
    for (i = 0; i < LANES; i++) add(GPUMP_OP_COMPUTE, value[i] = add_register(), thread, GPUMP_NONE);
    for (stage = 0; stage < stages; stage++) {
        uint32_t half = 1u << stage % 5, address = add_register();
        add(GPUMP_OP_COMPUTE, address, thread, GPUMP_NONE);
        for (i = 0; i < LANES; i++) {
            uint32_t a = value[i], b = value[i + half < LANES ? i + half : 0];
            if (i / half % 2) continue;
            if (in_place) {
                access_shared(GPUMP_ACCESS_READ, a = add_register(), address, stage, i);
                access_shared(GPUMP_ACCESS_READ, b = add_register(), address, stage, i + half);
            }
            add(GPUMP_OP_COMPUTE, value[i] = add_register(), a, b);
            add(GPUMP_OP_COMPUTE, value[i + half] = add_register(), a, b);
            access_shared(GPUMP_ACCESS_WRITE, value[i], address, stage, i);
            access_shared(GPUMP_ACCESS_WRITE, value[i + half], address, stage, i + half);
        }
        add(GPUMP_OP_BARRIER, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        for (i = 0; i < LANES && !in_place; i++)
            access_shared(GPUMP_ACCESS_READ, value[i] = add_register(), address, stage, i);
        if (!in_place) add(GPUMP_OP_BARRIER, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    }
    for (i = 0; i < LANES; i++) add(GPUMP_OP_COMPUTE, GPUMP_NONE, value[i], GPUMP_NONE);
    add(GPUMP_OP_EXIT, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    assert_int_equal(gpump_program_finish(program, NULL), GPUMP_OK);
    return program;
}

typedef struct counts {
    unsigned long long instructions, queries, regions, registers, points;
} counts;

static counts count_steps(uint32_t stages, int in_place) {
    counts c;
    gpump_program *kernel = make_hadamard(stages, in_place), *formed = NULL, *allocated = NULL, *placed = NULL;
    gpump_liveness *liveness = NULL;
    gpump_regions_config regions;
    gpump_registers_config registers;
    gpump_preempt_points_config points;
    gpump_registers_report report;
    gpump_preempt_point *list;
    uint32_t n = gpump_program_count(kernel).instructions, i, count;
    uint64_t *set;
    c.instructions = n;
    assert_int_equal(gpump_liveness_create(kernel, NULL, &liveness), GPUMP_OK);
    set = (uint64_t *)calloc(gpump_liveness_words(liveness), sizeof *set);
    assert_non_null(set);
    steps = 0;
    for (i = 0; i < n; i++) gpump_liveness_after(liveness, i, set);
    c.queries = steps;
    gpump_liveness_destroy(liveness);
    free(set);
    assert_int_equal(gpump_preset(&gpump_regions_component, &regions, "igpu", NULL), GPUMP_OK);
    steps = 0;
    assert_int_equal(gpump_regions_form(kernel, &regions, &formed, NULL, NULL), GPUMP_OK);
    c.regions = steps;
    assert_int_equal(gpump_preset(&gpump_registers_component, &registers, "kepler", NULL), GPUMP_OK);
    steps = 0;
    assert_int_equal(gpump_registers_allocate(formed, &registers, &allocated, &report, NULL), GPUMP_OK);
    c.registers = steps;
    assert_int_equal(gpump_preset(&gpump_preempt_points_component, &points, "lin", NULL), GPUMP_OK);
    list = (gpump_preempt_point *)calloc(2 * n, sizeof *list);
    assert_non_null(list);
    steps = 0;
    assert_int_equal(gpump_preempt_points_place(allocated, &points, &placed, list, 2 * n, &count, NULL), GPUMP_OK);
    c.points = steps;
    free(list);
    gpump_program_destroy(placed);
    gpump_program_destroy(allocated);
    gpump_program_destroy(formed);
    gpump_program_destroy(kernel);
    return c;
}

/* A kernel of twice the length may take 2.5 times the steps; an analysis that compares all pairs takes 4 times. */
static void check_growth(const char *name, unsigned long long shorter, unsigned long long longer) {
    if (2 * longer > 5 * shorter) fail_msg("%s: %llu steps, and %llu for twice the kernel", name, shorter, longer);
}
static void check_kernel(int in_place) {
    counts a = count_steps(24, in_place), b = count_steps(48, in_place);
    print_message(
        "%llu and %llu instructions: queries %llu %llu, regions %llu %llu, registers %llu %llu, points %llu %llu\n",
        a.instructions, b.instructions, a.queries, b.queries, a.regions, b.regions, a.registers, b.registers, a.points,
        b.points);
    check_growth("liveness behind every instruction", a.queries, b.queries);
    check_growth("regions", a.regions, b.regions);
    check_growth("registers", a.registers, b.registers);
    check_growth("preempt_points", a.points, b.points);
}
/* A kernel that is described by calls computes, by way of shared memory, what its plan says. */
static void a_program_written_by_steps_through_shared_memory(void **state) {
    (void)state;
    check_kernel(1);
}
/* Likewise with registers alone. */
static void a_program_written_by_steps_in_registers(void **state) {
    (void)state;
    check_kernel(0);
}

/* Every query inside a long basic block gives what one walk up the block finds, with few and with many live registers.
 */
static void queries_are_right(void **state) {
    gpump_program *kernel = make_hadamard(12, 0);
    uint32_t n = gpump_program_count(kernel).instructions, i, k, words;
    gpump_liveness *liveness = NULL;
    uint64_t *walked, *set;
    (void)state;
    assert_int_equal(gpump_liveness_create(kernel, NULL, &liveness), GPUMP_OK);
    words = gpump_liveness_words(liveness);
    walked = (uint64_t *)calloc(words, sizeof *walked);
    set = (uint64_t *)calloc(words, sizeof *set);
    assert_non_null(walked);
    assert_non_null(set);
    for (i = n; i-- > 0;) { /* one basic block, and nothing is live behind it */
        gpump_instruction in;
        gpump_liveness_after(liveness, i, set);
        assert_memory_equal(set, walked, words * sizeof *set);
        gpump_program_instruction(kernel, i, &in);
        for (k = 0; k < in.def_count; k++) gpump_bits_clear(walked, in.defs[k]);
        for (k = 0; k < in.use_count; k++) gpump_bits_set(walked, in.uses[k]);
        gpump_liveness_before(liveness, i, set);
        assert_memory_equal(set, walked, words * sizeof *set);
        if (i + 100 < n) {
            uint32_t pcs[2];
            pcs[0] = n - 1;
            pcs[1] = i;
            gpump_liveness_stack(liveness, pcs, 2, set);
            assert_memory_equal(set, walked, words * sizeof *set);
        }
    }
    free(walked);
    free(set);
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_program_written_by_steps_through_shared_memory),
                                       cmocka_unit_test(a_program_written_by_steps_in_registers),
                                       cmocka_unit_test(queries_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
