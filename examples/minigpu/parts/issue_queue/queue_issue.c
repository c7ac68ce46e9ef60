#include "parts/issue_queue/queue_issue.h"

#include <string.h>

#include "sm/front_end.h"
#include "sm/gate.h"
#include "sm/memory_order.h"
#include "sm/memory_path.h"
#include "sm/pipeline.h"

#define BIT(slot) (UINT64_C(1) << (slot))

/* ---- a cycle ---- */

/* An instruction that waits for more than registers may be free to go. */
void queue_issue_reconsider(machine *m, sm *s, warp *w) {
    const instruction_window *window = issue_queue_window(queue_of(s), w);
    const queue_entry *e;
    (void)m;
    if (!window->may_permit) return;
    e = &queue_of(s)->entries[window->entry[gpump_bits_lowest64(window->held_back)]];
    if (memory_order_clear(w, e->info, 1)) issue_queue_permit(queue_of(s), w);
}

/* May nothing more be fetched for the warp for now? */
static int fetch_stops(machine *m, sm *s, warp *w) {
    int stops;
    PATH_ASK(m, stops, 0, fetch_stops, (m, s, w));
    return stops;
}

/* The entries whose unit is busy, or that find no place behind the issue stage. */
static void without_unit_queued(const machine *m, const sm *s, uint64_t blocked[ISSUE_QUEUE_WORDS]) {
    uint32_t unit, i;
    memset(blocked, 0, ISSUE_QUEUE_WORDS * sizeof *blocked);
    for (unit = 0; unit < UNIT_COUNT; unit++) {
        uint64_t free_at = s->unit_free[unit];
        for (i = 0; unit == UNIT_ALU && i < m->config.gpu.schedulers; i++)
            if (!i || queue_of(s)->alu_free[i] < free_at) free_at = queue_of(s)->alu_free[i];
        if (free_at <= s->now && (unit != UNIT_MEMORY || memory_path_has_room(m, s))) continue;
        for (i = 0; i < ISSUE_QUEUE_WORDS; i++) blocked[i] |= queue_of(s)->unit_entries[unit][i];
    }
}

static int waits_for_more(const issue_info *info) {
    return info->is_barrier || info->serialises || info->copies > COPIES_STARTS;
}
/* Does fetch stop behind it until it issues? Behind control instructions it stops until they commit. */
static int stops_fetch(const issue_info *info) {
    return info->unit != UNIT_CONTROL && (info->unit == UNIT_MEMORY || waits_for_more(info));
}

static void issue_entry(machine *m, sm *s, uint32_t entry) {
    const queue_entry e = queue_of(s)->entries[entry];
    warp *w = &m->warps[e.warp];
    uint32_t alu = 0, record;
    issue_queue_take(queue_of(s), w, entry);
    if (e.handle != NONE) {
        PATH_ASK(m, record, NONE, issues_again, (m, s, w, e.handle));
    } else {
        record = pipeline_start(m, s, e.warp, e.pc, e.mask, e.sequence);
        s->progress_cycle = s->now;
        PATH_TELL(m, issues, (m, s, w, &s->records[record]));
    }
    while (alu + 1 < m->config.gpu.schedulers && queue_of(s)->alu_free[alu] > s->now) alu++;
    if (e.info->unit == UNIT_ALU) queue_of(s)->alu_free[alu] = s->now + 1;
    pipeline_occupy_unit(m, s, e.info);
    PATH_TELL(m, issued, (m, s, w, &s->records[record]));
    if (stops_fetch(e.info)) issue_queue_fetch_waits(queue_of(s), w, 0);
}

/* Puts an instruction of a warp into the queue. */
static void enqueue(machine *m, sm *s, warp *w, queue_entry *e) {
    block *b = &m->blocks[w->block];
    const int held_back = waits_for_more(e->info);
    w->in_flight++;
    b->in_flight++;
    if (e->info->writes) b->registers_pending++;
    issue_queue_insert(queue_of(s), w, e, held_back);
    if (held_back) queue_issue_reconsider(m, s, w);
    if (stops_fetch(e->info)) issue_queue_fetch_waits(queue_of(s), w, 1);
}

/* One warp's next instructions enter the queue, up to the end of its line, a control or a memory instruction. */
static void fetch_line(machine *m, sm *s, uint32_t slot) {
    const uint32_t warp_index = s->slot_warp[slot];
    warp *w = &m->warps[warp_index];
    uint32_t i;
    queue_of(s)->last_fetch = slot;
    for (i = 0;
         i < m->config.fetch_instructions && issue_queue_has_room(queue_of(s)) && !(queue_of(s)->full >> slot & 1);
         i++) {
        const uint32_t pc = simt_top(&w->stack)->pc;
        const issue_info *info = &w->program[pc];
        queue_entry e;
        if (pipeline_runs_past_end(m, w, info) || fetch_stops(m, s, w)) return;
        e.info = info;
        e.sequence = w->sequence++;
        e.warp = warp_index;
        e.pc = pc;
        e.mask = simt_top(&w->stack)->mask;
        e.handle = NONE;
        enqueue(m, s, w, &e);
        PATH_TELL(m, fetched, (m, s, w, pc, e.sequence));
        if (info->unit == UNIT_CONTROL) {
            s->fetched &= ~BIT(slot);
            gate_close(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_PIPELINE);
            return;
        }
        front_end_go_on(w, pc + 1);
        if (stops_fetch(info)) return;
        if (!gpump_warp_gate_may(w->gate, GPUMP_WARP_FETCH)) {
            s->fetched &= ~BIT(slot);
            return;
        }
    }
}

