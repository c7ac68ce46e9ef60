/* labels: property slow link: minigpu_core */
/* The crossbar alone, all inputs always full: Karol's saturation throughput, mixed packet sizes, one hot output, the
 * negative control, and what it must conserve. */
#include "test.h"

#include "memory/crossbar.h"

static uint64_t random_state;
static uint32_t random_below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 32) * limit >> 32);
}

typedef struct traffic {
    uint32_t ports, queue, flits, percent_short; /* percent_short: packets of 1 flit among those of `flits` */
    uint32_t one_output, virtual_outputs, credits;
    uint64_t cycles;
} traffic;

static uint64_t offered, arrived;

static void offer(const traffic *t, crossbar *x, events *e, uint64_t now, uint32_t input) {
    const uint32_t flits = random_below(100) < t->percent_short ? 1 : t->flits;
    const uint32_t output = t->one_output ? 0 : random_below(t->ports);
    assert_int_equal(crossbar_offer(x, e, now, now, input, output, flits, input), 0);
    offered += flits;
}

/* Returns the flits per output and cycle. */
static double saturate(const traffic *t) {
    const crossbar_config config = {t->ports, t->ports,          t->queue, t->credits ? t->credits : CROSSBAR_UNLIMITED,
                                    1,        t->virtual_outputs};
    void *wheel = malloc(events_bytes(2 * t->ports)), *memory = malloc(crossbar_bytes(&config));
    events *e = events_init(wheel, 2 * t->ports);
    crossbar *x = crossbar_init(memory, &config);
    uint64_t now = 0, passed = 0;
    const uint64_t warm = t->cycles / 10;
    uint32_t i, n;
    random_state = 88172645463325252u * test_seed();
    offered = arrived = 0;
    for (n = 0; n < t->queue; n++)
        for (i = 0; i < t->ports; i++) offer(t, x, e, 0, i);
    for (;;) {
        event happened;
        crossbar_packet done;
        uint32_t input;
        const int refill = events_next(e) < t->cycles;
        if (!events_take(e, EVENTS_NEVER, &happened)) break;
        now = happened.cycle;
        if (!crossbar_event(x, e, now, &happened, &done, &input)) continue;
        assert_int_equal(done.item, input);
        arrived += done.flits;
        if (now >= warm && now < t->cycles) passed += done.flits;
        if (t->credits) crossbar_credit(x, e, now, done.output);
        if (refill) offer(t, x, e, now, input);
    }
    /* Conservation: empty at the end, and every flit offered has been sent by its input and received by its output. */
    assert_int_equal(x->queued, 0);
    assert_int_equal(e->count, 0);
    assert_int_equal(offered, arrived);
    for (i = 0; i < t->ports; i++) {
        offered -= crossbar_flits_sent(x, i);
        arrived -= crossbar_flits_received(x, i);
    }
    assert_int_equal(offered, 0);
    assert_int_equal(arrived, 0);
    free(wheel);
    free(memory);
    return (double)passed / (double)(t->cycles - warm) / t->ports;
}

static void within(const char *what, double ours, double law, double tolerance) {
    printf("%-44s %.4f  law %.3f +- %.1f%%\n", what, ours, law, 100 * tolerance);
    if (ours < law * (1 - tolerance) || ours > law * (1 + tolerance)) fail_msg("%s: %.4f", what, ours);
}

/* Saturation of input-queued switches of 2 to 64 ports beside Karol's table. */
static void equal_packets_saturate_as_karol_says(void **state) {
    static const double law[] = {.750, .655, .618, .602, .594, .590}; /* Karol's table, simulated from 16 ports on */
    char name[64];
    uint32_t i;
    (void)state;
    for (i = 0; i < 6; i++) {
        traffic t = {2u << i, 4, 1, 0, 0, 0, 0, 0};
        t.cycles = 4000000u >> i;
        sprintf(name, "%u x %u, equal packets", t.ports, t.ports);
        within(name, saturate(&t), law[i], .005);
    }
}

