#include "memory/l2.h"

#include <string.h>

#include "gpump_once.h"

#define NONE GPUMP_NONE

static l2_line *lines(const l2 *c) { return (l2_line *)(uintptr_t)(l2_units(c) + c->config.banks); }
static l2_request *queues(const l2 *c) {
    return (l2_request *)(uintptr_t)(lines(c) + (size_t)c->config.banks * c->config.sets * c->config.ways);
}
/* The links of packets in a list. */
static uint32_t *next_of(const l2 *c) {
    return (uint32_t *)(uintptr_t)(queues(c) + (size_t)c->config.banks * c->config.queue_entries);
}

size_t l2_bytes(const l2_config *config) {
    return sizeof(l2) + config->banks * sizeof(l2_unit) +
           (size_t)config->banks * config->sets * config->ways * sizeof(l2_line) +
           (size_t)config->banks * config->queue_entries * sizeof(l2_request) +
           (size_t)(config->packets + 1) / 2 * 2 * sizeof(uint32_t);
}

l2 *l2_init(void *memory, const l2_config *config) {
    l2 *c = (l2 *)memory;
    uint32_t i;
    memset(c, 0, l2_bytes(config));
    c->config = *config;
    for (i = 0; i < config->banks; i++) l2_units(c)[i].first_ready = l2_units(c)[i].last_ready = NONE;
    return c;
}

void l2_put(l2 *c, uint32_t bank, const l2_request *request) {
    l2_unit *unit = &l2_units(c)[bank];
    uint32_t at = unit->head + unit->count++;
    if (at >= c->config.queue_entries) at -= c->config.queue_entries;
    queues(c)[(size_t)bank * c->config.queue_entries + at] = *request;
}

static const l2_request *first_request(const l2 *c, uint32_t bank) {
    return &queues(c)[(size_t)bank * c->config.queue_entries + l2_units(c)[bank].head];
}

uint64_t l2_next(const l2 *c, uint32_t bank) {
    const l2_unit *unit = &l2_units(c)[bank];
    if (!unit->count) return L2_NEVER;
    return first_request(c, bank)->arrives > unit->free_at ? first_request(c, bank)->arrives : unit->free_at;
}

/* Returns the line's place. If the line is absent, sets *found to 0 and returns the least recently used place of its
 * set that waits for no line, or NULL. */
static l2_line *look_up(l2 *c, uint32_t bank, uint64_t line, int *found) {
    l2_line *set = &lines(c)[((size_t)bank * c->config.sets + line % c->config.sets) * c->config.ways], *victim = NULL;
    uint32_t way;
    for (way = 0; way < c->config.ways; way++) {
        if (set[way].line == line + 1) {
            *found = 1;
            return &set[way];
        }
        if (!set[way].waiting && (!victim || set[way].stamp < victim->stamp)) victim = &set[way];
    }
    *found = 0;
    return victim;
}

/* Appends a packet to a list. */
static void append(l2 *c, uint32_t *first, uint32_t *last, uint32_t packet) {
    next_of(c)[packet] = NONE;
    if (*first == NONE)
        *first = packet;
    else
        next_of(c)[*last] = packet;
    *last = packet;
}

l2_outcome l2_start(l2 *c, uint64_t now, uint32_t bank, uint32_t dram_room, l2_started *started) {
    l2_unit *unit = &l2_units(c)[bank];
    const l2_request *request;
    l2_outcome outcome;
    l2_line *place;
    int found, is_fetch = 0;
    unit->blocked = 0;
    if (!unit->count) return L2_IDLE;
    request = first_request(c, bank);
    place = look_up(c, bank, request->line, &found);
    started->written_back = L2_NEVER;
    started->is_hit = (uint32_t)found;
    if (found && place->waiting) {
        outcome = place->waiting == c->config.merges ? L2_BLOCKED : L2_MERGED;
        started->is_hit = 0;
    } else {
        is_fetch = !found && request->kind != L2_STORE_WHOLE && (request->kind != L2_STORE || c->config.store_fetches);
        if (is_fetch)
            outcome = unit->mshrs_used == c->config.mshrs ? L2_BLOCKED : L2_FETCH;
        else
            outcome = unit->replies == c->config.reply_slots ? L2_BLOCKED : L2_REPLY;
        if (!found && (!place || dram_room < (uint32_t)is_fetch + (place->dirty != 0))) outcome = L2_BLOCKED;
    }
    if (outcome == L2_BLOCKED) {
        unit->blocked = 1;
        return outcome;
    }
    started->request = *request;
    unit->head = unit->head + 1 == c->config.queue_entries ? 0 : unit->head + 1;
    unit->count--;
    unit->free_at = now + 1; /* for the tags */
    if (!found) {
        if (place->dirty) started->written_back = place->line - 1;
        place->line = started->request.line + 1;
        place->dirty = 0;
        place->first_waiting = NONE;
    }
    place->stamp = ++c->clock;
    if (started->request.kind != L2_LOAD) place->dirty = 1;
    if (outcome == L2_REPLY) {
        unit->free_at = now + c->config.data_cycles;
        unit->replies++;
        started->reply_cycle = now + c->config.latency_cycles;
    } else {
        append(c, &place->first_waiting, &place->last_waiting, started->request.packet);
        place->waiting++;
    }
    if (outcome == L2_FETCH) {
        unit->mshrs_used++;
        started->place = (uint32_t)(place - lines(c));
    }
    return outcome;
}

void l2_fill(l2 *c, uint32_t bank, uint32_t index) {
    l2_unit *unit = &l2_units(c)[bank];
    l2_line *place = &lines(c)[index];
    if (unit->first_ready == NONE)
        unit->first_ready = place->first_waiting;
    else
        next_of(c)[unit->last_ready] = place->first_waiting;
    unit->last_ready = place->last_waiting;
    place->first_waiting = place->last_waiting = NONE;
    place->waiting = 0;
    unit->mshrs_used--;
}

uint32_t l2_take_ready(l2 *c, uint32_t bank) {
    l2_unit *unit = &l2_units(c)[bank];
    const uint32_t packet = unit->first_ready;
    if (packet == NONE || unit->replies == c->config.reply_slots) return NONE;
    unit->first_ready = next_of(c)[packet];
    unit->replies++;
    return packet;
}

void l2_reply_sent(l2 *c, uint32_t bank) { l2_units(c)[bank].replies--; }

uint32_t l2_first_waiting(const l2 *c, uint32_t place) { return lines(c)[place].first_waiting; }

uint64_t l2_hash(const l2 *c, uint64_t hash) {
    const size_t count = (size_t)c->config.banks * c->config.sets * c->config.ways;
    size_t i;
    hash = gpump_hash_u64(hash, c->clock);
    for (i = 0; i < count; i++) {
        if (!lines(c)[i].line) continue;
        hash = gpump_hash_u64(hash, lines(c)[i].line);
        hash = gpump_hash_u64(hash, lines(c)[i].stamp ^ (uint64_t)lines(c)[i].dirty << 62);
        hash = gpump_hash_u64(hash, lines(c)[i].waiting);
    }
    return hash;
}
