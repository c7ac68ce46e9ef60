#include "parts/corun/corun_group.h"

#include <string.h>

#include "machine/traffic.h"
#include "parts/corun/corun_options.h"
#include "preemption/requests.h"
#include "preemption/sm_question.h"

#define MOVE_NS 15000u  /* deadline for blocks of a move to leave (Chimera's limit) */
#define LOOK_AGAIN 500u /* cycles until a refused preemption of a block is tried again */

/* ---- measuring ---- */

static uint64_t misses(const gpump_traffic *traffic) {
    return traffic->l1_load_misses + traffic->l1_store_misses + traffic->l1_atomics;
}
/* What a kernel has done up to L1 on one SM, since `before`. */
static void since(const machine *m, const sm *s, uint32_t kernel, const gpump_traffic *before, gpump_traffic *change) {
    gpump_traffic now;
    traffic_on_sm(m, s, kernel, &now);
    gpump_statistics_diff(&gpump_meter_component, before, &now, change);
}

/* Warp instructions of a kernel on all SMs. */
static uint64_t issued(const machine *m, uint32_t kernel) {
    uint64_t sum = 0;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) sum += m->sms[i]->traffic[kernel].issued;
    return sum;
}

/* Returns part.group_stamp, by which a measurement knows whether the group has held all SMs the whole time. */
static uint64_t stamp_now(const machine *m) {
    uint64_t stamp;
    PARTS_ASK(m, stamp, 1, group_stamp, (m));
    return stamp;
}

static void begin_measurement(machine *m) {
    struct corun *c = corun_of(m);
    uint32_t i;
    c->sample_end = m->now + c->sharing->config.sample_cycles;
    c->sample_stamp = stamp_now(m);
    for (i = 0; i < m->kernel_count; i++) {
        (void)gpump_meter_total(m->memory_system->meter, m->now, i + 1, &c->before[i]);
        c->issued_before[i] = issued(m, i);
    }
    if (gpump_sharing_trial(c->sharing)) return;
    for (i = 0; i < m->sm_count; i++) {
        const uint32_t kernel = c->kernel_of[gpump_sharing_sampled(c->sharing, i)];
        traffic_on_sm(m, m->sms[i], kernel, &c->sm_before[i]);
    }
}

/* Returns whether the sample has ended with all SMs the group's since it began. If the scheduler has taken an SM
 * meanwhile, the sample begins anew. */
static int is_measured(machine *m) {
    const struct corun *c = corun_of(m);
    if (c->sample_end > m->now) return 0;
    if (c->sample_stamp && c->sample_stamp == stamp_now(m)) return 1;
    begin_measurement(m);
    return 0;
}

/* Reports the counters of each SM. Behind L1 the meters count per kernel, not per SM. An SM is charged a share of its
 * kernel's traffic: its share of the kernel's misses. */
static void report_samples(machine *m) {
    struct corun *c = corun_of(m);
    uint64_t all[GPUMP_PARTITION_KERNELS] = {0};
    gpump_diag diag;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        const uint32_t kernel = c->kernel_of[gpump_sharing_sampled(c->sharing, i)];
        gpump_traffic here;
        since(m, m->sms[i], kernel, &c->sm_before[i], &here);
        all[kernel] += misses(&here);
    }
    for (i = 0; i < m->sm_count; i++) {
        const uint32_t kernel = c->kernel_of[gpump_sharing_sampled(c->sharing, i)];
        gpump_traffic here, now, behind;
        since(m, m->sms[i], kernel, &c->sm_before[i], &here);
        (void)gpump_meter_total(m->memory_system->meter, m->now, kernel + 1, &now);
        gpump_statistics_diff(&gpump_meter_component, &c->before[kernel], &now, &behind);
        if (all[kernel]) {
            const uint64_t part = misses(&here), whole = all[kernel];
            here.flits_up = gpump_muldiv_down(behind.flits_up, part, whole);
            here.flits_down = gpump_muldiv_down(behind.flits_down, part, whole);
            here.dram_read_bytes = gpump_muldiv_down(behind.dram_read_bytes, part, whole);
            here.dram_written_bytes = gpump_muldiv_down(behind.dram_written_bytes, part, whole);
        }
        here.cycles = c->sharing->config.sample_cycles;
        machine_must(m, "gpump_sharing_report_sample",
                     gpump_sharing_report_sample(c->sharing, m->now, i, &c->machine, &here, &diag), &diag);
    }
}

/* ---- classes while kernels run ---- */

