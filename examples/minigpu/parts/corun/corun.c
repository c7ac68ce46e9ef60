#include "parts/corun/corun.h"

#include <stdio.h>
#include <string.h>

/* Can these kernels form a group? Returns 0, or -1 with the reason. */
static int check_group(const machine *m, uint32_t kernels, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i, n;
    if (kernels > m->kernel_count) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: --group %u needs at least that many kernels, the launch has %u",
                 m->launch->path, kernels, m->kernel_count);
        return -1;
    }
    if (m->kernel_count > GPUMP_PARTITION_KERNELS) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: --partition takes at most %u kernels, the launch has %u",
                 m->launch->path, GPUMP_PARTITION_KERNELS, m->kernel_count);
        return -1;
    }
    for (i = 0; i < kernels; i++)
        for (n = 0; n < i; n++)
            if (m->kernels[i].process == m->kernels[n].process) {
                snprintf(error, LAUNCH_ERROR_BYTES,
                         "%s: --partition needs each kernel in a process of its own, but kernels %u and %u are in one",
                         m->launch->path, n + 1, i + 1);
                return -1;
            }
    if (m->config.memory_model) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES,
             "%s: --partition divides the bandwidth of the queued memory: leave memory_model 0 away", m->launch->path);
    return -1;
}

static int out_of_memory(const machine *m, char error[LAUNCH_ERROR_BYTES]) {
    snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory for the group of kernels", m->launch->path);
    return -1;
}

/* The group itself, as the options say. */
static void fill_group(struct corun *c, const corun_options *options, uint32_t kernels, int in_place) {
    uint32_t i;
    memset(c, 0, sizeof *c);
    c->policy = options->policy;
    c->leave = options->leave;
    c->parks = options->leave && in_place; /* --leave park means --in-place for blocks above a cap */
    c->priorities = options->priorities;
    c->kernels = kernels;
    c->window_cycles = options->window_cycles;
    c->window_end = NEVER;
    c->places = options->places && options->places < kernels ? options->places : kernels;
    for (i = 0; i < GPUMP_PARTITION_KERNELS; i++) c->member_of[i] = c->kernel_of[i] = NONE;
}

/* The configurations of gpump_sharing and of the gates. Returns 0, or -1 where there is no preset. */
static int configure_group(const machine *m, struct corun *c, const corun_options *options,
                           gpump_sharing_config *config, gpump_rate_config *rates) {
    if (gpump_preset(&gpump_partition_component, &c->machine, "maxwell_ccbp", NULL) ||
        gpump_preset(&gpump_sharing_component, config, "maxwell_ccbp", NULL) ||
        gpump_preset(&gpump_rate_component, rates, "lin", NULL))
        return -1;
    c->machine.gpu = m->config.gpu;
    c->machine.meter = m->memory_system->meter->config;
    if (options->dram_sustainable_permille) c->machine.dram_sustainable_permille = options->dram_sustainable_permille;
    rates->kernels = config->members = c->places;
    rates->unit_cycles = c->machine.unit_cycles;
    rates->epoch_cycles = c->machine.epoch_cycles;
    config->sms = m->sm_count;
    config->in_turn = options->in_turn;
    config->unsampled = options->unsampled;
    config->technique = options->parks   ? GPUMP_TECHNIQUE_SWITCH
                        : options->leave ? GPUMP_TECHNIQUE_SELECT
                                         : GPUMP_TECHNIQUE_DRAIN;
    config->keep = options->parks ? GPUMP_PARTS_IN_PLACE : 0;
    return 0;
}

/* The gates of each SM. Returns 0, or -1 without memory. */
static int make_gates(machine *m, const gpump_rate_config *rates, size_t rate_bytes) {
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        sm_corun *gates = (sm_corun *)arena_take(&m->arena, sizeof *gates);
        void *memory = arena_take(&m->arena, rate_bytes);
        if (!gates || !memory || gpump_init(&gpump_rate_component, memory, rate_bytes, rates, &gates->rate, NULL) ||
            !(gates->limited = (uint8_t *)arena_take(&m->arena, m->config.in_flight_records)))
            return -1;
        gates->access_since = NEVER;
        m->sms[i]->of_part[PART_corun] = gates;
    }
    return 0;
}

