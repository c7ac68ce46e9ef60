/* fault_parts (private): the fault unit's block of memory. Each file uses those before it: fault_records.c (heap,
 * ranges, records), fault_tables.c (lays the block out, shows it, checks it), fault_memory.c (frames, eviction, pins),
 * fault_batches.c (batches), fault.c (entry points: buffers, faults, actions). */
#ifndef GPUMPI_FAULT_PARTS_H
#define GPUMPI_FAULT_PARTS_H

#include "fault/fault.h"
#include "fault/tlb.h"

#include <string.h>

GPUMP_BEGIN

/* A process whose access was invalid. */
typedef struct gpumpi_fault_process {
    gpump_fault_access access;
    uint32_t aborted, pending; /* pending: ABORT has not been handed over */
} gpumpi_fault_process;
/* A buffer, in granules; sorted by process and first. Its granules follow those of the range before it. */
typedef struct gpumpi_fault_range {
    uint64_t first, count;
    uint32_t process, rights, granule, unused;
} gpumpi_fault_range;
typedef struct gpumpi_fault_granule {
    gpump_uvm_granule uvm;     /* what the driver remembers of it */
    uint32_t owner, fault;     /* fault: GPUMP_NONE: none is open */
    uint32_t previous, next;   /* in the list of mapped ones, or of those whose UNMAP has not been handed over */
    uint32_t pinned;           /* 1: the holder keeps it */
    uint32_t accesses;         /* remote ones */
    uint32_t evictions, epoch; /* evictions since instruction `epoch` was released */
} gpumpi_fault_granule;
/* An open fault; or a free one, in the list of free ones. */
typedef struct gpumpi_fault_record {
    uint64_t start, end, opened, number, cookie; /* opened: its turn; number: granule number in its process */
    uint64_t framed;                             /* when its frame is free for it */
    uint64_t delayed_until;                      /* QUEUED: because its granule thrashed; 0: it was not delayed */
    uint32_t granule, process, rights, first, last, count; /* waiters */
    uint32_t next, state, sm, warp; /* next: in the list of free ones, of LOCAL to come, or of those QUEUED */
    uint32_t frame_next;            /* in the list of those without a frame */
    uint32_t entries;               /* reports in the fault buffer */
    uint32_t remote;                /* 1: it ends in a remote mapping */
    uint32_t has_frame;             /* 1: it has a frame, or needs none */
    uint32_t asks_cpu;              /* 1: a handler of an SM need not look at it, or has done so already */
    uint32_t unused;
} gpumpi_fault_record;
enum {
    GPUMPI_FAULT_FREE,
    GPUMPI_FAULT_QUEUED,    /* waits for the driver to fetch it */
    GPUMPI_FAULT_ANNOUNCED, /* served; LOCAL has not been handed over */
    GPUMPI_FAULT_SERVED,    /* served until `end`: in the heap */
    GPUMPI_FAULT_LATE,      /* served, and waits for its frame, or for its granule to leave first */
    GPUMPI_FAULT_MAPPED,    /* wakes its waiters: first in the heap */
    GPUMPI_FAULT_CALLING,   /* LOCAL_CODE: LOCAL has not been handed over */
    GPUMPI_FAULT_RUNNING,   /* LOCAL_CODE: the handler of its SM runs for it */
    GPUMPI_FAULT_STATES
};
typedef struct gpumpi_fault_waiter {
    uint64_t cookie, warps;
    uint32_t next, owner; /* owner: its fault; GPUMP_NONE: free */
} gpumpi_fault_waiter;
/* A list: of granules by previous and next, of records by one of their links. */
typedef struct gpumpi_fault_list {
    uint32_t first, last;
} gpumpi_fault_list;
struct gpump_fault {
    gpumpi_head head;
    uint64_t now, cpu_free, opened;
    uint64_t driver_free, fetch_cycle; /* the driver; fetch_cycle GPUMP_UNKNOWN: nothing is queued */
    uint64_t holder_cookie;
    gpump_fault_statistics statistics;
    gpump_fault_config config;
    uint32_t ranges, granules, faults; /* in use; faults: in the heap */
    uint32_t open;                     /* faults in all states but FREE */
    uint32_t free_fault, free_waiter, aborts, granule_shift;
    gpumpi_fault_list local, queue, frameless; /* of records */
    gpumpi_fault_list behind;                  /* of CALLING records whose SM runs its handler for another one */
    gpumpi_fault_list mapped, unmaps;          /* of granules: oldest first; those whose UNMAP is to be handed over */
    /* taken: by mapped and leaving granules, by faults that have one, and by the handlers' list */
    uint32_t frames;
    uint32_t local_left;          /* frames that the handlers' list still has */
    uint32_t wanting, leaving;    /* faults without a frame; granules that leave */
    uint32_t holder, holder_warp; /* holder: 1: there is one */
    uint32_t epoch, pins, unused;
    uint32_t pinned[64];                                                                        /* granules */
    uint64_t processes_at, ranges_at, records_at, waiters_at, sm_free_at, granules_at, heap_at; /* see below */
};

