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

/* Makes a case of at most `most` blocks. Returns 0 when the incoming block never fits; try again. */
static inline int victim_case_make(victim_case *c, uint64_t *random, uint32_t most, uint32_t what) {
    gpump_gpu *gpu = &c->gpu;
    uint32_t kernels = what & VICTIM_MIXED ? 1 + gpump_random_below(random, 2) : 1, i, k, at_register = 0,
             at_shared = 0, warps = 0, threads = 0;
    gpump_footprint running[2];
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
    for (i = 0; i < gpu->block_slots; i++) {
        const gpump_footprint *f = &running[gpump_random_below(random, kernels)];
        gpump_block_view *b = &c->blocks[c->sm.count];
        uint32_t own = 0, t, hole = gpump_random_below(random, 6) == 0;
        if (what & VICTIM_OWN && gpump_random_below(random, 5) == 0) own = 1;
        if (own) {
            f = &c->need;
            /* Its next aligned position. */
            k = c->geometry.registers ? (at_register + c->geometry.registers - 1) / c->geometry.registers : 0;
            if (c->geometry.shared_bytes && (at_shared + c->geometry.shared_bytes - 1) / c->geometry.shared_bytes > k)
                k = (at_shared + c->geometry.shared_bytes - 1) / c->geometry.shared_bytes;
            at_register = k * c->geometry.registers;
            at_shared = k * c->geometry.shared_bytes;
            if (!c->geometry.registers && !c->geometry.shared_bytes) continue;
        }
        if (at_register + f->registers > gpu->registers || at_shared + f->shared_bytes > 49152 ||
            threads + f->threads > gpu->thread_slots || warps + (f->threads + 31) / 32 > gpu->warp_slots)
            break;
        b->register_base = at_register;
        b->registers = f->registers;
        b->shared_base = at_shared;
        b->shared_bytes = f->shared_bytes;
        at_register += f->registers;
        at_shared += f->shared_bytes;
        if (hole) continue;
        b->threads = f->threads;
        b->warps = (f->threads + 31) / 32;
        threads += b->threads;
        warps += b->warps;
        b->block.slot = i;
        b->block.generation = 1 + gpump_random_below(random, 9);
        b->cookie = 1000 + i;
        b->kernel = own ? VICTIM_INCOMING : f == &running[0] ? 1 : 2;
        b->state = GPUMP_BLOCK_RUNNING;
        b->may = gpump_random_below(random, 2) ? 6 : 7;
        if (gpump_random_below(random, 4) == 0) b->may |= 8;
        if (what & VICTIM_STUCK && gpump_random_below(random, 8) == 0) b->may = gpump_random_below(random, 8);
        if (what & VICTIM_LEAVING && !own && gpump_random_below(random, 6) == 0) b->state = GPUMP_BLOCK_DRAINING;
        if (what & VICTIM_GROUPS && !own && gpump_random_below(random, 3) == 0)
            b->group = 1 + gpump_random_below(random, 2);
        if (what & VICTIM_PARKED && !own && gpump_random_below(random, 3) == 0) victim_case_park(b, random);
        b->executed = gpump_random_below(random, 1000);
        memset(&c->estimates[c->sm.count], 0xff, sizeof c->estimates[c->sm.count]);
        for (t = 0; t < GPUMP_TECHNIQUE_OWN; t++) {
            c->estimates[c->sm.count].latency[t] = t == GPUMP_TECHNIQUE_FLUSH ? 0 : victim_case_number(random, 6000);
            c->estimates[c->sm.count].overhead[t] = t == GPUMP_TECHNIQUE_DRAIN ? 0 : victim_case_number(random, 1000);
            if (what & VICTIM_UNKNOWN && t == GPUMP_TECHNIQUE_DRAIN && gpump_random_below(random, 4) == 0)
                c->estimates[c->sm.count].latency[t] = c->estimates[c->sm.count].overhead[t] = GPUMP_UNKNOWN;
        }
        c->sm.count++;
    }
    /* Promises are kept: on a promised position nobody stays, and there is room for all of them when those that leave
     * are out. */
    for (i = 0; what & VICTIM_RESERVED && i < 2; i++) {
        uint32_t p = gpump_random_below(random, c->geometry.positions), stay = c->geometry.blocks, staying_warps = 0,
                 staying_threads = 0, count = 0;
        uint64_t promised = c->sm.reserved | (uint64_t)1 << p, rest;
        int possible = !(c->sm.reserved >> p & 1u);
        for (rest = promised; rest; rest &= rest - 1) {
            stay = stay ? stay - 1 : 0;
            staying_warps += c->geometry.warps;
            staying_threads += c->need.threads;
            count++;
        }
        for (k = 0; k < c->sm.count; k++) {
            const gpump_block_view *b = &c->blocks[k];
            uint64_t r = (uint64_t)p * c->geometry.registers, s = (uint64_t)p * c->geometry.shared_bytes;
            int leaves =
                b->state == GPUMP_BLOCK_DRAINING || b->state == GPUMP_BLOCK_STOPPING || b->state == GPUMP_BLOCK_SAVING;
            uint32_t keep = leaves ? b->keep : 3;
            if (r < b->register_base + b->registers && b->register_base < r + c->geometry.registers && (keep & 1))
                possible = 0;
            if (s < b->shared_base + b->shared_bytes && b->shared_base < s + c->geometry.shared_bytes && (keep & 2))
                possible = 0;
            if (leaves || b->state == GPUMP_BLOCK_PARKED) continue;
            staying_warps += b->warps;
            staying_threads += b->threads;
            count++;
            if (b->kernel == VICTIM_INCOMING) possible &= stay-- > 0;
        }
        if (possible && staying_warps <= gpu->warp_slots && staying_threads <= gpu->thread_slots &&
            count <= gpu->block_slots)
            c->sm.reserved = promised;
    }
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
