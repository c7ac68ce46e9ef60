/* labels: unit golden */
#include "test.h"

#include <math.h>

/* ---- rows of bench/data/NAME.csv, and the same file under ../shared/data when that stands beside the project ---- */
typedef struct table {
    char *text;
    char *next;
    char *cell[16];
    int cells;
} table;

static char *read_whole(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text;
    long bytes;
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    bytes = ftell(file);
    rewind(file);
    text = malloc((size_t)bytes + 1);
    assert_int_equal(fread(text, 1, (size_t)bytes, file), (size_t)bytes);
    text[bytes] = 0;
    fclose(file);
    return text;
}
static table table_open(const char *name) {
    table t;
    char path[1024];
    char *other;
    snprintf(path, sizeof path, "%s/bench/data/%s", GPUMP_SOURCE_DIR, name);
    t.text = read_whole(path);
    assert_non_null(t.text);
    snprintf(path, sizeof path, "%s/../shared/data/%s", GPUMP_SOURCE_DIR, name);
    other = read_whole(path);
    if (other) assert_string_equal(t.text, other);
    free(other);
    t.next = t.text;
    t.cells = 0;
    return t;
}
/* Next data row: comments and the column line are skipped. */
static int table_row(table *t) {
    for (;;) {
        char *line = t->next, *end;
        int first = line == t->text;
        if (!*line) return 0;
        end = strchr(line, '\n');
        t->next = end ? end + 1 : line + strlen(line);
        if (end) *end = 0;
        if (*line == '#' || !*line) continue;
        (void)first;
        t->cells = 0;
        for (char *cell = line; cell && t->cells < 16; t->cells++) {
            t->cell[t->cells] = cell;
            cell = strchr(cell, ',');
            if (cell) *cell++ = 0;
        }
        if (!strcmp(t->cell[0], "label") || !strcmp(t->cell[0], "benchmark") || !strcmp(t->cell[0], "bench")) continue;
        return 1;
    }
}
static uint32_t number(const table *t, int cell) { return (uint32_t)strtoul(t->cell[cell], NULL, 10); }

static gpump_gpu preset(const char *name) {
    gpump_gpu gpu;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, name, NULL), GPUMP_OK);
    return gpu;
}

/* L.occupancy: blocks of every row, and the limiting resources; BP_2 and CFD_1 are labelled otherwise in the paper. */
static void occupancy_is_that_of_lins_table(void **state) {
    gpump_gpu gpu = preset("gtx480_lin");
    table t = table_open("lin_table_2_2.csv");
    int rows = 0, labels_differ = 0;
    (void)state;
    while (table_row(&t)) {
        gpump_footprint need;
        gpump_occupancy occupancy;
        uint32_t printed = 0;
        need.threads = number(&t, 3) * 32;
        need.registers = number(&t, 5) * need.threads;
        need.shared_bytes = number(&t, 6);
        assert_int_equal(gpump_gpu_occupancy(&gpu, &need, &occupancy, NULL), GPUMP_OK);
        assert_int_equal(occupancy.blocks, number(&t, 4));
        if (strstr(t.cell[7], "warp")) printed |= GPUMP_RESOURCE_WARP_SLOTS | GPUMP_RESOURCE_THREAD_SLOTS;
        if (strstr(t.cell[7], "reg")) printed |= GPUMP_RESOURCE_REGISTERS;
        if (strstr(t.cell[7], "smem")) printed |= GPUMP_RESOURCE_SHARED_MEMORY;
        if (strstr(t.cell[7], "TB")) printed |= GPUMP_RESOURCE_BLOCK_SLOTS;
        if (printed != occupancy.limits) {
            assert_true(!strcmp(t.cell[0], "BP_2") || !strcmp(t.cell[0], "CFD_1"));
            labels_differ++;
        }
        rows++;
    }
    assert_int_equal(rows, 23);
    assert_int_equal(labels_differ, 2);
    free(t.text);
}

/* The occupancy of the 19 kernels of Shieh's Table 4.2 is the printed one. */
static void occupancy_is_that_of_shiehs_table(void **state) {
    gpump_gpu gpu = preset("gtx480_shieh");
    table t = table_open("shieh_table_4_2.csv");
    int rows = 0;
    (void)state;
    while (table_row(&t)) {
        gpump_footprint need;
        gpump_occupancy occupancy;
        need.registers = number(&t, 2);
        need.shared_bytes = number(&t, 3);
        need.threads = number(&t, 4);
        assert_int_equal(gpump_gpu_occupancy(&gpu, &need, &occupancy, NULL), GPUMP_OK);
        assert_int_equal(occupancy.blocks, number(&t, 5));
        rows++;
    }
    assert_int_equal(rows, 19);
    free(t.text);
}

