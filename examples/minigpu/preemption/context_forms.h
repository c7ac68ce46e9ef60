/* context_forms: what of a block's registers is saved, and whether a warp had better stop at once: the part of a switch
 * that needs to know the kernel (Lin 2.3.2, 2.3.3, 2.4.1). block_life.c asks; everything here rests on gpump's
 * analyses. */
#ifndef MINIGPU_CONTEXT_FORMS_H
#define MINIGPU_CONTEXT_FORMS_H

#include "machine/state.h"

/* How registers are written. */
typedef enum context_form {
    CONTEXT_NAIVE,         /* all of them, as they are */
    CONTEXT_LIVE,          /* those that are live where the warp stands */
    CONTEXT_LIVE_COMPRESS, /* and each of them in its smallest pattern */
    CONTEXT_TB,            /* and patterns over the whole block, where that is smaller */
    CONTEXT_FORMS
} context_form;
/* "naive", "live", "live+compress", "tb"; NULL past the last. */
const char *context_form_name(uint32_t form);

/* What is known of one kernel. Never changes once it is made. */
typedef struct context_view context_view;
/* Analyses a kernel: liveness, and from everywhere the way to the next preemption point. Returns NULL with the reason
 * in error. */
context_view *context_view_create(const kernel_program *program, char error[LAUNCH_ERROR_BYTES]);
void context_view_free(context_view *view);
/* The kernel gets one more version of its code, `piece`, which stands behind the others from PC `base` on
 * (recompile.h). Returns 0, or -1 with the reason in error. */
int context_view_append(context_view *view, const kernel_program *piece, uint32_t base, char error[LAUNCH_ERROR_BYTES]);

/* At the preemption signal: 1 when this warp should run on to its next point, 0 when it had better stop where it is
 * (gpump_spill_run_on). The way to the point is the shortest one in its kernel, its speed that of its block so far, and
 * what it would write there is estimated from what it would write here. */
int context_runs_on(machine *m, const block *b, const warp *w);

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
uint32_t context_pattern_of(const gpump_patterns *patterns, const warp *w, uint32_t reg);

/* Sets *bytes to what the registers that a warp needs take, compressed, when its running lanes stand before instruction
 * `index` (gpump_patterns_live_bytes). */
gpump_result context_live_bytes(const context_view *view, const gpump_patterns *patterns, uint32_t index,
                                uint64_t *bytes);
/* Sets live[] to these registers, and predicates, when the warp may have diverged at every branch around it. */
gpump_result context_live_diverged(const context_view *view, uint32_t index, uint64_t live[CONTEXT_LIVE_WORDS]);

/* Writes the registers of a block's warps in the machine's form; `b` NULL measures the most that any form can take. */
void context_forms_write(machine *m, const kernel *k, const block *b, gpump_context_writer *writer);
/* Returns the bytes of one warp's sections (registers in the machine's form, stack, predicates) and how many vector
 * registers are among them. Not for CONTEXT_TB. */
uint64_t context_forms_warp_bytes(machine *m, const kernel *k, const block *b, const warp *w, uint32_t *registers);
/* Reads them back, in whatever form they are. Returns 0, or -1 for a context that contradicts the kernel. */
int context_forms_read(machine *m, const block *b, gpump_context_reader *reader);
#endif
