#include "parts/victims/victims.h"

#include <stdio.h>
#include <string.h>

#include "preemption/block_prices.h"
#include "preemption/requests.h"

/* ---- what stays in place ---- */

static int meet(uint32_t a, uint32_t a_length, uint32_t b, uint32_t b_length) {
    return a_length && b_length && a < b + b_length && b < a + a_length;
}

/* The parts of a block, as gpump_part bits, that reach into none of these positions of the incoming kernel
 * (Lin 2.3.1 on the positions of Shieh 3.2). 0 when it is not worth a return to this SM: nothing of any size would
 * stay. */
static uint32_t outside(const gpump_victim_geometry *geometry, uint64_t positions, const gpump_block_view *view) {
    uint32_t p, keep = GPUMP_PARTS_IN_PLACE;
    for (p = 0; p < geometry->positions; p++) {
        if (!(positions >> p & 1)) continue;
        if (meet(view->register_base, view->registers, p * geometry->registers, geometry->registers))
            keep &= ~(uint32_t)GPUMP_PART_REGISTERS;
        if (meet(view->shared_base, view->shared_bytes, p * geometry->shared_bytes, geometry->shared_bytes))
            keep &= ~(uint32_t)GPUMP_PART_SHARED_MEMORY;
    }
    if (!(keep & GPUMP_PART_REGISTERS && view->registers) && !(keep & GPUMP_PART_SHARED_MEMORY && view->shared_bytes))
        return 0;
    return keep;
}

/* Returns 1 if a block keeps registers or shared memory on its SM, or is about to. Such blocks are restored before any
 * other block is kept there. All kept ranges therefore were allocated together once, and fit together again. */
static int has_kept(const gpump_block_view *views, uint32_t count) {
    uint32_t i;
    for (i = 0; i < count; i++)
        if (views[i].state == GPUMP_BLOCK_PARKED || views[i].keep) return 1;
    return 0;
}

/* ---- the views that gpump_victim takes ---- */

static void stop(machine *m, const char *what, const gpump_diag *diag) {
    char text[256];
    gpump_diag_text(diag, text, sizeof text);
    machine_fail(m, "cycle %llu: %s: %s", (unsigned long long)m->now, what, text);
}

/* Fills the SM's blocks and their prices. Blocks that must not leave for a kernel of this priority lose all
 * techniques. */
static void look(machine *m, sm *s, const gpump_victim_request *request, const gpump_victim_geometry *geometry,
                 uint64_t positions, uint32_t priority, gpump_victim_sm *view, block_prices *prices) {
    gpump_cost_options options = m->policy->cost;
    uint32_t keeps[BLOCK_ENTRIES_MAX], i;
    int in_place;
    block_prices_look(m, s, prices);
    options.limit_cycles = request->limit_cycles;
    in_place = m->in_place && !m->beyond_room && !has_kept(prices->views, prices->count);
    for (i = 0; in_place && i < prices->count; i++) keeps[i] = outside(geometry, positions, &prices->views[i]);
    block_prices_estimate(m, s, &options, in_place ? keeps : NULL, prices);
    for (i = 0; i < prices->count; i++) {
        gpump_block_view *one = &prices->views[i];
        const block *b;
        if (one->state == GPUMP_BLOCK_PARKED) { /* is restored before another block is kept here */
            one->may = 0;
            continue;
        }
        b = &m->blocks[s->block_of_entry[one->block.slot]];
        if (m->kernels[b->kernel].priority >= priority) one->may = 0;
        if ((m->policy->flags & GPUMP_VICTIM_TRUE_COSTS) && victims_of(m)->true_ends && b->kernel == 0) {
            uint64_t end = victims_of(m)->true_ends[b->linear];
            prices->estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] = end == NEVER   ? NEVER
                                                                  : end > m->now ? end - m->now
                                                                                 : 0;
            prices->estimates[i].overhead[GPUMP_TECHNIQUE_DRAIN] = 0;
        }
    }
    block_prices_view(s, prices, view);
}

/* ---- decisions ---- */

static void note(machine *m, victim_request *r, const gpump_block_choice *choice, block *b) {
    victim_entry *entry;
    gpump_block_view view;
    if (b->victim != NONE) { /* the block drains, and gets another technique now */
        entry = &r->entries[b->victim];
        r->reconsidered++;
    } else {
        b->victim = r->count;
        entry = &r->entries[r->count++];
        memset(entry, 0, sizeof *entry);
        entry->first_technique = choice->technique;
        entry->estimate_cycles = choice->otherwise == choice->technique
                                     ? choice->latency
                                     : NEVER; /* there is no estimate until the policy decides again */
        entry->estimate_overhead = choice->overhead;
        entry->executed_at_request = GPUMP_UNKNOWN;
    }
    gpump_sm_block(m->sms[choice->sm]->gpump, m->now, b->ref, &view);
    if (entry->executed_at_request == GPUMP_UNKNOWN) entry->executed_at_request = view.executed;
    entry->technique = choice->technique;
    entry->linear = b->linear;
    entry->kernel = b->kernel;
    entry->sm = choice->sm;
    entry->executed = view.executed;
    entry->cycles = view.cycles;
    entry->end_cycle = NEVER;
}

