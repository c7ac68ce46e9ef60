#include "sharing/sharing.h"

#include <string.h>

#define GPUMPI_SHARING_MAGIC UINT64_C(0x67706d7073686100) /* "gpmpsha" */
#define GPUMPI_SHARING_BLOCKS 64u
typedef char gpumpi_sharing_member_has_no_padding[sizeof(gpumpi_sharing_member) == sizeof(gpump_sharing_kernel) +
                                                                                       sizeof(gpump_partition_share) +
                                                                                       6 * 4 + sizeof(gpump_demand)
                                                      ? 1
                                                      : -1];

/* ---- configuration and memory ---- */

static gpump_result gpumpi_sharing_preset(void *filled, const char *preset) {
    gpump_sharing_config *config = (gpump_sharing_config *)filled;
    gpump_gpu gpu;
    gpump_result result = gpump_preset(&gpump_gpu_component, &gpu, preset, NULL);
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->members = 2;
    config->sms = gpu.sms;
    config->warm_cycles = 20000;
    config->sample_cycles = 10000;
    config->class_windows = 2;
    config->technique = GPUMP_TECHNIQUE_DRAIN;
    return GPUMP_OK;
}

static gpump_result gpumpi_sharing_check_keep(const gpump_sharing_config *config, gpump_diag *diag) {
    const gpump_technique *how = gpump_technique_at(config->technique);
    const uint32_t keeps = how ? how->keeps : 0;
    return config->keep & ~keeps ? gpumpi_bad_config(diag, "keep", 0, config->keep, 0, keeps) : GPUMP_OK;
}

static gpump_result gpumpi_sharing_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_sharing_config, members, 1, GPUMP_PARTITION_KERNELS),
        GPUMPI_LIMIT(gpump_sharing_config, sample_cycles, 1, UINT32_MAX),
        GPUMPI_LIMIT(gpump_sharing_config, class_windows, 1, UINT32_MAX),
        GPUMPI_LIMIT(gpump_sharing_config, in_turn, 0, 1),
        GPUMPI_LIMIT(gpump_sharing_config, unsampled, 0, 1),
    };
    const gpump_sharing_config *config = (const gpump_sharing_config *)checked;
    gpump_result result = GPUMPI_CHECK_LIMITS(config, limits, diag);
    if (!result) result = gpumpi_range(diag, "sms", config->sms, config->members, 65536);
    if (!result) result = gpumpi_technique_check(config->technique, diag);
    return result ? result : gpumpi_sharing_check_keep(config, diag);
}

static uint64_t gpumpi_sharing_bytes(const void *of) {
    const gpump_sharing_config *config = (const gpump_sharing_config *)of;
    return sizeof(gpump_sharing) + config->members * sizeof(gpumpi_sharing_member) +
           (size_t)config->sms * config->members * (sizeof(gpumpi_sharing_sample) + sizeof(gpumpi_sharing_cell));
}

static void gpumpi_sharing_set_up(void *object) {
    gpump_sharing *fresh = (gpump_sharing *)object;
    fresh->cursor = UINT32_MAX;
}

static GPUMPI_CALLED uint32_t gpumpi_sharing_count(const gpump_sharing *sharing) {
    uint32_t count = 0, i;
    for (i = 0; i < sharing->config.members; i++) count += gpumpi_sharing_member_of(sharing, i)->is_member;
    return count;
}
static uint32_t gpumpi_sharing_above(const gpump_sharing *sharing) {
    uint32_t sm, i, above = 0;
    for (sm = 0; sm < sharing->config.sms; sm++)
        for (i = 0; i < sharing->config.members; i++) {
            const gpumpi_sharing_cell *cell = gpumpi_sharing_cell_of(sharing, sm, i);
            above += cell->blocks > cell->cap;
        }
    return above;
}
/* Actions come SM by SM, member by member: CAP, RATE, VACATE. */
static uint32_t gpumpi_sharing_actions(const gpump_sharing *sharing) {
    return 3u * sharing->config.sms * sharing->config.members;
}

