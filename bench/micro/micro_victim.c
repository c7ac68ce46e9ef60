/* Victim selection: nanoseconds per decision of every policy. One decision is everything between an SM's report and the
 * answer: cost estimates of all blocks, candidate sets, Algorithm 1 or the policy's own method.
 *
 * - victim_<policy>_blocks: one position on an SM with `size` resident blocks; as many positions as blocks
 * - victim_<policy>_candidates: one position on an SM with 32 resident blocks and `size` positions
 * - victim_<policy>_sms: every position of `size` SMs of 8 blocks
 * - victim_dual_spread: as many positions as SMs of 8 blocks: each goes where it costs least
 * - victim_dual_round: what the paper repeats: cost estimates and Algorithm 1, with given candidate sets (they are
 *   determined once per request)
 *
 * A policy of one's own, built in with GPUMP_POLICY, has its rows too. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "micro.h"
#include "policies.h"

typedef struct scene {
    gpump_gpu gpu;
    gpump_port port;
    gpump_cost_history histories[2];
    gpump_victim_geometry geometry;
    const gpump_victim_policy *policy;
    gpump_block_view *blocks;
    gpump_cost_estimate *estimates;
    gpump_victim_sm *sms;
    gpump_victim_place *places;
    gpump_block_choice *choices;
    void *scratch;
    size_t scratch_bytes;
    uint64_t late_price;
    uint32_t sm_count, per_sm, positions;
} scene;

static void scene_free(void *state) {
    scene *s = (scene *)state;
    free(s->blocks);
    free(s->estimates);
    free(s->sms);
    free(s->places);
    free(s->choices);
    free(s->scratch);
    free(s);
}

/* Makes SMs full of blocks of one kernel, each block at its own stage. The incoming kernel has `candidates` positions
 * per SM and needs `positions` of all. */
static scene *scene_make(const gpump_victim_policy *policy, uint32_t sm_count, uint32_t per_sm, uint32_t candidates,
                         uint32_t positions) {
    scene *s = (scene *)calloc(1, sizeof *s);
    gpump_footprint need;
    uint32_t all = sm_count * per_sm, i;
    uint64_t random = 5;
    if (!s || gpump_preset(&gpump_gpu_component, &s->gpu, "gtx480_shieh", NULL) != GPUMP_OK) return NULL;
    s->port = gpump_gpu_port(&s->gpu);
    s->gpu.block_slots = per_sm > candidates ? per_sm : candidates;
    s->gpu.warp_slots = 256;
    s->gpu.thread_slots = 8192;
    s->gpu.sms = sm_count;
    s->policy = policy;
    s->sm_count = sm_count;
    s->per_sm = per_sm;
    s->positions = positions;
    need.threads = 8192 / s->gpu.block_slots / 32 * 32;
    need.registers = s->gpu.registers / candidates;
    need.shared_bytes = 49152 / candidates;
    if (gpump_victim_geometry_init(&s->geometry, &s->gpu, &need, 49152, NULL) != GPUMP_OK) return NULL;
    s->blocks = (gpump_block_view *)calloc(all, sizeof *s->blocks);
    s->estimates = (gpump_cost_estimate *)calloc(all, sizeof *s->estimates);
    s->sms = (gpump_victim_sm *)calloc(sm_count, sizeof *s->sms);
    s->places = (gpump_victim_place *)calloc(positions, sizeof *s->places);
    s->choices = (gpump_block_choice *)calloc(all, sizeof *s->choices);
    s->scratch_bytes = gpump_victim_scratch_bytes(sm_count);
    s->scratch = malloc(s->scratch_bytes + 8);
    if (!s->blocks || !s->estimates || !s->sms || !s->places || !s->choices || !s->scratch) return NULL;
    for (i = 0; i < 100; i++)
        gpump_cost_history_record(&s->histories[1], 4000 + gpump_random_below(&random, 500),
                                  30000 + gpump_random_below(&random, 9000));
    for (i = 0; i < all; i++) {
        gpump_block_view *b = &s->blocks[i];
        uint32_t at = i % per_sm;
        b->cookie = i;
        b->block.slot = at;
        b->kernel = 1;
        b->state = GPUMP_BLOCK_RUNNING;
        b->executed = gpump_random_below(&random, 4400);
        b->cycles = b->executed * (6 + gpump_random_below(&random, 4));
        b->registers = s->gpu.registers / per_sm;
        b->register_base = at * b->registers;
        b->shared_bytes = 49152 / per_sm;
        b->shared_base = at * b->shared_bytes;
        b->context_bytes = b->registers * 4u + b->shared_bytes;
        b->threads = 8192 / s->gpu.block_slots / 32 * 32;
        b->warps = b->threads / 32;
        b->may = gpump_random_below(&random, 3) ? 7u : 6u;
    }
    for (i = 0; i < sm_count; i++) {
        s->sms[i].blocks = s->blocks + (size_t)i * per_sm;
        s->sms[i].estimates = s->estimates + (size_t)i * per_sm;
        s->sms[i].count = per_sm;
        s->sms[i].sm = i;
    }
    return s;
}

