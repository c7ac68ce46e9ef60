/* labels: property */
/* Every number of an estimate beside the formulas of cost.h, written once more without sums that are kept, short cuts
 * for small numbers or one pass for several purposes: over all options, at sizes from 0 to what saturates. */
#include "test.h"
#include "victim/cost.h"

enum { FLUSH = GPUMP_TECHNIQUE_FLUSH, SWITCH = GPUMP_TECHNIQUE_SWITCH, DRAIN = GPUMP_TECHNIQUE_DRAIN };
enum { REWIND = GPUMP_TECHNIQUE_REWIND, FUNCTIONS = 4, LIST = 150 };

__extension__ typedef unsigned __int128 wide;

/* The blocks of a function that have ended, all of them in order. */
typedef struct ended {
    uint64_t instructions[LIST], cycles[LIST];
    uint32_t count;
} ended;

typedef struct question {
    gpump_port port;
    ended lists[FUNCTIONS];
    gpump_cost_history histories[FUNCTIONS];
    uint32_t history_count;
    gpump_block_view blocks[64];
    gpump_cost_rewind rewind[64];
    gpump_cost_options options;
    uint32_t count;
    int rewinds, no_options;
} question;

/* ---- the formulas ---- */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t cpi_of(uint64_t instructions, uint64_t cycles) {
    return instructions ? gpump_muldiv_up(cycles, 65536, instructions) : GPUMP_UNKNOWN;
}
static uint64_t times(uint64_t a, uint64_t q16) {
    return a == GPUMP_UNKNOWN || q16 == GPUMP_UNKNOWN ? GPUMP_UNKNOWN : gpump_muldiv_up(a, q16, 65536);
}

/* What is known of blocks that have ended, or run: lengths and CPIs of those that count. */
typedef struct sample {
    uint64_t instructions[65], cpi[65];
    uint32_t count;
} sample;

static sample ended_of(const question *q, uint32_t function) {
    const ended *list = function < q->history_count ? &q->lists[function] : NULL;
    sample s = {{0}, {0}, 0};
    for (uint32_t i = list && list->count > 64 ? list->count - 64 : 0; list && i < list->count; i++) {
        s.instructions[s.count] = least(list->instructions[i], (uint64_t)1 << 56);
        s.cpi[s.count++] = least(cpi_of(list->instructions[i], list->cycles[i]), UINT32_MAX);
    }
    return s;
}
static sample running_of(const question *q, uint32_t function) {
    sample s = {{0}, {0}, 0};
    for (uint32_t i = 0; i < q->count; i++) {
        const gpump_block_view *b = &q->blocks[i];
        s.cpi[s.count] = cpi_of(b->executed, b->cycles); /* GPUMP_UNKNOWN is also what saturates */
        s.count += (b->function ? b->function : b->kernel) == function && s.cpi[s.count] != GPUMP_UNKNOWN;
    }
    return s;
}

static uint64_t mean_of(const uint64_t *numbers, uint32_t count) {
    wide sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += numbers[i];
    return count ? (uint64_t)((sum + count - 1) / count) : GPUMP_UNKNOWN;
}

/* n (n - 1) times the variance of the CPIs, in steps of 1/256 cycle. */
static wide deviation_of(const sample *s) {
    wide sum = 0, squares = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const wide step = least(s->cpi[i] >> 8, (uint64_t)1 << 24);
        sum += step;
        squares += step * step;
    }
    return s->count * squares - sum * sum;
}

static uint32_t source_of(const sample *ended, const sample *running) {
    if (running->count < 2 && ended->count < 2) return GPUMP_COST_CPI_SOURCES;
    if (running->count < 2) return GPUMP_COST_CPI_FINISHED;
    if (ended->count < 2) return GPUMP_COST_CPI_RUNNING;
    return deviation_of(running) * ended->count * (ended->count - 1) <=
                   deviation_of(ended) * running->count * (running->count - 1)
               ? GPUMP_COST_CPI_RUNNING
               : GPUMP_COST_CPI_FINISHED;
}

/* The CPI of a drain. */
static uint64_t drain_cpi(uint32_t source, uint64_t own, const sample *ended) {
    const uint64_t pace = mean_of(ended->cpi, ended->count);
    switch (source) {
    case GPUMP_COST_CPI_RUNNING: return own;
    case GPUMP_COST_CPI_FINISHED: return pace;
    case GPUMP_COST_CPI_LARGER: return own == GPUMP_UNKNOWN ? pace : pace == GPUMP_UNKNOWN ? own : most(own, pace);
    default: return GPUMP_UNKNOWN;
    }
}

/* Warp instructions in a cycle, Q16.16, of the mean block of a function. */
static uint64_t ipc_of(const question *q, uint32_t function) {
    uint64_t executed = 0, cycles = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        const gpump_block_view *b = &q->blocks[i];
        if ((b->function ? b->function : b->kernel) != function) continue;
        executed += b->executed;
        cycles += b->cycles;
    }
    return cpi_of(cycles, executed);
}

