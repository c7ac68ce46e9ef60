#include "tools/recovery.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/analysis.h"
#include "parts/errors/error_facts.h"
#include "parts/shared_log/shared_log.h"

int recovery_baseline(const char *path, uint32_t sms, const machine_options *options, uint64_t *cycles,
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
    if (sms) launch.sms = sms;
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
        gpump_get_statistics(&gpump_restart_component, m->sms[i]->restart, &one);
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
    if (!m->sm_count || !shared_log_of(m->sms[0])) return;
    shared_log_sum(m, &l);
    fprintf(file,
            "shared memory goes back (%s): %" PRIu64 " words overwritten, %" PRIu64 " taken back, at most %" PRIu64
            " of an SM at a time; %" PRIu64 " stores found no room; %" PRIu64 " copies of %" PRIu64 " bytes in all\n",
            shared_restart_name(shared_log_of(m->sms[0])->way), l.words, l.undone, l.most, l.full, l.copies,
            l.copied_bytes);
}

void recovery_text(const run_result *result, FILE *file) {
    const machine *m = result->machine;
    gpump_restart_statistics r;
    machine_totals t;
    shared_text(m, file);
    if (!machine_errors_of(m)) return;
    recovery_statistics(m, &r);
    report_totals(m, &t);
    if (m->restart_config.latency_cycles)
        fprintf(file,
                "errors: %" PRIu64 ", detected %u cycles later; %" PRIu64 " recoveries among %" PRIu64
                " boundaries gave up %" PRIu64 " warp instructions (%.2f%% of %" PRIu64 "); %" PRIu64
                " stores waited in the store queue\n",
                r.errors, m->restart_config.latency_cycles, r.detected, r.boundaries, r.given_up,
                percent(r.given_up, t.warp_instructions), t.warp_instructions, r.stores);
    if (machine_errors_of(m)->may_trap)
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
    if (!machine_errors_of(m)) return NULL;
    recovery_statistics(m, &r);
    root = json_object();
    for (i = 0; gpump_statistics_field(&gpump_restart_component, &r, i, &name, NULL, NULL, &value) == GPUMP_OK; i++)
        json_object_set_new(root, name, json_integer((json_int_t)value));
    if (m->restart_config.latency_cycles && result->baseline_cycles) {
        json_object_set_new(root, "baseline_cycles", json_integer((json_int_t)result->baseline_cycles));
        json_object_set_new(root, "energy", json_real((double)energy_q16(result) / 65536));
    }
    return root;
}
