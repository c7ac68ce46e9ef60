/* sass_opcodes: one table of the SASS opcodes of sm_70 to sm_90, with the unit that executes each and the registers
 * that its operands take. A new opcode is one row in sass_opcodes.c. */
#ifndef MINIGPU_SASS_OPCODES_H
#define MINIGPU_SASS_OPCODES_H

#include <stdint.h>

#include "ptx/instruction.h"

#define SASS_REGISTERS 255u /* R0 to R254; R255 is RZ, which reads as zero */
#define SASS_OPERANDS 8u    /* of one kind that a line of a trace may name */

/* What an instruction of a trace names: opcode, registers and bytes per lane of its access. */
typedef struct sass_line {
    char opcode[40];
    uint32_t destination_count, source_count;
    uint32_t destinations[SASS_OPERANDS], sources[SASS_OPERANDS]; /* register numbers; 255: RZ, or none of R */
    uint32_t width;                                               /* bytes per lane; 0: it accesses no memory */
    uint32_t space;                                               /* memory_space of its addresses, or SPACE_NONE */
    uint32_t immediate;                                           /* of DEPBAR, from tracer version 5 on; else 0 */
} sass_line;

/* Fills in the decoded instruction of a line: unit, space, access size, and each 32-bit register that it reads or
 * writes, the further ones of 64-bit and larger operands included. Registers that find no place in an instruction are
 * left out.
 * Returns 1 when the table has the opcode, 0 when it has not; the instruction is then the stated default: arithmetic,
 * or a load where it has a width and a destination, or a store where it has a width alone. */
int sass_decode(const sass_line *line, instruction *out);

#endif
