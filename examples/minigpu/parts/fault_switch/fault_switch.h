/* fault_switch: blocks that wait for pages give their place on the SM to others (Tanasic 6.4.1).
 *
 * With --switch-on-fault N each SM has a gpump_block_switch. This file reports which warps cannot run and which
 * granules a block waits for. fault_exchange carries out the decisions. A block that has left on a fault belongs to its
 * SM, and the dispatcher does not place it. */
#ifndef MINIGPU_FAULT_SWITCH_H
#define MINIGPU_FAULT_SWITCH_H

#include "state/state.h"

typedef struct fault_switch {
    gpump_block_switch *unit;
    uint64_t stopped[BLOCK_ENTRIES_MAX]; /* by block entry: warps reported as unable to run */
    uint64_t coming;                     /* the block to restore; NEVER: none */
    uint64_t next;                       /* when the unit has work without another report; NEVER */
    uint32_t asks;                       /* 1: a report may have changed its decision */
    uint32_t off_chip;                   /* blocks off the chip */
    uint32_t again, unused;              /* again: 1: the next cycle matters */
} fault_switch;

/* Returns the unit of an SM; NULL: its blocks stay. */
static inline fault_switch *fault_switch_of(const sm *s) { return (fault_switch *)s->of_part[PART_fault_switch]; }

/* Gives every SM its unit, with up to `extra` blocks more than fit. Returns 0, or -1 with the reason in error. */
int fault_switch_make(machine *m, uint32_t extra, char error[LAUNCH_ERROR_BYTES]);
/* Reports which warps of this SM cannot run. Called in each cycle in which warps of it wait for pages. */
void fault_switch_watch(machine *m, sm *s);
/* Reports that a block, on an SM or off the chip, waits for other granules than before. */
void fault_switch_pending(machine *m, uint64_t cookie);
/* Report that a block was placed on an empty SM that fits `blocks` blocks, and that a block was placed or restored. */
void fault_switch_share(machine *m, sm *s, uint32_t blocks);
void fault_switch_placed(machine *m, sm *s, const block *b, int restored);
/* Reports that a block has left the SM. Returns 1 when it left on a fault, and so belongs to the SM. */
int fault_switch_left(machine *m, sm *s, const block *b, int saved);
/* Drops a block off the chip that belongs to the SM. */
void fault_switch_dropped(machine *m, sm *s, uint64_t cookie);
/* Assigns the SM to kernel `to` (NONE: unknown). A block of another kernel off the chip moves to the preempted blocks
 * of its kernel, which any SM may restore. Returns its entry in machine.preempted; NONE: there are no more. */
uint32_t fault_switch_give_up(machine *m, sm *s, uint32_t to);
/* Returns whether the dispatcher may give this SM a new block. It may not while the SM has blocks off the chip, because
 * the unit asks for them. */
static inline int fault_switch_lets_in(const sm *s) { return !fault_switch_of(s) || !fault_switch_of(s)->off_chip; }

#endif
