/* ptx_operands: operands as the text writes them, and their conversion to an instruction's operands. */
#ifndef MINIGPU_PTX_OPERANDS_H
#define MINIGPU_PTX_OPERANDS_H
#include "ptx/ptx_internal.h"

typedef enum raw_kind {
    RAW_REGISTER,
    RAW_SPECIAL,
    RAW_INTEGER,
    RAW_FLOAT32,
    RAW_FLOAT64,
    RAW_VARIABLE,
    RAW_TEXTURE,
    RAW_SINK
} raw_kind;

typedef struct raw_operand {
    raw_kind kind;
    uint32_t type;    /* of a register */
    uint32_t index;   /* register, special register, module symbol, or texture */
    uint32_t negated; /* !p */
    uint32_t space;   /* of a variable */
    uint32_t is_extern_shared;
    uint32_t is_element; /* 1: a[i]; 0: a */
    uint64_t bits;       /* literal; or a variable's offset with its addend */
    int64_t addend;
    ptx_token token;
} raw_operand;

/* Reads one operand: register, special register, literal or constant expression, variable (+ constant), `_`, `!p`. */
int ptx_raw_operand(ptx_reader *reader, raw_operand *raw);
/* Makes `raw` source `slot` of the instruction, as a value of a type. relaxed: a wider register is accepted. */
int ptx_source(ptx_reader *reader, const raw_operand *raw, uint32_t type, int relaxed, instruction *instruction,
               uint32_t slot);
/* Makes `raw` destination `slot` of the instruction. */
int ptx_destination(ptx_reader *reader, const raw_operand *raw, uint32_t type, int relaxed, instruction *instruction,
                    uint32_t slot);
/* Reads [address] into sources[0] and offset. Sets the instruction's space when the address decides it. */
int ptx_address(ptx_reader *reader, instruction *instruction);
/* Reads {a, b, ...} or a single operand: 1 to `most` operands. */
int ptx_vector(ptx_reader *reader, raw_operand *raws, uint32_t most, uint32_t *count);
#endif
