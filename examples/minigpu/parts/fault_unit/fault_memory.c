#include "parts/fault_unit/fault_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/translation.h"

/* The interval at which an eviction tests whether its granule is still accessed, and the limit of migrations without
 * progress. */
enum { ASK_AGAIN_CYCLES = 16, WATCH_MAPS = 4096, BOUNCES = 256, NAMED = 4 };

static uint64_t page_of(uint64_t address) { return (address - DEVICE_BASE) / PAGE_BYTES; }

/* ---- remote accesses ---- */

void fault_memory_access_remote(machine *m, sm *s, const remote_access *remote) {
    fault_unit *u = fault_unit_of(m);
    const uint64_t now = m->now * 64, start = u->link_free_64ths > now ? u->link_free_64ths : now;
    pipe_stage *replies = &s->pipes[PIPE_LINK];
    u->link_free_64ths = start + u->segment_64ths;
    u->remote_accesses++;
    /* BUSY: the granule should migrate now, but no fault entry is free: its next access tries again. */
    (void)gpump_fault_report_remote(u->fault, m->now, remote->process, remote->page, 1);
    fault_unit_refresh(m);
    if (remote->record == NONE) return;
    pipe_put(replies, u->link_free_64ths / 64, remote->record);
    if (s->wake > pipe_next(replies)) s->wake = pipe_next(replies);
}

void fault_memory_send(machine *m, sm *s, uint32_t record, uint64_t segment, int replies) {
    const remote_access remote = {page_of(segment), m->kernels[m->blocks[s->records[record].block].kernel].process,
                                  replies ? record : NONE};
    fault_late *late;
    if (replies) s->records[record].outstanding++; /* a store is posted */
    if (!m->window_cycles)
        fault_memory_access_remote(m, s, &remote);
    else if ((late = fault_unit_add_late(m, s, FAULT_LATE_REMOTE)) != NULL)
        late->remote = remote;
    else
        machine_fail(m, "SM %u accesses more over the link in a window than it can note", s->index);
}

/* ---- eviction ---- */

void fault_memory_release(machine *m, const fault_release *release) {
    fault_unit *u = fault_unit_of(m);
    machine_must(m, "gpump_fault_release", gpump_fault_release(u->fault, m->now, release->cookie, release->warp), NULL);
    u->release_cycle = m->now;
    fault_unit_refresh(m);
}

/* Reports now, or at the end of the window, that a warp needs its granules no longer. */
static void release_warp(machine *m, const warp *w) {
    const fault_release release = {block_cookie(&m->blocks[w->block]), w->index, 0};
    fault_late *late;
    if (!m->window_cycles)
        fault_memory_release(m, &release);
    else if ((late = fault_unit_add_late(m, m->sms[m->blocks[w->block].sm], FAULT_LATE_RELEASE)) != NULL)
        late->release = release;
    else
        machine_fail(m, "an SM passes more checks in a window than it can note");
}

void fault_memory_passed(machine *m, const in_flight *r) {
    fault_unit *u = fault_unit_of(m);
    uint32_t i;
    for (i = 0; !instruction_only_reads(r->instruction) && i < r->segment_count; i++) /* SMs may run side by side */
        __atomic_store_n(&u->written[page_of(r->segments[i]) / u->granule_pages], 1, __ATOMIC_RELAXED);
    release_warp(m, &m->warps[r->warp]);
}

void fault_memory_fetch_ends(machine *m, sm *s, const warp *w) {
    (void)s;
    if (fault_unit_of(m)->finite) release_warp(m, w);
}

void fault_memory_evict(machine *m, const gpump_fault_action *action) {
    fault_unit *u = fault_unit_of(m);
    uint64_t page;
    for (page = action->page; page < action->page + action->pages; page++) {
        if (!(m->page_table[page] & PAGE_READ)) continue; /* behind the end of the buffer or of the code */
        m->page_table[page] |= PAGE_ABSENT_READ | PAGE_ABSENT_WRITE;
        translation_changes(m, page);
    }
    u->free_cycle = m->now;
    u->leaving[u->leaving_count].page = action->page;
    u->leaving[u->leaving_count++].process = action->process;
    PARTS_TELL(m, pages_leave, (m, action->page / u->granule_pages * u->granule_pages, u->granule_pages));
}

/* Does an instruction past its last check access the granule? */
static int is_accessed(const machine *m, uint64_t first) {
    const uint64_t granule = first / fault_unit_of(m)->granule_pages;
    uint32_t i, n, segment;
    for (i = 0; i < m->sm_count; i++)
        for (n = 0; n < m->config.in_flight_records; n++) {
            const in_flight *r = &m->sms[i]->records[n];
            if (r->stage != RECORD_MEMORY) continue;
            for (segment = 0; segment < r->segment_count; segment++)
                if (page_of(r->segments[segment]) / fault_unit_of(m)->granule_pages == granule) return 1;
        }
    return 0;
}

void fault_memory_free_frames(machine *m) {
    fault_unit *u = fault_unit_of(m);
    uint32_t i, kept = 0;
    for (i = 0; i < u->leaving_count; i++) {
        const fault_leaving leaving = u->leaving[i];
        uint8_t *written = &u->written[leaving.page / u->granule_pages];
        if (is_accessed(m, leaving.page)) {
            u->leaving[kept++] = leaving;
            continue;
        }
        machine_must(m, "gpump_fault_report_unmapped",
                     gpump_fault_report_unmapped(u->fault, m->now, leaving.process, leaving.page, *written), NULL);
        *written = 0;
    }
    u->leaving_count = kept;
    u->free_cycle = m->now + ASK_AGAIN_CYCLES;
}

/* ---- granules that keep leaving ---- */

/* Ends a run in which granules have migrated and been evicted BOUNCES times while no instruction has passed its last
 * check. */
static void watch(machine *m) {
    gpump_fault_bounce bounces[NAMED];
    char text[NAMED * 40] = "";
    uint32_t count, i;
    gpump_result result = gpump_fault_stuck(fault_unit_of(m)->fault, BOUNCES, bounces, NAMED, &count);
    size_t length = 0;
    if (!count) return;
    for (i = 0; result == GPUMP_OK && i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s0x%" PRIx64, i ? ", " : " at addresses ",
                                   DEVICE_BASE + bounces[i].page * PAGE_BYTES);
    machine_fail(m,
                 "%u granules have evicted each other %u times since an instruction last passed its checks, in cycle "
                 "%" PRIu64 "%s; more --gpu-memory, or no :unpinned, ends this",
                 count, BOUNCES, fault_unit_of(m)->release_cycle, text);
}

void fault_memory_mapped(machine *m, const gpump_fault_action *action) {
    fault_unit *u = fault_unit_of(m);
    uint64_t page;
    for (page = action->page; page < action->page + action->pages; page++) {
        if (!(m->page_table[page] & PAGE_WRITE)) continue;
        m->page_table[page] &= (uint8_t)~PAGE_REMOTE;
        if (action->remote) m->page_table[page] |= PAGE_REMOTE;
    }
    u->written[action->page / u->granule_pages] = 0;
    m->progress_cycle = m->now; /* watch() tells whether it leads anywhere */
    if (u->finite && ++u->maps % WATCH_MAPS == 0) watch(m);
}
