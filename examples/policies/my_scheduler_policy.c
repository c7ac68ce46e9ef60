/* my_scheduler_policy: a scheduling policy of your own takes one file. Copy this one, change its hooks and its name,
 * and build it into the hosts:
 *
 *     cmake -S . -B build -DGPUMP_POLICY=/path/to/my_scheduler_policy.c && cmake --build build
 *     build/examples/tbsim/tbsim run examples/tbsim/workloads/two_benchmarks.yaml --schedule shortest
 *     build/examples/minigpu/minigpu run examples/minigpu/launches/three_processes.yaml --schedule shortest
 *
 * This policy runs the shortest kernel first, measured in blocks that have not been issued. A kernel never loses an SM:
 * it keeps its SMs until its blocks run out. */
#include "gpump.h"

/* The waiting command with the fewest blocks enters the active queue next. */
static uint32_t shortest_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    uint32_t best = view->waiting[0];
    (void)policy;
    for (uint32_t i = 1; i < view->waiting_count; i++)
        if (view->buffers[view->waiting[i]].blocks < view->buffers[best].blocks) best = view->waiting[i];
    return best;
}

/* An idle SM goes to the kernel with the fewest blocks left to issue, among those that can use one. */
static gpump_result shortest_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                  gpump_scheduler_step *step) {
    uint32_t best = 0; /* no kernel */
    (void)policy;
    for (uint32_t i = 0; i < view->active_count; i++) {
        uint32_t kernel = view->active[i];
        if (gpump_scheduler_wants_idle(&view->kernels[kernel]) &&
            (!best ||
             gpump_scheduler_to_issue(&view->kernels[kernel]) < gpump_scheduler_to_issue(&view->kernels[best])))
            best = kernel;
    }
    if (!best || view->idle_sm == GPUMP_NONE) return GPUMP_EMPTY;
    step->kind = GPUMP_SCHEDULER_STEP_ASSIGN;
    step->sm = view->idle_sm;
    step->kernel = best;
    return GPUMP_OK;
}

const gpump_scheduler_policy my_scheduler_policy = {
    "shortest",    "The kernel with the fewest blocks left goes first, without preemption.",
    NULL,          shortest_admit,
    NULL,                /* no tokens */
    shortest_step, NULL, /* runs only after events */
};
