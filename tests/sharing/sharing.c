/* labels: unit property */
/* A group of kernels that share SMs: a toy machine in closed form reports to it, and its states, caps and decisions are
 * checked at every step. */
#include "diagnosed.h"

enum { SMS = 16 };
static uint64_t random_state;
static uint64_t draw(uint64_t below) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}

/* A kernel of the toy: what one SM asks for grows with its blocks up to `flat` of them, and so does the part of its
 * misses that go to DRAM. */
typedef struct toy_kernel {
    uint32_t misses, instructions; /* per 1000 cycles and block */
    uint32_t dram_percent, flat, blocks;
} toy_kernel;
static const toy_kernel network_kernel = {20, 60, 10, 4, 8}, latency_kernel = {3, 400, 30, 8, 8},
                        dram_kernel = {12, 200, 100, 4, 8};

static gpump_traffic traffic_of(const toy_kernel *kernel, uint32_t blocks, uint64_t cycles, uint32_t sms) {
    gpump_traffic traffic;
    uint64_t busy = blocks < kernel->flat ? blocks : kernel->flat, misses = kernel->misses * busy * cycles * sms / 1000;
    memset(&traffic, 0, sizeof traffic);
    traffic.cycles = cycles;
    traffic.issued = kernel->instructions * busy * cycles * sms / 1000;
    traffic.l1_load_misses = misses;
    traffic.flits_up = misses;
    traffic.flits_down = 5 * misses;
    traffic.dram_read_bytes = 128 * misses * kernel->dram_percent * (8 + busy) / (8 + kernel->flat) / 100;
    return traffic;
}

/* The toy machine: blocks at once where they may be, and gone at once when told to leave, or later. */
typedef struct toy {
    gpump_partition_config machine;
    gpump_sharing_config config;
    gpump_sharing *sharing;
    const toy_kernel *kernels[GPUMP_PARTITION_KERNELS];
    uint32_t caps[SMS][GPUMP_PARTITION_KERNELS], blocks[SMS][GPUMP_PARTITION_KERNELS];
    gpump_rate_limits limits[GPUMP_PARTITION_KERNELS];
    uint32_t measured, vacated, lazy, joined;
    const gpump_partition_policy *own; /* instead of the named one */
    uint64_t now;
    size_t bytes;
} toy;

static void toy_make_in_turn(toy *t, uint32_t members, uint32_t in_turn) {
    memset(t, 0, sizeof *t);
    assert_int_equal(gpump_preset(&gpump_partition_component, &t->machine, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_sharing_component, &t->config, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_int_equal(t->config.sms, SMS);
    t->config.members = members;
    t->config.in_turn = in_turn;
    t->config.technique = GPUMP_TECHNIQUE_SWITCH;
    t->config.keep = GPUMP_PARTS_IN_PLACE;
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &t->config, &t->bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_sharing_component, malloc(t->bytes), t->bytes, &t->config, &t->sharing, NULL),
                     GPUMP_OK);
}
static void toy_make(toy *t, uint32_t members) { toy_make_in_turn(t, members, 0); }
static uint32_t toy_join_with(toy *t, const toy_kernel *kernel, uint32_t threads, uint32_t registers) {
    gpump_sharing_kernel joins;
    uint32_t member;
    memset(&joins, 0, sizeof joins);
    joins.kernel = 100 + t->joined++;
    joins.blocks = kernel->blocks;
    joins.priority = 1;
    joins.need.threads = threads;
    joins.need.registers = registers;
    assert_int_equal(gpump_sharing_join(t->sharing, t->now, &joins, &member, NULL), GPUMP_OK);
    t->kernels[member] = kernel;
    return member;
}
static uint32_t toy_join(toy *t, const toy_kernel *kernel) { return toy_join_with(t, kernel, 256, 8192); }
/* Reports the SM's residents, as a host without gpump_sm fills them: kernel and threads, and nothing else. */
static void toy_report(toy *t, uint32_t sm, uint32_t member, uint32_t blocks) {
    gpump_block_view residents[GPUMP_PARTITION_KERNELS * 64];
    uint32_t count = 0;
    t->blocks[sm][member] = blocks;
    memset(residents, 0, sizeof residents);
    for (uint32_t i = 0; i < GPUMP_PARTITION_KERNELS; i++)
        for (uint32_t n = 0; i < t->config.members && n < t->blocks[sm][i]; n++, count++) {
            residents[count].kernel = gpumpi_sharing_member_of(t->sharing, i)->kernel.kernel;
            residents[count].threads = 32;
        }
    assert_int_equal(gpump_sharing_report_residents(t->sharing, t->now, sm, residents, count), GPUMP_OK);
}
/* The member furthest below its cap on an SM, the lowest of equals, looked for in the plainest way. */
static uint32_t furthest_below(const toy *t, uint32_t sm) {
    for (uint32_t below = GPUMP_PARTITION_KERNELS * 64; below > 0; below--)
        for (uint32_t member = 0; member < t->config.members; member++)
            if (t->blocks[sm][member] + below == t->caps[sm][member]) return member;
    return t->config.members;
}
/* Carries out all actions, fills the SMs up to their caps, and reports what was measured. */
static void toy_step(toy *t, const char *policy) {
    gpump_sharing_action action;
    uint32_t sm, member;
    assert_int_equal(
        gpump_sharing_advance(t->sharing, t->now, t->own ? t->own : gpump_partition_find(policy), &t->machine, NULL),
        GPUMP_OK);
    while (memset(&action, 0xee, sizeof action), gpump_sharing_next(t->sharing, &action) == GPUMP_OK) {
        assert_int_equal(action.technique, action.kind == GPUMP_SHARING_VACATE ? t->config.technique : 0);
        assert_int_equal(action.keep, action.kind == GPUMP_SHARING_VACATE ? t->config.keep : 0);
        if (action.kind != GPUMP_SHARING_CAP && action.kind != GPUMP_SHARING_VACATE) assert_int_equal(action.blocks, 0);
        switch (action.kind) {
        case GPUMP_SHARING_CAP: t->caps[action.sm][action.member] = action.blocks; break;
        case GPUMP_SHARING_RATE: t->limits[action.member] = action.limits; break;
        case GPUMP_SHARING_MEASURE: t->measured++; break;
        default:
            t->vacated += action.blocks;
            assert_int_equal(t->blocks[action.sm][action.member] - t->caps[action.sm][action.member], action.blocks);
        }
    }
    for (sm = 0; sm < SMS; sm++)
        for (member = 0; member < t->config.members; member++)
            while (t->blocks[sm][member] > t->caps[sm][member] && !(t->lazy && draw(t->lazy)))
                toy_report(t, sm, member, t->blocks[sm][member] - 1);
    for (sm = 0; sm < SMS; sm++)
        while ((member = gpump_sharing_pick(t->sharing, sm)) < t->config.members) {
            assert_true(gpump_sharing_may_place(t->sharing, sm, member));
            assert_int_equal(member, furthest_below(t, sm));
            toy_report(t, sm, member, t->blocks[sm][member] + 1);
        }
    if (gpump_sharing_state_now(t->sharing) != GPUMP_SHARING_REPORT) return;
    for (member = 0; member < t->config.members && gpump_sharing_trial(t->sharing); member++) {
        gpump_traffic traffic;
        if (!t->kernels[member]) continue;
        traffic = traffic_of(t->kernels[member], t->blocks[0][member], t->config.sample_cycles, SMS);
        assert_int_equal(gpump_sharing_report_window(t->sharing, t->now, member, &t->machine, &traffic, NULL),
                         GPUMP_OK);
    }
    if (gpump_sharing_trial(t->sharing)) return;
    for (sm = SMS; sm-- > 0;) { /* the last SM, which has most blocks, first: the order of reports decides nothing */
        gpump_traffic traffic;
        member = gpump_sharing_sampled(t->sharing, sm);
        assert_true(member < t->config.members);
        traffic = traffic_of(t->kernels[member], t->blocks[sm][member], t->config.sample_cycles, 1);
        assert_int_equal(gpump_sharing_report_sample(t->sharing, t->now, sm, &t->machine, &traffic, NULL), GPUMP_OK);
    }
}
static void toy_run_until(toy *t, const char *policy, uint32_t state) {
    uint32_t steps;
    for (steps = 0; steps < 2000; steps++) {
        toy_step(t, policy);
        if (gpump_sharing_state_now(t->sharing) == state && !t->sharing->above) return;
        t->now += 250;
    }
    fail_msg("the group never reaches state %u; it is in %u", state, gpump_sharing_state_now(t->sharing));
}

