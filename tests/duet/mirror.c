/* labels: unit property */
/* duet against a plain mirror that is written from its headers alone: random calls, right and wrong ones in any order,
 * and after each of them every question and counter. Beside it, refusals, the hash word by word and altered memory. */
#include "diagnosed.h"

enum { WARPS = GPUMP_DUET_WARPS, BLOCKS = GPUMP_DUET_BLOCKS, LEAVE = 0, COME = 1 };
static gpump_duet memories[2], before;

/* ==== the mirror ==== */

typedef struct mirror_warp {
    int is_alive;
    uint32_t why, replies; /* replies 0: it does not stall */
} mirror_warp;
/* A warp or a block. */
typedef struct mirror_unit {
    int is_there, is_present, is_moving, is_frozen, is_refused;
    int was[2]; /* it could leave, it could come: before the last call */
    uint32_t place;
} mirror_unit;
typedef struct mirror_queue {
    uint32_t count, item[256];
} mirror_queue;
typedef struct mirror {
    gpump_duet_config config;
    gpump_duet_plan plan;
    uint64_t now, decision_cycle;
    mirror_warp warps[WARPS];
    mirror_unit units[WARPS];
    int blocks[BLOCKS];
    mirror_queue queues[2];
    uint32_t last[2], extra, debt;
    int is_held, l1_is_store, tells_l1, tells_extra, moves;
    gpump_duet_action job;
    gpump_duet_statistics sums;
} mirror;

static int of_blocks(const mirror *m) { return m->plan.unit == GPUMP_DUET_BLOCK; }
static uint32_t unit_of(const mirror *m, uint32_t warp) { return of_blocks(m) ? warp / m->plan.block_warps : warp; }
static uint32_t all_units(const mirror *m) { return of_blocks(m) ? m->config.blocks : m->config.warps; }
static uint32_t unit_warps(const mirror *m) { return of_blocks(m) ? m->plan.block_warps : 1; }
static uint32_t all_blocks(const mirror *m) {
    uint32_t i, sum = 0;
    for (i = 0; i < BLOCKS; i++) sum += (uint32_t)m->blocks[i];
    return sum;
}
static uint32_t bound(const mirror *m) { return m->l1_is_store ? m->plan.extra_blocks_l1 : m->plan.extra_blocks; }
static uint32_t most_absent(const mirror *m) { return m->extra * (of_blocks(m) ? 1 : m->plan.block_warps); }

/* Of a unit's warps: how many live, stall, and stand at a barrier. */
static void count_warps(const mirror *m, uint32_t unit, uint32_t *live, uint32_t *stalled, uint32_t *at_barrier) {
    uint32_t i;
    *live = *stalled = *at_barrier = 0;
    for (i = unit * unit_warps(m); i < (unit + 1) * unit_warps(m) && i < m->config.warps; i++) {
        const mirror_warp *w = &m->warps[i];
        *live += (uint32_t)w->is_alive;
        *stalled += w->replies > 0;
        *at_barrier += w->replies && w->why == GPUMP_DUET_BARRIER;
    }
}
static int may_go(const mirror *m, uint32_t unit, int which) {
    const mirror_unit *u = &m->units[unit];
    uint32_t live, stalled, at_barrier;
    if (!u->is_there || u->is_moving || u->is_frozen) return 0;
    count_warps(m, unit, &live, &stalled, &at_barrier);
    if (which == LEAVE) return u->is_present && live && stalled == live && (m->config.barriers_leave || !at_barrier);
    return !u->is_present && (of_blocks(m) ? stalled == at_barrier : !stalled);
}
static int any_may_go(const mirror *m, int which) {
    uint32_t i;
    for (i = 0; i < all_units(m); i++)
        if (may_go(m, i, which)) return 1;
    return 0;
}
/* Who comes to be allowed to go is put into a queue, while that has room. */
static void enqueue(mirror *m) {
    const uint32_t room = of_blocks(m) ? m->config.block_queue : m->config.warp_queue;
    uint32_t i;
    int which;
    for (i = 0; i < all_units(m); i++)
        for (which = 0; which < 2; which++) {
            mirror_unit *u = &m->units[i];
            mirror_queue *q = &m->queues[which];
            const int may = may_go(m, i, which);
            if (!may && which == LEAVE) u->is_refused = 0;
            if (may && !u->was[which]) {
                if (q->count < room)
                    q->item[q->count++] = i;
                else
                    m->sums.queue_overflows++;
            }
            u->was[which] = may;
        }
}
static void drop_first(mirror_queue *q) { memmove(q->item, q->item + 1, --q->count * sizeof *q->item); }
/* Who has waited longest as far as the queue knows, else the next one of the table after the last that went. */
static uint32_t pick(mirror *m, int which) {
    mirror_queue *q = &m->queues[which];
    uint32_t i;
    if (!any_may_go(m, which)) return GPUMP_NONE;
    while (q->count && !may_go(m, q->item[0], which)) drop_first(q);
    if (q->count) return q->item[0];
    i = m->last[which];
    do i = (i + 1) % all_units(m);
    while (!may_go(m, i, which));
    return i;
}
static void goes(mirror *m, int which, uint32_t unit) {
    mirror_queue *q = &m->queues[which];
    if (unit == GPUMP_NONE) return;
    m->last[which] = unit;
    m->units[unit].is_moving = 1;
    if (q->count && q->item[0] == unit) drop_first(q);
}

/* Places are numbered; the lowest that is free is taken. A move holds the place that it leaves and the one it goes to.
 */
static uint32_t free_places(const mirror *m, int home, uint32_t *lowest) {
    uint32_t all = m->plan.homes, i, k, sum = 0;
    if (!home) all = m->plan.frames[0] + m->plan.frames[1] + (m->l1_is_store ? m->plan.frames[2] : 0);
    *lowest = GPUMP_NONE;
    for (i = all < WARPS ? all : WARPS; i-- > 0;) {
        int taken = m->moves && m->job.kind == (uint32_t)(home ? GPUMP_DUET_IN : GPUMP_DUET_OUT) &&
                    (home ? m->job.home : m->job.frame) == i;
        for (k = 0; k < all_units(m); k++)
            taken |= m->units[k].is_there && m->units[k].is_present == home && m->units[k].place == i;
        if (taken) continue;
        *lowest = i;
        sum++;
    }
    return sum;
}
static uint32_t absent(const mirror *m) {
    uint32_t i, sum = m->moves && m->job.kind == GPUMP_DUET_OUT;
    for (i = 0; i < all_units(m); i++) sum += m->units[i].is_there && !m->units[i].is_present;
    return sum;
}
static gpump_reason mirror_room(const mirror *m, int at_home) {
    const uint32_t most = most_absent(m), needed = of_blocks(m) ? 1 : m->plan.block_warps;
    uint32_t lowest, homes, frames, allowed;
    if (!m->plan.native_blocks) return GPUMP_REASON_NEVER_FITS;
    if (all_blocks(m) >= m->plan.native_blocks + m->extra) return GPUMP_REASON_FRAME;
    homes = free_places(m, 1, &lowest);
    frames = free_places(m, 0, &lowest);
    allowed = most > absent(m) ? most - absent(m) : 0;
    if (at_home) allowed = 0;
    return homes + (frames < allowed ? frames : allowed) < needed ? GPUMP_REASON_MOVING : GPUMP_REASON_YES;
}

