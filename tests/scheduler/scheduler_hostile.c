/* labels: unit property */
/* A host that does everything in random order, lies now and then, and keeps its own books: no block lost or issued
 * twice, no table overflows, tokens are conserved, nonsense changes nothing, nothing starves. */
#include "test.h"

enum { SMS = 24, SLOTS = 6, QUEUES = 10, PROCESSES = 6, BLOCKS = 400, RESIDENT = SMS * SLOTS };

typedef struct host_block {
    gpump_block_ref name;
    uint32_t sm, queue, index;
    int leaving; /* 1: must leave by any way, 2: must be drained */
} host_block;

typedef struct host {
    gpump_scheduler *scheduler;
    const gpump_scheduler_policy *policy;
    gpump_scheduler_config config;
    uint64_t random, now, events, seed, starved_since[QUEUES], progress[QUEUES];
    host_block resident[RESIDENT];
    uint32_t residents;
    int setup[SMS];                /* SETUP handed over, ready not yet reported */
    uint8_t state[QUEUES][BLOCKS]; /* 0 never issued, 1 resident, 2 saved, 3 finished */
    uint32_t blocks[QUEUES], finished[QUEUES], busy[QUEUES];
    uint32_t process[PROCESSES], open[PROCESSES], in_process[PROCESSES], queue_process[QUEUES], per_sm[QUEUES];
} host;

#define CHECK(condition) test_check(condition, h->seed, h->events)

static uint32_t below(host *h, uint32_t limit) { return gpump_random_below(&h->random, limit); }

/* A policy that decides by chance, sometimes nonsense; its random state is part of the block. */
static gpump_result random_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                gpump_scheduler_step *step) {
    (void)policy;

    uint64_t *random = view->state;
    if (gpump_random_below(random, 4) == 0) return GPUMP_EMPTY;
    for (int attempt = 0; attempt < 20; attempt++) {
        uint32_t i = gpump_random_below(random, view->config->sms);
        if (!view->active_count) return GPUMP_EMPTY;
        step->sm = i;
        step->kernel = view->active[gpump_random_below(random, view->active_count)];
        step->kind = 1 + gpump_random_below(random, 3);
        if (gpump_random_below(random, 500) == 0) return GPUMP_OK; /* whatever it is */
        if (gpump_random_below(random, 500) == 0) return step->sm = view->config->sms + 3, GPUMP_OK;
        if (step->kind == GPUMP_SCHEDULER_STEP_ASSIGN && view->sms[i].state == GPUMP_SCHEDULER_SM_IDLE &&
            gpump_scheduler_wants_idle(&view->kernels[step->kernel]))
            return GPUMP_OK;
        if (step->kind == GPUMP_SCHEDULER_STEP_RESERVE && view->sms[i].state == GPUMP_SCHEDULER_SM_RUNNING &&
            view->sms[i].kernel != step->kernel && gpump_scheduler_wants_more(&view->kernels[step->kernel]))
            return GPUMP_OK;
        if (step->kind == GPUMP_SCHEDULER_STEP_CHANGE_NEXT && view->sms[i].state == GPUMP_SCHEDULER_SM_RESERVED &&
            view->sms[i].next != step->kernel && gpump_scheduler_wants_more(&view->kernels[step->kernel]))
            return GPUMP_OK;
    }
    return GPUMP_EMPTY;
}
static uint32_t random_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    return gpump_random_below(view->state, 3) ? view->waiting[gpump_random_below(view->state, view->waiting_count)]
                                              : GPUMP_NONE;
}
static uint64_t random_wake(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    return view->now + 1 + gpump_random_below(view->state, 50);
}
static const gpump_scheduler_policy random_policy = {"random", "By chance.", NULL,       random_admit,
                                                     NULL,     random_step,  random_wake};

static void remove_block(host *h, uint32_t i) { h->resident[i] = h->resident[--h->residents]; }

static void finish(host *h, uint32_t i) {
    host_block *b = &h->resident[i];
    CHECK(gpump_scheduler_report_finished(h->scheduler, h->now, b->sm, b->name) == GPUMP_OK);
    CHECK(gpump_scheduler_report_finished(h->scheduler, h->now, b->sm, b->name) == GPUMP_ERROR_STALE); /* twice */
    CHECK(h->state[b->queue][b->index] == 1);
    h->state[b->queue][b->index] = 3;
    h->finished[b->queue]++;
    h->progress[b->queue]++;
    remove_block(h, i);
}

