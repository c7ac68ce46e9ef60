/* part: the interface of an optional capability of the machine, such as an observer, a scheduler of SMs, or
 * page faults.
 *
 * A part is a folder parts/NAME with one table of hooks, NAME_part, and one line in parts/parts.def. The
 * machine reaches a part through this table alone, and parts do not name each other. A hook has one of three
 * forms:
 *
 *   - Notification (returns void): the machine reports an event to every part. Example: block_came.
 *   - Question (returns a value): the machine asks the parts in order until one of them gives an answer
 *     other than the default. A comment writes the default as "no say". Example: may_place. Where the
 *     answers of all parts count, the machine combines them: a minimum, a sum or a mask. Example: next.
 *   - Turn (returns void): the part does its own work at a fixed place in a cycle. Example: turn.
 *
 * Every hook but is_present may be NULL, which leaves the event or the question to the others. Hooks are
 * called in the order of parts/parts.def. A machine without parts has an empty list, so a hook then costs one
 * test of a pointer.
 *
 * To write a part, read section 1 of `struct part`, then the events of a run in sections 2 to 5. Each of the
 * sections 6 to 15 serves one mechanism. A part reads only the sections of its own mechanism. */
#ifndef MINIGPU_PART_H
#define MINIGPU_PART_H

#include <stdio.h>

#include "gpump_once.h"
#include "base/arena.h"
#include "lanes/form.h"
#include "state/kernel.h"

struct json_t;          /* jansson.h */
struct option_row;      /* options.h */
struct option_rule;     /* options.h */
struct timeline_series; /* timeline.h */
struct machine;
struct sm;
struct warp;
struct block;
struct in_flight;
typedef struct machine_options machine_options; /* machine/machine_options.h */

/* Traits: what the presence of a part means for the rest of the machine. machine.traits has the bits of all
 * parts that are present. */
enum {
    /* SMs share state of the part within a cycle, so no SM may run ahead of the others (machine/ahead.h). */
    PART_CROSSES_SMS = 1,
    /* The part looks at warps when their block is placed, so warps are made at once, not when the next window begins
     * (preemption/block_life.h). */
    PART_SEES_PLACEMENTS = 2,
    /* SMs access state of the part that all SMs share, so they advance in turn on one thread (machine/window.h). */
    PART_SHARED_BY_SMS = 16,
    /* The part overwrites what blocks leave behind, because it keeps the values elsewhere too (block_life.c). */
    PART_OVERWRITES = 8,
    /* The part reads the meters of the memory between windows (machine/window.h). */
    PART_READS_MEMORY = 4,
    /* The part has hooks on the path of an instruction, so its machines run in the general form (machine/sm_form.h). */
    PART_ON_PATH = 32,
    /* The part opens and closes the path to the network with time (may_send). */
    PART_GATES = 64,
    /* An access outside every buffer ends its process alone, not the run. */
    PART_ABORTS = 128,
    /* The part does the translation look-ups in place of the check queue (look_up). */
    PART_LOOKS_UP = 256,
    /* The part issues in place of the schedulers (issue_cycle), and tracks the dependences of instructions. */
    PART_ISSUES = 512
};

/* The result of an attempt to issue an instruction again. */
typedef enum replay_result {
    REPLAY_NOT_ASKED,
    REPLAY_ISSUED, /* the warp has issued, or is in the queue of the part that issues */
    REPLAY_WAITS,  /* the warp waits for an instruction in flight */
    REPLAY_LATER   /* the warp waits for a unit or for room, and is tried again in the next cycle */
} replay_result;

#define NOT_LOOKED_UP (NONE - 1u) /* answer of look_up: the check queue does the look-ups */

/* The request for room of a kernel that has a deadline. */
typedef struct room_request {
    uint64_t since, limit_cycles;
} room_request;

#define PART_OPTION_WORDS 8u /* 64-bit words for the options of one part (machine_options.of_part) */

