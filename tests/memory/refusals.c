/* labels: unit */
/* Every refusal of a meter: its code, and what its diagnostic says; and the utilisations by hand. */
#include "diagnosed.h"

static gpump_result check_meter(const void *config, gpump_diag *diag) {
    const gpump_meter_config *c = (const gpump_meter_config *)config;
    size_t bytes;
    uint64_t bits;
    gpump_traffic traffic;
    gpump_utilisation utilisation;
    gpump_result result = gpump_bytes(&gpump_meter_component, c, &bytes, diag);
    memset(&traffic, 0, sizeof traffic);
    traffic.cycles = 1;
    assert_int_equal(gpump_bits(&gpump_meter_component, c, &bits, NULL), result);
    assert_int_equal(gpump_meter_utilisation(c, &traffic, &utilisation, NULL), result);
    return result;
}

/* A meter's configuration outside its range is refused, and its hash covers the last word of the last kernel. */
static void wrong_configurations_and_memory_are_refused(void **state) {
#define FIELD(member, minimum, maximum) DIAGNOSED_FIELD(gpump_meter_config, member, minimum, maximum)
    const diagnosed_field fields[] = {
        FIELD(kernels, 1, 65535),
        FIELD(sms, 1, 65536),
        FIELD(schedulers, 1, 8),
        FIELD(clock_khz, 1, UINT32_MAX),
        FIELD(network_khz, 1, UINT32_MAX),
        FIELD(network_ports, 1, 65536),
        FIELD(sustainable_permille, 1, 1000),
        FIELD(l1_hit_cycles, 1, 65536),
        FIELD(l2_banks, 1, 65536),
        FIELD(l2_hit_cycles, 1, 65536),
        FIELD(memory_mb_per_s, 1, UINT32_MAX),
    };
#undef FIELD
    static uint64_t memory[8192];
    gpump_meter_config config;
    gpump_meter *meter = NULL;
    size_t bytes;
    uint64_t bits, hash;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_meter_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    diagnosed_fields(&config, sizeof config, fields, sizeof fields / sizeof fields[0], check_meter);
    diagnosed_null(gpump_bytes(&gpump_meter_component, NULL, &bytes, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_meter_component, &config, NULL, DIAG), "bytes");
    diagnosed_null(gpump_bits(&gpump_meter_component, &config, NULL, DIAG), "bits");
    assert_int_equal(gpump_bytes(&gpump_meter_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_bits(&gpump_meter_component, &config, &bits, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory && bits % (8 * (config.kernels + 1)) == 0 && bits / 8 < bytes);
    config.sms = 0; /* a wrong configuration is refused by init and adopt too, and the memory stays as it was */
    diagnosed(gpump_init(&gpump_meter_component, memory, bytes, &config, &meter, DIAG), GPUMP_ERROR_CONFIG, "sms", 0, 0,
              1, 65536);
    diagnosed(gpump_adopt(&gpump_meter_component, memory, bytes, &config, &meter, DIAG), GPUMP_ERROR_CONFIG, "sms", 0,
              0, 1, 65536);
    assert_int_equal(gpump_preset(&gpump_meter_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    diagnosed_null(gpump_init(&gpump_meter_component, memory, bytes, &config, NULL, DIAG), "meter");
    diagnosed(gpump_init(&gpump_meter_component, memory, bytes - 1, &config, &meter, DIAG), GPUMP_ERROR_CAPACITY,
              "bytes", 0, bytes - 1, bytes, UINT64_MAX);
    assert_null(meter);
    memset(memory, 0x77, sizeof memory);
    assert_int_equal(gpump_init(&gpump_meter_component, memory, bytes, &config, &meter, NULL), GPUMP_OK);
    assert_true(memory[bytes / 8] == UINT64_C(0x7777777777777777));
    diagnosed_null(gpump_adopt(&gpump_meter_component, memory, bytes, &config, NULL, DIAG), "meter");
    diagnosed(gpump_adopt(&gpump_meter_component, memory, bytes - 8, &config, &meter, DIAG), GPUMP_ERROR_FORMAT,
              "bytes", 0, bytes - 8, bytes, UINT64_MAX);
    for (size_t i = 2; i < sizeof fields / sizeof fields[0]; i++) { /* made with another configuration */
        gpump_meter_config other = config;
        uint32_t value;
        memcpy(&value, (char *)&config + fields[i].offset, sizeof value);
        diagnosed_set(&other, &fields[i], value - 1 ? value - 1 : value + 1);
        assert_int_equal(gpump_adopt(&gpump_meter_component, memory, bytes, &other, &meter, DIAG), GPUMP_ERROR_FORMAT);
        assert_string_equal(diagnosed_diag.field, "config");
        assert_int_equal(diagnosed_diag.index, offsetof(gpump_meter, config));
    }
    ((uint64_t *)(void *)meter)[2]++; /* the size in the head */
    diagnosed(gpump_adopt(&gpump_meter_component, memory, bytes, &config, &meter, DIAG), GPUMP_ERROR_FORMAT, "bytes",
              16, bytes + 1, bytes, bytes);
    ((uint64_t *)(void *)meter)[2]--;
    meter->config.sms++; /* altered since it was made */
    diagnosed(gpump_adopt(&gpump_meter_component, memory, bytes, &config, &meter, DIAG), GPUMP_ERROR_FORMAT, "config",
              offsetof(gpump_meter, config), 0, 0, 0);
    meter->config.sms--;
    hash = gpump_hash(&gpump_meter_component, meter);
    meter->now++; /* the time is part of the state */
    assert_true(gpump_hash(&gpump_meter_component, meter) != hash);
    meter->now--;
    ((uint64_t *)(void *)gpumpi_meter_traffic(meter, config.kernels + 1))[-1]++; /* the last word of the last kernel */
    assert_true(gpump_hash(&gpump_meter_component, meter) != hash);
    ((uint64_t *)(void *)gpumpi_meter_traffic(meter, config.kernels + 1))[-1]--;
    assert_true(gpump_hash(&gpump_meter_component, meter) == hash);
}

/* A wrong question to a meter is refused, and so is a time that went back. */
static void wrong_questions_to_a_meter_are_refused(void **state) {
    static uint64_t memory[8192];
    static gpump_traffic traffic[9];
    gpump_meter_config config;
    gpump_utilisation utilisation;
    gpump_meter *meter = NULL;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_meter_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_meter_component, memory, sizeof memory, &config, &meter, NULL), GPUMP_OK);
    assert_int_equal(config.kernels, 8);
    assert_int_equal(gpump_meter_total(NULL, 5, 0, traffic), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_meter_total(meter, 5, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_meter_total(meter, 5, 9, traffic), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_meter_total(meter, 5, 8, traffic), GPUMP_OK);
    assert_int_equal(traffic[0].cycles, 5);
    assert_int_equal(gpump_meter_total(meter, 4, 8, traffic), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_meter_window(NULL, 5, traffic, 9), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_meter_window(meter, 5, NULL, 9), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_meter_window(meter, 4, traffic, 9), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_meter_window(meter, 5, traffic, 8), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_meter_window(meter, 5, traffic, 9), GPUMP_OK);
    assert_int_equal(traffic[8].cycles, 5);
    assert_int_equal(gpump_meter_window(meter, 12, traffic, 9), GPUMP_OK);
    assert_int_equal(traffic[3].cycles, 7);
    diagnosed_null(gpump_meter_utilisation(&config, NULL, &utilisation, DIAG), "traffic");
    diagnosed_null(gpump_meter_utilisation(&config, traffic, NULL, DIAG), "utilisation");
    traffic[0].cycles = 0;
    assert_int_equal(gpump_meter_utilisation(&config, traffic, &utilisation, NULL), GPUMP_EMPTY);
}

/* Each share: what was done, over what 1000 cycles could have done. */
static void utilisations_by_hand(void **state) {
    gpump_meter_config config;
    gpump_traffic t;
    gpump_utilisation u;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_meter_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    config.sms = 2;
    config.schedulers = 4;
    config.clock_khz = 1000;
    config.network_khz = 500; /* 500 network cycles in 1000 of the SMs */
    config.network_ports = 2;
    config.sustainable_permille = 500;
    config.l1_hit_cycles = 4;
    config.l2_banks = 8;
    config.l2_hit_cycles = 2;
    config.memory_mb_per_s = 16; /* 16 bytes a cycle */
    memset(&t, 0, sizeof t);
    t.cycles = 1000;
    t.issued = 4000; /* of 2 x 4 x 1000 */
    t.l1_load_hits = 100;
    t.l1_store_hits = 150; /* 250 x 4 of 2 x 1000 */
    t.l1_load_misses = t.l1_atomics = 77;
    t.flits_up = 125; /* of 500 x 2 / 2 */
    t.flits_down = 250;
    t.l2_load_hits = 100;
    t.l2_store_hits = 200;
    t.l2_atomic_hits = 200; /* 500 x 2 of 500 x 8 */
    t.dram_read_bytes = 3000;
    t.dram_written_bytes = 1000; /* of 16000 */
    assert_int_equal(gpump_meter_utilisation(&config, &t, &u, NULL), GPUMP_OK);
    assert_int_equal(u.scheduler_q16, 65536 / 2);
    assert_int_equal(u.l1_q16, 65536 / 2);
    assert_int_equal(u.up_q16, 65536 / 4);
    assert_int_equal(u.down_q16, 65536 / 2);
    assert_int_equal(u.l2_q16, 65536 / 4);
    assert_int_equal(u.dram_q16, 65536 / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_configurations_and_memory_are_refused),
        cmocka_unit_test(wrong_questions_to_a_meter_are_refused),
        cmocka_unit_test(utilisations_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
