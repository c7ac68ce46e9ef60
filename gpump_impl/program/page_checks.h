/* page_checks: page faults without precise exceptions: checks that the compiler puts in (floor 3, program) */
#ifndef GPUMP_PAGE_CHECKS_H
#define GPUMP_PAGE_CHECKS_H

#include "program/liveness.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* Filled by gpump_page_checks_config_preset only. */
typedef struct gpump_page_checks_config {
    uint32_t struct_size; /* sizeof(gpump_page_checks_config) */
    uint32_t page_bytes;  /* a power of two */
    uint32_t bits;        /* check predicates a loop may use; 1 to 8 (Kim 2.6) */
    uint32_t walks;       /* 1: an array walked at a fixed step is checked once per page (Kim 2.3) */
    /* 1: loops that follow pointers are predicated on the check, and call behind the loop (Kim 2.5). */
    uint32_t predicated;
} gpump_page_checks_config;
/* Preset "kim": pages of 4 KB, 4 bits, both on; "kim_plain": a check and a call for every access. */
GPUMP_API gpump_result gpump_page_checks_config_preset(gpump_page_checks_config *config, const char *preset);

typedef struct gpump_page_checks_report {
    uint32_t accesses;   /* to global or generic memory */
    uint32_t walks;      /* of them, checked once per page */
    uint32_t predicated; /* of them, checked by the access itself in a predicated loop */
    uint32_t plain;      /* of them, checked one by one */
    uint32_t loops;      /* predicated loops */
} gpump_page_checks_report;

/* Puts page checks before (or into) every access to global or generic memory, so that no unchecked access can fault,
 * and sets *checked to the new program and *report to what became of them. The host carries out START_MARKER,
 * CLEAR_CHECK, CHECK, PAGE_ENTERED, GUARDED_CALL and GPUMP_FLAG_CHECKED as gpump_operation says; after the call has
 * served the fault, lanes go on at the marker, and everything between marker and call may be done again.
 *
 * A *walk* is an access that every iteration of an innermost loop makes through a register whose only change in the
 * loop is one ADD of less than a page, also in every iteration. A *predicated loop* is one basic block without stores,
 * atomics or guarded instructions that loads from addresses it has loaded: loads check themselves, carried registers
 * change only behind the last check, and a fault leaves the loop. (Departures from Kim's printed figures:
 * docs/papers.md.) Everything else is checked one by one; atomics too, as writes. What has GPUMP_FLAG_RESIDENT is left
 * alone. Accesses have their address in uses[0] and displacement, and are aligned to their size. GPUMP_ERROR_STATE,
 * GPUMP_ERROR_CONFIG, GPUMP_ERROR_ARGUMENT (an access without an address register), GPUMP_ERROR_MEMORY. Cost:
 * near-linear. */
GPUMP_API gpump_result gpump_page_checks_insert(const gpump_program *program, const gpump_page_checks_config *config,
                                                gpump_program **checked, gpump_page_checks_report *report,
                                                gpump_diag *diag);

GPUMP_END
#endif
#endif
