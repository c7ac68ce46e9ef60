/* page_faults: absent pages, checks that find them, and the handler that loads them (Kim 2012).
 *
 * A page of a buffer may be absent when a launch begins (--absent). An access to such a page without a check
 * ends the run with an error, unless the pipeline supports faulting accesses (--faults; faults.h). A checked load, or a
 * pfchk, reports it to the fault buffer and sets its predicate. A sw_call whose guard is true asks the handler for all
 * that has been reported; page_service_cycles later the pages are there, and the warp goes on at its marker. A page
 * asked for only to be read comes read-only: the first write to it is a fault of its own. With a link the fault unit
 * brings pages instead, for checks too (fault_calls.h). */
#ifndef MINIGPU_PAGE_FAULTS_H
#define MINIGPU_PAGE_FAULTS_H

#include "state/state.h"

/* Page faults that have been reported and not served yet, in the order of their report. */
typedef struct page_checks {
    pipe_stage buffer;
    uint32_t reported; /* at the buffer's end: not requested yet */
    uint32_t unused;
    struct late_list *late; /* by SM: reports and calls of the present window; NULL: no windows */
} page_checks;

/* Returns those of a machine; NULL: no page is absent at first. */
static inline page_checks *page_checks_of(const machine *m) { return (page_checks *)m->of_part[PART_page_checks]; }

/* A check has found the page of this address absent for reading, or for writing. */
void page_faults_report(machine *m, const sm *s, uint64_t address, int write);
/* Hands all that has been reported to the handler. Returns the cycle at which every page reported so far is there. */
uint64_t page_faults_call(machine *m, const sm *s);
/* A look-up has found the page of this address absent for reading, or for writing, and its handler begins at once.
 * Returns the cycle at which the page is there. */
uint64_t page_faults_open(machine *m, const sm *s, uint64_t address, int write);
/* Pages whose time has come are there. */
void page_faults_serve(machine *m);
/* The next cycle in which a page comes; NEVER. */
static inline uint64_t page_faults_next(const machine *m) { return pipe_next(&page_checks_of(m)->buffer); }

#endif
