/* labels: equivalence slow full link: minigpu_core */
/* A block may be preempted at any cycle, by any technique, its place used by another kernel meanwhile, and come back on
 * another SM: the result is that of the undisturbed run, bit for bit. At every k-th cycle of the whole run it is tried
 * from there: a try preempts one SM and runs on to the end. GPUMP_TEST_CASES scales the number of tries;
 * tests/minigpu/preempt_every_cycle.c is the form with k = 1. */
#include "test.h"

#include "analysis/analysis.h"
#include "minigpu/moment.h"
#include "tools/check.h"
#include "preemption/preemption.h"

#define INTRUDER 1u /* kernel index */

/* What came of a try. */
enum {
    TRY_RIGHT = 0,
    TRY_REFUSED = 1,
    TRY_NOTHING_THERE = 2,
    TRY_WRONG = 3,
    TRY_DEADLOCK = 4,
    TRY_NOT_ELSEWHERE = 5,
    TRY_NO_INTRUDER = 6,
    TRY_ANSWERS
};
static const char *const answers[] = {"right",
                                      "refused",
                                      "nothing to preempt",
                                      "another result",
                                      "did not end",
                                      "came back on the same SM",
                                      "the SM was not used by the other kernel"};

static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_FLUSH, GPUMP_TECHNIQUE_DRAIN};

/* How registers are saved, and whether warps run on to preemption points: tests/minigpu/context_forms.c tries them all.
 */
static uint32_t form_used, point_interval, choose, in_place;
static const char *absent; /* buffers whose pages are not there at first; page checks find them. NULL: none */

static const char *model = "memory_model=0";
static const char *scheme;      /* absent pages are faults that the pipeline survives; NULL: page checks find them */
static const char *served_over; /* with a scheme: a fault unit serves faults over this link; NULL: a fixed time */
static uint32_t lazy;

static machine *build(launch_file *launch, const char *name) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    options.context_form = form_used;
    options.point_interval = point_interval;
    options.choose = choose;
    options.in_place = in_place;
    options.config = model;
    options.absent = absent;
    options.page_checks = absent && !scheme ? PAGE_CHECKS_KIM : PAGE_CHECKS_NONE;
    options.faults.scheme = scheme;
    options.faults.lazy = lazy;
    options.faults.link = served_over;
    options.faults.absent = absent;
    if (scheme) options.fault_service_ns = 1000;
    snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR, name);
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    m = machine_build(launch, &options, error);
    if (!m) fail_msg("%s", error);
    return m;
}

/* tests/minigpu/preempt/everything.ptx in C. */
static void everything(uint32_t *out, uint32_t rounds) {
    enum { THREADS = 80, BLOCKS = 4 };
    uint32_t block, thread, round, i;
    for (block = 0; block < BLOCKS; block++) {
        uint32_t local[THREADS][8], value[THREADS], exchange[THREADS], population;
        for (thread = 0; thread < THREADS; thread++) {
            uint32_t id = block * THREADS + thread;
            value[thread] = id;
            for (i = 0; i < 8; i++) local[thread][i] = id * 7 + i;
        }
        for (round = 0; round < rounds; round++) {
            for (thread = 0; thread < THREADS; thread++) {
                if (thread & 1) {
                    value[thread] ^= local[thread][round & 7];
                    local[thread][round & 7] += value[thread];
                } else {
                    for (i = 0; i <= (thread & 7); i++) value[thread] = value[thread] * 3 + local[thread][i];
                }
                exchange[thread] = value[thread];
            }
            population = 0;
            for (thread = 0; thread < THREADS; thread++) population += (exchange[(thread + 5) % THREADS] & 4) != 0;
            for (thread = 0; thread < THREADS; thread++)
                value[thread] += exchange[(thread + 5) % THREADS] * 5 + population;
        }
        for (thread = 0; thread < THREADS; thread++)
            out[block * THREADS + thread] = (thread & 1 ? value[thread] : ~value[thread]) + block % 2;
    }
}