/* Carries out the choices, which come SM by SM. */
static void carry_out(machine *m, victim_request *r, const gpump_victim_geometry *geometry, gpump_block_choice *choices,
                      uint32_t count, uint32_t for_kernel) {
    uint32_t i = 0, first;
    while (i < count && !m->failed) {
        sm *s = m->sms[choices[i].sm];
        gpump_block_view views[BLOCK_ENTRIES_MAX];
        gpump_reason reason;
        uint32_t here = BLOCK_ENTRIES_MAX;
        int in_place = m->in_place && !m->beyond_room &&
                       gpump_sm_blocks(s->gpump, m->now, views, BLOCK_ENTRIES_MAX, &here) == GPUMP_OK &&
                       !has_kept(views, here);
        for (first = i; i < count && choices[i].sm == s->index; i++) {
            gpump_block_view view;
            if (in_place && gpump_technique_at(choices[i].technique)->keeps &&
                gpump_sm_block(s->gpump, m->now, choices[i].block, &view) == GPUMP_OK)
                choices[i].keep = outside(geometry, r->positions[s->index], &view);
            note(m, r, &choices[i], &m->blocks[s->block_of_entry[choices[i].block.slot]]);
        }
        reason = preemption_carry_out(m, s, &choices[first], i - first, for_kernel);
        if (reason != GPUMP_REASON_YES)
            machine_fail(m, "cycle %llu: SM %u: %s", (unsigned long long)m->now, s->index, gpump_reason_text(reason));
    }
}

/* A question about all SMs, whose views have been taken. */
static gpump_victim_question question_of(const machine *m, const victim_request *r,
                                         const gpump_victim_geometry *geometry) {
    const struct victim_scratch *scratch = victims_of(m)->scratch;
    gpump_victim_question question;
    memset(&question, 0, sizeof question);
    question.policy = m->policy;
    question.request = &r->request;
    question.geometry = geometry;
    question.sms = scratch->sms;
    question.sm_count = m->sm_count;
    question.scratch = scratch->memory;
    question.scratch_bytes = gpump_victim_scratch_bytes(m->sm_count);
    question.places = scratch->places;
    question.choices = scratch->choices;
    question.place_capacity = question.choice_capacity = (uint32_t)scratch->capacity;
    return question;
}

void victims_decide(machine *m, uint32_t index) {
    const struct victim_scratch *scratch = victims_of(m)->scratch;
    gpump_victim_question question;
    victim_request *r = &victims_of(m)->requests[index];
    kernel *k = &m->kernels[index];
    gpump_victim_geometry geometry;
    gpump_diag diag;
    uint32_t i, lower = 0;
    memset(&diag, 0, sizeof diag);
    for (i = 0; i < m->kernel_count; i++)
        lower |= m->kernels[i].state == KERNEL_ACTIVE && m->kernels[i].priority < k->priority;
    if (!lower) return;
    gpump_victim_request_init(&r->request, index + 1, k->blocks < UINT32_MAX ? (uint32_t)k->blocks : UINT32_MAX,
                              m->now);
    if (m->config.switch_stalls) r->request.flags = GPUMP_VICTIM_PARALLEL_SAVES; /* a stall per block, as published */
    r->request.limit_cycles = m->limit_cycles;
    r->request.late_price = m->late_price;
    r->account_cycle = m->now;
    r->account_end = NEVER;
    if (gpump_victim_geometry_init(&geometry, &m->config.gpu, &k->need,
                                   m->config.gpu.shared_bytes[m->config.gpu.shared_option_count - 1],
                                   &diag) != GPUMP_OK) {
        stop(m, "gpump_victim_geometry_init", &diag);
        return;
    }
    for (i = 0; i < m->sm_count; i++)
        look(m, m->sms[i], &r->request, &geometry, ~(uint64_t)0 /* no position is assigned yet */, k->priority,
             &scratch->sms[i], &scratch->rooms[i]);
    if (m->failed) return;
    /* More blocks than the GPU holds at once wait for the first of them to end. */
    if (r->request.positions > m->sm_count * geometry.blocks) r->request.positions = m->sm_count * geometry.blocks;
    question = question_of(m, r, &geometry);
    if (gpump_victim_decide(&question, &r->decision, &diag) != GPUMP_OK) {
        stop(m, "gpump_victim_decide", &diag);
        return;
    }
    memset(r->positions, 0, m->sm_count * sizeof *r->positions);
    for (i = 0; i < r->decision.places; i++)
        r->positions[scratch->places[i].sm] |= (uint64_t)1 << scratch->places[i].position;
    for (i = 0; i < r->decision.places; i++) {
        sm *s = m->sms[scratch->places[i].sm];
        if (s->reserved_for == index + 1) continue;
        /* No new blocks of others here until the incoming kernel has its places. */
        if (preemption_carry_out(m, s, NULL, 0, index + 1) != GPUMP_REASON_YES) return;
        s->whole = (m->policy->flags & GPUMP_VICTIM_WHOLE_SM) != 0;
    }
    carry_out(m, r, &geometry, scratch->choices, r->decision.choices, index + 1);
    victims_of(m)->ask_again = r->decision.ask_again;
}

