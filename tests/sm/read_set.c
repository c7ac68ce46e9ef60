/* labels: unit property */
/* read_set against a list of every word, its bound, and a block that is saved and comes back. */
#include "diagnosed.h"

static gpump_read_set *make(uint32_t segments, size_t *bytes) {
    gpump_read_set_config config = {segments};
    gpump_read_set *set;
    assert_int_equal(gpump_bytes(&gpump_read_set_component, &config, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_read_set_component, malloc(*bytes), *bytes, &config, &set, NULL), GPUMP_OK);
    return set;
}

/* Loads and stores of many blocks in turn; every few steps the block is saved into another set, which may be larger. */
static void against_every_word(void **state) {
    enum { SEGMENTS = 100 };
    static uint32_t has_read[SEGMENTS], has_written[SEGMENTS];
    gpump_read_set_segment saved[768];
    gpump_read_set *sets[2];
    uint64_t random = test_seed();
    size_t bytes;
    (void)state;
    sets[0] = make(256, &bytes);
    sets[1] = make(1024, &bytes);
    for (uint64_t life = 0; life < 300; life++) { /* more lives than a set has epochs */
        uint32_t at = (uint32_t)life & 1u;
        memset(has_read, 0, sizeof has_read);
        memset(has_written, 0, sizeof has_written);
        gpump_read_set_clear(sets[at]);
        for (uint32_t step = 0; step < 400; step++) {
            uint32_t segment = gpump_random_below(&random, SEGMENTS), words = 1u << gpump_random_below(&random, 32);
            uint64_t address = segment % 2 ? UINT64_MAX - segment * 128u : UINT64_C(0x10000000) + segment * 384u;
            if (gpump_random_below(&random, 2)) {
                gpump_read_set_load(sets[at], address, words);
                has_read[segment] |= words & ~has_written[segment];
            } else {
                test_check(gpump_read_set_store(sets[at], address, words) == ((has_read[segment] & words) != 0),
                           test_seed(), life);
                has_written[segment] |= words & ~has_read[segment];
            }
            if (!gpump_random_below(&random, 50)) { /* the block leaves and comes back elsewhere */
                uint32_t count;
                uint64_t random_segment = gpump_random_below(&random, SEGMENTS);
                test_check(gpump_read_set_save(sets[at], saved, 768, &count) == GPUMP_OK, test_seed(), life);
                gpump_read_set_load(sets[at], random_segment * 128u, 1); /* the old place belongs to others now */
                at ^= 1u;
                gpump_read_set_load(sets[at], 0, 1); /* and the new one did */
                test_check(gpump_read_set_restore(sets[at], saved, count) == GPUMP_OK, test_seed(), life);
            }
        }
        test_check(gpump_check(&gpump_read_set_component, sets[at], NULL) == GPUMP_OK, test_seed(), life);
    }
    free(sets[0]);
    free(sets[1]);
}

