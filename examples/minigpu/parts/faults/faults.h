/* faults: what becomes of a warp whose access finds its page absent, and of its memory order (Tanasic 6.3).
 *
 * gpump_replay decides; this file reports events to it and carries out its actions. Under `stall`, which every
 * machine with TLBs has, the access waits in place. Under the other schemes (--faults) the warp drains and is held: its
 * instructions have left the pipeline, so that its block may be saved. When its pages are there, it replays the
 * instructions that were squashed. Its operands are then read from registers again, or from the log: a squashed record
 * keeps the operands that it has read, in the stage RECORD_HELD, without a slot in any queue.
 *
 * Pages come after a fixed time (config.page_service_cycles). */
#ifndef MINIGPU_FAULTS_H
#define MINIGPU_FAULTS_H

#include "parts/faults/fault_held.h"
#include "machine/machine_options.h"
#include "parts/faults/fault_state.h"

/* Has the program an instruction whose address may lie in any space, or a fence? Then accesses to shared memory keep
 * their order among the others, too. */
int faults_track_shared(const kernel_program *program);
/* Fills info with the facts that gpump_replay needs of a program's instructions, and order[] with the rule that an exit
 * waits for the last check of all earlier instructions. tracks_shared: as faults_track_shared says. */
void faults_prepare(const kernel_program *program, int tracks_shared, replay_info *info, issue_info *order);
/* The name of a scheme by its number; NULL past the last. */
const char *faults_scheme_name(uint32_t index);
/* The name of a gpump_replay_order; NULL past the last. */
const char *faults_order_name(uint32_t order);
/* Returns the bytes that faulted warps of a block can add to its context at most. */
uint64_t faults_context_bytes(const machine *m, const kernel *k);
/* Once per cycle between the load-store unit and issue: look-ups that are answered, pages that have come, actions. */
void faults_cycle(machine *m, sm *s);
/* The next cycle in which a page arrives that a warp of this SM waits for; NEVER. */
uint64_t faults_next(const machine *m, const sm *s);
/* Returns the slots of `ready` that may issue. With finite memory the warps take turns at memory instructions: a warp
 * may fault again and again, and would keep others out, among them the one whose pages are kept. */
uint64_t faults_may_issue(const machine *m, const sm *s, uint64_t ready);
/* Issues an entry of the warp's replay queue again. Returns its record. */
uint32_t faults_issue_again(machine *m, sm *s, warp *w, uint32_t handle);
/* Reports that a warp takes its slot, or leaves its slot. */
void faults_open_warp(machine *m, sm *s, warp *w);
void faults_close_warp(machine *m, sm *s, warp *w);
/* Divides the SM's log among `blocks` blocks. Called when the first block of a kernel is placed on an empty SM. */
void faults_share_log(machine *m, sm *s, uint32_t blocks);
/* Stops a warp of a block that is preempted. A warp is saved with its log entries as they are if it waits for a page in
 * place, replays, or waits for log room that faulted warps hold. */
void faults_stop_warp(machine *m, sm *s, warp *w);
/* The entries of a held warp in program order, for its context. Returns their number. */
uint32_t faults_entries(machine *m, const warp *w, gpump_replay_entry entries[GPUMP_REPLAY_WINDOW]);
/* The record that keeps the operands of one of them; NULL: it reads registers. */
const in_flight *faults_operands(const machine *m, const warp *w, const gpump_replay_entry *entry);
/* Restores the log entries of a warp, in program order. */
void faults_restore(machine *m, sm *s, warp *w, const gpump_replay_entry *entries, uint32_t count);
/* Returns the record for the operands of a restored entry; NULL: there is none of that sequence. */
in_flight *faults_restore_operands(machine *m, sm *s, warp *w, uint64_t sequence);

#endif
