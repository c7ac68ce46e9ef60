/* context_forms: what of a block's registers is saved, and whether a warp had better stop at once: the part of a switch
 * that needs to know the kernel (Lin 2.3.2, 2.3.3, 2.4.1). block_life.c asks; everything here rests on gpump's
 * analyses. */
#ifndef MINIGPU_CONTEXT_FORMS_H
#define MINIGPU_CONTEXT_FORMS_H

#include "preemption/context_view.h"

/* "naive", "live", "live+compress", "tb"; NULL past the last. */
const char *context_form_name(uint32_t form);

/* At the preemption signal: 1 when this warp should run on to its next point, 0 when it had better stop where it is
 * (gpump_spill_run_on). The way to the point is the shortest one in its kernel, its speed that of its block so far, and
 * what it would write there is estimated from what it would write here. */
int context_runs_on(machine *m, const block *b, const warp *w);

/* Writes the registers of a warp of the block in the machine's form. Returns how many vector registers are among them;
 * 0: it has ended, and nothing is written. `w` may be a copy of the warp that stands elsewhere. */
uint32_t context_forms_write_warp(machine *m, const kernel *k, const block *b, const warp *w,
                                  gpump_context_writer *writer);
/* Writes the registers of all warps of a block as one section, if that is the machine's form. Returns 1; 0: it is not,
 * and each warp has a section of its own. */
int context_forms_write_block(machine *m, const kernel *k, const block *b, gpump_context_writer *writer);
/* Reads them back, in whatever form they are. Returns 0, or -1 for a context that contradicts the kernel. */
int context_forms_read(machine *m, const block *b, gpump_context_reader *reader);
#endif
