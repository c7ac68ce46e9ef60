/* fault: who has which page, and how long a fault takes to be served (hardware; per GPU; Tanasic 6.4 and 6.5)
 *
 * A GPU's fault unit. The host maps buffers and says who has their pages. It reports accesses to pages that its own
 * page table does not have. The unit merges faults by granule, classifies each (the CPU must migrate the granule, or it
 * has never been allocated, or the access is invalid), knows when each is served, and wakes the blocks that wait.
 * Waiters are blocks by their cookie and not slots, so a block that has left its SM is woken as well.
 *
 * The CPU serves faults in the order of opening: each occupies it for `busy` cycles and is there after `latency`
 * cycles. Equal numbers serve one fault at a time for its whole cost, which is how the thesis's results read ("one by
 * one"). With `local` 1, an SM serves faults to unallocated pages itself, one at a time (6.4.2). So the end of a fault
 * is known when it is opened. */
#ifndef GPUMP_FAULT_H
#define GPUMP_FAULT_H

#include "base/base.h"
#include "gpu/gpu.h"

GPUMP_BEGIN

/* Who has a granule. */
typedef enum gpump_fault_owner {
    GPUMP_FAULT_CPU = 0,     /* the CPU, with data: a fault migrates it */
    GPUMP_FAULT_UNALLOCATED, /* nobody: a fault allocates it */
    GPUMP_FAULT_GPU,         /* the GPU: no fault */
    GPUMP_FAULT_OWNERS
} gpump_fault_owner;

/* What a report has come to. */
typedef enum gpump_fault_outcome {
    GPUMP_FAULT_OPENED = 0, /* a fault of its own; WAKE follows */
    GPUMP_FAULT_MERGED,     /* its granule is being served; WAKE follows */
    GPUMP_FAULT_RETRY,      /* the granule is there by now: translate again */
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
    GPUMP_FAULT_ACT_LOCAL,     /* SM `sm` handles a fault itself, in warp `warp` of `cookie`, from `start` to `end` */
    GPUMP_FAULT_ACT_MAP,       /* `pages` pages from `page` of `process` are there, with `rights`; `owner` had them */
    GPUMP_FAULT_ACT_WAKE       /* block `cookie` waits for this granule no longer, in the warps `warps` (bits) */
} gpump_fault_action_kind;
typedef struct gpump_fault_action {
    gpump_fault_access access; /* ABORT */
    uint64_t page, pages;      /* LOCAL, MAP, WAKE: the granule */
    uint64_t cookie, warps;    /* LOCAL, WAKE */
    uint64_t start, end;       /* LOCAL, MAP, WAKE: cycles in which the fault was served */
    uint32_t kind;             /* gpump_fault_action_kind */
    uint32_t process, sm, warp, rights, owner;
} gpump_fault_action;

/* Filled by gpump_fault_config_preset only; every field may then be changed. */
typedef struct gpump_fault_config {
    uint32_t struct_size;     /* sizeof(gpump_fault_config) */
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
    uint32_t local;                /* 1: SMs serve faults to unallocated pages themselves (Tanasic 6.4.2) */
    uint32_t local_cycles;         /* their handler; 20 us (Tanasic 6.5.4) */
} gpump_fault_config;

/* clang-format off */
#define GPUMP_FAULT_STATISTICS(X)                                                             \
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
    X(busy_cycles, "cycles", "that the CPU and the link were occupied")
/* clang-format on */
typedef struct gpump_fault_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMP_FAULT_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_fault_statistics;

typedef struct gpump_fault gpump_fault;

/* Fills *config for a preset: "nvlink", "pcie3", both with "_local" behind it, or "ideal" (every fault takes a cycle
 * and occupies nothing), on the 16 SMs of Tanasic Table 6.1 at 1 GHz. */
GPUMP_API gpump_result gpump_fault_config_preset(gpump_fault_config *config, const char *preset);
/* Sets *bytes to the memory that a fault unit needs. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_fault_bytes(const gpump_fault_config *config, size_t *bytes, gpump_diag *diag);
/* Makes a fault unit without buffers in `memory` and sets *fault. Cost: linear in the memory. */
GPUMP_API gpump_result gpump_fault_init(void *memory, size_t bytes, const gpump_fault_config *config,
                                        gpump_fault **fault, gpump_diag *diag);
/* Takes over a byte copy of a fault unit and sets *fault. */
GPUMP_API gpump_result gpump_fault_adopt(void *memory, size_t bytes, const gpump_fault_config *config,
                                         gpump_fault **fault, gpump_diag *diag);
