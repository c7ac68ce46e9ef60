#include "parts/issue_queue/issue_queue.h"

#include "sm/scoreboard.h"

#include <string.h>

#define BIT(i) (UINT64_C(1) << (i))
#define PLACE(sequence) ((uint32_t)((sequence) & (WINDOW - 1)))

issue_queue *issue_queue_make(arena *a, uint32_t entries, uint32_t windows, uint32_t ids) {
    issue_queue *q = (issue_queue *)arena_take(a, sizeof *q);
    uint32_t i;
    if (!q || !(q->windows = (instruction_window *)arena_take_array(a, windows, sizeof *q->windows))) return NULL;
    q->ids = ids;
    q->window_count = windows;
    for (i = 0; i < windows; i++) {
        instruction_window *window = &q->windows[i];
        window->readers = (uint64_t *)arena_take_array(a, ids + 1, sizeof *window->readers);
        window->writer = (uint8_t *)arena_take_array(a, ids + 1, 1);
        if (!window->readers || !window->writer) return NULL;
        memset(window->writer, WINDOW, ids);
    }
    for (i = 0; i <= entries; i++) q->free_entries[i / 64] |= BIT(i % 64);
    return q;
}

static void look_at(issue_queue *q, const instruction_window *window, uint32_t place) {
    const uint32_t entry = window->entry[place];
    if (!(window->waits_commit[place] | window->waits_release[place] | (window->held_back & BIT(place))))
        q->ready[entry / 64] |= BIT(entry % 64);
}

/* A set bit of the masks means that the warp's window has no room. */
static void see_room(issue_queue *q, const warp *w) {
    if (issue_queue_window(q, w)->alive & BIT(PLACE(w->sequence)))
        q->full |= warp_bit(w);
    else
        q->full &= ~warp_bit(w);
}

void issue_queue_fetch_waits(issue_queue *q, const warp *w, int waits) {
    issue_queue_window(q, w)->fetch_waits = waits != 0;
    q->waits = waits ? q->waits | warp_bit(w) : q->waits & ~warp_bit(w);
}

void issue_queue_took_slot(issue_queue *q, const warp *w) {
    see_room(q, w);
    issue_queue_fetch_waits(q, w, (int)issue_queue_window(q, w)->fetch_waits);
}

void issue_queue_insert(issue_queue *q, const warp *w, const queue_entry *instruction, int held_back) {
    instruction_window *window = issue_queue_window(q, w);
    const issue_info *info = instruction->info;
    const uint32_t place = PLACE(instruction->sequence), word = q->free_entries[0] ? 0 : 1,
                   entry = word * 64 + gpump_bits_lowest64(q->free_entries[word]);
    uint64_t commit = 0, release = 0;
    uint32_t i, at;
    q->free_entries[word] &= q->free_entries[word] - 1;
    q->unit_entries[info->unit][word] |= BIT(entry % 64);
    q->entries[entry] = *instruction;
    q->entries[entry].age = q->ages++;
    for (i = 0; i < info->words; i++) {
        const issue_word *bits = issue_word_at(info, i, &at);
        uint64_t left = bits->sources | bits->destinations;
        for (; left; left &= left - 1) {
            const uint32_t bit = gpump_bits_lowest64(left), id = at * 64 + bit;
            if (window->writer[id] != WINDOW) commit |= BIT(window->writer[id]);
            if (bits->destinations >> bit & 1) {
                release |= window->readers[id];
                window->writer[id] = (uint8_t)place;
            }
            if (bits->sources >> bit & 1) window->readers[id] |= BIT(place);
        }
    }
    window->waits_commit[place] = commit;
    window->waits_release[place] = release;
    window->entry[place] = (uint8_t)entry;
    window->alive |= BIT(place);
    window->queued |= BIT(place);
    if (held_back) {
        window->held_back |= BIT(place);
        window->may_permit = 1;
    }
    see_room(q, w);
    look_at(q, window, place);
}

void issue_queue_permit(issue_queue *q, const warp *w) {
    instruction_window *window = issue_queue_window(q, w);
    const uint32_t place = gpump_bits_lowest64(window->held_back);
    window->held_back = 0;
    window->may_permit = 0;
    look_at(q, window, place);
}

