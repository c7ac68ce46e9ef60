/* late: changes to shared state that SMs make within a window, and that take effect when the window has ended.
 *
 * With windows (machine/window.h) SMs run on several threads, so none may change what all SMs share. A part keeps a
 * list for each SM. The SM adds its changes to its list. At the end of the window the part takes the changes of all
 * SMs in the order (cycle, SM), which is the same for every number of threads. */
#ifndef MINIGPU_LATE_H
#define MINIGPU_LATE_H

#include "state/state.h"

/* The changes of one SM, in the order of their cycles. */
typedef struct late_list {
    PAIR_ALIGNED uint64_t *cycles;
    uint8_t *items;
    size_t item_bytes;
    uint32_t count, capacity;
    uint32_t taken, kept;
} late_list;

/* Returns an empty list for each SM, in the machine's arena. NULL: memory is out. */
late_list *late_make(machine *m, uint32_t capacity, size_t item_bytes);
/* Returns room for a change in this cycle. The cycle is not before the list's last one. NULL: the list is full. */
void *late_add(late_list *list, uint64_t cycle);
/* Returns the next change of all SMs and sets *cycle and *sm. NULL: all have been taken, and the lists hold only what
 * was kept. Cost: linear in the number of SMs. */
void *late_take(late_list *lists, uint32_t sm_count, uint64_t *cycle, uint32_t *sm);
/* Keeps the change of this SM that was taken last for the end of the next window, which begins in this cycle. */
void late_keep(late_list *list, uint64_t cycle);

#endif
