/* queue_part: the part of a machine whose SMs issue out of order: its memory and its hooks. */
#include "parts/issue_queue/queue_issue.h"

#include <stdio.h>

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i, ids = 0;
    (void)launch;
    (void)options;
    if (!m->config.issue_queue_entries) return 0;
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].program->registers + m->kernels[i].program->predicates > ids)
            ids = m->kernels[i].program->registers + m->kernels[i].program->predicates;
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[i];
        if (!(s->of_part[PART_issue_queue] =
                  issue_queue_make(&m->arena, m->config.issue_queue_entries, warp_numbers(m), ids))) {
            snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the issue queue of SM %u", i);
            return -1;
        }
    }
    return 0;
}

static int is_present(const machine *m) { return m->config.issue_queue_entries != 0; }

static void forget(machine *m, sm *s, warp *w) {
    (void)m;
    issue_queue_forget(queue_of(s), w);
}

static uint64_t hash_sm(const machine *m, const sm *s, uint64_t hash) {
    (void)m;
    return issue_queue_hash(queue_of(s), hash);
}

static void sources_released(machine *m, sm *s, warp *w, const in_flight *r) {
    (void)m;
    issue_queue_released(queue_of(s), w, r->info, r->sequence);
}

static void destinations_released(machine *m, sm *s, warp *w, const in_flight *r) {
    (void)m;
    issue_queue_committed(queue_of(s), w, r->info, r->sequence);
}

static uint32_t unissued(const machine *m, const sm *s, const warp *w) {
    (void)m;
    return (uint32_t)gpump_bits_count64(issue_queue_window(queue_of(s), w)->queued);
}

static void warp_is_back(machine *m, sm *s, warp *w) {
    (void)m;
    issue_queue_took_slot(queue_of(s), w);
}

static void hold_unissued(machine *m, sm *s, warp *w) {
    (void)m;
    issue_queue_hold(queue_of(s), w);
}

static uint32_t fetched_ahead(const machine *m, const sm *s, const warp *w) {
    (void)m;
    return issue_queue_window(queue_of(s), w)->fetch_waits;
}

const part issue_queue_part = {
    .name = "issue_queue",
    .traits = PART_ON_PATH | PART_ISSUES,
    .make = make,
    .is_present = is_present,
    .warp_came = forget,
    .forgets_fetched = forget,
    .warp_squashed = queue_issue_squash,
    .issue_cycle = queue_issue_cycle,
    .waits_change = queue_issue_reconsider,
    .sources_released = sources_released,
    .destinations_released = destinations_released,
    .warp_is_back = warp_is_back,
    .unissued = unissued,
    .take_unissued = queue_issue_take,
    .hold_unissued = hold_unissued,
    .fetched_ahead = fetched_ahead,
    .takes_replay = queue_issue_replay,
    .hash_sm = hash_sm,
};
