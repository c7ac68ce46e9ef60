#include "parts/fault_switch/fault_switch.h"

#include <stdio.h>
#include <string.h>

#include "preemption/preempted.h"

#define BIT(index) (UINT64_C(1) << (index))

int fault_switch_make(machine *m, uint32_t extra, char error[LAUNCH_ERROR_BYTES]) {
    gpump_block_switch_config config;
    gpump_diag diag;
    uint32_t i;
    size_t bytes;
    void *part;
    if (!extra) return 0;
    memset(&diag, 0, sizeof diag);
    machine_must(m, "gpump_preset", gpump_preset(&gpump_block_switch_component, &config, "table61", NULL), NULL);
    config.blocks = m->config.gpu.block_slots;
    config.extra = extra;
    config.fair_cycles = gpump_gpu_cycles_from_ns(&m->config.gpu, 1000000);
    config.port = gpump_gpu_port(&m->config.gpu);
    if (gpump_bytes(&gpump_block_switch_component, &config, &bytes, &diag) != GPUMP_OK) goto refused;
    for (i = 0; i < m->sm_count; i++) {
        fault_switch *f = (fault_switch *)arena_take(&m->arena, sizeof *f);
        if (!f || !(part = arena_take(&m->arena, bytes)) ||
            gpump_init(&gpump_block_switch_component, part, bytes, &config, &f->unit, &diag) != GPUMP_OK)
            goto refused;
        f->coming = f->next = NEVER;
        m->sms[i]->of_part[PART_fault_switch] = f;
    }
    return 0;
refused:
    snprintf(error, LAUNCH_ERROR_BYTES, "gpump: block_switch: %s", diag.field ? diag.field : "out of memory");
    return -1;
}

/* ---- facts ---- */

static void ask(machine *m, sm *s) {
    fault_switch_of(s)->asks = 1;
    m->parts_ask = 1;
}

static uint64_t stopped_warps(const machine *m, const sm *s, const block *b) {
    uint64_t stopped = 0;
    uint32_t i;
    for (i = 0; i < b->warp_count; i++) {
        const warp *w = &m->warps[b->warps[i]];
        const int waits_for_page = w->awaited_count && b->handler_until <= s->now;
        int waits_for_others = 0;
        if (w->stack.depth && w->barrier == NONE && !w->awaited_count)
            PARTS_ASK(m, waits_for_others, 0, waits_for_pages, (m, s, w));
        if (!w->stack.depth || w->barrier != NONE || waits_for_page || waits_for_others) stopped |= BIT(i);
    }
    return stopped;
}

static void report_stopped(machine *m, sm *s, const block *b, uint64_t stopped) {
    fault_switch *f = fault_switch_of(s);
    uint64_t changed = f->stopped[b->ref.slot] ^ stopped;
    if (!changed) return;
    for (; changed; changed &= changed - 1) {
        const uint32_t warp = gpump_bits_lowest64(changed);
        (void)gpump_block_switch_report_warp(f->unit, m->now, block_cookie(b), warp, !(stopped >> warp & 1));
    }
    f->stopped[b->ref.slot] = stopped;
    ask(m, s);
}

void fault_switch_watch(machine *m, sm *s) {
    uint32_t entry;
    fault_switch_of(s)->again = 0;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++) {
        const block *b = s->block_of_entry[entry] == NONE ? NULL : &m->blocks[s->block_of_entry[entry]];
        if (b && b->context == NEVER && !b->ended) report_stopped(m, s, b, stopped_warps(m, s, b));
    }
}

/* The SM that a block is on, or belongs to while it is off the chip; NULL. */
static sm *home_of(const machine *m, uint64_t cookie) {
    const uint32_t kernel = cookie_kernel(cookie);
    const uint64_t linear = cookie_linear(cookie);
    uint32_t i;
    for (i = 0; i < m->block_count; i++)
        if (m->blocks[i].life && m->blocks[i].kernel == kernel && m->blocks[i].linear == linear)
            return m->sms[m->blocks[i].sm];
    i = preempted_find(m, kernel, linear);
    return i == NONE || m->preempted[i].fault_sm == NONE ? NULL : m->sms[m->preempted[i].fault_sm];
}

void fault_switch_pending(machine *m, uint64_t cookie) {
    sm *s = home_of(m, cookie);
    uint64_t ready = GPUMP_UNKNOWN;
    uint32_t pending;
    if (!s || !fault_switch_of(s)) return;
    PARTS_ASK(m, pending, 0, pages_of_block, (m, cookie, &ready));
    (void)gpump_block_switch_report_pending(fault_switch_of(s)->unit, m->now, cookie, pending, ready);
    ask(m, s);
}

void fault_switch_share(machine *m, sm *s, uint32_t blocks) {
    machine_must(m, "gpump_block_switch_set_blocks", gpump_block_switch_set_blocks(fault_switch_of(s)->unit, blocks),
                 NULL);
}

void fault_switch_placed(machine *m, sm *s, const block *b, int restored) {
    fault_switch *f = fault_switch_of(s);
    const int comes_back = restored && f->coming == block_cookie(b);
    gpump_block_view resident;
    uint32_t i;
    f->stopped[b->ref.slot] = 0;
    machine_must(m, "gpump_sm_block", gpump_sm_block(s->gpump, m->now, b->ref, &resident), NULL);
    (void)gpump_block_switch_report_residents(f->unit, m->now, &resident, 1); /* FULL: the unit leaves it alone */
    f->off_chip -= comes_back;
    for (i = 0; comes_back && i < b->warp_count; i++)
        (void)gpump_block_switch_report_warp(f->unit, m->now, block_cookie(b), i, 1);
    if (restored && !comes_back) fault_switch_pending(m, block_cookie(b));
    ask(m, s);
}

int fault_switch_left(machine *m, sm *s, const block *b, int saved) {
    fault_switch *f = fault_switch_of(s);
    int belongs = saved && gpump_block_switch_report_left(f->unit, m->now, block_cookie(b)) == GPUMP_OK;
    if (belongs)
        f->off_chip++;
    else
        (void)gpump_block_switch_report_ended(f->unit, m->now, block_cookie(b)); /* EMPTY: it never knew the block */
    ask(m, s);
    return belongs;
}

void fault_switch_dropped(machine *m, sm *s, uint64_t cookie) {
    fault_switch *f = fault_switch_of(s);
    if (gpump_block_switch_report_ended(f->unit, m->now, cookie) == GPUMP_OK) f->off_chip--;
    if (f->coming == cookie) f->coming = NEVER;
    ask(m, s);
}

uint32_t fault_switch_give_up(machine *m, sm *s, uint32_t to) {
    uint32_t i, n;
    for (i = 0; i < m->kernel_count && fault_switch_of(s)->off_chip; i++)
        for (n = preempted_first(m, i); n != NONE && i != to; n = preempted_after(m, i, n)) {
            const preempted_block *entry = &m->preempted[n];
            if (entry->fault_sm != s->index) continue;
            preempted_belongs(m, n, NONE);
            fault_switch_dropped(m, s, block_cookie_of(entry->kernel, entry->linear));
            return n;
        }
    return NONE;
}
