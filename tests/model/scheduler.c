/* labels: unit property */
/* gpump_scheduler under every built-in policy and one that decides by chance. What a policy decides is not predicted;
 * everything that follows from its decisions is: the mirror follows the actions and refuses impossible ones. */
#include "model/model.h"

enum { SMS = 6, SLOTS = 4, QUEUES = 5, PROCESSES = 4, ACTIVE = 4, SAVED = SMS * SLOTS };

typedef struct mirror_queue { /* a command, from its submission to KERNEL_DONE */
    gpump_scheduler_command command;
    uint64_t next_block, saved[SAVED], waits_since;
    uint32_t busy, kernel; /* kernel: its number once it has started */
    uint32_t saved_count, resident, finished, leaving, limit;
} mirror_queue;
typedef struct mirror_sm {
    uint32_t owner[SLOTS], generation[SLOTS]; /* owner: queue + 1 */
    uint32_t setting_up;                      /* SETUP handed over: kernel number */
    uint32_t killed;                          /* KILL handed over: bits of queues */
    uint32_t vacating, leaving; /* PREEMPT handed over: queue + 1; blocks of it that were told to switch */
    uint64_t serial;
} mirror_sm;

static struct {
    gpump_scheduler *s;
    gpump_scheduler_config config;
    gpump_scheduler_statistics statistics;
    const gpump_scheduler_policy *policy;
    mirror_queue queues[QUEUES];
    mirror_sm sms[SMS];
    gpump_scheduler_process processes[PROCESSES];
    uint64_t serials[PROCESSES]; /* 0: the row is free */
    uint32_t aborted[PROCESSES];
    uint64_t now, told, cookies, last_serial, handles;
} w;

/* ---- a policy that decides by chance, and now and then asks for the impossible ---- */

static gpump_result chance_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                gpump_scheduler_step *step) {
    uint64_t *random = view->state;
    (void)policy;
    if (!view->active_count || gpump_random_below(random, 4) == 0) return GPUMP_EMPTY;
    for (int attempt = 0; attempt < 20; attempt++) {
        const gpump_scheduler_kernel *k;
        const gpump_scheduler_sm *sm;
        step->kind = 1 + gpump_random_below(random, 3);
        step->sm = gpump_random_below(random, view->config->sms);
        step->kernel = view->active[gpump_random_below(random, view->active_count)];
        k = &view->kernels[step->kernel];
        sm = &view->sms[step->sm];
        if (gpump_random_below(random, 200) == 0) { /* whatever it is */
            step->sm = gpump_random_below(random, view->config->sms + 1);
            step->kernel = gpump_random_below(random, view->config->active_kernels + 2);
            return GPUMP_OK;
        }
        if (step->kind == GPUMP_SCHEDULER_STEP_ASSIGN && sm->state == GPUMP_SCHEDULER_SM_IDLE &&
            gpump_scheduler_wants_idle(k))
            return GPUMP_OK;
        if (step->kind != GPUMP_SCHEDULER_STEP_ASSIGN && sm->kernel != step->kernel && sm->next != step->kernel &&
            gpump_scheduler_wants_more(k) &&
            sm->state == (uint32_t)(step->kind == GPUMP_SCHEDULER_STEP_RESERVE ? GPUMP_SCHEDULER_SM_RUNNING
                                                                               : GPUMP_SCHEDULER_SM_RESERVED))
            return GPUMP_OK;
    }
    return GPUMP_EMPTY;
}
static uint32_t chance_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;
    switch (gpump_random_below(view->state, 8)) {
    case 0: return GPUMP_NONE;
    case 1: return gpump_random_below(view->state, view->config->queues + 2);
    default: return view->waiting[gpump_random_below(view->state, view->waiting_count)];
    }
}
static uint64_t chance_wake(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;
    return view->now + gpump_random_below(view->state, 30);
}
static const gpump_scheduler_policy chance = {"chance", "By chance.", NULL,       chance_admit,
                                              NULL,     chance_step,  chance_wake};
static const gpump_scheduler_policy defaults = {"defaults", "No hooks.", NULL, NULL, NULL, NULL, NULL};

/* ---- facts ---- */

static uint32_t commands_of(uint32_t row) {
    uint32_t count = 0;
    for (uint32_t q = 0; q < w.config.queues; q++) count += w.queues[q].busy && w.queues[q].command.process == row;
    return count;
}
static uint32_t blocks_on(uint32_t sm, uint32_t owner) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) count += w.sms[sm].owner[slot] == owner;
    return count;
}

