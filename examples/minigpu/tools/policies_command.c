/* policies_command: see policies_command.h. */
#define _GNU_SOURCE
#include "tools/policies_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpump_once.h"
#include "installed.h"
#include "output.h"
#include "policies.h"
#include "preemption/context_forms.h"
#include "tools/html_page.h"
#include "tools/policies_parts.h"
#include "tools/policies_tables.h"
#include "tools/run_options.h"

typedef struct policies_arguments {
    victim_experiment experiment;
    option_texts policies; /* NAME or NAME@P */
    uint32_t limits[LIMITS_MAX], limit_count;
    uint32_t only[VICTIM_EXPERIMENT_KERNELS], some; /* some: the number of kernels in only[]; 0: all kernels */
    uint32_t form;                                  /* 0: a switch stalls; else context_form + 1 */
    uint32_t shard, shards, merge;
    const char *html, *csv;
    machine_options machine; /* gpu and config */
} policies_arguments;

/* The state of the command. */
typedef struct policies_run {
    const policies_arguments *arguments;
    victim_experiment e;
    char names[POLICIES_MAX][32];
    victim_outcome *outcomes;   /* of one kernel */
    victim_drain_error *errors; /* of one kernel */
    policies_parts parts;       /* for --merge */
    policies_tables tables;
    uint64_t own_cycles; /* run time of the high-priority kernel alone */
    FILE *csv;
    victim_show show;
    json_t *rows;   /* of the page */
    uint32_t shown; /* the kernel that the page shows; GPUMP_NONE: none */
    int stopped;    /* 1: a kernel could not be run, so that there is no table */
    progress bar;
} policies_run;

static const char *context_model(uint32_t index) { return index ? context_form_name(index - 1) : "stall"; }

static void print_csv(FILE *csv, const victim_experiment *e, const victim_outcome *o, uint32_t limit, uint32_t c) {
    fprintf(csv, "%s,%llu,%s,%u,%u,%u,%llu,%llu,%llu,%llu,%llu,%u,%u,%u,%u,%llu\n", victim_experiment_kernel(e->kernel),
            (unsigned long long)o->request_cycle, e->cases[c].label, limit, o->violated, o->warm,
            (unsigned long long)o->end_cycles, (unsigned long long)o->start_cycles, (unsigned long long)o->wasted,
            (unsigned long long)o->idle, (unsigned long long)o->flush_waste, o->by[0], o->by[1], o->by[2], o->by[3],
            (unsigned long long)o->bytes_saved);
}

/* ---- the page ---- */

static json_t *outcome_row(const policies_run *r, const victim_outcome *o, uint32_t limit, uint32_t c) {
    const victim_experiment *e = &r->e;
    const double mhz = r->tables.clock_mhz;
    return json_pack("[s,f,s,i,s,f,I,I,i,i,i,i]", victim_experiment_kernel(e->kernel), (double)o->request_cycle / mhz,
                     e->cases[c].label, (int)limit, o->violated ? "late" : "in time", (double)o->start_cycles / mhz,
                     (json_int_t)o->wasted, (json_int_t)o->bytes_saved, (int)o->by[0], (int)o->by[1], (int)o->by[2],
                     (int)o->by[3]);
}

/* Writes the page: the shown runs, and a table of all outcomes. Takes over show->about and rows. Returns 0, or -1 with
 * errno. */
static int write_page(const char *path, const victim_experiment *e, victim_show *show, uint32_t kernel, uint32_t limit,
                      json_t *rows) {
    page *p;
    uint32_t c;
    json_object_set_new(show->about, "title",
                        json_sprintf("%s makes room within %u \u00b5s: every policy at the same request",
                                     victim_experiment_kernel(kernel), limit));
    json_object_set_new(show->about, "intro",
                        json_string("The whole machine was copied at the request, once for each policy, so all of them "
                                    "meet the same blocks. A kernel of high priority asks for room for 90 blocks. The "
                                    "tables below have the estimate for every block beside what came of it."));
    json_object_set_new(show->about, "tables",
                        json_pack("[{s:s,s:[s,s,s,s,s,s,s,s,s,s,s,s],s:o}]", "title",
                                  "Every kernel, request, policy and limit of this command", "columns", "kernel",
                                  "request at \u00b5s", "policy", "limit \u00b5s", "deadline",
                                  "last block began after \u00b5s", "wasted warp instr.", "bytes saved", "flushed",
                                  "switched", "drained", "rewound", "rows", rows));
    p = page_open(path, show->about);
    if (!p) return -1;
    for (c = 0; c < e->case_count; c++) {
        if (!show->runs[c]) continue;
        rewind(show->runs[c]);
        page_copy_run(p, show->runs[c]);
        fclose(show->runs[c]);
    }
    return page_close(p);
}

