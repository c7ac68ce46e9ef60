/* run_command: `minigpu run`. */
#ifndef MINIGPU_RUN_COMMAND_H
#define MINIGPU_RUN_COMMAND_H

#include "options.h"
#include "timeline.h"
#include "tools/report.h"
#include "tools/run_options.h"

extern const option_command command_run;

/* A run whose command line has been read and whose machine is built. */
typedef struct run_session {
    run_arguments arguments;
    launch_file launch;
    machine *machine;
    race_log *races; /* NULL: without --races */
} run_session;

/* Reads the arguments of `run` (argv[0]: its name), reads the launch file and builds the machine. Returns
 * OPTIONS_GO_ON, or the exit status: 0 after help, 2 after a report of bad input on stderr. */
int run_open(run_session *session, int argc, char **argv);
/* Releases what run_open has made. */
void run_close(run_session *session);
/* Writes the page of a run (examples/report/page.h). Returns 0, or -1 with errno. */
int run_page(const char *path, const run_result *result, const machine_options *options, const timeline *recorded);

#endif
