/* scheduler_policies: the built-in scheduling policies (constant tables) */
#ifndef GPUMP_SCHEDULER_POLICIES_H
#define GPUMP_SCHEDULER_POLICIES_H

#include "base/base.h"
#include "scheduler/scheduler.h"

GPUMP_BEGIN

/* Returns the built-in policy called `name`, NULL when there is none:
 *
 *   fcfs        commands in order of arrival, one process at a time; kernels of that process run back to back
 *               (Tanasic 2.3)
 *   npq         like fcfs, but at each change of process the waiting command of highest priority goes first
 *               (Tanasic 5.1, 5.3.2)
 *   ppq         preemptive priority: a higher priority gets the SMs of lower ones, and exclusive access
 *               (Tanasic 5.3.3, Fig. 5.5a)
 *   ppq_shared  like ppq, but SMs that the highest priority leaves free go to lower ones (Tanasic Fig. 5.5b)
 *   dss         dynamic spatial sharing: as many tokens as the process's weight (Tanasic 5.2.4)
 *   dss_fault   like dss, but a kernel of which few warps have been able to run for lend_cycles lends its SMs, all but
 *               one, to kernels that do not wait. The borrower spends its tokens, so dss's own rule returns the SMs
 *               when the pages are resident (named in Tanasic 7.2.3; this form is not in the paper)
 *   equal       dss with floor(SMs / processes) tokens each; the kernels that come first get one of the remaining
 *               tokens each (Tanasic 5.3.4)
 *   weighted    dss with SMs x weight / sum of weights tokens
 *   time_slice  the whole GPU to one process after the other, slice_cycles each (named in Tanasic 5.2.3; this form is
 *               not in the paper) */
GPUMP_API const gpump_scheduler_policy *gpump_scheduler_find(const char *name);
/* Returns the index-th built-in policy, NULL past the last. */
GPUMP_API const gpump_scheduler_policy *gpump_scheduler_policy_at(uint32_t index);

GPUMP_END
#endif