/* The bits of a group of 16 SMs by hand; configurations that do not fit are refused. */
static void bits_and_limits_of_a_group(void **state) {
    gpump_sharing_config config;
    gpump_diag diag;
    size_t bytes;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sharing_component, &config, "nonsense", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_sharing_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_int_equal(gpump_bits(&gpump_sharing_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, 16 * (2 * 12 + 48) + 2 * 98);
    config.in_turn = 1;
    assert_int_equal(gpump_bits(&gpump_sharing_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, 16 * (2 * 12 + 2 * 48) + 2 * 98);
    config.in_turn = 0;
    config.sms = 1;
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "sms");
    config.sms = 16;
    config.technique = GPUMP_TECHNIQUE_OWN; /* nobody has defined one */
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "technique");
    config.technique = GPUMP_TECHNIQUE_DRAIN;
    config.keep = GPUMP_PART_REGISTERS; /* a block that drains keeps nothing */
    diagnosed(gpump_bytes(&gpump_sharing_component, &config, &bytes, DIAG), GPUMP_ERROR_CONFIG, "keep", 0,
              GPUMP_PART_REGISTERS, 0, 0);
    config.technique = GPUMP_TECHNIQUE_SWITCH;
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &config, &bytes, &diag), GPUMP_OK);
    config.keep = GPUMP_PART_STACKS;
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
}

/* A kernel alone runs at once with all its blocks; nobody is measured. */
static void a_kernel_alone_has_all_blocks_unmeasured(void **state) {
    toy t;
    gpump_partition_share share;
    uint32_t kind;
    (void)state;
    toy_make(&t, 2);
    assert_int_equal(toy_join(&t, &latency_kernel), 0);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_RUN);
    assert_true(t.now <= 250);
    assert_int_equal(t.blocks[0][0], 8);
    assert_int_equal(t.blocks[15][0], 8);
    assert_int_equal(t.limits[0].misses_q16, GPUMP_RATE_NO_LIMIT);
    assert_int_equal(t.measured, 0);
    assert_int_equal(gpump_sharing_share(t.sharing, 0, &share, &kind), GPUMP_OK);
    assert_int_equal(gpump_sharing_share(t.sharing, 1, &share, &kind), GPUMP_EMPTY);
    free(t.sharing);
}

/* Two kernels: the group measures each with 1 to 8 blocks, and decides what Algorithm 1 decides on the exact curves. */
static void two_measured_kernels_get_what_algorithm_1_decides(void **state) {
    static const char *const policies[] = {"ccbp", "smk", "ws", "even", "spatial"};
    uint32_t p;
    (void)state;
    for (p = 0; p < 2 * (sizeof policies / sizeof *policies); p++) {
        const char *const policy = policies[p / 2];
        const uint32_t in_turn = p % 2;
        toy t;
        gpump_partition_point curves[2][8];
        gpump_partition_kernel kernels[2];
        gpump_partition_request request;
        gpump_partition_share expected[2], share;
        gpump_demand demands[2];
        uint32_t k, c, sm, kind;
        toy_make_in_turn(&t, 2, in_turn);
        toy_join(&t, &latency_kernel);
        toy_run_until(&t, policy, GPUMP_SHARING_RUN);
        toy_join(&t, &network_kernel);
        toy_run_until(&t, policy, GPUMP_SHARING_WARM);
        /* SM j measures kernel j mod 2 with j / 2 + 1 blocks; in turn, the first kernel with j mod 8 + 1. */
        for (sm = 0; sm < SMS; sm++) {
            assert_int_equal(t.blocks[sm][in_turn ? 0 : sm % 2], in_turn ? sm % 8 + 1 : sm / 2 + 1);
            assert_int_equal(t.blocks[sm][in_turn ? 1 : 1 - sm % 2], 0);
        }
        assert_true(t.vacated > 0); /* the first kernel's blocks had to leave */
        toy_run_until(&t, policy, GPUMP_SHARING_RUN);
        assert_int_equal(t.measured, in_turn ? 2 : 1);
        memset(kernels, 0, sizeof kernels);
        memset(&request, 0, sizeof request);
        request.count = 2;
        request.config = &t.machine;
        request.kernels = kernels;
        for (k = 0; k < 2; k++) {
            for (c = 1; c <= 8; c++) {
                gpump_traffic traffic = traffic_of(t.kernels[k], c, t.config.sample_cycles, 1);
                assert_int_equal(gpump_partition_demand(&t.machine, &traffic, 1, &demands[k], NULL), GPUMP_OK);
                curves[k][c - 1].network_q16 = demands[k].network_q16;
                curves[k][c - 1].dram_q16 = demands[k].dram_q16;
                curves[k][c - 1].speed_q16 = demands[k].speed_q16;
            }
            kernels[k].need.threads = 256;
            kernels[k].need.registers = 8192;
            kernels[k].kind = gpump_partition_classify(&t.machine, &demands[k], GPUMP_PARTITION_CLASSES);
            kernels[k].blocks = 8;
            kernels[k].priority = 1;
            kernels[k].curve = curves[k];
            kernels[k].demand = &demands[k];
        }
        assert_int_equal(kernels[0].kind, GPUMP_PARTITION_LATENCY);
        assert_int_equal(kernels[1].kind, GPUMP_PARTITION_NETWORK);
        assert_int_equal(gpump_partition_decide(gpump_partition_find(policy), &request, expected, NULL), GPUMP_OK);
        for (k = 0; k < 2; k++) {
            assert_int_equal(gpump_sharing_share(t.sharing, k, &share, &kind), GPUMP_OK);
            assert_memory_equal(&share, &expected[k], sizeof share);
            assert_int_equal(kind, kernels[k].kind);
            assert_memory_equal(&t.limits[k], &share.limits, sizeof share.limits);
            for (sm = 0; sm < SMS; sm++)
                assert_int_equal(t.blocks[sm][k],
                                 sm >= share.first_sm && sm < share.first_sm + share.sms ? share.blocks : 0);
        }
        free(t.sharing);
    }
}

/* More blocks than SMs: the SMs of a kernel have equal steps up to all of its blocks, and the curve between two steps
 * is a line. A kernel whose demand is a line is then divided as by its exact curve. */
static void more_blocks_than_sms(void **state) {
    static const toy_kernel many = {1, 40, 0, 32, 32};
    toy t;
    gpump_partition_point curves[2][32];
    gpump_partition_kernel kernels[2];
    gpump_partition_request request;
    gpump_partition_share expected[2], share;
    gpump_demand demands[2];
    uint32_t k, c, kind;
    (void)state;
    toy_make(&t, 2);
    toy_join_with(&t, &many, 64, 1024);
    toy_join_with(&t, &many, 64, 2048);
    toy_run_until(&t, "crisp", GPUMP_SHARING_WARM);
    for (c = 0; c < SMS; c++) assert_int_equal(t.blocks[c][c % 2], 4 * (c / 2 + 1));
    toy_run_until(&t, "crisp", GPUMP_SHARING_RUN);
    memset(kernels, 0, sizeof kernels);
    memset(&request, 0, sizeof request);
    request.count = 2;
    request.config = &t.machine;
    request.kernels = kernels;
    for (k = 0; k < 2; k++) {
        for (c = 1; c <= 32; c++) {
            gpump_traffic traffic = traffic_of(&many, c, t.config.sample_cycles, 1);
            assert_int_equal(gpump_partition_demand(&t.machine, &traffic, 1, &demands[k], NULL), GPUMP_OK);
            curves[k][c - 1].network_q16 = demands[k].network_q16;
            curves[k][c - 1].dram_q16 = demands[k].dram_q16;
            curves[k][c - 1].speed_q16 = demands[k].speed_q16;
        }
        kernels[k].need.threads = 64;
        kernels[k].need.registers = k ? 2048 : 1024;
        kernels[k].blocks = 32;
        kernels[k].priority = 1;
        kernels[k].curve = curves[k];
        kernels[k].demand = &demands[k];
    }
    assert_int_equal(gpump_partition_decide(gpump_partition_find("ccbp"), &request, expected, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_leave(t.sharing, t.now, 1), GPUMP_OK);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_RUN);
    toy_join_with(&t, &many, 64, 2048);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_RUN);
    for (k = 0; k < 2; k++) {
        assert_int_equal(gpump_sharing_share(t.sharing, k, &share, &kind), GPUMP_OK);
        assert_int_equal(share.blocks, expected[k].blocks);
        assert_in_range(share.network_q16, expected[k].network_q16 - 8, expected[k].network_q16 + 8); /* rounding */
        assert_in_range(share.limits.misses_q16, expected[k].limits.misses_q16 - 64,
                        expected[k].limits.misses_q16 + 64);
    }
    free(t.sharing);
}

