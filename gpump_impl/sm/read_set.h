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

#include "base/base.h"

GPUMP_BEGIN

#define GPUMP_READ_SET_SEGMENT_BYTES 128u /* bytes of a segment: 32 words of 4 bytes */
#define GPUMP_READ_SET_ALL UINT64_MAX     /* address of a saved segment that stands for all of memory */

/* The configuration of a read set. gpump_read_set_config_preset fills it; `segments` may then be changed. */
typedef struct gpump_read_set_config {
    uint32_t struct_size; /* sizeof(gpump_read_set_config) */
    uint32_t segments; /* entries of the table, of which three quarters are used; 2,048; a power of two, 16 to 2^20 */
} gpump_read_set_config;

/* A segment of a set, as gpump_read_set_save writes it. */
typedef struct gpump_read_set_segment {
    uint64_t address; /* of its first byte, a multiple of GPUMP_READ_SET_SEGMENT_BYTES; or GPUMP_READ_SET_ALL */
    uint32_t read;    /* bit w set: word w was read before the block wrote it */
    uint32_t written; /* bit w set: word w was written before the block read it */
} gpump_read_set_segment;

typedef struct gpump_read_set gpump_read_set;

/* Fills *config with the preset "default" (assumed: 2,048 segments, 192 KB of memory read and written).
 * GPUMP_ERROR_UNKNOWN_NAME: any other name. */
GPUMP_API gpump_result gpump_read_set_config_preset(gpump_read_set_config *config, const char *preset);
/* Sets *bytes to the memory that a set of this configuration needs. GPUMP_ERROR_CONFIG names the field in diag. */
GPUMP_API gpump_result gpump_read_set_bytes(const gpump_read_set_config *config, size_t *bytes, gpump_diag *diag);
/* Makes an empty set in `memory` (8-byte aligned, at least gpump_read_set_bytes) and sets *set. GPUMP_ERROR_CONFIG,
 * GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_read_set_init(void *memory, size_t bytes, const gpump_read_set_config *config,
                                           gpump_read_set **set, gpump_diag *diag);
/* Adopts a byte copy of a set of the same configuration and build, and sets *set. GPUMP_ERROR_FORMAT: any other
 * bytes. */
GPUMP_API gpump_result gpump_read_set_adopt(void *memory, size_t bytes, const gpump_read_set_config *config,
                                            gpump_read_set **set, gpump_diag *diag);
/* Checks the counts of a set against its table. A host calls gpump_read_set_check after gpump_read_set_adopt when the
 * bytes come from outside the program. On GPUMP_OK every later call is safe. GPUMP_ERROR_FORMAT. Cost: linear in the
 * segments. */
GPUMP_API gpump_result gpump_read_set_check(const gpump_read_set *set, gpump_diag *diag);
/* Returns a hash of what the set holds, the same on every machine and for every order of reports. Cost: linear in the
 * segments. */
GPUMP_API uint64_t gpump_read_set_hash(const gpump_read_set *set);
/* Sets *bits to the SRAM of a set of this configuration: address, read and written bits per segment.
 * GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_read_set_bits(const gpump_read_set_config *config, uint64_t *bits, gpump_diag *diag);

/* Empties the set. A host calls gpump_read_set_clear when a block starts, and when it starts again after a flush. Cost:
 * constant; linear in the segments once in 127 calls. */
GPUMP_API void gpump_read_set_clear(gpump_read_set *set);
/* Marks all of memory as read, so that every store is a clobber. A host calls gpump_read_set_assume_all for a restored
 * block whose set was not saved. */
GPUMP_API void gpump_read_set_assume_all(gpump_read_set *set);
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
