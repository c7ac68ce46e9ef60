/* trace_file: a timeline as Chrome trace events (timeline.h). */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline.h"

typedef struct trace_file {
    FILE *file;
    const timeline *timeline;
    uint64_t events;
    int failed;
} trace_file;

/* Words for phases, in front of a kernel's name and as a category. */
static const char *const verbs[TIMELINE_PHASES] = {"",       "", "stop ",   "save ",       "restore ",
                                                   "drain ", "", "CPU of ", "transfer of "};
static const char *const categories[TIMELINE_PHASES] = {"",      "run",    "stop", "save",    "restore",
                                                        "drain", "kernel", "CPU",  "transfer"};
/* Chrome's names of colours, for viewers that know them: one per kernel. */
static const char *const colours[] = {"thread_state_running",    "rail_response", "rail_animation",
                                      "thread_state_iowait",     "rail_load",     "cq_build_passed",
                                      "cq_build_attempt_runnig", "generic_work"};

static double microseconds(const trace_file *f, uint64_t cycles) {
    return (double)cycles * 1000.0 / (double)f->timeline->clock_khz;
}

static const char *kernel_name(const timeline *t, uint32_t kernel) {
    return kernel < t->kernel_count ? t->kernels[kernel].name : "";
}

/* Writes an event, and takes it over. */
static void write_event(trace_file *f, json_t *event) {
    if (!event || fputs(f->events++ ? ",\n" : "[\n", f->file) < 0 ||
        json_dumpf(event, f->file, JSON_COMPACT | JSON_REAL_PRECISION(12)))
        f->failed = 1;
    json_decref(event);
}

static void write_name(trace_file *f, const char *kind, uint32_t group, uint32_t row, const char *name) {
    write_event(f, json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "ph", "M", "name", kind, "pid", (int)group, "tid", (int)row,
                             "args", "name", name));
}

static void write_span(trace_file *f, const timeline_span *span, const uint32_t *tids) {
    const timeline *t = f->timeline;
    const char *kernel = span->kernel < t->kernel_count ? t->kernels[span->kernel].name : t->rows[span->row].name;
    const int runs = span->phase == TIMELINE_RUN || span->phase == TIMELINE_KERNEL;
    write_event(f, json_pack("{s:s,s:o,s:s,s:i,s:i,s:f,s:f,s:s,s:{s:I,s:I,s:I}}", "ph", "X", "name",
                             json_sprintf("%s%s", verbs[span->phase], kernel), "cat", categories[span->phase], "pid",
                             (int)t->rows[span->row].group, "tid", (int)tids[span->row], "ts",
                             microseconds(f, span->start), "dur", microseconds(f, span->end - span->start), "cname",
                             runs ? colours[span->kernel % (sizeof colours / sizeof *colours)] : "terrible", "args",
                             "block", (json_int_t)span->block, "from cycle", (json_int_t)span->start, "to cycle",
                             (json_int_t)span->end));
}

static void write_mark(trace_file *f, const timeline_mark *mark, const uint32_t *tids) {
    const timeline *t = f->timeline;
    const char *kernel = kernel_name(t, mark->kernel);
    const int global = mark->row == TIMELINE_NONE;
    write_event(
        f, json_pack("{s:s,s:o,s:s,s:s,s:i,s:i,s:f}", "ph", "i", "name",
                     global ? json_sprintf("%s %s", kernel, mark->what) : json_sprintf("%s %s", mark->what, kernel),
                     "cat", mark->what, "s", global ? "g" : "t", "pid", global ? 0 : (int)t->rows[mark->row].group,
                     "tid", global ? 0 : (int)tids[mark->row], "ts", microseconds(f, mark->cycle)));
}

int timeline_write_trace(const timeline *t, const char *path) {
    trace_file f;
    uint32_t *tids, i, group = TIMELINE_NONE, tid = 0;
    uint64_t n;
    memset(&f, 0, sizeof f);
    f.timeline = t;
    f.file = fopen(path, "w");
    if (!f.file) return -1;
    tids = (uint32_t *)calloc(t->row_count + 1, sizeof *tids);
    if (!tids) f.failed = 1;
    for (i = 0; i < t->group_count; i++) write_name(&f, "process_name", i, 0, t->groups[i].name);
    for (i = 0; tids && i < t->row_count; i++) {
        if (t->rows[i].group == TIMELINE_NONE) continue;
        tid = t->rows[i].group == group ? tid + 1 : 0;
        group = t->rows[i].group;
        tids[i] = tid;
        write_name(&f, "thread_name", group, tid, t->rows[i].name);
    }
    for (n = 0; tids && n < t->span_count; n++) write_span(&f, &t->spans[n], tids);
    for (n = 0; tids && n < t->mark_count; n++) write_mark(&f, &t->marks[n], tids);
    if (fputs("\n]\n", f.file) < 0) f.failed = 1;
    free(tids);
    if (fclose(f.file) || f.failed || t->failed) {
        if (!errno) errno = ENOMEM;
        return -1;
    }
    return 0;
}
