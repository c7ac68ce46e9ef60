#include "scheduler/scheduler_parts.h"
#include "gpu/gpu.h"

#include <string.h>

#define GPUMPI_SCHEDULER_MAGIC UINT64_C(0x31444843534d5047) /* "GPMSCHD1" */

/* ---- configuration ---- */

static gpump_result gpumpi_scheduler_preset(void *filled, const char *preset) {
    gpump_scheduler_config *config = (gpump_scheduler_config *)filled;
    gpump_gpu gpu;
    gpump_result result;
    result = gpump_preset(&gpump_gpu_component, &gpu, preset, NULL);
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->sms = gpu.sms;
    config->blocks_per_sm = gpu.block_slots;
    config->processes = 32;
    config->queues = 32;
    config->active_kernels = gpu.sms;
    config->saved_blocks = gpu.sms * gpu.block_slots;
    config->technique = GPUMP_TECHNIQUE_SWITCH;
    config->kernels_per_sm = 1;
    config->decision_cycles = gpu.sms;
    config->slice_cycles = gpu.clock_khz; /* 1 ms */
    config->lend_cycles = (uint32_t)((uint64_t)gpu.clock_khz * 12 / 1000);
    return GPUMP_OK;
}

static gpump_result gpumpi_scheduler_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_scheduler_config, sms, 1, 65536),
        GPUMPI_LIMIT(gpump_scheduler_config, blocks_per_sm, 1, 64),
        GPUMPI_LIMIT(gpump_scheduler_config, processes, 1, 4096),
        GPUMPI_LIMIT(gpump_scheduler_config, queues, 1, 4096),
        GPUMPI_LIMIT(gpump_scheduler_config, active_kernels, 1, 4096),
        GPUMPI_LIMIT(gpump_scheduler_config, kernels_per_sm, 1, 2),
        GPUMPI_LIMIT(gpump_scheduler_config, slice_cycles, 1, UINT32_MAX),
        GPUMPI_LIMIT(gpump_scheduler_config, launch_ahead, 0, 65535),
    };
    const gpump_scheduler_config *c = (const gpump_scheduler_config *)checked;
    gpump_result r = GPUMPI_CHECK_LIMITS(c, limits, diag);
    if (!r) r = gpumpi_range(diag, "saved_blocks", c->saved_blocks, 0, (uint64_t)c->sms * c->blocks_per_sm);
    if (!r)
        r = gpumpi_range(diag, "command_mean_cycles", c->command_mean_cycles,
                         (uint64_t)c->command_least_cycles + c->command_spread_cycles / 2, UINT32_MAX);
    if (!r) r = gpumpi_range(diag, "launch_refill", c->launch_refill, 0, c->launch_ahead + UINT64_C(1));
    return r ? r : gpumpi_technique_check(c->technique, diag);
}

/* Lays the tables out; returns the size of the block. u64 tables come first, so everything is aligned. */
static uint64_t gpumpi_scheduler_layout(gpump_scheduler *s, const gpump_scheduler_config *c) {
    uint64_t at = sizeof *s, words = gpump_bits_words(c->sms);
    s->processes_at = at, at += (uint64_t)c->processes * sizeof(gpump_scheduler_process_row);
    s->buffers_at = at, at += (uint64_t)c->queues * sizeof(gpump_scheduler_buffer);
    s->kernels_at = at, at += (c->active_kernels + UINT64_C(1)) * sizeof(gpump_scheduler_kernel);
    s->sms_at = at, at += (uint64_t)c->sms * sizeof(gpump_scheduler_sm);
    s->idle_at = at, at += words * 8;
    s->attention_at = at, at += words * 8;
    s->attention_summary_at = at, at += gpump_bits_words((uint32_t)words) * UINT64_C(8);
    s->done_at = at, at += gpump_bits_words(c->queues) * UINT64_C(8);
    s->ptbqs_at = at, at += (uint64_t)c->active_kernels * c->saved_blocks * 8;
    s->generations_at = at, at += (uint64_t)c->sms * c->blocks_per_sm * 4;
    s->owners_at = at, at += (uint64_t)c->sms * c->blocks_per_sm * 4;
    s->waiting_at = at, at += (uint64_t)c->queues * 4;
    s->active_at = at, at += (uint64_t)c->active_kernels * 4;
    return (at + 7) & ~UINT64_C(7);
}

