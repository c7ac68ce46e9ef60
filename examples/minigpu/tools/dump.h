/* dump: buffers as files, after a run. */
#ifndef MINIGPU_DUMP_H
#define MINIGPU_DUMP_H

#include "machine/machine.h"

/* Makes the folder for dump_buffers if it does not exist. Returns 0, or -1 after a report on stderr when the folder
 * cannot be written or a file in it is an input of the run. */
int dump_prepare(const launch_file *launch, const char *folder);
/* Writes every buffer of a machine that has run into a folder that dump_prepare has accepted. NAME.bin holds the
 * buffer's bytes. NAME.txt holds one element per line, below a line that starts with #. A buffer without a name is
 * named after the first kernel that has it as an argument: 1.saxpy.argument2. With several processes, names start with
 * the process's name. Returns 0, or -1 after a report on stderr. */
int dump_buffers(const machine *m, const launch_file *launch, const char *folder);

#endif
