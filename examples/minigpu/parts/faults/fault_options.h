/* fault_options: what a run says of page faults (--faults, --link and those beside them). */
#ifndef MINIGPU_FAULT_OPTIONS_H
#define MINIGPU_FAULT_OPTIONS_H

#include <stdint.h>

/* What a fault maps remotely (gpump_uvm_config.remote). */
typedef enum fault_remote { FAULT_REMOTE_NONE, FAULT_REMOTE_THRASHING, FAULT_REMOTE_ALL, FAULT_REMOTES } fault_remote;

typedef struct faults_options {
    const char *scheme; /* a preset of gpump_replay: "stall", "wd_commit", "wd_check", "queue", "log8" to "log64",
                           "regions"; NULL: absent pages end the run */
    uint32_t order;     /* gpump_replay_order */
    uint32_t lazy;      /* 1: gpump_replay_on_fault LAZY */
    uint64_t check;     /* that look-up evicts its page first, counted from 1 over all SMs; NEVER: none */
    uint64_t interval;  /* and so does every N-th one behind it; 0: none */
    const char *link;   /* a link of fault_unit.h: what serves faults; NULL: pages come after a fixed time */
    const char *absent; /* with a link: "all": the CPU has every buffer at first; NULL: as the launch file says */
    uint32_t local;     /* with a link, 1: SMs allocate pages themselves (Tanasic 6.4.2) */
    uint32_t extra;     /* with a link: blocks that wait for pages give way to so many more than fit; 0: they stay */
    uint64_t memory;    /* with a link: bytes of GPU memory, beyond which pages are evicted; 0: all pages fit */
    uint32_t unpinned;  /* with memory, 1: nobody's pages are kept, so that instructions may evict each other's */
    uint32_t remote;    /* with a link: pages that stay with the CPU and are accessed over the link (fault_remote) */
} faults_options;

#endif
