/* arguments: the options of tbsim's commands as tables, and the struct that they fill. */
#ifndef TBSIM_ARGUMENTS_H
#define TBSIM_ARGUMENTS_H

#include "options.h"
#include "tbsim.h"

/* Bits of the commands in option_row.commands. */
enum { TBSIM_RUN = 1, TBSIM_SWEEP = 2, TBSIM_EVALUATE = 4, TBSIM_MACHINES = 8 };

typedef struct arguments {
    tb_machine machine;
    tb_options options;
    const char *data, *trace, *svg, *html, *out, *gpu, *table;
    uint32_t csv, class_end, base, quiet, prioritise, has_policy, has_mechanism, has_transfers, has_limit;
    uint32_t processes, workloads, threads, shard, shards, first_runs;
    uint64_t seed;
} arguments;

extern const option_set tbsim_sets[];
void arguments_default(arguments *a);
/* `tbsim machines`. Returns an exit status. */
int machines(const arguments *a);

#endif
