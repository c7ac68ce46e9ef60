#include "scheduler/scheduler_parts.h"
#include "gpu/gpu.h"

#include <string.h>

#define GPUMPI_SCHEDULER_MAGIC UINT64_C(0x31444843534d5047) /* "GPMSCHD1" */

/* ---- configuration ---- */

GPUMP_API gpump_result gpump_scheduler_config_preset(gpump_scheduler_config *config, const char *preset) {
    gpump_gpu gpu;
    gpump_result result;
    if (!config || !preset) return GPUMP_ERROR_ARGUMENT;
    result = gpump_gpu_config_preset(&gpu, preset);
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->sms = gpu.sms;
    config->blocks_per_sm = gpu.block_slots;
    config->contexts = 32;
    config->queues = 32;
    config->active_kernels = gpu.sms;
    config->saved_blocks = gpu.sms * gpu.block_slots;
    config->mechanism = GPUMP_SCHEDULER_SWITCH;
    config->kernels_per_sm = 1;
    config->decision_cycles = gpu.sms;
    config->slice_cycles = gpu.clock_khz; /* 1 ms */
    return GPUMP_OK;
}

static gpump_result gpumpi_scheduler_range(gpump_diag *diag, const char *field, uint32_t value, uint32_t minimum,
                                           uint32_t maximum) {
    if (value >= minimum && value <= maximum) return GPUMP_OK;
    return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, field, 0, value, minimum, maximum);
}

static gpump_result gpumpi_scheduler_check_config(const gpump_scheduler_config *c, gpump_diag *diag) {
    gpump_result r;
    if (!c) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config", 0, 0, 1, UINT64_MAX);
    if ((r = gpumpi_scheduler_range(diag, "struct_size", c->struct_size, (uint32_t)sizeof *c, (uint32_t)sizeof *c)))
        return r;
    if ((r = gpumpi_scheduler_range(diag, "sms", c->sms, 1, 65536))) return r;
    if ((r = gpumpi_scheduler_range(diag, "blocks_per_sm", c->blocks_per_sm, 1, 64))) return r;
    if ((r = gpumpi_scheduler_range(diag, "contexts", c->contexts, 1, 4096))) return r;
    if ((r = gpumpi_scheduler_range(diag, "queues", c->queues, 1, 4096))) return r;
    if ((r = gpumpi_scheduler_range(diag, "active_kernels", c->active_kernels, 1, 4096))) return r;
    if ((r = gpumpi_scheduler_range(diag, "saved_blocks", c->saved_blocks, 0, c->sms * c->blocks_per_sm))) return r;
    if ((r = gpumpi_scheduler_range(diag, "mechanism", c->mechanism, 0, GPUMP_SCHEDULER_SELECT))) return r;
    if ((r = gpumpi_scheduler_range(diag, "kernels_per_sm", c->kernels_per_sm, 1, 2))) return r;
    if ((r = gpumpi_scheduler_range(diag, "slice_cycles", c->slice_cycles, 1, UINT32_MAX))) return r;
    return gpumpi_scheduler_range(diag, "reserved", c->reserved, 0, 0);
}

/* Lays the tables out; returns the size of the block. u64 tables come first, so everything is aligned. */
static uint64_t gpumpi_scheduler_layout(gpump_scheduler *s, const gpump_scheduler_config *c) {
    uint64_t at = sizeof *s, words = gpump_bits_words(c->sms);
    s->contexts_at = at, at += (uint64_t)c->contexts * sizeof(gpump_scheduler_context_row);
    s->buffers_at = at, at += (uint64_t)c->queues * sizeof(gpump_scheduler_buffer);
    s->kernels_at = at, at += (uint64_t)c->active_kernels * sizeof(gpump_scheduler_kernel);
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

static uint64_t gpumpi_scheduler_layout_hash(const gpump_scheduler_config *c) {
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, sizeof(struct gpump_scheduler));
    const uint32_t fields[] = {c->sms, c->blocks_per_sm, c->contexts, c->queues, c->active_kernels, c->saved_blocks};
    return gpump_hash_u32s(hash, fields, sizeof fields / sizeof *fields);
}

