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
static gpump_sm *sm;
static uint64_t sm_memory[2048];        /* gpump_bytes says how much it takes */
static gpump_cost_history histories[3]; /* by kernel */
static uint64_t now;

static gpump_diag diag;

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
    must("gpump_sm_report_executed", gpump_sm_report_executed(sm, b->ref, (uint32_t)(now - b->since)));
    b->left -= now - b->since;
    b->since = now;
}

/* Blocks of the kernel that arrived come first; the first one that has no room ends the round. */
static void dispatch(uint32_t kernel) {
    for (uint32_t i = 0; i < BLOCKS; i++) {
        block *b = &blocks[i];
        gpump_sm_request request = {i, b->kernel, 0, need, 0, 0, 0};
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
    const gpump_port port = gpump_gpu_port(&gpu);
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
    must("gpump_sm_blocks", gpump_sm_blocks(sm, now, views, 64, &view.count));
    must("gpump_cost_estimate_blocks",
         gpump_cost_estimate_blocks(&port, histories, 3, views, view.count, NULL, NULL, estimates, &diag));
    must("gpump_victim_geometry_init", gpump_victim_geometry_init(&geometry, &gpu, &need, 49152, &diag));
    must("gpump_victim_request_init", gpump_victim_request_init(&request, 2, positions, now));
    request.limit_cycles = 5 * gpu.clock_khz / 1000; /* 5 us */
    must("gpump_victim_decide", gpump_victim_decide(&question, &decision, &diag));
    must("gpump_sm_preempt", gpump_sm_preempt(sm, now, choices, decision.choices, &diag));
    for (uint32_t i = 0; i < decision.choices; i++)
        printf("%8" PRIu64 "  block %" PRIu64 " is told to leave, and estimated to be out after %" PRIu64 " cycles\n",
               now, choices[i].cookie, choices[i].latency);
}

/* Does what the SM orders, and takes back what it has freed. */
static void obey(void) {
    gpump_sm_action a;
    while (gpump_sm_next(sm, now, &a) == GPUMP_OK) {
        block *b = &blocks[a.cookie];
        progress(b);
        switch (a.kind) { /* SAVE and RESTORE: the port moves the bytes */
        case GPUMP_SM_ACTION_RESUME: b->state = RUNS, b->since = now; break;
        case GPUMP_SM_ACTION_STOP:
            b->state = HERE; /* nothing of it is in flight */
            must("gpump_sm_report_waits", gpump_sm_report_waits(sm, now, b->ref, 0));
            break;
        case GPUMP_SM_ACTION_DROP:
            b->state = HERE;
            must("gpump_sm_report_dropped", gpump_sm_report_dropped(sm, now, b->ref));
            break;
        case GPUMP_SM_ACTION_FREED:
            b->state = a.why == GPUMP_BLOCK_DONE ? ENDED : WAITING;
            b->has_context = a.why == GPUMP_BLOCK_SAVED;
            printf("%8" PRIu64 "  block %" PRIu64 " has left%s\n", now, a.cookie,
                   a.why == GPUMP_BLOCK_SAVED ? " with its context" : "");
            b->saved = a.history;
            if (a.why == GPUMP_BLOCK_FLUSHED) b->left = LENGTH;
            if (b->state == ENDED)
                gpump_cost_history_record(&histories[b->kernel], a.history.executed, a.history.cycles);
            break;
        }
    }
}

int main(void) {
    gpump_sm_config config;
    uint32_t ended = 0, arrived = 0;
    must("gpump_preset", gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL));
    must("gpump_preset", gpump_preset(&gpump_sm_component, &config, "k20c", NULL));
    config.timing = GPUMP_SM_TIMING_PORT;
    must("gpump_init", gpump_init(&gpump_sm_component, sm_memory, sizeof sm_memory, &config, &sm, &diag));
    for (uint32_t i = 0; i < BLOCKS; i++) blocks[i].kernel = i < FIRST ? 1 : 2, blocks[i].left = LENGTH;
    dispatch(1);
    while (ended < BLOCKS) {
        uint64_t next = gpump_sm_next_cycle(sm);
        if (!arrived && ARRIVAL < next) next = ARRIVAL;
        for (uint32_t i = 0; i < BLOCKS; i++)
            if (blocks[i].state == RUNS && blocks[i].since + blocks[i].left < next)
                next = blocks[i].since + blocks[i].left;
        now = next;
        for (uint32_t i = 0; i < BLOCKS; i++) {
            progress(&blocks[i]);
            if (blocks[i].state == RUNS && !blocks[i].left) {
                blocks[i].state = HERE, ended++;
                must("gpump_sm_report_done", gpump_sm_report_done(sm, now, blocks[i].ref));
            }
        }
        if (!arrived && now == ARRIVAL) arrived = 1, make_room(BLOCKS - FIRST);
        obey();
        if (arrived) dispatch(2);
        dispatch(1);
    }
    printf("%8" PRIu64 "  all %d blocks have ended\n", now, BLOCKS);
    return 0;
}
