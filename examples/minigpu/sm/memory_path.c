#include "sm/memory_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/memory_access.h"
#include "sm/buffer_ends.h"
#include "sm/translation.h"

/* Returns a place in a ring of `size`; `at` is less than twice that. */
static uint32_t wrap(uint32_t at, uint32_t size) { return at < size ? at : at - size; }

/* ---- miss queues ---- */

int memory_path_gate(const machine *m, const sm *s, uint32_t kernel) {
    int may;
    PATH_ASK(m, may, 1, may_send, (m, s, kernel));
    return may;
}

/* Returns the queue of a kernel, or an empty one when it has none yet; NULL when all belong to other kernels or the
 * kernel's queue is full. */
static miss_queue *queue_for(machine *m, sm *s, uint32_t kernel) {
    uint32_t i;
    miss_queue *empty = NULL;
    for (i = 0; i <= m->config.kernels_per_sm; i++) {
        miss_queue *q = &s->miss_queues[i];
        if (q->count && q->kernel == kernel) return q->count < m->config.miss_queue_entries ? q : NULL;
        if (!q->count && !empty) empty = q;
    }
    if (empty) empty->kernel = kernel;
    return empty;
}

static uint32_t take_request(sm *s, const block *b, uint32_t kind, uint64_t address) {
    uint32_t index = s->free_request;
    memory_request *request = &s->requests[index];
    s->free_request = request->next_free;
    request->address = address;
    request->kind = kind;
    request->bytes = SEGMENT_BYTES;
    request->life = b->life;
    request->kernel = b->kernel + 1;
    request->miss = NONE;
    request->record = NONE;
    request->sequence = 0;
    request->warp = NONE;
    return index;
}

static void free_request(sm *s, uint32_t index) {
    s->requests[index].next_free = s->free_request;
    s->free_request = index;
}

static void enqueue_miss(machine *m, sm *s, miss_queue *q, uint32_t request) {
    s->queued_misses++;
    s->queued_data += (uint32_t)request_carries_data(s->requests[request].kind);
    if (!q->count) memory_ask_again(m->memory_system, s->index); /* one more first miss that may enter */
    q->requests[wrap(q->head + q->count++, m->config.miss_queue_entries)] = request;
}

static uint32_t take_instruction_request(machine *m, sm *s, const in_flight *r, uint32_t kind, uint64_t address) {
    const block *b = &m->blocks[r->block];
    uint32_t index = take_request(s, b, kind, address);
    memory_request *request = &s->requests[index];
    request->process = m->kernels[b->kernel].process;
    request->block = r->block;
    request->warp = r->warp;
    request->sequence = r->sequence;
    if (kind != REQUEST_LOAD) request->bytes = 4 * gpump_bits_count64(r->words[r->next_segment]);
    return index;
}

/* ---- access queue: one segment per cycle to L1 ---- */

static void complete(sm *s, uint32_t record) { s->completed[s->completed_count++] = record; }

/* Counts a part of a load or atomic whose data has arrived. */
static void piece_done(sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    r->outstanding--;
    if (!r->outstanding && !r->in_queue) complete(s, record);
}

/* Frees an L1 line for another one, which writes back data that only the line holds. Returns 0 when there is no room
 * for that request, or, with `more`, for the following one. A miss queue of one place takes them one by one. */
static int evict(machine *m, sm *s, const block *b, miss_queue *q, cache_line *victim, int more) {
    if (victim->dirty) {
        const int alone = more && m->config.miss_queue_entries == 1;
        if (more && !alone &&
            (q->count + 1 >= m->config.miss_queue_entries || s->requests[s->free_request].next_free == NONE))
            return 0;
        enqueue_miss(m, s, q, take_request(s, b, REQUEST_WRITE_BACK, l1_line_of(&s->l1, victim) * SEGMENT_BYTES));
        victim->dirty = 0;
        return !alone;
    }
    return 1;
}

/* Keeps a store to local memory in L1, because no other warp reads it: for a line that L1 holds, or one written whole.
 * Returns 1 when L1 keeps it, -1 when something blocks it, 0 when the store goes through. */
