/* tbsim run|sweep|merge|evaluate|machines: see README.md. Exit status: 0 done, 1 a run failed, 2 bad input or usage. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "csv_merge.h"
#include "output.h"
#include "policies.h"

static char words[1024] = "tbsim"; /* the command line, for the page */

/* ---- run ---- */

/* Returns why an option has no effect on a workload that names no benchmark; NULL: none of these was given. */
static const char *for_benchmarks(const arguments *a) {
    arguments plain;
    arguments_default(&plain);
    return a->data != plain.data ? "--data has no effect, because no process of this file names a benchmark:"
           : a->class_end != plain.class_end
               ? "--class-end has no effect, because no process of this file names a benchmark:"
           : a->machine.launches_per_wait != plain.machine.launches_per_wait
               ? "--launches-per-wait has no effect, because no process of this file names a benchmark:"
           : a->machine.printed_times != plain.machine.printed_times
               ? "--printed-times has no effect, because no process of this file names a benchmark:"
               : NULL;
}

/* Says that metrics mean nothing where processes have ended no run. */
static void note_unended(uint32_t unended, uint32_t processes) {
    if (unended && !options_quiet())
        fprintf(
            stderr,
            "tbsim: %u of %u processes have ended no run: what the table has as their turnaround is the time so far, "
            "and ntt, antt, stp and fairness mean nothing\n",
            unended, processes);
}

/* Reports the options that no run could feel: no SM changed hands, no transfer went before an older one. */
static void note_no_effect(const arguments *a, const tb_options *options, uint64_t sms, uint64_t passed) {
    if (options_quiet()) return;
    if (a->has_mechanism && !sms)
        fprintf(stderr, "tbsim: no effect: --leave %s: no SM changed hands while it had blocks\n",
                tb_mechanism_name(options->mechanism));
    if (a->has_transfers && options->transfer_priority && !passed)
        fprintf(stderr, "tbsim: no effect: --transfers npq: no transfer passed another, which takes two that wait, "
                        "and priorities\n");
}

static int run_file(const arguments *given, const char *path, const char *command) {
    arguments a = *given;
    const char *why;
    tb_library *library;
    tb_workload workload;
    tb_result result;
    tb_options options = a.options;
    int status;
    if (output_is_input("tbsim", a.trace, path) || output_is_input("tbsim", a.html, path) ||
        output_is_output("tbsim", a.trace, a.html))
        return 2;
    status = tb_read_workload(path, a.data, &a.machine, (int)a.class_end, &library, &workload, &options);
    if (status) return status;
    if (!workload.uses_table && (why = for_benchmarks(&a)) != NULL) {
        tb_library_free(library);
        return option_misuse("run", why, path);
    }
    if (a.has_policy) options.policy = a.options.policy; /* options of the command line override the file */
    if (a.has_mechanism) options.mechanism = a.options.mechanism;
    if (a.has_transfers) options.transfer_priority = a.options.transfer_priority;
    if (a.has_limit) options.limit_us = a.options.limit_us;
    if ((a.trace || a.html) && !(options.timeline = timeline_open(a.machine.gpu.clock_khz, "block cycles"))) {
        tb_library_free(library);
        return fprintf(stderr, "tbsim: out of memory\n"), 1;
    }
    if (tb_run(library, &workload, &options, &result)) {
        fprintf(stderr, "tbsim: %s\n", result.error);
        status = 1;
    } else {
        if (a.csv)
            tb_report_csv(stdout, library, &workload, &options, &result);
        else
            tb_report_text(stdout, library, &workload, &options, &result);
        if (a.csv) note_unended(tb_unended(&workload, &result), workload.count);
        note_no_effect(&a, &options, result.statistics.preemptions, result.transfers_passed);
        if (options.use_sm) {
            printf("gpump_sm: %llu transfer times differ\n", (unsigned long long)result.cost_wrong);
            if (result.cost_wrong) status = 1;
        }
        if (a.trace && timeline_write_trace(options.timeline, a.trace))
            status = 2, output_cannot_open("tbsim", a.trace);
        if (a.html && tb_write_page(a.html, command, path, library, &workload, &options, &result))
            status = 2, output_cannot_open("tbsim", a.html);
    }
    timeline_free(options.timeline);
    tb_library_free(library);
    return status;
}

/* Returns 1 after a report: more launches at a time than a stream may have. */
static int refill_is_too_large(const arguments *a) {
    if (a->options.launch_refill <= a->options.launch_ahead + 1) return 0;
    fprintf(stderr,
            "tbsim: --launch-refill %u is more than a stream may have launched, which is the running kernel and "
            "--launch-ahead %u: give --launch-refill 0 to %u\n",
            a->options.launch_refill, a->options.launch_ahead, a->options.launch_ahead + 1);
    return 1;
}

