#include "memory/memory_path.h"

#include <inttypes.h>
#include <string.h>

#include "preemption/context_pipeline.h"
#include "memory/memory_access.h"
#include "machine/page_faults.h"
#include "machine/pipeline.h"
#include "preemption/preemption.h"

#define HEADER_BYTES 8u /* of every packet on the network */

/* ---- replies, ordered by cycle, then by when they were sent ---- */

static int earlier(const reply_entry *a, const reply_entry *b) {
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->order < b->order;
}

static void reply_at(sm *s, uint64_t cycle, uint32_t request) {
    uint32_t at = s->reply_count++;
    reply_entry entry;
    entry.cycle = cycle;
    entry.order = s->reply_order++;
    entry.request = request;
    entry.unused = 0;
    while (at > 0 && earlier(&entry, &s->replies[(at - 1) / 2])) {
        s->replies[at] = s->replies[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->replies[at] = entry;
}

static uint32_t take_reply(sm *s) {
    uint32_t request = s->replies[0].request, at = 0;
    reply_entry last = s->replies[--s->reply_count];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->reply_count) break;
        if (child + 1 < s->reply_count && earlier(&s->replies[child + 1], &s->replies[child])) child++;
        if (!earlier(&s->replies[child], &last)) break;
        s->replies[at] = s->replies[child];
        at = child;
    }
    s->replies[at] = last;
    return request;
}

/* ---- L2 and beyond: when does the reply come? ---- */

static cache_line *cache_find(cache *c, uint64_t line) {
    cache_line *set = &c->lines[(line % c->sets) * c->ways];
    uint32_t way;
    for (way = 0; way < c->ways; way++) {
        if (set[way].line == line + 1) return &set[way];
    }
    return NULL;
}

/* The least recently used line of the set that is not on its way; NULL when all are. */
static cache_line *cache_victim(cache *c, uint64_t line) {
    cache_line *set = &c->lines[(line % c->sets) * c->ways], *victim = NULL;
    uint32_t way;
    for (way = 0; way < c->ways; way++) {
        if (set[way].pending) continue;
        if (!set[way].line) return &set[way];
        if (!victim || (int32_t)(set[way].stamp - victim->stamp) < 0) victim = &set[way];
    }
    return victim;
}

static int carries_data(uint32_t kind) { return kind != REQUEST_LOAD && kind != REQUEST_RESTORE; }

void memory_path_build(machine *m) {
    const minigpu_config *c = &m->config;
    uint32_t data;
    for (data = 0; data < 2; data++) {
        uint32_t bytes = HEADER_BYTES + (data ? SEGMENT_BYTES : 0),
                 flits = (bytes + c->network_flit_bytes - 1) / c->network_flit_bytes;
        m->packet_flits[data] = flits;
        m->packet_cycles[data] =
            (flits * c->network_flit_bytes + c->network_bytes_per_cycle - 1) / c->network_bytes_per_cycle;
    }
}

/* Occupies a memory channel for one line that comes at `from`; returns when the line has passed. *waits becomes at
 * least the cycles until the channel's queue has room for it. */
static uint64_t occupy_dram(machine *m, uint64_t line, uint64_t from, uint64_t *waits) {
    uint64_t *free_at = &m->dram_free_q16[line % m->config.dram_channels],
             queue = m->dram_interval_q16 * m->config.dram_queue_entries;
    uint64_t start = from << 16 > *free_at ? from << 16 : *free_at;
    if (start > (from << 16) + queue + (*waits << 16)) *waits = (start - queue - (from << 16)) >> 16;
    *free_at = start + m->dram_interval_q16;
    m->dram_bytes += SEGMENT_BYTES;
    return (*free_at + 0xffff) >> 16;
}

/* A request comes to its bank at `from`, as so many flits; returns when the bank begins with it. *enters: when the
 * network's output had room. */
static uint64_t occupy_bank(const machine *m, l2_bank *bank, uint32_t count, uint64_t from, uint64_t *enters) {
    const uint32_t output = m->config.network_output_flits, queue = m->config.l2_queue_entries;
    uint64_t oldest, start;
    uint32_t i;
    if (count > output) count = output;
    oldest = bank->flit_ends[(bank->flit + count - 1) % output]; /* its last flit's place was this one's */
    *enters = from = from > oldest ? from : oldest;
    if (from < bank->starts[bank->request]) from = bank->starts[bank->request];
    for (i = 0; i < count; i++) {
        bank->flit_ends[bank->flit] = from;
        bank->flit = bank->flit + 1 == output ? 0 : bank->flit + 1;
    }
    start = from > bank->free_at ? from : bank->free_at;
    bank->starts[bank->request] = start;
    bank->request = bank->request + 1 == queue ? 0 : bank->request + 1;
    return start;
}

