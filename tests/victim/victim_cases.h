/* Random SMs for the victim tests: one or two kernels in place, some blocks already leaving, an incoming footprint. */
#ifndef VICTIM_CASES_H
#define VICTIM_CASES_H
#include "test.h"

typedef struct victim_case {
    gpump_gpu gpu;
    gpump_footprint need;
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_victim_sm sm;
    gpump_block_view blocks[64];
    gpump_cost_estimate estimates[64];
} victim_case;

enum { VICTIM_INCOMING = 9 };

/* What a case may hold; bits. */
enum {
    VICTIM_MIXED = 1,
    VICTIM_GROUPS = 2,
    VICTIM_LEAVING = 4,
    VICTIM_OWN = 8,
    VICTIM_UNKNOWN = 16,
    VICTIM_STUCK = 32,
    VICTIM_RESERVED = 64,
    VICTIM_PARKED = 128, /* blocks that have left their slots, or are about to, with a part in place */
    VICTIM_KINDS = 256
};

/* Parks a block: out of its slots, or about to be. It keeps registers, shared memory or both, and may be flushed or
 * switched once it is parked; nothing may be done while it is on the way. */
static inline void victim_case_park(gpump_block_view *b, uint64_t *random) {
    uint32_t keep = 1 + gpump_random_below(random, 3);
    if (gpump_random_below(random, 2)) {
        b->state = gpump_random_below(random, 2) ? GPUMP_BLOCK_STOPPING : GPUMP_BLOCK_SAVING;
        b->technique = gpump_random_below(random, 2) ? GPUMP_TECHNIQUE_SWITCH : GPUMP_TECHNIQUE_REWIND;
        b->keep = keep;
        b->may = 0;
        return;
    }
    b->state = GPUMP_BLOCK_PARKED;
    b->may &= 1u << GPUMP_TECHNIQUE_FLUSH | 1u << GPUMP_TECHNIQUE_SWITCH;
    b->threads = b->warps = 0;
    if (!(keep & GPUMP_PART_REGISTERS)) b->register_base = b->registers = 0;
    if (!(keep & GPUMP_PART_SHARED_MEMORY)) b->shared_base = b->shared_bytes = 0;
}

static inline uint64_t victim_case_number(uint64_t *random, uint32_t below) {
    return gpump_random_below(random, below);
}

/* Where the next block begins, and what the blocks before it take. */
typedef struct victim_case_room {
    uint32_t registers, shared, warps, threads;
} victim_case_room;

/* Moves to the next aligned position of the incoming kernel; 0: it needs no memory, so it has none. */
static inline int victim_case_align(const gpump_victim_geometry *geometry, victim_case_room *at) {
    uint32_t k = geometry->registers ? (at->registers + geometry->registers - 1) / geometry->registers : 0;
    if (geometry->shared_bytes && (at->shared + geometry->shared_bytes - 1) / geometry->shared_bytes > k)
        k = (at->shared + geometry->shared_bytes - 1) / geometry->shared_bytes;
    at->registers = k * geometry->registers;
    at->shared = k * geometry->shared_bytes;
    return geometry->registers || geometry->shared_bytes;
}

static inline void victim_case_estimate(gpump_cost_estimate *e, uint64_t *random, uint32_t what) {
    uint32_t t;
    memset(e, 0xff, sizeof *e);
    for (t = 0; t < GPUMP_TECHNIQUE_OWN; t++) {
        e->latency[t] = t == GPUMP_TECHNIQUE_FLUSH ? 0 : victim_case_number(random, 6000);
        e->overhead[t] = t == GPUMP_TECHNIQUE_DRAIN ? 0 : victim_case_number(random, 1000);
        if (what & VICTIM_UNKNOWN && t == GPUMP_TECHNIQUE_DRAIN && gpump_random_below(random, 4) == 0)
            e->latency[t] = e->overhead[t] = GPUMP_UNKNOWN;
    }
}

/* Adds the block of slot i, with a footprint of `running` or of the incoming kernel; 0: the SM has no room for it. */
static inline int victim_case_block(victim_case *c, uint64_t *random, uint32_t i, const gpump_footprint *running,
                                    uint32_t kernels, victim_case_room *at, uint32_t what) {
    const gpump_gpu *gpu = &c->gpu;
    const uint32_t drawn = gpump_random_below(random, kernels), hole = gpump_random_below(random, 6) == 0;
    const uint32_t own = what & VICTIM_OWN && gpump_random_below(random, 5) == 0;
    const gpump_footprint *f = own ? &c->need : &running[drawn];
    gpump_block_view *b = &c->blocks[c->sm.count];
    if (own && !victim_case_align(&c->geometry, at)) return 1;
    if (at->registers + f->registers > gpu->registers || at->shared + f->shared_bytes > 49152 ||
        at->threads + f->threads > gpu->thread_slots || at->warps + (f->threads + 31) / 32 > gpu->warp_slots)
        return 0;
    b->register_base = at->registers;
    b->registers = f->registers;
    b->shared_base = at->shared;
    b->shared_bytes = f->shared_bytes;
    at->registers += f->registers;
    at->shared += f->shared_bytes;
    if (hole) return 1;
    b->threads = f->threads;
    b->warps = (f->threads + 31) / 32;
    at->threads += b->threads;
    at->warps += b->warps;
    b->block.slot = i;
    b->block.generation = 1 + gpump_random_below(random, 9);
    b->cookie = 1000 + i;
    b->kernel = own ? VICTIM_INCOMING : 1 + drawn;
    b->state = GPUMP_BLOCK_RUNNING;
    b->may = gpump_random_below(random, 2) ? 6 : 7;
    if (gpump_random_below(random, 4) == 0) b->may |= 8;
    if (what & VICTIM_STUCK && gpump_random_below(random, 8) == 0) b->may = gpump_random_below(random, 8);
    if (what & VICTIM_LEAVING && !own && gpump_random_below(random, 6) == 0) b->state = GPUMP_BLOCK_DRAINING;
    if (what & VICTIM_GROUPS && !own && gpump_random_below(random, 3) == 0)
        b->group = 1 + gpump_random_below(random, 2);
    if (what & VICTIM_PARKED && !own && gpump_random_below(random, 3) == 0) victim_case_park(b, random);
    b->executed = gpump_random_below(random, 1000);
    victim_case_estimate(&c->estimates[c->sm.count++], random, what);
    return 1;
}

