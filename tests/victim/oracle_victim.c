/* Brute force for victim selection: every set of victims, tried one by one. Knows only the view structs; how positions
 * and rooms work is written here a second time. Included behind victim_cases.h by the tests
 * that use it. */
#include "victim/cost.h"
#include "gpu/block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct oracle_sm {
    const gpump_block_view *blocks;
    const gpump_cost_estimate *estimates;
    uint32_t count;
    uint32_t incoming;                                                           /* kernel number */
    uint32_t techniques;                                                         /* bits */
    uint32_t registers, shared_bytes, threads, warps;                            /* of one incoming block */
    uint32_t all_registers, all_shared_bytes, all_threads, all_warps, all_slots; /* of the SM */
    uint32_t most;                                                               /* incoming blocks on an SM at most */
    uint64_t reserved; /* positions promised already: their blocks will come */
} oracle_sm;

/* The question of a case to a policy. */
static inline oracle_sm oracle_of(const victim_case *c, const gpump_victim_policy *policy) {
    oracle_sm o;
    o.blocks = c->blocks;
    o.estimates = c->estimates;
    o.count = c->sm.count;
    o.incoming = VICTIM_INCOMING;
    o.techniques = policy->techniques;
    o.registers = c->need.registers;
    o.shared_bytes = c->need.shared_bytes;
    o.threads = c->need.threads;
    o.warps = (c->need.threads + 31) / 32;
    o.all_registers = c->gpu.registers;
    o.all_shared_bytes = 49152;
    o.all_threads = c->gpu.thread_slots;
    o.all_warps = c->gpu.warp_slots;
    o.all_slots = c->gpu.block_slots;
    o.most = c->geometry.blocks;
    o.reserved = c->sm.reserved;
    return o;
}

typedef struct oracle_answer {
    uint64_t latency, overhead;
    uint32_t positions;
} oracle_answer;

static int oracle_is_leaving(const gpump_block_view *b) {
    return b->state == GPUMP_BLOCK_DRAINING || b->state == GPUMP_BLOCK_STOPPING || b->state == GPUMP_BLOCK_SAVING ||
           b->state == GPUMP_BLOCK_SAVED || b->state == GPUMP_BLOCK_FLUSHED || b->state == GPUMP_BLOCK_DONE;
}

/* What stays of a block that has left by itself: parts of one that will be parked (1 registers, 2 shared memory). */
static uint32_t oracle_stays_in_place(const gpump_block_view *b) {
    return b->state == GPUMP_BLOCK_STOPPING || b->state == GPUMP_BLOCK_SAVING ? b->keep : 0;
}

static int oracle_overlap(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length) {
    return a_length && b_length && a < b + b_length && b < a + a_length;
}

/* When a block that leaves by itself is out. */
static uint64_t oracle_leaving_latency(const oracle_sm *sm, uint32_t i) {
    uint32_t state = sm->blocks[i].state;
    if (state == GPUMP_BLOCK_DRAINING) return sm->estimates[i].latency[GPUMP_TECHNIQUE_DRAIN];
    if (state != GPUMP_BLOCK_STOPPING && state != GPUMP_BLOCK_SAVING) return 0;
    return sm->estimates[i]
        .latency[sm->blocks[i].technique == GPUMP_TECHNIQUE_REWIND ? GPUMP_TECHNIQUE_REWIND : GPUMP_TECHNIQUE_SWITCH];
}

/* Blocks of other kernels that leave by themselves and are out by `limit`. */
static uint64_t oracle_leaving(const oracle_sm *sm, uint64_t limit) {
    uint64_t leaving = 0;
    uint32_t i;
    for (i = 0; i < sm->count; i++)
        if (oracle_is_leaving(&sm->blocks[i]) && sm->blocks[i].kernel != sm->incoming &&
            oracle_leaving_latency(sm, i) <= limit)
            leaving |= (uint64_t)1 << i;
    return leaving;
}

