/* part: a capability that a machine may have or not: an observer, a scheduler of SMs, faults, warps beyond an SM's
 * room.
 *
 * A part is a folder parts/NAME with one table of hooks, NAME_part, and one line in parts/parts.def. The machine knows
 * a part by its table alone. It tells the parts that are present what happens (a block has come, a kernel has ended),
 * asks them (may this block start here), and gives each its turn. Parts do not know each other. A machine without parts
 * has an empty list, so what it costs is one test of a pointer per event.
 *
 * Every hook but is_present may be NULL: then the part has nothing to say. Hooks are called in the order of
 * parts/parts.def. To write a part, read section 1 of `struct part`, then 2 to 5, the events of a run. Sections 6 to 15
 * serve one mechanism each: read those of yours. */
#ifndef MINIGPU_PART_H
#define MINIGPU_PART_H

#include <stdio.h>

#include "gpump.h"
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

/* What a part means for the others, as bits; machine.traits has those of all parts that are present. */
enum {
    PART_CROSSES_SMS = 1, /* SMs share state of it within a cycle: no SM may go ahead of the others (machine/ahead.h) */
    PART_SEES_PLACEMENTS = 2, /* it looks at warps when their block is placed: they come at once (block_life.h) */
    PART_SHARED_BY_SMS = 16,  /* SMs touch state of it that all share: they advance in turn (machine/window.h) */
    PART_OVERWRITES = 8,      /* it overwrites what blocks leave behind: the values lie elsewhere, too (block_life.c) */
    PART_READS_MEMORY = 4,    /* it reads the meters of the memory between windows (machine/window.h) */
    PART_ON_PATH = 32,        /* it has hooks on the way of an instruction: its machines run in the general form */
    PART_GATES = 64,          /* it opens and closes the way to the network with time (may_send) */
    PART_ABORTS = 128,        /* an access that belongs to nobody ends its process alone, not the run */
    PART_LOOKS_UP = 256,      /* it makes the look-ups of pages in the place of the check queue (look_up) */
    PART_ISSUES = 512 /* it issues in the place of the schedulers (issue_cycle), and knows what waits for what */
};

/* What becomes of an instruction that has to issue again. */
typedef enum replay_result {
    REPLAY_NOT_ASKED,
    REPLAY_ISSUED, /* or in the queue of the part that issues */
    REPLAY_WAITS,  /* for something in flight */
    REPLAY_LATER   /* for a unit or room: try in the next cycle */
} replay_result;

#define NOT_LOOKED_UP (NONE - 1u) /* the answer of look_up: the check queue does it */

/* A kernel with a deadline has asked for room. */
typedef struct room_request {
    uint64_t since, limit_cycles;
} room_request;

#define PART_OPTION_WORDS 8u /* of the struct that a part's options fill (machine_options.of_part) */

