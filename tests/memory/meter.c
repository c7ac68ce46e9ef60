/* labels: unit property */
/* The meter: sums per kernel, windows, hops against a list of requests, the six utilisations by hand. */
#include "test.h"

static gpump_meter_config preset(void) {
    gpump_meter_config config;
    assert_int_equal(gpump_preset(&gpump_meter_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    return config;
}
static gpump_meter *make(const gpump_meter_config *config) {
    gpump_meter *meter;
    size_t bytes;
    assert_int_equal(gpump_bytes(&gpump_meter_component, config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_meter_component, malloc(bytes), bytes, config, &meter, NULL), GPUMP_OK);
    return meter;
}

/* Clocks, SMs and bandwidth are those of the machine of that name. */
static void presets_of_the_meter_are_their_machines(void **state) {
    gpump_meter_config config = preset();
    (void)state;
    assert_int_equal(config.sms, 16);
    assert_int_equal(config.schedulers, 4);
    assert_int_equal(config.clock_khz, 1800000);
    assert_int_equal(config.network_khz, 1200000);
    assert_int_equal(config.memory_mb_per_s, 319000);
    assert_int_equal(gpump_preset(&gpump_meter_component, &config, "gtx480_shieh", NULL), GPUMP_OK);
    assert_int_equal(config.network_khz, config.clock_khz);
    assert_int_equal(gpump_preset(&gpump_meter_component, &config, "nonsense", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_meter_component, NULL, "k20c", NULL), GPUMP_ERROR_ARGUMENT);
}

/* Numbers of a meter out of their range are refused by name. */
static void wrong_configurations(void **state) {
    gpump_meter_config config = preset();
    gpump_diag diag;
    size_t bytes;
    uint64_t bits, small[4];
    gpump_meter *meter;
    (void)state;
    config.kernels = 0;
    assert_int_equal(gpump_bytes(&gpump_meter_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "kernels");
    config = preset();
    config.sustainable_permille = 1001;
    assert_int_equal(gpump_bits(&gpump_meter_component, &config, &bits, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "sustainable_permille");
    config = preset();
    assert_int_equal(gpump_init(&gpump_meter_component, small, sizeof small, &config, &meter, &diag),
                     GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_bits(&gpump_meter_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_meter_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(bits, (bytes - sizeof(gpump_meter)) * 8);
}

/* Lin 3.4.1 by hand: 16 SMs with 4 schedulers, 16 ports at 1200 to 1800 MHz of which 60% can be sustained. */
static void utilisations_are_those_computed_by_hand(void **state) {
    const gpump_meter_config config = preset();
    gpump_traffic t;
    gpump_utilisation u;
    (void)state;
    memset(&t, 0, sizeof t);
    assert_int_equal(gpump_meter_utilisation(&config, &t, &u, NULL), GPUMP_EMPTY);
    assert_int_equal(u.dram_q16, 0);
    t.cycles = 9000; /* 6000 of the network */
    t.issued = 9000 * 64 / 4;
    t.l1_load_hits = 9000 * 16 / 2;
    t.l1_store_misses = 12345;
    t.flits_up = 6000 * 16 * 3 / 10;   /* half of 60% */
    t.flits_down = 6000 * 16 * 6 / 10; /* all of 60% */
    t.l2_load_hits = 6000 * 16 / 4 / 8;
    t.l2_atomic_hits = 6000 * 16 / 4 / 8;
    t.l2_load_misses = 999;
    t.dram_read_bytes = UINT64_C(9000) * 319000 / 1800 / 4; /* 319 GB/s are 177.2 bytes per cycle */
    t.dram_written_bytes = t.dram_read_bytes;
    assert_int_equal(gpump_meter_utilisation(&config, &t, &u, NULL), GPUMP_OK);
    assert_int_equal(u.scheduler_q16, 65536 / 4);
    assert_int_equal(u.l1_q16, 65536 / 2);
    assert_in_range(u.up_q16, 65536 / 2 - 2, 65536 / 2 + 2);
    assert_in_range(u.down_q16, 65536 - 2, 65536 + 2);
    assert_in_range(u.l2_q16, 65536 / 4 - 2, 65536 / 4 + 2);
    assert_in_range(u.dram_q16, 65536 / 2 - 2, 65536 / 2 + 2);
    t.flits_up = UINT64_C(54000000); /* 6,000 flits a cycle, of 60 percent of 16 x 0.666666 */
    assert_int_equal(gpump_meter_utilisation(&config, &t, &u, NULL), GPUMP_OK);
    assert_int_equal(u.up_q16, 61440067); /* 6,000 x 65,536,000,000 / 6,399,993, rounded down */
}

/* What any kernel has done, the last one too, is in the hash. */
static void the_hash_sees_every_kernel(void **state) {
    const gpump_meter_config config = preset();
    gpump_meter *meter = make(&config);
    (void)state;
    for (uint32_t kernel = 0; kernel <= config.kernels; kernel++) {
        uint64_t before = gpump_hash(&gpump_meter_component, meter);
        gpump_meter_report_issued(meter, kernel, 1);
        assert_true(gpump_hash(&gpump_meter_component, meter) != before);
        for (uint32_t hop = 0; hop < GPUMP_METER_HOPS; hop++) { /* a request that is under way */
            before = gpump_hash(&gpump_meter_component, meter);
            gpump_meter_report_enter(meter, 0, kernel, hop);
            assert_true(gpump_hash(&gpump_meter_component, meter) != before);
        }
    }
    free(meter);
}

/* What is counted between two readings is the window; a copy counts on by itself. */
static void a_window_is_the_difference_of_two_readings(void **state) {
    const gpump_meter_config config = preset();
    gpump_meter *meter = make(&config), *copy;
    gpump_traffic first[9], second[9], total;
    const char *name, *unit;
    uint64_t value;
    uint32_t i;
    size_t bytes;
    (void)state;
    gpump_meter_report_issued(meter, 1, 10);
    gpump_meter_report_resident(meter, 1, 500);
    gpump_meter_report_cache(meter, 1, 1, GPUMP_METER_LOAD, 1);
    gpump_meter_report_cache(meter, 1, 1, GPUMP_METER_LOAD, 0);
    gpump_meter_report_cache(meter, 1, 1, GPUMP_METER_STORE, 0);
    gpump_meter_report_cache(meter, 1, 1, GPUMP_METER_ATOMIC, 0);
    gpump_meter_report_cache(meter, 1, 2, GPUMP_METER_ATOMIC, 0);
    gpump_meter_report_flits(meter, 0, 1, 5);
    gpump_meter_report_dram(meter, 8, 1, 128);
    assert_int_equal(gpump_meter_window(meter, 1000, first, 8), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_meter_window(meter, 1000, first, 9), GPUMP_OK);
    assert_int_equal(first[1].issued, 10);
    assert_int_equal(first[1].resident_cycles, 500);
    assert_int_equal(first[1].l1_load_hits, 1);
    assert_int_equal(first[1].l1_load_misses, 1);
    assert_int_equal(first[1].l1_store_hits, 0);
    assert_int_equal(first[1].l1_store_misses, 1);
    assert_int_equal(first[1].l1_atomics, 1);
    assert_int_equal(first[1].l2_atomic_misses, 1);
    assert_int_equal(first[0].flits_down, 5);
    assert_int_equal(first[8].dram_written_bytes, 128);
    assert_int_equal(first[3].cycles, 1000);
    gpump_meter_report_issued(meter, 1, 7);
    assert_int_equal(gpump_meter_window(meter, 999, second, 9), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_bytes(&gpump_meter_component, &config, &bytes, NULL), GPUMP_OK);
    copy = (gpump_meter *)malloc(bytes);
    memcpy(copy, meter, bytes);
    assert_int_equal(gpump_adopt(&gpump_meter_component, copy, bytes, &config, &copy, NULL), GPUMP_OK);
    assert_int_equal(gpump_hash(&gpump_meter_component, copy), gpump_hash(&gpump_meter_component, meter));
    assert_int_equal(gpump_meter_window(copy, 1500, second, 9), GPUMP_OK);
    assert_true(gpump_hash(&gpump_meter_component, copy) != gpump_hash(&gpump_meter_component, meter));
    assert_int_equal(second[1].issued, 7);
    assert_int_equal(second[1].l1_load_hits, 0);
    assert_int_equal(second[1].cycles, 500);
    assert_int_equal(gpump_meter_total(copy, 1500, 1, &total), GPUMP_OK);
    assert_int_equal(total.issued, 17);
    assert_int_equal(gpump_meter_total(copy, 1500, 9, &total), GPUMP_ERROR_ARGUMENT);
    gpump_traffic_add(&first[1], &second[1]);
    assert_int_equal(first[1].issued, 17);
    assert_int_equal(first[1].cycles, 1000);
    for (i = 0; gpump_statistics_field(&gpump_meter_component, &total, i, &name, &unit, NULL, &value) == GPUMP_OK; i++)
        if (strcmp(name, "issued") == 0) assert_int_equal(value, 17);
    assert_int_equal(i, 26);
    free(meter);
    free(copy);
}

/* Hops against the list of requests: in flight, its integral cycle by cycle, latencies. */
static void hops_are_counted_as_the_list_of_requests_says(void **state) {
    const gpump_meter_config config = preset();
    gpump_meter *meter = make(&config);
    uint64_t random = test_seed(), entered[64], integral = 0, latency = 0, done = 0, now;
    uint64_t buckets[GPUMP_METER_BUCKETS];
    uint32_t count = 0, b;
    gpump_traffic total;
    (void)state;
    memset(buckets, 0, sizeof buckets);
    for (now = 0; now < 20000 || count; now++) {
        uint32_t changes = gpump_random_below(&random, 3);
        while (changes--) {
            if (count < 64 && now < 20000 && gpump_random_below(&random, 2)) {
                entered[count++] = now;
                gpump_meter_report_enter(meter, now, 2, GPUMP_METER_DRAM);
            } else if (count) {
                const uint32_t i = gpump_random_below(&random, count);
                gpump_meter_report_leave(meter, now, 2, GPUMP_METER_DRAM, entered[i]);
                latency += now - entered[i];
                for (b = 0; b + 1 < GPUMP_METER_BUCKETS && now - entered[i] >= UINT64_C(2) << b; b++) {}
                buckets[b]++;
                done++;
                entered[i] = entered[--count];
            }
        }
        assert_int_equal(gpumpi_meter_in_flight(meter, 2, GPUMP_METER_DRAM), count);
        integral += count; /* until the next cycle */
    }
    assert_int_equal(gpump_meter_total(meter, now, 2, &total), GPUMP_OK);
    assert_int_equal(total.in_flight_cycles[GPUMP_METER_DRAM], integral);
    assert_int_equal(total.dram_latency_cycles, latency);
    assert_int_equal(total.dram_requests, done);
    assert_memory_equal(total.latencies[GPUMP_METER_DRAM], buckets, sizeof buckets);
    assert_int_equal(integral, latency);
    assert_int_equal(total.up_requests, 0);
    free(meter);
}

/* Bytes from outside: a window that begins later than now, and a reserved field. */
static void a_check_refuses_contradictions(void **state) {
    const gpump_meter_config config = preset();
    gpump_meter *meter = make(&config);
    gpump_diag diag;
    (void)state;
    assert_int_equal(gpump_check(&gpump_meter_component, meter, &diag), GPUMP_OK);
    meter->now = 40;
    meter->window_start = 41;
    assert_int_equal(gpump_check(&gpump_meter_component, meter, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "now");
    assert_true(diag.value == 40 && diag.minimum == 41 && diag.maximum == GPUMP_UNKNOWN - 1);
    meter->window_start = meter->now;
    meter->unused = 3;
    assert_int_equal(gpump_check(&gpump_meter_component, meter, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "unused");
    assert_true(diag.value == 3 && diag.minimum == 0 && diag.maximum == 0);
    free(meter);
}

/* Two traffics added: every field is the sum but the cycles, which are the longer time, and nothing behind is touched.
 */
static void every_field_is_added(void **state) {
    uint64_t *sum = (uint64_t *)malloc(sizeof(gpump_traffic) + 8), *more = (uint64_t *)malloc(sizeof(gpump_traffic));
    const size_t fields = sizeof(gpump_traffic) / 8;
    (void)state;
    for (size_t i = 0; i < fields; i++) sum[i] = 1000 + i, more[i] = 7 * i + 1;
    sum[fields] = 77;
    gpump_traffic_add((gpump_traffic *)(void *)sum, (const gpump_traffic *)(const void *)more);
    assert_int_equal(sum[0], 1000);
    for (size_t i = 1; i < fields; i++) assert_int_equal(sum[i], 1000 + i + 7 * i + 1);
    assert_int_equal(sum[fields], 77);
    free(sum);
    free(more);
}

/* part / (cycles x units of 10^-6), Q16.16, each division rounded down, as long as the products have 64 bits. */
static uint32_t share_of(uint64_t part, uint64_t cycles, uint64_t micro_units) {
    const uint64_t share = part * 65536000 / cycles * 1000 / micro_units;
    return share > UINT32_MAX ? UINT32_MAX : (uint32_t)share;
}

/* The six utilisations of random traffic on random machines, recomputed; what is not of a unit does not count. */
static void utilisations_are_the_formulas_of_any_traffic(void **state) {
    uint64_t seed = test_seed(), random = seed, number, cases = test_cases(20000);
    (void)state;
    for (number = 0; number < cases; number++) {
        gpump_meter_config c = preset();
        gpump_traffic t;
        gpump_utilisation u;
        uint64_t *fields = &t.cycles, network, sustained;
        c.sms = 1 + gpump_random_below(&random, 200);
        c.schedulers = 1 + gpump_random_below(&random, 8);
        c.clock_khz = 100000 + gpump_random_below(&random, 3000000);
        c.network_khz = 100000 + gpump_random_below(&random, 3000000);
        c.network_ports = 1 + gpump_random_below(&random, 200);
        c.sustainable_permille = 1 + gpump_random_below(&random, 1000);
        c.l1_hit_cycles = 1 + gpump_random_below(&random, 9);
        c.l2_banks = 1 + gpump_random_below(&random, 100);
        c.l2_hit_cycles = 1 + gpump_random_below(&random, 9);
        c.memory_mb_per_s = 1 + gpump_random_below(&random, 4000000);
        for (uint32_t i = 0; i < sizeof t / 8; i++) fields[i] = 1 + gpump_random_below(&random, 1000000000);
        if (number % 2) t.cycles = 100000 + gpump_random_below(&random, 1000);
        test_check(gpump_meter_utilisation(&c, &t, &u, NULL) == GPUMP_OK, seed, number);
        network = UINT64_C(1000000) * c.network_khz / c.clock_khz;
        sustained = network * c.network_ports * c.sustainable_permille / 1000;
        test_check(u.scheduler_q16 == share_of(t.issued, t.cycles, UINT64_C(1000000) * c.sms * c.schedulers) &&
                       u.l1_q16 == share_of((t.l1_load_hits + t.l1_store_hits) * c.l1_hit_cycles, t.cycles,
                                            UINT64_C(1000000) * c.sms),
                   seed, number);
        test_check(u.up_q16 == share_of(t.flits_up, t.cycles, sustained) &&
                       u.down_q16 == share_of(t.flits_down, t.cycles, sustained),
                   seed, number);
        test_check(u.l2_q16 == share_of((t.l2_load_hits + t.l2_store_hits + t.l2_atomic_hits) * c.l2_hit_cycles,
                                        t.cycles, network * c.l2_banks),
                   seed, number);
        test_check(u.dram_q16 == share_of(t.dram_read_bytes + t.dram_written_bytes, t.cycles,
                                          UINT64_C(1000000000) * c.memory_mb_per_s / c.clock_khz),
                   seed, number);
    }
}

/* Any word of a meter that is part of its state is part of its hash. */
static void the_hash_sees_every_word(void **state) {
    const gpump_meter_config config = preset();
    gpump_meter *meter = make(&config);
    uint32_t *words = (uint32_t *)(void *)&meter->config;
    size_t bytes, i;
    uint64_t before;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_meter_component, &config, &bytes, NULL), GPUMP_OK);
    for (i = 1; i < (bytes - offsetof(gpump_meter, config)) / 4; i++) { /* config.kernels, the first, is the length */
        before = gpump_hash(&gpump_meter_component, meter);
        words[i] ^= 1u;
        assert_true(gpump_hash(&gpump_meter_component, meter) != before);
    }
    before = gpump_hash(&gpump_meter_component, meter);
    meter->now += 5;
    assert_true(gpump_hash(&gpump_meter_component, meter) != before);
    before = gpump_hash(&gpump_meter_component, meter);
    meter->window_start += 5;
    assert_true(gpump_hash(&gpump_meter_component, meter) != before);
    free(meter);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(utilisations_are_the_formulas_of_any_traffic),
                                       cmocka_unit_test(the_hash_sees_every_word),
                                       cmocka_unit_test(every_field_is_added),
                                       cmocka_unit_test(presets_of_the_meter_are_their_machines),
                                       cmocka_unit_test(wrong_configurations),
                                       cmocka_unit_test(utilisations_are_those_computed_by_hand),
                                       cmocka_unit_test(the_hash_sees_every_kernel),
                                       cmocka_unit_test(a_check_refuses_contradictions),
                                       cmocka_unit_test(a_window_is_the_difference_of_two_readings),
                                       cmocka_unit_test(hops_are_counted_as_the_list_of_requests_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
