#include "parts/schedule/schedule_priorities.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts/schedule/schedule_facts.h"

#define NEEDS "needs CYCLE:PROCESS:PRIORITY[:WEIGHT],..., with priorities below 2^32 and weights up to 1048576"

/* Reads a number up to `most` that ends at one of `ends`. Returns what follows it; NULL: there is none. */
static const char *read_number(const char *at, uint64_t most, const char *ends, uint64_t *value) {
    char *end;
    if (!isdigit((unsigned char)*at)) return NULL;
    *value = strtoull(at, &end, 10);
    return *value <= most && (!*end || strchr(ends, *end)) ? end : NULL;
}

/* The process of a name or a number, NONE. */
static uint32_t find_process(const launch_file *launch, const char *name, size_t length) {
    uint64_t number;
    uint32_t i;
    for (i = 0; i < launch->process_count; i++)
        if (strlen(launch->processes[i].name) == length && !strncmp(launch->processes[i].name, name, length)) return i;
    if (!read_number(name, UINT32_MAX, ":", &number) || number >= launch->process_count) return NONE;
    return (uint32_t)number;
}

/* Reads one change. Returns what follows it, or NULL with the reason in error. */
static const char *read_change(const launch_file *launch, const char *at, schedule_priority *change,
                               char error[LAUNCH_ERROR_BYTES]) {
    uint64_t priority = 0, weight = 0;
    const char *name = read_number(at, NEVER - 1, ":", &change->cycle), *end = NULL;
    size_t length = 0;
    if (name && *name == ':') {
        length = strcspn(++name, ":,");
        if (name[length] == ':') end = read_number(name + length + 1, UINT32_MAX, ":,", &priority);
    }
    if (!end) {
        snprintf(error, LAUNCH_ERROR_BYTES, "--priority-at " NEEDS ", not \"%s\"", at);
        return NULL;
    }
    if ((change->process = find_process(launch, name, length)) == NONE) {
        snprintf(error, LAUNCH_ERROR_BYTES, "--priority-at: %s has no process \"%.*s\": name it, or count from 0 to %u",
                 launch->path, (int)length, name, launch->process_count - 1);
        return NULL;
    }
    change->priority = (uint32_t)priority;
    change->weight = launch->processes[change->process].weight;
    if (*end == ':') {
        if (!(end = read_number(end + 1, GPUMP_SCHEDULER_MAX_BUDGET, ",", &weight))) {
            snprintf(error, LAUNCH_ERROR_BYTES, "--priority-at " NEEDS ", not \"%s\"", at);
            return NULL;
        }
        change->weight = (uint32_t)weight;
    }
    return *end && end[1] ? end + 1 : end; /* a comma at the end stays, and is no change */
}

static int by_cycle(const void *left, const void *right) {
    const schedule_priority *a = (const schedule_priority *)left, *b = (const schedule_priority *)right;
    if (a->cycle != b->cycle) return a->cycle < b->cycle ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

int schedule_priorities_read(machine *m, struct schedule *c, const launch_file *launch, const char *text,
                             char error[LAUNCH_ERROR_BYTES]) {
    uint32_t most = 1;
    const char *at;
    if (!text) return 0;
    for (at = text; *at; at++) most += *at == ',';
    if (!(c->changes = (schedule_priority *)arena_take_array(&m->arena, most, sizeof *c->changes))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory for --priority-at", launch->path);
        return -1;
    }
    at = text;
    do {
        schedule_priority *change = &c->changes[c->change_count];
        if (!(at = read_change(launch, at, change, error))) return -1;
        change->order = c->change_count++;
    } while (*at);
    qsort(c->changes, c->change_count, sizeof *c->changes, by_cycle);
    return 0;
}

uint64_t schedule_priorities_next(const machine *m) {
    const struct schedule *c = schedule_of(m);
    return c->changes_done < c->change_count ? c->changes[c->changes_done].cycle : NEVER;
}

void schedule_priorities_turn(machine *m) {
    struct schedule *c = schedule_of(m);
    while (schedule_priorities_next(m) <= m->now) {
        const schedule_priority *change = &c->changes[c->changes_done++];
        const gpump_result result = gpump_scheduler_set_priority(c->scheduler, m->now, c->processes[change->process],
                                                                 change->priority, change->weight);
        if (result == GPUMP_ERROR_STATE) continue; /* the process was aborted */
        machine_must(m, "gpump_scheduler_set_priority", result, NULL);
    }
}
