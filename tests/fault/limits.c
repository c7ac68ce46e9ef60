/* labels: unit */
/* The room's configurations field by field at both ends of their ranges, null pointers, counters with their words, and
 * the hash of a TLB bit by bit. */
#include "diagnosed.h"

static gpump_result check_tlb(const void *config, gpump_diag *diag) {
    uint64_t bits;
    size_t bytes;
    gpump_result result = gpump_tlb_bytes((const gpump_tlb_config *)config, &bytes, diag);
    assert_int_equal(gpump_tlb_bits((const gpump_tlb_config *)config, &bits, NULL), result);
    return result;
}
static gpump_result check_replay(const void *config, gpump_diag *diag) {
    uint64_t bits;
    size_t bytes;
    gpump_result result = gpump_replay_bytes((const gpump_replay_config *)config, &bytes, diag);
    assert_int_equal(gpump_replay_bits((const gpump_replay_config *)config, &bits, NULL), result);
    return result;
}
static gpump_result check_fault(const void *config, gpump_diag *diag) {
    uint64_t bits;
    size_t bytes;
    gpump_result result = gpump_fault_bytes((const gpump_fault_config *)config, &bytes, diag);
    assert_int_equal(gpump_fault_bits((const gpump_fault_config *)config, &bits, NULL), result);
    return result;
}

