/* victim: which blocks of which SM leave, each by which technique (calculation; Shieh chapter 3, Chimera, Tanasic
 * 7.2.1)
 *
 * The input is views, the output is a decision. An incoming kernel has predetermined positions on each SM (Shieh 3.2,
 * Fig 3.7). The blocks that lie on a position are its candidate victim set (3.3.1). A policy prices every block by
 * every technique that the block may leave by. The policy then picks candidates until the request is met (Algorithm 1).
 * No state is kept between calls, and no memory is allocated. */
#ifndef GPUMP_VICTIM_H
#define GPUMP_VICTIM_H

#include "base/component.h"
#include "gpu/gpu.h"
#include "gpu/block.h"
#include "victim/cost.h"

GPUMP_BEGIN

#define GPUMP_VICTIM_BLOCKS 64    /* resident blocks of an SM at most: sets are 64-bit masks over the view's indices */
#define GPUMP_VICTIM_POSITIONS 64 /* positions of an SM at most */
#define GPUMP_VICTIM_NO_TECHNIQUE 255u

/* The positions of an incoming kernel on an SM. Position p: registers p * registers up, shared memory p * shared_bytes
 * up, and one block slot, `warps` warp slots and `threads` threads wherever they are free.
 *
 * `positions` counts addresses: how many blocks the register file and the shared memory have room for, one after the
 * other. `blocks` counts blocks that fit on an empty SM, where warp slots, threads and block slots are limits too
 * (gpump_occupancy.blocks). `blocks` is at most `positions`, and any `blocks` of the positions can be held at once. A
 * kernel of 256 threads, 16 registers per thread and no shared memory has 8 positions in 32,768 registers, but 6 blocks
 * where the SM has 1,536 threads. */
typedef struct gpump_victim_geometry {
    uint64_t register_factor; /* ceil(2^40 / registers), 0 without registers: divisions by multiplication */
    uint64_t shared_factor;
    uint32_t positions; /* addresses for a block; 1 to GPUMP_VICTIM_POSITIONS */
    uint32_t registers; /* of a position: the block's, rounded to the granule */
    uint32_t shared_bytes;
    uint32_t warps;
    uint32_t threads;
    uint32_t blocks;     /* blocks that fit on an empty SM; at most so many positions are taken at once */
    uint32_t warp_slots; /* of the SM */
    uint32_t thread_slots;
    uint32_t block_slots;
    uint32_t unused;
    uint32_t register_file;       /* of the SM, 32-bit registers */
    uint32_t shared_memory_bytes; /* of the SM */
    uint32_t entries;             /* blocks that the SM can name, parked ones included (gpump_sm_config.entries) */
} gpump_victim_geometry;

/* One SM as a decision sees it. */
typedef struct gpump_victim_sm {
    const gpump_block_view *blocks; /* every block that holds room there, those of the incoming kernel included */
    /* Parallel to blocks: from gpump_cost_estimate_blocks, or true costs. */
    const gpump_cost_estimate *estimates;
    uint64_t reserved; /* positions already promised to the incoming kernel and not yet filled */
    uint32_t count;    /* 0 to GPUMP_VICTIM_BLOCKS */
    uint32_t sm;       /* its number, copied to the decision */
} gpump_victim_sm;

/* Bits of gpump_victim_request.flags. */
/* Several saves of one SM go on at the same time, each as fast as if it were alone (the published estimate). Without
 * this bit they share the SM's memory port and follow each other, as they do in gpump_sm under timing PORT: the
 * latencies of switch and rewind add up. */
#define GPUMP_VICTIM_PARALLEL_SAVES 1u

/* A request for room: the kernel, the number of blocks and the deadline. gpump_victim_request_init fills the struct. A
 * struct of zeros has a limit of 0 cycles, not an unlimited one. */
