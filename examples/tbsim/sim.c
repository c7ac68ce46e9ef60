/* The event loop: processes, streams, transfer engine, blocks. gpump's scheduler decides, and gpump's numbers give the
 * cost of a context. */
#include <stdlib.h>
#include <string.h>
#include "policies.h"
#include "tbsim.h"

enum {
    EVENT_UNIT_END,
    EVENT_SAVED,
    EVENT_READY,
    EVENT_CPU,
    EVENT_TRANSFER,
    EVENT_WAKE,
    EVENT_RESTORED,
    EVENT_DISPATCHED
};
typedef struct event {
    uint64_t time;
    uint32_t order;      /* events of one cycle happen in the order in which they were made */
    uint32_t generation; /* of the slot: events of an earlier generation are dropped */
    uint32_t kind, index;
} event;

typedef enum slot_state { SLOT_FREE, SLOT_RUNNING, SLOT_DRAINING, SLOT_SAVING } slot_state;
/* The contents of a block slot: units first to last - 1 of a kernel, one after the other. */
typedef struct slot {
    gpump_block_ref block; /* the scheduler's name for the block on its SM */
    uint64_t start, end;   /* of this residence; start: when its context has been restored */
    uint64_t rest;         /* cycles that its first unit still needs at `start` */
    gpump_block_ref ref;   /* use_sm */
    uint32_t generation, state, kernel, process, first, last;
    uint32_t handle; /* the rest that remains when it drains or is saved; GPUMP_NONE: nothing */
    uint64_t since;  /* when it entered its present state */
    uint64_t done;   /* cycles of work that flushes have dropped */
} slot;

/* A chunk, or the rest of one, that waits in a PTBQ. */
typedef struct saved {
    uint64_t rest; /* cycles that the first unit still needs; its whole time without a context */
    gpump_sm_history history;
    uint32_t first, last, kernel;
    uint32_t has_context;
    uint32_t next_free;
} saved;

typedef struct stream {
    uint32_t process;
    uint32_t next_op; /* where in the script the search for this stream's next launch begins */
    uint32_t launched, submitted, done;
    uint32_t kernel; /* kernel of the launch in flight */
    uint64_t started;
} stream;
typedef enum process_state {
    PROCESS_NOT_STARTED,
    PROCESS_CPU,
    PROCESS_TRANSFER,
    PROCESS_SYNC,
    PROCESS_ENDED
} process_state;
typedef struct process {
    const tb_application *application;
    uint32_t op, state, row, first_stream, runs;
    uint64_t run_start, since; /* since: start of the present CPU phase or transfer */
} process;

typedef struct sim {
    const tb_library *library;
    const tb_workload *workload;
    const tb_options *options;
    tb_result *result;
    gpump_scheduler *scheduler;
    uint64_t now, wake, setup_cycles, dispatch_cycles, limit, preempted_at[1024];
    gpump_port ports[1024]; /* of the SMs */
    uint32_t owner_process[1024];
    slot *slots;
    uint32_t slots_per_sm, sms;
    saved *pool;
    uint32_t pool_size, free_saved;
    process processes[TB_PROCESSES];
    stream streams[TB_PROCESSES * TB_STREAMS];
    uint32_t stream_count, unfinished;
    uint32_t context, waiting_contexts;   /* fcfs_context: the process whose commands run, and the number that wait */
    uint32_t context_queue[TB_PROCESSES]; /* the waiting processes, in the order of their launches */
    uint32_t transfer_queue[TB_PROCESSES], transfers_waiting, transferring; /* a process has at most one transfer */
    event *heap;
    uint32_t heap_count, heap_capacity, order;
    gpump_cost_history *histories; /* mechanism select: one per kernel, at index + 1 */
    gpump_sm **sm;                 /* use_sm */
    uint32_t
        *shown_kernels;   /* the timeline's kernels: process * library kernels + kernel; TIMELINE_NONE: not shown yet */
    uint32_t shown_slots; /* the timeline's row of the first slot */
    int failed;
} sim;

static void fail(sim *s, const char *what) {
    if (!s->failed)
        snprintf(s->result->error, sizeof s->result->error, "at cycle %llu: %s", (unsigned long long)s->now, what);
    s->failed = 1;
}
static void expect(sim *s, gpump_result result, const char *what) {
    if (result != GPUMP_OK) {
        char text[120];
        snprintf(text, sizeof text, "%s: %s", what, gpump_result_name(result));
        fail(s, text);
    }
}

/* ---- events: a binary heap ---- */

