/* labels: unit */
/* Every refusal of the pipelines, the pool, the plans in place and contexts: its code, and what its diagnostic says. */
#include "diagnosed.h"

static uint64_t memory[8192];

static gpump_result check_spill(const void *config, gpump_diag *diag) {
    const gpump_spill_config *c = (const gpump_spill_config *)config;
    gpump_spill_warp warp = {0, 0, 1, 4};
    gpump_spill_transfer transfer;
    gpump_spill_times times;
    size_t bytes;
    uint64_t bits;
    gpump_result result = gpump_bytes(&gpump_spill_component, c, &bytes, diag);
    memset(&transfer, 0, sizeof transfer);
    transfer.warps = &warp;
    transfer.count = 1;
    transfer.port.cycles = transfer.port.bytes = 1;
    assert_int_equal(gpump_bits(&gpump_spill_component, c, &bits, NULL), result);
    assert_int_equal(gpump_spill_save_time(c, &transfer, &times, NULL), result);
    assert_int_equal(gpump_spill_restore_time(c, &transfer, &times, NULL), result);
    return result;
}
static gpump_result check_pool(const void *config, gpump_diag *diag) {
    size_t bytes;
    uint64_t bits;
    gpump_result result =
        gpump_bytes(&gpump_context_pool_component, (const gpump_context_pool_config *)config, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_context_pool_component, (const gpump_context_pool_config *)config, &bits, NULL),
                     result);
    return result;
}

/* A configuration of the pipeline or pool outside its range is refused with the field's name and range, and its bits
 * are counted. */
