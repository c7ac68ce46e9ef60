/* labels: unit property */
/* tlb against a plain model that keeps lists, and Table 6.1's two TLBs. */
#include "test.h"

enum { WORDS = 1 << 15, PAGES = 48, WAITERS = 12, MISSES = 5, ENTRIES = 8, WAYS = 2, SETS = ENTRIES / WAYS };

/* ---- the model: translations by age, misses with their waiters in order ---- */

typedef struct known {
    uint64_t page;
    uint32_t process, rights;
} known;
typedef struct missed {
    uint64_t page, waiters[WAITERS];
    uint32_t process, count;
} missed;
typedef struct model {
    known known[SETS][WAYS]; /* the least recently used first */
    uint32_t knows[SETS];
    missed missed[MISSES];
    uint32_t misses, waiters;
} model;

static known *model_known(model *m, uint32_t process, uint64_t page) {
    for (uint32_t i = 0; i < m->knows[page % SETS]; i++)
        if (m->known[page % SETS][i].page == page && m->known[page % SETS][i].process == process)
            return &m->known[page % SETS][i];
    return NULL;
}
static void model_forget(model *m, known *one) {
    const uint32_t set = (uint32_t)(one->page % SETS);
    memmove(one, one + 1, (size_t)(m->known[set] + m->knows[set] - (one + 1)) * sizeof *one);
    m->knows[set]--;
}
static void model_learn(model *m, known one) {
    const uint32_t set = (uint32_t)(one.page % SETS);
    known *before = model_known(m, one.process, one.page);
    if (before) model_forget(m, before);
    if (m->knows[set] == WAYS) model_forget(m, m->known[set]);
    m->known[set][m->knows[set]++] = one;
}
static missed *model_missed(model *m, uint32_t process, uint64_t page) {
    for (uint32_t i = 0; i < m->misses; i++)
        if (m->missed[i].page == page && m->missed[i].process == process) return &m->missed[i];
    return NULL;
}
static gpump_result model_lookup(model *m, uint32_t process, uint64_t page, uint32_t rights, uint64_t waiter,
                                 uint32_t *outcome) {
    known *k = model_known(m, process, page);
    missed *miss = model_missed(m, process, page);
    if (k) {
        *outcome = (uint32_t)(rights & ~k->rights ? GPUMP_TLB_DENIED : GPUMP_TLB_HIT);
        model_learn(m, *k);
        return GPUMP_OK;
    }
    if (m->waiters == WAITERS || (!miss && m->misses == MISSES)) return GPUMP_BUSY;
    *outcome = (uint32_t)(miss ? GPUMP_TLB_MERGED : GPUMP_TLB_MISS);
    if (!miss) {
        miss = &m->missed[m->misses++];
        memset(miss, 0, sizeof *miss);
        miss->page = page;
        miss->process = process;
    }
    miss->waiters[miss->count++] = waiter;
    m->waiters++;
    return GPUMP_OK;
}
static uint32_t model_fill(model *m, uint32_t process, uint64_t page, uint32_t rights, uint64_t *waiters) {
    missed *miss = model_missed(m, process, page);
    known one, *before = model_known(m, process, page);
    uint32_t count = 0;
    if (miss) {
        count = miss->count;
        memcpy(waiters, miss->waiters, count * sizeof *waiters);
        m->waiters -= count;
        *miss = m->missed[--m->misses];
    }
    one.page = page;
    one.process = process;
    one.rights = rights;
    if (rights)
        model_learn(m, one);
    else if (before)
        model_forget(m, before);
    return count;
}
static gpump_result model_cancel(model *m, uint32_t process, uint64_t page, uint64_t waiter) {
    missed *miss = model_missed(m, process, page);
    for (uint32_t i = 0; miss && i < miss->count; i++)
        if (miss->waiters[i] == waiter) {
            memmove(miss->waiters + i, miss->waiters + i + 1, (miss->count - i - 1) * sizeof *miss->waiters);
            miss->count--;
            m->waiters--;
            return GPUMP_OK;
        }
    return GPUMP_EMPTY;
}
static void model_invalidate(model *m, uint32_t process, uint64_t first, uint64_t pages) {
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t i = m->knows[set]; i-- > 0;) {
            known *k = &m->known[set][i];
            if (k->page >= first && (pages == UINT64_MAX || k->page - first < pages) &&
                (process == GPUMP_TLB_ALL || k->process == process))
                model_forget(m, k);
        }
}