static int earlier(const event *a, const event *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(sim *s, uint64_t time, uint32_t kind, uint32_t index, uint32_t generation) {
    uint32_t i = s->heap_count++;
    event e = {time, s->order++, generation, kind, index};
    if (i == s->heap_capacity) {
        uint32_t capacity = s->heap_capacity ? s->heap_capacity * 2 : 1024;
        event *grown = (event *)realloc(s->heap, capacity * sizeof *grown);
        if (!grown) {
            s->heap_count--;
            fail(s, "out of memory");
            return;
        }
        s->heap = grown;
        s->heap_capacity = capacity;
    }
    if (s->order == UINT32_MAX) { /* renumbering keeps the heap order, because only ties depend on the numbers */
        for (uint32_t k = 0; k < i; k++) s->heap[k].order = k;
        s->order = i;
    }
    while (i && earlier(&e, &s->heap[(i - 1) / 2])) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = e;
}

static event pop(sim *s) {
    event top = s->heap[0], last = s->heap[--s->heap_count];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= s->heap_count) break;
        if (child + 1 < s->heap_count && earlier(&s->heap[child + 1], &s->heap[child])) child++;
        if (!earlier(&s->heap[child], &last)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

/* ---- the timeline: every call is made only with options->timeline ---- */

/* Returns the first row of a process. A process has a row for its CPU phases and transfers, and one for the kernels of
 * each stream. */
static uint32_t shown_row(const sim *s, uint32_t process) { return s->processes[process].first_stream + process; }

static uint32_t shown_kernel(sim *s, uint32_t process, uint32_t kernel) {
    uint32_t *shown = &s->shown_kernels[process * s->library->kernel_count + kernel];
    if (*shown == TIMELINE_NONE)
        *shown = timeline_kernel(s->options->timeline, s->library->kernels[kernel].name,
                                 s->workload->processes[process].name, process);
    return *shown;
}

/* Shows the slot's state, which ends now. The start and end of a context's transfer are known in advance, so the times
 * are exact. */
static void show_slot(sim *s, uint32_t index) {
    timeline *t = s->options->timeline;
    slot *b = &s->slots[index];
    const uint32_t row = s->shown_slots + index, kernel = shown_kernel(s, b->process, b->kernel);
    const tb_kernel *k = &s->library->kernels[b->kernel];
    const uint64_t block = (uint64_t)b->first * k->group, back = b->start < s->now ? b->start : s->now;
    switch (b->state) {
    case SLOT_RUNNING: {
        const uint64_t begin = back > b->since + k->context_cycles ? back - k->context_cycles : b->since;
        timeline_add_span(t, row, TIMELINE_STOP, kernel, block, b->since, begin); /* waits for the port */
        timeline_add_span(t, row, TIMELINE_RESTORE, kernel, block, begin, back);
        timeline_add_span(t, row, TIMELINE_RUN, kernel, block, b->since > back ? b->since : back, s->now);
        break;
    }
    case SLOT_DRAINING: timeline_add_span(t, row, TIMELINE_DRAIN, kernel, block, b->since, s->now); break;
    case SLOT_SAVING: {
        const uint64_t begin = b->end - b->since > k->context_cycles ? b->end - k->context_cycles : b->since;
        timeline_add_span(t, row, TIMELINE_STOP, kernel, block, b->since, begin < s->now ? begin : s->now);
        timeline_add_span(t, row, TIMELINE_SAVE, kernel, block, begin, s->now);
        break;
    }
    default: break;
    }
    b->since = s->now;
}

/* Shows that the slot becomes free, or that the run ends. */
static void show_left(sim *s, uint32_t index) {
    const slot *b = &s->slots[index];
    const tb_kernel *k = &s->library->kernels[b->kernel];
    const uint64_t told = b->since;
    const uint32_t row = s->shown_slots + index;
    const int flushed = b->state == SLOT_SAVING && b->end == told;
    show_slot(s, index);
    if (flushed)
        timeline_add_mark(s->options->timeline, s->now, row, "flush", shown_kernel(s, b->process, b->kernel),
                          (uint64_t)b->first * k->group);
    if (b->state == SLOT_DRAINING)
        timeline_leave(s->options->timeline, s->now, row, GPUMP_TECHNIQUE_DRAIN, 0, 0, 0);
    else if (flushed)
        timeline_leave(s->options->timeline, s->now, row, GPUMP_TECHNIQUE_FLUSH, 0, b->done, b->done);
    else if (b->state == SLOT_SAVING)
        timeline_leave(s->options->timeline, s->now, row, GPUMP_TECHNIQUE_SWITCH, k->context_bytes * k->group, 0,
                       s->now - told + k->context_cycles);
}

/* The numbers of all curves, which hold from cycle `since` on. */
static void show_sample(sim *s, uint64_t since) {
    uint64_t values[2 * TB_PROCESSES + 2];
    uint32_t slots[TB_PROCESSES], held[TB_PROCESSES], n = 0, moving = 0;
    memset(slots, 0, sizeof slots);
    memset(held, 0, sizeof held);
    for (uint32_t i = 0; i < s->sms * s->slots_per_sm; i++)
        if (s->slots[i].state != SLOT_FREE) slots[s->slots[i].process] += s->library->kernels[s->slots[i].kernel].group;
    for (uint32_t i = 0; i < s->sms; i++) {
        if (s->owner_process[i] != GPUMP_NONE) held[s->owner_process[i]]++;
        moving += s->ports[i].free_cycle > s->now;
    }
    for (uint32_t i = 0; i < s->workload->count; i++) values[n++] = held[i];
    for (uint32_t i = 0; i < s->workload->count; i++) values[n++] = slots[i];
    values[n++] = moving;
    values[n++] = s->transferring != GPUMP_NONE;
    timeline_sample(s->options->timeline, since, values);
}

/* Declares rows and series. Returns 0, or -1 when memory is out. */
static int show_begin(sim *s) {
    timeline *t = s->options->timeline;
    timeline_series series = {"SMs held", "", "SMs", 1, 0, TIMELINE_GAUGE, TIMELINE_NONE};
    char name[TB_NAME + 24];
    uint32_t group = timeline_group(t, "processes"), count = s->workload->count * s->library->kernel_count;
    s->shown_kernels = (uint32_t *)malloc((count + 1) * sizeof *s->shown_kernels);
    if (!s->shown_kernels) return -1;
    memset(s->shown_kernels, 0xff, count * sizeof *s->shown_kernels);
    for (uint32_t i = 0; i < s->workload->count; i++) {
        timeline_row(t, group, s->workload->processes[i].name);
        for (uint32_t k = 0; k < s->processes[i].application->streams; k++) timeline_row(t, group, "");
    }
    s->shown_slots = t->row_count;
    for (uint32_t i = 0; i < s->sms; i++) {
        snprintf(name, sizeof name, "SM %u", i);
        group = timeline_group(t, name);
        for (uint32_t k = 0; k < s->slots_per_sm; k++) {
            snprintf(name, sizeof name, "slot %u", k);
            timeline_row(t, group, name);
        }
    }
    for (uint32_t chart = 0; chart < 2; chart++)
        for (uint32_t i = 0; i < s->workload->count; i++) {
            const tb_application *application = s->processes[i].application;
            uint32_t op = 0;
            while (op < application->op_count && application->ops[op].kind != TB_OP_LAUNCH) op++;
            series.chart = chart ? "blocks" : "SMs held";
            series.unit = chart ? "blocks on SMs" : "SMs";
            series.limit = chart ? 0 : s->sms;
            series.name = s->workload->processes[i].name;
            series.kernel = op < application->op_count ? shown_kernel(s, i, application->ops[op].kernel) : 0;
            timeline_add_series(t, &series);
        }
    series.kernel = TIMELINE_NONE;
    series.chart = "transfers";
    series.name = "SMs that save or restore";
    series.unit = "SMs";
    series.limit = s->sms;
    timeline_add_series(t, &series);
    series.name = "PCIe in use";
    series.unit = "";
    timeline_add_series(t, &series);
    return t->failed ? -1 : 0;
}

/* ---- blocks ---- */

static uint64_t unit_cycles(const tb_kernel *k, uint32_t unit) { return k->unit_start[unit + 1] - k->unit_start[unit]; }

/* Returns the unit that a slot executes at cycle `now`, and sets the cycles that the unit still needs. */
static uint32_t present_unit(const slot *b, const tb_kernel *k, uint64_t now, uint64_t *rest) {
    uint64_t into = now > b->start ? now - b->start : 0, position;
    uint32_t low = b->first, high = b->last - 1;
    if (into < b->rest) {
        *rest = b->rest - into;
        return b->first;
    }
    position = k->unit_start[b->first + 1] + (into - b->rest);
    while (low < high) { /* finds the last unit that starts at or before position */
        uint32_t middle = low + (high - low + 1) / 2;
        if (k->unit_start[middle] <= position)
            low = middle;
        else
            high = middle - 1;
    }
    *rest = k->unit_start[low + 1] > position ? k->unit_start[low + 1] - position : 0;
    return low;
}

static uint32_t save_state(sim *s, uint32_t kernel, uint32_t first, uint32_t last, uint64_t rest,
                           uint32_t has_context) {
    uint32_t i = s->free_saved;
    if (i == GPUMP_NONE) {
        fail(s, "more blocks saved than the machine has slots");
        return 0;
    }
    s->free_saved = s->pool[i].next_free;
    s->pool[i].kernel = kernel;
    s->pool[i].first = first;
    s->pool[i].last = last;
    s->pool[i].rest = rest;
    s->pool[i].has_context = has_context;
    memset(&s->pool[i].history, 0, sizeof s->pool[i].history);
    return i;
}

/* use_sm: pulls the SM's actions, answers them with this file's times, and counts disagreements. */
static void sm_pull(sim *s, uint32_t sm, uint64_t until) {
    gpump_sm_action action;
    while (gpump_sm_next(s->sm[sm], until, &action) == GPUMP_OK) {
        slot *b = NULL;
        for (uint32_t i = 0; i < s->slots_per_sm; i++) {
            slot *candidate = &s->slots[sm * s->slots_per_sm + i];
            if (candidate->state != SLOT_FREE && candidate->ref.slot == action.block.slot &&
                candidate->ref.generation == action.block.generation)
                b = candidate;
        }
        if (!b) continue;
        if (action.kind == GPUMP_SM_ACTION_SAVE && action.end_cycle != b->end) s->result->cost_wrong++;
        if (action.kind == GPUMP_SM_ACTION_RESTORE && action.end_cycle != b->start) s->result->cost_wrong++;
        if (action.kind == GPUMP_SM_ACTION_FREED && b->handle != GPUMP_NONE)
            s->pool[b->handle].history = action.history;
    }
}

static void issue(sim *s, const gpump_scheduler_action *action) {
    uint32_t index = action->sm * s->slots_per_sm + action->block.slot;
    slot *b = &s->slots[index];
    const tb_kernel *k;
    uint32_t queue = action->queue, has_context = 0;
    gpump_sm_history history;
    memset(&history, 0, sizeof history);
    b->process = s->streams[queue].process;
    b->kernel = s->streams[queue].kernel;
    k = &s->library->kernels[b->kernel];
    b->block = action->block;
    b->state = SLOT_RUNNING;
    b->handle = GPUMP_NONE;
    b->generation++;
    b->start = s->now;
    if (action->saved) {
        saved *old = &s->pool[action->handle];
        b->first = old->first;
        b->last = old->last;
        b->rest = old->rest;
        has_context = old->has_context;
        history = old->history;
        old->next_free = s->free_saved;
        s->free_saved = (uint32_t)action->handle;
    } else {
        b->first = k->chunk_first[action->index];
        b->last = k->chunk_first[action->index + 1];
        b->rest = unit_cycles(k, b->first);
    }
    if (has_context) b->start = gpump_port_take(&s->ports[action->sm], s->now, k->context_bytes * k->group, NULL);
    b->end = b->start + b->rest + (k->unit_start[b->last] - k->unit_start[b->first + 1]);
    b->since = s->now;
    push(s, b->end, EVENT_UNIT_END, index, b->generation);
    if (s->sm) {
        gpump_sm_request request;
        memset(&request, 0, sizeof request);
        request.cookie = index;
        request.kernel = b->kernel + 1;
        request.need.threads = k->threads * k->group;
        request.need.registers = k->registers * k->group;
        request.need.shared_bytes = k->shared_bytes * k->group;
        expect(s, gpump_sm_place(s->sm[action->sm], s->now, &request, has_context ? &history : NULL, &b->ref, NULL),
               "gpump_sm_place");
        sm_pull(s, action->sm, s->now);
    }
}

static void free_slot(sim *s, uint32_t index) {
    slot *b = &s->slots[index];
    if (s->options->timeline) show_left(s, index);
    b->state = SLOT_FREE;
    b->generation++;
}

static void unit_end(sim *s, uint32_t index) {
    slot *b = &s->slots[index];
    const gpump_block_ref name = b->block;
    const uint64_t handle = b->handle;
    const tb_kernel *k = &s->library->kernels[b->kernel];
    s->result->busy_cycles += b->end - b->start;
    if (s->histories)
        gpump_cost_history_record(&s->histories[b->kernel + 1], unit_cycles(k, b->last - 1),
                                  unit_cycles(k, b->last - 1));
    if (s->sm) {
        sm_pull(s, index / s->slots_per_sm, s->now);
        expect(s, gpump_sm_report_done(s->sm[index / s->slots_per_sm], s->now, b->ref), "gpump_sm_report_done");
        sm_pull(s, index / s->slots_per_sm, s->now);
        if (b->handle != GPUMP_NONE) memset(&s->pool[b->handle].history, 0, sizeof s->pool[b->handle].history);
    }
    free_slot(s, index);
    if (handle != GPUMP_NONE) /* drained: the rest of the chunk returns without a context */
        expect(s, gpump_scheduler_report_preempted(s->scheduler, s->now, index / s->slots_per_sm, name, handle),
               "report_preempted");
    else
        expect(s, gpump_scheduler_report_finished(s->scheduler, s->now, index / s->slots_per_sm, name),
               "report_finished");
}

static void save_done(sim *s, uint32_t index) {
    slot *b = &s->slots[index];
    const gpump_block_ref name = b->block;
    const uint64_t handle = b->handle;
    if (s->sm) sm_pull(s, index / s->slots_per_sm, s->now);
    free_slot(s, index);
    expect(s, gpump_scheduler_report_preempted(s->scheduler, s->now, index / s->slots_per_sm, name, handle),
           "report_preempted");
}

static void drain_unit(sim *s, uint32_t index) {
    slot *b = &s->slots[index];
    const tb_kernel *k = &s->library->kernels[b->kernel];
    uint64_t rest;
    uint32_t unit = present_unit(b, k, s->now, &rest);
    b->state = SLOT_DRAINING;
    if (unit + 1 < b->last) {
        b->handle = save_state(s, b->kernel, unit + 1, b->last, unit_cycles(k, unit + 1), 0);
        b->last = unit + 1;
        b->end = (b->start > s->now ? b->start : s->now) + rest;
        b->generation++;
        push(s, b->end, EVENT_UNIT_END, index, b->generation);
    }
}

static void switch_unit(sim *s, uint32_t index) {
    slot *b = &s->slots[index];
    const tb_kernel *k = &s->library->kernels[b->kernel];
    const uint64_t stopped = b->start > s->now ? b->start : s->now;
    uint64_t rest;
    uint32_t unit = present_unit(b, k, s->now, &rest);
    s->result->busy_cycles += stopped - b->start;
    b->handle = save_state(s, b->kernel, unit, b->last, rest, 1);
    b->state = SLOT_SAVING;
    b->end = gpump_port_take(&s->ports[index / s->slots_per_sm], stopped, k->context_bytes * k->group, NULL);
    b->generation++;
    push(s, b->end, EVENT_SAVED, index, b->generation);
}

static void flush_unit(sim *s, uint32_t index) {
    slot *b = &s->slots[index];
    const tb_kernel *k = &s->library->kernels[b->kernel];
    uint64_t rest;
    uint32_t unit = present_unit(b, k, s->now, &rest);
    b->handle = save_state(s, b->kernel, unit, b->last, unit_cycles(k, unit), 0);
    b->done = unit_cycles(k, unit) - rest;
    b->state = SLOT_SAVING;
    b->end = s->now;
    b->generation++;
    push(s, s->now, EVENT_SAVED, index, b->generation);
}

/* Chooses the technique of each block of an SM, and keeps the estimates (GPUMP_VICTIM_ASK_VACATE under "chimera"). */
static void select_techniques(sim *s, uint32_t sm, uint8_t *technique, timeline_estimate *expected) {
    gpump_block_view views[64];
    gpump_cost_estimate estimates[64];
    gpump_block_choice choices[64];
    gpump_victim_request request;
    gpump_victim_sm view;
    gpump_victim_question question;
    gpump_victim_decision decision;
    const gpump_victim_policy *policy = gpump_victim_find("chimera");
    const gpump_port port = gpump_gpu_port(&s->library->machine.gpu);
    uint32_t count = 0;
    memset(views, 0, sizeof views);
    for (uint32_t i = 0; i < s->slots_per_sm; i++) {
        const slot *b = &s->slots[sm * s->slots_per_sm + i];
        const tb_kernel *k = &s->library->kernels[b->kernel];
        gpump_block_view *v = &views[count];
        uint64_t rest;
        uint32_t unit;
        if (b->state != SLOT_RUNNING) continue;
        unit = present_unit(b, k, s->now, &rest);
        v->executed = v->cycles = b->start > s->now ? 0 : unit_cycles(k, unit) - rest;
        v->context_bytes = k->context_bytes * k->group;
        v->block.slot = i;
        v->kernel = b->kernel + 1;
        v->state = GPUMP_BLOCK_RUNNING;
        v->may = 1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_DRAIN |
                 (s->options->select_flush ? 1u << GPUMP_TECHNIQUE_FLUSH : 0u);
        count++;
    }
    expect(s,
           gpump_cost_estimate_blocks(&port, s->histories, s->library->kernel_count + 1, views, count, NULL,
                                      &policy->cost, estimates, NULL),
           "gpump_cost_estimate_blocks");
    for (uint32_t i = 0; s->options->timeline && i < count && !s->failed; i++)
        for (uint32_t t = 0; t < GPUMP_TECHNIQUES; t++) {
            if (!(views[i].may >> t & 1)) continue;
            expected[views[i].block.slot].cycles[t] = estimates[i].latency[t];
            expected[views[i].block.slot].overhead[t] = estimates[i].overhead[t];
        }
    gpump_victim_request_init(&request, 0, 0, s->now); /* saves of one SM follow each other */
    request.limit_cycles = tb_cycles(&s->library->machine, s->options->select_limit_us);
    memset(&view, 0, sizeof view);
    view.blocks = views;
    view.estimates = estimates;
    view.count = count;
    view.sm = sm;
    memset(&question, 0, sizeof question);
    question.ask = GPUMP_VICTIM_ASK_VACATE;
    question.policy = policy;
    question.request = &request;
    question.sms = &view;
    question.sm_count = 1;
    question.choices = choices;
    question.choice_capacity = 64;
    memset(&decision, 0, sizeof decision);
    expect(s, gpump_victim_decide(&question, &decision, NULL), "gpump_victim_decide");
    for (uint32_t i = 0; i < decision.choices; i++) technique[choices[i].block.slot] = (uint8_t)choices[i].technique;
}

/* use_sm: asks the SM to switch a block. A block that is being restored follows when its restore has ended. */
static void sm_switch(sim *s, uint32_t index) {
    gpump_block_choice choice;
    memset(&choice, 0, sizeof choice);
    choice.block = s->slots[index].ref;
    choice.technique = GPUMP_TECHNIQUE_SWITCH;
    sm_pull(s, index / s->slots_per_sm, s->now);
    expect(s, gpump_sm_preempt(s->sm[index / s->slots_per_sm], s->now, &choice, 1, NULL), "gpump_sm_preempt");
    sm_pull(s, index / s->slots_per_sm, s->now);
}

static void preempt_slot(sim *s, uint32_t index, uint8_t technique) {
    slot *b = &s->slots[index];
    uint64_t start = b->start;
    if (s->options->timeline) show_slot(s, index);
    if (gpump_technique_begins(technique) == GPUMP_TECHNIQUE_BEGIN_RUN)
        drain_unit(s, index);
    else if (gpump_technique_begins(technique) == GPUMP_TECHNIQUE_BEGIN_DROP && start <= s->now)
        flush_unit(s, index);
    else {
        switch_unit(s, index);
        if (s->sm && start <= s->now)
            sm_switch(s, index);
        else if (s->sm)
            push(s, start, EVENT_RESTORED, index, b->generation);
    }
}

/* Shows on the timeline the blocks that leave an SM, the kernel that they leave for, and their estimates. */
static void show_victims(sim *s, const gpump_scheduler_action *action, const uint8_t *technique,
                         const timeline_estimate *expected) {
    const gpump_scheduler_view view = gpump_scheduler_look(s->scheduler);
    uint32_t next = TIMELINE_NONE, request;
    if (action->next) {
        const stream *q = &s->streams[view.kernels[action->next].queue];
        next = shown_kernel(s, q->process, q->kernel);
    }
    request = timeline_ask(s->options->timeline, s->now, next, TIMELINE_NEVER);
    for (uint32_t i = 0; i < s->slots_per_sm; i++) {
        const uint32_t index = action->sm * s->slots_per_sm + i;
        const slot *b = &s->slots[index];
        if (b->state != SLOT_RUNNING || (b->start <= s->now && b->end <= s->now)) continue;
        show_slot(s, index);
        timeline_tell(s->options->timeline, s->now, request, s->shown_slots + index,
                      shown_kernel(s, b->process, b->kernel), (uint64_t)b->first * s->library->kernels[b->kernel].group,
                      technique[i], &expected[i]);
    }
}

static void preempt(sim *s, const gpump_scheduler_action *action) {
    uint8_t technique[64];
    timeline_estimate expected[64];
    uint32_t sm = action->sm;
    if (s->options->timeline) memset(expected, 0xff, sizeof expected);
    s->preempted_at[sm] = s->now;
    memset(technique, (int)(gpump_technique_at(action->technique) ? action->technique : GPUMP_TECHNIQUE_SWITCH),
           sizeof technique);
    if (action->technique == GPUMP_TECHNIQUE_SELECT) select_techniques(s, sm, technique, expected);
    if (s->options->timeline) show_victims(s, action, technique, expected);
    for (uint32_t i = 0; i < s->slots_per_sm; i++) {
        const slot *b = &s->slots[sm * s->slots_per_sm + i];
        if (b->state == SLOT_RUNNING && b->start <= s->now && b->end > s->now)
            preempt_slot(s, sm * s->slots_per_sm + i, technique[i]);
    }
    for (;;) { /* blocks whose contexts are still being restored follow, in the order of their arrival */
        uint32_t first = GPUMP_NONE;
        for (uint32_t i = sm * s->slots_per_sm; i < (sm + 1) * s->slots_per_sm; i++)
            if (s->slots[i].state == SLOT_RUNNING && s->slots[i].start > s->now &&
                (first == GPUMP_NONE || s->slots[i].start < s->slots[first].start))
                first = i;
        if (first == GPUMP_NONE) break;
        preempt_slot(s, first, technique[first - sm * s->slots_per_sm]);
    }
}

/* ---- processes ---- */

static void run_process(sim *s, uint32_t index);

/* The engine has one command of a stream at a time. The front end has all commands, and keeps a context until its last
 * command is done. The engine thus has commands of one process only, and takes them in their order. */
const gpump_scheduler_policy tb_fcfs_context = {
    "fcfs_context",
    "All commands that a process has launched, before those of another one.",
    NULL,
    NULL,
    NULL,
    NULL,
    NULL};

const char *tb_policy_refusal(const char *name) {
    return strcmp(name, "dss_fault")
               ? NULL
               : "blocks here access no pages, so dss_fault would decide as dss: take dss, or minigpu "
                 "run --schedule dss_fault";
}
const gpump_scheduler_policy *tb_find_policy(const char *name) {
    if (tb_policy_refusal(name)) return NULL;
    return !strcmp(name, tb_fcfs_context.name) ? &tb_fcfs_context : policies_find_scheduler(name);
}
const char *tb_policy_name(uint32_t index) {
    const char *name;
    uint32_t i;
    for (i = 0; (name = policies_scheduler_name(i)) != NULL; i++)
        if (!tb_policy_refusal(name) && !index--) return name;
    return index ? NULL : tb_fcfs_context.name;
}

/* Returns 1 when commands of the process may go to the engine; otherwise the process waits. */
static int takes_context(sim *s, uint32_t process) {
    uint32_t i = 0;
    if (s->options->policy != &tb_fcfs_context) return 1;
    if (s->context == GPUMP_NONE) s->context = process;
    if (s->context == process) return 1;
    while (i < s->waiting_contexts && s->context_queue[i] != process) i++;
    if (i == s->waiting_contexts) s->context_queue[s->waiting_contexts++] = process;
    return 0;
}

/* Handles a command that reaches the execution engine. */
static void dispatched(sim *s, uint32_t queue) {
    stream *q = &s->streams[queue];
    const tb_kernel *k = &s->library->kernels[q->kernel];
    gpump_scheduler_command command;
    gpump_diag diag;
    memset(&command, 0, sizeof command);
    command.cookie = (uint64_t)q->process << 32 | q->kernel;
    command.blocks = k->chunks;
    command.process = s->processes[q->process].row;
    command.blocks_per_sm = k->units_per_sm;
    command.saved_limit = UINT32_MAX;
    command.pending = q->launched - q->submitted;
    q->started = s->now;
    expect(s, gpump_scheduler_submit(s->scheduler, s->now, queue, &command, &diag), "submit");
}

/* Submits a queue's next command to the engine, if the previous command has completed. */
static void submit(sim *s, uint32_t queue) {
    stream *q = &s->streams[queue];
    const tb_application *application = s->processes[q->process].application;
    if (q->submitted == q->launched || q->submitted != q->done) return; /* nothing to submit, or not completed */
    if (!takes_context(s, q->process)) return;
    while (application->ops[q->next_op].kind != TB_OP_LAUNCH ||
           application->ops[q->next_op].stream != queue - s->processes[q->process].first_stream)
        q->next_op++;
    q->kernel = application->ops[q->next_op++].kernel;
    q->submitted++;
    if (s->dispatch_cycles)
        push(s, s->now + s->dispatch_cycles, EVENT_DISPATCHED, queue, 0);
    else
        dispatched(s, queue);
}

static void start_transfer(sim *s) {
    uint32_t best = 0;
    process *p;
    uint64_t bytes, bursts;
    double cycles;
    if (s->transferring != GPUMP_NONE || !s->transfers_waiting) return;
    for (uint32_t i = 1; i < s->transfers_waiting; i++)
        if (s->options->transfer_priority && s->workload->processes[s->transfer_queue[i]].priority >
                                                 s->workload->processes[s->transfer_queue[best]].priority)
            best = i;
    s->result->transfers_passed += best;
    s->transferring = s->transfer_queue[best];
    memmove(s->transfer_queue + best, s->transfer_queue + best + 1,
            (--s->transfers_waiting - best) * sizeof *s->transfer_queue);
    p = &s->processes[s->transferring];
    bytes = p->application->ops[p->op].bytes;
    bursts = (bytes + s->library->machine.burst_bytes - 1) / s->library->machine.burst_bytes;
    cycles = (double)bursts * s->library->machine.burst_bytes / s->library->machine.pcie_gb_per_s / 1000.0; /* us */
    p->since = s->now;
    push(s, s->now + tb_cycles(&s->library->machine, cycles), EVENT_TRANSFER, s->transferring, 0);
}

static int all_done(const sim *s, const process *p) {
    for (uint32_t i = 0; i < p->application->streams; i++)
        if (s->streams[p->first_stream + i].done != s->streams[p->first_stream + i].launched) return 0;
    return 1;
}

/* Ends a context whose last command is done: the next waiting process follows. */
static void pass_context(sim *s) {
    const process *p;
    s->context = GPUMP_NONE;
    if (!s->waiting_contexts) return;
    p = &s->processes[s->context_queue[0]];
    memmove(s->context_queue, s->context_queue + 1, --s->waiting_contexts * sizeof *s->context_queue);
    for (uint32_t i = 0; i < p->application->streams; i++) submit(s, p->first_stream + i);
}

static void begin_run(sim *s, uint32_t index) {
    process *p = &s->processes[index];
    p->op = 0;
    p->run_start = s->now;
    for (uint32_t i = 0; i < p->application->streams; i++) {
        stream *q = &s->streams[p->first_stream + i];
        q->next_op = q->launched = q->submitted = q->done = 0;
    }
}

static void end_run(sim *s, uint32_t index) {
    process *p = &s->processes[index];
    tb_process_result *r = &s->result->processes[index];
    uint32_t repeat = s->workload->processes[index].repeat, enough = repeat ? repeat : s->options->min_runs;
    uint64_t cycles = s->now - p->run_start;
    if (!r->runs) r->first_cycles = cycles;
    r->total_cycles += cycles;
    r->finished_at = s->now;
    if (++r->runs == enough) s->unfinished--;
    p->runs++;
    if (repeat && p->runs == repeat) {
        p->state = PROCESS_ENDED;
        return;
    }
    if (!repeat && !cycles) {
        char what[300];
        snprintf(what, sizeof what,
                 "process %s: a run of it takes no time, so that it would repeat for ever; give it a repeat, or "
                 "something to do",
                 s->workload->processes[index].name);
        fail(s, what);
        return;
    }
    begin_run(s, index);
}

/* Tells the host of the simulation that a process begins its present action. For a wait, that is its end. */
static void reached(const sim *s, uint32_t index) {
    if (s->options->reached)
        s->options->reached(s->options->user, index, s->processes[index].op, tb_us(&s->library->machine, s->now));
}

/* Continues a process's script until the process waits. */
static void run_process(sim *s, uint32_t index) {
    process *p = &s->processes[index];
    while (!s->failed && p->state != PROCESS_ENDED && s->unfinished) {
        const tb_op *op;
        if (p->op == p->application->op_count) {
            if (!all_done(s, p)) {
                p->state = PROCESS_SYNC;
                return;
            }
            reached(s, index);
            end_run(s, index);
            if (p->state == PROCESS_ENDED) return;
            continue;
        }
        op = &p->application->ops[p->op];
        switch (op->kind) {
        case TB_OP_CPU:
            reached(s, index);
            p->state = PROCESS_CPU;
            p->since = s->now;
            push(s, s->now + tb_cycles(&s->library->machine, op->us), EVENT_CPU, index, 0);
            return;
        case TB_OP_LAUNCH: {
            uint32_t queue = p->first_stream + op->stream;
            reached(s, index);
            s->streams[queue].launched++;
            submit(s, queue);
            p->op++;
            break;
        }
        case TB_OP_SYNC:
            if (!all_done(s, p)) {
                p->state = PROCESS_SYNC;
                return;
            }
            reached(s, index);
            p->op++;
            break;
        default:
            if (!all_done(s, p)) {
                p->state = PROCESS_SYNC;
                return;
            }
            reached(s, index);
            p->state = PROCESS_TRANSFER;
            s->transfer_queue[s->transfers_waiting++] = index;
            start_transfer(s);
            return;
        }
    }
}

static void kernel_done(sim *s, const gpump_scheduler_action *action) {
    stream *q = &s->streams[action->queue];
    if (s->options->timeline)
        timeline_add_span(s->options->timeline,
                          shown_row(s, q->process) + 1 + (uint32_t)(q - s->streams) -
                              s->processes[q->process].first_stream,
                          TIMELINE_KERNEL, shown_kernel(s, q->process, q->kernel), 0, q->started, s->now);
    q->done++;
    submit(s, action->queue);
    if (s->context == q->process && all_done(s, &s->processes[q->process])) pass_context(s);
    if (s->processes[q->process].state == PROCESS_SYNC && all_done(s, &s->processes[q->process]))
        run_process(s, q->process);
}

static void setup(sim *s, const gpump_scheduler_action *action) {
    if (s->preempted_at[action->sm] != GPUMP_UNKNOWN) {
        uint64_t latency = s->now - s->preempted_at[action->sm];
        s->result->preempt_count++;
        s->result->preempt_cycles += latency;
        if (latency > s->result->preempt_worst) s->result->preempt_worst = latency;
        s->preempted_at[action->sm] = GPUMP_UNKNOWN;
    }
    s->owner_process[action->sm] = s->streams[action->queue].process;
    if (s->setup_cycles)
        push(s, s->now + s->setup_cycles, EVENT_READY, action->sm, 0);
    else
        expect(s, gpump_scheduler_report_ready(s->scheduler, s->now, action->sm), "report_ready");
}

static void pump(sim *s) {
    gpump_scheduler_action action;
    gpump_result result;
    uint64_t next;
    while (!s->failed &&
           (result = gpump_scheduler_next(s->scheduler, s->options->policy, s->now, &action)) != GPUMP_EMPTY) {
        if (result != GPUMP_OK) {
            expect(s, result, "policy");
            return;
        }
        switch (action.kind) {
        case GPUMP_SCHEDULER_ISSUE: issue(s, &action); break;
        case GPUMP_SCHEDULER_PREEMPT: preempt(s, &action); break;
        case GPUMP_SCHEDULER_SETUP: setup(s, &action); break;
        case GPUMP_SCHEDULER_KERNEL_DONE: kernel_done(s, &action); break;
        default: break;
        }
    }
    next = gpump_next_cycle(&gpump_scheduler_component, s->scheduler);
    if (next != GPUMP_UNKNOWN && next > s->now && next != s->wake) {
        s->wake = next;
        push(s, next, EVENT_WAKE, 0, 0);
    }
}

static void handle(sim *s, const event *e) {
    switch (e->kind) {
    case EVENT_UNIT_END:
        if (s->slots[e->index].generation == e->generation) unit_end(s, e->index);
        break;
    case EVENT_SAVED:
        if (s->slots[e->index].generation == e->generation) save_done(s, e->index);
        break;
    case EVENT_RESTORED:
        if (s->slots[e->index].generation == e->generation) sm_switch(s, e->index);
        break;
    case EVENT_DISPATCHED: dispatched(s, e->index); break;
    case EVENT_READY: expect(s, gpump_scheduler_report_ready(s->scheduler, s->now, e->index), "report_ready"); break;
    case EVENT_CPU:
        if (s->processes[e->index].state == PROCESS_CPU) {
            if (s->options->timeline)
                timeline_add_span(s->options->timeline, shown_row(s, e->index), TIMELINE_CPU, TIMELINE_NONE, 0,
                                  s->processes[e->index].since, s->now);
            s->processes[e->index].op++;
        } else
            begin_run(s, e->index); /* its start time has come */
        run_process(s, e->index);
        break;
    case EVENT_TRANSFER:
        if (s->options->timeline)
            timeline_add_span(s->options->timeline, shown_row(s, e->index), TIMELINE_TRANSFER, TIMELINE_NONE, 0,
                              s->processes[e->index].since, s->now);
        s->transferring = GPUMP_NONE;
        s->processes[e->index].op++;
        run_process(s, e->index);
        start_transfer(s);
        break;
    default: break;
    }
}

void tb_options_default(tb_options *options) {
    memset(options, 0, sizeof *options);
    options->policy = gpump_scheduler_find("fcfs");
    options->mechanism = GPUMP_TECHNIQUE_SWITCH;
    options->min_runs = 3;
    options->starvation_times = 100;
    options->select_limit_us = 15;
}

/* Returns the longest time to restore all blocks of an SM, over the kernels of the processes, and sets the kernel. */
static uint64_t longest_restore(const sim *s, const tb_kernel **longest) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->workload->count; i++) {
        const tb_application *application = &s->library->applications[s->workload->processes[i].application];
        for (uint32_t k = 0; k < application->op_count; k++) {
            const tb_op *op = &application->ops[k];
            const tb_kernel *kernel = op->kind == TB_OP_LAUNCH ? &s->library->kernels[op->kernel] : NULL;
            if (!kernel || kernel->units_per_sm * kernel->context_cycles <= most) continue;
            most = kernel->units_per_sm * kernel->context_cycles;
            *longest = kernel;
        }
    }
    return most;
}