static uint64_t gpumpi_scheduler_bytes(const void *of) {
    gpump_scheduler layout;
    return gpumpi_scheduler_layout(&layout, (const gpump_scheduler_config *)of);
}

static void gpumpi_scheduler_set_up(void *object) {
    gpump_scheduler *s = (gpump_scheduler *)object;
    const gpump_scheduler_config *config = &s->config;
    gpumpi_scheduler_layout(s, config);
    s->policy_due = s->policy_wake = s->change_due = GPUMP_UNKNOWN;
    s->serials = 1;
    s->idle_sms = config->sms;
    for (uint32_t i = 0; i < config->sms; i++) {
        gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[i];
        sm->previous_sm = sm->next_sm = GPUMP_NONE;
        gpump_bits_set(gpumpi_scheduler_words(s, s->idle_at), i);
    }
}

static const char *gpumpi_scheduler_unfit(const void *object) {
    const gpump_scheduler *s = (const gpump_scheduler *)object;
    gpump_scheduler layout;
    gpumpi_scheduler_layout(&layout, &s->config);
    return memcmp(&s->processes_at, &layout.processes_at, GPUMPI_SCHEDULER_OFFSETS * sizeof(uint64_t)) ? "offsets"
                                                                                                       : NULL;
}

static uint64_t gpumpi_scheduler_hash(const void *object) {
    const gpump_scheduler *s = (const gpump_scheduler *)object;
    const gpump_scheduler_config *c = &s->config;
    uint64_t hash = GPUMP_HASH_SEED;
    hash = gpumpi_hash_u64s(hash, &s->statistics.submitted, sizeof s->statistics / 8);
    hash = gpumpi_hash_u64s(hash, &s->now, 6);
    hash = gpumpi_hash_u64s(hash, s->policy_state, GPUMP_SCHEDULER_STATE_WORDS);
    hash = gpumpi_hash_u32s(hash, &s->config.sms, sizeof s->config / 4);
    hash = gpumpi_hash_u32s(hash, &s->waiting_count, 8);
    for (uint32_t i = 0; i < c->processes; i++) {
        const gpump_scheduler_process_row *row = &gpumpi_scheduler_processes(s)[i];
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &row->cookie, 3), &row->priority, 4);
    }
    for (uint32_t i = 0; i < c->queues; i++) {
        const gpump_scheduler_buffer *row = &gpumpi_scheduler_buffers(s)[i];
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &row->cookie, 3), &row->process, 8);
    }
    for (uint32_t i = 1; i <= c->active_kernels; i++) {
        const gpump_scheduler_kernel *row = &gpumpi_scheduler_kernels(s)[i];
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &row->cookie, 7), &row->queue, 16);
    }
    for (uint32_t i = 0; i < c->sms; i++) {
        const gpump_scheduler_sm *row = &gpumpi_scheduler_sms(s)[i];
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &row->process_serial, 2), &row->state, 10);
    }
    hash =
        gpumpi_hash_u64s(hash, gpumpi_scheduler_words(s, s->idle_at), (size_t)((s->generations_at - s->idle_at) / 8));
    return gpumpi_hash_u32s(hash, gpumpi_scheduler_halves(s, s->generations_at),
                            (size_t)(((uint64_t)c->sms * c->blocks_per_sm * 2 + c->queues + c->active_kernels)));
}

