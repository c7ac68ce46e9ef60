/* labels: robustness unit link: minigpu_core */
/* A saved context that is whole in itself but not the block's: the restore takes the sizes that its sections hold, so
 * the machine stops with an error that names what differs, and reads nothing beyond. */
#include "test.h"

#include "machine/machine.h"
#include "preemption/preempted.h"
#include "preemption/preemption.h"

/* Runs until a block of the first kernel waits in memory. */
static machine *build(launch_file *launch) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m = NULL;
    machine_options_default(&options);
    if (launch_file_read(launch, GPUMP_SOURCE_DIR "/tests/minigpu/preempt/pathfinder.yaml", error) ||
        !(m = machine_build(launch, &options, error)))
        fail_msg("%s", error);
    assert_int_equal(machine_run(m, 400), 0);
    preemption_request(m, m->sms[0], GPUMP_TECHNIQUE_SWITCH, 2, 0);
    while (preempted_first(m, 0) == NONE) assert_int_equal(machine_run(m, m->now + 1), 0);
    return m;
}

static uint8_t *context_of(machine *m) {
    const preempted_block *entry = &m->preempted[preempted_first(m, 0)];
    assert_true(entry->context != NEVER);
    return device_memory(m, m->context_base + entry->context * m->context_stride);
}

/* Writes the context anew; sections of one type lose their last `less` bytes. */
static void shorten(machine *m, uint32_t type, uint64_t less) {
    uint8_t *place = context_of(m), *copy = (uint8_t *)malloc(m->context_stride);
    gpump_context_reader reader;
    gpump_context_writer writer;
    gpump_context_section section;
    uint64_t bytes;
    uint32_t found = 0;
    assert_non_null(copy);
    memcpy(copy, place, m->context_stride);
    assert_int_equal(gpump_context_open(&reader, copy, m->context_stride, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_begin(&writer, place, m->context_stride), GPUMP_OK);
    while (gpump_context_next(&reader, &section) == GPUMP_OK) {
        const uint64_t cut = section.type == type ? less : 0;
        found += section.type == type;
        gpump_context_put(&writer, section.type, section.index, section.payload, section.bytes - cut);
    }
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_true(found > 0);
    free(copy);
}

static void expect(uint32_t type, uint64_t less, const char *text) {
    launch_file launch;
    machine *m = build(&launch);
    const int ended = (shorten(m, type, less), machine_run(m, NEVER));
    if (text) {
        assert_int_equal(ended, -1);
        if (!strstr(m->error, text)) fail_msg("%s", m->error);
    } else {
        assert_int_equal(ended, 1);
    }
    machine_free(m);
    launch_file_free(&launch);
}

/* Sections of another size than the kernel's are refused by what they hold. */
static void sections_of_another_size_are_refused(void **state) {
    (void)state;
    expect(GPUMP_CONTEXT_BARRIERS, 0, NULL); /* written anew as it was: nobody minds */
    expect(GPUMP_CONTEXT_BARRIERS, 8, "the saved barriers are not those of kernel");
    expect(GPUMP_CONTEXT_SHARED, 8, "is not whole");
    expect(GPUMP_CONTEXT_REGISTERS, 128, "the saved registers are not those of kernel");
}

/* The context of another kernel's block, by its header. */
static void test_kernel(void **state) {
    launch_file launch;
    machine *m = build(&launch);
    uint8_t *place = context_of(m), *copy = (uint8_t *)malloc(m->context_stride);
    gpump_context_reader reader;
    gpump_context_writer writer;
    gpump_context_section section;
    gpump_context_block header;
    uint64_t bytes;
    (void)state;
    memcpy(copy, place, m->context_stride);
    assert_int_equal(gpump_context_open(&reader, copy, m->context_stride, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_get_block(&reader, &header), GPUMP_OK);
    gpump_context_begin(&writer, place, m->context_stride);
    header.kernel++;
    gpump_context_put_block(&writer, &header);
    assert_int_equal(gpump_context_open(&reader, copy, m->context_stride, NULL), GPUMP_OK);
    while (gpump_context_next(&reader, &section) == GPUMP_OK)
        if (section.type != GPUMP_CONTEXT_BLOCK)
            gpump_context_put(&writer, section.type, section.index, section.payload, section.bytes);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_int_equal(machine_run(m, NEVER), -1);
    if (!strstr(m->error, "is that of kernel 2")) fail_msg("%s", m->error);
    free(copy);
    machine_free(m);
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sections_of_another_size_are_refused),
                                       cmocka_unit_test(test_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