/* Refuses turns that end before the blocks of an SM are restored, because they would move contexts and execute nothing.
 * Returns -1 after a report. */
static int refuse_short_turns(sim *s, uint32_t slice_cycles) {
    const tb_kernel *kernel = NULL;
    uint64_t restore = longest_restore(s, &kernel);
    if (s->workload->count < 2 || gpump_technique_begins(s->options->mechanism) != GPUMP_TECHNIQUE_BEGIN_STOP ||
        slice_cycles > restore || strcmp(s->options->policy->name, "time_slice"))
        return 0;
    snprintf(s->result->error, sizeof s->result->error,
             "slice_us: turns of %.3g us are over before the blocks of an SM are restored, which takes %.3g us for "
             "kernel %s; give longer turns, or --leave drain",
             tb_us(&s->library->machine, slice_cycles), tb_us(&s->library->machine, restore), kernel->name);
    return -1;
}

/* Gives each process its application and its streams. Streams are numbered over all processes. */
static void number_streams(sim *s) {
    for (uint32_t i = 0; i < s->workload->count; i++) {
        s->processes[i].application = &s->library->applications[s->workload->processes[i].application];
        s->processes[i].first_stream = s->stream_count;
        for (uint32_t k = 0; k < s->processes[i].application->streams; k++) s->streams[s->stream_count++].process = i;
    }
}

