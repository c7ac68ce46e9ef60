#include "scheduler/scheduler_policies.h"

#include <string.h>

static gpump_result gpumpi_policy_step(gpump_scheduler_step *step, gpump_scheduler_step_kind kind, uint32_t sm,
                                       uint32_t kernel) {
    step->kind = kind;
    step->sm = sm;
    step->kernel = kernel;
    return GPUMP_OK;
}
static uint32_t gpumpi_policy_priority(const gpump_scheduler_view *view, uint32_t kernel) {
    return view->processes[view->kernels[kernel].process].priority;
}
/* The waiting command of highest priority, the oldest of these. */
static uint32_t gpumpi_policy_first_waiting(const gpump_scheduler_view *view) {
    uint32_t best = view->waiting[0];
    for (uint32_t i = 1; i < view->waiting_count; i++)
        if (view->processes[view->buffers[view->waiting[i]].process].priority >
            view->processes[view->buffers[best].process].priority)
            best = view->waiting[i];
    return best;
}
/* One process at a time: a command of another process than the active one's has to wait until that has no kernel left.
 */
static uint32_t gpumpi_policy_one_process(const gpump_scheduler_view *view, uint32_t queue) {
    if (view->active_count && view->kernels[view->active[0]].process != view->buffers[queue].process) return GPUMP_NONE;
    return queue;
}

/* ---- fcfs, npq: the step is the default one ---- */

static uint32_t gpumpi_policy_fcfs_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    return gpumpi_policy_one_process(view, view->waiting[0]);
}
static uint32_t gpumpi_policy_npq_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    return gpumpi_policy_one_process(view, gpumpi_policy_first_waiting(view));
}

/* ---- ppq, ppq_shared ---- */

static uint32_t gpumpi_policy_ppq_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;
    return gpumpi_policy_first_waiting(view);
}

/* A priority level belongs to the process whose kernel came first; its other processes wait, as under fcfs. */
static uint32_t gpumpi_policy_leader(const gpump_scheduler_view *view, uint32_t priority) {
    for (uint32_t i = 0; i < view->active_count; i++)
        if (gpumpi_policy_priority(view, view->active[i]) == priority) return view->kernels[view->active[i]].process;
    return GPUMP_NONE;
}

/* Vacates an SM of lower priority than `kernel`'s, the lowest first; one already being vacated is taken over before
 * another is. */
static gpump_result gpumpi_policy_take(const gpump_scheduler_view *view, uint32_t kernel, gpump_scheduler_step *step) {
    uint32_t priority = gpumpi_policy_priority(view, kernel), victim = 0;
    if (!gpump_scheduler_wants_more(&view->kernels[kernel])) return GPUMP_EMPTY;
    if (view->reserved_sms)
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks && sm->kernel != kernel &&
                (!sm->next || gpumpi_policy_priority(view, sm->next) < priority))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, kernel);
        }
    for (uint32_t i = 0; i < view->active_count; i++) {
        uint32_t k = view->active[i];
        if (view->kernels[k].owned && gpumpi_policy_priority(view, k) < priority &&
            (!victim || gpumpi_policy_priority(view, k) <= gpumpi_policy_priority(view, victim)))
            victim = k;
    }
    if (!victim) return GPUMP_EMPTY;
    return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, view->kernels[victim].first_sm, kernel);
}

static gpump_result gpumpi_policy_ppq(const gpump_scheduler_view *view, gpump_scheduler_step *step, int shared) {
    uint64_t level = UINT64_MAX; /* levels are taken from the top; those below this one are left */
    for (;;) {
        uint32_t top = 0, leader;
        int found = 0;
        for (uint32_t i = 0; i < view->active_count; i++) {
            uint32_t priority = gpumpi_policy_priority(view, view->active[i]);
            if (priority < level && (!found || priority > top)) top = priority, found = 1;
        }
        if (!found) return GPUMP_EMPTY;
        leader = gpumpi_policy_leader(view, top);
        for (uint32_t i = 0; i < view->active_count; i++) {
            uint32_t k = view->active[i];
            if (gpumpi_policy_priority(view, k) != top || view->kernels[k].process != leader) continue;
            if (view->idle_sm != GPUMP_NONE && gpump_scheduler_wants_idle(&view->kernels[k]))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, k);
            if (gpumpi_policy_take(view, k, step) == GPUMP_OK) return GPUMP_OK;
        }
        if (!shared || top == 0) return GPUMP_EMPTY;
        level = top;
    }
}
static gpump_result gpumpi_policy_ppq_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                           gpump_scheduler_step *step) {
    (void)policy;

    return gpumpi_policy_ppq(view, step, 0);
}
static gpump_result gpumpi_policy_ppq_shared_step(const gpump_scheduler_policy *policy,
                                                  const gpump_scheduler_view *view, gpump_scheduler_step *step) {
    (void)policy;

    return gpumpi_policy_ppq(view, step, 1);
}

/* ---- dss, equal, weighted ---- */

/* The kernel of highest token count among those that can use an idle SM, or one more reserved one; ties in active-queue
 * order. */
