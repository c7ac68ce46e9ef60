/* labels: equivalence unit full link: minigpu_core */
/* Page checks as instructions of the mini-GPU: every kernel runs with all its pages absent, in every form, and comes to
 * its result bit for bit; without checks, and in the forms that Kim 2012 prints, the same run fails. Preempted
 * anywhere, restarted, and with few registers it still does. */
#include "parts/page_checks/page_faults.h"
#include "test.h"
#include "analysis/analysis.h"
#include "tools/check.h"
#include "preemption/context_forms.h"
#include "machine/machine.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

/* A run of small.yaml. */
typedef struct trial {
    machine_options options;
    launch_file launch;
    machine *m;
    kernel_check check;
    uint32_t registers;      /* per thread; 0: as many as it needs */
    uint32_t service_cycles; /* of a page; 0: the machine's */
} trial;

static trial trial_of(uint32_t form, const char *absent) {
    trial t;
    memset(&t, 0, sizeof t);
    machine_options_default(&t.options);
    t.options.page_checks = form;
    t.options.absent = absent;
    return t;
}

static void build(trial *t, const char *name) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    launch_kernel *k;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(&t->launch, path, error)) fail_msg("%s", error);
    k = &t->launch.kernels[0];
    if (t->registers) k->override_registers = (k->block[0] * k->block[1] * k->block[2] + 31) / 32 * 32 * t->registers;
    if (!(t->m = machine_build(&t->launch, &t->options, error))) fail_msg("%s", error);
    if (t->service_cycles) page_checks_of(t->m)->buffer.length = t->service_cycles;
}

/* Returns 1 when it ends and its result is right. */
static int run(trial *t) { return machine_run(t->m, NEVER) == 1 && !check_results(t->m, &t->launch, &t->check); }

static void close_trial(trial *t) {
    machine_free(t->m);
    launch_file_free(&t->launch);
}

static const char *why(const trial *t) { return t->m->failed ? t->m->error : t->check.text; }

/* Each kernel ends right with all pages absent at first, under each form of page checks. */
static void every_kernel_without_pages(void **state) {
    static const uint32_t forms[] = {PAGE_CHECKS_EVERY, PAGE_CHECKS_ARRAY, PAGE_CHECKS_POINTER, PAGE_CHECKS_KIM};
    const reference_entry *entry;
    uint64_t served = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        uint32_t i, few;
        for (i = 0; i < 8; i++) {
            trial t = trial_of(forms[i % 4], "all");
            few = i / 4;
            t.registers = few ? 16 : 0;
            build(&t, entry->name);
            if (!run(&t))
                fail_msg("%s, %s, %u registers: %s", entry->name, page_check_form_name(forms[i % 4]), t.registers,
                         why(&t));
            assert_true(t.m->page_faults.served >= 1 && t.m->page_faults.served <= 2 * t.m->page_faults.absent);
            served += t.m->page_faults.served;
            close_trial(&t);
        }
    }
    print_message("%llu faults served\n", (unsigned long long)served);
}

/* Regions formed over page checks: what checks write keeps its name across boundaries. */
static void with_regions(void **state) {
    static const char *const names[] = {"pointer_chase", "spmv", "histogram", "kmeans_point", "bfs_1", "array_walk"};
    static const uint32_t forms[] = {PAGE_CHECKS_EVERY, PAGE_CHECKS_KIM}, regions[] = {REGIONS_SPARSE, 2, 16};
    uint32_t i, k;
    (void)state;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        for (k = 0; k < 6; k++) {
            trial t = trial_of(forms[k % 2], "all");
            t.options.regions = regions[k / 2];
            build(&t, names[i]);
            if (!run(&t))
                fail_msg("%s, %s, regions %u: %s", names[i], page_check_form_name(forms[k % 2]), regions[k / 2],
                         why(&t));
            close_trial(&t);
        }
    }
}

/* A load or store without a check to a page that is absent ends the run with a message that says which. */
static void unchecked_accesses_are_caught(void **state) {
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        trial t = trial_of(PAGE_CHECKS_NONE, "all");
        build(&t, entry->name);
        assert_false(run(&t));
        if (!strstr(t.m->error, "whose page is absent, without a check") || !strstr(t.m->error, entry->name) ||
            !strstr(t.m->error, ".ptx:") || !strstr(t.m->error, "address 0x1"))
            fail_msg("%s: %s", entry->name, t.m->error);
        close_trial(&t);
    }
}

