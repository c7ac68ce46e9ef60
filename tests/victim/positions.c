/* labels: unit */
/* Places of an SM by hand: the geometry, what a block keeps, and the storage of a GPU's presets. */
#include "test.h"

static gpump_gpu gpu;
static gpump_victim_geometry geometry(uint32_t threads, uint32_t registers, uint32_t shared_bytes, int garbage) {
    gpump_footprint need = {0, 0, 0};
    gpump_victim_geometry g;
    need.threads = threads;
    need.registers = registers;
    need.shared_bytes = shared_bytes;
    memset(&g, garbage, sizeof g);
    assert_int_equal(gpump_victim_geometry_init(&g, &gpu, &need, 49152, NULL), GPUMP_OK);
    return g;
}

/* The positions of a kernel by registers or shared memory, whichever is scarcer. */
static void positions_are_what_divides_best(void **state) {
    gpump_victim_geometry a, b;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    a = geometry(256, 8192, 0, 0x55);
    b = geometry(256, 8192, 0, 0xaa);
    assert_memory_equal(&a, &b, offsetof(gpump_victim_geometry, entries)); /* nothing of what was there before */
    assert_int_equal(a.unused, 0);
    assert_int_equal(a.positions, gpu.registers / 8192);
    a = geometry(64, 64, 12288, 0);
    assert_int_equal(a.positions, 4);                                            /* shared memory is scarcer */
    for (uint32_t registers = 64; registers <= gpu.registers; registers += 64) { /* divisions without a division */
        gpump_footprint need = {64, 0, 0};
        gpump_victim_geometry g;
        need.registers = registers;
        if (gpump_victim_geometry_init(&g, &gpu, &need, 49152, NULL)) continue;
        for (uint64_t x = 0; x < 1u << 20; x += g.registers) {
            assert_true((x * g.register_factor) >> 40 == x / g.registers);
            assert_true(((x + g.registers - 1) * g.register_factor) >> 40 == x / g.registers);
        }
    }
}

/* Where one register and one byte may be given out, positions may have any size: the quotients are right as well. */
static void positions_of_any_size_divide_right(void **state) {
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    gpu.register_granule = gpu.shared_granule_bytes = 1;
    for (uint32_t size = 1; size <= 70; size++) {
        const gpump_victim_geometry g = geometry(1, size, size, 0);
        for (uint64_t x = 0; x <= 49152; x += 1 + x % 7) {
            if (x * size < 1u << 20) assert_int_equal((x * size * g.register_factor) >> 40, x);
            assert_int_equal((x * g.shared_factor) >> 40, x / g.shared_bytes);
        }
    }
}

/* Only the views that are handed over count, and a GPU may have as many positions as there are bits. */
static void sixty_four_positions(void **state) {
    gpump_block_view views[4];
    gpump_victim_geometry g;
    uint64_t sets[GPUMP_VICTIM_POSITIONS], taken;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    g = geometry(32, gpu.registers / GPUMP_VICTIM_POSITIONS, 0, 0);
    assert_int_equal(g.positions, GPUMP_VICTIM_POSITIONS);
    memset(views, 0, sizeof views);
    for (uint32_t i = 0; i < 4; i++) {
        views[i].kernel = 9;
        views[i].threads = 32;
        views[i].warps = 1;
        views[i].register_base = (61 + i) * g.registers;
        views[i].registers = g.registers;
        views[i].state = i == 2 ? GPUMP_BLOCK_SAVING : GPUMP_BLOCK_RUNNING;
    }
    views[2].kernel = 1;
    views[2].keep = GPUMP_PART_REGISTERS;
    views[3].register_base = 0;
    gpump_victim_candidates(&g, views, 3, 9, sets, &taken);
    assert_true(taken == (uint64_t)7 << 61);
    for (uint32_t p = 0; p < 64; p++) assert_true(!sets[p]);
}

/* Blocks that are being saved in place take the places of what they keep, and give the rest back. */
static void what_blocks_keep(void **state) {
    gpump_block_view views[3];
    gpump_victim_geometry g;
    uint64_t sets[GPUMP_VICTIM_POSITIONS], taken;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    g = geometry(256, 8192, 12288, 0);
    assert_int_equal(g.positions, 4);
    memset(views, 0, sizeof views);
    for (uint32_t i = 0; i < 3; i++) {
        views[i].block.slot = i;
        views[i].kernel = 1;
        views[i].state = i == 1 ? GPUMP_BLOCK_RUNNING : GPUMP_BLOCK_SAVING;
        views[i].keep = i == 1 ? 0 : GPUMP_PART_REGISTERS;
        views[i].threads = 256;
        views[i].warps = 8;
        views[i].registers = 8192;
        views[i].register_base = i * 8192;
    }
    views[2].shared_bytes = 12288;
    views[2].shared_base = 3 * 12288;
    gpump_victim_candidates(&g, views, 3, 9, sets, &taken);
    assert_true(taken == 5 && sets[1] == 2 && sets[3] == 4);
    gpumpi_victim_candidates_update(sets, 4, 2);
    assert_true(sets[1] == 0 && sets[3] == 4);
}

