/* minigpu: a small GPU that runs PTX and can be preempted. README.md is its map. */
#include "options.h"
#include "tools/analyze.h"
#include "tools/corun_command.h"
#include "tools/demo_command.h"
#include "tools/html_page.h"
#include "tools/init_command.h"
#include "tools/lists.h"
#include "tools/pairs_command.h"
#include "tools/policies_command.h"
#include "tools/run_command.h"
#include "tools/share_command.h"
#include "tools/sweep_command.h"
#include "tools/tail_command.h"

static const option_command *const commands[] = {
    &command_run,   &init_command,     &analyze_command, &sweep_command, &tail_command, &corun_command,
    &pairs_command, &policies_command, &demo_command,    &share_command, NULL};
static const option_program minigpu = {"minigpu", commands, lists};

int main(int argc, char **argv) {
    if (argc > 0) demo_program = argv[0];
    html_page_command(argc, argv);
    return options_main(&minigpu, argc, argv);
}
