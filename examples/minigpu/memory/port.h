/* port: an SM's own view of its end of the network, where SMs advance side by side (machine/window.h).
 *
 * What the SM sends in a window enters the network when the window has ended, at the cycle in which it was sent. So the
 * SM counts for itself what it has sent, and every packet that leaves the input sends a credit back, which takes as
 * long as a packet. The network's own shortest way is the length of a window: what an SM must know of the network in a
 * window was known before. */
#ifndef MINIGPU_PORT_H
#define MINIGPU_PORT_H

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
    port_credit *credits;        /* ring */
    port_entry *entries;         /* of this window */
    uint32_t head, count;        /* of the ring */
    uint32_t entered, caught_up; /* entries, and those that the network has */
    uint32_t capacity;           /* of entries */
    uint32_t flits;              /* sent, and without a credit */
    uint32_t refused;            /* 1: somebody found no room */
    uint32_t unused;
} network_port;

/* A packet has left the input: its credit is there at `cycle`. *sm_cycle: when the SM should look again. */
static inline void port_credit_at(network_port *p, uint64_t cycle, uint32_t flits, uint64_t *sm_cycle) {
    port_credit *credit = &p->credits[(p->head + p->count++) % PORT_CREDITS];
    credit->cycle = cycle;
    credit->flits = flits;
    if (p->refused && cycle < *sm_cycle) *sm_cycle = cycle;
}

#endif
