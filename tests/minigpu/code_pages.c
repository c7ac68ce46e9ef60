/* labels: equivalence slow link: minigpu_core */
/* Faults of instruction fetch (--absent code; Kim 2.7): whatever serves them, memory holds what the run without them
 * leaves. A warp that has faulted has nothing in the pipeline; no warp executes an instruction of an absent page; and
 * the first warp that wanted each page is known by its PTX line. GPUMP_TEST_CASES scales the number of runs. */
#include "test.h"

#include "analysis/analysis.h"
#include "parts/fault_switch/fault_switch.h"
#include "parts/code_pages/code_pages.h"
#include "parts/fault_unit/fault_unit.h"
#include "preemption/context_forms.h"
#include "tools/check.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

typedef struct trial {
    machine_options options;
    launch_file launch;
    machine *m;
    kernel_check checks[8];
} trial;

static void trial_init(trial *t, const char *absent, const char *scheme, const char *link) {
    memset(t, 0, sizeof *t);
    machine_options_default(&t->options);
    t->options.gpu = "table61";
    t->options.absent = t->options.faults.absent = absent;
    t->options.faults.scheme = scheme;
    t->options.faults.link = link;
    if (scheme && !strcmp(scheme, "regions")) t->options.regions = REGIONS_SPARSE;
}

static void build(trial *t, const char *path, uint32_t sms) {
    char error[LAUNCH_ERROR_BYTES];
    if (launch_file_read(&t->launch, path, error)) fail_msg("%s", error);
    if (sms) t->launch.sms = sms;
    assert_true(t->launch.kernel_count <= 8);
    if (!(t->m = machine_build(&t->launch, &t->options, error))) fail_msg("%s", error);
}

static int is_absent(const machine *m, const kernel *k, uint32_t pc) {
    return m->page_table[k->code_page + (uint64_t)pc * m->config.instruction_bytes / PAGE_BYTES] & PAGE_ABSENT_READ;
}

/* Pages never leave, so what is in flight, or was, lies in pages that are there. */
static void check_pipeline(const machine *m) {
    uint32_t i, n;
    for (i = 0; i < m->sm_count; i++)
        for (n = 0; n < m->config.in_flight_records; n++) {
            const in_flight *r = &m->sms[i]->records[n];
            if (r->stage == RECORD_FREE || !m->blocks[r->block].life) continue;
            if (is_absent(m, &m->kernels[m->blocks[r->block].kernel], r->pc))
                fail_msg("an absent instruction executes");
        }
    for (i = 0; i < m->warp_count && fault_unit_of(m); i++)
        if (m->warps[i].sm != NONE && fault_wait_of(m, &m->warps[i])->calls) assert_int_equal(m->warps[i].in_flight, 0);
}

static void run_right(trial *t, const char *name) {
    gpump_fault_statistics f;
    int ended;
    while ((ended = machine_run(t->m, t->m->now + 997)) == 0) check_pipeline(t->m);
    if (ended < 0) fail_msg("%s: %s", name, t->m->error);
    if (check_results(t->m, &t->launch, t->checks)) fail_msg("%s: %s", name, t->checks[0].text);
    if (!fault_unit_of(t->m)) return;
    gpump_get_statistics(&gpump_fault_component, fault_unit_of(t->m)->fault, &f);
    assert_true(f.reported == f.opened + f.merged + f.retried + f.invalid && f.waits == f.woken + f.cancelled);
    assert_int_equal(gpump_check(&gpump_fault_component, fault_unit_of(t->m)->fault, NULL), GPUMP_OK);
}

static void close_trial(trial *t) {
    machine_free(t->m);
    launch_file_free(&t->launch);
}

/* Every page of a kernel that its warps came to was wanted once while it was absent, and by the first block or so. */
static uint32_t check_pages(const trial *t, const char *name) {
    uint32_t i, wanted = 0;
    for (i = 0; i < t->m->code.count; i++) {
        const code_page p = code_pages_note(t->m, i);
        const kernel *k = &t->m->kernels[p.kernel];
        if (!p.faults) continue;
        wanted++;
        if (i + 1 == t->m->code.count) continue; /* the handler's: where it was called */
        assert_int_equal(t->m->code.first + i,
                         k->code_page + (uint64_t)p.pc * t->m->config.instruction_bytes / PAGE_BYTES);
        assert_true(k->program->instructions[p.pc].line > 0);
    }
    if (!code_pages_note(t->m, 0).faults) fail_msg("%s: the first page was not wanted", name);
    assert_int_equal(code_pages_note(t->m, 0).pc, 0);
    return wanted;
}

/* ---- results ---- */

static const char *const configs[] = {"instruction_bytes=128", "instruction_bytes=512,issue_queue_entries=96",
                                      "instruction_bytes=256,issue_queue_entries=24,l1_tlb_entries=8",
                                      "instruction_bytes=4096,issue_queue_entries=0"};
static const char *const schemes[] = {NULL, "log16", "wd_check", "queue", "stall", "regions", "wd_commit", NULL};
static const char *const lists[] = {"code", "code,all", "all,code"};

