/* labels: unit */
/* Victim selection by example: the paper's candidate sets and storage, Algorithm 1 branch by branch, all four
 * resources, groups, refusals, several SMs, asking again. */
#include "test.h"
#include "victim/victim_ask.h"

enum {
    F = 1u << GPUMP_TECHNIQUE_FLUSH,
    S = 1u << GPUMP_TECHNIQUE_SWITCH,
    D = 1u << GPUMP_TECHNIQUE_DRAIN,
    R = 1u << GPUMP_TECHNIQUE_REWIND
};
enum { INCOMING = 2 };

static gpump_gpu machine(uint32_t registers, uint32_t warps, uint32_t slots) {
    gpump_gpu gpu;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    gpu.registers = registers;
    gpu.warp_slots = warps;
    gpu.thread_slots = warps * 32;
    gpu.block_slots = slots;
    return gpu;
}

static gpump_victim_geometry geometry_of(const gpump_gpu *gpu, uint32_t threads, uint32_t registers, uint32_t shared) {
    gpump_victim_geometry geometry;
    gpump_footprint need;
    need.threads = threads;
    need.registers = registers;
    need.shared_bytes = shared;
    assert_int_equal(gpump_victim_geometry_init(&geometry, gpu, &need, 49152, NULL), GPUMP_OK);
    return geometry;
}

/* n blocks of kernel 1 side by side. */
static void row(gpump_block_view *blocks, uint32_t n, uint32_t registers, uint32_t shared, uint32_t threads) {
    uint32_t i;
    memset(blocks, 0, n * sizeof *blocks);
    for (i = 0; i < n; i++) {
        blocks[i].kernel = 1;
        blocks[i].state = GPUMP_BLOCK_RUNNING;
        blocks[i].block.slot = i;
        blocks[i].block.generation = 1;
        blocks[i].cookie = 100 + i;
        blocks[i].register_base = i * registers;
        blocks[i].registers = registers;
        blocks[i].shared_base = i * shared;
        blocks[i].shared_bytes = shared;
        blocks[i].threads = threads;
        blocks[i].warps = (threads + 31) / 32;
        blocks[i].may = F | S | D;
    }
}

static gpump_victim_request request_of(uint32_t positions, uint64_t limit) {
    gpump_victim_request request;
    assert_int_equal(gpump_victim_request_init(&request, INCOMING, positions, 0), GPUMP_OK);
    assert_true(request.limit_cycles == GPUMP_UNKNOWN && !request.flags); /* no deadline, one port */
    request.flags = GPUMP_VICTIM_PARALLEL_SAVES;                          /* as published */
    request.limit_cycles = limit;
    return request;
}

static void cost(gpump_cost_estimate *e, uint64_t fo, uint64_t sl, uint64_t so, uint64_t dl) {
    e->latency[GPUMP_TECHNIQUE_FLUSH] = 0;
    e->overhead[GPUMP_TECHNIQUE_FLUSH] = fo;
    e->latency[GPUMP_TECHNIQUE_SWITCH] = sl;
    e->overhead[GPUMP_TECHNIQUE_SWITCH] = so;
    e->latency[GPUMP_TECHNIQUE_DRAIN] = dl;
    e->overhead[GPUMP_TECHNIQUE_DRAIN] = dl == GPUMP_UNKNOWN ? GPUMP_UNKNOWN : 0;
    e->latency[GPUMP_TECHNIQUE_REWIND] = e->overhead[GPUMP_TECHNIQUE_REWIND] = GPUMP_UNKNOWN;
}

/* Fig 3.8 writes sets as strings, the first block leftmost. */
static uint64_t bits(const char *text) {
    uint64_t set = 0;
    uint32_t i;
    for (i = 0; text[i]; i++)
        if (text[i] == '1') set |= (uint64_t)1 << i;
    return set;
}

/* Fig 3.3b and 3.8: eight blocks of 4 units, positions of 9 units: blocks that straddle two positions are in both sets.
 */
static void a_block_over_two_positions_is_in_both_sets(void **state) {
    gpump_gpu gpu = machine(36, 48, 8);
    gpump_victim_geometry geometry = geometry_of(&gpu, 32, 9, 0);
    gpump_block_view blocks[9];
    uint64_t sets[64], taken;
    (void)state;
    row(blocks, 8, 4, 0, 32);
    assert_int_equal(geometry.positions, 4);
    gpump_victim_candidates(&geometry, blocks, 8, INCOMING, sets, &taken);
    assert_int_equal(taken, 0);
    assert_int_equal(sets[0], bits("11100000"));
    assert_int_equal(sets[1], bits("00111000"));
    assert_int_equal(sets[2], bits("00001110"));
    assert_int_equal(sets[3], bits("00000011"));
    /* Fig 3.9: candidate 1 is preempted, and its blocks disappear from the others. */
    gpumpi_victim_candidates_update(sets, 4, sets[1]);
    assert_int_equal(sets[0], bits("11000000"));
    assert_int_equal(sets[1], 0);
    assert_int_equal(sets[2], bits("00000110"));
    assert_int_equal(sets[3], bits("00000011"));
    /* Registers and shared memory give a set each; the candidate is their union. */
    gpu = machine(32, 48, 8);
    geometry = geometry_of(&gpu, 32, 8, 9);
    row(blocks, 8, 4, 3, 32);
    gpump_victim_candidates(&geometry, blocks, 8, INCOMING, sets, &taken);
    assert_int_equal(geometry.positions, 4);
    assert_int_equal(sets[0], bits("11100000"));
    assert_int_equal(sets[1], bits("00111100"));
    assert_int_equal(sets[2], bits("00001111"));
    assert_int_equal(sets[3], bits("00000011"));
    /* A block of the incoming kernel takes its position and is in no set. */
    blocks[3].kernel = INCOMING;
    blocks[3].register_base = 8;
    blocks[3].registers = 8;
    blocks[3].shared_base = 9;
    blocks[3].shared_bytes = 9;
    gpump_victim_candidates(&geometry, blocks, 8, INCOMING, sets, &taken);
    assert_int_equal(taken, 1u << 1);
    assert_int_equal((sets[0] | sets[1] | sets[2] | sets[3]) & 1u << 3, 0);
    /* Fig 3.7: positions of a 4096-register, 2048-byte block. */
    gpu = machine(65536, 64, 16);
    geometry = geometry_of(&gpu, 256, 4096, 2048);
    assert_int_equal(geometry.positions, 16);
    assert_int_equal(geometry.registers, 4096);
    assert_int_equal(geometry.shared_bytes, 2048);
}