/* A policy of the host's own sees the measured curves, and itself. */
static gpump_partition_point seen_curves[2][40];
static const gpump_partition_policy *seen_policy;
static void remember(const gpump_partition_args *args, gpump_partition_share *shares) {
    assert_int_equal(args->request->flags, 0);
    for (uint32_t k = 0; k < args->request->count; k++) {
        memcpy(seen_curves[k], args->request->kernels[k].curve,
               args->request->kernels[k].blocks * sizeof(**seen_curves));
        shares[k].blocks = 1;
    }
    seen_policy = args->policy;
}
/* What a kernel brings when it joins is what the policy is asked about, in the order of the members. */
static gpump_partition_kernel asked[2];
static void remember_kernels(const gpump_partition_args *args, gpump_partition_share *shares) {
    for (uint32_t k = 0; k < 2; k++) asked[k] = args->request->kernels[k], shares[k].blocks = 1;
}

/* All that a host says of a kernel (need, blocks, priority, part) reaches the policy. */
static void all_that_a_kernel_brings_reaches_the_policy(void **state) {
    gpump_partition_policy own = *gpump_partition_find("even");
    gpump_sharing_kernel kernels[2] = {{7, 8, 3, {128, 4096, 1024}, 2}, {9, 5, 4, {64, 2048, 512}, 1}};
    uint32_t member;
    toy t;
    (void)state;
    own.decide = remember_kernels;
    own.name = "remember_kernels";
    memset(&t, 0, sizeof t);
    toy_make(&t, 2);
    for (uint32_t k = 0; k < 2; k++) {
        assert_int_equal(gpump_sharing_join(t.sharing, 0, &kernels[k], &member, NULL), GPUMP_OK);
        t.kernels[member] = &network_kernel;
    }
    toy_run_until(&t, "even", GPUMP_SHARING_REPORT);
    assert_int_equal(gpump_sharing_advance(t.sharing, t.now, &own, &t.machine, NULL), GPUMP_OK);
    for (uint32_t k = 0; k < 2; k++) {
        assert_memory_equal(&asked[k].need, &kernels[k].need, sizeof asked[k].need);
        assert_int_equal(asked[k].blocks, kernels[k].blocks);
        assert_int_equal(asked[k].priority, kernels[k].priority);
        assert_int_equal(asked[k].part, kernels[k].part);
        assert_non_null(asked[k].demand);
    }
    free(t.sharing);
}

/* Between measured points, the curve that a policy sees lies on the line of demand. */
static void curves_between_measured_points(void **state) {
    static const toy_kernel many = {1, 40, 0, 40, 32};
    gpump_partition_policy own = *gpump_partition_find("even");
    toy t;
    (void)state;
    own.decide = remember;
    own.name = "remember";
    toy_make(&t, 2);
    toy_join_with(&t, &many, 32, 1024);
    toy_join_with(&t, &many, 32, 1024);
    toy_run_until(&t, "even", GPUMP_SHARING_REPORT);
    assert_int_equal(gpump_sharing_advance(t.sharing, t.now, &own, &t.machine, NULL), GPUMP_OK);
    assert_true(seen_policy == &own);
    for (uint32_t c = 1; c <= 32; c++) {
        gpump_traffic traffic = traffic_of(&many, c, t.config.sample_cycles, 1);
        gpump_demand demand;
        assert_int_equal(gpump_partition_demand(&t.machine, &traffic, 1, &demand, NULL), GPUMP_OK);
        for (uint32_t k = 0; k < 2; k++) { /* the demand is a line, but for rounding */
            assert_in_range(seen_curves[k][c - 1].network_q16 + 64, demand.network_q16, demand.network_q16 + 128);
            assert_in_range(seen_curves[k][c - 1].speed_q16 + 64, demand.speed_q16, demand.speed_q16 + 128);
        }
    }
    free(t.sharing);
}

/* Warming and sampling last as long as configured, to the cycle, also when they do not begin at cycle 0; the group
 * decides when the last SM has reported, and windows count only while it runs. */
static void every_state_lasts(void **state) {
    const gpump_partition_policy *ccbp = gpump_partition_find("ccbp");
    gpump_traffic quiet, traffic;
    uint64_t since;
    toy t;
    (void)state;
    toy_make(&t, 2);
    t.now = 100000;
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_WARM);
    quiet = traffic_of(&network_kernel, 1, 10000, SMS);
    traffic = traffic_of(&network_kernel, 8, 10000, SMS);
    for (int i = 0; i < 6; i++)
        assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1, &t.machine, i < 3 ? &quiet : &traffic, NULL),
                         GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_WARM);
    since = t.sharing->since;
    assert_int_equal(gpump_sharing_advance(t.sharing, since + t.config.warm_cycles - 1, ccbp, &t.machine, NULL),
                     GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_WARM);
    since += t.config.warm_cycles;
    assert_int_equal(gpump_sharing_advance(t.sharing, since, ccbp, &t.machine, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_SAMPLE);
    assert_int_equal(gpump_sharing_advance(t.sharing, since + t.config.sample_cycles - 1, ccbp, &t.machine, NULL),
                     GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_SAMPLE);
    t.now = since + t.config.sample_cycles;
    assert_int_equal(gpump_sharing_advance(t.sharing, t.now, ccbp, &t.machine, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_REPORT);
    for (uint32_t sm = 0; sm < SMS; sm++) {
        const uint32_t member = gpump_sharing_sampled(t.sharing, sm);
        assert_int_equal(gpump_sharing_advance(t.sharing, t.now, ccbp, &t.machine, NULL), GPUMP_OK);
        assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_REPORT);
        traffic = traffic_of(t.kernels[member], t.blocks[sm][member], t.config.sample_cycles, 1);
        assert_int_equal(gpump_sharing_report_sample(t.sharing, t.now, sm, &t.machine, &traffic, NULL), GPUMP_OK);
    }
    assert_int_equal(gpump_sharing_advance(t.sharing, t.now, ccbp, &t.machine, NULL), GPUMP_OK);
    assert_int_not_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_REPORT);
    for (uint32_t sm = 0; sm < SMS; sm++) /* nobody is measured any more */
        assert_int_equal(gpump_sharing_sampled(t.sharing, sm), t.config.members);
    free(t.sharing);
}

/* A kernel keeps its class while it uses at least its share less threshold and margin, to the byte. */
static void the_least_that_keeps_a_class(void **state) {
    toy t;
    gpump_partition_share share;
    gpump_traffic traffic, below;
    gpump_demand demand;
    uint32_t kind;
    (void)state;
    toy_make(&t, 2);
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_RUN);
    assert_int_equal(gpump_sharing_share(t.sharing, 1, &share, &kind), GPUMP_OK);
    assert_int_equal(kind, GPUMP_PARTITION_NETWORK);
    traffic = traffic_of(&network_kernel, 1, 1000000, SMS);
    traffic.flits_down = 0;
    do { /* 75 less 5 percent of the share, or a little more */
        below = traffic;
        traffic.flits_down += 1000;
        assert_int_equal(gpump_partition_demand(&t.machine, &traffic, SMS, &demand, NULL), GPUMP_OK);
    } while ((uint64_t)demand.network_q16 * 100 < (uint64_t)share.network_q16 * 70);
    assert_true((uint64_t)demand.network_q16 * 99 < (uint64_t)share.network_q16 * 70); /* fine steps */
    for (int i = 0; i < 4; i++)
        assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1, &t.machine, &traffic, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_RUN);
    for (int i = 0; i < 2; i++)
        assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1, &t.machine, &below, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_MOVE);
    free(t.sharing);
}

