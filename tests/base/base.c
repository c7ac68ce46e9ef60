/* labels: unit property */
#include "test.h"

/* gpump_muldiv_down rounds down, gpump_muldiv_up rounds up, and both saturate where the quotient has more than 64 bits.
 */
static void muldiv_rounds_as_named(void **state) {
    (void)state;
    assert_int_equal(gpump_muldiv_down(7, 3, 2), 10);
    assert_int_equal(gpump_muldiv_up(7, 3, 2), 11);
    assert_true(gpump_muldiv_down(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    assert_true(gpump_muldiv_up(UINT64_MAX, 3, 7) == UINT64_C(7905747460161236407));
    assert_true(gpump_muldiv_down(UINT64_MAX, 2, 1) == UINT64_MAX); /* saturates */
    assert_true(gpump_muldiv_down(1, 1, 0) == UINT64_MAX);
}

#if defined(__SIZEOF_INT128__)
/* gpump_muldiv_down and gpump_muldiv_up give what 128-bit integers give. */
static void muldiv_agrees_with_128_bits(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t i = 0; i < test_cases(100000); i++) {
        uint64_t a = gpump_random_next(&random) >> gpump_random_below(&random, 64);
        uint64_t b = gpump_random_next(&random) >> gpump_random_below(&random, 64);
        uint64_t c = (gpump_random_next(&random) >> gpump_random_below(&random, 64)) | 1;
        __extension__ unsigned __int128 q = (__extension__(unsigned __int128) a) * b / c,
                                        r = (__extension__(unsigned __int128) a) * b % c;
        uint64_t down = q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
        uint64_t up = q + (r != 0) > UINT64_MAX ? UINT64_MAX : (uint64_t)(q + (r != 0));
        test_check(gpump_muldiv_down(a, b, c) == down, seed, i);
        test_check(gpump_muldiv_up(a, b, c) == up, seed, i);
    }
}
#endif

/* Two products of 64-bit numbers are compared without the loss of a bit. */
static void products_are_compared_exactly(void **state) {
    (void)state;
    assert_int_equal(gpumpi_compare_products(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX), 0);
    assert_int_equal(gpumpi_compare_products(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX), 0);
    assert_int_equal(gpumpi_compare_products(UINT64_MAX, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX - 1),
                     -1);                                                                     /* by one in 2^128 */
    assert_int_equal(gpumpi_compare_products(UINT64_C(1) << 33, UINT64_C(1) << 33, 1, 7), 1); /* the low word is 0 */
    assert_int_equal(gpumpi_compare_products(1, 7, UINT64_C(1) << 33, UINT64_C(1) << 33), -1);
    assert_int_equal(gpumpi_compare_products(0, UINT64_MAX, 0, 1), 0);
}

/* The hash of an array is the hash of its elements, one fed after the other. */
static void a_hash_feeds_field_by_field(void **state) {
    const uint64_t words[3] = {1, UINT64_MAX, 5};
    uint64_t hash = GPUMP_HASH_SEED;
    (void)state;
    for (int i = 0; i < 3; i++) hash = gpump_hash_u64(hash, words[i]);
    assert_true(gpumpi_hash_u64s(GPUMP_HASH_SEED, words, 3) == hash);
    assert_true(gpumpi_hash_u64s(GPUMP_HASH_SEED, words, 2) != hash);
    hash = gpump_hash_u64(gpump_hash_u64(GPUMP_HASH_SEED, 'a'), 0xff); /* bytes are numbers below 256 */
    assert_true(gpump_hash_bytes(GPUMP_HASH_SEED, "a\xff", 2) == hash);
    assert_true(gpump_hash_bytes(GPUMP_HASH_SEED, "a\xff", 0) == GPUMP_HASH_SEED);
}

/* gpump_diag_text makes a sentence with the field, its value and the values that would be accepted. */
static void a_diagnostic_is_a_sentence(void **state) {
    static const struct {
        gpump_diag diag;
        const char *sentence;
    } cases[] = {
        {{GPUMP_ERROR_ARGUMENT, GPUMP_REASON_YES, "warps", 0, 0, 1, 64},
         "GPUMP_ERROR_ARGUMENT: warps is 0, must be 1 to 64"},
        {{GPUMP_ERROR_ARGUMENT, GPUMP_REASON_YES, "uses", 3, 99, 0, 7},
         "GPUMP_ERROR_ARGUMENT: uses[3] is 99, must be 0 to 7"},
        {{GPUMP_ERROR_ARGUMENT, GPUMP_REASON_YES, "policy is NULL: gpump_victim_find did not know that name", 0, 0, 0,
          0},
         "GPUMP_ERROR_ARGUMENT: policy is NULL: gpump_victim_find did not know that name"},
        {{GPUMP_ERROR_TIME, GPUMP_REASON_YES, "now", 0, 4, 5, UINT64_MAX},
         "GPUMP_ERROR_TIME: now is 4, must be at least 5; time went back"},
        {{GPUMP_ERROR_ARGUMENT, GPUMP_REASON_YES, "config", 0, 0, 1, UINT64_MAX},
         "GPUMP_ERROR_ARGUMENT: config is NULL, must point to an object"},
        {{GPUMP_ERROR_ARGUMENT, GPUMP_REASON_YES, "alone", 2, 0, 1, UINT64_MAX - 1},
         "GPUMP_ERROR_ARGUMENT: alone[2] is 0, must be at least 1"},
        {{GPUMP_ERROR_CONFIG, GPUMP_REASON_YES, "blocks", 0, 65, 1, 64},
         "GPUMP_ERROR_CONFIG: blocks is 65, must be 1 to 64"},
        {{GPUMP_ERROR_UNKNOWN_NAME, GPUMP_REASON_YES, "text", 0, 0, 0, 0},
         "GPUMP_ERROR_UNKNOWN_NAME: text: no preset, policy or kernel of that name"},
        {{GPUMP_ERROR_FORMAT, GPUMP_REASON_YES, "config", 0, 0, 0, 0},
         "GPUMP_ERROR_FORMAT: config at byte 0: a buffer that is truncated, altered or foreign"},
        {{GPUMP_ERROR_STATE, GPUMP_REASON_YES, "process is not open: open it", 3, 0, 1, 1},
         "GPUMP_ERROR_STATE: process is not open: open it (number 3)"},
        {{GPUMP_ERROR_STATE, GPUMP_REASON_YES, "block", 2, 7, 0, 0},
         "GPUMP_ERROR_STATE: block[2]: the call is not allowed in this state"},
        {{GPUMP_ERROR_MEMORY, GPUMP_REASON_YES, "objects", 2, 0, 0, 0},
         "GPUMP_ERROR_MEMORY: objects[2]: the allocator returned NULL"},
        {{GPUMP_ERROR_FORMAT, GPUMP_REASON_YES, "version", 8, 2, 1, 1},
         "GPUMP_ERROR_FORMAT: version at byte 8 is 2, must be 1; a buffer that is truncated, altered or foreign"},
        {{GPUMP_ERROR_REFUSED, GPUMP_REASON_BLOCK_SLOTS, "need", 0, 0, 0, 0},
         "GPUMP_ERROR_REFUSED: need: no block slot is free; wait for a block to leave"},
    };
    char text[200], small[8];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gpump_diag_text(&cases[i].diag, text, sizeof text), strlen(cases[i].sentence));
        assert_string_equal(text, cases[i].sentence);
        assert_int_equal(gpump_diag_text(&cases[i].diag, small, sizeof small), strlen(cases[i].sentence));
        assert_int_equal(strlen(small), sizeof small - 1);
    }
    assert_string_equal(gpump_result_name(GPUMP_ERROR_FULL), "GPUMP_ERROR_FULL");
    assert_string_equal(gpump_result_text(GPUMP_OK), "done");
    assert_string_equal(gpump_result_name((gpump_result)-99), "unknown result");
}

