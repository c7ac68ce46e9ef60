/* limit: runs a program with a shared object loaded first, and stops it when it has used that much processor time.
 *   limit MILLISECONDS OBJECT.so PROGRAM [RUNTIME.so]
 * A shell's own limit counts whole seconds, which is long for a mutant that loops. The timer and the limits (8 GB of
 * addresses, no core file) stay with the program. With the RUNTIME of the address sanitizer, which is loaded before the
 * object and needs more addresses, only the timer holds. Exit status: the program's; 2 bad usage or no such program. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const struct rlimit addresses = {(rlim_t)8 << 30, (rlim_t)8 << 30}, core = {0, 0};
    struct itimerval timer = {{0, 0}, {0, 0}};
    long milliseconds = argc == 4 || argc == 5 ? atol(argv[1]) : 0;
    char preload[4096];
    if (milliseconds <= 0) {
        fprintf(stderr, "usage: limit MILLISECONDS OBJECT.so PROGRAM [RUNTIME.so]\n");
        return 2;
    }
    snprintf(preload, sizeof preload, "%s%s%s", argc == 5 ? argv[4] : "", argc == 5 ? " " : "", argv[2]);
    timer.it_value.tv_sec = milliseconds / 1000;
    timer.it_value.tv_usec = milliseconds % 1000 * 1000;
    if ((argc == 4 && setrlimit(RLIMIT_AS, &addresses)) || setrlimit(RLIMIT_CORE, &core) ||
        setitimer(ITIMER_PROF, &timer, NULL) || setenv("LD_PRELOAD", preload, 1)) {
        perror("limit");
        return 2;
    }
    execl(argv[3], argv[3], (char *)NULL);
    perror(argv[3]);
    return 2;
}
