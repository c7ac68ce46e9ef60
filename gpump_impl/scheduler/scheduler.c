#include "scheduler/scheduler_parts.h"

/* ---- small state changes ---- */

static void gpumpi_scheduler_policy_event(gpump_scheduler *s) {
    if (s->policy_due == GPUMP_UNKNOWN) s->policy_due = gpump_add_saturated(s->now, s->config.decision_cycles);
}

static void gpumpi_scheduler_attend(gpump_scheduler *s, uint32_t sm) {
    gpump_bits_set(gpumpi_scheduler_words(s, s->attention_at), sm);
    gpump_bits_set(gpumpi_scheduler_words(s, s->attention_summary_at), sm >> 6);
}
GPUMP_INLINE void gpumpi_scheduler_ignore(gpump_scheduler *s, uint32_t sm) {
    uint64_t *word = gpumpi_scheduler_words(s, s->attention_at) + (sm >> 6);
    *word &= ~((uint64_t)1 << (sm & 63u));
    if (!*word) gpump_bits_clear(gpumpi_scheduler_words(s, s->attention_summary_at), sm >> 6);
}

/* Puts an SM at the head of its owner's list and charges a token. */
static void gpumpi_scheduler_own(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s), *sm = &sms[index];
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    sm->kernel = kernel;
    sm->previous_sm = GPUMP_NONE;
    sm->next_sm = k->first_sm;
    if (k->first_sm != GPUMP_NONE) sms[k->first_sm].previous_sm = index;
    k->first_sm = index;
    k->owned++;
    k->tokens--;
}
static void gpumpi_scheduler_disown(gpump_scheduler *s, uint32_t index) {
    gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s), *sm = &sms[index];
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[sm->kernel];
    if (sm->previous_sm != GPUMP_NONE)
        sms[sm->previous_sm].next_sm = sm->next_sm;
    else
        k->first_sm = sm->next_sm;
    if (sm->next_sm != GPUMP_NONE) sms[sm->next_sm].previous_sm = sm->previous_sm;
    sm->previous_sm = sm->next_sm = GPUMP_NONE;
    if (!--k->owned) k->change_cycle = 0;
    k->tokens++;
}
/* Sets or clears the kernel for which an SM is reserved, and moves the token with it. */
static void gpumpi_scheduler_promise(gpump_scheduler *s, gpump_scheduler_sm *sm, uint32_t kernel) {
    gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    if (sm->next) {
        kernels[sm->next].reserved--;
        kernels[sm->next].tokens++;
    }
    sm->next = kernel;
    if (kernel) {
        kernels[kernel].reserved++;
        kernels[kernel].tokens--;
    }
}

static void gpumpi_scheduler_idle(gpump_scheduler *s, uint32_t index) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    sm->state = GPUMP_SCHEDULER_SM_IDLE;
    sm->flags = 0;
    sm->kernel = sm->next = 0;
    gpump_bits_set(gpumpi_scheduler_words(s, s->idle_at), index);
    s->idle_sms++;
    gpumpi_scheduler_ignore(s, index);
    gpumpi_scheduler_policy_event(s); /* event 2: an SM becomes idle */
}

/* 1 for an owned SM without resident blocks whose kernel has no block to issue. */
static void gpumpi_scheduler_release(gpump_scheduler *s, uint32_t index) {
    gpumpi_scheduler_disown(s, index);
    gpumpi_scheduler_idle(s, index);
}

static void gpumpi_scheduler_setup(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpumpi_scheduler_own(s, index, kernel);
    gpumpi_scheduler_kernels(s)[kernel].setting_up++;
    sm->state = GPUMP_SCHEDULER_SM_RUNNING;
    sm->flags = GPUMP_SCHEDULER_SM_SETUP_DUE;
    gpumpi_scheduler_attend(s, index);
}

/* A reserved SM has lost its last block of the old kernel. */
static void gpumpi_scheduler_vacate(gpump_scheduler *s, uint32_t index) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    uint32_t next = sm->next, flags = sm->flags;
    GPUMP_ASSERT(sm->blocks == 0 && sm->leaving == 0);
    if (flags & GPUMP_SCHEDULER_SM_SETUP_STALE) { /* report_ready comes back here */
        sm->kernel = 0;
        return;
    }
    s->reserved_sms--;
    if (!next || (gpump_scheduler_to_issue(&gpumpi_scheduler_kernels(s)[next]) == 0 && sm->next_blocks == 0)) {
        gpumpi_scheduler_promise(s, sm, 0);
        if (flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) { /* set up beside the old kernel for one that has nothing left */
            s->reserved_sms++;
            sm->kernel = 0;
            sm->flags = GPUMP_SCHEDULER_SM_SETUP_RUNNING | GPUMP_SCHEDULER_SM_SETUP_STALE;
            return;
        }
        gpumpi_scheduler_idle(s, index);
        return;
    }
    gpumpi_scheduler_promise(s, sm, 0);
    if (flags & (GPUMP_SCHEDULER_SM_NEXT_READY | GPUMP_SCHEDULER_SM_SETUP_RUNNING)) { /* kernels_per_sm 2 */
        gpumpi_scheduler_own(s, index, next);
        sm->state = GPUMP_SCHEDULER_SM_RUNNING;
        sm->flags = flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING;
        if (sm->flags) gpumpi_scheduler_kernels(s)[next].setting_up++;
        if (flags & GPUMP_SCHEDULER_SM_KILL_NEXT_DUE) sm->flags |= GPUMP_SCHEDULER_SM_KILL_DUE;
        sm->blocks = sm->next_blocks;
        sm->next_blocks = sm->room = 0;
        gpumpi_scheduler_attend(s, index);
        return;
    }
    gpumpi_scheduler_setup(s, index, next);
}

