/* Runs a kernel of examples/minigpu/kernels on igpu4 (Menon 5.1) with idempotent regions of a given form, for
 * rows_program.c and region_cuts.c. */
#ifndef BENCH_REGION_RUNS_H
#define BENCH_REGION_RUNS_H
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "preemption/context_forms.h"
#include "machine/machine.h"
#include "ptx/ptx_reader.h"
#include "parts/restart/restart.h"
#include "parts/shared_log/shared_log.h"
#include "tools/recovery.h"

enum { REGION_KERNELS = 128, REGION_LOG = 4000000 };

typedef struct region_way {
    uint32_t regions, spilling;         /* as in machine_options */
    uint32_t shared_restart;            /* as in machine_options */
    const gpump_regions_config *config; /* NULL: the preset */
    int published;                /* 1: cuts as the published lengths suggest (region_published); config is NULL then */
    int lengths;                  /* 1: measure the regions, not only the time */
    const errors_options *errors; /* NULL: no errors */
    int (*run)(machine *m, void *user); /* NULL: machine_run to the end */
    void *user;
} region_way;

typedef struct region_run {
    char error[LAUNCH_ERROR_BYTES];
    gpump_restart_statistics recovery; /* with errors */
    uint64_t cycles, instructions, regions;
    double median_length, mean_length; /* of regions that ended, in instructions */
    double median_live;                /* 32-bit registers, of boundaries that were crossed */
    uint32_t boundaries;               /* in the program */
    shared_log_statistics shared;      /* with shared memory that is restored */
    uint32_t shared_bytes, blocks;     /* bytes of shared memory per block as written; the most blocks per SM */
} region_run;

static inline int region_by_name(const void *a, const void *b) { return strcmp((const char *)a, (const char *)b); }
/* Fills names with the sorted kernel folders, without Kim's two figures, which are for page checks. */
static inline uint32_t region_kernels(char names[REGION_KERNELS][64]) {
    DIR *folder = opendir(MINIGPU_SOURCE_DIR "/kernels");
    struct dirent *entry;
    uint32_t count = 0;
    while (folder && (entry = readdir(folder)) && count < REGION_KERNELS) {
        char path[1024];
        if (!strcmp(entry->d_name, "array_walk") || !strcmp(entry->d_name, "pointer_chase")) continue;
        if (entry->d_name[0] == '.' || strlen(entry->d_name) >= 64) continue;
        snprintf(path, sizeof path, "%s/kernels/%s/small.yaml", MINIGPU_SOURCE_DIR, entry->d_name);
        if (access(path, R_OK) == 0) snprintf(names[count++], 64, "%s", entry->d_name);
    }
    if (folder) closedir(folder);
    qsort(names, count, sizeof *names, region_by_name);
    return count;
}

