/* labels: unit property */
/* Every refusal of victim selection and costs: its code, and what its diagnostic says; limits that are met exactly; and
 * costs against plain arithmetic. */
#include "diagnosed.h"
#include "victim/estimate.h"
#include "victim/victim_ask.h"

/* A geometry or configuration that a victim policy cannot handle is refused with the field's name and range. */
static void wrong_geometries_are_refused(void **state) {
    gpump_gpu gpu, bad;
    gpump_footprint need = {128, 2048, 1024};
    gpump_victim_geometry g;
    gpump_victim_config config, other;
    gpump_victim_storage storage;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    diagnosed_null(gpump_victim_geometry_init(NULL, &gpu, &need, 49152, DIAG), "geometry, gpu or need");
    diagnosed_null(gpump_victim_geometry_init(&g, NULL, &need, 49152, DIAG), "geometry, gpu or need");
    diagnosed_null(gpump_victim_geometry_init(&g, &gpu, NULL, 49152, DIAG), "geometry, gpu or need");
    bad = gpu;
    bad.registers = 1 << 20;
    diagnosed(gpump_victim_geometry_init(&g, &bad, &need, 49152, DIAG), GPUMP_ERROR_CONFIG, "registers", 0, 1 << 20, 0,
              (1 << 20) - 1);
    bad.registers = (1 << 20) - 1;
    assert_int_equal(gpump_victim_geometry_init(&g, &bad, &need, 49152, NULL), GPUMP_OK);
    diagnosed(gpump_victim_geometry_init(&g, &gpu, &need, 1 << 20, DIAG), GPUMP_ERROR_ARGUMENT, "shared_bytes", 0,
              1 << 20, 0, (1 << 20) - 1);
    assert_int_equal(gpump_victim_geometry_init(&g, &gpu, &need, (1 << 20) - 1, NULL), GPUMP_OK);
    need.threads = 2048;
    diagnosed_reason(gpump_victim_geometry_init(&g, &gpu, &need, 49152, DIAG), GPUMP_ERROR_REFUSED, "need", 0,
                     GPUMP_REASON_NEVER_FITS);
    assert_int_equal(gpump_preset(&gpump_victim_component, &config, "gtx480_shieh", NULL), GPUMP_OK);
    diagnosed_null(gpump_bits(&gpump_victim_component, &config, NULL, DIAG), "bits");
    diagnosed_null(gpump_table_bits(&gpump_victim_component, NULL, &storage, DIAG), "config");
    diagnosed_null(gpump_table_bits(&gpump_victim_component, &config, NULL, DIAG), "storage");
    other = config;
    other.sms = 0;
    diagnosed(gpump_bits(&gpump_victim_component, &other, &bits, DIAG), GPUMP_ERROR_CONFIG, "sms", 0, 0, 1, 65536);
    assert_int_equal(gpump_bits(&gpump_victim_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_table_bits(&gpump_victim_component, &config, &storage, NULL), GPUMP_OK);
    assert_int_equal(bits, storage.sm_bits * config.sms + storage.gpu_bits);
}

typedef struct scene {
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_block_view blocks[2];
    gpump_cost_estimate estimates[2];
    gpump_victim_sm sm;
    gpump_victim_place places[8];
    gpump_block_choice choices[8];
    gpump_victim_question question;
} scene;

/* One SM with two blocks of kernel 1 on positions 0 and 1 of a kernel 2 that has the same footprint. */
static void scene_make(scene *s) {
    gpump_gpu gpu;
    gpump_footprint need = {64, 4096, 8192};
    memset(s, 0, sizeof *s);
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL), GPUMP_OK);
    assert_int_equal(gpump_victim_geometry_init(&s->geometry, &gpu, &need, 49152, NULL), GPUMP_OK);
    s->geometry.entries = 16;
    for (uint32_t i = 0; i < 2; i++) {
        gpump_block_view *b = &s->blocks[i];
        b->block.slot = i;
        b->block.generation = 1;
        b->kernel = 1;
        b->state = GPUMP_BLOCK_RUNNING;
        b->register_base = 4096 * i;
        b->registers = 4096;
        b->shared_base = 8192 * i;
        b->shared_bytes = 8192;
        b->threads = 64;
        b->warps = 2;
        b->may = 7;
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++) {
            s->estimates[i].latency[t] = 100 + 10 * t;
            s->estimates[i].overhead[t] = 50 - 10 * t;
        }
    }
    s->sm.blocks = s->blocks;
    s->sm.estimates = s->estimates;
    s->sm.count = 2;
    s->sm.sm = 5;
    memset(&s->request, 0x5a, sizeof s->request);
    assert_int_equal(gpump_victim_request_init(&s->request, 2, 6, 1000), GPUMP_OK);
    assert_int_equal(s->request.flags, 0);
    assert_true(s->request.limit_cycles == GPUMP_UNKNOWN && s->request.timeout_cycles == GPUMP_UNKNOWN);
    assert_true(s->request.late_price == 0);
    s->question.policy = gpump_victim_find("dual");
    s->question.request = &s->request;
    s->question.geometry = &s->geometry;
    s->question.sms = &s->sm;
    s->question.sm_count = 1;
    s->question.places = s->places;
    s->question.place_capacity = 8;
    s->question.choices = s->choices;
    s->question.choice_capacity = 8;
}