/* T.occupancy, T.resource, T.save. Thread counts are not printed: one warp stands in, so that threads never limit. */
static void occupancy_and_save_times_are_those_of_tanasics_table(void **state) {
    gpump_gpu gpu = preset("k20c");
    table t = table_open("tanasic_table_5_2.csv");
    int rows = 0, equal = 0;
    (void)state;
    while (table_row(&t)) {
        gpump_footprint need;
        gpump_occupancy occupancy;
        uint32_t printed = number(&t, 9);
        uint64_t bytes, ps;
        double percent, save_us = atof(t.cell[11]);
        need.threads = 32;
        need.shared_bytes = number(&t, 7);
        need.registers = number(&t, 8);
        assert_int_equal(gpump_gpu_occupancy(&gpu, &need, &occupancy, NULL), GPUMP_OK);
        assert_true(occupancy.blocks >= printed); /* threads may have limited it further */
        if (occupancy.blocks == printed) equal++;
        bytes = printed * gpump_gpu_context_bytes(&gpu, &need);
        percent = 100.0 * (double)bytes / (double)((256 + 48) * 1024);
        /* scaninter1 and scaninter2 compute 27.53 and are printed as 27.54 */
        assert_true(fabs(percent - atof(t.cell[10])) < (strncmp(t.cell[2], "scaninter", 9) ? 0.00501 : 0.0101));
        ps = gpump_gpu_save_ps(&gpu, bytes);
        assert_true(fabs((double)ps / 1e6 - save_us) < 0.01);
        /* cycles agree with picoseconds to the cycle */
        assert_true(gpump_gpu_save_cycles(&gpu, bytes) == gpump_muldiv_up(bytes, UINT64_C(13) * 706000, 208000000));
        rows++;
    }
    assert_int_equal(rows, 24);
    assert_true(equal >= 12);
    free(t.text);
}

/* The context of BP1 has the bytes that Lin's paper prints for a warp and for a block. */
static void lin_context_of_bp1(void **state) {
    gpump_gpu gpu = preset("gtx480_lin");
    gpump_footprint warp = {32, 13 * 32, 0}, block = {256, 13 * 256, 1128};
    (void)state;
    assert_int_equal(gpump_gpu_context_bytes(&gpu, &warp), 1664);
    assert_int_equal(gpump_gpu_context_bytes(&gpu, &block), 14440);
}

/* AMD's save areas of four GPUs, as the driver prints them. */
static void queue_save_area(void **state) {
    gpump_gpu_cwsr area;
    gpump_diag diag;
    (void)state;
    assert_int_equal(gpump_gpu_cwsr_area(1012, 20, 1, 0, 0, &area, NULL), GPUMP_OK);
    assert_int_equal(area.save_area_bytes, 0x6a6000);
    assert_int_equal(area.total_bytes, 0x6ab000);
    assert_int_equal(gpump_gpu_cwsr_area(1100, 96, 1, 0, 0, &area, NULL), GPUMP_OK);
    assert_int_equal(area.control_stack_bytes, 40960);
    assert_int_equal(area.workgroup_bytes, 46006272);
    assert_int_equal(area.save_area_bytes, 46047232);
    assert_int_equal(area.debugger_bytes, 98304);
    assert_int_equal(gpump_gpu_cwsr_area(900, 64, 1, 4, 1, &area, NULL),
                     GPUMP_OK); /* 2048 waves by arrays, 2560 by CUs */
    assert_int_equal(area.debugger_bytes, 32 * 2048);
    assert_int_equal(gpump_gpu_cwsr_area(900, 64, 1, 4, 0, &area, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "arrays_per_engine");
    assert_int_equal(gpump_gpu_cwsr_area(1100, 0, 1, 0, 0, &area, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "compute_units");
    assert_int_equal(gpump_gpu_cwsr_area(1100, 96, 0, 0, 0, &area, NULL), GPUMP_ERROR_ARGUMENT);
}

/* Each GPU preset passes its own check, and each of its fields has a provenance with a source. */
static void every_preset_is_whole(void **state) {
    static const char *const fields[] = {"sms",
                                         "clock_khz",
                                         "lanes",
                                         "schedulers",
                                         "block_slots",
                                         "warp_slots",
                                         "thread_slots",
                                         "registers",
                                         "register_granule",
                                         "shared_granule_bytes",
                                         "shared_option_count",
                                         "shared_bytes",
                                         "memory_mb_per_s"};
    uint32_t presets = 0;
    gpump_gpu gpu;
    gpump_provenance provenance;
    const char *source;
    (void)state;
    for (const char *name; (name = gpump_gpu_preset_name(presets)) != NULL; presets++) {
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, name, NULL), GPUMP_OK);
        assert_int_equal(gpump_check(&gpump_gpu_component, &gpu, NULL), GPUMP_OK);
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            assert_int_equal(gpump_gpu_provenance(name, fields[i], &provenance, &source), GPUMP_OK);
            assert_int_equal(strcmp(source, "assumed") == 0, provenance == GPUMP_PROVENANCE_ASSUMED);
            assert_true(strlen(source) > 0);
        }
    }
    assert_int_equal(presets, 23);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx481", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_gpu_component, NULL, "k20c", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_gpu_provenance("k20c", "colour", &provenance, &source), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_gpu_provenance("k20c", NULL, &provenance, &source), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_gpu_provenance("k20c", "lanes", NULL, &source), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_gpu_provenance("k20c", "lanes", &provenance, NULL), GPUMP_OK); /* the source is not asked */
    assert_int_equal(gpump_gpu_provenance("k20c", "lanes", &provenance, &source), GPUMP_OK);
    assert_int_equal(provenance, GPUMP_PROVENANCE_ASSUMED); /* Tanasic's Table 5.1 does not print the warp size */
}

