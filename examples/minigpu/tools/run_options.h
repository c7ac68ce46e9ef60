/* run_options: the options of `minigpu run` as tables, and the structs that they fill. A table for a part of the
 * machine fills that part's struct, so that other commands can use the same table. */
#ifndef MINIGPU_RUN_OPTIONS_H
#define MINIGPU_RUN_OPTIONS_H

#include "machine/machine.h"
#include "options.h"
#include "parts/corun/corun_options.h"

typedef struct run_arguments {
    machine_options machine;
    uint32_t sms;            /* 0: the launch file's, or the preset's */
    uint64_t deadline_ns;    /* of the victim policy; NEVER: none */
    uint64_t late_price;     /* warp instructions; 0: the deadline comes first */
    const char *leave;       /* --leave as given; NULL: not given */
    const char *leave_group; /* the old option --move; NULL: not given */
    const char *html, *trace, *dump, *write_trace;
    uint32_t json, csv, stats, races, write_values;
} run_arguments;

extern option_set run_sets[];
extern const option_rule *run_rule_arrays[];

/* --gpu and --config; they fill machine_options. */
extern const option_row gpu_rows[];

void run_arguments_default(run_arguments *arguments);
/* Completes the arguments: applies --leave, whose meaning depends on the other options, and gives kernels regions where
 * errors or traps need them. Returns 0, or 2 after a report. */
int run_arguments_finish(run_arguments *arguments);

#endif