/* Every kernel, its code absent at first, under every scheme and link: right as with all pages. */
static void kernels_without_their_code_pages_end_right(void **state) {
    const reference_entry *entry;
    uint32_t turn = 0, pages = 0;
    uint64_t i;
    (void)state;
    for (entry = reference_entries; entry->name; entry++)
        for (i = 0; i < test_cases(2); i++, turn++) {
            char path[1024];
            trial t;
            const char *scheme = schemes[turn % 8], *list = scheme ? lists[turn % 3] : "code";
            trial_init(&t, list, scheme, scheme && turn % 5 ? fault_unit_link_name(turn % 6) : NULL);
            t.options.config = configs[turn % 4];
            t.options.faults.lazy = scheme && turn % 7 == 3;
            if (!scheme && turn % 2) { /* the handler of page checks has a page, too */
                t.options.page_checks = turn % 4 == 1 ? PAGE_CHECKS_KIM : PAGE_CHECKS_EVERY;
                t.options.absent = t.options.faults.absent = "all,code";
                t.options.faults.link = turn % 16 > 7 ? "nvlink" : NULL;
            }
            if (t.options.faults.link && (!scheme || strcmp(scheme, "stall"))) t.options.faults.extra = turn % 3;
            snprintf(path, sizeof path, KERNELS "%s/small.yaml", entry->name);
            build(&t, path, 1 + turn % 2);
            run_right(&t, entry->name);
            pages += check_pages(&t, entry->name);
            if (t.options.page_checks) assert_true(code_pages_note(t.m, t.m->code.count - 1).faults > 0);
            close_trial(&t);
        }
    print_message("%u pages of code were fetched from while they were absent\n", pages);
}

/* Skipping idle cycles changes nothing. */
static void test_every_cycle(void **state) {
    uint32_t i, skip;
    (void)state;
    for (i = 0; i < 4; i++) {
        uint64_t hash[2];
        for (skip = 0; skip < 2; skip++) {
            trial t;
            trial_init(&t, "all,code", "log16", i % 2 ? "nvlink_pipelined" : NULL);
            t.options.skip_idle = skip;
            t.options.fault_service_ns = i % 2 ? 0 : 800;
            t.options.config = i / 2 ? configs[2] : configs[0];
            build(&t, KERNELS "bfs_1/small.yaml", 1);
            run_right(&t, "bfs_1");
            hash[skip] = machine_hash(t.m);
            close_trial(&t);
        }
        assert_true(hash[0] == hash[1]);
    }
}

/* A kernel of two pages: each is wanted once, the second when the first has been executed. */
static void test_in_order(void **state) {
    trial t;
    (void)state;
    trial_init(&t, "code", NULL, NULL);
    t.options.config = "instruction_bytes=512";
    build(&t, KERNELS "saxpy/small.yaml", 1);
    assert_int_equal(t.m->kernels[0].code_pages, 2);
    run_right(&t, "saxpy");
    assert_int_equal(code_pages_note(t.m, 0).pc, 0);
    assert_int_equal(code_pages_note(t.m, 1).pc / (PAGE_BYTES / 512), 1);
    assert_true(code_pages_note(t.m, 1).cycle >= code_pages_note(t.m, 0).cycle + t.m->config.page_service_cycles);
    assert_int_equal(code_pages_note(t.m, 2).faults, 0); /* nobody calls the handler */
    assert_int_equal(t.m->page_faults.served, 2);
    close_trial(&t);
}

/* ---- leaving ---- */

/* All SMs are emptied while warps wait for a page of code: a switch does not wait for it. */
static void test_preempted(void **state) {
    static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_DRAIN, GPUMP_TECHNIQUE_FLUSH};
    static const char *const names[] = {"bfs_1", "hotspot", "spmv"};
    uint32_t i, at_once = 0;
    (void)state;
    for (i = 0; i < 18; i++) {
        trial t;
        char path[1024];
        const uint64_t from = i / 9 ? 25000 : 400; /* while the first page is on its way, or a later one */
        trial_init(&t, "code", i / 3 % 2 ? "log16" : "queue", "pcie3");
        t.options.config = configs[i % 2];
        t.options.technique = techniques[i % 3];
        t.options.context_form = i % CONTEXT_FORMS;
        t.options.preempt_cycle = from;
        snprintf(path, sizeof path, KERNELS "%s/small.yaml", names[i / 3 % 3]);
        build(&t, path, 2);
        run_right(&t, names[i / 3 % 3]);
        if (i / 9 == 0 && i % 3 == 0) {
            assert_true(t.m->preemption_count > 0);
            at_once += t.m->preemptions[0].end_cycle < 20000;
        }
        close_trial(&t);
    }
    assert_int_equal(at_once, 3);
}

/* A process that is aborted leaves no page of code behind; the others get theirs. */
static void test_aborted(void **state) {
    static const char *const links[] = {"nvlink", "uvm595"};
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        trial t;
        const kernel *k;
        trial_init(&t, "code", "log16", links[i]);
        t.options.faults.extra = 2;
        build(&t, GPUMP_SOURCE_DIR "/examples/minigpu/launches/faults_served.yaml", 0);
        if (machine_run(t.m, NEVER) != 1) fail_msg("%s", t.m->error);
        assert_int_equal(check_results(t.m, &t.launch, t.checks), 1);
        assert_int_equal(t.checks[0].result, CHECK_RIGHT);
        assert_int_equal(t.checks[1].result, CHECK_ABORTED);
        assert_int_equal(t.checks[2].result, CHECK_RIGHT);
        k = &t.m->kernels[1];
        assert_int_equal(t.m->page_table[k->code_page], 0);
        assert_true(code_pages_note(t.m, (uint32_t)(k->code_page - t.m->code.first)).faults > 0);
        close_trial(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_without_their_code_pages_end_right),
                                       cmocka_unit_test(test_every_cycle), cmocka_unit_test(test_in_order),
                                       cmocka_unit_test(test_preempted), cmocka_unit_test(test_aborted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