static uint64_t gpumpi_scheduler_tables(const void *of, void *filled) {
    const gpump_scheduler_config *c = (const gpump_scheduler_config *)of;
    gpump_scheduler_storage *storage = (gpump_scheduler_storage *)filled;
    uint64_t process, kernel, resident, grid = 40, pointer = 40;
    process = gpumpi_bits_for(c->processes);
    kernel = gpumpi_bits_for(c->active_kernels);
    resident = gpumpi_bits_for((uint64_t)c->sms * c->blocks_per_sm + 1);
    /* valid, process, pointer to the launch descriptor */
    storage->command_buffers = c->queues * (1 + process + pointer);
    /* valid, process, descriptor, grid and next block, blocks per SM, resident blocks, tokens with sign */
    storage->ksrt = c->active_kernels * (1 + process + pointer + 2 * grid + gpumpi_bits_for(c->blocks_per_sm) +
                                         resident + gpumpi_bits_for(c->sms) + 1);
    /* state, kernel, next, running blocks, and of a second kernel when it may hold one */
    storage->smst = c->sms * (2 + 2 * kernel + c->kernels_per_sm * gpumpi_bits_for(c->blocks_per_sm + UINT64_C(1)));
    storage->active_queue = c->active_kernels * kernel;
    /* block id and stack pointer, 32 bits each */
    storage->ptbqs = (uint64_t)c->active_kernels * c->saved_blocks * 64;
    /* valid, page table base, priority */
    storage->process_table = c->processes * (1 + pointer + 8);
    return storage->command_buffers + storage->ksrt + storage->smst + storage->active_queue + storage->ptbqs +
           storage->process_table;
}

/* ---- views ---- */

GPUMP_API gpump_scheduler_view gpump_scheduler_look(const gpump_scheduler *s) {
    gpump_scheduler_view view;
    view.config = &s->config;
    view.processes = gpumpi_scheduler_processes(s);
    view.buffers = gpumpi_scheduler_buffers(s);
    view.waiting = gpumpi_scheduler_halves(s, s->waiting_at);
    view.kernels = gpumpi_scheduler_kernels(s);
    view.active = gpumpi_scheduler_halves(s, s->active_at);
    view.sms = gpumpi_scheduler_sms(s);
    view.state = (uint64_t *)gpumpi_scheduler_at(s, offsetof(struct gpump_scheduler, policy_state));
    view.now = s->now;
    view.waiting_count = s->waiting_count;
    view.active_count = s->active_count;
    view.open_processes = s->open_processes;
    view.idle_sm = gpumpi_scheduler_lowest_idle(s);
    view.reserved_sms = s->reserved_sms;
    view.queue = GPUMP_NONE;
    return view;
}

/* ---- checking: everything that the other functions rely on ---- */

/* A set of `bits` bits: nothing beyond the last, and how many are in it. */
static int gpumpi_scheduler_set_fits(const uint64_t *words, uint32_t bits, uint32_t count) {
    uint32_t length = gpump_bits_words(bits);
    if (bits & 63u && words[length - 1] >> (bits & 63u)) return 0;
    return gpump_bits_count(words, length) == count;
}

