/* labels: unit property */
/* The gates of a shared SM: bounds over every interval, no starvation, no limits change nothing, byte copies. */
#include "rate_statistics.h"
#include "diagnosed.h"

static uint64_t random_state;
static uint64_t draw(uint64_t below) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}
static gpump_rate *make(uint32_t kernels) {
    gpump_rate_config config;
    gpump_rate *rate;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_rate_component, &config, "lin", NULL), GPUMP_OK);
    config.kernels = kernels;
    assert_int_equal(gpump_bytes(&gpump_rate_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_rate_component, malloc(bytes), bytes, &config, &rate, NULL), GPUMP_OK);
    return rate;
}
static gpump_rate_limits misses(uint32_t q16) {
    gpump_rate_limits limits = gpump_rate_limits_none();
    limits.misses_q16 = q16;
    return limits;
}

/* Configurations, members and limits that do not exist. */
static void wrong_calls_of_a_gate_are_refused(void **state) {
    gpump_rate_config config;
    gpump_rate *rate = make(2), *adopted;
    gpump_rate_limits limits = gpump_rate_limits_none();
    gpump_diag diag;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_rate_component, &config, "nonsense", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_rate_component, &config, "lin", NULL), GPUMP_OK);
    config.kernels = GPUMP_RATE_KERNELS + 1;
    assert_int_equal(gpump_bytes(&gpump_rate_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "kernels");
    config.kernels = 2;
    config.unit_cycles = 0;
    assert_int_equal(gpump_bytes(&gpump_rate_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "unit_cycles");
    assert_int_equal(gpump_rate_set(rate, 0, 2, &limits), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_rate_set(NULL, 0, 0, &limits), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_rate_set(rate, 0, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_rate_advance(rate, 500), GPUMP_OK);
    assert_int_equal(gpump_rate_advance(rate, 499), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_rate_advance(rate, GPUMP_UNKNOWN), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_rate_set(rate, 499, 0, &limits), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_preset(&gpump_rate_component, &config, "lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_rate_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_adopt(&gpump_rate_component, rate, bytes - 8, &config, &adopted, &diag), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_adopt(&gpump_rate_component, rate, bytes, &config, &adopted, &diag), GPUMP_OK);
    config.unit_cycles = 100;
    assert_int_equal(gpump_adopt(&gpump_rate_component, rate, bytes, &config, &adopted, &diag), GPUMP_ERROR_FORMAT);
    config.unit_cycles = 200;
    config.epoch_cycles++;
    assert_int_equal(gpump_adopt(&gpump_rate_component, rate, bytes, &config, &adopted, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "config");
    config.epoch_cycles--;
    rate->config.epoch_cycles++; /* altered since it was made */
    diagnosed(gpump_adopt(&gpump_rate_component, rate, bytes, &config, &adopted, DIAG), GPUMP_ERROR_FORMAT, "config",
              offsetof(gpump_rate, config), 0, 0, 0);
    free(rate);
}

/* Without limits every gate stays open and nothing ever has to be waited for. */
static void without_limits_every_gate_stays_open(void **state) {
    gpump_rate *rate = make(3);
    uint64_t cycle;
    (void)state;
    for (cycle = 0; cycle < 30000; cycle++) {
        uint32_t k = (uint32_t)(cycle % 3);
        assert_int_equal(gpump_rate_advance(rate, cycle), GPUMP_OK);
        assert_true(gpump_rate_may(rate, k, GPUMP_RATE_ISSUE) && gpump_rate_may(rate, k, GPUMP_RATE_MEMORY) &&
                    gpump_rate_may(rate, k, GPUMP_RATE_SEND));
        gpump_rate_report_issued(rate, k);
        gpump_rate_report_memory_issued(rate, k);
        gpump_rate_report_sent(rate, k, 1);
    }
    assert_true(gpump_next_cycle(&gpump_rate_component, rate) == GPUMP_UNKNOWN);
    free(rate);
}

/* Lin 4.5.1 by hand: 2.5 misses per 200 cycles. */
static void tokens_by_hand(void **state) {
    gpump_rate *rate = make(1);
    gpump_rate_limits limits = misses(5 * GPUMP_RATE_MISS / 2);
    gpump_rate_statistics statistics;
    (void)state;
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    gpump_rate_report_sent(rate, 0, 1); /* 3.5 tokens to begin with */
    gpump_rate_report_sent(rate, 0, 1);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    gpump_rate_report_sent(rate, 0, 1);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_SEND)); /* half a token */
    assert_int_equal(gpump_next_cycle(&gpump_rate_component, rate), 200);
    assert_int_equal(gpump_rate_advance(rate, 199), GPUMP_OK);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    assert_int_equal(gpump_rate_advance(rate, 200), GPUMP_OK);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_SEND)); /* 3 */
    gpump_rate_report_sent(rate, 0, 9);                    /* a copy of nine lines leaves a debt of 6 */
    assert_int_equal(gpump_next_cycle(&gpump_rate_component, rate), 200 + 3 * 200);
    assert_int_equal(gpump_rate_advance(rate, 799), GPUMP_OK);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    assert_int_equal(gpump_rate_advance(rate, 800), GPUMP_OK);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    assert_int_equal(rate_statistics(rate, 0, &statistics), GPUMP_OK);
    assert_int_equal(statistics.misses, 12);
    assert_int_equal(statistics.units, 4);
    /* A rate of 0 lets nothing pass, and no cycle will change that. */
    limits = misses(0);
    assert_int_equal(gpump_rate_set(rate, 800, 0, &limits), GPUMP_OK);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    assert_true(gpump_next_cycle(&gpump_rate_component, rate) == GPUMP_UNKNOWN);
    free(rate);
    /* One miss each unit: exactly one token is enough, and is there after exactly one unit. */
    rate = make(1);
    limits = misses(GPUMP_RATE_MISS);
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    gpump_rate_report_sent(rate, 0, 2);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    assert_int_equal(gpump_next_cycle(&gpump_rate_component, rate), 200);
    assert_int_equal(gpump_rate_advance(rate, 200), GPUMP_OK);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    gpump_rate_report_sent(rate, 0, 1);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    free(rate);
    /* A little less than one miss each unit: the least that can be missing from a token. */
    rate = make(1);
    limits = misses(GPUMP_RATE_MISS - 1);
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    gpump_rate_report_sent(rate, 0, 1);
    while (!gpump_rate_may(rate, 0, GPUMP_RATE_SEND)) { /* the cycle that is named is the first one */
        const uint64_t next = gpump_next_cycle(&gpump_rate_component, rate);
        assert_int_equal(gpump_rate_advance(rate, next - 1), GPUMP_OK);
        assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
        assert_int_equal(gpump_rate_advance(rate, next), GPUMP_OK);
        assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_SEND));
    }
    free(rate);
}

