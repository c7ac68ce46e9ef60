/* Lin Fig. 4.5: the packets that the L1 miss queue sends in order of arrival, and with the issue-rate controller in
 * front of it. Reading: docs/papers.md, "Kernels that share an SM". */
#include <stdlib.h>

#include "gpump_once.h"
#include "reproduce.h"

/* The snapshot: kernel 0 is latency sensitive and has 2 requests, kernel 1 is bandwidth intensive and has 6. Five are
 * sent in one unit. */
static void snapshot(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const uint32_t queue[] = {1, 1, 0, 1, 1, 1, 0, 1};
    uint32_t sent[2][2] = {{0, 0}, {0, 0}}, controlled, i;
    gpump_rate_config config;
    gpump_rate *rate = NULL;
    void *memory = NULL;
    size_t bytes;
    (void)context;
    (void)id;
    if (gpump_preset(&gpump_rate_component, &config, "lin", NULL) ||
        gpump_bytes(&gpump_rate_component, &config, &bytes, NULL) || !(memory = malloc(bytes))) {
        reproduce_failed(result, "no rate controller");
        return;
    }
    for (controlled = 0; controlled < 2; controlled++) {
        gpump_rate_limits limits = gpump_rate_limits_none();
        gpump_diag diag;
        if (gpump_init(&gpump_rate_component, memory, bytes, &config, &rate, &diag)) reproduce_failed(result, "init");
        limits.misses_q16 = 2 * GPUMP_RATE_MISS; /* holds 3 tokens: the rate and one */
        if (controlled && gpump_rate_set(rate, 0, 1, &limits)) reproduce_failed(result, "set");
        for (i = 0; i < sizeof queue / sizeof *queue && sent[controlled][0] + sent[controlled][1] < 5; i++) {
            if (!gpump_rate_may(rate, queue[i], GPUMP_RATE_SEND)) continue;
            gpump_rate_report_sent(rate, queue[i], 1);
            sent[controlled][queue[i]]++;
        }
    }
    free(memory);
    reproduce_holds(result, sent[0][0] == 1 && sent[0][1] == 4 && sent[1][0] == 2 && sent[1][1] == 3,
                    "FIFO %u + %u; latency-sensitive first %u + %u", sent[0][0], sent[0][1], sent[1][0], sent[1][1]);
    reproduce_note(result, "the figure names no order of arrival; ours has the two requests third and seventh");
}

const reproduce_row rows_sharing[] = {{"L.ccbp.fig45", snapshot}, {NULL, NULL}};
