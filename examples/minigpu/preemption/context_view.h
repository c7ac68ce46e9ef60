/* context_view: the results of gpump's analyses for the save of a kernel's warps: the live registers at each
 * PC, their pattern over the lanes, and the distance to the next preemption point (Lin 2.3.2, 2.3.3). */
#ifndef MINIGPU_CONTEXT_VIEW_H
#define MINIGPU_CONTEXT_VIEW_H

#include "state/state.h"

/* The form in which registers are saved (context_forms.h). */
typedef enum context_form {
    CONTEXT_NAIVE,         /* all registers, uncompressed */
    CONTEXT_LIVE,          /* the registers that are live at the warp's PC */
    CONTEXT_LIVE_COMPRESS, /* the live registers, each in its smallest pattern */
    CONTEXT_TB,            /* additionally, patterns over the whole block where these are smaller */
    CONTEXT_FORMS
} context_form;

/* The analyses of one kernel. Constant, except for context_view_append. */
typedef struct context_view context_view;
/* Analyses a kernel: liveness, and the distance from each PC to the next preemption point. Returns NULL with
 * the reason in error. */
context_view *context_view_create(const kernel_program *program, char error[LAUNCH_ERROR_BYTES]);
void context_view_free(context_view *view);
/* Adds a version of the kernel's code, `piece`, after the others, from PC `base` on (recompile.h). Returns 0,
 * or -1 with the reason in error. */
int context_view_append(context_view *view, const kernel_program *piece, uint32_t base, char error[LAUNCH_ERROR_BYTES]);

/* 64-bit words of a mask of registers. Bit r % 64 of live[r / 64] is 32-bit register r. */
#define CONTEXT_LIVE_WORDS (SCOREBOARD_IDS / 64u)
/* Sets live[] to the registers that a warp needs to continue. */
void context_live(const context_view *view, const kernel *k, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]);

/* Sets live[] to the registers and predicates that a warp needs to continue. Predicate p is bit registers +
 * p. */
void context_live_all(const context_view *view, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]);

/* Sets live[] to the registers of a diverged warp of which only the PC is known: the union over every
 * divergence that encloses the PC (Lin 2.3.2). Returns 0, or -1 when memory is out. */
int context_live_union(const context_view *view, const kernel *k, const warp *w, uint64_t live[CONTEXT_LIVE_WORDS]);

/* Finds the registers of a kernel that are uniform or affine in the lane, in blocks with block_x threads in a
 * row. Returns NULL when memory is out. */
gpump_patterns *context_patterns(const context_view *view, const kernel_program *program, uint32_t block_x);
/* Returns the pattern of a warp's register over all of its lanes that have not exited. */
uint32_t context_pattern_of(const context_view *view, const gpump_patterns *patterns, const warp *w, uint32_t reg);

/* Sets *bytes to the compressed size of the registers that a warp needs when its running lanes are before
 * instruction `index` (gpump_patterns_live_bytes). */
gpump_result context_live_bytes(const context_view *view, const gpump_patterns *patterns, uint32_t index,
                                uint64_t *bytes);
/* Sets live[] to the registers and predicates that a warp needs before instruction `index` when it may have
 * diverged at every enclosing branch. */
gpump_result context_live_diverged(const context_view *view, uint32_t index, uint64_t live[CONTEXT_LIVE_WORDS]);

/* Returns the distance in instructions from PC `pc` to the nearest preemption point ahead, and sets
 * *live_there to the number of registers that are live at that point. NONE: the kernel may end before any
 * point. */
uint32_t context_way(const context_view *view, uint32_t pc, uint32_t *live_there);

#endif