/* ---- running ---- */

/* Chooses the GPU, whose clock the tables need. Returns 0, or 2 for a wrong value of an option. */
static int choose_gpu(policies_run *r) {
    const machine_options *asked = &r->arguments->machine;
    minigpu_config config;
    char text[LAUNCH_ERROR_BYTES];
    const char *wrong;
    r->e.gpu = asked->gpu ? asked->gpu : "gtx480_shieh";
    r->e.config = asked->config;
    if (minigpu_config_preset(&config, r->e.gpu)) {
        fprintf(stderr, "minigpu: policies: no GPU is called \"%s\"; minigpu --list presets prints all\n", r->e.gpu);
        return 2;
    }
    if (asked->config && minigpu_config_set_list(&config, asked->config, text, sizeof text)) {
        fprintf(stderr, "minigpu: policies: --config %s\n", text);
        return 2;
    }
    minigpu_config_use_board(&config);
    if ((wrong = minigpu_config_check(&config))) {
        fprintf(stderr, "minigpu: policies: GPU %s: %s\n", r->e.gpu, wrong);
        return 2;
    }
    r->tables.clock_mhz = config.gpu.clock_khz / 1000.0;
    return 0;
}

/* Makes the cases: every policy with every deadline. Returns an exit status. */
static int make_cases(policies_run *r) {
    const policies_arguments *a = r->arguments;
    policies_tables *t = &r->tables;
    uint32_t p, l;
    if (choose_gpu(r)) return 2;
    memcpy(t->limits, a->limits, sizeof t->limits);
    t->limit_count = a->limit_count;
    t->policy_count = a->policies.count;
    t->oracle = GPUMP_NONE;
    r->e.case_count = t->policy_count * t->limit_count;
    if (r->e.case_count > VICTIM_EXPERIMENT_CASES) {
        fprintf(stderr, "minigpu: policies: at most %d policies and limits together\n", VICTIM_EXPERIMENT_CASES);
        return 2;
    }
    for (p = 0; p < t->policy_count; p++) {
        const char *label = a->policies.texts[p], *price = strchr(label, '@');
        snprintf(r->names[p], sizeof r->names[p], "%.*s", (int)strcspn(label, "@"), label);
        t->labels[p] = label;
        if (strcmp(r->names[p], "oracle") == 0) t->oracle = p;
        for (l = 0; l < t->limit_count; l++) {
            victim_case *one = &r->e.cases[p * t->limit_count + l];
            one->policy = r->names[p];
            one->limit_cycles = (uint64_t)(t->limits[l] * t->clock_mhz);
            one->label = label;
            one->late_price = price ? strtoull(price + 1, NULL, 10) : 0;
            one->switch_stalls = !a->form;
            one->context_form = a->form ? a->form - 1 : 0;
        }
    }
    return 0;
}

/* Opens the outputs before the runs, which may take hours. Returns an exit status. */
static int open_outputs(policies_run *r) {
    const policies_arguments *a = r->arguments;
    uint32_t p;
    FILE *file;
    if (output_is_output("minigpu", a->csv, a->html)) return 2;
    if (a->csv) {
        if (!(r->csv = fopen(a->csv, "w"))) return output_cannot_open("minigpu", a->csv), 2;
        fputs("kernel,request_cycle,policy,limit_us,violated,warm,end_cycles,start_cycles,wasted,idle,of_flushing,"
              "flushed,switched,drained,rewound,bytes_saved\n",
              r->csv);
    }
    if (!a->html) return 0;
    if (!(file = fopen(a->html, "a")))
        return option_misuse("policies", "--html needs a file that can be written, not", a->html);
    fclose(file);
    r->show.request = r->e.requests / 2;
    r->rows = json_array();
    for (p = 0; p < r->tables.policy_count; p++) r->show.runs[p * r->tables.limit_count] = tmpfile();
    r->e.show = &r->show;
    return 0;
}

/* Gets the outcomes of r->e.kernel from the parts, or by running it. Returns an exit status. */
static int measure_kernel(policies_run *r) {
    const uint32_t k = r->e.kernel;
    char error[LAUNCH_ERROR_BYTES] = "";
    if (!r->arguments->merge) {
        if (!victim_experiment_run(&r->e, r->outcomes, r->errors, &r->own_cycles, error)) return 0;
        r->stopped = 1;
        fprintf(stderr, "minigpu: %s\n", error);
        return 1;
    }
    if (!r->parts.outcomes[k]) {
        fprintf(stderr, "minigpu: no part has kernel %s\n", victim_experiment_kernel(k));
        return 2;
    }
    memcpy(r->outcomes, r->parts.outcomes[k], (size_t)r->e.requests * r->e.case_count * sizeof *r->outcomes);
    memcpy(r->errors, r->parts.errors[k], r->e.requests * sizeof *r->errors);
    r->own_cycles = r->parts.own_cycles;
    return 0;
}