/* A wrong question to a victim policy is refused with the field's name, index and range. */
static void wrong_questions_are_refused(void **state) {
    gpump_victim_policy policy;
    gpump_victim_decision decision;
    scene s;
    (void)state;
#define ASK(code, field, index, value, minimum, maximum)                                                           \
    do {                                                                                                           \
        diagnosed(gpump_victim_decide(&s.question, &decision, DIAG), code, field, index, value, minimum, maximum); \
        scene_make(&s);                                                                                            \
    } while (0)
#define ASK_ALL(code, field, index, value, minimum, maximum)                                                       \
    do {                                                                                                           \
        s.question.ask = GPUMP_VICTIM_ASK_VACATE;                                                                  \
        diagnosed(gpump_victim_decide(&s.question, &decision, DIAG), code, field, index, value, minimum, maximum); \
        s.question.ask = GPUMP_VICTIM_ASK_AGAIN;                                                                   \
        diagnosed(gpump_victim_decide(&s.question, &decision, DIAG), code, field, index, value, minimum, maximum); \
        s.question.ask = GPUMP_VICTIM_ASK_POSITIONS;                                                               \
        ASK(code, field, index, value, minimum, maximum);                                                          \
    } while (0)
    scene_make(&s);
    assert_int_equal(gpump_victim_decide(&s.question, &decision, NULL), GPUMP_OK);
    assert_int_equal(decision.choices, 2);
    assert_int_equal(gpump_victim_request_init(NULL, 2, 6, 1000), GPUMP_ERROR_ARGUMENT);
    diagnosed_null(gpump_victim_decide(&s.question, NULL, DIAG), "question, geometry or decision");
    s.question.ask = GPUMP_VICTIM_ASK_AGAIN + 1;
    ASK(GPUMP_ERROR_ARGUMENT, "ask", 0, GPUMP_VICTIM_ASK_AGAIN + 1, 0, GPUMP_VICTIM_ASK_AGAIN);
    s.question.geometry = NULL;
    assert_int_equal(gpump_victim_decide(NULL, &decision, NULL), GPUMP_ERROR_ARGUMENT);
    scene_make(&s);
    s.question.policy = NULL;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "policy is NULL: gpump_victim_find did not know that name", 0, 0, 0, 0);
    policy = *gpump_victim_find("dual");
    policy.name = NULL;
    s.question.policy = &policy;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "policy.name", 0, 0, 1, UINT64_MAX);
    s.question.request = NULL;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "request", 0, 0, 1, UINT64_MAX);
    s.request.flags = 2;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "request.flags", 0, 2, 0, 1);
    s.request.now = 999;
    ASK_ALL(GPUMP_ERROR_TIME, "request.now", 0, 999, 1000, UINT64_MAX);
    s.question.sms = NULL;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "sms", 0, 0, 1, UINT64_MAX);
    s.question.places = NULL;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "places or choices", 0, 0, 1, UINT64_MAX);
    s.question.choices = NULL;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "places or choices", 0, 0, 1, UINT64_MAX);
    s.sm.count = 65;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "sms.count", 0, 65, 0, 64);
    s.sm.blocks = NULL;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "sms.blocks or estimates", 0, 0, 1, UINT64_MAX);
    s.sm.estimates = NULL;
    ASK_ALL(GPUMP_ERROR_ARGUMENT, "sms.blocks or estimates", 0, 0, 1, UINT64_MAX);
    s.geometry.positions = 0;
    ASK(GPUMP_ERROR_ARGUMENT, "geometry.positions", 0, 0, 1, 64);
    s.geometry.positions = 65;
    ASK(GPUMP_ERROR_ARGUMENT, "geometry.positions", 0, 65, 1, 64);
    s.blocks[1].register_base = s.geometry.register_file - 4095;
    ASK(GPUMP_ERROR_ARGUMENT, "sms.blocks.register_base + registers", 0, s.geometry.register_file + 1, 0,
        s.geometry.register_file);
    s.blocks[1].shared_base = s.geometry.shared_memory_bytes - 8191;
    ASK(GPUMP_ERROR_ARGUMENT, "sms.blocks.shared_base + shared_bytes", 0, s.geometry.shared_memory_bytes + 1, 0,
        s.geometry.shared_memory_bytes);
}

