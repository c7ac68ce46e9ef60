/* victim: the code behind victim.h */
#include "victim.h"

#include <string.h>

/* Blocks of one SM after every one has been given its way out. */
typedef struct gpumpi_victim_priced {
    uint64_t latency[GPUMP_VICTIM_BLOCKS];
    uint64_t overhead[GPUMP_VICTIM_BLOCKS];
    uint64_t late; /* blocks that no technique gets out in time */
    uint64_t ask_again;
    uint8_t technique[GPUMP_VICTIM_BLOCKS];
} gpumpi_victim_priced;

/* An SM in a decision over many. */
typedef struct gpumpi_victim_state {
    uint64_t overhead; /* of one position more */
    uint64_t latency;
    uint64_t total;    /* overhead of the plan so far */
    uint32_t late;
    uint32_t quota;    /* positions given to this SM */
    uint32_t heap;     /* the heap of SM indices is spread over these */
    uint32_t unused;
} gpumpi_victim_state;

/* ---- geometry and candidate sets ---- */

static uint64_t gpumpi_victim_factor(uint32_t divisor) { return divisor ? (((uint64_t)1 << 40) + divisor - 1) / divisor : 0; }

/* x / divisor, for x and divisor below 2^20. */
static uint32_t gpumpi_victim_divide(uint32_t x, uint64_t factor) { return (uint32_t)(x * factor >> 40); }

GPUMP_API gpump_result gpump_victim_geometry_init(gpump_victim_geometry *geometry, const gpump_gpu *gpu, const gpump_footprint *need,
                                                  uint32_t shared_bytes, gpump_diag *diag) {
    gpump_gpu fixed;
    gpump_occupancy occupancy;
    gpump_result result;
    uint32_t positions = GPUMP_VICTIM_POSITIONS;
    if (!geometry || !gpu || !need) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "geometry, gpu or need", 0, 0, 1, UINT64_MAX);
    if (gpu->registers >= 1u << 20) return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "registers", 0, gpu->registers, 0, (1u << 20) - 1);
    if (shared_bytes >= 1u << 20) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "shared_bytes", 0, shared_bytes, 0, (1u << 20) - 1);
    fixed = *gpu;
    fixed.shared_options = 1;
    fixed.shared_bytes[0] = shared_bytes;
    result = gpump_gpu_occupancy(&fixed, need, &occupancy, diag);
    if (result != GPUMP_OK) return result;
    if (occupancy.blocks == 0) return gpumpi_refuse(diag, GPUMP_REASON_NEVER_FITS, "need", 0);
    if (occupancy.registers && gpu->registers / occupancy.registers < positions) positions = gpu->registers / occupancy.registers;
    if (occupancy.block_shared_bytes && shared_bytes / occupancy.block_shared_bytes < positions)
        positions = shared_bytes / occupancy.block_shared_bytes;
    if (!occupancy.registers && !occupancy.block_shared_bytes) positions = occupancy.blocks;
    geometry->register_factor = gpumpi_victim_factor(occupancy.registers);
    geometry->shared_factor = gpumpi_victim_factor(occupancy.block_shared_bytes);
    geometry->positions = positions;
    geometry->registers = occupancy.registers;
    geometry->shared_bytes = occupancy.block_shared_bytes;
    geometry->warps = occupancy.warps;
    geometry->threads = need->threads;
    geometry->blocks = occupancy.blocks;
    geometry->warp_slots = gpu->warp_slots;
    geometry->thread_slots = gpu->thread_slots;
    geometry->block_slots = gpu->block_slots;
    geometry->unused = 0;
    return GPUMP_OK;
}

/* The positions, as a mask, that a range reaches into. */
static uint64_t gpumpi_victim_span(uint32_t base, uint32_t length, uint64_t factor, uint32_t positions) {
    uint32_t first, last;
    if (!factor || !length) return 0;
    first = gpumpi_victim_divide(base, factor);
    last = gpumpi_victim_divide(base + length - 1, factor);
    if (first >= positions) return 0;
    if (last >= positions) last = positions - 1;
    return (~(uint64_t)0 >> (63 - (last - first))) << first;
}

GPUMP_API void gpump_victim_candidates(const gpump_victim_geometry *geometry, const gpump_block_view *blocks, uint32_t count,
                                       uint32_t kernel, uint64_t *sets, uint64_t *taken) {
    uint32_t i;
    memset(sets, 0, geometry->positions * sizeof *sets);
    *taken = 0;
    for (i = 0; i < count; i++) {
        uint64_t span = gpumpi_victim_span(blocks[i].register_base, blocks[i].registers, geometry->register_factor, geometry->positions) |
                        gpumpi_victim_span(blocks[i].shared_base, blocks[i].shared_bytes, geometry->shared_factor, geometry->positions);
        if (blocks[i].kernel == kernel) {
            *taken |= span;
            continue;
        }
        for (; span; span &= span - 1) sets[gpump_bits_lowest64(span)] |= (uint64_t)1 << i;
    }
}

GPUMP_API void gpump_victim_candidates_update(uint64_t *sets, uint32_t positions, uint64_t preempted) {
    uint32_t p;
    for (p = 0; p < positions; p++) sets[p] &= ~preempted;
}

/* ---- one block ---- */

