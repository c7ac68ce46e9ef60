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
             "A page that neither side has yet gets a frame of the "
             "handler's list, and the CPU serves every other page."},
    {.name = "frames",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(faults_options, frames),
     .low = 0,
     .high = 1 << 24,
     .group = PAGES,
     .text =
         "With --handler: the list has N frames of 64 KB at first, and the CPU allocates when it is empty. Default: "
         "as many as there are granules; of a --gpu-memory half of it, but 32 granules stay with the CPU."},
    {.name = NULL}};

const option_rule handler_rules[] = {
    {"handler", "link", "--handler needs --link NAME: the link brings what the handler leaves to the CPU"},
    {"frames", "handler", "--frames needs --handler FILE: no one else has a list of frames"},
    {"handler local-handler", NULL,
     "--handler excludes --local-handler: an SM serves a fault by code or in a fixed time"},
    {NULL, NULL, NULL}};
