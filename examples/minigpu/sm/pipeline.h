/* pipeline: the stages of an SM. fetch -> issue -> operand read -> execute -> commit.
 *
 * Issue takes one instruction per scheduler and cycle, in order within a warp. Operand read captures what the
 * instruction needs into its in-flight record; of arithmetic it captures the result. Commit writes registers.
 * Memory instructions go from operand read to the load-store unit (memory_path), and commit after their last reply. */
#ifndef MINIGPU_PIPELINE_H
#define MINIGPU_PIPELINE_H

#include "state/state.h"

/* One cycle, from the back to the front, so that nothing passes two stages in it. First, executed control instructions
 * and arithmetic take effect. */
SM_PATH void pipeline_execute(machine *m, sm *s);
/* Then operands are read, fetched instructions come, and each scheduler issues. Returns the next cycle in which issue
 * has something to do; NEVER. */
SM_PATH uint64_t pipeline_issue(machine *m, sm *s);
/* The next cycle in which something comes out of a stage; NEVER. */
SM_PATH uint64_t pipeline_next(const sm *s);
#if IS_PLAIN
/* Runs an SM on from s->wake, up to the first cycle that has other work than simple instructions and control
 * instructions, and not into cycle `end`. Nobody else looks at the SM meanwhile: its queues have no misses, none of its
 * blocks moves, and no fault handler works for its warps. */
SM_PATH void pipeline_run_simple(machine *m, sm *s, uint64_t end);
#endif
/* A memory instruction has everything it waited for: writes its registers and ends it. */
SM_PATH void pipeline_commit(machine *m, sm *s, uint32_t record);
/* Returns whether registers and memory order allow a warp that has not ended to issue its next instruction. */
SM_PATH int pipeline_next_is_clear(const warp *w);
/* A memory instruction has passed its last translation check: its warp may pass barriers, sources may be released. */
SM_PATH void pipeline_checked(machine *m, sm *s, in_flight *r);
/* Hands a block over as ended (sm.ended) once its warps have ended and nothing of it is on the way. */
SM_PATH void pipeline_block_may_be_done(machine *m, sm *s, block *b);
/* A store leaves the store queue (errors.h): on to the load-store unit. */
SM_PATH void pipeline_leave_store_queue(machine *m, sm *s, uint32_t record);
/* A record is free for others. */
SM_PATH void pipeline_free_record(const machine *m, sm *s, uint32_t record);
/* Takes a memory instruction before its effect out of the pipeline, once its operands are read. With keep the record
 * stays, with its operands (RECORD_HELD). */
SM_PATH void pipeline_withdraw(machine *m, sm *s, uint32_t record, int keep);
/* For parts that issue. An instruction takes a record and its unit's first stage. Returns the record. */
SM_PATH uint32_t pipeline_start(machine *m, sm *s, uint32_t warp_index, uint32_t pc, uint32_t mask, uint64_t sequence);
/* The same for a record that was withdrawn and has kept its operands. */
SM_PATH void pipeline_restart(machine *m, sm *s, uint32_t record);
/* Makes the unit of an instruction that issues busy for as long as it is. */
SM_PATH void pipeline_occupy_unit(const machine *m, sm *s, const issue_info *info);
/* Ends the run when a warp has no instruction there. Returns whether it has none. */
SM_PATH int pipeline_runs_past_end(machine *m, const warp *w, const issue_info *info);
/* Makes the record of an instruction that was squashed on another SM: the caller fills in its operands. */
SM_PATH uint32_t pipeline_hold_record(machine *m, sm *s, const warp *w, const gpump_replay_entry *what);
/* Makes everything in flight of a block vanish without effect. */
SM_PATH void pipeline_squash_block(machine *m, sm *s, uint32_t block_index);
/* Drops the fetches in flight of a block that leaves: its warps' memory may soon be those of another one. */
SM_PATH void pipeline_squash_fetches(const machine *m, sm *s, uint32_t block_index);
/* Makes everything in flight of a warp vanish without effect, and forgets what its scoreboard and counters knew of it.
 */
SM_PATH void pipeline_squash_warp(machine *m, sm *s, uint32_t warp_index);
/* Sets a warp's bits in the SM's masks from its state: after it was placed, restored, or woken. */
SM_PATH void pipeline_refresh_warp(machine *m, sm *s, warp *w);
/* Resumes or stops a warp's fetch. Instructions that are fetched already still issue. */
SM_PATH void pipeline_enable_fetch(machine *m, sm *s, uint32_t warp_index, int enabled);
/* Releases the warps that wait at barriers that are now complete. */
SM_PATH void pipeline_check_barriers(machine *m, sm *s, block *b);

/* ---- for instructions that take no time (functional.h), in a plain machine ---- */

/* Computes arithmetic in the lanes of `active`, and writes its results. clock: what %clock64 reads. */
SM_PATH void pipeline_compute(sm *s, const warp *w, block *b, const issue_info *info, uint32_t active,
                              uint32_t *predicates, uint64_t clock);
/* Captures the operands of a memory or control instruction into its record, whose info, instruction, mask and warp the
 * caller has set. */
SM_PATH void pipeline_capture(machine *m, sm *s, in_flight *r, const warp *w, block *b, uint64_t clock);
/* A control instruction takes effect: branch, barrier, the end of lanes. */
SM_PATH void pipeline_control_effect(machine *m, sm *s, block *b, warp *w, const in_flight *r);
/* The last lane of a warp has ended. */
SM_PATH void pipeline_warp_ended(machine *m, sm *s, block *b, warp *w);

#endif
