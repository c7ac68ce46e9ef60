/* tbsim: a GPU whose unit is the thread block, shared by many processes. tbsim has time, processes, the transfer engine
 * and block times. gpump decides which kernel gets which SM, and what a preemption costs. */
#ifndef TBSIM_H
#define TBSIM_H
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include "gpump_once.h"
#include "timeline.h"

enum { TB_NAME = 40, TB_PROCESSES = 32, TB_STREAMS = 8 };

/* ---- what runs ---- */

/* A kernel on one machine: what a launch of it is made of. */
typedef struct tb_kernel {
    char name[TB_NAME];
    uint32_t blocks, per_sm;                   /* grid; blocks on one SM at most */
    uint32_t registers, shared_bytes, threads; /* of one block */
    double alone_us;         /* how long a launch takes alone; block times are fitted to it; 0: block_us is given */
    double block_us;         /* mean time of a block */
    double printed_block_us; /* Table 5.2's time per block, 13 times too short; 0: none */
    /* filled by tb_kernel_prepare */
    uint32_t group; /* blocks of one SM that start and end together, simulated as one unit */
    uint32_t units, units_per_sm;
    uint32_t chunks;         /* a chunk is a block for the scheduler: units that follow each other in one slot */
    uint32_t *chunk_first;   /* chunks + 1 entries: first unit of each */
    uint64_t *unit_start;    /* units + 1 entries: sum of the unit times before it, cycles */
    uint64_t context_cycles; /* to save or restore one unit */
    uint64_t context_bytes;
} tb_kernel;

typedef enum tb_op_kind { TB_OP_CPU, TB_OP_TO_GPU, TB_OP_TO_CPU, TB_OP_LAUNCH, TB_OP_SYNC } tb_op_kind;
typedef struct tb_op {
    tb_op_kind kind;
    uint32_t kernel; /* LAUNCH: index into the kernel table */
    uint32_t stream; /* LAUNCH */
    double us;       /* CPU */
    uint64_t bytes;  /* bytes of a transfer */
} tb_op;

/* A program: the actions of its CPU thread. Launches are asynchronous; transfers wait for all earlier launches. */
typedef struct tb_application {
    char name[TB_NAME];
    tb_op *ops;
    uint32_t op_count, streams;
    uint32_t class1, class2; /* Table 5.2: 0 SHORT, 1 MEDIUM, 2 LONG */
    double gpu_us;           /* sum of its kernels alone */
} tb_application;

typedef struct tb_process {
    char name[TB_NAME];
    uint32_t application;
    uint32_t priority, weight;
    double start_us;
    uint32_t repeat; /* runs; 0: it repeats until every process has run min_runs times */
} tb_process;

typedef struct tb_workload {
    tb_process processes[TB_PROCESSES];
    uint32_t count;
    uint32_t uses_table; /* 1: a process names a benchmark */
} tb_workload;

/* ---- machine and options ---- */
typedef struct tb_machine {
    gpump_gpu gpu;
    char preset[TB_NAME]; /* its name */
    double variation;     /* block times spread evenly over mean x (1 - v) to (1 + v); default 0.2 (assumed) */
    double setup_us;      /* setting an SM up for a kernel; default 1 (assumed) */
    double dispatch_us;   /* from a launch, or the end of the previous command of its stream, until the engine has it;
                             default 1 (assumed) */
    double pcie_gb_per_s; /* 16: Table 5.1's 32 lanes x 500 MHz, one byte each */
    uint32_t burst_bytes; /* 4096: Table 5.1 */
    uint32_t
        launches_per_wait; /* Table 5.2's applications wait for the GPU after so many launches; default 4 (assumed) */
    int exact;             /* 1: every block on its own, no units or chunks */
    int printed_times;     /* 1: Table 5.2's block times as printed */
} tb_machine;

/* Ends every run soon, with an error. A signal handler may call it. */
void tb_stop(void);
/* 1: tb_stop was called, in this thread or another one. */
int tb_stops(void);

