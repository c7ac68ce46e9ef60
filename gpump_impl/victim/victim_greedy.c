#include "victim/victim_parts.h"

/* The blocks of one SM once each has its technique. */
typedef struct gpumpi_victim_priced {
    uint64_t latency[GPUMP_VICTIM_BLOCKS];
    uint64_t overhead[GPUMP_VICTIM_BLOCKS];
    uint64_t rank[GPUMP_VICTIM_BLOCKS]; /* of a candidate of this block alone (gpumpi_victim_rank_of) */
    uint64_t late;                      /* blocks that no technique gets out in time */
    uint64_t ask_again;
    uint8_t technique[GPUMP_VICTIM_BLOCKS];
} gpumpi_victim_priced;

/* Prices a block by a technique. Another number than one of a technique makes the block NO_TECHNIQUE. */
GPUMP_INLINE void gpumpi_victim_price_by(const gpump_cost_estimate *estimates, uint32_t i, uint32_t t, uint64_t left,
                                         gpumpi_victim_priced *priced) {
    const int exists = t < GPUMP_TECHNIQUES;
    const uint64_t latency = exists ? estimates[i].latency[t] : GPUMP_UNKNOWN;
    const int late = latency > left || latency == GPUMP_UNKNOWN;
    priced->technique[i] = (uint8_t)(exists ? t : GPUMP_VICTIM_NO_TECHNIQUE);
    priced->latency[i] = latency;
    priced->overhead[i] = exists ? estimates[i].overhead[t] : GPUMP_UNKNOWN;
    priced->rank[i] = gpumpi_victim_rank(!late, latency, priced->overhead[i]);
    if (late) priced->late |= (uint64_t)1 << i;
}

/* The cycles that it takes to switch all blocks of `which` that may be switched. */
static uint64_t gpumpi_victim_saves(const gpump_victim_request *request, const gpump_victim_sm *sm, uint64_t which,
                                    const uint8_t *allowed) {
    uint64_t sum = 0, longest = 0;
    for (; which; which &= which - 1) {
        const uint32_t i = gpump_bits_lowest64(which);
        const uint64_t save = sm->estimates[i].latency[GPUMP_TECHNIQUE_SWITCH];
        if (!(allowed[i] >> GPUMP_TECHNIQUE_SWITCH & 1u)) continue;
        sum = gpump_add_saturated(sum, save);
        if (save > longest) longest = save;
    }
    return request->flags & GPUMP_VICTIM_PARALLEL_SAVES ? longest : sum;
}

/* Prices every block of `which` by the technique that the policy's hook answers. */
static void gpumpi_victim_ask_techniques(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                         const gpump_victim_sm *sm, uint64_t which, const uint8_t *allowed,
                                         uint64_t left, gpumpi_victim_priced *priced) {
    gpump_victim_technique_args args;
    args.policy = policy;
    args.request = request;
    args.left = left;
    args.saves = request->limit_cycles == GPUMP_UNKNOWN ? 0 : gpumpi_victim_saves(request, sm, which, allowed);
    args.ask_again = &priced->ask_again;
    for (; which; which &= which - 1) {
        const uint32_t i = gpump_bits_lowest64(which);
        args.block = &sm->blocks[i];
        args.estimate = &sm->estimates[i];
        args.allowed = allowed[i];
        args.draining = sm->blocks[i].state == GPUMP_BLOCK_DRAINING;
        gpumpi_victim_price_by(sm->estimates, i, policy->technique(&args), left, priced);
    }
}

/* Prices every block that may be chosen by its technique in a plan. */
static void gpumpi_victim_price_as(const gpump_victim_plan_args *args, const gpump_victim_plan *plan,
                                   gpumpi_victim_priced *priced) {
    uint64_t rest;
    priced->ask_again = plan->ask_again;
    priced->late = 0;
    for (rest = args->choosable; rest; rest &= rest - 1) {
        const uint32_t i = gpump_bits_lowest64(rest);
        gpumpi_victim_price_by(args->sm->estimates, i, plan->technique[i], args->left, priced);
    }
}

