/* labels: unit property */
/* Partitions: Algorithm 1's golden vectors, demand and rates by hand, every policy against brute force. */
#include "decisions.h"
#include "diagnosed.h"

#include <sys/mman.h>
#include <unistd.h>

static uint64_t random_state;
static uint64_t draw(uint64_t below) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}
static gpump_partition_config machine(void) {
    gpump_partition_config config;
    assert_int_equal(gpump_preset(&gpump_partition_component, &config, "maxwell_ccbp", NULL), GPUMP_OK);
    return config;
}

/* A row of Lin Table 4.2: percent of peak, and the class. */
typedef struct row {
    const char *name;
    uint32_t speed, network, dram, kind;
} row;
static const row table_4_2[] = {
    {"CFD", 7, 54, 14, GPUMP_PARTITION_NETWORK}, {"SAD", 5, 17, 64, GPUMP_PARTITION_DRAM},
    {"FTD", 29, 32, 65, GPUMP_PARTITION_DRAM},   {"LBM", 17, 15, 61, GPUMP_PARTITION_DRAM},
    {"BP", 68, 19, 36, GPUMP_PARTITION_LATENCY}, {"PF", 72, 28, 39, GPUMP_PARTITION_LATENCY},
};
static uint32_t nearest(uint64_t numerator, uint64_t denominator) {
    return (uint32_t)((2 * numerator + denominator) / (2 * denominator));
}
/* The curve of a row over 8 blocks: linear when latency sensitive, else flat from 4 blocks. */
static void fill(gpump_partition_kernel *kernel, gpump_partition_point *curve, const char *name, uint32_t priority) {
    const row *r = table_4_2;
    uint32_t c;
    while (strcmp(r->name, name)) r++;
    memset(kernel, 0, sizeof *kernel);
    kernel->need.threads = 256;
    kernel->need.registers = 65536 / 8;
    kernel->kind = r->kind;
    kernel->blocks = 8;
    kernel->priority = priority;
    kernel->curve = curve;
    for (c = 1; c <= 8; c++) {
        uint32_t parts = r->kind == GPUMP_PARTITION_LATENCY ? c : (c < 4 ? 2 * c : 8);
        curve[c - 1].network_q16 = nearest((UINT64_C(65536) * r->network * 100 / 60 * parts), 8);
        curve[c - 1].dram_q16 = nearest((UINT64_C(65536) * r->dram * 100 / 65 * parts), 8);
        curve[c - 1].speed_q16 = nearest(UINT64_C(65536) * r->speed * 4 * parts, 800);
    }
}
static int tenths(uint32_t q16) { return (int)nearest((uint64_t)q16 * 10, 65536); }

static void shares_on_table_4_2(const char *a, const char *b, uint32_t priority, const int expected[6]) {
    const gpump_partition_config config = machine();
    gpump_partition_kernel kernels[2];
    gpump_partition_point curves[2][8];
    gpump_partition_request request;
    gpump_partition_share shares[2];
    uint32_t k;
    memset(&request, 0, sizeof request);
    request.count = 2;
    request.config = &config;
    request.kernels = kernels;
    fill(&kernels[0], curves[0], a, priority);
    fill(&kernels[1], curves[1], b, 1);
    assert_int_equal(gpump_partition_decide(gpump_partition_find("ccbp"), &request, shares, NULL), GPUMP_OK);
    for (k = 0; k < 2; k++) {
        assert_int_equal(shares[k].blocks, expected[3 * k]);
        assert_int_equal(tenths(shares[k].network_q16), expected[3 * k + 1]);
        assert_int_equal(tenths(shares[k].dram_q16), expected[3 * k + 2]);
        assert_int_equal(shares[k].sms, 16);
        assert_int_equal(shares[k].limits.misses_q16, GPUMP_RATE_NO_LIMIT); /* no demand is known */
    }
}

/* Algorithm 1 by hand, on curves made of Table 4.2: blocks, network and DRAM in tenths of a percent of sustainable. */
static void algorithm_1_on_table_4_2(void **state) {
    static const int bp_cfd[] = {5, 198, 346, 3, 670, 160}, prior[] = {6, 238, 415, 2, 450, 108};
    static const int bp_sad[] = {5, 198, 346, 3, 187, 650}, cfd_ftd[] = {3, 650, 156, 3, 347, 650};
    static const int bp_pf[] = {4, 158, 277, 4, 233, 300}, cfd_lbm[] = {4, 790, 189, 4, 208, 780};
    (void)state;
    shares_on_table_4_2("BP", "CFD", 1, bp_cfd);
    shares_on_table_4_2("BP", "CFD", 2, prior);
    shares_on_table_4_2("BP", "SAD", 1, bp_sad);
    shares_on_table_4_2("CFD", "FTD", 1, cfd_ftd);
    shares_on_table_4_2("BP", "PF", 1, bp_pf);
    shares_on_table_4_2("CFD", "LBM", 1, cfd_lbm);
}

/* Loads alone: 5 flits back and 1 out per miss. The whole network carries 16.0 of them per SM and 200 cycles,
 * DRAM 11.25 lines (Lin 4.5.1's unit; Table 4.1). */
static void rates_by_hand(void **state) {
    const gpump_partition_config config = machine();
    gpump_traffic traffic;
    gpump_demand demand;
    uint32_t rate;
    (void)state;
    memset(&traffic, 0, sizeof traffic);
    traffic.cycles = 1800000; /* a millisecond */
    traffic.issued = 3600000;
    traffic.l1_load_misses = 1152000;
    traffic.flits_up = 1152000;
    traffic.flits_down = 5 * UINT64_C(1152000);
    traffic.dram_read_bytes = 128 * UINT64_C(810000);
    assert_int_equal(gpump_partition_demand(&config, &traffic, 16, &demand, NULL), GPUMP_OK);
    assert_int_equal(tenths(demand.network_q16), 500); /* 184.3 of 368.6 GB/s */
    assert_int_equal(tenths(demand.dram_q16), 500);    /* 103.7 of 207.4 GB/s */
    assert_int_equal(demand.down_bytes_q16, 160 << 16);
    assert_int_equal(demand.up_bytes_q16, 32 << 16);
    assert_int_equal(demand.dram_bytes_q16, 90 << 16);
    assert_int_equal(demand.speed_q16, 65536 / 8);
    assert_int_equal(demand.misses_per_1000_q4, 5120);
    rate = gpump_partition_rate(&config, &demand, 100 << 16, 100 << 16);
    assert_int_equal(tenths(rate), 160); /* the network: 16.0 replies; DRAM: 16.0 at 90 bytes */
    rate = gpump_partition_rate(&config, &demand, 50 << 16, 100 << 16);
    assert_int_equal(tenths(rate), 80);
    demand.dram_bytes_q16 = 128 << 16;
    rate = gpump_partition_rate(&config, &demand, 100 << 16, 100 << 16);
    assert_int_equal(nearest((uint64_t)rate * 100, 65536), 1125);
    memset(&demand, 0, sizeof demand);
    assert_int_equal(gpump_partition_rate(&config, &demand, 1 << 16, 1 << 16), GPUMP_RATE_NO_LIMIT);
    /* Stores alone: what goes out binds. Twice the bytes per miss, half the misses. */
    memset(&demand, 0, sizeof demand);
    demand.up_bytes_q16 = 160 << 16;
    demand.down_bytes_q16 = 32 << 16;
    rate = gpump_partition_rate(&config, &demand, 100 << 16, 100 << 16);
    assert_int_equal(tenths(rate), 160);
    demand.up_bytes_q16 = 320 << 16;
    assert_int_equal(tenths(gpump_partition_rate(&config, &demand, 100 << 16, 100 << 16)), 80);
    /* One miss per instruction is 1000 of 1000. */
    traffic.issued = traffic.l1_load_misses;
    assert_int_equal(gpump_partition_demand(&config, &traffic, 16, &demand, NULL), GPUMP_OK);
    assert_int_equal(demand.misses_per_1000_q4, 16000);
    /* Stores and atomics are misses like loads. */
    traffic.l1_load_misses = 252000;
    traffic.l1_store_misses = 500000;
    traffic.l1_atomics = 400000;
    assert_int_equal(gpump_partition_demand(&config, &traffic, 16, &demand, NULL), GPUMP_OK);
    assert_int_equal(demand.misses_per_1000_q4, 16000);
    assert_int_equal(demand.up_bytes_q16, 32 << 16);
    /* Sampled on 4 of 16 SMs, the same traffic stands for four times as much. */
    assert_int_equal(gpump_partition_demand(&config, &traffic, 4, &demand, NULL), GPUMP_OK);
    assert_int_equal(tenths(demand.network_q16), 2000);
    assert_int_equal(gpump_partition_demand(&config, &traffic, 17, &demand, NULL), GPUMP_ERROR_ARGUMENT);
    traffic.cycles = 0;
    assert_int_equal(gpump_partition_demand(&config, &traffic, 16, &demand, NULL), GPUMP_EMPTY);
}

