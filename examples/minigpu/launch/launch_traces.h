/* launch_traces: a launch from traces of a program's kernels (sass/trace_reader.h) instead of a launch file. */
#ifndef MINIGPU_LAUNCH_TRACES_H
#define MINIGPU_LAUNCH_TRACES_H

#include "launch/launch.h"

/* Returns whether a file is the trace of one kernel, by the end of its name: .traceg, perhaps packed. */
int launch_traces_is_one(const char *path);
/* Returns whether a file with this text is a list of traces: kernelslist.g, or one that begins so. */
int launch_traces_is_list(const char *path, const char *text);
/* Returns the path of the list of traces in a folder, written to `list`; the path itself when it is no folder. */
const char *launch_traces_in_folder(const char *path, char list[1024]);
/* Reads the kernels of such a list, or the one kernel that launch->path names (text: NULL), into *launch, whose path is
 * set. Each stream becomes a process, whose kernels run one after the other; streams run side by side. Returns 0, or -1
 * with the reason in error (file:line:column: ...). */
int launch_traces_read(launch_file *launch, const char *text, char error[LAUNCH_ERROR_BYTES]);
/* Adds the kernels of a list, or of one trace (text: NULL), to a process of a launch file (traces: ...). place: of the
 * entry there. Returns likewise. */
int launch_traces_add(launch_file *launch, const char *path, const char *text, uint32_t process, launch_place place,
                      char error[LAUNCH_ERROR_BYTES]);

#endif