/* In any interval a gate lets at most rate x (refills + 1) + 1 misses pass, a kernel with a rate is never starved, and
 * gpump_next_cycle names the first cycle at which the gate opens again. */
static void a_gate_keeps_its_rate_in_every_interval(void **state) {
    uint64_t seed = test_seed(), number, cases = test_cases(400);
    (void)state;
    for (number = 0; number < cases; number++) {
        static uint64_t sent_before[4001]; /* misses sent before each cycle */
        gpump_rate *rate = make(1);
        uint32_t q16 = (uint32_t)(1 + draw(number % 3 ? 8 * GPUMP_RATE_MISS : GPUMP_RATE_MISS));
        gpump_rate_limits limits = misses(q16);
        uint64_t cycle, from, sent = 0, opens = GPUMP_UNKNOWN;
        random_state = seed * 1000003 + number;
        assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
        for (cycle = 0; cycle < 4000; cycle++) {
            test_check(!gpump_rate_advance(rate, cycle), seed, number);
            if (opens != GPUMP_UNKNOWN)
                test_check(gpump_rate_may(rate, 0, GPUMP_RATE_SEND) == (cycle >= opens), seed, number);
            sent_before[cycle] = sent;
            while (gpump_rate_may(rate, 0, GPUMP_RATE_SEND) && draw(4)) gpump_rate_report_sent(rate, 0, 1), sent++;
            opens = gpump_rate_may(rate, 0, GPUMP_RATE_SEND) ? GPUMP_UNKNOWN
                                                             : gpump_next_cycle(&gpump_rate_component, rate);
        }
        sent_before[4000] = sent;
        for (from = 0; from < 4000; from += 1 + draw(300)) {
            uint64_t to = from + 1 + draw(4000 - from), refills = (to - 1) / 200 - from / 200;
            uint64_t passed = sent_before[to] - sent_before[from];
            test_check(passed << 16 <= q16 * (refills + 1) + GPUMP_RATE_MISS, seed, number);
        }
        /* No starvation: what the rate adds in 19 units is sent, but for the fraction that is left. */
        test_check((sent + 1) << 16 >= (uint64_t)q16 * 19, seed, number);
        free(rate);
    }
}

