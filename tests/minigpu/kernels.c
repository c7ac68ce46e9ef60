/* labels: unit link: minigpu_core */
/* Every kernel of examples/minigpu/kernels runs on the mini-GPU and comes to its reference's result, bit for bit; the
 * references and generators withstand launches that do not suit them. */
#include <stdarg.h>
#include "test.h"
#include "tools/check.h"
#include "machine/machine.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

static void read_launch(launch_file *launch, const char *folder, const char *file) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    snprintf(path, sizeof path, KERNELS "%s/%s", folder, file);
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
}

static machine *build(launch_file *launch) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    m = machine_build(launch, &options, error);
    if (!m) fail_msg("%s", error);
    return m;
}

/* Each kernel's small launch ends with the results of its reference. */
static void every_small_launch_is_right(void **state) {
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        launch_file launch;
        kernel_check check;
        machine *m;
        read_launch(&launch, entry->name, "small.yaml");
        assert_int_equal(launch.kernel_count, 1);
        assert_non_null(launch.kernels[0].reference);
        assert_string_equal(launch.kernels[0].reference->name, entry->name);
        m = build(&launch);
        if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", entry->name, m->error);
        if (check_results(m, &launch, &check)) fail_msg("%s", check.text);
        assert_int_equal(check.result, CHECK_RIGHT);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* A reference that changes nothing, or a check that compares nothing, would let everything pass. */
static void every_wrong_bit_is_caught(void **state) {
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        launch_file launch;
        kernel_check check;
        machine *m;
        uint32_t i;
        read_launch(&launch, entry->name, "small.yaml");
        m = build(&launch);
        assert_int_equal(check_results(m, &launch, &check), 1); /* before the kernel has run */
        assert_int_equal(machine_run(m, NEVER), 1);
        for (i = 0; i < launch.buffer_count; i++) {
            uint8_t *last = device_memory(m, launch.buffers[i].address) + launch.buffers[i].bytes - 1;
            *last ^= 0x40;
            assert_int_equal(check_results(m, &launch, &check), 1);
            assert_int_equal(check.result, CHECK_WRONG);
            *last ^= 0x40;
        }
        assert_int_equal(check_results(m, &launch, &check), 0);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* What may stand in any order is compared as a set: two nodes of a queue may change places, none may come twice. */
static void open_orders_are_sets(void **state) {
    launch_file launch;
    kernel_check check;
    machine *m;
    int32_t *next, first;
    (void)state;
    read_launch(&launch, "bfs_queue", "small.yaml");
    m = build(&launch);
    assert_int_equal(machine_run(m, NEVER), 1);
    next = (int32_t *)device_memory(m, launch.buffers[launch.kernels[0].arguments[2].buffer].address);
    first = next[0];
    assert_int_not_equal(first, next[1]);
    next[0] = next[1];
    next[1] = first;
    assert_int_equal(check_results(m, &launch, &check), 0);
    next[0] = first;
    assert_int_equal(check_results(m, &launch, &check), 1);
    assert_non_null(strstr(check.text, "another set"));
    machine_free(m);
    launch_file_free(&launch);
}

/* The launch of the kernel, over copies of its buffers' first contents. */
static reference_launch view_of(const launch_file *launch, reference_argument *arguments) {
    const launch_kernel *kernel = &launch->kernels[0];
    reference_launch view;
    uint32_t i;
    memset(arguments, 0, kernel->argument_count * sizeof *arguments);
    for (i = 0; i < kernel->argument_count; i++) {
        const launch_argument *a = &kernel->arguments[i];
        arguments[i].scalar = a->is_buffer ? 0 : a->scalar;
        if (!a->is_buffer) continue;
        arguments[i].bytes = launch->buffers[a->buffer].bytes;
        arguments[i].buffer = malloc((size_t)arguments[i].bytes);
        assert_non_null(arguments[i].buffer);
        memcpy(arguments[i].buffer, launch->buffers[a->buffer].contents, (size_t)arguments[i].bytes);
    }
    memcpy(view.grid, kernel->grid, sizeof view.grid);
    memcpy(view.block, kernel->block, sizeof view.block);
    view.dynamic_shared_bytes = kernel->dynamic_shared_bytes;
    view.argument_count = kernel->argument_count;
    view.arguments = arguments;
    return view;
}

static void free_view(const reference_launch *view) {
    uint32_t i;
    for (i = 0; i < view->argument_count; i++) free(view->arguments[i].buffer);
}

/* A seed gives the same inputs each time, and another seed gives others. */
static void same_seed_same_inputs(void **state) {
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        launch_file launch;
        reference_argument first[32], second[32], third[32];
        reference_launch a, b, c;
        uint32_t i, differ = 0;
        if (!entry->generate) continue;
        read_launch(&launch, entry->name, "small.yaml");
        a = view_of(&launch, first);
        b = view_of(&launch, second);
        c = view_of(&launch, third);
        assert_null(entry->generate(&a, 7));
        assert_null(entry->generate(&b, 7));
        assert_null(entry->generate(&c, 8));
        for (i = 0; i < a.argument_count; i++) {
            if (!first[i].buffer) continue;
            assert_memory_equal(first[i].buffer, second[i].buffer, (size_t)first[i].bytes);
            differ += memcmp(first[i].buffer, third[i].buffer, (size_t)first[i].bytes) != 0;
        }
        assert_true(differ > 0);
        free_view(&a);
        free_view(&b);
        free_view(&c);
        launch_file_free(&launch);
    }
}

/* Each argument in turn missing, of the other kind, half as long, or a scalar of every bit pattern that likes to break
 * things: an answer, and (under the sanitizers) nothing read or written outside. */
static void unsuitable_launches_are_refused(void **state) {
    static const uint64_t scalars[] = {0, 1, 31, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        launch_file launch;
        reference_argument arguments[32];
        reference_launch view;
        uint32_t i, n;
        read_launch(&launch, entry->name, "small.yaml");
        view = view_of(&launch, arguments);
        assert_null(entry->reference(&view));
        view.argument_count = 0;
        assert_non_null(entry->reference(&view));
        if (entry->generate) assert_non_null(entry->generate(&view, 1));
        view.argument_count = launch.kernels[0].argument_count;
        for (i = 0; i < view.argument_count; i++) {
            const reference_argument old = arguments[i];
            if (!old.buffer) {
                for (n = 0; n < sizeof scalars / sizeof scalars[0]; n++) {
                    arguments[i].scalar = scalars[n];
                    (void)entry->reference(&view);
                    if (entry->generate) (void)entry->generate(&view, 1);
                }
            } else {
                arguments[i].buffer = NULL;
                arguments[i].bytes = 0;
                assert_non_null(entry->reference(&view));
                if (entry->generate) (void)entry->generate(&view, 1);
                arguments[i].bytes = old.bytes / 2;
                arguments[i].buffer = malloc((size_t)arguments[i].bytes + 1);
                (void)entry->reference(&view);
                if (entry->generate) (void)entry->generate(&view, 1);
                free(arguments[i].buffer);
            }
            arguments[i] = old;
        }
        for (i = 0; i < 3; i++) {
            view.grid[i] = view.block[i] = 0xffffffffu;
            (void)entry->reference(&view);
            memcpy(view.grid, launch.kernels[0].grid, sizeof view.grid);
            (void)entry->reference(&view);
            if (entry->generate) (void)entry->generate(&view, 1);
            memcpy(view.block, launch.kernels[0].block, sizeof view.block);
        }
        free_view(&view);
        launch_file_free(&launch);
    }
}

/* Indices, lengths and tree nodes that lead anywhere. */
static void wild_contents_are_survived(void **state) {
    const reference_entry *entry;
    const uint64_t cases = test_cases(20), seed = test_seed();
    uint64_t number, random = seed;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        launch_file launch;
        read_launch(&launch, entry->name, "small.yaml");
        for (number = 0; number < cases; number++) {
            reference_argument arguments[32];
            reference_launch view = view_of(&launch, arguments);
            uint32_t i;
            uint64_t k, often = 1 + gpump_random_below(&random, 64);
            for (i = 0; i < view.argument_count; i++) {
                uint8_t *bytes = (uint8_t *)arguments[i].buffer;
                for (k = 0; k < arguments[i].bytes; k++)
                    if (gpump_random_below(&random, (uint32_t)often) == 0)
                        bytes[k] = (uint8_t)gpump_random_next(&random);
            }
            (void)entry->reference(&view);
            free_view(&view);
        }
        launch_file_free(&launch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_launch_is_right), cmocka_unit_test(every_wrong_bit_is_caught),
        cmocka_unit_test(same_seed_same_inputs),       cmocka_unit_test(unsuitable_launches_are_refused),
        cmocka_unit_test(wild_contents_are_survived),  cmocka_unit_test(open_orders_are_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
