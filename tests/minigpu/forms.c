/* labels: equivalence unit link: minigpu_core */
/* The forms of an SM's code (machine/sm_form.h) compute the same, to the last bit of the machine, whoever is preempted
 * meanwhile; and a machine with a part that the plain form lacks runs in the general one. */
#include "test.h"

#include "machine/machine.h"
#include "machine/sm_cycle.h"
#include "machine/sm_form.h"
#include "preemption/preemption.h"

static launch_file launch;

static machine *build(const char *path, const char *config, machine_options *options) {
    char full[512], error[LAUNCH_ERROR_BYTES];
    machine *m;
    options->config = config;
    snprintf(full, sizeof full, "%s/%s", GPUMP_SOURCE_DIR, path);
    if (launch_file_read(&launch, full, error)) fail_msg("%s", error);
    if (!(m = machine_build(&launch, options, error))) fail_msg("%s: %s", path, error);
    return m;
}

static void end(machine *m) {
    machine_free(m);
    launch_file_free(&launch);
}

/* The hash of the machine at the end of a run in which SM 0 is preempted at `preempt`. */
static uint64_t run(const char *path, const char *config, uint32_t form, uint64_t preempt, uint32_t technique) {
    machine_options options;
    machine *m;
    uint64_t hash;
    machine_options_default(&options);
    m = build(path, config, &options);
    m->config.sm_form = form;
    if (preempt && !machine_run(m, preempt)) preemption_request(m, m->sms[0], technique, 0, 0);
    if (machine_run(m, NEVER) != 1) fail_msg("%s in form %u: %s", path, form, m->error);
    hash = machine_hash(m);
    end(m);
    return hash;
}

static void test_forms_compute_the_same(void **state) {
    static const char *const files[] = {"hotspot",   "pathfinder", "sgemm",  "spmv", "bfs_1",
                                        "histogram", "tpacf",      "lavamd", "lbm",  "mri_gridding"};
    static const char *const configs[] = {"", "memory_model=1", "scheduler=1,sources_released=2", "l1_tlb_entries=32",
                                          "issue_queue_entries=96"};
    uint32_t f, c, form;
    (void)state;
    for (f = 0; f < sizeof files / sizeof *files; f++) {
        char path[256];
        snprintf(path, sizeof path, "examples/minigpu/kernels/%s/small.yaml", files[f]);
        for (c = 0; c < sizeof configs / sizeof *configs; c++) {
            const uint64_t preempt = 300 + 97 * c + 31 * f;
            const uint32_t technique = c == 1 ? GPUMP_TECHNIQUE_FLUSH : GPUMP_TECHNIQUE_SWITCH;
            const uint64_t general = run(path, configs[c], SM_FORM_GENERAL, preempt, technique);
            for (form = 0; form <= SM_FORM_PLAIN; form++)
                if (run(path, configs[c], form, preempt, technique) != general)
                    fail_msg("%s, %s: form %u ends elsewhere", files[f], configs[c], form);
        }
    }
}

static int is_plain(sm_cycle_form *form) { return form == sm_cycle_plain || form == sm_cycle_plain_avx2; }

static void test_what_the_plain_form_lacks_wants_the_general_one(void **state) {
    machine_options options;
    machine *m;
    (void)state;
    machine_options_default(&options);
    m = build("examples/minigpu/kernels/saxpy/small.yaml", "", &options);
    assert_true(is_plain(sm_form_choose(m)));
    end(m);
    machine_options_default(&options);
    m = build("examples/minigpu/kernels/saxpy/small.yaml", "sm_form=2", &options);
    assert_true(sm_form_choose(m) == sm_cycle_plain);
    end(m);
    machine_options_default(&options);
    m = build("examples/minigpu/kernels/saxpy/small.yaml", "l1_tlb_entries=32", &options);
    assert_true(!is_plain(sm_form_choose(m)));
    end(m);
    machine_options_default(&options);
    m = build("examples/minigpu/kernels/saxpy/small.yaml", "issue_queue_entries=96", &options);
    assert_true(!is_plain(sm_form_choose(m)));
    end(m);
    machine_options_default(&options);
    options.regions = 1;
    m = build("examples/minigpu/kernels/saxpy/small.yaml", "", &options);
    assert_true(!is_plain(sm_form_choose(m)));
    end(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_compute_the_same),
        cmocka_unit_test(test_what_the_plain_form_lacks_wants_the_general_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
