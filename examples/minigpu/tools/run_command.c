/* run_command: see run_command.h. */
#include "tools/run_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "parts/trace_writer/trace_writer.h"
#include "sm/runtime_calls.h"
#include "output.h"
#include "policies.h"
#include "tools/dump.h"
#include "tools/html_page.h"
#include "tools/no_effect.h"
#include "tools/outputs.h"
#include "tools/recovery.h"
#include "tools/report_csv.h"
#include "tools/run_machine.h"
#include "tools/run_options.h"

int run_page(const char *path, const run_result *result, const machine_options *options, const timeline *recorded) {
    char title[256];
    const char *file = strrchr(result->launch->path, '/');
    page *p;
    snprintf(title, sizeof title, "minigpu run: %s", file ? file + 1 : result->launch->path);
    p = page_open(path, html_page_about(result->machine, result->launch, title, ""));
    if (!p) return -1;
    page_run(p,
             options->policy                     ? options->policy->name
             : options->schedule                 ? options->schedule
             : result->machine->preemption_count ? technique_name(result->machine->technique)
                                                 : "run",
             recorded, html_page_facts(result));
    return page_close(p);
}

/* Checks what only a built machine shows: a technique or a scheme without the regions that it needs. Returns NULL, or
 * the error. */
static const char *missing_regions(const machine *m, const machine_options *options) {
    if (m->regions) return NULL;
    if (m->fault_scheme == GPUMP_REPLAY_REGIONS)
        return "--faults regions: warps can only go back to the start of a region where there are regions: add "
               "--regions sparse";
    if (options->policy == gpump_victim_find("rewind") || options->sharing.leave == gpump_victim_find("rewind"))
        return "--victims rewind: blocks can only go back to the start of a region where there are regions: add "
               "--regions sparse";
    if (gpump_technique_begins(options->technique) == GPUMP_TECHNIQUE_BEGIN_REWIND ||
        gpump_technique_begins(options->vacate) == GPUMP_TECHNIQUE_BEGIN_REWIND)
        return "blocks can only go back to the start of a region where there are regions: add --regions sparse";
    return NULL;
}

/* Builds the machine and prepares its outputs. Returns NULL after a report of bad input. */
static machine *build(const run_arguments *a, launch_file *launch, race_log **races) {
    char error[LAUNCH_ERROR_BYTES];
    const char *why;
    machine *m = machine_build(launch, &a->machine, error);
    if (!m) {
        fprintf(stderr, "%s\n", error);
        return NULL;
    }
    if (a->deadline_ns != NEVER) m->limit_cycles = gpump_gpu_cycles_from_ns(&m->config.gpu, a->deadline_ns);
    m->late_price = a->late_price;
    why = missing_regions(m, &a->machine);
    if (!why && a->races && !(*races = races_watch(m, error))) why = error;
    if (!why && a->dump && launch->trace_map)
        why = "--dump: a trace has no values, so there are no buffers to write; leave --dump away";
    if (!why && a->write_trace && mkdir(a->write_trace, 0777) && errno != EEXIST) {
        snprintf(error, sizeof error, "--write-trace: cannot make the folder %.200s: %s", a->write_trace,
                 strerror(errno));
        why = error;
    }
    if (!why && a->write_trace && trace_writer_open(m, a->write_trace, (int)a->write_values, error)) why = error;
    if (why) fprintf(stderr, "minigpu: %s\n", why);
    if (!why && !(a->dump && dump_prepare(launch, a->dump, a->trace, a->html)) && !try_to_write(a->trace) &&
        !try_to_write(a->html))
        return m;
    machine_free(m);
    return NULL;
}

/* Writes the trace and the page. Returns `status`, or the status of a failure. */
static int write_recorded(const run_arguments *a, const run_result *result, const timeline *recorded, int status) {
    const int notes = !a->json && !a->csv && !options_quiet();
    if (a->trace && timeline_write_trace(recorded, a->trace))
        status = cannot_write(a->trace);
    else if (a->trace && notes)
        printf("trace: %s (open it at https://ui.perfetto.dev)\n", a->trace);
    if (a->html && run_page(a->html, result, &a->machine, recorded))
        status = cannot_write(a->html);
    else if (a->html && notes)
        printf("page: %s (open it in a browser)\n", a->html);
    return status;
}

