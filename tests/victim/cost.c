/* labels: unit property */
/* Cost estimates (Shieh 3.3.2): each formula by hand, the choice of the CPI source, what is unknown, the ring of
 * finished blocks. */
#include "victim/estimate.h"

static gpump_gpu fermi(void) {
    gpump_gpu gpu;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    return gpu;
}

static gpump_block_view block(uint32_t kernel, uint64_t executed, uint64_t cycles, uint64_t bytes) {
    gpump_block_view view;
    memset(&view, 0, sizeof view);
    view.kernel = kernel;
    view.executed = executed;
    view.cycles = cycles;
    view.context_bytes = bytes;
    view.state = GPUMP_BLOCK_RUNNING;
    return view;
}

/* Flush, switch and drain of two blocks, each formula by hand. */
static void estimates_by_hand(void **state) {
    gpump_gpu gpu = fermi();
    gpump_cost_history histories[2];
    gpump_block_view blocks[2];
    gpump_cost_rewind rewind[2] = {{2048, 30}, {0, 0}};
    gpump_cost_estimate e[2];
    (void)state;
    memset(histories, 0, sizeof histories);
    gpump_cost_history_record(&histories[1], 1000, 4000); /* CPI 4 */
    gpump_cost_history_record(&histories[1], 1100, 4400); /* CPI 4: no deviation */
    blocks[0] = block(1, 300, 900, 18432);                /* CPI 3 */
    blocks[1] = block(1, 500, 2500, 18432);               /* CPI 5: deviates, so finished blocks are believed */
    assert_int_equal(gpumpi_cost_cpi_source(&histories[1], blocks, 2, 1), GPUMP_COST_CPI_FINISHED);
    assert_int_equal(estimate_blocks(&gpu, histories, 2, blocks, 2, rewind, NULL, e, NULL), GPUMP_OK);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_FLUSH], 0);
    assert_int_equal(e[0].overhead[GPUMP_TECHNIQUE_FLUSH], 300);
    /* 18432 B at 177.4 GB/s / 15 at 1.4 GHz: 2181.96 cycles. */
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_SWITCH], 2182);
    /* IPC of a block here: 800 / 3400; twice 2182 cycles: 1026.8, rounded up. */
    assert_in_range(e[0].overhead[GPUMP_TECHNIQUE_SWITCH], 1027, 1028);
    assert_int_equal(e[1].overhead[GPUMP_TECHNIQUE_SWITCH], e[0].overhead[GPUMP_TECHNIQUE_SWITCH]);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], (1050 - 300) * 4);
    assert_int_equal(e[1].latency[GPUMP_TECHNIQUE_DRAIN], (1050 - 500) * 4);
    assert_int_equal(e[0].overhead[GPUMP_TECHNIQUE_DRAIN], 0);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_REWIND], gpump_gpu_save_cycles(&gpu, 2048));
    assert_in_range(e[0].overhead[GPUMP_TECHNIQUE_REWIND], 30 + 114, 30 + 116); /* 243 cycles twice at 800 / 3400 */
    /* A block past the mean has nothing left to do, as far as this estimate can see. */
    blocks[1].executed = 2000;
    estimate_blocks(&gpu, histories, 2, blocks, 2, NULL, NULL, e, NULL);
    assert_int_equal(e[1].latency[GPUMP_TECHNIQUE_DRAIN], 0);
    assert_true(e[1].latency[GPUMP_TECHNIQUE_REWIND] == GPUMP_UNKNOWN);
}

/* A context as large as can be said takes forever, in the first block as in the second. */
static void the_largest_context_takes_forever(void **state) {
    gpump_gpu gpu = fermi();
    gpump_block_view blocks[2];
    gpump_cost_estimate e[2];
    uint32_t first;
    (void)state;
    for (first = 0; first < 2; first++) {
        blocks[first] = block(1, 300, 900, UINT64_MAX);
        blocks[!first] = block(1, 300, 900, 18432);
        assert_int_equal(estimate_blocks(&gpu, NULL, 0, blocks, 2, NULL, NULL, e, NULL), GPUMP_OK);
        assert_true(e[first].latency[GPUMP_TECHNIQUE_SWITCH] > UINT64_C(1) << 60);
        assert_int_equal(e[!first].latency[GPUMP_TECHNIQUE_SWITCH], 2182);
    }
}