/* Arrays in local memory whose pages are absent: checked like any other, and with few registers, where what is spilled
 * stays; unchecked they end the run. lib is the kernel that has such arrays. */
static void local_arrays(void **state) {
    static const uint32_t forms[] = {PAGE_CHECKS_EVERY, PAGE_CHECKS_ARRAY, PAGE_CHECKS_POINTER, PAGE_CHECKS_KIM};
    uint64_t served[2];
    uint32_t i, few, with;
    (void)state;
    for (i = 0; i < 16; i++) {
        few = i / 4 % 2;
        for (with = 0; with < 2; with++) {
            trial t = trial_of(forms[i % 4], with ? "all,local" : "all");
            t.registers = few ? 16 : 0;
            t.options.faults.absent = t.options.absent;
            t.options.faults.link = i / 8 ? "nvlink" : NULL;
            build(&t, "lib");
            if (!run(&t)) fail_msg("lib, %s: %s", page_check_form_name(forms[i % 4]), why(&t));
            assert_true(with == (t.m->kernels[0].counted[COUNTED_CHECK] > 0 && t.m->local_is_absent != 0));
            served[with] = t.m->page_faults.served;
            close_trial(&t);
        }
        assert_true(served[1] > served[0] || few);
    }
    for (i = 0; i < 2; i++) { /* the first check of local memory finds nothing */
        trial t = trial_of(PAGE_CHECKS_EVERY, "local");
        const kernel_program *program;
        uint32_t pc, dropped = 0;
        build(&t, "lib");
        program = t.m->kernels[0].program;
        for (pc = 0; i && pc < program->count && !dropped; pc++)
            if (program->instructions[pc].opcode == OPCODE_CHECK && program->instructions[pc].space == SPACE_LOCAL) {
                ((issue_info *)(uintptr_t)&t.m->kernels[0].info[pc])->is_checked = 0;
                dropped = 1;
            }
        assert_int_equal(run(&t), !i);
        if (i && !strstr(t.m->error, "whose page is absent, without a check")) fail_msg("%s", t.m->error);
        close_trial(&t);
    }
}

/* The parameters of a call lie at constant addresses of local memory: these accesses are checked too. */
static void constant_local_addresses(void **state) {
    static const uint32_t forms[] = {PAGE_CHECKS_EVERY, PAGE_CHECKS_ARRAY, PAGE_CHECKS_POINTER, PAGE_CHECKS_KIM};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        trial t = trial_of(forms[i], "local");
        build(&t, "symbols");
        if (!run(&t)) fail_msg("symbols, %s: %s", page_check_form_name(forms[i]), why(&t));
        assert_true(t.m->page_faults.served > 0);
        close_trial(&t);
    }
}

/* A page that is read, and then written, faults twice; one that is written once; those that are there not at all. */
static void only_absent_pages_fault(void **state) {
    static const struct {
        const char *kernel, *absent;
        uint32_t pages, served;
    } cases[] = {{"saxpy", "all", 2, 3},        {"array_walk", "all", 10, 10},    {"array_walk", "a", 5, 5},
                 {"array_walk", "b,a", 10, 10}, {"pointer_chase", "nodes", 3, 3}, {"pointer_chase", "sums", 1, 1},
                 {"pointer_chase", NULL, 0, 0}};
    char error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    trial t;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        t = trial_of(PAGE_CHECKS_KIM, cases[i].absent);
        build(&t, cases[i].kernel);
        if (!run(&t)) fail_msg("%s", why(&t));
        assert_int_equal(t.m->page_faults.absent, cases[i].pages);
        assert_int_equal(t.m->page_faults.served, cases[i].served);
        assert_true((t.m->page_faults.calls != 0) == (cases[i].served != 0));
        close_trial(&t);
    }
    t = trial_of(PAGE_CHECKS_KIM, "a,c");
    if (launch_file_read(&t.launch, KERNELS "array_walk/small.yaml", error)) fail_msg("%s", error);
    assert_null(machine_build(&t.launch, &t.options, error));
    assert_non_null(strstr(error, "no buffer is named \"c\""));
    launch_file_free(&t.launch);
}

