/* scheduler_policies: FCFS, NPQ, PPQ, DSS, equal and weighted sharing, time slices (floor 4, const tables) */
#ifndef GPUMP_SCHEDULER_POLICIES_H
#define GPUMP_SCHEDULER_POLICIES_H

#include "base/base.h"
#include "scheduler/scheduler.h"

GPUMP_BEGIN

/* Returns a built-in policy, NULL when there is none of that name:
 *   fcfs        commands in order of arrival, one process at a time; kernels of that process run back to back
 * (Tanasic 2.3) npq         the same, but at each change of process the waiting command of highest priority goes first
 * (5.1, 5.3.2) ppq         preemptive priority: SMs of lower priority are vacated for a higher one; exclusive access
 * (5.3.3, Fig. 5.5a) ppq_shared  the same, but SMs that the highest priority leaves free go to lower ones (5.3.3,
 * Fig. 5.5b) dss         dynamic spatial sharing: tokens from the context's weight (5.2.4) equal       dss with
 * floor(SMs / processes) tokens each, the remainder one by one to the kernels that come first (5.3.4) weighted    dss
 * with SMs x weight / sum of weights tokens time_slice  the whole GPU to one process after the other, slice_cycles each
 * (5.2.3 names it; ours) */
GPUMP_API const gpump_scheduler_policy *gpump_scheduler_find(const char *name);
/* Returns the name of the index-th built-in policy, NULL past the last. */
GPUMP_API const char *gpump_scheduler_policy_name(uint32_t index);

GPUMP_END
#endif
