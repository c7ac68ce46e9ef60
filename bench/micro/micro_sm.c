/* The SM with n blocks: questions, facts, a block's whole life, and a switch out and back. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "micro.h"

typedef struct machine {
    gpump_sm *sm;
    uint64_t now;
    uint32_t blocks;
    gpump_block_ref refs[64];
    gpump_sm_request request;
} machine;

static const uint64_t sizes[] = {4, 16, 64, 0};

static void *setup(uint64_t size) {
    machine *m = (machine *)calloc(1, sizeof *m);
    gpump_sm_config config;
    size_t bytes;
    void *memory;
    if (!m || gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL) != GPUMP_OK) return NULL;
    config.block_slots = config.entries = (uint32_t)size;
    config.warp_slots = (uint32_t)size;
    config.thread_slots = (uint32_t)size * 32;
    config.registers = (uint32_t)size * 1024;
    config.shared_bytes = (uint32_t)size * 256;
    config.waits = 0;
    if (gpump_bytes(&gpump_sm_component, &config, &bytes, NULL) != GPUMP_OK) return NULL;
    memory = malloc(bytes);
    if (!memory || gpump_init(&gpump_sm_component, memory, bytes, &config, &m->sm, NULL) != GPUMP_OK) return NULL;
    m->request.kernel = 1;
    m->request.need.threads = 32;
    m->request.need.registers = 1024;
    m->request.need.shared_bytes = 256;
    for (m->blocks = 0; m->blocks < size; m->blocks++)
        if (gpump_sm_place(m->sm, 0, &m->request, NULL, &m->refs[m->blocks], NULL) != GPUMP_OK) return NULL;
    return m;
}
static void teardown(void *state) {
    machine *m = (machine *)state;
    free(m->sm);
    free(m);
}

/* Makes the compiler forget memory: in a host other work happens between two questions. */
#define FORGET() __asm__ __volatile__("" ::: "memory")

static uint64_t run_may_issue(void *state, uint64_t operations) {
    const machine *m = (const machine *)state;
    uint64_t yes = 0;
    for (uint64_t i = 0; i < operations; i++) {
        yes += (uint64_t)gpump_sm_may_issue(m->sm, (uint32_t)i % m->blocks);
        FORGET();
    }
    return yes;
}
/* The loop around a question, without the question: bench/instructions.sh subtracts it from the other rows. */
static uint64_t run_nothing(void *state, uint64_t operations) {
    const machine *m = (const machine *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        sum += (uint32_t)i % m->blocks;
        FORGET();
    }
    return sum;
}
static uint64_t run_executed(void *state, uint64_t operations) {
    machine *m = (machine *)state;
    uint64_t good = 0;
    for (uint64_t i = 0; i < operations; i++) {
        good += gpump_sm_report_executed(m->sm, m->refs[(uint32_t)i % m->blocks], 1) == GPUMP_OK;
        FORGET();
    }
    return good;
}
static uint64_t run_view(void *state, uint64_t operations) {
    machine *m = (machine *)state;
    gpump_block_view views[64];
    uint64_t sum = 0;
    uint32_t count;
    for (uint64_t i = 0; i < operations; i++) {
        count = 0;
        if (gpump_sm_blocks(m->sm, m->now, views, 64, &count) == GPUMP_OK) sum += views[i % count].cookie + count;
    }
    return sum;
}
/* The check of these views, which a host that fills views itself may leave on. */
static uint64_t run_check(void *state, uint64_t operations) {
    const machine *m = (const machine *)state;
    gpump_block_view views[64];
    uint64_t good = 0;
    uint32_t count = 0;
    if (gpump_sm_blocks(m->sm, m->now, views, 64, &count) != GPUMP_OK) return 0;
    for (uint64_t i = 0; i < operations; i++) {
        views[i % count].executed = i;
        good += gpump_block_view_check(views, count, NULL) == GPUMP_OK;
    }
    return good;
}
/* The question of every cycle without an event. */
static uint64_t run_empty_pull(void *state, uint64_t operations) {
    const machine *m = (const machine *)state;
    uint64_t none = 0;
    for (uint64_t i = 0; i < operations; i++) {
        none += !gpump_sm_has_action(m->sm, m->now + (uint32_t)i % m->blocks);
        FORGET();
    }
    return none;
}
/* The last block ends, its room is handed over, and a new block takes it. */
static uint64_t run_life(void *state, uint64_t operations) {
    machine *m = (machine *)state;
    gpump_sm_action action;
    uint64_t good = 0;
    for (uint64_t i = 0; i < operations; i++) {
        gpump_block_ref *ref = &m->refs[i % m->blocks];
        m->now++;
        good += gpump_sm_report_done(m->sm, m->now, *ref) == GPUMP_OK &&
                gpump_sm_next(m->sm, m->now, &action) == GPUMP_OK &&
                gpump_sm_place(m->sm, m->now, &m->request, NULL, ref, NULL) == GPUMP_OK;
    }
    return good;
}
/* A block is preempted, stopped, saved, freed, placed again and restored: five actions. */
static uint64_t run_switch(void *state, uint64_t operations) {
    machine *m = (machine *)state;
    gpump_sm_action action;
    uint64_t good = 0;
    for (uint64_t i = 0; i < operations; i++) {
        gpump_block_ref *ref = &m->refs[i % m->blocks];
        gpump_block_choice choice;
        uint64_t restored = 0;
        memset(&choice, 0, sizeof choice);
        choice.block = *ref;
        choice.technique = GPUMP_TECHNIQUE_SWITCH;
        m->now++;
        if (gpump_sm_preempt(m->sm, m->now, &choice, 1, NULL) != GPUMP_OK) return 0;
        while (!restored && gpump_sm_next(m->sm, m->now, &action) == GPUMP_OK) switch (action.kind) {
            case GPUMP_SM_ACTION_SAVE: (void)gpump_sm_report_saved(m->sm, m->now, *ref); break;
            case GPUMP_SM_ACTION_FREED:
                (void)gpump_sm_place(m->sm, m->now, &m->request, &action.history, ref, NULL);
                break;
            case GPUMP_SM_ACTION_RESTORE: restored = gpump_sm_report_restored(m->sm, m->now, *ref) == GPUMP_OK; break;
            default: break;
            }
        good += restored;
    }
    return good;
}

const micro_case micro_sm[] = {
    {"sm_may_issue", "may a warp of this slot issue, n blocks resident", NULL, sizes, setup, run_may_issue, NULL,
     teardown},
    {"sm_nothing", "the loop around these questions, with nothing in it", NULL, sizes, setup, run_nothing, NULL,
     teardown},
    {"sm_report_executed", "one fact, n blocks resident", NULL, sizes, setup, run_executed, NULL, teardown},
    {"sm_blocks", "the view of all n blocks", NULL, sizes, setup, run_view, NULL, teardown},
    {"sm_view_check", "the check of the view of all n blocks", NULL, sizes, setup, run_check, NULL, teardown},
    {"sm_empty_pull", "is there anything to pull? no", NULL, sizes, setup, run_empty_pull, NULL, teardown},
    {"sm_life", "a block ends, is freed, another is placed, n blocks resident", NULL, sizes, setup, run_life, NULL,
     teardown},
    {"sm_switch", "a block is switched out and comes back, n blocks resident", NULL, sizes, setup, run_switch, NULL,
     teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
