#include "machine/dispatcher.h"

#include "machine/loops.h"
#include "sm/scoreboard.h"
#include "preemption/block_life.h"
#include "preemption/preempted.h"
#include "preemption/requests.h"

static int has_blocks(const machine *m, uint32_t index) {
    return m->kernels[index].next_block < m->kernels[index].blocks || preempted_first(m, index) != NONE;
}

/* Returns whether a kernel runs, or is the next one of its process. */
static int is_open(const machine *m, uint32_t index) {
    const kernel *k = &m->kernels[index];
    return k->state == KERNEL_ACTIVE || (k->state == KERNEL_WAITING && m->runs[k->process].next_kernel == index);
}

/* Lists the kernels that run and the next one of each process: kernels of one process start in the order of the file,
 * each when the earlier ones are done, so no other kernel can start. A list of a traced program has thousands. */
static void list_open(machine *m) {
    uint32_t i, n;
    m->kernels_changed = m->open_count = 0;
    for (i = m->kernel_count; i-- > 0;)
        if (m->kernels[i].state != KERNEL_DONE) m->runs[m->kernels[i].process].next_kernel = i;
    for (i = 0; i < m->kernel_count; i++)
        if (is_open(m, i)) m->kernels_open[m->open_count++] = i;
    for (i = n = 0; i < m->kernel_count; i++)
        if (is_open(m, m->kernel_order[i])) m->kernels_open[m->kernel_count + n++] = m->kernel_order[i];
}

/* Ends a kernel whose blocks are all done. */
static void end_kernel(machine *m, uint32_t index) {
    kernel *k = &m->kernels[index];
    k->state = KERNEL_DONE;
    k->end_cycle = m->now;
    m->kernels_done++;
    m->kernels_changed = 1;
    PARTS_TELL(m, kernel_ends, (m, index));
    preemption_kernel_ends(m, index);
    loops_kernel_ended(m, index);
    PARTS_TELL(m, kernel_ended, (m, index));
    m->dispatch_needed = 1;
}

uint64_t dispatcher_kernels(machine *m) {
    uint64_t next = NEVER;
    uint32_t i;
    int made;
    PARTS_TELL(m, before_arrivals, (m));
    if (m->kernels_changed) list_open(m);
    for (i = 0; i < m->open_count; i++) {
        const kernel *k = &m->kernels[m->kernels_open[i]];
        if (k->state == KERNEL_ACTIVE && k->done_blocks == k->blocks) end_kernel(m, m->kernels_open[i]);
    }
    if (m->kernels_changed) list_open(m);
    for (i = 0; i < m->open_count; i++) {
        const uint32_t index = m->kernels_open[m->kernel_count + i];
        kernel *k = &m->kernels[index];
        if (k->state != KERNEL_WAITING) continue;
        if (k->arrival_cycle > m->now) {
            if (k->arrival_cycle < next) next = k->arrival_cycle;
            continue;
        }
        k->state = KERNEL_ACTIVE;
        if (k->ready_cycle == NEVER) k->ready_cycle = m->now;
        loops_kernel_starts(m, index);
        scoreboard_take_launch(k); /* after loops_kernel_starts, which sets parameters */
        PARTS_TELL(m, kernel_starts, (m, index));
        preemption_kernel_starts(m, index);
        PARTS_ASK(m, made, 0, makes_room, (m, index));
        if (!made && !m->functional) preemption_make_room(m, index);
        m->dispatch_needed = 1;
    }
    return next;
}

/* Returns whether one more kernel may run on an SM. Kernels with parked blocks are known to gpump_sm, but do not
 * run. */
static int may_run_here(const machine *m, const sm *s, uint32_t index) {
    uint32_t i, kernels = 0;
    if (!m->in_place || s->kernel_resident[index]) return 1;
    for (i = 0; i < m->kernel_count; i++) kernels += s->kernel_resident[i] != 0;
    return kernels < m->config.kernels_per_sm;
}

/* Returns whether the SM has too few warp slots for another block. The test is cheap and comes early, because
 * most SMs are full. */
static int lacks_slots(const machine *m, const sm *s, const kernel *k) {
    return !m->beyond_room && (uint32_t)gpump_bits_count64(~s->occupied) < k->warps + s->starting_warps;
}

/* Places one block of a kernel on an SM. Returns 1 when it did. */
static int place_one(machine *m, sm *s, uint32_t index, int own) {
    kernel *k = &m->kernels[index];
    uint32_t handle;
    int may;
    if (k->block_cap && s->kernel_resident[index] >= k->block_cap) return 0;
    if (lacks_slots(m, s, k)) return 0;
    PARTS_ASK(m, may, 1, may_place, (m, s, index, own));
    if (!may) return 0;
    if (!may_run_here(m, s, index)) return 0;
    if (s->whole && s->resident > s->kernel_resident[index]) return 0; /* the SM changes hands as a whole */
    if ((handle = gpump_preempted_find(m->preempted_list, m->now, index + 1, s->index, own)) != NONE) {
        preempted_block copy = m->preempted[handle];
        if (preemption_place(m, s, index, copy.linear, &copy) != GPUMP_REASON_YES) return 0;
        preempted_take(m, handle, s->index);
        return 1;
    }
    if (own || k->next_block == k->blocks) return 0;
    PARTS_ASK(m, may, 1, may_start, (m, s));
    if (!may) return 0;
    if (preemption_place(m, s, index, k->next_block, NULL) != GPUMP_REASON_YES) return 0;
    k->next_block++;
    return 1;
}

/* Returns whether an SM that is reserved for a kernel may be released: when the kernel has no blocks left to place, or,
 * under a policy with a deadline, when the kernel has ended (Shieh chapter 1: preempted blocks resume after it). */
static int may_go_back(const machine *m, uint32_t index) {
    int keeps;
    PARTS_ASK(m, keeps, -1, keeps_reserved, (m, &m->kernels[index]));
    return keeps >= 0 ? !keeps : !has_blocks(m, index);
}

uint64_t dispatcher_place(machine *m) {
    uint64_t next = NEVER;
    const uint32_t *order;
    uint32_t i, n, placed = 0;
    const part *const *p;
    int own;
    for (p = m->parts; *p; p++) {
        const uint64_t cycle = (*p)->before_placing ? (*p)->before_placing(m) : NEVER;
        if (cycle < next) next = cycle;
    }
    if (!m->dispatch_needed) return next;
    order = preempted_order(m);
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[order[i]];
        int done = 0;
        if (s->reserved_for && may_go_back(m, s->reserved_for - 1)) preemption_unreserve(m, s);
        for (own = 1; own >= 0 && !done; own--) {
            for (n = 0; n < m->open_count && !done; n++) {
                const uint32_t index = m->kernels_open[m->kernel_count + n];
                if (own && preempted_first(m, index) == NONE) continue;
                if (m->kernels[index].state != KERNEL_ACTIVE || !has_blocks(m, index)) continue;
                if (s->reserved_for ? s->reserved_for != index + 1 : m->kernels[index].only_reserved) continue;
                done = place_one(m, s, index, own);
            }
        }
        placed += (uint32_t)done;
    }
    m->dispatch_needed = placed != 0;
    return next;
}
