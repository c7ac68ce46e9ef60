/* labels: equivalence unit link: minigpu_core */
/* Whether a block may be flushed, decided by analysis and by watching: every instruction that is seen to overwrite what
 * its block has read, or to do an atomic, in any kernel of examples/minigpu/kernels, is one that gpump_clobbers_block
 * has marked. And the machine that goes by the marks (static_flush) clears flush bits no later than the one that
 * watches, and flushes with right results. */
#include "test.h"
#include "analysis/analysis.h"
#include "tools/check.h"
#include "machine/machine.h"
#include "ptx/ptx_reader.h"

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
            if (n != i && k->arguments[n].is_buffer && k->arguments[n].buffer == k->arguments[i].buffer)
                classes[i] = k->arguments[i].buffer;
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
    /* what runs has real registers and spills; what is analysed is the kernel as written. A line of PTX is one
     * instruction. */
    ran = m->kernels[0].program;
    if (ptx_read_file(launch.kernels[0].ptx_path, &module, &ptx_failed)) fail_msg("%s: not read again", name);
    for (i = 0; i < module.kernel_count; i++)
        if (!strcmp(module.kernels[i].name, launch.kernels[0].name)) program = &module.kernels[i];
    assert_true(program && ran->count <= sizeof seen && program->count <= sizeof marked &&
                launch.kernels[0].argument_count <= 256);
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
        for (k = 0; seen[i] && k < program->count &&
                    !(program->instructions[k].line == ran->instructions[i].line && marked[k]);
             k++) {}
        if (seen[i] && k == program->count)
            fail_msg("%s: line %u was seen to clobber, but is not marked", name, ran->instructions[i].line);
    }
    analysis_destroy(&a);
    ptx_free(&module);
    machine_free(m);
    launch_file_free(&launch);
    return result;
}

/* Each global write that was seen to clobber was marked so by the analysis. */
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
    print_message("%u kernels: %u need no watching, %u more never clobber when they run; of %u global writes %u are "
                  "marked, %u were seen to clobber\n",
                  kernels, clean, never, writes, marked, seen);
    assert_true(seen && clean);
}

/* ---- the machine that goes by the marks ---- */

/* Sets a number of the launch file's machine. */
static void set_number(launch_file *launch, const char *name, uint32_t value) {
    launch_number *grown = (launch_number *)realloc(launch->numbers, (launch->number_count + 1) * sizeof *grown);
    assert_non_null(grown);
    launch->numbers = grown;
    memset(&grown[launch->number_count], 0, sizeof *grown);
    grown[launch->number_count].name = strdup(name);
    grown[launch->number_count++].value = value;
}

typedef struct outcome {
    uint64_t cycles;
    uint32_t kernel_preempted, refused;
    uint8_t seen[65536];
} outcome;

/* Runs a launch file by one of the rules; flush_at: when every SM is asked to flush; NEVER. */
static void run_by(const char *path, uint32_t static_flush, uint64_t flush_at, outcome *o) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    kernel_check checks[16];
    launch_file launch;
    machine *m;
    uint32_t i;
    memset(o, 0, sizeof *o);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    set_number(&launch, "static_flush", static_flush);
    machine_options_default(&options);
    options.technique = GPUMP_TECHNIQUE_FLUSH;
    options.preempt_cycle = flush_at;
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    assert_true(m->kernels[0].program->count <= sizeof o->seen);
    m->clobbered_at = o->seen;
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", path, m->error);
    if (check_results(m, &launch, checks) > 0)
        fail_msg("%s, flushed at %llu: %s", path, (unsigned long long)flush_at, checks[0].text);
    for (i = 0; i < m->preemption_count; i++) {
        o->kernel_preempted++;
        if (m->preemptions[i].refused == GPUMP_REASON_CLOBBERED) o->refused += m->preemptions[i].refused_blocks;
    }
    o->cycles = m->now;
    machine_free(m);
    launch_file_free(&launch);
}

/* A flush by the marks is refused wherever a flush by watching is refused. */
static void the_marks_refuse_no_less(void **state) {
    static outcome watched, marked;
    const reference_entry *entry;
    uint32_t refused_watched = 0, refused_marked = 0, i, place;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        char path[1024];
        uint64_t cycles;
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", entry->name);
        run_by(path, 0, NEVER, &watched);
        run_by(path, 1, NEVER, &marked);
        assert_int_equal(watched.cycles, marked.cycles); /* nothing was flushed: the rule is no matter of time */
        for (i = 0; i < sizeof watched.seen; i++)
            if (watched.seen[i] > marked.seen[i])
                fail_msg("%s: the instruction at %u cleared the bit only when watched", entry->name, i);
        cycles = watched.cycles;
        for (place = 1; place <= 3; place++) {
            run_by(path, 0, cycles * place / 4, &watched);
            run_by(path, 1, cycles * place / 4, &marked);
            if (watched.refused > marked.refused)
                fail_msg("%s: watched refused %u, marked %u", entry->name, watched.refused, marked.refused);
            refused_watched += watched.refused;
            refused_marked += marked.refused;
        }
    }
    print_message("blocks that refused a flush: %u when watched, %u by the marks\n", refused_watched, refused_marked);
    assert_true(refused_watched);
}