static int keep_local(machine *m, sm *s, const in_flight *r, uint64_t segment) {
    const uint64_t line = segment / SEGMENT_BYTES;
    const block *b = &m->blocks[r->block];
    cache_line *found;
    miss_queue *q;
    if (!m->config.local_write_back || !m->local_count || segment < m->local_base ||
        segment >= m->local_base + m->local_stride * m->local_count)
        return 0;
    if ((found = l1_find(&s->l1, line)) != NULL) {
        l1_use(&s->l1, found);
    } else {
        if (r->words[r->next_segment] != UINT32_MAX) return 0;
        if (!(found = l1_victim(&s->l1, line)) || s->free_request == NONE || !(q = queue_for(m, s, b->kernel + 1)) ||
            !evict(m, s, b, q, found, 0))
            return -1;
        l1_fill(&s->l1, found, line);
    }
    found->dirty = 1;
    return 1;
}

/* Waits for a line that L1 holds or that is in flight. Returns 0 when too many loads wait for it. */
static int hit_l1(machine *m, sm *s, uint32_t record, cache_line *found) {
    in_flight *r = &s->records[record];
    const uint32_t node = record * LANES + r->next_segment;
    if (found->pending == m->config.l1_merges) return 0;
    l1_use(&s->l1, found);
    r->outstanding++;
    if (found->pending) {
        r->next_free = RECORD_MISSED;
        found->pending++;
        s->waiters[node] = found->first_waiter;
        found->first_waiter = node;
    } else {
        s->statistics.l1_hits++;
        s->traffic[m->blocks[r->block].kernel].l1_load_hits++;
        pipe_put(&s->pipes[PIPE_L1], s->now, record);
    }
    return 1;
}

/* Returns for which reply a load waits whose line is not in L1 (sm.blocked_by). 0: for none; *victim is the line that
 * it replaces. */
static uint32_t blocked_by(const machine *m, sm *s, uint64_t line, cache_line **victim) {
    if (s->outstanding_misses >= m->config.l1_misses) return BLOCKED_BY_MISSES;
    *victim = l1_victim(&s->l1, line);
    return *victim ? 0 : BLOCKED_BY_SET + l1_first_of_set(&s->l1, line);
}

/* Makes the request of a load that misses L1, and its line if L1 caches it. found: the place of that line, when it is
 * known; NULL. Returns NONE when something blocks it. */
SM_INLINE uint32_t miss_l1(machine *m, sm *s, uint32_t record, miss_queue *q, int cached, cache_line *found) {
    in_flight *r = &s->records[record];
    block *b = &m->blocks[r->block];
    const uint64_t segment = r->segments[r->next_segment];
    const uint32_t node = record * LANES + r->next_segment;
    uint32_t request;
    if (cached) {
        if (!found && (s->blocked_by = blocked_by(m, s, segment / SEGMENT_BYTES, &found)) != 0) return NONE;
        if (!evict(m, s, b, q, found, 1)) return NONE;
        l1_fill(&s->l1, found, segment / SEGMENT_BYTES);
        found->pending = 1;
        found->first_waiter = node;
        s->waiters[node] = NONE;
        s->outstanding_misses++;
    }
    s->statistics.l1_misses++;
    s->traffic[b->kernel].l1_load_misses++;
    request = take_instruction_request(m, s, r, REQUEST_LOAD, segment);
    if (cached)
        s->requests[request].miss = l1_number(&s->l1, found);
    else
        s->requests[request].record = record;
    r->next_free = RECORD_MISSED;
    r->outstanding++;
    return request;
}

/* Returns whether L1 keeps what an instruction reads. */
static int is_cached(const sm *s, const instruction *i) {
    return instruction_only_reads(i) && !s->l1_is_store && !(i->flags & (FLAG_CACHE_GLOBAL | FLAG_VOLATILE));
}