static const char *gpumpi_scheduler_check_queues(const gpump_scheduler *s) {
    const gpump_scheduler_config *c = &s->config;
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    const gpump_scheduler_buffer *buffers = gpumpi_scheduler_buffers(s);
    const uint32_t *active = gpumpi_scheduler_halves(s, s->active_at);
    const uint32_t *waiting = gpumpi_scheduler_halves(s, s->waiting_at);
    uint32_t in_use = 0, in_state[4] = {0, 0, 0, 0};
    if (s->active_count > c->active_kernels || s->waiting_count > c->queues) return "a queue is longer than its table";
    for (uint32_t i = 0; i < c->queues; i++) {
        const gpump_scheduler_buffer *b = &buffers[i];
        if (b->state > GPUMP_SCHEDULER_BUFFER_DONE) return "unknown state of a command buffer";
        in_state[b->state]++;
        if (b->held > c->launch_ahead + UINT64_C(1) || (!c->launch_ahead && b->held))
            return "more commands launched than the device holds";
        if (gpump_bits_get(gpumpi_scheduler_words(s, s->done_at), i) != (b->state == GPUMP_SCHEDULER_BUFFER_DONE))
            return "the set of ended kernels and a command buffer differ";
        if (b->state == GPUMP_SCHEDULER_BUFFER_EMPTY) continue;
        if (b->process >= c->processes || !gpumpi_scheduler_processes(s)[b->process].serial)
            return "a command of a process that is not open";
        if (!b->blocks || b->blocks > GPUMP_SCHEDULER_MAX_BLOCKS || !b->blocks_per_sm ||
            b->blocks_per_sm > c->blocks_per_sm || b->saved_limit > c->saved_blocks || b->arrival >= s->arrivals)
            return "a command out of range";
        if (b->state == GPUMP_SCHEDULER_BUFFER_WAITING && gpumpi_scheduler_processes(s)[b->process].aborted)
            return "a command of an aborted process waits";
        if (b->state == GPUMP_SCHEDULER_BUFFER_ACTIVE && (!b->kernel || b->kernel > c->active_kernels ||
                                                          !kernels[b->kernel].in_use || kernels[b->kernel].queue != i))
            return "a command and its kernel differ";
    }
    if (in_state[GPUMP_SCHEDULER_BUFFER_WAITING] != s->waiting_count ||
        in_state[GPUMP_SCHEDULER_BUFFER_ACTIVE] != s->active_count ||
        in_state[GPUMP_SCHEDULER_BUFFER_DONE] != s->done_count ||
        !gpumpi_scheduler_set_fits(gpumpi_scheduler_words(s, s->done_at), c->queues, s->done_count))
        return "counts of command buffers differ";
    for (uint32_t i = 0; i < s->waiting_count; i++) { /* ascending arrivals: no queue stands here twice */
        if (waiting[i] >= c->queues || buffers[waiting[i]].state != GPUMP_SCHEDULER_BUFFER_WAITING)
            return "the waiting list names a buffer without a command";
        if (i && buffers[waiting[i]].arrival <= buffers[waiting[i - 1]].arrival)
            return "the waiting list is out of order";
    }
    for (uint32_t i = 1; i <= c->active_kernels; i++) {
        if (kernels[i].in_use > 1) return "a mark of use that is neither 0 nor 1";
        in_use += kernels[i].in_use;
    }
    if (in_use != s->active_count) return "the active queue and the KSRT differ";
    for (uint32_t i = 0; i < s->active_count; i++) {
        if (!active[i] || active[i] > c->active_kernels || !kernels[active[i]].in_use)
            return "the active queue names a free row";
        for (uint32_t j = 0; j < i; j++)
            if (active[j] == active[i]) return "the active queue names a kernel twice";
    }
    return NULL;
}

static const char *gpumpi_scheduler_check_processes(const gpump_scheduler *s) {
    const gpump_scheduler_config *c = &s->config;
    const gpump_scheduler_process_row *rows = gpumpi_scheduler_processes(s);
    uint64_t commands = 0, in_buffers = 0;
    uint32_t open = 0;
    for (uint32_t i = 0; i < c->processes; i++) {
        if (!rows[i].serial && (rows[i].commands || rows[i].aborted)) return "commands of a process that is not open";
        if (rows[i].aborted > 1) return "a process out of range";
        if (rows[i].serial >= s->serials || rows[i].weight > GPUMP_SCHEDULER_MAX_BUDGET)
            return "a process out of range";
        open += rows[i].serial != 0;
        commands += rows[i].commands;
        for (uint32_t j = 0; rows[i].commands && j < c->queues; j++)
            if (gpumpi_scheduler_buffers(s)[j].state && gpumpi_scheduler_buffers(s)[j].process == i) in_buffers++;
        if (commands != in_buffers) return "commands of a process and its buffers differ";
    }
    for (uint32_t j = 0; j < c->queues; j++) commands -= gpumpi_scheduler_buffers(s)[j].state != 0;
    if (commands) return "commands of processes and buffers differ";
    return open == s->open_processes ? NULL : "the count of open processes differs";
}

/* Whether gpump_scheduler_next has something to hand over for an SM. */
static int gpumpi_scheduler_has_action(const gpump_scheduler *s, const gpump_scheduler_sm *sm) {
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    if (sm->flags & (GPUMP_SCHEDULER_SM_PREEMPT_DUE | GPUMP_SCHEDULER_SM_KILL_DUE | GPUMP_SCHEDULER_SM_KILL_NEXT_DUE))
        return 1;
    if (sm->flags & GPUMP_SCHEDULER_SM_SETUP_DUE) /* waits for a command that gpump_scheduler_next looks at again */
        return kernels[gpumpi_scheduler_set_up_for(sm)].change_cycle < s->change_due;
    if (sm->state == GPUMP_SCHEDULER_SM_RUNNING && !(sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING))
        return sm->blocks < kernels[sm->kernel].blocks_per_sm && gpump_scheduler_to_issue(&kernels[sm->kernel]);
    return 0;
}