/* An address of every preset counts up to the larger of its register file and its shared memory. */
static void an_address_reaches_the_larger_of_both_memories(void **state) {
    const char *name;
    (void)state;
    for (uint32_t p = 0; (name = gpump_gpu_preset_name(p)) != NULL; p++) {
        gpump_victim_config a, b;
        uint32_t largest, bits = 0;
        assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, name, NULL), GPUMP_OK);
        memset(&a, 0x55, sizeof a);
        memset(&b, 0xaa, sizeof b);
        assert_int_equal(gpump_preset(&gpump_victim_component, &a, name, NULL), GPUMP_OK);
        assert_int_equal(gpump_preset(&gpump_victim_component, &b, name, NULL), GPUMP_OK);
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(a.sms, gpu.sms);
        if (!strcmp(name, "gtx480_shieh")) {
            assert_true(a.positions == 64 && a.address_bits == 16 && a.candidates == 16 && a.blocks == 16);
            continue;
        }
        largest = gpu.registers;
        for (uint32_t i = 0; i < gpu.shared_option_count; i++)
            largest = gpu.shared_bytes[i] > largest ? gpu.shared_bytes[i] : largest;
        while (bits < 32 && (uint64_t)1 << bits < largest) bits++;
        assert_int_equal(a.address_bits, bits);
        assert_true(a.positions == GPUMP_VICTIM_POSITIONS && a.candidates == gpu.block_slots &&
                    a.blocks == gpu.block_slots);
    }
}

/* Two positions cost the same. One of them also waits for a block that leaves by itself, and is free later: the other
 * is taken, unless the policy does not count such blocks. */
static void a_position_that_waits_is_worse(void **state) {
    gpump_victim_policy policy = *gpump_victim_find("dual");
    gpump_block_view views[3];
    gpump_cost_estimate estimates[3];
    gpump_victim_sm sm;
    gpump_victim_request request;
    gpump_victim_question question;
    gpump_victim_geometry g;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    g = geometry(64, gpu.registers / 2, 0, 0);
    assert_int_equal(g.positions, 2);
    memset(views, 0, sizeof views);
    memset(estimates, 0, sizeof estimates);
    for (uint32_t i = 0; i < 3; i++) { /* two halves of position 0, and position 1 */
        views[i].kernel = 1;
        views[i].state = i ? GPUMP_BLOCK_RUNNING : GPUMP_BLOCK_DRAINING;
        views[i].register_base = i * (gpu.registers / 4);
        views[i].registers = i < 2 ? gpu.registers / 4 : gpu.registers / 2;
        views[i].threads = 64;
        views[i].warps = 2;
        views[i].may = 1u << GPUMP_TECHNIQUE_SWITCH;
        estimates[i].overhead[GPUMP_TECHNIQUE_SWITCH] = 10;
    }
    estimates[0].latency[GPUMP_TECHNIQUE_DRAIN] = 900;
    estimates[2].latency[GPUMP_TECHNIQUE_SWITCH] = 500;
    memset(&sm, 0, sizeof sm);
    sm.blocks = views;
    sm.estimates = estimates;
    sm.count = 3;
    gpump_victim_request_init(&request, 2, 1, 0);
    request.limit_cycles = 1000;
    memset(&question, 0, sizeof question);
    question.policy = &policy;
    question.request = &request;
    question.geometry = &g;
    question.sms = &sm;
    question.sm_count = 1;
    for (uint32_t evicted = 0; evicted < 2; evicted++) {
        gpump_victim_place place;
        gpump_block_choice choices[3];
        gpump_victim_decision decision;
        policy.flags = evicted ? GPUMP_VICTIM_EVICTED : 0;
        question.places = &place;
        question.place_capacity = 1;
        question.choices = choices;
        question.choice_capacity = 3;
        assert_int_equal(gpump_victim_decide(&question, &decision, NULL), GPUMP_OK);
        assert_int_equal(decision.places, 1);
        assert_int_equal(decision.choices, 1);
        assert_int_equal(place.position, !evicted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_what_divides_best),
        cmocka_unit_test(what_blocks_keep),
        cmocka_unit_test(positions_of_any_size_divide_right),
        cmocka_unit_test(sixty_four_positions),
        cmocka_unit_test(an_address_reaches_the_larger_of_both_memories),
        cmocka_unit_test(a_position_that_waits_is_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