/* A map holds what a plain array of the same entries holds, and its memory is a power of two of slots. */
static void map_agrees_with_an_array(void **state) {
    enum { KEYS = 200, CAPACITY = 64 };
    uint64_t seed = test_seed(), random = seed, value, expected[KEYS];
    int present[KEYS] = {0};
    uint32_t count = 0;
    size_t bytes;
    gpumpi_map *map;
    void *memory;
    (void)state;
    assert_int_equal(gpumpi_map_bytes(0, &bytes), GPUMP_ERROR_ARGUMENT);
    for (uint32_t capacity = 1, slots = 2; capacity <= 300;
         capacity++) { /* a power of two, at least twice the entries */
        while (slots < 2 * capacity) slots *= 2;
        assert_int_equal(gpumpi_map_bytes(capacity, &bytes), GPUMP_OK);
        assert_int_equal(bytes, 4 * 8 + slots * 24);
    }
    assert_int_equal(gpumpi_map_bytes(CAPACITY, &bytes), GPUMP_OK);
    memory = malloc(bytes);
    assert_int_equal(gpumpi_map_init(memory, bytes - 1, CAPACITY, &map), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpumpi_map_init(memory, bytes, CAPACITY, &map), GPUMP_OK);
    for (uint64_t i = 0; i < test_cases(200000); i++) {
        uint32_t k = gpump_random_below(&random, KEYS);
        uint64_t key = (uint64_t)k * 64;
        switch (gpump_random_below(&random, 3)) {
        case 0: {
            const uint64_t put = i % 2 ? i : 0;
            gpump_result result = gpumpi_map_put(map, key, put);
            test_check(result == (present[k] || count < CAPACITY ? GPUMP_OK : GPUMP_ERROR_FULL), seed, i);
            if (result == GPUMP_OK) {
                count += !present[k];
                present[k] = 1;
                expected[k] = put;
            }
            break;
        }
        case 1:
            test_check(gpumpi_map_remove(map, key) == (present[k] ? GPUMP_OK : GPUMP_EMPTY), seed, i);
            count -= (uint32_t)present[k];
            present[k] = 0;
            break;
        default:
            test_check(gpumpi_map_get(map, key, &value) == (present[k] ? GPUMP_OK : GPUMP_EMPTY), seed, i);
            if (present[k]) test_check(value == expected[k], seed, i);
        }
    }
    free(memory);
}