/* Checks buffers, faults and waiters against each other. For memory from outside: once gpump_fault_adopt has taken it
 * over and this returns GPUMP_OK, every later call is safe. GPUMP_ERROR_FORMAT, and diag->field says what contradicts
 * what. Cost: linear. */
GPUMP_API gpump_result gpump_fault_check(const gpump_fault *fault, gpump_diag *diag);
/* Returns a hash of the whole state, the same on every machine. Cost: linear. */
GPUMP_API uint64_t gpump_fault_hash(const gpump_fault *fault);
/* Sets *bits to the storage of the unit: per open fault its granule (36 bits of page number), process, end and list;
 * per waiter a cookie, 64 warps and a link; an end per SM. Buffers and owners are tables in memory. GPUMP_ERROR_CONFIG.
 */
GPUMP_API gpump_result gpump_fault_bits(const gpump_fault_config *config, uint64_t *bits, gpump_diag *diag);

/* Maps `pages` pages from `first` on, both multiples of granule_pages, for a process: `owner` has them
 * (gpump_fault_owner), and accesses may need `rights` (gpump_tlb_right bits). GPUMP_ERROR_STATE when some of them are
 * mapped, GPUMP_ERROR_FULL without room. Cost: linear in ranges and granules. */
GPUMP_API gpump_result gpump_fault_map(gpump_fault *fault, uint32_t process, uint64_t first, uint64_t pages,
                                       uint32_t owner, uint32_t rights);
/* Unmaps all buffers of a process, which may then be aborted again: it has ended, or was aborted. GPUMP_BUSY while a
 * fault of it is being served: cancel its waiters, and ask again at gpump_fault_next_cycle. Cost: linear. */
GPUMP_API gpump_result gpump_fault_unmap(gpump_fault *fault, uint32_t process);
/* Reports an access that faults, and sets *outcome (gpump_fault_outcome). GPUMP_BUSY when no fault or no waiter is
 * free: nothing has changed, report it again later. Cost: logarithmic in ranges and faults, linear in the blocks that
 * wait for the granule. */
GPUMP_API gpump_result gpump_fault_report(gpump_fault *fault, uint64_t now, const gpump_fault_access *access,
                                          uint32_t *outcome);
/* Ends all waits of the block `cookie`: it was flushed or killed. The service goes on. GPUMP_EMPTY when it waits for
 * nothing. Cost: linear in waiters. */
GPUMP_API gpump_result gpump_fault_cancel(gpump_fault *fault, uint64_t cookie);
/* Returns the number of granules that the block `cookie` waits for. Cost: linear in waiters. */
GPUMP_API uint32_t gpump_fault_pending(const gpump_fault *fault, uint64_t cookie);
/* Returns the cycle at which the last page that the block `cookie` waits for is there; 0 when it waits for none. Cost:
 * linear in waiters. */
GPUMP_API uint64_t gpump_fault_ready_cycle(const gpump_fault *fault, uint64_t cookie);
/* Hands over the next *action that is due at `now`: ABORT by process, LOCAL by opening, then the faults by the cycle of
 * their end and their opening: MAP, and WAKE in the order of waiting. GPUMP_EMPTY when none is. Cost: logarithmic. */
GPUMP_API gpump_result gpump_fault_next(gpump_fault *fault, uint64_t now, gpump_fault_action *action);
/* Returns the cycle at which the next action is due; GPUMP_UNKNOWN: only a report brings one. */
GPUMP_API uint64_t gpump_fault_next_cycle(const gpump_fault *fault);

/* Copies the counters into *statistics. */
GPUMP_API void gpump_fault_get_statistics(const gpump_fault *fault, gpump_fault_statistics *statistics);
/* Sets *difference to later - earlier, field by field. */
GPUMP_API void gpump_fault_statistics_diff(const gpump_fault_statistics *earlier, const gpump_fault_statistics *later,
                                           gpump_fault_statistics *difference);
/* Sets *name, *unit and *description of the index-th counter and *value, its value in *statistics; GPUMP_EMPTY past the
 * last. Any pointer may be NULL but statistics. */
GPUMP_API gpump_result gpump_fault_statistics_field(const gpump_fault_statistics *statistics, uint32_t index,
                                                    const char **name, const char **unit, const char **description,
                                                    uint64_t *value);

GPUMP_END
#endif