int corun_make(machine *m, const launch_file *launch, const machine_options *all, char error[LAUNCH_ERROR_BYTES]) {
    const corun_options *options = &all->sharing;
    const uint32_t kernels = options->group ? options->group : m->kernel_count;
    gpump_sharing_config config;
    gpump_rate_config rates;
    gpump_diag diag;
    char text[LAUNCH_ERROR_BYTES / 2];
    struct corun *c;
    size_t bytes = 0, rate_bytes = 0;
    void *memory;
    (void)launch;
    if (!options->policy) return 0;
    if (check_group(m, kernels, error)) return -1;
    if (!(c = m->of_part[PART_corun] = (struct corun *)arena_take(&m->arena, sizeof *c)))
        return out_of_memory(m, error);
    fill_group(c, options, kernels, m->in_place != 0);
    if (configure_group(m, c, options, &config, &rates)) return out_of_memory(m, error);
    if (gpump_check(&gpump_partition_component, &c->machine, &diag) ||
        gpump_bytes(&gpump_sharing_component, &config, &bytes, &diag) ||
        gpump_bytes(&gpump_rate_component, &rates, &rate_bytes, &diag)) {
        gpump_diag_text(&diag, text, sizeof text);
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: --partition: %s", m->launch->path, text);
        return -1;
    }
    c->sm_before = (gpump_traffic *)arena_take_array(&m->arena, m->sm_count, sizeof *c->sm_before);
    c->coming_back = (uint32_t *)arena_take_array(&m->arena, m->sm_count, sizeof *c->coming_back);
    memory = arena_take(&m->arena, bytes);
    if (!c->sm_before || !c->coming_back || !memory ||
        gpump_init(&gpump_sharing_component, memory, bytes, &config, &c->sharing, NULL) ||
        make_gates(m, &rates, rate_bytes))
        return out_of_memory(m, error);
    return 0;
}

/* ---- facts ---- */

static uint32_t blocks_of(const machine *m, uint32_t index) {
    uint32_t i, blocks = 0;
    for (i = 0; i < m->sm_count; i++) blocks += m->sms[i]->kernel_resident[index];
    return blocks;
}

static void join(machine *m, uint32_t index) {
    struct corun *c = corun_of(m);
    gpump_sharing_kernel joins;
    gpump_occupancy alone;
    gpump_diag diag;
    memset(&joins, 0, sizeof joins);
    c->waiting &= ~(1u << index);
    if (gpump_gpu_occupancy(&m->config.gpu, &m->kernels[index].need, &alone, &diag)) return;
    joins.kernel = index + 1;
    PARTS_ASK(m, joins.blocks, 0, blocks_beside, (m, index));
    if (!joins.blocks) joins.blocks = alone.blocks;
    if (m->kernels[index].block_cap && m->kernels[index].block_cap < joins.blocks)
        joins.blocks = m->kernels[index].block_cap;
    joins.priority = c->priorities ? m->kernels[index].priority + 1 : 1;
    joins.part = index + 1;
    joins.need = m->kernels[index].need;
    machine_must(m, "gpump_sharing_join", gpump_sharing_join(c->sharing, m->now, &joins, &c->member_of[index], &diag),
                 &diag);
    if (m->failed) return;
    c->kernel_of[c->member_of[index]] = index;
    c->next = m->now;
}

/* Gives free places of the group to waiting kernels, the highest priority first. If no place is free, the member of the
 * lowest priority gives its place to a waiting kernel of higher priority. */
static void fill_places(machine *m) {
    struct corun *c = corun_of(m);
    while (c->waiting && !m->failed) {
        uint32_t best = NONE, lowest = NONE, taken = 0, i;
        for (i = 0; i < m->kernel_count; i++) {
            const kernel *k = &m->kernels[i];
            if (c->waiting >> i & 1u && (best == NONE || k->priority > m->kernels[best].priority)) best = i;
            if (c->member_of[i] == NONE) continue;
            taken++;
            if (c->preempted >> c->member_of[i] & 1u) continue;
            if (lowest == NONE || k->priority <= m->kernels[lowest].priority) lowest = i;
        }
        if (c->member_of[best] != NONE) return; /* its last blocks are still leaving */
        if (taken < c->places) {
            join(m, best);
            continue;
        }
        if (c->preempted || lowest == NONE || m->kernels[lowest].priority >= m->kernels[best].priority) return;
        machine_must(m, "gpump_sharing_leave", gpump_sharing_leave(c->sharing, m->now, c->member_of[lowest]), NULL);
        c->preempted |= 1u << c->member_of[lowest];
        c->waiting |= 1u << lowest;
        c->next = m->now;
        if (blocks_of(m, lowest)) return;
        c->preempted &= ~(1u << c->member_of[lowest]);
        c->kernel_of[c->member_of[lowest]] = NONE;
        c->member_of[lowest] = NONE;
    }
}

