#include "memory/crossbar.h"

#include <string.h>

#include "gpump_once.h"

typedef enum crossbar_head {
    HEAD_NONE,  /* the input is empty */
    HEAD_WAITS, /* waits for the cycle from which it may ask for its output, or, with virtual outputs, for any output */
    HEAD_CREDIT, /* waits in its output's list for a credit */
    HEAD_SENDS   /* its output is reserved */
} crossbar_head;

static crossbar_input *inputs(const crossbar *x) { return (crossbar_input *)(uintptr_t)(x + 1); }
static crossbar_output *outputs(const crossbar *x) {
    return (crossbar_output *)(uintptr_t)(inputs(x) + x->config.inputs);
}
static crossbar_packet *ring(const crossbar *x, uint32_t input) {
    return (crossbar_packet *)(uintptr_t)(outputs(x) + x->config.outputs) + (size_t)input * x->config.queue_packets;
}
/* Returns the first packet of an input; packet n behind it is at index n. */
static crossbar_packet *first(const crossbar *x, uint32_t input) { return &ring(x, input)[inputs(x)[input].head]; }
static crossbar_packet *packet(const crossbar *x, uint32_t input, uint32_t n) {
    uint32_t at = inputs(x)[input].head + n;
    if (at >= x->config.queue_packets) at -= x->config.queue_packets;
    return &ring(x, input)[at];
}

size_t crossbar_bytes(const crossbar_config *config) {
    return sizeof(crossbar) + config->inputs * sizeof(crossbar_input) + config->outputs * sizeof(crossbar_output) +
           (size_t)config->inputs * config->queue_packets * sizeof(crossbar_packet);
}

crossbar *crossbar_init(void *memory, const crossbar_config *config) {
    crossbar *x = (crossbar *)memory;
    uint32_t i;
    memset(x, 0, crossbar_bytes(config));
    x->config = *config;
    while (x->mask + 1 < config->inputs) x->mask = 2 * x->mask + 1;
    for (i = 0; i < config->outputs; i++) {
        outputs(x)[i].credits = config->credits;
        outputs(x)[i].first_waiting = outputs(x)[i].last_waiting = GPUMP_NONE;
    }
    return x;
}

uint32_t crossbar_count(const crossbar *x, uint32_t input) { return inputs(x)[input].count; }
uint64_t crossbar_flits_sent(const crossbar *x, uint32_t input) { return inputs(x)[input].flits_sent; }
uint64_t crossbar_flits_received(const crossbar *x, uint32_t output) { return outputs(x)[output].flits_received; }

static void schedule(crossbar *x, events *e, uint64_t cycle, uint32_t input) {
    events_put(e, cycle, x->config.stage, input ^ ((uint32_t)cycle & x->mask), input);
}

/* Gives the head of an input its output. The start and end of the transfer are known from here on. */
static void grant(crossbar *x, events *e, uint64_t now, uint32_t input) {
    const crossbar_packet *p = first(x, input);
    crossbar_output *out = &outputs(x)[p->output];
    const uint64_t start = now > out->free_at ? now : out->free_at;
    if (out->credits != CROSSBAR_UNLIMITED) out->credits--;
    out->free_at = start + p->flits;
    inputs(x)[input].state = HEAD_SENDS;
    schedule(x, e, out->free_at, input);
}

/* With virtual outputs: moves the oldest packet whose output is free to the head and sends it. */
static void send_any(crossbar *x, events *e, uint64_t now, uint32_t input) {
    uint32_t n, i;
    for (n = 0; n < inputs(x)[input].count; n++) {
        crossbar_packet chosen = *packet(x, input, n);
        const crossbar_output *out = &outputs(x)[chosen.output];
        if (out->free_at > now || !out->credits) continue;
        for (i = n; i > 0; i--) *packet(x, input, i) = *packet(x, input, i - 1);
        *packet(x, input, 0) = chosen;
        grant(x, e, now, input);
        return;
    }
}

/* Handles a packet that has become the head of its input. */
static void become_head(crossbar *x, events *e, uint64_t now, uint32_t input) {
    crossbar_input *in = &inputs(x)[input];
    const crossbar_packet *p = first(x, input);
    crossbar_output *out = &outputs(x)[p->output];
    in->state = HEAD_WAITS;
    if (x->config.virtual_outputs) {
        send_any(x, e, now, input); /* when no packet can go, the end of another transfer tries again */
    } else if (p->ready > now) {
        schedule(x, e, p->ready, input);
    } else if (out->credits) {
        grant(x, e, now, input);
    } else {
        in->state = HEAD_CREDIT;
        in->next = GPUMP_NONE;
        if (out->first_waiting == GPUMP_NONE)
            out->first_waiting = input;
        else
            inputs(x)[out->last_waiting].next = input;
        out->last_waiting = input;
    }
}

int crossbar_offer(crossbar *x, events *e, uint64_t now, uint64_t ready, uint32_t input, uint32_t output,
                   uint32_t flits, uint32_t item) {
    crossbar_input *in = &inputs(x)[input];
    crossbar_packet *p;
    if (in->count == x->config.queue_packets) return -1;
    p = packet(x, input, in->count++);
    p->ready = ready;
    p->item = item;
    p->output = output;
    p->flits = flits;
    x->queued++;
    if (in->state == HEAD_NONE)
        become_head(x, e, now, input);
    else if (x->config.virtual_outputs && in->state == HEAD_WAITS)
        send_any(x, e, now, input);
    return 0;
}

int crossbar_event(crossbar *x, events *e, uint64_t now, const event *happened, crossbar_packet *done,
                   uint32_t *input) {
    crossbar_input *in = &inputs(x)[happened->value];
    uint32_t i;
    *input = happened->value;
    if (in->state == HEAD_WAITS) { /* its cycle has come */
        become_head(x, e, now, *input);
        return 0;
    }
    *done = *first(x, *input);
    in->head = in->head + 1 == x->config.queue_packets ? 0 : in->head + 1;
    in->count--;
    in->flits_sent += done->flits;
    outputs(x)[done->output].flits_received += done->flits;
    x->queued--;
    in->state = HEAD_NONE;
    if (in->count) become_head(x, e, now, *input);
    for (i = 0; x->config.virtual_outputs && i < x->config.inputs; i++)
        if (inputs(x)[i].state == HEAD_WAITS) send_any(x, e, now, i);
    return 1;
}

void crossbar_credit(crossbar *x, events *e, uint64_t now, uint32_t output) {
    crossbar_output *out = &outputs(x)[output];
    const uint32_t input = out->first_waiting;
    out->credits++;
    if (input == GPUMP_NONE) return;
    out->first_waiting = inputs(x)[input].next;
    grant(x, e, now, input);
}
