/* policies: the policies that a host offers by name. These are gpump's built-in policies, then those of the files in
 * -DGPUMP_POLICY (gpump_impl/cmake/policies.cmake). minigpu, tbsim and bench/micro take every policy from here. */
#ifndef EXAMPLES_POLICIES_H
#define EXAMPLES_POLICIES_H

#include "../gpump_once.h"

/* The policies of the files in GPUMP_POLICY; each list ends with NULL. Generated from own_policies.c.in. */
extern const gpump_victim_policy *const policies_own_victims[];
extern const gpump_scheduler_policy *const policies_own_schedulers[];
extern const gpump_partition_policy *const policies_own_partitions[];

/* The policy of that name, or NULL. A policy of one's own hides a built-in one of the same name. */
const gpump_victim_policy *policies_find_victim(const char *name);
const gpump_scheduler_policy *policies_find_scheduler(const char *name);
const gpump_partition_policy *policies_find_partition(const char *name);
/* The policy `text` names for the GPU `gpu`: one of the above, or a division such as green:10:6 that is read into
 * *fixed (gpump_partition_fixed_parse) and names as many kernels as there are. Returns NULL after a message on stderr
 * in the name of `program`. */
const gpump_partition_policy *policies_read_partition(const char *program, const char *text, const gpump_gpu *gpu,
                                                      uint32_t kernels, gpump_partition_fixed *fixed);
/* The index-th policy, from 0, and its name; NULL past the last. */
const gpump_victim_policy *policies_victim_at(uint32_t index);
const gpump_scheduler_policy *policies_scheduler_at(uint32_t index);
const gpump_partition_policy *policies_partition_at(uint32_t index);
const char *policies_victim_name(uint32_t index);
const char *policies_scheduler_name(uint32_t index);
const char *policies_partition_name(uint32_t index);

#endif
