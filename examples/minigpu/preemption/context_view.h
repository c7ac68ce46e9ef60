/* context_view: what gpump's analyses say of a kernel, for whoever saves its warps: the registers that are live where a
 * warp stands, how they vary over the lanes, and the way to the next preemption point (Lin 2.3.2, 2.3.3). */
#ifndef MINIGPU_CONTEXT_VIEW_H
#define MINIGPU_CONTEXT_VIEW_H

#include "state/state.h"

/* How registers are written (context_forms.h). */
typedef enum context_form {
    CONTEXT_NAIVE,         /* all of them, as they are */
    CONTEXT_LIVE,          /* those that are live where the warp stands */
    CONTEXT_LIVE_COMPRESS, /* and each of them in its smallest pattern */
    CONTEXT_TB,            /* and patterns over the whole block, where that is smaller */
    CONTEXT_FORMS
} context_form;

/* What is known of one kernel. Never changes once it is made. */
typedef struct context_view context_view;
/* Analyses a kernel: liveness, and from everywhere the way to the next preemption point. Returns NULL with the reason
 * in error. */
context_view *context_view_create(const kernel_program *program, char error[LAUNCH_ERROR_BYTES]);
void context_view_free(context_view *view);
/* The kernel gets one more version of its code, `piece`, which stands behind the others from PC `base` on
 * (recompile.h). Returns 0, or -1 with the reason in error. */
int context_view_append(context_view *view, const kernel_program *piece, uint32_t base, char error[LAUNCH_ERROR_BYTES]);

/* Which registers a warp needs to go on: bit r of live[r / 64] for 32-bit register r; CONTEXT_LIVE_WORDS words. */
#define CONTEXT_LIVE_WORDS (SCOREBOARD_IDS / 64u)
void context_live(const context_view *view, const kernel *k, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]);

/* The same with predicates: predicate p is bit registers + p. */
void context_live_all(const context_view *view, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]);

/* The same as Lin has it for a diverged warp that shows only where it stops: the union over every divergence that
 * encloses the place (2.3.2). Returns 0, or -1 when out of memory. */
int context_live_union(const context_view *view, const kernel *k, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]);

/* Which registers of a kernel are uniform or affine in the lane, in blocks of block_x threads a row. Returns NULL when
 * out of memory. */
gpump_patterns *context_patterns(const context_view *view, const kernel_program *program, uint32_t block_x);
/* The pattern of a warp's register, over all its lanes that have not exited. */
uint32_t context_pattern_of(const context_view *view, const gpump_patterns *patterns, const warp *w, uint32_t reg);

/* Sets *bytes to what the registers that a warp needs take, compressed, when its running lanes stand before instruction
 * `index` (gpump_patterns_live_bytes). */
gpump_result context_live_bytes(const context_view *view, const gpump_patterns *patterns, uint32_t index,
                                uint64_t *bytes);
/* Sets live[] to these registers, and predicates, when the warp may have diverged at every branch around it. */
gpump_result context_live_diverged(const context_view *view, uint32_t index, uint64_t live[CONTEXT_LIVE_WORDS]);

/* Returns the instructions from PC `pc` to the nearest preemption point ahead and sets *live_there to the registers
 * that are live at it; NONE when the kernel ends before any. */
uint32_t context_way(const context_view *view, uint32_t pc, uint32_t *live_there);

#endif
