/* demo_command: see demo_command.h. */
#include "tools/demo_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "installed.h"
#include "tools/html_page.h"
#include "tools/outputs.h"
#include "tools/run_machine.h"

#ifndef MINIGPU_SOURCE_DIR
#define MINIGPU_SOURCE_DIR "."
#endif

const char *demo_program = "minigpu";

typedef struct demo_arguments {
    const char *gpu, *html, *trace;
} demo_arguments;

typedef struct demo_row {
    preemption_summary summary;
    uint64_t urgent_cycles, other_cycles;
    int status;
} demo_row;

/* The demo: two kernels of one launch file. */
typedef struct demo {
    launch_file launch;
    machine_options options;
    const demo_arguments *arguments;
    uint32_t urgent; /* the kernel of the highest priority */
    page *shown;     /* the page; NULL before the first run opens it */
} demo;

static const char *kernel_name(const demo *d, int urgent) {
    return d->launch.kernels[urgent ? d->urgent : d->urgent == 0].name;
}

static uint32_t urgent_kernel(const launch_file *launch) {
    uint32_t i, urgent = 0;
    for (i = 1; i < launch->kernel_count; i++) {
        if (launch->kernels[i].priority > launch->kernels[urgent].priority) urgent = i;
    }
    return urgent;
}

/* Opens the page. Returns an exit status. */
static int open_page(demo *d, const machine *m) {
    char title[256], intro[512];
    const char *other = kernel_name(d, 0);
    snprintf(title, sizeof title, "%s makes room for %s", other, kernel_name(d, 1));
    snprintf(intro, sizeof intro,
             "%s has the whole GPU. Then %s arrives with a higher priority and needs SMs at once. The same run is "
             "shown three times: the blocks of %s drain (run to their ends), are switched (saved to memory, and "
             "restored later), or are flushed (dropped, and started again).",
             other, kernel_name(d, 1), other);
    d->shown = page_open(d->arguments->html, html_page_about(m, &d->launch, title, intro));
    return d->shown ? EXIT_RIGHT : cannot_write(d->arguments->html);
}

#define TRACE_PATH_BYTES 512u
static const uint32_t techniques[] = {GPUMP_TECHNIQUE_DRAIN, GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_FLUSH};
#define TECHNIQUES (sizeof techniques / sizeof *techniques)

static void trace_path(const demo *d, uint32_t technique, char path[TRACE_PATH_BYTES]) {
    snprintf(path, TRACE_PATH_BYTES, "%s/demo-%s.json", d->arguments->trace, technique_name(technique));
}

/* Returns 1 when neither the page nor a trace is an input of the runs, else 0 after a report. */
static int spares_inputs(const demo *d) {
    char traces[TECHNIQUES][TRACE_PATH_BYTES];
    const char *outputs[1 + TECHNIQUES] = {d->arguments->html};
    uint32_t i;
    for (i = 0; i < TECHNIQUES && d->arguments->trace; i++) {
        trace_path(d, techniques[i], traces[i]);
        outputs[1 + i] = traces[i];
    }
    return !outputs_spare(&d->launch, outputs, 1 + TECHNIQUES);
}

/* Runs a built machine. Adds its timeline to the page and to the folder of traces. Returns the exit status. */
static int run_built(demo *d, machine *m, demo_row *row) {
    const char *technique = technique_name(d->options.technique), *folder = d->arguments->trace;
    char trace[TRACE_PATH_BYTES];
    kernel_check *checks;
    run_result result;
    timeline *recorded = NULL;
    uint32_t i;
    if (!d->shown && (row->status = open_page(d, m)) != EXIT_RIGHT) return row->status;
    row->status = run_machine(m, &d->launch, &recorded, &result, &checks);
    if (folder) trace_path(d, d->options.technique, trace);
    if (recorded) page_run(d->shown, technique, recorded, html_page_facts(&result));
    if (recorded && folder && timeline_write_trace(recorded, trace)) row->status = cannot_write(trace);
    timeline_free(recorded);
    report_preemptions(m, &row->summary);
    for (i = 0; i < m->kernel_count; i++) {
        uint64_t cycles = m->kernels[i].end_cycle == NEVER ? 0 : m->kernels[i].end_cycle - m->kernels[i].ready_cycle;
        if (i == d->urgent)
            row->urgent_cycles = cycles;
        else if (cycles > row->other_cycles)
            row->other_cycles = cycles;
        if (checks && checks[i].result == CHECK_WRONG) fprintf(stderr, "WRONG: %s\n", checks[i].text);
    }
    free(checks);
    return row->status;
}

static void print_heading(const demo *d) {
    printf("%-8s %6s %7s %18s %12s %14s %14s %14s  %s\n", "", "", "", "preemption latency", "bytes saved",
           "work wasted", kernel_name(d, 1), kernel_name(d, 0), "results");
    printf("%-8s %6s %7s %18s %12s %14s %14s %14s\n", "", "SMs", "blocks", "mean / worst, us", "", "warp instr.", "us",
           "us");
}

