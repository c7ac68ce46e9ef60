/* labels: unit property link: minigpu_core */
/* The parts of the mini-GPU by themselves: the SIMT stack against lanes that run alone, scoreboard and release points,
 * warp schedulers, the read set against a plain list, fetch that is held and let go, and queues before memory that have
 * an end. */
#include "test.h"

#include "tools/check.h"
#include "machine/machine.h"
#include "sm/pipeline.h"
#include "sm/scoreboard.h"
#include "state/simt_stack.h"
#include "sm/warp_scheduler.h"

/* ---- the SIMT stack ---- */

#define PROGRAM_MAX 24

/* A random program: instruction i either goes on to i + 1, branches to target[i], or ends. Lanes decide by a hash of
 * lane, place and visit. */
typedef struct program {
    uint32_t count, target[PROGRAM_MAX], is_branch[PROGRAM_MAX], reconvergence[PROGRAM_MAX];
    uint64_t seed;
} program;

static int lane_takes(const program *p, uint32_t lane, uint32_t pc, uint32_t visit) {
    uint64_t hash = gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(p->seed, lane), pc), visit);
    return visit < 6 ? (hash >> 17 & 3) != 0 : p->target[pc] > pc; /* loops end after a while */
}

/* Immediate post-dominators by their definition: d post-dominates n when n cannot reach the end without d. */
static int reaches_end(const program *p, uint32_t from, uint32_t without) {
    uint32_t stack[PROGRAM_MAX * 2], depth = 0;
    uint8_t seen[PROGRAM_MAX + 1];
    memset(seen, 0, sizeof seen);
    if (from == without) return 0;
    stack[depth++] = from;
    while (depth) {
        uint32_t at = stack[--depth], i, next[2];
        if (seen[at]) continue;
        seen[at] = 1;
        if (at == p->count - 1) return 1;
        next[0] = at + 1;
        next[1] = p->is_branch[at] ? p->target[at] : at + 1;
        for (i = 0; i < 2; i++)
            if (next[i] != without && !seen[next[i]]) stack[depth++] = next[i];
    }
    return 0;
}

static uint32_t post_dominator(const program *p, uint32_t pc) {
    uint32_t d, e;
    for (d = 0; d < p->count; d++) {
        int immediate = d != pc && !reaches_end(p, pc, d);
        for (e = 0; immediate && e < p->count; e++) { /* every other post-dominator of pc comes after d */
            if (e != pc && e != d && !reaches_end(p, pc, e) && reaches_end(p, d, e)) immediate = 0;
        }
        if (immediate) return d;
    }
    return SIMT_NEVER;
}

