/* fault: which processor holds each page, and how long the service of a fault takes (hardware; per GPU; Tanasic 6.4 and
 * 6.5)
 *
 * A GPU's fault unit. The host maps buffers and names the owner of their pages. The host reports accesses to pages that
 * are absent from the host's page table. The unit merges faults by granule and classifies each fault: the CPU must
 * migrate the granule, the granule was never allocated, or the access is invalid. The unit computes the end of each
 * service and wakes the blocks that wait. Waiters are identified by their cookies, so a block that has left its SM is
 * woken as well.
 *
 * The CPU serves faults in the order of opening. Each fault occupies the CPU for `busy` cycles, and its page is
 * resident after `latency` cycles. With equal numbers the CPU serves one fault at a time for its whole cost, as the
 * thesis describes ("one by one"). With `local` GPUMP_FAULT_LOCAL_FIXED, an SM serves faults to unallocated pages
 * itself, one at a time (6.4.2). The end of a fault is therefore known when the fault is opened.
 *
 * With `local` GPUMP_FAULT_LOCAL_CODE the host runs the handler of an SM as code: every fault begins with an action
 * LOCAL, one at a time per SM, and gpump_fault_report_local ends it. Either the handler has mapped the granule, or it
 * asks the CPU, which then serves the fault as without handlers. The end of a fault is known from then on. Where memory
 * holds fewer granules than are mapped, `local_frames` of its frames are the handlers'. A granule that a handler maps
 * takes one of them. The CPU alone evicts, and keeps what it frees: the handlers' list is never filled again.
 *
 * GPU memory that holds fewer granules than the processes map (`memory`): a fault needs a frame before its granule is
 * mapped. When none is free, the granule that was mapped longest ago gets an UNMAP action; the frame is free when the
 * host has answered with gpump_fault_report_unmapped. Pins (`pins` 1) guarantee that every process ends. One warp at a
 * time, the holder, keeps the granules that were mapped for it until gpump_fault_release reports that its instruction
 * has passed its last check. The holder is chosen in the order of faults. Memory holds all granules of one instruction,
 * so the instruction of the holder always completes. Every waiting warp therefore becomes the holder. gpump_fault_stuck
 * names the granules that evict each other.
 *
 * With `uvm.batch` above 1 a driver serves faults in batches, by the rules of gpump_uvm: an interrupt, a fixed cost,
 * then up to `batch` entries of the fault buffer (merged reports are entries too), VA block by VA block, with
 * prefetching by density. Blocks are woken when the driver replays. The end of a fault is then known when its batch is
 * fetched. With GPUMP_FAULT_LOCAL_FIXED too, the driver's fault buffer gets no faults to unallocated pages: an SM
 * serves these, and their end is known at once. */
#ifndef GPUMP_FAULT_H
#define GPUMP_FAULT_H

#include "base/component.h"
#include "gpu/gpu.h"
#include "fault/uvm.h"

GPUMP_BEGIN

/* The owner of a granule. */
typedef enum gpump_fault_owner {
    GPUMP_FAULT_CPU = 0,     /* the CPU, with data: a fault migrates it */
    GPUMP_FAULT_UNALLOCATED, /* no processor: a fault allocates the granule */
    GPUMP_FAULT_GPU,         /* the GPU: no fault */
    GPUMP_FAULT_REMOTE,      /* the CPU, mapped for the GPU to access over the link: no fault, no frame */
    GPUMP_FAULT_LEAVING,     /* being unmapped: UNMAP has not been answered */
    GPUMP_FAULT_OWNERS
} gpump_fault_owner;

/* Who serves faults beside the CPU (Tanasic 6.4.2). */
typedef enum gpump_fault_local {
    GPUMP_FAULT_LOCAL_NONE = 0, /* nobody */
    GPUMP_FAULT_LOCAL_FIXED,    /* an SM serves its faults to unallocated pages in local_cycles each */
    GPUMP_FAULT_LOCAL_CODE,     /* the handler of an SM sees each of its faults first; it is code that the host runs */
    GPUMP_FAULT_LOCALS
} gpump_fault_local;

/* Outcome of a reported access. */
typedef enum gpump_fault_outcome {
    GPUMP_FAULT_OPENED = 0, /* a fault of its own; WAKE follows */
    GPUMP_FAULT_MERGED,     /* its granule is being served; WAKE follows */
    GPUMP_FAULT_RETRY,      /* the granule is resident now: translate again */
    GPUMP_FAULT_INVALID     /* no buffer, or the buffer does not allow it: ABORT follows, once per process */
} gpump_fault_outcome;

