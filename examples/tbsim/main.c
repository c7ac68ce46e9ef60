/* tbsim run|sweep|merge|evaluate|machines: see README.md. Exit status: 0 done, 1 a run failed, 2 bad input or usage. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "installed.h"
#include "policies.h"
#include "csv_merge.h"
#include "input.h"
#include "output.h"
#include "tbsim.h"

#ifndef TBSIM_DATA_DIR
#define TBSIM_DATA_DIR "data"
#endif

static const char *const usage_text =
    "usage: tbsim run FILE.yaml [options]              one workload\n"
    "       tbsim sweep [options]                      random workloads, one CSV line per run and process\n"
    "       tbsim merge OUT.csv PART.csv...            the parts of a sharded sweep, in their order, as one file\n"
    "       tbsim evaluate [options]                   all of Tanasic 5.3 as one table\n"
    "       tbsim machines [options]                   PPQ and DSS with switch, drain and select, from k20c to h100\n"
    "All but merge:\n"
    "  --gpu NAME             machine (k20c); machines: only that one\n"
    "  --class-end NAME       turnaround alone within its class: low, middle, high, or none: kernels only (middle)\n"
    "  --variation X          spread of block times (0.2)\n"
    "  --data FILE            Table 5.2 as CSV\n"
    "  --launches-per-wait N  how often applications wait for the GPU (4)\n"
    "  --dispatch US          from a launch, or the end of the one before it, to the engine (1)\n"
    "run, sweep and evaluate:\n"
    "  --printed-times        block times as Table 5.2\n"
    "  --exact                every block on its own\n"
    "run and sweep:\n"
    "  --policy NAME          fcfs fcfs_context npq ppq ppq_shared dss dss_fault equal weighted time_slice\n"
    "  --mechanism NAME       switch drain select\n"
    "  --transfers NAME       the transfer engine's order: fcfs or npq (fcfs)\n"
    "  --limit US             stop there\n"
    "  --starvation N         a process that waits so many times its time alone, per process, is an error; 0: never "
    "(100)\n"
    "  --sm                   let every SM be a gpump_sm too, and compare\n"
    "run:\n"
    "  --csv                  CSV report\n"
    "  --trace FILE.json      for Perfetto\n"
    "  --html FILE            a page that shows the run, and opens from disk in any browser\n"
    "sweep, evaluate and machines:\n"
    "  --workloads N          how many; evaluate: per process count (10)\n"
    "  --threads N            all cores\n"
    "  --quiet                do not say how far it is\n"
    "evaluate:\n"
    "  --base NAME            what gains are against: fcfs, kernel by kernel, or fcfs_context (fcfs)\n"
    "sweep and machines:\n"
    "  --seed N               of the random workloads (1)\n"
    "sweep:\n"
    "  --processes N          in each workload (2)\n"
    "  --shard I/N            only jobs i with i mod N = I, 0 <= I < N\n"
    "  --prioritise           the first process has priority 1\n"
    "  --first-runs N         the first process runs N times and ends; 0: again and again, as the others (0)\n"
    "  --out FILE             instead of standard output\n"
    "machines:\n"
    "  --svg FILE             a picture\n"
    "  --table FILE           the picture of a table printed before\n"
    "exit status: 0 done, 1 a run failed, 2 bad input, 130 interrupted (Ctrl-C; a sweep keeps what it has)\n";

typedef struct arguments {
    tb_machine machine;
    tb_options options;
    const char *data, *trace, *svg, *html, *out, *gpu, *table;
    int csv, class_end, base, quiet, prioritise, has_policy, has_mechanism, has_transfers, has_limit;
    uint32_t processes, workloads, threads, shard, shards, first_runs;
    uint32_t given; /* bit per option of longs */
    uint64_t seed;
} arguments;