/* The bit of the history alone is not enough: what the block read before its save decides what a later store does. */
static void the_set_travels_with_the_block(void **state) {
    gpump_read_set_segment saved[192];
    uint32_t count = 99;
    size_t bytes;
    gpump_read_set *here = make(256, &bytes), *there = make(256, &bytes);
    (void)state;
    gpump_read_set_load(here, 0x4000, 0x0f);
    assert_int_equal(gpump_read_set_store(here, 0x4000, 0xf0), 0);
    assert_int_equal(gpump_read_set_save(here, saved, 0, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 1);
    assert_int_equal(gpump_read_set_save(here, saved, 192, &count), GPUMP_OK);
    assert_true(saved[0].address == 0x4000 && saved[0].read == 0x0f && saved[0].written == 0xf0);
    gpump_read_set_clear(there); /* what a host without the saved set does */
    assert_int_equal(gpump_read_set_store(there, 0x4000, 0x08), 0);
    assert_int_equal(gpump_read_set_restore(there, saved, count), GPUMP_OK);
    assert_true(gpump_hash(&gpump_read_set_component, there) == gpump_hash(&gpump_read_set_component, here));
    gpump_read_set_load(there, 0x4000, 0x10); /* its own write, read back */
    assert_int_equal(gpump_read_set_store(there, 0x4000, 0x10), 0);
    assert_int_equal(gpump_read_set_store(there, 0x4000, 0x08), 1);
    assert_true(gpump_hash(&gpump_read_set_component, there) == gpump_hash(&gpump_read_set_component, here));
    free(here);
    free(there);
}

/* A set that is too small, or whose past is unknown, takes stores for clobbers, also after it has travelled. */
static void the_bound_costs_flushes_only(void **state) {
    gpump_read_set_segment saved[16];
    uint32_t count;
    size_t bytes;
    gpump_read_set *small = make(16, &bytes), *large = make(1024, &bytes);
    (void)state;
    for (uint32_t i = 0; i < 12; i++) gpump_read_set_load(small, i * 128u, 1);
    assert_int_equal(gpump_read_set_store(small, 0, 2), 0); /* a segment that it knows */
    assert_int_equal(gpump_read_set_save(small, saved, 16, &count), GPUMP_OK);
    assert_int_equal(count, 12); /* full, and nothing lost */
    gpump_read_set_load(small, 12 * 128u, 1);
    assert_int_equal(gpump_read_set_store(small, 12 * 128u, 1), 1);
    assert_int_equal(gpump_read_set_store(small, 13 * 128u, 1), 1);
    assert_int_equal(gpump_check(&gpump_read_set_component, small, NULL), GPUMP_OK);
    assert_int_equal(gpump_read_set_save(small, saved, 16, &count), GPUMP_OK);
    assert_int_equal(count, 1);
    assert_true(saved[0].address == GPUMP_READ_SET_ALL);
    assert_int_equal(gpump_read_set_restore(large, saved, count), GPUMP_OK);
    assert_int_equal(gpump_read_set_store(large, 12 * 128u, 1), 1);
    gpump_read_set_clear(small);
    assert_int_equal(gpump_read_set_store(small, 12 * 128u, 1), 0);
    gpumpi_read_set_assume_all(small);
    assert_int_equal(gpump_read_set_store(small, 12 * 128u, 1), 1);
    assert_int_equal(gpump_read_set_store(small, 12 * 128u, 1), 1);
    for (uint32_t i = 0; i < 40; i++) gpump_read_set_load(large, i * 128u, 1);
    gpump_read_set_clear(large);
    for (uint32_t i = 0; i < 16; i++) {
        saved[i].address = i * 128u;
        saved[i].read = saved[i].written = 1;
    }
    assert_int_equal(gpump_read_set_restore(small, saved, 16), GPUMP_OK); /* more than its 12 segments */
    assert_int_equal(gpump_read_set_store(small, 0, 2), 1);
    free(small);
    free(large);
}

/* Presets and bits; a copy is adopted, one of another configuration is refused. */
static void a_copy_of_a_read_set_is_the_set(void **state) {
    gpump_read_set_config config;
    gpump_read_set *set, *copy;
    gpump_diag diag;
    uint64_t bits, before;
    size_t bytes;
    void *memory;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_read_set_component, &config, "large", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_read_set_component, &config, "default", NULL), GPUMP_OK);
    assert_int_equal(gpump_bits(&gpump_read_set_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, 2048 * 128);
    assert_int_equal(gpump_bytes(&gpump_read_set_component, &config, &bytes, NULL), GPUMP_OK);
    config.segments = 100;
    assert_int_equal(gpump_bytes(&gpump_read_set_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    config.segments = 64;
    set = make(64, &bytes);
    before = gpump_hash(&gpump_read_set_component, set);
    gpump_read_set_load(set, 128, 1);
    assert_true(gpump_hash(&gpump_read_set_component, set) !=
                before); /* what is in the set counts, and what was before does not */
    gpump_read_set_clear(set);
    assert_true(gpump_hash(&gpump_read_set_component, set) == before);
    gpump_read_set_load(set, 128, 1);
    assert_true(gpump_hash(&gpump_read_set_component, set) != before);
    memory = malloc(bytes);
    memcpy(memory, set, bytes);
    assert_int_equal(gpump_adopt(&gpump_read_set_component, memory, bytes, &config, &copy, NULL), GPUMP_OK);
    assert_true(gpump_hash(&gpump_read_set_component, copy) == gpump_hash(&gpump_read_set_component, set));
    assert_int_equal(gpump_read_set_store(copy, 128, 1), 1);
    config.segments = 32;
    assert_int_equal(gpump_adopt(&gpump_read_set_component, memory, bytes, &config, &copy, NULL), GPUMP_ERROR_FORMAT);
    free(memory);
    free(set);
}

/* Missing pointers, segments out of range, and memory that is not its own. */
static void wrong_calls_of_a_read_set_are_refused(void **state) {
    static uint64_t memory[4096], before[4096];
    gpump_read_set_segment saved[2];
    gpump_read_set_config config, never_filled;
    gpump_read_set *set = NULL;
    uint64_t bits;
    uint32_t count = 0;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_read_set_component, NULL, "default", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_read_set_component, &config, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_read_set_component, &config, "default", NULL), GPUMP_OK);
    assert_int_equal(config.segments, 2048);
    diagnosed_null(gpump_bytes(&gpump_read_set_component, NULL, &bytes, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_read_set_component, &config, NULL, DIAG), "bytes");
    diagnosed_null(gpump_bits(&gpump_read_set_component, &config, NULL, DIAG), "bits");
    for (config.segments = 1; config.segments && config.segments <= 1u << 22; config.segments <<= 1)
        if (config.segments < 16 || config.segments > 1u << 20)
            diagnosed(gpump_bytes(&gpump_read_set_component, &config, &bytes, DIAG), GPUMP_ERROR_CONFIG,
                      "segments (a power of two)", 0, config.segments, 16, 1u << 20);
        else
            assert_int_equal(gpump_bits(&gpump_read_set_component, &config, &bits, NULL), GPUMP_OK);
    config.segments = 48;
    diagnosed(gpump_bytes(&gpump_read_set_component, &config, &bytes, DIAG), GPUMP_ERROR_CONFIG,
              "segments (a power of two)", 0, 48, 16, 1u << 20);
    config.segments = 64;
    memset(&never_filled, 0, sizeof never_filled);
    diagnosed(gpump_bits(&gpump_read_set_component, &never_filled, &bits, DIAG), GPUMP_ERROR_CONFIG,
              "segments (a power of two)", 0, 0, 16, 1u << 20);
    assert_int_equal(gpump_bytes(&gpump_read_set_component, &config, &bytes, NULL), GPUMP_OK);
    diagnosed_null(gpump_init(&gpump_read_set_component, memory, bytes, &config, NULL, DIAG), "read_set");
    diagnosed_null(gpump_init(&gpump_read_set_component, NULL, bytes, &config, &set, DIAG), "memory");
    diagnosed(gpump_init(&gpump_read_set_component, memory, bytes - 1, &config, &set, DIAG), GPUMP_ERROR_CAPACITY,
              "bytes", 0, bytes - 1, bytes, UINT64_MAX);
    assert_null(set);
    memset(memory, 0x7f, sizeof memory); /* what lies behind the set is none of its business */
    assert_int_equal(gpump_init(&gpump_read_set_component, memory, bytes, &config, &set, NULL), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_read_set_component, set, NULL), GPUMP_OK);
    diagnosed_null(gpump_adopt(&gpump_read_set_component, memory, bytes, &config, NULL, DIAG), "read_set");
    diagnosed(gpump_adopt(&gpump_read_set_component, memory, bytes - 8, &config, &set, DIAG), GPUMP_ERROR_FORMAT,
              "bytes", 0, bytes - 8, bytes, UINT64_MAX);
    diagnosed_null(gpump_check(&gpump_read_set_component, NULL, DIAG), "read_set");
    gpump_read_set_load(set, 0, 1);
    gpump_read_set_load(set, 128, 1);
    memcpy(before, memory, sizeof before);
    assert_int_equal(gpump_read_set_save(set, saved, 1, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 2);
    assert_int_equal(gpump_read_set_save(NULL, saved, 2, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_read_set_save(set, NULL, 2, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_read_set_save(set, saved, 2, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_read_set_restore(NULL, saved, 2), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_read_set_restore(set, NULL, 2), GPUMP_ERROR_ARGUMENT);
    assert_memory_equal(before, memory, sizeof before);
    assert_int_equal(gpump_read_set_save(set, saved, 2, &count), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_read_set_component, set, NULL), GPUMP_OK);
    /* Behind the head: segments, epoch, used and lost, 4 bytes each. */
    {
        uint32_t *words = (uint32_t *)((char *)memory + sizeof(gpumpi_head));
        words[0] = 32;
        diagnosed(gpump_check(&gpump_read_set_component, set, DIAG), GPUMP_ERROR_FORMAT, "config", sizeof(gpumpi_head),
                  0, 0, 0);
        words[0] = 64;
        words[1] = 0;
        diagnosed(gpump_check(&gpump_read_set_component, set, DIAG), GPUMP_ERROR_FORMAT, "epoch or lost", 0, 0, 1, 127);
        words[1] = 1;
        words[2] = 3;
        diagnosed(gpump_check(&gpump_read_set_component, set, DIAG), GPUMP_ERROR_FORMAT, "used", 0, 3, 2, 2);
        words[2] = 2;
        assert_int_equal(gpump_check(&gpump_read_set_component, set, NULL), GPUMP_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_calls_of_a_read_set_are_refused), cmocka_unit_test(against_every_word),
        cmocka_unit_test(the_set_travels_with_the_block),        cmocka_unit_test(the_bound_costs_flushes_only),
        cmocka_unit_test(a_copy_of_a_read_set_is_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