/* A function that is launched again starts with its history, although its launch has a new number. */
static void a_launch_is_not_its_function(void **state) {
    gpump_gpu gpu = fermi();
    gpump_cost_history histories[3];
    gpump_block_view blocks[2];
    gpump_cost_estimate e[2];
    (void)state;
    memset(histories, 0, sizeof histories);
    gpump_cost_history_record(&histories[2], 1000, 4000);
    gpump_cost_history_record(&histories[2], 1000, 4000);
    blocks[0] = block(7, 300, 1200, 18432);
    blocks[1] = block(8, 100, 400, 18432);
    blocks[0].function = blocks[1].function = 2; /* two launches of it, on one SM */
    assert_int_equal(estimate_blocks(&gpu, histories, 3, blocks, 2, NULL, NULL, e, NULL), GPUMP_OK);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], 700 * 4);
    assert_int_equal(e[1].latency[GPUMP_TECHNIQUE_DRAIN], 900 * 4);
    assert_int_equal(gpumpi_cost_cpi_source(&histories[2], blocks, 2, 2), GPUMP_COST_CPI_RUNNING); /* a tie of both */
    blocks[0].function = blocks[1].function = 0; /* nothing is known of numbers 7 and 8 */
    assert_int_equal(estimate_blocks(&gpu, histories, 3, blocks, 2, NULL, NULL, e, NULL), GPUMP_OK);
    assert_true(e[0].latency[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN);
}

/* Without finished blocks nobody knows the length; running ones give the CPI, or finished ones. */
static void the_cpi_source_decides_what_is_known(void **state) {
    gpump_gpu gpu = fermi();
    gpump_cost_history histories[2];
    gpump_block_view blocks[2];
    gpump_cost_estimate e[2];
    gpump_cost_options options = {GPUMP_COST_CPI_RUNNING, 0, 0};
    (void)state;
    memset(histories, 0, sizeof histories);
    blocks[0] = block(1, 100, 300, 1000);
    blocks[1] = block(1, 200, 600, 1000);
    /* Nothing finished: how long a block is nobody knows. */
    assert_int_equal(gpumpi_cost_cpi_source(&histories[1], blocks, 2, 1), GPUMP_COST_CPI_RUNNING);
    estimate_blocks(&gpu, histories, 2, blocks, 2, NULL, NULL, e, NULL);
    assert_true(e[0].latency[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN);
    estimate_blocks(&gpu, NULL, 0, blocks, 2, NULL, NULL, e, NULL);
    assert_true(e[0].latency[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN);
    /* One finished and two running: only the running ones have a deviation. */
    gpump_cost_history_record(&histories[1], 400, 4000);
    assert_int_equal(gpumpi_cost_cpi_source(&histories[1], blocks, 2, 1), GPUMP_COST_CPI_RUNNING);
    estimate_blocks(&gpu, histories, 2, blocks, 2, NULL, NULL, e, NULL);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], 300 * 3);
    /* One and one: neither deviation is known, so neither is the drain. Chimera takes the block's own CPI all the same.
     */
    assert_int_equal(gpumpi_cost_cpi_source(&histories[1], blocks, 1, 1), GPUMP_COST_CPI_SOURCES);
    estimate_blocks(&gpu, histories, 2, blocks, 1, NULL, NULL, e, NULL);
    assert_true(e[0].latency[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN);
    estimate_blocks(&gpu, histories, 2, blocks, 1, NULL, &options, e, NULL);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], 300 * 3);
    /* Both deviations 0: a tie means running. */
    gpump_cost_history_record(&histories[1], 200, 2000);
    assert_int_equal(gpumpi_cost_cpi_source(&histories[1], blocks, 2, 1), GPUMP_COST_CPI_RUNNING);
    /* A block that has not executed yet has no CPI, and the kernel's IPC is that of the others. */
    blocks[0] = block(1, 0, 0, 1000);
    assert_int_equal(gpumpi_cost_cpi_source(&histories[1], blocks, 2, 1), GPUMP_COST_CPI_FINISHED);
    estimate_blocks(&gpu, histories, 2, blocks, 2, NULL, NULL, e, NULL);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], 300 * 10);
    blocks[1] = block(1, 0, 0, 1000);
    estimate_blocks(&gpu, histories, 2, blocks, 2, NULL, NULL, e, NULL);
    assert_true(e[0].overhead[GPUMP_TECHNIQUE_SWITCH] == GPUMP_UNKNOWN);
    /* Kernels do not mix. */
    blocks[0] = block(1, 100, 300, 1000);
    blocks[1] = block(7, 100, 900, 1000);
    estimate_blocks(&gpu, histories, 2, blocks, 2, NULL, NULL, e, NULL);
    assert_true(e[1].latency[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], 200 * 10);
}

