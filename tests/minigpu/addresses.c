/* labels: unit link: minigpu_core */
/* What addresses.h says of every access of every kernel, against where the accesses go when the kernel runs: the right
 * buffer, the right variable, one value per thread, and threads of a block as far apart as was promised. */
#include "test.h"
#include "analysis/addresses.h"
#include "analysis/analysis.h"
#include "program/interpret.h"
#include "ptx/ptx_reader.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"
#define THREADS 1024u

typedef struct watcher {
    const interpreter *run;
    const access_address *claims;
    uint64_t *bases;   /* [kernel register][thread]: the value an address came from; 0: not seen in this block */
    uint32_t *strides; /* per kernel register: what was promised */
    uint64_t checked[3], apart;
} watcher;

static void on_access(void *user, const interpret_access *access) {
    watcher *w = (watcher *)user;
    const access_address *claim = &w->claims[access->pc];
    const instruction *in = &w->run->kernel->instructions[access->pc];
    const uint32_t bytes = instruction_access_bytes(in);
    uint32_t lane;
    if (claim->kind == PLACE_ANYWHERE) return;
    for (lane = 0; lane < LANES; lane++) {
        const uint64_t address = access->addresses[lane];
        const uint32_t thread = access->warp * 32 + lane;
        if (!(access->active >> lane & 1)) continue;
        if (claim->kind == PLACE_PARAMETER) {
            const launch_argument *argument = &w->run->call->arguments[claim->number];
            assert_true(argument->is_buffer);
            assert_int_equal((address >> 32) - 1, argument->buffer);
        } else if (claim->number != SHARED_VARIABLE_EXTERN) {
            if (address < claim->number - 1 || address + bytes > w->run->shared_bytes)
                fail_msg("%s line %u: shared variable at %u, address %llu", w->run->kernel->name, in->line,
                         claim->number - 1, (unsigned long long)address);
        }
        if (claim->address == GPUMP_ADDRESS_FIXED)
            assert_int_equal(address, (int64_t)claim->number - 1 + claim->offset);
        if (claim->address == GPUMP_ADDRESS_VALUE) {
            uint64_t *base = &w->bases[(uint64_t)claim->value * THREADS + thread];
            const uint64_t value = (in->space == SPACE_SHARED ? (uint32_t)(address - (uint64_t)claim->offset)
                                                              : address - (uint64_t)claim->offset) +
                                   1;
            if (*base) assert_int_equal(*base, value);
            *base = value;
            w->strides[claim->value] = claim->thread_stride;
        }
        w->checked[claim->address]++;
    }
}

static void on_end(void *user, uint64_t block) {
    watcher *w = (watcher *)user;
    uint32_t reg, a, b;
    (void)block;
    for (reg = 0; reg < w->run->kernel->registers; reg++) {
        const uint64_t *bases = &w->bases[(uint64_t)reg * THREADS];
        for (a = 0; a < THREADS && w->strides[reg]; a++) {
            for (b = a + 1; b < THREADS && bases[a]; b++) {
                if (!bases[b]) continue;
                assert_true(bases[a] != bases[b]);
                assert_int_equal((int64_t)(bases[a] - bases[b]) % (int64_t)w->strides[reg], 0);
                w->apart++;
            }
        }
    }
    memset(w->bases, 0, (size_t)w->run->kernel->registers * THREADS * sizeof *w->bases);
}

/* The first kernel of a small launch; NULL where interpret.h cannot run it, and nothing is open then. */
static const kernel_program *open_kernel(const char *name, launch_file *launch, ptx_module *module) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    ptx_error wrong;
    const kernel_program *kernel;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    if (ptx_read_file(launch->kernels[0].ptx_path, module, &wrong)) fail_msg("%s", wrong.text);
    kernel = ptx_find_kernel(module, launch->kernels[0].name);
    assert_non_null(kernel);
    if (interpret_can(module, kernel)) return kernel;
    ptx_free(module);
    launch_file_free(launch);
    return NULL;
}

/* What the analysis claims of an address (fixed, by value, apart from others) holds in every access when the kernel
 * runs. */
