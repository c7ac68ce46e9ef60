/* my_policy: a victim-selection policy of your own takes one file. Copy this one, change its two hooks and its name,
 * and build it into the hosts:
 *
 *     cmake -S . -B build -DGPUMP_POLICY=/path/to/my_policy.c && cmake --build build
 *     build/examples/minigpu/minigpu policies --victims hurry --victims dual
 *     build/bench/micro --only victim_hurry
 *
 * The file is also a program by itself. It asks the policy and a few published ones the same question, and prints what
 * each of them decides:
 *
 *     cc -I. examples/policies/my_policy.c -o my_policy && ./my_policy */
#ifndef GPUMP_IS_LINKED /* defined where this file is built into a host */
#define GPUMP_IMPLEMENTATION
#endif
#include "gpump.h"
#include <stdio.h>
#include <string.h>

/* The technique for one block: the one of lowest latency, whatever it wastes. A block that ends within the limit by
 * itself drains. args->allowed holds the permitted techniques; gpump checks the answer. */
static uint32_t my_technique(const gpump_victim_technique_args *args) {
    uint32_t t, best = GPUMP_TECHNIQUES;
    if ((args->allowed >> GPUMP_TECHNIQUE_DRAIN & 1u) && args->estimate->latency[GPUMP_TECHNIQUE_DRAIN] <= args->left)
        return GPUMP_TECHNIQUE_DRAIN;
    for (t = 0; t < GPUMP_TECHNIQUES; t++)
        if ((args->allowed >> t & 1u) &&
            (best == GPUMP_TECHNIQUES || args->estimate->latency[t] < args->estimate->latency[best]))
            best = t;
    return best;
}

/* Which position next: the one whose victims are fewest. */
static uint32_t my_candidate(const gpump_victim_candidate_args *args) {
    const gpump_victim_candidate *candidates = args->candidates;
    uint32_t i, best = 0;
    for (i = 1; i < args->count; i++)
        if (gpump_bits_count64(candidates[i].victims) < gpump_bits_count64(candidates[best].victims)) best = i;
    return best;
}

const gpump_victim_policy my_policy = {
    0, /* no flags: position by position */
    1u << GPUMP_TECHNIQUE_FLUSH | 1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_DRAIN,
    {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0}, /* how drains are estimated */
    "hurry",
    "The fastest way out, unless a block ends by itself in time.",
    NULL,
    my_technique,
    my_candidate,
    NULL, /* no plan of its own: positions are taken one after the other */
};

#ifndef GPUMP_IS_LINKED
enum { BLOCKS = 6 };
/* Six blocks of kernel 1 run on the SM, at different stages. */
static void fill_blocks(gpump_block_view blocks[BLOCKS]) {
    memset(blocks, 0, BLOCKS * sizeof *blocks);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        blocks[i].cookie = i;
        blocks[i].block.slot = i;
        blocks[i].kernel = 1;
        blocks[i].state = GPUMP_BLOCK_RUNNING;
        blocks[i].executed = 560 * i;
        blocks[i].cycles = 2200 * i + 100;
        blocks[i].register_base = 5120 * i;
        blocks[i].registers = 5120;
        blocks[i].shared_base = 6144 * i;
        blocks[i].shared_bytes = 6144;
        blocks[i].context_bytes = 5120 * 4 + 6144;
        blocks[i].threads = 256;
        blocks[i].warps = 8;
        blocks[i].may = i % 2 ? 7u : 6u; /* every second one has overwritten its input: no flush */
    }
}

/* Asks a policy how two positions become free within 2 us, and prints its decision. Returns -1 on failure. */
static int ask(const gpump_victim_policy *policy, const gpump_gpu *gpu, const gpump_cost_history histories[2],
               const gpump_block_view blocks[BLOCKS]) {
    const gpump_footprint need = {256, 4096, 2048}; /* the incoming block: threads, registers, shared memory */
    const gpump_port port = gpump_gpu_port(gpu);
    gpump_cost_estimate estimates[BLOCKS];
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_victim_sm sm;
    gpump_victim_place places[8];
    gpump_block_choice choices[8];
    gpump_victim_question question;
    gpump_victim_decision decision;
    gpump_diag diag;
    char text[200];
    uint32_t by[GPUMP_TECHNIQUES] = {0};
    if (gpump_victim_geometry_init(&geometry, gpu, &need, 49152, NULL) != GPUMP_OK) return -1;
    gpump_victim_request_init(&request, 2, 6, 0);
    request.flags = GPUMP_VICTIM_PARALLEL_SAVES; /* as published: each save as fast as if it were alone */
    request.limit_cycles = 2800;                 /* 2 us */
    if (gpump_cost_estimate_blocks(&port, histories, 2, blocks, BLOCKS, NULL, &policy->cost, estimates, &diag) !=
        GPUMP_OK)
        return -1;
    memset(&sm, 0, sizeof sm);
    sm.blocks = blocks;
    sm.estimates = estimates;
    sm.count = BLOCKS;
    memset(&question, 0, sizeof question);
    question.policy = policy;
    question.request = &request;
    question.geometry = &geometry;
    question.sms = &sm;
    question.sm_count = 1;
    question.places = places;
    question.choices = choices;
    question.place_capacity = question.choice_capacity = 8;
    if (gpump_victim_decide(&question, &decision, &diag) != GPUMP_OK) {
        gpump_diag_text(&diag, text, sizeof text);
        fprintf(stderr, "%s: %s\n", policy->name, text);
        return -1;
    }
    for (uint32_t i = 0; i < decision.choices; i++) by[choices[i].technique]++;
    printf("%-10s %-8u %-8u %-9llu %u / %u / %u\n", policy->name, decision.places, decision.late,
           (unsigned long long)decision.overhead, by[0], by[1], by[2]);
    return 0;
}

int main(void) {
    static const char *const published[] = {"dual", "chimera", "joint"};
    gpump_gpu gpu;
    gpump_cost_history histories[2];
    gpump_block_view blocks[BLOCKS];
    if (gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL) != GPUMP_OK) return 1;
    fill_blocks(blocks);
    /* Twenty blocks of the kernel have ended, which tells how long a block is. */
    memset(histories, 0, sizeof histories);
    for (uint32_t i = 0; i < 20; i++) gpump_cost_history_record(&histories[1], 3000 + 10 * i, 12000 + 100 * i);
    printf("%-10s %-8s %-8s %-9s %s\n", "policy", "places", "late", "wasted", "blocks by flush / switch / drain");
    if (ask(&my_policy, &gpu, histories, blocks)) return 1;
    for (uint32_t p = 0; p < sizeof published / sizeof *published; p++) {
        const gpump_victim_policy *policy = gpump_victim_find(published[p]);
        if (!policy || ask(policy, &gpu, histories, blocks)) return 1;
    }
    return 0;
}
#endif
