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
    return view->contexts[view->kernels[kernel].context].priority;
}
/* The waiting command of highest priority, the oldest of these. */
static uint32_t gpumpi_policy_first_waiting(const gpump_scheduler_view *view) {
    uint32_t best = view->waiting[0];
    for (uint32_t i = 1; i < view->waiting_count; i++)
        if (view->contexts[view->buffers[view->waiting[i]].context].priority >
            view->contexts[view->buffers[best].context].priority)
            best = view->waiting[i];
    return best;
}
/* One process at a time: a command of another process than the active one's has to wait until that has no kernel left.
 */
static uint32_t gpumpi_policy_one_process(const gpump_scheduler_view *view, uint32_t queue) {
    if (view->active_count && view->kernels[view->active[0]].context != view->buffers[queue].context) return GPUMP_NONE;
    return queue;
}

/* ---- fcfs, npq: the step is the default one ---- */

static uint32_t gpumpi_policy_fcfs_admit(const gpump_scheduler_view *view) {
    return gpumpi_policy_one_process(view, view->waiting[0]);
}
static uint32_t gpumpi_policy_npq_admit(const gpump_scheduler_view *view) {
    return gpumpi_policy_one_process(view, gpumpi_policy_first_waiting(view));
}

/* ---- ppq, ppq_shared ---- */

static uint32_t gpumpi_policy_ppq_admit(const gpump_scheduler_view *view) { return gpumpi_policy_first_waiting(view); }

/* A priority level belongs to the process whose kernel came first; its other processes wait, as under fcfs. */
static uint32_t gpumpi_policy_leader(const gpump_scheduler_view *view, uint32_t priority) {
    for (uint32_t i = 0; i < view->active_count; i++)
        if (gpumpi_policy_priority(view, view->active[i]) == priority) return view->kernels[view->active[i]].context;
    return GPUMP_NONE;
}

/* Vacates an SM of lower priority than `kernel`'s, the lowest first; one already being vacated is taken over before
 * another is. */
static gpump_result gpumpi_policy_take(const gpump_scheduler_view *view, uint32_t kernel, gpump_scheduler_step *step) {
    uint32_t priority = gpumpi_policy_priority(view, kernel), victim = GPUMP_NONE;
    if (!gpump_scheduler_wants_more(&view->kernels[kernel])) return GPUMP_EMPTY;
    if (view->reserved_sms)
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks && sm->kernel != kernel &&
                (sm->next == GPUMP_NONE || gpumpi_policy_priority(view, sm->next) < priority))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, kernel);
        }
    for (uint32_t i = 0; i < view->active_count; i++) {
        uint32_t k = view->active[i];
        if (view->kernels[k].owned && gpumpi_policy_priority(view, k) < priority &&
            (victim == GPUMP_NONE || gpumpi_policy_priority(view, k) <= gpumpi_policy_priority(view, victim)))
            victim = k;
    }
    if (victim == GPUMP_NONE) return GPUMP_EMPTY;
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
            if (gpumpi_policy_priority(view, k) != top || view->kernels[k].context != leader) continue;
            if (view->idle_sm != GPUMP_NONE && gpump_scheduler_wants_idle(&view->kernels[k]))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, k);
            if (gpumpi_policy_take(view, k, step) == GPUMP_OK) return GPUMP_OK;
        }
        if (!shared || top == 0) return GPUMP_EMPTY;
        level = top;
    }
}
static gpump_result gpumpi_policy_ppq_step(const gpump_scheduler_view *view, gpump_scheduler_step *step) {
    return gpumpi_policy_ppq(view, step, 0);
}
static gpump_result gpumpi_policy_ppq_shared_step(const gpump_scheduler_view *view, gpump_scheduler_step *step) {
    return gpumpi_policy_ppq(view, step, 1);
}

/* ---- dss, equal, weighted ---- */

/* The kernel of highest token count among those that can use an idle SM, or one more reserved one; ties in active-queue
 * order. */
