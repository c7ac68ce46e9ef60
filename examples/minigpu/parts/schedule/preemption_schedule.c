/* How the scheduler drives the machine:
 *
 *   1. Each process gets a row of the process table (its page table base goes to the SMs) and a command queue.
 *   2. A kernel whose turn it is in its process is submitted (gpump_scheduler_submit). One is in flight per queue.
 *   3. gpump_scheduler_next hands over what is to be done:
 *      - SETUP: the SM gets the process's page table base. What a change of process makes stale in its L1 is dropped.
 *      - ISSUE: a block starts there (preemption_place), a preempted one by its entry, a new one by its index.
 *      - PREEMPT: the SM's blocks leave: by switch or drain, or each as a victim policy says (schedule_vacate.c).
 *   4. A block that has left its SM is reported: finished, or preempted with the entry that it waits in.
 * A block counts as gone when its place is free (FREED), so a block that is issued always finds room. A block that has
 * left on a fault (--switch-on-fault) stays counted on its SM: the block is restored when its SM asks for it, or
 * becomes a preempted block when the SM is vacated. The block in its place is chosen by gpump_scheduler_issue_extra. */
#include "parts/schedule/preemption_schedule.h"
#include "parts/schedule/schedule_options.h"

#include <stdio.h>
#include <string.h>

#include "policies.h"
#include "sm/memory_path.h"
#include "preemption/block_life.h"
#include "preemption/parked.h"
#include "preemption/preempted.h"
#include "preemption/requests.h"
#include "parts/schedule/schedule_facts.h"
#include "parts/schedule/schedule_group.h"
#include "parts/schedule/schedule_priorities.h"
#include "parts/schedule/schedule_report.h"
#include "machine/machine_options.h"
#include "parts/schedule/schedule_vacate.h"

#define SCHEDULER_SLOTS_MAX 64u /* gpump_scheduler_config.blocks_per_sm */

/* Fills the scheduler's configuration for a machine and its launch file. */
static void configure(const machine *m, const launch_file *launch, const machine_options *options,
                      gpump_scheduler_config *config) {
    const gpump_gpu *gpu = &m->config.gpu;
    const uint32_t slots = m->beyond_room ? SCHEDULER_SLOTS_MAX : gpu->block_slots + options->faults.extra;
    gpump_preset(&gpump_scheduler_component, config, "k20c", NULL);
    config->sms = config->decision_cycles = gpu->sms;
    config->blocks_per_sm = slots < SCHEDULER_SLOTS_MAX ? slots : SCHEDULER_SLOTS_MAX;
    config->processes = config->queues = launch->process_count;
    config->active_kernels = launch->process_count > gpu->sms ? launch->process_count : gpu->sms;
    config->saved_blocks = config->sms * config->blocks_per_sm;
    config->technique = options->policy ? (uint32_t)GPUMP_TECHNIQUE_SELECT : options->vacate;
    config->command_least_cycles = (uint32_t)gpump_gpu_cycles_from_ns(gpu, options->command_ns[0]);
    config->command_spread_cycles = (uint32_t)gpump_gpu_cycles_from_ns(gpu, options->command_ns[1]);
    config->command_mean_cycles = (uint32_t)gpump_gpu_cycles_from_ns(gpu, options->command_ns[2]);
    config->launch_ahead = options->launch_ahead;
    config->launch_refill = options->launch_refill;
    if (options->slice_ns) config->slice_cycles = (uint32_t)gpump_gpu_cycles_from_ns(gpu, options->slice_ns);
}