static void preempt(host *h, uint32_t i) {
    host_block *b = &h->resident[i];
    gpump_result result =
        gpump_scheduler_report_preempted(h->scheduler, h->now, b->sm, b->name, ((uint64_t)b->queue << 32) | b->index);
    CHECK(result == GPUMP_OK);
    h->state[b->queue][b->index] = 2;
    remove_block(h, i);
}

static void pull(host *h) {
    gpump_scheduler_action action;
    gpump_result result;
    while ((result = gpump_scheduler_next(h->scheduler, h->policy, h->now, &action)) != GPUMP_EMPTY) {
        if (result == GPUMP_ERROR_REFUSED) {
            if (h->policy != &random_policy)
                fail_msg("%s gave an impossible step (GPUMP_TEST_SEED=%llu)", h->policy->name,
                         (unsigned long long)h->seed);
            continue;
        }
        CHECK(result == GPUMP_OK);
        h->events++;
        switch (action.kind) {
        case GPUMP_SCHEDULER_KERNEL_START:
            CHECK(h->busy[action.queue] && action.kernel_cookie == action.queue + 1);
            break;
        case GPUMP_SCHEDULER_KERNEL_DONE:
            CHECK(h->busy[action.queue] && h->finished[action.queue] == h->blocks[action.queue]);
            h->busy[action.queue] = 0;
            h->in_process[h->queue_process[action.queue]]--;
            break;
        case GPUMP_SCHEDULER_PREEMPT:
            for (uint32_t i = 0; i < h->residents; i++)
                if (h->resident[i].sm == action.sm && h->resident[i].queue == action.queue)
                    h->resident[i].leaving = action.technique == GPUMP_TECHNIQUE_DRAIN ? 2 : 1;
            if (action.reason)
                CHECK(action.reason == GPUMP_REASON_NO_CONTEXT_SPACE && action.technique == GPUMP_TECHNIQUE_DRAIN);
            break;
        case GPUMP_SCHEDULER_SETUP:
            CHECK(!h->setup[action.sm]);
            CHECK(action.page_table_base == (action.process + 1) * 4096u);
            h->setup[action.sm] = 1;
            if (!action.beside)
                for (uint32_t i = 0; i < h->residents; i++) CHECK(h->resident[i].sm != action.sm);
            break;
        default: {
            host_block *b = &h->resident[h->residents++];
            uint32_t here = 0;
            CHECK(action.kind == GPUMP_SCHEDULER_ISSUE && h->residents <= RESIDENT);
            b->name = action.block;
            b->sm = action.sm;
            b->queue = action.queue;
            b->index = action.saved ? (uint32_t)action.handle : (uint32_t)action.index;
            b->leaving = 0;
            CHECK(b->index < h->blocks[b->queue]);
            CHECK(h->state[b->queue][b->index] == (action.saved ? 2 : 0)); /* neither lost nor issued twice */
            if (!action.saved)                                             /* preempted blocks go first */
                for (uint32_t i = 0; i < h->blocks[b->queue]; i++) CHECK(h->state[b->queue][i] != 2);
            h->state[b->queue][b->index] = 1;
            for (uint32_t i = 0; i < h->residents; i++)
                here += h->resident[i].sm == b->sm && h->resident[i].queue == b->queue;
            CHECK(here <= h->per_sm[b->queue]);
        }
        }
    }
}

static void submit(host *h) {
    uint32_t queue = below(h, QUEUES), process = below(h, PROCESSES);
    gpump_scheduler_command command;
    gpump_result result;
    if (!h->open[process] && gpump_scheduler_look(h->scheduler).processes[h->process[process]].serial)
        return; /* row reused */
    memset(&command, 0, sizeof command);
    command.cookie = queue + 1;
    command.blocks = 1 + below(h, below(h, 4) ? 40 : BLOCKS);
    command.process = h->process[process];
    command.blocks_per_sm = 1 + below(h, SLOTS);
    command.saved_limit = below(h, 3) ? RESIDENT : below(h, 20);
    result = gpump_scheduler_submit(h->scheduler, h->now, queue, &command, NULL);
    if (!h->open[process])
        CHECK(result == GPUMP_ERROR_STATE);
    else if (h->busy[queue])
        CHECK(result == GPUMP_BUSY);
    else {
        CHECK(result == GPUMP_OK);
        h->busy[queue] = 1;
        h->blocks[queue] = (uint32_t)command.blocks;
        h->per_sm[queue] = command.blocks_per_sm;
        h->finished[queue] = 0;
        h->in_process[process]++;
        h->queue_process[queue] = process;
        memset(h->state[queue], 0, sizeof h->state[queue]);
    }
}

