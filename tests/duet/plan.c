/* labels: unit */
/* Plans of GPUDuet and Virtual Thread: the worked examples of Lin 3.5.2 and 3.7.2, what binds, the tables' cost, and
 * the classes of Table 3.3. */
#include "diagnosed.h"

static gpump_duet_config preset(const char *name) {
    gpump_duet_config config;
    assert_int_equal(gpump_preset(&gpump_duet_component, &config, name, NULL), GPUMP_OK);
    return config;
}
/* The plan of blocks of `threads` threads with `registers` each and `shared_bytes`. */
static gpump_duet_plan plan_of(const gpump_duet_config *config, uint32_t threads, uint32_t registers,
                               uint32_t shared_bytes, uint32_t live_granules) {
    gpump_footprint need;
    gpump_duet_plan plan;
    need.threads = threads;
    need.registers = registers * ((threads + 31) / 32 * 32);
    need.shared_bytes = shared_bytes;
    assert_int_equal(gpump_duet_plan_make(config, &need, live_granules, &plan, NULL), GPUMP_OK);
    return plan;
}

/* Lin Table 3.4: 8272 bits; 3.6.8: 224 + 448 bits. */
static void storage_is_that_of_lins_table(void **state) {
    gpump_duet_config config = preset("maxwell_duet");
    gpump_duet_storage parts;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_bits(&gpump_duet_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_table_bits(&gpump_duet_component, &config, &parts, NULL), GPUMP_OK);
    assert_int_equal(parts.bitmap_bits, 3072);
    assert_int_equal(parts.warp_table_bits, 3456);
    assert_int_equal(parts.block_table_bits, 1440);
    assert_int_equal(parts.warp_queues_bits, 224);
    assert_int_equal(parts.block_queues_bits, 80);
    assert_int_equal(bits, 1034 * 8);
    assert_int_equal(parts.unprinted_bits, 128 * (5 + 2 + 6) + 14);
    config = preset("virtual_thread");
    assert_int_equal(gpump_bits(&gpump_duet_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_table_bits(&gpump_duet_component, &config, &parts, NULL), GPUMP_OK);
    assert_int_equal(parts.block_table_bits, 224);
    assert_int_equal(parts.warp_table_bits, 448);
    assert_int_equal(bits, 84 * 8);
}

/* BT: 256 threads of 28 registers fill 87.5% of the register file (printed: 88). Virtual Thread has room for one block
 * more, GPUDuet for 6 exactly when a frame takes 19 to 21 granules. */
static void bt_gets_the_extra_blocks_that_its_frame_allows(void **state) {
    gpump_duet_config duet = preset("maxwell_duet"), slots = preset("virtual_thread");
    gpump_duet_plan plan = plan_of(&slots, 256, 28, 0, 28);
    uint32_t frame;
    (void)state;
    assert_int_equal(plan.limits, GPUMP_RESOURCE_WARP_SLOTS);
    assert_int_equal(plan.native_blocks, 8);
    assert_int_equal(plan.native_blocks * plan.block_warps * plan.warp_granules * 1000 / 2048, 875);
    assert_int_equal(plan.extra_blocks, 1);
    assert_int_equal(plan.unit, GPUMP_DUET_BLOCK);
    assert_int_equal(plan.frame_granules, 8 * 2);
    for (frame = 4; frame <= 30; frame++) {
        plan = plan_of(&duet, 256, 28, 0, frame - 2);
        assert_int_equal(plan.unit, GPUMP_DUET_WARP);
        assert_int_equal(plan.homes, 64);
        assert_int_equal(plan.frame_granules, frame);
        assert_int_equal(plan.extra_blocks == 6, frame >= 19 && frame <= 21);
        assert_int_equal(plan.extra_blocks_l1, plan.extra_blocks); /* there is room without L1 */
    }
    assert_int_equal(plan_of(&duet, 256, 28, 0, 2).extra_blocks, 8); /* 128 entries of the warp table */
}

/* HG: 12 KB of shared memory and 96 threads; 8 blocks more exactly when they have 23 to 25 registers. */
static void hg_gets_the_extra_blocks_that_its_registers_allow(void **state) {
    gpump_duet_config duet = preset("maxwell_duet"), slots = preset("virtual_thread");
    uint32_t registers;
    (void)state;
    assert_int_equal(plan_of(&slots, 96, 24, 12288, 24).extra_blocks, 0);
    assert_int_equal(plan_of(&slots, 96, 24, 12288, 24).unit, GPUMP_DUET_OFF);
    for (registers = 10; registers <= 40; registers++) {
        gpump_duet_plan plan = plan_of(&duet, 96, registers, 12288, registers);
        assert_int_equal(plan.limits, GPUMP_RESOURCE_SHARED_MEMORY);
        assert_int_equal(plan.native_blocks, 8);
        assert_int_equal(plan.unit, GPUMP_DUET_BLOCK);
        assert_int_equal(plan.moves_shared, 1);
        assert_int_equal(plan.moves_registers, 0);
        assert_int_equal(plan.frame_granules, 96 + 3 * 2);
        assert_int_equal(plan.extra_blocks == 8, registers >= 23 && registers <= 25);
    }
}

/* DWT_2: 10 blocks, registers halved. By the text's arithmetic L1 alone holds the registers of 2 blocks more, whether a
 * block takes 187 or 204 granules: a "warp" of the plan stands for the block. */
static void example_dwt_2(void **state) {
    gpump_duet_config duet = preset("maxwell_duet");
    gpump_duet_plan plan;
    uint32_t block;
    (void)state;
    duet.slot_granules = duet.shared_granules = 0;
    for (block = 180; block <= 210; block++) {
        duet.register_granules = 10 * block;
        plan = plan_of(&duet, 32, block, 0, (block + 1) / 2);
        assert_int_equal(plan.native_blocks, 10);
        assert_int_equal(plan.extra_blocks, 0);
        assert_int_equal(plan.extra_blocks_l1, 2);
        duet.register_granules = 2048;
        plan = plan_of(&duet, 32, block, 0, (block + 1) / 2);
        assert_int_equal(plan.native_blocks == 10, block >= 187 && block <= 204);
    }
    /* Warps of 32 to 34 registers, what is left of the register file counted: only 34 gives 2. With 32 there is room
     * for a block without L1, which then stays a cache. */
    duet.register_granules = 2048;
    assert_int_equal(plan_of(&duet, 192, 32, 0, 16).extra_blocks, 1);
    assert_int_equal(plan_of(&duet, 192, 32, 0, 16).extra_blocks_l1, 1);
    assert_int_equal(plan_of(&duet, 192, 33, 0, 17).extra_blocks, 0);
    assert_int_equal(plan_of(&duet, 192, 33, 0, 17).extra_blocks_l1, 3);
    assert_int_equal(plan_of(&duet, 192, 34, 0, 17).extra_blocks_l1, 2);
    /* With its 8,668 bytes of shared memory a twelfth block does not fit: an error in print. */
    duet.shared_granules = 768;
    plan = plan_of(&duet, 192, 34, 8668, 17);
    assert_int_equal(plan.native_blocks, 10);
    assert_int_equal(plan.limits, GPUMP_RESOURCE_REGISTERS | GPUMP_RESOURCE_WARP_SLOTS);
    assert_int_equal(plan.extra_blocks, 0);
    assert_int_equal(plan.extra_blocks_l1, 1);
}

/* What binds decides what moves; both memories full: nothing does. */
static void the_resource_that_binds_decides_what_moves(void **state) {
    gpump_duet_config duet = preset("maxwell_duet"), block = preset("duet_block");
    gpump_duet_plan plan = plan_of(&duet, 256, 64, 24576, 20);
    (void)state;
    assert_int_equal(plan.limits, GPUMP_RESOURCE_REGISTERS | GPUMP_RESOURCE_SHARED_MEMORY);
    assert_int_equal(plan.unit, GPUMP_DUET_OFF);
    assert_int_equal(plan.homes, 32);
    plan = plan_of(&duet, 256, 64, 0, 20);
    assert_int_equal(plan.limits, GPUMP_RESOURCE_REGISTERS);
    assert_int_equal(plan.unit, GPUMP_DUET_WARP);
    assert_int_equal(plan.first_frame[1], 2048);
    assert_int_equal(plan.frames[1], 768 / 22);
    assert_int_equal(plan.frames[2], 0);
    assert_int_equal(gpump_duet_frame_granule(&plan, 0), 2048);
    assert_int_equal(gpump_duet_frame_granule(&plan, 3), 2048 + 3 * 22);
    plan = plan_of(&block, 256, 64, 0, 20);
    assert_int_equal(plan.unit, GPUMP_DUET_BLOCK);
    assert_int_equal(plan.frame_granules, 8 * 22);
    assert_int_equal(plan.extra_blocks, 4);
    plan = plan_of(&duet, 32, 8, 0, 8); /* block slots: the table has no more entries */
    assert_int_equal(plan.limits, GPUMP_RESOURCE_BLOCK_SLOTS);
    assert_int_equal(plan.unit, GPUMP_DUET_OFF);
    plan = plan_of(&duet, 1024, 100, 0, 20);
    assert_int_equal(plan.native_blocks, 0);
    assert_int_equal(plan.unit, GPUMP_DUET_OFF);
}

/* Lin Table 3.3, at its edges. */
static void classes_change_at_the_edges_of_lins_table(void **state) {
    const gpump_duet_config config = preset("maxwell_duet");
    static const struct {
        uint32_t scheduler, l1, up, down, l2, dram; /* permille */
        uint32_t kind;
    } cases[] = {
        {590, 590, 590, 590, 590, 490, GPUMP_DUET_UNDERUTILISED},
        {610, 0, 0, 0, 0, 0, GPUMP_DUET_MODERATE},
        {0, 610, 0, 0, 0, 0, GPUMP_DUET_MODERATE},
        {0, 0, 610, 0, 0, 0, GPUMP_DUET_MODERATE},
        {0, 0, 0, 610, 0, 0, GPUMP_DUET_MODERATE},
        {0, 0, 0, 0, 610, 0, GPUMP_DUET_MODERATE},
        {0, 0, 0, 0, 0, 510, GPUMP_DUET_MODERATE},
        {790, 790, 890, 890, 790, 690, GPUMP_DUET_MODERATE},
        {810, 0, 0, 0, 0, 0, GPUMP_DUET_SATURATED},
        {0, 810, 0, 0, 0, 0, GPUMP_DUET_SATURATED},
        {0, 0, 910, 0, 0, 0, GPUMP_DUET_SATURATED},
        {0, 0, 0, 910, 0, 0, GPUMP_DUET_SATURATED},
        {0, 0, 0, 0, 810, 0, GPUMP_DUET_SATURATED},
        {0, 0, 0, 0, 0, 710, GPUMP_DUET_SATURATED},
    };
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gpump_utilisation u;
        u.scheduler_q16 = cases[i].scheduler * 65536 / 1000;
        u.l1_q16 = cases[i].l1 * 65536 / 1000;
        u.up_q16 = cases[i].up * 65536 / 1000;
        u.down_q16 = cases[i].down * 65536 / 1000;
        u.l2_q16 = cases[i].l2 * 65536 / 1000;
        u.dram_q16 = cases[i].dram * 65536 / 1000;
        assert_int_equal(gpumpi_duet_classify(&config, &u), cases[i].kind);
    }
}