/* A request leaves the SM. Everything behind is first come, first served, with a fixed latency and a bandwidth, so the
 * reply's cycle is known now, and so is when the queues on its way have room: a bank is held up by its channel's full
 * queue, and the SM's port by its bank's. */
static void depart(machine *m, sm *s, uint32_t index) {
    memory_request *request = &s->requests[index];
    uint64_t line = request->address / SEGMENT_BYTES, arrives, enters, t, waits = 0;
    int writes = carries_data(request->kind), returns_data = request->kind == REQUEST_LOAD ||
                                                             request->kind == REQUEST_ATOMIC ||
                                                             request->kind == REQUEST_RESTORE;
    uint32_t up = m->packet_flits[writes], up_cycles = m->packet_cycles[writes],
             down_cycles = m->packet_cycles[returns_data];
    l2_bank *bank = &m->banks[line % m->config.l2_banks];
    cache_line *found;
    arrives = m->now + up_cycles + m->config.network_cycles;
    t = occupy_bank(m, bank, up, arrives, &enters);
    s->network_up_free = m->now + up_cycles + (enters - arrives);
    bank->free_at = t + 2;
    t += m->config.l2_cycles;
    found = cache_find(&m->l2, line);
    if (found) {
        m->l2.hits++;
        request->hit = HIT_L2;
        if (t < found->ready) t = found->ready; /* its fill is still on its way */
    } else {
        m->l2.misses++;
        request->hit = HIT_DRAM;
        found = cache_victim(&m->l2, line);
        if (t < found->ready) t = found->ready; /* likewise: its place is taken until the fill has come */
        if (found->dirty) occupy_dram(m, found->line - 1, t, &waits); /* written back */
        found->line = line + 1;
        found->dirty = 0;
        /* Whole lines that are written need not be read first. */
        if (returns_data) t = occupy_dram(m, line, t, &waits) + m->config.dram_cycles;
        bank->free_at += waits;
        found->ready = t;
    }
    found->stamp = ++m->l2.clock;
    if (writes) found->dirty = 1;
    if (t < s->network_down_free) t = s->network_down_free;
    s->network_down_free = t + down_cycles;
    m->network_bytes += (uint64_t)(up + m->packet_flits[returns_data]) * m->config.network_flit_bytes;
    s->statistics.requests++;
    reply_at(s, t + down_cycles + m->config.network_cycles, index);
}

/* ---- miss queues ---- */

int memory_path_gate(const machine *m, const sm *s, uint32_t kernel) {
    (void)m;
    (void)s;
    (void)kernel;
    return 1;
}

/* The queue of a kernel, one that is empty when it has none yet; NULL when all belong to others or it is full. */
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
    request->life = b->life;
    request->kernel = b->kernel + 1;
    request->hit = HIT_NONE;
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

static void enqueue(machine *m, miss_queue *q, uint32_t request) {
    q->requests[(q->head + q->count++) % m->config.miss_queue_entries] = request;
}

static uint32_t take_instruction_request(machine *m, sm *s, const in_flight *r, uint32_t kind, uint64_t address) {
    const block *b = &m->blocks[r->block];
    uint32_t index = take_request(s, b, kind, address);
    memory_request *request = &s->requests[index];
    request->process = m->kernels[b->kernel].process;
    request->block = r->block;
    request->warp = r->warp;
    request->sequence = r->sequence;
    return index;
}

/* ---- access queue: one segment per cycle to L1 ---- */

/* A part of a load or atomic has its data. */
static void piece_done(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    r->outstanding--;
    if (!r->outstanding && !r->in_queue) pipeline_commit(m, s, record);
}

/* Makes an L1 line free for another, which writes it back if it holds anything of its own. 0: no place for that
 * request, or, with `more`, for the one that follows. */
static int evict(machine *m, sm *s, const block *b, miss_queue *q, cache_line *victim, int more) {
    if (victim->dirty) {
        if (more && (q->count + 1 >= m->config.miss_queue_entries || s->requests[s->free_request].next_free == NONE))
            return 0;
        enqueue(m, q, take_request(s, b, REQUEST_WRITE_BACK, (victim->line - 1) * SEGMENT_BYTES));
        victim->dirty = 0;
    }
    return 1;
}