static inline int region_by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
static inline double region_median(double *values, size_t count) {
    if (!count) return NAN;
    qsort(values, count, sizeof *values, region_by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Returns the 32-bit registers that are live at a boundary of an undiverged warp. */
static inline double region_live_at(const machine *m, uint32_t pc) {
    static warp there;
    uint64_t live[CONTEXT_LIVE_WORDS];
    memset(&there, 0, sizeof there);
    there.stack.depth = 1;
    there.stack.entries[0].pc = pc;
    there.stack.entries[0].reconvergence = SIMT_NEVER;
    there.barrier = NONE;
    context_live(m->views[0], &m->kernels[0], &there, live);
    return gpump_bits_count(live, CONTEXT_LIVE_WORDS);
}

static inline void region_measure(const machine *m, const region_log *log, region_run *out) {
    const kernel_program *program = m->kernels[0].program;
    double *values = (double *)malloc((log->count + 1) * sizeof *values),
           *live = (double *)malloc((program->count + 1u) * sizeof *live);
    uint64_t i, n = 0;
    if (!values || !live || !m->views || !m->views[0])
        snprintf(out->error, sizeof out->error, "out of memory");
    else {
        for (i = 0; i < program->count; i++)
            if (program->instructions[i].opcode == OPCODE_BOUNDARY)
                live[i] = region_live_at(m, (uint32_t)i), out->boundaries++;
        for (i = 0; i < log->count; i++) values[i] = (double)log->entries[i].instructions;
        out->regions = log->count + log->dropped;
        for (i = 0; i < log->count; i++) out->mean_length += values[i] / (double)log->count;
        out->median_length = region_median(values, log->count);
        for (i = 0; i < log->count; i++)
            if (log->entries[i].pc != NONE && program->instructions[log->entries[i].pc].opcode == OPCODE_BOUNDARY)
                values[n++] = live[log->entries[i].pc];
        out->median_live = n ? region_median(values, n) : 0;
    }
    free(values);
    free(live);
}

/* Counts antidependences through global memory, and not those through shared memory. user: the kernel as written. */
static inline int region_both_global(void *user, uint32_t read, uint32_t write) {
    const kernel_program *kernel = (const kernel_program *)user;
    return kernel->instructions[read].space == SPACE_GLOBAL && kernel->instructions[write].space == SPACE_GLOBAL;
}
/* Makes cuts as the published lengths suggest: for global memory only, each thread by itself, none at barriers and
 * atomics. These cuts are unsafe: a restarted warp would read what it has overwritten in shared memory. */
static inline int region_published(gpump_regions_config *config, const kernel_program *kernel) {
    if (!kernel || gpump_preset(&gpump_regions_component, config, "igpu", NULL) != GPUMP_OK) return -1;
    config->without = GPUMP_REGIONS_WITHOUT_BARRIERS | GPUMP_REGIONS_WITHOUT_ATOMICS;
    config->unit = GPUMP_UNIT_THREAD;
    config->may_clobber = region_both_global;
    config->user = (void *)kernel; /* only read */
    return 0;
}

static inline void region_run_kernel(const char *name, int is_short, const region_way *way, region_run *out) {
    static region_log_entry *entries;
    char path[1024];
    machine_options options;
    launch_file launch;
    gpump_regions_config published;
    ptx_module module;
    ptx_error wrong;
    machine *m;
    region_log log;
    gpump_occupancy occupancy;
    memset(out, 0, sizeof *out);
    memset(&module, 0, sizeof module);
    snprintf(path, sizeof path, "%s/kernels/%.63s/%s.yaml", MINIGPU_SOURCE_DIR, name, is_short ? "small" : "launch");
    if (launch_file_read(&launch, path, out->error)) return;
    machine_options_default(&options);
    options.gpu = "igpu4";
    options.regions = way->regions;
    options.spilling = way->spilling;
    options.shared_restart = way->shared_restart;
    if (way->errors) options.errors = *way->errors;
    options.regions_config = way->published ? &published : way->config;
    if (way->published && (ptx_read_file(launch.kernels[0].ptx_path, &module, &wrong) ||
                           region_published(&published, ptx_find_kernel(&module, launch.kernels[0].name)))) {
        snprintf(out->error, sizeof out->error, "%s is not read again", name);
        ptx_free(&module);
        launch_file_free(&launch);
        return;
    }
    options.context_form = CONTEXT_LIVE; /* nothing is preempted; the option makes the live sets available */
    if (!(m = machine_build(&launch, &options, out->error))) {
        ptx_free(&module);
        launch_file_free(&launch);
        return;
    }
    memset(&log, 0, sizeof log);
    if (!entries) entries = (region_log_entry *)malloc(REGION_LOG * sizeof *entries);
    log.entries = entries;
    log.capacity = entries ? REGION_LOG : 0;
    if (way->lengths) m->region_log = &log;
    if ((way->run ? way->run(m, way->user) : machine_run(m, NEVER)) != 1)
        snprintf(out->error, sizeof out->error, "%s", m->failed ? m->error : "its run did not end");
    out->cycles = m->now;
    out->instructions = m->kernels[0].warp_instructions;
    out->shared_bytes = m->kernels[0].shared_bytes;
    if (gpump_gpu_occupancy(&m->config.gpu, &m->kernels[0].need, &occupancy, NULL) == GPUMP_OK)
        out->blocks = occupancy.blocks;
    shared_log_sum(m, &out->shared);
    recovery_statistics(m, &out->recovery);
    if (way->lengths && !out->error[0]) region_measure(m, &log, out);
    machine_free(m);
    ptx_free(&module);
    launch_file_free(&launch);
}
#endif