/* Prices every block of `which` by its cheapest technique (Algorithm 1, lines 3 to 13). */
static GPUMPI_CALLED void gpumpi_victim_price_cheapest(const gpump_cost_estimate *estimates, uint64_t which,
                                                       const uint8_t *allowed, uint64_t left,
                                                       gpumpi_victim_priced *priced) {
    const gpump_cost_estimate *e;
    uint64_t late = 0;
    uint32_t i;
    if (!which) return; /* an SM without blocks has no estimates */
    i = gpump_bits_lowest64(which);
    e = &estimates[i];
    for (which >>= i; which; which >>= 1, i++, e++) {
        gpumpi_victim_pick pick;
        if (!(which & 1)) continue;
        pick = gpumpi_victim_pick_technique(e, allowed[i], left);
        priced->technique[i] = (uint8_t)pick.technique;
        priced->latency[i] = e->latency[pick.technique];
        priced->overhead[i] = e->overhead[pick.technique];
        priced->rank[i] = pick.rank;
        late |= pick.rank >> 63 << i;
    }
    priced->late = late;
}

/* Prices every block of `which`. A hook's answer outside `allowed` makes the block NO_TECHNIQUE; the check of the plan
 * names it. */
static void gpumpi_victim_price(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                const gpump_victim_sm *sm, uint64_t which, const uint8_t *allowed, uint64_t left,
                                gpumpi_victim_priced *priced) {
    priced->ask_again = GPUMP_UNKNOWN;
    priced->late = 0;
    if (policy->technique)
        gpumpi_victim_ask_techniques(policy, request, sm, which, allowed, left, priced);
    else
        gpumpi_victim_price_cheapest(sm->estimates, which, allowed, left, priced);
}

/* ---- one candidate: Algorithm 1 ---- */

/* The rank of a candidate (Algorithm 1, lines 21 to 26). */
GPUMP_INLINE uint64_t gpumpi_victim_rank_of(const gpump_victim_candidate *c) {
    return gpumpi_victim_rank(!c->late, c->latency, c->overhead);
}

/* 1 when candidate a is preferred to candidate b of the same rank. A tie goes to the lower position. */
static int gpumpi_victim_breaks_tie(const gpump_victim_candidate *a, const gpump_victim_candidate *b) {
    if (a->late) return a->overhead < b->overhead;
    return a->latency != b->latency ? a->latency < b->latency : !a->victims && b->victims;
}

/* Sums up a set of victims. The blocks of `waits` leave without a decision, but the position is free only after them.
 */
GPUMP_INLINE void gpumpi_victim_sum(const gpumpi_victim_priced *priced, uint64_t set, uint64_t waits,
                                    gpump_victim_candidate *candidate) {
    uint64_t latency = 0, overhead = 0, late = (set | waits) & priced->late;
    candidate->victims = set;
    candidate->late = late ? gpumpi_bits_count64(late) : 0;
    for (; set; set &= set - 1) {
        uint32_t i = gpump_bits_lowest64(set);
        if (priced->latency[i] > latency) latency = priced->latency[i];
        overhead = gpump_add_saturated(overhead, priced->overhead[i]);
    }
    for (; waits; waits &= waits - 1) {
        uint32_t i = gpump_bits_lowest64(waits);
        if (priced->latency[i] > latency) latency = priced->latency[i];
    }
    candidate->latency = latency;
    candidate->overhead = overhead;
}

/* The same, where it is not hot. */
static GPUMPI_CALLED void gpumpi_victim_sum_set(const gpumpi_victim_priced *priced, uint64_t set,
                                                gpump_victim_candidate *candidate) {
    gpumpi_victim_sum(priced, set, 0, candidate);
}

/* Sums up one victim. */
GPUMP_INLINE void gpumpi_victim_sum_block(const gpumpi_victim_priced *priced, uint32_t i,
                                          gpump_victim_candidate *candidate) {
    candidate->victims = (uint64_t)1 << i;
    candidate->late = (uint32_t)(priced->late >> i & 1u);
    candidate->latency = priced->latency[i];
    candidate->overhead = priced->overhead[i];
}