/* A kernel issues nothing more: the SMs that it has, or is to get, and that hold no block of it become free. */
static void gpumpi_scheduler_free_sms(gpump_scheduler *s, uint32_t kernel) {
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s);
    for (uint32_t i = k->first_sm, after; i != GPUMP_NONE; i = after) {
        after = sms[i].next_sm;
        if (sms[i].blocks) continue;
        gpumpi_scheduler_disown(s, i);
        if (sms[i].flags & (GPUMP_SCHEDULER_SM_SETUP_DUE | GPUMP_SCHEDULER_SM_SETUP_RUNNING)) k->setting_up--;
        if (sms[i].flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) { /* idle once that is over */
            sms[i].state = GPUMP_SCHEDULER_SM_RESERVED;
            sms[i].kernel = 0;
            sms[i].flags = GPUMP_SCHEDULER_SM_SETUP_RUNNING | GPUMP_SCHEDULER_SM_SETUP_STALE;
            s->reserved_sms++;
        } else
            gpumpi_scheduler_idle(s, i);
    }
    if (k->reserved)
        for (uint32_t i = 0; i < s->config.sms; i++)
            if (sms[i].next == kernel && !sms[i].next_blocks) {
                gpumpi_scheduler_promise(s, &sms[i], 0);
                sms[i].room = 0;
                if (sms[i].flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) sms[i].flags |= GPUMP_SCHEDULER_SM_SETUP_STALE;
                sms[i].flags &= ~(uint32_t)(GPUMP_SCHEDULER_SM_NEXT_READY | GPUMP_SCHEDULER_SM_SETUP_DUE);
            }
}

/* A command has ended: its queue may submit again once that is handed over. */
static void gpumpi_scheduler_end_command(gpump_scheduler *s, uint32_t queue) {
    gpumpi_scheduler_buffers(s)[queue].state = GPUMP_SCHEDULER_BUFFER_DONE;
    gpump_bits_set(gpumpi_scheduler_words(s, s->done_at), queue);
    s->done_count++;
}

/* A kernel has no block left: its row, its place in the active queue and its SMs become free. */
static void gpumpi_scheduler_end_kernel(gpump_scheduler *s, uint32_t kernel) {
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    uint32_t *active = gpumpi_scheduler_halves(s, s->active_at), at = 0;
    gpumpi_scheduler_free_sms(s, kernel);
    while (active[at] != kernel) at++;
    s->active_count--;
    memmove(active + at, active + at + 1, (s->active_count - at) * sizeof *active);
    k->in_use = 0;
    gpumpi_scheduler_end_command(s, k->queue);
    s->admission_due = 1;
    s->statistics.kernels_done++;
}

/* Ends a kernel, whose row is *k, that has run out of blocks. */
GPUMP_INLINE void gpumpi_scheduler_settle(gpump_scheduler *s, uint32_t kernel, const gpump_scheduler_kernel *k) {
    if (k->resident == 0 && k->saved == 0 && k->next_block == k->blocks) gpumpi_scheduler_end_kernel(s, kernel);
}

/* ---- launched commands ---- */

/* The commands of a queue that the device holds once *b is admitted. None is launched while a process of higher
 * priority waits, and a queue is refilled by launch_refill commands at least. */
static uint32_t gpumpi_scheduler_launch(const gpump_scheduler *s, const gpump_scheduler_buffer *b) {
    const gpump_scheduler_process_row *processes = gpumpi_scheduler_processes(s);
    const uint32_t *waiting = gpumpi_scheduler_halves(s, s->waiting_at), most = s->config.launch_ahead + 1;
    const uint32_t held = b->held ? b->held : 1;
    uint32_t more = most - held;
    if (b->held && more < s->config.launch_refill) return held;
    for (uint32_t i = 0; i < s->waiting_count; i++)
        if (processes[gpumpi_scheduler_buffers(s)[waiting[i]].process].priority > processes[b->process].priority)
            return held;
    if (b->pending < held - 1 + more) more = b->pending < held ? 0 : b->pending + 1 - held;
    return held + more;
}

/* Launched commands go before all others. Returns 1 when there is one, and sets *queue: GPUMP_NONE while the host has
 * yet to submit it. */
static int gpumpi_scheduler_launched(const gpump_scheduler *s, uint32_t *queue) {
    const gpump_scheduler_buffer *buffers = gpumpi_scheduler_buffers(s);
    const uint32_t *waiting = gpumpi_scheduler_halves(s, s->waiting_at);
    *queue = GPUMP_NONE;
    if (!s->config.launch_ahead) return 0;
    for (uint32_t i = 0; i < s->waiting_count; i++)
        if (buffers[waiting[i]].held) {
            *queue = waiting[i];
            return 1;
        }
    for (uint32_t i = 0; i < s->config.queues; i++)
        if (buffers[i].held && buffers[i].state == GPUMP_SCHEDULER_BUFFER_EMPTY) return 1;
    return 0;
}

/* A process that ends has no launched command any more. */
static void gpumpi_scheduler_unlaunch(gpump_scheduler *s, uint32_t process) {
    gpump_scheduler_buffer *buffers = gpumpi_scheduler_buffers(s);
    for (uint32_t i = 0; i < s->config.queues; i++)
        if (buffers[i].process == process) buffers[i].held = 0;
    s->admission_due = 1;
}

/* ---- abort ---- */

/* 1 when the process of a kernel was aborted. */
static int gpumpi_scheduler_is_aborted(const gpump_scheduler *s, uint32_t kernel) {
    return gpumpi_scheduler_processes(s)[gpumpi_scheduler_kernels(s)[kernel].process].aborted != 0;
}

/* A kernel of an aborted process: nothing is issued any more, and the blocks on SMs are to be killed. */
static void gpumpi_scheduler_abort_kernel(gpump_scheduler *s, uint32_t kernel) {
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s);
    k->next_block = k->blocks;
    k->saved = k->saved_first = 0;
    gpumpi_scheduler_free_sms(s, kernel);
    for (uint32_t i = 0; k->resident && i < s->config.sms; i++) {
        uint32_t due = 0;
        if (sms[i].kernel == kernel && sms[i].blocks) due |= GPUMP_SCHEDULER_SM_KILL_DUE;
        if (sms[i].next == kernel && sms[i].next_blocks) due |= GPUMP_SCHEDULER_SM_KILL_NEXT_DUE;
        if (!due) continue;
        if (due & GPUMP_SCHEDULER_SM_KILL_DUE) sms[i].flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_PREEMPT_DUE;
        sms[i].flags |= due;
        gpumpi_scheduler_attend(s, i);
    }
    gpumpi_scheduler_settle(s, kernel, k);
}

/* ---- facts ---- */

