#include "parts/corun/corun.h"

#include <inttypes.h>

void corun_report(const machine *m, FILE *file) {
    static const char *const classes[] = {"latency sensitive", "network intensive", "DRAM intensive"};
    gpump_partition_share share;
    uint32_t i, kind;
    if (!corun_of(m)->window_cycles) return;
    fprintf(file, "the group has decided %" PRIu64 " times, %u times because a kernel had changed its class",
            corun_of(m)->sharing->decisions, corun_of(m)->class_changes);
    for (i = 0; i < corun_of(m)->kernels; i++)
        if (corun_of(m)->member_of[i] != NONE &&
            gpump_sharing_share(corun_of(m)->sharing, corun_of(m)->member_of[i], &share, &kind) == GPUMP_OK)
            fprintf(file, "; %s is %s now", m->kernels[i].program->name, classes[kind]);
    fprintf(file, "\n");
}

/* Reports when the last block of a request began, and whether it met the deadline. */