static void process_facts(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t row = below(w.config.processes + (once_in(20) ? 2 : 0)),
                   weight = once_in(30) ? (1u << 20) + 1 : below(6);
    gpump_result expected = GPUMP_OK;
    switch (below(3)) {
    case 0: {
        gpump_scheduler_process process = {++w.cookies, below(1000), below(3), weight};
        uint32_t got = 77, lowest = 0;
        while (lowest < w.config.processes && w.serials[lowest]) lowest++;
        if (weight > GPUMP_SCHEDULER_MAX_BUDGET)
            expected = GPUMP_ERROR_ARGUMENT;
        else if (model_time_is_wrong(time, w.told))
            expected = GPUMP_ERROR_TIME;
        else if (lowest == w.config.processes)
            expected = GPUMP_ERROR_FULL;
        MODEL_CALL(expected, gpump_scheduler_open(w.s, time, &process, &got, NULL));
        MODEL_CHECK(got == (expected ? 77 : lowest));
        if (expected) return;
        w.processes[lowest] = process;
        w.serials[lowest] = ++w.last_serial;
        break;
    }
    case 1:
        if (row >= w.config.processes || weight > GPUMP_SCHEDULER_MAX_BUDGET)
            expected = GPUMP_ERROR_ARGUMENT;
        else if (!w.serials[row])
            expected = GPUMP_ERROR_STATE;
        else if (model_time_is_wrong(time, w.told))
            expected = GPUMP_ERROR_TIME;
        MODEL_CALL(expected, gpump_scheduler_set_priority(w.s, time, row, weight & 3, weight));
        if (expected) return;
        w.processes[row].priority = weight & 3;
        w.processes[row].weight = weight;
        break;
    default:
        if (!once_in(6)) return;
        if (row >= w.config.processes)
            expected = GPUMP_ERROR_ARGUMENT;
        else if (!w.serials[row] || commands_of(row))
            expected = GPUMP_ERROR_STATE;
        else if (model_time_is_wrong(time, w.told))
            expected = GPUMP_ERROR_TIME;
        MODEL_CALL(expected, gpump_scheduler_close(w.s, time, row));
        if (expected) return;
        w.serials[row] = w.aborted[row] = 0;
    }
    w.told = w.now;
}

static void submit(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t queue = below(w.config.queues + (once_in(30) ? 2 : 0));
    gpump_scheduler_command command;
    gpump_result expected = GPUMP_OK;
    mirror_queue *q = &w.queues[queue < QUEUES ? queue : 0];
    memset(&command, 0, sizeof command);
    command.cookie = ++w.cookies;
    command.blocks = once_in(40) ? 0 : once_in(40) ? GPUMP_SCHEDULER_MAX_BLOCKS + 1 : 1 + below(once_in(2) ? 80 : 8);
    command.process = below(w.config.processes + (once_in(40) ? 2 : 0));
    command.blocks_per_sm = below(w.config.blocks_per_sm) + 1;
    if (once_in(40)) command.blocks_per_sm = once_in(2) ? 0 : w.config.blocks_per_sm + 1;
    command.saved_limit = once_in(4) ? below(4) : below(SAVED + 2);
    if (queue >= w.config.queues || command.process >= w.config.processes)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (!w.serials[command.process] || w.aborted[command.process])
        expected = GPUMP_ERROR_STATE;
    else if (!command.blocks || command.blocks > GPUMP_SCHEDULER_MAX_BLOCKS || !command.blocks_per_sm ||
             command.blocks_per_sm > w.config.blocks_per_sm)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    else if (q->busy)
        expected = GPUMP_BUSY;
    MODEL_CALL(expected, gpump_scheduler_submit(w.s, time, queue, &command, NULL));
    if (expected) return;
    w.told = w.now;
    memset(q, 0, sizeof *q);
    q->command = command;
    q->limit = command.saved_limit < w.config.saved_blocks ? command.saved_limit : w.config.saved_blocks;
    q->busy = 1;
    w.statistics.submitted++;
}

static int is_aborted(uint32_t queue) { return w.aborted[w.queues[queue].command.process] != 0; }