/* The eight of Table 4.2's kernels where a position has free registers and shared memory but no thread or slot is free.
 */
static void all_four_resources(void **state) {
    static const struct {
        uint32_t registers, shared, threads, blocks;
    } table[19] = {{4096, 2048, 256, 6}, {9216, 3072, 256, 3}, {6144, 0, 512, 3},    {3584, 3096, 64, 8},
                   {3072, 768, 256, 6},  {3072, 3072, 256, 6}, {3072, 3072, 256, 6}, {3584, 0, 128, 8},
                   {5120, 6144, 256, 6}, {5120, 5120, 256, 6}, {5120, 0, 256, 6},    {4096, 0, 256, 6},
                   {1536, 2180, 32, 8},  {1536, 2180, 32, 8},  {8192, 0, 512, 3},    {6144, 0, 512, 3},
                   {3072, 1088, 256, 6}, {6144, 0, 256, 5},    {8192, 11872, 256, 4}};
    gpump_gpu gpu;
    gpump_victim_geometry geometry;
    uint32_t k, misleading = 0;
    (void)state;
    gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL);
    geometry = geometry_of(&gpu, 256, 4096, 2048);
    assert_int_equal(geometry.positions, 8);
    assert_int_equal(geometry.blocks, 6);
    for (k = 0; k < 19; k++) {
        gpump_block_view blocks[8];
        gpump_cost_estimate estimates[8];
        gpump_victim_sm sm;
        gpump_victim_request request = request_of(1, 1000);
        gpump_victim_place place;
        gpump_block_choice choices[8];
        gpump_victim_decision decision;
        uint64_t sets[64], taken;
        uint32_t p, i, n = table[k].blocks, empty = 0, room;
        row(blocks, n, table[k].registers, table[k].shared, table[k].threads);
        for (i = 0; i < n; i++) cost(&estimates[i], 10 + i, 2000, 20, 5000);
        gpump_victim_candidates(&geometry, blocks, n, INCOMING, sets, &taken);
        for (p = 0; p < 8; p++) empty |= sets[p] == 0;
        room = n * table[k].threads + 256 <= 1536 && n < 8;
        misleading += empty && !room;
        memset(&sm, 0, sizeof sm);
        sm.blocks = blocks;
        sm.estimates = estimates;
        sm.count = n;
        assert_int_equal(victim_decide(gpump_victim_find("dual"), &request, &geometry, &sm, 1, NULL, 0, &place, 1,
                                       choices, 8, &decision, NULL),
                         GPUMP_OK);
        assert_int_equal(decision.places, 1);
        assert_true(place.latency == 0);
        if (empty && room) assert_int_equal(decision.choices, 0); /* dispatched at once */
        if (empty && !room) assert_true(decision.choices >= 1);   /* someone must leave for the threads */
    }
    assert_int_equal(misleading, 8);
}

