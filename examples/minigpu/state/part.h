/* part: a capability that a machine may have or not: an observer, a scheduler of SMs, faults, warps beyond an SM's
 * room.
 *
 * A part is a folder parts/NAME with one table of hooks, NAME_part, and one line in parts/parts.def. The machine knows
 * parts by their tables alone: it tells the parts that are present what happens (a block has come, a kernel has ended),
 * asks them (may this block start here), and gives each its turn. Parts do not know each other. A machine without parts
 * has an empty list, so what it costs is one test of a pointer per event.
 *
 * Every hook may be NULL: then the part has nothing to say. Hooks are called in the order of parts/parts.def. */
#ifndef MINIGPU_PART_H
#define MINIGPU_PART_H

#include <stdio.h>

#include "gpump.h"
#include "base/arena.h"
#include "lanes/form.h"
#include "state/kernel.h"

struct json_t;     /* jansson.h */
struct option_row; /* options.h */
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
    uint32_t traits;
    const struct option_row *options; /* of `minigpu run`; NULL: none */
    size_t options_at;                /* where the struct that they fill lies in machine_options */
    /* Its options: says what the machine is to be before anything of it is built, and makes room for its state. Returns
     * 0, or -1 with the reason in error. */
    int (*configure)(struct machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]);
    /* The machine is built, and the part makes what it has per SM and per warp. Returns likewise. */
    int (*make)(struct machine *m, const launch_file *launch, const machine_options *options,
                char error[LAUNCH_ERROR_BYTES]);
    uint64_t (*alignment)(const machine_options *options);                        /* of buffers, in bytes; 1: no word */
    uint64_t (*lay_out)(struct machine *m, uint64_t address, uint64_t alignment); /* takes device memory from an address
                                                                                     on. Returns where that ends */
    /* Does this machine have it? Asked when it is configured, when it is built, and when an observer comes or goes. */
    int (*is_present)(const struct machine *m);
    /* Frees what lies outside the arena. */
    void (*close)(struct machine *m);

    /* ---- the machine's cycle (machine/machine.c) ---- */
    uint64_t (*next)(const struct machine *m);     /* the cycle of its next turn; NEVER */
    void (*turn)(struct machine *m);               /* it is due, at the start of the machine's cycle. With `next` NULL:
                                                      every cycle that the machine visits */
    void (*kernels_have_come)(struct machine *m);  /* the same turn, behind the kernels that arrive in this cycle */
    uint64_t (*before_placing)(struct machine *m); /* the dispatcher is about to place blocks. Returns when it wants
                                                      to be asked again; NEVER */
    uint64_t (*after_cycle)(struct machine *m);    /* all SMs have had their cycle. Returns like before_placing */
    int (*is_awaited)(const struct machine *m);    /* 1: something that warps wait for comes by itself */

    /* ---- kernels (machine/dispatcher.c) ---- */
    void (*before_arrivals)(struct machine *m); /* the dispatcher is about to look which kernels have ended and come */
    void (*kernel_starts)(struct machine *m, uint32_t kernel);    /* its blocks may be placed from now on */
    int (*makes_room)(struct machine *m, uint32_t kernel);        /* who leaves for it? 1: the part sees to that */
    void (*kernel_ends)(struct machine *m, uint32_t kernel);      /* all its blocks are done */
    void (*kernel_ended)(struct machine *m, uint32_t kernel);     /* the same, and whether it runs again is known */
    void (*process_aborted)(struct machine *m, uint32_t process); /* its blocks leave next */

    /* ---- may this block go there? (machine/dispatcher.c) ---- */
    int (*owns_sms)(const struct machine *m);   /* 1: the part decides which kernel has which SM, nobody else */
    int (*places_all)(const struct machine *m); /* 1: the part places all blocks, the dispatcher none */
    int (*may_place)(const struct machine *m, const struct sm *s, uint32_t kernel, int own); /* own: parked there */
    int (*may_start)(const struct machine *m, const struct sm *s); /* a block that has not run yet */
    int (*keeps_reserved)(const struct machine *m,
                          const kernel *k); /* an SM that is reserved for it: 1, 0; -1: no word */

    /* ---- blocks (preemption/) ---- */
    void (*blocks_change)(struct machine *m); /* some block is about to come, to stop or to leave */
    gpump_reason (*room)(struct machine *m, struct sm *s, uint32_t kernel,
                         int restores); /* for one more? YES, or why not */
    /* gpump_part bits of the kernel's blocks that the part places itself, in machine.placed; 0: the SM places all. */
    uint32_t (*places)(const struct machine *m, uint32_t kernel);
    uint32_t (*most_blocks)(const struct machine *m, uint32_t kernel);     /* on an SM; NONE: no word */
    void (*sm_is_reserved)(struct machine *m, struct sm *s);               /* for the kernel in sm.reserved_for */
    void (*sm_is_taken)(struct machine *m, struct sm *s, uint32_t kernel); /* the first block comes to an empty SM */
    void (*block_is_placed)(struct machine *m, struct sm *s, struct block *b); /* its ranges may still be changed */
    uint64_t (*slots)(const struct machine *m, uint32_t kernel); /* that its warps may take; 0: the part gives them */
    void (*give_slots)(struct machine *m, struct sm *s, struct block *b, int restores); /* then it does so */
    void (*block_came)(struct machine *m, struct sm *s, struct block *b, const preempted_block *saved);
    void (*block_phase)(const struct machine *m, const struct block *b, uint32_t phase); /* a timeline_phase */
    void (*blocks_are_chosen)(struct machine *m, struct sm *s, const gpump_block_choice *choices, uint32_t count);
    void (*blocks_are_told)(struct machine *m, struct sm *s, const gpump_block_choice *choices, uint32_t count,
                            uint32_t for_kernel); /* to leave for that kernel number; 0: nobody */
    void (*block_stops)(struct machine *m, struct sm *s, struct block *b);   /* every cycle until nothing holds it up */
    void (*block_rewinds)(struct machine *m, struct sm *s, struct block *b); /* likewise: its warps go back instead */
    int (*holds_still)(struct machine *m, struct sm *s, struct block *b);    /* 0: some of it is on its way */
    uint32_t (*block_waits)(const struct machine *m, const struct sm *s, const struct block *b,
                            uint32_t waits); /* what it waits for beyond `waits`: GPUMP_SM_WAIT_... */
    void (*block_is_restored)(struct machine *m, struct sm *s, struct block *b); /* it is there, and starts */
    void (*block_leaves)(struct machine *m, struct sm *s, struct block *b,
                         const gpump_sm_action *action); /* all of it
                                                        is there yet */
    void (*block_left)(struct machine *m, struct sm *s, struct block *b, const gpump_sm_action *action,
                       uint32_t entry); /* and waits as preempted block `entry`; NONE: it has ended or was killed */
    void (*warp_came)(struct machine *m, struct sm *s, struct warp *w);   /* with its block; it has its slot */
    void (*warp_starts)(struct machine *m, struct sm *s, struct warp *w); /* at the first instruction */
    void (*warp_leaves)(struct machine *m, struct sm *s, struct warp *w);
    void (*blocks_changed)(struct machine *m, struct sm *s, uint32_t kernel); /* sm.kernel_resident of the kernel has */
    void (*preempted_dropped)(struct machine *m, const preempted_block *entry);  /* with its process */
    void (*off_chip_came_back)(struct machine *m, struct sm *s, uint32_t entry); /* a block that had left the SM on a
                                                                                    fault and belongs to it
                                                                                    (preempted_block.fault_sm) */
    void (*blocks_are_weighed)(struct machine *m, struct sm *s); /* a policy is about to look at the SM's blocks */
    void (*price_rewind)(struct machine *m, const struct block *b,
                         gpump_cost_rewind *rewind); /* what it would save and lose by going back */

    /* ---- kernels are read ---- */
    int (*prepare)(struct machine *m, uint32_t kernel, const kernel_program *program,
                   issue_info *info); /* says what instructions wait for; -1: no memory */

    /* ---- the way of an instruction (sm/), in this order: with PART_ON_PATH, and in the general form alone ---- */
    void (*cycle_begins)(struct machine *m, struct sm *s);   /* of an SM, before anything takes effect */
    uint64_t (*cycle_ends)(struct machine *m, struct sm *s); /* behind issue. Returns the next cycle in which the
                                                                SM has something to do for it; NEVER */
    uint64_t (*next_of_sm)(const struct machine *m, const struct sm *s);    /* likewise, asked when the SM may sleep */
    uint64_t (*may_issue)(struct machine *m, struct sm *s, uint64_t ready); /* which of these slots may, as far as the
                                                                               part goes */
    int (*may_issue_one)(struct machine *m, struct sm *s, const struct warp *w, const issue_info *info,
                         uint32_t handle); /* asked by a part that issues; handle: of one that issues again; NONE */
    uint64_t (*issue_cycle)(struct machine *m, struct sm *s); /* with PART_ISSUES. Returns the next cycle in which it
                                                                 has something to do; NEVER */
    void (*waits_change)(struct machine *m, struct sm *s, struct warp *w); /* something of the warp is over that its
                                                                              instructions may have waited for */
    void (*sources_released)(struct machine *m, struct sm *s, struct warp *w, const struct in_flight *r);
    void (*destinations_released)(struct machine *m, struct sm *s, struct warp *w, const struct in_flight *r);
    void (*forgets_fetched)(struct machine *m, struct sm *s, struct warp *w); /* what has not issued vanishes */
    void (*fetched)(struct machine *m, struct sm *s, struct warp *w, uint32_t pc, uint64_t sequence);
    void (*withdrawn)(struct machine *m, struct sm *s, uint32_t record);  /* it leaves the pipeline before its effect */
    void (*starts)(struct machine *m, struct sm *s, struct in_flight *r); /* an instruction takes its unit, for the
                                                                             first time or again */
    void (*issued)(struct machine *m, struct sm *s, struct warp *w,
                   const struct in_flight *r); /* the PC has moved on */
    void (*operands_read)(struct machine *m, struct sm *s, struct in_flight *r,
                          const lanes_operand *const *sources); /* sources: of arithmetic, whose results are there */
    int (*keeps_access)(struct machine *m, struct sm *s, uint32_t record);   /* 1: the memory instruction waits with the
                                                                                part before the load-store unit */
    void (*coalesced)(struct machine *m, struct sm *s, struct in_flight *r); /* its segments are known */
    void (*shared_stores)(struct machine *m, struct sm *s, const struct in_flight *r); /* it is about to overwrite
                                                                                          shared memory */
    void (*access_waits)(struct machine *m, struct sm *s); /* L1 does not take the next one yet */
    void (*accesses)(struct machine *m, struct sm *s, const struct in_flight *r);  /* L1 has taken a segment */
    int (*may_send)(const struct machine *m, const struct sm *s, uint32_t kernel); /* a miss of this kernel number */
    void (*asks_to_send)(struct machine *m, struct sm *s);                         /* some miss wants to leave */
    void (*sends)(struct machine *m, struct sm *s, uint32_t kernel);               /* a miss has left */
    int (*excuses)(const struct machine *m, const struct in_flight *r); /* 1: that an instruction makes no sense is due
                                                                           to the part */
    int (*has_struck)(const struct machine *m, const struct sm *s,
                      const struct warp *w); /* 1: the warp has an error in flight that is still to be detected */
    void (*enters_checks)(struct machine *m, struct sm *s, struct in_flight *r); /* its segments wait for translation */
    uint32_t (*look_up)(struct machine *m, struct sm *s);  /* one cycle of it. Returns the record that has taken effect;
                                                              NONE; NOT_LOOKED_UP: the check queue does it */
    void (*before_issue)(struct machine *m, struct sm *s); /* behind the load-store unit in an SM's cycle */
    uint64_t (*full)(const struct machine *m, const struct sm *s, uint64_t ready); /* which of these slots wait for room
                                                                         that comes with an event of its own */
    void (*issues)(struct machine *m, struct sm *s, struct warp *w,
                   struct in_flight *r); /* the PC stands at it still */
    int (*releases_sources)(const struct machine *m, const struct sm *s, const struct in_flight *r); /* once read: with
                                                                          RELEASE_WHEN_ALLOWED */
    int (*leaves_unit)(struct machine *m, struct sm *s, uint32_t record); /* a record in the load-store unit is
                                                                             squashed: 1: it has left at once */
    int (*takes_segment)(struct machine *m, struct sm *s, uint32_t record, uint64_t segment,
                         int replies); /* 1: the segment goes another way than through L1 */
    int (*fetch_stops)(struct machine *m, struct sm *s, struct warp *w);  /* 1: nothing behind is fetched for now */
    void (*fetch_waits)(struct machine *m, struct sm *s, struct warp *w); /* asked each cycle while its fetch is held */
    void (*retires)(struct machine *m, struct sm *s, const struct in_flight *r);   /* it has taken effect, and gives its
                                                                                      places up next */
    void (*retired)(struct machine *m, struct sm *s, const struct in_flight *r);   /* its record is free, and still says
                                                                                      what it did */
    uint32_t *(*opens_registers)(struct machine *m, struct sm *s, struct warp *w); /* of a warp that is switched out, to
                                                                         be written to; NULL: they are in their place */
    void (*closes_registers)(struct machine *m, struct sm *s, struct warp *w);     /* they have been written */
    void (*load_leaves)(struct machine *m, struct sm *s, struct in_flight *r);     /* all of it has gone through L1 */
    void (*load_commits)(struct machine *m, struct sm *s, struct warp *w, uint32_t how); /* how: RECORD_MISSED, ... */
    void (*record_is_free)(const struct machine *m, struct sm *s, const struct in_flight *r);
    void (*barrier_opens)(struct machine *m, struct sm *s, struct warp *w, uint64_t *once); /* for this warp; *once: 0
                                                                                               at its first one */
    void (*warp_squashed)(struct machine *m, struct sm *s, struct warp *w); /* all that it has in flight vanishes */
    void (*boundary)(struct machine *m, struct sm *s, struct warp *w, int is_short); /* it stands behind one */
    void (*warp_goes_back)(struct machine *m, struct sm *s, struct warp *w,
                           uint32_t region); /* and stands there (sm/restart.h) */

    /* ---- absent pages: in every form ---- */
    int (*check_fails)(struct machine *m, struct sm *s, const struct in_flight *r,
                       uint64_t segment); /* a check has found its page absent. 1: the part remembers it */
    uint64_t (*handler_is_called)(struct machine *m, struct sm *s, struct warp *w); /* Returns when the warp goes on;
                                                                     NEVER: when the part says so; 0: no word */
    uint64_t (*page_is_wanted)(struct machine *m, struct sm *s, struct warp *w,
                               const gpump_fault_access *access); /* a look-up or a fetch has found no page. Returns
                                                 when it may be tried again; NEVER: when the part says so; 0: no word */
    uint64_t (*fetch_waits_for)(struct machine *m, struct sm *s, struct warp *w); /* such a fetch waits: likewise */
    uint64_t (*pages_cycle)(const struct machine *m, const struct warp *w, uint64_t cycle); /* from which it goes on */
    uint64_t (*restored_cycle)(struct machine *m, struct warp *w); /* likewise, of a restored warp that has faulted */
    void (*pages_came)(struct machine *m);                         /* some pages are there now */
    void (*pages_leave)(struct machine *m, uint64_t page, uint64_t count);
    void (*warp_goes_on)(struct machine *m, struct sm *s,
                         struct warp *w); /* the last page that it waits for is there */
    int (*may_go_on)(const struct machine *m, struct sm *s, struct warp *w); /* 0: later, when its place is there */
    void (*warp_is_back)(struct machine *m, struct sm *s, struct warp *w);   /* from where it was switched out */
    void (*passes_checks)(struct machine *m, const struct in_flight *r);     /* its warp's one that was translated */
    void (*warp_calls)(struct machine *m, struct sm *s, struct warp *w);     /* the handler, and waits for it */
    void (*pages_pending)(struct machine *m, uint64_t cookie); /* a block waits for other pages than before */
    uint32_t (*pages_of_block)(const struct machine *m, uint64_t cookie,
                               uint64_t *ready); /* that it waits for. Sets
                                                  *ready to when the last one is there */
    void (*pages_are_awaited)(struct machine *m,
                              struct sm *s); /* every cycle in which warps of the SM wait for pages */
    int (*waits_for_pages)(const struct machine *m, const struct sm *s,
                           const struct warp *w); /* 1: it issues nothing until pages of others have come */

    /* ---- contexts (preemption/context_bytes.c) ---- */
    uint64_t (*context_bytes)(const struct machine *m,
                              const kernel *k); /* that its sections add to a block's at most */
    void (*put_sections)(struct machine *m, const struct warp *w, gpump_context_writer *writer); /* of a warp */
    void (*get_sections)(struct machine *m, struct warp *w, gpump_context_reader *reader);
    const uint8_t *(*warp_frame)(struct machine *m, const struct warp *w, uint64_t *bytes); /* where the registers of a
                                                             warp that is switched out lie packed; NULL: they do not */
    int (*takes_frame)(struct machine *m, const struct block *b, const struct warp *w, const uint8_t *frame,
                       uint64_t bytes); /* such a frame comes back. 1: the part has unpacked it */
    uint8_t *(*shared_memory)(struct machine *m, const struct block *b); /* where that of a block lies; NULL: no word */
    void (*needs_registers)(const struct machine *m, const struct warp *w, uint64_t *live); /* adds those that a warp
                                                                         needs beyond the ones live where it stands */

    /* ---- asked by other parts, through the machine ---- */
    uint32_t (*blocks_beside)(const struct machine *m, uint32_t kernel); /* on an SM that kernels share; 0: no word */
    uint32_t (*native_blocks)(const struct machine *m, uint32_t kernel); /* on an SM that run at a time, where more
                                                                            come in turn; NONE: no word */
    int (*switched_warps)(const struct machine *m, uint64_t *in_slots, uint64_t *switched_out); /* 1: it counts them */
    uint64_t (*pages_awaited)(const struct machine *m);                /* reported, and not there yet */
    uint32_t (*most_warps)(const struct machine *m);                   /* of an SM, beyond its slots; 0: no word */
    int (*faults_in_flight)(const struct machine *m, uint64_t *count); /* 1: the part serves them */
    uint32_t (*replay_state)(const struct machine *m, const struct sm *s,
                             const struct warp *w); /* gpump_replay_state */
    uint32_t (*unissued)(const struct machine *m, const struct sm *s,
                         const struct warp *w); /* instructions of the warp that are fetched and have not issued */
    uint32_t (*take_unissued)(struct machine *m, struct sm *s, struct warp *w,
                              gpump_replay_entry *entries); /* they leave. Returns how many are to issue again: with
                                                               sequence, lanes and PC of each; the others are fetched
                                                               again, or wait in the replay queue */
    void (*hold_unissued)(struct machine *m, struct sm *s, struct warp *w); /* they do not issue any more */
    uint32_t (*fetched_ahead)(const struct machine *m, const struct sm *s,
                              const struct warp *w); /* 1: the warp's PC is behind an instruction that waits to issue */
    replay_result (*takes_replay)(struct machine *m, struct sm *s, struct warp *w, uint32_t handle,
                                  const gpump_replay_entry *what, int may_go); /* may_go: 1: it could issue at once */
    uint32_t (*issues_again)(struct machine *m, struct sm *s, struct warp *w, uint32_t handle); /* Returns its record */
    uint64_t (*replaying)(const struct machine *m, const struct sm *s); /* slots whose warps have more to issue again */
    int (*is_grouped)(const struct machine *m, uint32_t kernel); /* 1: it is of the group of kernels that share SMs */
    int (*room_wanted)(const struct machine *m, uint32_t for_kernel, room_request *request); /* 1: it has asked */
    int (*room_estimate)(const struct machine *m, uint32_t for_kernel, const struct block *b, uint64_t *cycles,
                         uint64_t *overhead); /* 1: what was estimated for a block that leaves for it */
    uint32_t (*give_up_off_chip)(struct machine *m, struct sm *s, uint32_t to); /* the SM becomes kernel `to`'s: such a
                                                                                   block of another kernel waits with
                                                                                   the others from now on. Its entry;
                                                                                   NONE: there are no more */
    int (*vacates)(const struct machine *m, const struct sm *s);          /* 1: all blocks of the SM have to leave */
    uint64_t (*more_blocks)(const struct machine *m, const struct sm *s); /* that it would give the SM beyond those that
                                                                             it has; NEVER: no word */
    int (*place_more)(struct machine *m, struct sm *s);                   /* places one of them: 1, or 0; -1: no word */
    uint32_t (*vacated_for)(const struct machine *m,
                            const struct sm *s); /* the kernel number that gets it; NONE: no word */

    /* ---- the report of a run ---- */
    void (*report)(const struct machine *m, FILE *file);                  /* its lines of text */
    void (*report_json)(const struct machine *m, struct json_t *members); /* its members */

    /* ---- the state ---- */
    int (*waits_for_log)(const struct machine *m, const struct warp *w); /* its next instruction, for room there */
    gpump_reason (*warp_waits_for)(const struct machine *m, const struct sm *s,
                                   const struct warp *w); /* for a dump: YES: for nothing of the part */
    uint64_t (*hash)(const struct machine *m, uint64_t hash);
    uint64_t (*hash_sm)(const struct machine *m, const struct sm *s, uint64_t hash);
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