/* Arrays that are too small for a decision are not written, and the needed counts are handed back. */
static void arrays_that_are_too_small_stay_as_they_are(void **state) {
    gpump_victim_decision decision;
    scene s;
    (void)state;
    scene_make(&s);
    s.question.choice_capacity = 1;
    memset(s.places, 0x5a, sizeof s.places);
    memset(s.choices, 0x5a, sizeof s.choices);
    diagnosed(gpump_victim_decide(&s.question, &decision, DIAG), GPUMP_ERROR_CAPACITY,
              "place_capacity or choice_capacity", 0, 1, 2, UINT64_MAX);
    assert_int_equal(decision.places, 6);
    assert_int_equal(decision.choices, 2);
    assert_int_equal(s.choices[0].sm, 0x5a5a5a5a);
    s.question.choice_capacity = 8;
    s.question.place_capacity = 5;
    assert_int_equal(gpump_victim_decide(&s.question, &decision, NULL), GPUMP_ERROR_CAPACITY);
    assert_int_equal(s.places[0].sm, 0x5a5a5a5a);
    s.question.place_capacity = 6;
    assert_int_equal(gpump_victim_decide(&s.question, &decision, NULL), GPUMP_OK);
    assert_int_equal(s.places[0].sm, 5);
}

/* A question of more than 64 SMs needs scratch memory, of just the bytes that gpump_victim_scratch_bytes names. */
static void more_than_64_sms_need_scratch_memory_to_the_byte(void **state) {
    static gpump_victim_sm many[65];
    gpump_victim_decision decision;
    size_t bytes;
    void *scratch;
    scene s;
    (void)state;
    scene_make(&s);
    for (uint32_t i = 0; i < 65; i++) many[i] = s.sm;
    s.question.sms = many;
    s.question.sm_count = 65;
    s.request.positions = 1;
    assert_int_equal(gpump_victim_scratch_bytes(64), 0);
    bytes = gpump_victim_scratch_bytes(65);
    scratch = malloc(bytes);
    assert_true(bytes >= 65);
    s.question.scratch = scratch;
    s.question.scratch_bytes = bytes - 1;
    diagnosed(gpump_victim_decide(&s.question, &decision, DIAG), GPUMP_ERROR_ARGUMENT, "scratch_bytes", 0, bytes - 1,
              bytes, UINT64_MAX);
    s.question.scratch_bytes = bytes;
    assert_int_equal(gpump_victim_decide(&s.question, &decision, NULL), GPUMP_OK);
    assert_int_equal(decision.places, 1);
    free(scratch);
}

static uint32_t always_switch(const gpump_victim_technique_args *args) {
    (void)args;
    return GPUMP_TECHNIQUE_SWITCH;
}

/* A block that leaves just at the limit is in time, with a hook and without one; one cycle later it is late. Blocks in
 * no candidate set get no technique. */
static void a_block_that_leaves_at_the_limit_is_in_time(void **state) {
    gpump_victim_policy hooked = *gpump_victim_find("switch");
    const gpump_victim_policy *policies[2] = {gpump_victim_find("switch"), &hooked};
    uint8_t technique[2];
    gpump_victim_candidate chosen;
    scene s;
    (void)state;
    hooked.technique = always_switch;
    for (int p = 0; p < 2; p++)
        for (uint32_t limit = 109; limit <= 111; limit++) { /* a switch takes 110 */
            const uint64_t sets[2] = {2, 2};
            scene_make(&s);
            s.request.limit_cycles = limit;
            memset(technique, 7, sizeof technique);
            assert_int_equal(gpump_victim_select(policies[p], &s.request, &s.sm, sets, 1, 1, technique, &chosen),
                             GPUMP_OK);
            assert_int_equal(chosen.late, limit < 110);
            assert_int_equal(chosen.latency, 110);
            assert_int_equal(chosen.overhead, 40);
            assert_int_equal(chosen.victims, 2);
            assert_int_equal(technique[0], GPUMP_VICTIM_NO_TECHNIQUE); /* in no set */
            assert_int_equal(technique[1], GPUMP_TECHNIQUE_SWITCH);
            s.estimates[1].latency[GPUMP_TECHNIQUE_SWITCH] = GPUMP_UNKNOWN; /* unknown is late, whatever the limit */
            s.request.limit_cycles = GPUMP_UNKNOWN;
            assert_int_equal(gpump_victim_select(policies[p], &s.request, &s.sm, sets, 1, 1, technique, &chosen),
                             GPUMP_OK);
            assert_int_equal(chosen.late, 1);
        }
    scene_make(&s);
    {
        const uint64_t sets[2] = {1, 4}; /* block 2 is not in the view */
        assert_int_equal(gpump_victim_select(policies[0], &s.request, &s.sm, sets, 2, 3, technique, &chosen),
                         GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_victim_select(policies[0], &s.request, &s.sm, sets, 2, 1, technique, &chosen), GPUMP_OK);
        assert_int_equal(chosen.victims, 1);
        assert_int_equal(gpump_victim_select(policies[0], &s.request, &s.sm, sets, 2, 0, technique, &chosen),
                         GPUMP_EMPTY);
        assert_int_equal(gpump_victim_select(NULL, &s.request, &s.sm, sets, 2, 1, technique, &chosen),
                         GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_victim_select(policies[0], NULL, &s.sm, sets, 2, 1, technique, &chosen),
                         GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_victim_select(policies[0], &s.request, NULL, sets, 2, 1, technique, &chosen),
                         GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_victim_select(policies[0], &s.request, &s.sm, NULL, 2, 1, technique, &chosen),
                         GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_victim_select(policies[0], &s.request, &s.sm, sets, 2, 1, NULL, &chosen),
                         GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_victim_select(policies[0], &s.request, &s.sm, sets, 2, 1, technique, NULL),
                         GPUMP_ERROR_ARGUMENT);
        assert_int_equal(gpump_victim_select(policies[0], &s.request, &s.sm, sets, 65, 1, technique, &chosen),
                         GPUMP_ERROR_ARGUMENT);
        s.sm.count = 65;
        assert_int_equal(gpump_victim_select(policies[0], &s.request, &s.sm, sets, 2, 1, technique, &chosen),
                         GPUMP_ERROR_ARGUMENT);
    }
}