/* Everything of the process ends; blocks on SMs are still to be killed. */
static void abort_process(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t row = below(w.config.processes + (once_in(20) ? 2 : 0));
    gpump_result expected = GPUMP_OK;
    if (row >= w.config.processes)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (!w.serials[row] || w.aborted[row])
        expected = GPUMP_ERROR_STATE;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    MODEL_CALL(expected, gpump_scheduler_abort(w.s, time, row));
    if (expected) return;
    w.told = w.now;
    w.aborted[row] = 1;
    w.statistics.aborts++;
    for (uint32_t i = 0; i < w.config.queues; i++) {
        mirror_queue *q = &w.queues[i];
        if (!q->busy || q->command.process != row || q->finished == q->command.blocks) continue;
        w.statistics.commands_cancelled += !q->kernel;
        q->saved_count = 0;
        q->next_block = q->command.blocks;
        q->finished = (uint32_t)q->command.blocks - q->resident;
    }
}

static void report_ready(void) {
    const uint64_t time = model_time(w.now, w.told);
    uint32_t sm = below(w.config.sms + (once_in(30) ? 2 : 0));
    gpump_result expected = GPUMP_OK;
    if (!once_in(10)) /* one that is being set up, if there is one */
        for (uint32_t i = 0; i < w.config.sms && sm < w.config.sms && !w.sms[sm].setting_up; i++)
            sm = (sm + 1) % w.config.sms;
    if (sm >= w.config.sms)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (!w.sms[sm].setting_up)
        expected = GPUMP_ERROR_STATE;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    MODEL_CALL(expected, gpump_scheduler_report_ready(w.s, time, sm));
    if (expected) return;
    w.told = w.now;
    w.sms[sm].setting_up = 0;
}

/* A block has left its slot. */
static void leave(uint32_t sm, uint32_t slot) {
    mirror_sm *m = &w.sms[sm];
    const uint32_t owner = m->owner[slot];
    m->owner[slot] = 0;
    w.queues[owner - 1].resident--;
    if (!blocks_on(sm, owner)) m->killed &= ~(1u << owner);
    if (m->vacating != owner) return;
    if (m->leaving) {
        m->leaving--;
        w.queues[owner - 1].leaving--;
    }
    if (!blocks_on(sm, owner)) m->vacating = 0;
}

static void report_block(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t sm = below(w.config.sms + (once_in(60) ? 2 : 0));
    gpump_result expected = GPUMP_OK;
    gpump_block_ref block;
    mirror_sm *m = &w.sms[sm < SMS ? sm : 0];
    uint32_t owner;
    int preempted;
    block.slot = below(w.config.blocks_per_sm + (once_in(60) ? 2 : 0));
    block.generation = block.slot < SLOTS ? m->generation[block.slot] : 0;
    if (once_in(60)) block.generation += below(3) - 1;
    owner = sm < w.config.sms && block.slot < w.config.blocks_per_sm && m->generation[block.slot] == block.generation
                ? m->owner[block.slot]
                : 0;
    preempted = owner && m->vacating == owner ? !once_in(3) : once_in(5);
    if (!owner)
        expected = GPUMP_ERROR_STALE;
    else if (preempted && m->vacating != owner && !is_aborted(owner - 1))
        expected = GPUMP_ERROR_STATE;
    else if (preempted && !is_aborted(owner - 1) &&
             w.queues[owner - 1].saved_count + w.queues[owner - 1].leaving - (m->leaving ? 1 : 0) >=
                 w.queues[owner - 1].limit)
        expected = GPUMP_ERROR_FULL;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    if (preempted)
        MODEL_CALL(expected, gpump_scheduler_report_preempted(w.s, time, sm, block, w.handles + 1));
    else
        MODEL_CALL(expected, gpump_scheduler_report_finished(w.s, time, sm, block));
    if (expected) return;
    w.told = w.now;
    if (is_aborted(owner - 1)) {
        w.queues[owner - 1].finished++;
        w.statistics.blocks_killed++;
    } else if (preempted) {
        w.queues[owner - 1].saved[w.queues[owner - 1].saved_count++] = ++w.handles;
        w.statistics.blocks_preempted++;
    } else {
        w.queues[owner - 1].finished++;
        w.statistics.blocks_finished++;
    }
    leave(sm, block.slot);
}

