#include "victim_parts.h"

/* Blocks of one SM after every one has been given its way out. */
typedef struct gpumpi_victim_priced {
    uint64_t latency[GPUMP_VICTIM_BLOCKS];
    uint64_t overhead[GPUMP_VICTIM_BLOCKS];
    uint64_t late; /* blocks that no technique gets out in time */
    uint64_t ask_again;
    uint8_t technique[GPUMP_VICTIM_BLOCKS];
} gpumpi_victim_priced;

/* Prices every block of `which`. A hook's answer outside `allowed` makes the block NO_TECHNIQUE; the check of the plan names it. */
static void gpumpi_victim_price(const gpump_victim_policy *policy, const gpump_victim_request *request, const gpump_victim_sm *sm,
                                uint64_t which, const uint8_t *allowed, uint64_t left, gpumpi_victim_priced *priced) {
    priced->late = 0;
    priced->ask_again = GPUMP_UNKNOWN;
    for (; which; which &= which - 1) {
        uint32_t i = gpump_bits_lowest64(which), t;
        const gpump_cost_estimate *estimate = &sm->estimates[i];
        if (policy->technique) {
            gpump_victim_block_args args;
            args.request = request;
            args.block = &sm->blocks[i];
            args.estimate = estimate;
            args.allowed = allowed[i];
            args.draining = 0;
            args.left = left;
            args.ask_again = &priced->ask_again;
            t = policy->technique(policy, &args);
            if (t >= GPUMP_TECHNIQUES) t = GPUMP_VICTIM_NO_TECHNIQUE;
        } else {
            t = gpumpi_victim_cheapest(estimate, allowed[i], left);
        }
        priced->technique[i] = (uint8_t)t;
        priced->latency[i] = t < GPUMP_TECHNIQUES ? estimate->latency[t] : GPUMP_UNKNOWN;
        priced->overhead[i] = t < GPUMP_TECHNIQUES ? estimate->overhead[t] : GPUMP_UNKNOWN;
        if (priced->latency[i] > left || priced->latency[i] == GPUMP_UNKNOWN) priced->late |= (uint64_t)1 << i;
    }
}

/* ---- one candidate: Algorithm 1 ---- */

/* 1 when a is to be preferred (Algorithm 1, lines 21 to 26); ties go to the lower position. */
static int gpumpi_victim_better(const gpump_victim_candidate *a, const gpump_victim_candidate *b) {
    if (!a->late != !b->late) return !a->late;
    if (!a->late) return a->overhead != b->overhead ? a->overhead < b->overhead : a->latency < b->latency;
    return a->latency != b->latency ? a->latency < b->latency : a->overhead < b->overhead;
}

static void gpumpi_victim_sum(const gpumpi_victim_priced *priced, uint64_t set, gpump_victim_candidate *candidate) {
    candidate->victims = set;
    candidate->latency = candidate->overhead = 0;
    candidate->late = set & priced->late ? gpump_bits_count64(set & priced->late) : 0; /* counting is a call on plain x86-64 */
    for (; set; set &= set - 1) {
        uint32_t i = gpump_bits_lowest64(set);
        if (priced->latency[i] > candidate->latency) candidate->latency = priced->latency[i];
        candidate->overhead = gpump_add_saturated(candidate->overhead, priced->overhead[i]);
    }
}