/* A place is free when the last block is gone, whichever SM it is on. */
static void a_place_with_blocks_is_taken(void **state) {
    toy t;
    gpump_sharing_kernel joins = {7, 8, 1, {256, 8192, 0}, 0};
    uint32_t member;
    (void)state;
    toy_make(&t, 2);
    toy_join(&t, &latency_kernel);
    toy_join(&t, &dram_kernel);
    for (uint32_t sm = 0; sm < SMS; sm++) toy_report(&t, sm, 1, 1);
    assert_int_equal(gpump_sharing_leave(t.sharing, 0, 1), GPUMP_OK);
    for (uint32_t last = 0; last < SMS; last++) {
        for (uint32_t sm = 0; sm < SMS; sm++) toy_report(&t, sm, 1, sm == last);
        assert_int_equal(gpump_sharing_join(t.sharing, 0, &joins, &member, NULL), GPUMP_ERROR_FULL);
    }
    toy_report(&t, SMS - 1, 1, 0);
    assert_int_equal(gpump_sharing_join(t.sharing, 0, &joins, &member, NULL), GPUMP_OK);
    /* what a check says of numbers that cannot be */
    t.sharing->sampled = 2;
    diagnosed(gpump_check(&gpump_sharing_component, t.sharing, DIAG), GPUMP_ERROR_FORMAT, "sampled", 0, 2, 0, 1);
    t.sharing->sampled = 0;
    t.sharing->now = GPUMP_UNKNOWN;
    diagnosed(gpump_check(&gpump_sharing_component, t.sharing, DIAG), GPUMP_ERROR_FORMAT, "now", 0, GPUMP_UNKNOWN, 0,
              GPUMP_UNKNOWN - 1);
    t.sharing->now = 0;
    t.sharing->above++;
    diagnosed(gpump_check(&gpump_sharing_component, t.sharing, DIAG), GPUMP_ERROR_FORMAT, "above", 0, 1, 0, 0);
    t.sharing->above = 0;
    assert_int_equal(gpump_check(&gpump_sharing_component, t.sharing, NULL), GPUMP_OK);
    t.sharing->config.members = 0;
    diagnosed(gpump_check(&gpump_sharing_component, t.sharing, DIAG), GPUMP_ERROR_FORMAT, "config",
              gpump_sharing_component.methods()->config_at, 0, 0, 0);
    free(t.sharing);
}

/* A member that ends or is preempted loses caps and limits at once; the one that stays gets everything. */
static void a_member_that_leaves_loses_caps_and_limits_at_once(void **state) {
    toy t;
    gpump_sharing_kernel joins = {7, 8, 1, {256, 8192, 0}, 0};
    gpump_diag diag;
    uint32_t sm, member;
    (void)state;
    toy_make(&t, 2);
    toy_join(&t, &latency_kernel);
    toy_join(&t, &dram_kernel);
    assert_int_equal(gpump_sharing_join(t.sharing, t.now, &joins, &member, &diag), GPUMP_ERROR_FULL);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_RUN);
    assert_true(t.limits[1].misses_q16 < GPUMP_RATE_NO_LIMIT);
    assert_int_equal(gpump_sharing_leave(t.sharing, t.now, 1), GPUMP_OK);
    assert_int_equal(gpump_sharing_leave(t.sharing, t.now, 1), GPUMP_ERROR_STATE);
    /* Its place is free when its blocks are gone. */
    assert_int_equal(gpump_sharing_join(t.sharing, t.now, &joins, &member, &diag), GPUMP_ERROR_FULL);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_RUN);
    assert_int_equal(t.limits[1].misses_q16, GPUMP_RATE_NO_LIMIT); /* what it had in flight got home */
    assert_int_equal(t.limits[0].misses_q16, GPUMP_RATE_NO_LIMIT);
    for (sm = 0; sm < SMS; sm++) {
        assert_int_equal(t.blocks[sm][0], 8);
        assert_int_equal(t.blocks[sm][1], 0);
    }
    assert_int_equal(gpump_sharing_join(t.sharing, t.now, &joins, &member, &diag), GPUMP_OK);
    assert_int_equal(member, 1);
    assert_int_equal(gpump_sharing_leave(t.sharing, t.now, 1), GPUMP_OK);
    assert_int_equal(gpump_sharing_leave(t.sharing, t.now, 0), GPUMP_OK);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_EMPTY);
    assert_int_equal(t.blocks[3][0], 0);
    free(t.sharing);
}

/* Two windows in a row that speak for another class begin a new measurement; one does not. */
static void two_windows_of_another_class_measure_anew(void **state) {
    toy t;
    gpump_traffic quiet, usual;
    (void)state;
    toy_make(&t, 2);
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_RUN);
    quiet = traffic_of(&network_kernel, 1, 10000, SMS);
    usual = traffic_of(&network_kernel, 3, 10000, SMS);
    assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1, &t.machine, &quiet, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1, &t.machine, &usual, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1, &t.machine, &quiet, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_RUN);
    assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1, &t.machine, &quiet, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_MOVE);
    toy_run_until(&t, "ccbp", GPUMP_SHARING_RUN);
    /* Windows from before the measurement do not count. */
    assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1, &t.machine, &quiet, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_RUN);
    /* A latency-sensitive member that uses more than the threshold is none. */
    usual = traffic_of(&dram_kernel, 8, 10000, SMS);
    assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 0, &t.machine, &usual, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 0, &t.machine, &usual, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_MOVE);
    free(t.sharing);
}

/* A policy that answers differently each time it is asked. */
static uint32_t rotated;
static void decide_one_of_three(const gpump_partition_args *args, gpump_partition_share *shares) {
    static const uint32_t blocks[3][2] = {{1, 7}, {4, 4}, {7, 1}};
    uint32_t k;
    for (k = 0; k < 2; k++) shares[k].blocks = blocks[(args->request->candidate + rotated) % 3][k];
}
static const gpump_partition_policy three = {3, "three", "One of three divisions.", NULL, decide_one_of_three};

/* Two candidates are as many as are tried out: each member runs alone, then both divisions. */
static void two_candidates_are_enough_to_try(void **state) {
    gpump_partition_policy two = three;
    toy t;
    (void)state;
    two.candidates = 2;
    for (rotated = 0; rotated < 2; rotated++) { /* (4, 4) is the second, then the first */
        toy_make(&t, 2);
        t.own = &two;
        toy_join(&t, &latency_kernel);
        toy_join(&t, &network_kernel);
        toy_run_until(&t, NULL, GPUMP_SHARING_RUN);
        assert_int_equal(t.measured, 1 + 2 + 2);
        assert_int_equal(t.blocks[9][0], 4);
        free(t.sharing);
    }
    rotated = 0;
}

/* What a policy is told of kernels with four times as many blocks as SMs that measure them: every fourth point is
 * measured, and those between lie on lines, field by field. */
static gpump_partition_point told[2][32];
static void decide_by_halves(const gpump_partition_args *args, gpump_partition_share *shares) {
    for (uint32_t k = 0; k < 2; k++) {
        memcpy(told[k], args->request->kernels[k].curve, sizeof told[k]);
        shares[k].blocks = 16;
    }
}
static void decide_by_halves_of_8(const gpump_partition_args *args, gpump_partition_share *shares) {
    for (uint32_t k = 0; k < 2; k++) {
        memcpy(told[k], args->request->kernels[k].curve, 8 * sizeof *told[k]);
        shares[k].blocks = 4;
    }
}

/* A point between two measured ones is their interpolation, to the last bit. */
static void points_between_lie_on_lines(void **state) {
    static const toy_kernel kernels[2] = {{2, 30, 60, 32, 32}, {3, 20, 30, 32, 32}};
    const gpump_partition_policy halves = {0, "halves", "Half of each.", NULL, decide_by_halves};
    toy t;
    (void)state;
    toy_make(&t, 2);
    t.own = &halves;
    for (uint32_t k = 0; k < 2; k++) toy_join_with(&t, &kernels[k], 32, 1024);
    toy_run_until(&t, NULL, GPUMP_SHARING_RUN);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t n = 4; n < 32; n++) { /* n + 1 blocks */
            const gpump_partition_point *low = &told[k][n / 4 * 4 - 1], *high = low + 4, *point = &told[k][n];
            const uint32_t part = n % 4 + 1;
            assert_true(high->dram_q16 > low->dram_q16 && high->network_q16 > low->network_q16);
            assert_int_equal(point->network_q16,
                             ((uint64_t)low->network_q16 * (4 - part) + (uint64_t)high->network_q16 * part) / 4);
            assert_int_equal(point->dram_q16,
                             ((uint64_t)low->dram_q16 * (4 - part) + (uint64_t)high->dram_q16 * part) / 4);
            assert_int_equal(point->speed_q16,
                             ((uint64_t)low->speed_q16 * (4 - part) + (uint64_t)high->speed_q16 * part) / 4);
        }
    free(t.sharing);
}

