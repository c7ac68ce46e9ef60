/* page: see page.h. */
#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "page_text.h"

#define JSON_FLAGS (JSON_COMPACT | JSON_ESCAPE_SLASH | JSON_REAL_PRECISION(9)) /* no </script> inside strings */

struct page {
    FILE *file;
    json_t *about;
    uint64_t runs;
    int failed;
};

/* ---- a run as JSON: small values by jansson, long lists of numbers directly ---- */

static json_t *number(uint64_t value) {
    return value == TIMELINE_NEVER ? json_null() : json_integer((json_int_t)value);
}

static json_t *index_or_null(uint32_t index) {
    return index == TIMELINE_NONE ? json_null() : json_integer((json_int_t)index);
}

static int write_member(FILE *file, const char *name, json_t *value) {
    int failed = fprintf(file, "\"%s\":", name) < 0 || !value ||
                 json_dumpf(value, file, JSON_FLAGS | JSON_ENCODE_ANY) || fputs(",\n", file) < 0;
    json_decref(value);
    return failed;
}

static json_t *kernels_json(const timeline *t) {
    json_t *list = json_array();
    uint32_t i;
    for (i = 0; i < t->kernel_count; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:i}", "name", t->kernels[i].name, "process",
                                              t->kernels[i].detail, "colour", (int)t->kernels[i].group));
    return list;
}

static json_t *groups_json(const timeline *t) {
    json_t *list = json_array();
    uint32_t i;
    for (i = 0; i < t->group_count; i++) json_array_append_new(list, json_string(t->groups[i].name));
    return list;
}

static json_t *requests_json(const timeline *t) {
    json_t *list = json_array();
    uint64_t i;
    for (i = 0; i < t->request_count; i++) {
        const timeline_request *r = &t->requests[i];
        json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:o}", "cycle", number(r->cycle), "limit",
                                              number(r->limit_cycles), "served", number(r->served_cycle), "kernel",
                                              index_or_null(r->kernel)));
    }
    return list;
}

static json_t *victims_json(const timeline *t) {
    json_t *list = json_array();
    uint64_t i;
    uint32_t n;
    for (i = 0; i < t->victim_count; i++) {
        const timeline_victim *v = &t->victims[i];
        json_t *cycles = json_array(), *overhead = json_array();
        for (n = 0; n < TIMELINE_TECHNIQUES && gpump_technique_at(n); n++) {
            json_array_append_new(cycles, number(v->estimate.cycles[n]));
            json_array_append_new(overhead, number(v->estimate.overhead[n]));
        }
        json_array_append_new(list, json_pack("[i,i,i,o,o,o,i,o,o,o,o,o,o]", (int)v->request, (int)v->row,
                                              (int)v->kernel, number(v->block), number(v->told_cycle),
                                              number(v->end_cycle), (int)v->technique, index_or_null(v->left_by),
                                              number(v->bytes), number(v->dropped), number(v->cost), cycles, overhead));
    }
    return list;
}

static json_t *marks_json(const timeline *t) {
    json_t *list = json_array();
    uint64_t i;
    for (i = 0; i < t->mark_count; i++)
        json_array_append_new(list, json_pack("[o,o,s,o,o]", number(t->marks[i].cycle), index_or_null(t->marks[i].row),
                                              t->marks[i].what, index_or_null(t->marks[i].kernel),
                                              number(t->marks[i].block)));
    return list;
}

static json_t *series_json(const timeline *t) {
    json_t *list = json_array();
    uint32_t i;
    for (i = 0; i < t->series_count; i++) {
        const timeline_series *s = &t->series[i];
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:f,s:f,s:b,s:o}", "chart", s->chart, "name", s->name,
                                              "unit", s->unit, "scale", s->scale, "limit", s->limit, "counter",
                                              s->kind == TIMELINE_COUNTER, "kernel", index_or_null(s->kernel)));
    }
    return list;
}

/* Writes rows with their spans. A span is the gap since the end of the previous span, duration, phase, kernel, block,
 * victim (0: none). */