/* An access that faults. */
typedef struct gpump_fault_access {
    uint64_t page;    /* page number */
    uint64_t address; /* for the report of an invalid access; the unit does not read it */
    uint64_t cookie;  /* the block that waits */
    uint64_t lanes;   /* lanes that touch the page; likewise only reported */
    uint32_t process; /* below config.processes */
    uint32_t kernel;  /* only reported */
    uint32_t sm;      /* below config.sms */
    uint32_t warp;    /* of the block; 0 to 63 */
    uint32_t pc;      /* only reported */
    uint32_t rights;  /* what it needs: gpump_tlb_right bits */
} gpump_fault_access;

typedef enum gpump_fault_action_kind {
    GPUMP_FAULT_ACT_ABORT = 1, /* `access` was invalid: drop all blocks of its process */
    GPUMP_FAULT_ACT_LOCAL,     /* SM `sm` handles a fault itself, in warp `warp` of `cookie`, from `start` to `end`;
                                  GPUMP_UNKNOWN: until gpump_fault_report_local */
    GPUMP_FAULT_ACT_MAP,       /* `pages` pages from `page` of `process` are there, with `rights`; `owner` had them */
    /* Take `pages` pages from `page` of `process` away: unmap them, end the accesses under way, empty the TLBs. Then
     * gpump_fault_report_unmapped. */
    GPUMP_FAULT_ACT_UNMAP,
    GPUMP_FAULT_ACT_WAKE /* block `cookie` waits for this granule no longer, in the warps `warps` (bits) */
} gpump_fault_action_kind;
typedef struct gpump_fault_action {
    gpump_fault_access access; /* ABORT */
    uint64_t page, pages;      /* LOCAL, MAP, WAKE: the granule */
    uint64_t cookie, warps;    /* LOCAL, WAKE */
    uint64_t start, end;       /* LOCAL, MAP, WAKE: cycles in which the fault was served */
    uint32_t kind;             /* gpump_fault_action_kind */
    uint32_t process, sm, warp, rights, owner;
    uint32_t remote; /* MAP: 1: the pages stay with the CPU, and the GPU accesses them over the link */
    uint32_t unused;
} gpump_fault_action;

/* A granule that is evicted and mapped repeatedly (gpump_fault_stuck). */
typedef struct gpump_fault_bounce {
    uint64_t page; /* its first page */
    uint32_t process;
    uint32_t evictions; /* since an instruction was last released */
} gpump_fault_bounce;

/* The configuration of a fault unit. gpump_preset fills the struct; the host may then change every
 * field. */
typedef struct gpump_fault_config {
    uint32_t sms;             /* 1 to 65536 */
    uint32_t processes;       /* 1 to 4096; 16 (assumed) */
    uint32_t ranges;          /* buffers mapped at the same time; 1 to 65536; 256 (assumed) */
    uint32_t granules;        /* granules of all of them; 1 to 2^24; 65536 (assumed: 4 GB) */
    uint32_t faults;          /* faults open at the same time; 1 to 65536; 1024 (assumed) */
    uint32_t waiters;         /* blocks that wait for them, summed over faults; 1 to 2^20; 16384 (assumed) */
    uint32_t granule_pages;   /* pages served together; a power of two up to 512; 16 (64 KB of 4 KB, Tanasic 6.5.1) */
    uint32_t migrate_cycles;  /* from fault to page, for pages that the CPU has; 12 us, PCIe 25 us (Tanasic 6.5.3) */
    uint32_t allocate_cycles; /* likewise for unallocated pages; 10 us, PCIe 12 us */
    uint32_t migrate_busy_cycles;  /* of that, how long the CPU and the link serve no other; at most the latency */
    uint32_t allocate_busy_cycles; /* likewise */
    uint32_t local;                /* gpump_fault_local */
    uint32_t local_cycles;         /* _FIXED: the handler of an SM; 20 us (Tanasic 6.5.4) */
    /* Granules that GPU memory holds, at least `touches`; UINT32_MAX, the default: all. */
    uint32_t memory;
    uint32_t touches; /* granules that one warp instruction touches at most; 1 to 64; 64 (assumed: 64 lanes) */
    uint32_t pins;    /* 1: the holder's granules are not evicted (default); 0: nothing is guaranteed */
    uint32_t
        evict_cycles; /* CPU and link are occupied so long by writing back a dirty granule; a migration's (assumed) */
    gpump_uvm_config uvm; /* the driver that serves faults in batches; preset "none" but for uvm595 */
    /* _CODE: frames of `memory` that the handlers' list has at first. The unit gives none of them to faults that a
     * handler has left to the CPU. At most memory - touches; 0 where memory is UINT32_MAX. */
    uint32_t local_frames;
} gpump_fault_config;

