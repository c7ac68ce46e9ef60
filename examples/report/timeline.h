/* timeline: a record of one run of a simulator, for a page or a trace.
 *
 * A row is one thing that is in one phase at a time: a block slot of an SM, a process, a kernel. A span is a phase of a
 * row. A request is a demand for SMs. A victim is a block that leaves for a request. A series is a number sampled over
 * time. All times are cycles.
 *
 * A timeline is an observer. A host holds a pointer to one, or NULL. Nothing that the timeline returns changes the run.
 * Rows, kernels and series are declared before the first span. Recording allocates memory. When memory is out, `failed`
 * is set and the rest of the run is not recorded.
 *
 *     timeline *t = timeline_open(clock_khz, "warp instructions");
 *     group = timeline_group(t, "SM 0"); row = timeline_row(t, group, "slot 0");
 *     kernel = timeline_kernel(t, "hotspot", "simulation", 0);
 *     timeline_phase_is(t, now, row, TIMELINE_RUN, kernel, block);   // from now on
 *     ...
 *     timeline_close(t, now);
 *     page_write("run.html", &page);                                  // page.h */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include <stdint.h>

#define TIMELINE_NONE UINT32_MAX
#define TIMELINE_NEVER UINT64_MAX
#define TIMELINE_TECHNIQUES 8u /* GPUMP_TECHNIQUES: an entry for each technique of the list (gpump_technique_at) */
#define TIMELINE_SAMPLES 2048u /* beyond so many, every second sample is dropped and the step doubles */

typedef enum timeline_phase {
    TIMELINE_NOTHING,
    TIMELINE_RUN,      /* a block executes */
    TIMELINE_STOP,     /* a block stops issuing, and waits for its instructions in flight or for the port */
    TIMELINE_SAVE,     /* its context is written to memory */
    TIMELINE_RESTORE,  /* its context is read back */
    TIMELINE_DRAIN,    /* a block that must leave runs to its end */
    TIMELINE_KERNEL,   /* a kernel of the row's process is on the GPU */
    TIMELINE_CPU,      /* the row's process computes on the CPU */
    TIMELINE_TRANSFER, /* the row's process copies to or from the GPU */
    TIMELINE_PHASES
} timeline_phase;

typedef struct timeline_span {
    uint64_t start, end, block;
    uint32_t row, phase, kernel;
    uint32_t victim; /* the victim that this span belongs to; TIMELINE_NONE */
} timeline_span;

/* An event at an instant. */
typedef struct timeline_mark {
    uint64_t cycle, block;
    const char *what;     /* a word that outlives the timeline, such as "flush" */
    uint32_t row, kernel; /* row TIMELINE_NONE: the GPU as a whole */
} timeline_mark;

typedef struct timeline_request {
    uint64_t cycle;
    uint64_t limit_cycles; /* deadline, from the request; TIMELINE_NEVER: none */
    uint64_t served_cycle; /* when the last of its victims left; TIMELINE_NEVER: not yet */
    uint32_t kernel;       /* the kernel that needs the room; TIMELINE_NONE: unknown */
    uint32_t victims, gone;
} timeline_request;

/* The estimates of each technique for one block, by the technique's number; TIMELINE_NEVER: unknown or not allowed. */
typedef struct timeline_estimate {
    uint64_t cycles[TIMELINE_TECHNIQUES];   /* until the block's room is free */
    uint64_t overhead[TIMELINE_TECHNIQUES]; /* lost work */
} timeline_estimate;

typedef struct timeline_victim {
    timeline_estimate estimate;
    uint64_t told_cycle, end_cycle; /* end_cycle TIMELINE_NEVER: it has not left */
    uint64_t block;
    uint64_t bytes;   /* of its saved context */
    uint64_t dropped; /* work that is executed again */
    uint64_t cost;    /* dropped work, plus the work that it would have executed while it was stopped */
    uint32_t request, row, kernel;
    uint32_t technique; /* chosen first */
    uint32_t left_by;   /* the technique with which it left; TIMELINE_NONE: it has not left */
} timeline_victim;

typedef enum timeline_series_kind {
    TIMELINE_GAUGE,  /* a present value */
    TIMELINE_COUNTER /* a sum since the start, shown as a rate */
} timeline_series_kind;

typedef struct timeline_series {
    const char *chart, *name, *unit; /* series of one chart are drawn together; the texts outlive the timeline */
    double scale;                    /* a shown value is scale x (value, or increase per cycle) */
    double limit;                    /* the largest possible value shown; 0: none */
    uint32_t kind;
    uint32_t kernel; /* whose colour the series has; series of one chart with kernels are stacked; TIMELINE_NONE */
} timeline_series;

