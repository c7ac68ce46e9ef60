/* labels: unit property */
/* gpump_context_pool: the mirror is a list of contexts with their owners. */
#include "model/model.h"

enum { KERNELS = 6, CONTEXTS = 150 };

static struct {
    gpump_context_pool *pool;
    gpump_context_pool_config config;
    uint32_t owner[KERNELS]; /* of each space; 0: none */
    uint8_t taken[KERNELS][CONTEXTS];
} w;

static uint32_t space_of(uint32_t kernel) {
    for (uint32_t i = 0; i < w.config.kernels; i++)
        if (w.owner[i] == kernel) return i;
    return GPUMP_NONE;
}
static uint32_t taken_in(uint32_t space) {
    uint32_t taken = 0;
    for (uint32_t i = 0; i < w.config.contexts; i++) taken += w.taken[space][i];
    return taken;
}

static void event(void) {
    const uint32_t kernel = below(KERNELS + 2), space = kernel ? space_of(kernel) : GPUMP_NONE;
    gpump_result expected = GPUMP_OK;
    uint64_t context = 77;
    switch (below(10)) {
    case 0:
        if (!kernel)
            expected = GPUMP_ERROR_ARGUMENT;
        else if (space != GPUMP_NONE)
            expected = GPUMP_ERROR_STATE;
        else if (space_of(0) == GPUMP_NONE)
            expected = GPUMP_ERROR_FULL;
        MODEL_CALL(expected, gpump_context_pool_open(w.pool, kernel));
        if (!expected) w.owner[space_of(0)] = kernel;
        break;
    case 1:
        if (!kernel)
            expected = GPUMP_ERROR_ARGUMENT;
        else if (space == GPUMP_NONE || taken_in(space))
            expected = GPUMP_ERROR_STATE;
        MODEL_CALL(expected, gpump_context_pool_close(w.pool, kernel));
        if (!expected) w.owner[space] = 0;
        break;
    case 2:
    case 3:
    case 4:
    case 5:
    case 6: {
        const uint64_t bytes =
            once_in(10) ? w.config.context_bytes + below(2) : below((uint32_t)w.config.context_bytes);
        uint32_t lowest = 0;
        if (!kernel)
            expected = GPUMP_ERROR_ARGUMENT;
        else if (space == GPUMP_NONE)
            expected = GPUMP_ERROR_STATE;
        else if (bytes > w.config.context_bytes)
            expected = GPUMP_ERROR_CAPACITY;
        else if (taken_in(space) == w.config.contexts)
            expected = GPUMP_ERROR_FULL;
        MODEL_CALL(expected, gpump_context_pool_take(w.pool, kernel, bytes, &context));
        if (expected) {
            MODEL_CHECK(context == 77);
            break;
        }
        while (w.taken[space][lowest]) lowest++;
        MODEL_CHECK(context == (uint64_t)space * w.config.contexts + lowest);
        w.taken[space][lowest] = 1;
        break;
    }
    default:
        context = below(w.config.kernels * w.config.contexts + 2);
        if (context >= w.config.kernels * w.config.contexts)
            expected = GPUMP_ERROR_ARGUMENT;
        else if (!w.taken[context / w.config.contexts][context % w.config.contexts])
            expected = GPUMP_ERROR_STATE;
        MODEL_CALL(expected, gpump_context_pool_give(w.pool, context));
        if (!expected) w.taken[context / w.config.contexts][context % w.config.contexts] = 0;
    }
}

static void compare(void) {
    for (uint32_t kernel = 0; kernel < KERNELS + 2; kernel++) {
        const uint32_t space = kernel ? space_of(kernel) : GPUMP_NONE;
        const gpump_context_room room = gpump_context_pool_room(w.pool, kernel);
        MODEL_CHECK(room.kernel == kernel);
        MODEL_CHECK(room.contexts == (space == GPUMP_NONE ? 0 : w.config.contexts - taken_in(space)));
        MODEL_CHECK(room.context_bytes == (space == GPUMP_NONE ? 0 : w.config.context_bytes));
    }
}

static size_t begin(void *memory) {
    size_t bytes;
    memset(&w, 0, sizeof w);
    w.config.kernels = 1 + below(KERNELS);
    w.config.contexts = 1 + below(once_in(2) ? CONTEXTS : 5);
    w.config.context_bytes = 1 + below(100);
    MODEL_CHECK(gpump_bytes(&gpump_context_pool_component, &w.config, &bytes, NULL) == GPUMP_OK);
    MODEL_CHECK(gpump_init(&gpump_context_pool_component, memory, bytes, &w.config, &w.pool, NULL) == GPUMP_OK);
    return bytes;
}
static gpump_result adopt(void *memory, size_t bytes) {
    gpump_result result = gpump_adopt(&gpump_context_pool_component, memory, bytes, &w.config, &w.pool, NULL);
    return result ? result : gpump_check(&gpump_context_pool_component, w.pool, NULL);
}
static uint64_t hash(void) { return gpump_hash(&gpump_context_pool_component, w.pool); }

/* A context pool agrees with a plain model after each of random calls. */
static void a_pool_and_its_mirror(void **state) {
    static const model pool = {"pool", 1000, begin, event, compare, adopt, hash};
    (void)state;
    model_run(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_and_its_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