/* Kim's point: fewer checks of an array, fewer calls in a loop that follows pointers; and less time, all pages being
 * there. */
static void checks_cost_less_than_one_per_access(void **state) {
    static const char *const names[] = {"array_walk", "pointer_chase"};
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        trial every = trial_of(PAGE_CHECKS_EVERY, NULL), kim = trial_of(PAGE_CHECKS_KIM, NULL);
        build(&every, names[i]);
        build(&kim, names[i]);
        if (!run(&every) || !run(&kim)) fail_msg("%s", names[i]);
        assert_true(kim.m->kernels[0].counted[COUNTED_CALL] * 2 < every.m->kernels[0].counted[COUNTED_CALL]);
        assert_true(i || kim.m->kernels[0].counted[COUNTED_CHECK] * 2 < every.m->kernels[0].counted[COUNTED_CHECK]);
        print_message("%s: %llu cycles with a check and a call for each access, %llu by Kim\n", names[i],
                      (unsigned long long)every.m->now, (unsigned long long)kim.m->now);
        assert_true(kim.m->now < every.m->now);
        close_trial(&every);
        close_trial(&kim);
    }
}

/* ---- the forms as printed ---- */

enum { KK_IS_ZERO, STORE_CHECKED_AS_LOAD, VALUE_UNCHECKED, SUM_ADDED_TWICE, PRINTED };

/* Changes a correct program into what the figures print. Returns how many instructions it has changed. */
static uint32_t as_printed(machine *m, uint32_t variant) {
    const kernel_program *program = m->kernels[0].program;
    uint32_t i, changed = 0, sum = NONE;
    for (i = 0; i < program->count; i++) {
        instruction *in = &program->instructions[i];
        if (in->opcode == OPCODE_ADD && in->type == TYPE_S32) sum = in->destinations[0].index;
        switch (variant) {
        case KK_IS_ZERO: /* page size % element size: no iteration checks */
            if (in->opcode == OPCODE_PAGE_ENTERED) in->sources[2].immediate = 0, changed++;
            if (in->opcode == OPCODE_MOV && in->type == TYPE_PRED && in->sources[0].immediate)
                in->sources[0].immediate = 0, changed++;
            break;
        case STORE_CHECKED_AS_LOAD: /* LD.pfchk for both */
            if (in->opcode == OPCODE_CHECK && in->variant == VARIANT_WRITE) in->variant = VARIANT_NONE, changed++;
            break;
        case VALUE_UNCHECKED: /* ADD R2 R2 MEM[R1 + offset1] */
            if (in->opcode != OPCODE_LD || in->check == INSTRUCTION_NONE || changed) break;
            in->check = INSTRUCTION_NONE;
            ((issue_info *)(uintptr_t)&m->kernels[0].info[i])->is_checked = 0;
            changed++;
            break;
        default: /* it does not matter to the sum whether the next load faults */
            if (in->opcode == OPCODE_MOV && in->guard_negated && in->sources[0].kind == OPERAND_REGISTER &&
                in->sources[0].index == sum) {
                in->guard = INSTRUCTION_NONE;
                ((issue_info *)(uintptr_t)&m->kernels[0].info[i])->guard = INSTRUCTION_NONE;
                changed++;
            }
        }
    }
    return changed;
}

/* The checks as the paper prints them fail where we changed them. */
static void printed_forms_are_caught(void **state) {
    uint32_t variant;
    (void)state;
    for (variant = 0; variant < PRINTED; variant++) {
        const char *name = variant < VALUE_UNCHECKED ? "array_walk" : "pointer_chase";
        trial t = trial_of(PAGE_CHECKS_KIM, "all");
        build(&t, name);
        assert_true(as_printed(t.m, variant) > 0);
        if (run(&t)) fail_msg("variant %u goes unnoticed", variant);
        print_message("%s as printed: %s\n", name, why(&t));
        assert_true(t.m->failed == (variant != SUM_ADDED_TWICE)); /* this one ends, and its sums are wrong */
        close_trial(&t);
    }
}

/* ---- with everything else ---- */