static uint64_t scene_run(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    gpump_victim_request request;
    gpump_victim_question question;
    gpump_victim_decision decision;
    uint64_t sum = 0;
    uint32_t i;
    gpump_victim_request_init(&request, 2, s->positions, 0);
    request.limit_cycles = 0;
    request.flags = GPUMP_VICTIM_PARALLEL_SAVES;
    request.late_price = s->late_price;
    memset(&question, 0, sizeof question);
    question.policy = s->policy;
    question.request = &request;
    question.geometry = &s->geometry;
    question.sms = s->sms;
    question.sm_count = s->sm_count;
    question.scratch = s->scratch;
    question.scratch_bytes = s->scratch_bytes;
    question.places = s->places;
    question.place_capacity = s->positions;
    question.choices = s->choices;
    question.choice_capacity = s->sm_count * s->per_sm;
    while (operations--) {
        request.limit_cycles = 2800 + (operations & 1023); /* decisions differ from each other */
        for (i = 0; i < s->sm_count; i++)
            if (gpump_cost_estimate_blocks(&s->port, s->histories, 2, s->blocks + (size_t)i * s->per_sm, s->per_sm,
                                           NULL, &s->policy->cost, s->estimates + (size_t)i * s->per_sm,
                                           NULL) != GPUMP_OK)
                return 0;
        if (gpump_victim_decide(&question, &decision, NULL) != GPUMP_OK) return 0;
        sum += decision.overhead + decision.choices;
    }
    return sum;
}

static uint64_t scene_round(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    gpump_victim_request request;
    gpump_victim_candidate chosen;
    uint64_t sets[GPUMP_VICTIM_POSITIONS], taken, sum = 0;
    uint8_t technique[GPUMP_VICTIM_BLOCKS];
    gpump_victim_request_init(&request, 2, 1, 0);
    request.limit_cycles = 0;
    gpump_victim_candidates(&s->geometry, s->blocks, s->per_sm, 2, sets, &taken);
    while (operations--) {
        request.limit_cycles = 2800 + (operations & 1023);
        if (gpump_cost_estimate_blocks(&s->port, s->histories, 2, s->blocks, s->per_sm, NULL, &s->policy->cost,
                                       s->estimates, NULL) != GPUMP_OK)
            return 0;
        if (gpump_victim_select(s->policy, &request, s->sms, sets, s->geometry.positions, ~(uint64_t)0, technique,
                                &chosen) != GPUMP_OK)
            return 0;
        sum += chosen.overhead + chosen.position;
    }
    return sum;
}

static const uint64_t block_sizes[] = {4, 8, 16, 32, 0};
static const uint64_t candidate_sizes[] = {1, 2, 4, 8, 16, 32, 0};
static const uint64_t sm_sizes[] = {1, 16, 128, 1024, 0};

/* Returns the policy that the frame measures. */
static const gpump_victim_policy *subject(void) { return policies_victim_at(micro_subject); }
static void *subject_blocks(uint64_t size) { return scene_make(subject(), 1, (uint32_t)size, (uint32_t)size, 1); }
static void *subject_candidates(uint64_t size) { return scene_make(subject(), 1, 32, (uint32_t)size, 1); }
static void *subject_sms(uint64_t size) { return scene_make(subject(), (uint32_t)size, 8, 8, (uint32_t)size * 8); }

static void *priced(scene *s) {
    if (s) s->late_price = 24;
    return s;
}
static void *joint_priced_blocks(uint64_t size) {
    return priced(scene_make(gpump_victim_find("joint"), 1, (uint32_t)size, (uint32_t)size, 1));
}
static void *joint_priced_sms(uint64_t size) {
    return priced(scene_make(gpump_victim_find("joint"), (uint32_t)size, 8, 8, (uint32_t)size * 8));
}
static void *dual_blocks(uint64_t size) {
    return scene_make(gpump_victim_find("dual"), 1, (uint32_t)size, (uint32_t)size, 1);
}
static void *dual_spread(uint64_t size) {
    return scene_make(gpump_victim_find("dual"), (uint32_t)size, 8, 8, (uint32_t)size);
}

const micro_case micro_victim[] = {{"victim_dual_spread", "n positions on n SMs of 8 blocks", NULL, sm_sizes,
                                    dual_spread, scene_run, NULL, scene_free},
                                   {"victim_joint@24_blocks", "one position among n blocks, lateness has a price", NULL,
                                    block_sizes, joint_priced_blocks, scene_run, NULL, scene_free},
                                   {"victim_joint@24_sms", "all positions of n SMs of 8 blocks, likewise", NULL,
                                    sm_sizes, joint_priced_sms, scene_run, NULL, scene_free},
                                   {"victim_dual_round", "estimates and Algorithm 1, n blocks", NULL, block_sizes,
                                    dual_blocks, scene_round, NULL, scene_free},
                                   {"victim_{victim}_blocks", "one position among n blocks", NULL, block_sizes,
                                    subject_blocks, scene_run, NULL, scene_free},
                                   {"victim_{victim}_candidates", "one position among n, 32 blocks", NULL,
                                    candidate_sizes, subject_candidates, scene_run, NULL, scene_free},
                                   {"victim_{victim}_sms", "all positions of n SMs of 8 blocks", NULL, sm_sizes,
                                    subject_sms, scene_run, NULL, scene_free},
                                   {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