static void check_undisturbed(const machine *m, const launch_file *launch, const char *name) {
    kernel_check checks[8];
    assert_true(launch->kernel_count <= 8);
    if (check_results(m, launch, checks) != 0) fail_msg("undisturbed %s: %s%s", name, checks[0].text, checks[1].text);
    if (strcmp(name, "everything") == 0) {
        uint32_t expected[320];
        everything(expected, 5);
        assert_memory_equal(m->memory + (launch->buffers[0].address - DEVICE_BASE), expected, sizeof expected);
    } else if (launch->kernels[0].reference) {
        assert_int_equal(checks[0].result, CHECK_RIGHT);
    } /* the others are held against C by tests/ptx/corpus_on_machine.c */
    assert_int_equal(checks[INTRUDER].result, CHECK_RIGHT);
}

/* The SM that try number `n` preempts: one with blocks of the victim. */
static sm *pick_sm(machine *m, uint64_t n) {
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[(n + i) % m->sm_count];
        if (s->kernel_resident[0]) return s;
    }
    return NULL;
}

/* Preempts, lets the intruder in, runs on to the end, compares. */
static int preempt_and_run_on(machine *m, const launch_file *launch, uint64_t n, uint32_t technique,
                              uint64_t expected) {
    sm *s = pick_sm(m, n);
    gpump_reason reason;
    uint32_t leaving, log = m->preemption_count;
    if (!s) return TRY_NOTHING_THERE;
    m->technique = technique;
    reason = preemption_request(m, s, technique, INTRUDER + 1, 1);
    if (reason == GPUMP_REASON_CLOBBERED) { /* refused whole: everything goes on as if nobody had asked */
        m->kernels[INTRUDER].arrival_cycle = m->now;
        m->technique = GPUMP_TECHNIQUE_DRAIN;
        if (technique != GPUMP_TECHNIQUE_FLUSH || m->preemption_count != log || s->reserved_for) return TRY_WRONG;
    } else if (reason != GPUMP_REASON_YES) {
        return TRY_WRONG;
    }
    m->kernels[INTRUDER].only_reserved = reason == GPUMP_REASON_YES; /* it waits for the SM that is being emptied */
    leaving = m->preemption_count > log ? m->preemptions[log].blocks : 0;
    m->kernels[INTRUDER].arrival_cycle = m->now;
    if (machine_run(m, NEVER) != 1) return TRY_DEADLOCK;
    if (machine_result_hash(m, launch) != expected) return TRY_WRONG;
    if (reason == GPUMP_REASON_CLOBBERED) return TRY_REFUSED;
    if (!(m->kernels[INTRUDER].ran_on >> s->index & 1)) return TRY_NO_INTRUDER;
    /* A drained block does not come back, and a switched one may have ended while it was being stopped. */
    if (technique == GPUMP_TECHNIQUE_FLUSH && m->kernels[0].resumed_elsewhere < leaving) return TRY_NOT_ELSEWHERE;
    if (m->kernels[0].resumed_elsewhere != m->kernels[0].resumed) return TRY_NOT_ELSEWHERE;
    return TRY_RIGHT;
}

/* Tries it from where the machine stands, which is where it stands again afterwards. */
static int try_here(machine *m, const launch_file *launch, uint64_t n, uint32_t technique, uint32_t omit,
                    uint64_t expected) {
    static moment here;
    int answer;
    moment_keep(&here, m);
    m->omit_section = omit;
    answer = preempt_and_run_on(m, launch, n, technique, expected);
    moment_return(&here, m);
    return answer;
}

/* The undisturbed run: its length and result. The machine is back at cycle 0 afterwards. */
static uint64_t undisturbed(machine *m, const launch_file *launch, const char *name, uint64_t *end) {
    void *start = arena_checkpoint(&m->arena);
    uint64_t hash;
    assert_non_null(start);
    assert_int_equal(machine_run(m, NEVER), 1);
    check_undisturbed(m, launch, name);
    hash = machine_result_hash(m, launch);
    *end = m->kernels[0].end_cycle;
    arena_restore(&m->arena, start);
    free(start);
    return hash;
}

#ifndef CONTEXT_FORMS_TEST /* 722 has its own */
#ifdef EVERY_CYCLE
static uint64_t tries_per_kernel(void) { return UINT64_MAX; }
#else
static uint64_t tries_per_kernel(void) { return test_cases(600); }
#endif