/* Sends the record's next segment. place: the line of L1 that a load replaces which L1 does not hold, when that is
 * known; NULL. Returns 0 when something blocks it. */
SM_INLINE int send_segment_to(machine *m, sm *s, uint32_t record, cache_line *place) {
    in_flight *r = &s->records[record];
    const instruction *instruction = r->instruction;
    block *b = &m->blocks[r->block];
    const uint64_t segment = r->segments[r->next_segment];
    const int is_load = instruction_only_reads(instruction), cached = is_cached(s, instruction);
    uint32_t request;
    miss_queue *q;
    cache_line *found;
    int elsewhere;
    PATH_ASK(m, elsewhere, 0, takes_segment, (m, s, record, segment, is_load || instruction->opcode == OPCODE_ATOM));
    if (elsewhere) return 1;
    if (cached && !place && (found = l1_find(&s->l1, segment / SEGMENT_BYTES))) return hit_l1(m, s, record, found);
    if (instruction->opcode == OPCODE_ST) {
        int kept = keep_local(m, s, r, segment);
        if (kept > 0) s->traffic[b->kernel].l1_store_hits++;
        if (kept) return kept > 0;
    }
    if (s->free_request == NONE || !(q = queue_for(m, s, b->kernel + 1))) return 0;
    if (is_load) {
        if ((request = miss_l1(m, s, record, q, cached, place)) == NONE) return 0;
    } else if (instruction->opcode != OPCODE_ATOM) {
        /* L1 writes through and holds no global data of its own, so a line in L1 stays valid. */
        request = take_instruction_request(m, s, r, REQUEST_STORE, segment);
        s->traffic[b->kernel].l1_store_misses++;
        m->warps[r->warp].stores++;
        b->stores++;
    } else {
        request = take_instruction_request(m, s, r, REQUEST_ATOMIC, segment);
        s->traffic[b->kernel].l1_atomics++;
        s->requests[request].record = record;
        b->atomics++;
        r->outstanding++;
    }
    enqueue_miss(m, s, q, request);
    return 1;
}

static __attribute__((noinline)) int send_segment(machine *m, sm *s, uint32_t record) {
    return send_segment_to(m, s, record, NULL);
}

static void access_stage(machine *m, sm *s) {
    uint32_t record, entries = m->config.in_flight_records;
    in_flight *r;
    s->access_waits = 0; /* the queue is empty */
    if (!s->access_count) return;
    record = s->access_queue[s->access_head];
    r = &s->records[record];
    if (IS_PLAIN && s->blocked_by && !r->squashed) { /* L1 holds the same lines until the reply */
        s->access_waits = 1;
        return;
    }
    s->blocked_by = 0;
    if (!r->squashed) {
        if (r->conflict_cycles) {
            if (--r->conflict_cycles) return;
            r->outstanding++;
            pipe_put(&s->pipes[PIPE_SHARED], s->now, record);
        } else if (r->next_segment < r->segment_count) {
            if (!send_segment(m, s, record)) {
                s->access_waits = 1; /* until a reply or a departure makes room */
                PATH_TELL(m, access_waits, (m, s));
                return;
            }
            PATH_TELL(m, accesses, (m, s, r));
            r->next_segment++;
        }
        if (r->next_segment < r->segment_count) return;
    }
    s->access_head = wrap(s->access_head + 1, entries);
    s->access_count--;
    s->memory_reserved--;
    r->in_queue = 0;
    if (!r->squashed) PATH_TELL(m, load_leaves, (m, s, r));
    if (!r->outstanding) complete(s, record);
}

/* ---- check queue: one translation per cycle, effect after the last ---- */

/* Returns the first lane whose access begins in a segment, and sets the lane's address; NONE: local memory, whose lanes
 * give no addresses of the device. */
static __attribute__((cold)) uint32_t lane_in_segment(const in_flight *r, uint64_t segment, uint64_t *address) {
    const uint32_t lanes = instruction_address_lanes(r->instruction, r->active);
    uint32_t lane;
    for (lane = 0; lane < LANES; lane++)
        if (lanes >> lane & 1 && memory_access_global(r, lane, address) && *address - segment < SEGMENT_BYTES)
            return lane;
    return NONE;
}