/* Lin's thresholds of network and DRAM, and the hysteresis around them. */
static void classes_change_at_their_thresholds(void **state) {
    const gpump_partition_config config = machine();
    gpump_demand demand;
    const uint32_t none = GPUMP_PARTITION_CLASSES;
    (void)state;
    memset(&demand, 0, sizeof demand);
    demand.network_q16 = 74 << 16;
    demand.dram_q16 = 60 << 16;
    assert_int_equal(gpump_partition_classify(&config, &demand, none), GPUMP_PARTITION_LATENCY);
    demand.network_q16 = 75 << 16;
    assert_int_equal(gpump_partition_classify(&config, &demand, none), GPUMP_PARTITION_NETWORK);
    assert_int_equal(gpump_partition_classify(&config, &demand, GPUMP_PARTITION_LATENCY), GPUMP_PARTITION_LATENCY);
    demand.network_q16 = 80 << 16;
    assert_int_equal(gpump_partition_classify(&config, &demand, GPUMP_PARTITION_LATENCY), GPUMP_PARTITION_NETWORK);
    demand.network_q16 = 71 << 16;
    assert_int_equal(gpump_partition_classify(&config, &demand, GPUMP_PARTITION_NETWORK), GPUMP_PARTITION_NETWORK);
    demand.network_q16 = 69 << 16;
    assert_int_equal(gpump_partition_classify(&config, &demand, GPUMP_PARTITION_NETWORK), GPUMP_PARTITION_LATENCY);
    demand.dram_q16 = 90 << 16;
    assert_int_equal(gpump_partition_classify(&config, &demand, none), GPUMP_PARTITION_DRAM);
}

/* ---- random requests ---- */

typedef struct random_request {
    gpump_partition_config config;
    gpump_partition_kernel kernels[GPUMP_PARTITION_KERNELS];
    gpump_partition_point curves[GPUMP_PARTITION_KERNELS][64];
    gpump_demand demands[GPUMP_PARTITION_KERNELS];
    gpump_partition_request request;
} random_request;
static void draw_request(random_request *r, uint32_t count, uint32_t most_blocks) {
    uint32_t k, c;
    r->config = machine();
    memset(&r->request, 0, sizeof r->request);
    r->request.count = count;
    r->request.config = &r->config;
    r->request.kernels = r->kernels;
    for (k = 0; k < count; k++) {
        gpump_partition_kernel *kernel = &r->kernels[k];
        gpump_occupancy alone;
        memset(kernel, 0, sizeof *kernel);
        kernel->need.threads = (uint32_t)(32 * (1 + draw(16)));
        kernel->need.registers = (uint32_t)(kernel->need.threads * (8 + draw(56)));
        kernel->need.shared_bytes = (uint32_t)draw(2) ? (uint32_t)draw(40000) : 0;
        assert_int_equal(gpump_gpu_occupancy(&r->config.gpu, &kernel->need, &alone, NULL), GPUMP_OK);
        kernel->blocks = alone.blocks < most_blocks ? alone.blocks : most_blocks;
        kernel->kind = (uint32_t)draw(GPUMP_PARTITION_CLASSES);
        kernel->priority = 1 + (uint32_t)draw(3);
        kernel->curve = r->curves[k];
        kernel->demand = draw(4) ? &r->demands[k] : NULL;
        memset(&r->demands[k], 0, sizeof r->demands[k]);
        r->demands[k].down_bytes_q16 = (uint32_t)(draw(200) << 16);
        r->demands[k].dram_bytes_q16 = (uint32_t)(draw(200) << 16);
        r->demands[k].misses_per_1000_q4 = (uint32_t)draw(8000);
        for (c = 0; c < kernel->blocks; c++) {
            r->curves[k][c].network_q16 = (uint32_t)draw(100 * 65536 + 1);
            r->curves[k][c].dram_q16 = (uint32_t)draw(100 * 65536 + 1);
            r->curves[k][c].speed_q16 = (uint32_t)draw(4 * 65536);
        }
    }
}

/* Every combination by counting, each once, in lexicographic order. */
static void every_combination_comes_once_and_in_order(void **state) {
    uint64_t seed = test_seed(), number, cases = test_cases(300);
    static random_request r;
    (void)state;
    for (number = 0; number < cases; number++) {
        uint32_t blocks[3], expected[3], more = 1;
        random_state = seed * 31337 + number;
        draw_request(&r, 3, 6);
        for (expected[0] = 1; expected[0] <= r.kernels[0].blocks; expected[0]++)
            for (expected[1] = 1; expected[1] <= r.kernels[1].blocks; expected[1]++)
                for (expected[2] = 1; expected[2] <= r.kernels[2].blocks; expected[2]++) {
                    if (!gpumpi_partition_fits(&r.request, expected)) continue;
                    if (more == 1) test_check(!gpump_partition_first(&r.request, blocks), seed, number);
                    more = 2;
                    test_check(!memcmp(blocks, expected, sizeof blocks), seed, number);
                    if (gpump_partition_next(&r.request, blocks)) more = 0;
                }
        test_check(more != 2, seed, number);
        if (more == 1) test_check(gpump_partition_first(&r.request, blocks) == GPUMP_EMPTY, seed, number);
    }
}