static gpump_result gpumpi_scheduler_time(gpump_scheduler *s, uint64_t now) {
    if (now < s->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    s->now = now;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_open(gpump_scheduler *s, uint64_t now, const gpump_scheduler_process *process,
                                            uint32_t *row, gpump_diag *diag) {
    gpump_scheduler_process_row *rows;
    uint32_t i = 0;
    if (!s || !process || !row) return gpumpi_null(diag, "process");
    if (process->weight > GPUMP_SCHEDULER_MAX_BUDGET)
        return gpumpi_bad_argument(diag, "weight", 0, process->weight, 0, GPUMP_SCHEDULER_MAX_BUDGET);
    if (now < s->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, s->now, GPUMP_UNKNOWN - 1);
    rows = gpumpi_scheduler_processes(s);
    while (i < s->config.processes && rows[i].serial) i++;
    if (i == s->config.processes) return gpumpi_fail(diag, GPUMP_ERROR_FULL, "processes", 0, i + UINT64_C(1), 0, i);
    s->now = now;
    memset(&rows[i], 0, sizeof rows[i]);
    rows[i].cookie = process->cookie;
    rows[i].page_table_base = process->page_table_base;
    rows[i].priority = process->priority;
    rows[i].weight = process->weight;
    rows[i].serial = s->serials++;
    s->open_processes++;
    *row = i;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_set_priority(gpump_scheduler *s, uint64_t now, uint32_t process,
                                                    uint32_t priority, uint32_t weight) {
    if (!s || process >= s->config.processes || weight > GPUMP_SCHEDULER_MAX_BUDGET) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_scheduler_processes(s)[process].serial) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    gpumpi_scheduler_processes(s)[process].priority = priority;
    gpumpi_scheduler_processes(s)[process].weight = weight;
    gpumpi_scheduler_policy_event(s); /* a kernel that runs, or waits, may have changed its place */
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_close(gpump_scheduler *s, uint64_t now, uint32_t process) {
    gpump_scheduler_process_row *row;
    if (!s || process >= s->config.processes) return GPUMP_ERROR_ARGUMENT;
    row = &gpumpi_scheduler_processes(s)[process];
    if (!row->serial || row->commands) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    if (s->config.launch_ahead) gpumpi_scheduler_unlaunch(s, process);
    memset(row, 0, sizeof *row);
    s->open_processes--;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_abort(gpump_scheduler *s, uint64_t now, uint32_t process) {
    gpump_scheduler_process_row *row;
    uint32_t *waiting, kept = 0;
    if (!s || process >= s->config.processes) return GPUMP_ERROR_ARGUMENT;
    row = &gpumpi_scheduler_processes(s)[process];
    if (!row->serial || row->aborted) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    row->aborted = 1;
    s->statistics.aborts++;
    if (s->config.launch_ahead) gpumpi_scheduler_unlaunch(s, process);
    waiting = gpumpi_scheduler_halves(s, s->waiting_at);
    for (uint32_t i = 0; i < s->waiting_count; i++)
        if (gpumpi_scheduler_buffers(s)[waiting[i]].process == process) {
            gpumpi_scheduler_end_command(s, waiting[i]);
            s->statistics.commands_cancelled++;
        } else
            waiting[kept++] = waiting[i];
    s->waiting_count = kept;
    for (uint32_t kernel = 1; kernel <= s->config.active_kernels; kernel++)
        if (gpumpi_scheduler_kernels(s)[kernel].in_use && gpumpi_scheduler_kernels(s)[kernel].process == process)
            gpumpi_scheduler_abort_kernel(s, kernel);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_submit(gpump_scheduler *s, uint64_t now, uint32_t queue,
                                              const gpump_scheduler_command *command, gpump_diag *diag) {
    gpump_scheduler_buffer *buffer;
    if (!s || !command) return gpumpi_null(diag, s ? "command" : "scheduler");
    if (queue >= s->config.queues) return gpumpi_bad_argument(diag, "queue", 0, queue, 0, s->config.queues - 1);
    if (command->process >= s->config.processes)
        return gpumpi_bad_argument(diag, "process", 0, command->process, 0, s->config.processes - 1);
    if (!gpumpi_scheduler_processes(s)[command->process].serial ||
        gpumpi_scheduler_processes(s)[command->process].aborted)
        return gpumpi_fail(diag, GPUMP_ERROR_STATE,
                           "process is not open: gpump_scheduler_open opens a process, and an aborted one stays closed",
                           command->process, 0, 1, 1);
    if (command->blocks < 1 || command->blocks > GPUMP_SCHEDULER_MAX_BLOCKS)
        return gpumpi_bad_argument(diag, "blocks", 0, command->blocks, 1, GPUMP_SCHEDULER_MAX_BLOCKS);
    if (command->blocks_per_sm < 1 || command->blocks_per_sm > s->config.blocks_per_sm)
        return gpumpi_bad_argument(diag, "blocks_per_sm", 0, command->blocks_per_sm, 1, s->config.blocks_per_sm);
    if (now < s->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, s->now, GPUMP_UNKNOWN - 1);
    buffer = &gpumpi_scheduler_buffers(s)[queue];
    if (buffer->state != GPUMP_SCHEDULER_BUFFER_EMPTY)
        return gpumpi_fail(diag, GPUMP_BUSY, "queue holds a command: submit again after KERNEL_DONE of this queue",
                           queue, buffer->state, 0, 0);
    s->now = now;
    buffer->cookie = command->cookie;
    buffer->blocks = command->blocks;
    buffer->arrival = s->arrivals++;
    buffer->process = command->process;
    buffer->blocks_per_sm = command->blocks_per_sm;
    buffer->saved_limit = command->saved_limit < s->config.saved_blocks ? command->saved_limit : s->config.saved_blocks;
    buffer->pending = command->pending;
    buffer->state = GPUMP_SCHEDULER_BUFFER_WAITING;
    buffer->kernel = 0;
    gpumpi_scheduler_halves(s, s->waiting_at)[s->waiting_count++] = queue;
    gpumpi_scheduler_processes(s)[command->process].commands++;
    s->admission_due = 1;
    s->statistics.submitted++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_report_ready(gpump_scheduler *s, uint64_t now, uint32_t index) {
    gpump_scheduler_sm *sm;
    if (!s || index >= s->config.sms) return GPUMP_ERROR_ARGUMENT;
    sm = &gpumpi_scheduler_sms(s)[index];
    if (!(sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_SETUP_RUNNING;
    if (sm->flags & GPUMP_SCHEDULER_SM_SETUP_STALE) {
        sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_SETUP_STALE;
        if (sm->blocks == 0)
            gpumpi_scheduler_vacate(s, index);
        else if (sm->next) { /* beside a leaving kernel, and `next` has changed meanwhile */
            sm->flags |= GPUMP_SCHEDULER_SM_SETUP_DUE;
            gpumpi_scheduler_attend(s, index);
        }
    } else if (sm->state == GPUMP_SCHEDULER_SM_RESERVED)
        sm->flags |= GPUMP_SCHEDULER_SM_NEXT_READY;
    else {
        gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[sm->kernel];
        k->setting_up--;
        if (gpump_scheduler_to_issue(k))
            gpumpi_scheduler_attend(s, index);
        else if (sm->blocks == 0)
            gpumpi_scheduler_release(s, index);
    }
    return GPUMP_OK;
}

/* Returns the kernel of a resident block, 0 when (sm, block) names none. */
GPUMP_INLINE uint32_t gpumpi_scheduler_owner(const gpump_scheduler *s, uint32_t sm, gpump_block_ref block) {
    uint32_t at;
    if (sm >= s->config.sms || block.slot >= s->config.blocks_per_sm) return 0;
    at = sm * s->config.blocks_per_sm + block.slot;
    if (!((gpumpi_scheduler_sms(s)[sm].slots >> block.slot) & 1u) ||
        gpumpi_scheduler_halves(s, s->generations_at)[at] != block.generation)
        return 0;
    return gpumpi_scheduler_halves(s, s->owners_at)[at];
}

/* A block of `kernel`, whose row is *k, leaves its slot, finished or saved. */
GPUMP_INLINE void gpumpi_scheduler_leave(gpump_scheduler_sm *sm, uint32_t slot, uint32_t kernel,
                                         gpump_scheduler_kernel *k) {
    sm->slots &= ~((uint64_t)1 << slot);
    k->resident--;
    if (kernel != sm->kernel) {
        if (!--sm->next_blocks) sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_KILL_NEXT_DUE;
        return;
    }
    if (!--sm->blocks) sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_KILL_DUE;
    if (sm->leaving) { /* it was told to switch; the room kept for its context is used, or no longer needed */
        sm->leaving--;
        k->leaving--;
    }
}

/* After a block has left: frees the SM when it is empty, and ends the kernel when this was its last block. */
static void gpumpi_scheduler_after_leave(gpump_scheduler *s, uint32_t index, gpump_scheduler_sm *sm, uint32_t kernel,
                                         const gpump_scheduler_kernel *k) {
    if (sm->state == GPUMP_SCHEDULER_SM_RESERVED) {
        if (sm->blocks == 0 && sm->kernel == kernel) gpumpi_scheduler_vacate(s, index);
    } else if (gpump_scheduler_to_issue(k))
        gpumpi_scheduler_attend(s, index);
    else if (sm->blocks == 0)
        gpumpi_scheduler_release(s, index);
    gpumpi_scheduler_settle(s, kernel, k);
}

GPUMP_API gpump_result gpump_scheduler_report_finished(gpump_scheduler *s, uint64_t now, uint32_t index,
                                                       gpump_block_ref block) {
    gpump_scheduler_kernel *k;
    gpump_scheduler_sm *sm;
    uint32_t kernel;
    if (!s) return GPUMP_ERROR_ARGUMENT;
    kernel = gpumpi_scheduler_owner(s, index, block);
    if (!kernel) return GPUMP_ERROR_STALE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    k = &gpumpi_scheduler_kernels(s)[kernel];
    sm = &gpumpi_scheduler_sms(s)[index];
    if (gpumpi_scheduler_processes(s)[k->process].aborted)
        s->statistics.blocks_killed++;
    else
        s->statistics.blocks_finished++;
    gpumpi_scheduler_leave(sm, block.slot, kernel, k);
    gpumpi_scheduler_after_leave(s, index, sm, kernel, k);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_report_preempted(gpump_scheduler *s, uint64_t now, uint32_t index,
                                                        gpump_block_ref block, uint64_t handle) {
    uint32_t kernel, had;
    gpump_scheduler_kernel *k;
    gpump_scheduler_sm *sm;
    if (!s) return GPUMP_ERROR_ARGUMENT;
    kernel = gpumpi_scheduler_owner(s, index, block);
    if (!kernel) return GPUMP_ERROR_STALE;
    if (gpumpi_scheduler_is_aborted(s, kernel)) return gpump_scheduler_report_finished(s, now, index, block);
    sm = &gpumpi_scheduler_sms(s)[index];
    if (sm->state != GPUMP_SCHEDULER_SM_RESERVED || sm->flags & GPUMP_SCHEDULER_SM_PREEMPT_DUE || kernel != sm->kernel)
        return GPUMP_ERROR_STATE;
    k = &gpumpi_scheduler_kernels(s)[kernel];
    if (k->saved + k->leaving - (sm->leaving ? 1u : 0u) >= k->saved_limit) return GPUMP_ERROR_FULL;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    had = gpump_scheduler_to_issue(k) != 0;
    gpumpi_scheduler_words(s, s->ptbqs_at)[(uint64_t)(kernel - 1) * s->config.saved_blocks +
                                           (k->saved_first + k->saved) % s->config.saved_blocks] = handle;
    k->saved++;
    s->statistics.blocks_preempted++;
    gpumpi_scheduler_leave(sm, block.slot, kernel, k);
    gpumpi_scheduler_after_leave(s, index, sm, kernel, k);
    if (!had) { /* the kernel had nothing to issue, so its SMs may have room, and idle SMs may now be of use to it */
        for (uint32_t i = k->first_sm; i != GPUMP_NONE; i = gpumpi_scheduler_sms(s)[i].next_sm)
            if (!(gpumpi_scheduler_sms(s)[i].flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)) gpumpi_scheduler_attend(s, i);
        if (s->idle_sms) gpumpi_scheduler_policy_event(s);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_report_running(gpump_scheduler *s, uint64_t now, uint32_t kernel,
                                                      uint32_t running, uint32_t warps) {
    gpump_scheduler_kernel *k;
    if (!s || !kernel || kernel > s->config.active_kernels || running > warps) return GPUMP_ERROR_ARGUMENT;
    k = &gpumpi_scheduler_kernels(s)[kernel];
    if (!k->in_use) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    if ((uint64_t)running * 4 < warps) {
        if (k->waits_since != GPUMP_UNKNOWN) return GPUMP_OK;
        k->waits_since = now;
    } else {
        if (k->waits_since == GPUMP_UNKNOWN) return GPUMP_OK;
        k->waits_since = GPUMP_UNKNOWN;
    }
    gpumpi_scheduler_policy_event(s);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_report_contexts(gpump_scheduler *s, uint64_t now,
                                                       const gpump_context_room *room) {
    gpump_scheduler_kernel *k;
    uint64_t limit;
    if (!s || !room || !room->kernel || room->kernel > s->config.active_kernels) return GPUMP_ERROR_ARGUMENT;
    k = &gpumpi_scheduler_kernels(s)[room->kernel];
    if (!k->in_use) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    limit = (uint64_t)k->saved + k->leaving + room->contexts;
    k->saved_limit = limit < s->config.saved_blocks ? (uint32_t)limit : s->config.saved_blocks;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_report_room(gpump_scheduler *s, uint64_t now, uint32_t index, uint32_t blocks) {
    gpump_scheduler_sm *sm;
    if (!s || index >= s->config.sms || blocks > s->config.blocks_per_sm) return GPUMP_ERROR_ARGUMENT;
    sm = &gpumpi_scheduler_sms(s)[index];
    if (sm->state != GPUMP_SCHEDULER_SM_RESERVED || !(sm->flags & GPUMP_SCHEDULER_SM_NEXT_READY) || !sm->next)
        return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    sm->room = blocks;
    if (blocks) gpumpi_scheduler_attend(s, index);
    return GPUMP_OK;
}

/* Fills an action about a kernel, whose row is *k, on an SM. */
GPUMP_INLINE void gpumpi_scheduler_fill(const gpump_scheduler *s, uint32_t kind, uint32_t sm, uint32_t kernel,
                                        const gpump_scheduler_kernel *k, gpump_scheduler_action *action) {
    const uint32_t queue = k->queue, process = k->process;
    /* field by field: a whole struct, or memset, takes twice the instructions */
    action->index = action->handle = 0;
    action->kernel_cookie = k->cookie;
    action->process_cookie = gpumpi_scheduler_processes(s)[process].cookie;
    action->page_table_base = 0;
    action->block.slot = action->block.generation = 0;
    action->kind = kind;
    action->sm = sm;
    action->kernel = kernel;
    action->next = 0;
    action->queue = queue;
    action->process = process;
    action->technique = action->reason = 0;
    action->invalidate = action->beside = 0;
    action->saved = action->aborted = 0;
}
/* Begins an action about a kernel on an SM. */
static GPUMPI_CALLED void gpumpi_scheduler_begin(const gpump_scheduler *s, uint32_t kind, uint32_t sm, uint32_t kernel,
                                                 gpump_scheduler_action *action) {
    gpumpi_scheduler_fill(s, kind, sm, kernel, &gpumpi_scheduler_kernels(s)[kernel], action);
}

/* ---- decisions ---- */

/* Moves the command of `queue` into the active queue. */
static void gpumpi_scheduler_admit(gpump_scheduler *s, const gpump_scheduler_policy *policy, gpump_scheduler_view *view,
                                   uint32_t queue, uint32_t position, gpump_scheduler_action *action) {
    gpump_scheduler_buffer *buffer = &gpumpi_scheduler_buffers(s)[queue];
    gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s), *k;
    uint32_t *waiting = gpumpi_scheduler_halves(s, s->waiting_at), row = 1, budget = 0;
    view->queue = queue;
    if (policy->tokens) budget = policy->tokens(policy, view);
    if (budget > GPUMP_SCHEDULER_MAX_BUDGET) {
        s->statistics.policy_errors++;
        budget = GPUMP_SCHEDULER_MAX_BUDGET;
    }
    s->waiting_count--;
    memmove(waiting + position, waiting + position + 1, (s->waiting_count - position) * sizeof *waiting);
    while (kernels[row].in_use) row++;
    k = &kernels[row];
    memset(k, 0, sizeof *k);
    k->cookie = buffer->cookie;
    k->blocks = buffer->blocks;
    k->start_cycle = s->now;
    k->waits_since = GPUMP_UNKNOWN;
    k->arrival = buffer->arrival;
    k->queue = queue;
    k->process = buffer->process;
    k->blocks_per_sm = buffer->blocks_per_sm;
    k->saved_limit = buffer->saved_limit;
    k->budget = budget;
    k->tokens = GPUMP_SCHEDULER_TOKEN_ZERO + budget;
    k->first_sm = GPUMP_NONE;
    k->in_use = 1;
    buffer->state = GPUMP_SCHEDULER_BUFFER_ACTIVE;
    buffer->kernel = row;
    if (s->config.launch_ahead) buffer->held = gpumpi_scheduler_launch(s, buffer);
    gpumpi_scheduler_halves(s, s->active_at)[s->active_count++] = row;
    s->statistics.kernels_started++;
    gpumpi_scheduler_policy_event(s); /* event 1: a kernel is inserted in the active queue */
    gpumpi_scheduler_begin(s, GPUMP_SCHEDULER_KERNEL_START, GPUMP_NONE, row, action);
}

/* Asks the policy for a command; 1 when one was taken. */
static gpump_result gpumpi_scheduler_try_admit(gpump_scheduler *s, const gpump_scheduler_policy *policy,
                                               gpump_scheduler_action *action) {
    gpump_scheduler_view view;
    uint32_t queue, position = 0;
    if (!s->admission_due || !s->waiting_count || s->active_count == s->config.active_kernels) {
        s->admission_due = 0;
        return GPUMP_EMPTY;
    }
    view = gpump_scheduler_look(s);
    if (!gpumpi_scheduler_launched(s, &queue)) queue = policy->admit ? policy->admit(policy, &view) : view.waiting[0];
    if (queue == GPUMP_NONE) {
        s->admission_due = 0;
        return GPUMP_EMPTY;
    }
    while (position < s->waiting_count && view.waiting[position] != queue) position++;
    if (position == s->waiting_count) {
        s->statistics.policy_errors++;
        s->admission_due = 0;
        return GPUMP_ERROR_REFUSED;
    }
    gpumpi_scheduler_admit(s, policy, &view, queue, position, action);
    return GPUMP_OK;
}

static void gpumpi_scheduler_reserve(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpump_scheduler_kernel *owner = &gpumpi_scheduler_kernels(s)[sm->kernel];
    uint32_t flags = sm->flags;
    if (flags & (GPUMP_SCHEDULER_SM_SETUP_DUE | GPUMP_SCHEDULER_SM_SETUP_RUNNING)) owner->setting_up--;
    gpumpi_scheduler_disown(s, index);
    sm->state = GPUMP_SCHEDULER_SM_RESERVED;
    sm->room = 0;
    s->reserved_sms++;
    s->statistics.preemptions++;
    gpumpi_scheduler_promise(s, sm, kernel);
    if (sm->blocks) {
        /* blocks of a kernel that took the SM over beside another one (kernels_per_sm 2) may run while its setup is not
         * yet over */
        GPUMP_ASSERT(!(flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING));
        sm->flags = gpumpi_scheduler_is_aborted(s, sm->kernel) ? flags & GPUMP_SCHEDULER_SM_KILL_DUE
                                                               : (uint32_t)GPUMP_SCHEDULER_SM_PREEMPT_DUE;
        gpumpi_scheduler_attend(s, index);
    } else if (flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) {
        sm->flags = GPUMP_SCHEDULER_SM_SETUP_RUNNING | GPUMP_SCHEDULER_SM_SETUP_STALE;
        sm->kernel = 0;
    } else {
        gpumpi_scheduler_ignore(s, index);
        gpumpi_scheduler_vacate(s, index);
    }
}

static void gpumpi_scheduler_change_next(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpumpi_scheduler_promise(s, sm, kernel);
    s->statistics.next_changes++;
    sm->room = 0;
    if (s->config.kernels_per_sm == 2 && sm->blocks && !(sm->flags & GPUMP_SCHEDULER_SM_PREEMPT_DUE)) {
        sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_NEXT_READY;
        if (sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)
            sm->flags |= GPUMP_SCHEDULER_SM_SETUP_STALE;
        else {
            sm->flags |= GPUMP_SCHEDULER_SM_SETUP_DUE;
            gpumpi_scheduler_attend(s, index);
        }
    }
}

/* Checks a step of the policy against the tables and carries it out. Returns 0 for an impossible step. */
static int gpumpi_scheduler_apply(gpump_scheduler *s, const gpump_scheduler_step *step) {
    gpump_scheduler_sm *sm;
    if (step->sm >= s->config.sms || !step->kernel || step->kernel > s->config.active_kernels) return 0;
    if (!gpumpi_scheduler_kernels(s)[step->kernel].in_use) return 0;
    if (!(step->kind == GPUMP_SCHEDULER_STEP_ASSIGN ? gpump_scheduler_wants_idle : gpump_scheduler_wants_more)(
            &gpumpi_scheduler_kernels(s)[step->kernel]))
        return 0;
    sm = &gpumpi_scheduler_sms(s)[step->sm];
    switch (step->kind) {
    case GPUMP_SCHEDULER_STEP_ASSIGN:
        if (sm->state != GPUMP_SCHEDULER_SM_IDLE) return 0;
        gpump_bits_clear(gpumpi_scheduler_words(s, s->idle_at), step->sm);
        s->idle_sms--;
        gpumpi_scheduler_setup(s, step->sm, step->kernel);
        return 1;
    case GPUMP_SCHEDULER_STEP_RESERVE:
        if (sm->state != GPUMP_SCHEDULER_SM_RUNNING || sm->kernel == step->kernel) return 0;
        if (sm->blocks && sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) return 0;
        gpumpi_scheduler_reserve(s, step->sm, step->kernel);
        return 1;
    case GPUMP_SCHEDULER_STEP_CHANGE_NEXT:
        if (sm->state != GPUMP_SCHEDULER_SM_RESERVED || sm->next == step->kernel || sm->next_blocks) return 0;
        if (s->config.kernels_per_sm == 2 && sm->kernel == step->kernel) return 0;
        gpumpi_scheduler_change_next(s, step->sm, step->kernel);
        return 1;
    default: return 0;
    }
}

/* The default step: idle SMs to the first kernel in active-queue order that can use one. */
static gpump_result gpumpi_scheduler_default_step(const gpump_scheduler_view *view, gpump_scheduler_step *step) {
    if (view->idle_sm == GPUMP_NONE) return GPUMP_EMPTY;
    for (uint32_t i = 0; i < view->active_count; i++)
        if (gpump_scheduler_wants_idle(&view->kernels[view->active[i]])) {
            step->kind = GPUMP_SCHEDULER_STEP_ASSIGN;
            step->sm = view->idle_sm;
            step->kernel = view->active[i];
            return GPUMP_OK;
        }
    return GPUMP_EMPTY;
}

/* One whole run of the policy. A policy that never ends is stopped: in a sound run each SM changes its kernel, or its
 * next kernel, less often than there are SMs and kernels together. */
static gpump_result gpumpi_scheduler_run_policy(gpump_scheduler *s, const gpump_scheduler_policy *policy) {
    uint64_t limit = ((uint64_t)s->config.sms + s->config.active_kernels) * 4 + 16;
    gpump_result result = GPUMP_OK;
    gpump_scheduler_view view = gpump_scheduler_look(s);
    s->policy_due = s->policy_wake = GPUMP_UNKNOWN;
    s->statistics.policy_runs++;
    for (;;) {
        gpump_scheduler_step step;
        view.idle_sm = gpumpi_scheduler_lowest_idle(s);
        view.reserved_sms = s->reserved_sms;
        step.kind = step.sm = step.kernel = GPUMP_NONE;
        if ((policy->step ? policy->step(policy, &view, &step) : gpumpi_scheduler_default_step(&view, &step)) !=
            GPUMP_OK)
            break;
        if (limit-- == 0 || !gpumpi_scheduler_apply(s, &step)) {
            s->statistics.policy_errors++;
            result = GPUMP_ERROR_REFUSED;
            break;
        }
        s->statistics.policy_steps++;
    }
    if (policy->wake) s->policy_wake = policy->wake(policy, &view);
    if (s->policy_wake <= s->now) s->policy_wake = s->now + 1;
    if (s->waiting_count) s->admission_due = 1; /* a policy that declined may have changed its mind */
    return result;
}

/* ---- actions ---- */

static void gpumpi_scheduler_hand_preempt(gpump_scheduler *s, uint32_t index, gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[sm->kernel];
    sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_PREEMPT_DUE;
    gpumpi_scheduler_begin(s, GPUMP_SCHEDULER_PREEMPT, index, sm->kernel, action);
    action->process_cookie = 0;
    action->next = sm->next;
    action->technique = s->config.technique;
    if (gpump_technique_begins(s->config.technique) != GPUMP_TECHNIQUE_BEGIN_RUN) {
        if ((uint64_t)k->saved + k->leaving + sm->blocks <= k->saved_limit) {
            sm->leaving = sm->blocks;
            k->leaving += sm->blocks;
            sm->flags |= GPUMP_SCHEDULER_SM_SWITCHING;
        } else {
            action->technique = GPUMP_TECHNIQUE_DRAIN;
            action->reason = GPUMP_REASON_NO_CONTEXT_SPACE;
            s->statistics.drained_instead++;
        }
    }
    if (s->config.kernels_per_sm == 2 && sm->next) sm->flags |= GPUMP_SCHEDULER_SM_SETUP_DUE;
}

/* The blocks of the SM's kernel, then those of its next one. */
static void gpumpi_scheduler_hand_kill(gpump_scheduler *s, uint32_t index, gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    const int first = (sm->flags & GPUMP_SCHEDULER_SM_KILL_DUE) != 0;
    sm->flags &= ~(uint32_t)(first ? GPUMP_SCHEDULER_SM_KILL_DUE : GPUMP_SCHEDULER_SM_KILL_NEXT_DUE);
    gpumpi_scheduler_begin(s, GPUMP_SCHEDULER_KILL, index, first ? sm->kernel : sm->next, action);
}

/* Draws what a command costs. The tail is exponential: the logarithm to base 2 of a random number, a straight line
 * between powers of two, has the mean 3/2. The draws depend on the number of commands alone. */
static uint64_t gpumpi_scheduler_command_cycles(gpump_scheduler *s) {
    const gpump_scheduler_config *c = &s->config;
    const uint64_t tail = c->command_mean_cycles - c->command_least_cycles - c->command_spread_cycles / 2;
    uint64_t state = s->statistics.commands_paid, random = gpump_random_next(&state) | 1, spread, cycles;
    const uint32_t highest = gpumpi_bits_highest64(random);
    const uint64_t part = highest >= 16 ? (random >> (highest - 16)) & 0xffff : (random << (16 - highest)) & 0xffff;
    const uint64_t logarithm = ((uint64_t)(64 - highest) << 16) - part; /* -log2, in 1 / 65536 */
    spread = ((gpump_random_next(&state) >> 32) * (c->command_spread_cycles + UINT64_C(1))) >> 32;
    cycles = c->command_least_cycles + spread + tail * logarithm / 98304;
    s->statistics.commands_paid++;
    s->statistics.command_cycles += cycles;
    return cycles;
}

/* Returns 1 while the command is under way that brings the SM's next process onto it. A kernel pays once, until it has
 * no SM any more. */
static int gpumpi_scheduler_change_waits(gpump_scheduler *s, const gpump_scheduler_sm *sm) {
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[gpumpi_scheduler_set_up_for(sm)];
    if (!s->config.command_mean_cycles || !sm->process_serial ||
        sm->process_serial == gpumpi_scheduler_processes(s)[k->process].serial)
        return 0;
    if (!k->change_cycle) k->change_cycle = gpump_add_saturated(s->now, gpumpi_scheduler_command_cycles(s));
    if (s->now >= k->change_cycle) return 0;
    if (k->change_cycle < s->change_due) s->change_due = k->change_cycle;
    return 1;
}

/* Commands are through: the SMs that wait for one are looked at again. */
static void gpumpi_scheduler_change_through(gpump_scheduler *s) {
    s->change_due = GPUMP_UNKNOWN;
    for (uint32_t i = 0; i < s->config.sms; i++)
        if (gpumpi_scheduler_sms(s)[i].flags & GPUMP_SCHEDULER_SM_SETUP_DUE) gpumpi_scheduler_attend(s, i);
}

static void gpumpi_scheduler_hand_setup(gpump_scheduler *s, uint32_t index, gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    uint32_t kernel = gpumpi_scheduler_set_up_for(sm);
    const gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    const gpump_scheduler_process_row *process = &gpumpi_scheduler_processes(s)[k->process];
    sm->flags = (sm->flags & ~(uint32_t)GPUMP_SCHEDULER_SM_SETUP_DUE) | GPUMP_SCHEDULER_SM_SETUP_RUNNING;
    gpumpi_scheduler_begin(s, GPUMP_SCHEDULER_SETUP, index, kernel, action);
    action->page_table_base = process->page_table_base;
    action->beside = sm->state == GPUMP_SCHEDULER_SM_RESERVED;
    s->statistics.setups++;
    if (sm->process_serial != process->serial) {
        if (sm->process_serial)
            action->invalidate = GPUMP_SCHEDULER_INVALIDATE_TLB | GPUMP_SCHEDULER_INVALIDATE_L1 |
                                 GPUMP_SCHEDULER_INVALIDATE_INSTRUCTIONS;
        sm->process_serial = process->serial;
        s->statistics.process_changes++;
    }
}

GPUMP_INLINE void gpumpi_scheduler_hand_issue(gpump_scheduler *s, uint32_t index, uint32_t kernel,
                                              gpump_scheduler_sm *sm, gpump_scheduler_kernel *k,
                                              gpump_scheduler_action *action) {
    uint32_t slot = gpump_bits_lowest64(~sm->slots), at = index * s->config.blocks_per_sm + slot;
    uint32_t *generation = &gpumpi_scheduler_halves(s, s->generations_at)[at];
    sm->slots |= (uint64_t)1 << slot;
    if (kernel == sm->kernel)
        sm->blocks++;
    else
        sm->next_blocks++, sm->room--;
    k->resident++;
    gpumpi_scheduler_halves(s, s->owners_at)[at] = kernel;
    ++*generation;
    gpumpi_scheduler_fill(s, GPUMP_SCHEDULER_ISSUE, index, kernel, k, action);
    action->block.slot = slot;
    action->block.generation = *generation;
    if (k->saved) {
        action->saved = 1;
        action->handle =
            gpumpi_scheduler_words(s, s->ptbqs_at)[(uint64_t)(kernel - 1) * s->config.saved_blocks + k->saved_first];
        k->saved_first = (k->saved_first + 1) % s->config.saved_blocks;
        k->saved--;
        s->statistics.blocks_resumed++;
    } else {
        action->index = k->next_block++;
        s->statistics.blocks_new++;
    }
}

/* The same for a block beyond those that an SM's kernel holds by itself. */
static GPUMPI_CALLED void gpumpi_scheduler_hand_extra(gpump_scheduler *s, uint32_t index, uint32_t kernel,
                                                      gpump_scheduler_action *action) {
    gpumpi_scheduler_hand_issue(s, index, kernel, &gpumpi_scheduler_sms(s)[index], &gpumpi_scheduler_kernels(s)[kernel],
                                action);
}

GPUMP_API gpump_result gpump_scheduler_issue_extra(gpump_scheduler *s, uint64_t now, uint32_t index,
                                                   gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm;
    if (!s || !action || index >= s->config.sms) return GPUMP_ERROR_ARGUMENT;
    sm = &gpumpi_scheduler_sms(s)[index];
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    if (sm->state != GPUMP_SCHEDULER_SM_RUNNING || sm->flags || sm->blocks == s->config.blocks_per_sm ||
        !gpump_scheduler_to_issue(&gpumpi_scheduler_kernels(s)[sm->kernel]))
        return GPUMP_EMPTY;
    gpumpi_scheduler_hand_extra(s, index, sm->kernel, action);
    return GPUMP_OK;
}

/* Issues a block of the SM's kernel to an SM that runs it. Returns 0 when there is no block, or no room. */
static int gpumpi_scheduler_hand_block(gpump_scheduler *s, uint32_t index, gpump_scheduler_sm *sm,
                                       gpump_scheduler_action *action) {
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[sm->kernel];
    if (sm->blocks >= k->blocks_per_sm || !gpump_scheduler_to_issue(k)) return 0;
    gpumpi_scheduler_hand_issue(s, index, sm->kernel, sm, k, action);
    if (sm->blocks == k->blocks_per_sm || !gpump_scheduler_to_issue(k)) gpumpi_scheduler_ignore(s, index);
    return 1;
}

/* Finds the next action of one SM. Returns 0 when there is none, and takes the SM off the list. */
static int gpumpi_scheduler_hand_sm(gpump_scheduler *s, uint32_t index, gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    if (sm->flags & (GPUMP_SCHEDULER_SM_KILL_DUE | GPUMP_SCHEDULER_SM_KILL_NEXT_DUE)) {
        gpumpi_scheduler_hand_kill(s, index, action);
        return 1;
    }
    if (sm->flags & GPUMP_SCHEDULER_SM_PREEMPT_DUE) {
        gpumpi_scheduler_hand_preempt(s, index, action);
        return 1;
    }
    if (sm->flags & GPUMP_SCHEDULER_SM_SETUP_DUE) {
        if (gpumpi_scheduler_change_waits(s, sm)) {
            gpumpi_scheduler_ignore(s, index);
            return 0;
        }
        gpumpi_scheduler_hand_setup(s, index, action);
        return 1;
    }
    if (sm->state == GPUMP_SCHEDULER_SM_RUNNING && !(sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)) {
        if (gpumpi_scheduler_hand_block(s, index, sm, action)) return 1;
        gpumpi_scheduler_ignore(s, index);
        if (sm->blocks == 0) gpumpi_scheduler_release(s, index); /* other SMs have taken what there was to issue */
        return 0;
    }
    if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && sm->flags & GPUMP_SCHEDULER_SM_NEXT_READY && sm->room && sm->next &&
        sm->blocks + sm->next_blocks < s->config.blocks_per_sm && sm->next_blocks < kernels[sm->next].blocks_per_sm &&
        gpump_scheduler_to_issue(&kernels[sm->next])) {
        gpumpi_scheduler_hand_extra(s, index, sm->next, action);
        return 1;
    }
    gpumpi_scheduler_ignore(s, index);
    return 0;
}

static void gpumpi_scheduler_hand_done(gpump_scheduler *s, gpump_scheduler_action *action) {
    uint64_t *done = gpumpi_scheduler_words(s, s->done_at);
    gpump_scheduler_buffer *buffer;
    uint32_t queue = 0, held;
    while (!done[queue >> 6]) queue += 64;
    queue += gpump_bits_lowest64(done[queue >> 6]);
    gpump_bits_clear(done, queue);
    s->done_count--;
    buffer = &gpumpi_scheduler_buffers(s)[queue];
    memset(action, 0, sizeof *action);
    action->kind = GPUMP_SCHEDULER_KERNEL_DONE;
    action->sm = GPUMP_NONE;
    action->kernel = buffer->kernel;
    action->queue = queue;
    action->process = buffer->process;
    action->kernel_cookie = buffer->cookie;
    action->aborted = gpumpi_scheduler_processes(s)[buffer->process].aborted;
    gpumpi_scheduler_processes(s)[buffer->process].commands--;
    held = buffer->held;
    memset(buffer, 0, sizeof *buffer);
    if (held > 1) { /* the queue's other launched commands are still to come */
        buffer->held = held - 1;
        buffer->process = action->process;
    }
}

/* The next action of any kind. */
static gpump_result gpumpi_scheduler_next_of_any(gpump_scheduler *s, const gpump_scheduler_policy *policy, uint64_t now,
                                                 gpump_scheduler_action *action) {
    for (;;) {
        gpump_result result;
        uint32_t sm;
        if (s->done_count) {
            gpumpi_scheduler_hand_done(s, action);
            return GPUMP_OK;
        }
        if (s->admission_due) {
            result = gpumpi_scheduler_try_admit(s, policy, action);
            if (result != GPUMP_EMPTY) return result;
        }
        if (now >= s->change_due) gpumpi_scheduler_change_through(s);
        sm = gpumpi_scheduler_attended(s);
        if (sm != GPUMP_NONE) {
            if (gpumpi_scheduler_hand_sm(s, sm, action)) return GPUMP_OK;
            continue;
        }
        if (now < s->policy_due && now < s->policy_wake) return GPUMP_EMPTY;
        result = gpumpi_scheduler_run_policy(s, policy);
        if (result != GPUMP_OK) return result;
    }
}

GPUMP_API gpump_result gpump_scheduler_next(gpump_scheduler *s, const gpump_scheduler_policy *policy, uint64_t now,
                                            gpump_scheduler_action *action) {
    uint32_t at;
    if (!s || !policy || !action || !policy->name) return GPUMP_ERROR_ARGUMENT;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    if (s->done_count || s->admission_due || now >= s->change_due)
        return gpumpi_scheduler_next_of_any(s, policy, now, action);
    /* what is asked for most takes the shortest way: nothing to do, or one block for an SM that runs */
    at = gpumpi_scheduler_attended(s);
    if (at == GPUMP_NONE) {
        if (now < s->policy_due && now < s->policy_wake) return GPUMP_EMPTY;
    } else {
        gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[at];
        if (sm->state == GPUMP_SCHEDULER_SM_RUNNING && !sm->flags && gpumpi_scheduler_hand_block(s, at, sm, action))
            return GPUMP_OK;
    }
    return gpumpi_scheduler_next_of_any(s, policy, now, action);
}