__attribute__((cold)) void memory_path_wrong_translation(machine *m, const in_flight *r, uint64_t segment,
                                                         translation found) {
    const block *b = &m->blocks[r->block];
    char nearest[NEAREST_TEXT_BYTES] = "", which[20] = "";
    uint64_t address;
    const uint32_t lane = lane_in_segment(r, segment, &address);
    if (lane == NONE)
        address = segment;
    else
        snprintf(which, sizeof which, " lane %u", lane);
    if (found != TRANSLATION_ABSENT && address >= DEVICE_BASE && address - DEVICE_BASE < m->memory_bytes)
        buffer_ends_nearest(m, address, lane == NONE ? 0 : instruction_access_bytes(r->instruction), nearest);
    machine_fail(m, "%s:%u:%u: kernel %s: %s to address 0x%" PRIx64 "%s, %s%s%s; block %" PRIu64 " warp %u%s",
                 m->kernels[b->kernel].program->file_name, r->instruction->line, r->instruction->column,
                 m->kernels[b->kernel].program->name, opcode_name(r->instruction->opcode), address,
                 lane == NONE ? " (128-byte segment)" : "",
                 found == TRANSLATION_ABSENT ? "whose page is absent, without a check" : "which belongs to no buffer",
                 nearest[0] ? ", " : "", nearest, b->linear, m->warps[r->warp].index, which);
}

void memory_path_pass(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    if (!r->squashed) {
        if (r->info->is_checked) memory_access_checked(m, r);
        memory_access_effect(m, s, r);
        r->stage = RECORD_MEMORY;
    }
    r->next_segment = 0;
    s->access_queue[wrap(s->access_head + s->access_count++, m->config.in_flight_records)] = record;
}

/* Makes all checks of an access when the first is due. If all are good, nothing happens until the last is due, which
 * alone is left. Returns whether they are. */
static __attribute__((noinline)) int checks_are_good(const machine *m, sm *s, in_flight *r) {
    const int write = !instruction_only_reads(r->instruction);
    uint32_t i;
    for (i = r->segment_count - r->unchecked; i < r->segment_count; i++)
        if (translate(m, r->segments[i], write) != TRANSLATION_HIT) return 0;
    s->check_due = s->now + r->unchecked - 1;
    r->unchecked = 1;
    return 1;
}

/* Returns the record that has passed its last check; NONE. The queue is not empty. Not inlined: sm_cycle has no
 * registers to spare. */
static __attribute__((noinline)) uint32_t check_stage(machine *m, sm *s) {
    uint32_t record, entries = m->config.in_flight_records;
    in_flight *r;
    record = s->check_queue[s->check_head];
    r = &s->records[record];
    if (IS_PLAIN && s->check_due != NEVER) {
        if (s->check_due > s->now) return NONE;
        s->check_due = NEVER;
    } else if (IS_PLAIN && r->unchecked > 1 && !r->squashed && checks_are_good(m, s, r)) {
        return NONE;
    }
    if (!r->squashed && r->unchecked) {
        uint64_t segment = r->segments[r->segment_count - r->unchecked];
        const int write = !instruction_only_reads(r->instruction);
        const translation found = translate(m, segment, write);
        int remembered = 0;
        if (found == TRANSLATION_PENDING) return NONE;
        if (found == TRANSLATION_ABSENT && r->info->is_checked)
            PARTS_ASK(m, remembered, 0, check_fails, (m, s, r, segment));
        if (found != TRANSLATION_HIT && !remembered) {
            memory_path_wrong_translation(m, r, segment, found);
            return NONE;
        }
        r->unchecked--;
        if (r->unchecked) return NONE;
    }
    s->check_head = wrap(s->check_head + 1, entries);
    s->check_count--;
    memory_path_pass(m, s, record);
    return r->squashed ? NONE : record;
}

