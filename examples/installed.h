/* installed: the files that a program brings along (kernels, tables) are below the folder of the installed program;
 * before `make install` they are in the source tree. The installed tree may be moved. */
#ifndef EXAMPLES_INSTALLED_H
#define EXAMPLES_INSTALLED_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef GPUMP_SHARE
#define GPUMP_SHARE "../share/gpump" /* from the programs' folder; CMake knows better */
#endif

/* Returns the folder of that name beside the installed program, written to path, or `source` where there is none. */
static inline const char *installed_folder(const char *name, const char *source, char *path, size_t bytes) {
    ssize_t length = readlink("/proc/self/exe", path, bytes - 1);
    char *slash;
    if (length <= 0) return source;
    path[length] = 0;
    slash = strrchr(path, '/');
    if (!slash || (size_t)snprintf(slash, bytes - (size_t)(slash - path), "/%s/%s", GPUMP_SHARE, name) >=
                      bytes - (size_t)(slash - path))
        return source;
    return access(path, R_OK) ? source : path;
}

#endif