GPUMP_API gpump_result gpump_scheduler_bytes(const gpump_scheduler_config *config, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_scheduler_check_config(config, diag);
    gpump_scheduler layout;
    uint64_t needed;
    if (result) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    needed = gpumpi_scheduler_layout(&layout, config);
    if (needed > SIZE_MAX)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "saved_blocks", 0, config->saved_blocks, 0, SIZE_MAX / 8);
    *bytes = (size_t)needed;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_init(void *memory, size_t bytes, const gpump_scheduler_config *config,
                                            gpump_scheduler **scheduler, gpump_diag *diag) {
    size_t needed;
    gpump_result result = gpump_scheduler_bytes(config, &needed, diag);
    gpump_scheduler *s = (gpump_scheduler *)memory;
    if (result) return result;
    if (!scheduler) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "scheduler", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_check_memory(memory, bytes, needed, diag);
    if (result) return result;
    memset(memory, 0, needed);
    gpumpi_scheduler_layout(s, config);
    s->head.magic = GPUMPI_SCHEDULER_MAGIC;
    s->head.layout = gpumpi_scheduler_layout_hash(config);
    s->head.bytes = needed;
    s->config = *config;
    s->policy_due = s->policy_wake = GPUMP_UNKNOWN;
    s->serials = 1;
    s->idle_sms = config->sms;
    for (uint32_t i = 0; i < config->sms; i++) {
        gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[i];
        sm->kernel = sm->next = sm->previous_sm = sm->next_sm = GPUMP_NONE;
        gpump_bits_set(gpumpi_scheduler_words(s, s->idle_at), i);
    }
    *scheduler = s;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_adopt(void *memory, size_t bytes, const gpump_scheduler_config *config,
                                             gpump_scheduler **scheduler, gpump_diag *diag) {
    size_t needed;
    gpump_result result = gpump_scheduler_bytes(config, &needed, diag);
    if (result) return result;
    if (!scheduler) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "scheduler", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_adopt(memory, bytes, GPUMPI_SCHEDULER_MAGIC, gpumpi_scheduler_layout_hash(config), diag);
    if (result) return result;
    if (((gpump_scheduler *)memory)->head.bytes != needed)
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "bytes", 0, ((gpump_scheduler *)memory)->head.bytes, needed,
                           needed);
    if (memcmp(&((gpump_scheduler *)memory)->config, config, sizeof *config))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "config", 0, 0, 0, 0);
    *scheduler = (gpump_scheduler *)memory;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_scheduler_hash(const gpump_scheduler *s) {
    const gpump_scheduler_config *c = &s->config;
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, s->head.layout);
    hash = gpump_hash_u64s(hash, &s->statistics.submitted, sizeof s->statistics / 8);
    hash = gpump_hash_u64s(hash, &s->now, 5);
    hash = gpump_hash_u64s(hash, s->policy_state, GPUMP_SCHEDULER_STATE_WORDS);
    hash = gpump_hash_u32s(hash, &s->config.struct_size, sizeof s->config / 4);
    hash = gpump_hash_u32s(hash, &s->waiting_count, 8);
    for (uint32_t i = 0; i < c->contexts; i++) {
        const gpump_scheduler_context_row *row = &gpumpi_scheduler_contexts(s)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &row->cookie, 3), &row->priority, 4);
    }
    for (uint32_t i = 0; i < c->queues; i++) {
        const gpump_scheduler_buffer *row = &gpumpi_scheduler_buffers(s)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &row->cookie, 3), &row->context, 6);
    }
    for (uint32_t i = 0; i < c->active_kernels; i++) {
        const gpump_scheduler_kernel *row = &gpumpi_scheduler_kernels(s)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &row->cookie, 5), &row->queue, 16);
    }
    for (uint32_t i = 0; i < c->sms; i++) {
        const gpump_scheduler_sm *row = &gpumpi_scheduler_sms(s)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &row->context_serial, 2), &row->state, 10);
    }
    hash = gpump_hash_u64s(hash, gpumpi_scheduler_words(s, s->idle_at), (size_t)((s->generations_at - s->idle_at) / 8));
    return gpump_hash_u32s(hash, gpumpi_scheduler_halves(s, s->generations_at),
                           (size_t)(((uint64_t)c->sms * c->blocks_per_sm * 2 + c->queues + c->active_kernels)));
}

/* bits that can hold the values 0 to n - 1 */
static uint64_t gpumpi_scheduler_width(uint64_t n) {
    uint64_t width = 0;
    while (width < 64 && ((uint64_t)1 << width) < n) width++;
    return width;
}

