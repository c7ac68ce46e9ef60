/* sm_form: the forms in which the way of an instruction through an SM is compiled.
 *
 * The general form is what the linker makes of sm_cycle.c and the files behind it. It asks at many places whether the
 * SM has faults, errors, warps beyond its room, limits of a group, an issue queue or regions. The plain form is for
 * machines that have none of these, and nothing asks: it is the same source compiled as one file (sm_one_file.h), so
 * that the compiler sees everything that a warp instruction passes through. Both exist once more, as one file each, for
 * x86 with AVX2, where half the instructions move 32 lanes. All forms compute the same.
 *
 * A machine without these parts is plain (machine.plain), whatever form runs it. In a plain machine nobody takes an
 * instruction back. So results are written when they are computed, and simple instructions take a short way
 * (lanes_quick.h); an instruction reads its sources when it issues, and the scoreboard need not hold them
 * (machine.sources_timed). */
#ifndef MINIGPU_SM_FORM_H
#define MINIGPU_SM_FORM_H

#include "state/state.h"

/* One cycle of an SM (sm_cycle.h). */
typedef void sm_cycle_form(machine *m, sm *s, uint64_t now);

sm_cycle_form sm_cycle_plain, sm_cycle_plain_avx2, sm_cycle_general_avx2;

/* Have its SMs none of the parts that the plain form lacks? */
int sm_form_is_plain(const machine *m);
/* Returns the form that runs this machine on this processor (config.sm_form). */
sm_cycle_form *sm_form_choose(const machine *m);

#endif