/* The tables of the paper's GPU take 514 bytes for an SM and 120 bytes for the GPU. */
static void storage_of_the_paper(void **state) {
    gpump_victim_config config;
    gpump_victim_storage storage;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_victim_component, &config, "gtx480_shieh", NULL), GPUMP_OK);
    assert_int_equal(gpump_table_bits(&gpump_victim_component, &config, &storage, NULL), GPUMP_OK);
    assert_int_equal(storage.sm_bits, 514 * 8);
    assert_int_equal(storage.gpu_bits, 120 * 8);
    assert_int_equal(gpump_preset(&gpump_victim_component, &config, "h100", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_victim_component, &config, "no such", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    config.sms = 0;
    assert_int_equal(gpump_table_bits(&gpump_victim_component, &config, &storage, NULL), GPUMP_ERROR_CONFIG);
}

/* Algorithm 1 on three blocks, each its own candidate. Columns: what flush, switch and drain cost, what is allowed, and
 * the answer. */
/* Three candidates of one block each, 0 to 2. */
typedef struct algorithm_1_case {
    const char *what;
    uint32_t may[3];
    uint64_t flush[3], switch_latency[3], switch_overhead[3], drain[3]; /* of each block */
    uint64_t limit;
    uint32_t technique[3], chosen; /* what must come out */
    uint64_t latency, overhead;
} algorithm_1_case;
enum { U = 255 };
/* clang-format off */
static const algorithm_1_case algorithm_1_cases[] = {
    {"the least overhead in time: drain costs nothing",
     {7, 7, 7}, {5, 6, 7}, {100, 100, 100}, {3, 3, 3}, {50, 150, 150}, 100, {2, 1, 1}, 0, 50, 0},
    {"flush where it is cheaper than a switch",
     {7, 7, 7}, {5, 2, 7}, {100, 100, 100}, {3, 3, 3}, {150, 150, 150}, 100, {1, 0, 1}, 1, 0, 2},
    {"a switch one cycle past the limit is out",
     {7, 7, 7}, {50, 20, 70}, {101, 101, 101}, {3, 3, 3}, {150, 150, 150}, 100, {0, 0, 0}, 1, 0, 20},
    {"no technique in time: least latency",
     {6, 6, 6}, {0, 0, 0}, {300, 200, 400}, {3, 9, 3}, {500, 500, 350}, 100, {1, 1, 2}, 1, 200, 9},
    {"no candidate in time: least latency, not least overhead",
     {6, 6, 6}, {0, 0, 0}, {300, 301, 400}, {30, 9, 3}, {500, 500, 500}, 100, {1, 1, 1}, 0, 300, 30},
    {"some candidate in time beats a cheaper late one",
     {6, 7, 6}, {0, 80, 0}, {300, 300, 300}, {1, 1, 1}, {500, 500, 500}, 100, {1, 0, 1}, 1, 0, 80},
    {"tie of techniques: equal overhead, less latency",
     {7, 7, 7}, {4, 4, 4}, {90, 90, 90}, {4, 4, 4}, {150, 150, 150}, 100, {0, 0, 0}, 0, 0, 4},
    {"tie of techniques late: equal latency, less overhead",
     {6, 6, 6}, {0, 0, 0}, {300, 300, 300}, {2, 2, 2}, {300, 300, 300}, 100, {2, 2, 2}, 0, 300, 0},
    {"tie of candidates: equal overhead, less latency",
     {7, 7, 7}, {4, 4, 4}, {90, 90, 90}, {9, 9, 9}, {80, 60, 70}, 100, {2, 2, 2}, 1, 60, 0},
    {"tie of everything: the first",
     {7, 7, 7}, {4, 4, 4}, {90, 90, 90}, {9, 9, 9}, {70, 70, 70}, 100, {2, 2, 2}, 0, 70, 0},
    {"a block without a technique takes its candidate out",
     {0, 1, 1}, {0, 9, 8}, {90, 90, 90}, {1, 1, 1}, {70, 70, 70}, 100, {U, 0, 0}, 2, 0, 8},
    {"limit 0: only a flush is in time",
     {7, 7, 7}, {9, 8, 7}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, {0, 0, 0}, 2, 0, 7},
};
/* clang-format on */

/* Shieh's Algorithm 1 on one position: the rows of its table, case by case. */
static void algorithm_1(void **state) {
    uint32_t k, i;
    (void)state;
    for (k = 0; k < sizeof algorithm_1_cases / sizeof *algorithm_1_cases; k++) {
        const algorithm_1_case *t = &algorithm_1_cases[k];
        gpump_block_view blocks[3];
        gpump_cost_estimate estimates[3];
        gpump_victim_sm sm;
        gpump_victim_request request = request_of(1, t->limit);
        gpump_victim_candidate chosen;
        uint64_t sets[3] = {1, 2, 4};
        uint8_t technique[3];
        memset(&sm, 0, sizeof sm);
        row(blocks, 3, 8, 0, 32);
        for (i = 0; i < 3; i++) {
            blocks[i].may = t->may[i];
            cost(&estimates[i], t->flush[i], t->switch_latency[i], t->switch_overhead[i], t->drain[i]);
        }
        sm.blocks = blocks;
        sm.estimates = estimates;
        sm.count = 3;
        assert_int_equal(gpump_victim_select(gpump_victim_find("dual"), &request, &sm, sets, 3, 7, technique, &chosen),
                         GPUMP_OK);
        for (i = 0; i < 3; i++)
            if (technique[i] != t->technique[i]) fail_msg("%s: block %u by %u", t->what, i, technique[i]);
        if (chosen.position != t->chosen || chosen.latency != t->latency || chosen.overhead != t->overhead)
            fail_msg("%s: candidate %u, latency %llu, overhead %llu", t->what, chosen.position,
                     (unsigned long long)chosen.latency, (unsigned long long)chosen.overhead);
    }
}

/* Candidates of several blocks: latency is the largest (3.1), overhead the sum (3.2). Unknown is the largest
 * there is. */
static void algorithm_1_of_several_blocks(void **state) {
    uint32_t i;
    gpump_block_view blocks[4];
    gpump_cost_estimate estimates[4];
    gpump_victim_sm sm;
    gpump_victim_request request = request_of(1, 100);
    gpump_victim_candidate chosen;
    uint64_t sets[2] = {3, 12};
    uint8_t technique[4];
    (void)state;
    memset(&sm, 0, sizeof sm);
    row(blocks, 4, 8, 0, 32);
    cost(&estimates[0], 10, 500, 1, 90);
    cost(&estimates[1], 10, 500, 1, 200);
    cost(&estimates[2], 6, 500, 1, 200);
    cost(&estimates[3], 7, 500, 1, GPUMP_UNKNOWN);
    sm.blocks = blocks;
    sm.estimates = estimates;
    sm.count = 4;
    assert_int_equal(gpump_victim_select(gpump_victim_find("dual"), &request, &sm, sets, 2, 3, technique, &chosen),
                     GPUMP_OK);
    assert_int_equal(chosen.position, 0);
    assert_int_equal(chosen.latency, 90);
    assert_int_equal(chosen.overhead, 10);
    blocks[1].may = S | D; /* may not be flushed any more: late; the other candidate is all in time */
    assert_int_equal(gpump_victim_select(gpump_victim_find("dual"), &request, &sm, sets, 2, 3, technique, &chosen),
                     GPUMP_OK);
    assert_int_equal(chosen.position, 1);
    assert_int_equal(chosen.overhead, 13);
    for (i = 0; i < 4; i++) blocks[i].may = 0;
    assert_int_equal(gpump_victim_select(gpump_victim_find("dual"), &request, &sm, sets, 2, 3, technique, &chosen),
                     GPUMP_EMPTY);
}

/* One SM of six pathfinder blocks; the synthetic kernel needs all six positions. */
typedef struct scene {
    gpump_gpu gpu;
    gpump_victim_geometry geometry;
    gpump_block_view blocks[8];
    gpump_cost_estimate estimates[8];
    gpump_victim_sm sm;
    gpump_victim_request request;
    gpump_victim_place places[32];
    gpump_block_choice choices[64];
    gpump_victim_decision decision;
    gpump_diag diag;
} scene;

static void scene_init(scene *s) {
    uint32_t i;
    memset(s, 0, sizeof *s);
    gpump_preset(&gpump_gpu_component, &s->gpu, "gtx480_shieh", NULL);
    s->geometry = geometry_of(&s->gpu, 256, 4096, 2048);
    row(s->blocks, 6, 4096, 2048, 256);
    for (i = 0; i < 6; i++) cost(&s->estimates[i], 100 * (i + 1), 2182, 50, 1000 * (i + 1));
    s->sm.blocks = s->blocks;
    s->sm.estimates = s->estimates;
    s->sm.count = 6;
    s->request = request_of(6, 2800);
}

static gpump_result scene_decide(scene *s, const char *policy) {
    return victim_decide(gpump_victim_find(policy), &s->request, &s->geometry, &s->sm, 1, NULL, 0, s->places, 32,
                         s->choices, 64, &s->decision, &s->diag);
}

/* Places, choices, latencies and totals of one SM under each policy, by hand. */
static void a_whole_decision_by_hand(void **state) {
    scene s;
    uint32_t i;
    (void)state;
    scene_init(&s);
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.places, 6);
    assert_int_equal(s.decision.choices, 6);
    assert_int_equal(s.decision.late, 0);
    assert_int_equal(s.decision.missing, 0);
    assert_true(s.decision.ask_again == GPUMP_UNKNOWN);
    /* Two drain, the others are switched (50 instructions each, 2182 cycles by the paper's model). */
    assert_int_equal(s.decision.overhead, 4 * 50);
    assert_int_equal(s.decision.latency, 2182);
    /* With one port the saves follow each other: the paper's choice is late, ours flushes what the port cannot take. */
    s.request.flags = 0;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.latency, 4 * 2182);
    assert_int_equal(s.decision.late, 3);
    assert_int_equal(scene_decide(&s, "joint"), GPUMP_OK);
    assert_int_equal(s.decision.late, 0);
    assert_int_equal(s.decision.overhead, 300 + 400 + 500 + 50);
    assert_true(s.decision.ask_again > 0 && s.decision.ask_again < 2800);
    /* One block past the limit frees the others: block 5 must be saved for 2182 cycles with 1000 allowed, so the rest
     * may also drain up to 2182 cycles, and only three are flushed. */
    s.request.flags = 0;
    s.request.limit_cycles = 1000;
    s.blocks[5].may = S | D;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.overhead, 200 + 300 + 400 + 500 + 50);
    assert_int_equal(scene_decide(&s, "joint"), GPUMP_OK);
    assert_int_equal(s.decision.overhead, 300 + 400 + 500 + 50);
    assert_int_equal(s.decision.latency, 2182);
    /* Chimera takes the SM as a whole: no position before the last block is out. */
    scene_init(&s);
    assert_int_equal(scene_decide(&s, "chimera"), GPUMP_OK);
    for (i = 0; i < 6; i++) assert_int_equal(s.places[i].latency, 2182);
    assert_int_equal(scene_decide(&s, "flush"), GPUMP_OK);
    assert_int_equal(s.decision.latency, 0);
    assert_int_equal(s.decision.overhead, 2100);
    assert_int_equal(scene_decide(&s, "drain"), GPUMP_OK);
    assert_int_equal(s.decision.latency, 6000);
    assert_int_equal(s.decision.late, 6);
    assert_int_equal(scene_decide(&s, "switch"), GPUMP_OK);
    assert_int_equal(s.decision.overhead, 300);
    /* One position only: the cheapest candidate. */
    s.request.positions = 1;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.choices, 1);
    assert_int_equal(s.choices[0].technique, GPUMP_TECHNIQUE_DRAIN);
    assert_int_equal(s.choices[0].cookie, 100);
    assert_int_equal(s.places[0].position, 0);
    assert_int_equal(scene_decide(&s, "chimera"), GPUMP_OK);
    assert_int_equal(s.decision.choices, 6);
    assert_int_equal(s.decision.places, 1);
    /* Saves are handed over shortest first, after the blocks that need no port. */
    scene_init(&s);
    for (i = 0; i < 6; i++) {
        s.blocks[i].may = S;
        cost(&s.estimates[i], 0, 700 - 100 * i, 1, 9000);
    }
    s.blocks[2].may = F;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.choices[0].technique, GPUMP_TECHNIQUE_FLUSH);
    for (i = 1; i < 5; i++) assert_true(s.choices[i].latency <= s.choices[i + 1].latency);
}