/* How many warps of a kernel can run: only the policy dss_fault reads it. */
static void report_running(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t kernel = below(w.config.active_kernels + 2), warps = below(20);
    const uint32_t running = once_in(30) ? warps + 1 : below(warps + 1);
    mirror_queue *q = NULL;
    gpump_result expected = GPUMP_OK;
    for (uint32_t i = 0; i < w.config.queues; i++)
        if (w.queues[i].busy && w.queues[i].kernel == kernel && w.queues[i].finished < w.queues[i].command.blocks)
            q = &w.queues[i];
    if (!kernel || kernel > w.config.active_kernels || running > warps)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (!q)
        expected = GPUMP_ERROR_STATE;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    MODEL_CALL(expected, gpump_scheduler_report_running(w.s, time, kernel, running, warps));
    if (expected) return;
    w.told = w.now;
    if (running * 4 >= warps)
        q->waits_since = GPUMP_UNKNOWN;
    else if (q->waits_since == GPUMP_UNKNOWN)
        q->waits_since = w.now;
}

static void report_room(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t sm = below(w.config.sms + (once_in(30) ? 2 : 0)), blocks = below(w.config.blocks_per_sm + 2);
    const gpump_scheduler_sm *row = &gpump_scheduler_look(w.s).sms[sm < w.config.sms ? sm : 0];
    gpump_result expected = GPUMP_OK;
    if (sm >= w.config.sms || blocks > w.config.blocks_per_sm)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (row->state != GPUMP_SCHEDULER_SM_RESERVED || !(row->flags & GPUMP_SCHEDULER_SM_NEXT_READY) || !row->next)
        expected = GPUMP_ERROR_STATE;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    MODEL_CALL(expected, gpump_scheduler_report_room(w.s, time, sm, blocks));
    if (!expected) {
        w.told = w.now;
        MODEL_CHECK(row->room == blocks);
    }
}

/* ---- actions ---- */

static void kernel_starts(const gpump_scheduler_action *a) {
    mirror_queue *q = &w.queues[a->queue];
    uint32_t lowest = 1;
    MODEL_CHECK(a->queue < w.config.queues && q->busy && !q->kernel && a->sm == GPUMP_NONE);
    for (uint32_t i = 0; i < w.config.queues; i++) /* a number that is free: the lowest */
        if (w.queues[i].busy && w.queues[i].kernel == lowest && w.queues[i].finished < w.queues[i].command.blocks)
            lowest++, i = GPUMP_NONE;
    MODEL_CHECK(a->kernel == lowest && lowest <= w.config.active_kernels);
    MODEL_CHECK(a->process == q->command.process && a->process_cookie == w.processes[a->process].cookie);
    q->kernel = a->kernel;
    q->waits_since = GPUMP_UNKNOWN;
    w.statistics.kernels_started++;
}
static void kernel_done(const gpump_scheduler_action *a) {
    mirror_queue *q = &w.queues[a->queue];
    MODEL_CHECK(q->busy && q->finished == q->command.blocks && !q->resident && !q->saved_count);
    for (uint32_t i = 0; i < a->queue; i++) /* the lowest queue first */
        MODEL_CHECK(!w.queues[i].busy || w.queues[i].finished < w.queues[i].command.blocks);
    MODEL_CHECK(a->process == q->command.process && a->kernel == q->kernel && a->sm == GPUMP_NONE);
    MODEL_CHECK(a->aborted == w.aborted[a->process]);
    q->busy = 0;
}
static void sm_is_preempted(const gpump_scheduler_action *a) {
    mirror_queue *q = &w.queues[a->queue];
    mirror_sm *m = &w.sms[a->sm];
    const uint32_t here = blocks_on(a->sm, a->queue + 1);
    const int fits = q->saved_count + q->leaving + here <= q->limit;
    MODEL_CHECK(here && !m->vacating && a->kernel == q->kernel && a->next <= w.config.active_kernels);
    MODEL_CHECK(a->process == q->command.process && !is_aborted(a->queue));
    MODEL_CHECK(a->technique == (fits ? w.config.technique : (uint32_t)GPUMP_TECHNIQUE_DRAIN));
    MODEL_CHECK(a->reason == (uint32_t)(fits || w.config.technique == GPUMP_TECHNIQUE_DRAIN
                                            ? GPUMP_REASON_YES
                                            : GPUMP_REASON_NO_CONTEXT_SPACE));
    m->vacating = a->queue + 1;
    if (w.config.technique == GPUMP_TECHNIQUE_DRAIN) return;
    if (fits) {
        m->leaving = here;
        q->leaving += here;
    } else
        w.statistics.drained_instead++;
}
static void sm_is_killed(const gpump_scheduler_action *a) {
    mirror_sm *m = &w.sms[a->sm];
    MODEL_CHECK(is_aborted(a->queue) && a->kernel == w.queues[a->queue].kernel && blocks_on(a->sm, a->queue + 1));
    MODEL_CHECK(a->process == w.queues[a->queue].command.process && !(m->killed >> (a->queue + 1) & 1));
    m->killed |= 2u << a->queue;
}
static void sm_is_set_up(const gpump_scheduler_action *a) {
    mirror_queue *q = &w.queues[a->queue];
    mirror_sm *m = &w.sms[a->sm];
    uint32_t others = 0;
    MODEL_CHECK(q->kernel == a->kernel && a->kernel && !m->setting_up && a->process == q->command.process);
    MODEL_CHECK(a->process_cookie == w.processes[a->process].cookie);
    MODEL_CHECK(a->page_table_base == w.processes[a->process].page_table_base);
    for (uint32_t slot = 0; slot < SLOTS; slot++) others += m->owner[slot] != 0;
    MODEL_CHECK(a->beside ? others && w.config.kernels_per_sm == 2 : !others);
    MODEL_CHECK(a->invalidate == (m->serial && m->serial != w.serials[a->process] ? 7u : 0u));
    w.statistics.setups++;
    w.statistics.process_changes += m->serial != w.serials[a->process];
    m->serial = w.serials[a->process];
    m->setting_up = a->kernel;
}
static void block_is_issued(const gpump_scheduler_action *a) {
    mirror_queue *q = &w.queues[a->queue];
    mirror_sm *m = &w.sms[a->sm];
    uint32_t lowest = 0;
    MODEL_CHECK(q->kernel == a->kernel && a->kernel && m->vacating != a->queue + 1);
    MODEL_CHECK(!m->setting_up || w.config.kernels_per_sm == 2);
    while (m->owner[lowest]) lowest++;
    MODEL_CHECK(a->block.slot == lowest && lowest < w.config.blocks_per_sm);
    MODEL_CHECK(a->block.generation == ++m->generation[lowest]);
    MODEL_CHECK(a->process == q->command.process && a->process_cookie == w.processes[a->process].cookie);
    m->owner[lowest] = a->queue + 1;
    q->resident++;
    MODEL_CHECK(a->saved == (q->saved_count != 0)); /* blocks that were preempted come first, in their order */
    if (a->saved) {
        MODEL_CHECK(a->handle == q->saved[0] && a->index == 0);
        memmove(q->saved, q->saved + 1, --q->saved_count * sizeof q->saved[0]);
        w.statistics.blocks_resumed++;
    } else {
        MODEL_CHECK(a->index == q->next_block && a->handle == 0);
        q->next_block++;
        w.statistics.blocks_new++;
    }
}