/* Blocks that cannot be drained in time are charged for the slots of those that can. */
static void chimera_charges_drains(void **state) {
    gpump_gpu gpu = fermi();
    gpump_cost_history histories[2];
    gpump_block_view blocks[3];
    gpump_cost_estimate e[3];
    gpump_cost_options options = {GPUMP_COST_CPI_RUNNING, GPUMP_COST_DRAIN_LOSES, 1000};
    (void)state;
    memset(histories, 0, sizeof histories);
    gpump_cost_history_record(&histories[1], 1000, 2000);
    blocks[0] = block(1, 900, 1800, 0); /* 200 cycles left */
    blocks[1] = block(1, 700, 1400, 0); /* 600: the last that can be drained in 1000 */
    blocks[2] = block(1, 100, 200, 0);  /* 1800: will not be drained */
    estimate_blocks(&gpu, histories, 2, blocks, 3, NULL, &options, e, NULL);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], 200);
    assert_int_equal(e[0].overhead[GPUMP_TECHNIQUE_DRAIN], 200); /* 400 cycles at half an instruction per cycle */
    assert_int_equal(e[1].overhead[GPUMP_TECHNIQUE_DRAIN], 0);
    assert_int_equal(e[2].overhead[GPUMP_TECHNIQUE_DRAIN], 0);
    /* Ours: a block is as long as the longest of late. */
    gpump_cost_history_record(&histories[1], 1600, 3200);
    options.flags = GPUMP_COST_DRAIN_CAREFUL;
    estimate_blocks(&gpu, histories, 2, blocks, 3, NULL, &options, e, NULL);
    assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], 1400);
}

/* Of 200 finished blocks the last 64 count, sum by sum. */
static void the_history_keeps_the_last_64(void **state) {
    gpump_cost_history ring, copy;
    uint64_t hash, random = test_seed(), lengths[200], cycles[200];
    uint32_t n, i;
    (void)state;
    memset(&ring, 0, sizeof ring);
    assert_true(gpumpi_cost_history_instructions(&ring) == GPUMP_UNKNOWN);
    gpump_cost_history_record(&ring, 0, 100); /* nothing executed: not noted */
    assert_int_equal(gpumpi_cost_history_count(&ring), 0);
    hash = gpumpi_cost_history_hash(&ring);
    for (n = 0; n < 200; n++) {
        uint64_t sum = 0, cpi = 0, steps = 0, squares = 0;
        uint32_t from = n < 63 ? 0 : n - 63;
        lengths[n] = 1 + gpump_random_below(&random, 100000);
        cycles[n] = gpump_random_next(&random) >> (24 + gpump_random_below(&random, 30));
        gpump_cost_history_record(&ring, lengths[n], cycles[n]);
        for (i = from; i <= n; i++) {
            uint64_t c = gpumpi_cost_cpi_of(lengths[i], cycles[i]), s;
            if (c > UINT32_MAX) c = UINT32_MAX;
            s = c >> 8;
            if (s > 1u << 24) s = 1u << 24;
            sum += lengths[i];
            cpi += c;
            steps += s;
            squares += s * s;
        }
        assert_int_equal(gpumpi_cost_history_count(&ring), n + 1 - from);
        assert_int_equal(ring.instructions_sum, sum);
        assert_int_equal(ring.cpi_sum, cpi);
        assert_int_equal(ring.deviation_sum, steps);
        assert_int_equal(ring.deviation_squares, squares);
        assert_int_equal(gpumpi_cost_history_instructions(&ring), (sum + n - from) / (n + 1 - from));
        copy = ring;
        assert_true(gpumpi_cost_history_hash(&copy) == gpumpi_cost_history_hash(&ring));
        assert_true(gpumpi_cost_history_hash(&ring) != hash);
        hash = gpumpi_cost_history_hash(&ring);
    }
    assert_int_equal(gpump_cost_history_bits(), 64 * 64 + 5 * 64);
}