/* How many positions are free when exactly the blocks of `gone` are gone. */
static uint32_t oracle_positions(const oracle_sm *sm, uint64_t gone) {
    uint32_t p, i, free_positions = 0, own = 0, threads = 0, warps = 0, slots = 0, named = 0, n;
    for (i = 0; i < sm->count; i++) {
        if (gone >> i & 1u) {
            named += oracle_stays_in_place(&sm->blocks[i]) != 0;
            continue;
        }
        named++;
        if (sm->blocks[i].state == GPUMP_BLOCK_PARKED) continue; /* it has no warps and no slot */
        if (sm->blocks[i].kernel == sm->incoming) own++;
        threads += sm->blocks[i].threads;
        warps += sm->blocks[i].warps;
        slots++;
    }
    for (p = 0; p < 64; p++) {
        uint64_t r = (uint64_t)p * sm->registers, s = (uint64_t)p * sm->shared_bytes;
        int is_free = !(sm->reserved >> p & 1u) && r + sm->registers <= sm->all_registers &&
                      s + sm->shared_bytes <= sm->all_shared_bytes;
        if (!sm->registers && !sm->shared_bytes && p >= sm->most) break;
        for (i = 0; i < sm->count && is_free; i++) {
            const gpump_block_view *b = &sm->blocks[i];
            uint32_t there = gone >> i & 1u ? oracle_stays_in_place(b) : 3;
            if (((there & 1) && oracle_overlap(r, sm->registers, b->register_base, b->registers)) ||
                ((there & 2) && oracle_overlap(s, sm->shared_bytes, b->shared_base, b->shared_bytes)))
                is_free = 0;
        }
        free_positions += (uint32_t)is_free;
    }
    for (p = 0; p < 64; p++) {
        if (!(sm->reserved >> p & 1u)) continue;
        own++;
        threads += sm->threads;
        warps += sm->warps;
        slots++;
        named++;
    }
    for (n = 0; n < free_positions; n++)
        if (own + n + 1 > sm->most || threads + (n + 1) * sm->threads > sm->all_threads ||
            warps + (n + 1) * sm->warps > sm->all_warps || slots + n + 1 > sm->all_slots ||
            named + n + 1 > (sm->all_slots > 32 ? 64 : sm->all_slots * 2))
            break;
    return n;
}

static int oracle_groups_complete(const oracle_sm *sm, uint64_t victims, uint64_t leaving) {
    uint32_t i, j;
    for (i = 0; i < sm->count; i++)
        for (j = 0; j < sm->count; j++)
            if (sm->blocks[i].group && sm->blocks[i].group == sm->blocks[j].group &&
                sm->blocks[i].kernel == sm->blocks[j].kernel && (victims >> i & 1u) &&
                sm->blocks[i].state != GPUMP_BLOCK_PARKED && sm->blocks[j].state != GPUMP_BLOCK_PARKED &&
                !((victims | leaving) >> j & 1u))
                return 0;
    return 1;
}

/* The most positions that can be free by `limit`: all sets of victims, each in whatever way is in time. With one port
 * (`serial`) saves follow each other, so only those are saved that can leave in no other way. */
static inline uint32_t oracle_positions_in_time(const oracle_sm *sm, uint64_t limit, int serial) {
    uint64_t set, all = oracle_leaving(sm, UINT64_MAX), in_time = oracle_leaving(sm, limit),
                  last = (uint64_t)1 << sm->count;
    uint32_t i, most = 0, positions;
    for (set = 0; set < last; set++) {
        uint64_t port = 0;
        int possible = !(set & all) && oracle_groups_complete(sm, set, all);
        for (i = 0; i < sm->count && possible; i++) {
            const uint64_t *latency = sm->estimates[i].latency;
            uint32_t allowed = sm->blocks[i].may & sm->techniques & 15u;
            uint64_t save = UINT64_MAX;
            if (!(set >> i & 1u)) continue;
            possible = sm->blocks[i].kernel != sm->incoming;
            if ((allowed >> GPUMP_TECHNIQUE_FLUSH & 1u) && latency[GPUMP_TECHNIQUE_FLUSH] <= limit) continue;
            if ((allowed >> GPUMP_TECHNIQUE_DRAIN & 1u) && latency[GPUMP_TECHNIQUE_DRAIN] <= limit) continue;
            if (allowed >> GPUMP_TECHNIQUE_SWITCH & 1u) save = latency[GPUMP_TECHNIQUE_SWITCH];
            if ((allowed >> GPUMP_TECHNIQUE_REWIND & 1u) && latency[GPUMP_TECHNIQUE_REWIND] < save)
                save = latency[GPUMP_TECHNIQUE_REWIND];
            possible &= save <= limit;
            port += serial && possible ? save : 0;
            possible &= port <= limit;
        }
        if (!possible) continue;
        positions = oracle_positions(sm, set | in_time);
        if (positions > most) most = positions;
    }
    return most;
}