/* Each member runs alone, then each candidate is tried, and the one under which the kernels are fastest is kept: four
 * blocks each, as the second kernel is as fast with four as with eight. */
static void the_best_candidate_is_kept(void **state) {
    uint32_t best = 0;
    (void)state;
    for (rotated = 0; rotated < 3; rotated++) {
        toy t;
        gpump_partition_share share;
        uint32_t seen = 0, steps, kind;
        toy_make(&t, 2);
        t.own = &three;
        toy_join(&t, &latency_kernel);
        toy_join(&t, &network_kernel);
        for (steps = 0; steps < 2000 && gpump_sharing_state_now(t.sharing) != GPUMP_SHARING_RUN;
             steps++, t.now += 250) {
            const uint32_t trial = gpump_sharing_trial(t.sharing);
            if (trial) assert_int_equal(gpump_sharing_share(t.sharing, 1, &share, &kind), GPUMP_EMPTY);
            toy_step(&t, NULL);
            assert_int_equal(gpump_check(&gpump_sharing_component, t.sharing, NULL), GPUMP_OK);
            seen |= 1u << gpump_sharing_trial(t.sharing);
            if (trial != gpump_sharing_trial(t.sharing) && gpump_sharing_trial(t.sharing))
                assert_int_equal(gpump_sharing_trial(t.sharing), trial + 1);
            if (gpump_sharing_state_now(t.sharing) == GPUMP_SHARING_SAMPLE && trial && trial <= 2)
                for (uint32_t sm = 0; sm < SMS; sm++) { /* a member alone: all its blocks on all SMs */
                    assert_int_equal(t.blocks[sm][trial - 1], 8);
                    assert_int_equal(t.blocks[sm][2 - trial], 0);
                }
        }
        assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_RUN);
        assert_int_equal(seen, 0x3f); /* no trial, two members alone, three candidates */
        assert_int_equal(t.measured, 1 + 2 + 3);
        assert_int_equal(t.sharing->decisions, 1);
        best |= 1u << t.sharing->best;
        assert_int_equal(gpump_sharing_share(t.sharing, 1, &share, &kind), GPUMP_OK); /* whichever was the best */
        assert_int_equal(share.blocks, 4);
        assert_int_equal(t.blocks[9][0], 4);
        assert_int_equal(t.blocks[9][1], 4);
        free(t.sharing);
    }
    assert_int_equal(best, 7); /* each candidate was the best one once */
}

/* A group at its first REPORT: two members, and SM j measures member j mod 2 with j / 2 + 1 blocks. */
static void toy_make_reporting(toy *t, const gpump_partition_policy *own) {
    gpump_sharing_action action;
    toy_make(t, 2);
    t->own = own;
    toy_join(t, &latency_kernel);
    toy_join(t, &network_kernel);
    while (gpump_sharing_state_now(t->sharing) != GPUMP_SHARING_REPORT) {
        assert_int_equal(gpump_sharing_advance(t->sharing, t->now, own, &t->machine, NULL), GPUMP_OK);
        while (gpump_sharing_next(t->sharing, &action) == GPUMP_OK) {}
        t->now += 250;
    }
}
/* The sample of every SM, the first one too, is the point of the curve that the policy sees. */
static void the_sample_of_every_sm_reaches_the_curve(void **state) {
    const gpump_partition_policy one = {0, "one", "Half of each.", NULL, decide_by_halves_of_8};
    gpump_demand demand[SMS];
    toy t;
    (void)state;
    toy_make_reporting(&t, &one);
    for (uint32_t sm = 0; sm < SMS; sm++) {
        gpump_traffic traffic = traffic_of(&dram_kernel, 4, 10000, 1);
        traffic.issued = 1000 + 700 * (sm ^ 5u); /* no line */
        traffic.flits_down += 900 * (sm ^ 3u);
        traffic.dram_read_bytes += 5000 * (sm ^ 9u);
        assert_int_equal(gpump_partition_demand(&t.machine, &traffic, 1, &demand[sm], NULL), GPUMP_OK);
        assert_int_equal(gpump_sharing_report_sample(t.sharing, t.now, sm, &t.machine, &traffic, NULL), GPUMP_OK);
    }
    assert_int_equal(gpump_sharing_advance(t.sharing, t.now, &one, &t.machine, NULL), GPUMP_OK);
    for (uint32_t sm = 0; sm < SMS; sm++) {
        const gpump_partition_point *point = &told[sm % 2][sm / 2];
        assert_int_equal(point->speed_q16, demand[sm].speed_q16);
        assert_int_equal(point->network_q16, demand[sm].network_q16);
        assert_int_equal(point->dram_q16, demand[sm].dram_q16);
    }
    free(t.sharing);
}
/* A group whose members change discards all samples: it waits for a report of every SM again, each time as long as
 * before. */
static void a_group_that_changes_is_measured_anew(void **state) {
    toy t;
    (void)state;
    toy_make(&t, 3);
    t.own = &three;
    t.now = 7000;
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    for (uint32_t change = 0; change < 2; change++) {
        uint32_t warm = 0, waited = 0;
        for (uint32_t steps = 0; steps < 2000 && gpump_sharing_state_now(t.sharing) != GPUMP_SHARING_RUN; steps++) {
            if (gpump_sharing_state_now(t.sharing) == GPUMP_SHARING_WARM) {
                assert_true(gpump_next_cycle(&gpump_sharing_component, t.sharing) ==
                            t.sharing->since + t.config.warm_cycles);
                assert_true(t.sharing->since >= 7000);
                warm++;
            }
            if (gpump_sharing_state_now(t.sharing) == GPUMP_SHARING_SAMPLE && !gpump_sharing_trial(t.sharing) &&
                gpump_next_cycle(&gpump_sharing_component, t.sharing) <= t.now)
                for (int again = 0; again < 2; again++, waited++) { /* nothing has been reported yet */
                    assert_int_equal(gpump_sharing_advance(t.sharing, t.now, &three, &t.machine, NULL), GPUMP_OK);
                    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_REPORT);
                    assert_true(gpump_next_cycle(&gpump_sharing_component, t.sharing) == GPUMP_UNKNOWN);
                }
            toy_step(&t, NULL);
            t.now += 250;
        }
        assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_RUN);
        assert_true(warm && waited);
        if (!change) toy_join(&t, &dram_kernel);
    }
    free(t.sharing);
}
/* A trial is over when every member has reported in it, and no report counts for the next trial. */
static void a_trial_waits_for_every_member(void **state) {
    gpump_sharing_action action;
    toy t;
    (void)state;
    toy_make(&t, 2);
    t.own = &three;
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    while (!gpump_sharing_trial(t.sharing)) toy_step(&t, NULL), t.now += 250;
    for (uint32_t trial = 1; trial <= 5; t.now += 250) {
        const gpump_traffic traffic = traffic_of(&latency_kernel, 2, 10000, SMS);
        while (gpump_sharing_next(t.sharing, &action) == GPUMP_OK) {}
        for (uint32_t sm = 0; sm < SMS; sm++)
            for (uint32_t k = 0; k < 2; k++) toy_report(&t, sm, k, 0);
        if (gpump_sharing_state_now(t.sharing) == GPUMP_SHARING_REPORT) {
            for (uint32_t k = 0; k < 2; k++) { /* the last member first */
                assert_int_equal(gpump_sharing_advance(t.sharing, t.now, &three, &t.machine, NULL), GPUMP_OK);
                assert_int_equal(gpump_sharing_trial(t.sharing), trial);
                assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_REPORT);
                assert_true(gpump_next_cycle(&gpump_sharing_component, t.sharing) == GPUMP_UNKNOWN);
                assert_int_equal(gpump_sharing_report_window(t.sharing, t.now, 1 - k, &t.machine, &traffic, NULL),
                                 GPUMP_OK);
            }
            trial++;
        }
        assert_int_equal(gpump_sharing_advance(t.sharing, t.now, &three, &t.machine, NULL), GPUMP_OK);
        assert_int_equal(gpump_sharing_trial(t.sharing), trial <= 5 ? trial : 0);
    }
    free(t.sharing);
}

