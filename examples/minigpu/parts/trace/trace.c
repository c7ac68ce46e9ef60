#include "parts/trace/trace.h"

#include <stdio.h>
#include <string.h>

#include "preemption/context_bytes.h"

#define SERIES_MAX (64u + 8u)
#define OCCUPANCY_KERNELS 64u /* kernels beyond share the last one's series */

static uint32_t row_of(const machine *m, uint32_t sm, uint32_t slot) {
    return trace_of(m)->row_count - (m->sm_count - sm) * BLOCK_ENTRIES_MAX + slot;
}

static uint32_t occupancy_series(const machine *m) {
    return m->kernel_count < OCCUPANCY_KERNELS ? m->kernel_count : OCCUPANCY_KERNELS;
}

/* Declares the curves of the parts, or samples them. Returns how many values there are, the `n` before them included.
 */
static uint32_t curves_of_parts(const machine *m, uint64_t *values, uint32_t n) {
    timeline_series series;
    const part *const *p;
    uint64_t value;
    uint32_t i;
    for (p = m->parts; *p; p++)
        for (i = 0; (*p)->curve && n < SERIES_MAX && (*p)->curve(m, i, &series, &value); i++, n++) {
            if (values)
                values[n] = value;
            else
                timeline_add_series(trace_of(m), &series);
        }
    return n;
}

static void declare_series(machine *m) {
    const gpump_gpu *gpu = &m->config.gpu;
    timeline_series series = {"occupancy", "", "% of warp slots", 0, 100, TIMELINE_GAUGE, TIMELINE_NONE};
    uint32_t i, warps;
    series.scale = 100.0 / ((double)m->sm_count * gpu->warp_slots);
    PARTS_ASK(m, warps, 0, most_warps, (m));
    if (warps) series.limit *= (double)warps / gpu->warp_slots;
    for (i = 0; i < occupancy_series(m); i++) {
        series.name = m->kernels[i].program->name;
        series.kernel = i;
        timeline_add_series(trace_of(m), &series);
    }
    series.kernel = TIMELINE_NONE;
    series.kind = TIMELINE_COUNTER;
    series.chart = series.name = "issue slots";
    series.unit = "% of issue slots";
    series.limit = 100;
    series.scale = 100.0 * m->config.issue_interval / ((double)m->sm_count * gpu->schedulers);
    timeline_add_series(trace_of(m), &series);
    series.chart = "memory traffic";
    series.name = "DRAM";
    series.unit = "bytes per cycle";
    series.scale = 1;
    series.limit = (double)gpu->memory_mb_per_s * 1000.0 / (double)gpu->clock_khz;
    timeline_add_series(trace_of(m), &series);
    series.name = "contexts";
    timeline_add_series(trace_of(m), &series);
    (void)curves_of_parts(m, NULL, i + 3);
}

int trace_open(machine *m, const launch_file *launch) {
    char name[32];
    uint32_t i, n, group, processes = 0;
    timeline *t = timeline_open(m->config.gpu.clock_khz, "warp instructions");
    if (!t) return -1;
    for (i = 0; i < m->kernel_count; i++) {
        const uint32_t process = m->kernels[i].process;
        if (process >= processes) processes = process + 1;
        timeline_kernel(t, m->kernels[i].program->name, launch ? launch->processes[process].name : "", i);
    }
    group = timeline_group(t, "kernels");
    for (i = 0; i < processes; i++) {
        for (n = 0; m->kernels[n].process != i && n + 1 < m->kernel_count;) n++;
        timeline_row(t, group, launch ? launch->processes[i].name : m->kernels[n].program->name);
    }
    for (i = 0; i < m->sm_count; i++) {
        snprintf(name, sizeof name, "SM %u", i);
        group = timeline_group(t, name);
        for (n = 0; n < BLOCK_ENTRIES_MAX; n++) {
            snprintf(name, sizeof name, "slot %u", n);
            timeline_row(t, group, name);
        }
    }
    m->of_part[PART_trace] = t;
    parts_find(m);
    declare_series(m);
    if (t->failed) {
        m->of_part[PART_trace] = NULL;
        parts_find(m);
        timeline_free(t);
        return -1;
    }
    for (i = 0; i < m->block_count; i++) { /* blocks that are there already; their past is unknown */
        const block *b = &m->blocks[i];
        if (!b->life) continue;
        timeline_phase_is(t, b->start_cycle, row_of(m, b->sm, b->ref.slot), TIMELINE_RUN, b->kernel, b->linear);
    }
    return 0;
}

