/* labels: equivalence unit link: minigpu_core */
/* Whether a block may be flushed, decided by analysis and by watching: every instruction that is seen to overwrite what its block has read,
 * or to do an atomic, in any kernel of examples/minigpu/kernels, is one that gpump_clobbers_block has marked. */
#include "test.h"
#include "analysis.h"
#include "check.h"
#include "machine.h"
#include "ptx_reader.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

typedef struct count {
    uint32_t seen, marked, writes;
} count;

/* Parameters that get the same buffer share a class. */
static void alias_classes(const launch_kernel *k, uint32_t *classes) {
    uint32_t i, n;
    for (i = 0; i < k->argument_count; i++) {
        classes[i] = GPUMP_NONE;
        for (n = 0; n < k->argument_count && k->arguments[i].is_buffer; n++)
            if (n != i && k->arguments[n].is_buffer && k->arguments[n].buffer == k->arguments[i].buffer) classes[i] = k->arguments[i].buffer;
    }
}

static count compare(const char *name) {
    static uint8_t seen[65536], marked[65536];
    uint32_t classes[256], i;
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    const kernel_program *program = NULL, *ran;
    ptx_module module;
    ptx_error ptx_failed;
    uint32_t k;
    analysis a;
    gpump_diag diag;
    count result = {0, 0, 0};
    machine *m;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    machine_options_default(&options);
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    /* what runs has real registers and spills; what is analysed is the kernel as written. A line of PTX is one instruction. */
    ran = m->kernels[0].program;
    if (ptx_read_file(launch.kernels[0].ptx_path, &module, &ptx_failed)) fail_msg("%s: not read again", name);
    for (i = 0; i < module.kernel_count; i++)
        if (!strcmp(module.kernels[i].name, launch.kernels[0].name)) program = &module.kernels[i];
    assert_true(program && ran->count <= sizeof seen && program->count <= sizeof marked && launch.kernels[0].argument_count <= 256);
    memset(seen, 0, sizeof seen);
    m->clobbered_at = seen;
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", name, m->error);
    alias_classes(&launch.kernels[0], classes);
    memset(&diag, 0, sizeof diag);
    if (analysis_create_launch(program, launch.kernels[0].block, classes, &a, &diag) != GPUMP_OK) {
        gpump_diag_text(&diag, error, sizeof error);
        fail_msg("%s: %s", name, error);
    }
    assert_int_equal(gpump_clobbers_block(a.program, marked, &result.marked), GPUMP_OK);
    for (i = 0; i < program->count; i++) {
        gpump_instruction in;
        gpump_program_instruction(a.program, i, &in);
        result.writes += in.access & GPUMP_ACCESS_WRITE && in.space == GPUMP_SPACE_GLOBAL;
    }
    for (i = 0; i < ran->count; i++) {
        result.seen += seen[i];
        for (k = 0; seen[i] && k < program->count && !(program->instructions[k].line == ran->instructions[i].line && marked[k]); k++) {}
        if (seen[i] && k == program->count) fail_msg("%s: line %u was seen to clobber, but is not marked", name, ran->instructions[i].line);
    }
    analysis_destroy(&a);
    ptx_free(&module);
    machine_free(m);
    launch_file_free(&launch);
    return result;
}

static void what_is_seen_was_marked(void **state) {
    const reference_entry *entry;
    uint32_t kernels = 0, clean = 0, never = 0, seen = 0, marked = 0, writes = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        const count c = compare(entry->name);
        kernels++;
        clean += !c.marked;
        never += c.marked && !c.seen;
        seen += c.seen;
        marked += c.marked;
        writes += c.writes;
    }
    print_message("%u kernels: %u need no watching, %u more never clobber when they run; of %u global writes %u are marked, %u were seen to clobber\n", kernels, clean,
                  never, writes, marked, seen);
    assert_true(seen && clean);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_seen_was_marked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