static void processes(host *h) {
    uint32_t i = below(h, PROCESSES);
    if (h->open[i]) {
        if (below(h, 4)) {
            CHECK(gpump_scheduler_set_priority(h->scheduler, h->now, h->process[i], below(h, 4), below(h, 8)) ==
                  GPUMP_OK);
            return;
        }
        CHECK(gpump_scheduler_close(h->scheduler, h->now, h->process[i]) ==
              (h->in_process[i] ? GPUMP_ERROR_STATE : GPUMP_OK));
        if (!h->in_process[i]) h->open[i] = 0;
    } else {
        gpump_scheduler_process process;
        uint32_t free_row = 0;
        memset(&process, 0, sizeof process);
        process.priority = below(h, 4);
        process.weight = below(h, 8);
        while (gpump_scheduler_look(h->scheduler).processes[free_row].serial) free_row++;
        process.page_table_base = (free_row + 1) * 4096u;
        CHECK(gpump_scheduler_open(h->scheduler, h->now, &process, &h->process[i], NULL) == GPUMP_OK);
        CHECK(h->process[i] == free_row);
        h->open[i] = 1;
    }
}

/* Facts that cannot be true: each is refused, and the hash of the whole state stays. */
static void lie(host *h) {
    gpump_scheduler *s = h->scheduler;
    uint64_t before = gpump_hash(&gpump_scheduler_component, s);
    gpump_scheduler_command command;
    uint32_t sm = below(h, h->config.sms);
    gpump_block_ref name;
    memset(&command, 0, sizeof command);
    name.slot = below(h, SLOTS + 2);
    name.generation = (uint32_t)gpump_random_next(&h->random) | 1u << 31;
    CHECK(gpump_scheduler_report_finished(s, h->now, below(h, SMS + 2), name) == GPUMP_ERROR_STALE);
    CHECK(gpump_scheduler_report_finished(s, h->now, SMS + 5, name) == GPUMP_ERROR_STALE);
    CHECK(gpump_scheduler_report_ready(s, h->now, SMS) == GPUMP_ERROR_ARGUMENT);
    if (!h->setup[sm]) CHECK(gpump_scheduler_report_ready(s, h->now, sm) == GPUMP_ERROR_STATE);
    CHECK(gpump_scheduler_submit(s, h->now, QUEUES, &command, NULL) == GPUMP_ERROR_ARGUMENT);
    CHECK(gpump_scheduler_submit(s, h->now, 0, &command, NULL) < 0);
    CHECK(gpump_scheduler_report_room(s, h->now, SMS, 1) == GPUMP_ERROR_ARGUMENT);
    CHECK(gpump_scheduler_set_priority(s, h->now, PROCESSES + 90, 0, 0) == GPUMP_ERROR_ARGUMENT);
    if (h->residents) {
        const host_block *b = &h->resident[below(h, h->residents)];
        name = b->name;
        name.generation++; /* a later generation, then an earlier one */
        CHECK(gpump_scheduler_report_finished(s, h->now, b->sm, name) == GPUMP_ERROR_STALE);
        name.generation -= 2;
        CHECK(gpump_scheduler_report_finished(s, h->now, b->sm, name) == GPUMP_ERROR_STALE);
        if (gpump_scheduler_look(s).sms[b->sm].state == GPUMP_SCHEDULER_SM_RUNNING)
            CHECK(gpump_scheduler_report_preempted(s, h->now, b->sm, b->name, 0) == GPUMP_ERROR_STATE);
        if (h->now)
            CHECK(gpump_scheduler_report_finished(s, gpump_scheduler_look(s).now - 1, b->sm, b->name) ==
                  GPUMP_ERROR_TIME);
    }
    CHECK(gpump_hash(&gpump_scheduler_component, s) == before);
}

static void step(host *h) {
    uint32_t choice = below(h, 100);
    h->events++;
    if (choice < 55 && h->residents) {
        uint32_t i = below(h, h->residents);
        if (h->resident[i].leaving == 1 && below(h, 4))
            preempt(h, i);
        else
            finish(h, i);
    } else if (choice < 80) {
        uint32_t sm = below(h, h->config.sms);
        if (h->setup[sm]) {
            CHECK(gpump_scheduler_report_ready(h->scheduler, h->now, sm) == GPUMP_OK);
            h->setup[sm] = 0;
        } else if (h->config.kernels_per_sm == 2)
            gpump_scheduler_report_room(h->scheduler, h->now, sm, below(h, SLOTS + 1));
    } else if (choice < 86)
        submit(h);
    else if (choice < 88)
        processes(h);
    else
        h->now += below(h, 30);
    if (below(h, 3)) pull(h);
}