static void block_phase(const machine *m, const block *b, uint32_t phase) {
    timeline_phase_is(trace_of(m), m->now, row_of(m, b->sm, b->ref.slot), (timeline_phase)phase, b->kernel, b->linear);
}

/* The cost estimates of one SM's blocks that are about to leave, in this order. The estimates are used before the
 * machine continues, so one array serves all machines. */
static __thread timeline_estimate estimates[BLOCK_ENTRIES_MAX];

static void estimate(machine *m, sm *s, const gpump_block_choice *choices, uint32_t count) {
    gpump_block_view views[BLOCK_ENTRIES_MAX];
    gpump_cost_estimate costs[BLOCK_ENTRIES_MAX];
    const gpump_cost_options options = {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0};
    uint64_t port = 0; /* contexts leave one after the other */
    uint32_t i, n;
    if (!count) return;
    memset(estimates, 0xff, count * sizeof *estimates);
    for (i = 0; i < count; i++) {
        if (gpump_sm_block(s->gpump, m->now, choices[i].block, &views[i]) != GPUMP_OK) return;
        if (m->context_form)
            views[i].context_bytes = preemption_context_now(m, &m->blocks[s->block_of_entry[views[i].block.slot]]);
    }
    if (gpump_cost_estimate_blocks(&m->port, m->histories, m->kernel_count + 1, views, count, NULL, &options, costs,
                                   NULL) != GPUMP_OK)
        return;
    for (i = 0; i < count; i++) {
        for (n = 0; n < GPUMP_TECHNIQUES; n++) {
            if (!(views[i].may >> n & 1)) continue;
            estimates[i].cycles[n] = costs[i].latency[n];
            estimates[i].overhead[n] = costs[i].overhead[n];
        }
        n = choices[i].technique;
        if (gpump_technique_begins(n) != GPUMP_TECHNIQUE_BEGIN_STOP || estimates[i].cycles[n] == NEVER) continue;
        estimates[i].cycles[n] = port += estimates[i].cycles[n];
    }
}

static void told(machine *m, sm *s, const gpump_block_choice *choices, uint32_t count, uint32_t for_kernel) {
    room_request asked = {m->now, TIMELINE_NEVER};
    uint32_t request, i, vacated_for;
    int known;
    if (!count) return;
    PARTS_ASK(m, known, 0, room_wanted, (m, for_kernel, &asked));
    PARTS_ASK(m, vacated_for, NONE, vacated_for, (m, s));
    if (vacated_for != NONE) for_kernel = vacated_for;
    request = timeline_ask(trace_of(m), asked.since, for_kernel ? for_kernel - 1 : TIMELINE_NONE, asked.limit_cycles);
    for (i = 0; i < count; i++) {
        const block *b = &m->blocks[s->block_of_entry[choices[i].block.slot]];
        const uint32_t technique = choices[i].technique;
        timeline_estimate told_of = estimates[i];
        if (known) /* the policy's own estimate */
            PARTS_ASK(m, known, 1, room_estimate,
                      (m, for_kernel, b, &told_of.cycles[technique], &told_of.overhead[technique]));
        timeline_tell(trace_of(m), m->now, request, row_of(m, s->index, b->ref.slot), b->kernel, b->linear, technique,
                      &told_of);
    }
}