static void report_window(machine *m) {
    struct corun *c = corun_of(m);
    gpump_diag diag;
    uint32_t member;
    for (member = 0; member < c->places; member++) {
        const uint32_t kernel = c->kernel_of[member];
        gpump_traffic now, did;
        if (kernel == NONE || c->preempted >> member & 1u) continue;
        traffic_of_kernel(m, kernel, &now);
        gpump_statistics_diff(&gpump_meter_component, &c->window_before[kernel], &now, &did);
        did.cycles = c->window_cycles;
        machine_must(m, "gpump_sharing_report_window",
                     gpump_sharing_report_window(c->sharing, m->now, member, &c->machine, &did, &diag), &diag);
    }
}

/* In RUN, a window follows the other. */
static void look_at_window(machine *m) {
    struct corun *c = corun_of(m);
    uint32_t i;
    if (!c->window_cycles) return;
    if (c->window_end <= m->now && gpump_sharing_state_now(c->sharing) == GPUMP_SHARING_RUN) {
        if (c->window_stamp && c->window_stamp == stamp_now(m)) report_window(m);
        c->class_changes += gpump_sharing_state_now(c->sharing) != GPUMP_SHARING_RUN;
        c->window_end = NEVER;
    }
    if (gpump_sharing_state_now(c->sharing) != GPUMP_SHARING_RUN)
        c->window_end = NEVER;
    else if (c->window_end == NEVER) {
        for (i = 0; i < c->kernels; i++) traffic_of_kernel(m, i, &c->window_before[i]);
        c->window_end = m->now + c->window_cycles;
        c->window_stamp = stamp_now(m);
    }
}

/* Reports what each member did in a trial. */
static void report_trial(machine *m) {
    struct corun *c = corun_of(m);
    gpump_diag diag;
    uint32_t member;
    for (member = 0; member < c->places; member++) {
        const uint32_t kernel = c->kernel_of[member];
        gpump_traffic did;
        if (kernel == NONE || c->preempted >> member & 1u) continue;
        memset(&did, 0, sizeof did);
        did.issued = issued(m, kernel) - c->issued_before[kernel];
        did.cycles = c->sharing->config.sample_cycles;
        machine_must(m, "gpump_sharing_report_window",
                     gpump_sharing_report_window(c->sharing, m->now, member, &c->machine, &did, &diag), &diag);
    }
}

/* ---- blocks that leave ---- */

/* Blocks of one SM that leave, and what each way costs. */
typedef struct departure {
    sm_question asked;
    gpump_block_choice choices[2 * BLOCK_ENTRIES_MAX];
    uint32_t chosen, wanted;
} departure;

/* Selects the SM's blocks of `kernel` that may leave. Sets d->wanted to the number that must leave beyond those that
 * are leaving already. */
static void look(machine *m, sm *s, uint32_t kernel, uint32_t above, departure *d) {
    block_prices *prices = &d->asked.prices;
    uint32_t i;
    d->chosen = 0;
    d->wanted = above;
    block_prices_look(m, s, prices);
    for (i = 0; i < prices->count; i++) {
        gpump_block_view *view = &prices->views[i];
        if (view->state == GPUMP_BLOCK_PARKED || m->blocks[s->block_of_entry[view->block.slot]].kernel != kernel) {
            view->may = 0;
        } else if (!gpump_block_stays(view->state)) {
            view->may = 0;
            if (d->wanted) d->wanted--;
        }
    }
    sm_question_make(m, s, corun_of(m)->leave, &corun_of(m)->leave->cost, m->now,
                     m->limit_cycles != NEVER ? m->limit_cycles : gpump_gpu_cycles_from_ns(&m->config.gpu, MOVE_NS),
                     &d->asked);
}

/* First choices: the blocks in the way of the kernel that grows here (gpump_victim_decide on its positions). */
static void choose_for(machine *m, const sm *s, uint32_t growing, departure *d) {
    gpump_victim_place places[GPUMP_VICTIM_POSITIONS];
    const kernel *k = &m->kernels[corun_of(m)->kernel_of[growing]];
    const gpumpi_sharing_cell *cell = gpumpi_sharing_cell_of(corun_of(m)->sharing, s->index, growing);
    gpump_victim_geometry geometry;
    gpump_victim_decision decision;
    if (gpump_victim_geometry_init(&geometry, &m->config.gpu, &k->need, s->shared_bytes, NULL)) return;
    d->asked.request.kernel = corun_of(m)->kernel_of[growing] + 1;
    d->asked.request.positions = cell->cap - cell->blocks;
    d->asked.question.geometry = &geometry;
    d->asked.question.places = places;
    d->asked.question.place_capacity = GPUMP_VICTIM_POSITIONS;
    d->asked.question.choices = d->choices;
    if (gpump_victim_decide(&d->asked.question, &decision, NULL) == GPUMP_OK) /* else the rest alone is chosen */
        d->chosen = decision.choices < d->wanted ? decision.choices : d->wanted;
    d->asked.request.kernel = 0;
}

