/* bench/micro: nanoseconds per operation of each component over growing sizes, beside a rival in the same run.
 *
 * A file bench/micro_<topic>.c that exports a table adds cases (CMake finds it by name):
 *
 *     const micro_case micro_victim[] = {{"victim_select", "one choice among n blocks", NULL, sizes, setup, run, NULL,
 *                                         teardown}, {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
 *
 * The frame finds how many operations take long enough to be timed, repeats them several times, ours and the rival's in
 * turn, and prints the medians. Times are processor time of the process, so other work on the machine has little
 * effect. */
#ifndef BENCH_MICRO_H
#define BENCH_MICRO_H
#include <stddef.h>
#include <stdint.h>

typedef struct micro_case {
    const char *name;  /* component_operation; NULL ends the table. A name with "{victim}" or "{scheduler}" is repeated
                          for every policy of that kind, under the policy's name */
    const char *what;  /* what one operation is */
    const char *rival; /* what the rival is; NULL without one */
    const uint64_t *sizes;         /* growing, ended by 0 */
    void *(*setup)(uint64_t size); /* NULL: it cannot be set up; exit status 1 */
    uint64_t (*run)(void *state,
                    uint64_t operations); /* executes so many operations, and returns a value that depends on all of
                                             them and that is the same for the same number from the same state */
    uint64_t (*run_rival)(void *state, uint64_t operations); /* likewise for the rival: the same value */
    void (*teardown)(void *state);
} micro_case;

/* The index of the policy that a repeated case measures, for setup: of policies_victim_at or policies_scheduler_at. */
extern uint32_t micro_subject;

/* The program: `topics` is a NULL-terminated list of tables. Returns the exit status: 0; 1 when ours and the rival's
 * answers differ or a set-up fails; 2 usage. */
int micro_main(int argc, char **argv, const micro_case *const *topics);
#endif