static void wrong_configurations_are_refused(void **state) {
#define SPILL(member, minimum, maximum) DIAGNOSED_FIELD(gpump_spill_config, member, minimum, maximum)
    const diagnosed_field spill[] = {
        SPILL(jobs, 1, 64),
        SPILL(warps, 1, 256),
        SPILL(segment_bytes, 8, 4096),
        SPILL(compress_cycles, 0, 1000),
        SPILL(registers_per_cycle, 1, 1024),
        SPILL(shared_bytes_per_cycle, 1, 1 << 20),
        SPILL(outstanding, 1, 65536),
    };
#undef SPILL
#define POOL(member, minimum, maximum) DIAGNOSED_FIELD(gpump_context_pool_config, member, minimum, maximum)
    const diagnosed_field pool[] = {
        POOL(kernels, 1, 4096),
        POOL(contexts, 1, 65536),
        POOL(context_bytes, 1, UINT64_MAX),
    };
#undef POOL
    gpump_spill_config config;
    gpump_context_pool_config pool_config = {3, 70, 100};
    size_t bytes;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_spill_component, NULL, "gtx480_lin", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_spill_component, &config, "none", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    diagnosed_fields(&config, sizeof config, spill, sizeof spill / sizeof spill[0], check_spill);
    diagnosed_fields(&pool_config, sizeof pool_config, pool, sizeof pool / sizeof pool[0], check_pool);
    diagnosed_null(gpump_bytes(&gpump_spill_component, NULL, &bytes, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_spill_component, &config, NULL, DIAG), "bytes");
    diagnosed_null(gpump_bits(&gpump_spill_component, &config, NULL, DIAG), "bits");
    diagnosed_null(gpump_bits(&gpump_spill_component, NULL, &bits, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_context_pool_component, NULL, &bytes, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_context_pool_component, &pool_config, NULL, DIAG), "bytes");
    diagnosed_null(gpump_bits(&gpump_context_pool_component, &pool_config, NULL, DIAG), "bits");
    /* the storage of a pipeline, by hand: 5 jobs are 3 bits, 9 warps are 4 */
    config.jobs = 5;
    config.warps = 9;
    config.segment_bytes = 64;
    assert_int_equal(gpump_bits(&gpump_spill_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, 9 * (3 + 8 + 16 + 16 + 1) + 5 * (2 + 2 + 20 + 20 + 20 + 3 * (4 + 1) + 16 + 64 * 8));
}

/* Memory that is missing, too small, crooked or of another configuration is refused by init and adopt. */
static void memory_that_does_not_fit_is_refused(void **state) {
    gpump_spill_config config;
    gpump_context_pool_config pool_config = {3, 70, 100}, other;
    gpump_spill *spill = NULL;
    gpump_context_pool *pool = NULL;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    config.jobs = 2;
    config.warps = 4;
    assert_int_equal(gpump_bytes(&gpump_spill_component, &config, &bytes, NULL), GPUMP_OK);
    diagnosed_null(gpump_init(&gpump_spill_component, memory, bytes, &config, NULL, DIAG), "spill");
    diagnosed_null(gpump_init(&gpump_spill_component, NULL, bytes, &config, &spill, DIAG), "memory");
    diagnosed(gpump_init(&gpump_spill_component, (char *)memory + 4, bytes, &config, &spill, DIAG),
              GPUMP_ERROR_ARGUMENT, "memory is not aligned: its address must be a multiple of 8", 0, 4, 0, 0);
    diagnosed(gpump_init(&gpump_spill_component, memory, bytes - 1, &config, &spill, DIAG), GPUMP_ERROR_CAPACITY,
              "bytes", 0, bytes - 1, bytes, UINT64_MAX);
    assert_null(spill);
    memset(memory, 0x77, sizeof memory);
    assert_int_equal(gpump_init(&gpump_spill_component, memory, bytes, &config, &spill, NULL), GPUMP_OK);
    assert_true(memory[(bytes + 7) / 8] == UINT64_C(0x7777777777777777)); /* nothing behind it is touched */
    diagnosed_null(gpump_adopt(&gpump_spill_component, memory, bytes, &config, NULL, DIAG), "spill");
    diagnosed(gpump_adopt(&gpump_spill_component, memory, bytes - 8, &config, &spill, DIAG), GPUMP_ERROR_FORMAT,
              "bytes", 0, bytes - 8, bytes, UINT64_MAX);
    diagnosed_null(gpump_check(&gpump_spill_component, NULL, DIAG), "spill");
    config.outstanding++;
    assert_int_equal(gpump_adopt(&gpump_spill_component, memory, bytes, &config, &spill, DIAG), GPUMP_ERROR_FORMAT);
    /* the size of the pool is what its contexts take: a bit each, in whole words */
    assert_int_equal(gpump_bytes(&gpump_context_pool_component, &pool_config, &bytes, NULL), GPUMP_OK);
    other = pool_config;
    other.contexts = 64;
    {
        size_t small;
        assert_int_equal(gpump_bytes(&gpump_context_pool_component, &other, &small, NULL), GPUMP_OK);
        assert_int_equal(bytes - small, 3 * 8);
        other.contexts = 65;
        assert_int_equal(gpump_bytes(&gpump_context_pool_component, &other, &small, NULL), GPUMP_OK);
        assert_int_equal(bytes, small);
        other = pool_config;
        other.kernels = 4;
        assert_int_equal(gpump_bytes(&gpump_context_pool_component, &other, &small, NULL), GPUMP_OK);
        assert_int_equal(small - bytes, 2 * 8 + 2 * 8); /* owner and count; two words of bits */
    }
    diagnosed_null(gpump_init(&gpump_context_pool_component, memory, bytes, &pool_config, NULL, DIAG), "context_pool");
    diagnosed(gpump_init(&gpump_context_pool_component, memory, bytes - 1, &pool_config, &pool, DIAG),
              GPUMP_ERROR_CAPACITY, "bytes", 0, bytes - 1, bytes, UINT64_MAX);
    assert_null(pool);
    memset(memory, 0x77, sizeof memory);
    assert_int_equal(gpump_init(&gpump_context_pool_component, memory, bytes, &pool_config, &pool, NULL), GPUMP_OK);
    assert_true(memory[(bytes + 7) / 8] == UINT64_C(0x7777777777777777));
    diagnosed_null(gpump_adopt(&gpump_context_pool_component, memory, bytes, &pool_config, NULL, DIAG), "context_pool");
    diagnosed(gpump_adopt(&gpump_context_pool_component, memory, bytes - 8, &pool_config, &pool, DIAG),
              GPUMP_ERROR_FORMAT, "bytes", 0, bytes - 8, bytes, UINT64_MAX);
    diagnosed_null(gpump_check(&gpump_context_pool_component, NULL, DIAG), "context_pool");
    assert_int_equal(gpump_context_pool_open(NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_context_pool_close(NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_context_pool_give(NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_context_pool_open(pool, 1), GPUMP_OK);
    assert_int_equal(gpump_context_pool_take(pool, 1, 1, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_context_pool_take(NULL, 1, 1, memory), GPUMP_ERROR_ARGUMENT);
}

/* A wrong call of the spill pipeline is refused with the argument's name, and hands back nothing. */
static void wrong_calls_of_a_pipeline_are_refused(void **state) {
    gpump_spill_config config;
    gpump_spill_transfer transfer, good;
    gpump_spill_times times;
    gpump_spill_warp warps[3] = {{5, 9, 2, 100}, {6, 8, 2, 100}, {7, 7, 2, 100}};
    gpump_spill_action action;
    gpump_spill *spill;
    uint32_t job = 77;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    memset(&good, 0, sizeof good);
    good.warps = warps;
    good.start_cycle = 5;
    good.port.cycles = 1;
    good.port.bytes = 2;
    good.count = 3;
    diagnosed_null(gpump_spill_save_time(&config, NULL, &times, DIAG), "transfer");
    diagnosed_null(gpump_spill_save_time(NULL, &good, &times, DIAG), "config");
    diagnosed_null(gpump_spill_save_time(&config, &good, NULL, DIAG), "times");
    transfer = good;
    transfer.warps = NULL;
    diagnosed(gpump_spill_save_time(&config, &transfer, &times, DIAG), GPUMP_ERROR_ARGUMENT, "warps", 0, 0, 1,
              UINT64_MAX);
    transfer = good;
    transfer.count = 0;
    diagnosed(gpump_spill_restore_time(&config, &transfer, &times, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0, 0, 1, 256);
    transfer.count = 257;
    diagnosed(gpump_spill_save_time(&config, &transfer, &times, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0, 257, 1, 256);
    transfer = good;
    transfer.start_cycle = GPUMP_UNKNOWN;
    diagnosed(gpump_spill_save_time(&config, &transfer, &times, DIAG), GPUMP_ERROR_ARGUMENT, "start_cycle", 0,
              GPUMP_UNKNOWN, 0, GPUMP_UNKNOWN - 1);
    transfer = good;
    transfer.port.cycles = 0;
    diagnosed(gpump_spill_save_time(&config, &transfer, &times, DIAG), GPUMP_ERROR_ARGUMENT, "port.cycles", 0, 0, 1,
              GPUMP_UNKNOWN - 1);
    transfer = good;
    transfer.port.bytes = 0;
    diagnosed(gpump_spill_restore_time(&config, &transfer, &times, DIAG), GPUMP_ERROR_ARGUMENT, "port.bytes", 0, 0, 1,
              GPUMP_UNKNOWN - 1);
    warps[1].registers = 0;
    diagnosed(gpump_spill_restore_time(&config, &good, &times, DIAG), GPUMP_ERROR_ARGUMENT, "warps.registers", 1, 0, 1,
              UINT32_MAX);
    warps[1].bytes = 0;
    assert_int_equal(gpump_spill_save_time(&config, &good, &times, NULL), GPUMP_OK);
    assert_int_equal(times.bytes, 200);
    assert_int_equal(times.drain_cycles, 4 + 2);
    warps[1].drained_cycle = 5;
    diagnosed(gpump_spill_save_time(&config, &good, &times, DIAG), GPUMP_ERROR_ARGUMENT, "warps.drained_cycle", 1, 5, 6,
              UINT64_MAX);
    assert_int_equal(gpump_spill_restore_time(&config, &good, &times, NULL), GPUMP_OK); /* cycles are ignored */
    warps[1].point_cycle = warps[1].drained_cycle = 4;
    diagnosed(gpump_spill_save_time(&config, &good, &times, DIAG), GPUMP_ERROR_ARGUMENT, "warps.drained_cycle", 1, 4, 5,
              UINT64_MAX);
    warps[1].point_cycle = warps[1].drained_cycle = 8;
    transfer = good;
    transfer.start_cycle = GPUMP_UNKNOWN - 1;
    diagnosed(
        gpump_spill_restore_time(&config, &transfer, &times, DIAG), GPUMP_ERROR_ARGUMENT,
        "the transfer never ends: its last cycle does not fit into 64 bits, so give the port more bytes per cycle", 0,
        GPUMP_UNKNOWN, 0, GPUMP_UNKNOWN - 1);
    /* the machine */
    assert_int_equal(gpump_init(&gpump_spill_component, memory, sizeof memory, &config, &spill, NULL), GPUMP_OK);
    assert_int_equal(gpump_spill_save(NULL, 0, 1, 1, 0, 0, NULL, &job), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_save(spill, 0, 1, 1, 0, 0, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_save(spill, 0, 1, 0, 0, 0, NULL, &job), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_restore(spill, 0, 1, NULL, 1, 0, 0, &job), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_restore(NULL, 0, 1, warps, 1, 0, 0, &job), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_report_drained(NULL, 0, 0, warps), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_report_drained(spill, 0, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_report_metadata(NULL, 0, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_report_moved(NULL, 0, 0, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_cancel(NULL, 0, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_next(NULL, 0, &action), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_next(spill, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(job, 77);
}

/* restore_cycles counts from the job to its end. */
static void cycles_of_a_restore(void **state) {
    gpump_spill_config config;
    gpump_spill_warp warp = {0, 0, 4, 128};
    gpump_spill_statistics before, after, difference;
    gpump_spill_action action;
    gpump_spill *spill;
    uint32_t job;
    uint64_t now = 100;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_spill_component, memory, sizeof memory, &config, &spill, NULL), GPUMP_OK);
    gpump_get_statistics(&gpump_spill_component, spill, &before);
    assert_int_equal(gpump_spill_restore(spill, now, 1, &warp, 1, 0, 0, &job), GPUMP_OK);
    assert_int_equal(gpump_spill_next(spill, now, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SPILL_READ);
    assert_int_equal(gpump_spill_report_moved(spill, now + 50, job, 1), GPUMP_OK);
    assert_int_equal(gpump_next_cycle(&gpump_spill_component, spill),
                     now + 50 + 4 + 2); /* registers and the decompressor */
    assert_int_equal(gpump_spill_next(spill, now + 56, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SPILL_WARP);
    assert_int_equal(gpump_spill_next(spill, now + 60, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SPILL_DONE);
    gpump_get_statistics(&gpump_spill_component, spill, &after);
    gpump_statistics_diff(&gpump_spill_component, &before, &after, &difference);
    assert_int_equal(difference.restores, 1);
    assert_int_equal(difference.restore_cycles, 60);
    assert_int_equal(difference.saves + difference.save_cycles + difference.warps, 0);
}

/* Two blocks that fill the registers of an SM, and most of its shared memory, and a block that needs half of both. */
static void in_place_case(gpump_block_view blocks[2], gpump_in_place_sm *sm, gpump_in_place_need *good) {
    memset(blocks, 0, 2 * sizeof *blocks);
    memset(sm, 0, sizeof *sm);
    memset(good, 0, sizeof *good);
    for (uint32_t i = 0; i < 2; i++) {
        blocks[i].may = 15;
        blocks[i].register_base = 100 * i;
        blocks[i].registers = 100;
        blocks[i].shared_base = 50 * i;
        blocks[i].shared_bytes = 50;
    }
    sm->blocks = blocks;
    sm->count = 2;
    sm->registers = 200;
    sm->shared_bytes = 120;
    good->blocks = 1;
    good->registers = 100;
    good->shared_bytes = 60;
}

/* A request in place with a wrong count, size or address of blocks is refused with the field's name. */
static void requests_in_place_are_refused(void **state) {
    gpump_block_view blocks[2];
    gpump_in_place_sm sm;
    gpump_in_place_need need, good;
    gpump_in_place_plan plan;
    (void)state;
    in_place_case(blocks, &sm, &good);
    diagnosed_null(gpump_in_place_find(NULL, &good, &plan, DIAG), "sm");
    diagnosed_null(gpump_in_place_find(&sm, NULL, &plan, DIAG), "need");
    diagnosed_null(gpump_in_place_find(&sm, &good, NULL, DIAG), "plan");
    sm.count = 65;
    diagnosed(gpump_in_place_find(&sm, &good, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0, 65, 0, 64);
    sm.count = 2;
    sm.blocks = NULL;
    diagnosed_null(gpump_in_place_find(&sm, &good, &plan, DIAG), "blocks");
    sm.blocks = blocks;
    need = good;
    need.blocks = 0;
    diagnosed(gpump_in_place_find(&sm, &need, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "need.blocks", 0, 0, 1, 64);
    need.blocks = 65;
    diagnosed(gpump_in_place_find(&sm, &need, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "need.blocks", 0, 65, 1, 64);
    need = good;
    need.register_placement = 3;
    diagnosed(gpump_in_place_find(&sm, &need, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "need.register_placement", 0, 3, 0,
              2);
    need = good;
    need.shared_placement = 4;
    diagnosed(gpump_in_place_find(&sm, &need, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "need.shared_placement", 0, 4, 0, 2);
    need = good;
    need.blocks = 3;
    diagnosed_reason(gpump_in_place_find(&sm, &need, &plan, DIAG), GPUMP_ERROR_REFUSED, "need", 0,
                     GPUMP_REASON_REGISTERS);
    need.registers = 0;
    diagnosed_reason(gpump_in_place_find(&sm, &need, &plan, DIAG), GPUMP_ERROR_REFUSED, "need", 0,
                     GPUMP_REASON_SHARED_MEMORY);
    /* ranges that overlap, and one that leaves the register file */
    blocks[1].register_base = 99;
    diagnosed(gpump_in_place_find(&sm, &good, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "blocks.register_base", 1, 99, 100,
              200 - 100);
    blocks[1].register_base = 101;
    diagnosed(gpump_in_place_find(&sm, &good, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "blocks.register_base", 1, 101, 100,
              200 - 100);
    blocks[1].register_base = 100;
    blocks[0].shared_base = 71;
    blocks[1].shared_base = 0;
    diagnosed(gpump_in_place_find(&sm, &good, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "blocks.shared_base", 0, 71, 50,
              120 - 50);
}

/* A plan in place by hand; views that contradict themselves are refused with their place. */
static void views_of_plans_in_place_are_checked(void **state) {
    gpump_block_view blocks[2];
    gpump_in_place_sm sm;
    gpump_in_place_need need, good;
    gpump_in_place_plan plan;
    (void)state;
    in_place_case(blocks, &sm, &good);
    blocks[0].shared_base = 70;
    blocks[1].shared_base = 0;
    /* the plan in numbers: from 0 on, the registers of block 0 and the bytes of block 1 stand in the way */
    assert_int_equal(gpump_in_place_find(&sm, &good, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.register_blocks, 1);
    assert_int_equal(plan.register_bytes, 400);
    assert_int_equal(plan.shared_blocks, 1);
    assert_int_equal(plan.shared_bytes, 50);
    assert_int_equal(plan.blocks, 2);
    assert_int_equal(plan.give_up[0], GPUMP_PART_REGISTERS);
    assert_int_equal(plan.give_up[1], GPUMP_PART_SHARED_MEMORY);
    /* anywhere, block 0 can give up both */
    need = good;
    need.shared_placement = GPUMP_IN_PLACE_BEST;
    assert_int_equal(gpump_in_place_find(&sm, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.blocks, 1);
    assert_int_equal(plan.give_up[0], GPUMP_PARTS_IN_PLACE);
    assert_int_equal(plan.shared_bases[0], 50);
    /* of two blocks of which either would do, the one with fewer bytes goes; of equal ones the first */
    need.register_placement = GPUMP_IN_PLACE_BEST;
    assert_int_equal(gpump_in_place_find(&sm, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.give_up[0] & 1u, 1);
    blocks[0].registers = 101;
    blocks[1].register_base = 101;
    blocks[1].registers = 99;
    blocks[0].shared_bytes = 50;
    need.registers = 99;
    need.shared_bytes = 0;
    assert_int_equal(gpump_in_place_find(&sm, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.give_up[0], 0);
    assert_int_equal(plan.give_up[1], GPUMP_PART_REGISTERS);
    assert_int_equal(plan.register_bytes, 99 * 4);
    assert_int_equal(plan.register_bases[0], 101);
    /* a block that holds all of the register file */
    blocks[0].registers = 200;
    sm.count = 1;
    assert_int_equal(gpump_in_place_find(&sm, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.register_bytes, 800);
    blocks[0].registers = 100;
    blocks[1].registers = 100;
    blocks[1].register_base = 100;
    sm.count = 2;
    /* a need of nothing takes nothing, and its bases are 0 */
    need = good;
    need.registers = need.shared_bytes = 0;
    need.blocks = 4;
    memset(&plan, 0x5a, sizeof plan);
    assert_int_equal(gpump_in_place_find(&sm, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.register_blocks + plan.shared_blocks + plan.blocks, 0);
    assert_int_equal(plan.register_bytes + plan.shared_bytes, 0);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(plan.register_bases[i] + plan.shared_bases[i], 0);
}

/* A damaged context, or a wrong call of its reader, is refused with the place of the damage. */
static void wrong_contexts_are_refused(void **state) {
    static unsigned char good[512], bytes[512];
    const uint32_t registers[4] = {1, 2, 3, 4};
    uint32_t values[4];
    uint64_t length;
    gpump_context_writer writer;
    gpump_context_reader reader;
    (void)state;
    assert_int_equal(gpump_context_begin(&writer, good, sizeof good), GPUMP_OK);
    gpump_context_put(&writer, GPUMP_CONTEXT_SHARED, 0, "abc", 3);
    gpump_context_put_registers(&writer, 1, registers, 2, 2);
    assert_int_equal(gpump_context_end(&writer, &length), GPUMP_OK);
    assert_int_equal(length, 40 + 16 + 8 + 16 + 24);
    diagnosed_null(gpump_context_open(NULL, good, length, DIAG), "reader");
    diagnosed_null(gpump_context_open(&reader, NULL, length, DIAG), "memory");
    diagnosed_null(gpump_context_open_unverified(NULL, good, length, DIAG), "reader");
    diagnosed_null(gpump_context_open_unverified(&reader, NULL, length, DIAG), "memory");
    diagnosed_null(gpumpi_context_verify(NULL, DIAG), "reader");
    diagnosed(gpump_context_open(&reader, good, 39, DIAG), GPUMP_ERROR_FORMAT, "truncated header", 39, 39, 40,
              UINT64_MAX);
    diagnosed(gpump_context_open(&reader, good, length - 1, DIAG), GPUMP_ERROR_FORMAT, "truncated", length - 1,
              length - 1, length, UINT64_MAX);
#define ALTER(at, value)              \
    memcpy(bytes, good, sizeof good); \
    bytes[at] = (unsigned char)(value)
    ALTER(6, 'T');
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "magic", 6, 'T', 't', 't');
    ALTER(8, 1);
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "version", 8, 1, 2, 2);
    ALTER(16, 33);
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "length", 16, 33, 40, length);
    ALTER(16, 41);
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "length", 16, 41, 40, length);
    ALTER(33, 1);
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "reserved", 32, 256, 0, 0);
    ALTER(12, 3);
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "truncated section", length, 0, 16,
              UINT64_MAX);
    ALTER(12, 1);
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "sections", 12, 1, 0, 40);
    ALTER(64 + 8, 25);
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "section length", 72, 25, 0, 24);
    ALTER(56 + 4, 9);
    diagnosed(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT, "padding", 60, 9, 0, 0);
    ALTER(56, 'A');
    assert_int_equal(gpump_context_open(&reader, bytes, length, DIAG), GPUMP_ERROR_FORMAT);
    assert_string_equal(diagnosed_diag.field, "checksum");
    assert_int_equal(diagnosed_diag.index, 24);
    assert_true(diagnosed_diag.minimum == diagnosed_diag.maximum && diagnosed_diag.minimum != diagnosed_diag.value);
#undef ALTER
    /* registers come back in the shape they were written with, and in no other */
    assert_int_equal(gpump_context_open(&reader, good, length, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_get_registers(&reader, 1, values, 2, 2), GPUMP_OK);
    assert_memory_equal(values, registers, sizeof values);
    assert_int_equal(gpump_context_get_registers(&reader, 1, values, 1, 4), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_context_get_registers(&reader, 1, values, 4, 1), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_context_get_registers(&reader, 1, values, 2, 1), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_context_get_registers(&reader, 1, values, 1, 2), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_context_get_registers(&reader, 0, values, 2, 2), GPUMP_EMPTY);
    assert_int_equal(gpump_context_get_registers(&reader, 1, NULL, 2, 2), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_context_get_registers(NULL, 1, values, 2, 2), GPUMP_ERROR_ARGUMENT);
}

/* A wrong call of compression is refused with the argument's name and range. */
static void wrong_calls_of_compression_are_refused(void **state) {
    gpump_compress_layout layout, good;
    gpump_compress_counts counts;
    uint32_t values[64], form;
    unsigned char out[4096];
    size_t bytes, bound;
    (void)state;
    memset(values, 0, sizeof values);
    assert_int_equal(gpump_compress_layout_init(&good, 40, 2, 32, 40, NULL), GPUMP_OK);
    assert_int_equal(good.warps, 2);
    assert_int_equal(good.last_lanes, 8);
    diagnosed_null(gpump_compress_layout_init(NULL, 40, 2, 32, 40, DIAG), "layout");
    diagnosed(gpump_compress_layout_init(&layout, 40, 2, 0, 40, DIAG), GPUMP_ERROR_ARGUMENT, "lanes", 0, 0, 1,
              GPUMP_COMPRESS_MAX_LANES);
    diagnosed(gpump_compress_layout_init(&layout, 0, 2, 32, 40, DIAG), GPUMP_ERROR_ARGUMENT, "threads", 0, 0, 1,
              32 * GPUMP_COMPRESS_MAX_WARPS);
    diagnosed_null(gpump_compress_bound(NULL, &bytes, DIAG), "layout");
    diagnosed_null(gpump_compress_bound(&good, NULL, DIAG), "bytes");
    assert_int_equal(gpump_compress_bound(&good, &bound, NULL), GPUMP_OK);
#define BAD(field, value, minimum, maximum)                                                                     \
    do {                                                                                                        \
        layout = good;                                                                                          \
        layout.field = value;                                                                                   \
        diagnosed(gpump_compress_bound(&layout, &bytes, DIAG), GPUMP_ERROR_ARGUMENT, #field, 0, value, minimum, \
                  maximum);                                                                                     \
    } while (0)
    BAD(warps, 0u, 1, GPUMP_COMPRESS_MAX_WARPS);
    BAD(warps, GPUMP_COMPRESS_MAX_WARPS + 1u, 1, GPUMP_COMPRESS_MAX_WARPS);
    BAD(registers, 0u, 1, GPUMP_COMPRESS_MAX_REGISTERS);
    BAD(registers, GPUMP_COMPRESS_MAX_REGISTERS + 1u, 1, GPUMP_COMPRESS_MAX_REGISTERS);
    BAD(lanes, 0u, 1, GPUMP_COMPRESS_MAX_LANES);
    BAD(lanes, GPUMP_COMPRESS_MAX_LANES + 1u, 1, GPUMP_COMPRESS_MAX_LANES);
    BAD(last_lanes, 0u, 1, 32);
    BAD(last_lanes, 33u, 1, 32);
    BAD(group, 7u, 8, 32);
    BAD(group, 33u, 8, 32);
    BAD(register_stride, 31u, 32, UINT32_MAX);
    BAD(warp_stride, 31u, 32, UINT32_MAX);
#undef BAD
    diagnosed_null(
        gpump_compress_save(&good, NULL, NULL, GPUMP_COMPRESS_ALLOW_ALL, out, sizeof out, &bytes, &form, DIAG),
        "values, out, bytes or form");
    diagnosed(gpump_compress_save(&good, values, NULL, 0, out, sizeof out, &bytes, &form, DIAG), GPUMP_ERROR_ARGUMENT,
              "allow", 0, 0, 1, GPUMP_COMPRESS_ALLOW_ALL);
    diagnosed(gpump_compress_save(&good, values, NULL, GPUMP_COMPRESS_ALLOW_ALL, out, bound - 1, &bytes, &form, DIAG),
              GPUMP_ERROR_CAPACITY, "capacity", 0, bound - 1, bound, UINT64_MAX);
    assert_int_equal(bytes, bound);
    diagnosed_null(gpump_compress_count(&good, NULL, NULL, 0, &counts, DIAG), "values or counts");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_configurations_are_refused),
        cmocka_unit_test(memory_that_does_not_fit_is_refused),
        cmocka_unit_test(wrong_calls_of_a_pipeline_are_refused),
        cmocka_unit_test(cycles_of_a_restore),
        cmocka_unit_test(requests_in_place_are_refused),
        cmocka_unit_test(views_of_plans_in_place_are_checked),
        cmocka_unit_test(wrong_contexts_are_refused),
        cmocka_unit_test(wrong_calls_of_compression_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