static uint32_t gpumpi_policy_richest(const gpump_scheduler_view *view, int more) {
    uint32_t best = GPUMP_NONE;
    for (uint32_t i = 0; i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if ((more ? gpump_scheduler_wants_more(k) : gpump_scheduler_wants_idle(k)) &&
            (best == GPUMP_NONE || k->tokens > view->kernels[best].tokens))
            best = view->active[i];
    }
    return best;
}

/* Algorithm 1 of Tanasic as its text means it: as printed, a kernel alone or two with equal counts never get an idle
 * SM, and a difference of one is exchanged for ever (docs/papers.md). */
static gpump_result gpumpi_policy_dss_step(const gpump_scheduler_view *view, gpump_scheduler_step *step) {
    uint32_t richest, poorest = GPUMP_NONE;
    if (view->idle_sm != GPUMP_NONE) {
        richest = gpumpi_policy_richest(view, 0);
        if (richest != GPUMP_NONE) return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, richest);
    }
    richest = gpumpi_policy_richest(view, 1);
    if (richest == GPUMP_NONE) return GPUMP_EMPTY;
    if (view->reserved_sms) /* an SM on its way to a kernel that has nothing left to issue: "change the decision of the
                               next kernel" */
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks && sm->next != richest &&
                (view->config->kernels_per_sm == 1 || sm->kernel != richest) &&
                (sm->next == GPUMP_NONE || !gpump_scheduler_to_issue(&view->kernels[sm->next])))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, richest);
        }
    for (uint32_t i = 0; i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if (k->owned && (poorest == GPUMP_NONE || k->tokens < view->kernels[poorest].tokens)) poorest = view->active[i];
    }
    if (poorest == GPUMP_NONE || view->kernels[richest].tokens < view->kernels[poorest].tokens + 2) return GPUMP_EMPTY;
    return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, view->kernels[poorest].first_sm, richest);
}
static uint32_t gpumpi_policy_dss_tokens(const gpump_scheduler_view *view) {
    return view->contexts[view->buffers[view->queue].context].weight;
}
/* floor(SMs / processes), and one more for the first kernels until the remainder is given away (Tanasic 5.3.4) */
static uint32_t gpumpi_policy_equal_tokens(const gpump_scheduler_view *view) {
    uint32_t share = view->config->sms / view->open_contexts, remainder = view->config->sms % view->open_contexts;
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].budget > share && remainder) remainder--;
    return share + (remainder ? 1u : 0u);
}
static uint32_t gpumpi_policy_weighted_tokens(const gpump_scheduler_view *view) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < view->config->contexts; i++)
        if (view->contexts[i].serial) sum += view->contexts[i].weight;
    return sum ? (uint32_t)((uint64_t)view->config->sms * view->contexts[view->buffers[view->queue].context].weight /
                            sum)
               : 0;
}

/* ---- time_slice: state[0] is the context whose turn it is, plus 1; state[1] when its turn ends ---- */