static void fault(const question *q, uint32_t i, uint64_t ipc, gpump_cost_estimate *e) {
    const gpump_block_view *b = &q->blocks[i];
    const uint64_t wait = b->fault_cycles;
    if (!wait) return;
    e->latency[DRAIN] = gpump_add_saturated(e->latency[DRAIN], wait);
    if (b->fault_stalls) {
        e->latency[SWITCH] = gpump_add_saturated(e->latency[SWITCH], wait);
        return;
    }
    for (uint32_t t = SWITCH; t <= REWIND; t += REWIND - SWITCH) {
        const uint64_t stalls = gpump_add_saturated(e->latency[t], e->latency[t]);
        if (e->overhead[t] == GPUMP_UNKNOWN) continue;
        e->overhead[t] = stalls > wait ? times(stalls - wait, ipc) : 0;
        if (t == REWIND) e->overhead[t] = gpump_add_saturated(e->overhead[t], q->rewind[i].executed);
    }
}

/* One block, all but what drains of others cost. */
static void estimate(const question *q, uint32_t i, const gpump_cost_options *options, gpump_cost_estimate *e) {
    const gpump_block_view *b = &q->blocks[i];
    const uint32_t function = b->function ? b->function : b->kernel;
    const sample ended = ended_of(q, function), running = running_of(q, function);
    const uint32_t source = options->cpi ? options->cpi : source_of(&ended, &running);
    const uint64_t ipc = ipc_of(q, function), save = gpump_port_cycles(&q->port, b->context_bytes);
    uint64_t length = mean_of(ended.instructions, ended.count);
    for (uint32_t k = 0; options->flags & GPUMP_COST_DRAIN_CAREFUL && !(b->may >> FLUSH & 1u) && k < ended.count; k++)
        length = most(length, ended.instructions[k]);
    memset(e, 0xff, sizeof *e);
    e->latency[FLUSH] = 0;
    e->overhead[FLUSH] = b->executed;
    e->latency[SWITCH] = save;
    e->overhead[SWITCH] = times(gpump_add_saturated(save, save), ipc);
    if (length != GPUMP_UNKNOWN)
        e->latency[DRAIN] = times(length > b->executed ? length - b->executed : 0,
                                  drain_cpi(source, cpi_of(b->executed, b->cycles), &ended));
    if (e->latency[DRAIN] != GPUMP_UNKNOWN) e->overhead[DRAIN] = 0;
    if (q->rewinds) {
        const uint64_t cycles = gpump_port_cycles(&q->port, q->rewind[i].bytes);
        e->latency[REWIND] = cycles;
        e->overhead[REWIND] =
            gpump_add_saturated(q->rewind[i].executed, times(gpump_add_saturated(cycles, cycles), ipc));
    }
    fault(q, i, ipc, e);
}

static void estimate_all(const question *q, gpump_cost_estimate *all) {
    static const gpump_cost_options published = {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0};
    const gpump_cost_options *options = q->no_options ? &published : &q->options;
    for (uint32_t i = 0; i < q->count; i++) estimate(q, i, options, &all[i]);
    for (uint32_t i = 0; i < q->count && options->flags & GPUMP_COST_DRAIN_LOSES; i++) {
        const uint32_t function = q->blocks[i].function ? q->blocks[i].function : q->blocks[i].kernel;
        uint64_t last = 0;
        for (uint32_t k = 0; k < q->count; k++) {
            const uint64_t latency = all[k].latency[DRAIN];
            if ((q->blocks[k].function ? q->blocks[k].function : q->blocks[k].kernel) == function &&
                latency != GPUMP_UNKNOWN && latency <= options->limit_cycles)
                last = most(last, latency);
        }
        if (all[i].latency[DRAIN] < last)
            all[i].overhead[DRAIN] = times(last - all[i].latency[DRAIN], ipc_of(q, function));
    }
}

/* ---- questions ---- */

/* A number below 2^bits, of any length; in one of eight cases a power of two, or next to one. */
static uint64_t draw_number(uint64_t *random, uint32_t bits) {
    const uint32_t length = gpump_random_below(random, bits + 1);
    if (!length) return 0;
    if (gpump_random_below(random, 8) == 0) return ((uint64_t)1 << (length - 1)) - gpump_random_below(random, 2);
    return gpump_random_next(random) >> (64 - length);
}