static void next(void) {
    gpump_scheduler_action a;
    const uint64_t time = model_time(w.now, w.told);
    gpump_result result;
    if (model_time_is_wrong(time, w.told)) {
        MODEL_CALL(GPUMP_ERROR_TIME, gpump_scheduler_next(w.s, w.policy, time, &a));
        return;
    }
    result = gpump_scheduler_next(w.s, w.policy, time, &a);
    w.told = w.now;
    if (result == GPUMP_EMPTY) {
        MODEL_CHECK(gpump_next_cycle(&gpump_scheduler_component, w.s) > w.now);
        for (uint32_t i = 0; i < w.config.sms; i++) /* nobody of an aborted process is forgotten */
            for (uint32_t slot = 0; slot < SLOTS; slot++) {
                const uint32_t owner = w.sms[i].owner[slot];
                MODEL_CHECK(!owner || !is_aborted(owner - 1) || (w.sms[i].killed >> owner & 1));
            }
        return;
    }
    if (result == GPUMP_ERROR_REFUSED) { /* dropped, and counted */
        MODEL_CHECK(w.policy == &chance);
        return;
    }
    MODEL_CHECK(result == GPUMP_OK && a.queue < w.config.queues);
    MODEL_CHECK(a.kernel_cookie == w.queues[a.queue].command.cookie);
    switch (a.kind) {
    case GPUMP_SCHEDULER_KERNEL_START: kernel_starts(&a); break;
    case GPUMP_SCHEDULER_KERNEL_DONE: kernel_done(&a); break;
    case GPUMP_SCHEDULER_PREEMPT: sm_is_preempted(&a); break;
    case GPUMP_SCHEDULER_SETUP: sm_is_set_up(&a); break;
    case GPUMP_SCHEDULER_KILL: sm_is_killed(&a); break;
    default:
        MODEL_CHECK(a.kind == GPUMP_SCHEDULER_ISSUE);
        block_is_issued(&a);
        MODEL_CHECK(blocks_on(a.sm, a.queue + 1) <= w.queues[a.queue].command.blocks_per_sm);
    }
}