static int prepare_scheduler(sim *s) {
    const gpump_gpu *gpu = &s->library->machine.gpu;
    gpump_scheduler_config config;
    gpump_diag diag;
    size_t bytes;
    void *memory;
    memset(&config, 0, sizeof config);
    gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL);
    config.sms = gpu->sms;
    config.blocks_per_sm = gpu->block_slots;
    config.processes = TB_PROCESSES;
    config.active_kernels = gpu->sms;
    config.saved_blocks = gpu->sms * gpu->block_slots;
    config.technique = s->options->mechanism;
    config.decision_cycles = gpu->sms;
    config.slice_cycles =
        s->options->slice_us ? (uint32_t)tb_cycles(&s->library->machine, (double)s->options->slice_us) : gpu->clock_khz;
    config.queues = s->stream_count ? s->stream_count : 1;
    config.command_least_cycles = (uint32_t)tb_cycles(&s->library->machine, s->options->command_us[0]);
    config.command_spread_cycles = (uint32_t)tb_cycles(&s->library->machine, s->options->command_us[1]);
    config.command_mean_cycles = (uint32_t)tb_cycles(&s->library->machine, s->options->command_us[2]);
    config.launch_ahead = s->options->launch_ahead;
    config.launch_refill = s->options->launch_refill;
    if (refuse_short_turns(s, config.slice_cycles)) return -1;
    if (gpump_bytes(&gpump_scheduler_component, &config, &bytes, &diag) != GPUMP_OK) {
        gpump_diag_text(&diag, s->result->error, sizeof s->result->error);
        return -1;
    }
    if (!(memory = malloc(bytes))) return -1;
    if (gpump_init(&gpump_scheduler_component, memory, bytes, &config, &s->scheduler, &diag) == GPUMP_OK) return 0;
    free(memory);
    return -1;
}

