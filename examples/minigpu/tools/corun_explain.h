/* corun_explain: why a kernel runs more slowly on SMs that it shares, and how fast it would run without the others.
 *
 * A kernel has n requests behind L1 in the mean. Each takes L cycles, and a warp instruction makes m of them. By
 * Little's law a warp instruction takes exactly m L / n cycles of the GPU. The difference of two such products, beside
 * other kernels and while they are held, is a sum over the hops of a request and two rests: more requests per
 * instruction (L1), and fewer requests at once (issue: the kernel issues less, or its gates hold requests back). */
#ifndef MINIGPU_CORUN_EXPLAIN_H
#define MINIGPU_CORUN_EXPLAIN_H

#include "launch/launch_file.h"
#include "tools/corun_experiment.h"

typedef enum corun_part {
    CORUN_PART_SHARE = 0, /* fewer blocks, and limits of its own */
    CORUN_PART_ISSUE,
    CORUN_PART_L1,
    CORUN_PART_UP,
    CORUN_PART_L2,
    CORUN_PART_DRAM,
    CORUN_PART_DOWN,
    CORUN_PARTS
} corun_part;

/* Times as multiples of the kernel's time alone. 1 plus all parts is `slowdown`. */
typedef struct corun_stack {
    double parts[CORUN_PARTS];
    double slowdown;
    double held;      /* time while the others are held */
    double estimated; /* the estimate of `held` from measurements beside the others */
} corun_stack;

/* Explains kernel `index` of `count`. alone: warp instructions per cycle that the kernel issues alone (all blocks, no
 * limits). *gpu: the machine's. */
void corun_explain(const corun_outcome *outcome, uint32_t index, uint32_t count, double alone, const gpump_gpu *gpu,
                   corun_stack *stack);
/* Prints the stacks of all kernels under a policy on the GPU `gpu`. */
void corun_explain_print(const launch_file *launch, const gpump_gpu *gpu, const char *policy, const double *alone,
                         const corun_outcome *outcome);

#endif
