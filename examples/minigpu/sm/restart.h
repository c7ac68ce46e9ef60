/* restart: warps go back to the start of their idempotent region (iGPU 3.2).
 *
 * A boundary is an instruction that analysis_lower has put in. It issues once nothing of its warp is in flight, and
 * writes down the PC behind it and the SIMT stack: two such records per warp, one for sparse regions and one for short
 * ones. From then on the warp can go back there at any time: what is in flight vanishes, PC and stack are those written
 * down, registers and memory stay as they happen to be. Only between an atomic (or volatile access, or barrier) that
 * has taken effect and the boundary behind it must it go on. */
#ifndef MINIGPU_RESTART_H
#define MINIGPU_RESTART_H

#include "sm/region.h"

/* Sends a warp back to the start of its sparse region, or of its short one (gpump_restart_region). Returns 1, or 0
 * when it may not. */
int restart_warp(machine *m, sm *s, warp *w, uint32_t region);
/* Sets m->restart_config to a preset of gpump_restart ("igpu", a detection) for this machine. Returns 0; -1: there is
 * none of that name. */
int restart_configure(machine *m, const char *preset);
/* Gives every SM its restart PCs as m->restart_config says. Returns 0; -1: out of memory. */
int restart_make(machine *m);
/* The warp executes a boundary, and stands behind it; or it starts. */
void restart_record(machine *m, sm *s, warp *w, int is_short);

#endif