/* Says what is wrong with the command line; `what` may be NULL where getopt has said it. Returns the exit status. */
static int usage(const char *what, const char *value) {
    if (what) fprintf(stderr, "tbsim: %s%s%s\n", what, value ? ": " : "", value ? value : "");
    fputs("tbsim --help lists commands and options\n", stderr);
    return 2;
}

/* Reports a name that is not in the list, and the list. */
static int usage_name(const char *option, const char *value, const char *(*name)(uint32_t index)) {
    fprintf(stderr, "tbsim: %s wants", option);
    for (uint32_t i = 0; name(i); i++) fprintf(stderr, "%s %s", i == 0 ? "" : name(i + 1) ? "," : " or", name(i));
    fprintf(stderr, ", not \"%s\"\n", value);
    return usage(NULL, NULL);
}

static const struct option longs[] = {{"gpu", 1, NULL, 'g'},
                                      {"policy", 1, NULL, 'p'},
                                      {"mechanism", 1, NULL, 'm'},
                                      {"transfers", 1, NULL, 't'},
                                      {"class-end", 1, NULL, 'c'},
                                      {"variation", 1, NULL, 'v'},
                                      {"printed-times", 0, NULL, 'P'},
                                      {"exact", 0, NULL, 'e'},
                                      {"data", 1, NULL, 'd'},
                                      {"csv", 0, NULL, 'C'},
                                      {"trace", 1, NULL, 'T'},
                                      {"svg", 1, NULL, 'S'},
                                      {"html", 1, NULL, 'H'},
                                      {"limit", 1, NULL, 'l'},
                                      {"sm", 0, NULL, 'M'},
                                      {"processes", 1, NULL, 'n'},
                                      {"workloads", 1, NULL, 'w'},
                                      {"seed", 1, NULL, 's'},
                                      {"shard", 1, NULL, 'h'},
                                      {"threads", 1, NULL, 'j'},
                                      {"launches-per-wait", 1, NULL, 'W'},
                                      {"dispatch", 1, NULL, 'D'},
                                      {"prioritise", 0, NULL, 'x'},
                                      {"out", 1, NULL, 'o'},
                                      {"quiet", 0, NULL, 'q'},
                                      {"table", 1, NULL, 'b'},
                                      {"base", 1, NULL, 'B'},
                                      {"first-runs", 1, NULL, 'r'},
                                      {"starvation", 1, NULL, 'V'},
                                      {"help", 0, NULL, '?' + 256},
                                      {NULL, 0, NULL, 0}};

/* The options that each command takes, by their letters in longs. */
static const struct {
    const char *name, *options;
} commands[] = {{"run", "gpmtcvPedWDlVMCTH"},
                {"sweep", "gpmtcvPedWDlVMnwshjxroq"},
                {"merge", ""},
                {"evaluate", "gcvPedWDwjqB"},
                {"machines", "gcvdWDwsjqSb"}};

/* An option that the command would not look at is an error. Returns the exit status. */
static int check_options(const char *command, uint32_t given) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, command)) continue;
        for (uint32_t o = 0; longs[o].name; o++)
            if (given >> o & 1 && !strchr(commands[i].options, longs[o].val)) {
                fprintf(stderr, "tbsim: %s does not take --%s\n", command, longs[o].name);
                return usage(NULL, NULL);
            }
    }
    return 0;
}