static uint64_t gpumpi_victim_left(const gpump_victim_request *request) {
    uint64_t deadline = gpump_add_saturated(request->since, request->limit_cycles);
    if (request->limit_cycles == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    return deadline > request->now ? deadline - request->now : 0;
}

/* A block that frees its room without being told to. */
static int gpumpi_victim_is_leaving(const gpump_block_view *block) {
    return block->state >= GPUMP_BLOCK_DRAINING && block->state != GPUMP_BLOCK_RESTORING;
}

static uint64_t gpumpi_victim_leaving_latency(const gpump_block_view *block, const gpump_cost_estimate *estimate) {
    if (block->state == GPUMP_BLOCK_DRAINING) return estimate->latency[GPUMP_TECHNIQUE_DRAIN];
    if (block->state == GPUMP_BLOCK_STOPPING || block->state == GPUMP_BLOCK_SAVING) return estimate->latency[GPUMP_TECHNIQUE_SWITCH];
    return 0;
}

/* Algorithm 1, lines 3 to 13. `allowed` is not 0. Unknown counts as the largest number and is never in time. */
static uint32_t gpumpi_victim_cheapest(const gpump_cost_estimate *estimate, uint32_t allowed, uint64_t left) {
    uint32_t t, in_time = GPUMP_TECHNIQUES, fastest = GPUMP_TECHNIQUES;
    for (t = 0; t < GPUMP_TECHNIQUES; t++) {
        uint64_t latency = estimate->latency[t], overhead = estimate->overhead[t];
        if (!(allowed >> t & 1u)) continue;
        if (latency <= left && latency != GPUMP_UNKNOWN &&
            (in_time == GPUMP_TECHNIQUES || overhead < estimate->overhead[in_time] ||
             (overhead == estimate->overhead[in_time] && latency < estimate->latency[in_time])))
            in_time = t;
        if (in_time != GPUMP_TECHNIQUES) continue; /* the fastest is asked for only when none is in time */
        if (fastest == GPUMP_TECHNIQUES || latency < estimate->latency[fastest] ||
            (latency == estimate->latency[fastest] && overhead < estimate->overhead[fastest]))
            fastest = t;
    }
    return in_time != GPUMP_TECHNIQUES ? in_time : fastest;
}

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

/* ---- candidates ---- */

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

/* ---- plans: which positions and blocks of one SM ---- */

/* What the SM lacks in warps, threads and slots when `positions` more blocks come and the blocks of `set` leave. */
typedef struct gpumpi_victim_room {
    uint32_t warps, threads, slots; /* free */
} gpumpi_victim_room;

static void gpumpi_victim_release(const gpump_block_view *blocks, uint64_t set, gpumpi_victim_room *room) {
    for (; set; set &= set - 1) {
        const gpump_block_view *block = &blocks[gpump_bits_lowest64(set)];
        room->warps += block->warps;
        room->threads += block->threads;
        room->slots++;
    }
}

static int gpumpi_victim_suffices(const gpump_victim_geometry *geometry, const gpumpi_victim_room *room, uint32_t positions) {
    return room->warps >= geometry->warps * positions && room->threads >= geometry->threads * positions && room->slots >= positions;
}

/* Adds whoever must leave with a block of the set. */
static uint64_t gpumpi_victim_closure(const gpump_victim_sm *sm, uint64_t set) {
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

/* ---- the exact plan ---- */

#define GPUMPI_VICTIM_NODES 200000u

typedef struct gpumpi_victim_search {
    const gpump_victim_plan_args *args;
    const uint64_t *overhead;  /* per block */
    uint64_t usable;           /* blocks that may be chosen */
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
    uint64_t alone[GPUMP_VICTIM_POSITIONS]; /* overhead of the blocks that lie on this position only */
    uint8_t position[GPUMP_VICTIM_POSITIONS];
    uint8_t item[GPUMP_VICTIM_BLOCKS];      /* usable blocks, cheapest first */
    uint32_t positions, items, want;
    uint32_t nodes;
    int groups;
    uint64_t best_overhead, best_positions, best_victims;
    int found;
} gpumpi_victim_search;

static uint64_t gpumpi_victim_total(const gpumpi_victim_search *search, uint64_t set) {
    uint64_t sum = 0;
    for (; set; set &= set - 1) sum = gpump_add_saturated(sum, search->overhead[gpump_bits_lowest64(set)]);
    return sum;
}

/* Fills up warps, threads and slots at least overhead, from item k on. */
static void gpumpi_victim_search_fill(gpumpi_victim_search *search, uint64_t positions, uint64_t victims, uint64_t overhead, uint32_t k) {
    const gpump_victim_plan_args *args = search->args;
    gpumpi_victim_room room;
    if (search->found && overhead >= search->best_overhead) return;
    room.warps = args->free_warps;
    room.threads = args->free_threads;
    room.slots = args->free_slots;
    gpumpi_victim_release(args->sm->blocks, victims, &room);
    if (gpumpi_victim_suffices(args->geometry, &room, search->want)) {
        search->found = 1;
        search->best_overhead = overhead;
        search->best_positions = positions;
        search->best_victims = victims;
        return;
    }
    for (; k < search->items && search->nodes > 0; k++) {
        uint64_t more = (uint64_t)1 << search->item[k];
        if (more & victims) continue;
        if (search->groups) {
            more = gpumpi_victim_closure(args->sm, more) & ~args->leaving;
            if (more & ~search->usable) continue;
            more &= ~victims;
        }
        search->nodes--;
        gpumpi_victim_search_fill(search, positions, victims | more, gpump_add_saturated(overhead, gpumpi_victim_total(search, more)), k + 1);
        /* Blocks of the same size are as good as each other: the cheapest first is enough. */
        {
            const gpump_block_view *a = &args->sm->blocks[search->item[k]];
            uint32_t j, alike = !search->groups;
            for (j = k + 1; j < search->items && alike; j++) {
                const gpump_block_view *b = &args->sm->blocks[search->item[j]];
                alike = b->warps == a->warps && b->threads == a->threads;
            }
            if (alike) return;
        }
    }
}

static void gpumpi_victim_search_positions(gpumpi_victim_search *search, uint32_t k, uint32_t chosen, uint64_t positions, uint64_t victims) {
    uint64_t overhead = gpumpi_victim_total(search, victims), bound = overhead;
    uint32_t i, missing = search->want - chosen;
    if (search->nodes == 0) return;
    search->nodes--;
    if (missing == 0) {
        gpumpi_victim_search_fill(search, positions, victims, overhead, 0);
        return;
    }
    if (search->positions - k < missing) return;
    /* Positions are sorted by what only they cost: the next `missing` ones are the least that can still come. */
    for (i = k; i < k + missing; i++) bound = gpump_add_saturated(bound, search->alone[i]);
    if (search->found && bound >= search->best_overhead) return;
    gpumpi_victim_search_positions(search, k + 1, chosen + 1, positions | (uint64_t)1 << search->position[k],
                                   victims | search->sets[k]);
    /* Positions with the same victims are as good as each other: who leaves one out leaves all of them out. */
    for (i = k + 1; i < search->positions && search->sets[i] == search->sets[k]; i++) {}
    gpumpi_victim_search_positions(search, i, chosen, positions, victims);
}

/* Positions and victims of least overhead in which every block leaves within the limit; where that cannot be, within the least
 * latency that can. Every block takes its cheapest technique within that latency, which is returned. */
static uint64_t gpumpi_victim_exact(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates, uint32_t nodes,
                                    gpump_victim_plan *plan) {
    gpumpi_victim_search search;
    uint64_t fastest[GPUMP_VICTIM_BLOCKS], overhead[GPUMP_VICTIM_BLOCKS], choosable = args->choosable, rest, limit = args->left;
    uint32_t want, p, i, j;
    plan->positions = plan->victims = 0;
    plan->ask_again = GPUMP_UNKNOWN;
    search.args = args;
    search.overhead = overhead;
    search.groups = args->groups != 0;
    for (rest = choosable; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        fastest[i] = GPUMP_UNKNOWN;
        for (p = 0; p < GPUMP_TECHNIQUES; p++)
            if ((args->allowed[i] >> p & 1u) && estimates[i].latency[p] < fastest[i]) fastest[i] = estimates[i].latency[p];
    }
    /* The fewest cycles in which `want` positions can be had: whether they can depends only on which blocks may be chosen. */
    for (want = args->want; want > 0; want--) {
        limit = args->left;
        for (;;) {
            gpumpi_victim_room room;
            uint64_t next = GPUMP_UNKNOWN, bad;
            uint32_t positions = 0, more = 0;
            search.usable = 0;
            for (rest = choosable; rest; rest &= rest - 1) {
                i = gpump_bits_lowest64(rest);
                if (fastest[i] <= limit) search.usable |= (uint64_t)1 << i;
            }
            bad = ~search.usable & ~args->leaving;
            for (rest = search.groups ? search.usable : 0; rest; rest &= rest - 1) {
                uint64_t one = rest & (0 - rest);
                if (gpumpi_victim_closure(args->sm, one) & bad) search.usable &= ~one;
            }
            for (p = 0; p < args->geometry->positions; p++)
                if ((args->open >> p & 1u) && !(args->sets[p] & ~args->leaving & ~search.usable)) positions++;
            room.warps = args->free_warps;
            room.threads = args->free_threads;
            room.slots = args->free_slots;
            gpumpi_victim_release(args->sm->blocks, search.usable, &room);
            if (positions >= want && gpumpi_victim_suffices(args->geometry, &room, want)) goto possible;
            for (rest = choosable & ~search.usable; rest; rest &= rest - 1) {
                i = gpump_bits_lowest64(rest);
                if (fastest[i] > limit && (!more || fastest[i] < next)) {
                    next = fastest[i];
                    more = 1;
                }
            }
            if (!more) break;
            limit = next;
        }
    }
    return limit;
possible:
    for (rest = search.usable; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        plan->technique[i] = (uint8_t)gpumpi_victim_cheapest(&estimates[i], args->allowed[i], limit);
        overhead[i] = estimates[i].overhead[plan->technique[i]];
    }
    search.want = want;
    search.nodes = nodes;
    search.found = 0;
    search.best_overhead = GPUMP_UNKNOWN;
    search.best_positions = search.best_victims = 0;
    search.positions = search.items = 0;
    for (rest = search.usable; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        for (j = search.items++; j > 0 && overhead[search.item[j - 1]] > overhead[i]; j--) search.item[j] = search.item[j - 1];
        search.item[j] = (uint8_t)i;
    }
    for (p = 0; p < args->geometry->positions; p++) {
        uint64_t set = args->sets[p] & ~args->leaving, others = 0, alone;
        uint32_t q;
        if (search.groups) set = gpumpi_victim_closure(args->sm, set) & ~args->leaving;
        if (!(args->open >> p & 1u) || (set & ~search.usable)) continue;
        for (q = 0; q < args->geometry->positions; q++)
            if (q != p && (args->open >> q & 1u)) others |= args->sets[q];
        if (search.groups) others = gpumpi_victim_closure(args->sm, others);
        alone = gpumpi_victim_total(&search, set & ~others);
        for (j = search.positions++; j > 0 && (search.alone[j - 1] > alone || (search.alone[j - 1] == alone && search.sets[j - 1] > set)); j--) {
            search.alone[j] = search.alone[j - 1];
            search.sets[j] = search.sets[j - 1];
            search.position[j] = search.position[j - 1];
        }
        search.alone[j] = alone;
        search.sets[j] = set;
        search.position[j] = (uint8_t)p;
    }
    gpumpi_victim_search_positions(&search, 0, 0, 0, 0);
    if (!search.found) return GPUMP_UNKNOWN - 1; /* overheads unknown throughout, or the node budget: the caller falls back */
    plan->positions = search.best_positions;
    plan->victims = search.best_victims;
    return limit;
}

static void gpumpi_victim_plan_exact(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_exact(args, args->sm->estimates, GPUMPI_VICTIM_NODES, plan);
    if (!plan->positions && args->want) gpump_victim_plan_greedy(policy, args, plan);
}

/* ---- joint: ours ---- */

static int gpumpi_victim_uses_port(uint32_t technique) {
    return technique == GPUMP_TECHNIQUE_SWITCH || technique == GPUMP_TECHNIQUE_REWIND;
}

/* The cheapest technique of a block within `limit`, without those in `avoid`; GPUMP_TECHNIQUES when there is none. */
static uint32_t gpumpi_victim_within(const gpump_cost_estimate *estimate, uint32_t allowed, uint32_t avoid, uint64_t limit) {
    uint32_t t = GPUMP_TECHNIQUES;
    allowed &= ~avoid;
    if (allowed) t = gpumpi_victim_cheapest(estimate, allowed, limit);
    if (t < GPUMP_TECHNIQUES && (estimate->latency[t] > limit || estimate->latency[t] == GPUMP_UNKNOWN)) t = GPUMP_TECHNIQUES;
    return t;
}

#define GPUMPI_VICTIM_PORT (1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_REWIND)

/* Gives the victims techniques such that all are out within the limit or, where that cannot be, within the least latency that can:
 * the saves of an SM follow each other, so their times add up, and whoever is past the limit anyway frees the others to take
 * whatever is cheapest up to the same moment. */
static void gpumpi_victim_assign(const gpump_victim_plan_args *args, uint64_t victims, gpump_victim_plan *plan) {
    const gpump_cost_estimate *estimates = args->sm->estimates;
    uint64_t rest, forced = 0, limit = args->left, port;
    int serial = (args->request->flags & GPUMP_VICTIM_SERIAL_PORT) != 0;
    /* The least time in which all can be out: those that can neither be flushed nor drained in time must be saved. */
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = gpumpi_victim_within(&estimates[i], args->allowed[i], GPUMPI_VICTIM_PORT, limit);
        uint64_t saved = GPUMP_UNKNOWN;
        if (t < GPUMP_TECHNIQUES) continue;
        for (t = GPUMP_TECHNIQUE_SWITCH; t <= GPUMP_TECHNIQUE_REWIND; t += GPUMP_TECHNIQUE_REWIND - GPUMP_TECHNIQUE_SWITCH)
            if ((args->allowed[i] >> t & 1u) && estimates[i].latency[t] < saved) saved = estimates[i].latency[t];
        if (saved == GPUMP_UNKNOWN) saved = estimates[i].latency[GPUMP_TECHNIQUE_DRAIN]; /* nothing but the drain */
        if (saved != GPUMP_UNKNOWN && serial) forced = gpump_add_saturated(forced, saved);
        if (saved != GPUMP_UNKNOWN && !serial && saved > forced) forced = saved;
        if (saved == GPUMP_UNKNOWN) forced = GPUMP_UNKNOWN - 1;
    }
    if (limit != GPUMP_UNKNOWN && forced > limit) limit = forced;
    port = 0;
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = gpumpi_victim_within(&estimates[i], args->allowed[i], 0, limit);
        if (t == GPUMP_TECHNIQUES) t = gpumpi_victim_cheapest(&estimates[i], args->allowed[i], limit);
        plan->technique[i] = (uint8_t)t;
        if (gpumpi_victim_uses_port(t)) port = gpump_add_saturated(port, estimates[i].latency[t]);
    }
    /* Too much for the port: take from it whoever costs least more per cycle won. */
    while (serial && port > limit) {
        uint32_t who = GPUMP_NONE, how = 0;
        uint64_t best_more = 0, best_won = 0;
        for (rest = victims; rest; rest &= rest - 1) {
            uint32_t i = gpump_bits_lowest64(rest), was = plan->technique[i], t;
            uint64_t more, won;
            if (!gpumpi_victim_uses_port(was)) continue;
            t = gpumpi_victim_within(&estimates[i], args->allowed[i], GPUMPI_VICTIM_PORT, limit);
            if (t == GPUMP_TECHNIQUES && was == GPUMP_TECHNIQUE_SWITCH && (args->allowed[i] >> GPUMP_TECHNIQUE_REWIND & 1u) &&
                estimates[i].latency[GPUMP_TECHNIQUE_REWIND] < estimates[i].latency[was])
                t = GPUMP_TECHNIQUE_REWIND;
            if (t == GPUMP_TECHNIQUES) continue;
            won = estimates[i].latency[was] - (t == GPUMP_TECHNIQUE_REWIND ? estimates[i].latency[t] : 0);
            more = estimates[i].overhead[t] > estimates[i].overhead[was] ? estimates[i].overhead[t] - estimates[i].overhead[was] : 0;
            if (who == GPUMP_NONE || gpump_compare_products(more, best_won, best_more, won) < 0) {
                who = i;
                how = t;
                best_more = more;
                best_won = won;
            }
        }
        if (who == GPUMP_NONE) break;
        port -= best_won;
        plan->technique[who] = (uint8_t)how;
    }
}