static gpump_result gpumpi_sharing_check(const void *object, gpump_diag *diag) {
    const gpump_sharing *sharing = (const gpump_sharing *)object;
    uint32_t i, sm, members = 0;
    if (sharing->since > sharing->now || sharing->now == GPUMP_UNKNOWN)
        return gpumpi_bad_bytes(diag, "now", 0, sharing->now, sharing->since, GPUMP_UNKNOWN - 1);
    if (sharing->sampled > 1) return gpumpi_bad_bytes(diag, "sampled", 0, sharing->sampled, 0, 1);
    for (i = 0; i < sharing->config.members; i++) {
        const gpumpi_sharing_member *m = gpumpi_sharing_member_of(sharing, i);
        if (m->is_member > 1) return gpumpi_bad_bytes(diag, "is_member", i, m->is_member, 0, 1);
        members += m->is_member;
        if (m->is_member && (!m->kernel.blocks || m->kernel.blocks > GPUMPI_SHARING_BLOCKS || !m->kernel.priority ||
                             m->kind >= GPUMP_PARTITION_CLASSES))
            return gpumpi_bad_bytes(diag, "kernel", i, m->kernel.blocks, 1, GPUMPI_SHARING_BLOCKS);
    }
    if (sharing->state >= GPUMP_SHARING_STATES || (sharing->state == GPUMP_SHARING_EMPTY) != !members)
        return gpumpi_bad_bytes(diag, "state", 0, sharing->state, 0, GPUMP_SHARING_STATES - 1);
    if (sharing->state != GPUMP_SHARING_MOVE && sharing->state != GPUMP_SHARING_EMPTY && !sharing->trial &&
        sharing->sampled != (sharing->state == GPUMP_SHARING_RUN))
        return gpumpi_bad_bytes(diag, "sampled", 0, sharing->sampled, 0, 1);
    if (sharing->trial && !sharing->sampled) return gpumpi_bad_bytes(diag, "trial", 0, sharing->trial, 0, 0);
    if (sharing->turn && sharing->turn >= members) return gpumpi_bad_bytes(diag, "turn", 0, sharing->turn, 0, members);
    for (sm = 0; sm < sharing->config.sms; sm++)
        for (i = 0; i < sharing->config.members; i++)
            if (gpumpi_sharing_cell_of(sharing, sm, i)->cap > GPUMPI_SHARING_BLOCKS)
                return gpumpi_bad_bytes(diag, "cap", sm, gpumpi_sharing_cell_of(sharing, sm, i)->cap, 0,
                                        GPUMPI_SHARING_BLOCKS);
    if (sharing->above != gpumpi_sharing_above(sharing))
        return gpumpi_bad_bytes(diag, "above", 0, sharing->above, gpumpi_sharing_above(sharing),
                                gpumpi_sharing_above(sharing));
    return GPUMP_OK;
}

static uint64_t gpumpi_sharing_hash(const void *object) {
    const gpump_sharing *sharing = (const gpump_sharing *)object;
    uint64_t hash = gpumpi_hash_u64s(GPUMP_HASH_SEED, &sharing->now, 5);
    hash = gpumpi_hash_u32s(hash, &sharing->config.members, sizeof sharing->config / 4 + 7);
    return gpumpi_hash_u32s(hash, (const uint32_t *)(const void *)(sharing + 1),
                            (size_t)(sharing->head.bytes - sizeof *sharing) / 4);
}

static uint64_t gpumpi_sharing_bits(const void *of) {
    const gpump_sharing_config *config = (const gpump_sharing_config *)of;
    return (uint64_t)config->sms * (config->members * 12u + (config->in_turn ? config->members : 1u) * 48u) +
           (uint64_t)config->members * (2 + 6 * 16);
}

/* ---- caps ---- */

static void gpumpi_sharing_set_cap(gpump_sharing *sharing, uint32_t sm, uint32_t member, uint32_t cap) {
    gpumpi_sharing_cell *cell = gpumpi_sharing_cells(sharing, sm) + member;
    sharing->above -= cell->blocks > cell->cap;
    cell->cap = cap;
    sharing->above += cell->blocks > cell->cap;
}

/* The nth member, counted from 0. */
static uint32_t gpumpi_sharing_nth(const gpump_sharing *sharing, uint32_t n) {
    uint32_t i;
    for (i = 0; i < sharing->config.members; i++)
        if (gpumpi_sharing_member_of(sharing, i)->is_member && n-- == 0) break;
    return i;
}

/* The member that an SM measures. */
static uint32_t gpumpi_sharing_measured(const gpump_sharing *sharing, uint32_t sm) {
    return gpumpi_sharing_nth(sharing, sharing->config.in_turn ? sharing->turn : sm % gpumpi_sharing_count(sharing));
}

/* How many blocks of that member are on the SM meanwhile: the SMs of a member have 1, 2, ... of its blocks, or, when it
 * has more blocks than SMs, equal steps up to all of them. */