/* Every reason has a text and a remedy, and a number that is no reason has a text, too. */
static void every_reason_has_words(void **state) {
    (void)state;
    for (int reason = 0; reason < GPUMP_REASON_COUNT; reason++) {
        assert_true(strlen(gpump_reason_text((gpump_reason)reason)) > 0);
        assert_true(strlen(gpump_reason_remedy((gpump_reason)reason)) > 0);
    }
    assert_string_equal(gpump_reason_text(GPUMP_REASON_COUNT), "unknown reason"); /* what no reason is has words, too */
    assert_string_equal(gpump_reason_remedy(GPUMP_REASON_COUNT), "");
}

/* A refusal fills in the reason, the field and the index, and leaves value and range 0. */
static void a_refusal_has_a_reason_and_no_range(void **state) {
    gpump_diag diag;
    (void)state;
    memset(&diag, 0xff, sizeof diag);
    assert_int_equal(gpumpi_refuse(&diag, GPUMP_REASON_BLOCK_SLOTS, "need", 3), GPUMP_ERROR_REFUSED);
    assert_int_equal(diag.code, GPUMP_ERROR_REFUSED);
    assert_int_equal(diag.reason, GPUMP_REASON_BLOCK_SLOTS);
    assert_string_equal(diag.field, "need");
    assert_true(diag.index == 3 && diag.value == 0 && diag.minimum == 0 && diag.maximum == 0);
    assert_int_equal(gpumpi_refuse(NULL, GPUMP_REASON_BLOCK_SLOTS, "need", 3), GPUMP_ERROR_REFUSED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(muldiv_rounds_as_named),
#if defined(__SIZEOF_INT128__)
        cmocka_unit_test(muldiv_agrees_with_128_bits),
#endif
        cmocka_unit_test(products_are_compared_exactly),
        cmocka_unit_test(a_hash_feeds_field_by_field),
        cmocka_unit_test(a_diagnostic_is_a_sentence),
        cmocka_unit_test(map_agrees_with_an_array),
        cmocka_unit_test(every_reason_has_words),
        cmocka_unit_test(a_refusal_has_a_reason_and_no_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
