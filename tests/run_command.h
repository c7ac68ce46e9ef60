/* Runs a shell command for tests of programs. */
#ifndef GPUMP_RUN_COMMAND_H
#define GPUMP_RUN_COMMAND_H
#include <sys/wait.h>
#include "test.h"

/* Returns the exit status of a command, which must not die of a signal; output gets what it prints (at most bytes - 1,
 * terminated). */
static inline int run_command(const char *command, char *output, size_t bytes) {
    FILE *stream = popen(command, "r");
    size_t length;
    int status;
    assert_non_null(stream);
    length = fread(output, 1, bytes - 1, stream);
    output[length] = 0;
    while (fgetc(stream) != EOF) {} /* a closed pipe would stop the command */
    status = pclose(stream);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}
#endif
