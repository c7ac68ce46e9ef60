/* read_set: what a block's launch has read and written, to tell when it overwrites something it has read (the flush
 * bit).
 *
 * One table per block entry of an SM, over 4-byte words in 128-byte segments. Reading what the block has itself written
 * before is no read from outside, since a new start writes it again first. A table that is full counts every later
 * store as a clobber. */
#ifndef MINIGPU_READ_SET_H
#define MINIGPU_READ_SET_H

#include "machine/state.h"

/* Empties the table of a block entry. */
void read_set_clear(const machine *m, sm *s, uint32_t entry);
/* Forgets everything and takes all of memory as read: for a block that comes back and whose table was not saved. */
void read_set_assume_all(const machine *m, sm *s, uint32_t entry);
void read_set_load(const machine *m, sm *s, uint32_t entry, uint64_t life, uint64_t segment, uint32_t words);
/* Returns 1 when the store overwrites something the block has read. */
int read_set_store(const machine *m, sm *s, uint32_t entry, uint64_t life, uint64_t segment, uint32_t words);

#endif
