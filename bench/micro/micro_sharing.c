/* Kernels that share an SM: the gates, and a decision about n kernels. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "micro.h"

static const uint64_t kernel_counts[] = {2, 8, 0};
static void *setup_rate(uint64_t size) {
    gpump_rate_config config;
    gpump_rate_limits limits = gpump_rate_limits_none();
    gpump_rate *rate;
    size_t bytes;
    void *memory;
    uint32_t k;
    if (gpump_preset(&gpump_rate_component, &config, "lin", NULL) != GPUMP_OK) return NULL;
    config.kernels = (uint32_t)size;
    if (gpump_bytes(&gpump_rate_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes))) return NULL;
    if (gpump_init(&gpump_rate_component, memory, bytes, &config, &rate, NULL) != GPUMP_OK) return NULL;
    limits.misses_q16 = 8 * GPUMP_RATE_MISS;
    for (k = 0; k < size; k++)
        if (gpump_rate_set(rate, 0, k, &limits) != GPUMP_OK) return NULL;
    return rate;
}
/* A cycle of an SM: time passes, and the kernels ask and send in turn. */
static uint64_t run_rate(void *state, uint64_t operations) {
    gpump_rate *rate = (gpump_rate *)state;
    uint64_t i, sent = 0, now = rate->now;
    for (i = 0; i < operations; i++) {
        const uint32_t kernel = (uint32_t)i & (rate->config.kernels - 1);
        if (gpump_rate_advance(rate, ++now)) return sent;
        if (!gpump_rate_may(rate, kernel, GPUMP_RATE_SEND)) continue;
        gpump_rate_report_sent(rate, kernel, 1);
        sent++;
    }
    return sent;
}

/* ---- decisions: kernels of the three classes in turn, 8 blocks each ---- */

typedef struct scene {
    gpump_partition_config config;
    gpump_partition_kernel kernels[GPUMP_PARTITION_KERNELS];
    gpump_partition_point curves[GPUMP_PARTITION_KERNELS][8];
    gpump_partition_request request;
} scene;
static void *setup_partition(uint64_t size) {
    scene *s = (scene *)calloc(1, sizeof *s);
    uint32_t k, c;
    if (!s || gpump_preset(&gpump_partition_component, &s->config, "maxwell_ccbp", NULL) != GPUMP_OK) return NULL;
    s->request.count = (uint32_t)size;
    s->request.config = &s->config;
    s->request.kernels = s->kernels;
    for (k = 0; k < size; k++) {
        gpump_partition_kernel *kernel = &s->kernels[k];
        kernel->need.threads = 256;
        kernel->need.registers = 8192;
        kernel->kind = k % GPUMP_PARTITION_CLASSES;
        kernel->blocks = 8;
        kernel->priority = 1;
        kernel->curve = s->curves[k];
        for (c = 0; c < 8; c++) {
            s->curves[k][c].network_q16 = (c + 1) * (kernel->kind == GPUMP_PARTITION_NETWORK ? 11 : 4) << 16;
            s->curves[k][c].dram_q16 = (c + 1) * (kernel->kind == GPUMP_PARTITION_DRAM ? 11 : 4) << 16;
            s->curves[k][c].speed_q16 = (c + 1) * 8000 * (k + 1);
        }
    }
    return s;
}
static uint64_t run_partition(void *state, uint64_t operations) {
    const scene *s = (const scene *)state;
    const gpump_partition_policy *ccbp = gpump_partition_find("ccbp");
    uint64_t i, decided = 0;
    for (i = 0; i < operations; i++) {
        gpump_partition_share shares[GPUMP_PARTITION_KERNELS];
        decided += gpump_partition_decide(ccbp, &s->request, shares, NULL) == GPUMP_OK && shares[0].blocks;
    }
    return decided;
}

/* ---- a group of two kernels on n SMs ---- */

