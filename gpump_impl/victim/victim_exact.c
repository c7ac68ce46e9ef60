#include "victim/victim_parts.h"

/* ---- the exact plan ---- */

typedef struct gpumpi_victim_search {
    const gpump_victim_plan_args *args; /* as of `limit` */
    uint64_t limit;                     /* every victim must be out within these cycles */
    const uint64_t *overhead;           /* per block */
    uint64_t usable;                    /* blocks that may be chosen */
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
    uint64_t alone[GPUMP_VICTIM_POSITIONS];     /* overhead of the blocks that lie on this position only */
    uint64_t ahead[GPUMP_VICTIM_POSITIONS + 1]; /* the sum of `alone` over all positions before, saturated */
    uint8_t position[GPUMP_VICTIM_POSITIONS];
    uint8_t item[GPUMP_VICTIM_BLOCKS];  /* usable blocks, cheapest first */
    uint64_t like[GPUMP_VICTIM_BLOCKS]; /* per item: itself and those behind it that free the same; 0: not yet known */
    uint32_t positions, items, want;
    uint32_t nodes;
    int groups;
    uint64_t most;  /* overhead at most: less than the best that was found */
    uint64_t least; /* overhead of the blocks that give up enough room (gpumpi_victim_least); GPUMP_UNKNOWN: not yet */
    uint64_t best_positions, best_victims;
    gpumpi_victim_room room; /* free without victims */
} gpumpi_victim_search;

static uint64_t gpumpi_victim_total(const gpumpi_victim_search *search, uint64_t set) {
    uint64_t sum = 0;
    for (; set; set &= set - 1) sum = gpump_add_saturated(sum, search->overhead[gpump_bits_lowest64(set)]);
    return sum;
}

/* Positions and victims that the search has tried so far. */
typedef struct gpumpi_victim_trial {
    uint64_t positions, victims, overhead;
} gpumpi_victim_trial;

/* Adds blocks that are not victims yet. */
GPUMP_INLINE void gpumpi_victim_try(const gpumpi_victim_search *search, uint64_t more, gpumpi_victim_trial *trial) {
    trial->victims |= more;
    trial->overhead = gpump_add_saturated(trial->overhead, gpumpi_victim_total(search, more));
}

/* Returns item k and the items behind it that free the same: a parked block, which frees no slot, has no warps. */
static uint64_t gpumpi_victim_alike(gpumpi_victim_search *search, uint32_t k) {
    const gpump_block_view *blocks = search->args->sm->blocks, *one = &blocks[search->item[k]];
    uint32_t j;
    if (search->like[k]) return search->like[k];
    for (j = k; j < search->items; j++) {
        const gpump_block_view *other = &blocks[search->item[j]];
        if (one->warps == other->warps && one->threads == other->threads) search->like[k] |= (uint64_t)1 << j;
    }
    return search->like[k];
}

/* Fills up warps, threads and slots at least overhead, from item k on, without the items of `out`. `room` is free when
 * the victims are out. */
static void gpumpi_victim_search_fill(gpumpi_victim_search *search, gpumpi_victim_trial trial, gpumpi_victim_room room,
                                      uint32_t k, uint64_t out) {
    const gpump_victim_plan_args *args = search->args;
    if (trial.overhead > search->most) return;
    if (gpumpi_victim_suffices(args->geometry, &room, search->want)) {
        search->best_positions = trial.positions;
        search->best_victims = trial.victims;
        search->most = trial.overhead - 1;
        if (!trial.overhead) search->nodes = 0; /* nothing is cheaper */
        return;
    }
    for (; k < search->items && search->nodes > 0; k++) {
        gpumpi_victim_trial next = trial;
        gpumpi_victim_room after = room;
        uint64_t more = (uint64_t)1 << search->item[k];
        if ((trial.victims & more) || (out >> k & 1u)) continue;
        if (search->groups) {
            more = gpumpi_victim_closure(args->sm, more) & ~args->leaving;
            if (more & ~search->usable) continue;
            more &= ~trial.victims;
        }
        gpumpi_victim_try(search, more, &next);
        if (!search->groups && next.overhead > search->most) return; /* and so are all items that follow */
        search->nodes--;
        gpumpi_victim_release_hot(args, more, &after);
        gpumpi_victim_search_fill(search, next, after, k + 1, out);
        if (!search->groups)
            out |= gpumpi_victim_alike(search, k); /* of blocks that free the same, the cheapest go first */
    }
}

/* Returns the least overhead of any blocks whose room suffices, or 0 when that takes more than the nodes left. It
 * spends none of them. */
