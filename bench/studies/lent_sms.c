/* bench/lent_sms [--workloads N] [--seed N]: the gain of lending the SMs of a kernel that waits for pages (scheduling
 * policy dss_fault) over dss, as CSV.
 *
 * A workload is two processes of one kernel each on the machine of Tanasic's Table 6.1. The pages of the first process
 * are on the CPU and come over NVLink; those of the second are on the GPU. Faulted warps leave the pipeline (scheme
 * log16), and blocks leave an SM by a switch. Both kernels are drawn by seed, without two equal ones. Every workload
 * runs under both policies, and each of its kernels alone. Both runs of a workload must leave the same memory.
 *
 * antt, stp: dss_fault's average normalised turnaround time and system throughput, divided by those of dss; the last
 * row has their means with 95% intervals (resample.h). Source: Tanasic 7.2.3 names the policy; he has no numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpump_once.h"
#include "machine/machine.h"
#include "options.h"
#include "output.h"
#include "resample.h"
#include "tools/victim_experiment.h"

enum { WORKLOADS_MAX = 64, FAULTS = 0, COMPUTES = 1 };
static const char *const kernels[] = {"bfs_1",        "btree_find_k", "cfd_compute_flux",
                                      "convolution",  "cutcp",        "dwt2d_fdwt53",
                                      "fdtd_1",       "gemm",         "heartwall",
                                      "histo",        "histogram",    "hotspot",
                                      "kmeans_point", "lbm",          "lud_internal",
                                      "mm2",          "mri_q",        "pathfinder",
                                      "sad_1",        "sgemm",        "spmv",
                                      "srad_1",       "stencil",      "streamcluster"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

typedef struct outcome {
    double cycles[2]; /* until the end of each kernel */
    uint64_t hash;
} outcome;

static void die(const char *kernel, const char *error) {
    fprintf(stderr, "lent_sms: %s: %s\n", kernel, error);
    exit(1);
}

/* Reads a kernel's launch, its pages on the CPU or on the GPU. */
static void read_launch(launch_file *launch, const char *kernel, uint32_t owner) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    snprintf(path, sizeof path, "%s/kernels/%s/launch.yaml", MINIGPU_SOURCE_DIR, kernel);
    if (launch_file_read(launch, path, error)) die(kernel, error);
    for (i = 0; i < launch->buffer_count; i++) launch->buffers[i].owner = owner;
}

/* Runs the kernels in `mask` (FAULTS, COMPUTES) to their ends. */
static outcome run(const char *const names[2], uint32_t mask, const char *policy) {
    static const uint32_t owners[] = {GPUMP_FAULT_CPU, GPUMP_FAULT_GPU};
    char error[LAUNCH_ERROR_BYTES];
    const uint32_t first = mask & 1u << FAULTS ? FAULTS : COMPUTES;
    machine_options options;
    launch_file launch, second;
    outcome out = {{0, 0}, 0};
    machine *m;
    uint32_t i;
    machine_options_default(&options);
    options.gpu = "table61";
    options.faults.scheme = "log16";
    options.faults.link = "nvlink";
    options.schedule = policy;
    options.vacate = GPUMP_TECHNIQUE_SWITCH;
    read_launch(&launch, names[first], owners[first]);
    if (mask == 3) {
        read_launch(&second, names[COMPUTES], owners[COMPUTES]);
        if (victim_experiment_append(&launch, &second)) die(names[COMPUTES], "out of memory");
    }
    for (i = 0; i < launch.kernel_count; i++) launch.kernels[i].priority = 0, launch.kernels[i].arrival_cycle = 0;
    for (i = 0; i < launch.process_count; i++) launch.processes[i].priority = 0;
    if (!(m = machine_build(&launch, &options, error))) die(names[first], error);
    if (machine_run(m, NEVER) != 1) die(names[first], m->error);
    for (i = 0; i < launch.kernel_count; i++) {
        const uint32_t who = first + launch.kernels[i].process;
        if (out.cycles[who] < (double)m->kernels[i].end_cycle) out.cycles[who] = (double)m->kernels[i].end_cycle;
    }
    out.hash = machine_result_hash(m, &launch);
    machine_free(m);
    launch_file_free(&launch);
    return out;
}

/* Runs one workload, prints its row and sets the two ratios. */
static void measure(const char *const names[2], double *antt, double *stp) {
    const outcome faults = run(names, 1u << FAULTS, "dss"), computes = run(names, 1u << COMPUTES, "dss"),
                  dss = run(names, 3, "dss"), lent = run(names, 3, "dss_fault");
    const double alone[2] = {faults.cycles[FAULTS], computes.cycles[COMPUTES]};
    if (dss.hash != lent.hash) die(names[FAULTS], "the two policies leave different memory");
    *antt =
        (lent.cycles[0] / alone[0] + lent.cycles[1] / alone[1]) / (dss.cycles[0] / alone[0] + dss.cycles[1] / alone[1]);
    *stp =
        (alone[0] / lent.cycles[0] + alone[1] / lent.cycles[1]) / (alone[0] / dss.cycles[0] + alone[1] / dss.cycles[1]);
    printf("%s,%s,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.3f,%.3f\n", names[FAULTS], names[COMPUTES], alone[0], alone[1],
           dss.cycles[0], dss.cycles[1], lent.cycles[0], lent.cycles[1], *antt, *stp);
    fflush(stdout);
}

int main(int argc, char **argv) {
    double antt[WORKLOADS_MAX], stp[WORKLOADS_MAX], low[2], high[2], means[2];
    uint64_t random = 1, workloads = 20, i;
    int at;
    for (at = 1; at < argc; at++) {
        if (at + 1 < argc && !strcmp(argv[at], "--workloads")) {
            if (option_number("--workloads", argv[++at], 1, WORKLOADS_MAX, &workloads)) return 2;
        } else if (at + 1 < argc && !strcmp(argv[at], "--seed")) {
            if (option_number("--seed", argv[++at], 0, UINT64_MAX, &random)) return 2;
        } else {
            fprintf(strcmp(argv[at], "--help") ? stderr : stdout,
                    "usage: lent_sms [--workloads N] [--seed N]: the gain of dss_fault over dss, as CSV; N workloads "
                    "of two "
                    "kernels, 1 to %d (20)\n",
                    WORKLOADS_MAX);
            return strcmp(argv[at], "--help") ? 2 : output_status(0, "lent_sms");
        }
    }
    puts("faults,computes,faults_alone,computes_alone,faults_dss,computes_dss,faults_lent,computes_lent,antt,stp");
    for (i = 0; i < workloads; i++) {
        const uint32_t faults = gpump_random_below(&random, KERNELS), other = gpump_random_below(&random, KERNELS - 1);
        const char *const names[2] = {kernels[faults], kernels[other + (other >= faults)]};
        measure(names, &antt[i], &stp[i]);
    }
    means[0] = resampled_mean(antt, (uint32_t)workloads, &low[0], &high[0]);
    means[1] = resampled_mean(stp, (uint32_t)workloads, &low[1], &high[1]);
    printf("mean,,,,,,,,%.3f (%.3f to %.3f),%.3f (%.3f to %.3f)\n", means[0], low[0], high[0], means[1], low[1],
           high[1]);
    return output_status(0, "lent_sms");
}
