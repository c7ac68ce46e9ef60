#include "tools/recovery.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "parts/shared_log/shared_log.h"
#include "tools/options.h"

/* ==== options ==== */

static int read_rate(const char *text, uint64_t *rate_q32) {
    char *end;
    const double rate = strtod(text, &end);
    if (end != text && !*end && rate >= 0 && rate < 1) {
        *rate_q32 = (uint64_t)(rate * 4294967296.0);
        return 0;
    }
    fprintf(stderr, "minigpu: --errors wants the part of instructions that err, from 0 to below 1, not \"%s\"\n", text);
    return -1;
}

static int read_detection(const char *text, errors_options *errors) {
    char name[32] = "";
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    uint64_t cycles;
    uint32_t which;
    if (length < sizeof name) memcpy(name, text, length);
    if (option_choice("--detection", name, gpump_restart_detection_name, &which)) return -1;
    errors->detection = gpump_restart_detection_name(which);
    if (!colon) return 0;
    if (option_number("--detection NAME:", colon + 1, 1, 64, &cycles)) return -1;
    errors->latency_cycles = (uint32_t)cycles;
    return 0;
}

static int read_places(const char *option, const char *text, errors_options *errors) {
    char *end;
    errno = 0;
    errors->at = strtoull(text, &end, 10);
    if (end != text && !errno && *text != '-' && errors->at) {
        if (!*end) return 0;
        if (*end == ':' && end[1] >= '1' && end[1] <= '9') {
            errors->interval = strtoull(end + 1, &end, 10);
            if (!*end && !errno) return 0;
        }
    }
    fprintf(stderr, "minigpu: --%s wants N or N:M, both from 1, not \"%s\"\n", option, text);
    return -1;
}

static const char *trap_name(uint32_t index) {
    static const char *const names[] = {"division", "invalid", "all"};
    return index < 3 ? names[index] : NULL;
}
static const char *cure_name(uint32_t index) {
    static const char *const names[GPUMP_RESTART_CURES] = {"split", "step"};
    return index < GPUMP_RESTART_CURES ? names[index] : NULL;
}

int recovery_regions(const char *text, machine_options *options) {
    char what[32] = "";
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    options->shared_restart = SHARED_CUTS;
    if (length < sizeof what) memcpy(what, text, length);
    if (launch_regions(what, &options->regions)) {
        fprintf(stderr, "minigpu: --regions wants sparse or a number of instructions from 2 to 4096, not \"%s\"\n",
                text);
        return -1;
    }
    return colon ? option_choice("--regions WHAT:", colon + 1, shared_restart_name, &options->shared_restart) : 0;
}

int recovery_option(const char *name, const char *text, machine_options *options) {
    errors_options *errors = &options->errors;
    uint32_t which;
    if (!strcmp(name, "errors")) return read_rate(text, &errors->rate_q32);
    if (!strcmp(name, "detection")) return read_detection(text, errors);
    if (!strcmp(name, "error-at") || !strcmp(name, "trap-at")) {
        if (errors->at != NEVER) {
            fprintf(stderr, "minigpu: --error-at and --trap-at are given once, and exclude each other\n");
            return -1;
        }
        if (*name == 't') errors->traps |= ERRORS_TRAP_AT;
        return read_places(name, text, errors);
    }
    if (!strcmp(name, "trap") && *text >= '0' && *text <= '9') {
        uint64_t line;
        const uint32_t second = errors->lines[0] != 0;
        if (option_number("--trap", text, 1, UINT32_MAX, &line)) return -1;
        errors->lines[second] = (uint32_t)line;
        errors->traps |= ERRORS_TRAP_LINES;
        return 0;
    }
    if (!strcmp(name, "trap")) {
        if (option_choice("--trap", text, trap_name, &which)) return -1;
        errors->traps |= which + 1; /* the bits in this order */
        return 0;
    }
    if (option_choice("--cure", text, cure_name, &errors->cure)) return -1;
    return 0;
}

const char *recovery_contradiction(machine_options *options) {
    const errors_options *errors = &options->errors;
    const int places_error = errors->at != NEVER && !(errors->traps & ERRORS_TRAP_AT);
    if (!errors->detection && (errors->rate_q32 != NEVER || places_error))
        return "--errors and --error-at need --detection NAME: an error that nobody detects is a wrong result";
    if (errors->rate_q32 != NEVER && places_error) return "--errors and --error-at exclude each other";
    if (errors->cure && !errors->traps) return "--cure needs --trap WHAT or --trap-at N: errors do not come back";
    if (errors_wanted(errors) && options->point_interval)
        return "--detection and --trap exclude --points: a warp that goes back may stand between two points";
    if (options->shared_restart && options->page_checks)
        return "--regions WHAT:SHARED excludes --page-checks: these come before regions are formed";
    if (options->shared_restart == SHARED_SAVED && errors->traps && errors->cure == GPUMP_RESTART_CURE_SPLIT)
        return "--regions WHAT:saved needs --cure step: code that is split later does not say where it must save";
    if (errors_wanted(errors) && !options->regions) options->regions = 32; /* iGPU 5.1 */
    return NULL;
}