static uint32_t gpumpi_sharing_level(const gpump_sharing *sharing, uint32_t sm, uint32_t member) {
    const uint32_t groups = sharing->config.in_turn ? 1 : gpumpi_sharing_count(sharing);
    const uint32_t blocks = gpumpi_sharing_member_of(sharing, member)->kernel.blocks;
    const uint32_t levels = (sharing->config.sms - sm % groups + groups - 1) / groups, level = sm / groups + 1;
    if (levels >= blocks) return (level - 1) % blocks + 1;
    return (level * blocks + levels - 1) / levels;
}

static void gpumpi_sharing_enter(gpump_sharing *sharing, uint32_t state) {
    sharing->state = state;
    sharing->since = sharing->now;
    sharing->cursor = state == GPUMP_SHARING_MOVE || state == GPUMP_SHARING_SAMPLE ? 0 : UINT32_MAX;
}

/* Caps of a member alone: all its blocks everywhere; of several: what is measured next. */
static void gpumpi_sharing_set_caps(gpump_sharing *sharing) {
    const uint32_t count = gpumpi_sharing_count(sharing);
    uint32_t sm, i;
    for (sm = 0; sm < sharing->config.sms; sm++) {
        const uint32_t measured = count ? gpumpi_sharing_measured(sharing, sm) : sharing->config.members;
        for (i = 0; i < sharing->config.members; i++) {
            uint32_t cap = 0;
            if (i == measured)
                cap = count == 1 ? gpumpi_sharing_member_of(sharing, i)->kernel.blocks
                                 : gpumpi_sharing_level(sharing, sm, i);
            gpumpi_sharing_set_cap(sharing, sm, i, cap);
        }
    }
}

/* Begins anew: a member alone gets all SMs; several are measured first. */
static void gpumpi_sharing_restart(gpump_sharing *sharing) {
    const uint32_t count = gpumpi_sharing_count(sharing);
    uint32_t i;
    sharing->sampled = count == 1;
    sharing->trial = sharing->best = 0;
    sharing->best_q16 = UINT64_MAX;
    for (i = 0; i < sharing->config.members; i++) {
        gpumpi_sharing_member *m = gpumpi_sharing_members(sharing) + i;
        m->other_windows = 0;
        memset(&m->share, 0, sizeof m->share);
        memset(&m->demand, 0, sizeof m->demand);
        m->alone_q16 = m->tried_q16 = 0;
        m->share.limits = gpump_rate_limits_none();
        if (!m->is_member) continue;
        m->share.sms = sharing->config.sms;
        m->share.blocks = count == 1 ? m->kernel.blocks : 0;
    }
    sharing->turn = 0;
    memset(gpumpi_sharing_samples(sharing), 0,
           (size_t)sharing->config.sms * sharing->config.members * sizeof(gpumpi_sharing_sample));
    gpumpi_sharing_set_caps(sharing);
    gpumpi_sharing_enter(sharing, count ? GPUMP_SHARING_MOVE : GPUMP_SHARING_EMPTY);
    if (!count) sharing->cursor = 0; /* caps of 0 are still to be handed over */
    if (count > 1 && sharing->config.unsampled) gpumpi_sharing_enter(sharing, GPUMP_SHARING_REPORT);
}

/* ---- facts ---- */

/* A kernel that has left keeps its place until its last block is gone. */
static int gpumpi_sharing_has_blocks(const gpump_sharing *sharing, uint32_t member) {
    uint32_t sm;
    for (sm = 0; sm < sharing->config.sms; sm++)
        if (gpumpi_sharing_cell_of(sharing, sm, member)->blocks) return 1;
    return 0;
}

static gpump_result gpumpi_sharing_time(gpump_sharing *sharing, uint64_t now) {
    if (!sharing) return GPUMP_ERROR_ARGUMENT;
    if (now < sharing->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    return GPUMP_OK;
}

static gpump_result gpumpi_sharing_fail_time(const gpump_sharing *sharing, uint64_t now, gpump_diag *diag) {
    if (!sharing) return gpumpi_null(diag, "sharing");
    return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, sharing->now, GPUMP_UNKNOWN - 1);
}