/* The last look at blocks that drain: an eighth of the limit before the deadline. */
static uint64_t gpumpi_victim_last_look(const gpump_victim_request *request) { return request->limit_cycles / 8; }

/* When to look again: after half of the time until the last look, then at the last look. */
static uint64_t gpumpi_victim_next_look(const gpump_victim_request *request, uint64_t left) {
    uint64_t last = gpumpi_victim_last_look(request), until;
    if (left == GPUMP_UNKNOWN || left <= last) return GPUMP_UNKNOWN;
    until = left - last;
    return request->now + (until > last ? until / 2 : until);
}

static void gpumpi_victim_plan_joint(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    uint64_t rest;
    gpumpi_victim_exact(args, args->sm->estimates, 2000, plan);
    if (!plan->positions && args->want) gpump_victim_plan_greedy(policy, args, plan);
    gpumpi_victim_assign(args, plan->victims, plan);
    plan->ask_again = GPUMP_UNKNOWN;
    /* Where the deadline is lost anyway, nobody is hurried later either. */
    for (rest = args->left == gpumpi_victim_left(args->request) ? plan->victims : 0; rest; rest &= rest - 1)
        if (plan->technique[gpump_bits_lowest64(rest)] == GPUMP_TECHNIQUE_DRAIN)
            plan->ask_again = gpumpi_victim_next_look(args->request, args->left);
}

