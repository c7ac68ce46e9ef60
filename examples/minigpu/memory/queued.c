#include "memory/queued.h"

#include "memory/model.h"

#include <string.h>

#define HEADER_BYTES 8u /* header of every packet on the network */
#define NEVER UINT64_MAX
#define NONE GPUMP_NONE

/* The order of events within one cycle: events that free room come before events that need it. */
typedef enum queued_stage { STAGE_UP, STAGE_FILL, STAGE_PICK, STAGE_BANK, STAGE_REPLY, STAGE_DOWN } queued_stage;

/* A clock that makes `cycles` cycles while another clock makes `per`. */
typedef struct ratio {
    uint64_t cycles, per;
} ratio;

/* A request in flight. Its name is sm * QUEUED_REQUESTS_PER_SM + token. */
typedef struct packet {
    uint64_t line;    /* within its bank */
    uint64_t entered; /* when it entered its present hop */
    uint64_t fetched; /* when its line was requested from DRAM */
    uint32_t bank, kernel;
    uint16_t up_flits, down_flits;
    uint8_t kind, access, hit, unused;
    uint32_t unused_too;
} packet;

typedef struct arrival {
    uint64_t cycle; /* of the SMs */
    uint32_t token, hit;
} arrival;

/* An SM's port to the network. */
typedef struct queued_port {
    uint64_t busy_until; /* network cycle: lines of the L1 that are written back occupy the port until then */
    uint32_t put;        /* replies put so far */
    uint32_t flits;      /* in the input */
    uint32_t entered;    /* requests so far */
    uint32_t entering;   /* the request that enters in this cycle or the next; NONE */
    uint64_t enters;     /* the cycle in which it enters; 0: the next that is simulated */
    /* owned by the SM when there are ports */
    PAIR_ALIGNED arrival *arrivals; /* ring in the order of cycles, since the crossbar serves one packet at a time */
    uint32_t taken, visible;        /* replies so far: taken by the SM, and visible to it (queued_publish) */
    uint32_t refused;               /* 1: a request found no room in the input */
    uint32_t refused_flits;         /* flits of the smallest refused request; 0: a context's request */
} queued_port;

/* The banks that are reserved for a kernel. */
typedef struct bank_slice {
    uint32_t first, count;
} bank_slice;

struct queued_memory {
    const minigpu_config *config;
    gpump_meter *meter;
    events *events;
    crossbar *up, *down;
    l2 *l2;
    dram **channels;
    queued_port *ports;
    network_port *sm_ports; /* the ports that get credits; NULL: SMs read the fill of the inputs directly */
    packet *packets;
    uint8_t *refused;   /* per SM: memory_refuse */
    bank_slice *slices; /* by the meter's kernel; NULL: no slices; count 0: the kernel shares all banks */
    uint8_t *bank_called, *channel_called; /* 1: an event of the bank or channel is entered */
    ratio network, memory; /* the network's clock relative to the SMs', the memory's relative to the network's */
    uint32_t wire_cycles;  /* latency of one direction, network cycles */
    uint32_t fill_cycles;  /* from the end of DRAM's data to the fill, network cycles */
    uint32_t sms, banks, channel_count, banks_per_channel;
    uint32_t bank_bits;          /* log2 of banks, when that is a power of two; NONE */
    PAIR_ALIGNED uint64_t fills; /* lines that filled L2 ... */
    uint64_t write_backs;        /* ... and lines that L2 wrote back */
    uint64_t flits_up, flits_down;
    uint64_t entered; /* number of SMs with a request that enters */
};

/* ---- clocks ---- */

static ratio make_ratio(uint64_t cycles, uint64_t per) {
    uint64_t a = cycles, b = per;
    ratio r;
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    r.cycles = cycles / a;
    r.per = per / a;
    return r;
}
static uint64_t scale_down(uint64_t cycle, uint64_t to, uint64_t from) {
    return to == from ? cycle : cycle * to / from;
}
static uint64_t scale_up(uint64_t cycle, uint64_t to, uint64_t from) {
    return to == from ? cycle : (cycle * to + from - 1) / from;
}
static uint64_t sm_cycle_of(const queued_memory *q, uint64_t network) {
    return scale_up(network, q->network.per, q->network.cycles);
}

/* ---- building ---- */

/* Returns the part of a load's latency that is spent in its SM, from its issue to the issue of a dependent instruction:
 * operand read, and one cycle each for translation, L1, miss queue and issue. */
static uint32_t sm_way_cycles(const minigpu_config *c) { return c->operand_read_cycles + 4; }

static uint32_t flits_of(const minigpu_config *c, uint32_t bytes) {
    return (HEADER_BYTES + bytes + c->network_flit_bytes - 1) / c->network_flit_bytes;
}