/* CPI rounds up and agrees with wide arithmetic, whichever division it takes. */
static void cpi_agrees_with_wide_arithmetic(void **state) {
    uint64_t random = test_seed(), seed = random, number, cases = test_cases(200000);
    (void)state;
    assert_true(gpumpi_cost_cpi_of(0, 5) == GPUMP_UNKNOWN);
    for (number = 0; number < cases; number++) {
        uint64_t executed = 1 + (gpump_random_next(&random) >> (gpump_random_below(&random, 60) + 3));
        uint64_t cycles = gpump_random_next(&random) >> gpump_random_below(&random, 60);
        test_check(gpumpi_cost_cpi_of(executed, cycles) == gpump_muldiv_up(cycles, 65536, executed), seed, number);
    }
}

/* Deviations compared exactly: against a comparison in long double where the two are clearly apart. */
static void deviations_are_compared_exactly(void **state) {
    uint64_t random = test_seed(), seed = random, number, cases = test_cases(20000), decided = 0;
    (void)state;
    for (number = 0; number < cases; number++) {
        gpump_cost_history ring;
        gpump_block_view blocks[64];
        uint32_t finished = 2 + gpump_random_below(&random, 70), i;
        uint32_t running = number % 8 ? 2 + gpump_random_below(&random, 7) : 64 - gpump_random_below(&random, 2);
        uint32_t spread_f = 1 + gpump_random_below(&random, 3000), spread_r = 1 + gpump_random_below(&random, 3000);
        long double values[64], mean = 0, vf = 0, vr = 0;
        uint32_t n = finished < 64 ? finished : 64;
        memset(&ring, 0, sizeof ring);
        for (i = 0; i < finished; i++) {
            uint64_t cycles = 1000 + gpump_random_below(&random, spread_f);
            gpump_cost_history_record(&ring, 256, cycles);
            values[i % 64] = (long double)cycles / 256;
        }
        for (i = 0; i < n; i++) mean += values[i] / n;
        for (i = 0; i < n; i++) vf += (values[i] - mean) * (values[i] - mean) / (n - 1);
        for (i = 0; i < running; i++) {
            blocks[i] = block(3, 256, 1000 + gpump_random_below(&random, spread_r), 0);
            if (running > 60 && !i) blocks[i].cycles += 100000; /* the first of many decides */
            values[i] = (long double)blocks[i].cycles / 256;
        }
        for (mean = 0, i = 0; i < running; i++) mean += values[i] / running;
        for (i = 0; i < running; i++) vr += (values[i] - mean) * (values[i] - mean) / (running - 1);
        if (vf > vr * 1.0001L + 1e-6L || vr > vf * 1.0001L + 1e-6L) {
            decided++;
            test_check(gpumpi_cost_cpi_source(&ring, blocks, running, 3) ==
                           (vr < vf ? GPUMP_COST_CPI_RUNNING : GPUMP_COST_CPI_FINISHED),
                       seed, number);
        }
    }
    assert_true(decided > cases / 2);
}