/* Blocks that may not leave, and kernels that do not fit: what is missing, and why. */
static void what_cannot_leave_has_its_reason(void **state) {
    scene s;
    gpump_footprint need = {256, 40000, 0};
    gpump_victim_geometry geometry;
    char text[300];
    (void)state;
    scene_init(&s);
    s.blocks[0].may = S | D;
    assert_int_equal(scene_decide(&s, "flush"), GPUMP_OK);
    assert_int_equal(s.decision.places, 0);
    assert_int_equal(s.decision.missing, 6);
    assert_int_equal(s.decision.reason, GPUMP_REASON_CLOBBERED);
    s.blocks[0].may = 0;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.places, 5);
    assert_int_equal(s.decision.reason, GPUMP_REASON_NO_TECHNIQUE);
    s.request.positions = 20;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.missing, 15);
    /* Positions that are promised already, and those that its blocks hold, are not given twice. */
    scene_init(&s);
    s.sm.reserved = 3;
    s.blocks[2].kernel = INCOMING;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.places, 3);
    assert_int_equal(s.decision.missing, 3);
    assert_int_equal(s.decision.reason, GPUMP_REASON_POSITIONS);
    assert_true(s.places[0].position >= 3);
    /* Blocks that leave already cost nothing more and are not chosen again. */
    scene_init(&s);
    s.blocks[1].state = GPUMP_BLOCK_DRAINING;
    s.blocks[4].state = GPUMP_BLOCK_SAVING;
    assert_int_equal(scene_decide(&s, "exact"), GPUMP_OK);
    assert_int_equal(s.decision.places, 6);
    assert_int_equal(s.decision.choices, 4);
    /* Groups leave together or not at all. */
    scene_init(&s);
    s.request.positions = 1;
    s.blocks[0].group = s.blocks[3].group = 5;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.choices, 1);
    assert_int_equal(s.choices[0].cookie, 101); /* block 0 drains for nothing, but block 3 would have to come along */
    s.blocks[1].group = s.blocks[2].group = s.blocks[4].group = s.blocks[5].group = 5;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.choices, 6);
    s.blocks[5].may = 0;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.choices, 0);
    assert_int_equal(s.decision.reason, GPUMP_REASON_GROUP);
    /* Too large for any SM. */
    assert_int_equal(gpump_victim_geometry_init(&geometry, &s.gpu, &need, 49152, &s.diag), GPUMP_ERROR_REFUSED);
    assert_int_equal(s.diag.reason, GPUMP_REASON_NEVER_FITS);
    gpump_diag_text(&s.diag, text, sizeof text);
    assert_non_null(strstr(text, "larger than an empty SM"));
}

