/* A host of our own for components with memory: random calls, legal ones, wrong ones, and legal ones in an illegal
 * order, against a mirror in plain C that is written from the header alone.
 *
 * A component joins with one file, tests/model/<component>.c: a `model` that says how to make the component with a
 * random configuration, how to do one random event, and how to compare everything that can be asked with the mirror.
 * model_run does the rest:
 *   - MODEL_CALL holds every result against what the mirror expects, and compares the memory of the component byte by
 *     byte after each error: an error changes nothing.
 *   - At random moments the memory is copied to another place, the old place is overwritten, the copy is adopted and
 *     checked, and the host goes on with it. A bit that is altered is refused, or changes the hash, or
 *     has no effect.
 *   - Behind the memory lies a red zone that no call may write. MODEL_RISES, in `compare`, says that counters rise.
 *   - After `per_life` events a new configuration begins.
 * An event is one call of `event`. Continuous integration does MODEL_EVENTS of each component; GPUMP_TEST_CASES=100
 * does a hundred times as many, and a small fraction MODEL_LEAST. A failure prints seed and event; GPUMP_TEST_SEED
 * repeats it. */
#ifndef GPUMP_MODEL_H
#define GPUMP_MODEL_H
#include "test.h"

enum { MODEL_EVENTS = 1000000, MODEL_LEAST = 250000, MODEL_MEMORY_BYTES = 1 << 18 };

typedef struct model {
    const char *name;
    uint32_t per_life; /* events with one configuration */
    /* Chooses a configuration, makes the component in `memory` and an empty mirror. Returns the component's size. */
    size_t (*begin)(void *memory);
    /* One random call, held against the mirror by MODEL_CALL. */
    void (*event)(void);
    /* Compares all that can be asked with the mirror; MODEL_CHECK. */
    void (*compare)(void);
    /* Takes over the memory at its new place: _adopt and, where there is one, _check. */
    gpump_result (*adopt)(void *memory, size_t bytes);
    uint64_t (*hash)(void);
} model;

static uint64_t model_random, model_event_number, model_seed;
static uint64_t model_memory[2][MODEL_MEMORY_BYTES / 8], model_before[MODEL_MEMORY_BYTES / 8];
static uint64_t *model_here; /* where the component lies now */
static size_t model_bytes;

#define MODEL_CHECK(condition) test_check(condition, model_seed, model_event_number)

/* Does `call`, which must return `expected`; after an error the memory must be as before. */
#define MODEL_CALL(expected, call)                                                                             \
    do {                                                                                                       \
        const gpump_result expected_ = (expected);                                                             \
        gpump_result result_;                                                                                  \
        memcpy(model_before, model_here, model_bytes);                                                         \
        result_ = (call);                                                                                      \
        if (result_ != expected_)                                                                              \
            fail_msg("%s:%d: %s is %s, not %s (GPUMP_TEST_SEED=%llu, event %llu)", __FILE__, __LINE__, #call,  \
                     gpump_result_name(result_), gpump_result_name(expected_), (unsigned long long)model_seed, \
                     (unsigned long long)model_event_number);                                                  \
        if (result_ < 0) MODEL_CHECK(!memcmp(model_before, model_here, model_bytes));                          \
    } while (0)

/* Counters only rise. `statistics` is a struct of 64-bit counters, one struct per model. */
#define MODEL_RISES(statistics) model_rises((const uint64_t *)(const void *)&(statistics), sizeof(statistics) / 8)
enum { MODEL_COUNTERS = 64, MODEL_RED_WORDS = 32 };
static uint64_t model_counters[MODEL_COUNTERS];
static inline void model_rises(const uint64_t *counters, size_t count) {
    assert_true(count <= MODEL_COUNTERS);
    for (size_t i = 0; i < count; i++) MODEL_CHECK(counters[i] >= model_counters[i]);
    memcpy(model_counters, counters, count * sizeof *counters);
}

static inline uint32_t below(uint32_t limit) { return gpump_random_below(&model_random, limit); }
static inline int once_in(uint32_t times) { return below(times) == 0; }

/* A time for a call: mostly `now`; now and then one that is refused, before `told`, the time of the last call. */
static inline uint64_t model_time(uint64_t now, uint64_t told) {
    if (!once_in(60)) return now;
    return told && once_in(2) ? told - 1 : GPUMP_UNKNOWN;
}
static inline int model_time_is_wrong(uint64_t time, uint64_t told) { return time < told || time == GPUMP_UNKNOWN; }

/* Behind the component lies a red zone that no call may write. */
static void model_paint_red(void) {
    for (size_t i = 0; i < MODEL_RED_WORDS; i++) model_here[model_bytes / 8 + i] = UINT64_C(0x5ed5ed5ed5ed5ed5);
}
static void model_check_red(void) {
    for (size_t i = 0; i < MODEL_RED_WORDS; i++)
        MODEL_CHECK(model_here[model_bytes / 8 + i] == UINT64_C(0x5ed5ed5ed5ed5ed5));
}

static void model_move(const model *m) {
    uint64_t *there = model_here == model_memory[0] ? model_memory[1] : model_memory[0];
    uint64_t hash = m->hash();
    memcpy(there, model_here, model_bytes);
    memset(model_here, 0xa5, model_bytes + MODEL_RED_WORDS * 8);
    model_here = there;
    model_paint_red();
    for (int i = 0; i < 2; i++) {
        const uint32_t bit = below((uint32_t)model_bytes * 8);
        there[bit >> 6] ^= UINT64_C(1) << (bit & 63);
        /* Neither refused nor hashed: the bit stays altered, and what follows shows whether it has an effect. */
        if (m->adopt(there, model_bytes) == GPUMP_OK && m->hash() == hash) continue;
        there[bit >> 6] ^= UINT64_C(1) << (bit & 63);
    }
    MODEL_CHECK(m->adopt(there, model_bytes) == GPUMP_OK);
    MODEL_CHECK(m->hash() == hash);
    MODEL_CHECK(m->adopt(there, model_bytes - 8) < 0); /* cut off */
    MODEL_CHECK(m->adopt(there, model_bytes) == GPUMP_OK);
}

static void model_run(const model *m) {
    uint64_t events = test_cases(MODEL_EVENTS);
    if (events < MODEL_LEAST) events = MODEL_LEAST;
    model_seed = model_random = test_seed();
    for (model_event_number = 0; model_event_number < events; model_event_number++) {
        if (model_event_number % m->per_life == 0) {
            model_here = model_memory[0];
            model_bytes = m->begin(model_here);
            assert_true(model_bytes % 8 == 0 && model_bytes + MODEL_RED_WORDS * 8 <= MODEL_MEMORY_BYTES);
            memset(model_counters, 0, sizeof model_counters);
            model_paint_red();
        }
        m->event();
        m->compare();
        model_check_red();
        if (once_in(50)) model_move(m);
    }
}
#endif
