/* check: compares device memory with what the launch file expects. */
#ifndef MINIGPU_CHECK_H
#define MINIGPU_CHECK_H

#include "machine/machine.h"

typedef enum check_result {
    CHECK_NOTHING_EXPECTED,
    CHECK_RIGHT,
    CHECK_WRONG,
    CHECK_NOT_ENDED,
    CHECK_ABORTED
} check_result;

typedef struct kernel_check {
    check_result result;
    char text[LAUNCH_ERROR_BYTES]; /* the first difference */
} kernel_check;

/* Checks every kernel of a machine that has run to its end. Of a process that repeats the first run is checked, and
 * kernels of a process that has not run once are CHECK_NOT_ENDED, which is not wrong. Kernels of a process that was
 * aborted are CHECK_ABORTED, which is wrong. References run on copies of the buffers' initial contents, in the order of
 * the file. After a kernel without a reference its buffers are no longer checked. `checks` has one element per kernel.
 * Returns 0 when nothing is wrong, 1 when something is, -1 when out of memory.
 */
int check_results(const machine *m, const launch_file *launch, kernel_check *checks);
/* Runs the machine of a launch of one kernel to its end and checks it. Returns 0, or -1 with what went wrong, or is
 * wrong, in error. */
int check_run_one(machine *m, const launch_file *launch, char error[LAUNCH_ERROR_BYTES]);
/* Hash over a kernel's buffers in the order of its arguments: what `checksum` in a launch file is compared with. */
uint64_t check_sum(const machine *m, const launch_file *launch, const launch_kernel *k);

#endif