static uint32_t above(uint64_t whole, uint64_t part) { return whole > part ? (uint32_t)(whole - part) : 1; }

/* Returns the memory channels of a part of the GPU: its share of the bandwidth, so that each channel keeps its
 * clock. A board whose bandwidth is given has them all. */
static uint32_t channels_of(const minigpu_config *c) {
    gpump_gpu whole;
    uint64_t channels = c->dram_channels;
    if (!c->board_memory_mb_per_s && gpump_preset(&gpump_gpu_component, &whole, c->preset, NULL) == GPUMP_OK &&
        c->gpu.memory_mb_per_s < whole.memory_mb_per_s)
        channels = gpump_muldiv_up(channels, c->gpu.memory_mb_per_s, whole.memory_mb_per_s);
    return channels < c->l2_banks ? (uint32_t)channels : c->l2_banks;
}

/* Pads the latencies of L2 and DRAM, so that an idle load takes the totals of the configuration. */
static void pad(queued_memory *q, const minigpu_config *c, const dram_config *channel, l2_config *cache) {
    const uint64_t flits = flits_of(c, 0) + flits_of(c, SEGMENT_BYTES),
                   raw = scale_up(channel->rcd + channel->cl + channel->line_cycles, q->memory.per, q->memory.cycles),
                   sm = sm_way_cycles(c);
    uint64_t beyond = scale_down(c->dram_cycles, q->network.cycles, q->network.per);
    cache->latency_cycles = (uint32_t)scale_up(c->l2_cycles, q->network.cycles, q->network.per);
    if (c->l2_load_cycles)
        cache->latency_cycles = above(scale_down(above(c->l2_load_cycles, sm), q->network.cycles, q->network.per),
                                      2 * q->wire_cycles + flits);
    if (c->l2_load_cycles && c->dram_load_cycles > c->l2_load_cycles)
        beyond = scale_down(c->dram_load_cycles - c->l2_load_cycles, q->network.cycles, q->network.per);
    q->fill_cycles = above(beyond, raw);
}

/* Sets sizes and clocks of the network, L2 and DRAM. */
static void set_clocks(queued_memory *q, const minigpu_config *c, uint32_t sms) {
    const uint64_t network_khz = minigpu_config_network_khz(c);
    uint64_t memory_khz;
    q->sms = sms;
    q->banks = c->l2_banks;
    q->channel_count = channels_of(c);
    q->banks_per_channel = (q->banks + q->channel_count - 1) / q->channel_count;
    q->bank_bits = NONE;
    if (!(q->banks & (q->banks - 1)))
        for (q->bank_bits = 0; 1u << q->bank_bits < q->banks; q->bank_bits++) {}
    memory_khz = (uint64_t)c->gpu.memory_mb_per_s * 1000 / ((uint64_t)q->channel_count * c->dram_bytes_per_cycle);
    q->network = make_ratio(network_khz, c->gpu.clock_khz);
    q->memory = make_ratio(memory_khz ? memory_khz : 1, network_khz);
    q->wire_cycles = (uint32_t)scale_up(c->network_cycles, q->network.cycles, q->network.per);
}

/* The configurations of the parts that the model joins. */
typedef struct part_configs {
    crossbar_config up, down;
    dram_config channel;
    l2_config cache;
} part_configs;

static void configure_parts(queued_memory *q, const minigpu_config *c, part_configs *p) {
    memset(p, 0, sizeof *p);
    dram_config_gddr5(&p->channel);
    p->channel.queue_entries = c->dram_queue_entries < 2 ? 2 : c->dram_queue_entries;
    p->channel.line_cycles = (SEGMENT_BYTES + c->dram_bytes_per_cycle - 1) / c->dram_bytes_per_cycle;
    p->channel.idle_cycles = c->dram_idle_cycles;
    p->cache.banks = q->banks;
    p->cache.ways = c->l2_ways;
    p->cache.sets = c->l2_bytes / SEGMENT_BYTES / c->l2_ways / q->banks;
    if (!p->cache.sets) p->cache.sets = 1;
    p->cache.queue_entries = c->l2_queue_entries;
    p->cache.mshrs = c->l2_mshrs;
    p->cache.merges = c->l2_merges;
    p->cache.data_cycles = (SEGMENT_BYTES + c->l2_port_bytes - 1) / c->l2_port_bytes;
    p->cache.store_fetches = c->l2_store_fetches;
    p->cache.packets = q->sms * QUEUED_REQUESTS_PER_SM;
    pad(q, c, &p->channel, &p->cache);
    /* Replies in the bank's pipeline have slots of their own, beside the queue's. */
    p->cache.reply_slots = c->l2_reply_entries + p->cache.latency_cycles / p->cache.data_cycles + 1;
    p->up.inputs = q->sms;
    p->up.outputs = q->banks;
    p->up.queue_packets = c->network_input_flits;
    p->up.credits = c->l2_queue_entries;
    p->up.stage = STAGE_UP;
    p->down.inputs = q->banks;
    p->down.outputs = q->sms;
    p->down.queue_packets = p->cache.reply_slots;
    p->down.credits = CROSSBAR_UNLIMITED;
    p->down.stage = STAGE_DOWN;
}