/* How many offsets the head holds, from processes_at on, in bytes from the start of the block. */
#define GPUMPI_FAULT_OFFSETS 7
GPUMP_INLINE void *gpumpi_fault_table(const gpump_fault *f, uint64_t offset) {
    return (void *)((uintptr_t)(const void *)f + (uintptr_t)offset);
}
/* Behind the head: processes, ranges, faults, waiters, when each SM is free, granules, and the heap of faults. */
GPUMP_INLINE gpumpi_fault_process *gpumpi_fault_processes(const gpump_fault *f) {
    return (gpumpi_fault_process *)gpumpi_fault_table(f, f->processes_at);
}
GPUMP_INLINE gpumpi_fault_range *gpumpi_fault_ranges(const gpump_fault *f) {
    return (gpumpi_fault_range *)gpumpi_fault_table(f, f->ranges_at);
}
GPUMP_INLINE gpumpi_fault_record *gpumpi_fault_records(const gpump_fault *f) {
    return (gpumpi_fault_record *)gpumpi_fault_table(f, f->records_at);
}
GPUMP_INLINE gpumpi_fault_waiter *gpumpi_fault_waiters(const gpump_fault *f) {
    return (gpumpi_fault_waiter *)gpumpi_fault_table(f, f->waiters_at);
}
GPUMP_INLINE uint64_t *gpumpi_fault_sm_free(const gpump_fault *f) {
    return (uint64_t *)gpumpi_fault_table(f, f->sm_free_at);
}
GPUMP_INLINE gpumpi_fault_granule *gpumpi_fault_granules(const gpump_fault *f) {
    return (gpumpi_fault_granule *)gpumpi_fault_table(f, f->granules_at);
}
GPUMP_INLINE uint32_t *gpumpi_fault_heap(const gpump_fault *f) { return (uint32_t *)gpumpi_fault_table(f, f->heap_at); }

/* 1: frames are counted. */
GPUMP_INLINE int gpumpi_fault_is_finite(const gpump_fault *f) { return f->config.memory != UINT32_MAX; }
GPUMP_INLINE uint64_t gpumpi_fault_later(uint64_t a, uint64_t b) { return a > b ? a : b; }
GPUMP_INLINE void gpumpi_fault_append(gpump_fault *f, gpumpi_fault_list *list, uint32_t record) {
    if (list->last == GPUMP_NONE)
        list->first = record;
    else
        gpumpi_fault_records(f)[list->last].next = record;
    list->last = record;
}

/* 1: an action is due that waits for no time: ABORT, LOCAL or UNMAP. GPUMP_NONE has all bits set, so one test tells
 * that both lists are empty and no abort is counted. */
GPUMP_INLINE int gpumpi_fault_is_urgent(const gpump_fault *f) {
    return (f->local.first & f->unmaps.first & ~f->aborts) != GPUMP_NONE;
}
/* Fills an action about a fault. What lies side by side is read first, and then written, so that a compiler can move it
 * in one piece. */
GPUMP_INLINE void gpumpi_fault_describe(const gpump_fault *f, const gpumpi_fault_record *record, uint32_t kind,
                                        uint64_t cookie, uint64_t warps, gpump_fault_action *action) {
    const uint64_t start = record->start, end = record->end;
    const uint32_t process = record->process, sm = record->sm, warp = record->warp, rights = record->rights;
    memset(&action->access, 0, sizeof action->access);
    action->page = record->number << f->granule_shift;
    action->pages = f->config.granule_pages;
    action->cookie = cookie;
    action->warps = warps;
    action->start = start;
    action->end = end;
    action->process = process;
    action->sm = sm;
    action->warp = warp;
    action->rights = rights;
    action->kind = kind;
    action->owner = gpumpi_fault_granules(f)[record->granule].owner;
    action->remote = record->remote;
    action->unused = 0;
}