typedef struct gpump_victim_request {
    uint32_t kernel;       /* number of the incoming launch; its own blocks are never victims */
    uint32_t positions;    /* blocks of the incoming kernel that wait for room, over all SMs */
    uint32_t flags;        /* GPUMP_VICTIM_PARALLEL_SAVES; 0: saves of one SM follow each other */
    uint64_t since;        /* cycle of the request */
    uint64_t now;          /* cycle of the decision; not before `since` */
    uint64_t limit_cycles; /* deadline of the last position, counted from `since`; 0: now; GPUMP_UNKNOWN: none */
    /* Policy drain-then-switch: cycles from `since` until draining blocks are switched. GPUMP_UNKNOWN: as late as the
     * limit allows. */
    uint64_t timeout_cycles;
    /* Policy joint: price of one cycle of lateness, in warp instructions. 0: the limit is kept whatever it costs. */
    uint64_t late_price;
} gpump_victim_request;

/* A position that the incoming kernel gets. */
typedef struct gpump_victim_place {
    uint64_t latency; /* estimated cycles until registers, shared memory, warps, threads and a slot are free; 0: at
                         once; GPUMP_UNKNOWN */
    uint32_t sm;
    uint32_t position;
    uint32_t register_base;
    uint32_t shared_base;
    uint32_t victims; /* how many of the SM's victims lie on it */
    uint32_t late;    /* 1: the estimate is past the limit */
} gpump_victim_place;

typedef struct gpump_victim_decision {
    uint64_t latency;    /* of the place, or without places the choice, that is free last; estimated cycles */
    uint64_t overhead;   /* estimated loss of all choices, warp instructions; saturated */
    uint64_t ask_again;  /* cycle at which to ask GPUMP_VICTIM_ASK_AGAIN; GPUMP_UNKNOWN: never */
    uint32_t places;     /* entries of question->places that were written */
    uint32_t choices;    /* entries of question->choices that were written */
    uint32_t late;       /* places whose latency is past the limit */
    uint32_t missing;    /* positions asked for that preemption cannot free now (vacate: blocks that stay) */
    gpump_reason reason; /* why something is missing; GPUMP_REASON_YES: nothing is */
    uint32_t sms;        /* SMs with a place or a choice */
} gpump_victim_decision;

/* ---- policies ---- */

/* Bits of gpump_victim_policy.flags. */
/* An SM changes its kernel only when all its blocks have left (Chimera, Tanasic). */
#define GPUMP_VICTIM_WHOLE_SM 1u
/* The policy needs true costs as estimates. The host measures them in forks of the simulation, or knows them. */
#define GPUMP_VICTIM_TRUE_COSTS 2u
/* A block that leaves already, or that was chosen for another position, does not count for the latency of a position
 * (Shieh Fig 3.9). */
#define GPUMP_VICTIM_EVICTED 4u
/* The request ends with its last position. If one position cannot be freed before the deadline, the whole request is
 * late, and the policy plans every position for the latest time instead of the deadline: freeing the others earlier
 * gains nothing. The plan hook is called several times to find that time, and again in second looks. */
#define GPUMP_VICTIM_COMMON_DEADLINE 8u
/* The hooks have a state, such as dice. Their answers are not kept: a decision over several SMs asks them anew when it
 * is made. Without this bit, hooks that are asked the same answer the same. */
#define GPUMP_VICTIM_HAS_STATE 16u

struct gpump_victim_policy;

/* Arguments of a technique hook. */
typedef struct gpump_victim_technique_args {
    const struct gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_block_view *block;
    const gpump_cost_estimate *estimate;
    uint32_t allowed;  /* techniques the block may leave by and the policy uses, as bits; not 0 */
    uint32_t draining; /* 1: it is draining already, the question is whether it goes on */
    uint64_t left;     /* cycles until the deadline; GPUMP_UNKNOWN: no limit */
    uint64_t saves;    /* cycles that switching every block of the SM takes that is asked about here: their sum, or the
                          longest with GPUMP_VICTIM_PARALLEL_SAVES; computed when request->limit_cycles is known */
    uint64_t *ask_again; /* lower it to a cycle after request->now to be asked again about blocks that drain */
} gpump_victim_technique_args;

/* One candidate: a position and the blocks that must leave it. */
typedef struct gpump_victim_candidate {
    uint64_t victims;  /* mask over the SM's view */
    uint64_t latency;  /* of the slowest (3.1) */
    uint64_t overhead; /* sum (3.2) */
    uint32_t position;
    uint32_t late; /* victims past the limit */
} gpump_victim_candidate;

