/* labels: equivalence unit link: minigpu_core */
/* Preemption points as instructions of the mini-GPU: they change no result and cost what they are; a block that is
 * switched stops with every warp at one, at a barrier, or at its end. */
#include "test.h"
#include "tools/check.h"
#include "preemption/context_forms.h"
#include "machine/machine.h"
#include "preemption/preemption.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

static machine *build(launch_file *launch, const char *name, uint32_t interval) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    options.point_interval = interval;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

static uint32_t points_of(const kernel_program *program) {
    uint32_t i, count = 0;
    for (i = 0; i < program->count; i++) count += (uint32_t)instruction_is_point(&program->instructions[i]);
    return count;
}

/* Every kernel executes as much as without points, and the points. */
static void points_cost_what_they_are(void **state) {
    static const uint32_t intervals[] = {1, 10, 100};
    const reference_entry *entry;
    uint32_t points = 0, instructions = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        uint64_t plain = 0, executed;
        uint32_t i, fewer = UINT32_MAX;
        for (i = 0; i < 4; i++) {
            launch_file launch;
            machine *m = build(&launch, entry->name, i ? intervals[i - 1] : 0);
            const kernel *k = &m->kernels[0];
            kernel_check check;
            if (machine_run(m, NEVER) != 1 || check_results(m, &launch, &check))
                fail_msg("%s: %s", entry->name, m->failed ? m->error : check.text);
            executed = k->warp_instructions - k->counted[COUNTED_POINT];
            if (!i) plain = executed;
            assert_true(executed == plain);
            assert_true(i || (!points_of(k->program) && !k->counted[COUNTED_POINT]));
            if (i == 1) {
                assert_true(points_of(k->program));
                points += points_of(k->program);
                instructions += k->program->count;
            }
            assert_true(!i || points_of(k->program) <= fewer);
            if (i) fewer = points_of(k->program);
            machine_free(m);
            launch_file_free(&launch);
        }
    }
    assert_true(points * 3 >=
                instructions / 4); /* K = 1: all over the place, but for innermost loops, which have one */
}

/* Where a warp of a block that is to leave has stopped. */
static int may_stop_there(const machine *m, const block *b, const warp *w) {
    if (!w->stack.depth || w->barrier != NONE || gpump_warp_gate_closed_by(w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_FAULT))
        return 1;
    return instruction_is_point(&m->kernels[b->kernel].program->instructions[simt_top(&w->stack)->pc]);
}

/* With preemption points, a warp stops at a point and nowhere else. */
static void warps_stop_at_points_only(void **state) {
    static const char *const names[] = {"spmv",    "histogram",  "kmeans_point",
                                        "stencil", "pathfinder", "matrix_multiply_accumulate"};
    const uint64_t places = test_cases(20);
    uint64_t stopped = 0, elsewhere = 0, place;
    uint32_t i, n, entry;
    (void)state;
    for (i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        for (place = 1; place <= places; place++) {
            launch_file launch;
            machine *m = build(&launch, names[i / 2], i % 2 ? 20 : 0);
            uint64_t end;
            void *start = arena_checkpoint(&m->arena);
            sm *s;
            assert_non_null(start);
            assert_int_equal(machine_run(m, NEVER), 1);
            end = m->now;
            arena_restore(&m->arena, start);
            free(start);
            if (machine_run(m, end * place / (places + 1)) == 0 && (s = m->sms[0])->resident) {
                preemption_request(m, s, GPUMP_TECHNIQUE_SWITCH, 0, 0);
                while (!m->failed && s->stopping && machine_run(m, m->now + 1) == 0) {}
                for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++) {
                    const block *b = s->block_of_entry[entry] == NONE ? NULL : &m->blocks[s->block_of_entry[entry]];
                    if (!b || b->preemption == NONE || gpump_sm_state(s->gpump, entry) != GPUMP_BLOCK_SAVING) continue;
                    for (n = 0; n < b->warp_count; n++) {
                        stopped++;
                        elsewhere += i % 2 == 0 && !may_stop_there(m, b, &m->warps[b->warps[n]]);
                        if (i % 2 && !may_stop_there(m, b, &m->warps[b->warps[n]]))
                            fail_msg("%s: warp %u has stopped elsewhere", names[i / 2], n);
                    }
                }
            }
            machine_free(m);
            launch_file_free(&launch);
        }
    }
    print_message("%llu warps have stopped; without points %llu of them elsewhere\n", (unsigned long long)stopped,
                  (unsigned long long)elsewhere);
    assert_true(stopped > 20 * places && elsewhere > places);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_cost_what_they_are),
                                       cmocka_unit_test(warps_stop_at_points_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
