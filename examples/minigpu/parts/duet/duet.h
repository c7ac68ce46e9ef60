/* duet: more blocks on an SM than it has room for (--duet). gpump_duet decides which warps are in spare on-chip memory.
 * Here their values move between the register file, shared memory and an L1 that has become a store. Vacated places are
 * overwritten. A warp that is switched out has no slot (warp.slot is NONE); its registers are in a frame (frame.h).
 *
 * One kernel runs on an SM at a time. Or two kernels share it, each in its own half, and the first is served. Under a
 * scheduler, two kernels of a group share the SMs that it gives the group, and any other kernel has its SMs whole.
 * Blocks can be flushed, saved and drained. A block that is to leave is held in its place. A context holds the frames
 * of switched-out warps as they are, and a restored block gets homes for all its warps. A warp that waits for pages is
 * switched out, too, and is switched in when they arrive. */
#ifndef MINIGPU_DUET_H
#define MINIGPU_DUET_H

#include <stdio.h>

#include "parts/duet/frame.h"
#include "state/state.h"

/* A moment in the life of a stalled warp: as long as these are the same, the warp is at the same instruction, and the
 * same instructions of it are to be replayed. Loads that return change neither. */
typedef struct duet_moment {
    uint64_t life, sequence, fault_cycle;
} duet_moment;

/* What a warp of an SM has, and a block. */
typedef struct duet_warp {
    uint32_t stall_replies; /* replies that it was reported to stall for and that have not come */
    uint32_t missed_loads;  /* loads in flight beyond L1 */
    duet_moment too_large;  /* when its registers were last found to fit no frame; life 0: never */
} duet_warp;
typedef struct duet_block {
    uint32_t number; /* on its SM's gpump_duet; of a block that is served */
} duet_block;

/* What the served kernel of an SM may use: all of the SM, or one half of it, beside a kernel that is not served. */
enum { DUET_WHOLE, DUET_HALF, DUET_SPACES };

typedef struct sm_duet {
    gpump_duet *gpump;               /* of `space` */
    gpump_duet *spaces[DUET_SPACES]; /* NULL: no kernel needs it */
    uint32_t space;
    gpump_duet_action move;
    uint32_t moving;      /* 1: `move` is in progress */
    uint32_t kernel;      /* the kernel of its plan; NONE */
    uint64_t reported;    /* slots whose warp was reported as stalled */
    uint64_t too_large;   /* stalls of warps whose live registers do not fit a frame */
    uint64_t stuck;       /* slots whose warp waits for pages, and is too large, until it changes */
    uint64_t stuck_until; /* when the first of them has its pages */
    /* Slots whose warp waits neither for a load beyond L1 nor for pages nor at a barrier, until it changes. */
    uint64_t idle;
    uint32_t warp_of[GPUMP_DUET_WARPS]; /* by warp.number, as the next two */
    duet_warp warps[GPUMP_DUET_WARPS];
    duet_block blocks[BLOCK_ENTRIES_MAX]; /* by block.ref.slot */
    uint64_t age_of[GPUMP_DUET_WARPS];
    uint64_t left;                        /* warps that were switched out, */
    uint64_t static_granules;             /* the granules of registers that they took in frames, */
    uint64_t dynamic_granules;            /* and the granules that they would take by their values */
    uint32_t dynamic_most;                /* the largest of the latter */
    frame_content kept[GPUMP_DUET_WARPS]; /* of warps that are switched out */
    uint32_t *scratch;                    /* all registers of a warp */
    uint8_t *leaving, *coming;            /* one frame each */
    uint8_t *l1_store;
} sm_duet;

/* For tests: what a move leaves out. */
enum { DUET_OMIT_NOTHING, DUET_OMIT_REGISTERS, DUET_OMIT_SHARED, DUET_OMIT_REPLIES };

typedef struct machine_duet {
    gpump_duet_config config[DUET_SPACES];
    gpump_duet_plan *plans; /* by kernel */
    frame_view *views;      /* by kernel */
    uint64_t next;          /* when the meters are read next; NEVER */
    gpump_traffic before;   /* of the running kernel, at the last reading */
    uint32_t kernel;        /* the running kernel; NONE */
    uint32_t omit;          /* tests: DUET_OMIT_... */
    uint32_t beside;        /* the kernel that shares SMs with the first one and is not served; NONE: no SM is shared */
} machine_duet;

/* Returns what a machine and an SM have of it; NULL: nothing. */
static inline machine_duet *duet_of(const machine *m) { return (machine_duet *)m->of_part[PART_duet]; }
static inline sm_duet *sm_duet_of(const sm *s) { return (sm_duet *)s->of_part[PART_duet]; }
static inline duet_warp *duet_warp_of(const sm *s, const warp *w) { return &sm_duet_of(s)->warps[w->number]; }
static inline duet_block *duet_block_of(const sm *s, const block *b) { return &sm_duet_of(s)->blocks[b->ref.slot]; }