static uint32_t gpumpi_policy_richest(const gpump_scheduler_view *view, int more) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if ((more ? gpump_scheduler_wants_more(k) : gpump_scheduler_wants_idle(k)) &&
            (!best || k->tokens > view->kernels[best].tokens))
            best = view->active[i];
    }
    return best;
}

/* Algorithm 1 of Tanasic as its text means it: as printed, a kernel alone or two with equal counts never get an idle
 * SM, and a difference of one is exchanged for ever (docs/papers.md). */
static gpump_result gpumpi_policy_dss_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                           gpump_scheduler_step *step) {
    (void)policy;

    uint32_t richest, poorest = 0;
    if (view->idle_sm != GPUMP_NONE) {
        richest = gpumpi_policy_richest(view, 0);
        if (richest) return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, richest);
    }
    richest = gpumpi_policy_richest(view, 1);
    if (!richest) return GPUMP_EMPTY;
    /* A reserved SM whose next kernel has nothing left to issue goes to the richest kernel instead: Algorithm 1 changes
     * the decision of the next kernel. */
    if (view->reserved_sms)
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks && sm->next != richest &&
                (view->config->kernels_per_sm == 1 || sm->kernel != richest) &&
                (!sm->next || !gpump_scheduler_to_issue(&view->kernels[sm->next])))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, richest);
        }
    for (uint32_t i = 0; i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if (k->owned && (!poorest || k->tokens < view->kernels[poorest].tokens)) poorest = view->active[i];
    }
    if (!poorest || view->kernels[richest].tokens < view->kernels[poorest].tokens + 2) return GPUMP_EMPTY;
    return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, view->kernels[poorest].first_sm, richest);
}
/* ---- dss_fault ---- */

/* 1: so few warps of a kernel have been able to run for so long that it lends its SMs. */
static int gpumpi_policy_lends(const gpump_scheduler_view *view, uint32_t kernel) {
    const uint64_t since = view->kernels[kernel].waits_since;
    return since <= view->now && view->now - since >= view->config->lend_cycles;
}
/* As gpumpi_policy_richest, among those that do not lend. */
static uint32_t gpumpi_policy_borrower(const gpump_scheduler_view *view, int more) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if (!gpumpi_policy_lends(view, view->active[i]) &&
            (more ? gpump_scheduler_wants_more(k) : gpump_scheduler_wants_idle(k)) &&
            (!best || k->tokens > view->kernels[best].tokens))
            best = view->active[i];
    }
    return best;
}
/* Where nobody lends, this is dss. A lender takes no SM from anybody, and an idle one only when nobody else needs it.
 */
static gpump_result gpumpi_policy_dss_fault_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                                 gpump_scheduler_step *step) {
    uint32_t borrower = view->idle_sm != GPUMP_NONE ? gpumpi_policy_borrower(view, 0) : 0;
    if (borrower) return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, borrower);
    if (view->idle_sm != GPUMP_NONE && gpumpi_policy_richest(view, 0))
        return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, gpumpi_policy_richest(view, 0));
    borrower = gpumpi_policy_borrower(view, 1);
    for (uint32_t i = 0; borrower && i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if (gpumpi_policy_lends(view, view->active[i]) && k->owned > 1)
            return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, k->first_sm, borrower);
    }
    /* Between those that do not lend, dss goes on. */
    if (!borrower || gpumpi_policy_dss_step(policy, view, step) != GPUMP_OK || gpumpi_policy_lends(view, step->kernel))
        return GPUMP_EMPTY;
    return GPUMP_OK;
}
static uint64_t gpumpi_policy_dss_fault_wake(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    uint64_t wake = GPUMP_UNKNOWN;
    (void)policy;
    for (uint32_t i = 0; i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        const uint64_t lends_from = gpump_add_saturated(k->waits_since, view->config->lend_cycles);
        if (lends_from > view->now && lends_from < wake) wake = lends_from;
    }
    return wake;
}

static uint32_t gpumpi_policy_dss_tokens(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    return view->processes[view->buffers[view->queue].process].weight;
}
/* floor(SMs / processes), and one more for the first kernels until the remainder is given away (Tanasic 5.3.4) */
static uint32_t gpumpi_policy_equal_tokens(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    uint32_t share = view->config->sms / view->open_processes, remainder = view->config->sms % view->open_processes;
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].budget > share && remainder) remainder--;
    return share + (remainder ? 1u : 0u);
}
static uint32_t gpumpi_policy_weighted_tokens(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    uint64_t sum = 0;
    for (uint32_t i = 0; i < view->config->processes; i++)
        if (view->processes[i].serial) sum += view->processes[i].weight;
    return sum ? (uint32_t)((uint64_t)view->config->sms * view->processes[view->buffers[view->queue].process].weight /
                            sum)
               : 0;
}

/* ---- time_slice: state[0] is the process whose turn it is, plus 1; state[1] when its turn ends ---- */

