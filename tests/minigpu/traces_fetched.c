/* labels: unit link: minigpu_core */
/* Traces of real machines, which the project does not have: MINIGPU_TRACES names their lists (kernelslist.g), with
 * colons between them. Each runs alone, is preempted at every 1,000th cycle by every technique and in every form of a
 * context, and shares the machine with itself under every scheduler. All tags must be right. MINIGPU_TRACES_TABLE=1
 * prints the table of docs/traces.md. Without MINIGPU_TRACES the test is skipped. */
#define _GNU_SOURCE
#include "test.h"

#include <inttypes.h>
#include <unistd.h>

#include "machine/machine.h"
#include "preemption/context_forms.h"
#include "preemption/preemption.h"

#define PERIOD 1000u
#define REQUESTS 200u      /* of one run at most: a context may take longer than a period */
#define FLUSHES_OF_RUN 16u /* likewise: a block may take longer than a period, and would begin for ever */

typedef struct outcome {
    uint64_t cycles, saved_bytes, blocks, latency, preemptions;
} outcome;

/* Runs a launch on some SMs. Every SM is asked to give up its blocks at every PERIOD-th cycle, by a technique;
 * GPUMP_TECHNIQUES: never. */
static outcome run(const char *path, uint32_t sms, const machine_options *options, uint32_t technique) {
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    outcome out = {0, 0, 0, 0, 0};
    machine *m = NULL;
    const uint32_t most = technique == GPUMP_TECHNIQUE_FLUSH ? FLUSHES_OF_RUN : REQUESTS;
    uint32_t i;
    int ended;
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    launch.sms = sms;
    if (!(m = machine_build(&launch, options, error))) fail_msg("%s", error);
    while ((ended = machine_run(m, m->now + PERIOD)) == 0)
        for (i = 0; technique < GPUMP_TECHNIQUES && i < m->sm_count && m->preemption_count < most; i++)
            if (m->sms[i]->resident && !m->sms[i]->stopping && !m->sms[i]->contexts_moving)
                preemption_request(m, m->sms[i], technique, 0, 0);
    if (ended < 0) fail_msg("%s, technique %u, form %u: %s", path, technique, options->context_form, m->error);
    for (i = 0; i < m->kernel_count; i++) assert_int_equal(m->kernels[i].done_blocks, m->kernels[i].blocks);
    out.cycles = m->now;
    for (i = 0; i < m->preemption_count; i++) {
        const preemption_entry *e = &m->preemptions[i];
        if (e->end_cycle == NEVER) continue;
        out.saved_bytes += e->bytes_saved;
        out.blocks += e->blocks;
        out.latency += e->end_cycle - e->request_cycle;
        out.preemptions++;
    }
    machine_free(m);
    launch_file_free(&launch);
    return out;
}

/* Prints what a block's context has and how long preemptions take, on three machines. */
static void print_rows(const char *path) {
    static const char *const machines[] = {"v100", "a100", "h100"};
    static const uint32_t forms[] = {CONTEXT_NAIVE, CONTEXT_LIVE};
    uint32_t i, n;
    for (i = 0; i < 3; i++) {
        machine_options options;
        outcome o[2], drained;
        machine_options_default(&options);
        options.gpu = machines[i];
        for (n = 0; n < 2; n++) {
            options.context_form = forms[n];
            o[n] = run(path, 2, &options, GPUMP_TECHNIQUE_SWITCH);
        }
        drained = run(path, 2, &options, GPUMP_TECHNIQUE_DRAIN);
#define PER(a, b) ((b) ? (double)(a) / (double)(b) : 0.0)
        printf("| %s | %s | %" PRIu64 " | %.0f | %.0f | %.0f | %.0f |\n", path, machines[i], o[0].preemptions,
               PER(o[0].saved_bytes, o[0].blocks), PER(o[1].saved_bytes, o[1].blocks),
               PER(o[1].latency, o[1].preemptions), PER(drained.latency, drained.preemptions));
    }
}

static void run_preempted(const char *path) {
    static const uint32_t forms[] = {CONTEXT_NAIVE, CONTEXT_LIVE, CONTEXT_LIVE_COMPRESS, CONTEXT_TB};
    const uint32_t techniques[] = {GPUMP_TECHNIQUES, GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_DRAIN,
                                   GPUMP_TECHNIQUE_FLUSH};
    machine_options options;
    uint32_t i, n;
    for (i = 0; i < 4; i++)
        for (n = 0; n < 4; n++) {
            machine_options_default(&options);
            options.gpu = "v100";
            options.context_form = forms[i];
            if (n == 1 || !i) (void)run(path, 2, &options, techniques[n]);
        }
}

/* The program runs beside itself, as two processes. */
static void run_shared(const char *path) {
    static const char *const schedules[] = {"fcfs", "npq",   "ppq",      "ppq_shared",
                                            "dss",  "equal", "weighted", "time_slice"};
    char launch[] = "/tmp/gpump_shared_XXXXXX";
    char *full = realpath(path, NULL);
    const int handle = mkstemp(launch);
    FILE *file = handle < 0 ? NULL : fdopen(handle, "w");
    uint32_t i;
    if (!file || !full) fail_msg("%s: cannot be run beside itself", path);
    fprintf(file, "processes:\n  - traces: %s\n  - priority: 1\n    traces: %s\n", full, full);
    fclose(file);
    free(full);
    for (i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        machine_options options;
        machine_options_default(&options);
        options.gpu = "v100";
        options.schedule = schedules[i];
        options.slice_ns = 3000;
        (void)run(launch, 2, &options, GPUMP_TECHNIQUES);
    }
    (void)remove(launch);
}

static void fetched_traces_end_with_right_tags(void **state) {
    const char *traces = getenv("MINIGPU_TRACES");
    char *list, *path, *rest;
    (void)state;
    if (!traces) skip();
    list = strdup(traces);
    for (path = strtok_r(list, ":", &rest); path; path = strtok_r(NULL, ":", &rest)) {
        if (getenv("MINIGPU_TRACES_TABLE")) {
            print_rows(path);
            continue;
        }
        run_preempted(path);
        run_shared(path);
    }
    free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fetched_traces_end_with_right_tags)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
