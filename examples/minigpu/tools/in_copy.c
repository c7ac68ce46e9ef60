#include "tools/in_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int in_copy(void (*measure)(machine *m, uint32_t n, void *result), machine *m, uint32_t n, void *result, size_t bytes) {
    int ends[2], status, came;
    pid_t pid;
    if (pipe(ends)) exit(2);
    fflush(stdout);
    if ((pid = fork()) < 0) exit(2);
    if (pid == 0) {
        measure(m, n, result);
        _exit(write(ends[1], result, bytes) == (ssize_t)bytes ? 0 : 1);
    }
    close(ends[1]);
    came = read(ends[0], result, bytes) == (ssize_t)bytes;
    close(ends[0]);
    if (waitpid(pid, &status, 0) != pid) exit(2);
    return came ? 0 : -1;
}