/* A block that was to drain is looked at again: it goes on while it is expected to end in time; else it leaves in the cheapest way
 * that is still in time. At the last look a block that is past its expected end is no longer believed to end at all. */
static uint32_t gpumpi_victim_technique_joint(const gpump_victim_policy *policy, const gpump_victim_block_args *args) {
    uint64_t drain = args->estimate->latency[GPUMP_TECHNIQUE_DRAIN];
    uint32_t others = args->allowed & ~(1u << GPUMP_TECHNIQUE_DRAIN), t;
    (void)policy;
    if (!args->draining) return gpumpi_victim_cheapest(args->estimate, args->allowed, args->left);
    if (args->left == 0) return GPUMP_TECHNIQUE_DRAIN; /* too late to win anything */
    if (drain > args->left || (drain == 0 && args->left <= gpumpi_victim_last_look(args->request))) {
        t = gpumpi_victim_within(args->estimate, others, 0, args->left);
        if (t < GPUMP_TECHNIQUES) return t;
    }
    if (gpumpi_victim_next_look(args->request, args->left) < *args->ask_again)
        *args->ask_again = gpumpi_victim_next_look(args->request, args->left);
    return GPUMP_TECHNIQUE_DRAIN;
}

/* ---- drain, then switch (Tanasic 7.2.1) ---- */

static uint32_t gpumpi_victim_technique_timeout(const gpump_victim_policy *policy, const gpump_victim_block_args *args) {
    const gpump_victim_request *request = args->request;
    uint64_t timeout = request->timeout_cycles, at, save = args->estimate->latency[GPUMP_TECHNIQUE_SWITCH];
    (void)policy;
    if (timeout == GPUMP_UNKNOWN && request->limit_cycles != GPUMP_UNKNOWN)
        timeout = request->limit_cycles > save ? request->limit_cycles - save : 0;
    at = gpump_add_saturated(request->since, timeout);
    if (!(args->allowed >> GPUMP_TECHNIQUE_SWITCH & 1u)) return GPUMP_TECHNIQUE_DRAIN;
    if (request->now >= at || !(args->allowed >> GPUMP_TECHNIQUE_DRAIN & 1u)) return GPUMP_TECHNIQUE_SWITCH;
    if (at < *args->ask_again) *args->ask_again = at;
    return GPUMP_TECHNIQUE_DRAIN;
}

/* ---- the built-in policies ---- */

#define GPUMPI_VICTIM_F (1u << GPUMP_TECHNIQUE_FLUSH)
#define GPUMPI_VICTIM_S (1u << GPUMP_TECHNIQUE_SWITCH)
#define GPUMPI_VICTIM_D (1u << GPUMP_TECHNIQUE_DRAIN)
#define GPUMPI_VICTIM_R (1u << GPUMP_TECHNIQUE_REWIND)
#define GPUMPI_VICTIM_SIZE ((uint32_t)sizeof(gpump_victim_policy))

