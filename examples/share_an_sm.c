/* share_an_sm: what every partition policy gives two kernels that share each SM, and how the gates keep to it.
 *
 *     cc -I. examples/share_an_sm.c -o share_an_sm && ./share_an_sm      (from the top of the project)
 *
 * BP is latency sensitive and CFD network intensive (Lin Table 4.2). Their curves are made of the table's two numbers:
 * BP's grow with its blocks, CFD's are flat from four blocks on. The second half plays the L1 miss queue of one SM in
 * which CFD always has misses to send and BP has one every 25 cycles, with and without Lin's issue-rate controller. */
#define GPUMP_IMPLEMENTATION
#include "../gpump.h"
#include <stdio.h>
#include <stdlib.h>

enum { BP, CFD, KERNELS, BLOCKS = 8 };
static const char *const names[] = {"BP", "CFD"};

static void must(gpump_result result, const gpump_diag *diag) {
    char text[200];
    if (!result) return;
    gpump_diag_text(diag, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    exit(1);
}

/* Percent of the sustainable bandwidths with c blocks: 60% of the network's peak, 65% of DRAM's. */
static void fill_curve(gpump_partition_point *curve, int kernel, double network_of_peak, double dram_of_peak,
                       double speed) {
    for (int c = 1; c <= BLOCKS; c++) {
        double part = kernel == BP ? c / 8.0 : c < 4 ? c / 4.0 : 1;
        curve[c - 1].network_q16 = (uint32_t)(network_of_peak / .60 * part * GPUMP_PARTITION_PERCENT);
        curve[c - 1].dram_q16 = (uint32_t)(dram_of_peak / .65 * part * GPUMP_PARTITION_PERCENT);
        curve[c - 1].speed_q16 = (uint32_t)(speed * part * 65536);
    }
}

static void print_shares(const gpump_partition_policy *policy, const gpump_partition_request *request) {
    gpump_partition_share shares[KERNELS];
    gpump_diag diag;
    must(gpump_partition_decide(policy, request, shares, &diag), &diag);
    printf("  %-9s", policy->name);
    for (int k = 0; k < KERNELS; k++) {
        printf(" %4s %u blocks on %2u SMs", names[k], shares[k].blocks, shares[k].sms);
        if (shares[k].network_q16)
            printf(", network %3.0f%%, DRAM %3.0f%%", shares[k].network_q16 / 65536.0, shares[k].dram_q16 / 65536.0);
        if (shares[k].limits.misses_q16 != GPUMP_RATE_NO_LIMIT)
            printf(", %.1f misses per 200 cycles", shares[k].limits.misses_q16 / 65536.0);
        printf(k + 1 < KERNELS ? ";" : "\n");
    }
}

/* The queue sends the oldest miss that may go, one per 12 cycles: 16.7 in 200 cycles, about what the network sustains
 * for one SM. CFD refills its 16 entries at once, BP has a miss every 25 cycles. Prints how long BP's misses wait. */
static void play(gpump_rate *rate, const gpump_rate_limits *limits, const char *how) {
    enum { ENTRIES = 16, CYCLES = 20000 };
    uint64_t arrived[KERNELS][ENTRIES], waited = 0, sent[KERNELS] = {0, 0}, came[KERNELS] = {0, 0};
    gpump_diag diag = {GPUMP_ERROR_ARGUMENT, GPUMP_REASON_YES, "set", 0, 0, 0, 0};
    for (uint32_t k = 0; k < KERNELS; k++) must(gpump_rate_set(rate, 0, k, &limits[k]), &diag);
    for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
        int oldest = KERNELS;
        must(gpump_rate_advance(rate, cycle), &diag);
        while (came[CFD] - sent[CFD] < ENTRIES) arrived[CFD][came[CFD]++ % ENTRIES] = cycle;
        if (cycle % 25 == 0 && came[BP] - sent[BP] < ENTRIES) arrived[BP][came[BP]++ % ENTRIES] = cycle;
        if (cycle % 12) continue;
        for (int k = 0; k < KERNELS; k++)
            if (came[k] > sent[k] && gpump_rate_may(rate, (uint32_t)k, GPUMP_RATE_SEND) &&
                (oldest == KERNELS || arrived[k][sent[k] % ENTRIES] < arrived[oldest][sent[oldest] % ENTRIES]))
                oldest = k;
        if (oldest == KERNELS) continue;
        if (oldest == BP) waited += cycle - arrived[BP][sent[BP] % ENTRIES];
        sent[oldest]++;
        gpump_rate_report_sent(rate, (uint32_t)oldest, 1);
    }
    printf("  %-24s BP sends %4llu misses, each waits %4.0f cycles; CFD sends %4llu\n", how,
           (unsigned long long)sent[BP], (double)waited / (double)sent[BP], (unsigned long long)sent[CFD]);
}

int main(void) {
    gpump_partition_config config;
    gpump_partition_point curves[KERNELS][BLOCKS];
    gpump_partition_kernel kernels[KERNELS];
    gpump_demand demand;
    gpump_partition_request request;
    gpump_rate_limits limits[KERNELS];
    gpump_rate_config rate_config;
    gpump_rate_storage storage;
    gpump_rate *rate;
    gpump_diag diag;
    size_t bytes;
    must(gpump_preset(&gpump_partition_component, &config, "maxwell_ccbp", &diag), &diag);
    memset(kernels, 0, sizeof kernels);
    memset(&demand, 0, sizeof demand);
    demand.up_bytes_q16 = 32 << 16; /* a load: a flit out, five back, and a line from DRAM for every fifth */
    demand.down_bytes_q16 = 160 << 16;
    demand.dram_bytes_q16 = 25 << 16;
    fill_curve(curves[BP], BP, 19, 36, 2.7);
    fill_curve(curves[CFD], CFD, 54, 14, .28);
    for (int k = 0; k < KERNELS; k++) {
        kernels[k].need.threads = 256;
        kernels[k].need.registers = 8192;
        kernels[k].kind = k == BP ? GPUMP_PARTITION_LATENCY : GPUMP_PARTITION_NETWORK;
        kernels[k].blocks = BLOCKS;
        kernels[k].priority = 1;
        kernels[k].curve = curves[k];
        kernels[k].demand = &demand;
    }
    memset(&request, 0, sizeof request);
    request.count = KERNELS;
    request.config = &config;
    request.kernels = kernels;
    printf("what each policy gives, on every SM that a kernel has:\n");
    for (uint32_t i = 0; gpump_partition_policy_at(i); i++) print_shares(gpump_partition_policy_at(i), &request);

    must(gpump_preset(&gpump_rate_component, &rate_config, "lin", &diag), &diag);
    must(gpump_bytes(&gpump_rate_component, &rate_config, &bytes, &diag), &diag);
    must(gpump_init(&gpump_rate_component, malloc(bytes), bytes, &rate_config, &rate, &diag), &diag);
    printf("the miss queue of one SM in 20,000 cycles:\n");
    limits[BP] = limits[CFD] = gpump_rate_limits_none();
    play(rate, limits, "no limits");
    must(gpump_init(&gpump_rate_component, rate, bytes, &rate_config, &rate, &diag), &diag);
    limits[CFD].misses_q16 = gpump_partition_rate(&config, &demand, 50 * GPUMP_PARTITION_PERCENT, UINT32_MAX);
    play(rate, limits, "CFD half of the network");
    must(gpump_table_bits(&gpump_rate_component, &rate_config, &storage, &diag), &diag);
    printf("the issue-rate controller takes %llu bits per SM\n", (unsigned long long)storage.misses_bits);
    free(rate);
    return 0;
}
