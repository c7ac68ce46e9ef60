/* The layout number of each room, written by generate.cmake from the structs of the room's headers
 * (gpump_impl/cmake/layout.cmake). They differ as soon as a struct of the room differs. */
#ifndef GPUMP_LAYOUT_H
#define GPUMP_LAYOUT_H

#define GPUMP_LAYOUT_BASE 0x9c36d3eau
#define GPUMP_LAYOUT_GPU 0x5642addcu
#define GPUMP_LAYOUT_MEMORY 0xa620ee82u
#define GPUMP_LAYOUT_FAULT 0xf45e8084u
#define GPUMP_LAYOUT_PROGRAM 0x3330fef6u
#define GPUMP_LAYOUT_CONTEXT 0x7d433c0bu
#define GPUMP_LAYOUT_SM 0xec917305u
#define GPUMP_LAYOUT_VICTIM 0xbaac5f59u
#define GPUMP_LAYOUT_SHARING 0x92d37405u
#define GPUMP_LAYOUT_SCHEDULER 0x51ce61cdu
#define GPUMP_LAYOUT_DUET 0x07694bf1u

/* X(reference, exported constant) for each room that this file compiles */
#ifdef GPUMP_NO_BASE
#define GPUMPI_LAYOUT_OF_BASE(X)
#else
#define GPUMPI_LAYOUT_OF_BASE(X) X(gpumpi_layout_of_base, gpump_layout_base_9c36d3ea)
#endif
#ifdef GPUMP_NO_GPU
#define GPUMPI_LAYOUT_OF_GPU(X)
#else
#define GPUMPI_LAYOUT_OF_GPU(X) X(gpumpi_layout_of_gpu, gpump_layout_gpu_5642addc)
#endif
#ifdef GPUMP_NO_MEMORY
#define GPUMPI_LAYOUT_OF_MEMORY(X)
#else
#define GPUMPI_LAYOUT_OF_MEMORY(X) X(gpumpi_layout_of_memory, gpump_layout_memory_a620ee82)
#endif
#ifdef GPUMP_NO_FAULT
#define GPUMPI_LAYOUT_OF_FAULT(X)
#else
#define GPUMPI_LAYOUT_OF_FAULT(X) X(gpumpi_layout_of_fault, gpump_layout_fault_f45e8084)
#endif
#ifdef GPUMP_NO_PROGRAM
#define GPUMPI_LAYOUT_OF_PROGRAM(X)
#else
#define GPUMPI_LAYOUT_OF_PROGRAM(X) X(gpumpi_layout_of_program, gpump_layout_program_3330fef6)
#endif
#ifdef GPUMP_NO_CONTEXT
#define GPUMPI_LAYOUT_OF_CONTEXT(X)
#else
#define GPUMPI_LAYOUT_OF_CONTEXT(X) X(gpumpi_layout_of_context, gpump_layout_context_7d433c0b)
#endif
#ifdef GPUMP_NO_SM
#define GPUMPI_LAYOUT_OF_SM(X)
#else
#define GPUMPI_LAYOUT_OF_SM(X) X(gpumpi_layout_of_sm, gpump_layout_sm_ec917305)
#endif
#ifdef GPUMP_NO_VICTIM
#define GPUMPI_LAYOUT_OF_VICTIM(X)
#else
#define GPUMPI_LAYOUT_OF_VICTIM(X) X(gpumpi_layout_of_victim, gpump_layout_victim_baac5f59)
#endif
#ifdef GPUMP_NO_SHARING
#define GPUMPI_LAYOUT_OF_SHARING(X)
#else
#define GPUMPI_LAYOUT_OF_SHARING(X) X(gpumpi_layout_of_sharing, gpump_layout_sharing_92d37405)
#endif
#ifdef GPUMP_NO_SCHEDULER
#define GPUMPI_LAYOUT_OF_SCHEDULER(X)
#else
#define GPUMPI_LAYOUT_OF_SCHEDULER(X) X(gpumpi_layout_of_scheduler, gpump_layout_scheduler_51ce61cd)
#endif
#ifdef GPUMP_NO_DUET
#define GPUMPI_LAYOUT_OF_DUET(X)
#else
#define GPUMPI_LAYOUT_OF_DUET(X) X(gpumpi_layout_of_duet, gpump_layout_duet_07694bf1)
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
