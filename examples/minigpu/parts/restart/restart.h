/* restart: restarts warps from the start of their idempotent region (iGPU 3.2).
 *
 * A boundary is an instruction that analysis_lower inserts. It issues once nothing of its warp is in flight, and
 * records the PC behind it and the SIMT stack. A warp has two such records, one for sparse regions and one for short
 * ones. From then on the warp can restart there at any time: instructions in flight vanish, PC and stack are the
 * recorded ones, registers and memory stay as they are. Only after an atomic (or volatile access, or barrier) that has
 * taken effect must it first run on to the next boundary. */
#ifndef MINIGPU_RESTART_H
#define MINIGPU_RESTART_H

#include "parts/restart/region.h"
#include "state/state.h"

/* Restarts a warp from the start of its sparse or short region (gpump_restart_region). Overwrites registers that are
 * not live there, if the machine's config says so (overwrite_freed). Returns 1, or 0 when the warp may not restart. */
int restart_warp(machine *m, sm *s, warp *w, uint32_t region);

#endif
