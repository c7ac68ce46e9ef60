/* host_cycles: a whole host of one SM and its victims, cycle by cycle, in C.
 *
 * An SM of a K20c runs 24 blocks of kernel 1. At cycle 23,000 kernel 2 arrives and gets the whole SM: every block of
 * kernel 1 leaves within 5 us, by the technique that policy "joint" chooses for the block. The blocks come back when
 * the blocks of kernel 2 have ended.
 *
 * The host owns the pipeline (one instruction of each block per cycle, 20 cycles long) and the memory that carries the
 * contexts (timing HOST). Kernel 1 overwrites nothing that it reads, so its blocks may be flushed; a host that does not
 * know keeps a gpump_read_set per block. `main` goes through the five steps of a cycle; docs/hosting.md says where each
 * call belongs in a simulator. */
#define GPUMP_IMPLEMENTATION
#include "gpump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 32, FIRST = 24, ARRIVAL = 23000, PIPELINE = 20, BYTES_PER_CYCLE = 16 };
enum { WAITING, HERE, ENDED };
typedef struct block {
    gpump_block_ref ref;
    gpump_sm_history saved;                     /* of a block that has left with a context */
    uint64_t left;                              /* instructions that are not issued */
    uint64_t commits;                           /* cycle at which its last instruction commits */
    uint64_t moved;                             /* cycle at which memory has carried its context */
    uint32_t state, kernel, has_context, order; /* order: the SM's action that the block carries out; 0: none */
} block;

static block blocks[BLOCKS];
static const gpump_footprint need = {256, 256 * 32, 4096}; /* of every block */
static gpump_gpu gpu;
static gpump_sm_config config;
static gpump_sm *sm;
static uint64_t sm_memory[2048];        /* gpump_bytes says how much an SM takes */
static gpump_cost_history histories[3]; /* by kernel */
static uint64_t now, memory_free;       /* memory_free: the cycle at which memory has carried all contexts */
static uint32_t ended[3];               /* blocks, by kernel */
static gpump_diag diag;

static uint64_t length_of(uint64_t index) { return 12000 + 400 * index; } /* in warp instructions */

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

/* Step 1: memory reports the contexts that it has carried. */
static void report_moved(block *b) {
    if (now < b->moved || (b->order != GPUMP_SM_ACTION_SAVE && b->order != GPUMP_SM_ACTION_RESTORE)) return;
    if (b->order == GPUMP_SM_ACTION_SAVE)
        MUST(gpump_sm_report_saved(sm, now, b->ref));
    else
        MUST(gpump_sm_report_restored(sm, now, b->ref));
    b->order = 0;
}

/* Step 2: blocks of `kernel` that wait are placed; the first one that has no room ends the round. */
static void dispatch(uint32_t kernel) {
    for (uint32_t i = 0; i < BLOCKS; i++) {
        block *b = &blocks[i];
        gpump_sm_request request = {.cookie = i, .kernel = b->kernel, .need = need};
        gpump_result result;
        if (b->kernel != kernel || b->state != WAITING) continue;
        result = gpump_sm_place(sm, now, &request, b->has_context ? &b->saved : NULL, &b->ref, &diag);
        if (result == GPUMP_BUSY) return;
        must("gpump_sm_place", result);
        b->state = HERE;
    }
}

/* Step 3: an instruction of the block issues. */
static void issue(block *b) {
    if (!b->left || !gpump_sm_may_issue(sm, b->ref.slot)) return;
    MUST(gpump_sm_report_executed(sm, b->ref, 1));
    b->left--;
    b->commits = now + PIPELINE;
}

/* Step 4: nothing of the block is in flight any more. Its end comes first: it wins over STOP and DROP. */
static void write_back(block *b) {
    if (now < b->commits || b->order == GPUMP_SM_ACTION_SAVE || b->order == GPUMP_SM_ACTION_RESTORE) return;
    if (!b->left) {
        MUST(gpump_sm_report_done(sm, now, b->ref));
        b->state = ENDED, ended[b->kernel]++;
    } else if (b->order == GPUMP_SM_ACTION_STOP)
        MUST(gpump_sm_report_waits(sm, now, b->ref, 0));
    else if (b->order == GPUMP_SM_ACTION_DROP)
        MUST(gpump_sm_report_dropped(sm, now, b->ref));
    b->order = 0;
}

