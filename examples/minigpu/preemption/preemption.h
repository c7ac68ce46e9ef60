/* preemption: every call of gpump, in the order in which a preemption happens. Start reading in preemption.c. */
#ifndef MINIGPU_PREEMPTION_H
#define MINIGPU_PREEMPTION_H

#include "machine/machine.h"

/* ---- before the first cycle ---- */
/* Bytes that gpump's part of one SM takes, and makes it; the context pool likewise. Return 0, or -1 with the reason in
 * error. */
int preemption_make_sm(machine *m, sm *s, uint32_t shared_bytes, char error[LAUNCH_ERROR_BYTES]);
int preemption_make_context_pool(machine *m, uint32_t contexts_per_kernel, char error[LAUNCH_ERROR_BYTES]);
/* Bytes of the largest context a block of this kernel can have. */
uint64_t preemption_context_bytes(const kernel *k);

/* ---- the life of a block ---- */
/* Places a new block (linear index) or one that was preempted (`saved` not NULL). Returns what gpump says: YES, or why
 * there is no room. */
gpump_reason preemption_place(machine *m, sm *s, uint32_t kernel_index, uint64_t linear, const preempted_block *saved);
/* Facts from the pipeline. */
static inline void preemption_executed(machine *m, sm *s, const block *b) {
    (void)m;
    gpump_sm_report_executed(s->gpump, b->ref, 1);
}
static inline void preemption_clobbered(machine *m, sm *s, const block *b) {
    (void)m;
    gpump_sm_report_clobber(s->gpump, b->ref);
}
void preemption_block_done(machine *m, sm *s, block *b);
void preemption_report_waits(machine *m, sm *s);
void preemption_transfer_done(machine *m, sm *s, block *b, uint32_t kind);

/* ---- decisions ---- */
/* Makes all blocks of an SM leave by one technique. for_kernel (number, 0: nobody) gets the SM. A block that must not
 * be flushed is switched instead unless `strict`; then the whole request is refused with that reason. */
gpump_reason preemption_request(machine *m, sm *s, uint32_t technique, uint32_t for_kernel, int strict);
/* Bytes that a context of a running block would take if it were written now, in the machine's form. */
uint64_t preemption_context_now(machine *m, const block *b);
/* Makes chosen blocks of an SM leave, each by its own technique, and reserves the SM for kernel number for_kernel (0:
 * nobody). Who cannot be saved for want of space drains; the choices say so afterwards. All of them or, with a reason,
 * none. */
gpump_reason preemption_carry_out(machine *m, sm *s, gpump_block_choice *choices, uint32_t chosen, uint32_t for_kernel);
/* A kernel has arrived: empties as many SMs of lower priority as it can use. */
void preemption_make_room(machine *m, uint32_t kernel_index);
/* Gives a reserved SM back to everybody. */
void preemption_unreserve(machine *m, sm *s);
/* A kernel starts, or has ended: its space for contexts. */
void preemption_kernel_starts(machine *m, uint32_t kernel_index);
void preemption_kernel_ends(machine *m, uint32_t kernel_index);

#endif
