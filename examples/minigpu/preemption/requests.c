#include "preemption/requests.h"

#include <stdio.h>
#include <string.h>

#include "preemption/block_life.h"
#include "preemption/context_forms.h"
#include "timeline.h"

static int refused(char error[LAUNCH_ERROR_BYTES], const gpump_diag *diag) {
    char text[256];
    gpump_diag_text(diag, text, sizeof text);
    snprintf(error, LAUNCH_ERROR_BYTES, "gpump: %s", text);
    return -1;
}

static int saves(uint32_t technique) {
    const uint32_t begins = gpump_technique_begins(technique);
    return begins == GPUMP_TECHNIQUE_BEGIN_STOP || begins == GPUMP_TECHNIQUE_BEGIN_REWIND;
}

/* Opens an entry of the log. Returns NONE when the log is full. */
static uint32_t log_entry(machine *m, const sm *s, uint32_t technique, uint32_t for_kernel, uint32_t blocks,
                          uint32_t lost_by) {
    preemption_entry *entry;
    if (m->preemption_count == PREEMPTION_LOG_ENTRIES) return NONE;
    entry = &m->preemptions[m->preemption_count];
    memset(entry, 0, sizeof *entry);
    entry->request_cycle = m->now;
    entry->end_cycle = NEVER;
    entry->sm = s->index;
    entry->technique = technique;
    entry->blocks = blocks;
    entry->kernel = lost_by;
    entry->for_kernel = for_kernel;
    return m->preemption_count++;
}

/* Reserves context space for the blocks that are to be saved, and gives the choices to gpump_sm. A block
 * without space drains. Preempts all of the blocks or none. */
static gpump_reason begin(machine *m, sm *s, gpump_block_choice *choices, uint32_t chosen, uint32_t for_kernel,
                          gpump_reason *first_refusal, uint32_t *refused_blocks) {
    gpump_diag diag;
    gpump_result result;
    uint32_t i;
    PARTS_TELL(m, blocks_change, (m));
    memset(&diag, 0, sizeof diag);
    for (i = 0; i < chosen; i++) {
        block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
        b->rewinding = gpump_technique_begins(choices[i].technique) == GPUMP_TECHNIQUE_BEGIN_REWIND;
        if (!saves(choices[i].technique)) continue;
        choices[i].to_point = !b->rewinding && m->stop_at_points != 0;
        b->keep = choices[i].keep;
        if (gpump_context_pool_take(m->context_pool, b->kernel + 1, m->kernels[b->kernel].context_bytes, &b->context) ==
            GPUMP_OK)
            continue;
        b->context = NEVER;
        b->rewinding = 0;
        choices[i].technique = GPUMP_TECHNIQUE_DRAIN;
        choices[i].to_point = choices[i].keep = b->keep = 0;
        *first_refusal = GPUMP_REASON_NO_CONTEXT_SPACE;
        (*refused_blocks)++;
    }
    PARTS_TELL(m, blocks_are_chosen, (m, s, choices, chosen));
    result = gpump_sm_preempt(s->gpump, m->now, choices, chosen, &diag);
    if (result == GPUMP_OK) {
        PARTS_TELL(m, blocks_are_told, (m, s, choices, chosen, for_kernel));
        return GPUMP_REASON_YES;
    }
    for (i = 0; i < chosen; i++) {
        block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
        if (saves(choices[i].technique))
            machine_must(m, "gpump_context_pool_give", gpump_context_pool_give(m->context_pool, b->context), NULL);
        b->context = NEVER;
    }
    if (result != GPUMP_ERROR_REFUSED) machine_must(m, "gpump_sm_preempt", result, &diag);
    return diag.reason;
}

static void finish(machine *m, sm *s, uint32_t for_kernel) {
    if (for_kernel) {
        machine_must(m, "gpump_sm_reserve", gpump_sm_reserve(s->gpump, for_kernel), NULL);
        s->reserved_for = for_kernel;
        PARTS_TELL(m, sm_is_reserved, (m, s));
    }
    block_life_actions(m, s);
    m->dispatch_needed = 1;
    if (s->wake > m->now + 1) s->wake = m->now + 1;
}

/* Returns the entry of choices[count] for a block; NULL: the block stays. */
static gpump_block_choice *choice_of(gpump_block_choice *choices, uint32_t count, gpump_block_ref block) {
    uint32_t i;
    for (i = 0; i < count && choices[i].block.slot != block.slot; i++) {}
    return i < count ? &choices[i] : NULL;
}