typedef struct part {
    const char *name;
    uint32_t traits;                  /* PART_..., as bits */
    const struct option_row *options; /* of `minigpu run`; NULL: none */
    size_t options_at;                /* where the struct that they fill lies in machine_options */
    const struct option_rule *rules;  /* which options do not go together, and why; NULL: none */

    /* ---- 1. What a part is (Every part has these, or most do.) ---- */
    /* Reads the part's options, says what the machine is to be before anything of it is built, and makes room for
     * the part's state. Returns 0, or -1 with the reason in error. */
    int (*configure)(struct machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]);
    /* The machine is built: makes what the part has per SM and per warp. Returns likewise. */
    int (*make)(struct machine *m, const launch_file *launch, const machine_options *options,
                char error[LAUNCH_ERROR_BYTES]);
    /* Returns 1 when this machine has the part. Asked when the machine is configured, when it is built, and when an
     * observer comes or goes. */
    int (*is_present)(const struct machine *m);
    /* Frees what lies outside the arena. */
    void (*close)(struct machine *m);
    /* Writes the part's lines of the report. */
    void (*report)(const struct machine *m, FILE *file);
    /* Adds the part's members to the report as JSON. */
    void (*report_json)(const struct machine *m, struct json_t *members);
    /* Sets *series to the name, unit and scale of the part's index-th curve over time, and *value to its present value.
     * Returns 0 when the part has no more curves. */
    int (*curve)(const struct machine *m, uint32_t index, struct timeline_series *series, uint64_t *value);
    /* Returns the hash extended by the part's state of the machine. */
    uint64_t (*hash)(const struct machine *m, uint64_t hash);
    /* Returns the hash extended by the part's state of an SM. */
    uint64_t (*hash_sm)(const struct machine *m, const struct sm *s, uint64_t hash);

    /* ---- 2. Time (machine/machine.c) ---- */
    /* Returns the cycle of the part's next turn; NEVER. */
    uint64_t (*next)(const struct machine *m);
    /* The part's turn has come, at the start of the machine's cycle. Without `next`: every cycle that the machine
     * visits. */
    void (*turn)(struct machine *m);
    /* The same turn, after the kernels that arrive in this cycle. */
    void (*kernels_have_come)(struct machine *m);
    /* The dispatcher is about to place blocks. Returns the cycle in which the part wants to be asked again; NEVER. */
    uint64_t (*before_placing)(struct machine *m);
    /* Returns 1 when something that warps wait for comes by itself. */
    int (*is_awaited)(const struct machine *m);

    /* ---- 3. Kernels (machine/dispatcher.c) ---- */
    /* The dispatcher is about to look which kernels have ended and arrived. */
    void (*before_arrivals)(struct machine *m);
    /* The kernel's blocks may be placed from now on. */
    void (*kernel_starts)(struct machine *m, uint32_t kernel);
    /* A kernel needs room. Returns 1 when the part decides who leaves for it. */
    int (*makes_room)(struct machine *m, uint32_t kernel);
    /* All blocks of the kernel are done. */
    void (*kernel_ends)(struct machine *m, uint32_t kernel);
    /* The same, when it is known whether the kernel runs again. */
    void (*kernel_ended)(struct machine *m, uint32_t kernel);
    /* The process's blocks leave next. */
    void (*process_aborted)(struct machine *m, uint32_t process);

    /* ---- 4. Blocks come (preemption/block_life.c, machine/dispatcher.c) ---- */
    /* Returns 1 when the part alone decides which kernel has which SM. */
    int (*owns_sms)(const struct machine *m);
    /* Returns 1 when a block of the kernel may go to the SM. own: 1: the block is parked there. */
    int (*may_place)(const struct machine *m, const struct sm *s, uint32_t kernel, int own);
    /* Returns 1 when a block that has not run yet may go there. */
    int (*may_start)(const struct machine *m, const struct sm *s);
    /* Returns 1 when the SM that is reserved for the kernel stays so, 0 when not; -1: no word. */
    int (*keeps_reserved)(const struct machine *m, const kernel *k);
    /* Some block is about to come, to stop or to leave. */
    void (*blocks_change)(struct machine *m);
    /* Returns YES when the part has room for one more block, else why not. restores: 1: a saved block. */
    gpump_reason (*room)(struct machine *m, struct sm *s, uint32_t kernel, int restores);
    /* Returns gpump_part bits of the kernel's blocks that the part places itself, in machine.placed; 0: the SM places
     * all. */
    uint32_t (*places)(const struct machine *m, uint32_t kernel);
    /* Returns the most blocks of the kernel on an SM; NONE: no word. */
    uint32_t (*most_blocks)(const struct machine *m, uint32_t kernel);
    /* The SM is reserved for the kernel in sm.reserved_for. */
    void (*sm_is_reserved)(struct machine *m, struct sm *s);
    /* The first block comes to an empty SM. */
    void (*sm_is_taken)(struct machine *m, struct sm *s, uint32_t kernel);
    /* The block has its ranges of registers and shared memory, which may still be changed. */
    void (*block_is_placed)(struct machine *m, struct sm *s, struct block *b);
    /* Returns the slots that the kernel's warps may take; 0: the part gives them (give_slots). */
    uint64_t (*slots)(const struct machine *m, uint32_t kernel);
    /* The part gives the warps their numbers, and their slots where `slots` says 0. */
    void (*give_slots)(struct machine *m, struct sm *s, struct block *b, int restores);
    /* The block is there. saved: what it brings along; NULL: it is new. */
    void (*block_came)(struct machine *m, struct sm *s, struct block *b, const preempted_block *saved);
    /* A warp has come with its block, and has its number. */
    void (*warp_came)(struct machine *m, struct sm *s, struct warp *w);
    /* A warp stands at its first instruction. */
    void (*warp_starts)(struct machine *m, struct sm *s, struct warp *w);
    /* A restored block has all of its context, and starts. */
    void (*block_is_restored)(struct machine *m, struct sm *s, struct block *b);

    /* ---- 5. Blocks stop and leave (preemption/requests.c, preemption/block_life.c) ---- */
    /* A policy is about to look at the SM's blocks. */
    void (*blocks_are_weighed)(struct machine *m, struct sm *s);
    /* Sets what the block would save and lose by going back. */
    void (*price_rewind)(struct machine *m, const struct block *b, gpump_cost_rewind *rewind);
    /* These blocks have been chosen to leave. */
    void (*blocks_are_chosen)(struct machine *m, struct sm *s, const gpump_block_choice *choices, uint32_t count);
    /* They are told to leave, for that kernel number; 0: for nobody. */
    void (*blocks_are_told)(struct machine *m, struct sm *s, const gpump_block_choice *choices, uint32_t count,
                            uint32_t for_kernel);
    /* The block's phase is now this timeline_phase. */
    void (*block_phase)(const struct machine *m, const struct block *b, uint32_t phase);
    /* The block stops. Called in every cycle until nothing holds it up. */
    void (*block_stops)(struct machine *m, struct sm *s, struct block *b);
    /* The same for a block whose warps go back instead. */
    void (*block_rewinds)(struct machine *m, struct sm *s, struct block *b);
    /* Returns 0 while some of the block is being moved. */
    int (*holds_still)(struct machine *m, struct sm *s, struct block *b);
    /* Returns what the block waits for beyond `waits`, as GPUMP_SM_WAIT_ bits. */
    uint32_t (*block_waits)(const struct machine *m, const struct sm *s, const struct block *b, uint32_t waits);
    /* The block leaves; all of it is there yet. */
    void (*block_leaves)(struct machine *m, struct sm *s, struct block *b, const gpump_sm_action *action);
    /* The block has left, and waits as preempted block `entry`; NONE: it has ended or was killed. */
    void (*block_left)(struct machine *m, struct sm *s, struct block *b, const gpump_sm_action *action, uint32_t entry);
    /* A warp leaves with its block. */
    void (*warp_leaves)(struct machine *m, struct sm *s, struct warp *w);
    /* sm.kernel_resident of the kernel has changed. */
    void (*blocks_changed)(struct machine *m, struct sm *s, uint32_t kernel);
    /* A preempted block has ended with its process. */
    void (*preempted_dropped)(struct machine *m, const preempted_block *entry);

    /* ---- 6. Contexts (preemption/context_bytes.c) ---- */
    /* Returns the most bytes that the part's sections add to the context of a block. */
    uint64_t (*context_bytes)(const struct machine *m, const kernel *k);
    /* Writes the part's sections of a warp. */
    void (*put_sections)(struct machine *m, const struct warp *w, gpump_context_writer *writer);
    /* Reads them. */
    void (*get_sections)(struct machine *m, struct warp *w, gpump_context_reader *reader);
    /* Adds the registers that a warp needs beyond those that are live where it stands. */
    void (*needs_registers)(const struct machine *m, const struct warp *w, uint64_t *live);
    /* Returns where the registers of a switched-out warp lie packed, and their bytes; NULL: they do not. */
    const uint8_t *(*warp_frame)(struct machine *m, const struct warp *w, uint64_t *bytes);
    /* A context has such packed registers. Returns 1 when the part has unpacked them. */
    int (*takes_frame)(struct machine *m, const struct block *b, const struct warp *w, const uint8_t *frame,
                       uint64_t bytes);
    /* Returns where the shared memory of a block lies; NULL: no word. */
    uint8_t *(*shared_memory)(struct machine *m, const struct block *b);

    /* ---- 7. The machine is laid out (launch to machine/machine.c; few parts need these) ---- */
    /* Returns the alignment of buffers in bytes; 1: no word. */
    uint64_t (*alignment)(const machine_options *options);
    /* Takes device memory from an address on. Returns where it ends. */
    uint64_t (*lay_out)(struct machine *m, uint64_t address, uint64_t alignment);
    /* Says what the instructions of a kernel wait for; again, when a trace has brought more of them. Returns -1 when
     * memory is out. */
    int (*prepare)(struct machine *m, uint32_t kernel, const kernel_program *program, issue_info *info);

    /* ---- 8. An SM's cycle (machine/sm_cycle.c; with PART_ON_PATH, and in the general form alone, as 9 to 11) ---- */
    /* Before anything takes effect. */
    void (*cycle_begins)(struct machine *m, struct sm *s);
    /* After the load-store unit. */
    void (*before_issue)(struct machine *m, struct sm *s);
    /* After issue. Returns the next cycle in which the part has something to do; NEVER. */
    uint64_t (*cycle_ends)(struct machine *m, struct sm *s);
    /* Returns likewise, asked when the SM may sleep. */
    uint64_t (*next_of_sm)(const struct machine *m, const struct sm *s);

    /* ---- 9. Fetch and issue (sm/pipeline.c) ---- */
    /* Returns 1 when nothing more is fetched for the warp for now. */
    int (*fetch_stops)(struct machine *m, struct sm *s, struct warp *w);
    /* The warp's fetch is held. Called in every cycle. */
    void (*fetch_waits)(struct machine *m, struct sm *s, struct warp *w);
    /* The warp has fetched the instruction at pc. */
    void (*fetched)(struct machine *m, struct sm *s, struct warp *w, uint32_t pc, uint64_t sequence);
    /* What the warp has fetched and not issued vanishes. */
    void (*forgets_fetched)(struct machine *m, struct sm *s, struct warp *w);
    /* Returns which of these slots may issue, as far as the part goes. */
    uint64_t (*may_issue)(struct machine *m, struct sm *s, uint64_t ready);
    /* Returns which of these slots wait for room that comes with an event of its own. */
    uint64_t (*full)(const struct machine *m, const struct sm *s, uint64_t ready);
    /* An instruction issues; the PC still stands at it. */
    void (*issues)(struct machine *m, struct sm *s, struct warp *w, struct in_flight *r);
    /* The PC has moved on. */
    void (*issued)(struct machine *m, struct sm *s, struct warp *w, const struct in_flight *r);
    /* An instruction takes its unit, for the first time or again. */
    void (*starts)(struct machine *m, struct sm *s, struct in_flight *r);
    /* Something is over that instructions of the warp may have waited for. */
    void (*waits_change)(struct machine *m, struct sm *s, struct warp *w);
    /* An instruction has released its sources. */
    void (*sources_released)(struct machine *m, struct sm *s, struct warp *w, const struct in_flight *r);
    /* An instruction has released its destinations. */
    void (*destinations_released)(struct machine *m, struct sm *s, struct warp *w, const struct in_flight *r);

    /* ---- 10. Operands, results, ends (sm/pipeline.c) ---- */
    /* An instruction has its operands. sources: those of arithmetic, whose results are there; else NULL. */
    void (*operands_read)(struct machine *m, struct sm *s, struct in_flight *r, const lanes_operand *const *sources);
    /* Returns 1 when the sources are released once they are read: with RELEASE_WHEN_ALLOWED. */
    int (*releases_sources)(const struct machine *m, const struct sm *s, const struct in_flight *r);
    /* Returns 1 when it is due to the part that an instruction makes no sense. */
    int (*excuses)(const struct machine *m, const struct in_flight *r);
    /* An instruction has taken effect, and gives up its places next. */
    void (*retires)(struct machine *m, struct sm *s, const struct in_flight *r);
    /* Its record is free, and still says what it did. */
    void (*retired)(struct machine *m, struct sm *s, const struct in_flight *r);
    /* The same for every record, squashed ones included. */
    void (*record_is_free)(const struct machine *m, struct sm *s, const struct in_flight *r);
    /* An instruction leaves the pipeline before its effect. */
    void (*withdrawn)(struct machine *m, struct sm *s, uint32_t record);
    /* All that the warp has in flight vanishes. */
    void (*warp_squashed)(struct machine *m, struct sm *s, struct warp *w);
    /* A barrier opens for this warp. *once: 0 at the barrier's first warp. */
    void (*barrier_opens)(struct machine *m, struct sm *s, struct warp *w, uint64_t *once);
    /* The warp stands behind a boundary of regions. */
    void (*boundary)(struct machine *m, struct sm *s, struct warp *w, int is_short);
    /* The warp has gone back to the start of its region, and stands there (sm/restart.h). */
    void (*warp_goes_back)(struct machine *m, struct sm *s, struct warp *w, uint32_t region);
    /* Returns where the registers of a switched-out warp may be written; NULL: they are in their place. */
    uint32_t *(*opens_registers)(struct machine *m, struct sm *s, struct warp *w);
    /* They have been written. */
    void (*closes_registers)(struct machine *m, struct sm *s, struct warp *w);

    /* ---- 11. Memory accesses (sm/memory_access.c, sm/memory_path.c) ---- */
    /* Returns 1 when the instruction waits with the part before the load-store unit. */
    int (*keeps_access)(struct machine *m, struct sm *s, uint32_t record);
    /* The segments of an access are known. */
    void (*coalesced)(struct machine *m, struct sm *s, struct in_flight *r);
    /* A store is about to overwrite shared memory. */
    void (*shared_stores)(struct machine *m, struct sm *s, const struct in_flight *r);
    /* An access's segments wait for translation. */
    void (*enters_checks)(struct machine *m, struct sm *s, struct in_flight *r);
    /* Makes one cycle of look-ups. Returns the record that has taken effect; NONE; NOT_LOOKED_UP. */
    uint32_t (*look_up)(struct machine *m, struct sm *s);
    /* A record in the load-store unit is squashed. Returns 1 when it has left at once. */
    int (*leaves_unit)(struct machine *m, struct sm *s, uint32_t record);
    /* Returns 1 when the segment goes another way than through L1. */
    int (*takes_segment)(struct machine *m, struct sm *s, uint32_t record, uint64_t segment, int replies);
    /* L1 does not take the next access yet. */
    void (*access_waits)(struct machine *m, struct sm *s);
    /* L1 has taken a segment. */
    void (*accesses)(struct machine *m, struct sm *s, const struct in_flight *r);
    /* All of a load has gone through L1. */
    void (*load_leaves)(struct machine *m, struct sm *s, struct in_flight *r);
    /* A load has committed. how: RECORD_MISSED, RECORD_COUNTED or another. */
    void (*load_commits)(struct machine *m, struct sm *s, struct warp *w, uint32_t how);
    /* Some miss wants to leave. */
    void (*asks_to_send)(struct machine *m, struct sm *s);
    /* Returns 1 when a miss of this kernel number may leave. */
    int (*may_send)(const struct machine *m, const struct sm *s, uint32_t kernel);
    /* A miss has left. */
    void (*sends)(struct machine *m, struct sm *s, uint32_t kernel);

    /* ---- 12. Absent pages (in every form) ---- */
    /* A page check has found its page absent. Returns 1 when the part remembers it. */
    int (*check_fails)(struct machine *m, struct sm *s, const struct in_flight *r, uint64_t segment);
    /* A warp calls the fault handler. Returns when it goes on; NEVER: when the part says so; 0: no word. */
    uint64_t (*handler_is_called)(struct machine *m, struct sm *s, struct warp *w);
    /* A look-up or a fetch has found no page. Returns when it may be tried again, likewise. */
    uint64_t (*page_is_wanted)(struct machine *m, struct sm *s, struct warp *w, const gpump_fault_access *access);
    /* Such a fetch waits. Returns likewise. */
    uint64_t (*fetch_waits_for)(struct machine *m, struct sm *s, struct warp *w);
    /* Returns the cycle from which the warp goes on. */
    uint64_t (*pages_cycle)(const struct machine *m, const struct warp *w, uint64_t cycle);
    /* Returns the same for a restored warp that has faulted. */
    uint64_t (*restored_cycle)(struct machine *m, struct warp *w);
    /* Some pages have arrived. */
    void (*pages_came)(struct machine *m);
    /* Some pages are evicted. */
    void (*pages_leave)(struct machine *m, uint64_t page, uint64_t count);
    /* The last page that the warp waits for has arrived. */
    void (*warp_goes_on)(struct machine *m, struct sm *s, struct warp *w);
    /* Returns 0 when the warp must wait for its place, too. */
    int (*may_go_on)(const struct machine *m, struct sm *s, struct warp *w);
    /* A switched-out warp has its slot again. */
    void (*warp_is_back)(struct machine *m, struct sm *s, struct warp *w);
    /* The one instruction of its warp that was translated has passed. */
    void (*passes_checks)(struct machine *m, const struct in_flight *r);
    /* The warp calls the handler, and waits for it. */
    void (*warp_calls)(struct machine *m, struct sm *s, struct warp *w);
    /* A block waits for other pages than before. */
    void (*pages_pending)(struct machine *m, uint64_t cookie);
    /* Returns the pages that a block waits for, and sets *ready to when the last one arrives. */
    uint32_t (*pages_of_block)(const struct machine *m, uint64_t cookie, uint64_t *ready);
    /* Warps of the SM wait for pages. Called in every such cycle. */
    void (*pages_are_awaited)(struct machine *m, struct sm *s);
    /* Returns 1 when the warp issues nothing until pages of other warps have arrived. */
    int (*waits_for_pages)(const struct machine *m, const struct sm *s, const struct warp *w);
    /* Returns the warp's gpump_replay_state. */
    uint32_t (*replay_state)(const struct machine *m, const struct sm *s, const struct warp *w);

    /* ---- 13. Issue out of order, and again (between the part with PART_ISSUES and the part that makes instructions
     * issue again) ---- */
    /* Issues. Returns the next cycle in which the part has something to do; NEVER. */
    uint64_t (*issue_cycle)(struct machine *m, struct sm *s);
    /* Returns 1 when this instruction may issue. handle: of one that issues again; NONE. */
    int (*may_issue_one)(struct machine *m, struct sm *s, const struct warp *w, const issue_info *info,
                         uint32_t handle);
    /* Returns how many instructions of the warp are fetched and have not issued. */
    uint32_t (*unissued)(const struct machine *m, const struct sm *s, const struct warp *w);
    /* They leave. Returns how many issue again, with sequence, lanes and PC of each; the others are fetched again,
     * or wait in the replay queue. */
    uint32_t (*take_unissued)(struct machine *m, struct sm *s, struct warp *w, gpump_replay_entry *entries);
    /* They do not issue any more. */
    void (*hold_unissued)(struct machine *m, struct sm *s, struct warp *w);
    /* Returns 1 when the warp's PC is past an instruction that waits to issue. */
    uint32_t (*fetched_ahead)(const struct machine *m, const struct sm *s, const struct warp *w);
    /* Takes an instruction that is to issue again. may_go: 1: it could issue at once. */
    replay_result (*takes_replay)(struct machine *m, struct sm *s, struct warp *w, uint32_t handle,
                                  const gpump_replay_entry *what, int may_go);
    /* The instruction issues again. Returns its record. */
    uint32_t (*issues_again)(struct machine *m, struct sm *s, struct warp *w, uint32_t handle);
    /* Returns the slots of warps that have more to issue again. */
    uint64_t (*replaying)(const struct machine *m, const struct sm *s);

    /* ---- 14. Asked by other parts, through the machine ---- */
    /* Returns the blocks of the kernel on an SM that kernels share; 0: no word. */
    uint32_t (*blocks_beside)(const struct machine *m, uint32_t kernel);
    /* Returns the blocks of the kernel that run on an SM at a time, where more come in turn; NONE: no word. */
    uint32_t (*native_blocks)(const struct machine *m, uint32_t kernel);
    /* Returns the most warps of an SM, beyond its slots; 0: no word. */
    uint32_t (*most_warps)(const struct machine *m);
    /* Returns 1 when the warp has an error in flight that is still to be detected. */
    int (*has_struck)(const struct machine *m, const struct sm *s, const struct warp *w);
    /* Returns 1 when the kernel is of the group of kernels that share SMs. */
    int (*is_grouped)(const struct machine *m, uint32_t kernel);
    /* Returns 1 when the kernel with that number has asked for room. */
    int (*room_wanted)(const struct machine *m, uint32_t for_kernel, room_request *request);
    /* Returns 1, and what was estimated for a block that leaves for that kernel. */
    int (*room_estimate)(const struct machine *m, uint32_t for_kernel, const struct block *b, uint64_t *cycles,
                         uint64_t *overhead);
    /* Returns 1 when all blocks of the SM have to leave. */
    int (*vacates)(const struct machine *m, const struct sm *s);
    /* Returns the kernel number that gets the SM; NONE: no word. */
    uint32_t (*vacated_for)(const struct machine *m, const struct sm *s);
    /* Returns the blocks that the part would give the SM beyond those that it has; NEVER: no word. */
    uint64_t (*more_blocks)(const struct machine *m, const struct sm *s);
    /* Places one of them. Returns 1, or 0; -1: no word. */
    int (*place_more)(struct machine *m, struct sm *s);
    /* A block that had left the SM on a fault, and belongs to it (preempted_block.fault_sm), is back. */
    void (*off_chip_came_back)(struct machine *m, struct sm *s, uint32_t entry);
    /* The SM becomes kernel `to`'s. Returns such a block of another kernel, which waits with the others from now on;
     * NONE: there are no more. */
    uint32_t (*give_up_off_chip)(struct machine *m, struct sm *s, uint32_t to);

    /* ---- 15. For a dump and for deadlocks (machine/machine.c) ---- */
    /* Returns 1 when the warp's next instruction waits for room in the operand log. */
    int (*waits_for_log)(const struct machine *m, const struct warp *w);
    /* Returns what of the part the warp waits for; YES: nothing. */
    gpump_reason (*warp_waits_for)(const struct machine *m, const struct sm *s, const struct warp *w);
} part;