/* Advancing in one step is the same as advancing cycle by cycle, whatever the limits. */
static void steps_add_up(void **state) {
    uint64_t seed = test_seed(), number, cases = test_cases(200);
    (void)state;
    for (number = 0; number < cases; number++) {
        gpump_rate *slow = make(2), *fast = make(2);
        uint64_t cycle = 0;
        random_state = seed * 7919 + number;
        while (cycle < 60000) {
            uint64_t target = cycle + 1 + draw(number % 2 ? 300 : 30000);
            if (draw(3) == 0) {
                gpump_rate_limits limits = gpump_rate_limits_none();
                uint32_t k = (uint32_t)draw(2);
                if (draw(2)) limits.misses_q16 = (uint32_t)draw(20 * GPUMP_RATE_MISS);
                if (draw(2)) limits.instructions = (uint32_t)draw(5000);
                if (draw(2))
                    limits.in_flight = (uint32_t)draw(10);
                else if (draw(2))
                    limits.in_flight = GPUMP_RATE_RENEWED;
                limits.memory_quota = (uint32_t)draw(3);
                test_check(!gpump_rate_set(slow, cycle, k, &limits) && !gpump_rate_set(fast, cycle, k, &limits), seed,
                           number);
            }
            if (draw(2)) {
                uint32_t k = (uint32_t)draw(2), lines = (uint32_t)draw(40), i;
                for (i = 0; i < lines; i++) {
                    gpump_rate_report_sent(slow, k, 1), gpump_rate_report_sent(fast, k, 1);
                    gpump_rate_report_issued(slow, k), gpump_rate_report_issued(fast, k);
                    gpump_rate_report_memory_issued(slow, k), gpump_rate_report_memory_issued(fast, k);
                    if (draw(2)) gpump_rate_report_memory_done(slow, k), gpump_rate_report_memory_done(fast, k);
                    gpump_rate_report_access(slow, k, lines), gpump_rate_report_access(fast, k, lines);
                }
            }
            if (draw(20) == 0)
                test_check(!gpump_rate_report_starved(slow, cycle) && !gpump_rate_report_starved(fast, cycle), seed,
                           number);
            while (cycle < target) test_check(!gpump_rate_advance(slow, ++cycle), seed, number);
            test_check(!gpump_rate_advance(fast, cycle), seed, number);
            test_check(gpump_hash(&gpump_rate_component, slow) == gpump_hash(&gpump_rate_component, fast), seed,
                       number);
            test_check(!gpump_check(&gpump_rate_component, fast, NULL), seed, number);
        }
        free(slow);
        free(fast);
    }
}

