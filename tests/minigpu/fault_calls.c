/* labels: equivalence slow link: minigpu_core */
/* Kim's handler is a client of the fault unit (--page-checks with --link): whatever the form of the checks and the
 * link, memory holds what the run without absent pages leaves, and every report, fault and wait is accounted for.
 * Blocks whose warps wait in the handler leave their SM at once, for others or for good. GPUMP_TEST_CASES scales the
 * number of runs per launch. */
#include "test.h"

#include "analysis/analysis.h"
#include "parts/fault_switch/fault_switch.h"
#include "parts/fault_unit/fault_unit.h"
#include "parts/preempt_at/preempt_at.h"
#include "preemption/context_forms.h"
#include "tools/check.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

/* A run; what it was. */
typedef struct trial {
    machine_options options;
    launch_file launch;
    machine *m;
    kernel_check checks[8];
    char name[160];
} trial;

static void trial_init(trial *t, uint32_t form, const char *link) {
    memset(t, 0, sizeof *t);
    machine_options_default(&t->options);
    t->options.gpu = "table61";
    t->options.page_checks = form;
    t->options.faults.link = link;
    t->options.absent = t->options.faults.absent = link ? "all" : NULL;
}

static void build(trial *t, const char *path, uint32_t sms) {
    char error[LAUNCH_ERROR_BYTES];
    if (launch_file_read(&t->launch, path, error)) fail_msg("%s", error);
    if (sms) t->launch.sms = sms;
    assert_true(t->launch.kernel_count <= 8);
    if (!(t->m = machine_build(&t->launch, &t->options, error))) fail_msg("%s", error);
    snprintf(t->name, sizeof t->name, "%s, %s, %s, %s", strrchr(path, '/') - 12,
             page_check_form_name(t->options.page_checks),
             t->options.faults.scheme ? t->options.faults.scheme : "no scheme",
             t->options.faults.link ? t->options.faults.link : "no link");
}

static gpump_fault_statistics statistics_of(const trial *t) {
    gpump_fault_statistics f;
    gpump_get_statistics(&gpump_fault_component, fault_unit_of(t->m)->fault, &f);
    return f;
}

/* Every report is of one kind, every fault is served by somebody, and every wait has ended. */
static void check_counts(const trial *t) {
    const gpump_fault_statistics f = statistics_of(t);
    if (f.reported != f.opened + f.merged + f.retried + f.invalid) fail_msg("%s: a report is not counted", t->name);
    if (f.opened + f.prefetched != f.migrated + f.allocated + f.local + f.remote)
        fail_msg("%s: a fault has no server", t->name);
    if (f.waits != f.woken + f.cancelled) fail_msg("%s: a wait has not ended", t->name);
    assert_int_equal(gpump_check(&gpump_fault_component, fault_unit_of(t->m)->fault, NULL), GPUMP_OK);
}

static void run_right(trial *t) {
    if (machine_run(t->m, NEVER) != 1) fail_msg("%s: %s", t->name, t->m->error);
    if (check_results(t->m, &t->launch, t->checks)) fail_msg("%s: %s", t->name, t->checks[0].text);
    if (fault_unit_of(t->m)) check_counts(t);
}

static void close_trial(trial *t) {
    machine_free(t->m);
    launch_file_free(&t->launch);
}

/* Blocks that have left on a fault; nobody is off the chip any more. */
static uint64_t switched(const machine *m) {
    uint64_t outs = 0;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        gpump_block_switch_statistics b;
        gpump_get_statistics(&gpump_block_switch_component, fault_switch_of(m->sms[i])->unit, &b);
        outs += b.outs + b.fair_outs;
        assert_int_equal(fault_switch_of(m->sms[i])->off_chip, 0);
        assert_int_equal(gpump_check(&gpump_block_switch_component, fault_switch_of(m->sms[i])->unit, NULL), GPUMP_OK);
    }
    return outs;
}

/* ---- results ---- */

static const uint32_t forms[] = {PAGE_CHECKS_EVERY, PAGE_CHECKS_KIM, PAGE_CHECKS_ARRAY, PAGE_CHECKS_POINTER};
static const char *const configs[] = {"issue_queue_entries=0", "issue_queue_entries=96",
                                      "issue_queue_entries=24,l1_tlb_entries=8,l1_tlb_misses=2,memory_queue_entries=9"};
static const char *const schemes[] = {NULL, "log16", "wd_check", "stall", "queue"};

/* Every kernel under page checks, every form and link: right as with all pages. */
static void kernels_whose_checks_call_the_unit_end_right(void **state) {
    const reference_entry *entry;
    uint64_t i, pure = 0;
    uint32_t turn = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        if (test_leaves_out((uint64_t)(entry - reference_entries))) continue;
        for (i = 0; i < test_cases(2); i++, turn++) {
            trial t;
            char path[1024];
            trial_init(&t, forms[turn % 4], fault_unit_link_name(turn / 4 % 6));
            t.options.config = configs[turn % 3];
            t.options.faults.scheme = turn % 2 ? schemes[turn / 2 % 5] : NULL;
            if (!t.options.faults.scheme || strcmp(t.options.faults.scheme, "stall"))
                t.options.faults.extra = 1 + turn % 4;
            t.options.faults.local = strcmp(t.options.faults.link, "uvm595") != 0;
            snprintf(path, sizeof path, KERNELS "%s/small.yaml", entry->name);
            build(&t, path, 1 + turn % 2);
            run_right(&t);
            if (!statistics_of(&t).opened || !t.m->page_faults.calls) fail_msg("%s: nothing has faulted", t.name);
            if (fault_switch_of(t.m->sms[0]))
                (void)switched(t.m); /* few of these launches have blocks that wait for room */
            if (!t.options.faults.scheme) pure += t.m->page_faults.calls;
            close_trial(&t);
        }
    }
    print_message("%llu calls without a scheme\n", (unsigned long long)pure);
    assert_true(pure > 0);
}

