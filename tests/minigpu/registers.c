/* labels: unit property link: minigpu_core */
/* Every kernel with fewer and fewer registers per thread comes to the same result: what does not fit is spilled, and
 * the blocks that get less of the register file still compute what they should. */
#include "test.h"
#include "analysis/analysis.h"
#include "tools/check.h"
#include "machine/machine.h"
#include "ptx/one_lane.h"
#include "ptx/ptx_reader.h"

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

/* A kernel compiled to fewer registers gives the same results. */
static void fewer_registers_same_result(void **state) {
    const reference_entry *entry;
    uint32_t ran = 0, kernels = 0, spilled = 0, i;
    (void)state;
    for (entry = reference_entries; entry->name; entry++, kernels++)
        for (i = 0; i < LIMITS; i++) ran += (uint32_t)run_with(entry->name, limits[i], &spilled);
    assert_true(ran > kernels * (LIMITS - 1));
    assert_true(spilled > 10);
}

/* What a kernel is described as: as many instructions as before, every read register known, the same joins as the
 * reader's own. */
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
        assert_int_equal(gpump_program_count(a.program).instructions, kernel->count);
        for (i = 0; i < kernel->count; i++) {
            if (kernel->instructions[i].opcode != OPCODE_BRA || kernel->instructions[i].guard == INSTRUCTION_NONE)
                continue;
            assert_int_equal(gpump_program_reconvergence(a.program, i), kernel->instructions[i].reconvergence);
            branches++;
        }
        assert_true(branches > 0 || kernel->predicates == 0);
        analysis_destroy(&a);
        ptx_free(&module);
    }
}

/* More predicates live at once than there are: some go to local memory, as a word of 0 or 1 for each lane. */
static void predicates_are_spilled(void **state) {
    static char text[16384];
    size_t length;
    ptx_module module;
    ptx_error wrong;
    kernel_program allocated;
    gpump_registers_report report;
    gpump_diag diag;
    uint32_t i, stores = 0, loads = 0;
    (void)state;
    length = (size_t)snprintf(
        text, sizeof text,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry many(.param .u64 out, .param .u32 x)\n{\n"
        ".reg .pred %%p<80>; .reg .b32 %%r<4>; .reg .b64 %%rd<2>;\nld.param.u64 %%rd1, [out]; ld.param.u32 %%r1, [x]; "
        "mov.u32 %%r2, 0;\n");
    for (i = 0; i < 70; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "setp.gt.u32 %%p%u, %%r1, %u;\n", i, 3 * i);
    for (i = 0; i < 70; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "@%%p%u add.u32 %%r2, %%r2, %u;\n", i, i + 1);
    length += (size_t)snprintf(text + length, sizeof text - length, "st.global.u32 [%%rd1], %%r2; ret;\n}\n");
    if (ptx_read(text, length, "many.ptx", &module, &wrong)) fail_msg("%s", wrong.text);
    assert_int_equal(analysis_allocate(&module.kernels[0], 63, &allocated, &report, &diag), GPUMP_OK);
    assert_true(report.spilled >= 6 && report.predicates <= 64);
    for (i = 0; i < allocated.count; i++) {
        const instruction *in = &allocated.instructions[i];
        lanes_operand sources[INSTRUCTION_SOURCES], results[INSTRUCTION_DESTINATIONS];
        uint8_t memory[LANES * 4];
        uint32_t lane;
        if (in->type != TYPE_PRED || in->space != SPACE_LOCAL) continue;
        stores += in->opcode == OPCODE_ST;
        loads += in->opcode == OPCODE_LD;
        assert_int_equal(instruction_access_bytes(in), 4);
        if (in->opcode != OPCODE_ST) continue;
        sources[1].word[0][0] = 0xdeadbeef; /* a mask of lanes */
        lanes_to_memory(in, UINT32_MAX, sources, memory, 4);
        for (lane = 0; lane < LANES; lane++)
            assert_int_equal(memory[4 * lane] + memory[4 * lane + 1] + memory[4 * lane + 2], 0xdeadbeef >> lane & 1);
        lanes_from_memory(in, UINT32_MAX, memory, 4, results);
        assert_true(results[0].word[0][0] == 0xdeadbeef);
    }
    assert_true(stores >= 6 && loads >= 6);
    for (i = 0; i < 220; i += 7) { /* and the whole kernel computes what it should */
        lanes_environment e;
        uint8_t parameters[16] = {0};
        uint32_t out = 0, want = 0, n;
        uint64_t place = (uint64_t)(uintptr_t)&out;
        memset(&e, 0, sizeof e);
        memcpy(parameters, &place, 8);
        memcpy(parameters + 8, &i, 4);
        assert_int_equal(one_lane_run(&allocated, &e, parameters, NULL), 0);
        for (n = 0; n < 70; n++) want += i > 3 * n ? n + 1 : 0;
        assert_int_equal(out, want);
    }
    analysis_free_kernel(&allocated);
    ptx_free(&module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_registers_same_result),
        cmocka_unit_test(descriptions_agree_with_the_reader),
        cmocka_unit_test(predicates_are_spilled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