/* Makes the parts. Returns 0, or -1 when the arena is full. */
static int make_parts(queued_memory *q, arena *a, const part_configs *p) {
    /* Events: one per input of a crossbar, a start per bank, a pick per channel, and the fills and replies in
     * flight. */
    const uint64_t events_needed =
        q->sms + q->banks * (2 + (uint64_t)p->cache.mshrs + p->cache.reply_slots) + q->channel_count;
    void *part;
    if (events_needed > 1u << 24 || !(part = arena_take(a, events_bytes((uint32_t)events_needed)))) return -1;
    q->events = events_init(part, (uint32_t)events_needed);
    if (!(part = arena_take(a, crossbar_bytes(&p->up)))) return -1;
    q->up = crossbar_init(part, &p->up);
    if (!(part = arena_take(a, crossbar_bytes(&p->down)))) return -1;
    q->down = crossbar_init(part, &p->down);
    if (!(part = arena_take(a, l2_bytes(&p->cache)))) return -1;
    q->l2 = l2_init(part, &p->cache);
    if (!(q->channels = (dram **)arena_take_array(a, q->channel_count, sizeof *q->channels))) return -1;
    for (uint32_t i = 0; i < q->channel_count; i++) {
        if (!(part = arena_take(a, dram_bytes(&p->channel)))) return -1;
        q->channels[i] = dram_init(part, &p->channel);
    }
    return 0;
}

queued_memory *queued_make(arena *a, const minigpu_config *c, uint32_t sms, gpump_meter *meter) {
    queued_memory *q = (queued_memory *)arena_take(a, sizeof *q);
    part_configs parts;
    if (!q) return NULL;
    q->config = c;
    q->meter = meter;
    set_clocks(q, c, sms);
    configure_parts(q, c, &parts);
    if (make_parts(q, a, &parts)) return NULL;
    q->refused = (uint8_t *)arena_take_array(a, sms, sizeof *q->refused);
    q->ports = (queued_port *)arena_take_array(a, sms, sizeof *q->ports);
    q->packets = (packet *)arena_take_array(a, (size_t)sms * QUEUED_REQUESTS_PER_SM, sizeof *q->packets);
    q->bank_called = (uint8_t *)arena_take_array(a, q->banks, 1);
    q->channel_called = (uint8_t *)arena_take_array(a, q->channel_count, 1);
    if (!q->refused || !q->ports || !q->packets || !q->bank_called || !q->channel_called) return NULL;
    if (meter && !(q->slices = (bank_slice *)arena_take_array(a, meter->config.kernels + 1, sizeof *q->slices)))
        return NULL;
    for (uint32_t i = 0; i < sms; i++) {
        q->ports[i].entering = NONE;
        q->ports[i].arrivals = (arrival *)arena_take_array(a, QUEUED_REQUESTS_PER_SM, sizeof(arrival));
        if (!q->ports[i].arrivals) return NULL;
    }
    return q;
}

/* ---- addresses ---- */

/* Returns the exclusive or of all groups of `bits` bits. */
static uint64_t fold(uint64_t value, uint32_t bits) {
    uint64_t folded = 0;
    for (; value; value >>= bits) folded ^= value;
    return folded & ((UINT64_C(1) << bits) - 1);
}

uint32_t queued_bank(const queued_memory *q, uint64_t line, uint64_t *within) {
    if (q->bank_bits == NONE) {
        *within = line / q->banks;
        return (uint32_t)((line % q->banks + (q->config->l2_hashed ? fold(*within, 16) : 0)) % q->banks);
    }
    *within = line >> q->bank_bits;
    return (uint32_t)((line ^ (q->config->l2_hashed && q->bank_bits ? fold(*within, q->bank_bits) : 0)) &
                      (q->banks - 1));
}

/* Returns the bank of a request: one of its kernel's slice, or of all banks. */
static uint32_t bank_of(const queued_memory *q, const memory_packet *request, uint64_t *within) {
    const uint64_t line = request->address / SEGMENT_BYTES;
    const bank_slice *slice = q->slices ? &q->slices[request->kernel] : NULL;
    if (!slice || !slice->count) return queued_bank(q, line, within);
    *within = line / slice->count;
    return slice->first + (uint32_t)((line + fold(*within, 16)) % slice->count);
}

