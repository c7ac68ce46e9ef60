/* The layout number of each room, written by generate.cmake from the structs of the room's headers
 * (gpump_impl/cmake/layout.cmake). They differ as soon as a struct of the room differs. */
/* clang-format off */
#ifndef GPUMP_LAYOUT_H
#define GPUMP_LAYOUT_H

#define GPUMP_LAYOUT_BASE 0x8d83e682u
#define GPUMP_LAYOUT_GPU 0xf3e3f75au
#define GPUMP_LAYOUT_MEMORY 0xe0fc0fa4u
#define GPUMP_LAYOUT_FAULT 0x44c69955u
#define GPUMP_LAYOUT_PROGRAM 0xbe5fb186u
#define GPUMP_LAYOUT_CONTEXT 0x43274927u
#define GPUMP_LAYOUT_SM 0xcd3682f4u
#define GPUMP_LAYOUT_VICTIM 0x812a4f78u
#define GPUMP_LAYOUT_SHARING 0xf5ccf641u
#define GPUMP_LAYOUT_SCHEDULER 0x1d2b67c0u
#define GPUMP_LAYOUT_DUET 0xd5575629u

/* X(reference, exported constant) for each room that this file compiles */
#ifdef GPUMP_NO_BASE
#define GPUMPI_LAYOUT_OF_BASE(X)
#else
#define GPUMPI_LAYOUT_OF_BASE(X) X(gpumpi_layout_of_base, gpump_layout_base_8d83e682)
#endif
#ifdef GPUMP_NO_GPU
#define GPUMPI_LAYOUT_OF_GPU(X)
#else
#define GPUMPI_LAYOUT_OF_GPU(X) X(gpumpi_layout_of_gpu, gpump_layout_gpu_f3e3f75a)
#endif
#ifdef GPUMP_NO_MEMORY
#define GPUMPI_LAYOUT_OF_MEMORY(X)
#else
#define GPUMPI_LAYOUT_OF_MEMORY(X) X(gpumpi_layout_of_memory, gpump_layout_memory_e0fc0fa4)
#endif
#ifdef GPUMP_NO_FAULT
#define GPUMPI_LAYOUT_OF_FAULT(X)
#else
#define GPUMPI_LAYOUT_OF_FAULT(X) X(gpumpi_layout_of_fault, gpump_layout_fault_44c69955)
#endif
#ifdef GPUMP_NO_PROGRAM
#define GPUMPI_LAYOUT_OF_PROGRAM(X)
#else
#define GPUMPI_LAYOUT_OF_PROGRAM(X) X(gpumpi_layout_of_program, gpump_layout_program_be5fb186)
#endif
#ifdef GPUMP_NO_CONTEXT
#define GPUMPI_LAYOUT_OF_CONTEXT(X)
#else
#define GPUMPI_LAYOUT_OF_CONTEXT(X) X(gpumpi_layout_of_context, gpump_layout_context_43274927)
#endif
#ifdef GPUMP_NO_SM
#define GPUMPI_LAYOUT_OF_SM(X)
#else
#define GPUMPI_LAYOUT_OF_SM(X) X(gpumpi_layout_of_sm, gpump_layout_sm_cd3682f4)
#endif
#ifdef GPUMP_NO_VICTIM
#define GPUMPI_LAYOUT_OF_VICTIM(X)
#else
#define GPUMPI_LAYOUT_OF_VICTIM(X) X(gpumpi_layout_of_victim, gpump_layout_victim_812a4f78)
#endif
#ifdef GPUMP_NO_SHARING
#define GPUMPI_LAYOUT_OF_SHARING(X)
#else
#define GPUMPI_LAYOUT_OF_SHARING(X) X(gpumpi_layout_of_sharing, gpump_layout_sharing_f5ccf641)
#endif
#ifdef GPUMP_NO_SCHEDULER
#define GPUMPI_LAYOUT_OF_SCHEDULER(X)
#else
#define GPUMPI_LAYOUT_OF_SCHEDULER(X) X(gpumpi_layout_of_scheduler, gpump_layout_scheduler_1d2b67c0)
#endif
#ifdef GPUMP_NO_DUET
#define GPUMPI_LAYOUT_OF_DUET(X)
#else
#define GPUMPI_LAYOUT_OF_DUET(X) X(gpumpi_layout_of_duet, gpump_layout_duet_d5575629)
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