/* A block beyond those that the command said an SM holds: also then it is the next one of the SM's kernel. */
static void issue_extra(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t sm = below(w.config.sms + (once_in(30) ? 2 : 0));
    const gpump_scheduler_sm row = gpump_scheduler_look(w.s).sms[sm < w.config.sms ? sm : 0];
    gpump_result expected = GPUMP_EMPTY;
    gpump_scheduler_action a;
    if (sm >= w.config.sms)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    else if (row.state == GPUMP_SCHEDULER_SM_RUNNING && !(row.flags & GPUMP_SCHEDULER_SM_SETUP_DUE) &&
             !w.sms[sm].setting_up)
        for (uint32_t slot = 0; slot < w.config.blocks_per_sm; slot++)
            if (!w.sms[sm].owner[slot])
                for (uint32_t i = 0; i < w.config.queues; i++)
                    if (w.queues[i].busy && w.queues[i].kernel == row.kernel &&
                        w.queues[i].finished < w.queues[i].command.blocks &&
                        (w.queues[i].saved_count || w.queues[i].next_block < w.queues[i].command.blocks))
                        expected = GPUMP_OK;
    MODEL_CALL(expected, gpump_scheduler_issue_extra(w.s, time, sm, &a));
    if (expected == GPUMP_OK || expected == GPUMP_EMPTY) w.told = w.now;
    if (expected) return;
    MODEL_CHECK(a.kind == GPUMP_SCHEDULER_ISSUE && a.sm == sm && a.kernel == row.kernel);
    block_is_issued(&a);
}

static void event(void) {
    switch (below(32)) {
    case 0:
        process_facts();
        if (once_in(6)) abort_process();
        break;
    case 1:
    case 2: submit(); break;
    case 3:
    case 4:
    case 5:
    case 6: report_ready(); break;
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
    case 14: report_block(); break;
    case 15:
        if (w.config.kernels_per_sm == 2 || once_in(20)) report_room();
        if (once_in(2)) report_running();
        break;
    case 16:
    case 17: w.now += below(15); break;
    case 18: issue_extra(); break;
    default: next();
    }
}