/* Returns whether a part places the kernel's blocks. Such a block leaves nothing in place, because its room
 * belongs to the part. */
static int is_placed_by_part(const machine *m, uint32_t kernel_index) {
    uint32_t placed;
    PARTS_ASK(m, placed, 0, places, (m, kernel_index));
    return placed != 0;
}

/* Describes the SM before the decision: views of its blocks, of which the chosen ones may give up resources.
 * Returns 0 when an earlier preemption has left something in place or is about to, because that block resumes
 * first. */
static int look_in_place(const machine *m, const sm *s, gpump_block_choice *choices, uint32_t count,
                         gpump_block_view views[BLOCK_ENTRIES_MAX], gpump_in_place_sm *in_place) {
    uint32_t i;
    memset(in_place, 0, sizeof *in_place);
    in_place->count = BLOCK_ENTRIES_MAX;
    if (gpump_sm_blocks(s->gpump, m->now, views, BLOCK_ENTRIES_MAX, &in_place->count) != GPUMP_OK) return 0;
    for (i = 0; i < in_place->count; i++) {
        if (views[i].state == GPUMP_BLOCK_PARKED || views[i].keep) return 0;
        views[i].may = choice_of(choices, count, views[i].block) ? 1u << GPUMP_TECHNIQUE_SWITCH : 0;
    }
    in_place->blocks = views;
    in_place->registers = m->config.gpu.registers;
    in_place->shared_bytes = s->shared_bytes;
    in_place->placed = m->placed;
    return 1;
}

void preemption_keep_in_place(const machine *m, const sm *s, uint32_t kernel_index, uint32_t blocks,
                              gpump_block_choice *choices, uint32_t count) {
    gpump_block_view views[BLOCK_ENTRIES_MAX];
    gpump_occupancy occupancy;
    gpump_in_place_need need;
    gpump_in_place_plan plan;
    gpump_in_place_sm in_place;
    uint32_t i;
    if (!look_in_place(m, s, choices, count, views, &in_place)) return;
    memset(&plan, 0, sizeof plan);
    if (blocks && !is_placed_by_part(m, kernel_index)) {
        if (gpump_gpu_occupancy(&m->config.gpu, &m->kernels[kernel_index].need, &occupancy, NULL) != GPUMP_OK) return;
        memset(&need, 0, sizeof need);
        need.blocks = blocks;
        need.registers = occupancy.registers;
        need.shared_bytes = occupancy.block_shared_bytes;
        need.register_placement = need.shared_placement = m->is_aligned ? GPUMP_IN_PLACE_ALIGNED : GPUMP_IN_PLACE_BEST;
        if (gpump_in_place_find(&in_place, &need, &plan, NULL) != GPUMP_OK) return;
    }
    for (i = 0; i < in_place.count; i++) {
        gpump_block_choice *choice = choice_of(choices, count, views[i].block);
        if (choice && !is_placed_by_part(m, views[i].kernel - 1) && gpump_technique_at(choice->technique)->keeps)
            choice->keep = GPUMP_PARTS_IN_PLACE & ~plan.give_up[i];
    }
}

void preemption_keep_for(const machine *m, const sm *s, uint32_t for_kernel, gpump_block_choice *choices,
                         uint32_t count) {
    const kernel *k;
    gpump_occupancy occupancy;
    if (!m->in_place || !count || !for_kernel) return;
    k = &m->kernels[for_kernel - 1];
    if (gpump_gpu_occupancy(&m->config.gpu, &k->need, &occupancy, NULL) != GPUMP_OK || !occupancy.blocks) return;
    preemption_keep_in_place(m, s, for_kernel - 1,
                             k->block_cap && k->block_cap < occupancy.blocks ? k->block_cap : occupancy.blocks, choices,
                             count);
}