static uint64_t gpumpi_victim_least(gpumpi_victim_search *search) {
    const gpumpi_victim_trial none = {0, 0, 0}, best = {search->best_positions, search->best_victims, search->most};
    const uint32_t nodes = search->nodes;
    if (search->least != GPUMP_UNKNOWN) return search->least;
    search->most = GPUMP_UNKNOWN;
    gpumpi_victim_search_fill(search, none, search->room, 0, 0);
    search->least = search->nodes ? search->most + 1 : 0;
    search->best_positions = best.positions;
    search->best_victims = best.victims;
    search->most = best.overhead;
    search->nodes = nodes;
    return search->least;
}

/* Takes `missing` more positions, from position k on. */
static void gpumpi_victim_search_positions(gpumpi_victim_search *search, const gpumpi_victim_trial *trial, uint32_t k,
                                           uint32_t missing) {
    while (search->nodes > 0) {
        const uint32_t end = k + missing;
        gpumpi_victim_trial next = *trial;
        uint64_t bound;
        search->nodes--;
        if (missing == 0) {
            gpumpi_victim_room room = search->room;
            if (trial->overhead > search->most) return;
            gpumpi_victim_release(search->args, trial->victims, &room);
            gpumpi_victim_search_fill(search, next, room, 0, 0);
            /* Where further victims were needed, these may be why nothing is cheaper. */
            if (search->best_victims != trial->victims && search->most < gpumpi_victim_least(search)) search->nodes = 0;
            return;
        }
        if (end > search->positions) return;
        /* Positions are sorted by the overhead of the blocks that lie on them alone, so the next `missing` positions
         * are a lower bound of the overhead still to come. */
        bound = search->ahead[end] == GPUMP_UNKNOWN ? search->alone[end - 1] : search->ahead[end] - search->ahead[k];
        if (gpump_add_saturated(trial->overhead, bound) > search->most) return;
        next.positions |= (uint64_t)1 << search->position[k];
        gpumpi_victim_try(search, search->sets[k] & ~trial->victims, &next);
        gpumpi_victim_search_positions(search, &next, k + 1, missing - 1);
        /* Positions with the same victims are equivalent: leaving one of them out leaves all of them out. */
        do k++;
        while (k < search->positions && search->sets[k] == search->sets[k - 1]);
    }
}

/* Says which blocks can be out within search->limit, in groups as a whole, and whether `want` positions fit then.
 * `within` becomes args as of that limit. */
static int gpumpi_victim_possible(gpumpi_victim_search *search, const gpump_victim_plan_args *args,
                                  const uint64_t *fastest, uint32_t want, gpump_victim_plan_args *within) {
    gpumpi_victim_room room;
    uint64_t rest, bad;
    uint32_t positions = 0;
    if (args->leaving) *within = gpumpi_victim_args_within(args, search->limit);
    search->usable = 0;
    for (rest = args->choosable; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        if (fastest[i] <= search->limit) search->usable |= (uint64_t)1 << i;
    }
    bad = ~search->usable & ~within->leaving;
    for (rest = search->groups ? search->usable : 0; rest; rest &= rest - 1) {
        uint64_t one = rest & (0 - rest);
        if (gpumpi_victim_closure(args->sm, one) & bad) search->usable &= ~one;
    }
    for (rest = args->open, bad = ~within->leaving & ~search->usable; rest; rest &= rest - 1)
        positions += !(args->sets[gpump_bits_lowest64(rest)] & bad);
    room = gpumpi_victim_room_without(within, 0);
    gpumpi_victim_release(within, search->usable, &room);
    return positions >= want && gpumpi_victim_suffices(args->geometry, &room, want);
}

/* Extends search->limit to the next cycle at which another block can be out. Returns 0 when there is none. */
static int gpumpi_victim_extend(gpumpi_victim_search *search, const gpump_victim_plan_args *args,
                                const uint64_t *fastest, const gpump_victim_plan_args *within) {
    uint64_t next = GPUMP_UNKNOWN, rest;
    int more = 0;
    for (rest = args->choosable & ~search->usable; rest; rest &= rest - 1) {
        uint64_t latency = fastest[gpump_bits_lowest64(rest)];
        if (latency <= search->limit || (more && latency >= next)) continue;
        next = latency;
        more = 1;
    }
    for (rest = args->leaving & ~within->leaving; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        uint64_t latency = gpumpi_block_freed_after(&args->sm->blocks[i], args->sm->estimates[i].latency);
        if (!more || latency < next) next = latency;
        more = 1;
    }
    if (more) search->limit = next;
    return more;
}

