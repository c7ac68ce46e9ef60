/* labels: unit link: minigpu_core */
/* A context is saved and restored by the sizes that its sections hold: the save is told what each warp's sections take,
 * and a warp is back with the segment that brings their last byte. */
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

static uint64_t sum_of(const uint64_t *bytes, uint32_t count) {
    uint64_t sum = 0;
    uint32_t i;
    for (i = 0; i < count; i++) sum += bytes[i];
    return sum;
}

/* A block whose context is written and whose registers still are where they were. */
static void same_sizes(machine *m, const block *b) {
    const kernel *k = &m->kernels[b->kernel];
    uint64_t bytes[BLOCK_WARPS_MAX];
    uint32_t i, registers;
    context_bytes_of_warps(m, b, bytes);
    assert_int_equal(b->moved_bytes, sum_of(bytes, b->warp_count)); /* what the save was told */
    for (i = 0; i < b->warp_count && m->context_form != CONTEXT_TB; i++)
        assert_int_equal(bytes[i], context_bytes_of_warp(m, b, &m->warps[b->warps[i]], &registers));
    assert_true(b->moved_bytes + k->shared_bytes < b->context_bytes);
    assert_true(b->context_bytes - b->moved_bytes - k->shared_bytes < 1024); /* heads, coordinates, barriers */
}

/* What the SM's pipeline hands over at `now`, each segment of this block moved at once: returns the bytes of warps that
 * this brought, and adds the warps that are back to *back. */
static uint32_t hand_over(sm *s, const block *b, uint64_t now, int segments, uint64_t *back) {
    gpump_spill_action action;
    while ((segments ? gpump_spill_next(s->spill, now, &action) : gpump_spill_next_event(s->spill, now, &action)) ==
           GPUMP_OK) {
        if (action.job != b->job) continue;
        if (action.kind == GPUMP_SPILL_WARP) *back |= UINT64_C(1) << action.warp;
        if (action.kind != GPUMP_SPILL_READ) continue;
        assert_int_equal(gpump_spill_report_moved(s->spill, now, action.job, 1), GPUMP_OK);
        if (action.part == GPUMP_PART_REGISTERS) return action.bytes;
    }
    return 0;
}

/* A block has begun to come back: the test takes the pipeline over, and each warp is back with the segment that brings
 * the last byte of its sections. Returns the bytes that have come. */
static uint64_t comes_by_sections(machine *m, const block *b) {
    sm *s = m->sms[b->sm];
    uint64_t bytes[BLOCK_WARPS_MAX], came[BLOCK_WARPS_MAX], now = m->now, taken = 0, back = 0, before, due = 0, sum;
    uint32_t i, moved = 1;
    context_bytes_of_warps(m, b, bytes);
    sum = sum_of(bytes, b->warp_count);
    memset(came, 0, sizeof came);
    if (b->transfers)
        assert_int_equal(gpump_spill_report_moved(s->spill, now, b->job, (uint32_t)b->transfers), GPUMP_OK);
    for (; moved; taken += moved) {
        const uint64_t earlier = back;
        hand_over(s, b, now += 100000, 0, &back); /* time enough for all registers of a warp */
        for (i = 0; i < b->warp_count; i++)
            if ((back & ~earlier) >> i & 1) came[i] = taken;
        moved = hand_over(s, b, now, 1, &back);
    }
    assert_int_equal(back, b->warp_count == 64 ? UINT64_MAX : (UINT64_C(1) << b->warp_count) - 1);
    assert_true(taken <= sum);
    before = sum - taken; /* had been sent when the test came */
    for (i = 0; i < b->warp_count; i++) {
        due += bytes[i];
        assert_true(before + came[i] >= due);
        assert_true(!came[i] || before + came[i] < due + SEGMENT_BYTES);
    }
    return taken;
}

/* Preempts every SM at `cycle`. With `come`, the run ends at the first context that is read; else it ends right.
 * *looked counts contexts. */
static void run(const char *name, uint32_t form, const char *config, int come, uint32_t *looked) {
    const uint64_t cycle = 500 + 90 * form;
    kernel_check checks[8];
    launch_file launch;
    machine *m = build(&launch, name, form, config);
    uint64_t seen = 0, came = 0;
    uint32_t i;
    assert_int_equal(machine_run(m, cycle), 0);
    for (i = 0; i < m->sm_count; i++) preemption_request(m, m->sms[i], GPUMP_TECHNIQUE_SWITCH, 0, 0);
    m->kernels[1].arrival_cycle = m->now;
    while (!came && m->now < cycle + (come ? 60000 : 3000) && machine_run(m, m->now + 1) == 0) {
        for (i = 0; !came && i < 64 && i < m->block_count; i++) {
            const block *b = &m->blocks[i];
            if (b->job == NONE || b->moving != (come ? REQUEST_RESTORE : REQUEST_SAVE) || (!come && seen >> i & 1))
                continue;
            if (come)
                came = comes_by_sections(m, b);
            else
                same_sizes(m, b);
            seen |= UINT64_C(1) << i;
            (*looked)++;
        }
    }
    if (come) {
        assert_true(came);
    } else {
        if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", name, m->error);
        if (check_results(m, &launch, checks) != 0) fail_msg("%s: %s", name, checks[0].text);
    }
    machine_free(m);
    launch_file_free(&launch);
}

static uint32_t in_both_models(int come) {
    uint32_t name, form, looked = 0;
    for (name = 0; name < sizeof names / sizeof *names; name++) {
        for (form = 0; form < CONTEXT_FORMS; form++) {
            run(names[name], form, "memory_model=0", come, &looked);
            run(names[name], form, "memory_model=1", come, &looked);
        }
    }
    return looked;
}

/* What a save writes is the sum of its sections. */
static void test_saved_by_sections(void **state) {
    (void)state;
    assert_true(in_both_models(0) > 100);
}

/* What a restore reads is the sum of the sections that it needs. */
static void test_restored_by_sections(void **state) {
    (void)state;
    assert_int_equal(in_both_models(1), 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_saved_by_sections),
                                       cmocka_unit_test(test_restored_by_sections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