static gpump_tlb *make(uint64_t *memory, gpump_tlb_config *config) {
    gpump_tlb *tlb;
    assert_int_equal(gpump_preset(&gpump_tlb_component, config, "table61_l1", NULL), GPUMP_OK);
    config->entries = ENTRIES;
    config->ways = WAYS;
    config->misses = MISSES;
    config->waiters = WAITERS;
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, WORDS * 8, config, &tlb, NULL), GPUMP_OK);
    return tlb;
}

/* Look-ups, fills and invalidations at random beside a model of lists. */
static void random_calls_agree_with_lists(void **state) {
    static uint64_t memory[WORDS], copy[WORDS];
    const uint64_t cases = test_cases(300);
    (void)state;
    for (uint64_t number = 0; number < cases; number++) {
        uint64_t random = test_seed() * 7919 + number;
        const uint32_t pages = 1 + gpump_random_below(&random, PAGES);
        gpump_tlb_config config;
        gpump_tlb *tlb = make(memory, &config);
        gpump_tlb_statistics s;
        model m;
        uint64_t lookups = 0;
        memset(&m, 0, sizeof m);
        for (uint32_t step = 0; step < 400; step++) {
            const uint32_t process = gpump_random_below(&random, 2), rights = 1 + gpump_random_below(&random, 7);
            const uint64_t page = gpump_random_below(&random, pages), waiter = gpump_random_below(&random, 6);
            uint64_t got[WAITERS], expected[WAITERS];
            uint32_t outcome = 99, wanted = 99, count = 0;
            switch (gpump_random_below(&random, 12)) {
            case 0:
                test_check(gpump_tlb_cancel(tlb, process, page, waiter) == model_cancel(&m, process, page, waiter),
                           test_seed(), number);
                break;
            case 1: {
                const uint32_t whose = gpump_random_below(&random, 3);
                const uint64_t n = gpump_random_below(&random, 3) ? 1 + waiter : UINT64_MAX;
                model_invalidate(&m, whose < 2 ? whose : GPUMP_TLB_ALL, page, n);
                (void)gpump_tlb_invalidate(tlb, whose < 2 ? whose : GPUMP_TLB_ALL, page, n);
                break;
            }
            case 2:
            case 3:
            case 4: { /* a fill that has too little room changes nothing */
                const uint32_t given = gpump_random_below(&random, 4) ? rights : 0;
                const missed *miss = model_missed(&m, process, page);
                const uint64_t before = gpump_hash(&gpump_tlb_component, tlb);
                if (miss && miss->count) {
                    test_check(gpump_tlb_fill(tlb, process, page, given, got, miss->count - 1, &count) ==
                                       GPUMP_ERROR_CAPACITY &&
                                   count == miss->count && gpump_hash(&gpump_tlb_component, tlb) == before,
                               test_seed(), number);
                }
                test_check(gpump_tlb_fill(tlb, process, page, given, got, WAITERS, &count) == GPUMP_OK, test_seed(),
                           number);
                test_check(count == model_fill(&m, process, page, given, expected), test_seed(), number);
                test_check(!memcmp(got, expected, count * sizeof *got), test_seed(), number);
                break;
            }
            default:
                lookups++;
                test_check(gpump_tlb_lookup(tlb, process, page, rights, waiter, &outcome) ==
                               model_lookup(&m, process, page, rights, waiter, &wanted),
                           test_seed(), number);
                test_check(outcome == wanted, test_seed(), number);
            }
            test_check(gpumpi_tlb_in_flight(tlb) == m.misses, test_seed(), number);
            test_check(gpump_check(&gpump_tlb_component, tlb, NULL) == GPUMP_OK, test_seed(), number);
            if (step == 200) { /* a copy goes on alike */
                memcpy(copy, memory, sizeof copy);
                size_t bytes;
                assert_int_equal(gpump_bytes(&gpump_tlb_component, &config, &bytes, NULL), GPUMP_OK);
                test_check(gpump_adopt(&gpump_tlb_component, copy, bytes, &config, &tlb, NULL) == GPUMP_OK, test_seed(),
                           number);
                test_check(gpump_hash(&gpump_tlb_component, tlb) ==
                               gpump_hash(&gpump_tlb_component, (gpump_tlb *)(void *)memory),
                           test_seed(), number);
            }
        }
        gpump_get_statistics(&gpump_tlb_component, tlb, &s);
        test_check(s.hits + s.misses + s.merged + s.denied + s.busy == lookups, test_seed(), number);
    }
}