/* Promises position p if promises are kept: on a promised position nobody stays, and there is room for all of them when
 * those that leave are out. */
static inline void victim_case_promise(victim_case *c, uint32_t p) {
    uint32_t stay = c->geometry.blocks, warps = 0, threads = 0, count = 0, k;
    const uint64_t promised = c->sm.reserved | (uint64_t)1 << p;
    uint64_t rest;
    int possible = !(c->sm.reserved >> p & 1u);
    for (rest = promised; rest; rest &= rest - 1) {
        stay = stay ? stay - 1 : 0;
        warps += c->geometry.warps;
        threads += c->need.threads;
        count++;
    }
    for (k = 0; k < c->sm.count; k++) {
        const gpump_block_view *b = &c->blocks[k];
        const uint64_t r = (uint64_t)p * c->geometry.registers, s = (uint64_t)p * c->geometry.shared_bytes;
        const int leaves =
            b->state == GPUMP_BLOCK_DRAINING || b->state == GPUMP_BLOCK_STOPPING || b->state == GPUMP_BLOCK_SAVING;
        const uint32_t keep = leaves ? b->keep : 3;
        if (r < b->register_base + b->registers && b->register_base < r + c->geometry.registers && (keep & 1))
            possible = 0;
        if (s < b->shared_base + b->shared_bytes && b->shared_base < s + c->geometry.shared_bytes && (keep & 2))
            possible = 0;
        if (leaves || b->state == GPUMP_BLOCK_PARKED) continue;
        warps += b->warps;
        threads += b->threads;
        count++;
        if (b->kernel == VICTIM_INCOMING) possible &= stay-- > 0;
    }
    if (possible && warps <= c->gpu.warp_slots && threads <= c->gpu.thread_slots && count <= c->gpu.block_slots)
        c->sm.reserved = promised;
}

/* Makes a case of at most `most` blocks. Returns 0 when the incoming block never fits; try again. */
static inline int victim_case_make(victim_case *c, uint64_t *random, uint32_t most, uint32_t what) {
    gpump_gpu *gpu = &c->gpu;
    const uint32_t kernels = what & VICTIM_MIXED ? 1 + gpump_random_below(random, 2) : 1;
    victim_case_room at = {0, 0, 0, 0};
    gpump_footprint running[2];
    uint32_t i, k;
    memset(c, 0, sizeof *c);
    gpump_preset(&gpump_gpu_component, gpu, "gtx480_shieh", NULL);
    gpu->block_slots = 1 + gpump_random_below(random, most);
    gpu->warp_slots = 4 + gpump_random_below(random, 45);
    gpu->thread_slots = gpu->warp_slots * 32;
    if (gpump_random_below(random, 4) == 0) gpu->thread_slots -= gpump_random_below(random, 64);
    gpu->registers = 1024 * (1 + gpump_random_below(random, 32));
    gpu->shared_option_count = 1;
    gpu->shared_bytes[0] = 49152;
    for (k = 0; k < kernels; k++) {
        running[k].threads = 32 * (1 + gpump_random_below(random, 8));
        running[k].registers = gpump_random_below(random, 8) ? 128 * gpump_random_below(random, 64) : 0;
        running[k].shared_bytes = gpump_random_below(random, 3) ? 256 * gpump_random_below(random, 40) : 0;
    }
    c->need.threads = 1 + gpump_random_below(random, 256);
    c->need.registers = gpump_random_below(random, 8) ? 128 * (1 + gpump_random_below(random, 64)) : 0;
    c->need.shared_bytes = gpump_random_below(random, 3) ? 256 * gpump_random_below(random, 40) : 0;
    if (gpump_victim_geometry_init(&c->geometry, gpu, &c->need, 49152, NULL) != GPUMP_OK) return 0;
    for (i = 0; i < gpu->block_slots; i++)
        if (!victim_case_block(c, random, i, running, kernels, &at, what)) break;
    for (i = 0; what & VICTIM_RESERVED && i < 2; i++)
        victim_case_promise(c, gpump_random_below(random, c->geometry.positions));
    c->sm.blocks = c->blocks;
    c->sm.estimates = c->estimates;
    c->sm.sm = 3;
    c->request.flags = GPUMP_VICTIM_PARALLEL_SAVES;
    c->request.kernel = VICTIM_INCOMING;
    c->request.limit_cycles = gpump_random_below(random, 6000);
    c->request.timeout_cycles = GPUMP_UNKNOWN;
    c->request.positions = 1 + gpump_random_below(random, c->geometry.blocks);
    return 1;
}
#endif