static int is_chosen(const departure *d, gpump_block_ref block) {
    uint32_t i;
    for (i = 0; i < d->chosen && (d->choices[i].block.slot != block.slot); i++) {}
    return i < d->chosen;
}

/* The rest: by least overhead. */
static void choose_cheapest(machine *m, departure *d) {
    gpump_block_choice *rest = d->choices + BLOCK_ENTRIES_MAX;
    gpump_victim_decision decision;
    uint32_t i, n;
    for (i = 0; i < d->asked.prices.count; i++)
        if (is_chosen(d, d->asked.prices.views[i].block)) d->asked.prices.views[i].may = 0;
    sm_question_decide(m, &d->asked, GPUMP_VICTIM_ASK_VACATE, rest, &decision);
    if (m->failed) return;
    for (n = decision.choices; d->chosen < d->wanted && n; n--) {
        uint32_t best = 0;
        for (i = 1; i < n; i++)
            if (rest[i].overhead < rest[best].overhead) best = i;
        d->choices[d->chosen++] = rest[best];
        rest[best] = rest[n - 1];
    }
}

/* Where the policy has no way for enough of them, blocks that may not be flushed (again) are switched. */
static void switch_rest(departure *d) {
    uint32_t i;
    for (i = 0; i < d->asked.prices.count && d->chosen < d->wanted; i++) {
        const gpump_block_view *view = &d->asked.prices.views[i];
        gpump_block_choice *choice = &d->choices[d->chosen];
        if (!(view->may & 1u << GPUMP_TECHNIQUE_SWITCH) || is_chosen(d, view->block)) continue;
        memset(choice, 0, sizeof *choice);
        choice->block = view->block;
        choice->sm = d->asked.sm.sm;
        choice->technique = choice->otherwise = GPUMP_TECHNIQUE_SWITCH;
        d->chosen++;
    }
}

/* Leaves in place what the growing kernel does not need of the blocks that are switched. */
static void keep(const machine *m, const sm *s, uint32_t growing, departure *d) {
    const struct corun *c = corun_of(m);
    const gpumpi_sharing_cell *cell =
        growing < c->places ? gpumpi_sharing_cell_of(c->sharing, s->index, growing) : NULL;
    preemption_keep_in_place(m, s, cell ? c->kernel_of[growing] : 0, cell ? cell->cap - cell->blocks : 0, d->choices,
                             d->chosen);
}

/* Makes the blocks of a member leave that are above its cap on an SM. */
static void vacate(machine *m, sm *s, uint32_t member) {
    const struct corun *c = corun_of(m);
    const gpumpi_sharing_cell *cell = gpumpi_sharing_cell_of(c->sharing, s->index, member);
    const uint32_t growing = gpump_sharing_pick(c->sharing, s->index);
    departure d;
    if (!c->leave || c->kernel_of[member] == NONE || cell->blocks <= cell->cap) return;
    look(m, s, c->kernel_of[member], cell->blocks - cell->cap, &d);
    if (m->failed || !d.wanted) return;
    if (growing < c->places && c->kernel_of[growing] != NONE) choose_for(m, s, growing, &d);
    choose_cheapest(m, &d);
    switch_rest(&d);
    if (c->parks && !(c->preempted >> member & 1u)) keep(m, s, growing, &d);
    if (d.chosen && !m->failed) preemption_carry_out(m, s, d.choices, d.chosen, 0);
}

/* Preempts again the blocks whose preemption was refused: blocks being restored, or without space for a context. */
static void vacate_all(machine *m) {
    uint32_t i, member;
    for (i = 0; i < m->sm_count; i++)
        for (member = 0; member < corun_of(m)->places; member++) vacate(m, m->sms[i], member);
}

/* ---- actions ---- */

/* Each member gets the eighths of L2 and DRAM that the decision names; all, while there is none. */
static void set_slices(machine *m) {
    const struct corun *c = corun_of(m);
    uint32_t i, kind;
    for (i = 0; i < m->kernel_count; i++) {
        gpump_partition_share share;
        const int decided =
            c->member_of[i] != NONE && gpump_sharing_share(c->sharing, c->member_of[i], &share, &kind) == GPUMP_OK;
        memory_set_slice(m->memory_system, i + 1, decided ? share.first_memory : 0, decided ? share.memory : 0);
    }
}

