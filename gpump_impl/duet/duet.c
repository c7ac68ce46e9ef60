#include "duet/duet.h"

#include <string.h>

#define GPUMPI_DUET_MAGIC UINT64_C(0x67706d7064756574) /* "gpmpduet" */
enum { GPUMPI_DUET_LEAVE = 0, GPUMPI_DUET_COME = 1 };
typedef char gpumpi_duet_has_no_padding
    [sizeof(gpump_duet) == sizeof(gpumpi_head) + 8 * (3 + 14 * GPUMPI_DUET_WORDS + 1) + sizeof(gpump_duet_statistics) +
                               sizeof(gpump_duet_config) + sizeof(gpump_duet_plan) +
                               4 * (17 + 3 * GPUMP_DUET_WARPS + 3 * GPUMP_DUET_BLOCKS) + 2 * sizeof(gpumpi_duet_queue)
         ? 1
         : -1];

/* ---- making ---- */

static uint64_t gpumpi_duet_bytes(const void *config) {
    (void)config;
    return sizeof(gpump_duet);
}

static void gpumpi_duet_set_up(void *object) {
    gpump_duet *fresh = (gpump_duet *)object;
    fresh->job = fresh->whole = GPUMP_NONE;
    fresh->job_end_cycle = fresh->decision_cycle = GPUMP_UNKNOWN;
}

static uint64_t gpumpi_duet_hash(const void *object) {
    const gpump_duet *duet = (const gpump_duet *)object;
    const size_t words = 3 + 14 * GPUMPI_DUET_WORDS + 1 + sizeof duet->statistics / 8;
    const size_t halves = (sizeof *duet - sizeof duet->head - words * 8) / 4;
    return gpumpi_hash_u32s(gpumpi_hash_u64s(GPUMP_HASH_SEED, &duet->now, words), &duet->config.mode, halves);
}

/* ---- units: warps, or blocks ---- */

static int gpumpi_duet_of_blocks(const gpump_duet *d) { return d->plan.unit == GPUMP_DUET_BLOCK; }
static uint32_t gpumpi_duet_unit_of(const gpump_duet *d, uint32_t warp) {
    return gpumpi_duet_of_blocks(d) ? d->block_of[warp] : warp;
}
static uint32_t gpumpi_duet_units(const gpump_duet *d) {
    return gpumpi_duet_of_blocks(d) ? d->config.blocks : d->config.warps;
}
/* Units in frames at most. */
static uint32_t gpumpi_duet_absent_most(const gpump_duet *d) {
    return gpumpi_duet_of_blocks(d) ? d->extra : d->extra * d->plan.block_warps;
}
static uint32_t gpumpi_duet_bound(const gpump_duet *d) {
    return d->l1_is_store ? d->plan.extra_blocks_l1 : d->plan.extra_blocks;
}
static int gpumpi_duet_any(const uint64_t set[GPUMPI_DUET_WORDS]) {
    uint32_t i;
    uint64_t any = 0;
    for (i = 0; i < GPUMPI_DUET_WORDS; i++) any |= set[i];
    return any != 0;
}
static uint32_t gpumpi_duet_lowest(const uint64_t set[GPUMPI_DUET_WORDS]) {
    uint32_t i = 0;
    while (!set[i]) i++;
    return 64 * i + gpump_bits_lowest64(set[i]);
}
static void gpumpi_duet_put(uint64_t *set, uint32_t bit, int value) {
    if (value)
        gpump_bits_set(set, bit);
    else
        gpump_bits_clear(set, bit);
}

/* ---- queues ---- */

static uint32_t gpumpi_duet_queue_room(const gpump_duet *d) {
    return gpumpi_duet_of_blocks(d) ? d->config.block_queue : d->config.warp_queue;
}
static void gpumpi_duet_enqueue(gpump_duet *d, uint32_t which, uint32_t unit) {
    gpumpi_duet_queue *q = &d->queues[which];
    if (q->count == gpumpi_duet_queue_room(d)) {
        d->statistics.queue_overflows++; /* a look at the table finds it */
        return;
    }
    q->item[(q->first + q->count++) % 256] = unit;
}
/* Returns who has waited longest, as far as the queue knows, else the next one of the table; GPUMP_NONE. Entries that
 * are out of date are dropped. */
static uint32_t gpumpi_duet_pick(gpump_duet *d, uint32_t which) {
    const uint64_t *set = which == GPUMPI_DUET_LEAVE ? d->may_leave : d->may_come;
    gpumpi_duet_queue *q = &d->queues[which];
    const uint32_t units = gpumpi_duet_units(d);
    uint32_t i;
    if (!gpumpi_duet_any(set)) return GPUMP_NONE;
    for (; q->count; q->first = (q->first + 1) % 256, q->count--)
        if (gpump_bits_get(set, q->item[q->first])) return q->item[q->first];
    for (i = 1; i <= units; i++) {
        uint32_t unit = d->last[which] + i < units ? d->last[which] + i : d->last[which] + i - units;
        if (gpump_bits_get(set, unit)) return unit;
    }
    return GPUMP_NONE;
}

/* The unit that was picked moves. */
static void gpumpi_duet_taken(gpump_duet *d, uint32_t which, uint32_t unit) {
    gpumpi_duet_queue *q = &d->queues[which];
    if (unit == GPUMP_NONE) return;
    d->last[which] = unit;
    if (!q->count || q->item[q->first] != unit) return;
    q->first = (q->first + 1) % 256;
    q->count--;
}

