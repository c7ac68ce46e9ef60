/* context_forms: which registers of a block are saved and in which form, and whether a warp runs on to a
 * preemption point (Lin 2.3.2, 2.3.3, 2.4.1). These decisions use gpump's analyses of the kernel. */
#ifndef MINIGPU_CONTEXT_FORMS_H
#define MINIGPU_CONTEXT_FORMS_H

#include "preemption/context_view.h"

/* Returns the name of a context_form, such as "live+compress"; NULL past the last. */
const char *context_form_name(uint32_t form);

/* Returns 1 when a warp should run on to its next preemption point at the preemption signal, 0 when it should
 * stop at once (gpump_spill_run_on). The distance is the shortest path in the kernel, and the speed is that
 * of the block so far. The size of the registers at the point is estimated from their size now. */
int context_runs_on(machine *m, const block *b, const warp *w);

/* Sets view->allow and view->compress to the machine's form of registers, and *layout to the layout of a
 * block of the kernel. */
void context_forms_describe(const machine *m, const kernel *k, gpump_compress_layout *layout, gpump_context_view *view);
/* Sets the registers or the frame of *out to those of a warp that has not ended. Sets live[] to the registers
 * that the warp needs. `w` may be a copy of the warp in another place. */
void context_forms_describe_warp(machine *m, const block *b, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS],
                                 gpump_context_warp *out);
/* Returns the number of vector registers of the warp that are written. */
uint32_t context_forms_registers(const gpump_context_view *view, const gpump_context_warp *warp);
/* Sets view->registers to the registers of all warps together, if that is the machine's form. Sets live[warp]
 * to the registers that each warp needs. */
void context_forms_describe_block(machine *m, const block *b, uint64_t (*live)[CONTEXT_LIVE_WORDS],
                                  gpump_compress_layout *layout, gpump_context_view *view);
/* Unpacks the registers of a warp from a saved frame. Returns 0, or -1 when the frame is not this warp's. */
int context_forms_take_frame(machine *m, const block *b, const warp *w, const uint8_t *frame, uint64_t bytes);
#endif