/* Algorithm 1 once more, in floating point and from the text of Lin 4.5.2 with its corrections. */
static void reference_ccbp(const random_request *r, uint32_t *blocks) {
    double network[8] = {0}, dram[8] = {0}, curve[8][2][65];
    uint32_t count = r->request.count, open = (1u << count) - 1, k, c;
    for (k = 0; k < count; k++) {
        blocks[k] = 0;
        curve[k][0][0] = curve[k][1][0] = 0;
        for (c = 1; c <= r->kernels[k].blocks; c++) {
            double n = r->curves[k][c - 1].network_q16 / 65536.0, d = r->curves[k][c - 1].dram_q16 / 65536.0;
            curve[k][0][c] = n > curve[k][0][c - 1] ? n : curve[k][0][c - 1];
            curve[k][1][c] = d > curve[k][1][c - 1] ? d : curve[k][1][c - 1];
        }
    }
    while (open) {
        double least = 1e9, sum_network = 0, sum_dram = 0, old_network, old_dram;
        uint32_t chosen = 0, old, with[8];
        for (k = 0; k < count; k++) {
            const gpump_partition_kernel *kernel = &r->kernels[k];
            gpump_occupancy alone;
            double dominant = kernel->kind == GPUMP_PARTITION_NETWORK ? network[k] : dram[k];
            if (kernel->kind == GPUMP_PARTITION_LATENCY) {
                double shares[5], largest = 0;
                (void)gpump_gpu_occupancy(&r->config.gpu, &kernel->need, &alone, NULL);
                shares[0] = (double)alone.registers / r->config.gpu.registers;
                shares[1] = (double)alone.block_shared_bytes / 98304;
                shares[2] = kernel->need.threads / 2048.0;
                shares[3] = alone.warps / 64.0;
                shares[4] = 1 / 32.0;
                for (c = 0; c < 5; c++) largest = shares[c] > largest ? shares[c] : largest;
                dominant = 100 * largest * blocks[k] / kernel->priority;
            }
            if (open >> k & 1u && dominant < least - 1e-3) least = dominant, chosen = k;
        }
        old = blocks[chosen], old_network = network[chosen], old_dram = dram[chosen];
        if (r->kernels[chosen].kind == GPUMP_PARTITION_LATENCY) {
            blocks[chosen]++;
            if (blocks[chosen] <= r->kernels[chosen].blocks)
                network[chosen] = curve[chosen][0][blocks[chosen]], dram[chosen] = curve[chosen][1][blocks[chosen]];
        } else {
            int is_dram = r->kernels[chosen].kind == GPUMP_PARTITION_DRAM;
            double *mine = is_dram ? &dram[chosen] : &network[chosen],
                   *other = is_dram ? &network[chosen] : &dram[chosen];
            *mine += 1;
            if (curve[chosen][is_dram][blocks[chosen]] < *mine - 1e-9) blocks[chosen]++;
            if (blocks[chosen] <= r->kernels[chosen].blocks)
                *other = curve[chosen][is_dram][blocks[chosen]] > 0
                             ? curve[chosen][!is_dram][blocks[chosen]] * *mine / curve[chosen][is_dram][blocks[chosen]]
                             : 0;
        }
        for (k = 0; k < count; k++) sum_network += network[k], sum_dram += dram[k], with[k] = blocks[k];
        if (blocks[chosen] <= r->kernels[chosen].blocks && sum_network <= 100 + 1e-9 && sum_dram <= 100 + 1e-9 &&
            gpumpi_partition_fits(&r->request, with))
            continue;
        blocks[chosen] = old, network[chosen] = old_network, dram[chosen] = old_dram;
        open &= ~(1u << chosen);
    }
}

/* Returns 1 when the shares are those of leftover, which a policy has that gives no kernel a block. */
static int is_leftover(const random_request *r, const gpump_partition_share *shares) {
    gpump_partition_share leftover[GPUMP_PARTITION_KERNELS];
    if (gpump_partition_decide(gpump_partition_find("leftover"), &r->request, leftover, NULL)) return 0;
    return !memcmp(shares, leftover, r->request.count * sizeof *shares);
}

/* Random requests: each policy's division beside one that is written from its paper. */
static void every_policy_beside_its_reference(void **state) {
    uint64_t seed = test_seed(), number, cases = test_cases(600), close = 0;
    static random_request r;
    (void)state;
    for (number = 0; number < cases; number++) {
        gpump_partition_share shares[GPUMP_PARTITION_KERNELS];
        uint32_t blocks[GPUMP_PARTITION_KERNELS], k, i, count;
        uint64_t best = 0, sum = 0, network = 0, dram = 0;
        const gpump_partition_policy *policy;
        random_state = seed * 104729 + number;
        count = 1 + (uint32_t)draw(3);
        draw_request(&r, count, 6);
        for (i = 0; (policy = gpump_partition_policy_at(i)) != NULL; i++) {
            gpump_diag diag;
            test_check(!gpump_partition_decide(policy, &r.request, shares, &diag), seed, number);
            test_check(gpump_partition_find(policy->name) == policy, seed, number);
        }
        /* crisp: no combination has a larger sum. */
        test_check(!gpump_partition_decide(gpump_partition_find("crisp"), &r.request, shares, NULL), seed, number);
        if (!gpump_partition_first(&r.request, blocks)) do {
                uint64_t of_these = 0;
                for (k = 0; k < count; k++) of_these += r.curves[k][blocks[k] - 1].speed_q16;
                if (of_these > best) best = of_these;
            } while (!gpump_partition_next(&r.request, blocks));
        for (k = 0; k < count; k++) sum += shares[k].blocks ? r.curves[k][shares[k].blocks - 1].speed_q16 : 0;
        test_check(gpump_partition_first(&r.request, blocks) ? is_leftover(&r, shares) : sum == best, seed, number);
        /* smk and leftover: no kernel could have one block more. */
        for (i = 0; i < 2; i++) {
            test_check(!gpump_partition_decide(gpump_partition_find(i ? "leftover" : "smk"), &r.request, shares, NULL),
                       seed, number);
            for (k = 0; k < count; k++) blocks[k] = shares[k].blocks;
            for (k = 0; k < count; k++) {
                blocks[k]++;
                test_check(blocks[k] > r.kernels[k].blocks || !gpumpi_partition_fits(&r.request, blocks), seed, number);
                blocks[k]--;
            }
        }
        /* even: what each kernel takes, taken once per kernel, fits. */
        test_check(!gpump_partition_decide(gpump_partition_find("even"), &r.request, shares, NULL), seed, number);
        for (k = 0; k < count && !is_leftover(&r, shares); k++) {
            for (i = 0; i < count; i++) blocks[i] = i == k ? shares[k].blocks * count : 0;
            test_check(gpumpi_partition_fits(&r.request, blocks), seed, number);
        }
        /* spatial: every SM belongs to one kernel. */
        test_check(!gpump_partition_decide(gpump_partition_find("spatial"), &r.request, shares, NULL), seed, number);
        for (k = 0, i = 0; k < count; k++) {
            test_check(shares[k].first_sm == i && shares[k].blocks == r.kernels[k].blocks, seed, number);
            i += shares[k].sms;
        }
        test_check(i == 16, seed, number);
        /* ccbp: the bandwidths are not given away twice, and the rates follow from the shares. */
        test_check(!gpump_partition_decide(gpump_partition_find("ccbp"), &r.request, shares, NULL), seed, number);
        for (k = 0; k < count; k++) {
            uint32_t rate = !r.kernels[k].demand ? 0
                                                 : gpump_partition_rate(&r.config, r.kernels[k].demand,
                                                                        shares[k].network_q16, shares[k].dram_q16);
            network += shares[k].network_q16, dram += shares[k].dram_q16;
            test_check(shares[k].limits.misses_q16 == (rate ? rate : GPUMP_RATE_NO_LIMIT), seed, number);
        }
        test_check(network <= 100 << 16 && dram <= 100 << 16, seed, number);
        reference_ccbp(&r, blocks);
        for (k = 0, i = 0; k < count; k++) i += blocks[k];
        for (k = 0; k < count && shares[k].blocks == blocks[k]; k++) {}
        close += i ? k == count : is_leftover(&r, shares);
    }
    assert_true(close * 100 >= cases * 99); /* ties within rounding may fall otherwise */
}

