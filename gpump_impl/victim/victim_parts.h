/* victim_parts (private): what the parts of victim share. victim_positions.c lays positions out, victim_greedy.c is
 * Algorithm 1, victim_exact.c the search, victim_joint.c our policy, victim_policies.c the table, victim.c the decision
 * over SMs. */
#ifndef GPUMPI_VICTIM_PARTS_H
#define GPUMPI_VICTIM_PARTS_H

#include "victim/victim.h"

#include <string.h>

GPUMP_BEGIN

#define GPUMPI_VICTIM_F (1u << GPUMP_TECHNIQUE_FLUSH)
#define GPUMPI_VICTIM_S (1u << GPUMP_TECHNIQUE_SWITCH)
#define GPUMPI_VICTIM_D (1u << GPUMP_TECHNIQUE_DRAIN)
#define GPUMPI_VICTIM_R (1u << GPUMP_TECHNIQUE_REWIND)
/* Every technique of one's own. */
#define GPUMPI_VICTIM_OWN ((1u << GPUMP_TECHNIQUES) - (1u << GPUMP_TECHNIQUE_OWN))

/* ---- one block ---- */

/* Cycles until the deadline of a request. */
GPUMP_INLINE uint64_t gpumpi_victim_left(const gpump_victim_request *request) {
    uint64_t deadline = gpump_add_saturated(request->since, request->limit_cycles);
    if (request->limit_cycles == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    return deadline > request->now ? deadline - request->now : 0;
}

/* The techniques that a policy uses and that exist, as bits. */
GPUMP_INLINE uint32_t gpumpi_victim_techniques(const gpump_victim_policy *policy) {
    const uint32_t built_in =
        policy->techniques & (GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D | GPUMPI_VICTIM_R);
    return policy->techniques & GPUMPI_VICTIM_OWN ? policy->techniques & gpumpi_techniques() : built_in;
}

/* Whether a technique moves bytes through the port that the blocks of an SM share. */
GPUMP_INLINE int gpumpi_victim_uses_port(uint32_t technique) {
    const uint32_t begins = gpump_technique_begins(technique);
    return begins == GPUMP_TECHNIQUE_BEGIN_STOP || begins == GPUMP_TECHNIQUE_BEGIN_REWIND;
}

/* One number that orders as Algorithm 1 does (lines 3 to 13 techniques, 15 to 26 candidates): the smaller the better;
 * what is in time by overhead, before what is late by latency. GPUMP_UNKNOWN is larger than anything, and costs are
 * below 2^63. */
#define GPUMPI_VICTIM_LATE ((uint64_t)1 << 63)
GPUMP_INLINE uint64_t gpumpi_victim_rank(int in_time, uint64_t latency, uint64_t overhead) {
    return in_time ? overhead & ~GPUMPI_VICTIM_LATE : latency | GPUMPI_VICTIM_LATE;
}
/* The best technique so far. */
typedef struct gpumpi_victim_pick {
    uint64_t rank;
    uint32_t technique;
} gpumpi_victim_pick;

GPUMP_INLINE void gpumpi_victim_consider(gpumpi_victim_pick *best, const gpump_cost_estimate *estimate, uint32_t t,
                                         uint64_t left) {
    const uint64_t latency = estimate->latency[t], overhead = estimate->overhead[t];
    const int late = latency > left;
    uint64_t rank;
    if (late && !(best->rank & GPUMPI_VICTIM_LATE)) return; /* the best is in time */
    rank = gpumpi_victim_rank(!late, latency, overhead);
    if (rank > best->rank) return;
    if (rank == best->rank && best->technique < GPUMP_TECHNIQUES &&
        (late ? overhead >= estimate->overhead[best->technique] : latency >= estimate->latency[best->technique]))
        return;
    best->rank = rank;
    best->technique = t;
}

/* Algorithm 1, lines 3 to 13: the allowed technique of the smallest rank; of equal ranks the one whose other number is
 * smaller; then the first. `allowed` is not 0. Unknown is never in time. The built-in ones are considered by constant
 * numbers, which takes two thirds of the instructions of a loop. */
GPUMP_INLINE gpumpi_victim_pick gpumpi_victim_pick_technique(const gpump_cost_estimate *estimate, uint32_t allowed,
                                                             uint64_t left) {
    gpumpi_victim_pick best = {GPUMP_UNKNOWN, GPUMP_TECHNIQUES};
    if (left == GPUMP_UNKNOWN) left--;
    if (allowed & GPUMPI_VICTIM_F) gpumpi_victim_consider(&best, estimate, GPUMP_TECHNIQUE_FLUSH, left);
    if (allowed & GPUMPI_VICTIM_S) gpumpi_victim_consider(&best, estimate, GPUMP_TECHNIQUE_SWITCH, left);
    if (allowed & GPUMPI_VICTIM_D) gpumpi_victim_consider(&best, estimate, GPUMP_TECHNIQUE_DRAIN, left);
    for (allowed &= ~(GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D); allowed; allowed &= allowed - 1)
        gpumpi_victim_consider(&best, estimate, gpump_bits_lowest64(allowed), left);
    return best;
}
/* The technique of gpumpi_victim_pick_technique. */
GPUMP_API uint32_t gpumpi_victim_cheapest(const gpump_cost_estimate *estimate, uint32_t allowed, uint64_t left);

/* ---- warps, threads and slots of one SM ---- */

/* What is free of the resources that positions do not cover; negative when a promised position waits for a block that
 * does not go. `spare` is by how many the free entries of the allocation tables exceed the free slots: it changes only
 * with blocks that are parked or will be. */
typedef struct gpumpi_victim_room {
    int64_t warps, threads, slots, spare;
} gpumpi_victim_room;

/* The parts (gpump_part bits) that a block leaves in place when it goes by itself: it will be parked. */
GPUMP_INLINE uint32_t gpumpi_victim_keeps(const gpump_block_view *block) {
    return gpumpi_block_is_saved_now(block->state) ? block->keep & GPUMP_PARTS_IN_PLACE : 0;
}

/* Corrects the room of a set for its parked blocks and those that will be parked. A function of its own, so that the
 * common case saves no registers. */
GPUMP_API void gpumpi_victim_correct_parked(uint64_t parked, uint64_t kept, gpumpi_victim_room *room);

/* Adds the room of a set of blocks. A parked block has no slot but an entry; a block that will be parked gives its slot
 * but not its entry. */
GPUMP_INLINE void gpumpi_victim_release_hot(const gpump_victim_plan_args *args, uint64_t set,
                                            gpumpi_victim_room *room) {
    const uint64_t parked = set & args->parked, kept = set & args->kept;
    for (; set; set &= set - 1) {
        const gpump_block_view *block = &args->sm->blocks[gpump_bits_lowest64(set)];
        room->warps += block->warps;
        room->threads += block->threads;
        room->slots++;
    }
    if (parked | kept) gpumpi_victim_correct_parked(parked, kept, room);
}
/* The same, where it is called a few times per decision only. */
GPUMP_API void gpumpi_victim_release(const gpump_victim_plan_args *args, uint64_t set, gpumpi_victim_room *room);

/* Returns the room without that of a set of blocks. */
GPUMP_API gpumpi_victim_room gpumpi_victim_room_minus(const gpump_victim_plan_args *args, gpumpi_victim_room room,
                                                      uint64_t set);

/* What is free when the leaving blocks of `staying` do not leave. */
GPUMP_INLINE gpumpi_victim_room gpumpi_victim_room_without(const gpump_victim_plan_args *args, uint64_t staying) {
    gpumpi_victim_room room;
    room.warps = args->free_warps;
    room.threads = args->free_threads;
    room.slots = args->free_slots;
    room.spare = args->free_entries - args->free_slots;
    return staying ? gpumpi_victim_room_minus(args, room, staying) : room;
}

/* Whether `positions` more blocks fit. */
GPUMP_INLINE int gpumpi_victim_suffices(const gpump_victim_geometry *geometry, const gpumpi_victim_room *room,
                                        uint32_t positions) {
    return room->warps >= (int64_t)geometry->warps * positions &&
           room->threads >= (int64_t)geometry->threads * positions && room->slots >= positions &&
           room->slots + room->spare >= positions;
}

/* The same SM when whoever leaves by himself, but later than `limit`, stays. */
GPUMP_API gpump_victim_plan_args gpumpi_victim_args_within(const gpump_victim_plan_args *args, uint64_t limit);

/* Adds whoever must leave with a block of the set and is not on the way out. */
GPUMP_API uint64_t gpumpi_victim_closure(const gpump_victim_sm *sm, uint64_t set);

/* ---- positions ---- */

/* Adds `mark` to the sets of the positions that a range reaches into. base * factor >> 40 is base / position
 * (gpumpi_victim_factor); factor is not 0. */
GPUMP_INLINE void gpumpi_victim_mark_range(uint32_t base, uint32_t length, uint64_t factor, uint32_t positions,
                                           uint64_t mark, uint64_t *sets) {
    uint32_t p, last;
    if (!length) return;
    p = (uint32_t)(base * factor >> 40);
    last = (uint32_t)((base + length - 1) * factor >> 40);
    if (last >= positions) last = positions - 1;
    if (p >= last) { /* on one position, or behind the last */
        if (p == last) sets[p] |= mark;
        return;
    }
    sets[p] |= mark;
    sets[last] |= mark;
    while (++p < last) sets[p] |= mark; /* a block seldom lies on more than two */
}
/* Likewise for these parts (gpump_part bits) of a block. */
GPUMP_INLINE void gpumpi_victim_mark_parts(const gpump_victim_geometry *geometry, const gpump_block_view *block,
                                           uint32_t parts, uint64_t mark, uint64_t *sets) {
    if ((parts & GPUMP_PART_REGISTERS) && geometry->register_factor)
        gpumpi_victim_mark_range(block->register_base, block->registers, geometry->register_factor, geometry->positions,
                                 mark, sets);
    if ((parts & GPUMP_PART_SHARED_MEMORY) && geometry->shared_factor)
        gpumpi_victim_mark_range(block->shared_base, block->shared_bytes, geometry->shared_factor, geometry->positions,
                                 mark, sets);
}
/* Adds a block that will be parked to the sets of the positions that it clears. Returns the others that it lies on: the
 * part that it leaves in place is there. */
GPUMP_API uint64_t gpumpi_victim_mark_kept(const gpump_victim_geometry *geometry, const gpump_block_view *block,
                                           uint64_t mark, uint64_t *sets);
/* Takes the blocks of `own` out of all sets. Returns the positions that they lie on. */
GPUMP_INLINE uint64_t gpumpi_victim_take_out(uint64_t own, uint32_t positions, uint64_t *sets) {
    uint64_t taken = 0;
    uint32_t p;
    for (p = 0; p < positions && own; p++) {
        if (sets[p] & own) taken |= (uint64_t)1 << p;
        sets[p] &= ~own;
    }
    return taken;
}

/* ---- plans ---- */

/* Whether a policy is one of the built-in ones. */
GPUMP_API int gpumpi_victim_is_built_in(const gpump_victim_policy *policy);

/* As gpump_victim_plan_greedy. Where `from` is not NULL, it is the plan for fewer positions, which is extended. */
GPUMP_API void gpumpi_victim_plan_further(const gpump_victim_plan_args *args, const gpump_victim_plan *from,
                                          gpump_victim_plan *plan);

/* Chimera and its kin: all blocks or none, positions from the lowest. */
GPUMP_API void gpumpi_victim_plan_whole(const gpump_victim_plan_args *args, gpump_victim_plan *plan);

/* Every block of args->choosable leaves, each by the technique that the policy gives it. */
GPUMP_API void gpumpi_victim_plan_each(const gpump_victim_plan_args *args, gpump_victim_plan *plan);

/* Positions and victims of least overhead such that every victim, and whoever leaves by himself and is in the way, is
 * out within the limit; where that cannot be, within the least latency that can. Every victim takes its cheapest
 * technique within that latency. `most` bounds the overhead, `nodes` the search; plan->positions is 0 when it ends
 * without an answer. */
GPUMP_API void gpumpi_victim_exact(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                   uint64_t most, uint32_t nodes, gpump_victim_plan *plan);

/* Ours: all victims at once (victim_joint.c). */
GPUMP_API void gpumpi_victim_plan_joint(const gpump_victim_plan_args *args, gpump_victim_plan *plan);

GPUMP_END
#endif
