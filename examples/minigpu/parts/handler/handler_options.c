#include "parts/handler/handler_options.h"

#include "machine/machine_options.h"

#define PAGES "Absent pages and faults"

const option_row handler_options[] = {
    {.name = "handler",
     .argument = "FILE",
     .kind = OPTION_INPUT,
     .offset = offsetof(faults_options, handler),
     .group = PAGES,
     .text = "With --link: each fault first calls the handler of its SM, the kernel of this PTX file, in system mode. "
             "It maps a page that neither side has yet with a frame of its "
             "list, and leaves every other one to the CPU."},
    {.name = "frames",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(faults_options, frames),
     .low = 0,
     .high = 1 << 24,
     .group = PAGES,
     .text = "With --handler: the list has N frames of 64 KB at first; without it as many as there are granules. The "
             "CPU allocates when the list is empty."},
    {.name = NULL}};

const option_rule handler_rules[] = {
    {"handler", "link", "--handler needs --link NAME: the link brings what the handler leaves to the CPU"},
    {"frames", "handler", "--frames needs --handler FILE: no one else has a list of frames"},
    {"handler local-handler", NULL,
     "--handler excludes --local-handler: an SM serves a fault by code or in a fixed time"},
    {"handler gpu-memory", NULL,
     "--handler excludes --gpu-memory: the frames are the handler's (--frames), and it evicts nothing"},
    {NULL, NULL, NULL}};
