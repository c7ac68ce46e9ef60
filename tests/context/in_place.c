/* labels: unit property golden */
#include "test.h"

static gpump_block_view view(uint32_t register_base, uint32_t registers, uint32_t shared_base, uint32_t shared_bytes) {
    gpump_block_view v;
    memset(&v, 0, sizeof v);
    v.register_base = register_base;
    v.registers = registers;
    v.shared_base = shared_base;
    v.shared_bytes = shared_bytes;
    v.may = 1u << GPUMP_TECHNIQUE_SWITCH;
    return v;
}

static gpump_result find(const gpump_block_view *blocks, uint32_t count, uint32_t registers, uint32_t shared_bytes,
                         const gpump_in_place_need *need, gpump_in_place_plan *plan, gpump_diag *diag) {
    gpump_in_place_sm sm = {blocks, count, registers, shared_bytes, {0, 0, 0, 0, 0, 0}};
    return gpump_in_place_find(&sm, need, plan, diag);
}

/* L.inplace.example: Lin Fig. 2.4. 1024 vector registers of 32 lanes, 48 KB. */
static void lin_figure_2_4(void **state) {
    gpump_block_view k1[3];
    gpump_in_place_need need = {2, 200 * 32, 10240, GPUMP_IN_PLACE_FROM_ZERO, GPUMP_IN_PLACE_BEST};
    gpump_in_place_plan plan;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) k1[i] = view(i * 300 * 32, 300 * 32, i * 8192, 8192);
    assert_int_equal(find(k1, 3, 32768, 49152, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.register_blocks, 2);
    assert_int_equal(plan.shared_blocks, 0);
    assert_int_equal(plan.give_up[0], 1);
    assert_int_equal(plan.give_up[1], 1);
    assert_int_equal(plan.give_up[2], 0);
    assert_int_equal(plan.register_bases[1], 200 * 32);
    assert_int_equal(plan.shared_bases[0], 24576);
    assert_int_equal(plan.register_bytes, 2 * 300 * 128);
    need.register_placement = GPUMP_IN_PLACE_BEST; /* one is enough when positions are free */
    assert_int_equal(find(k1, 3, 32768, 49152, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.register_blocks, 1);
    assert_int_equal(plan.shared_blocks, 0);
    assert_int_equal(plan.give_up[2], 1);
    assert_int_equal(plan.register_bases[0], 600 * 32);
    assert_int_equal(plan.register_bases[1], 800 * 32);
}

/* Registers and bytes in which another component places blocks: what a plan does, it does behind them, as if the SM
 * began there. */
static void room_of_others_is_left_alone(void **state) {
    gpump_block_view views[3] = {view(0, 0, 0, 0), view(64, 16, 100, 20), view(80, 40, 120, 20)}, shifted[3];
    gpump_in_place_sm sm = {views, 3, 128, 160, {64, 100, 4, 16, 512, 0}},
                      alone = {shifted, 3, 64, 60, {0, 0, 0, 0, 0, 0}};
    gpump_in_place_plan plan, plan_alone;
    gpump_diag diag;
    (void)state;
    memcpy(shifted, views, sizeof views);
    for (uint32_t i = 1; i < 3; i++) {
        shifted[i].register_base -= 64;
        shifted[i].shared_base -= 100;
    }
    for (uint32_t placement = 0; placement < 9; placement++) {
        gpump_in_place_need need = {2, 16, 20, placement % 3, placement / 3};
        assert_int_equal(gpump_in_place_find(&sm, &need, &plan, NULL), GPUMP_OK);
        assert_int_equal(gpump_in_place_find(&alone, &need, &plan_alone, NULL), GPUMP_OK);
        assert_memory_equal(plan.give_up, plan_alone.give_up, sizeof plan.give_up);
        assert_int_equal(plan.register_bytes, plan_alone.register_bytes);
        for (uint32_t q = 0; q < 2; q++) {
            assert_int_equal(plan.register_bases[q], plan_alone.register_bases[q] + 64);
            assert_int_equal(plan.shared_bases[q], plan_alone.shared_bases[q] + 100);
        }
    }
    /* a whole register file would fit without the others */
    assert_int_equal(gpump_in_place_find(&sm, &(gpump_in_place_need){1, 65, 0, 2, 2}, &plan, &diag),
                     GPUMP_ERROR_REFUSED);
    assert_int_equal(diag.reason, GPUMP_REASON_REGISTERS);
    views[1].register_base = 63; /* a block among the others */
    assert_int_equal(gpump_in_place_find(&sm, &(gpump_in_place_need){1, 8, 0, 2, 2}, &plan, &diag),
                     GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "blocks.register_base");
    sm.placed.registers = 129;
    assert_int_equal(gpump_in_place_find(&sm, &(gpump_in_place_need){1, 8, 0, 2, 2}, &plan, &diag),
                     GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "placed.registers");
}

/* ---- every subset, every placement: the naive answer ---- */
static int naive_fits(const uint32_t *base, const uint32_t *length, uint32_t count, uint32_t gone, uint32_t capacity,
                      uint32_t size, uint32_t wanted, uint32_t placement) {
    uint32_t at = 0, placed = 0;
    if (!size) return 1;
    while (at + size <= capacity && placed < wanted) { /* greedy from the left is optimal for equal sizes */
        int hit = 0;
        for (uint32_t i = 0; i < count; i++)
            if (!(gone >> i & 1) && length[i] && base[i] < at + size && at < base[i] + length[i]) hit = 1;
        if (placement == GPUMP_IN_PLACE_FROM_ZERO && hit) return 0;
        if (!hit) placed++;
        at += hit ? (placement == GPUMP_IN_PLACE_BEST ? 1 : size) : size;
    }
    return placed == wanted;
}

/* The plan in place is the one that trying every subset of the blocks finds. */
static void agrees_with_every_subset(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(3000); n++) {
        enum { CAPACITY = 60, SHARED = 40 };
        uint32_t count = gpump_random_below(&random, 7), base[2][8], length[2][8], capacity[2] = {CAPACITY, SHARED},
                 size[2], at;
        uint32_t bases[2][64], fewest[2], placements[2], fixed = 0;
        gpump_block_view views[8];
        gpump_in_place_need need;
        gpump_in_place_plan plan;
        gpump_result result;
        memset(length, 0, sizeof length);
        for (int part = 0; part < 2; part++) {
            at = 0;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t room = capacity[part] - at;
                base[part][i] = at + gpump_random_below(&random, 4);
                if (base[part][i] >= capacity[part]) base[part][i] = capacity[part];
                room = capacity[part] - base[part][i];
                length[part][i] = room ? gpump_random_below(&random, room < 14 ? room + 1 : 14) : 0;
                at = base[part][i] + length[part][i];
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            views[i] = view(base[0][i], length[0][i], base[1][i], length[1][i]);
            if (!gpump_random_below(&random, 8)) {
                views[i].may = 0;
                fixed |= 1u << i;
            }
        }
        for (uint32_t i = count; i > 1; i--) { /* the caller's order is any */
            uint32_t other = gpump_random_below(&random, i);
            gpump_block_view swap = views[i - 1];
            uint32_t bit = fixed >> (i - 1) & 1, bit_other = fixed >> other & 1;
            views[i - 1] = views[other];
            views[other] = swap;
            fixed = (fixed & ~(1u << (i - 1)) & ~(1u << other)) | bit_other << (i - 1) | bit << other;
        }
        for (uint32_t i = 0; i < count; i++) {
            base[0][i] = views[i].register_base, length[0][i] = views[i].registers;
            base[1][i] = views[i].shared_base, length[1][i] = views[i].shared_bytes;
        }
        need.blocks = 1 + gpump_random_below(&random, 5);
        need.registers = size[0] = gpump_random_below(&random, 20);
        need.shared_bytes = size[1] = gpump_random_below(&random, 15);
        need.register_placement = placements[0] = gpump_random_below(&random, 3);
        need.shared_placement = placements[1] = gpump_random_below(&random, 3);
        for (int part = 0; part < 2; part++) {
            fewest[part] = UINT32_MAX;
            for (uint32_t gone = 0; gone < 1u << count; gone++)
                if (!(gone & fixed) && naive_fits(base[part], length[part], count, gone, capacity[part], size[part],
                                                  need.blocks, placements[part])) {
                    uint32_t blocks = 0;
                    for (uint32_t i = 0; i < count; i++) blocks += (gone >> i & 1) && length[part][i];
                    if (blocks < fewest[part]) fewest[part] = blocks;
                }
        }
        result = find(views, count, CAPACITY, SHARED, &need, &plan, NULL);
        test_check((result == GPUMP_OK) == (fewest[0] != UINT32_MAX && fewest[1] != UINT32_MAX), seed, n);
        if (result) continue;
        memcpy(bases[0], plan.register_bases, sizeof plan.register_bases);
        memcpy(bases[1], plan.shared_bases, sizeof plan.shared_bases);
        test_check(plan.register_blocks == fewest[0] && plan.shared_blocks == fewest[1], seed, n);
        for (int part = 0; part < 2; part++) { /* and the plan can be carried out */
            for (uint32_t q = 0; q < need.blocks && size[part]; q++) {
                test_check(bases[part][q] + size[part] <= capacity[part], seed, n);
                if (placements[part] != GPUMP_IN_PLACE_BEST) test_check(bases[part][q] % size[part] == 0, seed, n);
                if (q) test_check(bases[part][q] >= bases[part][q - 1] + size[part], seed, n);
                for (uint32_t i = 0; i < count; i++)
                    if (!(plan.give_up[i] >> part & 1) && length[part][i])
                        test_check(bases[part][q] >= base[part][i] + length[part][i] ||
                                       base[part][i] >= bases[part][q] + size[part],
                                   seed, n);
            }
            for (uint32_t i = 0; i < count; i++) test_check(!(plan.give_up[i] && (fixed >> i & 1)), seed, n);
        }
    }
}