/* Adds the outcomes of r->e.kernel to the tables, the file and the page. Returns 1 if a simulation failed. */
static int add_kernel(policies_run *r) {
    uint32_t request, c;
    int failed = 0;
    if (r->arguments->html && r->shown == GPUMP_NONE) r->shown = r->e.kernel;
    r->e.show = NULL; /* the page shows one kernel */
    for (request = 0; request < r->e.requests; request++) {
        const victim_outcome *row = r->outcomes + (size_t)request * r->e.case_count;
        for (c = 0; c < r->e.case_count; c++) {
            const uint32_t limit = r->tables.limits[c % r->tables.limit_count];
            failed |= row[c].failed != 0;
            if (r->rows) json_array_append_new(r->rows, outcome_row(r, &row[c], limit, c));
            if (r->csv) print_csv(r->csv, &r->e, &row[c], limit, c);
        }
        policies_tables_add(&r->tables, &r->e, row, &r->errors[request]);
    }
    if (r->csv) fflush(r->csv);
    r->e.earlier_requests += r->e.requests;
    return failed;
}

/* Runs or merges every chosen kernel. Returns an exit status. */
static int run_kernels(policies_run *r) {
    const policies_arguments *a = r->arguments;
    uint32_t k, chosen = 0;
    int status = 0, one;
    if (a->shards) policies_parts_begin(stdout, &r->e);
    for (k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) r->e.all_requests += !a->some || a->only[k] ? r->e.requests : 0;
    progress_watch(&r->bar, a->csv      ? "the file of --csv has the kernels that were done, and no table is printed"
                            : a->shards ? "the output lacks kernels; run this shard again"
                                        : "no table is printed; --shard splits the work, --csv keeps rows");
    r->e.progress = &r->bar;
    for (k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        if (a->some && !a->only[k]) continue;
        r->e.kernel = k;
        if (a->shards && chosen++ % a->shards != a->shard) continue;
        if ((one = measure_kernel(r)) != 0) return one;
        if (a->shards)
            policies_parts_write(stdout, &r->e, r->outcomes, r->errors, r->own_cycles);
        else if (add_kernel(r))
            status = 1;
    }
    return status;
}

/* Prints the tables, and closes the file and the page. Returns `status`, or 1 if something cannot be written. */
static int finish(policies_run *r, int status) {
    const policies_arguments *a = r->arguments;
    policies_tables_print(&r->tables, &r->e, context_model(a->form), r->own_cycles);
    if (r->csv && output_close(r->csv, "minigpu", a->csv)) status = 1;
    if (r->shown == GPUMP_NONE) return status;
    if (write_page(a->html, &r->e, &r->show, r->shown, r->tables.limits[0], r->rows)) {
        fprintf(stderr, "minigpu: cannot write %s: %s\n", a->html, strerror(errno));
        return 1;
    }
    if (!options_quiet()) printf("\nPage: %s (open it in a browser)\n", a->html);
    return status;
}

/* Runs the command. parts: files to merge. Returns an exit status. */
static int run_command(policies_run *r, char **parts, int part_count) {
    int status, i;
    if ((status = make_cases(r)) != 0) return status;
    for (i = 0; i < part_count; i++)
        if (output_is_input("minigpu", r->arguments->csv, parts[i])) return 2;
    if ((status = open_outputs(r)) != 0) return status;
    r->outcomes = (victim_outcome *)calloc((size_t)r->e.requests * r->e.case_count, sizeof *r->outcomes);
    r->errors = (victim_drain_error *)calloc(r->e.requests, sizeof *r->errors);
    if (!r->outcomes || !r->errors) return fprintf(stderr, "minigpu: out of memory\n"), 1;
    progress_begin(&r->bar, "minigpu policies");
    for (i = 0; i < part_count; i++)
        if (policies_parts_read(&r->parts, parts[i], &r->e)) return 2;
    status = run_kernels(r);
    progress_unwatch(&r->bar);
    return status == 2 || r->stopped || r->arguments->shards ? status : finish(r, status);
}

/* ---- options ---- */