/* Fewer positions than SMs could have: the SMs whose next position is best; with whole SMs, the best SMs. */
static void the_sms_whose_next_position_is_best_are_taken(void **state) {
    enum { SMS = 80 };
    static scene s;
    static gpump_victim_sm sms[SMS];
    static gpump_cost_estimate estimates[SMS][6];
    static gpump_victim_place places[SMS * 6];
    static gpump_block_choice choices[SMS * 6];
    uint64_t scratch[SMS * 32];
    uint32_t i, k;
    (void)state;
    scene_init(&s);
    for (k = 0; k < SMS; k++) {
        for (i = 0; i < 6; i++) cost(&estimates[k][i], 1000 + (k * 37 + i * 11) % 101, 5000, 50, 9000);
        sms[k] = s.sm;
        sms[k].sm = k;
        sms[k].estimates = estimates[k];
    }
    s.request.positions = 100;
    assert_true(gpump_victim_scratch_bytes(SMS) <= sizeof scratch);
    assert_int_equal(gpump_victim_scratch_bytes(64), 0);
    assert_int_equal(victim_decide(gpump_victim_find("dual"), &s.request, &s.geometry, sms, SMS, NULL, 0, places,
                                   SMS * 6, choices, SMS * 6, &s.decision, &s.diag),
                     GPUMP_ERROR_ARGUMENT);
    assert_int_equal(victim_decide(gpump_victim_find("dual"), &s.request, &s.geometry, sms, SMS, scratch,
                                   sizeof scratch, places, SMS * 6, choices, SMS * 6, &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.places, 100);
    {
        /* The hundred cheapest of 480 blocks, found here by counting. */
        uint32_t histogram[101] = {0}, left = 100, v;
        uint64_t sum = 0;
        for (k = 0; k < SMS; k++)
            for (i = 0; i < 6; i++) histogram[(k * 37 + i * 11) % 101]++;
        for (v = 0; v < 101 && left; v++) {
            uint32_t n = histogram[v] < left ? histogram[v] : left;
            sum += (uint64_t)n * (1000 + v);
            left -= n;
        }
        assert_int_equal(s.decision.overhead, sum);
    }
    assert_int_equal(victim_decide(gpump_victim_find("chimera"), &s.request, &s.geometry, sms, SMS, scratch,
                                   sizeof scratch, places, SMS * 6, choices, SMS * 6, &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.sms, 17); /* ceil(100 / 6) */
    assert_int_equal(s.decision.choices, 17 * 6);
    /* Too small arrays: the counts come back, nothing else changes. */
    {
        gpump_victim_decision decision;
        memset(places, 0x11, sizeof places);
        assert_int_equal(victim_decide(gpump_victim_find("dual"), &s.request, &s.geometry, sms, SMS, scratch,
                                       sizeof scratch, places, 99, choices, SMS * 6, &decision, &s.diag),
                         GPUMP_ERROR_CAPACITY);
        assert_int_equal(decision.places, 100);
        assert_int_equal(((unsigned char *)places)[0], 0x11);
        assert_int_equal(victim_decide(gpump_victim_find("dual"), &s.request, &s.geometry, sms, SMS, scratch,
                                       sizeof scratch, places, 100, choices, 100, &decision, &s.diag),
                         GPUMP_OK);
        assert_int_equal(decision.choices, 100);
    }
}

/* Policies that wait say when they want to be asked, and what changes then. */
static void blocks_that_drain_are_asked_about_again(void **state) {
    scene s;
    uint32_t i;
    (void)state;
    /* Drain, then switch: as late as the limit allows. */
    scene_init(&s);
    assert_int_equal(scene_decide(&s, "drain-then-switch"), GPUMP_OK);
    for (i = 0; i < 6; i++) assert_int_equal(s.choices[i].technique, GPUMP_TECHNIQUE_DRAIN);
    assert_int_equal(s.decision.ask_again, 2800 - 2182);
    s.request.timeout_cycles = 300;
    assert_int_equal(scene_decide(&s, "drain-then-switch"), GPUMP_OK);
    assert_int_equal(s.decision.ask_again, 300);
    for (i = 0; i < 6; i++) s.blocks[i].state = i < 2 ? GPUMP_BLOCK_RUNNING : GPUMP_BLOCK_DRAINING;
    s.request.now = 299;
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_AGAIN, gpump_victim_find("drain-then-switch"), &s.request, &s.sm, 1,
                                s.choices, 64, &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 0);
    assert_int_equal(s.decision.ask_again, 300);
    s.request.now = 300;
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_AGAIN, gpump_victim_find("drain-then-switch"), &s.request, &s.sm, 1,
                                s.choices, 64, &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 4);
    assert_int_equal(s.choices[0].technique, GPUMP_TECHNIQUE_SWITCH);
    assert_true(s.decision.ask_again == GPUMP_UNKNOWN);
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_AGAIN, gpump_victim_find("drain-then-switch"), &s.request, &s.sm, 1,
                                s.choices, 3, &s.decision, &s.diag),
                     GPUMP_ERROR_CAPACITY);
    /* Joint: a drain that turns out long is given up while something else is in time; others never ask. */
    s.request.now = 700;
    s.estimates[2].latency[GPUMP_TECHNIQUE_DRAIN] = 2101;
    s.estimates[3].latency[GPUMP_TECHNIQUE_DRAIN] = 2099;
    s.estimates[4].latency[GPUMP_TECHNIQUE_DRAIN] = s.estimates[5].latency[GPUMP_TECHNIQUE_DRAIN] = 5;
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_AGAIN, gpump_victim_find("joint"), &s.request, &s.sm, 1, s.choices, 64,
                                &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 1);
    assert_int_equal(s.choices[0].cookie, 102);
    assert_int_equal(s.choices[0].technique, GPUMP_TECHNIQUE_FLUSH);
    assert_true(s.decision.ask_again > 700 && s.decision.ask_again < 2800);
    /* Just before the deadline a block past its expected end is not believed to end; what may not be flushed goes on
     * draining. */
    s.request.now = 2790;
    s.estimates[4].latency[GPUMP_TECHNIQUE_DRAIN] = s.estimates[5].latency[GPUMP_TECHNIQUE_DRAIN] = 0;
    s.blocks[5].may = S | D;
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_AGAIN, gpump_victim_find("joint"), &s.request, &s.sm, 1, s.choices, 64,
                                &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 3);
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_AGAIN, gpump_victim_find("dual"), &s.request, &s.sm, 1, s.choices, 64,
                                &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 0);
    s.request.since = 3000;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_ERROR_TIME);
}