void corun_advance(machine *m) {
    struct corun *c = corun_of(m);
    gpump_sharing_action action;
    gpump_diag diag;
    uint32_t state;
    do {
        machine_must(m, "gpump_sharing_advance",
                     gpump_sharing_advance(c->sharing, m->now, c->policy, &c->machine, &diag), &diag);
        if (m->failed) return;
        while (gpump_sharing_next(c->sharing, &action) == GPUMP_OK) {
            if (action.kind == GPUMP_SHARING_MEASURE) begin_measurement(m);
            if (action.kind == GPUMP_SHARING_RATE) {
                if (action.limits.memory_quota)
                    c->orders |= 1u << action.member;
                else
                    c->orders &= ~(1u << action.member);
                machine_must(m, "gpump_rate_set",
                             gpump_rate_set(corun_rate(m->sms[action.sm]), m->now, action.member, &action.limits),
                             NULL);
            }
            if (action.kind == GPUMP_SHARING_CAP) m->dispatch_needed = 1;
            if (action.kind == GPUMP_SHARING_CAP && !action.member)
                c->coming_back[action.sm] = m->sms[action.sm]->parked;
            if (action.kind == GPUMP_SHARING_CAP && !action.sm && !action.member) set_slices(m);
        }
        state = gpump_sharing_state_now(c->sharing);
        if (state == GPUMP_SHARING_MOVE && c->leave) vacate_all(m);
        if (state == GPUMP_SHARING_REPORT && !c->sharing->config.unsampled && is_measured(m)) {
            if (gpump_sharing_trial(c->sharing))
                report_trial(m);
            else
                report_samples(m);
        }
        look_at_window(m);
        c->next = gpump_next_cycle(&gpump_sharing_component, c->sharing);
        if (c->window_end < c->next) c->next = c->window_end;
        if (state == GPUMP_SHARING_REPORT && c->sample_end > m->now && c->sample_end < c->next) c->next = c->sample_end;
        if (state == GPUMP_SHARING_RUN && gpump_sharing_state_now(c->sharing) != state) c->next = m->now;
        if (c->next == NEVER && state == GPUMP_SHARING_MOVE && c->leave) c->next = m->now + LOOK_AGAIN;
    } while (c->next <= m->now && !m->failed);
}

/* ---- the part ---- */

static int is_present(const machine *m) { return corun_of(m) != NULL; }
static uint64_t next(const machine *m) { return corun_of(m)->next; }

static void kernels_have_come(machine *m) {
    if (corun_of(m)->next <= m->now) corun_advance(m);
}

/* Returns 1 for a member of the group: the group alone preempts blocks for its members, whatever their priority. */
static int makes_room(machine *m, uint32_t kernel_index) { return kernel_index < corun_of(m)->kernels; }

static void block_came(machine *m, sm *s, block *b, const preempted_block *saved) {
    (void)b;
    if (saved && saved->kept) corun_came_back(m, s);
}

static void blocks_changed(machine *m, sm *s, uint32_t kernel_index) { corun_blocks_changed(m, s, kernel_index); }

/* A memory instruction no longer counts for its kernel's limit. */
static void record_is_free(const machine *m, sm *s, const in_flight *r) {
    uint8_t *limited = &sm_corun_of(s)->limited[r - s->records];
    (void)m;
    if (*limited) gpump_rate_report_memory_done(corun_rate(s), *limited - 1u);
    *limited = 0;
}

static void access_waits(machine *m, sm *s) {
    (void)m;
    if (sm_corun_of(s)->access_since == NEVER) sm_corun_of(s)->access_since = s->now;
}

static void asks_to_send(machine *m, sm *s) {
    machine_must(m, "gpump_rate_advance", gpump_rate_advance(corun_rate(s), s->now), NULL);
}

static int is_grouped(const machine *m, uint32_t kernel_index) { return kernel_index < corun_of(m)->kernels; }

static uint64_t hash(const machine *m, uint64_t hash) {
    return gpump_hash_u64(hash, gpump_hash(&gpump_sharing_component, corun_of(m)->sharing));
}

static uint64_t hash_sm(const machine *m, const sm *s, uint64_t hash) {
    (void)m;
    return gpump_hash_u64(hash, gpump_hash(&gpump_rate_component, corun_rate(s)));
}

const part corun_part = {
    .name = "corun",
    .traits = PART_CROSSES_SMS | PART_READS_MEMORY | PART_ON_PATH | PART_GATES,
    .options = corun_option_rows,
    .options_at = offsetof(machine_options, sharing),
    .rules = corun_rules,
    .make = corun_make,
    .is_present = is_present,
    .next = next,
    .kernels_have_come = kernels_have_come,
    .kernel_starts = corun_kernel_starts,
    .makes_room = makes_room,
    .kernel_ended = corun_kernel_ended,
    .may_place = corun_may_place,
    .block_came = block_came,
    .blocks_changed = blocks_changed,
    .is_grouped = is_grouped,
    .may_issue = corun_may_issue,
    .may_issue_one = corun_may_issue_queued,
    .starts = corun_issued,
    .record_is_free = record_is_free,
    .access_waits = access_waits,
    .accesses = corun_accessed,
    .may_send = corun_may_send,
    .asks_to_send = asks_to_send,
    .sends = corun_sent,
    .report = corun_report,
    .hash = hash,
    .hash_sm = hash_sm,
};
