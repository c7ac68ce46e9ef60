/* compress: vector registers as values, bases and strides, and back, exactly (calculation; Lin 2.3.3) */
#ifndef GPUMP_COMPRESS_H
#define GPUMP_COMPRESS_H

#include "base/base.h"

GPUMP_BEGIN

/* Pattern of one vector register of one warp, by groups of lanes (Lin 2.3.3). The codes are the two bits of the pattern
 * vector: b = "all differences between neighbours are equal" is bit 0, and a = "and they are not 0" is bit 1. */
typedef enum gpump_compress_pattern {
    GPUMP_COMPRESS_DEAD = 0,    /* not live: not saved */
    GPUMP_COMPRESS_UNIFORM = 1, /* every group holds one value; saved as one word per group */
    GPUMP_COMPRESS_RANDOM = 2,  /* anything else; saved as it is */
    GPUMP_COMPRESS_STRIDED = 3  /* every group is base + lane * stride, wrapping; saved as base and stride per group */
} gpump_compress_pattern;

/* Pattern of one register over all warps of a block (Lin 2.3.3, Fig 2.11). The codes are the three bits that the BLOCK
 * form keeps per register. GRID and MIXED are not in the paper. gpumpi_compress_classify_block never returns GRID or
 * MIXED. */
typedef enum gpump_compress_block_pattern {
    GPUMP_COMPRESS_BLOCK_DEAD = 0,
    GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM = 1, /* one value in the whole block */
    GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED = 2, /* base + thread * stride over the whole block */
    GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM = 3,  /* one value per group, not the same in all */
    GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED = 4,  /* base and stride per group, none of the above */
    GPUMP_COMPRESS_BLOCK_RANDOM = 5,         /* some group is neither uniform nor strided */
    /* base + lane in group * x stride + group * y stride: 3 words. Holds tx, ty and y * width + x. */
    GPUMP_COMPRESS_BLOCK_GRID = 6,
    GPUMP_COMPRESS_BLOCK_MIXED = 7 /* each warp in its own warp-level pattern */
} gpump_compress_block_pattern;

/* How the registers of a block are written. The form is not part of the bytes: the host keeps it beside them (a saved
 * context has a field for it), so the smallest form is never larger than the raw registers.
 *
 * All words are 32 bits, little endian, without padding. W: warps. R: registers. G: groups in the block. A register of
 * a warp has `lanes` words (in the last warp last_lanes), in groups of `group` lanes. The last group of a warp may be
 * shorter.
 *
 *   RAW    Every register of every warp, warp by warp.
 *   LIVE   Per warp: ceil(R/8) bytes of live mask (register 0 is bit 0 of byte 0), then the live registers, raw.
 *   WARP   ceil(W/8) bytes of tags, then the warps. Tag 1: the warp is written as in LIVE. Tag 0: ceil(R/4) bytes of
 *          patterns (2 bits each, register 0 lowest), then the data of each register.
 *            uniform   a word per group
 *            strided   a base per group, then a stride per group
 *            random    the lanes, raw
 *   BLOCK  Three bit planes of ceil(R/8) bytes (bit p of the block pattern in plane p), then the data of each register.
 *          A register that is live in any warp is saved for all warps.
 *            global uniform   1 word
 *            global strided   base, stride
 *            local uniform    G words
 *            local strided    G bases, G strides
 *            random           all warps, raw
 *            grid             base, x stride, y stride
 *            mixed            ceil(W/4) bytes of patterns, then each warp as in WARP
 *   NEAR   Per warp: ceil(R/2) bytes of codes (4 bits each, register 0 lowest), then the data of each register.
 *            0          dead: no data
 *            1, 2, 3    uniform, random, strided: as in WARP
 *            4          each lane is the lane of the warp before plus the constant that code 5 last gave this register
 *                       (0 when none has): no data. The register must not be dead in the warp before.
 *            5          the same with a constant of its own: a word
 *            6, 7, 8    a word, then for each lane its distance above that word, wrapping, in 1, 2, 3 bytes */
