/* lanes_quick: the simple instructions, which are most of a program. When the program is read, lanes_quick_prepare
 * decides once which operation an instruction is and where its operands are, so that the execution decides nothing. The
 * result is written straight to the registers, which a plain machine allows (machine/sm_form.h).
 *
 * A new operation is a row here, its expression in lanes_quick.c, and a case of operation_of there. */
#ifndef MINIGPU_LANES_QUICK_H
#define MINIGPU_LANES_QUICK_H

#include "lanes/lanes.h"

/* X(operation, words of its result (0: a predicate), words of its sources (QUICK_P: a predicate)). */
#define QUICK_P 9
#define QUICK_OPERATIONS(X)          \
    X(MOV, 1, 1, 0, 0)               \
    X(NOT, 1, 1, 0, 0)               \
    X(NEG, 1, 1, 0, 0)               \
    X(ADD, 1, 1, 1, 0)               \
    X(SUB, 1, 1, 1, 0)               \
    X(MUL, 1, 1, 1, 0)               \
    X(MAD, 1, 1, 1, 1)               \
    X(AND, 1, 1, 1, 0)               \
    X(OR, 1, 1, 1, 0)                \
    X(XOR, 1, 1, 1, 0)               \
    X(SHL, 1, 1, 1, 0)               \
    X(SHR_U32, 1, 1, 1, 0)           \
    X(SHR_S32, 1, 1, 1, 0)           \
    X(MIN_U32, 1, 1, 1, 0)           \
    X(MIN_S32, 1, 1, 1, 0)           \
    X(MAX_U32, 1, 1, 1, 0)           \
    X(MAX_S32, 1, 1, 1, 0)           \
    X(ADD_F32, 1, 1, 1, 0)           \
    X(SUB_F32, 1, 1, 1, 0)           \
    X(MUL_F32, 1, 1, 1, 0)           \
    X(FMA_F32, 1, 1, 1, 1)           \
    X(F32_OF_S32, 1, 1, 0, 0)        \
    X(SELP, 1, 1, 1, QUICK_P)        \
    X(MOV_64, 2, 2, 0, 0)            \
    X(ADD_64, 2, 2, 2, 0)            \
    X(EXTEND_U32, 2, 1, 0, 0)        \
    X(EXTEND_S32, 2, 1, 0, 0)        \
    X(WIDE_U32, 2, 1, 1, 0)          \
    X(WIDE_S32, 2, 1, 1, 0)          \
    X(WIDE_MAD_U32, 2, 1, 1, 2)      \
    X(WIDE_MAD_S32, 2, 1, 1, 2)      \
    X(EQ, 0, 1, 1, 0)                \
    X(NE, 0, 1, 1, 0)                \
    X(LT_U32, 0, 1, 1, 0)            \
    X(LE_U32, 0, 1, 1, 0)            \
    X(LT_S32, 0, 1, 1, 0)            \
    X(LE_S32, 0, 1, 1, 0)            \
    X(EQ_F32, 0, 1, 1, 0)            \
    X(NE_F32, 0, 1, 1, 0)            \
    X(LT_F32, 0, 1, 1, 0)            \
    X(LE_F32, 0, 1, 1, 0)            \
    X(MOV_P, 0, QUICK_P, 0, 0)       \
    X(NOT_P, 0, QUICK_P, 0, 0)       \
    X(AND_P, 0, QUICK_P, QUICK_P, 0) \
    X(OR_P, 0, QUICK_P, QUICK_P, 0)  \
    X(XOR_P, 0, QUICK_P, QUICK_P, 0)

typedef enum quick_operation {
    QUICK_NONE, /* not a simple instruction: lanes_compute computes it */
#define QUICK_ENUM(name, result, a, b, c) QUICK_##name,
    QUICK_OPERATIONS(QUICK_ENUM)
#undef QUICK_ENUM
        QUICK_COUNT
} quick_operation;

#define QUICK_SOURCES 3u

typedef struct lanes_quick {
    uint8_t operation;            /* quick_operation */
    uint8_t result_words;         /* 0: a predicate */
    uint8_t is_constant;          /* bit k: source k is in `constants` instead of the registers */
    uint8_t is_negated;           /* bit k: source k is the complement of a predicate */
    uint32_t from[QUICK_SOURCES]; /* a source's first word in registers or constants; a predicate's number */
    uint32_t to;                  /* the result's first word, or the number of its predicate */
    uint32_t unused;
    uint32_t *constants; /* for all lanes: immediates, and values that are the same for a whole launch */
} lanes_quick;

/* Decides how an instruction is executed. Its constants are written to `constants`, the first at word `first`; NULL:
 * they are only counted. Returns the number of words of constants. *quick has QUICK_NONE where the instruction is not
 * simple. */
uint32_t lanes_quick_prepare(const instruction *instruction, uint32_t *constants, uint32_t first, lanes_quick *quick);
/* Fills in the constants that depend on the launch: parameters, sizes of blocks and grid. */
void lanes_quick_launch(const instruction *instruction, const lanes_quick *quick, const lanes_environment *launch);
/* Executes a simple instruction in the lanes of `active`, on the registers and predicates of a warp. */
SM_PATH void lanes_quick_execute(const lanes_quick *quick, uint32_t active, uint32_t *registers, uint32_t *predicates);

#endif