static const gpump_block_choice *choice_of(const scene *s, uint64_t cookie) {
    uint32_t i;
    for (i = 0; i < s->decision.choices; i++)
        if (s->choices[i].cookie == cookie) return &s->choices[i];
    return NULL;
}

/* The policy joint lets a block run on as long as it may still end in time. */
static void joint_lets_run_on_who_may(void **state) {
    const gpump_victim_policy *joint = gpump_victim_find("joint");
    scene s;
    uint32_t i;
    (void)state;
    /* 0 and 1 are expected to end in time. The others are to be saved within 2182 cycles, a fifth of the limit early:
     * at 2298. 2 and 3 may have ended by then, so they run on; 4 and 5 will not, and go at once. */
    scene_init(&s);
    s.request.limit_cycles = 5600;
    assert_int_equal(scene_decide(&s, "joint"), GPUMP_OK);
    assert_int_equal(s.decision.choices, 6);
    for (i = 0; i < 6; i++) {
        const gpump_block_choice *choice = choice_of(&s, 100 + i);
        assert_int_equal(choice->technique, i < 4 ? GPUMP_TECHNIQUE_DRAIN : GPUMP_TECHNIQUE_SWITCH);
        assert_int_equal(choice->otherwise, i < 2 ? GPUMP_TECHNIQUE_DRAIN : GPUMP_TECHNIQUE_SWITCH);
        assert_int_equal(choice->latency, i < 2 ? 1000 * (i + 1) : i < 4 ? 5600 : 2182);
    }
    assert_int_equal(s.decision.late, 0);
    assert_int_equal(s.decision.overhead, 4 * 50);
    assert_int_equal(s.decision.ask_again, 4480 - 2182);
    /* Asked again: 2 is nearly done, 3 is not. */
    for (i = 0; i < 6; i++) s.blocks[i].state = i < 4 ? GPUMP_BLOCK_DRAINING : GPUMP_BLOCK_SAVING;
    s.request.now = s.decision.ask_again;
    s.estimates[0].latency[GPUMP_TECHNIQUE_DRAIN] = s.estimates[1].latency[GPUMP_TECHNIQUE_DRAIN] = 100;
    s.estimates[2].latency[GPUMP_TECHNIQUE_DRAIN] = 700;
    s.estimates[3].latency[GPUMP_TECHNIQUE_DRAIN] = 3000;
    assert_int_equal(
        victim_ask(GPUMP_VICTIM_ASK_AGAIN, joint, &s.request, &s.sm, 1, s.choices, 64, &s.decision, &s.diag), GPUMP_OK);
    assert_int_equal(s.decision.choices, 1);
    assert_int_equal(s.choices[0].cookie, 103);
    assert_int_equal(s.choices[0].technique, GPUMP_TECHNIQUE_SWITCH);
    assert_int_equal(s.decision.ask_again, 5600 - 5600 / 32); /* the last moment to flush the others */
    /* With one port the saves follow each other, those that will end soonest last: now, after 2182 and after 4364. */
    scene_init(&s);
    s.request.limit_cycles = 8400;
    s.request.flags = 0;
    for (i = 0; i < 6; i++) cost(&s.estimates[i], 10000, 2182, 50, GPUMP_UNKNOWN);
    for (i = 3; i < 6; i++) cost(&s.estimates[i], 100, 9000, 50, GPUMP_UNKNOWN);
    for (i = 0; i < 3; i++) s.blocks[i].cycles = 1000 * (i + 1);
    assert_int_equal(scene_decide(&s, "joint"), GPUMP_OK);
    for (i = 0; i < 6; i++) {
        const gpump_block_choice *choice = choice_of(&s, 100 + i);
        assert_int_equal(choice->technique, i > 2   ? GPUMP_TECHNIQUE_FLUSH
                                            : i < 2 ? GPUMP_TECHNIQUE_DRAIN
                                                    : GPUMP_TECHNIQUE_SWITCH);
    }
    assert_int_equal(s.decision.ask_again, 2182);
}

/* With a price of lateness, joint saves a block late where that costs less than to flush it in time. */
static void lateness_may_have_a_price(void **state) {
    scene s;
    uint32_t i;
    (void)state;
    /* Six blocks, each of which could be saved 182 cycles late for 50 instructions, or flushed in time for 10000. */
    scene_init(&s);
    s.request.limit_cycles = 2000;
    for (i = 0; i < 6; i++) cost(&s.estimates[i], 10000, 2182, 50, GPUMP_UNKNOWN);
    assert_int_equal(scene_decide(&s, "joint"), GPUMP_OK);
    assert_int_equal(s.decision.late, 0);
    assert_int_equal(s.decision.overhead, 60000);
    s.request.late_price = 8;
    assert_int_equal(scene_decide(&s, "joint"), GPUMP_OK);
    assert_int_equal(s.decision.late, 6);
    assert_int_equal(s.decision.latency, 2182);
    assert_int_equal(s.decision.overhead, 300);
    s.request.late_price = 1000;
    assert_int_equal(scene_decide(&s, "joint"), GPUMP_OK);
    assert_int_equal(s.decision.late, 0);
    /* In a second look the blocks that still drain are billed likewise. */
    for (i = 0; i < 6; i++) s.blocks[i].state = GPUMP_BLOCK_DRAINING;
    s.request.now = 100;
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_AGAIN, gpump_victim_find("joint"), &s.request, &s.sm, 1, s.choices, 64,
                                &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 6);
    assert_int_equal(s.choices[0].technique, GPUMP_TECHNIQUE_FLUSH);
    s.request.late_price = 8;
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_AGAIN, gpump_victim_find("joint"), &s.request, &s.sm, 1, s.choices, 64,
                                &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, 6);
    assert_int_equal(s.choices[0].technique, GPUMP_TECHNIQUE_SWITCH);
}

/* The policy rewind sends blocks back where that is in time; dual, which does not ask for rewinds, is late. */
static void rewind_is_a_technique(void **state) {
    scene s;
    uint32_t i;
    (void)state;
    scene_init(&s);
    for (i = 0; i < 6; i++) {
        s.blocks[i].may = S | D | R;
        s.estimates[i].latency[GPUMP_TECHNIQUE_REWIND] = 300;
        s.estimates[i].overhead[GPUMP_TECHNIQUE_REWIND] = 20;
        s.estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] = 9000;
    }
    s.request.limit_cycles = 2000;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_OK);
    assert_int_equal(s.decision.late, 6);
    assert_int_equal(scene_decide(&s, "rewind"), GPUMP_OK);
    assert_int_equal(s.decision.late, 0);
    assert_int_equal(s.decision.overhead, 120);
}