/* clang-format off */
#define GPUMPI_FAULT_STATISTICS(X)                                                             \
    X(reported, "accesses", "reported; the sum of the next four")                             \
    X(opened, "accesses", "that opened a fault")                                              \
    X(merged, "accesses", "that joined one")                                                  \
    X(retried, "accesses", "whose granule was there")                                         \
    X(invalid, "accesses", "outside all buffers, or not allowed")                             \
    X(migrated, "faults", "served by a migration from the CPU")                               \
    X(allocated, "faults", "served by an allocation on the CPU")                              \
    X(local, "faults", "served by an SM")                                                     \
    X(waits, "waits", "of a block for a granule that began")                                  \
    X(woken, "waits", "that ended with the granule")                                          \
    X(cancelled, "waits", "that ended because the block was dropped")                         \
    X(busy_cycles, "cycles", "that the CPU and the link were occupied")                       \
    X(served, "faults", "whose granule was mapped")                                           \
    X(prefetched, "faults", "that no access opened: by density, or by an access counter")     \
    X(remote, "faults", "served by a remote mapping")                                         \
    X(evicted, "granules", "that were taken away")                                            \
    X(written, "granules", "of these, written back")                                          \
    X(batches, "batches", "that the driver served")                                           \
    X(fetched, "accesses", "fetched from the fault buffer")                                   \
    X(delayed, "faults", "delayed because their granule thrashed")                            \
    X(pinned, "granules", "pinned, or mapped remotely, because they thrashed")                \
    X(releases, "instructions", "that were released")
/* clang-format on */
typedef struct gpump_fault_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMPI_FAULT_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_fault_statistics;

typedef struct gpump_fault gpump_fault;

/* The unit for the verbs of base/component.h: gpump_init makes a unit without buffers. Presets: "nvlink", "pcie3",
 * both with "_local" behind it, "ideal" (every fault takes a cycle and occupies nothing), and "uvm595" (NVIDIA's
 * driver over PCIe 3, see gpump_uvm), on the 16 SMs of Tanasic Table 6.1 at 1 GHz. Under uvm595 a granule of 64 KB
 * takes 5.3 us (assumed: 12.3 GB/s). gpump_bits counts per open fault its granule (36 bits of page number), process,
 * end and list; per waiter a cookie, 64 warps and a link; an end per SM. Buffers and owners are tables in memory. */
GPUMP_API const gpumpi_methods *gpumpi_fault_methods(void);
GPUMPI_CONSTANT gpump_component gpump_fault_component = {gpumpi_fault_methods, GPUMP_LAYOUT_FAULT, 0};

/* Maps `pages` pages from `first` on, both multiples of granule_pages, for `process`. `owner` is GPUMP_FAULT_CPU,
 * UNALLOCATED or GPU. `rights` are the accesses allowed (gpump_tlb_right bits). GPUMP_ERROR_STATE: some of the pages
 * are already mapped. GPUMP_ERROR_FULL: no room for the buffer. Cost: linear in ranges and granules. */
GPUMP_API gpump_result gpump_fault_map(gpump_fault *fault, uint32_t process, uint64_t first, uint64_t pages,
                                       uint32_t owner, uint32_t rights);
/* Unmaps all buffers of `process`, which has ended or was aborted. A later invalid access by the same process number
 * then gives ABORT again. GPUMP_BUSY: a fault of the process is being served; the host cancels its waiters and calls
 * again at gpump_fault_next_cycle. Cost: linear. */
GPUMP_API gpump_result gpump_fault_unmap(gpump_fault *fault, uint32_t process);
/* Reports an access that faults, and sets *outcome (gpump_fault_outcome). GPUMP_BUSY: no fault or no waiter is free;
 * the access is not recorded, and the host reports the access again later. The time is `now` even so: batches that were
 * due have been served. Cost: logarithmic in ranges and faults, linear in the blocks that wait for the granule. */