int memory_path_accept(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    const instruction *instruction = r->instruction;
    if (instruction->space == SPACE_PARAM || instruction->space == SPACE_CONST) {
        /* constant and parameter loads always hit, and their addresses never fault */
        s->memory_reserved--;
        memory_access_constant(m, s, r);
        r->stage = RECORD_MEMORY;
        pipe_put(&s->pipes[PIPE_CONSTANT], s->now, record);
        return 1;
    }
    memory_access_coalesce(m, s, r);
    r->unchecked = r->segment_count;
    r->faulted = 0;
    r->in_queue = 1;
    PATH_TELL(m, enters_checks, (m, s, r));
    s->check_queue[wrap(s->check_head + s->check_count++, m->config.in_flight_records)] = record;
    return 0;
}

/* ---- a cycle ---- */

static memory_packet packet_of(const sm *s, uint32_t index) {
    const memory_request *request = &s->requests[index];
    memory_packet packet;
    packet.address = request->address;
    packet.token = index;
    packet.kind = request->kind;
    packet.kernel = request->kernel;
    packet.bytes = request->bytes;
    return packet;
}

/* Returns the next miss queue that may send; NULL. */
static miss_queue *next_miss(const machine *m, const sm *s, uint32_t *after, memory_packet *packet) {
    uint32_t i;
    const uint32_t queues = m->config.kernels_per_sm + 1;
    for (i = 0; i < queues; i++) {
        miss_queue *q = &s->miss_queues[wrap(s->next_queue + i, queues)];
        if (!q->count || !memory_path_gate(m, s, q->kernel)) continue;
        *packet = packet_of(s, q->requests[q->head]);
        if (!memory_may_enter(m->memory_system, s->now, s->index, packet)) continue;
        *after = wrap(s->next_queue + i + 1, queues);
        return q;
    }
    if (!PATH_HAS(m, PART_GATES)) memory_refuse(m->memory_system, s->index); /* a gate opens with time */
    return NULL;
}

static void leave_queue(const machine *m, sm *s, miss_queue *q, uint32_t after) {
    s->queued_data -= (uint32_t)request_carries_data(s->requests[q->requests[q->head]].kind);
    q->head = wrap(q->head + 1, m->config.miss_queue_entries);
    q->count--;
    s->queued_misses--;
    s->next_queue = after;
}

int memory_path_send_miss(machine *m, sm *s) {
    uint32_t after;
    memory_packet packet;
    miss_queue *q;
    if (memory_refuses(m->memory_system, s->index)) return 0;
    PATH_TELL(m, asks_to_send, (m, s));
    if (!(q = next_miss(m, s, &after, &packet))) return 0;
    leave_queue(m, s, q, after);
    PATH_TELL(m, sends, (m, s, packet.kernel));
    memory_enter(m->memory_system, s->now, s->index, &packet);
    return 1;
}

int memory_path_context_may_enter(const machine *m, const sm *s) {
    memory_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.kind = REQUEST_SAVE;
    return s->free_request != NONE && memory_may_enter(m->memory_system, s->now, s->index, &packet);
}

void memory_path_enter_context(machine *m, sm *s, uint32_t block_index, uint32_t kind, uint64_t address) {
    const block *b = &m->blocks[block_index];
    uint32_t request = take_request(s, b, kind, address);
    memory_packet packet;
    s->requests[request].process = m->kernels[b->kernel].process;
    s->requests[request].block = block_index;
    s->statistics.transfer_requests++;
    packet = packet_of(s, request);
    memory_enter(m->memory_system, s->now, s->index, &packet);
}

void memory_path_write_back(machine *m, sm *s, const block *b) {
    cache_line *place;
    uint32_t i, lines = 0;
    if (b->local_frame == NONE) return;
    for (i = 0; (place = l1_place(&s->l1, i)); i++) {
        const uint64_t line = l1_line_of(&s->l1, place), address = line * SEGMENT_BYTES;
        if (line == NO_LINE || !place->dirty || address < b->local_base || address >= b->local_base + m->local_stride)
            continue;
        place->dirty = 0;
        lines++;
    }
    memory_write_back(m->memory_system, m->now, s->index, lines);
}