/* Arguments of a candidate hook. */
typedef struct gpump_victim_candidate_args {
    const struct gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_victim_candidate *candidates; /* count of them */
    uint32_t count;                           /* at least 1 */
} gpump_victim_candidate_args;

/* Arguments of a plan hook for one SM. Masks have a bit per block of sm->blocks, or per position. */
typedef struct gpump_victim_plan_args {
    const struct gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_victim_geometry *geometry; /* NULL when `draining` is not 0 */
    const gpump_victim_sm *sm;
    const uint64_t *sets; /* candidate sets by position: the blocks on its registers or shared memory; NULL likewise */
    uint64_t open;        /* positions that may be taken */
    uint64_t leaving;     /* blocks on their way out: their room becomes free without a choice */
    uint64_t fixed;       /* blocks that may leave by no technique of the policy */
    uint64_t parked;      /* blocks that hold no slots, only registers or shared memory */
    uint64_t kept;        /* blocks of `leaving` that leave a part in place; positions under that part are not open */
    uint64_t choosable;   /* all other blocks that are not of the incoming kernel: the victims come from these */
    uint64_t left;        /* cycles until the deadline, or until the later time of GPUMP_VICTIM_COMMON_DEADLINE;
                             GPUMP_UNKNOWN: no limit */
    uint32_t want;        /* positions to take at most */
    int64_t free_warps; /* warp slots held neither by a block that stays nor by a promised position; may be negative */
    int64_t free_threads; /* thread slots, likewise */
    int64_t free_slots;   /* block slots, likewise */
    int64_t free_entries; /* entries of the allocation tables, which name parked blocks too; likewise */
    /* 0 in gpump_victim_decide. Else (vacate, reconsider): blocks that all leave. The hook answers a technique for each
     * of them, and takes no position. */
    uint64_t draining;
    uint32_t groups;                      /* not 0: some blocks must leave together */
    uint8_t allowed[GPUMP_VICTIM_BLOCKS]; /* per block: bits 1 << number of the techniques that it may leave by */
} gpump_victim_plan_args;

/* Result of a plan hook. */
typedef struct gpump_victim_plan {
    uint64_t positions; /* mask of the positions taken */
    uint64_t victims;   /* mask of the blocks that leave */
    /* Mask of the victims that go on running for now. Each of them gets its technique at `ask_again`, if it still runs
     * then. */
    uint64_t later;
    uint64_t ask_again;                     /* cycle of the second look; GPUMP_UNKNOWN: none */
    uint8_t technique[GPUMP_VICTIM_BLOCKS]; /* number of each victim's technique */
} gpump_victim_plan;

/* A policy: a constant struct. Any hook may be NULL. gpump_victim_decide checks the results of the hooks. */
typedef struct gpump_victim_policy {
    uint32_t flags;          /* GPUMP_VICTIM_... */
    uint32_t techniques;     /* those it uses, as bits 1 << number (gpump_technique_at) */
    gpump_cost_options cost; /* options of gpump_cost_estimate_blocks for this policy */
    const char *name;
    const char *description; /* one sentence */
    void *user;
    /* Returns the technique of one block. NULL: the technique of least overhead among those within the limit; if none
     * is, the technique of least latency (Algorithm 1, lines 1 to 14). */
    uint32_t (*technique)(const gpump_victim_technique_args *args);
    /* Returns the index of the candidate to take next. NULL: the candidate of least overhead among those within the
     * limit; if none is, the candidate of least latency (lines 15 to 26). Candidates without victims are taken before
     * the hook is called. */
    uint32_t (*candidate)(const gpump_victim_candidate_args *args);
    /* Plans one SM as a whole: positions, victims, techniques. NULL: gpump_victim_plan_greedy. With
     * GPUMP_VICTIM_COMMON_DEADLINE it also answers GPUMP_VICTIM_ASK_VACATE and _AGAIN
     * (args->draining is not 0 then). */
    void (*plan)(const gpump_victim_plan_args *args, gpump_victim_plan *plan);
} gpump_victim_policy;

/* Returns a built-in policy by name, NULL if there is none: dual, chimera, chimera+, switch, drain, flush,
 * drain-then-switch, oracle, exact, rewind, joint. docs/papers.md says what each does. */