/* Puts the usable blocks in order, cheapest first. */
static void gpumpi_victim_sort_items(gpumpi_victim_search *search) {
    uint64_t rest;
    search->items = 0;
    for (rest = search->usable; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), j;
        for (j = search->items++; j > 0 && search->overhead[search->item[j - 1]] > search->overhead[i]; j--)
            search->item[j] = search->item[j - 1];
        search->item[j] = (uint8_t)i;
        search->like[search->items - 1] = 0;
    }
}

/* Puts the positions that can be had in order, those with the cheapest blocks of their own first. */
static void gpumpi_victim_sort_positions(gpumpi_victim_search *search) {
    const gpump_victim_plan_args *args = search->args;
    uint64_t once = 0, twice = 0; /* blocks on one open position, on several */
    uint64_t open = 0;            /* positions with such blocks; the others cost nothing and come first */
    uint64_t rest;
    uint32_t p, j;
    search->positions = 0;
    for (rest = args->open; rest; rest &= rest - 1) {
        p = gpump_bits_lowest64(rest);
        if (args->sets[p] & ~args->leaving) {
            open |= rest & (0 - rest);
        } else {
            search->alone[search->positions] = search->sets[search->positions] = 0;
            search->position[search->positions++] = (uint8_t)p;
        }
        twice |= once & args->sets[p];
        once |= args->sets[p];
    }
    for (; open; open &= open - 1) {
        uint64_t set, others, alone;
        p = gpump_bits_lowest64(open);
        set = args->sets[p] & ~args->leaving;
        others = twice | (once & ~args->sets[p]);
        if (search->groups) set = gpumpi_victim_closure(args->sm, set) & ~args->leaving;
        if (set & ~search->usable) continue;
        if (search->groups) others = gpumpi_victim_closure(args->sm, others);
        alone = gpumpi_victim_total(search, set & ~others);
        for (j = search->positions++;
             j > 0 && (search->alone[j - 1] > alone || (search->alone[j - 1] == alone && search->sets[j - 1] > set));
             j--) {
            search->alone[j] = search->alone[j - 1];
            search->sets[j] = search->sets[j - 1];
            search->position[j] = search->position[j - 1];
        }
        search->alone[j] = alone;
        search->sets[j] = set;
        search->position[j] = (uint8_t)p;
    }
    search->ahead[0] = 0;
    for (p = 0; p < search->positions; p++)
        search->ahead[p + 1] = gpump_add_saturated(search->ahead[p], search->alone[p]);
}

GPUMP_API void gpumpi_victim_exact(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                   uint64_t most, uint32_t nodes, gpump_victim_plan *plan) {
    gpumpi_victim_search search;
    gpump_victim_plan_args within = *args;
    uint64_t fastest[GPUMP_VICTIM_BLOCKS], overhead[GPUMP_VICTIM_BLOCKS], rest;
    const gpumpi_victim_trial none = {0, 0, 0};
    int possible = 0;
    plan->positions = plan->victims = 0;
    plan->ask_again = GPUMP_UNKNOWN;
    search.args = &within;
    search.overhead = overhead;
    search.groups = args->groups != 0;
    for (rest = args->choosable; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        fastest[i] = GPUMP_UNKNOWN;
        for (uint32_t ways = args->allowed[i]; ways; ways &= ways - 1) {
            const uint32_t t = gpump_bits_lowest64(ways);
            if (estimates[i].latency[t] < fastest[i]) fastest[i] = estimates[i].latency[t];
        }
    }
    /* The fewest cycles in which `want` positions can be had: whether they can depends only on which blocks may be
     * chosen. */
    for (search.want = args->want; search.want > 0; search.want--) {
        search.limit = args->left;
        do possible = gpumpi_victim_possible(&search, args, fastest, search.want, &within);
        while (!possible && gpumpi_victim_extend(&search, args, fastest, &within));
        if (possible) break;
    }
    if (!possible) return;
    for (rest = search.usable; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        plan->technique[i] = (uint8_t)gpumpi_victim_cheapest(&estimates[i], args->allowed[i], search.limit);
        overhead[i] = estimates[i].overhead[plan->technique[i]];
    }
    search.most = most;
    search.nodes = nodes;
    search.best_positions = search.best_victims = 0;
    gpumpi_victim_sort_items(&search);
    gpumpi_victim_sort_positions(&search);
    search.room = gpumpi_victim_room_without(&within, 0);
    search.least = GPUMP_UNKNOWN;
    gpumpi_victim_search_positions(&search, &none, 0, search.want);
    plan->positions = search.best_positions; /* 0: nothing below `most`, or the node budget */
    plan->victims = search.best_victims;
}
