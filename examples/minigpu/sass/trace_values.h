/* trace_values: the values of registers, which a trace of tracer version 6 may have. A line ends with "NoVal", or with
 * "Val" and values: for each register that the line names, destinations before sources, the number of values (1 for all
 * lanes, or 32) and the values (trace_parser.cc of Accel-Sim, e1c2b67). Those of destinations are read. The mini-GPU's
 * own traces (TRACE_LANE_VALUES) have one word for each lane of the mask instead, register after register, and those of
 * destinations alone. A block keeps them beside its steps. A step without values writes tags (trace_tags.h). */
#ifndef MINIGPU_TRACE_VALUES_H
#define MINIGPU_TRACE_VALUES_H

#include "sass/trace_words.h"

/* The destinations that a line names. */
typedef struct trace_destinations {
    uint32_t count;
    uint32_t general; /* bit n: the n-th is a general register, and not RZ */
} trace_destinations;

/* Reads the values at the end of a line, whose addresses have been read. registers: how many the instruction writes.
 * Returns the lanes of the first register, from which those of the others follow, kept for the block's next step; NULL
 * when there are none. Values that are not one for each lane of each register are counted (trace_kernel.odd_values),
 * and the values are left out. *failed is set to 1 with the error set. */
const uint32_t *trace_values_read(trace_kernel *k, line_reader *r, trace_block *b, uint32_t mask,
                                  const trace_destinations *named, uint32_t registers, int *failed);
/* Completes a block's places of values. Returns -1 when memory is out. */
int trace_values_end(trace_block *b);

#endif
