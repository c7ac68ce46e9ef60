/* labels: unit link: minigpu_core */
/* Every kernel of the library from its PTX, and from the trace that this run has written, in tracer versions 5 and 6:
 * the same warp instructions and requests, and the same blocks preempted halfway. Cycles differ by what a trace does
 * not have: nothing waits for predicates, and a division takes the time of a special function. A PTX run that is made
 * so takes the same cycles, to the last one. */
#define _GNU_SOURCE
#include "test.h"

#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

#include "machine/machine.h"
#include "parts/trace_writer/trace_writer.h"
#include "preemption/preemption.h"
#include "sm/scoreboard.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels"

static char folder[] = "/tmp/gpump_round_trip_XXXXXX";

typedef struct outcome {
    uint64_t cycles, warp_instructions, l1, requests, blocks;
} outcome;

static machine *build(launch_file *launch, const char *path) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m = NULL;
    machine_options_default(&options);
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    launch->sms = 2;
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

/* Nothing waits for a predicate: they come behind the registers on the scoreboard. */
static void forget_predicates(issue_info *info, uint32_t registers) {
    uint32_t i, at;
    for (i = 0; i < info->words; i++) {
        issue_word *bits = (issue_word *)(uintptr_t)issue_word_at(info, i, &at);
        const uint32_t first = registers > at * 64 ? registers - at * 64 : 0;
        const uint64_t kept = first < 64 ? (UINT64_C(1) << first) - 1 : UINT64_MAX;
        bits->sources &= kept;
        bits->destinations &= kept;
    }
}

/* Makes the kernels of a machine take the time that their traces take. */
static void time_as_a_trace(machine *m) {
    uint32_t i, n;
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        issue_info *info = (issue_info *)(uintptr_t)k->info;
        for (n = 0; n < k->program->count; n++) {
            forget_predicates(&info[n], k->program->registers);
            if (info[n].pipe == PIPE_DIVIDE) info[n].pipe = PIPE_SFU;
        }
        for (n = 0; n + 1 < k->program->count; n++)
            info[n].next_overwrites = (uint8_t)scoreboard_overwrites(&info[n + 1], &info[n]);
    }
}

/* Runs to the end. preempt_cycle: every SM gives up its blocks then; NEVER: none does. */
static outcome finish(machine *m, launch_file *launch, uint64_t preempt_cycle) {
    outcome out = {0, 0, 0, 0, 0};
    uint32_t i;
    int ended = machine_run(m, preempt_cycle);
    for (i = 0; !ended && i < m->sm_count; i++)
        if (m->sms[i]->resident) preemption_request(m, m->sms[i], GPUMP_TECHNIQUE_SWITCH, 0, 0);
    if (!ended) ended = machine_run(m, NEVER);
    if (ended != 1) fail_msg("%s: %s", launch->path, m->error);
    out.cycles = m->now;
    for (i = 0; i < m->kernel_count; i++) out.warp_instructions += m->kernels[i].warp_instructions;
    for (i = 0; i < m->sm_count; i++) out.l1 += m->sms[i]->statistics.l1_hits + m->sms[i]->statistics.l1_misses;
    out.requests = m->memory_system->statistics.requests;
    for (i = 0; i < m->preemption_count; i++) out.blocks += m->preemptions[i].blocks;
    assert_int_equal(trace_writer_close(m), 0);
    machine_free(m);
    launch_file_free(launch);
    return out;
}

static outcome run(const char *path, uint64_t preempt_cycle, int as_a_trace) {
    launch_file launch;
    machine *m = build(&launch, path);
    if (as_a_trace) time_as_a_trace(m);
    return finish(m, &launch, preempt_cycle);
}

/* What else a trace does not have, by kernel: a vector's registers that do not follow each other; local memory, which
 * is accessed as global memory is, so that it takes other requests. */
static int has_vectors_apart(const char *kernel) {
    return !strcmp(kernel, "bfs_1") || !strcmp(kernel, "bfs_queue") || !strcmp(kernel, "grid_points") ||
           !strcmp(kernel, "matrix_rows");
}
static int has_local_memory(const char *kernel) {
    return !strcmp(kernel, "lib") || !strcmp(kernel, "overwrites") || !strcmp(kernel, "symbols");
}

