/* labels: unit property */
/* gpump_preempted: the mirror is an array of blocks in their order, searched from its beginning. */
#include "model/model.h"

enum { BLOCKS = 40, SMS = 9, KERNELS = 4 };

typedef struct waiting {
    gpump_preempted_block block;
    uint32_t handle;
} waiting;

static struct {
    gpump_preempted *preempted;
    gpump_preempted_config config;
    waiting list[BLOCKS];
    uint32_t count;
    uint32_t last_sm; /* that took a block; before the first one, the last SM */
    uint64_t now;
} w;

static uint32_t place_of(uint32_t handle) {
    uint32_t at = 0;
    while (at < w.count && w.list[at].handle != handle) at++;
    return at;
}
static uint32_t any_sm(void) { return once_in(30) ? w.config.sms : below(w.config.sms); }
static gpump_preempted_block any_block(void) {
    gpump_preempted_block block;
    memset(&block, 0, sizeof block);
    block.cookie = gpump_random_next(&model_random);
    block.kernel = once_in(30) ? 0 : 1 + below(KERNELS);
    block.only_sm = once_in(3) ? any_sm() : GPUMP_NONE;
    block.not_sm = once_in(2) ? any_sm() : GPUMP_NONE;
    block.ready_cycle = once_in(2) ? 0 : once_in(5) ? GPUMP_UNKNOWN : w.now + below(20);
    return block;
}
/* May this block be where it says: is there an SM, of all, that could take it? */
static int is_sound(const gpump_preempted_block *block) {
    uint32_t takers = 0;
    if (!block->kernel || (block->only_sm != GPUMP_NONE && block->only_sm >= w.config.sms)) return 0;
    if (block->not_sm != GPUMP_NONE && block->not_sm >= w.config.sms) return 0;
    for (uint32_t sm = 0; sm < w.config.sms; sm++)
        takers += sm != block->not_sm && (block->only_sm == GPUMP_NONE || block->only_sm == sm);
    return takers != 0;
}
static uint32_t expected_find(uint32_t kernel, uint32_t sm, int only) {
    for (uint32_t i = 0; i < w.count; i++) {
        const gpump_preempted_block *block = &w.list[i].block;
        if (kernel && block->kernel != kernel) continue;
        if (block->ready_cycle == GPUMP_UNKNOWN || block->ready_cycle > w.now || block->not_sm == sm) continue;
        if (only ? block->only_sm == sm : block->only_sm == GPUMP_NONE) return w.list[i].handle;
    }
    return GPUMP_NONE;
}

static void add(void) {
    const gpump_preempted_block block = any_block();
    uint32_t handle = 77;
    const gpump_result expected = !is_sound(&block)            ? GPUMP_ERROR_ARGUMENT
                                  : w.count == w.config.blocks ? GPUMP_ERROR_FULL
                                                               : GPUMP_OK;
    MODEL_CALL(expected, gpump_preempted_add(w.preempted, &block, &handle));
    MODEL_CHECK(expected ? handle == 77 : handle < w.config.blocks && place_of(handle) == w.count);
    if (expected) return;
    w.list[w.count].block = block;
    w.list[w.count++].handle = handle;
}
static void take(uint32_t handle, uint32_t sm) {
    const uint32_t at = place_of(handle);
    const gpump_result expected = sm != GPUMP_NONE && sm >= w.config.sms ? GPUMP_ERROR_ARGUMENT
                                  : at == w.count                        ? GPUMP_ERROR_STATE
                                                                         : GPUMP_OK;
    MODEL_CALL(expected, gpump_preempted_take(w.preempted, handle, sm));
    if (expected) return;
    memmove(&w.list[at], &w.list[at + 1], (w.count - at - 1) * sizeof w.list[0]);
    w.count--;
    if (sm != GPUMP_NONE) w.last_sm = sm;
}
static void change(void) {
    const gpump_preempted_block block = any_block();
    const uint32_t handle = below(w.config.blocks + 1), at = place_of(handle);
    const gpump_result expected = !is_sound(&block) ? GPUMP_ERROR_ARGUMENT
                                  : at == w.count   ? GPUMP_ERROR_STATE
                                                    : GPUMP_OK;
    MODEL_CALL(expected, gpump_preempted_change(w.preempted, handle, &block));
    if (!expected) w.list[at].block = block;
}