/* Shared memory takes the smallest option that fits; registers and bytes are rounded to their granules. */
static void allocation_is_in_granules(void **state) {
    gpump_gpu gpu = preset("k20c");
    gpump_footprint need = {100, 1000, 20000};
    gpump_occupancy occupancy;
    gpump_diag diag;
    (void)state;
    assert_int_equal(gpump_gpu_occupancy(&gpu, &need, &occupancy, NULL), GPUMP_OK);
    assert_int_equal(occupancy.shared_bytes, 32768); /* 16 KB is too small for one block, 32 KB is not */
    assert_int_equal(occupancy.blocks, 1);
    assert_int_equal(occupancy.limits, GPUMP_RESOURCE_SHARED_MEMORY);
    assert_int_equal(occupancy.warps, 4);
    gpu.register_granule = 256;
    gpu.shared_granule_bytes = 256;
    need.shared_bytes = 1;
    assert_int_equal(gpump_gpu_occupancy(&gpu, &need, &occupancy, NULL), GPUMP_OK);
    assert_int_equal(occupancy.registers, 1024);
    assert_int_equal(occupancy.block_shared_bytes, 256);
    assert_int_equal(gpump_gpu_context_bytes(&gpu, &need), 4096 + 256);
    need.shared_bytes = 60000; /* never fits: an answer, not an error */
    assert_int_equal(gpump_gpu_occupancy(&gpu, &need, &occupancy, NULL), GPUMP_OK);
    assert_int_equal(occupancy.blocks, 0);
    assert_int_equal(occupancy.limits, GPUMP_RESOURCE_SHARED_MEMORY);
    need.threads = 0;
    assert_int_equal(gpump_gpu_occupancy(&gpu, &need, &occupancy, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "threads");
    gpu.lanes = 65;
    assert_int_equal(gpump_gpu_occupancy(&gpu, &need, &occupancy, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "lanes");
    gpu = preset("k20c");
    gpu.shared_bytes[1] = gpu.shared_bytes[0];
    assert_int_equal(gpump_check(&gpump_gpu_component, &gpu, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "shared_bytes");
    assert_int_equal(diag.index, 1);
    gpu = preset("k20c");
    memset(&gpu, 0, sizeof gpu);
    assert_int_equal(gpump_check(&gpump_gpu_component, &gpu, &diag), GPUMP_ERROR_CONFIG);
}

/* Cycles are rounded up, and the largest number of bytes does not overflow. */
static void times_round_up(void **state) {
    gpump_gpu gpu = preset("gtx480_lin");
    (void)state;
    assert_int_equal(gpump_gpu_cycles_from_ns(&gpu, 1000), 700);
    assert_int_equal(gpump_gpu_cycles_from_ns(&gpu, 1), 1);
    assert_int_equal(gpump_gpu_save_cycles(&gpu, 0), 0);
    assert_int_equal(gpump_gpu_save_cycles(&gpu, 1), 1);
    assert_true(gpump_gpu_save_cycles(&gpu, UINT64_MAX) > UINT64_MAX / 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(occupancy_is_that_of_lins_table),
        cmocka_unit_test(occupancy_is_that_of_shiehs_table),
        cmocka_unit_test(occupancy_and_save_times_are_those_of_tanasics_table),
        cmocka_unit_test(lin_context_of_bp1),
        cmocka_unit_test(queue_save_area),
        cmocka_unit_test(every_preset_is_whole),
        cmocka_unit_test(allocation_is_in_granules),
        cmocka_unit_test(times_round_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