/* A copy overwrites nothing when its buffers are two, and what it has read when they are one. */
static void buffers_that_alias_are_marked(void **state) {
    static const char ptx[] =
        ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry copy(.param .u64 .ptr .global from, .param "
        ".u64 .ptr .global to)\n{\n"
        ".reg .b32 %r<4>;\n.reg .b64 %d<6>;\nld.param.u64 %d1, [from];\nld.param.u64 %d2, [to];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %d3, %r1, 4;\nadd.s64 %d4, %d1, %d3;\nadd.s64 %d5, %d2, %d3;\nld.global.u32 %r2, [%d4];\n"
        "add.s32 %r2, %r2, 1;\nst.global.u32 [%d5], %r2;\nret;\n}\n";
    static const uint32_t block[3] = {64, 1, 1}, same[2] = {0, 0}, apart[2] = {GPUMP_NONE, GPUMP_NONE};
    uint8_t marks[64];
    uint32_t i, found;
    ptx_module module;
    ptx_error wrong;
    gpump_diag diag;
    (void)state;
    memset(&diag, 0, sizeof diag);
    if (ptx_read(ptx, sizeof ptx - 1, "copy.ptx", &module, &wrong)) fail_msg("%s", wrong.text);
    assert_true(module.kernel_count == 1 && module.kernels[0].count < sizeof marks);
    memset(marks, 0, sizeof marks);
    assert_int_equal(analysis_clobbers(&module.kernels[0], block, apart, marks, &diag), GPUMP_OK);
    for (i = found = 0; i < module.kernels[0].count; i++) found += marks[i];
    assert_int_equal(found, 0);
    assert_int_equal(analysis_clobbers(&module.kernels[0], block, same, marks, &diag), GPUMP_OK);
    for (i = found = 0; i < module.kernels[0].count; i++) found += marks[i];
    assert_int_equal(found, 1);
    ptx_free(&module);
}

/* A kernel whose threads each read and write one element of their own, with one buffer for the two parameters: blocks
 * that have written may not be flushed any more, although nothing is wrong with their addresses. Flushed throughout the
 * run, its results stay those of a run that nobody disturbs. */
static uint64_t run_with_one_buffer(int one_buffer, uint64_t flush_at, uint64_t *cycles, uint32_t *refused,
                                    uint32_t *flushed) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    uint64_t hash;
    uint32_t i;
    machine *m;
    if (launch_file_read(&launch, KERNELS "cfd_step_factor/small.yaml", error)) fail_msg("%s", error);
    if (one_buffer) launch.kernels[0].arguments[2].buffer = launch.kernels[0].arguments[1].buffer;
    machine_options_default(&options);
    options.technique = GPUMP_TECHNIQUE_FLUSH;
    options.preempt_cycle = flush_at;
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    for (i = 0; i < m->preemption_count; i++) {
        *refused += m->preemptions[i].refused == GPUMP_REASON_CLOBBERED ? m->preemptions[i].refused_blocks : 0;
        *flushed += m->preemptions[i].wasted_warp_instructions != 0;
    }
    if (cycles) *cycles = m->now;
    hash = machine_result_hash(m, &launch);
    machine_free(m);
    launch_file_free(&launch);
    return hash;
}

/* Where one buffer is passed for two parameters, a flush is refused as needed, and the results stay right. */
static void one_buffer_for_two_parameters_is_flushed_right(void **state) {
    uint32_t one, place;
    (void)state;
    for (one = 0; one < 2; one++) {
        uint32_t refused = 0, flushed = 0, n = 0;
        uint64_t cycles = 0;
        const uint64_t expected = run_with_one_buffer((int)one, NEVER, &cycles, &n, &n);
        for (place = 1; place < 100; place++)
            assert_true(run_with_one_buffer((int)one, cycles * place / 100, NULL, &refused, &flushed) == expected);
        print_message("%s: %u flushes, %u blocks refused\n", one ? "one buffer" : "two buffers", flushed, refused);
        assert_true(flushed && (one ? refused > 0 : refused == 0));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_was_marked),
        cmocka_unit_test(the_marks_refuse_no_less),
        cmocka_unit_test(buffers_that_alias_are_marked),
        cmocka_unit_test(one_buffer_for_two_parameters_is_flushed_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
