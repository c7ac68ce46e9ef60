/* Row M.gcaps.mort: the longest response times of seven periodic tasks that share one GPU, under time slices, under
 * priorities with preemption (GCAPS), and in the order of requests (FMLP+). A job computes half of its processor time,
 * has its GPU time, and computes the rest. The source's program releases all tasks together at first, and places the
 * five tasks with priorities on two cores, each on the core that is loaded least; the others have cores of their own. A
 * core runs its task of highest priority. A task that waits busily keeps its core while the GPU works for it. A cycle
 * is a microsecond, the GPU is one SM, and a context switch costs what the rows M.gcaps.theta that may set parameters
 * say.
 *
 * Conditions of --set: cores (of the five tasks, 1 to 5), best_effort (how many of the others run), switch_us. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "reproduce.h"

enum { TASKS = 7, REAL_TIME = 5, SECONDS_US = 30000000 };
typedef enum phase { WAITS, BEFORE, ON_GPU, AFTER } phase;
typedef struct task {
    uint64_t cpu_us, gpu_us, period_us;
    uint64_t released; /* the present job, or the next one while the task waits */
    uint64_t cpu_rest, rest, longest;
    uint32_t core;
    phase phase;
} task;
typedef struct board {
    gpump_scheduler *scheduler;
    const gpump_scheduler_policy *policy;
    task tasks[TASKS];
    int is_busy;       /* tasks wait busily */
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

/* Places each task with a priority on the core that is loaded least. */
static void place(board *b, uint32_t cores) {
    double load[TASKS] = {0};
    for (uint32_t i = 0; i < TASKS; i++) {
        const task *t = &b->tasks[i];
        uint32_t least = 0;
        for (uint32_t c = 1; c < cores; c++)
            if (load[c] < load[least]) least = c;
        b->tasks[i].core = i < REAL_TIME ? least : i + REAL_TIME;
        load[least] += i < REAL_TIME ? (double)(t->cpu_us + t->gpu_us) / (double)t->period_us : 0;
    }
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

/* Ends a task's phase. */
static void advance(board *b, uint32_t number) {
    task *t = &b->tasks[number];
    gpump_scheduler_command command;
    if (t->phase == WAITS) {
        t->phase = BEFORE;
        t->cpu_rest = t->cpu_us / 2;
    } else if (t->phase == BEFORE && t->gpu_us) {
        t->phase = ON_GPU;
        t->rest = t->gpu_us;
        memset(&command, 0, sizeof command);
        command.process = number;
        command.blocks = command.blocks_per_sm = 1;
        command.saved_limit = 1;
        (void)gpump_scheduler_submit(b->scheduler, b->now, number, &command, NULL);
    } else if (t->phase != AFTER) {
        t->phase = AFTER;
        t->cpu_rest = t->cpu_us - t->cpu_us / 2;
    } else {
        if (b->now - t->released > t->longest) t->longest = b->now - t->released;
        t->released += t->period_us;
        t->phase = WAITS;
    }
}

/* Returns 1 when a task has its core: it computes, or waits busily, and no task of higher priority does there. */
static int has_core(const board *b, int number) {
    for (int i = 0; i <= number; i++) {
        const task *t = &b->tasks[i];
        if (t->core != b->tasks[number].core || t->phase == WAITS || (t->phase == ON_GPU && !b->is_busy)) continue;
        return i == number && t->phase != ON_GPU;
    }
    return 0;
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

/* Moves time to the next event. */
static void step(board *b) {
    uint64_t next = gpump_next_cycle(&gpump_scheduler_component, b->scheduler);
    int has[TASKS];
    if (b->end < next) next = b->end;
    for (int i = 0; i < TASKS; i++) {
        const task *t = &b->tasks[i];
        has[i] = has_core(b, i);
        if (t->phase == WAITS && t->released < next) next = t->released;
        if (has[i] && b->now + t->cpu_rest < next) next = b->now + t->cpu_rest;
    }
    if (next < b->now) next = b->now;
    for (int i = 0; i < TASKS; i++)
        if (has[i]) b->tasks[i].cpu_rest -= next - b->now;
    b->now = next;
    for (uint32_t i = 0; i < TASKS; i++) {
        const task *t = &b->tasks[i];
        if (t->phase == WAITS ? t->released <= next : has[i] && !t->cpu_rest) advance(b, i);
    }
}

static void run(board *b) {
    while (b->now < SECONDS_US) {
        step(b);
        if (b->end <= b->now) {
            const uint32_t done = b->running;
            b->end = GPUMP_UNKNOWN;
            (void)gpump_scheduler_report_finished(b->scheduler, b->now, 0, b->block);
            advance(b, done);
        }
        pump(b);
    }
}

/* Runs one scheme on one board, and reports the longest response times. Returns 0 after a report. */
static int scheme(const reproduce_context *context, const char *prefix, const char *policy, double switch_us,
                  int is_busy, reproduce_result *result) {
    const double cores = reproduce_condition(context, result, "cores", 2);
    const double others = reproduce_condition(context, result, "best_effort", TASKS - REAL_TIME);
    static board b;
    char row[80];
    switch_us = reproduce_condition(context, result, "switch_us", switch_us);
    if (!(switch_us > 0) || !(cores >= 1 && cores <= REAL_TIME) || make(context, &b, policy, switch_us)) {
        reproduce_failed(result, "the task set cannot be made");
        free(b.memory);
        return 0;
    }
    b.is_busy = is_busy;
    for (int i = REAL_TIME; i < TASKS; i++)
        if (i - REAL_TIME >= others) b.tasks[i].released = GPUMP_UNKNOWN;
    place(&b, (uint32_t)cores);
    run(&b);
    free(b.memory);
    for (int i = 0; i < TASKS; i++) {
        snprintf(row, sizeof row, "%s_%s.%d", prefix, is_busy ? "busy" : "suspend", i + 1);
        reproduce_point(result, row, (double)b.tasks[i].longest / 1000);
    }
    return 1;
}

static void response_times(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const schemes[][2] = {{"tsg_rr", "time_slice"}, {"gcaps", "ppq"}, {"fmlp", "fcfs"}};
    static const char *const boards[][2] = {{"", "xavier"}, {"orin.", "orin"}};
    char row[56];
    for (int where = 0; where < 2; where++) {
        double switch_us = 0;
        for (int task = 1; task <= 5; task += 4) {
            snprintf(row, sizeof row, "M.gcaps.theta.%s.%d", boards[where][1], task);
            switch_us += reproduce_fitted(context, row) / 2;
        }
        for (int i = 0; i < 6; i++) {
            snprintf(row, sizeof row, "%s.%s%s", id, boards[where][0], schemes[i / 2][0]);
            if (!scheme(context, row, schemes[i / 2][1], switch_us, i % 2, result)) return;
        }
    }
}

const reproduce_row rows_silicon_tasks[] = {{"M.gcaps.mort", response_times}, {NULL, NULL}};
