/* reports: the output of a machine that has run: printf of its kernels, the report, the page, the trace (runtime.h). */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "page.h"
#include "parts/trace/trace.h"
#include "sm/runtime_calls.h"
#include "tools/html_page.h"
#include "tools/no_effect.h"
#include "tools/report.h"

#define PAGES_MAX 20u

static effects_seen effects;
static double began; /* processor time when the machine began, seconds */
static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int records(const configuration *c) { return c->run.html || c->run.trace; }

int reports_are_wanted(void) {
    const configuration *c = &cudart.configuration;
    return c->report || c->record || records(c);
}

void reports_built(void *user, machine *m, const launch_file *launch) {
    const run_arguments *a = &cudart.configuration.run;
    (void)user;
    if (a->deadline_ns != NEVER) m->limit_cycles = gpump_gpu_cycles_from_ns(&m->config.gpu, a->deadline_ns);
    m->late_price = a->late_price;
    if (records(&cudart.configuration) && trace_open(m, launch)) runtime_say("no memory to record the run");
    if (cudart.configuration.record) records_built(m, launch);
    began = seconds_now();
}

/* NAME.html, then NAME-2.html, NAME-3.html. */
static const char *numbered(const char *path, unsigned number, char *text, size_t bytes) {
    const char *dot = strrchr(path, '.');
    if (number == 1) return path;
    if (!dot || strchr(dot, '/')) dot = path + strlen(path);
    snprintf(text, bytes, "%.*s-%u%s", (int)(dot - path), path, number, dot);
    return text;
}

static void write_page(const char *path, const run_result *result, const timeline *recorded) {
    char title[256];
    page *p;
    snprintf(title, sizeof title, "%s on the mini-GPU", result->launch->path);
    p = page_open(path, html_page_about(result->machine, NULL, title, ""));
    if (p)
        page_run(p, result->machine->policy ? result->machine->policy->name : "run", recorded, html_page_facts(result));
    if (!p || page_close(p)) runtime_say("cannot write %s", path);
}

/* A page and a trace of each machine, of the first PAGES_MAX. */
static void write_records(const machine *m, const run_result *result) {
    static unsigned number;
    const run_arguments *a = &cudart.configuration.run;
    timeline *recorded = trace_close((machine *)(uintptr_t)m);
    char text[512];
    if (recorded && number == PAGES_MAX)
        runtime_say("html, trace: the first %u machines have a page or a trace, and no more", PAGES_MAX);
    else if (recorded) {
        number++;
        if (a->html) write_page(numbered(a->html, number, text, sizeof text), result, recorded);
        if (a->trace && timeline_write_trace(recorded, numbered(a->trace, number, text, sizeof text)))
            runtime_say("cannot write %s", a->trace);
    }
    timeline_free(recorded);
}

void reports_ran(void *user, machine *m, const launch_file *launch, int failed) {
    kernel_check *checks = failed ? NULL : (kernel_check *)calloc(launch->kernel_count, sizeof *checks);
    run_result result;
    (void)user;
    memset(&result, 0, sizeof result);
    result.checks = checks; /* nothing is expected: the program checks */
    result.machine = m;
    result.launch = launch;
    result.seconds = seconds_now() - began;
    result.error = failed ? m->error : NULL;
    if (!failed) effects_note(&effects, m);
    if (cudart.configuration.record && !failed) records_ran(m, launch);
    fflush(stdout); /* the program's own lines stand before those of its kernels */
    runtime_calls_print(m, stdout);
    if (cudart.configuration.report) {
        report_text(&result, stderr);
        if (cudart.configuration.run.stats) report_statistics(m, stderr);
    }
    if (records(&cudart.configuration)) write_records(m, &result);
    free(checks);
}

void reports_end(void) { no_effect_report(&cudart.configuration.run, &effects, stderr); }
