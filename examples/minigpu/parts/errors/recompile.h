/* recompile: a kernel's regions are split while it runs (iGPU 4.1).
 *
 * When two exceptions of one region undo each other for ever, a dynamic compiler puts both instructions into regions of
 * their own. Here the new code is appended behind the old one, so that a PC says which version a warp executes. Only
 * warps that are caught in such a live-lock change to the new code, at their restart PC, where both versions need the
 * same registers. All others finish in the code that they are in. Old code is never freed while the machine lives,
 * because instructions in flight point to it. */
#ifndef MINIGPU_RECOMPILE_H
#define MINIGPU_RECOMPILE_H

#include "state/state.h"

/* One version of a kernel's code behind those before it. */
typedef struct code_version {
    kernel_program program;      /* all versions so far, one behind the other */
    issue_info *info;            /* of all of them */
    uint32_t *from;              /* by instruction of this version: its number in the version before; NONE: it is new */
    uint32_t base, count;        /* where this version stands */
    struct code_version *before; /* NULL: the kernel as it was built */
} code_version;

/* Puts the instructions at two PCs of a kernel into regions of their own, in a new version of its code; nothing where
 * they are already. Returns 1, or 0 when that is not possible: no registers are left for the values to preserve. */
int recompile_split(machine *m, uint32_t kernel_index, uint32_t first_pc, uint32_t second_pc);
/* Moves a warp that was sent back to the start of its short region to the newest version. Returns 1, or 0 when the
 * versions need different registers there: the warp then stays in its version. */
int recompile_move_warp(machine *m, sm *s, warp *w);
/* Frees the versions of all kernels. */
void recompile_free(machine *m);

#endif
