/* kept: machines of a device that have run, and that can run again (machine/again.h): programs launch the same kernels
 * in loops. */
#ifndef MINIGPU_KEPT_H
#define MINIGPU_KEPT_H

#include "machine/machine.h"

#define KEPT_MAX 8u      /* machines; the one that was used longest ago makes room */
#define KEPT_KERNELS 32u /* of a machine */

typedef struct kept_machine {
    machine *machine; /* NULL: the entry is free */
    kernel *first;    /* its kernels as they were built */
    launch_memory memory;
    launch_file launch;
    launch_kernel kernels[KEPT_KERNELS];
    launch_process processes[KEPT_KERNELS];
    uint64_t signatures[KEPT_KERNELS]; /* what must be the same of a kernel */
    uint64_t changes;                  /* of the allocations, when it ran last */
    uint64_t used;                     /* when it ran last: number of the run */
} kept_machine;

typedef struct kept_machines {
    kept_machine entries[KEPT_MAX];
    uint64_t runs;
} kept_machines;

/* Returns a machine for a launch that lends its memory: one that runs again, or a new one. NULL with the reason in
 * error. The launch's arguments must live until kept_ran. changes: allocations.changes. */
kept_machine *kept_take(kept_machines *k, const launch_file *launch, uint64_t changes, const machine_options *options,
                        char error[LAUNCH_ERROR_BYTES]);
/* The machine has run. The machine is kept if it can run again, unless `once`. */
void kept_ran(kept_machine *entry, int once);
void kept_close(kept_machines *k);

#endif