void memory_path_invalidate(sm *s) {
    cache_line *place;
    uint32_t i;
    for (i = 0; (place = l1_place(&s->l1, i)); i++) {
        if (place->pending) continue;
        l1_drop(&s->l1, place);
        place->dirty = 0; /* local memory of blocks that have ended: a block that was saved has written back */
    }
}

/* Takes one reply of the memory. Returns 1 with *arrived for a reply that belongs to another unit than the load-store
 * unit. */
static int take_reply(machine *m, sm *s, uint32_t token, arrival *arrived) {
    const memory_request *request = &s->requests[token];
    block *b = &m->blocks[request->block];
    const int resident = b->life == request->life;
    free_request(s, token); /* the request keeps its contents until take_request */
    arrived->item = request->block;
    switch (request->kind) {
    case REQUEST_LOAD:
        if (request->miss != NONE) {
            cache_line *line = l1_place(&s->l1, request->miss);
            uint32_t node = line->first_waiter;
            line->pending = 0;
            line->first_waiter = NONE;
            s->outstanding_misses--;
            if (s->blocked_by == BLOCKED_BY_MISSES ||
                l1_is_in_set(&s->l1, request->miss, s->blocked_by - BLOCKED_BY_SET))
                s->blocked_by = 0;
            for (; node != NONE; node = s->waiters[node]) piece_done(s, node / LANES);
        } else {
            piece_done(s, request->record);
        }
        return 0;
    case REQUEST_ATOMIC:
        if (resident) b->atomics--;
        piece_done(s, request->record);
        return 0;
    case REQUEST_WRITE_BACK: return 0;
    case REQUEST_STORE:
        if (!resident) return 0;
        m->warps[request->warp].stores--;
        b->stores--;
        arrived->kind = ARRIVAL_STORE;
        return 1;
    default: arrived->kind = ARRIVAL_CONTEXT; return resident; /* otherwise it has ended */
    }
}

int memory_path_take(machine *m, sm *s, arrival *arrived) {
    uint32_t record;
    memory_reply reply;
    for (;;) {
        if (s->completed_first < s->completed_count) {
            arrived->kind = ARRIVAL_RECORD;
            arrived->item = s->completed[s->completed_first++];
            return 1;
        }
        s->completed_first = s->completed_count = 0;
        if (*s->reply_cycle <= s->now && memory_take(m->memory_system, s->now, s->index, &reply)) {
            if (take_reply(m, s, reply.token, arrived)) return 1;
        } else if ((record = pipe_take(&s->pipes[PIPE_L1], s->now)) != NONE ||
                   (record = pipe_take(&s->pipes[PIPE_SHARED], s->now)) != NONE) {
            piece_done(s, record);
        } else if (!IS_PLAIN && (record = pipe_take(&s->pipes[PIPE_LINK], s->now)) != NONE) {
            piece_done(s, record);
        } else if ((record = pipe_take(&s->pipes[PIPE_CONSTANT], s->now)) != NONE) {
            complete(s, record);
        } else {
            return 0;
        }
    }
}

int memory_path_take_sent(sm *s, arrival *arrived) {
    if (!s->completed_count) return 0;
    arrived->kind = ARRIVAL_RECORD;
    arrived->item = s->completed[0];
    s->completed_count = 0;
    return 1;
}

uint32_t memory_path_tick(machine *m, sm *s) {
    uint32_t passed;
    access_stage(m, s);
    PATH_ASK(m, passed, NOT_LOOKED_UP, look_up, (m, s));
    if (passed != NOT_LOOKED_UP) return passed;
    return s->check_count ? check_stage(m, s) : NONE;
}

