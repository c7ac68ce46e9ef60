/* restart: warps go back to the start of their idempotent region (iGPU 3.2).
 *
 * A boundary is an instruction that analysis_lower has put in. It issues once nothing of its warp is in flight, and
 * writes down the PC behind it and the SIMT stack: two such records per warp, one for sparse regions and one for short
 * ones. From then on the warp can go back there at any time: what is in flight vanishes, PC and stack are those written
 * down, registers and memory stay as they happen to be. Only between an atomic (or volatile access, or barrier) that
 * has taken effect and the boundary behind it must it go on. */
#ifndef MINIGPU_RESTART_H
#define MINIGPU_RESTART_H

#include "parts/restart/region.h"
#include "state/state.h"

/* Sends a warp back to the start of its sparse region, or of its short one (gpump_restart_region). Registers that are
 * not live there are overwritten, if the machine's config says so (overwrite_freed). Returns 1, or 0 when it may not.
 */
int restart_warp(machine *m, sm *s, warp *w, uint32_t region);

#endif
