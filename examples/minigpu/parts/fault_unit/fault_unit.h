/* fault_unit: pages that are on the CPU or unallocated, and how a fault maps them on the GPU (Tanasic 6.4 and 6.5).
 *
 * With --link the GPU has a fault unit, gpump_fault. A launch file says of a buffer `owner: cpu` or `owner:
 * unallocated`; its pages are absent until their first access. A look-up that misses reports to the unit, which
 * merges reports by granule and serves them. When a granule is there (MAP), records that wait in place look up again;
 * warps that have left the pipeline (WAKE) replay. An access outside all buffers ends its process alone (ABORT): its
 * blocks are killed, wherever they are, and the report says what was accessed. */
#ifndef MINIGPU_FAULT_UNIT_H
#define MINIGPU_FAULT_UNIT_H

#include "machine/machine_options.h"
#include "state/state.h"
#include "sm/late.h"
#include "sm/translation.h"

#define AWAITS_BLOCK UINT32_MAX /* warp.awaited_count: until its block waits for no granule */

/* What a process was aborted for. */
typedef struct fault_abort {
    uint64_t cycle, address, linear;
    const instruction *instruction;       /* NULL: the process was not aborted */
    uint32_t kernel, warp, lanes, killed; /* killed: blocks */
} fault_abort;

/* A granule that was evicted. */
typedef struct fault_leaving {
    uint64_t page; /* its first one */
    uint32_t process, unused;
} fault_leaving;

typedef struct fault_found fault_found;

#define AWAITED_MAX 8u /* granules that a warp waits for by name */

/* What a warp waits for; warp.awaited_count says for how many granules. */
typedef struct fault_wait {
    uint64_t awaited[AWAITED_MAX]; /* the granules by name */
    uint32_t calls;                /* 1: Kim's handler, or its fetch, waits for them (fault_calls.h) */
    uint32_t unused;
} fault_wait;

/* What an SM reports to the unit when the window has ended (sm/late.h). */
typedef enum fault_late_kind {
    FAULT_LATE_OPEN,
    FAULT_LATE_REMOTE,
    FAULT_LATE_RELEASE,
    FAULT_LATE_HANDLED,
    FAULT_LATE_DROPPED
} fault_late_kind;
/* An access over the link. */
typedef struct remote_access {
    uint64_t page;
    uint32_t process, record; /* record: in-flight record that awaits the reply; NONE: a posted store */
} remote_access;
/* An instruction that has passed its last check. */
typedef struct fault_release {
    uint64_t cookie;
    uint32_t warp, unused;
} fault_release;
/* What the handler of an SM has done (part.h, handler_ends). */
typedef struct fault_handled {
    uint64_t page;
    uint32_t process, mapped;
} fault_handled;
typedef struct fault_late {
    uint32_t kind, unused;
    union {
        gpump_fault_access access;
        remote_access remote;
        fault_release release;
        fault_handled handled;
    };
} fault_late;

/* What the unit answers to a report. */
typedef enum fault_report_answer {
    FAULT_IS_AWAITED,  /* the granule is on its way */
    FAULT_IS_INVALID,  /* the unit aborts the process */
    FAULT_IS_RESIDENT, /* the granule is there: translate again */
    FAULT_NO_ROOM
} fault_report_answer;

typedef struct fault_unit {
    gpump_fault *fault;
    const char *link;
    uint64_t next;                              /* when it has something to do; NEVER */
    uint64_t in_flight_since, in_flight_cycles; /* summed over open faults */
    uint32_t in_flight, in_flight_most, granule_pages, processes;
    uint32_t finite;        /* 1: GPU memory holds fewer granules than buffers have */
    uint32_t untold;        /* for studies: 1: victim selection does not see which blocks wait for pages */
    fault_leaving *leaving; /* granules that were evicted and may still be accessed */
    uint32_t leaving_count, remote_cycles; /* remote_cycles: of a segment over the link and back */
    uint64_t free_cycle;                   /* cycle of the next test whether they are */
    uint64_t segment_64ths;                /* how long a segment occupies the link, in 64ths of a cycle */
    uint64_t link_free_64ths;              /* when the link is free for the next one, likewise */
    uint64_t remote_accesses;              /* segments over the link */
    uint64_t maps, release_cycle;          /* granules mapped; when an instruction last passed its last check */
    uint8_t *written;                      /* by granule of device memory: 1: since it was mapped */
    fault_abort *aborts;                   /* by process */
    fault_wait *waits;                     /* by warp */
    fault_found *found;                    /* by warp: what its checks have found absent (fault_calls.h) */
    uint32_t *unmap;                       /* by process: 1: its buffers go when no fault of it is being served */
    late_list *late;                       /* by SM: fault_late of the present window; NULL: no windows */
    uint32_t kept, kept_unused;            /* late reports for which the unit had no room */
} fault_unit;