/* Reads "PRESET[:EXTRA[:PORT]]" (EXTRA: a number of blocks, "all" or "monitor"; PORT: bytes per cycle) and makes plans
 * and tables. Returns 0, or -1 with the reason in error. */
int duet_make(machine *m, const char *text, char error[LAUNCH_ERROR_BYTES]);
void duet_free(machine *m);
/* Returns whether the blocks of this kernel are served. The SM places other blocks, behind machine.placed. */
static inline int duet_serves(const machine *m, uint32_t kernel_index) {
    return duet_of(m) && duet_of(m)->beside != kernel_index;
}
/* Returns what a served kernel has of an SM: the first of two kernels that share it has a half. */
static inline uint32_t duet_space(const machine *m, uint32_t kernel_index) {
    return duet_of(m)->beside != NONE && kernel_index == 0 ? DUET_HALF : DUET_WHOLE;
}
/* Returns the warp slots for blocks that are not served. */
uint64_t duet_slots_beside(const machine *m);
/* Gives a warp of such a block a number behind those of served warps. */
static inline void duet_number_beside(sm *s, warp *w, uint32_t index) {
    w->number = GPUMP_DUET_WARPS / 2 + w->slot;
    sm_duet_of(s)->warp_of[w->number] = index;
}
/* Overwrites the registers and shared memory that such a block has left. stays: gpump_part bits of the parts that
 * remain in place. */
void duet_left_beside(const machine *m, sm *s, const block *b, uint32_t stays);
/* Returns whether the SM has room for one more block of this kernel. */
/* restores: 1: for a saved block, which needs homes for all its warps. */
gpump_reason duet_room(machine *m, sm *s, uint32_t kernel_index, int restores);
/* Gives the warps of a placed block their places; the warps have no slots yet. A restored block stays in place until
 * duet_release. */
void duet_place(machine *m, sm *s, block *b, int restores);
/* Holds a block that is to leave or that is restored. Returns 0 while some of it is in transfer. */
int duet_hold(machine *m, sm *s, const block *b);
void duet_release(machine *m, sm *s, const block *b);
/* With shared SMs: returns how many blocks of a kernel fit its half, without extra ones. */
uint32_t duet_half(const machine *m, uint32_t kernel_index);
/* Returns the most blocks of a kernel on an SM. */
uint32_t duet_most_blocks(const machine *m, uint32_t kernel_index);
/* Returns the frame of a warp whose registers are there, and sets its bytes; NULL: the registers are at home. */
const uint8_t *duet_frame(machine *m, const warp *w, uint64_t *bytes);
/* Returns the shared memory of a block, at home or in a frame. */
uint8_t *duet_shared(machine *m, const block *b);
/* Handles a block that has left: its places are overwritten and free. */
void duet_left(machine *m, sm *s, block *b);
/* Reports a load that has passed L1 and waits. */
void duet_load_sent(machine *m, sm *s, in_flight *r);
/* Reports that the pages of a held warp have arrived. Returns 0 when the warp is switched out or in transfer; such a
 * warp continues when its registers are at home. */
int duet_page_came(const machine *m, sm *s, warp *w);
/* Sets *content to the registers that a frame holds for a stopped warp. Returns its granules. */
uint32_t duet_content(const machine *m, const warp *w, frame_content *content);
/* Reports that the barrier of a warp has opened. */
void duet_barrier_opened(machine *m, sm *s, warp *w, uint64_t *once);
/* Returns the registers of a switched-out warp, for writing. duet_close packs them into its frame again. */
uint32_t *duet_open(machine *m, sm *s, warp *w);
void duet_close(machine *m, sm *s, warp *w);
/* Ends the move that is due. Returns the slots of the warps that were switched in, for the pipeline to refresh. */
uint64_t duet_end_move(machine *m, sm *s);
/* Reports stalls and begins moves, after duet_end_move. Returns the next cycle with an event; NEVER. */
uint64_t duet_cycle(machine *m, sm *s);
/* Reads the meters for the monitor, and sets machine_duet.next. */
void duet_look(machine *m);
/* Counts the warps of all SMs: with a slot, and switched out. */
void duet_warps(const machine *m, uint64_t *in_slots, uint64_t *switched_out);
/* Writes each kernel's plan, and the moves of all SMs. */
void duet_report(const machine *m, FILE *file);
uint64_t duet_hash(const machine *m, uint64_t hash);

#endif
