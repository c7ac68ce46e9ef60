/* crossbar: an input-queued crossbar without an arbitration loop (Lin 3.2.2, Karol 1987).
 *
 * Each input is a FIFO. A packet asks for its output as soon as it is the head of its input. Requests for one output
 * are granted in the order in which they were made, so the start of a packet is known at once: max(now, the cycle at
 * which the output is free). Input and output are busy until start + flits. A head whose output has no credit waits in
 * the output's list and blocks its input (head-of-line blocking). The order among heads of one cycle changes from cycle
 * to cycle.
 *
 * A packet takes one event (events.h): the host calls crossbar_event for the stage in the configuration. All cycles are
 * the network's. */
#ifndef MINIGPU_CROSSBAR_H
#define MINIGPU_CROSSBAR_H

#include "memory/events.h"

#define CROSSBAR_UNLIMITED UINT32_MAX

typedef struct crossbar_config {
    uint32_t inputs, outputs;
    uint32_t queue_packets;   /* of each input */
    uint32_t credits;         /* packets that each output accepts before a crossbar_credit; CROSSBAR_UNLIMITED */
    uint32_t stage;           /* of its events */
    uint32_t virtual_outputs; /* 1: an input may send any packet whose output is free (the negative control) */
} crossbar_config;

typedef struct crossbar_packet {
    uint64_t ready; /* the packet may ask for its output from this cycle on */
    uint32_t item, output, flits, unused;
} crossbar_packet;

typedef struct crossbar_input {
    uint64_t flits_sent;
    uint32_t head, count; /* of its ring */
    uint32_t state;       /* crossbar_head: the state of the ring's head */
    uint32_t next;        /* next input in the list of inputs that wait for a credit of the same output */
} crossbar_input;

typedef struct crossbar_output {
    uint64_t free_at;
    uint64_t flits_received;
    uint32_t credits;
    uint32_t first_waiting, last_waiting;
    uint32_t unused;
} crossbar_output;

typedef struct crossbar {
    crossbar_config config;
    uint32_t mask; /* the smallest power of two that is at least inputs, minus 1 */
    uint32_t queued;
} crossbar; /* followed by crossbar_input[inputs], crossbar_output[outputs], crossbar_packet[inputs][queue_packets] */

size_t crossbar_bytes(const crossbar_config *config);
/* Makes an empty crossbar in `memory`, 8-byte aligned. */
crossbar *crossbar_init(void *memory, const crossbar_config *config);
/* Returns the number of packets of an input, the one in transfer included. */
uint32_t crossbar_count(const crossbar *x, uint32_t input);
/* Appends a packet of `flits` flits to an input. The packet may ask for its output from cycle `ready` on, which must
 * not fall from packet to packet (with virtual outputs: from now on). Returns 0, or -1 when the input is full. */
int crossbar_offer(crossbar *x, events *e, uint64_t now, uint64_t ready, uint32_t input, uint32_t output,
                   uint32_t flits, uint32_t item);
/* Handles an event of the crossbar's stage at cycle `now`. When a packet's last flit has passed, returns 1 and sets
 * *done to the packet and *input to its input. */
int crossbar_event(crossbar *x, events *e, uint64_t now, const event *happened, crossbar_packet *done, uint32_t *input);
/* Reports that the output's receiver has room for one more packet. */
void crossbar_credit(crossbar *x, events *e, uint64_t now, uint32_t output);
uint64_t crossbar_flits_sent(const crossbar *x, uint32_t input);
uint64_t crossbar_flits_received(const crossbar *x, uint32_t output);
#endif