static int may_issue(const mirror *m, uint32_t warp) {
    const mirror_unit *u = &m->units[unit_of(m, warp)];
    const mirror_warp *w = &m->warps[warp];
    return w->is_alive && u->is_present && !u->is_moving && (!w->replies || u->is_refused);
}
static uint32_t mirror_state(const mirror *m, uint32_t warp) {
    const mirror_warp *w = &m->warps[warp];
    const mirror_unit *u = &m->units[w->is_alive ? unit_of(m, warp) : 0];
    if (!w->is_alive) return GPUMP_DUET_GONE;
    if (!u->is_present) return w->replies ? GPUMP_DUET_ABSENT : GPUMP_DUET_READY;
    return may_issue(m, warp) ? GPUMP_DUET_RUNNING : GPUMP_DUET_STALLED;
}
static gpump_reason mirror_waits_for(const mirror *m, uint32_t warp) {
    const mirror_warp *w = &m->warps[warp];
    const mirror_unit *u;
    uint32_t i;
    if (!w->is_alive) return GPUMP_REASON_NO_SUCH_BLOCK;
    u = &m->units[unit_of(m, warp)];
    if (w->replies) return w->why == GPUMP_DUET_BARRIER ? GPUMP_REASON_BARRIER : GPUMP_REASON_LONG_OPERATION;
    if (may_issue(m, warp)) return GPUMP_REASON_YES;
    if (u->is_moving) return GPUMP_REASON_MOVING;
    if (u->is_frozen) return GPUMP_REASON_NOT_RUNNING;
    if (m->moves || free_places(m, 1, &i) || any_may_go(m, LEAVE)) return GPUMP_REASON_MOVING;
    for (i = 0; i < m->config.warps; i++)
        if (m->warps[i].is_alive && m->units[unit_of(m, i)].is_present &&
            !(m->warps[i].replies && m->warps[i].why == GPUMP_DUET_BARRIER))
            return GPUMP_REASON_SWITCHED_OUT;
    return GPUMP_REASON_HELD_BY_BARRIERS;
}
static gpump_duet_place mirror_where(const mirror *m, uint32_t warp) {
    const gpump_duet_plan *p = &m->plan;
    const mirror_unit *u = &m->units[unit_of(m, warp)];
    const uint32_t block = warp / p->block_warps, index = warp % p->block_warps;
    const uint32_t of_warp = (p->moves_registers ? p->frame_registers : 0) + m->config.slot_granules;
    uint32_t frame = u->place, kind = 0, at;
    gpump_duet_place place;
    place.is_present = (uint32_t)u->is_present;
    place.registers = warp * p->warp_granules; /* who does not move lies where its number says */
    place.shared = m->config.register_granules + block * p->shared_granules;
    if (u->is_present) {
        place.slot = of_blocks(m) ? u->place * p->block_warps + index : u->place;
        if (p->moves_registers || !of_blocks(m)) place.registers = place.slot * p->warp_granules;
        if (p->moves_shared) place.shared = m->config.register_granules + u->place * p->shared_granules;
        place.slot_data = GPUMP_NONE;
        return place;
    }
    while (frame >= p->frames[kind]) frame -= p->frames[kind++];
    at = p->first_frame[kind] + frame * p->frame_granules; /* shared memory, then each warp's registers and slot */
    if (p->moves_shared) {
        place.shared = at;
        at += p->shared_granules;
    }
    if (of_blocks(m)) at += index * of_warp;
    if (p->moves_registers) place.registers = at;
    place.slot = GPUMP_NONE;
    place.slot_data = at + of_warp - m->config.slot_granules;
    return place;
}

/* ---- facts ---- */

static void mirror_set_kernel(mirror *m, uint64_t now, const gpump_duet_plan *plan) {
    m->now = now;
    m->plan = *plan;
    m->queues[0].count = m->queues[1].count = 0;
    m->last[0] = m->last[1] = m->extra = 0;
    m->is_held = m->l1_is_store = m->tells_l1 = m->tells_extra = 0;
    m->decision_cycle = GPUMP_UNKNOWN;
    if (m->config.extra_blocks == GPUMP_DUET_MONITOR) {
        if (plan->extra_blocks_l1) m->decision_cycle = now + (uint64_t)m->config.skip_cycles + m->config.period_cycles;
        return;
    }
    if (m->config.extra_blocks && !plan->extra_blocks && plan->extra_blocks_l1) m->l1_is_store = m->tells_l1 = 1;
    m->extra = m->config.extra_blocks < bound(m) ? m->config.extra_blocks : bound(m);
    m->tells_extra = m->extra > 0;
}

