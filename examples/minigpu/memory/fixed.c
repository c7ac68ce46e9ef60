#include "memory/fixed.h"

#include "memory/model.h"

#include "memory/cache.h"

#define HEADER_BYTES 8u /* of every packet on the network */
#define NEVER UINT64_MAX

typedef struct reply_entry {
    uint64_t cycle;
    memory_reply reply;
} reply_entry;

/* A request in the network's input. */
typedef struct input_entry {
    uint64_t enters; /* the cycle in which it enters; 0: it is there already */
    memory_packet request;
} input_entry;

/* An SM's port to the network. */
typedef struct port {
    input_entry *queue; /* the network's input: a ring of config.network_input_flits packets of at least one flit */
    reply_entry *sent;  /* with ports: replies that the SM must not see yet */
    uint32_t sent_count, unused;
    uint64_t up_free, down_free;
    uint64_t reply_order;        /* replies so far */
    uint32_t head, count, flits; /* of the queue: index, packets, flits */
    /* owned by the SM when there are ports */
    PAIR_ALIGNED reply_entry *replies; /* a ring: each reply is later than the one before, because the port to the SM
                                          has one at a time */
    uint32_t reply_head, reply_count;
    uint32_t refused;         /* 1: a request found no room in the queue */
    uint32_t refused_context; /* 1: a context's request found the port in use */
} port;

/* An L2 bank and the buffers before it. */
typedef struct bank {
    uint64_t free_at; /* when it accepts another request */
    uint64_t *starts; /* of its last config.l2_queue_entries requests: the queue has room once the oldest has begun */
    uint64_t *flit_ends; /* when each of the last config.network_output_flits flits left the network's output: there is
                            room once the oldest has left */
    uint32_t request, flit;
} bank;

struct fixed_memory {
    const minigpu_config *config;
    port *ports;
    network_port *sm_ports; /* the ports that get credits; NULL: SMs see the inputs themselves */
    bank *banks;
    uint64_t *group_free_q16; /* of each group of banks, or of each channel that has one; in 1/65536 cycles */
    uint64_t interval_q16;    /* time for which a line occupies its group */
    uint64_t beyond_cycles; /* from there to the reply: an idle load takes config.dram_cycles and one channel's time */
    uint32_t groups;        /* of all channels */
    uint32_t spread;        /* 1: lines are spread over the groups by a hash; 0: in turn */
    uint32_t packet_flits[2];  /* flits of a packet without and with data ... */
    uint32_t packet_cycles[2]; /* ... and the cycles for which it occupies a port */
    uint32_t room_flits[2];    /* the most flits of an input that has room for it */
    uint32_t sms;
    uint32_t words;                        /* of waiting */
    uint8_t *full;                         /* of each SM: MEMORY_FULL bits of its input */
    uint64_t waiting[(SMS_MAX + 63) / 64]; /* mask of the ports with requests */
    PAIR_ALIGNED cache l2;
    cache llc; /* with config.llc_bytes: the last-level cache, between L2 and DRAM */
};

fixed_memory *fixed_make(arena *a, const minigpu_config *c, uint32_t sms) {
    fixed_memory *f = (fixed_memory *)arena_take(a, sizeof *f);
    uint64_t longer; /* than a channel of one group takes */
    uint32_t i, data;
    if (!f) return NULL;
    f->config = c;
    f->sms = sms;
    f->words = (sms + 63) / 64;
    f->ports = (port *)arena_take_array(a, sms, sizeof *f->ports);
    f->full = (uint8_t *)arena_take_array(a, sms, sizeof *f->full);
    f->banks = (bank *)arena_take_array(a, c->l2_banks, sizeof *f->banks);
    f->groups = c->dram_channels * c->dram_groups;
    f->spread = c->dram_groups > 1;
    f->group_free_q16 = (uint64_t *)arena_take_array(a, f->groups, sizeof *f->group_free_q16);
    if (!f->ports || !f->full || !f->banks || !f->group_free_q16 || cache_make(&f->l2, a, c->l2_bytes, c->l2_ways))
        return NULL;
    if (c->llc_bytes && cache_make(&f->llc, a, c->llc_bytes, c->l2_ways)) return NULL;
    for (i = 0; i < sms; i++) {
        port *p = &f->ports[i];
        p->queue = (input_entry *)arena_take_array(a, c->network_input_flits, sizeof *p->queue);
        p->replies = (reply_entry *)arena_take_array(a, FIXED_REQUESTS_PER_SM, sizeof *p->replies);
        if (!p->queue || !p->replies) return NULL;
    }
    for (i = 0; i < c->l2_banks; i++) {
        f->banks[i].starts = (uint64_t *)arena_take_array(a, c->l2_queue_entries, sizeof(uint64_t));
        f->banks[i].flit_ends = (uint64_t *)arena_take_array(a, c->network_output_flits, sizeof(uint64_t));
        if (!f->banks[i].starts || !f->banks[i].flit_ends) return NULL;
    }
    f->interval_q16 = gpump_muldiv_up((uint64_t)SEGMENT_BYTES * f->groups << 16, c->gpu.clock_khz,
                                      (uint64_t)c->gpu.memory_mb_per_s * 1000);
    longer = (f->interval_q16 - f->interval_q16 / c->dram_groups) >> 16;
    f->beyond_cycles = c->dram_cycles > longer ? c->dram_cycles - longer : 0;
    for (data = 0; data < 2; data++) {
        uint32_t bytes = HEADER_BYTES + (data ? SEGMENT_BYTES : 0),
                 flits = (bytes + c->network_flit_bytes - 1) / c->network_flit_bytes;
        f->packet_flits[data] = flits;
        f->room_flits[data] = c->network_input_flits > flits ? c->network_input_flits - flits : 0;
        f->packet_cycles[data] =
            (flits * c->network_flit_bytes + c->network_bytes_per_cycle - 1) / c->network_bytes_per_cycle;
    }
    return f;
}

