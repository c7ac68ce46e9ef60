/* port: an SM's own view of its end of the network, where SMs advance side by side (machine/window.h).
 *
 * A request that the SM sends in a window enters the network during the next window, at the cycle in which it was sent.
 * The SM therefore counts what it has sent, and every packet that leaves the input returns a credit, which takes as
 * long as a packet. Two windows are no longer than the network's shortest latency. Credits and replies that reach an SM
 * in a window were therefore sent by the network two windows before. */
#ifndef MINIGPU_PORT_H
#define MINIGPU_PORT_H

#include "base/arena.h"
#include "memory/request.h"

#define PORT_CREDITS 512u /* the most packets of one SM in flight */

typedef struct port_credit {
    uint64_t cycle; /* when the SM receives the credit */
    uint32_t flits, unused;
} port_credit;

/* An action of the SM in a cycle: a request enters, or lines of its L1 are written back past all queues. */
typedef struct port_entry {
    uint64_t cycle;
    memory_packet packet;
    uint32_t lines; /* 0: a request */
    uint32_t unused;
} port_entry;

typedef struct network_port {
    PAIR_ALIGNED uint64_t sm_cycle; /* when the SM should look again; UINT64_MAX: only after another event */
    port_credit *credits;           /* ring */
    port_entry *entries;            /* two times `capacity`: of this window and of the last one */
    uint32_t capacity;
    uint32_t entered[2];    /* entries */
    uint32_t head, visible; /* credits so far: taken by the SM, and visible to it */
    uint32_t flits;         /* flits sent without a credit yet */
    uint32_t refused;       /* 1: a request found no room */
    /* the network's, while the SM runs */
    PAIR_ALIGNED uint32_t put; /* credits that the network has sent so far */
    uint32_t caught_up;        /* entries of the last window that the network has taken */
} network_port;

/* Sends a credit for a packet that has left the input; it arrives at `cycle`. */
static inline void port_credit_at(network_port *p, uint64_t cycle, uint32_t flits) {
    port_credit *credit = &p->credits[p->put++ % PORT_CREDITS];
    credit->cycle = cycle;
    credit->flits = flits;
}

#endif
