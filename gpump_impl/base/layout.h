/* The layout number of each room, written by generate.cmake from the structs of the room's headers
 * (gpump_impl/cmake/layout.cmake). They differ as soon as a struct of the room differs. */
#ifndef GPUMP_LAYOUT_H
#define GPUMP_LAYOUT_H

#define GPUMP_LAYOUT_BASE 0xc44c5ab5u
#define GPUMP_LAYOUT_GPU 0x20e59802u
#define GPUMP_LAYOUT_MEMORY 0x6d28a4ebu
#define GPUMP_LAYOUT_FAULT 0x023db737u
#define GPUMP_LAYOUT_PROGRAM 0x2e24ccc6u
#define GPUMP_LAYOUT_CONTEXT 0xacc32fe2u
#define GPUMP_LAYOUT_SM 0x47fdf40bu
#define GPUMP_LAYOUT_VICTIM 0xa7bf40a6u
#define GPUMP_LAYOUT_SHARING 0x8746e35cu
#define GPUMP_LAYOUT_SCHEDULER 0xf760b3fdu
#define GPUMP_LAYOUT_DUET 0x3975b040u

/* X(reference, exported constant) for each room that this file compiles */
#ifdef GPUMP_NO_BASE
#define GPUMPI_LAYOUT_OF_BASE(X)
#else
#define GPUMPI_LAYOUT_OF_BASE(X) X(gpumpi_layout_of_base, gpump_layout_base_c44c5ab5)
#endif
#ifdef GPUMP_NO_GPU
#define GPUMPI_LAYOUT_OF_GPU(X)
#else
#define GPUMPI_LAYOUT_OF_GPU(X) X(gpumpi_layout_of_gpu, gpump_layout_gpu_20e59802)
#endif
#ifdef GPUMP_NO_MEMORY
#define GPUMPI_LAYOUT_OF_MEMORY(X)
#else
#define GPUMPI_LAYOUT_OF_MEMORY(X) X(gpumpi_layout_of_memory, gpump_layout_memory_6d28a4eb)
#endif
#ifdef GPUMP_NO_FAULT
#define GPUMPI_LAYOUT_OF_FAULT(X)
#else
#define GPUMPI_LAYOUT_OF_FAULT(X) X(gpumpi_layout_of_fault, gpump_layout_fault_023db737)
#endif
#ifdef GPUMP_NO_PROGRAM
#define GPUMPI_LAYOUT_OF_PROGRAM(X)
#else
#define GPUMPI_LAYOUT_OF_PROGRAM(X) X(gpumpi_layout_of_program, gpump_layout_program_2e24ccc6)
#endif
#ifdef GPUMP_NO_CONTEXT
#define GPUMPI_LAYOUT_OF_CONTEXT(X)
#else
#define GPUMPI_LAYOUT_OF_CONTEXT(X) X(gpumpi_layout_of_context, gpump_layout_context_acc32fe2)
#endif
#ifdef GPUMP_NO_SM
#define GPUMPI_LAYOUT_OF_SM(X)
#else
#define GPUMPI_LAYOUT_OF_SM(X) X(gpumpi_layout_of_sm, gpump_layout_sm_47fdf40b)
#endif
#ifdef GPUMP_NO_VICTIM
#define GPUMPI_LAYOUT_OF_VICTIM(X)
#else
#define GPUMPI_LAYOUT_OF_VICTIM(X) X(gpumpi_layout_of_victim, gpump_layout_victim_a7bf40a6)
#endif
#ifdef GPUMP_NO_SHARING
#define GPUMPI_LAYOUT_OF_SHARING(X)
#else
#define GPUMPI_LAYOUT_OF_SHARING(X) X(gpumpi_layout_of_sharing, gpump_layout_sharing_8746e35c)
#endif
#ifdef GPUMP_NO_SCHEDULER
#define GPUMPI_LAYOUT_OF_SCHEDULER(X)
#else
#define GPUMPI_LAYOUT_OF_SCHEDULER(X) X(gpumpi_layout_of_scheduler, gpump_layout_scheduler_f760b3fd)
#endif
#ifdef GPUMP_NO_DUET
#define GPUMPI_LAYOUT_OF_DUET(X)
#else
#define GPUMPI_LAYOUT_OF_DUET(X) X(gpumpi_layout_of_duet, gpump_layout_duet_3975b040)
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

#endif