/* ---- replies, in the order in which their requests left ---- */

static reply_entry *reply_at(const port *p, uint32_t n) {
    return &p->replies[(p->reply_head + n) % FIXED_REQUESTS_PER_SM];
}

static void put_reply(port *p, reply_entry entry) { *reply_at(p, p->reply_count++) = entry; }

int fixed_take(fixed_memory *f, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle) {
    port *p = &f->ports[sm];
    const reply_entry *first = reply_at(p, 0);
    if (!p->reply_count || first->cycle > now) {
        *sm_cycle = p->reply_count ? first->cycle : NEVER;
        p->refused = p->refused_context = 0; /* refused requests ask again */
        return 0;
    }
    *reply = first->reply;
    p->reply_head = (p->reply_head + 1) % FIXED_REQUESTS_PER_SM;
    p->reply_count--;
    *sm_cycle = p->reply_count ? reply_at(p, 0)->cycle : NEVER;
    p->refused = p->refused_context = 0;
    return 1;
}

/* ---- DRAM, L2, network ---- */

/* Returns the group of banks that has a line. */
static uint64_t group_of(const fixed_memory *f, uint64_t line) {
    if (!f->spread) return line % f->groups;
    line = (line ^ line >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    line = (line ^ line >> 27) * UINT64_C(0x94d049bb133111eb);
    return (line ^ line >> 31) % f->groups;
}

/* Occupies a group of banks for one line that arrives at `from`. Returns when the line has passed. Raises *waits to the
 * cycles until the group's queue has room for the line. */
static uint64_t occupy_channel(fixed_memory *f, uint64_t line, uint64_t from, uint64_t *waits,
                               memory_statistics *statistics) {
    uint64_t *free_at = &f->group_free_q16[group_of(f, line)], queue = f->interval_q16 * f->config->dram_queue_entries;
    uint64_t start = from << 16 > *free_at ? from << 16 : *free_at;
    if (start > (from << 16) + queue + (*waits << 16)) *waits = (start - queue - (from << 16)) >> 16;
    *free_at = start + f->interval_q16;
    statistics->dram_bytes += SEGMENT_BYTES;
    return (*free_at + 0xffff) >> 16;
}

/* Loads a line that L2 does not hold. Returns when the line arrives there. */
static uint64_t load_line(fixed_memory *f, uint64_t line, uint64_t t, uint64_t *waits, memory_statistics *statistics) {
    if (f->config->llc_bytes) {
        cache_line *found = cache_find(&f->llc, line);
        const int held = found != NULL;
        if (!held) found = cache_victim(&f->llc, line);
        *cache_tag(&f->llc, found) = line + 1;
        found->stamp = ++f->llc.clock;
        if (held) return t + f->config->llc_cycles;
    }
    return occupy_channel(f, line, t, waits, statistics) + f->beyond_cycles;
}

/* Returns when a bank begins with a request that arrives at `from`. Sets *enters to the cycle at which the network's
 * output had room for the request's flits. */
static uint64_t occupy_bank(const fixed_memory *f, bank *b, uint32_t count, uint64_t from, uint64_t *enters) {
    const uint32_t output = f->config->network_output_flits, queue = f->config->l2_queue_entries;
    uint64_t oldest, start;
    uint32_t i;
    if (count > output) count = output;
    oldest = b->flit_ends[(b->flit + count - 1) % output]; /* the flit that had the place of the request's last flit */
    *enters = from = from > oldest ? from : oldest;
    if (from < b->starts[b->request]) from = b->starts[b->request];
    for (i = 0; i < count; i++) {
        b->flit_ends[b->flit] = from;
        b->flit = b->flit + 1 == output ? 0 : b->flit + 1;
    }
    start = from > b->free_at ? from : b->free_at;
    b->starts[b->request] = start;
    b->request = b->request + 1 == queue ? 0 : b->request + 1;
    return start;
}

/* Looks a line up at cycle `t`. Returns when the bank has the line, and sets *hit to where it was. */
static uint64_t look_up(fixed_memory *f, bank *b, uint64_t line, uint32_t kind, uint64_t t, uint32_t *hit,
                        memory_statistics *statistics) {
    cache_line *found = cache_find(&f->l2, line);
    uint64_t waits = 0;
    if (found) {
        statistics->l2_hits++;
        *hit = HIT_L2;
        if (t < found->ready) t = found->ready; /* its fill is in flight */
    } else {
        statistics->l2_misses++;
        *hit = HIT_DRAM;
        found = f->config->l2_random ? cache_any(&f->l2, line) : cache_victim(&f->l2, line);
        if (t < found->ready) t = found->ready; /* the place of a line in flight is taken until its fill arrives */
        if (found->dirty) occupy_channel(f, *cache_tag(&f->l2, found) - 1, t, &waits, statistics); /* write back */
        *cache_tag(&f->l2, found) = line + 1;
        found->dirty = 0;
        /* A line that is written whole is not read first. */
        if (request_returns_data(kind)) t = load_line(f, line, t, &waits, statistics);
        b->free_at += waits;
        found->ready = t;
    }
    found->stamp = ++f->l2.clock;
    if (request_carries_data(kind)) found->dirty = 1;
    return t;
}

/* An empty input has room for any packet, and every packet has flits. */
static int has_room(const fixed_memory *f, const port *p, uint32_t data) { return p->flits <= f->room_flits[data]; }

static uint8_t full_bits(const fixed_memory *f, const port *p) {
    return (uint8_t)((p->flits > f->room_flits[0]) * MEMORY_FULL + (p->flits > f->room_flits[1]) * MEMORY_FULL_OF_DATA);
}

/* Sends the first request of a port. Returns its flits. */
static uint32_t depart(fixed_memory *f, uint32_t sm, uint64_t now, memory_statistics *statistics) {
    port *p = &f->ports[sm];
    const memory_packet request = p->queue[p->head].request;
    const uint64_t line = request.address / SEGMENT_BYTES;
    const int writes = request_carries_data(request.kind), returns = request_returns_data(request.kind);
    const uint32_t up_cycles = f->packet_cycles[writes], down_cycles = f->packet_cycles[returns];
    bank *b = &f->banks[line % f->config->l2_banks];
    reply_entry reply;
    uint64_t arrives = now + up_cycles + f->config->network_cycles, enters, t;
    uint32_t hit;
    p->head = p->head + 1 == f->config->network_input_flits ? 0 : p->head + 1;
    p->count--;
    p->flits -= f->packet_flits[writes];
    f->full[sm] = full_bits(f, p);
    t = occupy_bank(f, b, f->packet_flits[writes], arrives, &enters);
    p->up_free = now + up_cycles + (enters - arrives);
    b->free_at = t + 2;
    t = look_up(f, b, line, request.kind, t + f->config->l2_cycles, &hit, statistics);
    if (t < p->down_free) t = p->down_free;
    p->down_free = t + down_cycles;
    statistics->network_bytes +=
        (uint64_t)(f->packet_flits[writes] + f->packet_flits[returns]) * f->config->network_flit_bytes;
    reply.cycle = t + down_cycles + f->config->network_cycles;
    p->reply_order++;
    reply.reply.token = request.token;
    reply.reply.hit = hit;
    if (f->sm_ports)
        p->sent[p->sent_count++] = reply;
    else
        put_reply(p, reply);
    return f->packet_flits[writes];
}

/* ---- interface ---- */

int fixed_set_ports(fixed_memory *f, network_port *ports, arena *a) {
    uint32_t i;
    f->sm_ports = ports;
    for (i = 0; i < f->sms; i++)
        if (!(f->ports[i].sent = (reply_entry *)arena_take_array(a, FIXED_REQUESTS_PER_SM, sizeof(reply_entry))))
            return -1;
    return 0;
}

void fixed_publish(fixed_memory *f, uint32_t sm, uint64_t *sm_cycle) {
    port *p = &f->ports[sm];
    uint32_t i;
    for (i = 0; i < p->sent_count; i++) put_reply(p, p->sent[i]);
    p->sent_count = 0;
    if (p->reply_count && reply_at(p, 0)->cycle < *sm_cycle) *sm_cycle = reply_at(p, 0)->cycle;
}

uint32_t fixed_flits(const fixed_memory *f, const memory_packet *request) {
    return f->packet_flits[request_carries_data(request->kind)];
}

int fixed_may_enter(fixed_memory *f, uint64_t now, uint32_t sm, const memory_packet *request, uint64_t *sm_cycle) {
    port *p = &f->ports[sm];
    if (!request_is_context(request->kind)) {
        if (has_room(f, p, request_carries_data(request->kind))) return 1;
        p->refused = 1;
        return 0;
    }
    if (!p->count && p->up_free <= now) return 1;
    p->refused_context = 1;
    if (!p->count && p->up_free < *sm_cycle) *sm_cycle = p->up_free;
    return 0;
}

static void enter_at(fixed_memory *f, port *p, uint32_t sm, uint64_t cycle, const memory_packet *request) {
    uint32_t at = p->head + p->count++;
    cache_fetch_ahead(&f->l2, request->address / SEGMENT_BYTES);
    if (at >= f->config->network_input_flits) at -= f->config->network_input_flits;
    p->queue[at].enters = cycle;
    p->queue[at].request = *request;
    p->flits += f->packet_flits[request_carries_data(request->kind)];
    f->full[sm] = full_bits(f, p);
    f->waiting[sm / 64] |= UINT64_C(1) << sm % 64;
}

void fixed_enter(fixed_memory *f, uint32_t sm, const memory_packet *request) {
    enter_at(f, &f->ports[sm], sm, 0, request);
}

int fixed_enter_at(fixed_memory *f, uint64_t cycle, uint32_t sm, const memory_packet *request) {
    port *p = &f->ports[sm];
    if (!has_room(f, p, request_carries_data(request->kind))) return 0;
    enter_at(f, p, sm, cycle, request);
    return 1;
}

const uint8_t *fixed_full(const fixed_memory *f) { return f->full; }

uint32_t fixed_least_cycles(const fixed_memory *f) {
    return 2 * (f->packet_cycles[0] + f->config->network_cycles) + f->config->l2_cycles;
}

void fixed_write_back(fixed_memory *f, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics) {
    port *p = &f->ports[sm];
    if (!lines) return;
    p->up_free = (p->up_free > now ? p->up_free : now) + (uint64_t)lines * f->packet_cycles[1];
    statistics->network_bytes += (uint64_t)lines * f->packet_flits[1] * f->config->network_flit_bytes;
}

/* Sends the first request of an SM's port if it may leave now, and updates what the SM sees. Returns when the next
 * request may leave; NEVER: there is none. */
static uint64_t advance_port(fixed_memory *f, uint32_t sm, uint64_t now, uint64_t *sm_cycle,
                             memory_statistics *statistics) {
    port *p = &f->ports[sm];
    uint64_t enters;
    if (p->up_free <= now && p->queue[p->head].enters <= now) {
        const uint32_t flits = depart(f, sm, now, statistics);
        if (f->sm_ports) {
            port_credit_at(&f->sm_ports[sm], now + f->config->network_cycles, flits);
        } else {
            if (reply_at(p, 0)->cycle < *sm_cycle) *sm_cycle = reply_at(p, 0)->cycle;
            if (p->refused) *sm_cycle = now + 1;
            if (p->refused_context && !p->count && p->up_free < *sm_cycle) *sm_cycle = p->up_free;
        }
        if (!p->count) {
            f->waiting[sm / 64] &= ~(UINT64_C(1) << sm % 64);
            return NEVER;
        }
    }
    enters = p->queue[p->head].enters;
    if (enters < p->up_free) enters = p->up_free;
    return enters > now ? enters : now + 1;
}

uint64_t fixed_advance(fixed_memory *f, uint64_t now, uint64_t end, uint64_t *sm_cycles,
                       memory_statistics *statistics) {
    uint64_t next = now, left;
    uint32_t word;
    do {
        now = next;
        next = NEVER;
        for (word = 0; word < f->words; word++) {
            for (left = f->waiting[word]; left; left &= left - 1) {
                const uint32_t sm = word * 64 + gpump_bits_lowest64(left);
                const uint64_t leaves = advance_port(f, sm, now, &sm_cycles[sm], statistics);
                if (leaves < next) next = leaves;
                if (sm_cycles[sm] < end) end = sm_cycles[sm];
            }
        }
    } while (next < end);
    return next;
}

uint32_t fixed_under_way(const fixed_memory *f, uint32_t sm) { return f->ports[sm].count + f->ports[sm].reply_count; }

uint64_t fixed_last_reply(const fixed_memory *f, uint32_t sm) {
    const port *p = &f->ports[sm];
    uint64_t last = 0;
    uint32_t i;
    for (i = 0; i < p->reply_count; i++)
        if (reply_at(p, i)->cycle > last) last = reply_at(p, i)->cycle;
    return last;
}

uint64_t fixed_hash(const fixed_memory *f, uint64_t hash) {
    uint32_t i, n;
    hash = cache_hash(&f->l2, hash);
    if (f->config->llc_bytes) hash = cache_hash(&f->llc, hash);
    for (i = 0; i < f->sms; i++) {
        const port *p = &f->ports[i];
        hash = gpump_hash_u64(hash, p->reply_order);
        hash = gpump_hash_u64(hash, p->up_free);
        for (n = 0; n < p->reply_count; n++) hash = gpump_hash_u64(hash, reply_at(p, n)->cycle);
    }
    return hash;
}

/* ---- the table of functions ---- */

static void *model_make(arena *a, const minigpu_config *config, uint32_t sms, gpump_meter *meter) {
    (void)meter;
    return fixed_make(a, config, sms);
}
static int model_set_ports(void *memory, network_port *ports, arena *a) {
    return fixed_set_ports((fixed_memory *)memory, ports, a);
}
static void model_publish(void *memory, uint32_t sm, uint64_t *sm_cycle) {
    fixed_publish((fixed_memory *)memory, sm, sm_cycle);
}
static uint32_t model_flits(const void *memory, const memory_packet *request) {
    return fixed_flits((const fixed_memory *)memory, request);
}
static int model_may_enter(void *memory, uint64_t now, uint32_t sm, const memory_packet *request, uint64_t *sm_cycle) {
    return fixed_may_enter((fixed_memory *)memory, now, sm, request, sm_cycle);
}
static void model_enter(void *memory, uint32_t sm, const memory_packet *request) {
    fixed_enter((fixed_memory *)memory, sm, request);
}
static int model_enter_next(void *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    return fixed_enter_at((fixed_memory *)memory, now + 1, sm, request);
}
static const uint8_t *model_full(const void *memory) { return fixed_full((const fixed_memory *)memory); }
static uint32_t model_least_cycles(const void *memory) { return fixed_least_cycles((const fixed_memory *)memory); }
static void model_write_back(void *memory, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics) {
    fixed_write_back((fixed_memory *)memory, now, sm, lines, statistics);
}
static uint64_t model_advance(void *memory, uint64_t now, uint64_t *sm_cycles, memory_statistics *statistics) {
    return fixed_advance((fixed_memory *)memory, now, 0, sm_cycles, statistics);
}
static uint64_t model_advance_alone(void *memory, uint64_t now, uint64_t end, uint64_t *sm_cycles,
                                    memory_statistics *statistics) {
    return fixed_advance((fixed_memory *)memory, now, end, sm_cycles, statistics);
}
static int model_take(void *memory, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle) {
    return fixed_take((fixed_memory *)memory, now, sm, reply, sm_cycle);
}
static uint32_t model_under_way(const void *memory, uint32_t sm) {
    return fixed_under_way((const fixed_memory *)memory, sm);
}
static uint64_t model_last_reply(const void *memory, uint32_t sm) {
    return fixed_last_reply((const fixed_memory *)memory, sm);
}
static uint64_t model_hash(const void *memory, uint64_t hash) { return fixed_hash((const fixed_memory *)memory, hash); }
static void model_empty(void *memory) {
    fixed_memory *f = (fixed_memory *)memory;
    cache_empty(&f->l2);
    if (f->config->llc_bytes) cache_empty(&f->llc);
}

const memory_model fixed_model = {
    .name = "fixed",
    .make = model_make,
    .set_ports = model_set_ports,
    .publish = model_publish,
    .flits = model_flits,
    .may_enter = model_may_enter,
    .enter = model_enter,
    .enter_next = model_enter_next,
    .full = model_full,
    .least_cycles = model_least_cycles,
    .write_back = model_write_back,
    .advance = model_advance,
    .advance_alone = model_advance_alone,
    .take = model_take,
    .under_way = model_under_way,
    .last_reply = model_last_reply,
    .hash = model_hash,
    .empty = model_empty,
};