typedef struct part {
    const char *name;
    uint32_t traits;                  /* PART_... bits */
    const struct option_row *options; /* the part's options of `minigpu run`; NULL: none */
    size_t options_at;                /* offset in machine_options of the struct that the options fill */
    const struct option_rule *rules;  /* options that exclude each other, with the reason; NULL: none */

    /* ---- 1. Presence, state and report of a part (most parts have these) ---- */
    /* Reads the part's options, changes the configuration before the machine is built, and makes room for the
     * part's state. Returns 0, or -1 with the reason in error. */
    int (*configure)(struct machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]);
    /* Makes the part's state per SM and per warp. Called once the machine is built. Returns 0, or -1 with the
     * reason in error. */
    int (*make)(struct machine *m, const launch_file *launch, const machine_options *options,
                char error[LAUNCH_ERROR_BYTES]);
    /* Returns 1 when this machine has the part. Called when the machine is configured, when it is built, and
     * when an observer is attached or detached. */
    int (*is_present)(const struct machine *m);
    /* Frees the part's memory outside the arena. */
    void (*close)(struct machine *m);
    /* Writes the part's lines of the report. */
    void (*report)(const struct machine *m, FILE *file);
    /* Adds the part's members to the report in JSON. */
    void (*report_json)(const struct machine *m, struct json_t *members);
    /* Sets *series to the name, unit and scale of the part's index-th curve over time, and *value to the
     * curve's present value. Returns 0 when the part has no more curves. */
    int (*curve)(const struct machine *m, uint32_t index, struct timeline_series *series, uint64_t *value);
    /* Returns the hash, extended by the part's state of the machine. */
    uint64_t (*hash)(const struct machine *m, uint64_t hash);
    /* Returns the hash, extended by the part's state of an SM. */
    uint64_t (*hash_sm)(const struct machine *m, const struct sm *s, uint64_t hash);

    /* ---- 2. Turns of a part (machine/machine.c) ---- */
    /* Returns the cycle of the part's next turn; NEVER: no turn is due. */
    uint64_t (*next)(const struct machine *m);
    /* Gives the part its turn, at the start of the machine's cycle. A part without `next` has a turn in every
     * cycle that the machine visits. */
    void (*turn)(struct machine *m);
    /* Gives the part a turn after kernels have ended and arrived, in every cycle that the machine visits. */
    void (*kernels_have_come)(struct machine *m);
    /* Gives the part a turn before the dispatcher places blocks. Returns the cycle in which the part asks for
     * the next such turn; NEVER. */
    uint64_t (*before_placing)(struct machine *m);
    /* Gives the part a turn after all SMs have run: in every cycle that the machine visits, or at the end of a
     * window (machine/window.h). */
    void (*sms_have_run)(struct machine *m);
    /* Gives the part a turn before the SMs run through a window. machine.now: the window's first cycle. */
    void (*window_begins)(struct machine *m);
    /* Returns 1 when warps wait for an event that occurs although no instruction issues, such as the arrival
     * of a page. The watchdog asks before it reports a deadlock. */
    int (*is_awaited)(const struct machine *m);

    /* ---- 3. Kernels start and end (machine/dispatcher.c) ---- */
    /* Gives the part a turn before the dispatcher ends and starts kernels. */
    void (*before_arrivals)(struct machine *m);
    /* Reports that the kernel has arrived and its blocks may be placed. */
    void (*kernel_starts)(struct machine *m, uint32_t kernel);
    /* Returns 1 when the part chooses the blocks that leave for the kernel, which has just started; 0: no
     * say. */
    int (*makes_room)(struct machine *m, uint32_t kernel);
    /* Reports that all blocks of the kernel are done, or that its process was aborted. */
    void (*kernel_ends)(struct machine *m, uint32_t kernel);
    /* Reports the same event, after the machine has decided whether the kernel runs again. */
    void (*kernel_ended)(struct machine *m, uint32_t kernel);
    /* Reports that a process is aborted. The blocks of the process leave next. */
    void (*process_aborted)(struct machine *m, uint32_t process);

    /* ---- 4. Blocks are placed (preemption/block_life.c, machine/dispatcher.c) ---- */
    /* Returns 1 when the part alone decides which kernel has which SM. */
    int (*owns_sms)(const struct machine *m);
    /* Returns 1 when a block of the kernel may go to the SM. own: 1 for a preempted block that can resume on
     * this SM only. */
    int (*may_place)(const struct machine *m, const struct sm *s, uint32_t kernel, int own);
    /* Returns 1 when a block that has not run yet may go to the SM. */
    int (*may_start)(const struct machine *m, const struct sm *s);
    /* Returns 1 when an SM that is reserved for the kernel stays reserved, 0 when the SM may be released; -1:
     * no say. */
    int (*keeps_reserved)(const struct machine *m, const kernel *k);
    /* Reports that a block is about to be placed, to stop or to leave. */
    void (*blocks_change)(struct machine *m);
    /* Returns YES when the part has room for one more block of the kernel, otherwise the reason why not.
     * restores: 1 for a saved block. */
    gpump_reason (*room)(struct machine *m, struct sm *s, uint32_t kernel, int restores);
    /* Returns the resources (gpump_part bits) of the kernel's blocks that the part places itself, within
     * machine.placed; 0: the SM places all. */
    uint32_t (*places)(const struct machine *m, uint32_t kernel);
    /* Returns the most blocks of the kernel on an SM; NONE: no say. */
    uint32_t (*most_blocks)(const struct machine *m, uint32_t kernel);
    /* Reports that the SM is reserved for the kernel with number sm.reserved_for. */
    void (*sm_is_reserved)(struct machine *m, struct sm *s);
    /* Reports that the first block arrives on an empty SM. */
    void (*sm_is_taken)(struct machine *m, struct sm *s, uint32_t kernel);
    /* Reports that the block has its ranges of registers and shared memory. The part may still change the
     * ranges. */
    void (*block_is_placed)(struct machine *m, struct sm *s, struct block *b);
    /* Returns the mask of warp slots that the kernel's warps may take; 0: the part assigns the slots
     * (give_slots). */
    uint64_t (*slots)(const struct machine *m, uint32_t kernel);
    /* Assigns numbers to the block's warps, and slots where `slots` has returned 0. restores: 1 for a saved
     * block. */
    void (*give_slots)(struct machine *m, struct sm *s, struct block *b, int restores);
    /* Reports that the block is on the SM. saved: the state of a preempted block; NULL: the block is new. */
    void (*block_came)(struct machine *m, struct sm *s, struct block *b, const preempted_block *saved);
    /* Reports that a warp of a placed block has its number. */
    void (*warp_came)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that a warp of a new block is at its first instruction. */
    void (*warp_starts)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that the whole context of a restored block has arrived, and that its warps start. */
    void (*block_is_restored)(struct machine *m, struct sm *s, struct block *b);

    /* ---- 5. Blocks are preempted, stop and leave (preemption/requests.c, preemption/block_life.c) ---- */
    /* Gives the part a turn before a policy looks at the SM's blocks. */
    void (*blocks_are_weighed)(struct machine *m, struct sm *s);
    /* Sets *rewind to what the block would save and lose by a rewind. */
    void (*price_rewind)(struct machine *m, const struct block *b, gpump_cost_rewind *rewind);
    /* Reports the blocks that have been chosen to leave. The SM may still refuse the choices. */
    void (*blocks_are_chosen)(struct machine *m, struct sm *s, const gpump_block_choice *choices, uint32_t count);
    /* Reports that the SM has accepted the choices. for_kernel: number of the kernel that the blocks leave
     * for; 0: none. */
    void (*blocks_are_told)(struct machine *m, struct sm *s, const gpump_block_choice *choices, uint32_t count,
                            uint32_t for_kernel);
    /* Reports the block's new phase, a timeline_phase. */
    void (*block_phase)(const struct machine *m, const struct block *b, uint32_t phase);
    /* Reports, in each cycle until the save of the block begins, that the block is stopping. None of its
     * warps runs on to a preemption point. */
    void (*block_stops)(struct machine *m, struct sm *s, struct block *b);
    /* Reports, in each cycle, that warps of the block still have to go back to the start of their regions. */
    void (*block_rewinds)(struct machine *m, struct sm *s, struct block *b);
    /* Returns 0 while the part moves warps of the block, which delays the save or the drop of the block. */
    int (*holds_still)(struct machine *m, struct sm *s, struct block *b);
    /* Returns what the block waits for beyond `waits`, as GPUMP_SM_WAIT_ bits. */
    uint32_t (*block_waits)(const struct machine *m, const struct sm *s, const struct block *b, uint32_t waits);
    /* Reports that the block leaves. All of its state still exists. */
    void (*block_leaves)(struct machine *m, struct sm *s, struct block *b, const gpump_sm_action *action);
    /* Reports that the block has left. entry: its handle in machine.preempted; NONE: the block has ended or
     * was killed. */
    void (*block_left)(struct machine *m, struct sm *s, struct block *b, const gpump_sm_action *action, uint32_t entry);
    /* Reports that a warp leaves with its block. */
    void (*warp_leaves)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that sm.kernel_resident of the kernel has changed. */
    void (*blocks_changed)(struct machine *m, struct sm *s, uint32_t kernel);
    /* Reports that a preempted block is dropped, because its process was aborted. */
    void (*preempted_dropped)(struct machine *m, const preempted_block *entry);

    /* ---- 6. Contexts of preempted blocks (preemption/context_bytes.c, preemption/context_forms.c) ---- */
    /* Returns the most bytes that the part's sections add to the context of a block. */
    uint64_t (*context_bytes)(const struct machine *m, const kernel *k);
    /* Writes the part's sections of a warp into the context. */
    void (*put_sections)(struct machine *m, const struct warp *w, gpump_context_writer *writer);
    /* Reads the part's sections of a warp from the context. */
    void (*get_sections)(struct machine *m, struct warp *w, gpump_context_reader *reader);
    /* Adds to live[] the registers that a warp needs beyond those that are live at its PC. */
    void (*needs_registers)(const struct machine *m, const struct warp *w, uint64_t *live);
    /* Returns the packed registers of a switched-out warp and sets *bytes to their size; NULL: the registers
     * are not packed. */
    const uint8_t *(*warp_frame)(struct machine *m, const struct warp *w, uint64_t *bytes);
    /* Unpacks the registers of a warp from a context that holds them packed. Returns 1 when the part has done
     * so; 0: no say. */
    int (*takes_frame)(struct machine *m, const struct block *b, const struct warp *w, const uint8_t *frame,
                       uint64_t bytes);
    /* Returns the address of the block's shared memory; NULL: no say. */
    uint8_t *(*shared_memory)(struct machine *m, const struct block *b);

    /* ---- 7. Layout of device memory, and preparation of kernels (machine/machine.c; few parts need these) ---- */
    /* Returns the alignment of buffers in bytes; the largest of all parts counts. */
    uint64_t (*alignment)(const machine_options *options);
    /* Takes device memory from an address on. Returns the end of what the part has taken. */
    uint64_t (*lay_out)(struct machine *m, uint64_t address, uint64_t alignment);
    /* Prepares the issue_info of a kernel's instructions for the part. Called again for instructions that a
     * trace or a recompilation adds. Returns -1 when memory is out. */
    int (*prepare)(struct machine *m, uint32_t kernel, const kernel_program *program, issue_info *info);

    /* ---- 8. An SM's cycle (machine/sm_cycle.c). Sections 8 to 11 need PART_ON_PATH, and run in the general form. ----
     */
    /* Gives the part a turn before every stage of the SM. */
    void (*cycle_begins)(struct machine *m, struct sm *s);
    /* Gives the part a turn after the load-store unit and before issue. */
    void (*before_issue)(struct machine *m, struct sm *s);
    /* Gives the part a turn after issue. Returns the next cycle in which the part has work; NEVER. */
    uint64_t (*cycle_ends)(struct machine *m, struct sm *s);
    /* Returns the next cycle in which the part has work on this SM; NEVER. Asked when the SM may sleep. */
    uint64_t (*next_of_sm)(const struct machine *m, const struct sm *s);

    /* ---- 9. Fetch and issue (sm/pipeline.c) ---- */
    /* Returns 1 when the warp fetches nothing more for now. */
    int (*fetch_stops)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports, in each cycle, that a page fault holds the warp's fetch. */
    void (*fetch_waits)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that the warp has fetched the instruction at pc. */
    void (*fetched)(struct machine *m, struct sm *s, struct warp *w, uint32_t pc, uint64_t sequence);
    /* Discards the instructions that the warp has fetched and not issued. */
    void (*forgets_fetched)(struct machine *m, struct sm *s, struct warp *w);
    /* Returns the slots of `ready` that may issue. Each part narrows the mask of the one before. */
    uint64_t (*may_issue)(struct machine *m, struct sm *s, uint64_t ready);
    /* Returns the slots of `ready` that wait for room in the part. The SM wakes for them by an event of the
     * part, so it need not poll. */
    uint64_t (*full)(const struct machine *m, const struct sm *s, uint64_t ready);
    /* Reports that an instruction issues. The warp's PC is still at it. */
    void (*issues)(struct machine *m, struct sm *s, struct warp *w, struct in_flight *r);
    /* Reports that an instruction has issued. The warp's PC has moved on. */
    void (*issued)(struct machine *m, struct sm *s, struct warp *w, const struct in_flight *r);
    /* Reports that an instruction enters its unit, at its first issue or at a replay. */
    void (*starts)(struct machine *m, struct sm *s, struct in_flight *r);
    /* Reports an event that instructions of the warp may have waited for. */
    void (*waits_change)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that an instruction has released its sources. Only with PART_ISSUES. */
    void (*sources_released)(struct machine *m, struct sm *s, struct warp *w, const struct in_flight *r);
    /* Reports that an instruction has released its destinations. Only with PART_ISSUES. */
    void (*destinations_released)(struct machine *m, struct sm *s, struct warp *w, const struct in_flight *r);

    /* ---- 10. Operands, commit, squash, barriers and regions (sm/pipeline.c, sm/restart.c) ---- */
    /* Reports that an instruction has its operands. sources: the operands of arithmetic, whose results are
     * computed; NULL: no arithmetic. */
    void (*operands_read)(struct machine *m, struct sm *s, struct in_flight *r, const lanes_operand *const *sources);
    /* Returns 1 when the instruction's sources are released once they are read. Asked with
     * RELEASE_WHEN_ALLOWED. */
    int (*releases_sources)(const struct machine *m, const struct sm *s, const struct in_flight *r);
    /* Returns 1 when the part is the cause of an instruction's invalid behaviour, for example by an injected
     * error. */
    int (*excuses)(const struct machine *m, const struct in_flight *r);
    /* Reports that an instruction has taken effect. The instruction releases its record and destinations
     * next. */
    void (*retires)(struct machine *m, struct sm *s, const struct in_flight *r);
    /* Reports that an instruction's record is free. The content of the record is still valid. */
    void (*retired)(struct machine *m, struct sm *s, const struct in_flight *r);
    /* Reports that a record is free, whether its instruction has committed or was squashed. */
    void (*record_is_free)(const struct machine *m, struct sm *s, const struct in_flight *r);
    /* Reports that an instruction leaves the pipeline before it takes effect. */
    void (*withdrawn)(struct machine *m, struct sm *s, uint32_t record);
    /* Reports that all instructions in flight of the warp have been squashed. */
    void (*warp_squashed)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that a barrier opens for this warp. *once: shared by the warps of the barrier, 0 at the first
     * of them. */
    void (*barrier_opens)(struct machine *m, struct sm *s, struct warp *w, uint64_t *once);
    /* Reports that the warp is behind a boundary of idempotent regions. */
    void (*boundary)(struct machine *m, struct sm *s, struct warp *w, int is_short);
    /* Reports that the warp has gone back to the start of its region (sm/restart.h). */
    void (*warp_goes_back)(struct machine *m, struct sm *s, struct warp *w, uint32_t region);
    /* Returns the place where the registers of a switched-out warp may be written; NULL: the registers are in
     * the register file. */
    uint32_t *(*opens_registers)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that the registers from opens_registers have been written. */
    void (*closes_registers)(struct machine *m, struct sm *s, struct warp *w);

    /* ---- 11. Memory accesses (sm/memory_access.c, sm/memory_path.c; `record` is an index into sm.records) ---- */
    /* Returns 1 when the instruction waits in the part before it enters the load-store unit. */
    int (*keeps_access)(struct machine *m, struct sm *s, uint32_t record);
    /* Reports that the segments of an access are known. */
    void (*coalesced)(struct machine *m, struct sm *s, struct in_flight *r);
    /* Reports that a store is about to overwrite shared memory. */
    void (*shared_stores)(struct machine *m, struct sm *s, const struct in_flight *r);
    /* Reports that the segments of an access wait for translation. */
    void (*enters_checks)(struct machine *m, struct sm *s, struct in_flight *r);
    /* Does one cycle of look-ups. Returns the record that has taken effect; NONE: no record has;
     * NOT_LOOKED_UP: no say. */
    uint32_t (*look_up)(struct machine *m, struct sm *s);
    /* Reports that a record is squashed. Returns 1 when the record has left the load-store unit at once. */
    int (*leaves_unit)(struct machine *m, struct sm *s, uint32_t record);
    /* Returns 1 when the part carries the segment past L1. replies: 1 when the access awaits a reply. */
    int (*takes_segment)(struct machine *m, struct sm *s, uint32_t record, uint64_t segment, int replies);
    /* Reports that the first access of the queue cannot be sent yet, because there is no room. */
    void (*access_waits)(struct machine *m, struct sm *s);
    /* Reports that a segment of the access has been sent. */
    void (*accesses)(struct machine *m, struct sm *s, const struct in_flight *r);
    /* Reports that all segments of an access have been sent. */
    void (*load_leaves)(struct machine *m, struct sm *s, struct in_flight *r);
    /* Reports that a load has committed. how: RECORD_MISSED, RECORD_COUNTED, or another value of
     * in_flight.next_free. */
    void (*load_commits)(struct machine *m, struct sm *s, struct warp *w, uint32_t how);
    /* Reports that a miss waits to leave the SM. */
    void (*asks_to_send)(struct machine *m, struct sm *s);
    /* Returns 1 when a miss of this kernel number may leave the SM. */
    int (*may_send)(const struct machine *m, const struct sm *s, uint32_t kernel);
    /* Reports that a miss of this kernel number has left the SM. */
    void (*sends)(struct machine *m, struct sm *s, uint32_t kernel);

    /* ---- 12. Absent pages (asked in every form of the SM) ---- */
    /* Reports that a page check has found its page absent. Returns 1 when the part records the page; 0: no
     * say. */
    int (*check_fails)(struct machine *m, struct sm *s, const struct in_flight *r, uint64_t segment);
    /* Reports that a warp calls the fault handler. Returns the cycle in which the warp goes on; NEVER: the
     * part reports it later; 0: no say. */
    uint64_t (*handler_is_called)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that a look-up or a fetch has found no page. Returns the cycle of the next attempt; NEVER: the
     * part reports it later; 0: no say. */
    uint64_t (*page_is_wanted)(struct machine *m, struct sm *s, struct warp *w, const gpump_fault_access *access);
    /* Reports that a fetch waits for a page whose arrival page_is_wanted could not name. Returns a cycle as
     * page_is_wanted does. */
    uint64_t (*fetch_waits_for)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that a warp needs the page of code no longer for which its fetch has faulted. */
    void (*fetch_ends)(struct machine *m, struct sm *s, const struct warp *w);
    /* Returns the cycle from which the warp can go on. cycle: the estimate so far; the part returns it
     * unchanged when it has no say. */
    uint64_t (*pages_cycle)(const struct machine *m, const struct warp *w, uint64_t cycle);
    /* Returns the cycle from which a restored warp that has faulted can go on; 0: no say. */
    uint64_t (*restored_cycle)(struct machine *m, struct warp *w);
    /* Reports that pages have arrived. */
    void (*pages_came)(struct machine *m);
    /* Reports that the rights of a page have changed. */
    void (*rights_change)(struct machine *m, uint64_t page);
    /* Reports that `count` pages from `page` on are evicted. */
    void (*pages_leave)(struct machine *m, uint64_t page, uint64_t count);
    /* Reports that the last page that the warp waits for has arrived. */
    void (*warp_goes_on)(struct machine *m, struct sm *s, struct warp *w);
    /* Returns 0 when the warp, whose pages have arrived, waits for its slot too. */
    int (*may_go_on)(const struct machine *m, struct sm *s, struct warp *w);
    /* Reports that a switched-out warp has its slot again. */
    void (*warp_is_back)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that an instruction has passed its checks in a warp that translates one instruction at a time. */
    void (*passes_checks)(struct machine *m, const struct in_flight *r);
    /* Reports that the warp calls the fault handler and waits for it. */
    void (*warp_calls)(struct machine *m, struct sm *s, struct warp *w);
    /* Reports that the set of pages that a block waits for has changed. */
    void (*pages_pending)(struct machine *m, uint64_t cookie);
    /* Reports that the fault unit calls the handler of SM action->sm, which is code, for action->page. */
    void (*handler_starts)(struct machine *m, const gpump_fault_action *action);
    /* Reports that the SM's handler has returned for a page. mapped: 1: it has mapped the page; 0: it leaves the page
     * to the CPU. Returns 1 when the part has taken the report; 0: no say. */
    int (*handler_ends)(struct machine *m, struct sm *s, uint32_t process, uint64_t page, int mapped);
    /* Returns the number of pages that a block waits for, and sets *ready to the arrival of the last one. */
    uint32_t (*pages_of_block)(const struct machine *m, uint64_t cookie, uint64_t *ready);
    /* Reports, in each cycle, that warps of the SM wait for pages. */
    void (*pages_are_awaited)(struct machine *m, struct sm *s);
    /* Returns 1 when the warp issues nothing until pages of other warps have arrived. */
    int (*waits_for_pages)(const struct machine *m, const struct sm *s, const struct warp *w);
    /* Returns the warp's gpump_replay_state. */
    uint32_t (*replay_state)(const struct machine *m, const struct sm *s, const struct warp *w);

    /* ---- 13. Issue out of order, and replay (between the part with PART_ISSUES and parts/faults) ---- */
    /* Does one cycle of issue. Returns the next cycle in which the part has work; NEVER. */
    uint64_t (*issue_cycle)(struct machine *m, struct sm *s);
    /* Returns 1 when this instruction may issue. handle: replay handle of an instruction that issues again;
     * NONE: first issue. */
    int (*may_issue_one)(struct machine *m, struct sm *s, const struct warp *w, const issue_info *info,
                         uint32_t handle);
    /* Returns the number of instructions that the warp has fetched and not issued. */
    uint32_t (*unissued)(const struct machine *m, const struct sm *s, const struct warp *w);
    /* Removes the fetched instructions that have not issued. Fills entries[] with sequence, lanes and PC of
     * those that issue again and returns their number. The others are fetched again, or wait in the replay
     * queue. */
    uint32_t (*take_unissued)(struct machine *m, struct sm *s, struct warp *w, gpump_replay_entry *entries);
    /* Stops the issue of the instructions that the warp has fetched. */
    void (*hold_unissued)(struct machine *m, struct sm *s, struct warp *w);
    /* Returns 1 when the warp's PC is past an instruction that waits to issue. */
    uint32_t (*fetched_ahead)(const struct machine *m, const struct sm *s, const struct warp *w);
    /* Takes an instruction that issues again. may_go: 1 when the replay scheme lets the instruction issue
     * now. */
    replay_result (*takes_replay)(struct machine *m, struct sm *s, struct warp *w, uint32_t handle,
                                  const gpump_replay_entry *what, int may_go);
    /* Issues an instruction again. Returns its record. */
    uint32_t (*issues_again)(struct machine *m, struct sm *s, struct warp *w, uint32_t handle);
    /* Returns the slots of warps that have more instructions to issue again. */
    uint64_t (*replaying)(const struct machine *m, const struct sm *s);

    /* ---- 14. Questions of other parts, through the machine ---- */
    /* Returns the number of the kernel's blocks on an SM that kernels share; 0: no say. */
    uint32_t (*blocks_beside)(const struct machine *m, uint32_t kernel);
    /* Returns how many blocks of the kernel run on an SM at the same time, where more blocks take turns;
     * NONE: no say. */
    uint32_t (*native_blocks)(const struct machine *m, uint32_t kernel);
    /* Returns the most warps of an SM where that exceeds its slots; 0: no say. */
    uint32_t (*most_warps)(const struct machine *m);
    /* Returns 1 when the warp has an error in flight that has not been detected yet. */
    int (*has_struck)(const struct machine *m, const struct sm *s, const struct warp *w);
    /* Returns 1 when the kernel belongs to the group of kernels that share SMs. */
    int (*is_grouped)(const struct machine *m, uint32_t kernel);
    /* Returns a number that changes when the group loses an SM and gets it back; 0 while an SM is not the group's; 1:
     * no say. */
    uint64_t (*group_stamp)(const struct machine *m);
    /* Returns 1 when the kernel with that number has asked for room, and fills *request. */
    int (*room_wanted)(const struct machine *m, uint32_t for_kernel, room_request *request);
    /* Returns 1 and sets *cycles and *overhead to the estimate for a block that leaves for that kernel. */
    int (*room_estimate)(const struct machine *m, uint32_t for_kernel, const struct block *b, uint64_t *cycles,
                         uint64_t *overhead);
    /* Returns 1 when all blocks of the SM have to leave. */
    int (*vacates)(const struct machine *m, const struct sm *s);
    /* Returns the number of the kernel that the SM is vacated for; NONE: no say. */
    uint32_t (*vacated_for)(const struct machine *m, const struct sm *s);
    /* Returns how many blocks the part would add to the SM; NEVER: no say. */
    uint64_t (*more_blocks)(const struct machine *m, const struct sm *s);
    /* Places one of these blocks. Returns 1 when a block was placed, 0 when not; -1: no say. */
    int (*place_more)(struct machine *m, struct sm *s);
    /* Reports that a block is back that had left the SM on a fault and belongs to it
     * (preempted_block.fault_sm). */
    void (*off_chip_came_back)(struct machine *m, struct sm *s, uint32_t entry);
    /* Releases one off-chip block of the SM that belongs to a kernel other than `to`, which gets the SM.
     * Returns the block's entry; NONE: there are no more. The block may then resume on any SM. */
    uint32_t (*give_up_off_chip)(struct machine *m, struct sm *s, uint32_t to);

    /* ---- 15. The report of a deadlock (machine/machine.c) ---- */
    /* Returns 1 when the warp's next instruction waits for room in the operand log. */
    int (*waits_for_log)(const struct machine *m, const struct warp *w);
    /* Returns the reason why the part delays the warp; YES: it does not. */
    gpump_reason (*warp_waits_for)(const struct machine *m, const struct sm *s, const struct warp *w);
} part;

