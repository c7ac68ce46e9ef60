/* labels: unit */
/* The verbs that all components share: what they refuse before they ask the component, and that each component of the
 * library fills its constant in. */
#include "diagnosed.h"

#define ROW(name) \
    { #name, &gpump_##name##_component, sizeof(gpump_##name##_config) }
static const struct row {
    const char *name;
    const gpump_component *component;
    size_t config_bytes;
} rows[] = {
    ROW(context_pool),
    ROW(preempted),
    ROW(spill),
    ROW(read_set),
    ROW(sm),
    ROW(meter),
    ROW(tlb),
    ROW(replay),
    ROW(restart),
    ROW(fault),
    ROW(block_switch),
    ROW(rate),
    ROW(sharing),
    ROW(duet),
    ROW(scheduler),
    ROW(victim),
    ROW(partition),
    ROW(regions),
    ROW(registers),
    ROW(page_checks),
    ROW(preempt_points),
    {"gpu", &gpump_gpu_component, sizeof(gpump_gpu)},
};
enum { ROWS = sizeof rows / sizeof *rows };

static uint64_t memory[1 << 14], before[1 << 14];

/* A component's table of methods has its name, its layout, a magic number of its own, and words for each statistic. */
static void every_constant_is_filled_in(void **state) {
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        const gpumpi_methods *methods = rows[i].component->methods();
        assert_string_equal(methods->name, rows[i].name);
        assert_int_equal(methods->layout, rows[i].component->layout);
        assert_int_equal(methods->config_bytes, rows[i].config_bytes);
        assert_int_equal(!methods->bytes, !methods->magic);
        assert_int_equal(!methods->hash, !methods->magic);
        assert_int_equal(!methods->check, !methods->magic); /* bytes from outside can be checked */
        assert_int_equal(!methods->statistics, !methods->statistics_count);
        for (uint32_t j = 0; j < i; j++)
            assert_true(!methods->magic || methods->magic != rows[j].component->methods()->magic);
        for (uint32_t k = 0; k < methods->statistics_count; k++)
            for (uint32_t word = 0; methods->statistics[k][0] && word < 3; word++)
                assert_true(strlen(methods->statistics[k][word]) > 1);
    }
}

/* A host of another layout: nothing is written, and the sentence names both versions. */
static void another_layout_is_refused(void **state) {
    gpump_component host = gpump_sm_component;
    gpump_sm_config config, same;
    gpump_sm *sm = NULL;
    gpump_diag diag;
    char text[200], numbers[60];
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "k20c", NULL), GPUMP_OK);
    same = config;
    host.layout ^= 0x55;
    diagnosed(gpump_preset(&host, &config, "gtx480_lin", DIAG), GPUMP_ERROR_LAYOUT, "sm", 0, host.layout,
              GPUMP_LAYOUT_SM, GPUMP_LAYOUT_SM);
    assert_memory_equal(&config, &same, sizeof config);
    memset(memory, 0x77, sizeof memory);
    memcpy(before, memory, sizeof memory);
    assert_int_equal(gpump_init(&host, memory, sizeof memory, &config, &sm, &diag), GPUMP_ERROR_LAYOUT);
    assert_memory_equal(memory, before, sizeof memory);
    assert_null(sm);
    gpump_diag_text(&diag, text, sizeof text);
    snprintf(numbers, sizeof numbers, "layout %08x of room sm, the library %08x", host.layout, GPUMP_LAYOUT_SM);
    if (!strstr(text, numbers)) fail_msg("%s", text);
    assert_int_equal(gpump_init(&gpump_sm_component, memory, sizeof memory, &config, &sm, NULL), GPUMP_OK);
    memcpy(before, memory, sizeof memory);
    sm = NULL;
    assert_int_equal(gpump_adopt(&host, memory, sizeof memory, &config, &sm, &diag), GPUMP_ERROR_LAYOUT);
    assert_memory_equal(memory, before, sizeof memory);
    assert_null(sm);
}

/* Zeros, of a host that forgot gpump_preset, are refused, and the sentence names a field of the configuration. The
 * analyses of the program room have no check of their own: they refuse when they are called (tests/program/refusals.c).
 */
static void a_configuration_that_was_never_filled_is_refused(void **state) {
    static const uint64_t zeros[64];
    uint32_t checked = 0;
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        const gpump_component *component = rows[i].component;
        gpump_diag diag;
        char text[200];
        assert_true(rows[i].config_bytes <= sizeof zeros);
        if (!component->methods()->check_config) continue;
        checked++;
        if (gpumpi_check_config(component, zeros, &diag) != GPUMP_ERROR_CONFIG) fail_msg("%s", rows[i].name);
        gpump_diag_text(&diag, text, sizeof text);
        if (!strstr(text, " is 0, must be ")) fail_msg("%s: %s", rows[i].name, text);
    }
    assert_int_equal(checked, ROWS - 4);
}

static const gpump_gpu *gpu_of(const char *preset) {
    static gpump_gpu gpu;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, preset, NULL), GPUMP_OK);
    return &gpu;
}