GPUMP_API gpump_result gpump_scheduler_bits(const gpump_scheduler_config *c, gpump_scheduler_storage *storage,
                                            gpump_diag *diag) {
    gpump_result result = gpumpi_scheduler_check_config(c, diag);
    uint64_t context, kernel, resident, grid = 40, pointer = 40;
    if (result) return result;
    if (!storage) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "storage", 0, 0, 1, UINT64_MAX);
    context = gpumpi_scheduler_width(c->contexts);
    kernel = gpumpi_scheduler_width(c->active_kernels);
    resident = gpumpi_scheduler_width((uint64_t)c->sms * c->blocks_per_sm + 1);
    /* valid, context, pointer to the launch descriptor */
    storage->command_buffers = c->queues * (1 + context + pointer);
    /* valid, context, descriptor, grid and next block, blocks per SM, resident blocks, tokens with sign */
    storage->ksrt = c->active_kernels * (1 + context + pointer + 2 * grid + gpumpi_scheduler_width(c->blocks_per_sm) +
                                         resident + gpumpi_scheduler_width(c->sms) + 1);
    /* state, kernel, next, running blocks, and of a second kernel when it may hold one */
    storage->smst =
        c->sms * (2 + 2 * kernel + c->kernels_per_sm * gpumpi_scheduler_width(c->blocks_per_sm + UINT64_C(1)));
    storage->active_queue = c->active_kernels * kernel;
    /* block id and stack pointer, 32 bits each */
    storage->ptbqs = (uint64_t)c->active_kernels * c->saved_blocks * 64;
    /* valid, page table base, priority */
    storage->context_table = c->contexts * (1 + pointer + 8);
    return GPUMP_OK;
}

/* ---- views ---- */

GPUMP_API gpump_scheduler_view gpump_scheduler_look(const gpump_scheduler *s) {
    gpump_scheduler_view view;
    view.config = &s->config;
    view.contexts = gpumpi_scheduler_contexts(s);
    view.buffers = gpumpi_scheduler_buffers(s);
    view.waiting = gpumpi_scheduler_halves(s, s->waiting_at);
    view.kernels = gpumpi_scheduler_kernels(s);
    view.active = gpumpi_scheduler_halves(s, s->active_at);
    view.sms = gpumpi_scheduler_sms(s);
    view.state = (uint64_t *)gpumpi_scheduler_at(s, offsetof(struct gpump_scheduler, policy_state));
    view.user = NULL;
    view.now = s->now;
    view.waiting_count = s->waiting_count;
    view.active_count = s->active_count;
    view.open_contexts = s->open_contexts;
    view.idle_sm = gpumpi_scheduler_lowest_idle(s);
    view.reserved_sms = s->reserved_sms;
    view.queue = GPUMP_NONE;
    return view;
}

GPUMP_API const gpump_scheduler_statistics *gpump_scheduler_count(const gpump_scheduler *s) { return &s->statistics; }

GPUMP_API gpump_scheduler_statistics gpump_scheduler_statistics_diff(const gpump_scheduler_statistics *after,
                                                                     const gpump_scheduler_statistics *before) {
    gpump_scheduler_statistics difference;
#define GPUMPI_FIELD(name, unit, description) difference.name = after->name - before->name;
    GPUMP_SCHEDULER_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    return difference;
}

GPUMP_API gpump_result gpump_scheduler_statistics_field(uint32_t index, const char **name, const char **unit,
                                                        const char **description) {
    static const char *const fields[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
        GPUMP_SCHEDULER_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    };
    if (index >= sizeof fields / sizeof *fields) return GPUMP_EMPTY;
    if (name) *name = fields[index][0];
    if (unit) *unit = fields[index][1];
    if (description) *description = fields[index][2];
    return GPUMP_OK;
}

/* ---- checking ---- */

static const char *gpumpi_scheduler_check_sm(const gpump_scheduler *s, uint32_t index) {
    const gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    const uint32_t *owners = gpumpi_scheduler_halves(s, s->owners_at) + (uint64_t)index * s->config.blocks_per_sm;
    uint32_t blocks = 0, next_blocks = 0;
    int idle = gpump_bits_get(gpumpi_scheduler_words(s, s->idle_at), index);
    if (s->config.blocks_per_sm < 64 && sm->slots >> s->config.blocks_per_sm) return "a slot beyond the last is taken";
    for (uint32_t slot = 0; slot < s->config.blocks_per_sm; slot++)
        if ((sm->slots >> slot) & 1u) {
            if (owners[slot] == sm->kernel)
                blocks++;
            else if (owners[slot] == sm->next)
                next_blocks++;
            else
                return "a block of a kernel that the SM neither runs nor is reserved for";
        }
    if (blocks != sm->blocks || next_blocks != sm->next_blocks) return "block counts and slots of an SM differ";
    if (next_blocks && s->config.kernels_per_sm == 1) return "two kernels on an SM";
    if (idle != (sm->state == GPUMP_SCHEDULER_SM_IDLE)) return "the set of idle SMs and a state differ";
    if (sm->leaving > sm->blocks) return "more blocks leaving than there are";
    if (sm->next != GPUMP_NONE && (sm->state != GPUMP_SCHEDULER_SM_RESERVED || !kernels[sm->next].in_use))
        return "next names no kernel, or the SM is not reserved";
    switch (sm->state) {
    case GPUMP_SCHEDULER_SM_IDLE:
        return blocks || sm->flags || sm->kernel != GPUMP_NONE ? "an idle SM that is not empty" : NULL;
    case GPUMP_SCHEDULER_SM_RUNNING:
        if (sm->kernel >= s->config.active_kernels || !kernels[sm->kernel].in_use) return "an SM runs no kernel";
        return blocks > kernels[sm->kernel].blocks_per_sm ? "more blocks than the kernel may have on an SM" : NULL;
    case GPUMP_SCHEDULER_SM_RESERVED:
        if (!blocks && !(sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)) return "a vacant SM is still reserved";
        return blocks && !kernels[sm->kernel].in_use ? "blocks of a kernel that has ended" : NULL;
    default: return "unknown state";
    }
}

