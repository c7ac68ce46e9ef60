/* addresses: where a kernel's memory accesses go, as far as its instructions tell: which buffer or shared variable, and
 * how its address comes about. What analysis_create tells gpump about them. */
#ifndef MINIGPU_ADDRESSES_H
#define MINIGPU_ADDRESSES_H
#include "gpump.h"
#include "ptx/instruction.h"

/* What an access touches. */
typedef enum place_kind {
    PLACE_ANYWHERE,  /* of its space */
    PLACE_PARAMETER, /* the buffer behind pointer parameter `number` */
    PLACE_SHARED     /* shared variable `number` (operand.index of its address) */
} place_kind;

typedef struct access_address {
    uint32_t kind; /* place_kind */
    uint32_t number;
    uint32_t address;       /* gpump_address: PLACE_ANYWHERE has GPUMP_ADDRESS_ANYWHERE */
    uint32_t value;         /* with GPUMP_ADDRESS_VALUE: the kernel register whose value it is */
    int64_t offset;         /* bytes past it; with GPUMP_ADDRESS_FIXED from the start of the variable */
    uint32_t thread_stride; /* as gpump_instruction has it; 0 unless the launch's block is one-dimensional */
} access_address;

/* Fills accesses[i] for every load, store and atomic i of a kernel. flow: the kernel as a finished program, instruction
 * for instruction (its accesses may be blank): loops and dominators are taken from there. block: threads of the
 * launch's blocks in x, y and z; NULL: not known. The result rests on two assumptions, both true of CUDA programs
 * without undefined behaviour: pointer parameters lead to different buffers, and an access by way of a buffer or
 * variable stays inside it. GPUMP_ERROR_MEMORY. Cost: near-linear. */
gpump_result addresses_trace(const kernel_program *kernel, const gpump_program *flow, const uint32_t block[3],
                             access_address *accesses);
#endif