static int parse(int argc, char **argv, arguments *a) {
    static char folder[4096], table[4200];
    int c, index;
    memset(a, 0, sizeof *a);
    tb_options_default(&a->options);
    tb_machine_preset(&a->machine, "k20c");
    snprintf(table, sizeof table, "%s/tanasic_table_5_2.csv",
             installed_folder("data", TBSIM_DATA_DIR, folder, sizeof folder));
    a->data = table;
    a->class_end = 1;
    a->base = TB_FCFS;
    a->processes = 2;
    a->workloads = 10;
    a->seed = 1;
    a->shards = 1;
    while ((c = getopt_long(argc, argv, "", longs, &index)) != -1) {
        char *end = NULL;
        double number = optarg ? strtod(optarg, &end) : 0;
        int is_number = optarg && end != optarg && !*end && number >= 0 && number < 1e15;
        if (c == '?') return usage(NULL, NULL);
        a->given |= 1u << index;
        if (c == '?' + 256) {
            fputs(usage_text, stdout);
            exit(output_status(0, "tbsim"));
        }
        if (strchr("vlnwsjWDVr", c) && !is_number)
            return usage(optarg && end != optarg && !*end ? "a number from 0 to below 1e15 is wanted, not"
                                                          : "not a number",
                         optarg);
        if (strchr("nwsjWVr", c) && number != floor(number)) return usage("not a whole number", optarg);
        switch (c) {
        case 'g': {
            tb_machine old = a->machine;
            if (tb_machine_preset(&a->machine, optarg)) return usage_name("--gpu", optarg, gpump_gpu_preset_name);
            a->gpu = optarg;
            a->machine.variation = old.variation;
            a->machine.exact = old.exact;
            a->machine.launches_per_wait = old.launches_per_wait;
            a->machine.dispatch_us = old.dispatch_us;
            a->machine.printed_times = old.printed_times;
            break;
        }
        case 'r':
            if (number > 1e6) return usage("first-runs is at most 1000000, not", optarg);
            a->first_runs = (uint32_t)number;
            break;
        case 'V':
            if (number > UINT32_MAX) return usage("starvation is at most 4294967295, not", optarg);
            a->options.starvation_times = (uint32_t)number;
            break;
        case 'B':
            if (strcmp(optarg, "fcfs") != 0 && strcmp(optarg, tb_fcfs_context.name) != 0)
                return usage("--base wants fcfs or fcfs_context, not", optarg);
            a->base = strcmp(optarg, "fcfs") ? TB_FCFS_CONTEXT : TB_FCFS;
            break;
        case 'p':
            a->options.policy = tb_find_policy(optarg);
            a->has_policy = 1;
            if (!a->options.policy) return usage_name("--policy", optarg, tb_policy_name);
            break;
        case 'm':
            if (tb_mechanism(optarg) < 0) return usage("mechanisms are switch, drain or select, not", optarg);
            a->options.mechanism = (uint32_t)tb_mechanism(optarg);
            a->has_mechanism = 1;
            break;
        case 't':
            if (strcmp(optarg, "fcfs") && strcmp(optarg, "npq")) return usage("transfers are fcfs or npq, not", optarg);
            a->options.transfer_priority = !strcmp(optarg, "npq");
            a->has_transfers = 1;
            break;
        case 'c':
            a->class_end = !strcmp(optarg, "low")      ? 0
                           : !strcmp(optarg, "middle") ? 1
                           : !strcmp(optarg, "high")   ? 2
                           : !strcmp(optarg, "none")   ? 3
                                                       : -1;
            if (a->class_end < 0) return usage("class-end is low, middle, high or none, not", optarg);
            break;
        case 'v':
            if (number > 0.9) return usage("variation is 0 to 0.9, not", optarg);
            a->machine.variation = number;
            break;
        case 'P': a->machine.printed_times = 1; break;
        case 'e': a->machine.exact = 1; break;
        case 'd': a->data = optarg; break;
        case 'C': a->csv = 1; break;
        case 'T': a->trace = optarg; break;
        case 'S': a->svg = optarg; break;
        case 'H': a->html = optarg; break;
        case 'l': a->options.limit_us = number, a->has_limit = 1; break;
        case 'M': a->options.use_sm = 1; break;
        case 'n':
            if (number < 1 || number > 10) return usage("processes are 1 to 10, not", optarg);
            a->processes = (uint32_t)number;
            break;
        case 'w':
            if (number < 1 || number > 1e6) return usage("workloads are 1 to 1000000, not", optarg);
            a->workloads = (uint32_t)number;
            break;
        case 'D': a->machine.dispatch_us = number; break;
        case 'W':
            if (number < 1 || number > 1e6) return usage("launches-per-wait is 1 to 1000000, not", optarg);
            a->machine.launches_per_wait = (uint32_t)number;
            break;
        case 's': a->seed = (uint64_t)number; break;
        case 'j':
            if (number > 1024) return usage("threads are at most 1024, not", optarg);
            a->threads = (uint32_t)number;
            break;
        case 'h': {
            char extra;
            if (sscanf(optarg, "%u/%u%c", &a->shard, &a->shards, &extra) != 2 || !a->shards || a->shard >= a->shards)
                return usage("a shard is I/N with 0 <= I < N, not", optarg);
            break;
        }
        case 'x': a->prioritise = 1; break;
        case 'o': a->out = optarg; break;
        case 'b': a->table = optarg; break;
        default: a->quiet = 1; break;
        }
    }
    return 0;
}