static void event(void) {
    const uint32_t sm = below(w.config.sms), kernel = below(KERNELS + 1);
    uint32_t found;
    w.now += below(4);
    switch (below(8)) {
    case 0: change(); break;
    case 1: take(below(w.config.blocks + 1), once_in(3) ? GPUMP_NONE : any_sm()); break;
    case 2:
    case 3:
        found = gpump_preempted_find(w.preempted, w.now, kernel, sm, (int)below(2));
        if (found != GPUMP_NONE) take(found, sm);
        break;
    default: add();
    }
}

static void compare_order(void) {
    uint32_t loads[SMS], order[SMS], asked = 0;
    const int alike = once_in(3);
    const uint32_t least = once_in(3) ? 62 : 0; /* loads above 64 are compared, others counted */
    for (uint32_t sm = 0; sm < w.config.sms; sm++) loads[sm] = alike ? 5 : least + below(4);
    MODEL_CALL(GPUMP_OK, gpump_preempted_order(w.preempted, alike ? NULL : loads, order));
    for (uint32_t i = 0; i < w.config.sms; i++) { /* the next is the best of those not asked, in turn */
        uint32_t best = GPUMP_NONE;
        for (uint32_t n = 1; n <= w.config.sms; n++) {
            const uint32_t sm = (w.last_sm + n) % w.config.sms;
            if (!(asked >> sm & 1) && (best == GPUMP_NONE || loads[sm] < loads[best])) best = sm;
        }
        MODEL_CHECK(order[i] == best);
        asked |= 1u << best;
    }
}

static void compare(void) {
    const uint32_t kernel = below(KERNELS + 1), sm = below(w.config.sms);
    uint32_t at = GPUMP_NONE;
    for (uint32_t i = 0; i < w.count; i++) {
        gpump_preempted_block block;
        if (kernel && w.list[i].block.kernel != kernel) continue;
        at = gpump_preempted_after(w.preempted, kernel, at);
        MODEL_CHECK(at == w.list[i].handle);
        MODEL_CALL(GPUMP_OK, gpump_preempted_get(w.preempted, at, &block));
        MODEL_CHECK(!memcmp(&block, &w.list[i].block, sizeof block));
    }
    MODEL_CHECK(gpump_preempted_after(w.preempted, kernel, at) == GPUMP_NONE);
    for (int only = 0; only < 2; only++)
        MODEL_CHECK(gpump_preempted_find(w.preempted, w.now, kernel, sm, only) == expected_find(kernel, sm, only));
    compare_order();
}

static size_t begin(void *memory) {
    size_t bytes;
    memset(&w, 0, sizeof w);
    w.config.blocks = 1 + below(once_in(2) ? BLOCKS : 4);
    w.config.sms = 1 + below(once_in(2) ? SMS : 2);
    w.last_sm = w.config.sms - 1;
    MODEL_CHECK(gpump_bytes(&gpump_preempted_component, &w.config, &bytes, NULL) == GPUMP_OK);
    MODEL_CHECK(gpump_init(&gpump_preempted_component, memory, bytes, &w.config, &w.preempted, NULL) == GPUMP_OK);
    return bytes;
}
static gpump_result adopt(void *memory, size_t bytes) {
    gpump_result result = gpump_adopt(&gpump_preempted_component, memory, bytes, &w.config, &w.preempted, NULL);
    return result ? result : gpump_check(&gpump_preempted_component, w.preempted, NULL);
}
static uint64_t hash(void) { return gpump_hash(&gpump_preempted_component, w.preempted); }

/* A list of preempted blocks agrees with a plain model after each of random calls. */
static void a_list_and_its_mirror(void **state) {
    static const model preempted = {"preempted", 1000, begin, event, compare, adopt, hash};
    (void)state;
    model_run(&preempted);
}