typedef enum gpump_compress_form {
    GPUMP_COMPRESS_FORM_RAW = 0,
    GPUMP_COMPRESS_FORM_LIVE = 1,
    GPUMP_COMPRESS_FORM_WARP = 2,
    /* For warps at one barrier: base and stride vectors of the block are themselves compressed. */
    GPUMP_COMPRESS_FORM_BLOCK = 3,
    /* Not in the paper, and usually the smallest: each warp beside the warp before it. */
    GPUMP_COMPRESS_FORM_NEAR = 4,
    GPUMP_COMPRESS_FORMS = 5
} gpump_compress_form;

/* Which forms gpump_compress_save may choose from: any of these added up. The smallest is taken, ties to the lower
 * form. */
#define GPUMP_COMPRESS_ALLOW_RAW 1u
#define GPUMP_COMPRESS_ALLOW_LIVE 2u
#define GPUMP_COMPRESS_ALLOW_WARP 4u
#define GPUMP_COMPRESS_ALLOW_BLOCK 8u
#define GPUMP_COMPRESS_ALLOW_NEAR 16u
#define GPUMP_COMPRESS_ALLOW_ALL 31u
/* Only what the paper has: no tags in WARP, no GRID and no MIXED in BLOCK, no NEAR. */
#define GPUMP_COMPRESS_PAPER 256u
/* AVX2, and AVX-512 for WARP, is taken where the processor has it, unless GPUMP_NO_SIMD is defined. PLAIN: use neither;
 * AVX2: no AVX-512. The bytes are the same either way. */
#define GPUMP_COMPRESS_PLAIN 512u
#define GPUMP_COMPRESS_AVX2 2048u
/* Restore of WARP: write the registers around the caches, where AVX2 is taken, values is aligned to 32 bytes and
 * strides are multiples of 8 words: faster when more is restored at once than the last-level cache holds, slower when
 * it fits. */
#define GPUMP_COMPRESS_AROUND 1024u

#define GPUMP_COMPRESS_MAX_WARPS 64
#define GPUMP_COMPRESS_MAX_REGISTERS 256
#define GPUMP_COMPRESS_MAX_LANES 64

/* Where the registers of a block lie: lane l of register r of warp w is values[w * warp_stride + r * register_stride +
 * l]. */
typedef struct gpump_compress_layout {
    uint32_t warps;           /* 1 to GPUMP_COMPRESS_MAX_WARPS; 1 to compress a warp alone */
    uint32_t registers;       /* registers of a warp, 1 to GPUMP_COMPRESS_MAX_REGISTERS */
    uint32_t lanes;           /* words of a vector register, 1 to GPUMP_COMPRESS_MAX_LANES */
    uint32_t last_lanes;      /* the same in the last warp, when the block does not fill it; 1 to lanes */
    uint32_t group;           /* lanes of a pattern group: 8 to lanes, or lanes itself; see gpumpi_compress_group */
    uint32_t register_stride; /* words from one register to the next; at least lanes */
    /* Words from one warp to the next; at least registers * register_stride, unless warps is 1. */
    uint32_t warp_stride;
    uint32_t live_stride; /* 64-bit words from the live mask of one warp to that of the next; 0: all warps share one */
} gpump_compress_layout;

/* How many registers had which pattern, and what each form costs. */
typedef struct gpump_compress_counts {
    uint64_t bytes[GPUMP_COMPRESS_FORMS]; /* size in each form */
    uint32_t warp[4];                     /* vector registers by gpump_compress_pattern */
    uint32_t block[8]; /* registers of the block by gpump_compress_block_pattern, classified as the paper does */
} gpump_compress_counts;

/* Returns the lanes of a pattern group: block_x, the x dimension of the block (1 or more), where that is at least 8 and
 * divides `lanes`, else `lanes` (Lin 2.3.3 takes the lowest dimension, which is 1 for a 256 x 1 block). */
GPUMP_API uint32_t gpumpi_compress_group(uint32_t lanes, uint32_t block_x);

/* Returns the size of one warp's pattern vector of so many `registers`, bits (Lin 2.4.2: 128 for 64 registers). */
GPUMP_API uint32_t gpumpi_compress_pattern_bits(uint32_t registers);