/* In a trial members report, and no SM is sampled: such a report is refused, and so is a decision without a machine. */
static void a_sample_in_a_trial_is_refused(void **state) {
    const gpump_traffic traffic = traffic_of(&latency_kernel, 1, 10000, 1);
    uint32_t trials = 0, asked = 0;
    toy t;
    (void)state;
    toy_make(&t, 2);
    t.own = &three;
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    for (uint32_t steps = 0; steps < 2000 && gpump_sharing_state_now(t.sharing) != GPUMP_SHARING_RUN; steps++) {
        const uint64_t hash = gpump_hash(&gpump_sharing_component, t.sharing);
        if (gpump_sharing_state_now(t.sharing) == GPUMP_SHARING_REPORT) {
            const uint32_t trial = gpump_sharing_trial(t.sharing);
            if (trial) {
                trials++;
                diagnosed(gpump_sharing_report_sample(t.sharing, t.now, SMS - 1, &t.machine, &traffic, DIAG),
                          GPUMP_ERROR_STATE,
                          "the group tries a candidate: report the window with gpump_sharing_report_window", 0, trial,
                          0, 0);
            }
            if (trial > 1) { /* behind the last member alone, and behind each candidate, the policy is asked */
                diagnosed_null(gpump_sharing_advance(t.sharing, t.now, &three, NULL, DIAG), "machine");
                asked++;
            }
            assert_true(gpump_hash(&gpump_sharing_component, t.sharing) == hash);
        }
        toy_step(&t, NULL);
        t.now += 250;
    }
    assert_int_equal(trials, 5);
    assert_int_equal(asked, 4);
    free(t.sharing);
}

/* Without samples a division holds as soon as its kernels have joined, and again when one has left. */
static void without_samples_a_division_holds_at_once(void **state) {
    toy t;
    (void)state;
    toy_make(&t, 2);
    free(t.sharing);
    t.config.unsampled = 1;
    assert_int_equal(gpump_init(&gpump_sharing_component, malloc(t.bytes), t.bytes, &t.config, &t.sharing, NULL),
                     GPUMP_OK);
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    toy_run_until(&t, "even", GPUMP_SHARING_RUN);
    assert_true(t.now <= 250);
    assert_int_equal(t.measured, 0);
    assert_int_equal(t.blocks[3][0], 4);
    assert_int_equal(t.blocks[3][1], 4);
    assert_int_equal(gpump_sharing_leave(t.sharing, t.now, 0), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_MOVE); /* alone, nobody asks a policy */
    toy_run_until(&t, "even", GPUMP_SHARING_RUN);
    assert_int_equal(t.blocks[3][0], 0);
    assert_int_equal(t.blocks[3][1], 8);
    free(t.sharing);
}

/* Random joins, leaves and slow blocks: the group always comes to rest, caps always fit an SM, and a byte copy made at
 * any moment goes on the same way. */
static void random_groups_come_to_rest_within_their_caps(void **state) {
    static const toy_kernel *const all[] = {&network_kernel, &latency_kernel, &dram_kernel};
    uint64_t seed = test_seed(), number, cases = test_cases(60);
    (void)state;
    for (number = 0; number < cases; number++) {
        toy t;
        uint32_t step, sm, k, members = 0, is_member[4] = {0, 0, 0, 0};
        random_state = seed * 7907 + number;
        toy_make_in_turn(&t, 4, (uint32_t)draw(2));
        t.lazy = 1 + (uint32_t)draw(6);
        for (step = 0; step < 500; step++) {
            k = (uint32_t)draw(4);
            if (draw(40) == 0 && members < 4) {
                gpump_sharing_kernel joins = {1 + step, 8, 1 + (uint32_t)draw(3), {256, 8192, 0}, 0};
                uint32_t member;
                if (!gpump_sharing_join(t.sharing, t.now, &joins, &member, NULL)) {
                    test_check(!is_member[member], seed, number);
                    t.kernels[member] = all[draw(3)];
                    is_member[member] = 1, members++;
                }
            } else if (draw(60) == 0 && is_member[k]) {
                test_check(!gpump_sharing_leave(t.sharing, t.now, k), seed, number);
                is_member[k] = 0, members--;
            }
            if (draw(10) == 0) {
                void *copy = malloc(t.bytes);
                gpump_sharing *adopted;
                memcpy(copy, t.sharing, t.bytes);
                test_check(!gpump_check(&gpump_sharing_component, t.sharing, NULL), seed, number);
                test_check(!gpump_adopt(&gpump_sharing_component, copy, t.bytes, &t.config, &adopted, NULL), seed,
                           number);
                test_check(gpump_hash(&gpump_sharing_component, adopted) ==
                               gpump_hash(&gpump_sharing_component, t.sharing),
                           seed, number);
                free(t.sharing);
                t.sharing = adopted;
            }
            toy_step(&t, draw(2) ? "ccbp" : "smk");
            for (sm = 0; sm < SMS; sm++) {
                uint32_t sum = 0;
                for (k = 0; k < 4; k++) sum += t.caps[sm][k];
                test_check(sum <= 8, seed, number);
            }
            t.now += draw(2000);
        }
        t.lazy = 0;
        toy_run_until(&t, "ccbp", members ? GPUMP_SHARING_RUN : GPUMP_SHARING_EMPTY);
        for (k = 0; k < 4; k++)
            for (sm = 0, step = 0; sm < SMS; sm++) step += t.blocks[sm][k];
        free(t.sharing);
    }
}

/* Every bit of a group's memory flipped: refused by adopt or check, or safe to go on with. */
static void altered_bits_are_refused_or_harmless(void **state) {
    toy t;
    unsigned char *copy;
    size_t bit;
    uint32_t phase;
    (void)state;
    toy_make_in_turn(&t, 2, 1);
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    copy = (unsigned char *)malloc(t.bytes);
    for (phase = 0; phase < 2; phase++) {
        toy_run_until(&t, "ccbp", phase ? GPUMP_SHARING_RUN : GPUMP_SHARING_SAMPLE);
        for (bit = 0; bit < t.bytes * 8; bit++) {
            gpump_sharing *adopted;
            gpump_sharing_action action;
            gpump_partition_share share;
            uint32_t sm, kind, actions = 0;
            uint64_t now;
            memcpy(copy, t.sharing, t.bytes);
            copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (gpump_adopt(&gpump_sharing_component, copy, t.bytes, &t.config, &adopted, NULL) ||
                gpump_check(&gpump_sharing_component, adopted, NULL))
                continue;
            now = adopted->now;
            (void)gpump_sharing_advance(adopted, now, gpump_partition_find("ccbp"), &t.machine, NULL);
            (void)gpump_sharing_advance(adopted, gpump_add_saturated(now, 50000), gpump_partition_find("ccbp"),
                                        &t.machine, NULL);
            for (sm = 0; sm < SMS; sm++) {
                gpump_traffic traffic = traffic_of(&dram_kernel, 2, 10000, 1);
                (void)gpump_sharing_report_sample(adopted, adopted->now, sm, &t.machine, &traffic, NULL);
                (void)gpump_sharing_pick(adopted, sm);
                (void)gpump_sharing_sampled(adopted, sm);
            }
            (void)gpump_sharing_advance(adopted, adopted->now, gpump_partition_find("ccbp"), &t.machine, NULL);
            while (gpump_sharing_next(adopted, &action) == GPUMP_OK && actions < 1000) actions++;
            assert_true(actions < 1000);
            (void)gpump_sharing_share(adopted, 1, &share, &kind);
            (void)gpump_next_cycle(&gpump_sharing_component, adopted);
            (void)gpump_sharing_leave(adopted, adopted->now, 0);
        }
    }
    free(copy);
    free(t.sharing);
}

/* Blocks above their caps hold the group in MOVE, whichever member is measured; then the next cycle is now. */
static void blocks_above_their_caps_hold_the_group(void **state) {
    gpump_sharing_action action;
    toy t;
    (void)state;
    toy_make_in_turn(&t, 2, 1);
    toy_join(&t, &latency_kernel);
    while (gpump_sharing_next(t.sharing, &action) == GPUMP_OK) {}
    toy_report(&t, 3, 0, 8);
    toy_join(&t, &network_kernel); /* now one block is measured on some SMs */
    while (gpump_sharing_next(t.sharing, &action) == GPUMP_OK) {}
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_MOVE);
    assert_true(gpump_next_cycle(&gpump_sharing_component, t.sharing) == GPUMP_UNKNOWN);
    toy_report(&t, 3, 0, 0);
    assert_true(gpump_next_cycle(&gpump_sharing_component, t.sharing) == t.now);
    free(t.sharing);
}