/* Which is better: first past the limit by less, then the smaller overhead. */
static inline int oracle_better(uint64_t limit, uint64_t la, uint64_t oa, uint64_t lb, uint64_t ob) {
    if (la < limit) la = limit;
    if (lb < limit) lb = limit;
    return la != lb ? la < lb : oa < ob;
}

/* One set of victims: how many positions it frees, and the least latency with which it does. */
typedef struct oracle_set {
    uint64_t latency;
    uint32_t positions; /* 0: it may not leave */
} oracle_set;

/* The earliest cycle at which enough of those that leave by themselves are out. */
static inline uint64_t oracle_others(const oracle_sm *sm, uint64_t set, uint64_t leaving, uint32_t positions) {
    uint64_t others = UINT64_MAX;
    if (!leaving || oracle_positions(sm, set) >= positions) return 0;
    for (uint32_t i = 0; i < sm->count; i++) {
        const uint64_t at = leaving >> i & 1u ? oracle_leaving_latency(sm, i) : UINT64_MAX;
        if (at < others && oracle_positions(sm, set | oracle_leaving(sm, at)) >= positions) others = at;
    }
    return others;
}

static inline oracle_set oracle_try(const oracle_sm *sm, uint64_t set, uint64_t leaving, uint32_t want) {
    oracle_set tried = {0, 0};
    for (uint32_t i = 0; i < sm->count; i++) {
        const uint32_t allowed = sm->blocks[i].may & sm->techniques & 15u;
        uint64_t fastest = UINT64_MAX;
        if (!(set >> i & 1u)) continue;
        if ((leaving >> i & 1u) || sm->blocks[i].kernel == sm->incoming || !allowed) return tried;
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++)
            if ((allowed >> t & 1u) && sm->estimates[i].latency[t] < fastest) fastest = sm->estimates[i].latency[t];
        if (fastest > tried.latency) tried.latency = fastest;
    }
    if (!oracle_groups_complete(sm, set, leaving)) return tried;
    tried.positions = oracle_positions(sm, set | leaving);
    if (tried.positions > want) tried.positions = want;
    if (tried.positions) {
        const uint64_t others = oracle_others(sm, set, leaving, tried.positions);
        if (others > tried.latency) tried.latency = others;
    }
    return tried;
}

/* What a set costs when each block takes the cheapest technique that is in time. */
static inline uint64_t oracle_overhead(const oracle_sm *sm, uint64_t set, uint64_t limit) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sm->count; i++) {
        const gpump_cost_estimate *e = &sm->estimates[i];
        uint64_t cheapest = UINT64_MAX;
        if (!(set >> i & 1u)) continue;
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++)
            if ((sm->blocks[i].may & sm->techniques) >> t & 1u && e->latency[t] <= limit && e->overhead[t] < cheapest)
                cheapest = e->overhead[t];
        sum = sum + cheapest < sum ? UINT64_MAX : sum + cheapest;
    }
    return sum;
}

/* The best way to get `want` positions, or as many as can be had: of all sets of at most ORACLE_BLOCKS blocks those
 * that free most, of these those that are past the limit by least, of these the cheapest. The latency is that of the
 * last victim, or of the last block that leaves by itself and is in the way, and at least the limit. */
enum { ORACLE_BLOCKS = 10 };
static inline oracle_answer oracle_best(const oracle_sm *sm, uint64_t limit, uint32_t want) {
    static oracle_set tried[1u << ORACLE_BLOCKS];
    oracle_answer best = {UINT64_MAX, UINT64_MAX, 0};
    const uint64_t leaving = oracle_leaving(sm, UINT64_MAX), sets = (uint64_t)1 << sm->count;
    uint64_t set;
    if (sm->count > ORACLE_BLOCKS) abort();
    for (set = 0; set < sets; set++) {
        tried[set] = oracle_try(sm, set, leaving, want);
        if (tried[set].positions < best.positions) continue;
        if (tried[set].positions > best.positions || tried[set].latency < best.latency)
            best.latency = tried[set].latency;
        best.positions = tried[set].positions;
    }
    if (best.latency < limit) best.latency = limit;
    for (set = 0; set < sets; set++) {
        uint64_t overhead;
        if (tried[set].positions < best.positions || tried[set].latency > best.latency) continue;
        overhead = oracle_overhead(sm, set, best.latency);
        if (overhead < best.overhead) best.overhead = overhead;
    }
    return best;
}
