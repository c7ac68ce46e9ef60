/* regions: cuts a kernel into idempotent regions and keeps the registers that each region reads (program) */
#ifndef GPUMP_REGIONS_H
#define GPUMP_REGIONS_H

#include "program/clobbers.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* Cuts that can be left out in order to measure what each kind costs. A region without one of them must not be executed
 * again. */
typedef enum gpump_regions_without {
    GPUMP_REGIONS_WITHOUT_BARRIERS = 1,   /* behind barriers */
    GPUMP_REGIONS_WITHOUT_ATOMICS = 2,    /* behind atomics, volatile accesses and fences */
    GPUMP_REGIONS_WITHOUT_LOOPS = 4,      /* the second one on a way round a loop */
    GPUMP_REGIONS_WITHOUT_DIVERGENCE = 8, /* where lanes wait while others cross a boundary */
    GPUMP_REGIONS_WITHOUT_CLOBBERS = 16   /* the hitting set over memory antidependences */
} gpump_regions_without;

/* Filled by gpump_preset, then changed at will. */
typedef struct gpump_regions_config {
    uint32_t unit; /* GPUMP_UNIT_WARP; GPUMP_UNIT_THREAD: aliasing within a thread only, as the papers have it */
    /* At equal loop depth, 1 prefers cuts with few live registers (iGPU), 0 cuts that separate most pairs (de Kruijf).
     */
    uint32_t few_live;
    /* The longest path through a short region, in instructions: at least 2 (published: 16, 32, 64). 0: no short
     * regions. */
    uint32_t max_instructions;
    uint32_t preserve; /* 1: keep live-ins by renaming and moves; 0: boundaries only, the host keeps the registers */
    uint32_t without;  /* GPUMP_REGIONS_WITHOUT_... bits; 0: every cut */
    /* The host's own alias analysis, or NULL. Returns 1 when instruction `write` may overwrite what instruction `read`
     * has read before, in one `unit`. Called only where gpump_program_may_alias returns 1. */
    int (*may_clobber)(void *user, uint32_t read, uint32_t write);
    void *user;
} gpump_regions_config;

/* The configuration for gpump_preset. Presets: "igpu" (sparse regions), "igpu_short" (and short ones of 32),
 * "dekruijf". */
GPUMP_API const gpumpi_methods *gpumpi_regions_methods(void);
GPUMPI_CONSTANT gpump_component gpump_regions_component = {gpumpi_regions_methods, GPUMP_LAYOUT_PROGRAM, 0};

/* Why a boundary stands where it does: the tag of a BOUNDARY. */
typedef enum gpump_cut {
    GPUMP_CUT_NONE = 0,
    GPUMP_CUT_CLOBBER,    /* separates a memory read from a write that may overwrite its source (hitting set) */
    GPUMP_CUT_FORCED,     /* behind a barrier, an atomic, a volatile access or a fence */
    GPUMP_CUT_LOOP,       /* second boundary on a way round a loop */
    GPUMP_CUT_DIVERGENCE, /* where lanes may wait while others cross a boundary */
    GPUMP_CUT_LENGTH,     /* keeps a short region short */
    GPUMP_CUT_COPY,       /* second half of a copy that keeps a live-in register */
    GPUMP_CUT_SPLIT,      /* round an instruction that gets a region of its own (gpump_regions_split) */
    GPUMP_CUTS
} gpump_cut;

typedef struct gpump_regions_report {
    uint32_t pairs;            /* memory antidependences cut by the hitting set */
    uint32_t cuts[GPUMP_CUTS]; /* boundaries by reason */
    uint32_t sparse;           /* boundaries in all, the kernel's start not counted */
    uint32_t shorts;
    uint32_t moves;  /* inserted to keep live-ins */
    uint32_t copies; /* moves through a second boundary */
} gpump_regions_report;

