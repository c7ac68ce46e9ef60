#include "parts/fault_switch/fault_exchange.h"

#include "machine/machine_options.h"
#include "options.h"
#include "parts/fault_switch/fault_switch.h"
#include "parts/fault_switch/switch_report.h"
#include "preemption/block_life.h"
#include "preemption/preempted.h"
#include "preemption/requests.h"

/* Has the SM blocks of the kernel, on it or off the chip? */
static int has_some(const machine *m, const sm *s, uint32_t kernel) {
    uint32_t n;
    if (m->kernels[kernel].state != KERNEL_ACTIVE) return 0;
    if (s->kernel_resident[kernel]) return 1;
    for (n = preempted_first(m, kernel); n != NONE; n = preempted_after(m, kernel, n))
        if (m->preempted[n].fault_sm == s->index) return 1;
    return 0;
}

static void leave(machine *m, sm *s, uint64_t cookie) {
    uint32_t entry;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX; entry++) {
        block *b = s->block_of_entry[entry] == NONE ? NULL : &m->blocks[s->block_of_entry[entry]];
        if (b && block_cookie(b) == cookie && preemption_switch_block(m, s, b) == GPUMP_REASON_YES) return;
    }
    machine_must(m, "gpump_block_switch_report_stayed",
                 gpump_block_switch_report_stayed(fault_switch_of(s)->unit, m->now, cookie), NULL);
}

/* Restores the block that the SM has asked for (`coming`), as soon as the SM has room. */
static void come_back(machine *m, sm *s) {
    const uint64_t linear = cookie_linear(fault_switch_of(s)->coming);
    const uint32_t i = preempted_find(m, cookie_kernel(fault_switch_of(s)->coming), linear);
    preempted_block copy;
    if (i == NONE) { /* dropped meanwhile */
        fault_switch_of(s)->coming = NEVER;
        return;
    }
    copy = m->preempted[i];
    if (preemption_place(m, s, copy.kernel, linear, &copy) != GPUMP_REASON_YES) return;
    fault_switch_of(s)->coming = NEVER;
    PARTS_TELL(m, off_chip_came_back, (m, s, i));
    preempted_take(m, i, s->index);
}

/* Returns whether new blocks of the kernel may start on this SM: not when the SM belongs to another kernel, or when the
 * cap of its group is reached. */
static int may_have_more(const machine *m, const sm *s, uint32_t kernel) {
    int may;
    if (s->reserved_for && s->reserved_for != kernel + 1) return 0;
    PARTS_ASK(m, may, 1, may_place, (m, s, kernel, 0));
    return may;
}

/* Counts two limits of an exchange: blocks that may start on this SM, of the kernels that have blocks on it, and blocks
 * on it that can still be saved. */
static void count_outside(const machine *m, const sm *s, uint64_t *left, uint64_t *contexts) {
    uint32_t i;
    *left = *contexts = 0;
    for (i = 0; i < m->kernel_count; i++) {
        if (!has_some(m, s, i)) continue;
        if (may_have_more(m, s, i)) *left += m->kernels[i].blocks - m->kernels[i].next_block;
        *contexts += gpump_context_pool_room(m->context_pool, i + 1).contexts;
    }
}

/* Places one block more than fit the SM, of the kernel of the highest priority. Returns 1 when a block was placed. */
static int place_beyond(machine *m, sm *s) {
    uint32_t i;
    int placed;
    PARTS_ASK(m, placed, -1, place_more, (m, s));
    for (i = 0; i < m->kernel_count && placed < 0; i++) {
        kernel *k = &m->kernels[m->kernel_order[i]];
        if (k->next_block == k->blocks || !has_some(m, s, m->kernel_order[i]) ||
            !may_have_more(m, s, m->kernel_order[i]) ||
            preemption_place(m, s, m->kernel_order[i], k->next_block, NULL) != GPUMP_REASON_YES)
            continue;
        k->next_block++;
        placed = 1;
    }
    return placed > 0;
}

static void place_new(machine *m, sm *s) {
    if (!place_beyond(m, s))
        machine_must(m, "gpump_block_switch_report_none",
                     gpump_block_switch_report_none(fault_switch_of(s)->unit, m->now), NULL);
}

static void advance(machine *m, sm *s) {
    fault_switch *f = fault_switch_of(s);
    gpump_block_switch_action action;
    uint64_t next, left, more, contexts;
    int vacates;
    f->asks = 0;
    f->next = NEVER;
    count_outside(m, s, &left, &contexts);
    PARTS_ASK(m, more, NEVER, more_blocks, (m, s));
    if (more != NEVER) left = more;
    PARTS_ASK(m, vacates, 0, vacates, (m, s));
    if (vacates) return; /* its blocks leave for good */
    if (f->coming != NEVER) come_back(m, s);
    (void)gpump_block_switch_set_outside(f->unit, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX - 1,
                                         contexts < UINT32_MAX ? (uint32_t)contexts : UINT32_MAX - 1);
    while (!m->failed && f->coming == NEVER && gpump_block_switch_next(f->unit, m->now, &action) == GPUMP_OK) {
        if (action.kind == GPUMP_BLOCK_SWITCH_ACT_OUT) leave(m, s, action.cookie);
        if (action.kind == GPUMP_BLOCK_SWITCH_ACT_NEW) place_new(m, s);
        if (action.kind != GPUMP_BLOCK_SWITCH_ACT_IN) continue;
        f->coming = action.cookie;
        come_back(m, s);
    }
    next = gpump_next_cycle(&gpump_block_switch_component, f->unit);
    f->next = next == GPUMP_UNKNOWN || f->coming != NEVER ? NEVER : next > m->now ? next : m->now + 1;
}