/* Sample variance times n (n - 1), of n steps; up to 64 steps of 24 bits fit 64 bits. */
static uint64_t spread(uint64_t n, uint64_t sum, uint64_t squares) { return n * squares - sum * sum; }

static uint32_t no_technique(const gpump_victim_technique_args *args) {
    (void)args;
    return GPUMP_TECHNIQUES;
}

/* Positions beyond the count do not take part, whatever `open` says; an answer that is no technique is late. */
static void positions_beyond_the_count_take_no_part(void **state) {
    gpump_victim_policy hooked = *gpump_victim_find("switch");
    const uint64_t sets[2] = {2, 1};
    uint8_t technique[2];
    gpump_victim_candidate chosen;
    scene s;
    (void)state;
    scene_make(&s);
    s.estimates[0].overhead[GPUMP_TECHNIQUE_SWITCH] = 1; /* the second would be better */
    assert_int_equal(
        gpump_victim_select(gpump_victim_find("switch"), &s.request, &s.sm, sets, 1, 3, technique, &chosen), GPUMP_OK);
    assert_int_equal(chosen.position, 0);
    assert_int_equal(technique[0], GPUMP_VICTIM_NO_TECHNIQUE);
    hooked.technique = no_technique;
    assert_int_equal(gpump_victim_select(&hooked, &s.request, &s.sm, sets, 1, 1, technique, &chosen), GPUMP_OK);
    assert_true(chosen.latency == GPUMP_UNKNOWN && chosen.overhead == GPUMP_UNKNOWN && chosen.late == 1);
    assert_int_equal(technique[1], GPUMP_VICTIM_NO_TECHNIQUE);
}

/* An SM whose six positions are all taken by blocks of another kernel. */
typedef struct full_scene {
    scene s;
    gpump_block_view blocks[6];
    gpump_cost_estimate estimates[6];
} full_scene;
static void full_make(full_scene *f) {
    scene_make(&f->s);
    for (uint32_t i = 0; i < 6; i++) {
        f->blocks[i] = f->s.blocks[0];
        f->blocks[i].block.slot = i;
        f->blocks[i].register_base = 4096 * i;
        f->blocks[i].shared_base = 8192 * i;
        f->estimates[i] = f->s.estimates[0];
    }
    f->s.sm.blocks = f->blocks;
    f->s.sm.estimates = f->estimates;
    f->s.sm.count = 6;
}

