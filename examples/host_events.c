/* host_events: a whole host of one SM and its victims, driven by events, in C.
 *
 * One SM of a K20c runs 24 blocks of kernel 1. At cycle 40,000 kernel 2 arrives, and its 4 blocks must start within
 * 5 us. gpump decides which blocks leave and by which technique, moves their contexts through the SM's port (timing
 * PORT), and says when the next thing happens. The host owns time and progress: a running block executes one warp
 * instruction per cycle. docs/hosting.md says where each call belongs in a simulator. */
#define GPUMP_IMPLEMENTATION
#include "gpump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 28, FIRST = 24, LENGTH = 30000, ARRIVAL = 40000 };
enum { WAITING, HERE, RUNS, ENDED };
typedef struct block {
    gpump_block_ref ref;
    gpump_sm_history saved; /* of a block that has left with a context */
    uint64_t left, since;   /* instructions that are left at cycle `since` */
    uint32_t state, kernel, has_context;
} block;

static block blocks[BLOCKS];
static const gpump_footprint need = {256, 256 * 32, 4096}; /* of every block */
static gpump_gpu gpu;
static gpump_sm_config config;
static gpump_sm *sm;
static uint64_t sm_memory[2048];        /* gpump_bytes says how much it takes */
static gpump_cost_history histories[3]; /* by kernel */
static uint64_t now;
static uint32_t ended; /* blocks */
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

/* Time passes for a block: what it has executed since it was looked at last. */
static void progress(block *b) {
    if (b->state != RUNS) return;
    MUST(gpump_sm_report_executed(sm, b->ref, (uint32_t)(now - b->since)));
    b->left -= now - b->since, b->since = now;
    if (b->left) return;
    b->state = HERE;
    MUST(gpump_sm_report_done(sm, now, b->ref));
}

/* Blocks of the kernel that arrived come first; the first one that has no room ends the round. */
static void dispatch(uint32_t kernel) {
    for (uint32_t i = 0; i < BLOCKS; i++) {
        block *b = &blocks[i];
        gpump_sm_request request = {.cookie = i, .kernel = b->kernel, .need = need};
        gpump_result result;
        if (b->kernel != kernel || b->state != WAITING) continue;
        result = gpump_sm_place(sm, now, &request, b->has_context ? &b->saved : NULL, &b->ref, &diag);
        if (result == GPUMP_BUSY) return;
        must("gpump_sm_place", result);
        b->state = b->has_context ? HERE : RUNS; /* with a context it waits for RESUME */
        b->since = now;
    }
}

/* Makes room for `positions` blocks of kernel 2 within 5 us. */
static void make_room(uint32_t positions) {
    gpump_block_view views[64];
    gpump_cost_estimate estimates[64];
    gpump_block_choice choices[64];
    gpump_victim_place places[64];
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_victim_sm view = {views, estimates, 0, 0, 0};
    gpump_victim_decision decision;
    const gpump_victim_question question = {.policy = gpump_victim_find("dual"),
                                            .request = &request,
                                            .geometry = &geometry,
                                            .sms = &view,
                                            .sm_count = 1,
                                            .places = places,
                                            .choices = choices,
                                            .place_capacity = 64,
                                            .choice_capacity = 64};
    MUST(gpump_sm_blocks(sm, now, views, 64, &view.count));
    MUST(gpump_cost_estimate_blocks(&config.port, histories, 3, views, view.count, NULL, NULL, estimates, &diag));
    MUST(gpump_victim_geometry_init(&geometry, &gpu, &need, 49152, &diag));
    MUST(gpump_victim_request_init(&request, 2, positions, now));
    request.limit_cycles = 5 * gpu.clock_khz / 1000; /* 5 us */
    MUST(gpump_victim_decide(&question, &decision, &diag));
    MUST(gpump_sm_preempt(sm, now, choices, decision.choices, &diag));
    for (uint32_t i = 0; i < decision.choices; i++)
        printf("%8" PRIu64 "  block %" PRIu64 " is told to leave, and estimated to be out after %" PRIu64 " cycles\n",
               now, choices[i].cookie, choices[i].latency);
}

/* FREED: the block has left the SM, and waits there unless it has ended. */
static void freed(const gpump_sm_action *a) {
    block *b = &blocks[a->cookie];
    b->state = WAITING;
    b->saved = a->history;
    b->has_context = a->why == GPUMP_BLOCK_SAVED;
    printf("%8" PRIu64 "  block %" PRIu64 " has left%s\n", now, a->cookie, b->has_context ? " with its context" : "");
    if (a->why == GPUMP_BLOCK_FLUSHED) b->left = LENGTH;
    if (a->why != GPUMP_BLOCK_DONE) return;
    b->state = ENDED, ended++;
    gpump_cost_history_record(&histories[b->kernel], a->history.executed, a->history.cycles);
}

/* Does what the SM orders. SAVE and RESTORE need nothing: the port moves the bytes. */
static void obey(void) {
    gpump_sm_action a;
    while (gpump_sm_next(sm, now, &a) == GPUMP_OK) {
        block *b = &blocks[a.cookie];
        progress(b);
        if (a.kind == GPUMP_SM_ACTION_RESUME) b->state = RUNS, b->since = now;
        if (a.kind == GPUMP_SM_ACTION_STOP || a.kind == GPUMP_SM_ACTION_DROP) b->state = HERE;
        if (a.kind == GPUMP_SM_ACTION_STOP) MUST(gpump_sm_report_waits(sm, now, b->ref, 0)); /* nothing is in flight */
        if (a.kind == GPUMP_SM_ACTION_DROP) MUST(gpump_sm_report_dropped(sm, now, b->ref));
        if (a.kind == GPUMP_SM_ACTION_FREED) freed(&a);
    }
}

/* The cycle of the next event: the SM's, the arrival of kernel 2, or the end of a block. */
static uint64_t next_event(void) {
    uint64_t next = gpump_next_cycle(&gpump_sm_component, sm);
    if (now < ARRIVAL && ARRIVAL < next) next = ARRIVAL;
    for (block *b = blocks; b < blocks + BLOCKS; b++)
        if (b->state == RUNS && b->since + b->left < next) next = b->since + b->left;
    return next;
}

int main(void) {
    MUST(gpump_preset(&gpump_gpu_component, &gpu, "k20c", &diag));
    MUST(gpump_preset(&gpump_sm_component, &config, "k20c", &diag));
    config.timing = GPUMP_SM_TIMING_PORT;
    MUST(gpump_init(&gpump_sm_component, sm_memory, sizeof sm_memory, &config, &sm, &diag));
    for (uint32_t i = 0; i < BLOCKS; i++) blocks[i].kernel = i < FIRST ? 1 : 2, blocks[i].left = LENGTH;
    dispatch(1);
    while (ended < BLOCKS) {
        now = next_event();
        for (block *b = blocks; b < blocks + BLOCKS; b++) progress(b);
        if (now == ARRIVAL) make_room(BLOCKS - FIRST);
        obey();
        if (now >= ARRIVAL) dispatch(2);
        dispatch(1);
    }
    printf("%8" PRIu64 "  all %d blocks have ended\n", now, BLOCKS);
    return 0;
}
