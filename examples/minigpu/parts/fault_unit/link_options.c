#include "parts/fault_unit/link_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts/fault_unit/fault_unit.h"

#define PAGES "Absent pages and faults"

static int refuse(const option_row *row, const char *needs, const char *text) {
    fprintf(stderr, "minigpu: --%s needs %s, not \"%s\"\n", row->name, needs, text);
    return -1;
}

static int read_gpu_memory(const option_row *row, const char *text, void *target) {
    faults_options *faults = (faults_options *)target;
    const uint64_t least = 32 * fault_unit_granule_bytes();
    char *end;
    uint64_t shift;
    errno = 0;
    faults->memory = strtoull(text, &end, 10);
    shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end != text && !errno && *text != '-' && faults->memory <= (UINT64_C(1) << 40) >> shift) {
        faults->memory <<= shift;
        end += shift != 0;
        faults->unpinned = !strcmp(end, ":unpinned");
        if ((!*end || faults->unpinned) && faults->memory >= least) return 0;
    }
    return refuse(row,
                  "bytes, such as 64M or 64M:unpinned, from 2M (32 granules of 64 KB, which one instruction may touch) "
                  "to 1024G",
                  text);
}

const option_row fault_unit_options[] = {
    {.name = "link",
     .argument = "NAME",
     .kind = OPTION_NAME,
     .names = fault_unit_link_name,
     .offset = offsetof(faults_options, link),
     .group = PAGES,
     .text = "With --faults or --page-checks: the CPU serves faults over this link, in granules of 64 KB: %N. uvm595 "
             "serves in batches, as NVIDIA's driver does. Buffers with owner: cpu or unallocated are absent at first "
             "(with --absent all: all)."},
    {.name = "gpu-memory",
     .argument = "BYTES[:unpinned]",
     .kind = OPTION_READ,
     .read = read_gpu_memory,
     .samples = "2M|64M|2097152|1G|2M:unpinned",
     .group = PAGES,
     .text = "With --link: the GPU has so much memory, at least 2 MB (K, M and G may follow); pages are evicted beyond "
             "it. unpinned: no instruction's pages are kept, so that instructions may evict each other's for ever."},
    {.name = "remote",
     .argument = "WHAT",
     .kind = OPTION_CHOICE,
     .names = fault_unit_remote_name,
     .offset = offsetof(faults_options, remote),
     .group = PAGES,
     .text = "With --link: pages that stay with the CPU and are accessed over the link: all, thrashing (evicted again "
             "and again; only with uvm595), none (default)."},
    {.name = "local-handler",
     .kind = OPTION_FLAG,
     .offset = offsetof(faults_options, local),
     .group = PAGES,
     .text = "With --link: SMs allocate pages that neither side has yet."},
    {.name = NULL}};

const option_rule fault_unit_rules[] = {
    {"link", "faults|page-checks", "--link needs --faults SCHEME or --page-checks FORM: only these find absent pages"},
    {"link fault-at", NULL,
     "--link excludes --fault-at: the CPU takes pages from the GPU only where its memory is full (--gpu-memory)"},
    {"local-handler", "link", "--local-handler needs --link NAME"},
    {"gpu-memory|remote", "link", "--gpu-memory and --remote need --link NAME"},
    {"gpu-memory page-checks", NULL,
     "--gpu-memory excludes --page-checks: a page could be evicted between its check and its access"},
    {"gpu-memory faults=regions", NULL,
     "--gpu-memory excludes --faults regions: a region goes back for each absent page, and may touch more pages than "
     "memory holds"},
    {"gpu-memory fault-lazy", NULL,
     "--gpu-memory excludes --fault-lazy: warps that wait in place keep others out of the load-store unit"},
    {"remote=thrashing", "link=uvm595",
     "--remote thrashing needs --link uvm595: other links do not detect pages that thrash"},
    {NULL, NULL, NULL}};