typedef struct timeline_name {
    char *name, *detail; /* of a kernel, detail is its process */
    uint32_t group;      /* row: its group. kernel: its colour */
} timeline_name;

typedef struct timeline_state timeline_state;

typedef struct timeline {
    timeline_span *spans;
    timeline_mark *marks;
    timeline_request *requests;
    timeline_victim *victims;
    timeline_series *series;
    timeline_name *groups, *rows, *kernels;
    timeline_state *states;            /* per row */
    uint64_t *sample_cycles, *samples; /* samples[sample * series_count + series] */
    const char *work_unit;
    uint64_t span_count, mark_count, request_count, victim_count, sample_count;
    uint64_t begin_cycle, end_cycle;
    uint64_t sample_step, sample_cycle; /* when the next sample is due; TIMELINE_NEVER: no series */
    uint64_t looked_cycle;              /* of the last timeline_is_due; TIMELINE_NEVER: none */
    uint32_t series_count, group_count, row_count, kernel_count, clock_khz;
    int failed; /* 1: memory was out */
} timeline;

/* Makes an empty timeline for a clock in kHz. `work_unit` is the unit of lost work, such as "warp instructions".
 * Returns NULL when memory is out. */
timeline *timeline_open(uint32_t clock_khz, const char *work_unit);
/* Ends all open spans at cycle `now`, and hides rows without a span. */
void timeline_close(timeline *t, uint64_t now);
void timeline_free(timeline *t);

/* Declare a group of rows, a row of a group, and a kernel with its process and colour. Names are copied. Each returns
 * the index, or TIMELINE_NONE when memory is out. */
uint32_t timeline_group(timeline *t, const char *name);
uint32_t timeline_row(timeline *t, uint32_t group, const char *name);
uint32_t timeline_kernel(timeline *t, const char *name, const char *process, uint32_t colour);
/* Declares a series. Returns its index, or TIMELINE_NONE when memory is out. */
uint32_t timeline_add_series(timeline *t, const timeline_series *series);

/* Sets the phase of a row from cycle `now` on. A phase without a cycle leaves no span. */
void timeline_phase_is(timeline *t, uint64_t now, uint32_t row, timeline_phase phase, uint32_t kernel, uint64_t block);
/* Returns the present phase of a row. */
timeline_phase timeline_phase_of(const timeline *t, uint32_t row);
/* Adds a span whose start and end are known. */
void timeline_add_span(timeline *t, uint32_t row, timeline_phase phase, uint32_t kernel, uint64_t block, uint64_t start,
                       uint64_t end);
void timeline_add_mark(timeline *t, uint64_t now, uint32_t row, const char *what, uint32_t kernel, uint64_t block);

/* Records that a kernel asks for SMs. Returns the request's index. The kernel's last request is used again if it is of
 * the same cycle or some of its victims have not left. */
uint32_t timeline_ask(timeline *t, uint64_t cycle, uint32_t kernel, uint64_t limit_cycles);
/* Records that the block on a row must leave for a request, by a technique. `estimate` may be NULL. A block that is
 * told a second time stays one victim. */
void timeline_tell(timeline *t, uint64_t now, uint32_t request, uint32_t row, uint32_t kernel, uint64_t block,
                   uint32_t technique, const timeline_estimate *estimate);
/* Records that the block on a row has left, by a technique. Does nothing when the block is no victim. */
void timeline_leave(timeline *t, uint64_t now, uint32_t row, uint32_t technique, uint64_t bytes, uint64_t dropped,
                    uint64_t cost);

/* Call it at cycle `now`, before anything of that cycle happens. Returns 1 when the series should be sampled: their
 * present values have held from *since, the cycle of the last call, until now. */
int timeline_is_due(timeline *t, uint64_t now, uint64_t *since);
/* Adds one sample of all series (values[series_count]), which hold from cycle `since` on. A second sample of the same
 * cycle replaces the first. */
void timeline_sample(timeline *t, uint64_t since, const uint64_t *values);

/* Returns the name of a technique, by gpump's number. */
const char *timeline_technique(uint32_t technique);

/* Writes the timeline as Chrome trace events, for https://ui.perfetto.dev: a process per group, a thread per row.
 * Returns 0, or -1 with errno when the file cannot be written. */
int timeline_write_trace(const timeline *t, const char *path);

#endif
