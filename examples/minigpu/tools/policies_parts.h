/* policies_parts: what a shard of `minigpu policies` writes and the merge reads: every outcome, kernel by kernel. */
#ifndef MINIGPU_POLICIES_PARTS_H
#define MINIGPU_POLICIES_PARTS_H

#include "tools/victim_experiment.h"

/* Outcomes by kernel of Table 4.2; NULL: not read. */
typedef struct policies_parts {
    victim_outcome *outcomes[VICTIM_EXPERIMENT_KERNELS];
    victim_drain_error *errors[VICTIM_EXPERIMENT_KERNELS];
    uint64_t own_cycles;
} policies_parts;

/* Writes the heading of a part: what all parts of one experiment have in common, kernels apart. */
void policies_parts_begin(FILE *out, const victim_experiment *experiment);
/* Writes what one kernel's run gave. */
void policies_parts_write(FILE *out, const victim_experiment *experiment, const victim_outcome *outcomes,
                          const victim_drain_error *errors, uint64_t own_cycles);
/* Adds the kernels of a part. Returns 0, or -1 after a message on standard error: the part cannot be read, is of
 * another experiment, has been cut off, or has a kernel that was read already. */
int policies_parts_read(policies_parts *parts, const char *path, const victim_experiment *experiment);
void policies_parts_free(policies_parts *parts);
#endif
