#include "parts/page_checks/page_options.h"

#include "analysis/analysis.h"
#include "machine/machine_options.h"

#define PAGES "Absent pages and faults"
#define SECOND UINT64_C(1000000000)

const option_row page_options[] = {
    {.name = "absent",
     .argument = "LIST",
     .kind = OPTION_TEXT,
     .offset = offsetof(machine_options, absent),
     .samples = "all|code|local|all,code",
     .group = PAGES,
     .text = "Pages that are absent at first: all (buffers), NAMES of buffers, code (of kernels and of the fault "
             "handler), local (arrays in local memory, with --page-checks), as in a,b,code."},
    {.name = "page-checks",
     .argument = "FORM",
     .kind = OPTION_CHOICE,
     .names = page_check_form_name,
     .offset = offsetof(machine_options, page_checks),
     .group = PAGES,
     .text = "The compiler inserts page checks (Kim): every (before each access), array (where a walk through an array "
             "enters a page), pointer (the loads of loops that follow pointers check), kim (array and pointer), none "
             "(default)."},
    {.name = "fault-service",
     .argument = "US",
     .kind = OPTION_MICROSECONDS,
     .low = 1,
     .high = SECOND,
     .offset = offsetof(machine_options, fault_service_ns),
     .group = PAGES,
     .text = "With --faults or --page-checks: a page comes after US microseconds (default: page_service_cycles). With "
             "--link: the CPU serves a fault in US microseconds (default: the link's), and the transfer comes on top."},
    {.name = NULL}};

const option_rule page_rules[] = {
    {"fault-service", "faults|page-checks",
     "--fault-service needs --faults SCHEME or --page-checks FORM: only these find absent pages"},
    {"absent=local", "page-checks",
     "--absent local needs --page-checks FORM: local memory faults only where it is checked"},
    {NULL, NULL, NULL}};
