/* labels: unit link: minigpu_core */
/* Relaxed idempotence of whole blocks: what gpump_clobbers_block finds without running a kernel covers everything that a run of it finds.
 * Whenever a block overwrites a byte of global memory that it has read from outside, or does an atomic, the instruction is marked. Printed:
 * the kernels whose blocks may be flushed at any time by each of the two rules. */
#include "test.h"
#include "analysis.h"
#include "interpret.h"
#include "ptx_reader.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

typedef struct watcher {
    const interpreter *run;
    const uint8_t *marked;
    uint64_t **read, **written; /* per buffer and byte: 1 + the last block that read it from outside, that wrote it */
    uint64_t clobbers;
} watcher;

static void on_access(void *user, const interpret_access *access) {
    watcher *w = (watcher *)user;
    const instruction *in = &w->run->kernel->instructions[access->pc];
    const uint32_t bytes = instruction_access_bytes(in);
    const int atomic = in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED, writes = in->opcode == OPCODE_ST;
    uint32_t lane, i;
    int clobbers = 0;
    if (in->space == SPACE_SHARED || in->space == SPACE_LOCAL || in->space == SPACE_PARAM) return;
    for (lane = 0; lane < LANES; lane++) {
        const uint64_t buffer = (access->addresses[lane] >> 32) - 1, offset = access->addresses[lane] & 0xffffffffu;
        if (!(access->active >> lane & 1)) continue;
        clobbers |= atomic;
        if (buffer >= w->run->launch->buffer_count || offset + bytes > w->run->launch->buffers[buffer].bytes) continue;
        for (i = 0; i < bytes; i++) {
            uint64_t *read = &w->read[buffer][offset + i], *written = &w->written[buffer][offset + i];
            if (writes) {
                clobbers |= *read == access->block + 1;
                if (*read != access->block + 1) *written = access->block + 1;
            } else if (*written != access->block + 1) {
                *read = access->block + 1;
            }
        }
    }
    if (!clobbers) return;
    w->clobbers++;
    if (!w->marked[access->pc]) fail_msg("%s line %u: overwrites what its block has read, and is not marked", w->run->kernel->name, in->line);
}

static void found_before_running_covers_found_by_running(void **state) {
    const reference_entry *entry;
    uint32_t by_rule[2] = {0, 0}, kernels = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        char path[1024], error[LAUNCH_ERROR_BYTES];
        launch_file launch;
        ptx_module module;
        ptx_error wrong;
        interpreter run;
        analysis a;
        gpump_diag diag;
        watcher w;
        const kernel_program *kernel;
        uint8_t *marked;
        uint32_t i, n, count = 0, classes[64];
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", entry->name);
        if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
        if (ptx_read_file(launch.kernels[0].ptx_path, &module, &wrong)) fail_msg("%s", wrong.text);
        kernel = ptx_find_kernel(&module, launch.kernels[0].name);
        assert_non_null(kernel);
        assert_true(launch.kernels[0].argument_count <= 64);
        for (i = 0; i < launch.kernels[0].argument_count; i++) { /* one buffer behind two parameters */
            const launch_argument *arguments = launch.kernels[0].arguments;
            classes[i] = GPUMP_NONE;
            for (n = 0; n < launch.kernels[0].argument_count && arguments[i].is_buffer; n++)
                if (n != i && arguments[n].is_buffer && arguments[n].buffer == arguments[i].buffer) classes[i] = arguments[i].buffer;
        }
        assert_int_equal(analysis_create_launch(kernel, launch.kernels[0].block, classes, &a, &diag), GPUMP_OK);
        marked = (uint8_t *)interpret_zeroed(kernel->count);
        assert_int_equal(gpump_clobbers_block(a.program, marked, &count), GPUMP_OK);
        interpret_open(&run, kernel, &launch);
        memset(&w, 0, sizeof w);
        w.run = &run;
        w.marked = marked;
        w.read = (uint64_t **)interpret_zeroed(launch.buffer_count * sizeof *w.read);
        w.written = (uint64_t **)interpret_zeroed(launch.buffer_count * sizeof *w.written);
        for (i = 0; i < launch.buffer_count; i++) {
            w.read[i] = (uint64_t *)interpret_zeroed(launch.buffers[i].bytes * sizeof **w.read);
            w.written[i] = (uint64_t *)interpret_zeroed(launch.buffers[i].bytes * sizeof **w.written);
        }
        run.observer.user = &w;
        run.observer.access = on_access;
        interpret_run(&run);
        kernels++;
        by_rule[0] += count == 0;
        by_rule[1] += w.clobbers == 0;
        if (count && !w.clobbers) print_message("%s: %u instructions marked, none clobbers in this run\n", entry->name, count);
        for (i = 0; i < launch.buffer_count; i++) {
            free(w.read[i]);
            free(w.written[i]);
        }
        free(w.read);
        free(w.written);
        free(marked);
        interpret_close(&run);
        analysis_destroy(&a);
        ptx_free(&module);
        launch_file_free(&launch);
    }
    print_message("of %u kernels, %u have blocks that may be flushed at any time as found before running, %u as found by running\n", kernels, by_rule[0],
                  by_rule[1]);
    assert_true(by_rule[0] >= 5 && by_rule[0] <= by_rule[1] && by_rule[1] < kernels);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_before_running_covers_found_by_running)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