static int gpumpi_scheduler_kernel_is_aborted(const gpump_scheduler *s, uint32_t kernel) {
    const uint32_t process = gpumpi_scheduler_kernels(s)[kernel].process;
    return process < s->config.processes && gpumpi_scheduler_processes(s)[process].aborted;
}

/* Do the flags of an SM fit its state? Returns what contradicts what, or NULL. */
static const char *gpumpi_scheduler_check_flags(const gpump_scheduler *s, const gpump_scheduler_sm *sm) {
    enum {
        PREEMPT_DUE = GPUMP_SCHEDULER_SM_PREEMPT_DUE,
        SETUP_DUE = GPUMP_SCHEDULER_SM_SETUP_DUE,
        SETUP_RUNNING = GPUMP_SCHEDULER_SM_SETUP_RUNNING,
        STALE = GPUMP_SCHEDULER_SM_SETUP_STALE,
        READY = GPUMP_SCHEDULER_SM_NEXT_READY,
        SWITCHING = GPUMP_SCHEDULER_SM_SWITCHING,
        KILL_DUE = GPUMP_SCHEDULER_SM_KILL_DUE,
        KILL_NEXT_DUE = GPUMP_SCHEDULER_SM_KILL_NEXT_DUE
    };
    const uint32_t blocks = sm->blocks, next_blocks = sm->next_blocks;
    const uint32_t setup = sm->flags & (SETUP_DUE | SETUP_RUNNING | READY);
    if (sm->flags >= KILL_NEXT_DUE * 2u || (sm->flags & STALE && !(sm->flags & SETUP_RUNNING)) || (setup & (setup - 1)))
        return "flags of an SM contradict each other";
    if ((sm->flags & KILL_DUE && !(blocks && gpumpi_scheduler_kernel_is_aborted(s, sm->kernel))) ||
        (sm->flags & KILL_NEXT_DUE && !(next_blocks && gpumpi_scheduler_kernel_is_aborted(s, sm->next))))
        return "blocks to be killed whose process was not aborted";
    switch (sm->state) {
    case GPUMP_SCHEDULER_SM_IDLE:
        return sm->slots || sm->flags || sm->kernel || sm->next ? "an idle SM that is not empty" : NULL;
    case GPUMP_SCHEDULER_SM_RUNNING:
        if (!sm->kernel || sm->next) return "an SM runs no kernel, or two";
        return sm->flags & ~(uint32_t)(SETUP_DUE | SETUP_RUNNING | KILL_DUE) || (sm->flags & SETUP_DUE && blocks)
                   ? "flags of a running SM"
                   : NULL;
    case GPUMP_SCHEDULER_SM_RESERVED:
        if (!blocks) /* a setup that is no longer wanted has to end first */
            return sm->kernel || (sm->flags | SWITCHING) != (SETUP_RUNNING | STALE | SWITCHING)
                       ? "a vacant SM is still reserved"
                       : NULL;
        if (sm->flags & PREEMPT_DUE && sm->flags != PREEMPT_DUE) return "flags of an SM before its preemption";
        if (setup && s->config.kernels_per_sm == 1) return "an SM is set up beside its blocks";
        return sm->flags & (SETUP_DUE | READY) && !sm->next ? "an SM is set up for no kernel" : NULL;
    default: return "unknown state of an SM";
    }
}

