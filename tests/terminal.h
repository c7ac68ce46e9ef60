/* Runs programs on a terminal, and waits for what they show. Included before every other header. */
#ifndef GPUMP_TERMINAL_H
#define GPUMP_TERMINAL_H
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 600 /* posix_openpt */
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"

/* A program whose output is a terminal. */
typedef struct terminal_program {
    pid_t process;
    int terminal;      /* the end that the test reads */
    size_t length;     /* of what is in output, terminated */
    char output[8192]; /* the first bytes; what follows is read and dropped */
} terminal_program;

/* Starts a program, given as a shell command of one word and its arguments. */
static inline void terminal_start(terminal_program *p, const char *command) {
    char words[4096];
    memset(p, 0, sizeof *p);
    snprintf(words, sizeof words, "exec %s", command);
    p->terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(p->terminal >= 0 && !grantpt(p->terminal) && !unlockpt(p->terminal));
    assert_true((p->process = fork()) >= 0);
    if (!p->process) {
        const int own = setsid() < 0 ? -1 : open(ptsname(p->terminal), O_RDWR); /* ends with the test */
        if (own < 0 || dup2(own, STDOUT_FILENO) < 0 || dup2(own, STDERR_FILENO) < 0) _exit(127);
        close(own);
        close(p->terminal);
        execl("/bin/sh", "sh", "-c", words, (char *)NULL);
        _exit(127);
    }
}

/* Reads until the output matches a pattern (fnmatch), or to the end where the pattern is NULL. Returns 0 when the
 * output ended without a match. However slow the machine is, nothing is given up: ctest ends a test that hangs. */
static inline int terminal_wait(terminal_program *p, const char *pattern) {
    char dropped[1024];
    for (;;) {
        const size_t room = sizeof p->output - 1 - p->length;
        ssize_t got;
        if (pattern && !fnmatch(pattern, p->output, 0)) return 1;
        got = read(p->terminal, room ? p->output + p->length : dropped, room ? room : sizeof dropped);
        if (got <= 0) return 0; /* the program has closed the terminal */
        if (room) p->length += (size_t)got;
    }
}

/* Sends Ctrl-C, reads the output to its end and returns the exit status. */
static inline int terminal_interrupt(terminal_program *p) {
    int status;
    kill(p->process, SIGINT);
    (void)terminal_wait(p, NULL);
    assert_int_equal(waitpid(p->process, &status, 0), p->process);
    close(p->terminal);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}
#endif
