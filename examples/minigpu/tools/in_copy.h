/* in_copy: a measurement in a forked copy of this process, which leaves the machine here as it was. */
#ifndef MINIGPU_IN_COPY_H
#define MINIGPU_IN_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "machine/machine.h"

/* Calls measure(m, n, result) in a copy and brings the `bytes` bytes of *result back. Returns 0, or -1 with *result
 * unspecified when the copy ended without them. Ends the program with status 2 when there is no copy to be had. */
int in_copy(void (*measure)(machine *m, uint32_t n, void *result), machine *m, uint32_t n, void *result, size_t bytes);

#endif
