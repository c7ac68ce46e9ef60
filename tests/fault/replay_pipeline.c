/* labels: unit property */
/* Random programs on the toy pipeline (examples/toy_pipeline.h), whose pages are absent, come and are evicted again,
 * and whose blocks leave at any moment and come back elsewhere: under every scheme, memory and registers are those of
 * executing one instruction after the other. What is left out or done too early must be noticed. */
#include "test.h"
#include "../../examples/toy_pipeline.h"

/* ---- random programs ---- */

static toy_instruction random_instruction(uint64_t *random) {
    /* memory instructions are half of it, else a fault seldom has something behind it */
    static const uint32_t ops[] = {TOY_ADD,   TOY_SUB,  TOY_MUL,    TOY_ADD,   TOY_LOAD, TOY_LOAD,  TOY_LOAD, TOY_STORE,
                                   TOY_STORE, TOY_WIDE, TOY_ATOMIC, TOY_FENCE, TOY_SKIP, TOY_SPLIT, TOY_JOIN};
    toy_instruction i;
    i.op = ops[gpump_random_below(random, sizeof ops / sizeof *ops)];
    i.dst = gpump_random_below(random, TOY_REGISTERS);
    i.a = gpump_random_below(random, TOY_REGISTERS);
    i.b = gpump_random_below(random, TOY_REGISTERS);
    i.immediate = i.op == TOY_SKIP ? gpump_random_below(random, 4) : gpump_random_below(random, 100);
    return i;
}

typedef struct scene {
    const char *preset;
    uint32_t order, on_fault, probe, wide, mistake;
} scene;
typedef struct outcome {
    int wrong; /* memory or registers differ */
    char trouble[160];
    uint64_t cycles;
    gpump_replay_statistics statistics;
    uint32_t missing;
} outcome;

/* Runs one random program; `number` decides everything else. */
static outcome run(const scene *one, uint64_t number) {
    static toy machine; /* 60 KB: not on the stack */
    static uint32_t registers[TOY_WARPS][TOY_REGISTERS][TOY_LANES], memory[TOY_WORDS];
    toy *t = &machine;
    uint64_t random = test_seed() * 7919 + number;
    const uint32_t length = 6 + gpump_random_below(&random, 24);
    uint32_t evictions = 12, out = 0, done = 0;
    gpump_replay_config config;
    outcome result;
    memset(t, 0, sizeof *t);
    memset(&result, 0, sizeof result);
    for (uint32_t pc = 0; pc < TOY_PROGRAM; pc++) {
        t->program[pc] = random_instruction(&random);
        if (pc >= length) t->program[pc].op = TOY_EXIT;
    }
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, one->preset, NULL), GPUMP_OK);
    config.order = one->order;
    config.on_fault = one->on_fault;
    config.probe = one->probe;
    config.wide = one->wide;
    config.entries = 1 + gpump_random_below(&random, 8);
    if (config.scheme == GPUMP_REPLAY_LOG) config.log_bytes = TOY_LANES * 8 * (4 + gpump_random_below(&random, 9));
    t->mistake = one->mistake;
    t->check_cycles = 12;
    t->data_cycles = 12;
    t->service_cycles = 120;
    t->issue_width = 2;
    assert_int_equal(toy_init(t, &config), GPUMP_OK);
    for (uint32_t i = 0; i < TOY_WORDS; i++) t->memory[i] = memory[i] = (uint32_t)gpump_random_next(&random);
    for (uint32_t i = 0; i < TOY_PAGES; i++) t->page_comes[i] = gpump_random_below(&random, 3) ? 0 : GPUMP_UNKNOWN;
    for (uint32_t w = 0; w < TOY_WARPS; w++)
        for (uint32_t r = 0; r < TOY_REGISTERS; r++)
            for (uint32_t l = 0; l < TOY_LANES; l++) registers[w][r][l] = (uint32_t)gpump_random_next(&random) % 997;
    t->random = gpump_random_next(&random) | 1;
    while (done < TOY_BLOCKS && !*t->trouble) {
        const uint32_t b = gpump_random_below(&random, TOY_BLOCKS);
        for (uint32_t i = 0; i < TOY_BLOCKS; i++)
            if (t->blocks[i].state == TOY_NEW && !out && toy_place(t, i, registers)) break;
        toy_cycle(t);
        if (evictions && !gpump_random_below(&random, 40)) {
            const uint32_t page = gpump_random_below(&random, TOY_PAGES);
            if (!t->page_comes[page]) t->page_comes[page] = GPUMP_UNKNOWN;
            evictions--;
        }
        if (t->blocks[b].state == TOY_HERE && out < 3 && !gpump_random_below(&random, 60)) toy_leave(t, b);
        for (uint32_t i = 0; i < TOY_BLOCKS; i++) {
            const uint32_t before = t->blocks[i].state;
            toy_retire(t, i);
            done += t->blocks[i].state == TOY_DONE && before != TOY_DONE;
            if (t->blocks[i].state == TOY_LEAVING && toy_may_save(t, i)) toy_save(t, i);
            if (t->blocks[i].state == TOY_OUT && !gpump_random_below(&random, 30)) (void)toy_return(t, i);
        }
        if (!(t->now % 16)) {
            gpump_diag diag;
            if (gpump_check(&gpump_replay_component, t->replay, &diag)) toy_complain(t, diag.field);
        }
    }
    for (uint32_t w = 0; w < TOY_WARPS; w++) toy_reference(t->program, w, registers[w], memory);
    result.wrong = memcmp(memory, t->memory, sizeof memory) || memcmp(registers, t->final, sizeof registers);
    memcpy(result.trouble, t->trouble, sizeof result.trouble);
    result.cycles = t->now;
    result.missing = t->missing;
    gpump_get_statistics(&gpump_replay_component, t->replay, &result.statistics);
    return result;
}