typedef struct tb_options {
    const gpump_scheduler_policy *policy;
    uint32_t mechanism;    /* gpump_scheduler_config.technique */
    int transfer_priority; /* the transfer engine takes the highest priority first (NPQ); 0: FCFS */
    uint32_t min_runs;     /* default 3 (5.3.1) */
    /* A process starves, which is an error, when a run takes more than so many times its time alone, times the number
     * of processes; 0: it may wait for ever. Default 100. */
    uint32_t starvation_times;
    uint64_t slice_us;      /* time_slice; 0: the preset's */
    double limit_us;        /* the run ends there at the latest; 0: no limit */
    double select_limit_us; /* mechanism select: the deadline, default 15 */
    int select_flush;       /* 1: kernels may be flushed */
    int use_sm;             /* 1: every SM is a gpump_sm, which must agree with the timing used here */
    double command_us[3];   /* gpump_scheduler_config.command_least_cycles, _spread_ and _mean_, in us; default 0 */
    uint32_t launch_ahead, launch_refill; /* of gpump_scheduler_config; default 0 */
    /* Called when a process begins its op-th action, at `us`; op == op_count: its run ends. NULL: not called. */
    void (*reached)(void *user, uint32_t process, uint32_t op, double us);
    void *user;
    timeline *timeline; /* NULL: no timeline. A new one from timeline_open, which tb_run fills and closes */
} tb_options;

/* Data that all runs on one machine share. Read-only once made. */
typedef struct tb_library {
    tb_machine machine;
    tb_kernel *kernels;
    uint32_t kernel_count;
    tb_application *applications;
    uint32_t application_count;
    uint64_t *alone; /* per application: cycles of one run alone; 0: not measured */
} tb_library;

/* ---- results ---- */
typedef struct tb_process_result {
    uint64_t runs, total_cycles; /* completed runs, and the sum of their turnaround times */
    uint64_t first_cycles;       /* turnaround of the first */
    uint64_t finished_at;        /* end of the last completed run */
} tb_process_result;
typedef struct tb_result {
    tb_process_result processes[TB_PROCESSES];
    uint64_t cycles; /* simulated time */
    uint64_t events;
    uint64_t busy_cycles;                                  /* SM cycles in which blocks made progress */
    uint64_t preempt_count, preempt_cycles, preempt_worst; /* from PREEMPT to the SM's next setup */
    uint64_t transfers_passed;                             /* transfers that the one chosen did not wait for */
    uint64_t cost_wrong;                                   /* use_sm: times at which the gpump_sm disagreed */
    gpump_scheduler_statistics statistics;
    char error[400]; /* empty when all went well */
} tb_result;

/* ---- library.c: kernels and applications ---- */
/* Sets the defaults of a machine. Returns 0, or -1 when there is no such preset. */
int tb_machine_preset(tb_machine *machine, const char *preset);
/* Reads Table 5.2, scales it to the machine and fits block times. class_end: 0 low, 1 middle, 2 high end of each
 * application's class; 3: kernels only. Returns NULL with a sentence in `error` when the file is no such table. */
tb_library *tb_library_tanasic(const tb_machine *machine, const char *path, int class_end, char *error,
                               size_t error_bytes);
void tb_library_free(tb_library *library);
/* Prepares a kernel for a machine: units, chunks, times. Fits block times when alone_us is given. Returns 0, or -1 when
 * memory is out. */
int tb_kernel_prepare(tb_kernel *kernel, const tb_machine *machine);
/* Frees what tb_kernel_prepare has filled. */
void tb_kernel_free(tb_kernel *kernel);
/* Returns the cycles that one launch of a kernel takes alone. */
uint64_t tb_kernel_alone(const tb_machine *machine, const tb_kernel *kernel);
/* Measures every application alone. Called once, after all applications have been added. */
int tb_library_measure(tb_library *library);
uint64_t tb_cycles(const tb_machine *machine, double us);
double tb_us(const tb_machine *machine, uint64_t cycles);
extern const char *const tb_class_names[3];

/* ---- sim.c ---- */
/* Runs a workload. Returns 0; -1 with result->error. */
int tb_run(const tb_library *library, const tb_workload *workload, const tb_options *options, tb_result *result);
void tb_options_default(tb_options *options);
/* The baseline of Tanasic 2.2: the GPU switches "to another context" once all commands of one context are done. */
extern const gpump_scheduler_policy tb_fcfs_context;
/* Returns the policy of a name, tb_fcfs_context or one of policies.h, or NULL. Returns the name of the index-th policy;
 * NULL past the last. */
const gpump_scheduler_policy *tb_find_policy(const char *name);
/* Returns why tbsim has no policy of a name that other hosts have, with the remedy; NULL: no reason. */
const char *tb_policy_refusal(const char *name);
const char *tb_policy_name(uint32_t index);
/* Returns how many processes have no completed run, as --until may cause. */
uint32_t tb_unended(const tb_workload *workload, const tb_result *result);
/* Sets the metrics of a run against the applications alone. A process without a completed run counts with its time so
 * far, so that they mean nothing then. */