void queued_set_slice(queued_memory *q, uint32_t kernel, uint32_t first, uint32_t eighths) {
    q->slices[kernel].first = first * q->banks / 8;
    q->slices[kernel].count = eighths * q->banks / 8;
}

/* The channel of a bank, and the number of a bank's line in the channel. */
static uint32_t channel_of(const queued_memory *q, uint32_t bank) { return bank / q->banks_per_channel; }
static uint64_t channel_line(const queued_memory *q, uint32_t bank, uint64_t within) {
    return within * q->banks_per_channel + bank % q->banks_per_channel;
}

/* ---- calls between the parts ---- */

/* Enters an event for the bank to look at its first request, at `now` or later. */
static void call_bank(queued_memory *q, uint64_t now, uint32_t bank) {
    const uint64_t next = l2_next(q->l2, bank);
    if (q->bank_called[bank] || next == L2_NEVER) return;
    q->bank_called[bank] = 1;
    events_put(q->events, next > now ? next : now, STAGE_BANK, bank, bank);
}

/* Makes a blocked bank try again. */
static void retry_bank(queued_memory *q, uint64_t now, uint32_t bank) {
    if (l2_units(q->l2)[bank].blocked) call_bank(q, now, bank);
}

static void call_channel(queued_memory *q, uint64_t now, uint32_t channel) {
    const uint64_t now_memory = scale_down(now, q->memory.cycles, q->memory.per),
                   next = dram_next(q->channels[channel], now_memory);
    uint64_t cycle;
    if (q->channel_called[channel] || next == DRAM_NEVER) return;
    q->channel_called[channel] = 1;
    cycle = scale_up(next, q->memory.per, q->memory.cycles);
    events_put(q->events, cycle > now ? cycle : now, STAGE_PICK, channel, channel);
}

static void to_channel(queued_memory *q, uint64_t now, uint32_t bank, uint64_t within, int writes, uint32_t item) {
    const uint32_t channel = channel_of(q, bank);
    dram_put(q->channels[channel], scale_down(now, q->memory.cycles, q->memory.per), channel_line(q, bank, within),
             (uint32_t)writes, item);
    call_channel(q, now, channel);
}

/* Enters the event at which a reply leaves its bank's pipeline. */
static void reply_at(queued_memory *q, uint64_t cycle, uint32_t index) {
    events_put(q->events, cycle, STAGE_REPLY, q->packets[index].bank, index);
}

/* Gives the free reply slots to packets whose line has arrived. */
static void release_ready(queued_memory *q, uint64_t now, uint32_t bank) {
    uint32_t index;
    while ((index = l2_take_ready(q->l2, bank)) != NONE) reply_at(q, now + q->l2->config.latency_cycles, index);
}

/* Moves a request from one hop to the next in the meter. */
static void leave(const queued_memory *q, uint64_t now, packet *p, uint32_t hop) {
    if (q->meter) gpump_meter_report_leave(q->meter, now, p->kernel, hop, p->entered);
}
static void enter(const queued_memory *q, uint64_t now, packet *p, uint32_t hop) {
    p->entered = now;
    if (q->meter) gpump_meter_report_enter(q->meter, now, p->kernel, hop);
}

/* ---- events ---- */

/* *end falls to the cycle in which an SM should look. */
static void up_event(queued_memory *q, const event *happened, uint64_t now_sm, uint64_t *sm_cycles, uint64_t *end) {
    crossbar_packet done;
    queued_port *port;
    packet *p;
    l2_request request;
    uint32_t sm;
    if (!crossbar_event(q->up, q->events, happened->cycle, happened, &done, &sm)) return;
    p = &q->packets[done.item];
    port = &q->ports[sm];
    port->flits -= done.flits;
    q->flits_up += done.flits;
    if (q->sm_ports) {
        port_credit_at(&q->sm_ports[sm], sm_cycle_of(q, happened->cycle + q->wire_cycles), done.flits);
    } else if (port->refused &&
               (!crossbar_count(q->up, sm) || port->flits + port->refused_flits <= q->up->config.queue_packets)) {
        q->refused[sm] = 0;
        if (now_sm + 1 < sm_cycles[sm]) sm_cycles[sm] = now_sm + 1;
        if (now_sm + 1 < *end) *end = now_sm + 1;
    }
    if (q->meter) gpump_meter_report_flits(q->meter, p->kernel, 0, done.flits);
    request.line = p->line;
    request.arrives = happened->cycle + q->wire_cycles;
    request.packet = done.item;
    request.kind = p->kind;
    l2_put(q->l2, p->bank, &request);
    if (!l2_units(q->l2)[p->bank].blocked) call_bank(q, happened->cycle, p->bank);
}