static void go_round(const char *kernel, const char *path, int has_values) {
    char error[LAUNCH_ERROR_BYTES], list[128];
    launch_file launch;
    machine *m = build(&launch, path);
    outcome ptx, trace, stopped[2];
    snprintf(list, sizeof list, "%s/kernelslist.g", folder);
    if (trace_writer_open(m, folder, has_values, error)) fail_msg("%s", error);
    ptx = finish(m, &launch, NEVER);
    trace = run(list, NEVER, 0);
    stopped[0] = run(path, ptx.cycles / 2, 0);
    stopped[1] = run(list, ptx.cycles / 2, 0);
    if (trace.warp_instructions != ptx.warp_instructions || stopped[0].warp_instructions != ptx.warp_instructions ||
        stopped[1].warp_instructions != ptx.warp_instructions)
        fail_msg("%s: other warp instructions", kernel);
    if (!stopped[0].blocks || stopped[1].blocks != stopped[0].blocks)
        fail_msg("%s: %" PRIu64 " blocks preempted, %" PRIu64 " of the trace", kernel, stopped[0].blocks,
                 stopped[1].blocks);
    if (!has_local_memory(kernel)) assert_int_equal(trace.requests, ptx.requests);
    assert_in_range(trace.cycles, ptx.cycles * 3 / 4, ptx.cycles * 5 / 4);
    if (has_local_memory(kernel) || has_vectors_apart(kernel)) return;
    ptx = run(path, NEVER, 1);
    if (ptx.cycles != trace.cycles || ptx.l1 != trace.l1)
        fail_msg("%s: %" PRIu64 " cycles and %" PRIu64 " accesses of L1, %" PRIu64 " and %" PRIu64 " of the trace",
                 kernel, ptx.cycles, ptx.l1, trace.cycles, trace.l1);
}

/* Each kernel that is written as a trace and read again ends as the kernel itself. */
static void every_kernel_goes_round(void **state) {
    DIR *kernels = opendir(KERNELS);
    struct dirent *entry;
    uint32_t count = 0;
    (void)state;
    assert_non_null(kernels);
    while ((entry = readdir(kernels))) {
        char path[512];
        snprintf(path, sizeof path, KERNELS "/%.200s/small.yaml", entry->d_name);
        if (entry->d_name[0] == '.' || access(path, R_OK)) continue;
        go_round(entry->d_name, path, 0);
        go_round(entry->d_name, path, 1);
        count++;
    }
    closedir(kernels);
    assert_true(count >= 60);
}

/* Asynchronous copies: one group that each block waits for, and two groups in flight. */
static void copies_go_round(void **state) {
    static const char *const paths[] = {GPUMP_SOURCE_DIR "/tests/minigpu/good_run/copies.yaml",
                                        GPUMP_SOURCE_DIR "/tests/minigpu/round_trip/copy_groups.yaml"};
    uint32_t i;
    (void)state;
    for (i = 0; i < 4; i++) go_round("copies", paths[i / 2], (int)i % 2);
}

/* Returns how many lines of the last trace have an opcode, and an access of 16 bytes with its addresses. */
static uint32_t rows_written(const char *opcode) {
    char path[128], line[1024];
    uint32_t count = 0;
    FILE *file;
    snprintf(path, sizeof path, "%s/kernel-1.traceg", folder);
    if (!(file = fopen(path, "r"))) fail_msg("%s cannot be read", path);
    while (fgets(line, sizeof line, file))
        count += strstr(line, opcode) && (strstr(line, " 16 1 0x") || strstr(line, " 16 2 0x"));
    fclose(file);
    return count;
}

/* Instructions that access rows of matrices have addresses. */
static void matrices_go_round(void **state) {
    int has_values;
    (void)state;
    for (has_values = 0; has_values < 2; has_values++) {
        go_round("matrix_rows", GPUMP_SOURCE_DIR "/tests/minigpu/round_trip/matrix_rows.yaml", has_values);
        assert_int_equal(rows_written("LDSM.16.M88.4 "), 24);
        assert_int_equal(rows_written("LDSM.16.MT88 "), 24);
        assert_int_equal(rows_written("STSM.16.M88.2 "), 24);
    }
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char path[128];
    uint32_t i;
    (void)state;
    for (i = 1; i <= 2; i++) {
        snprintf(path, sizeof path, "%s/kernel-%u.traceg", folder, i);
        (void)remove(path);
    }
    snprintf(path, sizeof path, "%s/kernelslist.g", folder);
    (void)remove(path);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel_goes_round), cmocka_unit_test(copies_go_round),
                                       cmocka_unit_test(matrices_go_round)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