/* ---- a host's own policies: right ones are obeyed, wrong answers are refused with the reason ---- */

static uint32_t always_flush(const gpump_victim_technique_args *args) {
    (void)args;
    return GPUMP_TECHNIQUE_FLUSH;
}
static uint32_t last_candidate(const gpump_victim_candidate_args *args) {
    return args->policy->candidate == last_candidate ? args->count - 1 : args->count;
}
static void greedy_position(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    (void)args;
    plan->positions = 1;
    plan->victims = 0; /* takes a position and sends nobody away */
    plan->ask_again = GPUMP_UNKNOWN;
}

/* A hook that names a block or a technique that cannot be is refused. */
static void answers_of_hooks_are_checked(void **state) {
    gpump_victim_policy mine = *gpump_victim_find("dual");
    scene s;
    (void)state;
    scene_init(&s);
    s.request.positions = 1;
    mine.name = "mine";
    mine.technique = always_flush;
    mine.candidate = last_candidate;
    assert_int_equal(victim_decide(&mine, &s.request, &s.geometry, &s.sm, 1, NULL, 0, s.places, 32, s.choices, 64,
                                   &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.choices[0].technique, GPUMP_TECHNIQUE_FLUSH);
    assert_true(s.places[0].position >= 5);
    s.request.positions = 6;
    s.blocks[2].may = S | D;
    assert_int_equal(victim_decide(&mine, &s.request, &s.geometry, &s.sm, 1, NULL, 0, s.places, 32, s.choices, 64,
                                   &s.decision, &s.diag),
                     GPUMP_ERROR_REFUSED);
    assert_int_equal(s.diag.reason, GPUMP_REASON_CLOBBERED);
    s.request.positions = 6;
    mine.technique = NULL;
    mine.candidate = NULL;
    mine.plan = greedy_position;
    assert_int_equal(victim_decide(&mine, &s.request, &s.geometry, &s.sm, 1, NULL, 0, s.places, 32, s.choices, 64,
                                   &s.decision, &s.diag),
                     GPUMP_ERROR_REFUSED);
    assert_int_equal(s.diag.reason, GPUMP_REASON_REGISTERS);
    mine.name = NULL;
    assert_int_equal(victim_decide(&mine, &s.request, &s.geometry, &s.sm, 1, NULL, 0, s.places, 32, s.choices, 64,
                                   &s.decision, &s.diag),
                     GPUMP_ERROR_ARGUMENT);
}

/* The greedy plan as a hook is the plan that a policy without a hook gets. */
static void a_hook_may_be_the_greedy_plan(void **state) {
    const gpump_victim_policy *dual = gpump_victim_find("dual");
    gpump_victim_policy hooked = *dual;
    scene s;
    (void)state;
    hooked.plan = gpump_victim_plan_greedy;
    for (uint32_t positions = 1; positions <= 6; positions++) {
        gpump_victim_decision decision[2];
        gpump_block_choice choices[2][8];
        gpump_victim_place places[8];
        scene_init(&s);
        s.request.positions = positions;
        for (int i = 0; i < 2; i++) {
            memset(choices[i], 0, sizeof choices[i]);
            assert_int_equal(victim_decide(i ? &hooked : dual, &s.request, &s.geometry, &s.sm, 1, NULL, 0, places, 8,
                                           choices[i], 8, &decision[i], &s.diag),
                             GPUMP_OK);
        }
        assert_int_equal(decision[0].choices, decision[1].choices);
        assert_int_equal(decision[0].overhead, decision[1].overhead);
        for (uint32_t i = 0; i < decision[0].choices; i++) {
            assert_int_equal(choices[0][i].block.slot, choices[1][i].block.slot);
            assert_int_equal(choices[0][i].technique, choices[1][i].technique);
        }
    }
}

/* Each name finds its policy with a description; other names find none. */
static void every_policy_is_found_by_its_name(void **state) {
    static const char *names[] = {"dual",   "chimera", "chimera+", "switch", "drain",      "flush", "drain-then-switch",
                                  "oracle", "exact",   "rewind",   "joint",  "dual-larger"};
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        assert_non_null(gpump_victim_find(names[i]));
        assert_string_equal(gpump_victim_find(names[i])->name, names[i]);
        assert_non_null(gpump_victim_find(names[i])->description);
    }
    assert_null(gpump_victim_policy_at(i));
    assert_null(gpump_victim_find("nobody"));
    assert_null(gpump_victim_find(NULL));
}

/* Whole SMs are handed over: every block gets its way out, in the order of the views, by every policy. */
static void every_policy_gives_every_block_of_a_vacated_sm_a_way_out(void **state) {
    uint32_t p;
    (void)state;
    for (p = 0; gpump_victim_policy_at(p); p++) {
        const gpump_victim_policy *policy = gpump_victim_policy_at(p);
        gpump_victim_candidate chosen;
        uint8_t technique[64];
        uint64_t set = 0;
        uint32_t i, k = 0;
        scene s;
        scene_init(&s);
        s.request.kernel = 0;
        assert_int_equal(
            victim_ask(GPUMP_VICTIM_ASK_VACATE, policy, &s.request, &s.sm, 1, s.choices, 64, &s.decision, &s.diag),
            GPUMP_OK);
        assert_int_equal(s.decision.choices + s.decision.missing, s.sm.count);
        assert_int_equal(s.decision.places, 0);
        for (i = 0; i < s.sm.count; i++) {
            if (!(s.blocks[i].may & policy->techniques)) continue;
            assert_true(k < s.decision.choices);
            assert_int_equal(s.choices[k].cookie, s.blocks[i].cookie);
            assert_int_equal(s.choices[k].block.slot, s.blocks[i].block.slot);
            assert_true(s.blocks[i].may & policy->techniques & 1u << s.choices[k].technique);
            set |= (uint64_t)1 << i;
            k++;
        }
        assert_int_equal(k, s.decision.choices);
        if (policy->plan || policy->technique) continue; /* where no hook answers, it is lines 3 to 14 of Algorithm 1 */
        assert_int_equal(gpump_victim_select(policy, &s.request, &s.sm, &set, 1, 1, technique, &chosen), GPUMP_OK);
        for (k = 0; k < s.decision.choices; k++) {
            for (i = 0; s.blocks[i].cookie != s.choices[k].cookie; i++) {}
            assert_int_equal(s.choices[k].technique, technique[i]);
        }
    }
}