/* FREED: the block has left the SM, and waits there unless it has ended. */
static void freed(const gpump_sm_action *a) {
    block *b = &blocks[a->cookie];
    b->saved = a->history;
    b->has_context = a->why == GPUMP_BLOCK_SAVED;
    printf("%8" PRIu64 "  block %" PRIu64 " has left%s\n", now, a->cookie, b->has_context ? " with its context" : "");
    if (a->why == GPUMP_BLOCK_FLUSHED) b->left = length_of(a->cookie);
    b->state = a->why == GPUMP_BLOCK_DONE ? ENDED : WAITING;
    if (a->why == GPUMP_BLOCK_DONE)
        gpump_cost_history_record(&histories[b->kernel], a->history.executed, a->history.cycles);
}

/* Step 5: the block takes the SM's order. Memory carries one context after the other. */
static void obey(void) {
    for (gpump_sm_action a; gpump_sm_has_action(sm, now) && gpump_sm_next(sm, now, &a) == GPUMP_OK;) {
        blocks[a.cookie].order = a.kind == GPUMP_SM_ACTION_FREED ? 0 : a.kind;
        if (a.kind == GPUMP_SM_ACTION_SAVE || a.kind == GPUMP_SM_ACTION_RESTORE)
            memory_free = blocks[a.cookie].moved = (now > memory_free ? now : memory_free) + a.bytes / BYTES_PER_CYCLE;
        if (a.kind == GPUMP_SM_ACTION_FREED) freed(&a);
    }
}

/* Every block of other kernels leaves the SM for `kernel` within 5 us. */
static void vacate(uint32_t kernel) {
    const gpump_victim_policy *policy = gpump_victim_find("joint");
    gpump_block_view views[64];
    gpump_cost_estimate estimates[64];
    gpump_block_choice choices[64];
    gpump_victim_request request;
    gpump_victim_sm view = {views, estimates, 0, 0, 0};
    gpump_victim_decision decision;
    const gpump_victim_question question = {.ask = GPUMP_VICTIM_ASK_VACATE,
                                            .policy = policy,
                                            .request = &request,
                                            .sms = &view,
                                            .sm_count = 1,
                                            .choices = choices,
                                            .choice_capacity = 64};
    MUST(gpump_sm_blocks(sm, now, views, 64, &view.count));
    MUST(gpump_cost_estimate_blocks(&config.port, histories, 3, views, view.count, NULL, &policy->cost, estimates,
                                    &diag));
    MUST(gpump_victim_request_init(&request, kernel, 1, now));
    request.limit_cycles = 5 * gpu.clock_khz / 1000; /* 5 us */
    MUST(gpump_victim_decide(&question, &decision, &diag));
    MUST(gpump_sm_preempt(sm, now, choices, decision.choices, &diag));
}

int main(void) {
    MUST(gpump_preset(&gpump_gpu_component, &gpu, "k20c", &diag));
    MUST(gpump_preset(&gpump_sm_component, &config, "k20c", &diag));
    config.waits = GPUMP_SM_WAIT_PIPELINE; /* what this host can report */
    MUST(gpump_init(&gpump_sm_component, sm_memory, sizeof sm_memory, &config, &sm, &diag));
    for (uint32_t i = 0; i < BLOCKS; i++) blocks[i].kernel = i < FIRST ? 1 : 2, blocks[i].left = length_of(i);
    for (now = 0; ended[1] + ended[2] < BLOCKS; now++) {
        if (now == ARRIVAL) vacate(2);
        for (block *b = blocks; b < blocks + BLOCKS; b++) report_moved(b);
        dispatch(now >= ARRIVAL && ended[2] < BLOCKS - FIRST ? 2 : 1);
        for (block *b = blocks; b < blocks + BLOCKS; b++)
            if (b->state == HERE) issue(b), write_back(b);
        obey();
    }
    printf("%8" PRIu64 "  all %d blocks have ended\n", now, BLOCKS);
    return 0;
}
