/* registers: register allocation onto a machine's file (program) */
#ifndef GPUMP_REGISTERS_H
#define GPUMP_REGISTERS_H

#include "program/liveness.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* The file to allocate onto. Filled by gpump_preset only. */
typedef struct gpump_registers_config {
    uint32_t registers;  /* 32-bit registers of a thread; 2 to 1024 */
    uint32_t predicates; /* predicate registers of a thread; 1 to 64 */
    /* 1: an instruction without memory access may read one kernel parameter from the constant bank. */
    uint32_t fold_parameters;
    /* 1: constants and parameters are set before their first use, instead of where the source sets them. */
    uint32_t sink;
} gpump_registers_config;

/* The configuration for gpump_preset. Presets: "fermi" (63 registers, 7 predicates: gtx480) and "kepler" (255, 7:
 * k20c and later). */
GPUMP_API const gpumpi_methods *gpumpi_registers_methods(void);
GPUMPI_CONSTANT gpump_component gpump_registers_component = {gpumpi_registers_methods, GPUMP_LAYOUT_PROGRAM, 0};

/* Results of an allocation. */
typedef struct gpump_registers_report {
    uint32_t registers;  /* 32-bit registers used: the highest number + 1 */
    uint32_t predicates; /* predicate registers used */
    /* The most 32-bit registers live at once before spilling. An allocation without spills needs at least as many. */
    uint32_t peak;
    uint32_t spilled;     /* registers of the input kept in local memory */
    uint32_t spill_loads; /* instructions inserted */
    uint32_t spill_stores;
    uint32_t spill_bytes;    /* of local memory per thread */
    uint32_t folded;         /* uses turned into constant-bank reads */
    uint32_t rematerialised; /* registers set again at every use instead of being kept */
    uint32_t moves_removed;  /* moves whose two sides got the same register */
} gpump_registers_report;

/* Allocates the registers of a finished program (without PAIR operands) and sets *allocated to a new program whose
 * registers 0 to report->registers - 1 are 32-bit ones and whose predicates follow; 64-bit values are aligned pairs,
 * written as PAIR operands. Intervals with holes are placed first-fit, in two orders of which the better is kept. When
 * the file is full, the cheapest intervals are spilled; a constant or a parameter is set again before each use instead.
 * Where the program has region boundaries, a value live into a region keeps its register to the region's end, so that
 * allocation makes no new antidependence (iGPU 3.2). gpump_program_origin tells where each instruction came from.
 * GPUMP_ERROR_STATE before _finish, GPUMP_ERROR_ARGUMENT (PAIR operands, config), GPUMP_ERROR_FULL (one instruction
 * needs more than the file), GPUMP_ERROR_MEMORY. Cost: near-linear without spills; every round of spilling costs about
 * the same again. */
GPUMP_API gpump_result gpump_registers_allocate(const gpump_program *program, const gpump_registers_config *config,
                                                gpump_program **allocated, gpump_registers_report *report,
                                                gpump_diag *diag);

GPUMP_END
#endif
#endif
