/* host_schedule: a scheduler with the SMs that it gives to kernels, driven by events, in C.
 *
 * Two SMs of a K20c and two processes. Process 0 runs a kernel of 40 blocks. At cycle 20,000 process 1, of higher
 * priority, submits a kernel of 12 blocks. Policy "ppq" takes the SMs that the kernel needs, its blocks run, and the
 * blocks that were switched out come back. gpump_scheduler decides which kernel gets which SM and which block starts.
 * Each gpump_sm carries its blocks out and in (timing PORT). The host owns time and progress, and passes facts from one
 * to the other: step 9 of docs/hosting.md is the table behind `obey_scheduler` and `obey_sm`. */
#define GPUMP_IMPLEMENTATION
#include "gpump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMS = 2, LOW = 40, HIGH = 12, BLOCKS = LOW + HIGH, LENGTH = 15000, ARRIVAL = 20000, PER_SM = 8 };
enum { AWAY, HERE, RUNS };
typedef struct block {                     /* its index is the cookie of the SM and the handle of the scheduler */
    gpump_block_ref scheduler_ref, sm_ref; /* the scheduler and the SM name a block each in its own way */
    gpump_sm_history saved;                /* of a block that has left with a context */
    uint64_t left, since;                  /* instructions that are left at cycle `since` */
    uint32_t state, sm, kernel;
} block;

static block blocks[BLOCKS];
static gpump_sm *sms[SMS];
static gpump_scheduler *scheduler;
static uint64_t now;
static gpump_diag diag;

/* Ends the program when a call fails, with the call and its diagnostic. */
#define MUST(call) must(#call, call)
static void must(const char *call, gpump_result result) {
    char text[256];
    if (result == GPUMP_OK) return;
    diag.code = result;
    gpump_diag_text(&diag, text, sizeof text);
    fprintf(stderr, "%s: %s\n", call, text);
    exit(1);
}

/* A process asks for a kernel. The cookie of the launch is the index of its first block. */
static void submit(uint32_t process, uint64_t first, uint64_t count) {
    const gpump_scheduler_command command = {first, count, process, PER_SM, (uint32_t)count, 0};
    MUST(gpump_scheduler_submit(scheduler, now, process, &command, &diag));
}

/* ISSUE: the block starts, or comes back with its history. */
static void place(const gpump_scheduler_action *a) {
    const uint64_t index = a->saved ? a->handle : a->kernel_cookie + a->index;
    const gpump_sm_request request = {.cookie = index, .kernel = a->kernel, .need = {256, 256 * 32, 4096}};
    block *b = &blocks[index];
    MUST(gpump_sm_place(sms[a->sm], now, &request, a->saved ? &b->saved : NULL, &b->sm_ref, &diag));
    b->scheduler_ref = a->block;
    b->sm = a->sm;
    b->kernel = a->kernel;
    b->since = now;
    b->state = a->saved ? HERE : RUNS; /* with a context it waits for RESUME */
}

/* PREEMPT: all blocks of the kernel leave the SM. */
static void preempt(const gpump_scheduler_action *a) {
    gpump_block_choice choices[64];
    uint32_t count = 0;
    memset(choices, 0, sizeof choices);
    for (uint32_t i = 0; i < BLOCKS; i++)
        if (blocks[i].state != AWAY && blocks[i].sm == a->sm && blocks[i].kernel == a->kernel) {
            choices[count].block = blocks[i].sm_ref;
            choices[count++].technique = a->technique;
        }
    MUST(gpump_sm_preempt(sms[a->sm], now, choices, count, &diag));
    printf("%8" PRIu64 "  SM %" PRIu32 ": %" PRIu32 " blocks are told to leave by %s\n", now, a->sm, count,
           gpump_technique_at(a->technique)->name);
}

static uint32_t obey_scheduler(void) {
    uint32_t ended = 0;
    gpump_scheduler_action a;
    while (gpump_scheduler_next(scheduler, gpump_scheduler_find("ppq"), now, &a) == GPUMP_OK) {
        if (a.kind == GPUMP_SCHEDULER_SETUP) /* this host has no page tables and no TLBs to set up */
            MUST(gpump_scheduler_report_ready(scheduler, now, a.sm));
        if (a.kind == GPUMP_SCHEDULER_ISSUE) place(&a);
        if (a.kind == GPUMP_SCHEDULER_PREEMPT) preempt(&a);
        if (a.kind != GPUMP_SCHEDULER_KERNEL_DONE) continue;
        ended++;
        printf("%8" PRIu64 "  the kernel of process %" PRIu32 " has ended\n", now, a.process);
    }
    return ended;
}

