#include "parts/fault_switch/switch_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

/* Sums the counters of all SMs' units. */
static void switch_totals(const machine *m, gpump_block_switch_statistics *totals) {
    uint64_t *sums = &totals->placed;
    uint32_t i, n;
    memset(totals, 0, sizeof *totals);
    for (i = 0; i < m->sm_count; i++) {
        gpump_block_switch_statistics one;
        gpump_get_statistics(&gpump_block_switch_component, fault_switch_of(m->sms[i])->unit, &one);
        for (n = 0; n < sizeof one / sizeof *sums; n++) sums[n] += (&one.placed)[n];
    }
}

void switch_report(const machine *m, FILE *file) {
    gpump_block_switch_statistics b;
    switch_totals(m, &b);
    fprintf(file,
            "blocks switched on faults: %" PRIu64 " left, %" PRIu64 " of them to be fair, and %" PRIu64
            " came back; %" PRIu64 " new ones came in their place; %" PRIu64
            " stayed, because there was no room; %" PRIu64 " cycles off the chip, %" PRIu64 " of them ready\n",
            b.outs + b.fair_outs, b.fair_outs, b.ins, b.news - b.none, b.stayed, b.off_cycles, b.ready_cycles);
}

void switch_report_json(const machine *m, json_t *members) {
    const char *name;
    uint64_t value;
    uint32_t i;
    gpump_block_switch_statistics b;
    json_t *switched = json_object();
    switch_totals(m, &b);
    for (i = 0; gpump_statistics_field(&gpump_block_switch_component, &b, i, &name, NULL, NULL, &value) == GPUMP_OK;
         i++)
        json_object_set_new(switched, name, json_integer((json_int_t)value));
    json_object_set_new(members, "blocks_switched", switched);
}