/* The room of a whole SM of *gpu whose shared memory is set to its largest size. */
static gpump_room whole_sm(const gpump_gpu *gpu) {
    gpump_room room;
    memset(&room, 0, sizeof room);
    room.registers = gpu->registers;
    room.shared_bytes = gpu->shared_bytes[gpu->shared_option_count - 1];
    room.block_slots = gpu->block_slots;
    room.warp_slots = gpu->warp_slots;
    room.thread_slots = gpu->thread_slots;
    return room;
}

/* The configuration of a GPU is its preset's; machines that a duet cannot serve are refused. */
static void a_configuration_from_a_gpu(void **state) {
    gpump_duet_config config = preset("maxwell_duet");
    gpump_duet_plan plan;
    gpump_footprint need;
    gpump_room room;
    gpump_gpu gpu;
    gpump_diag diag;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_duet_component, &config, "nonsense", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "maxwell_duet", NULL), GPUMP_OK);
    room = whole_sm(&gpu);
    assert_int_equal(gpump_duet_config_from_gpu(&config, &gpu, &room, 32768, &diag), GPUMP_OK);
    assert_memory_equal(&config, (gpump_duet_config[]){preset("maxwell_duet")}, sizeof config);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gfx1100", NULL), GPUMP_OK);
    gpu.lanes = 64;
    assert_int_equal(gpump_duet_config_from_gpu(&config, &gpu, &room, 0, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "lanes");
    config.warp_slots = 129;
    assert_int_equal(gpump_bits(&gpump_duet_component, &config, &bits, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "warp_slots");
    config = preset("maxwell_duet");
    memset(&need, 0, sizeof need);
    assert_int_equal(gpump_duet_plan_make(&config, &need, 1, &plan, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "threads");
}

static gpump_result check_duet(const void *config, gpump_diag *diag) {
    uint64_t bits;
    return gpump_bits(&gpump_duet_component, config, &bits, diag);
}
/* The configuration field by field, as its header says it: what the machine of Lin has, and what is allowed. */
static void every_field_of_a_configuration_has_its_range(void **state) {
#define FIELD(member, minimum, maximum) DIAGNOSED_FIELD(gpump_duet_config, member, minimum, maximum)
    const diagnosed_field fields[] = {FIELD(mode, 0, 2),
                                      FIELD(warps, 1, 256),
                                      FIELD(blocks, 1, 64),
                                      FIELD(warp_slots, 1, 128),
                                      FIELD(block_slots, 1, 32),
                                      FIELD(register_granules, 0, 65536),
                                      FIELD(shared_granules, 0, 65536),
                                      FIELD(l1_granules, 0, 65536),
                                      FIELD(slot_granules, 0, 64),
                                      FIELD(warp_queue, 1, 256),
                                      FIELD(block_queue, 1, 256),
                                      FIELD(port_bytes, 1, 4096),
                                      FIELD(barriers_leave, 0, 2),
                                      FIELD(leaves_early, 0, 1),
                                      FIELD(period_cycles, 1, UINT32_MAX)};
#undef FIELD
    const gpump_duet_config lin = {GPUMP_DUET_MODE_DUET, 128,   32,    64, 32,  2048, 768, 256, 2,   16, 8, 128, 1, 1,
                                   GPUMP_DUET_MONITOR,   10000, 10000, 1,  600, 500,  800, 900, 700, 30};
    gpump_duet_config config = preset("maxwell_duet"), kept;
    gpump_duet_plan plan;
    gpump_footprint need = {32 * GPUMP_DUET_WARPS + 1, 0, 0};
    gpump_room room;
    gpump_gpu gpu;
    gpump_diag diag;
    uint64_t bits;
    (void)state;
    assert_memory_equal(&config, &lin, sizeof lin);
    diagnosed_fields(&config, sizeof config, fields, sizeof fields / sizeof *fields, check_duet);
    assert_int_equal(gpump_preset(&gpump_duet_component, NULL, "maxwell_duet", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_duet_component, &config, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    diagnosed_null(gpump_bits(&gpump_duet_component, NULL, &bits, DIAG), "config");
    diagnosed_null(gpump_bits(&gpump_duet_component, &config, NULL, DIAG), "bits");
    diagnosed_null(gpump_table_bits(&gpump_duet_component, &config, NULL, DIAG), "storage");
    diagnosed_null(gpump_duet_plan_make(&config, &need, 1, NULL, DIAG), "plan");
    diagnosed(gpump_duet_plan_make(&config, &need, 1, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "threads", 0, 8193, 1, 8192);
    diagnosed(gpump_duet_plan_make(&config, NULL, 1, &plan, DIAG), GPUMP_ERROR_ARGUMENT, "threads", 0, 0, 1, 8192);
    /* a machine's own refusals come through, and tables for twice its warps stop at GPUMP_DUET_WARPS */
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "maxwell_duet", NULL), GPUMP_OK);
    gpu.warp_slots = 200;
    room = whole_sm(&gpu);
    assert_int_equal(gpump_duet_config_from_gpu(&config, &gpu, &room, 32768, &diag), GPUMP_OK);
    assert_int_equal(config.warps, 256);
    assert_int_equal(config.warp_slots, 200);
    kept = config;
    gpu.sms = 0;
    assert_int_equal(gpump_duet_config_from_gpu(&config, &gpu, &room, 32768, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "sms");
    assert_memory_equal(&config, &kept, sizeof kept);
}

/* A duet in half an SM beside blocks that the SM itself places: the homes and frames of its plan lie in its room, and
 * the SM's blocks behind it. */
static void half_an_sm(void **state) {
    gpump_duet_config config = preset("maxwell_duet"), kept = config;
    static uint64_t memory[4096];
    gpump_sm_config sizes;
    gpump_sm_request request;
    gpump_block_ref block;
    gpump_block_view views[64];
    gpump_duet_plan plan;
    gpump_room room;
    gpump_gpu gpu;
    gpump_diag diag;
    gpump_sm *sm;
    uint32_t count;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "maxwell_duet", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_sm_component, &sizes, "maxwell_duet", NULL), GPUMP_OK);
    room = whole_sm(&gpu);
    room.registers /= 2;
    room.shared_bytes /= 2;
    room.block_slots /= 2;
    room.warp_slots /= 2;
    room.thread_slots /= 2;
    sizes.placed = room;
    assert_int_equal(gpump_duet_config_from_gpu(&config, &gpu, &room, 0, &diag), GPUMP_OK);
    plan = plan_of(&config, 256, 28, 0, 20);
    assert_true(plan.native_blocks && plan.extra_blocks);
    assert_true(plan.first_frame[0] + plan.frames[0] * plan.frame_granules <= room.registers / 32);
    assert_true(plan.first_frame[1] - config.register_granules + plan.frames[1] * plan.frame_granules <=
                room.shared_bytes / GPUMP_DUET_GRANULE_BYTES);
    assert_int_equal(gpump_init(&gpump_sm_component, memory, sizeof memory, &sizes, &sm, NULL), GPUMP_OK);
    memset(&request, 0, sizeof request);
    request.kernel = 1;
    request.need.threads = 256;
    request.need.registers = 256 * 28;
    request.need.shared_bytes = 4096;
    for (request.cookie = 0; gpump_sm_place(sm, 0, &request, NULL, &block, &diag) == GPUMP_OK; request.cookie++) {}
    assert_int_equal(request.cookie, 4); /* 32 of 64 warps: 4 blocks of 8 */
    assert_int_equal(diag.reason, GPUMP_REASON_WARPS);
    assert_int_equal(gpump_sm_blocks(sm, 0, views, 64, &count), GPUMP_OK);
    for (uint32_t i = 0; i < count; i++)
        assert_true(views[i].register_base >= room.registers && views[i].shared_base >= room.shared_bytes);
    room.warp_slots = gpu.warp_slots + 1;
    kept = config;
    diagnosed(gpump_duet_config_from_gpu(&config, &gpu, &room, 0, DIAG), GPUMP_ERROR_CONFIG, "warp_slots", 0,
              gpu.warp_slots + 1, 1, gpu.warp_slots);
    diagnosed_null(gpump_duet_config_from_gpu(&config, &gpu, NULL, 0, DIAG), "room");
    assert_memory_equal(&config, &kept, sizeof kept);
}

/* Frames begin behind each other in the register file, then in shared memory, then in L1; Virtual Thread has them in
 * shared memory alone. Moves are rounded up. */
static void where_frames_lie(void **state) {
    gpump_duet_config config = preset("maxwell_duet"), slots = preset("virtual_thread");
    gpump_duet_plan plan = plan_of(&slots, 256, 28, 0, 28);
    uint32_t frame = 0;
    (void)state;
    assert_int_equal(plan.frames[0], 0);
    assert_int_equal(plan.frames[1], 768 / 16);
    assert_int_equal(plan.frames[2], 0);
    config.shared_granules = 40; /* 3 frames in registers and 2 here: a block's 6 warps need L1 as a store */
    plan = plan_of(&config, 192, 33, 0, 17);
    assert_int_equal(plan.frames[0], 3);
    assert_int_equal(plan.frames[1], 2);
    assert_int_equal(plan.frames[2], 256 / 19);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < plan.frames[i]; k++, frame++)
            assert_int_equal(gpump_duet_frame_granule(&plan, frame), plan.first_frame[i] + k * plan.frame_granules);
}

/* As many extra blocks as there are frames for all their warps, however small a frame: here a granule of each warp's
 * slot, as no register is live, and only in what the 8 native blocks leave of the register file. */
static void frames_for_every_extra_warp(void **state) {
    gpump_duet_config config = preset("maxwell_duet");
    (void)state;
    config.slot_granules = 1;
    config.shared_granules = config.l1_granules = 0;
    for (uint32_t left = 0; left <= 64; left++) {
        gpump_duet_plan plan;
        config.register_granules = 8 * 8 * 28 + left;
        plan = plan_of(&config, 256, 28, 0, 0);
        assert_int_equal(plan.native_blocks, 8);
        assert_int_equal(plan.unit, left < 8 ? GPUMP_DUET_OFF : GPUMP_DUET_WARP);
        assert_int_equal(plan.extra_blocks, left / 8);
        if (left < 8) continue;
        assert_int_equal(plan.frame_granules, 1);
        assert_int_equal(plan.frames[0], left);
        assert_int_equal(plan.frames[1] | plan.frames[2], 0);
    }
}

/* The last value below each threshold of Lin Table 3.3, and the first that is not. */
static void edges_of_classes(void **state) {
    const gpump_duet_config config = preset("maxwell_duet");
    static const uint32_t edges[6][2] = {{39321, 52428}, {39321, 52428}, {39321, 52428},
                                         {39321, 58982}, {39321, 58982}, {32767, 45875}}; /* 65536 x 0.6, 0.8 ... */
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        gpump_utilisation u;
        uint32_t *const field[6] = {&u.scheduler_q16, &u.l1_q16, &u.l2_q16, &u.up_q16, &u.down_q16, &u.dram_q16};
        memset(&u, 0, sizeof u);
        *field[i] = edges[i][0];
        assert_int_equal(gpumpi_duet_classify(&config, &u), GPUMP_DUET_UNDERUTILISED);
        *field[i] = edges[i][0] + 1;
        assert_int_equal(gpumpi_duet_classify(&config, &u), GPUMP_DUET_MODERATE);
        *field[i] = edges[i][1];
        assert_int_equal(gpumpi_duet_classify(&config, &u), GPUMP_DUET_MODERATE);
        *field[i] = edges[i][1] + 1;
        assert_int_equal(gpumpi_duet_classify(&config, &u), GPUMP_DUET_SATURATED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_is_that_of_lins_table),
        cmocka_unit_test(bt_gets_the_extra_blocks_that_its_frame_allows),
        cmocka_unit_test(hg_gets_the_extra_blocks_that_its_registers_allow),
        cmocka_unit_test(example_dwt_2),
        cmocka_unit_test(the_resource_that_binds_decides_what_moves),
        cmocka_unit_test(classes_change_at_the_edges_of_lins_table),
        cmocka_unit_test(a_configuration_from_a_gpu),
        cmocka_unit_test(every_field_of_a_configuration_has_its_range),
        cmocka_unit_test(half_an_sm),
        cmocka_unit_test(where_frames_lie),
        cmocka_unit_test(frames_for_every_extra_warp),
        cmocka_unit_test(edges_of_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
