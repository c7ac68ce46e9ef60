/* timeline: see timeline.h. */
#include "timeline.h"

#include "gpump_once.h"

#include <stdlib.h>
#include <string.h>

struct timeline_state {
    uint64_t since, block;
    uint32_t phase, kernel, victim, used;
};

/* Makes room for one more element. Capacities are powers of two, so an array is full when its count is one. Returns 0,
 * or -1 when memory is out; the array stays as it is. */
static int grow(timeline *t, void **array, uint64_t count, size_t element_bytes) {
    void *larger;
    if (t->failed) return -1;
    if (count & (count - 1)) return 0;
    larger = realloc(*array, (size_t)(count ? count * 2 : 1) * element_bytes);
    if (!larger) {
        t->failed = 1;
        return -1;
    }
    *array = larger;
    return 0;
}

static char *copy_text(timeline *t, const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *copy = (char *)malloc(bytes);
    if (!copy)
        t->failed = 1;
    else
        memcpy(copy, text, bytes);
    return copy;
}

timeline *timeline_open(uint32_t clock_khz, const char *work_unit) {
    timeline *t = (timeline *)calloc(1, sizeof *t);
    if (!t) return NULL;
    t->clock_khz = clock_khz;
    t->work_unit = work_unit;
    t->begin_cycle = t->sample_cycle = t->looked_cycle = TIMELINE_NEVER;
    t->sample_step = 16;
    return t;
}

static void free_names(timeline_name *names, uint32_t count) {
    uint32_t i;
    for (i = 0; i < count; i++) {
        free(names[i].name);
        free(names[i].detail);
    }
    free(names);
}

void timeline_free(timeline *t) {
    if (!t) return;
    free_names(t->groups, t->group_count);
    free_names(t->rows, t->row_count);
    free_names(t->kernels, t->kernel_count);
    free(t->spans);
    free(t->marks);
    free(t->requests);
    free(t->victims);
    free(t->series);
    free(t->states);
    free(t->sample_cycles);
    free(t->samples);
    free(t);
}

static uint32_t add_name(timeline *t, timeline_name **names, uint32_t *count, const char *name, const char *detail,
                         uint32_t group) {
    timeline_name *one;
    if (grow(t, (void **)names, *count, sizeof **names)) return TIMELINE_NONE;
    one = &(*names)[*count];
    one->name = copy_text(t, name);
    one->detail = copy_text(t, detail);
    one->group = group;
    return (*count)++;
}

uint32_t timeline_group(timeline *t, const char *name) { return add_name(t, &t->groups, &t->group_count, name, "", 0); }

uint32_t timeline_row(timeline *t, uint32_t group, const char *name) {
    if (grow(t, (void **)&t->states, t->row_count, sizeof *t->states)) return TIMELINE_NONE;
    memset(&t->states[t->row_count], 0, sizeof *t->states);
    t->states[t->row_count].victim = TIMELINE_NONE;
    return add_name(t, &t->rows, &t->row_count, name, "", group);
}

uint32_t timeline_kernel(timeline *t, const char *name, const char *process, uint32_t colour) {
    return add_name(t, &t->kernels, &t->kernel_count, name, process, colour);
}

uint32_t timeline_add_series(timeline *t, const timeline_series *series) {
    if (grow(t, (void **)&t->series, t->series_count, sizeof *t->series)) return TIMELINE_NONE;
    if (!t->series_count) {
        t->sample_cycles = (uint64_t *)calloc(TIMELINE_SAMPLES, sizeof *t->sample_cycles);
        if (!t->sample_cycles) t->failed = 1;
        t->sample_cycle = 0;
    }
    t->series[t->series_count] = *series;
    return t->series_count++;
}

timeline_phase timeline_phase_of(const timeline *t, uint32_t row) {
    return t->failed ? TIMELINE_NOTHING : (timeline_phase)t->states[row].phase;
}

void timeline_add_span(timeline *t, uint32_t row, timeline_phase phase, uint32_t kernel, uint64_t block, uint64_t start,
                       uint64_t end) {
    timeline_span *span;
    if (row >= t->row_count || end <= start || grow(t, (void **)&t->spans, t->span_count, sizeof *t->spans)) return;
    span = &t->spans[t->span_count++];
    span->start = start;
    span->end = end;
    span->block = block;
    span->row = row;
    span->phase = phase;
    span->kernel = kernel;
    span->victim = t->states[row].victim;
    t->states[row].used = 1;
    if (start < t->begin_cycle) t->begin_cycle = start;
}

void timeline_phase_is(timeline *t, uint64_t now, uint32_t row, timeline_phase phase, uint32_t kernel, uint64_t block) {
    timeline_state *state;
    if (row >= t->row_count) return;
    state = &t->states[row];
    if (state->phase != TIMELINE_NOTHING)
        timeline_add_span(t, row, (timeline_phase)state->phase, state->kernel, state->block, state->since, now);
    state->phase = phase;
    state->since = now;
    state->kernel = kernel;
    state->block = block;
}

void timeline_add_mark(timeline *t, uint64_t now, uint32_t row, const char *what, uint32_t kernel, uint64_t block) {
    timeline_mark *mark;
    if (grow(t, (void **)&t->marks, t->mark_count, sizeof *t->marks)) return;
    mark = &t->marks[t->mark_count++];
    mark->cycle = now;
    mark->block = block;
    mark->row = row;
    mark->what = what;
    mark->kernel = kernel;
}