static void compare(void) {
    gpump_scheduler_view view = gpump_scheduler_look(w.s);
    gpump_scheduler_statistics statistics;
    uint32_t active = 0, waiting = 0, open = 0;
    gpump_get_statistics(&gpump_scheduler_component, w.s, &statistics);
    MODEL_RISES(statistics);
    MODEL_CHECK(statistics.submitted == w.statistics.submitted);
    MODEL_CHECK(statistics.kernels_started == w.statistics.kernels_started);
    MODEL_CHECK(statistics.blocks_new == w.statistics.blocks_new);
    MODEL_CHECK(statistics.blocks_resumed == w.statistics.blocks_resumed);
    MODEL_CHECK(statistics.blocks_finished == w.statistics.blocks_finished);
    MODEL_CHECK(statistics.blocks_preempted == w.statistics.blocks_preempted);
    MODEL_CHECK(statistics.blocks_killed == w.statistics.blocks_killed);
    MODEL_CHECK(statistics.commands_cancelled == w.statistics.commands_cancelled);
    MODEL_CHECK(statistics.aborts == w.statistics.aborts);
    MODEL_CHECK(statistics.drained_instead == w.statistics.drained_instead);
    MODEL_CHECK(statistics.setups == w.statistics.setups);
    MODEL_CHECK(statistics.process_changes == w.statistics.process_changes);
    MODEL_CHECK(statistics.policy_errors == 0 || w.policy == &chance);
    for (uint32_t i = 0; i < w.config.processes; i++) {
        const gpump_scheduler_process_row *row = &view.processes[i];
        open += w.serials[i] != 0;
        MODEL_CHECK((row->serial != 0) == (w.serials[i] != 0));
        if (!w.serials[i]) continue;
        MODEL_CHECK(row->cookie == w.processes[i].cookie && row->page_table_base == w.processes[i].page_table_base);
        MODEL_CHECK(row->priority == w.processes[i].priority && row->weight == w.processes[i].weight);
        MODEL_CHECK(row->commands == commands_of(i) && row->aborted == w.aborted[i]);
    }
    for (uint32_t i = 0; i < w.config.queues; i++) {
        const mirror_queue *q = &w.queues[i];
        const gpump_scheduler_kernel *k = &view.kernels[q->kernel];
        const int over = q->finished == q->command.blocks;
        if (!q->busy) {
            MODEL_CHECK(view.buffers[i].state == GPUMP_SCHEDULER_BUFFER_EMPTY);
            continue;
        }
        waiting += !q->kernel && !over;
        MODEL_CHECK(view.buffers[i].state == (uint32_t)(over         ? GPUMP_SCHEDULER_BUFFER_DONE
                                                        : !q->kernel ? GPUMP_SCHEDULER_BUFFER_WAITING
                                                                     : GPUMP_SCHEDULER_BUFFER_ACTIVE));
        if (!q->kernel || over) continue;
        active++;
        MODEL_CHECK(k->in_use && k->queue == i && k->process == q->command.process && k->cookie == q->command.cookie);
        MODEL_CHECK(k->blocks == q->command.blocks && k->next_block == q->next_block && k->saved == q->saved_count);
        MODEL_CHECK(k->waits_since == q->waits_since);
        MODEL_CHECK(k->resident == q->resident && k->leaving == q->leaving && k->saved_limit == q->limit);
        MODEL_CHECK(k->resident + k->saved + q->finished == q->next_block); /* none is lost */
    }
    MODEL_CHECK(view.active_count == active && view.waiting_count == waiting && view.open_processes == open);
    for (uint32_t i = 0; i < w.config.sms; i++) {
        uint64_t slots = 0;
        for (uint32_t slot = 0; slot < SLOTS; slot++) slots |= (uint64_t)(w.sms[i].owner[slot] != 0) << slot;
        MODEL_CHECK(view.sms[i].slots == slots && view.sms[i].leaving == w.sms[i].leaving);
        MODEL_CHECK(!w.sms[i].setting_up == !(view.sms[i].flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING));
    }
}

static size_t begin(void *memory) {
    uint32_t policies = 0, policy;
    size_t bytes;
    memset(&w, 0, sizeof w);
    while (gpump_scheduler_policy_at(policies)) policies++;
    policy = below(2 * policies);
    w.policy = policy < policies ? gpump_scheduler_policy_at(policy) : policy == policies ? &defaults : &chance;
    MODEL_CHECK(gpump_preset(&gpump_scheduler_component, &w.config, "k20c", NULL) == GPUMP_OK);
    w.config.sms = 1 + below(SMS);
    w.config.blocks_per_sm = 1 + below(SLOTS);
    w.config.processes = 1 + below(PROCESSES);
    w.config.queues = 1 + below(QUEUES);
    w.config.active_kernels = 1 + below(ACTIVE);
    w.config.saved_blocks = w.config.sms * w.config.blocks_per_sm;
    if (once_in(4)) w.config.saved_blocks = below(w.config.saved_blocks + 1);
    w.config.technique = below(5);
    if (w.config.technique == 4) w.config.technique = GPUMP_TECHNIQUE_SELECT;
    w.config.kernels_per_sm = 1 + below(2);
    w.config.decision_cycles = below(6);
    w.config.slice_cycles = 1 + below(100);
    w.config.lend_cycles = below(40);
    MODEL_CHECK(gpump_bytes(&gpump_scheduler_component, &w.config, &bytes, NULL) == GPUMP_OK);
    MODEL_CHECK(gpump_init(&gpump_scheduler_component, memory, bytes, &w.config, &w.s, NULL) == GPUMP_OK);
    return bytes;
}
static gpump_result adopt(void *memory, size_t bytes) {
    gpump_result result = gpump_adopt(&gpump_scheduler_component, memory, bytes, &w.config, &w.s, NULL);
    return result ? result : gpump_check(&gpump_scheduler_component, w.s, NULL);
}
static uint64_t hash(void) { return gpump_hash(&gpump_scheduler_component, w.s); }

/* A scheduler agrees with a plain model after each of random calls. */
static void a_scheduler_and_its_mirror(void **state) {
    static const model scheduler = {"scheduler", 4000, begin, event, compare, adopt, hash};
    (void)state;
    model_run(&scheduler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scheduler_and_its_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