/* Sends the only miss in the queues, one cycle from now. */
static void send_in_next_cycle(machine *m, sm *s) {
    const uint32_t queues = m->config.kernels_per_sm + 1;
    uint32_t i;
    for (i = 0; i < queues; i++) {
        miss_queue *q = &s->miss_queues[i];
        memory_packet packet;
        if (!q->count) continue;
        packet = packet_of(s, q->requests[q->head]);
        if (!memory_enter_next(m->memory_system, s->now, s->index, &packet)) return;
        leave_queue(m, s, q, wrap(i + 1, queues));
        s->sent_cycle = s->now + 1;
        return;
    }
}

/* Lets the first access wait already, if its segment will find no place in L1 in the next cycle. Returns the place that
 * it will find if no reply arrives; NULL: none, or not yet known. */
SM_INLINE cache_line *wait_for_place(const machine *m, sm *s) {
    const in_flight *r = &s->records[s->access_queue[s->access_head]];
    const uint64_t line = r->segments[r->next_segment] / SEGMENT_BYTES;
    cache_line *victim;
    if (r->squashed || r->next_segment == r->segment_count || !is_cached(s, r->instruction) || l1_find(&s->l1, line))
        return NULL;
    s->blocked_by = blocked_by(m, s, line, &victim);
    s->access_waits = s->blocked_by != 0;
    return s->blocked_by ? NULL : victim;
}

void memory_path_foresee(machine *m, sm *s) {
    if (s->access_count && !s->access_waits) (void)wait_for_place(m, s);
    if (s->queued_misses == 1 && !s->contexts_moving && s->ends_wait == s->sends_ahead) send_in_next_cycle(m, s);
}

/* Returns whether the SM is ahead of the memory, which then cannot say whether a miss may leave in the next cycle. */
static inline int is_ahead(const machine *m, const sm *s) { return s->now > m->now && !m->window_cycles; }

/* Returns whether the first access only sends a segment in the next cycle and goes on with the one after it. */
static int sends_on(const sm *s) {
    const in_flight *r = &s->records[s->access_queue[s->access_head]];
    return !(r->squashed | r->conflict_cycles) && r->next_segment + 1 < r->segment_count;
}

/* Sends the next segment of the first access, which goes on with the one after it. place: as in send_segment_to. */
SM_INLINE void send_on(machine *m, sm *s, cache_line *place) {
    const uint32_t record = s->access_queue[s->access_head];
    s->access_waits = s->blocked_by || !send_segment_to(m, s, record, place);
    if (!s->access_waits) s->records[record].next_segment++;
}

uint64_t memory_path_run(machine *m, sm *s, uint64_t end, arrival *stored) {
    cache_line *place = NULL; /* what the next segment replaces in L1 */
    stored->item = NONE;
    if (s->check_count && s->check_due == NEVER) return NEVER;
    if (s->check_count && s->check_due < end) end = s->check_due;
    for (;;) {
        uint64_t next = (s->access_count && !s->access_waits) || s->queued_misses ? s->now + 1 : NEVER;
        if (*s->reply_cycle < next) next = *s->reply_cycle;
        if (s->pipes[PIPE_L1].due < end) end = s->pipes[PIPE_L1].due;
        if (next >= end || !s->access_count || !sends_on(s) || memory_path_may_be_full(s)) return NEVER;
        s->now = next;
        if (*s->reply_cycle <= next) {
            memory_reply taken;
            place = NULL; /* another line may be older */
            while (*s->reply_cycle <= next && memory_take(m->memory_system, next, s->index, &taken))
                if (take_reply(m, s, taken.token, stored)) return next;
            stored->item = NONE;
            if (s->completed_count) return next;
        }
        (void)memory_path_send(m, s);
        send_on(m, s, place);
        place = s->access_waits ? NULL : wait_for_place(m, s);
        if (s->queued_misses == 1) send_in_next_cycle(m, s);
    }
}

int memory_path_sends_next(const machine *m, const sm *s) {
    memory_packet packet;
    uint32_t after;
    return (s->ends_wait && is_ahead(m, s)) ||
           (!memory_refuses(m->memory_system, s->index) &&
            (PATH_HAS(m, PART_GATES) || next_miss(m, s, &after, &packet))); /* a gate opens with time */
}