gpump_reason preemption_switch_block(machine *m, sm *s, block *b) {
    gpump_block_choice choice;
    gpump_reason reason = gpump_sm_may(s->gpump, b->ref, GPUMP_TECHNIQUE_SWITCH), first_refusal = GPUMP_REASON_YES;
    uint32_t refused_blocks = 0;
    if (reason != GPUMP_REASON_YES) return reason;
    if (!gpump_context_pool_room(m->context_pool, b->kernel + 1).contexts) return GPUMP_REASON_NO_CONTEXT_SPACE;
    memset(&choice, 0, sizeof choice);
    choice.block = b->ref;
    choice.technique = GPUMP_TECHNIQUE_SWITCH;
    reason = begin(m, s, &choice, 1, 0, &first_refusal, &refused_blocks);
    if (reason == GPUMP_REASON_YES) finish(m, s, 0);
    return reason;
}

gpump_reason preemption_request(machine *m, sm *s, uint32_t technique, uint32_t for_kernel, int strict) {
    gpump_block_view views[BLOCK_ENTRIES_MAX];
    gpump_block_choice choices[BLOCK_ENTRIES_MAX];
    uint32_t count = BLOCK_ENTRIES_MAX, chosen = 0, i, refused_blocks = 0, next;
    gpump_reason first_refusal = GPUMP_REASON_YES, reason;
    memset(choices, 0, sizeof choices);
    machine_must(m, "gpump_sm_blocks", gpump_sm_blocks(s->gpump, m->now, views, BLOCK_ENTRIES_MAX, &count), NULL);
    for (i = 0; i < count; i++) {
        block *b = &m->blocks[s->block_of_entry[views[i].block.slot]];
        gpump_block_choice *choice = &choices[chosen];
        if (views[i].state != GPUMP_BLOCK_RUNNING && views[i].state != GPUMP_BLOCK_BLOCKED)
            continue; /* the block is leaving or being restored */
        choice->block = b->ref;
        choice->technique = technique;
        reason = gpump_sm_may(s->gpump, b->ref, technique);
        if (reason != GPUMP_REASON_YES && !strict && gpump_technique_begins(technique) == GPUMP_TECHNIQUE_BEGIN_DROP) {
            if (first_refusal == GPUMP_REASON_YES) first_refusal = reason;
            refused_blocks++;
            choice->technique = GPUMP_TECHNIQUE_SWITCH;
        }
        chosen++;
    }
    PARTS_ASK(m, next, NONE, vacated_for, (m, s));
    if (chosen == count) preemption_keep_for(m, s, next == NONE ? for_kernel : next, choices, chosen);
    reason = begin(m, s, choices, chosen, for_kernel, &first_refusal, &refused_blocks);
    if (reason != GPUMP_REASON_YES) return reason;
    if (chosen) {
        uint32_t entry = log_entry(m, s, technique, for_kernel, chosen,
                                   m->blocks[s->block_of_entry[choices[0].block.slot]].kernel + 1);
        for (i = 0; i < chosen; i++) {
            block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
            b->preemption = entry;
            if (gpump_technique_begins(choices[i].technique) == GPUMP_TECHNIQUE_BEGIN_RUN)
                PARTS_TELL(m, block_phase, (m, b, TIMELINE_DRAIN));
        }
        if (entry != NONE) {
            m->preemptions[entry].refused = first_refusal;
            m->preemptions[entry].refused_blocks = refused_blocks;
        }
    }
    finish(m, s, for_kernel);
    return GPUMP_REASON_YES;
}

gpump_reason preemption_carry_out(machine *m, sm *s, gpump_block_choice *choices, uint32_t chosen,
                                  uint32_t for_kernel) {
    gpump_reason first_refusal = GPUMP_REASON_YES, reason;
    uint32_t refused_blocks = 0, technique, i;
    if (!chosen) {
        finish(m, s, for_kernel);
        return GPUMP_REASON_YES;
    }
    reason = begin(m, s, choices, chosen, for_kernel, &first_refusal, &refused_blocks);
    if (reason != GPUMP_REASON_YES) return reason;
    for (technique = 0; technique < GPUMP_TECHNIQUES; technique++) { /* an entry of the log for each technique */
        uint32_t count = 0, first = 0, entry = m->preemption_count;
        for (i = chosen; i-- > 0;) {
            if (choices[i].technique != technique) continue;
            first = i;
            count++;
        }
        if (!count) continue;
        log_entry(m, s, technique, for_kernel, count,
                  m->blocks[s->block_of_entry[choices[first].block.slot]].kernel + 1);
        for (i = 0; i < chosen; i++) {
            block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
            if (choices[i].technique != technique) continue;
            if (b->preemption != NONE) { /* the block was leaving already, and gets another technique */
                preemption_entry *earlier = &m->preemptions[b->preemption];
                if (earlier->left == --earlier->blocks) earlier->end_cycle = m->now;
            }
            b->preemption = entry < m->preemption_count ? entry : NONE;
            if (gpump_technique_begins(technique) == GPUMP_TECHNIQUE_BEGIN_RUN)
                PARTS_TELL(m, block_phase, (m, b, TIMELINE_DRAIN));
        }
        if (entry == m->preemption_count) continue; /* the log is full */
        m->preemptions[entry].refused = first_refusal;
        m->preemptions[entry].refused_blocks = technique == GPUMP_TECHNIQUE_DRAIN ? refused_blocks : 0;
    }
    finish(m, s, for_kernel);
    return GPUMP_REASON_YES;
}

