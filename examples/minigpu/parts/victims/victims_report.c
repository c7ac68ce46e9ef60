#include "parts/victims/victims.h"

#include <inttypes.h>
#include <stdio.h>

static double microseconds(const machine *m, uint64_t cycles) {
    return (double)cycles * 1000.0 / (double)m->config.gpu.clock_khz;
}

static void report_request_length(const machine *m, const victim_request *r, FILE *file) {
    const uint64_t limit = r->request.limit_cycles, length = r->last_start_cycle - r->request.since;
    if (!r->started) {
        fprintf(file, ", none of its blocks began");
        if (limit != NEVER) fprintf(file, ", limit %" PRIu64 " missed", limit);
        return;
    }
    fprintf(file, ", last block began after %" PRIu64 " cycles (%.2f us)", length, microseconds(m, length));
    if (limit == NEVER) return;
    fprintf(file, ", limit %" PRIu64 " %s", limit, length <= limit ? "met" : "missed by ");
    if (length > limit) fprintf(file, "%" PRIu64, length - limit);
}

/* Writes one line per request to a policy: the deadline, whether it was met, the victims by technique, and estimated
 * beside true latency and waste. */
void victims_report(const machine *m, FILE *file) {
    uint32_t k, i, t;
    for (k = 0; k < m->kernel_count; k++) {
        const victim_request *r = &victims_of(m)->requests[k];
        uint64_t wasted = 0, length;
        uint32_t by[GPUMP_TECHNIQUES] = {0};
        double sm_cycles;
        if (r->request.since == NEVER) continue;
        for (i = 0; i < r->count; i++) {
            wasted += r->entries[i].wasted;
            by[r->entries[i].technique]++;
        }
        length = r->started ? r->last_start_cycle - r->request.since : 0;
        fprintf(file, "request of %s at cycle %" PRIu64 ", policy %s: %u places", m->kernels[k].program->name,
                r->request.since, m->policy->name, r->decision.places);
        if (r->decision.missing)
            fprintf(file, " (%u more cannot be had: %s)", r->decision.missing, gpump_reason_text(r->decision.reason));
        report_request_length(m, r, file);
        fprintf(file, "; blocks leave by flush %u, switch %u, drain %u (%u changed later); ", by[0], by[1], by[2],
                r->reconsidered);
        if (r->decision.latency == NEVER) /* the latency of a drain is unknown */
            fprintf(file, "no estimate of cycles, wasted %" PRIu64 "\n", wasted);
        else
            fprintf(file, "estimated %" PRIu64 " cycles and %" PRIu64 " warp instructions, wasted %" PRIu64 "\n",
                    r->decision.latency, r->decision.overhead, wasted);
        sm_cycles = (double)(length ? length : 1) * m->sm_count;
        fprintf(file, "  in use meanwhile: registers %.1f%%, shared memory %.1f%%, threads %.1f%%\n",
                100 * (double)r->register_cycles / sm_cycles / m->config.gpu.registers,
                100 * (double)r->shared_cycles / sm_cycles /
                    m->config.gpu.shared_bytes[m->config.gpu.shared_option_count - 1],
                100 * (double)r->thread_cycles / sm_cycles / m->config.gpu.thread_slots);
        for (t = 0; t < GPUMP_TECHNIQUES; t++) {
            uint64_t estimate = 0, truth = 0;
            uint32_t n = 0;
            for (i = 0; i < r->count; i++) {
                const victim_entry *e = &r->entries[i];
                if (e->first_technique != t || e->technique != t || e->estimate_cycles == NEVER ||
                    e->end_cycle == NEVER)
                    continue;
                estimate += e->estimate_cycles;
                truth += e->end_cycle - r->request.since;
                n++;
            }
            if (n)
                fprintf(file, "  %s: %u blocks, estimated %.0f cycles on average, took %.0f\n",
                        gpump_technique_at(t)->name, n, (double)estimate / n, (double)truth / n);
        }
    }
}
