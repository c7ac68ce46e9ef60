/* in_copy: a measurement in a forked copy of this process. The machine in this process stays as it is. */
#ifndef MINIGPU_IN_COPY_H
#define MINIGPU_IN_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "machine/machine.h"

/* Calls measure(m, n, result) in a copy and copies the `bytes` bytes of *result back. Returns 0, or -1 with *result
 * unspecified when the copy ended early. Ends the program with status 2 when the process cannot be copied. */
int in_copy(void (*measure)(machine *m, uint32_t n, void *result), machine *m, uint32_t n, void *result, size_t bytes);

#endif
