#include "parts/duet/duet.h"

#include <inttypes.h>
#include <string.h>

/* Reports the registers in frames twice: as compressed by the analysis, and as their values would allow. */
static void report_frames(const machine *m, FILE *file) {
    uint64_t left = 0, granules[2] = {0, 0}, too_large = 0;
    uint32_t i, most = 0;
    for (i = 0; i < m->sm_count; i++) {
        const sm_duet *d = sm_duet_of(m->sms[i]);
        left += d->left;
        granules[0] += d->static_granules;
        granules[1] += d->dynamic_granules;
        too_large += d->too_large;
        if (d->dynamic_most > most) most = d->dynamic_most;
    }
    if (left)
        fprintf(file,
                "  %-15s %12.1f granules of registers in a frame on average; compressed by their values %.1f, at most "
                "%u\n",
                "registers", (double)granules[0] / (double)left, (double)granules[1] / (double)left, most);
    if (too_large)
        fprintf(file, "  %-15s %12" PRIu64 " looks at stalled warps whose registers fit no frame\n", "too_large",
                too_large);
}

/* Adds what one duet has counted. */
static void add_statistics(const gpump_duet *duet, gpump_duet_statistics *sum) {
    gpump_duet_statistics one;
    uint64_t *counter = &sum->outs, value;
    const uint32_t last = sizeof *sum / sizeof *counter - 1; /* most_blocks */
    uint32_t n;
    if (!duet) return;
    gpump_get_statistics(&gpump_duet_component, duet, &one);
    for (n = 0; gpump_statistics_field(&gpump_duet_component, &one, n, NULL, NULL, NULL, &value) == GPUMP_OK; n++)
        counter[n] = n < last ? counter[n] + value : counter[n] > value ? counter[n] : value;
}

/* Reports what --duet did: each kernel's plan, and the moves of all SMs. */
void duet_report(const machine *m, FILE *file) {
    static const char *const units[] = {"nothing moves", "warps", "blocks"};
    gpump_duet_statistics sum;
    uint64_t value;
    const char *name, *unit, *description;
    uint32_t i, n;
    memset(&sum, 0, sizeof sum);
    for (i = 0; i < m->kernel_count; i++) {
        const gpump_duet_plan *plan = &duet_of(m)->plans[i];
        if (!duet_serves(m, i)) {
            fprintf(file, "duet: %s: not served: of two kernels that share an SM the first is\n",
                    m->kernels[i].program->name);
            continue;
        }
        fprintf(file,
                "duet: %s: %s; room for %u blocks of %u warps and %u more (%u with L1 as a store); frames of %u "
                "granules, of them %u for a warp's %u registers\n",
                m->kernels[i].program->name, units[plan->unit], plan->native_blocks, plan->block_warps,
                plan->extra_blocks, plan->extra_blocks_l1, plan->frame_granules, plan->frame_registers,
                plan->warp_granules);
    }
    for (i = 0; i < m->sm_count; i++)
        for (n = 0; n < DUET_SPACES; n++) add_statistics(sm_duet_of(m->sms[i])->spaces[n], &sum);
    for (n = 0; gpump_statistics_field(&gpump_duet_component, &sum, n, &name, &unit, &description, &value) == GPUMP_OK;
         n++)
        fprintf(file, "  %-15s %12" PRIu64 " %s %s\n", name, value, unit, description);
    report_frames(m, file);
}