/* Blocks that have ended, of few CPIs or of any. */
static void draw_ended(ended *list, gpump_cost_history *history, uint64_t *random, uint32_t bits) {
    static const uint32_t counts[] = {0, 1, 2, 3, 9, 63, 64, 65, LIST};
    const uint32_t count = counts[gpump_random_below(random, 9)], steady = gpump_random_below(random, 2);
    memset(history, 0, sizeof *history);
    list->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t instructions = draw_number(random, bits);
        const uint64_t cycles = steady ? instructions * (1 + gpump_random_below(random, 4)) : draw_number(random, bits);
        gpump_cost_history_record(history, instructions, cycles);
        if (!instructions) continue; /* such a block is not recorded */
        list->instructions[list->count] = instructions;
        list->cycles[list->count++] = cycles;
    }
}

static void draw_block(gpump_block_view *b, uint64_t *random, uint32_t bits) {
    memset(b, 0, sizeof *b);
    b->kernel = 1 + gpump_random_below(random, FUNCTIONS);
    b->function = gpump_random_below(random, 3) ? 0 : 1 + gpump_random_below(random, FUNCTIONS);
    b->executed = draw_number(random, bits);
    b->cycles =
        gpump_random_below(random, 3) ? b->executed * (1 + gpump_random_below(random, 4)) : draw_number(random, bits);
    b->context_bytes = gpump_random_below(random, 3) ? 4096 : draw_number(random, bits);
    b->may = gpump_random_below(random, 16);
    if (gpump_random_below(random, 3) == 0) b->fault_cycles = draw_number(random, 16);
    if (gpump_random_below(random, 50) == 0) b->fault_cycles = GPUMP_UNKNOWN;
    b->fault_stalls = gpump_random_below(random, 2);
}

static void draw(question *q, uint64_t *random, uint64_t number) {
    static const uint32_t sizes[] = {5, 12, 20, 34, 50, 58};
    const uint32_t bits = sizes[number % 6];
    q->port.cycles = 1 + draw_number(random, 20);
    q->port.bytes = 1 + draw_number(random, 20);
    q->history_count = gpump_random_below(random, 3) ? FUNCTIONS : gpump_random_below(random, FUNCTIONS + 1);
    for (uint32_t f = 0; f < q->history_count; f++) draw_ended(&q->lists[f], &q->histories[f], random, bits);
    q->count = number % 50 ? gpump_random_below(random, 9) : 64 - gpump_random_below(random, 2);
    for (uint32_t i = 0; i < q->count; i++) {
        draw_block(&q->blocks[i], random, bits);
        q->rewind[i].bytes = draw_number(random, bits);
        q->rewind[i].executed = gpump_random_below(random, 20) ? draw_number(random, bits) : UINT64_MAX;
    }
    q->options.cpi = gpump_random_below(random, GPUMP_COST_CPI_SOURCES);
    q->options.flags = gpump_random_below(random, 4);
    q->options.limit_cycles = gpump_random_below(random, 9) ? draw_number(random, bits + 4) : GPUMP_UNKNOWN;
    q->rewinds = gpump_random_below(random, 3) != 0;
    q->no_options = gpump_random_below(random, 8) == 0;
}

/* Latency and overhead of each block by each technique; the source of the CPI; the means of the window. */
static void estimates_are_those_of_the_formulas(void **state) {
    const uint64_t seed = test_seed(), cases = test_cases(60000);
    uint64_t random = seed, drains = 0, charged = 0;
    static question q;
    (void)state;
    for (uint64_t number = 0; number < cases; number++) {
        gpump_cost_estimate wanted[64], given[64];
        draw(&q, &random, number);
        estimate_all(&q, wanted);
        memset(given, 0xab, sizeof given);
        test_check(gpump_cost_estimate_blocks(&q.port, q.history_count ? q.histories : NULL, q.history_count, q.blocks,
                                              q.count, q.rewinds ? q.rewind : NULL, q.no_options ? NULL : &q.options,
                                              given, NULL) == GPUMP_OK,
                   seed, number);
        for (uint32_t i = 0; i < q.count; i++)
            for (uint32_t t = 0; t < GPUMP_TECHNIQUES; t++) {
                test_check(given[i].latency[t] == wanted[i].latency[t], seed, number);
                test_check(given[i].overhead[t] == wanted[i].overhead[t], seed, number);
                drains += t == DRAIN && given[i].latency[t] != GPUMP_UNKNOWN && given[i].latency[t];
                charged += t == DRAIN && given[i].overhead[t] != GPUMP_UNKNOWN && given[i].overhead[t];
            }
        for (uint32_t f = 1; f < q.history_count; f++) {
            const sample ended = ended_of(&q, f), running = running_of(&q, f);
            test_check(gpumpi_cost_cpi_source(&q.histories[f], q.blocks, q.count, f) == source_of(&ended, &running),
                       seed, number);
            test_check(gpumpi_cost_history_count(&q.histories[f]) == ended.count, seed, number);
            test_check(gpumpi_cost_history_instructions(&q.histories[f]) == mean_of(ended.instructions, ended.count),
                       seed, number);
        }
    }
    assert_true(drains > cases / 2 && charged > cases / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimates_are_those_of_the_formulas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