/* SMK: a quota per epoch; a new epoch begins early when nobody with quota can issue. */
static void quotas_by_epoch(void **state) {
    gpump_rate *rate = make(2);
    gpump_rate_limits limits = gpump_rate_limits_none();
    gpump_rate_statistics statistics;
    uint32_t i;
    (void)state;
    limits.instructions = 3;
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    for (i = 0; i < 3; i++) {
        assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_ISSUE));
        gpump_rate_report_issued(rate, 0);
    }
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_ISSUE));
    assert_true(gpump_rate_may(rate, 1, GPUMP_RATE_ISSUE));
    assert_int_equal(gpump_rate_set(rate, 0, 1, &limits), GPUMP_OK);
    for (i = 0; i < 3; i++) gpump_rate_report_issued(rate, 1);
    assert_false(gpump_rate_may(rate, 1, GPUMP_RATE_ISSUE));
    assert_int_equal(gpump_next_cycle(&gpump_rate_component, rate), 10000);
    assert_int_equal(gpump_rate_report_starved(rate, 4000), GPUMP_OK);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_ISSUE));
    assert_true(gpump_rate_may(rate, 1, GPUMP_RATE_ISSUE));
    for (i = 0; i < 3; i++) gpump_rate_report_issued(rate, 0);
    assert_int_equal(gpump_next_cycle(&gpump_rate_component, rate), 14000);
    assert_int_equal(gpump_rate_advance(rate, 14000), GPUMP_OK);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_ISSUE));
    assert_int_equal(rate_statistics(rate, 0, &statistics), GPUMP_OK);
    assert_int_equal(statistics.instructions, 6);
    assert_int_equal(statistics.epochs, 2);
    free(rate);
}

/* A quota of 0 lets nothing issue, and no epoch will change that, whatever the other limits are. */
static void a_quota_of_0_has_no_next_cycle(void **state) {
    gpump_rate *rate = make(1);
    gpump_rate_limits limits = gpump_rate_limits_none();
    (void)state;
    limits.instructions = 0;
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_ISSUE));
    assert_true(gpump_next_cycle(&gpump_rate_component, rate) == GPUMP_UNKNOWN);
    limits.instructions = 1;
    limits.in_flight = 0;
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    assert_int_equal(gpump_rate_report_starved(rate, 100), GPUMP_OK);
    gpump_rate_report_issued(rate, 0);
    assert_int_equal(gpump_next_cycle(&gpump_rate_component, rate), 10100);
    free(rate);
}

/* Dai et al.: the limit is what was in flight at most, divided by the failures per access, renewed every 1024. */
static void limit_is_renewed(void **state) {
    gpump_rate *rate = make(1);
    gpump_rate_limits limits = gpump_rate_limits_none();
    uint32_t i;
    (void)state;
    limits.in_flight = GPUMP_RATE_RENEWED;
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    for (i = 0; i < 10; i++) gpump_rate_report_memory_issued(rate, 0);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    for (i = 0; i < 7; i++) gpump_rate_report_memory_done(rate, 0);
    for (i = 0; i < 1023; i++) gpump_rate_report_access(rate, 0, 4);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    gpump_rate_report_access(rate, 0, 4); /* 10 / 4 = 2, and 3 are in flight */
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    assert_int_equal(gpump_check(&gpump_rate_component, rate, NULL), GPUMP_OK);
    gpump_rate_report_memory_done(rate, 0);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    gpump_rate_report_memory_done(rate, 0);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    assert_int_equal(gpump_rate_set(rate, 1, 0, &limits), GPUMP_OK); /* set again: the limit of 2 stays */
    gpump_rate_report_memory_issued(rate, 0);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    for (i = 0; i < 1024; i++) gpump_rate_report_access(rate, 0, UINT64_MAX); /* never below 1 */
    gpump_rate_report_memory_done(rate, 0);
    gpump_rate_report_memory_done(rate, 0);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    gpump_rate_report_memory_issued(rate, 0);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    for (i = 0; i < 1024; i++) gpump_rate_report_access(rate, 0, 0);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    limits.in_flight = 1;
    assert_int_equal(gpump_rate_set(rate, 2, 0, &limits), GPUMP_OK);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    free(rate);
    /* The peak is that since the last renewal: 8 and then 2 in flight, with a failure for each access. */
    rate = make(1);
    limits.in_flight = GPUMP_RATE_RENEWED;
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    for (i = 0; i < 8; i++) gpump_rate_report_memory_issued(rate, 0);
    for (i = 0; i < 6; i++) gpump_rate_report_memory_done(rate, 0);
    for (i = 0; i < 1024; i++) gpump_rate_report_access(rate, 0, 1);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY)); /* 8 */
    for (i = 0; i < 1024; i++) gpump_rate_report_access(rate, 0, 1);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY)); /* 2 */
    free(rate);
}