/* Sets *best to the best candidate of the positions of *open; returns 0 when there is none. A position with a block of
 * `fixed` is closed. The blocks of `gone` leave anyway, and a position waits for those of `waits`. There are no groups.
 * A position of one block has the rank of that block: only the best candidate, and those as good, are summed up. */
static GPUMPI_CALLED int gpumpi_victim_best_of(const gpumpi_victim_priced *priced, const uint64_t *sets, uint64_t gone,
                                               uint64_t fixed, uint64_t waits, uint64_t *open,
                                               gpump_victim_candidate *best) {
    uint64_t best_rank = GPUMP_UNKNOWN, rest;
    uint32_t best_block = GPUMP_VICTIM_BLOCKS; /* *best is this block's, and is not summed up */
    best->position = GPUMP_VICTIM_POSITIONS;
    for (rest = *open; rest; rest &= rest - 1) {
        const uint32_t p = gpump_bits_lowest64(rest);
        const uint64_t on = sets[p], set = on & ~gone;
        gpump_victim_candidate candidate;
        if (set && !((set & (set - 1)) | (set & fixed) | (on & waits))) {
            const uint32_t i = gpump_bits_lowest64(set);
            const uint64_t rank = priced->rank[i];
            if (rank > best_rank) continue;
            if (rank == best_rank && best_block < GPUMP_VICTIM_BLOCKS) {
                const uint64_t *const other = priced->late >> i & 1u ? priced->overhead : priced->latency;
                if (other[i] >= other[best_block]) continue;
            } else if (rank == best_rank && best->position < GPUMP_VICTIM_POSITIONS) {
                gpumpi_victim_sum_block(priced, i, &candidate);
                if (!gpumpi_victim_breaks_tie(&candidate, best)) continue;
            }
            best_block = i;
            best_rank = rank;
        } else {
            uint64_t rank;
            if (set & fixed) {
                *open &= ~(rest & (0 - rest));
                continue;
            }
            gpumpi_victim_sum(priced, set, on & waits, &candidate);
            rank = gpumpi_victim_rank_of(&candidate);
            if (rank > best_rank) continue;
            candidate.position = best->position;
            if (best_block < GPUMP_VICTIM_BLOCKS) gpumpi_victim_sum_block(priced, best_block, best);
            if (rank == best_rank && best->position < GPUMP_VICTIM_POSITIONS &&
                !gpumpi_victim_breaks_tie(&candidate, best))
                continue;
            *best = candidate;
            best_block = GPUMP_VICTIM_BLOCKS;
            best_rank = rank;
        }
        best->position = p;
    }
    if (best_block < GPUMP_VICTIM_BLOCKS) gpumpi_victim_sum_block(priced, best_block, best);
    return best->position < GPUMP_VICTIM_POSITIONS;
}

static uint32_t gpumpi_victim_ask_candidate(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                            const gpump_victim_candidate *candidates, uint32_t count) {
    gpump_victim_candidate_args args;
    args.policy = policy;
    args.request = request;
    args.candidates = candidates;
    args.count = count;
    return policy->candidate(&args);
}

