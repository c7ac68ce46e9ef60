/* handler: the page-fault handler of an SM as code (--handler; Tanasic 2.4 and 6.4.2).
 *
 * With it every fault first calls the handler of the SM that has found it. The handler is a kernel in PTX that runs in
 * system mode, in one thread, in a context of its own beside the warp slots (assumed: the thesis names no place), and
 * one at a time per SM. Its parameters are the address of the page table, the address of the list of free frames, and
 * the number of the granule that has faulted. It reads the page's owner in the table. A page without memory gets a
 * frame of the list and is the GPU's when the handler returns; any other page is left to the CPU, and so is a page for
 * which the list has no frame.
 *
 * - Time. An instruction takes the issue slot of the SM's first scheduler for a cycle, before all warps, and the next
 *   one issues when it has ended. Loads, stores and atomics take as long as a load that hits L2 (assumed: past L1,
 *   without queues).
 * - Privilege. The table and the list lie in pages of the system (PAGE_SYSTEM). A warp in user mode that accesses one
 *   is aborted like at any invalid access. The handler may access these pages alone.
 * - Memory. Of a GPU memory that holds fewer granules than are mapped (--gpu-memory) the list has some frames at first,
 *   and the CPU the others. The CPU evicts, enters that in the table, and keeps the frame: the list is never filled
 *   again (assumed: the thesis evicts nothing).
 * - The table is used: a handler that returns with a frame that is not of the list, or that another granule has, ends
 *   the run with an error. */
#ifndef MINIGPU_HANDLER_H
#define MINIGPU_HANDLER_H

#include "ptx/ptx_reader.h"
#include "state/state.h"

/* An entry of the page table, as the handler sees it. */
typedef struct handler_entry {
    uint32_t owner; /* gpump_fault_owner: CPU, UNALLOCATED or GPU */
    uint32_t frame; /* with GPUMP_FAULT_GPU */
} handler_entry;

/* The handlers of a machine. */
typedef struct handlers {
    ptx_module module;
    const kernel_program *program;
    uint64_t table, list;    /* addresses of the page table, and of the list: its count, then the frames */
    uint64_t granules, end;  /* entries of the table; the address behind the list */
    uint32_t frames, cycles; /* frames of the list at first; cycles of an access to memory */
    uint8_t *given;          /* by frame: 1: a granule has it */
} handlers;

/* The handler of an SM. */
typedef struct sm_handler {
    uint64_t ready;       /* cycle in which its next instruction issues; NEVER: no handler runs */
    uint64_t page, start; /* of the fault that it serves: the granule's first page; the cycle of the call */
    uint32_t *registers;  /* one thread's, in the layout of the register file */
    uint32_t *predicates;
    uint32_t process, owner, pc, issued; /* issued: instructions since the call */
    uint8_t parameters[24];
    lanes_environment environment;
    uint64_t mapped, left, instructions, busy_cycles, longest_cycles; /* left: to the CPU; of calls that have ended */
} sm_handler;

static inline handlers *handlers_of(const machine *m) { return (handlers *)m->of_part[PART_handler]; }
static inline sm_handler *sm_handler_of(const sm *s) { return (sm_handler *)s->of_part[PART_handler]; }

/* Reads the handler's file. Returns 0, or -1 with the reason in error. */
int handler_read(handlers *h, const char *path, char error[LAUNCH_ERROR_BYTES]);
/* Executes the instruction at the handler's pc. Returns the cycles until the next one may issue; 0: the handler has
 * ended, or the run has failed. */
uint32_t handler_execute(machine *m, sm *s, sm_handler *h);

/* The report on handlers. */
void handler_report(const machine *m, FILE *file);
void handler_report_json(const machine *m, struct json_t *members);

#endif