/* A verb that a component does not have is refused with the component's name, and writes nothing. */
static void a_verb_that_a_component_lacks_is_refused(void **state) {
    gpump_victim_config victim;
    gpump_meter_config meter_config;
    gpump_meter *meter;
    gpump_rate_config rate_config;
    gpump_rate_statistics per_kernel[GPUMP_RATE_KERNELS];
    gpump_rate *rate;
    size_t bytes = 1;
    uint64_t counters[64];
    (void)state;
    assert_int_equal(gpump_preset(&gpump_victim_component, &victim, "k20c", NULL), GPUMP_OK);
    diagnosed(gpump_bytes(&gpump_victim_component, &victim, &bytes, DIAG), GPUMP_ERROR_STATE, "victim", 0, 0, 0, 0);
    assert_int_equal(bytes, 1);
    diagnosed(gpump_preset(&gpump_preempted_component, &victim, "k20c", DIAG), GPUMP_ERROR_STATE, "preempted", 0, 0, 0,
              0);
    diagnosed(gpump_table_bits(&gpump_gpu_component, gpu_of("k20c"), counters, DIAG), GPUMP_ERROR_STATE, "gpu", 0, 0, 0,
              0);
    diagnosed(gpump_bits(&gpump_gpu_component, gpu_of("k20c"), counters, DIAG), GPUMP_ERROR_STATE, "gpu", 0, 0, 0, 0);
    assert_int_equal(gpump_preset(&gpump_meter_component, &meter_config, "k20c", NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_meter_component, memory, sizeof memory, &meter_config, &meter, NULL), GPUMP_OK);
    assert_int_equal(gpump_get_statistics(&gpump_meter_component, meter, counters), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_check(&gpump_meter_component, meter, NULL), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_sm_component, meter, NULL), GPUMP_ERROR_FORMAT); /* not an SM */
    assert_int_equal(gpump_preset(&gpump_rate_component, &rate_config, "lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_rate_component, memory, sizeof memory, &rate_config, &rate, NULL), GPUMP_OK);
    /* The rate controller has counters, but not in one place: an entry per kernel. The meter never acts by itself. */
    assert_int_equal(gpump_get_statistics(&gpump_rate_component, rate, per_kernel), GPUMP_OK);
    assert_int_equal(per_kernel[1].instructions, 0);
    gpump_rate_report_issued(rate, 1);
    assert_int_equal(gpump_get_statistics(&gpump_rate_component, rate, per_kernel), GPUMP_OK);
    assert_int_equal(per_kernel[1].instructions, 1);
    assert_true(gpump_next_cycle(&gpump_rate_component, rate) == GPUMP_UNKNOWN);
    assert_true(gpump_next_cycle(&gpump_gpu_component, gpu_of("k20c")) == GPUMP_UNKNOWN);
    diagnosed(gpump_preset_for(&gpump_sm_component, &meter_config, "k20c", gpu_of("k20c"), DIAG), GPUMP_ERROR_STATE,
              "sm", 0, 0, 0, 0);
    diagnosed_null(gpump_preset_for(NULL, &meter_config, "k20c", gpu_of("k20c"), DIAG), "component");
}

/* A NULL argument of a verb that all components have is refused with the argument's name. */
static void null_arguments_are_named(void **state) {
    gpump_sm_config config;
    gpump_sm *sm;
    size_t bytes;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "k20c", NULL), GPUMP_OK);
    diagnosed_null(gpump_preset(NULL, &config, "k20c", DIAG), "component");
    diagnosed_null(gpump_preset(&gpump_sm_component, NULL, "k20c", DIAG), "config");
    diagnosed_null(gpump_preset(&gpump_sm_component, &config, NULL, DIAG), "preset");
    diagnosed(gpump_preset(&gpump_sm_component, &config, "k21c", DIAG), GPUMP_ERROR_UNKNOWN_NAME, "preset", 0, 0, 0, 0);
    diagnosed_null(gpump_bytes(NULL, &config, &bytes, DIAG), "component");
    diagnosed_null(gpump_bits(NULL, &config, &bits, DIAG), "component");
    diagnosed_null(gpump_table_bits(NULL, &config, &bits, DIAG), "component");
    diagnosed_null(gpump_table_bits(&gpump_sm_component, NULL, &bits, DIAG), "config");
    diagnosed_null(gpump_table_bits(&gpump_sm_component, &config, NULL, DIAG), "storage");
    diagnosed_null(gpump_init(NULL, memory, sizeof memory, &config, &sm, DIAG), "component");
    diagnosed_null(gpump_adopt(NULL, memory, sizeof memory, &config, &sm, DIAG), "component");
    diagnosed_null(gpump_check(NULL, memory, DIAG), "component");
    diagnosed_null(gpump_check(&gpump_sm_component, NULL, DIAG), "sm");
    assert_int_equal(gpump_get_statistics(NULL, memory, before), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_statistics_field(NULL, before, 0, NULL, NULL, NULL, NULL), GPUMP_ERROR_ARGUMENT);
}

