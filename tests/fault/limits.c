/* labels: unit */
/* The room's configurations field by field at both ends of their ranges, null pointers, counters with their words, and
 * the hash of a TLB bit by bit. */
#include "diagnosed.h"

#define CLOSED_OR_BUSY "warp is closed or has entries: call gpump_replay_open just before gpump_replay_restore"

static gpump_result check_tlb(const void *config, gpump_diag *diag) {
    uint64_t bits;
    size_t bytes;
    gpump_result result = gpump_bytes(&gpump_tlb_component, (const gpump_tlb_config *)config, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_tlb_component, (const gpump_tlb_config *)config, &bits, NULL), result);
    return result;
}
static gpump_result check_replay(const void *config, gpump_diag *diag) {
    uint64_t bits;
    size_t bytes;
    gpump_result result = gpump_bytes(&gpump_replay_component, (const gpump_replay_config *)config, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_replay_component, (const gpump_replay_config *)config, &bits, NULL), result);
    return result;
}
static gpump_result check_fault(const void *config, gpump_diag *diag) {
    uint64_t bits;
    size_t bytes;
    gpump_result result = gpump_bytes(&gpump_fault_component, (const gpump_fault_config *)config, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_fault_component, (const gpump_fault_config *)config, &bits, NULL), result);
    return result;
}

static gpump_result check_block_switch(const void *config, gpump_diag *diag) {
    uint64_t bits;
    size_t bytes;
    gpump_result result =
        gpump_bytes(&gpump_block_switch_component, (const gpump_block_switch_config *)config, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_block_switch_component, (const gpump_block_switch_config *)config, &bits, NULL),
                     result);
    return result;
}

