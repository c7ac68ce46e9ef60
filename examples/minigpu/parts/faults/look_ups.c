#include "parts/faults/look_ups.h"

#include "parts/faults/fault_facts.h"
#include "parts/faults/tlb.h"
#include "sm/fault_access.h"
#include "sm/memory_path.h"

static void ring_put(const machine *m, uint32_t *ring, uint32_t head, uint32_t *count, uint32_t item) {
    ring[(head + (*count)++) % m->config.in_flight_records] = item;
}

static void ring_remove(const machine *m, uint32_t *ring, uint32_t head, uint32_t *count, uint32_t item) {
    const uint32_t entries = m->config.in_flight_records;
    uint32_t i, kept = 0;
    for (i = 0; i < *count; i++) {
        const uint32_t one = ring[(head + i) % entries];
        if (one != item) ring[(head + kept++) % entries] = one;
    }
    *count = kept;
}

/* Reports that the access of a segment faults. */
static void report(machine *m, sm *s, const in_flight *r, uint32_t segment, translation found) {
    look_up_record *l = look_up_of(s, r);
    const gpump_fault_access access = fault_access_of(m, s, r, r->segments[segment], found);
    uint64_t cycle;
    PARTS_ASK(m, cycle, 0, page_is_wanted, (m, s, &m->warps[r->warp], &access));
    if (cycle == NEVER) PARTS_TELL(m, pages_pending, (m, block_cookie(&m->blocks[r->block])));
    if (!l->absent) l->pages_cycle = 0;
    if (cycle > l->pages_cycle) l->pages_cycle = cycle;
    l->absent |= 1u << segment;
}

/* Returns whether the run continues after this result of a look-up. */
static int is_served(const machine *m, translation found) {
    return found == TRANSLATION_ABSENT ? m->faults_may_happen != 0
                                       : found == TRANSLATION_FAULT && (m->traits & PART_ABORTS);
}

/* Takes the answer for a segment's page, present or absent. The last answer completes the record. */
static void answered(machine *m, sm *s, uint32_t record, uint32_t segment, translation found) {
    const in_flight *r = &s->records[record];
    const look_up_record *l = look_up_of(s, r);
    const int write = !instruction_only_reads(r->instruction);
    int remembered = 0;
    uint32_t i;
    if (found == TRANSLATION_ABSENT && r->info->is_checked)
        PARTS_ASK(m, remembered, 0, check_fails, (m, s, r, r->segments[segment]));
    if (!remembered && is_served(m, found)) {
        report(m, s, r, segment, found);
    } else if (!remembered && found != TRANSLATION_HIT) {
        memory_path_wrong_translation(m, r, r->segments[segment], found);
        return;
    }
    if (l->to_check || l->pending) return;
    for (i = 0; l->turn && i < r->segment_count; i++) { /* pages that were evicted since their look-up, or served */
        found = translate(m, r->segments[i], write);
        if (found != TRANSLATION_HIT) report(m, s, r, i, found);
    }
    ring_put(m, sm_faults_of(s)->checked, sm_faults_of(s)->checked_head, &sm_faults_of(s)->checked_count, record);
}

static void unpark(machine *m, sm *s) {
    sm_faults *f = sm_faults_of(s);
    uint32_t i, kept = 0;
    f->parked_cycle = NEVER;
    for (i = 0; i < f->parked_count; i++) {
        const uint32_t record = f->parked[i];
        look_up_record *l = &f->of_record[record];
        if (l->pages_cycle <= s->now) {
            l->to_check = l->absent; /* the request is sent and walked again */
            l->absent = 0;
            l->pinned = 1;
            s->checks_wait = 0;
            ring_put(m, s->check_queue, s->check_head, &s->check_count, record);
            continue;
        }
        f->parked[kept++] = record;
        if (l->pages_cycle < f->parked_cycle) f->parked_cycle = l->pages_cycle;
    }
    f->parked_count = kept;
}

/* Returns whether a page may be evicted: not of local memory, contexts and the heap. */
static int may_be_evicted(const machine *m, const sm *s, const in_flight *r, uint64_t segment) {
    return !r->info->is_checked && !look_up_of(s, r)->pinned && segment < m->grid_workspaces &&
           !(m->local_count && segment >= m->local_base);
}