int preemption_schedule_make(machine *m, const launch_file *launch, const machine_options *options,
                             char error[LAUNCH_ERROR_BYTES]) {
    struct schedule *c = (struct schedule *)arena_take(&m->arena, sizeof *c);
    gpump_scheduler_config config;
    gpump_diag diag;
    size_t bytes;
    void *memory;
    uint32_t i;
    if (!c) goto memory;
    c->policy = policies_find_scheduler(options->schedule);
    if (!c->policy) {
        snprintf(error, LAUNCH_ERROR_BYTES, "no scheduling policy is named \"%s\"", options->schedule);
        return -1;
    }
    if (options->launch_refill > options->launch_ahead + 1) {
        snprintf(
            error, LAUNCH_ERROR_BYTES,
            "minigpu: --launch-refill %u is more than a process may have launched, which is the running kernel and "
            "--launch-ahead %u: give --launch-refill 0 to %u",
            options->launch_refill, options->launch_ahead, options->launch_ahead + 1);
        return -1;
    }
    configure(m, launch, options, &config);
    c->victims = options->policy;
    if (gpump_bytes(&gpump_scheduler_component, &config, &bytes, &diag) != GPUMP_OK) {
        size_t length = (size_t)snprintf(error, LAUNCH_ERROR_BYTES, "minigpu: --schedule %s: ", options->schedule);
        gpump_diag_text(&diag, error + length, LAUNCH_ERROR_BYTES - length);
        return -1;
    }
    memory = arena_take(&m->arena, bytes);
    c->vacating = (uint32_t *)arena_take_array(&m->arena, m->sm_count, sizeof *c->vacating);
    c->vacating_since = (uint64_t *)arena_take_array(&m->arena, m->sm_count, sizeof *c->vacating_since);
    c->ask_again = (uint64_t *)arena_take_array(&m->arena, m->sm_count, sizeof *c->ask_again);
    c->processes = (uint32_t *)arena_take_array(&m->arena, launch->process_count, sizeof *c->processes);
    c->waiting = (uint32_t *)arena_take_array(&m->arena, launch->process_count, sizeof *c->waiting);
    c->names = (scheduled *)arena_take_array(&m->arena, m->block_count, sizeof *c->names);
    c->off_chip = (scheduled *)arena_take_array(&m->arena, m->preempted_count, sizeof *c->off_chip);
    c->leases = (schedule_lease *)arena_take_array(&m->arena, m->sm_count, sizeof *c->leases);
    if (!memory || !c->vacating || !c->vacating_since || !c->ask_again || !c->processes || !c->waiting || !c->names ||
        !c->off_chip || !c->leases)
        goto memory;
    if (gpump_init(&gpump_scheduler_component, memory, bytes, &config, &c->scheduler, &diag) != GPUMP_OK) goto memory;
    for (i = 0; i < launch->process_count; i++) {
        gpump_scheduler_process process;
        c->waiting[i] = NONE;
        memset(&process, 0, sizeof process);
        process.cookie = i;
        process.page_table_base = DEVICE_BASE; /* one address space today; the register is there */
        process.priority = launch->processes[i].priority;
        process.weight = launch->processes[i].weight;
        if (gpump_scheduler_open(c->scheduler, 0, &process, &c->processes[i], &diag) != GPUMP_OK) goto memory;
    }
    m->of_part[PART_schedule] = c;
    return schedule_priorities_read(m, c, launch, options->priority_at, error);
memory:
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
    return -1;
}

/* ==== facts ==== */

void preemption_schedule_submit(machine *m, uint32_t kernel_index) {
    const kernel *k = &m->kernels[kernel_index];
    gpump_scheduler_command command;
    gpump_occupancy occupancy;
    gpump_result result;
    if (schedule_is_grouped(m, kernel_index)) {
        schedule_group_submit(m);
        return;
    }
    memset(&command, 0, sizeof command);
    if (gpump_gpu_occupancy(&m->config.gpu, &k->need, &occupancy, NULL) != GPUMP_OK) return;
    command.cookie = kernel_index;
    command.blocks = k->blocks;
    command.process = schedule_of(m)->processes[k->process];
    command.blocks_per_sm = k->block_cap && k->block_cap < occupancy.blocks ? k->block_cap : occupancy.blocks;
    command.saved_limit = gpump_context_pool_room(m->context_pool, kernel_index + 1).contexts;
    for (uint32_t i = kernel_index + 1; i < m->kernel_count; i++)
        command.pending += m->kernels[i].process == k->process && m->kernels[i].arrival_cycle <= m->now;
    result = gpump_scheduler_submit(schedule_of(m)->scheduler, m->now, k->process, &command, NULL);
    if (result == GPUMP_BUSY && schedule_of(m)->is_late)
        schedule_of(m)->waiting[k->process] = kernel_index;
    else
        machine_must(m, "gpump_scheduler_submit", result, NULL);
    m->dispatch_needed = 1;
}

/* The scheduler has seen the end of a process's kernel. Submits the next one, if it came while an action was late. */
static void kernel_is_done(machine *m, uint32_t process) {
    const uint32_t kernel_index = schedule_of(m)->waiting[process];
    schedule_of(m)->waiting[process] = NONE;
    if (kernel_index != NONE && !m->kernels[kernel_index].killed) preemption_schedule_submit(m, kernel_index);
}

/* ==== actions ==== */

