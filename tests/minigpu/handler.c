/* labels: equivalence full link: minigpu_core */
/* Page-fault handlers as code (Tanasic 6.4.2): memory holds what a run without faults leaves, the list of frames may
 * run empty, an instruction of the handler takes an issue slot, and its memory is the system's. */
#include "test.h"

#include "parts/fault_unit/fault_unit.h"
#include "parts/faults/faults.h"
#include "parts/handler/handler.h"
#include "tools/check.h"

#define HANDLER GPUMP_SOURCE_DIR "/examples/minigpu/handler/page_fault.ptx"
#define FILE_NAME "handler_test.ptx"
#define LAUNCH_NAME "handler_test.yaml"

typedef struct setting {
    const char *path, *handler, *scheme, *config;
    uint32_t frames, threads;
} setting;

/* Builds a machine of two SMs on which every other buffer has no memory yet, and the others are the CPU's. Returns NULL
 * with the reason in error. */
static machine *try_build(launch_file *launch, const setting *what, char error[LAUNCH_ERROR_BYTES]) {
    machine_options options;
    uint32_t i;
    machine_options_default(&options);
    options.gpu = "table61";
    options.config = what->config;
    options.threads = what->threads;
    options.faults.scheme = what->scheme;
    options.faults.link = "nvlink";
    options.faults.handler = what->handler;
    options.faults.frames = what->frames;
    if (launch_file_read(launch, what->path, error)) fail_msg("%s", error);
    launch->sms = 2;
    for (i = 0; i < launch->buffer_count; i++)
        launch->buffers[i].owner = i % 2 ? GPUMP_FAULT_UNALLOCATED : GPUMP_FAULT_CPU;
    return machine_build(launch, &options, error);
}
static machine *build(launch_file *launch, const setting *what) {
    char error[LAUNCH_ERROR_BYTES];
    machine *m = try_build(launch, what, error);
    if (!m) fail_msg("%s", error);
    return m;
}

/* Adds up an SM's counters. */
static sm_handler handlers_sum(const machine *m) {
    sm_handler sum;
    uint32_t i;
    memset(&sum, 0, sizeof sum);
    for (i = 0; i < m->sm_count; i++) {
        sum.mapped += sm_handler_of(m->sms[i])->mapped;
        sum.left += sm_handler_of(m->sms[i])->left;
        sum.instructions += sm_handler_of(m->sms[i])->instructions;
    }
    return sum;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Runs to the end and compares the results. Returns what the handlers have counted. */
static sm_handler run_right(const setting *what) {
    launch_file launch;
    kernel_check results[8];
    gpump_fault_statistics f;
    machine *m = build(&launch, what);
    sm_handler sum;
    if (machine_run(m, NEVER) != 1) fail_msg("%s, %s: %s", what->path, what->scheme, m->error);
    if (check_results(m, &launch, results)) fail_msg("%s, %s: %s", what->path, what->scheme, results[0].text);
    gpump_get_statistics(&gpump_fault_component, fault_unit_of(m)->fault, &f);
    sum = handlers_sum(m);
    if (f.opened != f.migrated + f.allocated + f.local || f.local != sum.mapped || f.opened != sum.mapped + sum.left)
        fail_msg("%s, %s: a fault is not counted", what->path, what->scheme);
    assert_int_equal(gpump_check(&gpump_fault_component, fault_unit_of(m)->fault, NULL), GPUMP_OK);
    machine_free(m);
    launch_file_free(&launch);
    return sum;
}

/* Small launches with every scheme, in order and out of order: right, whoever serves the faults. */
static void launches_with_handlers_end_right(void **state) {
    static const char *const configs[] = {"issue_queue_entries=96", "issue_queue_entries=0"};
    const reference_entry *entry;
    char path[1024];
    uint32_t turn = 0;
    uint64_t mapped = 0, left = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++, turn++) {
        setting what = {path, HANDLER, faults_scheme_name(turn % 8), configs[turn % 3 % 2], NONE, 0};
        sm_handler sum;
        if (turn % 4 != test_seed() % 4) continue;
        if (!strcmp(what.scheme, "regions")) what.scheme = "queue";
        if (turn % 2) what.frames = turn % 5;
        snprintf(path, sizeof path, "%s/examples/minigpu/kernels/%s/small.yaml", GPUMP_SOURCE_DIR, entry->name);
        sum = run_right(&what);
        mapped += sum.mapped;
        left += sum.left;
    }
    assert_true(mapped > 5 && left > 5);
}

/* The list runs empty: the handlers have mapped as many pages as it had frames, and the CPU the rest. */
static void the_list_of_frames_runs_empty(void **state) {
    setting what = {
        GPUMP_SOURCE_DIR "/examples/minigpu/kernels/random_graph/launch.yaml", HANDLER, "log16", NULL, 20, 0};
    const sm_handler few = run_right(&what);
    sm_handler all;
    (void)state;
    what.frames = NONE;
    all = run_right(&what);
    assert_int_equal(few.mapped, 20);
    assert_int_equal(few.mapped + few.left, all.mapped + all.left);
    assert_true(all.mapped > 60);
}