static const gpump_victim_policy gpumpi_victim_policies[] = {
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_EVICTED, GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D, 0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}, "dual",
     "Shieh's dual-kernel scheme: position by position, Algorithm 1, CPI from the source of smaller deviation.", NULL, NULL, NULL, NULL},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_WHOLE_SM, GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D, 0,
     {GPUMP_COST_CPI_RUNNING, GPUMP_COST_DRAIN_LOSES, 0}, "chimera",
     "Chimera: whole SMs, each block its cheapest technique, a block's own CPI, drains charged with the slots they leave idle.", NULL, NULL,
     NULL, NULL},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_WHOLE_SM, GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D, 0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, GPUMP_COST_DRAIN_LOSES, 0}, "chimera+", "Chimera with the dual-kernel scheme's drain estimate.",
     NULL, NULL, NULL, NULL},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_WHOLE_SM, GPUMPI_VICTIM_S, 0, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}, "switch",
     "Every block of the SM is saved.", NULL, NULL, NULL, NULL},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_WHOLE_SM, GPUMPI_VICTIM_D, 0, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}, "drain",
     "Every block of the SM runs to its end.", NULL, NULL, NULL, NULL},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_WHOLE_SM, GPUMPI_VICTIM_F, 0, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}, "flush",
     "Every block of the SM is dropped; an SM with a block that must not be is left alone.", NULL, NULL, NULL, NULL},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_WHOLE_SM, GPUMPI_VICTIM_S | GPUMPI_VICTIM_D, 0, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "drain-then-switch", "Drains; what has not ended after a time-out is saved (Tanasic 7.2.1).", NULL, gpumpi_victim_technique_timeout, NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_EVICTED | GPUMP_VICTIM_TRUE_COSTS, GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D, 0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}, "oracle", "The dual-kernel scheme, to be fed with true costs.", NULL, NULL, NULL, NULL},
    {GPUMPI_VICTIM_SIZE, 0, GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D, 0, {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}, "exact",
     "Of all sets of positions and victims the one of least overhead within the limit, else within the least latency.", NULL, NULL, NULL,
     gpumpi_victim_plan_exact},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_EVICTED, GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D | GPUMPI_VICTIM_R, 0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}, "rewind", "The dual-kernel scheme with rewind as a fourth technique.", NULL, NULL, NULL, NULL},
    {GPUMPI_VICTIM_SIZE, GPUMP_VICTIM_COMMON_DEADLINE, GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D | GPUMPI_VICTIM_R, 0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, GPUMP_COST_DRAIN_CAREFUL, 0}, "joint",
     "All victims at once: exact sets, one port per SM, one common deadline, drains that are looked at again.", NULL,
     gpumpi_victim_technique_joint, NULL, gpumpi_victim_plan_joint},
};

GPUMP_API const gpump_victim_policy *gpump_victim_policy_at(uint32_t index) {
    return index < sizeof gpumpi_victim_policies / sizeof *gpumpi_victim_policies ? &gpumpi_victim_policies[index] : NULL;
}

GPUMP_API const gpump_victim_policy *gpump_victim_find(const char *name) {
    uint32_t i;
    for (i = 0; name && gpump_victim_policy_at(i); i++)
        if (!strcmp(gpump_victim_policy_at(i)->name, name)) return gpump_victim_policy_at(i);
    return NULL;
}

/* ---- the decision ---- */

/* Where a decision writes, and what it has counted. */
typedef struct gpumpi_victim_out {
    gpump_victim_place *places;   /* NULL: only count */
    gpump_victim_choice *choices;
    gpump_victim_decision decision;
    uint32_t blocked;             /* gpump_reason that stood in the way first */
} gpumpi_victim_out;

typedef struct gpumpi_victim_context {
    const gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_victim_geometry *geometry;
    uint64_t left;
    uint64_t relaxed; /* what plans are given: left, or the latency that cannot be avoided somewhere */
} gpumpi_victim_context;

/* Fills everything but `want`. Returns how many positions the SM can have at most. */
static uint32_t gpumpi_victim_prepare(const gpumpi_victim_context *context, const gpump_victim_sm *sm, uint64_t *sets,
                                      gpump_victim_plan_args *args) {
    const gpump_victim_geometry *geometry = context->geometry;
    uint64_t taken, all = ~(uint64_t)0 >> (64 - geometry->positions);
    uint32_t i, own = 0, warps = 0, threads = 0, slots = 0, promised, most;
    gpump_victim_candidates(geometry, sm->blocks, sm->count, context->request->kernel, sets, &taken);
    args->request = context->request;
    args->geometry = geometry;
    args->sm = sm;
    args->sets = sets;
    args->left = context->relaxed;
    args->leaving = args->fixed = args->choosable = 0;
    args->groups = 0;
    for (i = 0; i < sm->count; i++) {
        const gpump_block_view *block = &sm->blocks[i];
        args->allowed[i] = 0;
        args->groups |= block->group;
        if (block->kernel == context->request->kernel) own++;
        else if (gpumpi_victim_is_leaving(block)) {
            args->leaving |= (uint64_t)1 << i;
            continue;
        } else {
            args->allowed[i] = (uint8_t)(block->may & context->policy->techniques & ((1u << GPUMP_TECHNIQUES) - 1));
            if (!args->allowed[i]) args->fixed |= (uint64_t)1 << i;
            else args->choosable |= (uint64_t)1 << i;
        }
        warps += block->warps;
        threads += block->threads;
        slots++;
    }
    /* Promised positions will take their share; what leaves counts as free. */
    promised = gpump_bits_count64(sm->reserved & all);
    warps += promised * geometry->warps;
    threads += promised * geometry->threads;
    slots += promised;
    args->free_warps = geometry->warp_slots > warps ? geometry->warp_slots - warps : 0;
    args->free_threads = geometry->thread_slots > threads ? geometry->thread_slots - threads : 0;
    args->free_slots = geometry->block_slots > slots ? geometry->block_slots - slots : 0;
    args->open = all & ~(taken | sm->reserved);
    most = geometry->blocks > own + promised ? geometry->blocks - own - promised : 0;
    i = gpump_bits_count64(args->open);
    return most < i ? most : i;
}

/* Chimera and its kin: all blocks or none, positions from the lowest. */
static void gpumpi_victim_plan_whole(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
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

static void gpumpi_victim_plan(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    if (policy->flags & GPUMP_VICTIM_WHOLE_SM) gpumpi_victim_plan_whole(policy, args, plan);
    else if (policy->plan) policy->plan(policy, args, plan);
    else gpump_victim_plan_greedy(policy, args, plan);
}

/* Holds a plan against the rules: GPUMP_REASON_YES, or what it breaks. */
static gpump_reason gpumpi_victim_check(const gpump_victim_plan_args *args, const gpump_victim_plan *plan) {
    uint64_t choosable = args->choosable, rest, covered = plan->victims | args->leaving;
    uint32_t positions = gpump_bits_count64(plan->positions);
    gpumpi_victim_room room;
    if (plan->victims & ~choosable) return GPUMP_REASON_NOT_RUNNING;
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i];
        if (t >= GPUMP_TECHNIQUES || !(args->allowed[i] >> t & 1u))
            return t == GPUMP_TECHNIQUE_FLUSH ? GPUMP_REASON_CLOBBERED : GPUMP_REASON_NO_TECHNIQUE;
    }
    if ((plan->positions & ~args->open) || positions > args->want) return GPUMP_REASON_POSITIONS;
    for (rest = plan->positions; rest; rest &= rest - 1)
        if (args->sets[gpump_bits_lowest64(rest)] & ~covered) return GPUMP_REASON_REGISTERS;
    if (args->groups && (gpumpi_victim_closure(args->sm, plan->victims) & ~covered)) return GPUMP_REASON_GROUP;
    room.warps = args->free_warps;
    room.threads = args->free_threads;
    room.slots = args->free_slots;
    gpumpi_victim_release(args->sm->blocks, plan->victims, &room);
    return gpumpi_victim_suffices(args->geometry, &room, positions) ? GPUMP_REASON_YES : GPUMP_REASON_WARPS;
}

