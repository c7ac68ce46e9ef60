/* issue_queue: out-of-order issue of one SM (Tanasic 4.2.2, Table 6.1): instructions between fetch and issue.
 *
 * All warps share the queue's entries. Each warp has a window of 64 instructions between fetch and commit, named by
 * their sequence modulo 64. At insertion an instruction gets two masks over its window: older instructions that must
 * commit first (they write what it reads or writes), and older instructions that must release their sources first (they
 * read what it writes). An instruction is ready when both masks are empty. The oldest ready instruction whose unit is
 * free issues.
 *
 * The model has no renaming and no speculation. Fetch stops behind a control instruction until that commits, and behind
 * a memory instruction until that issues, so memory instructions of a warp issue in order. */
#ifndef MINIGPU_ISSUE_QUEUE_H
#define MINIGPU_ISSUE_QUEUE_H

#include "state/state.h"

#define ISSUE_QUEUE_MAX 128u
#define ISSUE_QUEUE_WORDS (ISSUE_QUEUE_MAX / 64u)
#define WINDOW 64u

typedef struct queue_entry {
    const issue_info *info;
    uint64_t sequence, age;
    uint32_t warp, pc, mask;
    uint32_t handle; /* its handle in the replay queue for a replay (faults.h); NONE */
} queue_entry;

/* A warp's instructions between fetch and commit, one bit each. */
typedef struct instruction_window {
    uint64_t alive;       /* not committed */
    uint64_t queued;      /* of them, not issued */
    uint64_t held_back;   /* of them, the instruction that waits for more than registers (issue_queue_permit) */
    uint32_t may_permit;  /* 1: issue_queue_permit is awaited for that instruction */
    uint32_t fetch_waits; /* 1: fetch waits until the youngest instruction issues */
    uint64_t waits_commit[WINDOW];  /* per instruction: older instructions that must commit before it issues ... */
    uint64_t waits_release[WINDOW]; /* ... and older instructions that must release their sources */
    uint64_t *readers;              /* per register or predicate: instructions that may still read it */
    uint8_t *writer;       /* per register or predicate: the youngest instruction that will write it; WINDOW: none */
    uint8_t entry[WINDOW]; /* of queued instructions: their entry in the queue */
} instruction_window;

typedef struct issue_queue {
    queue_entry entries[ISSUE_QUEUE_MAX];
    uint64_t free_entries[ISSUE_QUEUE_WORDS];
    uint64_t ready[ISSUE_QUEUE_WORDS];
    uint64_t unit_entries[UNIT_COUNT][ISSUE_QUEUE_WORDS];
    uint64_t ages;
    uint64_t waits;              /* slots of warps whose fetch waits (instruction_window.fetch_waits) */
    uint64_t full;               /* slots of warps whose window has no room */
    uint32_t ids;                /* registers and predicates of a window */
    uint32_t last_fetch;         /* the slot that fetched last */
    instruction_window *windows; /* by the warp's number */
    uint32_t window_count, unused;
    uint64_t alu_free[SCHEDULERS_MAX]; /* when the lanes for arithmetic of each scheduler are free */
} issue_queue;

/* Returns the queue of an SM. */
static inline issue_queue *queue_of(const sm *s) { return (issue_queue *)s->of_part[PART_issue_queue]; }

/* Makes the queue of an SM in the arena, for kernels with at most `ids` registers and predicates. Returns NULL when the
 * arena is full. */
issue_queue *issue_queue_make(arena *a, uint32_t entries, uint32_t windows, uint32_t ids);
/* Returns the window of a warp. */
static inline instruction_window *issue_queue_window(const issue_queue *q, const warp *w) {
    return &q->windows[w->number];
}
/* Adds an instruction to its warp's window and to the queue, and sets its age. Both must have room. held_back: 1: it
 * also waits for issue_queue_permit. */
void issue_queue_insert(issue_queue *q, const warp *w, const queue_entry *instruction, int held_back);
/* waits 1: the warp's fetch waits until its youngest instruction issues. 0: it waits no more. */
void issue_queue_fetch_waits(issue_queue *q, const warp *w, int waits);
/* Permits the warp's held-back instruction, which then waits for registers only. */
void issue_queue_permit(issue_queue *q, const warp *w);
/* Returns the oldest ready entry whose bit is not in `blocked`; NONE. */
uint32_t issue_queue_oldest(const issue_queue *q, const uint64_t blocked[ISSUE_QUEUE_WORDS]);
/* Removes an entry from the queue when its instruction issues. */
void issue_queue_take(issue_queue *q, const warp *w, uint32_t entry);
/* Reports that an instruction has released its sources. */
void issue_queue_released(issue_queue *q, const warp *w, const issue_info *info, uint64_t sequence);
/* Reports that an instruction has committed. */
void issue_queue_committed(issue_queue *q, const warp *w, const issue_info *info, uint64_t sequence);
/* Stops the issue of the warp until issue_queue_forget. */
void issue_queue_hold(issue_queue *q, const warp *w);
/* Removes everything of the warp. */
void issue_queue_forget(issue_queue *q, const warp *w);
/* Reports that the warp has taken a slot, with its entries in the queue. */
void issue_queue_took_slot(issue_queue *q, const warp *w);
uint64_t issue_queue_hash(const issue_queue *q, uint64_t hash);

/* Returns whether there is room for a fetched instruction. One entry is reserved for instructions that issue again and
 * can do so at once. Instructions that wait for room in the operand log could fill the queue otherwise, and only
 * instructions that issue again free that room. */
static inline int issue_queue_has_room(const issue_queue *q) {
    return (q->free_entries[0] && q->free_entries[1]) || (q->free_entries[0] & (q->free_entries[0] - 1)) ||
           (q->free_entries[1] & (q->free_entries[1] - 1));
}
static inline int issue_queue_has_last_room(const issue_queue *q) {
    return (q->free_entries[0] | q->free_entries[1]) != 0;
}
static inline int issue_queue_any_ready(const issue_queue *q, const uint64_t blocked[ISSUE_QUEUE_WORDS]) {
    return ((q->ready[0] & ~blocked[0]) | (q->ready[1] & ~blocked[1])) != 0;
}

#endif