/* In a cycle in which the handler issues, the warps of its SM have a slot less. */
static void an_instruction_of_the_handler_takes_an_issue_slot(void **state) {
    setting what = {GPUMP_SOURCE_DIR "/examples/minigpu/kernels/random_graph/launch.yaml",
                    HANDLER,
                    "log16",
                    "issue_queue_entries=96",
                    NONE,
                    0};
    uint64_t cycle, beside = 0, full = 0, issued, before = 0;
    launch_file launch;
    machine *m = build(&launch, &what);
    (void)state;
    for (cycle = 1; cycle < 30000; cycle++) {
        const sm *s = m->sms[0];
        uint32_t handler = sm_handler_of(s)->issued;
        assert_int_equal(machine_run(m, cycle), 0);
        handler = sm_handler_of(s)->issued > handler;
        issued = s->statistics.issued - before;
        before = s->statistics.issued;
        if (issued + handler > m->config.issue_instructions)
            fail_msg("%u instructions in cycle %u", (unsigned)(issued + handler), (unsigned)cycle);
        beside += handler && issued;
        full += issued == m->config.issue_instructions;
    }
    assert_true(beside > 20 && full > 100);
    machine_free(m);
    launch_file_free(&launch);
}

/* A warp in user mode that writes the page table ends its process, and the report says that the page is the system's.
 */
static void the_page_table_is_the_systems(void **state) {
    const setting what = {LAUNCH_NAME, HANDLER, "queue", NULL, NONE, 0};
    char text[1024], report[8192];
    uint64_t table = DEVICE_BASE;
    uint32_t i;
    FILE *file;
    (void)state;
    write_text(
        FILE_NAME,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry writes(.param .u32 low, .param .u32 high)\n{\n"
        ".reg .b64 %rd<2>;\n.reg .b32 %r<4>;\nld.param.u32 %r1, [low];\nld.param.u32 %r2, [high];\n"
        "mov.b64 %rd1, {%r1, %r2};\nmov.u32 %r3, 2;\n"
        "st.global.u32 [%rd1], %r3;\nret;\n}\n");
    for (i = 0; i < 2; i++) { /* the first time to learn the address */
        launch_file launch;
        machine *m;
        snprintf(text, sizeof text,
                 "kernels:\n  - ptx: %s\n    kernel: writes\n    grid: [1, 1, 1]\n    block: [32, 1, 1]\n"
                 "    arguments:\n      - scalar: {type: u32, value: %u}\n      - scalar: {type: u32, value: %u}\n",
                 FILE_NAME, (unsigned)table, (unsigned)(table >> 32));
        write_text(LAUNCH_NAME, text);
        m = build(&launch, &what);
        table = handlers_of(m)->table;
        if (i) {
            assert_int_equal(machine_run(m, NEVER), 1);
            file = tmpfile();
            assert_non_null(file);
            PARTS_TELL(m, report, (m, file));
            rewind(file);
            report[fread(report, 1, sizeof report - 1, file)] = 0;
            fclose(file);
            if (!strstr(report, "a page of the system, which a warp in user mode may not access"))
                fail_msg("%s", report);
            assert_int_equal(*device_memory(m, table), 0);
        }
        machine_free(m);
        launch_file_free(&launch);
    }
    remove(LAUNCH_NAME);
    remove(FILE_NAME);
}

/* Leaves the pages that the CPU has. */
#define UNALLOCATED "ld.global.u32 %r3, [%rd3]; setp.ne.u32 %p1, %r3, 1; @%p1 ret; "

/* Handlers that do wrong are refused, or end the run, in words. */
static void wrong_handlers_are_named(void **state) {
    static const struct {
        const char *body, *text;
    } wrong[] = {
        {"$L: bra $L;", "does not end"},
        {"st.global.u32 [%rd3], 2;", "a page that the CPU has"},
        {UNALLOCATED "st.global.u32 [%rd3], 2;", "with a frame that another page has"},
        {UNALLOCATED "mov.u32 %r2, 999999; st.global.u32 [%rd3+4], %r2; st.global.u32 [%rd3], 2;",
         "that the list does not have"},
        {"st.global.u32 [%rd3+1], 2;", "misaligned access"},
        {"mov.u64 %rd3, 268435456; st.global.u32 [%rd3], 2;", "the page table and the list of frames alone"},
        {"bar.sync 0;", "a handler runs without barriers"},
        {"st.shared.u32 [%rd3], 2;", "a handler runs without shared"},
        {"tex.1d.v4.f32.s32 {%f1, %f1, %f1, %f1}, [%rd3, {%r1}];", "a handler runs without textures"},
    };
    char text[2048], error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const setting what = {
            GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/launch.yaml", FILE_NAME, "log16", NULL, NONE, 0};
        launch_file launch;
        machine *m;
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry wrong(.param .u64 t, .param .u64 l, "
                 ".param .u32 g)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n.reg .f32 %%f<2>;\n.reg .pred %%p<2>;\n"
                 "ld.param.u64 %%rd1, [t];\nld.param.u32 %%r1, [g];\nmul.wide.u32 %%rd2, %%r1, 8;\n"
                 "add.s64 %%rd3, %%rd1, %%rd2;\n%s\nret;\n}\n",
                 wrong[i].body);
        write_text(FILE_NAME, text);
        error[0] = 0;
        m = try_build(&launch, &what, error);
        if (m) assert_int_equal(machine_run(m, NEVER), -1);
        if (!strstr(m ? m->error : error, wrong[i].text)) fail_msg("%u: %s", i, m ? m->error : error);
        if (m) machine_free(m);
        launch_file_free(&launch);
    }
    remove(FILE_NAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_with_handlers_end_right), cmocka_unit_test(the_list_of_frames_runs_empty),
        cmocka_unit_test(an_instruction_of_the_handler_takes_an_issue_slot),
        cmocka_unit_test(the_page_table_is_the_systems), cmocka_unit_test(wrong_handlers_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
