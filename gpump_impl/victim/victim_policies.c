#include "victim/victim_parts.h"

/* ---- exact ---- */

#define GPUMPI_VICTIM_NODES 200000u

static void gpumpi_victim_plan_exact(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_exact(args, args->sm->estimates, GPUMP_UNKNOWN, GPUMPI_VICTIM_NODES, plan);
}

/* ---- drain, then switch (Tanasic 7.2.1) ---- */

static uint32_t gpumpi_victim_technique_timeout(const gpump_victim_technique_args *args) {
    const gpump_victim_request *request = args->request;
    uint64_t timeout = request->timeout_cycles, at;
    if (timeout == GPUMP_UNKNOWN && request->limit_cycles != GPUMP_UNKNOWN)
        timeout = request->limit_cycles > args->saves ? request->limit_cycles - args->saves : 0;
    at = gpump_add_saturated(request->since, timeout);
    if (!(args->allowed >> GPUMP_TECHNIQUE_SWITCH & 1u)) return GPUMP_TECHNIQUE_DRAIN;
    if (request->now >= at || !(args->allowed >> GPUMP_TECHNIQUE_DRAIN & 1u)) return GPUMP_TECHNIQUE_SWITCH;
    if (at < *args->ask_again) *args->ask_again = at;
    return GPUMP_TECHNIQUE_DRAIN;
}

/* ---- the built-in policies ---- */

static const gpump_victim_policy gpumpi_victim_policies[] = {
    {GPUMP_VICTIM_EVICTED,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "dual",
     "Shieh's dual-kernel scheme: position by position, Algorithm 1, CPI from the source of smaller deviation.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     {GPUMP_COST_CPI_RUNNING, GPUMP_COST_DRAIN_LOSES, 0},
     "chimera",
     "Chimera: whole SMs, each block its cheapest technique, a block's own CPI, drains charged with the slots they "
     "leave idle.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, GPUMP_COST_DRAIN_LOSES, 0},
     "chimera+",
     "Chimera with the dual-kernel scheme's drain estimate.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_S,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "switch",
     "Every block of the SM is saved.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_D,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "drain",
     "Every block of the SM runs to its end.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_F,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "flush",
     "Every block of the SM is dropped; an SM with a block that must not be is left alone.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "drain-then-switch",
     "Drains; what has not ended after a time-out is saved (Tanasic 7.2.1).",
     NULL,
     gpumpi_victim_technique_timeout,
     NULL,
     NULL},
    {GPUMP_VICTIM_EVICTED | GPUMP_VICTIM_TRUE_COSTS,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "oracle",
     "The dual-kernel scheme, to be fed with true costs.",
     NULL,
     NULL,
     NULL,
     NULL},
    {0,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D | GPUMPI_VICTIM_OWN,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "exact",
     "Of all sets of positions and victims the one of least overhead within the limit, else within the least latency.",
     NULL,
     NULL,
     NULL,
     gpumpi_victim_plan_exact},
    {GPUMP_VICTIM_EVICTED,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D | GPUMPI_VICTIM_R,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "rewind",
     "The dual-kernel scheme with rewind as a fourth technique.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMP_VICTIM_COMMON_DEADLINE,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D | GPUMPI_VICTIM_R | GPUMPI_VICTIM_OWN,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, GPUMP_COST_DRAIN_CAREFUL, 0},
     "joint",
     "All victims at once: exact sets, one port per SM, one common deadline, drains that are looked at again.",
     NULL,
     NULL,
     NULL,
     gpumpi_victim_plan_joint},
    {GPUMP_VICTIM_EVICTED,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     {GPUMP_COST_CPI_LARGER, 0, 0},
     "dual-larger",
     "The dual-kernel scheme with the larger CPI for every drain: fewer late drains, more waste.",
     NULL,
     NULL,
     NULL,
     NULL},
};

GPUMP_API const gpump_victim_policy *gpump_victim_policy_at(uint32_t index) {
    return index < sizeof gpumpi_victim_policies / sizeof *gpumpi_victim_policies ? &gpumpi_victim_policies[index]
                                                                                  : NULL;
}

GPUMP_API const gpump_victim_policy *gpump_victim_find(const char *name) {
    uint32_t i;
    for (i = 0; name && gpump_victim_policy_at(i); i++)
        if (!strcmp(gpump_victim_policy_at(i)->name, name)) return gpump_victim_policy_at(i);
    return NULL;
}

GPUMP_API int gpumpi_victim_is_built_in(const gpump_victim_policy *policy) {
    return (uintptr_t)policy - (uintptr_t)gpumpi_victim_policies < sizeof gpumpi_victim_policies;
}