/* Returns the steps taken; 0: some lane never ends. */
static uint32_t one_program(uint64_t seed, uint64_t number) {
    uint64_t state = seed * 7919 + number, alone[LANES], together[LANES];
    uint32_t i, lane, visits[LANES][PROGRAM_MAX], steps = 0, lanes = (uint32_t)gpump_random_next(&state) | 1;
    simt_stack stack;
    program p;
    memset(&p, 0, sizeof p);
    p.seed = gpump_random_next(&state);
    p.count = 4 + gpump_random_below(&state, PROGRAM_MAX - 4);
    for (i = 0; i + 1 < p.count; i++) {
        p.is_branch[i] = gpump_random_below(&state, 3) == 0;
        p.target[i] = gpump_random_below(&state, p.count);
    }
    for (i = 0; i + 1 < p.count; i++) p.reconvergence[i] = p.is_branch[i] ? post_dominator(&p, i) : SIMT_NEVER;
    /* Each lane alone: a hash of the places it visits. */
    for (lane = 0; lane < LANES; lane++) {
        uint32_t pc = 0, count = 0;
        alone[lane] = together[lane] = GPUMP_HASH_SEED;
        if (!(lanes >> lane & 1)) continue;
        memset(visits[lane], 0, sizeof visits[lane]);
        while (count++ < 5000) {
            alone[lane] = gpump_hash_u64(alone[lane], pc);
            if (pc == p.count - 1) break;
            pc = p.is_branch[pc] && lane_takes(&p, lane, pc, visits[lane][pc]++) ? p.target[pc] : pc + 1;
        }
        if (count > 5000) return 0; /* a program without an end says nothing */
    }
    memset(visits, 0, sizeof visits);
    simt_start(&stack, lanes);
    while (stack.depth) {
        const simt_entry *top = simt_top(&stack);
        uint32_t pc = top->pc, mask = top->mask, taken = 0;
        test_check(++steps < 1000000, seed, number);
        test_check(pc < p.count && mask, seed, number);
        for (lane = 0; lane < LANES; lane++) {
            if (!(mask >> lane & 1)) continue;
            together[lane] = gpump_hash_u64(together[lane], pc);
            if (pc + 1 < p.count && p.is_branch[pc] && lane_takes(&p, lane, pc, visits[lane][pc]++))
                taken |= 1u << lane;
        }
        if (pc == p.count - 1) {
            simt_exit(&stack, mask);
        } else if (p.is_branch[pc]) {
            test_check(simt_branch(&stack, taken, p.target[pc], p.reconvergence[pc]) == 0, seed, number);
        } else {
            simt_go(&stack, pc + 1);
        }
    }
    for (lane = 0; lane < LANES; lane++) test_check(alone[lane] == together[lane], seed, number);
    return steps;
}

/* Warps that part and meet by the SIMT stack compute what each lane computes alone. */
static void test_simt_stack_against_lanes_alone(void **state) {
    uint64_t number, cases = test_cases(3000), ended = 0, steps = 0;
    (void)state;
    for (number = 0; number < cases; number++) {
        uint32_t taken = one_program(test_seed(), number);
        ended += taken != 0;
        steps += taken;
    }
    printf("%llu of %llu random programs end, after %llu steps in all\n", (unsigned long long)ended,
           (unsigned long long)cases, (unsigned long long)steps);
    assert_true(ended > cases / 4);
}

/* A loop that lanes leave one after the other must not grow the stack. */
static void test_simt_stack_stays_small(void **state) {
    simt_stack stack;
    uint32_t lane;
    (void)state;
    simt_start(&stack, UINT32_MAX);
    for (lane = 0; lane < 31; lane++) {
        stack.entries[stack.depth - 1].pc = 5; /* at the branch back: all but the lowest lane go on */
        assert_int_equal(simt_branch(&stack, simt_top(&stack)->mask & ~(1u << lane), 2, 6), 0);
        assert_true(stack.depth <= 2);
        assert_int_equal(simt_top(&stack)->pc, 2);
    }
    stack.entries[stack.depth - 1].pc = 5;
    assert_int_equal(simt_branch(&stack, 0, 2, 6), 0);
    assert_int_equal(stack.depth, 1);
    assert_int_equal(simt_top(&stack)->pc, 6);
    assert_int_equal(simt_top(&stack)->mask, UINT32_MAX);
}

/* Where one side of a branch exits, the other one goes on alone and meets nobody. */
static void lanes_that_exit_below_are_not_waited_for(void **state) {
    simt_stack stack;
    (void)state;
    simt_start(&stack, 0xff);
    assert_int_equal(simt_branch(&stack, 0x0f, 10, 20), 0);
    simt_exit(&stack, 0x0f); /* the taken side ends: the others have their turn, and meet nobody at 20 */
    assert_int_equal(simt_top(&stack)->pc, 1);
    assert_int_equal(simt_top(&stack)->mask, 0xf0);
    simt_go(&stack, 20);
    assert_int_equal(stack.depth, 1);
    assert_int_equal(simt_top(&stack)->mask, 0xf0);
    simt_exit(&stack, 0xf0);
    assert_int_equal(stack.depth, 0);
}

/* ---- scoreboard ---- */

static issue_info info_of(uint16_t source, uint16_t destination) {
    issue_info info;
    memset(&info, 0, sizeof info);
    scoreboard_name(&info, source, 0);
    scoreboard_name(&info, destination, 1);
    return info;
}