GPUMP_API gpump_result gpump_victim_select(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                           const gpump_victim_sm *sm, const uint64_t *sets, uint32_t positions,
                                           uint64_t open, uint8_t *technique, gpump_victim_candidate *chosen) {
    gpumpi_victim_priced priced;
    gpump_victim_candidate candidates[GPUMP_VICTIM_POSITIONS];
    uint8_t allowed[GPUMP_VICTIM_BLOCKS];
    uint64_t all = 0, fixed = 0, left, rest;
    uint32_t p, i, techniques, count = 0, best;
    if (!policy || !request || !sm || !sets || !technique || !chosen || positions > GPUMP_VICTIM_POSITIONS ||
        sm->count > GPUMP_VICTIM_BLOCKS || (sm->count && (!sm->blocks || !sm->estimates)))
        return GPUMP_ERROR_ARGUMENT;
    left = gpumpi_victim_left(request);
    techniques = gpumpi_victim_techniques(policy);
    if (positions < 64) open &= ((uint64_t)1 << positions) - 1;
    for (rest = open; rest; rest &= rest - 1) all |= sets[gpump_bits_lowest64(rest)];
    if (all && (sm->count == 0 || all >> (sm->count - 1) > 1))
        return GPUMP_ERROR_ARGUMENT; /* a block not in the view */
    for (rest = all; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        allowed[i] = (uint8_t)(sm->blocks[i].may & techniques);
        if (!allowed[i]) fixed |= (uint64_t)1 << i;
    }
    gpumpi_victim_price(policy, request, sm, all & ~fixed, allowed, left, &priced);
    for (i = 0, rest = all & ~fixed; i < sm->count; i++, rest >>= 1)
        technique[i] = rest & 1 ? priced.technique[i] : (uint8_t)GPUMP_VICTIM_NO_TECHNIQUE;
    if (!policy->candidate) {
        if (!gpumpi_victim_best_of(&priced, sets, 0, fixed, 0, &open, candidates)) return GPUMP_EMPTY;
        *chosen = *candidates;
        return GPUMP_OK;
    }
    for (rest = open; rest; rest &= rest - 1) {
        gpump_victim_candidate *c = &candidates[count];
        p = gpump_bits_lowest64(rest);
        if (sets[p] & fixed) continue;
        gpumpi_victim_sum_set(&priced, sets[p], c);
        c->position = p;
        count++;
    }
    if (count == 0) return GPUMP_EMPTY;
    best = gpumpi_victim_ask_candidate(policy, request, candidates, count);
    if (best >= count) return GPUMP_ERROR_REFUSED;
    *chosen = candidates[best];
    return GPUMP_OK;
}

/* ---- positions until the request is met ---- */

GPUMP_API uint64_t gpumpi_victim_closure(const gpump_victim_sm *sm, uint64_t set) {
    uint64_t all = set, rest;
    uint32_t i;
    for (rest = set; rest; rest &= rest - 1) {
        const gpump_block_view *block = &sm->blocks[gpump_bits_lowest64(rest)];
        if (!block->group || !gpump_block_stays(block->state)) continue; /* a parked one has left already */
        for (i = 0; i < sm->count; i++) {
            const gpump_block_view *mate = &sm->blocks[i];
            if (mate->group == block->group && mate->kernel == block->kernel && gpump_block_stays(mate->state))
                all |= (uint64_t)1 << i;
        }
    }
    return all;
}

GPUMP_API gpump_victim_plan_args gpumpi_victim_args_within(const gpump_victim_plan_args *args, uint64_t limit) {
    gpump_victim_plan_args within = *args;
    gpumpi_victim_room room;
    uint64_t rest, late = 0;
    for (rest = args->leaving; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        if (gpumpi_block_freed_after(&args->sm->blocks[i], args->sm->estimates[i].latency) > limit)
            late |= (uint64_t)1 << i;
    }
    room = gpumpi_victim_room_without(args, late);
    within.free_warps = room.warps;
    within.free_threads = room.threads;
    within.free_slots = room.slots;
    within.free_entries = room.slots + room.spare;
    within.leaving &= ~late;
    within.fixed |= late;
    return within;
}

/* Blocks that a policy may choose, best first under Algorithm 1's rule; `late` are those that are late themselves or
 * must leave together with one that is. */
static uint32_t gpumpi_victim_sort(const gpumpi_victim_priced *priced, uint64_t which, uint64_t late, uint8_t *order) {
    uint32_t n = 0, j;
    for (; which; which &= which - 1) {
        uint32_t i = gpump_bits_lowest64(which);
        uint64_t rank = gpumpi_victim_rank(!(late >> i & 1u), priced->latency[i], priced->overhead[i]);
        for (j = n++; j > 0; j--) {
            uint32_t o = order[j - 1];
            if (gpumpi_victim_rank(!(late >> o & 1u), priced->latency[o], priced->overhead[o]) <= rank) break;
            order[j] = (uint8_t)o;
        }
        order[j] = (uint8_t)i;
    }
    return n;
}