/* L1 keeps what a warp stores to its local memory, which nobody else reads: a line that is there, or one written whole.
 * Returns 1 when it did, -1 when something is in the way, 0 when the store goes through. */
static int keep_local(machine *m, sm *s, const in_flight *r, uint64_t segment) {
    const uint64_t line = segment / SEGMENT_BYTES;
    const block *b = &m->blocks[r->block];
    cache_line *found;
    miss_queue *q;
    if (!m->config.local_write_back || !m->local_count || segment < m->local_base ||
        segment >= m->local_base + m->local_stride * m->local_count)
        return 0;
    if (!(found = cache_find(&s->l1, line))) {
        if (r->words[r->next_segment] != UINT32_MAX) return 0;
        if (!(found = cache_victim(&s->l1, line)) || s->free_request == NONE || !(q = queue_for(m, s, b->kernel + 1)) ||
            !evict(m, s, b, q, found, 0))
            return -1;
        found->line = line + 1;
    }
    found->dirty = 1;
    found->stamp = ++s->l1.clock;
    return 1;
}

/* Sends the record's next segment; 0 when something is in the way. */
static int send_segment(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    const instruction *instruction = r->instruction;
    block *b = &m->blocks[r->block];
    uint64_t segment = r->segments[r->next_segment], line = segment / SEGMENT_BYTES;
    uint32_t node = record * LANES + r->next_segment, request;
    miss_queue *q;
    cache_line *found = NULL;
    int is_load = instruction->opcode == OPCODE_LD || instruction->opcode == OPCODE_TEX,
        cached = is_load && !(instruction->flags & (FLAG_CACHE_GLOBAL | FLAG_VOLATILE));
    if (cached && (found = cache_find(&s->l1, line))) {
        if (found->pending == m->config.l1_merges) return 0;
        found->stamp = ++s->l1.clock;
        r->outstanding++;
        if (found->pending) {
            found->pending++;
            s->waiters[node] = found->first_waiter;
            found->first_waiter = node;
        } else {
            s->statistics.l1_hits++;
            pipe_put(&s->pipes[PIPE_L1], m->now, record);
        }
        return 1;
    }
    if (instruction->opcode == OPCODE_ST) {
        int kept = keep_local(m, s, r, segment);
        if (kept) return kept > 0;
    }
    if (s->free_request == NONE || !(q = queue_for(m, s, b->kernel + 1))) return 0;
    if (is_load) {
        if (cached) {
            if (s->outstanding_misses >= m->config.l1_misses || !(found = cache_victim(&s->l1, line)) ||
                !evict(m, s, b, q, found, 1))
                return 0;
            found->line = line + 1;
            found->stamp = ++s->l1.clock;
            found->pending = 1;
            found->first_waiter = node;
            s->waiters[node] = NONE;
            s->outstanding_misses++;
        }
        s->statistics.l1_misses++;
        request = take_instruction_request(m, s, r, REQUEST_LOAD, segment);
        if (cached)
            s->requests[request].miss = (uint32_t)(found - s->l1.lines);
        else
            s->requests[request].record = record;
        r->outstanding++;
    } else if (instruction->opcode == OPCODE_ST || instruction->opcode == OPCODE_RED) {
        /* L1 writes through and holds no global data of its own, so a line that is there stays right. */
        request = take_instruction_request(m, s, r, REQUEST_STORE, segment);
        m->warps[r->warp].stores++;
        b->stores++;
    } else {
        request = take_instruction_request(m, s, r, REQUEST_ATOMIC, segment);
        s->requests[request].record = record;
        b->atomics++;
        r->outstanding++;
    }
    enqueue(m, q, request);
    return 1;
}

static void access_stage(machine *m, sm *s) {
    uint32_t record, entries = m->config.in_flight_records;
    in_flight *r;
    s->access_waits = 0;
    if (!s->access_count) return;
    record = s->access_queue[s->access_head];
    r = &s->records[record];
    if (!r->squashed) {
        if (r->conflict_cycles) {
            if (--r->conflict_cycles) return;
            r->outstanding++;
            pipe_put(&s->pipes[PIPE_SHARED], m->now, record);
        } else if (r->next_segment < r->segment_count) {
            if (!send_segment(m, s, record)) {
                s->access_waits = 1; /* until a reply or a departure makes room */
                return;
            }
            r->next_segment++;
        }
        if (r->next_segment < r->segment_count) return;
    }
    s->access_head = (s->access_head + 1) % entries;
    s->access_count--;
    s->memory_reserved--;
    r->in_queue = 0;
    if (!r->outstanding) pipeline_commit(m, s, record);
}

