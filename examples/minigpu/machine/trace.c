#include "machine/trace.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpump.h"

typedef struct slot_state {
    trace_phase phase;
    uint64_t since, block;
    const char *kernel;
} slot_state;

struct trace {
    FILE *file;
    uint32_t sms, slots, clock_khz;
    uint64_t events;
    slot_state *states;
    int failed;
};

/* Chrome's names of colours, for viewers that know them: one per kernel, by its name. */
static const char *colour_of(const char *kernel) {
    static const char *const colours[] = {"thread_state_running",    "rail_response", "rail_animation",
                                          "thread_state_iowait",     "rail_load",     "cq_build_passed",
                                          "cq_build_attempt_runnig", "generic_work"};
    return colours[gpump_hash_bytes(GPUMP_HASH_SEED, kernel, strlen(kernel)) % (sizeof colours / sizeof *colours)];
}

static double microseconds(const struct trace *t, uint64_t cycles) {
    return (double)cycles * 1000.0 / (double)t->clock_khz;
}

static void write_event(struct trace *t, json_t *event) {
    if (!event || fputs(t->events++ ? ",\n" : "[\n", t->file) < 0 ||
        json_dumpf(event, t->file, JSON_COMPACT | JSON_REAL_PRECISION(12)))
        t->failed = 1;
    json_decref(event);
}

struct trace *trace_open(const char *path, uint32_t sms, uint32_t slots, uint32_t clock_khz) {
    struct trace *t = (struct trace *)calloc(1, sizeof *t);
    uint32_t i, n;
    char name[32];
    if (!t) return NULL;
    t->states = (slot_state *)calloc((size_t)sms * slots, sizeof *t->states);
    t->file = fopen(path, "w");
    if (!t->states || !t->file) {
        if (t->file) fclose(t->file);
        free(t->states);
        free(t);
        return NULL;
    }
    t->sms = sms;
    t->slots = slots;
    t->clock_khz = clock_khz;
    write_event(t, json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "ph", "M", "name", "process_name", "pid", 0, "tid", 0, "args",
                             "name", "kernels"));
    for (i = 0; i < sms; i++) {
        snprintf(name, sizeof name, "SM %u", i);
        write_event(t, json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "ph", "M", "name", "process_name", "pid", (int)i + 1,
                                 "tid", 0, "args", "name", name));
        for (n = 0; n < slots; n++) {
            snprintf(name, sizeof name, "slot %u", n);
            write_event(t, json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "ph", "M", "name", "thread_name", "pid", (int)i + 1,
                                     "tid", (int)n, "args", "name", name));
        }
    }
    return t;
}

void trace_slot(struct trace *t, uint64_t now, uint32_t sm, uint32_t slot, trace_phase phase, const char *kernel,
                uint64_t block) {
    static const char *const verbs[TRACE_PHASES] = {"", "", "stop ", "save ", "restore ", "drain "};
    static const char *const categories[TRACE_PHASES] = {"", "run", "stop", "save", "restore", "drain"};
    slot_state *state;
    if (!t || sm >= t->sms || slot >= t->slots) return;
    state = &t->states[(size_t)sm * t->slots + slot];
    if (state->phase != TRACE_NOTHING && now > state->since) {
        char name[160];
        snprintf(name, sizeof name, "%s%s", verbs[state->phase], state->kernel);
        write_event(t, json_pack("{s:s,s:s,s:s,s:i,s:i,s:f,s:f,s:s,s:{s:I,s:I,s:I}}", "ph", "X", "name", name, "cat",
                                 categories[state->phase], "pid", (int)sm + 1, "tid", (int)slot, "ts",
                                 microseconds(t, state->since), "dur", microseconds(t, now - state->since), "cname",
                                 state->phase == TRACE_RUN ? colour_of(state->kernel) : "terrible", "args", "block",
                                 (json_int_t)state->block, "from cycle", (json_int_t)state->since, "to cycle",
                                 (json_int_t)now));
    }
    state->phase = phase;
    state->since = now;
    state->kernel = kernel;
    state->block = block;
}

void trace_instant(struct trace *t, uint64_t now, uint32_t sm, uint32_t slot, const char *what, const char *kernel) {
    char name[160];
    int global = slot == GPUMP_NONE;
    if (!t) return;
    if (global)
        snprintf(name, sizeof name, "%s %s", kernel, what);
    else
        snprintf(name, sizeof name, "%s %s", what, kernel);
    write_event(t, json_pack("{s:s,s:s,s:s,s:s,s:i,s:i,s:f}", "ph", "i", "name", name, "cat", what, "s",
                             global ? "g" : "t", "pid", global ? 0 : (int)sm + 1, "tid", global ? 0 : (int)slot, "ts",
                             microseconds(t, now)));
}

void trace_kernel(struct trace *t, uint64_t start, uint64_t end, uint32_t process, const char *kernel) {
    if (!t) return;
    write_event(t, json_pack("{s:s,s:s,s:s,s:i,s:i,s:f,s:f,s:s}", "ph", "X", "name", kernel, "cat", "kernel", "pid", 0,
                             "tid", (int)process, "ts", microseconds(t, start), "dur", microseconds(t, end - start),
                             "cname", colour_of(kernel)));
}

int trace_close(struct trace *t, uint64_t now) {
    uint32_t i;
    int failed;
    if (!t) return 0;
    for (i = 0; i < t->sms * t->slots; i++) trace_slot(t, now, i / t->slots, i % t->slots, TRACE_NOTHING, NULL, 0);
    if (fputs("\n]\n", t->file) < 0) t->failed = 1;
    failed = t->failed;
    if (fclose(t->file)) failed = 1;
    free(t->states);
    free(t);
    return failed ? -1 : 0;
}