/* The block that has just been placed on the SM is what the scheduler calls `name`. */
static void name_placed(machine *m, const sm *s, const scheduled *name) {
    uint32_t i;
    for (i = 0; i < BLOCK_ENTRIES_MAX; i++) {
        const uint32_t index = s->block_of_entry[i];
        if (index != NONE && m->blocks[index].life == m->lives) schedule_of(m)->names[index] = *name;
    }
}

/* Delays an action until the SM has room, or the block may be restored on it. At most one action is delayed. The
 * scheduler is called again only after it (preemption_schedule_pump, preemption_schedule_place_extra). */
static void put_off(machine *m, const gpump_scheduler_action *action) {
    schedule_of(m)->late = *action;
    schedule_of(m)->is_late = 1;
}

/* Returns the preempted block of a kernel to restore on an SM. The scheduler names one, but counts all preempted blocks
 * of a kernel alike. Where blocks are parked, a block that is parked on this SM is preferred. NONE: all of them are
 * parked on other SMs, and one of them first gives up its registers in place. */
static uint32_t choose_saved(machine *m, const gpump_scheduler_action *action, uint32_t kernel_index) {
    uint32_t handle, parked;
    if (!m->in_place) return (uint32_t)action->handle;
    handle = parked_choose(m, kernel_index, m->sms[action->sm]);
    if (handle != NONE || schedule_of(m)->is_recalled) return handle;
    if ((parked = parked_find(m, kernel_index)) != NONE) parked_gives_up(m, parked);
    schedule_of(m)->is_recalled = 1;
    return NONE;
}

static void issue(machine *m, const gpump_scheduler_action *action) {
    uint32_t kernel_index = (uint32_t)action->kernel_cookie;
    kernel *k = &m->kernels[kernel_index];
    sm *s = m->sms[action->sm];
    scheduled name;
    gpump_reason reason;
    if (schedule_is_grouped(m, kernel_index)) {
        schedule_group_issue(m, action);
        return;
    }
    name.sm = action->sm;
    name.block = action->block;
    if (k->killed) { /* while it waited for room */
        machine_must(m, "gpump_scheduler_report_finished",
                     gpump_scheduler_report_finished(schedule_of(m)->scheduler, m->now, name.sm, name.block), NULL);
        return;
    }
    if (action->saved) {
        const uint32_t handle = choose_saved(m, action, kernel_index);
        preempted_block saved;
        if (handle == NONE) {
            put_off(m, action);
            return;
        }
        schedule_of(m)->is_recalled = 0;
        saved = m->preempted[handle];
        reason = preemption_place(m, s, kernel_index, saved.linear, &saved);
        if (reason == GPUMP_REASON_YES) preempted_take(m, handle, s->index);
    } else {
        reason = preemption_place(m, s, kernel_index, action->index, NULL);
        k->next_block += reason == GPUMP_REASON_YES;
    }
    if (reason != GPUMP_REASON_YES && s->parked) parked_clear(m, s, 0); /* parked blocks are in the way */
    if (reason != GPUMP_REASON_YES && (m->beyond_room || s->parked)) {  /* else a warp is just moving */
        put_off(m, action);
        return;
    }
    if (reason != GPUMP_REASON_YES) {
        machine_fail(m, "cycle %llu: SM %u has no room for a block of kernel %u: %s", (unsigned long long)m->now,
                     action->sm, kernel_index + 1, gpump_reason_text(reason));
        return;
    }
    name_placed(m, s, &name);
}

/* The kernel that the scheduler runs on an SM; NULL: none, or a group, which chooses its blocks by itself. */
static const gpump_scheduler_kernel *runs_alone(const machine *m, const sm *s) {
    const gpump_scheduler_view view = gpump_scheduler_look(schedule_of(m)->scheduler);
    const gpump_scheduler_sm *row = &view.sms[s->index];
    const gpump_scheduler_kernel *k = &view.kernels[row->kernel];
    if (row->state != GPUMP_SCHEDULER_SM_RUNNING) return NULL;
    return schedule_is_grouped(m, (uint32_t)k->cookie) ? NULL : k;
}

uint64_t preemption_schedule_extra_blocks(const machine *m, const sm *s) {
    const gpump_scheduler_kernel *k = runs_alone(m, s);
    if (schedule_group_holds(m, s->index)) return NEVER;
    return k ? gpump_scheduler_to_issue(k) : 0;
}