/* Both ends are taken, and what lies beyond is refused by the name of the field. */
#define TEST_RANGES(component, preset, fields)                                                                  \
    do {                                                                                                        \
        gpump_##component##_config config;                                                                      \
        size_t bytes;                                                                                           \
        assert_int_equal(gpump_preset(&gpump_##component##_component, &config, preset, NULL), GPUMP_OK);        \
        diagnosed_fields(&config, sizeof config, fields, sizeof(fields) / sizeof *(fields), check_##component); \
        for (uint32_t i = 0; i < sizeof(fields) / sizeof *(fields); i++) {                                      \
            gpump_##component##_config end = config;                                                            \
            diagnosed_set(&end, &(fields)[i], (fields)[i].minimum);                                             \
            assert_int_equal(gpump_bytes(&gpump_##component##_component, &end, &bytes, NULL), GPUMP_OK);        \
            diagnosed_set(&end, &(fields)[i], (fields)[i].maximum);                                             \
            assert_int_equal(gpump_bytes(&gpump_##component##_component, &end, &bytes, NULL), GPUMP_OK);        \
        }                                                                                                       \
    } while (0)
#define FIELD(component, name, minimum, maximum) DIAGNOSED_FIELD(gpump_##component##_config, name, minimum, maximum)

/* Each number of a configuration, one below and one above its range, is refused with the range. */
static void every_number_has_its_range(void **state) {
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
                                            FIELD(fault, local, 0, 2)};
    static const diagnosed_field block_switch[] = {FIELD(block_switch, blocks, 1, 64),
                                                   FIELD(block_switch, extra, 0, 64),
                                                   FIELD(block_switch, priced, 0, 1),
                                                   FIELD(block_switch, fair_cycles, 1, UINT64_MAX),
                                                   FIELD(block_switch, port.cycles, 1, UINT64_MAX),
                                                   FIELD(block_switch, port.bytes, 1, UINT64_MAX)};
    (void)state;
    TEST_RANGES(tlb, "table61_l1", tlb);
    TEST_RANGES(replay, "log8", replay);
    TEST_RANGES(fault, "nvlink", fault);
    TEST_RANGES(block_switch, "table61", block_switch);
}

/* Fields that limit each other. */
static void test_fields_together(void **state) {
    gpump_tlb_config tlb;
    gpump_replay_config replay;
    gpump_fault_config fault;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_tlb_component, &tlb, "table61_l1", NULL), GPUMP_OK);
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
    assert_int_equal(gpump_preset(&gpump_replay_component, &replay, "queue", NULL), GPUMP_OK);
    replay.log_bytes = 0; /* no log, no limit */
    assert_int_equal(check_replay(&replay, NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_fault_component, &fault, "nvlink", NULL), GPUMP_OK);
    for (fault.granule_pages = 1; fault.granule_pages <= 512; fault.granule_pages++)
        if (fault.granule_pages & (fault.granule_pages - 1))
            diagnosed(check_fault(&fault, DIAG), GPUMP_ERROR_CONFIG, "granule_pages (a power of two)", 0,
                      fault.granule_pages, 1, 512);
        else
            assert_int_equal(gpump_bytes(&gpump_fault_component, &fault, &bytes, NULL), GPUMP_OK);
}

/* Null pointers are errors of the host, and so is memory of another size. */
#define TEST_NULLS(component, preset, handle)                                                                        \
    do {                                                                                                             \
        static uint64_t memory[1 << 20];                                                                             \
        gpump_##component##_config config;                                                                           \
        gpump_##component *one;                                                                                      \
        uint64_t bits;                                                                                               \
        size_t bytes;                                                                                                \
        assert_int_equal(gpump_preset(&gpump_##component##_component, NULL, preset, NULL), GPUMP_ERROR_ARGUMENT);    \
        assert_int_equal(gpump_preset(&gpump_##component##_component, &config, NULL, NULL), GPUMP_ERROR_ARGUMENT);   \
        assert_int_equal(gpump_preset(&gpump_##component##_component, &config, "no such", NULL),                     \
                         GPUMP_ERROR_UNKNOWN_NAME);                                                                  \
        assert_int_equal(gpump_preset(&gpump_##component##_component, &config, preset, NULL), GPUMP_OK);             \
        diagnosed_null(gpump_bytes(&gpump_##component##_component, NULL, &bytes, DIAG), "config");                   \
        diagnosed_null(gpump_bytes(&gpump_##component##_component, &config, NULL, DIAG), "bytes");                   \
        diagnosed_null(gpump_bits(&gpump_##component##_component, NULL, &bits, DIAG), "config");                     \
        diagnosed_null(gpump_bits(&gpump_##component##_component, &config, NULL, DIAG), "bits");                     \
        assert_int_equal(gpump_bytes(&gpump_##component##_component, &config, &bytes, NULL), GPUMP_OK);              \
        assert_true(bytes <= sizeof memory);                                                                         \
        diagnosed_null(gpump_init(&gpump_##component##_component, memory, bytes, &config, NULL, DIAG), handle);      \
        diagnosed_null(gpump_init(&gpump_##component##_component, NULL, bytes, &config, &one, DIAG), "memory");      \
        assert_int_equal(gpump_init(&gpump_##component##_component, memory, bytes, &config, &one, NULL), GPUMP_OK);  \
        diagnosed_null(gpump_adopt(&gpump_##component##_component, memory, bytes, &config, NULL, DIAG), handle);     \
        diagnosed(gpump_adopt(&gpump_##component##_component, memory, bytes - 8, &config, &one, DIAG),               \
                  GPUMP_ERROR_FORMAT, "bytes", 0, bytes - 8, bytes, UINT64_MAX);                                     \
        assert_int_equal(gpump_adopt(&gpump_##component##_component, memory, bytes, &config, &one, NULL), GPUMP_OK); \
        diagnosed_null(gpump_check(&gpump_##component##_component, NULL, DIAG), handle);                             \
        assert_int_equal(gpump_check(&gpump_##component##_component, one, NULL), GPUMP_OK);                          \
    } while (0)

/* Each pointer that is missing is refused by its name. */
static void missing_pointers_are_named(void **state) {
    (void)state;
    TEST_NULLS(tlb, "table61_l2", "tlb");
    TEST_NULLS(replay, "log16", "replay");
    TEST_NULLS(fault, "pcie3_local", "fault");
    TEST_NULLS(block_switch, "priced", "block_switch");
}

/* Every counter has a name, a unit and a description of its own, and is the difference of two of itself. */
#define TEST_COUNTERS(component)                                                                                       \
    do {                                                                                                               \
        gpump_##component##_statistics a, b, d;                                                                        \
        uint64_t *from = (uint64_t *)(void *)&a, *to = (uint64_t *)(void *)&b, value;                                  \
        const char *name, *unit, *words;                                                                               \
        uint32_t i;                                                                                                    \
        for (i = 0; i < sizeof a / 8; i++) from[i] = 10 + i, to[i] = 100 + 3 * i;                                      \
        gpump_statistics_diff(&gpump_##component##_component, &a, &b, &d);                                             \
        for (i = 0; gpump_statistics_field(&gpump_##component##_component, &d, i, NULL, NULL, NULL, NULL) == GPUMP_OK; \
             i++) {                                                                                                    \
            assert_int_equal(                                                                                          \
                gpump_statistics_field(&gpump_##component##_component, &d, i, &name, &unit, &words, &value),           \
                GPUMP_OK);                                                                                             \
            assert_int_equal(value, 90 + 2 * i);                                                                       \
            if (strchr(name, ' ') || strlen(unit) < 3 || !strcmp(unit, words))                                         \
                fail_msg("%s, %s, %s", name, unit, words);                                                             \
        }                                                                                                              \
        assert_int_equal(i, sizeof a / 8);                                                                             \
        assert_int_equal(gpump_statistics_field(&gpump_##component##_component, NULL, 0, NULL, NULL, NULL, NULL),      \
                         GPUMP_ERROR_ARGUMENT);                                                                        \
    } while (0)

/* Each counter has its name, and the difference of two readings is that of each field. */
static void counters_have_names_and_differences(void **state) {
    (void)state;
    TEST_COUNTERS(tlb);
    TEST_COUNTERS(replay);
    TEST_COUNTERS(fault);
    TEST_COUNTERS(block_switch);
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
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL), GPUMP_OK);
    config.entries = 8;
    config.ways = 2;
    config.misses = 3;
    config.waiters = 5;
    assert_int_equal(gpump_bytes(&gpump_tlb_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, sizeof memory, &config, &tlb, NULL), GPUMP_OK);
    for (uint64_t page = 0; page < 6; page++)
        assert_int_equal(gpump_tlb_fill(tlb, 0, page, GPUMP_TLB_READ, NULL, 0, &count), GPUMP_OK);
    assert_int_equal(gpump_tlb_lookup(tlb, 0, 9, GPUMP_TLB_READ, 77, &outcome), GPUMP_OK);
    hash = gpump_hash(&gpump_tlb_component, tlb);
    assert_true(hash == UINT64_C(0xe674654da11288ef)); /* the same with every compiler and on every machine */
    for (size_t bit = sizeof(gpumpi_head) * 8; bit < bytes * 8; bit++) {
        const size_t field_bit = bit - sizeof(gpumpi_head) * 8;
        /* but for the sizes of the memory, which the calls themselves read */
        if (field_bit >= (1 + 9) * 64 && field_bit < (1 + 9) * 64 + 12 * 32) continue;
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
        if (gpump_hash(&gpump_tlb_component, tlb) == hash) fail_msg("bit %u does not count", (unsigned)bit);
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
    }
    assert_int_equal(gpump_hash(&gpump_tlb_component, tlb), hash);
}

enum { FAULT_RANGES = 2, FAULT_GRANULES = 4, FAULT_FAULTS = 2 };
/* Two buffers of two granules, and a fault in each: all tables but `spare` granules are in use. */
static gpump_fault *full_fault(uint64_t *memory, size_t capacity, gpump_fault_config *config, uint32_t spare,
                               size_t *bytes) {
    gpump_fault *f;
    assert_int_equal(gpump_preset(&gpump_fault_component, config, "nvlink", NULL), GPUMP_OK);
    config->sms = config->processes = 2;
    config->ranges = FAULT_RANGES;
    config->granules = FAULT_GRANULES + spare;
    config->faults = FAULT_FAULTS;
    config->waiters = 3;
    assert_int_equal(gpump_bytes(&gpump_fault_component, config, bytes, NULL), GPUMP_OK);
    assert_true(*bytes <= capacity);
    assert_int_equal(gpump_init(&gpump_fault_component, memory, *bytes, config, &f, NULL), GPUMP_OK);
    for (uint32_t process = 0; process < 2; process++) {
        gpump_fault_access access;
        uint32_t outcome;
        assert_int_equal(gpump_fault_map(f, process, 64, 32, GPUMP_FAULT_CPU, GPUMP_TLB_READ), GPUMP_OK);
        memset(&access, 0, sizeof access);
        access.page = 64 + 16 * process;
        access.cookie = 5 + process;
        access.process = access.sm = process;
        access.warp = 3;
        access.rights = GPUMP_TLB_READ;
        assert_int_equal(gpump_fault_report(f, 10, &access, &outcome), GPUMP_OK);
        assert_int_equal(outcome, GPUMP_FAULT_OPENED);
    }
    assert_int_equal(gpump_check(&gpump_fault_component, f, NULL), GPUMP_OK);
    return f;
}

/* No bit behind the head of a fault unit that is in use may change without its hash; what no buffer has does not count;
 * and the number itself is the same with every compiler and on every machine. */
static void test_hash_of_a_fault_unit(void **state) {
    static uint64_t memory[1 << 10];
    const size_t counts = sizeof(gpumpi_head) + 28 * 8, unused = 2 * 56, heap = 4 * FAULT_FAULTS;
    const size_t offsets = counts + sizeof(gpump_fault_config) + (8 + 12 + 9 + 64) * 4;
    (void)state;
    for (uint32_t spare = 0; spare < 3; spare += 2) {
        gpump_fault_config config;
        size_t bytes;
        gpump_fault *f = full_fault(memory, sizeof memory, &config, spare, &bytes);
        const uint64_t hash = gpump_hash(&gpump_fault_component, f);
        assert_true(hash == (spare ? UINT64_C(0x234c7f20ce4ba63f) : UINT64_C(0xfb4c9a78021dec3b)));
        for (size_t bit = sizeof(gpumpi_head) * 8; bit < bytes * 8; bit++) {
            const int is_unused = spare && bit / 8 >= bytes - heap - unused && bit / 8 < bytes - heap;
            /* but for the sizes of the tables, which the calls themselves read */
            if (bit / 8 >= counts && bit / 8 < counts + sizeof config + 3 * 4) continue;
            if (bit / 8 >= offsets && bit / 8 < offsets + 7 * 8) continue; /* likewise; gpump_adopt compares them */
            memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
            if ((gpump_hash(&gpump_fault_component, f) == hash) != is_unused) fail_msg("bit %u", (unsigned)bit);
            memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
        }
    }
}

/* Two blocks of three, of which one has left: no bit behind the head that is in use may change without its hash, what
 * no block has does not count, and the number is the same with every compiler and on every machine. */
/* Reports one resident, as a host without gpump_sm fills it; the port moves a byte per cycle. */
static gpump_result switch_came(gpump_block_switch *u, uint64_t now, uint64_t cookie, uint32_t warps,
                                uint64_t switch_cycles) {
    gpump_block_view view;
    memset(&view, 0, sizeof view);
    view.cookie = cookie;
    view.kernel = 1;
    view.state = GPUMP_BLOCK_RUNNING;
    view.threads = 32 * warps;
    view.warps = warps;
    view.context_bytes = switch_cycles / 2;
    return gpump_block_switch_report_residents(u, now, &view, 1);
}

/* The hash of a block switch unit changes with each bit that is in use, and with no other. */
static void test_hash_of_a_block_switcher(void **state) {
    static uint64_t memory[1 << 8];
    const size_t counts = sizeof(gpumpi_head) + (1 + 11) * 8, entry = 72;
    gpump_block_switch_config config;
    gpump_block_switch_action action;
    gpump_block_switch *unit;
    uint64_t hash;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_block_switch_component, &config, "table61", NULL), GPUMP_OK);
    config.blocks = 2;
    config.extra = 1;
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_block_switch_component, memory, bytes, &config, &unit, NULL), GPUMP_OK);
    assert_int_equal(gpump_block_switch_set_outside(unit, 3, 2), GPUMP_OK);
    for (uint64_t cookie = 5; cookie < 7; cookie++) assert_int_equal(switch_came(unit, 10, cookie, 1, 400), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_warp(unit, 20, 5, 0, 0), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_pending(unit, 20, 5, 1, 900), GPUMP_OK);
    assert_int_equal(gpump_block_switch_next(unit, 30, &action), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_left(unit, 40, 5), GPUMP_OK);
    hash = gpump_hash(&gpump_block_switch_component, unit);
    assert_true(hash == UINT64_C(0xf932a6a15adbbeb6));
    for (size_t bit = sizeof(gpumpi_head) * 8; bit < bytes * 8; bit++) {
        const int is_unused = bit / 8 >= bytes - entry;
        /* but for the sizes of the tables, which the call itself reads */
        if (bit / 8 >= counts && bit / 8 < counts + sizeof config + 2 * 4) continue;
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
        if ((gpump_hash(&gpump_block_switch_component, unit) == hash) != is_unused) fail_msg("bit %u", (unsigned)bit);
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
    }
}

/* The same for replay: three warp slots with an instruction each in the first two, which are of blocks of their own. */
static void test_hash_of_replay(void **state) {
    static uint64_t memory[1 << 12];
    const size_t counts = sizeof(gpumpi_head) + (4 + 15) * 8,
                 slots = sizeof(gpump_replay) + 3 * sizeof(gpumpi_replay_warp);
    gpump_replay_config config;
    gpump_replay *r;
    uint64_t hash;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log8", NULL), GPUMP_OK);
    config.warps = 3;
    config.blocks = 2;
    assert_int_equal(gpump_bytes(&gpump_replay_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_replay_component, memory, bytes, &config, &r, NULL), GPUMP_OK);
    for (uint32_t warp = 0; warp < 2; warp++) {
        const gpump_replay_entry store = {7 + warp, 3, 40, GPUMP_REPLAY_STORE, 2, 0};
        uint32_t handle;
        assert_int_equal(gpump_replay_open(r, warp, warp), GPUMP_OK);
        assert_int_equal(gpump_replay_report_issued(r, warp, &store, &handle), GPUMP_OK);
        assert_int_equal(handle, warp * GPUMP_REPLAY_WINDOW);
    }
    assert_int_equal(gpump_check(&gpump_replay_component, r, NULL), GPUMP_OK);
    hash = gpump_hash(&gpump_replay_component, r);
    assert_true(hash == UINT64_C(0xddfc7a712e6f0e82));
    for (size_t bit = sizeof(gpumpi_head) * 8; bit < bytes * 8; bit++) {
        const size_t byte = bit / 8, slot = byte < slots ? 0 : (byte - slots) / sizeof(gpumpi_replay_slot);
        const size_t inside = byte < slots ? 0 : (byte - slots) % sizeof(gpumpi_replay_slot);
        const int is_older = inside >= sizeof(gpump_replay_entry) && inside < sizeof(gpump_replay_entry) + 8;
        int is_unused =
            byte >= slots && byte < bytes - 2 * 8 && (slot % GPUMP_REPLAY_WINDOW || slot / 64 > 1 || is_older);
        /* but for the sizes of the tables, which the call itself reads, and the sets that say which entries there are
         */
        if (byte >= counts && byte < counts + sizeof config) continue;
        if (byte >= sizeof(gpump_replay) && byte < slots &&
            (byte - sizeof(gpump_replay)) % sizeof(gpumpi_replay_warp) < 8)
            continue;
        if (is_older && slot < 65 && !(slot % GPUMP_REPLAY_WINDOW))
            is_unused = bit % 64 != 0; /* only entry 0 is there */
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
        if ((gpump_hash(&gpump_replay_component, r) == hash) != is_unused) fail_msg("bit %u", (unsigned)bit);
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
    }
}

/* What _adopt and _check say about altered memory: what is wrong, and of which warp. */
static void test_check_of_replay(void **state) {
    static uint64_t memory[1 << 12];
    const size_t copied = sizeof(gpumpi_head) + (4 + 15) * 8 + offsetof(gpump_replay_config, lanes);
    const gpump_replay_entry store = {7, 3, 40, GPUMP_REPLAY_STORE, 2, 0};
    gpump_replay_config config;
    gpump_replay *r, *other;
    gpumpi_replay_warp *warp;
    uint32_t handle;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log8", NULL), GPUMP_OK);
    config.warps = 3;
    config.blocks = 2;
    assert_int_equal(gpump_bytes(&gpump_replay_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_replay_component, memory, bytes, &config, &r, NULL), GPUMP_OK);
    assert_int_equal(gpump_replay_open(r, 1, 1), GPUMP_OK);
    assert_int_equal(gpump_replay_report_issued(r, 1, &store, &handle), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_replay_component, r, NULL), GPUMP_OK);
    warp = (gpumpi_replay_warp *)(void *)(r + 1) + 1;
    warp->queued++; /* either sum alone */
    diagnosed(gpump_check(&gpump_replay_component, r, DIAG), GPUMP_ERROR_FORMAT, "sums of a warp", 1, 0, 0, 0);
    warp->queued--;
    warp->log_units++;
    diagnosed(gpump_check(&gpump_replay_component, r, DIAG), GPUMP_ERROR_FORMAT, "sums of a warp", 1, 0, 0, 0);
    warp->log_units--;
    for (uint32_t running = 0; running < 4; running += 3) {
        r->running = running;
        diagnosed(gpump_check(&gpump_replay_component, r, DIAG), GPUMP_ERROR_FORMAT, "running blocks", 0, running, 1,
                  2);
    }
    r->running = 2;
    r->partition++;
    diagnosed(gpump_check(&gpump_replay_component, r, DIAG), GPUMP_ERROR_FORMAT, "running blocks", 0, 2, 1, 2);
    r->partition--;
    r->active[0] |= 8;
    diagnosed(gpump_check(&gpump_replay_component, r, DIAG), GPUMP_ERROR_FORMAT, "active warps", 3, 3, 0, 2);
    r->active[0] &= ~UINT64_C(8);
    memory[bytes / 8 - 1]++; /* what is taken of the second block's log */
    diagnosed(gpump_check(&gpump_replay_component, r, DIAG), GPUMP_ERROR_FORMAT, "log of a block", 1, 3, 2, 2);
    memory[bytes / 8 - 1]--;
    assert_int_equal(gpump_check(&gpump_replay_component, r, NULL), GPUMP_OK);
    diagnosed(gpump_replay_restore(r, 3, NULL, 0, DIAG), GPUMP_ERROR_ARGUMENT, "warp", 0, 3, 0, 2);
    diagnosed(gpump_replay_restore(NULL, 1, NULL, 0, DIAG), GPUMP_ERROR_ARGUMENT, "warp", 0, 1, 0, 0);
    diagnosed(gpump_replay_restore(r, 1, NULL, 0, DIAG), GPUMP_ERROR_STATE, CLOSED_OR_BUSY, 1, 1, 0,
              0); /* it has entries */
    diagnosed(gpump_replay_restore(r, 0, NULL, 0, DIAG), GPUMP_ERROR_STATE, CLOSED_OR_BUSY, 0, 0, 0,
              0);                            /* nobody is there */
    ((unsigned char *)memory)[copied] ^= 1u; /* its copy of the configuration */
    diagnosed(gpump_adopt(&gpump_replay_component, memory, bytes, &config, &other, DIAG), GPUMP_ERROR_FORMAT, "config",
              offsetof(gpump_replay, config), 0, 0, 0);
}

/* Faults x (36 + process + 64 + two waiters + 2), waiters x (64 + 64 + waiter), 64 for each SM. */
static void test_bits_of_a_fault_unit(void **state) {
    static uint64_t memory[1 << 10];
    gpump_fault_config config;
    gpump_fault *f;
    uint64_t bits;
    size_t bytes, at = sizeof(gpumpi_head) + 28 * 8 + offsetof(gpump_fault_config, local_cycles);
    const size_t heap_at = sizeof(gpumpi_head) + 28 * 8 + sizeof(gpump_fault_config) + (8 + 12 + 7 + 64) * 4 + 6 * 8;
    (void)state;
    f = full_fault(memory, sizeof memory, &config, 0, &bytes);
    assert_int_equal(gpump_bits(&gpump_fault_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, 2 * (36 + 1 + 64 + 2 * 2 + 2) + 3 * (64 + 64 + 2) + 2 * 64);
    assert_int_equal(gpump_fault_release(NULL, 10, 5, 3), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_release(f, 10, 5, 64), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_fault_release(f, 9, 5, 3), GPUMP_ERROR_TIME);
    ((unsigned char *)memory)[heap_at] ^= 8u;
    diagnosed(gpump_adopt(&gpump_fault_component, memory, bytes, &config, &f, DIAG), GPUMP_ERROR_FORMAT, "offsets", 0,
              0, 0, 0);
    ((unsigned char *)memory)[heap_at] ^= 8u;
    ((unsigned char *)memory)[at] ^= 1u; /* its copy of the configuration */
    diagnosed(gpump_adopt(&gpump_fault_component, memory, bytes, &config, &f, DIAG), GPUMP_ERROR_FORMAT, "config",
              gpump_fault_component.methods()->config_at, 0, 0, 0);
}

/* Making the smallest TLB touches no byte behind those that it asks for. */
static void test_smallest_tlb(void **state) {
    static uint64_t memory[1 << 6];
    gpump_tlb_config config;
    gpump_tlb *tlb;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL), GPUMP_OK);
    config.entries = config.ways = config.misses = config.waiters = 1;
    assert_int_equal(gpump_bytes(&gpump_tlb_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes + 32 <= sizeof memory);
    memset(memory, 0x77, sizeof memory);
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, bytes, &config, &tlb, NULL), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_tlb_component, tlb, NULL), GPUMP_OK);
    for (size_t i = bytes; i < sizeof memory; i++) assert_int_equal(((unsigned char *)memory)[i], 0x77);
}

/* Every entry of a TLB is checked, and a list of free misses must stay inside its table. */
static void test_check_of_a_tlb(void **state) {
    static uint64_t memory[1 << 12];
    const size_t links = sizeof(gpumpi_head) + 80 + sizeof(gpump_tlb_config), entries = links + 16;
    gpump_tlb_config config;
    gpump_tlb *tlb;
    uint32_t wrong = GPUMP_TLB_RIGHTS + 1, kept;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL), GPUMP_OK);
    config.entries = 8;
    config.ways = 2;
    config.misses = 3;
    config.waiters = 5;
    assert_int_equal(gpump_bytes(&gpump_tlb_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, bytes, &config, &tlb, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < config.entries; i++) { /* page, stamp, process, rights */
        unsigned char *rights = (unsigned char *)memory + entries + i * 24 + 20;
        memcpy(&kept, rights, 4);
        memcpy(rights, &wrong, 4);
        diagnosed(gpump_check(&gpump_tlb_component, tlb, DIAG), GPUMP_ERROR_FORMAT, "rights", i, wrong, 0,
                  GPUMP_TLB_RIGHTS);
        memcpy(rights, &kept, 4);
    }
    assert_int_equal(gpump_check(&gpump_tlb_component, tlb, NULL), GPUMP_OK);
    wrong = config.misses; /* the first free miss */
    memcpy((unsigned char *)memory + links + 8, &wrong, 4);
    diagnosed(gpump_check(&gpump_tlb_component, tlb, DIAG), GPUMP_ERROR_FORMAT, "free misses", 0, 3, 0, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_its_range),    cmocka_unit_test(test_fields_together),
        cmocka_unit_test(missing_pointers_are_named),    cmocka_unit_test(counters_have_names_and_differences),
        cmocka_unit_test(test_hash_sees_every_bit),      cmocka_unit_test(test_hash_of_a_fault_unit),
        cmocka_unit_test(test_hash_of_a_block_switcher), cmocka_unit_test(test_hash_of_replay),
        cmocka_unit_test(test_check_of_replay),          cmocka_unit_test(test_bits_of_a_fault_unit),
        cmocka_unit_test(test_check_of_a_tlb),           cmocka_unit_test(test_smallest_tlb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