static int write_rows(FILE *file, const timeline *t) {
    uint64_t *first = (uint64_t *)calloc((size_t)t->row_count + 2, sizeof *first), i, n, end;
    uint64_t *order = (uint64_t *)malloc((size_t)(t->span_count + 1) * sizeof *order);
    uint32_t row, written = 0;
    int failed = !first || !order || fputs("\"rows\":[", file) < 0;
    if (!failed) {
        for (i = 0; i < t->span_count; i++) first[t->spans[i].row + 2]++;
        for (row = 0; row < t->row_count; row++) first[row + 2] += first[row + 1];
        for (i = 0; i < t->span_count; i++)
            order[first[t->spans[i].row + 1]++] = i; /* first[row]: the row's first span */
    }
    for (row = 0; !failed && row < t->row_count; row++) {
        json_t *name;
        if (t->rows[row].group == TIMELINE_NONE) continue;
        name = json_string(t->rows[row].name);
        failed |= fprintf(file, "%s{\"row\":%u,\"group\":%u,\"name\":", written++ ? ",\n" : "", row,
                          t->rows[row].group) < 0 ||
                  !name || json_dumpf(name, file, JSON_FLAGS | JSON_ENCODE_ANY) || fputs(",\"spans\":[", file) < 0;
        json_decref(name);
        for (n = first[row], end = 0; n < first[row + 1]; n++) {
            const timeline_span *s = &t->spans[order[n]];
            failed |= fprintf(file, "%s%" PRIu64 ",%" PRIu64 ",%u,%u,%" PRIu64 ",%u", n == first[row] ? "" : ",",
                              s->start - end, s->end - s->start, s->phase, s->kernel, s->block, s->victim + 1) < 0;
            end = s->end;
        }
        failed |= fputs("]}", file) < 0;
    }
    free(first);
    free(order);
    return failed | (fputs("],\n", file) < 0);
}

/* Writes samples, each series as differences from its previous value. */
static int write_samples(FILE *file, const timeline *t) {
    uint64_t i, last = 0;
    uint32_t s;
    int failed = fputs("\"sample_cycles\":[", file) < 0;
    for (i = 0; i < t->sample_count; i++) {
        failed |= fprintf(file, "%s%" PRIu64, i ? "," : "", t->sample_cycles[i] - last) < 0;
        last = t->sample_cycles[i];
    }
    failed |= fputs("],\n\"samples\":[", file) < 0;
    for (s = 0; s < t->series_count; s++) {
        failed |= fputs(s ? ",\n[" : "[", file) < 0;
        for (i = 0, last = 0; i < t->sample_count; i++) {
            uint64_t value = t->samples[i * t->series_count + s];
            failed |= fprintf(file, "%s%" PRId64, i ? "," : "", (int64_t)(value - last)) < 0;
            last = value;
        }
        failed |= fputs("]", file) < 0;
    }
    return failed | (fputs("],\n", file) < 0);
}

int page_write_run(FILE *file, const char *name, const timeline *t, json_t *facts) {
    int failed = fputs("{", file) < 0 || t->failed;
    failed |= write_member(file, "name", json_string(name));
    failed |= write_member(file, "facts", facts ? facts : json_array());
    failed |= write_member(file, "work", json_string(t->work_unit));
    failed |= write_member(file, "kernels", kernels_json(t));
    failed |= write_member(file, "groups", groups_json(t));
    failed |= write_member(file, "requests", requests_json(t));
    failed |= write_member(file, "victims", victims_json(t));
    failed |= write_member(file, "marks", marks_json(t));
    failed |= write_member(file, "series", series_json(t));
    failed |= write_samples(file, t);
    failed |= write_rows(file, t);
    failed |= fprintf(file, "\"clock_khz\":%u,\"begin\":%" PRIu64 ",\"end\":%" PRIu64 "}", t->clock_khz, t->begin_cycle,
                      t->end_cycle) < 0;
    return failed ? -1 : 0;
}

/* ---- the page ---- */

/* Writes the page's frame up to a comment, and returns the text behind the comment. */
static const char *write_until(page *p, const char *text, const char *comment) {
    const char *end = strstr(text, comment);
    size_t length = end ? (size_t)(end - text) : strlen(text);
    if (fwrite(text, 1, length, p->file) != length) p->failed = 1;
    return end ? end + strlen(comment) : text + length;
}