static void print_row(const demo *d, const demo_row *row, double us) {
    const preemption_summary *s = &row->summary;
    printf("%-8s %6" PRIu64 " %7" PRIu64 " %10.2f / %5.2f %12" PRIu64 " %14" PRIu64 " %14.2f %14.2f  %s\n",
           technique_name(d->options.technique), s->count, s->blocks,
           s->count ? (double)s->latency_sum / (double)s->count * us : 0, (double)s->latency_max * us, s->bytes_saved,
           s->wasted_warp_instructions, (double)row->urgent_cycles * us, (double)row->other_cycles * us,
           row->status == EXIT_RIGHT ? "both right" : "WRONG");
    if (s->refused_blocks)
        printf("         %" PRIu64 " blocks were switched instead: %s\n", s->refused_blocks,
               gpump_reason_text((gpump_reason)s->refused));
}

/* Runs one technique, and prints its row. Returns the exit status. Without a page the demo ends. */
static int run_technique(demo *d, uint32_t technique, int is_first) {
    char error[LAUNCH_ERROR_BYTES];
    demo_row row;
    machine *m;
    memset(&row, 0, sizeof row);
    d->options.technique = technique;
    if (!(m = machine_build(&d->launch, &d->options, error))) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    run_built(d, m, &row);
    if (d->shown && is_first) print_heading(d);
    if (d->shown) print_row(d, &row, 1000.0 / (double)m->config.gpu.clock_khz);
    machine_free(m);
    return row.status;
}

static void print_end(const demo *d) {
    const char *path = d->launch.path;
    if (d->arguments->trace)
        printf("\nTraces: %s/demo-drain.json, demo-switch.json and demo-flush.json (open them at "
               "https://ui.perfetto.dev)\n",
               d->arguments->trace);
    printf("\nDraining saves and wastes nothing but waits for the longest block. Switching moves every block's "
           "registers and shared memory. Flushing is\nimmediate and does the work again.\n"
           "Next: change the grids, priorities or arrival in %s, or preempt at a moment of your choice:\n"
           "  %s run %s --preempt 5000:flush --html run.html\n"
           "The three runs, side by side on one time axis, are in this page; open it in a browser:\n"
           "  %s\n",
           path, demo_program, path, d->arguments->html);
}

static int run_demo(demo *d) {
    uint32_t i;
    int status = EXIT_RIGHT, one;
    if (d->launch.kernel_count < 2) {
        fprintf(stderr, "%s: the demo needs two kernels\n", d->launch.path);
        return EXIT_BAD_INPUT;
    }
    d->urgent = urgent_kernel(&d->launch);
    printf("%s runs on the whole GPU. At cycle %" PRIu64
           " %s arrives with a higher priority and needs SMs at once.\n\n",
           kernel_name(d, 0), d->launch.kernels[d->urgent].arrival_cycle, kernel_name(d, 1));
    for (i = 0; i < TECHNIQUES; i++) {
        one = run_technique(d, techniques[i], i == 0);
        if (!d->shown) return one; /* the machine or the page could not be made */
        if (one != EXIT_RIGHT) status = one;
    }
    if (page_close(d->shown)) return cannot_write(d->arguments->html);
    print_end(d);
    return status;
}

static int command_demo(const option_command *command, int argc, char **argv) {
    static char folder[4096], own_path[4200];
    demo_arguments a = {NULL, "preemption_demo.html", NULL};
    char error[LAUNCH_ERROR_BYTES];
    const char *path = own_path;
    demo d;
    int operands, status = options_read(command, argc, argv, &a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if (operands > 1) return option_misuse("demo", "one launch FILE; one too many is", argv[2]);
    snprintf(own_path, sizeof own_path, "%s/demo.yaml",
             installed_folder("minigpu", MINIGPU_SOURCE_DIR, folder, sizeof folder));
    if (operands) path = argv[1];
    memset(&d, 0, sizeof d);
    d.arguments = &a;
    machine_options_default(&d.options);
    d.options.gpu = a.gpu;
    if (launch_file_read(&d.launch, path, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    status = spares_inputs(&d) ? run_demo(&d) : EXIT_BAD_INPUT;
    launch_file_free(&d.launch);
    return status;
}

static const option_row demo_rows[] = {
    {.name = "gpu",
     .argument = "PRESET",
     .kind = OPTION_TEXT,
     .offset = offsetof(demo_arguments, gpu),
     .names = gpump_gpu_preset_name,
     .group = "Options",
     .text = "The GPU (default: the launch file's)."},
    {.name = "html",
     .argument = "OUT.html",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(demo_arguments, html),
     .group = "Options",
     .text = "Where the page goes that shows the runs side by side (preemption_demo.html)."},
    {.name = "trace",
     .argument = "FOLDER",
     .kind = OPTION_FOLDER,
     .offset = offsetof(demo_arguments, trace),
     .group = "Options",
     .text = "Also writes a Chrome trace-event file of each run there: demo-drain.json, demo-switch.json, "
             "demo-flush.json."},
    {.name = NULL}};
static const option_set demo_sets[] = {{demo_rows, 0}, {NULL, 0}};

const option_command demo_command = {
    .name = "demo",
    .what = "two kernels, three ways of preempting one for the other",
    .usage = "minigpu demo [FILE] [options]",
    .operands = "FILE|launch file with two kernels (default: the demo.yaml that minigpu brings along), which runs once "
                "for each way of preempting the first for the second",
    .sets = demo_sets,
    .notes = "exit status: 0 done and right, 1 something is wrong, 2 bad input",
    .run = command_demo,
};