GPUMP_API gpump_result gpump_victim_select(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                           const gpump_victim_sm *sm, const uint64_t *sets, uint32_t positions, uint64_t open,
                                           uint8_t *technique, gpump_victim_candidate *chosen) {
    gpumpi_victim_priced priced;
    gpump_victim_candidate candidates[GPUMP_VICTIM_POSITIONS];
    uint8_t allowed[GPUMP_VICTIM_BLOCKS];
    uint64_t all = 0, fixed = 0, left = gpumpi_victim_left(request), rest;
    uint32_t p, i, count = 0, best = 0;
    memset(allowed, 0, sizeof allowed);
    for (p = 0; p < positions; p++)
        if (open >> p & 1u) all |= sets[p];
    for (rest = all; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        allowed[i] = (uint8_t)(sm->blocks[i].may & policy->techniques);
        if (!allowed[i]) fixed |= (uint64_t)1 << i;
    }
    memset(technique, (int)GPUMP_VICTIM_NO_TECHNIQUE, sm->count);
    gpumpi_victim_price(policy, request, sm, all & ~fixed, allowed, left, &priced);
    for (rest = all & ~fixed; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        technique[i] = priced.technique[i];
    }
    for (p = 0; p < positions; p++) {
        gpump_victim_candidate *c = &candidates[count];
        if (!(open >> p & 1u) || (sets[p] & fixed)) continue;
        gpumpi_victim_sum(&priced, sets[p], c);
        c->position = p;
        if (count == 0 || gpumpi_victim_better(c, &candidates[best])) best = count;
        count++;
    }
    if (count == 0) return GPUMP_EMPTY;
    if (policy->candidate) {
        best = policy->candidate(policy, request, candidates, count);
        if (best >= count) return GPUMP_ERROR_REFUSED;
    }
    *chosen = candidates[best];
    return GPUMP_OK;
}

/* ---- positions until the request is met ---- */

GPUMP_API uint64_t gpumpi_victim_closure(const gpump_victim_sm *sm, uint64_t set) {
    uint64_t all = set, rest;
    uint32_t i;
    for (rest = set; rest; rest &= rest - 1) {
        uint32_t group = sm->blocks[gpump_bits_lowest64(rest)].group;
        if (group)
            for (i = 0; i < sm->count; i++)
                if (sm->blocks[i].group == group) all |= (uint64_t)1 << i;
    }
    return all;
}

/* Blocks that a policy may choose, best first under Algorithm 1's rule. */
static uint32_t gpumpi_victim_sort(const gpumpi_victim_priced *priced, uint64_t which, uint8_t *order) {
    uint32_t n = 0, j;
    for (; which; which &= which - 1) {
        uint32_t i = gpump_bits_lowest64(which);
        for (j = n++; j > 0; j--) {
            uint32_t o = order[j - 1];
            uint64_t late_i = priced->late >> i & 1u, late_o = priced->late >> o & 1u;
            uint64_t key_i = late_i ? priced->latency[i] : priced->overhead[i], key_o = late_o ? priced->latency[o] : priced->overhead[o];
            if (late_o < late_i || (late_o == late_i && key_o <= key_i)) break;
            order[j] = (uint8_t)o;
        }
        order[j] = (uint8_t)i;
    }
    return n;
}

/* Adds the best blocks of `order` to a set until `positions` more fit; drops those that turn out not to be needed. Returns the
 * extended set, or 0 when it cannot be done. */
static uint64_t gpumpi_victim_fill(const gpump_victim_plan_args *args, const uint8_t *order, uint32_t n, uint64_t gone, int groups,
                                   uint64_t set, gpumpi_victim_room room, uint32_t positions) {
    uint64_t added = 0, rest;
    uint32_t k;
    for (k = 0; k < n && !gpumpi_victim_suffices(args->geometry, &room, positions); k++) {
        uint64_t more = (uint64_t)1 << order[k];
        if (more & (gone | set | added)) continue;
        if (groups) {
            more = gpumpi_victim_closure(args->sm, more) & ~args->leaving;
            if (more & args->fixed) continue;
            more &= ~(set | added | gone);
        }
        added |= more;
        gpumpi_victim_release(args->sm->blocks, more, &room);
    }
    if (!gpumpi_victim_suffices(args->geometry, &room, positions)) return 0;
    for (rest = groups ? 0 : added; rest && gpump_bits_count64(added) > 1; rest &= rest - 1) {
        const gpump_block_view *block = &args->sm->blocks[gpump_bits_lowest64(rest)];
        gpumpi_victim_room without = room;
        without.warps -= block->warps;
        without.threads -= block->threads;
        without.slots--;
        if (gpumpi_victim_suffices(args->geometry, &without, positions)) {
            room = without;
            added &= ~(rest & (0 - rest));
        }
    }
    return set | added;
}

