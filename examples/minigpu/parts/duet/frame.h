/* frame: what a frame holds of a warp that is switched out (duet.h): the registers that are live where it stands,
 * compressed by what its kernel's patterns say of them (Lin 3.6.6, "Register Context Reduction"). First the registers
 * of which nothing is known, whole, then one word of each uniform one, then base and step of each affine one. */
#ifndef MINIGPU_FRAME_H
#define MINIGPU_FRAME_H

#include "state/state.h"
#include "preemption/context_view.h"

/* What is known of a kernel. Without patterns registers lie in frames as they are. */
typedef struct frame_view {
    const context_view *view;
    gpump_patterns *patterns; /* NULL: none */
} frame_view;
/* The registers of a warp that lie in a frame, by gpump_pattern. */
typedef struct frame_content {
    uint64_t sets[GPUMP_PATTERN_UNKNOWN + 1][CONTEXT_LIVE_WORDS];
    uint32_t lanes; /* that have not exited */
} frame_content;

/* Returns the most granules that a warp of this kernel takes where it waits for a load from global memory, or at a
 * barrier: the size of a frame without what the slot holds. */
uint32_t frame_granules(const frame_view *view, const kernel_program *program);
/* Sets *content to what a warp needs to go on, and returns its granules. */
uint32_t frame_look(const frame_view *view, const kernel *k, const warp *w, frame_content *content);
/* Adds registers of which nothing is to be assumed. */
void frame_add(frame_content *content, const uint64_t registers[CONTEXT_LIVE_WORDS]);
/* Returns these granules again. */
uint32_t frame_content_granules(const frame_content *content);
/* Writes the registers to a frame, and back. */
void frame_pack(const frame_content *content, const uint32_t *registers, uint8_t *frame);
void frame_unpack(const frame_content *content, uint32_t *registers, const uint8_t *frame);
/* Returns the granules that these registers would take if their values, not the analysis, said how they vary
 * (gpump_compress, one pattern for the whole warp). */
uint32_t frame_dynamic_granules(const frame_content *content, const uint32_t *registers, uint32_t count);

#endif
