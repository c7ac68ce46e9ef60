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

/* Sets view->allow and view->compress to the machine's form of registers and to how a block of the kernel lies,
 * *layout.
 */
void context_forms_describe(const machine *m, const kernel *k, gpump_compress_layout *layout, gpump_context_view *view);
/* Sets the registers of *out, or its frame, to those of a warp that has not ended; live[] becomes those that it needs.
 * `w` may be a copy of the warp that stands elsewhere. */
void context_forms_describe_warp(machine *m, const block *b, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS],
                                 gpump_context_warp *out);
/* Returns how many vector registers of the warp are written. */
uint32_t context_forms_registers(const gpump_context_view *view, const gpump_context_warp *warp);
/* Sets view->registers to those of all warps together, if that is the machine's form; live[warp] become those that each
 * needs. */
void context_forms_describe_block(machine *m, const block *b, uint64_t (*live)[CONTEXT_LIVE_WORDS],
                                  gpump_compress_layout *layout, gpump_context_view *view);
/* Unpacks the registers of a warp from the frame that was saved. Returns 0, or -1 for a frame that is not its own. */
int context_forms_take_frame(machine *m, const block *b, const warp *w, const uint8_t *frame, uint64_t bytes);
#endif