/* Whoever cannot leave stays, with his group, and is counted; whoever leaves already is left alone. */
static void vacated_as_far_as_possible(void **state) {
    gpump_block_choice choices[64];
    scene s;
    uint32_t i;
    (void)state;
    scene_init(&s);
    s.request.kernel = 0;
    for (i = 0; i < s.sm.count; i++) s.blocks[i].may = F | S | D;
    s.blocks[0].may = 0;
    s.blocks[0].group = s.blocks[1].group = 5;
    s.blocks[2].state = GPUMP_BLOCK_DRAINING;
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_VACATE, gpump_victim_find("dual"), &s.request, &s.sm, 1, s.choices, 64,
                                &s.decision, &s.diag),
                     GPUMP_OK);
    assert_int_equal(s.decision.choices, s.sm.count - 3);
    assert_int_equal(s.decision.missing, 2);
    assert_int_equal(s.decision.reason, GPUMP_REASON_NO_TECHNIQUE);
    /* Too little room: the arrays are as they were. */
    memset(choices, 0x5a, sizeof choices);
    memcpy(s.choices, choices, sizeof choices[0] * 2);
    assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_VACATE, gpump_victim_find("dual"), &s.request, &s.sm, 1, s.choices, 1,
                                &s.decision, &s.diag),
                     GPUMP_ERROR_CAPACITY);
    assert_int_equal(s.decision.choices, s.sm.count - 3);
    assert_memory_equal(s.choices, choices, sizeof choices[0] * 2);
}

static uint32_t never_right(const gpump_victim_technique_args *args) {
    return args->block->cookie % 2 ? 77u : (uint32_t)GPUMP_TECHNIQUE_SWITCH;
}

/* Arguments that are wrong are refused, and no array is touched: NULL, blocks beyond the SM, a hook that errs late. */
static void wrong_questions_are_refused_and_touch_no_array(void **state) {
    gpump_victim_policy mine = *gpump_victim_find("dual");
    gpump_block_choice before[64];
    gpump_victim_candidate chosen;
    gpump_victim_sm sms[2];
    uint64_t set = 1;
    uint8_t technique[64];
    scene s;
    (void)state;
    scene_init(&s);
    assert_int_equal(gpump_victim_decide(NULL, &s.decision, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_victim_select(NULL, &s.request, &s.sm, &set, 1, 1, technique, &chosen),
                     GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_victim_select(&mine, NULL, &s.sm, &set, 1, 1, technique, &chosen), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_victim_select(&mine, &s.request, NULL, &set, 1, 1, technique, &chosen),
                     GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_victim_select(&mine, &s.request, &s.sm, NULL, 1, 1, technique, &chosen),
                     GPUMP_ERROR_ARGUMENT);
    set = (uint64_t)1 << s.sm.count; /* a block that is not in the view */
    assert_int_equal(gpump_victim_select(&mine, &s.request, &s.sm, &set, 1, 1, technique, &chosen),
                     GPUMP_ERROR_ARGUMENT);
    memset(before, 0x5a, sizeof before);
    memcpy(s.choices, before, sizeof before[0] * 8);
    s.blocks[3].register_base = s.geometry.register_file; /* beyond the register file */
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_ERROR_ARGUMENT);
    s.blocks[3].register_base = UINT32_MAX - 10;
    assert_int_equal(scene_decide(&s, "dual"), GPUMP_ERROR_ARGUMENT);
    assert_memory_equal(s.choices, before, sizeof before[0] * 8);
    scene_init(&s);
    s.blocks[1].shared_base = s.geometry.shared_memory_bytes;
    assert_int_equal(scene_decide(&s, "dual"), s.blocks[1].shared_bytes ? GPUMP_ERROR_ARGUMENT : GPUMP_OK);
    scene_init(&s);
    mine.technique = never_right;
    mine.name = "mine";
    memcpy(s.choices, before, sizeof before[0] * 8);
    sms[0] = sms[1] = s.sm;
    sms[0].count = 1; /* the first SM is answered rightly, the second is not */
    s.blocks[0].cookie = 2;
    s.request.positions = 12;
    assert_int_equal(victim_decide(&mine, &s.request, &s.geometry, sms, 2, NULL, 0, s.places, 32, s.choices, 64,
                                   &s.decision, &s.diag),
                     GPUMP_ERROR_REFUSED);
    assert_memory_equal(s.choices, before, sizeof before[0] * 8);
    assert_int_equal(
        victim_ask(GPUMP_VICTIM_ASK_VACATE, &mine, &s.request, sms, 2, s.choices, 64, &s.decision, &s.diag),
        GPUMP_ERROR_REFUSED);
    assert_memory_equal(s.choices, before, sizeof before[0] * 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_over_two_positions_is_in_both_sets),
        cmocka_unit_test(all_four_resources),
        cmocka_unit_test(storage_of_the_paper),
        cmocka_unit_test(algorithm_1),
        cmocka_unit_test(algorithm_1_of_several_blocks),
        cmocka_unit_test(a_whole_decision_by_hand),
        cmocka_unit_test(what_cannot_leave_has_its_reason),
        cmocka_unit_test(the_sms_whose_next_position_is_best_are_taken),
        cmocka_unit_test(blocks_that_drain_are_asked_about_again),
        cmocka_unit_test(joint_lets_run_on_who_may),
        cmocka_unit_test(lateness_may_have_a_price),
        cmocka_unit_test(rewind_is_a_technique),
        cmocka_unit_test(answers_of_hooks_are_checked),
        cmocka_unit_test(every_policy_gives_every_block_of_a_vacated_sm_a_way_out),
        cmocka_unit_test(vacated_as_far_as_possible),
        cmocka_unit_test(wrong_questions_are_refused_and_touch_no_array),
        cmocka_unit_test(a_hook_may_be_the_greedy_plan),
        cmocka_unit_test(every_policy_is_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