/* Algorithm 1 while it chooses one position after the other. */
typedef struct gpumpi_victim_choosing {
    const gpump_victim_plan_args *args;
    gpumpi_victim_priced priced;
    gpump_victim_candidate candidates[GPUMP_VICTIM_POSITIONS]; /* by position */
    uint64_t ranks[GPUMP_VICTIM_POSITIONS];                    /* of candidates */
    gpumpi_victim_room room;                                   /* free after the choices so far */
    uint64_t gone;                                             /* blocks that leave by themselves or were chosen */
    uint64_t open;                                             /* positions that can still be chosen */
    uint64_t idle;    /* open positions that cost nothing and are free at once, but for warps, threads and slots */
    uint64_t waiting; /* a position waits for these until they are gone */
    uint32_t ordered; /* entries of order; GPUMP_NONE until it is made */
    uint32_t ahead;   /* the first of them that is not gone, or `ordered` */
    uint8_t order[GPUMP_VICTIM_BLOCKS];
} gpumpi_victim_choosing;

/* The open positions without those that equal a lower one: of the idle ones only the lowest. */
GPUMP_INLINE uint64_t gpumpi_victim_unlike(const gpumpi_victim_choosing *choosing) {
    const uint64_t idle = choosing->idle & choosing->open;
    return choosing->open & ~(idle & (idle - 1));
}

/* Sums an open position up. Returns 0, and closes it, when a block lies on it that must stay. */
static int gpumpi_victim_sum_position(gpumpi_victim_choosing *choosing, uint32_t p) {
    const gpump_victim_plan_args *args = choosing->args;
    const uint64_t gone = choosing->gone, one = (uint64_t)1 << p;
    gpump_victim_candidate *c = &choosing->candidates[p];
    uint64_t set = args->sets[p] & ~gone;
    if (args->groups) set = gpumpi_victim_closure(args->sm, set) & ~gone;
    if (set & args->fixed) {
        choosing->open &= ~one;
        return 0;
    }
    gpumpi_victim_sum(&choosing->priced, set, args->sets[p] & gone & choosing->waiting, c);
    c->position = p;
    choosing->ranks[p] = gpumpi_victim_rank_of(c);
    if (!set && !c->latency) choosing->idle |= one;
    return 1;
}

/* The best open position by its own blocks alone, NULL without one. Only those that the last choice has changed are
 * summed again. */
static const gpump_victim_candidate *gpumpi_victim_best_position(gpumpi_victim_choosing *choosing, int first) {
    const gpump_victim_candidate *best = NULL;
    uint64_t best_rank = GPUMP_UNKNOWN, rest;
    for (rest = first ? choosing->open : gpumpi_victim_unlike(choosing); rest; rest &= rest - 1) {
        const uint32_t p = gpump_bits_lowest64(rest);
        const gpump_victim_candidate *c = &choosing->candidates[p];
        uint64_t rank;
        if ((first || (c->victims & choosing->gone)) && !gpumpi_victim_sum_position(choosing, p)) continue;
        rank = choosing->ranks[p];
        if (rank > best_rank || (rank == best_rank && best && !gpumpi_victim_breaks_tie(c, best))) continue;
        best = c;
        best_rank = rank;
    }
    return best;
}

/* Blocks that leave beside those of a position, because these do not give it enough room. */
typedef struct gpumpi_victim_filling {
    gpumpi_victim_room room;      /* free without those blocks */
    gpump_victim_candidate added; /* those blocks; no victims: not even all blocks give enough */
    uint64_t tried;               /* a position without any of these, and with the same room, needs the same blocks */
} gpumpi_victim_filling;

/* Adds the best blocks of the order to the victims of a position until it fits into filling->room. Then drops the
 * blocks that are not needed. */