/* The plan in place handles as many blocks as an SM has at most, and refuses one more. */
static void sizes_at_the_limit(void **state) {
    gpump_block_view views[64];
    gpump_in_place_need need = {64, 16, 1, GPUMP_IN_PLACE_BEST, GPUMP_IN_PLACE_ALIGNED};
    gpump_in_place_plan plan;
    gpump_diag diag;
    (void)state;
    for (uint32_t i = 0; i < 64; i++) views[i] = view(i * 32, 32, i, 1);
    assert_int_equal(find(views, 64, 2048, 64, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.register_blocks, 32);
    assert_int_equal(plan.shared_blocks, 64);
    assert_int_equal(find(views, 65, 2048, 64, &need, &plan, &diag), GPUMP_ERROR_ARGUMENT);
    need.blocks = 0;
    assert_int_equal(find(views, 64, 2048, 64, &need, &plan, &diag), GPUMP_ERROR_ARGUMENT);
    need.blocks = 64;
    need.registers = 33;
    assert_int_equal(find(views, 64, 2048, 64, &need, &plan, &diag), GPUMP_ERROR_REFUSED);
    assert_int_equal(diag.reason, GPUMP_REASON_REGISTERS);
    need.registers = 0;
    views[3].register_base = 2040;
    assert_int_equal(find(views, 64, 2048, 64, &need, &plan, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "blocks.register_base");
    assert_int_equal(find(NULL, 0, 2048, 64, &need, &plan, NULL), GPUMP_OK);
    assert_int_equal(plan.blocks, 0);
}

/* Ranges that overlap, or lie outside, are named: of those in order of place the first, with what it may be. */
static void wrong_ranges_are_named(void **state) {
    enum { CAPACITY = 1000, COUNT = 5 };
    uint64_t random = test_seed(), refused = 0, taken = 0;
    (void)state;
    for (uint64_t n = 0; n < 4000; n++) {
        gpump_block_view blocks[COUNT];
        gpump_in_place_sm sm;
        gpump_in_place_need need;
        gpump_in_place_plan plan;
        gpump_diag diag;
        uint32_t order[COUNT], low = gpump_random_below(&random, 50), least = low, i;
        const uint32_t shared = gpump_random_below(&random, 2);
        gpump_result result;
        memset(&sm, 0, sizeof sm);
        memset(&need, 0, sizeof need);
        memset(blocks, 0, sizeof blocks);
        sm.blocks = blocks;
        sm.count = COUNT;
        sm.registers = sm.shared_bytes = CAPACITY;
        *(shared ? &sm.placed.shared_bytes : &sm.placed.registers) = low;
        need.blocks = 1;
        for (i = 0; i < COUNT; i++) {
            const uint32_t base = 60 + 180 * (i * 2 % COUNT) + gpump_random_below(&random, 60),
                           length = gpump_random_below(&random, 40) ? 1 + gpump_random_below(&random, 130) : 1100;
            *(shared ? &blocks[i].shared_base : &blocks[i].register_base) = base;
            *(shared ? &blocks[i].shared_bytes : &blocks[i].registers) = length;
            order[i * 2 % COUNT] = i;
        }
        result = gpump_in_place_find(&sm, &need, &plan, &diag);
        for (i = 0; i < COUNT; i++) {
            const gpump_block_view *b = &blocks[order[i]];
            const uint64_t base = shared ? b->shared_base : b->register_base,
                           length = shared ? b->shared_bytes : b->registers;
            if (base < least || base + length > CAPACITY) {
                assert_int_equal(result, GPUMP_ERROR_ARGUMENT);
                assert_string_equal(diag.field, shared ? "blocks.shared_base" : "blocks.register_base");
                assert_true(diag.index == order[i] && diag.value == base && diag.minimum == least);
                assert_true(diag.maximum == CAPACITY - (length < CAPACITY ? length : CAPACITY));
                break;
            }
            least = (uint32_t)(base + length);
        }
        if (i == COUNT) assert_int_equal(result, GPUMP_OK);
        refused += i < COUNT;
        taken += i == COUNT;
        *(shared ? &sm.placed.shared_bytes : &sm.placed.registers) = CAPACITY + 1;
        assert_int_equal(gpump_in_place_find(&sm, &need, &plan, &diag), GPUMP_ERROR_ARGUMENT);
        assert_string_equal(diag.field, shared ? "placed.shared_bytes" : "placed.registers");
        assert_true(diag.index == 0 && diag.value == CAPACITY + 1 && diag.minimum == 0 && diag.maximum == CAPACITY);
    }
    assert_true(refused > 400 && taken > 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_ranges_are_named),       cmocka_unit_test(lin_figure_2_4),
        cmocka_unit_test(room_of_others_is_left_alone), cmocka_unit_test(agrees_with_every_subset),
        cmocka_unit_test(sizes_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
