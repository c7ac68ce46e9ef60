/* bench/everything_at_once: page faults, a preemption and circuit errors in one run, by four mechanisms, as CSV.
 *
 * Each run has all pages absent at first, 2 us per page, and all SMs emptied at cycle 3,000. `cycles` are those until
 * the kernel has ended, and `times` is over the undisturbed kernel without regions.
 *
 *   restart         regions of 32: faults, errors (Razor II) and the preemption (rewind) go back by the same record
 *   restart+switch  the same, but the preemption saves and restores
 *   replay queue    operand log of 16 KB, switch; a block with an error starts anew
 *   checkpoint      faulted accesses wait, switch; all blocks are saved now and then, and a block with an error goes
 *                   back to its last checkpoint
 *   flush           faulted accesses wait, flush; a block with an error starts anew
 *
 * All is measured, and results are checked, but for what errors cost the last three: that is calculated from the
 * measured run without errors (gpump_restart_expected). It is too good for them: a block is taken to be able to start
 * anew or to go back at any time, detection costs nothing, and checkpoints come at the best of ten intervals, each for
 * the measured time of a save and a restore. Times above 1,000 are left empty: such a run does not end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "output.h"
#include "preemption/context_forms.h"
#include "analysis/analysis.h"
#include "tools/check.h"

enum { RATES = 6, KERNELS = 3, INTERVALS = 10 };
static const double rates[RATES] = {0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
static const char *const kernels[KERNELS] = {"sgemm", "hotspot", "spmv"};

typedef enum answer { GOES_BACK, STARTS_ANEW, CHECKPOINTS } answer; /* to an error */
typedef struct mechanism {
    const char *name, *scheme;
    uint32_t technique, regions;
    answer answer;
} mechanism;
static const mechanism mechanisms[] = {
    {"restart", "regions", GPUMP_TECHNIQUE_REWIND, 32, GOES_BACK},
    {"restart+switch", "regions", GPUMP_TECHNIQUE_SWITCH, 32, GOES_BACK},
    {"replay queue", "log16", GPUMP_TECHNIQUE_SWITCH, REGIONS_NONE, STARTS_ANEW},
    {"checkpoint", "stall", GPUMP_TECHNIQUE_SWITCH, REGIONS_NONE, CHECKPOINTS},
    {"flush", "stall", GPUMP_TECHNIQUE_FLUSH, REGIONS_NONE, STARTS_ANEW},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

typedef struct measured {
    uint64_t cycles;
    uint32_t block_instructions; /* warp instructions of a block, on average */
} measured;

/* Runs a kernel's small launch; by no mechanism: undisturbed. */
static measured run(const char *name, const mechanism *how, double rate, int preempts) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    kernel_check check[8];
    launch_file launch;
    measured result;
    machine *m;
    snprintf(path, sizeof path, "%s/kernels/%s/small.yaml", MINIGPU_SOURCE_DIR, name);
    machine_options_default(&options);
    options.context_form = CONTEXT_LIVE;
    if (how) {
        options.faults.scheme = how->scheme;
        options.absent = "all";
        options.fault_service_ns = 2000;
        options.regions = how->regions;
        options.technique = how->technique;
        if (preempts) options.preempt_cycle = 3000;
    }
    if (rate > 0) {
        options.errors.detection = "razor2";
        options.errors.rate_q32 = (uint64_t)(rate * 4294967296.0);
    }
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error))) {
        fprintf(stderr, "everything_at_once: %s\n", error);
        exit(2);
    }
    if (machine_run(m, NEVER) != 1 || check_results(m, &launch, check) != 0) {
        fprintf(stderr, "everything_at_once: %s, %s: %s\n", name, how ? how->name : "undisturbed",
                m->failed ? m->error : "other results");
        exit(2);
    }
    result.cycles = m->now;
    result.block_instructions = (uint32_t)(m->kernels[0].warp_instructions / m->kernels[0].blocks);
    machine_free(m);
    launch_file_free(&launch);
    return result;
}

/* How many times as much is executed when `instructions` are executed again until none of them errs. */
static double again(double instructions, double rate) {
    const uint32_t n = instructions < 1 ? 1 : (uint32_t)instructions;
    return (double)gpump_restart_expected(n, (uint32_t)(rate * 4294967296.0), 0) / 65536 / n;
}

/* Cycles with errors, calculated. `save`: of saving and restoring all blocks. */
static double with_errors(const mechanism *how, const measured *without, double rate, double save) {
    const double cycles = (double)without->cycles;
    double best = INFINITY;
    uint32_t i;
    if (how->answer == STARTS_ANEW) return cycles * again(without->block_instructions, rate);
    for (i = 0; i < INTERVALS; i++) {
        const double checkpoints = (double)(UINT64_C(1) << i) - 1; /* 0, 1, 3, ... 511 */
        const double total = cycles * again(without->block_instructions / (checkpoints + 1), rate) + checkpoints * save;
        if (total < best) best = total;
    }
    return best;
}

static void measure(const char *name, const mechanism *how, uint64_t undisturbed) {
    const measured faults = run(name, how, 0, 0), both = run(name, how, 0, 1);
    const double save = both.cycles > faults.cycles ? (double)(both.cycles - faults.cycles) : 0;
    uint32_t i;
    printf("%s,%s,faults,%llu,%.3f\n", name, how->name, (unsigned long long)faults.cycles,
           (double)faults.cycles / (double)undisturbed);
    for (i = 0; i < RATES; i++) {
        double cycles = (double)both.cycles;
        if (rates[i] > 0)
            cycles = how->answer == GOES_BACK ? (double)run(name, how, rates[i], 1).cycles
                                              : with_errors(how, &both, rates[i], save);
        printf("%s,%s,%g,", name, how->name, rates[i]);
        if (cycles <= 1000 * (double)undisturbed) printf("%.0f,%.3f", cycles, cycles / (double)undisturbed);
        printf(cycles <= 1000 * (double)undisturbed ? "\n" : ",\n");
    }
}

int main(int argc, char **argv) {
    uint32_t k, i;
    if (argc > 1) {
        const int help = !strcmp(argv[1], "--help");
        fputs("usage: everything_at_once: faults, a preemption and errors in one run, by four mechanisms, as CSV\n",
              help ? stdout : stderr);
        return help ? output_status(0, "everything_at_once") : 2;
    }
    printf("kernel,mechanism,errors,cycles,times\n");
    for (k = 0; k < KERNELS; k++) {
        const measured undisturbed = run(kernels[k], NULL, 0, 0);
        printf("%s,undisturbed,0,%llu,1.000\n", kernels[k], (unsigned long long)undisturbed.cycles);
        for (i = 0; i < MECHANISMS; i++) measure(kernels[k], &mechanisms[i], undisturbed.cycles);
    }
    return output_status(0, "everything_at_once");
}
