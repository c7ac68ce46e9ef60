#include "parts/duet/duet_options.h"

#include "machine/machine_options.h"

const option_row duet_options[] = {
    {.name = "duet",
     .argument = "PRESET[:EXTRA[:PORT]]",
     .kind = OPTION_TEXT,
     .missing = "maxwell_duet",
     .offset = offsetof(machine_options, duet),
     .group = "Kernels that share SMs",
     .samples =
         "maxwell_duet|duet_block|duet_whole|virtual_thread|maxwell_duet:2|maxwell_duet:all|maxwell_duet:monitor:64",
     .text = "SMs hold more blocks than fit, and switch stalled warps in on-chip memory: maxwell_duet (default), "
             "duet_block, duet_whole, virtual_thread. EXTRA: how many more blocks, a number, all, or monitor. PORT: "
             "bytes per cycle "
             "(128)."},
    {.name = NULL}};