/* Eight blocks leave one after the other, and each comes back while most SMs are empty: to eight SMs. */
static void blocks_come_back_breadth_first(void **state) {
    const gpump_preempted_config config = {8, 15};
    uint64_t memory[256];
    uint32_t loads[15] = {0}, order[15], most = 0;
    gpump_preempted *preempted;
    (void)state;
    assert_int_equal(gpump_init(&gpump_preempted_component, memory, sizeof memory, &config, &preempted, NULL),
                     GPUMP_OK);
    for (uint32_t i = 0; i < 8; i++) {
        gpump_preempted_block block = {i, 0, 1, GPUMP_NONE, i, 0};
        uint32_t handle, n = 0, found;
        assert_int_equal(gpump_preempted_add(preempted, &block, &handle), GPUMP_OK);
        assert_int_equal(gpump_preempted_order(preempted, loads, order), GPUMP_OK);
        while ((found = gpump_preempted_find(preempted, 0, 1, order[n], 0)) == GPUMP_NONE) n++;
        assert_int_equal(gpump_preempted_take(preempted, found, order[n]), GPUMP_OK);
        if (++loads[order[n]] > most) most = loads[order[n]];
    }
    assert_int_equal(most, 1);
}

/* Wrong configurations are refused, and nothing is written. */
static void wrong_configurations(void **state) {
    gpump_preempted_config config = {8, 4}, wrong;
    uint64_t memory[256];
    size_t bytes;
    uint64_t bits;
    gpump_preempted *preempted = NULL;
    gpump_diag diag;
    (void)state;
    memset(memory, 0x5a, sizeof memory);
    for (int i = 0; i < 5; i++) {
        wrong = config;
        if (i == 0) memset(&wrong, 0, sizeof wrong);
        if (i == 1) wrong.blocks = 0;
        if (i == 2) wrong.blocks = (1u << 24) + 1;
        if (i == 3) wrong.sms = 0;
        if (i == 4) wrong.sms = 65537;
        assert_int_equal(gpump_bytes(&gpump_preempted_component, &wrong, &bytes, &diag), GPUMP_ERROR_CONFIG);
        assert_int_equal(gpump_bits(&gpump_preempted_component, &wrong, &bits, &diag), GPUMP_ERROR_CONFIG);
        assert_int_equal(gpump_init(&gpump_preempted_component, memory, sizeof memory, &wrong, &preempted, &diag),
                         GPUMP_ERROR_CONFIG);
    }
    for (size_t i = 0; i < sizeof memory / 8; i++) assert_true(memory[i] == UINT64_C(0x5a5a5a5a5a5a5a5a));
    assert_int_equal(gpump_bits(&gpump_preempted_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, 8 * (64 + 64 + 32 + 2 * 3 + 2 * 4) + 2);
}

/* Where the SM is kept whose turn it is: the one number that, altered, begins the order with another SM. */
static uint32_t *place_of_turn(gpump_preempted *preempted, uint32_t *words, uint32_t count) {
    uint32_t order[4];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t was = words[i];
        if (was != 3) continue;
        words[i] = 2;
        assert_int_equal(gpump_preempted_order(preempted, NULL, order), GPUMP_OK);
        words[i] = was;
        if (order[0] == 2) return &words[i];
    }
    fail_msg("no number is the turn");
    return NULL;
}
/* Memory in which an SM beyond the last has its turn is refused. */
static void a_turn_beyond_the_last_sm_is_refused(void **state) {
    const gpump_preempted_config config = {2, 4};
    const gpump_preempted_block block = {7, 0, 1, GPUMP_NONE, GPUMP_NONE, 0};
    uint64_t memory[64];
    uint32_t handle, *turn;
    size_t bytes;
    gpump_preempted *preempted;
    gpump_diag diag;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_preempted_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_preempted_component, memory, bytes, &config, &preempted, NULL), GPUMP_OK);
    assert_int_equal(gpump_preempted_add(preempted, &block, &handle), GPUMP_OK);
    assert_int_equal(gpump_preempted_take(preempted, handle, 2), GPUMP_OK);
    turn = place_of_turn(preempted, (uint32_t *)(void *)memory, (uint32_t)(bytes / 4));
    for (uint32_t i = 0; i < 8; i++) {
        *turn = i;
        if (i < 4) {
            assert_int_equal(gpump_check(&gpump_preempted_component, preempted, NULL), GPUMP_OK);
            continue;
        }
        assert_int_equal(gpump_check(&gpump_preempted_component, preempted, &diag), GPUMP_ERROR_FORMAT);
        assert_string_equal(diag.field, "an SM beyond the last has its turn");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_and_its_mirror),
        cmocka_unit_test(blocks_come_back_breadth_first),
        cmocka_unit_test(wrong_configurations),
        cmocka_unit_test(a_turn_beyond_the_last_sm_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
