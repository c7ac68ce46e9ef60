/* Launches whose instructions err and trap, run to their end: what tests/minigpu/errors.c and restart_states.c share.
 */
#ifndef GPUMP_TEST_ERROR_RUNS_H
#define GPUMP_TEST_ERROR_RUNS_H
#include "test.h"

#include "analysis/analysis.h"
#include "kernels/reference.h"
#include "parts/errors/error_facts.h"
#include "parts/shared_log/shared_log.h"
#include "preemption/context_forms.h"
#include "tools/check.h"
#include "tools/recovery.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

#define WATCHDOG_CYCLES 200000000u /* a run that has not ended by then never will: a live-lock that nobody sees */

typedef struct ran {
    gpump_restart_statistics recovery;
    uint64_t candidates, cycles, result;
    int wrong;
    char error[LAUNCH_ERROR_BYTES];
} ran;

static inline void run_launch_logged(const char *path, const machine_options *options, ran *r,
                                     shared_log_statistics *log) {
    launch_file launch;
    kernel_check check[8];
    machine *m;
    memset(r, 0, sizeof *r);
    if (launch_file_read(&launch, path, r->error)) fail_msg("%s", r->error);
    launch.regions = REGIONS_NONE;
    assert_true(launch.kernel_count <= 8);
    if (!(m = machine_build(&launch, options, r->error))) fail_msg("%s: %s", path, r->error);
    r->wrong = machine_run(m, WATCHDOG_CYCLES) != 1 || check_results(m, &launch, check) != 0;
    snprintf(r->error, sizeof r->error, "%s", m->failed ? m->error : r->wrong ? "other results" : "right");
    r->candidates = machine_errors_of(m) ? machine_errors_of(m)->errs.candidates : 0;
    r->result = machine_result_hash(m, &launch);
    r->cycles = m->now;
    recovery_statistics(m, &r->recovery);
    if (log) shared_log_sum(m, log);
    machine_free(m);
    launch_file_free(&launch);
}
static inline void run_launch(const char *path, const machine_options *options, ran *r) {
    run_launch_logged(path, options, r, NULL);
}

static inline machine_options options_with(uint32_t regions, const char *detection) {
    machine_options options;
    machine_options_default(&options);
    options.regions = regions;
    options.errors.detection = detection;
    return options;
}

#endif
