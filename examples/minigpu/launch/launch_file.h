/* launch_file: the YAML file that describes a launch (launch.h). */
#ifndef MINIGPU_LAUNCH_FILE_H
#define MINIGPU_LAUNCH_FILE_H

#include "launch/launch.h"

/* Reads a launch file. Returns 0, or -1 with the reason in error (file:line:column: ...); *launch is then empty. */
int launch_file_read(launch_file *launch, const char *path, char error[LAUNCH_ERROR_BYTES]);
void launch_file_free(launch_file *launch);
/* Appends the kernels of another file, each with its process, to *launch, and frees the other file. Machine and numbers
 * stay those of *launch. Returns 0, or -1 with the reason in error; both can then only be freed. */
int launch_file_join(launch_file *launch, launch_file *other, char error[LAUNCH_ERROR_BYTES]);

#endif