static void bank_event(queued_memory *q, uint64_t now, uint32_t bank, memory_statistics *statistics) {
    l2_started started;
    l2_outcome outcome;
    packet *p;
    q->bank_called[bank] = 0;
    outcome = l2_start(q->l2, now, bank, dram_room(q->channels[channel_of(q, bank)]), &started);
    if (outcome == L2_IDLE || outcome == L2_BLOCKED) return;
    crossbar_credit(q->up, q->events, now, bank);
    p = &q->packets[started.request.packet];
    leave(q, now, p, GPUMP_METER_UP);
    enter(q, now, p, GPUMP_METER_L2);
    if (q->meter) gpump_meter_report_cache(q->meter, p->kernel, 2, p->access, (int)started.is_hit);
    p->hit = started.is_hit ? HIT_L2 : HIT_DRAM;
    if (started.is_hit)
        statistics->l2_hits++;
    else
        statistics->l2_misses++;
    if (started.written_back != L2_NEVER) {
        q->write_backs++;
        to_channel(q, now, bank, started.written_back, 1, p->kernel);
    }
    if (outcome == L2_REPLY) {
        reply_at(q, started.reply_cycle, started.request.packet);
    } else if (outcome == L2_FETCH) {
        q->fills++;
        p->fetched = now;
        if (q->meter) gpump_meter_report_enter(q->meter, now, p->kernel, GPUMP_METER_DRAM);
        to_channel(q, now, bank, started.request.line, 0, started.place);
    }
    call_bank(q, now, bank);
}

static void pick_event(queued_memory *q, uint64_t now, uint32_t channel, memory_statistics *statistics) {
    dram_entry picked;
    uint64_t end;
    uint32_t bank, kernel = 0;
    q->channel_called[channel] = 0;
    dram_pick(q->channels[channel], scale_down(now, q->memory.cycles, q->memory.per), &picked, &end);
    statistics->dram_bytes += SEGMENT_BYTES;
    if (picked.is_write) {
        kernel = picked.item;
    } else {
        kernel = q->packets[l2_first_waiting(q->l2, picked.item)].kernel;
        events_put(q->events, scale_up(end, q->memory.per, q->memory.cycles) + q->fill_cycles, STAGE_FILL, channel,
                   picked.item);
    }
    if (q->meter) gpump_meter_report_dram(q->meter, kernel, (int)picked.is_write, SEGMENT_BYTES);
    call_channel(q, now, channel);
    for (bank = channel * q->banks_per_channel; bank < (channel + 1) * q->banks_per_channel && bank < q->banks; bank++)
        retry_bank(q, now, bank);
}

static void fill_event(queued_memory *q, uint64_t now, uint32_t place) {
    const uint32_t bank = place / (q->l2->config.sets * q->l2->config.ways);
    const packet *first = &q->packets[l2_first_waiting(q->l2, place)];
    if (q->meter) gpump_meter_report_leave(q->meter, now, first->kernel, GPUMP_METER_DRAM, first->fetched);
    l2_fill(q->l2, bank, place);
    release_ready(q, now, bank);
    retry_bank(q, now, bank);
}

static void reply_event(queued_memory *q, uint64_t now, uint32_t index) {
    packet *p = &q->packets[index];
    leave(q, now, p, GPUMP_METER_L2);
    enter(q, now, p, GPUMP_METER_DOWN);
    crossbar_offer(q->down, q->events, now, now, p->bank, index / QUEUED_REQUESTS_PER_SM, p->down_flits, index);
}

static void down_event(queued_memory *q, const event *happened, uint64_t *sm_cycles, uint64_t *end) {
    crossbar_packet done;
    queued_port *port;
    arrival *to;
    packet *p;
    uint32_t bank;
    if (!crossbar_event(q->down, q->events, happened->cycle, happened, &done, &bank)) return;
    p = &q->packets[done.item];
    port = &q->ports[done.output];
    leave(q, happened->cycle, p, GPUMP_METER_DOWN);
    q->flits_down += done.flits;
    if (q->meter) gpump_meter_report_flits(q->meter, p->kernel, 1, done.flits);
    to = &port->arrivals[port->put++ % QUEUED_REQUESTS_PER_SM];
    to->cycle = sm_cycle_of(q, happened->cycle + q->wire_cycles);
    to->token = done.item % QUEUED_REQUESTS_PER_SM;
    to->hit = p->hit;
    if (!q->sm_ports) {
        queued_publish(q, done.output, &sm_cycles[done.output]);
        if (sm_cycles[done.output] < *end) *end = sm_cycles[done.output];
    }
    l2_reply_sent(q->l2, bank);
    release_ready(q, happened->cycle, bank);
    retry_bank(q, happened->cycle, bank);
}

