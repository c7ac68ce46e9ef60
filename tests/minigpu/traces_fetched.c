/* labels: unit link: minigpu_core */
/* Traces of a folder: MINIGPU_TRACES names their lists (kernelslist.g), with colons between them. Each runs alone, is
 * preempted at every 1,000th cycle by every technique and in every form of a context, goes back to its regions, has its
 * pages absent, runs on one to three threads, and shares the machine with the one before it under every scheduler and
 * every partition. All tags must be right. MINIGPU_TRACES_BEFORE names the list before the first one.
 * MINIGPU_TRACES_TABLE=1 prints the table of docs/traces.md. The project has no traces of real machines: without
 * MINIGPU_TRACES, the one that it has from its own writer runs so. tests/minigpu/traces_folder.sh calls it for a
 * folder.
 */
#define _GNU_SOURCE
#include "test.h"

#include <inttypes.h>
#include <unistd.h>

#include "machine/machine.h"
#include "parts/faults/faults.h"
#include "policies/policies.h"
#include "preemption/context_forms.h"
#include "preemption/preemption.h"
#include "sass/trace_regions.h"

#define PERIOD 1000u
#define REQUESTS 200u      /* of one run at most: a context may take longer than a period */
#define FLUSHES_OF_RUN 16u /* likewise: a block may take longer than a period, and would begin for ever */

typedef struct outcome {
    uint64_t cycles, saved_bytes, blocks, latency, preemptions;
    gpump_context_sizes saved; /* the same bytes by part */
} outcome;

/* Runs a launch on some SMs. Every SM is asked to give up its blocks at every PERIOD-th cycle, by a technique;
 * GPUMP_TECHNIQUES: never. */
static outcome run(const char *path, uint32_t sms, const machine_options *options, uint32_t technique) {
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    outcome out = {0, 0, 0, 0, 0, {0, 0, 0}};
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
        out.saved.register_bytes += e->saved.register_bytes;
        out.saved.shared_bytes += e->saved.shared_bytes;
        out.saved.state_bytes += e->saved.state_bytes;
        out.blocks += e->blocks;
        out.latency += e->end_cycle - e->request_cycle;
        out.preemptions++;
    }
    machine_free(m);
    launch_file_free(&launch);
    return out;
}

/* Prints a row of docs/traces.md: the bytes of a preempted block's context on a V100, and on three machines how long
 * preemptions take. The live bytes stand by part: registers + shared memory + state. */
