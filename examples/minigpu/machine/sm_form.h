/* sm_form: the forms in which the path of an instruction through an SM is compiled.
 *
 * The general form is linked from sm_cycle.c and the files that it uses. It tests at many places whether the SM has
 * faults, errors, warps beyond its room, limits of a group, an issue queue or regions. The plain form is for machines
 * that have none of these, and has none of the tests: it is the same source compiled as one file (sm_one_file.h), so
 * that the compiler sees the whole path of a warp instruction. The traced form is the plain form of machines whose
 * kernels all come from traces. Each exists once more, as one file, for x86 with AVX2, where half the instructions move
 * 32 lanes. All forms compute the same.
 *
 * A machine without these parts is plain (machine.plain), whatever form runs it. In a plain machine no instruction is
 * taken back. Results are therefore written when they are computed, and simple instructions take a short path
 * (lanes_quick.h). An instruction reads its sources when it issues, so the scoreboard need not hold them
 * (machine.sources_timed). */
#ifndef MINIGPU_SM_FORM_H
#define MINIGPU_SM_FORM_H

#include "state/state.h"

/* Runs one cycle of an SM (sm_cycle.h). */
typedef void sm_cycle_form(machine *m, sm *s, uint64_t now);

sm_cycle_form sm_cycle_plain, sm_cycle_plain_avx2, sm_cycle_traced, sm_cycle_traced_avx2, sm_cycle_general_avx2;

/* Returns whether the machine's SMs have none of the parts that the plain form lacks, and kernels of one front end
 * alone. */
int sm_form_is_plain(const machine *m);
/* Returns the form that runs this machine on this processor (config.sm_form). */
sm_cycle_form *sm_form_choose(const machine *m);

#endif
