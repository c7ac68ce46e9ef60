/* The layout number of each room, written by generate.cmake from the structs of the room's headers
 * (gpump_impl/cmake/layout.cmake). They differ as soon as a struct of the room differs. */
/* clang-format off */
#ifndef GPUMP_LAYOUT_H
#define GPUMP_LAYOUT_H

#define GPUMP_LAYOUT_BASE 0xf2a9f9aau
#define GPUMP_LAYOUT_GPU 0x8c952514u
#define GPUMP_LAYOUT_MEMORY 0x51efc58cu
#define GPUMP_LAYOUT_FAULT 0x24b50ff1u
#define GPUMP_LAYOUT_PROGRAM 0x52e914aau
#define GPUMP_LAYOUT_CONTEXT 0x212cc13cu
#define GPUMP_LAYOUT_SM 0x18c86471u
#define GPUMP_LAYOUT_VICTIM 0xf066fa4eu
#define GPUMP_LAYOUT_SHARING 0xe7f65a64u
#define GPUMP_LAYOUT_SCHEDULER 0x357ed397u
#define GPUMP_LAYOUT_DUET 0x5d0066f2u

/* X(reference, exported constant) for each room that this file compiles */
#ifdef GPUMP_NO_BASE
#define GPUMPI_LAYOUT_OF_BASE(X)
#else
#define GPUMPI_LAYOUT_OF_BASE(X) X(gpumpi_layout_of_base, gpump_layout_base_f2a9f9aa)
#endif
#ifdef GPUMP_NO_GPU
#define GPUMPI_LAYOUT_OF_GPU(X)
#else
#define GPUMPI_LAYOUT_OF_GPU(X) X(gpumpi_layout_of_gpu, gpump_layout_gpu_8c952514)
#endif
#ifdef GPUMP_NO_MEMORY
#define GPUMPI_LAYOUT_OF_MEMORY(X)
#else
#define GPUMPI_LAYOUT_OF_MEMORY(X) X(gpumpi_layout_of_memory, gpump_layout_memory_51efc58c)
#endif
#ifdef GPUMP_NO_FAULT
#define GPUMPI_LAYOUT_OF_FAULT(X)
#else
#define GPUMPI_LAYOUT_OF_FAULT(X) X(gpumpi_layout_of_fault, gpump_layout_fault_24b50ff1)
#endif
#ifdef GPUMP_NO_PROGRAM
#define GPUMPI_LAYOUT_OF_PROGRAM(X)
#else
#define GPUMPI_LAYOUT_OF_PROGRAM(X) X(gpumpi_layout_of_program, gpump_layout_program_52e914aa)
#endif
#ifdef GPUMP_NO_CONTEXT
#define GPUMPI_LAYOUT_OF_CONTEXT(X)
#else
#define GPUMPI_LAYOUT_OF_CONTEXT(X) X(gpumpi_layout_of_context, gpump_layout_context_212cc13c)
#endif
#ifdef GPUMP_NO_SM
#define GPUMPI_LAYOUT_OF_SM(X)
#else
#define GPUMPI_LAYOUT_OF_SM(X) X(gpumpi_layout_of_sm, gpump_layout_sm_18c86471)
#endif
#ifdef GPUMP_NO_VICTIM
#define GPUMPI_LAYOUT_OF_VICTIM(X)
#else
#define GPUMPI_LAYOUT_OF_VICTIM(X) X(gpumpi_layout_of_victim, gpump_layout_victim_f066fa4e)
#endif
#ifdef GPUMP_NO_SHARING
#define GPUMPI_LAYOUT_OF_SHARING(X)
#else
#define GPUMPI_LAYOUT_OF_SHARING(X) X(gpumpi_layout_of_sharing, gpump_layout_sharing_e7f65a64)
#endif
#ifdef GPUMP_NO_SCHEDULER
#define GPUMPI_LAYOUT_OF_SCHEDULER(X)
#else
#define GPUMPI_LAYOUT_OF_SCHEDULER(X) X(gpumpi_layout_of_scheduler, gpump_layout_scheduler_357ed397)
#endif
#ifdef GPUMP_NO_DUET
#define GPUMPI_LAYOUT_OF_DUET(X)
#else
#define GPUMPI_LAYOUT_OF_DUET(X) X(gpumpi_layout_of_duet, gpump_layout_duet_5d0066f2)
#endif
#define GPUMPI_LAYOUTS(X) \
    GPUMPI_LAYOUT_OF_BASE(X) \
    GPUMPI_LAYOUT_OF_GPU(X) \
    GPUMPI_LAYOUT_OF_MEMORY(X) \
    GPUMPI_LAYOUT_OF_FAULT(X) \
    GPUMPI_LAYOUT_OF_PROGRAM(X) \
    GPUMPI_LAYOUT_OF_CONTEXT(X) \
    GPUMPI_LAYOUT_OF_SM(X) \
    GPUMPI_LAYOUT_OF_VICTIM(X) \
    GPUMPI_LAYOUT_OF_SHARING(X) \
    GPUMPI_LAYOUT_OF_SCHEDULER(X) \
    GPUMPI_LAYOUT_OF_DUET(X)
/* clang-format on */

#endif
