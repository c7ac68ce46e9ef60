/* regions: idempotent regions: where boundaries go, and what keeps their live-ins (floor 3, program) */
#ifndef GPUMP_REGIONS_H
#define GPUMP_REGIONS_H

#include "program/clobbers.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* Cuts that can be left out, to see what each kind costs. Regions without one of them are not safe to go back in. */
typedef enum gpump_regions_without {
    GPUMP_REGIONS_WITHOUT_BARRIERS = 1,   /* behind barriers */
    GPUMP_REGIONS_WITHOUT_ATOMICS = 2,    /* behind atomics, volatile accesses and fences */
    GPUMP_REGIONS_WITHOUT_LOOPS = 4,      /* the second one on a way round a loop */
    GPUMP_REGIONS_WITHOUT_DIVERGENCE = 8, /* where lanes wait while others cross a boundary */
    GPUMP_REGIONS_WITHOUT_CLOBBERS = 16   /* the hitting set over memory antidependences */
} gpump_regions_without;

/* Filled by gpump_regions_config_preset, then changed at will. */
typedef struct gpump_regions_config {
    uint32_t struct_size; /* sizeof(gpump_regions_config) */
    uint32_t unit;        /* GPUMP_UNIT_WARP; GPUMP_UNIT_THREAD: aliasing within a thread only, as the papers have it */
    uint32_t few_live; /* 1: at equal loop depth prefer cuts with few live registers (iGPU); 0: cuts that cover most (de
                          Kruijf) */
    uint32_t max_instructions; /* longest way through a short region; 0: no short regions; else at least 2 (published:
                                  16, 32, 64) */
    uint32_t preserve; /* 1: keep live-ins by renaming and moves; 0: boundaries only, registers are left to the host */
    uint32_t without;  /* GPUMP_REGIONS_WITHOUT_... bits; 0 */
    /* A host that knows more of aliases: 1 when instruction `write` may overwrite what instruction `read` has read
     * before, in one `unit`. Asked only where gpump_program_may_alias says yes. NULL: that is all there is to know. */
    int (*may_clobber)(void *user, uint32_t read, uint32_t write);
    void *user;
} gpump_regions_config;
/* Presets: "igpu" (sparse regions), "igpu_short" (and short ones of 32), "dekruijf". */
GPUMP_API gpump_result gpump_regions_config_preset(gpump_regions_config *config, const char *preset);

/* Why a boundary stands where it does: the tag of a BOUNDARY. */
typedef enum gpump_cut {
    GPUMP_CUT_NONE = 0,
    GPUMP_CUT_CLOBBER,    /* parts a memory read from a write that may overwrite its source (hitting set) */
    GPUMP_CUT_FORCED,     /* behind a barrier, an atomic, a volatile access or a fence */
    GPUMP_CUT_LOOP,       /* second boundary on a way round a loop */
    GPUMP_CUT_DIVERGENCE, /* where lanes may wait while others cross a boundary */
    GPUMP_CUT_LENGTH,     /* keeps a short region short */
    GPUMP_CUT_COPY,       /* second half of a copy that keeps a live-in register */
    GPUMP_CUTS
} gpump_cut;

typedef struct gpump_regions_report {
    uint32_t pairs;            /* memory antidependences cut by the hitting set */
    uint32_t cuts[GPUMP_CUTS]; /* boundaries by reason */
    uint32_t sparse;           /* boundaries in all, the kernel's start not counted */
    uint32_t shorts;
    uint32_t moves;  /* put in to keep live-ins */
    uint32_t copies; /* of them, those through a second boundary */
} gpump_regions_report;

/* Divides a program into idempotent regions and sets *formed to it with a BOUNDARY at the start of each (the kernel's
 * own start apart) and with what keeps their live-in registers. Best before register allocation, which then honours the
 * boundaries; allowed after it.
 *
 * Cuts (facts: de Kruijf's compiler; iGPU 3.2): forced ones; a greedy hitting set over memory antidependences; at least
 * two on every way round a loop that has any; where a warp may be diverged at a boundary, one at every place its other
 * lanes can wait. A warp at a BOUNDARY waits for its own instructions in flight, then records the PC behind it *and*
 * its SIMT stack. At a barrier it waits for those that could still fault. A branch that decides whether a barrier is
 * reached is taken for uniform. *report (may be NULL) gets the counts. GPUMP_ERROR_STATE, GPUMP_ERROR_ARGUMENT (config;
 * program with boundaries), GPUMP_ERROR_MEMORY. Cost: liveness, and the sum of region sizes a few times over. */
GPUMP_API gpump_result gpump_regions_form(const gpump_program *program, const gpump_regions_config *config,
                                          gpump_program **formed, gpump_regions_report *report, gpump_diag *diag);

/* Keeps the live-ins of the regions of a program that has boundaries: gpump_regions_form's second half, for hosts that
 * place their own. Sets *preserved to a new program; adds to *report (may be NULL). GPUMP_ERROR_STATE,
 * GPUMP_ERROR_MEMORY. Cost: the sum of region sizes, a few times over. */
GPUMP_API gpump_result gpump_regions_preserve(const gpump_program *program, gpump_program **preserved,
                                              gpump_regions_report *report, gpump_diag *diag);

/* What a thread stores whenever it crosses a sparse boundary, so that it can be taken off at any time afterwards and
 * restart from memory (continuous spilling, iGPU 4.2). Just-in-time spilling needs no code: who takes a warp off saves
 * what is live where its SIMT stack says it would restart (gpump_liveness_stack). */
typedef enum gpump_spilling {
    GPUMP_SPILLING_ALL = 0, /* every live-in, which the region then loads again: the paper's */
    GPUMP_SPILLING_CHANGED =
        1 /* live-ins that may have changed since they were last stored; only who was taken off loads them */
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
