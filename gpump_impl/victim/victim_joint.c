/* joint, ours: all victims of a request at once. docs/victims.md says what it adds to Algorithm 1 and what each part is
 * worth. */
#include "victim/victim_parts.h"

#define GPUMPI_VICTIM_SAVE_MARGIN \
    5 /* saves are planned to end a fifth of the limit early: what is in flight has to end first */
#define GPUMPI_VICTIM_DROP_MARGIN 32 /* flushes take next to no time */
#define GPUMPI_VICTIM_JOINT_NODES 2000u

/* The techniques that move bytes through the port, as bits. */
static uint32_t gpumpi_victim_port(void) {
    uint32_t port = GPUMPI_VICTIM_S | GPUMPI_VICTIM_R;
    for (uint32_t t = GPUMP_TECHNIQUE_OWN; gpump_technique_at(t); t++)
        if (gpumpi_victim_uses_port(t)) port |= 1u << t;
    return port;
}

/* The technique of least latency among `ways`; GPUMP_TECHNIQUES where no latency is known. */
static uint32_t gpumpi_victim_soonest(const gpump_cost_estimate *estimate, uint32_t ways) {
    uint32_t soonest = GPUMP_TECHNIQUES;
    uint64_t latency = GPUMP_UNKNOWN;
    for (; ways; ways &= ways - 1) {
        const uint32_t t = gpump_bits_lowest64(ways);
        if (estimate->latency[t] >= latency) continue;
        latency = estimate->latency[t];
        soonest = t;
    }
    return soonest;
}

/* The cheapest technique of a block within `limit`, without those in `avoid`; GPUMP_TECHNIQUES when there is none. */
static uint32_t gpumpi_victim_within(const gpump_cost_estimate *estimate, uint32_t allowed, uint32_t avoid,
                                     uint64_t limit) {
    uint32_t t = GPUMP_TECHNIQUES;
    allowed &= ~avoid;
    if (allowed) t = gpumpi_victim_cheapest(estimate, allowed, limit);
    if (t < GPUMP_TECHNIQUES && (estimate->latency[t] > limit || estimate->latency[t] == GPUMP_UNKNOWN))
        t = GPUMP_TECHNIQUES;
    return t;
}

/* A drain that turns out too long ends in a flush. The probability of that is at most estimate / time (Markov's
 * inequality); half of the bound is used. */
static void gpumpi_victim_charge_drains(const gpump_victim_plan_args *args, uint64_t blocks,
                                        gpump_cost_estimate *estimates) {
    for (; blocks; blocks &= blocks - 1) {
        uint32_t i = gpump_bits_lowest64(blocks);
        uint64_t drain;
        estimates[i] = args->sm->estimates[i];
        drain = estimates[i].latency[GPUMP_TECHNIQUE_DRAIN];
        if (drain == GPUMP_UNKNOWN || args->left == GPUMP_UNKNOWN || args->left == 0 ||
            !(args->allowed[i] & GPUMPI_VICTIM_F))
            continue;
        if (drain == 0 && args->draining && !args->request->late_price &&
            args->left <= args->request->limit_cycles / GPUMPI_VICTIM_DROP_MARGIN) {
            estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] =
                GPUMP_UNKNOWN; /* past its expected end, and this is the last look: it may run for long */
            continue;
        }
        if (drain > args->left) drain = args->left;
        estimates[i].overhead[GPUMP_TECHNIQUE_DRAIN] =
            gpump_muldiv_up(estimates[i].overhead[GPUMP_TECHNIQUE_FLUSH], drain, args->left) / 2;
    }
}

/* The least time in which all victims can leave. A victim that can neither be flushed nor drained in time must be
 * saved, and saves pass the port one after the other where they are serial. */
static uint64_t gpumpi_victim_forced(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                     uint64_t victims, int serial) {
    const uint32_t port = gpumpi_victim_port();
    uint64_t rest, forced = 0;
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t;
        uint32_t ways = serial ? args->allowed[i] & port : args->allowed[i];
        t = gpumpi_victim_soonest(&estimates[i], args->allowed[i] & ~port);
        if (t < GPUMP_TECHNIQUES && estimates[i].latency[t] <= args->left) continue;
        t = gpumpi_victim_soonest(&estimates[i], ways ? ways : args->allowed[i]); /* 0 ways: nothing but the drain */
        if (t == GPUMP_TECHNIQUES)
            forced = GPUMP_UNKNOWN - 1;
        else if (serial)
            forced = gpump_add_saturated(forced, estimates[i].latency[t]);
        else if (estimates[i].latency[t] > forced)
            forced = estimates[i].latency[t];
    }
    return forced;
}