/* A result is held until it is written, a source until it is released; reading together is free. */
static void the_scoreboard_keeps_sources_and_results_apart(void **state) {
    static warp w;
    issue_info first = info_of(1, 2), reads_result = info_of(2, 3), writes_source = info_of(4, 1),
               writes_result = info_of(4, 2), other = info_of(1, 5);
    (void)state;
    memset(&w, 0, sizeof w);
    assert_true(scoreboard_clear(&w, &first));
    scoreboard_reserve(&w, &first);
    assert_false(scoreboard_clear(&w, &reads_result));
    assert_false(scoreboard_clear(&w, &writes_result));
    assert_false(scoreboard_clear(&w, &writes_source)); /* until the sources are released */
    assert_true(scoreboard_clear(&w, &other));          /* reading together is fine */
    scoreboard_reserve(&w, &other);
    scoreboard_release_sources(&w, &first);
    assert_false(scoreboard_clear(&w, &writes_source)); /* the other one still reads it */
    scoreboard_release_sources(&w, &other);
    assert_true(scoreboard_clear(&w, &writes_source));
    assert_false(scoreboard_clear(&w, &reads_result));
    scoreboard_release_destinations(&w, &first);
    assert_true(scoreboard_clear(&w, &reads_result));
}

/* ---- warp schedulers ---- */

/* Which warp each scheduler picks, by hand. */
static void gto_is_greedy_then_oldest_and_lrr_takes_turns(void **state) {
    static machine m;
    static sm s;
    uint32_t i;
    (void)state;
    for (i = 0; i < WARP_SLOTS_MAX; i++)
        warp_scheduler_came(&s, UINT64_C(1) << i, 1000 - i); /* the highest slot is the oldest */
    m.config.scheduler = SCHEDULER_GTO;
    s.scheduler_last[0] = 4;
    assert_int_equal(warp_scheduler_pick(&m, &s, 0, UINT64_C(0x55)), 4); /* greedy */
    assert_int_equal(warp_scheduler_pick(&m, &s, 0, UINT64_C(0x45)), 6); /* then the oldest */
    assert_int_equal(warp_scheduler_pick(&m, &s, 0, UINT64_C(1) << 63 | 3), 63);
    m.config.scheduler = SCHEDULER_LRR;
    assert_int_equal(warp_scheduler_pick(&m, &s, 0, UINT64_C(0x55)), 6); /* the next after the last */
    s.scheduler_last[0] = 6;
    assert_int_equal(warp_scheduler_pick(&m, &s, 0, UINT64_C(0x55)), 0); /* and round again */
    s.scheduler_last[0] = 63;
    assert_int_equal(warp_scheduler_pick(&m, &s, 0, UINT64_C(1) << 63), 63);
}

/* ---- fetch that is held ---- */

/* A warp whose fetch is disabled issues nothing more, and goes on right when it is enabled. */
static void test_fetch_can_be_held(void **state) {
    launch_file launch;
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    kernel_check checks[4];
    machine *m = NULL;
    uint64_t issued;
    uint32_t i;
    (void)state;
    machine_options_default(&options);
    if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/hotspot/small.yaml", error) ||
        !(m = machine_build(&launch, &options, error)))
        fail_msg("%s", error);
    assert_int_equal(machine_run(m, 600), 0);
    for (i = 0; i < m->warp_count; i++)
        if (m->warps[i].sm != NONE) pipeline_enable_fetch(m, m->sms[m->warps[i].sm], i, 0);
    m->config.watchdog_cycles = UINT32_MAX;
    assert_int_equal(machine_run(m, 2000), -1); /* everything in flight ends, then nothing can happen */
    assert_true(m->deadlocked);
    for (i = 0; i < m->warp_count; i++) assert_true(m->warps[i].sm == NONE || m->warps[i].in_flight == 0);
    issued = m->sms[0]->statistics.issued;
    m->failed = m->deadlocked = 0;
    for (i = 0; i < m->warp_count; i++)
        if (m->warps[i].sm != NONE) pipeline_enable_fetch(m, m->sms[m->warps[i].sm], i, 1);
    assert_int_equal(machine_run(m, NEVER), 1);
    assert_true(m->sms[0]->statistics.issued > issued);
    assert_int_equal(check_results(m, &launch, checks), 0);
    machine_free(m);
    launch_file_free(&launch);
}

