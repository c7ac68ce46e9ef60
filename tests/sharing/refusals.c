/* labels: unit */
/* Every refusal of the room sharing: its code, and what its diagnostic says. */
#include "diagnosed.h"

static uint64_t memory[1 << 12];

static gpump_result check_rate(const void *config, gpump_diag *diag) {
    const gpump_rate_config *c = (const gpump_rate_config *)config;
    size_t bytes;
    uint64_t bits;
    gpump_result result = gpump_bytes(&gpump_rate_component, c, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_rate_component, c, &bits, NULL), result);
    return result;
}
static gpump_result check_partition(const void *config, gpump_diag *diag) {
    return gpump_check(&gpump_partition_component, (const gpump_partition_config *)config, diag);
}
static gpump_result check_sharing(const void *config, gpump_diag *diag) {
    const gpump_sharing_config *c = (const gpump_sharing_config *)config;
    size_t bytes;
    uint64_t bits;
    gpump_result result = gpump_bytes(&gpump_sharing_component, c, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_sharing_component, c, &bits, NULL), result);
    return result;
}

/* Making and taking over, the same for each component; `bytes` is what it needs. */
#define LIFE(component, config, bytes)                                                                               \
    do {                                                                                                             \
        gpump_##component *one = NULL;                                                                               \
        diagnosed_null(gpump_bytes(&gpump_##component##_component, NULL, &bytes, DIAG), "config");                   \
        diagnosed_null(gpump_bytes(&gpump_##component##_component, &config, NULL, DIAG), "bytes");                   \
        assert_int_equal(gpump_bytes(&gpump_##component##_component, &config, &bytes, NULL), GPUMP_OK);              \
        assert_true(bytes <= sizeof memory);                                                                         \
        diagnosed_null(gpump_init(&gpump_##component##_component, memory, bytes, &config, NULL, DIAG), #component);  \
        diagnosed_null(gpump_init(&gpump_##component##_component, NULL, bytes, &config, &one, DIAG), "memory");      \
        diagnosed(gpump_init(&gpump_##component##_component, memory, bytes - 1, &config, &one, DIAG),                \
                  GPUMP_ERROR_CAPACITY, "bytes", 0, bytes - 1, bytes, UINT64_MAX);                                   \
        assert_null(one);                                                                                            \
        memset(memory, 0x77, sizeof memory);                                                                         \
        assert_int_equal(gpump_init(&gpump_##component##_component, memory, bytes, &config, &one, NULL), GPUMP_OK);  \
        assert_true(memory[bytes / 8] == UINT64_C(0x7777777777777777));                                              \
        diagnosed_null(gpump_adopt(&gpump_##component##_component, memory, bytes, &config, NULL, DIAG), #component); \
        diagnosed(gpump_adopt(&gpump_##component##_component, memory, bytes - 8, &config, &one, DIAG),               \
                  GPUMP_ERROR_FORMAT, "bytes", 0, bytes - 8, bytes, UINT64_MAX);                                     \
        assert_int_equal(gpump_adopt(&gpump_##component##_component, memory, bytes, &config, &one, NULL), GPUMP_OK); \
        diagnosed_null(gpump_check(&gpump_##component##_component, NULL, DIAG), #component);                         \
        assert_int_equal(gpump_check(&gpump_##component##_component, one, NULL), GPUMP_OK);                          \
    } while (0)

/* Each number of the three configurations beyond its range, by name. */
static void wrong_numbers_of_sharing_are_refused(void **state) {
#define FIELD(type, member, minimum, maximum) DIAGNOSED_FIELD(gpump_##type##_config, member, minimum, maximum)
    const diagnosed_field rate[] = {
        FIELD(rate, kernels, 1, GPUMP_RATE_KERNELS),
        FIELD(rate, unit_cycles, 1, UINT32_MAX),
        FIELD(rate, epoch_cycles, 1, UINT32_MAX),
    };
    const diagnosed_field partition[] = {
        FIELD(partition, flit_bytes, 1, 1024),        FIELD(partition, dram_sustainable_permille, 1, 1000),
        FIELD(partition, unit_cycles, 1, UINT32_MAX), FIELD(partition, epoch_cycles, 1, UINT32_MAX),
        FIELD(partition, margin_percent, 0, 75), /* up to the threshold */
    };
    const diagnosed_field sharing[] = {
        FIELD(sharing, members, 1, GPUMP_PARTITION_KERNELS),
        FIELD(sharing, sms, 2, 65536), /* an SM for each member */
        FIELD(sharing, sample_cycles, 1, UINT32_MAX),
        FIELD(sharing, class_windows, 1, UINT32_MAX),
        FIELD(sharing, technique, 0, GPUMP_TECHNIQUE_SELECT),
        FIELD(sharing, in_turn, 0, 1),
        FIELD(sharing, unsampled, 0, 1),
    };
#undef FIELD
    gpump_rate_config r;
    gpump_partition_config p;
    gpump_sharing_config s;
    size_t bytes;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_rate_component, &r, "lin", NULL), GPUMP_OK);
    diagnosed_fields(&r, sizeof r, rate, sizeof rate / sizeof rate[0], check_rate);
    LIFE(rate, r, bytes);
    diagnosed_null(gpump_bits(&gpump_rate_component, NULL, &bits, DIAG), "config");
    diagnosed_null(gpump_bits(&gpump_rate_component, &r, NULL, DIAG), "bits");
    diagnosed_null(gpump_table_bits(&gpump_rate_component, &r, NULL, DIAG), "storage");
    assert_int_equal(gpump_preset(&gpump_partition_component, &p, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_int_equal(p.threshold_percent, 75);
    diagnosed_fields(&p, sizeof p, partition, sizeof partition / sizeof partition[0], check_partition);
    diagnosed_null(gpump_check(&gpump_partition_component, NULL, DIAG), "partition");
    p.gpu.sms = 0; /* the parts are checked, too */
    assert_int_equal(check_partition(&p, NULL), GPUMP_ERROR_CONFIG);
    p.gpu.sms = 16;
    p.meter.l2_banks = 0;
    diagnosed(check_partition(&p, DIAG), GPUMP_ERROR_CONFIG, "l2_banks", 0, 0, 1, 65536);
    p.meter.l2_banks = 16;
    p.margin_percent = 0;
    p.threshold_percent = 100;
    assert_int_equal(check_partition(&p, NULL), GPUMP_OK);
    p.threshold_percent = 101;
    diagnosed(check_partition(&p, DIAG), GPUMP_ERROR_CONFIG, "threshold_percent", 0, 101, 1, 100);
    p.threshold_percent = 0;
    diagnosed(check_partition(&p, DIAG), GPUMP_ERROR_CONFIG, "threshold_percent", 0, 0, 1, 100);
    assert_int_equal(gpump_preset(&gpump_sharing_component, &s, "maxwell_ccbp", NULL), GPUMP_OK);
    diagnosed_fields(&s, sizeof s, sharing, sizeof sharing / sizeof sharing[0], check_sharing);
    LIFE(sharing, s, bytes);
    diagnosed_null(gpump_bits(&gpump_sharing_component, NULL, &bits, DIAG), "config");
    diagnosed_null(gpump_bits(&gpump_sharing_component, &s, NULL, DIAG), "bits");
}

/* No place, no name and an unknown name are refused, for each component of the room. */
static void presets_without_a_place_or_a_name_are_refused(void **state) {
    gpump_rate_config r;
    gpump_partition_config p;
    gpump_sharing_config s;
    gpump_rate_limits none = gpump_rate_limits_none();
    (void)state;
    assert_int_equal(gpump_preset(&gpump_rate_component, NULL, "lin", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_rate_component, &r, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_partition_component, NULL, "maxwell_ccbp", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_partition_component, &p, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_partition_component, &p, "no such", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_sharing_component, NULL, "maxwell_ccbp", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_sharing_component, &s, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_sharing_component, &s, "no such", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    /* as the headers state them */
    assert_int_equal(gpump_preset(&gpump_rate_component, &r, "lin", NULL), GPUMP_OK);
    assert_true(r.kernels == 2 && r.unit_cycles == 200 && r.epoch_cycles == 10000);
    assert_true(none.instructions == GPUMP_RATE_NO_LIMIT && none.in_flight == GPUMP_RATE_NO_LIMIT &&
                none.misses_q16 == GPUMP_RATE_NO_LIMIT && none.memory_quota == 0);
    assert_int_equal(gpump_preset(&gpump_partition_component, &p, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_true(p.flit_bytes == 32 && p.dram_sustainable_permille == 650 && p.unit_cycles == 200 &&
                p.epoch_cycles == 10000 && p.threshold_percent == 75 && p.margin_percent == 5 && p.gpu.sms == 16);
    assert_int_equal(gpump_preset(&gpump_sharing_component, &s, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_true(s.members == 2 && s.sms == 16 && s.warm_cycles == 20000 && s.sample_cycles == 10000 &&
                s.class_windows == 2 && s.technique == GPUMP_TECHNIQUE_DRAIN && !s.keep && s.in_turn == 0);
}

/* A resident of no member. */
static const gpump_block_view resident;

/* What a group refuses leaves its bytes as they were. */
static void a_refusal_of_a_group_changes_nothing(void **state) {
    static uint64_t before[1 << 12];
    gpump_sharing_config config;
    gpump_partition_config machine;
    gpump_sharing_kernel kernel, bad;
    gpump_sharing_action action;
    gpump_traffic traffic;
    gpump_sharing *group;
    uint32_t member = 99;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sharing_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_partition_component, &machine, "maxwell_ccbp", NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_sharing_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_sharing_component, memory, sizeof memory, &config, &group, NULL), GPUMP_OK);
    memset(&kernel, 0, sizeof kernel);
    memset(&traffic, 0, sizeof traffic);
    kernel.blocks = 64;
    kernel.priority = 1;
    kernel.need.threads = 128;
    assert_int_equal(gpump_sharing_join(group, 7, &kernel, &member, NULL), GPUMP_OK);
    assert_int_equal(member, 0);
    memcpy(before, memory, sizeof before);
#define REFUSED(call)                                       \
    do {                                                    \
        call;                                               \
        assert_memory_equal(before, memory, sizeof before); \
    } while (0)
    REFUSED(diagnosed_null(gpump_sharing_join(NULL, 7, &kernel, &member, DIAG), "sharing"));
    REFUSED(diagnosed(gpump_sharing_join(group, 6, &kernel, &member, DIAG), GPUMP_ERROR_TIME, "now", 0, 6, 7,
                      GPUMP_UNKNOWN - 1));
    REFUSED(diagnosed(gpump_sharing_join(group, GPUMP_UNKNOWN, &kernel, &member, DIAG), GPUMP_ERROR_TIME, "now", 0,
                      GPUMP_UNKNOWN, 7, GPUMP_UNKNOWN - 1));
    REFUSED(diagnosed_null(gpump_sharing_join(group, 7, NULL, &member, DIAG), "kernel"));
    REFUSED(diagnosed_null(gpump_sharing_join(group, 7, &kernel, NULL, DIAG), "member"));
    bad = kernel;
    bad.blocks = 65;
    REFUSED(diagnosed(gpump_sharing_join(group, 7, &bad, &member, DIAG), GPUMP_ERROR_ARGUMENT, "blocks", 0, 65, 1, 64));
    bad.blocks = 0;
    REFUSED(diagnosed(gpump_sharing_join(group, 7, &bad, &member, DIAG), GPUMP_ERROR_ARGUMENT, "blocks", 0, 0, 1, 64));
    bad.blocks = 1;
    bad.priority = 0;
    REFUSED(diagnosed(gpump_sharing_join(group, 7, &bad, &member, DIAG), GPUMP_ERROR_ARGUMENT, "priority", 0, 0, 1,
                      UINT32_MAX));
    REFUSED(assert_int_equal(gpump_sharing_leave(NULL, 7, 0), GPUMP_ERROR_ARGUMENT));
    REFUSED(assert_int_equal(gpump_sharing_leave(group, 6, 0), GPUMP_ERROR_TIME));
    REFUSED(assert_int_equal(gpump_sharing_leave(group, 7, 1), GPUMP_ERROR_STATE));
    REFUSED(assert_int_equal(gpump_sharing_leave(group, 7, 2), GPUMP_ERROR_ARGUMENT));
    REFUSED(assert_int_equal(gpump_sharing_report_residents(NULL, 7, 0, &resident, 1), GPUMP_ERROR_ARGUMENT));
    REFUSED(assert_int_equal(gpump_sharing_report_residents(group, 6, 0, &resident, 1), GPUMP_ERROR_TIME));
    REFUSED(assert_int_equal(gpump_sharing_report_residents(group, 7, 16, &resident, 1), GPUMP_ERROR_ARGUMENT));
    REFUSED(assert_int_equal(gpump_sharing_report_residents(group, 7, 15, NULL, 1), GPUMP_ERROR_ARGUMENT));
    REFUSED(diagnosed(gpump_sharing_report_sample(group, 6, 0, &machine, &traffic, DIAG), GPUMP_ERROR_TIME, "now", 0, 6,
                      7, GPUMP_UNKNOWN - 1));
    REFUSED(diagnosed(gpump_sharing_report_sample(group, 7, 16, &machine, &traffic, DIAG), GPUMP_ERROR_ARGUMENT, "sm",
                      0, 16, 0, 15));
    REFUSED(diagnosed(gpump_sharing_report_sample(group, 7, 15, &machine, &traffic, DIAG), GPUMP_ERROR_STATE,
                      "the group needs no sample: report samples when gpump_sharing_state says REPORT", 0,
                      gpump_sharing_state_now(group), GPUMP_SHARING_REPORT, GPUMP_SHARING_REPORT));
    REFUSED(diagnosed(gpump_sharing_report_window(group, 6, 0, &machine, &traffic, DIAG), GPUMP_ERROR_TIME, "now", 0, 6,
                      7, GPUMP_UNKNOWN - 1));
    REFUSED(diagnosed(gpump_sharing_report_window(group, 7, 2, &machine, &traffic, DIAG), GPUMP_ERROR_ARGUMENT,
                      "member", 0, 2, 0, 1));
    REFUSED(diagnosed_null(gpump_sharing_advance(NULL, 7, NULL, &machine, DIAG), "sharing"));
    REFUSED(diagnosed(gpump_sharing_advance(group, 6, NULL, &machine, DIAG), GPUMP_ERROR_TIME, "now", 0, 6, 7,
                      GPUMP_UNKNOWN - 1));
    machine.gpu.sms = 15;
    REFUSED(diagnosed(gpump_sharing_advance(group, 7, NULL, &machine, DIAG), GPUMP_ERROR_ARGUMENT, "machine", 0, 15, 16,
                      16));
    machine.gpu.sms = 16;
    REFUSED(assert_int_equal(gpump_sharing_next(NULL, &action), GPUMP_ERROR_ARGUMENT));
    REFUSED(assert_int_equal(gpump_sharing_next(group, NULL), GPUMP_ERROR_ARGUMENT));
#undef REFUSED
    /* the time that has just been said may be said again, and the last SM and member exist */
    assert_int_equal(gpump_sharing_report_residents(group, 7, 15, NULL, 0), GPUMP_OK);
    assert_int_equal(gpump_sharing_join(group, 7, &kernel, &member, NULL), GPUMP_OK);
    assert_int_equal(member, 1);
    diagnosed(gpump_sharing_join(group, 7, &kernel, &member, DIAG), GPUMP_ERROR_FULL, "members", 0, 2, 0, 1);
    assert_int_equal(gpump_sharing_leave(group, 7, 1), GPUMP_OK);
}

/* A wrong request for a partition is refused with the argument's name and range. */
static void wrong_requests_are_refused(void **state) {
    const gpump_partition_policy *ccbp = gpump_partition_find("ccbp");
    gpump_partition_policy other;
    gpump_partition_config config;
    gpump_partition_kernel kernels[2];
    gpump_partition_point curve[64];
    gpump_partition_request request, bad;
    gpump_partition_share shares[2];
    (void)state;
    assert_int_equal(gpump_preset(&gpump_partition_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    memset(curve, 0, sizeof curve);
    memset(kernels, 0, sizeof kernels);
    for (uint32_t k = 0; k < 2; k++) {
        kernels[k].need.threads = 1024; /* two blocks on an SM of 2048 threads */
        kernels[k].blocks = 2;
        kernels[k].priority = 1;
        kernels[k].curve = curve;
    }
    memset(&request, 0, sizeof request);
    request.config = &config;
    request.kernels = kernels;
    request.count = 2;
    assert_int_equal(gpump_partition_decide(ccbp, &request, shares, NULL), GPUMP_OK);
    diagnosed(gpump_partition_decide(NULL, &request, shares, DIAG), GPUMP_ERROR_ARGUMENT,
              "policy is NULL: gpump_partition_find did not know that name", 0, 0, 0, 0);
    other = *ccbp;
    other.decide = NULL;
    diagnosed(gpump_partition_decide(&other, &request, shares, DIAG), GPUMP_ERROR_ARGUMENT, "policy.decide", 0, 0, 1,
              UINT64_MAX);
    diagnosed(gpump_partition_decide(ccbp, NULL, shares, DIAG), GPUMP_ERROR_ARGUMENT, "request", 0, 0, 1, UINT64_MAX);
    bad = request;
    bad.kernels = NULL;
    diagnosed(gpump_partition_decide(ccbp, &bad, shares, DIAG), GPUMP_ERROR_ARGUMENT, "request.kernels", 0, 0, 1,
              UINT64_MAX);
    diagnosed_null(gpump_partition_decide(ccbp, &request, NULL, DIAG), "shares");
    bad = request;
    bad.count = 0;
    diagnosed(gpump_partition_decide(ccbp, &bad, shares, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0, 0, 1,
              GPUMP_PARTITION_KERNELS);
    bad.count = GPUMP_PARTITION_KERNELS + 1;
    diagnosed(gpump_partition_decide(ccbp, &bad, shares, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0,
              GPUMP_PARTITION_KERNELS + 1, 1, GPUMP_PARTITION_KERNELS);
    bad = request;
    bad.config = NULL;
    diagnosed_null(gpump_partition_decide(ccbp, &bad, shares, DIAG), "config");
    kernels[1].kind = GPUMP_PARTITION_CLASSES;
    diagnosed(gpump_partition_decide(ccbp, &request, shares, DIAG), GPUMP_ERROR_ARGUMENT, "kind", 1,
              GPUMP_PARTITION_CLASSES, 0, GPUMP_PARTITION_CLASSES - 1);
    kernels[1].kind = 0;
    kernels[1].blocks = 3;
    diagnosed(gpump_partition_decide(ccbp, &request, shares, DIAG), GPUMP_ERROR_ARGUMENT, "blocks", 1, 3, 1, 2);
    kernels[1].blocks = 0;
    diagnosed(gpump_partition_decide(ccbp, &request, shares, DIAG), GPUMP_ERROR_ARGUMENT, "blocks", 1, 0, 1, 2);
    kernels[1].blocks = 1;
    kernels[1].priority = 0;
    diagnosed(gpump_partition_decide(ccbp, &request, shares, DIAG), GPUMP_ERROR_ARGUMENT, "priority", 1, 0, 1,
              UINT32_MAX);
    kernels[1].priority = 1;
    kernels[1].curve = NULL;
    diagnosed_null(gpump_partition_decide(ccbp, &bad, shares, DIAG), "config");
    diagnosed(gpump_partition_decide(ccbp, &request, shares, DIAG), GPUMP_ERROR_ARGUMENT, "curve", 1, 0, 1, UINT64_MAX);
    kernels[1].curve = curve;
    kernels[1].need.shared_bytes = 1u << 30;
    diagnosed_reason(gpump_partition_decide(ccbp, &request, shares, DIAG), GPUMP_ERROR_REFUSED, "need", 1,
                     GPUMP_REASON_NEVER_FITS);
}

/* A wrong question for a kernel's demand is refused with the argument's name and range. */
static void wrong_demands_are_refused(void **state) {
    gpump_partition_config config;
    gpump_traffic traffic;
    gpump_demand demand;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_partition_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    memset(&traffic, 0, sizeof traffic);
    diagnosed_null(gpump_partition_demand(&config, NULL, 1, &demand, DIAG), "traffic");
    diagnosed_null(gpump_partition_demand(&config, &traffic, 1, NULL, DIAG), "demand");
    diagnosed(gpump_partition_demand(&config, &traffic, 0, &demand, DIAG), GPUMP_ERROR_ARGUMENT, "sms", 0, 0, 1, 16);
    diagnosed(gpump_partition_demand(&config, &traffic, 17, &demand, DIAG), GPUMP_ERROR_ARGUMENT, "sms", 0, 17, 1, 16);
}

/* What an own policy answers, by its user pointer. */
static void answer(const gpump_partition_args *args, gpump_partition_share *shares) {
    memcpy(shares, args->policy->user, args->request->count * sizeof *shares);
}
/* A request of two kernels, and the shares that a policy of the host's own answers. */
static gpump_partition_share own_shares[2];
static gpump_partition_point own_curve[8];
static gpump_partition_kernel own_kernels[2];
static gpump_partition_request own_request;
static gpump_partition_config own_config;
static const gpump_partition_policy own = {0, "own", "An answer of the test.", own_shares, answer};
static void make_own(void) {
    assert_int_equal(gpump_preset(&gpump_partition_component, &own_config, "maxwell_ccbp", NULL), GPUMP_OK);
    memset(own_curve, 0, sizeof own_curve);
    for (uint32_t i = 0; i < 8; i++) own_curve[i].speed_q16 = 100 * (i + 1);
    memset(own_kernels, 0, sizeof own_kernels);
    memset(own_shares, 0, sizeof own_shares);
    for (uint32_t k = 0; k < 2; k++) {
        own_kernels[k].need.threads = 256;
        own_kernels[k].need.registers = own_config.gpu.registers / 8;
        own_kernels[k].blocks = 8;
        own_kernels[k].priority = 1;
        own_kernels[k].curve = own_curve;
        own_shares[k].blocks = 4;
        own_shares[k].sms = own_config.gpu.sms;
        own_shares[k].limits = gpump_rate_limits_none();
    }
    memset(&own_request, 0, sizeof own_request);
    own_request.count = 2;
    own_request.config = &own_config;
    own_request.kernels = own_kernels;
}

/* An own policy's answer is refused where SMs or memory do not exist, and where kernels do not fit the SMs they share.
 */
static void own_answers_that_do_not_fit_are_refused(void **state) {
    gpump_partition_share shares[2];
    (void)state;
    make_own();
    assert_int_equal(gpump_partition_decide(&own, &own_request, shares, NULL), GPUMP_OK);
    own_shares[1].blocks = 5; /* with the four of the other kernel, nine of eight */
    diagnosed_reason(gpump_partition_decide(&own, &own_request, shares, DIAG), GPUMP_ERROR_REFUSED, "blocks", 0,
                     GPUMP_REASON_NEVER_FITS);
    own_shares[0].sms = 1; /* beside each other they fit */
    own_shares[1].first_sm = 1;
    own_shares[1].sms = own_config.gpu.sms - 1;
    assert_int_equal(gpump_partition_decide(&own, &own_request, shares, NULL), GPUMP_OK);
    own_shares[0].sms = 2; /* SM 1 has both */
    diagnosed_reason(gpump_partition_decide(&own, &own_request, shares, DIAG), GPUMP_ERROR_REFUSED, "blocks", 1,
                     GPUMP_REASON_NEVER_FITS);
    own_shares[0].first_sm = 2; /* SM 3 has both */
    own_shares[1].first_sm = 3;
    own_shares[1].sms = 1;
    diagnosed_reason(gpump_partition_decide(&own, &own_request, shares, DIAG), GPUMP_ERROR_REFUSED, "blocks", 1,
                     GPUMP_REASON_NEVER_FITS);
    own_shares[0].first_sm = 0;
    own_shares[0].sms = own_shares[1].first_sm = 1;
    own_shares[1].sms = own_config.gpu.sms - 1;
    own_kernels[1].blocks = 4; /* an SM has room for five, but the kernel may have four */
    diagnosed_reason(gpump_partition_decide(&own, &own_request, shares, DIAG), GPUMP_ERROR_REFUSED, "blocks", 1,
                     GPUMP_REASON_NEVER_FITS);
    own_kernels[1].blocks = 8;
    own_shares[1].blocks = 9;
    diagnosed_reason(gpump_partition_decide(&own, &own_request, shares, DIAG), GPUMP_ERROR_REFUSED, "blocks", 1,
                     GPUMP_REASON_NEVER_FITS);
    own_shares[1].blocks = 5;
    own_shares[1].sms = own_config.gpu.sms;
    diagnosed_reason(gpump_partition_decide(&own, &own_request, shares, DIAG), GPUMP_ERROR_REFUSED, "sms", 1,
                     GPUMP_REASON_NEVER_FITS);
    own_shares[1].sms--;
}

/* A policy that gives slices of memory beyond the last one is refused. */
static void slices_of_memory_that_do_not_exist_are_refused(void **state) {
    gpump_partition_share shares[2];
    (void)state;
    make_own();
    for (uint32_t first = 7; first < 11; first++)
        for (uint32_t count = 0; count < 3; count++) {
            own_shares[0].first_memory = first;
            own_shares[0].memory = count;
            if (first + count <= 8)
                assert_int_equal(gpump_partition_decide(&own, &own_request, shares, NULL), GPUMP_OK);
            else
                diagnosed_reason(gpump_partition_decide(&own, &own_request, shares, DIAG), GPUMP_ERROR_REFUSED,
                                 "memory", 0, GPUMP_REASON_NEVER_FITS);
        }
}

/* No policy writes behind the kernels that it was asked for. */
static void a_decision_writes_to_its_kernels_only(void **state) {
    gpump_partition_share shares[3], untouched;
    gpump_partition_fixed fixed;
    (void)state;
    make_own();
    assert_int_equal(gpump_partition_fixed_parse("blocks:2", &own_config.gpu, &fixed, NULL), GPUMP_OK);
    memset(&untouched, 0x5a, sizeof untouched);
    memset(shares, 0x5a, sizeof shares);
    assert_int_equal(gpump_partition_decide(&fixed.policy, &own_request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 2);
    assert_int_equal(shares[1].blocks, 0); /* not named */
    assert_memory_equal(&shares[2], &untouched, sizeof untouched);
    /* The hook itself writes to the kernels of the request alone. */
    assert_int_equal(gpump_partition_fixed_parse("blocks:2:3:4", &own_config.gpu, &fixed, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < 2; i++) {
        gpump_partition_args args;
        gpump_occupancy alone[2];
        args.policy = i ? gpump_partition_find("crisp") : &fixed.policy;
        args.request = &own_request;
        args.occupancy = alone;
        memset(alone, 0, sizeof alone);
        memset(shares, 0x5a, sizeof shares);
        args.policy->decide(&args, shares);
        assert_memory_equal(&shares[2], &untouched, sizeof untouched);
    }
}

/* The words that name a division, character by character. */
static void misspelt_divisions_are_refused_with_the_place(void **state) {
    gpump_partition_fixed fixed;
    char text[sizeof fixed.text + 1];
    gpump_gpu gpu;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "maxwell_ccbp", NULL), GPUMP_OK);
    diagnosed(gpump_partition_fixed_parse(NULL, &gpu, &fixed, DIAG), GPUMP_ERROR_ARGUMENT, "text", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_partition_fixed_parse("mps:1", NULL, &fixed, DIAG), GPUMP_ERROR_ARGUMENT, "gpu or fixed", 0, 0, 1,
              UINT64_MAX);
    diagnosed(gpump_partition_fixed_parse("mps:1", &gpu, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "gpu or fixed", 0, 0, 1,
              UINT64_MAX);
    diagnosed(gpump_partition_fixed_parse("red", &gpu, &fixed, DIAG), GPUMP_ERROR_UNKNOWN_NAME, "text", 0, 0, 0, 0);
    memcpy(text, "blocks:", 7);
    memset(text + 7, '0', sizeof text - 7);
    text[sizeof text - 2] = '1';
    text[sizeof text - 1] = 0; /* one character more than a name has */
    diagnosed(gpump_partition_fixed_parse(text, &gpu, &fixed, DIAG), GPUMP_ERROR_ARGUMENT, "text", 0, sizeof fixed.text,
              1, sizeof fixed.text - 1);
    assert_int_equal(gpump_partition_fixed_parse("blocks:000012:8", &gpu, &fixed, NULL), GPUMP_OK); /* six digits */
    assert_int_equal(fixed.blocks[0], 12);
    diagnosed(gpump_partition_fixed_parse("blocks:0000012:8", &gpu, &fixed, DIAG), GPUMP_ERROR_ARGUMENT, "number", 0, 0,
              1, 64);
    diagnosed(gpump_partition_fixed_parse("green:8x", &gpu, &fixed, DIAG), GPUMP_ERROR_ARGUMENT, "number", 0, 0, 1, 16);
    diagnosed(gpump_partition_fixed_parse("green:8:x", &gpu, &fixed, DIAG), GPUMP_ERROR_ARGUMENT, "number", 1, 0, 1,
              16);
    diagnosed(gpump_partition_fixed_parse("green:8:9", &gpu, &fixed, DIAG), GPUMP_ERROR_ARGUMENT, "sum", 0, 17, 1, 16);
    diagnosed(gpump_partition_fixed_parse("mig:3g+3g+1g", &gpu, &fixed, DIAG), GPUMP_ERROR_ARGUMENT, "memory", 0, 9, 1,
              8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers_of_sharing_are_refused),
        cmocka_unit_test(presets_without_a_place_or_a_name_are_refused),
        cmocka_unit_test(a_refusal_of_a_group_changes_nothing),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(wrong_demands_are_refused),
        cmocka_unit_test(own_answers_that_do_not_fit_are_refused),
        cmocka_unit_test(slices_of_memory_that_do_not_exist_are_refused),
        cmocka_unit_test(a_decision_writes_to_its_kernels_only),
        cmocka_unit_test(misspelt_divisions_are_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