/* Both ends are taken, and what lies beyond is refused by the name of the field. */
#define TEST_RANGES(component, preset, fields)                                                                  \
    do {                                                                                                        \
        gpump_##component##_config config;                                                                      \
        size_t bytes;                                                                                           \
        assert_int_equal(gpump_##component##_config_preset(&config, preset), GPUMP_OK);                         \
        diagnosed_fields(&config, sizeof config, fields, sizeof(fields) / sizeof *(fields), check_##component); \
        for (uint32_t i = 0; i < sizeof(fields) / sizeof *(fields); i++) {                                      \
            gpump_##component##_config end = config;                                                            \
            diagnosed_set(&end, &(fields)[i], (fields)[i].minimum);                                             \
            assert_int_equal(gpump_##component##_bytes(&end, &bytes, NULL), GPUMP_OK);                          \
            diagnosed_set(&end, &(fields)[i], (fields)[i].maximum);                                             \
            assert_int_equal(gpump_##component##_bytes(&end, &bytes, NULL), GPUMP_OK);                          \
        }                                                                                                       \
        config.struct_size--;                                                                                   \
        diagnosed(check_##component(&config, DIAG), GPUMP_ERROR_CONFIG, "struct_size", 0, sizeof config - 1,    \
                  sizeof config, sizeof config);                                                                \
    } while (0)
#define FIELD(component, name, minimum, maximum) DIAGNOSED_FIELD(gpump_##component##_config, name, minimum, maximum)

static void test_ranges(void **state) {
    static const diagnosed_field tlb[] = {FIELD(tlb, misses, 1, 65536), FIELD(tlb, waiters, 1, 1u << 20),
                                          FIELD(tlb, page_bits, 1, 64), FIELD(tlb, processes, 1, 65536)};
    static const diagnosed_field replay[] = {FIELD(replay, warps, 1, 256),
                                             FIELD(replay, blocks, 1, 64),
                                             FIELD(replay, entries, 1, 64),
                                             FIELD(replay, log_bytes, 256, 1u << 20),
                                             FIELD(replay, order, 0, 2),
                                             FIELD(replay, on_fault, 0, 1),
                                             FIELD(replay, probe, 0, 1),
                                             FIELD(replay, wide, 0, 1),
                                             FIELD(replay, lanes, 1, 64),
                                             FIELD(replay, log_entry_bytes, 1, 4096),
                                             FIELD(replay, scheme, 0, GPUMP_REPLAY_SCHEMES - 1)};
    static const diagnosed_field fault[] = {FIELD(fault, sms, 1, 65536),
                                            FIELD(fault, processes, 1, 4096),
                                            FIELD(fault, ranges, 1, 65536),
                                            FIELD(fault, granules, 1, 1u << 24),
                                            FIELD(fault, faults, 1, 65536),
                                            FIELD(fault, waiters, 1, 1u << 20),
                                            FIELD(fault, granule_pages, 1, 512),
                                            FIELD(fault, migrate_busy_cycles, 0, 12000),
                                            FIELD(fault, allocate_busy_cycles, 0, 10000),
                                            FIELD(fault, local, 0, 1)};
    (void)state;
    TEST_RANGES(tlb, "table61_l1", tlb);
    TEST_RANGES(replay, "log8", replay);
    TEST_RANGES(fault, "nvlink", fault);
}

/* Fields that limit each other. */
static void test_fields_together(void **state) {
    gpump_tlb_config tlb;
    gpump_replay_config replay;
    gpump_fault_config fault;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_tlb_config_preset(&tlb, "table61_l1"), GPUMP_OK);
    tlb.entries = 65536;
    tlb.ways = 64;
    assert_int_equal(check_tlb(&tlb, NULL), GPUMP_OK);
    tlb.ways = 1;
    assert_int_equal(check_tlb(&tlb, NULL), GPUMP_OK);
    tlb.ways = 0;
    diagnosed(check_tlb(&tlb, DIAG), GPUMP_ERROR_CONFIG, "ways", 0, 0, 1, 64);
    tlb.ways = 65;
    diagnosed(check_tlb(&tlb, DIAG), GPUMP_ERROR_CONFIG, "ways", 0, 65, 1, 64);
    tlb.ways = 1;
    tlb.entries = 65537;
    diagnosed(check_tlb(&tlb, DIAG), GPUMP_ERROR_CONFIG, "entries", 0, 65537, 1, 65536);
    tlb.ways = 8;
    tlb.entries = 7;
    diagnosed(check_tlb(&tlb, DIAG), GPUMP_ERROR_CONFIG, "entries", 0, 7, 8, 65536);
    tlb.entries = 24; /* three sets */
    diagnosed(check_tlb(&tlb, DIAG), GPUMP_ERROR_CONFIG, "entries (a power of two times ways)", 0, 24, 8, 65536);
    tlb.entries = 33;
    diagnosed(check_tlb(&tlb, DIAG), GPUMP_ERROR_CONFIG, "entries (a power of two times ways)", 0, 33, 8, 65536);
    tlb.entries = 8; /* one set */
    assert_int_equal(check_tlb(&tlb, NULL), GPUMP_OK);
    assert_int_equal(gpump_replay_config_preset(&replay, "queue"), GPUMP_OK);
    replay.log_bytes = 0; /* no log, no limit */
    assert_int_equal(check_replay(&replay, NULL), GPUMP_OK);
    assert_int_equal(gpump_fault_config_preset(&fault, "nvlink"), GPUMP_OK);
    for (fault.granule_pages = 1; fault.granule_pages <= 512; fault.granule_pages++)
        if (fault.granule_pages & (fault.granule_pages - 1))
            diagnosed(check_fault(&fault, DIAG), GPUMP_ERROR_CONFIG, "granule_pages (a power of two)", 0,
                      fault.granule_pages, 1, 512);
        else
            assert_int_equal(gpump_fault_bytes(&fault, &bytes, NULL), GPUMP_OK);
}

/* Null pointers are errors of the host, and so is memory of another size. */
#define TEST_NULLS(component, preset)                                                                                \
    do {                                                                                                             \
        static uint64_t memory[1 << 19];                                                                             \
        gpump_##component##_config config;                                                                           \
        gpump_##component *one;                                                                                      \
        uint64_t bits;                                                                                               \
        size_t bytes;                                                                                                \
        assert_int_equal(gpump_##component##_config_preset(NULL, preset), GPUMP_ERROR_ARGUMENT);                     \
        assert_int_equal(gpump_##component##_config_preset(&config, NULL), GPUMP_ERROR_ARGUMENT);                    \
        assert_int_equal(gpump_##component##_config_preset(&config, "no such"), GPUMP_ERROR_UNKNOWN_NAME);           \
        assert_int_equal(gpump_##component##_config_preset(&config, preset), GPUMP_OK);                              \
        diagnosed_null(gpump_##component##_bytes(NULL, &bytes, DIAG), "config");                                     \
        diagnosed_null(gpump_##component##_bytes(&config, NULL, DIAG), "bytes");                                     \
        diagnosed_null(gpump_##component##_bits(NULL, &bits, DIAG), "config");                                       \
        diagnosed_null(gpump_##component##_bits(&config, NULL, DIAG), "bits");                                       \
        assert_int_equal(gpump_##component##_bytes(&config, &bytes, NULL), GPUMP_OK);                                \
        assert_true(bytes <= sizeof memory);                                                                         \
        diagnosed_null(gpump_##component##_init(memory, bytes, &config, NULL, DIAG), #component);                    \
        diagnosed_null(gpump_##component##_init(NULL, bytes, &config, &one, DIAG), "memory");                        \
        assert_int_equal(gpump_##component##_init(memory, bytes, &config, &one, NULL), GPUMP_OK);                    \
        diagnosed_null(gpump_##component##_adopt(memory, bytes, &config, NULL, DIAG), #component);                   \
        diagnosed(gpump_##component##_adopt(memory, bytes - 8, &config, &one, DIAG), GPUMP_ERROR_FORMAT, "bytes", 0, \
                  bytes - 8, bytes, UINT64_MAX);                                                                     \
        assert_int_equal(gpump_##component##_adopt(memory, bytes, &config, &one, NULL), GPUMP_OK);                   \
        diagnosed_null(gpump_##component##_check(NULL, DIAG), #component);                                           \
        assert_int_equal(gpump_##component##_check(one, NULL), GPUMP_OK);                                            \
    } while (0)

static void test_nulls(void **state) {
    (void)state;
    TEST_NULLS(tlb, "table61_l2");
    TEST_NULLS(replay, "log16");
    TEST_NULLS(fault, "pcie3_local");
}

/* Every counter has a name, a unit and a description of its own, and is the difference of two of itself. */
#define TEST_COUNTERS(component)                                                                                       \
    do {                                                                                                               \
        gpump_##component##_statistics a, b, d;                                                                        \
        uint64_t *from = (uint64_t *)(void *)&a, *to = (uint64_t *)(void *)&b, value;                                  \
        const char *name, *unit, *words;                                                                               \
        uint32_t i;                                                                                                    \
        for (i = 0; i < sizeof a / 8; i++) from[i] = 10 + i, to[i] = 100 + 3 * i;                                      \
        gpump_##component##_statistics_diff(&a, &b, &d);                                                               \
        for (i = 0; gpump_##component##_statistics_field(&d, i, NULL, NULL, NULL, NULL) == GPUMP_OK; i++) {            \
            assert_int_equal(gpump_##component##_statistics_field(&d, i, &name, &unit, &words, &value), GPUMP_OK);     \
            assert_int_equal(value, 90 + 2 * i);                                                                       \
            if (strchr(name, ' ') || strlen(unit) < 3 || !strcmp(unit, words))                                         \
                fail_msg("%s, %s, %s", name, unit, words);                                                             \
        }                                                                                                              \
        assert_int_equal(i, sizeof a / 8);                                                                             \
        assert_int_equal(gpump_##component##_statistics_field(NULL, 0, NULL, NULL, NULL, NULL), GPUMP_ERROR_ARGUMENT); \
    } while (0)

static void test_counters(void **state) {
    (void)state;
    TEST_COUNTERS(tlb);
    TEST_COUNTERS(replay);
    TEST_COUNTERS(fault);
}

/* No bit behind the head of a TLB may change without its hash. */
static void test_hash_sees_every_bit(void **state) {
    static uint64_t memory[1 << 12];
    gpump_tlb_config config;
    gpump_tlb *tlb;
    uint64_t hash;
    uint32_t outcome, count;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_tlb_config_preset(&config, "table61_l1"), GPUMP_OK);
    config.entries = 8;
    config.ways = 2;
    config.misses = 3;
    config.waiters = 5;
    assert_int_equal(gpump_tlb_bytes(&config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_tlb_init(memory, sizeof memory, &config, &tlb, NULL), GPUMP_OK);
    for (uint64_t page = 0; page < 6; page++)
        assert_int_equal(gpump_tlb_fill(tlb, 0, page, GPUMP_TLB_READ, NULL, 0, &count), GPUMP_OK);
    assert_int_equal(gpump_tlb_lookup(tlb, 0, 9, GPUMP_TLB_READ, 77, &outcome), GPUMP_OK);
    hash = gpump_tlb_hash(tlb);
    for (size_t bit = sizeof(gpumpi_head) * 8; bit < bytes * 8; bit++) {
        const size_t field_bit = bit - sizeof(gpumpi_head) * 8;
        /* but for the sizes of the memory, which the calls themselves read */
        if (field_bit >= (1 + 9) * 64 && field_bit < (1 + 9) * 64 + 12 * 32) continue;
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
        if (gpump_tlb_hash(tlb) == hash) fail_msg("bit %u does not count", (unsigned)bit);
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
    }
    assert_int_equal(gpump_tlb_hash(tlb), hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),   cmocka_unit_test(test_fields_together),     cmocka_unit_test(test_nulls),
        cmocka_unit_test(test_counters), cmocka_unit_test(test_hash_sees_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
