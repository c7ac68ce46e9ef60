/* error_facts: how instructions err and trap, and what the pipeline tells of it (errors.h acts on it). Each function
 * but errors_prepare and errors_excuse is called only where an SM has `errors`. */
#ifndef MINIGPU_ERROR_FACTS_H
#define MINIGPU_ERROR_FACTS_H

#include "state/state.h"

/* What arithmetic traps on: bits. */
enum {
    ERRORS_TRAP_DIVISION = 1, /* an integer divided by zero */
    ERRORS_TRAP_INVALID = 2,  /* a NaN of operands that are none */
    ERRORS_TRAP_LINES = 4,    /* arithmetic of one of two lines of the PTX file, whenever it executes */
    ERRORS_TRAP_AT = 8 /* the arithmetic instruction errors_options.at, once, and every `interval`-th behind it */
};
enum { ERRORS_LINES = 2 };

/* May it raise an exception of arithmetic, and be emulated? */
static inline int errors_can_trap(const issue_info *info) {
    return info->unit != UNIT_MEMORY && info->unit != UNIT_CONTROL && info->instruction->destination_count;
}
/* Says which instructions wait for verification, and for stores. */
void errors_prepare(const kernel_program *program, issue_info *info);
/* An instruction has its operands, and its results if it computes: it may err, and raise exceptions. */
void errors_operands_read(machine *m, sm *s, in_flight *r, const lanes_operand *const *sources);
/* Does a memory instruction write, so that it takes a place in the store queue? */
int errors_is_store(const in_flight *r);
/* A memory instruction goes to the load-store unit. Returns 1 when it waits in the store queue first: a store until its
 * address is verified, and any access behind such a store, which issued before the store had its operands. */
int errors_queues_access(machine *m, sm *s, uint32_t record);
/* An instruction issues. */
void errors_issued(sm *s, warp *w, const issue_info *info);
/* Arithmetic ends: what it did is unverified. */
void errors_executed(machine *m, sm *s, const in_flight *r);
/* An instruction has ended; its record is free, and still has what it did. */
void errors_ended(machine *m, sm *s, const in_flight *r);
/* The warp forgets what it has in flight. */
void errors_forget(sm *s, warp *w);
/* An access has been coalesced: where its address is wrong because of an error, it does nothing. */
void errors_drop_wild(machine *m, const sm *s, in_flight *r);
/* Is it the fault of an undetected error that this instruction makes no sense? */
static inline int errors_excuse(const machine *m, const in_flight *r) {
    const sm *s = m->sms[m->blocks[r->block].sm];
    return s->errors && gpump_restart_errs(s->restart, m->warps[r->warp].slot);
}
/* Is all that the warp has executed verified? */
static inline int errors_verified(const warp *w) { return !w->speculates; }
/* The warp's next instruction waits so many cycles. */
void errors_wait(sm *s, warp *w, uint64_t cycles);
/* Its instruction has been emulated, which takes its time. */
void errors_emulate(machine *m, sm *s, warp *w);

#endif
