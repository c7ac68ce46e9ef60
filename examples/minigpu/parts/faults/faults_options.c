#include "parts/faults/faults_options.h"

#include <stdio.h>

#include "parts/faults/faults.h"

#define PAGES "Absent pages and faults"

static int read_fault_at(const option_row *row, const char *text, void *target) {
    faults_options *faults = (faults_options *)target;
    if (!option_every(text, &faults->check, &faults->interval)) return 0;
    fprintf(stderr, "minigpu: --%s needs N or N:M, both from 1, not \"%s\"\n", row->name, text);
    return -1;
}

const option_row faults_option_rows[] = {
    {.name = "faults",
     .argument = "SCHEME",
     .kind = OPTION_NAME,
     .names = faults_scheme_name,
     .offset = offsetof(faults_options, scheme),
     .group = PAGES,
     .often = 1,
     .text = "An access to an absent page faults. The scheme says how the faulted warp can leave its SM: stall (it "
             "cannot), wd_commit, wd_check, queue, log8 to log64 (KB of operand log), regions (needs --regions)."},
    {.name = "fault-at",
     .argument = "N[:M]",
     .kind = OPTION_READ,
     .read = read_fault_at,
     .samples = "1|7|100:50",
     .group = PAGES,
     .text = "With --faults: the N-th look-up of a page, and then every M-th, evicts that page first."},
    {.name = "fault-order",
     .argument = "NAME",
     .kind = OPTION_CHOICE,
     .names = faults_order_name,
     .offset = offsetof(faults_options, order),
     .group = PAGES,
     .text = "With --faults: the accesses of a warp that stay in order: class (default), address, printed (as in the "
             "thesis)."},
    {.name = "fault-lazy",
     .kind = OPTION_FLAG,
     .offset = offsetof(faults_options, lazy),
     .group = PAGES,
     .text = "With --faults: a faulted access waits in place until its block is preempted."},
    {.name = NULL}};

const option_rule faults_rules[] = {
    {"fault-at|fault-lazy|fault-order", "faults", "--fault-at, --fault-order and --fault-lazy need --faults SCHEME"},
    {NULL, NULL, NULL}};