/* A member whose kernel has no blocks, too many, no priority or no class is refused. */
static void altered_members_are_refused(void **state) {
    static const uint32_t values[4][3] = {{0, 1, 0}, {65, 1, 0}, {4, 0, 0}, {4, 1, GPUMP_PARTITION_CLASSES}};
    toy t;
    (void)state;
    toy_make(&t, 2);
    toy_join(&t, &latency_kernel);
    for (uint32_t i = 0; i < 4; i++) { /* the first two name blocks out of range, the others a whole kernel */
        gpumpi_sharing_member *m = gpumpi_sharing_members(t.sharing);
        const gpumpi_sharing_member before = *m;
        m->kernel.blocks = values[i][0];
        m->kernel.priority = values[i][1];
        m->kind = values[i][2];
        diagnosed_rule(gpump_check(&gpump_sharing_component, t.sharing, DIAG), GPUMP_ERROR_FORMAT, "kernel", 0,
                       values[i][0], 1, 64);
        *m = before;
        assert_int_equal(gpump_check(&gpump_sharing_component, t.sharing, NULL), GPUMP_OK);
    }
    free(t.sharing);
}

/* Only as many members are measured in turn as there are. */
static void a_turn_beyond_the_members_is_refused(void **state) {
    toy t;
    (void)state;
    toy_make_in_turn(&t, 2, 1);
    toy_join(&t, &latency_kernel);
    assert_int_equal(gpump_check(&gpump_sharing_component, t.sharing, NULL), GPUMP_OK);
    t.sharing->turn = 1;
    diagnosed_rule(gpump_check(&gpump_sharing_component, t.sharing, DIAG), GPUMP_ERROR_FORMAT, "turn", 0, 1, 0, 1);
    free(t.sharing);
}

/* Parked blocks and blocks of other kernels count for nobody. A kernel that joins anew while old blocks of it are left
 * has them all, and the index that it had before is free. */
static void residents_count_for_their_kernel(void **state) {
    toy t;
    gpump_sharing_kernel joins = {100, 8, 1, {256, 8192, 0}, 0};
    gpump_block_view residents[4];
    uint32_t member;
    (void)state;
    toy_make(&t, 2);
    toy_join(&t, &latency_kernel); /* kernel 100, alone: 8 blocks on each SM */
    memset(residents, 0, sizeof residents);
    for (uint32_t i = 0; i < 4; i++) residents[i].kernel = 100, residents[i].threads = 256;
    residents[1].threads = 0;
    residents[1].state = GPUMP_BLOCK_PARKED;
    residents[3].kernel = 5;
    assert_int_equal(gpump_sharing_report_residents(t.sharing, 0, 2, residents, 4), GPUMP_OK);
    assert_int_equal(gpumpi_sharing_cell_of(t.sharing, 2, 0)->blocks, 2);
    assert_int_equal(gpump_sharing_leave(t.sharing, 0, 0), GPUMP_OK);
    assert_int_equal(gpump_sharing_join(t.sharing, 0, &joins, &member, NULL), GPUMP_OK);
    assert_int_equal(member, 1);
    assert_int_equal(gpump_sharing_report_residents(t.sharing, 0, 2, residents, 4), GPUMP_OK);
    assert_int_equal(gpumpi_sharing_cell_of(t.sharing, 2, 0)->blocks, 0);
    assert_int_equal(gpumpi_sharing_cell_of(t.sharing, 2, 1)->blocks, 2);
    joins.kernel = 101;
    assert_int_equal(gpump_sharing_join(t.sharing, 0, &joins, &member, NULL), GPUMP_OK);
    assert_int_equal(member, 0);
    free(t.sharing);
}