/* Time passes for a block: what it has executed since it was looked at last. */
static void progress(block *b) {
    if (b->state != RUNS) return;
    MUST(gpump_sm_report_executed(sms[b->sm], b->sm_ref, (uint32_t)(now - b->since)));
    b->left -= now - b->since;
    b->since = now;
    if (b->left) return;
    b->state = HERE;
    MUST(gpump_sm_report_done(sms[b->sm], now, b->sm_ref));
}

/* FREED: the block has left the SM, and the scheduler hears how. */
static void freed(const gpump_sm_action *a) {
    block *b = &blocks[a->cookie];
    b->state = AWAY;
    b->saved = a->history;
    if (a->why == GPUMP_BLOCK_FLUSHED) b->left = LENGTH;
    if (a->why == GPUMP_BLOCK_DONE)
        MUST(gpump_scheduler_report_finished(scheduler, now, b->sm, b->scheduler_ref));
    else
        MUST(gpump_scheduler_report_preempted(scheduler, now, b->sm, b->scheduler_ref, a->cookie));
}

static void obey_sm(gpump_sm *sm) {
    gpump_sm_action a;
    while (gpump_sm_next(sm, now, &a) == GPUMP_OK) { /* SAVE and RESTORE: the port moves the bytes */
        block *b = &blocks[a.cookie];
        if (a.kind == GPUMP_SM_ACTION_RESUME) b->state = RUNS, b->since = now;
        if (a.kind == GPUMP_SM_ACTION_STOP) {
            b->state = HERE; /* nothing of it is in flight */
            MUST(gpump_sm_report_waits(sm, now, b->sm_ref, 0));
        }
        if (a.kind == GPUMP_SM_ACTION_FREED) freed(&a);
    }
}

static uint64_t next_event(void) {
    uint64_t next = gpump_next_cycle(&gpump_scheduler_component, scheduler);
    if (now < ARRIVAL && ARRIVAL < next) next = ARRIVAL;
    for (uint32_t i = 0; i < SMS; i++)
        if (gpump_next_cycle(&gpump_sm_component, sms[i]) < next) next = gpump_next_cycle(&gpump_sm_component, sms[i]);
    for (uint32_t i = 0; i < BLOCKS; i++)
        if (blocks[i].state == RUNS && blocks[i].since + blocks[i].left < next) next = blocks[i].since + blocks[i].left;
    return next;
}

static void make(void) {
    static uint64_t sm_memory[SMS][2048], scheduler_memory[2048];
    gpump_scheduler_config scheduler_config;
    gpump_sm_config config;
    MUST(gpump_preset(&gpump_sm_component, &config, "k20c", &diag));
    config.timing = GPUMP_SM_TIMING_PORT;
    for (uint32_t i = 0; i < SMS; i++)
        MUST(gpump_init(&gpump_sm_component, sm_memory[i], sizeof sm_memory[i], &config, &sms[i], &diag));
    MUST(gpump_preset(&gpump_scheduler_component, &scheduler_config, "k20c", &diag));
    scheduler_config.sms = SMS;
    scheduler_config.saved_blocks = SMS * scheduler_config.blocks_per_sm;
    scheduler_config.processes = scheduler_config.queues = 2;
    MUST(gpump_init(&gpump_scheduler_component, scheduler_memory, sizeof scheduler_memory, &scheduler_config,
                    &scheduler, &diag));
}

int main(void) {
    uint32_t row, ended = 0;
    make();
    for (uint32_t i = 0; i < BLOCKS; i++) blocks[i].left = LENGTH;
    for (uint32_t i = 0; i < 2; i++) {
        const gpump_scheduler_process process = {i, 0, i, 1}; /* process 1 has the higher priority */
        MUST(gpump_scheduler_open(scheduler, now, &process, &row, &diag));
    }
    submit(0, 0, LOW);
    while (ended < 2) {
        now = next_event();
        if (now == ARRIVAL) submit(1, LOW, HIGH);
        for (uint32_t i = 0; i < BLOCKS; i++) progress(&blocks[i]);
        for (uint32_t i = 0; i < SMS; i++) obey_sm(sms[i]);
        ended += obey_scheduler();
    }
    return 0;
}