/* A full SM at the edge of each limit: which block leaves, and how. */
static void the_cheapest_way_out_of_a_full_sm(void **state) {
    gpump_victim_decision decision;
    gpump_victim_sm two[64];
    gpump_cost_estimate cheap[6];
    gpump_victim_policy waits = *gpump_victim_find("dual");
    full_scene f;
    (void)state;
    waits.flags = 0; /* what leaves already counts for the latency of its position */
    /* A block that drains already costs nothing, if it ends in time; else a flush does. */
    for (uint32_t limit = 129; limit <= 131; limit++) {
        full_make(&f);
        f.blocks[3].state = GPUMP_BLOCK_DRAINING;
        f.estimates[3].latency[GPUMP_TECHNIQUE_DRAIN] = 130;
        f.s.request.positions = 1;
        f.s.request.limit_cycles = limit;
        f.s.question.policy = &waits;
        assert_int_equal(gpump_victim_decide(&f.s.question, &decision, NULL), GPUMP_OK);
        assert_int_equal(decision.places, 1);
        assert_int_equal(f.s.places[0].late, 0);
        assert_int_equal(decision.choices, limit < 130);
        if (limit >= 130) assert_int_equal(f.s.places[0].position, 3);
        if (limit >= 130) assert_int_equal(f.s.places[0].latency, 130);
    }
    /* What needs no port keeps the order of the blocks. */
    full_make(&f);
    for (uint32_t i = 0; i < 6; i++) f.estimates[i].latency[GPUMP_TECHNIQUE_FLUSH] = 600 - 100 * i;
    f.s.question.policy = gpump_victim_find("flush");
    assert_int_equal(gpump_victim_decide(&f.s.question, &decision, NULL), GPUMP_OK);
    assert_int_equal(decision.choices, 6);
    for (uint32_t i = 0; i < 6; i++) assert_int_equal(f.s.choices[i].block.slot, i);
    /* One position on one of two SMs, and of 64: the one that loses least. */
    full_make(&f);
    memcpy(cheap, f.estimates, sizeof cheap);
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t t = 0; t < GPUMP_TECHNIQUE_OWN; t++) cheap[i].overhead[t] = 1 + t;
    for (uint32_t count = 2; count <= 64; count += 62)
        for (uint32_t best = 0; best < count; best++) {
            f.s.request.limit_cycles = best % 2 ? 0 : GPUMP_UNKNOWN; /* all are late, or none */
            for (uint32_t i = 0; i < count; i++) {
                two[i] = f.s.sm;
                two[i].sm = i;
            }
            two[best].estimates = cheap;
            f.s.request.positions = 1;
            f.s.question.sms = two;
            f.s.question.sm_count = count;
            assert_int_equal(gpump_victim_decide(&f.s.question, &decision, NULL), GPUMP_OK);
            assert_int_equal(decision.places, 1);
            assert_int_equal(f.s.places[0].sm, best);
        }
}

/* A block that leaves a part in place keeps its entry of the tables: with two entries the other block has to go. */
static void entries_of_parked_blocks(void **state) {
    gpump_victim_decision decision;
    scene s;
    (void)state;
    for (uint32_t keep = 0; keep < 2; keep++) {
        scene_make(&s);
        s.geometry.entries = 2;
        s.request.positions = 1;
        s.blocks[0].state = GPUMP_BLOCK_STOPPING;
        s.blocks[0].technique = GPUMP_TECHNIQUE_SWITCH;
        s.blocks[0].keep = keep;
        assert_int_equal(gpump_victim_decide(&s.question, &decision, NULL), GPUMP_OK);
        assert_int_equal(decision.places, 1);
        assert_int_equal(decision.choices, keep);
    }
}

/* The window counts at most 2^56 instructions of a block; both halves of a block's record are in the hash; and a CPI of
 * exactly 2^16 cycles is that. */
static void histories_count_up_to_their_limits(void **state) {
    gpump_cost_history a, b;
    (void)state;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    gpump_cost_history_record(&a, 10, 20);
    gpump_cost_history_record(&b, 20, 40); /* the same CPI */
    assert_true(gpumpi_cost_history_hash(&a) != gpumpi_cost_history_hash(&b));
    memset(&b, 0, sizeof b);
    gpump_cost_history_record(&b, 10, 30);
    assert_true(gpumpi_cost_history_hash(&a) != gpumpi_cost_history_hash(&b));
    memset(&a, 0, sizeof a);
    gpump_cost_history_record(&a, UINT64_MAX, 1);
    assert_true(gpumpi_cost_history_instructions(&a) == UINT64_C(1) << 56);
    for (uint64_t cycles = 65534; cycles <= 65538; cycles++) assert_true(gpumpi_cost_cpi_of(1, cycles) == cycles << 16);
    assert_true(gpumpi_cost_cpi_of(UINT64_C(1) << 32, UINT64_C(1) << 32) == 65536);
    assert_true(gpumpi_cost_cpi_of((UINT64_C(1) << 32) + 1, 65535) == 1);
}

