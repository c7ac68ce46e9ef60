/* labels: unit link: minigpu_core */
/* The meter of an SM for a list of many kernels takes memory for the kernels alone that are reported to it, and is in
 * all else the meter that gpump_init makes. */
#define _GNU_SOURCE
#include "test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "launch/config.h"
#include "memory/memory.h"

#define KERNELS 3000u

/* Returns how many pages of a meter have memory. */
static size_t resident(const gpump_meter *meter, size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)meter / page * page;
    const size_t pages = ((uintptr_t)meter + bytes - first + page - 1) / page;
    unsigned char *in_memory = (unsigned char *)malloc(pages);
    size_t i, count = 0;
    assert_non_null(in_memory);
    assert_int_equal(mincore((void *)first, pages * page, in_memory), 0);
    for (i = 0; i < pages; i++) count += in_memory[i] & 1;
    free(in_memory);
    return count;
}

/* 3,000 kernels of which an SM has a block of one take a few pages, and the meter has the bytes of one made by
 * gpump_init. */
static void a_meter_of_many_kernels_takes_memory_for_those_reported(void **state) {
    minigpu_config config;
    gpump_meter *meter, *other;
    gpump_traffic traffic;
    size_t bytes, before;
    arena a;
    void *part;
    (void)state;
    assert_int_equal(minigpu_config_preset(&config, "v100"), 0);
    assert_int_equal(arena_open(&a, (size_t)64 << 20), 0);
    assert_non_null(meter = memory_make_meter(&a, &config, 1, KERNELS));
    assert_int_equal(gpump_bytes(&gpump_meter_component, &meter->config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes > KERNELS * 2 * sizeof(gpump_traffic));
    before = resident(meter, bytes);
    if (before > 4) fail_msg("%zu pages of %zu bytes are written", before, bytes);
    assert_non_null(part = malloc(bytes));
    assert_int_equal(gpump_init(&gpump_meter_component, part, bytes, &meter->config, &other, NULL), GPUMP_OK);
    assert_memory_equal(meter, other, bytes);
    assert_int_equal(gpump_check(&gpump_meter_component, meter, NULL), GPUMP_OK);
    free(part);
    arena_close(&a);

    assert_int_equal(arena_open(&a, (size_t)64 << 20), 0); /* reading has touched the pages of the first one */
    assert_non_null(meter = memory_make_meter(&a, &config, 1, KERNELS));
    gpump_meter_report_issued(meter, KERNELS / 2, 7);
    gpump_meter_report_enter(meter, 3, KERNELS / 2, GPUMP_METER_UP);
    gpump_meter_report_leave(meter, 9, KERNELS / 2, GPUMP_METER_UP, 3);
    before = resident(meter, bytes);
    if (before > 8) fail_msg("%zu pages are written for one kernel", before);
    assert_int_equal(gpump_meter_total(meter, 10, KERNELS / 2, &traffic), GPUMP_OK);
    assert_int_equal(traffic.issued, 7);
    assert_int_equal(traffic.up_requests, 1);
    assert_int_equal(traffic.up_latency_cycles, 6);
    assert_int_equal(gpump_meter_total(meter, 10, KERNELS / 2 + 1, &traffic), GPUMP_OK);
    assert_int_equal(traffic.issued, 0);
    arena_close(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_meter_of_many_kernels_takes_memory_for_those_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
