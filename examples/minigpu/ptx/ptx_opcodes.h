/* ptx_opcodes: one table of the opcodes that the reader accepts, with their types, modifiers and operand shapes. A new
 * instruction is one row here, one case in lanes.c, and one row in tests/ptx/lanes.c. ptx_matrix.c reads matrix
 * instructions. */
#ifndef MINIGPU_PTX_OPCODES_H
#define MINIGPU_PTX_OPCODES_H
#include <stdint.h>
#include "ptx/instruction.h"

/* Groups of modifiers. A row lists the groups that its opcode may have and the groups that it must have. */
#define GROUP_ROUND 0x1u         /* rn rz rm rp */
#define GROUP_ROUND_INTEGER 0x2u /* rni rzi rmi rpi */
#define GROUP_FTZ 0x4u
#define GROUP_SATURATE 0x8u
#define GROUP_CARRY 0x10u /* cc */
#define GROUP_HALF 0x20u  /* lo hi wide */
#define GROUP_COMPARE 0x40u
#define GROUP_BOOLEAN 0x80u /* and or xor */
#define GROUP_SPACE 0x100u  /* global shared local const param */
#define GROUP_VECTOR 0x200u /* v2 v4 */
#define GROUP_MEMORY \
    0x400u /* cache, ordering, scope: most have no effect, because the mini-GPU's memory is coherent and in order */
#define GROUP_ATOMIC 0x800u    /* add min max and or xor exch cas inc dec */
#define GROUP_APPROX 0x1000u   /* approx full */
#define GROUP_SHUFFLE 0x2000u  /* up down bfly idx */
#define GROUP_VOTE 0x4000u     /* all any uni ballot */
#define GROUP_PERMUTE 0x8000u  /* f4e b4e rc8 ecl ecr rc16 */
#define GROUP_FUNNEL 0x10000u  /* l r */
#define GROUP_CLAMP 0x20000u   /* wrap clamp */
#define GROUP_TEST 0x40000u    /* finite infinite number notanumber normal subnormal */
#define GROUP_BARRIER 0x80000u /* sync arrive red popc and or */
#define GROUP_NAN 0x100000u    /* NaN */
#define GROUP_TO 0x200000u     /* to */
#define GROUP_SHIFTAMT 0x400000u
#define GROUP_TEXTURE 0x800000u /* 1d 2d */
#define GROUP_SYNC 0x1000000u   /* sync aligned */
#define GROUP_UNIFORM 0x2000000u
#define GROUP_FENCE 0x4000000u /* cta gl sys sc acq_rel gpu */
#define GROUP_RELU 0x8000000u
#define GROUP_LEVEL 0x10000000u

/* Sets of types. */
#define TYPE_SET(type) (1u << (type))
#define TYPES_U16 (TYPE_SET(TYPE_U16) | TYPE_SET(TYPE_U32) | TYPE_SET(TYPE_U64))
#define TYPES_S16 (TYPE_SET(TYPE_S16) | TYPE_SET(TYPE_S32) | TYPE_SET(TYPE_S64))
#define TYPES_INTEGER (TYPES_U16 | TYPES_S16)
#define TYPES_INTEGER8 (TYPES_INTEGER | TYPE_SET(TYPE_U8) | TYPE_SET(TYPE_S8))
#define TYPES_BITS (TYPE_SET(TYPE_B16) | TYPE_SET(TYPE_B32) | TYPE_SET(TYPE_B64))
#define TYPES_FLOAT (TYPE_SET(TYPE_F32) | TYPE_SET(TYPE_F64))
#define TYPES_F16 (TYPE_SET(TYPE_F16) | TYPE_SET(TYPE_F16X2))
#define TYPES_HALF (TYPES_F16 | TYPE_SET(TYPE_BF16) | TYPE_SET(TYPE_BF16X2))
#define TYPES_MEMORY (TYPES_INTEGER8 | TYPES_BITS | TYPE_SET(TYPE_B8) | TYPES_FLOAT)
#define TYPES_32 (TYPE_SET(TYPE_U32) | TYPE_SET(TYPE_S32))
#define TYPES_32_64 (TYPES_32 | TYPE_SET(TYPE_U64) | TYPE_SET(TYPE_S64))

/* Operands, one letter each; "?" makes the next one optional.
 *
 *   d  destination of the type
 *   w  destination of twice the width when .wide
 *   r  32-bit destination
 *   p  predicate destination, or p|q
 *   o  like d, or d|p
 *   c  destination at least as wide as the type
 *   v  vector destination (ld, tex)
 *   a  source of the type
 *   b  source of the second type
 *   u  32-bit source
 *   W  source of twice the width when .wide
 *   P  predicate source, perhaps with !
 *   C  source at least as wide as the second type
 *   V  vector source (st)
 *   m  [address]
 *   t  [texture, {coordinates}]
 *   l  label
 *   i  constant of lop3
 *   x  mov's operands
 *   B  what follows bar */
typedef struct ptx_opcode {
    const char *name;
    const char *shape;
    uint32_t opcode;
    uint32_t types, second_types; /* sets of types; 0: the opcode has no type */
    uint32_t allowed, required;   /* groups of modifiers */
} ptx_opcode;

typedef struct ptx_modifier {
    const char *text; /* with its dot */
    uint32_t group;
    uint32_t value; /* the meaning, by group: a FLAG_, a VARIANT_, a space and so on */
} ptx_modifier;

/* Finds an opcode by its spelling; NULL when the reader does not accept it. */
const ptx_opcode *ptx_opcode_find(const char *name, uint32_t length);
/* Finds a modifier among the allowed groups; NULL when the opcode does not have it. */
const ptx_modifier *ptx_modifier_find(const char *text, uint32_t length, uint32_t allowed);
/* Finds a type by its spelling with the dot; TYPE_NONE for any other word. */
uint32_t ptx_type_find(const char *text, uint32_t length);
/* Finds a special register by its spelling, such as "%tid.x"; SPECIAL_COUNT for any other word. */
uint32_t ptx_special_find(const char *text, uint32_t length);
#endif