GPUMP_API gpump_result gpump_fault_report(gpump_fault *fault, uint64_t now, const gpump_fault_access *access,
                                          uint32_t *outcome);
/* Ends all waits of the block `cookie`, which was flushed or killed, or has ended. The service of its faults continues.
 * A holder among its warps is released. GPUMP_EMPTY: the block waits for no granule. Cost: linear in faults and
 * waiters. */
GPUMP_API gpump_result gpump_fault_cancel(gpump_fault *fault, uint64_t cookie);
/* Reports that a memory instruction of `warp` of the block `cookie` has passed its last check. If that warp is the
 * holder, its granules may be evicted again, and the warp that has waited longest becomes the holder. A host calls the
 * function for every instruction that has faulted, but only where config.memory is finite. Cost: linear in faults. */
GPUMP_API gpump_result gpump_fault_release(gpump_fault *fault, uint64_t now, uint64_t cookie, uint32_t warp);
/* Answers UNMAP for the granule of `page` of `process`: no access to the granule is in flight, and no TLB holds its
 * pages. `dirty` 1: the pages were written to. GPUMP_ERROR_STATE: there was no UNMAP for the granule. Cost: logarithmic
 * in ranges. */
GPUMP_API gpump_result gpump_fault_report_unmapped(gpump_fault *fault, uint64_t now, uint32_t process, uint64_t page,
                                                   uint32_t dirty);
/* Reports that the handler of an SM, whose LOCAL was handed over, has ended for the granule of `page` of `process`.
 * `mapped` 1: it has given the granule a frame, and MAP follows; 0: it asks the CPU. Only with GPUMP_FAULT_LOCAL_CODE.
 * GPUMP_ERROR_STATE: no handler runs for the granule, or `mapped` is 1 for a granule that the CPU has, or no frame of
 * config.local_frames is left. Cost: logarithmic in ranges and faults, linear in the faults that wait for a handler.
 * Source: Tanasic 6.4.2; the frames of a finite memory are ours. */
GPUMP_API gpump_result gpump_fault_report_local(gpump_fault *fault, uint64_t now, uint32_t process, uint64_t page,
                                                uint32_t mapped);
/* Counts `accesses` remote accesses to `page` of `process`, as a GPU's access counters report them: after
 * config.uvm.counter of them its granule migrates. GPUMP_EMPTY when the page is not mapped remotely, GPUMP_BUSY when it
 * would migrate now and no fault is free; the accesses are then not counted, and the time is `now`. Cost: logarithmic
 * in ranges. */
GPUMP_API gpump_result gpump_fault_report_remote(gpump_fault *fault, uint64_t now, uint32_t process, uint64_t page,
                                                 uint32_t accesses);
/* Lists the granules that have been evicted at least `evictions` times since an instruction was last released, in
 * bounces[capacity] by process and page, and sets *count: with evictions 2, the granules that evict each other while
 * nothing proceeds. GPUMP_ERROR_CAPACITY. Cost: linear in granules. */
GPUMP_API gpump_result gpump_fault_stuck(const gpump_fault *fault, uint32_t evictions, gpump_fault_bounce *bounces,
                                         uint32_t capacity, uint32_t *count);
/* Returns the number of granules that the block `cookie` waits for. Cost: linear in waiters. */
GPUMP_API uint32_t gpump_fault_pending(const gpump_fault *fault, uint64_t cookie);
/* Returns the cycle at which the last page that the block `cookie` waits for is resident, at least 1. 0: the block
 * waits for no page. GPUMP_UNKNOWN: the cycle is not known yet (a later batch, or no free frame). Cost: linear in
 * waiters. */
GPUMP_API uint64_t gpump_fault_ready_cycle(const gpump_fault *fault, uint64_t cookie);
/* Pulls the next action that is due at `now` into *action: ABORT by process, LOCAL by opening, UNMAP in the order of
 * eviction, then the faults by the cycle of their end and their opening: MAP, and WAKE in the order of waiting.
 * GPUMP_EMPTY: no action is due. Cost: logarithmic. */
GPUMP_API gpump_result gpump_fault_next(gpump_fault *fault, uint64_t now, gpump_fault_action *action);

GPUMP_END
#endif
