/* check: compares device memory with the results that the launch file expects. */
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

/* Checks every kernel of a machine that has run to its end. References run on copies of the buffers' initial contents,
 * in the order of the file. For a process that repeats, its first run is checked. A kernel of a process that has not
 * run once is CHECK_NOT_ENDED, which is not wrong. A kernel of an aborted process is CHECK_ABORTED, which is wrong.
 * Buffers of a kernel without a reference are unchecked from that kernel on. `checks` has one element per kernel.
 * Returns 0 when nothing is wrong, 1 when something is, -1 when memory is out. */
int check_results(const machine *m, const launch_file *launch, kernel_check *checks);
/* Runs the machine of a launch of one kernel to its end and checks it. Returns 0, or -1 with the cause in error. */
int check_run_one(machine *m, const launch_file *launch, char error[LAUNCH_ERROR_BYTES]);
/* Returns a hash of a kernel's buffers in the order of its arguments, to compare with a launch file's `checksum`. */
uint64_t check_sum(const machine *m, const launch_file *launch, const launch_kernel *k);

#endif