/* Returns what serves the machine's faults; NULL: pages come after a fixed time. */
static inline fault_unit *fault_unit_of(const machine *m) { return (fault_unit *)m->of_part[PART_fault_unit]; }

/* Returns what a warp waits for. */
static inline fault_wait *fault_wait_of(const machine *m, const warp *w) {
    return &fault_unit_of(m)->waits[w - m->warps];
}

/* The name of a link by its number; NULL past the last. */
const char *fault_unit_link_name(uint32_t index);
/* Returns the name of a policy for remote mappings (gpump_fault_remote) by its number; NULL past the last. */
const char *fault_unit_remote_name(uint32_t index);
/* The bytes of a granule, to which buffers are aligned where there is a link. */
uint64_t fault_unit_granule_bytes(void);
/* Gives the machine its fault unit, with the owners of the launch file's buffers. Returns 0, or -1 with the reason in
 * error. */
int fault_unit_make(machine *m, const launch_file *launch, const machine_options *all, char error[LAUNCH_ERROR_BYTES]);
/* Reports an access. A warp that must wait for its granule waits from then on. With windows the report reaches the unit
 * when the window has ended. Returns the cycle from which the access may be tried again; NEVER: when the unit reports
 * the granule. */
uint64_t fault_unit_open(machine *m, sm *s, warp *w, const gpump_fault_access *access);
/* Reports an access to gpump_fault in the machine's present cycle. */
fault_report_answer fault_unit_report(machine *m, const gpump_fault_access *access);
/* Enters what the SM reports at the end of the window. Returns its entry; NULL: the list is full. */
fault_late *fault_unit_add_late(machine *m, const sm *s, fault_late_kind kind);
/* Drops the SM's pending reports of a block that has left. */
void fault_unit_drop_late(machine *m, const sm *s, uint64_t cookie);
static inline uint64_t fault_unit_next(const machine *m) {
    const fault_unit *u = fault_unit_of(m);
    return !u ? NEVER : u->kept && u->next == NEVER ? m->now : u->next;
}
/* Is a fault being served? Then its page comes. */
static inline int fault_unit_is_serving(const machine *m) {
    return fault_unit_of(m) && gpump_next_cycle(&gpump_fault_component, fault_unit_of(m)->fault) != GPUMP_UNKNOWN;
}
/* Takes the report of an SM's handler (part.h, handler_ends). */
int fault_unit_handler_ends(machine *m, sm *s, uint32_t process, uint64_t page, int mapped);
/* Reports it to gpump_fault in the machine's present cycle. */
void fault_unit_handled(machine *m, const fault_handled *handled);
/* Handles a restored warp, which resumes when its block waits for nothing. Returns the cycle in which it resumes;
 * NEVER: when the unit reports its last granule. */
uint64_t fault_unit_restored(machine *m, warp *w);
/* A block has ended, or was dropped: it waits for nothing any more. */
void fault_unit_block_gone(machine *m, uint64_t cookie);

/* Updates, for each block of an SM, how many granules the block waits for and until which cycle. Called before a
 * decision about these blocks. */
void fault_unit_describe(machine *m, sm *s);

/* For fault_service.h: so many faults more, or fewer, are in flight; when the unit has something to do. */
void fault_unit_count(machine *m, int32_t change);
void fault_unit_refresh(machine *m);

#endif
