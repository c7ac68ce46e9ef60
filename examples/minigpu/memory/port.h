/* port: an SM's own view of its end of the network, where SMs advance side by side (machine/window.h).
 *
 * What the SM sends in a window enters the network beside the next window, at the cycle in which it was sent. So the SM
 * counts for itself what it has sent, and every packet that leaves the input sends a credit back, which takes as long
 * as a packet. Two windows are no longer than the network's shortest way: credits and replies that reach an SM in a
 * window were sent by the network two windows before. */
#ifndef MINIGPU_PORT_H
#define MINIGPU_PORT_H

#include "base/arena.h"
#include "memory/request.h"

#define PORT_CREDITS 512u /* packets of one SM that are under way, at most */

typedef struct port_credit {
    uint64_t cycle; /* the SM sees it */
    uint32_t flits, unused;
} port_credit;

/* What the SM does in a cycle: a request enters, or lines of its L1 are written back past all queues. */
typedef struct port_entry {
    uint64_t cycle;
    memory_packet packet;
    uint32_t lines; /* 0: a request */
    uint32_t unused;
} port_entry;

typedef struct network_port {
    PAIR_ALIGNED uint64_t sm_cycle; /* the SM should look again; UINT64_MAX: not by itself */
    port_credit *credits;           /* ring */
    port_entry *entries;            /* two times `capacity`: of this window and of the last */
    uint32_t capacity;
    uint32_t entered[2];    /* entries */
    uint32_t head, visible; /* credits so far: that the SM has, and may have */
    uint32_t flits;         /* sent, and without a credit */
    uint32_t refused;       /* 1: somebody found no room */
    /* the network's, while the SM runs */
    PAIR_ALIGNED uint32_t put; /* credits so far that it has sent */
    uint32_t caught_up;        /* entries of the last window that it has */
} network_port;

/* A packet has left the input: its credit is there at `cycle`. */
static inline void port_credit_at(network_port *p, uint64_t cycle, uint32_t flits) {
    port_credit *credit = &p->credits[p->put++ % PORT_CREDITS];
    credit->cycle = cycle;
    credit->flits = flits;
}

#endif