/* Makes the page of this address absent, so that the next access to it faults. */
static void evict(machine *m, uint64_t address) {
    const uint64_t page = (address - DEVICE_BASE) / PAGE_BYTES;
    m->page_table[page] |= PAGE_ABSENT_READ | PAGE_ABSENT_WRITE;
    translation_changes(m, page);
}

/* Counts a look-up of the machine that can be forced to fault, and chooses the next one that is. */
static void count_check(machine_faults *f) {
    if (++f->checks == f->forced_check && f->forced_interval) f->forced_check += f->forced_interval;
}

/* Looks up the record's next segment. Returns 0 when the L1 TLB has no room. */
static int look_up(machine *m, sm *s, uint32_t record) {
    const in_flight *r = &s->records[record];
    look_up_record *l = look_up_of(s, r);
    const uint32_t segment = gpump_bits_lowest64(l->to_check);
    const uint64_t address = r->segments[segment];
    const int evictable = may_be_evicted(m, s, r, address);
    machine_faults *all = machine_faults_of(m);
    translation found;
    if (evictable && all->checks + 1 == all->forced_check) evict(m, address);
    found = tlb_look_up(m, s, m->kernels[m->blocks[r->block].kernel].process, address,
                        !instruction_only_reads(r->instruction),
                        (uint64_t)l->generation << 32 | (record * LANES + segment));
    if (found == TRANSLATION_BUSY) return 0;
    sm_faults_of(s)->checks++;
    if (evictable && all->forced_check != NEVER) count_check(all);
    l->to_check &= l->to_check - 1;
    if (found == TRANSLATION_PENDING)
        l->pending++;
    else
        answered(m, s, record, segment, found);
    return 1;
}

/* With finite memory: moves the first record that may be translated now to the head of the check queue. Returns 0 when
 * there is none. */
static int take_turn(machine *m, sm *s) {
    sm_faults *f = sm_faults_of(s);
    const uint32_t entries = m->config.in_flight_records;
    uint32_t i, k;
    for (i = 0; !s->checks_wait && i < s->check_count; i++) {
        const uint32_t record = s->check_queue[(s->check_head + i) % entries];
        look_up_record *l = &f->of_record[record];
        const uint32_t number = m->warps[s->records[record].warp].number;
        if (l->to_check && !l->turn && gpump_bits_get(f->translating, number)) continue;
        if (l->to_check) {
            l->turn = 1;
            gpump_bits_set(f->translating, number);
        }
        for (k = i; k > 0; k--)
            s->check_queue[(s->check_head + k) % entries] = s->check_queue[(s->check_head + k - 1) % entries];
        s->check_queue[s->check_head] = record;
        return 1;
    }
    s->checks_wait = 1;
    return 0;
}

/* Ends a record's turn: it has taken effect, or was taken back. */
static void end_turn(machine *m, sm *s, const in_flight *r) {
    s->checks_wait = 0;
    if (!look_up_of(s, r)->turn) return;
    look_up_of(s, r)->turn = 0;
    gpump_bits_clear(sm_faults_of(s)->translating, m->warps[r->warp].number);
}

/* Makes one look-up per cycle: of a record that found no room before, or of the first record in the queue. Returns a
 * record that needed none and has taken effect; NONE. */
uint32_t look_ups_cycle(machine *m, sm *s) {
    sm_faults *f = sm_faults_of(s);
    uint64_t waiter;
    uint32_t record;
    while (tlb_take(m, s, &waiter)) {
        const in_flight *r = &s->records[(uint32_t)waiter / LANES];
        look_up_record *l = look_up_of(s, r);
        const uint32_t segment = (uint32_t)waiter % LANES;
        f->retry = 1;
        if (l->generation != waiter >> 32) continue;
        l->pending--;
        answered(m, s, (uint32_t)waiter / LANES, segment,
                 translate(m, r->segments[segment], !instruction_only_reads(r->instruction)));
    }
    if (f->parked_cycle <= s->now) unpark(m, s);
    if (m->failed) return NONE;
    if (f->retry && f->refused_count) {
        record = f->refused[f->refused_head];
        f->retry = look_up(m, s, record) != 0;
        if (f->of_record[record].to_check || !f->retry) return NONE;
        f->refused_head = (f->refused_head + 1) % m->config.in_flight_records;
        f->refused_count--;
        return NONE;
    }
    if (!s->check_count || (m->memory_is_finite && !take_turn(m, s))) return NONE;
    record = s->check_queue[s->check_head];
    if (f->of_record[record].to_check) {
        const int found_room = look_up(m, s, record);
        if (!found_room) ring_put(m, f->refused, f->refused_head, &f->refused_count, record);
        if (found_room && f->of_record[record].to_check) return NONE;
        s->check_head = (s->check_head + 1) % m->config.in_flight_records;
        s->check_count--;
        return NONE;
    }
    s->check_head = (s->check_head + 1) % m->config.in_flight_records;
    s->check_count--;
    if (faults_tracks(m, &s->records[record])) {
        ring_put(m, f->checked, f->checked_head, &f->checked_count, record);
        return NONE;
    }
    look_ups_effect(m, s, record);
    return record;
}

