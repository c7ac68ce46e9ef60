/* frame: the contents of a frame of a switched-out warp (duet.h): the registers that are live at its PC, compressed by
 * the kernel's patterns (Lin 3.6.6, "Register Context Reduction"). Registers without a known pattern come first, whole,
 * then one word of each uniform register, then base and step of each affine one. */
#ifndef MINIGPU_FRAME_H
#define MINIGPU_FRAME_H

#include "state/state.h"
#include "preemption/context_view.h"

/* The analyses of a kernel. Without patterns registers are in frames as they are. */
typedef struct frame_view {
    const context_view *view;
    gpump_patterns *patterns; /* NULL: none */
} frame_view;
/* The registers of a warp in a frame, by gpump_pattern. */
typedef struct frame_content {
    uint64_t sets[GPUMP_PATTERN_UNKNOWN + 1][CONTEXT_LIVE_WORDS];
    uint32_t lanes; /* lanes that have not exited */
} frame_content;

/* Returns the most granules that a warp of this kernel needs where it waits for a load from global memory, or at a
 * barrier: the size of a frame without the state in the slot. */
uint32_t frame_granules(const frame_view *view, const kernel_program *program);
/* Sets *content to the registers that a warp needs to continue. */
void frame_look(const frame_view *view, const kernel *k, const warp *w, frame_content *content);
/* Adds registers without a known pattern. */
void frame_add(frame_content *content, const uint64_t registers[CONTEXT_LIVE_WORDS]);
/* Returns the granules of *content. */
uint32_t frame_content_granules(const frame_content *content);
/* Write the registers to a frame, and read them back. */
void frame_pack(const frame_content *content, const uint32_t *registers, uint8_t *frame);
void frame_unpack(const frame_content *content, uint32_t *registers, const uint8_t *frame);
/* Returns the granules that these registers would take if their values decided the patterns instead of the analysis
 * (gpump_compress, one pattern for the whole warp). */
uint32_t frame_dynamic_granules(const frame_content *content, const uint32_t *registers, uint32_t count);

#endif
