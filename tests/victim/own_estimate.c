/* labels: unit link: technique_list */
/* What the estimate of a technique of one's own is told of each block, and that its answer is the estimate. The list of
 * techniques is compiled here with that technique in it; the linker then leaves the library's out. */
#include "test.h"

#define GPUMP_TECHNIQUE_4 told_technique
#include "gpu/technique.c"

enum { TOLD = GPUMP_TECHNIQUE_OWN };

/* Answers numbers that name what it was told. */
static void estimate(const gpump_technique_estimate_args *args, uint64_t *latency, uint64_t *overhead) {
    assert_string_equal(args->technique->name, "told");
    *latency = *latency * 1000 + args->block->cookie;
    *overhead = *overhead * 1000 + args->ipc + args->port->bytes;
}

const gpump_technique told_technique = {1u << GPUMP_BLOCK_RUNNING, 0,       GPUMP_TECHNIQUE_BEGIN_DROP, 0, 0, "told",
                                        "Drops the block.",        estimate};

/* Each block by itself: its own view, the instructions per cycle of its function, the port, and the estimate of the
 * built-in technique that begins alike, which the answer replaces. */
static void the_estimate_of_a_host_is_told_of_each_block(void **state) {
    const gpump_port port = {3, 7, 0};
    gpump_block_view blocks[4];
    gpump_cost_estimate e[4];
    (void)state;
    memset(blocks, 0, sizeof blocks);
    for (uint32_t i = 0; i < 4; i++) {
        blocks[i].kernel = 1;
        blocks[i].function = 1 + i / 2;
        blocks[i].state = GPUMP_BLOCK_RUNNING;
        blocks[i].cookie = 10 + i;
        blocks[i].executed = 100 + i;
        blocks[i].cycles = 400 + 800 * (i / 2);
    }
    assert_int_equal(gpump_cost_estimate_blocks(&port, NULL, 0, blocks, 4, NULL, NULL, e, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t executed = i < 2 ? 100 + 101 : 102 + 103, cycles = i < 2 ? 800 : 2400;
        const uint64_t ipc = (executed * 65536 + cycles - 1) / cycles;
        assert_int_equal(e[i].latency[TOLD], 10 + i);
        assert_int_equal(e[i].overhead[TOLD], (100 + i) * 1000 + ipc + 7);
        assert_true(e[i].latency[TOLD + 1] == GPUMP_UNKNOWN && e[i].overhead[TOLD + 1] == GPUMP_UNKNOWN);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_estimate_of_a_host_is_told_of_each_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