/* The meter's counters are a gpump_traffic, whose arrays count, too, though they have no names. */
static void traffic_is_subtracted_whole(void **state) {
    gpump_traffic earlier, later, difference;
    uint64_t *from = &earlier.cycles, *to = &later.cycles, *all = &difference.cycles;
    uint32_t named = 0;
    (void)state;
    for (uint32_t i = 0; i < sizeof earlier / 8; i++) from[i] = i, to[i] = 100 + 3 * i;
    gpump_statistics_diff(&gpump_meter_component, &earlier, &later, &difference);
    for (uint32_t i = 0; i < sizeof earlier / 8; i++) assert_int_equal(all[i], 100 + 2 * i);
    while (gpump_statistics_field(&gpump_meter_component, &later, named, NULL, NULL, NULL, NULL) == GPUMP_OK) named++;
    assert_int_equal(named, offsetof(gpump_traffic, in_flight_cycles) / 8);
}

/* The sum is that of the tables, but for what the papers do not count. */
static void bits_are_the_sum_of_tables(void **state) {
    gpump_duet_storage duet;
    gpump_duet_config config;
    uint64_t tables[64], bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_duet_component, &config, "maxwell_duet", NULL), GPUMP_OK);
    assert_int_equal(gpump_table_bits(&gpump_duet_component, &config, &duet, NULL), GPUMP_OK);
    assert_int_equal(gpump_bits(&gpump_duet_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, duet.bitmap_bits + duet.warp_table_bits + duet.block_table_bits + duet.warp_queues_bits +
                               duet.block_queues_bits);
    for (uint32_t i = 0; i < ROWS; i++) { /* no component writes more than gpump_bits has room for */
        uint64_t one[64];
        if (!rows[i].component->methods()->tables) continue;
        memset(one, 0, sizeof one);
        assert_int_equal(gpump_preset(rows[i].component, one,
                                      i == 13                                         ? "maxwell_duet"
                                      : rows[i].component == &gpump_restart_component ? "igpu"
                                      : i == 11                                       ? "lin"
                                                                                      : "k20c",
                                      NULL),
                         GPUMP_OK);
        memset(tables, 0x5a, sizeof tables);
        assert_int_equal(gpump_table_bits(rows[i].component, one, tables, NULL), GPUMP_OK);
        assert_true(tables[8] == UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
}

/* Two objects whose configurations differ in one number are two objects: their hashes differ. */
static void every_number_of_a_configuration_counts_in_the_hash(void **state) {
    static const char *const presets[] = {"default", "k20c", "gtx480_lin", "table61", "maxwell_duet",
                                          "log8",    "lin",  "igpu",       "nvlink",  "table61_l1"};
    static uint64_t room[1 << 7];
    uint32_t *config = (uint32_t *)(void *)room, hashed = 0;
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        const gpump_component *component = rows[i].component;
        uint32_t preset = 0, numbers = 0, taken = 0, made = 0;
        uint64_t whole;
        void *object;
        if (!component->methods()->hash) continue;
        assert_true(rows[i].config_bytes <= sizeof room);
        while (preset < 10 && gpump_preset(component, config, presets[preset], NULL) != GPUMP_OK) preset++;
        if (preset == 10) continue;
        for (uint32_t fill = 1; fill <= 64 && !made; fill *= 2) { /* what the host is to say */
            gpump_preset(component, config, presets[preset], NULL);
            for (uint32_t word = 1; word < rows[i].config_bytes / 4 && !made; word++) {
                if (!config[word]) config[word] = fill;
                made = gpump_init(component, memory, sizeof memory, config, &object, NULL) == GPUMP_OK;
            }
        }
        if (!made) continue; /* it needs numbers that fit together: tests of its room */
        whole = gpump_hash(component, object);
        for (uint32_t word = 0; word < rows[i].config_bytes / 4; word++)
            for (uint32_t change = 0; change < 3; change++) {
                const uint32_t was = config[word];
                config[word] = change == 0 ? was + 1 : change == 1 ? was - 1 : was * 2;
                numbers++;
                if (config[word] != was && !gpump_init(component, memory, sizeof memory, config, &object, NULL)) {
                    taken++;
                    if (gpump_hash(component, object) == whole)
                        fail_msg("%s: word %u of the configuration is not in the hash", rows[i].name, word);
                }
                config[word] = was;
            }
        print_message("%s: %u of %u changes taken\n", rows[i].name, taken, numbers);
        hashed += taken > 0;
    }
    assert_true(hashed >= 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_constant_is_filled_in),
        cmocka_unit_test(another_layout_is_refused),
        cmocka_unit_test(a_configuration_that_was_never_filled_is_refused),
        cmocka_unit_test(a_verb_that_a_component_lacks_is_refused),
        cmocka_unit_test(traffic_is_subtracted_whole),
        cmocka_unit_test(bits_are_the_sum_of_tables),
        cmocka_unit_test(null_arguments_are_named),
        cmocka_unit_test(every_number_of_a_configuration_counts_in_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