/* Gives the victims techniques such that all have left within the limit. Where that is impossible, all leave within the
 * least possible latency. Returns the latency. The saves of an SM follow each other, so their times add up. When one
 * victim exceeds the limit in any case, the others take the cheapest technique that ends by the same cycle. */
static uint64_t gpumpi_victim_assign(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                     uint64_t victims, gpump_victim_plan *plan) {
    const uint32_t ports = gpumpi_victim_port();
    int serial = !(args->request->flags & GPUMP_VICTIM_PARALLEL_SAVES);
    uint64_t rest, forced = gpumpi_victim_forced(args, estimates, victims, serial), limit = args->left, port;
    if (limit != GPUMP_UNKNOWN && forced > limit) limit = forced;
    port = 0;
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = gpumpi_victim_within(&estimates[i], args->allowed[i], 0, limit);
        if (t == GPUMP_TECHNIQUES) t = gpumpi_victim_cheapest(&estimates[i], args->allowed[i], limit);
        plan->technique[i] = (uint8_t)t;
        if (ports >> t & 1u) port = gpump_add_saturated(port, estimates[i].latency[t]);
    }
    /* The port is overloaded: the victim whose other technique costs least per port cycle saved is not saved. */
    while (serial && port > limit) {
        uint32_t who = GPUMP_NONE, how = 0;
        uint64_t best_more = 0, best_won = 0;
        for (rest = victims; rest; rest &= rest - 1) {
            uint32_t i = gpump_bits_lowest64(rest), was = plan->technique[i], t;
            uint64_t more, won;
            if (!(ports >> was & 1u)) continue;
            t = gpumpi_victim_within(&estimates[i], args->allowed[i], ports, limit);
            won = estimates[i].latency[was];
            if (t == GPUMP_TECHNIQUES) { /* another way to save it, where that is shorter */
                t = gpumpi_victim_soonest(&estimates[i], args->allowed[i] & ports & ~(1u << was));
                if (t == GPUMP_TECHNIQUES || estimates[i].latency[t] >= won) continue;
                won -= estimates[i].latency[t];
            }
            more = estimates[i].overhead[t] > estimates[i].overhead[was]
                       ? estimates[i].overhead[t] - estimates[i].overhead[was]
                       : 0;
            if (who == GPUMP_NONE || gpumpi_compare_products(more, best_won, best_more, won) < 0) {
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
    return limit;
}

/* No block stops earlier than necessary. A block that will be saved runs until its save begins, and may end before. A
 * block that is expected to end is reconsidered at the last cycle at which another technique is still in time. */
static void gpumpi_victim_run_on(const gpump_victim_plan_args *args, uint64_t victims, uint64_t limit,
                                 gpump_victim_plan *plan) {
    const gpump_victim_request *request = args->request;
    const gpump_cost_estimate *estimates = args->sm->estimates;
    uint64_t rest, step, save_by, drop_by, port = 0, next = GPUMP_UNKNOWN, guess[GPUMP_VICTIM_BLOCKS];
    uint32_t n = 0, j;
    uint8_t order[GPUMP_VICTIM_BLOCKS];
    int serial = !(request->flags & GPUMP_VICTIM_PARALLEL_SAVES);
    if (limit >= GPUMP_UNKNOWN - 1) return;
    step = request->limit_cycles / 32 + 1; /* looks closer than this are not worth it */
    save_by = request->limit_cycles / GPUMPI_VICTIM_SAVE_MARGIN;
    save_by = limit > save_by ? limit - save_by : 0;
    drop_by = request->limit_cycles / GPUMPI_VICTIM_DROP_MARGIN;
    drop_by = limit > drop_by ? limit - drop_by : 0;
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i], begins = gpump_technique_begins(t);
        uint64_t drain = estimates[i].latency[GPUMP_TECHNIQUE_DRAIN],
                 save = estimates[i].latency[GPUMP_TECHNIQUE_SWITCH];
        if (!(args->allowed[i] & GPUMPI_VICTIM_D)) continue;
        if (gpumpi_victim_uses_port(t)) {
            /* A block without history: half of such blocks run on for as long as they have run. */
            guess[i] = drain == GPUMP_UNKNOWN ? args->sm->blocks[i].cycles : drain;
            for (j = n++; j > 0 && guess[order[j - 1]] > guess[i]; j--) order[j] = order[j - 1];
            order[j] = (uint8_t)i;
            continue;
        }
        if (begins == GPUMP_TECHNIQUE_BEGIN_DROP && (drain > limit || drop_by <= step))
            continue; /* it will not end, or there is no time */
        plan->later |= (uint64_t)1 << i;
        if ((args->allowed[i] & GPUMPI_VICTIM_F) && drop_by > step && drop_by < next) next = drop_by;
        if (begins == GPUMP_TECHNIQUE_BEGIN_RUN && (args->allowed[i] & GPUMPI_VICTIM_S) && save < save_by &&
            save_by - save > step && save_by - save < next)
            next = save_by - save;
    }
    /* Those likeliest to end are saved last. With one port a save begins when the one before it is expected to end, so
     * that the port is never idle; with a port of its own, at the last moment, unless the block will hardly have ended
     * by then. */
    for (j = n; j-- > 0;) {
        uint32_t i = order[j];
        uint64_t cycles = estimates[i].latency[plan->technique[i]], start = save_by > cycles ? save_by - cycles : 0;
        if (serial)
            start = port;
        else if (guess[i] / 2 > start)
            start = 0;
        port = gpump_add_saturated(port, cycles);
        if (start <= step) continue;
        plan->later |= (uint64_t)1 << i;
        if (start < next) next = start;
    }
    if (next != GPUMP_UNKNOWN) plan->ask_again = gpump_add_saturated(request->now, next);
}

