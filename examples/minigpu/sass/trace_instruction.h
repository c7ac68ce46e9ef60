/* trace_instruction: one line of a trace to one step of its block: instruction, mask, addresses, and the digest of the
 * tags that it reads.
 *
 * A warp executes the same instruction again and again, so most lines are like an earlier one, or differ from it in
 * their first address alone. Lines are kept with what they mean, and one that is like them is compared and not read. */
#ifndef MINIGPU_TRACE_INSTRUCTION_H
#define MINIGPU_TRACE_INSTRUCTION_H

#include "sass/trace_words.h"

/* Makes what a trace needs to read instructions, and frees it. Returns 0, or -1 when memory is out. */
int trace_instructions_open(trace_kernel *k);
void trace_instructions_close(trace_kernel *k);
/* Makes room for as many accesses as the last block had; reading makes more where it is missing. */
void trace_instructions_make_room(trace_kernel *k, trace_block *b);
/* A warp of a block begins. */
void trace_instructions_begin(trace_kernel *k, trace_block *b, uint32_t warp);
/* The lines of the warp have been read. The last instruction of a warp ends it: an exit is added where the trace has
 * none. Gives the warp its steps. Returns 0, or -1 with the error set. */
int trace_instructions_end(trace_kernel *k, line_reader *r, trace_block *b);
/* Reads the line of one warp instruction. Returns likewise. */
int trace_instruction_read(trace_kernel *k, line_reader *r, trace_block *b, uint32_t warp);
/* Takes up to `most` lines of the text that are like earlier ones: the same line with any mask, or the same access from
 * another address. Returns how many; the next one has to be read. */
uint64_t trace_instructions_compare(trace_kernel *k, trace_block *b, uint64_t most);
/* Adds an exit to the warp. Returns 0, or -1 with the error set. */
int trace_instruction_exit(trace_kernel *k, line_reader *r, trace_block *b);

#endif