static int read_victims(const option_row *row, const char *text, void *target) {
    policies_arguments *a = (policies_arguments *)target;
    const char *at = strchr(text, '@');
    char name[32];
    uint64_t price;
    uint32_t which;
    (void)row;
    if (a->policies.count == POLICIES_MAX)
        return option_misuse("policies", "too many --victims; the last is", text), -1;
    if (at && option_number("--victims POLICY@", at + 1, 1, 1000000, &price)) return -1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "@"), text);
    a->policies.texts[a->policies.count++] = text;
    if (option_choice("--victims", name, policies_victim_name, &which)) return -1;
    if (!at || !strcmp(name, "joint")) return 0;
    return option_misuse("policies", "only joint takes a price, as joint@5; one is given in", text), -1;
}

static int read_deadline(const option_row *row, const char *text, void *target) {
    policies_arguments *a = (policies_arguments *)target;
    uint64_t number;
    if (a->limit_count == LIMITS_MAX) return option_misuse("policies", "too many --deadline-us; the last is", text), -1;
    if (option_number("--deadline-us", text, row->low, row->high, &number)) return -1;
    a->limits[a->limit_count++] = (uint32_t)number;
    return 0;
}

static int read_kernel(const option_row *row, const char *text, void *target) {
    policies_arguments *a = (policies_arguments *)target;
    uint32_t which;
    (void)row;
    if (option_choice("--kernel", text, victim_experiment_kernel, &which)) return -1;
    a->only[which] = a->some = 1;
    return 0;
}

static int read_regions(const option_row *row, const char *text, void *target) {
    policies_arguments *a = (policies_arguments *)target;
    (void)row;
    if (!launch_regions(text, &a->experiment.regions)) return 0;
    fprintf(stderr, "minigpu: --regions needs sparse or a number of instructions from 2 to 4096, not \"%s\"\n", text);
    return -1;
}

static int read_shard(const option_row *row, const char *text, void *target) {
    policies_arguments *a = (policies_arguments *)target;
    (void)row;
    return option_shard("--shard", text, &a->shard, &a->shards);
}

#define EXPERIMENT "The experiment"
#define WORK "Work and output"

static const option_row policies_rows[] = {
    {.name = "victims",
     .argument = "POLICY[@P]",
     .kind = OPTION_READ,
     .read = read_victims,
     .many = 1,
     .names = policies_victim_name,
     .samples = "dual|chimera|joint@5|oracle|switch|drain",
     .group = EXPERIMENT,
     .text = "Only this policy: %N. joint@P: a cycle of a late request costs P warp instructions (without P the "
             "deadline comes first, whatever it costs). May be repeated (default: dual, chimera, chimera+, joint, "
             "oracle, switch, drain, drain-then-switch)."},
    {.name = "policy", .now = "victims"},
    {.name = "deadline-us",
     .argument = "US",
     .kind = OPTION_READ,
     .read = read_deadline,
     .low = 1,
     .high = 1000,
     .many = 1,
     .samples = "1|5|1000",
     .group = EXPERIMENT,
     .text = "Only this deadline, whole microseconds from 1 to 1000. May be repeated (default: 2, 3, 4, 5)."},
    {.name = "limit", .now = "deadline-us"},
    {.name = "kernel",
     .argument = "NAME",
     .kind = OPTION_READ,
     .read = read_kernel,
     .many = 1,
     .names = victim_experiment_kernel,
     .group = EXPERIMENT,
     .text = "Only this kernel, as its folder is called. May be repeated."},
    {.name = "requests",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = 10000,
     .offset = offsetof(policies_arguments, experiment.requests),
     .group = EXPERIMENT,
     .text = "So many requests per kernel (16)."},
    {.name = "seed",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .high = UINT64_MAX,
     .offset = offsetof(policies_arguments, experiment.seed),
     .group = EXPERIMENT,
     .text = "Seed of the request times (1)."},
    {.name = "gpu",
     .argument = "PRESET",
     .kind = OPTION_TEXT,
     .offset = offsetof(policies_arguments, machine) + offsetof(machine_options, gpu),
     .names = gpump_gpu_preset_name,
     .group = EXPERIMENT,
     .text = "The GPU (gtx480_shieh). Deadlines are microseconds of its clock."},
    {.name = "context",
     .argument = "FORM",
     .kind = OPTION_CHOICE,
     .names = context_model,
     .offset = offsetof(policies_arguments, form),
     .group = EXPERIMENT,
     .text = "stall: a switched block stalls for its estimate, as in the paper (default). naive, live, live+compress, "
             "tb: its context is saved through the memory path in that form."},
    {.name = "switch", .now = "context"},
    {.name = "regions",
     .argument = "R",
     .kind = OPTION_READ,
     .read = read_regions,
     .samples = "sparse|32|2|4096",
     .group = EXPERIMENT,
     .text = "Kernels have idempotent regions, and the policy rewind may use them: sparse, or the most instructions of "
             "a short region."},
    {.name = "in-place",
     .kind = OPTION_FLAG,
     .offset = offsetof(policies_arguments, experiment.in_place),
     .group = EXPERIMENT,
     .text = "Switched blocks keep in place what the incoming kernel's positions do not reach, and move only the "
             "rest."},
    {.name = "processes",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = 1024,
     .offset = offsetof(policies_arguments, experiment.parallel),
     .group = WORK,
     .text = "N processes run at the same time (default: one per processor)."},
    {.name = "shard",
     .argument = "I/N",
     .kind = OPTION_READ,
     .read = read_shard,
     .samples = "0/1|0/2|1/2",
     .group = WORK,
     .text = "Only kernels i with i mod N = I, 0 <= I < N. Prints a part instead of tables."},
    {.name = "merge",
     .kind = OPTION_FLAG,
     .offset = offsetof(policies_arguments, merge),
     .group = WORK,
     .text = "Runs nothing: prints the tables of the parts PART..., with the options that their shards were given."},
    {.name = "html",
     .argument = "FILE",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(policies_arguments, html),
     .group = WORK,
     .text = "Writes also a page: the policies side by side at one request of the first kernel, in the middle of its "
             "run, at the first deadline."},
    {.name = "csv",
     .argument = "FILE",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(policies_arguments, csv),
     .group = WORK,
     .text = "Writes also one row per kernel, request, policy and deadline."},
    {.name = NULL}};
