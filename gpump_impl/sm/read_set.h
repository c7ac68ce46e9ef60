/* read_set: what a block has read and written, to prove that it has overwritten nothing that it read (floor 2,
 * hardware)
 *
 * A block may be flushed, that is dropped and started again, as long as it has overwritten nothing that it had read
 * before (Shieh 3.4.4). A host that executes instructions as they issue keeps one read set per block: it reports every
 * load and store of global memory, and calls gpump_sm_report_clobber when gpump_read_set_store answers 1. Reading what
 * the block itself has written does not count, because a new start writes it again first.
 *
 * The set belongs to the block, not to its slot. It has to travel with a saved block, or a later store over something
 * that was read before the save passes for harmless: gpump_read_set_save copies what it holds, gpump_read_set_restore
 * puts it into another set. The history of the SM (gpump_sm_history.clobbered) says only whether the block has
 * overwritten something already.
 *
 * The set is a table of 128-byte segments with a bit per 4-byte word. It is bounded: a set that is full takes every
 * store to a segment that it does not know for a clobber, which costs flushes, never results. */
#ifndef GPUMP_READ_SET_H
#define GPUMP_READ_SET_H

#include "base/base.h"

GPUMP_BEGIN

#define GPUMP_READ_SET_SEGMENT_BYTES 128u /* bytes of a segment: 32 words of 4 bytes */
#define GPUMP_READ_SET_ALL UINT64_MAX     /* address of a saved segment that stands for all of memory */

/* The configuration of a read set. gpump_read_set_config_preset fills it; `segments` may then be changed. */
typedef struct gpump_read_set_config {
    uint32_t struct_size; /* sizeof(gpump_read_set_config) */
    uint32_t segments; /* entries of the table, of which three quarters are used; 2,048; a power of two, 16 to 2^20 */
} gpump_read_set_config;

/* A segment of a set: what gpump_read_set_save hands over. */
typedef struct gpump_read_set_segment {
    uint64_t address; /* of its first byte, a multiple of GPUMP_READ_SET_SEGMENT_BYTES; or GPUMP_READ_SET_ALL */
    uint32_t read;    /* bit w set: word w was read before the block wrote it */
    uint32_t written; /* bit w set: word w was written before the block read it */
} gpump_read_set_segment;

typedef struct gpump_read_set gpump_read_set;

/* Fills *config with the preset "default" (assumed: 2,048 segments, 192 KB of memory read and written). GPUMP_ERROR_
 * UNKNOWN_NAME otherwise. */
GPUMP_API gpump_result gpump_read_set_config_preset(gpump_read_set_config *config, const char *preset);
/* Sets *bytes to the memory that a set of this configuration needs. GPUMP_ERROR_CONFIG names the field in diag. */
GPUMP_API gpump_result gpump_read_set_bytes(const gpump_read_set_config *config, size_t *bytes, gpump_diag *diag);
/* Makes an empty set in `memory` (8-byte aligned, at least gpump_read_set_bytes) and sets *set. GPUMP_ERROR_CONFIG,
 * GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_read_set_init(void *memory, size_t bytes, const gpump_read_set_config *config,
                                           gpump_read_set **set, gpump_diag *diag);
/* Takes over a byte copy of a set of the same configuration and build. GPUMP_ERROR_FORMAT for anything else. */
GPUMP_API gpump_result gpump_read_set_adopt(void *memory, size_t bytes, const gpump_read_set_config *config,
                                            gpump_read_set **set, gpump_diag *diag);
/* Checks the counts of a set against its table. For memory from outside: once gpump_read_set_adopt has taken it over
 * and this returns GPUMP_OK, every later call is safe. GPUMP_ERROR_FORMAT. Cost: linear in the segments. */
GPUMP_API gpump_result gpump_read_set_check(const gpump_read_set *set, gpump_diag *diag);
/* Returns a hash of what the set holds, the same on every machine and for every order of reports. Cost: linear in the
 * segments. */
GPUMP_API uint64_t gpump_read_set_hash(const gpump_read_set *set);
/* Sets *bits to the SRAM of a set of this configuration: address, read and written bits per segment.
 * GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_read_set_bits(const gpump_read_set_config *config, uint64_t *bits, gpump_diag *diag);

/* Empties the set: for a block that starts, or starts again after a flush. Cost: constant, but for one call in 127. */
GPUMP_API void gpump_read_set_clear(gpump_read_set *set);
/* Takes all of memory as read, so that every store is a clobber: for a block whose set was not kept. */
GPUMP_API void gpump_read_set_assume_all(gpump_read_set *set);
/* Reports a load. `address` is that of the segment's first byte (lower bits are ignored), bit w of `words` its word w.
 * Cost: a look-up. */
GPUMP_API void gpump_read_set_load(gpump_read_set *set, uint64_t address, uint32_t words);
/* Reports a store to the `words` of the segment at `address`. Returns 1 when the store overwrites something that the
 * block has read, or may do so because the set is full: the block must not be flushed from then on
 * (gpump_sm_report_clobber). Cost: a look-up. */
GPUMP_API int gpump_read_set_store(gpump_read_set *set, uint64_t address, uint32_t words);

/* Copies the segments of the set, in no order that means anything, to segments[capacity] and sets *count: what travels
 * with a saved block. At most three quarters of config.segments. A set that has lost a segment because it was full
 * gives one segment with address GPUMP_READ_SET_ALL. GPUMP_ERROR_CAPACITY. Cost: linear in the segments. */
GPUMP_API gpump_result gpump_read_set_save(const gpump_read_set *set, gpump_read_set_segment *segments,
                                           uint32_t capacity, uint32_t *count);
/* Makes the set hold segments[count], and nothing else. Where they do not fit, the set takes all of memory as read.
 * GPUMP_ERROR_ARGUMENT. Cost: linear in count. */
GPUMP_API gpump_result gpump_read_set_restore(gpump_read_set *set, const gpump_read_set_segment *segments,
                                              uint32_t count);

GPUMP_END
#endif
