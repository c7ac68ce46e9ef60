#include "parts/faults/faults_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "parts/faults/fault_state.h"

void faults_total(const machine *m, fault_totals *totals) {
    uint32_t i;
    memset(totals, 0, sizeof *totals);
    for (i = 0; i < m->sm_count; i++) {
        const sm_faults *f = sm_faults_of(m->sms[i]);
        gpump_replay_statistics r;
        if (!f) continue;
        gpump_get_statistics(&gpump_replay_component, f->replay, &r);
        totals->checks += f->checks;
        totals->faults += f->faults;
        totals->held_cycles += f->held_cycles;
        totals->squashed += r.squashed + r.nacked + r.refetched;
        totals->nacked += r.nacked;
        totals->replays += r.replays;
        totals->reissued += r.reissued;
        totals->waits += r.waits;
    }
}

void faults_report(const machine *m, FILE *file) {
    fault_totals t;
    if (!m->faults_may_happen) return;
    faults_total(m, &t);
    fprintf(file,
            "faults: %" PRIu64 " of %" PRIu64 " look-ups' instructions, %" PRIu64 " pages brought; %" PRIu64
            " instructions squashed (%" PRIu64 " of them behind an older one), %" PRIu64 " replays of %" PRIu64
            " instructions; warps waited %" PRIu64 " cycles in all\n",
            t.faults, t.checks, m->page_faults.served, t.squashed, t.nacked, t.replays, t.reissued, t.held_cycles);
}

static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }

void faults_report_json(const machine *m, json_t *members) {
    fault_totals f;
    if (!m->faults_may_happen) return;
    faults_total(m, &f);
    json_object_set_new(members, "faults",
                        json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "look_ups", number(f.checks), "faults",
                                  number(f.faults), "pages", number(m->page_faults.served), "squashed",
                                  number(f.squashed), "nacked", number(f.nacked), "replays", number(f.replays),
                                  "reissued", number(f.reissued), "effects_that_waited", number(f.waits), "cycles_held",
                                  number(f.held_cycles)));
}
