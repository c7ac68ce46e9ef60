/* labels: unit property link: minigpu_core */
/* An L2 bank alone: queueing under Poisson arrivals, and its rules by hand. */
#include "test.h"

#include <math.h>

#include "memory/l2.h"

static l2_config small(void) {
    const l2_config config = {1, 2, 2, 4, 2, 3, 4, 10, 3, 0, 64};
    return config;
}
static l2 *make(const l2_config *config) { return l2_init(malloc(l2_bytes(config)), config); }

static void put(l2 *c, uint64_t arrives, uint64_t line, uint32_t packet, uint32_t kind) {
    const l2_request request = {line, arrives, packet, kind};
    l2_put(c, 0, &request);
}

/* Above 0, at most 1 (splitmix64). */
static double uniform(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ z >> 31) >> 11) + 1) / 9007199254740992.0;
}

/* One bank that always hits is M/D/1: the mean wait is rho / (2 (1 - rho)) services. Arrivals are drawn in whole
 * cycles, so the service is made long against a cycle. */
static void a_bank_that_hits_waits_as_m_d_1(void **state) {
    static const double rho[] = {.3, .5, .7, .9};
    enum { SERVICE = 512, QUEUE = 4096 };
    l2_config config = {1, 1, 1, QUEUE, 1, 1, SERVICE, 1, 1, 0, 1};
    uint32_t i;
    (void)state;
    for (i = 0; i < 4; i++) {
        const uint64_t count = 3000000;
        uint64_t random = test_seed(), n = 0, served = 0, next, waits = 0;
        double at = 0, law = rho[i] / (2 * (1 - rho[i])), ours;
        l2 *c = make(&config);
        l2_started started;
        put(c, 0, 0, 0, L2_STORE_WHOLE); /* the line that all others hit */
        assert_int_equal(l2_start(c, 0, 0, 2, &started), L2_REPLY);
        l2_reply_sent(c, 0);
        next = SERVICE;
        while (served < count) {
            while (n < count && next <= l2_next(c, 0)) {
                put(c, next, 0, 0, L2_LOAD);
                n++;
                at -= log(uniform(&random)) * SERVICE / rho[i];
                next = SERVICE + (uint64_t)at;
                assert_true(l2_units(c)->count < QUEUE);
            }
            {
                const uint64_t now = l2_next(c, 0);
                assert_int_equal(l2_start(c, now, 0, 2, &started), L2_REPLY);
                assert_int_equal(started.is_hit, 1);
                waits += now - started.request.arrives;
                l2_reply_sent(c, 0);
                served++;
            }
        }
        ours = (double)waits / (double)count / SERVICE;
        printf("one bank, Poisson arrivals, rho %.1f: wait %.4f services  law %.4f\n", rho[i], ours, law);
        if (fabs(ours / law - 1) > .02) fail_msg("law 4");
        free(c);
    }
}

/* Loads that miss one line join its fetch; without room in DRAM they wait. */
static void misses_to_one_line_are_one_fetch(void **state) {
    const l2_config config = small();
    l2 *c = make(&config);
    l2_started started;
    (void)state;
    assert_true(l2_next(c, 0) == L2_NEVER);
    put(c, 5, 8, 1, L2_LOAD);
    assert_int_equal(l2_next(c, 0), 5);
    assert_int_equal(l2_start(c, 5, 0, 0, &started), L2_BLOCKED); /* no room in DRAM */
    assert_int_equal(l2_units(c)->blocked, 1);
    assert_int_equal(l2_start(c, 6, 0, 1, &started), L2_FETCH);
    assert_true(started.written_back == L2_NEVER);
    assert_int_equal(started.is_hit, 0);
    put(c, 6, 8, 2, L2_LOAD);
    put(c, 6, 8, 3, L2_ATOMIC);
    put(c, 6, 8, 4, L2_LOAD);
    assert_int_equal(l2_next(c, 0), 7); /* tags take a cycle */
    assert_int_equal(l2_start(c, 7, 0, 2, &started), L2_MERGED);
    assert_int_equal(l2_start(c, 8, 0, 2, &started), L2_MERGED);
    assert_int_equal(l2_start(c, 9, 0, 2, &started), L2_BLOCKED); /* three wait already */
    assert_int_equal(l2_take_ready(c, 0), GPUMP_NONE);
    l2_fill(c, 0, started.place);
    assert_int_equal(l2_take_ready(c, 0), 1);
    assert_int_equal(l2_take_ready(c, 0), 2);
    assert_int_equal(l2_start(c, 20, 0, 2, &started), L2_REPLY); /* a hit now; the third slot */
    assert_int_equal(started.reply_cycle, 30);
    assert_int_equal(l2_units(c)->free_at, 24);
    assert_int_equal(l2_take_ready(c, 0), GPUMP_NONE); /* no slot */
    put(c, 21, 8, 5, L2_LOAD);
    assert_int_equal(l2_start(c, 24, 0, 2, &started), L2_BLOCKED);
    l2_reply_sent(c, 0);
    assert_int_equal(l2_take_ready(c, 0), 3);
    assert_int_equal(l2_start(c, 25, 0, 2, &started), L2_BLOCKED);
    l2_reply_sent(c, 0);
    assert_int_equal(l2_start(c, 25, 0, 2, &started), L2_REPLY);
    assert_int_equal(started.request.packet, 5);
    free(c);
}

/* A dirty line of the L2 is written back before its place is filled, and both need an entry of DRAM's queue. */
static void write_back_before_fill(void **state) {
    l2_config config = small();
    l2 *c = make(&config);
    l2_started started;
    (void)state;
    put(c, 0, 2, 1, L2_STORE);                                  /* sets are line % 2 */
    assert_int_equal(l2_start(c, 0, 0, 0, &started), L2_REPLY); /* byte masks: nothing is read */
    l2_reply_sent(c, 0);
    put(c, 0, 4, 2, L2_STORE_WHOLE);
    assert_int_equal(l2_start(c, 4, 0, 0, &started), L2_REPLY);
    l2_reply_sent(c, 0);
    put(c, 8, 6, 3, L2_LOAD);
    assert_int_equal(l2_start(c, 8, 0, 1, &started), L2_BLOCKED); /* the write back and the read need two entries */
    assert_int_equal(l2_start(c, 9, 0, 2, &started), L2_FETCH);
    assert_int_equal(started.written_back, 2); /* the least recently used */
    put(c, 9, 8, 4, L2_LOAD);
    assert_int_equal(l2_start(c, 10, 0, 2, &started), L2_FETCH);
    assert_int_equal(started.written_back, 4);
    put(c, 11, 10, 5, L2_STORE);
    assert_int_equal(l2_start(c, 11, 0, 2, &started), L2_BLOCKED); /* both ways are on their way */
    free(c);
    config.store_fetches = 1;
    c = make(&config);
    put(c, 0, 2, 1, L2_STORE);
    assert_int_equal(l2_start(c, 0, 0, 2, &started), L2_FETCH);
    put(c, 0, 3, 2, L2_STORE_WHOLE);
    assert_int_equal(l2_start(c, 1, 0, 2, &started), L2_REPLY);
    put(c, 0, 5, 3, L2_LOAD);
    assert_int_equal(l2_start(c, 5, 0, 2, &started), L2_FETCH);
    put(c, 0, 7, 4, L2_LOAD);
    assert_int_equal(l2_start(c, 6, 0, 2, &started), L2_BLOCKED); /* two MSHRs */
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_bank_that_hits_waits_as_m_d_1),
                                       cmocka_unit_test(misses_to_one_line_are_one_fetch),
                                       cmocka_unit_test(write_back_before_fill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