static const char *gpumpi_scheduler_check_sm(const gpump_scheduler *s, uint32_t index) {
    const gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    const uint32_t *owners = gpumpi_scheduler_halves(s, s->owners_at) + (uint64_t)index * s->config.blocks_per_sm;
    const uint32_t last = s->config.active_kernels;
    uint32_t blocks = 0, next_blocks = 0;
    int idle = gpump_bits_get(gpumpi_scheduler_words(s, s->idle_at), index);
    if (sm->kernel > last || sm->next > last || (sm->kernel && !kernels[sm->kernel].in_use) ||
        (sm->next && !kernels[sm->next].in_use))
        return "an SM of a kernel that is not active";
    if (sm->process_serial >= s->serials) return "an SM of a process that never was";
    if (s->config.blocks_per_sm < 64 && sm->slots >> s->config.blocks_per_sm) return "a slot beyond the last is taken";
    for (uint32_t slot = 0; slot < s->config.blocks_per_sm; slot++)
        if ((sm->slots >> slot) & 1u) {
            if (owners[slot] && owners[slot] == sm->kernel)
                blocks++;
            else if (owners[slot] && owners[slot] == sm->next)
                next_blocks++;
            else
                return "a block of a kernel that the SM neither runs nor is reserved for";
        }
    if (blocks != sm->blocks || next_blocks != sm->next_blocks) return "block counts and slots of an SM differ";
    if (sm->next && next_blocks > kernels[sm->next].blocks_per_sm) /* its kernel may have extra blocks */
        return "more blocks than the kernel may have on an SM";
    if (next_blocks && s->config.kernels_per_sm == 1) return "two kernels on an SM";
    if (idle != (sm->state == GPUMP_SCHEDULER_SM_IDLE)) return "the set of idle SMs and a state differ";
    if (sm->leaving > sm->blocks || (sm->leaving && !(sm->flags & GPUMP_SCHEDULER_SM_SWITCHING)))
        return "more blocks leaving than were told to";
    if (sm->room > s->config.blocks_per_sm) return "room for more blocks than there are slots";
    if (gpumpi_scheduler_has_action(s, sm) && !gpump_bits_get(gpumpi_scheduler_words(s, s->attention_at), index))
        return "an action that nobody would hand over";
    return gpumpi_scheduler_check_flags(s, sm);
}

/* Kernels `first` to first + 63: what the SMs say about them, in one walk over the SMs. */
static const char *gpumpi_scheduler_check_kernels(const gpump_scheduler *s, uint32_t first) {
    struct {
        uint32_t owned, reserved, resident, leaving, setting_up;
    } seen[64];
    const gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s);
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < s->config.sms; i++) {
        uint32_t kernel = sms[i].kernel - first, next = sms[i].next - first;
        if (next < 64) seen[next].reserved++, seen[next].resident += sms[i].next_blocks;
        if (kernel >= 64) continue;
        seen[kernel].resident += sms[i].blocks;
        seen[kernel].leaving += sms[i].leaving;
        if (sms[i].state != GPUMP_SCHEDULER_SM_RUNNING) continue;
        seen[kernel].owned++;
        seen[kernel].setting_up +=
            (sms[i].flags & (GPUMP_SCHEDULER_SM_SETUP_DUE | GPUMP_SCHEDULER_SM_SETUP_RUNNING)) != 0;
    }
    for (uint32_t row = first; row < first + 64 && row <= s->config.active_kernels; row++) {
        const gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[row];
        uint32_t listed = 0, before = GPUMP_NONE;
        if (!k->in_use) continue;
        /* As many buffers are active as kernels, and each names one that names it: k->queue is its own. */
        if (gpumpi_scheduler_buffers(s)[k->queue].process != k->process)
            return "an active kernel and its command have different processes";
        if (k->blocks > GPUMP_SCHEDULER_MAX_BLOCKS || !k->blocks_per_sm || k->blocks_per_sm > s->config.blocks_per_sm ||
            k->budget > GPUMP_SCHEDULER_MAX_BUDGET)
            return "a kernel out of range";
        for (uint32_t i = k->first_sm; i != GPUMP_NONE; before = i, i = sms[i].next_sm) {
            if (i >= s->config.sms || sms[i].kernel != row || sms[i].state != GPUMP_SCHEDULER_SM_RUNNING ||
                sms[i].previous_sm != before)
                return "an SM in a list it does not belong to";
            if (++listed > seen[row - first].owned) break;
        }
        if (listed != seen[row - first].owned || listed != k->owned) return "owned SMs and the list differ";
        if (seen[row - first].reserved != k->reserved) return "reserved SMs differ";
        if (seen[row - first].resident != k->resident) return "resident blocks differ";
        if (seen[row - first].leaving != k->leaving) return "leaving blocks differ";
        if (seen[row - first].setting_up != k->setting_up) return "SMs being set up differ";
        if (k->tokens != GPUMP_SCHEDULER_TOKEN_ZERO + k->budget - k->owned - k->reserved)
            return "tokens are not conserved";
        if (k->saved_limit > s->config.saved_blocks || k->saved > k->saved_limit ||
            (k->saved_first && k->saved_first >= s->config.saved_blocks))
            return "a PTBQ has overflowed";
        if ((uint64_t)k->saved + k->leaving > k->saved_limit) return "room in a PTBQ is promised twice";
        if (gpumpi_scheduler_processes(s)[k->process].aborted && gpump_scheduler_to_issue(k))
            return "an aborted kernel has blocks to issue";
        if (k->next_block > k->blocks) return "more blocks issued than the grid has";
        if (k->next_block == k->blocks && !k->resident && !k->saved) return "a kernel without blocks is active";
    }
    return NULL;
}