uint64_t fault_exchange_advance(machine *m) {
    uint64_t next = NEVER;
    uint32_t i;
    m->parts_ask = 0;
    for (i = 0; i < m->sm_count; i++) {
        fault_switch *f = fault_switch_of(m->sms[i]);
        const uint32_t owner = m->sms[i]->reserved_for;
        while (owner && fault_switch_give_up(m, m->sms[i], owner - 1) != NONE) {}
        if (f->asks || f->next <= m->now) advance(m, m->sms[i]);
        if (f->next < next) next = f->next;
    }
    return next;
}

/* ---- the part ---- */

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    (void)launch;
    return fault_switch_make(m, options->faults.extra, error);
}

static int is_present(const machine *m) { return m->sms && fault_switch_of(m->sms[0]); }

static int may_start(const machine *m, const sm *s) {
    (void)m;
    return fault_switch_lets_in(s);
}

static void block_came(machine *m, sm *s, block *b, const preempted_block *saved) {
    fault_switch_placed(m, s, b, saved && saved->context != NEVER);
}

static void block_left(machine *m, sm *s, block *b, const gpump_sm_action *action, uint32_t entry) {
    int vacates;
    PARTS_ASK(m, vacates, 0, vacates, (m, s));
    vacates |= s->reserved_for && s->reserved_for != b->kernel + 1;
    if (fault_switch_left(m, s, b, action->why == GPUMP_BLOCK_SAVED && !vacates)) preempted_belongs(m, entry, s->index);
}

static void preempted_dropped(machine *m, const preempted_block *entry) {
    if (entry->fault_sm == NONE) return;
    fault_switch_dropped(m, m->sms[entry->fault_sm], block_cookie_of(entry->kernel, entry->linear));
}

static uint64_t hash_sm(const machine *m, const sm *s, uint64_t hash) {
    (void)m;
    return gpump_hash_u64(hash, gpump_hash(&gpump_block_switch_component, fault_switch_of(s)->unit));
}

static void sm_is_taken(machine *m, sm *s, uint32_t kernel_index) {
    const kernel *k = &m->kernels[kernel_index];
    gpump_occupancy occupancy;
    if (gpump_gpu_occupancy(&m->config.gpu, &k->need, &occupancy, NULL) == GPUMP_OK)
        fault_switch_share(m, s, k->block_cap && k->block_cap < occupancy.blocks ? k->block_cap : occupancy.blocks);
}

/* The blocks of the SM off the chip leave it, too. */
static void sm_is_reserved(machine *m, sm *s) {
    (void)s;
    m->parts_ask = 1;
}

static void warp_calls(machine *m, sm *s, warp *w) {
    fault_switch_pending(m, block_cookie(&m->blocks[w->block]));
    fault_switch_of(s)->again = 1; /* pages_are_awaited in the next cycle */
}

static uint64_t next_of_sm(const machine *m, const sm *s) {
    (void)m;
    return fault_switch_of(s)->again ? s->now + 1 : NEVER;
}

static const option_row options[] = {
    {.name = "switch-on-fault",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = 64,
     .offset = offsetof(faults_options, extra),
     .group = "Absent pages and faults",
     .text =
         "With --link: a block that waits for pages gives its place to another. N more blocks per SM than fit (4 in "
         "the thesis)."},
    {.name = NULL}};

static const option_rule rules[] = {
    {"switch-on-fault", "link",
     "--switch-on-fault needs --link NAME, and a scheme under which a warp can leave: not stall"},
    {"switch-on-fault faults=stall", NULL,
     "--switch-on-fault needs --link NAME, and a scheme under which a warp can leave: not stall"},
    {NULL, NULL, NULL}};

const part fault_switch_part = {
    .name = "fault_switch",
    .traits = PART_CROSSES_SMS | PART_SEES_PLACEMENTS | PART_SHARED_BY_SMS | PART_ON_PATH,
    .options = options,
    .rules = rules,
    .options_at = offsetof(machine_options, faults),
    .make = make,
    .is_present = is_present,
    .before_placing = fault_exchange_advance,
    .may_start = may_start,
    .sm_is_taken = sm_is_taken,
    .sm_is_reserved = sm_is_reserved,
    .block_came = block_came,
    .block_left = block_left,
    .preempted_dropped = preempted_dropped,
    .give_up_off_chip = fault_switch_give_up,
    .next_of_sm = next_of_sm,
    .warp_calls = warp_calls,
    .pages_pending = fault_switch_pending,
    .pages_are_awaited = fault_switch_watch,
    .report = switch_report,
    .report_json = switch_report_json,
    .hash_sm = hash_sm,
};
