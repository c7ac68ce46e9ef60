/* labels: property link: minigpu_core */
/* A memory channel alone. Law: its utilisation is min(1, n T / RRD, banks n T / RC), with n lines per row visit and T
 * bus cycles per line. Arrival pattern: the queue is always full, rows are drawn at random from all rows of the
 * channel, and the n lines of a visit arrive one after the other. */
#include "test.h"

#include "memory/dram.h"

static uint64_t random_state;
static uint64_t random_word(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 16;
}

typedef struct stream {
    uint64_t visit;
    uint32_t left, lines, write_percent;
} stream;

static void put(dram *d, stream *s, uint64_t now) {
    if (!s->left) {
        s->visit = random_word() % (UINT64_C(1) << 20) * d->config.lines_per_row;
        s->left = s->lines;
    }
    s->left--;
    dram_put(d, now, s->visit + s->left, random_word() % 100 < s->write_percent, 0);
}

/* Returns the share of cycles in which data passes, after the queue has been full for a while. */
static double utilisation(const dram_config *config, stream s, uint64_t lines) {
    void *memory = malloc(dram_bytes(config));
    dram *d = dram_init(memory, config);
    uint64_t now = 0, n, end = 0, first = 0, put_lines = 0, last_end = 0;
    random_state = 88172645463325252u * test_seed();
    while (dram_room(d)) put(d, &s, 0), put_lines++;
    for (n = 0; n < lines; n++) {
        dram_entry picked;
        now = dram_next(d, now);
        dram_pick(d, now, &picked, &end);
        /* The bus carries one line at a time, and rests after each. */
        assert_true(!last_end || end >= last_end + config->idle_cycles + config->line_cycles);
        last_end = end;
        if (n == lines / 10) first = end;
        put(d, &s, now), put_lines++;
    }
    assert_int_equal(d->reads + d->writes, lines);
    assert_int_equal(put_lines, lines + config->queue_entries);
    free(memory);
    return (double)(lines - lines / 10 - 1) * config->line_cycles / (double)(end - first);
}

static double smaller(double a, double b) { return a < b ? a : b; }

/* The share of the bus that rows of a length sustain is the law of banks and row times. */
static void utilisation_law(void **state) {
    static const uint32_t sizes[][3] = {/* lines of a visit, T, banks */
                                        {1, 4, 16}, {2, 4, 16}, {4, 4, 16}, {1, 2, 16}, {2, 2, 16},
                                        {3, 2, 16}, {1, 8, 16}, {1, 4, 2},  {1, 4, 4},  {2, 4, 2}};
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        dram_config c;
        stream s = {0, 0, 0, 0};
        double ours, law;
        dram_config_gddr5(&c);
        s.lines = sizes[i][0];
        c.line_cycles = sizes[i][1];
        c.banks = sizes[i][2];
        law = smaller(
            1, smaller((double)s.lines * c.line_cycles / c.rrd, (double)c.banks * s.lines * c.line_cycles / c.rc));
        ours = utilisation(&c, s, 200000);
        printf("%u lines per visit, T %u, %2u banks: %.4f  law %.4f\n", s.lines, c.line_cycles, c.banks, ours, law);
        if (ours > law * 1.001 || ours < law * .97) fail_msg("law 3");
    }
}

/* A bus that rests after each line of 8 cycles sustains 8 of 8 + idle cycles at most. */
static void idle_cycles_bound_what_the_bus_sustains(void **state) {
    static const uint32_t idle[] = {0, 1, 4, 24};
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof idle / sizeof *idle; i++) {
        dram_config c;
        const stream s = {0, 0, 4, 30};
        double ours, law;
        dram_config_gddr5(&c);
        c.line_cycles = 8;
        c.idle_cycles = idle[i];
        law = 8.0 / (8 + idle[i]);
        ours = utilisation(&c, s, 200000);
        printf("%u idle cycles after a line of 8: %.4f  law %.4f\n", idle[i], ours, law);
        assert_true(ours < law * 1.001 && ours > law * .99);
    }
}

/* The negative control: in order, the same traffic reaches .36 of the bus when activates are pipelined. */
static void in_order_the_bus_is_used_less(void **state) {
    dram_config c;
    const stream s = {0, 0, 1, 0};
    double ours;
    (void)state;
    dram_config_gddr5(&c);
    c.line_cycles = 4;
    c.in_order = 1;
    ours = utilisation(&c, s, 200000);
    printf("first come, first served, T 4, 1 line per visit: %.3f\n", ours);
    assert_true(ours > .34 && ours < .38);
}

/* By hand: the first line of a row, a hit, a conflict in the same bank, a write behind reads, a read behind a write. */
static void one_by_one(void **state) {
    uint64_t memory[2000], end;
    dram_config c;
    dram *d;
    dram_entry picked;
    (void)state;
    dram_config_gddr5(&c);
    c.line_cycles = 8;
    assert_true(dram_bytes(&c) <= sizeof memory);
    d = dram_init(memory, &c);
    assert_true(dram_next(d, 7) == DRAM_NEVER);
    dram_put(d, 100, 0, 0, 1);
    assert_int_equal(dram_next(d, 100), 100);
    dram_pick(d, 100, &picked, &end);
    assert_int_equal(end, 100 + 12 + 12 + 8); /* activate, RCD, CL, data */
    dram_put(d, 200, 256 * 17, 0, 2);         /* another row of bank 0 */
    dram_put(d, 200, 1, 0, 3);                /* younger, but its row is open */
    dram_pick(d, 200, &picked, &end);
    assert_int_equal(picked.item, 3);
    assert_int_equal(end, 200 + 12 + 8);
    dram_pick(d, 200, &picked, &end);
    assert_int_equal(picked.item, 2);
    assert_int_equal(picked.bank, 0);
    assert_int_equal(end, 200 + 8 + 12 + 12 + 12 + 8); /* the column of line 3, RP, RCD, CL, data */
    dram_put(d, 300, 256 * 17 + 1, 1, 4);
    dram_pick(d, 300, &picked, &end);
    assert_int_equal(end, 300 + 4 + 8); /* WL, data */
    dram_put(d, 300, 256 * 17 + 2, 0, 5);
    dram_pick(d, 300, &picked, &end);
    assert_int_equal(end, 312 + 5 + 12 + 8); /* CDLR behind the written data */
    assert_int_equal(d->hits, 3);
    assert_int_equal(d->reads, 4);
    assert_int_equal(d->writes, 1);
}

/* Reads and writes mixed: the scheduler gathers each kind, so that the bus turns round less often than in order. */
static void reads_and_writes_are_gathered(void **state) {
    dram_config c;
    const stream s = {0, 0, 4, 30};
    double ours, ordered;
    (void)state;
    dram_config_gddr5(&c);
    c.line_cycles = 8;
    ours = utilisation(&c, s, 200000);
    c.in_order = 1;
    ordered = utilisation(&c, s, 200000);
    printf("30%% writes, 4 lines per visit, T 8: %.3f; in order %.3f\n", ours, ordered);
    assert_true(ours > ordered && ours < 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_by_one), cmocka_unit_test(utilisation_law),
                                       cmocka_unit_test(idle_cycles_bound_what_the_bus_sustains),
                                       cmocka_unit_test(in_order_the_bus_is_used_less),
                                       cmocka_unit_test(reads_and_writes_are_gathered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