static const char *gpumpi_scheduler_check_kernel(const gpump_scheduler *s, uint32_t row) {
    const gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[row];
    const gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s);
    uint32_t owned = 0, reserved = 0, resident = 0, leaving = 0, setting_up = 0, listed = 0;
    for (uint32_t i = 0; i < s->config.sms; i++) {
        uint32_t setup = sms[i].flags & (GPUMP_SCHEDULER_SM_SETUP_DUE | GPUMP_SCHEDULER_SM_SETUP_RUNNING);
        if (sms[i].kernel == row && sms[i].state == GPUMP_SCHEDULER_SM_RUNNING) owned++, setting_up += setup != 0;
        if (sms[i].next == row) reserved++, resident += sms[i].next_blocks;
        if (sms[i].kernel == row) resident += sms[i].blocks, leaving += sms[i].leaving;
    }
    for (uint32_t i = k->first_sm; i != GPUMP_NONE && listed <= owned; i = sms[i].next_sm) {
        if (sms[i].kernel != row || sms[i].state != GPUMP_SCHEDULER_SM_RUNNING)
            return "an SM in a list it does not belong to";
        listed++;
    }
    if (listed != owned || owned != k->owned) return "owned SMs and the list differ";
    if (reserved != k->reserved) return "reserved SMs differ";
    if (resident != k->resident) return "resident blocks differ";
    if (leaving != k->leaving) return "leaving blocks differ";
    if (setting_up != k->setting_up) return "SMs being set up differ";
    if (k->tokens != GPUMP_SCHEDULER_TOKEN_ZERO + k->budget - owned - reserved) return "tokens are not conserved";
    if (k->saved > k->saved_limit || k->saved_limit > s->config.saved_blocks) return "a PTBQ has overflowed";
    if (k->saved + k->leaving > k->saved_limit) return "room in a PTBQ is promised twice";
    if (k->next_block > k->blocks) return "more blocks issued than the grid has";
    if (k->next_block == k->blocks && !k->resident && !k->saved) return "a kernel without blocks is active";
    return NULL;
}

GPUMP_API const char *gpump_scheduler_check(const gpump_scheduler *s) {
    const uint32_t *active = gpumpi_scheduler_halves(s, s->active_at),
                   *waiting = gpumpi_scheduler_halves(s, s->waiting_at);
    uint32_t in_use = 0, idle = 0, reserved = 0;
    const char *wrong = NULL;
    for (uint32_t i = 0; i < s->config.sms && !wrong; i++) {
        wrong = gpumpi_scheduler_check_sm(s, i);
        idle += gpumpi_scheduler_sms(s)[i].state == GPUMP_SCHEDULER_SM_IDLE;
        reserved += gpumpi_scheduler_sms(s)[i].state == GPUMP_SCHEDULER_SM_RESERVED;
    }
    if (wrong) return wrong;
    if (idle != s->idle_sms || reserved != s->reserved_sms) return "counts of idle or reserved SMs differ";
    for (uint32_t i = 0; i < s->config.active_kernels; i++) in_use += gpumpi_scheduler_kernels(s)[i].in_use;
    if (in_use != s->active_count) return "the active queue and the KSRT differ";
    for (uint32_t i = 0; i < s->active_count && !wrong; i++) {
        const gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[active[i]];
        if (!k->in_use) return "the active queue names a free row";
        if (gpumpi_scheduler_buffers(s)[k->queue].state != GPUMP_SCHEDULER_BUFFER_ACTIVE)
            return "an active kernel's queue is not";
        wrong = gpumpi_scheduler_check_kernel(s, active[i]);
    }
    for (uint32_t i = 0; i < s->waiting_count && !wrong; i++) {
        const gpump_scheduler_buffer *buffer = &gpumpi_scheduler_buffers(s)[waiting[i]];
        if (buffer->state != GPUMP_SCHEDULER_BUFFER_WAITING)
            wrong = "the waiting list names a buffer without a command";
        if (i && buffer->arrival <= gpumpi_scheduler_buffers(s)[waiting[i - 1]].arrival)
            wrong = "the waiting list is out of order";
    }
    return wrong;
}