static gpump_result gpumpi_scheduler_check(const void *object, gpump_diag *diag) {
    const gpump_scheduler *s = (const gpump_scheduler *)object;
    const uint64_t *attention, *summary;
    uint32_t idle = 0, reserved = 0, words;
    const char *wrong;
    attention = gpumpi_scheduler_words(s, s->attention_at);
    summary = gpumpi_scheduler_words(s, s->attention_summary_at);
    words = gpump_bits_words(s->config.sms);
    wrong = gpumpi_scheduler_check_queues(s);
    if (!wrong) wrong = gpumpi_scheduler_check_processes(s);
    for (uint32_t i = 0; i < s->config.sms && !wrong; i++) {
        wrong = gpumpi_scheduler_check_sm(s, i);
        idle += gpumpi_scheduler_sms(s)[i].state == GPUMP_SCHEDULER_SM_IDLE;
        reserved += gpumpi_scheduler_sms(s)[i].state == GPUMP_SCHEDULER_SM_RESERVED;
    }
    if (!wrong && (idle != s->idle_sms || reserved != s->reserved_sms ||
                   !gpumpi_scheduler_set_fits(gpumpi_scheduler_words(s, s->idle_at), s->config.sms, idle)))
        wrong = "counts of idle or reserved SMs differ";
    for (uint32_t i = 0; i < words && !wrong; i++)
        if (gpump_bits_get(summary, i) != (attention[i] != 0)) wrong = "SMs with actions and their summary differ";
    if (!wrong && (!gpumpi_scheduler_set_fits(attention, s->config.sms, gpump_bits_count(attention, words)) ||
                   !gpumpi_scheduler_set_fits(summary, words, gpump_bits_count(summary, gpump_bits_words(words)))))
        wrong = "an action of an SM beyond the last";
    for (uint32_t first = 1; first <= s->config.active_kernels && !wrong; first += 64)
        wrong = gpumpi_scheduler_check_kernels(s, first);
    return wrong ? gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, 0) : GPUMP_OK;
}

static uint64_t gpumpi_scheduler_next_cycle(const void *of) {
    const gpump_scheduler *s = (const gpump_scheduler *)of;
    uint64_t due = s->policy_due < s->policy_wake ? s->policy_due : s->policy_wake;
    if (s->change_due < due) due = s->change_due;
    if (s->done_count || s->admission_due || gpumpi_scheduler_attended(s) != GPUMP_NONE || due <= s->now) return s->now;
    return due;
}

static const char *const gpumpi_scheduler_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_SCHEDULER_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_scheduler_hooks = {
    "scheduler", "scheduler", GPUMPI_SCHEDULER_MAGIC,
    GPUMP_LAYOUT_SCHEDULER, sizeof(gpump_scheduler_config),
    offsetof(gpump_scheduler, config), offsetof(gpump_scheduler, statistics),
    sizeof gpumpi_scheduler_counters / sizeof *gpumpi_scheduler_counters, gpumpi_scheduler_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_scheduler_preset, gpumpi_scheduler_check_config, gpumpi_scheduler_bytes, NULL, gpumpi_scheduler_tables,
    /* set_up, unfit, check, hash */
    gpumpi_scheduler_set_up, gpumpi_scheduler_unfit, gpumpi_scheduler_check, gpumpi_scheduler_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, gpumpi_scheduler_next_cycle, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_scheduler_methods(void) { return &gpumpi_scheduler_hooks; }