/* ---- queues before memory ---- */

/* Returns the longest that any reply was ever away, with every load of kmeans_invert_mapping a line of its own. */
static uint64_t longest_wait(uint32_t l2_queue, uint32_t output_flits, uint32_t dram_queue) {
    launch_file launch;
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m = NULL;
    uint64_t longest = 0, issued[SCHEDULERS_MAX] = {0};
    uint32_t i;
    machine_options_default(&options);
    options.skip_idle = 0;
    if (launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/kmeans_invert_mapping/launch.yaml",
                         error) ||
        !(m = machine_build(&launch, &options, error)))
        fail_msg("%s", error);
    m->config.l1_misses = 64;
    m->config.scheduler = SCHEDULER_LRR;
    m->config.l2_queue_entries = l2_queue; /* not above what the machine was built with */
    m->config.network_output_flits = output_flits;
    m->config.dram_queue_entries = dram_queue;
    while (m->now < 12000 && machine_run(m, m->now + 10) == 0) {
        for (i = 0; i < m->sm_count; i++) {
            const sm *s = m->sms[i];
            assert_true(s->check_count + s->access_count <= m->config.memory_queue_entries);
            assert_true(s->outstanding_misses <= m->config.l1_misses);
            if (memory_last_reply(m->memory_system, i) > m->now + longest)
                longest = memory_last_reply(m->memory_system, i) - m->now;
        }
    }
    assert_false(m->failed);
    for (i = 0; i < m->warp_count; i++) /* the schedulers of an SM share the load-store unit */
        if (m->warps[i].sm != NONE) issued[m->warps[i].slot % m->config.gpu.schedulers] += m->warps[i].sequence;
    if (5 * issued[0] > 6 * issued[1] || 5 * issued[1] > 6 * issued[0])
        fail_msg("%u and %u instructions", (uint32_t)issued[0], (uint32_t)issued[1]);
    machine_free(m);
    launch_file_free(&launch);
    return longest;
}

/* No request waits for memory longer than the queues before it can hold it. */
static void test_queues_before_memory_have_an_end(void **state) {
    const uint64_t line = 7, reply = 10,
                   idle = 2 * 60 + 60 + 200 + 20; /* cycles on a channel, at the SM's port, alone on the way */
    uint64_t narrow = longest_wait(1, 5, 2), wide = longest_wait(8, 24, 32);
    (void)state;
    /* Before a request stand the channel's queue, those of its two banks, and one request at the port of each SM; each
     * may write a line back too. Before its reply stand those of all other misses of its SM. */
    if (narrow > idle + (2 + 2 * (1 + 5) + 15) * 2 * line + 64 * reply) fail_msg("%u cycles", (uint32_t)narrow);
    if (wide > idle + (32 + 2 * (8 + 24) + 15) * 2 * line + 64 * reply) fail_msg("%u cycles", (uint32_t)wide);
    if (narrow >= wide) fail_msg("%u cycles, and %u with longer queues", (uint32_t)narrow, (uint32_t)wide);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simt_stack_against_lanes_alone),
        cmocka_unit_test(test_simt_stack_stays_small),
        cmocka_unit_test(lanes_that_exit_below_are_not_waited_for),
        cmocka_unit_test(the_scoreboard_keeps_sources_and_results_apart),
        cmocka_unit_test(gto_is_greedy_then_oldest_and_lrr_takes_turns),
        cmocka_unit_test(test_fetch_can_be_held),
        cmocka_unit_test(test_queues_before_memory_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
