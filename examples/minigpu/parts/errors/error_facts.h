/* error_facts: how instructions err and trap, and what the pipeline tells of it (errors.h acts on it). */
#ifndef MINIGPU_ERROR_FACTS_H
#define MINIGPU_ERROR_FACTS_H

#include "machine/machine_options.h"
#include "state/state.h"

/* What an instruction has to do with exceptions of arithmetic. */
typedef enum trap_state { TRAPPED_NOT, TRAPPED_EMULATED, TRAPPED_RAISED } trap_state;

/* What happened to an instruction in flight. */
typedef struct error_record {
    uint32_t erred;   /* 1: its result is wrong */
    uint32_t trapped; /* trap_state */
} error_record;

/* What an SM needs for errors and exceptions of arithmetic. */
typedef struct sm_errors {
    pipe_stage verified; /* numbers of warps: what an instruction has done is verified now, or known as wrong */
    pipe_stage stores;   /* records in the store queue */
    uint64_t random;
    /* The sets are of numbers of warps (warp.number). */
    uint64_t margin[WARP_SET_WORDS]; /* warp has issued an instruction that cannot be undone: no more errors before its
                                        next boundary */
    uint64_t struck[WARP_SET_WORDS]; /* warp has an instruction in flight that errs */
    uint64_t raised[WARP_SET_WORDS]; /* warp has raised an exception that is not handled yet */
    uint32_t raised_pc[WARP_NUMBERS_MAX]; /* by number: 1 + the PC of that exception; 0: none */
    uint32_t trapping[WARP_NUMBERS_MAX];  /* by number: instructions that --trap-at chose and that are not handled */
    error_record *records;                /* by in-flight record */
} sm_errors;
static inline sm_errors *errors_of(const sm *s) { return (sm_errors *)s->of_part[PART_errors]; }

/* Instructions of a kind, of which some have their turn. */
typedef struct error_count {
    error_turns turns;   /* at: the next one */
    uint64_t candidates; /* how many there were so far */
    uint64_t due;        /* turns that went with a squashed instruction: the next candidates have them */
} error_count;

/* Of the whole machine. */
typedef struct machine_errors {
    error_count errs, traps_at;   /* numbers of the instructions that err, among all, and that trap, among arithmetic */
    uint32_t traps;               /* ERRORS_TRAP_... */
    uint32_t may_trap;            /* 1: something traps */
    uint32_t lines[ERRORS_LINES]; /* errors_options.lines */
} machine_errors;
/* NULL: nothing errs, and arithmetic does not trap. */
static inline machine_errors *machine_errors_of(const machine *m) { return (machine_errors *)m->of_part[PART_errors]; }

/* Returns whether an instruction may raise an exception of arithmetic, and be emulated. */
static inline int errors_can_trap(const instruction *in) {
    return in->unit != UNIT_MEMORY && in->unit != UNIT_CONTROL && in->destination_count;
}
/* Marks the instructions that wait for verification, and those that wait for stores. */
void errors_prepare(const kernel_program *program, issue_info *info);
/* An instruction has its operands, and its results if it computes: it may err, and raise exceptions. */
void errors_operands_read(machine *m, sm *s, in_flight *r, const lanes_operand *const *sources);
/* Does a memory instruction write, so that it takes a place in the store queue? */
int errors_is_store(const in_flight *r);
/* A memory instruction goes to the load-store unit. Returns 1 when it waits in the store queue first: a store until its
 * address is verified, and any access behind such a store, which issued before the store had its operands. */
int errors_queues_access(machine *m, sm *s, uint32_t record);
/* An instruction issues. */
void errors_issued(machine *m, sm *s, warp *w, const in_flight *r);
/* Reports that an arithmetic instruction ends; its result is unverified. */
void errors_executed(machine *m, sm *s, const in_flight *r);
/* Reports that an instruction has ended. Its record is free, and its contents are still those of the instruction. */
void errors_ended(machine *m, sm *s, const in_flight *r);
/* Removes the warp's instructions in flight. */
void errors_forget(machine *m, sm *s, warp *w);
/* An access has been coalesced: where its address is wrong because of an error, it does nothing. */
void errors_drop_wild(machine *m, sm *s, in_flight *r);
/* Its instruction has been emulated, which takes its time. */
void errors_emulate(machine *m, sm *s, warp *w);

#endif