int look_ups_take(sm *s, uint32_t *record) {
    sm_faults *f = sm_faults_of(s);
    if (!f->checked_count) {
        f->checked_head = 0;
        return 0;
    }
    *record = f->checked[f->checked_head++];
    f->checked_count--;
    return 1;
}

void look_ups_effect(machine *m, sm *s, uint32_t record) {
    const in_flight *r = &s->records[record];
    if (look_up_of(s, r)->turn) {
        end_turn(m, s, r);
        PARTS_TELL(m, passes_checks, (m, r));
    }
    memory_path_pass(m, s, record);
}

void look_ups_park(sm *s, uint32_t record) {
    sm_faults *f = sm_faults_of(s);
    f->parked[f->parked_count++] = record;
    if (f->of_record[record].pages_cycle < f->parked_cycle) f->parked_cycle = f->of_record[record].pages_cycle;
}

void look_ups_withdraw(machine *m, sm *s, uint32_t record) {
    sm_faults *f = sm_faults_of(s);
    ring_remove(m, s->check_queue, s->check_head, &s->check_count, record);
    ring_remove(m, f->refused, f->refused_head, &f->refused_count, record);
    ring_remove(m, f->checked, f->checked_head, &f->checked_count, record);
    ring_remove(m, f->parked, 0, &f->parked_count, record);
    end_turn(m, s, &s->records[record]);
    f->of_record[record].generation++;
    s->memory_reserved--;
}

void look_ups_enter(machine *m, sm *s, in_flight *r) {
    look_up_record *l = look_up_of(s, r);
    (void)m;
    l->to_check = r->segment_count >= LANES ? UINT32_MAX : (1u << r->segment_count) - 1;
    l->pending = l->absent = l->turn = 0;
    s->checks_wait = 0;
}

int look_ups_leave(machine *m, sm *s, uint32_t record) {
    if (s->records[record].stage != RECORD_CHECKING) return 0;
    look_ups_withdraw(m, s, record);
    return 1;
}

int look_ups_are_served(const machine *m, const sm *s, const in_flight *r) {
    const int write = !instruction_only_reads(r->instruction);
    uint32_t left = look_up_of(s, r)->absent;
    for (; left; left &= left - 1)
        if (translate(m, r->segments[gpump_bits_lowest64(left)], write) != TRANSLATION_HIT) return 0;
    return 1;
}

/* A parked record waits for no page any more, so it looks up again. */
static void look_again(const machine *m, sm *s, look_up_record *l) {
    l->pages_cycle = sm_faults_of(s)->parked_cycle = m->now;
    s->wake = m->now;
}

void look_ups_pages_came(machine *m) {
    uint32_t i, n;
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[i];
        for (n = 0; n < sm_faults_of(s)->parked_count; n++) {
            const in_flight *r = &s->records[sm_faults_of(s)->parked[n]];
            look_up_record *l = look_up_of(s, r);
            if (l->pages_cycle == NEVER && look_ups_are_served(m, s, r)) look_again(m, s, l);
        }
    }
}

void look_ups_pages_leave(machine *m, uint64_t page, uint64_t count) {
    uint32_t i, n, segment;
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[i];
        for (n = 0; n < sm_faults_of(s)->parked_count; n++) {
            const in_flight *r = &s->records[sm_faults_of(s)->parked[n]];
            look_up_record *l = look_up_of(s, r);
            for (segment = 0; segment < r->segment_count; segment++)
                if ((r->segments[segment] - DEVICE_BASE) / PAGE_BYTES - page < count) break;
            if (segment < r->segment_count && l->pages_cycle == NEVER) look_again(m, s, l);
        }
    }
}
