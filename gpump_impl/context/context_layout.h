/* context_layout: what the context of a block consists of, and in which order (calculation; Lin 2.3 and 2.4.2,
 * Tanasic 5.2.2 and 6.3)
 *
 * A host describes a block by views: gpump_context_view for the whole, gpump_context_warp for each warp in its turn.
 * One walk over the views writes the context, measures it, or reads it back:
 *
 *     identity, parts that stay in place, registers of all warps together if they are written so;
 *     for each warp: registers or frame, SIMT stack, predicates, and what the host adds (`put`): a replay queue, an
 *     operand log, a restart state, sections of its own;
 *     barriers, local memory, shared memory
 *
 * Parts that stay in place are left out. A warp whose stack is empty has ended, and nothing else of it is written. What
 * has a count and no pointer is measured: a view with counts alone gives the size that a block can have at most. */
#ifndef GPUMP_CONTEXT_LAYOUT_H
#define GPUMP_CONTEXT_LAYOUT_H

#include "base/base.h"
#include "context/compress.h"
#include "context/context.h"
#include "gpu/block.h"

GPUMP_BEGIN

/* One warp. The pointers are valid until the host is asked for the next warp. When a context is read, a count is the
 * capacity first, and then what was found: GPUMP_NONE when the context has no such section. */
typedef struct gpump_context_warp {
    uint32_t *registers;  /* values[register][lane], or as gpump_context_view.compress has them */
    const uint64_t *live; /* bits of the registers that are written, where gpump_context_view.allow is not 0 */
    gpump_context_stack_entry *stack; /* bottom first; 0 entries: the warp has ended */
    uint64_t *predicates;             /* a word per predicate, bit = lane */

    const void *frame; /* instead of the registers: the frame in which they lie (duet.h) */
    uint64_t frame_bytes;
    uint32_t stack_entries, predicate_words;
} gpump_context_warp;

/* A block. */
typedef struct gpump_context_view {
    gpump_context_block block; /* identity, progress and shape: `warps`, `lanes` and `registers` hold for the walk */
    gpump_context_control control;         /* the parts that stay in place, and where; in_place 0: none does */
    const gpump_compress_layout *compress; /* how the values of the whole block lie; NULL: raw registers alone */
    /* Registers of all warps as one section: values and live bits as gpump_compress_save takes them with `compress`.
     * NULL: each warp has its own. */
    uint32_t *registers;
    const uint64_t *live;
    uint64_t *barriers; /* words as the host arranges them */
    uint64_t *local;    /* words that say where the threads' local memory lies */
    void *shared;       /* the block's shared memory */
    uint64_t shared_bytes;
    uint32_t barrier_words, local_words;
    uint32_t allow; /* GPUMP_COMPRESS_ALLOW_... forms of registers; 0: raw */
    uint32_t omit;  /* bits 1 << gpump_context_type: left out, as a test does that asks what a restore needs */
    void *user;
    /* Fills *warp, which is zero, with the warp `index`: what is to be written, or where to and how much may be read.
     */
    void (*warp)(void *user, uint32_t index, gpump_context_warp *warp);
    /* Appends further sections of the warp `index` (gpump_replay_pack, gpump_restart_save, the host's own), which has
     * not ended. NULL: there are none. */
    void (*put)(void *user, uint32_t index, gpump_context_writer *writer);
    /* Takes what was read of the warp `index`, and reads what `put` has written. Only gpump_context_get_view calls it.
     */
    void (*took)(void *user, uint32_t index, const gpump_context_warp *warp, gpump_context_reader *reader);
} gpump_context_view;

/* Appends the sections of one warp: `index` and *warp of the block *view. The first error of
 * gpumpi_context_put_compressed is returned; all others are reported by gpump_context_end. Cost: linear. */
GPUMP_API gpump_result gpump_context_put_warp(gpump_context_writer *writer, const gpump_context_view *view,
                                              uint32_t index, const gpump_context_warp *warp);
/* Appends a whole block, *view, and sets *sizes (may be NULL) to its bytes by what becomes of them when a part stays in
 * place; the header of the context counts as state. Errors as gpump_context_put_warp. Cost: linear. */
GPUMP_API gpump_result gpump_context_put_view(gpump_context_writer *writer, const gpump_context_view *view,
                                              gpump_context_sizes *sizes);
/* Reads a whole block into what *view points to. Its identity is written to view->block when the context has one.
 * Errors name what contradicts the view in diag->field, and the warp in diag->index; what was read before has been
 * written. GPUMP_ERROR_FORMAT: another shape or size, or `parts`: a part is missing that a restore needs, and
 * view->omit is 0; or `checksum`: gpump_context_open_unverified opened an altered context. GPUMP_ERROR_CAPACITY: more
 * than the view has room for. Cost: linear. */
GPUMP_API gpump_result gpump_context_get_view(gpump_context_reader *reader, gpump_context_view *view, gpump_diag *diag);
/* Sets bytes[warps] to what the sections of each warp take, with their heads. Registers of all warps together count
 * evenly; what belongs to the block is nobody's. Cost: one walk. */
GPUMP_API void gpump_context_bytes_by_warp(gpump_context_reader *reader, uint32_t warps, uint64_t *bytes);

GPUMP_END
#endif
