/* code_pages: pages of code that are absent at first (--absent code; Kim 2.7).
 *
 * An instruction is config.instruction_bytes long; each kernel has pages of its own, and so has the fault handler that
 * calls of page checks go to. A warp whose next instruction lies in an absent page fetches no more. When all that it
 * has in the pipeline has ended, its fetch faults: "the hardware triggers a page fault handler after all the
 * instructions that are in the pipeline are executed". The warp goes on when the page is there; its block may leave
 * meanwhile. Fetching takes no other time: the instruction cache is ideal (Tanasic Table 6.1). */
#ifndef MINIGPU_CODE_PAGES_H
#define MINIGPU_CODE_PAGES_H

#include "state/state.h"

/* The first fetch that found a page of code absent. */
typedef struct code_page {
    uint64_t cycle, linear; /* linear: the block */
    uint64_t faults; /* warps that have waited for the page; 0: no warp has fetched from it while it was absent */
    uint32_t kernel, warp, pc, unused;
} code_page;

/* Returns the first fetch of all SMs that found a page of code absent. page: counted from machine.code.first. */
code_page code_pages_note(const machine *m, uint32_t page);

/* Write to the report the pages from which a warp fetched while they were absent. */
void code_pages_report(const machine *m, FILE *file);
void code_pages_report_json(const machine *m, struct json_t *members);

#endif
