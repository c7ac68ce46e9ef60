/* page_checks: page faults without precise exceptions, by checks that the compiler inserts (program) */
#ifndef GPUMP_PAGE_CHECKS_H
#define GPUMP_PAGE_CHECKS_H

#include "program/liveness.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* Filled by gpump_preset only. */
typedef struct gpump_page_checks_config {
    uint32_t page_bytes; /* a power of two */
    uint32_t bits;       /* check predicates a loop may use; 1 to 8 (Kim 2.6) */
    uint32_t walks;      /* 1: an access with a fixed step per iteration is checked once per page (Kim 2.3) */
    /* 1: loops that follow pointers are predicated on the check; the fault handler's call stands behind the loop
     * (Kim 2.5). */
    uint32_t predicated;
    /* 1: accesses to local memory are checked, too, walks one by one: where the pages of a thread's array begin is for
     * the host's layout to say (Kim 2.4). 0: local memory is always there. */
    uint32_t local;
} gpump_page_checks_config;

typedef struct gpump_page_checks_report {
    uint32_t accesses;   /* to global or generic memory, and to local memory where that is checked */
    uint32_t walks;      /* of them, checked once per page */
    uint32_t predicated; /* of them, checked by the access itself in a predicated loop */
    uint32_t plain;      /* of them, checked one by one */
    uint32_t loops;      /* predicated loops */
} gpump_page_checks_report;

/* The configuration for gpump_preset. Presets: "kim" has pages of 4 KB, 4 check predicates, walks and predicated
 * loops; "kim_plain" has neither walks nor predicated loops, so every access gets a check and a call of its own.
 * `local` is 0 in both. */
GPUMP_API const gpumpi_methods *gpumpi_page_checks_methods(void);
GPUMPI_CONSTANT gpump_component gpump_page_checks_component = {gpumpi_page_checks_methods, GPUMP_LAYOUT_PROGRAM, 0};

/* Inserts page checks before (or into) every access to global or generic memory, and with config.local to local memory,
 * so that no unchecked access can fault.
 * Sets *checked to the new program, and *report to the number of accesses of each kind. The host executes START_MARKER,
 * CLEAR_CHECK, CHECK, PAGE_ENTERED, GUARDED_CALL and GPUMP_FLAG_CHECKED as gpump_operation says. When the call has
 * served the fault, the lanes continue at the marker, and everything between marker and call may execute again.
 *
 * A *walk* is an access that every iteration of an innermost loop makes through a register whose only change in the
 * loop is one ADD of less than a page, also in every iteration. A *predicated loop* is one basic block without stores,
 * atomics or guarded instructions that loads from addresses it has loaded: loads check themselves, carried registers
 * change only behind the last check, and a fault leaves the loop. (Departures from Kim's printed figures:
 * docs/papers.md.) Every other access is checked one by one; an atomic is checked as a write. An access with
 * GPUMP_FLAG_RESIDENT is not checked. Accesses have their address in uses[0] and displacement, or with
 * GPUMP_FLAG_NO_BASE in displacement alone, and are aligned to their size. GPUMP_ERROR_STATE, GPUMP_ERROR_CONFIG,
 * GPUMP_ERROR_ARGUMENT (an access without an address register and without the flag), GPUMP_ERROR_MEMORY. Cost:
 * near-linear. */
GPUMP_API gpump_result gpump_page_checks_insert(const gpump_program *program, const gpump_page_checks_config *config,
                                                gpump_program **checked, gpump_page_checks_report *report,
                                                gpump_diag *diag);

GPUMP_END
#endif
#endif
