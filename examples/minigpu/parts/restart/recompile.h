/* recompile: splits a kernel's regions while it runs (iGPU 4.1).
 *
 * Two exceptions of one region may undo each other for ever. A dynamic compiler then puts both instructions into
 * regions of their own. Here the new code is appended to the old code, so that a PC names the version that a warp
 * executes. Only warps in such a live-lock change to the new code, at their restart PC, where both versions need the
 * same registers. All other warps finish in their version. Old code is never freed while the machine exists, because
 * instructions in flight point to it. */
#ifndef MINIGPU_RECOMPILE_H
#define MINIGPU_RECOMPILE_H

#include "state/state.h"

/* One version of a kernel's code, appended to the earlier ones. */
typedef struct code_version {
    kernel_program program; /* all versions so far */
    issue_info *info;       /* of all versions */
    replay_info *replay;    /* likewise; NULL: the kernel has none */
    uint32_t *from;         /* by instruction of this version: its number in the earlier version; NONE: it is new */
    uint32_t base, count;   /* first PC and length of this version */
    struct code_version *before; /* the earlier version; NULL: the kernel as built */
} code_version;

/* Puts the instructions at two PCs of a kernel into regions of their own, in a new version of its code, unless they are
 * already. Returns 1, or 0: no registers are left for the copies that the regions need. */
int recompile_split(machine *m, uint32_t kernel_index, uint32_t first_pc, uint32_t second_pc);
/* Makes a warp that has just restarted its short region continue in the newest version. Returns 1, or 0: the versions
 * need different registers there, and the warp stays in its version. */
int recompile_move_warp(machine *m, sm *s, warp *w);
/* Frees the versions of all kernels. */
void recompile_free(machine *m);

#endif