static int run(const option_command *command, int argc, char **argv) {
    arguments a;
    int operands, status;
    arguments_default(&a);
    status = options_read(command, argc, argv, &a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if (!operands) return option_misuse("run", "run needs a FILE", NULL);
    if (operands > 1) return option_misuse("run", "run takes one FILE; one too many is", argv[2]);
    if (refill_is_too_large(&a)) return 2;
    return run_file(&a, argv[1], words);
}

/* ---- sweep ---- */

static void on_signal(int number) {
    (void)number;
    tb_stop();
}

/* Reports an interrupted sweep, which keeps its rows. Returns the exit status, 130 as in shells for Ctrl-C. */
static int interrupted(uint32_t done, uint32_t count, const char *out) {
    fprintf(stderr, "tbsim: interrupted; %u of %u workloads are in %s; --shard splits a sweep into parts\n", done,
            count, out ? out : "the output");
    return 130;
}

/* Reads the options of a command without operands. Returns OPTIONS_GO_ON or an exit status. */
static int read_options_only(const option_command *command, int argc, char **argv, arguments *a) {
    int operands, status;
    arguments_default(a);
    status = options_read(command, argc, argv, a, &operands);
    a->quiet = (uint32_t)options_quiet();
    if (status == OPTIONS_GO_ON && operands)
        return option_misuse(command->name, "this command takes options only, not", argv[1]);
    return status;
}

/* Makes the jobs of this shard. Returns their number. */
static uint32_t fill_jobs(tb_job *jobs, const arguments *a, tb_library *library) {
    uint32_t count = 0;
    for (uint32_t i = a->shard; i < a->workloads; i += a->shards) {
        tb_job *job = &jobs[count++];
        job->count = a->processes;
        job->number = i;
        job->prioritised = (int)a->prioritise;
        job->prioritised_runs = a->first_runs;
        job->library = library;
        job->options = a->options;
        job->seed = a->seed;
    }
    return count;
}

/* Writes the rows of a job. Returns 1, or 0 when it has none. */
static int write_job(FILE *out, const arguments *a, const tb_library *library, const tb_job *job) {
    gpump_metrics metrics;
    double ntt[TB_PROCESSES];
    if (*job->result.error && tb_stops()) return 0;
    if (*job->result.error) return fprintf(stderr, "tbsim: workload %u: %s\n", job->number, job->result.error), 0;
    if (tb_metrics(library, &job->workload, &job->result, &metrics, ntt)) return 0;
    for (uint32_t p = 0; p < job->workload.count; p++) {
        const tb_process *process = &job->workload.processes[p];
        const tb_application *application = &library->applications[process->application];
        const tb_process_result *r = &job->result.processes[p];
        fprintf(out, "%u,%u,%s,%s,%s,%u,%s,%s,%llu,%.3f,%.3f,%.6f,%.6f,%.6f,%.6f\n", job->number, p, application->name,
                tb_class_names[application->class1], tb_class_names[application->class2], process->priority,
                a->options.policy->name, tb_mechanism_name(a->options.mechanism), (unsigned long long)r->runs,
                tb_us(&library->machine, library->alone[process->application]),
                tb_us(&library->machine, r->runs ? r->total_cycles / r->runs : job->result.cycles), ntt[p],
                metrics.antt, metrics.stp, metrics.fairness);
    }
    return 1;
}

/* Runs the workloads, and writes their rows. Returns an exit status. */
static int run_workloads(const arguments *a, tb_library *library, FILE *out) {
    tb_job *jobs = (tb_job *)calloc(a->workloads, sizeof *jobs);
    uint32_t count, failed, written = 0, unended = 0, processes = 0;
    uint64_t sms = 0, passed = 0;
    if (!jobs) return 1;
    count = fill_jobs(jobs, a, library);
    failed = count ? tb_run_jobs(jobs, count, a->threads, !a->quiet) : 0;
    fprintf(out, "workload,process,benchmark,class1,class2,priority,policy,mechanism,runs,alone_us,turnaround_us,ntt,"
                 "antt,stp,fairness\n");
    for (uint32_t i = 0; i < count; i++) {
        const int one = write_job(out, a, library, &jobs[i]);
        written += (uint32_t)one;
        if (one) processes += jobs[i].workload.count, unended += tb_unended(&jobs[i].workload, &jobs[i].result);
        sms += jobs[i].result.statistics.preemptions;
        passed += jobs[i].result.transfers_passed;
    }
    note_unended(unended, processes);
    if (written) note_no_effect(a, &a->options, sms, passed);
    if (out != stdout && output_close(out, "tbsim", a->out)) failed = 1;
    free(jobs);
    return tb_stops() ? interrupted(written, count, a->out) : failed ? 1 : 0;
}

static int sweep(const option_command *command, int argc, char **argv) {
    arguments a;
    char error[300];
    tb_library *library;
    FILE *out = stdout;
    int status = read_options_only(command, argc, argv, &a);
    if (status != OPTIONS_GO_ON) return status;
    if (refill_is_too_large(&a)) return 2;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (!(library = tb_library_tanasic(&a.machine, a.data, (int)a.class_end, error, sizeof error))) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    status = 2;
    if (output_is_input("tbsim", a.out, a.data)) {
    } else if (a.out && !(out = fopen(a.out, "w"))) /* opened before the runs, which may take hours */
        output_cannot_open("tbsim", a.out);
    else
        status = run_workloads(&a, library, out);
    tb_library_free(library);
    return status;
}

/* ---- the other commands ---- */

static int merge(const option_command *command, int argc, char **argv) {
    int operands, status = options_read(command, argc, argv, NULL, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if (operands < 2) return option_misuse("merge", "merge needs OUT.csv and at least one PART.csv", NULL);
    return csv_merge("tbsim", "workload", argv[1], argv + 2, operands - 1);
}

static int evaluate(const option_command *command, int argc, char **argv) {
    arguments a;
    char error[300];
    tb_library *library;
    tb_evaluation *evaluation;
    int status = read_options_only(command, argc, argv, &a);
    if (status != OPTIONS_GO_ON) return status;
    library = tb_library_tanasic(&a.machine, a.data, (int)a.class_end, error, sizeof error);
    evaluation = library ? tb_evaluation_create(library, (int)a.base, a.workloads, a.threads, !a.quiet) : NULL;
    if (!evaluation) {
        fprintf(stderr, "%s\n", library ? "out of memory" : error);
        tb_library_free(library);
        return 2;
    }
    status = tb_evaluation_print(evaluation, stdout) ? 1 : 0;
    tb_evaluation_free(evaluation);
    tb_library_free(library);
    return status;
}

static int command_machines(const option_command *command, int argc, char **argv) {
    arguments a;
    const int status = read_options_only(command, argc, argv, &a);
    return status != OPTIONS_GO_ON ? status : machines(&a);
}

#define STATUS "exit status: 0 done, 1 a run failed, 2 bad input, 130 interrupted (Ctrl-C; a sweep keeps what it has)"

static const option_command run_of = {.name = "run",
                                      .what = "one workload",
                                      .usage = "tbsim run FILE.yaml [options]",
                                      .sets = tbsim_sets,
                                      .notes = STATUS,
                                      .bit = TBSIM_RUN,
                                      .run = run};
static const option_command sweep_of = {.name = "sweep",
                                        .what = "random workloads, one CSV line per run and process",
                                        .usage = "tbsim sweep [options]",
                                        .sets = tbsim_sets,
                                        .notes = STATUS,
                                        .bit = TBSIM_SWEEP,
                                        .run = sweep};
static const option_command merge_of = {.name = "merge",
                                        .what = "the parts of a sharded sweep, in their order, as one file",
                                        .usage = "tbsim merge OUT.csv PART.csv...",
                                        .notes = STATUS,
                                        .run = merge};
static const option_command evaluate_of = {.name = "evaluate",
                                           .what = "all of Tanasic 5.3 as one table",
                                           .usage = "tbsim evaluate [options]",
                                           .sets = tbsim_sets,
                                           .notes = STATUS,
                                           .bit = TBSIM_EVALUATE,
                                           .run = evaluate};
static const option_rule machines_rules[] = {
    {"table gpu|variation|dispatch|threads|class-end|data|launches-per-wait|workloads|seed", NULL,
     "--table runs nothing: leave away what only runs would need"},
    {"table", "svg", "--table needs --svg FILE, which draws it"},
    {NULL, NULL, NULL}};
static const option_rule *const machines_rule_arrays[] = {machines_rules, NULL};
static const option_command machines_of = {.name = "machines",
                                           .what = "PPQ and DSS with switch, drain and select, from k20c to h100",
                                           .usage = "tbsim machines [options]",
                                           .sets = tbsim_sets,
                                           .rules = machines_rule_arrays,
                                           .notes = STATUS,
                                           .bit = TBSIM_MACHINES,
                                           .run = command_machines};
static const option_command *const commands[] = {&run_of, &sweep_of, &merge_of, &evaluate_of, &machines_of, NULL};

static int print_presets(const char *argument) {
    (void)argument;
    for (uint32_t i = 0; gpump_gpu_preset_name(i); i++) printf("%s\n", gpump_gpu_preset_name(i));
    return 0;
}
static int print_policies(const char *argument) {
    (void)argument;
    for (uint32_t i = 0; tb_policy_name(i); i++) printf("--schedule\t%s\n", tb_policy_name(i));
    return 0;
}
static const option_list lists[] = {{"presets", "GPUs, for --gpu.", print_presets},
                                    {"policies", "Policies, with the option that takes each.", print_policies},
                                    {NULL, NULL, NULL}};
static const option_program tbsim = {"tbsim", commands, lists};

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) snprintf(words + strlen(words), sizeof words - strlen(words), " %s", argv[i]);
    return options_main(&tbsim, argc, argv);
}