static void print_row(const char *path) {
    static const char *const machines[] = {"v100", "a100", "h100"};
    double bytes[2] = {0, 0}, cycles[2][3];
    gpump_context_sizes parts = {0, 0, 0};
    uint64_t preemptions = 0, blocks = 0;
    uint32_t i, n;
#define PER(a, b) ((b) ? (double)(a) / (double)(b) : 0.0)
    for (i = 0; i < 3; i++) {
        machine_options options;
        outcome o;
        machine_options_default(&options);
        options.gpu = machines[i];
        for (n = 0; n < 2 && (!n || !i); n++) {
            options.context_form = n ? CONTEXT_NAIVE : CONTEXT_LIVE;
            o = run(path, 2, &options, GPUMP_TECHNIQUE_SWITCH);
            if (!i) bytes[n] = PER(o.saved_bytes, o.blocks);
            if (!n) cycles[0][i] = PER(o.latency, o.preemptions);
            if (!i && !n) preemptions = o.preemptions, parts = o.saved, blocks = o.blocks;
        }
        o = run(path, 2, &options, GPUMP_TECHNIQUE_DRAIN);
        cycles[1][i] = PER(o.latency, o.preemptions);
    }
    printf("| %s | %" PRIu64 " | %.0f | %.0f | %.0f + %.0f + %.0f | %.0f / %.0f / %.0f | %.0f / %.0f / %.0f |\n", path,
           preemptions, bytes[1], bytes[0], PER(parts.register_bytes, blocks), PER(parts.shared_bytes, blocks),
           PER(parts.state_bytes, blocks), cycles[0][0], cycles[0][1], cycles[0][2], cycles[1][0], cycles[1][1],
           cycles[1][2]);
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

/* Blocks leave by going back to their region, while pages are absent under every scheme, and as errors are detected. */
static void run_back(const char *path) {
    const char *scheme;
    machine_options options;
    uint32_t i;
    for (i = 0; i < 3; i++) {
        machine_options_default(&options);
        options.gpu = "v100";
        options.context_form = CONTEXT_LIVE;
        options.regions = i ? 16 : TRACE_REGIONS_SPARSE;
        if (i == 2) options.errors.detection = "razor2", options.errors.errs.at = options.errors.errs.interval = 211;
        (void)run(path, 2, &options, i == 2 ? GPUMP_TECHNIQUE_SWITCH : GPUMP_TECHNIQUE_REWIND);
    }
    for (i = 0; (scheme = faults_scheme_name(i)); i++) {
        machine_options_default(&options);
        options.gpu = "v100";
        options.context_form = CONTEXT_LIVE;
        options.regions = strcmp(scheme, "regions") ? 0 : TRACE_REGIONS_SPARSE;
        options.faults.scheme = scheme;
        options.faults.link = "nvlink";
        options.faults.absent = options.absent = "all";
        (void)run(path, 2, &options, strcmp(scheme, "stall") ? GPUMP_TECHNIQUE_SWITCH : GPUMP_TECHNIQUES);
    }
}

/* SMs that advance on several threads, preempted, come to the same bits: of the machine and of when SMs were free. */
static void run_on_threads(const char *path) {
    uint64_t hashes[3] = {0, 0, 0};
    uint32_t i, n;
    for (i = 0; i < 3; i++) {
        char error[LAUNCH_ERROR_BYTES];
        machine_options options;
        launch_file launch;
        machine *m = NULL;
        machine_options_default(&options);
        options.gpu = "v100";
        options.threads = i + 1;
        options.preempt_cycle = PERIOD;
        if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
        launch.sms = 4;
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        if (machine_run(m, NEVER) != 1) fail_msg("%s, %u threads: %s", path, i + 1, m->error);
        hashes[i] = machine_hash(m);
        for (n = 0; n < m->preemption_count; n++) hashes[i] = gpump_hash_u64(hashes[i], m->preemptions[n].end_cycle);
        if (hashes[i] != hashes[0]) fail_msg("%s: other bits with %u threads", path, i + 1);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Writes a launch file with two traces or lists, as two processes. */
static void write_pair(const char *launch, const char *first, const char *second) {
    char *paths[2] = {realpath(first, NULL), realpath(second, NULL)};
    FILE *file = fopen(launch, "w");
    if (!file || !paths[0] || !paths[1]) fail_msg("%s: cannot be run beside %s", first, second);
    fprintf(file, "processes:\n  - traces: %s\n  - priority: 1\n    traces: %s\n", paths[0], paths[1]);
    fclose(file);
    free(paths[0]);
    free(paths[1]);
}

/* Under every scheduler two programs take turns. */
static void run_scheduled(const char *launch) {
    machine_options options;
    uint32_t i;
    for (i = 0; policies_scheduler_name(i); i++) {
        machine_options_default(&options);
        options.gpu = "v100";
        options.schedule = policies_scheduler_name(i);
        options.slice_ns = 3000;
        (void)run(launch, 2, &options, GPUMP_TECHNIQUES);
    }
}

/* Under every partition two kernels run side by side: each of one program, and the first of the other. */
static void run_partitioned(const char *launch, const char *first, const char *second) {
    char error[LAUNCH_ERROR_BYTES];
    launch_file programs[2];
    machine_options options;
    uint32_t i, k;
    if (launch_file_read(&programs[0], first, error)) fail_msg("%s", error);
    if (launch_file_read(&programs[1], second, error)) fail_msg("%s", error);
    for (k = 0; k < programs[0].kernel_count; k++) {
        write_pair(launch, programs[0].kernels[k].trace->path, programs[1].kernels[0].trace->path);
        for (i = 0; policies_partition_at(i); i++) {
            machine_options_default(&options);
            options.gpu = "v100";
            options.sharing.policy = policies_partition_at(i);
            (void)run(launch, 2, &options, GPUMP_TECHNIQUES);
        }
    }
    launch_file_free(&programs[0]);
    launch_file_free(&programs[1]);
}

/* Two programs share the machine, as two processes. */
static void run_shared(const char *first, const char *second) {
    char launch[] = "/tmp/gpump_shared_XXXXXX";
    const int handle = mkstemp(launch);
    if (handle < 0 || close(handle)) fail_msg("%s cannot be made", launch);
    write_pair(launch, first, second);
    run_scheduled(launch);
    run_partitioned(launch, first, second);
    (void)remove(launch);
}

/* Traces that the environment names, else the project's own one, end with the right tags in each kind of run. */
static void fetched_traces_end_with_right_tags(void **state) {
    const char *traces = getenv("MINIGPU_TRACES");
    char *list, *path, *rest;
    const char *before = getenv("MINIGPU_TRACES_BEFORE"), *table = getenv("MINIGPU_TRACES_TABLE");
    (void)state;
    list = strdup(traces ? traces : GPUMP_SOURCE_DIR "/examples/minigpu/traces/pathfinder/kernelslist.g");
    assert_non_null(list);
    for (path = strtok_r(list, ":", &rest); path; path = strtok_r(NULL, ":", &rest)) {
        if (table && *table) {
            print_row(path);
            continue;
        }
        run_preempted(path);
        run_back(path);
        run_on_threads(path);
        run_shared(path, before && *before ? before : path);
        before = path;
    }
    free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fetched_traces_end_with_right_tags)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
