/* The scheduler under a steady stream of block events: each operation reports a finished block and pulls the actions
 * that follow. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "micro.h"
#include "policies.h"

/* A block on the machine. */
typedef struct resident {
    uint32_t sm;
    gpump_block_ref block;
} resident;

typedef struct machine {
    gpump_scheduler *scheduler;
    const gpump_scheduler_policy *policy;
    resident *resident;
    uint32_t residents, kernels;
    uint64_t now, random, saved_handles;
} machine;

/* Carries out every action at once. Returns the number of actions. */
static uint64_t pull(machine *m) {
    gpump_scheduler_action a;
    gpump_scheduler_command command;
    uint64_t count = 0;
    for (;; count++) {
        gpump_result result = gpump_scheduler_next(m->scheduler, m->policy, m->now, &a);
        if (result != GPUMP_OK) return count;
        if (a.kind == GPUMP_SCHEDULER_ISSUE)
            m->resident[m->residents].sm = a.sm, m->resident[m->residents++].block = a.block;
        else if (a.kind == GPUMP_SCHEDULER_SETUP)
            (void)gpump_scheduler_report_ready(m->scheduler, m->now, a.sm);
        else if (a.kind == GPUMP_SCHEDULER_KERNEL_DONE) { /* the process launches its next kernel */
            memset(&command, 0, sizeof command);
            command.process = a.queue;
            command.blocks = 2000;
            command.blocks_per_sm = 8;
            command.saved_limit = UINT32_MAX;
            (void)gpump_scheduler_submit(m->scheduler, m->now, a.queue, &command, NULL);
        }
    }
}

static void *setup(uint32_t sms, uint32_t kernels, uint64_t blocks, const gpump_scheduler_policy *policy) {
    machine *m = (machine *)calloc(1, sizeof *m);
    gpump_scheduler_config config;
    gpump_scheduler_process process;
    gpump_scheduler_command command;
    size_t bytes;
    void *memory;
    uint32_t row;
    if (!m || gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL)) return NULL;
    config.sms = sms;
    config.saved_blocks = sms * config.blocks_per_sm;
    config.processes = config.queues = config.active_kernels = kernels;
    config.technique = GPUMP_TECHNIQUE_DRAIN;
    config.decision_cycles = 1;
    if (gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL) || !(memory = malloc(bytes)) ||
        gpump_init(&gpump_scheduler_component, memory, bytes, &config, &m->scheduler, NULL))
        return NULL;
    m->policy = policy;
    m->resident = (resident *)calloc((size_t)sms * config.blocks_per_sm, sizeof *m->resident);
    m->random = 1;
    m->kernels = kernels;
    memset(&process, 0, sizeof process);
    memset(&command, 0, sizeof command);
    for (uint32_t i = 0; i < kernels; i++) {
        if (gpump_scheduler_open(m->scheduler, 0, &process, &row, NULL)) return NULL;
        command.process = row;
        command.blocks = blocks;
        command.blocks_per_sm = 8;
        command.saved_limit = UINT32_MAX;
        if (gpump_scheduler_submit(m->scheduler, 0, i, &command, NULL)) return NULL;
    }
    for (int i = 0; i < 8; i++, m->now++) pull(m);
    return m;
}
static void teardown(void *state) {
    machine *m = (machine *)state;
    free(m->scheduler);
    free(m->resident);
    free(m);
}

/* Kernels do not end: an event is a block that finishes and the block that replaces it. */
static void *setup_sms(uint64_t sms) {
    return setup((uint32_t)sms, 4, GPUMP_SCHEDULER_MAX_BLOCKS, gpump_scheduler_find("equal"));
}
/* Kernels of 2000 blocks end, and DSS divides the SMs again. */
static void *setup_sms_ending(uint64_t sms) { return setup((uint32_t)sms, 8, 2000, gpump_scheduler_find("equal")); }
static void *setup_kernels(uint64_t kernels) {
    return setup(256, (uint32_t)kernels, 2000, gpump_scheduler_find("equal"));
}

/* As setup_sms_ending, under the policy that the frame measures. */
static void *setup_subject(uint64_t sms) { return setup((uint32_t)sms, 8, 2000, policies_scheduler_at(micro_subject)); }

static uint64_t run(void *state, uint64_t operations) {
    machine *m = (machine *)state;
    uint64_t actions = 0;
    for (uint64_t i = 0; i < operations; i++) {
        uint32_t at;
        while (!m->residents) {
            m->now++;
            actions += pull(m);
        }
        at = gpump_random_below(&m->random, m->residents);
        m->now++;
        (void)gpump_scheduler_report_finished(m->scheduler, m->now, m->resident[at].sm, m->resident[at].block);
        m->resident[at] = m->resident[--m->residents];
        actions += pull(m);
    }
    return actions;
}

static const uint64_t sms[] = {13, 64, 256, 1024, 0};
static const uint64_t kernels[] = {2, 8, 32, 128, 256, 0};

const micro_case micro_scheduler[] = {
    {"scheduler_block_event", "one block ends, the next is issued; n SMs, 4 endless kernels", NULL, sms, setup_sms, run,
     NULL, teardown},
    {"scheduler_dss", "the same with kernels of 2000 blocks that end under DSS; n SMs, 8 kernels", NULL, sms,
     setup_sms_ending, run, NULL, teardown},
    {"scheduler_dss_kernels", "the same; 256 SMs, n kernels", NULL, kernels, setup_kernels, run, NULL, teardown},
    {"scheduler_{scheduler}_event", "one block ends, kernels of 2000 blocks; n SMs, 8 kernels", NULL, sms,
     setup_subject, run, NULL, teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