/* Which deviation is smaller, also where products of the sums need more than 64 bits. */
static void the_smaller_deviation_is_found_beyond_64_bits(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(4000); n++) {
        gpump_block_view blocks[32];
        gpump_cost_history history;
        const uint32_t count = 2 + gpump_random_below(&random, 31);
        uint32_t finished = 2 + gpump_random_below(&random, gpump_random_below(&random, 2) ? 4 : 63);
        uint64_t sum = 0, squares = 0;
        memset(blocks, 0, sizeof blocks);
        memset(&history, 0, sizeof history);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t step;
            blocks[i].kernel = 1;
            blocks[i].executed = 1;
            blocks[i].cycles = gpump_random_below(&random, 2) ? 65536 : gpump_random_below(&random, 65537);
            if (n % 2 && i % 2) blocks[i].cycles = 0;
            step = blocks[i].cycles * 256;
            sum += step;
            squares += step * step;
        }
        for (uint32_t i = 0; i < finished; i++)
            gpump_cost_history_record(&history, 1, n % 3 && i ? 0 : gpump_random_below(&random, 65536));
        test_check(gpumpi_cost_cpi_source(&history, blocks, count, 1) ==
                       (gpumpi_compare_products(spread(count, sum, squares), (uint64_t)finished * (finished - 1),
                                                spread(finished, history.deviation_sum, history.deviation_squares),
                                                (uint64_t)count * (count - 1)) <= 0
                            ? GPUMP_COST_CPI_RUNNING
                            : GPUMP_COST_CPI_FINISHED),
                   seed, n);
    }
    { /* 2^54 x 33 x 32 wraps to less than the other product does */
        gpump_block_view blocks[16];
        gpump_cost_history history;
        memset(blocks, 0, sizeof blocks);
        memset(&history, 0, sizeof history);
        for (uint32_t i = 0; i < 16; i++) {
            blocks[i].kernel = 1;
            blocks[i].executed = 1;
            blocks[i].cycles = i % 2 ? 65536 : 0;
        }
        for (uint32_t i = 0; i < 33; i++) gpump_cost_history_record(&history, 1, i ? 0 : 38968);
        assert_int_equal(gpumpi_cost_cpi_source(&history, blocks, 16, 1), GPUMP_COST_CPI_FINISHED);
    }
}

/* ---- costs in plain arithmetic ---- */

static uint64_t below_bits(uint64_t *random, uint32_t bits) { return gpump_random_next(random) >> (64 - bits); }

