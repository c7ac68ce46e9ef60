/* my_technique: a technique of your own in one file. docs/extending.md says how to build it into everything:
 *   cmake -S . -B build -DGPUMP_TECHNIQUE=/path/to/my_technique.c && cmake --build build
 *   build/examples/minigpu/minigpu run examples/minigpu/demo.yaml --preempt 20000:point
 *
 * `point` is a switch whose warps run on to their next barrier first, or to their next preemption point where the
 * compiler has placed some (--points). At a barrier nothing of a warp is in flight, so its save begins at once. A
 * kernel without barriers and points runs to its end. */
#include "gpump.h"

/* Cycles that a warp is assumed to run on until its next barrier. Replace it by a measurement of your kernels. */
enum { CYCLES_TO_POINT = 500 };

/* *latency and *overhead come with the estimate of a switch. The block runs on for a while, which loses nothing. */
static void my_estimate(const gpump_technique_estimate_args *args, uint64_t *latency, uint64_t *overhead) {
    (void)args;
    (void)overhead;
    *latency = gpump_add_saturated(*latency, CYCLES_TO_POINT);
}

const gpump_technique my_technique = {
    1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED, /* the states in which a block may be told to leave by it */
    0,                                                     /* 0: a block that has overwritten its input may leave too */
    GPUMP_TECHNIQUE_BEGIN_STOP,                            /* stop the warps, then save the block */
    GPUMP_SM_WAIT_ALL, /* with PREEMPTION_POINT: warps run on until they are there */
    0,                 /* nothing stays on the SM */
    "point",
    "Lets the warps run on to their next barrier or preemption point, then saves the block.",
    my_estimate,
};