/* Lets everything run out without new commands: whatever is left has to end. */
static void run_out(host *h) {
    for (uint32_t round = 0; round < 100000; round++) {
        int busy = 0;
        h->now += 1000;
        pull(h);
        for (uint32_t sm = 0; sm < SMS; sm++)
            if (h->setup[sm]) {
                CHECK(gpump_scheduler_report_ready(h->scheduler, h->now, sm) == GPUMP_OK);
                h->setup[sm] = 0;
            }
        pull(h);
        for (uint32_t i = h->residents; i-- > 0;)
            if (i < h->residents) {
                if (h->resident[i].leaving == 1 && below(h, 2))
                    preempt(h, i);
                else
                    finish(h, i);
            }
        for (uint32_t q = 0; q < QUEUES; q++) busy |= h->busy[q] != 0;
        if (!busy) return;
    }
    for (uint32_t i = 0, n = gpump_scheduler_look(h->scheduler).active_count; i < n; i++) {
        gpump_scheduler_view view = gpump_scheduler_look(h->scheduler);
        const gpump_scheduler_kernel *k = &view.kernels[view.active[i]];
        printf("kernel %u: process %u, %u to issue, %u resident, %u owned, %u setting up, %u reserved\n",
               view.active[i], k->process, (unsigned)gpump_scheduler_to_issue(k), k->resident, k->owned, k->setting_up,
               k->reserved);
    }
    for (uint32_t i = 0; i < h->config.sms; i++) {
        const gpump_scheduler_sm *sm = &gpump_scheduler_look(h->scheduler).sms[i];
        printf("SM %u: state %u flags %u kernel %d next %d blocks %u + %u\n", i, sm->state, sm->flags, (int)sm->kernel,
               (int)sm->next, sm->blocks, sm->next_blocks);
    }
    fail_msg("kernels of %s never end (GPUMP_TEST_SEED=%llu)", h->policy->name, (unsigned long long)h->seed);
}

static void one_host(uint64_t seed, uint64_t events) {
    static host storage;
    host *h = &storage;
    size_t bytes;
    void *memory;
    uint32_t policy;
    memset(h, 0, sizeof *h);
    h->seed = seed;
    h->random = seed;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &h->config, "k20c", NULL), GPUMP_OK);
    h->config.sms = 1 + below(h, SMS);
    h->config.blocks_per_sm = SLOTS;
    h->config.processes = PROCESSES;
    h->config.queues = QUEUES;
    h->config.active_kernels = 1 + below(h, 12);
    h->config.saved_blocks = below(h, 3) ? h->config.sms * SLOTS : below(h, h->config.sms * SLOTS + 1);
    h->config.technique = below(h, 5);
    if (h->config.technique == 4) h->config.technique = GPUMP_TECHNIQUE_SELECT;
    h->config.kernels_per_sm = 1 + (below(h, 3) == 0);
    h->config.decision_cycles = below(h, 20);
    h->config.slice_cycles = 50 + below(h, 500);
    policy = below(h, 10);
    h->policy = policy == 9 ? &random_policy : gpump_scheduler_policy_at(policy);
    h->config.sms = h->config.sms < 2 ? 2 : h->config.sms;
    h->config.saved_blocks =
        h->config.saved_blocks > h->config.sms * SLOTS ? h->config.sms * SLOTS : h->config.saved_blocks;
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &h->config, &bytes, NULL), GPUMP_OK);
    memory = malloc(bytes);
    assert_int_equal(gpump_init(&gpump_scheduler_component, memory, bytes, &h->config, &h->scheduler, NULL), GPUMP_OK);
    for (uint64_t i = 0; h->events < events; i++) {
        step(h);
        if (i % 64 == 0) {
            gpump_diag wrong;
            if (gpump_check(&gpump_scheduler_component, h->scheduler, &wrong))
                fail_msg("%s: %s (GPUMP_TEST_SEED=%llu, event %llu)", h->policy->name, wrong.field,
                         (unsigned long long)seed, (unsigned long long)h->events);
        }
        if (i % 512 == 0) lie(h);
    }
    run_out(h);
    assert_int_equal(gpump_check(&gpump_scheduler_component, h->scheduler, NULL), GPUMP_OK);
    free(memory);
}

/* Random hosts with all policies keep the scheduler's rules, and no kernel is lost. */
static void random_hosts_and_policies(void **state) {
    uint64_t seed = test_seed(), hosts = test_cases(1250);
    (void)state;
    for (uint64_t i = 0; i < hosts; i++) one_host(seed + i, 8000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_hosts_and_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