/* The worked example of Warped-Slicer's rule: the slowest is raised; where the slowest would have less than its part of
 * the SMs, the SMs are divided. */
static void warped_slicer_raises_the_slowest(void **state) {
    static random_request r;
    gpump_partition_share shares[2];
    uint32_t c;
    (void)state;
    draw_request(&r, 2, 1);
    for (c = 0; c < 2; c++) {
        r.kernels[c].need.threads = 256;
        r.kernels[c].need.registers = 8192;
        r.kernels[c].need.shared_bytes = 0;
        r.kernels[c].blocks = 8;
    }
    for (c = 0; c < 8; c++) {
        r.curves[0][c].speed_q16 = 10 * (c + 1);              /* needs its blocks */
        r.curves[1][c].speed_q16 = c < 2 ? 40 * (c + 1) : 70; /* is fastest with two, and gains nothing from three */
    }
    assert_int_equal(gpump_partition_decide(gpump_partition_find("ws"), &r.request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 6);
    assert_int_equal(shares[1].blocks, 2);
    assert_int_equal(shares[1].sms, 16);
    for (c = 0; c < 8; c++) r.curves[0][c].speed_q16 = c < 7 ? c + 1 : 100;
    r.curves[1][0].speed_q16 = r.curves[1][1].speed_q16 = 10;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("ws"), &r.request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 8);
    assert_int_equal(shares[0].sms, 8);
    assert_int_equal(shares[1].first_sm, 8);
    for (c = 0; c < 8; c++) r.curves[0][c].speed_q16 = c < 3 ? 10 : 40; /* gains nothing before its fourth block */
    r.curves[1][0].speed_q16 = 40;
    r.curves[1][1].speed_q16 = 80;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("ws"), &r.request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 4);
    assert_int_equal(shares[1].blocks, 2);
}

/* The kernel with four times the misses gets a quarter of the memory quota. */
static void dai_limits_by_misses(void **state) {
    static random_request r;
    gpump_partition_share shares[2];
    (void)state;
    random_state = 5;
    draw_request(&r, 2, 4);
    r.kernels[0].demand = &r.demands[0];
    r.kernels[1].demand = &r.demands[1];
    r.demands[0].misses_per_1000_q4 = 1000;
    r.demands[1].misses_per_1000_q4 = 4000;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("ws+dai"), &r.request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].limits.memory_quota, 16);
    assert_int_equal(shares[1].limits.memory_quota, 4);
    assert_int_equal(shares[0].limits.in_flight, GPUMP_RATE_RENEWED);
    assert_int_equal(shares[1].limits.in_flight, GPUMP_RATE_RENEWED);
}

/* Samples in which the warps only waited, say for pages, ask for nothing. Who is given such a point has no limit: with
 * one of 0 its misses would never leave L1. */
static void a_sample_without_instructions_sets_no_limit(void **state) {
    static const char *const names[] = {"ccbp", "smk", "ws", "ws+dai", "crisp", "slack"};
    static random_request r;
    gpump_partition_share shares[2];
    uint32_t i, n, k, c;
    (void)state;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        for (n = 0; n < 4; n++) {
            const uint32_t points = n & 1 ? 8 : 4, least = n >> 1; /* a share of 1 makes a rate that rounds to 0 */
            random_state = 7;
            draw_request(&r, 2, 8);
            for (k = 0; k < 2; k++) {
                fill(&r.kernels[k], r.curves[k], k ? "PF" : "BP", 1);
                r.kernels[k].demand = &r.demands[k];
                r.demands[k].up_bytes_q16 = r.demands[k].down_bytes_q16 = r.demands[k].dram_bytes_q16 = 10000 << 16;
                for (c = 0; c < points; c++) {
                    r.curves[k][c].network_q16 = r.curves[k][c].dram_q16 = least;
                    r.curves[k][c].speed_q16 = 0;
                }
            }
            assert_int_equal(gpump_partition_decide(gpump_partition_find(names[i]), &r.request, shares, NULL),
                             GPUMP_OK);
            if (points == 8 && !strcmp(names[i], "crisp")) /* no combination is faster than the first */
                assert_true(shares[0].blocks == 1 && shares[1].blocks == 1);
            for (k = 0; k < 2; k++)
                if (!shares[k].limits.misses_q16 || !shares[k].limits.instructions || !shares[k].limits.in_flight)
                    fail_msg("%s, %u of 8 points ask for %u: kernel %u with %u blocks is limited to 0", names[i],
                             points, least, k, shares[k].blocks);
        }
}

/* What vendors' tools and a user name. */
static void a_named_division_is_what_its_name_says(void **state) {
    static const struct {
        const char *text;
        uint32_t count, sms[2], memory[2], blocks[2];
    } good[] = {{"green:10:6", 2, {10, 6}, {0, 0}, {0, 0}}, {"mps:50:25", 2, {8, 4}, {0, 0}, {0, 0}},
                {"mps:1:90", 2, {1, 14}, {0, 0}, {0, 0}},   {"mig:1g+3g", 2, {2, 6}, {1, 4}, {0, 0}},
                {"mig:3g+4g", 2, {6, 9}, {4, 4}, {0, 0}},   {"mig:7g", 1, {16, 0}, {8, 0}, {0, 0}},
                {"blocks:3:2", 2, {0, 0}, {0, 0}, {3, 2}}};
    static const char *const bad[] = {"green:10:7",
                                      "green:",
                                      "green:8:",
                                      "green:8:x",
                                      "green:0:8",
                                      "mps:60:50",
                                      "mig:5g+1g",
                                      "mig:4g+4g",
                                      "mig:1",
                                      "blocks:65",
                                      "blocks:1:1:1:1:1:1:1:1:1",
                                      "green:8+8"};
    gpump_partition_fixed fixed, kept;
    gpump_partition_share shares[2];
    static random_request r;
    gpump_gpu gpu;
    gpump_diag diag;
    uint32_t i, k;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "maxwell_ccbp", NULL), GPUMP_OK);
    for (i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(gpump_partition_fixed_parse(good[i].text, &gpu, &fixed, &diag), GPUMP_OK);
        assert_int_equal(fixed.count, good[i].count);
        for (k = 0; k < 2; k++) {
            assert_int_equal(fixed.sms[k], good[i].sms[k]);
            assert_int_equal(fixed.memory[k], good[i].memory[k]);
            assert_int_equal(fixed.blocks[k], good[i].blocks[k]);
        }
    }
    kept = fixed;
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (gpump_partition_fixed_parse(bad[i], &gpu, &fixed, &diag) != GPUMP_ERROR_ARGUMENT) fail_msg("%s", bad[i]);
        assert_memory_equal(&kept, &fixed, sizeof kept);
    }
    assert_int_equal(gpump_partition_fixed_parse("red:1:2", &gpu, &fixed, &diag), GPUMP_ERROR_UNKNOWN_NAME);
    random_state = 9;
    draw_request(&r, 2, 4);
    assert_int_equal(gpump_partition_fixed_parse("mig:1g+3g", &gpu, &fixed, &diag), GPUMP_OK);
    assert_int_equal(gpump_partition_decide(&fixed.policy, &r.request, shares, &diag), GPUMP_OK);
    assert_int_equal(shares[0].sms, 2);
    assert_int_equal(shares[1].first_sm, 2);
    assert_int_equal(shares[1].sms, 6);
    assert_int_equal(shares[0].memory, 1);
    assert_int_equal(shares[1].first_memory, 1);
    assert_int_equal(shares[1].memory, 4);
    assert_int_equal(shares[1].blocks, r.kernels[1].blocks);
    assert_int_equal(shares[1].limits.misses_q16, GPUMP_RATE_NO_LIMIT);
}