/* Two pages that evict each other: the fill satisfies its waiter, so nobody looks up for ever. */
static void test_eviction_does_not_starve(void **state) {
    static uint64_t memory[WORDS];
    gpump_tlb_config config;
    gpump_tlb *tlb;
    uint64_t waiter;
    uint32_t outcome, count;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL), GPUMP_OK);
    config.entries = config.ways = 1;
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, sizeof memory, &config, &tlb, NULL), GPUMP_OK);
    for (uint64_t page = 0; page < 2; page++) {
        assert_int_equal(gpump_tlb_lookup(tlb, 0, page, GPUMP_TLB_READ, 70 + page, &outcome), GPUMP_OK);
        assert_int_equal(outcome, GPUMP_TLB_MISS);
    }
    for (uint64_t page = 0; page < 2; page++) {
        assert_int_equal(gpump_tlb_fill(tlb, 0, page, GPUMP_TLB_READ, &waiter, 1, &count), GPUMP_OK);
        assert_int_equal(count, 1);
        assert_int_equal(waiter, 70 + page);
    }
    assert_int_equal(gpump_tlb_lookup(tlb, 0, 0, GPUMP_TLB_READ, 0, &outcome), GPUMP_OK);
    assert_int_equal(outcome, GPUMP_TLB_MISS); /* page 1 has evicted it */
}

/* The presets' numbers; wrong configurations and calls are refused. */
static void presets_and_wrong_calls_of_a_tlb(void **state) {
    static uint64_t memory[WORDS];
    gpump_tlb_config config;
    gpump_tlb_statistics zero, s;
    gpump_diag diag;
    gpump_tlb *tlb;
    uint64_t bits, small, value;
    size_t bytes;
    const char *name;
    uint32_t outcome, count = 0;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l3", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l2", NULL), GPUMP_OK);
    assert_int_equal(config.entries, 1024);
    assert_int_equal(config.ways, 8);
    assert_int_equal(config.misses, 128);
    assert_int_equal(config.waiters, 512);
    assert_int_equal(gpump_bits(&gpump_tlb_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL), GPUMP_OK);
    assert_int_equal(config.entries, 32);
    assert_int_equal(config.ways, 8);
    assert_int_equal(config.misses, 32);
    assert_int_equal(config.waiters, 2048);
    assert_int_equal(gpump_bits(&gpump_tlb_component, &config, &small, NULL), GPUMP_OK);
    assert_true(small < bits);
    /* by hand: 32 x (34 tag + 36 frame + 4 process + 3 rights + 3 order), 32 x (36 + 4 + 1 + 2 x 11), 2048 x 22 */
    assert_int_equal(small, 32 * 80 + 32 * 63 + 2048 * 22);
    config.entries = 24;
    assert_int_equal(gpump_bytes(&gpump_tlb_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG); /* 3 sets */
    config.entries = 32;
    config.ways = 65;
    assert_int_equal(gpump_bytes(&gpump_tlb_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "ways");
    config.ways = 8;
    assert_int_equal(gpump_bytes(&gpump_tlb_component, &config, &bytes, &diag), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, bytes - 1, &config, &tlb, &diag), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, bytes, &config, &tlb, &diag), GPUMP_OK);
    assert_int_equal(gpump_tlb_lookup(tlb, GPUMP_TLB_ALL, 0, 1, 0, &outcome), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_tlb_lookup(tlb, 0, 0, 0, 0, &outcome), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_tlb_lookup(tlb, 0, 0, 8, 0, &outcome), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_tlb_fill(tlb, 0, 0, 8, NULL, 0, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_tlb_fill(tlb, GPUMP_TLB_ALL, 0, GPUMP_TLB_READ, NULL, 0, &count), GPUMP_ERROR_ARGUMENT);
    memset(&zero, 0, sizeof zero);
    assert_int_equal(gpump_tlb_fill(tlb, 0, 9, GPUMP_TLB_READ, NULL, 0, &count), GPUMP_OK); /* a prefetch */
    assert_int_equal(gpump_tlb_lookup(tlb, 0, 9, GPUMP_TLB_WRITE, 0, &outcome), GPUMP_OK);
    assert_int_equal(outcome, GPUMP_TLB_DENIED);
    gpump_get_statistics(&gpump_tlb_component, tlb, &s);
    gpump_statistics_diff(&gpump_tlb_component, &zero, &s, &s);
    assert_int_equal(s.fills, 1);
    for (count = 0; gpump_statistics_field(&gpump_tlb_component, &s, count, &name, NULL, NULL, &value) == GPUMP_OK;
         count++)
        assert_int_equal(value, !strcmp(name, "fills") || !strcmp(name, "denied"));
    assert_int_equal(count, sizeof s / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls_agree_with_lists),
        cmocka_unit_test(test_eviction_does_not_starve),
        cmocka_unit_test(presets_and_wrong_calls_of_a_tlb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
