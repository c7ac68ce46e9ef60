#include "parts/corun/corun.h"

#include <inttypes.h>

void corun_report(const machine *m, FILE *file) {
    static const char *const classes[] = {"latency sensitive", "network intensive", "DRAM intensive"};
    gpump_partition_share share;
    uint32_t i, kind;
    fprintf(file, "partition %s: the group has decided %" PRIu64 " times", corun_of(m)->policy->name,
            corun_of(m)->sharing->decisions);
    if (corun_of(m)->window_cycles)
        fprintf(file, ", %u times because a kernel had changed its class", corun_of(m)->class_changes);
    for (i = 0; i < corun_of(m)->kernels && corun_of(m)->window_cycles; i++)
        if (corun_of(m)->member_of[i] != NONE &&
            gpump_sharing_share(corun_of(m)->sharing, corun_of(m)->member_of[i], &share, &kind) == GPUMP_OK)
            fprintf(file, "; %s is %s now", m->kernels[i].program->name, classes[kind]);
    fprintf(file, "\n");
}