static void preempt_anywhere(const char *name, int expects_refusals) {
    launch_file launch;
    machine *m = build(&launch, name);
    uint64_t end, expected = undisturbed(m, &launch, name, &end), count[3][TRY_ANSWERS], step, cycle, n = 0;
    uint32_t t;
    memset(count, 0, sizeof count);
    step = end * 3 /
           (absent ? test_cases(600)
                   : tries_per_kernel()); /* waiting for pages is long, and one cycle of it like another */
    if (!step) step = 1;
    for (cycle = 0; cycle < end; cycle += step, n++) {
        if (machine_run(m, cycle) != 0) break;
        for (t = 0; t < 3; t++) {
            int answer = try_here(m, &launch, n, techniques[t], 0, expected);
            count[t][answer]++;
            if (answer >= TRY_WRONG)
                fail_msg("%s, cycle %llu, %s: %s", name, (unsigned long long)cycle,
                         t == 0   ? "switch"
                         : t == 1 ? "flush"
                                  : "drain",
                         answers[answer]);
        }
    }
    printf("%s: every %llu of %llu cycles; switch %llu right; flush %llu right, %llu refused; drain %llu right\n", name,
           (unsigned long long)step, (unsigned long long)end, (unsigned long long)count[0][TRY_RIGHT],
           (unsigned long long)count[1][TRY_RIGHT], (unsigned long long)count[1][TRY_REFUSED],
           (unsigned long long)count[2][TRY_RIGHT]);
    assert_true(count[0][TRY_RIGHT] > n / 2);
    assert_true(count[2][TRY_RIGHT] > n / 2);
    assert_true(count[1][TRY_RIGHT] > 0);
    assert_true(expects_refusals ? count[1][TRY_REFUSED] > 0 : count[1][TRY_REFUSED] == 0);
    machine_free(m);
    launch_file_free(&launch);
}

/* Preempted at any cycle by each technique, memory ends as undisturbed: saxpy. */
static void test_saxpy(void **state) {
    (void)state;
    preempt_anywhere("saxpy", 1);
}
/* Likewise pathfinder, whose blocks meet at barriers. */
static void test_pathfinder(void **state) {
    (void)state;
    preempt_anywhere("pathfinder", 0);
}
/* Likewise hotspot, which overwrites what it reads. */
static void test_hotspot(void **state) {
    (void)state;
    preempt_anywhere("hotspot", 0);
}
/* Likewise a layer of backprop. */
static void test_backprop(void **state) {
    (void)state;
    preempt_anywhere("backprop_layer_forward", 1);
}
/* Likewise bfs, whose warps part. */
static void test_bfs(void **state) {
    (void)state;
    preempt_anywhere("bfs_1", 1);
}
/* Likewise under page checks, where the pages of two arrays are absent. */
static void test_array_walk(void **state) {
    (void)state;
    absent = "a,b";
    preempt_anywhere("array_walk", 0);
    absent = NULL;
}
/* Likewise under page checks that follow pointers. */
static void test_pointer_chase(void **state) {
    (void)state;
    absent = "nodes,heads,sums";
    preempt_anywhere("pointer_chase", 0);
    absent = NULL;
}
/* Likewise a kernel with all kinds of state. */
static void test_everything(void **state) {
    (void)state;
    preempt_anywhere("everything", 0);
}

/* cp.async in flight, ldmatrix, mma. The pointer that is copied from is a parameter's, so that no store overwrites what
 * was read: blocks may be flushed at any time. */
static void test_copies(void **state) {
    (void)state;
    preempt_anywhere("copies", 0);
}
/* Likewise inside functions that are called through pointers. */
static void test_calls_through_pointers(void **state) {
    (void)state;
    preempt_anywhere("pointers", 1);
}
/* Likewise with barrier objects in shared memory. */
static void test_barrier_objects(void **state) {
    (void)state;
    preempt_anywhere("barrier_objects", 0);
}
/* Likewise a kernel that prints: each line appears once. */
static void test_printing(void **state) { /* a block that has printed is not flushed */
    (void)state;
    preempt_anywhere("printing", 1);
}