GPUMP_API const gpump_victim_policy *gpump_victim_find(const char *name);
/* Returns the index-th built-in policy, NULL past the last. */
GPUMP_API const gpump_victim_policy *gpump_victim_policy_at(uint32_t index);

/* Fills *request for `positions` blocks of launch `kernel` that ask for room at cycle `now`: no deadline, saves of one
 * SM follow each other, lateness has no price. Every field may then be changed. GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_victim_request_init(gpump_victim_request *request, uint32_t kernel, uint32_t positions,
                                                 uint64_t now);

/* ---- the parts ---- */

/* Fills *geometry with the positions of an incoming footprint *need on SMs of *gpu with `shared_bytes` of shared
 * memory. GPUMP_ERROR_REFUSED with NEVER_FITS when one block is larger than an SM. */
GPUMP_API gpump_result gpump_victim_geometry_init(gpump_victim_geometry *geometry, const gpump_gpu *gpu,
                                                  const gpump_footprint *need, uint32_t shared_bytes, gpump_diag *diag);

/* Determines the candidate victim sets of one SM (Shieh Fig 3.3): sets[p] gets the blocks (mask over the view) whose
 * registers or shared memory reach into position p. *taken gets the positions that cannot be had: blocks of `kernel`
 * lie there, which are in no set, or a block on its way out leaves a part in place there. Cost: linear in blocks. */
GPUMP_API void gpump_victim_candidates(const gpump_victim_geometry *geometry, const gpump_block_view *blocks,
                                       uint32_t count, uint32_t kernel, uint64_t *sets, uint64_t *taken);
/* Evicts `preempted` blocks (mask) from sets[positions] (Shieh Fig 3.9). Cost: linear in positions. */
GPUMP_API void gpumpi_victim_candidates_update(uint64_t *sets, uint32_t positions, uint64_t preempted);

/* Algorithm 1 once, on sets of one SM: the technique of each block in any set, then the candidate.
 *   request, sm      the request and the SM's view, as in gpump_victim_decide
 *   sets, positions  candidate sets as above; `open` masks those that take part
 *   technique        out, per block of the view; GPUMP_VICTIM_NO_TECHNIQUE for blocks in no set or with none allowed
 *   chosen           out: position, victims, latency, overhead, late
 * Returns GPUMP_EMPTY when no candidate can leave. gpump_victim_select considers registers and shared memory only.
 * gpump_victim_decide also considers warp, thread and block slots. Cost: linear in blocks x positions. */
GPUMP_API gpump_result gpump_victim_select(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                           const gpump_victim_sm *sm, const uint64_t *sets, uint32_t positions,
                                           uint64_t open, uint8_t *technique, gpump_victim_candidate *chosen);

/* Fills *plan from *args as policies without a plan hook do: Algorithm 1 repeated. For hooks that want to start from
 * it. Cost: as gpump_victim_decide on one SM. */
GPUMP_API void gpump_victim_plan_greedy(const gpump_victim_plan_args *args, gpump_victim_plan *plan);

/* ---- the decision ---- */

/* Returns the scratch memory that gpump_victim_decide needs for sm_count SMs, bytes: 0 up to 64 of them (it then uses
 * 15 KiB of the stack). */
GPUMP_API size_t gpump_victim_scratch_bytes(uint32_t sm_count);

/* What a question asks. */
typedef enum gpump_victim_ask {
    /* Which blocks leave, and how, so that request->positions blocks of the incoming kernel can start (Shieh 3.1 to
     * 3.3). Empty positions are taken first. Then Algorithm 1 picks candidates until the request is met or no candidate
     * is left. Where fewer positions are wanted than the SMs have, the next position is taken on the SM whose next
     * candidate is best. Where registers and shared memory of a position are free but warp slots, threads or a block
     * slot are short, further victims are added, best first. Fills places and choices: the choices of one SM are
     * contiguous, with saves in the order in which they should be made. The host dispatches a block to a place with
     * latency 0 at once, and to another place when its victims have left. Until then the host dispatches no block of
     * other kernels to that SM. */
    GPUMP_VICTIM_ASK_POSITIONS = 0,
    /* By which technique each block of whole SMs leaves within the request's limit. A scheduler that preempts an SM
     * without naming a technique asks this (Tanasic 5.2.3). Each block gets the technique that the policy's hook
     * returns; a policy without a hook uses Algorithm 1, lines 3 to 14. Blocks of request->kernel stay (0: none stays).
     * A block that may leave by no technique of the policy gets no choice, and neither do the others of its group.
     * Fills choices in the order of the views. decision->missing counts the blocks without a choice, and
     * decision->reason is the cause for the first of them. */
    GPUMP_VICTIM_ASK_VACATE = 1,
    /* At the cycle decision->ask_again of an earlier decision: which draining blocks must change their technique. sms
     * holds fresh views and estimates, request is the earlier one with a new `now`. Fills choices. A policy that never
     * sets ask_again changes nothing. */
    GPUMP_VICTIM_ASK_AGAIN = 2
} gpump_victim_ask;