static const uint64_t sm_counts[] = {16, 128, 1024, 0};
typedef struct group {
    gpump_partition_config machine;
    gpump_sharing *sharing;
    uint64_t now;
    uint32_t sms;
} group;
static void *setup_group(uint64_t size) {
    group *g = (group *)calloc(1, sizeof *g);
    gpump_sharing_config config;
    size_t bytes;
    void *memory;
    if (!g || gpump_preset(&gpump_partition_component, &g->machine, "maxwell_ccbp", NULL) != GPUMP_OK) return NULL;
    if (gpump_preset(&gpump_sharing_component, &config, "maxwell_ccbp", NULL) != GPUMP_OK) return NULL;
    config.sms = g->sms = g->machine.gpu.sms = g->machine.meter.sms = (uint32_t)size;
    if (gpump_bytes(&gpump_sharing_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)))
        return NULL;
    if (gpump_init(&gpump_sharing_component, memory, bytes, &config, &g->sharing, NULL) != GPUMP_OK) return NULL;
    return g;
}
static void teardown_group(void *state) {
    free(((group *)state)->sharing);
    free(state);
}
/* Reports as many residents of each SM as the group allows, or none. */
static void report_group(group *g, int some) {
    gpump_block_view views[2 * 8];
    for (uint32_t sm = 0; sm < g->sms; sm++) {
        uint32_t count = 0;
        memset(views, 0, sizeof views);
        for (uint32_t m = 0; some && m < 2; m++)
            for (uint32_t n = 0; n < gpumpi_sharing_cell_of(g->sharing, sm, m)->cap && count < 16; n++, count++) {
                views[count].kernel = m + 1;
                views[count].threads = 256;
            }
        (void)gpump_sharing_report_residents(g->sharing, g->now, sm, views, count);
    }
}
/* Reports what each SM measured of its kernel. */
static void report_samples(group *g) {
    for (uint32_t sm = 0; sm < g->sms; sm++) {
        const uint32_t member = gpump_sharing_sampled(g->sharing, sm);
        gpump_traffic traffic;
        memset(&traffic, 0, sizeof traffic);
        traffic.cycles = 10000;
        traffic.issued = 2000 * (member + 1) * (sm % 8 + 1);
        traffic.l1_load_misses = traffic.flits_up = 100 * (sm % 8 + 1);
        traffic.flits_down = 5 * traffic.flits_up;
        traffic.dram_read_bytes = member * 128 * traffic.flits_up;
        (void)gpump_sharing_report_sample(g->sharing, g->now, sm, &g->machine, &traffic, NULL);
    }
}
/* One operation: two kernels join, are measured, run as decided, and leave. */
static uint64_t run_group(void *state, uint64_t operations) {
    group *g = (group *)state;
    const gpump_partition_policy *ccbp = gpump_partition_find("ccbp");
    uint64_t decided = 0;
    for (uint64_t i = 0; i < operations; i++) {
        uint32_t member, steps = 0, was = GPUMP_SHARING_STATES;
        for (uint32_t k = 1; k <= 2; k++) {
            gpump_sharing_kernel kernel;
            memset(&kernel, 0, sizeof kernel);
            kernel.kernel = k;
            kernel.blocks = 8;
            kernel.priority = 1;
            kernel.need.threads = 256;
            kernel.need.registers = 8192;
            if (gpump_sharing_join(g->sharing, g->now, &kernel, &member, NULL)) return decided;
        }
        while (gpump_sharing_state_now(g->sharing) != GPUMP_SHARING_RUN && steps++ < 16) {
            gpump_sharing_action action;
            if (gpump_sharing_advance(g->sharing, g->now, ccbp, &g->machine, NULL)) return decided;
            while (gpump_sharing_next(g->sharing, &action) == GPUMP_OK) {}
            if (gpump_sharing_state_now(g->sharing) != was) report_group(g, 1);
            was = gpump_sharing_state_now(g->sharing);
            if (was == GPUMP_SHARING_REPORT) report_samples(g);
            g->now += 20000;
        }
        decided += gpump_sharing_state_now(g->sharing) == GPUMP_SHARING_RUN;
        if (gpump_sharing_leave(g->sharing, g->now, 0) || gpump_sharing_leave(g->sharing, g->now, 1)) return decided;
        report_group(g, 0);
    }
    return decided;
}

const micro_case micro_sharing[] = {
    {"rate_send", "a cycle of a shared SM: time, a question and a miss, of n kernels", NULL, kernel_counts, setup_rate,
     run_rate, NULL, free},
    {"partition_ccbp", "a decision of ccbp about n kernels of 8 blocks", NULL, kernel_counts, setup_partition,
     run_partition, NULL, free},
    {"sharing_group", "two kernels join, are measured, run as decided, and leave; n SMs", NULL, sm_counts, setup_group,
     run_group, NULL, teardown_group},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
