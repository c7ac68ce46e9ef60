/* flat: the third model of the memory behind the L1s, which own_memory.sh adds by the recipe of memory/model.h: each
 * request is answered FLAT_CYCLES after it was sent, and bandwidth has no limit. */
#include "memory/model.h"

#define FLAT_CYCLES 500u
#define ANSWERS 1024u /* of one SM in flight */

typedef struct answer {
    uint64_t cycle; /* 0: advance has not seen the request */
    uint32_t token, unused;
} answer;

/* An SM's requests, oldest first: taken, visible to the SM, timed, sent. */
typedef struct flat_sm {
    answer *ring;
    uint32_t taken, visible, timed, sent;
} flat_sm;

typedef struct flat {
    const minigpu_config *config;
    flat_sm *sms;
    network_port *ports; /* NULL: SMs see answers at once */
    uint32_t count, unused;
} flat;

static void *make(arena *a, const minigpu_config *config, uint32_t sms, gpump_meter *meter) {
    flat *f = (flat *)arena_take(a, sizeof *f);
    uint32_t i;
    (void)meter;
    if (!f || !(f->sms = (flat_sm *)arena_take_array(a, sms, sizeof *f->sms))) return NULL;
    f->config = config;
    f->count = sms;
    for (i = 0; i < sms; i++)
        if (!(f->sms[i].ring = (answer *)arena_take_array(a, ANSWERS, sizeof(answer)))) return NULL;
    return f;
}

static int set_ports(void *memory, network_port *ports, arena *a) {
    (void)a;
    ((flat *)memory)->ports = ports;
    return 0;
}

static void publish(void *memory, uint32_t sm, uint64_t *sm_cycle) {
    flat_sm *s = &((flat *)memory)->sms[sm];
    s->visible = s->timed;
    if (s->taken != s->visible && s->ring[s->taken % ANSWERS].cycle < *sm_cycle)
        *sm_cycle = s->ring[s->taken % ANSWERS].cycle;
}

static uint32_t flits(const void *memory, const memory_packet *request) {
    (void)memory;
    (void)request;
    return 1;
}

static int may_enter(void *memory, uint64_t now, uint32_t sm, const memory_packet *request, uint64_t *sm_cycle) {
    const flat_sm *s = &((const flat *)memory)->sms[sm];
    (void)request;
    if (s->sent - s->taken < ANSWERS) return 1;
    if (*sm_cycle > now + 1) *sm_cycle = now + 1;
    return 0;
}

static void enter(void *memory, uint32_t sm, const memory_packet *request) {
    flat_sm *s = &((flat *)memory)->sms[sm];
    s->ring[s->sent++ % ANSWERS].token = request->token;
}

static void write_back(void *memory, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics) {
    (void)memory;
    (void)now;
    (void)sm;
    statistics->network_bytes += (uint64_t)lines * SEGMENT_BYTES;
}

static uint64_t advance(void *memory, uint64_t now, uint64_t *sm_cycles, memory_statistics *statistics) {
    flat *f = (flat *)memory;
    uint32_t i;
    for (i = 0; i < f->count; i++) {
        flat_sm *s = &f->sms[i];
        if (s->timed == s->sent) continue;
        for (; s->timed != s->sent; s->timed++) {
            s->ring[s->timed % ANSWERS].cycle = now + FLAT_CYCLES;
            statistics->dram_bytes += SEGMENT_BYTES;
            if (f->ports) port_credit_at(&f->ports[i], now + f->config->network_cycles, 1);
        }
        if (f->ports) continue;
        publish(f, i, &sm_cycles[i]);
    }
    return UINT64_MAX;
}

static int take(void *memory, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle) {
    flat_sm *s = &((flat *)memory)->sms[sm];
    const answer *first = &s->ring[s->taken % ANSWERS];
    if (s->taken == s->visible || first->cycle > now) {
        *sm_cycle = s->taken == s->visible ? UINT64_MAX : first->cycle;
        return 0;
    }
    reply->token = first->token;
    reply->hit = HIT_DRAM;
    s->taken++;
    return 1;
}

static uint32_t under_way(const void *memory, uint32_t sm) {
    const flat_sm *s = &((const flat *)memory)->sms[sm];
    return s->sent - s->taken;
}

static uint64_t last_reply(const void *memory, uint32_t sm) {
    const flat_sm *s = &((const flat *)memory)->sms[sm];
    return s->taken == s->timed ? 0 : s->ring[(s->timed - 1) % ANSWERS].cycle;
}

static uint64_t hash(const void *memory, uint64_t value) {
    const flat *f = (const flat *)memory;
    uint32_t i;
    for (i = 0; i < f->count; i++) value = gpump_hash_u64(value, f->sms[i].sent - f->sms[i].taken);
    return value;
}

const memory_model flat_model = {.name = "flat",
                                 .make = make,
                                 .set_ports = set_ports,
                                 .publish = publish,
                                 .flits = flits,
                                 .may_enter = may_enter,
                                 .enter = enter,
                                 .write_back = write_back,
                                 .advance = advance,
                                 .take = take,
                                 .under_way = under_way,
                                 .last_reply = last_reply,
                                 .hash = hash};