/* Fills *layout for registers packed without gaps: `lanes` words per register, warp after warp; last_lanes from
 * `threads` (threads of the block, 1 or more), the group from block_x (the block's x dimension) by
 * gpumpi_compress_group; all warps share one live mask. GPUMP_ERROR_ARGUMENT when a field would leave its range. */
GPUMP_API gpump_result gpump_compress_layout_init(gpump_compress_layout *layout, uint32_t threads, uint32_t registers,
                                                  uint32_t lanes, uint32_t block_x, gpump_diag *diag);

/* Returns the pattern of one vector register values[lanes] (1 to 64) in groups of `group` lanes (1 to lanes); never
 * DEAD. A single lane is uniform. Cost: linear. Source: Lin 2.3.3, Fig 2.10. */
GPUMP_API gpump_compress_pattern gpumpi_compress_classify(const uint32_t *values, uint32_t lanes, uint32_t group);

/* Returns the pattern of register `number` over the whole block whose registers are values[], as *layout says (both
 * must be right); never DEAD, GRID or MIXED. Lin 2.3.3 with two corrections: a global stride needs the base vector's
 * stride to equal the lane stride times `group` (the paper: the lane stride), and local uniform asks that the base
 * vector, not the stride vector, be not uniform. Cost: linear. */
GPUMP_API gpump_compress_block_pattern gpumpi_compress_classify_block(const gpump_compress_layout *layout,
                                                                      const uint32_t *values, uint32_t number);

/* Sets *bytes to the room that gpump_compress_save asks for: at most a few bytes per warp above the raw registers.
 * GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_compress_bound(const gpump_compress_layout *layout, size_t *bytes, gpump_diag *diag);

/* Writes the registers of a block.
 *   values   the registers, laid out as *layout says
 *   live     live masks, bit r of word r/64: register r; (registers + 63) / 64 words per warp; NULL: all are live
 *   allow    GPUMP_COMPRESS_ALLOW_... bits
 *   out      room for gpump_compress_bound bytes (capacity), any alignment; must not overlap values
 *   bytes    bytes written; with GPUMP_ERROR_CAPACITY the bound
 *   form     the form chosen
 * Every bit pattern survives, NaNs and wrapping strides included. Cost: linear; one pass with RAW, LIVE and one of WARP
 * and NEAR, another with both, two more with BLOCK, which is slow. */
GPUMP_API gpump_result gpump_compress_save(const gpump_compress_layout *layout, const uint32_t *values,
                                           const uint64_t *live, uint32_t allow, void *out, size_t capacity,
                                           size_t *bytes, uint32_t *form, gpump_diag *diag);

/* Restores the registers of a block from the bytes of gpump_compress_save. Registers that were dead keep their values
 * (form RAW has no dead registers). Any bytes are safe. GPUMP_ERROR_FORMAT: the buffer's length is not the length that
 * its patterns imply; no register is written then.
 *   layout   as in gpump_compress_save, though the strides may differ
 *   form     the form that gpump_compress_save reported
 *   flags    0, or GPUMP_COMPRESS_PLAIN, _AVX2 and _AROUND added up
 *   in       `bytes` bytes, any alignment
 *   values   out: the registers, laid out as *layout says
 * Cost: linear. */
GPUMP_API gpump_result gpump_compress_restore(const gpump_compress_layout *layout, uint32_t form, uint32_t flags,
                                              const void *in, size_t bytes, uint32_t *values, gpump_diag *diag);

/* Counts patterns and the size in every form into *counts, writing nothing; layout, values and live as in
 * gpump_compress_save. `flags`: 0, GPUMP_COMPRESS_PAPER. Errors: GPUMP_ERROR_ARGUMENT. Cost: two passes. */
GPUMP_API gpump_result gpump_compress_count(const gpump_compress_layout *layout, const uint32_t *values,
                                            const uint64_t *live, uint32_t flags, gpump_compress_counts *counts,
                                            gpump_diag *diag);

GPUMP_END
#endif