/* ---- interface ---- */

void queued_set_ports(queued_memory *q, network_port *ports) { q->sm_ports = ports; }

uint8_t *queued_refused(queued_memory *q) { return q->refused; }

uint32_t queued_flits(const queued_memory *q, const memory_packet *request) {
    const uint32_t bytes = request->bytes && request->bytes < SEGMENT_BYTES ? request->bytes : SEGMENT_BYTES;
    return flits_of(q->config, request_carries_data(request->kind) ? bytes : 0);
}

int queued_may_enter(queued_memory *q, uint32_t sm, const memory_packet *request) {
    queued_port *port = &q->ports[sm];
    const uint32_t count = crossbar_count(q->up, sm) + (port->entering != NONE), flits = queued_flits(q, request);
    const int is_context = request_is_context(request->kind);
    /* A context's segment enters while the input holds at most one packet, the one in transfer. */
    if (!count || (port->flits + flits <= q->up->config.queue_packets && (!is_context || count == 1))) return 1;
    if (!port->refused || flits < port->refused_flits) port->refused_flits = flits;
    if (is_context) port->refused_flits = 0;
    port->refused = 1;
    return 0;
}

void queued_enter(queued_memory *q, uint32_t sm, const memory_packet *request) {
    queued_port *port = &q->ports[sm];
    const uint32_t index = sm * QUEUED_REQUESTS_PER_SM + request->token;
    packet *p = &q->packets[index];
    p->bank = bank_of(q, request, &p->line);
    p->kernel = request_is_context(request->kind) ? 0 : request->kernel;
    p->up_flits = (uint16_t)queued_flits(q, request);
    p->down_flits = (uint16_t)flits_of(q->config, request_returns_data(request->kind)
                                                      ? request->kind == REQUEST_ATOMIC ? request->bytes : SEGMENT_BYTES
                                                      : 0);
    p->access = GPUMP_METER_STORE;
    p->kind = request->bytes == SEGMENT_BYTES || !request->bytes ? L2_STORE_WHOLE : L2_STORE;
    if (request->kind == REQUEST_LOAD || request->kind == REQUEST_RESTORE) {
        p->access = GPUMP_METER_LOAD;
        p->kind = L2_LOAD;
    } else if (request->kind == REQUEST_ATOMIC) {
        p->access = GPUMP_METER_ATOMIC;
        p->kind = L2_ATOMIC;
    }
    port->flits += p->up_flits;
    port->entering = index;
    port->enters = 0;
    port->entered++;
    q->entered++;
}

int queued_enter_next(queued_memory *q, uint64_t now, uint32_t sm, const memory_packet *request) {
    if (q->ports[sm].entering != NONE || !queued_may_enter(q, sm, request)) return 0;
    queued_enter(q, sm, request);
    q->ports[sm].enters = now + 1;
    return 1;
}

void queued_write_back(queued_memory *q, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics) {
    queued_port *port = &q->ports[sm];
    const uint64_t from = scale_up(now, q->network.cycles, q->network.per),
                   flits = (uint64_t)lines * flits_of(q->config, SEGMENT_BYTES);
    port->busy_until = (port->busy_until > from ? port->busy_until : from) + flits;
    statistics->network_bytes += flits * q->config->network_flit_bytes;
}

/* Enters the requests of this cycle, in the order of their SMs. */
static void let_in(queued_memory *q, uint64_t now_sm, uint64_t now) {
    const uint64_t ready = scale_up(now_sm, q->network.cycles, q->network.per);
    uint32_t i;
    for (i = 0; q->entered && i < q->sms; i++) {
        queued_port *port = &q->ports[i];
        packet *p;
        if (port->entering == NONE || port->enters > now_sm) continue;
        p = &q->packets[port->entering];
        enter(q, now, p, GPUMP_METER_UP);
        crossbar_offer(q->up, q->events, now, ready > port->busy_until ? ready : port->busy_until, i, p->bank,
                       p->up_flits, port->entering);
        port->entering = NONE;
        q->entered--;
    }
}