static void say(const scene *one, uint64_t number, const outcome *got) {
    fail_msg("%s, order %u, on_fault %u, probe %u, wide %u: %s (GPUMP_TEST_SEED=%llu, case %llu)", one->preset,
             one->order, one->on_fault, one->probe, one->wide, *got->trouble ? got->trouble : "wrong values",
             (unsigned long long)test_seed(), (unsigned long long)number);
}

/* Random programs with faults on a toy pipeline, under every scheme: memory and registers end as without. */
static void every_scheme_leaves_the_same_memory(void **state) {
    static const char *const presets[] = {"stall", "wd_commit", "wd_check", "queue", "log8", "regions"};
    const uint64_t cases = test_cases(400);
    (void)state;
    for (uint32_t p = 0; p < 6; p++) {
        gpump_replay_statistics sum;
        uint64_t *total = &sum.issued;
        memset(&sum, 0, sizeof sum);
        for (uint64_t number = 0; number < cases; number++) {
            const scene one = {presets[p],
                               (uint32_t)(1 + number % 2),
                               (uint32_t)(number / 2 % 2),
                               (uint32_t)(number / 4 % 2),
                               GPUMP_REPLAY_WIDE_HOLDS,
                               TOY_RIGHT};
            const outcome got = run(&one, number);
            const uint64_t *more = &got.statistics.issued;
            if (got.wrong || *got.trouble) say(&one, number, &got);
            for (uint32_t i = 0; i < sizeof sum / sizeof *total; i++) total[i] += more[i];
        }
        printf("%-10s %6llu faults, %5llu squashed, %5llu nacked, %5llu fetched again, %5llu unissued, %5llu replays\n",
               presets[p], (unsigned long long)sum.faults, (unsigned long long)sum.squashed,
               (unsigned long long)sum.nacked, (unsigned long long)sum.refetched, (unsigned long long)sum.unissued,
               (unsigned long long)sum.replays);
        assert_true(sum.faults > cases);
        if (p == 3 || p == 4) assert_true(sum.squashed && sum.nacked && sum.unissued && sum.replays);
        if (p == 4) assert_true(sum.logged && sum.held);
        if (p == 1 || p == 2 || p == 5) assert_true(sum.refetched && !sum.replays);
    }
}

/* Each mistake must show in some case; the same cases are right without it. */
static void must_be_noticed(const char *what, scene wrong) {
    scene right = wrong;
    uint64_t number, noticed = 0;
    uint32_t missing = 0;
    right.mistake = TOY_RIGHT;
    right.order = GPUMP_REPLAY_CLASS;
    for (number = 0; number < 400; number++) {
        const outcome bad = run(&wrong, number), good = run(&right, number);
        if (good.wrong || *good.trouble) say(&right, number, &good);
        noticed += bad.wrong || *bad.trouble;
        missing |= bad.missing;
    }
    printf("%-34s noticed in %llu of 400 cases\n", what, (unsigned long long)noticed);
    if (!noticed) fail_msg("%s was not noticed", what);
    assert_int_equal(missing, wrong.mistake == TOY_DROPS_LOG ? GPUMP_PART_LOG : 0);
}
/* A host that leaves out a part of the protocol ends with wrong memory: the test above can fail. */
static void test_mistakes_are_noticed(void **state) {
    const scene log = {"log8", GPUMP_REPLAY_CLASS, GPUMP_REPLAY_EAGER, 1, GPUMP_REPLAY_WIDE_HOLDS, TOY_RIGHT};
    scene wrong = log;
    (void)state;
    wrong.mistake = TOY_DROPS_LOG;
    must_be_noticed("a context without operands", wrong);
    wrong.mistake = TOY_DROPS_LANES;
    must_be_noticed("a replay with all lanes", wrong);
    wrong.mistake = TOY_IGNORES_REPLAY;
    must_be_noticed("issue before the replay is over", wrong);
    wrong.preset = "queue";
    wrong.mistake = TOY_RELEASES_EARLY;
    must_be_noticed("sources released at operand read", wrong);
    wrong.mistake = TOY_RIGHT;
    wrong.order = GPUMP_REPLAY_PRINTED;
    must_be_noticed("memory order as printed", wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_leaves_the_same_memory),
        cmocka_unit_test(test_mistakes_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