GPUMP_API void gpump_victim_plan_greedy(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_priced priced;
    gpump_victim_candidate candidates[GPUMP_VICTIM_POSITIONS];
    uint8_t order[GPUMP_VICTIM_BLOCKS];
    gpumpi_victim_room room;
    const gpump_victim_geometry *geometry = args->geometry;
    uint64_t choosable = args->choosable, gone = args->leaving, rest;
    uint32_t ordered = GPUMP_NONE, taken;
    int groups = args->groups != 0, every = !(policy->flags & GPUMP_VICTIM_EVICTED);
    gpumpi_victim_price(policy, args->request, args->sm, choosable, args->allowed, args->left, &priced);
    plan->positions = plan->victims = 0;
    plan->ask_again = priced.ask_again;
    if (every)
        for (rest = args->leaving; rest; rest &= rest - 1) {
            uint32_t i = gpump_bits_lowest64(rest);
            priced.latency[i] = gpumpi_victim_leaving_latency(&args->sm->blocks[i], &args->sm->estimates[i]);
        }
    room.warps = args->free_warps;
    room.threads = args->free_threads;
    room.slots = args->free_slots;
    for (taken = 0; taken < args->want; taken++) {
        gpump_victim_candidate best;
        uint32_t count = 0, found = 0, empty = 0;
        for (rest = args->open & ~plan->positions; rest && !empty; rest &= rest - 1) {
            uint32_t p = gpump_bits_lowest64(rest);
            gpump_victim_candidate *c = &candidates[count];
            uint64_t set = args->sets[p] & ~gone, waits;
            gpumpi_victim_room after = room;
            if (groups) set = gpumpi_victim_closure(args->sm, set) & ~gone;
            if (set & args->fixed) continue;
            gpumpi_victim_release(args->sm->blocks, set, &after);
            if (!gpumpi_victim_suffices(geometry, &after, 1)) {
                if (ordered == GPUMP_NONE) ordered = gpumpi_victim_sort(&priced, choosable, order);
                set = gpumpi_victim_fill(args, order, ordered, gone, groups, set, after, 1);
                if (!set) continue;
            }
            gpumpi_victim_sum(&priced, set, c);
            if (every) {
                /* Also those that leave anyway, or for an earlier position, keep this one from being free. */
                for (waits = args->sets[p] & gone; waits; waits &= waits - 1) {
                    uint64_t latency = priced.latency[gpump_bits_lowest64(waits)];
                    if (latency > c->latency) c->latency = latency;
                    if (latency > args->left || latency == GPUMP_UNKNOWN) c->late++;
                }
            }
            c->position = p;
            if (!found || gpumpi_victim_better(c, &best)) best = *c;
            found = 1;
            count++;
            empty = c->victims == 0 && c->latency == 0;
        }
        if (!found) break;
        if (policy->candidate && !empty) {
            uint32_t pick = policy->candidate(policy, args->request, candidates, count);
            if (pick >= count) break;
            best = candidates[pick];
        }
        plan->positions |= (uint64_t)1 << best.position;
        plan->victims |= best.victims;
        gone |= best.victims;
        gpumpi_victim_release(args->sm->blocks, best.victims, &room);
        room.warps -= geometry->warps;
        room.threads -= geometry->threads;
        room.slots--;
    }
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        plan->technique[i] = priced.technique[i];
    }
}

/* Chimera and its kin: all blocks or none, positions from the lowest. */
GPUMP_API void gpumpi_victim_plan_whole(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_priced priced;
    uint64_t rest, victims = args->choosable;
    uint32_t taken;
    plan->positions = plan->victims = 0;
    plan->ask_again = GPUMP_UNKNOWN;
    if (args->fixed) return;
    if (policy->plan) {
        policy->plan(policy, args, plan);
        return;
    }
    gpumpi_victim_price(policy, args->request, args->sm, victims, args->allowed, args->left, &priced);
    for (rest = args->open, taken = 0; rest && taken < args->want; rest &= rest - 1, taken++) plan->positions |= rest & (0 - rest);
    if (!plan->positions) return;
    plan->victims = victims;
    plan->ask_again = priced.ask_again;
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        plan->technique[i] = priced.technique[i];
    }
}