/* Cycles until the last victim of a plan has left. */
static uint64_t gpumpi_victim_last_out(const gpump_victim_plan_args *args, const gpump_victim_plan *plan) {
    uint64_t last = 0, port = 0, rest;
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i];
        uint64_t latency = args->sm->estimates[i].latency[t];
        if (gpumpi_victim_uses_port(t) && !(args->request->flags & GPUMP_VICTIM_PARALLEL_SAVES))
            latency = port = gpump_add_saturated(port, latency);
        if (latency > last) last = latency;
    }
    return last;
}

/* The same search for the victims that need the port least. Returns as gpumpi_victim_assign. */
static uint64_t gpumpi_victim_spare_port(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                         gpump_victim_plan *plan) {
    gpump_cost_estimate port[GPUMP_VICTIM_BLOCKS];
    uint32_t i, t;
    for (i = 0; i < args->sm->count; i++)
        for (t = 0; t < GPUMP_TECHNIQUES; t++) {
            port[i].latency[t] = args->sm->estimates[i].latency[t];
            port[i].overhead[t] = gpumpi_victim_uses_port(t) ? port[i].latency[t] : 0;
        }
    gpumpi_victim_exact(args, port, args->left, GPUMPI_VICTIM_JOINT_NODES, plan);
    return gpumpi_victim_assign(args, estimates, plan->victims, plan);
}

GPUMP_API void gpumpi_victim_plan_joint(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpump_cost_estimate estimates[GPUMP_VICTIM_BLOCKS];
    uint64_t limit, last;
    gpumpi_victim_charge_drains(args, args->draining | args->choosable, estimates);
    plan->victims = args->draining;
    plan->positions = 0;
    if (!args->draining) {
        gpumpi_victim_exact(args, estimates, GPUMP_UNKNOWN, GPUMPI_VICTIM_JOINT_NODES, plan);
        if (!plan->positions && args->want) gpump_victim_plan_greedy(args, plan);
    }
    limit = gpumpi_victim_assign(args, estimates, plan->victims, plan);
    last = args->draining ? 0 : gpumpi_victim_last_out(args, plan);
    if (last > args->left) { /* only where saves follow each other can other victims be earlier */
        gpump_victim_plan other;
        uint64_t other_limit;
        other.later = 0;
        other_limit = gpumpi_victim_spare_port(args, estimates, &other);
        if (gpumpi_bits_count64(other.positions) >= gpumpi_bits_count64(plan->positions) &&
            gpumpi_victim_last_out(args, &other) < last) {
            *plan = other;
            limit = other_limit;
        }
    }
    plan->ask_again = GPUMP_UNKNOWN;
    gpumpi_victim_run_on(args, plan->victims, limit, plan);
}
