/* labels: unit property link: minigpu_core */
/* Every kernel with fewer and fewer registers per thread comes to the same result: what does not fit is spilled, and the blocks that
 * get less of the register file still compute what they should. */
#include "test.h"
#include "analysis.h"
#include "check.h"
#include "machine.h"
#include "ptx_reader.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

static const uint32_t limits[] = {63, 32, 20, 16, 12};
#define LIMITS (sizeof limits / sizeof limits[0])

/* Returns 1 when the kernel ran, 0 when so few registers cannot do. */
static int run_with(const char *name, uint32_t limit, uint32_t *spilled) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    launch_kernel *k;
    kernel_check check;
    machine_options options;
    machine *m;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    k = &launch.kernels[0];
    k->override_registers = (k->block[0] * k->block[1] * k->block[2] + 31) / 32 * 32 * limit;
    machine_options_default(&options);
    m = machine_build(&launch, &options, error);
    if (!m) {
        if (!strstr(error, "cannot do with")) fail_msg("%s", error);
        launch_file_free(&launch);
        return 0;
    }
    assert_true(m->kernels[0].program->registers <= limit);
    *spilled += m->kernels[0].program->spill_bytes > 0;
    if (machine_run(m, NEVER) != 1) fail_msg("%s with %u registers: %s", name, limit, m->error);
    if (check_results(m, &launch, &check)) fail_msg("%s with %u registers: %s", name, limit, check.text);
    machine_free(m);
    launch_file_free(&launch);
    return 1;
}

static void fewer_registers_same_result(void **state) {
    const reference_entry *entry;
    uint32_t ran = 0, kernels = 0, spilled = 0, i;
    (void)state;
    for (entry = reference_entries; entry->name; entry++, kernels++)
        for (i = 0; i < LIMITS; i++) ran += (uint32_t)run_with(entry->name, limits[i], &spilled);
    assert_true(ran > kernels * (LIMITS - 1));
    assert_true(spilled > 10);
}

/* What a kernel is described as: as many instructions as before, every read register known, the same joins as the reader's own. */
static void descriptions_agree_with_the_reader(void **state) {
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        char path[1024];
        ptx_module module;
        ptx_error wrong;
        gpump_diag diag;
        analysis a;
        uint32_t i, branches = 0;
        const kernel_program *kernel;
        snprintf(path, sizeof path, KERNELS "%s/%s.ptx", entry->name, entry->name);
        if (ptx_read_file(path, &module, &wrong)) fail_msg("%s", wrong.text);
        kernel = ptx_find_kernel(&module, entry->name);
        assert_non_null(kernel);
        assert_int_equal(analysis_create(kernel, &a, &diag), GPUMP_OK);
        assert_int_equal(gpump_program_instructions(a.program), kernel->count);
        for (i = 0; i < kernel->count; i++) {
            if (kernel->instructions[i].opcode != OPCODE_BRA || kernel->instructions[i].guard == INSTRUCTION_NONE) continue;
            assert_int_equal(gpump_program_reconvergence(a.program, i), kernel->instructions[i].reconvergence);
            branches++;
        }
        assert_true(branches > 0 || kernel->predicates == 0);
        analysis_destroy(&a);
        ptx_free(&module);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_registers_same_result),
        cmocka_unit_test(descriptions_agree_with_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