/* Makes the library's SMs, for runs that place blocks through them (--sm). */
static int prepare_sms(sim *s) {
    const gpump_gpu *gpu = &s->library->machine.gpu;
    gpump_sm_config config;
    gpump_diag diag;
    size_t bytes;
    void *memory;
    if (!(s->sm = (gpump_sm **)calloc(s->sms, sizeof *s->sm)) ||
        gpump_sm_config_from_gpu(&config, gpu, gpu->shared_bytes[gpu->shared_option_count - 1]) != GPUMP_OK)
        return -1;
    config.timing = GPUMP_SM_TIMING_PORT;
    config.waits = 0;
    if (gpump_bytes(&gpump_sm_component, &config, &bytes, &diag) != GPUMP_OK) return -1;
    for (uint32_t i = 0; i < s->sms; i++)
        if (!(memory = malloc(bytes)) ||
            gpump_init(&gpump_sm_component, memory, bytes, &config, &s->sm[i], &diag) != GPUMP_OK)
            return -1;
    return 0;
}

/* Makes the state of a run. Returns -1 when memory is out, for more than 1024 SMs, or for turns that are too short. */
static int prepare(sim *s) {
    const gpump_gpu *gpu = &s->library->machine.gpu;
    const uint32_t total = gpu->sms * gpu->block_slots;
    number_streams(s);
    if (prepare_scheduler(s)) return -1;
    s->sms = gpu->sms;
    s->slots_per_sm = gpu->block_slots;
    s->slots = (slot *)calloc(total, sizeof *s->slots);
    s->pool_size = total * 2 + 64;
    s->pool = (saved *)calloc(s->pool_size, sizeof *s->pool);
    if (!s->slots || !s->pool || s->sms > 1024) return -1;
    for (uint32_t i = 0; i < s->pool_size; i++) s->pool[i].next_free = i + 1 < s->pool_size ? i + 1 : GPUMP_NONE;
    if (s->options->mechanism == GPUMP_TECHNIQUE_SELECT &&
        !(s->histories = (gpump_cost_history *)calloc(s->library->kernel_count + 1, sizeof *s->histories)))
        return -1;
    if (s->options->use_sm && prepare_sms(s)) return -1;
    for (uint32_t i = 0; i < s->sms; i++) {
        s->preempted_at[i] = GPUMP_UNKNOWN;
        s->owner_process[i] = GPUMP_NONE;
        s->ports[i] = gpump_gpu_port(gpu);
    }
    return 0;
}

