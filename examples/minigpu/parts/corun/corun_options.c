#include "parts/corun/corun_options.h"

#include <string.h>

#include "policies.h"

#define SHARING "Kernels that share SMs"

const char *corun_leave_name(uint32_t index) {
    static const char *const names[] = {"drain", "switch", "flush", "chimera", "park"};
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

int corun_set_leave(const char *technique, corun_options *options) {
    uint32_t which;
    if (option_choice("--leave, for blocks of a group,", technique, corun_leave_name, &which)) return 2;
    options->parks = !strcmp(technique, "park");
    options->leave = which ? gpump_victim_find(options->parks ? "switch" : technique) : NULL;
    return 0;
}

static int read_group_leave(const option_row *row, const char *text, void *target) {
    (void)row;
    return corun_set_leave(text, (corun_options *)target) ? -1 : 0;
}

static int read_partition(const option_row *row, const char *text, void *target) {
    corun_options *options = (corun_options *)target;
    uint32_t which;
    (void)row;
    options->division = strchr(text, ':') ? text : NULL; /* the command divides the GPU when it knows its size */
    if (options->division) return 0;
    if (option_choice("--partition", text, policies_partition_name, &which)) return -1;
    options->policy = policies_partition_at(which);
    return 0;
}

const option_row corun_option_rows[] = {
    {.name = "partition",
     .argument = "POLICY",
     .kind = OPTION_READ,
     .read = read_partition,
     .names = policies_partition_name,
     .group = SHARING,
     .commands = COMMAND_RUN,
     .often = 1,
     .text = "The kernels share SMs as a group. The group measures them, and this policy divides the SMs: %N. Or a "
             "fixed division: green:A:B (SMs), mps:P:Q (percent of the SMs), mig:1g+3g, blocks:A:B (on each SM)."},
    {.name = "group",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = GPUMP_PARTITION_KERNELS,
     .offset = offsetof(corun_options, group),
     .samples = "1|2",
     .group = SHARING,
     .commands = COMMAND_RUN,
     .text =
         "With --schedule and --partition: the first N kernels are one command of the scheduler, and divide the SMs "
         "that it gets."},
    {.name = "places",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = GPUMP_PARTITION_KERNELS,
     .offset = offsetof(corun_options, places),
     .group = SHARING,
     .commands = COMMAND_RUN | COMMAND_CORUN,
     .text = "At most N kernels share the SMs at a time (default: all). One more of higher priority takes the place of "
             "the member of the lowest priority, whose blocks leave."},
    {.name = "window",
     .argument = "CYCLES",
     .kind = OPTION_NUMBER,
     .low = 100, /* in a shorter one hardly a load is answered: classes change by chance, and nothing settles */
     .high = 1000000000,
     .offset = offsetof(corun_options, window_cycles),
     .group = SHARING,
     .commands = COMMAND_RUN | COMMAND_CORUN,
     .text = "Measures the classes of kernels every CYCLES cycles while they run (default: never). When two windows in "
             "a row find another class, all kernels are measured anew."},
    {.name = "in-turn",
     .kind = OPTION_FLAG,
     .offset = offsetof(corun_options, in_turn),
     .group = SHARING,
     .commands = COMMAND_RUN | COMMAND_CORUN | COMMAND_PAIRS,
     .text = "Measures kernels one after the other on all SMs, not at the same time on a part of the SMs each."},
    {.name = "unsampled",
     .kind = OPTION_FLAG,
     .offset = offsetof(corun_options, unsampled),
     .group = SHARING,
     .commands = COMMAND_RUN | COMMAND_CORUN,
     .text = "The policy decides at once, without measuring (spatial, even, leftover, green, mps, mig, blocks)."},
    {.name = NULL}};

const option_row corun_leave_rows[] = {
    {.name = "leave",
     .argument = "TECHNIQUE",
     .kind = OPTION_READ,
     .read = read_group_leave,
     .names = corun_leave_name,
     .group = SHARING,
     .text = "How blocks above their kernel's cap leave: drain (default), switch, flush, chimera (block by block, what "
             "costs least), park (switch, but registers and shared memory stay in place until another block needs the "
             "room)."},
    {.name = "move", .now = "leave"},
    {.name = NULL}};

const option_rule corun_rules[] = {
    {"places|in-turn|unsampled|window", "partition",
     "--places, --in-turn, --unsampled and --window need --partition POLICY"},
    {"group", "schedule partition", "--group needs --schedule POLICY and --partition POLICY"},
    {"partition schedule", "group",
     "--partition with --schedule needs --group N: the first N kernels share the SMs that the scheduler gives to them"},
    /* from here on of corun, too: CORUN_RULES_OF_RUN */
    {"unsampled in-turn|window", NULL,
     "--unsampled excludes --in-turn and --window, which say how the kernels are measured"},
    {"unsampled partition=ccbp|partition=smk|partition=ws|partition=ws+dai|partition=crisp|partition=slack"
     "|partition=worst_first",
     NULL,
     "--unsampled is for spatial, even, leftover and fixed divisions: the other policies decide by what is measured"},
    {NULL, NULL, NULL}};