static GPUMPI_CALLED void gpumpi_victim_fill(const gpumpi_victim_choosing *choosing, uint64_t victims,
                                             gpumpi_victim_filling *filling) {
    const gpump_victim_plan_args *args = choosing->args;
    const int groups = args->groups != 0;
    const uint64_t out = choosing->gone | victims;
    gpumpi_victim_room room = filling->room;
    uint64_t added = 0, tried = 0, rest;
    uint32_t k;
    int fits = 0;
    for (k = choosing->ahead; k < choosing->ordered && !fits; k++) {
        uint64_t more = (uint64_t)1 << choosing->order[k];
        tried |= more;
        if (more & (out | added)) continue;
        if (groups) {
            more = gpumpi_victim_closure(args->sm, more) & ~args->leaving;
            if (more & args->fixed) continue;
            more &= ~(out | added);
        }
        added |= more;
        gpumpi_victim_release(args, more, &room);
        fits = gpumpi_victim_suffices(args->geometry, &room, 1);
    }
    for (rest = groups || !fits ? 0 : added; rest && (added & (added - 1)); rest &= rest - 1) {
        gpumpi_victim_room without = gpumpi_victim_room_minus(args, room, rest & (0 - rest));
        if (gpumpi_victim_suffices(args->geometry, &without, 1)) {
            room = without;
            added &= ~(rest & (0 - rest));
        }
    }
    gpumpi_victim_sum_set(&choosing->priced, fits ? added : 0, &filling->added);
    filling->tried = groups || !fits || (tried & victims) ? ~(uint64_t)0 : tried;
}

/* Adds to a candidate the blocks that must leave beside its own so that it fits into `room`. Returns 0 when no blocks
 * suffice. *filling is that of the last candidate, or has tried all blocks. */
static int gpumpi_victim_complete(const gpumpi_victim_choosing *choosing, const gpumpi_victim_room *room,
                                  gpumpi_victim_filling *filling, gpump_victim_candidate *candidate) {
    const gpump_victim_candidate *added = &filling->added;
    if (filling->tried == ~(uint64_t)0 || (filling->tried & candidate->victims) || room->warps != filling->room.warps ||
        room->threads != filling->room.threads || room->slots != filling->room.slots ||
        room->spare != filling->room.spare) {
        filling->room = *room;
        gpumpi_victim_fill(choosing, candidate->victims, filling);
    }
    candidate->victims |= added->victims;
    candidate->late += added->late;
    candidate->overhead = gpump_add_saturated(candidate->overhead, added->overhead);
    if (added->latency > candidate->latency) candidate->latency = added->latency;
    return added->victims != 0;
}

/* The best open position when what it does not hold of warps, threads or slots costs further victims, which may change
 * the order; a policy's own hook chooses here too, among all of them. NULL when there is none. */
static const gpump_victim_candidate *gpumpi_victim_best_filled(gpumpi_victim_choosing *choosing) {
    const gpump_victim_plan_args *args = choosing->args;
    const gpump_victim_policy *policy = args->policy;
    gpump_victim_candidate shown[GPUMP_VICTIM_POSITIONS];
    gpumpi_victim_filling filling;
    uint64_t rest, late = choosing->priced.late, best_rank = GPUMP_UNKNOWN;
    uint32_t count = 0, pick = 0;
    gpumpi_victim_sum_set(&choosing->priced, 0, &filling.added);
    filling.tried = ~(uint64_t)0;
    if (choosing->ordered == GPUMP_NONE) {
        if (args->groups) late = gpumpi_victim_closure(args->sm, late);
        choosing->ordered = gpumpi_victim_sort(&choosing->priced, args->choosable, late, choosing->order);
        choosing->ahead = 0;
    }
    while (choosing->ahead < choosing->ordered && choosing->gone >> choosing->order[choosing->ahead] & 1u)
        choosing->ahead++;
    for (rest = policy->candidate ? choosing->open : gpumpi_victim_unlike(choosing); rest; rest &= rest - 1) {
        const uint32_t p = gpump_bits_lowest64(rest);
        gpump_victim_candidate *c = &shown[count];
        uint64_t rank = choosing->ranks[p];
        gpumpi_victim_room after = choosing->room;
        if (rank > best_rank && !policy->candidate) continue; /* further victims make it no better */
        *c = choosing->candidates[p];
        gpumpi_victim_release_hot(args, c->victims, &after);
        if (!gpumpi_victim_suffices(args->geometry, &after, 1)) {
            if (!gpumpi_victim_complete(choosing, &after, &filling, c)) { /* not even with everyone out */
                choosing->open &= ~((uint64_t)1 << p);
                continue;
            }
            rank = gpumpi_victim_rank_of(c);
        }
        if (rank < best_rank || (rank == best_rank && gpumpi_victim_breaks_tie(c, &shown[pick]))) {
            best_rank = rank;
            pick = count;
        }
        count++;
    }
    if (policy->candidate && count) pick = gpumpi_victim_ask_candidate(policy, args->request, shown, count);
    if (pick >= count) return NULL;
    choosing->candidates[shown[pick].position] = shown[pick];
    return &choosing->candidates[shown[pick].position];
}