uint32_t issue_queue_oldest(const issue_queue *q, const uint64_t blocked[ISSUE_QUEUE_WORDS]) {
    uint64_t age = UINT64_MAX;
    uint32_t word, oldest = NONE;
    for (word = 0; word < ISSUE_QUEUE_WORDS; word++) {
        uint64_t left = q->ready[word] & ~blocked[word];
        for (; left; left &= left - 1) {
            const uint32_t entry = word * 64 + gpump_bits_lowest64(left);
            if (q->entries[entry].age >= age) continue;
            age = q->entries[entry].age;
            oldest = entry;
        }
    }
    return oldest;
}

void issue_queue_take(issue_queue *q, const warp *w, uint32_t entry) {
    const uint64_t bit = BIT(entry % 64);
    issue_queue_window(q, w)->queued &= ~BIT(PLACE(q->entries[entry].sequence));
    q->unit_entries[q->entries[entry].info->unit][entry / 64] &= ~bit;
    q->ready[entry / 64] &= ~bit;
    q->free_entries[entry / 64] |= bit;
}

void issue_queue_released(issue_queue *q, const warp *w, const issue_info *info, uint64_t sequence) {
    instruction_window *window = issue_queue_window(q, w);
    const uint64_t bit = BIT(PLACE(sequence));
    uint64_t left = window->queued, ids;
    uint32_t i, at;
    for (i = 0; i < info->words; i++)
        for (ids = issue_word_at(info, i, &at)->sources; ids; ids &= ids - 1)
            window->readers[at * 64 + gpump_bits_lowest64(ids)] &= ~bit;
    for (; left; left &= left - 1) {
        const uint32_t place = gpump_bits_lowest64(left);
        if (!(window->waits_release[place] & bit)) continue;
        window->waits_release[place] &= ~bit;
        look_at(q, window, place);
    }
}

void issue_queue_committed(issue_queue *q, const warp *w, const issue_info *info, uint64_t sequence) {
    instruction_window *window = issue_queue_window(q, w);
    const uint32_t place = PLACE(sequence);
    const uint64_t bit = BIT(place);
    uint64_t left = window->queued, ids;
    uint32_t i, at;
    for (i = 0; i < info->words; i++)
        for (ids = issue_word_at(info, i, &at)->destinations; ids; ids &= ids - 1) {
            uint8_t *writer = &window->writer[at * 64 + gpump_bits_lowest64(ids)];
            if (*writer == place) *writer = WINDOW;
        }
    window->alive &= ~bit;
    see_room(q, w);
    for (; left; left &= left - 1) {
        const uint32_t waits = gpump_bits_lowest64(left);
        if (!(window->waits_commit[waits] & bit)) continue;
        window->waits_commit[waits] &= ~bit;
        look_at(q, window, waits);
    }
}

void issue_queue_hold(issue_queue *q, const warp *w) {
    instruction_window *window = issue_queue_window(q, w);
    uint64_t left = window->queued;
    window->held_back |= left;
    window->may_permit = 0;
    for (; left; left &= left - 1) {
        const uint32_t entry = window->entry[gpump_bits_lowest64(left)];
        q->ready[entry / 64] &= ~BIT(entry % 64);
    }
}

void issue_queue_forget(issue_queue *q, const warp *w) {
    instruction_window *window = issue_queue_window(q, w);
    uint64_t left = window->queued;
    for (; left; left &= left - 1) issue_queue_take(q, w, window->entry[gpump_bits_lowest64(left)]);
    window->alive = window->queued = window->held_back = 0;
    memset(window->readers, 0, q->ids * sizeof *window->readers);
    memset(window->writer, WINDOW, q->ids);
    window->fetch_waits = 0;
    window->may_permit = 0;
    issue_queue_took_slot(q, w);
}

uint64_t issue_queue_hash(const issue_queue *q, uint64_t hash) {
    uint64_t waits = q->waits;
    uint32_t i;
    hash = gpump_hash_u64(hash, q->free_entries[0] ^ q->ready[0] << 1);
    hash = gpump_hash_u64(hash, q->free_entries[1] ^ q->ready[1] << 1);
    for (i = 0; i < q->window_count; i++) waits ^= (uint64_t)q->windows[i].may_permit << (i + 1) % 64;
    return gpump_hash_u64(hash, waits);
}