/* ---- check queue: one translation per cycle, effect after the last ---- */

static void check_stage(machine *m, sm *s) {
    uint32_t record, entries = m->config.in_flight_records;
    in_flight *r;
    if (!s->check_count) return;
    record = s->check_queue[s->check_head];
    r = &s->records[record];
    if (!r->squashed && r->unchecked) {
        uint64_t segment = r->segments[r->segment_count - r->unchecked];
        const int write = !instruction_only_reads(r->instruction);
        const translation found = memory_access_translate(m, segment, write);
        if (found == TRANSLATION_PENDING) return;
        if (found == TRANSLATION_ABSENT && r->info->is_checked)
            page_faults_report(m, segment, write);
        else if (found != TRANSLATION_HIT) {
            machine_fail(
                m, "%s:%u:%u: kernel %s: %s to address 0x%" PRIx64 " (128-byte segment), %s; block %" PRIu64 " warp %u",
                m->kernels[m->blocks[r->block].kernel].program->file_name, r->instruction->line, r->instruction->column,
                m->kernels[m->blocks[r->block].kernel].program->name, opcode_name(r->instruction->opcode), segment,
                found == TRANSLATION_ABSENT ? "whose page is absent, without a check" : "which belongs to no buffer",
                m->blocks[r->block].linear, m->warps[r->warp].index);
            return;
        }
        r->unchecked--;
        if (r->unchecked) return;
    }
    s->check_head = (s->check_head + 1) % entries;
    s->check_count--;
    if (!r->squashed) {
        if (r->info->is_checked) memory_access_checked(m, r);
        memory_access_effect(m, s, r);
        pipeline_checked(m, s, r);
        r->stage = RECORD_MEMORY;
    }
    r->next_segment = 0;
    s->access_queue[(s->access_head + s->access_count++) % entries] = record;
}

void memory_path_accept(machine *m, sm *s, uint32_t record) {
    in_flight *r = &s->records[record];
    const instruction *instruction = r->instruction;
    if (instruction->space == SPACE_PARAM || instruction->space == SPACE_CONST) {
        /* Their cache always hits and their addresses never fault. */
        s->memory_reserved--;
        memory_access_constant(m, s, r);
        pipeline_checked(m, s, r);
        r->stage = RECORD_MEMORY;
        pipe_put(&s->pipes[PIPE_CONSTANT], m->now, record);
        return;
    }
    memory_access_coalesce(m, s, r);
    r->unchecked = r->segment_count;
    r->faulted = 0;
    r->in_queue = 1;
    s->check_queue[(s->check_head + s->check_count++) % m->config.in_flight_records] = record;
}

/* ---- a cycle ---- */

/* Does a request of that kind find room in the network's input? */
static int network_has_room(const machine *m, const sm *s, uint32_t kind) {
    return !s->network_count || s->network_flits + m->packet_flits[carries_data(kind)] <= m->config.network_input_flits;
}

/* The next miss queue that may send; NULL. */
static miss_queue *next_miss(const machine *m, const sm *s, uint32_t *after) {
    uint32_t i, queues = m->config.kernels_per_sm + 1;
    for (i = 0; i < queues; i++) {
        miss_queue *q = &s->miss_queues[(s->next_queue + i) % queues];
        if (!q->count || !memory_path_gate(m, s, q->kernel) ||
            !network_has_room(m, s, s->requests[q->requests[q->head]].kind))
            continue;
        *after = (s->next_queue + i + 1) % queues;
        return q;
    }
    return NULL;
}

/* A miss goes into the network's input, and who stands first there goes on its way when the port is free. Returns 1
 * when somebody is there. */
static int send_miss(machine *m, sm *s) {
    uint32_t input = m->config.network_input_flits, after, index;
    miss_queue *q = next_miss(m, s, &after);
    if (q) {
        index = q->requests[q->head];
        q->head = (q->head + 1) % m->config.miss_queue_entries;
        q->count--;
        s->next_queue = after;
        s->network_queue[(s->network_head + s->network_count++) % input] = index;
        s->network_flits += m->packet_flits[carries_data(s->requests[index].kind)];
    }
    if (!s->network_count) return 0;
    if (s->network_up_free > m->now) return 1;
    index = s->network_queue[s->network_head];
    s->network_head = (s->network_head + 1) % input;
    s->network_count--;
    s->network_flits -= m->packet_flits[carries_data(s->requests[index].kind)];
    depart(m, s, index);
    return 1;
}