static void claims_hold_when_the_kernel_runs(void **state) {
    const reference_entry *entry;
    uint64_t checked[3] = {0, 0, 0}, apart = 0, known = 0, all = 0, left_out = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        launch_file launch;
        ptx_module module;
        interpreter run;
        analysis a;
        gpump_diag diag;
        watcher w;
        access_address *claims;
        const kernel_program *kernel;
        reference_argument arguments[32], executed[32];
        reference_launch view, is;
        uint32_t i;
        kernel = open_kernel(entry->name, &launch, &module);
        left_out += !kernel;
        if (!kernel) continue;
        assert_int_equal(analysis_create_for(kernel, launch.kernels[0].block, &a, &diag), GPUMP_OK);
        claims = (access_address *)interpret_zeroed(kernel->count * sizeof *claims);
        assert_int_equal(addresses_trace(kernel, a.program, launch.kernels[0].block, claims), GPUMP_OK);
        interpret_open(&run, kernel, &launch);
        memset(&w, 0, sizeof w);
        w.run = &run;
        w.claims = claims;
        w.bases = (uint64_t *)interpret_zeroed((uint64_t)kernel->registers * THREADS * sizeof *w.bases);
        w.strides = (uint32_t *)interpret_zeroed(kernel->registers * sizeof *w.strides);
        run.observer.user = &w;
        run.observer.access = on_access;
        run.observer.block_ended = on_end;
        interpret_run(&run);
        for (i = 0; i < 3; i++) checked[i] += w.checked[i];
        apart += w.apart;
        for (i = 0; i < kernel->count; i++) {
            const instruction *in = &kernel->instructions[i];
            if (!instruction_access_bytes(in) || in->space == SPACE_PARAM) continue;
            all++;
            known += claims[i].kind != PLACE_ANYWHERE;
        }
        /* The executor itself is right: the same result as the reference's. */
        memset(arguments, 0, sizeof arguments);
        for (i = 0; i < launch.kernels[0].argument_count; i++) {
            const launch_argument *argument = &launch.kernels[0].arguments[i];
            arguments[i].scalar = argument->is_buffer ? 0 : argument->scalar;
            arguments[i].buffer = argument->is_buffer ? launch.buffers[argument->buffer].contents : NULL;
            arguments[i].bytes = argument->is_buffer ? launch.buffers[argument->buffer].bytes : 0;
            executed[i] = arguments[i];
            if (argument->is_buffer) executed[i].buffer = run.memory[argument->buffer];
        }
        memcpy(view.grid, launch.kernels[0].grid, sizeof view.grid);
        memcpy(view.block, launch.kernels[0].block, sizeof view.block);
        view.dynamic_shared_bytes = launch.kernels[0].dynamic_shared_bytes;
        view.argument_count = launch.kernels[0].argument_count;
        view.arguments = arguments;
        is = view;
        is.arguments = executed;
        assert_null(entry->reference(&view));
        if (entry->check) assert_null(entry->check(&is, &view));
        for (i = 0; i < launch.buffer_count && !entry->check; i++)
            assert_memory_equal(run.memory[i], launch.buffers[i].contents, (size_t)launch.buffers[i].bytes);
        interpret_close(&run);
        free(w.bases);
        free(w.strides);
        free(claims);
        analysis_destroy(&a);
        ptx_free(&module);
        launch_file_free(&launch);
    }
    assert_true(checked[GPUMP_ADDRESS_ANYWHERE] > 1000 && checked[GPUMP_ADDRESS_FIXED] > 1000 &&
                checked[GPUMP_ADDRESS_VALUE] > 10000 && apart > 10000);
    assert_true(known * 100 >= all * 98);
    assert_true(left_out <= 4);
}