GPUMP_API gpump_result gpump_sharing_join(gpump_sharing *sharing, uint64_t now, const gpump_sharing_kernel *kernel,
                                          uint32_t *member, gpump_diag *diag) {
    uint32_t i;
    gpump_result result = gpumpi_sharing_time(sharing, now);
    if (result) return gpumpi_sharing_fail_time(sharing, now, diag);
    if (!kernel || !member) return gpumpi_null(diag, kernel ? "member" : "kernel");
    if (!kernel->blocks || kernel->blocks > GPUMPI_SHARING_BLOCKS)
        return gpumpi_bad_argument(diag, "blocks", 0, kernel->blocks, 1, GPUMPI_SHARING_BLOCKS);
    if (!kernel->priority) return gpumpi_bad_argument(diag, "priority", 0, 0, 1, UINT32_MAX);
    for (i = 0; i < sharing->config.members; i++)
        if (!gpumpi_sharing_member_of(sharing, i)->is_member && !gpumpi_sharing_has_blocks(sharing, i)) break;
    if (i == sharing->config.members)
        return gpumpi_fail(diag, GPUMP_ERROR_FULL, "members", 0, i, 0, sharing->config.members - 1);
    sharing->now = now;
    memset(gpumpi_sharing_members(sharing) + i, 0, sizeof(gpumpi_sharing_member));
    gpumpi_sharing_members(sharing)[i].kernel = *kernel;
    gpumpi_sharing_members(sharing)[i].is_member = 1;
    gpumpi_sharing_restart(sharing);
    *member = i;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sharing_leave(gpump_sharing *sharing, uint64_t now, uint32_t member) {
    gpump_result result = gpumpi_sharing_time(sharing, now);
    if (result) return result;
    if (member >= sharing->config.members) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_sharing_member_of(sharing, member)->is_member) return GPUMP_ERROR_STATE;
    sharing->now = now;
    gpumpi_sharing_members(sharing)[member].is_member = 0;
    gpumpi_sharing_restart(sharing);
    return GPUMP_OK;
}

/* How many of an SM's residents count for a member. A kernel may have joined anew while blocks are left from when it
 * was a member before: all of them count for the member that it is now. */
static uint32_t gpumpi_sharing_residents(const gpump_sharing *sharing, uint32_t member, const gpump_block_view *blocks,
                                         uint32_t count) {
    const gpumpi_sharing_member *m = gpumpi_sharing_member_of(sharing, member);
    uint32_t here = 0;
    for (uint32_t i = 0; !m->is_member && i < sharing->config.members; i++)
        if (gpumpi_sharing_member_of(sharing, i)->is_member &&
            gpumpi_sharing_member_of(sharing, i)->kernel.kernel == m->kernel.kernel)
            return 0;
    for (uint32_t i = 0; i < count; i++) here += blocks[i].kernel == m->kernel.kernel && blocks[i].threads != 0;
    return here;
}