/* ---- what follows from the state of a unit ---- */

/* 1: the unit belongs to the block that stays whole. */
static int gpumpi_duet_is_whole(const gpump_duet *d, uint32_t unit) {
    return d->whole != GPUMP_NONE && unit / d->plan.block_warps == d->whole;
}
/* May a unit that stalls, some of it at a barrier or not, leave its home? */
static int gpumpi_duet_may_go(const gpump_duet *d, uint32_t unit, int at_barrier) {
    if (d->config.barriers_leave == GPUMP_DUET_BARRIERS_LEAVE) return 1;
    return !at_barrier && !gpumpi_duet_is_whole(d, unit);
}
/* Homes that are kept for the block that stays whole: it has so many fewer than it has warps. */
static uint32_t gpumpi_duet_kept(const gpump_duet *d) {
    uint32_t i, kept = 0;
    for (i = 0; d->whole != GPUMP_NONE && i < d->plan.block_warps; i++) {
        const uint32_t warp = d->whole * d->plan.block_warps + i;
        kept += !gpump_bits_get(d->present, warp) && !(d->job == GPUMP_DUET_IN && d->job_in == warp);
    }
    return kept;
}
/* Homes that units of other blocks may have. */
static uint32_t gpumpi_duet_spare_homes(const gpump_duet *d) {
    const uint32_t homes = gpump_bits_count(d->free_homes, GPUMPI_DUET_WORDS), kept = gpumpi_duet_kept(d);
    return homes > kept ? homes - kept : 0;
}

/* Sets the bits of a unit that follow from its others, and puts it into a queue when it comes to belong there. */
static void gpumpi_duet_refresh(gpump_duet *d, uint32_t unit) {
    const int is_block = gpumpi_duet_of_blocks(d);
    const int still = gpump_bits_get(d->resident, unit) && !gpump_bits_get(d->moving, unit);
    const int present = gpump_bits_get(d->present, unit), frozen = gpump_bits_get(d->frozen, unit);
    const int stalls = is_block ? d->live[unit] && d->stalled[unit] == d->live[unit] : gpump_bits_get(d->waiting, unit);
    const int blocked = is_block ? d->in_barrier[unit] != 0 : gpump_bits_get(d->at_barrier, unit);
    const int waits = is_block ? d->stalled[unit] != d->in_barrier[unit] : stalls;
    const int may_leave = still && !frozen && present && stalls && gpumpi_duet_may_go(d, unit, blocked);
    const int may_come = still && !frozen && !present && !waits;
    const int left_before = gpump_bits_get(d->may_leave, unit), came_before = gpump_bits_get(d->may_come, unit);
    const uint32_t first = is_block ? unit * d->plan.block_warps : unit, count = is_block ? d->plan.block_warps : 1;
    uint32_t i;
    if (!may_leave) gpump_bits_clear(d->refused, unit);
    gpumpi_duet_put(d->may_leave, unit, may_leave);
    gpumpi_duet_put(d->may_come, unit, may_come);
    if (may_leave && !left_before) gpumpi_duet_enqueue(d, GPUMPI_DUET_LEAVE, unit);
    if (may_come && !came_before) gpumpi_duet_enqueue(d, GPUMPI_DUET_COME, unit);
    for (i = first; i < first + count; i++)
        gpumpi_duet_put(d->may_issue, i,
                        still && present && gpump_bits_get(d->alive, i) &&
                            (!gpump_bits_get(d->waiting, i) || gpump_bits_get(d->refused, unit)));
}

/* ---- kernels and blocks ---- */

/* May the tables hold all blocks of a plan? */
static int gpumpi_duet_plan_fits(const gpump_duet *d, const gpump_duet_plan *plan) {
    const uint64_t blocks = plan->native_blocks + (uint64_t)plan->extra_blocks_l1;
    return plan->block_warps && plan->unit <= GPUMP_DUET_BLOCK && plan->homes <= GPUMP_DUET_WARPS &&
           plan->extra_blocks <= plan->extra_blocks_l1 && blocks <= d->config.blocks &&
           blocks * plan->block_warps <= d->config.warps;
}

static uint64_t gpumpi_duet_frames(const gpump_duet *d) {
    const uint64_t in_sm = (uint64_t)d->plan.frames[0] + d->plan.frames[1];
    const uint64_t frames = d->l1_is_store ? in_sm + d->plan.frames[2] : in_sm;
    return frames < GPUMP_DUET_WARPS ? frames : GPUMP_DUET_WARPS;
}
static void gpumpi_duet_open_frames(gpump_duet *d) {
    uint32_t i;
    for (i = 0; i < gpumpi_duet_frames(d); i++) gpump_bits_set(d->free_frames, i);
}

static void gpumpi_duet_start_monitor(gpump_duet *d, uint64_t now) {
    d->extra = d->is_held = 0;
    d->class_now = GPUMP_DUET_MODERATE;
    d->decision_cycle = GPUMP_UNKNOWN;
    if (d->config.extra_blocks == GPUMP_DUET_MONITOR) {
        if (d->plan.extra_blocks_l1)
            d->decision_cycle = now + (uint64_t)d->config.skip_cycles + d->config.period_cycles;
        return;
    }
    if (!d->plan.extra_blocks && d->plan.extra_blocks_l1 && d->config.extra_blocks) {
        d->l1_is_store = 1;
        d->tell |= 1u << GPUMP_DUET_L1;
    }
    d->extra = d->config.extra_blocks < gpumpi_duet_bound(d) ? d->config.extra_blocks : gpumpi_duet_bound(d);
    if (d->extra) d->tell |= 1u << GPUMP_DUET_EXTRA;
}