/* Issues a block of the SM's kernel beyond those that the scheduler issues by itself. Returns 1 when it did. */
static int issue_extra(machine *m, const sm *s) {
    gpump_scheduler_action action;
    const gpump_result result = gpump_scheduler_issue_extra(schedule_of(m)->scheduler, m->now, s->index, &action);
    if (result == GPUMP_OK)
        issue(m, &action);
    else if (result != GPUMP_EMPTY)
        machine_must(m, "gpump_scheduler_issue_extra", result, NULL);
    return result == GPUMP_OK;
}

int preemption_schedule_place_extra(machine *m, sm *s) {
    const gpump_scheduler_kernel *k = runs_alone(m, s);
    if (schedule_group_holds(m, s->index)) return -1;
    return k && !schedule_of(m)->is_late && s->resident < k->blocks_per_sm && issue_extra(m, s);
}

/* Fills SMs that hold more blocks than run at a time (duet), once the scheduler has issued what it issues by itself. */
static void place_beyond(machine *m) {
    uint32_t i;
    for (i = 0; m->beyond_room && i < m->sm_count; i++) {
        sm *s = m->sms[i];
        const gpump_scheduler_kernel *k;
        while (!m->failed && !schedule_of(m)->is_late && (k = runs_alone(m, s)) != NULL &&
               s->resident >= k->blocks_per_sm) {
            const uint32_t kernel_index = (uint32_t)k->cookie;
            gpump_reason room;
            PARTS_ASK(m, room, GPUMP_REASON_YES, room, (m, s, kernel_index, k->saved != 0));
            if (room != GPUMP_REASON_YES || !issue_extra(m, s)) break;
        }
    }
}

void preemption_schedule_came_back(machine *m, sm *s, uint32_t entry) {
    name_placed(m, s, &schedule_of(m)->off_chip[entry]);
}

static void set_up(machine *m, const gpump_scheduler_action *action) {
    sm *s = m->sms[action->sm];
    schedule_of(m)->vacating[action->sm] = 0;
    if (action->invalidate & GPUMP_SCHEDULER_INVALIDATE_L1) memory_path_invalidate(s);
    machine_must(m, "gpump_scheduler_report_ready",
                 gpump_scheduler_report_ready(schedule_of(m)->scheduler, m->now, action->sm), NULL);
}

/* The policy dss_fault lends SMs of a kernel of which few warps can run: how many can, and of how many? */
static void report_running(machine *m, uint32_t row, uint32_t kernel_index) {
    uint32_t running = 0, warps = 0, i, n;
    for (i = 0; i < m->block_count; i++) {
        const block *b = &m->blocks[i];
        if (!b->life || b->kernel != kernel_index) continue;
        for (n = 0; n < b->warp_count; n++) {
            const warp *w = &m->warps[b->warps[n]];
            if (!w->stack.depth) continue;
            warps++;
            running += !w->awaited_count && w->fault_cycle <= m->now;
        }
    }
    for (n = preempted_first(m, kernel_index); n != NONE; n = preempted_after(m, kernel_index, n))
        warps += m->kernels[kernel_index].warps;
    machine_must(m, "gpump_scheduler_report_running",
                 gpump_scheduler_report_running(schedule_of(m)->scheduler, m->now, row, running, warps), NULL);
}

static void report_all_running(machine *m) {
    const gpump_scheduler_view view = gpump_scheduler_look(schedule_of(m)->scheduler);
    uint32_t row;
    if (!m->faults_may_happen || strcmp(schedule_of(m)->policy->name, "dss_fault") != 0) return;
    for (row = 1; row <= view.config->active_kernels; row++)
        if (view.kernels[row].in_use && !schedule_is_grouped(m, (uint32_t)view.kernels[row].cookie))
            report_running(m, row, (uint32_t)view.kernels[row].cookie);
}