GPUMP_API gpump_result gpump_sharing_report_residents(gpump_sharing *sharing, uint64_t now, uint32_t sm,
                                                      const gpump_block_view *blocks, uint32_t count) {
    gpump_result result = gpumpi_sharing_time(sharing, now);
    if (result) return result;
    if (sm >= sharing->config.sms || (count && !blocks)) return GPUMP_ERROR_ARGUMENT;
    sharing->now = now;
    for (uint32_t i = 0; i < sharing->config.members; i++) {
        gpumpi_sharing_cell *cell = gpumpi_sharing_cells(sharing, sm) + i;
        sharing->above -= cell->blocks > cell->cap;
        cell->blocks = gpumpi_sharing_residents(sharing, i, blocks, count);
        sharing->above += cell->blocks > cell->cap;
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sharing_report_sample(gpump_sharing *sharing, uint64_t now, uint32_t sm,
                                                   const gpump_partition_config *machine, const gpump_traffic *traffic,
                                                   gpump_diag *diag) {
    gpumpi_sharing_member *member;
    gpumpi_sharing_sample *sample;
    gpump_demand demand;
    gpump_result result = gpumpi_sharing_time(sharing, now);
    if (result) return gpumpi_sharing_fail_time(sharing, now, diag);
    if (sm >= sharing->config.sms) return gpumpi_bad_argument(diag, "sm", 0, sm, 0, sharing->config.sms - 1);
    if (sharing->state != GPUMP_SHARING_REPORT)
        return gpumpi_fail(diag, GPUMP_ERROR_STATE,
                           "the group needs no sample: report samples when gpump_sharing_state says REPORT", 0,
                           sharing->state, GPUMP_SHARING_REPORT, GPUMP_SHARING_REPORT);
    if (sharing->trial)
        return gpumpi_fail(diag, GPUMP_ERROR_STATE,
                           "the group tries a candidate: report the window with gpump_sharing_report_window", 0,
                           sharing->trial, 0, 0);
    result = gpump_partition_demand(machine, traffic, 1, &demand, diag);
    if (result < 0) return result;
    sharing->now = now;
    sample =
        gpumpi_sharing_samples(sharing) + (size_t)sm * sharing->config.members + gpump_sharing_sampled(sharing, sm);
    sample->point.network_q16 = demand.network_q16;
    sample->point.dram_q16 = demand.dram_q16;
    sample->point.speed_q16 = demand.speed_q16;
    sample->reported = 1;
    /* The fastest sample says what a miss moves: it is nearest to the kernel alone. */
    member = gpumpi_sharing_members(sharing) + gpump_sharing_sampled(sharing, sm);
    if (demand.speed_q16 >= member->demand.speed_q16) member->demand = demand;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sharing_report_window(gpump_sharing *sharing, uint64_t now, uint32_t member,
                                                   const gpump_partition_config *machine, const gpump_traffic *traffic,
                                                   gpump_diag *diag) {
    gpumpi_sharing_member *m;
    gpump_demand demand;
    uint32_t changes;
    gpump_result result = gpumpi_sharing_time(sharing, now);
    if (result) return gpumpi_sharing_fail_time(sharing, now, diag);
    if (member >= sharing->config.members)
        return gpumpi_bad_argument(diag, "member", 0, member, 0, sharing->config.members - 1);
    m = gpumpi_sharing_members(sharing) + member;
    if (!m->is_member || gpumpi_sharing_count(sharing) == 1) return GPUMP_OK;
    if (sharing->state != GPUMP_SHARING_RUN && !(sharing->state == GPUMP_SHARING_REPORT && sharing->trial))
        return GPUMP_OK;
    result = gpump_partition_demand(machine, traffic, machine ? machine->gpu.sms : 1, &demand, diag);
    if (result) return result > 0 ? GPUMP_OK : result;
    sharing->now = now;
    if (sharing->trial) m->tried_q16 = demand.speed_q16 < UINT32_MAX ? demand.speed_q16 + 1 : UINT32_MAX;
    if (sharing->trial) return GPUMP_OK;
    if (m->kind == GPUMP_PARTITION_LATENCY) {
        changes = gpump_partition_classify(machine, &demand, m->kind) != m->kind;
    } else {
        const uint32_t share = m->kind == GPUMP_PARTITION_NETWORK ? m->share.network_q16 : m->share.dram_q16;
        const uint32_t used = m->kind == GPUMP_PARTITION_NETWORK ? demand.network_q16 : demand.dram_q16;
        changes = (uint64_t)used * 100 < (uint64_t)share * (machine->threshold_percent - machine->margin_percent);
    }
    m->other_windows = changes ? m->other_windows + 1 : 0;
    if (m->other_windows >= sharing->config.class_windows) gpumpi_sharing_restart(sharing);
    return GPUMP_OK;
}

/* ---- questions ---- */

GPUMP_API uint32_t gpump_sharing_pick(const gpump_sharing *sharing, uint32_t sm) {
    uint32_t best = sharing->config.members, room = 0, i;
    for (i = 0; i < sharing->config.members; i++) {
        const gpumpi_sharing_cell *cell = gpumpi_sharing_cell_of(sharing, sm, i);
        if (cell->blocks < cell->cap && cell->cap - cell->blocks > room) room = cell->cap - cell->blocks, best = i;
    }
    return best;
}

GPUMP_API uint32_t gpump_sharing_sampled(const gpump_sharing *sharing, uint32_t sm) {
    if (sharing->sampled || !gpumpi_sharing_count(sharing)) return sharing->config.members;
    return gpumpi_sharing_measured(sharing, sm);
}

GPUMP_API uint32_t gpump_sharing_trial(const gpump_sharing *sharing) { return sharing->trial; }

GPUMP_API uint32_t gpump_sharing_state_now(const gpump_sharing *sharing) { return sharing->state; }

GPUMP_API gpump_result gpump_sharing_share(const gpump_sharing *sharing, uint32_t member, gpump_partition_share *share,
                                           uint32_t *kind) {
    if (!sharing || !share || !kind || member >= sharing->config.members) return GPUMP_ERROR_ARGUMENT;
    if (!sharing->sampled || sharing->trial || !gpumpi_sharing_member_of(sharing, member)->is_member)
        return GPUMP_EMPTY;
    *share = gpumpi_sharing_member_of(sharing, member)->share;
    *kind = gpumpi_sharing_member_of(sharing, member)->kind;
    return GPUMP_OK;
}

/* ---- the decision ---- */

/* A number between two measured ones, in proportion to the blocks. */
static uint32_t gpumpi_sharing_between(uint32_t low, uint32_t high, uint32_t part, uint32_t whole) {
    return (uint32_t)(((uint64_t)low * (whole - part) + (uint64_t)high * part) / whole);
}

/* The curve of a member from the SMs that measured it: points measured twice are averaged, points between two measured
 * ones lie on the line between them, and no block means nothing asked. */
static void gpumpi_sharing_curve(const gpump_sharing *sharing, uint32_t member, gpump_partition_point *curve) {
    const uint32_t blocks = gpumpi_sharing_member_of(sharing, member)->kernel.blocks;
    uint32_t times[GPUMPI_SHARING_BLOCKS + 1] = {0}, sm, c, low = 0;
    gpump_partition_point before = {0, 0, 0};
    memset(curve, 0, blocks * sizeof *curve);
    for (sm = 0; sm < sharing->config.sms; sm++) {
        const gpumpi_sharing_sample *sample = gpumpi_sharing_sample_of(sharing, sm, member);
        gpump_partition_point *point;
        uint32_t n;
        if (!sample->reported) continue;
        c = gpumpi_sharing_level(sharing, sm, member);
        n = times[c]++;
        point = &curve[c - 1];
        point->network_q16 = gpumpi_sharing_between(point->network_q16, sample->point.network_q16, 1, n + 1);
        point->dram_q16 = gpumpi_sharing_between(point->dram_q16, sample->point.dram_q16, 1, n + 1);
        point->speed_q16 = gpumpi_sharing_between(point->speed_q16, sample->point.speed_q16, 1, n + 1);
    }
    for (c = 1; c <= blocks; c++) {
        uint32_t between;
        if (!times[c]) continue;
        for (between = low + 1; between < c; between++) {
            gpump_partition_point *point = &curve[between - 1];
            point->network_q16 =
                gpumpi_sharing_between(before.network_q16, curve[c - 1].network_q16, between - low, c - low);
            point->dram_q16 = gpumpi_sharing_between(before.dram_q16, curve[c - 1].dram_q16, between - low, c - low);
            point->speed_q16 = gpumpi_sharing_between(before.speed_q16, curve[c - 1].speed_q16, between - low, c - low);
        }
        before = curve[c - 1];
        low = c;
    }
}

/* The policy's answer number `candidate` becomes the shares and caps. */
static gpump_result gpumpi_sharing_ask(gpump_sharing *sharing, const gpump_partition_policy *policy, uint32_t candidate,
                                       const gpump_partition_config *machine, gpump_diag *diag) {
    gpump_partition_point curves[GPUMP_PARTITION_KERNELS][GPUMPI_SHARING_BLOCKS];
    gpump_partition_kernel kernels[GPUMP_PARTITION_KERNELS];
    gpump_partition_share shares[GPUMP_PARTITION_KERNELS];
    gpump_partition_request request;
    uint32_t k, sm, count = gpumpi_sharing_count(sharing);
    gpump_result result;
    if (!machine) return gpumpi_null(diag, "machine");
    memset(kernels, 0, sizeof kernels);
    for (k = 0; k < count; k++) {
        const uint32_t i = gpumpi_sharing_nth(sharing, k);
        const gpumpi_sharing_member *m = gpumpi_sharing_member_of(sharing, i);
        gpump_demand full = m->demand;
        gpumpi_sharing_curve(sharing, i, curves[k]);
        full.network_q16 = curves[k][m->kernel.blocks - 1].network_q16;
        full.dram_q16 = curves[k][m->kernel.blocks - 1].dram_q16;
        kernels[k].need = m->kernel.need;
        kernels[k].kind = gpump_partition_classify(machine, &full, GPUMP_PARTITION_CLASSES);
        kernels[k].blocks = m->kernel.blocks;
        kernels[k].priority = m->kernel.priority;
        kernels[k].part = m->kernel.part;
        kernels[k].curve = curves[k];
        kernels[k].demand = sharing->config.unsampled ? NULL : &m->demand;
        for (sm = 0; sm < m->kernel.blocks && sharing->config.unsampled; sm++)
            curves[k][sm].speed_q16 = UINT32_C(0x10000) * (sm + 1) / m->kernel.blocks;
    }
    memset(&request, 0, sizeof request);
    request.count = count;
    request.candidate = candidate;
    request.config = machine;
    request.kernels = kernels;
    result = gpump_partition_decide(policy, &request, shares, diag);
    if (result) return result;
    for (k = 0; k < count; k++) {
        const uint32_t i = gpumpi_sharing_nth(sharing, k);
        gpumpi_sharing_members(sharing)[i].share = shares[k];
        gpumpi_sharing_members(sharing)[i].kind = kernels[k].kind;
        for (sm = 0; sm < sharing->config.sms; sm++)
            gpumpi_sharing_set_cap(sharing, sm, i, sm - shares[k].first_sm < shares[k].sms ? shares[k].blocks : 0);
    }
    return GPUMP_OK;
}

/* A member alone, all its blocks on all SMs: its speed there is what its speeds in trials are compared with. */
static void gpumpi_sharing_let_alone(gpump_sharing *sharing, uint32_t member) {
    uint32_t sm, i;
    for (i = 0; i < sharing->config.members; i++) {
        gpumpi_sharing_member *m = gpumpi_sharing_members(sharing) + i;
        m->share.limits = gpump_rate_limits_none();
        for (sm = 0; sm < sharing->config.sms; sm++)
            gpumpi_sharing_set_cap(sharing, sm, i, i == member ? m->kernel.blocks : 0);
    }
}

/* The sum of the members' slowdowns in this trial. */
static uint64_t gpumpi_sharing_slowdowns(const gpump_sharing *sharing) {
    const uint32_t count = gpumpi_sharing_count(sharing);
    uint64_t sum = 0;
    uint32_t k;
    for (k = 0; k < count; k++) {
        const gpumpi_sharing_member *m = gpumpi_sharing_member_of(sharing, gpumpi_sharing_nth(sharing, k));
        sum = gpump_add_saturated(sum, gpump_muldiv_up(m->alone_q16, UINT64_C(0x10000), m->tried_q16));
    }
    return sum;
}

/* A trial is over: the speed of the member that ran alone is kept, and no member has reported in the next one. */
static void gpumpi_sharing_end_trial(gpump_sharing *sharing) {
    uint32_t k;
    for (k = 0; k < gpumpi_sharing_count(sharing); k++) {
        gpumpi_sharing_member *m = gpumpi_sharing_members(sharing) + gpumpi_sharing_nth(sharing, k);
        if (sharing->trial == k + 1) m->alone_q16 = m->tried_q16;
        m->tried_q16 = 0;
    }
}

/* The samples are whole, or a trial is over: to the next trial, or to the decision. */
static gpump_result gpumpi_sharing_decide(gpump_sharing *sharing, const gpump_partition_policy *policy,
                                          const gpump_partition_config *machine, gpump_diag *diag) {
    const uint32_t count = gpumpi_sharing_count(sharing);
    const uint32_t candidates = policy && !sharing->config.unsampled ? policy->candidates : 0;
    const uint64_t sum = sharing->trial > count ? gpumpi_sharing_slowdowns(sharing) : UINT64_MAX;
    const uint32_t best = sum < sharing->best_q16 ? sharing->trial - count - 1 : sharing->best;
    gpump_result result = GPUMP_OK;
    uint32_t next = candidates > 1 ? sharing->trial + 1 : 0;
    if (next > count + candidates) next = 0;
    if (next && next <= count)
        gpumpi_sharing_let_alone(sharing, gpumpi_sharing_nth(sharing, next - 1));
    else
        result = gpumpi_sharing_ask(sharing, policy, next ? next - count - 1 : best, machine, diag);
    if (result) return result;
    if (sharing->trial) gpumpi_sharing_end_trial(sharing);
    if (sum < sharing->best_q16) sharing->best_q16 = sum;
    sharing->best = best;
    sharing->trial = next;
    sharing->sampled = 1;
    sharing->decisions += !next;
    gpumpi_sharing_enter(sharing, GPUMP_SHARING_MOVE);
    return GPUMP_OK;
}

/* ---- actions and time ---- */

static int gpumpi_sharing_reported(const gpump_sharing *sharing) {
    uint32_t sm, i;
    if (sharing->config.unsampled) return 1;
    for (i = 0; i < sharing->config.members && sharing->trial; i++)
        if (gpumpi_sharing_member_of(sharing, i)->is_member && !gpumpi_sharing_member_of(sharing, i)->tried_q16)
            return 0;
    for (sm = 0; sm < sharing->config.sms && !sharing->trial; sm++)
        if (!gpumpi_sharing_sample_of(sharing, sm, gpumpi_sharing_measured(sharing, sm))->reported) return 0;
    return 1;
}

GPUMP_API gpump_result gpump_sharing_advance(gpump_sharing *sharing, uint64_t now, const gpump_partition_policy *policy,
                                             const gpump_partition_config *machine, gpump_diag *diag) {
    gpump_result result = gpumpi_sharing_time(sharing, now);
    if (result) return gpumpi_sharing_fail_time(sharing, now, diag);
    if (machine && machine->gpu.sms != sharing->config.sms)
        return gpumpi_bad_argument(diag, "machine", 0, machine->gpu.sms, sharing->config.sms, sharing->config.sms);
    if (sharing->state == GPUMP_SHARING_REPORT && gpumpi_sharing_reported(sharing)) {
        if (sharing->config.in_turn && !sharing->trial && !sharing->config.unsampled &&
            sharing->turn + 1 < gpumpi_sharing_count(sharing)) {
            sharing->turn++;
            gpumpi_sharing_set_caps(sharing);
            gpumpi_sharing_enter(sharing, GPUMP_SHARING_MOVE);
        } else {
            result = gpumpi_sharing_decide(sharing, policy, machine, diag);
            if (result) return result;
        }
    }
    sharing->now = now;
    if (sharing->state == GPUMP_SHARING_MOVE && !sharing->above && sharing->cursor == UINT32_MAX) {
        sharing->move_cycles += now - sharing->since;
        gpumpi_sharing_enter(sharing, sharing->sampled && !sharing->trial ? GPUMP_SHARING_RUN : GPUMP_SHARING_WARM);
    }
    if (sharing->state == GPUMP_SHARING_WARM && now - sharing->since >= sharing->config.warm_cycles)
        gpumpi_sharing_enter(sharing, GPUMP_SHARING_SAMPLE);
    if (sharing->state == GPUMP_SHARING_SAMPLE && now - sharing->since >= sharing->config.sample_cycles)
        gpumpi_sharing_enter(sharing, GPUMP_SHARING_REPORT);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sharing_next(gpump_sharing *sharing, gpump_sharing_action *action) {
    if (!sharing || !action) return GPUMP_ERROR_ARGUMENT;
    if (sharing->state == GPUMP_SHARING_SAMPLE && sharing->cursor == 0) {
        sharing->cursor = UINT32_MAX;
        memset(action, 0, sizeof *action);
        action->kind = GPUMP_SHARING_MEASURE;
        return GPUMP_OK;
    }
    while (sharing->cursor < gpumpi_sharing_actions(sharing)) {
        const uint32_t step = sharing->cursor % 3, pair = sharing->cursor / 3;
        const uint32_t sm = pair / sharing->config.members, member = pair % sharing->config.members;
        const gpumpi_sharing_cell *cell = gpumpi_sharing_cell_of(sharing, sm, member);
        const gpumpi_sharing_member *m = gpumpi_sharing_member_of(sharing, member);
        sharing->cursor++;
        if (step == 2 && cell->blocks <= cell->cap) continue;
        action->kind = step;
        action->sm = sm;
        action->member = member;
        action->kernel = m->kernel.kernel;
        action->blocks = step == GPUMP_SHARING_CAP      ? cell->cap
                         : step == GPUMP_SHARING_VACATE ? cell->blocks - cell->cap
                                                        : 0;
        action->technique = step == GPUMP_SHARING_VACATE ? sharing->config.technique : 0;
        action->keep = step == GPUMP_SHARING_VACATE ? sharing->config.keep : 0;
        action->limits = m->share.limits;
        return GPUMP_OK;
    }
    sharing->cursor = UINT32_MAX;
    return GPUMP_EMPTY;
}

static uint64_t gpumpi_sharing_next_cycle(const void *of) {
    const gpump_sharing *sharing = (const gpump_sharing *)of;
    switch (sharing->state) {
    case GPUMP_SHARING_MOVE: return !sharing->above && sharing->cursor == UINT32_MAX ? sharing->now : GPUMP_UNKNOWN;
    case GPUMP_SHARING_WARM: return gpump_add_saturated(sharing->since, sharing->config.warm_cycles);
    case GPUMP_SHARING_SAMPLE: return gpump_add_saturated(sharing->since, sharing->config.sample_cycles);
    case GPUMP_SHARING_REPORT: return gpumpi_sharing_reported(sharing) ? sharing->now : GPUMP_UNKNOWN;
    default: return GPUMP_UNKNOWN;
    }
}

/* clang-format off */
static const gpumpi_methods gpumpi_sharing_hooks = {
    "sharing", "sharing", GPUMPI_SHARING_MAGIC,
    GPUMP_LAYOUT_SHARING, sizeof(gpump_sharing_config), offsetof(gpump_sharing, config), 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_sharing_preset, gpumpi_sharing_check_config, gpumpi_sharing_bytes, gpumpi_sharing_bits, NULL,
    /* set_up, unfit, check, hash */
    gpumpi_sharing_set_up, NULL, gpumpi_sharing_check, gpumpi_sharing_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, gpumpi_sharing_next_cycle, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_sharing_methods(void) { return &gpumpi_sharing_hooks; }