#define STARVATION_EVENTS 65536u /* events between two searches */

/* Reports starvation. Workloads repeat until every process has its runs, so a process that never gets the GPU would let
 * them repeat for ever. */
static void look_for_starvation(sim *s) {
    if (!s->library->alone || !s->options->starvation_times) return; /* without alone[], the runs measure it */
    for (uint32_t i = 0; i < s->workload->count && s->limit == GPUMP_UNKNOWN; i++) {
        const process *p = &s->processes[i];
        const tb_process *given = &s->workload->processes[i];
        const uint64_t alone = s->library->alone[given->application],
                       most = gpump_muldiv_up(alone, (uint64_t)s->options->starvation_times * s->workload->count, 1);
        char text[360];
        if (!alone || p->state == PROCESS_ENDED || s->now <= p->run_start || s->now - p->run_start <= most) continue;
        snprintf(text, sizeof text,
                 "process %s starves under %s: its run %u has not ended after %.0f us, more than %u times its %.0f us "
                 "alone for "
                 "each of %u processes; give those of higher priority a repeat, or limit the run (--until US)",
                 given->name, s->options->policy->name, p->runs + 1, tb_us(&s->library->machine, s->now - p->run_start),
                 s->options->starvation_times, tb_us(&s->library->machine, alone), s->workload->count);
        fail(s, text);
        return;
    }
}