void preemption_schedule_pump(machine *m) {
    struct schedule *c = schedule_of(m);
    gpump_scheduler_action action;
    gpump_result result = GPUMP_EMPTY;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++)
        if (c->vacating[i] && m->sms[i]->resident) schedule_vacate(m, m->sms[i]);
    report_all_running(m);
    /* The scheduler reads the room only when it decides. */
    if (gpump_next_cycle(&gpump_scheduler_component, c->scheduler) <= m->now) schedule_report_contexts(m, NONE);
    if (c->is_late) {
        const gpump_scheduler_action late = c->late;
        c->is_late = 0;
        issue(m, &late);
    }
    while (!m->failed && !c->is_late) {
        schedule_group_settle(m);
        result = gpump_scheduler_next(c->scheduler, c->policy, m->now, &action);
        if (result != GPUMP_OK) break;
        switch (action.kind) {
        case GPUMP_SCHEDULER_SETUP: set_up(m, &action); break;
        case GPUMP_SCHEDULER_ISSUE: issue(m, &action); break;
        case GPUMP_SCHEDULER_KERNEL_DONE: kernel_is_done(m, action.queue); break;
        case GPUMP_SCHEDULER_PREEMPT:
            c->vacating[action.sm] = action.technique + 1;
            c->vacating_since[action.sm] = m->now;
            c->ask_again[action.sm] = NEVER;
            schedule_vacate(m, m->sms[action.sm]);
            break;
        default: break;
        }
    }
    if (!m->failed && !c->is_late && result != GPUMP_EMPTY) machine_must(m, "gpump_scheduler_next", result, NULL);
    m->dispatch_needed = 0;
}

uint64_t preemption_schedule_wake(const machine *m) {
    const struct schedule *c = schedule_of(m);
    uint64_t next = c->is_late ? m->now : gpump_next_cycle(&gpump_scheduler_component, c->scheduler);
    uint32_t i;
    for (i = 0; i < m->sm_count; i++)
        if (c->vacating[i] && m->sms[i]->resident && c->ask_again[i] < next) next = c->ask_again[i];
    return next == GPUMP_UNKNOWN ? NEVER : next <= m->now ? m->now + 1 : next;
}

uint64_t preemption_schedule_hash(const machine *m, uint64_t hash) {
    return gpump_hash_u64(hash, gpump_hash(&gpump_scheduler_component, schedule_of(m)->scheduler));
}

/* ---- the part ---- */

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    if (!options->schedule) return 0;
    return preemption_schedule_make(m, launch, options, error);
}

static int is_present(const machine *m) { return schedule_of(m) != NULL; }
static int owns_sms(const machine *m) { return schedule_of(m) != NULL; }

/* Ended kernels leave their queues first. */
static void before_arrivals(machine *m) {
    schedule_priorities_turn(m);
    preemption_schedule_pump(m);
}

static uint64_t next(const machine *m) {
    const uint64_t change = schedule_priorities_next(m), wake = preemption_schedule_wake(m);
    return change < wake ? change : wake;
}

static uint64_t before_placing(machine *m) {
    preemption_schedule_pump(m);
    place_beyond(m);
    m->dispatch_needed = schedule_is_grouped(m, 0); /* the scheduler places all blocks but a group's */
    return NEVER;
}

static int makes_room(machine *m, uint32_t kernel_index) {
    preemption_schedule_submit(m, kernel_index);
    return 1;
}

static int may_place(const machine *m, const sm *s, uint32_t kernel_index, int own) {
    (void)own;
    return !schedule_is_grouped(m, 0) || (schedule_is_grouped(m, kernel_index) && schedule_group_holds(m, s->index));
}

static void block_left(machine *m, sm *s, block *b, const gpump_sm_action *action, uint32_t entry) {
    (void)s;
    (void)action;
    preemption_schedule_left(m, b, entry);
}

static void preempted_dropped(machine *m, const preempted_block *entry) {
    if (entry->fault_sm != NONE) preemption_schedule_off_chip_left(m, (uint32_t)(entry - m->preempted), 1);
}

static uint32_t vacated_for(const machine *m, const sm *s) { return preemption_schedule_next_kernel(m, s->index); }

const part schedule_part = {
    .name = "schedule",
    .traits = PART_CROSSES_SMS | PART_SEES_PLACEMENTS,
    .options = schedule_options,
    .rules = schedule_rules,
    .make = make,
    .is_present = is_present,
    .report = schedule_report,
    .report_json = schedule_report_json,
    .next = next,
    .before_placing = before_placing,
    .before_arrivals = before_arrivals,
    .makes_room = makes_room,
    .process_aborted = preemption_schedule_abort, /* KILL has nothing left to do when it comes */
    .owns_sms = owns_sms,
    .may_place = may_place,
    .group_stamp = schedule_group_stamp,
    .block_left = block_left,
    .preempted_dropped = preempted_dropped,
    .off_chip_came_back = preemption_schedule_came_back,
    .more_blocks = preemption_schedule_extra_blocks,
    .place_more = preemption_schedule_place_extra,
    .vacates = preemption_schedule_vacates,
    .vacated_for = vacated_for,
    .hash = preemption_schedule_hash,
};