/* Warps whose next line may enter the queue. */
static uint64_t fetch_candidates(const sm *s) {
    return s->present & s->fetched & ~s->held & ~queue_of(s)->waits & ~queue_of(s)->full;
}

/* Returns the next cycle in which fetch or issue has something to do by itself; NEVER. */
uint64_t queue_issue_cycle(machine *m, sm *s) {
    uint64_t blocked[ISSUE_QUEUE_WORDS], full[ISSUE_QUEUE_WORDS] = {0, 0}, slots, replaying;
    const queue_entry *e;
    uint32_t i = s->scheduler_free[0] > s->now, entry; /* a handler has issued in place of one (handler.h) */
    int may;
    while (i < m->config.issue_instructions && s->free_record != NONE && issue_queue_any_ready(queue_of(s), full)) {
        without_unit_queued(m, s, blocked);
        blocked[0] |= full[0];
        blocked[1] |= full[1];
        if ((entry = issue_queue_oldest(queue_of(s), blocked)) == NONE) break;
        e = &queue_of(s)->entries[entry];
        PATH_ASK(m, may, 1, may_issue_one, (m, s, &m->warps[e->warp], e->info, e->handle));
        if (!may) {
            full[entry / 64] |= UINT64_C(1) << entry % 64;
            continue;
        }
        issue_entry(m, s, entry);
        i++;
    }
    slots = fetch_candidates(s);
    if (slots && issue_queue_has_room(queue_of(s))) { /* in turn: a warp that cannot issue would fill the queue */
        const uint64_t after =
            queue_of(s)->last_fetch >= 63 ? 0 : slots & ~((UINT64_C(2) << queue_of(s)->last_fetch) - 1);
        fetch_line(m, s, gpump_bits_lowest64(after ? after : slots));
    }
    PATH_ASK(m, replaying, 0, replaying, (m, s));
    slots = fetch_candidates(s) | (replaying & ~queue_of(s)->waits);
    if (slots && issue_queue_has_room(queue_of(s))) return s->now + 1;
    for (i = 0; i < ISSUE_QUEUE_WORDS && !memory_path_has_room(m, s); i++)
        full[i] |= queue_of(s)->unit_entries[UNIT_MEMORY][i];
    return issue_queue_any_ready(queue_of(s), full) && s->free_record != NONE ? s->now + 1 : NEVER;
}

/* ---- instructions that are squashed, or issue again ---- */

/* Takes back what fetch has counted for the instructions of a warp in the issue queue. */
static void uncount(machine *m, sm *s, warp *w) {
    block *b = &m->blocks[w->block];
    const instruction_window *window = issue_queue_window(queue_of(s), w);
    uint64_t left = window->queued;
    for (; left; left &= left - 1) {
        const queue_entry *e = &queue_of(s)->entries[window->entry[gpump_bits_lowest64(left)]];
        w->in_flight--;
        b->in_flight--;
        if (e->info->writes) b->registers_pending--;
    }
}

void queue_issue_squash(machine *m, sm *s, warp *w) {
    uncount(m, s, w);
    issue_queue_forget(queue_of(s), w);
}

uint32_t queue_issue_take(machine *m, sm *s, warp *w, gpump_replay_entry *entries) {
    const instruction_window *window = issue_queue_window(queue_of(s), w);
    const uint64_t first = w->sequence - WINDOW; /* all that are alive are younger */
    uint32_t count = 0, i;
    for (i = 0; i < WINDOW; i++) {
        const uint32_t place = (uint32_t)(first + i) % WINDOW;
        const queue_entry *e = &queue_of(s)->entries[window->entry[place]];
        gpump_replay_entry *out = &entries[count];
        if (!(window->queued >> place & 1)) continue;
        if (e->info->unit == UNIT_CONTROL) {
            gate_open(s, w, GPUMP_WARP_FETCH, GPUMP_WARP_PIPELINE);
            pipe_put(&s->pipes[PIPE_FETCH], m->now, (uint32_t)(w - m->warps));
            continue;
        }
        if (e->handle != NONE) continue; /* still in the replay queue */
        memset(out, 0, sizeof *out);
        out->sequence = e->sequence;
        out->lanes = e->mask;
        out->pc = e->pc;
        count++;
    }
    queue_issue_squash(m, s, w);
    return count;
}

replay_result queue_issue_replay(machine *m, sm *s, warp *w, uint32_t handle, const gpump_replay_entry *what,
                                 int may_go) {
    queue_entry e;
    if (issue_queue_window(queue_of(s), w)->fetch_waits ||
        issue_queue_window(queue_of(s), w)->alive >> what->sequence % WINDOW & 1)
        return REPLAY_WAITS;
    if (!issue_queue_has_room(queue_of(s)) && (!issue_queue_has_last_room(queue_of(s)) || !may_go)) return REPLAY_LATER;
    e.info = &w->program[what->pc];
    e.sequence = what->sequence;
    e.warp = (uint32_t)(w - m->warps);
    e.pc = what->pc;
    e.mask = (uint32_t)what->lanes;
    e.handle = handle;
    enqueue(m, s, w, &e);
    return REPLAY_ISSUED;
}