static int gpumpi_policy_has_kernel(const gpump_scheduler_view *view, uint32_t process) {
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].process == process) return 1;
    return 0;
}
static gpump_result gpumpi_policy_slice_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                             gpump_scheduler_step *step) {
    (void)policy;

    uint32_t turn = view->state[0] ? (uint32_t)view->state[0] - 1 : view->config->processes - 1, first = 0;
    if (!view->active_count) return GPUMP_EMPTY;
    for (uint32_t i = 0; i < view->active_count && view->state[0] && view->now >= view->state[1]; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        /* A turn shorter than vacating an SM and setting it up would get nobody anywhere: it is extended. */
        if (k->process == turn && (k->setting_up || (k->reserved && !k->owned)))
            view->state[1] = gpump_add_saturated(view->now, view->config->slice_cycles);
    }
    if (!view->state[0] || view->now >= view->state[1] || !gpumpi_policy_has_kernel(view, turn)) {
        do turn = (turn + 1) % view->config->processes;
        while (!gpumpi_policy_has_kernel(view, turn));
        view->state[0] = turn + UINT64_C(1);
        view->state[1] = gpump_add_saturated(view->now, view->config->slice_cycles);
    }
    for (uint32_t i = 0; i < view->active_count && view->idle_sm != GPUMP_NONE;
         i++) { /* idle SMs: whose turn it is first, then anyone */
        uint32_t k = view->active[i];
        if (!gpump_scheduler_wants_idle(&view->kernels[k])) continue;
        if (view->kernels[k].process == turn)
            return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, k);
        if (!first) first = k;
    }
    if (first) return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, first);
    for (uint32_t i = 0; i < view->active_count && !first; i++)
        if (view->kernels[view->active[i]].process == turn &&
            gpump_scheduler_wants_more(&view->kernels[view->active[i]]))
            first = view->active[i];
    if (!first) return GPUMP_EMPTY;
    if (view->reserved_sms)
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks &&
                (view->config->kernels_per_sm == 1 || sm->kernel != first) &&
                (!sm->next || view->kernels[sm->next].process != turn))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, first);
        }
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].owned && view->kernels[view->active[i]].process != turn)
            return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, view->kernels[view->active[i]].first_sm,
                                      first);
    return GPUMP_EMPTY;
}
static uint64_t gpumpi_policy_slice_wake(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    uint32_t turn = (uint32_t)view->state[0] - 1;
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->state[0] && view->kernels[view->active[i]].process != turn) return view->state[1];
    return GPUMP_UNKNOWN;
}

/* clang-format off: one row for each policy */
#define GPUMPI_POLICY(name, description, admit, tokens, step, wake) \
    { name, description, NULL, admit, tokens, step, wake }
static const gpump_scheduler_policy gpumpi_policies[] = {
    GPUMPI_POLICY("fcfs", "One process at a time, in the order of arrival.", gpumpi_policy_fcfs_admit, NULL, NULL,
                  NULL),
    GPUMPI_POLICY("npq", "One process at a time, the highest priority first, without preemption.",
                  gpumpi_policy_npq_admit, NULL, NULL, NULL),
    GPUMPI_POLICY("ppq", "Preemptive priority with exclusive access.", gpumpi_policy_ppq_admit, NULL,
                  gpumpi_policy_ppq_step, NULL),
    GPUMPI_POLICY("ppq_shared", "Preemptive priority; lower priorities get the SMs that higher ones leave free.",
                  gpumpi_policy_ppq_admit, NULL, gpumpi_policy_ppq_shared_step, NULL),
    GPUMPI_POLICY("dss", "Dynamic spatial sharing: as many tokens as the process's weight.", NULL,
                  gpumpi_policy_dss_tokens, gpumpi_policy_dss_step, NULL),
    GPUMPI_POLICY("equal", "Dynamic spatial sharing with equal shares of the SMs.", NULL, gpumpi_policy_equal_tokens,
                  gpumpi_policy_dss_step, NULL),
    GPUMPI_POLICY("weighted", "Dynamic spatial sharing in proportion to the weights.", NULL,
                  gpumpi_policy_weighted_tokens, gpumpi_policy_dss_step, NULL),
    GPUMPI_POLICY("dss_fault", "As dss; a kernel that waits for pages lends its SMs.", NULL, gpumpi_policy_dss_tokens,
                  gpumpi_policy_dss_fault_step, gpumpi_policy_dss_fault_wake),
    GPUMPI_POLICY("time_slice", "The whole GPU to one process after the other.", NULL, NULL, gpumpi_policy_slice_step,
                  gpumpi_policy_slice_wake),
};
#undef GPUMPI_POLICY
/* clang-format on */

GPUMP_API const gpump_scheduler_policy *gpump_scheduler_policy_at(uint32_t index) {
    return index < sizeof gpumpi_policies / sizeof *gpumpi_policies ? &gpumpi_policies[index] : NULL;
}

GPUMP_API const gpump_scheduler_policy *gpump_scheduler_find(const char *name) {
    for (uint32_t i = 0; name && gpump_scheduler_policy_at(i); i++)
        if (!strcmp(gpump_scheduler_policy_at(i)->name, name)) return gpump_scheduler_policy_at(i);
    return NULL;
}