/* Of gpu_rows --config alone: --gpu has a default of its own here. */
static const option_set policies_sets[] = {
    {policies_rows, 0}, {gpu_rows + 1, offsetof(policies_arguments, machine)}, {NULL, 0}};

static const option_rule policies_rules[] = {
    {"shard merge|csv|html", NULL, "--shard comes without --merge, --csv and --html"},
    {"victims=rewind", "regions", "--victims rewind needs --regions sparse, or --regions N"},
    {"merge html", NULL, "--merge has no runs to show: leave out --html"},
    {NULL, NULL, NULL}};
static const option_rule *const policies_rule_arrays[] = {policies_rules, NULL};

static void defaults(policies_arguments *a) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    memset(a, 0, sizeof *a);
    a->experiment.requests = 16;
    a->experiment.seed = 1;
    a->experiment.parallel = processors > 1 ? (uint32_t)processors : 1;
}

/* Sets the default policies and deadlines where the command line names none. */
static void complete(policies_arguments *a) {
    static const char *const usual[] = {"dual",   "chimera", "chimera+", "joint",
                                        "oracle", "switch",  "drain",    "drain-then-switch"};
    uint32_t l;
    if (!a->limit_count)
        for (l = 2; l <= 5; l++) a->limits[a->limit_count++] = l;
    if (a->policies.count) return;
    memcpy(a->policies.texts, usual, sizeof usual);
    a->policies.count = sizeof usual / sizeof *usual;
}

static int policies(const option_command *command, int argc, char **argv) {
    static char folder[4096];
    static policies_arguments a;
    static policies_run r;
    int operands, status;
    defaults(&a);
    status = options_read(command, argc, argv, &a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if (a.merge ? !operands : operands)
        return option_misuse("policies", a.merge ? "--merge needs parts" : "options only; not one is",
                             a.merge ? NULL : argv[1]);
    complete(&a);
    r.arguments = &a;
    r.e = a.experiment;
    r.e.kernels_dir = installed_folder("minigpu/kernels", MINIGPU_SOURCE_DIR "/kernels", folder, sizeof folder);
    r.shown = GPUMP_NONE;
    status = run_command(&r, argv + 1, operands);
    policies_parts_free(&r.parts);
    free(r.outcomes);
    free(r.errors);
    return status;
}

const option_command policies_command = {
    .name = "policies",
    .what = "victim-selection policies at the same requests: the tables of Shieh chapter 4",
    .usage = "minigpu policies [options]\nminigpu policies --merge PART... [options]",
    .sets = policies_sets,
    .rules = policies_rule_arrays,
    .notes =
        "Kernels of Shieh Table 4.2 run on gtx480_shieh. At random times a kernel of high priority asks for room "
        "for 90 blocks within a deadline. Every policy meets every request in a copy of the same machine. Prints a "
        "table over all kernels and one per kernel, in Markdown.\n"
        "exit status: 0 done, 1 a run failed, 2 bad input",
    .run = policies,
};