/* The order of the kernels in a request changes when some come and go; a kernel that names its part keeps it. */
static void a_kernel_that_names_its_part_has_it_in_any_order(void **state) {
    static random_request r;
    gpump_partition_share shares[GPUMP_PARTITION_KERNELS];
    gpump_partition_fixed fixed;
    gpump_gpu gpu;
    (void)state;
    random_state = 9;
    draw_request(&r, 2, 4);
    gpu = r.request.config->gpu;
    assert_int_equal(gpump_partition_fixed_parse("mig:1g+3g", &gpu, &fixed, NULL), GPUMP_OK);
    r.kernels[0].part = 2;
    r.kernels[1].part = 1;
    assert_int_equal(gpump_partition_decide(&fixed.policy, &r.request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].first_sm, fixed.sms[0]);
    assert_int_equal(shares[0].sms, fixed.sms[1]);
    assert_int_equal(shares[0].first_memory, 1);
    assert_int_equal(shares[0].memory, 4);
    assert_int_equal(shares[1].first_sm, 0);
    assert_int_equal(shares[1].sms, fixed.sms[0]);
    r.request.count = 1; /* the others have left */
    assert_int_equal(gpump_partition_decide(&fixed.policy, &r.request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].first_sm, fixed.sms[0]);
    r.kernels[0].part = 3; /* none: all SMs */
    assert_int_equal(gpump_partition_decide(&fixed.policy, &r.request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].sms, gpu.sms);
}

/* The caller's array may end where its memory ends: no policy looks at a kernel behind the last, or at a point of a
 * curve behind the last block. */
static void reads_what_it_was_given(void **state) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), half = 1 << 17; /* larger than all curves together */
    uint8_t *kernels_end, *curves_end, *pages;
    static random_request r;
    gpump_partition_share shares[GPUMP_PARTITION_KERNELS];
    const gpump_partition_policy *policy;
    (void)state;
    pages = (uint8_t *)mmap(NULL, 2 * (half + page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    kernels_end = pages + half;
    curves_end = kernels_end + page + half;
    assert_int_equal(mprotect(kernels_end, page, PROT_NONE), 0);
    assert_int_equal(mprotect(curves_end, page, PROT_NONE), 0);
    for (uint32_t i = 0; (policy = gpump_partition_policy_at(i)) != NULL; i++)
        for (uint32_t count = 1; count <= GPUMP_PARTITION_KERNELS; count++) {
            gpump_partition_kernel *kernels = (gpump_partition_kernel *)(void *)kernels_end - count;
            random_state = test_seed() + count;
            draw_request(&r, count, 4);
            for (uint32_t k = 0; k < count; k++) {
                gpump_partition_point *curve = (gpump_partition_point *)(void *)curves_end - r.kernels[k].blocks;
                memcpy(curve, r.curves[k], r.kernels[k].blocks * sizeof *curve);
                r.kernels[k].curve = curve;
            }
            memcpy(kernels, r.kernels, count * sizeof *kernels);
            r.request.kernels = kernels;
            r.request.candidate = 0;
            do assert_int_equal(gpump_partition_decide(policy, &r.request, shares, NULL), GPUMP_OK);
            while (++r.request.candidate < policy->candidates);
        }
    assert_int_equal(munmap(pages, 2 * (half + page)), 0);
}

/* ---- wrong arguments, and hooks that answer nonsense ---- */

static uint32_t answer_blocks, answer_sms;
/* ---- slack ---- */

/* Every candidate of random requests fits, those of rivals are their answers, and a limit is never above what can be
 * sustained. */
static void slack_candidates_fit_and_can_be_sustained(void **state) {
    static const char *const rivals[] = {"ccbp", "ws+dai", "ws", "spatial"};
    const gpump_partition_policy *slack = gpump_partition_find("slack");
    uint64_t seed = test_seed(), number, cases = test_cases(40);
    (void)state;
    for (number = 0; number < cases; number++) {
        random_request r;
        gpump_partition_share shares[3], rival[3];
        uint32_t k, c, count;
        random_state = seed * 104729 + number;
        count = 1 + (uint32_t)draw(3);
        draw_request(&r, count, 6);
        for (c = 0; c < slack->candidates; c++) {
            r.request.candidate = c;
            test_check(!gpump_partition_decide(slack, &r.request, shares, NULL), seed, number);
            for (k = 0; k < count && c < 3; k++) {
                test_check(shares[k].network_q16 <= 100 << 16 && shares[k].dram_q16 <= 100 << 16, seed, number);
                test_check(shares[k].blocks <= r.kernels[k].blocks, seed, number);
                if (c || !r.kernels[k].demand) /* only the first candidate has limits */
                    test_check(shares[k].limits.misses_q16 == GPUMP_RATE_NO_LIMIT, seed, number);
            }
            if (c < 3) continue;
            r.request.candidate = 0;
            test_check(!gpump_partition_decide(gpump_partition_find(rivals[c - 3]), &r.request, rival, NULL), seed,
                       number);
            test_check(!memcmp(shares, rival, count * sizeof *rival), seed, number);
        }
        r.request.candidate = c;
        test_check(gpump_partition_decide(slack, &r.request, shares, NULL) == GPUMP_ERROR_ARGUMENT, seed, number);
    }
}

/* Backprop and CFD by hand. CFD asks for 22.5% of the network's sustainable bandwidth with each block up to the fourth,
 * backprop for 4% with each, of DRAM for 6.9% and 5.4%; backprop's speed is proportional to its blocks. */
static void slack_by_hand(void **state) {
    const gpump_partition_config config = machine();
    gpump_partition_kernel kernels[2];
    gpump_partition_point curves[2][8];
    gpump_partition_request request;
    gpump_partition_share shares[2];
    gpump_demand demand;
    (void)state;
    memset(&request, 0, sizeof request);
    memset(&demand, 0, sizeof demand);
    demand.down_bytes_q16 = 160 << 16;
    request.count = 2;
    request.config = &config;
    request.kernels = kernels;
    fill(&kernels[0], curves[0], "BP", 1);
    fill(&kernels[1], curves[1], "CFD", 1);
    kernels[0].demand = kernels[1].demand = &demand;
    /* Blocks alone: slowdowns are 8/5 + 4/3 = 2.93 for (5, 3), 8/4 + 1 = 3 for (4, 4), 8/6 + 2 = 3.33 for (6, 2). */
    request.candidate = 1;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("slack"), &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 5);
    assert_int_equal(shares[1].blocks, 3);
    /* Nothing is gained by limits while the sum stays below what can be sustained: 20 + 67% here. */
    request.candidate = 0;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("slack"), &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 5);
    assert_int_equal(shares[1].limits.misses_q16, GPUMP_RATE_NO_LIMIT);
    /* With room for eight blocks of both, CFD's would ask for 180%: it is limited, and backprop gets all its blocks. */
    kernels[0].need.registers = kernels[1].need.registers = 65536 / 16;
    kernels[0].need.threads = kernels[1].need.threads = 128;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("slack"), &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 8);
    assert_true(shares[1].blocks * 45 / 2 + 32 <= 100 || shares[1].limits.misses_q16 < GPUMP_RATE_NO_LIMIT);
    assert_int_equal(shares[0].limits.misses_q16, GPUMP_RATE_NO_LIMIT);
}