/* Dai et al.: a limit in flight, and an order in inverse proportion to the misses of each kernel. */
static void memory_instructions_keep_limit_and_order(void **state) {
    gpump_rate *rate = make(2);
    gpump_rate_limits limits = gpump_rate_limits_none();
    gpump_rate_statistics statistics;
    uint32_t i, first[2] = {0, 0};
    (void)state;
    limits.in_flight = 2;
    limits.memory_quota = 1;
    assert_int_equal(gpump_rate_set(rate, 0, 0, &limits), GPUMP_OK);
    limits.in_flight = GPUMP_RATE_NO_LIMIT;
    limits.memory_quota = 4;
    assert_int_equal(gpump_rate_set(rate, 0, 1, &limits), GPUMP_OK);
    assert_int_equal(gpump_rate_memory_first(rate, 3), 1); /* 4 left against 1 */
    limits.memory_quota = 0;
    assert_int_equal(gpump_rate_set(rate, 0, 1, &limits), GPUMP_OK);
    limits.memory_quota = 1;
    assert_int_equal(gpump_rate_set(rate, 0, 1, &limits), GPUMP_OK);
    assert_int_equal(gpump_rate_memory_first(rate, 3), 0); /* as much left: the first one */
    limits.memory_quota = 0;
    assert_int_equal(gpump_rate_set(rate, 0, 1, &limits), GPUMP_OK);
    limits.memory_quota = 4;
    assert_int_equal(gpump_rate_set(rate, 0, 1, &limits), GPUMP_OK);
    gpump_rate_report_memory_issued(rate, 0);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    gpump_rate_report_memory_issued(rate, 0);
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    assert_int_equal(gpump_rate_advance(rate, 10000), GPUMP_OK); /* units and an epoch do not open this gate */
    assert_false(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    gpump_rate_report_memory_done(rate, 0);
    assert_true(gpump_rate_may(rate, 0, GPUMP_RATE_MEMORY));
    gpump_rate_report_memory_done(rate, 0);
    for (i = 0; i < 1000; i++) { /* both always have one ready: 1 to 4 */
        uint32_t k = gpump_rate_memory_first(rate, 3);
        first[k]++;
        gpump_rate_report_memory_issued(rate, k);
        gpump_rate_report_memory_done(rate, k);
        assert_int_equal(gpump_rate_memory_first(rate, 1), 0);
        assert_int_equal(gpump_rate_memory_first(rate, 2), 1);
    }
    assert_in_range(first[0], 195, 205);
    assert_int_equal(rate_statistics(rate, 0, &statistics), GPUMP_OK);
    assert_int_equal(statistics.memory_instructions, 2 + first[0]);
    assert_int_equal(rate_statistics(rate, 1, &statistics), GPUMP_OK);
    assert_int_equal(statistics.memory_instructions, first[1]);
    free(rate);
}

/* A controller writes nothing behind its bytes, and every bit of its state but the head counts in its hash. */
static void memory_of_its_own(void **state) {
    static uint64_t memory[64], rest[64];
    gpump_rate_config config;
    gpump_rate_limits limits = misses(GPUMP_RATE_MISS);
    gpump_rate *rate;
    uint64_t hash;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_rate_component, &config, "lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_rate_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes + 128 <= sizeof memory);
    memset(memory, 0x77, sizeof memory);
    memset(rest, 0x77, sizeof rest);
    assert_int_equal(gpump_init(&gpump_rate_component, memory, bytes, &config, &rate, NULL), GPUMP_OK);
    limits.instructions = 7;
    limits.memory_quota = 1;
    for (uint64_t now = 0; now < 30000; now += 150) {
        assert_int_equal(gpump_rate_set(rate, now, now / 150 % 2, &limits), GPUMP_OK);
        gpump_rate_report_sent(rate, now / 150 % 2, 1);
        gpump_rate_report_issued(rate, now / 150 % 2);
        gpump_rate_report_memory_issued(rate, now / 150 % 2);
    }
    assert_int_equal(gpump_rate_report_starved(rate, 30000), GPUMP_OK);
    assert_memory_equal((char *)memory + bytes, rest, sizeof memory - bytes);
    hash = gpump_hash(&gpump_rate_component, rate);
    for (size_t bit = 8 * sizeof(gpumpi_head); bit < 8 * bytes; bit++) {
        const size_t config_at = 8 * offsetof(gpump_rate, config);
        if (bit >= config_at && bit < config_at + 8 * sizeof config) continue; /* says how much there is to read */
        memory[bit / 64] ^= UINT64_C(1) << bit % 64;
        if (gpump_hash(&gpump_rate_component, rate) == hash) fail_msg("bit %u does not count", (unsigned)bit);
        memory[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
    /* what a check says of numbers that cannot be */
    rate->now = 5;
    diagnosed(gpump_check(&gpump_rate_component, rate, DIAG), GPUMP_ERROR_FORMAT, "now", 0, 5, 30000,
              GPUMP_UNKNOWN - 1);
    rate->now = GPUMP_UNKNOWN;
    diagnosed(gpump_check(&gpump_rate_component, rate, DIAG), GPUMP_ERROR_FORMAT, "now", 0, GPUMP_UNKNOWN, 30000,
              GPUMP_UNKNOWN - 1);
    rate->now = 30000;
    rate->unused = 1;
    diagnosed(gpump_check(&gpump_rate_component, rate, DIAG), GPUMP_ERROR_FORMAT, "unused", 0, 1, 0, 0);
    rate->unused = 0;
    assert_int_equal(gpump_check(&gpump_rate_component, rate, NULL), GPUMP_OK);
    for (int64_t debt = INT64_C(1) << 62, more = 0; more < 2; more++) { /* the largest debt, and one beyond */
        gpumpi_rate_kernels(rate)[1].tokens_q16 = -debt - more;
        gpumpi_rate_kernels(rate)[1].closed |= GPUMP_RATE_SEND;
        assert_int_equal(gpump_check(&gpump_rate_component, rate, NULL), more ? GPUMP_ERROR_FORMAT : GPUMP_OK);
    }
    rate->config.unit_cycles = 0;
    diagnosed(gpump_check(&gpump_rate_component, rate, DIAG), GPUMP_ERROR_FORMAT, "config",
              offsetof(gpump_rate, config), 0, 0, 0);
}

/* Every bit of a rate controller flipped: refused by adopt or check, or safe to go on with. */
static void altered_bits_are_refused_or_harmless(void **state) {
    gpump_rate_config config;
    gpump_rate_limits limits = misses(GPUMP_RATE_MISS);
    gpump_rate *rate = make(2);
    size_t bytes, bit, refused = 0;
    unsigned char *copy;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_rate_component, &config, "lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_rate_component, &config, &bytes, NULL), GPUMP_OK);
    limits.instructions = 100;
    assert_int_equal(gpump_rate_set(rate, 12345, 1, &limits), GPUMP_OK);
    gpump_rate_report_sent(rate, 1, 1);
    copy = (unsigned char *)malloc(bytes);
    for (bit = 0; bit < bytes * 8; bit++) {
        gpump_rate *adopted;
        uint64_t cycle, end;
        memcpy(copy, rate, bytes);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (gpump_adopt(&gpump_rate_component, copy, bytes, &config, &adopted, NULL) ||
            gpump_check(&gpump_rate_component, adopted, NULL)) {
            refused++;
            continue;
        }
        assert_true(gpump_hash(&gpump_rate_component, adopted) != gpump_hash(&gpump_rate_component, rate));
        end = gpump_add_saturated(adopted->now, 100);
        for (cycle = adopted->now; cycle < end; cycle++) {
            uint32_t k = (uint32_t)(cycle % 2);
            assert_int_equal(gpump_rate_advance(adopted, cycle), GPUMP_OK);
            gpump_rate_report_issued(adopted, k);
            gpump_rate_report_memory_issued(adopted, k);
            gpump_rate_report_sent(adopted, k, 2);
            gpump_rate_report_memory_done(adopted, k);
            (void)gpump_next_cycle(&gpump_rate_component, adopted);
        }
        (void)gpump_rate_report_starved(adopted, cycle);
    }
    assert_true(refused > bytes * 8 / 3);
    free(copy);
    free(rate);
}

/* Lin's controller for two kernels: rate and tokens of 26 bits each, and a counter to 200. */
static void storage_is_that_of_lins_controller(void **state) {
    gpump_rate_config config;
    gpump_rate_storage parts;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_rate_component, &config, "lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_bits(&gpump_rate_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_table_bits(&gpump_rate_component, &config, &parts, NULL), GPUMP_OK);
    assert_int_equal(parts.misses_bits, 2 * 2 * 26 + 8);
    assert_int_equal(parts.instructions_bits, 2 * 2 * 16 + 14);
    assert_int_equal(parts.in_flight_bits, 2 * (4 * 10 + 20));
    assert_int_equal(parts.order_bits, 32);
    assert_int_equal(bits, 112 + 78 + 120 + 32);
}

/* Each counter has its name, and the difference of two readings is that of each field. */
static void counters_have_names_and_differences(void **state) {
    gpump_rate_statistics earlier = {1, 2, 3, 4, 5}, later = {10, 20, 30, 40, 50}, difference;
    const char *name;
    uint64_t value;
    (void)state;
    gpump_statistics_diff(&gpump_rate_component, &earlier, &later, &difference);
    assert_int_equal(gpump_statistics_field(&gpump_rate_component, &difference, 2, &name, NULL, NULL, &value),
                     GPUMP_OK);
    assert_string_equal(name, "misses");
    assert_int_equal(value, 27);
    assert_int_equal(gpump_statistics_field(&gpump_rate_component, &difference, 5, NULL, NULL, NULL, NULL),
                     GPUMP_EMPTY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_calls_of_a_gate_are_refused),
        cmocka_unit_test(without_limits_every_gate_stays_open),
        cmocka_unit_test(tokens_by_hand),
        cmocka_unit_test(a_gate_keeps_its_rate_in_every_interval),
        cmocka_unit_test(steps_add_up),
        cmocka_unit_test(quotas_by_epoch),
        cmocka_unit_test(memory_of_its_own),
        cmocka_unit_test(altered_bits_are_refused_or_harmless),
        cmocka_unit_test(memory_instructions_keep_limit_and_order),
        cmocka_unit_test(a_quota_of_0_has_no_next_cycle),
        cmocka_unit_test(limit_is_renewed),
        cmocka_unit_test(storage_is_that_of_lins_controller),
        cmocka_unit_test(counters_have_names_and_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
