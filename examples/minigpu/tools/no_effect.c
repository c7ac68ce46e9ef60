#include "tools/no_effect.h"

#include "parts/errors/error_facts.h"

#include <inttypes.h>

#define LINE "minigpu: no effect: "

/* Reports that the run ended before the N-th event of a kind. */
static void too_few(FILE *file, const char *option, uint64_t wanted, uint64_t had, const char *what) {
    fprintf(file, LINE "%s %" PRIu64 ": there were only %" PRIu64 " %s\n", option, wanted, had, what);
}

void no_effect_report(const run_arguments *arguments, const machine *m, FILE *file) {
    const machine_options *o = &arguments->machine;
    const machine_errors *e = machine_errors_of(m);
    if (m->preempt_cycle != NEVER) /* the machine clears it when the cycle is reached */
        fprintf(file, LINE "--preempt %" PRIu64 ": that cycle was never reached, the run ended at cycle %" PRIu64 "\n",
                m->preempt_cycle, m->now);
    if (o->policy && !m->preemption_count)
        fprintf(file,
                LINE "--victims %s: no block had to make room; that takes a kernel of higher priority (priority and "
                     "arrival_cycle in the launch file, or --preempt CYCLE)\n",
                o->policy->name);
    if (o->in_place && m->beyond_room == 1)
        fprintf(file,
                LINE "--in-place: under --duet the kernel has the whole SM, and its frames take what others leave; "
                     "with --partition the kernel beside it leaves blocks in place\n");
    if (o->faults.check != NEVER && m->checks < o->faults.check)
        too_few(file, "--fault-at", o->faults.check, m->checks, "look-ups of pages");
    if (o->errors.errs.at != NEVER && e && e->errs.candidates < o->errors.errs.at)
        too_few(file, "--error-at", o->errors.errs.at, e->errs.candidates, "instructions that can err");
    if (o->errors.traps_at.at != NEVER && e && e->traps_at.candidates < o->errors.traps_at.at)
        too_few(file, "--trap-at", o->errors.traps_at.at, e->traps_at.candidates, "arithmetic instructions");
}