/* Simulates one cycle. Returns the next one with work. */
static inline uint64_t advance(queued_memory *q, uint64_t now_sm, uint64_t *sm_cycles, uint64_t *end,
                               memory_statistics *statistics) {
    const uint64_t now = scale_down(now_sm, q->network.cycles, q->network.per);
    uint64_t next;
    event happened;
    for (next = events_next(q->events); next <= now; next = events_next(q->events)) {
        events_take_at(q->events, next, &happened);
        switch (event_stage(&happened)) {
        case STAGE_UP: up_event(q, &happened, now_sm, sm_cycles, end); break;
        case STAGE_FILL: fill_event(q, happened.cycle, happened.value); break;
        case STAGE_PICK: pick_event(q, happened.cycle, happened.value, statistics); break;
        case STAGE_BANK: bank_event(q, happened.cycle, happened.value, statistics); break;
        case STAGE_REPLY: reply_event(q, happened.cycle, happened.value); break;
        default: down_event(q, &happened, sm_cycles, end); break;
        }
    }
    events_reach(q->events, now);
    if (q->entered) {
        let_in(q, now_sm, now);
        if (q->entered) return now_sm + 1; /* queued_enter_next */
        next = events_next(q->events);
    }
    if (next == EVENTS_NEVER) return NEVER;
    next = sm_cycle_of(q, next);
    return next > now_sm ? next : now_sm + 1;
}

uint64_t queued_advance(queued_memory *q, uint64_t now, uint64_t end, uint64_t *sm_cycles,
                        memory_statistics *statistics) {
    const uint64_t flits = q->flits_up + q->flits_down;
    uint64_t next = now;
    do next = advance(q, next, sm_cycles, &end, statistics);
    while (next < end);
    statistics->network_bytes += (q->flits_up + q->flits_down - flits) * q->config->network_flit_bytes;
    return next;
}

void queued_publish(queued_memory *q, uint32_t sm, uint64_t *sm_cycle) {
    queued_port *port = &q->ports[sm];
    const arrival *first = &port->arrivals[port->taken % QUEUED_REQUESTS_PER_SM];
    port->visible = port->put;
    if (port->taken != port->visible && first->cycle < *sm_cycle) *sm_cycle = first->cycle;
}

/* Returns the cycle of the next reply that the SM may take; NEVER. */
static uint64_t next_visible(const queued_port *port) {
    return port->taken != port->visible ? port->arrivals[port->taken % QUEUED_REQUESTS_PER_SM].cycle : NEVER;
}

/* Refused requests ask again. */
static void ask_again(queued_memory *q, uint32_t sm) {
    q->ports[sm].refused = 0;
    if (!q->sm_ports) q->refused[sm] = 0;
}

int queued_take(queued_memory *q, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle) {
    queued_port *port = &q->ports[sm];
    const arrival *first = &port->arrivals[port->taken % QUEUED_REQUESTS_PER_SM];
    if (port->taken == port->visible || first->cycle > now) {
        *sm_cycle = next_visible(port);
        ask_again(q, sm);
        return 0;
    }
    reply->token = first->token;
    reply->hit = first->hit;
    port->taken++;
    *sm_cycle = next_visible(port);
    ask_again(q, sm);
    return 1;
}

uint32_t queued_under_way(const queued_memory *q, uint32_t sm) { return q->ports[sm].entered - q->ports[sm].taken; }

uint64_t queued_last_reply(const queued_memory *q, uint32_t sm) {
    const queued_port *port = &q->ports[sm];
    return port->taken != port->put ? port->arrivals[(port->put - 1) % QUEUED_REQUESTS_PER_SM].cycle : 0;
}

uint64_t queued_hash(const queued_memory *q, uint64_t hash) {
    uint32_t i, n;
    hash = l2_hash(q->l2, hash);
    hash = gpump_hash_u64(hash, events_next(q->events));
    hash = gpump_hash_u64(hash, q->events->count);
    hash = gpump_hash_u64(hash, q->flits_up ^ q->flits_down << 32);
    hash = gpump_hash_u64(hash, q->fills ^ q->write_backs << 32);
    for (i = 0; i < q->channel_count; i++) {
        hash = gpump_hash_u64(hash, q->channels[i]->data_end);
        hash = gpump_hash_u64(hash, q->channels[i]->latency_cycles);
    }
    for (i = 0; i < q->sms; i++) {
        const queued_port *port = &q->ports[i];
        /* A request that enters in the next cycle is not there yet. */
        const uint32_t early = port->entering != NONE, flits = early ? q->packets[port->entering].up_flits : 0;
        hash = gpump_hash_u64(hash, (port->flits - flits) ^ (uint64_t)(queued_under_way(q, i) - early) << 32);
        for (n = port->taken; n != port->put; n++)
            hash = gpump_hash_u64(hash, port->arrivals[n % QUEUED_REQUESTS_PER_SM].cycle);
    }
    return hash;
}

