/* read_set: what a block has read and written, to prove that it has overwritten nothing that it read (hardware)
 *
 * A block may be flushed, that is dropped and started again, as long as it has overwritten nothing that it had read
 * before (Shieh 3.4.4). A host that executes instructions as they issue keeps one read set per block: it reports every
 * load and store of global memory, and calls gpump_sm_report_clobber when gpump_read_set_store answers 1. Reading what
 * the block itself has written does not count, because a new start writes it again first.
 *
 * The set belongs to the block, not to its slot. A saved block needs its set back when it is restored: otherwise a
 * later store over a word that was read before the save is not recognised as a clobber. gpump_read_set_save copies the
 * segments of a set, and gpump_read_set_restore loads them into another set. The SM's history
 * (gpump_sm_history.clobbered) records only whether the block has already overwritten a word that it had read.
 *
 * The set is a table of 128-byte segments with a bit per 4-byte word. The table is bounded. A full set treats every
 * store to an unknown segment as a clobber. A full set therefore allows fewer flushes, but results stay correct. */
#ifndef GPUMP_READ_SET_H
#define GPUMP_READ_SET_H

#include "base/component.h"

GPUMP_BEGIN

#define GPUMP_READ_SET_SEGMENT_BYTES 128u /* bytes of a segment: 32 words of 4 bytes */
#define GPUMP_READ_SET_ALL UINT64_MAX     /* address of a saved segment that stands for all of memory */

/* The configuration of a read set. gpump_preset fills it; `segments` may then be changed. */
typedef struct gpump_read_set_config {
    uint32_t segments; /* entries of the table, of which three quarters are used; 2,048; a power of two, 16 to 2^20 */
} gpump_read_set_config;

/* A segment of a set, as gpump_read_set_save writes it. */
typedef struct gpump_read_set_segment {
    uint64_t address; /* of its first byte, a multiple of GPUMP_READ_SET_SEGMENT_BYTES; or GPUMP_READ_SET_ALL */
    uint32_t read;    /* bit w set: word w was read before the block wrote it */
    uint32_t written; /* bit w set: word w was written before the block read it */
} gpump_read_set_segment;

typedef struct gpump_read_set gpump_read_set;

/* The set for the verbs of base/component.h: gpump_init makes an empty set. Preset: "default" (assumed: 2,048
 * segments, 192 KB of memory read and written). gpump_bits counts address, read and written bits per segment.
 * gpump_hash is the same for every order of reports. */
GPUMP_API const gpumpi_methods *gpumpi_read_set_methods(void);
GPUMPI_CONSTANT gpump_component gpump_read_set_component = {gpumpi_read_set_methods, GPUMP_LAYOUT_SM, 0};

/* Empties the set. A host calls gpump_read_set_clear when a block starts, and when it starts again after a flush. Cost:
 * constant; linear in the segments once in 127 calls. */
GPUMP_API void gpump_read_set_clear(gpump_read_set *set);
/* Marks all of memory as read, so that every store is a clobber. gpump_read_set_restore calls it. A host whose restored
 * block's set was not saved restores one segment with address GPUMP_READ_SET_ALL. */
GPUMP_API void gpumpi_read_set_assume_all(gpump_read_set *set);
/* Reports a load. `address` is the byte address of the segment; its lower 7 bits are ignored. Bit w of `words` is set
 * when word w of the segment was read. Cost: a look-up. */
GPUMP_API void gpump_read_set_load(gpump_read_set *set, uint64_t address, uint32_t words);
/* Reports a store to the `words` of the segment at `address`. Returns 1 when the store overwrites something that the
 * block has read, or may do so because the set is full: the block must not be flushed from then on
 * (gpump_sm_report_clobber). Cost: a look-up. */
GPUMP_API int gpump_read_set_store(gpump_read_set *set, uint64_t address, uint32_t words);

/* Copies the segments of the set to segments[capacity], in no defined order, and sets *count. *count is at most three
 * quarters of config.segments. A set that has lost a segment because it was full writes one segment with address
 * GPUMP_READ_SET_ALL. GPUMP_ERROR_CAPACITY. Cost: linear in the segments. */
GPUMP_API gpump_result gpump_read_set_save(const gpump_read_set *set, gpump_read_set_segment *segments,
                                           uint32_t capacity, uint32_t *count);
/* Replaces the set's contents by segments[count]. If the segments do not fit, the set marks all of memory as read.
 * GPUMP_ERROR_ARGUMENT. Cost: linear in count. */
GPUMP_API gpump_result gpump_read_set_restore(gpump_read_set *set, const gpump_read_set_segment *segments,
                                              uint32_t count);

GPUMP_END
#endif
