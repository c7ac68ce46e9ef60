/* sm_form: the forms in which the path of an instruction through an SM is compiled.
 *
 *   - General form: sm_cycle.c and the files that it uses. It tests in many places whether the SM has
 *     faults, errors, warps beyond its room, limits of a group, an issue queue or regions.
 *   - Plain form: for machines without these mechanisms. It has none of the tests. The same source is
 *     compiled as one file (sm_one_file.h), so that the compiler sees the whole path of a warp instruction.
 *   - Traced form: the plain form for machines whose kernels all come from traces.
 *
 * Each form exists a second time, as one file, for x86 with AVX2. There half the instructions move 32 lanes.
 * All forms compute the same results.
 *
 * A machine without these mechanisms is plain (machine.plain), whatever form runs it. In a plain machine no
 * instruction is taken back. Results are therefore written when they are computed, and simple instructions
 * take a short path (lanes_quick.h). An instruction reads its sources when it issues, so the scoreboard need
 * not hold them (machine.sources_timed). */
#ifndef MINIGPU_SM_FORM_H
#define MINIGPU_SM_FORM_H

#include "state/state.h"

/* Runs one cycle of an SM (sm_cycle.h). */
typedef void sm_cycle_form(machine *m, sm *s, uint64_t now);

sm_cycle_form sm_cycle_plain, sm_cycle_plain_avx2, sm_cycle_traced, sm_cycle_traced_avx2, sm_cycle_general_avx2;
/* Their like without time (machine/functional.h), for plain machines. */
sm_cycle_form sm_functional_plain, sm_functional_plain_avx2;

/* Returns whether the machine's SMs have none of the mechanisms that the plain form lacks, and whether all
 * kernels come from the same front end. */
int sm_form_is_plain(const machine *m);
/* Returns the form that runs this machine on this processor (config.sm_form). */
sm_cycle_form *sm_form_choose(const machine *m);

#endif