/* What stands in the way of a further position on this SM. */
static gpump_reason gpumpi_victim_why(const gpump_victim_plan_args *args, uint32_t got, uint32_t most) {
    if (got >= most) return GPUMP_REASON_POSITIONS;
    if (args->fixed) {
        uint32_t may = args->sm->blocks[gpump_bits_lowest64(args->fixed)].may;
        if (args->groups) return GPUMP_REASON_GROUP;
        return may ? GPUMP_REASON_CLOBBERED : GPUMP_REASON_NO_TECHNIQUE;
    }
    return GPUMP_REASON_WARPS;
}

/* Adds one SM's plan to the decision. */
static void gpumpi_victim_emit(const gpumpi_victim_context *context, const gpump_victim_plan_args *args, const gpump_victim_plan *plan,
                               gpumpi_victim_out *out) {
    const gpump_victim_sm *sm = args->sm;
    gpump_victim_decision *decision = &out->decision;
    uint64_t latency[GPUMP_VICTIM_BLOCKS], rest, everyone = 0, on_positions = 0, port = 0;
    uint8_t order[GPUMP_VICTIM_BLOCKS];
    uint32_t n = 0, j;
    int whole = (context->policy->flags & GPUMP_VICTIM_WHOLE_SM) != 0, serial = (context->request->flags & GPUMP_VICTIM_SERIAL_PORT) != 0;
    if (!plan->positions) return;
    for (rest = args->leaving; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        latency[i] = gpumpi_victim_leaving_latency(&sm->blocks[i], &sm->estimates[i]);
    }
    /* Saves go shortest first, behind everything that needs no port. */
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        uint32_t key_port = (uint32_t)gpumpi_victim_uses_port(plan->technique[i]);
        latency[i] = sm->estimates[i].latency[plan->technique[i]];
        for (j = n++; j > 0; j--) {
            uint32_t o = order[j - 1], o_port = (uint32_t)gpumpi_victim_uses_port(plan->technique[o]);
            if (o_port < key_port || (o_port == key_port && (!key_port || latency[o] <= latency[i]))) break;
            order[j] = (uint8_t)o;
        }
        order[j] = (uint8_t)i;
    }
    for (j = 0; j < n; j++) {
        uint32_t i = order[j], t = plan->technique[i];
        if (serial && gpumpi_victim_uses_port(t)) latency[i] = port = gpump_add_saturated(port, latency[i]);
        if (out->choices) {
            gpump_victim_choice *choice = &out->choices[decision->choices];
            choice->cookie = sm->blocks[i].cookie;
            choice->latency = latency[i];
            choice->overhead = sm->estimates[i].overhead[t];
            choice->sm = sm->sm;
            choice->slot = sm->blocks[i].slot;
            choice->generation = sm->blocks[i].generation;
            choice->technique = t;
        }
        decision->choices++;
        decision->overhead = gpump_add_saturated(decision->overhead, sm->estimates[i].overhead[t]);
        if (latency[i] > everyone) everyone = latency[i];
    }
    for (rest = plan->positions; rest; rest &= rest - 1) on_positions |= args->sets[gpump_bits_lowest64(rest)];
    for (rest = plan->positions; rest; rest &= rest - 1) {
        uint32_t p = gpump_bits_lowest64(rest), late;
        uint64_t wait = 0, who;
        /* With victims outside every position (for their warps, threads or slot), and whenever the SM goes as a whole, it is the
         * last of all that counts for a position that is not simply free. */
        if (whole || (plan->victims & ~on_positions)) {
            wait = (whole && !plan->victims) ? 0 : everyone;
            for (who = whole ? args->leaving : args->sets[p] & args->leaving; who; who &= who - 1)
                if (latency[gpump_bits_lowest64(who)] > wait) wait = latency[gpump_bits_lowest64(who)];
        } else {
            for (who = args->sets[p] & (plan->victims | args->leaving); who; who &= who - 1)
                if (latency[gpump_bits_lowest64(who)] > wait) wait = latency[gpump_bits_lowest64(who)];
        }
        late = wait > context->left || wait == GPUMP_UNKNOWN;
        if (context->left == GPUMP_UNKNOWN) late = 0;
        if (out->places) {
            gpump_victim_place *place = &out->places[decision->places];
            place->latency = wait;
            place->sm = sm->sm;
            place->position = p;
            place->register_base = p * context->geometry->registers;
            place->shared_base = p * context->geometry->shared_bytes;
            place->victims = gpump_bits_count64(args->sets[p] & plan->victims);
            place->late = late;
        }
        decision->places++;
        decision->late += late;
        if (wait > decision->latency) decision->latency = wait;
    }
    decision->sms++;
    if (plan->ask_again < decision->ask_again) decision->ask_again = plan->ask_again;
}

/* ---- heap of SMs: the best next position on top ---- */

static int gpumpi_victim_before(const gpumpi_victim_state *states, uint32_t a, uint32_t b) {
    const gpumpi_victim_state *x = &states[a], *y = &states[b];
    if (x->late != y->late) return x->late < y->late;
    if (!x->late) {
        if (x->overhead != y->overhead) return x->overhead < y->overhead;
        if (x->latency != y->latency) return x->latency < y->latency;
    } else {
        if (x->latency != y->latency) return x->latency < y->latency;
        if (x->overhead != y->overhead) return x->overhead < y->overhead;
    }
    return a < b;
}

static void gpumpi_victim_sift(gpumpi_victim_state *states, uint32_t count, uint32_t at) {
    for (;;) {
        uint32_t child = 2 * at + 1, swap;
        if (child >= count) return;
        if (child + 1 < count && gpumpi_victim_before(states, states[child + 1].heap, states[child].heap)) child++;
        if (!gpumpi_victim_before(states, states[child].heap, states[at].heap)) return;
        swap = states[at].heap;
        states[at].heap = states[child].heap;
        states[child].heap = swap;
        at = child;
    }
}