/* SMs of their own, of 16. One kernel asks for three times what the network sustains when it has all SMs, so that five
 * of them bring it to 5/16 x 3 = 94% of its best; the other needs SMs only. Slowdowns are 1/0.94 + 16/11 = 2.52 for
 * (11, 5), 1 + 16/10 = 2.6 for (10, 6) and 4/3 + 16/12 = 2.67 for (12, 4). Three kernels get equal parts, the first of
 * them what is left over. */
static void slack_splits_sms_where_that_slows_down_least(void **state) {
    const gpump_partition_config config = machine();
    gpump_partition_kernel kernels[3];
    gpump_partition_point curves[3][8];
    gpump_partition_request request;
    gpump_partition_share shares[3];
    uint32_t c, k;
    (void)state;
    assert_int_equal(config.gpu.sms, 16);
    memset(&request, 0, sizeof request);
    request.config = &config;
    request.kernels = kernels;
    request.candidate = 2;
    for (k = 0; k < 3; k++) {
        fill(&kernels[k], curves[k], k == 1 ? "CFD" : "BP", 1);
        for (c = 0; c < 8; c++) {
            curves[k][c].network_q16 = k == 1 ? 65536 * 300 / 8 * (c + 1) : 0;
            curves[k][c].speed_q16 = 65536 / 8 * (c + 1);
            curves[k][c].dram_q16 = 0;
        }
    }
    request.count = 2;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("slack"), &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].sms, 11);
    assert_int_equal(shares[1].sms, 5);
    assert_int_equal(shares[0].first_sm, 0);
    assert_int_equal(shares[1].first_sm, 11);
    request.count = 3;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("slack"), &request, shares, NULL), GPUMP_OK);
    for (k = 0; k < 3; k++) {
        assert_int_equal(shares[k].sms, k ? 5 : 6);
        assert_int_equal(shares[k].first_sm, k ? 1 + 5 * k : 0);
    }
    /* A kernel of which nothing was measured gains nothing by an SM, and keeps one. */
    request.count = 2;
    for (c = 0; c < 8; c++) curves[1][c].network_q16 = curves[1][c].speed_q16 = 0;
    assert_int_equal(gpump_partition_decide(gpump_partition_find("slack"), &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].sms, 15);
    assert_int_equal(shares[1].sms, 1);
    assert_int_equal(shares[1].first_sm, 15);
}

/* ---- hold ---- */

/* Requests whose latency grows with what the others keep, and with luck: the controller rests where one in a hundred is
 * late, wherever that is, and its divisions fit. */
static void holds_a_tail(void **state) {
    static const uint32_t levels[] = {300, 600, 900};
    uint64_t seed = test_seed();
    uint32_t i, n;
    (void)state;
    for (i = 0; i < 3; i++) {
        gpump_partition_hold hold;
        uint32_t late = 0, all = 0, limit = 1000;
        random_state = seed + i;
        assert_int_equal(gpump_partition_hold_init(&hold, limit, 10, NULL), GPUMP_OK);
        for (n = 0; n < 40000; n++) {
            const uint64_t latency = 1000 - levels[i] + (uint64_t)hold.share_q16 * 1000 / 65536 * draw(1000) / 500;
            late += n >= 20000 && latency > limit;
            all += latency > limit;
            gpump_partition_hold_report(&hold, latency);
            assert_true(all <= 1 + (n + 1) / 99); /* from the first request on: who keeps nothing makes nobody late */
            assert_true(hold.share_q16 <= 65536);
        }
        assert_in_range(late, 100, 300); /* 1% of 20,000 is 200 */
    }
}

