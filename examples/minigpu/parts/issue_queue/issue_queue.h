/* issue_queue: out-of-order issue of one SM (Tanasic 4.2.2, Table 6.1): instructions between fetch and issue.
 *
 * All warps share the queue's entries. Each warp has a window of 64 instructions between fetch and commit, named by
 * their sequence modulo 64. At insertion an instruction gets two masks over its window: older instructions that must
 * commit first (they write what it reads or writes), and older instructions that must release their sources first (they
 * read what it writes). An instruction is ready when both masks are empty. The oldest ready instruction whose unit is
 * free issues.
 *
 * Nothing is renamed and nothing is speculative: fetch stops behind a control instruction until that commits, and
 * behind a memory instruction until that issues, so memory instructions of a warp issue in order. */
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
    uint32_t handle; /* in the replay queue, when it is a replay (faults.h); NONE */
} queue_entry;

/* A warp's instructions between fetch and commit, one bit each. */
typedef struct instruction_window {
    uint64_t alive;                 /* not committed */
    uint64_t queued;                /* of them, not issued */
    uint64_t held_back;             /* of them, one that waits for more than registers (issue_queue_permit) */
    uint64_t waits_commit[WINDOW];  /* per instruction: who must commit before it issues ... */
    uint64_t waits_release[WINDOW]; /* ... and who must release its sources */
    uint64_t *readers;              /* per register or predicate: who may still read it */
    uint8_t *writer;                /* per register or predicate: the youngest that will write it; WINDOW: nobody */
    uint8_t entry[WINDOW];          /* of queued ones: where in the queue */
} instruction_window;

typedef struct issue_queue {
    queue_entry entries[ISSUE_QUEUE_MAX];
    uint64_t free_entries[ISSUE_QUEUE_WORDS];
    uint64_t ready[ISSUE_QUEUE_WORDS];
    uint64_t unit_entries[UNIT_COUNT][ISSUE_QUEUE_WORDS];
    uint64_t ages;
    uint64_t waits;      /* warp slots whose fetch waits until their youngest instruction issues */
    uint64_t held_back;  /* warp slots with an instruction that waits for more than registers */
    uint64_t full;       /* warp slots whose window has no room */
    uint32_t ids;        /* registers and predicates of a window */
    uint32_t last_fetch; /* the slot that fetched last */
    instruction_window *windows;
} issue_queue;

/* Makes the queue of an SM in the arena, for kernels with at most `ids` registers and predicates. Returns NULL when the
 * arena is full. */
issue_queue *issue_queue_make(arena *a, uint32_t entries, uint32_t warp_slots, uint32_t ids);
/* Puts an instruction (its age is set here) at the end of its warp's window. There must be room in both. held_back: 1,
 * it also waits for issue_queue_permit; `next` is the sequence of the warp's next one. */
void issue_queue_insert(issue_queue *q, uint32_t slot, const queue_entry *instruction, uint64_t next, int held_back);
/* The instruction of the slot that was held back waits for registers alone. */
void issue_queue_permit(issue_queue *q, uint32_t slot);
/* Returns the oldest ready entry whose bit is not in `blocked`; NONE. */
uint32_t issue_queue_oldest(const issue_queue *q, const uint64_t blocked[ISSUE_QUEUE_WORDS]);
/* Takes an entry out of the queue: its instruction issues. */
void issue_queue_take(issue_queue *q, uint32_t slot, uint32_t entry);
/* An instruction has released its sources. */
void issue_queue_released(issue_queue *q, uint32_t slot, const issue_info *info, uint64_t sequence);
/* An instruction has committed; `next` is the sequence of the warp's next one. */
void issue_queue_committed(issue_queue *q, uint32_t slot, const issue_info *info, uint64_t sequence, uint64_t next);
/* Nothing of the slot's warp issues any more until issue_queue_forget. */
void issue_queue_hold(issue_queue *q, uint32_t slot);
/* Forgets everything of a warp slot. */
void issue_queue_forget(issue_queue *q, uint32_t slot);
uint64_t issue_queue_hash(const issue_queue *q, uint64_t hash);

/* Is there room for an instruction that is fetched? One place more is there for instructions that issue again and can
 * do so at once: instructions that wait for room in the operand log could fill the queue, and only those that issue
 * again make that room. */
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
