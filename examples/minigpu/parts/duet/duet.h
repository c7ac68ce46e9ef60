/* duet: more blocks on an SM than it has room for (--duet): gpump_duet decides which warps lie in spare on-chip memory,
 * and here their values move: between the register file, shared memory and an L1 that has become a store. What is
 * vacated is overwritten. A warp that is switched out has no slot (warp.slot is NONE); its registers lie in a frame
 * (frame.h).
 *
 * One kernel runs on an SM at a time; or two share it, each in a half of its own, and the first is served. Blocks can
 * be flushed, saved and drained: a block that is to leave is held where it lies, a context carries the frames of its
 * switched-out warps as they are, and a block that is restored gets homes for all its warps. A warp that waits for
 * pages is switched out, too, and comes in when they are there. */
#ifndef MINIGPU_DUET_H
#define MINIGPU_DUET_H

#include "parts/duet/frame.h"
#include "state/state.h"

/* in_flight.next_free of a load that has left L1, and of one that its warp has counted. */
#define RECORD_MISSED (NONE - 1)
#define RECORD_COUNTED (NONE - 2)

typedef struct sm_duet {
    gpump_duet *gpump;
    gpump_duet_action move;
    uint32_t moving;    /* 1: `move` is under way */
    uint32_t kernel;    /* whose plan it has; NONE */
    uint64_t beside;    /* places of the kernel that shares the SM, those taken as a mask */
    uint64_t reported;  /* slots whose warp has been reported as stalled */
    uint64_t too_large; /* stalls of warps whose live registers did not fit a frame */
    uint32_t warp_of[GPUMP_DUET_WARPS];
    uint64_t age_of[GPUMP_DUET_WARPS];
    uint64_t left;                        /* warps that have been switched out, */
    uint64_t static_granules;             /* the granules of registers that they took in frames, */
    uint64_t dynamic_granules;            /* and would have taken by their values */
    uint32_t dynamic_most;                /* the largest of these */
    frame_content kept[GPUMP_DUET_WARPS]; /* of warps that are switched out */
    uint32_t *scratch;                    /* all registers of a warp */
    uint8_t *leaving, *coming;            /* a frame each */
    uint8_t *l1_store;
} sm_duet;

/* Tests: what a move leaves out. */
enum { DUET_OMIT_NOTHING, DUET_OMIT_REGISTERS, DUET_OMIT_SHARED, DUET_OMIT_REPLIES };

typedef struct machine_duet {
    gpump_duet_config config;
    gpump_duet_plan *plans; /* by kernel */
    frame_view *views;      /* by kernel */
    uint64_t next;          /* cycle of the next look at the meters; NEVER */
    gpump_traffic before;   /* of the kernel that runs, at the last look */
    uint32_t kernel;        /* whose; NONE */
    uint32_t omit;          /* tests: DUET_OMIT_... */
    uint32_t served;        /* SMs are shared: the one kernel that is served; NONE: every kernel, one at a time */
} machine_duet;

/* Reads "PRESET[:EXTRA[:PORT]]" (EXTRA: a number of blocks, "all" or "monitor"; PORT: bytes per cycle) and makes plans
 * and tables. Returns 0, or -1 with the reason in error. */
int duet_make(machine *m, const char *text, char error[LAUNCH_ERROR_BYTES]);
void duet_free(machine *m);
/* Are the blocks of this kernel served? Else they have the upper half of registers, shared memory and slots. */
static inline int duet_serves(const machine *m, uint32_t kernel_index) {
    return m->duet && (m->duet->served == NONE || m->duet->served == kernel_index);
}
/* The warp slots of blocks that are not served, and what of an SM's slots they may have. */
uint64_t duet_slots_beside(const machine *m);
/* A number for a warp of such a block, behind those of warps that are served. */
static inline void duet_number_beside(sm *s, warp *w, uint32_t index) {
    w->number = GPUMP_DUET_WARPS / 2 + w->slot;
    s->duet->warp_of[w->number] = index;
}
/* Gives such a block its place, and takes it back. */
void duet_place_beside(machine *m, sm *s, block *b);
void duet_left_beside(machine *m, sm *s, const block *b);
/* Has the SM room for one block more of this kernel? */
/* `restores`: for a saved block, which needs homes for all its warps. */
gpump_reason duet_room(machine *m, sm *s, uint32_t kernel_index, int restores);
/* Gives a block that has been placed its warps' places; its warps have no slots yet. A block that is restored stays
 * where it is until duet_release. */
void duet_place(machine *m, sm *s, block *b, int restores);
/* A block that is to leave, or that is restored, stays where it is. Returns 0 while some of it is still on its way. */
int duet_hold(machine *m, sm *s, const block *b);
void duet_release(machine *m, sm *s, const block *b);
/* SMs are shared: returns how many blocks of a kernel fit its half of one, extra ones not counted. */
uint32_t duet_half(const machine *m, uint32_t kernel_index);
/* Returns the most blocks of a kernel on an SM. */
uint32_t duet_most_blocks(const machine *m, uint32_t kernel_index);
/* The frame's bytes of a warp whose registers lie there, and how many; NULL: they are at home. */
const uint8_t *duet_frame(machine *m, const warp *w, uint64_t *bytes);
/* The shared memory of a block, wherever it lies. */
uint8_t *duet_shared(machine *m, const block *b);
/* A block has left: what it held is overwritten, and free. */
void duet_left(machine *m, sm *s, block *b);
/* A load of a warp has gone through L1 and waits. */
void duet_load_sent(machine *m, in_flight *r);
/* A load of a warp has committed. next_is_clear: nothing in flight keeps its next instruction from issuing. */
void duet_load_done(sm *s, warp *w, int counted, int next_is_clear);
/* The pages of a held warp have come. Returns 0 when it is switched out, or on its way: it goes on when it is at home.
 */
int duet_page_came(const machine *m, sm *s, warp *w);
/* Sets *content to what a frame holds of a warp that stands still, and returns its granules. */
uint32_t duet_content(const machine *m, const warp *w, frame_content *content);
/* The barrier of a warp has opened. */
void duet_barrier_opened(machine *m, sm *s, warp *w);
/* The registers of a warp that is switched out, to be written to; duet_close puts them back into its frame. */
uint32_t *duet_open(machine *m, sm *s, warp *w);
void duet_close(machine *m, sm *s, warp *w);
/* Ends the move that is due. Returns the slots of the warps that have come in: the pipeline looks at them anew. */
uint64_t duet_end_move(machine *m, sm *s);
/* Then reports stalls, and begins moves. Returns the next cycle in which something happens by itself; NEVER. */
uint64_t duet_cycle(machine *m, sm *s);
/* The monitor looks at the meters; sets m->duet->next. */
void duet_look(machine *m);
/* Counts the warps of all SMs that have slots, and those that are switched out. */
void duet_warps(const machine *m, uint64_t *in_slots, uint64_t *switched_out);
uint64_t duet_hash(const machine *m, uint64_t hash);

#endif
