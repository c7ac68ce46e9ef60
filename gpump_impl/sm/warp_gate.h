/* warp_gate: one word per warp that holds every objection to the warp's progress, one bit per right and asker
 * (calculation)
 *
 * Preemption, faults, rate control and residency each decide separately whether a warp may proceed. A host that uses
 * one of these mechanisms calls it directly. A host that uses several keeps a gpump_warp_gate per warp. Each asker
 * closes and opens its own bits. The hot path is a load and a mask. The set bits are the reasons. A gate holds no
 * amounts: the room in an operand log is asked of the log's component. */
#ifndef GPUMP_WARP_GATE_H
#define GPUMP_WARP_GATE_H

#include "base/base.h"

GPUMP_BEGIN

/* What a warp may do. */
typedef enum gpump_warp_right {
    GPUMP_WARP_FETCH = 0,   /* fetch its next instruction */
    GPUMP_WARP_ISSUE = 1,   /* issue the instruction that it has fetched */
    GPUMP_WARP_RELEASE = 2, /* release the sources of an instruction in flight */
    GPUMP_WARP_EFFECT = 3,  /* let a store or an atomic take effect */
    GPUMP_WARP_RIGHTS = 4
} gpump_warp_right;

/* Mechanisms that may object to a right. */
typedef enum gpump_warp_asker {
    GPUMP_WARP_PIPELINE = 0,   /* a branch, barrier or exit is in flight: the next PC is unknown */
    GPUMP_WARP_BARRIER = 1,    /* the warp waits at a barrier */
    GPUMP_WARP_PREEMPTION = 2, /* the warp's block is being preempted */
    GPUMP_WARP_FAULT = 3,      /* a page fault of the warp is unresolved, or its instructions await replay */
    GPUMP_WARP_RATE = 4,       /* the warp's kernel has spent its quota */
    GPUMP_WARP_RESIDENCY = 5,  /* the warp is swapped out, or has no slot */
    GPUMP_WARP_DEBUG = 6,      /* a debugger or a test holds it */
    GPUMP_WARP_HOST = 7,       /* the host's own reason */
    GPUMP_WARP_ASKERS = 8
} gpump_warp_asker;

/* Bit 8 * right + asker is set while the asker objects. 0: the warp may do everything. */
typedef uint32_t gpump_warp_gate;

/* The bit of one right and asker; both below their number. */
#define GPUMPI_WARP_GATE_BIT(right, asker) ((gpump_warp_gate)1 << (8u * (uint32_t)(right) + (uint32_t)(asker)))

/* Makes `asker` object to `right` in *gate. A second call changes nothing. Cost: a mask. */
GPUMP_INLINE void gpump_warp_gate_close(gpump_warp_gate *gate, gpump_warp_right right, gpump_warp_asker asker) {
    *gate |= GPUMPI_WARP_GATE_BIT(right, asker);
}

/* Ends the objection of `asker` to `right` in *gate. Objections of other askers stay. Cost: a mask. */
GPUMP_INLINE void gpump_warp_gate_open(gpump_warp_gate *gate, gpump_warp_right right, gpump_warp_asker asker) {
    *gate &= ~GPUMPI_WARP_GATE_BIT(right, asker);
}

/* Returns the askers that object to `right` in `gate`, as bits 1 << asker. 0: none, so the warp has the right. Cost: a
 * shift and a mask. */
GPUMP_INLINE uint32_t gpumpi_warp_gate_askers(gpump_warp_gate gate, gpump_warp_right right) {
    return gate >> (8u * (uint32_t)right) & 0xffu;
}

/* Returns 1 when no asker objects to `right` in `gate`, else 0. Cost: a shift and a mask. */
GPUMP_INLINE int gpump_warp_gate_may(gpump_warp_gate gate, gpump_warp_right right) {
    return gpumpi_warp_gate_askers(gate, right) == 0;
}

/* Returns 1 while `asker` objects to `right` in `gate`, else 0. Cost: a mask. */
GPUMP_INLINE int gpump_warp_gate_closed_by(gpump_warp_gate gate, gpump_warp_right right, gpump_warp_asker asker) {
    return (gate & GPUMPI_WARP_GATE_BIT(right, asker)) != 0;
}

/* Returns the reason of the lowest asker that objects to `right` in `gate` as text, such as "waits at a barrier"; NULL
 * when no asker objects. */
GPUMP_API const char *gpump_warp_gate_reason(gpump_warp_gate gate, gpump_warp_right right);

GPUMP_END

#endif