/* Skipping idle cycles changes nothing, although pages are long on their way. */
static void every_cycle_is_the_same(void **state) {
    static const char *const names[] = {"array_walk", "pointer_chase", "bfs_1"};
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        trial skipping = trial_of(PAGE_CHECKS_KIM, "all"), ticking = skipping;
        ticking.options.skip_idle = 0;
        skipping.service_cycles = ticking.service_cycles = 700;
        build(&skipping, names[i]);
        build(&ticking, names[i]);
        assert_true(run(&skipping) && run(&ticking));
        assert_true(skipping.m->now == ticking.m->now && machine_hash(skipping.m) == machine_hash(ticking.m));
        close_trial(&skipping);
        close_trial(&ticking);
    }
}

/* All SMs are emptied somewhere, by each technique, warps stopping anywhere or at points. */
static void preempted_anywhere(void **state) {
    static const char *const names[] = {"array_walk", "pointer_chase", "bfs_1",  "saxpy",
                                        "histogram",  "spmv",          "hotspot"};
    static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_DRAIN, GPUMP_TECHNIQUE_FLUSH,
                                          GPUMP_TECHNIQUE_REWIND};
    const uint64_t places = test_cases(12);
    uint64_t preempted = 0, seed = test_seed(), random = seed, n = 0;
    uint32_t i, k;
    (void)state;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        for (k = 0; k < 8; k++) {
            const uint32_t form = k & 4 ? PAGE_CHECKS_EVERY : PAGE_CHECKS_KIM;
            uint64_t end = 0, place;
            for (place = 0; place <= places; place++, n++) { /* the first one undisturbed */
                trial t = trial_of(form, "all");
                t.options.technique = techniques[k % 4];
                t.options.regions = techniques[k % 4] == GPUMP_TECHNIQUE_REWIND ? REGIONS_SPARSE : REGIONS_NONE;
                t.options.preempt_cycle = place ? end * place / (places + 1) : NEVER;
                t.options.context_form = gpump_random_below(&random, CONTEXT_FORMS);
                t.options.point_interval = gpump_random_below(&random, 2) * 20;
                t.service_cycles = 600;
                build(&t, names[i]);
                if (!run(&t))
                    fail_msg("%s, %s at cycle %llu of %llu (GPUMP_TEST_SEED=%llu): %s", names[i],
                             page_check_form_name(form), (unsigned long long)t.options.preempt_cycle,
                             (unsigned long long)end, (unsigned long long)seed, why(&t));
                if (!place) end = t.m->now;
                preempted += t.m->preemption_count != 0;
                close_trial(&t);
            }
        }
    }
    print_message("%llu runs, %llu of them preempted\n", (unsigned long long)n, (unsigned long long)preempted);
    assert_true(preempted > n / 2);
}

/* Turns shorter than a page's way: the handler goes on while its block is off the SM, or nobody would get anywhere. */
static void turns_shorter_than_a_page(void **state) {
    char error[LAUNCH_ERROR_BYTES];
    kernel_check checks[8];
    trial t = trial_of(PAGE_CHECKS_KIM, "all");
    (void)state;
    t.options.schedule = "time_slice";
    t.options.slice_ns = 5000;
    if (launch_file_read(&t.launch, GPUMP_SOURCE_DIR "/examples/minigpu/demo.yaml", error)) fail_msg("%s", error);
    assert_true(t.launch.kernel_count <= 8);
    if (!(t.m = machine_build(&t.launch, &t.options, error))) fail_msg("%s", error);
    assert_true(gpump_gpu_cycles_from_ns(&t.m->config.gpu, t.options.slice_ns) < t.m->config.page_service_cycles);
    if (machine_run(t.m, NEVER) != 1 || check_results(t.m, &t.launch, checks))
        fail_msg("%s", t.m->failed ? t.m->error : checks[0].text);
    assert_true(t.m->page_faults.served > 0 && t.m->preemption_count > 0);
    close_trial(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_without_pages),
        cmocka_unit_test(with_regions),
        cmocka_unit_test(unchecked_accesses_are_caught),
        cmocka_unit_test(local_arrays),
        cmocka_unit_test(constant_local_addresses),
        cmocka_unit_test(only_absent_pages_fault),
        cmocka_unit_test(checks_cost_less_than_one_per_access),
        cmocka_unit_test(printed_forms_are_caught),
        cmocka_unit_test(every_cycle_is_the_same),
        cmocka_unit_test(preempted_anywhere),
        cmocka_unit_test(turns_shorter_than_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