void corun_kernel_starts(machine *m, uint32_t index) {
    struct corun *c = corun_of(m);
    if (!c || index >= c->kernels || c->member_of[index] != NONE) return;
    c->waiting |= 1u << index;
    fill_places(m);
}

void corun_kernel_ended(machine *m, uint32_t index) {
    struct corun *c = corun_of(m);
    const kernel *k = &m->kernels[index];
    if (!c || (k->state != KERNEL_DONE && !(k->state == KERNEL_WAITING && k->arrival_cycle > m->now))) return;
    c->waiting &= ~(1u << index);
    if (c->member_of[index] == NONE) return;
    if (!(c->preempted >> c->member_of[index] & 1u))
        machine_must(m, "gpump_sharing_leave", gpump_sharing_leave(c->sharing, m->now, c->member_of[index]), NULL);
    c->preempted &= ~(1u << c->member_of[index]);
    c->kernel_of[c->member_of[index]] = NONE;
    c->member_of[index] = NONE;
    c->next = m->now;
    fill_places(m);
}

/* The blocks of a kernel that run on an SM at a time; NONE: as many as it has. */
static uint32_t native_blocks(const machine *m, uint32_t index) {
    uint32_t blocks;
    PARTS_ASK(m, blocks, NONE, native_blocks, (m, index));
    return blocks;
}

/* The residents of an SM that count for caps. Extra blocks of a kernel do not, as they run in turn with the others. */
static uint32_t counted_residents(machine *m, const sm *s, gpump_block_view residents[BLOCK_ENTRIES_MAX]) {
    uint32_t here[GPUMP_PARTITION_KERNELS], count = 0, kept = 0, i;
    memset(here, 0, sizeof here);
    machine_must(m, "gpump_sm_blocks", gpump_sm_blocks(s->gpump, m->now, residents, BLOCK_ENTRIES_MAX, &count), NULL);
    for (i = 0; i < count; i++) {
        const uint32_t index = residents[i].kernel - 1;
        if (index >= GPUMP_PARTITION_KERNELS || here[index]++ < native_blocks(m, index))
            residents[kept++] = residents[i];
    }
    return kept;
}

void corun_blocks_changed(machine *m, const sm *s, uint32_t index) {
    struct corun *c = corun_of(m);
    gpump_block_view residents[BLOCK_ENTRIES_MAX];
    uint32_t member, count;
    if (!c || (member = c->member_of[index]) == NONE) return;
    count = counted_residents(m, s, residents);
    machine_must(m, "gpump_sharing_report_residents",
                 gpump_sharing_report_residents(c->sharing, m->now, s->index, residents, count), NULL);
    if (gpump_next_cycle(&gpump_sharing_component, c->sharing) <= m->now) c->next = m->now;
    if (!(c->preempted >> member & 1u) || blocks_of(m, index)) return;
    c->preempted &= ~(1u << member); /* its last block has left */
    c->kernel_of[member] = NONE;
    c->member_of[index] = NONE;
    fill_places(m);
}

/* Extra blocks start once the group has decided, where the decision allows as many blocks as fit. */
static int extra_may_come(const machine *m, const sm *s, uint32_t index) {
    gpump_partition_share share;
    uint32_t kind;
    return gpump_sharing_share(corun_of(m)->sharing, corun_of(m)->member_of[index], &share, &kind) == GPUMP_OK &&
           s->index - share.first_sm < share.sms && share.blocks >= native_blocks(m, index);
}

int corun_may_place(const machine *m, const sm *s, uint32_t index, int own) {
    const struct corun *c = corun_of(m);
    /* While a place passes from one kernel to another, no kernel may take the room that is meant for the newcomer. */
    if (c->member_of[index] == NONE || c->preempted) return 0;
    if (own && c->coming_back[s->index]) return 1;
    if (s->kernel_resident[index] >= native_blocks(m, index)) return extra_may_come(m, s, index);
    return gpump_sharing_may_place(c->sharing, s->index, c->member_of[index]);
}

void corun_came_back(const machine *m, const sm *s) {
    if (corun_of(m)->coming_back[s->index]) corun_of(m)->coming_back[s->index]--;
}

/* ---- gates ---- */

/* The slots of `ready` whose kernels have quota left. */
static uint64_t with_quota(const machine *m, const sm *s, uint64_t ready) {
    uint64_t open = 0, rest;
    for (rest = ready; rest; rest &= rest - 1) {
        const uint32_t slot = gpump_bits_lowest64(rest);
        const uint32_t member = corun_member(m, m->blocks[m->warps[s->slot_warp[slot]].block].kernel);
        if (member == NONE || gpump_rate_may(corun_rate(s), member, GPUMP_RATE_ISSUE)) open |= UINT64_C(1) << slot;
    }
    return open;
}