/* Returns the technique by which a block has left. A block that ended before it was saved has drained. */
static uint32_t left_by(const block *b, const gpump_sm_action *action) {
    if (action->why == GPUMP_BLOCK_DONE)
        return gpump_technique_begins(action->technique) == GPUMP_TECHNIQUE_BEGIN_RUN ? action->technique
                                                                                      : (uint32_t)GPUMP_TECHNIQUE_DRAIN;
    if (action->technique != GPUMP_NONE) return action->technique;
    return b->rewinding ? GPUMP_TECHNIQUE_REWIND : GPUMP_TECHNIQUE_SWITCH; /* killed while it was leaving */
}

static void block_leaves(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    const uint32_t row = row_of(m, b->sm, b->ref.slot);
    const int flushed = action->why == GPUMP_BLOCK_FLUSHED, done = action->why == GPUMP_BLOCK_DONE;
    const uint64_t dropped = flushed ? action->history.executed : done ? 0 : b->rewound;
    uint64_t cost = dropped;
    (void)s;
    if (!flushed && !done && action->history.cycles) /* stopped until it was saved, and as long again for its restore */
        cost += gpump_muldiv_up(2 * (m->now - b->stop_cycle), action->history.executed, action->history.cycles);
    timeline_phase_is(trace_of(m), m->now, row, TIMELINE_NOTHING, 0, 0);
    if (flushed) timeline_add_mark(trace_of(m), m->now, row, "flush", b->kernel, b->linear);
    timeline_leave(trace_of(m), m->now, row, left_by(b, action), flushed || done ? 0 : b->context_bytes, dropped, cost);
}

static void kernel_starts(machine *m, uint32_t kernel) {
    timeline_add_mark(trace_of(m), m->now, TIMELINE_NONE, "arrives", kernel, 0);
}

static void kernel_ends(machine *m, uint32_t kernel) {
    const uint64_t ready = m->kernels[kernel].round_cycle,
                   seen = trace_of(m)->begin_cycle; /* the kernel may have begun before the observation */
    timeline_add_span(trace_of(m), m->kernels[kernel].process, TIMELINE_KERNEL, kernel, 0,
                      ready < seen && seen <= m->now ? seen : ready, m->now);
}

/* Samples the numbers of all curves, which hold from cycle `since` on. */
static void sample(const machine *m, uint64_t since) {
    uint64_t values[SERIES_MAX], issued = 0, contexts = 0;
    uint32_t i, n = occupancy_series(m);
    memset(values, 0, sizeof values);
    for (i = 0; i < m->kernel_count; i++)
        values[i < n ? i : n - 1] += (uint64_t)m->kernels[i].resident * m->kernels[i].warps;
    for (i = 0; i < m->sm_count; i++) {
        issued += m->sms[i]->statistics.issued;
        contexts += m->sms[i]->statistics.transfer_requests * SEGMENT_BYTES;
    }
    values[n++] = issued;
    values[n++] = m->memory_system->statistics.dram_bytes;
    values[n++] = contexts;
    (void)curves_of_parts(m, values, n);
    timeline_sample(trace_of(m), since, values);
}

timeline *trace_close(machine *m) {
    timeline *t = trace_of(m);
    uint32_t i;
    if (!t) return NULL;
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].state == KERNEL_ACTIVE) kernel_ends(m, i);
    sample(m, m->now);
    timeline_close(t, m->now);
    m->of_part[PART_trace] = NULL;
    parts_find(m);
    return t;
}

/* ---- the part ---- */

static int is_present(const machine *m) { return trace_of(m) != NULL; }

static void turn(machine *m) {
    uint64_t since;
    if (timeline_is_due(trace_of(m), m->now, &since)) sample(m, since);
}

const part trace_part = {
    .name = "trace",
    .traits = PART_CROSSES_SMS | PART_SEES_PLACEMENTS | PART_READS_MEMORY,
    .is_present = is_present,
    .turn = turn,
    .kernel_starts = kernel_starts,
    .kernel_ends = kernel_ends,
    .block_phase = block_phase,
    .blocks_are_chosen = estimate,
    .blocks_are_told = told,
    .block_leaves = block_leaves,
};