/* Contexts go when nobody else wants the port. */
static void send_context(machine *m, sm *s) {
    uint32_t request, block_index, kind;
    uint64_t address;
    block *b;
    if (!s->contexts_moving || s->free_request == NONE || !context_pipeline_next(m, s, &block_index, &kind, &address))
        return;
    b = &m->blocks[block_index];
    request = take_request(s, b, kind, address);
    s->requests[request].process = m->kernels[b->kernel].process;
    s->requests[request].block = block_index;
    s->statistics.transfer_requests++;
    depart(m, s, request);
}

void memory_path_write_back(machine *m, sm *s, const block *b) {
    uint32_t i;
    if (b->local_frame == NONE) return;
    for (i = 0; i < s->l1.sets * s->l1.ways; i++) {
        cache_line *line = &s->l1.lines[i];
        const uint64_t address = (line->line - 1) * SEGMENT_BYTES;
        if (!line->line || !line->dirty || address < b->local_base || address >= b->local_base + m->local_stride)
            continue;
        line->dirty = 0;
        s->network_up_free = (s->network_up_free > m->now ? s->network_up_free : m->now) + m->packet_cycles[1];
        m->network_bytes += (uint64_t)m->packet_flits[1] * m->config.network_flit_bytes;
    }
}

int memory_path_stall(machine *m, sm *s, uint32_t block_index, uint32_t kind, uint64_t cycle) {
    uint32_t request;
    if (s->free_request == NONE) return -1;
    request = take_request(s, &m->blocks[block_index], kind, 0);
    s->requests[request].process = m->kernels[m->blocks[block_index].kernel].process;
    s->requests[request].block = block_index;
    m->blocks[block_index].transfers = 1;
    reply_at(s, cycle > m->now ? cycle : m->now + 1, request);
    if (s->wake > m->now + 1) s->wake = m->now + 1;
    return 0;
}

void memory_path_replies(machine *m, sm *s) {
    uint32_t record;
    while (s->reply_count && s->replies[0].cycle <= m->now) {
        uint32_t index = take_reply(s);
        memory_request request = s->requests[index];
        block *b = &m->blocks[request.block];
        int resident = b->life == request.life;
        free_request(s, index);
        switch (request.kind) {
        case REQUEST_LOAD:
            if (request.miss != NONE) {
                cache_line *line = &s->l1.lines[request.miss];
                uint32_t node = line->first_waiter;
                line->pending = 0;
                line->first_waiter = NONE;
                s->outstanding_misses--;
                while (node != NONE) {
                    uint32_t next = s->waiters[node];
                    piece_done(m, s, node / LANES);
                    node = next;
                }
            } else {
                piece_done(m, s, request.record);
            }
            break;
        case REQUEST_ATOMIC:
            if (resident) b->atomics--;
            piece_done(m, s, request.record);
            break;
        case REQUEST_WRITE_BACK: break;
        case REQUEST_STORE:
            if (resident) {
                m->warps[request.warp].stores--;
                b->stores--;
                pipeline_block_may_be_done(m, s, b);
            }
            break;
        default:
            if (!resident) break; /* it has ended instead */
            if (m->config.switch_stalls)
                preemption_transfer_done(m, s, b, request.kind);
            else
                context_pipeline_moved(m, s, b);
            break;
        }
    }
    while ((record = pipe_take(&s->pipes[PIPE_L1], m->now)) != NONE) piece_done(m, s, record);
    while ((record = pipe_take(&s->pipes[PIPE_SHARED], m->now)) != NONE) piece_done(m, s, record);
    while ((record = pipe_take(&s->pipes[PIPE_CONSTANT], m->now)) != NONE) pipeline_commit(m, s, record);
}

void memory_path_tick(machine *m, sm *s) {
    if (!send_miss(m, s) && s->network_up_free <= m->now) send_context(m, s);
    access_stage(m, s);
    check_stage(m, s);
}

uint64_t memory_path_next(const machine *m, const sm *s) {
    uint64_t next = s->reply_count ? s->replies[0].cycle : NEVER,
             port = s->network_up_free > m->now ? s->network_up_free : m->now + 1;
    uint64_t context = s->free_request != NONE ? context_pipeline_cycle(s) : NEVER;
    uint32_t after;
    if ((s->access_count && !s->access_waits) || s->check_count || next_miss(m, s, &after)) return m->now + 1;
    if (s->network_count && port < next) next = port;
    if (context < port) context = port;
    return context < next ? context : next;
}
