/* options: values of command-line options. What cannot be read is reported on stderr: the option, what it wants, what
 * it got. */
#ifndef MINIGPU_OPTIONS_H
#define MINIGPU_OPTIONS_H

#include <stdint.h>

/* The index-th name of a list, NULL past its end. */
typedef const char *(*option_names)(uint32_t index);

/* A whole number from low to high. Returns 0, or -1 after a report. */
int option_number(const char *option, const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* Microseconds from low to 1,000,000, fractions allowed; *ns is whole nanoseconds. Returns 0, or -1 after a report. */
int option_microseconds(const char *option, const char *text, double low, uint64_t *ns);
/* One of the names; *index is which. Returns 0, or -1 after a report that lists them. */
int option_choice(const char *option, const char *text, option_names names, uint32_t *index);
/* Reports that a command cannot be read and how to learn more; `what` may be NULL where getopt has said it. Returns 2,
 * the exit status. */
int option_misuse(const char *command, const char *what, const char *value);

#endif