static uint64_t times_q16(uint64_t a, uint64_t q) { /* a q / 2^16, rounded up */
    if (a == GPUMP_UNKNOWN || q == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    return gpump_muldiv_up(a, q, 65536);
}
static uint64_t twice(uint64_t a) { return a + a < a ? UINT64_MAX : a + a; }

/* Blocks, histories and options of one estimate. */
typedef struct costs {
    gpump_cost_history histories[4];
    gpump_block_view blocks[8];
    gpump_cost_rewind rewind[8];
    gpump_cost_options options;
    uint32_t count;
    int careful, with_rewind;
} costs;

static void draw_costs(costs *c, uint64_t *random) {
    const uint32_t wide = 1 + gpump_random_below(random, 44);
    memset(c, 0, sizeof *c);
    c->count = gpump_random_below(random, 9);
    c->careful = (int)gpump_random_below(random, 2);
    c->with_rewind = (int)gpump_random_below(random, 2);
    c->options.cpi = gpump_random_below(random, GPUMP_COST_CPI_SOURCES);
    c->options.flags = c->careful ? GPUMP_COST_DRAIN_CAREFUL : 0;
    for (uint32_t f = 1; f < 4; f++)
        for (uint32_t k = gpump_random_below(random, 5) * gpump_random_below(random, 30); k; k--)
            gpump_cost_history_record(&c->histories[f], below_bits(random, wide), below_bits(random, wide));
    for (uint32_t i = 0; i < c->count; i++) {
        c->blocks[i].kernel = 1 + gpump_random_below(random, 4); /* 4 has no history */
        c->blocks[i].executed = gpump_random_below(random, 6) ? below_bits(random, wide) : 0;
        c->blocks[i].cycles = below_bits(random, wide);
        c->blocks[i].context_bytes = below_bits(random, 1 + gpump_random_below(random, 40));
        c->blocks[i].may = gpump_random_below(random, 16);
        c->rewind[i].bytes = below_bits(random, 1 + gpump_random_below(random, 40));
        c->rewind[i].executed = below_bits(random, wide);
    }
}

/* What the blocks of a kernel that run on the SM have done. */
typedef struct pace_of_kernel {
    uint64_t executed, cycles, running, sum, squares;
} pace_of_kernel;
static pace_of_kernel pace_of(const costs *c, uint32_t kernel) {
    pace_of_kernel p = {0, 0, 0, 0, 0};
    for (uint32_t j = 0; j < c->count; j++) {
        const gpump_block_view *b = &c->blocks[j];
        const uint64_t cpi = gpumpi_cost_cpi_of(b->executed, b->cycles), step = cpi >> 8 > 1 << 24 ? 1 << 24 : cpi >> 8;
        if (b->kernel != kernel) continue;
        p.executed += b->executed;
        p.cycles += b->cycles;
        if (cpi == GPUMP_UNKNOWN) continue;
        p.running++;
        p.sum += step;
        p.squares += step * step;
    }
    return p;
}

/* Running or finished blocks, those whose instructions per cycle deviate less from their mean. */
static uint32_t smaller_deviation(const pace_of_kernel *p, const gpump_cost_history *h, uint32_t finished) {
    if (p->running < 2) return finished < 2 ? GPUMP_COST_CPI_SOURCES : GPUMP_COST_CPI_FINISHED;
    if (finished < 2) return GPUMP_COST_CPI_RUNNING;
    return gpumpi_compare_products(spread(p->running, p->sum, p->squares), (uint64_t)finished * (finished - 1),
                                   spread(finished, h->deviation_sum, h->deviation_squares),
                                   p->running * (p->running - 1)) <= 0
               ? GPUMP_COST_CPI_RUNNING
               : GPUMP_COST_CPI_FINISHED;
}

/* The instructions of a block of the kernel: the mean, or the most when the drain is careful. */
static uint64_t length_of(const costs *c, const gpump_block_view *b, const gpump_cost_history *h, uint32_t finished) {
    uint64_t length = h ? (h->instructions_sum + finished - 1) / finished : GPUMP_UNKNOWN;
    for (uint32_t k = 0; h && c->careful && !(b->may & 1) && k < finished; k++)
        if (h->instructions[k] > length) length = h->instructions[k];
    return length;
}

static uint64_t cpi_by_hand(uint32_t source, const gpump_block_view *b, const gpump_cost_history *h,
                            uint32_t finished) {
    const uint64_t own = gpumpi_cost_cpi_of(b->executed, b->cycles);
    const uint64_t others = h ? (h->cpi_sum + finished - 1) / finished : GPUMP_UNKNOWN;
    if (source == GPUMP_COST_CPI_RUNNING) return own;
    if (source == GPUMP_COST_CPI_FINISHED) return others;
    if (source != GPUMP_COST_CPI_LARGER) return GPUMP_UNKNOWN;
    return own == GPUMP_UNKNOWN || (others != GPUMP_UNKNOWN && others > own) ? others : own;
}

static void check_estimate(const costs *c, const gpump_gpu *gpu, uint32_t i, const gpump_cost_estimate *e,
                           uint64_t seed, uint64_t n) {
    const gpump_block_view *b = &c->blocks[i];
    const gpump_cost_history *h = b->kernel < 4 && c->histories[b->kernel].finished ? &c->histories[b->kernel] : NULL;
    const pace_of_kernel running = pace_of(c, b->kernel);
    const uint32_t finished = h ? gpumpi_cost_history_count(h) : 0;
    const uint64_t ipc = gpumpi_cost_cpi_of(running.cycles, running.executed); /* the fraction turned over */
    const uint64_t length = length_of(c, b, h, finished), save = gpump_gpu_save_cycles(gpu, b->context_bytes);
    uint32_t source = c->options.cpi;
    uint64_t drain;
    if (source == GPUMP_COST_CPI_SMALLER_DEVIATION) {
        source = smaller_deviation(&running, h, finished);
        test_check(gpumpi_cost_cpi_source(h, c->blocks, c->count, b->kernel) == source, seed, n);
    }
    drain = length == GPUMP_UNKNOWN
                ? GPUMP_UNKNOWN
                : times_q16(length > b->executed ? length - b->executed : 0, cpi_by_hand(source, b, h, finished));
    test_check(e->latency[GPUMP_TECHNIQUE_FLUSH] == 0, seed, n);
    test_check(e->overhead[GPUMP_TECHNIQUE_FLUSH] == b->executed, seed, n);
    test_check(e->latency[GPUMP_TECHNIQUE_SWITCH] == save, seed, n);
    test_check(e->overhead[GPUMP_TECHNIQUE_SWITCH] == times_q16(twice(save), ipc), seed, n);
    test_check(e->latency[GPUMP_TECHNIQUE_DRAIN] == drain, seed, n);
    test_check(e->overhead[GPUMP_TECHNIQUE_DRAIN] == (drain == GPUMP_UNKNOWN ? GPUMP_UNKNOWN : 0), seed, n);
    if (c->with_rewind) {
        const uint64_t rewind = gpump_gpu_save_cycles(gpu, c->rewind[i].bytes);
        test_check(e->latency[GPUMP_TECHNIQUE_REWIND] == rewind, seed, n);
        test_check(e->overhead[GPUMP_TECHNIQUE_REWIND] ==
                       gpump_add_saturated(c->rewind[i].executed, times_q16(twice(rewind), ipc)),
                   seed, n);
    } else {
        test_check(e->latency[GPUMP_TECHNIQUE_REWIND] == GPUMP_UNKNOWN, seed, n);
        test_check(e->overhead[GPUMP_TECHNIQUE_REWIND] == GPUMP_UNKNOWN, seed, n);
    }
}

/* The estimates of random blocks are those of the formulas. */
static void estimates_follow_the_formulas(void **state) {
    uint64_t seed = test_seed(), random = seed;
    static costs c;
    gpump_gpu gpu;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL), GPUMP_OK);
    for (uint64_t n = 0; n < test_cases(20000); n++) {
        gpump_cost_estimate estimates[8];
        draw_costs(&c, &random);
        memset(estimates, 0, sizeof estimates);
        assert_int_equal(estimate_blocks(&gpu, c.histories, 4, c.blocks, c.count, c.with_rewind ? c.rewind : NULL,
                                         &c.options, estimates, NULL),
                         GPUMP_OK);
        for (uint32_t i = 0; i < c.count; i++) check_estimate(&c, &gpu, i, &estimates[i], seed, n);
    }
}

