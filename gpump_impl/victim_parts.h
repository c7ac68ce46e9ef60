/* victim_parts (private): what the parts of victim share. victim_positions.c lays positions out, victim_greedy.c is Algorithm 1,
 * victim_exact.c the search, victim_policies.c the table of policies, victim.c the decision over SMs. */
#ifndef GPUMPI_VICTIM_PARTS_H
#define GPUMPI_VICTIM_PARTS_H

#include "victim.h"

#include <string.h>

GPUMP_BEGIN

#define GPUMPI_VICTIM_F (1u << GPUMP_TECHNIQUE_FLUSH)
#define GPUMPI_VICTIM_S (1u << GPUMP_TECHNIQUE_SWITCH)
#define GPUMPI_VICTIM_D (1u << GPUMP_TECHNIQUE_DRAIN)
#define GPUMPI_VICTIM_R (1u << GPUMP_TECHNIQUE_REWIND)

/* ---- one block ---- */

/* Cycles until the deadline of a request. */
GPUMP_INLINE uint64_t gpumpi_victim_left(const gpump_victim_request *request) {
    uint64_t deadline = gpump_add_saturated(request->since, request->limit_cycles);
    if (request->limit_cycles == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    return deadline > request->now ? deadline - request->now : 0;
}

/* A block that frees its room without being told to. */
GPUMP_INLINE int gpumpi_victim_is_leaving(const gpump_block_view *block) {
    return block->state >= GPUMP_BLOCK_DRAINING && block->state != GPUMP_BLOCK_RESTORING;
}

GPUMP_INLINE uint64_t gpumpi_victim_leaving_latency(const gpump_block_view *block, const gpump_cost_estimate *estimate) {
    if (block->state == GPUMP_BLOCK_DRAINING) return estimate->latency[GPUMP_TECHNIQUE_DRAIN];
    if (block->state == GPUMP_BLOCK_STOPPING || block->state == GPUMP_BLOCK_SAVING) return estimate->latency[GPUMP_TECHNIQUE_SWITCH];
    return 0;
}

/* Whether a technique moves bytes through the port that the blocks of an SM share. */
GPUMP_INLINE int gpumpi_victim_uses_port(uint32_t technique) {
    return technique == GPUMP_TECHNIQUE_SWITCH || technique == GPUMP_TECHNIQUE_REWIND;
}

/* Algorithm 1, lines 3 to 13. `allowed` is not 0. Unknown counts as the largest number and is never in time. */
GPUMP_INLINE uint32_t gpumpi_victim_cheapest(const gpump_cost_estimate *estimate, uint32_t allowed, uint64_t left) {
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

/* ---- warps, threads and slots of one SM ---- */

/* What is free of the resources that positions do not cover. */
typedef struct gpumpi_victim_room {
    uint32_t warps, threads, slots; /* free */
} gpumpi_victim_room;

GPUMP_INLINE void gpumpi_victim_release(const gpump_block_view *blocks, uint64_t set, gpumpi_victim_room *room) {
    for (; set; set &= set - 1) {
        const gpump_block_view *block = &blocks[gpump_bits_lowest64(set)];
        room->warps += block->warps;
        room->threads += block->threads;
        room->slots++;
    }
}

/* Whether `positions` more blocks fit. */
GPUMP_INLINE int gpumpi_victim_suffices(const gpump_victim_geometry *geometry, const gpumpi_victim_room *room, uint32_t positions) {
    return room->warps >= geometry->warps * positions && room->threads >= geometry->threads * positions && room->slots >= positions;
}

/* Adds whoever must leave with a block of the set. */
GPUMP_API uint64_t gpumpi_victim_closure(const gpump_victim_sm *sm, uint64_t set);

/* ---- plans ---- */

/* Chimera and its kin: all blocks or none, positions from the lowest. */
GPUMP_API void gpumpi_victim_plan_whole(const gpump_victim_policy *policy, const gpump_victim_plan_args *args, gpump_victim_plan *plan);

/* Positions and victims of least overhead in which every block leaves within the limit; where that cannot be, within the least
 * latency that can. Every block takes its cheapest technique within that latency, which is returned.
 * `nodes` bounds the search; plan->positions is 0 when it ends without an answer. */
GPUMP_API uint64_t gpumpi_victim_exact(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates, uint32_t nodes,
                                       gpump_victim_plan *plan);

GPUMP_END
#endif