int tb_metrics(const tb_library *library, const tb_workload *workload, const tb_result *result, gpump_metrics *metrics,
               double *ntt);

/* ---- sweep.c ---- */
/* Draws the number-th workload of `count` processes. The first process is benchmark number mod 10, with priority 1 when
 * prioritised. The workload is the same for every policy, mechanism and number of threads. */
void tb_random_workload(const tb_library *library, uint32_t count, uint32_t number, uint64_t seed, int prioritised,
                        tb_workload *workload);
typedef struct tb_job {
    uint32_t count, number;
    int prioritised;
    uint32_t prioritised_runs; /* runs of the first process, after which it ends; 0: it repeats */
    const tb_library *library;
    tb_options options;
    uint64_t seed;
    tb_workload workload; /* drawn */
    tb_result result;
} tb_job;
/* Runs jobs on `threads` threads (0: one per core). Results do not depend on the number of threads. shows: 1 prints the
 * progress on standard error. Returns the number of failed jobs. */
uint32_t tb_run_jobs(tb_job *jobs, uint32_t count, uint32_t threads, int shows);

/* ---- evaluation.c: Tanasic 5.3 ---- */
typedef struct tb_evaluation tb_evaluation;
/* The schemes of 5.3: the base is FCFS, kernel by kernel or context by context; priority schemes have a prioritised
 * process and transfers by priority. */
enum {
    TB_FCFS,
    TB_FCFS_CONTEXT,
    TB_NPQ,
    TB_PPQ_SWITCH,
    TB_PPQ_DRAIN,
    TB_SHARED_SWITCH,
    TB_SHARED_DRAIN,
    TB_DSS_SWITCH,
    TB_DSS_DRAIN,
    TB_SCHEMES
};
typedef struct tb_sample {
    double mean, half_width; /* of the 95 % confidence interval */
    uint32_t count;
} tb_sample;
/* Makes an evaluation. Every scheme runs when it is first asked for, on `workloads` random workloads per number of
 * processes. base: TB_FCFS or TB_FCFS_CONTEXT, the baseline of gains. */
tb_evaluation *tb_evaluation_create(const tb_library *library, int base, uint32_t workloads, uint32_t threads,
                                    int progress);
void tb_evaluation_free(tb_evaluation *evaluation);
/* Sets the turnaround gain NTT(base) / NTT(scheme). Priority schemes: of the prioritised process, whose class 1 is
 * klass (-1: any). Sharing schemes: of every process whose class 2 is klass. count: 2, 4, 6 or 8 processes. Returns 0,
 * or -1 when a run failed. */
int tb_turnaround_gain(tb_evaluation *evaluation, int scheme, uint32_t count, int klass, tb_sample *sample);
/* Sets the throughput lost, STP(base) / STP(scheme). */
int tb_throughput_lost(tb_evaluation *evaluation, int base, int scheme, uint32_t count, tb_sample *sample);
/* Sets the fairness gained, fairness(scheme) / fairness(base): the mean over workloads. *of_means, unless NULL, is the
 * ratio of the two mean fairnesses. */
int tb_fairness_gain(tb_evaluation *evaluation, int scheme, uint32_t count, tb_sample *sample, double *of_means);
/* Prints all of 5.3 as a table. Returns 0; -1 when a run failed. */
int tb_evaluation_print(tb_evaluation *evaluation, FILE *out);

/* ---- input.c ---- */
/* Reads a workload file (YAML; README.md has the keys) over the given machine and options, and makes its library. The
 * table of the benchmarks is at `table`. Returns 0, or 2 after a message on standard error that names file, line and
 * column. */
int tb_read_workload(const char *path, const char *table, tb_machine *machine, int class_end, tb_library **library,
                     tb_workload *workload, tb_options *options);
/* Returns how an SM is vacated, by name: a technique that does not rewind, or "select"; GPUMP_NONE for an unknown
 * name. */
uint32_t tb_mechanism(const char *name);
const char *tb_mechanism_name(uint32_t mechanism);

/* ---- report.c ---- */
void tb_report_text(FILE *out, const tb_library *library, const tb_workload *workload, const tb_options *options,
                    const tb_result *result);
void tb_report_csv(FILE *out, const tb_library *library, const tb_workload *workload, const tb_options *options,
                   const tb_result *result);
/* Writes the page of a run whose options have a timeline. Its record has `command` and the workload's `file`. Returns
 * 0, or -1 with errno. */
int tb_write_page(const char *path, const char *command, const char *file, const tb_library *library,
                  const tb_workload *workload, const tb_options *options, const tb_result *result);
#endif