GPUMP_API gpump_result gpump_duet_set_kernel(gpump_duet *duet, uint64_t now, const gpump_duet_plan *plan) {
    uint32_t i;
    if (!duet || !plan) return GPUMP_ERROR_ARGUMENT;
    if (now < duet->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    if (duet->block_count || duet->job != GPUMP_NONE) return GPUMP_ERROR_STATE;
    if (!gpumpi_duet_plan_fits(duet, plan)) return GPUMP_ERROR_ARGUMENT;
    duet->now = now;
    duet->plan = *plan;
    duet->l1_is_store = duet->tell = 0;
    duet->whole = GPUMP_NONE;
    memset(duet->free_homes, 0, sizeof duet->free_homes);
    memset(duet->free_frames, 0, sizeof duet->free_frames);
    memset(duet->queues, 0, sizeof duet->queues);
    duet->last[0] = duet->last[1] = 0;
    for (i = 0; i < plan->homes; i++) gpump_bits_set(duet->free_homes, i);
    gpumpi_duet_start_monitor(duet, now);
    gpumpi_duet_open_frames(duet);
    return GPUMP_OK;
}

static uint32_t gpumpi_duet_free_places(const gpump_duet *d, int at_home) {
    const uint32_t most = gpumpi_duet_absent_most(d), frames = gpump_bits_count(d->free_frames, GPUMPI_DUET_WORDS);
    const uint32_t allowed = most > d->absent && !at_home ? most - d->absent : 0;
    return gpumpi_duet_spare_homes(d) + (frames < allowed ? frames : allowed);
}

GPUMP_API gpump_reason gpump_duet_room(const gpump_duet *duet, int at_home) {
    const uint32_t units = gpumpi_duet_of_blocks(duet) ? 1 : duet->plan.block_warps;
    if (!duet->plan.native_blocks) return GPUMP_REASON_NEVER_FITS;
    if (duet->block_count >= duet->plan.native_blocks + duet->extra) return GPUMP_REASON_FRAME;
    return gpumpi_duet_free_places(duet, at_home) < units ? GPUMP_REASON_MOVING : GPUMP_REASON_YES;
}

/* Chooses the block that stays whole: the one with the fewest warps in frames. When the one before it has ended, a home
 * is free for each of its warps. */
static void gpumpi_duet_choose_whole(gpump_duet *d) {
    uint32_t least = GPUMP_NONE, block, i;
    d->whole = GPUMP_NONE;
    if (d->config.barriers_leave != GPUMP_DUET_BARRIERS_WHOLE || gpumpi_duet_of_blocks(d)) return;
    for (block = 0; block < GPUMP_DUET_BLOCKS; block++) {
        uint32_t away = 0;
        if (!(d->blocks >> block & 1)) continue;
        for (i = block * d->plan.block_warps; i < (block + 1) * d->plan.block_warps; i++)
            away += gpump_bits_get(d->resident, i) && !gpump_bits_get(d->present, i);
        if (away >= least) continue;
        least = away;
        d->whole = block;
    }
    for (i = 0; d->whole != GPUMP_NONE && i < d->plan.block_warps; i++)
        gpumpi_duet_refresh(d, d->whole * d->plan.block_warps + i);
}

/* Gives a unit a home, or a frame when none is free. */
static void gpumpi_duet_settle(gpump_duet *d, uint32_t unit) {
    const int present = gpumpi_duet_spare_homes(d) > 0;
    uint64_t *free_places = present ? d->free_homes : d->free_frames;
    d->place[unit] = gpumpi_duet_lowest(free_places);
    gpump_bits_clear(free_places, d->place[unit]);
    gpump_bits_set(d->resident, unit);
    gpumpi_duet_put(d->present, unit, present);
    d->absent += !present;
}

GPUMP_API gpump_result gpump_duet_place_block(gpump_duet *duet, uint64_t now, int at_home, uint32_t *block,
                                              gpump_diag *diag) {
    gpump_reason room;
    uint32_t number = 0, i, first;
    if (!duet) return gpumpi_null(diag, "duet");
    if (!block) return gpumpi_null(diag, "block");
    if (now < duet->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, duet->now, GPUMP_UNKNOWN - 1);
    room = gpump_duet_room(duet, at_home);
    if (room != GPUMP_REASON_YES) {
        (void)gpumpi_refuse(diag, room, "block", 0);
        return GPUMP_BUSY;
    }
    duet->now = now;
    while (duet->blocks >> number & 1) number++;
    first = number * duet->plan.block_warps;
    duet->blocks |= (uint64_t)1 << number;
    duet->block_count++;
    if (duet->block_count > duet->statistics.most_blocks) duet->statistics.most_blocks = duet->block_count;
    duet->live[number] = duet->plan.block_warps;
    duet->stalled[number] = duet->in_barrier[number] = 0;
    if (gpumpi_duet_of_blocks(duet)) gpumpi_duet_settle(duet, number);
    for (i = first; i < first + duet->plan.block_warps; i++) {
        duet->block_of[i] = number;
        duet->replies[i] = 0;
        gpump_bits_set(duet->alive, i);
        if (!gpumpi_duet_of_blocks(duet)) gpumpi_duet_settle(duet, i);
    }
    if (gpumpi_duet_of_blocks(duet)) gpumpi_duet_refresh(duet, number);
    for (i = first; i < first + duet->plan.block_warps && !gpumpi_duet_of_blocks(duet); i++)
        gpumpi_duet_refresh(duet, i);
    if (duet->whole == GPUMP_NONE) gpumpi_duet_choose_whole(duet);
    *block = number;
    return GPUMP_OK;
}

/* The place of a unit is free, and the unit is gone. */
static void gpumpi_duet_leave(gpump_duet *d, uint32_t unit) {
    if (!gpump_bits_get(d->resident, unit)) return;
    if (gpump_bits_get(d->present, unit)) {
        gpump_bits_set(d->free_homes, d->place[unit]);
    } else {
        gpump_bits_set(d->free_frames, d->place[unit]);
        d->absent--;
    }
    gpump_bits_clear(d->resident, unit);
    gpump_bits_clear(d->present, unit);
    gpump_bits_clear(d->frozen, unit);
    gpumpi_duet_refresh(d, unit);
}

static void gpumpi_duet_end_warp(gpump_duet *d, uint32_t warp) {
    const uint32_t block = d->block_of[warp];
    if (!gpump_bits_get(d->alive, warp)) return;
    d->live[block]--;
    d->stalled[block] -= (uint32_t)gpump_bits_get(d->waiting, warp);
    d->in_barrier[block] -= (uint32_t)gpump_bits_get(d->at_barrier, warp);
    gpump_bits_clear(d->alive, warp);
    gpump_bits_clear(d->waiting, warp);
    gpump_bits_clear(d->at_barrier, warp);
    if (gpumpi_duet_of_blocks(d))
        gpumpi_duet_refresh(d, block);
    else
        gpumpi_duet_leave(d, warp);
}

static gpump_result gpumpi_duet_check_call(const gpump_duet *d, uint64_t now, uint32_t warp) {
    if (!d || warp >= d->config.warps) return GPUMP_ERROR_ARGUMENT;
    if (now < d->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    return gpump_bits_get(d->alive, warp) ? GPUMP_OK : GPUMP_ERROR_STATE;
}

GPUMP_API gpump_result gpump_duet_report_warp_done(gpump_duet *duet, uint64_t now, uint32_t warp) {
    gpump_result result = gpumpi_duet_check_call(duet, now, warp);
    if (!result && (!gpump_duet_may_issue(duet, warp) || gpump_bits_get(duet->waiting, warp)))
        result = GPUMP_ERROR_STATE;
    if (result) return result;
    duet->now = now;
    gpumpi_duet_end_warp(duet, warp);
    return GPUMP_OK;
}

/* Errors of calls that name a block; GPUMP_BUSY while some of it moves. */
static gpump_result gpumpi_duet_check_block(const gpump_duet *d, uint64_t now, uint32_t block) {
    uint32_t i;
    if (!d || block >= d->config.blocks) return GPUMP_ERROR_ARGUMENT;
    if (now < d->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    if (!(d->blocks >> block & 1)) return GPUMP_ERROR_STATE;
    for (i = 0; i < d->plan.block_warps; i++)
        if (gpump_bits_get(d->moving, gpumpi_duet_unit_of(d, block * d->plan.block_warps + i))) return GPUMP_BUSY;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_duet_report_block_done(gpump_duet *duet, uint64_t now, uint32_t block) {
    gpump_result result = gpumpi_duet_check_block(duet, now, block);
    uint32_t i;
    if (result) return result;
    duet->now = now;
    if (gpumpi_duet_of_blocks(duet)) gpumpi_duet_leave(duet, block); /* first: no queue gets it as its warps end */
    for (i = 0; i < duet->plan.block_warps; i++) gpumpi_duet_end_warp(duet, block * duet->plan.block_warps + i);
    duet->blocks &= ~((uint64_t)1 << block);
    duet->block_count--;
    if (duet->whole == block) gpumpi_duet_choose_whole(duet);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_duet_freeze(gpump_duet *duet, uint64_t now, uint32_t block, int frozen) {
    gpump_result result = gpumpi_duet_check_block(duet, now, block);
    uint32_t i;
    if (result && result != GPUMP_BUSY) return result;
    duet->now = now;
    for (i = 0; i < duet->plan.block_warps; i++) {
        const uint32_t unit = gpumpi_duet_unit_of(duet, block * duet->plan.block_warps + i);
        gpumpi_duet_put(duet->frozen, unit, frozen && gpump_bits_get(duet->resident, unit));
        gpumpi_duet_refresh(duet, unit);
    }
    return result;
}

/* ---- stalls ---- */

GPUMP_API gpump_result gpump_duet_report_stall(gpump_duet *duet, uint64_t now, uint32_t warp, uint32_t why,
                                               uint32_t replies) {
    gpump_result result = why >= GPUMP_DUET_STALLS || !replies ? GPUMP_ERROR_ARGUMENT : GPUMP_OK;
    if (!result) result = gpumpi_duet_check_call(duet, now, warp);
    if (!result && (!gpump_duet_may_issue(duet, warp) || gpump_bits_get(duet->waiting, warp)))
        result = GPUMP_ERROR_STATE;
    if (result) return result;
    duet->now = now;
    duet->statistics.stalls++;
    duet->replies[warp] = replies;
    duet->stalled[duet->block_of[warp]]++;
    gpump_bits_set(duet->waiting, warp);
    gpumpi_duet_put(duet->for_page, warp, why == GPUMP_DUET_PAGE);
    if (why == GPUMP_DUET_BARRIER) {
        duet->in_barrier[duet->block_of[warp]]++;
        gpump_bits_set(duet->at_barrier, warp);
    }
    gpumpi_duet_refresh(duet, gpumpi_duet_unit_of(duet, warp));
    return GPUMP_OK;
}

GPUMP_API void gpump_duet_report_reply(gpump_duet *duet, uint32_t warp) {
    const uint32_t unit = gpumpi_duet_unit_of(duet, warp);
    if (!gpump_bits_get(duet->waiting, warp)) return;
    if (!gpump_bits_get(duet->present, unit) && !gpump_bits_get(duet->at_barrier, warp) &&
        !gpump_bits_get(duet->for_page, warp)) {
        duet->statistics.frame_replies++;
        duet->debt_cycles++;
    }
    if (--duet->replies[warp]) return;
    duet->stalled[duet->block_of[warp]]--;
    duet->in_barrier[duet->block_of[warp]] -= (uint32_t)gpump_bits_get(duet->at_barrier, warp);
    gpump_bits_clear(duet->waiting, warp);
    gpump_bits_clear(duet->at_barrier, warp);
    gpumpi_duet_refresh(duet, unit);
}

/* ---- moves ---- */

static void gpumpi_duet_begin(gpump_duet *d, uint64_t now, uint32_t kind, uint32_t out, uint32_t in,
                              gpump_duet_action *action) {
    const uint32_t granules = d->plan.frame_granules * (kind == GPUMP_DUET_SWAP ? 2 : 1);
    const gpump_port port = gpumpi_duet_port(&d->config);
    const uint64_t cycles = gpump_port_cycles(&port, (uint64_t)granules * GPUMP_DUET_GRANULE_BYTES);
    d->job = kind;
    d->job_out = out;
    d->job_in = in;
    d->job_home = out != GPUMP_NONE ? d->place[out] : gpumpi_duet_lowest(d->free_homes);
    d->job_frame = in != GPUMP_NONE ? d->place[in] : gpumpi_duet_lowest(d->free_frames);
    if (kind == GPUMP_DUET_IN) gpump_bits_clear(d->free_homes, d->job_home);
    if (kind == GPUMP_DUET_OUT) gpump_bits_clear(d->free_frames, d->job_frame);
    d->absent += kind == GPUMP_DUET_OUT;
    d->job_end_cycle = now + d->debt_cycles + (cycles ? cycles : 1);
    d->statistics.granules += granules;
    d->statistics.move_cycles += cycles;
    (&d->statistics.outs)[kind]++;
    d->debt_cycles = 0;
    if (out != GPUMP_NONE) gpump_bits_set(d->moving, out), gpumpi_duet_refresh(d, out);
    if (in != GPUMP_NONE) gpump_bits_set(d->moving, in), gpumpi_duet_refresh(d, in);
    gpumpi_duet_taken(d, GPUMPI_DUET_LEAVE, out);
    gpumpi_duet_taken(d, GPUMPI_DUET_COME, in);
    memset(action, 0, sizeof *action);
    action->start_cycle = now;
    action->end_cycle = d->job_end_cycle;
    action->kind = kind;
    action->out = out;
    action->in = in;
    action->home = d->job_home;
    action->frame = d->job_frame;
    action->granules = granules;
}

static int gpumpi_duet_tell(gpump_duet *d, uint64_t now, gpump_duet_action *action) {
    if (!d->tell) return 0;
    memset(action, 0, sizeof *action);
    action->kind = gpump_bits_lowest64(d->tell);
    d->tell &= d->tell - 1;
    action->start_cycle = action->end_cycle = now;
    action->out = action->in = action->home = action->frame = GPUMP_NONE;
    action->blocks = d->extra;
    return 1;
}

/* Returns the unit that comes next: of the block that stays whole, else who has waited longest; GPUMP_NONE. */
static uint32_t gpumpi_duet_pick_in(gpump_duet *d) {
    uint32_t i;
    for (i = 0; d->whole != GPUMP_NONE && i < d->plan.block_warps; i++)
        if (gpump_bits_get(d->may_come, d->whole * d->plan.block_warps + i)) return d->whole * d->plan.block_warps + i;
    return gpumpi_duet_pick(d, GPUMPI_DUET_COME);
}

GPUMP_API gpump_result gpump_duet_next(gpump_duet *duet, uint64_t now, gpump_duet_action *action) {
    uint32_t in, out, word;
    if (!duet || !action) return GPUMP_ERROR_ARGUMENT;
    if (now < duet->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    duet->now = now;
    if (gpumpi_duet_tell(duet, now, action)) return GPUMP_OK;
    if (duet->job != GPUMP_NONE) return GPUMP_EMPTY;
    in = gpumpi_duet_pick_in(duet);
    if (in != GPUMP_NONE &&
        (gpumpi_duet_is_whole(duet, in) ? gpumpi_duet_any(duet->free_homes) : gpumpi_duet_spare_homes(duet) > 0)) {
        gpumpi_duet_begin(duet, now, GPUMP_DUET_IN, GPUMP_NONE, in, action);
        return GPUMP_OK;
    }
    out = gpumpi_duet_pick(duet, GPUMPI_DUET_LEAVE);
    if (out == GPUMP_NONE) return GPUMP_EMPTY;
    if (in != GPUMP_NONE) {
        gpumpi_duet_begin(duet, now, GPUMP_DUET_SWAP, out, in, action);
        return GPUMP_OK;
    }
    if (duet->config.leaves_early && duet->absent < gpumpi_duet_absent_most(duet) &&
        gpumpi_duet_any(duet->free_frames)) {
        gpumpi_duet_begin(duet, now, GPUMP_DUET_OUT, out, GPUMP_NONE, action);
        return GPUMP_OK;
    }
    for (word = 0; word < GPUMPI_DUET_WORDS; word++) { /* the condition fails: back to running (Lin Fig. 3.9) */
        uint64_t rest = duet->may_leave[word] & ~duet->refused[word];
        for (; rest; rest &= rest - 1) {
            const uint32_t unit = word * 64 + gpump_bits_lowest64(rest);
            gpump_bits_set(duet->refused, unit);
            duet->statistics.refused++;
            gpumpi_duet_refresh(duet, unit);
        }
    }
    return GPUMP_EMPTY;
}

GPUMP_API gpump_result gpump_duet_report_moved(gpump_duet *duet, uint64_t now) {
    if (!duet) return GPUMP_ERROR_ARGUMENT;
    if (now < duet->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    if (duet->job == GPUMP_NONE || now < duet->job_end_cycle) return GPUMP_ERROR_STATE;
    duet->now = now;
    if (duet->job == GPUMP_DUET_OUT) gpump_bits_set(duet->free_homes, duet->job_home);
    if (duet->job == GPUMP_DUET_IN) gpump_bits_set(duet->free_frames, duet->job_frame), duet->absent--;
    duet->job = GPUMP_NONE;
    duet->job_end_cycle = GPUMP_UNKNOWN;
    if (duet->job_out != GPUMP_NONE) {
        duet->place[duet->job_out] = duet->job_frame;
        gpump_bits_clear(duet->present, duet->job_out);
        gpump_bits_clear(duet->moving, duet->job_out);
        gpumpi_duet_refresh(duet, duet->job_out);
    }
    if (duet->job_in != GPUMP_NONE) {
        duet->place[duet->job_in] = duet->job_home;
        gpump_bits_set(duet->present, duet->job_in);
        gpump_bits_clear(duet->moving, duet->job_in);
        gpumpi_duet_refresh(duet, duet->job_in);
    }
    return GPUMP_OK;
}

/* ---- the monitor ---- */

GPUMP_API gpump_result gpump_duet_report_utilisation(gpump_duet *duet, uint64_t now,
                                                     const gpump_utilisation *utilisation) {
    uint32_t before;
    if (!duet || !utilisation) return GPUMP_ERROR_ARGUMENT;
    if (now < duet->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    duet->now = now;
    if (now < duet->decision_cycle) return GPUMP_EMPTY;
    before = duet->extra;
    duet->decision_cycle = now + duet->config.period_cycles;
    duet->statistics.decisions++;
    duet->class_now = gpumpi_duet_classify(&duet->config, utilisation);
    if (duet->class_now != GPUMP_DUET_SATURATED && !duet->l1_is_store && !duet->plan.extra_blocks &&
        (uint64_t)utilisation->l1_q16 * 1000 < (uint64_t)duet->config.l1_useless_permille << 16) {
        duet->l1_is_store = 1;
        duet->tell |= 1u << GPUMP_DUET_L1;
        gpumpi_duet_open_frames(duet); /* nothing has been in a frame so far */
    }
    if (duet->class_now == GPUMP_DUET_SATURATED) {
        duet->is_held |= duet->extra != 0;
        duet->extra -= duet->extra < duet->config.taken_back ? duet->extra : duet->config.taken_back;
    } else if (!duet->is_held) {
        const uint32_t bound = gpumpi_duet_bound(duet);
        duet->extra = duet->class_now == GPUMP_DUET_MODERATE && duet->extra < bound ? duet->extra + 1 : bound;
    }
    if (duet->extra != before) duet->tell |= 1u << GPUMP_DUET_EXTRA;
    return GPUMP_OK;
}

/* ---- questions ---- */

GPUMP_API uint32_t gpump_duet_state_of(const gpump_duet *duet, uint32_t warp) {
    uint32_t unit;
    if (!duet || warp >= duet->config.warps || !gpump_bits_get(duet->alive, warp)) return GPUMP_DUET_GONE;
    unit = gpumpi_duet_unit_of(duet, warp);
    if (gpump_duet_may_issue(duet, warp)) return GPUMP_DUET_RUNNING;
    if (gpump_bits_get(duet->present, unit))
        return gpump_bits_get(duet->waiting, warp) || gpump_bits_get(duet->moving, unit) ? GPUMP_DUET_STALLED
                                                                                         : GPUMP_DUET_RUNNING;
    return gpump_bits_get(duet->waiting, warp) ? GPUMP_DUET_ABSENT : GPUMP_DUET_READY;
}

GPUMP_API gpump_result gpump_duet_where(const gpump_duet *duet, uint32_t warp, gpump_duet_place *place) {
    const gpump_duet_plan *plan;
    uint32_t block, index, unit, home, slot_data = 0;
    if (!duet || !place || warp >= duet->config.warps) return GPUMP_ERROR_ARGUMENT;
    if (!gpump_bits_get(duet->alive, warp)) return GPUMP_ERROR_STATE;
    plan = &duet->plan;
    block = duet->block_of[warp];
    index = warp - block * plan->block_warps;
    unit = gpumpi_duet_unit_of(duet, warp);
    home = gpumpi_duet_of_blocks(duet) ? duet->place[unit] * plan->block_warps + index : duet->place[unit];
    place->is_present = (uint32_t)gpump_bits_get(duet->present, unit);
    place->slot = home;
    place->slot_data = GPUMP_NONE;
    place->registers =
        (plan->moves_registers || !gpumpi_duet_of_blocks(duet) ? home : block * plan->block_warps + index) *
        plan->warp_granules;
    place->shared =
        duet->config.register_granules + (plan->moves_shared ? duet->place[unit] : block) * plan->shared_granules;
    if (place->is_present) return GPUMP_OK;
    place->slot = GPUMP_NONE;
    slot_data = gpump_duet_frame_granule(plan, duet->place[unit]);
    if (plan->moves_shared) { /* the image of a block: its shared memory, then each warp's slot */
        place->shared = slot_data;
        slot_data += plan->shared_granules;
    }
    if (gpumpi_duet_of_blocks(duet))
        slot_data += index * (duet->config.slot_granules + (plan->moves_registers ? plan->frame_registers : 0));
    if (plan->moves_registers) { /* of each warp: its registers, then its slot */
        place->registers = slot_data;
        slot_data += plan->frame_registers;
    }
    place->slot_data = slot_data;
    return GPUMP_OK;
}

GPUMP_API gpump_reason gpump_duet_waits_for(const gpump_duet *duet, uint32_t warp) {
    uint32_t unit, i;
    if (!duet || warp >= duet->config.warps || !gpump_bits_get(duet->alive, warp)) return GPUMP_REASON_NO_SUCH_BLOCK;
    unit = gpumpi_duet_unit_of(duet, warp);
    if (gpump_bits_get(duet->at_barrier, warp)) return GPUMP_REASON_BARRIER;
    if (gpump_bits_get(duet->waiting, warp)) return GPUMP_REASON_LONG_OPERATION;
    if (gpump_bits_get(duet->moving, unit)) return GPUMP_REASON_MOVING;
    if (gpump_bits_get(duet->present, unit)) return GPUMP_REASON_YES;
    if (gpump_bits_get(duet->frozen, unit)) return GPUMP_REASON_NOT_RUNNING;
    if (duet->job != GPUMP_NONE || gpumpi_duet_any(duet->may_leave) ||
        (gpumpi_duet_is_whole(duet, unit) ? gpumpi_duet_any(duet->free_homes) : gpumpi_duet_spare_homes(duet) > 0))
        return GPUMP_REASON_MOVING;          /* it comes by a move that is under way or can begin */
    for (i = 0; i < duet->config.warps; i++) /* does anybody at home run, or wait for what comes by itself? */
        if (gpump_bits_get(duet->alive, i) && gpump_bits_get(duet->present, gpumpi_duet_unit_of(duet, i)) &&
            !gpump_bits_get(duet->at_barrier, i))
            return GPUMP_REASON_SWITCHED_OUT;
    return GPUMP_REASON_HELD_BY_BARRIERS;
}

/* ---- bytes from outside ---- */

/* Without a kernel the plan is all 0. */
static int gpumpi_duet_plan_is_bad(const gpump_duet *d) {
    gpump_duet_plan none;
    memset(&none, 0, sizeof none);
    return memcmp(&d->plan, &none, sizeof none) && !gpumpi_duet_plan_fits(d, &d->plan);
}
/* Is there a block whose number no block of the plan has? */
static int gpumpi_duet_has_strangers(const gpump_duet *d) {
    const uint32_t blocks = d->plan.native_blocks + d->plan.extra_blocks_l1;
    return blocks < GPUMP_DUET_BLOCKS && d->blocks >> blocks;
}

/* Counts who lies in homes and frames; 0 when two share one, one lies nowhere, or a place is lost. */
static int gpumpi_duet_places_right(const gpump_duet *d) {
    uint64_t taken[2][GPUMPI_DUET_WORDS];
    uint32_t i, absent = 0, block, limit = gpumpi_duet_units(d);
    memset(taken, 0, sizeof taken);
    memcpy(taken[1], d->free_homes, sizeof d->free_homes);
    memcpy(taken[0], d->free_frames, sizeof d->free_frames);
    if (d->job == GPUMP_DUET_IN || d->job == GPUMP_DUET_OUT) { /* the place that it goes to is neither free nor taken */
        const int is_home = d->job == GPUMP_DUET_IN;
        const uint32_t place = is_home ? d->job_home : d->job_frame;
        if (gpump_bits_get(taken[is_home], place)) return 0;
        gpump_bits_set(taken[is_home], place);
    }
    for (i = 0; i < GPUMP_DUET_WARPS; i++) {
        const int present = gpump_bits_get(d->present, i);
        if (!gpump_bits_get(d->resident, i)) {
            if (present || gpump_bits_get(d->moving, i)) return 0;
            continue;
        }
        if (i >= limit || d->place[i] >= GPUMP_DUET_WARPS || gpump_bits_get(taken[present], d->place[i])) return 0;
        gpump_bits_set(taken[present], d->place[i]);
        absent += !present;
    }
    for (i = 0; i < GPUMP_DUET_WARPS; i++)
        if (gpump_bits_get(taken[1], i) != (i < d->plan.homes) ||
            gpump_bits_get(taken[0], i) != (i < gpumpi_duet_frames(d)))
            return 0;
    for (block = 0; block < GPUMP_DUET_BLOCKS; block++) {
        uint32_t live = 0, stalled = 0, at_barrier = 0;
        for (i = 0; i < GPUMP_DUET_WARPS; i++) {
            if (!gpump_bits_get(d->alive, i) || d->block_of[i] != block) continue;
            if (!(d->blocks >> block & 1) || i >= d->config.warps || block >= d->config.blocks) return 0;
            live++;
            stalled += (uint32_t)gpump_bits_get(d->waiting, i);
            at_barrier += (uint32_t)gpump_bits_get(d->at_barrier, i);
        }
        if (d->blocks >> block & 1 &&
            (live != d->live[block] || stalled != d->stalled[block] || at_barrier != d->in_barrier[block]))
            return 0;
    }
    return d->absent == absent + (d->job == GPUMP_DUET_OUT);
}

static gpump_result gpumpi_duet_check(const void *object, gpump_diag *diag) {
    const gpump_duet *duet = (const gpump_duet *)object;
    uint32_t i;
    if (gpumpi_duet_plan_is_bad(duet)) return gpumpi_bad_bytes(diag, "plan", 0, duet->plan.unit, 0, GPUMP_DUET_BLOCK);
    if (duet->extra > gpumpi_duet_bound(duet))
        return gpumpi_bad_bytes(diag, "extra", 0, duet->extra, 0, gpumpi_duet_bound(duet));
    if (duet->block_count != gpumpi_bits_count64(duet->blocks) || gpumpi_duet_has_strangers(duet))
        return gpumpi_bad_bytes(diag, "blocks", 0, duet->block_count, 0, duet->config.blocks);
    if (duet->whole != GPUMP_NONE && (duet->whole >= GPUMP_DUET_BLOCKS || !(duet->blocks >> duet->whole & 1)))
        return gpumpi_bad_bytes(diag, "whole", 0, duet->whole, 0, GPUMP_DUET_BLOCKS - 1);
    if (duet->job != GPUMP_NONE &&
        (duet->job > GPUMP_DUET_SWAP || duet->job_home >= GPUMP_DUET_WARPS || duet->job_frame >= GPUMP_DUET_WARPS ||
         (duet->job_out != GPUMP_NONE && duet->job_out >= GPUMP_DUET_WARPS) ||
         (duet->job_in != GPUMP_NONE && duet->job_in >= GPUMP_DUET_WARPS)))
        return gpumpi_bad_bytes(diag, "job", 0, duet->job, 0, GPUMP_DUET_SWAP);
    for (i = 0; i < 2; i++)
        if (duet->queues[i].first >= 256 || duet->queues[i].count > gpumpi_duet_queue_room(duet))
            return gpumpi_bad_bytes(diag, "queues", i, duet->queues[i].count, 0, 256);
    for (i = 0; i < 512; i++)
        if (duet->queues[i / 256].item[i % 256] >= GPUMP_DUET_WARPS)
            return gpumpi_bad_bytes(diag, "queues", i / 256, duet->queues[i / 256].item[i % 256], 0,
                                    GPUMP_DUET_WARPS - 1);
    for (i = 0; i < GPUMP_DUET_WARPS; i++)
        if (duet->block_of[i] >= GPUMP_DUET_BLOCKS)
            return gpumpi_bad_bytes(diag, "block_of", i, duet->block_of[i], 0, GPUMP_DUET_BLOCKS - 1);
    if (duet->last[0] >= gpumpi_duet_units(duet) || duet->last[1] >= gpumpi_duet_units(duet))
        return gpumpi_bad_bytes(diag, "last", 0, duet->last[0], 0, gpumpi_duet_units(duet) - 1);
    if (!gpumpi_duet_places_right(duet)) return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, "places", 0);
    return GPUMP_OK;
}

static uint64_t gpumpi_duet_next_cycle(const void *of) { return ((const gpump_duet *)of)->job_end_cycle; }

static const char *const gpumpi_duet_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_DUET_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
#define GPUMPI_DUET_PEAKS (UINT64_C(1) << (offsetof(gpump_duet_statistics, most_blocks) / 8))
/* clang-format off */
static const gpumpi_methods gpumpi_duet_hooks = {
    "duet", "duet", GPUMPI_DUET_MAGIC,
    GPUMP_LAYOUT_DUET, sizeof(gpump_duet_config), offsetof(gpump_duet, config), offsetof(gpump_duet, statistics),
    sizeof gpumpi_duet_counters / sizeof *gpumpi_duet_counters, gpumpi_duet_counters, GPUMPI_DUET_PEAKS,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_duet_preset, gpumpi_duet_check_config, gpumpi_duet_bytes, NULL, gpumpi_duet_tables,
    /* set_up, unfit, check, hash */
    gpumpi_duet_set_up, NULL, gpumpi_duet_check, gpumpi_duet_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, gpumpi_duet_next_cycle, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_duet_methods(void) { return &gpumpi_duet_hooks; }
