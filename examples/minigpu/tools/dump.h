/* dump: buffers as files, after a run. */
#ifndef MINIGPU_DUMP_H
#define MINIGPU_DUMP_H

#include "machine/machine.h"

/* Makes the folder for dump_buffers if there is none. Returns 0, or -1 after a report on stderr when files cannot be
 * written there, or one of them is read by the run, or is its trace or page (NULL: it has none). */
int dump_prepare(const launch_file *launch, const char *folder, const char *trace, const char *html);
/* Writes every buffer of a machine that has run into a folder that dump_prepare has found good: NAME.bin holds its
 * bytes, NAME.txt its first elements, one per line below a line that starts with #. A buffer without a name is called
 * after the first kernel that gets it: 1.saxpy.argument2. With several processes, names start with the process's.
 * Returns 0, or -1 after a report on stderr. */
int dump_buffers(const machine *m, const launch_file *launch, const char *folder);

#endif