/* The unit's times are those of the link: the same run takes longer over PCIe, and shorter when service overlaps. */
static void test_links_differ(void **state) {
    static const char *const names[] = {"nvlink_pipelined", "nvlink", "pcie3"};
    uint64_t cycles[3];
    uint32_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        trial t;
        trial_init(&t, PAGE_CHECKS_KIM, names[i]);
        build(&t, KERNELS "array_walk/launch.yaml", 0);
        run_right(&t);
        cycles[i] = t.m->now;
        close_trial(&t);
    }
    print_message("array_walk: %llu, %llu, %llu cycles\n", (unsigned long long)cycles[0], (unsigned long long)cycles[1],
                  (unsigned long long)cycles[2]);
    assert_true(cycles[0] < cycles[1] && cycles[1] < cycles[2]);
}

/* Skipping idle cycles changes nothing. */
static void test_every_cycle(void **state) {
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        uint64_t hash[2];
        uint32_t skip;
        for (skip = 0; skip < 2; skip++) {
            trial t;
            trial_init(&t, PAGE_CHECKS_KIM, "nvlink_pipelined");
            t.options.skip_idle = skip;
            t.options.faults.extra = 2;
            build(&t, i ? KERNELS "bfs_1/small.yaml" : KERNELS "pointer_chase/small.yaml", 1);
            run_right(&t);
            hash[skip] = machine_hash(t.m);
            close_trial(&t);
        }
        assert_true(hash[0] == hash[1]);
    }
}

/* ---- leaving, and the others ---- */

/* All SMs are emptied while a warp waits in the handler: it does not wait for the page, and the result is right. */
static void test_preempted_in_the_handler(void **state) {
    static const char *const names[] = {"pointer_chase", "bfs_1", "saxpy", "hotspot"};
    static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_DRAIN, GPUMP_TECHNIQUE_FLUSH};
    uint32_t i, at_once = 0;
    (void)state;
    for (i = 0; i < sizeof names / sizeof *names * 3; i++) {
        trial t;
        char path[1024];
        const warp *w = NULL;
        uint64_t ready;
        uint32_t n;
        trial_init(&t, i % 2 ? PAGE_CHECKS_EVERY : PAGE_CHECKS_KIM, "pcie3");
        t.options.technique = techniques[i % 3];
        t.options.context_form = i % CONTEXT_FORMS;
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", names[i / 3]);
        build(&t, path, 1);
        while (!w && machine_run(t.m, t.m->now + 50) == 0)
            for (n = 0; n < t.m->warp_count && !w; n++)
                if (t.m->warps[n].sm != NONE && fault_wait_of(t.m, &t.m->warps[n])->calls) w = &t.m->warps[n];
        if (!w) fail_msg("%s: no warp waits in the handler", t.name);
        ready = gpump_fault_ready_cycle(fault_unit_of(t.m)->fault, block_cookie(&t.m->blocks[w->block]));
        preempt_at(t.m, t.m->now);
        assert_true(ready > t.m->now + 5000);
        run_right(&t);
        if (techniques[i % 3] == GPUMP_TECHNIQUE_SWITCH && t.m->preemption_count)
            at_once += t.m->preemptions[0].end_cycle < ready;
        close_trial(&t);
    }
    assert_int_equal(at_once, sizeof names / sizeof *names);
}

/* A check of an address in no buffer aborts its process alone; meanwhile blocks give their places to others. */
static void test_invalid_access(void **state) {
    uint32_t i;
    (void)state;
    for (i = 0; i < 8; i++) {
        trial t;
        const fault_abort *a;
        trial_init(&t, forms[i % 4], fault_unit_link_name(i % 4));
        t.options.faults.scheme = i / 4 ? "log16" : NULL;
        t.options.faults.extra = i % 2 ? 4 : 0;
        t.options.absent = t.options.faults.absent = NULL;
        build(&t, GPUMP_SOURCE_DIR "/examples/minigpu/launches/faults_served.yaml", 0);
        if (machine_run(t.m, NEVER) != 1) fail_msg("%s: %s", t.name, t.m->error);
        assert_int_equal(check_results(t.m, &t.launch, t.checks), 1);
        assert_int_equal(t.checks[0].result, CHECK_RIGHT);
        assert_int_equal(t.checks[1].result, CHECK_ABORTED);
        assert_int_equal(t.checks[2].result, CHECK_RIGHT);
        a = &fault_unit_of(t.m)->aborts[1];
        assert_true(a->killed > 0 && a->address >= t.launch.buffers[2].address + 49 * PAGE_BYTES);
        assert_int_equal((a->address - t.launch.buffers[2].address) / 4,
                         a->linear * 256 + a->warp * 32 + gpump_bits_lowest64(a->lanes));
        assert_int_equal(a->instruction->opcode, OPCODE_CHECK);
        assert_int_equal(a->instruction->line, 37); /* of the load that it is for */
        check_counts(&t);
        if (fault_switch_of(t.m->sms[0]) && !switched(t.m)) fail_msg("%s: no block has left its SM", t.name);
        close_trial(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_whose_checks_call_the_unit_end_right),
                                       cmocka_unit_test(test_links_differ), cmocka_unit_test(test_every_cycle),
                                       cmocka_unit_test(test_preempted_in_the_handler),
                                       cmocka_unit_test(test_invalid_access)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