/* ==== what a run says ==== */

int recovery_baseline(const char *path, const machine_options *options, uint64_t *cycles,
                      char error[LAUNCH_ERROR_BYTES]) {
    machine_options plain = *options;
    launch_file launch;
    machine *m;
    int ended = -1;
    errors_options_default(&plain.errors);
    plain.regions = REGIONS_NONE;
    if (plain.faults.scheme && !strcmp(plain.faults.scheme, "regions")) plain.faults.scheme = "stall";
    plain.shared_restart = 0;
    plain.spilling = SPILLING_NONE;
    plain.preempt_cycle = NEVER;
    plain.technique = GPUMP_TECHNIQUES;
    if (launch_file_read(&launch, path, error)) return -1;
    launch.regions = REGIONS_NONE;
    if ((m = machine_build(&launch, &plain, error))) {
        ended = machine_run(m, NEVER);
        *cycles = m->now;
        if (ended < 0) snprintf(error, LAUNCH_ERROR_BYTES, "%s", m->error);
        machine_free(m);
    }
    launch_file_free(&launch);
    return ended == 1 ? 0 : -1;
}

void recovery_statistics(const machine *m, gpump_restart_statistics *statistics) {
    uint64_t *sums = &statistics->boundaries;
    uint32_t i, n;
    memset(statistics, 0, sizeof *statistics);
    for (i = 0; i < m->sm_count; i++) {
        gpump_restart_statistics one;
        const uint64_t *values = &one.boundaries;
        if (!m->sms[i]->restart) continue;
        gpump_restart_get_statistics(m->sms[i]->restart, &one);
        for (n = 0; n < sizeof one / sizeof *values; n++) sums[n] += values[n];
    }
}

static double percent(uint64_t part, uint64_t whole) { return whole ? 100 * (double)part / (double)whole : 0; }

static uint64_t energy_q16(const run_result *result) {
    return gpump_restart_energy(result->machine->restart_config.voltage_q16,
                                gpump_muldiv_down(result->machine->now, 65536, result->baseline_cycles));
}

static void shared_text(const machine *m, FILE *file) {
    shared_log_statistics l;
    if (!m->sm_count || !m->sms[0]->shared_log) return;
    shared_log_sum(m, &l);
    fprintf(file,
            "shared memory goes back (%s): %" PRIu64 " words overwritten, %" PRIu64 " taken back, at most %" PRIu64
            " of an SM at a time; %" PRIu64 " stores found no room; %" PRIu64 " copies of %" PRIu64 " bytes in all\n",
            shared_restart_name(m->sms[0]->shared_log->way), l.words, l.undone, l.most, l.full, l.copies,
            l.copied_bytes);
}

void recovery_text(const run_result *result, FILE *file) {
    const machine *m = result->machine;
    gpump_restart_statistics r;
    machine_totals t;
    shared_text(m, file);
    if (!m->sm_count || !m->sms[0]->errors) return;
    recovery_statistics(m, &r);
    report_totals(m, &t);
    if (m->restart_config.latency_cycles)
        fprintf(file,
                "errors: %" PRIu64 ", detected %u cycles later; %" PRIu64 " recoveries among %" PRIu64
                " boundaries gave up %" PRIu64 " warp instructions (%.2f%% of %" PRIu64 "); %" PRIu64
                " stores waited in the store queue\n",
                r.errors, m->restart_config.latency_cycles, r.detected, r.boundaries, r.given_up,
                percent(r.given_up, t.warp_instructions), t.warp_instructions, r.stores);
    if (m->traps)
        fprintf(file,
                "exceptions: %" PRIu64 " trapped, %" PRIu64 " instructions emulated, %" PRIu64 " live-locks, %" PRIu64
                " instructions in single steps\n",
                r.exceptions, r.emulated, r.live_locks, r.steps);
    if (m->restart_config.latency_cycles && result->baseline_cycles)
        fprintf(file,
                "energy: %.2f%% of that without regions at full voltage: %.0f%% less voltage, %.4f times its %" PRIu64
                " cycles\n",
                (double)energy_q16(result) / 655.36, (double)m->restart_config.voltage_q16 / 655.36,
                (double)m->now / (double)result->baseline_cycles, result->baseline_cycles);
}

json_t *recovery_json(const run_result *result) {
    const machine *m = result->machine;
    gpump_restart_statistics r;
    json_t *root;
    const char *name;
    uint64_t value;
    uint32_t i;
    if (!m->sm_count || !m->sms[0]->errors) return NULL;
    recovery_statistics(m, &r);
    root = json_object();
    for (i = 0; gpump_restart_statistics_field(&r, i, &name, NULL, NULL, &value) == GPUMP_OK; i++)
        json_object_set_new(root, name, json_integer((json_int_t)value));
    if (m->restart_config.latency_cycles && result->baseline_cycles) {
        json_object_set_new(root, "baseline_cycles", json_integer((json_int_t)result->baseline_cycles));
        json_object_set_new(root, "energy", json_real((double)energy_q16(result) / 65536));
    }
    return root;
}