/* Does a memory instruction go to L1? */
static int passes_l1(const issue_info *info) {
    const uint32_t space = info->instruction->space;
    return info->unit == UNIT_MEMORY && space != SPACE_PARAM && space != SPACE_CONST && space != SPACE_SHARED;
}

/* `open` without the slots whose memory instruction has to wait: for a kernel with too many of them in flight, or
 * because another kernel comes first (Dai et al.). */
static uint64_t in_order(const machine *m, const sm *s, uint64_t open) {
    uint64_t of[GPUMP_PARTITION_KERNELS] = {0}, rest;
    uint32_t waiting = 0, ordered = 0, member;
    for (rest = open & s->unit_slots[UNIT_MEMORY]; rest; rest &= rest - 1) {
        const uint32_t slot = gpump_bits_lowest64(rest);
        const warp *w = &m->warps[s->slot_warp[slot]];
        member = corun_member(m, m->blocks[w->block].kernel);
        if (member == NONE || !passes_l1(&w->program[simt_top(&w->stack)->pc])) continue;
        of[member] |= UINT64_C(1) << slot;
        waiting |= 1u << member;
    }
    for (member = 0; waiting >> member; member++) {
        if (!(waiting >> member & 1)) continue;
        if (!gpump_rate_may(corun_rate(s), member, GPUMP_RATE_MEMORY))
            open &= ~of[member];
        else
            ordered |= 1u << member;
    }
    if (!(ordered & (ordered - 1)) || !corun_of(m)->orders) return open;
    for (member = 0; ordered >> member; member++)
        if (ordered >> member & 1 && member != gpump_rate_memory_first(corun_rate(s), ordered)) open &= ~of[member];
    return open;
}

uint64_t corun_may_issue(machine *m, sm *s, uint64_t ready) {
    uint64_t open;
    machine_must(m, "gpump_rate_advance", gpump_rate_advance(corun_rate(s), s->now), NULL);
    open = with_quota(m, s, ready);
    if (!open && ready) { /* no kernel with quota left has a ready warp: the next epoch begins (SMK) */
        machine_must(m, "gpump_rate_report_starved", gpump_rate_report_starved(corun_rate(s), s->now), NULL);
        open = with_quota(m, s, ready);
    }
    return in_order(m, s, open);
}

int corun_may_issue_queued(machine *m, sm *s, const warp *w, const issue_info *info, uint32_t handle) {
    (void)handle;
    const uint32_t member = corun_member(m, m->blocks[w->block].kernel);
    machine_must(m, "gpump_rate_advance", gpump_rate_advance(corun_rate(s), s->now), NULL);
    return member == NONE || (gpump_rate_may(corun_rate(s), member, GPUMP_RATE_ISSUE) &&
                              (!passes_l1(info) || gpump_rate_may(corun_rate(s), member, GPUMP_RATE_MEMORY)));
}

void corun_issued(machine *m, sm *s, in_flight *record) {
    const uint32_t member = corun_member(m, m->blocks[record->block].kernel);
    uint8_t *limited = &sm_corun_of(s)->limited[record - s->records];
    if (member == NONE) return;
    gpump_rate_report_issued(corun_rate(s), member);
    if (*limited || !passes_l1(record->info)) return; /* a replay that has kept its record is still in flight */
    gpump_rate_report_memory_issued(corun_rate(s), member);
    *limited = (uint8_t)(member + 1);
}

void corun_accessed(machine *m, sm *s, const in_flight *record) {
    const uint32_t member = corun_member(m, m->blocks[record->block].kernel);
    if (member != NONE)
        gpump_rate_report_access(corun_rate(s), member,
                                 sm_corun_of(s)->access_since == NEVER ? 0 : s->now - sm_corun_of(s)->access_since);
    sm_corun_of(s)->access_since = NEVER;
}

int corun_may_send(const machine *m, const sm *s, uint32_t kernel) {
    const uint32_t member =
        kernel ? corun_member(m, kernel - 1) : NONE; /* 0: traffic of contexts, which no kernel owns */
    return member == NONE || gpump_rate_may(corun_rate(s), member, GPUMP_RATE_SEND);
}
void corun_sent(machine *m, sm *s, uint32_t kernel) {
    const uint32_t member = kernel ? corun_member(m, kernel - 1) : NONE;
    if (member != NONE) gpump_rate_report_sent(corun_rate(s), member, 1);
}
