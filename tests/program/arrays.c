/* labels: unit */
/* An array that is too small: GPUMP_ERROR_CAPACITY, *count is the number needed, and the array is as it was. Not
 * here: gpump_victim_decide (tests/victim), and gpump_liveness_enclosing,
 * gpump_preempt_points_place and gpump_regions_stored, which count before they write. */
#include "test.h"
#include "program/program_tools.h"

enum { ROOM = 512 };
static unsigned char array[ROOM * 64], filled[sizeof array];

/* Calls a function with ever larger arrays. */
#define TRY(call)                                             \
    do {                                                      \
        uint32_t capacity = 0, count = 0, needed;             \
        memset(array, 0x5a, sizeof array);                    \
        memset(filled, 0x5a, sizeof filled);                  \
        assert_int_equal((call), GPUMP_ERROR_CAPACITY);       \
        assert_memory_equal(array, filled, sizeof array);     \
        needed = count;                                       \
        assert_true(needed > 1 && needed <= ROOM);            \
        for (capacity = 1; capacity < needed; capacity++) {   \
            count = 0;                                        \
            assert_int_equal((call), GPUMP_ERROR_CAPACITY);   \
            assert_int_equal(count, needed);                  \
            assert_memory_equal(array, filled, sizeof array); \
        }                                                     \
        assert_int_equal((call), GPUMP_OK);                   \
        assert_int_equal(count, needed);                      \
        assert_memory_not_equal(array, filled, sizeof array); \
    } while (0)

/* Too small an array gets the number that is needed and stays as it was. */
static void short_arrays_of_contexts_say_what_they_need(void **state) {
    static unsigned char memory[4096];
    const gpump_context_stack_entry entries[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    const uint64_t words[5] = {1, 2, 3, 4, 5};
    gpump_context_writer writer;
    gpump_context_reader reader;
    uint64_t bytes;
    (void)state;
    assert_int_equal(gpump_context_begin(&writer, memory, sizeof memory), GPUMP_OK);
    gpump_context_put_stack(&writer, 0, entries, 3);
    gpump_context_put_words(&writer, GPUMP_CONTEXT_PREDICATES, 0, words, 5);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    TRY(gpump_context_get_stack(&reader, 0, (gpump_context_stack_entry *)(void *)array, capacity, &count));
    TRY(gpump_context_get_words(&reader, GPUMP_CONTEXT_PREDICATES, 0, (uint64_t *)(void *)array, capacity, &count));
}

/* Likewise the views of an SM's blocks. */
static void short_arrays_of_an_sm_say_what_they_need(void **state) {
    gpump_sm_config config;
    gpump_sm *sm;
    gpump_sm_request request;
    gpump_block_ref block;
    size_t bytes;
    void *memory;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
    memory = malloc(bytes);
    assert_int_equal(gpump_init(&gpump_sm_component, memory, bytes, &config, &sm, NULL), GPUMP_OK);
    memset(&request, 0, sizeof request);
    request.kernel = 1;
    request.need.threads = 64;
    request.need.registers = 640;
    for (int i = 0; i < 4; i++) assert_int_equal(gpump_sm_place(sm, 1, &request, NULL, &block, NULL), GPUMP_OK);
    TRY(gpump_sm_blocks(sm, 2, (gpump_block_view *)(void *)array, capacity, &count));
    free(memory);
}

/* Two reads and writes of what was read; the registers are used before anything is written to them. */
static void programs(void **state) {
    test_builder b = test_build(NULL);
    uint32_t x = test_register(&b, GPUMP_WIDTH_32), y = test_register(&b, GPUMP_WIDTH_32);
    uint32_t o = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE);
    gpump_liveness *liveness;
    (void)state;
    for (int64_t offset = 0; offset < 8; offset += 4) {
        test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_VALUE, 1, offset, 4);
        test_access(&b, 2, 0, GPUMP_NONE, y, x, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_VALUE, 1, offset, 4);
    }
    test_exit(&b, GPUMP_NONE);
    assert_int_equal(test_finish(&b), GPUMP_OK);
    TRY(gpump_clobbers_find(b.program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, (gpump_clobber *)(void *)array, capacity,
                            &count));
    assert_int_equal(gpump_liveness_create(b.program, NULL, &liveness), GPUMP_OK);
    TRY(gpump_liveness_uninitialised(liveness, (gpump_uninitialised *)(void *)array, capacity, &count));
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(b.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_arrays_of_contexts_say_what_they_need),
        cmocka_unit_test(short_arrays_of_an_sm_say_what_they_need),
        cmocka_unit_test(programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