static int gpumpi_policy_has_kernel(const gpump_scheduler_view *view, uint32_t context) {
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].context == context) return 1;
    return 0;
}
static gpump_result gpumpi_policy_slice_step(const gpump_scheduler_view *view, gpump_scheduler_step *step) {
    uint32_t turn = view->state[0] ? (uint32_t)view->state[0] - 1 : view->config->contexts - 1, first = GPUMP_NONE;
    if (!view->active_count) return GPUMP_EMPTY;
    for (uint32_t i = 0; i < view->active_count && view->state[0] && view->now >= view->state[1]; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if (k->context == turn && k->setting_up) /* a turn shorter than the setup of an SM would get nobody anywhere */
            view->state[1] = gpump_add_saturated(view->now, view->config->slice_cycles);
    }
    if (!view->state[0] || view->now >= view->state[1] || !gpumpi_policy_has_kernel(view, turn)) {
        do turn = (turn + 1) % view->config->contexts;
        while (!gpumpi_policy_has_kernel(view, turn));
        view->state[0] = turn + UINT64_C(1);
        view->state[1] = gpump_add_saturated(view->now, view->config->slice_cycles);
    }
    for (uint32_t i = 0; i < view->active_count && view->idle_sm != GPUMP_NONE;
         i++) { /* idle SMs: whose turn it is first, then anyone */
        uint32_t k = view->active[i];
        if (!gpump_scheduler_wants_idle(&view->kernels[k])) continue;
        if (view->kernels[k].context == turn)
            return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, k);
        if (first == GPUMP_NONE) first = k;
    }
    if (first != GPUMP_NONE) return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, first);
    first = GPUMP_NONE;
    for (uint32_t i = 0; i < view->active_count && first == GPUMP_NONE; i++)
        if (view->kernels[view->active[i]].context == turn &&
            gpump_scheduler_wants_more(&view->kernels[view->active[i]]))
            first = view->active[i];
    if (first == GPUMP_NONE) return GPUMP_EMPTY;
    if (view->reserved_sms)
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks &&
                (view->config->kernels_per_sm == 1 || sm->kernel != first) &&
                (sm->next == GPUMP_NONE || view->kernels[sm->next].context != turn))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, first);
        }
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].owned && view->kernels[view->active[i]].context != turn)
            return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, view->kernels[view->active[i]].first_sm,
                                      first);
    return GPUMP_EMPTY;
}
static uint64_t gpumpi_policy_slice_wake(const gpump_scheduler_view *view) {
    uint32_t turn = (uint32_t)view->state[0] - 1;
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->state[0] && view->kernels[view->active[i]].context != turn) return view->state[1];
    return GPUMP_UNKNOWN;
}

static const gpump_scheduler_policy gpumpi_policies[] = {
    {(uint32_t)sizeof(gpump_scheduler_policy), "fcfs", NULL, gpumpi_policy_fcfs_admit, NULL, NULL, NULL},
    {(uint32_t)sizeof(gpump_scheduler_policy), "npq", NULL, gpumpi_policy_npq_admit, NULL, NULL, NULL},
    {(uint32_t)sizeof(gpump_scheduler_policy), "ppq", NULL, gpumpi_policy_ppq_admit, NULL, gpumpi_policy_ppq_step,
     NULL},
    {(uint32_t)sizeof(gpump_scheduler_policy), "ppq_shared", NULL, gpumpi_policy_ppq_admit, NULL,
     gpumpi_policy_ppq_shared_step, NULL},
    {(uint32_t)sizeof(gpump_scheduler_policy), "dss", NULL, NULL, gpumpi_policy_dss_tokens, gpumpi_policy_dss_step,
     NULL},
    {(uint32_t)sizeof(gpump_scheduler_policy), "equal", NULL, NULL, gpumpi_policy_equal_tokens, gpumpi_policy_dss_step,
     NULL},
    {(uint32_t)sizeof(gpump_scheduler_policy), "weighted", NULL, NULL, gpumpi_policy_weighted_tokens,
     gpumpi_policy_dss_step, NULL},
    {(uint32_t)sizeof(gpump_scheduler_policy), "time_slice", NULL, NULL, NULL, gpumpi_policy_slice_step,
     gpumpi_policy_slice_wake},
};

GPUMP_API const gpump_scheduler_policy *gpump_scheduler_find(const char *name) {
    if (name)
        for (size_t i = 0; i < sizeof gpumpi_policies / sizeof *gpumpi_policies; i++)
            if (!strcmp(gpumpi_policies[i].name, name)) return &gpumpi_policies[i];
    return NULL;
}

GPUMP_API const char *gpump_scheduler_policy_name(uint32_t index) {
    return index < sizeof gpumpi_policies / sizeof *gpumpi_policies ? gpumpi_policies[index].name : NULL;
}