static sim *new_sim(const tb_library *library, const tb_workload *workload, const tb_options *options,
                    tb_result *result) {
    sim *s = (sim *)calloc(1, sizeof *s);
    if (!s) return NULL;
    s->library = library;
    s->workload = workload;
    s->options = options;
    s->result = result;
    s->transferring = GPUMP_NONE;
    s->wake = GPUMP_UNKNOWN;
    s->context = GPUMP_NONE;
    s->unfinished = workload->count;
    s->setup_cycles = tb_cycles(&library->machine, library->machine.setup_us);
    s->dispatch_cycles = tb_cycles(&library->machine, library->machine.dispatch_us);
    s->limit = options->limit_us > 0 ? tb_cycles(&library->machine, options->limit_us) : GPUMP_UNKNOWN;
    return s;
}

static void free_sim(sim *s) {
    for (uint32_t i = 0; s->sm && i < s->sms; i++) free(s->sm[i]);
    free(s->sm);
    free(s->histories);
    free(s->scheduler);
    free(s->slots);
    free(s->pool);
    free(s->shown_kernels);
    free(s->heap);
    free(s);
}

/* Each process begins with work of the CPU, at its own start time. */
static void open_processes(sim *s) {
    for (uint32_t i = 0; i < s->workload->count && !s->failed; i++) {
        gpump_scheduler_process process;
        memset(&process, 0, sizeof process);
        process.cookie = i;
        process.page_table_base = (uint64_t)(i + 1) << 20;
        process.priority = s->workload->processes[i].priority;
        process.weight = s->workload->processes[i].weight;
        expect(s, gpump_scheduler_open(s->scheduler, 0, &process, &s->processes[i].row, NULL), "open");
        push(s, tb_cycles(&s->library->machine, s->workload->processes[i].start_us), EVENT_CPU, i, 0);
    }
}