/* Takes a position: after has the room without its victims. */
static GPUMPI_CALLED void gpumpi_victim_take_position(gpumpi_victim_choosing *choosing, uint32_t position,
                                                      uint64_t victims, const gpumpi_victim_room *after,
                                                      gpump_victim_plan *plan) {
    const gpump_victim_geometry *geometry = choosing->args->geometry;
    plan->positions |= (uint64_t)1 << position;
    plan->victims |= victims;
    choosing->open &= ~((uint64_t)1 << position);
    choosing->gone |= victims;
    choosing->room.warps = after->warps - geometry->warps;
    choosing->room.threads = after->threads - geometry->threads;
    choosing->room.slots = after->slots - 1;
    choosing->room.spare = after->spare;
}

/* Takes positions that nobody has to leave, at most `most` of them. No candidate is better; where positions wait for
 * blocks that are gone, one of those may be as good and lower. Returns how many. */
static uint32_t gpumpi_victim_take_free(gpumpi_victim_choosing *choosing, uint32_t most, gpump_victim_plan *plan) {
    const gpump_victim_plan_args *args = choosing->args;
    uint64_t rest;
    uint32_t taken = 0;
    if (choosing->gone & choosing->waiting) return 0;
    for (rest = choosing->open; rest && taken < most && gpumpi_victim_suffices(args->geometry, &choosing->room, 1);
         rest &= rest - 1) {
        const uint32_t p = gpump_bits_lowest64(rest);
        if (args->sets[p] & ~choosing->gone) continue;
        gpumpi_victim_take_position(choosing, p, 0, &choosing->room, plan);
        taken++;
    }
    return taken;
}

/* Takes `more` positions, one after the other, the best first. Returns 1 when all of them are free before the deadline.
 */
static int gpumpi_victim_take_best(gpumpi_victim_choosing *choosing, uint32_t more, gpump_victim_plan *plan) {
    const gpump_victim_plan_args *args = choosing->args;
    const gpump_victim_policy *policy = args->policy;
    gpumpi_victim_priced *priced = &choosing->priced;
    uint64_t rest;
    uint32_t taken;
    /* Of several positions, those that the last choice has not changed are not summed up again. */
    const int once = more == 1 && !args->groups && !policy->candidate;
    gpump_victim_candidate only;
    int in_time = 1;
    for (rest = args->leaving & choosing->waiting; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        priced->latency[i] = gpumpi_block_freed_after(&args->sm->blocks[i], args->sm->estimates[i].latency);
        if (priced->latency[i] > args->left || priced->latency[i] == GPUMP_UNKNOWN) priced->late |= (uint64_t)1 << i;
    }
    for (taken = 0; taken < more; taken++) {
        const gpump_victim_candidate *best =
            once ? gpumpi_victim_best_of(priced, args->sets, choosing->gone, args->fixed,
                                         choosing->gone & choosing->waiting, &choosing->open, &only)
                       ? &only
                       : NULL
                 : gpumpi_victim_best_position(choosing, taken == 0);
        gpumpi_victim_room after = choosing->room;
        int fill;
        if (!best) break;
        fill = policy->candidate && (best->victims || best->latency); /* the hook chooses */
        if (!fill) {
            gpumpi_victim_release_hot(args, best->victims, &after);
            fill = !gpumpi_victim_suffices(args->geometry, &after, 1);
        }
        if (fill) {
            if (once) gpumpi_victim_best_position(choosing, 1); /* sums up all of them */
            best = gpumpi_victim_best_filled(choosing);
            if (!best) break;
            after = choosing->room;
            gpumpi_victim_release(args, best->victims, &after);
        }
        in_time &= !best->late;
        gpumpi_victim_take_position(choosing, best->position, best->victims, &after, plan);
    }
    return in_time;
}

/* Takes positions until args->want are taken, beginning with those of `from` (NULL: none). Returns 1 when all positions
 * that it adds are free before the deadline. */