/* Names of buffers and variables survive everything a compiler does to an address. */
static void forms_of_addresses(void **state) {
    static const char text[] =
        ".version 6.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n)\n{\n"
        ".reg .u64 %rd<12>; .reg .u32 %r<10>; .reg .pred %p<3>;\n"
        ".shared .align 4 .b8 first[64];\n.shared .align 4 .b8 second[64];\n"
        "ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [n];\n"
        "cvta.to.global.u64 %rd3, %rd0; cvta.to.global.u64 %rd4, %rd1;\n"
        "mov.u32 %r0, %tid.x; mul.wide.u32 %rd5, %r0, 8; add.s64 %rd6, %rd3, %rd5;\n"
        "add.s64 %rd7, %rd6, 16;\n"
        "ld.global.u32 %r1, [%rd6+4];\n" /* a, value %rd6, 4 */
        "st.global.u32 [%rd7-8], %r1;\n" /* a, value %rd6, 8 */
        "ld.global.u64 %rd8, [%rd4];\n"  /* b */
        "ld.global.u32 %r2, [%rd8];\n"   /* anywhere: a loaded pointer */
        "mov.u32 %r3, second; ld.shared.u32 %r4, [first+8]; st.shared.u32 [%r3+4], %r4;\n"
        "setp.eq.u32 %p0, %r0, 0; selp.b64 %rd9, %rd3, %rd4, %p0; st.global.u32 [%rd9], %r4;\n" /* anywhere */
        "mov.u64 %rd10, %rd4;\n"
        "LOOP: ld.global.u32 %r5, [%rd10]; add.s64 %rd10, %rd10, 4; setp.ne.u32 %p1, %r5, 0; @%p1 bra LOOP;\n" /* b,
                                                                                                                  moving
                                                                                                                */
        "ret;\n}\n";
    ptx_module module;
    ptx_error wrong;
    analysis a;
    gpump_diag diag;
    access_address claims[64];
    const uint32_t flat[3] = {64, 1, 1}, deep[3] = {8, 8, 1};
    uint32_t found[8], i, n = 0;
    (void)state;
    if (ptx_read(text, sizeof text - 1, "forms", &module, &wrong)) fail_msg("%s", wrong.text);
    assert_int_equal(module.kernel_count, 1);
    assert_int_equal(analysis_create(&module.kernels[0], &a, &diag), GPUMP_OK);
    memset(claims, 0, sizeof claims);
    assert_int_equal(addresses_trace(&module.kernels[0], a.program, flat, claims), GPUMP_OK);
    for (i = 0; i < module.kernels[0].count; i++)
        if (instruction_access_bytes(&module.kernels[0].instructions[i]) &&
            module.kernels[0].instructions[i].space != SPACE_PARAM)
            found[n++] = i;
    assert_int_equal(n, 8);
    assert_int_equal(claims[found[0]].kind, PLACE_PARAMETER);
    assert_int_equal(claims[found[0]].number, 0);
    assert_int_equal(claims[found[0]].address, GPUMP_ADDRESS_VALUE);
    assert_int_equal(claims[found[0]].offset, 4);
    assert_int_equal(claims[found[0]].thread_stride, 8);
    assert_int_equal(claims[found[1]].value, claims[found[0]].value);
    assert_int_equal(claims[found[1]].offset, 8);
    assert_int_equal(claims[found[2]].number, 1);
    assert_int_equal(claims[found[2]].thread_stride, 0);
    assert_int_equal(claims[found[3]].kind, PLACE_ANYWHERE);
    assert_int_equal(claims[found[4]].kind, PLACE_SHARED);
    assert_int_equal(claims[found[4]].address, GPUMP_ADDRESS_FIXED);
    assert_int_equal(claims[found[4]].offset, 8);
    assert_int_equal(claims[found[5]].kind, PLACE_SHARED);
    assert_true(claims[found[5]].number != claims[found[4]].number);
    assert_int_equal(claims[found[6]].kind, PLACE_ANYWHERE);
    assert_int_equal(claims[found[7]].kind, PLACE_PARAMETER);
    assert_int_equal(claims[found[7]].number, 1);
    assert_int_equal(claims[found[7]].address, GPUMP_ADDRESS_ANYWHERE);
    /* Two threads of an 8x8 block share tid.x. */
    assert_int_equal(addresses_trace(&module.kernels[0], a.program, deep, claims), GPUMP_OK);
    assert_int_equal(claims[found[0]].thread_stride, 0);
    assert_int_equal(addresses_trace(&module.kernels[0], a.program, NULL, claims), GPUMP_OK);
    assert_int_equal(claims[found[0]].thread_stride, 0);
    analysis_destroy(&a);
    ptx_free(&module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_hold_when_the_kernel_runs),
        cmocka_unit_test(forms_of_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