/* Divides a program into idempotent regions. Sets *formed to the program with a BOUNDARY at the start of each region,
 * except at the kernel's own start, and with the moves that keep the regions' live-in registers. Best before register
 * allocation, which then honours the boundaries; allowed after it.
 *
 * Cuts (facts: de Kruijf's compiler; iGPU 3.2) stand behind barriers, atomics, volatile accesses and fences; at a
 * greedy hitting set over memory antidependences; at least twice on every path round a loop that has any; and, where a
 * warp may be diverged at a boundary, at every place where its other lanes can wait. A warp at a BOUNDARY waits for its
 * own instructions in flight, then records the PC behind the BOUNDARY *and* its SIMT stack. At a barrier the warp waits
 * for those instructions that could still fault. A branch that decides whether a barrier is reached counts as uniform.
 * *report (may be NULL) gets the counts. GPUMP_ERROR_STATE, GPUMP_ERROR_ARGUMENT (config; program with boundaries),
 * GPUMP_ERROR_MEMORY. Cost: liveness, and the sum of region sizes a few times over. */
GPUMP_API gpump_result gpump_regions_form(const gpump_program *program, const gpump_regions_config *config,
                                          gpump_program **formed, gpump_regions_report *report, gpump_diag *diag);

/* Keeps the live-ins of the regions of a program that has boundaries: gpump_regions_form's second half, for hosts that
 * place their own. Sets *preserved to a new program; adds to *report (may be NULL). GPUMP_ERROR_STATE,
 * GPUMP_ERROR_MEMORY. Cost: the sum of region sizes, a few times over. */
GPUMP_API gpump_result gpump_regions_preserve(const gpump_program *program, gpump_program **preserved,
                                              gpump_regions_report *report, gpump_diag *diag);

/* Puts the instructions `first` and `second` (the same: one of them) of a program with boundaries into short regions of
 * their own: the cure of a live-lock of two exceptions (iGPU 4.1). Sets *split to the new program, in which every old
 * boundary has stayed; gpump_program_origin leads back from it to `program`. The new boundaries are short, and so are
 * those that they make necessary. Live-ins are kept by moves, into registers beyond those of `program`; before register
 * allocation or after it. Where such a move overwrites a live-in of a sparse region, that live-in is copied through a
 * second sparse boundary (GPUMP_CUT_COPY). *report (may be NULL) gets the counts.
 * GPUMP_ERROR_ARGUMENT: no such instruction, or a boundary, branch, barrier or exit, which raise no exceptions.
 * GPUMP_ERROR_STATE, GPUMP_ERROR_MEMORY. Cost: as gpump_regions_form. */
GPUMP_API gpump_result gpump_regions_split(const gpump_program *program, uint32_t first, uint32_t second,
                                           gpump_program **split, gpump_regions_report *report, gpump_diag *diag);

/* Continuous spilling (iGPU 4.2): what a thread stores whenever it crosses a sparse boundary, so that a preempted warp
 * can restart from memory at any time afterwards. Just-in-time spilling needs no code: the preemption saves the
 * registers that are live where the SIMT stack says that the warp would restart (gpump_liveness_stack). */
typedef enum gpump_spilling {
    /* Every live-in; the region then loads it again. This is the form in the paper. */
    GPUMP_SPILLING_ALL = 0,
    /* Live-ins that may have changed since they were last stored. Only a preempted warp loads them. */
    GPUMP_SPILLING_CHANGED = 1
} gpump_spilling;

/* Sets sets[b * words], words = gpump_liveness_words, to the registers that the b-th sparse BOUNDARY of a program, in
 * layout order, stores under `spilling` (gpump_spilling), and *count to how many there are. `liveness` is that of the
 * program. Every register has one place, which no other one shares. Call with capacity (in boundaries) 0 to learn the
 * count. GPUMP_ERROR_CAPACITY, GPUMP_ERROR_ARGUMENT, GPUMP_ERROR_STATE, GPUMP_ERROR_MEMORY. Cost: near-linear in
 * instructions, times words. */
GPUMP_API gpump_result gpump_regions_stored(const gpump_program *program, const gpump_liveness *liveness,
                                            uint32_t spilling, uint64_t *sets, uint32_t capacity, uint32_t *count);

GPUMP_END
#endif
#endif