static int gpumpi_victim_greedy(const gpump_victim_plan_args *args, const gpump_victim_plan *from,
                                gpump_victim_plan *plan) {
    gpumpi_victim_choosing choosing;
    const uint64_t positions = from ? from->positions : 0, victims = from ? from->victims : 0;
    const uint32_t before = positions ? gpumpi_bits_count64(positions) : 0;
    uint32_t more = args->want > before ? args->want - before : 0;
    int in_time = 1;
    choosing.args = args;
    choosing.gone = args->leaving | victims;
    choosing.open = args->open & ~positions;
    choosing.waiting = args->policy->flags & GPUMP_VICTIM_EVICTED ? 0 : ~(uint64_t)0;
    choosing.ordered = GPUMP_NONE;
    choosing.idle = 0;
    choosing.room = gpumpi_victim_room_without(args, 0);
    if (before) {
        gpumpi_victim_release(args, victims, &choosing.room);
        choosing.room.warps -= (int64_t)args->geometry->warps * before;
        choosing.room.threads -= (int64_t)args->geometry->threads * before;
        choosing.room.slots -= before;
    }
    plan->positions = positions;
    plan->victims = victims;
    more -= gpumpi_victim_take_free(&choosing, more, plan);
    if (!from)
        gpumpi_victim_price(args->policy, args->request, args->sm, args->choosable, args->allowed, args->left,
                            &choosing.priced);
    else if (more)
        gpumpi_victim_price_as(args, from, &choosing.priced);
    if (more) in_time = gpumpi_victim_take_best(&choosing, more, plan);
    plan->ask_again = from ? from->ask_again : choosing.priced.ask_again;
    /* Not of the victims alone: the plan may be extended. */
    memcpy(plan->technique, from ? from->technique : choosing.priced.technique, args->sm->count);
    return in_time;
}

GPUMP_API void gpumpi_victim_plan_further(const gpump_victim_plan_args *args, const gpump_victim_plan *from,
                                          gpump_victim_plan *plan) {
    if (args->leaving && !(args->policy->flags & GPUMP_VICTIM_EVICTED)) {
        /* The first attempt leaves out the room of blocks that leave too late. The second attempt counts only when it
         * gives more positions. */
        gpump_victim_plan_args within = gpumpi_victim_args_within(args, args->left);
        gpump_victim_plan sure;
        sure.later = 0;
        if (gpumpi_victim_greedy(&within, NULL, &sure)) {
            uint32_t positions = gpumpi_bits_count64(sure.positions);
            if (positions < args->want) gpumpi_victim_greedy(args, NULL, plan);
            if (positions == args->want || gpumpi_bits_count64(plan->positions) <= positions) *plan = sure;
            return;
        }
        from = NULL;
    }
    gpumpi_victim_greedy(args, from, plan);
}

GPUMP_API void gpump_victim_plan_greedy(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_plan_further(args, NULL, plan);
}

GPUMP_API void gpumpi_victim_plan_each(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_priced priced;
    gpumpi_victim_price(args->policy, args->request, args->sm, args->choosable, args->allowed, args->left, &priced);
    plan->victims = args->choosable;
    plan->ask_again = priced.ask_again;
    memcpy(plan->technique, priced.technique, args->sm->count);
}

/* Policies that, like Chimera, evict all blocks of an SM or none. Positions are taken from the lowest. */
GPUMP_API void gpumpi_victim_plan_whole(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_room room;
    uint64_t rest;
    uint32_t taken;
    plan->positions = plan->victims = 0;
    plan->ask_again = GPUMP_UNKNOWN;
    if (args->fixed) return;
    if (args->policy->plan) {
        args->policy->plan(args, plan);
        return;
    }
    room = gpumpi_victim_room_without(args, 0);
    gpumpi_victim_release(args, args->choosable, &room);
    for (rest = args->open, taken = 0;
         rest && taken < args->want && gpumpi_victim_suffices(args->geometry, &room, taken + 1);
         rest &= rest - 1, taken++)
        plan->positions |= rest & (0 - rest);
    if (plan->positions) gpumpi_victim_plan_each(args, plan);
}