/* The numbers of the parts: places for their state in machine.of_part and sm.of_part. */
enum {
#define PART(name) PART_##name,
#include "parts/parts.def"
#undef PART
    PARTS
};

/* Lets all parts configure the machine, and make what is theirs. Returns 0, or -1 with the reason in error. */
int parts_configure(struct machine *m, const launch_file *launch, const machine_options *options,
                    char error[LAUNCH_ERROR_BYTES]);
int parts_make(struct machine *m, const launch_file *launch, const machine_options *options,
               char error[LAUNCH_ERROR_BYTES]);
/* Returns the part of that place in parts/parts.def; NULL past the last. */
const part *parts_at(uint32_t index);
/* Finds which parts a machine has: machine.parts. */
void parts_find(struct machine *m);

/* Tells all parts that are present: PARTS_TELL(m, block_came, (m, s, b, saved)). */
#define PARTS_TELL(m, hook, arguments)                    \
    do {                                                  \
        const part *const *part_;                         \
        for (part_ = (m)->parts; *part_; part_++)         \
            if ((*part_)->hook) (*part_)->hook arguments; \
    } while (0)
/* Asks them until one gives another answer than `default_answer`; `answer` becomes that, or default_answer. */
#define PARTS_ASK(m, answer, default_answer, hook, arguments)                     \
    do {                                                                          \
        const part *const *part_;                                                 \
        (answer) = (default_answer);                                              \
        for (part_ = (m)->parts; *part_ && (answer) == (default_answer); part_++) \
            if ((*part_)->hook) (answer) = (*part_)->hook arguments;              \
    } while (0)

/* The same on the way of an instruction: nothing in the plain form, and only the parts with PART_ON_PATH. */
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
/* Has the machine a part of which this is true? Not in the plain form. */
#define PATH_HAS(m, trait) (!IS_PLAIN && ((m)->traits & (trait)))

#endif