/* The number of each part: the index of its state in machine.of_part and sm.of_part. */
enum {
#define PART(name) PART_##name,
#include "parts/parts.def"
#undef PART
    PARTS
};

/* Calls `configure` of every part, then finds which are present. Returns 0, or -1 with the reason in error. */
int parts_configure(struct machine *m, const launch_file *launch, const machine_options *options,
                    char error[LAUNCH_ERROR_BYTES]);
/* Calls `make` of every part, then finds which are present. Returns 0, or -1 with the reason in error. */
int parts_make(struct machine *m, const launch_file *launch, const machine_options *options,
               char error[LAUNCH_ERROR_BYTES]);
/* Returns part `index` of parts/parts.def; NULL past the last. */
const part *parts_at(uint32_t index);
/* Sets machine.parts, machine.on_path and machine.traits to the parts that are present. */
void parts_find(struct machine *m);

/* Calls a hook of all parts that are present: PARTS_TELL(m, block_came, (m, s, b, saved)). */
#define PARTS_TELL(m, hook, arguments)                    \
    do {                                                  \
        const part *const *part_;                         \
        for (part_ = (m)->parts; *part_; part_++)         \
            if ((*part_)->hook) (*part_)->hook arguments; \
    } while (0)
/* Calls a hook of the parts in order, until one of them returns something other than `default_answer`. Sets
 * `answer` to that value, or to default_answer. */
