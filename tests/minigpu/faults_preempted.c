/* labels: equivalence slow link: minigpu_core */
/* A block may be preempted at any cycle while accesses of it fault, are held and are replayed, and while its context
 * travels in either direction: it comes back on another SM, its replay queue and operand log with it, and the result is
 * that of the undisturbed run. All pages are absent at first. A context without its section REPLAY, or LOG, must be
 * noticed. GPUMP_TEST_CASES scales the number of cycles. */
#define CONTEXT_FORMS_TEST
#include "minigpu/preempt_anywhere.c"

static const char *const configs[] = {"memory_model=0",
                                      "issue_queue_entries=40,l1_tlb_entries=8,memory_queue_entries=20"};
static uint64_t noticed[2];

/* Preempts at cycles spread over the run; with `omit`, counts wrong results instead of failing. */
static void preempt(const char *name, uint32_t omit, uint64_t cases) {
    launch_file launch;
    machine *m = build(&launch, name);
    uint64_t end, expected = undisturbed(m, &launch, name, &end), step = end / cases + 1, cycle, n = 0, right = 0;
    for (cycle = 1; cycle < end; cycle += step, n++) {
        const uint32_t technique = omit ? (uint32_t)GPUMP_TECHNIQUE_SWITCH : techniques[n % 4 == 3 ? 1 + n / 4 % 2 : 0];
        int answer;
        if (machine_run(m, cycle) != 0) break;
        answer = try_here(m, &launch, n, technique, omit, expected);
        if (omit) {
            noticed[omit == GPUMP_CONTEXT_LOG] += answer >= TRY_WRONG;
        } else if (answer >= TRY_WRONG) {
            fail_msg("%s, %s%s, %s, cycle %llu of %llu, technique %u: %s", name, scheme, lazy ? ", lazy" : "", model,
                     (unsigned long long)cycle, (unsigned long long)end, technique, answers[answer]);
        }
        right += answer == TRY_RIGHT;
    }
    if (!omit && !right) fail_msg("%s, %s: nothing was preempted", name, scheme);
    machine_free(m);
    launch_file_free(&launch);
}

/* SMs emptied at any cycle while warps wait for pages: right, under every scheme and link. */
static void blocks_that_wait_for_pages_are_preempted(void **state) {
    static const char *const schemes[] = {"stall", "wd_commit", "wd_check", "queue", "log8", "log16"};
    static const char *const names[] = {"hotspot", "bfs_1", "everything", "array_walk"};
    uint32_t i;
    (void)state;
    absent = "all";
    for (i = 0; i < 24; i++) {
        scheme = schemes[i % 6];
        model = configs[(i + i / 6) % 2];
        lazy = i / 6 % 2;
        served_over = i % 4 == 1 ? "nvlink" : i % 4 == 3 ? "pcie3_pipelined" : NULL;
        preempt(names[(i + i / 6) % 4], 0, test_cases(24));
    }
}

/* SMs are emptied again and again, also while contexts are on their way there or back. */
static void again_and_again(const char *name, uint64_t seed) {
    launch_file launch;
    machine *m = build(&launch, name);
    uint64_t end, expected = undisturbed(m, &launch, name, &end), requests = 0;
    int ended = 0;
    m->kernels[INTRUDER].arrival_cycle = 0;
    while (!ended) {
        seed = gpump_hash_u64(seed, requests);
        if ((ended = machine_run(m, m->now + 50 + seed % 900)) < 0)
            fail_msg("%s, %s, %s: %s", name, scheme, model, m->error);
        if (!ended && ++requests < 60)
            (void)preemption_request(m, m->sms[seed / 1000 % m->sm_count], techniques[seed / 7 % 4 % 3], 0, 1);
    }
    if (machine_result_hash(m, &launch) != expected) fail_msg("%s, %s, %s: another result", name, scheme, model);
    machine_free(m);
    launch_file_free(&launch);
}

/* SMs emptied many times in one run with absent pages: right. */
static void preempted_again_and_again_while_pages_come(void **state) {
    static const char *const schemes[] = {"queue", "log8", "log16", "wd_check", "stall"};
    static const char *const names[] = {"hotspot", "bfs_1", "everything", "array_walk"};
    uint64_t i;
    (void)state;
    absent = "all";
    for (i = 0; i < test_cases(40); i++) {
        scheme = schemes[i % 5];
        model = configs[i / 5 % 2];
        lazy = i / 10 % 2;
        served_over = i % 2 ? "nvlink" : NULL;
        again_and_again(names[i % 4], test_seed() * 1000 + i);
    }
}

/* Without the REPLAY or LOG section of a context, results are wrong: the tests above can fail. */
static void replay_and_log_sections_are_needed(void **state) {
    (void)state;
    absent = "all";
    lazy = 0;
    model = configs[1];
    scheme = "log16";
    preempt("bfs_1", GPUMP_CONTEXT_REPLAY, test_cases(60));
    preempt("bfs_1", GPUMP_CONTEXT_LOG, test_cases(60));
    printf("without REPLAY: %llu noticed; without LOG: %llu noticed\n", (unsigned long long)noticed[0],
           (unsigned long long)noticed[1]);
    assert_true(noticed[0] > 0);
    assert_true(noticed[1] > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_that_wait_for_pages_are_preempted),
                                       cmocka_unit_test(preempted_again_and_again_while_pages_come),
                                       cmocka_unit_test(replay_and_log_sections_are_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
