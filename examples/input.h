/* input: opens a file of results, written by an earlier run. A device or a pipe may have no end, so neither is read. */
#ifndef EXAMPLES_INPUT_H
#define EXAMPLES_INPUT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the open file, or NULL with the reason in why[bytes]. */
static inline FILE *input_open(const char *path, char *why, size_t bytes) {
    struct stat status;
    FILE *file = NULL;
    if (stat(path, &status))
        snprintf(why, bytes, "cannot read %s: %s", path, strerror(errno));
    else if (S_ISDIR(status.st_mode))
        snprintf(why, bytes, "cannot read %s: %s", path, strerror(EISDIR));
    else if (!S_ISREG(status.st_mode))
        snprintf(why, bytes, "cannot read %s: no regular file; copy its contents into one", path);
    else if (!(file = fopen(path, "r")))
        snprintf(why, bytes, "cannot read %s: %s", path, strerror(errno));
    return file;
}

/* The same, with the reason on stderr in the name of `program`. */
static inline FILE *input_open_or_say(const char *program, const char *path) {
    char why[4400];
    FILE *file = input_open(path, why, sizeof why);
    if (!file) fprintf(stderr, "%s: %s\n", program, why);
    return file;
}

#endif
