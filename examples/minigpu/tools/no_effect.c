#include "tools/no_effect.h"

#include "machine/window.h"
#include "parts/errors/error_facts.h"
#include "parts/faults/fault_state.h"
#include "parts/preempt_at/preempt_at.h"
#include "parts/schedule/schedule_facts.h"
#include "parts/schedule/schedule_priorities.h"
#include "preemption/context_forms.h"

#include <inttypes.h>

#define LINE "minigpu: no effect: "

/* Reports that the run ended before the N-th event of a kind. */
static void too_few(FILE *file, const char *option, uint64_t wanted, uint64_t had, const char *what) {
    fprintf(file, LINE "%s %" PRIu64 ": there were only %" PRIu64 " %s\n", option, wanted, had, what);
}

static void unreached(FILE *file, const char *option, uint64_t cycle, const effects_seen *seen) {
    fprintf(file, LINE "%s %" PRIu64 ": that cycle was never reached, the %s ended at cycle %" PRIu64 "\n", option,
            cycle, seen->runs > 1 ? "longest run" : "run", seen->cycles);
}

static void at_least(uint64_t *most, uint64_t value) {
    if (*most < value) *most = value;
}

void effects_note(effects_seen *seen, const machine *m) {
    const machine_errors *e = machine_errors_of(m);
    const uint64_t change = schedule_of(m) ? schedule_priorities_next(m) : NEVER;
    seen->runs++;
    seen->preempted += preempt_at_cycle(m) == NEVER;
    if (preempt_at_cycle(m) != NEVER) seen->preempt_cycle = preempt_at_cycle(m);
    seen->reprioritised += change == NEVER;
    if (change != NEVER) seen->change_cycle = change;
    seen->vacated += m->preemption_count != 0;
    seen->in_place_alone += m->beyond_room == 1;
    seen->shared += m->kernel_count > 1;
    seen->in_turn += m->window_cycles && m->threads > 1 && (window_is_in_turn(m) || m->on_access);
    at_least(&seen->cycles, m->now);
    if (machine_faults_of(m)) at_least(&seen->checks, machine_faults_of(m)->checks);
    if (e) at_least(&seen->errs, e->errs.candidates), at_least(&seen->traps, e->traps_at.candidates);
}

/* Returns the option that makes the SMs of such a run advance in turn. */
static const char *in_turn_for(const run_arguments *arguments) {
    const machine_options *o = &arguments->machine;
    if (arguments->races) return "--races looks at every access";
    if (o->faults.check != NEVER) return "--fault-at counts the look-ups of all SMs together";
    if (o->duet) return "under --duet all SMs share the monitor";
    if (o->faults.extra) return "under --switch-on-fault all SMs share the blocks that have left";
    if (o->faults.handler) return "with --handler all SMs share the list of frames";
    return "the SMs share the state of --errors, --error-at, --trap and --trap-at";
}

/* Reports the options that say how blocks leave, where none has left: no preemption, no group, and no other part that
 * moves contexts. */
static void nobody_left(const run_arguments *arguments, FILE *file) {
    const machine_options *o = &arguments->machine;
    if (o->sharing.policy || o->duet || o->faults.extra) return;
    if (arguments->leave && !o->policy) fprintf(file, LINE "--leave %s: no block had to leave\n", arguments->leave);
    if (o->context_form)
        fprintf(file, LINE "--context %s: no block was switched\n", context_form_name(o->context_form));
    if (o->in_place) fprintf(file, LINE "--in-place: no block was switched\n");
    if (o->choose) fprintf(file, LINE "--choose: no block was switched\n");
}

void no_effect_report(const run_arguments *arguments, const effects_seen *seen, FILE *file) {
    const machine_options *o = &arguments->machine;
    if (!seen->runs) return;
    if (!seen->preempted) unreached(file, "--preempt", seen->preempt_cycle, seen);
    if (!seen->reprioritised) unreached(file, "--priority-at", seen->change_cycle, seen);
    if (o->policy && !seen->vacated)
        fprintf(file,
                LINE "--victims %s: no block had to make room; that takes a kernel of higher priority (priority and "
                     "arrival_cycle in the launch file, or --preempt CYCLE)\n",
                o->policy->name);
    if (!seen->vacated) nobody_left(arguments, file);
    if (o->sharing.policy && !seen->shared) /* which is not without effect: it places the blocks */
        fprintf(file, "minigpu: --partition %s: no kernel ran beside another, so no SM was divided\n",
                o->sharing.policy->name);
    if (o->in_place && seen->in_place_alone == seen->runs)
        fprintf(file,
                LINE "--in-place: under --duet the kernel has the whole SM, and its frames take what others leave; "
                     "with --partition the kernel beside it leaves blocks in place\n");
    if (seen->in_turn == seen->runs)
        fprintf(file, LINE "--threads %u: the SMs advance in turn on one thread, because %s\n", o->threads,
                in_turn_for(arguments));
    if (o->faults.check != NEVER && seen->checks < o->faults.check)
        too_few(file, "--fault-at", o->faults.check, seen->checks, "look-ups of pages");
    if (o->errors.errs.at != NEVER && seen->errs < o->errors.errs.at)
        too_few(file, "--error-at", o->errors.errs.at, seen->errs, "instructions that can err");
    if (o->errors.traps_at.at != NEVER && seen->traps < o->errors.traps_at.at)
        too_few(file, "--trap-at", o->errors.traps_at.at, seen->traps, "arithmetic instructions");
}