#define PARTS_ASK(m, answer, default_answer, hook, arguments)                     \
    do {                                                                          \
        const part *const *part_;                                                 \
        (answer) = (default_answer);                                              \
        for (part_ = (m)->parts; *part_ && (answer) == (default_answer); part_++) \
            if ((*part_)->hook) (answer) = (*part_)->hook arguments;              \
    } while (0)

/* PARTS_TELL and PARTS_ASK for hooks on the path of an instruction: only parts with PART_ON_PATH are called,
 * and the plain form compiles to no call. */
#define PATH_TELL(m, hook, arguments)                            \
    do {                                                         \
        const part *const *part_;                                \
        for (part_ = (m)->on_path; !IS_PLAIN && *part_; part_++) \
            if ((*part_)->hook) (*part_)->hook arguments;        \
    } while (0)
#define PATH_ASK(m, answer, default_answer, hook, arguments)                                     \
    do {                                                                                         \
        const part *const *part_;                                                                \
        (answer) = (default_answer);                                                             \
        for (part_ = (m)->on_path; !IS_PLAIN && *part_ && (answer) == (default_answer); part_++) \
            if ((*part_)->hook) (answer) = (*part_)->hook arguments;                             \
    } while (0)
/* Is there a part with this trait? Always 0 in the plain form. */
#define PATH_HAS(m, trait) (!IS_PLAIN && ((m)->traits & (trait)))

#endif