/* Drains that fit the limit hold the SM until the last of them; each is charged for the slots it leaves idle. */
static void drains_are_charged_for_the_slots_they_leave_idle(void **state) {
    gpump_gpu gpu;
    gpump_cost_history history[2];
    gpump_block_view blocks[3];
    gpump_cost_estimate e[3];
    gpump_cost_options options = {GPUMP_COST_CPI_FINISHED, GPUMP_COST_DRAIN_LOSES, 0};
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL), GPUMP_OK);
    memset(history, 0, sizeof history);
    memset(blocks, 0, sizeof blocks);
    gpump_cost_history_record(&history[1], 1000, 2000); /* 2 cycles each */
    for (uint32_t i = 0; i < 3; i++) {
        blocks[i].kernel = 1;
        blocks[i].executed = 900 - 300 * i; /* drains take 200, 800 and 1400 cycles */
        blocks[i].cycles = blocks[i].executed * 2;
    }
    for (uint64_t limit = 798; limit <= 802; limit++) {
        options.limit_cycles = limit;
        assert_int_equal(estimate_blocks(&gpu, history, 2, blocks, 3, NULL, &options, e, NULL), GPUMP_OK);
        assert_int_equal(e[0].latency[GPUMP_TECHNIQUE_DRAIN], 200);
        assert_int_equal(e[0].overhead[GPUMP_TECHNIQUE_DRAIN], limit < 800 ? 0 : 300); /* 600 cycles at half an IPC */
        assert_int_equal(e[1].overhead[GPUMP_TECHNIQUE_DRAIN], 0);
        assert_int_equal(e[2].overhead[GPUMP_TECHNIQUE_DRAIN], 0);
    }
    diagnosed_null(gpump_cost_estimate_blocks(NULL, history, 2, blocks, 3, NULL, &options, e, DIAG),
                   "port, blocks or estimates");
    diagnosed_null(estimate_blocks(&gpu, history, 2, NULL, 3, NULL, &options, e, DIAG), "port, blocks or estimates");
    diagnosed_null(estimate_blocks(&gpu, history, 2, blocks, 3, NULL, &options, NULL, DIAG),
                   "port, blocks or estimates");
    diagnosed(estimate_blocks(&gpu, history, 2, blocks, 65, NULL, &options, e, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0,
              65, 0, 64);
    options.cpi = GPUMP_COST_CPI_SOURCES;
    diagnosed(estimate_blocks(&gpu, history, 2, blocks, 3, NULL, &options, e, DIAG), GPUMP_ERROR_ARGUMENT,
              "options.cpi", 0, 4, 0, 3);
    assert_int_equal(gpump_cost_history_bits(), 64 * 64 + 5 * 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_geometries_are_refused),
        cmocka_unit_test(wrong_questions_are_refused),
        cmocka_unit_test(arrays_that_are_too_small_stay_as_they_are),
        cmocka_unit_test(more_than_64_sms_need_scratch_memory_to_the_byte),
        cmocka_unit_test(a_block_that_leaves_at_the_limit_is_in_time),
        cmocka_unit_test(positions_beyond_the_count_take_no_part),
        cmocka_unit_test(the_cheapest_way_out_of_a_full_sm),
        cmocka_unit_test(entries_of_parked_blocks),
        cmocka_unit_test(histories_count_up_to_their_limits),
        cmocka_unit_test(the_smaller_deviation_is_found_beyond_64_bits),
        cmocka_unit_test(estimates_follow_the_formulas),
        cmocka_unit_test(drains_are_charged_for_the_slots_they_leave_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
