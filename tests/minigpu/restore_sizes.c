/* labels: unit link: minigpu_core */
/* A context is restored by the sizes that its sections hold (restore_by_sections): for each warp they are those of its
 * save, with the rest of the block they are the whole context, and the run ends right. */
#include "test.h"

#include "machine/machine.h"
#include "preemption/context_bytes.h"
#include "preemption/context_forms.h"
#include "preemption/preemption.h"
#include "tools/check.h"

static const char *const names[] = {"hotspot", "bfs_1", "everything", "backprop_layer_forward"};

static machine *build(launch_file *launch, const char *name, uint32_t form, const char *config) {
    char path[512], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    options.context_form = form;
    options.config = config;
    snprintf(path, sizeof path, "%s/tests/minigpu/preempt/%s.yaml", GPUMP_SOURCE_DIR, name);
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

/* A block whose context is written and whose registers still are where they were. */
static void same_sizes(machine *m, const block *b) {
    const kernel *k = &m->kernels[b->kernel];
    uint64_t bytes[BLOCK_WARPS_MAX], sum = 0, saved;
    uint32_t i, registers;
    context_bytes_of_warps(m, b, bytes);
    for (i = 0; i < b->warp_count; i++) {
        const warp *w = &m->warps[b->warps[i]];
        sum += bytes[i];
        if (m->context_form == CONTEXT_TB) continue; /* registers of the whole block: evenly */
        saved = w->stack.depth ? context_forms_warp_bytes(m, k, b, w, &registers)
                               : GPUMP_CONTEXT_SECTION_BYTES; /* an empty stack */
        if (m->context_form == CONTEXT_NAIVE) assert_int_equal(bytes[i], saved);
        assert_true(bytes[i] <= saved && saved <= bytes[i] + 8); /* the save rounds the head of what is compressed up */
    }
    assert_true(sum + k->shared_bytes < b->context_bytes);
    assert_true(b->context_bytes - sum - k->shared_bytes < 1024); /* heads, coordinates, barriers */
}

/* Preempts every SM at `cycle` and returns the cycle of the end; *looked counts contexts. */
static uint64_t run(const char *name, uint32_t form, const char *config, uint64_t cycle, uint32_t *looked) {
    kernel_check checks[8];
    launch_file launch;
    machine *m = build(&launch, name, form, config);
    uint64_t seen = 0, end;
    uint32_t i;
    assert_int_equal(machine_run(m, cycle), 0);
    for (i = 0; i < m->sm_count; i++) preemption_request(m, m->sms[i], GPUMP_TECHNIQUE_SWITCH, 0, 0);
    m->kernels[1].arrival_cycle = m->now;
    while (m->now < cycle + 3000 && machine_run(m, m->now + 1) == 0) {
        for (i = 0; i < 64 && i < m->block_count; i++) {
            const block *b = &m->blocks[i];
            if (seen >> i & 1 || b->job == NONE || b->moving != REQUEST_SAVE) continue;
            same_sizes(m, b);
            seen |= UINT64_C(1) << i;
            (*looked)++;
        }
    }
    if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", name, m->error);
    if (check_results(m, &launch, checks) != 0) fail_msg("%s: %s", name, checks[0].text);
    end = m->now;
    machine_free(m);
    launch_file_free(&launch);
    return end;
}

static void test_sizes(void **state) {
    uint32_t name, form, looked = 0, moved = 0;
    (void)state;
    for (name = 0; name < sizeof names / sizeof *names; name++) {
        for (form = 0; form < CONTEXT_FORMS; form++) {
            const uint64_t cycle = 500 + 90 * form;
            moved += run(names[name], form, "memory_model=0,restore_by_sections=1", cycle, &looked) !=
                     run(names[name], form, "memory_model=0,restore_by_sections=0", cycle, &looked);
            run(names[name], form, "memory_model=1,restore_by_sections=1", cycle, &looked);
        }
    }
    printf("%u contexts, %u of 16 runs end in another cycle than with even sizes\n", looked, moved);
    assert_true(looked > 100);
    assert_true(moved > 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