/* Runs the machine and writes the requested outputs. Returns the exit status. */
static int run_and_report(const run_arguments *a, machine *m, launch_file *launch, race_log *races) {
    char error[LAUNCH_ERROR_BYTES];
    timeline *recorded = NULL;
    kernel_check *checks;
    effects_seen effects = {0};
    run_result result;
    int status = run_machine(m, launch, a->trace || a->html ? &recorded : NULL, &result, &checks);
    result.races = races;
    if (a->machine.errors.detection && status != EXIT_INTERRUPTED &&
        recovery_baseline(launch->path, a->sms, &a->machine, &result.baseline_cycles, error))
        fprintf(stderr, "minigpu: the run without errors, for the energy: %s\n", error);
    if (status == EXIT_RIGHT || status == EXIT_WRONG) {
        effects_note(&effects, m);
        no_effect_report(a, &effects, stderr);
    }
    if (a->write_trace && trace_writer_close(m)) status = cannot_write(a->write_trace);
    runtime_calls_print(m, a->json || a->csv ? stderr : stdout);
    if (a->json) {
        if (report_json(&result, stdout)) status = EXIT_WRONG;
    } else if (a->csv) {
        report_csv(&result, stdout);
        if (a->races) races_report(races, stderr);
    } else {
        if (!options_quiet())
            report_text(&result, stdout);
        else
            report_wrong(&result, stderr);
        if (a->stats) report_statistics(m, stdout);
        if (a->races && options_quiet()) races_report(races, stdout);
    }
    if (recorded) status = write_recorded(a, &result, recorded, status);
    timeline_free(recorded);
    if (a->dump && dump_buffers(m, launch, a->dump)) status = EXIT_WRONG;
    free(checks);
    return status;
}

/* Checks a fixed division against the GPU and the number of kernels. Returns 0, or -1 after a report. */
static int choose_division(machine_options *options, launch_file *launch) {
    static gpump_partition_fixed fixed;
    const uint32_t group = options->sharing.group;
    char error[LAUNCH_ERROR_BYTES];
    gpump_gpu gpu;
    if (!options->sharing.division) return 0;
    if (machine_choose_gpu(launch, options, &gpu, error)) return fprintf(stderr, "%s\n", error), -1;
    options->sharing.policy = policies_read_partition("minigpu", options->sharing.division, &gpu,
                                                      group ? group : launch->kernel_count, &fixed);
    return options->sharing.policy ? 0 : -1;
}

int run_open(run_session *session, int argc, char **argv) {
    char error[LAUNCH_ERROR_BYTES];
    run_arguments *a = &session->arguments;
    const char *outputs[2];
    int operands, status;
    memset(session, 0, sizeof *session);
    run_arguments_default(a);
    status = options_read(&command_run, argc, argv, a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if (!operands) return option_misuse("run", "which launch FILE?", NULL);
    if (operands > 1)
        return option_misuse("run", "one launch FILE, and values of --points follow a =; one too many is", argv[2]);
    if ((status = run_arguments_finish(a)) != 0) return status;
    if (a->machine.functional && a->machine.functional != FUNCTIONAL_ALL)
        return option_misuse("run",
                             "--functional=N counts the launches of a CUDA program (docs/cuda.md); a launch file "
                             "runs without time as a whole: --functional",
                             NULL);
    if (launch_file_read(&session->launch, argv[1], error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (a->sms) session->launch.sms = a->sms;
    outputs[0] = a->trace;
    outputs[1] = a->html;
    if (!choose_division(&a->machine, &session->launch) && !outputs_spare(&session->launch, outputs, 2) &&
        (session->machine = build(a, &session->launch, &session->races)) != NULL)
        return OPTIONS_GO_ON;
    run_close(session);
    return EXIT_BAD_INPUT;
}

void run_close(run_session *session) {
    races_free(session->races);
    if (session->machine) machine_free(session->machine);
    launch_file_free(&session->launch);
}

static int run(const option_command *command, int argc, char **argv) {
    run_session session;
    int status = run_open(&session, argc, argv);
    (void)command;
    if (status != OPTIONS_GO_ON) return status;
    status = run_and_report(&session.arguments, session.machine, &session.launch, session.races);
    run_close(&session);
    return status;
}

const option_command command_run = {
    .name = "run",
    .what = "run a launch file, check the result, report",
    .usage = "minigpu run FILE [options]",
    .operands = "FILE|launch file (YAML); minigpu init writes one to begin with",
    .sets = run_sets,
    .rules = run_rule_arrays,
    .notes = "exit status: 0 done and right, 1 something is wrong, 2 bad input, 130 interrupted (Ctrl-C; the report is "
             "written)",
    .bit = COMMAND_RUN,
    .run = run,
};