uint32_t timeline_ask(timeline *t, uint64_t cycle, uint32_t kernel, uint64_t limit_cycles) {
    timeline_request *request;
    uint64_t i;
    for (i = t->request_count; i-- > 0;) { /* the latest first */
        const timeline_request *last = &t->requests[i];
        if (last->kernel != kernel) continue;
        if (last->cycle == cycle || last->gone < last->victims) return (uint32_t)i;
        break;
    }
    if (grow(t, (void **)&t->requests, t->request_count, sizeof *t->requests)) return TIMELINE_NONE;
    request = &t->requests[t->request_count];
    memset(request, 0, sizeof *request);
    request->cycle = cycle;
    request->limit_cycles = limit_cycles;
    request->served_cycle = TIMELINE_NEVER;
    request->kernel = kernel;
    return (uint32_t)t->request_count++;
}

void timeline_tell(timeline *t, uint64_t now, uint32_t request, uint32_t row, uint32_t kernel, uint64_t block,
                   uint32_t technique, const timeline_estimate *estimate) {
    timeline_victim *victim;
    if (request >= t->request_count || row >= t->row_count || t->states[row].victim != TIMELINE_NONE ||
        grow(t, (void **)&t->victims, t->victim_count, sizeof *t->victims))
        return;
    victim = &t->victims[t->victim_count];
    memset(victim, 0, sizeof *victim);
    if (estimate)
        victim->estimate = *estimate;
    else
        memset(&victim->estimate, 0xff, sizeof victim->estimate);
    victim->told_cycle = now;
    victim->end_cycle = TIMELINE_NEVER;
    victim->block = block;
    victim->request = request;
    victim->row = row;
    victim->kernel = kernel;
    victim->technique = technique;
    victim->left_by = TIMELINE_NONE;
    /* The span until now is no part of the block's leaving. */
    timeline_phase_is(t, now, row, (timeline_phase)t->states[row].phase, t->states[row].kernel, t->states[row].block);
    t->states[row].victim = (uint32_t)t->victim_count++;
    t->requests[request].victims++;
    t->requests[request].served_cycle = TIMELINE_NEVER;
}

void timeline_leave(timeline *t, uint64_t now, uint32_t row, uint32_t technique, uint64_t bytes, uint64_t dropped,
                    uint64_t cost) {
    timeline_victim *victim;
    timeline_request *request;
    if (row >= t->row_count || t->states[row].victim == TIMELINE_NONE) return;
    timeline_phase_is(t, now, row, TIMELINE_NOTHING, 0, 0);
    victim = &t->victims[t->states[row].victim];
    t->states[row].victim = TIMELINE_NONE;
    victim->end_cycle = now;
    victim->left_by = technique;
    victim->bytes = bytes;
    victim->dropped = dropped;
    victim->cost = cost;
    request = &t->requests[victim->request];
    if (++request->gone == request->victims) request->served_cycle = now;
}

int timeline_is_due(timeline *t, uint64_t now, uint64_t *since) {
    *since = t->looked_cycle == TIMELINE_NEVER ? now : t->looked_cycle;
    t->looked_cycle = now;
    return now >= t->sample_cycle;
}

static void move_sample(timeline *t, uint64_t to, uint64_t from) {
    t->sample_cycles[to] = t->sample_cycles[from];
    memmove(&t->samples[to * t->series_count], &t->samples[from * t->series_count],
            t->series_count * sizeof *t->samples);
}

/* Halves the samples: of two neighbours the one goes whose values held for the shorter time. The first one stays. */
static void thin_out(timeline *t) {
    const uint64_t count = t->sample_count, *at = t->sample_cycles;
    uint64_t i;
    t->sample_count = 1;
    for (i = 1; i < count; i += 2) {
        const int second_is_longer = i + 2 < count && at[i + 2] - at[i + 1] > at[i + 1] - at[i];
        move_sample(t, t->sample_count++, second_is_longer ? i + 1 : i);
    }
    t->sample_step *= 2;
}

void timeline_sample(timeline *t, uint64_t since, const uint64_t *values) {
    if (t->failed) return;
    if (!t->samples) {
        t->samples = (uint64_t *)calloc((size_t)TIMELINE_SAMPLES * t->series_count, sizeof *t->samples);
        if (!t->samples) {
            t->failed = 1;
            t->sample_cycle = TIMELINE_NEVER;
            return;
        }
    }
    if (t->sample_count && t->sample_cycles[t->sample_count - 1] == since) t->sample_count--;
    if (t->sample_count == TIMELINE_SAMPLES) thin_out(t);
    if (t->begin_cycle == TIMELINE_NEVER) t->begin_cycle = since;
    t->sample_cycles[t->sample_count] = since;
    memcpy(&t->samples[t->sample_count++ * t->series_count], values, t->series_count * sizeof *values);
    t->sample_cycle = since + t->sample_step;
}

void timeline_close(timeline *t, uint64_t now) {
    uint32_t i;
    for (i = 0; i < t->row_count; i++) timeline_phase_is(t, now, i, TIMELINE_NOTHING, 0, 0);
    for (i = 0; i < t->mark_count; i++)
        if (t->marks[i].row < t->row_count) t->states[t->marks[i].row].used = 1;
    for (i = 0; i < t->row_count; i++)
        if (!t->states[i].used) t->rows[i].group = TIMELINE_NONE;
    if (t->begin_cycle == TIMELINE_NEVER) t->begin_cycle = 0;
    t->end_cycle = now;
}

const char *timeline_technique(uint32_t technique) {
    const gpump_technique *how = gpump_technique_at(technique);
    return how ? how->name : "none";
}