void preemption_unreserve(machine *m, sm *s) {
    machine_must(m, "gpump_sm_reserve", gpump_sm_reserve(s->gpump, 0), NULL);
    s->reserved_for = 0;
    s->whole = 0;
    m->dispatch_needed = 1;
}

/* Returns whether a kernel of this priority may take an SM, and sets the lowest priority among the kernels
 * with blocks on the SM. */
static int may_be_taken(const machine *m, const sm *s, uint32_t priority) {
    uint32_t i;
    if (s->reserved_for || s->parked) return 0; /* parked blocks resume before others are parked */
    for (i = 0; i < m->kernel_count; i++) {
        if (s->kernel_resident[i] && m->kernels[i].priority >= priority) return 0;
    }
    return 1;
}

void preemption_make_room(machine *m, uint32_t kernel_index) {
    kernel *k = &m->kernels[kernel_index];
    gpump_occupancy occupancy;
    uint64_t wanted;
    uint32_t i, per_sm;
    if (gpump_gpu_occupancy(&m->config.gpu, &k->need, &occupancy, NULL) != GPUMP_OK || !occupancy.blocks) return;
    per_sm = k->block_cap && k->block_cap < occupancy.blocks ? k->block_cap : occupancy.blocks;
    wanted = (k->blocks + per_sm - 1) / per_sm;
    for (i = 0; i < m->sm_count && wanted; i++) { /* empty SMs come first, because no block must leave */
        if (m->sms[i]->reserved_for == kernel_index + 1 || (!m->sms[i]->resident && !m->sms[i]->reserved_for)) wanted--;
    }
    for (i = 0; i < m->sm_count && wanted; i++) {
        sm *s = m->sms[i];
        if (!s->resident || !may_be_taken(m, s, k->priority)) continue;
        preemption_request(m, s, m->technique, kernel_index + 1, 0);
        wanted--;
    }
}

#define CONTEXT_SPACES 4096u /* of a pool at most: for kernels that run at a time, which are one of each process */

int preemption_make_context_pool(machine *m, uint32_t contexts_per_kernel, char error[LAUNCH_ERROR_BYTES]) {
    gpump_context_pool_config config;
    gpump_diag diag;
    size_t bytes;
    void *memory;
    memset(&config, 0, sizeof config);
    memset(&diag, 0, sizeof diag);
    config.kernels = m->kernel_count < CONTEXT_SPACES ? m->kernel_count : CONTEXT_SPACES;
    config.contexts = contexts_per_kernel;
    config.context_bytes = m->context_stride;
    if (gpump_bytes(&gpump_context_pool_component, &config, &bytes, &diag) != GPUMP_OK) return refused(error, &diag);
    if (!(memory = arena_take(&m->arena, bytes))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    if ((m->context_form != CONTEXT_NAIVE && !(m->context_scratch = arena_take(&m->arena, m->context_stride))) ||
        (m->in_place && !(m->parked_scratch = arena_take(&m->arena, m->context_stride)))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    if (gpump_init(&gpump_context_pool_component, memory, bytes, &config, &m->context_pool, &diag) != GPUMP_OK)
        return refused(error, &diag);
    return 0;
}

void preemption_kernel_starts(machine *m, uint32_t kernel_index) {
    machine_must(m, "gpump_context_pool_open", gpump_context_pool_open(m->context_pool, kernel_index + 1), NULL);
}

void preemption_kernel_ends(machine *m, uint32_t kernel_index) {
    machine_must(m, "gpump_context_pool_close", gpump_context_pool_close(m->context_pool, kernel_index + 1), NULL);
}