/* What one position more (with WHOLE_SM: the SM) costs. Returns 0 when there is none. */
static uint32_t gpumpi_victim_rate(const gpumpi_victim_context *context, const gpump_victim_sm *sm, gpumpi_victim_state *state) {
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
    gpump_victim_plan_args args;
    gpump_victim_plan plan;
    gpumpi_victim_out out;
    uint32_t most = gpumpi_victim_prepare(context, sm, sets, &args);
    int whole = (context->policy->flags & GPUMP_VICTIM_WHOLE_SM) != 0;
    if (whole ? state->quota > 0 : state->quota >= most) return 0;
    args.want = whole ? most : state->quota + 1;
    gpumpi_victim_plan(context->policy, &args, &plan);
    if (gpump_bits_count64(plan.positions) <= state->quota || gpumpi_victim_check(&args, &plan) != GPUMP_REASON_YES) return 0;
    memset(&out, 0, sizeof out);
    gpumpi_victim_emit(context, &args, &plan, &out);
    state->overhead = out.decision.overhead > state->total ? out.decision.overhead - state->total : 0;
    state->latency = out.decision.latency;
    state->late = out.decision.late != 0;
    state->total = out.decision.overhead;
    return gpump_bits_count64(plan.positions) - state->quota;
}

GPUMP_API size_t gpump_victim_scratch_bytes(uint32_t sm_count) { return sm_count <= 64 ? 0 : sm_count * sizeof(gpumpi_victim_state); }

static gpump_result gpumpi_victim_check_input(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                              const gpump_victim_sm *sms, uint32_t sm_count, gpump_diag *diag) {
    uint32_t s;
    if (!policy || policy->struct_size != sizeof *policy || !policy->name)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "policy.struct_size", 0, policy ? policy->struct_size : 0, sizeof *policy, sizeof *policy);
    if (!request || request->struct_size != sizeof *request)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "request.struct_size", 0, request ? request->struct_size : 0, sizeof *request, sizeof *request);
    if (request->now < request->since) return gpumpi_fail(diag, GPUMP_ERROR_TIME, "request.now", 0, request->now, request->since, UINT64_MAX);
    if (sm_count && !sms) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sms", 0, 0, 1, UINT64_MAX);
    for (s = 0; s < sm_count; s++) {
        if (sms[s].count > GPUMP_VICTIM_BLOCKS) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sms.count", s, sms[s].count, 0, GPUMP_VICTIM_BLOCKS);
        if (sms[s].count && (!sms[s].blocks || !sms[s].estimates))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sms.blocks or estimates", s, 0, 1, UINT64_MAX);
    }
    return GPUMP_OK;
}

/* Plans one SM and adds it. */
static gpump_result gpumpi_victim_take(const gpumpi_victim_context *context, const gpump_victim_sm *sm, uint32_t index, uint32_t want,
                                       gpumpi_victim_out *out, gpump_diag *diag) {
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
    gpump_victim_plan_args args;
    gpump_victim_plan plan;
    gpump_reason reason;
    uint32_t most = gpumpi_victim_prepare(context, sm, sets, &args);
    args.want = want < most ? want : most;
    if (args.want) gpumpi_victim_plan(context->policy, &args, &plan);
    else plan.positions = plan.victims = 0;
    reason = args.want ? gpumpi_victim_check(&args, &plan) : GPUMP_REASON_YES;
    if (reason != GPUMP_REASON_YES) return gpumpi_refuse(diag, reason, "policy's plan for sm", index);
    if (gpump_bits_count64(plan.positions) < want && !out->blocked) 
        out->blocked = (uint32_t)gpumpi_victim_why(&args, gpump_bits_count64(plan.positions), most);
    gpumpi_victim_emit(context, &args, &plan, out);
    return GPUMP_OK;
}

/* The decision itself, in one pass over the SMs once quotas stand. */
static gpump_result gpumpi_victim_run(const gpumpi_victim_context *context, const gpump_victim_sm *sms, uint32_t sm_count,
                                      const gpumpi_victim_state *states, gpumpi_victim_out *out, gpump_diag *diag) {
    uint32_t s, wanted = context->request->positions;
    memset(&out->decision, 0, sizeof out->decision);
    out->decision.ask_again = GPUMP_UNKNOWN;
    out->blocked = 0;
    for (s = 0; s < sm_count && out->decision.places < wanted; s++) {
        uint32_t want = wanted - out->decision.places;
        gpump_result result;
        if (states && states[s].quota < want) want = states[s].quota;
        if (!want) continue;
        result = gpumpi_victim_take(context, &sms[s], s, want, out, diag);
        if (result != GPUMP_OK) return result;
    }
    out->decision.missing = wanted - out->decision.places;
    out->decision.reason = GPUMP_REASON_YES;
    /* SMs that got no quota have not been asked why. */
    for (s = 0; s < sm_count && states && out->decision.missing && !out->blocked; s++) {
        uint64_t sets[GPUMP_VICTIM_POSITIONS];
        gpump_victim_plan_args args;
        uint32_t most = gpumpi_victim_prepare(context, &sms[s], sets, &args);
        if (states[s].quota < most) out->blocked = (uint32_t)gpumpi_victim_why(&args, states[s].quota, most);
    }
    if (out->decision.missing) out->decision.reason = out->blocked ? (gpump_reason)out->blocked : GPUMP_REASON_POSITIONS;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_victim_decide(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                           const gpump_victim_geometry *geometry, const gpump_victim_sm *sms, uint32_t sm_count,
                                           void *scratch, size_t scratch_bytes, gpump_victim_place *places, uint32_t place_capacity,
                                           gpump_victim_choice *choices, uint32_t choice_capacity, gpump_victim_decision *decision,
                                           gpump_diag *diag) {
    gpumpi_victim_state stack[64], *states = NULL;
    gpumpi_victim_context context;
    gpumpi_victim_out out;
    uint64_t most_choices = 0;
    uint32_t s;
    gpump_result result = gpumpi_victim_check_input(policy, request, sms, sm_count, diag);
    if (result != GPUMP_OK) return result;
    if (!geometry || !decision) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "geometry or decision", 0, 0, 1, UINT64_MAX);
    if (geometry->positions < 1 || geometry->positions > GPUMP_VICTIM_POSITIONS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "geometry.positions", 0, geometry->positions, 1, GPUMP_VICTIM_POSITIONS);
    if ((place_capacity && !places) || (choice_capacity && !choices))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "places or choices", 0, 0, 1, UINT64_MAX);
    context.policy = policy;
    context.request = request;
    context.geometry = geometry;
    context.left = context.relaxed = gpumpi_victim_left(request);
    if (sm_count > 1 && request->positions < (uint64_t)sm_count * geometry->blocks) {
        /* Fewer positions than SMs could have: one by one, where the next is best. */
        uint32_t count = 0, given = 0;
        if (gpump_victim_scratch_bytes(sm_count) > 0 && (!scratch || scratch_bytes < gpump_victim_scratch_bytes(sm_count)))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "scratch_bytes", 0, scratch_bytes, gpump_victim_scratch_bytes(sm_count), UINT64_MAX);
        states = sm_count <= 64 ? stack : (gpumpi_victim_state *)scratch;
        if (sm_count) memset(states, 0, sm_count * sizeof *states);
        for (s = 0; s < sm_count; s++)
            if (gpumpi_victim_rate(&context, &sms[s], &states[s])) states[count++].heap = s;
        for (s = count; s-- > 0;) gpumpi_victim_sift(states, count, s);
        while (count && given < request->positions) {
            gpumpi_victim_state *top = &states[states[0].heap];
            if (policy->flags & GPUMP_VICTIM_WHOLE_SM) {
                uint64_t sets[GPUMP_VICTIM_POSITIONS];
                gpump_victim_plan_args args;
                top->quota = gpumpi_victim_prepare(&context, &sms[states[0].heap], sets, &args);
                given += top->quota;
            } else {
                top->quota++;
                given++;
            }
            if (!gpumpi_victim_rate(&context, &sms[states[0].heap], top)) states[0].heap = states[--count].heap;
            gpumpi_victim_sift(states, count, 0);
        }
    }
    if (policy->flags & GPUMP_VICTIM_COMMON_DEADLINE) {
        out.places = NULL;
        out.choices = NULL;
        result = gpumpi_victim_run(&context, sms, sm_count, states, &out, diag);
        if (result != GPUMP_OK) return result;
        if (out.decision.latency > context.left && out.decision.latency != GPUMP_UNKNOWN) context.relaxed = out.decision.latency;
    }
    for (s = 0; s < sm_count; s++) most_choices += sms[s].count;
    out.places = places;
    out.choices = choices;
    if (place_capacity < request->positions || choice_capacity < most_choices) {
        out.places = NULL;
        out.choices = NULL;
        result = gpumpi_victim_run(&context, sms, sm_count, states, &out, diag);
        if (result != GPUMP_OK) return result;
        if (out.decision.places > place_capacity || out.decision.choices > choice_capacity) {
            decision->places = out.decision.places;
            decision->choices = out.decision.choices;
            return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "place_capacity or choice_capacity", 0, place_capacity, out.decision.places,
                               out.decision.choices);
        }
        out.places = places;
        out.choices = choices;
    }
    result = gpumpi_victim_run(&context, sms, sm_count, states, &out, diag);
    if (result == GPUMP_OK) *decision = out.decision;
    return result;
}

