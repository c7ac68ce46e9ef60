#include "victim_parts.h"

/* ---- exact ---- */

#define GPUMPI_VICTIM_NODES 200000u

static void gpumpi_victim_plan_exact(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_exact(args, args->sm->estimates, GPUMP_UNKNOWN, GPUMPI_VICTIM_NODES, plan);
    if (!plan->positions && args->want) gpump_victim_plan_greedy(policy, args, plan);
}

/* ---- joint: ours ---- */

#define GPUMPI_VICTIM_JOINT_NODES 2000u

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
        uint32_t i = gpump_bits_lowest64(rest), t;
        uint32_t ways = serial ? args->allowed[i] & GPUMPI_VICTIM_PORT : args->allowed[i];
        uint64_t soonest = GPUMP_UNKNOWN;
        if (gpumpi_victim_within(&estimates[i], args->allowed[i], GPUMPI_VICTIM_PORT, limit) < GPUMP_TECHNIQUES) continue;
        if (!ways) ways = args->allowed[i]; /* nothing but the drain */
        for (t = 0; t < GPUMP_TECHNIQUES; t++)
            if ((ways >> t & 1u) && estimates[i].latency[t] < soonest) soonest = estimates[i].latency[t];
        if (soonest == GPUMP_UNKNOWN) forced = GPUMP_UNKNOWN - 1;
        else if (serial) forced = gpump_add_saturated(forced, soonest);
        else if (soonest > forced) forced = soonest;
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
            won = estimates[i].latency[was];
            if (t == GPUMP_TECHNIQUES) { /* the other way to save it, where that is shorter */
                t = was == GPUMP_TECHNIQUE_SWITCH ? (uint32_t)GPUMP_TECHNIQUE_REWIND : (uint32_t)GPUMP_TECHNIQUE_SWITCH;
                if (!(args->allowed[i] >> t & 1u) || estimates[i].latency[t] >= won) continue;
                won -= estimates[i].latency[t];
            }
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

/* Cycles until the last victim of a plan is out. */
static uint64_t gpumpi_victim_last_out(const gpump_victim_plan_args *args, const gpump_victim_plan *plan) {
    uint64_t last = 0, port = 0, rest;
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i];
        uint64_t latency = args->sm->estimates[i].latency[t];
        if (gpumpi_victim_uses_port(t) && (args->request->flags & GPUMP_VICTIM_SERIAL_PORT)) latency = port = gpump_add_saturated(port, latency);
        if (latency > last) last = latency;
    }
    return last;
}

/* The same search for the victims that need the port least. */
static void gpumpi_victim_spare_port(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpump_cost_estimate port[GPUMP_VICTIM_BLOCKS];
    uint32_t i, t;
    for (i = 0; i < args->sm->count; i++)
        for (t = 0; t < GPUMP_TECHNIQUES; t++) {
            port[i].latency[t] = args->sm->estimates[i].latency[t];
            port[i].overhead[t] = gpumpi_victim_uses_port(t) ? port[i].latency[t] : 0;
        }
    gpumpi_victim_exact(args, port, args->left, GPUMPI_VICTIM_JOINT_NODES, plan);
    gpumpi_victim_assign(args, plan->victims, plan);
}

static void gpumpi_victim_plan_joint(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    uint64_t rest, last;
    gpumpi_victim_exact(args, args->sm->estimates, GPUMP_UNKNOWN, GPUMPI_VICTIM_JOINT_NODES, plan);
    if (!plan->positions && args->want) gpump_victim_plan_greedy(policy, args, plan);
    gpumpi_victim_assign(args, plan->victims, plan);
    last = gpumpi_victim_last_out(args, plan);
    if (last > args->left) { /* only where saves follow each other can other victims be earlier */
        gpump_victim_plan other;
        gpumpi_victim_spare_port(args, &other);
        if (gpump_bits_count64(other.positions) >= gpump_bits_count64(plan->positions) && gpumpi_victim_last_out(args, &other) < last) *plan = other;
    }
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