/* Packets of two lengths saturate lower, by their shares. */
static void mixed_packets_saturate_below_equal_ones(void **state) {
    static const uint32_t percent[] = {10, 25, 50, 75};
    static const double law[] = {.593, .580, .556, .533};
    char name[64];
    uint32_t i;
    (void)state;
    for (i = 0; i < 4; i++) {
        traffic t = {16, 4, 5, 0, 0, 0, 0, 1000000};
        t.percent_short = percent[i];
        sprintf(name, "16 x 16, %u%% of 1 flit, the others of 5", percent[i]);
        within(name, saturate(&t), law[i], .01);
    }
}

/* All inputs to one output: each gets a sixteenth. */
static void one_output_gives_each_input_its_share(void **state) {
    const traffic t = {16, 4, 5, 0, 1, 0, 0, 200000};
    (void)state;
    within("16 x 16, all to one output", saturate(&t), 1.0 / 16, .001);
}

/* Without head-of-line blocking the limit disappears: what the laws above measure is the queueing at the inputs. */
static void queues_per_output_remove_the_limit(void **state) {
    const traffic t = {16, 256, 1, 0, 0, 1, 0, 100000};
    const double ours = saturate(&t);
    (void)state;
    printf("16 x 16, virtual output queues                %.4f  law > .98\n", ours);
    assert_true(ours > .98);
}

/* One credit per output that comes back when a packet has arrived changes nothing; a held one blocks its input. */
static void a_held_credit_blocks_its_input(void **state) {
    traffic t = {16, 4, 5, 25, 0, 0, 0, 200000};
    const crossbar_config config = {2, 2, 4, 1, 1, 0};
    uint64_t wheel[40000], memory[200];
    events *e;
    crossbar *x;
    crossbar_packet done;
    event happened;
    uint32_t input;
    const double without = saturate(&t);
    (void)state;
    t.credits = 1;
    within("the same with one credit per output", saturate(&t), without, .03);
    assert_true(events_bytes(8) <= sizeof wheel && crossbar_bytes(&config) <= sizeof memory);
    e = events_init(wheel, 8);
    x = crossbar_init(memory, &config);
    crossbar_offer(x, e, 0, 0, 0, 0, 3, 10); /* takes output 0's credit */
    crossbar_offer(x, e, 0, 0, 0, 0, 3, 11); /* waits for it ... */
    crossbar_offer(x, e, 0, 0, 0, 1, 1, 12); /* ... and holds this one up, though output 1 is free */
    crossbar_offer(x, e, 0, 5, 1, 0, 2, 13); /* asks at 5, behind input 0's */
    assert_true(events_take(e, 100, &happened) && happened.cycle == 3);
    assert_true(crossbar_event(x, e, 3, &happened, &done, &input) && done.item == 10);
    assert_true(events_take(e, 100, &happened) && happened.cycle == 5);
    assert_false(crossbar_event(x, e, 5, &happened, &done, &input));
    assert_false(events_take(e, 100, &happened));
    crossbar_credit(x, e, 100, 0);
    assert_true(events_take(e, 200, &happened) && happened.cycle == 103);
    assert_true(crossbar_event(x, e, 103, &happened, &done, &input) && done.item == 11);
    assert_true(events_take(e, 200, &happened) && happened.cycle == 104);
    assert_true(crossbar_event(x, e, 104, &happened, &done, &input) && done.item == 12);
    crossbar_credit(x, e, 110, 0);
    assert_true(events_take(e, 200, &happened) && happened.cycle == 112);
    assert_true(crossbar_event(x, e, 112, &happened, &done, &input) && done.item == 13);
    assert_int_equal(x->queued, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_packets_saturate_as_karol_says),
                                       cmocka_unit_test(mixed_packets_saturate_below_equal_ones),
                                       cmocka_unit_test(one_output_gives_each_input_its_share),
                                       cmocka_unit_test(queues_per_output_remove_the_limit),
                                       cmocka_unit_test(a_held_credit_blocks_its_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