GPUMP_API gpump_result gpump_victim_reconsider(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                               const gpump_victim_sm *sms, uint32_t sm_count, gpump_victim_choice *choices,
                                               uint32_t choice_capacity, gpump_victim_decision *decision, gpump_diag *diag) {
    gpump_victim_decision made;
    uint64_t left;
    uint32_t s, i, changed = 0;
    gpump_result result = gpumpi_victim_check_input(policy, request, sms, sm_count, diag);
    if (result != GPUMP_OK) return result;
    if (!decision || (choice_capacity && !choices)) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "choices or decision", 0, 0, 1, UINT64_MAX);
    memset(&made, 0, sizeof made);
    made.ask_again = GPUMP_UNKNOWN;
    left = gpumpi_victim_left(request);
    for (s = 0; s < sm_count && policy->technique; s++) {
        const gpump_victim_sm *sm = &sms[s];
        uint32_t before = changed;
        for (i = 0; i < sm->count; i++) {
            const gpump_block_view *block = &sm->blocks[i];
            gpump_victim_block_args args;
            uint32_t t;
            if (block->state != GPUMP_BLOCK_DRAINING || block->kernel == request->kernel) continue;
            args.request = request;
            args.block = block;
            args.estimate = &sm->estimates[i];
            args.allowed = (block->may & policy->techniques) | GPUMPI_VICTIM_D;
            args.draining = 1;
            args.left = left;
            args.ask_again = &made.ask_again;
            t = policy->technique(policy, &args);
            if (t == GPUMP_TECHNIQUE_DRAIN) continue;
            if (t >= GPUMP_TECHNIQUES || !(args.allowed >> t & 1u)) return gpumpi_refuse(diag, GPUMP_REASON_NO_TECHNIQUE, "policy's technique for sm", s);
            if (changed < choice_capacity) {
                gpump_victim_choice *choice = &choices[changed];
                choice->cookie = block->cookie;
                choice->latency = sm->estimates[i].latency[t];
                choice->overhead = sm->estimates[i].overhead[t];
                choice->sm = sm->sm;
                choice->slot = block->slot;
                choice->generation = block->generation;
                choice->technique = t;
            }
            changed++;
            made.overhead = gpump_add_saturated(made.overhead, sm->estimates[i].overhead[t]);
            if (sm->estimates[i].latency[t] > made.latency) made.latency = sm->estimates[i].latency[t];
        }
        made.sms += changed != before;
    }
    made.choices = changed;
    if (changed > choice_capacity) {
        decision->choices = changed;
        return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "choice_capacity", 0, choice_capacity, changed, UINT64_MAX);
    }
    *decision = made;
    return GPUMP_OK;
}

/* ---- storage ---- */

static uint32_t gpumpi_victim_width(uint32_t values) {
    uint32_t bits = 0;
    while (values > 1 && bits < 32 && (uint64_t)1 << bits < values) bits++;
    return bits;
}

GPUMP_API gpump_result gpump_victim_config_preset(gpump_victim_config *config, const char *preset) {
    gpump_gpu gpu;
    gpump_result result;
    uint32_t largest, i;
    if (!config) return GPUMP_ERROR_ARGUMENT;
    result = gpump_gpu_config_preset(&gpu, preset);
    if (result != GPUMP_OK) return result;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->sms = gpu.sms;
    config->counter_bits = 32;
    if (!strcmp(preset, "gtx480_shieh")) {
        config->positions = 64;
        config->address_bits = 16;
        config->candidates = config->blocks = 16;
        return GPUMP_OK;
    }
    largest = gpu.registers;
    for (i = 0; i < gpu.shared_options; i++)
        if (gpu.shared_bytes[i] > largest) largest = gpu.shared_bytes[i];
    config->positions = GPUMP_VICTIM_POSITIONS;
    config->address_bits = gpumpi_victim_width(largest);
    config->candidates = config->blocks = gpu.block_slots;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_victim_bits(const gpump_victim_config *config, uint64_t *sm_bits, uint64_t *gpu_bits, gpump_diag *diag) {
    uint64_t id;
    if (!config || !sm_bits || !gpu_bits) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config, sm_bits or gpu_bits", 0, 0, 1, UINT64_MAX);
    if (config->struct_size != sizeof *config)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "struct_size", 0, config->struct_size, sizeof *config, sizeof *config);
    id = gpumpi_victim_width(config->blocks);
    *sm_bits = (uint64_t)2 * config->address_bits * config->positions + id * config->blocks * config->candidates +
               (uint64_t)(2 * config->counter_bits + 1) * config->blocks;
    *gpu_bits = id * config->blocks * config->sms;
    return GPUMP_OK;
}