/* Leaving out any one section of the context must be noticed: otherwise the tests above prove nothing about it. */
static void test_every_section_is_needed(void **state) {
    static const struct {
        uint32_t section;
        const char *name;
    } sections[] = {{GPUMP_CONTEXT_BLOCK, "block"},           {GPUMP_CONTEXT_REGISTERS, "registers"},
                    {GPUMP_CONTEXT_PREDICATES, "predicates"}, {GPUMP_CONTEXT_SHARED, "shared memory"},
                    {GPUMP_CONTEXT_STACK, "SIMT stacks"},     {GPUMP_CONTEXT_BARRIERS, "barriers"},
                    {GPUMP_CONTEXT_LOCAL, "local memory"}};
    enum { SECTIONS = sizeof sections / sizeof *sections };
    uint64_t red[SECTIONS], end, expected, cycle, step, n = 0;
    launch_file launch;
    machine *m = build(&launch, "everything");
    uint32_t i;
    (void)state;
    memset(red, 0, sizeof red);
    expected = undisturbed(m, &launch, "everything", &end);
    step = end / 150 + 1; /* warps are divided for a few hundred cycles only */
    for (cycle = step; cycle < end; cycle += step, n++) {
        if (machine_run(m, cycle) != 0) break;
        for (i = 0; i < SECTIONS; i++)
            red[i] += try_here(m, &launch, n, GPUMP_TECHNIQUE_SWITCH, sections[i].section, expected) >= TRY_WRONG;
    }
    for (i = 0; i < SECTIONS; i++) {
        printf("without %s: %llu of %llu preemptions are noticed\n", sections[i].name, (unsigned long long)red[i],
               (unsigned long long)n);
        if (!red[i]) fail_msg("leaving out %s changes nothing", sections[i].name);
    }
    machine_free(m);
    launch_file_free(&launch);
}

/* Where a block runs is overwritten when it leaves: nothing of it may be found there. */
static void test_vacated_storage_is_overwritten(void **state) {
    launch_file launch;
    machine *m = build(&launch, "hotspot");
    sm *s;
    uint32_t base, i;
    const block *b;
    (void)state;
    machine_run(m, 1000);
    s = pick_sm(m, 0);
    assert_non_null(s);
    b = &m->blocks[s->block_of_entry[0]];
    base = b->register_base;
    assert_int_equal(preemption_request(m, s, GPUMP_TECHNIQUE_FLUSH, 0, 1), GPUMP_REASON_YES);
    assert_int_equal(s->resident, 0);
    for (i = 0; i < m->kernels[0].need.registers; i++) assert_int_equal(s->registers[base + i], 0xdeadbeefu ^ i);
    for (i = 0; i < m->kernels[0].need.shared_bytes; i++) assert_int_equal(s->shared[i], 0xdb);
    machine_free(m);
    launch_file_free(&launch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saxpy),
        cmocka_unit_test(test_pathfinder),
        cmocka_unit_test(test_hotspot),
        cmocka_unit_test(test_backprop),
        cmocka_unit_test(test_bfs),
        cmocka_unit_test(test_array_walk),
        cmocka_unit_test(test_pointer_chase),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_calls_through_pointers),
        cmocka_unit_test(test_barrier_objects),
        cmocka_unit_test(test_printing),
        cmocka_unit_test(test_every_section_is_needed),
        cmocka_unit_test(test_vacated_storage_is_overwritten),
    };
    const struct CMUnitTest queued[] = {cmocka_unit_test(test_pathfinder), cmocka_unit_test(test_bfs),
                                        cmocka_unit_test(test_pointer_chase), cmocka_unit_test(test_everything)};
    const struct CMUnitTest out_of_order[] = {cmocka_unit_test(test_bfs), cmocka_unit_test(test_everything),
                                              cmocka_unit_test(test_copies)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    model = "memory_model=1";
    failed += cmocka_run_group_tests_name("memory model 1", queued, NULL, NULL);
    model = "issue_queue_entries=40,memory_queue_entries=30";
    return failed + cmocka_run_group_tests_name("out of order", out_of_order, NULL, NULL);
}
#endif
