/* The layout number of each room, written by generate.cmake from the structs of the room's headers
 * (gpump_impl/cmake/layout.cmake). They differ as soon as a struct of the room differs. */
/* clang-format off */
#ifndef GPUMP_LAYOUT_H
#define GPUMP_LAYOUT_H

#define GPUMP_LAYOUT_BASE 0x794720d4u
#define GPUMP_LAYOUT_GPU 0xbeb8b7fdu
#define GPUMP_LAYOUT_MEMORY 0x80c6aeb4u
#define GPUMP_LAYOUT_FAULT 0xaa7b8e9cu
#define GPUMP_LAYOUT_PROGRAM 0x8e94862au
#define GPUMP_LAYOUT_CONTEXT 0x9b0e4d5cu
#define GPUMP_LAYOUT_SM 0x3c2f8d3au
#define GPUMP_LAYOUT_VICTIM 0xc5776738u
#define GPUMP_LAYOUT_SHARING 0xeda350a9u
#define GPUMP_LAYOUT_SCHEDULER 0x967cb7a7u
#define GPUMP_LAYOUT_DUET 0x270ba0e4u

/* X(reference, exported constant) for each room that this file compiles */
#ifdef GPUMP_NO_BASE
#define GPUMPI_LAYOUT_OF_BASE(X)
#else
#define GPUMPI_LAYOUT_OF_BASE(X) X(gpumpi_layout_of_base, gpump_layout_base_794720d4)
#endif
#ifdef GPUMP_NO_GPU
#define GPUMPI_LAYOUT_OF_GPU(X)
#else
#define GPUMPI_LAYOUT_OF_GPU(X) X(gpumpi_layout_of_gpu, gpump_layout_gpu_beb8b7fd)
#endif
#ifdef GPUMP_NO_MEMORY
#define GPUMPI_LAYOUT_OF_MEMORY(X)
#else
#define GPUMPI_LAYOUT_OF_MEMORY(X) X(gpumpi_layout_of_memory, gpump_layout_memory_80c6aeb4)
#endif
#ifdef GPUMP_NO_FAULT
#define GPUMPI_LAYOUT_OF_FAULT(X)
#else
#define GPUMPI_LAYOUT_OF_FAULT(X) X(gpumpi_layout_of_fault, gpump_layout_fault_aa7b8e9c)
#endif
#ifdef GPUMP_NO_PROGRAM
#define GPUMPI_LAYOUT_OF_PROGRAM(X)
#else
#define GPUMPI_LAYOUT_OF_PROGRAM(X) X(gpumpi_layout_of_program, gpump_layout_program_8e94862a)
#endif
#ifdef GPUMP_NO_CONTEXT
#define GPUMPI_LAYOUT_OF_CONTEXT(X)
#else
#define GPUMPI_LAYOUT_OF_CONTEXT(X) X(gpumpi_layout_of_context, gpump_layout_context_9b0e4d5c)
#endif
#ifdef GPUMP_NO_SM
#define GPUMPI_LAYOUT_OF_SM(X)
#else
#define GPUMPI_LAYOUT_OF_SM(X) X(gpumpi_layout_of_sm, gpump_layout_sm_3c2f8d3a)
#endif
#ifdef GPUMP_NO_VICTIM
#define GPUMPI_LAYOUT_OF_VICTIM(X)
#else
#define GPUMPI_LAYOUT_OF_VICTIM(X) X(gpumpi_layout_of_victim, gpump_layout_victim_c5776738)
#endif
#ifdef GPUMP_NO_SHARING
#define GPUMPI_LAYOUT_OF_SHARING(X)
#else
#define GPUMPI_LAYOUT_OF_SHARING(X) X(gpumpi_layout_of_sharing, gpump_layout_sharing_eda350a9)
#endif
#ifdef GPUMP_NO_SCHEDULER
#define GPUMPI_LAYOUT_OF_SCHEDULER(X)
#else
#define GPUMPI_LAYOUT_OF_SCHEDULER(X) X(gpumpi_layout_of_scheduler, gpump_layout_scheduler_967cb7a7)
#endif
#ifdef GPUMP_NO_DUET
#define GPUMPI_LAYOUT_OF_DUET(X)
#else
#define GPUMPI_LAYOUT_OF_DUET(X) X(gpumpi_layout_of_duet, gpump_layout_duet_270ba0e4)
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