/* Handles all events of the next cycle with any, then the scheduler's decisions. */
static void step(sim *s) {
    if (tb_stops()) fail(s, "interrupted");
    s->now = s->heap[0].time;
    do {
        event e = pop(s);
        s->result->events++;
        handle(s, &e);
    } while (s->heap_count && s->heap[0].time == s->now && !s->failed);
    pump(s);
}

/* Ends the timeline. Blocks that still run are shown until now. */
static void show_end(sim *s) {
    for (uint32_t i = 0; i < s->sms * s->slots_per_sm; i++)
        if (s->slots[i].state != SLOT_FREE) show_slot(s, i);
    show_sample(s, s->now);
    timeline_close(s->options->timeline, s->now);
}

int tb_run(const tb_library *library, const tb_workload *workload, const tb_options *options, tb_result *result) {
    uint64_t next_look = STARVATION_EVENTS, since;
    sim *s;
    int failed;
    memset(result, 0, sizeof *result);
    if (!(s = new_sim(library, workload, options, result))) {
        snprintf(result->error, sizeof result->error, "out of memory");
        return -1;
    }
    if (prepare(s) || (options->timeline && show_begin(s))) {
        if (!*result->error) fail(s, "out of memory, or a machine with more than 1024 SMs");
        s->failed = 1;
    }
    open_processes(s);
    while (!s->failed && s->unfinished && s->heap_count && s->heap[0].time <= s->limit) {
        if (options->timeline && timeline_is_due(options->timeline, s->heap[0].time, &since)) show_sample(s, since);
        step(s);
        if (result->events >= next_look && !s->failed) {
            next_look = result->events + STARVATION_EVENTS;
            look_for_starvation(s);
        }
    }
    if (!s->failed && s->unfinished && s->limit == GPUMP_UNKNOWN)
        fail(s, "nothing can happen any more, and processes are not done");
    result->cycles = s->now;
    if (options->timeline && s->shown_kernels) show_end(s);
    if (s->scheduler) gpump_get_statistics(&gpump_scheduler_component, s->scheduler, &result->statistics);
    failed = s->failed;
    free_sim(s);
    return failed ? -1 : 0;
}

uint32_t tb_unended(const tb_workload *workload, const tb_result *result) {
    uint32_t i, count = 0;
    for (i = 0; i < workload->count; i++) count += result->processes[i].runs == 0;
    return count;
}

int tb_metrics(const tb_library *library, const tb_workload *workload, const tb_result *result, gpump_metrics *metrics,
               double *ntt) {
    gpump_metrics_run runs[TB_PROCESSES];
    for (uint32_t i = 0; i < workload->count; i++) {
        const tb_process_result *r = &result->processes[i];
        runs[i].alone = library->alone[workload->processes[i].application];
        runs[i].shared = r->runs ? r->total_cycles / r->runs : result->cycles;
        if (!runs[i].shared) runs[i].shared = 1; /* a run that takes no time, as in tb_library_measure */
        if (ntt) ntt[i] = (double)runs[i].shared / (double)runs[i].alone;
    }
    return gpump_metrics_compute(runs, workload->count, metrics, NULL) == GPUMP_OK ? 0 : -1;
}
