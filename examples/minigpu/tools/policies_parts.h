/* policies_parts: the files that shards of `minigpu policies` write and --merge reads: every outcome, kernel by
 * kernel. */
#ifndef MINIGPU_POLICIES_PARTS_H
#define MINIGPU_POLICIES_PARTS_H

#include "tools/victim_experiment.h"

/* Outcomes by kernel of Table 4.2; NULL: not read. */
typedef struct policies_parts {
    victim_outcome *outcomes[VICTIM_EXPERIMENT_KERNELS];
    victim_drain_error *errors[VICTIM_EXPERIMENT_KERNELS];
    uint64_t own_cycles;
} policies_parts;

/* Writes the heading of a part: everything that the parts of one experiment have in common. */
void policies_parts_begin(FILE *out, const victim_experiment *experiment);
/* Writes the outcomes of one kernel. */
void policies_parts_write(FILE *out, const victim_experiment *experiment, const victim_outcome *outcomes,
                          const victim_drain_error *errors, uint64_t own_cycles);
/* Adds the kernels of a part. Returns 0, or -1 after a message on standard error: the part cannot be read, belongs to
 * another experiment, is cut off, or has a kernel that was read before. */
int policies_parts_read(policies_parts *parts, const char *path, const victim_experiment *experiment);
void policies_parts_free(policies_parts *parts);
#endif
