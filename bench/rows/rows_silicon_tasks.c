/* Row M.gcaps.mort: the longest response times of seven periodic tasks that share one GPU, under time slices, under
 * priorities with preemption (GCAPS), and in the order of requests (FMLP+). A job computes half of its processor time,
 * has its GPU time, and computes the rest. Every task has a processor core, so what tasks lose to each other there, and
 * the difference between waiting busily and being suspended, is left out. A cycle is a microsecond, the GPU is one SM,
 * and a context switch costs what the rows M.gcaps.theta that may set parameters say. */
#include <stdlib.h>
#include <string.h>
#include "gpump.h"
#include "reproduce.h"

enum { TASKS = 7, SECONDS_US = 30000000 };
typedef enum phase { WAITS, BEFORE, ON_GPU, AFTER } phase;
typedef struct task {
    uint64_t cpu_us, gpu_us, period_us;
    uint64_t released, due; /* of the present job; when its processor phase ends, or the next job is released */
    uint64_t rest, longest;
    phase phase;
} task;
typedef struct board {
    gpump_scheduler *scheduler;
    const gpump_scheduler_policy *policy;
    task tasks[TASKS];
    uint64_t now, end; /* end: when the kernel on the SM ends; GPUMP_UNKNOWN: none is there */
    uint32_t running;  /* its task */
    gpump_block_ref block;
    void *memory;
} board;

static uint64_t fitted_us(const reproduce_context *context, int number, char field) {
    char row[56];
    snprintf(row, sizeof row, "M.gcaps.task%d.%c", number, field);
    return (uint64_t)(1000 * reproduce_fitted(context, row) + 0.5);
}

/* Makes the tasks and a scheduler of one SM with a block. Returns 0, or -1. */
static int make(const reproduce_context *context, board *b, const char *policy, double switch_us) {
    gpump_scheduler_config config;
    size_t bytes;
    memset(b, 0, sizeof *b);
    gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL);
    config.sms = config.blocks_per_sm = 1;
    config.saved_blocks = 1;
    config.active_kernels = TASKS;
    config.decision_cycles = 0;
    config.slice_cycles = (uint32_t)reproduce_fitted(context, "M.gcaps.slice");
    config.command_least_cycles = config.command_mean_cycles = (uint32_t)switch_us;
    b->policy = gpump_scheduler_find(policy);
    b->end = GPUMP_UNKNOWN;
    if (gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL) != GPUMP_OK || !(b->memory = malloc(bytes)) ||
        gpump_init(&gpump_scheduler_component, b->memory, bytes, &config, &b->scheduler, NULL) != GPUMP_OK)
        return -1;
    for (int i = 0; i < TASKS; i++) {
        task *t = &b->tasks[i];
        gpump_scheduler_process process;
        uint32_t row;
        memset(&process, 0, sizeof process);
        process.priority = i < 5 ? 10u - (uint32_t)i : 0; /* the last two have none */
        t->cpu_us = fitted_us(context, i + 1, 'C');
        t->gpu_us = fitted_us(context, i + 1, 'G');
        t->period_us = fitted_us(context, i + 1, 'T');
        if (!t->period_us || gpump_scheduler_open(b->scheduler, 0, &process, &row, NULL) != GPUMP_OK) return -1;
    }
    return 0;
}

/* Ends a task's processor phase, or releases its next job. */
static void advance(board *b, uint32_t number) {
    task *t = &b->tasks[number];
    gpump_scheduler_command command;
    if (t->phase == WAITS) {
        t->phase = BEFORE;
        t->due = b->now + t->cpu_us / 2;
    } else if (t->phase == BEFORE && t->gpu_us) {
        t->phase = ON_GPU;
        t->due = GPUMP_UNKNOWN;
        t->rest = t->gpu_us;
        memset(&command, 0, sizeof command);
        command.process = number;
        command.blocks = command.blocks_per_sm = 1;
        command.saved_limit = 1;
        (void)gpump_scheduler_submit(b->scheduler, b->now, number, &command, NULL);
    } else if (t->phase != AFTER) {
        t->phase = AFTER;
        t->due = b->now + t->cpu_us - t->cpu_us / 2;
    } else {
        if (b->now - t->released > t->longest) t->longest = b->now - t->released;
        t->released += t->period_us;
        t->phase = WAITS;
        t->due = t->released > b->now ? t->released : b->now;
    }
}

/* Carries out what the scheduler decides. */
static void pump(board *b) {
    gpump_scheduler_action a;
    while (gpump_scheduler_next(b->scheduler, b->policy, b->now, &a) == GPUMP_OK) switch (a.kind) {
        case GPUMP_SCHEDULER_SETUP: (void)gpump_scheduler_report_ready(b->scheduler, b->now, 0); break;
        case GPUMP_SCHEDULER_ISSUE:
            b->running = a.process;
            b->block = a.block;
            b->end = b->now + b->tasks[a.process].rest;
            break;
        case GPUMP_SCHEDULER_PREEMPT:
            b->tasks[b->running].rest = b->end - b->now;
            b->end = GPUMP_UNKNOWN;
            (void)gpump_scheduler_report_preempted(b->scheduler, b->now, 0, b->block, b->running);
            break;
        default: break;
        }
}

static void run(board *b) {
    while (b->now < SECONDS_US) {
        uint64_t next = gpump_next_cycle(&gpump_scheduler_component, b->scheduler);
        if (b->end < next) next = b->end;
        for (int i = 0; i < TASKS; i++)
            if (b->tasks[i].due < next) next = b->tasks[i].due;
        if (next > b->now) b->now = next;
        if (b->end <= b->now) {
            const uint32_t done = b->running;
            b->end = GPUMP_UNKNOWN;
            (void)gpump_scheduler_report_finished(b->scheduler, b->now, 0, b->block);
            advance(b, done);
        }
        for (uint32_t i = 0; i < TASKS; i++)
            if (b->tasks[i].due <= b->now) advance(b, i);
        pump(b);
    }
}

static void response_times(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const struct {
        const char *scheme, *policy;
    } schemes[] = {{"tsg_rr", "time_slice"}, {"gcaps", "ppq"}, {"fmlp", "fcfs"}};
    static const char *const waits[] = {"suspend", "busy"}, *const boards[][2] = {{"", "xavier"}, {"orin.", "orin"}};
    static board b;
    char row[56];
    for (int where = 0; where < 2; where++)
        for (int scheme = 0; scheme < 3; scheme++) {
            double switch_us = 0;
            for (int task = 1; task <= 5; task += 4) {
                snprintf(row, sizeof row, "M.gcaps.theta.%s.%d", boards[where][1], task);
                switch_us += reproduce_fitted(context, row) / 2;
            }
            if (!(switch_us > 0) || make(context, &b, schemes[scheme].policy, switch_us)) {
                reproduce_failed(result, "the task set cannot be made");
                free(b.memory);
                return;
            }
            run(&b);
            free(b.memory);
            for (int wait = 0; wait < 2; wait++)
                for (int i = 0; i < TASKS; i++) {
                    snprintf(row, sizeof row, "%s.%s%s_%s.%d", id, boards[where][0], schemes[scheme].scheme,
                             waits[wait], i + 1);
                    reproduce_point(result, row, (double)b.tasks[i].longest / 1000);
                }
        }
    reproduce_note(result, "every task has a processor core: busy waiting and suspension are alike");
}

const reproduce_row rows_silicon_tasks[] = {{"M.gcaps.mort", response_times}, {NULL, NULL}};