const char *queued_balance(const queued_memory *q, const memory_statistics *statistics) {
    uint64_t sent = 0, received = 0, reads = 0, writes = 0;
    uint32_t i;
    for (i = 0; i < q->sms; i++) {
        sent += crossbar_flits_sent(q->up, i);
        received += crossbar_flits_received(q->down, i);
        if (q->ports[i].flits || queued_under_way(q, i)) return "an SM's port is not empty";
    }
    for (i = 0; i < q->banks; i++) {
        const l2_unit *unit = &l2_units(q->l2)[i];
        received -= crossbar_flits_sent(q->down, i);
        sent -= crossbar_flits_received(q->up, i);
        if (unit->count || unit->mshrs_used || unit->replies || unit->first_ready != NONE) return "a bank is not empty";
    }
    if (sent) return "flits sent up are not those received";
    if (received) return "flits received by SMs are not those sent down";
    for (i = 0; i < q->channel_count; i++) {
        reads += q->channels[i]->reads;
        writes += q->channels[i]->writes;
        if (q->channels[i]->count) return "a memory channel is not empty";
    }
    if (q->events->count) return "events wait";
    if (reads != q->fills) return "lines read from DRAM differ from the lines that L2 filled";
    if (writes != q->write_backs) return "lines written to DRAM differ from the lines that L2 wrote back";
    if ((reads + writes) * SEGMENT_BYTES != statistics->dram_bytes) return "DRAM's bytes are not fills and write-backs";
    return NULL;
}

/* ---- the table of functions ---- */

static void *model_make(arena *a, const minigpu_config *config, uint32_t sms, gpump_meter *meter) {
    return queued_make(a, config, sms, meter);
}
static int model_set_ports(void *memory, network_port *ports, arena *a) {
    (void)a;
    queued_set_ports((queued_memory *)memory, ports);
    return 0;
}
static void model_publish(void *memory, uint32_t sm, uint64_t *sm_cycle) {
    queued_publish((queued_memory *)memory, sm, sm_cycle);
}
static uint32_t model_flits(const void *memory, const memory_packet *request) {
    return queued_flits((const queued_memory *)memory, request);
}
static int model_may_enter(void *memory, uint64_t now, uint32_t sm, const memory_packet *request, uint64_t *sm_cycle) {
    (void)now;
    (void)sm_cycle;
    return queued_may_enter((queued_memory *)memory, sm, request);
}
static void model_enter(void *memory, uint32_t sm, const memory_packet *request) {
    queued_enter((queued_memory *)memory, sm, request);
}
static int model_enter_next(void *memory, uint64_t now, uint32_t sm, const memory_packet *request) {
    return queued_enter_next((queued_memory *)memory, now, sm, request);
}
static void model_write_back(void *memory, uint64_t now, uint32_t sm, uint32_t lines, memory_statistics *statistics) {
    queued_write_back((queued_memory *)memory, now, sm, lines, statistics);
}
static uint64_t model_advance(void *memory, uint64_t now, uint64_t *sm_cycles, memory_statistics *statistics) {
    return queued_advance((queued_memory *)memory, now, 0, sm_cycles, statistics);
}
static uint64_t model_advance_alone(void *memory, uint64_t now, uint64_t end, uint64_t *sm_cycles,
                                    memory_statistics *statistics) {
    return queued_advance((queued_memory *)memory, now, end, sm_cycles, statistics);
}
static int model_take(void *memory, uint64_t now, uint32_t sm, memory_reply *reply, uint64_t *sm_cycle) {
    return queued_take((queued_memory *)memory, now, sm, reply, sm_cycle);
}
static uint32_t model_under_way(const void *memory, uint32_t sm) {
    return queued_under_way((const queued_memory *)memory, sm);
}
static uint64_t model_last_reply(const void *memory, uint32_t sm) {
    return queued_last_reply((const queued_memory *)memory, sm);
}
static uint64_t model_hash(const void *memory, uint64_t hash) {
    return queued_hash((const queued_memory *)memory, hash);
}
static uint8_t *model_refused(void *memory) { return queued_refused((queued_memory *)memory); }
static void model_set_slice(void *memory, uint32_t kernel, uint32_t first, uint32_t eighths) {
    queued_set_slice((queued_memory *)memory, kernel, first, eighths);
}

const memory_model queued_model = {
    .name = "queued",
    .make = model_make,
    .set_ports = model_set_ports,
    .publish = model_publish,
    .flits = model_flits,
    .may_enter = model_may_enter,
    .enter = model_enter,
    .enter_next = model_enter_next,
    .write_back = model_write_back,
    .advance = model_advance,
    .advance_alone = model_advance_alone,
    .take = model_take,
    .under_way = model_under_way,
    .last_reply = model_last_reply,
    .hash = model_hash,
    .refused = model_refused,
    .set_slice = model_set_slice,
};
