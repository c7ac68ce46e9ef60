/* addresses: the memory that a kernel's accesses touch, as far as its instructions tell: the buffer or shared variable,
 * and how the address is computed. analysis_create passes the result to gpump. */
#ifndef MINIGPU_ADDRESSES_H
#define MINIGPU_ADDRESSES_H
#include "gpump_once.h"
#include "ptx/instruction.h"

/* The memory that an access touches. */
typedef enum place_kind {
    PLACE_ANYWHERE,  /* anywhere in its space */
    PLACE_PARAMETER, /* the buffer behind pointer parameter `number` */
    PLACE_SHARED     /* shared variable `number` (operand.index of its address) */
} place_kind;

typedef struct access_address {
    uint32_t kind; /* place_kind */
    uint32_t number;
    uint32_t address;       /* gpump_address: PLACE_ANYWHERE has GPUMP_ADDRESS_ANYWHERE */
    uint32_t value;         /* with GPUMP_ADDRESS_VALUE: the kernel register that holds the value */
    int64_t offset;         /* bytes past the value; with GPUMP_ADDRESS_FIXED: bytes from the start of the variable */
    uint32_t thread_stride; /* as in gpump_instruction; 0 unless the launch's block is one-dimensional */
} access_address;

/* Fills accesses[i] for every load, store and atomic i of a kernel. flow: the kernel as a finished program with the
 * same instructions, for loops and dominators; its accesses may be blank. block: threads of the launch's blocks in x, y
 * and z; NULL: unknown. The result rests on two assumptions, which hold for CUDA programs without undefined behaviour:
 * pointer parameters point to different buffers, and an access through a buffer or variable stays inside it.
 * GPUMP_ERROR_MEMORY. Cost: near-linear. */
gpump_result addresses_trace(const kernel_program *kernel, const gpump_program *flow, const uint32_t block[3],
                             access_address *accesses);
#endif