/* The heap: the earliest end first, then the earliest opening. */
GPUMP_INLINE int gpumpi_fault_before(const gpump_fault *f, uint32_t a, uint32_t b) {
    const gpumpi_fault_record *x = gpumpi_fault_records(f) + a, *y = gpumpi_fault_records(f) + b;
    return x->end != y->end ? x->end < y->end : x->opened < y->opened;
}

/* fault_records.c */
/* Puts a record into the heap. */
GPUMP_API void gpumpi_fault_push(gpump_fault *f, uint32_t record);
/* Moves the last record of the heap, which is no longer counted, to its place from the top on. */
GPUMP_API void gpumpi_fault_sift(gpump_fault *f);
/* Takes the first record out of the heap. */
GPUMP_INLINE void gpumpi_fault_pop(gpump_fault *f) {
    if (--f->faults) gpumpi_fault_sift(f);
}
/* Returns the first range that is not before (process, number). */
GPUMP_API uint32_t gpumpi_fault_at(const gpump_fault *f, uint32_t process, uint64_t number);
/* Returns the range of a granule number of a process; NULL without one. */
GPUMP_API gpumpi_fault_range *gpumpi_fault_find(const gpump_fault *f, uint32_t process, uint64_t number);
/* Returns the range of a granule. */
GPUMP_API const gpumpi_fault_range *gpumpi_fault_range_of(const gpump_fault *f, uint32_t granule);
/* Takes a free record for a granule of a range and makes it the granule's fault, without waiters; GPUMP_NONE: none is
 * free. */
GPUMP_API uint32_t gpumpi_fault_new_record(gpump_fault *f, const gpumpi_fault_range *range, uint32_t granule);

/* fault_memory.c */
/* A fault has been scheduled and needs a frame: it takes one, or waits for one. */
GPUMP_API void gpumpi_fault_ask_frame(gpump_fault *f, uint32_t record);
/* A fault has been scheduled: it asks for a frame where frames are counted and it does not end in a remote mapping. */
GPUMP_INLINE void gpumpi_fault_take_frame(gpump_fault *f, uint32_t at, gpumpi_fault_record *record) {
    record->frame_next = GPUMP_NONE;
    record->has_frame = !gpumpi_fault_is_finite(f) || record->remote;
    if (!record->has_frame) gpumpi_fault_ask_frame(f, at);
}
/* Gives free frames, free at `cycle`, to the faults that wait for one, and evicts for the others. */
GPUMP_API void gpumpi_fault_share_frames(gpump_fault *f, uint64_t cycle);
/* A granule has been mapped, or belongs to the GPU from the start; or it leaves the tables. */
GPUMP_API void gpumpi_fault_enter_memory(gpump_fault *f, uint32_t granule);
GPUMP_API void gpumpi_fault_leave_memory(gpump_fault *f, uint32_t granule);
/* Pins a granule for the holder. */
GPUMP_API void gpumpi_fault_pin(gpump_fault *f, uint32_t granule);
/* Ends the hold, and chooses the next holder. */
GPUMP_API void gpumpi_fault_end_hold(gpump_fault *f);
/* Hands over an action that waits for no time; there is one. */
GPUMP_API gpump_result gpumpi_fault_next_at_once(gpump_fault *f, gpump_fault_action *action);

/* fault_batches.c */
/* Decides when a new fault is served, and by whom: now, or by a batch to come. */
GPUMP_API void gpumpi_fault_schedule(gpump_fault *f, uint32_t at, gpumpi_fault_record *record);
/* Serves the batches whose fetch is due at `now`. */
GPUMP_API void gpumpi_fault_serve_batches(gpump_fault *f, uint64_t now);
/* Time goes on to `now`. */
GPUMP_INLINE void gpumpi_fault_advance(gpump_fault *f, uint64_t now) {
    if (f->fetch_cycle <= now) gpumpi_fault_serve_batches(f, now);
    f->now = now;
}

GPUMP_END
#endif