static uint32_t mirror_place(mirror *m, uint64_t now) {
    const uint32_t warps = m->plan.block_warps;
    uint32_t block = 0, i, lowest;
    m->now = now;
    while (m->blocks[block]) block++;
    for (i = 0; i < (of_blocks(m) ? 1 : warps); i++) {
        mirror_unit fresh;
        memset(&fresh, 0, sizeof fresh);
        fresh.is_present = free_places(m, 1, &lowest) > 0;
        if (!fresh.is_present) free_places(m, 0, &lowest);
        fresh.is_there = 1;
        fresh.place = lowest;
        m->units[of_blocks(m) ? block : block * warps + i] = fresh;
    }
    for (i = 0; i < warps; i++) {
        m->warps[block * warps + i].is_alive = 1;
        m->warps[block * warps + i].replies = 0;
    }
    m->blocks[block] = 1;
    if (all_blocks(m) > m->sums.most_blocks) m->sums.most_blocks = all_blocks(m);
    return block;
}
static void mirror_end_warp(mirror *m, uint32_t warp) {
    memset(&m->warps[warp], 0, sizeof m->warps[warp]);
    if (!of_blocks(m)) memset(&m->units[warp], 0, sizeof m->units[warp]);
}
static gpump_result block_result(const mirror *m, uint64_t now, uint32_t block) {
    uint32_t i;
    if (block >= m->config.blocks) return GPUMP_ERROR_ARGUMENT;
    if (now < m->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    if (!m->blocks[block]) return GPUMP_ERROR_STATE;
    for (i = 0; i < m->plan.block_warps; i++)
        if (m->units[unit_of(m, block * m->plan.block_warps + i)].is_moving) return GPUMP_BUSY;
    return GPUMP_OK;
}
static gpump_result warp_result(const mirror *m, uint64_t now, uint32_t warp) {
    if (warp >= m->config.warps) return GPUMP_ERROR_ARGUMENT;
    if (now < m->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    return may_issue(m, warp) && !m->warps[warp].replies ? GPUMP_OK : GPUMP_ERROR_STATE;
}

static void mirror_reply(mirror *m, uint32_t warp) {
    mirror_warp *w = &m->warps[warp];
    if (!w->replies) return;
    w->replies--;
    if (w->why != GPUMP_DUET_LOAD || m->units[unit_of(m, warp)].is_present) return;
    m->sums.frame_replies++; /* it takes a cycle of the port */
    m->debt++;
}

static void mirror_begin(mirror *m, uint32_t kind, uint32_t out, uint32_t in, gpump_duet_action *action) {
    const uint32_t granules = m->plan.frame_granules * (kind == GPUMP_DUET_SWAP ? 2 : 1);
    const uint32_t bytes = granules * GPUMP_DUET_GRANULE_BYTES, port = m->config.port_bytes;
    const uint64_t cycles = bytes / port + (bytes % port != 0);
    uint32_t home, frame;
    free_places(m, 1, &home);
    free_places(m, 0, &frame);
    if (out != GPUMP_NONE) home = m->units[out].place;
    if (in != GPUMP_NONE) frame = m->units[in].place;
    action->end_cycle = m->now + m->debt + (cycles ? cycles : 1);
    action->kind = kind;
    action->out = out;
    action->in = in;
    action->home = home;
    action->frame = frame;
    action->granules = granules;
    m->debt = 0;
    m->moves = 1;
    m->job = *action;
    m->sums.granules += granules;
    m->sums.move_cycles += cycles;
    *(kind == GPUMP_DUET_OUT ? &m->sums.outs : kind == GPUMP_DUET_IN ? &m->sums.ins : &m->sums.swaps) += 1;
    goes(m, LEAVE, out);
    goes(m, COME, in);
}
static gpump_result mirror_next(mirror *m, uint64_t now, gpump_duet_action *action) {
    uint32_t in, out, i, lowest;
    m->now = now;
    memset(action, 0, sizeof *action);
    action->start_cycle = action->end_cycle = now;
    action->out = action->in = action->home = action->frame = GPUMP_NONE;
    if (m->tells_l1 || m->tells_extra) {
        action->kind = m->tells_l1 ? GPUMP_DUET_L1 : GPUMP_DUET_EXTRA;
        action->blocks = m->extra;
        *(m->tells_l1 ? &m->tells_l1 : &m->tells_extra) = 0;
        return GPUMP_OK;
    }
    if (m->moves) return GPUMP_EMPTY;
    in = pick(m, COME);
    if (in != GPUMP_NONE && free_places(m, 1, &lowest)) {
        mirror_begin(m, GPUMP_DUET_IN, GPUMP_NONE, in, action);
        return GPUMP_OK;
    }
    out = pick(m, LEAVE);
    if (out == GPUMP_NONE) return GPUMP_EMPTY;
    if (in != GPUMP_NONE) {
        mirror_begin(m, GPUMP_DUET_SWAP, out, in, action);
        return GPUMP_OK;
    }
    if (m->config.leaves_early && absent(m) < most_absent(m) && free_places(m, 0, &lowest)) {
        mirror_begin(m, GPUMP_DUET_OUT, out, GPUMP_NONE, action);
        return GPUMP_OK;
    }
    for (i = 0; i < all_units(m); i++) {
        if (!may_go(m, i, LEAVE) || m->units[i].is_refused) continue;
        m->units[i].is_refused = 1;
        m->sums.refused++;
    }
    return GPUMP_EMPTY;
}
static void mirror_moved(mirror *m, uint64_t now) {
    mirror_unit *out = m->job.out != GPUMP_NONE ? &m->units[m->job.out] : NULL;
    mirror_unit *in = m->job.in != GPUMP_NONE ? &m->units[m->job.in] : NULL;
    m->now = now;
    m->moves = 0;
    if (out) out->is_present = out->is_moving = 0, out->place = m->job.frame;
    if (in) in->is_present = 1, in->is_moving = 0, in->place = m->job.home;
}

/* Lin Table 3.3. */
static int above(uint32_t q16, uint32_t permille) { return (uint64_t)q16 * 1000 > (uint64_t)permille * 65536; }
static int below(uint32_t q16, uint32_t permille) { return (uint64_t)q16 * 1000 < (uint64_t)permille * 65536; }
static gpump_result mirror_utilisation(mirror *m, uint64_t now, const gpump_utilisation *u) {
    const gpump_duet_config *c = &m->config;
    const uint32_t network = u->up_q16 > u->down_q16 ? u->up_q16 : u->down_q16, earlier = m->extra;
    const int saturated = above(u->scheduler_q16, c->saturated_permille) || above(u->l1_q16, c->saturated_permille) ||
                          above(u->l2_q16, c->saturated_permille) || above(network, c->saturated_network_permille) ||
                          above(u->dram_q16, c->saturated_dram_permille);
    const int under = below(u->scheduler_q16, c->under_permille) && below(u->l1_q16, c->under_permille) &&
                      below(u->l2_q16, c->under_permille) && below(network, c->under_permille) &&
                      below(u->dram_q16, c->under_dram_permille);
    m->now = now;
    if (now < m->decision_cycle) return GPUMP_EMPTY;
    m->decision_cycle = now + c->period_cycles;
    m->sums.decisions++;
    if (saturated) {
        if (m->extra) m->is_held = 1;
        m->extra = m->extra > c->taken_back ? m->extra - c->taken_back : 0;
    } else {
        if (!m->plan.extra_blocks && !m->l1_is_store && below(u->l1_q16, c->l1_useless_permille))
            m->l1_is_store = m->tells_l1 = 1;
        if (!m->is_held && m->extra < bound(m)) m->extra = under ? bound(m) : m->extra + 1;
    }
    if (m->extra != earlier) m->tells_extra = 1;
    return GPUMP_OK;
}

/* ==== the comparison ==== */

static void same(const gpump_duet *duet, const mirror *m, uint64_t number) {
    const uint64_t seed = test_seed();
    gpump_duet_statistics sums;
    gpump_duet_place place;
    uint32_t i;
    for (i = 0; i < m->config.warps; i++) {
        if (!m->warps[i].is_alive) {
            test_check(gpump_duet_where(duet, i, &place) == GPUMP_ERROR_STATE, seed, number);
            test_check(!gpump_duet_may_issue(duet, i), seed, number);
        } else {
            const gpump_duet_place expected = mirror_where(m, i);
            test_check(gpump_duet_where(duet, i, &place) == GPUMP_OK, seed, number);
            test_check(!memcmp(&place, &expected, sizeof place), seed, number);
            test_check(gpump_duet_may_issue(duet, i) == may_issue(m, i), seed, number);
        }
        test_check(gpump_duet_state_of(duet, i) == mirror_state(m, i), seed, number);
        test_check(gpump_duet_waits_for(duet, i) == mirror_waits_for(m, i), seed, number);
    }
    test_check(gpump_duet_state_of(duet, i) == GPUMP_DUET_GONE, seed, number);
    test_check(gpump_duet_waits_for(duet, i) == GPUMP_REASON_NO_SUCH_BLOCK, seed, number);
    test_check(gpump_duet_room(duet, 0) == mirror_room(m, 0), seed, number);
    test_check(gpump_duet_room(duet, 1) == mirror_room(m, 1), seed, number);
    test_check(gpump_next_cycle(&gpump_duet_component, duet) == (m->moves ? m->job.end_cycle : GPUMP_UNKNOWN), seed,
               number);
    test_check(gpump_duet_decision_cycle(duet) == m->decision_cycle, seed, number);
    gpump_get_statistics(&gpump_duet_component, duet, &sums);
    test_check(!memcmp(&sums, &m->sums, sizeof sums), seed, number);
}

/* ==== random calls ==== */

static uint64_t dice;
static uint32_t under(uint32_t limit) { return gpump_random_below(&dice, limit); }

static gpump_duet_config random_config(void) {
    static const char *const names[] = {"maxwell_duet", "duet_block", "virtual_thread"};
    gpump_duet_config config;
    uint32_t *share;
    assert_int_equal(gpump_preset(&gpump_duet_component, &config, names[under(3)], NULL), GPUMP_OK);
    config.warps = under(16) ? 8 + under(16) : under(2) ? 60 + under(30) : 256;
    config.warp_slots = 2 + under(config.warps / 3);
    config.blocks = under(8) ? 2 + under(7) : 64;
    config.block_slots = 1 + under(config.blocks);
    config.register_granules = 20 + under(config.warps * 16);
    config.shared_granules = under(config.warps * 6);
    config.l1_granules = under(3) ? under(config.warps * 6) : 0;
    config.slot_granules = under(4);
    config.warp_queue = 1 + under(under(2) ? 4 : 256);
    config.block_queue = 1 + under(under(2) ? 3 : 256);
    config.port_bytes = 1 + under(300);
    config.barriers_leave = under(3) > 0;
    config.leaves_early = under(3) > 0;
    config.extra_blocks = !under(3) ? GPUMP_DUET_MONITOR : under(3) ? GPUMP_DUET_ALL : under(4);
    config.skip_cycles = under(30);
    config.period_cycles = 1 + under(30);
    config.taken_back = under(2) ? under(4) : GPUMP_DUET_ALL;
    /* Shares in eighths, which are whole in 16 bits, so that a use can be just as large. */
    for (share = &config.under_permille; share <= &config.l1_useless_permille; share++) *share = 125 * (1 + under(7));
    return config;
}
static gpump_duet_plan random_plan(const gpump_duet_config *config) {
    gpump_duet_plan plan;
    uint32_t tries = under(24);
    do { /* most often one that switches */
        const uint32_t threads = 1 + under(128), warps = (threads + 31) / 32;
        const gpump_footprint need = {threads, (1 + under(20)) * warps * 32, 128 * under(12)};
        assert_int_equal(gpump_duet_plan_make(config, &need, 1 + under(12), &plan, NULL), GPUMP_OK);
    } while (plan.unit == GPUMP_DUET_OFF && tries--);
    return plan;
}
static gpump_utilisation random_utilisation(void) {
    gpump_utilisation u;
    uint32_t *q16;
    const uint32_t most = 1 + under(8);
    memset(&u, 0, sizeof u);
    for (q16 = &u.scheduler_q16; q16 <= &u.dram_q16; q16++) *q16 = 8192 * under(most) + under(3);
    return u;
}

/* A call that must give `expected`: errors, and those that ask to come again, leave the memory as it was. */
#define call(call_, expected_, changes_)                                            \
    do {                                                                            \
        const gpump_result wanted_ = (expected_);                                   \
        before = *duet;                                                             \
        test_check((call_) == wanted_, test_seed(), number);                        \
        if (wanted_ < GPUMP_OK || (wanted_ != GPUMP_OK && !(changes_)))             \
            test_check(!memcmp(&before, duet, sizeof before), test_seed(), number); \
    } while (0)
static gpump_result in_time(const mirror *m, uint64_t now) {
    return now < m->now || now == GPUMP_UNKNOWN ? GPUMP_ERROR_TIME : GPUMP_OK;
}

static void place(gpump_duet *duet, mirror *m, uint64_t now, uint64_t number) {
    const int at_home = !under(3);
    const gpump_reason room = mirror_room(m, at_home);
    gpump_result expected = in_time(m, now);
    uint32_t block = 77;
    gpump_diag *diag = DIAG;
    if (!expected && room != GPUMP_REASON_YES) expected = GPUMP_BUSY;
    call(gpump_duet_place_block(duet, now, at_home, &block, diag), expected, 0);
    if (expected == GPUMP_BUSY) test_check(diag->reason == room, test_seed(), number);
    if (expected == GPUMP_ERROR_TIME) test_check(!strcmp(diag->field, "now"), test_seed(), number);
    test_check(block == (expected ? 77 : mirror_place(m, now)), test_seed(), number);
}
static void block_done(gpump_duet *duet, mirror *m, uint64_t now, uint32_t block, uint64_t number) {
    const gpump_result expected = block_result(m, now, block);
    uint32_t i;
    call(gpump_duet_report_block_done(duet, now, block), expected, 0);
    if (expected) return;
    m->now = now;
    for (i = 0; i < m->plan.block_warps; i++) mirror_end_warp(m, block * m->plan.block_warps + i);
    if (of_blocks(m)) memset(&m->units[block], 0, sizeof m->units[block]);
    m->blocks[block] = 0;
}
static void freeze(gpump_duet *duet, mirror *m, uint64_t now, uint32_t block, uint64_t number) {
    const gpump_result expected = block_result(m, now, block);
    const int frozen = under(10) == 0;
    uint32_t i;
    call(gpump_duet_freeze(duet, now, block, frozen), expected, 1);
    if (expected < GPUMP_OK) return;
    m->now = now;
    for (i = 0; i < m->plan.block_warps; i++) {
        mirror_unit *u = &m->units[unit_of(m, block * m->plan.block_warps + i)];
        u->is_frozen = frozen && u->is_there;
    }
}
static void stall(gpump_duet *duet, mirror *m, uint64_t now, uint32_t warp, uint64_t number) {
    const uint32_t why = under(20) ? under(3) : 3, replies = under(20) ? 1 + under(3) : 0;
    gpump_result expected = why == 3 || !replies ? GPUMP_ERROR_ARGUMENT : warp_result(m, now, warp);
    call(gpump_duet_report_stall(duet, now, warp, why, replies), expected, 0);
    if (expected) return;
    m->now = now;
    m->sums.stalls++;
    m->warps[warp].why = why;
    m->warps[warp].replies = replies;
}
static void next(gpump_duet *duet, mirror *m, uint64_t now, uint64_t number) {
    gpump_duet_action got, action;
    gpump_result expected = in_time(m, now);
    if (!expected) expected = mirror_next(m, now, &action);
    call(gpump_duet_next(duet, now, &got), expected, 1);
    if (expected) return;
    if (got.kind == GPUMP_DUET_L1) got.blocks = action.blocks; /* says nothing there */
    test_check(!memcmp(&got, &action, sizeof got), test_seed(), number);
}
static void moved(gpump_duet *duet, mirror *m, uint64_t now, uint64_t number) {
    gpump_result expected = in_time(m, now);
    if (!expected && (!m->moves || now < m->job.end_cycle)) expected = GPUMP_ERROR_STATE;
    call(gpump_duet_report_moved(duet, now), expected, 0);
    if (!expected) mirror_moved(m, now);
}
static void utilisation(gpump_duet *duet, mirror *m, uint64_t now, uint64_t number) {
    const gpump_utilisation u = random_utilisation();
    gpump_result expected = in_time(m, now);
    if (!expected) expected = mirror_utilisation(m, now, &u);
    call(gpump_duet_report_utilisation(duet, now, &u), expected, 1);
}
static void set_kernel(gpump_duet *duet, mirror *m, uint64_t now, uint64_t number) {
    const gpump_duet_plan plan = random_plan(&m->config);
    gpump_result expected = in_time(m, now);
    uint32_t block;
    for (block = 0; under(2) && block < m->config.blocks; block++)
        if (m->blocks[block]) block_done(duet, m, m->now, block, number);
    if (m->plan.block_warps) enqueue(m);
    if (!expected && (all_blocks(m) || m->moves)) expected = GPUMP_ERROR_STATE;
    call(gpump_duet_set_kernel(duet, now, &plan), expected, 0);
    if (!expected) mirror_set_kernel(m, now, &plan);
}
/* A warp, most often one that stalls, or that does not. */
static uint32_t some_warp(const mirror *m, int stalls) {
    uint32_t tries = under(16), warp;
    do warp = under(m->config.warps + (under(16) == 0));
    while (tries-- && (warp == m->config.warps || !m->warps[warp].is_alive || (m->warps[warp].replies > 0) != stalls));
    return warp;
}
static void something(gpump_duet *duet, mirror *m, uint64_t number) {
    const uint32_t warp = some_warp(m, 0), waiter = some_warp(m, 1), block = under(m->config.blocks + (under(8) == 0));
    uint64_t now = m->now + under(4);
    if (!under(32)) now = under(2) ? GPUMP_UNKNOWN : m->now ? m->now - 1 : 0;
    if (m->moves && !under(3) && m->now < m->job.end_cycle) now = m->job.end_cycle - !under(4);
    switch (under(24)) {
    case 0:
    case 1: place(duet, m, now, number); break;
    case 2:
        if (!under(8)) block_done(duet, m, now, block, number);
        break;
    case 3: freeze(duet, m, now, block, number); break;
    case 4:
        if (!under(8)) set_kernel(duet, m, now, number);
        break;
    case 5: utilisation(duet, m, now, number); break;
    case 6: {
        const gpump_result expected = warp_result(m, now, warp);
        if (under(3)) break;
        call(gpump_duet_report_warp_done(duet, now, warp), expected, 0);
        if (!expected) m->now = now, mirror_end_warp(m, warp);
        break;
    }
    case 7:
    case 8: moved(duet, m, now, number); break;
    case 9:
    case 10:
    case 11: next(duet, m, now, number); break;
    case 12:
    case 13:
    case 14:
    case 15: stall(duet, m, now, warp, number); break;
    default:
        if (waiter == m->config.warps) break;
        gpump_duet_report_reply(duet, waiter); /* who does not stall awaits none */
        mirror_reply(m, waiter);
    }
    enqueue(m);
}

/* A byte copy in other memory is the same duet. */
static gpump_duet *travel(gpump_duet *duet, const gpump_duet_config *config) {
    gpump_duet *copy = &memories[duet == memories], *adopted = NULL;
    const uint64_t hash = gpump_hash(&gpump_duet_component, duet);
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
    *copy = *duet;
    memset(duet, 0xdb, sizeof *duet);
    assert_int_equal(gpump_adopt(&gpump_duet_component, copy, sizeof *copy, config, &adopted, NULL), GPUMP_OK);
    assert_ptr_equal(adopted, copy);
    assert_true(gpump_hash(&gpump_duet_component, copy) == hash);
    return copy;
}

/* Random stalls, wakes, moves and ends beside a mirror that keeps lists instead of bits. */
static void random_calls_agree_with_the_mirror(void **state) {
    static mirror m;
    gpump_duet_statistics seen;
    uint64_t number, cases = test_cases(1000), step, *count = &seen.outs, i;
    (void)state;
    memset(&seen, 0, sizeof seen);
    for (number = 0; number < cases; number++) {
        gpump_duet *duet = NULL;
        uint32_t steps;
        dice = test_seed() * 1000003 + number;
        memset(&m, 0, sizeof m);
        m.config = random_config();
        m.decision_cycle = GPUMP_UNKNOWN;
        steps = m.config.warps > 24 ? 400 : 1500;
        assert_int_equal(gpump_init(&gpump_duet_component, memories, sizeof *memories, &m.config, &duet, NULL),
                         GPUMP_OK);
        test_check(gpump_duet_room(duet, 0) == GPUMP_REASON_NEVER_FITS, test_seed(), number);
        do set_kernel(duet, &m, 0, number);
        while (!m.plan.native_blocks && under(8));
        for (step = 0; step < steps; step++) {
            something(duet, &m, number);
            if (m.config.warps <= 24 || !under(8)) same(duet, &m, number);
            if (!under(64)) duet = travel(duet, &m.config);
        }
        for (i = 0; i < sizeof seen / 8; i++) count[i] += (&m.sums.outs)[i];
    }
    for (i = 0; i < sizeof seen / 8; i++) /* everything has happened */
        if (count[i] * 4 < cases) fail_msg("counter %u is only %u", (unsigned)i, (unsigned)count[i]);
}

/* ==== by hand ==== */

/* Two homes, two frames, and room for two blocks of two warps. */
static gpump_duet *small(gpump_duet_config *config, gpump_duet_plan *plan) {
    const gpump_footprint need = {64, 64 * 4, 0};
    gpump_duet *duet = NULL;
    assert_int_equal(gpump_preset(&gpump_duet_component, config, "maxwell_duet", NULL), GPUMP_OK);
    config->warps = 4;
    config->warp_slots = config->blocks = config->block_slots = 2;
    config->register_granules = 2 * 4 + 2 * 5;
    config->shared_granules = config->l1_granules = 0;
    config->warp_queue = 3;
    config->extra_blocks = GPUMP_DUET_ALL;
    assert_int_equal(gpump_duet_plan_make(config, &need, 3, plan, NULL), GPUMP_OK);
    assert_int_equal(plan->homes, 2);
    assert_int_equal(plan->frames[0], 2);
    memset(memories, 0x77, sizeof memories);
    assert_int_equal(gpump_init(&gpump_duet_component, memories, sizeof *memories, config, &duet, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_set_kernel(duet, 5, plan), GPUMP_OK);
    return duet;
}
/* The same with both blocks; warps 0 and 2 change places until cycle 20. */
static gpump_duet *swapping(gpump_duet_config *config, gpump_duet_plan *plan) {
    gpump_duet *duet = small(config, plan);
    gpump_duet_action action;
    uint32_t block;
    assert_int_equal(gpump_duet_next(duet, 5, &action), GPUMP_OK); /* extra blocks */
    assert_int_equal(gpump_duet_place_block(duet, 6, 0, &block, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_place_block(duet, 7, 0, &block, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_report_stall(duet, 8, 0, GPUMP_DUET_LOAD, 2), GPUMP_OK);
    assert_int_equal(gpump_duet_report_stall(duet, 9, 1, GPUMP_DUET_BARRIER, 1), GPUMP_OK);
    assert_int_equal(gpump_duet_next(duet, 10, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_DUET_SWAP);
    assert_true(action.end_cycle == 20);
    return duet;
}

/* Missing pointers, small memory and places that do not exist are refused by name. */
static void wrong_memory_of_a_duet_is_refused(void **state) {
    gpump_duet_config config, other;
    gpump_duet_plan plan;
    gpump_duet *duet = small(&config, &plan), *none = NULL;
    uint32_t block = 77, field;
    size_t bytes = 0;
    (void)state;
    diagnosed_null(gpump_bytes(&gpump_duet_component, NULL, &bytes, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_duet_component, &config, NULL, DIAG), "bytes");
    assert_int_equal(gpump_bytes(&gpump_duet_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes == sizeof(gpump_duet));
    diagnosed_null(gpump_init(&gpump_duet_component, duet, bytes, &config, NULL, DIAG), "duet");
    diagnosed_null(gpump_init(&gpump_duet_component, duet, bytes, NULL, &none, DIAG), "config");
    diagnosed_null(gpump_init(&gpump_duet_component, NULL, bytes, &config, &none, DIAG), "memory");
    diagnosed(gpump_init(&gpump_duet_component, duet, bytes - 1, &config, &none, DIAG), GPUMP_ERROR_CAPACITY, "bytes",
              0, bytes - 1, bytes, UINT64_MAX);
    diagnosed_null(gpump_adopt(&gpump_duet_component, duet, bytes, &config, NULL, DIAG), "duet");
    diagnosed_null(gpump_adopt(&gpump_duet_component, duet, bytes, NULL, &none, DIAG), "config");
    diagnosed_null(gpump_adopt(&gpump_duet_component, NULL, bytes, &config, &none, DIAG), "memory");
    for (field = 0; field < sizeof config / 4; field++) { /* every field is compared */
        uint32_t *value = &(&other.mode)[field];
        other = config;
        *value += 1;
        if (*value > 1 && (value == &other.barriers_leave || value == &other.leaves_early)) *value = 0;
        if (value == &other.block_slots) *value = 1;
        if (value == &other.taken_back) *value = 2;
        assert_int_equal(gpump_adopt(&gpump_duet_component, duet, bytes, &other, &none, DIAG), GPUMP_ERROR_FORMAT);
        assert_string_equal(diagnosed_diag.field, "config");
    }
    duet->head.magic ^= 1;
    assert_int_equal(gpump_adopt(&gpump_duet_component, duet, bytes, &config, &none, DIAG), GPUMP_ERROR_FORMAT);
    assert_string_equal(diagnosed_diag.field, "magic");
    duet->head.magic ^= 1;
    assert_true(duet->head.magic == UINT64_C(0x67706d7064756574)); /* "gpmpduet" */
    assert_null(none);

    diagnosed_null(gpump_duet_place_block(NULL, 5, 0, &block, DIAG), "duet");
    diagnosed_null(gpump_duet_place_block(duet, 5, 0, NULL, DIAG), "block");
    diagnosed(gpump_duet_place_block(duet, 4, 0, &block, DIAG), GPUMP_ERROR_TIME, "now", 0, 4, 5, GPUMP_UNKNOWN - 1);
    diagnosed(gpump_duet_place_block(duet, GPUMP_UNKNOWN, 0, &block, DIAG), GPUMP_ERROR_TIME, "now", 0, GPUMP_UNKNOWN,
              5, GPUMP_UNKNOWN - 1);
    assert_int_equal(gpump_duet_place_block(duet, 5, 0, &block, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_place_block(duet, 5, 1, &block, DIAG), GPUMP_BUSY);
    assert_int_equal(diagnosed_diag.reason, GPUMP_REASON_MOVING);
    assert_string_equal(diagnosed_diag.field, "block");
    assert_true(diagnosed_diag.index == 0);
}

/* Every call with a missing pointer, a wrong number or in the wrong state is refused. */
static void wrong_arguments_of_a_duet_are_refused(void **state) {
    gpump_duet_config config;
    gpump_duet_plan plan;
    gpump_duet *duet = swapping(&config, &plan);
    gpump_duet_action action;
    gpump_duet_place place;
    gpump_utilisation use;
    uint32_t k;
    (void)state;
    memset(&use, 0, sizeof use);
    before = *duet;
    assert_int_equal(gpump_duet_set_kernel(NULL, 10, &plan), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_set_kernel(duet, 10, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_set_kernel(duet, 10, &plan), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_duet_report_stall(NULL, 10, 1, GPUMP_DUET_LOAD, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_moved(NULL, 20), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_moved(duet, 19), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_duet_report_warp_done(NULL, 10, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_block_done(NULL, 10, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_block_done(duet, 10, 1), GPUMP_BUSY);
    assert_int_equal(gpump_duet_freeze(NULL, 10, 1, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_utilisation(NULL, 10, &use), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_report_utilisation(duet, 10, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_where(NULL, 0, &place), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_where(duet, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_where(duet, 4, &place), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_next(NULL, 10, &action), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_next(duet, 10, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_duet_state_of(NULL, 0), GPUMP_DUET_GONE);
    assert_int_equal(gpump_duet_waits_for(NULL, 0), GPUMP_REASON_NO_SUCH_BLOCK);
    assert_memory_equal(&before, duet, sizeof before);

    duet = small(&config, &plan);
    before = *duet;
    for (k = 0; k < 7; k++) { /* plans that the tables have no room for */
        gpump_duet_plan bad = plan;
        if (k == 0) bad.block_warps = 0;
        if (k == 1) bad.unit = GPUMP_DUET_BLOCK + 1;
        if (k == 2) bad.homes = GPUMP_DUET_WARPS + 1;
        if (k == 3) bad.native_blocks = 2;
        if (k == 4) bad.block_warps = 3;
        if (k == 5) bad.block_warps = 1, bad.native_blocks = 2; /* warps enough, but not blocks */
        if (k == 6) bad.extra_blocks = 2;
        assert_int_equal(gpump_duet_set_kernel(duet, 6, &bad), GPUMP_ERROR_ARGUMENT);
    }
    assert_memory_equal(&before, duet, sizeof before);
    plan.homes = GPUMP_DUET_WARPS; /* the most that there may be */
    assert_int_equal(gpump_duet_set_kernel(duet, 6, &plan), GPUMP_OK);
    plan.frames[0] = plan.frames[1] = UINT32_MAX;
    assert_int_equal(gpump_duet_set_kernel(duet, 6, &plan), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
}

/* Every word behind the head counts in the hash. */
static void hash_of_everything(void **state) {
    gpump_duet_config config;
    gpump_duet_plan plan;
    gpump_duet *duet = swapping(&config, &plan);
    const uint64_t hash = gpump_hash(&gpump_duet_component, duet);
    size_t at;
    (void)state;
    for (at = sizeof(gpumpi_head); at < sizeof *duet; at += 4) {
        uint32_t word;
        memcpy(&word, (char *)duet + at, 4);
        word ^= 1u << at / 4 % 32;
        memcpy((char *)duet + at, &word, 4);
        if (gpump_hash(&gpump_duet_component, duet) == hash) fail_msg("the word at %u is not hashed", (unsigned)at);
        word ^= 1u << at / 4 % 32;
        memcpy((char *)duet + at, &word, 4);
    }
    assert_true(gpump_hash(&gpump_duet_component, duet) == hash);
}

/* Memory that contradicts itself: refused by the name of the field, or just sound. */
#define refused(change, field_, index_, value_, minimum_, maximum_)                                           \
    do {                                                                                                      \
        before = *duet;                                                                                       \
        change;                                                                                               \
        diagnosed(gpump_check(&gpump_duet_component, duet, DIAG), GPUMP_ERROR_FORMAT, field_, index_, value_, \
                  minimum_, maximum_);                                                                        \
        *duet = before;                                                                                       \
    } while (0)
#define sound(change)                                                               \
    do {                                                                            \
        before = *duet;                                                             \
        change;                                                                     \
        assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK); \
        *duet = before;                                                             \
    } while (0)

/* Each number of the memory, out of its range or against another, is refused by name. */
static void altered_numbers_of_a_duet_are_refused(void **state) {
    gpump_duet_config config;
    gpump_duet_plan plan;
    gpump_duet *duet = swapping(&config, &plan);
    uint32_t i;
    (void)state;
    diagnosed_null(gpump_check(&gpump_duet_component, NULL, DIAG), "duet");
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
    refused(duet->config.mode = 9, "config", offsetof(gpump_duet, config), 0, 0, 0);
    refused(duet->plan.unit = 3, "plan", 0, 3, 0, GPUMP_DUET_BLOCK);
    refused(duet->plan.homes = GPUMP_DUET_WARPS + 1, "plan", 0, GPUMP_DUET_WARP, 0, GPUMP_DUET_BLOCK);
    refused(duet->plan.block_warps = 0, "plan", 0, GPUMP_DUET_WARP, 0, GPUMP_DUET_BLOCK);
    refused(duet->plan.block_warps = 3, "plan", 0, GPUMP_DUET_WARP, 0, GPUMP_DUET_BLOCK);
    refused(duet->plan.extra_blocks = 2, "plan", 0, GPUMP_DUET_WARP, 0, GPUMP_DUET_BLOCK);
    refused(duet->plan.native_blocks = 2, "plan", 0, GPUMP_DUET_WARP, 0, GPUMP_DUET_BLOCK);
    refused(duet->extra = 2, "extra", 0, 2, 0, 1);
    sound(duet->extra = 0);
    refused(duet->block_count = 1, "blocks", 0, 1, 0, 2);
    refused(duet->block_count = 3, "blocks", 0, 3, 0, 2);
    refused(duet->block_count = 3; duet->blocks = 7, "blocks", 0, 3, 0, 2);
    refused(duet->blocks = 5, "blocks", 0, 2, 0, 2);
    refused(duet->job = GPUMP_DUET_SWAP + 1, "job", 0, GPUMP_DUET_SWAP + 1, 0, GPUMP_DUET_SWAP);
    refused(duet->job_home = GPUMP_DUET_WARPS, "job", 0, GPUMP_DUET_SWAP, 0, GPUMP_DUET_SWAP);
    refused(duet->job_frame = GPUMP_DUET_WARPS, "job", 0, GPUMP_DUET_SWAP, 0, GPUMP_DUET_SWAP);
    refused(duet->job_out = GPUMP_DUET_WARPS, "job", 0, GPUMP_DUET_SWAP, 0, GPUMP_DUET_SWAP);
    refused(duet->job_in = GPUMP_DUET_WARPS, "job", 0, GPUMP_DUET_SWAP, 0, GPUMP_DUET_SWAP);
    sound(duet->job_home = duet->job_frame = duet->job_out = duet->job_in = GPUMP_DUET_WARPS - 1);
    sound(duet->job_out = duet->job_in = GPUMP_NONE);
    sound(duet->job = GPUMP_NONE; duet->job_home = duet->job_frame = GPUMP_NONE);
    for (i = 0; i < 2; i++) {
        refused(duet->queues[i].first = 256, "queues", i, duet->queues[i].count, 0, 256);
        sound(duet->queues[i].first = 255);
        refused(duet->queues[i].count = config.warp_queue + 1, "queues", i, config.warp_queue + 1, 0, 256);
        sound(duet->queues[i].count = config.warp_queue);
        refused(duet->last[i] = 4, "last", 0, i ? duet->last[0] : 4, 0, 3);
        sound(duet->last[i] = 3);
    }
    for (i = 0; i < 512; i++) {
        refused(duet->queues[i / 256].item[i % 256] = GPUMP_DUET_WARPS, "queues", i / 256, GPUMP_DUET_WARPS, 0,
                GPUMP_DUET_WARPS - 1);
        sound(duet->queues[i / 256].item[i % 256] = GPUMP_DUET_WARPS - 1);
    }
    for (i = 0; i < GPUMP_DUET_WARPS; i++) {
        refused(duet->block_of[i] = GPUMP_DUET_BLOCKS, "block_of", i, GPUMP_DUET_BLOCKS, 0, GPUMP_DUET_BLOCKS - 1);
        if (i >= 4) sound(duet->block_of[i] = GPUMP_DUET_BLOCKS - 1);
    }
}

#define misplaced(change) refused(change, "places", 0, 0, 0, 0)
/* A warp in a set that it cannot be in, or in none, is refused. */
static void altered_sets_of_a_duet_are_refused(void **state) {
    gpump_duet_config config;
    gpump_duet_plan plan;
    gpump_duet *duet = swapping(&config, &plan);
    uint32_t i, block;
    (void)state;
    for (i = 4; i < GPUMP_DUET_WARPS; i += 63) { /* nobody is there */
        misplaced(gpump_bits_set(duet->present, i));
        misplaced(gpump_bits_set(duet->moving, i));
        misplaced(gpump_bits_set(duet->resident, i));
        misplaced(gpump_bits_set(duet->alive, i));
        misplaced(gpump_bits_set(duet->free_homes, i));
        misplaced(gpump_bits_set(duet->free_frames, i));
    }
    misplaced(duet->place[0] = 1);                /* two in a home */
    misplaced(duet->place[2] = duet->place[3]);   /* two in a frame */
    misplaced(duet->place[0] = GPUMP_DUET_WARPS); /* nowhere */
    misplaced(duet->place[0] = 2);                /* in a home that is not there */
    misplaced(duet->place[2] = 2);
    misplaced(gpump_bits_set(duet->free_homes, 0));
    misplaced(gpump_bits_set(duet->free_frames, 0));
    misplaced(gpump_bits_clear(duet->resident, 0));
    misplaced(gpump_bits_clear(duet->present, 0); gpump_bits_set(duet->free_homes, 0); duet->place[0] = 2);
    misplaced(duet->absent = 1);
    misplaced(duet->absent = 3);
    misplaced(duet->plan.homes = 1);
    misplaced(duet->plan.homes = 3);
    misplaced(duet->plan.frames[0] = 1);
    misplaced(duet->plan.frames[1] = 1);
    misplaced(duet->plan.frames[2] = 1; duet->l1_is_store = 1);
    sound(duet->plan.frames[2] = 1);
    for (block = 0; block < 2; block++) {
        misplaced(duet->live[block]--);
        misplaced(duet->live[block]++);
        misplaced(duet->stalled[block]++);
        misplaced(duet->in_barrier[block]++);
        misplaced(duet->block_of[2 * block] = !block);
    }
    for (; block < GPUMP_DUET_BLOCKS; block++) {
        misplaced(duet->block_of[3] = block);
        sound(duet->live[block] = duet->stalled[block] = duet->in_barrier[block] = 1); /* of no block */
    }
    misplaced(gpump_bits_clear(duet->waiting, 0));
    misplaced(gpump_bits_set(duet->waiting, 2));
    misplaced(gpump_bits_set(duet->at_barrier, 0));
    misplaced(gpump_bits_clear(duet->alive, 3));
}

/* Places that a move has taken or will leave are not lost. */
static void altered_moves(void **state) {
    gpump_duet_config config;
    gpump_duet_plan plan;
    gpump_duet *duet = swapping(&config, &plan);
    gpump_duet_action action;
    (void)state;
    assert_int_equal(gpump_duet_report_moved(duet, 20), GPUMP_OK);
    assert_int_equal(gpump_duet_report_block_done(duet, 20, 1), GPUMP_OK); /* home 0 and frame 1 are free */
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
    gpump_duet_report_reply(duet, 0);
    gpump_duet_report_reply(duet, 0);
    assert_int_equal(gpump_duet_next(duet, 21, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_DUET_IN);
    assert_true(action.end_cycle == 21 + 2 + 5); /* the port has brought two replies */
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
    misplaced(gpump_bits_set(duet->free_homes, action.home));
    misplaced(duet->job = GPUMP_DUET_OUT);
    misplaced(duet->job = GPUMP_NONE);
    assert_int_equal(gpump_duet_report_moved(duet, 28), GPUMP_OK);
    assert_int_equal(gpump_duet_next(duet, 28, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_DUET_OUT); /* warp 1 is at its barrier */
    assert_int_equal(gpump_check(&gpump_duet_component, duet, NULL), GPUMP_OK);
    misplaced(gpump_bits_set(duet->free_frames, action.frame));
    misplaced(duet->job = GPUMP_DUET_IN);
    misplaced(duet->absent = 0);
}

/* Each counter has its name, and the difference of two readings is that of each field. */
static void counters_have_names_and_differences(void **state) {
    static const char *const names[] = {"outs",          "ins",    "swaps",   "granules",        "move_cycles",
                                        "frame_replies", "stalls", "refused", "queue_overflows", "decisions",
                                        "most_blocks"};
    enum { COUNT = sizeof names / sizeof *names };
    gpump_duet_statistics earlier, later, difference;
    uint64_t *a = &earlier.outs, *b = &later.outs, value;
    const char *name, *unit, *description;
    uint32_t i;
    (void)state;
    assert_int_equal(sizeof earlier, COUNT * 8);
    for (i = 0; i < COUNT; i++) {
        a[i] = i * i;
        b[i] = 1000 + 7 * i;
    }
    gpump_statistics_diff(&gpump_duet_component, &earlier, &later, &difference);
    for (i = 0; i < COUNT; i++) {
        assert_true((&difference.outs)[i] == (i == COUNT - 1 ? b[i] : b[i] - a[i]));
        assert_int_equal(gpump_statistics_field(&gpump_duet_component, &later, i, &name, &unit, &description, &value),
                         GPUMP_OK);
        assert_string_equal(name, names[i]);
        assert_true(value == b[i] && *unit && *description);
    }
    assert_int_equal(gpump_statistics_field(&gpump_duet_component, &later, COUNT, NULL, NULL, NULL, NULL), GPUMP_EMPTY);
    assert_int_equal(gpump_statistics_field(&gpump_duet_component, NULL, 0, NULL, NULL, NULL, NULL),
                     GPUMP_ERROR_ARGUMENT);
    gpump_statistics_diff(&gpump_duet_component, &earlier, &later, &later);
    assert_memory_equal(&later, &difference, sizeof later);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls_agree_with_the_mirror),
        cmocka_unit_test(wrong_memory_of_a_duet_is_refused),
        cmocka_unit_test(wrong_arguments_of_a_duet_are_refused),
        cmocka_unit_test(hash_of_everything),
        cmocka_unit_test(altered_numbers_of_a_duet_are_refused),
        cmocka_unit_test(altered_sets_of_a_duet_are_refused),
        cmocka_unit_test(altered_moves),
        cmocka_unit_test(counters_have_names_and_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