void victims_reconsider(machine *m) {
    const struct victim_scratch *scratch = victims_of(m)->scratch;
    gpump_block_choice *choices = scratch->choices;
    uint64_t next = NEVER;
    uint32_t i, k, n;
    for (k = 0; k < m->kernel_count; k++) {
        victim_request *r = &victims_of(m)->requests[k];
        gpump_victim_question question;
        gpump_victim_decision again;
        gpump_victim_geometry geometry;
        gpump_diag diag;
        if (r->request.since == NEVER || r->account_end != NEVER) continue;
        memset(&diag, 0, sizeof diag);
        r->request.now = m->now;
        if (gpump_victim_geometry_init(&geometry, &m->config.gpu, &m->kernels[k].need,
                                       m->config.gpu.shared_bytes[m->config.gpu.shared_option_count - 1],
                                       &diag) != GPUMP_OK) {
            stop(m, "gpump_victim_geometry_init", &diag);
            return;
        }
        for (i = 0; i < m->sm_count; i++)
            look(m, m->sms[i], &r->request, &geometry, r->positions[i], m->kernels[k].priority, &scratch->sms[i],
                 &scratch->rooms[i]);
        if (m->failed) return;
        question = question_of(m, r, NULL);
        question.ask = GPUMP_VICTIM_ASK_AGAIN;
        if (gpump_victim_decide(&question, &again, &diag) != GPUMP_OK) {
            stop(m, "gpump_victim_decide", &diag);
            return;
        }
        for (i = 0, n = 0; i < again.choices; i++) /* only the blocks that drain for this request */
            if (m->blocks[m->sms[choices[i].sm]->block_of_entry[choices[i].block.slot]].victim != NONE)
                choices[n++] = choices[i];
        carry_out(m, r, &geometry, choices, n, k + 1);
        if (again.ask_again < next) next = again.ask_again;
    }
    victims_of(m)->ask_again = next;
}

/* ---- the part ---- */

static int is_present(const machine *m) { return victims_of(m) != NULL; }
static uint64_t next(const machine *m) { return victims_of(m)->ask_again; }

static int makes_room(machine *m, uint32_t kernel_index) {
    if (!m->policy) return 0; /* an experiment has taken it away */
    victims_decide(m, kernel_index);
    return 1;
}

static int keeps_reserved(const machine *m, const kernel *k) { return m->policy ? k->state != KERNEL_DONE : -1; }

static void block_came(machine *m, sm *s, block *b, const preempted_block *saved) {
    (void)s;
    (void)saved;
    victims_placed(m, b);
}

static void block_leaves(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    (void)s;
    victims_freed(m, b, action);
}

static const victim_request *request_of(const machine *m, uint32_t for_kernel) {
    const victim_request *r = m->policy && for_kernel ? &victims_of(m)->requests[for_kernel - 1] : NULL;
    return r && r->request.since != NEVER ? r : NULL;
}

static int room_wanted(const machine *m, uint32_t for_kernel, room_request *request) {
    const victim_request *r = request_of(m, for_kernel);
    if (!r) return 0;
    request->since = r->request.since;
    request->limit_cycles = r->request.limit_cycles;
    return 1;
}

static int room_estimate(const machine *m, uint32_t for_kernel, const block *b, uint64_t *cycles, uint64_t *overhead) {
    const victim_request *r = request_of(m, for_kernel);
    if (!r || b->victim >= r->count) return 0;
    *cycles = r->entries[b->victim].estimate_cycles;
    *overhead = r->entries[b->victim].estimate_overhead;
    return 1;
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    (void)options;
    if (!victims_build(m)) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory for the machine", launch->path);
    return -1;
}

const part victims_part = {
    .name = "victims",
    .make = make,
    .is_present = is_present,
    .next = next,
    .turn = victims_reconsider,
    .makes_room = makes_room,
    .keeps_reserved = keeps_reserved,
    .blocks_change = victims_account,
    .block_came = block_came,
    .block_leaves = block_leaves,
    .room_wanted = room_wanted,
    .room_estimate = room_estimate,
    .report = victims_report,
};