/* Too many blocks, an unknown source and a missing machine are refused. */
static void wrong_questions_about_costs_are_refused(void **state) {
    gpump_gpu gpu = fermi();
    gpump_block_view blocks[65];
    gpump_cost_estimate e[65];
    gpump_cost_options options = {9, 0, 0};
    gpump_diag diag;
    (void)state;
    memset(blocks, 0, sizeof blocks);
    for (uint32_t i = 0; i < 2; i++) { /* a port that moves nothing, or takes no time */
        const gpump_port port = {i, !i, 0};
        assert_int_equal(gpump_cost_estimate_blocks(&port, NULL, 0, blocks, 1, NULL, NULL, e, &diag),
                         GPUMP_ERROR_ARGUMENT);
        assert_string_equal(diag.field, "port, blocks or estimates");
    }
    assert_int_equal(estimate_blocks(&gpu, NULL, 0, blocks, 65, NULL, NULL, e, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(estimate_blocks(&gpu, NULL, 0, blocks, 1, NULL, &options, e, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_cost_estimate_blocks(NULL, NULL, 0, blocks, 1, NULL, NULL, e, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(estimate_blocks(&gpu, NULL, 0, NULL, 0, NULL, NULL, NULL, &diag), GPUMP_OK);
}

/* A block that waits for pages: it drains that much later, and is saved that much later where a fault stalls it; what
 * it loses by leaving is what it would not have waited for anyway. */
static void waits_for_pages(void **state) {
    gpump_gpu gpu = fermi();
    gpump_cost_history history;
    gpump_block_view blocks[3];
    const gpump_cost_rewind rewind[3] = {{2048, 30}, {2048, 30}, {2048, 30}};
    gpump_cost_estimate plain[3], e[3];
    (void)state;
    memset(&history, 0, sizeof history);
    gpump_cost_history_record(&history, 1000, 2000);
    gpump_cost_history_record(&history, 1000, 2000);
    for (uint32_t i = 0; i < 3; i++) blocks[i] = block(0, 400, 800, 18432); /* IPC and 1 / CPI are 0.5 */
    assert_int_equal(estimate_blocks(&gpu, &history, 1, blocks, 3, rewind, NULL, plain, NULL), GPUMP_OK);
    assert_int_equal(plain[0].latency[GPUMP_TECHNIQUE_SWITCH], 2182);
    blocks[1].fault_cycles = blocks[2].fault_cycles = 1000;
    blocks[2].fault_stalls = 1;
    assert_int_equal(estimate_blocks(&gpu, &history, 1, blocks, 3, rewind, NULL, e, NULL), GPUMP_OK);
    assert_memory_equal(&e[0], &plain[0], sizeof *e);
    for (uint32_t i = 1; i < 3; i++) {
        assert_int_equal(e[i].latency[GPUMP_TECHNIQUE_DRAIN], 600 * 2 + 1000);
        assert_int_equal(e[i].overhead[GPUMP_TECHNIQUE_DRAIN], 0);
        assert_int_equal(e[i].latency[GPUMP_TECHNIQUE_FLUSH], 0);
        assert_int_equal(e[i].overhead[GPUMP_TECHNIQUE_FLUSH], 400);
    }
    assert_int_equal(e[1].latency[GPUMP_TECHNIQUE_SWITCH], 2182); /* saved at once, of 4364 cycles 3364 are lost */
    assert_int_equal(e[1].overhead[GPUMP_TECHNIQUE_SWITCH], 3364 / 2);
    assert_int_equal(e[1].latency[GPUMP_TECHNIQUE_REWIND], 243);
    assert_int_equal(e[1].overhead[GPUMP_TECHNIQUE_REWIND], 30); /* 486 cycles are less than the wait */
    assert_int_equal(e[2].latency[GPUMP_TECHNIQUE_SWITCH], 2182 + 1000);
    assert_int_equal(e[2].overhead[GPUMP_TECHNIQUE_SWITCH], plain[2].overhead[GPUMP_TECHNIQUE_SWITCH]);
    assert_int_equal(estimate_blocks(&gpu, NULL, 0, blocks, 2, NULL, NULL, e, NULL), GPUMP_OK);
    assert_true(e[1].latency[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN); /* what is unknown stays so */
    assert_true(e[1].overhead[GPUMP_TECHNIQUE_REWIND] == GPUMP_UNKNOWN);
}

/* Without GPUMP_COST_DRAIN_LOSES a drain costs nothing, whatever the limit. */
static void drains_are_free_elsewhere(void **state) {
    gpump_gpu gpu = fermi();
    gpump_cost_history history;
    gpump_block_view blocks[2];
    gpump_cost_estimate e[2];
    gpump_cost_options options = {GPUMP_COST_CPI_RUNNING, 0, 1000};
    (void)state;
    memset(&history, 0, sizeof history);
    gpump_cost_history_record(&history, 1000, 2000);
    blocks[0] = block(0, 900, 1800, 0);
    blocks[1] = block(0, 700, 1400, 0);
    for (uint32_t losing = 0; losing < 2; losing++) {
        options.flags = losing ? GPUMP_COST_DRAIN_LOSES : GPUMP_COST_DRAIN_CAREFUL;
        assert_int_equal(estimate_blocks(&gpu, &history, 1, blocks, 2, NULL, &options, e, NULL), GPUMP_OK);
        assert_int_equal(e[0].overhead[GPUMP_TECHNIQUE_DRAIN], losing ? 200 : 0);
        assert_int_equal(e[1].overhead[GPUMP_TECHNIQUE_DRAIN], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_by_hand),
        cmocka_unit_test(a_launch_is_not_its_function),
        cmocka_unit_test(the_cpi_source_decides_what_is_known),
        cmocka_unit_test(chimera_charges_drains),
        cmocka_unit_test(the_history_keeps_the_last_64),
        cmocka_unit_test(cpi_agrees_with_wide_arithmetic),
        cmocka_unit_test(deviations_are_compared_exactly),
        cmocka_unit_test(wrong_questions_about_costs_are_refused),
        cmocka_unit_test(the_largest_context_takes_forever),
        cmocka_unit_test(waits_for_pages),
        cmocka_unit_test(drains_are_free_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