/* Input and output arrays of gpump_victim_decide. The host sets the struct to zero, then fills the fields that the
 * question reads; "positions" stands for GPUMP_VICTIM_ASK_POSITIONS. */
typedef struct gpump_victim_question {
    const gpump_victim_policy *policy;     /* of gpump_victim_find, or the caller's */
    const gpump_victim_request *request;   /* the kernel that needs room, its blocks and the deadline */
    const gpump_victim_geometry *geometry; /* positions only: of gpump_victim_geometry_init, the same for all SMs */
    const gpump_victim_sm *sms;            /* sm_count views; estimates made with policy->cost */
    void *scratch;               /* positions only: 8-byte aligned; NULL when gpump_victim_scratch_bytes is 0 */
    size_t scratch_bytes;        /* positions only: at least gpump_victim_scratch_bytes(sm_count) */
    gpump_victim_place *places;  /* positions only: out, what the incoming kernel gets, SM by SM */
    gpump_block_choice *choices; /* out: which block leaves by which technique, SM by SM */
    uint32_t sm_count;
    uint32_t place_capacity;  /* entries of places */
    uint32_t choice_capacity; /* entries of choices */
    uint32_t ask;             /* gpump_victim_ask */
} gpump_victim_question;

/* Answers *question (gpump_victim_ask). The host passes the choices of an SM to gpump_sm_preempt unchanged.
 *
 * Returns GPUMP_OK even when fewer positions can be had than asked for: decision->missing says how many, and
 * decision->reason why. Errors: GPUMP_ERROR_ARGUMENT, also for a block outside the register file or shared memory of
 * the geometry. GPUMP_ERROR_CAPACITY: decision->places and decision->choices say how many, the arrays are unchanged.
 * GPUMP_ERROR_REFUSED: the result of a hook is invalid; diag->reason is the cause. Cost: linear in the SMs and in their
 * blocks. */
GPUMP_API gpump_result gpump_victim_decide(const gpump_victim_question *question, gpump_victim_decision *decision,
                                           gpump_diag *diag);

/* ---- what it costs in hardware (Shieh Table 3.1) ---- */

typedef struct gpump_victim_config {
    uint32_t sms;          /* SMs; published: 15 */
    uint32_t positions;    /* position registers per SM, each for registers and shared memory; published: 64 */
    uint32_t address_bits; /* of a position; published: 16 */
    uint32_t candidates;   /* candidate sets per SM; published: 16 */
    uint32_t blocks;       /* blocks of an SM that can be named; published: 16 */
    uint32_t counter_bits; /* executed instructions, and issue cycle, per block; published: 32 each */
} gpump_victim_config;

/* The storage that victim selection adds, bits. */
typedef struct gpump_victim_storage {
    uint64_t sm_bits;  /* of each SM: positions, candidate sets, block status */
    uint64_t gpu_bits; /* of the GPU: which block of the incoming kernel is where */
} gpump_victim_storage;
/* The configuration for gpump_preset and gpump_bits. Presets are those of gpump_gpu_component. gtx480_shieh: the
 * numbers of the paper's table. Others: their SMs, block slots and address widths (derived). gpump_bits counts the
 * storage that victim selection adds to the GPU, all SMs together. */
GPUMP_API const gpumpi_methods *gpumpi_victim_methods(void);
GPUMPI_CONSTANT gpump_component gpump_victim_component = {gpumpi_victim_methods, GPUMP_LAYOUT_VICTIM, 0};

GPUMP_END
#endif