page *page_open(const char *path, json_t *about) {
    page *p = (page *)calloc(1, sizeof *p);
    json_t *record = json_object_get(about, "record"), *techniques = json_array(), *title = NULL;
    const char *rest;
    if (p) p->file = fopen(path, "w");
    if (!p || !p->file) {
        json_decref(techniques);
        json_decref(about);
        free(p);
        return NULL;
    }
    p->about = about;
    for (uint32_t i = 0; gpump_technique_at(i); i++)
        json_array_append_new(techniques, json_string(gpump_technique_at(i)->name));
    json_object_set_new(about, "techniques", techniques);
    json_array_insert_new(record, 0, json_pack("[s,i]", "model version (GPUMP_MODEL_VERSION)", GPUMP_MODEL_VERSION));
    json_array_insert_new(
        record, 0,
        json_pack("[s,o]", "gpump",
                  json_sprintf("%d.%d.%d", GPUMP_VERSION_MAJOR, GPUMP_VERSION_MINOR, GPUMP_VERSION_PATCH)));
    title = json_object_get(about, "title");
    rest = write_until(p, page_html, "<!-- title -->");
    for (const char *c = json_string_value(title); c && *c; c++) {
        const char *entity = *c == '<' ? "&lt;" : *c == '&' ? "&amp;" : NULL;
        if (entity ? fputs(entity, p->file) < 0 : fputc(*c, p->file) == EOF) p->failed = 1;
    }
    rest = write_until(p, rest, "<!-- css -->");
    if (fputs(page_css, p->file) < 0) p->failed = 1;
    write_until(p, rest, "<!-- data -->");
    if (fputs("{\"about\":", p->file) < 0 || json_dumpf(about, p->file, JSON_FLAGS) ||
        fputs(",\n\"runs\":[", p->file) < 0)
        p->failed = 1;
    return p;
}

static void separate(page *p) {
    if (p->runs++ && fputs(",\n", p->file) < 0) p->failed = 1;
}

void page_run(page *p, const char *name, const timeline *t, json_t *facts) {
    separate(p);
    if (page_write_run(p->file, name, t, facts)) p->failed = 1;
}

void page_copy_run(page *p, FILE *file) {
    char text[4096];
    size_t length;
    separate(p);
    while ((length = fread(text, 1, sizeof text, file)) > 0)
        if (fwrite(text, 1, length, p->file) != length) p->failed = 1;
    if (ferror(file)) p->failed = 1;
}

int page_close(page *p) {
    const char *rest = strstr(page_html, "<!-- data -->");
    int failed;
    if (fputs("]}\n", p->file) < 0) p->failed = 1;
    if (rest) {
        rest = write_until(p, rest + strlen("<!-- data -->"), "<!-- js -->");
        if (fputs(page_js, p->file) < 0) p->failed = 1;
        write_until(p, rest, "<!-- end -->");
    }
    failed = p->failed;
    if (fclose(p->file)) failed = 1;
    json_decref(p->about);
    free(p);
    if (failed && !errno) errno = ENOMEM;
    return failed ? -1 : 0;
}

json_t *page_file(const char *path) {
    FILE *file = fopen(path, "r");
    json_t *list = json_array(), *text = NULL;
    char *content = (char *)malloc(1 << 20);
    const char *name = strrchr(path, '/');
    if (file && content) text = json_stringn(content, fread(content, 1, 1 << 20, file));
    if (text) json_array_append_new(list, json_pack("[s,o]", name ? name + 1 : path, text));
    free(content);
    if (file) fclose(file);
    return list;
}

void page_record_gpu(json_t *record, const gpump_gpu *gpu, const char *preset) {
    const struct {
        const char *field, *name;
        uint64_t value;
    } rows[] = {{"sms", "SMs", gpu->sms},
                {"clock_khz", "clock, kHz", gpu->clock_khz},
                {"warp_slots", "warp slots of an SM", gpu->warp_slots},
                {"block_slots", "block slots of an SM", gpu->block_slots},
                {"registers", "32-bit registers of an SM", gpu->registers},
                {"schedulers", "warp schedulers of an SM", gpu->schedulers},
                {"memory_mb_per_s", "memory bandwidth, MB/s", gpu->memory_mb_per_s}};
    gpump_provenance provenance;
    const char *source;
    size_t i;
    json_array_append_new(record, json_pack("[s,s]", "GPU", preset));
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (gpump_gpu_provenance(preset, rows[i].field, &provenance, &source) != GPUMP_OK) source = "";
        json_array_append_new(record, json_pack("[s,I,s]", rows[i].name, (json_int_t)rows[i].value, source));
    }
}