static int run(const arguments *given, const char *path, const char *command) {
    arguments a = *given;
    tb_library *library;
    tb_workload workload;
    tb_result result;
    tb_options options = a.options;
    int status;
    if (output_is_input("tbsim", a.trace, path) || output_is_input("tbsim", a.html, path) ||
        output_is_output("tbsim", a.trace, a.html))
        return 2;
    status = tb_read_workload(path, a.data, &a.machine, a.class_end, &library, &workload, &options);
    if (status) return status;
    if (a.has_policy) options.policy = a.options.policy; /* the command line has the last word */
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

static void on_signal(int number) {
    (void)number;
    tb_stop = 1;
}

/* A sweep keeps what it has. Returns the exit status, 130 as a shell has it for a program that Ctrl-C has ended. */
static int interrupted(uint32_t done, uint32_t count, const char *out) {
    fprintf(stderr, "tbsim: interrupted; %u of %u workloads are in %s; --shard splits a sweep into parts\n", done,
            count, out ? out : "the output");
    return 130;
}

static int sweep(const arguments *a) {
    char error[300];
    tb_library *library = tb_library_tanasic(&a->machine, a->data, a->class_end, error, sizeof error);
    FILE *out = stdout;
    tb_job *jobs;
    uint32_t count = 0, failed, written = 0;
    int status;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (!library) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    if (output_is_input("tbsim", a->out, a->data)) {
        tb_library_free(library);
        return 2;
    }
    if (a->out && !(out = fopen(a->out, "w"))) { /* before the hours that the runs take */
        output_cannot_open("tbsim", a->out);
        tb_library_free(library);
        return 2;
    }
    jobs = (tb_job *)calloc(a->workloads, sizeof *jobs);
    if (!jobs) return 1;
    for (uint32_t i = a->shard; i < a->workloads; i += a->shards) {
        tb_job *job = &jobs[count++];
        job->count = a->processes;
        job->number = i;
        job->prioritised = a->prioritise;
        job->prioritised_runs = a->first_runs;
        job->library = library;
        job->options = a->options;
        job->seed = a->seed;
    }
    failed = count ? tb_run_jobs(jobs, count, a->threads, !a->quiet) : 0;
    fprintf(out, "workload,process,benchmark,class1,class2,priority,policy,mechanism,runs,alone_us,turnaround_us,ntt,"
                 "antt,stp,fairness\n");
    for (uint32_t i = 0; i < count; i++) {
        gpump_metrics metrics;
        double ntt[TB_PROCESSES];
        if (*jobs[i].result.error && tb_stop) continue;
        if (*jobs[i].result.error) {
            fprintf(stderr, "tbsim: workload %u: %s\n", jobs[i].number, jobs[i].result.error);
            continue;
        }
        if (tb_metrics(library, &jobs[i].workload, &jobs[i].result, &metrics, ntt)) continue;
        written++;
        for (uint32_t p = 0; p < jobs[i].workload.count; p++) {
            const tb_process *process = &jobs[i].workload.processes[p];
            const tb_application *application = &library->applications[process->application];
            const tb_process_result *r = &jobs[i].result.processes[p];
            fprintf(out, "%u,%u,%s,%s,%s,%u,%s,%s,%llu,%.3f,%.3f,%.6f,%.6f,%.6f,%.6f\n", jobs[i].number, p,
                    application->name, tb_class_names[application->class1], tb_class_names[application->class2],
                    process->priority, a->options.policy->name, tb_mechanism_names[a->options.mechanism],
                    (unsigned long long)r->runs, tb_us(&library->machine, library->alone[process->application]),
                    tb_us(&library->machine, r->runs ? r->total_cycles / r->runs : jobs[i].result.cycles), ntt[p],
                    metrics.antt, metrics.stp, metrics.fairness);
        }
    }
    if (out != stdout && output_close(out, "tbsim", a->out)) failed = 1;
    status = tb_stop ? interrupted(written, count, a->out) : failed ? 1 : 0;
    free(jobs);
    tb_library_free(library);
    return status;
}

static int evaluate(const arguments *a) {
    char error[300];
    tb_library *library = tb_library_tanasic(&a->machine, a->data, a->class_end, error, sizeof error);
    tb_evaluation *evaluation =
        library ? tb_evaluation_create(library, a->base, a->workloads, a->threads, !a->quiet) : NULL;
    int status;
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

/* ---- machines: who wins on newer GPUs ---- */

enum { MACHINES = 5, SCHEMES = 6 };
static const char *const machine_names[MACHINES] = {"k20c", "p100", "v100", "a100", "h100"};
static const struct {
    const char *name, *policy;
    uint32_t mechanism;
} schemes[SCHEMES] = {{"PPQ switch", "ppq", GPUMP_SCHEDULER_SWITCH}, {"PPQ drain", "ppq", GPUMP_SCHEDULER_DRAIN},
                      {"PPQ select", "ppq", GPUMP_SCHEDULER_SELECT}, {"DSS switch", "equal", GPUMP_SCHEDULER_SWITCH},
                      {"DSS drain", "equal", GPUMP_SCHEDULER_DRAIN}, {"DSS select", "equal", GPUMP_SCHEDULER_SELECT}};

static int machines_svg(const char *path, double gain[MACHINES][SCHEMES], uint32_t workloads) {
    static const char *const fill[SCHEMES] = {"#4477aa", "#88aacc", "#223366", "#ee6677", "#f4a6ae", "#992233"};
    FILE *out = fopen(path, "w");
    double top = 1;
    if (!out) return output_cannot_open("tbsim", path);
    for (int m = 0; m < MACHINES; m++)
        for (int i = 0; i < SCHEMES; i++)
            if (gain[m][i] > top) top = gain[m][i];
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"340\" font-family=\"sans-serif\" "
            "font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"50\" y=\"20\" "
            "font-size=\"12\">Turnaround gain over FCFS, 8 "
            "processes, %u workloads (log scale; PPQ: prioritised process, DSS: mean of all)</text>\n",
            workloads);
    for (double line = 0.5; line <= top * 1.01; line *= 2)
        fprintf(out,
                "<line x1=\"50\" x2=\"750\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#cccccc\"/><text x=\"45\" y=\"%.1f\" "
                "text-anchor=\"end\">%g</text>\n",
                280 - 230 * log2(line * 2) / log2(top * 2), 280 - 230 * log2(line * 2) / log2(top * 2),
                284 - 230 * log2(line * 2) / log2(top * 2), line);
    for (int m = 0; m < MACHINES; m++) {
        for (int i = 0; i < SCHEMES; i++) {
            double height = gain[m][i] > 0.5 ? 230 * log2(gain[m][i] * 2) / log2(top * 2) : 0;
            fprintf(out,
                    "<rect x=\"%d\" y=\"%.1f\" width=\"18\" height=\"%.1f\" fill=\"%s\"><title>%s on %s: "
                    "%.2f</title></rect>\n",
                    60 + m * 138 + i * 20, 280 - height, height, fill[i], schemes[i].name, machine_names[m],
                    gain[m][i]);
        }
        fprintf(out, "<text x=\"%d\" y=\"296\" text-anchor=\"middle\">%s</text>\n", 120 + m * 138, machine_names[m]);
    }
    for (int i = 0; i < SCHEMES; i++)
        fprintf(out,
                "<rect x=\"%d\" y=\"310\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"320\">%s</text>\n",
                60 + i * 115, fill[i], 76 + i * 115, schemes[i].name);
    fprintf(out, "</svg>\n");
    return output_close(out, "tbsim", path);
}

/* Reads the gains back from a table that `machines` has printed, also from one put together of several runs. */
static int read_gains(const char *path, double gain[MACHINES][SCHEMES], uint32_t *workloads) {
    char line[300], machine[20], scheme[20];
    FILE *in = input_open_or_say("tbsim", path);
    int number = 0, found = 0;
    if (!in) return 2;
    while (fgets(line, sizeof line, in)) {
        double value;
        int m = 0, s = 0;
        number++;
        if (sscanf(line, "%u workloads", workloads) == 1) continue;
        if (sscanf(line, "| %19[^ |] | %*u | %*f | %19[^|] | %lf |", machine, scheme, &value) != 3) continue;
        while (*scheme && scheme[strlen(scheme) - 1] == ' ') scheme[strlen(scheme) - 1] = 0;
        while (m < MACHINES && strcmp(machine, machine_names[m])) m++;
        while (s < SCHEMES && strcmp(scheme, schemes[s].name)) s++;
        if (m == MACHINES || s == SCHEMES) {
            fclose(in);
            return fprintf(stderr, "%s:%d:1: no machine or scheme of that name\n", path, number), 2;
        }
        gain[m][s] = value;
        found++;
    }
    fclose(in);
    if (found != MACHINES * SCHEMES) return fprintf(stderr, "%s: %d of %d rows\n", path, found, MACHINES * SCHEMES), 2;
    return 0;
}

static int machines(const arguments *a) {
    static double gain[MACHINES][SCHEMES], lost[MACHINES][SCHEMES], mean_us[MACHINES][SCHEMES];
    uint32_t workloads = a->workloads;
    if (output_is_input("tbsim", a->svg, a->table ? a->table : a->data)) return 2;
    if (a->table) {
        int status = read_gains(a->table, gain, &workloads);
        if (!status && (!a->svg || machines_svg(a->svg, gain, workloads)))
            status = usage("the picture needs --svg FILE that can be written", NULL);
        return status;
    }
    printf("%u workloads of 8 processes\n\n", workloads);
    printf("| machine | SMs | save share, GB/s per SM | scheme | turnaround gain | throughput lost | mean latency of "
           "vacating an SM, us |\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (int m = 0; m < MACHINES; m++) {
        tb_machine machine = a->machine;
        tb_library *library;
        tb_job *jobs;
        char error[300];
        uint32_t failed, n = a->workloads;
        if (a->gpu && strcmp(a->gpu, machine_names[m])) continue;
        if (tb_machine_preset(&machine, machine_names[m])) return 2;
        machine.variation = a->machine.variation;
        machine.launches_per_wait = a->machine.launches_per_wait;
        machine.dispatch_us = a->machine.dispatch_us;
        library = tb_library_tanasic(&machine, a->data, a->class_end, error, sizeof error);
        jobs = (tb_job *)calloc((size_t)n * (SCHEMES + 1), sizeof *jobs);
        if (!library || !jobs) {
            fprintf(stderr, "%s\n", library ? "out of memory" : error);
            return 2;
        }
        for (uint32_t i = 0; i < n * (SCHEMES + 1); i++) {
            uint32_t scheme = i / n; /* the last is FCFS */
            tb_options_default(&jobs[i].options);
            if (scheme < SCHEMES) {
                jobs[i].options.policy = gpump_scheduler_find(schemes[scheme].policy);
                jobs[i].options.mechanism = schemes[scheme].mechanism;
                jobs[i].options.transfer_priority = scheme < 3;
            }
            jobs[i].count = 8;
            jobs[i].number = i % n;
            jobs[i].prioritised = scheme < 3;
            jobs[i].library = library;
            jobs[i].seed = a->seed;
        }
        failed = tb_run_jobs(jobs, n * (SCHEMES + 1), a->threads, !a->quiet);
        if (failed) return 1;
        for (uint32_t scheme = 0; scheme < SCHEMES; scheme++) {
            double gains = 0, losses = 0, count = 0, cycles = 0, preempted = 0;
            for (uint32_t i = 0; i < n; i++) {
                const tb_job *base = &jobs[SCHEMES * n + i], *job = &jobs[scheme * n + i];
                gpump_metrics before, after;
                double ntt_before[TB_PROCESSES], ntt[TB_PROCESSES];
                if (tb_metrics(library, &base->workload, &base->result, &before, ntt_before) ||
                    tb_metrics(library, &job->workload, &job->result, &after, ntt))
                    return 1;
                losses += before.stp / after.stp / n;
                for (uint32_t p = 0; p < (scheme < 3 ? 1u : 8u); p++) gains += ntt_before[p] / ntt[p], count++;
                cycles += (double)job->result.preempt_cycles;
                preempted += (double)job->result.preempt_count;
            }
            gain[m][scheme] = gains / count;
            lost[m][scheme] = losses;
            mean_us[m][scheme] = preempted > 0 ? cycles / preempted * tb_us(&machine, 1000000) / 1e6 : 0;
            printf("| %s | %u | %.1f | %s | %.2f | %.2f | %.1f |\n", machine_names[m], machine.gpu.sms,
                   machine.gpu.memory_mb_per_s / 1000.0 / machine.gpu.sms, schemes[scheme].name, gain[m][scheme],
                   lost[m][scheme], mean_us[m][scheme]);
        }
        fflush(stdout);
        free(jobs);
        tb_library_free(library);
    }
    return a->svg && machines_svg(a->svg, gain, workloads) ? 2 : 0;
}

static int run_command(int argc, char **argv) {
    arguments a;
    char words[1024] = "tbsim";
    int status;
    for (int i = 1; i < argc; i++) snprintf(words + strlen(words), sizeof words - strlen(words), " %s", argv[i]);
    status = parse(argc, argv, &a);
    const char *command = optind < argc ? argv[optind] : NULL;
    if (status) return status;
    if (!command) {
        fputs(usage_text, stderr);
        return 2;
    }
    if ((status = check_options(command, a.given))) return status;
    if (!strcmp(command, "run") && argc == optind + 2) return run(&a, argv[optind + 1], words);
    if (!strcmp(command, "sweep") && argc == optind + 1) return sweep(&a);
    if (!strcmp(command, "merge") && argc >= optind + 3)
        return csv_merge("tbsim", argv[optind + 1], argv + optind + 2, argc - optind - 2);
    if (!strcmp(command, "evaluate") && argc == optind + 1) return evaluate(&a);
    if (!strcmp(command, "machines") && argc == optind + 1) return machines(&a);
    if (!strcmp(command, "run"))
        return argc == optind + 1 ? usage("run needs a FILE", NULL)
                                  : usage("run takes one FILE; one too many", argv[argc - 1]);
    if (!strcmp(command, "merge")) return usage("merge needs OUT.csv and at least one PART.csv", NULL);
    if (!strcmp(command, "sweep") || !strcmp(command, "evaluate") || !strcmp(command, "machines"))
        return usage("this command takes options only, not", argv[optind + 1]);
    return usage("there is no command", command);
}

int main(int argc, char **argv) { return output_status(run_command(argc, argv), "tbsim"); }
