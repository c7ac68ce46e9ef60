/* fault_switch: blocks that wait for pages give their place on the SM to others (Tanasic 6.4.1).
 *
 * With --switch-on-fault N each SM has a gpump_block_switch. This file tells it which warps cannot run and which
 * granules a block waits for; fault_exchange carries out what it decides. A block that has left for a fault belongs to
 * its SM; the dispatcher leaves it alone. */
#ifndef MINIGPU_FAULT_SWITCH_H
#define MINIGPU_FAULT_SWITCH_H

#include "state/state.h"

typedef struct fault_switch {
    gpump_block_switch *unit;
    uint64_t stopped[BLOCK_ENTRIES_MAX]; /* by block entry: warps that were reported as unable to run */
    uint64_t coming;                     /* the block that is to come back; NEVER: none */
    uint64_t next;                       /* when the unit has something to do by itself; NEVER */
    uint32_t asks;                       /* 1: a fact may have changed what it wants */
    uint32_t off_chip;                   /* blocks */
} fault_switch;

/* Gives every SM its unit, with `extra` more blocks than fit. Returns 0, or -1 with the reason in error. */
int fault_switch_make(machine *m, uint32_t extra, char error[LAUNCH_ERROR_BYTES]);
/* Which warps of this SM cannot run? Asked in each cycle in which warps of it wait for pages. */
void fault_switch_watch(machine *m, sm *s);
/* A block waits for other granules than before, on an SM or off the chip. */
void fault_switch_pending(machine *m, uint64_t cookie);
/* A block was placed on an empty SM of which `blocks` fit; a block was placed, or came back. */
void fault_switch_share(machine *m, sm *s, uint32_t blocks);
void fault_switch_placed(machine *m, sm *s, const block *b, int restored);
/* A block has left the SM. Returns 1 when it left for a fault, and so belongs to the SM. */
int fault_switch_left(machine *m, sm *s, const block *b, int saved);
/* A block off the chip that belongs to the SM is dropped. */
void fault_switch_dropped(machine *m, sm *s, uint64_t cookie);
/* The SM becomes that of kernel `to` (NONE: of nobody that is known): a block off the chip of another kernel goes to
 * the preempted blocks of that kernel, where any SM may take it. Returns its entry in machine.preempted; NONE: there
 * are no more. */
uint32_t fault_switch_give_up(machine *m, sm *s, uint32_t to);
/* May the dispatcher give this SM a new block? Not while blocks of its own are off the chip: the unit asks for them. */
static inline int fault_switch_lets_in(const sm *s) { return !s->fault_switch || !s->fault_switch->off_chip; }

#endif