/* The controller gives the batch what the latency's limit leaves. */
static void hold_gives_the_least_that_keeps_the_limit(void **state) {
    const gpump_partition_config config = machine();
    gpump_partition_hold hold;
    gpump_partition_kernel kernels[2];
    gpump_partition_point curves[2][8];
    gpump_partition_request request;
    gpump_partition_share shares[2];
    gpump_diag diag;
    uint32_t n;
    (void)state;
    assert_int_equal(gpump_partition_hold_init(&hold, 1000, 1001, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "late_permille");
    assert_int_equal(gpump_partition_hold_init(&hold, 1000, 10, NULL), GPUMP_OK);
    memset(&request, 0, sizeof request);
    request.count = 2;
    request.config = &config;
    request.kernels = kernels;
    fill(&kernels[0], curves[0], "CFD", 1);
    fill(&kernels[1], curves[1], "BP", 2);
    assert_int_equal(hold.share_q16, 0);
    for (n = 0; n < 205; n++) gpump_partition_hold_report(&hold, 1000);
    assert_int_equal(gpump_partition_decide(&hold.policy, &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 4);
    assert_int_equal(shares[1].blocks, 4);
    assert_true(shares[0].limits.misses_q16 < 16 * GPUMP_RATE_MISS);
    assert_int_equal(shares[1].limits.misses_q16, GPUMP_RATE_NO_LIMIT);
    for (n = 0; n < 4; n++) gpump_partition_hold_report(&hold, 1001);
    assert_int_equal(gpump_partition_decide(&hold.policy, &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 0); /* the batch gets nothing while a request runs, and may still send */
    assert_true(shares[0].limits.misses_q16 > 0);
    assert_int_equal(shares[1].blocks, 8);
    for (n = 0; n < 1000; n++) gpump_partition_hold_report(&hold, 1000);
    assert_int_equal(hold.share_q16, 65536);
}

/* Hold's numbers: its refusals, the steps down and up, the rate of a batch kernel, and the most urgent kernel first. */
static void hold_in_numbers(void **state) {
    const gpump_partition_config config = machine();
    gpump_partition_hold hold;
    gpump_partition_kernel kernels[2];
    gpump_partition_point curves[2][8];
    gpump_partition_request request;
    gpump_partition_share shares[3], untouched;
    gpump_partition_args args;
    gpump_demand replies;
    (void)state;
    memset(&hold, 0x5a, sizeof hold);
    diagnosed_null(gpump_partition_hold_init(NULL, 1000, 10, DIAG), "hold");
    diagnosed(gpump_partition_hold_init(&hold, 1000, 1001, DIAG), GPUMP_ERROR_ARGUMENT, "late_permille", 0, 1001, 0,
              1000);
    assert_int_equal(gpump_partition_hold_init(&hold, 1000, 1000, NULL), GPUMP_OK);
    assert_int_equal(hold.policy.candidates, 0);
    assert_string_equal(hold.policy.name, "hold");
    assert_int_equal(gpump_partition_hold_init(&hold, 1000, 500, NULL), GPUMP_OK);
    assert_int_equal(hold.share_q16, 0);
    assert_int_equal(hold.debt_q16, 0);
    for (uint32_t n = 0; n < 4; n++) gpump_partition_hold_report(&hold, 1000);
    assert_int_equal(hold.share_q16, 4 * 16 * 500); /* a quarter of 65536 is 16384: 16 per thousandth */
    gpump_partition_hold_report(&hold, 1001);
    assert_int_equal(hold.share_q16, 3 * 16 * 500);
    for (uint32_t n = 0; n < 5; n++) gpump_partition_hold_report(&hold, 1001);
    assert_int_equal(hold.share_q16, 0);
    assert_int_equal(hold.debt_q16, 2 * 16 * 500); /* two of the five could take nothing */
    gpump_partition_hold_report(&hold, 1000);
    assert_int_equal(hold.share_q16, 0);
    assert_int_equal(hold.debt_q16, 16 * 500);
    for (uint32_t n = 0; n < 2; n++) gpump_partition_hold_report(&hold, 1000);
    assert_int_equal(hold.share_q16, 16 * 500);
    assert_int_equal(hold.debt_q16, 0);
    assert_int_equal(gpump_partition_hold_init(&hold, 1000, 990, NULL), GPUMP_OK);
    for (uint32_t n = 0; n < 5; n++) gpump_partition_hold_report(&hold, 1000);
    assert_int_equal(hold.share_q16, 65536); /* five times 16 * 990 are more */
    gpump_partition_hold_report(&hold, 1001);
    assert_int_equal(hold.share_q16, 65536 - 16 * 10);
    assert_int_equal(gpump_partition_hold_init(&hold, 1000, 10, NULL), GPUMP_OK);
    hold.share_q16 = 32768;
    memset(&request, 0, sizeof request);
    request.count = 2;
    request.config = &config;
    request.kernels = kernels;
    memset(&replies, 0, sizeof replies);
    replies.down_bytes_q16 = 160 << 16; /* a line of 128 bytes and a header of 32 */
    for (uint32_t urgent = 0; urgent < 2; urgent++) {
        const uint32_t batch = 1 - urgent;
        fill(&kernels[batch], curves[0], "CFD", 1);
        fill(&kernels[urgent], curves[1], "BP", 2);
        assert_int_equal(gpump_partition_decide(&hold.policy, &request, shares, NULL), GPUMP_OK);
        assert_int_equal(shares[urgent].limits.misses_q16, GPUMP_RATE_NO_LIMIT);
        assert_int_equal(shares[urgent].blocks, 4);
        assert_int_equal(shares[batch].blocks, 4);
        assert_int_equal(shares[batch].limits.misses_q16,
                         gpump_partition_rate(&config, &replies, 50 << 16, 0) + GPUMP_RATE_MISS / 16);
    }
    kernels[1].blocks = 3; /* there is room for four of them beside the others, and they are not more than three */
    assert_int_equal(gpump_partition_decide(&hold.policy, &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 4);
    assert_int_equal(shares[1].blocks, 3);
    assert_non_null(hold.policy.description);
    fill(&kernels[0], curves[0], "CFD", 1); /* nobody is more urgent: all are requests */
    fill(&kernels[1], curves[1], "BP", 1);
    assert_int_equal(gpump_partition_decide(&hold.policy, &request, shares, NULL), GPUMP_OK);
    assert_int_equal(shares[0].blocks, 8);
    assert_int_equal(shares[1].blocks, 0);
    memset(&untouched, 0x5a, sizeof untouched);
    memset(shares, 0x5a, sizeof shares);
    args.policy = &hold.policy;
    args.request = &request;
    args.occupancy = NULL;
    hold.policy.decide(&args, shares); /* writes to the kernels of the request alone */
    assert_memory_equal(&shares[2], &untouched, sizeof untouched);
}

static void nonsense(const gpump_partition_args *args, gpump_partition_share *shares) {
    uint32_t k;
    for (k = 0; k < args->request->count; k++) shares[k].blocks = answer_blocks, shares[k].sms = answer_sms;
}
/* A policy's answer that does not fit, and requests with missing pointers, change nothing. */
static void wrong_answers_of_a_policy_are_refused(void **state) {
    gpump_partition_policy own;
    static random_request r;
    gpump_partition_share shares[GPUMP_PARTITION_KERNELS], untouched[GPUMP_PARTITION_KERNELS];
    const gpump_partition_policy *ccbp = gpump_partition_find("ccbp");
    gpump_diag diag;
    (void)state;
    random_state = 1;
    draw_request(&r, 2, 6);
    memset(&own, 0, sizeof own);
    own.name = "own";
    own.decide = nonsense;
    memset(shares, 0x5a, sizeof shares);
    memcpy(untouched, shares, sizeof shares);
    answer_blocks = 65, answer_sms = 16;
    assert_int_equal(gpump_partition_decide(&own, &r.request, shares, &diag), GPUMP_ERROR_REFUSED);
    answer_blocks = 1, answer_sms = 17;
    assert_int_equal(gpump_partition_decide(&own, &r.request, shares, &diag), GPUMP_ERROR_REFUSED);
    assert_string_equal(diag.field, "sms");
    assert_memory_equal(shares, untouched, sizeof shares);
    assert_null(gpump_partition_find("nonsense"));
    assert_null(gpump_partition_find(NULL));
    assert_int_equal(gpump_partition_decide(NULL, &r.request, shares, &diag), GPUMP_ERROR_ARGUMENT);
    r.kernels[1].kind = 3;
    assert_int_equal(gpump_partition_decide(ccbp, &r.request, shares, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "kind");
    assert_int_equal(diag.index, 1);
    r.kernels[1].kind = 0;
    r.kernels[1].priority = 0;
    assert_int_equal(gpump_partition_decide(ccbp, &r.request, shares, &diag), GPUMP_ERROR_ARGUMENT);
    r.kernels[1].priority = 1;
    r.kernels[0].blocks = 65;
    assert_int_equal(gpump_partition_decide(ccbp, &r.request, shares, &diag), GPUMP_ERROR_ARGUMENT);
    r.kernels[0].blocks = 1;
    r.kernels[0].need.threads = 4096;
    assert_int_equal(gpump_partition_decide(ccbp, &r.request, shares, &diag), GPUMP_ERROR_REFUSED);
    r.kernels[0].need.threads = 32;
    r.request.count = 9;
    assert_int_equal(gpump_partition_decide(ccbp, &r.request, shares, &diag), GPUMP_ERROR_ARGUMENT);
    r.request.count = 2;
    r.config.threshold_percent = 101;
    assert_int_equal(gpump_partition_decide(ccbp, &r.request, shares, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "threshold_percent");
    assert_memory_equal(shares, untouched, sizeof shares);
}

/* One line: what each kernel gets. */
static void note_shares(decisions *all, uint64_t number, gpump_result result, const gpump_partition_share *shares,
                        uint32_t count) {
    char line[2048];
    size_t at = (size_t)snprintf(line, sizeof line, "%" PRIu64 ":%s%s", number, result ? " " : "",
                                 result ? gpump_result_name(result) : "");
    for (uint32_t k = 0; !result && k < count; k++) {
        const gpump_partition_share *s = &shares[k];
        at += (size_t)snprintf(
            line + at, sizeof line - at,
            "%s %" PRIu32 " blocks, SMs %" PRIu32 "+%" PRIu32 ", network %" PRIu32 ", DRAM %" PRIu32 ", memory %" PRIu32
            "+%" PRIu32 ", limits %016" PRIx64,
            k ? ";" : "", s->blocks, s->first_sm, s->sms, s->network_q16, s->dram_q16, s->first_memory, s->memory,
            gpumpi_hash_u32s(GPUMP_HASH_SEED, (const uint32_t *)(const void *)&s->limits, sizeof s->limits / 4));
    }
    assert_true(at < sizeof line);
    decided(all, "%s", line);
}

/* What every policy gives in 400 random requests, in tests/sharing/decisions; half of the kernels want few blocks, some
 * say nothing of their misses. A change has to be meant, and is written down there (GPUMP_DECISIONS=write,
 * tests/decisions.h) and in CHANGELOG. */
static void every_policy_divides_as_written_down(void **state) {
    static const char *const names[] = {"ccbp", "smk", "ws", "ws+dai", "crisp", "spatial", "even", "leftover", "slack"};
    static random_request r;
    int changed = 0;
    (void)state;
    for (uint32_t p = 0; p < sizeof names / sizeof *names; p++) {
        const gpump_partition_policy *policy = gpump_partition_find(names[p]);
        decisions all = decisions_begin(40);
        char name[128];
        for (uint64_t number = 0; number < 400; number++) {
            gpump_partition_share shares[GPUMP_PARTITION_KERNELS];
            random_state = 31 + number;
            draw_request(&r, 1 + (uint32_t)draw(4), number % 2 ? 3 : 16);
            for (uint32_t k = 0; k < r.request.count; k++) { /* speeds that are equal, and misses that are few */
                for (uint32_t c = 0; number % 3 == 0 && c < r.kernels[k].blocks; c++)
                    r.curves[k][c].speed_q16 = (1 + (uint32_t)draw(3)) << 14;
                if (number % 4 == 0) r.demands[k].misses_per_1000_q4 %= 20;
            }
            memset(shares, 0xff, sizeof shares);
            note_shares(&all, number, gpump_partition_decide(policy, &r.request, shares, NULL), shares,
                        r.request.count);
        }
        snprintf(name, sizeof name, "tests/sharing/decisions/%s.txt", names[p]);
        changed |= decisions_differ(&all, name);
    }
    assert_false(changed);
}

/* What slack itself gives, without its rivals: with limits, without, and on SMs of their own, of 1 to 16 SMs. Curves
 * rise in half of the requests, and in some of these all kernels want SMs alone. */
static void slack_divides_as_written_down(void **state) {
    static const uint32_t sms[] = {16, 2, 3, 7, 16, 5, 1};
    static random_request r;
    decisions all = decisions_begin(60);
    (void)state;
    for (uint64_t number = 0; number < 900; number++) {
        gpump_partition_share shares[GPUMP_PARTITION_KERNELS];
        random_state = 77 + number / 3;
        draw_request(&r, 1 + (uint32_t)draw(3), 5);
        r.config.gpu.sms = sms[number / 3 % 7];
        for (uint32_t k = 0; k < r.request.count; k++)
            for (uint32_t c = 0; c < r.kernels[k].blocks && number / 3 % 2; c++) {
                gpump_partition_point *point = &r.curves[k][c];
                point->speed_q16 = (c + 1) * 9000 + (uint32_t)draw(20000);
                point->network_q16 = number / 3 % 4 == 3 ? 0 : 65536 * (c + 1) * (1 + (uint32_t)draw(25));
                point->dram_q16 = number / 3 % 4 == 3 ? 0 : 65536 * (c + 1) * (1 + (uint32_t)draw(25));
            }
        r.request.candidate = (uint32_t)(number % 3);
        memset(shares, 0xff, sizeof shares);
        note_shares(&all, number, gpump_partition_decide(gpump_partition_find("slack"), &r.request, shares, NULL),
                    shares, r.request.count);
    }
    assert_false(decisions_differ(&all, "tests/sharing/decisions/slack_alone.txt"));
}

/* Two kernels of which an SM holds a block of one or of the other: every policy gives a block to one, else the group
 * would stand still for ever. A policy whose answer has no block for any kernel is answered as leftover. */
static void a_kernel_always_gets_a_block(void **state) {
    const gpump_partition_config config = machine();
    gpump_partition_kernel kernels[2];
    gpump_partition_point curves[2][8];
    gpump_partition_request request;
    const gpump_partition_policy *policy;
    (void)state;
    memset(&request, 0, sizeof request);
    request.count = 2;
    request.config = &config;
    request.kernels = kernels;
    for (uint32_t k = 0; k < 2; k++) {
        fill(&kernels[k], curves[k], k ? "BP" : "CFD", 1);
        kernels[k].need.registers = 65536 * 5 / 8;
        kernels[k].blocks = 1;
    }
    for (uint32_t p = 0; (policy = gpump_partition_policy_at(p)) != NULL; p++) {
        gpump_partition_share shares[2];
        assert_int_equal(gpump_partition_decide(policy, &request, shares, NULL), GPUMP_OK);
        if (shares[0].blocks + shares[1].blocks == 0) fail_msg("%s: no kernel has a block", policy->name);
        if (shares[0].sms == config.gpu.sms) assert_int_equal(shares[0].blocks + shares[1].blocks, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slack_divides_as_written_down),
        cmocka_unit_test(a_kernel_always_gets_a_block),
        cmocka_unit_test(algorithm_1_on_table_4_2),
        cmocka_unit_test(rates_by_hand),
        cmocka_unit_test(classes_change_at_their_thresholds),
        cmocka_unit_test(every_combination_comes_once_and_in_order),
        cmocka_unit_test(warped_slicer_raises_the_slowest),
        cmocka_unit_test(every_policy_beside_its_reference),
        cmocka_unit_test(dai_limits_by_misses),
        cmocka_unit_test(a_sample_without_instructions_sets_no_limit),
        cmocka_unit_test(a_named_division_is_what_its_name_says),
        cmocka_unit_test(a_kernel_that_names_its_part_has_it_in_any_order),
        cmocka_unit_test(slack_candidates_fit_and_can_be_sustained),
        cmocka_unit_test(slack_by_hand),
        cmocka_unit_test(slack_splits_sms_where_that_slows_down_least),
        cmocka_unit_test(holds_a_tail),
        cmocka_unit_test(hold_gives_the_least_that_keeps_the_limit),
        cmocka_unit_test(hold_in_numbers),
        cmocka_unit_test(every_policy_divides_as_written_down),
        cmocka_unit_test(wrong_answers_of_a_policy_are_refused),
        cmocka_unit_test(reads_what_it_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
