/* output: results that cannot be written are an error. A full disk shows when a stream's buffer is emptied, often as
 * late as its last fflush: so every program asks here before it ends. */
#ifndef EXAMPLES_OUTPUT_H
#define EXAMPLES_OUTPUT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Empties a stream and reports on stderr when any write to it has failed. Returns 0, or -1 after a report. */
static inline int output_flush(FILE *file, const char *program, const char *name) {
    const int earlier = ferror(file);
    errno = 0;
    if (!fflush(file) && !earlier) return 0;
    fprintf(stderr, "%s: cannot write %s: %s; what is there is not complete\n", program, name,
            errno ? strerror(errno) : "an earlier write failed, perhaps the device is full");
    return -1;
}

/* The same, and closes the stream. */
static inline int output_close(FILE *file, const char *program, const char *name) {
    const int failed = output_flush(file, program, name);
    if (!fclose(file) || failed) return failed;
    fprintf(stderr, "%s: cannot write %s: %s; what is there is not complete\n", program, name, strerror(errno));
    return -1;
}

/* Reports a file that cannot be opened, errno saying why; returns -1. */
static inline int output_cannot_open(const char *program, const char *name) {
    fprintf(stderr, "%s: cannot write %s: %s\n", program, name, strerror(errno));
    return -1;
}

/* Reports an output (NULL: none) that is the same file as an input, which writing it would destroy. Returns 0, or -1
 * after a report. */
static inline int output_is_input(const char *program, const char *output, const char *input) {
    struct stat out, in;
    if (!output || stat(output, &out) || stat(input, &in) || !S_ISREG(out.st_mode)) return 0;
    if (out.st_dev != in.st_dev || out.st_ino != in.st_ino) return 0;
    fprintf(stderr, "%s: %s is read and would be written over: name another file for the output\n", program, output);
    return -1;
}

/* Are two paths one place in a folder, where no file has to be yet? */
static inline int output_same_place(const char *one, const char *other) {
    const char *const paths[2] = {one, other}, *names[2];
    struct stat folders[2];
    int i;
    for (i = 0; i < 2; i++) {
        const char *slash = strrchr(paths[i], '/');
        char folder[4096];
        names[i] = slash ? slash + 1 : paths[i];
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - paths[i] + 1) : 1, slash ? paths[i] : ".");
        if (stat(folder, &folders[i])) return 0;
    }
    return !strcmp(names[0], names[1]) && folders[0].st_dev == folders[1].st_dev &&
           folders[0].st_ino == folders[1].st_ino;
}

/* Reports two outputs (NULL: none) that are one file, where one would be lost. Returns 0, or -1 after a report. */
static inline int output_is_output(const char *program, const char *one, const char *other) {
    struct stat a, b;
    const int is_there = one && !stat(one, &a);
    if (!one || !other || (is_there && !S_ISREG(a.st_mode))) return 0; /* /dev/null takes everything */
    if (!output_same_place(one, other) &&
        (!is_there || stat(other, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino))
        return 0;
    fprintf(stderr, "%s: %s is two outputs, and one would be lost: name another file for one of them\n", program,
            other);
    return -1;
}

/* A program's exit status: `status`, or 1 instead of 0 when standard output could not be written. */
static inline int output_status(int status, const char *program) {
    const int failed = output_flush(stdout, program, "standard output");
    return failed && !status ? 1 : status;
}

#endif
