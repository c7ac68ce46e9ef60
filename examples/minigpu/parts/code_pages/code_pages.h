/* code_pages: pages of code that are absent at first (--absent code; Kim 2.7).
 *
 * An instruction is config.instruction_bytes long; each kernel has pages of its own, and so has the fault handler that
 * calls of page checks go to. A warp whose next instruction lies in an absent page fetches no more. When all that it
 * has in the pipeline has ended, its fetch faults: "the hardware triggers a page fault handler after all the
 * instructions that are in the pipeline are executed". The warp goes on when the page is there; its block may leave
 * meanwhile. Fetching takes no other time: the instruction cache is ideal (Tanasic Table 6.1). */
#ifndef MINIGPU_CODE_PAGES_H
#define MINIGPU_CODE_PAGES_H

#include "state/state.h"

/* Does the warp's next instruction lie in an absent page? Then it fetches no more, until code_pages_drained. */
int code_pages_look(machine *m, sm *s, warp *w);
static inline int code_pages_stop(machine *m, sm *s, warp *w) { return m->code.count && code_pages_look(m, s, w); }
/* Nothing of such a warp is in the pipeline any more: its fetch faults. Returns the cycle in which it may go on; NEVER:
 * when the fault unit has brought the page. */
uint64_t code_pages_drained(machine *m, sm *s, warp *w);
/* A warp calls the fault handler. Returns 0 when the handler's code is there, else as code_pages_drained: the warp then
 * comes to its call again. */
uint64_t code_pages_call(machine *m, sm *s, warp *w);

#endif
