/* trace_values: the values of registers, which a trace of tracer version 6 may have. A line ends with "NoVal", or with
 * "Val" and the values that the instruction writes: register after register, and of each register one hexadecimal word
 * for each lane of the mask. A block keeps them beside its steps. A step without values writes tags (trace_tags.h). */
#ifndef MINIGPU_TRACE_VALUES_H
#define MINIGPU_TRACE_VALUES_H

#include "sass/trace_words.h"

/* Reads the values at the end of a line, whose addresses have been read. registers: how many the instruction writes.
 * Returns the lanes of the first register, from which those of the others follow, kept for the block's last step; NULL
 * when there are none. Another number of values than lanes times registers is counted (trace_kernel.odd_values), and
 * the values are left out. *failed is set to 1 with the error set. */
const uint32_t *trace_values_read(trace_kernel *k, line_reader *r, trace_block *b, uint32_t mask, uint32_t registers,
                                  int *failed);
/* Completes a block's places of values. Returns -1 when memory is out. */
int trace_values_end(trace_block *b);

#endif
