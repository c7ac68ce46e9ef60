#include "parts/schedule/schedule_options.h"

#include <stdio.h>

#include "policies.h"

#define SCHEDULING "Processes under a scheduler"
#define SECOND UINT64_C(1000000000)

static int refuse(const option_row *row, const char *needs, const char *text) {
    fprintf(stderr, "minigpu: --%s needs %s, not \"%s\"\n", row->name, needs, text);
    return -1;
}

/* Reads LEAST:SPREAD:MEAN in microseconds, what a command costs that brings another process onto the GPU. */
static int read_command(const option_row *row, const char *text, void *target) {
    uint64_t *ns = ((machine_options *)target)->command_ns;
    double us[3];
    char extra;
    if (sscanf(text, "%lf:%lf:%lf%c", &us[0], &us[1], &us[2], &extra) != 3 || !(us[0] >= 0 && us[1] >= 0) ||
        !(us[2] >= us[0] + us[1] / 2 && us[2] <= 1e6))
        return refuse(row, "LEAST:SPREAD:MEAN in microseconds, where MEAN is at least LEAST + SPREAD / 2", text);
    for (int i = 0; i < 3; i++) ns[i] = (uint64_t)(us[i] * 1000 + 0.5);
    return 0;
}

const option_row schedule_options[] = {
    {.name = "schedule",
     .argument = "POLICY",
     .kind = OPTION_NAME,
     .offset = offsetof(machine_options, schedule),
     .names = policies_scheduler_name,
     .group = SCHEDULING,
     .often = 1,
     .text = "Processes share the GPU as this scheduler says: %N."},
    {.name = "priority-at",
     .argument = "CYCLE:PROCESS:PRIORITY[:WEIGHT],...",
     .kind = OPTION_TEXT,
     .samples = "3000:0:9|1:0:2:3,5000:0:0",
     .offset = offsetof(machine_options, priority_at),
     .group = SCHEDULING,
     .text = "With --schedule: from a cycle on a process, by name or number, has this priority, and this weight."},
    {.name = "slice",
     .argument = "US",
     .kind = OPTION_MICROSECONDS,
     .low = 1,
     .high = SECOND,
     .offset = offsetof(machine_options, slice_ns),
     .group = SCHEDULING,
     .text = "With --schedule time_slice: a turn lasts US microseconds (1000)."},
    {.name = "command",
     .argument = "LEAST:SPREAD:MEAN",
     .kind = OPTION_READ,
     .read = read_command,
     .samples = "0:0:0|24:2:26.5",
     .group = SCHEDULING,
     .text = "With --schedule: microseconds that it costs to bring another process onto SMs: at least, evenly spread, "
             "on average (0)."},
    {.name = "launch-ahead",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .high = 65535,
     .offset = offsetof(machine_options, launch_ahead),
     .group = SCHEDULING,
     .text = "With --schedule: kernels that a process has launched beyond the running one, which cannot be held back "
             "(0)."},
    {.name = "launch-refill",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .high = 65535,
     .offset = offsetof(machine_options, launch_refill),
     .group = SCHEDULING,
     .text = "With --launch-ahead: a process launches so many kernels at a time (0)."},
    {.name = NULL}};

const option_rule schedule_rules[] = {{"slice", "schedule=time_slice", "--slice needs --schedule time_slice"},
                                      {"priority-at", "schedule", "--priority-at needs --schedule POLICY"},
                                      {"command", "schedule", "--command needs --schedule POLICY"},
                                      {"launch-ahead", "schedule", "--launch-ahead needs --schedule POLICY"},
                                      {"launch-refill", "launch-ahead", "--launch-refill needs --launch-ahead N"},
                                      {NULL, NULL, NULL}};