/* Members, samples and blocks that cannot be are refused by name. */
static void wrong_calls_of_a_group_are_refused(void **state) {
    toy t;
    gpump_sharing_kernel joins = {1, 65, 1, {256, 8192, 0}, 0};
    gpump_partition_config other;
    gpump_traffic traffic = traffic_of(&dram_kernel, 1, 1000, 1);
    gpump_diag diag;
    uint32_t member;
    (void)state;
    toy_make(&t, 2);
    assert_int_equal(gpump_sharing_join(t.sharing, 5, &joins, &member, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "blocks");
    joins.blocks = 8;
    joins.priority = 0;
    assert_int_equal(gpump_sharing_join(t.sharing, 5, &joins, &member, &diag), GPUMP_ERROR_ARGUMENT);
    joins.priority = 1;
    assert_int_equal(gpump_sharing_join(t.sharing, 5, &joins, &member, &diag), GPUMP_OK);
    assert_int_equal(gpump_sharing_join(t.sharing, 4, &joins, &member, &diag), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_sharing_report_residents(t.sharing, 5, SMS, NULL, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sharing_report_residents(t.sharing, 5, 0, NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sharing_report_sample(t.sharing, 5, 0, &t.machine, &traffic, &diag), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_sharing_leave(t.sharing, 5, 2), GPUMP_ERROR_ARGUMENT);
    other = t.machine;
    other.gpu.sms = 15;
    assert_int_equal(gpump_sharing_advance(t.sharing, 5, gpump_partition_find("ccbp"), &other, &diag),
                     GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "machine");
    assert_true(gpump_next_cycle(&gpump_sharing_component, t.sharing) == GPUMP_UNKNOWN); /* actions are waiting */
    free(t.sharing);
}

/* ---- number by number ---- */

/* Altered fields are refused with their place and range, and nothing else is. */
static void altered_fields_are_refused_with_place_and_range(void **state) {
    toy t;
    gpump_sharing *s;
    uint32_t kept;
    (void)state;
    toy_make(&t, 2);
    s = t.sharing;
    toy_join(&t, &network_kernel);
    toy_join(&t, &latency_kernel);
    assert_int_equal(gpump_check(&gpump_sharing_component, s, NULL), GPUMP_OK);
    gpumpi_sharing_members(s)[1].is_member = 2;
    diagnosed(gpump_check(&gpump_sharing_component, s, DIAG), GPUMP_ERROR_FORMAT, "is_member", 1, 2, 0, 1);
    gpumpi_sharing_members(s)[1].is_member = 1;
    kept = s->state;
    s->state = GPUMP_SHARING_STATES;
    diagnosed(gpump_check(&gpump_sharing_component, s, DIAG), GPUMP_ERROR_FORMAT, "state", 0, GPUMP_SHARING_STATES, 0,
              GPUMP_SHARING_RUN);
    s->state = GPUMP_SHARING_EMPTY;
    diagnosed(gpump_check(&gpump_sharing_component, s, DIAG), GPUMP_ERROR_FORMAT, "state", 0, GPUMP_SHARING_EMPTY, 0,
              GPUMP_SHARING_RUN);
    s->state = GPUMP_SHARING_WARM;
    s->sampled = 1;
    diagnosed(gpump_check(&gpump_sharing_component, s, DIAG), GPUMP_ERROR_FORMAT, "sampled", 0, 1, 0, 1);
    s->sampled = 0;
    assert_int_equal(gpump_check(&gpump_sharing_component, s, NULL), GPUMP_OK);
    s->state = kept;
    for (uint32_t member = 0; member < 2; member++) {
        gpumpi_sharing_cell *cell = gpumpi_sharing_cells(s, 3) + member;
        kept = cell->cap;
        cell->cap = 65;
        diagnosed(gpump_check(&gpump_sharing_component, s, DIAG), GPUMP_ERROR_FORMAT, "cap", 3, 65, 0, 64);
        cell->cap = 64;
        assert_int_equal(gpump_check(&gpump_sharing_component, s, NULL), GPUMP_OK);
        cell->cap = kept;
    }
    free(t.sharing);
}

/* What a group has measured and its state agree: RUN is the only state after the samples, but for a group that moves to
 * it, and for one that tries candidates. */
static void samples_and_state_agree(void **state) {
    toy t;
    gpump_sharing *s;
    (void)state;
    toy_make(&t, 2);
    s = t.sharing;
    toy_join(&t, &network_kernel);
    toy_join(&t, &latency_kernel);
    for (uint32_t which = GPUMP_SHARING_MOVE; which <= GPUMP_SHARING_RUN; which++)
        for (uint32_t sampled = 0; sampled < 2; sampled++)
            for (uint32_t trial = 0; trial < 2; trial++) {
                const int is_sound = trial                         ? sampled
                                     : which == GPUMP_SHARING_MOVE ? 1
                                                                   : sampled == (which == GPUMP_SHARING_RUN);
                s->state = which;
                s->sampled = sampled;
                s->trial = trial;
                assert_int_equal(gpump_check(&gpump_sharing_component, s, NULL),
                                 is_sound ? GPUMP_OK : GPUMP_ERROR_FORMAT);
            }
    free(t.sharing);
}

/* Who is alone has all its blocks on all SMs as its share; the second who joins takes that away until the decision. */
static void a_member_alone_has_all_blocks_until_a_second_joins(void **state) {
    gpump_partition_share share;
    uint32_t kind;
    toy t;
    (void)state;
    toy_make(&t, 2);
    toy_join(&t, &network_kernel);
    assert_int_equal(gpump_sharing_share(t.sharing, 0, &share, &kind), GPUMP_OK);
    assert_int_equal(share.blocks, 8);
    assert_int_equal(share.sms, SMS);
    toy_join(&t, &latency_kernel);
    assert_int_equal(gpump_sharing_share(t.sharing, 0, &share, &kind), GPUMP_EMPTY);
    assert_int_equal(gpumpi_sharing_member_of(t.sharing, 0)->share.blocks, 0);
    assert_int_equal(gpumpi_sharing_member_of(t.sharing, 1)->share.blocks, 0);
    assert_int_equal(gpumpi_sharing_member_of(t.sharing, 1)->share.sms, SMS);
    free(t.sharing);
}

/* A report takes the group's time along; a sample in which nothing was issued still says what a miss moves; windows
 * without a cycle say nothing, and those of a wrong machine are refused. */
static void reports_in_numbers(void **state) {
    const gpump_partition_policy *even = gpump_partition_find("even");
    gpump_partition_config wrong;
    gpump_sharing_action action;
    gpump_traffic traffic;
    gpump_diag diag;
    uint64_t hash;
    uint32_t sm;
    toy t;
    (void)state;
    toy_make(&t, 2);
    toy_join(&t, &network_kernel);
    toy_join(&t, &latency_kernel);
    assert_int_equal(gpump_sharing_advance(t.sharing, 0, even, &t.machine, NULL), GPUMP_OK);
    while (gpump_sharing_next(t.sharing, &action) == GPUMP_OK) {}
    assert_int_equal(gpump_sharing_advance(t.sharing, 0, even, &t.machine, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_advance(t.sharing, 20000, even, &t.machine, NULL), GPUMP_OK);
    memset(&action, 0x5a, sizeof action);
    assert_int_equal(gpump_sharing_next(t.sharing, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SHARING_MEASURE);
    assert_int_equal(action.sm | action.member | action.kernel | action.blocks | action.technique | action.keep, 0);
    assert_int_equal(action.limits.instructions | action.limits.misses_q16, 0);
    assert_int_equal(gpump_sharing_advance(t.sharing, 30000, even, &t.machine, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_REPORT);
    traffic = traffic_of(&network_kernel, 4, 10000, 1);
    traffic.issued = 0;
    assert_int_equal(gpump_sharing_report_sample(t.sharing, 30010, 0, &t.machine, &traffic, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_report_sample(t.sharing, 30009, 1, &t.machine, &traffic, &diag), GPUMP_ERROR_TIME);
    assert_true(gpumpi_sharing_member_of(t.sharing, 0)->demand.down_bytes_q16 > 0);
    for (sm = 0; sm < SMS; sm++) {
        traffic = traffic_of(sm % 2 ? &latency_kernel : &network_kernel, sm / 2 + 1, 10000, 1);
        assert_int_equal(gpump_sharing_report_sample(t.sharing, 30010, sm, &t.machine, &traffic, NULL), GPUMP_OK);
    }
    assert_int_equal(gpump_sharing_advance(t.sharing, 30010, even, &t.machine, NULL), GPUMP_OK);
    while (gpump_sharing_next(t.sharing, &action) == GPUMP_OK) {}
    assert_int_equal(gpump_sharing_advance(t.sharing, 30010, even, &t.machine, NULL), GPUMP_OK);
    assert_int_equal(gpump_sharing_state_now(t.sharing), GPUMP_SHARING_RUN);
    hash = gpump_hash(&gpump_sharing_component, t.sharing);
    memset(&traffic, 0, sizeof traffic);
    assert_int_equal(gpump_sharing_report_window(t.sharing, 30020, 0, &t.machine, &traffic, NULL), GPUMP_OK);
    assert_true(gpump_hash(&gpump_sharing_component, t.sharing) == hash);
    wrong = t.machine;
    wrong.flit_bytes = 0;
    traffic.cycles = 1000;
    assert_int_equal(gpump_sharing_report_window(t.sharing, 30020, 0, &wrong, &traffic, &diag), GPUMP_ERROR_CONFIG);
    assert_true(gpump_hash(&gpump_sharing_component, t.sharing) == hash);
    free(t.sharing);
}

/* Without samples the policy is told that speed is in proportion to blocks, from the first block on. There is nothing
 * to sample in turn. */
static void without_samples_speed_is_proportional(uint32_t in_turn) {
    gpump_partition_policy own = *gpump_partition_find("even");
    toy t;
    own.decide = remember;
    own.name = "remember";
    toy_make(&t, 2);
    free(t.sharing);
    t.config.unsampled = 1;
    t.config.in_turn = in_turn;
    assert_int_equal(gpump_init(&gpump_sharing_component, malloc(t.bytes), t.bytes, &t.config, &t.sharing, NULL),
                     GPUMP_OK);
    toy_join(&t, &latency_kernel);
    toy_join(&t, &network_kernel);
    memset(seen_curves, 0, sizeof seen_curves);
    assert_int_equal(gpump_sharing_advance(t.sharing, 0, &own, &t.machine, NULL), GPUMP_OK);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t c = 0; c < 8; c++) {
            assert_int_equal(seen_curves[k][c].speed_q16, 8192 * (c + 1));
            assert_int_equal(seen_curves[k][c].network_q16 | seen_curves[k][c].dram_q16, 0);
        }
    free(t.sharing);
}

/* Without samples, a policy sees a speed that is proportional to the blocks. */
static void without_samples_speed_is_proportional_to_blocks(void **state) {
    (void)state;
    without_samples_speed_is_proportional(0);
    without_samples_speed_is_proportional(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_and_limits_of_a_group),
        cmocka_unit_test(a_kernel_alone_has_all_blocks_unmeasured),
        cmocka_unit_test(two_measured_kernels_get_what_algorithm_1_decides),
        cmocka_unit_test(more_blocks_than_sms),
        cmocka_unit_test(a_member_that_leaves_loses_caps_and_limits_at_once),
        cmocka_unit_test(curves_between_measured_points),
        cmocka_unit_test(every_state_lasts),
        cmocka_unit_test(the_least_that_keeps_a_class),
        cmocka_unit_test(a_place_with_blocks_is_taken),
        cmocka_unit_test(two_windows_of_another_class_measure_anew),
        cmocka_unit_test(the_best_candidate_is_kept),
        cmocka_unit_test(a_sample_in_a_trial_is_refused),
        cmocka_unit_test(a_trial_waits_for_every_member),
        cmocka_unit_test(a_turn_beyond_the_members_is_refused),
        cmocka_unit_test(altered_members_are_refused),
        cmocka_unit_test(blocks_above_their_caps_hold_the_group),
        cmocka_unit_test(a_group_that_changes_is_measured_anew),
        cmocka_unit_test(the_sample_of_every_sm_reaches_the_curve),
        cmocka_unit_test(without_samples_a_division_holds_at_once),
        cmocka_unit_test(random_groups_come_to_rest_within_their_caps),
        cmocka_unit_test(altered_bits_are_refused_or_harmless),
        cmocka_unit_test(residents_count_for_their_kernel),
        cmocka_unit_test(wrong_calls_of_a_group_are_refused),
        cmocka_unit_test(altered_fields_are_refused_with_place_and_range),
        cmocka_unit_test(a_member_alone_has_all_blocks_until_a_second_joins),
        cmocka_unit_test(samples_and_state_agree),
        cmocka_unit_test(all_that_a_kernel_brings_reaches_the_policy),
        cmocka_unit_test(two_candidates_are_enough_to_try),
        cmocka_unit_test(points_between_lie_on_lines),
        cmocka_unit_test(reports_in_numbers),
        cmocka_unit_test(without_samples_speed_is_proportional_to_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
