/* machine: builds a mini-GPU from a launch file, runs it, and says what came of it. Whoever uses the mini-GPU includes
 * this; its own files include state/state.h. */
#ifndef MINIGPU_MACHINE_H
#define MINIGPU_MACHINE_H

#include "parts/corun/corun_options.h"
#include "parts/errors/errors.h"
#include "parts/faults/faults.h"
#include "state/state.h"

#define THREADS_MAX 64u

/* What machine_build needs beside the launch file. */
typedef struct machine_options {
    const char *gpu;         /* preset; NULL: the launch file's, or gtx480_shieh */
    const char *config;      /* "NAME=VALUE,..." of config.h, after the launch file's; NULL: none */
    uint64_t preempt_cycle;  /* NEVER: none */
    uint32_t technique;      /* gpump_technique; GPUMP_TECHNIQUES: the launch file's, or switch */
    uint32_t skip_idle;      /* 1, or 0 to tick every cycle */
    uint32_t threads;        /* SMs advance side by side on so many (window.h), 1 to THREADS_MAX; 0: in turn */
    uint32_t context_form;   /* context_form: how registers are saved */
    uint32_t point_interval; /* K: blocks that are switched stop at preemption points, instructions that the compiler
                                puts in, one for every K others outside loops; 0: they stop anywhere */
    uint32_t regions;  /* idempotent regions: REGIONS_NONE, REGIONS_SPARSE, or N: short ones of at most N instructions
                          too (analysis.h) */
    uint32_t spilling; /* with regions, what sparse boundaries store: SPILLING_NONE, _ALL or _CHANGED (analysis.h) */
    uint32_t shared_restart; /* with regions, how shared memory goes back: a shared_restart (shared_log.h) */
    const gpump_regions_config *regions_config; /* experiments: other regions than the presets'; NULL */
    uint32_t page_checks;                       /* page_check_form (analysis.h): the compiler puts checks in; 0: none */
    const char
        *absent; /* pages that are absent at first: "all", or names of buffers with commas between them; NULL: none */
    uint32_t in_place; /* 1: a switch leaves registers and shared memory in place that the next kernel does not need
                          (Lin 2.3.1) */
    uint32_t choose;   /* 1: with points, each warp stops now or runs on, whichever is estimated to be over earlier */
    const gpump_victim_policy *policy; /* NULL: none, `technique` */
    uint64_t limit_cycles;             /* for the policy; NEVER: none */
    const char *schedule;              /* a policy of gpump_scheduler_find; NULL: none */
    uint32_t mechanism;                /* gpump_scheduler_mechanism, for the schedule */
    uint64_t slice_ns;                 /* for the schedule time_slice; 0: 1 ms */
    uint32_t switch_stalls;            /* 1: the model of Shieh 4.1 (config.h) */
    faults_options faults;             /* what becomes of accesses to absent pages */
    errors_options errors;             /* what goes wrong in the pipeline */
    uint64_t fault_service_ns;         /* how long a page takes to come; 0: config.page_service_cycles */
    const char *duet;                  /* PRESET[:EXTRA[:PORT]] (duet.h); NULL: off */
    corun_options sharing;             /* kernels share SMs as a group */
} machine_options;
void machine_options_default(machine_options *options);

/* Builds a machine for a launch file: reads its PTX, lays out device memory, checks that every kernel fits. Returns
 * NULL with the reason in error (file:line:column: ...). The launch file must outlive the machine. */
machine *machine_build(launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]);
void machine_free(machine *m);
/* Runs until every kernel is done, or until cycle `until`; with options.threads, until the window ends in which that
 * lies. Returns 1 when done, 0 when it stopped there, -1 on an error (m->error). */
int machine_run(machine *m, uint64_t until);
/* Returns a hash of the state: memory, registers, shared memory, caches, gpump's blocks, cycle. */
uint64_t machine_hash(const machine *m);
/* Returns a hash of the launch file's buffers and of what the kernels have printed. */
uint64_t machine_result_hash(const machine *m, const launch_file *launch);
/* Writes who waits for what. */
void machine_dump(const machine *m, void *file);

#endif
