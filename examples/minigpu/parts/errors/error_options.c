#include "parts/errors/error_options.h"

#include <stdio.h>
#include <string.h>

#define ERRORS "Errors and exceptions"

static const char *trap_names(uint32_t index) {
    static const char *const names[] = {"division", "invalid", "all"};
    return index < 3 ? names[index] : NULL;
}
static const char *cure_names(uint32_t index) {
    static const char *const names[] = {"split", "step"};
    return index < 2 ? names[index] : NULL;
}

static int refuse(const option_row *row, const char *needs, const char *text) {
    fprintf(stderr, "minigpu: --%s needs %s, not \"%s\"\n", row->name, needs, text);
    return -1;
}

/* Copies the text before a colon. Returns what follows the colon, or NULL. */
static const char *before_colon(const char *text, char *copy, size_t bytes) {
    const size_t length = strcspn(text, ":");
    snprintf(copy, bytes, "%.*s", (int)length, text);
    return text[length] ? text + length + 1 : NULL;
}

static int read_errors(const option_row *row, const char *text, void *target) {
    errors_options *errors = (errors_options *)target;
    double rate;
    if (option_decimal(text, &rate) || !(rate >= 0 && rate < 1))
        return refuse(row, "the part of instructions that err, from 0 to below 1", text);
    errors->rate_q32 = (uint64_t)(rate * 4294967296.0);
    return 0;
}

static int read_detection(const option_row *row, const char *text, void *target) {
    errors_options *errors = (errors_options *)target;
    char name[32];
    const char *latency = before_colon(text, name, sizeof name);
    uint64_t cycles;
    uint32_t which;
    (void)row;
    if (option_choice("--detection", name, gpump_restart_detection_name, &which)) return -1;
    errors->detection = gpump_restart_detection_name(which);
    if (!latency) return 0;
    if (option_number("--detection NAME:", latency, 1, 64, &cycles)) return -1;
    errors->latency_cycles = (uint32_t)cycles;
    return 0;
}

/* Reads --error-at and --trap-at. */
static int read_error_at(const option_row *row, const char *text, void *target) {
    errors_options *errors = (errors_options *)target;
    error_turns *turns = strcmp(row->name, "trap-at") ? &errors->errs : &errors->traps_at;
    if (turns->at != NEVER) {
        fprintf(stderr, "minigpu: --%s is given once\n", row->name);
        return -1;
    }
    return option_every(text, &turns->at, &turns->interval) ? refuse(row, "N or N:M, both from 1", text) : 0;
}

static int read_trap(const option_row *row, const char *text, void *target) {
    errors_options *errors = (errors_options *)target;
    uint64_t line, interval = 0;
    uint32_t which = 0;
    while (trap_names(which) && strcmp(trap_names(which), text)) which++;
    if (!trap_names(which)) {
        if (option_every(text, &line, &interval) || interval || line > UINT32_MAX)
            return refuse(row, "division, invalid, all or the number of a line of the PTX file", text);
        if (errors->lines[1]) return refuse(row, "two lines of the PTX file at most; one too many is given", text);
        errors->lines[errors->lines[0] != 0] = (uint32_t)line;
        errors->traps |= ERRORS_TRAP_LINES;
        return 0;
    }
    errors->traps |= which + 1; /* the bits have this order */
    return 0;
}

const option_row error_options[] = {
    {.name = "errors",
     .argument = "RATE",
     .kind = OPTION_READ,
     .read = read_errors,
     .samples = "0|0.0001|0.001|0.01",
     .group = ERRORS,
     .text = "This part of the warp instructions computes a wrong result, which is detected and executed again. Needs "
             "--detection. Kernels get idempotent regions (--regions 32 unless given)."},
    {.name = "detection",
     .argument = "NAME[:CYCLES]",
     .kind = OPTION_READ,
     .read = read_detection,
     .samples = "decor|emergency|razor|razor2|razor2:9",
     .names = gpump_restart_detection_name,
     .group = ERRORS,
     .text = "How errors are detected, and after how many cycles: decor, emergency, razor, razor2 (iGPU Table 2)."},
    {.name = "error-at",
     .argument = "N[:M]",
     .kind = OPTION_READ,
     .read = read_error_at,
     .samples = "1|7|100:1000",
     .group = ERRORS,
     .text =
         "With --detection: the N-th instruction errs, then every M-th, in addition to the errors of --errors RATE."},
    {.name = "trap",
     .argument = "WHAT",
     .kind = OPTION_READ,
     .read = read_trap,
     .names = trap_names,
     .samples = "division|invalid|all",
     .group = ERRORS,
     .many = 1,
     .text = "Exceptions of arithmetic trap, and are emulated: division (by zero), invalid (a new NaN), all. Or N: the "
             "arithmetic of line N of the PTX file traps whenever it executes; up to two lines."},
    {.name = "trap-at",
     .argument = "N[:M]",
     .kind = OPTION_READ,
     .read = read_error_at,
     .samples = "1|7|100:1000",
     .group = ERRORS,
     .text = "The N-th arithmetic instruction traps once, and every M-th after it."},
    {.name = "cure",
     .argument = "NAME",
     .kind = OPTION_CHOICE,
     .names = cure_names,
     .offset = offsetof(errors_options, cure),
     .group = ERRORS,
     .text = "With --trap: what ends a live-lock of two exceptions: split (default), step."},
    {.name = NULL}};

const option_rule error_rules[] = {
    {"errors|error-at", "detection",
     "--errors and --error-at need --detection NAME: an undetected error is a wrong result"},
    {"cure=step", "trap|trap-at",
     "--cure needs --trap WHAT or --trap-at N: an error is not repeated when its instruction executes again, a trap "
     "is"},
    {"regions=saved trap|trap-at", "cure=step",
     "--regions R:saved needs --cure step: code that is split later has no places to save"},
    {NULL, NULL, NULL}};
